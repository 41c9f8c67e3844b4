/* See differences.h. */
#include "report/differences.h"

#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>

static void print_place(uint64_t offset)
{
    if (offset == REPORT_WHOLE_IMAGE) {
        printf("image");
    } else {
        printf("0x%08" PRIx64, offset);
    }
}

static json_t *place_json(uint64_t offset)
{
    return offset == REPORT_WHOLE_IMAGE ? json_null() : facet_json_hex(offset);
}

void report_differences_add(struct report_differences *out,
                            const uint64_t offsets[2],
                            const char *field,
                            const uint64_t values[2])
{
    if (out->shown++ >= out->limit) {
        return;
    }
    if (out->list != NULL) {
        (void)json_array_append_new(out->list,
                                    json_pack("{s:o, s:o, s:s, s:o, s:o}",
                                              out->keys[0],
                                              place_json(offsets[0]),
                                              out->keys[1],
                                              place_json(offsets[1]),
                                              "field",
                                              field,
                                              "a",
                                              facet_json_hex(values[0]),
                                              "b",
                                              facet_json_hex(values[1])));
        return;
    }
    print_place(offsets[0]);
    if (offsets[0] != offsets[1]) {
        printf(" / ");
        print_place(offsets[1]);
    }
    printf("  %s: 0x%" PRIx64 ", 0x%" PRIx64 "\n", field, values[0], values[1]);
}

int report_differences_end(const struct cli_args *args, struct report_differences *out)
{
    int code = out->shown == 0 ? CLI_OK : CLI_NO;

    if (args->json) {
        json_t *object =
            json_pack("{s:I, s:o}", "differences", (json_int_t)out->shown, "list", out->list);

        return cli_print_json(args, object) == CLI_OK ? code : CLI_BAD;
    }
    if (out->shown > out->limit) {
        printf("... and %" PRIu64 " more\n", out->shown - out->limit);
    }
    return code;
}
