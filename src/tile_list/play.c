/* See play.h. */
#include "tile_list/play.h"

#include <stdint.h>
#include <stdlib.h>

enum facet_status facet_tile_play_start(struct facet_tile_play *play,
                                        const struct facet_tile_list *plan,
                                        facet_machine *machine,
                                        struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    *play = (struct facet_tile_play){.plan = plan, .machine = machine};
    play->statuses = calloc(plan->step_count + 1, sizeof *play->statuses);
    if (play->statuses == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a command list");
    }
    for (size_t i = 0; status == FACET_OK && i < plan->piece_count; i++) {
        const struct facet_tile_list_piece *piece = &plan->pieces[i];

        status = facet_machine_write(machine, 0, piece->address, piece->bytes, piece->size, err);
    }
    if (status == FACET_OK) {
        status = facet_tile_ring(machine, plan->ring, FACET_TILE_LIST_RING_BYTES, err);
    }
    return status == FACET_OK
               ? facet_tile_host_write(machine, FACET_TILE_REG_COMPLETION_BASE, plan->slots, err)
               : status;
}

void facet_tile_play_free(struct facet_tile_play *play)
{
    free(play->statuses);
    *play = (struct facet_tile_play){0};
}

bool facet_tile_play_over(const struct facet_tile_play *play)
{
    return play->next == play->plan->step_count;
}

enum facet_status facet_tile_play_give(struct facet_tile_play *play, struct facet_error *err)
{
    const struct facet_tile_list_step *step = &play->plan->steps[play->next];
    struct facet_error inner = {0};
    enum facet_status status = FACET_OK;

    switch (step->kind) {
    case FACET_TILE_LIST_COMMAND:
        status = facet_tile_push(play->machine, &step->command, &inner);
        play->waiting += status == FACET_OK;
        break;
    case FACET_TILE_LIST_SIGNAL:
        status = facet_tile_slot_write(play->machine, step->slot, step->value, &inner);
        break;
    case FACET_TILE_LIST_DOORBELL:
        (void)facet_tile_doorbell(play->machine, step->value, NULL);
        break;
    case FACET_TILE_LIST_REGISTER:
        (void)facet_tile_host_write(play->machine, step->slot, step->value, NULL);
        break;
    }
    if (status != FACET_OK) {
        return facet_fail(err,
                          inner.status,
                          step->index,
                          "commands[%u] (%s): %s",
                          (unsigned)step->index,
                          step->name,
                          inner.message);
    }
    play->next++;
    return facet_tile_host_write(play->machine, FACET_TILE_REG_CMDQ_DOORBELL, 1, err);
}

const struct facet_tile_list_step *facet_tile_play_pending(const struct facet_tile_play *play)
{
    for (size_t i = play->first; play->waiting != 0 && i < play->next; i++) {
        if (play->plan->steps[i].kind == FACET_TILE_LIST_COMMAND) {
            return &play->plan->steps[i];
        }
    }
    return NULL;
}

const struct facet_tile_list_step *facet_tile_play_note(struct facet_tile_play *play)
{
    const struct facet_tile_list_step *step = NULL;
    struct facet_tile_info info;
    uint32_t status = FACET_TILE_STATUS_OK;

    (void)facet_tile_get_info(play->machine, &info, NULL);
    (void)facet_tile_host_read(play->machine, FACET_TILE_REG_LAST_STATUS, &status, NULL);
    while (play->seen < info.commands && (step = facet_tile_play_pending(play)) != NULL) {
        size_t index = (size_t)(step - play->plan->steps);

        play->statuses[index] = status;
        play->bad += status != FACET_TILE_STATUS_OK;
        for (uint32_t core = 0;
             step->command.opcode == FACET_TILE_CMD_DISPATCH && core < FACET_TILE_CORES;
             core++) {
            play->instructions += facet_machine_retired(play->machine, core);
        }
        play->first = index + 1;
        play->waiting--;
        play->seen++;
    }
    return step;
}

void facet_tile_play_seek(struct facet_tile_play *play, size_t next)
{
    const struct facet_tile_list *plan = play->plan;
    struct facet_tile_info info;
    uint32_t prod = 0, cons = 0;
    uint64_t given = 0;
    size_t last = 0;

    (void)facet_tile_get_info(play->machine, &info, NULL);
    (void)facet_tile_host_read(play->machine, FACET_TILE_REG_CMDQ_PROD, &prod, NULL);
    (void)facet_tile_host_read(play->machine, FACET_TILE_REG_CMDQ_CONS, &cons, NULL);
    play->seen = info.commands;
    play->first = 0;
    for (size_t i = 0; i < plan->step_count && i < next; i++) {
        if (plan->steps[i].kind == FACET_TILE_LIST_COMMAND) {
            if (next == SIZE_MAX && given == info.commands + (prod != cons)) {
                break;
            }
            given++;
            last = i + 1;
            play->first = given == info.commands ? i + 1 : play->first;
        }
    }
    play->next = next != SIZE_MAX ? next : last;
    play->waiting = given > info.commands ? (size_t)(given - info.commands) : 0;
}

uint64_t facet_tile_play_budget(const struct facet_tile_play *play)
{
    return play->waiting > 1 ? 1 : UINT64_MAX;
}

enum facet_status facet_tile_list_run(const struct facet_tile_list *plan,
                                      facet_machine *machine,
                                      struct facet_error *err)
{
    const struct facet_run run = {.budget = UINT64_MAX};
    struct facet_tile_play play;
    enum facet_status status = facet_tile_play_start(&play, plan, machine, err);

    while (status == FACET_OK && !facet_tile_play_over(&play)) {
        struct facet_stop stop;

        status = facet_tile_play_give(&play, err);
        if (status == FACET_OK) {
            facet_machine_run(machine, &run, &stop);
        }
    }
    facet_tile_play_free(&play);
    return status;
}
