/* Reference cards as records: what text and JSON show, in the order in which they show it. A failed
 * allocation anywhere shows as NULL at the end. */
#include "cards/card.h"

#include "cards/places.h"
#include "cards/rule.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {"xreg",
                                         "xreg_c",
                                         "freg",
                                         "freg_c",
                                         "xfreg",
                                         "sreg",
                                         "tfreg",
                                         "vreg",
                                         "creg",
                                         "uimm",
                                         "simm",
                                         "pcrel",
                                         "csr",
                                         "enum",
                                         "flags",
                                         "letters",
                                         "pcrel_u",
                                         "sp"};
static const char *const codec_names[] = {"plain", "minus_one", "step", "modulo", "high20"};
static const char *const access_names[] = {"RO", "RW", "W1C", "WARL", "W1A", "WC"};

static json_t *hex(uint64_t value, int digits)
{
    return json_sprintf("0x%0*llx", digits, (unsigned long long)value);
}

static int append(json_t *array, json_t *value)
{
    return json_array_append_new(array, value);
}

/* Sets a member; a failure takes the whole record away. */
static json_t *with(json_t *record, const char *key, json_t *value)
{
    if (record != NULL && json_object_set_new(record, key, value) != 0) {
        json_decref(record);
        return NULL;
    }
    if (record == NULL) {
        json_decref(value);
    }
    return record;
}

/* -- Links --------------------------------------------------------------------------------- */

static void mark(bool *rows, const uint16_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        rows[list[i]] = true;
    }
}

/* The rows that speak of the card's item, or of one of the items that share the name. */
static bool *linked(const struct facet_card *card, bool resolutions)
{
    size_t from = 0, count = facet_requirement_row_count + facet_resolution_row_count;
    bool *rows = calloc(count, sizeof rows[0]);
    const struct facet_item *item =
        card->item != NULL ? card->item : facet_card_next_part(card, &from);

    while (rows != NULL && item != NULL) {
        mark(rows,
             resolutions ? item->resolutions : item->requirements,
             resolutions ? item->resolution_count : item->requirement_count);
        item = card->item != NULL ? NULL : facet_card_next_part(card, &from);
    }
    return rows;
}

/* "requirements" and "resolutions": lists of IDs; "tests": an object from ID to tests. */
static json_t *
with_links(json_t *record, const struct facet_card *card, const struct facet_results *results)
{
    json_t *requirements = json_array(), *resolutions = json_array(), *tests = json_object();
    bool *requires = linked(card, false), *resolves = linked(card, true);
    bool ok = requires != NULL && resolves != NULL;

    for (size_t i = 0; ok && i < facet_requirement_row_count; i++) {
        const struct facet_requirement_row *row = &facet_requirement_rows[i];
        if (requires[i]) {
            ok = append(requirements, json_string(row->id)) == 0 &&
                 (results == NULL ||
                  json_object_set_new(tests, row->id, facet_card_tests(results, row)) == 0);
        }
    }
    for (size_t i = 0; ok && i < facet_resolution_row_count; i++) {
        if (resolves[i]) {
            ok = append(resolutions, json_string(facet_resolution_rows[i].id)) == 0;
        }
    }
    free(requires);
    free(resolves);
    if (!ok) {
        json_decref(requirements);
        json_decref(resolutions);
        json_decref(tests);
        return with(record, "requirements", NULL);
    }
    record = with(with(record, "requirements", requirements), "resolutions", resolutions);
    if (results != NULL) {
        return with(record, "tests", tests);
    }
    json_decref(tests);
    return record;
}

/* "pages": the sections of the semantics that are about the item, by name and heading. */
static json_t *with_pages(json_t *record, const struct facet_item *item)
{
    json_t *list = json_array();

    for (unsigned i = 0; item != NULL && i < item->section_count; i++) {
        const struct facet_section_row *row = &facet_section_rows[item->sections[i]];
        if (append(list, json_pack("{s:s, s:s}", "name", row->name, "title", row->title)) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return with(record, "pages", list);
}

/* -- Instructions -------------------------------------------------------------------------- */

static json_t *symbols(const struct facet_operand *o)
{
    json_t *object = json_object();

    for (const struct facet_symbol *s = o->symbols; s != NULL && s->name != NULL; s++) {
        if (json_object_set_new(object, s->name, json_integer(s->value)) != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static json_t *pieces(const struct facet_operand *o)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < o->piece_count; i++) {
        const struct facet_piece *p = &o->pieces[i];
        json_t *piece = json_pack(
            "{s:i, s:i, s:i}", "word_lo", p->word_lo, "width", p->width, "value_lo", p->value_lo);
        if (append(list, piece) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *forbidden(const struct facet_operand *o)
{
    json_t *list = json_array();

    for (int v = 0; v < 32; v++) {
        if (!facet_operand_legal(o, v) && append(list, json_integer(v)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* "31:25 11:7" */
static json_t *bits_of(const struct facet_operand *o)
{
    char text[64] = "-";
    size_t used = 0;

    for (unsigned p = 0; p < o->piece_count && used < sizeof text; p++) {
        unsigned lo = o->pieces[p].word_lo, hi = lo + o->pieces[p].width - 1u;
        const char *gap = p > 0 ? " " : "";
        int n = hi == lo ? snprintf(text + used, sizeof text - used, "%s%u", gap, hi)
                         : snprintf(text + used, sizeof text - used, "%s%u:%u", gap, hi, lo);
        used += (size_t)n;
    }
    return json_string(text);
}

static json_t *operand_record(const struct facet_operand *o)
{
    return json_pack("{s:s, s:o, s:s, s:s, s:b, s:b, s:o?, s:s?, s:s, s:o, s:o, s:o}",
                     "name",
                     o->name,
                     "bits",
                     bits_of(o),
                     "kind",
                     kind_names[o->kind],
                     "codec",
                     codec_names[o->codec],
                     "written",
                     !o->hidden,
                     "optional",
                     o->optional,
                     "default",
                     o->optional ? json_integer(o->default_value) : NULL,
                     "second_name",
                     o->second_name,
                     "meaning",
                     o->meaning,
                     "pieces",
                     pieces(o),
                     "forbidden",
                     forbidden(o),
                     "symbols",
                     symbols(o));
}

static json_t *operands(const struct facet_insn_row *row, const struct facet_operand *only)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < row->operand_count; i++) {
        if ((only == NULL || only == &row->operands[i]) &&
            append(list, operand_record(&row->operands[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *legality(const struct facet_insn_row *row)
{
    struct facet_strbuf text;
    json_t *value;

    facet_strbuf_init(&text);
    for (unsigned i = 0; i < row->operand_count; i++) {
        const struct facet_operand *o = &row->operands[i];
        for (int v = 0; v < 32; v++) {
            if (!facet_operand_legal(o, v) && (v > 0 || o->nonzero)) {
                facet_strbuf_printf(
                    &text, "%s%s is not %d", text.length > 0 ? ", " : "when ", o->name, v);
            }
        }
    }
    if (text.length == 0) {
        facet_strbuf_puts(
            &text, row->operand_count == 0 ? "this one word" : "with every value of its fields");
    }
    value = text.failed ? NULL : json_string(facet_strbuf_text(&text));
    facet_strbuf_free(&text);
    return value;
}

static const char *title_of(const char *extension)
{
    for (size_t i = 0; i < facet_extension_row_count; i++) {
        if (strcmp(facet_extension_rows[i].name, extension) == 0) {
            return facet_extension_rows[i].title;
        }
    }
    return "";
}

static json_t *insn_record(const struct facet_card *card)
{
    enum facet_isa isa = (enum facet_isa)card->item->machine;
    const struct facet_insn_row *row = &facet_isa_rows[isa][card->item->row];
    uint32_t word = facet_card_example(row, isa);
    int digits = 2 * row->length;
    char text[160];

    facet_isa_print(isa, word, 0, NULL, text, sizeof text);
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:o, s:s, s:o, s:{s:o, s:s}, s:o, s:o, s:s, s:i}",
        "kind",
        card->operand != NULL ? "operand" : "instruction",
        "mnemonic",
        row->mnemonic,
        "isa",
        facet_isa_name[isa],
        "extension",
        row->extension,
        "extension_title",
        title_of(row->extension),
        "length",
        row->length,
        "syntax",
        row->syntax,
        "fields",
        row->fields,
        "operands",
        operands(row, card->operand),
        "semantics",
        row->semantics,
        "legal",
        legality(row),
        "example",
        "word",
        hex(word, digits),
        "text",
        text,
        "mask",
        hex(row->mask, digits),
        "match",
        hex(row->match, digits),
        "file",
        row->file,
        "line",
        row->line);
}

/* "0x0000000006030b00d3e04010": the dwords as one number */
static json_t *dwords(const uint32_t *words, unsigned count)
{
    char text[32] = "0x";

    for (unsigned i = 0; i < count; i++) {
        (void)snprintf(text + 2 + 8 * (size_t)i, 9, "%08x", words[count - 1 - i]);
    }
    return json_string(text);
}

static json_t *unit_insn_record(const struct facet_card *card)
{
    const struct facet_unit_insn *row = &facet_unit_insns[card->item->row];

    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:s, s:o, s:o, s:s, s:i}",
                     "kind",
                     "instruction",
                     "mnemonic",
                     row->mnemonic,
                     "isa",
                     facet_item_machine_name[FACET_ITEM_GFX12],
                     "extension",
                     card->item->group,
                     "extension_title",
                     "BVH intersection",
                     "length",
                     4 * row->dwords,
                     "syntax",
                     row->syntax,
                     "bits",
                     row->fields,
                     "semantics",
                     row->semantics,
                     "mask",
                     dwords(row->mask, row->dwords),
                     "match",
                     dwords(row->match, row->dwords),
                     "file",
                     row->file,
                     "line",
                     row->line);
}

static json_t *alias_record(const struct facet_card *card)
{
    const struct facet_alias_row *alias = &facet_isa_aliases[card->item->machine][card->item->row];

    return json_pack(
        "{s:s, s:s, s:s, s:o, s:s, s:s, s:s, s:s}",
        "kind",
        "alias",
        "mnemonic",
        alias->mnemonic,
        "isa",
        facet_isa_name[card->item->machine],
        "syntax",
        json_sprintf(
            "%s%s%s", alias->mnemonic, alias->operands[0] != '\0' ? " " : "", alias->operands),
        "operands",
        alias->operands,
        "expansion",
        alias->expansion,
        "note",
        alias->note,
        "file",
        "alias.tsv");
}

/* -- CSRs ---------------------------------------------------------------------------------- */

static json_t *range(unsigned hi, unsigned lo)
{
    return hi == lo ? json_sprintf("%u", hi) : json_sprintf("%u:%u", hi, lo);
}

static json_t *field_record(const struct facet_csr_field *f)
{
    return json_pack("{s:s, s:o, s:i, s:i, s:s, s:s, s:o, s:s, s:s, s:s, s:s}",
                     "name",
                     f->name,
                     "bits",
                     range(f->hi, f->lo),
                     "hi",
                     f->hi,
                     "lo",
                     f->lo,
                     "access",
                     access_names[f->access],
                     "reset",
                     f->reset_text,
                     "reset_value",
                     hex(f->reset, 1),
                     "legal",
                     f->legal,
                     "needs",
                     f->needs,
                     "place",
                     f->place,
                     "meaning",
                     f->meaning);
}

static json_t *csr_record(const struct facet_card *card)
{
    const struct facet_csr_row *row = &facet_csr_rows[card->item->row];
    const struct facet_csr_field *only =
        card->item->kind == FACET_ITEM_FIELD ? &row->fields[card->item->part] : NULL;
    json_t *fields = json_array();
    char name[64];

    facet_csr_name(row, card->number == row->alias ? row->number : card->number, name, sizeof name);
    for (unsigned i = row->field_count; i-- > 0;) {
        if ((only == NULL || only == &row->fields[i]) &&
            append(fields, field_record(&row->fields[i])) != 0) {
            json_decref(fields);
            return NULL;
        }
    }
    return json_pack("{s:s, s:s, s:s?, s:s, s:o, s:s, s:i, s:o?, s:i, s:o, s:o, s:s}",
                     "kind",
                     facet_item_kind_name[card->item->kind],
                     "name",
                     name,
                     "field",
                     only != NULL ? only->name : NULL,
                     "isa",
                     facet_isa_name[row->isa],
                     "number",
                     hex(card->number, 3),
                     "address",
                     row->address,
                     "count",
                     (int)row->count,
                     "second_number",
                     row->alias != 0 ? hex(row->alias, 3) : NULL,
                     "width",
                     row->width,
                     "reset",
                     hex(row->reset, row->width / 4),
                     "fields",
                     fields,
                     "file",
                     row->file);
}

/* -- Structures ---------------------------------------------------------------------------- */

static json_t *member_record(const struct facet_layout_member *m)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}",
                     "name",
                     m->name,
                     "offset",
                     m->cells.offset,
                     "bits",
                     m->cells.bits,
                     "type",
                     m->cells.type,
                     "legal",
                     m->cells.legal,
                     "default",
                     m->cells.preset,
                     "meaning",
                     m->cells.meaning,
                     "source",
                     m->cells.source);
}

/* "64 bytes"; where the width of an element matters, all four sizes */
static json_t *size_of(const struct facet_layout_row *row)
{
    const uint32_t *sizes = row->by_element;

    return sizes == NULL ? json_sprintf("%u bytes", row->size)
                         : json_sprintf("%u, %u, %u, %u bytes for elements of 1, 2, 4, 8 bytes",
                                        sizes[0],
                                        sizes[1],
                                        sizes[2],
                                        sizes[3]);
}

static json_t *structure_record(const struct facet_card *card)
{
    const struct facet_layout_row *row = &facet_layout_rows[card->item->row];
    bool one = card->item->kind == FACET_ITEM_MEMBER;
    json_t *members = json_array();

    for (unsigned i = 0; i < row->member_count; i++) {
        if ((!one || i == card->item->part) &&
            append(members, member_record(&row->members[i])) != 0) {
            json_decref(members);
            return NULL;
        }
    }
    return json_pack("{s:s, s:s, s:s?, s:s, s:s, s:o, s:i, s:o, s:s, s:s, s:i}",
                     "kind",
                     facet_item_kind_name[card->item->kind],
                     "name",
                     row->name,
                     "member",
                     one ? row->members[card->item->part].name : NULL,
                     "isa",
                     row->machine,
                     "meaning",
                     row->meaning,
                     "size",
                     size_of(row),
                     "align",
                     (int)row->align,
                     "members",
                     members,
                     "defined",
                     row->source,
                     "file",
                     row->file,
                     "line",
                     row->line);
}

/* -- Prose --------------------------------------------------------------------------------- */

/* A row may cite several documents, separated by ", ". */
static json_t *documents(const char *source)
{
    json_t *list = json_array();

    while (*source != '\0') {
        const char *end = strstr(source, ", ");
        size_t n = end != NULL ? (size_t)(end - source) : strlen(source);
        for (size_t i = 0; i < facet_document_row_count; i++) {
            const struct facet_document_row *row = &facet_document_rows[i];
            if (strlen(row->name) == n && strncmp(row->name, source, n) == 0 &&
                append(list,
                       json_pack("{s:s, s:s, s:s}",
                                 "name",
                                 row->name,
                                 "title",
                                 row->title,
                                 "author",
                                 row->author)) != 0) {
                json_decref(list);
                return NULL;
            }
        }
        source += end != NULL ? n + 2 : n;
    }
    return list;
}

static json_t *requirement_record(const struct facet_card *card)
{
    const struct facet_requirement_row *row = &facet_requirement_rows[card->item->row];

    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:s, s:s}",
                     "kind",
                     "requirement",
                     "id",
                     row->id,
                     "level",
                     row->level,
                     "source",
                     row->source,
                     "documents",
                     documents(row->source),
                     "section",
                     row->section,
                     "requirement",
                     row->requirement,
                     "observable",
                     row->observable,
                     "file",
                     row->file);
}

static json_t *resolution_record(const struct facet_card *card)
{
    const struct facet_resolution_row *row = &facet_resolution_rows[card->item->row];

    return json_pack("{s:s, s:s, s:s, s:s, s:s}",
                     "kind",
                     "resolution",
                     "id",
                     row->id,
                     "title",
                     row->title,
                     "text",
                     row->text,
                     "file",
                     row->file);
}

static json_t *section_record(const struct facet_card *card)
{
    const struct facet_section_row *row = &facet_section_rows[card->item->row];

    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:i}",
                     "kind",
                     "section",
                     "name",
                     row->name,
                     "title",
                     row->title,
                     "page",
                     row->text,
                     "file",
                     row->file,
                     "line",
                     row->line);
}

/* The requirement rows of a document by section: {"5.1": "RT-031 RT-032"}. */
static json_t *sections_of(const char *document)
{
    json_t *sections = json_object();

    for (size_t i = 0; i < facet_requirement_row_count; i++) {
        const struct facet_requirement_row *row = &facet_requirement_rows[i];
        const char *at = strstr(row->source, document), *ids;
        if (at == NULL) {
            continue;
        }
        ids = json_string_value(json_object_get(sections, row->section));
        if (json_object_set_new(sections,
                                row->section,
                                ids != NULL ? json_sprintf("%s %s", ids, row->id)
                                            : json_string(row->id)) != 0) {
            json_decref(sections);
            return NULL;
        }
    }
    return sections;
}

static json_t *document_record(const struct facet_card *card)
{
    const struct facet_document_row *row = &facet_document_rows[card->item->row];

    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}",
                     "kind",
                     "document",
                     "name",
                     row->name,
                     "title",
                     row->title,
                     "author",
                     row->author,
                     "relation",
                     row->kind,
                     "sections",
                     sections_of(row->name));
}

/* Items in short, for cards that lead to other cards. */
static int add_item(json_t *list, const struct facet_item *item)
{
    return append(list,
                  json_pack("{s:s, s:s, s:s, s:s}",
                            "name",
                            item->name,
                            "kind",
                            facet_item_kind_name[item->kind],
                            "isa",
                            facet_item_machine_name[item->machine],
                            "text",
                            item->text));
}

static json_t *extension_record(const struct facet_card *card)
{
    json_t *list = json_array();

    for (size_t i = 0; i < facet_item_count; i++) {
        const struct facet_item *item = &facet_items[i];
        if (item->kind == FACET_ITEM_INSTRUCTION && strcmp(item->group, card->item->name) == 0 &&
            add_item(list, item) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:o}",
                     "kind",
                     "extension",
                     "name",
                     card->item->name,
                     "isa",
                     facet_item_machine_name[card->item->machine],
                     "title",
                     card->item->text,
                     "names",
                     list);
}

static json_t *names_record(const struct facet_card *card)
{
    json_t *list = json_array();
    const struct facet_item *item;
    size_t from = 0;

    while ((item = facet_card_next_part(card, &from)) != NULL) {
        if (add_item(list, item) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return json_pack("{s:s, s:s, s:o}", "kind", "names", "name", card->name, "names", list);
}

static json_t *record_of(const struct facet_card *card)
{
    if (card->item == NULL) {
        return names_record(card);
    }
    switch ((enum facet_item_kind)card->item->kind) {
    case FACET_ITEM_INSTRUCTION:
        return card->item->machine == FACET_ITEM_GFX12 ? unit_insn_record(card) : insn_record(card);
    case FACET_ITEM_ALIAS:
        return alias_record(card);
    case FACET_ITEM_CSR:
    case FACET_ITEM_FIELD:
        return csr_record(card);
    case FACET_ITEM_STRUCTURE:
    case FACET_ITEM_MEMBER:
        return structure_record(card);
    case FACET_ITEM_REQUIREMENT:
        return requirement_record(card);
    case FACET_ITEM_RESOLUTION:
        return resolution_record(card);
    case FACET_ITEM_SECTION:
        return section_record(card);
    case FACET_ITEM_WORD:
        return json_pack("{s:s, s:s, s:s}",
                         "kind",
                         "word",
                         "name",
                         card->item->name,
                         "meaning",
                         card->item->text);
    case FACET_ITEM_DOCUMENT:
        return document_record(card);
    case FACET_ITEM_EXTENSION:
        return extension_record(card);
    case FACET_ITEM_RULE:
        return facet_card_rule_record(card);
    case FACET_ITEM_KINDS:
        break;
    }
    return NULL;
}

json_t *facet_card_record(const struct facet_card *card, const struct facet_results *results)
{
    json_t *record = record_of(card);

    if (card->item != NULL && card->item->kind == FACET_ITEM_REQUIREMENT) {
        const struct facet_requirement_row *row = &facet_requirement_rows[card->item->row];
        const char *result = facet_outcome_name[facet_results_outcome(results, row)];
        record = with(record, "result", json_string(result));
        record =
            with(record, "proof", results != NULL ? facet_card_tests(results, row) : json_null());
    }
    if (card->value != NULL) {
        record = with(record, "value", facet_card_value_text(card));
    }
    return with(with_links(with_pages(record, card->item), card, results),
                "places",
                facet_card_places(card));
}
