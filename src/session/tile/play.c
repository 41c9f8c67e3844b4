/* See play.h. */
#include "session/tile/play.h"
#include "command/stop.h"
#include "session/tile/report.h"

#include "base/error.h"
#include "base/side_file.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

enum { LIST_LIMIT = 64 << 20, EXPLAINED = 4 }; /* faults that are looked at a second time */

/* ---- the list ---- */

static enum facet_status
read_list(struct session_tile_play *p, const char *path, struct facet_error *err)
{
    const bool alone = strcmp(path, "-") == 0;
    char *folder = alone ? NULL : facet_folder_of(path);
    enum facet_status status = facet_file_read(path, LIST_LIMIT, &p->text, err);

    if (!alone && folder == NULL) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "%s: out of memory", path);
    }
    if (status == FACET_OK) {
        status = facet_tile_list_read(path, folder, p->text.data, p->text.size, &p->plan, err);
    }
    free(folder);
    return status;
}

bool session_tile_play_start(struct session_tile_play *p,
                             const struct cli_args *args,
                             const char *path)
{
    struct facet_error err = {0};
    uint64_t threads = 1;

    *p = (struct session_tile_play){.args = args};
    if (!cli_number(args, "threads", 0, FACET_POOL_MAX_THREADS, &threads)) {
        return false;
    }
    if (read_list(p, path, &err) != FACET_OK ||
        (threads != 1 && facet_pool_create((unsigned)threads, &p->pool, &err) != FACET_OK)) {
        (void)cli_bad_error(args, &err);
        return false;
    }
    p->plan.config.plain = cli_given(args, "plain");
    p->reads = json_array();
    p->faults = json_array();
    p->refusals = json_array();
    p->notes = calloc(p->plan.step_count + 1, sizeof *p->notes);
    if (p->reads == NULL || p->faults == NULL || p->refusals == NULL || p->notes == NULL) {
        (void)cli_bad(args, "out of memory");
        return false;
    }
    for (size_t i = 0; i < p->plan.step_count; i++) {
        (void)json_array_append_new(p->faults, json_null());
        (void)json_array_append_new(p->refusals, json_null());
    }
    if (facet_tile_create(&p->plan.config, &p->machine, &err) != FACET_OK) {
        (void)cli_bad_error(args, &err);
        return false;
    }
    facet_tile_use_pool(p->machine, p->pool);
    if (facet_tile_play_start(&p->play, &p->plan, p->machine, &err) != FACET_OK) {
        (void)cli_bad_error(args, &err);
        return false;
    }
    return true;
}

void session_tile_play_end(struct session_tile_play *p)
{
    for (size_t i = 0; p->notes != NULL && i < p->plan.step_count; i++) {
        free(p->notes[i]);
    }
    free(p->notes);
    free(p->at.text);
    json_decref(p->at.json);
    json_decref(p->reads);
    json_decref(p->faults);
    json_decref(p->refusals);
    facet_tile_play_free(&p->play);
    facet_machine_destroy(p->machine);
    facet_pool_destroy(p->pool);
    facet_tile_list_free(&p->plan);
    free(p->text.data);
    *p = (struct session_tile_play){0};
}

/* ---- faults ---- */

/* A second machine that has done everything before the step with this index, and has been given the
 * step itself. */
static bool play_again(struct session_tile_play *p,
                       size_t index,
                       struct facet_tile_play *play,
                       facet_machine **machine)
{
    const struct facet_run all = {.budget = UINT64_MAX};
    struct facet_stop stop;
    bool good = facet_tile_create(&p->plan.config, machine, NULL) == FACET_OK;

    if (good) {
        facet_tile_use_pool(*machine, p->pool);
        good = facet_tile_play_start(play, &p->plan, *machine, NULL) == FACET_OK;
    }
    while (good && play->next <= index) {
        good = facet_tile_play_give(play, NULL) == FACET_OK;
        if (good && play->next <= index) {
            facet_machine_run(*machine, &all, &stop);
            (void)facet_tile_play_note(play);
        }
    }
    return good;
}

static void keep_faults(struct session_tile_play *p, size_t index, struct session_explain *why)
{
    json_t *list = json_array();
    size_t size = 0;
    FILE *text = open_memstream(&p->notes[index], &size);

    for (uint32_t core = 0; core < FACET_TILE_CORES; core++) {
        if (facet_tile_report_of(why->machine, core).fault_cause != 0) {
            json_t *fault = session_tile_fault_json(why->machine, why, core);

            (void)json_object_set_new(fault, "core", json_integer((json_int_t)core));
            (void)json_array_append_new(list, fault);
        }
    }
    (void)json_array_set_new(p->faults, index, list);
    if (text != NULL) {
        session_tile_faults_print(why->machine, why, text);
        (void)fclose(text);
    }
}

/* A kernel that went on behind graphics errors. */
static void keep_refusals(struct session_tile_play *p, size_t index)
{
    json_t *list = session_tile_refusals_json(p->machine);
    size_t size = 0;
    FILE *text = json_array_size(list) != 0 ? open_memstream(&p->notes[index], &size) : NULL;

    if (text != NULL) {
        session_tile_refusals_print(p->machine, text);
        (void)fclose(text);
    }
    (void)json_array_set_new(p->refusals, index, list);
}

/* What is kept of a stop when its past is known: a fault, or where the kernel is held. */
static void keep_held(struct session_tile_play *p,
                      size_t index,
                      struct session_explain *why,
                      const struct facet_stop *stop)
{
    size_t size = 0;
    FILE *text = open_memstream(&p->at.text, &size);

    p->at.index = index;
    p->at.json = session_tile_held_json(why, stop);
    if (text != NULL) {
        session_tile_held_print(why->machine, why, stop, text);
        (void)fclose(text);
    }
}

/* The kernel of a DISPATCH has faulted, or is held (`stop`), and the machine still shows it. A list
 * that gave the machine several commands at once is not repeated: it is told without its past. */
static void explain_stop(struct session_tile_play *p,
                         size_t index,
                         uint64_t first,
                         const struct facet_stop *stop)
{
    struct session_explain why = {0};
    struct facet_tile_play play = {0};
    facet_machine *again = NULL;
    uint64_t last = facet_machine_steps(p->machine);
    const bool wanted = p->explained++ < EXPLAINED && p->play.waiting <= (stop != NULL) &&
                        session_explain_short(first, last);
    const bool again_there = wanted && play_again(p, index, &play, &again);
    const bool known = again_there && facet_machine_steps(again) == first;

    p->no_memory |= wanted && !again_there; /* it has all been done once */
    if (session_explain_start(
            &why, p->args, known ? again : p->machine, FACET_ISA_TILE, p->plan.program, false)) {
        if (known) {
            session_explain_watch(&why, last);
        }
        if (stop != NULL) {
            keep_held(p, index, &why, stop);
        } else {
            keep_faults(p, index, &why);
        }
    }
    session_explain_free(&why);
    facet_tile_play_free(&play);
    facet_machine_destroy(again);
}

/* ---- running ---- */

static void take_answers(struct session_tile_play *p, const struct facet_tile_list_step *step)
{
    uint32_t words[255];
    json_t *list = json_array();
    size_t count;

    (void)facet_tile_take(p->machine, words, step->command.length, &count, NULL);
    for (size_t i = 0; i < count; i++) {
        (void)json_array_append_new(list, facet_json_hex(words[i]));
    }
    (void)json_array_append_new(
        p->reads, json_pack("{s:i, s:o}", "command", (int)step->index, "words", list));
}

/* The step whose kernel is held, as the machine has it. */
static size_t held_index(const struct session_tile_play *p)
{
    const struct facet_tile_list_step *step = facet_tile_play_pending(&p->play);

    return step != NULL ? (size_t)(step - p->plan.steps) : p->play.next - 1;
}

/* Instructions of the kernels that are over; *now: and of the one that runs. */
static uint64_t executed(const struct session_tile_play *p, bool *now)
{
    uint64_t sum = p->play.instructions;

    *now = facet_tile_info_of(p->machine).state == FACET_TILE_STATE_RUNNING;
    for (uint32_t core = 0; *now && core < FACET_TILE_CORES; core++) {
        sum += facet_machine_retired(p->machine, core);
    }
    return sum;
}

/* Steps up to the limit, at least one: a step of the queue executes no instruction. */
static uint64_t steps_left(const struct session_tile_play *p, uint64_t most)
{
    bool now;
    const uint64_t done = p->limit != 0 ? executed(p, &now) : 0;
    const uint64_t left = p->limit == 0 ? most : done < p->limit ? p->limit - done : 1;

    return left < most ? left : most;
}

static bool is_held(const struct session_tile_play *p, const struct facet_stop *stop)
{
    bool now;

    return stop->reason == FACET_STOP_BREAKPOINT ||
           (stop->reason == FACET_STOP_BUDGET && p->limit != 0 && executed(p, &now) >= p->limit &&
            now);
}

/* Runs until nothing moves or it is stopped; false after a complaint about the trace. */
static bool advance(struct session_tile_play *p)
{
    uint64_t first = facet_machine_steps(p->machine);
    struct facet_stop stop;

    do {
        struct facet_run run = {.budget = steps_left(p, facet_tile_play_budget(&p->play))};
        uint64_t steps = facet_machine_steps(p->machine);
        const struct facet_tile_list_step *done;

        if (p->trace != NULL) {
            run.budget = session_trace_limit(p->trace, steps, run.budget);
            if (!session_trace_update(p->trace, p->args, p->machine, steps)) {
                return false;
            }
        }
        facet_machine_run(p->machine, &run, &stop);
        done = facet_tile_play_note(&p->play);
        if (done != NULL && p->done != NULL) {
            p->done(p->context, done);
        }
        if (done != NULL) {
            size_t index = (size_t)(done - p->plan.steps);
            uint32_t status = p->play.statuses[index];

            if (done->command.opcode == FACET_TILE_CMD_READ_MEM && status == FACET_TILE_STATUS_OK) {
                take_answers(p, done);
            }
            if (done->command.opcode == FACET_TILE_CMD_DISPATCH &&
                status > FACET_TILE_STATUS_DISPATCH && status < FACET_TILE_STATUS_BAD_OPCODE) {
                explain_stop(p, index, first, NULL);
            } else if (done->command.opcode == FACET_TILE_CMD_DISPATCH) {
                keep_refusals(p, index);
            }
        }
        p->held = is_held(p, &stop);
    } while (stop.reason == FACET_STOP_BUDGET && !p->held);
    if (p->held) {
        explain_stop(p, held_index(p), first, &stop);
    }
    p->stopped = stop.reason == FACET_STOP_REQUEST;
    return true;
}

bool session_tile_play_run(struct session_tile_play *p, struct facet_error *err)
{
    const struct facet_tile_list_step *step;

    while (!facet_tile_play_over(&p->play)) {
        const struct facet_tile_list_step *given = &p->plan.steps[p->play.next];

        if (facet_tile_play_give(&p->play, err) != FACET_OK) {
            return false;
        }
        if (!advance(p)) {
            return facet_fail(err, FACET_ERR_MEMORY, 0, "there is no picture") == FACET_OK;
        }
        if (p->no_memory) {
            return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for what led to a stop") ==
                   FACET_OK;
        }
        if (p->held) {
            return true;
        }
        if (p->stopped) {
            step = facet_tile_play_pending(&p->play);
            step = step != NULL ? step : given;
            return facet_fail(err,
                              FACET_ERR_LIMIT,
                              step->index,
                              "%s in commands[%u] (%s); there is no picture",
                              cli_stop_why(),
                              (unsigned)step->index,
                              step->name) == FACET_OK;
        }
    }
    step = facet_tile_play_pending(&p->play);
    return step == NULL ||
           facet_fail(err,
                      FACET_ERR_INPUT,
                      step->index,
                      "commands[%u] (%s): %s",
                      (unsigned)step->index,
                      step->name,
                      facet_tile_info_of(p->machine).queue == FACET_TILE_QUEUE_WAITING
                          ? "its kernel waits for a DOORBELL that never comes"
                          : "it waits for a fence that nothing signals") == FACET_OK;
}

void session_tile_play_name_draws(const struct session_tile_play *p, struct facet_counts *counts)
{
    struct facet_counts_value *list = counts->list.items;
    uint64_t command = 0; /* of the queue */
    size_t step = 0;

    for (size_t i = 0; i < counts->list.count; i++) {
        if (strcmp(list[i].name, "command") != 0) {
            continue;
        }
        for (; step < p->plan.step_count; step++) {
            if (p->plan.steps[step].kind == FACET_TILE_LIST_COMMAND &&
                command++ == list[i].number) {
                break;
            }
        }
        if (step < p->plan.step_count) {
            command--; /* the next draw may belong to the same command */
            list[i].number = p->plan.steps[step].index;
        }
    }
}

/* ---- telling ---- */

void session_tile_play_print(const struct session_tile_play *p, FILE *out)
{
    for (size_t i = 0; i < p->plan.step_count; i++) {
        const struct facet_tile_list_step *step = &p->plan.steps[i];

        if (p->play.statuses[i] != FACET_TILE_STATUS_OK) {
            fprintf(out,
                    "commands[%u] (%s): status 0x%02x, %s\n",
                    (unsigned)step->index,
                    step->name,
                    (unsigned)p->play.statuses[i],
                    facet_tile_status_name(p->play.statuses[i]));
        } else if (p->notes[i] != NULL) {
            fprintf(out,
                    "commands[%u] (%s): its kernel went on behind what was refused\n",
                    (unsigned)step->index,
                    step->name);
        }
        if (p->notes[i] != NULL) {
            fputs(p->notes[i], out);
        }
    }
    if (p->at.text != NULL) {
        const struct facet_tile_list_step *step = &p->plan.steps[p->at.index];

        fprintf(out, "commands[%u] (%s) is not complete\n", (unsigned)step->index, step->name);
        fputs(p->at.text, out);
    }
    for (size_t i = 0; i < json_array_size(p->reads); i++) {
        const json_t *read = json_array_get(p->reads, i);
        const json_t *words = json_object_get(read, "words");

        fprintf(out,
                "commands[%d] (READ_MEM):",
                (int)json_integer_value(json_object_get(read, "command")));
        for (size_t k = 0; k < json_array_size(words); k++) {
            fprintf(out, " %s", json_string_value(json_array_get(words, k)));
        }
        fprintf(out, "\n");
    }
}

json_t *session_tile_play_json(const struct session_tile_play *p)
{
    json_t *list = json_array();

    for (size_t i = 0; i < p->plan.step_count; i++) {
        const struct facet_tile_list_step *step = &p->plan.steps[i];
        json_t *faults = json_array_get(p->faults, i);
        json_t *refusals = json_array_get(p->refusals, i);
        json_t *item;

        if (step->kind != FACET_TILE_LIST_COMMAND) {
            continue;
        }
        item = json_pack("{s:i, s:s, s:i, s:s}",
                         "index",
                         (int)step->index,
                         "command",
                         step->name,
                         "status",
                         (int)p->play.statuses[i],
                         "meaning",
                         facet_tile_status_name(p->play.statuses[i]));
        if (json_is_array(faults)) {
            (void)json_object_set(item, "faults", faults);
        }
        if (json_array_size(refusals) != 0) {
            (void)json_object_set(item, "graphics_errors", refusals);
        }
        if (p->held && i >= p->at.index) {
            (void)json_object_set_new(item, "status", json_null());
            (void)json_object_set_new(item, "meaning", json_string("not complete"));
        }
        (void)json_array_append_new(list, item);
    }
    return list;
}
