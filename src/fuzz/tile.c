/* Kernels for the tile GPU: registers, scratch and a piece of VRAM are filled, then come random
 * instructions without jumps and draws. Nine tiles on four cores execute them. */
#include "fuzz/kinds.h"

#include "base/bits.h"
#include "base/random.h"
#include "fuzz/structures.h"
#include "isa/table.h"

#include <facet/isa.h>
#include <facet/tile.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    VRAM_BYTES = 1 << 16,
    DATA_OFFSET = 0x4000,
    SLOT = 64, /* bytes of a structure */
    SLOTS = 32,
    NUMBERS = 2048, /* bytes of numbers behind them */
    ROUNDS = 4000,
    TURNS = 3, /* of the body: what is jumped to becomes code of the host */
};
#define TURNS_LEFT (FACET_TILE_SCRATCH_BASE + 0xFF0) /* counts down */
/* Loads relative to the pc find VRAM on both sides of the code, whose first bytes are the constants
 * too. */
#define CODE (FACET_TILE_VRAM_BASE + 0x1000)
#define DATA (CODE + DATA_OFFSET)

enum stream { ITEMS, REGISTERS, STRUCTURES };

static uint64_t stream_of(const struct facet_fuzz_case *c, enum stream stream)
{
    return facet_random(facet_random(c->seed, c->number), stream);
}

/* Jumps lead anywhere, draws may have billions of pixels, an end would end most kernels, and stores
 * relative to the pc would change the code. */
static bool usable(const struct facet_insn_row *row)
{
    static const char *const left_out[] = {"RRECT", "RDRAW", "GDRAW", "EXIT", "WFI"};
    const uint32_t opcode = row->match & 0x7F;
    const bool stores = opcode == 0x0D || opcode == 0x1D || opcode == 0x12 || opcode == 0x1A;
    bool usable =
        opcode != 0x0E && opcode != 0x6F && !(stores && strstr(row->syntax, "(rs1)") == NULL);

    for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++) {
        usable = usable && strcmp(row->mnemonic, left_out[i]) != 0;
    }
    return usable;
}

/* What is never a destination: s14 and s15 are small, s16 to s31 addresses, v28 to v31 offsets. A
 * fault ends the whole dispatch, so memory is mostly reached as it should be. */
enum { FIRST_SMALL = 14, FIRST_ADDRESS = 16, FIRST_OFFSETS = 28 };

static uint32_t put(uint32_t word, unsigned at, uint32_t value)
{
    return (word & ~(UINT32_C(31) << at)) | value << at;
}

static uint32_t usual_registers(const struct facet_insn_row *row, uint32_t word)
{
    const bool constants = strncmp(row->mnemonic, "VLD.C", 5) == 0;
    const bool memory = strstr(row->syntax, "(rs1)") != NULL;
    const uint32_t rd = word >> 7 & 31, rs1 = word >> 15 & 31, rs2 = word >> 20 & 31;
    const uint32_t opcode = row->match & 0x7F;
    const bool atomic = opcode == 0x14 || opcode == 0x15 || opcode == 0x1E;
    const bool any = (word >> 27 & 7) == 0 && !atomic; /* also what is not aligned */

    if (strstr(row->fields, "rd[11:7]") != NULL) {
        word = put(word, 7, rd % FIRST_SMALL);
    }
    if (strstr(row->fields, "vd[11:7]") != NULL) {
        word = put(word, 7, rd % FIRST_OFFSETS);
    }
    if (!memory) {
        return word;
    }
    word = put(word, 15, constants ? FIRST_SMALL + rs1 % 2 : FIRST_ADDRESS + rs1 % 16);
    if (strstr(row->syntax, "rs2(rs1)") != NULL || strstr(row->syntax, "(rs1), rs2") != NULL) {
        word = put(word, 20, FIRST_SMALL + rs2 % 2); /* an index or a stride */
    } else if (strstr(row->fields, "vs2[24:20]") != NULL) {
        word = put(word, 20, FIRST_OFFSETS + rs2 % 4);
    } else if (!any && (opcode == 0x0D || opcode == 0x1D)) { /* the low bits of the immediate */
        word = put(word, 7, rd & ~UINT32_C(3));
    } else if (!any && strstr(row->fields, "imm[") != NULL) {
        word &= ~(UINT32_C(3) << 20);
    }
    return word;
}

static uint32_t word_of(uint64_t random)
{
    const struct facet_insn_row *rows = facet_isa_rows[FACET_ISA_TILE];
    size_t i = (random >> 32) % facet_isa_row_count[FACET_ISA_TILE];

    while (!usable(&rows[i])) {
        i = (i + 1) % facet_isa_row_count[FACET_ISA_TILE];
    }
    return rows[i].match | (usual_registers(&rows[i], (uint32_t)random) & ~rows[i].mask);
}

static void draw(struct facet_fuzz_case *c, size_t length)
{
    c->count = length;
    for (size_t i = 0; i < length; i++) {
        c->item[i] = word_of(facet_random(stream_of(c, ITEMS), i));
    }
}

static uint32_t register_value(unsigned index, uint64_t random)
{
    const uint32_t n = random >> 8 & 31;

    if (index >= FIRST_ADDRESS) {
        return (random & 3) == 0 ? FACET_TILE_SCRATCH_BASE + 0x700 + 16 * n : DATA + SLOT * n;
    }
    if (index >= FIRST_SMALL) {
        return 16 * (1 + n % 4);
    }
    return (random & 1) != 0 ? (uint32_t)(random >> 32) : n;
}

/* ---- the kernel as a text ---- */

static void put_data(const struct facet_fuzz_case *c, struct facet_strbuf *out)
{
    const struct facet_fuzz_place place = {DATA, SLOTS * SLOT};
    const uint64_t seed = stream_of(c, STRUCTURES);
    uint8_t data[SLOTS * SLOT + NUMBERS] = {0};

    for (unsigned i = 0; i < SLOTS; i++) {
        uint8_t choices[256];
        struct fuzz_bytes in = {choices, sizeof choices};

        for (unsigned k = 0; k < sizeof choices; k += 8) {
            facet_store_le64(choices + k, facet_random(seed, i * sizeof choices + k));
        }
        facet_fuzz_structure(&in, "tile", 4, &place, data + (size_t)i * SLOT, SLOT);
    }
    for (unsigned i = SLOTS * SLOT; i < sizeof data; i += 8) {
        facet_store_le64(data + i, facet_random(seed, (UINT64_C(1) << 32) + i));
    }
    facet_strbuf_printf(out, "    .org 0x%x\nstructures:\n", DATA_OFFSET);
    for (unsigned i = 0; i < sizeof data; i += 4) {
        facet_strbuf_printf(out,
                            "%s0x%08" PRIx32 "%s",
                            i % 32 == 0 ? "    .word " : ", ",
                            facet_load_le32(data + i),
                            i % 32 == 28 ? "\n" : "");
    }
}

static enum facet_status
text(const struct facet_fuzz_case *c, struct facet_strbuf *out, struct facet_error *err)
{
    const uint64_t seed = stream_of(c, REGISTERS);

    facet_strbuf_printf(
        out, "# Case %" PRIu64 " of seed %" PRIu64 " of `facet fuzz tile`.\n", c->number, c->seed);
    facet_strbuf_printf(out,
                        "    MOVI s1, 0x%08" PRIx32 "\n    MOVI s2, %d\n    SW s2, 0(s1)\n",
                        TURNS_LEFT,
                        TURNS);
    for (unsigned i = 1; i < 32; i++) { /* any numbers for f and v, then s */
        facet_strbuf_printf(out,
                            "    MOVI s1, 0x%08" PRIx32 "\n    FMV.S2F f%u, s1\n"
                            "    VBCAST.I32 v%u, s1\n    MOVI s1, 0x%08" PRIx32 "\n"
                            "    VINS.I32 v%u, s1, %u\n",
                            i < FIRST_OFFSETS ? (uint32_t)facet_random(seed, 64 + i) : 4 * (i % 4),
                            i,
                            i,
                            (uint32_t)facet_random(seed, 96 + i) & 0xFC,
                            i,
                            i % 4);
    }
    for (unsigned i = 1; i < 32; i++) {
        facet_strbuf_printf(
            out, "    MOVI s%u, 0x%08" PRIx32 "\n", i, register_value(i, facet_random(seed, i)));
    }
    facet_strbuf_puts(out, "body:\n");
    for (size_t i = 0; i < c->count; i++) {
        char line[128] = "";

        (void)facet_isa_print_word(FACET_ISA_TILE, c->item[i], 0, line, sizeof line);
        facet_strbuf_printf(out, "    .word 0x%08" PRIx32 "      # %s\n", c->item[i], line);
    }
    facet_strbuf_printf(out,
                        "    MOVI s1, 0x%08" PRIx32 "\n    LW s2, 0(s1)\n    ADDI s2, s2, -1\n"
                        "    SW s2, 0(s1)\n    BLT s0, s2, body\n    EXIT\n",
                        TURNS_LEFT);
    put_data(c, out);
    return out->failed ? facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for a kernel") : FACET_OK;
}

static enum facet_status
assemble(const struct facet_fuzz_case *c, struct facet_blob *elf, struct facet_error *err)
{
    const struct facet_isa_assemble_config config = {
        .isa = FACET_ISA_TILE, .has_base = true, .base = CODE, .name = "kernel"};

    return facet_fuzz_assemble(&facet_fuzz_tile, &config, c, elf, err);
}

/* ---- running ---- */

enum way { PLAIN, AHEAD, HOST_CODE, WAYS };
static const char *const way_name[WAYS] = {"plain", "cores ahead", "host code"};

struct runner {
    facet_machine *machine[WAYS];
};

static void close_runner(void *context)
{
    struct runner *r = context;

    for (enum way way = PLAIN; r != NULL && way < WAYS; way++) {
        facet_machine_destroy(r->machine[way]);
    }
    free(r);
}

static enum facet_status
open_runner(struct conform_target *against, void **out, struct facet_error *err)
{
    struct runner *r = calloc(1, sizeof *r);
    enum facet_status status = FACET_OK;

    (void)against; /* there are no programs of this kind */
    *out = r;
    if (r == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for machines");
    }
    for (enum way way = PLAIN; way < WAYS && status == FACET_OK; way++) {
        const struct facet_tile_config config = {
            .vram = VRAM_BYTES,
            .watchdog = ROUNDS,
            .plain = way == PLAIN,
            .host_code = way == HOST_CODE ? 1 : FACET_TILE_NO_HOST_CODE,
        };

        status = facet_tile_create(&config, &r->machine[way], err);
    }
    return status;
}

static enum facet_status run_way(facet_machine *machine,
                                 const struct facet_blob *elf,
                                 struct facet_blob *end,
                                 struct facet_error *err)
{
    struct facet_tile_packet packet = {
        .columns = 3, .rows = 3, .shared_size = 4096, .const_base = CODE, .const_size = 1024};
    struct facet_stop stop;
    enum facet_status status = facet_tile_clear(machine, err);

    if (status == FACET_OK) {
        status = facet_tile_load_elf(machine, elf->data, elf->size, &packet.pc, err);
    }
    if (status == FACET_OK) {
        status = facet_tile_dispatch(machine, &packet, err);
    }
    if (status == FACET_OK) {
        facet_machine_run(machine, &(struct facet_run){.budget = UINT64_MAX}, &stop);
        status = facet_machine_snapshot(machine, end, err);
    }
    return status;
}

static enum facet_status run(void *context,
                             const struct facet_fuzz_case *c,
                             struct facet_fuzz_verdict *verdict,
                             struct facet_error *err)
{
    struct runner *r = context;
    struct facet_blob elf = {0}, end[WAYS] = {{0}};
    enum facet_status status = assemble(c, &elf, err);

    *verdict = (struct facet_fuzz_verdict){0};
    for (enum way way = PLAIN; way < WAYS && status == FACET_OK && !verdict->differs; way++) {
        status = run_way(r->machine[way], &elf, &end[way], err);
        if (status == FACET_OK) {
            facet_fuzz_compare(&end[PLAIN], way_name[PLAIN], &end[way], way_name[way], verdict);
        }
    }
    for (enum way way = PLAIN; way < WAYS; way++) {
        facet_blob_free(&end[way]);
    }
    facet_blob_free(&elf);
    return status;
}

const struct facet_fuzz_kind facet_fuzz_tile = {
    .name = "tile",
    .items = "instructions",
    .ways = "plain, cores that run ahead of each other, code of the host",
    .draw = draw,
    .open = open_runner,
    .close = close_runner,
    .run = run,
    .text = text,
    .suffix = ".s",
};
