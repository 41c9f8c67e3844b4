/* Command lists of the tile machine on Facet itself: the frame, then what the list lets one see. */
#include "conform/internal.h"

#include "base/file.h"
#include "tile_list/play.h"

#include <facet/tile_layouts.h>

#include <stdio.h>
#include <stdlib.h>

enum { LIST_LIMIT = 64 << 20 };

/* What "status" shows after each step. */
static const uint32_t watched[] = {FACET_TILE_REG_LAST_STATUS,
                                   FACET_TILE_REG_LAST_ERROR,
                                   FACET_TILE_REG_INT_STATUS,
                                   FACET_TILE_REG_FENCE_VALUE,
                                   FACET_TILE_REG_CMDQ_CONS};

static enum facet_status no_memory(struct facet_error *err)
{
    return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a case");
}

static enum facet_status
append_registers(struct conform_words *words, const facet_machine *machine, struct facet_error *err)
{
    bool good = true;

    for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++) {
        uint32_t value = 0;

        (void)facet_tile_host_read(machine, watched[i], &value, NULL);
        good = good && conform_append_words(words, &value, 1);
    }
    return good ? FACET_OK : no_memory(err);
}

/* Every step of the list, each until nothing moves; `seen` takes the registers after it. */
static enum facet_status run_list(const struct facet_tile_list *list,
                                  facet_machine *machine,
                                  struct conform_words *seen,
                                  struct conform_result *result,
                                  struct facet_error *err)
{
    const struct facet_run run = {.budget = CONFORM_MOST_STEPS};
    struct facet_tile_play play;
    enum facet_status status = facet_tile_play_start(&play, list, machine, err);

    while (status == FACET_OK && !facet_tile_play_over(&play)) {
        struct facet_stop stop;

        status = facet_tile_play_give(&play, err);
        if (status != FACET_OK) {
            break;
        }
        facet_machine_run(machine, &run, &stop);
        if (stop.reason == FACET_STOP_BUDGET) {
            conform_say(result,
                        CONFORM_TIMEOUT,
                        "commands[%zu] is still running after %llu steps",
                        play.next - 1,
                        (unsigned long long)CONFORM_MOST_STEPS);
            break;
        }
        status = append_registers(seen, machine, err);
    }
    facet_tile_play_free(&play);
    return status;
}

static enum facet_status
append_answers(struct conform_words *words, facet_machine *machine, struct facet_error *err)
{
    uint32_t *answers = malloc(FACET_TILE_ANSWER_WORDS * sizeof *answers), number;
    enum facet_status status = FACET_OK;
    size_t count = 0;

    if (answers == NULL) {
        return no_memory(err);
    }
    (void)facet_tile_take(machine, answers, FACET_TILE_ANSWER_WORDS, &count, NULL);
    number = (uint32_t)count;
    if (!conform_append_words(words, &number, 1) || !conform_append_words(words, answers, count)) {
        status = no_memory(err);
    }
    free(answers);
    return status;
}

static enum facet_status
append_cores(struct conform_words *words, const facet_machine *machine, struct facet_error *err)
{
    bool good = true;

    for (uint32_t i = 0; i < 4 * FACET_TILE_CORES; i++) {
        uint32_t value = 0;

        (void)facet_tile_host_read(machine,
                                   FACET_TILE_REG_CU_CAUSE + FACET_TILE_CORE_STATE_SIZE * (i / 4) +
                                       4 * (i % 4),
                                   &value,
                                   NULL);
        good = good && conform_append_words(words, &value, 1);
    }
    return good ? FACET_OK : no_memory(err);
}

/* The frame row by row, then what "observe" names. */
static enum facet_status look(const struct facet_tile_list *list,
                              facet_machine *machine,
                              const struct conform_words *registers,
                              struct conform_words *got,
                              struct facet_error *err)
{
    size_t bytes = list->frame.format == FACET_TILE_RGB565 ? 2 : 4;
    enum facet_status status = FACET_OK;

    for (uint32_t y = 0; status == FACET_OK && y < list->frame.height; y++) {
        uint64_t address = list->frame.address + (uint64_t)y * list->frame.stride;

        status = conform_append_memory(got, machine, address, bytes * list->frame.width, err);
    }
    for (size_t i = 0; status == FACET_OK && i < list->seen_count; i++) {
        const struct facet_tile_list_seen *seen = &list->seen[i];

        switch (seen->kind) {
        case FACET_TILE_LIST_STATUS:
            status = conform_append_words(got, registers->word, registers->count) ? FACET_OK
                                                                                  : no_memory(err);
            break;
        case FACET_TILE_LIST_ANSWERS:
            status = append_answers(got, machine, err);
            break;
        case FACET_TILE_LIST_CORES:
            status = append_cores(got, machine, err);
            break;
        case FACET_TILE_LIST_BYTES:
            status = conform_append_memory(got, machine, seen->address, seen->size, err);
            break;
        }
    }
    return status;
}

enum facet_status conform_list(const struct conform_case *c,
                               bool plain,
                               struct conform_words *got,
                               struct conform_result *result,
                               struct facet_error *err)
{
    char path[4096];
    struct facet_bytes text = {0};
    struct facet_tile_list list = {0};
    struct conform_words registers = {0};
    facet_machine *machine = NULL;
    enum facet_status status;

    if ((size_t)snprintf(path, sizeof path, "%s/list.json", c->path) >= sizeof path) {
        return facet_fail(err, FACET_ERR_USAGE, 0, "%.100s...: the path is too long", c->path);
    }
    status = facet_file_read(path, LIST_LIMIT, &text, err);
    if (status == FACET_OK) {
        status = facet_tile_list_read(path, c->path, text.data, text.size, &list, err);
    }
    list.config.plain = plain;
    status = status == FACET_OK ? facet_tile_create(&list.config, &machine, err) : status;
    status = status == FACET_OK ? run_list(&list, machine, &registers, result, err) : status;
    status = status == FACET_OK ? look(&list, machine, &registers, got, err) : status;
    free(registers.word);
    facet_machine_destroy(machine);
    facet_tile_list_free(&list);
    free(text.data);
    return status;
}
