/* Any kernel, run twice: once freely, and once with an observer, for half of the inputs up to any
 * step from whose snapshot another machine goes on. Both end in the same state, bit for bit: the
 * quick ways of the machine (whole rounds, cached code, direct access to memory) show nothing of
 * themselves.
 *
 * The input: four bytes choose options, place and the step; then words of which the
 * first ten bits choose an instruction row and the rest fill its fields, so that most of them
 * decode. Draws are left out: fuzz_raster has them, and one may have billions of pixels. */
#include "fuzz/fuzz.h"
#include "fuzz/machine.h"

#include "base/bits.h"
#include "isa/table.h"

#include <facet/observer.h>
#include <facet/tile.h>
#include <stdlib.h>
#include <string.h>

enum { VRAM_BYTES = 1 << 13, CODE_BYTES = VRAM_BYTES / 2, MAX_WORDS = 256, ROUNDS = 24 };
#define DATA (FACET_TILE_VRAM_BASE + CODE_BYTES)

static bool is_draw(const struct facet_insn_row *row)
{
    return strcmp(row->mnemonic, "RRECT") == 0 || strcmp(row->mnemonic, "RDRAW") == 0 ||
           strcmp(row->mnemonic, "GDRAW") == 0;
}

/* Row `choice` of those that are not draws. */
static const struct facet_insn_row *row_of(uint32_t choice)
{
    static const struct facet_insn_row *rows[1024];
    static size_t count;
    const bool collected = count != 0;

    for (size_t i = 0; !collected && i < facet_isa_row_count[FACET_ISA_TILE]; i++) {
        if (!is_draw(&facet_isa_rows[FACET_ISA_TILE][i])) {
            fuzz_require(count < 1024);
            rows[count++] = &facet_isa_rows[FACET_ISA_TILE][i];
        }
    }
    return rows[choice % count];
}

/* Immediates are left as they come: a branch may lead anywhere. */
static uint32_t word_of(uint32_t bits)
{
    const struct facet_insn_row *row = row_of(bits & 1023);

    bits = bits * UINT32_C(0x9E3779B1) ^ bits >> 10;
    return bits % 509 == 0 ? bits & ~UINT32_C(0x7F) : row->match | (bits & ~row->mask);
}

/* Table index of s0, f0 or v0; the others of the file follow. */
static uint32_t first_of(const facet_machine *machine, const char *name)
{
    uint32_t index = facet_machine_find_reg(machine, 0, name);

    fuzz_require(index != FACET_NONE);
    return index;
}

static void set(facet_machine *machine, uint32_t core, uint32_t index, struct facet_value value)
{
    fuzz_require(facet_machine_reg_write(machine, core, index, value, NULL) == FACET_OK);
}

/* Addresses in s, some of them shared by the cores; small offsets in v; any numbers in f. */
static void fill_registers(facet_machine *machine)
{
    static uint32_t s, f, v;

    if (v == 0) {
        s = first_of(machine, "s0");
        f = first_of(machine, "f0");
        v = first_of(machine, "v0");
    }
    for (uint32_t core = 0; core < FACET_TILE_CORES; core++) {
        for (uint32_t i = 1; i < 32; i++) {
            const uint32_t place = i % 8 == 7   ? UINT32_C(0x8000) + 16 * i
                                   : i % 8 == 6 ? UINT32_C(0x10002000) + 32 * (i / 8)
                                   : i % 8 == 5 ? i
                                                : DATA + 64 * (i + 8 * core * (i & 1));
            const uint64_t offsets = UINT64_C(0x0000000400000008) * i;

            set(machine, core, s + i, (struct facet_value){place, 0});
            set(machine, core, f + i, (struct facet_value){0x3800 + i * 0x111, 0});
            set(machine, core, v + i, (struct facet_value){offsets, offsets << 2});
        }
    }
}

/* What the packet says: where the code is, on which cores it runs, whether there are constants. */
static struct facet_tile_packet packet_of(unsigned choice)
{
    return (struct facet_tile_packet){.pc = (choice & 1) != 0 ? UINT32_C(0x30000000)
                                                              : FACET_TILE_VRAM_BASE,
                                      .columns = 3,
                                      .rows = 3,
                                      .shared_size = 1024,
                                      .core_mask = choice >> 2,
                                      .const_base = DATA + 64,
                                      .const_size = (choice & 2) != 0 ? 64 : 0};
}

/* The two machines of a choice of options, at the start of a packet with all registers filled. */
static void rewind_pair(unsigned options, unsigned packet, facet_machine *pair[2])
{
    static facet_machine *machines[32][2];
    static struct facet_blob starts[32][64];
    const bool strong = (options & 1) != 0, few = (options & 12) == 12;
    const bool random = (options & 16) != 0, long_slots = (options & 32) != 0;
    const bool poison = (options & 0xC2) == 0xC2; /* its state is five times as large */
    const unsigned choice = (unsigned)strong | (unsigned)few << 1 | (unsigned)random << 2 |
                            (unsigned)long_slots << 3 | (unsigned)poison << 4;
    const struct facet_tile_config config = {.vram = VRAM_BYTES,
                                             .watchdog = ROUNDS,
                                             .strong = strong,
                                             .poison = poison,
                                             .regs = few ? 16 : 32,
                                             .random = random,
                                             .quantum = long_slots ? 3 : 1,
                                             .seed = long_slots ? 32 : 0};
    struct facet_blob *start = &starts[choice][packet];

    for (unsigned i = 0; i < 2; i++) {
        if (machines[choice][i] == NULL) {
            fuzz_require(facet_tile_create(&config, &machines[choice][i], NULL) == FACET_OK);
        }
        pair[i] = machines[choice][i];
    }
    if (start->data == NULL) {
        const struct facet_tile_packet made = packet_of(packet);

        (void)facet_tile_clear(pair[0], NULL);
        fuzz_require(facet_tile_dispatch(pair[0], &made, NULL) == FACET_OK);
        fill_registers(pair[0]);
        fuzz_require(facet_machine_snapshot(pair[0], start, NULL) == FACET_OK);
    }
    for (unsigned i = 0; i < 2; i++) {
        fuzz_require(facet_machine_restore(pair[i], start->data, start->size, NULL) == FACET_OK);
    }
}

/* The words again and again from the start to the end of the lower half of memory, so that most
 * jumps lead to some of them. */
static void load(facet_machine *const pair[2], struct fuzz_bytes words, uint32_t base)
{
    static uint8_t bytes[CODE_BYTES];
    const size_t count = words.left / 4 < MAX_WORDS ? words.left / 4 : MAX_WORDS;

    memset(bytes, 0, sizeof bytes);
    for (size_t i = 0; i < CODE_BYTES / 4 && count != 0; i++) {
        if (i < count) {
            facet_store_le32(bytes + 4 * i, word_of(facet_load_le32(words.at + 4 * i)));
        } else {
            memcpy(bytes + 4 * i, bytes + 4 * (i - count), 4);
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        fuzz_require(facet_machine_write(pair[i], 0, base, bytes, sizeof bytes, NULL) == FACET_OK);
    }
}

static void ignore(void *context, const struct facet_retire_event *event)
{
    (void)context, (void)event;
}

static const struct facet_observer observer = {.retire = ignore};

static void run_watched(facet_machine *machine, uint64_t budget)
{
    struct facet_stop stop;

    facet_machine_observe(machine, &observer);
    facet_machine_run(machine, &(struct facet_run){.budget = budget}, &stop);
    facet_machine_observe(machine, NULL);
}

/* With an observer to the end; from a step on, when there is one, on the other machine. Gives the
 * state there. */
static struct facet_blob run_watched_to_end(facet_machine *pair[2], uint64_t step)
{
    struct facet_blob blob;

    if (step != 0) {
        run_watched(pair[1], step);
        fuzz_require(facet_machine_snapshot(pair[1], &blob, NULL) == FACET_OK);
        fuzz_require(facet_machine_restore(pair[0], blob.data, blob.size, NULL) == FACET_OK);
        facet_blob_free(&blob);
    }
    run_watched(pair[step == 0], UINT64_MAX);
    fuzz_require(facet_machine_snapshot(pair[step == 0], &blob, NULL) == FACET_OK);
    return blob;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t option[4] = {0};
    struct facet_blob free_end, watched_end;
    struct facet_stop stop;
    facet_machine *pair[2];
    unsigned packet;

    memcpy(option, data, size < 4 ? size : 4);
    packet = (option[2] & 3) | (option[2] >> 4) << 2;
    rewind_pair(option[0], packet, pair);
    if (size > 4) {
        load(pair, (struct fuzz_bytes){data + 4, size - 4}, packet_of(packet).pc);
    }
    facet_machine_run(pair[0], &(struct facet_run){.budget = UINT64_MAX}, &stop);
    fuzz_require(stop.reason != FACET_STOP_BUDGET);
    fuzz_require(facet_machine_snapshot(pair[0], &free_end, NULL) == FACET_OK);
    watched_end = run_watched_to_end(pair, option[3] < 128 ? option[3] % (4 * ROUNDS) : 0);
    fuzz_require_same(&free_end, &watched_end);
    facet_blob_free(&free_end);
    facet_blob_free(&watched_end);
    return 0;
}
