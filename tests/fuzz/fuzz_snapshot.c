/* Any bytes as a file of facet snapshot: refused with a message, or a machine that runs. The
 * checksums are made right first, so that what lies behind them is reached. */
#include "fuzz/fuzz.h"
#include "session/snapshot_file.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum {
    HEADER_BYTES = 52,
    SEED_BYTES = 8, /* of version 2 */
    RAM_LIMIT = 1 << 20,
    HARTS_LIMIT = 4,
    STEPS = 200
};

/* The header's hash, the size of the state, and the state's own hash at its end. */
static void make_sums_right(uint8_t *b, size_t size)
{
    size_t texts, at, header;

    if (size < HEADER_BYTES + SEED_BYTES) {
        return;
    }
    header = HEADER_BYTES + (facet_load_le32(b + 8) == 2 ? SEED_BYTES : 0);
    texts = (size_t)facet_load_le32(b + 36) + facet_load_le32(b + 40);
    if (texts > size - header || size - header - texts < 24) {
        return;
    }
    at = header + texts;
    facet_store_le64(b + 44, size - at - 8);
    facet_store_le64(b + at, facet_hash_bytes(b, at, 0));
    facet_store_le64(b + size - 8, facet_hash_bytes(b + at + 8, size - at - 16, 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct facet_error err = {0};
    facet_machine *machine = NULL;
    struct session_snapshot file;
    uint8_t *copy = malloc(size + 1);
    enum facet_status status;

    if (copy == NULL) {
        return 0;
    }
    memcpy(copy, data, size);
    if (size % 2 == 0) { /* the other half tests the checksums */
        make_sums_right(copy, size);
    }
    status = session_snapshot_parse(copy, size, &file, &err);
    if (status == FACET_OK && file.config.ram_bytes <= RAM_LIMIT &&
        file.config.harts <= HARTS_LIMIT) {
        /* No block cache of 10 MB for the few steps of a machine that is made for each input. */
        status = session_snapshot_resume(
            &file, &(struct facet_xphmg_config){.plain = true}, &machine, &err);
        fuzz_require((status == FACET_OK) == (machine != NULL));
    }
    fuzz_require(status == FACET_OK || err.message[0] != '\0');
    if (machine != NULL) {
        struct facet_stop stop;

        facet_machine_run(machine, &(struct facet_run){.budget = STEPS}, &stop);
    }
    facet_machine_destroy(machine);
    session_snapshot_free(&file);
    free(copy);
    return 0;
}
