/* Any bytes as a tile image of XPHMG_RT: the check must end, and everything that it reached can be
 * printed. An input without the magic gets it, so that fuzzing starts behind it. */
#include "bvh/rt_text.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct facet_rtbvh_check check;
    struct facet_strbuf text;
    uint8_t *bytes;

    if (size > 1 << 16) {
        return 0;
    }
    bytes = malloc(size + 1);
    if (bytes == NULL) {
        return 0;
    }
    memcpy(bytes, data, size);
    memcpy(bytes, FACET_RTBVH_MAGIC, size < 8 ? size : 8);
    if (facet_rtbvh_check(bytes, size, 20, &check, NULL) != FACET_OK ||
        (!check.open && check.errors == 0)) {
        abort();
    }
    facet_strbuf_init(&text);
    for (uint64_t i = 0; i < check.place_count; i++) {
        if (check.places[i].leaf && check.errors != 0) {
            continue; /* ranges of a damaged image may repeat all triangles many times */
        }
        facet_rtbvh_listing(&check.view, &check.places[i], &text);
        facet_rtbvh_json_place(&check.view, &check.places[i], &text);
        facet_strbuf_clear(&text);
    }
    facet_strbuf_free(&text);
    facet_rtbvh_check_free(&check);
    free(bytes);
    return 0;
}
