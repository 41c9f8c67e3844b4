/* `facet view`: a file in the page of the inspector, served to the browser or written as one file.
 */
#include "cli/bvh/bvh.h"

#include "cli/bvh/rt.h"
#include "command/output.h"
#include "command/stop.h"
#include "view/page.h"
#include "view/serve.h"
#include "json/json.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FILE ((size_t)1 << 30)

extern char **environ;

/* What the page gets of a file; `bvh` owns the bytes of an image, `file` those of anything else. */
struct shown {
    struct session_bvh bvh;
    struct facet_bytes file;
    const uint8_t *bytes;
    size_t size;
    json_t *made;
};

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* ---- what the file is ---- */

/* Programs, kernels and lists go to the page as they are; it has the assembler and the readers. */
static bool goes_as_it_is(const char *path)
{
    static const char *const endings[] = {".s", ".asm", ".elf", ".o", ".json", ".hex"};
    bool found = false;

    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        found |= cli_ends_with(path, endings[i]);
    }
    return found;
}

static bool is_elf(const char *path)
{
    char magic[4] = {0};
    FILE *file = fopen(path, "rb");
    const bool elf = file != NULL && fread(magic, 1, sizeof magic, file) == sizeof magic &&
                     memcmp(magic, "\177ELF", sizeof magic) == 0;

    if (file != NULL) {
        (void)fclose(file);
    }
    return elf;
}

static bool read_as_it_is(const struct cli_args *args, const char *path, struct shown *out)
{
    static const char *const others[] = {"segment", "driver", "structure", "base", "root", NULL};
    struct facet_error err = {0};

    if (cli_useless(args, others, "is for BVH images, which %s is not by its name", path)) {
        return false;
    }
    if (facet_file_read(path, MAX_FILE, &out->file, &err) != FACET_OK) {
        return cli_bad_error(args, &err) == CLI_OK;
    }
    out->bytes = out->file.data;
    out->size = out->file.size;
    (void)json_object_set_new(out->made, "kind", json_string("file"));
    return true;
}

/* The pieces of an image that has several, as addresses and places in the bytes. */
static json_t *segments_json(const struct facet_gfx12_view *view)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < view->segment_count; i++) {
        const struct facet_gfx12_segment *s = &view->segments[i];
        json_t *one = json_object();

        (void)json_object_set_new(one, "address", facet_json_hex(s->address));
        (void)json_object_set_new(one, "offset", json_integer((json_int_t)s->offset));
        (void)json_object_set_new(one, "size", json_integer((json_int_t)s->size));
        (void)json_array_append_new(list, one);
    }
    return list;
}

static bool read_image(const struct cli_args *args, const char *path, struct shown *out)
{
    if (!session_bvh_read_or_make(args, path, bvh_make_image, &out->bvh)) {
        return false;
    }
    out->bytes = out->bvh.view.bytes;
    out->size = (size_t)out->bvh.view.size;
    if (bvh_rt_is(&out->bvh)) {
        if (!bvh_rt_options_fit(args)) {
            return false;
        }
        (void)json_object_set_new(out->made, "kind", json_string("tiles"));
        return true;
    }
    if (!session_bvh_has_root(args, &out->bvh)) {
        return false;
    }
    (void)json_object_set_new(out->made, "kind", json_string("bvh"));
    (void)json_object_set_new(out->made, "base", facet_json_hex(out->bvh.view.base));
    (void)json_object_set_new(out->made, "root", json_integer(out->bvh.view.root));
    if (out->bvh.view.segment_count > 0) {
        (void)json_object_set_new(out->made, "segments", segments_json(&out->bvh.view));
    }
    return true;
}

/* ---- showing it ---- */

/* The browser's output would only disturb ours; when there is none, the address is there to read.
 */
static void open_browser(const struct cli_args *args, const char *address)
{
    char *const words[] = {(char *)"xdg-open", (char *)address, NULL};
    posix_spawn_file_actions_t quiet;
    pid_t child;
    int result = posix_spawn_file_actions_init(&quiet);

    if (result == 0) {
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && result == 0; fd++) {
            result = posix_spawn_file_actions_addopen(&quiet, fd, "/dev/null", O_RDWR, 0);
        }
        result =
            result == 0 ? posix_spawnp(&child, words[0], &quiet, NULL, words, environ) : result;
        (void)posix_spawn_file_actions_destroy(&quiet);
    }
    if (result != 0 && !args->quiet) {
        fprintf(stderr,
                "facet view: xdg-open did not start (%s); open the address in a browser\n",
                strerror(result));
    }
}

/* Ctrl-C is how this is meant to end. */
static int serve(const struct cli_args *args, const struct facet_bytes *page)
{
    struct view_server server;
    struct cli_stop watch;
    struct facet_error err = {0};
    enum facet_status status = view_server_open(&server, &err);

    if (status != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    cli_stop_begin(&watch, NULL, HUGE_VAL);
    printf("%s\n", server.address);
    (void)fflush(stdout);
    if (!args->quiet) {
        fprintf(stderr, "facet view: Ctrl-C ends it\n");
    }
    if (!cli_given(args, "no-open")) {
        open_browser(args, server.address);
    }
    status = view_server_run(&server, page, cli_stop_wanted, &err);
    cli_stop_end(&watch);
    view_server_close(&server);
    return status == FACET_OK ? CLI_OK : cli_bad_error(args, &err);
}

static int show(const struct cli_args *args, const char *path, const struct shown *what)
{
    const struct view_input input = {.name = name_of(path != NULL ? path : what->bvh.name),
                                     .bytes = what->bytes,
                                     .size = what->size,
                                     .made = what->made};
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
    }
    code = status != FACET_OK ? cli_bad_error(args, &err)
           : output == NULL   ? serve(args, &filled)
                              : CLI_OK;
    free(filled.data);
    return code;
}

static int run_view(const struct cli_args *args)
{
    const char *path = session_bvh_operand(args), *output = cli_value(args, "output");
    struct shown what = {0};
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
    what.made = json_object();
    good = path != NULL && (goes_as_it_is(path) || is_elf(path)) ? read_as_it_is(args, path, &what)
                                                                 : read_image(args, path, &what);
    if (good && output != NULL && session_bvh_would_be_replaced(args, output, &what.bvh, false)) {
        good = false;
    }
    code = good ? show(args, path, &what) : CLI_BAD;
    json_decref(what.made);
    free(what.file.data);
    session_bvh_free(&what.bvh);
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
        "capture (.rra), a program or kernel (.s, .elf), or a list of commands (.json). A scene is "
        "built with the defaults of `facet bvh build`, and that is said; what is a program or a "
        "list goes by its name or first bytes.\n\n"
        "All machines run in the page itself. It is served on 127.0.0.1, at a port and a path "
        "that are new each time, until Ctrl-C; the address is the only line on standard output. "
        "With -o the same page is written as one file, which opens from disk and offline.\n\n"
        "`make web` makes the page; FACET_PAGE names another one.",
    .options = view_options,
    .run = run_view,
    .operands = "[FILE]",
};
