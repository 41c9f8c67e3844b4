/* The assembler: every rule of spec/README.md "Assembly syntax" and tile-semantics.md 3.2,
 * directives, expressions, errors with their exact places, limits. */
#include "asm_help.h"

#include "isa/lex.h"

#include <stdarg.h>

/* ---- helpers ---- */

/* The text gives exactly these words. */
static void check_words(enum facet_isa isa, const char *text, unsigned count, ...)
{
    struct assembled a = assemble_text(isa, text);
    va_list args;

    if (CHECK_MSG(a.status == FACET_OK, "%s: %s", text, first_error(&a))) {
        CHECK_MSG(a.size == 4 * count, "%s: %zu bytes, expected %u", text, a.size, 4 * count);
        va_start(args, count);
        for (unsigned i = 0; i < count; i++) {
            uint32_t expected = va_arg(args, uint32_t), got = word_at(&a, 4 * i);

            CHECK_MSG(
                got == expected, "%s: word %u is 0x%08x, expected 0x%08x", text, i, got, expected);
        }
        va_end(args);
    }
    assembled_free(&a);
}

#define XPHMG FACET_ISA_XPHMG
#define TILE FACET_ISA_TILE

static void check_bytes_of(enum facet_isa isa, const char *text, const char *bytes, size_t size)
{
    struct assembled a = assemble_text(isa, text);

    CHECK_MSG(a.status == FACET_OK, "%s: %s", text, first_error(&a));
    CHECK_MSG(a.size == size && memcmp(a.bytes, bytes, size) == 0,
              "%s: wrong bytes (%zu of them)",
              text,
              a.size);
    assembled_free(&a);
}

#define CHECK_BYTES(isa, text, bytes) check_bytes_of(isa, text, bytes, sizeof(bytes) - 1)

/* Both texts give the same bytes. */
static void check_same(enum facet_isa isa, const char *text, const char *other)
{
    struct assembled a = assemble_text(isa, text), b = assemble_text(isa, other);

    CHECK_MSG(a.status == FACET_OK, "%s: %s", text, first_error(&a));
    CHECK_MSG(b.status == FACET_OK, "%s: %s", other, first_error(&b));
    CHECK_MSG(a.size == b.size && a.size != 0 && memcmp(a.bytes, b.bytes, a.size) == 0,
              "`%s` and `%s` differ: 0x%08x 0x%08x",
              text,
              other,
              word_at(&a, 0),
              word_at(&b, 0));
    assembled_free(&a);
    assembled_free(&b);
}

/* The first error stands at line:column and its message and hint contain the pieces. */
static void check_error(enum facet_isa isa,
                        const char *text,
                        unsigned line,
                        unsigned column,
                        const char *message,
                        const char *hint)
{
    struct assembled a = assemble_text(isa, text);
    const struct facet_diag *d = a.result.diags.count != 0 ? &a.result.diags.items[0] : NULL;

    CHECK_MSG(a.status == FACET_ERR_INPUT && a.result.object == NULL, "%s: no error", text);
    if (d != NULL) {
        CHECK_MSG(d->line == line && d->column == column,
                  "%s: error at %u:%u (%s), expected %u:%u",
                  text,
                  d->line,
                  d->column,
                  d->message,
                  line,
                  column);
        CHECK_MSG(strstr(d->message, message) != NULL,
                  "%s: message `%s`, expected `%s`",
                  text,
                  d->message,
                  message);
        CHECK_MSG(
            strstr(d->hint, hint) != NULL, "%s: hint `%s`, expected `%s`", text, d->hint, hint);
        CHECK_STR(d->file, "t.s");
    }
    assembled_free(&a);
}

static int64_t value_of(enum facet_isa isa, const char *expression)
{
    char text[2048];
    struct assembled a;
    uint64_t value = 0;

    (void)snprintf(text, sizeof text, ".dword %s\n", expression);
    a = assemble_text(isa, text);
    CHECK_MSG(a.status == FACET_OK && a.size == 8, "%s: %s", expression, first_error(&a));
    if (a.size == 8) {
        value = word_at(&a, 0) | (uint64_t)word_at(&a, 4) << 32;
    }
    assembled_free(&a);
    return (int64_t)value;
}

/* ---- README: operands ---- */

TEST(position_and_name, "")
{
    check_same(XPHMG, "addi a1, a0, 4", "addi imm=4, rs1=a0, rd=a1");
    check_same(XPHMG, "addi a1, a0, 4", "addi a1, imm=4, rs1=a0");
    check_same(XPHMG, "pmclr 2", "pmclr pbank=2");
    check_same(XPHMG, "lw a0, 8(a1)", "lw rd=a0, rs1=a1, imm=8");
    check_same(XPHMG, "xlds.atoms.add.w a0, (a1), a2", "xlds.atoms.add.w a0, 0(a1), a2");
    check_same(XPHMG, "xlds.atoms.add.w a0, (a1), a2", "xlds.atoms.add.w rs1=a1, rs2=a2, rd=a0");
    check_same(XPHMG, "xlds.atoms.add.w a0, (a1), a2", "xlds.atoms.add.w rs1=(a1), rs2=a2, rd=a0");
    check_same(XPHMG, "xmem.ldg.w a0, (a1)", "xmem.ldg.w a0, (a1), 0, 0");
    check_same(XPHMG, "xmem.ldg.w a0, (a1), 3, 2", "xmem.ldg.w a0, (a1), pbank=2, hint=3");
    check_same(XPHMG, "GFX.SAMPLE a0, a1, 5, 1", "GFX.SAMPLE a0, a1, m=1, ppp=5");
    check_error(XPHMG, "addi a1, a0, 4, rd=a2", 1, 17, "given twice", "");
    check_error(XPHMG, "addi rd=a1, a0, 4", 1, 13, "by position after one by name", "");
    check_error(XPHMG, "addi a1, a0, im=4", 1, 14, "has no operand `im`", "did you mean `imm`");
    check_error(
        XPHMG, "addi a1, a0", 1, 12, "operand `imm` of addi is missing", "addi rd, rs1, imm");
    check_error(XPHMG, "addi a1, a0, 1, 2", 1, 17, "too many operands", "addi rd, rs1, imm");
    check_error(XPHMG, "xlds.atoms.add.w a0, 4(a1), a2", 1, 22, "the offset can only be 0", "");
    check_error(XPHMG, "lw a0, 8(a1", 1, 12, "`)` is expected", "");
    check_error(XPHMG, "lw a0, 8[a1]", 1, 9, "", "");
}

TEST(rt_flags_second_name, "RT-279 RT-280")
{
    check_same(XPHMG, "rt.bbox a0, a1, 4", "rt.bbox a0, a1, imm=4");
    check_same(XPHMG, "rt.bbox a0, a1, flags=PACK_HINT", "rt.bbox a0, a1, imm=4");
    check_same(XPHMG, "rt.bbox rd=a0, rs1=a1, imm=PACK_HINT", "RT.BBOX A0, A1, Pack_Hint");
    check_same(XPHMG, "rt.tri a0, a1, CULL_BACK|EPS_CTL", "rt.tri a0, a1, 9");
    check_words(XPHMG, "rt.bbox a0, a1, T_CLAMP|PACK_HINT", 1, 0x0055e50bu);
}

TEST(case_never_matters_but_in_labels, "")
{
    check_same(XPHMG, "ADDI A1, X10, 4", "addi a1, a0, 4");
    check_same(XPHMG, "gfx.interp a0, a1, M=1", "GFX.INTERP a0, a1, m=1");
    check_same(XPHMG, "XMEM.PREF (a0), a1, l1|Stream", "xmem.pref (a0), a1, 5");
    check_same(TILE, "vadd.i32 V3, v1, V2", "VADD.I32 v3, v1, v2");
    check_same(XPHMG, ".WORD 5", ".word 5");
    check_error(XPHMG, "Loop: j loop", 1, 9, "undefined symbol `loop`", "did you mean `Loop`");
}

TEST(gfx_windows_take_both_register_names, "")
{
    check_same(XPHMG, "GFX.SAMPLE f3, fa0", "GFX.SAMPLE x3, x10");
    check_same(XPHMG, "GFX.ZTEST a0, ft0", "GFX.ZTEST a0, x0");
    check_error(XPHMG, "rt.bbox fa0, a1", 1, 9, "`fa0` cannot stand here", "an integer register");
    check_error(XPHMG, "MTX.MUL a0, fa1", 1, 13, "`fa1` cannot stand here", "");
}

TEST(percent_before_a_label_is_skipped, "")
{
    check_same(XPHMG, "x: bp.t %x", "x: bp.t x");
    check_same(XPHMG, "x: beq a0, a1, %x + 4\nnop", "x: beq a0, a1, . + 4\nnop");
    check_error(XPHMG, "bp.t %", 1, 6, "a label is expected", "");
}

TEST(written_values_that_are_not_field_values, "")
{
    check_words(XPHMG, "svp.one.vlstep 1, 0, 0", 1, 0x0000400bu);
    check_words(XPHMG, "svp.one.vlstep 64, 4, 2", 1, 63u << 26 | 3u << 23 | 2u << 20 | 0x400bu);
    check_error(XPHMG, "svp.one.vlstep 0, 0, 0", 1, 16, "does not fit", "1 to 64");
    check_error(XPHMG, "svp.one.vlstep 65, 0, 0", 1, 16, "does not fit", "1 to 64");
    check_error(XPHMG, "svp.one.vlstep 1, 3, 0", 1, 19, "does not fit", "0, 1, 2 or 4");
    check_same(XPHMG, "svon.blk 0", "svon.blk 256");
    check_words(XPHMG, "svon.blk 255", 1, 255u << 20 | 0x200bu);
    check_error(XPHMG, "svon.blk 257", 1, 10, "does not fit", "0 to 256");
    check_words(XPHMG, "bp.t . + 8", 1, 0x0000247bu);
    check_words(XPHMG, "bp.t . - 4096", 1, 0x8000207bu);
    check_error(XPHMG, "bp.t . + 4096", 1, 6, "4096 bytes away, out of reach", "-4096 to 4094");
    check_error(XPHMG, "bp.t . + 3", 1, 6, "not a multiple of 2", "");
    check_same(XPHMG, "MTX.MUL a0, a1, vec_count=7", "mtx.mul a0, a1, vec_count=0b111");
}

TEST(symbols_of_operands, "XM-105 XM-106 XM-107 XM-108 XM-109 XM-110")
{
    check_same(XPHMG, "xmem.ldg.w a0, (a1), L1_ONLY", "xmem.ldg.w a0, (a1), 1");
    check_same(XPHMG, "xmem.ldg.w a0, (a1), L2_ONLY", "xmem.ldg.w a0, (a1), 2");
    check_same(XPHMG, "xmem.ldg.w a0, (a1), LDS_PREF", "xmem.ldg.w a0, (a1), 4");
    check_same(XPHMG, "xmem.ldg.w a0, (a1), NONTEMP", "xmem.ldg.w a0, (a1), 8");
    check_same(XPHMG, "xmem.ldg.w a0, (a1), LOCK", "xmem.ldg.w a0, (a1), 16");
    check_same(XPHMG, "xmem.stg.w a0, (a1), STREAM", "xmem.stg.w a0, (a1), 32");
    check_same(XPHMG, "svon.fpctl RTZ", "svon.fpctl rc=1");
    check_same(XPHMG, "svon.fpctl rc=rmm, z=1", "svon.fpctl 4, 0, 1");
    check_same(XPHMG, "svon.fpctl 7", "svon.fpctl rc=7"); /* fits the field, traps when run */
    check_same(XPHMG, "xlds.bar WARP", "xlds.bar 1");
    check_same(XPHMG, "xfence.pipe rt", "xfence.pipe 2, 4, 0");
    check_same(XPHMG, "xfence.pipe ALL, scope=WG", "xfence.pipe 15, 2");
    check_same(XPHMG, "xfence.pipe MTX, CLUSTER", "xfence.pipe 3, 3");
    check_same(XPHMG, "fence rw, w", "fence 3, 1");
    check_same(XPHMG, "fence IORW, i", "fence 15, 8");
    check_same(XPHMG, "fadd.s fa0, fa1, fa2, rtz", "fadd.s fa0, fa1, fa2, rm=1");
    check_error(XPHMG, "rt.bbox a0, a1, 16", 1, 17, "does not fit", "0 to 15");
    check_error(XPHMG, "rt.bbox a0, a1, T_CLMP", 1, 17, "undefined symbol `T_CLMP`", "");
}

TEST(one_mnemonic_two_rows, "PM-073")
{
    check_words(XPHMG, "svsetvl t0, a0", 1, 0x0005028bu);
    check_words(XPHMG, "svsetvl t0, 17", 1, 0x0110028bu);
    check_words(XPHMG, "svsetvl t0, 256", 1, 0x0000028bu);
    check_words(XPHMG, "svsetvl t0, 0x80*2", 1, 0x0000028bu);
    check_same(XPHMG, ".equ N, 9\nsvsetvl t0, N", "svsetvl t0, 9");
    check_error(XPHMG, "svsetvl t0, 257", 1, 13, "", "");
    check_error(XPHMG, "svsetvl t0, 0", 1, 13, "", "");
    check_same(XPHMG, "L: bep nz, L", "L: bp.t L");
    check_same(XPHMG, "L: bep Z, L", "L: bp.f L");
    check_error(XPHMG, "L: bep q, L", 1, 8, "is expected here", "");
    check_same(XPHMG, "xfence.wait 31", "xfence.waiti 31");
    check_words(XPHMG, "xfence.wait a0", 1, 0x5005707bu);
}

TEST(comments, "")
{
    check_words(
        XPHMG, "nop # a; b\nnop // c\nnop /* d\n e */ ; nop", 4, 0x13u, 0x13u, 0x13u, 0x13u);
    check_words(XPHMG, "nop; nop;nop", 3, 0x13u, 0x13u, 0x13u);
    check_words(TILE, "NOP ; NOP\nNOP # x\nNOP // y\n/* z */ NOP", 4, 0x17u, 0x17u, 0x17u, 0x17u);
    check_words(XPHMG, "add a0, /* in */ a1, a2", 1, 0x00c58533u);
    check_error(XPHMG, "nop\n /* never", 2, 2, "never closed", "");
    check_error(XPHMG, "nop /* never", 1, 5, "never closed", "");
}

/* ---- tile rules ---- */

TEST(tile_examples, "TILE-083")
{
    check_words(TILE, "ADDI s1, s0, -2048", 1, 0x80000097u);
    check_words(TILE, "MOVI s2, 0x12345FFF", 2, 0x12346137u, 0xFFF10117u);
    check_words(TILE, "SHL s3, s1, s4", 1, 0x0040918Bu);
    check_words(TILE, "ABS s3, s1", 1, 0x0000918Bu);
    check_words(TILE, "CMP s5, s6, s7", 1, 0x0473028Bu);
    check_words(TILE, "BNE s1, s2, -8", 1, 0xFE209C8Eu);
    check_words(TILE, "JAL s1, +2048", 1, 0x001000EFu);
    check_words(TILE, "LW s1, 4(s2)", 1, 0x0041208Cu);
    check_words(TILE, "LW s1, -4(s2)", 1, 0xFFC1209Cu);
    check_words(TILE, "LW.R s1, s3(s2)", 1, 0x0231208Cu);
    check_words(TILE, "SW.R s1, s3(s2)", 1, 0x0231208Du);
    check_words(TILE, "LHU s1, 2(s2)\nLBU s1, 2(s2)", 2, 0x0821308Cu, 0x0021308Cu);
    check_words(TILE, "AADD s1, s2, (s3), rlx", 1, 0x80218094u);
    check_words(TILE, "AADD s1, s2, (s3)", 1, 0x80218094u);
    check_words(TILE, "RSTATE s1, 0(s3)", 1, 0x00018094u);
    check_words(TILE, "ACAS s1, s2, (s3), aqrl", 1, 0x8C21C094u);
    check_words(TILE, "FMA f1, f2, f3", 1, 0x1031308Bu);
    check_words(TILE, "FMADD f1, f2, f3, f4", 1, 0x2631408Bu);
    check_words(TILE, "SETMISC s0, 0x18, 0x08", 1, 0x6080300Fu);
    check_words(TILE, "VADD.I32 v3, v1, v2", 1, 0x022081AFu);
    check_words(TILE, "VADD.F32 v3, v1, v2", 1, 0x4220D1AFu);
    check_words(TILE, "VSUB.F8 v3, v1, v2", 1, 0x0620C1AFu);
    check_words(TILE, "VCMP.LT.I16 s5, v1, v2", 1, 0x662092AFu);
    check_words(TILE, "VDOT.F32 s5, v1, v2", 1, 0x1220C2AFu);
    check_words(TILE, "VCROSS.F32 v3, v1, v2", 1, 0x1620D1AFu);
    check_words(TILE, "VSEL.I32 v3, v1, v2", 1, 0x1A2081AFu);
    check_words(TILE, "VSHUF v3, v1, 0x1B", 1, 0xFFB081AFu);
    check_words(TILE, "VINS.I16 v3, s1, 5", 1, 0x12509190u);
    check_words(TILE, "VLD.S16 v3, (s1), s2", 1, 0x08209191u);
    check_words(TILE, "VLD.C v3, c5(s0)", 1, 0x00503191u);
    check_words(TILE, "VATOM.ADD.X v4, v3, (s1), v2", 1, 0x1C208215u);
    check_words(TILE, "TEX2D.N.F32 v3, v1, s2", 1, 0x16208193u);
    check_words(TILE, "EXIT", 1, 0x0010700Fu);
}

TEST(tile_branch_reach, "TILE-088 TILE-095")
{
    check_words(TILE, "BNE s0, s0, -4096", 1, 0x8000100Eu);
    check_words(TILE, "BNE s0, s0, 4094", 1, 0x7E001F8Eu);
    check_error(TILE, "BNE s0, s0, 4096", 1, 13, "out of reach", "-4096 to 4094");
    check_words(TILE, "JAL s0, 1048574", 1, 0x7FFFF06Fu);
    check_words(TILE, "JAL s0, -1048576", 1, 0x8000006Fu);
    check_error(TILE, "JAL s0, 1048576", 1, 9, "out of reach", "");
    check_same(TILE, "x: NOP\nBEQ s1, s2, x", "NOP\nBEQ s1, s2, -4");
    check_same(TILE, "BEQ s1, s2, x\nNOP\nx:", "BEQ s1, s2, 8\nNOP");
    check_same(TILE, "JAL s1, x\nNOP\nx:", "JAL s1, 8\nNOP");
    check_same(TILE, "JAL.S s1, x\nNOP\nx:", "JAL.S s1, 8\nNOP");
    check_same(TILE, "BEQ s1, s2, . + 8", "BEQ s1, s2, 8");
    /* Across sections, and with a number defined by .equ, which is no label. */
    check_same(TILE, "JAL s1, x\n.section .text.b\nx: NOP", "JAL s1, 4\nNOP");
    check_same(TILE, ".equ far, 16\nJAL s1, far", "JAL s1, 16");
}

TEST(tile_widening, "")
{
    static const char *const loads[] = {"LB", "LH", "LW", "LBU", "LHU"};
    static const char *const stores[] = {"SB", "SH", "SW"};
    char a[200], b[200];

    for (int offset = -2048; offset <= 2047; offset += offset < 40 && offset > -5 ? 1 : 37) {
        bool wide = offset < 0 || offset > 31;

        for (unsigned i = 0; i < 5; i++) {
            (void)snprintf(a, sizeof a, "%s s3, %d(s4)", loads[i], offset);
            (void)snprintf(b, sizeof b, "%s.L s3, %d(s4)", loads[i], offset);
            if (wide) {
                check_same(TILE, a, b);
            }
            (void)snprintf(a, sizeof a, "%s.P s3, %d", loads[i], offset);
            (void)snprintf(b, sizeof b, "%s.PL s3, %d", loads[i], offset);
            if (wide) {
                check_same(TILE, a, b);
            }
        }
        for (unsigned i = 0; i < 3 && wide; i++) {
            (void)snprintf(a, sizeof a, "%s s3, %d(s4)", stores[i], offset);
            (void)snprintf(b, sizeof b, "%s.L s3, %d(s4)", stores[i], offset);
            check_same(TILE, a, b);
            (void)snprintf(a, sizeof a, "%s.P rs2=s3, uimm=%d", stores[i], offset);
            (void)snprintf(b, sizeof b, "%s.PL s3, %d", stores[i], offset);
            check_same(TILE, a, b);
        }
    }
    check_words(TILE, "LW s1, 31(s2)", 1, 0x01F1208Cu);
    check_words(TILE, "LW s1, 32(s2)", 1, 0x0201209Cu);
    check_same(TILE, "VLD.V v1, 32(s2)", "VLD.V.L v1, 32(s2)");
    check_same(TILE, "VST.V v1, -1(s2)", "VST.V.L v1, -1(s2)");
    check_same(TILE, "VLD.V.P v1, 40", "VLD.V.PL v1, 40");
    /* Forward labels choose the form when they are known. */
    check_same(TILE, "LW.P s1, x\nNOP\nx: .word 1", "LW.P s1, 8\nNOP\n.word 1");
    check_same(TILE, "LW.P s1, x\n.zero 40\nx: .word 1", "LW.PL s1, 44\n.zero 40\n.word 1");
    check_same(TILE, "x: .word 1\nLW.P s1, x", ".word 1\nLW.PL s1, -4");
    check_error(TILE, "LW s1, 2048(s2)", 1, 8, "2048 does not fit", "-2048 to 2047");
    check_error(TILE, "LW s1, -2049(s2)", 1, 8, "does not fit", "-2048 to 2047");
    check_error(TILE, "LW.P s1, x\n.zero 4000\nx:", 1, 10, "4004 bytes away", "");
    check_error(TILE, "VATOM.ADD v1, v2, 32(s1)", 1, 19, "does not fit", "0 to 31");
}

TEST(tile_pseudo, "")
{
    check_same(TILE, "NOP", "ADDI s0, s0, 0");
    check_same(TILE, "MOV s1, s2", "ADDI s1, s2, 0");
    check_same(TILE, "LI s1, 5", "LUI s1, 0\nADDI s1, s1, 5");
    check_same(TILE, "MOVI s1, -1", "LUI s1, 0\nADDI s1, s1, -1");
    check_same(TILE, "MOVI s1, 0xFFFFFFFF", "LUI s1, 0\nADDI s1, s1, -1");
    check_same(TILE, "MOVI s1, 0x7FFFFFFF", "LUI s1, 0x80000\nADDI s1, s1, -1");
    check_same(TILE, "NOT s1, s2", "XORI s1, s2, -1");
    check_same(TILE, "NEG s1, s2", "SUB s1, s0, s2");
    check_same(TILE, "x: J x", "x: JAL s0, x");
    check_same(TILE, "x: CALL x", "x: JAL s1, x");
    check_same(TILE, "RET", "JALR s0, 0(s1)");
    check_same(TILE, "CSRR s1, core_id", "CSRRS s1, 0xC00, s0");
    check_same(TILE, "CSRW config, s1", "CSRRW s0, 3, s1");
    check_same(TILE, "CSRR s1, sampler[3].width", "CSRRS s1, 0x41A, s0");
    check_same(TILE, "VMOV v1, v2", "VADD.I32 v1, v2, v0");
    check_same(TILE, "VCLR v7", "VXOR v7, v7, v7");
    check_same(TILE, "MUL.LO s1, s2, s3", "MUL s1, s2, s3");
    check_same(TILE, "TEX2D.NEAREST v1, v2, s3", "TEX2D.N.I32 v1, v2, s3");
    check_words(TILE, "LA s1, x\nx:", 2, 0x800000B7u, 0x00808097u);
    check_error(TILE, "MOVI s1, 0x100000000", 1, 10, "does not fit 32 bits", "");
    check_error(TILE, "SHL s1, s2, s0", 1, 13, "cannot be 0", "rs2");
    check_error(TILE, "LUI s1, 0x100000", 1, 9, "does not fit", "0 to 1048575");
    check_error(TILE, "ADDI s1, s2, 2048", 1, 14, "does not fit", "-2048 to 2047");
    check_error(TILE, "VLDX.L v1, 6(s1), v2", 1, 12, "does not fit", "multiples of 4");
    check_error(TILE, "ADD s1, s2, s32", 1, 13, "unknown register `s32`", "");
    check_error(TILE, "ADD s1, v2, s3", 1, 9, "`v2` cannot stand here", "scalar register");
}

/* ---- RV64 ---- */

TEST(rv64_pseudo, "")
{
    check_same(XPHMG, "mv a0, a1", "addi a0, a1, 0");
    check_same(XPHMG, "x: j x", "x: jal x0, x");
    check_same(XPHMG, "x: jal x", "x: jal ra, x");
    check_same(XPHMG, "jalr a0", "jalr ra, 0(a0)");
    check_same(XPHMG, "jalr 4(a0)", "jalr ra, 4(a0)");
    check_same(XPHMG, "jr (a0)", "jalr x0, 0(a0)");
    check_same(XPHMG, "ret", "jalr x0, 0(ra)");
    check_same(XPHMG, "add a0, a1, 5", "addi a0, a1, 5");
    check_same(XPHMG, "bgt a0, a1, . + 8", "blt a1, a0, . + 8");
    check_same(XPHMG, "la a0, x\nx:", "auipc a0, 0\naddi a0, a0, 8");
    check_same(XPHMG, ".zero 4096\nx:call x", ".zero 4096\nauipc ra, 0\njalr ra, 0(ra)");
    check_same(XPHMG, "tail x\n.zero 0x1800\nx:", "auipc t1, 2\njalr x0, -2040(t1)\n.zero 0x1800");
    check_same(XPHMG, "lw a0, x\nx:", "auipc a0, 0\nlw a0, 8(a0)");
    check_same(XPHMG, "sw a0, x, t0\nx:", "auipc t0, 0\nsw a0, 8(t0)");
    check_same(XPHMG,
               "l: auipc a0, %pcrel_hi(x)\naddi a0, a0, %pcrel_lo(l)\nx:",
               "auipc a0, 0\naddi a0, a0, 8");
    check_same(XPHMG,
               "lui a0, %hi(0x12345FFF)\naddi a0, a0, %lo(0x12345FFF)",
               "lui a0, 0x12346\naddi a0, a0, -1");
    check_same(XPHMG, "lw a0, %lo(0x12345FFF)(a1)", "lw a0, -1(a1)");
    check_same(XPHMG, "csrw mstatus, a0", "csrrw x0, 0x300, a0");
    check_same(XPHMG, "csrw mstatus, 5", "csrrwi x0, 0x300, 5");
    check_same(XPHMG, ".equ MY, 0x300\ncsrr a0, MY", "csrr a0, mstatus");
    check_same(XPHMG, "amoadd.w.aqrl a0, a1, (a2)", "AMOADD.W.AQRL a0, a1, 0(a2)");
    check_words(XPHMG, "lr.d.aq a0, (a1)", 1, 0x1405b52fu);
    check_same(XPHMG, "c.nop\nc.ebreak", ".half 1, 0x9002");
    check_error(XPHMG, "lui a0, %hi(x)\nx:", 1, 9, "lui cannot make the address", "use la");
    check_error(XPHMG, "addi a0, a0, %pcrel_lo(x)\nx:", 1, 14, "no %pcrel_hi at", "");
    check_error(XPHMG, "addi a0, a0, %foo(x)", 1, 14, "unknown function", "%pcrel_lo");
    check_error(XPHMG, "beq a0, a1, x\n.zero 5000\nx:", 1, 13, "5004 bytes away, out of reach", "");
    check_error(XPHMG, "c.add a0, zero", 1, 11, "cannot be 0", "");
    check_error(XPHMG, "c.lw a0, 4(t0)", 1, 12, "`t0` cannot stand here", "x8..x15");
    check_error(XPHMG, "c.lw a6, 4(a0)", 1, 6, "`a6` cannot stand here", "x8..x15");
    check_error(XPHMG, "c.addi16sp a0, 16", 1, 12, "only sp can stand here", "");
    check_error(
        XPHMG, "csrr a0, mstatsu", 1, 10, "unknown CSR `mstatsu`", "did you mean `mstatus`");
    check_error(XPHMG, "mv a0, q9", 1, 8, "unknown register `q9`", "");
    check_error(XPHMG, "addi a0, a0, a1", 1, 14, "undefined symbol `a1`", "`a1` is a register");
    check_error(XPHMG, "ld a0, a1", 1, 8, "undefined symbol `a1`", "");
    check_error(XPHMG, "li a0, later\n.equ later, 5", 1, 8, "known here", "");
}

/* What `li` builds, run by a simulator of the six instructions it may use. */
TEST(li_builds_every_constant, "")
{
    for (unsigned round = 0; round < 20000 && !harness_failed(); round++) {
        uint64_t value = harness_random() >> (harness_random() % 64), x = 0;
        char text[64];
        struct assembled a;

        if (harness_random() % 2 == 0) {
            value = 0 - value;
        }
        if (harness_random() % 3 == 0) {
            value <<= harness_random() % 64;
        }
        (void)snprintf(text, sizeof text, "li a0, 0x%llx", (unsigned long long)value);
        a = assemble_text(XPHMG, text);
        CHECK_MSG(a.status == FACET_OK && a.size <= 32, "%s", text);
        for (size_t i = 0; i + 4 <= a.size; i += 4) {
            uint32_t w = word_at(&a, i);
            int64_t imm = (int32_t)w >> 20;
            bool from_zero = (w >> 15 & 31) == 0;

            CHECK((w >> 7 & 31) == 10);
            if ((w & 0x7f) == 0x37) {
                x = (uint64_t)(int64_t)(int32_t)(w & 0xFFFFF000);
            } else if ((w & 0x707f) == 0x1013) {
                x <<= w >> 20 & 63;
            } else if ((w & 0x707f) == 0x13) {
                x = (from_zero ? 0 : x) + (uint64_t)imm;
            } else if ((w & 0x707f) == 0x1b) {
                x = (uint64_t)(int64_t)(int32_t)(uint32_t)((from_zero ? 0 : x) + (uint64_t)imm);
            } else {
                CHECK_MSG(false, "%s: unexpected word 0x%08x", text, w);
            }
        }
        CHECK_MSG(x == value, "%s gives 0x%llx", text, (unsigned long long)x);
        assembled_free(&a);
    }
}

/* ---- expressions ---- */

/* A random expression and its value, evaluated here while it is written, without any parsing:
 * every operand is in parentheses where C's precedence would read it otherwise. */
struct random_expression {
    char text[1500];
    int64_t value;
    int strength; /* of its outermost operator; 100 for a primary */
};

static int64_t operate(int op, int64_t l, int64_t r, bool *legal)
{
    __extension__ typedef __int128 wide;

    switch (op) {
    case 0:
        return (int64_t)(uint64_t)((wide)l + r);
    case 1:
        return (int64_t)(uint64_t)((wide)l - r);
    case 2:
        return (int64_t)(uint64_t)((unsigned __int128)(wide)l * (unsigned __int128)(wide)r);
    case 3:
        *legal = r != 0;
        return *legal ? (int64_t)(uint64_t)((wide)l / r) : 0;
    case 4:
        *legal = r != 0;
        return *legal ? (int64_t)((wide)l % r) : 0;
    case 5:
        *legal = r >= 0 && r < 64;
        return *legal ? (int64_t)(uint64_t)((unsigned __int128)(wide)l << r) : 0;
    case 6:
        *legal = r >= 0 && r < 64;
        return *legal ? (int64_t)((wide)l >> r) : 0;
    case 7:
        return l & r;
    case 8:
        return l | r;
    case 9:
        return l ^ r;
    case 10:
        return l == r;
    case 11:
        return l != r;
    case 12:
        return l < r;
    case 13:
        return l <= r;
    case 14:
        return l > r;
    case 15:
        return l >= r;
    case 16:
        return l && r;
    default:
        return l || r;
    }
}

static void random_expression(struct random_expression *e, unsigned depth)
{
    static const char *const ops[] = {"+",
                                      "-",
                                      "*",
                                      "/",
                                      "%",
                                      "<<",
                                      ">>",
                                      "&",
                                      "|",
                                      "^",
                                      "==",
                                      "!=",
                                      "<",
                                      "<=",
                                      ">",
                                      ">=",
                                      "&&",
                                      "||"};
    static const int strengths[] = {9, 9, 10, 10, 10, 8, 8, 5, 3, 4, 6, 6, 7, 7, 7, 7, 2, 1};
    struct random_expression l, r;
    int op = (int)(harness_random() % 18);
    bool legal = true;

    if (depth == 0 || harness_random() % 5 == 0) {
        uint64_t v = harness_random() >> (harness_random() % 64);

        (void)snprintf(e->text,
                       sizeof e->text,
                       harness_random() % 2 == 0 ? "%llu" : "0x%llx",
                       (unsigned long long)v);
        e->value = (int64_t)v;
        e->strength = 100;
        return;
    }
    random_expression(&l, depth - 1);
    if (harness_random() % 6 == 0) {
        static const char signs[] = "-~!";
        unsigned which = (unsigned)(harness_random() % 3);

        (void)snprintf(e->text,
                       sizeof e->text,
                       l.strength == 100 ? "%c%.700s" : "%c(%.700s)",
                       signs[which],
                       l.text);
        e->value = which == 0 ? (int64_t)(0 - (uint64_t)l.value) : which == 1 ? ~l.value : !l.value;
        e->strength = 50;
        return;
    }
    random_expression(&r, depth - 1);
    if (op == 5 || op == 6) {
        (void)snprintf(r.text, sizeof r.text, "%d", (int)(r.value & 63));
        r.value &= 63;
        r.strength = 100;
    }
    e->value = operate(op, l.value, r.value, &legal);
    if (!legal) {
        op = 0;
        e->value = operate(0, l.value, r.value, &legal);
    }
    /* Left-associative: the left side may be as strong, the right side must be stronger. */
    bool open_l = l.strength >= strengths[op] && harness_random() % 3 != 0;
    bool open_r = r.strength > strengths[op] && harness_random() % 3 != 0;

    (void)snprintf(e->text,
                   sizeof e->text,
                   "%s%.700s%s %s %s%.700s%s",
                   open_l ? "" : "(",
                   l.text,
                   open_l ? "" : ")",
                   ops[op],
                   open_r ? "" : "(",
                   r.text,
                   open_r ? "" : ")");
    e->strength = strengths[op];
}

TEST(expressions_follow_c, "")
{
    for (unsigned i = 0; i < 4000 && !harness_failed(); i++) {
        struct random_expression e;

        random_expression(&e, 4);
        if (strlen(e.text) < 600) {
            int64_t got = value_of(XPHMG, e.text);

            CHECK_MSG(got == e.value,
                      "%s is 0x%llx, expected 0x%llx",
                      e.text,
                      (unsigned long long)got,
                      (unsigned long long)e.value);
        }
    }
}

TEST(expression_details, "")
{
    CHECK_EQ(value_of(XPHMG, "1 + 2 * 3"), 7);
    CHECK_EQ(value_of(XPHMG, "10 - 4 - 3"), 3);
    CHECK_EQ(value_of(XPHMG, "-7 / 2"), -3);
    CHECK_EQ(value_of(XPHMG, "-7 % 3"), -1);
    CHECK_EQ(value_of(XPHMG, "-8 >> 1"), -4);
    CHECK_EQ(value_of(XPHMG, "0x8000000000000000 / -1"), INT64_MIN);
    CHECK_EQ(value_of(XPHMG, "0x8000000000000000 % -1"), 0);
    CHECK_EQ(value_of(XPHMG, "1 | 2 ^ 3 & 4"), 1 | (2 ^ (3 & 4)));
    CHECK_EQ(value_of(XPHMG, "!0 + ~0"), 0);
    CHECK_EQ(value_of(XPHMG, "'A'"), 65);
    CHECK_EQ(value_of(XPHMG, "'\\n' + '\\x41' + '\\101'"), 10 + 65 + 65);
    CHECK_EQ(value_of(XPHMG, "0b101 + 017 + 0X1f"), 5 + 15 + 31);
    CHECK_EQ(value_of(XPHMG, "18446744073709551615"), -1);
    CHECK_EQ(value_of(XPHMG, ". - ."), 0);
    CHECK_EQ(value_of(XPHMG, "."), 0x80000000);
    check_error(XPHMG, ".word 1 / 0", 1, 9, "division by zero", "");
    check_error(XPHMG, ".word 1 % (2-2)", 1, 9, "division by zero", "");
    check_error(XPHMG, ".word 1 << 64", 1, 9, "shift", "");
    check_error(XPHMG, ".dword 18446744073709551616", 1, 8, "does not fit 64 bits", "");
    check_error(XPHMG, ".word 12ab", 1, 9, "`a` does not belong", "");
    check_error(XPHMG, ".word 0x", 1, 7, "digits are missing", "");
    check_error(XPHMG, ".word (1 + 2", 1, 13, "`)` is expected", "");
    check_error(XPHMG, ".word 1 +", 1, 10, "a number or a symbol is expected", "");
    check_error(XPHMG, ".word 5 / (x - y)\nx:\ny:", 1, 9, "division by zero", "");
}

TEST(symbols_in_expressions, "")
{
    CHECK_BYTES(XPHMG, ".equ a, 3\n.set b, a*2\n c = b + 1\n.byte a, b, c", "\3\6\7");
    CHECK_BYTES(XPHMG, ".byte late\n.equ late, 9", "\11");
    CHECK_BYTES(XPHMG, ".set v, 1\n.byte v\n.set v, 2\n.byte v", "\1\2");
    CHECK_BYTES(XPHMG, "x: .zero 5\ny: .byte y - x, z - y\nz:", "\0\0\0\0\0\5\2");
    CHECK_BYTES(XPHMG, ".byte b - a\n.section .rodata\na: .zero 3\nb:", "\3\0\0\0\0\0\0\0\0\0\0");
    CHECK_BYTES(XPHMG, "1: .byte 0\n.byte 1f - 1b\n1: .byte 1b - 2f\n2:", "\0\2\377");
    CHECK_BYTES(XPHMG, "\"odd name\": .byte \"odd name\" - . + 7", "\7");
    check_error(XPHMG, "x: .word y\nx:", 2, 1, "`x` is defined already", "t.s:1");
    check_error(XPHMG, ".equiv q, 1\n.equiv q, 2", 2, 8, "`q` is defined already", "");
    check_error(XPHMG, ".equ a, b\n.equ b, a\n.word a", 2, 9, "defined by itself", "");
    check_error(XPHMG, ".word nothing", 1, 7, "undefined symbol `nothing`", "");
    check_error(XPHMG, "counter:\n.word conuter", 2, 7, "undefined", "did you mean `counter`");
    check_error(XPHMG, "j 1b", 1, 3, "no label `1:` before", "");
    check_error(XPHMG, "nop\nj 2f", 2, 3, "no label `2:` after", "");
    check_error(XPHMG, "5", 1, 1, "cannot start with a number", "");
}

/* ---- directives ---- */

TEST(data_directives, "")
{
    CHECK_BYTES(XPHMG, ".byte 1, -1, 255, 'a'", "\1\377\377a");
    CHECK_BYTES(
        XPHMG, ".half 0x1234, -2\n.short 1\n.2byte 2\n.hword 3", "\x34\x12\xfe\xff\1\0\2\0\3\0");
    CHECK_BYTES(XPHMG,
                ".word 0x12345678\n.long 1\n.int 2\n.4byte 3",
                "\x78\x56\x34\x12\1\0\0\0\2\0\0\0\3\0\0\0");
    CHECK_BYTES(XPHMG,
                ".dword 0x123456789abcdef0\n.quad -1\n.8byte 1",
                "\xf0\xde\xbc\x9a\x78\x56\x34\x12\xff\xff\xff\xff\xff\xff\xff\xff\1\0\0\0\0\0\0\0");
    CHECK_BYTES(XPHMG,
                ".ascii \"ab\", \"c\"\n.asciz \"d\\n\"\n.string \"\\x41\\101\\\"\"",
                "abcd\n\0AA\"\0");
    CHECK_BYTES(XPHMG, ".zero 2\n.space 2, 7\n.skip 1\n.fill 2, 2, 0x0102", "\0\0\7\7\0\2\1\2\1");
    CHECK_BYTES(XPHMG,
                ".float 1.5, -0\n.double 0.1",
                "\0\0\xc0\x3f\0\0\0\x80\x9a\x99\x99\x99\x99\x99\xb9\x3f");
    CHECK_BYTES(XPHMG,
                ".data\n.byte 1\n.align 2\n.byte 2\n.balign 4, 9\n.p2align 3\n.byte 3",
                "\1\0\0\0\2\11\11\11\3");
    CHECK_BYTES(XPHMG,
                ".data\n.byte 1\n.org 4\n.byte 2\n.org . + 2, 5\n. = . + 1\n.byte 3",
                "\1\0\0\0\2\5\5\0\3");
    CHECK_BYTES(XPHMG, "nop\n.half 1\n.align 3\nret", "\x13\0\0\0\1\0\1\0\x67\x80\0\0");
    CHECK_BYTES(TILE, "NOP\n.align 3\nNOP", "\x17\0\0\0\x17\0\0\0\x17\0\0\0");
    check_error(XPHMG, ".byte 256", 1, 7, "256 does not fit", "-128 to 255");
    check_error(XPHMG, ".word x\n.equ x, 1<<40", 1, 7, "does not fit", "");
    check_error(XPHMG, ".ascii \"abc", 1, 8, "no end", "");
    check_error(XPHMG, ".ascii \"a\\q\"", 1, 10, "unknown escape", "");
    check_error(XPHMG, ".ascii abc", 1, 8, "a string in double quotes", "");
    check_error(XPHMG, ".zero -1", 1, 7, "negative", "");
    check_error(XPHMG, ".balign 3", 1, 9, "cannot align to 3", "power of two");
    check_error(XPHMG, ".align 40", 1, 8, "cannot align to 40", "");
    check_error(XPHMG, ".zero 8\n.org 4", 2, 6, "cannot go back", "");
    check_error(XPHMG, ".float x", 1, 8, "a floating-point number is expected", "");
    check_error(XPHMG, ".zero 1<<40", 1, 1, "larger than", "");
    check_error(XPHMG, ".wrod 5", 1, 1, "unknown directive `.wrod`", "did you mean `.word`");
    check_error(XPHMG, ".word 1 2", 1, 9, "`,` or the end of the line", "");
    check_error(XPHMG, ".bss\n.word 1", 2, 1, "no bytes", "");
    check_error(XPHMG, ".byte 1\nnop", 2, 1, "not at a multiple of 2", ".balign");
    check_error(TILE, ".half 1\nNOP", 2, 1, "not at a multiple of 4", "");
}

static const struct facet_section *section_named(const struct assembled *a, const char *name)
{
    for (size_t i = 0; a->result.object != NULL && i < a->result.object->section_count; i++) {
        if (strcmp(a->result.object->sections[i].name, name) == 0) {
            return &a->result.object->sections[i];
        }
    }
    return NULL;
}

static const struct facet_object_symbol *symbol_named(const struct assembled *a, const char *name)
{
    for (size_t i = 0; a->result.object != NULL && i < a->result.object->symbol_count; i++) {
        if (strcmp(a->result.object->symbols[i].name, name) == 0) {
            return &a->result.object->symbols[i];
        }
    }
    return NULL;
}

TEST(sections_and_symbols, "")
{
    struct assembled a = assemble_text(XPHMG,
                                       ".bss\nroom: .zero 100\n.data\nd: .word 1\n"
                                       ".rodata\nr: .byte 1\n.text\n.globl main\n"
                                       ".type main, @function\nmain: nop\n.size main, . - main\n"
                                       ".section .text.cold\nnop\n.section .x,\"aw\",@progbits\n"
                                       ".weak w\nw: .word 2\n.local lo\nlo:\n.comm com, 16, 8\n"
                                       ".equ k, 7\n.Lhidden:\n.section .note\n.word 1\n");
    const struct facet_object_symbol *s;

    if (CHECK_MSG(a.status == FACET_OK, "%s", first_error(&a))) {
        CHECK_EQ(section_named(&a, ".text")->address, 0x80000000);
        CHECK_EQ(section_named(&a, ".text.cold")->address, 0x80000004);
        CHECK_EQ(section_named(&a, ".rodata")->address, 0x80000008);
        CHECK_EQ(section_named(&a, ".data")->address, 0x80000010);
        CHECK_EQ(section_named(&a, ".x")->address, 0x80000018);
        CHECK_EQ(section_named(&a, ".bss")->address, 0x80000020);
        CHECK_EQ(section_named(&a, ".bss")->size, 104 + 16);
        CHECK(section_named(&a, ".bss")->nobits);
        CHECK_EQ(section_named(&a, ".note")->flags, 0);
        s = symbol_named(&a, "main");
        CHECK(s != NULL && s->binding == FACET_SYMBOL_GLOBAL && s->type == FACET_SYMBOL_FUNC &&
              s->size == 4 && s->value == 0x80000000);
        s = symbol_named(&a, "w");
        CHECK(s != NULL && s->binding == FACET_SYMBOL_WEAK && s->value == 0x80000018);
        s = symbol_named(&a, "com");
        CHECK(s != NULL && s->binding == FACET_SYMBOL_GLOBAL && s->type == FACET_SYMBOL_OBJECT &&
              s->value == 0x80000020 + 104 && s->size == 16);
        s = symbol_named(&a, "k");
        CHECK(s != NULL && s->section == FACET_SYMBOL_ABSOLUTE && s->value == 7);
        CHECK(symbol_named(&a, ".Lhidden") == NULL);
        CHECK_EQ(a.result.object->entry, 0x80000000);
    }
    assembled_free(&a);
    check_error(XPHMG, ".section .a, \"q\"", 1, 15, "unknown section flag", "");
    check_error(XPHMG, ".section .a, \"a\", @bits", 1, 20, "unknown section type", "@nobits");
    check_error(XPHMG, ".section .text, \"aw\"", 1, 10, "other flags", "");
    check_error(XPHMG, ".type x, @fun", 1, 11, "unknown symbol type", "@function");
    check_error(XPHMG, ".option rvd", 1, 9, "unknown option", "did you mean `rvc`");
}

TEST(placing_and_entry, "")
{
    struct assembled a = assemble_text(
        XPHMG,
        ".entry go\nnop\ngo: ret\n.section .far,\"ax\"\n.address 0x90000000\nx: j go2\ngo2:");
    struct facet_asm_options options = {
        .isa = TILE, .file = "t.s", .has_base = true, .base = 0x100};

    CHECK_MSG(a.status == FACET_OK || a.result.object != NULL, "%s", first_error(&a));
    if (a.result.object != NULL) {
        CHECK_EQ(a.result.object->entry, 0x80000004);
        CHECK_EQ(section_named(&a, ".far")->address, 0x90000000);
    }
    assembled_free(&a);
    a = assemble_with(&options, "NOP\n_start: EXIT\n.word _start");
    CHECK_EQ(a.base, 0x100);
    CHECK_EQ(a.result.object != NULL ? a.result.object->entry : 0, 0x104);
    CHECK_EQ(word_at(&a, 8), 0x104);
    assembled_free(&a);
    check_error(XPHMG,
                "nop\n.section .b,\"ax\"\n.address 0x80000002\nnop",
                3,
                10,
                "overlaps section .text",
                "");
    check_error(
        TILE, ".section .b,\"ax\"\n.address 0xFFFFFFFC\nNOP\nNOP", 2, 10, "does not fit", "");
    check_error(XPHMG, ".address 4\n.address 8", 2, 10, "has an address already", "");
}

TEST(defines, "")
{
    struct facet_asm_define defines[] = {{"N", 5}, {"M", -1}};
    struct facet_asm_options options = {
        .isa = XPHMG, .file = "t.s", .defines = defines, .define_count = 2};
    struct assembled a = assemble_with(&options, ".ifdef N\n.byte N, M\n.endif");

    CHECK(a.size == 2 && a.bytes[0] == 5 && a.bytes[1] == 0xFF);
    assembled_free(&a);
}

/* ---- blocks ---- */

TEST(blocks, "")
{
    CHECK_BYTES(XPHMG, ".rept 3\n.byte 1\n.endr\n.byte 2", "\1\1\1\2");
    CHECK_BYTES(XPHMG, ".rept 2\n.rept 2\n.byte 1\n.endr\n.byte 2\n.endr", "\1\1\2\1\1\2");
    CHECK_BYTES(XPHMG, " .rept 2\n .rept 2\n  .byte 1\n\t.endr\n /* x */ .endr", "\1\1\1\1");
    CHECK_BYTES(XPHMG, ".rept 2; .byte 1; .endr; .byte 2", "\1\1\2");
    CHECK_BYTES(XPHMG, ".rept 0\n.byte 1\n.endr\n.byte 2", "\2");
    CHECK_BYTES(XPHMG, ".irp x, 1, 2, 3\n.byte \\x\n.endr", "\1\2\3");
    CHECK_BYTES(XPHMG, ".if 1\n.byte 1\n.else\n.byte 2\n.endif", "\1");
    CHECK_BYTES(XPHMG, ".if 0\n.byte 1\n.else\n.byte 2\n.endif", "\2");
    CHECK_BYTES(XPHMG, ".if 0\nnonsense\n.elseif 1\n.byte 3\n.else\n.byte 2\n.endif", "\3");
    CHECK_BYTES(XPHMG, ".if 1\n.if 0\n.byte 1\n.endif\n.byte 4\n.elseif 1\n.byte 3\n.endif", "\4");
    CHECK_BYTES(XPHMG,
                ".ifndef q\n.byte 1\n.endif\n.ifeq 0\n.byte 2\n.endif\n.iflt -1\n.byte 3\n.endif",
                "\1\2\3");
    CHECK_BYTES(XPHMG,
                ".macro two a, b=7\n.byte \\a, \\b\n.endm\ntwo 1\ntwo 2, 3\nTWO b=4, a=5",
                "\1\7\2\3\5\4");
    CHECK_BYTES(XPHMG, ".macro lab\nl\\@: .byte \\@\n.endm\nlab\nlab", "\0\1");
    CHECK_BYTES(XPHMG, ".macro v x:vararg\n.byte \\x\n.endm\nv 1, 2, 3", "\1\2\3");
    CHECK_BYTES(XPHMG, ".macro r n\n.if \\n\n.byte \\n\nr \\n-1\n.endif\n.endm\nr 3", "\3\2\1");
    CHECK_BYTES(XPHMG, ".byte 1\n.end\nnonsense", "\1");
    check_error(XPHMG, ".if 1\nnop", 1, 1, "no .endif", "");
    check_error(XPHMG, ".endif", 1, 1, ".endif without .if", "");
    check_error(XPHMG, ".else", 1, 1, ".else without .if", "");
    check_error(XPHMG, ".rept 2\nnop", 1, 1, "no .endr", "");
    check_error(XPHMG, ".endr", 1, 1, "not begun", "");
    check_error(XPHMG, ".macro m\nnop", 1, 1, "no .endm", "");
    check_error(XPHMG, ".macro m a:req\n.endm\nm", 3, 2, "argument `a`", "");
    check_error(XPHMG, ".macro m a\n.endm\nm 1, 2", 3, 6, "takes 1 arguments", "");
    check_error(XPHMG, "nop\n.error \"stop it\"", 2, 1, "stop it", "");
    check_error(XPHMG, ".include \"x.s\"", 1, 10, "no folder", "-I");
    check_error(XPHMG, ".macro m\nm\n.endm\nm", 2, 1, "inside each other", "");
}

TEST(errors_inside_macros_name_their_use, "")
{
    struct assembled a = assemble_text(XPHMG, "nop\n.macro bad\n nonsense a0\n.endm\nnop\nbad\n");

    CHECK_EQ(a.result.diags.count, 1);
    if (a.result.diags.count == 1) {
        CHECK_STR(a.result.diags.items[0].source, " nonsense a0");
        CHECK_STR(a.result.diags.items[0].hint, "in `bad`, used at t.s:6");
    }
    assembled_free(&a);
}

/* ---- limits and errors in general ---- */

TEST(at_most_twenty_errors, "")
{
    struct facet_strbuf text;
    struct assembled a;

    facet_strbuf_init(&text);
    for (int i = 0; i < 100; i++) {
        facet_strbuf_puts(&text, "nonsense\n");
    }
    a = assemble_text(XPHMG, facet_strbuf_text(&text));
    CHECK_EQ(a.result.diags.count, 20);
    CHECK_EQ(a.result.diags.items[19].line, 20);
    CHECK(a.result.object == NULL);
    assembled_free(&a);
    facet_strbuf_free(&text);
}

TEST(one_error_does_not_hide_or_cause_others, "")
{
    struct assembled a = assemble_text(
        XPHMG, "ad a0, a1\nx: lw a0, 5000(a1)\n.word\n\tbeq a0, a1, y\nli q, 1\nj x\n");

    CHECK_EQ(a.result.diags.count, 4);
    if (a.result.diags.count == 4) {
        CHECK_EQ(a.result.diags.items[0].line, 1);
        CHECK_EQ(a.result.diags.items[1].line, 2);
        CHECK_EQ(a.result.diags.items[2].line, 5);
        CHECK_EQ(a.result.diags.items[3].line, 4);
        CHECK_EQ(a.result.diags.items[3].column, 14);
    }
    assembled_free(&a);
}

TEST(diagnostics_look_like_a_compilers, "")
{
    struct assembled a = assemble_text(XPHMG, "start:\n\taddd\ta0, a1, a2\n");
    struct facet_strbuf out;

    facet_strbuf_init(&out);
    facet_diag_format(&a.result.diags, &out);
    CHECK_STR(facet_strbuf_text(&out),
              "t.s:2:2: error: unknown instruction `addd`\n"
              "    \taddd\ta0, a1, a2\n"
              "    \t^~~~\n"
              "    hint: did you mean `add`?\n");
    facet_strbuf_free(&out);
    assembled_free(&a);
}

TEST(near_misses, "")
{
    check_error(XPHMG, "ad a0, a1, a2", 1, 1, "unknown instruction", "did you mean `add`");
    check_error(XPHMG, "rt.bobx a0, a1", 1, 1, "unknown instruction", "did you mean `rt.bbox`");
    check_error(TILE, "VADD.I23 v1, v2, v3", 1, 1, "unknown instruction", "did you mean `VADD.I");
    check_error(TILE, "BEQ s1, s2, lop\nloop:", 1, 13, "undefined", "did you mean `loop`");
    check_error(XPHMG, "add a0, zeor, a1", 1, 9, "unknown register", "did you mean `zero`");
    check_error(XPHMG, "qqqqqqqqqqqq a0", 1, 1, "unknown instruction", "");
}

TEST(nothing_can_hang_it, "")
{
    struct facet_asm_options options = {
        .isa = XPHMG, .file = "t.s", .max_expansion = 100000, .max_bytes = 1 << 20};
    static const char *const texts[] = {
        ".rept 1<<60\n.endr",
        ".rept 1<<40\nnop\n.endr",
        ".macro m\nm\nm\n.endm\nm",
        ".rept 1000\n.rept 1000\n.rept 1000\n.endr\n.endr\n.endr",
        ".fill 1<<60, 8, 1",
        ".space 1<<62",
        ".balign 1<<20\n.byte 1\n.balign 1<<20\n.byte 1\n.balign 1<<20",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct assembled a = assemble_with(&options, texts[i]);

        CHECK_MSG(a.status == FACET_ERR_INPUT, "%s", texts[i]);
        assembled_free(&a);
    }
}

TEST(deep_expressions_are_refused, "")
{
    struct facet_strbuf text;

    for (int kind = 0; kind < 5; kind++) {
        struct assembled a;

        facet_strbuf_init(&text);
        facet_strbuf_puts(&text, ".word 0");
        for (int i = 0; i < 100000; i++) {
            facet_strbuf_puts(&text, kind == 0 ? "+(" : kind == 1 ? "+x" : kind == 2 ? "+-" : "");
            if (kind >= 3) {
                facet_strbuf_printf(&text, "\n.set s%d, s%d+%s", i, i + 1, kind == 3 ? "1" : "s0");
            }
        }
        facet_strbuf_puts(&text, kind >= 3 ? "\n.word s0" : "");
        a = assemble_text(XPHMG, facet_strbuf_text(&text));
        CHECK_MSG(a.status == FACET_ERR_INPUT, "kind %d", kind);
        assembled_free(&a);
        facet_strbuf_free(&text);
    }
}

/* Definitions that fan out: 2^60 leaves, evaluated once each. */
TEST(shared_definitions_are_evaluated_once, "")
{
    struct facet_strbuf text;
    struct assembled a;

    facet_strbuf_init(&text);
    facet_strbuf_puts(&text, ".dword s0\n");
    for (int i = 0; i < 60; i++) {
        facet_strbuf_printf(&text, ".set s%d, s%d + s%d\n", i, i + 1, i + 1);
    }
    facet_strbuf_puts(&text, ".set s60, 1\n");
    a = assemble_text(XPHMG, facet_strbuf_text(&text));
    CHECK_MSG(a.status == FACET_OK, "%s", first_error(&a));
    CHECK_EQ(word_at(&a, 4), 1u << 28);
    assembled_free(&a);
    facet_strbuf_free(&text);
}

static size_t random_text(char *text, size_t size)
{
    static const char *const pieces[] = {
        "add",     " ",       "a0",        ",",        "\n",    "lw",         "(",
        ")",       "-1",      "0x10",      ".word",    ".if",   ".endif",     "1:",
        "1b",      "1f",      "x",         "=",        "\"",    "'",          "/*",
        "*/",      "#",       ";",         ".rept 3",  ".endr", ".macro m x", ".endm",
        "m",       "\\x",     "%hi(",      "li",       ".set",  ".",          "+",
        "<<",      "%",       "la",        ".section", "\t",    "call",       "rd=",
        "svsetvl", "VLD.V",   "s1",        "MOVI",     ".org",  ".align",     "5",
        "~",       ".asciz",  "\\",        "bep",      "nz",    "fence",      "iorw",
        "csrr",    "mstatus", "[",         "]",        "\xff",  "$",          ".irp q, 1, 2",
        "\\q",     ".else",   ".elseif 1", ".end",     ".comm", "c.lw",       "@"};
    size_t used = 0;

    while (used + 24 < size && harness_random() % 60 != 0) {
        const char *piece = pieces[harness_random() % (sizeof pieces / sizeof pieces[0])];

        used += (size_t)snprintf(text + used, size - used, "%s", piece);
    }
    return used;
}

TEST(random_text_never_crashes, "")
{
    struct facet_asm_options options = {.file = "t.s", .max_bytes = 1 << 20, .max_expansion = 2000};
    unsigned rounds = harness_long() ? 400000 : 40000;

    for (unsigned round = 0; round < rounds; round++) {
        struct facet_asm_result result;
        struct facet_error err;
        char text[2000] = "";
        size_t size = random_text(text, sizeof text);

        options.isa = round % 2 == 0 ? XPHMG : TILE;
        enum facet_status status = facet_assemble(&options, text, size, &result, &err);

        CHECK(status == FACET_OK ? result.object != NULL && result.diags.count == 0
                                 : result.object == NULL && result.diags.count != 0);
        facet_asm_result_free(&result);
    }
}

TEST(zero_bytes_are_refused, "")
{
    struct facet_asm_options options = {.isa = XPHMG, .file = "t.s"};
    struct facet_asm_result result;
    struct facet_error err;

    CHECK_EQ(facet_assemble(&options, "nop\nn\0p", 7, &result, &err), FACET_ERR_INPUT);
    CHECK_EQ(result.diags.items[0].line, 2);
    CHECK_EQ(result.diags.items[0].column, 2);
    CHECK_EQ(err.where, 2);
    facet_asm_result_free(&result);
}

TEST(listing, "")
{
    const char *text = "# head\nx: nop\n.data\n.asciz \"hello you\"\n";
    struct facet_asm_options options = {.isa = TILE, .file = "t.s", .listing = true};
    struct assembled a = assemble_with(&options, text);
    struct facet_strbuf out;

    facet_strbuf_init(&out);
    facet_asm_listing(&a.result, text, strlen(text), &out);
    CHECK_STR(facet_strbuf_text(&out),
              "      1                                  # head\n"
              "      2 80000000 17 00 00 00             x: nop\n"
              "      3                                  .data\n"
              "      4 80000010 68 65 6c 6c 6f 20 79 6f .asciz \"hello you\"\n"
              "        80000018 75 00                   \n");
    facet_strbuf_free(&out);
    assembled_free(&a);
}

TEST(lexer, "")
{
    const char *p = "0x1F,";
    uint64_t value = 0;
    uint8_t c = 0;

    CHECK(facet_lex_number(&p, true, &value) == FACET_LEX_NUMBER && value == 31 && *p == ',');
    p = "0b";
    CHECK(facet_lex_number(&p, true, &value) == FACET_LEX_LOCAL && *p == 'b');
    p = "0b2";
    CHECK(facet_lex_number(&p, true, &value) == FACET_LEX_BAD);
    p = "\\377x";
    CHECK(facet_lex_char(&p, &c) && c == 255 && *p == 'x');
    CHECK(facet_lex_space("  /* x */ y")[0] == 'y');
    CHECK(facet_lex_same("AdD", 3, "aDd") && !facet_lex_same("add", 3, "addi"));
}

TEST(lines_inside_expansions_are_those_of_the_file, "")
{
    check_error(XPHMG,
                "nop\n.macro m x\n nop\n addi a0, a0, \\x\n.endm\nm 1\nm 5000",
                4,
                15,
                "5000",
                "at t.s:7");
    check_error(
        XPHMG, "nop\n.irp x, 1, 2, 5000, 3\nnop\naddi a0, a0, \\x\n.endr", 4, 14, "5000", "t.s:2");
    check_error(XPHMG,
                ".macro o\nnop\n.macro i\nnop\nwrong\n.endm\nnop\n.endm\no\n\ni",
                5,
                1,
                "unknown instruction `wrong`",
                "in `i`, used at t.s:11");
    check_error(XPHMG,
                ".macro o\nnop\n.irp x, 1, 2\nnop\n.if \\x == 2\nwrong\n.endif\n.endr\n.endm\no",
                6,
                1,
                "`wrong`",
                "used at t.s:3; in `o`, used at t.s:10");
    check_error(
        XPHMG, "nop\n.macro m\nnop\nm\n.endm\nm", 4, 1, "inside each other", "used at t.s:4");
}

TEST(leading_zeros, "TILE-083")
{
    check_same(TILE, "ADDI s1, s0, 010", "ADDI s1, s0, 10");
    check_same(TILE, ".word 0099, 00", ".word 99, 0");
    check_same(XPHMG, "addi s1, s0, 010", "addi s1, s0, 8");
    check_error(XPHMG, ".word 09", 1, 8, "`9` does not belong", "octal");
    check_error(TILE, ".word 09a", 1, 9, "`a` does not belong", "0x hexadecimal or 0b binary");
}

TEST(negative_numbers_have_64_bits, "")
{
    CHECK_EQ(value_of(XPHMG, "-0x8000000000000000"), INT64_MIN);
    CHECK_EQ(value_of(XPHMG, "0xffffffffffffffff"), -1);
    check_error(XPHMG, "li a0, -0x8000000000000001", 1, 8, "does not fit 64 bits", "");
    check_same(XPHMG, "li a0, -0x7fffffffffffffff", "li a0, 0x8000000000000001");
    check_error(XPHMG, "li a0, - 9223372036854775809 # x", 1, 8, "does not fit 64 bits", "");
}

TEST(errors_of_pseudo_instructions_point_at_operands, "")
{
    check_error(XPHMG, "csrr a0, 4096", 1, 10, "4096 does not fit operand `csr`", "0 to 4095");
    check_error(XPHMG, "nop\n j far\n.zero 0x200000\nfar:", 2, 4, "out of reach of jal", "");
    check_error(XPHMG, "beqz a7, far\n.zero 0x2000\nfar:", 1, 10, "out of reach of beq", "");
    check_error(XPHMG, "bgt a0, a7, far\n.zero 0x2000\nfar:", 1, 13, "out of reach of blt", "");
}

TEST(carets_stand_below_characters, "")
{
    struct assembled a = assemble_text(XPHMG, "/* \xc3\xa4\xc3\xb6 */\taddi a0, a0, \xc3\xbcx\n");
    struct facet_strbuf out;

    facet_strbuf_init(&out);
    facet_diag_format(&a.result.diags, &out);
    CHECK_MSG(strstr(facet_strbuf_text(&out), "\n            \t             ^~\n") != NULL,
              "%s",
              facet_strbuf_text(&out));
    facet_strbuf_free(&out);
    assembled_free(&a);
}

TEST(comments_are_skipped_after_errors, "")
{
    static const char *const texts[] = {
        "bad /* one\n two\n three */ nop\nnop\n",
        "addi a0, a0, 5000 /* one\ntwo */\n",
        "addi a0 /* one\ntwo */, a0, x y\n",
        "nop /* never closed\n two\n three\n",
        "bad \"; /* \" ; bad\nnop\n",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct assembled a = assemble_text(XPHMG, texts[i]);

        CHECK_MSG(a.result.diags.count == 1, "%s: %zu errors", texts[i], a.result.diags.count);
        assembled_free(&a);
    }
}

TEST(hints_for_mnemonics, "")
{
    check_error(
        XPHMG, "amoad.w.aqrl a0, a1, (a2)", 1, 1, "unknown", "did you mean `amoadd.w.aqrl`");
    check_error(XPHMG, "amoadd.w.aqr a0, a1, (a2)", 1, 1, "unknown", "did you mean `amoadd.w");
    check_error(XPHMG, "nop nop", 1, 5, "too many operands", "the syntax is `nop`");
}
