/* The file of --cover: only what was reached is in it. Rows of the tables stand for themselves by
 * their syntax, registers and buckets by their names, so a file of another version of the contract
 * is refused where it does not fit. */
#include "cover/cover.h"

#include "isa/isa.h"
#include "json/json.h"

#include <stdio.h>
#include <string.h>

/* ---- writing ---- */

static json_t *integer(uint64_t value)
{
    return json_integer((json_int_t)value);
}

/* {"NX": 3} of one dimension, or nothing. */
static void put_dim(json_t *object,
                    const char *key,
                    const struct cover *cover,
                    enum cover_dim dim,
                    const uint64_t *counts)
{
    json_t *seen = json_object();

    for (uint16_t b = cover->first[dim]; b < cover->first[dim + 1]; b++) {
        if (counts[b] != 0) {
            (void)json_object_set_new(seen, cover->buckets[b].name, integer(counts[b]));
        }
    }
    if (json_object_size(seen) > 0) {
        (void)json_object_set(object, key, seen);
    }
    json_decref(seen);
}

static json_t *insn_json(const struct cover *cover, size_t row)
{
    json_t *object = json_pack("{s:s, s:I}",
                               "syntax",
                               facet_isa_rows[cover->isa][row].syntax,
                               "count",
                               (json_int_t)cover->counts[row]);

    for (int dim = 0; dim < COVER_DIMS; dim++) {
        put_dim(object, cover_dim_name[dim], cover, (enum cover_dim)dim, cover_row(cover, row));
    }
    return object;
}

static json_t *values_json(uint16_t values)
{
    json_t *list = json_array();

    for (int v = 0; v < 16; v++) {
        if ((values >> v & 1) != 0) {
            (void)json_array_append_new(list, json_integer(v));
        }
    }
    return list;
}

static json_t *csr_json(const struct cover *cover, size_t r)
{
    const struct facet_csr_row *row = &facet_csr_rows[r];
    const struct cover_csr *csr = &cover->csrs[r];
    json_t *fields = json_object();

    for (uint32_t f = 0; f < row->field_count; f++) {
        const struct cover_field *seen = &cover->fields[cover->first_field[r] + f];
        json_t *field;

        if (!cover_field_counts(&row->fields[f]) || (seen->changed == 0 && seen->values == 0)) {
            continue;
        }
        field = json_pack("{s:I}", "changed", (json_int_t)seen->changed);
        if (seen->values != 0) {
            (void)json_object_set_new(field, "values", values_json(seen->values));
        }
        (void)json_object_set_new(fields, row->fields[f].name, field);
    }
    return json_pack("{s:s, s:I, s:I, s:I, s:o}",
                     "name",
                     row->name,
                     "read",
                     (json_int_t)csr->read,
                     "written",
                     (json_int_t)csr->written,
                     "set",
                     (json_int_t)csr->set,
                     "fields",
                     fields);
}

json_t *cover_json(const struct cover *cover)
{
    json_t *insns = json_array(), *csrs = json_array();
    json_t *top = json_pack("{s:i, s:s, s:I, s:I}",
                            "facet_cover",
                            COVER_VERSION,
                            "machine",
                            facet_isa_name[cover->isa],
                            "runs",
                            (json_int_t)cover->runs,
                            "retired",
                            (json_int_t)cover->retired);

    put_dim(top, "causes", cover, COVER_TRAPS, cover->causes);
    for (size_t row = 0; row < facet_isa_row_count[cover->isa]; row++) {
        if (cover_reached(cover, row)) {
            (void)json_array_append_new(insns, insn_json(cover, row));
        }
    }
    for (size_t r = 0; r < facet_csr_row_count; r++) {
        const struct cover_csr *csr = &cover->csrs[r];

        if (csr->read != 0 || csr->written != 0 || csr->set != 0) {
            (void)json_array_append_new(csrs, csr_json(cover, r));
        }
    }
    (void)json_object_set_new(top, "instructions", insns);
    (void)json_object_set_new(top, "csrs", csrs);
    return top;
}

/* ---- reading ---- */

/* Where in the file, and the first complaint. */
struct input {
    const char *name;
    struct cover *cover;
    struct facet_error *err;
    enum facet_status status;
};

static void
refuse(struct input *in, const char *list, size_t index, const char *key, const char *what)
{
    char place[64] = "";

    if (in->status == FACET_OK) {
        if (list != NULL) {
            (void)snprintf(place, sizeof place, "%s[%zu].", list, index);
        }
        in->status =
            facet_fail(in->err, FACET_ERR_INPUT, 0, "%s: %s%s: %s", in->name, place, key, what);
    }
}

/* A count that must be there. */
static uint64_t
get(struct input *in, const char *list, size_t index, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        refuse(in, list, index, key, "expected a count");
        return 0;
    }
    return (uint64_t)json_integer_value(value);
}

/* The counts of one dimension, if they are there. */
static void get_dim(struct input *in,
                    size_t index,
                    const json_t *object,
                    const char *key,
                    enum cover_dim dim,
                    uint64_t *counts)
{
    json_t *seen = json_object_get(object, key);
    const char *list = strcmp(key, "causes") == 0 ? NULL : "instructions";
    const char *name;
    json_t *value;

    if (seen == NULL) {
        return;
    }
    if (!json_is_object(seen)) {
        refuse(in, list, index, key, "expected an object");
        return;
    }
    json_object_foreach(seen, name, value)
    {
        uint16_t b = in->cover->first[dim];

        while (b < in->cover->first[dim + 1] && strcmp(in->cover->buckets[b].name, name) != 0) {
            b++;
        }
        if (b == in->cover->first[dim + 1]) {
            refuse(in, list, index, key, "has a name that the tables do not have");
            return;
        }
        cover_add_count(&counts[b], get(in, list, index, seen, name));
    }
}

static void get_insn(struct input *in, size_t index, const json_t *object)
{
    const char *syntax = json_string_value(json_object_get(object, "syntax"));
    const struct facet_insn_row *rows = facet_isa_rows[in->cover->isa];
    size_t row = 0, count = facet_isa_row_count[in->cover->isa];

    while (syntax != NULL && row < count && strcmp(rows[row].syntax, syntax) != 0) {
        row++;
    }
    if (syntax == NULL || row == count) {
        refuse(in, "instructions", index, "syntax", "expected that of a row of the tables");
        return;
    }
    cover_add_count(&in->cover->counts[row], get(in, "instructions", index, object, "count"));
    for (int dim = 0; dim < COVER_DIMS; dim++) {
        get_dim(
            in, index, object, cover_dim_name[dim], (enum cover_dim)dim, cover_row(in->cover, row));
    }
}

static void get_field(struct input *in, size_t index, struct cover_field *field, json_t *object)
{
    const json_t *values = json_object_get(object, "values"), *value;
    size_t i;

    cover_add_count(&field->changed, get(in, "csrs", index, object, "changed"));
    if (values != NULL && !json_is_array(values)) {
        refuse(in, "csrs", index, "values", "expected a list");
        return;
    }
    json_array_foreach(values, i, value)
    {
        if (!json_is_integer(value) || json_integer_value(value) < 0 ||
            json_integer_value(value) > 15) {
            refuse(in, "csrs", index, "values", "expected numbers from 0 to 15");
            return;
        }
        field->values |= (uint16_t)(1u << json_integer_value(value));
    }
}

static void get_csr(struct input *in, size_t index, const json_t *object)
{
    const char *name = json_string_value(json_object_get(object, "name"));
    json_t *fields = json_object_get(object, "fields"), *field;
    const char *key;
    size_t r = 0;

    while (name != NULL && r < facet_csr_row_count &&
           (facet_csr_rows[r].isa != in->cover->isa || strcmp(facet_csr_rows[r].name, name) != 0)) {
        r++;
    }
    if (name == NULL || r == facet_csr_row_count) {
        refuse(in, "csrs", index, "name", "expected that of a row of the tables");
        return;
    }
    cover_add_count(&in->cover->csrs[r].read, get(in, "csrs", index, object, "read"));
    cover_add_count(&in->cover->csrs[r].written, get(in, "csrs", index, object, "written"));
    cover_add_count(&in->cover->csrs[r].set, get(in, "csrs", index, object, "set"));
    if (!json_is_object(fields)) {
        refuse(in, "csrs", index, "fields", "expected an object");
        return;
    }
    json_object_foreach(fields, key, field)
    {
        const struct facet_csr_row *row = &facet_csr_rows[r];
        uint32_t f = 0;

        while (f < row->field_count && strcmp(row->fields[f].name, key) != 0) {
            f++;
        }
        if (f == row->field_count) {
            refuse(in, "csrs", index, "fields", "has a name that the register does not have");
            return;
        }
        get_field(in, index, &in->cover->fields[in->cover->first_field[r] + f], field);
    }
}

static void get_list(struct input *in,
                     const json_t *top,
                     const char *key,
                     void (*each)(struct input *in, size_t index, const json_t *object))
{
    const json_t *list = json_object_get(top, key), *value;
    size_t i;

    if (!json_is_array(list)) {
        refuse(in, NULL, 0, key, "expected a list");
        return;
    }
    json_array_foreach(list, i, value)
    {
        if (in->status == FACET_OK) {
            each(in, i, value);
        }
    }
}

/* FACET_ISA_COUNT for anything else. */
static enum facet_isa machine_of(const json_t *top)
{
    const char *name = json_string_value(json_object_get(top, "machine"));
    int isa = 0;

    while (isa < FACET_ISA_COUNT && (name == NULL || strcmp(facet_isa_name[isa], name) != 0)) {
        isa++;
    }
    return (enum facet_isa)isa;
}

enum facet_status cover_parse(
    const char *name, const void *text, size_t size, struct cover **out, struct facet_error *err)
{
    struct input in = {.name = name, .err = err};
    json_t *top;

    *out = NULL;
    in.status = facet_json_parse(name, text, size, &top, err);
    if (in.status != FACET_OK) {
        return in.status;
    }
    if (json_integer_value(json_object_get(top, "facet_cover")) != COVER_VERSION) {
        refuse(&in, NULL, 0, "facet_cover", "expected 1, the version of files of --cover");
    } else if (machine_of(top) == FACET_ISA_COUNT) {
        refuse(&in, NULL, 0, "machine", "expected xphmg or tile");
    } else {
        in.cover = cover_create(machine_of(top));
        if (in.cover == NULL) {
            in.status = facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for %s", name);
        } else {
            in.cover->runs = get(&in, NULL, 0, top, "runs");
            in.cover->retired = get(&in, NULL, 0, top, "retired");
            get_dim(&in, 0, top, "causes", COVER_TRAPS, in.cover->causes);
            get_list(&in, top, "instructions", get_insn);
            get_list(&in, top, "csrs", get_csr);
        }
    }
    json_decref(top);
    if (in.status != FACET_OK) {
        cover_free(in.cover);
        return in.status;
    }
    *out = in.cover;
    return FACET_OK;
}
