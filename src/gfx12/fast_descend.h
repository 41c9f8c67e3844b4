/* Part of fast_loop.h: from box to box, the short way. One ray, its numbers in registers, no call
 * and no branch that nobody could foresee; whatever is unusual ends the descent and is handled by
 * the general code. */

/* What a descent ends with, beside a set of hit children. */
enum {
    DESCENT_LINK = 0,     /* r->link is to be looked at */
    DESCENT_BOX = 0x100u, /* r->link is a box that visit_box must handle */
};

static inline uint64_t entry_of(const uint32_t key[8], const struct fast_box *box, uint64_t slots)
{
    const uint64_t slot = (uint64_t)__builtin_ctzll(slots);

    return (uint64_t)key[slot] << 32 | box->link[slot];
}

/* The larger first. */
static inline void order(uint64_t *a, uint64_t *b)
{
    const uint64_t low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;

    *a = high;
    *b = low;
}

static inline bool same_key(uint64_t a, uint64_t b)
{
    return (a ^ b) >> 32 == 0;
}

/* Puts three or four children on the stack, the nearest one on top, without a branch that depends
 * on their order; `top` itself when there are more, or when two have the same key. */
TARGET static inline __attribute__((always_inline)) uint64_t *
push_few(uint64_t *top, const struct fast_box *box, uint64_t hit, const uint32_t key[8])
{
    const uint64_t second = hit & (hit - 1), third = second & (second - 1);
    const uint64_t fourth = third & (third - 1);
    uint64_t a = entry_of(key, box, hit), b = entry_of(key, box, second);
    uint64_t c = entry_of(key, box, third), d;

    order(&a, &b);
    if (fourth == 0) {
        order(&b, &c);
        order(&a, &b);
        if (RARELY(same_key(a, b) || same_key(b, c))) {
            return top;
        }
        top[0] = a;
        top[1] = b;
        top[2] = c;
        return top + 3;
    }
    if ((fourth & (fourth - 1)) != 0) {
        return top;
    }
    d = entry_of(key, box, fourth);
    order(&c, &d);
    order(&a, &c);
    order(&b, &d);
    order(&b, &c);
    if (RARELY(same_key(a, b) || same_key(b, c) || same_key(c, d))) {
        return top;
    }
    top[0] = a;
    top[1] = b;
    top[2] = c;
    top[3] = d;
    return top + 4;
}

/* Takes a step; false when none is left, and then there is one too few. In memory: the loop has
 * better uses for a register. */
TARGET static inline __attribute__((always_inline)) bool take_step(struct run *r)
{
    bool none;

    __asm__("subq $1, %0" : "+m"(r->steps_left), "=@ccb"(none));
    return !none;
}

/* The compiler knows nothing of the value any more: it stays in its register for the whole loop,
 * and there is but one version of it. */
#define KEEP(variable) __asm__("" : "+r"(variable))
#define KEEP_LANES(variable) __asm__("" : "+x"(variable))

/* From box to box, starting at r->link or, when that is POP, at the top of the stack, until
 * something else comes: a node that is not a plain box, a box with primitives that are hit (its hit
 * children come back, and their keys in r->key), or a box that is left to visit_box.
 *
 * This is where the time goes: one ray, its numbers in registers, no calls, no branch that depends
 * on which of two children is nearer.
 *
 * The bits of distances are compared as integers, which takes a quarter of the time. That order is
 * the same among numbers from +0 on, and what is below stays below: in min_t it gives way to the 0,
 * and where it is max_t nothing is hit, whichever number it is. Only -0 would be in the wrong
 * place; with tame rays and boxes it does not occur. */
TARGET static inline __attribute__((always_inline)) unsigned descend(struct run *r,
                                                                     const bool grows)
{
    const struct fast_level *const level = r->level;
    const uint8_t *const arena = r->plan->arena;
    const __m256 grow = _mm256_set1_ps(r->plan->grow);
    __m256 mx = _mm256_set1_ps(level->minus[0]), ix = _mm256_set1_ps(level->inverse[0]);
    __m256 my = _mm256_set1_ps(level->minus[1]), iy = _mm256_set1_ps(level->inverse[1]);
    __m256 mz = _mm256_set1_ps(level->minus[2]), iz = _mm256_set1_ps(level->inverse[2]);
    __m256i extent = _mm256_set1_epi32((int32_t)f32_bits(r->extent));
    __m256 zero = _mm256_setzero_ps();
    size_t near_x = level->near[0], far_x = level->far[0];
    size_t near_y = level->near[1], far_y = level->far[1];
    size_t near_z = level->near[2], far_z = level->far[2];
    const uint32_t behind = r->behind;
    uint64_t *top = r->top;
    uint64_t link = r->link;

    KEEP_LANES(mx);
    KEEP_LANES(my);
    KEEP_LANES(mz);
    KEEP_LANES(ix);
    KEEP_LANES(iy);
    KEEP_LANES(iz);
    KEEP_LANES(extent);
    KEEP_LANES(zero);
    KEEP(near_x);
    KEEP(near_y);
    KEEP(near_z);
    KEEP(far_x);
    KEEP(far_y);
    KEEP(far_z);
    if (link == POP) {
        goto pop;
    }
    do {
        const struct fast_box *const box =
            (const struct fast_box *)(arena + link * (FAST_UNIT / 8));
        const __m256i nx = ray_plane(box, near_x, mx, ix, zero);
        const __m256i ny = ray_plane(box, near_y, my, iy, zero);
        const __m256i nz = ray_plane(box, near_z, mz, iz, zero);
        const __m256i fx = ray_plane(box, far_x, mx, ix, zero);
        const __m256i fy = ray_plane(box, far_y, my, iy, zero);
        const __m256i fz = ray_plane(box, far_z, mz, iz, zero);
        const __m256i min_t = max4(nx, ny, nz, _mm256_castps_si256(zero));
        __m256i max_t = min4(fx, fy, fz, extent);
        uint64_t hit, rest;

        if (RARELY(!take_step(r))) {
            goto left;
        }
        if (grows) {
            max_t = _mm256_castps_si256(_mm256_mul_ps(_mm256_castsi256_ps(max_t), grow));
        }
        hit = 0xFFu ^
              (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(min_t, max_t)));
        rest = hit & (hit - 1);
        if (hit == 0) {
        pop:
            for (;;) {
                const struct fast_box *next;

                top--;
                link = (uint32_t)*top;
                if ((uint32_t)(*top >> 32) <= behind || (link & 7) != 0) {
                    break;
                }
                next = (const struct fast_box *)(arena + link * (FAST_UNIT / 8));
                if ((next->inside >> r->level->octant & 1) == 0) {
                    break;
                }
                if (RARELY(!take_step(r))) {
                    goto left;
                }
            }
        } else if ((hit & box->ranges) != 0) {
            _mm256_store_si256((__m256i *)r->key, min_t);
            r->link = (uint32_t)link;
            r->top = top;
            return (unsigned)hit;
        } else if (rest == 0) {
            link = box->link[__builtin_ctzll(hit)];
        } else {
            _mm256_store_si256((__m256i *)r->key, min_t);
            if (RARELY(top > r->lean_room)) {
                goto left;
            }
            if ((rest & (rest - 1)) == 0) {
                const uint64_t a = entry_of(r->key, box, hit), b = entry_of(r->key, box, rest);
                const bool swap =
                    (uint32_t)(b >> 32) < (uint32_t)(a >> 32) + facet_gfx12_fast_higher_first[hit];
                const uint64_t other = (a ^ b) & (0 - (uint64_t)swap);

                *top++ = b ^ other;
                link = (uint32_t)(a ^ other);
            } else {
                uint64_t *const pushed = push_few(top, box, hit, r->key);

                if (RARELY(pushed == top)) {
                    goto left;
                }
                top = pushed - 1;
                link = (uint32_t)*top;
            }
        }
        KEEP(link);
    } while ((link & 7) == 0);
    r->top = top;
    r->link = (uint32_t)link;
    return DESCENT_LINK;
left:
    r->steps_left++;
    r->top = top;
    r->link = (uint32_t)link;
    return DESCENT_BOX;
}

TARGET static __attribute__((noinline)) unsigned descend_plain(struct run *r)
{
    return descend(r, false);
}

TARGET static __attribute__((noinline)) unsigned descend_grown(struct run *r)
{
    return descend(r, true);
}
