/* The report as one page without anything from outside: sections with what is missing, then a table
 * of what each instruction and register was seen with. */
#include "cover/cover.h"

#include <inttypes.h>
#include <string.h>

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Coverage</title>\n"
    "<style>\nbody { font: 15px/1.4 sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; "
    "}\ntable { border-collapse: collapse; margin: 0.5em 0 1.5em; }\n"
    "th, td { text-align: left; padding: 0.15em 1em 0.15em 0; border-bottom: 1px solid #ccc; "
    "vertical-align: top; }\ntd.n { text-align: right; font-variant-numeric: tabular-nums; }\n"
    "code { font-size: 13px; }\nsummary { cursor: pointer; }\n"
    "@media print { body { max-width: none; margin: 0; } summary { display: none; } }\n"
    "</style></head><body>\n";

static void put_text(struct facet_strbuf *out, const char *text)
{
    facet_strbuf_escaped(out, text != NULL ? text : "");
}

static long long number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static void put_name(struct facet_strbuf *out, const json_t *object)
{
    put_text(out, json_string_value(json_object_get(object, "name")));
}

static void put_share(struct facet_strbuf *out, const json_t *object)
{
    long long total = number(object, "total"), reached = number(object, "reached");

    facet_strbuf_printf(out,
                        "<td class=\"n\">%lld<td class=\"n\">%lld<td class=\"n\">%.1f %%",
                        reached,
                        total,
                        total > 0 ? 100.0 * (double)reached / (double)total : 0.0);
}

static void put_section(struct facet_strbuf *out, const json_t *part)
{
    const json_t *group, *value;
    size_t g, i;

    facet_strbuf_puts(out, "<h2>");
    put_name(out, part);
    facet_strbuf_puts(out, "</h2>\n<table><tr><th>group<th>reached<th>of<th>share<th>missing\n");
    json_array_foreach(json_object_get(part, "groups"), g, group)
    {
        const json_t *missing = json_object_get(group, "missing");

        facet_strbuf_puts(out, "<tr><td>");
        put_name(out, group);
        put_share(out, group);
        facet_strbuf_puts(out, "<td>");
        if (json_array_size(missing) > 0) {
            facet_strbuf_printf(
                out, "<details open><summary>%zu</summary>", json_array_size(missing));
            json_array_foreach(missing, i, value)
            {
                facet_strbuf_puts(out, "<code>");
                put_text(out, json_string_value(value));
                facet_strbuf_puts(out, "</code><br>");
            }
            facet_strbuf_puts(out, "</details>");
        }
        facet_strbuf_putc(out, '\n');
    }
    facet_strbuf_puts(out, "</table>\n");
}

static void put_insn(struct facet_strbuf *out, const struct cover *cover, size_t row)
{
    facet_strbuf_puts(out, "<tr><td><code>");
    put_text(out, facet_isa_rows[cover->isa][row].syntax);
    facet_strbuf_printf(out, "</code><td class=\"n\">%" PRIu64, cover->counts[row]);
    for (int dim = 0; dim < COVER_DIMS; dim++) {
        facet_strbuf_puts(out, cover->first[dim] < cover->first[dim + 1] ? "<td>" : "");
        for (uint16_t b = cover->first[dim]; b < cover->first[dim + 1]; b++) {
            if (cover_row(cover, row)[b] != 0) {
                put_text(out, cover->buckets[b].name);
                facet_strbuf_printf(out, ": %" PRIu64 "<br>", cover_row(cover, row)[b]);
            }
        }
    }
    facet_strbuf_putc(out, '\n');
}

static void put_insns(struct facet_strbuf *out, const struct cover *cover)
{
    facet_strbuf_puts(out, "<h2>Instructions</h2>\n<table><tr><th>instruction<th>retired");
    for (int dim = 0; dim < COVER_DIMS; dim++) {
        if (cover->first[dim] < cover->first[dim + 1]) {
            facet_strbuf_printf(out, "<th>%s", cover_dim_name[dim]);
        }
    }
    facet_strbuf_putc(out, '\n');
    for (size_t row = 0; row < facet_isa_row_count[cover->isa]; row++) {
        if (cover_reached(cover, row)) {
            put_insn(out, cover, row);
        }
    }
    facet_strbuf_puts(out, "</table>\n");
}

static void put_csrs(struct facet_strbuf *out, const struct cover *cover)
{
    facet_strbuf_puts(out,
                      "<h2>Registers</h2>\n<table><tr><th>register<th>read<th>written<th>set "
                      "otherwise<th>fields changed\n");
    for (size_t r = 0; r < facet_csr_row_count; r++) {
        const struct cover_csr *csr = &cover->csrs[r];

        if (csr->read == 0 && csr->written == 0 && csr->set == 0) {
            continue;
        }
        facet_strbuf_puts(out, "<tr><td><code>");
        put_text(out, facet_csr_rows[r].name);
        facet_strbuf_printf(out,
                            "</code><td class=\"n\">%" PRIu64 "<td class=\"n\">%" PRIu64
                            "<td class=\"n\">%" PRIu64 "<td>",
                            csr->read,
                            csr->written,
                            csr->set);
        for (uint32_t f = 0; f < facet_csr_rows[r].field_count; f++) {
            const struct cover_field *seen = &cover->fields[cover->first_field[r] + f];

            if (seen->changed != 0 && cover_field_counts(&facet_csr_rows[r].fields[f])) {
                put_text(out, facet_csr_rows[r].fields[f].name);
                facet_strbuf_printf(out, ": %" PRIu64 "<br>", seen->changed);
            }
        }
        facet_strbuf_putc(out, '\n');
    }
    facet_strbuf_puts(out, "</table>\n");
}

void cover_report_html(const struct cover *cover, const json_t *report, struct facet_strbuf *out)
{
    const json_t *part;
    size_t i;

    facet_strbuf_puts(out, head);
    facet_strbuf_printf(out,
                        "<h1>Coverage of %s</h1>\n<p>Runs: %lld; instructions retired: %lld; "
                        "traps and interrupts: %lld.\n",
                        facet_isa_name[cover->isa],
                        number(report, "runs"),
                        number(report, "retired"),
                        number(report, "traps"));
    json_array_foreach(json_object_get(report, "sections"), i, part)
    {
        put_section(out, part);
    }
    put_insns(out, cover);
    put_csrs(out, cover);
    facet_strbuf_puts(out, "</body></html>\n");
}
