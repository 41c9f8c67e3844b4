/* Heads and records: see share.h and internal.h. */
#include "share/internal.h"

#include "base/bits.h"
#include "base/hash.h"
#include "json/json.h"

#include <facet/version.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT = 1 };
static const char magic[8] = {'f', 'a', 'c', 'e', 't', 'p', 'r', 't'};

uint64_t facet_share_unit_count(const struct facet_units *units)
{
    return units->items / units->grain + (units->items % units->grain != 0);
}

/* ---- writing ---- */

static void put_u64(struct facet_strbuf *out, uint64_t value)
{
    uint8_t bytes[8];

    facet_store_le64(bytes, value);
    facet_strbuf_add(out, (const char *)bytes, sizeof bytes);
}

enum facet_status facet_share_begin(const struct facet_share *share,
                                    const struct facet_units *units,
                                    struct facet_strbuf *out,
                                    uint64_t *hash,
                                    struct facet_error *err)
{
    json_t *head = json_copy(share->head);
    char *text = NULL;
    size_t size = 0;
    enum facet_status status;

    (void)json_object_set_new(head, "facet", json_string(facet_version()));
    (void)json_object_set_new(head, "items", json_integer((json_int_t)units->items));
    (void)json_object_set_new(head, "grain", json_integer((json_int_t)units->grain));
    (void)json_object_set_new(head, "part", json_integer(share->parts != 0 ? share->part : 1));
    (void)json_object_set_new(head, "parts", json_integer(share->parts != 0 ? share->parts : 1));
    status = facet_json_compact(head, &text, &size, err);
    json_decref(head);
    if (status == FACET_OK) {
        *hash = facet_hash_bytes(text, size, 0);
        facet_strbuf_add(out, magic, sizeof magic);
        put_u64(out, FORMAT | (uint64_t)size << 32);
        put_u64(out, *hash);
        facet_strbuf_add(out, text, size);
        status =
            out->failed ? facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for a part") : status;
    }
    free(text);
    return status;
}

static uint64_t record_hash(uint64_t head, uint64_t unit, const void *bytes, size_t size)
{
    return facet_hash_bytes(bytes, size, facet_hash_step(head, unit));
}

void facet_share_put_record(
    struct facet_strbuf *out, uint64_t head, uint64_t unit, const void *bytes, size_t size)
{
    put_u64(out, unit);
    put_u64(out, size);
    put_u64(out, record_hash(head, unit, bytes, size));
    facet_strbuf_add(out, bytes, size);
}

/* ---- reading ---- */

bool facet_share_get_record(const struct facet_bytes *file,
                            uint64_t head,
                            size_t *at,
                            struct facet_share_record *out)
{
    const uint8_t *front = file->data + *at;

    if (file->size - *at < FACET_SHARE_RECORD ||
        facet_load_le64(front + 8) > file->size - *at - FACET_SHARE_RECORD) {
        return false;
    }
    out->unit = facet_load_le64(front);
    out->size = (size_t)facet_load_le64(front + 8);
    out->bytes = front + FACET_SHARE_RECORD;
    *at += FACET_SHARE_RECORD + out->size;
    return facet_load_le64(front + 16) == record_hash(head, out->unit, out->bytes, out->size);
}

/* A member of the head: a number, a text, or what the command put there. */
static bool sound_head(const json_t *head)
{
    static const char *const numbers[] = {"items", "grain", "part", "parts"};
    bool sound = json_is_object(head) && json_is_string(json_object_get(head, "facet")) &&
                 json_is_string(json_object_get(head, "command")) &&
                 json_is_array(json_object_get(head, "options")) &&
                 json_is_object(json_object_get(head, "inputs")) &&
                 json_is_object(json_object_get(head, "frame"));

    for (size_t i = 0; sound && i < sizeof numbers / sizeof numbers[0]; i++) {
        const json_t *number = json_object_get(head, numbers[i]);

        sound = json_is_integer(number) && json_integer_value(number) >= (i != 0);
    }
    return sound && json_integer_value(json_object_get(head, "parts")) <= UINT32_MAX &&
           json_integer_value(json_object_get(head, "part")) <=
               json_integer_value(json_object_get(head, "parts"));
}

enum facet_status facet_share_get_head(const char *name,
                                       const struct facet_bytes *bytes,
                                       json_t **head,
                                       uint64_t *hash,
                                       size_t *records,
                                       struct facet_error *err)
{
    enum facet_status status;
    size_t size;

    *head = NULL;
    if (bytes->size < sizeof magic || memcmp(bytes->data, magic, sizeof magic) != 0) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "%s: is no file of --part or --resume", name);
    }
    if (bytes->size < FACET_SHARE_FRONT ||
        facet_load_le32(bytes->data + 12) > bytes->size - FACET_SHARE_FRONT) {
        return facet_fail(err, FACET_ERR_INPUT, bytes->size, "%s: is cut off in its head", name);
    }
    if (facet_load_le32(bytes->data + 8) != FORMAT) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          8,
                          "%s: has format %" PRIu32 "; expected %d",
                          name,
                          facet_load_le32(bytes->data + 8),
                          FORMAT);
    }
    size = facet_load_le32(bytes->data + 12);
    *hash = facet_load_le64(bytes->data + 16);
    *records = FACET_SHARE_FRONT + size;
    if (facet_hash_bytes(bytes->data + FACET_SHARE_FRONT, size, 0) != *hash) {
        return facet_fail(err, FACET_ERR_INPUT, FACET_SHARE_FRONT, "%s: its head is damaged", name);
    }
    status = facet_json_parse(name, bytes->data + FACET_SHARE_FRONT, size, head, err);
    if (status == FACET_OK && !sound_head(*head)) {
        status = facet_fail(
            err, FACET_ERR_INPUT, FACET_SHARE_FRONT, "%s: its head makes no sense", name);
    }
    return status;
}

/* The records of a file are one for each of its units, in any order. */
static enum facet_status check_records(const struct facet_share_file *file, struct facet_error *err)
{
    const struct facet_units units = {
        .items = (uint64_t)json_integer_value(json_object_get(file->head, "items")),
        .grain = (uint64_t)json_integer_value(json_object_get(file->head, "grain"))};
    const uint64_t parts = (uint64_t)json_integer_value(json_object_get(file->head, "parts"));
    const uint64_t all = facet_share_unit_count(&units), first = file->number - 1;
    const uint64_t count = all > first ? (all - first - 1) / parts + 1 : 0;
    const uint64_t most = (file->bytes.size - file->records) / FACET_SHARE_RECORD;
    uint64_t found = 0;
    uint8_t *seen = count <= most ? calloc(count + 1, 1) : NULL;
    struct facet_share_record record;
    enum facet_status status = FACET_OK;

    if (count <= most && seen == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for a part");
    }
    for (size_t at = file->records; status == FACET_OK && at < file->bytes.size;) {
        const size_t begin = at;

        if (!facet_share_get_record(&file->bytes, file->hash, &at, &record)) {
            status = facet_fail(err,
                                FACET_ERR_INPUT,
                                begin,
                                "%s: is cut off or damaged at offset %zu",
                                file->name,
                                begin);
        } else if (record.unit == (uint64_t)FACET_SHARE_MARK) {
            continue;
        } else if (record.unit >= all || record.unit % parts != first) {
            status = facet_fail(err,
                                FACET_ERR_INPUT,
                                begin,
                                "%s: has unit %" PRIu64 ", which is not of this part",
                                file->name,
                                record.unit);
        } else if (seen != NULL && seen[record.unit / parts]++ != 0) {
            status = facet_fail(err,
                                FACET_ERR_INPUT,
                                begin,
                                "%s: has unit %" PRIu64 " twice",
                                file->name,
                                record.unit);
        } else {
            found++;
        }
    }
    free(seen);
    if (status == FACET_OK && found != count) {
        status = facet_fail(err,
                            FACET_ERR_INPUT,
                            file->bytes.size,
                            "%s: has %" PRIu64 " of its %" PRIu64 " units; it is not complete",
                            file->name,
                            found,
                            count);
    }
    return status;
}

enum facet_status facet_share_file_parse(const char *name,
                                         struct facet_bytes bytes,
                                         struct facet_share_file *out,
                                         struct facet_error *err)
{
    enum facet_status status;

    *out = (struct facet_share_file){.name = name, .bytes = bytes};
    status = facet_share_get_head(name, &bytes, &out->head, &out->hash, &out->records, err);
    if (status == FACET_OK) {
        out->number = (uint32_t)json_integer_value(json_object_get(out->head, "part"));
        status = check_records(out, err);
    }
    return status;
}

void facet_share_file_free(struct facet_share_file *file)
{
    free(file->bytes.data);
    json_decref(file->head);
    *file = (struct facet_share_file){0};
}

/* ---- the same work ---- */

/* The first option that one of them has and the other not; NULL: the same ones. */
static const char *option_apart(const json_t *a, const json_t *b)
{
    for (size_t i = 0; i < json_array_size(a); i++) {
        const json_t *option = json_array_get(a, i);
        bool found = false;

        for (size_t k = 0; k < json_array_size(b); k++) {
            found |= json_equal(option, json_array_get(b, k));
        }
        if (!found) {
            return json_is_string(option) ? json_string_value(option) : "?";
        }
    }
    return NULL;
}

static const char *input_apart(const json_t *a, const json_t *b)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)a, key, value)
    {
        if (!json_equal(value, json_object_get(b, key))) {
            return key;
        }
    }
    return NULL;
}

/* What the message says about the work of `a`, which differs from that of `b`. */
static void
describe(const char *key, const json_t *a, const json_t *b, bool back, char *out, size_t size)
{
    const char *what = NULL;

    out[0] = '\0';
    if (strcmp(key, "facet") == 0 || strcmp(key, "command") == 0) {
        const char *const mine = json_string_value(a), *const yours = json_string_value(b);

        (void)snprintf(out,
                       size,
                       key[0] == 'f' ? "was made by facet %.60s, not by %.60s"
                                     : "is of facet %.60s, not of facet %.60s",
                       mine,
                       yours);
    } else if (strcmp(key, "options") == 0) {
        what = option_apart(a, b);
        if (what != NULL) {
            (void)snprintf(out, size, "was made with%s %.120s", back ? "out" : "", what);
        }
    } else if (strcmp(key, "inputs") == 0) {
        what = input_apart(a, b);
        if (what != NULL) {
            (void)snprintf(out, size, "is of another input: %.120s", what);
        }
    } else if (strcmp(key, "parts") == 0) {
        (void)snprintf(out,
                       size,
                       "is one of %lld part%s, not of %lld",
                       (long long)json_integer_value(a),
                       json_integer_value(a) == 1 ? "" : "s",
                       (long long)json_integer_value(b));
    } else {
        (void)snprintf(out, size, "is of other work: %s", key);
    }
}

enum facet_status facet_share_same_work(const char *name_a,
                                        const json_t *a,
                                        const char *name_b,
                                        const json_t *b,
                                        struct facet_error *err)
{
    static const char *const keys[] = {
        "facet", "command", "options", "inputs", "items", "grain", "parts", "frame"};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const json_t *mine = json_object_get(a, keys[i]), *yours = json_object_get(b, keys[i]);
        char text[200];

        if (json_equal(mine, yours)) {
            continue;
        }
        describe(keys[i], mine, yours, false, text, sizeof text);
        if (text[0] == '\0') { /* it lacks what the other has */
            describe(keys[i], yours, mine, true, text, sizeof text);
        }
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "%s: does not belong to %s: it %s",
                          name_a,
                          name_b,
                          text[0] != '\0' ? text : "has other options");
    }
    return FACET_OK;
}
