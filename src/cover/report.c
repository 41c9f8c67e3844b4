/* What was reached beside what the tables have: sections of groups of names. */
#include "cover/cover.h"

#include "cards/index.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- sections ---- */

static json_t *section(json_t *report, const char *name)
{
    json_t *made =
        json_pack("{s:s, s:i, s:i, s:[]}", "name", name, "total", 0, "reached", 0, "groups");

    (void)json_array_append_new(json_object_get(report, "sections"), made);
    return made;
}

static void raise_by(json_t *object, const char *key, bool one)
{
    json_t *value = json_object_get(object, key);

    (void)json_integer_set(value, json_integer_value(value) + one);
}

/* Names of a group come one after the other. */
static json_t *group_of(json_t *part, const char *name)
{
    json_t *groups = json_object_get(part, "groups");
    size_t count = json_array_size(groups);
    json_t *last = count > 0 ? json_array_get(groups, count - 1) : NULL;
    const char *of_last = json_string_value(json_object_get(last, "name"));

    if (of_last == NULL || strcmp(of_last, name) != 0) {
        last =
            json_pack("{s:s, s:i, s:i, s:[]}", "name", name, "total", 0, "reached", 0, "missing");
        (void)json_array_append_new(groups, last);
    }
    return last;
}

static void add(json_t *part, const char *group, const char *name, bool reached)
{
    json_t *of = group_of(part, group);

    raise_by(part, "total", true);
    raise_by(of, "total", true);
    raise_by(part, "reached", reached);
    raise_by(of, "reached", reached);
    if (!reached) {
        (void)json_array_append_new(json_object_get(of, "missing"), json_string(name));
    }
}

/* ---- what there is ---- */

/* The rows of an extension are not all in one place. */
static void add_instructions(json_t *report, const struct cover *cover)
{
    json_t *part = section(report, "instructions reached");
    const struct facet_insn_row *rows = facet_isa_rows[cover->isa];
    size_t count = facet_isa_row_count[cover->isa];

    for (size_t e = 0; e < facet_extension_row_count; e++) {
        for (size_t i = 0; i < count; i++) {
            if (strcmp(rows[i].extension, facet_extension_rows[e].name) == 0) {
                add(part, rows[i].extension, rows[i].syntax, cover_reached(cover, i));
            }
        }
    }
}

static bool any_row(const struct cover *cover, uint16_t bucket)
{
    bool any = false;

    for (size_t i = 0; i < facet_isa_row_count[cover->isa] && !any; i++) {
        any = cover_row(cover, i)[bucket] != 0;
    }
    return any;
}

static void add_states(json_t *report, const struct cover *cover)
{
    json_t *part = section(report, "states in which instructions ran");

    for (int dim = 0; dim < COVER_DIMS; dim++) {
        for (uint16_t b = cover->first[dim]; b < cover->first[dim + 1]; b++) {
            bool trap = dim == COVER_TRAPS;

            add(part,
                cover_dim_name[dim],
                cover->buckets[b].name,
                trap ? cover->causes[b] != 0 : any_row(cover, b));
        }
    }
}

static bool is_writable(const struct facet_csr_row *row)
{
    bool writable = false;

    for (uint32_t f = 0; f < row->field_count; f++) {
        writable = writable || row->fields[f].access != FACET_CSR_RO;
    }
    return writable;
}

/* "cap" of cap.csr.tsv. */
static void file_name(const struct facet_csr_row *row, char name[16])
{
    size_t length = strcspn(row->file, ".");

    length = length < 15 ? length : 15;
    memcpy(name, row->file, length);
    name[length] = '\0';
}

static void add_csrs(json_t *report, const struct cover *cover)
{
    json_t *written = section(report, "CSRs written by an instruction");
    json_t *changed = section(report, "CSR fields changed");
    char group[16], name[96];

    for (size_t r = 0; r < facet_csr_row_count; r++) {
        const struct facet_csr_row *row = &facet_csr_rows[r];

        if (row->isa != cover->isa || !is_writable(row)) {
            continue;
        }
        file_name(row, group);
        add(written, group, row->name, cover->csrs[r].written != 0);
        for (uint32_t f = 0; f < row->field_count; f++) {
            const struct facet_csr_field *field = &row->fields[f];

            if (field->access != FACET_CSR_RO && cover_field_counts(field)) {
                (void)snprintf(name, sizeof name, "%s.%s", row->name, field->name);
                add(changed, group, name, cover->fields[cover->first_field[r] + f].changed != 0);
            }
        }
    }
}

/* ---- requirement rows ---- */

/* A row speaks of instructions, of registers, or of both. It was touched when one of each was used:
 * writing CAP.PREC.MODE alone touches no row about MTX.MUL. */
enum { OF_INSN = 1, OF_CSR = 2, USED_INSN = 4, USED_CSR = 8 };

static bool is_touched(uint8_t marks)
{
    return ((marks & OF_INSN) == 0 || (marks & USED_INSN) != 0) &&
           ((marks & OF_CSR) == 0 || (marks & USED_CSR) != 0);
}

/* What the item names was used. */
static bool was_used(const struct cover *cover, const struct facet_item *item)
{
    const struct cover_csr *csr =
        &cover->csrs[item->kind == FACET_ITEM_INSTRUCTION ? 0 : item->row];

    switch (item->kind) {
    case FACET_ITEM_INSTRUCTION:
        return cover_reached(cover, item->row);
    case FACET_ITEM_CSR:
        return csr->read != 0 || csr->written != 0 || csr->set != 0;
    default:
        return cover->fields[cover->first_field[item->row] + item->part].changed != 0;
    }
}

/* false without memory. */
static bool add_requirements(json_t *report, const struct cover *cover)
{
    json_t *part = section(report, "requirement rows touched");
    uint8_t *marks = calloc(facet_requirement_row_count, 1);
    bool good;

    for (size_t i = 0; marks != NULL && i < facet_item_count; i++) {
        const struct facet_item *item = &facet_items[i];

        if (item->machine == cover->isa &&
            (item->kind == FACET_ITEM_INSTRUCTION || item->kind == FACET_ITEM_CSR ||
             item->kind == FACET_ITEM_FIELD)) {
            bool insn = item->kind == FACET_ITEM_INSTRUCTION;
            unsigned mark = insn ? OF_INSN : OF_CSR;

            if (was_used(cover, item)) {
                mark |= insn ? USED_INSN : USED_CSR;
            }

            for (uint16_t r = 0; r < item->requirement_count; r++) {
                marks[item->requirements[r]] |= (uint8_t)mark;
            }
        }
    }
    for (size_t r = 0; marks != NULL && r < facet_requirement_row_count; r++) {
        const char *id = facet_requirement_rows[r].id;
        char area[16] = "";

        if (marks[r] != 0 && strcspn(id, "-") < sizeof area) {
            memcpy(area, id, strcspn(id, "-"));
            add(part, area, id, is_touched(marks[r]));
        }
    }
    good = marks != NULL;
    free(marks);
    return good;
}

json_t *cover_report(const struct cover *cover)
{
    json_t *report;
    uint64_t traps = 0;

    for (uint16_t b = cover->first[COVER_TRAPS]; b < cover->first[COVER_TRAPS + 1]; b++) {
        cover_add_count(&traps, cover->causes[b]);
    }
    report = json_pack("{s:s, s:I, s:I, s:I, s:[]}",
                       "machine",
                       facet_isa_name[cover->isa],
                       "runs",
                       (json_int_t)cover->runs,
                       "retired",
                       (json_int_t)cover->retired,
                       "traps",
                       (json_int_t)traps,
                       "sections");
    add_instructions(report, cover);
    add_states(report, cover);
    add_csrs(report, cover);
    if (!add_requirements(report, cover) || facet_json_ran_short()) {
        json_decref(report);
        return NULL;
    }
    return report;
}

/* ---- text ---- */

static long long number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static const char *name_of(const json_t *object)
{
    const char *name = json_string_value(json_object_get(object, "name"));

    return name != NULL ? name : "";
}

static void put_missing(const json_t *part, struct facet_strbuf *out)
{
    const json_t *group, *value;
    size_t g, i;

    facet_strbuf_printf(out, "\n%s: not\n", name_of(part));
    json_array_foreach(json_object_get(part, "groups"), g, group)
    {
        json_array_foreach(json_object_get(group, "missing"), i, value)
        {
            facet_strbuf_printf(out, "  %-18s %s\n", name_of(group), json_string_value(value));
        }
    }
}

void cover_report_text(const json_t *report, bool missing, struct facet_strbuf *out)
{
    const json_t *part, *group;
    size_t i, g;

    facet_strbuf_printf(out,
                        "%s: %lld run%s, %lld instruction%s retired, %lld trap%s\n",
                        json_string_value(json_object_get(report, "machine")),
                        number(report, "runs"),
                        number(report, "runs") == 1 ? "" : "s",
                        number(report, "retired"),
                        number(report, "retired") == 1 ? "" : "s",
                        number(report, "traps"),
                        number(report, "traps") == 1 ? "" : "s");
    json_array_foreach(json_object_get(report, "sections"), i, part)
    {
        facet_strbuf_printf(out,
                            "\n%-34s %6lld of %6lld\n",
                            name_of(part),
                            number(part, "reached"),
                            number(part, "total"));
        json_array_foreach(json_object_get(part, "groups"), g, group)
        {
            facet_strbuf_printf(out,
                                "  %-32s %6lld of %6lld\n",
                                name_of(group),
                                number(group, "reached"),
                                number(group, "total"));
        }
    }
    json_array_foreach(json_object_get(report, "sections"), i, part)
    {
        if (missing && number(part, "reached") < number(part, "total")) {
            put_missing(part, out);
        }
    }
}
