/* See disassemble.h.
 *
 * A first walk over the code finds where its lines start and which of those places are branch
 * targets; the second walk prints. Both cut the bytes by the same rule (line_size), so a label is
 * only ever put where a line starts. */
#include "assembler/disassemble.h"

#include "assembler/lex.h"
#include "base/array.h"
#include "base/plain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ZERO_RUN = 16, DATA_LINE = 16 };

struct label {
    uint64_t address;
    uint32_t section;
    uint32_t symbol; /* index in names, or UINT32_MAX for .Lhex */
    const char *name;
};

struct dis {
    const struct facet_object *object;
    struct facet_arena arena;
    const char **names; /* of the object's symbols as the text writes them, NULL: unused */
    const char **section_names;
    struct label *labels; /* by section, then address */
    size_t label_count, label_capacity;
    uint32_t section;     /* the one being walked */
    unsigned underscores; /* in .L___hex: as many as keep it apart from the symbols */
    bool failed;
};

/* ---- names ---- */

/* Bytes beyond ASCII are letters to the assembler, but a terminal may obey them. */
static bool shows_itself(const char *name)
{
    size_t left = strlen(name), used = 1;

    while (left > 0 && used > 0) {
        used = facet_plain_length(name, left);
        name += used;
        left -= used;
    }
    return left == 0;
}

static bool is_plain(const char *name)
{
    if (!facet_lex_is(name[0], FACET_LEX_START) || strcmp(name, ".") == 0) {
        return false;
    }
    return *facet_lex_name(name) == '\0' && shows_itself(name);
}

/* As the assembler reads it: plain, or in quotes with escapes. */
static const char *written(struct dis *d, const char *name)
{
    struct facet_strbuf text;
    const char *copy;

    if (is_plain(name)) {
        return name;
    }
    facet_strbuf_init(&text);
    facet_strbuf_putc(&text, '"');
    for (size_t left = strlen(name), used; left > 0; name += used, left -= used) {
        unsigned char c = (unsigned char)*name;

        used = facet_plain_length(name, left);
        if (c < ' ') { /* no name can hold it */
            facet_strbuf_putc(&text, '?');
        } else if (used == 0) {
            facet_strbuf_printf(&text, "\\%03o", c);
        } else {
            facet_strbuf_puts(&text, c == '"' || c == '\\' ? "\\" : "");
            facet_strbuf_add(&text, name, used);
        }
        used = used != 0 ? used : 1;
    }
    facet_strbuf_putc(&text, '"');
    copy = facet_arena_copy(&d->arena, facet_strbuf_text(&text), text.length);
    d->failed = d->failed || text.failed || copy == NULL;
    facet_strbuf_free(&text);
    return copy != NULL ? copy : "";
}

struct named {
    const char *name;
    size_t index;
};

static int by_name(const void *x, const void *y)
{
    const struct named *l = x, *r = y;
    int order = strcmp(l->name, r->name);

    return order != 0 ? order : l->index < r->index ? -1 : l->index > r->index;
}

/* Equal names in a row get a number; a text has only one meaning per name. */
static void make_unique(struct dis *d, const char **names, size_t count)
{
    struct named *sorted = facet_arena_calloc(&d->arena, count + 1, sizeof *sorted);
    size_t n = 0;

    if (sorted == NULL) {
        d->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (names[i] != NULL) {
            sorted[n++] = (struct named){names[i], i};
        }
    }
    qsort(sorted, n, sizeof *sorted, by_name);
    for (size_t i = 1, first = 0; i < n; i++) {
        char suffix[32];
        size_t length = strlen(sorted[i].name);
        char *copy;

        if (strcmp(sorted[first].name, sorted[i].name) != 0) {
            first = i;
            continue;
        }
        (void)snprintf(suffix, sizeof suffix, ".dup%zu", i - first);
        copy = facet_arena_alloc(&d->arena, length + sizeof suffix, 1);
        if (copy == NULL) {
            d->failed = true;
            return;
        }
        (void)snprintf(copy, length + sizeof suffix, "%s%s", sorted[i].name, suffix);
        names[sorted[i].index] = copy;
    }
}

static void name_everything(struct dis *d)
{
    const struct facet_object *o = d->object;

    d->names = facet_arena_calloc(&d->arena, o->symbol_count + 1, sizeof *d->names);
    d->section_names =
        facet_arena_calloc(&d->arena, o->section_count + 1, sizeof *d->section_names);
    if (d->names == NULL || d->section_names == NULL) {
        d->failed = true;
        return;
    }
    for (size_t i = 0; i < o->symbol_count; i++) {
        const struct facet_object_symbol *s = &o->symbols[i];

        if (s->name[0] != '\0' && s->type != FACET_SYMBOL_SECTION && s->type != FACET_SYMBOL_FILE &&
            s->section != FACET_SYMBOL_UNDEFINED &&
            (s->section < 0 || (o->sections[s->section].flags & FACET_SECTION_ALLOC) != 0)) {
            d->names[i] = s->name;
        }
    }
    for (size_t i = 0; i < o->section_count; i++) {
        d->section_names[i] = o->sections[i].name[0] != '\0' ? o->sections[i].name : "unnamed";
    }
    make_unique(d, d->names, o->symbol_count);
    make_unique(d, d->section_names, o->section_count);
    for (size_t i = 0; i < o->symbol_count && !d->failed; i++) {
        d->names[i] = d->names[i] != NULL ? written(d, d->names[i]) : NULL;
    }
    for (size_t i = 0; i < o->section_count && !d->failed; i++) {
        d->section_names[i] = written(d, d->section_names[i]);
    }
}

/* ---- cutting bytes into lines ---- */

static uint32_t load(const struct facet_section *s, uint64_t offset, unsigned size)
{
    uint32_t word = 0;

    for (unsigned i = 0; i < size && offset + i < s->size; i++) {
        word |= (uint32_t)s->data[offset + i] << (8 * i);
    }
    return word;
}

static uint64_t zero_run(const struct facet_section *s, uint64_t offset, uint64_t limit)
{
    uint64_t n = 0;

    while (n < limit && s->data[offset + n] == 0) {
        n++;
    }
    return n;
}

static bool is_code(const struct facet_section *s)
{
    return (s->flags & FACET_SECTION_EXEC) != 0 && !s->nobits;
}

/* Bytes of the line of code at `offset`: one instruction, a datum that is none, or zeros. */
static uint64_t code_size(enum facet_isa isa, const struct facet_section *s, uint64_t offset)
{
    uint64_t rest = s->size - offset;
    unsigned length;

    if (rest >= ZERO_RUN && s->data[offset] == 0) {
        uint64_t zeros = zero_run(s, offset, rest) & ~(uint64_t)3;

        if (zeros >= ZERO_RUN) {
            return zeros;
        }
    }
    if (rest < 2) {
        return 1;
    }
    length = facet_isa_length(isa, (uint16_t)load(s, offset, 2));
    return length <= rest ? length : isa == FACET_ISA_XPHMG ? 2 : rest < 2 ? 1 : 2;
}

/* Lines of data end where a symbol stands: `limit` bytes from here. */
static uint64_t data_size(const struct facet_section *s, uint64_t offset, uint64_t limit)
{
    uint64_t zeros;

    if (s->nobits) {
        return limit;
    }
    zeros = zero_run(s, offset, limit);
    if (zeros >= ZERO_RUN) {
        return zeros;
    }
    if (limit < 4) {
        return limit;
    }
    limit = limit < DATA_LINE ? limit & ~(uint64_t)3 : DATA_LINE;
    for (uint64_t i = 4; i < limit; i += 4) { /* stop before a run of zeros */
        if (zero_run(s, offset + i, s->size - offset - i < ZERO_RUN ? 0 : ZERO_RUN) == ZERO_RUN) {
            return i;
        }
    }
    return limit;
}

/* ---- labels ---- */

static void
add_label(struct dis *d, uint64_t address, uint32_t section, uint32_t symbol, const char *name)
{
    if (!facet_array_fit(&d->labels, &d->label_capacity, d->label_count + 1, sizeof *d->labels)) {
        d->failed = true;
        return;
    }
    d->labels[d->label_count++] = (struct label){address, section, symbol, name};
}

static int by_place(const void *x, const void *y)
{
    const struct label *l = x, *r = y;

    if (l->section != r->section) {
        return l->section < r->section ? -1 : 1;
    }
    if (l->address != r->address) {
        return l->address < r->address ? -1 : 1;
    }
    return l->symbol < r->symbol ? -1 : l->symbol > r->symbol;
}

/* The first label at or after the address in that section. */
static size_t label_from(const struct dis *d, uint32_t section, uint64_t address)
{
    size_t low = 0, high = d->label_count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct label *l = &d->labels[middle];

        if (l->section < section || (l->section == section && l->address < address)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool is_at(const struct dis *d, size_t i, uint32_t section, uint64_t address)
{
    return i < d->label_count && d->labels[i].section == section && d->labels[i].address == address;
}

static void add_targets(struct dis *d, uint32_t index, uint8_t *starts)
{
    enum facet_isa isa = d->object->isa;
    const struct facet_section *s = &d->object->sections[index];

    for (uint64_t at = 0; at < s->size;) {
        uint64_t size = code_size(isa, s, at);
        uint32_t word = load(s, at, 4);
        const struct facet_insn_row *row =
            size <= 4 && size == facet_isa_length(isa, (uint16_t)word) ? facet_isa_decode(isa, word)
                                                                       : NULL;

        for (unsigned i = 0; row != NULL && i < row->operand_count; i++) {
            const struct facet_operand *o = &row->operands[i];
            uint64_t target;

            if (o->hidden || (o->kind != FACET_OPERAND_PCREL && o->kind != FACET_OPERAND_PCREL_U)) {
                continue;
            }
            target = s->address + at + (uint64_t)facet_operand_get(o, word);
            target = isa == FACET_ISA_TILE ? (uint32_t)target : target;
            if (target - s->address < s->size &&
                starts[(target - s->address) >> 3] >> ((target - s->address) & 7) & 1) {
                add_label(d, target, index, UINT32_MAX, NULL);
            }
        }
        at += size;
    }
}

static void mark_starts(const struct dis *d, uint32_t index, uint8_t *starts)
{
    const struct facet_section *s = &d->object->sections[index];

    for (uint64_t at = 0; at < s->size; at += code_size(d->object->isa, s, at)) {
        starts[at >> 3] |= (uint8_t)(1u << (at & 7));
    }
}

/* Symbols first, then targets that no symbol names. */
static void find_labels(struct dis *d)
{
    const struct facet_object *o = d->object;
    size_t kept = 0;

    for (size_t i = 0; i < o->symbol_count; i++) {
        if (strncmp(o->symbols[i].name, ".L", 2) == 0) {
            unsigned used = (unsigned)strspn(o->symbols[i].name + 2, "_");

            d->underscores = used < 7 && used >= d->underscores ? used + 1 : d->underscores;
        }
    }

    for (size_t i = 0; i < o->symbol_count; i++) {
        if (d->names[i] != NULL && o->symbols[i].section >= 0) {
            add_label(
                d, o->symbols[i].value, (uint32_t)o->symbols[i].section, (uint32_t)i, d->names[i]);
        }
    }
    for (uint32_t i = 0; i < o->section_count && !d->failed; i++) {
        const struct facet_section *s = &o->sections[i];
        uint8_t *starts;

        if (!is_code(s) || (s->flags & FACET_SECTION_ALLOC) == 0) {
            continue;
        }
        starts = calloc((size_t)(s->size / 8) + 1, 1);
        if (starts == NULL) {
            d->failed = true;
            return;
        }
        mark_starts(d, i, starts);
        add_targets(d, i, starts);
        free(starts);
    }
    if (d->label_count == 0 || d->failed) {
        return;
    }
    qsort(d->labels, d->label_count, sizeof *d->labels, by_place);
    for (size_t i = 0; i < d->label_count; i++) {
        struct label *l = &d->labels[i];

        if (l->symbol == UINT32_MAX) {
            char name[32];
            int length;

            if (kept > 0 && is_at(d, kept - 1, l->section, l->address)) {
                continue; /* named already */
            }
            length = snprintf(
                name, sizeof name, ".L%.*s%" PRIx64, (int)d->underscores, "________", l->address);
            l->name = facet_arena_copy(&d->arena, name, (size_t)length);
            d->failed = d->failed || l->name == NULL;
        }
        d->labels[kept++] = *l;
    }
    d->label_count = kept;
}

static const char *label_at(void *context, uint64_t address)
{
    const struct dis *d = context;
    size_t i = label_from(d, d->section, address);

    if (is_at(d, i, d->section, address)) {
        return d->labels[i].name;
    }
    return NULL;
}

/* ---- the walk ---- */

static void
data_text(const struct facet_section *s, uint64_t offset, uint64_t size, struct facet_strbuf *out)
{
    if (s->nobits || (size >= ZERO_RUN && zero_run(s, offset, size) == size)) {
        facet_strbuf_printf(out, ".zero %" PRIu64, size);
    } else if (size % 4 == 0) {
        for (uint64_t i = 0; i < size; i += 4) {
            facet_strbuf_printf(
                out, "%s0x%08" PRIx32, i == 0 ? ".word " : ", ", load(s, offset + i, 4));
        }
    } else {
        for (uint64_t i = 0; i < size; i++) {
            facet_strbuf_printf(out, "%s0x%02x", i == 0 ? ".byte " : ", ", s->data[offset + i]);
        }
    }
}

static void code_text(struct dis *d,
                      const struct facet_section *s,
                      uint64_t offset,
                      struct facet_dis_line *line,
                      struct facet_strbuf *text,
                      struct facet_strbuf *note)
{
    enum facet_isa isa = d->object->isa;
    struct facet_symbolizer symbolizer = {label_at, d};
    char buffer[512];

    if (line->size > 4 || line->size != facet_isa_length(isa, (uint16_t)line->word)) {
        if (line->size == 2) {
            facet_strbuf_printf(text, ".half 0x%04" PRIx32, line->word & 0xFFFF);
        } else {
            data_text(s, offset, line->size, text);
        }
        return;
    }
    line->row = facet_isa_decode(isa, line->word);
    (void)facet_isa_print(isa, line->word, line->address, &symbolizer, buffer, sizeof buffer);
    if (line->row != NULL && facet_isa_has_hidden_bits(line->row, line->word)) {
        facet_strbuf_printf(
            text, line->size == 2 ? ".half 0x%04" PRIx32 : ".word 0x%08" PRIx32, line->word);
        facet_strbuf_puts(note, buffer);
        line->note = facet_strbuf_text(note);
    } else {
        facet_strbuf_puts(text, buffer);
    }
}

static bool walk_section(struct dis *d, uint32_t index, facet_dis_visitor *visit, void *context)
{
    const struct facet_section *s = &d->object->sections[index];
    struct facet_strbuf text, note;
    bool go_on = true;

    facet_strbuf_init(&text);
    facet_strbuf_init(&note);
    d->section = index;
    for (uint64_t at = 0; at < s->size && go_on && !d->failed;) {
        size_t next = label_from(d, index, s->address + at);
        struct facet_dis_line line = {.section = s, .address = s->address + at};
        uint64_t limit = s->size - at;

        if (is_at(d, next, index, line.address)) {
            line.label = d->labels[next].name;
            while (is_at(d, next, index, line.address)) {
                next++;
            }
        }
        facet_strbuf_clear(&text);
        facet_strbuf_clear(&note);
        if (is_code(s)) {
            line.size = code_size(d->object->isa, s, at);
            line.word = load(s, at, line.size < 4 ? (unsigned)line.size : 4);
            code_text(d, s, at, &line, &text, &note);
        } else {
            if (next < d->label_count && d->labels[next].section == index &&
                d->labels[next].address - line.address < limit) {
                limit = d->labels[next].address - line.address;
            }
            line.size = data_size(s, at, limit);
            line.word = s->nobits ? 0 : load(s, at, line.size < 4 ? (unsigned)line.size : 4);
            data_text(s, at, line.size, &text);
        }
        d->failed = d->failed || text.failed || note.failed;
        line.text = facet_strbuf_text(&text);
        go_on = !d->failed && visit(context, &line);
        at += line.size;
    }
    facet_strbuf_free(&text);
    facet_strbuf_free(&note);
    return go_on;
}

static void prepare(struct dis *d, const struct facet_object *object)
{
    memset(d, 0, sizeof *d);
    d->object = object;
    facet_arena_init(&d->arena);
    name_everything(d);
    if (!d->failed) {
        find_labels(d);
    }
}

static enum facet_status release(struct dis *d, struct facet_error *err)
{
    bool failed = d->failed;

    free(d->labels);
    facet_arena_free(&d->arena);
    return failed ? facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory") : FACET_OK;
}

enum facet_status facet_dis_walk(const struct facet_object *object,
                                 facet_dis_visitor *visit,
                                 void *context,
                                 struct facet_error *err)
{
    struct dis d;

    prepare(&d, object);
    for (uint32_t i = 0; i < object->section_count && !d.failed; i++) {
        if ((object->sections[i].flags & FACET_SECTION_ALLOC) != 0 &&
            !walk_section(&d, i, visit, context)) {
            break;
        }
    }
    return release(&d, err);
}

/* ---- the text ---- */

struct printing {
    struct dis *d;
    struct facet_strbuf *out;
    size_t next; /* label that comes next */
};

/* Symbols of the section before or at `address`: as labels where the line starts, by distance where
 * they stand inside or outside. */
static void put_labels(struct printing *p, uint32_t section, uint64_t address, uint64_t here)
{
    struct dis *d = p->d;

    for (; p->next < d->label_count && d->labels[p->next].section == section &&
           d->labels[p->next].address <= address;
         p->next++) {
        const struct label *l = &d->labels[p->next];

        if (l->address == here) {
            facet_strbuf_printf(p->out, "%s:\n", l->name);
        } else if (l->symbol != UINT32_MAX) {
            bool before = l->address < here;

            facet_strbuf_printf(p->out,
                                "    .set %s, . %c %" PRIu64 "\n",
                                l->name,
                                before ? '-' : '+',
                                before ? here - l->address : l->address - here);
        }
    }
}

static bool put_line(void *context, const struct facet_dis_line *line)
{
    struct printing *p = context;
    uint32_t section = (uint32_t)(line->section - p->d->object->sections);

    put_labels(p, section, line->address + line->size - 1, line->address);
    if (is_code(line->section) && line->size <= 4) {
        facet_strbuf_printf(p->out,
                            "    %-40s # %" PRIx64 ": %0*" PRIx32 "%s%s\n",
                            line->text,
                            line->address,
                            (int)(2 * line->size),
                            line->word,
                            line->note != NULL ? "  " : "",
                            line->note != NULL ? line->note : "");
    } else {
        facet_strbuf_printf(p->out, "    %s\n", line->text);
    }
    return true;
}

static void put_symbol(struct dis *d, size_t index, struct facet_strbuf *out)
{
    static const char *const bindings[] = {".local", ".globl", ".weak"};
    const struct facet_object_symbol *s = &d->object->symbols[index];
    const char *name = d->names[index];

    if (s->type == FACET_SYMBOL_FILE && s->name[0] != '\0') {
        const char *file = written(d, s->name);

        facet_strbuf_printf(out, file[0] == '"' ? "    .file %s\n" : "    .file \"%s\"\n", file);
        return;
    }
    if (name == NULL) {
        return;
    }
    facet_strbuf_printf(out, "    %s %s\n", bindings[s->binding % 3], name);
    if (s->type == FACET_SYMBOL_FUNC || s->type == FACET_SYMBOL_OBJECT) {
        facet_strbuf_printf(
            out, "    .type %s, @%s\n", name, s->type == FACET_SYMBOL_FUNC ? "function" : "object");
    }
    if (s->size != 0) {
        facet_strbuf_printf(out, "    .size %s, %" PRIu64 "\n", name, s->size);
    }
    if (s->section == FACET_SYMBOL_ABSOLUTE) {
        facet_strbuf_printf(out, "    .set %s, 0x%" PRIx64 "\n", name, s->value);
    }
}

static void put_section(struct dis *d, uint32_t index, struct facet_strbuf *out)
{
    const struct facet_section *s = &d->object->sections[index];

    facet_strbuf_printf(out,
                        "\n    .section %s, \"a%s%s\", @%s\n",
                        d->section_names[index],
                        (s->flags & FACET_SECTION_WRITE) != 0 ? "w" : "",
                        (s->flags & FACET_SECTION_EXEC) != 0 ? "x" : "",
                        s->nobits ? "nobits" : "progbits");
    if (!d->object->relocatable) {
        facet_strbuf_printf(out, "    .address 0x%" PRIx64 "\n", s->address);
    }
    if (s->align > 1 && s->align <= (1u << 20)) {
        facet_strbuf_printf(out, "    .balign %" PRIu64 "\n", s->align);
    }
}

enum facet_status facet_disassemble(const struct facet_object *object,
                                    const char *name,
                                    struct facet_strbuf *out,
                                    struct facet_error *err)
{
    struct dis d;
    struct printing p = {&d, out, 0};

    prepare(&d, object);
    facet_strbuf_printf(out,
                        "# %s: %s%s\n    .entry 0x%" PRIx64 "\n",
                        name,
                        facet_isa_name[object->isa],
                        object->relocatable ? ", relocatable: relocations are not applied" : "",
                        object->entry);
    for (size_t i = 0; i < object->symbol_count && !d.failed; i++) {
        put_symbol(&d, i, out);
    }
    for (uint32_t i = 0; i < object->section_count && !d.failed; i++) {
        const struct facet_section *s = &object->sections[i];

        if ((s->flags & FACET_SECTION_ALLOC) == 0) {
            continue;
        }
        put_section(&d, i, out);
        p.next = label_from(&d, i, 0);
        (void)walk_section(&d, i, put_line, &p);
        put_labels(&p, i, UINT64_MAX, s->address + s->size); /* at and after the end */
    }
    d.failed = d.failed || out->failed;
    return release(&d, err);
}
