/* `facet tile draw`: a command list through the command queue, and the picture that it leaves. */
#include "command/deadline.h"
#include "command/output.h"
#include "command/stop.h"
#include "session/lint.h"
#include "session/profile.h"
#include "session/steps.h"
#include "session/tile/picture.h"
#include "session/tile/play.h"
#include "session/timing/option.h"
#include "session/trace.h"

#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct drawing {
    const struct cli_args *args;
    struct session_tile_play list;
    struct session_lint lint;
    struct session_trace trace;
    struct session_timing timing;
    struct session_profile profile;
    uint64_t hash;
    struct cli_stop watch;
};

/* ---- the picture ---- */

/* With the profile, if there is one: both or none. */
static bool write_picture(struct drawing *d, const char *path, struct facet_error *err)
{
    const struct facet_file_part *profile = session_profile_part(&d->profile);
    struct facet_bytes file = {NULL, 0};
    const struct facet_tile_list *plan = &d->list.plan;
    struct facet_image image = {0};
    bool good = session_tile_image(facet_tile_unit(d->list.machine)->vram +
                                       (plan->frame.address - FACET_TILE_VRAM_BASE),
                                   plan->frame.stride,
                                   plan->frame.width,
                                   plan->frame.height,
                                   plan->frame.format == FACET_TILE_RGB565,
                                   &image,
                                   err) == FACET_OK;

    if (good) {
        d->hash = session_image_hash(&image, 0);
        good = facet_image_png_encode(&image, &file, err) == FACET_OK;
    }
    if (good) {
        const struct facet_file_part parts[] = {
            {path, file.data, file.size}, profile != NULL ? *profile : (struct facet_file_part){0}};

        good = facet_file_write_all(parts, profile != NULL ? 2 : 1, err) == FACET_OK;
    }
    free(file.data);
    facet_image_free(&image);
    return good;
}

/* ---- what is said ---- */

static int tell_json(struct drawing *d, const char *output)
{
    uint32_t fence = 0;
    json_t *result;

    (void)facet_tile_host_read(d->list.machine, FACET_TILE_REG_FENCE_VALUE, &fence, NULL);
    result = json_pack("{s:o, s:i, s:i, s:o, s:i, s:I, s:i, s:o, s:O}",
                       "output",
                       facet_json_name(output),
                       "width",
                       (int)d->list.plan.frame.width,
                       "height",
                       (int)d->list.plan.frame.height,
                       "hash",
                       facet_json_hex(d->hash),
                       "failed",
                       (int)d->list.play.bad,
                       "instructions",
                       (json_int_t)d->list.play.instructions,
                       "fence",
                       (int)fence,
                       "commands",
                       session_tile_play_json(&d->list),
                       "reads",
                       d->list.reads);
    if (result != NULL) {
        session_lint_json(&d->lint, d->list.plan.program, result);
        session_timing_json(&d->timing, result);
        if (d->list.held) {
            (void)json_object_set(result, "stopped", d->list.at.json);
            (void)json_object_set_new(d->list.at.json,
                                      "command",
                                      json_integer(d->list.plan.steps[d->list.at.index].index));
        }
    }
    return cli_print_json(d->args, result);
}

static void tell_text(const struct drawing *d, const char *output)
{
    uint64_t commands = facet_tile_info_of(d->list.machine).commands;
    FILE *out = d->trace.file == stdout ? stderr : stdout;

    session_tile_play_print(&d->list, out);
    fprintf(out,
            "%s: %u x %u pixels, %" PRIu64 " command%s, %u failed, %" PRIu64
            " instruction%s, hash 0x%016" PRIx64 "\n",
            output,
            (unsigned)d->list.plan.frame.width,
            (unsigned)d->list.plan.frame.height,
            commands,
            cli_s(commands),
            (unsigned)d->list.play.bad,
            d->list.play.instructions,
            cli_s(d->list.play.instructions),
            d->hash);
}

static bool find_place(const void *plan, const char *text, uint64_t *address)
{
    return session_find_address(((const struct facet_tile_list *)plan)->program, text, address) &&
           *address % 4 == 0;
}

/* --break and --steps. */
static bool set_stops(struct drawing *d)
{
    return cli_number(d->args, "steps", 1, UINT64_MAX, &d->list.limit) &&
           session_breakpoints(d->args,
                               d->list.machine,
                               find_place,
                               &d->list.plan,
                               "a multiple of 4 or a symbol of a kernel");
}

static void show_frame(struct drawing *d)
{
    const struct facet_tile_list *plan = &d->list.plan;

    session_lint_picture(
        &d->lint,
        &(struct facet_lint_picture){plan->frame.address,
                                     plan->frame.stride,
                                     plan->frame.width,
                                     plan->frame.height,
                                     plan->frame.format == FACET_TILE_RGB565 ? 2 : 4});
}

static int draw(struct drawing *d, const char *output)
{
    struct facet_error err = {0};
    int expected;
    bool good;

    if (!set_stops(d) || !session_lint_start(&d->lint, d->args, d->list.machine) ||
        !session_profile_start_calls(&d->profile, d->args, d->list.machine, FACET_ISA_TILE) ||
        !session_timing_start(
            &d->timing, d->args, d->list.machine, FACET_ISA_TILE, &d->list.plan) ||
        !session_trace_open(&d->trace, d->args, d->list.plan.program)) {
        return CLI_BAD;
    }
    d->trace.beside = session_timing_observer(
        &d->timing, session_profile_observer(&d->profile, session_lint_observer(&d->lint)));
    d->list.trace = &d->trace;
    show_frame(d);
    cli_stop_begin(&d->watch, d->list.machine, cli_deadline_left());
    good = session_tile_play_run(&d->list, &err);
    cli_stop_end(&d->watch);
    session_profile_stop(&d->profile);
    session_tile_play_name_draws(&d->list, &d->profile.counts);
    if (!good) {
        (void)cli_bad_error(d->args, &err);
    }
    good =
        good && session_profile_finish_program(&d->profile, FACET_ISA_TILE, d->list.plan.program);
    if (!session_trace_close(&d->trace, d->args, good || d->list.stopped) ||
        !session_timing_stop(&d->timing) || !good) {
        return d->list.stopped ? cli_stop_code() : CLI_BAD;
    }
    if (!write_picture(d, output, &err)) {
        return cli_bad_error(d->args, &err);
    }
    session_lint_print(&d->lint, d->list.plan.program);
    if (d->args->json) {
        if (tell_json(d, output) != CLI_OK) {
            return CLI_BAD;
        }
    } else if (strcmp(output, "-") != 0) {
        tell_text(d, output);
    }
    if (!d->args->json &&
        !session_timing_print(&d->timing, strcmp(output, "-") != 0 ? stdout : stderr)) {
        return CLI_BAD;
    }
    expected = session_expect(d->args, d->hash);
    return expected != CLI_OK                                      ? expected
           : d->list.play.bad != 0 || session_lint_fails(&d->lint) ? CLI_NO
                                                                   : CLI_OK;
}

static int run_draw(const struct cli_args *args)
{
    struct drawing d = {.args = args};
    const char *path = args->positional[0], *output = cli_value(args, "output"),
               *trace = cli_value(args, "trace");
    int code = CLI_BAD;

    if (output == NULL) {
        return cli_bad(args, "-o FILE is required");
    }
    if (strcmp(output, "-") == 0 && args->json) {
        return cli_bad(args, "the picture and --json both write to standard output");
    }
    if (trace != NULL && strcmp(trace, "-") == 0 && (strcmp(output, "-") == 0 || args->json)) {
        return cli_bad(
            args, "the trace and %s both write to standard output", args->json ? "--json" : "-o");
    }
    if (cli_would_replace(args, output, path, "the command list") ||
        cli_would_replace(args, trace, path, "the command list") ||
        cli_would_replace(args, trace, output, "the picture") ||
        cli_would_replace(args, output, cli_value(args, "timing"), "the timing model") ||
        cli_would_replace(
            args, output, cli_value(args, "profile-out"), "the file of --profile-out") ||
        !cli_can_write(args, output)) {
        return CLI_BAD;
    }
    if (session_tile_play_start(&d.list, args, path)) {
        code = draw(&d, output);
    }
    session_timing_free(&d.timing);
    session_profile_free(&d.profile);
    session_lint_free(&d.lint);
    session_tile_play_end(&d.list);
    return code;
}

static const struct cli_option draw_options[] = {
    {"output", 'o', "FILE", "the picture, a PNG file"},
    {"threads",
     0,
     "N",
     "host threads of the raster unit (default 1, 0: all processors); same picture"},
    SESSION_EXPECT_OPTION,
    {"break",
     'b',
     "PLACE",
     "stop before the instruction at an address or symbol, and draw nothing more; repeatable"},
    {"steps", 0, "N", "stop after so many instructions of all kernels together"},
    CLI_PLAIN_OPTION,
    CLI_STOP_OPTION,
    SESSION_LINT_SWITCHES,
    SESSION_TRACE_OPTIONS,
    SESSION_TIMING_OPTION,
    SESSION_PROFILE_OPTION,
    SESSION_PROFILE_CALLS_OPTION,
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_tile_draw = {
    .name = "tile draw",
    .summary = "draw a list of commands through the tile GPU's command queue",
    .usage = "facet tile draw COMMANDS.json -o FRAME.png [--lint] [--json]",
    .details =
        "The list is JSON: buffers (inline numbers, vertices, files, pictures, assembly), the "
        "frame, and commands with the descriptors' fields by name: LOAD_RSTATE, LOAD_GSTATE, "
        "LOAD_GPARAM, LOAD_SAMPLER, RSETUP, RDRAW, RRECT, GDRAW, DISPATCH, WRITE_MEM, READ_MEM, "
        "COPY_BUFFER, BARRIER, WAIT_FENCE, NOP, and SIGNAL and DOORBELL for what the host does "
        "meanwhile. docs/tile-draw.md describes it. Files that it names are read only from its "
        "own folder and below, and not through links.\n\n"
        "Everything is read and checked before anything runs; an error names the command by its "
        "index and the field. Exit code 1 means that the picture was drawn and some command "
        "reported a status other than ok, or with --lint-error that there is a finding; 124 that "
        "--max-seconds is over, 130 that it was interrupted: then there is no picture.\n\n"
        "--break and --steps stop in a kernel and tell what its next instruction reads and who "
        "wrote that; the picture is what VRAM holds by then, and exit code 0.\n\n"
        "--lint reports where the kernels of the list violate the contract, and --trace writes "
        "what they do, as in `facet tile run` (docs/lint.md, docs/trace.md).\n\n"
        "--timing estimates how many cycles each draw and each kernel takes on a machine with the "
        "numbers of FILE, and what limits it; the picture does not change (docs/timing.md).\n\n"
        "--profile-out counts the instructions of all kernels, what each draw did (vertices, "
        "triangles, pixels, texels) and accesses by class of memory; facet profile show has the "
        "views (docs/profile.md).",
    .examples = "facet tile draw examples/tile/triangle.json -o triangle.png\n"
                "facet tile draw examples/tile/triangle.json -o triangle.png --json",
    .options = draw_options,
    .has_json = true,
    .run = run_draw,
    .operands = "COMMANDS.json",
};
