/* The geometry of a list shared out: each member of a crew takes a stretch of elements, with an
 * assembler, a cache of vertices and a queue of triangles of its own; then the pixels of all queues
 * are filled in their order, and the next stretches begin.
 *
 * A member that cannot go on by itself (its queue is full, a triangle is too large to wait, it
 * would read what the draw writes) leaves the draw as a whole draw is left, in a part of its own.
 * What the members after it did is dropped, and the draw goes on there alone for a while. */
#include "raster/geometry.h"

enum {
    STRETCH = 3 * 768, /* elements of a member: clipping may make more triangles than there were */
    WORTHWHILE = 3 * 64, /* elements of all members */
    ALONE = 3 * 1024,    /* ... by the leader when they were not */
    MOST_MEMBERS = 64,
    THREAD_MEMBERS = 2,
};

struct member {
    struct geo_assembler a;
    struct facet_raster_part part;
    bool finished; /* its stretch */
    struct geo_cache cache;
};

struct crew {
    size_t size;
    struct member *member[MOST_MEMBERS];
};

static void stretch(void *context, size_t begin, size_t end)
{
    struct crew *crew = context;

    for (size_t i = begin; i < end; i++) {
        struct geo_assembler *a = &crew->member[i]->a;

        facet_raster_geo_walk(a);
        crew->member[i]->finished = !a->leaves;
        if (!a->leaves) {
            facet_raster_geo_leave(a);
        }
        facet_raster_sink_sort(&a->sink);
    }
}

/* A member for the elements from `from` on. */
static void hire(const struct geo_assembler *leader, struct member *m, uint64_t from)
{
    const struct raster_sink sink = m->a.sink;
    const uint64_t left = leader->count - from;

    m->part = *leader->part;
    m->part.code = FACET_RASTER_OK;
    m->part.count = 0;
    m->a = *leader;
    m->a.part = &m->part;
    m->a.sink = sink;
    m->a.sink.left = sink.piece;
    m->a.k = from;
    m->a.n = leader->n + (from - leader->k);
    m->a.count = from + (left < STRETCH ? left : STRETCH);
    m->a.counts = (struct facet_raster_counts){0};
    m->a.corner[0] = m->a.corner[1] = m->a.corner[2] = NULL;
    if (leader->cache != NULL) {
        m->a.cache = &m->cache;
        m->cache.mask = GEO_CACHE - 1;
        memset(m->cache.filled, 0, sizeof m->cache.filled);
    }
}

/* The leader is where a member came to, with what it reported. */
static void follow(struct geo_assembler *a, const struct member *m)
{
    const uint8_t code = a->part->code;
    const uint32_t count = a->part->count;

    *a->part = m->part;
    a->part->code = code;
    a->part->count = count;
    facet_raster_report_add(a->part, (enum facet_raster_code)m->part.code, m->part.count);
    facet_raster_counts_add(&a->counts, &m->a.counts, 1);
    a->counts.accesses[FACET_RASTER_INDEX_LOAD] += m->a.counts.accesses[FACET_RASTER_INDEX_LOAD];
}

/* One stretch for each member, from the leader's element on. */
static void together(struct geo_assembler *a, struct crew *crew)
{
    struct raster_sink *sinks[MOST_MEMBERS];
    size_t working = 0, good = 0;
    bool finished = true;

    facet_raster_sink_flush(&a->sink);
    for (uint64_t k = a->k; k < a->count && working < crew->size; k += STRETCH) {
        sinks[working] = &crew->member[working]->a.sink;
        hire(a, crew->member[working++], k);
    }
    facet_pool_for(a->in->unit->pool, working, 1, stretch, crew);
    while (finished && good < working) {
        const struct member *m = crew->member[good++];

        finished = m->finished;
        a->sink.left -= m->a.sink.piece - m->a.sink.left;
        follow(a, m);
    }
    facet_raster_sinks_fill(sinks, good, working);
    facet_raster_geo_restore(a);
    if (!a->leaves && a->sink.left <= 0 && facet_raster_sink_asks(&a->sink)) {
        facet_raster_geo_leave(a);
    }
}

/* Only lists, which begin anew with every third element, and only where that is known beforehand.
 */
static bool can_share(const struct geo_assembler *a)
{
    const struct facet_raster_unit *unit = a->in->unit;
    const uint32_t flags = a->in->draw.flags;
    const bool indexed = (flags & FACET_TILE_GDRAW_FLAGS_INDEXED) != 0;

    return a->k < a->count && facet_pool_threads(unit->pool) > 1 && !unit->plain &&
           a->pipe->regular && !a->strip &&
           (indexed ? (flags & FACET_TILE_GDRAW_FLAGS_RESTART) == 0 : a->in->gstate.stride != 0) &&
           a->count - a->k >= 2 * STRETCH && (unit->stop == NULL || !unit->stop->often);
}

/* As many members as are of use and memory allows. */
static void crew_open(const struct geo_assembler *a, struct crew *crew)
{
    const size_t wanted = THREAD_MEMBERS * (size_t)facet_pool_threads(a->in->unit->pool);

    for (crew->size = 0; crew->size < wanted && crew->size < MOST_MEMBERS; crew->size++) {
        struct member *m = facet_raster_take(a->in->unit, sizeof *m);

        if (m == NULL ||
            !facet_raster_sink_collect(&m->a.sink, a->pipe, piece_pixels(a->in->unit, true))) {
            facet_raster_give(a->in->unit, m);
            return;
        }
        crew->member[crew->size] = m;
    }
}

static void crew_close(const struct facet_raster_unit *unit, struct crew *crew)
{
    for (size_t i = 0; i < crew->size; i++) {
        facet_raster_sink_close(&crew->member[i]->a.sink);
        facet_raster_give(unit, crew->member[i]);
    }
}

/* `elements` of the draw by the leader, or what is left. */
static void alone(struct geo_assembler *a, uint64_t elements)
{
    const uint64_t all = a->count;

    a->count = all - a->k < elements ? all : a->k + elements;
    facet_raster_geo_walk(a);
    a->count = all;
}

void facet_raster_geo_crew(struct geo_assembler *a)
{
    struct crew crew;

    if (!can_share(a)) {
        facet_raster_geo_walk(a);
        return;
    }
    crew_open(a, &crew);
    while (!a->leaves && a->k < a->count) {
        const uint64_t from = a->k, outside = facet_raster_geo_outside(a);

        if (outside > STRETCH) { /* counted at once, however many */
            alone(a, outside);
            continue;
        }
        if (a->n % 3 != 0) {
            alone(a, 3 - a->n % 3);
            continue;
        }
        if (crew.size > 1 && a->count - a->k > STRETCH) {
            together(a, &crew);
        }
        if (!a->leaves && a->k - from < WORTHWHILE) {
            alone(a, ALONE);
        }
    }
    crew_close(a->in->unit, &crew);
}
