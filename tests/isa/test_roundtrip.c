/* Text -> word -> text -> word for every row of both machines.
 *
 * The text is made here from the row's syntax and fields columns, read by a small parser of their
 * own; neither the printer nor the operand tables take part, so they cannot hide a common mistake.
 * Each row is written by position and by name, in any case and with any spacing. */
#include "assembler/help.h"

#include <ctype.h>

enum { MAX_NAMES = 16, ROUNDS = 40 };

struct name {
    char text[24];
    bool given;       /* in the syntax */
    bool optional;    /* key=default or [key=default] */
    bool base;        /* in parentheses */
    unsigned width;   /* bits of the value, low zeros included */
    unsigned low;     /* lowest value bit that exists */
    int64_t value;    /* as the field holds it */
    char written[64]; /* as the text writes it */
};

struct shape {
    const struct facet_insn_row *row;
    enum facet_isa isa;
    struct name names[MAX_NAMES];
    unsigned count;
    bool order; /* [order] behind the mnemonic */
};

static struct name *name_of(struct shape *s, const char *text, size_t length)
{
    for (unsigned i = 0; i < s->count; i++) {
        if (strlen(s->names[i].text) == length && strncmp(s->names[i].text, text, length) == 0) {
            return &s->names[i];
        }
    }
    struct name *n = &s->names[s->count++];

    (void)snprintf(n->text, sizeof n->text, "%.*s", (int)length, text);
    return n;
}

static size_t letters(const char *p)
{
    size_t n = 0;

    while (isalnum((unsigned char)p[n]) || p[n] == '_') {
        n++;
    }
    return n;
}

/* The field that an operand of the syntax goes into. */
static const char *field_name(const char *operand)
{
    return strcmp(operand, "label") == 0 ? "imm" : strcmp(operand, "vl") == 0 ? "vlm1" : operand;
}

static void read_syntax(struct shape *s)
{
    const char *p = s->row->syntax + strcspn(s->row->syntax, " [");

    s->order = strncmp(p, "[order]", 7) == 0;
    p += s->order ? 7 : 0;
    while (*p != '\0') {
        bool base = *p == '(', bracket = *p == '[';
        size_t n = letters(p + (base || bracket));

        if (n == 0 || isdigit((unsigned char)*p)) {
            p++;
            continue;
        }
        p += base || bracket;
        struct name *name = name_of(s, p, n);

        name->given = true;
        name->base = base;
        name->optional = p[n] == '=';
        p += n;
        p += name->optional ? strcspn(p, ",]") : 0;
    }
}

/* One piece of a field: value bits and word bits. */
struct bits {
    char name[24];
    unsigned value_lo, word_lo, width;
};

static bool next_bits(const char **p, struct bits *b)
{
    const char *q = *p + strspn(*p, " -");
    size_t n = letters(q);
    unsigned hi, lo, high = 0;

    if (*q == '\0') {
        return false;
    }
    (void)snprintf(b->name, sizeof b->name, "%.*s", (int)n, q);
    q += n;
    b->value_lo = 0;
    if (*q == '.') {
        (void)sscanf(q, ".%u_%u", &high, &b->value_lo);
    }
    q = strchr(q, '[');
    if (sscanf(q, "[%u:%u]", &hi, &lo) != 2) {
        (void)sscanf(q, "[%u]", &hi);
        lo = hi;
    }
    b->word_lo = lo;
    b->width = hi - lo + 1;
    q += strcspn(q, " ");
    *p = q;
    return true;
}

static void read_fields(struct shape *s)
{
    const char *p = s->row->fields;
    struct bits b;

    for (unsigned i = 0; i < s->count; i++) {
        s->names[i].low = 63;
    }
    while (next_bits(&p, &b)) {
        for (unsigned i = 0; i < s->count; i++) {
            struct name *n = &s->names[i];

            if (strcmp(field_name(n->text), b.name) == 0 ||
                (s->order && strcmp(n->text, "order") == 0 && strcmp(b.name, "order") == 0)) {
                unsigned scale = strcmp(b.name, "simm7x4") == 0 ? 2 : 0;

                n->width = b.value_lo + b.width + scale > n->width ? b.value_lo + b.width + scale
                                                                   : n->width;
                n->low = b.value_lo + scale < n->low ? b.value_lo + scale : n->low;
            }
        }
    }
}

static uint32_t expected_word(const struct shape *s, unsigned order)
{
    uint32_t word = s->row->match;
    const char *p = s->row->fields;
    struct bits b;

    while (next_bits(&p, &b)) {
        uint64_t value = 0;

        for (unsigned i = 0; i < s->count; i++) {
            if (strcmp(field_name(s->names[i].text), b.name) == 0) {
                value = (uint64_t)s->names[i].value;
            }
        }
        if (strcmp(b.name, "order") == 0) {
            value = order;
        }
        if (strcmp(b.name, "simm7x4") == 0) {
            value >>= 2;
        }
        word |= (uint32_t)(value >> b.value_lo & ((UINT64_C(1) << b.width) - 1)) << b.word_lo;
    }
    return word;
}

static bool is_any(const char *name, const char *list)
{
    size_t n = strlen(name);

    for (const char *p = list; *p != '\0'; p += *p == ' ') {
        size_t word = strcspn(p, " ");

        if (word == n && strncmp(p, name, n) == 0) {
            return true;
        }
        p += word;
    }
    return false;
}

static uint64_t pick(uint64_t bound)
{
    return harness_random() % bound;
}

static void write_register(const struct shape *s, struct name *n, char file, unsigned number)
{
    static const char *const abi[] = {"zero", "ra", "sp",  "gp",  "tp", "t0", "t1", "t2",
                                      "s0",   "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
                                      "a6",   "a7", "s2",  "s3",  "s4", "s5", "s6", "s7",
                                      "s8",   "s9", "s10", "s11", "t3", "t4", "t5", "t6"};

    if (s->isa == FACET_ISA_XPHMG && file == 'x' && pick(2) == 0) {
        (void)snprintf(n->written, sizeof n->written, "%s", abi[number]);
    } else {
        (void)snprintf(n->written, sizeof n->written, "%c%u", file, number);
    }
}

static void write_pcrel(const struct shape *s, struct name *n)
{
    if (s->isa == FACET_ISA_TILE) {
        (void)snprintf(n->written, sizeof n->written, "%lld", (long long)n->value);
    } else {
        (void)snprintf(n->written,
                       sizeof n->written,
                       n->value < 0 ? ".-%lld" : ". + %lld",
                       (long long)(n->value < 0 ? -n->value : n->value));
    }
}

/* A legal random value of an operand, and its text. */
static void choose(struct shape *s, struct name *n)
{
    const char *row = s->row->mnemonic;
    bool xphmg = s->isa == FACET_ISA_XPHMG;
    bool is_signed =
        is_any(n->text, "imm simm bimm jimm simm7x4 label") && strncmp(row, "rt.", 3) != 0;
    uint64_t raw = (harness_random() & ((UINT64_C(1) << n->width) - 1)) >> n->low << n->low;

    n->value = (int64_t)raw;
    if (is_signed && n->width > 0 && (raw >> (n->width - 1) & 1) != 0) {
        n->value -= INT64_C(1) << n->width;
    }
    if (is_any(n->text, "rd rs1 rs2 rs3")) {
        write_register(s, n, xphmg ? 'x' : 's', (unsigned)n->value);
        if (strncmp(row, "GFX.", 4) == 0 && strcmp(n->text, "rs1") == 0 && pick(2) == 0 &&
            is_any(row, "GFX.SAMPLE GFX.INTERP GFX.ZTEST GFX.CULL.AABB")) {
            (void)snprintf(n->written, sizeof n->written, "f%u", (unsigned)n->value);
        }
    } else if (is_any(n->text, "rdc rs1c rs2c")) {
        write_register(s, n, 'x', 8 + (unsigned)n->value);
    } else if (is_any(n->text, "fdc fs2c")) {
        write_register(s, n, 'f', 8 + (unsigned)n->value);
    } else if (is_any(n->text, "fd fs1 fs2 fs3")) {
        write_register(s, n, 'f', (unsigned)n->value);
    } else if (is_any(n->text, "vd vs1 vs2 vs3")) {
        write_register(s, n, 'v', (unsigned)n->value);
    } else if (strcmp(n->text, "cidx") == 0) {
        write_register(s, n, 'c', (unsigned)n->value);
    } else if (strcmp(n->text, "sp") == 0) {
        write_register(s, n, 'x', 2);
    } else if (is_any(n->text, "label bimm jimm") || strcmp(row, "JAL.S") == 0) {
        write_pcrel(s, n);
    } else if (strcmp(n->text, "vl") == 0) {
        (void)snprintf(n->written, sizeof n->written, "%d", (int)n->value + 1);
    } else if (is_any(n->text, "sstep dstep")) {
        (void)snprintf(n->written, sizeof n->written, "%d", n->value == 3 ? 4 : (int)n->value);
    } else if (strcmp(row, "svon.blk") == 0 && n->value == 0) {
        (void)snprintf(n->written, sizeof n->written, "%d", pick(2) == 0 ? 0 : 256);
    } else if (strcmp(row, "c.lui") == 0 && strcmp(n->text, "imm") == 0) {
        (void)snprintf(n->written, sizeof n->written, "0x%x", (unsigned)n->value & 0xFFFFF);
    } else if (strcmp(n->text, "ord") == 0) {
        static const char *const orders[] = {"rlx", "aq", "rl", "aqrl"};

        (void)snprintf(n->written, sizeof n->written, "%s", orders[n->value]);
    } else if (pick(3) == 0 && n->value >= 0) {
        (void)snprintf(n->written, sizeof n->written, "0x%llX", (unsigned long long)n->value);
    } else if (pick(3) == 0) {
        (void)snprintf(n->written, sizeof n->written, "(%lld+%d)", (long long)n->value - 7, 7);
    } else {
        (void)snprintf(n->written, sizeof n->written, "%lld", (long long)n->value);
    }
}

static void append(char *line, size_t size, const char *text)
{
    size_t used = strlen(line);

    (void)snprintf(line + used, size - used, "%s", text);
}

/* Case of everything but labels is free. */
static void shake_case(char *line)
{
    uint64_t mode = pick(3);

    for (char *p = line; *p != '\0'; p++) {
        if (mode == 1 || (mode == 2 && pick(2) == 0)) {
            *p = (char)toupper((unsigned char)*p);
        } else if (mode == 2) {
            *p = (char)tolower((unsigned char)*p);
        }
    }
}

static void mnemonic_text(const struct shape *s, unsigned order, char *line, size_t size)
{
    static const char *const endings[] = {"", ".rl", ".aq", ".aqrl"};

    (void)snprintf(line, size, "%s%s", s->row->mnemonic, s->order ? endings[order] : "");
}

/* The syntax column with every name replaced by its value. */
static void by_position(struct shape *s, unsigned order, char *line, size_t size)
{
    const char *p = s->row->syntax + strcspn(s->row->syntax, " [");

    p += strncmp(p, "[order]", 7) == 0 ? 7 : 0;
    mnemonic_text(s, order, line, size);
    while (*p != '\0') {
        size_t n = letters(p);

        if (*p == '[' || *p == ']') {
            p++;
        } else if (n != 0) {
            struct name *name = name_of(s, p, n);

            append(line, size, name->written);
            p += n;
            p += *p == '=' ? strcspn(p, ",]") : 0;
        } else {
            char c[3] = {*p++, '\0', '\0'};

            if (c[0] == ' ' && pick(4) == 0) {
                c[1] = '\t';
            }
            append(line, size, c);
        }
    }
}

static void by_name(struct shape *s, unsigned order, char *line, size_t size)
{
    unsigned start = (unsigned)pick(s->count + 1u), written = 0;

    mnemonic_text(s, order, line, size);
    for (unsigned i = 0; i < s->count; i++) {
        struct name *n = &s->names[(start + i) % s->count];

        if (!n->given || strcmp(n->text, "order") == 0) {
            continue;
        }
        append(line, size, written++ == 0 ? " " : pick(2) == 0 ? "," : " , ");
        append(line, size, n->text);
        append(line, size, pick(2) == 0 ? "=" : " = ");
        append(line, size, n->written);
    }
}

static struct shape shape_of(enum facet_isa isa, const struct facet_insn_row *row)
{
    struct shape s = {.row = row, .isa = isa};

    read_syntax(&s);
    read_fields(&s);
    return s;
}

/* The bytes of the object's .text must be the words that the fields column promises, and its
 * disassembly must give the same bytes again. */
static void check_program(
    enum facet_isa isa, const char *text, const uint8_t *expected, size_t size, unsigned lines)
{
    struct assembled a = assemble_text(isa, text), again;
    struct facet_strbuf out;
    struct facet_error err;

    if (!CHECK_MSG(a.status == FACET_OK,
                   "%u lines: line %u: %s (%s)",
                   lines,
                   a.result.diags.count != 0 ? a.result.diags.items[0].line : 0,
                   first_error(&a),
                   a.result.diags.count != 0 ? a.result.diags.items[0].source : "")) {
        assembled_free(&a);
        return;
    }
    CHECK_EQ(a.size, size);
    for (size_t i = 0; i + 1 < size && i + 1 < a.size && !harness_failed(); i += 2) {
        if (memcmp(a.bytes + i, expected + i, 2) != 0) {
            unsigned line = 0;

            CHECK_MSG(false, "bytes at %zu differ (line about %u)", i, line);
        }
    }
    facet_strbuf_init(&out);
    CHECK_EQ(facet_disassemble(a.result.object, "t", &out, &err), FACET_OK);
    again = assemble_text(isa, facet_strbuf_text(&out));
    CHECK_MSG(again.status == FACET_OK,
              "again: %s (%s)",
              first_error(&again),
              again.result.diags.count != 0 ? again.result.diags.items[0].source : "");
    CHECK(again.size == a.size && memcmp(again.bytes, a.bytes, a.size) == 0);
    facet_strbuf_free(&out);
    assembled_free(&again);
    assembled_free(&a);
}

static void check_row(enum facet_isa isa, const struct facet_insn_row *row)
{
    struct facet_strbuf text;
    static uint8_t expected[8 * ROUNDS];
    size_t size = 0;
    unsigned rounds = 0;

    facet_strbuf_init(&text);
    for (unsigned tries = 0; rounds < ROUNDS && tries < 50 * ROUNDS; tries++) {
        struct shape s = shape_of(isa, row);
        unsigned order = s.order ? (unsigned)pick(4) : 0;
        char line[512];
        uint32_t word;

        for (unsigned i = 0; i < s.count; i++) {
            choose(&s, &s.names[i]);
        }
        word = expected_word(&s, order);
        if (facet_isa_decode(isa, word) != row) {
            continue; /* a value that the row's conditions exclude */
        }
        if (pick(2) == 0) {
            by_position(&s, order, line, sizeof line);
        } else {
            by_name(&s, order, line, sizeof line);
        }
        shake_case(line);
        facet_strbuf_printf(&text, "%s\n", line);
        for (unsigned i = 0; i < row->length; i++) {
            expected[size++] = (uint8_t)(word >> (8 * i));
        }
        rounds++;
        if (row->operand_count == 0) {
            break;
        }
    }
    CHECK_MSG(rounds > 0, "%s: no legal word found", row->mnemonic);
    check_program(isa, facet_strbuf_text(&text), expected, size, rounds);
    if (harness_failed()) {
        CHECK_MSG(
            false, "row %s (%s)\n%.400s", row->mnemonic, row->syntax, facet_strbuf_text(&text));
    }
    facet_strbuf_free(&text);
}

static void check_isa(enum facet_isa isa)
{
    size_t rows = facet_isa_row_count[isa];

    CHECK(rows > 200);
    for (size_t i = 0; i < rows && !harness_failed(); i++) {
        check_row(isa, &facet_isa_rows[isa][i]);
    }
}

TEST(every_xphmg_row, "")
{
    check_isa(FACET_ISA_XPHMG);
}

TEST(every_tile_row, "")
{
    check_isa(FACET_ISA_TILE);
}

/* Random bytes of any length: text and back. */
static void check_bytes(enum facet_isa isa, const uint8_t *bytes, size_t size)
{
    struct facet_object *object = NULL;
    struct facet_strbuf out;
    struct facet_error err;
    struct assembled a;

    CHECK_EQ(facet_object_from_bytes(isa, bytes, size, 0x80001000, &object, &err), FACET_OK);
    facet_strbuf_init(&out);
    CHECK_EQ(facet_disassemble(object, "bytes", &out, &err), FACET_OK);
    a = assemble_text(isa, facet_strbuf_text(&out));
    if (!CHECK_MSG(a.status == FACET_OK,
                   "%s (%s)",
                   first_error(&a),
                   a.result.diags.count != 0 ? a.result.diags.items[0].source : "") ||
        !CHECK(a.size == size && (size == 0 || memcmp(a.bytes, bytes, size) == 0))) {
        for (size_t i = 0; i < size && i < a.size; i++) {
            if (a.bytes[i] != bytes[i]) {
                printf("differs at %zu\n", i);
                break;
            }
        }
    }
    facet_strbuf_free(&out);
    facet_object_free(object);
    assembled_free(&a);
}

static void check_random_bytes(enum facet_isa isa, unsigned rounds)
{
    for (unsigned round = 0; round < rounds && !harness_failed(); round++) {
        size_t size = pick(600);
        uint8_t *bytes = malloc(size + 1);

        if (bytes == NULL) {
            return;
        }
        for (size_t i = 0; i < size; i++) {
            bytes[i] = (uint8_t)harness_random();
        }
        /* Most random words are illegal: turn many into rows with random fields. */
        for (size_t i = 0; i + 4 <= size; i += 4) {
            if (pick(4) != 0) {
                const struct facet_insn_row *row =
                    &facet_isa_rows[isa][pick(facet_isa_row_count[isa])];
                uint32_t word = ((uint32_t)harness_random() & ~row->mask) | row->match;

                for (unsigned k = 0; k < row->length; k++) {
                    bytes[i + k] = (uint8_t)(word >> (8 * k));
                }
            } else if (pick(4) == 0) {
                memset(bytes + i, 0, size - i < 40 ? size - i : 40);
            }
        }
        check_bytes(isa, bytes, size);
        free(bytes);
    }
}

TEST(random_bytes_xphmg, "")
{
    check_random_bytes(FACET_ISA_XPHMG, harness_long() ? 20000 : 1500);
}

TEST(random_bytes_tile, "")
{
    check_random_bytes(FACET_ISA_TILE, harness_long() ? 20000 : 1500);
}

/* Programs with sections and symbols: the second ELF file equals the first, byte for byte. */
static void random_program(enum facet_isa isa, struct facet_strbuf *text)
{
    static const char *const sections[] = {".text",
                                           ".data",
                                           ".rodata",
                                           ".bss",
                                           ".section .text.hot",
                                           ".section .weird, \"aw\", @progbits",
                                           ".section \"odd name\", \"a\""};
    unsigned labels = 0, pieces = 4 + (unsigned)pick(10);

    facet_strbuf_puts(text, "    .file \"p.s\"\n    .globl g0\n");
    for (unsigned i = 0; i < pieces; i++) {
        unsigned which = (unsigned)pick(7);
        bool code = which == 0 || which == 4, room = which == 3;
        unsigned lines = 1 + (unsigned)pick(12);

        facet_strbuf_printf(text, "    %s\n", sections[which]);
        if (code) {
            facet_strbuf_puts(text, "    .balign 4\n");
        }
        for (unsigned k = 0; k < lines; k++) {
            uint64_t kind = pick(8);

            if (kind == 0) {
                facet_strbuf_printf(text, "%c%u:\n", pick(2) == 0 ? 'g' : 'l', labels++);
            } else if (kind == 1 && labels > 0) {
                facet_strbuf_printf(text, "    .type l%u, @function\n", (unsigned)pick(labels));
            } else if (room) {
                facet_strbuf_printf(text, "    .zero %u\n", (unsigned)pick(50));
            } else if (code) {
                const struct facet_insn_row *row =
                    &facet_isa_rows[isa][pick(facet_isa_row_count[isa])];
                uint32_t word = ((uint32_t)harness_random() & ~row->mask) | row->match;

                facet_strbuf_printf(text,
                                    row->length == 2 ? "    .half 0x%x, 1\n" : "    .word 0x%x\n",
                                    row->length == 2 ? word & 0xFFFF : word);
            } else {
                static const char *const data[] = {"    .byte 1, 2, 3\n",
                                                   "    .dword . , 5\n",
                                                   "    .asciz \"a\\n\\\"b\"\n",
                                                   "    .zero 37\n",
                                                   "    .balign 8\n"};
                facet_strbuf_puts(text, data[pick(5)]);
            }
        }
    }
    facet_strbuf_puts(text, "    .set absolute, 0x1234\n    .size g0, 12\n");
}

static void check_programs(enum facet_isa isa)
{
    for (unsigned round = 0; round < 200 && !harness_failed(); round++) {
        struct facet_strbuf text, out;
        struct facet_object *object = NULL;
        struct assembled a, b;
        struct facet_error err;
        uint8_t *first = NULL, *second = NULL;
        size_t first_size = 0, second_size = 0;

        facet_strbuf_init(&text);
        facet_strbuf_init(&out);
        random_program(isa, &text);
        a = assemble_text(isa, facet_strbuf_text(&text));
        CHECK_MSG(a.status == FACET_OK, "%s\n%s", first_error(&a), facet_strbuf_text(&text));
        if (a.status == FACET_OK) {
            CHECK_EQ(facet_elf_write(a.result.object, &first, &first_size, &err), FACET_OK);
            CHECK_EQ(facet_elf_read(first, first_size, &object, &err), FACET_OK);
            CHECK_EQ(facet_disassemble(object, "p", &out, &err), FACET_OK);
            b = assemble_text(isa, facet_strbuf_text(&out));
            CHECK_MSG(b.status == FACET_OK, "%s\n%s", first_error(&b), facet_strbuf_text(&out));
            if (b.status == FACET_OK) {
                CHECK_EQ(facet_elf_write(b.result.object, &second, &second_size, &err), FACET_OK);
                CHECK_MSG(first_size == second_size && memcmp(first, second, first_size) == 0,
                          "the files differ:\n%s\n--\n%s",
                          facet_strbuf_text(&text),
                          facet_strbuf_text(&out));
            }
            assembled_free(&b);
        }
        facet_object_free(object);
        free(first);
        free(second);
        facet_strbuf_free(&text);
        facet_strbuf_free(&out);
        assembled_free(&a);
    }
}

TEST(programs_xphmg, "")
{
    check_programs(FACET_ISA_XPHMG);
}

TEST(programs_tile, "")
{
    check_programs(FACET_ISA_TILE);
}
