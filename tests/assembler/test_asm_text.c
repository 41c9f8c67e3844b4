/* The assembler: expressions, directives, sections, macros and conditions. */
#include "check.h"

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
    /* Operators of two characters without a space behind them. */
    CHECK_EQ(value_of(XPHMG, "(0||7)+2*(7&&0)+4*(1<<2)+32*(8>>3)+64*(1<=1)+128*(1>=2)+256*(3==3)"),
             1 + 16 + 32 + 64 + 256);
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
    check_error(XPHMG, ".word 12ab", 1, 9, "`a` is not allowed", "");
    check_error(XPHMG, ".word 0x", 1, 7, "digits are missing", "");
    check_error(XPHMG, ".word (1 + 2", 1, 13, "expected `)`", "");
    check_error(XPHMG, ".word 1 +", 1, 10, "expected a number or a symbol", "");
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
    check_error(XPHMG, "x: .word y\nx:", 2, 1, "`x` is already defined", "t.s:1");
    check_error(XPHMG, ".equiv q, 1\n.equiv q, 2", 2, 8, "`q` is already defined", "");
    check_error(XPHMG, ".equ a, b\n.equ b, a\n.word a", 2, 9, "defined in terms of itself", "");
    check_error(XPHMG, ".word nothing", 1, 7, "undefined symbol `nothing`", "");
    check_error(XPHMG, "counter:\n.word conuter", 2, 7, "undefined", "did you mean `counter`");
    check_error(XPHMG, "j 1b", 1, 3, "no label `1:` before", "");
    check_error(XPHMG, "nop\nj 2f", 2, 3, "no label `2:` after", "");
    check_error(XPHMG, "5", 1, 1, "cannot start with a number", "");
}

/* Members of the layout rows (spec/README.md, Assembly syntax): offsets and values of this machine.
 */
TEST(structure_members_in_expressions, "")
{
    check_same(
        TILE, "LW s1, CU_ASSIST.count(s5)", "LW s1, 8(s5)"); /* known at once: the short form */
    check_same(TILE, "LW s1, gparam.FLAGS(s5)", "LW s1, 60(s5)");
    check_same(TILE, "ADDI s1, s0, RSTATE.depth_function.always", "ADDI s1, s0, 7");
    check_same(TILE, "ADDI s1, s0, GDRAW.flags.AFFINE | GDRAW.flags.FLAT", "ADDI s1, s0, 258");
    check_same(TILE, "ADDI s1, s0, RDRAW.state_id.current >> 12", "ADDI s1, s0, 15");
    check_same(TILE, ".equ GDRAW.count, 99\nADDI s1, s0, GDRAW.count", "ADDI s1, s0, 99");
    check_error(TILE, ".word RSTATE.nothing", 1, 7, "undefined symbol `RSTATE.nothing`", "");
    check_error(TILE, ".word RSTATE.blend.none", 1, 7, "undefined symbol `RSTATE.blend.none`", "");
    check_error(TILE, ".word RSTATE", 1, 7, "undefined symbol `RSTATE`", "");
    check_error(XPHMG, ".word RSTATE.blend", 1, 7, "undefined symbol `RSTATE.blend`", "");
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
    check_error(XPHMG, ".ascii \"abc", 1, 8, "unterminated string", "");
    check_error(XPHMG, ".ascii \"a\\q\"", 1, 10, "unknown escape", "");
    check_error(XPHMG, ".ascii abc", 1, 8, "a string in double quotes", "");
    check_error(XPHMG, ".zero -1", 1, 7, "negative", "");
    check_error(XPHMG, ".balign 3", 1, 9, "cannot align to 3", "power of two");
    check_error(XPHMG, ".align 40", 1, 8, "cannot align to 40", "");
    check_error(XPHMG, ".zero 8\n.org 4", 2, 6, "cannot go back", "");
    check_error(XPHMG, ".float x", 1, 8, "expected a floating-point number", "");
    check_error(XPHMG, ".zero 1<<40", 1, 1, "larger than", "");
    check_error(XPHMG, ".wrod 5", 1, 1, "unknown directive `.wrod`", "did you mean `.word`");
    check_error(XPHMG, ".word 1 2", 1, 9, "`,` or the end of the line", "");
    check_error(XPHMG, ".bss\n.word 1", 2, 1, "holds no data", "");
    check_error(XPHMG, ".byte 1\nnop", 2, 1, "not at a multiple of 2", ".balign");
    check_error(TILE, ".half 1\nNOP", 2, 1, "not at a multiple of 4", "");
    check_error(TILE, ".half 1\nLI s4, 1.5", 2, 1, "not at a multiple of 4", ".balign 4");
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
    check_error(XPHMG, ".comm x, 8, 3", 1, 8, "power of two", "");
    check_error(XPHMG, ".comm x, 8, 0", 1, 8, "power of two", "");
    check_error(XPHMG, ".comm x, 8, 0x200000", 1, 8, "power of two", "");
    a = assemble_text(XPHMG, ".section .a, \"q\", @bits\n"); /* one mistake, one complaint */
    CHECK_EQ(a.result.diags.count, 1);
    assembled_free(&a);
    check_error(XPHMG, ".type x, @fun", 1, 11, "unknown symbol type", "@function");
    check_error(XPHMG, ".option rvd", 1, 9, "unknown option", "did you mean `rvc`");
}

/* A symbol that is set before what it is set to belongs to the section of that, or to none. */
TEST(sections_of_symbols_that_are_set_ahead, "")
{
    struct assembled a = assemble_text(
        XPHMG,
        ".set place, l + 4\n.set number, k + 1\n.set gap, m - l\nnop\nl: nop\nm: nop\n.equ k, 6");
    static const struct {
        const char *name;
        uint64_t value;
        bool number;
    } symbols[] = {{"place", 0x80000008, false}, {"number", 7, true}, {"gap", 4, true}};

    if (CHECK_MSG(a.status == FACET_OK, "%s", first_error(&a))) {
        for (unsigned i = 0; i < 3; i++) {
            const struct facet_object_symbol *s = symbol_named(&a, symbols[i].name);

            CHECK_MSG(s != NULL && s->value == symbols[i].value &&
                          (s->section == FACET_SYMBOL_ABSOLUTE) == symbols[i].number,
                      "%s",
                      symbols[i].name);
        }
    }
    assembled_free(&a);
}

/* The number of a subsection is read and changes nothing. Of two sections at one address the empty
 * one stands first, whatever their order in the text. */
TEST(subsections_and_empty_sections, "")
{
    struct assembled a = assemble_text(XPHMG,
                                       ".section .full,\"ax\"\n.address 0x80001000\nnop\n"
                                       ".section .void,\"ax\"\n.address 0x80001000\nx:\n");

    check_error(XPHMG, ".text later\nlater: nop", 1, 7, "", "");
    if (CHECK_MSG(a.status == FACET_OK, "%s", first_error(&a))) {
        CHECK(section_named(&a, ".void") < section_named(&a, ".full"));
    }
    assembled_free(&a);
    a = assemble_text(XPHMG, "ret\n.data\n.byte 1\n.text 1\nnop\n.data 2\n.byte 2\n");
    if (CHECK_MSG(a.status == FACET_OK, "%s", first_error(&a))) {
        CHECK_EQ(section_named(&a, ".text")->size, 8);
        CHECK_EQ(section_named(&a, ".data")->size, 2);
    }
    assembled_free(&a);
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
    check_error(XPHMG, ".address 4\n.address 8", 2, 10, "already has an address", "");
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
    check_error(XPHMG, ".macro m\nm\n.endm\nm", 2, 1, "nested deeper than", "");
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
