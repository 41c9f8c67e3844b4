/* See pixel.h: a pixel on the command line. */
#include "report/pixel.h"

#include "command/output.h"

#include <stdio.h>
#include <string.h>

bool report_pixel_read(
    const struct cli_args *args, uint32_t width, uint32_t height, uint32_t *x, uint32_t *y)
{
    const char *text = cli_value(args, "pixel");
    unsigned at[2];
    char end;

    if (strspn(text, "0123456789,") != strlen(text) ||
        sscanf(text, "%9u,%9u%c", &at[0], &at[1], &end) != 2 || at[0] >= width || at[1] >= height) {
        (void)cli_bad(args,
                      "--pixel is '%s'; expected X,Y from the top left, below %u,%u (--size)",
                      text,
                      (unsigned)width,
                      (unsigned)height);
        return false;
    }
    *x = at[0];
    *y = at[1];
    return true;
}

int report_pixel(const struct cli_args *args, const struct report_pixel *p)
{
    struct facet_record r;
    int code;

    facet_record_init(&r, args->json);
    report_pixel_record(&r, p, cli_given(args, "full"));
    code = cli_print_record(args, &r);
    facet_record_free(&r);
    return code;
}
