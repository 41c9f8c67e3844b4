/* The traversal loop on the LDS stack instruction, which walks back through parent IDs after an
 * overflow: section 11.4 of gfx12-semantics.md. */
#include "gfx12/loop.h"

#include "base/bits.h"
#include "gfx12/image/node.h"

enum { LDS_DWORDS = 32 * 31 };

struct facet_gfx12_loop facet_gfx12_loop_start(uint32_t root, uint32_t lds_base)
{
    return (struct facet_gfx12_loop){
        .node = root,
        .last = FACET_GFX12_INVALID,
        .stack = facet_gfx12_stack_init(lds_base),
        .inst = FACET_GFX12_INVALID,
        .inst_root = FACET_GFX12_INVALID,
        .parent = FACET_GFX12_INVALID,
    };
}

float facet_gfx12_loop_extent(const struct facet_gfx12_trace_state *t,
                              const struct facet_gfx12_loop *loop)
{
    return loop->last == FACET_GFX12_INVALID ? t->t_cur : t->query->t_max;
}

/* What a ray that hit an instance continues with. A shader knows by whose rules the image was made;
 * here the node says it (12.8). Looking is not a read of the ray unit. */
static uint32_t instance_root(const struct facet_gfx12_trace_state *t, uint32_t node, uint32_t v7)
{
    struct facet_gfx12_unit unit = *t->unit;
    struct facet_gfx12_instance instance;
    const uint8_t *bytes;
    uint32_t root;

    unit.fetched = NULL;
    bytes =
        facet_gfx12_unit_fetch(&unit, t->base, facet_gfx12_id_offset(node), FACET_GFX12_NODE_BYTES);
    if (bytes != NULL && v7 != FACET_GFX12_INVALID) {
        facet_gfx12_instance_decode(bytes, &instance);
        if (facet_gfx12_instance_numbered(&instance, t->query->root, &root)) {
            return root;
        }
    }
    return (v7 & 0xFF) == 0xFF ? FACET_GFX12_INVALID : v7 & 0xFF;
}

void facet_gfx12_loop_before_stack(struct facet_gfx12_trace_state *t,
                                   struct facet_gfx12_loop *loop,
                                   enum facet_gfx12_kind kind,
                                   uint32_t v[10])
{
    switch (kind) {
    case FACET_GFX12_KIND_BOX:
        loop->parent = loop->node;
        break;
    case FACET_GFX12_KIND_INSTANCE:
        loop->inst = loop->node;
        v[7] = loop->inst_root = instance_root(t, loop->node, v[7]);
        facet_gfx12_trace_enter_instance(t, loop->node, v);
        v[6] = FACET_GFX12_SKIP_0_7;
        break;
    case FACET_GFX12_KIND_PRIMITIVE:
        facet_gfx12_trace_pair(t, loop->node, v);
        v[7] = loop->node;
        loop->last = FACET_GFX12_RANGE | (v[8] & 3);
        break;
    default:
        break;
    }
}

/* Whether both are primitives: then a BLAS that is nothing else is left. */
static bool is_range(uint32_t node, uint32_t root)
{
    return facet_gfx12_id_kind(node) == FACET_GFX12_KIND_PRIMITIVE &&
           facet_gfx12_id_kind(root) == FACET_GFX12_KIND_PRIMITIVE;
}

/* The parent that a box or instance node names in its unused dword. */
static uint32_t stored_parent(const struct facet_gfx12_trace_state *t, uint32_t node)
{
    enum facet_gfx12_kind kind = facet_gfx12_id_kind(node);
    uint64_t offset = facet_gfx12_id_offset(node);
    const uint8_t *bytes = NULL;
    if (kind != FACET_GFX12_KIND_NONE) {
        offset += kind == FACET_GFX12_KIND_INSTANCE ? 56 : 8;
        bytes = facet_gfx12_unit_fetch(t->unit, t->base, offset, 4);
    }
    return bytes != NULL ? facet_load_le32(bytes) : FACET_GFX12_INVALID;
}

void facet_gfx12_loop_after_stack(struct facet_gfx12_trace_state *t,
                                  struct facet_gfx12_loop *loop,
                                  uint32_t next)
{
    uint32_t previous = loop->node;
    loop->node = next;
    loop->last = FACET_GFX12_INVALID;
    if (next == FACET_GFX12_INVALID) { /* overflow: walk back through parents */
        t->stats->walk_backs++;
        if (t->base != t->tlas_base &&
            (previous == loop->inst_root || is_range(previous, loop->inst_root))) {
            previous = loop->inst;
        }
        if (previous == loop->inst) {
            t->base = t->tlas_base;
            loop->stack |= UINT32_C(1) << 31;
        }
        loop->last = previous;
        loop->node = facet_gfx12_id_kind(previous) == FACET_GFX12_KIND_PRIMITIVE
                         ? loop->parent
                         : stored_parent(t, previous);
        /* The root of the ray has no parent, and the walk ends there. */
        t->stats->lost_walks += facet_gfx12_id_kind(loop->node) != FACET_GFX12_KIND_BOX &&
                                !(previous == t->query->root && t->base == t->tlas_base);
    }
    if (loop->stack >> 31 != 0) {
        facet_gfx12_trace_enter_tlas(t);
    }
}

bool facet_gfx12_loop_goes_on(const struct facet_gfx12_trace_state *t,
                              const struct facet_gfx12_loop *loop)
{
    return loop->node < FACET_GFX12_FIRST_SENTINEL && !t->stop;
}

enum facet_status facet_gfx12_trace_lds(const struct facet_gfx12_unit *unit,
                                        const struct facet_gfx12_query *query,
                                        unsigned stack_size,
                                        struct facet_gfx12_hit *hit,
                                        struct facet_gfx12_stats *stats,
                                        struct facet_error *err)
{
    struct facet_gfx12_stats unused;
    struct facet_gfx12_trace_state t;
    uint32_t dwords[LDS_DWORDS] = {0};
    struct facet_gfx12_lds lds;
    struct facet_gfx12_loop loop;

    facet_gfx12_trace_init(&t, unit, query, hit, stats != NULL ? stats : &unused);
    if (stack_size < 8 || stack_size > 31) {
        return facet_fail(
            err, FACET_ERR_USAGE, stack_size, "stack size %u: expected 8 to 31", stack_size);
    }
    lds = (struct facet_gfx12_lds){
        .dwords = dwords,
        .count = LDS_DWORDS,
        .stack_size = (uint8_t)stack_size,
        .primitive_range = true,
    };
    loop = facet_gfx12_loop_start(query->root, 0);
    while (facet_gfx12_loop_goes_on(&t, &loop)) {
        struct facet_gfx12_steps steps;
        float extent;
        enum facet_gfx12_kind kind;

        if (t.steps_left == 0) {
            return facet_gfx12_trace_out_of_steps(&t, err);
        }
        extent = facet_gfx12_loop_extent(&t, &loop);
        kind = facet_gfx12_trace_visit(&t, loop.node, extent, &steps);
        facet_gfx12_loop_before_stack(&t, &loop, kind, steps.v);
        facet_gfx12_loop_after_stack(
            &t, &loop, facet_gfx12_stack_push8_pop1(&lds, &loop.stack, loop.last, steps.v));
    }
    return FACET_OK;
}
