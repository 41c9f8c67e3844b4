/* The parallel back end: the clip rectangle is cut into bands of rows, and each band is filled by
 * one thread, triangle after triangle in submission order. On a regular pipe bands share no byte,
 * so the result does not depend on how many threads there are. */
#include "raster/internal.h"

#include <stdlib.h>

enum {
    BATCH = 4096,         /* triangles collected before their pixels are made */
    MAX_BANDS = 64,       /* enough to keep many threads busy */
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

static void fill_share(void *context, size_t begin, size_t end)
{
    const struct share *s = context;
    const int32_t y0 = s->y0 + (int32_t)begin, y1 = s->y0 + (int32_t)end;

    if (s->triangle != NULL) {
        s->pipe->fill(s->pipe, s->triangle, y0, y1);
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
    int32_t y0, y1;
    int32_t rows;                  /* of a band */
    uint32_t first[MAX_BANDS + 1]; /* where the list of a band begins */
    uint16_t *list;                /* triangles by band: BATCH * MAX_BANDS entries */
    uint32_t count;
    struct raster_triangle triangle[BATCH];
};

void facet_raster_sink_open(struct raster_sink *sink, struct raster_pipe *pipe)
{
    const int32_t rows = pipe->clip.y1 - pipe->clip.y0;
    struct raster_queue *q;

    *sink = (struct raster_sink){.pipe = pipe, .piece = piece_pixels(pipe->unit, false)};
    sink->left = sink->piece;
    if (!shares_out(pipe) || rows <= MIN_ROWS) {
        return;
    }
    q = malloc(sizeof *q);
    if (q == NULL) {
        return; /* one thread will do */
    }
    q->list = malloc(sizeof q->list[0] * BATCH * MAX_BANDS);
    if (q->list == NULL) {
        free(q);
        return;
    }
    q->pipe = pipe;
    q->y0 = pipe->clip.y0;
    q->y1 = pipe->clip.y1;
    q->rows = (rows + MAX_BANDS - 1) / MAX_BANDS;
    q->rows = q->rows < MIN_ROWS ? MIN_ROWS : q->rows;
    q->count = 0;
    sink->queue = q;
    sink->left = sink->piece = piece_pixels(pipe->unit, true);
}

struct raster_triangle *facet_raster_sink_slot(struct raster_sink *sink,
                                               struct raster_triangle *local)
{
    return sink->queue != NULL ? &sink->queue->triangle[sink->queue->count] : local;
}

int32_t
facet_raster_sink_add(struct raster_sink *sink, const struct raster_triangle *t, int32_t from)
{
    const int64_t pixels = (int64_t)(t->box.x1 - t->box.x0) * (t->box.y1 - t->box.y0);

    if (__builtin_expect(pixels >= sink->piece || from > t->box.y0, 0)) {
        facet_raster_sink_flush(sink);
        return facet_raster_fill_wide(sink->pipe, t, from);
    }
    sink->left -= pixels; /* checked by the code that adds triangles */
    if (sink->queue == NULL) {
        sink->pipe->fill(sink->pipe, t, t->box.y0, t->box.y1);
    } else if (++sink->queue->count == BATCH) {
        facet_raster_sink_flush(sink);
    }
    return t->box.y1;
}

static void fill_bands(void *context, size_t begin, size_t end)
{
    const struct raster_queue *q = context;

    for (size_t band = begin; band < end; band++) {
        const int32_t top = q->y0 + (int32_t)band * q->rows, bottom = top + q->rows;

        for (uint32_t i = q->first[band]; i < q->first[band + 1]; i++) {
            const struct raster_triangle *t = &q->triangle[q->list[i]];

            q->pipe->fill(q->pipe,
                          t,
                          t->box.y0 > top ? t->box.y0 : top,
                          t->box.y1 < bottom ? t->box.y1 : bottom);
        }
    }
}

/* A counting sort: stable, so each list is in submission order. */
static size_t sort_into_bands(struct raster_queue *q)
{
    const size_t bands = (size_t)((q->y1 - q->y0 + q->rows - 1) / q->rows);
    uint32_t fill[MAX_BANDS], total = 0;

    memset(fill, 0, sizeof fill);
    for (uint32_t i = 0; i < q->count; i++) {
        const struct raster_box *box = &q->triangle[i].box;

        for (int32_t b = (box->y0 - q->y0) / q->rows; b <= (box->y1 - 1 - q->y0) / q->rows; b++) {
            fill[b]++;
        }
    }
    for (size_t b = 0; b < bands; b++) {
        q->first[b] = total;
        total += fill[b];
        fill[b] = q->first[b];
    }
    q->first[bands] = total;
    for (uint32_t i = 0; i < q->count; i++) {
        const struct raster_box *box = &q->triangle[i].box;

        for (int32_t b = (box->y0 - q->y0) / q->rows; b <= (box->y1 - 1 - q->y0) / q->rows; b++) {
            q->list[fill[b]++] = (uint16_t)i;
        }
    }
    return bands;
}

void facet_raster_sink_flush(struct raster_sink *sink)
{
    struct raster_queue *q = sink->queue;

    if (q != NULL && q->count > 0) {
        const size_t bands = sort_into_bands(q);

        facet_pool_for(q->pipe->unit->pool, bands, 1, fill_bands, q);
        q->count = 0;
    }
}

bool facet_raster_sink_asks(struct raster_sink *sink)
{
    const int64_t pixels = sink->piece - sink->left;

    facet_raster_sink_flush(sink);
    sink->left = sink->piece;
    return facet_raster_asks(sink->pipe->unit, pixels, sink->piece);
}

void facet_raster_sink_close(struct raster_sink *sink)
{
    facet_raster_sink_flush(sink);
    if (sink->pipe->unit->stop != NULL) {
        sink->pipe->unit->stop->pending += sink->piece - sink->left; /* for the next draw */
    }
    if (sink->queue != NULL) {
        free(sink->queue->list);
        free(sink->queue);
        sink->queue = NULL;
    }
}
