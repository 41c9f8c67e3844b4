/* Any text as a command list of `facet tile draw`: refused with a message, or a plan whose pieces
 * lie in VRAM; never anything else. Files are refused, so that a list reads nothing here. */
#include "fuzz/fuzz.h"
#include "tile_list/list.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct facet_tile_list plan;
    struct facet_error err = {0};

    if (size > 1 << 18) {
        return 0;
    }
    if (facet_tile_list_read("fuzz", NULL, data, size, &plan, &err) == FACET_OK) {
        for (size_t i = 0; i < plan.piece_count; i++) {
            uint64_t at = (uint64_t)plan.pieces[i].address - FACET_TILE_VRAM_BASE;

            if (at + plan.pieces[i].size > plan.config.vram) {
                abort();
            }
        }
        facet_tile_list_free(&plan);
    } else if (err.message[0] == '\0' || plan.pieces != NULL || plan.steps != NULL) {
        abort();
    }
    return 0;
}
