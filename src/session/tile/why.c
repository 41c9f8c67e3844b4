/* See why.h. */
#include "session/tile/why.h"

#include "command/deadline.h"
#include "command/stop.h"
#include "session/tile/play.h"
#include "tile_list/pixel.h"

#include <stdio.h>
#include <string.h>

static bool read_pixel(const struct cli_args *args,
                       const struct facet_tile_list *plan,
                       uint32_t *x,
                       uint32_t *y)
{
    const char *text = args->positional[0];
    unsigned at[2];
    char end;

    if (strspn(text, "0123456789,") != strlen(text) ||
        sscanf(text, "%9u,%9u%c", &at[0], &at[1], &end) != 2 || at[0] >= plan->frame.width ||
        at[1] >= plan->frame.height) {
        (void)cli_bad(args,
                      "the pixel is '%s'; expected X,Y from the top left, below %u,%u",
                      text,
                      (unsigned)plan->frame.width,
                      (unsigned)plan->frame.height);
        return false;
    }
    *x = at[0];
    *y = at[1];
    return true;
}

static void done(void *context, const struct facet_tile_list_step *step)
{
    facet_tile_list_pixel_done(context, step);
}

static bool
play(struct session_tile_play *list, struct facet_tile_list_pixel *pixel, struct facet_error *err)
{
    struct cli_stop watch;
    bool good;

    list->done = done;
    list->context = pixel;
    cli_stop_begin(&watch, list->machine, cli_deadline_left());
    good = session_tile_play_run(list, err);
    cli_stop_end(&watch);
    facet_tile_list_pixel_end(pixel);
    if (good && pixel->history.failed) {
        good = facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for the pixel") == FACET_OK;
    }
    return good;
}

static int tell(const struct cli_args *args, const struct facet_tile_list_pixel *pixel)
{
    struct facet_record r;
    int code;

    facet_record_init(&r, args->json);
    facet_record_open(&r, NULL, NULL);
    facet_tile_list_pixel_put(pixel, &r, cli_given(args, "full"));
    facet_record_close(&r);
    code = cli_print_record(args, &r);
    facet_record_free(&r);
    return code;
}

int session_tile_why(const struct cli_args *args)
{
    struct session_tile_play list = {0};
    struct facet_tile_list_pixel pixel = {0};
    struct facet_error err = {0};
    uint32_t x, y;
    int code = CLI_BAD;

    if (session_tile_play_start(&list, args, args->positional[1]) &&
        read_pixel(args, &list.plan, &x, &y)) {
        if (facet_tile_list_pixel_start(&pixel, &list.play, x, y, &err) == FACET_OK &&
            play(&list, &pixel, &err)) {
            code = tell(args, &pixel);
        } else {
            (void)cli_bad_error(args, &err);
            code = list.stopped ? cli_stop_code() : CLI_BAD;
        }
    }
    facet_tile_list_pixel_free(&pixel);
    session_tile_play_end(&list);
    return code;
}
