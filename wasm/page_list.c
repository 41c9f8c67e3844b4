/* Command lists of the tile machine (docs/tile-draw.md) as sessions: the host of the queue gives
 * one command after the other, and the past knows how many steps the machine had made when each was
 * complete, so that the picture after any of them can be seen again. See page_session.h. */
#include "wasm/page_session.h"

#include "tile_list/pixel.h"
#include "tile_list/play.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct page_list {
    struct facet_tile_list plan;
    struct facet_tile_play play;
    uint64_t *after; /* steps of the machine when so many of the plan's steps were complete */
    size_t reached;  /* `after` is known up to here */
    size_t *commands, command_count;
};

enum { NOT_REACHED = -1 };

void page_list_end(struct page_list *list)
{
    if (list != NULL) {
        facet_tile_play_free(&list->play);
        list->plan.program = NULL; /* the session's */
        facet_tile_list_free(&list->plan);
        free(list->after);
        free(list->commands);
        free(list);
    }
}

/* ---- the queue's host, forwards and backwards ---- */

static void note(struct page_session *s)
{
    struct page_list *list = s->list;

    (void)facet_tile_play_note(&list->play);
    if (list->play.waiting == 0 && list->play.next >= list->reached) {
        for (size_t i = list->reached + 1; i <= list->play.next; i++) {
            list->after[i] = facet_machine_steps(s->machine);
        }
        list->reached = list->play.next;
    }
}

static enum facet_gdb_idle idle(void *context)
{
    struct page_session *s = context;
    struct facet_error err = {0};

    note(s);
    if (facet_tile_play_over(&s->list->play)) {
        return FACET_GDB_IDLE_END;
    }
    return facet_tile_play_give(&s->list->play, &err) == FACET_OK ? FACET_GDB_IDLE_AGAIN
                                                                  : FACET_GDB_IDLE_NEVER;
}

static struct facet_gdb_mark mark(void *context)
{
    const struct page_session *s = context;

    return (struct facet_gdb_mark){.input = s->list->play.next};
}

static void rewind_to(void *context, struct facet_gdb_mark mark)
{
    struct page_session *s = context;

    facet_tile_play_seek(&s->list->play, (size_t)mark.input);
}

/* What the page wrote makes another future: pictures that were seen are none of it. */
static void renew(void *context)
{
    struct page_session *s = context;

    s->list->reached = s->list->play.waiting == 0 ? s->list->play.next : s->list->play.first;
}

/* ---- opening ---- */

/* Steps of the host are none of the queue's commands. */
static void number_commands(struct page_list *list)
{
    for (size_t i = 0; i < list->plan.step_count; i++) {
        if (list->plan.steps[i].kind == FACET_TILE_LIST_COMMAND) {
            list->commands[list->command_count++] = list->plan.steps[i].index;
        }
    }
}

const size_t *page_list_commands(const struct page_list *list, size_t *count)
{
    *count = list != NULL ? list->command_count : 0;
    return list != NULL ? list->commands : NULL;
}

/* Lines of "name=value", as page_session_open has them. */
static bool read_options(struct page_session *s, char *text, struct facet_error *err)
{
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char *equals = strchr(line, '=');

        if (equals != NULL) {
            *equals = '\0';
        }
        err->status = FACET_OK;
        if (!page_session_option(s, line, equals != NULL ? equals + 1 : "", err)) {
            (void)facet_fail(err,
                             FACET_ERR_USAGE,
                             0,
                             "--%.80s: expected --timing, --lint or --check-order",
                             line);
        }
        if (err->status != FACET_OK) {
            return false;
        }
    }
    return true;
}

static enum facet_status
start(struct page_session *s, const char *text, size_t size, struct facet_error *err)
{
    struct page_list *list = calloc(1, sizeof *list);
    enum facet_status status;

    s->list = list;
    if (list == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for a command list");
    }
    status = facet_tile_list_read("list", ".", text, size, &list->plan, err);
    if (status != FACET_OK) {
        return status;
    }
    s->program = list->plan.program;
    s->frame.address = list->plan.frame.address;
    s->frame.stride = list->plan.frame.stride;
    s->frame.width = list->plan.frame.width;
    s->frame.height = list->plan.frame.height;
    s->frame.rgb565 = list->plan.frame.format == FACET_TILE_RGB565;
    list->after = calloc(list->plan.step_count + 1, sizeof *list->after);
    list->commands = calloc(list->plan.step_count + 1, sizeof *list->commands);
    if (list->after == NULL || list->commands == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for a command list");
    }
    number_commands(list);
    status = facet_tile_create(&list->plan.config, &s->machine, err);
    if (status == FACET_OK) {
        status = facet_tile_play_start(&list->play, &list->plan, s->machine, err);
    }
    if (status == FACET_OK) {
        list->after[0] = facet_machine_steps(s->machine);
        status = page_session_begin(s, err);
    }
    return status;
}

/* {"session": n}. Files that the list names are those of page_files_add. */
int PAGE_EXPORT(page_list_open)(const uint8_t *text, size_t size, char *options)
{
    struct facet_error err = {0};
    uint32_t id;
    struct page_session *s = page_session_new(&id);

    if (s == NULL) {
        return FACET_ERR_LIMIT;
    }
    s->kind = PAGE_TILE;
    if (!read_options(s, options, &err) || start(s, (const char *)text, size, &err) != FACET_OK) {
        if (s->list != NULL && s->program == NULL) {
            s->program = s->list->plan.program;
        }
        page_session_end(s);
        return page_fail(&err);
    }
    s->host.idle = idle;
    s->host.mark = mark;
    s->host.rewind = rewind_to;
    s->host.renew = renew;
    s->host.stop_on_trap = true;
    facet_record_number(page_begin(), "session", id);
    return page_end();
}

static struct page_session *list_of(uint32_t id)
{
    struct page_session *s = page_session_of(id);
    struct facet_error err = {0};

    if (s != NULL && s->list == NULL) {
        (void)facet_fail(
            &err, FACET_ERR_USAGE, id, "session %u plays no command list", (unsigned)id);
        (void)page_fail(&err);
        return NULL;
    }
    return s;
}

/* ---- where it stands ---- */

/* Every command with its name, its status when it is complete, and the steps of the machine by
 * then. */
int PAGE_EXPORT(page_list_state)(uint32_t id)
{
    static const char *const kinds[] = {[FACET_TILE_LIST_COMMAND] = "command",
                                        [FACET_TILE_LIST_SIGNAL] = "signal",
                                        [FACET_TILE_LIST_DOORBELL] = "doorbell",
                                        [FACET_TILE_LIST_REGISTER] = "register"};
    struct page_session *s = list_of(id);
    const struct page_list *list;
    struct facet_record *r;

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    list = s->list;
    r = page_begin();
    facet_record_number(
        r, "done", (int64_t)(list->play.waiting == 0 ? list->play.next : list->play.first));
    facet_record_bool(r, "over", facet_tile_play_over(&list->play) && list->play.waiting == 0);
    facet_record_number(r, "reached", (int64_t)list->reached);
    facet_record_number(r, "width", list->plan.frame.width);
    facet_record_number(r, "height", list->plan.frame.height);
    facet_record_list(r, "commands");
    for (size_t i = 0; i < list->plan.step_count; i++) {
        const struct facet_tile_list_step *step = &list->plan.steps[i];
        bool complete = i < list->reached;

        facet_record_open(r, NULL, NULL);
        facet_record_number(r, "index", step->index);
        facet_record_word(r, "name", step->name);
        facet_record_word(r, "kind", kinds[step->kind]);
        facet_record_number(r, "after", complete ? (int64_t)list->after[i + 1] : NOT_REACHED);
        if (complete && step->kind == FACET_TILE_LIST_COMMAND) {
            facet_record_number(r, "status", list->play.statuses[i]);
            facet_record_word(r, "statusName", facet_tile_status_name(list->play.statuses[i]));
        }
        facet_record_close(r);
    }
    facet_record_close(r);
    return page_end();
}

/* To the state after `count` commands: back to it, or on with the list, at most `slice` steps of
 * the machine. A kernel that faults does not stop it. */
int PAGE_EXPORT(page_list_goto)(uint32_t id, uint32_t count, uint64_t slice)
{
    struct page_session *s = list_of(id);
    struct page_list *list;
    struct facet_error err = {0};
    uint64_t begin;

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    list = s->list;
    count = count < list->plan.step_count ? count : (uint32_t)list->plan.step_count;
    if (count <= list->reached) {
        if (!page_session_go(s, list->after[count])) {
            (void)facet_fail(&err, FACET_ERR_MEMORY, 0, "there is no memory to go back");
            return page_fail(&err);
        }
        note(s);
        return page_list_state(id);
    }
    begin = facet_machine_steps(s->machine);
    while (list->reached < count && facet_machine_steps(s->machine) - begin < slice) {
        uint64_t left = slice - (facet_machine_steps(s->machine) - begin);

        facet_gdb_history_run(&s->history, left, false, &s->stop);
        note(s);
        if (list->reached < count && s->stop.reason == FACET_STOP_IDLE &&
            idle(s) != FACET_GDB_IDLE_AGAIN) {
            break; /* it waits for something that will not come */
        }
        if (s->stop.reason == FACET_STOP_MEMORY) {
            break;
        }
    }
    return page_list_state(id);
}

/* What the commands that are done now did to a pixel of the frame: the list is played again on a
 * machine of its own, to the same place. The members are those of `facet tile why --json`. */
int PAGE_EXPORT(page_list_pixel)(uint32_t id, uint32_t x, uint32_t y)
{
    struct page_session *s = list_of(id);
    const struct page_list *list;
    facet_machine *machine = NULL;
    struct facet_tile_play play = {0};
    struct facet_tile_list_pixel pixel = {0};
    struct facet_error err = {0};
    size_t count;
    enum facet_status status;

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    list = s->list;
    count = list->play.waiting == 0 ? list->play.next : list->play.first;
    status = facet_tile_create(&list->plan.config, &machine, &err);
    if (status == FACET_OK) {
        status = facet_tile_play_start(&play, &list->plan, machine, &err);
    }
    if (status == FACET_OK) {
        status = facet_tile_list_pixel_start(&pixel, &play, x, y, &err);
    }
    while (status == FACET_OK && play.next < count) {
        const struct facet_tile_list_step *step;
        struct facet_stop stop;

        status = facet_tile_play_give(&play, &err);
        if (status == FACET_OK) {
            facet_machine_run(
                machine, &(struct facet_run){.budget = facet_tile_play_budget(&play)}, &stop);
            step = facet_tile_play_note(&play);
            if (step != NULL) {
                facet_tile_list_pixel_done(&pixel, step);
            }
        }
    }
    if (status == FACET_OK && pixel.history.failed) {
        status = facet_fail(&err, FACET_ERR_MEMORY, 0, "no memory for the pixel");
    }
    if (status == FACET_OK) {
        facet_tile_list_pixel_put(&pixel, page_begin(), true);
        status = page_end();
    } else {
        (void)page_fail(&err);
    }
    facet_tile_list_pixel_free(&pixel);
    facet_tile_play_free(&play);
    facet_machine_destroy(machine);
    return (int)status;
}
