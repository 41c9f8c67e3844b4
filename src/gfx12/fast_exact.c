/* The parts of the traversal over decoded nodes that need not be fast: the order of the sorting
 * network where it shows, primitives that call back, culling, the constants of a level. All of it
 * is the code of the reference loop, fed from decoded nodes. */
#include "gfx12/fast.h"

#include "gfx12/sort.h"

#include "num/f32.h"

/* Two children of four first meet at the end of stage 2 unless they are the middle ones: these have
 * crossed by then, since stage 1 moves the higher one to wire 0. */
const uint8_t facet_gfx12_fast_higher_first[256] = {[0x06] = 1, [0x60] = 1};

unsigned facet_gfx12_fast_order(const struct facet_gfx12_unit *unit,
                                const struct fast_children *children,
                                uint8_t order[8])
{
    struct facet_gfx12_slot slot[8];
    unsigned count = 0;

    for (unsigned i = 0; i < 8; i++) {
        bool hit = (children->hit >> i & 1) != 0;
        uint32_t id = hit ? children->box->id[i] : FACET_GFX12_INVALID;
        const struct facet_gfx12_slab none = {0};

        slot[i] = facet_gfx12_slot_make(unit, id, &none);
        slot[i].key = hit ? children->key[i] : 0;
    }
    /* The network moves whole slots; remember where each came from in place of its ID. */
    for (unsigned i = 0; i < 8; i++) {
        slot[i].id = (children->hit >> i & 1) != 0 ? i : FACET_GFX12_INVALID;
    }
    facet_gfx12_sort(unit, slot, true);
    while (count < 8 && slot[count].id != FACET_GFX12_INVALID) {
        order[count] = (uint8_t)slot[count].id;
        count++;
    }
    return count;
}

/* Result registers of a pair; decoded again from the image, as the instruction would. */
static void intersect(const struct facet_gfx12_tracer *tracer,
                      const struct fast_level *level,
                      struct facet_gfx12_trace_state *state,
                      uint32_t id,
                      uint32_t v[10])
{
    state->ray.extent = state->t_cur;
    facet_gfx12_intersect8(&tracer->unit, level->base, id, &state->ray, v);
}

/* A range that was left in the image: as the reference loop goes through it. */
static enum fast_outcome plain_range(const struct facet_gfx12_tracer *tracer,
                                     const struct fast_level *level,
                                     const struct fast_box *box,
                                     unsigned slot,
                                     struct facet_gfx12_trace_state *state)
{
    uint32_t id = box->id[slot];

    for (unsigned left = box->pairs[slot];; left--) {
        uint32_t v[10];

        if (state->steps_left == 0) {
            return FAST_OUT_OF_STEPS;
        }
        state->steps_left--;
        if (left == 0) { /* one more step, for what cannot be fetched */
            return FAST_GO_ON;
        }
        state->stats->primitives++;
        intersect(tracer, level, state, id, v);
        facet_gfx12_trace_pair(state, id, v);
        if (state->stop) {
            return FAST_STOP;
        }
        if ((v[8] & 3) == 3) {
            return FAST_GO_ON;
        }
        id = (v[8] & 3) == 0 ? facet_gfx12_id_next_pair(id) : (id & ~UINT32_C(0xF)) + 0x10;
        if (id == FACET_GFX12_INVALID) {
            return FAST_GO_ON;
        }
    }
}

static enum fast_outcome one_range(const struct facet_gfx12_tracer *tracer,
                                   const struct fast_level *level,
                                   const struct fast_box *box,
                                   uint32_t pair,
                                   struct facet_gfx12_trace_state *state)
{
    for (;; pair++) {
        const struct fast_group *group = fast_group(tracer, box, pair);
        const unsigned p = pair % FAST_GROUP_PAIRS;
        uint32_t v[10];

        if (state->steps_left == 0) {
            return FAST_OUT_OF_STEPS;
        }
        state->steps_left--;
        state->stats->primitives++;
        intersect(tracer, level, state, group->id[p], v);
        facet_gfx12_trace_pair(state, group->id[p], v);
        if (state->stop) {
            return FAST_STOP;
        }
        if ((group->last >> p & 1) == 0) {
            continue;
        }
        if ((group->tail >> p & 1) != 0) {
            if (state->steps_left == 0) {
                return FAST_OUT_OF_STEPS;
            }
            state->steps_left--;
        }
        return FAST_GO_ON;
    }
}

enum fast_outcome facet_gfx12_fast_ranges(const struct facet_gfx12_tracer *tracer,
                                          const struct fast_level *level,
                                          const struct fast_children *children,
                                          struct facet_gfx12_trace_state *state)
{
    uint8_t order[8];
    unsigned count = facet_gfx12_fast_order(&tracer->unit, children, order);
    enum fast_outcome outcome = FAST_GO_ON;

    memcpy(state->ray.origin, level->origin, sizeof state->ray.origin);
    memcpy(state->ray.direction, level->direction, sizeof state->ray.direction);
    state->base = level->base;
    state->instance = level->instance;
    state->user_data = level->user_data;
    for (unsigned i = 0; i < count && outcome == FAST_GO_ON; i++) {
        unsigned slot = order[i];

        if ((children->box->ranges >> slot & 1) != 0) {
            outcome =
                children->box->groups != 0
                    ? one_range(tracer, level, children->box, children->box->link[slot], state)
                    : plain_range(tracer, level, children->box, slot, state);
        }
    }
    return outcome;
}

unsigned facet_gfx12_fast_cull(const struct fast_box *box,
                               const struct fast_level *level,
                               uint32_t instance_mask,
                               unsigned hit)
{
    for (unsigned i = 0; i < 8; i++) {
        if ((box->cull_mask[i] & instance_mask) == 0 ||
            (level->culled >> box->cull_flags[i] & 1) != 0) {
            hit &= ~(1u << i);
        }
    }
    return hit;
}
