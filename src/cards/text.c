/* Reference cards as text: the members of a record under their headings, tables, wrapped prose. */
#include "cards/places.h"

#include <string.h>

enum { LINE_WIDTH = 98, MANY_ROWS = 40, MANY_NAMES = 60 };

void facet_card_wrap(struct facet_strbuf *out, unsigned indent, const char *text)
{
    while (*text != '\0') {
        size_t room = LINE_WIDTH - indent, n = strcspn(text, "\n");
        if (n > room) {
            n = room;
            while (n > 0 && text[n] != ' ') {
                n--;
            }
            if (n == 0) { /* one long word */
                n = strcspn(text, " \n");
            }
        }
        facet_strbuf_printf(out, "%*s%.*s\n", (int)indent, "", (int)n, text);
        text += n;
        if (*text == ' ' || *text == '\n') {
            text++;
        }
    }
}

/* -- Bit diagram ----------------------------------------------------------------------------------
 */

struct cell {
    unsigned hi, lo;
    char text[40];
};

static const struct facet_operand *
operand_at(const struct facet_insn_row *row, unsigned bit, const struct facet_piece **piece)
{
    for (unsigned i = 0; i < row->operand_count; i++) {
        for (unsigned p = 0; p < row->operands[i].piece_count; p++) {
            *piece = &row->operands[i].pieces[p];
            if (bit >= (*piece)->word_lo && bit < (unsigned)(*piece)->word_lo + (*piece)->width) {
                return &row->operands[i];
            }
        }
    }
    *piece = NULL;
    return NULL;
}

/* Cells from the highest bit down: pieces of fields, runs of fixed bits. */
static unsigned cells_of(const struct facet_insn_row *row, struct cell cells[32])
{
    unsigned count = 0, bit = 8u * row->length;

    while (bit > 0) {
        const struct facet_piece *piece, *other;
        const struct facet_operand *o = operand_at(row, bit - 1, &piece);
        struct cell *cell = &cells[count++];
        cell->hi = bit - 1;
        if (o != NULL) {
            bit = piece->word_lo;
            if (o->piece_count == 1 && piece->value_lo == 0) {
                (void)snprintf(cell->text, sizeof cell->text, "%s", o->name);
            } else if (piece->width == 1) {
                (void)snprintf(cell->text, sizeof cell->text, "%s[%u]", o->name, piece->value_lo);
            } else {
                (void)snprintf(cell->text,
                               sizeof cell->text,
                               "%s[%u:%u]",
                               o->name,
                               piece->value_lo + piece->width - 1u,
                               piece->value_lo);
            }
        } else {
            size_t n = 0;
            while (bit > 0 && operand_at(row, bit - 1, &other) == NULL) {
                bit--;
                cell->text[n++] = (char)('0' + (row->match >> bit & 1));
            }
            cell->text[n] = '\0';
        }
        cell->lo = bit;
    }
    return count;
}

static void put_diagram(struct facet_strbuf *out, const struct facet_insn_row *row)
{
    struct cell cells[32];
    unsigned count = cells_of(row, cells), widths[32];
    char number[2][8];

    for (unsigned i = 0; i < count; i++) {
        unsigned digits = cells[i].hi == cells[i].lo
                              ? (cells[i].hi > 9 ? 2 : 1)
                              : (cells[i].hi > 9 ? 2 : 1) + 1 + (cells[i].lo > 9 ? 2 : 1);
        unsigned text = (unsigned)strlen(cells[i].text);
        widths[i] = text > digits ? text : digits;
    }
    facet_strbuf_puts(out, " ");
    for (unsigned i = 0; i < count; i++) {
        (void)snprintf(number[0], sizeof number[0], "%u", cells[i].hi);
        (void)snprintf(number[1], sizeof number[1], "%u", cells[i].lo);
        if (cells[i].hi == cells[i].lo) {
            facet_strbuf_printf(out, "   %-*s", i + 1 < count ? (int)widths[i] : 0, number[0]);
        } else {
            int gap = (int)(widths[i] - strlen(number[0]));
            facet_strbuf_printf(out, "   %s%*s", number[0], gap, number[1]);
        }
    }
    for (unsigned line = 0; line < 3; line++) {
        facet_strbuf_puts(out, "\n  ");
        for (unsigned i = 0; i < count; i++) {
            if (line == 1) {
                facet_strbuf_printf(out, "| %-*s ", (int)widths[i], cells[i].text);
            } else {
                facet_strbuf_putc(out, '+');
                for (unsigned k = 0; k < widths[i] + 2; k++) {
                    facet_strbuf_putc(out, '-');
                }
            }
        }
        facet_strbuf_putc(out, line == 1 ? '|' : '+');
    }
    facet_strbuf_puts(out, "\n");
}

/* -- Members of a record --------------------------------------------------------------------------
 */

static const char *string_of(const json_t *record, const char *key)
{
    const char *text = json_string_value(json_object_get(record, key));

    return text != NULL ? text : "";
}

static int number_of(const json_t *record, const char *key)
{
    return (int)json_integer_value(json_object_get(record, key));
}

static bool is_kind(const json_t *record, const char *kind)
{
    return strcmp(string_of(record, "kind"), kind) == 0;
}

static void put_prose(struct facet_strbuf *out, const json_t *value, const json_t *record)
{
    (void)record;
    facet_card_wrap(out, 2, json_string_value(value));
}

/* The body with its lines joined again: a newline before spaces is only where the file was wrapped.
 */
static void put_body(struct facet_strbuf *out, const json_t *value, const json_t *record)
{
    const char *text = json_string_value(value);
    struct facet_strbuf line;

    (void)record;
    facet_strbuf_init(&line);
    for (const char *at = text; *at != '\0'; at++) {
        if (at[0] == '\n' && at[1] == ' ') {
            facet_strbuf_putc(&line, ' ');
            at += strspn(at + 1, " ");
        } else {
            facet_strbuf_putc(&line, *at);
        }
    }
    out->failed |= line.failed;
    facet_card_wrap(out, 2, facet_strbuf_text(&line));
    facet_strbuf_free(&line);
}

/* The cells of a list of objects in columns; the last one is prose. */
static void put_columns(struct facet_strbuf *out, const json_t *list, const char *const *keys)
{
    int widths[8] = {0}, indent;
    size_t i, last = 0;
    json_t *row;

    while (keys[last + 1] != NULL) {
        last++;
    }
    json_array_foreach(list, i, row)
    {
        for (size_t k = 0; k < last; k++) {
            int n = (int)strlen(string_of(row, keys[k]));
            widths[k] = n > widths[k] ? n : widths[k];
        }
    }
    json_array_foreach(list, i, row)
    {
        struct facet_strbuf line;
        size_t start = out->length;
        size_t used;
        const char *prose;

        indent = 2;
        for (size_t k = 0; k < last; k++) {
            facet_strbuf_printf(
                out, "%s%-*s", k == 0 ? "  " : " ", widths[k], string_of(row, keys[k]));
            indent += widths[k] + 1;
        }
        facet_strbuf_init(&line);
        facet_card_wrap(&line, indent < 60 ? (unsigned)indent : 60, string_of(row, keys[last]));
        used = out->length - start;
        prose = facet_strbuf_text(&line);
        facet_strbuf_puts(out, strlen(prose) > used && indent < 60 ? prose + used : "\n");
        out->failed |= line.failed;
        facet_strbuf_free(&line);
    }
}

static void put_operand(struct facet_strbuf *out, const json_t *o, int bits_width)
{
    bool written = json_is_true(json_object_get(o, "written"));
    json_t *symbols = json_object_get(o, "symbols"), *value;
    const char *name, *gap = "";

    facet_strbuf_printf(out,
                        "  %-10s %-*s %s",
                        string_of(o, "name"),
                        bits_width,
                        string_of(o, "bits"),
                        written ? string_of(o, "meaning") : "not written, ignored");
    if (json_is_true(json_object_get(o, "optional"))) {
        facet_strbuf_printf(out, "; default %d", number_of(o, "default"));
    }
    if (string_of(o, "second_name")[0] != '\0') {
        facet_strbuf_printf(out, "; also called %s", string_of(o, "second_name"));
    }
    facet_strbuf_putc(out, '\n');
    if (json_object_size(symbols) > 0) {
        facet_strbuf_printf(out, "  %-10s %-*s ", "", bits_width, "");
        json_object_foreach(symbols, name, value)
        {
            facet_strbuf_printf(out, "%s%d %s", gap, (int)json_integer_value(value), name);
            gap = ", ";
        }
        facet_strbuf_putc(out, '\n');
    }
}

/* The operands of an instruction; those of an alias are part of its syntax. */
static void put_operands(struct facet_strbuf *out, const json_t *value, const json_t *record)
{
    int width = 5;
    size_t i;
    json_t *o;

    (void)record;
    json_array_foreach(value, i, o)
    {
        int n = (int)strlen(string_of(o, "bits"));
        width = n > width ? n : width;
    }
    json_array_foreach(value, i, o)
    {
        put_operand(out, o, width);
    }
}

/* Rows of a table whose meaning is followed by what limits it: "; legal: 0..6; needs: ..." */
static void put_noted(struct facet_strbuf *out, const json_t *list, const char *const *columns)
{
    static const char *const notes[] = {"legal", "needs", "place", "default"};
    json_t *rows = json_array(), *entry;
    size_t i;

    json_array_foreach(list, i, entry)
    {
        json_t *row = json_copy(entry);
        struct facet_strbuf text;

        facet_strbuf_init(&text);
        facet_strbuf_puts(&text, string_of(entry, "meaning"));
        for (size_t n = 0; n < sizeof notes / sizeof notes[0]; n++) {
            const char *note = string_of(entry, notes[n]);
            if (note[0] != '\0' && strcmp(note, "-") != 0) {
                facet_strbuf_printf(&text, "; %s: %s", notes[n], note);
            }
        }
        out->failed |=
            text.failed ||
            json_object_set_new(row, "text", json_string(facet_strbuf_text(&text))) != 0 ||
            json_array_append_new(rows, row) != 0;
        facet_strbuf_free(&text);
    }
    put_columns(out, rows, columns);
    json_decref(rows);
}

static void put_fields(struct facet_strbuf *out, const json_t *value, const json_t *record)
{
    static const char *const columns[] = {"bits", "name", "access", "reset", "text", NULL};

    (void)record;
    put_noted(out, value, columns);
}

static void put_members(struct facet_strbuf *out, const json_t *value, const json_t *record)
{
    static const char *const columns[] = {"offset", "bits", "type", "name", "text", NULL};

    (void)record;
    put_noted(out, value, columns);
}

static void put_names(struct facet_strbuf *out, const json_t *value, const json_t *record)
{
    static const char *const columns[] = {"isa", "kind", "name", "text", NULL};
    json_t *some = json_array();
    size_t i;
    json_t *row;

    (void)record;
    json_array_foreach(value, i, row)
    {
        if (i < MANY_NAMES && json_array_append(some, row) != 0) {
            out->failed = true;
        }
    }
    put_columns(out, some, columns);
    if (json_array_size(value) > MANY_NAMES) {
        facet_strbuf_printf(
            out, "  ... and %zu more, all with --json\n", json_array_size(value) - MANY_NAMES);
    }
    json_decref(some);
}

static void put_address(struct facet_strbuf *out, const json_t *value, const json_t *record)
{
    const char *second = string_of(record, "second_number"), *address = json_string_value(value);

    facet_strbuf_printf(out, "  %s", address);
    if (number_of(record, "count") > 1) {
        facet_strbuf_printf(out,
                            ", %d registers, this one at %s",
                            number_of(record, "count"),
                            string_of(record, "number"));
    }
    if (second[0] != '\0') {
        facet_strbuf_printf(out,
                            ": %s for CSR instructions, %.*s through XISEL",
                            second,
                            (int)strcspn(address, ";"),
                            address);
    }
    facet_strbuf_putc(out, '\n');
}

static void put_reset(struct facet_strbuf *out, const json_t *value, const json_t *record)
{
    json_t *fields = json_object_get(record, "fields"), *field;
    bool fixed = true;
    size_t i;

    json_array_foreach(fields, i, field)
    {
        const char *reset = string_of(field, "reset");
        fixed &= reset[0] >= '0' && reset[0] <= '9';
    }
    facet_strbuf_printf(
        out,
        "  %s%s\n",
        json_string_value(value),
        fixed || is_kind(record, "field") ? "" : ", apart from fields whose reset is not a number");
}

static void put_expansion(struct facet_strbuf *out, const json_t *value, const json_t *record)
{
    const char *text = json_string_value(value);

    (void)record;
    if (strcmp(text, "@li") == 0) {
        text = "the shortest sequence of lui, addi, addiw and slli for the value";
    }
    while (*text != '\0') {
        const char *end = strstr(text, "; ");
        size_t n = end != NULL ? (size_t)(end - text) : strlen(text);
        facet_strbuf_printf(out, "  %.*s\n", (int)n, text);
        text += end != NULL ? n + 2 : n;
    }
}

static void put_example(struct facet_strbuf *out, const json_t *value, const json_t *record)
{
    (void)record;
    facet_strbuf_printf(out, "  %s  %s\n", string_of(value, "word"), string_of(value, "text"));
}

static void put_encoding(struct facet_strbuf *out, const json_t *value, const json_t *record)
{
    facet_strbuf_printf(out,
                        "  (word & %s) == %s, spec/%s:%d\n",
                        json_string_value(value),
                        string_of(record, "match"),
                        string_of(record, "file"),
                        number_of(record, "line"));
}

/* The documents that a requirement comes from, by title, and the section. */
static void put_documents(struct facet_strbuf *out, const json_t *value, const json_t *record)
{
    size_t i;
    json_t *document;

    json_array_foreach(value, i, document)
    {
        facet_card_wrap(out, 2, string_of(document, "title"));
    }
    facet_strbuf_printf(out, "  section %s\n", string_of(record, "section"));
}

static void put_sections(struct facet_strbuf *out, const json_t *value, const json_t *record)
{
    const char *section;
    json_t *ids;

    (void)record;
    json_object_foreach((json_t *)(uintptr_t)value, section, ids)
    {
        facet_strbuf_printf(out, "  %s\n", section);
        facet_card_wrap(out, 6, json_string_value(ids));
    }
}

/* A part of a page as it stands: tables and code keep their lines. */
static void put_page(struct facet_strbuf *out, const json_t *value, const json_t *record)
{
    (void)record;
    for (const char *at = json_string_value(value); *at != '\0';) {
        size_t n = strcspn(at, "\n");
        facet_strbuf_printf(out, "%s%.*s\n", n > 0 ? "  " : "", (int)n, at);
        at += n + (at[n] == '\n');
    }
}

static void put_pages(struct facet_strbuf *out, const json_t *value, const json_t *record)
{
    static const char *const columns[] = {"name", "title", NULL};

    (void)record;
    put_columns(out, value, columns);
}

/* -- Links ----------------------------------------------------------------------------------------
 */

static void put_test(struct facet_strbuf *out, const json_t *test)
{
    facet_strbuf_printf(out,
                        "%s:%s %s",
                        string_of(test, "suite"),
                        string_of(test, "case"),
                        string_of(test, "result"));
}

/* The tests of the row itself, one per line. */
static void put_proof(struct facet_strbuf *out, const json_t *value, const json_t *record)
{
    size_t i;
    json_t *test;

    (void)record;
    json_array_foreach(value, i, test)
    {
        facet_strbuf_puts(out, "  ");
        put_test(out, test);
        facet_strbuf_putc(out, '\n');
    }
    if (json_is_null(value)) {
        facet_strbuf_puts(out, "  no results here; `make test` writes them\n");
    } else if (json_array_size(value) == 0) {
        facet_strbuf_puts(out, "  none names this row\n");
    }
}

/* An ID with as much of its text as the line holds. */
static void put_row(struct facet_strbuf *out, const char *id, const char *text)
{
    size_t room = LINE_WIDTH - 13, n = strcspn(text, "\n");
    bool all = n <= room;

    if (!all) {
        n = room - 4;
        while (n > 0 && text[n] != ' ') {
            n--;
        }
    }
    facet_strbuf_printf(out, "  %-10s %.*s%s\n", id, (int)n, text, all ? "" : " ...");
}

/* "3 pass", "1 of 3 fails", "no test" */
static void put_summary(struct facet_strbuf *out, const json_t *tests)
{
    size_t passed = 0, failed = 0, i;
    json_t *test;

    json_array_foreach(tests, i, test)
    {
        passed += strcmp(string_of(test, "result"), "pass") == 0;
        failed += strcmp(string_of(test, "result"), "fail") == 0;
    }
    if (failed > 0) {
        facet_strbuf_printf(out, "%zu of %zu fail: ", failed, json_array_size(tests));
    } else if (passed > 0) {
        facet_strbuf_printf(out, "%zu pass: ", passed);
    } else {
        facet_strbuf_puts(out, "no test: ");
    }
}

/* Rows with their statements and tests; many rows with one line each. */
static void put_requirements(struct facet_strbuf *out, const json_t *value, const json_t *record)
{
    json_t *tests = json_object_get(record, "tests"), *id, *test;
    bool many = json_array_size(value) > MANY_ROWS;
    struct facet_strbuf line;
    size_t i, k;

    facet_strbuf_init(&line);
    json_array_foreach(value, i, id)
    {
        const char *text = json_string_value(id),
                   *title = facet_requirement_find(text)->requirement;
        json_t *list = json_object_get(tests, text);

        facet_strbuf_clear(&line);
        if (many) {
            if (list != NULL) {
                put_summary(&line, list);
            }
            facet_strbuf_puts(&line, title);
            put_row(out, text, facet_strbuf_text(&line));
            continue;
        }
        put_row(out, text, title);
        json_array_foreach(list, k, test)
        {
            facet_strbuf_puts(&line, k > 0 ? ", " : "");
            put_test(&line, test);
        }
        facet_card_wrap(out, 13, facet_strbuf_text(&line));
    }
    out->failed |= line.failed;
    facet_strbuf_free(&line);
}

/* For many rows: how they fare, and the tests of those that do not pass. */
static void put_tests(struct facet_strbuf *out, const json_t *value, const json_t *record)
{
    size_t passed = 0, rows = json_object_size(value), i;
    const char *id;
    json_t *list, *test;

    (void)record;
    json_object_foreach((json_t *)(uintptr_t)value, id, list)
    {
        bool good = false, bad = false;
        json_array_foreach(list, i, test)
        {
            good |= strcmp(string_of(test, "result"), "pass") == 0;
            bad |= strcmp(string_of(test, "result"), "fail") == 0;
        }
        passed += good && !bad;
        if (!good || bad) {
            facet_strbuf_printf(
                out, "  %-10s %s\n", id, bad ? "fails" : "no test of it passed here");
        }
    }
    facet_strbuf_printf(
        out, "  %zu of %zu rows pass; `facet coverage --rows` names their tests\n", passed, rows);
}

static void put_resolutions(struct facet_strbuf *out, const json_t *value, const json_t *record)
{
    size_t i;
    json_t *id;

    (void)record;
    json_array_foreach(value, i, id)
    {
        const char *text = json_string_value(id);
        put_row(out, text, facet_resolution_find(text)->title);
    }
}

/* -- Cards ----------------------------------------------------------------------------------------
 */

/* The members that have a heading, in the order of the card; a card has those of its kind. */
static const struct {
    const char *key;
    const char *heading; /* NULL: no heading line */
    void (*put)(struct facet_strbuf *out, const json_t *value, const json_t *record);
} sections[] = {
    {"value", "Value", put_prose},
    {"address", "Address", put_address},
    {"reset", "Reset", put_reset},
    {"syntax", "Syntax", put_prose},
    {"expansion", "Stands for", put_expansion},
    {"operands", "Fields", put_operands},
    {"fields", "Fields", put_fields},
    {"bits", "Fields", put_prose},
    {"semantics", "Semantics", put_prose},
    {"legal", "Legal", put_prose},
    {"example", "Example", put_example},
    {"mask", "Encoding", put_encoding},
    {"documents", "Source", put_documents},
    {"requirement", "Requirement", put_prose},
    {"observable", "Observable", put_prose},
    {"proof", "Tests", put_proof},
    {"text", NULL, put_body},
    {"meaning", NULL, put_prose},
    {"members", "Members", put_members},
    {"defined", "Defined", put_prose},
    {"author", "Author", put_prose},
    {"sections", "Requirements by section", put_sections},
    {"names", NULL, put_names},
    {"page", NULL, put_page},
    {"pages", "Pages", put_pages},
    {"requirements", "Requirements", put_requirements},
    {"tests", "Tests", put_tests},
    {"resolutions", "Resolutions", put_resolutions},
    {"places", "Places", facet_card_put_places},
};

static bool is_shown(const json_t *record, const char *key, const json_t *value)
{
    if (strcmp(key, "operands") == 0 || strcmp(key, "fields") == 0) {
        return json_array_size(value) > 0; /* an alias and an instruction have such a text, too */
    }
    if (strcmp(key, "reset") == 0) {
        return is_kind(record, "csr");
    }
    if (strcmp(key, "tests") == 0) {
        return json_object_size(value) > MANY_ROWS;
    }
    return json_is_string(value) || json_object_size(value) > 0 || json_array_size(value) > 0 ||
           strcmp(key, "proof") == 0;
}

static void put_head(struct facet_strbuf *out, const json_t *record)
{
    const char *isa = string_of(record, "isa"), *file = string_of(record, "file");
    const char *name = string_of(record, "name"), *id = string_of(record, "id");
    const char *mnemonic = string_of(record, "mnemonic"), *title = string_of(record, "title");
    const char *field = string_of(record, "field");

    if (is_kind(record, "instruction")) {
        facet_strbuf_printf(out,
                            "%s   %s instruction, %s (%s)\n",
                            mnemonic,
                            isa,
                            string_of(record, "extension"),
                            string_of(record, "extension_title"));
    } else if (is_kind(record, "operand")) {
        facet_strbuf_printf(out, "%s   %s instruction, one operand of it\n", mnemonic, isa);
    } else if (is_kind(record, "alias")) {
        facet_strbuf_printf(
            out, "%s   %s pseudo-instruction: %s\n", mnemonic, isa, string_of(record, "note"));
    } else if (is_kind(record, "csr") || is_kind(record, "field")) {
        facet_strbuf_printf(out,
                            "%s%s%s   %s CSR, %d bits, spec/%s\n",
                            name,
                            field[0] != '\0' ? "." : "",
                            field,
                            isa,
                            number_of(record, "width"),
                            file);
    } else if (is_kind(record, "requirement")) {
        facet_strbuf_printf(
            out, "%s   requirement, level %s, spec/%s\n", id, string_of(record, "level"), file);
    } else if (is_kind(record, "resolution")) {
        facet_strbuf_printf(out, "%s   resolution, spec/%s\n\n%s\n", id, file, title);
    } else if (is_kind(record, "rule")) {
        const json_t *in = json_object_get(record, "severity_in");

        facet_strbuf_printf(
            out,
            "%s   rule of facet bvh check, spec/%s\n\n%s\n\nSeverity\n  %s (radv: %s, "
            "gpurt: %s, hiprt: %s)\n",
            id,
            file,
            title,
            string_of(record, "severity"),
            string_of(in, "radv"),
            string_of(in, "gpurt"),
            string_of(in, "hiprt"));
    } else if (is_kind(record, "section")) {
        facet_strbuf_printf(
            out, "%s   section, spec/%s:%d\n\n%s\n", name, file, number_of(record, "line"), title);
    } else if (is_kind(record, "document")) {
        facet_strbuf_printf(
            out, "%s   document (%s)\n\n%s\n", name, string_of(record, "relation"), title);
    } else if (is_kind(record, "extension")) {
        facet_strbuf_printf(out, "%s   %s: %s\n", name, isa, title);
    } else if (is_kind(record, "structure") || is_kind(record, "member")) {
        facet_strbuf_printf(out,
                            "%s%s%s   %s structure, %s, %s%.0d, spec/%s:%d\n",
                            name,
                            is_kind(record, "member") ? "." : "",
                            string_of(record, "member"),
                            isa,
                            string_of(record, "size"),
                            number_of(record, "align") > 0 ? "aligned to "
                                                           : "aligned as an element",
                            number_of(record, "align"),
                            file,
                            number_of(record, "line"));
    } else if (is_kind(record, "word")) {
        facet_strbuf_printf(out, "%s   word of the glossary\n", name);
    } else {
        facet_strbuf_printf(out,
                            "%s   name that %zu rows share\n",
                            name,
                            json_array_size(json_object_get(record, "names")));
    }
}

void facet_card_text(const struct facet_card *card,
                     const struct facet_results *results,
                     struct facet_strbuf *out)
{
    json_t *record = facet_card_record(card, results);

    out->failed |= record == NULL;
    put_head(out, record);
    if (is_kind(record, "instruction") && card->item->machine < FACET_ISA_COUNT) {
        facet_strbuf_putc(out, '\n');
        put_diagram(out, &facet_isa_rows[card->item->machine][card->item->row]);
    }
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        const json_t *value = json_object_get(record, sections[i].key);
        if (value != NULL && is_shown(record, sections[i].key, value)) {
            facet_strbuf_putc(out, '\n');
            if (sections[i].heading != NULL) {
                facet_strbuf_printf(out, "%s\n", sections[i].heading);
            }
            sections[i].put(out, value, record);
        }
    }
    json_decref(record);
}
