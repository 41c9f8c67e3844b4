/* Any text as a file of --cover: refused with a message, or counts whose own text means the same,
 * that can be added to themselves and reported. */
#include "cover/cover.h"
#include "fuzz/fuzz.h"

#include "json/json.h"

#include <stdlib.h>
#include <string.h>

static void text_of(const struct cover *cover, char **text, size_t *size)
{
    json_t *json = cover_json(cover);

    fuzz_require(facet_json_text(json, text, size, NULL) == FACET_OK);
    json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cover *cover, *again;
    struct facet_error err = {0};
    struct facet_strbuf out;
    char *first, *second;
    size_t first_size, second_size;
    json_t *report;

    if (cover_parse("cover.json", data, size, &cover, &err) != FACET_OK) {
        fuzz_require(cover == NULL && strncmp(err.message, "cover.json", 10) == 0);
        return 0;
    }
    text_of(cover, &first, &first_size);
    fuzz_require(cover_parse("again", first, first_size, &again, &err) == FACET_OK);
    text_of(again, &second, &second_size);
    fuzz_require(first_size == second_size && memcmp(first, second, first_size) == 0);
    cover_add(cover, again);
    report = cover_report(cover);
    fuzz_require(report != NULL);
    facet_strbuf_init(&out);
    cover_report_text(report, true, &out);
    cover_report_html(cover, report, &out);
    fuzz_require(!out.failed && out.length > 0);
    facet_strbuf_free(&out);
    json_decref(report);
    cover_free(cover);
    cover_free(again);
    free(first);
    free(second);
    return 0;
}
