/* See gdb.h. */
#include "session/tile/gdb.h"
#include "command/output.h"
#include "session/steps.h"
#include "session/tile/report.h"

#include "base/error.h"
#include "base/file.h"
#include "object/elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { STATE_LIMIT = 1 << 30 };

/* ---- making it ---- */

static bool start_list(struct session_tile_gdb *s)
{
    s->is_list = true;
    s->held = SIZE_MAX;
    if (!session_tile_play_start(&s->list, s->args, s->args->positional[0])) {
        return false;
    }
    s->machine = s->list.machine;
    s->stops = calloc(s->list.plan.step_count + 1, 1);
    if (s->stops == NULL) {
        (void)cli_bad(s->args, "out of memory");
    }
    return s->stops != NULL;
}

/* GDB knows our names and lines from a file that it takes for RISC-V (arch.c). */
static bool make_elf(struct session_tile_gdb *s, struct facet_object *program)
{
    struct facet_error err = {0};

    if (program == NULL || program->section_count == 0) {
        return true;
    }
    if (facet_elf_write(program, &s->elf, &s->elf_size, &err) != FACET_OK) {
        (void)cli_bad_error(s->args, &err);
        return false;
    }
    facet_elf_as_riscv(s->elf, s->elf_size);
    return true;
}

bool session_tile_gdb_start(struct session_tile_gdb *s, const struct cli_args *args)
{
    const char *path = args->positional_count > 0 ? args->positional[0] : "";
    struct facet_object *program;

    *s = (struct session_tile_gdb){.args = args};
    if (cli_ends_with(path, ".json")) {
        if (!start_list(s)) {
            return false;
        }
        program = s->list.plan.program;
    } else {
        if (!session_tile_start(&s->kernel, args)) {
            return false;
        }
        s->machine = s->kernel.machine;
        program = s->kernel.program;
    }
    if (!session_resume(args, s->machine, STATE_LIMIT)) {
        return false;
    }
    if (s->is_list && cli_given(args, "resume")) {
        facet_tile_play_seek(&s->list.play, SIZE_MAX);
    }
    return session_explain_start(&s->why, args, s->machine, FACET_ISA_TILE, program, false) &&
           make_elf(s, program);
}

void session_tile_gdb_end(struct session_tile_gdb *s)
{
    session_explain_free(&s->why);
    free(s->elf);
    free(s->stops);
    if (s->is_list) {
        session_tile_play_end(&s->list);
    } else {
        session_tile_end(&s->kernel);
    }
}

/* ---- what the stub asks of the host ---- */

static bool host_turn(void *context, uint32_t core)
{
    const struct session_tile_gdb *s = context;

    return facet_tile_set_turn(s->machine, core, NULL) == FACET_OK;
}

static bool host_view(void *context, uint32_t core, uint64_t address, void *out, size_t size)
{
    const struct session_tile_gdb *s = context;

    return facet_tile_core_view(s->machine, core, address, out, size);
}

static enum facet_status host_save(void *context, const char *path, struct facet_error *err)
{
    const struct session_tile_gdb *s = context;

    return session_save(s->machine, path, err);
}

static void host_explain(void *context, const struct facet_stop *stop, struct facet_strbuf *out)
{
    const struct session_tile_gdb *s = context;
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    if (file == NULL) {
        return;
    }
    if (stop->reason == FACET_STOP_IDLE && s->is_list) {
        const struct facet_tile_list_step *next = &s->list.plan.steps[s->list.play.next];

        fprintf(file, "commands[%u] (%s) comes next\n", (unsigned)next->index, next->name);
    } else {
        session_tile_faults_print(s->machine, &s->why, file);
    }
    (void)fclose(file);
    facet_strbuf_add(out, text, size);
    free(text);
}

/* ---- a list ---- */

static bool host_hold(void *context)
{
    struct session_tile_gdb *s = context;
    size_t next = s->list.play.next;
    bool hold = !facet_tile_play_over(&s->list.play) && next != s->held &&
                (s->every || s->stops[next] != 0);

    s->held = hold ? next : SIZE_MAX;
    return hold;
}

static enum facet_gdb_idle host_idle(void *context)
{
    struct session_tile_gdb *s = context;
    uint32_t words[FACET_TILE_ANSWER_WORDS / 64];
    size_t count;

    (void)facet_tile_play_note(&s->list.play);
    do { /* nobody here wants what READ_MEM returned; without room for it the queue would stand */
        (void)facet_tile_take(s->machine, words, sizeof words / sizeof words[0], &count, NULL);
    } while (count != 0);
    if (facet_tile_play_over(&s->list.play)) {
        return facet_tile_play_pending(&s->list.play) == NULL ? FACET_GDB_IDLE_END
                                                              : FACET_GDB_IDLE_NEVER;
    }
    return facet_tile_play_give(&s->list.play, NULL) == FACET_OK ? FACET_GDB_IDLE_AGAIN
                                                                 : FACET_GDB_IDLE_NEVER;
}

static struct facet_gdb_mark host_mark(void *context)
{
    const struct session_tile_gdb *s = context;

    return (struct facet_gdb_mark){.input = s->list.play.next};
}

static void host_rewind(void *context, struct facet_gdb_mark mark)
{
    struct session_tile_gdb *s = context;

    facet_tile_play_seek(&s->list.play, (size_t)mark.input);
    s->held = SIZE_MAX;
}

static void host_renew(void *context)
{
    (void)context; /* what comes next follows from the mark */
}

static void list_commands(const struct session_tile_gdb *s, struct facet_strbuf *out)
{
    for (size_t i = 0; i < s->list.plan.step_count; i++) {
        const struct facet_tile_list_step *step = &s->list.plan.steps[i];

        facet_strbuf_printf(out,
                            "%c%c commands[%u] %s\n",
                            i == s->list.play.next ? '>' : ' ',
                            s->every || s->stops[i] != 0 ? '*' : ' ',
                            (unsigned)step->index,
                            step->name);
    }
}

/* "N", "all" or "none". */
static void break_command(struct session_tile_gdb *s, const char *word, struct facet_strbuf *out)
{
    size_t count = s->list.plan.step_count, found = 0;
    char *end;
    unsigned long index = strtoul(word, &end, 0);

    if (strcmp(word, "all") == 0 || strcmp(word, "none") == 0) {
        s->every = word[0] == 'a';
        memset(s->stops, 0, count);
        facet_strbuf_printf(out, "stops before %s command\n", s->every ? "every" : "no");
        return;
    }
    for (size_t i = 0; *end == '\0' && end != word && i < count; i++) {
        if (s->list.plan.steps[i].index == index) {
            s->stops[i] = 1;
            found++;
            facet_strbuf_printf(
                out, "stops before commands[%lu] (%s)\n", index, s->list.plan.steps[i].name);
        }
    }
    if (found == 0) {
        facet_strbuf_puts(out, "expected: break-command N, all or none; `commands` lists them\n");
    }
}

static bool host_monitor(void *context, const char *command, struct facet_strbuf *out)
{
    static const char word[] = "break-command ";
    struct session_tile_gdb *s = context;

    if (strcmp(command, "commands") == 0) {
        list_commands(s, out);
    } else if (strncmp(command, word, sizeof word - 1) == 0) {
        break_command(s, command + sizeof word - 1, out);
    } else {
        return false;
    }
    return true;
}

void session_tile_gdb_host(struct session_tile_gdb *s, struct facet_gdb_host *host)
{
    host->turn = host_turn;
    host->view = host_view;
    host->save = host_save;
    host->explain = host_explain;
    host->program = s->elf;
    host->program_size = s->elf_size;
    if (s->is_list) {
        host->hold = host_hold;
        host->idle = host_idle;
        host->mark = host_mark;
        host->rewind = host_rewind;
        host->renew = host_renew;
        host->stop_on_trap = true;
        host->monitor = host_monitor;
        host->monitor_help = "commands                 the command list: > comes next, * stops\n"
                             "break-command N|all|none stop before a command of the list\n";
    }
}
