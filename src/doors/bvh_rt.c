/* Rays through an RT image as a program would trace them: a hart whose RAM holds the image and the
 * three queues of a job, and one XSUBMIT.RT for every batch of rays (rt-semantics.md 5, 11). */
#include "base/float.h"
#include "doors/bvh.h"
#include "isa/isa.h"
#include "isa/isa_rows.h"
#include "rt/layout.h"

#include <facet/xphmg.h>
#include <inttypes.h>
#include <stdlib.h>

enum {
    RAYS = 16384, /* of one job */
    A0 = 10,      /* holds the address of the descriptor */
    A1 = 11,      /* takes the ticket */
    AT_DESCRIPTOR = 0x100,
    AT_QUEUES = 0x200,
    QUEUE_STEP = 0x40,
    AT_IMAGE = 0x1000,
    PAGE = 4096,
};

enum { RAY_QUEUE, HIT_QUEUE, MISS_QUEUE, QUEUES };

struct facet_door_rt {
    facet_machine *machine;
    struct facet_rtbvh_view view; /* of the hierarchy's bytes */
    uint32_t threads;
    bool plain;
    uint64_t entry_bytes[QUEUES];
    uint64_t entries[QUEUES]; /* addresses */
    uint8_t *buffer;          /* a job's rays, then its hits */
};

void facet_door_rt_destroy(struct facet_door_rt *rt)
{
    if (rt != NULL) {
        facet_machine_destroy(rt->machine);
        free(rt->buffer);
        free(rt);
    }
}

static uint64_t address(uint64_t offset)
{
    return FACET_XPHMG_RAM_BASE + offset;
}

/* ---- making ---- */

/* Where the queues are after the image; the bytes of RAM that all of it takes. */
static uint64_t place(struct facet_door_rt *rt)
{
    uint64_t at = AT_IMAGE + (rt->view.size + PAGE - 1) / PAGE * PAGE;

    rt->entry_bytes[RAY_QUEUE] = facet_rt_ray_entry_bytes(&rt->view.container);
    rt->entry_bytes[HIT_QUEUE] = facet_rt_hit_entry_bytes(&rt->view.container);
    rt->entry_bytes[MISS_QUEUE] = FACET_RT_MISS_BYTES;
    for (unsigned i = 0; i < QUEUES; i++) {
        rt->entries[i] = address(at);
        at += ((RAYS + 1) * rt->entry_bytes[i] + PAGE - 1) / PAGE * PAGE;
    }
    return at;
}

static enum facet_status load(struct facet_door_rt *rt, struct facet_error *err)
{
    const struct facet_rtbvh_header *header = &rt->view.header;
    const uint64_t apply = UINT64_C(1) << 63;
    uint8_t word[4];
    enum facet_status status;

    facet_store_le32(word,
                     facet_isa_rows[FACET_ISA_XPHMG][FACET_XPHMG_XSUBMIT_RT].match |
                         (uint32_t)A0 << 15 | (uint32_t)A1 << 7);
    status = facet_machine_write(rt->machine, 0, address(0), word, sizeof word, err);
    if (status == FACET_OK) {
        status = facet_machine_write(
            rt->machine, 0, address(AT_IMAGE), rt->view.bytes, rt->view.size, err);
    }
    if (status == FACET_OK &&
        (facet_machine_set(rt->machine, 0, "CAP.PREC.ALT", header->alt | apply) != FACET_OK ||
         facet_machine_set(rt->machine, 0, "CAP.PREC.MODE", header->mode | apply) != FACET_OK)) {
        status = facet_fail(err, FACET_ERR_INTERNAL, 0, "CAP.PREC cannot be set");
    }
    return status;
}

static enum facet_status make(const facet_bvh *bvh,
                              const struct facet_bvh_trace_config *how,
                              struct facet_door_rt **out,
                              struct facet_error *err)
{
    struct facet_door_rt *rt = calloc(1, sizeof *rt);
    struct facet_xphmg_config config = {.job_threads = how->threads, .plain = how->plain};
    enum facet_status status;

    if (rt == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for rays");
    }
    rt->threads = how->threads;
    rt->plain = how->plain;
    status = facet_rtbvh_open(bvh->bytes, bvh->size, &rt->view, err);
    for (unsigned c = 0; c < 4; c++) {
        rt->view.numbers.channel[c].plain = how->plain;
    }
    if (status == FACET_OK) {
        config.ram_bytes = place(rt);
        rt->buffer = malloc(RAYS * (rt->entry_bytes[RAY_QUEUE] > rt->entry_bytes[HIT_QUEUE]
                                        ? rt->entry_bytes[RAY_QUEUE]
                                        : rt->entry_bytes[HIT_QUEUE]));
        status = rt->buffer != NULL
                     ? facet_xphmg_create(&config, &rt->machine, err)
                     : facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for rays");
    }
    if (status == FACET_OK) {
        status = load(rt, err);
    }
    if (status != FACET_OK) {
        facet_door_rt_destroy(rt);
        return status;
    }
    *out = rt;
    return FACET_OK;
}

/* ---- a job ---- */

/* Element bits of a number of the caller: those of coordinates and of t have channels of their own.
 */
static uint32_t element_of(const struct facet_door_rt *rt, unsigned i, float value)
{
    const struct facet_conv *conv = &rt->view.numbers.channel[i < 6 ? i % 3 : 3];
    unsigned ignored = 0;
    uint32_t bits = facet_float_bits(value);

    return conv->elem == FACET_FMT_FP32 && conv->scale == 0 ? bits
                                                            : facet_narrow(conv, bits, &ignored);
}

static void
put_ray(const struct facet_door_rt *rt, const float ray[8], uint64_t tag, uint8_t *entry)
{
    const struct facet_container *c = &rt->view.container;

    memset(entry, 0, rt->entry_bytes[RAY_QUEUE]);
    for (unsigned i = 0; i < 8; i++) {
        uint8_t *at = entry + facet_container_offset(c, i);

        facet_store_le(at,
                       c->bytes,
                       facet_container_put(c,
                                           facet_load_le(at, c->bytes),
                                           facet_container_slot(c, i),
                                           element_of(rt, i, ray[i])));
    }
    facet_store_le64(entry + rt->entry_bytes[RAY_QUEUE] - 8, tag);
}

static enum facet_status
put_queue(struct facet_door_rt *rt, unsigned queue, uint32_t tail, struct facet_error *err)
{
    uint8_t bytes[24] = {0};

    facet_store_le32(bytes + 4, tail);
    facet_store_le32(bytes + 8, RAYS + 1);
    facet_store_le64(bytes + 16, rt->entries[queue]);
    return facet_machine_write(
        rt->machine, 0, address(AT_QUEUES + queue * QUEUE_STEP), bytes, sizeof bytes, err);
}

static enum facet_status put_descriptor(struct facet_door_rt *rt,
                                        const struct facet_bvh_trace_config *config,
                                        struct facet_error *err)
{
    const struct facet_rtbvh_header *header = &rt->view.header;
    uint8_t bytes[72] = {0};

    facet_store_le64(bytes, address(AT_IMAGE) + header->heap.offset);
    for (unsigned i = 0; i < QUEUES; i++) {
        facet_store_le64(bytes + 8 + 8 * (size_t)i, address(AT_QUEUES + i * QUEUE_STEP));
    }
    facet_store_le64(bytes + 32, address(AT_IMAGE) + header->triangles.offset);
    facet_store_le32(bytes + 40,
                     (header->children == 8 ? FACET_XPHMG_RT_DESC_OPTS_NODE8 : 0u) |
                         (config->any_hit ? FACET_XPHMG_RT_DESC_OPTS_ANY_HIT : 0u) |
                         (config->cull_back ? FACET_XPHMG_RT_DESC_OPTS_CULL_BACK : 0u));
    return facet_machine_write(rt->machine, 0, address(AT_DESCRIPTOR), bytes, sizeof bytes, err);
}

static float value_of(const struct facet_door_rt *rt, uint64_t container)
{
    unsigned ignored = 0;
    uint32_t bits = facet_widen(&rt->view.numbers.channel[3],
                                facet_container_get(&rt->view.container, container, 0),
                                &ignored);
    float value = facet_float_of(bits);

    return value;
}

static void
read_hit(const struct facet_door_rt *rt, const uint8_t *entry, struct facet_bvh_hit *hit)
{
    const unsigned width = rt->view.container.bytes;
    uint32_t triangle = facet_load_le32(entry + 8);
    bool front = (facet_load_le32(entry + rt->entry_bytes[HIT_QUEUE] - 4) & 1) != 0;

    *hit = (struct facet_bvh_hit){
        .t = value_of(rt, facet_load_le(entry + 16, width)),
        .u = value_of(rt, facet_load_le(entry + 16 + width, width)),
        .v = value_of(rt, facet_load_le(entry + 16 + 2 * (size_t)width, width)),
        .flags = FACET_BVH_HIT | (front ? 0 : (uint32_t)FACET_BVH_BACK),
        .primitive = facet_rtbvh_origin(&rt->view, triangle, 1),
        .geometry = UINT32_MAX,
        .instance = facet_rtbvh_origin(&rt->view, triangle, 0),
        .node = facet_load_le32(entry + 12)};
}

static enum facet_status run(struct facet_door_rt *rt, uint32_t count, struct facet_error *err)
{
    struct facet_stop stop;
    uint8_t head[4] = {0};
    uint64_t stat = 0;
    enum facet_status status;

    for (unsigned i = 0; i < QUEUES; i++) {
        status = put_queue(rt, i, i == RAY_QUEUE ? count : 0, err);
        if (status != FACET_OK) {
            return status;
        }
    }
    (void)facet_machine_set(rt->machine, 0, "pc", address(0));
    (void)facet_machine_set(rt->machine, 0, "a0", address(AT_DESCRIPTOR));
    facet_machine_step(rt->machine, &stop);
    status = facet_machine_read(rt->machine, 0, address(AT_QUEUES), head, sizeof head, err);
    if (status == FACET_OK && facet_load_le32(head) != count) {
        (void)facet_machine_get(rt->machine, 0, "RTSTAT", &stat);
        status = facet_fail(err,
                            FACET_ERR_INPUT,
                            facet_load_le32(head),
                            "the job stopped at a ray; RTSTAT is 0x%" PRIx64,
                            stat);
    }
    return status;
}

/* The hits of a job, by the tags of their rays. */
static enum facet_status take_hits(struct facet_door_rt *rt,
                                   uint32_t count,
                                   struct facet_bvh_hit *hits,
                                   size_t hit_stride,
                                   struct facet_error *err)
{
    const uint64_t size = rt->entry_bytes[HIT_QUEUE];
    const struct facet_bvh_hit miss = facet_door_miss();
    uint8_t queue[8] = {0};
    uint32_t tail;
    enum facet_status status = facet_machine_read(
        rt->machine, 0, address(AT_QUEUES + HIT_QUEUE * QUEUE_STEP), queue, sizeof queue, err);

    for (uint32_t i = 0; i < count; i++) {
        memcpy((char *)hits + i * hit_stride, &miss, sizeof miss);
    }
    tail = facet_load_le32(queue + 4);
    if (status == FACET_OK && tail <= count && tail != 0) {
        status = facet_machine_read(
            rt->machine, 0, rt->entries[HIT_QUEUE], rt->buffer, tail * size, err);
    }
    for (uint32_t i = 0; i < tail && status == FACET_OK; i++) {
        const uint8_t *entry = rt->buffer + i * size;
        uint64_t tag = facet_load_le64(entry);
        struct facet_bvh_hit hit;

        if (tail > count || tag >= count ||
            facet_load_le32(entry + 8) >= rt->view.header.triangle_count) {
            return facet_fail(err, FACET_ERR_INPUT, tag, "a hit of no ray or no triangle");
        }
        read_hit(rt, entry, &hit);
        memcpy((char *)hits + tag * hit_stride, &hit, sizeof hit);
    }
    return status;
}

enum facet_status facet_door_rt_trace(facet_bvh *bvh,
                                      const struct facet_bvh_trace_config *config,
                                      const struct facet_bvh_rays *rays,
                                      struct facet_bvh_hit *hits,
                                      size_t hit_stride,
                                      struct facet_error *err)
{
    struct facet_door_rt *rt = bvh->rt;
    enum facet_status status = FACET_OK;

    if (rt == NULL || rt->threads != config->threads || rt->plain != config->plain) {
        facet_door_rt_destroy(rt);
        bvh->rt = NULL;
        status = make(bvh, config, &bvh->rt, err);
        rt = bvh->rt;
    }
    if (status == FACET_OK) {
        status = put_descriptor(rt, config, err);
    }
    for (size_t first = 0; first < rays->count && status == FACET_OK; first += RAYS) {
        uint32_t count =
            rays->count - first < RAYS ? (uint32_t)(rays->count - first) : (uint32_t)RAYS;
        struct facet_bvh_hit *to =
            (struct facet_bvh_hit *)(void *)((char *)hits + first * hit_stride);

        for (uint32_t i = 0; i < count; i++) {
            float ray[8];

            facet_door_ray_at(rays, first + i, ray);
            put_ray(rt, ray, i, rt->buffer + i * rt->entry_bytes[RAY_QUEUE]);
        }
        status = facet_machine_write(rt->machine,
                                     0,
                                     rt->entries[RAY_QUEUE],
                                     rt->buffer,
                                     count * rt->entry_bytes[RAY_QUEUE],
                                     err);
        if (status == FACET_OK && (status = run(rt, count, err)) == FACET_OK) {
            status = take_hits(rt, count, to, hit_stride, err);
        }
        if (status != FACET_OK && err != NULL) {
            err->where += first;
        }
    }
    return status;
}
