/* Command lists of valid commands over valid descriptors: one thread, and three threads (inputs of
 * odd size) or the portable code leave the same machine and give the same answers.
 *
 * The input: commands of fourteen bytes (opcode, flags, slot, length, three arguments of which each
 * is a number or leads to a descriptor), ended by an opcode of 255, then the descriptors, one after
 * the other in the order of `kinds`. */
#include "fuzz/fuzz.h"
#include "fuzz/machine.h"
#include "fuzz/structures.h"
#include "fuzz/tile_kernel_k1.h"

#include "base/bits.h"

#include <facet/tile.h>
#include <string.h>

enum {
    VRAM_BYTES = 1 << 15,
    SLOT = 128,
    SLOTS = 64,
    VERTICES = 0x2000, /* small floats */
    KERNEL = 0x3000,
    RING = 0x4000,
    FENCES = 0x5000,
    PIXELS = 0x6000, /* to the end */
    RING_BYTES = 4096,
    MOST_COMMANDS = 40,
};

static const char *const kinds[] = {"RSTATE",
                                    "RRECT",
                                    "RDRAW",
                                    "VERTEX_BLOCK",
                                    "GSTATE",
                                    "GPARAM",
                                    "GDRAW",
                                    "GDRAW_ENTRY",
                                    "SAMPLER",
                                    "PACKET",
                                    "PLANE",
                                    "NORMAL_MATRIX"};
static const uint8_t opcodes[] = {
#define OPCODE(name) FACET_TILE_COMMAND_OPCODE_##name,
    FACET_TILE_COMMAND_OPCODE_VALUES(OPCODE)
#undef OPCODE
};

enum way { ONE_THREAD, THREE_THREADS, PORTABLE, WAYS };

static facet_machine *make(enum way way)
{
    const struct facet_tile_config config = {.vram = VRAM_BYTES,
                                             .watchdog = 200,
                                             .threads = way == THREE_THREADS ? 3 : 1,
                                             .plain = way == PORTABLE};
    facet_machine *machine;

    fuzz_require(facet_tile_create(&config, &machine, NULL) == FACET_OK);
    return machine;
}

static uint32_t argument(struct fuzz_bytes *in)
{
    const uint32_t kind = (uint32_t)fuzz_take(in, 1), n = (uint32_t)fuzz_take(in, 2);

    switch (kind & 7) {
    case 0:
        return n & 31;
    case 1:
        return n;
    case 2:
        return FACET_TILE_VRAM_BASE + 4 * n % VRAM_BYTES;
    default:
        return FACET_TILE_VRAM_BASE + SLOT * (n % SLOTS);
    }
}

static size_t take_commands(struct fuzz_bytes *in, struct facet_tile_command *out)
{
    static const uint32_t payload[8] = {1, 2, 3, 0x80000100, 0x3F800000, 6, 0x00100010, 0xFFFFFFFF};
    size_t count = 0;

    while (count < MOST_COMMANDS && in->left > 0) {
        struct facet_tile_command *c = &out[count];
        const uint8_t opcode = (uint8_t)fuzz_take(in, 1);

        if (opcode == 255) {
            break;
        }
        *c = (struct facet_tile_command){.opcode = opcode < 250 ? opcodes[opcode % sizeof opcodes]
                                                                : opcode};
        c->flags = (uint8_t)fuzz_take(in, 1) & 15;
        c->slot = (uint8_t)fuzz_take(in, 1) & 3;
        c->length = (uint8_t)fuzz_take(in, 1);
        if ((c->flags & FACET_TILE_FLAG_PAYLOAD) != 0) {
            c->length &= 7;
            c->payload = payload;
        }
        for (unsigned i = 0; i < 3; i++) {
            c->arg[i] = argument(in);
        }
        count++;
    }
    return count;
}

static void fill(struct fuzz_bytes *in, uint8_t *vram)
{
    const struct facet_fuzz_place place = {FACET_TILE_VRAM_BASE, VRAM_BYTES};

    memset(vram, 0, VRAM_BYTES);
    for (unsigned i = 0; i < SLOTS && in->left > 0; i++) {
        facet_fuzz_structure_named(in,
                                   kinds[i % (sizeof kinds / sizeof kinds[0])],
                                   4,
                                   &place,
                                   vram + (size_t)i * SLOT,
                                   SLOT);
    }
    for (uint32_t at = VERTICES; at < KERNEL; at += 4) {
        facet_store_le32(vram + at, 0x3F000000 + (at * 0x9E3779B1u >> 7));
    }
    for (size_t i = 0; i < sizeof kernel_k1 / sizeof kernel_k1[0]; i++) {
        facet_store_le32(vram + KERNEL + 4 * i, kernel_k1[i]);
    }
}

/* Everything that the list can do: a queue that waits is given what it waits for, three times. */
static void
run(facet_machine *machine, const struct facet_tile_command *commands, size_t count, uint64_t *sum)
{
    uint32_t words[256];

    fuzz_require(facet_tile_ring(machine, FACET_TILE_VRAM_BASE + RING, RING_BYTES, NULL) ==
                 FACET_OK);
    fuzz_require(facet_tile_host_write(machine,
                                       FACET_TILE_REG_COMPLETION_BASE,
                                       FACET_TILE_VRAM_BASE + FENCES,
                                       NULL) == FACET_OK);
    for (size_t i = 0; i < count; i++) {
        fuzz_require(facet_tile_push(machine, &commands[i], NULL) == FACET_OK);
    }
    for (unsigned round = 0; round < 3; round++) {
        (void)facet_tile_flush(machine, NULL, NULL, NULL);
        for (size_t got;
             facet_tile_take(machine, words, 256, &got, NULL) == FACET_OK && got != 0;) {
            for (size_t i = 0; i < got; i++) {
                *sum = *sum * 31 + words[i];
            }
        }
        for (uint32_t slot = 0; slot < 4; slot++) {
            fuzz_require(facet_tile_slot_write(machine, slot, 1 + round, NULL) == FACET_OK);
        }
        (void)facet_tile_doorbell(machine, 15, NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_machine machines[WAYS];
    static uint8_t vram[VRAM_BYTES];
    struct facet_tile_command commands[MOST_COMMANDS];
    struct fuzz_bytes in = {data, size};
    struct fuzz_limit limit = {0};
    struct facet_blob end[WAYS] = {0};
    uint64_t sum[WAYS] = {0};
    const size_t count = take_commands(&in, commands);

    fill(&in, vram);
    for (unsigned i = 0; i < 2; i++) {
        const enum way way = i == 0 ? ONE_THREAD : size % 2 != 0 ? THREE_THREADS : PORTABLE;
        facet_machine *machine;

        if (machines[way].machine == NULL) {
            fuzz_keep(&machines[way], make(way));
        }
        machine = fuzz_rewind(&machines[way]);
        fuzz_require(facet_machine_write(
                         machine, 0, FACET_TILE_VRAM_BASE, vram, sizeof vram, NULL) == FACET_OK);
        fuzz_limit_begin(&limit, machine);
        run(machine, commands, count, &sum[way]);
        facet_machine_poll(machine, NULL, NULL, 0);
        fuzz_require(facet_machine_snapshot(machine, &end[way], NULL) == FACET_OK);
        if (!limit.hit) {
            fuzz_require(sum[way] == sum[ONE_THREAD]);
            fuzz_require_same(&end[way], &end[ONE_THREAD]);
        }
    }
    for (enum way way = ONE_THREAD; way < WAYS; way++) {
        facet_blob_free(&end[way]);
    }
    return 0;
}
