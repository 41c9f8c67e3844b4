/* record.h: one description, written as text and as JSON. */
#include "record/record.h"

#include "base/failing_alloc.h"
#include "harness.h"
#include "json/json.h"

/* A record with everything that a writer has to get right. */
static void describe(struct facet_record *r)
{
    static const float place[3] = {1.0f, -0.0f, 0.1f};
    static const uint32_t matrix[8] = {0x3F800000, 0, 0, 0x40000000, 0, 0x3F800000, 0, 0xFF800000};
    static const uint32_t codes[2] = {0xAB, 0x1};
    static const int64_t counts[3] = {-3, 0, 7};

    facet_record_open(r, NULL, NULL);
    facet_record_list(r, "children");
    for (int i = 0; i < 2; i++) {
        facet_record_open(r, NULL, "child %d", i);
        if (r->json) {
            facet_record_number(r, "child", i);
        }
        facet_record_hex(r, "id", 0x1F, 8);
        facet_record_line(r, "test", "9.2 step 5");
        facet_record_bool(r, "hit", i == 0);
        facet_record_word(r, "miss", i == 0 ? NULL : "t < 0");
        facet_record_vector(r, "lo", "5.2", place, 3);
        facet_record_close(r);
    }
    facet_record_close(r);
    facet_record_vector(r, "rows", NULL, matrix, 8);
    facet_record_line(r, NULL, NULL);
    facet_record_words(r, "flags", "NX DZ");
    facet_record_words(r, "none", "");
    facet_record_hexes(r, "codes", codes, 2, 4);
    facet_record_numbers(r, "counts", counts, 3);
    facet_record_hex(r, "offset", 0xC0, 0);
    facet_record_say(r, " of the file");
    facet_record_line(r, NULL, NULL);
    facet_record_value(r, "half", 0x3800, 16, 0.5);
    facet_record_f32(r, "nan", 0xFFC00000);
    facet_record_open(r, "empty", NULL);
    facet_record_close(r);
    facet_record_list(r, "nothing");
    facet_record_close(r);
    facet_record_close(r);
    facet_record_end(r);
}

TEST(text, "")
{
    struct facet_record r;

    facet_record_init(&r, false);
    describe(&r);
    CHECK_STR(facet_strbuf_text(&r.text),
              "child 0  id 0000001F\n"
              "  test         hit  (9.2 step 5)\n"
              "  lo           x 3F800000 (1)  y 80000000 (-0)  z 3DCCCCCD (0.100000001)  (5.2)\n"
              "child 1  id 0000001F\n"
              "  test         miss t < 0  (9.2 step 5)\n"
              "  lo           x 3F800000 (1)  y 80000000 (-0)  z 3DCCCCCD (0.100000001)  (5.2)\n"
              "rows         x 3F800000 (1)  y 00000000 (0)  z 00000000 (0)  w 40000000 (2)\n"
              "             x 00000000 (0)  y 3F800000 (1)  z 00000000 (0)  w FF800000 (-inf)\n"
              "flags NX DZ  codes 00AB 0001  counts -3 0 7  offset 0xc0 of the file\n"
              "half 3800 (0.5)  nan FFC00000 (nan)\n");
    facet_record_free(&r);
}

TEST(json, "")
{
    struct facet_record r;

    facet_record_init(&r, true);
    describe(&r);
    CHECK_STR(facet_strbuf_text(&r.text),
              "{\n"
              "  \"children\": [\n"
              "    {\n"
              "      \"child\": 0,\n"
              "      \"id\": \"0x1f\",\n"
              "      \"hit\": true,\n"
              "      \"miss\": null,\n"
              "      \"lo\": [{\"bits\": \"0x3f800000\", \"value\": 1.0}, "
              "{\"bits\": \"0x80000000\", \"value\": -0.0}, "
              "{\"bits\": \"0x3dcccccd\", \"value\": 0.10000000149011612}]\n"
              "    },\n"
              "    {\n"
              "      \"child\": 1,\n"
              "      \"id\": \"0x1f\",\n"
              "      \"hit\": false,\n"
              "      \"miss\": \"t < 0\",\n"
              "      \"lo\": [{\"bits\": \"0x3f800000\", \"value\": 1.0}, "
              "{\"bits\": \"0x80000000\", \"value\": -0.0}, "
              "{\"bits\": \"0x3dcccccd\", \"value\": 0.10000000149011612}]\n"
              "    }\n"
              "  ],\n"
              "  \"rows\": [{\"bits\": \"0x3f800000\", \"value\": 1.0}, "
              "{\"bits\": \"0x00000000\", \"value\": 0.0}, "
              "{\"bits\": \"0x00000000\", \"value\": 0.0}, "
              "{\"bits\": \"0x40000000\", \"value\": 2.0}, "
              "{\"bits\": \"0x00000000\", \"value\": 0.0}, "
              "{\"bits\": \"0x3f800000\", \"value\": 1.0}, "
              "{\"bits\": \"0x00000000\", \"value\": 0.0}, "
              "{\"bits\": \"0xff800000\", \"value\": \"-inf\"}],\n"
              "  \"flags\": [\"NX\", \"DZ\"],\n"
              "  \"none\": [],\n"
              "  \"codes\": [\"0xab\", \"0x1\"],\n"
              "  \"counts\": [-3, 0, 7],\n"
              "  \"offset\": \"0xc0\",\n"
              "  \"half\": {\"bits\": \"0x3800\", \"value\": 0.5},\n"
              "  \"nan\": {\"bits\": \"0xffc00000\", \"value\": \"nan\"},\n"
              "  \"empty\": {},\n"
              "  \"nothing\": []\n"
              "}\n");
    facet_record_free(&r);
}

/* Names may hold anything; a reader gets back what base/plain.h shows of them. */
TEST(names_of_strangers, "")
{
    static const struct {
        const char *name, *text, *json;
    } rows[] = {
        {"a \"b\" \\c", "file a \"b\" \\c\n", "{\n  \"file\": \"a \\\"b\\\" \\\\c\"\n}\n"},
        {"x\033[2J\n", "file x\\u001b[2J\\u000a\n", "{\n  \"file\": \"x\\u001b[2J\\u000a\"\n}\n"},
        {"\x9B\xE2\x80\xAE", "file \\x9b\\u202e\n", "{\n  \"file\": \"\\\\x9b\\u202e\"\n}\n"},
        {"gr\xC3\xBC\xC3\x9F",
         "file gr\xC3\xBC\xC3\x9F\n",
         "{\n  \"file\": \"gr\xC3\xBC\xC3\x9F\"\n}\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int json = 0; json < 2; json++) {
            struct facet_record r;

            facet_record_init(&r, json != 0);
            facet_record_open(&r, NULL, NULL);
            facet_record_word(&r, "file", rows[i].name);
            facet_record_close(&r);
            facet_record_end(&r);
            CHECK_STR(facet_strbuf_text(&r.text), json ? rows[i].json : rows[i].text);
            if (json) {
                struct facet_error err = {0};
                json_t *parsed = NULL;

                CHECK(facet_json_parse("record", r.text.text, r.text.length, &parsed, &err) ==
                      FACET_OK);
                json_decref(parsed);
            }
            facet_record_free(&r);
        }
    }
}

TEST(memory_that_runs_short_is_seen_at_the_end, "")
{
    for (int json = 0; json < 2; json++) {
        struct facet_record r;

        facet_record_init(&r, json != 0);
        failing_alloc_after(1);
        describe(&r);
        failing_alloc_after(-1);
        CHECK(r.text.failed);
        facet_record_free(&r);
    }
}
