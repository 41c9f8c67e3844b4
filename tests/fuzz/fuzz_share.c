/* Any bytes as a part of shared work: refused with a message that names it, or a sound part. As the
 * only part of its work it is then joined by the command that it is of, in memory alone. Hashes are
 * mended first, so that what lies behind them is reached. */
#include "conform/run.h"
#include "fuzz/campaign.h"
#include "fuzz/fuzz.h"
#include "render/render.h"
#include "report/tracing.h"
#include "share/share.h"

#include "base/bits.h"
#include "base/hash.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

/* The hashes of the head and of the records, as far as there are such. */
static void mend(uint8_t *data, size_t size)
{
    size_t at = 24;
    uint64_t head;

    if (size < at || facet_load_le32(data + 12) > size - at) {
        return;
    }
    at += facet_load_le32(data + 12);
    head = facet_hash_bytes(data + 24, at - 24, 0);
    facet_store_le64(data + 16, head);
    while (size - at >= 24 && facet_load_le64(data + at + 8) <= size - at - 24) {
        const size_t bytes = (size_t)facet_load_le64(data + at + 8);

        facet_store_le64(data + at + 16,
                         facet_hash_bytes(data + at + 24,
                                          bytes,
                                          facet_hash_step(head, facet_load_le64(data + at))));
        at += 24 + bytes;
    }
}

static void join(const struct facet_share_set *set)
{
    static struct facet_fuzz_campaign campaign;
    const json_t *head = facet_share_set_head(set), *frame = json_object_get(head, "frame");
    const char *command = json_string_value(json_object_get(head, "command"));
    struct facet_error err = {0};

    if (strcmp(command, "conform") == 0) {
        struct conform_suite suite;
        struct conform_run run;

        (void)conform_join(set, &suite, &run, &err);
        conform_run_free(&run);
        conform_suite_free(&suite);
    } else if (strcmp(command, "fuzz") == 0) {
        campaign = (struct facet_fuzz_campaign){.kind = facet_fuzz_kinds[0], .length = 48};
        if (facet_json_get_u64(frame, "count", 1 << 30, &campaign.count, &err) == FACET_OK &&
            campaign.count != 0) {
            (void)facet_fuzz_join(&campaign, set, &err);
        }
    } else if (strcmp(command, "bvh trace") == 0) {
        struct report_tracing t;

        (void)report_tracing_read(set, &t, &err);
        report_tracing_free(&t);
    } else if (strcmp(command, "render") == 0) {
        struct facet_render_options options = {
            .machine = facet_render_machines[0],
            .width = (uint32_t)json_integer_value(json_object_get(frame, "width")) & 0xFFF,
            .height = (uint32_t)json_integer_value(json_object_get(frame, "height")) & 0xFFF};
        struct facet_render_report report;
        struct facet_image_f image = {0};

        if (options.width != 0 && options.height != 0) {
            (void)facet_render_join(&options, set, &image, &report, &err);
            facet_image_f_free(&image);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int mended = 0; mended < 2; mended++) {
        struct facet_bytes bytes = {malloc(size + 1), size};
        struct facet_error err = {0};
        struct facet_share_file file;

        fuzz_require(bytes.data != NULL);
        memcpy(bytes.data, data, size);
        bytes.data[size] = '\0';
        if (mended != 0) {
            mend(bytes.data, size);
        }
        if (facet_share_file_parse("a.part", bytes, &file, &err) != FACET_OK) {
            fuzz_require(strncmp(err.message, "a.part", 6) == 0);
        } else if (json_integer_value(json_object_get(file.head, "parts")) == 1) {
            const struct facet_share_set set = {&file, 1};

            join(&set);
        }
        facet_share_file_free(&file);
    }
    return 0;
}
