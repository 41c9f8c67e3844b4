/* See gfx_test.h. */
#include "xphmg/gfx/gfx_test.h"

#include "facet/observer.h"

#include <stdio.h>

uint64_t gfx_without;
bool gfx_hints;

struct guest *gfx_make(void)
{
    struct guest *g = guest_make("full");

    if (gfx_without != 0) {
        guest_configure(g, "feat0", 0x5D19 & ~gfx_without);
    }
    if (gfx_hints) {
        guest_csrw(g, FACET_CSR_GFXPEERHINT, UINT64_MAX);
    }
    set_mode(g, MODE_FP32);
    set_cfg(g, EN | CONVERT);
    return g;
}

void set_mode(struct guest *g, uint64_t mode)
{
    guest_csrw(g, FACET_CSR_CAP_PREC_MODE, mode | FACET_CAP_PREC_MODE_APPLY0);
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_ST, 0x7F);
}

void set_alt(struct guest *g, uint64_t alt)
{
    guest_csrw(g, FACET_CSR_CAP_PREC_ALT, alt | FACET_CAP_PREC_ALT_APPLY1);
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_ST, 0x7F);
}

void set_cfg(struct guest *g, uint64_t cfg)
{
    guest_csrw(g, FACET_CSR_GFXCFG, cfg);
}

unsigned raised(struct guest *g)
{
    return (unsigned)(guest_csr(g, FACET_CSR_CAP_PREC_EXC_ST) |
                      (guest_csr(g, FACET_CSR_CAP_PREC_STAT) & FACET_FLAGS_STAT));
}

unsigned clear_flags(struct guest *g)
{
    unsigned flags = raised(g);

    /* an APPLY of what is in force clears the stickies of STAT */
    guest_csrw(g,
               FACET_CSR_CAP_PREC_MODE,
               guest_csr(g, FACET_CSR_CAP_PREC_MODE) | FACET_CAP_PREC_MODE_APPLY0);
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_ST, 0x7F);
    return flags;
}

void put_bytes(struct guest *g, uint64_t at, const uint8_t *bytes, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        guest_store(g, at + i, 1, bytes[i]);
    }
}

void put_elements(struct guest *g, uint64_t at, unsigned size, const uint32_t *v, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        guest_store(g, at + (uint64_t)i * size, size, v[i]);
    }
}

void put_plane(struct guest *g, unsigned index, const uint32_t plane[4])
{
    uint64_t cfg = guest_csr(g, FACET_CSR_GFXCFG);

    for (unsigned half = 0; half < 2; half++) {
        set_cfg(g, (cfg & ~(uint64_t)HISEL) | (half != 0 ? HISEL : 0));
        guest_csrw(
            g, FACET_CSR_GFXPLN0 + index, (uint64_t)plane[2 * half + 1] << 32 | plane[2 * half]);
    }
    set_cfg(g, cfg);
}

void texture(struct guest *g, unsigned fmt, unsigned w, unsigned h, unsigned pitch)
{
    guest_csrw(g, FACET_CSR_GFXTEXBASE, TEXTURE);
    guest_csrw(g, FACET_CSR_GFXTEXPITCH, pitch);
    guest_csrw(g, FACET_CSR_GFXTEXWH, (uint64_t)h << 32 | w);
    guest_csrw(g, FACET_CSR_GFXTEXFMT, fmt);
}

void texture_t2(struct guest *g)
{
    static const uint8_t texels[16] = {0x00,
                                       0x40,
                                       0x80,
                                       0xFF,
                                       0xFF,
                                       0x00,
                                       0x00,
                                       0x80,
                                       0x10,
                                       0x20,
                                       0x30,
                                       0x40,
                                       0xFF,
                                       0xFF,
                                       0xFF,
                                       0x00};

    put_bytes(g, TEXTURE, texels, sizeof texels);
    texture(g, 0x30, 2, 2, 8);
    guest_csrw(g, FACET_CSR_GFXWRAP, 0);
    set_cfg(g, guest_csr(g, FACET_CSR_GFXCFG) | NORM);
}

void put_desc(struct guest *g, uint64_t at, const struct desc *d)
{
    const uint32_t words[14] = {(uint32_t)d->base,
                                (uint32_t)(d->base >> 32),
                                d->pitch,
                                d->w,
                                d->h,
                                d->fmt,
                                d->wrap,
                                d->border[0],
                                d->border[1],
                                d->border[2],
                                d->border[3],
                                d->flags,
                                d->stride1,
                                d->stride2};

    put_elements(g, at, 4, words, 14);
    guest_store(g, at + 56, 8, UINT64_C(0xDEADBEEFDEADBEEF)); /* reserved: ignored */
}

/* ---- watching --------------------------------------------------------------------------------
 */

static void see_memory(void *context, const struct facet_memory_event *event)
{
    struct watch *w = context;

    if (event->write) {
        w->write_at[w->writes++ % 512] = event->address;
    } else {
        w->read_at[w->reads++ % 512] = event->address;
    }
}

static void see_unit(void *context, const struct facet_unit_event *event)
{
    struct watch *w = context;

    if (strcmp(event->unit, "gfx") != 0) {
        w->others++;
    } else if (strcmp(event->what, "policy") == 0) {
        w->policies++;
        memcpy(w->policy, event->values, sizeof w->policy);
    } else if (strcmp(event->what, "trailer") == 0) {
        w->trailers++;
        memcpy(w->trailer, event->values, sizeof w->trailer);
    } else if (strcmp(event->what, "fence") == 0) {
        w->fences++;
        memcpy(w->fence, event->values, sizeof w->fence);
    }
}

struct facet_trap watch_run(struct guest *g, struct watch *w, const char *text)
{
    struct facet_observer observer = {.context = w, .memory = see_memory, .unit = see_unit};
    struct facet_trap trap;

    memset(w, 0, sizeof *w);
    guest_observe(g, &observer);
    trap = guest_run(g, "%s", text);
    guest_observe(g, NULL);
    return trap;
}

/* ---- one operation in every way --------------------------------------------------------------
 */

struct way {
    const char *name;
    unsigned vl;
    uint64_t mask; /* active lanes */
    bool memory, freg, rsv;
};

static uint64_t low(const struct op *op, uint32_t v)
{
    return op->size == 4 ? v : v & ((1u << 8 * op->size) - 1);
}

static uint64_t image(const struct op *op, const struct way *way, uint32_t v)
{
    unsigned unused = 64 - 8 * op->size;
    uint64_t bits = low(op, v);

    return way->freg  ? bits | (op->size == 8 ? 0 : ~UINT64_C(0) << 8 * op->size)
           : op->sign ? (uint64_t)((int64_t)(bits << unused) >> unused)
                      : bits;
}

/* Slot k of lane i, a register or an element of the array. */
static void put(struct guest *g,
                const struct op *op,
                const struct way *way,
                uint64_t array,
                unsigned base,
                unsigned i,
                unsigned k,
                uint32_t v)
{
    unsigned reg = (base + i + k * way->vl) % 32;

    if (way->memory) {
        guest_store(g, array + (uint64_t)(k * way->vl + i) * op->size, op->size, low(op, v));
    } else if (way->freg) {
        g->hart->f[reg] = low(op, v) | UINT64_C(0xABCD) << 48; /* upper bits are ignored */
    } else if (reg != 0) {
        g->hart->x[reg] = low(op, v) | UINT64_C(0xABCD) << 48;
    }
}

static uint64_t
get(struct guest *g, const struct op *op, const struct way *way, unsigned i, unsigned k)
{
    unsigned reg = (op->rr + i + k * way->vl) % 32;

    return way->memory ? guest_load(g, MEM_R + (uint64_t)(k * way->vl + i) * op->size, op->size)
           : way->freg ? g->hart->f[reg]
                       : g->hart->x[reg];
}

static void check_way(struct guest *g, const char *what, const struct op *op, const struct way *way)
{
    uint64_t cfg = guest_csr(g, FACET_CSR_GFXCFG);
    unsigned b = (op->ra + op->rows * way->vl) % 32;
    char text[200];

    set_cfg(g,
            (cfg & ~(uint64_t)(AMEM | BMEM | DMEM | FREG)) |
                (way->memory ? AMEM | BMEM | DMEM : 0) | (way->freg ? FREG : 0));
    (void)clear_flags(g);
    for (unsigned i = 0; i < way->vl; i++) {
        for (unsigned k = 0; k < op->nr; k++) {
            put(g, op, way, MEM_R, op->rr, i, k, op->r[k]);
        }
        for (unsigned k = 0; k < op->na; k++) {
            put(g, op, way, MEM_A, op->ra, i, k, op->a[k]);
        }
        for (unsigned k = 0; k < op->nb; k++) {
            put(g, op, way, MEM_B, b, i, k, op->b[k]);
        }
        for (unsigned k = 0; k < op->nout; k++) {
            if (op->first + k >= op->nr) { /* in-place operands keep theirs */
                put(g, op, way, MEM_R, op->rr, i, op->first + k, 0x5A5A5A5A);
            }
        }
    }
    if (way->memory) {
        g->hart->x[op->ra] = MEM_A;
        g->hart->x[op->rr] = MEM_R;
        if (op->nb != 0) {
            g->hart->x[b] = MEM_B;
        }
    }
    if (way->rsv) {
        g->hart->units.pmask.bank[1] = way->mask;
        guest_csrw(g,
                   FACET_CSR_SVSTATE,
                   (way->vl - 1) | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT | UINT64_C(1) << 10);
    }
    (void)snprintf(text, sizeof text, op->text, op->rr, op->ra);
    guest_ok(g, "%s\n", text);
    for (unsigned i = 0; i < way->vl; i++) {
        for (unsigned k = 0; k < op->nout; k++) {
            bool active = (way->mask >> i & 1) != 0;
            uint32_t old = op->first + k < op->nr ? op->r[op->first + k] : 0x5A5A5A5A;
            uint64_t got = get(g, op, way, i, op->first + k);
            uint64_t want = way->memory ? low(op, active ? op->out[k] : old)
                            : active    ? image(op, way, op->out[k])
                                        : low(op, old) | UINT64_C(0xABCD) << 48;

            CHECK_MSG(got == want,
                      "%s, %s: lane %u slot %u is 0x%llx, expected 0x%llx",
                      what,
                      way->name,
                      i,
                      op->first + k,
                      (unsigned long long)got,
                      (unsigned long long)want);
        }
    }
    CHECK_MSG(raised(g) == op->flags,
              "%s, %s: flags 0x%x, expected 0x%x",
              what,
              way->name,
              raised(g),
              op->flags);
    CHECK_EQ(guest_csr(g, FACET_CSR_SVSTATE) & FACET_SVSTATE_EN, 0);
    set_cfg(g, cfg);
}

void check_op(struct guest *g, const char *what, const struct op *op)
{
    static const struct way ways[] = {
        {"x registers", 1, 1, false, false, false},
        {"f registers", 1, 1, false, true, false},
        {"memory", 1, 1, true, false, false},
        {"two lanes in x registers", 2, 3, false, false, true},
        {"two lanes in f registers", 2, 3, false, true, true},
        {"five lanes in memory, one masked", 5, 0x1B, true, false, true},
    };
    unsigned slots = op->first + op->nout > op->nr ? op->first + op->nout : op->nr;
    unsigned behind = op->nb != 0 ? op->rows + op->nb : op->na;

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        /* lanes in registers: A, B and R must not meet, and x0 takes no part */
        bool fits = ways[i].vl == 1 || ways[i].memory ||
                    (op->ra + behind * ways[i].vl <= op->rr && op->rr + slots * ways[i].vl <= 32);

        if (fits) {
            check_way(g, what, op, &ways[i]);
        }
    }
}
