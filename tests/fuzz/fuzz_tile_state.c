/* Any bytes as changes to a snapshot of the tile machine, taken inside its command queue's work,
 * whose checksum is then made good again: it is refused with a message and the machine is as
 * before, or it is taken and the machine runs on, well-formed.
 *
 * The input: one byte that says after how many steps the snapshot is taken, or (128 and more) where
 * inside a draw it is, then edits of four bytes: offset in the frame and the machine's own state,
 * value to store there, operation. */
#include "fuzz/fuzz.h"
#include "fuzz/machine.h"
#include "fuzz/tile_kernel_k1.h"

#include "base/bits.h"
#include "base/hash.h"

#include <facet/tile.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_BYTES = 64, STATE_SIZE_AT = 56 };
#define VRAM FACET_TILE_VRAM_BASE

static facet_machine *machine;

static bool countdown(void *context)
{
    unsigned *left = context;

    return --*left == 0;
}

/* Ends after so many steps, or questions of `every` nanoseconds. */
static void run(uint64_t steps, unsigned questions, uint64_t every)
{
    struct facet_stop stop;

    facet_machine_poll(machine, countdown, &questions, every);
    facet_machine_run(machine, &(struct facet_run){.budget = steps}, &stop);
    facet_machine_poll(machine, NULL, NULL, 0);
}

static void put(uint32_t address, uint32_t word)
{
    uint8_t bytes[4];

    facet_store_le32(bytes, word);
    fuzz_require(facet_machine_write(machine, 0, address, bytes, sizeof bytes, NULL) == FACET_OK);
}

static void push(uint8_t opcode, uint8_t flags, uint8_t length, uint32_t a, uint32_t b)
{
    const struct facet_tile_command command = {
        .opcode = opcode, .flags = flags, .slot = 3, .length = length, .arg = {a, b, 0}};

    fuzz_require(facet_tile_push(machine, &command, NULL) == FACET_OK);
}

/* A rectangle, two draws by one command, a kernel of worked example K1, an answer, a fence. */
static void make(void)
{
    const struct facet_tile_config config = {.vram = 1 << 16, .watchdog = 5000};
    struct facet_tile_packet packet = {
        .pc = VRAM + 0x400, .columns = 3, .rows = 2, .arg_base = VRAM + 0x500, .arg_size = 8};
    uint8_t bytes[64];

    fuzz_require(facet_tile_create(&config, &machine, NULL) == FACET_OK);
    for (uint32_t i = 0; i < sizeof kernel_k1 / sizeof kernel_k1[0]; i++) {
        put(VRAM + 0x400 + 4 * i, kernel_k1[i]);
    }
    put(VRAM + 0x500, VRAM + 0x600);
    put(VRAM + 0x504, 3);
    facet_tile_packet_write(&packet, bytes);
    fuzz_require(facet_machine_write(machine, 0, VRAM + 0x700, bytes, sizeof bytes, NULL) ==
                 FACET_OK);
    put(VRAM + 0x800, VRAM + 0x2000);
    put(VRAM + 0x804, 32);
    put(VRAM + 0x808, 1);
    put(VRAM + 0x80C, 8 | 8 << 16);
    put(VRAM + 0x840, 0x1FFFF);
    put(VRAM + 0x848, 8 | 8 << 16);
    put(VRAM + 0x88C, 2);
    for (uint32_t i = 0; i < 2; i++) {
        put(VRAM + 0x908 + 32 * i, 6);
        put(VRAM + 0x90C + 32 * i, i);
        put(VRAM + 0x910 + 32 * i, 0xFFFFFFFF);
    }
    put(VRAM + 0xA00, VRAM + 0xB00);
    put(VRAM + 0xA04, 16);
    for (uint32_t i = 0; i < 4; i++) {
        put(VRAM + 0xA10 + 20 * i, 0x3F800000);
    }
    for (uint32_t i = 0; i < 6; i++) {
        put(VRAM + 0xB00 + 16 * i, i % 2 == 0 ? 0xBF800000 : 0x3FC00000);
        put(VRAM + 0xB04 + 16 * i, i % 3 == 0 ? 0xBF800000 : 0x3FA00000);
        put(VRAM + 0xB0C + 16 * i, 0x3F800000);
    }
    fuzz_require(facet_tile_ring(machine, VRAM + 0x1000, 1024, NULL) == FACET_OK);
    fuzz_require(facet_tile_host_write(
                     machine, FACET_TILE_REG_COMPLETION_BASE, VRAM + 0x1800, NULL) == FACET_OK);
    push(FACET_TILE_CMD_LOAD_RSTATE, FACET_TILE_FLAG_EMIT, 0, 0, VRAM + 0x800);
    push(FACET_TILE_CMD_LOAD_GSTATE, 0, 0, 0, VRAM + 0xA00);
    push(FACET_TILE_CMD_RRECT, 0, 0, VRAM + 0x840, 0);
    push(FACET_TILE_CMD_GDRAW, 0, 0, VRAM + 0x900, VRAM + 0x88C);
    push(FACET_TILE_CMD_READ_MEM, 0, 7, VRAM + 0x400, 0);
    push(FACET_TILE_CMD_DISPATCH, FACET_TILE_FLAG_EMIT | FACET_TILE_FLAG_IRQ, 0, VRAM + 0x700, 0);
    push(FACET_TILE_CMD_WAIT_FENCE, 0, 0, 200, 9);
    fuzz_require(facet_tile_host_write(machine, FACET_TILE_REG_CMDQ_DOORBELL, 1, NULL) == FACET_OK);
}

/* The state after so many steps, or (128 and more) so many questions. */
static const struct facet_blob *state_after(uint8_t steps)
{
    static struct facet_blob states[256];
    static struct fuzz_machine kept;

    if (machine == NULL) {
        make();
        fuzz_keep(&kept, machine);
    }
    if (states[steps].data == NULL) {
        (void)fuzz_rewind(&kept);
        run(steps < 128 ? steps : UINT64_MAX, steps < 128 ? 0 : steps - 127U, 0);
        fuzz_require(facet_machine_snapshot(machine, &states[steps], NULL) == FACET_OK);
    }
    return &states[steps];
}

static struct facet_blob edited(const struct facet_blob *start, const uint8_t *data, size_t size)
{
    struct facet_blob blob = {malloc(start->size), start->size};
    uint8_t *bytes = blob.data;
    size_t limit = HEADER_BYTES + (size_t)facet_load_le64((uint8_t *)start->data + STATE_SIZE_AT);

    fuzz_require(bytes != NULL);
    memcpy(bytes, start->data, start->size);
    for (size_t i = 0; i + 4 <= size; i += 4) {
        uint8_t *at = bytes + facet_load_le(data + i, 2) * 3 % limit;

        *at = (data[i + 3] & 1) != 0 ? *at ^ data[i + 2] : data[i + 2];
    }
    facet_store_le64(bytes + blob.size - 8, facet_hash_bytes(bytes, blob.size - 8, 0));
    return blob;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct facet_blob *start = state_after(size != 0 ? data[0] : 0);
    struct facet_blob blob = edited(start, data + (size != 0), size - (size != 0)), after;
    struct facet_error err = {0};

    fuzz_require(facet_machine_restore(machine, start->data, start->size, NULL) == FACET_OK);
    if (facet_machine_restore(machine, blob.data, blob.size, &err) == FACET_OK) {
        run(1000, 20, 1000000);
        fuzz_require(facet_tile_host_write(machine, FACET_TILE_REG_CMDQ_DOORBELL, 1, NULL) ==
                     FACET_OK);
        run(1000, 20, 1000000);
        fuzz_require(facet_machine_snapshot(machine, &after, NULL) == FACET_OK);
        fuzz_require(facet_machine_restore(machine, after.data, after.size, NULL) == FACET_OK);
    } else {
        fuzz_require(err.message[0] != '\0');
        fuzz_require(facet_machine_snapshot(machine, &after, NULL) == FACET_OK);
        fuzz_require_same(&after, start);
    }
    free(blob.data);
    facet_blob_free(&after);
    return 0;
}
