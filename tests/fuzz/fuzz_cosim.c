/* Any bytes as what a harness does to a session: rules of a filter, writes, instructions, traps,
 * lines, given values, in any order and with any number. Nothing may crash, and what was different
 * stays so. */
#include "fuzz/fuzz.h"

#include <facet/cosim.h>
#include <facet/xphmg.h>
#include <string.h>

/* loop: ld a1, 0(a0); addi a2, a2, 1; sd a2, 8(a0); csrr a3, mcycle; j loop */
static const uint32_t program[] = {0x00053583, 0x00160613, 0x00C53423, 0xB00026F3, 0xFF1FF06F};

struct input {
    const uint8_t *data;
    size_t size;
};

static uint64_t take(struct input *in, unsigned bytes)
{
    uint64_t value = 0;

    while (bytes-- > 0 && in->size > 0) {
        value = value << 8 | *in->data++;
        in->size--;
    }
    return value;
}

static void take_text(struct input *in, char *text, size_t room)
{
    size_t length = take(in, 1) % room;

    length = length < in->size ? length : in->size;
    memcpy(text, in->data, length);
    text[length] = '\0';
    in->data += length;
    in->size -= length;
}

/* What the program's next instruction writes is told in half of the cases, so that steps go on. */
static void good_step(facet_cosim *cosim, enum facet_cosim_result *result)
{
    facet_machine *m = facet_cosim_machine(cosim);
    uint64_t pc = 0;

    (void)facet_machine_get(m, 0, "pc", &pc);
    (void)facet_cosim_retired(cosim, 0, pc, 0, result, NULL);
}

static void act(facet_cosim *cosim, struct input *in, enum facet_cosim_result *result)
{
    facet_machine *m = facet_cosim_machine(cosim);
    struct facet_error err = {0};
    struct facet_change change = {0};
    char text[40];
    uint8_t bytes[32] = {0};

    switch (take(in, 1) % 16) {
    case 0:
        take_text(in, text, sizeof text);
        (void)facet_lockstep_filter_ignore(facet_cosim_filter(cosim), text, &err);
        break;
    case 1:
        take_text(in, text, sizeof text);
        (void)facet_lockstep_filter_compare(facet_cosim_filter(cosim), text, &err);
        break;
    case 2:
        take_text(in, text, sizeof text);
        (void)facet_cosim_wrote(cosim, (uint32_t)take(in, 1) % 3, text, take(in, 8), &err);
        break;
    case 3:
        (void)facet_cosim_wrote_memory(cosim, 0, take(in, 8), bytes, take(in, 1) % 33, &err);
        break;
    case 4:
        take_text(in, text, sizeof text);
        (void)facet_cosim_unit_wrote(cosim, 0, text, take(in, 8), &err);
        break;
    case 5:
        (void)facet_cosim_unit_wrote_memory(cosim, 0, take(in, 8), bytes, take(in, 1) % 33, &err);
        break;
    case 6:
        (void)facet_cosim_retired(
            cosim, (uint32_t)take(in, 1) % 3, take(in, 8), (uint32_t)take(in, 4), result, &err);
        break;
    case 7:
        (void)facet_cosim_trapped(cosim, 0, take(in, 8), take(in, 8), take(in, 8), result, &err);
        break;
    case 8:
        (void)facet_xphmg_set_line(
            m, 0, (uint32_t)take(in, 1) % 16, (enum facet_xphmg_level)(take(in, 1) % 4), &err);
        break;
    case 9:
        (void)facet_xphmg_next_load(m, 0, take(in, 8), take(in, 8), take(in, 8), &err);
        break;
    case 10:
        (void)facet_xphmg_next_csr(m, 0, (uint32_t)take(in, 2), take(in, 8), &err);
        break;
    case 11:
        (void)facet_xphmg_take(m, 0, take(in, 8), take(in, 8), take(in, 1) % 2 != 0, &err);
        break;
    case 12:
        change.kind = (enum facet_change_kind)(take(in, 1) % 7);
        change.core = (uint32_t)take(in, 1) % 3;
        change.index = (uint32_t)take(in, 2);
        change.size = (uint32_t)take(in, 1) % 20;
        change.address = take(in, 8);
        change.new_value.lo = take(in, 8);
        (void)facet_cosim_step(cosim, &change, take(in, 1) % 2, result, &err);
        break;
    default:
        good_step(cosim, result);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct facet_xphmg_config config = {.harts = 2, .ram_bytes = 1 << 16, .plain = true};
    const struct facet_cosim_config session = {.window = 2, .snapshot_every = 20};
    struct input in = {data, size};
    enum facet_cosim_result result = FACET_COSIM_SAME;
    facet_machine *machine = NULL;
    facet_cosim *cosim = NULL;
    struct facet_blob blob = {0};
    uint64_t step;

    fuzz_require(facet_xphmg_create(&config, &machine, NULL) == FACET_OK);
    fuzz_require(facet_machine_write(
                     machine, 0, FACET_XPHMG_RAM_BASE, program, sizeof program, NULL) == FACET_OK);
    fuzz_require(facet_machine_set(machine, 0, "a0", 0x80001000) == FACET_OK);
    fuzz_require(facet_cosim_create(machine, &session, &cosim, NULL) == FACET_OK);
    for (int i = 0; i < 200 && in.size > 0; i++) {
        bool before = result == FACET_COSIM_DIFFERENT;

        act(cosim, &in, &result);
        fuzz_require(!before || result == FACET_COSIM_DIFFERENT);
        fuzz_require((result == FACET_COSIM_DIFFERENT) == (facet_cosim_report(cosim)[0] != '\0'));
    }
    fuzz_require(facet_cosim_replay(cosim, &blob, &step, NULL) == FACET_OK);
    fuzz_require(facet_machine_restore(machine, blob.data, blob.size, NULL) == FACET_OK);
    facet_blob_free(&blob);
    facet_cosim_destroy(cosim);
    return 0;
}
