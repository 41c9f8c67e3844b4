/* The file of --profile-out: one row for each instruction that retired, by core and address. */
#include "profile/calls.h"

#include "isa/isa.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *profile_machine_name(enum facet_isa isa)
{
    return isa == PROFILE_RAYS ? "gfx12" : facet_isa_name[isa];
}

/* ---- writing ---- */

static int by_place(const void *a, const void *b)
{
    const struct facet_counts_row *x = a, *y = b;

    return x->core != y->core ? (x->core > y->core) - (x->core < y->core)
           : x->pc != y->pc   ? (x->pc > y->pc) - (x->pc < y->pc)
                              : (x->word > y->word) - (x->word < y->word);
}

/* What an instruction does to memory each time that it retires; those of the vendor units move as
 * much as their registers say, which no word shows, and are not here. */
struct traffic {
    const char *class; /* NULL: nothing */
    unsigned bytes;
};

static struct traffic traffic_of(const char *mnemonic)
{
    static const struct {
        const char *name; /* or its beginning, with '*' */
        struct traffic traffic;
    } rows[] = {
        {"lb", {"load", 1}},      {"lbu", {"load", 1}},      {"lh", {"load", 2}},
        {"lhu", {"load", 2}},     {"flh", {"load", 2}},      {"lw", {"load", 4}},
        {"lwu", {"load", 4}},     {"flw", {"load", 4}},      {"ld", {"load", 8}},
        {"fld", {"load", 8}},     {"c.lw", {"load", 4}},     {"c.lwsp", {"load", 4}},
        {"c.ld", {"load", 8}},    {"c.ldsp", {"load", 8}},   {"c.fld", {"load", 8}},
        {"c.fldsp", {"load", 8}}, {"sb", {"store", 1}},      {"sh", {"store", 2}},
        {"fsh", {"store", 2}},    {"sw", {"store", 4}},      {"fsw", {"store", 4}},
        {"sd", {"store", 8}},     {"fsd", {"store", 8}},     {"c.sw", {"store", 4}},
        {"c.swsp", {"store", 4}}, {"c.sd", {"store", 8}},    {"c.sdsp", {"store", 8}},
        {"c.fsd", {"store", 8}},  {"c.fsdsp", {"store", 8}}, {"lr.w", {"atomic", 4}},
        {"lr.d", {"atomic", 8}},  {"sc.w", {"atomic", 4}},   {"sc.d", {"atomic", 8}},
    };
    const size_t length = strlen(mnemonic);

    if (strncmp(mnemonic, "amo", 3) == 0) {
        return (struct traffic){"atomic", mnemonic[length - 1] == 'd' ? 8 : 4};
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].name, mnemonic) == 0) {
            return rows[i].traffic;
        }
    }
    return (struct traffic){NULL, 0};
}

/* {"load": {"8": 12}}: accesses by class and bytes. */
static void add_memory(json_t *memory, const char *name, uint32_t size, uint64_t accesses)
{
    json_t *class = json_object_get(memory, name);
    char bytes[16];

    if (class == NULL) {
        class = json_object();
        (void)json_object_set_new(memory, name, class);
    }
    (void)snprintf(bytes, sizeof bytes, "%" PRIu32, size);
    (void)json_object_set_new(
        class,
        bytes,
        json_integer(json_integer_value(json_object_get(class, bytes)) + (json_int_t)accesses));
}

static void add_traffic(json_t *memory, enum facet_isa isa, const struct facet_counts_row *counted)
{
    const struct facet_insn_row *row = facet_isa_decode(isa, counted->word);
    const struct traffic traffic =
        isa == FACET_ISA_XPHMG && row != NULL ? traffic_of(row->mnemonic) : (struct traffic){0};

    if (traffic.class != NULL) {
        add_memory(memory, traffic.class, traffic.bytes, counted->retired);
    }
}

json_t *profile_kernel_of(const struct facet_symbols *symbols, uint64_t pc)
{
    static const char before[] = "buffers.", behind[] = ".code";
    const size_t front = sizeof before - 1, back = sizeof behind - 1;

    for (size_t i = 0; symbols->object != NULL && i < symbols->object->section_count; i++) {
        const struct facet_section *section = &symbols->object->sections[i];

        if (pc - section->address < section->size) {
            const struct facet_line_row *line = facet_lines_find(&symbols->lines, section->address);
            const char *name = line != NULL ? line->file : "";
            const size_t length = strlen(name);

            return name[0] == '\0' ? NULL
                   : length > front + back && strncmp(name, before, front) == 0 &&
                           strcmp(name + length - back, behind) == 0
                       ? json_stringn(name + front, length - front - back)
                       : facet_json_name(name);
        }
    }
    return NULL;
}

json_t *profile_line_json(const struct facet_line_row *line)
{
    struct facet_strbuf text;
    json_t *value;

    facet_strbuf_init(&text);
    facet_strbuf_printf(&text, "%s:%" PRIu32, line->file, line->line);
    value = text.failed ? NULL : facet_json_name(facet_strbuf_text(&text));
    facet_strbuf_free(&text);
    return value;
}

/* *whole becomes false where memory was short. */
static json_t *row_json(const struct facet_counts_row *row,
                        enum facet_isa isa,
                        const struct facet_symbols *symbols,
                        bool *whole)
{
    json_t *kernel = isa == FACET_ISA_TILE ? profile_kernel_of(symbols, row->pc) : NULL;
    const struct facet_object_symbol *symbol = facet_symbols_find(symbols, row->pc);
    const struct facet_line_row *line = facet_lines_find(&symbols->lines, row->pc);
    json_t *object = json_pack("{s:I, s:o, s:o, s:I}",
                               "core",
                               (json_int_t)row->core,
                               "pc",
                               facet_json_hex(row->pc),
                               "word",
                               facet_json_hex(row->word),
                               "count",
                               (json_int_t)row->retired);

    if (row->lanes != 0) {
        (void)json_object_set_new(object, "active", json_integer((json_int_t)row->active));
        (void)json_object_set_new(object, "lanes", json_integer((json_int_t)row->lanes));
    }
    if (kernel != NULL) {
        (void)json_object_set_new(object, "kernel", kernel);
    }
    if (symbol != NULL) {
        (void)json_object_set_new(object, "symbol", facet_json_name(symbol->name));
        (void)json_object_set_new(
            object, "offset", json_integer((json_int_t)(row->pc - symbol->value)));
    }
    if (line != NULL) {
        json_t *text = profile_line_json(line);

        *whole = *whole && text != NULL;
        (void)json_object_set_new(object, "line", text);
    }
    return object;
}

json_t *profile_json(const struct facet_counts *counts,
                     enum facet_isa isa,
                     const struct facet_symbols *symbols)
{
    const size_t count = counts->rows.count, bytes = count * sizeof(struct facet_counts_row);
    struct facet_counts_row *rows = malloc(bytes + 1);
    json_t *list = json_array(), *memory = json_object(), *top;
    uint64_t retired = 0;
    bool whole = true;

    if (rows == NULL || counts->no_memory) {
        free(rows);
        json_decref(list);
        json_decref(memory);
        return NULL;
    }
    if (count != 0) {
        memcpy(rows, counts->rows.items, bytes);
        qsort(rows, count, sizeof *rows, by_place);
    }
    for (size_t i = 0; i < count; i++) {
        retired += rows[i].retired;
        add_traffic(memory, isa, &rows[i]);
        (void)json_array_append_new(list, row_json(&rows[i], isa, symbols, &whole));
    }
    free(rows);
    for (size_t i = 0; i < counts->memory.count; i++) {
        const struct facet_counts_memory *m =
            &((const struct facet_counts_memory *)counts->memory.items)[i];

        add_memory(memory, m->class, m->bytes, m->accesses);
    }
    top = json_pack("{s:i, s:s, s:I, s:o, s:o}",
                    "facet_profile",
                    PROFILE_VERSION,
                    "machine",
                    profile_machine_name(isa),
                    "retired",
                    (json_int_t)retired,
                    "memory",
                    memory,
                    "instructions",
                    list);
    profile_put_sections(top, counts);
    if (!whole) {
        json_decref(top);
        return NULL;
    }
    return top;
}

/* ---- reading ---- */

static enum facet_status
refuse(const char *name, struct facet_error *err, size_t index, const char *what)
{
    return facet_fail(err, FACET_ERR_INPUT, 0, "%s: instructions[%zu].%s", name, index, what);
}

/* A text that may be missing; false when it is something else. */
static bool get_text(const json_t *object, const char *key, const char **out)
{
    const json_t *value = json_object_get(object, key);

    *out = json_string_value(value);
    return value == NULL || *out != NULL;
}

static enum facet_status get_insn(const char *name,
                                  size_t index,
                                  const json_t *object,
                                  struct profile *profile,
                                  struct facet_error *err)
{
    struct profile_insn *insn = &profile->insns[index];
    uint64_t core, word;

    *insn = (struct profile_insn){.pc = 0};
    if (facet_json_get_u64(object, "core", UINT32_MAX, &core, NULL) != FACET_OK) {
        return refuse(name, err, index, "core: expected a number");
    }
    if (facet_json_get_u64(object, "pc", UINT64_MAX, &insn->pc, NULL) != FACET_OK) {
        return refuse(name, err, index, "pc: expected an address");
    }
    if (facet_json_get_u64(object, "word", UINT32_MAX, &word, NULL) != FACET_OK) {
        return refuse(name, err, index, "word: expected 32 bits");
    }
    if (facet_json_get_u64(object, "count", INT64_MAX, &insn->count, NULL) != FACET_OK ||
        insn->count > INT64_MAX - profile->retired) {
        return refuse(name, err, index, "count: expected a count, all together below 2^63");
    }
    if (!get_text(object, "symbol", &insn->symbol) || !get_text(object, "line", &insn->line)) {
        return refuse(name, err, index, "symbol and line: expected texts");
    }
    if (!get_text(object, "kernel", &insn->kernel)) {
        return refuse(name, err, index, "kernel: expected a text");
    }
    if (json_object_get(object, "lanes") != NULL &&
        (facet_json_get_u64(object, "lanes", INT64_MAX, &insn->lanes, NULL) != FACET_OK ||
         facet_json_get_u64(object, "active", insn->lanes, &insn->active, NULL) != FACET_OK ||
         insn->lanes > INT64_MAX - profile->lanes)) {
        return refuse(name, err, index, "lanes and active: expected counts, not more active ones");
    }
    profile->lanes += insn->lanes;
    if (insn->symbol != NULL &&
        facet_json_get_u64(object, "offset", UINT64_MAX, &insn->offset, NULL) != FACET_OK) {
        return refuse(name, err, index, "offset: expected a number");
    }
    insn->core = (uint32_t)core;
    insn->word = (uint32_t)word;
    profile->retired += insn->count;
    return FACET_OK;
}

/* {"load": {"8": 12}}, or nothing. */
static bool memory_is_good(json_t *memory)
{
    const char *key, *bytes;
    json_t *class, *value;

    if (memory != NULL && !json_is_object(memory)) {
        return false;
    }
    json_object_foreach(memory, key, class)
    {
        if (!json_is_object(class)) {
            return false;
        }
        json_object_foreach(class, bytes, value)
        {
            if (!json_is_integer(value) || json_integer_value(value) < 0) {
                return false;
            }
        }
    }
    return true;
}

static enum facet_status get_all(const char *name, struct profile *profile, struct facet_error *err)
{
    const char *machine = json_string_value(json_object_get(profile->json, "machine"));
    const json_t *list = json_object_get(profile->json, "instructions"), *value;
    enum facet_status status = FACET_OK;
    const char *wrong;
    int isa = 0;
    size_t i;

    if (json_integer_value(json_object_get(profile->json, "facet_profile")) != PROFILE_VERSION) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "%s: facet_profile: expected 1, the version of files of --profile-out",
                          name);
    }
    while (isa <= PROFILE_RAYS &&
           (machine == NULL || strcmp(profile_machine_name((enum facet_isa)isa), machine) != 0)) {
        isa++;
    }
    if (isa > PROFILE_RAYS) {
        return facet_fail(
            err, FACET_ERR_INPUT, 0, "%s: machine: expected xphmg, tile or gfx12", name);
    }
    if (!memory_is_good(json_object_get(profile->json, "memory"))) {
        return facet_fail(
            err, FACET_ERR_INPUT, 0, "%s: memory: expected objects with counts", name);
    }
    if (!profile_sections_good(profile->json, &wrong)) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "%s: %s: expected %s",
                          name,
                          wrong,
                          wrong[0] == 'd' ? "a list of objects with counts and texts"
                                          : "objects with counts");
    }
    if (!profile_stacks_good(json_object_get(profile->json, "stacks"))) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "%s: stacks: expected a list of objects with frames and a count",
                          name);
    }
    if (!json_is_array(list)) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "%s: instructions: expected a list", name);
    }
    if (isa == PROFILE_RAYS && json_array_size(list) != 0) {
        return facet_fail(
            err, FACET_ERR_INPUT, 0, "%s: instructions: expected none of machine gfx12", name);
    }
    profile->isa = (enum facet_isa)isa;
    profile->insn_count = json_array_size(list);
    profile->insns = calloc(profile->insn_count + 1, sizeof *profile->insns);
    if (profile->insns == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for %s", name);
    }
    json_array_foreach(list, i, value)
    {
        if (status == FACET_OK) {
            status = get_insn(name, i, value, profile, err);
        }
    }
    return status;
}

enum facet_status profile_parse(
    const char *name, const void *text, size_t size, struct profile *out, struct facet_error *err)
{
    enum facet_status status;

    *out = (struct profile){.json = NULL};
    status = facet_json_parse(name, text, size, &out->json, err);
    if (status == FACET_OK) {
        status = get_all(name, out, err);
    }
    if (status != FACET_OK) {
        profile_free(out);
    }
    return status;
}

void profile_free(struct profile *profile)
{
    json_decref(profile->json);
    free(profile->insns);
    *profile = (struct profile){.json = NULL};
}
