/* Any bytes as a program for `facet run`: refused with a message, or loaded and run for a few
 * thousand steps on two harts, with and without the block cache. Both ways must leave the same
 * snapshot, and a snapshot must be taken back. */
#include "fuzz/fuzz.h"

#include <facet/xphmg.h>
#include <stdlib.h>
#include <string.h>

static void require(int ok)
{
    if (!ok) {
        abort();
    }
}

static struct facet_blob run(const uint8_t *data, size_t size, bool no_cache)
{
    struct facet_xphmg_config config = {
        .harts = 2, .ram_bytes = 1 << 20, .quantum = 100, .no_cache = no_cache};
    struct facet_run how = {.budget = 4000};
    struct facet_blob blob = {NULL, 0};
    struct facet_error err = {0};
    struct facet_stop stop;
    facet_machine *machine;

    require(facet_xphmg_create(&config, &machine, &err) == FACET_OK);
    if (facet_xphmg_load_elf(machine, data, size, &err) != FACET_OK) {
        require(err.message[0] != '\0');
    } else {
        require(facet_xphmg_input(machine, "some input\n", 11, &err) == FACET_OK);
        facet_xphmg_input_end(machine);
        facet_machine_run(machine, &how, &stop);
        require(facet_machine_snapshot(machine, &blob, &err) == FACET_OK);
        require(facet_machine_restore(machine, blob.data, blob.size, &err) == FACET_OK);
    }
    facet_machine_destroy(machine);
    return blob;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct facet_blob cached = run(data, size, false), plain = run(data, size, true);

    require(cached.size == plain.size &&
            (cached.size == 0 || memcmp(cached.data, plain.data, cached.size) == 0));
    facet_blob_free(&cached);
    facet_blob_free(&plain);
    return 0;
}
