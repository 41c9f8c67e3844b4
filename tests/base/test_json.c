/* json.h: positions in complaints, 64-bit numbers, atomic output, failing allocations. */
#include "base/failing_alloc.h"
#include "base/file.h"
#include "harness.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static enum facet_status parse(const char *text, json_t **out, struct facet_error *err)
{
    return facet_json_parse("t.json", text, strlen(text), out, err);
}

TEST(syntax_errors_have_line_and_column, "")
{
    struct facet_error err;
    json_t *value;

    CHECK(parse("{\n  \"a\": 1,\n  \"b\": nope\n}\n", &value, &err) == FACET_ERR_INPUT);
    CHECK(value == NULL);
    CHECK_EQ(err.where, 3);
    CHECK(strncmp(err.message, "t.json:3:", 9) == 0 && strstr(err.message, "nope") != NULL);
    CHECK(parse("{\"a\": 1, \"a\": 2}", &value, &err) == FACET_ERR_INPUT);
    CHECK(strstr(err.message, "duplicate") != NULL);
    CHECK(parse("", &value, &err) == FACET_ERR_INPUT);
    CHECK(parse("[1, 2", &value, &err) == FACET_ERR_INPUT);
    CHECK(parse("[1] x", &value, &err) == FACET_ERR_INPUT);
    CHECK(facet_json_parse("t.json", "[\"\xff\"]", 5, &value, &err) == FACET_ERR_INPUT);
    CHECK(facet_json_read("/nonexistent.json", 100, &value, &err) == FACET_ERR_IO);
    CHECK(value == NULL && strstr(err.message, "/nonexistent.json") != NULL);
}

TEST(deep_nesting_is_an_error_not_a_crash, "")
{
    size_t depth = 1000000;
    char *text = malloc(depth);
    struct facet_error err;
    json_t *value;

    if (text != NULL) {
        memset(text, '[', depth);
        CHECK(facet_json_parse("deep", text, depth, &value, &err) == FACET_ERR_INPUT);
    }
    free(text);
}

TEST(numbers_in_every_spelling, "")
{
    static const struct {
        const char *text;
        bool ok;
        uint64_t value;
    } rows[] = {
        {"0", true, 0},
        {"9223372036854775807", true, INT64_MAX},
        {"\"0xffffffffffffffff\"", true, UINT64_MAX},
        {"\"0XAb\"", true, 0xAB},
        {"\"18446744073709551615\"", true, UINT64_MAX},
        {"\"18446744073709551616\"", false, 0},
        {"\"0x10000000000000000\"", false, 0},
        {"-1", false, 0},
        {"1.5", false, 0},
        {"\"\"", false, 0},
        {"\"0x\"", false, 0},
        {"\" 1\"", false, 0},
        {"\"-1\"", false, 0},
        {"\"1 \"", false, 0},
        {"null", false, 0},
        {"[1]", false, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[64];
        json_t *object;
        uint64_t got = 0x5A;
        struct facet_error err;
        enum facet_status status;

        (void)snprintf(text, sizeof text, "{\"n\": %s}", rows[i].text);
        if (!CHECK(parse(text, &object, NULL) == FACET_OK)) {
            continue;
        }
        status = facet_json_get_u64(object, "n", UINT64_MAX, &got, &err);
        CHECK_MSG((status == FACET_OK) == rows[i].ok, "%s: status %d", rows[i].text, status);
        CHECK_EQ(got, rows[i].ok ? rows[i].value : 0x5A);
        json_decref(object);
    }
}

TEST(members_are_checked_by_name, "")
{
    struct facet_error err;
    json_t *object;
    const char *text = NULL;
    const json_t *array = NULL;
    uint64_t number;

    if (!CHECK(parse("{\"s\": \"x\", \"a\": [1], \"n\": 300}", &object, NULL) == FACET_OK)) {
        return;
    }
    CHECK(facet_json_get_u64(object, "n", 255, &number, &err) == FACET_ERR_INPUT);
    CHECK(strstr(err.message, "\"n\": expected a number in 0..255") != NULL);
    CHECK(facet_json_get_u64(object, "zz", 255, &number, &err) == FACET_ERR_INPUT);
    CHECK_STR(err.message, "the key \"zz\" is missing");
    CHECK(facet_json_get_string(object, "s", &text, NULL) == FACET_OK);
    CHECK_STR(text, "x");
    CHECK(facet_json_get_string(object, "a", &text, &err) == FACET_ERR_INPUT);
    CHECK_STR(err.message, "\"a\": expected a string");
    CHECK(facet_json_get_array(object, "a", &array, NULL) == FACET_OK && json_is_array(array));
    CHECK(facet_json_get_array(object, "s", &array, &err) == FACET_ERR_INPUT);
    CHECK(facet_json_get_u64(array, "k", 1, &number, &err) == FACET_ERR_INPUT);
    CHECK(strstr(err.message, "expected an object") != NULL);
    json_decref(object);
}

TEST(write_read_round_trip, "")
{
    static const uint64_t values[] = {0, 1, 0xDEADBEEF, UINT64_C(1) << 53, UINT64_MAX};
    char path[] = "/tmp/facet-json-XXXXXX";
    int fd = mkstemp(path);
    json_t *object = json_object(), *back = NULL;
    struct facet_bytes file;

    CHECK(fd >= 0);
    close(fd);
    for (size_t i = 0; i < 5; i++) {
        char key[8];

        (void)snprintf(key, sizeof key, "k%zu", 4 - i);
        json_object_set_new(object, key, facet_json_hex(values[i]));
    }
    CHECK(facet_json_write(path, object, NULL) == FACET_OK);
    CHECK(facet_file_read(path, 10000, &file, NULL) == FACET_OK);
    CHECK_STR((char *)file.data,
              "{\n  \"k4\": \"0x0\",\n  \"k3\": \"0x1\",\n  \"k2\": \"0xdeadbeef\",\n"
              "  \"k1\": \"0x20000000000000\",\n  \"k0\": \"0xffffffffffffffff\"\n}\n");
    free(file.data);
    CHECK(facet_json_read(path, 10000, &back, NULL) == FACET_OK && json_equal(object, back));
    json_decref(back);
    json_decref(object);
    (void)unlink(path);
}

TEST(memory_shortage_is_a_status, "")
{
    struct facet_error err;
    char *text;
    size_t size;
    json_t *array = json_pack("[i]", 1);

    CHECK(facet_json_text(NULL, &text, &size, &err) == FACET_ERR_MEMORY && text == NULL);
    failing_alloc_after(0);
    CHECK(facet_json_text(array, &text, &size, &err) == FACET_ERR_MEMORY && text == NULL);
    CHECK(facet_json_write("/tmp/facet-never-written", array, &err) == FACET_ERR_MEMORY);
    failing_alloc_after(-1);
    CHECK(strstr(err.message, "/tmp/facet-never-written: out of memory") != NULL);
    CHECK(access("/tmp/facet-never-written", F_OK) != 0);
    json_decref(array);
}

/* Tokens beyond every starting size, growing tables, each kind of value and of escape. */
static json_t *rich_value(void)
{
    json_t *array = json_array(), *object = json_object();
    char name[5000] = "";

    memset(name, 'x', sizeof name - 1);
    for (int i = 0; i < 40; i++) {
        char key[16];

        (void)snprintf(key, sizeof key, "key %d", i);
        (void)json_array_append_new(array, json_integer(123456789 + i));
        (void)json_object_set_new(object, key, json_pack("[b, n, f, []]", i % 2, 0.25 * i));
    }
    (void)json_object_set_new(object, name, json_string(name));
    return json_pack("{s:o, s:o, s:s, s:s}", "a", array, "o", object, "s", "\"\n\xC3\xA9", "e", "");
}

TEST(a_text_that_is_no_utf8_is_spelled, "")
{
    static const struct {
        const char *text, *expected;
    } rows[] = {{"", ""},
                {"plain\tand\nlines", "plain\tand\nlines"},
                {"caf\xC3\xA9", "caf\xC3\xA9"},
                {"caf\xE9!", "caf\\xe9!"},
                {"cut \xE2\x82", "cut \\xe2\\x82"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_t *value = facet_json_name(rows[i].text);

        CHECK_STR(json_string_value(value), rows[i].expected);
        json_decref(value);
    }
}

struct parsing {
    const char *text;
    size_t size;
    const json_t *whole;
};

/* The whole value or none: never another error, never a byte less. */
static void parse_or_lack_memory(void *context)
{
    const struct parsing *p = context;
    struct facet_error err = {0};
    json_t *value;
    enum facet_status status = facet_json_parse("t.json", p->text, p->size, &value, &err);

    if (status == FACET_OK) {
        CHECK(json_equal(value, p->whole));
    } else {
        CHECK(status == FACET_ERR_MEMORY && value == NULL);
        CHECK_STR(err.message, "t.json: out of memory");
    }
    json_decref(value);
}

static long allocations_of_parse(const char *text, size_t size)
{
    struct parsing p = {text, size, NULL};
    json_t *whole;
    long count;

    CHECK(facet_json_parse("t.json", text, size, &whole, NULL) == FACET_OK);
    p.whole = whole;
    count = failing_alloc_each(parse_or_lack_memory, &p);
    json_decref(whole);
    return count;
}

TEST(a_parse_that_lacks_memory_gives_nothing, "")
{
    static const char token[] = "[\"14 bytes, just\"]";
    static char nested[4000];
    json_t *value = rich_value();
    size_t size, half = sizeof nested / 2;
    char *text;

    if (CHECK(facet_json_text(value, &text, &size, NULL) == FACET_OK)) {
        CHECK(allocations_of_parse(text, size) > 100);
    }
    /* jansson's buffer has 16 bytes in the beginning: it is the last quote that finds no room, and
     * the end of the text is looked for behind it. */
    CHECK(allocations_of_parse(token, sizeof token - 1) > 5);
    memset(nested, '[', half);
    memset(nested + half, ']', half);
    CHECK(allocations_of_parse(nested, sizeof nested) > (long)half);
    free(text);
    json_decref(value);
}

/* Small values would take the reserve, and the same quote would find no room in it. */
TEST(the_input_of_a_parse_ends_while_there_is_a_reserve, "")
{
    static char text[2000];

    for (size_t zeros = 1; zeros < 900; zeros++) {
        size_t size = 2 * zeros;
        json_t *value;

        text[0] = '[';
        for (size_t i = 1; i < size; i += 2) {
            memcpy(text + i, "0,", 2);
        }
        memcpy(text + size + 1, "\"14 bytes, just\"]", 17);
        failing_alloc_after(4);
        CHECK(facet_json_parse("t.json", text, size + 18, &value, NULL) == FACET_ERR_MEMORY);
        failing_alloc_after(-1);
    }
}

static void build_or_lack_memory(void *context)
{
    const char *expected = context;
    struct facet_error err = {0};
    json_t *value = rich_value();
    char *text;
    size_t size;
    enum facet_status status = facet_json_compact(value, &text, &size, &err);

    if (status == FACET_OK) {
        CHECK_STR(text, expected);
    } else {
        CHECK(status == FACET_ERR_MEMORY && text == NULL);
        CHECK_STR(err.message, "out of memory while writing JSON");
    }
    free(text);
    json_decref(value);
}

TEST(a_value_that_lacks_something_is_never_written, "")
{
    json_t *whole = rich_value();
    size_t size;
    char *text;

    if (CHECK(facet_json_compact(whole, &text, &size, NULL) == FACET_OK)) {
        CHECK(strlen(text) == size && text[size - 1] == '}');
        CHECK(failing_alloc_each(build_or_lack_memory, text) > 100);
    }
    free(text);
    json_decref(whole);
}

TEST(the_mark_is_the_builders_and_goes_with_the_complaint, "")
{
    json_t *value = json_object(), *parsed;
    char *text;
    size_t size;

    failing_alloc_once_after(0);
    (void)json_object_set_new(value, "lost", json_integer(1));
    failing_alloc_after(-1);
    CHECK(parse("[]", &parsed, NULL) == FACET_OK); /* says nothing about the value */
    json_decref(parsed);
    CHECK(facet_json_text(value, &text, &size, NULL) == FACET_ERR_MEMORY);
    CHECK(facet_json_text(value, &text, &size, NULL) == FACET_OK);
    CHECK_STR(text, "{}\n");
    free(text);
    CHECK(!facet_json_ran_short());
    failing_alloc_after(0);
    CHECK(parse("[]", &parsed, NULL) == FACET_ERR_MEMORY && json_integer(1) == NULL);
    failing_alloc_after(-1);
    CHECK(facet_json_ran_short() && !facet_json_ran_short());
    json_decref(value);
}
