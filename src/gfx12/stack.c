/* ds_bvh_stack_push8_pop1_rtn_b32 and ds_bvh_stack_push8_pop2_rtn_b64: sections 11.3 and 11.5 of
 * gfx12-semantics.md. A ring buffer in LDS whose state is packed into the address operand; entries
 * that fall out of the ring are found again by walking back through parents. */
#include "gfx12/stack.h"

#include "base/bits.h"

/* The address operand, unpacked. */
struct state {
    bool blas_to_tlas;
    bool overflow;
    bool tlas_in_stack;
    uint32_t base; /* dword index */
    uint32_t idx, to_tlas, valid;
    struct facet_gfx12_touches *touches; /* may be NULL */
};

static struct state unpack(uint32_t a, struct facet_gfx12_touches *touches)
{
    return (struct state){
        .touches = touches,
        .blas_to_tlas = (a >> 31 & 1) != 0,
        .overflow = (a >> 30 & 1) != 0,
        .tlas_in_stack = (a >> 29 & 1) != 0,
        .base = a >> 15 & 0x3FFF,
        .idx = a >> 10 & 31,
        .to_tlas = a >> 5 & 31,
        .valid = a & 31,
    };
}

static uint32_t pack(const struct state *s)
{
    return (uint32_t)s->blas_to_tlas << 31 | (uint32_t)s->overflow << 30 |
           (uint32_t)s->tlas_in_stack << 29 | (s->base & 0x3FFF) << 15 | (s->idx & 31) << 10 |
           (s->to_tlas & 31) << 5 | (s->valid & 31);
}

uint32_t facet_gfx12_stack_init(uint32_t base_dword)
{
    return (base_dword & 0x3FFF) << 15;
}

static bool sentinel(uint32_t x)
{
    return x >> 3 == 0x1FFFFFFF;
}

/* NULL where the entry lies beyond LDS. */
static uint32_t *entry(const struct facet_gfx12_lds *lds, const struct state *s)
{
    uint32_t at = s->base + 32 * (s->idx & 31);
    return at < lds->count ? &lds->dwords[at] : NULL;
}

static void touch(const struct facet_gfx12_lds *lds,
                  const struct state *s,
                  const uint32_t *at,
                  bool write,
                  uint32_t written)
{
    if (s->touches != NULL) {
        s->touches->at[s->touches->count++] =
            (struct facet_gfx12_touch){(uint32_t)(at - lds->dwords), write, *at, written};
    }
}

static uint32_t read_entry(const struct facet_gfx12_lds *lds, const struct state *s)
{
    const uint32_t *at = entry(lds, s);
    if (at == NULL) {
        return 0;
    }
    touch(lds, s, at, false, 0);
    return *at;
}

static void step_down(struct state *s, uint32_t size)
{
    s->to_tlas = s->to_tlas > 0 ? s->to_tlas - 1 : 0;
    s->valid -= 1;
    s->idx = s->idx == 0 ? size - 1 : s->idx - 1;
}

static void push(const struct facet_gfx12_lds *lds, struct state *s, uint32_t x)
{
    uint32_t size = lds->stack_size & 31;
    uint32_t *at = entry(lds, s);
    if (s->valid == size) {
        s->overflow = true;
    }
    if (at != NULL) {
        touch(lds, s, at, true, x);
        *at = x;
    }
    s->idx = s->idx + 1 == size ? 0 : (s->idx + 1) & 31;
    if (s->to_tlas == size) {
        s->tlas_in_stack = false; /* the oldest entry, the one of the TLAS, was overwritten */
    }
    s->to_tlas = s->to_tlas + 1 < size ? s->to_tlas + 1 : size;
    s->valid = s->valid + 1 < size ? s->valid + 1 : size;
}

static uint32_t pop(const struct facet_gfx12_lds *lds, struct state *s)
{
    uint32_t r;

    s->blas_to_tlas = s->to_tlas == 0 && s->tlas_in_stack;
    if (s->blas_to_tlas) {
        s->tlas_in_stack = false;
    }
    if (s->valid == 0) {
        s->blas_to_tlas = s->tlas_in_stack = false;
        return s->overflow ? FACET_GFX12_INVALID : FACET_GFX12_TERMINAL;
    }
    step_down(s, lds->stack_size & 31);
    r = read_entry(lds, s);
    if ((r & 7) == FACET_GFX12_TYPE_INSTANCE) {
        if (s->tlas_in_stack) {
            s->valid = s->to_tlas;
            s->overflow = true;
        }
        s->tlas_in_stack = true;
        s->to_tlas = 0;
    }
    return r;
}

/* The pushes of 11.3; `ranges` enables its starred lines. */
static void push8(const struct facet_gfx12_lds *lds,
                  struct state *s,
                  uint32_t last,
                  const uint32_t n[8],
                  bool ranges)
{
    bool walk = !sentinel(last); /* last is the node that an overflowed stack returns from */
    bool update = ranges && !walk && (last & 4) == 0;
    bool match[8];
    bool any = false;
    bool ok;
    bool skip_low = false;  /* entries 0..3 */
    bool skip_high = false; /* entries 4..7 */

    for (unsigned i = 0; i < 8; i++) {
        match[i] = n[i] == last || (ranges && (n[i] & 7) <= 3);
        any = any || match[i];
    }
    ok = !walk || any;
    if (ranges) {
        ok = (ok || (last & 7) <= 3) && !(update && (last & 2) != 0);
    }
    for (unsigned i = 8; i-- > 0;) {
        if (i >= 4) {
            if (!skip_high && ok && sentinel(n[i])) {
                skip_low = skip_low || (n[i] & 2) == 0;
                skip_high = (n[i] & 4) == 0;
            }
            if (i == 6 && update) {
                skip_low = skip_high = true;
            }
        } else if (!skip_low && ok && sentinel(n[i]) && (n[i] & 2) == 0) {
            skip_low = true;
        }
        if (walk && match[i]) {
            ok = false;
        }
        if (ok && !sentinel(n[i]) && !(i >= 4 ? skip_high : skip_low)) {
            uint32_t x = n[i];
            if (i == 7 && update) {
                x = (last & 1) != 0 ? (x & ~UINT32_C(0xF)) + 0x10 : facet_gfx12_id_next_pair(x);
            }
            push(lds, s, x);
        }
    }
}

/* The second pop of 11.5: the two next nodes, given the first popped one. */
static void
pop_second(const struct facet_gfx12_lds *lds, struct state *s, uint32_t second, uint32_t result[2])
{
    uint32_t first = FACET_GFX12_INVALID;
    if ((second & 7) == 1) {
        first = second & ~UINT32_C(7); /* triangle 1 expands to the pair */
    } else {
        if (!(s->to_tlas == 0 && s->tlas_in_stack) && s->valid > 0) {
            struct state below = *s;
            uint32_t top;

            step_down(&below, lds->stack_size & 31);
            top = read_entry(lds, &below);
            if ((top & 7) != FACET_GFX12_TYPE_INSTANCE) {
                first = top;
                *s = below;
            }
        }
        if (first == FACET_GFX12_INVALID) {
            first = second;
            second = FACET_GFX12_INVALID;
        }
    }
    result[0] = first;
    result[1] = second;
}

void facet_gfx12_stack_push8(const struct facet_gfx12_lds *lds,
                             bool pop2,
                             uint32_t *address,
                             uint32_t last,
                             const uint32_t data[8],
                             uint32_t result[2],
                             struct facet_gfx12_touches *touches)
{
    struct state s = unpack(*address, touches);
    push8(lds, &s, last, data, lds->primitive_range && !pop2);
    result[0] = pop(lds, &s);
    if (pop2) {
        pop_second(lds, &s, result[0], result);
    }
    *address = pack(&s);
}

uint32_t facet_gfx12_stack_push8_pop1(const struct facet_gfx12_lds *lds,
                                      uint32_t *address,
                                      uint32_t last,
                                      const uint32_t data[8])
{
    uint32_t result[2];
    facet_gfx12_stack_push8(lds, false, address, last, data, result, NULL);
    return result[0];
}

void facet_gfx12_stack_push8_pop2(const struct facet_gfx12_lds *lds,
                                  uint32_t *address,
                                  uint32_t last,
                                  const uint32_t data[8],
                                  uint32_t result[2])
{
    facet_gfx12_stack_push8(lds, true, address, last, data, result, NULL);
}
