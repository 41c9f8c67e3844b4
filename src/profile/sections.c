/* What a profile says besides instructions: divergence, draws, and sums by section. */
#include "profile/profile.h"

#include "isa/isa.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the file ---- */

/* {"rt": {"rays": 12}} */
static json_t *sums_json(const struct facet_counts *counts)
{
    const struct facet_counts_value *sums = counts->sums.items;
    json_t *all = json_object();

    for (size_t i = 0; i < counts->sums.count; i++) {
        json_t *section = json_object_get(all, sums[i].section);

        if (section == NULL) {
            section = json_object();
            (void)json_object_set_new(all, sums[i].section, section);
        }
        (void)json_object_set_new(section, sums[i].name, json_integer((json_int_t)sums[i].number));
    }
    return all;
}

void profile_put_sections(json_t *top, const struct facet_counts *counts)
{
    const struct facet_counts_value *list = counts->list.items;
    json_t *entry = NULL;

    (void)json_object_set_new(top, "counters", sums_json(counts));
    for (size_t i = 0; i < counts->list.count; i++) {
        if (i == 0 || list[i].entry != list[i - 1].entry) {
            json_t *section = json_object_get(top, list[i].section);

            if (section == NULL) {
                section = json_array();
                (void)json_object_set_new(top, list[i].section, section);
            }
            entry = json_object();
            (void)json_array_append_new(section, entry);
        }
        (void)json_object_set_new(entry,
                                  list[i].name,
                                  list[i].text != NULL ? json_string(list[i].text)
                                                       : json_integer((json_int_t)list[i].number));
    }
}

static bool is_count(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

bool profile_sections_good(const json_t *top, const char **wrong)
{
    json_t *counters = json_object_get(top, "counters"), *draws = json_object_get(top, "draws");
    json_t *section, *value;
    const char *name, *member;
    size_t i;
    bool good = counters == NULL || json_is_object(counters);

    *wrong = "counters";
    json_object_foreach(counters, name, section)
    {
        good = good && json_is_object(section);
        json_object_foreach(section, member, value)
        {
            good = good && is_count(value);
        }
    }
    if (good) {
        *wrong = "draws";
        good = draws == NULL || json_is_array(draws);
    }
    json_array_foreach(draws, i, section)
    {
        good = good && json_is_object(section);
        json_object_foreach(section, member, value)
        {
            good = good && (is_count(value) || json_is_string(value));
        }
    }
    return good;
}

/* ---- divergence ---- */

struct place {
    const struct profile_insn *insn;
    uint64_t active, lanes;
};

static int by_place(const void *a, const void *b)
{
    const struct profile_insn *x = ((const struct place *)a)->insn;
    const struct profile_insn *y = ((const struct place *)b)->insn;

    return x->pc != y->pc ? (x->pc > y->pc) - (x->pc < y->pc)
                          : (x->word > y->word) - (x->word < y->word);
}

/* The most idle lanes first. */
static int by_idle(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    const uint64_t idle_x = x->lanes - x->active, idle_y = y->lanes - y->active;

    return idle_x != idle_y ? (idle_x < idle_y) - (idle_x > idle_y) : by_place(a, b);
}

/* Those that ran under a mask, all cores together. */
static size_t masked(const struct profile *profile, struct place *list)
{
    size_t n = 0, count = 0;

    for (size_t i = 0; i < profile->insn_count; i++) {
        const struct profile_insn *insn = &profile->insns[i];

        if (insn->lanes != 0) {
            list[n++] = (struct place){insn, insn->active, insn->lanes};
        }
    }
    qsort(list, n, sizeof *list, by_place);
    for (size_t i = 0; i < n; i++) {
        if (count > 0 && by_place(&list[count - 1], &list[i]) == 0) {
            list[count - 1].active += list[i].active;
            list[count - 1].lanes += list[i].lanes;
        } else {
            list[count++] = list[i];
        }
    }
    qsort(list, count, sizeof *list, by_idle);
    return count;
}

static json_t *place_json(enum facet_isa isa, const struct place *place)
{
    const struct profile_insn *insn = place->insn;
    char text[128];
    json_t *object;

    (void)facet_isa_print(isa, insn->word, insn->pc, NULL, text, sizeof text);
    object = json_pack("{s:o, s:s, s:I, s:I}",
                       "pc",
                       facet_json_hex(insn->pc),
                       "text",
                       text,
                       "active",
                       (json_int_t)place->active,
                       "lanes",
                       (json_int_t)place->lanes);
    if (insn->line != NULL) {
        (void)json_object_set_new(object, "line", json_string(insn->line));
    }
    return object;
}

json_t *profile_divergence(const struct profile *profile, size_t most)
{
    struct place *list = malloc((profile->insn_count + 1) * sizeof *list);
    json_t *rows = json_array();
    uint64_t active = 0;
    size_t count;

    if (list == NULL) {
        json_decref(rows);
        return NULL;
    }
    count = masked(profile, list);
    for (size_t i = 0; i < count; i++) {
        active += list[i].active;
        if (i < most) {
            (void)json_array_append_new(rows, place_json(profile->isa, &list[i]));
        }
    }
    free(list);
    return json_pack("{s:I, s:I, s:o}",
                     "active",
                     (json_int_t)active,
                     "lanes",
                     (json_int_t)profile->lanes,
                     "places",
                     rows);
}

/* ---- text ---- */

static json_int_t integer(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static double percent(const json_t *object)
{
    return 100.0 * (double)integer(object, "active") / (double)integer(object, "lanes");
}

static void put_divergence(const json_t *divergence, struct facet_strbuf *out)
{
    const json_t *place;
    size_t i;

    if (integer(divergence, "lanes") == 0) {
        return;
    }
    facet_strbuf_printf(out,
                        "\n%16s  %6s  under a mask: %" JSON_INTEGER_FORMAT
                        " of %" JSON_INTEGER_FORMAT " lanes active, %.2f %%\n",
                        "idle lanes",
                        "active",
                        integer(divergence, "active"),
                        integer(divergence, "lanes"),
                        percent(divergence));
    json_array_foreach(json_object_get(divergence, "places"), i, place)
    {
        const char *line = json_string_value(json_object_get(place, "line"));

        facet_strbuf_printf(out,
                            "%16" JSON_INTEGER_FORMAT "  %6.2f  %s  %s",
                            integer(place, "lanes") - integer(place, "active"),
                            percent(place),
                            json_string_value(json_object_get(place, "pc")),
                            json_string_value(json_object_get(place, "text")));
        if (line != NULL) {
            facet_strbuf_puts(out, "  ");
            facet_symbols_put_name(out, line);
        }
        facet_strbuf_putc(out, '\n');
    }
}

/* One line of a table: the draw, then the members. */
static void put_draw(const json_t *draw, const char *const members[], struct facet_strbuf *out)
{
    const json_t *command = json_object_get(draw, "command");
    const char *what = json_string_value(json_object_get(draw, "draw"));
    char place[32];

    (void)snprintf(place,
                   sizeof place,
                   "%s %" JSON_INTEGER_FORMAT " ",
                   command != NULL ? "command" : "core",
                   integer(draw, command != NULL ? "command" : "core"));
    facet_strbuf_puts(out, place);
    facet_symbols_put_name(out, what != NULL ? what : "?");
    for (size_t i = 0; members[i] != NULL; i++) {
        facet_strbuf_printf(out, " %9" JSON_INTEGER_FORMAT, integer(draw, members[i]));
    }
    facet_strbuf_putc(out, '\n');
}

static void put_draws(const json_t *draws, size_t most, struct facet_strbuf *out)
{
    static const char *const tables[2][9] = {
        {"vertices", "triangles", "outside", "clipped", "degenerate", "culled", "rasterised", NULL},
        {"pixels", "z_tested", "z_failed", "blended", "written", "texels", NULL}};

    for (size_t t = 0; t < 2 && json_array_size(draws) != 0; t++) {
        const json_t *draw;
        size_t i;

        facet_strbuf_printf(out, "\n%-15s", "draw");
        for (size_t k = 0; tables[t][k] != NULL; k++) {
            facet_strbuf_printf(out, " %9s", tables[t][k]);
        }
        facet_strbuf_putc(out, '\n');
        json_array_foreach(draws, i, draw)
        {
            if (i < most) {
                put_draw(draw, tables[t], out);
            }
        }
        if (json_array_size(draws) > most) {
            facet_strbuf_printf(out, "... %zu more\n", json_array_size(draws) - most);
        }
    }
}

void profile_sections_text(const json_t *views, size_t most, struct facet_strbuf *out)
{
    json_t *counters = json_object_get(views, "counters"), *section, *value;
    const char *name, *member;

    put_divergence(json_object_get(views, "divergence"), out);
    put_draws(json_object_get(views, "draws"), most, out);
    json_object_foreach(counters, name, section)
    {
        facet_strbuf_printf(out, "\n%16s  ", "count");
        facet_symbols_put_name(out, name);
        facet_strbuf_putc(out, '\n');
        json_object_foreach(section, member, value)
        {
            facet_strbuf_printf(out, "%16" JSON_INTEGER_FORMAT "  ", json_integer_value(value));
            facet_symbols_put_name(out, member);
            facet_strbuf_putc(out, '\n');
        }
    }
}
