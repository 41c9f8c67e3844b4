/* The assembler: operands, instructions and pseudo-instructions, every rule of spec/README.md
 * "Assembly syntax" and tile-semantics.md 3.2. */
#include "check.h"

/* ---- README: operands ---- */

TEST(position_and_name, "")
{
    check_same(XPHMG, "addi a1, a0, 4", "addi imm=4, rs1=a0, rd=a1");
    check_same(XPHMG, "addi a1, a0, 4", "addi a1, imm=4, rs1=a0");
    check_same(XPHMG, "pmclr 2", "pmclr pbank=2");
    check_same(XPHMG, "lw a0, 8(a1)", "lw rd=a0, rs1=a1, imm=8");
    check_words(XPHMG, "lw a0, (a1)\nsd a0, (a1)", 2, 0x0005A503, 0x00A5B023);
    check_same(XPHMG, "xlds.atoms.add.w a0, (a1), a2", "xlds.atoms.add.w a0, 0(a1), a2");
    check_same(XPHMG, "xlds.atoms.add.w a0, (a1), a2", "xlds.atoms.add.w rs1=a1, rs2=a2, rd=a0");
    check_same(XPHMG, "xlds.atoms.add.w a0, (a1), a2", "xlds.atoms.add.w rs1=(a1), rs2=a2, rd=a0");
    check_same(XPHMG, "xmem.ldg.w a0, (a1)", "xmem.ldg.w a0, (a1), 0, 0");
    check_same(XPHMG, "xmem.ldg.w a0, (a1), 3, 2", "xmem.ldg.w a0, (a1), pbank=2, hint=3");
    check_same(XPHMG, "GFX.SAMPLE a0, a1, 5, 1", "GFX.SAMPLE a0, a1, m=1, ppp=5");
    check_error(XPHMG, "addi a1, a0, 4, rd=a2", 1, 17, "given twice", "");
    check_error(XPHMG, "addi rd=a1, a0, 4", 1, 13, "positional operand after a named one", "");
    check_error(XPHMG, "addi a1, a0, im=4", 1, 14, "has no operand `im`", "did you mean `imm`");
    check_error(
        XPHMG, "addi a1, a0", 1, 12, "operand `imm` of addi is missing", "addi rd, rs1, imm");
    check_error(XPHMG, "addi a1, a0, 1, 2", 1, 17, "too many operands", "addi rd, rs1, imm");
    check_error(XPHMG, "xlds.atoms.add.w a0, 4(a1), a2", 1, 22, "the offset can only be 0", "");
    check_error(XPHMG, "lw a0, 8(a1", 1, 12, "expected `)`", "");
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
    check_error(XPHMG, "rt.bbox fa0, a1", 1, 9, "`fa0` is not allowed here", "an integer register");
    check_error(XPHMG, "MTX.MUL a0, fa1", 1, 13, "`fa1` is not allowed here", "");
}

TEST(percent_before_a_label_is_skipped, "")
{
    check_same(XPHMG, "x: bp.t %x", "x: bp.t x");
    check_same(XPHMG, "x: beq a0, a1, %x + 4\nnop", "x: beq a0, a1, . + 4\nnop");
    check_error(XPHMG, "bp.t %", 1, 6, "expected a label", "");
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

TEST(symbols_of_operands, "")
{
    harness_row("XM-105");
    check_same(XPHMG, "xmem.ldg.w a0, (a1), L1_ONLY", "xmem.ldg.w a0, (a1), 1");
    harness_row("XM-106");
    check_same(XPHMG, "xmem.ldg.w a0, (a1), L2_ONLY", "xmem.ldg.w a0, (a1), 2");
    harness_row("XM-107");
    check_same(XPHMG, "xmem.ldg.w a0, (a1), LDS_PREF", "xmem.ldg.w a0, (a1), 4");
    harness_row("XM-108");
    check_same(XPHMG, "xmem.ldg.w a0, (a1), NONTEMP", "xmem.ldg.w a0, (a1), 8");
    harness_row("XM-109");
    check_same(XPHMG, "xmem.ldg.w a0, (a1), LOCK", "xmem.ldg.w a0, (a1), 16");
    harness_row("XM-110");
    check_same(XPHMG, "xmem.stg.w a0, (a1), STREAM", "xmem.stg.w a0, (a1), 32");
    harness_row("");
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
    check_error(XPHMG, "L: bep q, L", 1, 8, "expected `nz` or `z`", "");
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
    check_error(XPHMG, "nop\n /* never", 2, 2, "unterminated comment", "");
    check_error(XPHMG, "nop /* never", 1, 5, "unterminated comment", "");
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
    check_same(TILE, "MOVI s1, 0x7FFFFFFF", "LUI s1, 0x80000\nXORI s1, s1, -1");
    check_same(TILE, "LI s1, 0x7FFFF800", "LUI s1, 0x80000\nXORI s1, s1, -2048");
    check_same(TILE, "LI s1, 0x7FFFF7FF", "LUI s1, 0x7FFFF\nADDI s1, s1, 2047");
    check_same(TILE, "LI s1, 0x80000000", "LUI s1, 0x80000\nADDI s1, s1, 0");
    /* A value that is known behind the line chooses the same words; so does an address. */
    check_same(TILE, "MOVI s1, k\nNOP\n.equ k, 0x7FFFFFF0", "MOVI s1, 0x7FFFFFF0\nNOP");
    check_same(TILE, "x: LI s1, k-1\nJ x\n.equ k, 0x7FFFF800", "x: LI s1, 0x7FFFF7FF\nJ x");
    check_same(TILE, ".org 0x100\nLI s1, k\n.equ k, 0x7FFFF800", ".org 0x100\nLI s1, 0x7FFFF800");
    check_same(TILE, "LA s1, x\n.equ x, 0x7FFFFFFF", "LUI s1, 0x80000\nXORI s1, s1, -1");
    check_error(TILE, "LI s1, k", 1, 8, "undefined symbol `k`", "");
    check_error(TILE, "LI s1, k\n.equ k, 0x100000000", 1, 8, "does not fit 32 bits", "");
    check_same(TILE, "LI s1, -0x801", "LUI s1, 0xFFFFF\nADDI s1, s1, 2047");
    check_same(TILE, "LI s4, 1.5", "MOVI s4, 0x3FC00000");
    check_same(TILE, "MOVI s4, -.5e-1", "MOVI s4, 0xBD4CCCCD");
    check_same(TILE, "LI s4, 0x1.8p3", "MOVI s4, 0x41400000");
    check_error(TILE, "LI s4, 1e39", 1, 8, "does not fit FP32", "3.4028235e38");
    check_error(TILE, "LI s4, 1.5f", 1, 9, "is not allowed in this number", "reals too, as 1.5");
    check_error(TILE, "LI s4, 1.5.2", 1, 9, "is not allowed in this number", "reals too");
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
    check_error(TILE, "ADD s1, v2, s3", 1, 9, "`v2` is not allowed here", "scalar register");
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
    /* The label may stand anywhere in its section. */
    check_words(XPHMG,
                "nop\nl: auipc a0, %pcrel_hi(x)\nm: auipc a1, %pcrel_hi(x)\n"
                "addi a1, a1, %pcrel_lo(m)\nlw a0, %pcrel_lo(l)(a0)\nx:",
                5,
                0x00000013,
                0x00000517,
                0x00000597,
                0x00C58593,
                0x01052503);
    check_error(XPHMG, "addi a0, a0, %pcrel_lo(x)\nx:", 1, 14, "no %pcrel_hi at", "");
    check_error(XPHMG, "addi a0, a0, %foo(x)", 1, 14, "unknown function", "%pcrel_lo");
    check_error(XPHMG, "beq a0, a1, x\n.zero 5000\nx:", 1, 13, "5004 bytes away, out of reach", "");
    check_error(XPHMG, "c.add a0, zero", 1, 11, "cannot be 0", "");
    check_error(XPHMG, "c.lw a0, 4(t0)", 1, 12, "`t0` is not allowed here", "x8..x15");
    check_error(XPHMG, "c.lw a6, 4(a0)", 1, 6, "`a6` is not allowed here", "x8..x15");
    check_error(XPHMG, "c.addi16sp a0, 16", 1, 12, "only sp is allowed here", "");
    check_error(
        XPHMG, "csrr a0, mstatsu", 1, 10, "unknown CSR `mstatsu`", "did you mean `mstatus`");
    check_error(XPHMG, "mv a0, q9", 1, 8, "unknown register `q9`", "");
    check_error(XPHMG, "addi a0, a0, a1", 1, 14, "undefined symbol `a1`", "`a1` is a register");
    check_error(XPHMG, "ld a0, a1", 1, 8, "undefined symbol `a1`", "");
    check_error(XPHMG, "li a0, later\n.equ later, 5", 1, 8, "known here", "");
}

/* What `li` builds, run by a simulator of the six instructions it may use. */
/* Zeros at the end of a constant are shifted in, all at once. */
TEST(li_is_short, "")
{
    static const struct {
        const char *text;
        size_t words;
    } rows[] = {{"li a0, 0x100000000", 2},
                {"li a0, -0x800000000000", 2},
                {"li a0, 0x5000000000007", 3},
                {"li a0, 0x7FF00000001", 3}};

    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct assembled a = assemble_text(XPHMG, rows[i].text);

        CHECK_EQ(a.size, 4 * rows[i].words);
        assembled_free(&a);
    }
}

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
