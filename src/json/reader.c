/* See reader.h. */
#include "json/reader.h"

#include "base/bits.h"

#include <stdio.h>
#include <string.h>

/* A path such as "nodes[3].children[0]", cut off where the buffer ends. */
static void path_of(const struct facet_json_reader *r, char *out, size_t size)
{
    size_t length;

    out[0] = '\0';
    if (r->outer == NULL) {
        return;
    }
    path_of(r->outer, out, size);
    length = strlen(out);
    if (r->index == FACET_READER_NO_INDEX) {
        (void)snprintf(out + length, size - length, "%s%s", length != 0 ? "." : "", r->name);
    } else {
        (void)snprintf(
            out + length, size - length, "%s%s[%zu]", length != 0 ? "." : "", r->name, r->index);
    }
}

/* `key` is a member of the reader's object, possibly with an index after it. */
void facet_reader_refuse(struct facet_json_reader *r,
                         const char *key,
                         size_t index,
                         const char *what)
{
    struct facet_json_reader member = {.outer = r, .name = key, .index = index};
    char path[120];

    path_of(&member, path, sizeof path);
    r->status = facet_fail(r->err, FACET_ERR_INPUT, 0, "%s: %.120s", path, what);
}

static void refuse_number(struct facet_json_reader *r, const char *key, size_t index, uint64_t max)
{
    char what[96];

    (void)snprintf(what,
                   sizeof what,
                   "expected a number in 0..%llu (an integer or a \"0x...\" string)",
                   (unsigned long long)max);
    facet_reader_refuse(r, key, index, what);
}

uint64_t facet_reader_get(struct facet_json_reader *r, const char *key, unsigned width)
{
    const uint64_t max = facet_bits_mask(width);
    const json_t *member;
    uint64_t value = 0;

    if (r->status != FACET_OK) {
        return 0;
    }
    member = json_object_get(r->object, key);
    if (member == NULL) {
        facet_reader_refuse(r, key, FACET_READER_NO_INDEX, "missing");
    } else if (!facet_json_to_u64(member, &value) || value > max) {
        refuse_number(r, key, FACET_READER_NO_INDEX, max);
    }
    return value;
}

const char *facet_reader_string(struct facet_json_reader *r, const char *key)
{
    const char *text = NULL;

    if (r->status == FACET_OK) {
        text = json_string_value(json_object_get(r->object, key));
        if (text == NULL) {
            facet_reader_refuse(r, key, FACET_READER_NO_INDEX, "expected a string");
        }
    }
    return text != NULL ? text : "";
}

/* A list of `most` elements, or where `step` is smaller, of any multiple of that up to `most`. */
const json_t *
facet_reader_list(struct facet_json_reader *r, const char *key, size_t most, size_t step)
{
    const json_t *array = json_object_get(r->object, key);
    const size_t count = json_array_size(array);
    char what[64];

    if (r->status != FACET_OK) {
        return NULL;
    }
    if (!json_is_array(array) || count > most || count % step != 0 ||
        (step == most && count == 0)) {
        (void)snprintf(what,
                       sizeof what,
                       step == most ? "expected a list of %zu elements"
                                    : "expected a list of up to %zu elements, in steps of %zu",
                       most,
                       step);
        facet_reader_refuse(r, key, FACET_READER_NO_INDEX, what);
        return NULL;
    }
    return array;
}

/* Element i may have width[i % widths] bits. */
size_t facet_reader_words(struct facet_json_reader *r,
                          const char *key,
                          uint32_t *out,
                          const json_t *array,
                          const unsigned *width,
                          size_t widths)
{
    const size_t count = r->status == FACET_OK ? json_array_size(array) : 0;

    for (size_t i = 0; i < count; i++) {
        const uint64_t max = facet_bits_mask(width[i % widths]);
        uint64_t value;

        if (!facet_json_to_u64(json_array_get(array, i), &value) || value > max) {
            refuse_number(r, key, i, max);
            return 0;
        }
        out[i] = (uint32_t)value;
    }
    return count;
}

/* Exactly `count` words of one width. */
void facet_reader_exactly(
    struct facet_json_reader *r, const char *key, uint32_t *out, size_t count, unsigned width)
{
    (void)facet_reader_words(r, key, out, facet_reader_list(r, key, count, count), &width, 1);
}

struct facet_json_reader facet_reader_enter(const struct facet_json_reader *r,
                                            const json_t *object,
                                            const char *name,
                                            size_t index)
{
    struct facet_json_reader inner = {object, r->err, r->status, r, name, index};

    if (inner.status == FACET_OK && !json_is_object(object)) {
        struct facet_json_reader outer = *r;

        facet_reader_refuse(&outer, name, index, "expected an object");
        inner.status = outer.status;
    }
    return inner;
}

/* A misspelt member would otherwise be dropped without a word. */
void facet_reader_only(struct facet_json_reader *r, const char *const *names, size_t count)
{
    const char *key;
    json_t *value;

    if (r->status != FACET_OK) {
        return;
    }
    json_object_foreach((json_t *)r->object, key, value)
    {
        size_t i = 0;

        while (i < count && strcmp(key, names[i]) != 0) {
            i++;
        }
        if (i == count) {
            facet_reader_refuse(r, key, FACET_READER_NO_INDEX, "unknown member");
            return;
        }
    }
}

static int hex_digit(char ch)
{
    const char *digits = "0123456789abcdef";
    const char *found = ch != '\0' ? strchr(digits, ch >= 'A' && ch <= 'F' ? ch + 32 : ch) : NULL;

    return found != NULL ? (int)(found - digits) : -1;
}

void facet_reader_hex(struct facet_json_reader *r, const char *key, uint8_t *bytes, size_t size)
{
    const char *text = facet_reader_string(r, key);
    char what[64];

    (void)snprintf(what, sizeof what, "expected %zu hexadecimal digits", 2 * size);
    for (size_t i = 0; i < 2 * size && r->status == FACET_OK; i++) {
        int digit = hex_digit(text[i]);

        if (digit < 0 || (i + 1 == 2 * size && text[i + 1] != '\0')) {
            facet_reader_refuse(r, key, FACET_READER_NO_INDEX, what);
            return;
        }
        bytes[i / 2] = (uint8_t)(bytes[i / 2] << 4 | digit);
    }
    if (size == 0 && r->status == FACET_OK && text[0] != '\0') {
        facet_reader_refuse(r, key, FACET_READER_NO_INDEX, "expected an empty string");
    }
}
