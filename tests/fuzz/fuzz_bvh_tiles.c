/* Any bytes as a BVH image of XPHMG_RT: the check must end, everything that it reached can be
 * printed, and its JSON goes back to the same bytes. An input without the magic gets it, so that
 * fuzzing starts behind it. */
#include "documents/bvh_images.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

/* Only of images whose ranges do not repeat triangles: the text would be as long as they like. */
static void there_and_back(const struct facet_rtbvh_check *check, struct facet_strbuf *text)
{
    struct facet_rtbvh_image again;
    struct facet_error err = {0};

    if (check->triangles > 4096) {
        return;
    }
    facet_rtbvh_json_head(&check->view, text);
    for (uint64_t i = 0; i < check->place_count; i++) {
        facet_strbuf_puts(text, i != 0 ? ",\n" : "");
        facet_rtbvh_json_place(&check->view, &check->places[i], text);
    }
    if (!facet_rtbvh_json_tail(check, text) || text->failed) {
        return; /* out of memory */
    }
    if (facet_doc_rtbvh_json_read("fuzz", facet_strbuf_text(text), text->length, &again, &err) !=
            FACET_OK ||
        again.size != check->view.size ||
        memcmp(again.bytes, check->view.bytes, (size_t)again.size) != 0) {
        abort();
    }
    free(again.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct facet_rtbvh_check check;
    struct facet_strbuf text;
    uint8_t *bytes;

    if (size > 1 << 16) {
        return 0;
    }
    bytes = malloc(size + 1);
    if (bytes == NULL) {
        return 0;
    }
    memcpy(bytes, data, size);
    memcpy(bytes, FACET_RTBVH_MAGIC, size < 8 ? size : 8);
    if (facet_rtbvh_check(bytes, size, 20, &check, NULL) != FACET_OK ||
        (!check.open && check.errors == 0)) {
        abort();
    }
    facet_strbuf_init(&text);
    if (check.open) {
        there_and_back(&check, &text);
        facet_strbuf_clear(&text);
    }
    for (uint64_t i = 0; i < check.place_count; i++) {
        if (check.places[i].leaf && check.errors != 0) {
            continue; /* ranges of a damaged image may repeat all triangles many times */
        }
        facet_rtbvh_listing(&check.view, &check.places[i], &text);
        facet_rtbvh_json_place(&check.view, &check.places[i], &text);
        facet_strbuf_clear(&text);
    }
    facet_strbuf_free(&text);
    facet_rtbvh_check_free(&check);
    free(bytes);
    return 0;
}
