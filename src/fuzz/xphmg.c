/* Programs for the hart, mostly of the vendor's instructions: registers and memory are filled with
 * values and structures that these take, some CSRs with legal values, predicate banks with masks; a
 * handler counts and skips what traps, the body runs three times, and at the end registers and the
 * vendor's CSRs are stored. The program needs nothing but
 * RAM and HTIF, so that it runs on other implementations too. */
#include "fuzz/kinds.h"

#include "base/bits.h"
#include "base/random.h"
#include "fuzz/structures.h"
#include "isa/table.h"

#include <facet/isa.h>
#include <facet/xphmg.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RAM_BYTES = 1 << 17,
    SLOT = 128, /* bytes of a structure */
    SLOTS = 32,
    ELEMENTS = 4096, /* bytes of plain elements behind them */
    TURNS = 3,
    STEPS = 20000,
    VALUES = 0x6000, /* offsets: what registers start with, */
    SIGNATURE = 0x7000,
    STRUCTURE_AREA = 0x8000,
};
#define DATA (FACET_XPHMG_RAM_BASE + STRUCTURE_AREA)

/* ---- drawing ---- */

enum stream { ITEMS, VALUES_OF, STRUCTURES, POLICIES };

static uint64_t stream_of(const struct facet_fuzz_case *c, enum stream stream)
{
    return facet_random(facet_random(c->seed, c->number), stream);
}

static bool is_branch(const struct facet_insn_row *row)
{
    return (row->match & 0x7F) == 0x63 || strncmp(row->mnemonic, "bp.", 3) == 0;
}

/* Other jumps and system instructions would lead anywhere, and some waits never end. */
static bool straight(const struct facet_insn_row *row)
{
    const uint32_t opcode = row->match & 0x7F;

    return row->length == 4 && opcode != 0x67 && opcode != 0x6F && opcode != 0x73 &&
           strncmp(row->mnemonic, "xfence.wait", 11) != 0;
}

/* The n-th of the rows that are (not) the vendor's, counted round and round. */
static const struct facet_insn_row *row_of(bool vendor, uint64_t n)
{
    const struct facet_insn_row *rows = facet_isa_rows[FACET_ISA_XPHMG];
    size_t count = 0, i = 0;

    for (size_t k = 0; k < facet_isa_row_count[FACET_ISA_XPHMG]; k++) {
        count += straight(&rows[k]) && (strcmp(rows[k].file, "rv64.insn.tsv") != 0) == vendor;
    }
    n %= count;
    for (;; i++) {
        if (straight(&rows[i]) && (strcmp(rows[i].file, "rv64.insn.tsv") != 0) == vendor &&
            n-- == 0) {
            return &rows[i];
        }
    }
}

static bool vendor_csr(const struct facet_csr_row *row)
{
    return row->isa == FACET_ISA_XPHMG && strcmp(row->file, "rv64.csr.tsv") != 0;
}

static uint32_t number_of(const struct facet_csr_row *row)
{
    return (row->number > 0xFFF && row->alias != 0 ? row->alias : row->number) & 0xFFF;
}

static uint32_t csr_instruction(uint64_t n, uint32_t bits)
{
    static const uint32_t function[] = {1, 2, 3, 5, 6, 7};
    size_t i = n % facet_csr_row_count;

    while (!vendor_csr(&facet_csr_rows[i])) {
        i = (i + 1) % facet_csr_row_count;
    }
    return number_of(&facet_csr_rows[i]) << 20 | (bits & 0xF8F80) |
           function[(bits >> 24) % 6] << 12 | 0x73;
}

/* What x registers start with: 4 to 7 offsets in LDS, 8 to 15 addresses, the others anything. */
enum { FIRST_OFFSET = 4, FIRST_ADDRESS = 8, FIRST_OTHER = 16 };

/* Mostly rs1 is an address and rd is not, so that instructions find what they need. */
static uint32_t usual_registers(const struct facet_insn_row *row, uint32_t bits)
{
    const bool lds = strncmp(row->mnemonic, "xlds.", 5) == 0;
    const uint32_t rs1 = bits >> 15 & 31, rd = bits >> 7 & 31;

    if ((bits >> 20 & 7) != 0) {
        bits = (bits & ~(UINT32_C(31) << 15)) |
               (lds ? FIRST_OFFSET + rs1 % 4 : FIRST_ADDRESS + rs1 % 8) << 15;
    }
    if ((bits >> 23 & 3) != 0) {
        bits = (bits & ~(UINT32_C(31) << 7)) | (FIRST_OTHER + rd % 16) << 7;
    }
    return bits;
}

static uint32_t word_of(uint64_t random)
{
    const uint32_t bits = (uint32_t)random;
    const uint64_t n = random >> 40;
    const struct facet_insn_row *row;

    if ((random >> 32 & 7) == 0) {
        return csr_instruction(n, bits);
    }
    row = row_of((random >> 35 & 3) != 0, n);
    if (is_branch(row)) { /* over one to six instructions; any of them can be left out */
        return row->match | (((bits & 0x1FF8000) | (2 + (bits >> 25) % 6) << 9) & ~row->mask);
    }
    return row->match | (usual_registers(row, bits) & ~row->mask);
}

static void draw(struct facet_fuzz_case *c, size_t length)
{
    c->count = length;
    for (size_t i = 0; i < length; i++) {
        c->item[i] = word_of(facet_random(stream_of(c, ITEMS), i));
    }
}

static uint64_t register_value(unsigned index, uint64_t random)
{
    const uint64_t n = random >> 8 & 31;

    if (index >= FIRST_ADDRESS && index < FIRST_OTHER) { /* structures, elements behind them */
        return DATA + ((random & 3) != 0 ? SLOT * n : SLOTS * SLOT + 64 * n);
    }
    if (index >= FIRST_OFFSET && index < FIRST_ADDRESS) {
        return 64 * n;
    }
    switch (random & 3) {
    case 0:
        return n;
    case 1:
        return UINT64_C(1) << (random >> 8 & 63);
    case 2:
        return 0 - n;
    default:
        return random;
    }
}

static void fill_data(const struct facet_fuzz_case *c, uint8_t data[SLOTS * SLOT])
{
    const struct facet_fuzz_place place = {DATA, SLOTS * SLOT};
    const uint64_t seed = stream_of(c, STRUCTURES);
    const unsigned element = 1u << facet_random(seed, 0) % 4;

    memset(data, 0, SLOTS * SLOT);
    for (unsigned i = 0; i < SLOTS; i++) {
        uint8_t choices[512];
        struct fuzz_bytes in = {choices, sizeof choices};

        for (unsigned k = 0; k < sizeof choices; k += 8) {
            facet_store_le64(choices + k, facet_random(seed, 1 + i * sizeof choices + k));
        }
        facet_fuzz_structure(&in, "xphmg", element, &place, data + (size_t)i * SLOT, SLOT);
    }
}

/* ---- policies: CSRs that instructions obey, with values that the table calls legal ---- */

/* One of the values that the column names (`RNE=0 RTZ=1`, `0..3`, `0x10`); any where it has none.
 */
static uint64_t legal_value(const struct facet_csr_field *field, uint64_t random)
{
    const uint64_t any = facet_random(random, 0) & facet_bits_mask(field->hi - field->lo + 1u);
    uint64_t chosen = any, seen = 0;
    const char *at = field->legal;

    while (*(at += strspn(at, " ")) != '\0') {
        const size_t length = strcspn(at, " ");
        const char *equals = memchr(at, '=', length), *number = equals != NULL ? equals + 1 : at;

        if (*number >= '0' && *number <= '9') {
            char *end;
            const uint64_t first = strtoull(number, &end, 0);
            const uint64_t last = strncmp(end, "..", 2) == 0 ? strtoull(end + 2, NULL, 0) : first;

            seen++;
            if (facet_random(random, seen) % seen == 0 && last >= first) {
                chosen = first + any % (last - first + 1);
            }
        }
        at += length;
    }
    return chosen;
}

enum { MOST_POLICIES = 12 };

static void put_policies(const struct facet_fuzz_case *c, struct facet_strbuf *out)
{
    const uint64_t seed = stream_of(c, POLICIES);
    const uint64_t count = facet_random_below(seed, 0, MOST_POLICIES + 1);

    for (uint64_t i = 0; i < count; i++) {
        size_t at = facet_random_below(seed, 1 + i, facet_csr_row_count);
        const struct facet_csr_row *row;
        uint64_t value = 0;

        while (!vendor_csr(&facet_csr_rows[at]) || facet_csr_rows[at].writable == 0 ||
               (i % 3 == 0 && facet_csr_rows[at].w1a == 0)) { /* formats and such: more often */
            at = (at + 1) % facet_csr_row_count;
        }
        row = &facet_csr_rows[at];
        value = (facet_random(seed, 1000 + i) & 3) != 0 ? row->w1a : 0;
        for (uint16_t k = 0; k < row->field_count; k++) {
            const struct facet_csr_field *field = &row->fields[k];

            if (field->hi < 64 && (row->writable >> field->lo & 1) != 0) {
                value |= legal_value(field, facet_random(seed, 64 * (i + 1) + k)) << field->lo;
            }
        }
        facet_strbuf_printf(out,
                            "    li t0, 0x%" PRIx64 "\n    csrw 0x%03" PRIx32 ", t0     # %s\n",
                            value,
                            number_of(row),
                            row->name);
    }
    for (unsigned bank = 1; bank < 4; bank++) { /* masks of the predicate banks */
        const uint64_t mask = facet_random(seed, 2000 + bank);
        const bool few = (mask & 1) != 0;

        facet_strbuf_printf(out,
                            "    li t0, 0x%" PRIx64 "\n    pmlow.wr %u, t0\n"
                            "    srli t0, t0, 32\n    pmhigh.wr %u, t0\n",
                            few ? mask & facet_random(seed, 2100 + bank) : mask,
                            bank,
                            bank);
    }
}

/* ---- the program as a text ---- */

static const char *const beginning =
    "    .globl _start, begin_signature, end_signature, tohost, fromhost\n"
    "_start:\n"
    "    la t0, trap\n"
    "    csrw mtvec, t0\n"
    "    la t0, save\n"
    "    csrw mscratch, t0\n"
    "    li t0, 0x6000\n"
    "    csrs mstatus, t0\n";

/* At each turn's end the counter behind `save` goes down. A block of lanes may still be on. */
static const char *const ending = "    svend\n"
                                  "    csrrw x31, mscratch, x31\n"
                                  "    sd x30, 0(x31)\n"
                                  "    ld x30, 24(x31)\n"
                                  "    addi x30, x30, -1\n"
                                  "    sd x30, 24(x31)\n"
                                  "    beqz x30, store\n"
                                  "    ld x30, 0(x31)\n"
                                  "    csrrw x31, mscratch, x31\n"
                                  "    j body\n"
                                  "store:\n"
                                  "    csrrw x30, mscratch, x31\n"
                                  "    sd x30, 32(x31)\n"
                                  "    la x30, begin_signature\n"
                                  "    ld x31, 16(x31)\n"
                                  "    sd x31, 0(x30)      # causes of traps, folded\n";

static const char *const trap = "    la t0, tohost\n"
                                "    li t1, 1\n"
                                "    sd t1, 0(t0)\n"
                                "1:  j 1b\n"
                                "    .balign 4\n"
                                "trap:\n"
                                "    csrrw x31, mscratch, x31\n"
                                "    sd x30, 0(x31)\n"
                                "    sd x29, 8(x31)\n"
                                "    csrr x30, mcause\n"
                                "    ld x29, 16(x31)\n"
                                "    rori x29, x29, 59\n"
                                "    xor x29, x29, x30\n"
                                "    sd x29, 16(x31)\n"
                                "    csrr x30, mepc\n"
                                "    addi x30, x30, 4\n"
                                "    csrw mepc, x30\n"
                                "    ld x30, 0(x31)\n"
                                "    ld x29, 8(x31)\n"
                                "    csrrw x31, mscratch, x31\n"
                                "    mret\n";

static void put_body(const struct facet_fuzz_case *c, struct facet_strbuf *out)
{
    facet_strbuf_puts(out, "body:\n");
    for (size_t i = 0; i < c->count; i++) {
        char line[128] = "";

        (void)facet_isa_print_word(FACET_ISA_XPHMG, c->item[i], 0, line, sizeof line);
        facet_strbuf_printf(out, "    .word 0x%08" PRIx32 "      # %s\n", c->item[i], line);
    }
    facet_strbuf_puts(out, "    .rept 8\n    nop\n    .endr\n"); /* where the last branches lead */
}

/* x1 to x29 are still the body's, x30 and x31 lie in `save`; then f registers and CSRs.
 */
static void put_stores(struct facet_strbuf *out)
{
    unsigned at = 8;

    for (unsigned i = 1; i < 30; i++, at += 8) {
        facet_strbuf_printf(out, "    sd x%u, %u(x30)\n", i, at);
    }
    facet_strbuf_printf(out,
                        "    la x31, save\n    ld x29, 0(x31)\n    sd x29, %u(x30)     # x30\n"
                        "    ld x29, 32(x31)\n    sd x29, %u(x30)     # x31\n",
                        at,
                        at + 8);
    at += 16;
    for (unsigned i = 0; i < 32; i++, at += 8) {
        facet_strbuf_printf(out, "    fsd f%u, %u(x30)\n", i, at);
    }
    for (size_t i = 0; i < facet_csr_row_count; i++) {
        if (vendor_csr(&facet_csr_rows[i])) {
            facet_strbuf_printf(out,
                                "    csrr x29, 0x%03" PRIx32 "     # %s\n    sd x29, %u(x30)\n",
                                number_of(&facet_csr_rows[i]),
                                facet_csr_rows[i].name,
                                at);
            at += 8;
        }
    }
}

static void put_data(const struct facet_fuzz_case *c, struct facet_strbuf *out)
{
    const uint64_t seed = stream_of(c, VALUES_OF);
    uint8_t data[SLOTS * SLOT];

    fill_data(c, data);
    facet_strbuf_printf(out,
                        "    .org 0x%x\ntohost: .dword 0\nfromhost: .dword 0\n"
                        "save: .dword 0, 0, 0, %d, 0\nregisters: .dword 0",
                        VALUES,
                        TURNS);
    for (unsigned i = 1; i < 32; i++) {
        facet_strbuf_printf(out, ", 0x%" PRIx64, register_value(i, facet_random(seed, i)));
    }
    facet_strbuf_puts(out, "\nfloats: .dword 0");
    for (unsigned i = 33; i < 64; i++) {
        facet_strbuf_printf(out, ", 0x%" PRIx64, facet_random(seed, i));
    }
    facet_strbuf_printf(out,
                        "\n    .org 0x%x\nbegin_signature:\n    .org 0x%x\nstructures:\n",
                        SIGNATURE,
                        STRUCTURE_AREA);
    for (unsigned i = 0; i < SLOTS * SLOT; i += 8) {
        facet_strbuf_printf(out,
                            "%s0x%016" PRIx64 "%s",
                            i % 32 == 0 ? "    .dword " : ", ",
                            facet_load_le64(data + i),
                            i % 32 == 24 ? "\n" : "");
    }
    facet_strbuf_puts(out, "elements:\n");
    for (unsigned i = 0; i < ELEMENTS; i += 16) {
        facet_strbuf_printf(out,
                            "    .dword 0x%016" PRIx64 ", 0x%016" PRIx64 "\n",
                            facet_random(seed, 64 + i) & UINT64_C(0x3FFF3FFF3FFF3FFF),
                            facet_random(seed, 65 + i));
    }
    facet_strbuf_puts(out, "end_signature:\n");
}

static enum facet_status
text(const struct facet_fuzz_case *c, struct facet_strbuf *out, struct facet_error *err)
{
    facet_strbuf_printf(out,
                        "# Case %" PRIu64 " of seed %" PRIu64
                        " of `facet fuzz xphmg`.\n    .text\n",
                        c->number,
                        c->seed);
    facet_strbuf_puts(out, beginning);
    put_policies(c, out);
    facet_strbuf_puts(out, "    la x31, floats\n");
    for (unsigned i = 0; i < 32; i++) {
        facet_strbuf_printf(out, "    fld f%u, %u(x31)\n", i, 8 * i);
    }
    facet_strbuf_puts(out, "    la x31, registers\n");
    for (unsigned i = 1; i < 32; i++) {
        facet_strbuf_printf(out, "    ld x%u, %u(x31)\n", i, 8 * i);
    }
    put_body(c, out);
    facet_strbuf_puts(out, ending);
    put_stores(out);
    facet_strbuf_puts(out, trap);
    put_data(c, out);
    return out->failed ? facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for a program") : FACET_OK;
}

static enum facet_status
assemble(const struct facet_fuzz_case *c, struct facet_blob *elf, struct facet_error *err)
{
    const struct facet_isa_assemble_config config = {.isa = FACET_ISA_XPHMG, .name = "program"};

    return facet_fuzz_assemble(&facet_fuzz_xphmg, &config, c, elf, err);
}

/* ---- running ---- */

enum way { PLAIN, BLOCKS, HOST_CODE, WAYS };
static const char *const way_name[WAYS] = {"plain", "blocks", "host code"};

struct runner {
    facet_machine *machine[WAYS];
    struct facet_blob start[WAYS]; /* what every case finds */
};

static void close_runner(void *context)
{
    struct runner *r = context;

    for (enum way way = PLAIN; r != NULL && way < WAYS; way++) {
        facet_machine_destroy(r->machine[way]);
        facet_blob_free(&r->start[way]);
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
        const struct facet_xphmg_config config = {
            .ram_bytes = RAM_BYTES,
            .plain = way == PLAIN,
            .no_semihosting = true,
            .job_threads = way == HOST_CODE ? 3 : 1,
            .host_code = way == HOST_CODE ? 1 : FACET_XPHMG_NO_HOST_CODE,
        };

        status = facet_xphmg_create(&config, &r->machine[way], err);
        if (status == FACET_OK) {
            status = facet_machine_snapshot(r->machine[way], &r->start[way], err);
        }
    }
    return status;
}

static enum facet_status run_way(struct runner *r,
                                 enum way way,
                                 const struct facet_blob *elf,
                                 struct facet_stop *stop,
                                 struct facet_error *err)
{
    facet_machine *machine = r->machine[way];
    enum facet_status status =
        facet_machine_restore(machine, r->start[way].data, r->start[way].size, err);

    if (status == FACET_OK) {
        status = facet_xphmg_load_elf(machine, elf->data, elf->size, err);
    }
    if (status == FACET_OK) {
        facet_machine_run(machine, &(struct facet_run){.budget = STEPS}, stop);
    }
    return status;
}

static enum facet_status
files(const struct facet_fuzz_case *c, struct facet_fuzz_files *out, struct facet_error *err)
{
    struct facet_strbuf source;
    struct facet_blob elf = {0};
    enum facet_status status;

    facet_strbuf_init(&source);
    status = text(c, &source, err);
    status = status == FACET_OK ? facet_fuzz_put_text(out, ".s", &source, err) : status;
    status = status == FACET_OK ? assemble(c, &elf, err) : status;
    status = status == FACET_OK ? facet_fuzz_put(out, ".elf", elf.data, elf.size, err) : status;
    facet_strbuf_free(&source);
    facet_blob_free(&elf);
    return status;
}

static enum facet_status run(void *context,
                             const struct facet_fuzz_case *c,
                             struct facet_fuzz_verdict *verdict,
                             struct facet_error *err)
{
    struct runner *r = context;
    struct facet_blob elf = {0}, end[WAYS] = {{0}};
    enum facet_status status;

    *verdict = (struct facet_fuzz_verdict){0};
    status = assemble(c, &elf, err);
    for (enum way way = PLAIN; way < WAYS && status == FACET_OK && !verdict->differs; way++) {
        struct facet_stop stop;

        status = run_way(r, way, &elf, &stop, err);
        if (status == FACET_OK) {
            status = facet_machine_snapshot(r->machine[way], &end[way], err);
        }
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

const struct facet_fuzz_kind facet_fuzz_xphmg = {
    .name = "xphmg",
    .items = "instructions",
    .ways = "plain, blocks, code of the host with three threads for jobs",
    .draw = draw,
    .open = open_runner,
    .close = close_runner,
    .run = run,
    .text = text,
    .conform = CONFORM_ELF,
    .end = ".elf",
    .files = files,
};
