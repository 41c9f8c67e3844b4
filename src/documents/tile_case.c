/* See tile_case.h: reading case.json. */
#include "documents/tile_case_data.h"

#include "assembler/assemble.h"
#include "base/side_file.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { JSON_LIMIT = 16 << 20, FILE_LIMIT = 256 << 20 };

/* Where the reader stands, for messages. */
struct reader {
    const char *folder;
    struct facet_doc_tile_case *c;
    struct facet_error *err;
    struct facet_bytes text; /* of case.json */
};

/* The line of the key that ends a path such as "expected.faults[2].core", or 0 when it is not there
 * or in several places: the parser does not keep positions. */
static unsigned line_of(const struct facet_bytes *text, const char *path)
{
    const char *dot = strrchr(path, '.'), *last = dot != NULL ? dot + 1 : path;
    const char *at = (const char *)text->data, *found = NULL;
    char key[160];
    unsigned line = 1;

    (void)snprintf(key, sizeof key, "\"%.*s\"", (int)strcspn(last, "["), last);
    while (at != NULL && (at = strstr(at, key)) != NULL) {
        const char *after = at + strlen(key);

        if (after[strspn(after, " \t\r\n")] == ':') { /* a key, not a text */
            if (found != NULL) {
                return 0;
            }
            found = at;
        }
        at = after;
    }
    for (at = (const char *)text->data; at < found; at++) {
        line += *at == '\n';
    }
    return found != NULL ? line : 0;
}

static bool no_memory(const struct reader *r)
{
    (void)facet_fail(r->err, FACET_ERR_MEMORY, 0, "%s: out of memory for a case", r->folder);
    return false;
}

static bool complain(const struct reader *r, const char *key, const char *expected)
{
    unsigned line = line_of(&r->text, key);
    char place[16] = "";

    if (line != 0) {
        (void)snprintf(place, sizeof place, ":%u", line);
    }
    (void)facet_fail(r->err,
                     FACET_ERR_INPUT,
                     line,
                     "%s/case.json%s: %s: expected %s",
                     r->folder,
                     place,
                     key,
                     expected);
    return false;
}

/* ---- small values ---- */

static bool
number(const struct reader *r, const json_t *value, const char *key, uint64_t max, uint64_t *out)
{
    const char *text = json_string_value(value);
    char expected[64];

    /* Eight decimal digits and more in a string are more likely an address without its 0x. */
    if ((text == NULL || strncasecmp(text, "0x", 2) == 0 || strlen(text) < 8) && value != NULL &&
        facet_json_to_u64(value, out) && *out <= max) {
        return true;
    }
    (void)snprintf(expected,
                   sizeof expected,
                   "a number from 0 to %llu or a \"0x...\" string",
                   (unsigned long long)max);
    return complain(r, key, expected);
}

static bool word(const struct reader *r, const json_t *value, const char *key, uint32_t *out)
{
    uint64_t n = 0;

    if (json_is_integer(value) && json_integer_value(value) < 0 &&
        json_integer_value(value) >= INT32_MIN) {
        *out = (uint32_t)json_integer_value(value);
        return true;
    }
    if (!number(r, value, key, UINT32_MAX, &n)) {
        return false;
    }
    *out = (uint32_t)n;
    return true;
}

/* An optional 32-bit member. */
static bool
member(const struct reader *r, const json_t *object, const char *key, uint32_t *out, bool *present)
{
    const json_t *value = json_object_get(object, key);
    uint64_t n = 0;

    if (present != NULL) {
        *present = value != NULL;
    }
    if (value == NULL) {
        return true;
    }
    if (!number(r, value, key, UINT32_MAX, &n)) {
        return false;
    }
    *out = (uint32_t)n;
    return true;
}

static bool known(const struct reader *r,
                  const json_t *object,
                  const char *where,
                  const char *const *keys,
                  size_t count)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)object, key, value)
    {
        size_t i = 0;

        while (i < count && strcmp(keys[i], key) != 0) {
            i++;
        }
        if (i == count) {
            char path[160];

            (void)snprintf(path, sizeof path, "%s%.100s", where, key);
            return complain(r, path, "a known key");
        }
    }
    return true;
}

#define KNOWN(r, object, where, ...)                                                               \
    known(r,                                                                                       \
          object,                                                                                  \
          where,                                                                                   \
          (const char *const[]){__VA_ARGS__},                                                      \
          sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static bool
pair(const struct reader *r, const json_t *object, const char *key, uint32_t *x, uint32_t *y)
{
    const json_t *array = json_object_get(object, key);
    uint64_t a = 0, b = 0;

    if (!json_is_array(array) || json_array_size(array) != 2) {
        return complain(r, key, "[columns, rows] or [width, height]");
    }
    if (!number(r, json_array_get(array, 0), key, 0xFFFF, &a) ||
        !number(r, json_array_get(array, 1), key, 0xFFFF, &b)) {
        return false;
    }
    *x = (uint32_t)a;
    *y = (uint32_t)b;
    return true;
}

/* ---- files ---- */

static enum facet_status
read_file(const struct reader *r, const char *name, size_t limit, struct facet_bytes *out)
{
    struct facet_error inner = {0};
    enum facet_status status = facet_side_file_read(r->folder, name, limit, out, &inner);

    return status == FACET_OK
               ? FACET_OK
               : facet_fail(r->err, status, 0, "%.160s/%.300s", r->folder, inner.message);
}

static bool assemble(const struct reader *r, const struct facet_bytes *text)
{
    struct facet_asm_options options = {
        .isa = FACET_ISA_TILE, .file = "kernel.s", .has_base = true, .base = r->c->packet.pc};
    struct facet_asm_result result;
    uint64_t base;
    bool good =
        facet_assemble(&options, (const char *)text->data, text->size, &result, r->err) ==
            FACET_OK &&
        facet_object_make_segments(result.object, r->err) == FACET_OK &&
        facet_object_flatten(
            result.object, &r->c->kernel.data, &r->c->kernel.size, &base, r->err) == FACET_OK;

    facet_asm_result_free(&result);
    if (!good) {
        (void)facet_fail_in(r->err, r->folder);
    }
    return good;
}

static bool read_kernel(const struct reader *r)
{
    struct facet_bytes text = {NULL, 0};
    bool good;

    if (facet_side_file_exists(r->folder, "kernel.bin") ||
        !facet_side_file_exists(r->folder, "kernel.s")) {
        return read_file(r, "kernel.bin", FILE_LIMIT, &r->c->kernel) == FACET_OK;
    }
    good = read_file(r, "kernel.s", FILE_LIMIT, &text) == FACET_OK && assemble(r, &text);
    free(text.data);
    return good;
}

static bool read_blocks(const struct reader *r,
                        const json_t *root,
                        const char *key,
                        bool has_length,
                        struct facet_doc_tile_block **out,
                        size_t *count)
{
    const json_t *array = json_object_get(root, key);

    if (array == NULL) {
        return true;
    }
    if (!json_is_array(array)) {
        return complain(r, key, "a list");
    }
    *out = calloc(json_array_size(array) + 1, sizeof **out);
    if (*out == NULL) {
        return no_memory(r);
    }
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *item = json_array_get(array, i);
        const char *name = json_string_value(json_object_get(item, "file"));
        struct facet_doc_tile_block *block = &(*out)[i];
        uint64_t address = 0, length = 0;
        char place[32], where[48];

        (void)snprintf(place, sizeof place, "%s[%zu]", key, i);
        (void)snprintf(where, sizeof where, "%s.", place);
        if (!json_is_object(item) || name == NULL) {
            return complain(r, place, "an object with address and file");
        }
        if (!(has_length ? KNOWN(r, item, where, "address", "length", "file")
                         : KNOWN(r, item, where, "address", "file")) ||
            !number(r, json_object_get(item, "address"), place, UINT32_MAX, &address) ||
            (has_length &&
             !number(r, json_object_get(item, "length"), place, FILE_LIMIT, &length)) ||
            read_file(r, name, FILE_LIMIT, &block->bytes) != FACET_OK) {
            return false;
        }
        block->address = (uint32_t)address;
        (*count)++;
        if (has_length && length != block->bytes.size) {
            (void)facet_fail(r->err,
                             FACET_ERR_INPUT,
                             0,
                             "%s/%s: %zu bytes, expected %llu as case.json says",
                             r->folder,
                             name,
                             block->bytes.size,
                             (unsigned long long)length);
            return false;
        }
    }
    return true;
}

/* ---- parts of case.json ---- */

static bool read_args(const struct reader *r, const json_t *root)
{
    const json_t *args = json_object_get(root, "args");
    struct facet_doc_tile_case *c = r->c;
    bool has_address;

    if (!member(r, root, "arg_address", &c->packet.arg_base, &has_address)) {
        return false;
    }
    if (args == NULL) {
        return true;
    }
    if (!json_is_array(args)) {
        return complain(r, "args", "a list of 32-bit words");
    }
    if (json_array_size(args) != 0 && !has_address) {
        return complain(r, "arg_address", "the address of the argument block");
    }
    c->args.size = 4 * json_array_size(args);
    c->args.data = malloc(c->args.size + 1);
    if (c->args.data == NULL) {
        return no_memory(r);
    }
    c->packet.arg_size = (uint32_t)c->args.size;
    for (size_t i = 0; i < json_array_size(args); i++) {
        uint32_t value = 0;

        if (!word(r, json_array_get(args, i), "args", &value)) {
            return false;
        }
        facet_store_le32(c->args.data + 4 * i, value);
    }
    return true;
}

static bool read_poison(const struct reader *r, const json_t *value)
{
    const char *text = json_string_value(value);
    bool on = json_is_true(value) || (text != NULL && strcmp(text, "on") == 0) ||
              (json_is_integer(value) && json_integer_value(value) == 1);
    bool off = value == NULL || json_is_false(value) ||
               (text != NULL && strcmp(text, "off") == 0) ||
               (json_is_integer(value) && json_integer_value(value) == 0);

    if (!on && !off) {
        return complain(r, "options.poison", "true, false, \"on\" or \"off\"");
    }
    r->c->config.poison = on;
    return true;
}

static bool read_options(const struct reader *r, const json_t *root)
{
    const json_t *options = json_object_get(root, "options");
    const json_t *mem, *sched;
    struct facet_tile_config *config = &r->c->config;

    if (options == NULL) {
        return true;
    }
    if (!json_is_object(options)) {
        return complain(r, "options", "an object");
    }
    mem = json_object_get(options, "mem");
    sched = json_object_get(options, "sched");
    if (!KNOWN(r, options, "options.", "mem", "sched", "poison", "regs", "vram", "wdog") ||
        !read_poison(r, json_object_get(options, "poison")) ||
        !member(r, options, "regs", &config->regs, NULL) ||
        !member(r, options, "vram", &config->vram, NULL) ||
        !member(r, options, "wdog", &config->watchdog, NULL)) {
        return false;
    }
    if (mem != NULL &&
        (!json_is_string(mem) || !facet_tile_parse_mem(json_string_value(mem), config))) {
        return complain(r, "options.mem", "\"weak\" or \"strong\"");
    }
    if (sched != NULL &&
        (!json_is_string(sched) || !facet_tile_parse_sched(json_string_value(sched), config))) {
        return complain(r, "options.sched", "\"rr:Q\" or \"rnd:SEED\"");
    }
    if (json_object_get(options, "regs") != NULL && config->regs != 16 && config->regs != 32) {
        return complain(r, "options.regs", "16 or 32");
    }
    if (config->vram % 4096 != 0 || config->vram > FACET_TILE_VRAM_MAX) {
        return complain(r, "options.vram", "a multiple of 4096 up to 256 MiB");
    }
    return true;
}

static bool read_fault(const struct reader *r, const json_t *item)
{
    uint32_t core = FACET_TILE_CORES;
    bool has_core, has_cause;
    struct facet_doc_tile_expected_fault fault = {.listed = true};

    if (!json_is_object(item)) {
        return complain(r, "expected.faults", "a list of objects");
    }
    if (!KNOWN(r, item, "expected.faults.", "core", "cause", "pc", "address", "status") ||
        !member(r, item, "core", &core, &has_core) ||
        !member(r, item, "cause", &fault.cause, &has_cause) ||
        !member(r, item, "pc", &fault.pc, &fault.has_pc) ||
        !member(r, item, "address", &fault.address, &fault.has_address) ||
        !member(r, item, "status", &fault.status, &fault.has_status)) {
        return false;
    }
    if (!has_core || core >= FACET_TILE_CORES || !has_cause || r->c->faults[core].listed) {
        return complain(r, "expected.faults", "core 0..3, each at most once, and cause");
    }
    r->c->faults[core] = fault;
    return true;
}

static bool read_instret(const struct reader *r, const json_t *value)
{
    if (value == NULL) {
        return true;
    }
    if (!json_is_array(value) || json_array_size(value) != FACET_TILE_CORES) {
        return complain(r, "expected.instret", "a list of four numbers");
    }
    for (unsigned i = 0; i < FACET_TILE_CORES; i++) {
        if (!number(
                r, json_array_get(value, i), "expected.instret", INT64_MAX, &r->c->instret[i])) {
            return false;
        }
    }
    r->c->has_instret = true;
    return true;
}

static bool read_expected(const struct reader *r, const json_t *root)
{
    const json_t *expected = json_object_get(root, "expected");
    const json_t *faults, *rounds;
    const char *result;

    if (!json_is_object(expected)) {
        return complain(r, "expected", "an object");
    }
    result = json_string_value(json_object_get(expected, "result"));
    faults = json_object_get(expected, "faults");
    rounds = json_object_get(expected, "rounds");
    if (!KNOWN(r, expected, "expected.", "result", "rounds", "instret", "faults")) {
        return false;
    }
    if (result == NULL || (strcmp(result, "ok") != 0 && strcmp(result, "fault") != 0)) {
        return complain(r, "expected.result", "\"ok\" or \"fault\"");
    }
    r->c->expects_fault = result[0] == 'f';
    r->c->has_rounds = rounds != NULL;
    if (rounds != NULL && !number(r, rounds, "expected.rounds", INT64_MAX, &r->c->rounds)) {
        return false;
    }
    if (faults != NULL && !json_is_array(faults)) {
        return complain(r, "expected.faults", "a list");
    }
    r->c->has_faults = faults != NULL;
    for (size_t i = 0; i < json_array_size(faults); i++) {
        if (!read_fault(r, json_array_get(faults, i))) {
            return false;
        }
    }
    return read_instret(r, json_object_get(expected, "instret"));
}

static bool read_requirements(const struct reader *r, const json_t *root)
{
    const json_t *ids = json_object_get(root, "requirement_ids");

    if (ids != NULL && !json_is_array(ids)) {
        return complain(r, "requirement_ids", "a list of strings");
    }
    for (size_t i = 0; i < json_array_size(ids); i++) {
        if (!json_is_string(json_array_get(ids, i))) {
            return complain(r, "requirement_ids", "a list of strings");
        }
    }
    return true;
}

static bool read_root(const struct reader *r, const json_t *root)
{
    struct facet_tile_packet *p = &r->c->packet;
    const char *name = json_string_value(json_object_get(root, "name"));
    uint64_t address = 0, mask = 0;

    if (!json_is_object(root)) {
        return complain(r, "case", "an object");
    }
    if (!KNOWN(r,
               root,
               "",
               "name",
               "comment",
               "requirement_ids",
               "kernel_address",
               "grid",
               "tile",
               "args",
               "arg_address",
               "shared_size",
               "core_mask",
               "const_address",
               "const_size",
               "watchdog",
               "options",
               "inputs",
               "outputs",
               "expected")) {
        return false;
    }
    if (name == NULL) {
        return complain(r, "name", "a string");
    }
    (void)snprintf(r->c->name, sizeof r->c->name, "%s", name);
    if (json_object_get(root, "core_mask") != NULL &&
        !number(r, json_object_get(root, "core_mask"), "core_mask", 15, &mask)) {
        return false;
    }
    p->core_mask = (uint32_t)mask;
    if (!number(
            r, json_object_get(root, "kernel_address"), "kernel_address", UINT32_MAX, &address)) {
        return false;
    }
    p->pc = (uint32_t)address;
    return pair(r, root, "grid", &p->columns, &p->rows) &&
           (json_object_get(root, "tile") == NULL ||
            pair(r, root, "tile", &p->tile_width, &p->tile_height)) &&
           member(r, root, "shared_size", &p->shared_size, NULL) &&
           member(r, root, "const_address", &p->const_base, NULL) &&
           member(r, root, "const_size", &p->const_size, NULL) &&
           member(r, root, "watchdog", &p->watchdog, NULL) && read_requirements(r, root) &&
           read_args(r, root) && read_options(r, root) && read_expected(r, root) &&
           read_kernel(r) &&
           read_blocks(r, root, "inputs", false, &r->c->inputs, &r->c->input_count) &&
           read_blocks(r, root, "outputs", true, &r->c->outputs, &r->c->output_count);
}

/* ---- the case ---- */

void facet_doc_tile_case_free(struct facet_doc_tile_case *c)
{
    if (c == NULL) {
        return;
    }
    for (size_t i = 0; i < c->input_count; i++) {
        free(c->inputs[i].bytes.data);
    }
    for (size_t i = 0; i < c->output_count; i++) {
        free(c->outputs[i].bytes.data);
    }
    free(c->inputs);
    free(c->outputs);
    free(c->args.data);
    free(c->kernel.data);
    free(c);
}

const char *facet_doc_tile_case_name(const struct facet_doc_tile_case *c)
{
    return c->name;
}

enum facet_status facet_doc_tile_case_read(const char *folder,
                                           struct facet_doc_tile_case **out,
                                           struct facet_error *err)
{
    struct facet_error local = {0};
    struct reader r = {folder, calloc(1, sizeof *r.c), err != NULL ? err : &local, {NULL, 0}};
    json_t *root = NULL;
    char path[4096];
    enum facet_status status;

    *out = NULL;
    if (r.c == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a case");
    }
    if ((size_t)snprintf(path, sizeof path, "%s/case.json", folder) >= sizeof path) {
        facet_doc_tile_case_free(r.c);
        return facet_fail(err, FACET_ERR_USAGE, 0, "%.100s...: the path is too long", folder);
    }
    status = read_file(&r, "case.json", JSON_LIMIT, &r.text);
    if (status == FACET_OK) {
        status = facet_json_parse(path, r.text.data, r.text.size, &root, r.err);
    }
    if (status == FACET_OK && !read_root(&r, root)) {
        status = r.err->status != FACET_OK ? r.err->status : FACET_ERR_INPUT;
    }
    json_decref(root);
    free(r.text.data);
    if (status != FACET_OK) {
        facet_doc_tile_case_free(r.c);
        return status;
    }
    *out = r.c;
    return FACET_OK;
}
