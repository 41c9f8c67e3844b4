/* Jobs over built trees: rays traced ahead (xphmg/rt/batch.c) give the same memory, status,
 * counters and stickies as rays done one by one, on any number of threads; and RT images of every
 * kind give the hits that a plain loop over all triangles gives.
 *
 * Whoever watches a hart sees every access of a job, so a job with an observer does its rays one by
 * one: that is the oracle for the rest. */
#include "xphmg/rt/rt_test.h"

#include "base/float.h"
#include "base/pool.h"
#include "facet/observer.h"
#include "rt_image/build.h"
#include "xphmg/rt/rt.h"

#include <math.h>
#include <stdlib.h>

enum {
    /* In guest memory. */
    DESC = GUEST_DATA,
    RAYQ = GUEST_DATA + 0x100,
    HITQ = GUEST_DATA + 0x200,
    MISSQ = GUEST_DATA + 0x300,
    RAYS = GUEST_DATA + 0x1000,
    HITS = GUEST_DATA + 0x21000,
    MISSES = GUEST_DATA + 0x31000,
    IMAGE = GUEST_DATA + 0x40000,
    IMAGES = 0x20000, /* from one to the next */
    DATA_BYTES = GUEST_CODE + GUEST_RAM_BYTES - GUEST_DATA,
    MAX_RAYS = 1000,
    MAX_TRIANGLES = 400,
    OPT_CULL = 1,
    OPT_PACK = 4,
    OPT_EPS = 8,
    OPT_ANY = 16,
    OPT_NODE8 = 32,
};

static uint32_t below(uint32_t n)
{
    return (uint32_t)(harness_random() % n);
}

static float random_number(void)
{
    return (float)((double)(int64_t)harness_random() * 0x1p-63);
}

/* ---- scenes ---- */

/* Small triangles in [-1, 1]^3, or on a grid where edges and corners are shared and met exactly. */
static void random_triangles(struct facet_bvh_triangle *triangles, uint32_t count, bool grid)
{
    for (uint32_t i = 0; i < count; i++) {
        float at[3] = {random_number(), random_number(), random_number()};

        triangles[i].geometry = 0;
        triangles[i].primitive = i;
        for (unsigned k = 0; k < 9; k++) {
            float x = at[k % 3] + 0.3f * random_number();

            triangles[i].vertex[k / 3][k % 3] = grid ? rintf(4 * x) / 4 : x;
        }
    }
}

static bool build(
    unsigned children, uint8_t element, bool quantized, struct facet_rtbvh_image *image, bool grid)
{
    const struct facet_rtbvh_options options = {.children = children,
                                                .element = element,
                                                .quantized = quantized,
                                                .leaf_size = below(3) == 0 ? 1 + below(12) : 0};
    static struct facet_bvh_triangle triangles[MAX_TRIANGLES];
    struct facet_rtbvh_report report;
    struct facet_error err = {0};
    uint32_t count = 1 + below(below(4) == 0 ? 16 : MAX_TRIANGLES);

    random_triangles(triangles, count, grid);
    return CHECK_MSG(
        facet_rtbvh_build(triangles, count, &options, NULL, NULL, image, &report, &err) == FACET_OK,
        "%s",
        err.message);
}

struct setting {
    uint32_t opts;
    uint32_t first, rays, ray_cap, hit_cap, miss_cap;
    uint64_t hits;        /* base of their slots */
    uint64_t hitq, missq; /* 0: none */
    uint64_t exc_en;
    uint64_t heap, triangles; /* addresses */
    struct facet_rtbvh_view view;
};

static void use_image(struct setting *s)
{
    s->heap = IMAGE + s->view.header.heap.offset;
    s->triangles = IMAGE + s->view.header.triangles.offset;
}

static void
put_queue(struct guest *g, uint64_t at, uint32_t head, uint32_t tail, uint32_t cap, uint64_t base)
{
    guest_store(g, at, 4, head);
    guest_store(g, at + 4, 4, tail);
    guest_store(g, at + 8, 4, cap);
    guest_store(g, at + 16, 8, base);
}

/* image NULL: as it lies there. */
static void
put_job(struct guest *g, const struct setting *s, const uint8_t *image, const uint8_t *rays)
{
    const uint64_t ray_bytes = facet_rt_ray_entry_bytes(&s->view.container);
    static const uint8_t zero[24];

    guest_csrw(g, FACET_CSR_CAP_PREC_ALT, s->view.header.alt | FACET_CAP_PREC_ALT_APPLY1);
    guest_csrw(g, FACET_CSR_CAP_PREC_MODE, s->view.header.mode | FACET_CAP_PREC_MODE_APPLY0);
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, s->exc_en);
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_ST, 0x7F);
    if (image != NULL) {
        CHECK_EQ(facet_mem_poke(g->mem, IMAGE, image, s->view.size).fault, FACET_MEM_OK);
    }
    CHECK_EQ(facet_mem_poke(g->mem, RAYS, rays, s->ray_cap * ray_bytes).fault, FACET_MEM_OK);
    guest_store(g, DESC, 8, s->heap);
    guest_store(g, DESC + 8, 8, RAYQ);
    guest_store(g, DESC + 16, 8, s->hitq);
    guest_store(g, DESC + 24, 8, s->missq);
    guest_store(g, DESC + 32, 8, s->triangles);
    guest_store(g, DESC + 40, 8, s->opts);
    CHECK_EQ(facet_mem_poke(g->mem, DESC + 48, zero, 24).fault, FACET_MEM_OK);
    put_queue(g, RAYQ, s->first, (s->first + s->rays) % s->ray_cap, s->ray_cap, RAYS);
    put_queue(g, HITQ, 0, 0, s->hit_cap, s->hits);
    put_queue(g, MISSQ, 0, 0, s->miss_cap, MISSES);
    g->hart->x[10] = DESC;
}

static void submit(struct guest *g)
{
    guest_ok(g, "xsubmit.rt a1, a0\n xfence.wait a1\n");
}

/* ---- ahead and one by one ---- */

/* Rays from around the scene into it, and every kind that is not ordinary. */
static void random_rays(uint8_t *rays, unsigned count, bool grid)
{
    static const uint32_t odd[] = {0x7FC00000,
                                   0x7F800001,
                                   0x7F800000,
                                   0xFF800000,
                                   0x00000001,
                                   0x80000000,
                                   0x7F7FFFFF,
                                   0x00400000,
                                   0x00000000,
                                   0x01000000};
    unsigned rare = 1 + below(30);

    for (unsigned i = 0; i < count; i++) {
        uint32_t e[8];

        for (unsigned a = 0; a < 3; a++) {
            float from = 2 * random_number(), to = random_number();

            from = grid ? rintf(4 * from) / 4 : from;
            to = grid ? rintf(4 * to) / 4 : to;
            e[a] = facet_float_bits(from);
            e[3 + a] = facet_float_bits(to - from);
        }
        e[6] = 0;
        e[7] = below(2) == 0 ? 0x7F800000 : facet_float_bits(1.0f);
        if (below(rare) == 0) { /* along an axis */
            e[3 + below(3)] = 0;
            e[3 + below(3)] = below(2) == 0 ? 0 : 0x80000000;
        }
        if (below(4 * rare) == 0) {
            e[below(8)] = odd[below(sizeof odd / sizeof odd[0])];
        }
        if (below(4 * rare) == 0) {
            e[6] = facet_float_bits(random_number());
        }
        for (unsigned k = 0; k < 8; k++) {
            facet_store_le32(rays + 64 * (size_t)i + 4 * k, e[k]);
        }
        memset(rays + 64 * (size_t)i + 32, 0xA5, 24);
        facet_store_le64(rays + 64 * (size_t)i + 56, harness_random());
    }
}

/* Numbers that are not, empty and reserved children, leaves of other lengths, addresses that are
 * not there. Links stay or lead nowhere, so that no tree has a circle. */
static void damage(const struct setting *s, uint8_t *image)
{
    const struct facet_rtbvh_header *h = &s->view.header;
    unsigned wounds = below(4);

    for (unsigned i = 0; i < wounds; i++) {
        uint64_t node_bytes = facet_rtbvh_node_bytes(&s->view);
        uint64_t ranges = node_bytes, nodes = h->heap.size - (h->nodes - 1) * node_bytes;
        uint8_t *heap = image + h->heap.offset;
        uint8_t *node =
            heap + (h->nodes < 2 || below(4) == 0 ? 0 : nodes + below(h->nodes - 1) * node_bytes);

        switch (below(6)) {
        case 0: /* a number of a box */
            facet_store_le32(node + 4 * below(24), below(2) == 0 ? 0x7FC00000 : below(0xFFFFFFFF));
            break;
        case 1: /* a child that is not there any more */
            node[124] &= (uint8_t)below(256);
            break;
        case 2: /* a link out of memory */
            node[112 + 4 * below(3) + 2 + below(2)] |= (uint8_t)(1u << below(8));
            break;
        case 3: /* the length of a leaf */
            if (h->leaves != 0) {
                facet_store_le32(heap + ranges + 16 * (uint64_t)below(h->leaves) + 4, below(12));
            }
            break;
        case 4: /* a base of its own */
            if (h->leaves != 0) {
                facet_store_le64(heap + ranges + 16 * (uint64_t)below(h->leaves) + 8,
                                 below(4) == 0 ? BAD : IMAGE + h->triangles.offset + below(2) * 36);
            }
            break;
        default: /* a number of a triangle */
            if (h->triangle_count != 0) {
                facet_store_le32(image + h->triangles.offset +
                                     4 * (uint64_t)below(9 * h->triangle_count),
                                 below(2) == 0 ? 0x7F800000 : below(0xFFFFFFFF));
            }
            break;
        }
    }
}

static void random_setting(struct setting *s)
{
    static const uint32_t options[] = {
        0, 0, 0, OPT_CULL, OPT_ANY, OPT_PACK, OPT_EPS, OPT_CULL | OPT_ANY};
    static const uint64_t traps[] = {0, 0, 0, 0, 0, FACET_DZ, FACET_NX, FACET_UF | FACET_OF};

    s->opts = options[below(8)] | (s->view.header.children == 8 ? OPT_NODE8 : 0);
    s->ray_cap = 2 + below(MAX_RAYS - 2);
    s->first = below(s->ray_cap);
    s->rays = s->ray_cap - 1;
    s->hit_cap = below(8) == 0 ? 1 + below(40) : 2 * MAX_RAYS;
    s->miss_cap = below(8) == 0 ? 1 + below(40) : 2 * MAX_RAYS;
    s->hits = HITS;
    s->hitq = below(16) == 0 ? 0 : HITQ;
    s->missq = below(16) == 0 ? 0 : below(16) == 0 ? s->hitq : MISSQ;
    s->exc_en = traps[below(8)];
    use_image(s);
    switch (below(24)) { /* entries that change what the job reads */
    case 0:
        s->hits = IMAGE + s->view.header.triangles.offset;
        break;
    case 1:
        s->hits = IMAGE + s->view.header.heap.offset + 16 * (uint64_t)below(64);
        break;
    case 2:
        s->hits = RAYS + 64 * (uint64_t)below(s->ray_cap);
        break;
    case 3:
        s->hits = HITQ - 64;
        break;
    case 4:
        s->hits = GUEST_CODE + GUEST_RAM_BYTES - 32 * (uint64_t)(1 + below(40));
        break;
    default:
        break;
    }
}

static void compare_guests(struct guest *a, struct guest *b, const char *what, unsigned round)
{
    static const unsigned csrs[] = {FACET_CSR_RTSTAT,
                                    FACET_CSR_CAP_PREC_EXC_ST,
                                    FACET_CSR_CAP_PREC_STAT,
                                    FACET_CSR_CAP_XMEM_EVENTS};
    static uint8_t bytes[2][DATA_BYTES];
    size_t at = 0;

    CHECK_EQ(facet_mem_peek(a->mem, GUEST_DATA, bytes[0], DATA_BYTES).fault, FACET_MEM_OK);
    CHECK_EQ(facet_mem_peek(b->mem, GUEST_DATA, bytes[1], DATA_BYTES).fault, FACET_MEM_OK);
    while (at < DATA_BYTES && bytes[0][at] == bytes[1][at]) {
        at++;
    }
    CHECK_MSG(at == DATA_BYTES, "round %u: %s differs at %zx", round, what, GUEST_DATA + at);
    for (size_t i = 0; i < sizeof csrs / sizeof csrs[0]; i++) {
        CHECK_MSG(guest_csr(a, csrs[i]) == guest_csr(b, csrs[i]),
                  "round %u: %s: CSR %x is %llx, expected %llx",
                  round,
                  what,
                  csrs[i],
                  (unsigned long long)guest_csr(b, csrs[i]),
                  (unsigned long long)guest_csr(a, csrs[i]));
    }
    CHECK_EQ(a->hart->x[11], b->hart->x[11]);
}

TEST(ahead_is_as_one_by_one, "RT-120 RT-122 RT-123 RT-276 RT-277")
{
    static const struct facet_observer watcher;
    const unsigned rounds = harness_long() ? 3000 : 120;
    static uint8_t rays[64 * MAX_RAYS];
    struct guest *slow = guest_make("full"), *fast = guest_make("full"), *wide = guest_make("full");
    unsigned errors[8] = {0}, ended = 0;
    struct facet_error err = {0};

    CHECK(facet_pool_create(3, &wide->hart->pool, &err) == FACET_OK);
    for (unsigned round = 0; round < rounds && !harness_failed(); round++) {
        struct guest *const guests[] = {slow, fast, wide};
        bool grid = below(3) == 0;
        struct facet_rtbvh_image image;
        struct setting s = {0};

        if (!build(below(2) == 0 ? 4 : 8, FACET_FMT_FP32, false, &image, grid) ||
            !CHECK(facet_rtbvh_open(image.bytes, image.size, &s.view, &err) == FACET_OK)) {
            break;
        }
        random_setting(&s);
        random_rays(rays, s.ray_cap, grid);
        damage(&s, image.bytes);
        for (unsigned i = 0; i < 3; i++) {
            put_job(guests[i], &s, image.bytes, rays);
            guests[i]->hart->units.rt.stat = 0;
            guest_observe(guests[i], i == 0 ? &watcher : NULL);
            submit(guests[i]);
            guest_observe(guests[i], NULL);
        }
        errors[last_ec(slow) & 7]++;
        ended += guest_load(slow, RAYQ, 4) == guest_load(slow, RAYQ + 4, 4);
        compare_guests(slow, fast, "ahead", round);
        compare_guests(slow, wide, "with threads", round);
        free(image.bytes);
    }
    CHECK(ended > rounds / 4); /* most errors are met too */
    CHECK(errors[FACET_XPHMG_RT_EC_DESC_FAULT] > 0 && errors[FACET_XPHMG_RT_EC_QFULL] > 0 &&
          errors[FACET_XPHMG_RT_EC_NUMERIC] > 0);
    facet_pool_destroy(wide->hart->pool);
    guest_free(slow);
    guest_free(fast);
    guest_free(wide);
}

/* ---- a BVH that changes between jobs ---- */

/* Four bytes of the image, one way or another. The oracle does the same. */
static void change(struct guest *const guests[3], uint64_t at, unsigned how)
{
    const uint32_t old = (uint32_t)guest_load(guests[0], at, 4);
    const uint32_t value = old ^ 1u << below(below(2) == 0 ? 32 : 3);

    for (unsigned i = 0; i < 3; i++) {
        struct guest *const g = guests[i];
        struct facet_strbuf saved = {0};
        struct facet_error err = {0};

        switch (how) {
        case 0:
            guest_store(g, at, 4, value);
            break;
        case 1:
            CHECK_EQ(facet_mem_poke(g->mem, at, &value, 4).fault, FACET_MEM_OK);
            break;
        case 2: /* and back: nothing has changed */
            guest_store(g, at, 4, value);
            guest_store(g, at, 4, old);
            break;
        case 3: /* by a snapshot that was taken before a job */
            CHECK(facet_mem_save(g->mem, &saved, &err) == FACET_OK);
            guest_store(g, at, 4, value);
            submit(g);
            CHECK(facet_mem_restore(g->mem, saved.text, saved.length, &err) == FACET_OK);
            facet_strbuf_free(&saved);
            break;
        default: /* by an instruction */
            g->hart->x[12] = at;
            g->hart->x[13] = value;
            guest_ok(g, "sw a3, 0(a2)\n");
            break;
        }
    }
}

/* Where a coordinate of a corner or of a box lies, or half of a TriRange; links stay, so that no
 * tree has a circle. */
static uint64_t random_place(const struct setting *s)
{
    const struct facet_rtbvh_header *h = &s->view.header;
    const uint64_t node_bytes = facet_rtbvh_node_bytes(&s->view);
    const uint64_t others = h->heap.size - (h->nodes - 1) * node_bytes;
    const uint32_t node = below(h->nodes);

    switch (below(3)) {
    case 0:
        return h->triangles.offset + 4 * (uint64_t)below(9 * h->triangle_count);
    case 1:
        return h->heap.offset + node_bytes + 16 * (uint64_t)below(h->leaves) + 4 * below(2);
    default:
        return h->heap.offset + (node == 0 ? 0 : others + (node - 1) * node_bytes) +
               4 * (uint64_t)below(24);
    }
}

static uint64_t image_at(unsigned k)
{
    return IMAGE + (uint64_t)IMAGES * k;
}

/* Two BVHs of the same kind in memory, each at its place. */
static bool put_two(struct guest *const guests[3], struct setting s[2])
{
    const unsigned children = below(2) == 0 ? 4 : 8;
    bool good = true;

    for (unsigned k = 0; k < 2 && good; k++) {
        struct facet_rtbvh_image image;
        struct facet_error err = {0};

        good = build(children, FACET_FMT_FP32, false, &image, false) &&
               CHECK(facet_rtbvh_open(image.bytes, image.size, &s[k].view, &err) == FACET_OK) &&
               CHECK(image.size <= IMAGES);
        for (unsigned i = 0; i < 3 && good; i++) {
            good =
                CHECK(facet_mem_poke(guests[i]->mem, image_at(k), image.bytes, image.size).fault ==
                      FACET_MEM_OK);
        }
        free(image.bytes); /* only the header of the view is used from here on */
    }
    return good;
}

/* A job on the nodes of one BVH and the triangles of the same or the other. */
static void random_job(struct guest *const guests[3], const struct setting s[2])
{
    static uint8_t rays[64 * MAX_RAYS];
    const unsigned nodes = below(4) == 0, triangles = below(4) == 0 ? 1 - nodes : nodes;
    const struct facet_rtbvh_header *const header[2] = {&s[0].view.header, &s[1].view.header};
    struct setting job = s[nodes];

    random_setting(&job);
    job.heap = image_at(nodes) + header[nodes]->heap.offset;
    job.triangles = image_at(triangles) + header[triangles]->triangles.offset;
    job.ray_cap = 2 + below(60);
    job.first = below(job.ray_cap);
    job.rays = job.ray_cap - 1;
    if (below(4) == 0 && header[nodes]->nodes < 8) { /* a tile alone, or with the next */
        job.opts ^= OPT_NODE8;
    }
    job.hits = below(4) != 0 ? HITS : job.triangles + 36 * (uint64_t)below(40);
    random_rays(rays, job.ray_cap, false);
    for (unsigned i = 0; i < 3; i++) {
        put_job(guests[i], &job, NULL, rays);
        guests[i]->hart->units.rt.stat = 0;
    }
}

TEST(jobs_see_what_was_written_between_them, "RT-120 RT-276")
{
    static const struct facet_observer watcher;
    const unsigned rounds = harness_long() ? 500 : 30, jobs = 12;
    struct guest *slow = guest_make("full"), *fast = guest_make("full"), *wide = guest_make("full");
    struct guest *const guests[] = {slow, fast, wide};
    struct facet_error err = {0};

    CHECK(facet_pool_create(3, &wide->hart->pool, &err) == FACET_OK);
    for (unsigned round = 0; round < rounds && !harness_failed(); round++) {
        struct setting s[2] = {{0}, {0}};

        if (!put_two(guests, s)) {
            break;
        }
        for (unsigned job = 0; job < jobs && !harness_failed(); job++) {
            random_job(guests, s);
            for (unsigned n = below(2) * below(3); n > 0; n--) {
                const unsigned k = below(2);

                change(guests, image_at(k) + random_place(&s[k]), below(5));
            }
            for (unsigned i = 0; i < 3; i++) {
                guest_observe(guests[i], i == 0 ? &watcher : NULL);
                submit(guests[i]);
                guest_observe(guests[i], NULL);
            }
            compare_guests(slow, fast, "ahead", round);
            compare_guests(slow, wide, "with threads", round);
        }
    }
    facet_pool_destroy(wide->hart->pool);
    guest_free(slow);
    guest_free(fast);
    guest_free(wide);
}

/* ---- every kind of image against all triangles ---- */

static uint32_t element_at(const struct facet_rtbvh_view *view, const uint8_t *array, uint64_t i)
{
    const struct facet_container *c = &view->container;

    return facet_container_get(c,
                               facet_load_le(array + facet_container_offset(c, i), c->bytes),
                               facet_container_slot(c, i));
}

/* The closest triangle by the rule of the contract; *found has FP32 numbers. */
static struct facet_xphmg_rt_found closest(const struct facet_rtbvh_view *view,
                                           const uint8_t *record)
{
    const uint8_t *triangles = view->bytes + view->header.triangles.offset;
    const struct facet_rt_options options = {0};
    struct facet_xphmg_rt_found best = {0};
    uint32_t e[FACET_RT_RAY_ELEMENTS];
    struct facet_rt_ray ray;
    unsigned flags = 0;

    for (unsigned i = 0; i < FACET_RT_RAY_ELEMENTS; i++) {
        e[i] = element_at(view, record, i);
    }
    if (facet_rt_ray_widen(&view->numbers, e, &ray, &flags)) {
        return best;
    }
    for (uint32_t k = 0; k < view->header.triangle_count; k++) {
        uint32_t v[FACET_RT_TRIANGLE_ELEMENTS];
        struct facet_rt_triangle triangle;
        struct facet_rt_facet hit;

        for (unsigned i = 0; i < FACET_RT_TRIANGLE_ELEMENTS; i++) {
            v[i] = element_at(view, triangles, (uint64_t)9 * k + i);
        }
        (void)facet_rt_triangle_widen(&view->numbers, v, &triangle, &flags);
        hit = facet_rt_test_triangle(&view->numbers, &ray, &triangle, &options, &flags);
        if (hit.outcome == FACET_RT_HIT && (!best.hit || hit.t != best.t)) {
            best = (struct facet_xphmg_rt_found){true, hit.front, hit.t, hit.u, hit.v, k, 0};
            ray.tmax = hit.t; /* equal distances further on are later triangles */
        }
    }
    return best;
}

/* Origins inside the scene, directions of any kind that the format has. */
static void random_records(const struct facet_rtbvh_view *view, uint8_t *rays, unsigned count)
{
    const struct facet_container *c = &view->container;
    uint64_t size = facet_rt_ray_entry_bytes(c);

    memset(rays, 0, size * count);
    for (unsigned i = 0; i < count; i++) {
        uint8_t *record = rays + size * i;

        for (unsigned k = 0; k < FACET_RT_RAY_ELEMENTS; k++) {
            const struct facet_conv *conv = &view->numbers.channel[k < 6 ? k % 3 : 3];
            float x = k < 6 ? random_number() : k == 6 ? 0.0f : 3.0f;
            uint8_t *at = record + facet_container_offset(c, k);
            unsigned flags = 0;

            facet_store_le(at,
                           c->bytes,
                           facet_container_put(c,
                                               facet_load_le(at, c->bytes),
                                               facet_container_slot(c, k),
                                               facet_narrow(conv, facet_float_bits(x), &flags)));
        }
        facet_store_le64(record + size - 8, i);
    }
}

/* The entry that the job must have written for this ray. */
static void check_entry(const struct facet_rtbvh_view *view,
                        const uint8_t *entry,
                        uint64_t tag,
                        const struct facet_xphmg_rt_found *expected,
                        const char *name)
{
    const struct facet_container *c = &view->container;
    struct facet_rt_lane lane = {FACET_RT_HIT, {expected->t, expected->u, expected->v}, 3};
    uint32_t out[3];
    unsigned flags = 0;

    facet_rt_lane_encode(&view->numbers, false, &lane, out, &flags);
    CHECK_EQ(facet_load_le64(entry), tag);
    CHECK_MSG(facet_load_le32(entry + 8) == expected->triangle,
              "%s: ray %llu: triangle %u, expected %u",
              name,
              (unsigned long long)tag,
              facet_load_le32(entry + 8),
              expected->triangle);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQ(facet_load_le(entry + 16 + i * c->bytes, c->bytes),
                 facet_container_put(c, 0, 0, out[i]));
    }
    CHECK_EQ(facet_load_le32(entry + facet_rt_hit_entry_bytes(c) - 4), expected->front);
}

/* Returns how many rays have hit. */
static uint32_t compare_image(struct guest *g, unsigned children, uint8_t element, bool quantized)
{
    static uint8_t rays[64 * MAX_RAYS], hits[32 * MAX_RAYS];
    const unsigned count = harness_long() ? MAX_RAYS - 1 : 120;
    const char *name = facet_format_name(element);
    struct facet_rtbvh_image image;
    struct facet_error err = {0};
    struct setting s = {.ray_cap = MAX_RAYS,
                        .rays = count,
                        .hit_cap = MAX_RAYS,
                        .miss_cap = MAX_RAYS,
                        .hits = HITS,
                        .hitq = HITQ,
                        .missq = MISSQ,
                        .opts = children == 8 ? OPT_NODE8 : 0};
    uint32_t taken = 0, missed = 0;
    unsigned hit_bytes;

    if (!build(children, element, quantized, &image, false) ||
        !CHECK(facet_rtbvh_open(image.bytes, image.size, &s.view, &err) == FACET_OK)) {
        return 0;
    }
    use_image(&s);
    hit_bytes = facet_rt_hit_entry_bytes(&s.view.container);
    random_records(&s.view, rays, count);
    put_job(g, &s, image.bytes, rays);
    submit(g);
    CHECK_EQ(guest_load(g, RAYQ, 4), count);
    CHECK_EQ(facet_mem_peek(g->mem, HITS, hits, sizeof hits).fault, FACET_MEM_OK);
    for (unsigned i = 0; i < count; i++) {
        uint64_t size = facet_rt_ray_entry_bytes(&s.view.container);
        struct facet_xphmg_rt_found expected = closest(&s.view, rays + size * i);

        if (!expected.hit) {
            CHECK_MSG(guest_load(g, MISSES + 16 * (uint64_t)missed++, 8) == i,
                      "%s %u: ray %u must miss",
                      name,
                      children,
                      i);
        } else {
            check_entry(&s.view, hits + hit_bytes * taken++, i, &expected, name);
        }
    }
    CHECK_EQ(guest_load(g, HITQ + 4, 4), taken);
    free(image.bytes);
    return taken;
}

TEST(images_give_the_hits_of_all_triangles, "RT-093 RT-111 RT-275")
{
    static const struct {
        uint8_t element;
        bool quantized;
    } kinds[] = {{FACET_FMT_FP32, false},
                 {FACET_FMT_FP16, false},
                 {FACET_FMT_BF16, false},
                 {FACET_FMT_INT16, true},
                 {FACET_FMT_INT8, true},
                 {FACET_FMT_INT32, true}};
    struct guest *g = guest_make("full");
    const unsigned rounds = harness_long() ? 10 : 2;
    uint32_t hits = 0;

    for (unsigned round = 0; round < rounds; round++) {
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
            hits += compare_image(g, 4, kinds[i].element, kinds[i].quantized);
            hits += compare_image(g, 8, kinds[i].element, kinds[i].quantized);
        }
    }
    CHECK_MSG(hits > 100, "only %u hits", hits);
    guest_free(g);
}
