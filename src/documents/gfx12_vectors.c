/* Vector files: see gfx12_vectors.h. Unknown members are refused, since a misspelt optional one
 * would otherwise be skipped without a word. */
#include "documents/gfx12_vectors.h"

#include "base/bits.h"
#include "base/strbuf.h"
#include "contract/gfx12_insns.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Where the reader stands, for messages. */
struct reader {
    const char *file;
    size_t index;
    const char *name; /* of the case; NULL while unknown */
    struct facet_error *err;
};

static bool complain(const struct reader *r, const char *path, const char *what)
{
    (void)facet_fail(r->err,
                     FACET_ERR_INPUT,
                     r->index,
                     "%s: case %zu%s%.64s%s: cases[%zu]%s: %s",
                     r->file,
                     r->index,
                     r->name != NULL ? " \"" : "",
                     r->name != NULL ? r->name : "",
                     r->name != NULL ? "\"" : "",
                     r->index,
                     path,
                     what);
    return false;
}

static bool read_number(
    const struct reader *r, const json_t *value, const char *path, uint64_t max, uint64_t *out)
{
    if (value == NULL || !facet_json_to_u64(value, out) || *out > max) {
        return complain(r,
                        path,
                        max == UINT32_MAX ? "expected 32 bits: a number or a \"0x...\" string"
                                          : "expected 64 bits: a number or a \"0x...\" string");
    }
    return true;
}

static bool read_u32(const struct reader *r, const json_t *object, const char *key, uint32_t *out)
{
    char path[64];
    uint64_t value = 0;
    bool ok;

    (void)snprintf(path, sizeof path, ".%s", key);
    ok = read_number(r, json_object_get(object, key), path, UINT32_MAX, &value);
    *out = (uint32_t)value;
    return ok;
}

static bool read_dwords(
    const struct reader *r, const json_t *object, const char *key, size_t count, uint32_t *out)
{
    const json_t *array = json_object_get(object, key);
    char path[64], what[64];
    (void)snprintf(path, sizeof path, ".%s", key);
    if (!json_is_array(array) || json_array_size(array) != count) {
        (void)snprintf(what, sizeof what, "expected an array of %zu dwords", count);
        return complain(r, path, what);
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t value = 0;
        (void)snprintf(path, sizeof path, ".%s[%zu]", key, i);
        if (!read_number(r, json_array_get(array, i), path, UINT32_MAX, &value)) {
            return false;
        }
        out[i] = (uint32_t)value;
    }
    return true;
}

/* An array of `least` to `most` dwords, a multiple of `step`; *out is for free(). */
static bool read_array(const struct reader *r,
                       const json_t *object,
                       const char *key,
                       const size_t limits[3],
                       uint32_t **out,
                       size_t *count)
{
    const json_t *array = json_object_get(object, key);
    size_t size = json_array_size(array);
    char path[64], what[96];

    (void)snprintf(path, sizeof path, ".%s", key);
    if (!json_is_array(array) || size < limits[0] || size > limits[1] || size % limits[2] != 0) {
        (void)snprintf(what,
                       sizeof what,
                       "expected an array of %zu to %zu dwords, a multiple of %zu",
                       limits[0],
                       limits[1],
                       limits[2]);
        return complain(r, path, what);
    }
    *out = calloc(size + 1, sizeof **out);
    if (*out == NULL) {
        (void)facet_fail(r->err, FACET_ERR_MEMORY, 0, "%s: out of memory", r->file);
        return false;
    }
    *count = size;
    return read_dwords(r, object, key, size, *out);
}

bool facet_doc_gfx12_profile_from(const char *word, enum facet_gfx12_profile *out)
{
    if (word != NULL && strcmp(word, "silicon") == 0) {
        *out = FACET_GFX12_SILICON;
    } else if (word != NULL && strcmp(word, "gpurt") == 0) {
        *out = FACET_GFX12_GPURT;
    } else {
        return false;
    }
    return true;
}

static bool
read_options(const struct reader *r, const json_t *object, struct facet_doc_gfx12_vector *v)
{
    const json_t *profile = json_object_get(object, "profile");
    const json_t *sense = json_object_get(object, "opaque_sense");
    const json_t *base = json_object_get(object, "bvh_base");
    const json_t *comment;

    if (profile != NULL) {
        if (!facet_doc_gfx12_profile_from(json_string_value(profile), &v->profile)) {
            return complain(r, ".profile", "expected \"silicon\" or \"gpurt\"");
        }
        v->has_profile = true;
    }
    if (sense != NULL) {
        const char *word = json_string_value(sense);
        bool seed = word != NULL && strcmp(word, "seed") == 0;
        if (!seed && (word == NULL || strcmp(word, "hw") != 0)) {
            return complain(r, ".opaque_sense", "expected \"hw\" or \"seed\"");
        }
        v->opaque_sense = seed ? FACET_GFX12_SENSE_SEED : FACET_GFX12_SENSE_HW;
    }
    comment = json_object_get(object, "comment");
    if (comment != NULL && !json_is_string(comment)) {
        return complain(r, ".comment", "expected a string");
    }
    if (base != NULL && !read_number(r, base, ".bvh_base", UINT64_MAX, &v->bvh_base)) {
        return false;
    }
    v->has_origin = json_object_get(object, "expected_origin") != NULL;
    v->has_direction = json_object_get(object, "expected_direction") != NULL;
    return (!v->has_origin || read_dwords(r, object, "expected_origin", 3, v->expected_origin)) &&
           (!v->has_direction ||
            read_dwords(r, object, "expected_direction", 3, v->expected_direction));
}

/* The members of a case by instruction: bit n for enum facet_doc_gfx12_instruction n. */
enum { BOTH_INTERSECT = 3, BOTH_STACK = 12, ALL = 15 };
static const struct {
    const char *key;
    unsigned instructions;
} members[] = {
    {"name", ALL},
    {"instruction", ALL},
    {"comment", ALL},
    {"expected", ALL},
    {"node", BOTH_INTERSECT},
    {"node_pointer", 1},
    {"node_pointers", 2},
    {"resource", BOTH_INTERSECT},
    {"ray_extent", BOTH_INTERSECT},
    {"origin", BOTH_INTERSECT},
    {"direction", BOTH_INTERSECT},
    {"instance_mask", BOTH_INTERSECT},
    {"bvh_base", BOTH_INTERSECT},
    {"profile", BOTH_INTERSECT},
    {"opaque_sense", BOTH_INTERSECT},
    {"expected_origin", BOTH_INTERSECT},
    {"expected_direction", BOTH_INTERSECT},
    {"offset0", BOTH_STACK},
    {"offset1", BOTH_STACK},
    {"address", BOTH_STACK},
    {"last", BOTH_STACK},
    {"data", BOTH_STACK},
    {"lds", BOTH_STACK},
    {"expected_address", BOTH_STACK},
    {"expected_lds", BOTH_STACK},
};

static bool
known_members(const struct reader *r, json_t *object, enum facet_doc_gfx12_instruction instruction)
{
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        unsigned instructions = 0;

        for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
            if (strcmp(key, members[i].key) == 0) {
                instructions = members[i].instructions;
            }
        }
        if ((instructions >> instruction & 1) == 0) {
            char path[64];

            (void)snprintf(path, sizeof path, ".%.48s", key);
            return complain(r,
                            path,
                            instructions == 0 ? "unknown member"
                                              : "a member of cases of another instruction");
        }
    }
    return true;
}

static bool read_instruction(const struct reader *r,
                             const json_t *object,
                             enum facet_doc_gfx12_instruction *out)
{
    static const char *const names[] = {
        FACET_GFX12_IMAGE_BVH8_INTERSECT_RAY,
        FACET_GFX12_IMAGE_BVH_DUAL_INTERSECT_RAY,
        FACET_GFX12_DS_BVH_STACK_PUSH8_POP1_RTN_B32,
        FACET_GFX12_DS_BVH_STACK_PUSH8_POP2_RTN_B64,
    };
    const json_t *value = json_object_get(object, "instruction");

    *out = FACET_DOC_GFX12_INTERSECT8;
    for (unsigned i = 0; value != NULL && i < 4; i++) {
        if (json_is_string(value) && strcmp(json_string_value(value), names[i]) == 0) {
            *out = (enum facet_doc_gfx12_instruction)i;
            return true;
        }
    }
    return value == NULL ||
           complain(r, ".instruction", "expected the name of one of the four instructions");
}

static bool
read_intersect(const struct reader *r, const json_t *object, struct facet_doc_gfx12_vector *v)
{
    static const size_t any_nodes[3] = {16, 4096, 16};
    uint32_t pointers[2], origin[3], direction[3], extent;

    if (v->instruction == FACET_DOC_GFX12_DUAL) {
        if (!read_array(r, object, "node", any_nodes, &v->memory, &v->memory_dwords) ||
            !read_dwords(r, object, "node_pointers", 2, pointers)) {
            return false;
        }
    } else {
        v->memory_dwords = 32;
        v->memory = calloc(v->memory_dwords, sizeof *v->memory);
        if (v->memory == NULL) {
            (void)facet_fail(r->err, FACET_ERR_MEMORY, 0, "%s: out of memory", r->file);
            return false;
        }
        if (!read_dwords(r, object, "node", 32, v->memory) ||
            !read_u32(r, object, "node_pointer", &pointers[0])) {
            return false;
        }
        pointers[1] = FACET_GFX12_INVALID;
    }
    if (!read_dwords(r, object, "resource", 4, v->resource) ||
        !read_u32(r, object, "ray_extent", &extent) ||
        !read_u32(r, object, "instance_mask", &v->ray.instance_mask) ||
        !read_dwords(r, object, "origin", 3, origin) ||
        !read_dwords(r, object, "direction", 3, direction) ||
        !read_dwords(r, object, "expected", 10, v->expected) || !read_options(r, object, v)) {
        return false;
    }
    /* Instructions read bytes. */
    for (size_t i = 0; i < v->memory_dwords; i++) {
        facet_store_le32((uint8_t *)(v->memory + i), v->memory[i]);
    }
    v->node_pointer = pointers[0];
    v->second_pointer = pointers[1];
    memcpy(v->ray.origin, origin, sizeof origin);
    memcpy(v->ray.direction, direction, sizeof direction);
    memcpy(&v->ray.extent, &extent, sizeof extent);
    return true;
}

static bool
read_stack(const struct reader *r, const json_t *object, struct facet_doc_gfx12_vector *v)
{
    static const size_t any_lds[3] = {0, 16384, 1};
    const json_t *comment = json_object_get(object, "comment");
    uint32_t offsets[2];

    if (comment != NULL && !json_is_string(comment)) {
        return complain(r, ".comment", "expected a string");
    }
    if (!read_u32(r, object, "offset0", &offsets[0]) ||
        !read_u32(r, object, "offset1", &offsets[1]) ||
        !read_u32(r, object, "address", &v->address) || !read_u32(r, object, "last", &v->last) ||
        !read_dwords(r, object, "data", 8, v->data) ||
        !read_array(r, object, "lds", any_lds, &v->memory, &v->memory_dwords) ||
        !read_dwords(
            r, object, "expected", v->instruction == FACET_DOC_GFX12_POP2 ? 2 : 1, v->expected) ||
        !read_u32(r, object, "expected_address", &v->expected_address)) {
        return false;
    }
    if (offsets[0] > 0xFF || offsets[1] > 0xFF) {
        return complain(
            r, offsets[0] > 0xFF ? ".offset0" : ".offset1", "expected a number from 0 to 255");
    }
    v->offset0 = (uint8_t)offsets[0];
    v->offset1 = (uint8_t)offsets[1];
    return json_object_get(object, "expected_lds") == NULL ||
           read_array(
               r, object, "expected_lds", any_lds, &v->expected_lds, &v->expected_lds_dwords);
}

static bool read_case(struct reader *r, json_t *object, struct facet_doc_gfx12_vector *v)
{
    if (!json_is_object(object)) {
        return complain(r, "", "expected an object");
    }
    r->name = json_string_value(json_object_get(object, "name"));
    if (r->name == NULL) {
        return complain(r, ".name", "expected a string");
    }
    if (!read_instruction(r, object, &v->instruction) ||
        !known_members(r, object, v->instruction) ||
        !(facet_doc_gfx12_is_stack(v) ? read_stack(r, object, v) : read_intersect(r, object, v))) {
        return false;
    }
    v->name = strdup(r->name);
    if (v->name == NULL) {
        (void)facet_fail(r->err, FACET_ERR_MEMORY, 0, "%s: out of memory", r->file);
    }
    return v->name != NULL;
}

static enum facet_status read_cases(const char *file,
                                    json_t *root,
                                    struct facet_doc_gfx12_vectors *out,
                                    struct facet_error *err)
{
    json_t *cases = json_object_get(root, "cases");
    struct facet_error local = {0};
    size_t count;

    if (!json_is_array(cases)) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "%s: cases: expected an array", file);
    }
    count = json_array_size(cases);
    out->cases = calloc(count + 1, sizeof out->cases[0]);
    if (out->cases == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "%s: out of memory", file);
    }
    for (size_t i = 0; i < count; i++) {
        struct reader r = {.file = file, .index = i, .err = err != NULL ? err : &local};
        out->count = i + 1;
        if (!read_case(&r, json_array_get(cases, i), &out->cases[i])) {
            return r.err->status;
        }
    }
    return FACET_OK;
}

/* ---- large integers ---- */

/* The length of the decimal integer at the start of the text when it is one of 2^63 .. 2^64 - 1, 0
 * otherwise. */
static size_t large_integer(const char *text, size_t size, uint64_t *value)
{
    size_t length = 0;
    bool real;

    *value = 0;
    while (length < size && text[length] >= '0' && text[length] <= '9') {
        uint64_t digit = (uint64_t)(text[length++] - '0');
        if (*value > (UINT64_MAX - digit) / 10) {
            return 0;
        }
        *value = *value * 10 + digit;
    }
    real = length < size && (text[length] == '.' || (text[length] | 0x20) == 'e');
    return real || text[0] == '0' || *value <= INT64_MAX ? 0 : length;
}

/* The index after the string that starts at `start`, or `size`. */
static size_t string_end(const char *text, size_t size, size_t start)
{
    size_t i = start + 1;
    while (i < size && text[i] != '"') {
        i += text[i] == '\\' ? 2 : 1;
    }
    return i < size ? i + 1 : size;
}

/* jansson refuses integers beyond 63 bits, which base pointers with flags exceed: rewrites those
 * after "bvh_base": as "0x..." strings. Such a string is as long as 20 digits, and one longer than
 * 19, so that the columns of complaints stay right (a blank before makes room). Leaves *out empty
 * when there is nothing to rewrite. */
static void rewrite_large(const char *text, size_t size, struct facet_strbuf *out)
{
    static const char key[] = "\"bvh_base\"";
    enum { NOTHING, KEY, COLON } before = NOTHING;
    size_t copied = 0, i = 0;
    while (i < size) {
        uint64_t value;
        size_t length = before == COLON ? large_integer(text + i, size - i, &value) : 0;
        if (length != 0) {
            bool room = length == 19 && text[i - 1] == ' ';
            facet_strbuf_add(out, text + copied, i - copied - room);
            facet_strbuf_printf(out, "\"0x%" PRIx64 "\"", value);
            copied = i += length;
            before = NOTHING;
        } else if (text[i] == '"') {
            size_t end = string_end(text, size, i);
            bool found = end - i == sizeof key - 1 && memcmp(text + i, key, sizeof key - 1) == 0;
            before = found ? KEY : NOTHING;
            i = end;
        } else {
            if (before == KEY && text[i] == ':') {
                before = COLON;
            } else if (strchr(" \t\r\n", text[i]) == NULL || text[i] == '\0') {
                before = NOTHING;
            }
            i++;
        }
    }
    if (copied != 0) {
        facet_strbuf_add(out, text + copied, size - copied);
    }
}

enum facet_status facet_doc_gfx12_vectors_parse(const char *file,
                                                const void *text,
                                                size_t size,
                                                struct facet_doc_gfx12_vectors *out,
                                                struct facet_error *err)
{
    json_t *root = NULL;
    struct facet_strbuf rewritten;
    enum facet_status status;
    memset(out, 0, sizeof *out);
    facet_strbuf_init(&rewritten);
    rewrite_large(text, size, &rewritten);
    if (rewritten.failed) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "%s: out of memory", file);
    } else if (rewritten.length != 0) {
        status = facet_json_parse(file, rewritten.text, rewritten.length, &root, err);
    } else {
        status = facet_json_parse(file, text, size, &root, err);
    }
    facet_strbuf_free(&rewritten);
    if (status == FACET_OK) {
        status = read_cases(file, root, out, err);
        json_decref(root);
    }
    return status;
}

void facet_doc_gfx12_vectors_free(struct facet_doc_gfx12_vectors *vectors)
{
    for (size_t i = 0; i < vectors->count; i++) {
        free(vectors->cases[i].name);
        free(vectors->cases[i].memory);
        free(vectors->cases[i].expected_lds);
    }
    free(vectors->cases);
    memset(vectors, 0, sizeof *vectors);
}

/* ---- running ---- */

bool facet_doc_gfx12_is_stack(const struct facet_doc_gfx12_vector *vector)
{
    return vector->instruction == FACET_DOC_GFX12_POP1 ||
           vector->instruction == FACET_DOC_GFX12_POP2;
}

/* Whether a dword is as expected; only the first that is not is kept. */
static void
compare(struct facet_doc_gfx12_vector_result *result, size_t dword, uint32_t got, uint32_t expected)
{
    if (result->pass && got != expected) {
        result->pass = false;
        result->differs = dword;
        result->got = got;
        result->expected = expected;
    }
}

static void run_intersect(const struct facet_doc_gfx12_vector *vector,
                          enum facet_gfx12_profile profile,
                          struct facet_doc_gfx12_vector_result *result)
{
    struct facet_gfx12_unit unit;
    struct facet_gfx12_ray ray = vector->ray;
    uint32_t want[16];

    facet_gfx12_unit_init(
        &unit, (const uint8_t *)vector->memory, 4 * (uint64_t)vector->memory_dwords);
    facet_gfx12_resource_unpack(vector->resource, &unit.resource);
    unit.profile = vector->has_profile ? vector->profile : profile;
    unit.opaque_sense = vector->opaque_sense;
    /* The node lies at offset 0 of the BVH, wherever descriptor and base pointer put that. */
    unit.image_address =
        (unit.resource.base_address * 256 + facet_gfx12_base_address(vector->bvh_base)) &
        UINT64_C(0xFFFFFFFFFFFF);
    if (vector->instruction == FACET_DOC_GFX12_DUAL) {
        facet_gfx12_intersect_dual(&unit,
                                   vector->bvh_base,
                                   vector->node_pointer,
                                   vector->second_pointer,
                                   &ray,
                                   result->dword);
    } else {
        facet_gfx12_intersect8(&unit, vector->bvh_base, vector->node_pointer, &ray, result->dword);
    }
    memcpy(result->dword + 10, ray.origin, sizeof ray.origin);
    memcpy(result->dword + 13, ray.direction, sizeof ray.direction);

    memcpy(want, vector->expected, sizeof vector->expected);
    memcpy(want + 10, vector->expected_origin, sizeof vector->expected_origin);
    memcpy(want + 13, vector->expected_direction, sizeof vector->expected_direction);
    for (unsigned i = 0; i < 16; i++) {
        if (i < 10 || (i < 13 ? vector->has_origin : vector->has_direction)) {
            compare(result, i, result->dword[i], want[i]);
        }
    }
}

static void run_stack(struct facet_doc_gfx12_vector *vector,
                      struct facet_doc_gfx12_vector_result *result)
{
    const struct facet_gfx12_lds lds = {.dwords = vector->memory,
                                        .count = (uint32_t)vector->memory_dwords,
                                        .stack_size = vector->offset0 & 31,
                                        .primitive_range = (vector->offset1 & 2) != 0};
    bool two = vector->instruction == FACET_DOC_GFX12_POP2;

    result->dword[2] = vector->address;
    if (two) {
        facet_gfx12_stack_push8_pop2(
            &lds, &result->dword[2], vector->last, vector->data, result->dword);
    } else {
        result->dword[0] =
            facet_gfx12_stack_push8_pop1(&lds, &result->dword[2], vector->last, vector->data);
    }
    compare(result, 0, result->dword[0], vector->expected[0]);
    compare(result, 1, result->dword[1], two ? vector->expected[1] : result->dword[1]);
    compare(result, 2, result->dword[2], vector->expected_address);
    for (size_t i = 0; i < vector->expected_lds_dwords; i++) {
        uint32_t got = i < vector->memory_dwords ? vector->memory[i] : 0;

        compare(result, 16 + i, got, vector->expected_lds[i]);
    }
}

void facet_doc_gfx12_vector_run(struct facet_doc_gfx12_vector *vector,
                                enum facet_gfx12_profile profile,
                                struct facet_doc_gfx12_vector_result *result)
{
    *result = (struct facet_doc_gfx12_vector_result){.pass = true};
    if (facet_doc_gfx12_is_stack(vector)) {
        run_stack(vector, result);
    } else {
        run_intersect(vector, profile, result);
    }
}

void facet_doc_gfx12_dword_name(const struct facet_doc_gfx12_vector *vector,
                                size_t dword,
                                char text[32])
{
    const char axis = dword >= 10 ? "xyz"[(dword - 10) % 3] : ' ';

    if (facet_doc_gfx12_is_stack(vector)) {
        if (dword >= 16) {
            (void)snprintf(text, 32, "lds[%zu]", dword - 16);
        } else {
            (void)snprintf(text,
                           32,
                           "%s",
                           dword == 0   ? "result"
                           : dword == 1 ? "result 2"
                                        : "address");
        }
    } else if (dword < 10) {
        (void)snprintf(text, 32, "v%zu", dword);
    } else {
        (void)snprintf(text, 32, "%s.%c", dword < 13 ? "origin" : "direction", axis);
    }
}

bool facet_doc_gfx12_vector_doubtful(const struct facet_doc_gfx12_vector *vector,
                                     enum facet_gfx12_profile profile)
{
    struct facet_gfx12_resource resource;

    facet_gfx12_resource_unpack(vector->resource, &resource);
    return vector->instruction == FACET_DOC_GFX12_INTERSECT8 &&
           resource.sort_triangles_first == 0 &&
           (vector->has_profile ? vector->profile : profile) == FACET_GFX12_SILICON;
}
