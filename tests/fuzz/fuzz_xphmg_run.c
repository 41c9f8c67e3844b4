/* Any bytes as a program for `facet run`: refused with a message, or loaded and run for some
 * steps on two harts, with and without the block cache and host code. Both ways must leave the same
 * snapshot, and a snapshot must be taken back. */
#include "fuzz/fuzz.h"
#include "fuzz/machine.h"

#include <facet/xphmg.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 600 };

static facet_machine *make(bool plain)
{
    const struct facet_xphmg_config config = {
        .harts = 2, .ram_bytes = 1 << 20, .quantum = 100, .plain = plain, .host_code = 2};
    facet_machine *machine;

    fuzz_require(facet_xphmg_create(&config, &machine, NULL) == FACET_OK);
    return machine;
}

/* The state at the end; nothing for a file that is refused. */
static struct facet_blob run(const uint8_t *data, size_t size, bool plain)
{
    static struct fuzz_machine kept[2];
    struct facet_blob blob = {NULL, 0};
    struct facet_error err = {0};
    struct facet_stop stop;
    facet_machine *machine;

    if (kept[plain].machine == NULL) {
        fuzz_keep(&kept[plain], make(plain));
    }
    machine = fuzz_rewind(&kept[plain]);
    if (facet_xphmg_load_elf(machine, data, size, &err) != FACET_OK) {
        fuzz_require(err.message[0] != '\0');
    } else {
        fuzz_require(facet_xphmg_input(machine, "some input\n", 11, &err) == FACET_OK);
        (void)facet_xphmg_input_end(machine, NULL);
        facet_machine_run(machine, &(struct facet_run){.budget = STEPS}, &stop);
        fuzz_require(facet_machine_snapshot(machine, &blob, &err) == FACET_OK);
        fuzz_require(plain ||
                     facet_machine_restore(machine, blob.data, blob.size, &err) == FACET_OK);
    }
    return blob;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct facet_blob cached = run(data, size, false), plain = run(data, size, true);

    fuzz_require_same(&cached, &plain);
    facet_blob_free(&cached);
    facet_blob_free(&plain);
    return 0;
}
