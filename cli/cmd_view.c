/* `facet view`: a file in the page of the inspector, served to the browser or written as one file.
 */
#include "cli/bvh/rt.h"
#include "command/output.h"
#include "command/stop.h"
#include "report/left_out.h"
#include "view/input.h"
#include "view/page.h"
#include "view/serve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A browser takes its time to open a larger file. */
#define LARGE_PAGE ((size_t)32 << 20)

/* Ctrl-C is how this is meant to end. */
static int serve(const struct cli_args *args, const struct facet_bytes *page)
{
    struct view_server server;
    struct cli_stop watch;
    struct facet_error err = {0};
    enum facet_status status = view_server_open(&server, &err);
    int result;

    if (status != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    cli_stop_begin(&watch, NULL, HUGE_VAL);
    printf("%s\n", server.address);
    (void)fflush(stdout);
    if (!args->quiet) {
        fprintf(stderr, "facet view: Ctrl-C ends it\n");
    }
    result = cli_given(args, "no-open") ? 0 : view_browser_start(server.address);
    if (result != 0 && !args->quiet) {
        fprintf(stderr,
                "facet view: xdg-open did not start (%s); open the address in a browser\n",
                strerror(result));
    }
    status = view_server_run(&server, page, cli_stop_wanted, &err);
    cli_stop_end(&watch);
    view_server_close(&server);
    return status == FACET_OK ? CLI_OK : cli_bad_error(args, &err);
}

static int show(const struct cli_args *args, const char *path, const struct view_shown *what)
{
    const char *whole = path != NULL ? path : what->bvh.name, *slash = strrchr(whole, '/');
    const struct view_input input = {.name = slash != NULL ? slash + 1 : whole,
                                     .bytes = what->bytes,
                                     .size = what->size,
                                     .made = what->made,
                                     .beside = what->beside.items,
                                     .beside_count = what->beside.count};
    struct facet_bytes page = {NULL, 0}, filled = {NULL, 0};
    const char *output = cli_value(args, "output");
    struct facet_error err = {0};
    enum facet_status status = view_page_read(&page, &err);
    int code;

    if (status == FACET_OK) {
        status = view_page_fill(&page, &input, &filled, &err);
    }
    free(page.data);
    if (status == FACET_OK && output != NULL) {
        status = facet_file_write(output, filled.data, filled.size, &err);
        if (status == FACET_OK && filled.size > LARGE_PAGE && !args->quiet) {
            fprintf(stderr, "facet view: %s has %zu MB\n", output, filled.size / 1000000);
        }
    }
    code = status != FACET_OK ? cli_bad_error(args, &err)
           : output == NULL   ? serve(args, &filled)
                              : CLI_OK;
    free(filled.data);
    return code;
}

static bool
import(const struct cli_args *args, const char *path, struct facet_import_options options)
{
    struct facet_error err = {0};
    struct facet_scene scene;

    if (report_scene_import(args, path, options, &scene, &err) != FACET_OK) {
        return cli_bad_error(args, &err) == CLI_OK;
    }
    report_print_left_out(args, path, &scene, FACET_LOSS_SHAPE | FACET_LOSS_LOOK);
    facet_scene_free(&scene);
    if (!args->quiet) {
        fprintf(stderr,
                "facet view: %s is a scene; the page makes the image of facet bvh build without "
                "options\n",
                path);
    }
    return true;
}

static int run_view(const struct cli_args *args)
{
    const char *path = session_bvh_operand(args), *output = cli_value(args, "output");
    struct view_shown what;
    bool good;
    int code;

    if (output != NULL && cli_given(args, "no-open")) {
        return cli_bad(args, "--no-open is for the page in the browser; -o writes a file");
    }
    if (path == NULL && !cli_given(args, "segment")) {
        return cli_bad(args, "expected a FILE, or --segment FILE@ADDR");
    }
    if (!cli_can_write(args, output) || cli_would_replace(args, output, path, "the input")) {
        return CLI_BAD;
    }
    good = view_shown_read(args, path, import, &what) && (!what.tiles || bvh_rt_options_fit(args));
    if (good && output != NULL && session_bvh_would_be_replaced(args, output, &what.bvh, false)) {
        good = false;
    }
    code = good ? show(args, path, &what) : CLI_BAD;
    view_shown_free(&what);
    return code;
}

static const struct cli_option view_options[] = {
    {"output", 'o', "FILE", "write the page as one file that needs nothing else, also from disk"},
    {"no-open", 0, NULL, "print the address and start no browser"},
    SESSION_BVH_OPTIONS,
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_view = {
    .name = "view",
    .summary = "look at a BVH image, a scene or a program in the browser",
    .usage = "facet view FILE [-o PAGE.html] [--no-open]",
    .details =
        "Opens the inspector (docs/view.md) on a file: a scene, a BVH image of either format, a "
        "capture (.rra), a program or kernel (.s, .elf), or a list of commands (.json). A scene "
        "goes into the page with the files that it names, where its image is built with the "
        "defaults of `facet bvh build`; what is a program or a list goes by its name or first "
        "bytes. The files that a list names go with it, too.\n\n"
        "All machines run in the page itself. It is served on 127.0.0.1, at a port and a path "
        "that are new each time, until Ctrl-C; the address is the only line on standard output. "
        "With -o the same page is written as one file, which opens from disk and offline.\n\n"
        "`make web` makes the page; FACET_PAGE names another one.",
    .examples = "facet view assets/room.glb\n"
                "facet view examples/gfx12/cube.obj -o cube.html",
    .options = view_options,
    .run = run_view,
    .operands = "[FILE]",
};
