/* The printer: worked examples and requirement rows word by word, then properties over random
 * words. */
#include "assembler/help.h"
#include "isa/isa.h"
#include "isa/isa_rows.h"

#include <ctype.h>
#include <stdio.h>

struct example {
    uint32_t word;
    const char *text;
};

static void check_examples(enum facet_isa isa, const struct example *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char text[128];
        facet_isa_print(isa, list[i].word, 0x1000, NULL, text, sizeof text);
        CHECK_STR(text, list[i].text);
        /* And back: the text assembles to the word. */
        struct assembled a = assemble_text(isa, list[i].text);
        if (CHECK_MSG(a.status == FACET_OK, "%s: %s", list[i].text, first_error(&a))) {
            CHECK_EQ(word_at(&a, 0), list[i].word);
            CHECK_EQ(a.size, facet_isa_length(isa, (uint16_t)list[i].word));
        }
        assembled_free(&a);
    }
}

#define CHECK_EXAMPLES(isa, list) check_examples(isa, list, sizeof list / sizeof list[0])

/* tile-semantics.md 20.1 and 20.9 */
TEST(tile_worked_examples, "TILE-030 TILE-099 TILE-100 TILE-098 TILE-102")
{
    static const struct example list[] = {
        {0x80000097, "ADDI s1, s0, -2048"},
        {0x12346137, "LUI s2, 0x12346"},
        {0xFFF10117, "ADDI s2, s2, -1"},
        {0x0040918B, "SHL s3, s1, s4"},
        {0x0000918B, "ABS s3, s1"},
        {0x0473028B, "CMP s5, s6, s7"},
        {0xFE209C8E, "BNE s1, s2, -8"},
        {0x001000EF, "JAL s1, 2048"},
        {0x0041208C, "LW s1, 4(s2)"},
        {0xFFC1209C, "LW.L s1, -4(s2)"},
        {0x0231208C, "LW.R s1, s3(s2)"},
        {0x0231208D, "SW.R s1, s3(s2)"},
        {0x0821308C, "LHU s1, 2(s2)"},
        {0x0021308C, "LBU s1, 2(s2)"},
        {0x80218094, "AADD s1, s2, (s3), rlx"},
        {0x00018094, "RSTATE s1, 0(s3)"},
        {0x8C21C094, "ACAS s1, s2, (s3), aqrl"},
        {0x1031308B, "FMA f1, f2, f3"},
        {0x2631408B, "FMADD f1, f2, f3, f4"},
        {0x6080300F, "SETMISC s0, 0x18, 0x08"},
        {0x022081AF, "VADD.I32 v3, v1, v2"},
        {0x4220D1AF, "VADD.F32 v3, v1, v2"},
        {0x0620C1AF, "VSUB.F8 v3, v1, v2"},
        {0x662092AF, "VCMP.LT.I16 s5, v1, v2"},
        {0x1220C2AF, "VDOT.F32 s5, v1, v2"},
        {0x1620D1AF, "VCROSS.F32 v3, v1, v2"},
        {0x1A2081AF, "VSEL.I32 v3, v1, v2"},
        {0xFFB081AF, "VSHUF v3, v1, 0x1B"},
        {0x12509190, "VINS.I16 v3, s1, 5"},
        {0x08209191, "VLD.S16 v3, (s1), s2"},
        {0x00503191, "VLD.C v3, c5(s0)"},
        {0x1C208215, "VATOM.ADD.X v4, v3, (s1), v2"},
        {0x16208193, "TEX2D.N.F32 v3, v1, s2"},
        {0x0010700F, "EXIT"},
        {0xC020228F, "CSRRS s5, arg_base, s0"},
        {0x0002A30C, "LW s6, 0(s5)"},
        {0x01445497, "LSRI s9, s8, 20"},
        {0x01041517, "SHLI s10, s8, 16"},
        {0x0274848B, "MUL s9, s9, s7"},
        {0x00A4848B, "ADD s9, s9, s10"},
        {0x0293258D, "SW.R s11, s9(s6)"},
        {0x0050900F, "CSRRW s0, vstride, s1"},
        {0x0000000F, "MEMBAR"},
        {0x0000700F, "WFI"},
        {0x0000400F, "BARR.SYNC"},
        {0x00000000, ".word 0x00000000"},
        {0xFFFFFFFF, ".word 0xffffffff"},
    };
    CHECK_EXAMPLES(FACET_ISA_TILE, list);
}

TEST(xphmg_vendor_rows, "")
{
    static const struct {
        struct example example;
        const char *ids;
    } list[] = {
        {{0xf805282b, "GFX.SAMPLE x16, x10, ppp=7, m=1, f=1, w=0, t=0, d=0, wrap=0, alt=0"},
         "GFX-117 GFX-002"},
        {{0xead5282b, "GFX.SAMPLE.GATH x16, x10, ppp=7, n=5, d=0, p=1, s=1, alt=0"},
         "GFX-135 GFX-002"},
        {{0xf405382b, "GFX.INTERP x16, x10, ppp=7, M=1, P=0, B=1, nc=0, alt=0"}, "GFX-155 GFX-002"},
        {{0xf4c5482b, "GFX.SHADE x16, x10, ppp=7, OO=2, L=1, N=0, nc=3, alt=0"}, "GFX-164 GFX-002"},
        {{0xf94552ab, "GFX.ZTEST x5, x10, ppp=7, w=1, e=1, m=0, t=0, pd=1, alt=0"},
         "GFX-175 GFX-002"},
        {{0x4045502b, "GFX.ZWRITE x10, t=0"}, "GFX-192 GFX-002"},
        {{0xeb8512ab, "GFX.HZ.BUILD x5, x10, ppp=7, tt=1, ll=1, hh=3, all=0, alt=0"},
         "GFX-197 GFX-002"},
        {{0xe815482b, "GFX.LUT1D x16, x10, ppp=7, i=1, c=0, alt=0"}, "GFX-206 GFX-002"},
        {{0xfc15482b, "GFX.LUT3D x16, x10, ppp=7, i=1, c=1, alt=0"}, "GFX-206 GFX-002"},
        {{0x00e0502b, "GFX.FENCE 3, 2"}, "GFX-215 GFX-002"},
        {{0x0c4562ab, "GFX.CULL.PLANE x5, x10, tt=0, s=0, k=0, z=1, idx=4, pd=1, alt=0"},
         "GFX-232 GFX-002"},
        {{0x084572ab, "GFX.CULL.FRUSTUM x5, x10, tt=0, k=0, z=1, pd=1, alt=0"}, "GFX-238 GFX-002"},
        {{0x205512ab, "GFX.CULL.AABB x5, x10, ee=0, f=1, k=0, x=0, pd=1, alt=0"},
         "GFX-240 GFX-002"},
        {{0x22c0002b, "GFX.CULL.COMPOSE 1, 1, 2, op=0, inv=1"}, "GFX-246 GFX-002"},
        {{0x155502ab, "GFX.CULL.COMPACT x5, x10, mm=0, aa=1, rr=1, cc=1, ps=1"}, "GFX-252 GFX-002"},
        {{0x0265005b, "MTX.LD x10, shape=6, transpose=0, rowmajor=1, with_bias=0"}, "MTX-096"},
        {{0x1c65965b, "MTX.MUL x12, x11, shape=6, transpose=0, sat_hint=0, vec_count=7, stride=0"},
         "MTX-102"},
        {{0x00f5c65b, "MTX.MAD x12, x11, shape=15, transpose=0, sat_hint=0, vec_count=0, stride=0"},
         "MTX-110"},
        {{0x0070028B, "svsetvl x5, 7"}, "RSV-063"},
        {{0x0000028B, "svsetvl x5, x0"}, ""},
        {{0x0010100B, "svon.one"}, "RSV-066"},
        {{0x0030200B, "svon.blk 3"}, "RSV-067"},
        {{0x0000200B, "svon.blk 256"}, "RSV-067"},
        {{0x0000300B, "svend"}, "RSV-069"},
        {{0x0C30400B, "svp.one.vlstep 4, 0, 4"}, "RSV-070"},
        {{0x0060500B, "svon.fpctl rc=RTZ, sae=1, z=0"}, "RSV-071"},
        {{0x0140500B, "svon.fpctl rc=5, sae=0, z=0"}, "RSV-071"},
        {{0x0045658B, "rt.bbox x11, x10, flags=4"}, "RT-134"},
        {{0x0015758B, "rt.tri x11, x10, flags=1"}, "RT-154"},
        {{0xfe002cfb, "bp.t . - 8"}, ""},
        {{0x0000a47b, "bp.f . + 8"}, ""},
        {{0x0031247b, "bp.any 3, . + 8"}, ""},
        {{0x8005b2fb, "xlds.atoms.add.w x5, (x11), x0"}, ""},
        {{0x68a5c2fb, "xmem.ldg.w x5, (x11), hint=10, pbank=3"}, ""},
        {{0x0a55d0fb, "xmem.stg.w x5, (x11), hint=33, pbank=0"}, ""},
        {{0x5847f07b, "xfence.pipe 15, scope=4, ff=0"}, ""},
        {{0x1001307b, "xlds.bar 2"}, ""},
        {{0x0200400b, ".word 0x0200400b"}, ""},
    };

    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        harness_row(list[i].ids);
        check_examples(FACET_ISA_XPHMG, &list[i].example, 1);
    }
}

/* Text as riscv64-unknown-elf-objdump has it, but for spaces (test_gnu_compare.py compares in
 * bulk). */
TEST(base_rows, "")
{
    static const struct example list[] = {
        {0x00412083, "lw x1, 4(x2)"},
        {0xfe112e23, "sw x1, -4(x2)"},
        {0x003170d3, "fadd.s f1, f2, f3"},
        {0x003110d3, "fadd.s f1, f2, f3, rtz"},
        {0x420100d3, "fcvt.d.s f1, f2"},
        {0x420170d3, "fcvt.d.s f1, f2, dyn"},
        {0x300110f3, "csrrw x1, mstatus, x2"},
        {0x7d0020f3, "csrrs x1, CAP.PREC.MODE, x0"},
        {0x820020f3, "csrrs x1, RTCFG, x0"},
        {0xb1f020f3, "csrrs x1, mhpmcounter31, x0"},
        {0x105020f3, "csrrs x1, 0x105, x0"},
        {0x3001d073, "csrrwi x0, mstatus, 3"},
        {0x0ff0000f, "fence iorw, iorw"},
        {0x0120000f, "fence w, r"},
        {0x0100000f, "fence w, 0"},
        {0x8330000f, "fence rw, rw, 8"},
        {0x0000100f, "fence.i"},
        {0x0621a0af, "amoadd.w.aqrl x1, x2, (x3)"},
        {0x0021a0af, "amoadd.w x1, x2, (x3)"},
        {0x140120af, "lr.w.aq x1, (x2)"},
        {0xfe209ce3, "bne x1, x2, . - 8"},
        {0x0100006f, "jal x0, . + 16"},
        {0x12345537, "lui x10, 0x12345"},
        {0x4092, "c.lwsp x1, 4(x2)"},
        {0x0800, "c.addi4spn x8, x2, 16"},
        {0x7139, "c.addi16sp x2, -64"},
        {0x7401, "c.lui x8, 0xfffe0"},
        {0x0001, "c.nop"},
        {0x0015, "c.nop 5"},
        {0x9002, "c.ebreak"},
        {0x0000, ".half 0x0000"},
        {0x30200073, "mret"},
        {0x10500073, "wfi"},
    };
    CHECK_EXAMPLES(FACET_ISA_XPHMG, list);
}

static const char *label_at(void *context, uint64_t address)
{
    return address == *(uint64_t *)context ? "target" : NULL;
}

TEST(labels, "")
{
    uint64_t where = 0xFF8;
    struct facet_symbolizer symbolizer = {label_at, &where};
    char text[64];

    facet_isa_print(FACET_ISA_XPHMG, 0xfe209ce3, 0x1000, &symbolizer, text, sizeof text);
    CHECK_STR(text, "bne x1, x2, target");
    facet_isa_print(FACET_ISA_XPHMG, 0xfe209ce3, 0x1004, &symbolizer, text, sizeof text);
    CHECK_STR(text, "bne x1, x2, . - 8");
    facet_isa_print(FACET_ISA_TILE, 0xFE209C8E, 0x1000, &symbolizer, text, sizeof text);
    CHECK_STR(text, "BNE s1, s2, target");
    where = 0xFFFFFFF8; /* tile addresses have 32 bits */
    facet_isa_print(FACET_ISA_TILE, 0xFE209C8E, 0, &symbolizer, text, sizeof text);
    CHECK_STR(text, "BNE s1, s2, target");
    symbolizer.label_at = NULL;
    facet_isa_print(FACET_ISA_TILE, 0xFE209C8E, 0, &symbolizer, text, sizeof text);
    CHECK_STR(text, "BNE s1, s2, -8");
}

TEST(small_buffers, "")
{
    char text[64];

    CHECK_EQ(facet_isa_print(FACET_ISA_XPHMG, 0x00412083, 0, NULL, NULL, 0), 12);
    for (size_t size = 1; size < 20; size++) {
        memset(text, '#', sizeof text);
        CHECK_EQ(facet_isa_print(FACET_ISA_XPHMG, 0x00412083, 0, NULL, text, size), 12);
        size_t stored = size - 1 < 12 ? size - 1 : 12;
        CHECK(strncmp(text, "lw x1, 4(x2)", stored) == 0 && text[stored] == '\0' &&
              text[size] == '#');
    }
}

/* What is shown tells words apart: flipping a bit of any shown field changes the text; flipping a
 * hidden bit does not. */
TEST(text_shows_every_field, "")
{
    for (int isa = 0; isa < FACET_ISA_COUNT; isa++) {
        for (size_t r = 0; r < facet_isa_row_count[isa]; r++) {
            const struct facet_insn_row *row = &facet_isa_rows[isa][r];
            for (unsigned k = 0; k < 10; k++) {
                uint32_t word = ((uint32_t)harness_random() & ~row->mask) | row->match;
                char before[160], after[160];
                CHECK(facet_isa_print((enum facet_isa)isa, word, 0, NULL, before, sizeof before) <
                      sizeof before);
                for (unsigned o = 0; o < row->operand_count; o++) {
                    const struct facet_operand *op = &row->operands[o];
                    for (unsigned p = 0; p < op->piece_count; p++) {
                        uint32_t flip = UINT32_C(1) << (op->pieces[p].word_lo +
                                                        harness_random() % op->pieces[p].width);
                        facet_isa_print(
                            (enum facet_isa)isa, word ^ flip, 0, NULL, after, sizeof after);
                        CHECK_MSG((strcmp(before, after) == 0) ==
                                      (op->hidden && facet_isa_decode(isa, word) != NULL),
                                  "%s 0x%08x and 0x%08x (%s)",
                                  before,
                                  word,
                                  word ^ flip,
                                  op->name);
                    }
                }
            }
        }
    }
}

/* Any word, any pc: bounded, printable, one line. */
TEST(any_word_prints, "")
{
    unsigned rounds = harness_long() ? 20000000 : 500000;

    for (unsigned i = 0; i < rounds && !harness_failed(); i++) {
        uint64_t random = harness_random();
        char text[160];
        enum facet_isa isa = random >> 63 ? FACET_ISA_TILE : FACET_ISA_XPHMG;
        size_t n =
            facet_isa_print(isa, (uint32_t)random, harness_random(), NULL, text, sizeof text);
        CHECK(n > 0 && n < sizeof text && strlen(text) == n);
        for (size_t k = 0; k < n; k++) {
            CHECK(isprint((unsigned char)text[k]));
        }
        CHECK((facet_isa_decode(isa, (uint32_t)random) == NULL) == (text[0] == '.'));
    }
}

/* -- The tables of tile-semantics.md 20.1 and 20.9, as the document writes them
 * ---------------------- */

/* "0x12346137, 0xFFF10117" -> words; returns how many. */
static unsigned read_words(const char *cell, uint32_t words[4])
{
    unsigned count = 0;

    for (const char *at = strstr(cell, "0x"); at != NULL && count < 4; at = strstr(at + 2, "0x")) {
        words[count++] = (uint32_t)strtoul(at, NULL, 16);
    }
    return count;
}

static void check_line(const char *text, const uint32_t *words, unsigned count)
{
    struct assembled a = assemble_text(FACET_ISA_TILE, text);

    if (CHECK_MSG(a.status == FACET_OK, "%s: %s", text, first_error(&a))) {
        CHECK_EQ(a.size, 4 * count);
        for (unsigned i = 0; i < count; i++) {
            CHECK_MSG(word_at(&a, 4 * i) == words[i],
                      "%s gives 0x%08X, the document says 0x%08X",
                      text,
                      word_at(&a, 4 * i),
                      words[i]);
        }
    }
    assembled_free(&a);
}

/* One row `| E9 | word | assembly | effect |` or `| word | assembly |`. Two words with a slash
 * between them belong to two lines with a slash between them. */
static bool check_row(char *line)
{
    char *cells[8], *save = NULL;
    unsigned n = 0, first;
    uint32_t words[4];

    for (char *cell = strtok_r(line, "|", &save); cell != NULL && n < 8;
         cell = strtok_r(NULL, "|", &save)) {
        cells[n++] = cell;
    }
    first = n >= 4 && strncmp(cells[0], " E", 2) == 0 ? 1 : 0;
    if (n < first + 2 || strncmp(cells[first], " 0x", 3) != 0) {
        return false;
    }
    unsigned count = read_words(cells[first], words);
    char *second = strstr(cells[first + 1], " / ");
    if (second != NULL) {
        *second = '\0';
        check_line(second + 3, &words[1], 1);
        check_line(cells[first + 1], &words[0], 1);
    } else {
        check_line(cells[first + 1], words, count);
    }
    return true;
}

TEST(tile_document_examples_assemble, "TILE-083 TILE-099 TILE-100")
{
    FILE *f = fopen(FACET_SOURCE_ROOT "/spec/tile-semantics.md", "r");
    char line[1024];
    unsigned rows = 0;
    bool inside = false;

    if (!CHECK(f != NULL)) {
        return;
    }
    while (fgets(line, sizeof line, f) != NULL) {
        if (line[0] == '#') {
            inside = strncmp(line, "### 20.1 ", 9) == 0 || strncmp(line, "### 20.9 ", 9) == 0;
        }
        rows += inside && line[0] == '|' && check_row(line);
    }
    fclose(f);
    CHECK_EQ(rows, 32 + 13);
}
