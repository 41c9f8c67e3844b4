/* Kernels for the tile GPU: registers, samplers, scratch and a piece of VRAM are filled, then come
 * random instructions without draws, which jump forward only. Nine tiles on four cores execute them
 * in Facet's own ways; for other implementations, whose cores may take turns otherwise, three tiles
 * on one core, which store their registers at the end. */
#include "fuzz/kinds.h"

#include "base/bits.h"
#include "base/random.h"
#include "fuzz/structures.h"
#include "isa/table.h"
#include "object/elf.h"

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
    ROUNDS = 6000,
    SAMPLERS = 4,
    SAMPLER_CSRS = 0x400, /* eight registers each: base, stride, width, height, format, wrap, ... */
    OUT_OFFSET = 0x6000,  /* registers at the end, OUT_BYTES of each tile */
    OUT_BYTES = 0x400,
    TURNS = 3, /* of the body: what is jumped to becomes code of the host */
};
#define TURNS_LEFT (FACET_TILE_SCRATCH_BASE + 0xFF0) /* counts down */
/* Loads relative to the pc find VRAM on both sides of the code, whose first bytes are the constants
 * too. */
#define CODE (FACET_TILE_VRAM_BASE + 0x1000)
#define DATA (CODE + DATA_OFFSET)

#define OUT (CODE + OUT_OFFSET)

enum stream { ITEMS, REGISTERS, STRUCTURES, TEXTURES };

static uint64_t stream_of(const struct facet_fuzz_case *c, enum stream stream)
{
    return facet_random(facet_random(c->seed, c->number), stream);
}

/* Jumps by a register lead anywhere, draws may have billions of pixels, an end would end most
 * kernels, and stores relative to the pc would change the code. */
static bool usable(const struct facet_insn_row *row)
{
    static const char *const left_out[] = {"RRECT", "RDRAW", "GDRAW", "EXIT", "WFI", "JALR"};
    const uint32_t opcode = row->match & 0x7F;
    const bool stores = opcode == 0x0D || opcode == 0x1D || opcode == 0x12 || opcode == 0x1A;
    bool usable = !(stores && strstr(row->syntax, "(rs1)") == NULL);

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

/* Over one to six instructions, any of which can be left out. */
static uint32_t jump(const struct facet_insn_row *row, uint32_t random)
{
    const uint32_t bytes = 8 + 4 * (random % 6), rd = (random >> 7 & 31) % FIRST_SMALL << 7;

    return strcmp(row->mnemonic, "JAL") == 0     ? rd | bytes / 2 << 21
           : strcmp(row->mnemonic, "JAL.S") == 0 ? rd | bytes << 20
                                                 : (random & 0x1FF8000) | bytes / 2 << 8;
}

/* One that is there, mostly; not what counts time, which is another for everybody. */
static uint32_t csr_number(uint32_t random)
{
    size_t i = (random >> 20) % facet_csr_row_count;

    while (facet_csr_rows[i].isa != FACET_ISA_TILE) {
        i = (i + 1) % facet_csr_row_count;
    }
    if (strncmp(facet_csr_rows[i].name, "time", 4) == 0 ||
        strncmp(facet_csr_rows[i].name, "inst", 4) == 0) {
        return 3; /* config */
    }
    return facet_csr_rows[i].number +
           random % facet_csr_rows[i].count *
               (facet_csr_rows[i].stride != 0 ? facet_csr_rows[i].stride : 1);
}

static uint32_t word_of(uint64_t random)
{
    const struct facet_insn_row *rows = facet_isa_rows[FACET_ISA_TILE];
    size_t i = (random >> 32) % facet_isa_row_count[FACET_ISA_TILE];
    uint32_t opcode;

    while (!usable(&rows[i])) {
        i = (i + 1) % facet_isa_row_count[FACET_ISA_TILE];
    }
    opcode = rows[i].match & 0x7F;
    if (opcode == 0x0E || opcode == 0x6F) {
        return rows[i].match | (jump(&rows[i], (uint32_t)random) & ~rows[i].mask);
    }
    if (strncmp(rows[i].mnemonic, "CSRR", 4) == 0) {
        return rows[i].match |
               ((usual_registers(&rows[i], (uint32_t)random) & 0xFFFFF) & ~rows[i].mask) |
               csr_number((uint32_t)random) << 20;
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
    return (random & 1) != 0 ? (uint32_t)(random >> 32) : (random & 2) != 0 ? n : n % SAMPLERS;
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

/* Textures of a few texels over the numbers, in every format and with every wrap. */
static void put_samplers(const struct facet_fuzz_case *c, struct facet_strbuf *out)
{
    const uint64_t seed = stream_of(c, TEXTURES);

    for (unsigned i = 0; i < SAMPLERS; i++) {
        const uint64_t random = facet_random(seed, i);
        const uint32_t values[] = {DATA + SLOT * (uint32_t)(random & 31),
                                   16u << (random >> 5 & 1),
                                   1 + (uint32_t)(random >> 6 & 7),
                                   1 + (uint32_t)(random >> 9 & 7),
                                   (uint32_t)(random >> 12 & 0x33),
                                   (uint32_t)(random >> 20 & 0xF),
                                   (uint32_t)(random >> 24 & 3),
                                   DATA + SLOTS * SLOT};

        for (unsigned k = 0; k < sizeof values / sizeof values[0]; k++) {
            facet_strbuf_printf(out,
                                "    MOVI s1, 0x%08" PRIx32 "\n    CSRW 0x%x, s1\n",
                                values[k],
                                SAMPLER_CSRS + 8 * i + k);
        }
    }
}

/* s3 to s13, f and v registers, some CSRs, to the place of the tile; the first tiles have it all.
 */
static void put_stores(struct facet_strbuf *out)
{
    static const char *const csrs[] = {"status", "fstatus", "vstatus", "config", "gerror"};
    unsigned at = 0;

    facet_strbuf_printf(out,
                        "    SETMISC s0, 0x10, 0\n    CSRW vstride, s0\n"
                        "    CSRR s1, tile_offset\n    ANDI s1, s1, 0x7f0\n    SHLI s1, s1, 6\n"
                        "    MOVI s2, 0x%08" PRIx32 "\n    ADD s1, s1, s2\n",
                        (uint32_t)OUT);
    for (unsigned i = 3; i < FIRST_SMALL; i++, at += 4) {
        facet_strbuf_printf(out, "    SW s%u, %u(s1)\n", i, at);
    }
    for (unsigned i = 0; i < 32; i++, at += 4) {
        facet_strbuf_printf(out, "    FMV.F2S s2, f%u\n    SW s2, %u(s1)\n", i, at);
    }
    for (unsigned i = 0; i < sizeof csrs / sizeof csrs[0]; i++, at += 4) {
        facet_strbuf_printf(out, "    CSRR s2, %s\n    SW s2, %u(s1)\n", csrs[i], at);
    }
    facet_strbuf_puts(out, "    ADDI s1, s1, 256\n");
    for (unsigned i = 0; i < 32; i++) {
        facet_strbuf_printf(out, "    VST.V v%u, %u(s1)\n", i, 16 * i);
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
    put_samplers(c, out);
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
    /* Where the last jumps lead, then the next turn. */
    facet_strbuf_printf(out,
                        "    .rept 8\n    ADDI s0, s0, 0\n    .endr\n"
                        "    MOVI s1, 0x%08" PRIx32 "\n    LW s2, 0(s1)\n    ADDI s2, s2, -1\n"
                        "    SW s2, 0(s1)\n    BLT s0, s2, body\n",
                        TURNS_LEFT);
    put_stores(out);
    facet_strbuf_puts(out, "    EXIT\n");
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

static enum facet_status open_runner(void **out, struct facet_error *err)
{
    struct runner *r = calloc(1, sizeof *r);
    enum facet_status status = FACET_OK;

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

/* ---- for others ---- */

enum { OUTPUTS = OUT_OFFSET - DATA_OFFSET + 3 * OUT_BYTES };

static enum facet_status put_case(const struct facet_fuzz_case *c,
                                  const char *result,
                                  struct facet_fuzz_files *out,
                                  struct facet_error *err)
{
    struct facet_strbuf json;
    enum facet_status status;

    facet_strbuf_init(&json);
    facet_strbuf_printf(&json,
                        "{\"name\": \"case %" PRIu64 " of seed %" PRIu64
                        "\", \"requirement_ids\": [],\n"
                        " \"kernel_address\": \"0x%08" PRIx32 "\", \"grid\": [3, 1], "
                        "\"tile\": [16, 16], \"core_mask\": 1,\n \"shared_size\": 4096, "
                        "\"const_address\": \"0x%08" PRIx32 "\", \"const_size\": 1024, "
                        "\"watchdog\": %d,\n \"outputs\": [{\"address\": \"0x%08" PRIx32
                        "\", \"length\": %d, \"file\": \"out0.bin\"}],\n"
                        " \"expected\": {\"result\": \"%s\"}}\n",
                        c->number,
                        c->seed,
                        (uint32_t)CODE,
                        (uint32_t)CODE,
                        ROUNDS,
                        (uint32_t)DATA,
                        OUTPUTS,
                        result);
    status = facet_fuzz_put_text(out, "/case.json", &json, err);
    facet_strbuf_free(&json);
    return status;
}

static enum facet_status
files(const struct facet_fuzz_case *c, struct facet_fuzz_files *out, struct facet_error *err)
{
    static const uint8_t nothing[OUTPUTS];
    struct facet_strbuf source, hex;
    struct facet_object *object = NULL;
    struct facet_blob elf = {0};
    uint8_t *bytes = NULL;
    size_t size = 0;
    uint64_t base;
    enum facet_status status;

    facet_strbuf_init(&source);
    facet_strbuf_init(&hex);
    status = text(c, &source, err);
    status = status == FACET_OK ? assemble(c, &elf, err) : status;
    status = status == FACET_OK ? facet_elf_read(elf.data, elf.size, &object, err) : status;
    status = status == FACET_OK ? facet_object_flatten(object, &bytes, &size, &base, err) : status;
    for (size_t i = 0; i + 4 <= size; i += 4) {
        facet_strbuf_printf(&hex, "%08" PRIx32 "\n", facet_load_le32(bytes + i));
    }
    status = status == FACET_OK ? facet_fuzz_put_text(out, "/kernel.s", &source, err) : status;
    status = status == FACET_OK ? facet_fuzz_put_text(out, "/kernel.hex", &hex, err) : status;
    status = status == FACET_OK ? facet_fuzz_put(out, "/kernel.bin", bytes, size, err) : status;
    status = status == FACET_OK ? facet_fuzz_put(out, "/out0.bin", nothing, OUTPUTS, err) : status;
    status = status == FACET_OK ? put_case(c, "ok", out, err) : status;
    free(bytes);
    facet_object_free(object);
    facet_blob_free(&elf);
    facet_strbuf_free(&source);
    facet_strbuf_free(&hex);
    return status;
}

/* The end, then the outputs. */
static enum facet_status finish(const struct facet_fuzz_case *c,
                                const struct conform_words *answer,
                                struct facet_fuzz_files *out,
                                struct facet_error *err)
{
    uint8_t bytes[OUTPUTS] = {0};
    enum facet_status status;

    for (size_t i = 0; i + 1 < answer->count && 4 * i + 4 <= sizeof bytes; i++) {
        facet_store_le(bytes + 4 * i, 4, answer->word[i + 1]);
    }
    status = facet_fuzz_put(out, "/out0.bin", bytes, sizeof bytes, err);
    return status == FACET_OK ? put_case(c, answer->word[0] == 0 ? "ok" : "fault", out, err)
                              : status;
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
    .conform = CONFORM_TILE,
    .end = "",
    .files = files,
    .finish = finish,
};
