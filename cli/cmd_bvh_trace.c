/* `facet bvh trace`: rays from a file through an image, hits to a file. */
#include "cli/bvh.h"

#include "base/bits.h"
#include "base/json.h"
#include "bench/bench.h"
#include "gfx12/tracer.h"
#include "gfx12/vectors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECORD = 32,             /* bytes of a ray and of a hit */
    DEFAULT_STEPS = 1 << 16, /* per ray; an image with a cycle must end soon */
    FIRST_BLOCK = 1024,      /* rays; blocks double while all goes well */
    LAST_BLOCK = 1 << 18,
    MAX_THREADS = 256,
};
#define MAX_RAY_BYTES ((size_t)16 << 30)

struct request {
    struct facet_gfx12_unit unit;
    struct facet_gfx12_tracer_options options;
    struct facet_gfx12_query query;
    uint64_t threads;
};

static bool read_options(const struct cli_args *args, struct request *r)
{
    static const char *const heuristics[] = {"closest", "largest", "midpoint", "none"};
    static const char *const paths[] = {"auto", "reference", "portable", "avx2"};
    const char *word;
    uint64_t flags = 0, mask = 0xFF, steps = DEFAULT_STEPS, grow = 0;
    const float zero[3] = {0};

    r->threads = 0;
    if (!cli_number(args, "flags", 0, 0x3FF, &flags) || !cli_number(args, "mask", 0, 0xFF, &mask) ||
        !cli_number(args, "threads", 1, MAX_THREADS, &r->threads) ||
        !cli_number(args, "max-steps", 1, UINT32_MAX, &steps) ||
        !cli_number(args, "grow", 0, 255, &grow)) {
        return false;
    }
    word = cli_value(args, "profile");
    if (word != NULL) {
        (void)facet_gfx12_profile_from(word, &r->unit.profile); /* the parser has checked it */
    }
    word = cli_value(args, "sort");
    for (uint8_t i = 0; word != NULL && i < 4; i++) {
        if (strcmp(word, heuristics[i]) == 0) {
            r->unit.resource.box_sorting_heuristic = i;
        }
    }
    word = cli_value(args, "path");
    for (int i = 0; word != NULL && i < 4; i++) {
        if (strcmp(word, paths[i]) == 0) {
            r->options.path = (enum facet_gfx12_tracer_path)i;
        }
    }
    r->unit.resource.box_grow_value = (uint8_t)grow;
    facet_gfx12_query_init(&r->query, zero, zero);
    r->query.api_flags = (uint32_t)flags;
    if (cli_given(args, "any-hit")) {
        r->query.api_flags |= FACET_GFX12_API_TERMINATE_ON_FIRST_HIT;
    }
    r->query.instance_mask = (uint32_t)mask;
    r->query.max_steps = steps;
    r->query.address = r->options.address;
    r->query.root = r->options.root;
    return true;
}

static void load_ray(const uint8_t *from, struct facet_gfx12_batch_ray *out)
{
    uint32_t words[8];

    for (unsigned i = 0; i < 8; i++) {
        words[i] = facet_load_le32(from + 4 * (size_t)i);
    }
    memcpy(out, words, sizeof words);
}

static void store_hit(uint8_t *to, const struct facet_gfx12_hit *hit)
{
    const uint32_t none = FACET_GFX12_INVALID;
    bool inside = hit->found && hit->instance != FACET_GFX12_INVALID;
    uint32_t words[8];

    memcpy(&words[0], &hit->t, 4);
    memcpy(&words[1], &hit->u, 4);
    memcpy(&words[2], &hit->v, 4);
    words[3] = hit->found ? hit->primitive_index : none;
    words[4] = hit->found ? hit->geometry_index : none;
    words[5] = inside ? hit->instance_user_data : none;
    words[6] = inside ? hit->instance : none;
    words[7] = (uint32_t)hit->found | (uint32_t)hit->backface << 1;
    for (unsigned i = 0; i < 8; i++) {
        facet_store_le32(to + 4 * (size_t)i, words[i]);
    }
}

struct totals {
    struct facet_gfx12_stats stats;
    uint64_t rays, hits;
    double seconds;
    enum facet_gfx12_tracer_path path;
    unsigned threads;
};

static void add(struct facet_gfx12_stats *sum, const struct facet_gfx12_stats *s)
{
    sum->steps += s->steps;
    sum->boxes += s->boxes;
    sum->primitives += s->primitives;
    sum->instances += s->instances;
    sum->pushes += s->pushes;
    sum->max_depth = s->max_depth > sum->max_depth ? s->max_depth : sum->max_depth;
}

/* Block after block, so that an image that makes rays run to their limit ends soon. */
static enum facet_status trace_blocks(const struct request *r,
                                      const facet_gfx12_tracer *tracer,
                                      facet_pool *pool,
                                      const struct facet_bytes *in,
                                      uint8_t *out,
                                      struct totals *totals,
                                      struct facet_error *err)
{
    size_t count = in->size / RECORD, block = FIRST_BLOCK;
    struct facet_gfx12_batch_ray *rays = malloc(LAST_BLOCK * sizeof rays[0]);
    struct facet_gfx12_hit *hits = malloc(LAST_BLOCK * sizeof hits[0]);
    enum facet_status status = FACET_OK;

    if (rays == NULL || hits == NULL) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    for (size_t at = 0, n; at < count && status == FACET_OK; at += n) {
        struct facet_gfx12_stats stats;

        n = count - at < block ? count - at : block;
        block = block < LAST_BLOCK ? 2 * block : block;
        for (size_t i = 0; i < n; i++) {
            load_ray(in->data + RECORD * (at + i), &rays[i]);
        }
        status = facet_gfx12_tracer_batch(tracer, &r->query, rays, n, hits, pool, &stats, err);
        if (status != FACET_OK) {
            char message[sizeof err->message];

            (void)memcpy(message, err->message, sizeof message);
            status = facet_fail(
                err, status, at + err->where, "ray %" PRIu64 ": %.120s", at + err->where, message);
            break;
        }
        add(&totals->stats, &stats);
        for (size_t i = 0; i < n; i++) {
            store_hit(out + RECORD * (at + i), &hits[i]);
            totals->hits += hits[i].found;
        }
    }
    totals->rays = count;
    free(rays);
    free(hits);
    return status;
}

static void print_totals(const struct totals *t)
{
    const struct facet_gfx12_stats *s = &t->stats;
    double rays = t->rays != 0 ? (double)t->rays : 1.0;

    printf("rays            %" PRIu64 ", %" PRIu64 " hits\n", t->rays, t->hits);
    printf("nodes visited   %" PRIu64 " (%.2f per ray)\n", s->steps, (double)s->steps / rays);
    printf("  box nodes     %" PRIu64 " (%.2f)\n", s->boxes, (double)s->boxes / rays);
    printf("  pairs         %" PRIu64 " (%.2f), %" PRIu64 " triangle tests\n",
           s->primitives,
           (double)s->primitives / rays,
           2 * s->primitives);
    printf("  instances     %" PRIu64 " (%.2f)\n", s->instances, (double)s->instances / rays);
    printf("stack pushes    %" PRIu64 " (%.2f), depth %u at most\n",
           s->pushes,
           (double)s->pushes / rays,
           s->max_depth);
    printf("time            %.3f s on %u thread%s (%.3f million rays per second, %s)\n",
           t->seconds,
           t->threads,
           t->threads == 1 ? "" : "s",
           (double)t->rays / (t->seconds > 0 ? t->seconds : 1e-9) * 1e-6,
           facet_gfx12_tracer_path_name(t->path));
}

static json_t *totals_json(const struct totals *t)
{
    const struct facet_gfx12_stats *s = &t->stats;

    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:I, s:s}",
                     "rays",
                     (json_int_t)t->rays,
                     "hits",
                     (json_int_t)t->hits,
                     "steps",
                     (json_int_t)s->steps,
                     "box_nodes",
                     (json_int_t)s->boxes,
                     "pairs",
                     (json_int_t)s->primitives,
                     "triangle_tests",
                     (json_int_t)(2 * s->primitives),
                     "instance_nodes",
                     (json_int_t)s->instances,
                     "pushes",
                     (json_int_t)s->pushes,
                     "max_depth",
                     (json_int_t)s->max_depth,
                     "seconds",
                     t->seconds,
                     "threads",
                     (json_int_t)t->threads,
                     "path",
                     facet_gfx12_tracer_path_name(t->path));
}

/* Everything that needs the rays in memory. */
static enum facet_status trace_file(const struct cli_args *args,
                                    const struct request *r,
                                    const char *output,
                                    struct totals *totals,
                                    struct facet_error *err)
{
    const char *path = cli_value(args, "rays");
    struct facet_bytes in = {0};
    facet_gfx12_tracer *tracer = NULL;
    facet_pool *pool = NULL;
    uint8_t *out = NULL;
    enum facet_status status = facet_file_read(path, MAX_RAY_BYTES, &in, err);

    if (status == FACET_OK && in.size % RECORD != 0) {
        status = facet_fail(err,
                            FACET_ERR_INPUT,
                            in.size / RECORD * RECORD,
                            "%.100s: %zu bytes: expected records of 32 bytes, the last one is cut",
                            path,
                            in.size);
    }
    if (status == FACET_OK) {
        out = malloc(in.size + 1);
        status = out != NULL ? facet_pool_create((unsigned)r->threads, &pool, err)
                             : facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    if (status == FACET_OK) {
        status = facet_gfx12_tracer_create(&r->unit, &r->options, &tracer, err);
    }
    if (status == FACET_OK) {
        double start = bench_now();

        status = trace_blocks(r, tracer, pool, &in, out, totals, err);
        totals->seconds = bench_now() - start;
        totals->path = facet_gfx12_tracer_used(tracer);
        totals->threads = facet_pool_threads(pool);
    }
    if (status == FACET_OK) {
        status = facet_file_write(output, out, in.size, err);
    }
    facet_gfx12_tracer_destroy(tracer);
    facet_pool_destroy(pool);
    free(out);
    free(in.data);
    return status;
}

static int run_trace(const struct cli_args *args)
{
    const char *output = cli_value(args, "output");
    struct facet_error err = {0};
    struct totals totals = {0};
    struct request r = {0};
    struct bvh_file file;
    enum facet_status status;

    if (cli_value(args, "rays") == NULL || output == NULL) {
        return cli_bad(args, "expected --rays FILE and -o FILE");
    }
    if (args->json && strcmp(output, "-") == 0) {
        return cli_bad(args, "--json and the hits cannot both go to standard output");
    }
    if (!bvh_file_read(args, args->positional[0], &file)) {
        return CLI_BAD;
    }
    facet_gfx12_unit_init(&r.unit, file.view.bytes, file.view.size);
    r.unit.image_address = file.view.base;
    r.options.address = file.view.base;
    r.options.root = file.view.root;
    if (!read_options(args, &r)) {
        bvh_file_free(&file);
        return CLI_BAD;
    }
    status = trace_file(args, &r, output, &totals, &err);
    bvh_file_free(&file);
    if (status != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    if (args->json) {
        return cli_print_json(args, totals_json(&totals));
    }
    if (cli_given(args, "stats") && strcmp(output, "-") != 0) {
        print_totals(&totals);
    }
    return CLI_OK;
}

static const struct cli_option trace_options[] = {
    {"rays", 0, "FILE", "rays: records of eight floats; - is standard input"},
    {"output", 'o', "FILE", "hits: records of eight dwords; - is standard output"},
    {"any-hit", 0, NULL, "stop each ray at its first hit"},
    {"stats", 0, NULL, "print how many nodes were visited"},
    {"threads", 't', "N", "threads (default: one per CPU)"},
    {"flags", 0, "N", "ray flags of the API, ten bits (default 0)"},
    {"mask", 0, "N", "instance mask (default 0xFF)"},
    {"profile", 0, "silicon|gpurt", "rules of the ray unit (default silicon)"},
    {"sort", 0, "closest|largest|midpoint|none", "order of children (default closest)"},
    {"grow", 0, "N", "box_grow_value of the descriptor (default 0)"},
    {"max-steps", 0, "N", "nodes that one ray may visit (default 65536)"},
    {"path", 0, "auto|reference|portable|avx2", "which code traces; all give the same bits"},
    BVH_IMAGE_OPTIONS,
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_bvh_trace = {
    .name = "bvh trace",
    .summary = "trace rays through a GFX12 BVH image",
    .usage =
        "facet bvh trace IMAGE --rays FILE -o FILE [--any-hit] [--stats] [--threads N] [--json]",
    .details =
        "Runs the reference loop of the contract (section 11.1) for every ray and writes the "
        "closest "
        "hits, or with --any-hit the first ones; bit-exact, whatever the number of threads.\n\n"
        "A ray is 32 bytes: ox oy oz tmin dx dy dz tmax as little-endian floats. A hit is 32 "
        "bytes: "
        "t, u and v as floats, then primitive index, geometry index, user data and node ID of the "
        "instance, and a dword with bit 0 hit and bit 1 back face. Without an instance its two "
        "dwords are FFFFFFFF. A ray that hits nothing keeps its tmax as t; u and v are 0, the "
        "indices FFFFFFFF and the last dword is 0. Non-opaque triangles count as hit, procedural "
        "primitives do not.\n\n"
        "An image on which a ray does not end within --max-steps nodes is refused: it has a cycle, "
        "or needs a larger limit.",
    .examples = "facet bvh build examples/gfx12/cube.obj -o cube.gfx12\n"
                "facet bvh trace cube.gfx12 --rays examples/gfx12/rays.bin -o hits.bin --stats",
    .options = trace_options,
    .has_json = true,
    .run = run_trace,
    .operands = "IMAGE",
};
