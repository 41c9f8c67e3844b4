/* Reference cards as JSON, complete for scripts. Any failed allocation shows as NULL at the end. */
#include "base/json.h"
#include "isa/card.h"

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
static const char *const access_names[] = {"RO", "RW", "W1C", "WARL"};

static json_t *hex(uint64_t value, int digits)
{
    return json_sprintf("0x%0*llx", digits, (unsigned long long)value);
}

static int append(json_t *array, json_t *value)
{
    return json_array_append_new(array, value);
}

static json_t *requirement_ids(const struct facet_card *card)
{
    json_t *list = json_array();
    const struct facet_requirement_row *row;
    size_t from = 0;

    while ((row = facet_card_next_requirement(card, &from)) != NULL) {
        if (append(list, json_string(row->id)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *resolution_ids(const struct facet_card *card)
{
    json_t *list = json_array();
    const struct facet_resolution_row *row;
    size_t from = 0;

    while ((row = facet_card_next_resolution(card, &from)) != NULL) {
        if (append(list, json_string(row->id)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

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

static json_t *operand_json(const struct facet_operand *o)
{
    return json_pack("{s:s, s:s, s:s, s:b, s:b, s:o?, s:s?, s:s, s:o, s:o, s:o}",
                     "name",
                     o->name,
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

static json_t *operands(const struct facet_insn_row *row)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < row->operand_count; i++) {
        if (append(list, operand_json(&row->operands[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *insn_json(const struct facet_card *card)
{
    const struct facet_insn_row *row = card->insn;
    uint32_t word = facet_card_example(row, card->isa);
    int digits = 2 * row->length;
    char text[160];

    facet_isa_print(card->isa, word, 0, NULL, text, sizeof text);
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:i, s:o, s:o, s:s, s:s, s:o, s:s, s:{s:o, s:s}, s:s, s:i, s:o, s:o}",
        "kind",
        "instruction",
        "mnemonic",
        row->mnemonic,
        "isa",
        facet_isa_name[card->isa],
        "extension",
        row->extension,
        "length",
        row->length,
        "mask",
        hex(row->mask, digits),
        "match",
        hex(row->match, digits),
        "syntax",
        row->syntax,
        "fields",
        row->fields,
        "operands",
        operands(row),
        "semantics",
        row->semantics,
        "example",
        "word",
        hex(word, digits),
        "text",
        text,
        "file",
        row->file,
        "line",
        row->line,
        "requirements",
        requirement_ids(card),
        "resolutions",
        resolution_ids(card));
}

static json_t *field_json(const struct facet_csr_field *f)
{
    return json_pack("{s:s, s:i, s:i, s:s, s:s, s:o, s:s}",
                     "name",
                     f->name,
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
                     "meaning",
                     f->meaning);
}

static json_t *csr_json(const struct facet_card *card)
{
    const struct facet_csr_row *row = card->csr;
    json_t *fields = json_array();
    char name[64];

    facet_csr_name(row, card->number == row->alias ? row->number : card->number, name, sizeof name);
    for (unsigned i = 0; i < row->field_count; i++) {
        if ((card->field == NULL || card->field == &row->fields[i]) &&
            append(fields, field_json(&row->fields[i])) != 0) {
            json_decref(fields);
            return NULL;
        }
    }
    return json_pack("{s:s, s:s, s:s, s:o, s:s, s:i, s:o?, s:i, s:o, s:o, s:s, s:o, s:o}",
                     "kind",
                     card->field != NULL ? "field" : "csr",
                     "name",
                     name,
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
                     hex(facet_card_reset(row), row->width / 4),
                     "fields",
                     fields,
                     "file",
                     row->file,
                     "requirements",
                     requirement_ids(card),
                     "resolutions",
                     resolution_ids(card));
}

json_t *facet_card_json(const struct facet_card *card)
{
    switch (card->kind) {
    case FACET_CARD_INSN:
        return insn_json(card);
    case FACET_CARD_ALIAS:
        return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}",
                         "kind",
                         "alias",
                         "mnemonic",
                         card->alias->mnemonic,
                         "isa",
                         facet_isa_name[card->isa],
                         "operands",
                         card->alias->operands,
                         "expansion",
                         card->alias->expansion,
                         "note",
                         card->alias->note);
    case FACET_CARD_CSR:
    case FACET_CARD_FIELD:
        return csr_json(card);
    case FACET_CARD_REQUIREMENT:
        return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o}",
                         "kind",
                         "requirement",
                         "id",
                         card->requirement->id,
                         "level",
                         card->requirement->level,
                         "source",
                         card->requirement->source,
                         "section",
                         card->requirement->section,
                         "requirement",
                         card->requirement->requirement,
                         "observable",
                         card->requirement->observable,
                         "file",
                         card->requirement->file,
                         "resolutions",
                         resolution_ids(card));
    case FACET_CARD_RESOLUTION:
        return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o}",
                         "kind",
                         "resolution",
                         "id",
                         card->resolution->id,
                         "title",
                         card->resolution->title,
                         "text",
                         card->resolution->text,
                         "file",
                         card->resolution->file,
                         "requirements",
                         requirement_ids(card),
                         "resolutions",
                         resolution_ids(card));
    }
    return NULL;
}
