/* The assembler: errors with their exact places and hints, limits, listings, random text. */
#include "check.h"

#include "assembler/lex.h"

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

    a = assemble_text(XPHMG, "add a0, , a1\n"); /* nothing there: one mark */
    facet_strbuf_init(&out);
    facet_diag_format(&a.result.diags, &out);
    CHECK_MSG(strncmp(facet_strbuf_text(&out),
                      "t.s:1:9: error: expected a register\n"
                      "    add a0, , a1\n"
                      "            ^\n",
                      67) == 0,
              "%s",
              facet_strbuf_text(&out));
    facet_strbuf_free(&out);
    assembled_free(&a);
}

TEST(targets_that_no_pair_of_instructions_reaches, "")
{
    static const char far[] = "the target is more than 2 GiB away";
    struct assembled a;

    /* auipc adds -2 GiB to 2 GiB - 4 KiB, the second instruction -2 KiB to 2 KiB - 1. */
    check_error(XPHMG, "call . + 0x7FFFF800", 1, 6, far, "");
    check_error(XPHMG, "call . - 0x80000802", 1, 6, far, "");
    check_error(XPHMG, "tail 0x200000000", 1, 6, far, "");
    a = assemble_text(XPHMG, "here: call here + 0x7FFFF7FE\n");
    CHECK_EQ(a.result.diags.count, 0);
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

    text = ".data\n.word 1\n.rodata\n.byte 2\n"; /* not in the order of the addresses */
    a = assemble_with(&options, text);
    facet_strbuf_init(&out);
    facet_asm_listing(&a.result, text, strlen(text), &out);
    CHECK_STR(facet_strbuf_text(&out),
              "      1                                  .data\n"
              "      2 80000010 01 00 00 00             .word 1\n"
              "      3                                  .rodata\n"
              "      4 80000000 02                      .byte 2\n");
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
        XPHMG, "nop\n.macro m\nnop\nm\n.endm\nm", 4, 1, "nested deeper than", "used at t.s:4");
}

TEST(leading_zeros, "TILE-083")
{
    check_same(TILE, "ADDI s1, s0, 010", "ADDI s1, s0, 10");
    check_same(TILE, ".word 0099, 00", ".word 99, 0");
    check_same(XPHMG, "addi s1, s0, 010", "addi s1, s0, 8");
    check_error(XPHMG, ".word 09", 1, 8, "`9` is not allowed", "octal");
    check_error(TILE, ".word 09a", 1, 9, "`a` is not allowed", "0x hexadecimal or 0b binary");
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
    check_error(TILE, "VMUL v1, v2, v3", 1, 1, "unknown", "VMUL.");
    check_error(XPHMG, "xmem a0", 1, 1, "unknown", "xmem.stg.d, xmem.pref, ..."); /* a long list */
}

TEST(the_longest_vector_by_name, "")
{
    check_same(XPHMG, "svsetvl a0, 256", "svsetvl a0, x0");
    check_same(XPHMG, "svsetvl a0, imm8=256", "svsetvl a0, x0");
    check_same(XPHMG, "svsetvl rd=a0, imm8=256", "svsetvl a0, x0");
    check_same(XPHMG, "svsetvl imm8=0x100, RD=a0", "svsetvl a0, x0");
    check_same(XPHMG, "svsetvl imm8=255, rd=a0", "svsetvl a0, 255");
    check_error(XPHMG,
                "svsetvl a0, 257",
                1,
                13,
                "257 does not fit operand `imm8`",
                "1 to 255, or a register");
    check_error(
        XPHMG, "svsetvl a0, imm8=257", 1, 18, "257 does not fit operand `imm8`", "takes 1 to 255");
    check_error(XPHMG, "svsetvl a0, 0", 1, 13, "`imm8` of svsetvl cannot be 0", "takes 1 to 255");
}

TEST(unknown_symbols_of_operands, "")
{
    check_error(
        XPHMG,
        "rt.bbox a0, a1, T_CLMP",
        1,
        17,
        "`T_CLMP`",
        "did you mean `T_CLAMP`? `flags` takes T_CLAMP, PRED_ONLY, PACK_HINT, W_GUARD, joined");
    check_error(XPHMG, "fence rz, rw", 1, 7, "`rz`", "`pred` takes the letters i, o, r and w");
    check_error(XPHMG,
                "fadd.s fa0, fa1, fa2, rtx",
                1,
                23,
                "`rtx`",
                "did you mean `rtz`? `rm` takes rne, rtz, rdn, rup, rmm or dyn");
    check_error(XPHMG,
                "xfence.pipe RT, scope=WRP",
                1,
                23,
                "`WRP`",
                "did you mean `WARP`? `scope` takes THREAD, WARP, WG, CLUSTER or SYSTEM");
    check_error(TILE,
                "AADD s1, s2, (s3), ak",
                1,
                20,
                "`ak`",
                "did you mean `aq`? `ord` takes rlx, aq, rl or aqrl");
    check_error(TILE, "CSRR s2, time", 1, 10, "unknown CSR `time`", "`time_lo` or `time_hi`");
    check_error(XPHMG,
                "csrr a0, CAP.PREC.SMODE",
                1,
                10,
                "`CAP.PREC.SMODE` has no number of 12 bits",
                "write 0x7da0 to XISEL");
    check_error(XPHMG, "bep x, L\nL:", 1, 5, "expected `nz` or `z`", "");
    /* A symbol defined further down is no mistake. */
    check_same(XPHMG, "rt.bbox a0, a1, MINE\n.set MINE, 3", "rt.bbox a0, a1, T_CLAMP|PRED_ONLY");
}

TEST(addresses_without_parentheses, "")
{
    check_error(XPHMG, "xmem.ldg.w a0, a1", 1, 16, "expected `(register)`", "rd, (rs1)");
    check_error(TILE, "AADD s1, s2, s3", 1, 14, "expected `(register)`", "(rs1)");
    check_error(XPHMG,
                "xfence.wait 32",
                1,
                13,
                "32 does not fit operand `token`",
                "0 to 31, or a register");
    check_same(XPHMG, "xmem.ldg.w a0, 0(a1)", "xmem.ldg.w a0, (a1)");
}
