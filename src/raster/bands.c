/* The parallel back end: the clip rectangle is cut into bands of rows, and each band is filled by
 * one thread, triangle after triangle in submission order. On a regular pipe bands share no byte,
 * so the result does not depend on how many threads there are. */
#include "raster/internal.h"

enum {
    /* triangles collected before their pixels are made */
    BATCH_ALONE = 256, /* by one thread: they stay in the cache */
    BATCH_SHARED = 4096,
    BATCH_CREW = 1024,
    WORTH_COLLECTING = 16,
    MAX_BANDS = 64,       /* enough to keep many threads busy */
    THREAD_BANDS = 8,     /* for each thread, since bands differ */
    MIN_ROWS = 8,         /* of a band */
    WORTH_SHARING = 8192, /* pixels; smaller areas are done before another thread wakes up */
};

static bool shares_out(const struct raster_pipe *pipe)
{
    return pipe->regular && facet_pool_threads(pipe->unit->pool) > 1;
}

/* ---- one thing ---- */

struct share {
    struct raster_pipe *pipe;
    const struct raster_triangle *triangle;
    const struct raster_rect *rect;
    int32_t y0;
};

static const uint16_t only = 0;

static void fill_share(void *context, size_t begin, size_t end)
{
    const struct share *s = context;
    const int32_t y0 = s->y0 + (int32_t)begin, y1 = s->y0 + (int32_t)end;

    if (s->triangle != NULL) {
        s->pipe->fill(s->pipe, s->triangle, &only, 1, y0, y1);
    } else {
        facet_raster_rect_rows(s->pipe, s->rect, y0, y1);
    }
}

static int32_t fill_rows(struct share *s, const struct raster_box *box, int32_t from)
{
    const struct facet_raster_unit *unit = s->pipe->unit;
    const bool shared = shares_out(s->pipe);
    const int64_t width = box->x1 - box->x0, piece = piece_pixels(unit, shared);

    s->y0 = from > box->y0 ? from : box->y0;
    while (s->y0 < box->y1) {
        const int64_t left = box->y1 - s->y0, most = piece > width ? piece / width : 1;
        const int32_t rows = (int32_t)(left < most ? left : most);
        const bool many = shared && rows * width > WORTH_SHARING;

        facet_pool_for(
            many ? unit->pool : NULL, (size_t)rows, many ? MIN_ROWS : (size_t)rows, fill_share, s);
        s->y0 += rows;
        if (facet_raster_asks(unit, rows * width, piece)) {
            break;
        }
    }
    return s->y0;
}

int32_t
facet_raster_fill_wide(struct raster_pipe *pipe, const struct raster_triangle *t, int32_t from)
{
    struct share s = {.pipe = pipe, .triangle = t};

    return fill_rows(&s, &t->box, from);
}

int32_t facet_raster_rect_fill(struct raster_pipe *pipe, const struct raster_rect *r, int32_t from)
{
    struct share s = {.pipe = pipe, .rect = r};

    return fill_rows(&s, &pipe->clip, from);
}

/* ---- many triangles ---- */

struct raster_queue {
    struct raster_pipe *pipe;
    size_t bands;
    int32_t rows;                  /* of a band */
    uint32_t first[MAX_BANDS + 1]; /* where the list of a band begins */
    uint16_t *list;                /* triangles by band */
    struct raster_triangle triangle[];
};

/* False when there is no memory. */
static bool queue_new(struct raster_sink *sink, uint32_t capacity)
{
    const struct raster_box *clip = &sink->pipe->clip;
    const unsigned threads = facet_pool_threads(sink->pipe->unit->pool);
    const int32_t rows = clip->y1 - clip->y0;
    const int32_t most = threads == 1                         ? 1
                         : threads < MAX_BANDS / THREAD_BANDS ? (int32_t)threads * THREAD_BANDS
                                                              : MAX_BANDS;
    int32_t band = (rows + most - 1) / most;
    struct raster_queue *q =
        facet_raster_take(sink->pipe->unit, sizeof *q + capacity * sizeof q->triangle[0]);

    if (q == NULL) {
        return false;
    }
    band = band < MIN_ROWS ? MIN_ROWS : band + band % 2;
    q->pipe = sink->pipe;
    q->rows = band;
    q->bands = (size_t)((rows + band - 1) / band);
    q->list = facet_raster_take(sink->pipe->unit, sizeof q->list[0] * capacity * q->bands);
    if (q->list == NULL) {
        facet_raster_give(sink->pipe->unit, q);
        return false;
    }
    sink->queue = q;
    sink->slot = q->triangle;
    sink->end = q->triangle + capacity;
    return true;
}

void facet_raster_sink_open(struct raster_sink *sink, struct raster_pipe *pipe, uint32_t elements)
{
    const uint32_t most = shares_out(pipe) ? BATCH_SHARED : BATCH_ALONE;

    *sink = (struct raster_sink){.pipe = pipe, .piece = piece_pixels(pipe->unit, false)};
    if (pipe->regular && (shares_out(pipe) || !pipe->unit->plain) &&
        elements >= 3 * WORTH_COLLECTING) {
        (void)queue_new(sink, elements / 3 < most ? elements / 3 : most);
    }
    if (sink->queue != NULL) {
        sink->piece = piece_pixels(pipe->unit, shares_out(pipe));
    }
    sink->left = sink->piece;
}

bool facet_raster_sink_collect(struct raster_sink *sink, struct raster_pipe *pipe, int64_t pixels)
{
    *sink = (struct raster_sink){.pipe = pipe, .piece = pixels, .left = pixels, .collects = true};
    return queue_new(sink, BATCH_CREW);
}

int32_t facet_raster_sink_add_slowly(struct raster_sink *sink,
                                     const struct raster_triangle *t,
                                     int32_t from)
{
    const int64_t pixels = (int64_t)(t->box.x1 - t->box.x0) * (t->box.y1 - t->box.y0);
    const bool part = pixels >= sink->piece || from > t->box.y0;

    if (sink->collects && (part || t != sink->slot)) {
        return from;
    }
    if (part) {
        facet_raster_sink_flush(sink);
        return facet_raster_fill_wide(sink->pipe, t, from);
    }
    sink->left -= pixels;
    if (sink->queue == NULL) {
        sink->pipe->fill(sink->pipe, t, &only, 1, t->box.y0, t->box.y1);
        return t->box.y1;
    }
    sink->slot++; /* to the end */
    if (!sink->collects) {
        facet_raster_sink_flush(sink);
    }
    return t->box.y1;
}

/* A counting sort: stable, so each list is in submission order. */
void facet_raster_sink_sort(struct raster_sink *sink)
{
    struct raster_queue *q = sink->queue;
    const uint32_t count = (uint32_t)(sink->slot - q->triangle);
    const int32_t y0 = q->pipe->clip.y0;
    uint32_t fill[MAX_BANDS] = {0}, total = 0;

    for (uint32_t i = 0; i < count && q->bands > 1; i++) {
        const struct raster_box *box = &q->triangle[i].box;

        for (int32_t b = (box->y0 - y0) / q->rows; b <= (box->y1 - 1 - y0) / q->rows; b++) {
            fill[b]++;
        }
    }
    for (size_t b = 0; b < q->bands; b++) {
        q->first[b] = total;
        total += fill[b];
        fill[b] = q->first[b];
    }
    q->first[q->bands] = q->bands > 1 ? total : count;
    for (uint32_t i = 0; i < count; i++) {
        const struct raster_box *box = &q->triangle[i].box;

        if (q->bands == 1) {
            q->list[i] = (uint16_t)i;
            continue;
        }
        for (int32_t b = (box->y0 - y0) / q->rows; b <= (box->y1 - 1 - y0) / q->rows; b++) {
            q->list[fill[b]++] = (uint16_t)i;
        }
    }
}

struct sinks {
    struct raster_sink *const *sink;
    size_t good;
};

static void fill_bands(void *context, size_t begin, size_t end)
{
    const struct sinks *s = context;

    for (size_t band = begin; band < end; band++) {
        for (size_t i = 0; i < s->good; i++) {
            const struct raster_queue *q = s->sink[i]->queue;
            const int32_t top = q->pipe->clip.y0 + (int32_t)band * q->rows;

            q->pipe->fill(q->pipe,
                          q->triangle,
                          q->list + q->first[band],
                          q->first[band + 1] - q->first[band],
                          top,
                          top + q->rows);
        }
    }
}

void facet_raster_sinks_fill(struct raster_sink *const *sinks, size_t good, size_t count)
{
    struct raster_queue *q = sinks[0]->queue;
    struct sinks s = {sinks, good};

    facet_pool_for(q->pipe->unit->pool, q->bands, 1, fill_bands, &s);
    for (size_t i = 0; i < count; i++) {
        sinks[i]->slot = sinks[i]->queue->triangle;
    }
}

void facet_raster_sink_flush(struct raster_sink *sink)
{
    if (sink->queue != NULL && sink->slot > sink->queue->triangle) {
        facet_raster_sink_sort(sink);
        facet_raster_sinks_fill(&sink, 1, 1);
    }
}

bool facet_raster_sink_asks(struct raster_sink *sink)
{
    const int64_t pixels = sink->piece - sink->left;

    if (sink->collects) {
        return true;
    }
    facet_raster_sink_flush(sink);
    sink->left = sink->piece;
    return facet_raster_asks(sink->pipe->unit, pixels, sink->piece);
}

void facet_raster_sink_close(struct raster_sink *sink)
{
    if (!sink->collects) {
        facet_raster_sink_flush(sink);
        if (sink->pipe->unit->stop != NULL) {
            sink->pipe->unit->stop->pending += sink->piece - sink->left; /* for the next draw */
        }
    }
    if (sink->queue != NULL) {
        facet_raster_give(sink->pipe->unit, sink->queue->list);
        facet_raster_give(sink->pipe->unit, sink->queue);
        sink->queue = NULL;
    }
}
