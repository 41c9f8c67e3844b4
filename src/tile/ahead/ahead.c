/* Running ahead: whole rounds in which each core goes on its own, instead of one instruction (or Q)
 * of each in turn.
 *
 * An instruction is private when it reads nothing that another core writes, writes nothing that
 * another core reads, and ends nothing: under the weak memory model (tile-semantics.md 8.2) all but
 * barriers, atomics, graphics, ends of tiles, faults, writes to the sampler table, and reads of the
 * counters that tell the time. Loads and stores stay inside the core's own caches and scratch
 * memory; a load that misses, the texture unit, VLD.C and the fetch of instructions read the
 * published memory, which only the instructions above write. So in rounds that consist of private
 * instructions no order between the cores can be seen, and each core may execute its part in one
 * go.
 *
 * Where those rounds end is known only afterwards. Every core is marked first (registers; what its
 * caches and scratch memory held is logged line by line) and runs until the first instruction that
 * is not private, or to the limit. The earliest of these ends is the end for all: a core that went
 * further goes back to its mark and repeats as much as there was time for, with the same result, as
 * nothing it read has changed. The instruction itself is then executed in turn (schedule.c). */
#include "base/require.h"
#include "base/ways.h"
#include "tile/tally/tally.h"

#include <string.h>

enum { STEPS_FIRST = 64, STEPS_MOST = FACET_TILE_TALLY_STEPS };

static void set_mark(struct facet_tile_core *c)
{
    struct facet_tile_mark *mark = &c->mark;

    mark->r = c->r;
    mark->env = c->env;
    mark->pc = facet_tile_pc(c, c->ip);
    memcpy(mark->perf, c->perf, sizeof mark->perf);
    mark->fault_cause = c->fault_cause;
    mark->fault_pc = c->fault_pc;
    mark->fault_addr = c->fault_addr;
    mark->instret = c->instret;
    mark->texels = c->cache.texel_count;
    facet_tile_cache_log(&c->cache);
    if (c->said != NULL) {
        facet_tile_tally_mark(c);
    }
}

static void go_back(struct facet_tile_core *c)
{
    const struct facet_tile_mark *mark = &c->mark;

    c->r = mark->r;
    c->env = mark->env;
    memcpy(c->perf, mark->perf, sizeof mark->perf);
    c->fault_cause = mark->fault_cause;
    c->fault_pc = mark->fault_pc;
    c->fault_addr = mark->fault_addr;
    c->instret = mark->instret;
    facet_tile_set_pc(
        c, mark->pc); /* its page may be decoded anew: the published bytes are as before */
    facet_tile_cache_undo(&c->cache, mark->texels);
    if (c->said != NULL) {
        facet_tile_tally_undo(c);
    }
}

/* An instruction that other instructions lead to again and again gets host code. */
static void warm(struct facet_tile_core *c, const struct facet_tile_insn *op)
{
    if (op->code == NULL && op->ahead && c->m->config.host_code != FACET_TILE_NO_HOST_CODE) {
        struct facet_tile_insn *own = &c->page->ops[op - c->page->ops];

        if (++own->heat >= c->m->config.host_code) {
            own->heat = 0;
            facet_tile_emit(c, op);
        }
    }
}

/* Up to `limit` private instructions; gives those done. *beyond: the core has executed one more,
 * which was not private. */
static uint64_t run_alone(struct facet_tile_core *c, uint64_t limit, bool *beyond)
{
    struct facet_tile_machine *m = c->m;
    const struct facet_tile_insn *op = c->ip;
    uint64_t left = limit;

    while (left > 0) {
        const struct facet_tile_insn *next;
        uint32_t pc;

        if (__builtin_expect(!op->ahead, 0)) {
            op = facet_tile_look(c, op);
            if (!op->ahead) {
                break;
            }
        }
        if (op->code != NULL) {
            const struct facet_tile_left after = facet_tile_enter(c, op, left);
            const bool moved = after.left != left;

            op = after.op;
            left = after.left;
            if (m->event != FACET_TILE_EVENT_NONE) {
                break;
            }
            if (moved) {
                warm(c, op);
                continue;
            }
        }
        pc = facet_tile_pc(c, op);
        next = op->fn(c, op);
        if (__builtin_expect(m->event != FACET_TILE_EVENT_NONE, 0)) {
            break;
        }
        left--;
        if (__builtin_expect(c->said != NULL, 0)) {
            facet_tile_tally_note(c, pc);
        }
        if (next != op + 1) {
            warm(c, next);
        }
        op = next;
    }
    *beyond = m->event != FACET_TILE_EVENT_NONE;
    m->event = FACET_TILE_EVENT_NONE;
    c->ip = op;
    return limit - left;
}

/* The core has done `done` instructions since its mark, or more: to be exactly as many. */
static void finish(struct facet_tile_core *c, uint64_t done, uint64_t wanted, bool beyond)
{
    if (done != wanted || beyond) {
        uint64_t again;

        go_back(c);
        again = run_alone(c, wanted, &beyond);
        FACET_REQUIRE(again == wanted && !beyond);
        (void)again;
    }
    facet_tile_cache_keep(&c->cache);
    if (c->said != NULL) {
        facet_tile_tally_keep(c);
    }
    c->instret += wanted;
}

/* Shorter tries where the last one was for nothing, longer ones where it was not long enough. */
static uint32_t next_steps(uint64_t tried, uint64_t done)
{
    uint64_t steps = done < tried ? 2 * done : 2 * tried;

    return steps < STEPS_FIRST ? STEPS_FIRST : steps > STEPS_MOST ? STEPS_MOST : (uint32_t)steps;
}

uint64_t facet_tile_run_ahead(struct facet_tile_machine *m,
                              struct facet_tile_core *const list[],
                              uint32_t count,
                              uint64_t rounds)
{
    const uint64_t quantum = m->config.quantum;
    const uint8_t event_core = m->event_core;
    uint64_t done[FACET_TILE_CORES] = {0}, tried, end;
    bool beyond[FACET_TILE_CORES] = {false};

    FACET_FAST_WAY(TILE_AHEAD);
    m->ahead_steps = m->ahead_steps != 0 ? m->ahead_steps : STEPS_FIRST;
    tried = m->ahead_steps > quantum ? m->ahead_steps / quantum : 1;
    tried = tried < rounds ? tried : rounds;
    end = tried;
    for (uint32_t i = 0; i < count; i++) {
        set_mark(list[i]);
        done[i] = run_alone(list[i], end * quantum, &beyond[i]);
        end = done[i] / quantum < end ? done[i] / quantum : end;
    }
    for (uint32_t i = 0; i < count; i++) {
        finish(list[i], done[i], end * quantum, beyond[i]);
    }
    m->event_core = event_core;
    m->ahead_steps = next_steps(tried * quantum, end * quantum);
    m->time += end;
    return end;
}
