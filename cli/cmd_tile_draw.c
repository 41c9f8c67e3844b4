/* `facet tile draw`: a command list through the command queue, and the picture that it leaves. */
#include "command/deadline.h"
#include "command/output.h"
#include "command/stop.h"
#include "session/lint.h"

#include "base/bits.h"
#include "base/hash.h"
#include "base/side_file.h"
#include "image/image.h"
#include "tile/tile.h"
#include "tile_list/list.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_LIMIT = 64 << 20 };

struct drawing {
    const struct cli_args *args;
    struct facet_tile_list plan;
    facet_machine *machine;
    facet_pool *pool;
    struct session_lint lint;
    size_t first;       /* the oldest step that may not be complete */
    size_t waiting;     /* commands in the ring */
    uint32_t *statuses; /* per step */
    uint32_t bad;       /* commands with another status than OK */
    json_t *reads;      /* what READ_MEM returned */
    uint64_t instructions;
    uint64_t hash;
    struct cli_stop watch;
    bool stopped; /* by a signal or the clock */
};

/* ---- running ---- */

static bool prepare(struct drawing *d, struct facet_error *err)
{
    if (facet_tile_create(&d->plan.config, &d->machine, err) != FACET_OK) {
        return false;
    }
    facet_tile_use_pool(d->machine, d->pool);
    for (size_t i = 0; i < d->plan.piece_count; i++) {
        const struct facet_tile_list_piece *piece = &d->plan.pieces[i];

        if (facet_machine_write(d->machine, 0, piece->address, piece->bytes, piece->size, err) !=
            FACET_OK) {
            return false;
        }
    }
    return facet_tile_ring(d->machine, d->plan.ring, FACET_TILE_LIST_RING_BYTES, err) == FACET_OK &&
           facet_tile_host_write(d->machine, FACET_TILE_REG_COMPLETION_BASE, d->plan.slots, err) ==
               FACET_OK;
}

static uint32_t host_register(const struct drawing *d, uint32_t offset)
{
    uint32_t value = 0;

    (void)facet_tile_host_read(d->machine, offset, &value, NULL);
    return value;
}

/* ---- the list ---- */

static void take_answers(struct drawing *d, const struct facet_tile_list_step *step)
{
    uint32_t words[255];
    json_t *list = json_array();
    size_t count;

    (void)facet_tile_take(d->machine, words, step->command.length, &count, NULL);
    for (size_t i = 0; i < count; i++) {
        (void)json_array_append_new(list, facet_json_hex(words[i]));
    }
    (void)json_array_append_new(
        d->reads, json_pack("{s:i, s:o}", "command", (int)step->index, "words", list));
}

/* The oldest command that is not complete; there is one. */
static const struct facet_tile_list_step *next_command(struct drawing *d)
{
    while (d->plan.steps[d->first].kind != FACET_TILE_LIST_COMMAND) {
        d->first++;
    }
    return &d->plan.steps[d->first];
}

/* ... and now it is. */
static void note_completion(struct drawing *d)
{
    const struct facet_tile_list_step *step = next_command(d);

    d->statuses[d->first] = host_register(d, FACET_TILE_REG_LAST_STATUS);
    d->bad += d->statuses[d->first] != FACET_TILE_STATUS_OK;
    if (step->command.opcode == FACET_TILE_CMD_READ_MEM &&
        d->statuses[d->first] == FACET_TILE_STATUS_OK) {
        take_answers(d, step);
    }
    if (step->command.opcode == FACET_TILE_CMD_DISPATCH) {
        for (uint32_t core = 0; core < FACET_TILE_CORES; core++) {
            d->instructions += facet_machine_retired(d->machine, core);
        }
    }
    d->first++;
    d->waiting--;
}

/* Runs until nothing moves or it is stopped. With several commands in the ring each run is
 * short, so that each command shows its own status. */
static void advance(struct drawing *d)
{
    struct facet_stop stop;

    (void)facet_tile_host_write(d->machine, FACET_TILE_REG_CMDQ_DOORBELL, 1, NULL);
    do {
        const struct facet_run run = {.budget = d->waiting > 1 ? 1 : UINT64_MAX};
        uint64_t before = facet_tile_info_of(d->machine).commands;

        facet_machine_run(d->machine, &run, &stop);
        if (facet_tile_info_of(d->machine).commands != before && d->waiting != 0) {
            note_completion(d);
        }
    } while (stop.reason == FACET_STOP_BUDGET);
    d->stopped = stop.reason == FACET_STOP_REQUEST;
}

static bool
run_step(struct drawing *d, const struct facet_tile_list_step *step, struct facet_error *err)
{
    switch (step->kind) {
    case FACET_TILE_LIST_COMMAND:
        if (facet_tile_push(d->machine, &step->command, err) != FACET_OK) {
            return false;
        }
        d->waiting++;
        break;
    case FACET_TILE_LIST_SIGNAL:
        if (facet_tile_slot_write(d->machine, step->slot, step->value, err) != FACET_OK) {
            return false;
        }
        break;
    case FACET_TILE_LIST_DOORBELL:
        (void)facet_tile_doorbell(d->machine, step->value, NULL);
        break;
    case FACET_TILE_LIST_REGISTER:
        (void)facet_tile_host_write(d->machine, step->slot, step->value, NULL);
        break;
    }
    advance(d);
    return true;
}

static bool run_list(struct drawing *d, struct facet_error *err)
{
    enum facet_tile_queue_state state;

    for (size_t i = 0; i < d->plan.step_count; i++) {
        const struct facet_tile_list_step *step = &d->plan.steps[i];
        struct facet_error inner = {0};

        if (!run_step(d, step, &inner)) {
            (void)facet_fail(err,
                             inner.status,
                             step->index,
                             "commands[%u] (%s): %s",
                             (unsigned)step->index,
                             step->name,
                             inner.message);
            return false;
        }
        if (d->stopped) {
            step = d->waiting != 0 ? next_command(d) : step;
            (void)facet_fail(err,
                             FACET_ERR_LIMIT,
                             step->index,
                             "%s in commands[%u] (%s); there is no picture",
                             cli_stop_why(),
                             (unsigned)step->index,
                             step->name);
            return false;
        }
    }
    state = facet_tile_info_of(d->machine).queue;
    if (d->waiting != 0) {
        const struct facet_tile_list_step *step = next_command(d);

        (void)facet_fail(err,
                         FACET_ERR_INPUT,
                         step->index,
                         "commands[%u] (%s): %s",
                         (unsigned)step->index,
                         step->name,
                         state == FACET_TILE_QUEUE_WAITING
                             ? "its kernel waits for a DOORBELL that never comes"
                             : "it waits for a fence that nothing signals");
        return false;
    }
    return true;
}

/* ---- the picture ---- */

static bool write_picture(struct drawing *d, const char *path, struct facet_error *err)
{
    const struct facet_tile_list *plan = &d->plan;
    uint32_t bytes = plan->frame.format == FACET_TILE_RGB565 ? 2 : 4;
    const uint8_t *vram = facet_tile_unit(d->machine)->vram;
    struct facet_image image;
    bool good;

    if (facet_image_create(&image, plan->frame.width, plan->frame.height, err) != FACET_OK) {
        return false;
    }
    for (uint32_t y = 0; y < image.height; y++) {
        const uint8_t *row =
            vram + (plan->frame.address - FACET_TILE_VRAM_BASE) + (size_t)y * plan->frame.stride;

        for (uint32_t x = 0; x < image.width; x++) {
            uint8_t *to = facet_image_at(&image, x, y);
            uint32_t c = facet_load_le16(row + (size_t)x * bytes);

            if (bytes == 2) {
                to[0] = (uint8_t)((c >> 11) << 3 | c >> 13);
                to[1] = (uint8_t)((c >> 5 & 63) << 2 | (c >> 9 & 3));
                to[2] = (uint8_t)((c & 31) << 3 | (c >> 2 & 7));
            } else {
                to[0] = row[4 * (size_t)x + 2];
                to[1] = row[4 * (size_t)x + 1];
                to[2] = row[4 * (size_t)x];
            }
            to[3] = 255;
        }
    }
    d->hash = facet_hash_bytes(image.rgba, 4 * (size_t)image.width * image.height, 0);
    good = facet_image_png_write(path, &image, err) == FACET_OK;
    facet_image_free(&image);
    return good;
}

/* ---- what is said ---- */

static int tell_json(struct drawing *d, const char *output)
{
    json_t *list = json_array(), *result;

    for (size_t i = 0; i < d->plan.step_count; i++) {
        const struct facet_tile_list_step *step = &d->plan.steps[i];

        if (step->kind == FACET_TILE_LIST_COMMAND) {
            (void)json_array_append_new(list,
                                        json_pack("{s:i, s:s, s:i, s:s}",
                                                  "index",
                                                  (int)step->index,
                                                  "command",
                                                  step->name,
                                                  "status",
                                                  (int)d->statuses[i],
                                                  "meaning",
                                                  facet_tile_status_name(d->statuses[i])));
        }
    }
    result = json_pack("{s:o, s:i, s:i, s:o, s:i, s:I, s:i, s:o, s:O}",
                       "output",
                       facet_json_name(output),
                       "width",
                       (int)d->plan.frame.width,
                       "height",
                       (int)d->plan.frame.height,
                       "hash",
                       facet_json_hex(d->hash),
                       "failed",
                       (int)d->bad,
                       "instructions",
                       (json_int_t)d->instructions,
                       "fence",
                       (int)host_register(d, FACET_TILE_REG_FENCE_VALUE),
                       "commands",
                       list,
                       "reads",
                       d->reads);
    if (result != NULL) {
        session_lint_json(&d->lint, NULL, result);
    }
    return cli_print_json(d->args, result);
}

static void tell_text(const struct drawing *d, const char *output)
{
    for (size_t i = 0; i < d->plan.step_count; i++) {
        const struct facet_tile_list_step *step = &d->plan.steps[i];

        if (d->statuses[i] != FACET_TILE_STATUS_OK) {
            printf("commands[%u] (%s): status 0x%02x, %s\n",
                   (unsigned)step->index,
                   step->name,
                   (unsigned)d->statuses[i],
                   facet_tile_status_name(d->statuses[i]));
        }
    }
    for (size_t i = 0; i < json_array_size(d->reads); i++) {
        const json_t *read = json_array_get(d->reads, i);
        const json_t *words = json_object_get(read, "words");

        printf("commands[%d] (READ_MEM):",
               (int)json_integer_value(json_object_get(read, "command")));
        for (size_t k = 0; k < json_array_size(words); k++) {
            printf(" %s", json_string_value(json_array_get(words, k)));
        }
        printf("\n");
    }
    printf("%s: %u x %u pixels, %" PRIu64 " command%s, %u failed, %" PRIu64
           " instruction%s, hash 0x%016" PRIx64 "\n",
           output,
           (unsigned)d->plan.frame.width,
           (unsigned)d->plan.frame.height,
           facet_tile_info_of(d->machine).commands,
           cli_s(facet_tile_info_of(d->machine).commands),
           (unsigned)d->bad,
           d->instructions,
           cli_s(d->instructions),
           d->hash);
}

static int draw(struct drawing *d, const char *output)
{
    struct facet_error err = {0};
    bool good;

    d->statuses = calloc(d->plan.step_count + 1, sizeof *d->statuses);
    d->reads = json_array();
    if (d->statuses == NULL || d->reads == NULL) {
        return cli_bad(d->args, "out of memory");
    }
    if (!prepare(d, &err)) {
        return cli_bad_error(d->args, &err);
    }
    if (!session_lint_start(&d->lint, d->args, d->machine)) {
        return CLI_BAD;
    }
    facet_machine_observe(d->machine, session_lint_observer(&d->lint));
    cli_stop_begin(&d->watch, d->machine, cli_deadline_left());
    good = run_list(d, &err);
    cli_stop_end(&d->watch);
    if (!good || !write_picture(d, output, &err)) {
        (void)cli_bad_error(d->args, &err);
        return d->stopped ? cli_stop_code() : CLI_BAD;
    }
    session_lint_print(&d->lint, NULL);
    if (d->args->json) {
        if (tell_json(d, output) != CLI_OK) {
            return CLI_BAD;
        }
    } else if (strcmp(output, "-") != 0) {
        tell_text(d, output);
    }
    return d->bad != 0 || session_lint_fails(&d->lint) ? CLI_NO : CLI_OK;
}

/* Reads the list at `path` and the files beside it. */
static enum facet_status read_list(const char *path,
                                   struct facet_bytes *text,
                                   struct facet_tile_list *plan,
                                   struct facet_error *err)
{
    const bool alone = strcmp(path, "-") == 0;
    char *folder = alone ? NULL : facet_folder_of(path);
    enum facet_status status = facet_file_read(path, LIST_LIMIT, text, err);

    if (!alone && folder == NULL) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "%s: out of memory", path);
    }
    if (status == FACET_OK) {
        status = facet_tile_list_read(path, folder, text->data, text->size, plan, err);
    }
    free(folder);
    return status;
}

static int run_draw(const struct cli_args *args)
{
    struct drawing d = {.args = args};
    const char *path = args->positional[0], *output = cli_value(args, "output");
    struct facet_bytes text = {0};
    struct facet_error err = {0};
    uint64_t threads = 1;
    int code = CLI_BAD;

    if (output == NULL) {
        return cli_bad(args, "-o FILE is required");
    }
    if (strcmp(output, "-") == 0 && args->json) {
        return cli_bad(args, "the picture and --json both write to standard output");
    }
    if (cli_would_replace(args, output, path, "the command list") || !cli_can_write(args, output) ||
        !cli_number(args, "threads", 0, FACET_POOL_MAX_THREADS, &threads)) {
        return CLI_BAD;
    }
    if (read_list(path, &text, &d.plan, &err) != FACET_OK ||
        (threads != 1 && facet_pool_create((unsigned)threads, &d.pool, &err) != FACET_OK)) {
        (void)cli_bad_error(args, &err);
    } else {
        d.plan.config.plain = cli_given(args, "plain");
        code = draw(&d, output);
    }
    free(text.data);
    session_lint_free(&d.lint);
    facet_machine_destroy(d.machine);
    facet_pool_destroy(d.pool);
    facet_tile_list_free(&d.plan);
    json_decref(d.reads);
    free(d.statuses);
    return code;
}

static const struct cli_option draw_options[] = {
    {"output", 'o', "FILE", "the picture, a PNG file"},
    {"threads",
     0,
     "N",
     "host threads of the raster unit (default 1, 0: all processors); same picture"},
    CLI_PLAIN_OPTION,
    CLI_STOP_OPTION,
    SESSION_LINT_SWITCHES,
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
        "--lint reports where the kernels of the list violate the contract, as in `facet tile "
        "run` (docs/lint.md).",
    .examples = "facet tile draw examples/tile/triangle.json -o triangle.png\n"
                "facet tile draw examples/tile/triangle.json -o triangle.png --json",
    .options = draw_options,
    .has_json = true,
    .run = run_draw,
    .operands = "COMMANDS.json",
};
