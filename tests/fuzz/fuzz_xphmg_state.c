/* Any bytes as changes to a snapshot whose checksum is then made good again: it is refused with a
 * message and the machine is as before, or it is taken and the machine runs on, well-formed.
 *
 * The input is a list of edits of four bytes: offset in the frame and the machine's own state,
 * value to store there, operation. */
#include "fuzz/fuzz.h"
#include "fuzz/machine.h"

#include "base/bits.h"
#include "base/hash.h"

#include <facet/xphmg.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_BYTES = 64, STATE_SIZE_AT = 56 };

/* A loop with memory, floats, a CSR, late jobs and a trap into itself's start. */
static const uint32_t program[] = {
    0x00000297, /* auipc x5, 0 */
    0x30529073, /* csrw mtvec, x5 */
    0x00006337, /* lui x6, 6 */
    0x30032073, /* csrs mstatus, x6 */
    0x00038393, /* addi x7, x7, 0 */
    0x0072b823, /* sd x7, 16(x5)... into the code: decoded blocks go stale */
    0x0802f5fb, /* xsubmit.mtx x11, x5: the code as a descriptor */
    0x1c62b2fb, /* xlds.cpy x5, x5, x6, async=1 */
    0xd2238053, /* fcvt.d.l f0, x7 */
    0x00000073, /* ecall */
};

static facet_machine *make(void)
{
    struct facet_xphmg_config config = {.harts = 2,
                                        .ram_bytes = 1 << 16,
                                        .quantum = 64,
                                        .jobs = FACET_XPHMG_JOBS_LATE,
                                        .jobs_seed = 5,
                                        .host_code = 2};
    struct facet_run how = {.budget = 300};
    struct facet_stop stop;
    facet_machine *machine;

    fuzz_require(facet_xphmg_create(&config, &machine, NULL) == FACET_OK);
    for (size_t i = 0; i < sizeof program / sizeof program[0]; i++) {
        uint8_t bytes[4];

        facet_store_le32(bytes, program[i]);
        fuzz_require(facet_machine_write(
                         machine, 0, FACET_XPHMG_RAM_BASE + 4 * i, bytes, 4, NULL) == FACET_OK);
    }
    fuzz_require(facet_xphmg_input(machine, "input", 5, NULL) == FACET_OK);
    facet_machine_run(machine, &how, &stop);
    return machine;
}

static struct facet_blob edited(const struct facet_blob *start, const uint8_t *data, size_t size)
{
    struct facet_blob blob = {malloc(start->size), start->size};
    uint8_t *bytes = blob.data;
    size_t limit = HEADER_BYTES + (size_t)facet_load_le64((uint8_t *)start->data + STATE_SIZE_AT);

    fuzz_require(bytes != NULL);
    memcpy(bytes, start->data, start->size);
    for (size_t i = 0; i + 4 <= size; i += 4) {
        uint8_t *at = bytes + facet_load_le(data + i, 2) % limit;

        *at = (data[i + 3] & 1) != 0 ? *at ^ data[i + 2] : data[i + 2];
    }
    facet_store_le64(bytes + blob.size - 8, facet_hash_bytes(bytes, blob.size - 8, 0));
    return blob;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_machine kept;
    struct facet_error err = {0};
    struct facet_blob blob, after;
    struct facet_stop stop;
    facet_machine *machine;

    if (kept.machine == NULL) {
        fuzz_keep(&kept, make());
    }
    machine = fuzz_rewind(&kept);
    blob = edited(&kept.start, data, size);
    if (facet_machine_restore(machine, blob.data, blob.size, &err) == FACET_OK) {
        facet_machine_run(machine, &(struct facet_run){.budget = 500}, &stop);
        fuzz_require(facet_machine_snapshot(machine, &after, NULL) == FACET_OK);
        fuzz_require(facet_machine_restore(machine, after.data, after.size, NULL) == FACET_OK);
    } else {
        fuzz_require(err.message[0] != '\0');
        fuzz_require(facet_machine_snapshot(machine, &after, NULL) == FACET_OK);
        fuzz_require_same(&after, &kept.start);
    }
    free(blob.data);
    facet_blob_free(&after);
    return 0;
}
