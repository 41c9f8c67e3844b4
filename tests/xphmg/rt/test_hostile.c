/* Jobs that no builder would write: trees with shared nodes and circles, stacks that are just full,
 * TriRanges of any length with bases of their own, heaps at the end of RAM, indices near 2^32,
 * queues that lie across the BVH, rays with wild numbers. Rays that are traced ahead
 * (xphmg/rt/batch.c), on any number of threads, give what rays done one by one give.
 *
 * As in test_offload.c a job that is watched does its rays one by one: the oracle. */
#include "xphmg/rt/rt_test.h"

#include "base/float.h"
#include "base/pool.h"
#include "facet/observer.h"
#include "xphmg/rt/rt.h"

enum {
    DESC = GUEST_DATA,
    RAYQ = GUEST_DATA + 0x100,
    HITQ = GUEST_DATA + 0x200,
    MISSQ = GUEST_DATA + 0x300,
    RAYS = GUEST_DATA + 0x1000,
    HITS = GUEST_DATA + 0x11000,
    MISSES = GUEST_DATA + 0x19000,
    HEAP = GUEST_DATA + 0x20000,
    TRIANGLES = GUEST_DATA + 0x60000,
    DATA_BYTES = GUEST_CODE + GUEST_RAM_BYTES - GUEST_DATA,
    MAX_RAYS = 400,
    CAP = MAX_RAYS + 1,
    NODE = 1,
    LEAF = 2,
    OPT_CULL = 1,
    OPT_ANY = 16,
    OPT_NODE8 = 32,
};

static uint32_t below(uint32_t n)
{
    return (uint32_t)(harness_random() % n);
}

/* Between -1 and 1. */
static float random_number(void)
{
    return (float)((double)(int64_t)harness_random() * 0x1p-63);
}

/* ---- a job in memory that is yet to be filled in ---- */

static uint8_t data[DATA_BYTES]; /* from GUEST_DATA on */

struct job {
    uint64_t heap, triangles;
    uint64_t rayq, hitq, missq;
    uint64_t rays_at, hits_at, misses_at;
    uint32_t rays, hit_cap, opts;
};

static struct job plain_job(uint32_t rays, uint32_t opts)
{
    return (struct job){.heap = HEAP,
                        .triangles = TRIANGLES,
                        .rayq = RAYQ,
                        .hitq = HITQ,
                        .missq = MISSQ,
                        .rays_at = RAYS,
                        .hits_at = HITS,
                        .misses_at = MISSES,
                        .rays = rays,
                        .hit_cap = CAP,
                        .opts = opts};
}

/* Bytes outside the area are left out. */
static void put(uint64_t at, unsigned size, uint64_t value)
{
    for (unsigned i = 0; i < size; i++) {
        if (at + i - GUEST_DATA < DATA_BYTES) {
            data[at + i - GUEST_DATA] = (uint8_t)(value >> 8 * i);
        }
    }
}

static uint32_t get32(uint64_t at)
{
    return at - GUEST_DATA <= DATA_BYTES - 4 ? facet_load_le32(data + (at - GUEST_DATA)) : 0;
}

static void put_box(uint64_t at, const float box[6])
{
    for (unsigned i = 0; i < 6; i++) {
        put(at + 4 * i, 4, facet_float_bits(box[i]));
    }
}

/* Child c of the node at `index`, which has eight when c says so. */
static void put_child(
    uint64_t heap, uint32_t index, unsigned c, unsigned type, uint32_t child, const float box[6])
{
    const uint64_t tile = heap + 128 * ((uint64_t)index + c / 4);
    const unsigned slot = c % 4;
    const uint32_t flags = (get32(tile + 124) & ~(3u << 2 * slot)) | type << 2 * slot;

    put_box(tile + 24 * slot, box);
    if (slot == 3) {
        put(tile + 124, 4, (flags & 0xFF) | child << 8);
    } else {
        put(tile + 124, 4, flags);
        put(tile + 112 + 4 * slot, 4, child);
    }
}

static void put_range(uint64_t heap, uint32_t index, uint32_t first, uint32_t count, uint64_t base)
{
    const uint64_t at = heap + 16 * (uint64_t)index;

    put(at, 4, first);
    put(at + 4, 4, count);
    put(at + 8, 8, base);
}

static void put_triangle(uint64_t at, const float corner[3][3])
{
    for (unsigned i = 0; i < 9; i++) {
        put(at + 4 * i, 4, facet_float_bits(corner[i / 3][i % 3]));
    }
}

/* Small ones in [-1, 1]^3. */
static void put_random_triangles(uint64_t at, unsigned count)
{
    for (unsigned k = 0; k < count; k++) {
        const float middle[3] = {random_number(), random_number(), random_number()};
        float corner[3][3];

        for (unsigned i = 0; i < 9; i++) {
            corner[i / 3][i % 3] = middle[i % 3] + 0.5f * random_number();
        }
        put_triangle(at + 36 * (uint64_t)k, corner);
    }
}

static void put_ray(uint64_t slots, unsigned i, const uint32_t e[8])
{
    const uint64_t at = slots + 64 * (uint64_t)i;

    for (unsigned k = 0; k < 8; k++) {
        put(at + 4 * k, 4, e[k]);
    }
    put(at + 56, 8, 0xABC00 + i);
}

static void put_random_rays(uint64_t slots, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint32_t e[8] = {[7] = below(2) == 0 ? INF_F : ONE_F};

        for (unsigned a = 0; a < 3; a++) {
            const float from = 2 * random_number(), to = random_number();

            e[a] = facet_float_bits(from);
            e[3 + a] = facet_float_bits(to - from);
        }
        put_ray(slots, i, e);
    }
}

static void put_queue(uint64_t at, uint32_t tail, uint32_t cap, uint64_t base)
{
    put(at, 4, 0);
    put(at + 4, 4, tail);
    put(at + 8, 4, cap);
    put(at + 16, 8, base);
}

static void put_job(const struct job *job)
{
    memset(data, 0, 72);
    put(DESC, 8, job->heap);
    put(DESC + 8, 8, job->rayq);
    put(DESC + 16, 8, job->hitq);
    put(DESC + 24, 8, job->missq);
    put(DESC + 32, 8, job->triangles);
    put(DESC + 40, 4, job->opts);
    put_queue(job->hitq, 0, job->hit_cap, job->hits_at);
    put_queue(job->missq, 0, CAP, job->misses_at);
    put_queue(job->rayq, job->rays, CAP, job->rays_at);
}

/* ---- three guests: one by one, ahead, with threads ---- */

enum { SLOW, FAST, WIDE, GUESTS };

static struct guest *guests[GUESTS];

static void make_guests(void)
{
    struct facet_error err = {0};

    for (unsigned i = 0; i < GUESTS; i++) {
        guests[i] = guest_make("full");
        set_mode(guests[i], MODE_FP32);
    }
    CHECK(facet_pool_create(3, &guests[WIDE]->hart->pool, &err) == FACET_OK);
}

static void free_guests(void)
{
    facet_pool_destroy(guests[WIDE]->hart->pool);
    for (unsigned i = 0; i < GUESTS; i++) {
        guest_free(guests[i]);
    }
}

/* NX is up, so that rays may be traced ahead. */
static void submit(struct guest *g, bool fresh)
{
    static const struct facet_observer watcher;

    if (fresh) {
        CHECK_EQ(facet_mem_poke(g->mem, GUEST_DATA, data, DATA_BYTES).fault, FACET_MEM_OK);
    }
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_ST, 0x7F);
    facet_prec_raise(&g->hart->units.cap.prec, FACET_NX);
    g->hart->units.rt.stat = 0;
    g->hart->x[10] = DESC;
    guest_observe(g, g == guests[SLOW] ? &watcher : NULL);
    guest_ok(g, "xsubmit.rt a1, a0\n xfence.wait a1\n");
    guest_observe(g, NULL);
}

static void compare(const char *what, unsigned number)
{
    static const unsigned csrs[] = {FACET_CSR_RTSTAT,
                                    FACET_CSR_CAP_PREC_EXC_ST,
                                    FACET_CSR_CAP_PREC_STAT,
                                    FACET_CSR_CAP_XMEM_EVENTS};
    static uint8_t bytes[2][DATA_BYTES];
    struct guest *const slow = guests[SLOW];

    CHECK_EQ(facet_mem_peek(slow->mem, GUEST_DATA, bytes[0], DATA_BYTES).fault, FACET_MEM_OK);
    for (unsigned i = FAST; i < GUESTS; i++) {
        size_t at = 0;

        CHECK_EQ(facet_mem_peek(guests[i]->mem, GUEST_DATA, bytes[1], DATA_BYTES).fault,
                 FACET_MEM_OK);
        while (memcmp(bytes[0], bytes[1], DATA_BYTES) != 0 && bytes[0][at] == bytes[1][at]) {
            at++;
        }
        CHECK_MSG(at == 0 && bytes[0][0] == bytes[1][0],
                  "%s %u, guest %u: memory differs at %zx",
                  what,
                  number,
                  i,
                  GUEST_DATA + at);
        for (size_t k = 0; k < sizeof csrs / sizeof csrs[0]; k++) {
            CHECK_MSG(guest_csr(guests[i], csrs[k]) == guest_csr(slow, csrs[k]),
                      "%s %u, guest %u: CSR %x is %llx, expected %llx",
                      what,
                      number,
                      i,
                      csrs[k],
                      (unsigned long long)guest_csr(guests[i], csrs[k]),
                      (unsigned long long)guest_csr(slow, csrs[k]));
        }
    }
}

/* The job twice: the second finds what the first has decoded. */
static void run(const struct job *job, const char *what, unsigned number)
{
    put_job(job);
    for (unsigned i = 0; i < GUESTS; i++) {
        submit(guests[i], true);
    }
    compare(what, number);
    for (unsigned i = 0; i < GUESTS; i++) { /* the rays again; entries behind the others */
        guest_store(guests[i], job->rayq, 4, 0);
        submit(guests[i], false);
    }
    compare(what, number);
}

static uint32_t hits_of(const struct guest *g)
{
    return (uint32_t)guest_load(g, HITQ + 4, 4);
}

/* ---- stacks ---- */

static const float near_box[6] = {-1, -1, 1, 1, 1, 9}, far_box[6] = {-1, -1, 2, 1, 1, 9};
static const float in_front[3][3] = {{-1, -1, 8}, {1, -1, 8}, {0, 2, 8}};

static void put_straight_ray(void)
{
    const uint32_t e[8] = {[5] = ONE_F, [7] = INF_F};

    put_ray(RAYS, 0, e);
}

/* A chain of `full` nodes whose nearest child is the next one, all others leaves; the last node has
 * `last` leaves. */
static void put_chain(unsigned children, unsigned full, unsigned last)
{
    const uint32_t step = children / 4, range = 0x2000;

    put_range(HEAP, range, 0, 1, 0);
    put_triangle(TRIANGLES, in_front);
    put_straight_ray();
    for (uint32_t i = 0; i < full; i++) {
        put_child(HEAP, i * step, 0, NODE, (i + 1) * step, near_box);
        for (unsigned c = 1; c < children; c++) {
            put_child(HEAP, i * step, c, LEAF, range, far_box);
        }
    }
    for (unsigned c = 0; c < last; c++) {
        put_child(HEAP, full * step, c, LEAF, range, far_box);
    }
}

TEST(stacks_may_be_full_but_not_more, "RT-120")
{
    make_guests();
    for (unsigned children = 4; children <= 8; children += 4) {
        const unsigned full =
            (FACET_XPHMG_RT_STACK - 1) / (children - 1); /* nodes until it is full */

        for (unsigned k = 0; k < 2 * children; k++) {
            const unsigned nodes = full - k / children, last = 1 + k % children;
            const struct job job = plain_job(1, children == 8 ? OPT_NODE8 : 0);
            const bool fits = nodes * (children - 1) + last <= FACET_XPHMG_RT_STACK;

            memset(data, 0, sizeof data);
            put_chain(children, nodes, last);
            run(&job, "stack", children * 100 + k);
            CHECK_EQ(last_ec(guests[FAST]), fits ? FACET_XPHMG_RT_EC_NONE : FACET_XPHMG_RT_EC_BVH);
            CHECK_EQ(hits_of(guests[FAST]), fits ? 2 : 0); /* in two jobs */
        }
    }
    free_guests();
}

/* ---- circles ---- */

/* The slow way takes all 2^24 steps, without a watcher in a few seconds. */
TEST(circles_end_at_the_step_limit, "RT-120")
{
    const struct job job = plain_job(1, 0);
    const uint64_t steps = FACET_XPHMG_RT_STEPS;

    if (!harness_long()) {
        harness_skip("2^24 steps: FACET_TEST_LONG=1 runs it");
        return;
    }
    make_guests();
    memset(data, 0, sizeof data);
    put_child(HEAP, 0, 0, NODE, 0, near_box);
    put_straight_ray();
    put_job(&job);
    for (unsigned i = FAST; i < GUESTS; i++) {
        submit(guests[i], true);
        CHECK_EQ(last_ec(guests[i]), FACET_XPHMG_RT_EC_BVH);
        CHECK_EQ(guest_load(guests[i], RAYQ, 4), 0); /* the ray stays */
        CHECK_EQ(boxes(guests[i]), steps);
    }
    free_guests();
}

/* ---- TriRanges ---- */

TEST(ranges_may_have_any_length_and_base, "RT-111 RT-120")
{
    static const uint32_t lengths[] = {0, 1, 3, 4, 5, 7, 8, 63, 64, 65, 66, 67, 68, 127, 200};
    const uint64_t end = GUEST_CODE + GUEST_RAM_BYTES;
    const unsigned rounds = harness_long() ? 2000 : 150;
    unsigned faults = 0, hits = 0;

    make_guests();
    for (unsigned round = 0; round < rounds && !harness_failed(); round++) {
        static const uint32_t options[] = {0, 0, OPT_ANY, OPT_CULL};
        const struct job job = plain_job(12, options[below(4)]);
        const unsigned bad = below(4) == 0 ? below(4) : 4;

        memset(data, 0, sizeof data);
        put_random_triangles(TRIANGLES, 600);
        put_random_triangles(HEAP + 0x10000, 300);
        put_random_triangles(end - 36 * (uint64_t)300, 300);
        put_random_rays(RAYS, job.rays);
        for (unsigned c = 0; c < 4; c++) {
            const float around[6] = {-2, -2, -2, 2, 2, 2};
            const uint64_t bases[] = {0,
                                      TRIANGLES + 36 * (uint64_t)below(300),
                                      HEAP + 0x10000,
                                      end - 36 * (uint64_t)300 - 4 * (uint64_t)below(2),
                                      RAYS};
            const uint32_t length = lengths[below(sizeof lengths / sizeof lengths[0])];
            const uint32_t index = 64 + c;

            put_child(HEAP, 0, c, LEAF, index, around);
            put_range(HEAP, index, below(100), length, bases[below(5)]);
            if (c == bad) {
                static const struct {
                    uint32_t first, count;
                    uint64_t base;
                } wrong[] = {{0xFFFFFFFE, 4, 0},
                             {0, 0xFFFFFFFF, 0},
                             {0, 8, TRIANGLES + 2},
                             {0, 301, GUEST_CODE + GUEST_RAM_BYTES - 36 * 300},
                             {0xFFFFFFFF, 1, TRIANGLES - 36 * UINT64_C(0xFFFFFFFF)},
                             {0xFFFFFFFF, 2, TRIANGLES - 36 * UINT64_C(0xFFFFFFFF)},
                             {3, 2, UINT64_MAX - 107},
                             {0, 4, GUEST_CODE + GUEST_RAM_BYTES - 8}};
                const unsigned k = below(sizeof wrong / sizeof wrong[0]);

                put_range(HEAP, index, wrong[k].first, wrong[k].count, wrong[k].base);
            }
        }
        run(&job, "ranges", round);
        faults += last_ec(guests[SLOW]) == FACET_XPHMG_RT_EC_DESC_FAULT;
        hits += hits_of(guests[SLOW]);
    }
    CHECK(faults > rounds / 16 && hits > rounds);
    free_guests();
}

/* ---- shared nodes, and rays with wild numbers ---- */

enum { LAYERS = 4, IN_LAYER = 5, LEAVES = 40 };

/* A node of a layer links to any of the next, so that most are reached in many ways; in heaps of
 * eight children neighbours have a tile in common. */
static void put_layers(uint64_t heap, unsigned children, unsigned empty)
{
    for (unsigned i = 0; i < LEAVES; i++) {
        put_range(heap, 0x400 + i, below(100), 1 + below(9), 0);
    }
    for (unsigned i = 0; i < 1 + LAYERS * IN_LAYER; i++) {
        const unsigned layer = (i + IN_LAYER - 1) / IN_LAYER; /* 0: the root */
        const unsigned distance = children == 8 && (i == 0 || below(4) == 0) ? 2 : 1;

        for (unsigned c = 0; c < 4 * distance; c++) {
            const bool leaf = layer == LAYERS || below(4) == 0;
            const float to = random_number();
            const unsigned which = below(IN_LAYER), half = which != 0 ? below(2) : 0;
            float box[6];

            for (unsigned a = 0; a < 3; a++) {
                box[a] = to - 0.7f;
                box[3 + a] = to + 0.7f;
            }
            if (below(empty) != 0) {
                put_child(heap,
                          2 * i,
                          c,
                          leaf ? LEAF : NODE,
                          leaf ? 0x400 + below(LEAVES) : 2 * (1 + layer * IN_LAYER + which) - half,
                          box);
            }
        }
    }
}

TEST(nodes_may_be_shared, "RT-111 RT-120")
{
    const unsigned rounds = harness_long() ? 1000 : 40;
    unsigned hits = 0;

    make_guests();
    for (unsigned round = 0; round < rounds && !harness_failed(); round++) {
        const unsigned children = below(2) == 0 ? 4 : 8;
        struct job job =
            plain_job(8, (below(4) == 0 ? OPT_ANY : 0) | (children == 8 ? OPT_NODE8 : 0));

        memset(data, 0, sizeof data);
        job.heap += 64 * (uint64_t)below(2);
        put_random_triangles(TRIANGLES, 120);
        put_layers(job.heap, children, 3);
        put_random_rays(RAYS, job.rays);
        run(&job, "shared", round);
        hits += hits_of(guests[SLOW]);
    }
    CHECK(hits > rounds);
    free_guests();
}

static uint32_t wild_number(uint32_t plain)
{
    static const uint32_t special[] = {
        0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x00800000, 0x00200000, 0x001FFFFF,
        0x21800000, 0x217FFFFF, 0x5D800000, 0x5D800001, 0x7E800000, 0xFF7FFFFF, 0x7F7FFFFF,
        0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0x3F800000, 0x0D000000, 0x72000000};

    switch (below(3)) {
    case 0:
        return special[below(sizeof special / sizeof special[0])] ^ below(2) << 31;
    case 1:
        return (plain & 0x807FFFFF) | below(255) << 23;
    default:
        return plain;
    }
}

TEST(rays_may_be_wild, "RT-111 RT-120 RT-122")
{
    const unsigned rounds = harness_long() ? 2000 : 60;

    make_guests();
    for (unsigned round = 0; round < rounds && !harness_failed(); round++) {
        const struct job job = plain_job(100, below(4) == 0 ? OPT_ANY : 0);
        const unsigned rare = 1 + below(4);

        memset(data, 0, sizeof data);
        put_random_triangles(TRIANGLES, 120);
        put_layers(HEAP, 4, 2);
        put_random_rays(RAYS, job.rays);
        for (unsigned i = 0; i < job.rays; i++) {
            for (unsigned n = below(1 + rare); n > 0; n--) {
                const uint64_t at = RAYS + 64 * (uint64_t)i + 4 * (uint64_t)below(8);

                put(at, 4, wild_number(get32(at)));
            }
        }
        run(&job, "wild", round);
    }
    free_guests();
}

/* ---- the ends of memory ---- */

/* A root at the end of RAM, or partly behind it; leaves in the tiles that follow, some of them and
 * some links behind the end, or far away. */
TEST(heaps_may_end_with_memory, "RT-120")
{
    static const uint32_t far[] = {0xFFFFFFFF, 0xFFFFFFFE, 0x80FFFFF1, 0x00FFFFFF, 0x0280000F};
    const uint64_t end = GUEST_CODE + GUEST_RAM_BYTES;
    const unsigned rounds = harness_long() ? 3000 : 300;
    unsigned faults = 0, hits = 0;

    make_guests();
    for (unsigned round = 0; round < rounds && !harness_failed(); round++) {
        const float around[6] = {-2, -2, -2, 2, 2, 2};
        const unsigned children = below(3) == 0 ? 8 : 4, root = children / 4;
        const uint32_t tiles = root + below(4);
        struct job job = plain_job(6, children == 8 ? OPT_NODE8 : 0);

        memset(data, 0, sizeof data);
        job.heap = end - 128 * (uint64_t)tiles - 64 * (uint64_t)below(3);
        job.heap += below(8) == 0 ? 64 : 0;
        job.triangles = below(3) == 0 ? job.heap - 36 * 12 : TRIANGLES;
        put_random_triangles(job.triangles, 12);
        put_random_rays(RAYS, job.rays);
        for (unsigned c = 0; c < children; c++) {
            const uint32_t room = (uint32_t)(end - job.heap) / 16; /* TriRanges */
            const uint32_t last = room > 8 * root ? room - 1 - below(room - 8 * root) : room - 1;

            if (last >= 8 * root) {
                put_range(job.heap, last, below(8), 1 + below(4), 0);
            }
            put_child(job.heap, 0, c, LEAF, last >= 8 * root ? last : 6, around);
            switch (below(24)) {
            case 0:
                put_child(job.heap, 0, c, 1 + below(2), far[below(5)], around);
                break;
            case 1:
                put_child(job.heap, 0, c, NODE, root + below(tiles), around);
                break;
            case 2:
                put_child(job.heap, 0, c, LEAF, room, around);
                break;
            default:
                break;
            }
        }
        run(&job, "end", round);
        faults += last_ec(guests[SLOW]) == FACET_XPHMG_RT_EC_DESC_FAULT;
        hits += hits_of(guests[SLOW]);
    }
    CHECK_MSG(faults > rounds / 16 && hits > rounds / 4, "%u faults, %u hits", faults, hits);
    free_guests();
}

/* ---- queues anywhere ---- */

/* Everything at random places of a few pages, often across each other. */
TEST(queues_may_lie_in_the_bvh, "RT-120 RT-122 RT-123")
{
    const unsigned rounds = harness_long() ? 6000 : 400;
    unsigned ended = 0, hits = 0;

    make_guests();
    for (unsigned round = 0; round < rounds && !harness_failed(); round++) {
        const unsigned children = below(2) == 0 ? 4 : 8;
        struct job job = plain_job(1 + below(20), children == 8 ? OPT_NODE8 : 0);
        uint64_t *const place[] = {
            &job.rayq, &job.hitq, &job.missq, &job.hits_at, &job.misses_at, &job.rays_at};

        memset(data, 0, sizeof data);
        job.triangles = HEAP + 0x4800 + 4 * (uint64_t)below(64);
        put_random_triangles(job.triangles, 120);
        put_layers(HEAP, children, 3);
        job.hit_cap = 1 + below(2 * job.rays + 2);
        for (unsigned k = 0; k < 6; k++) {
            if (below(3) == 0) { /* nodes, TriRanges, triangles */
                static const uint32_t from[] = {0, 0x4000, 0x4800};
                static const uint32_t size[] = {0x1500, 0x280, 0x10E0};
                const unsigned part = below(3);

                *place[k] = HEAP + from[part] + 16 * (uint64_t)below(size[part] / 16);
            } else if (below(6) == 0) { /* each other */
                *place[k] = *place[below(6)] + 16 * (uint64_t)below(6) - 48;
            }
        }
        put_random_rays(job.rays_at, job.rays);
        run(&job, "queues", round);
        ended += guest_load(guests[SLOW], job.rayq, 4) == job.rays;
        hits += last_ec(guests[SLOW]) == FACET_XPHMG_RT_EC_NONE ? hits_of(guests[SLOW]) : 0;
    }
    CHECK(ended > rounds / 8 && hits > rounds / 8);
    free_guests();
}

/* ---- more leaves than are kept ---- */

enum { SIDE = 18, CELLS = SIDE * SIDE, FIRST_RANGE = 0x2800 };

static float cell_at(unsigned k)
{
    return (float)k - SIDE / 2.0f;
}

static void cell_box(unsigned x0, unsigned x1, unsigned y0, unsigned y1, float box[6])
{
    const float b[6] = {cell_at(x0), cell_at(y0), -1, cell_at(x1), cell_at(y1), 1};

    memcpy(box, b, sizeof b);
}

/* Nodes over columns, then over cells; each cell has eight leaves of 64 triangles, which is the
 * most that is decoded, and all of them do not fit. */
static unsigned
put_cells(uint32_t node, unsigned x0, unsigned x1, unsigned y0, unsigned y1, unsigned used)
{
    const unsigned wide = x1 - x0, high = y1 - y0, parts = wide > 1 || high > 1 ? 8 : 0;
    float box[6];

    if (parts == 0) {
        for (unsigned c = 0; c < 8; c++) {
            const uint32_t range = FIRST_RANGE + (x0 * SIDE + y0) * 8 + c;

            cell_box(x0, x1, y0, y1, box);
            put_child(HEAP, node, c, LEAF, range, box);
            put_range(HEAP, range, below(900), below(8) == 0 ? 5 : 64, 0);
        }
        return used;
    }
    for (unsigned c = 0, at = 0; c < 8; c++) {
        const unsigned all = wide > 1 ? wide : high, next = all * (c + 1) / 8;

        if (next > at) {
            const unsigned xa = wide > 1 ? x0 + at : x0, xb = wide > 1 ? x0 + next : x1;
            const unsigned ya = wide > 1 ? y0 : y0 + at, yb = wide > 1 ? y1 : y0 + next;
            const uint32_t child = used;

            cell_box(xa, xb, ya, yb, box);
            put_child(HEAP, node, c, NODE, child, box);
            used = put_cells(child, xa, xb, ya, yb, used + 2);
        }
        at = next;
    }
    return used;
}

TEST(trees_may_have_more_leaves_than_are_kept, "RT-120 RT-276")
{
    struct job job = plain_job(CELLS, OPT_NODE8);
    unsigned used;

    make_guests();
    memset(data, 0, sizeof data);
    job.hit_cap = 2 * CELLS + 1; /* of two jobs */
    for (unsigned k = 0; k < 1000; k++) {
        float corner[3][3];

        for (unsigned i = 0; i < 9; i++) {
            corner[i / 3][i % 3] = i % 3 == 2 ? random_number() : 9 * random_number();
        }
        put_triangle(TRIANGLES + 36 * (uint64_t)k, corner);
    }
    used = put_cells(0, 0, SIDE, 0, SIDE, 2);
    CHECK(128 * used <= 16 * FIRST_RANGE);
    CHECK(HEAP + 16 * (FIRST_RANGE + 8 * CELLS) <= TRIANGLES);
    for (unsigned i = 0; i < CELLS; i++) {
        const uint32_t e[8] = {facet_float_bits(cell_at(i % SIDE) + 0.5f),
                               facet_float_bits(cell_at(i / SIDE) + 0.5f),
                               facet_float_bits(-2),
                               facet_float_bits(0.001f),
                               facet_float_bits(0.002f),
                               ONE_F,
                               0,
                               INF_F};

        put_ray(RAYS, i, e);
    }
    run(&job, "leaves", 0);
    CHECK(hits_of(guests[FAST]) > CELLS / 2);
    CHECK_EQ(last_ec(guests[FAST]), FACET_XPHMG_RT_EC_NONE);
    free_guests();
}
