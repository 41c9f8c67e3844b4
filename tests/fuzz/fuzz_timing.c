/* Any bytes as a file of --timing: refused with a line and a reason, or a model that is the same
 * after it was written and read again. */
#include "fuzz/fuzz.h"
#include "timing/model.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct timing_model model, again;
    struct facet_strbuf text;
    struct facet_error err = {0};

    if (timing_parse("a.timing", data, size, &model, &err) != FACET_OK) {
        fuzz_require(err.status == FACET_ERR_INPUT && err.where > 0);
        fuzz_require(strncmp(err.message, "a.timing:", 9) == 0);
        timing_default(&again);
    } else {
        facet_strbuf_init(&text);
        timing_print(&model, &text);
        fuzz_require(text.failed ||
                     timing_parse("b", facet_strbuf_text(&text), text.length, &again, &err) ==
                         FACET_OK);
        again = text.failed ? model : again;
        facet_strbuf_free(&text);
    }
    fuzz_require(memcmp(&model, &again, sizeof model) == 0);
    return 0;
}
