/* See rt_machine.h. */
#include "bench/rt_machine.h"

#include "base/bits.h"
#include "bench/hart_setup.h"
#include "render/rt_input.h"

#include <facet/xphmg.h>
#include <stdlib.h>
#include <string.h>

enum {
    ENTRY_RAY = 64,
    ENTRY_HIT = 32,
    ENTRY_MISS = 16,
    /* from the start of RAM */
    AT_DESCRIPTOR = 0x1000,
    AT_RAYQ = 0x1100,
    AT_HITQ = 0x1200,
    AT_MISSQ = 0x1300,
    AT_IMAGE = 0x2000,
    OPT_NODE8 = 1 << 5,
    PAGE = 4096,
};

struct rt_machine {
    facet_machine *machine;
    const struct facet_rtbvh_image *image;
    struct facet_rtbvh_header header;
    size_t room, count;
    uint64_t rays, hits, misses; /* addresses of the slots */
};

enum facet_status rt_scene_make(const char *name,
                                uint32_t size,
                                unsigned children,
                                struct rt_scene *out,
                                struct facet_error *err)
{
    const struct facet_rtbvh_options options = {.children = children, .element = FACET_FMT_FP32};
    struct facet_render_rt_input input = {NULL, 0};
    struct facet_rtbvh_report report;
    enum facet_status status;

    memset(out, 0, sizeof *out);
    facet_scene_init(&out->trace.scene);
    status = bench_scene_make(name, size, &out->trace.scene, err);
    if (status == FACET_OK) {
        status = facet_render_rt_input_make(&out->trace.scene, &input, err);
    }
    if (status == FACET_OK) {
        status = facet_rtbvh_build(
            input.triangles, input.count, &options, NULL, NULL, &out->image, &report, err);
    }
    free(input.triangles);
    return status;
}

void rt_scene_free(struct rt_scene *s)
{
    free(s->image.bytes);
    facet_scene_free(&s->trace.scene);
    memset(s, 0, sizeof *s);
}

/* ---- the machine ---- */

static const char program[] = "xsubmit.rt a1, a0\n xfence.wait a1\n";

static enum facet_status
put(struct rt_machine *m, uint64_t at, const void *bytes, size_t size, struct facet_error *err)
{
    return facet_machine_write(m->machine, 0, FACET_XPHMG_RAM_BASE + at, bytes, size, err);
}

static enum facet_status
put_queue(struct rt_machine *m, uint64_t at, uint32_t tail, uint64_t base, struct facet_error *err)
{
    uint8_t bytes[24] = {0};

    facet_store_le32(bytes + 4, tail);
    facet_store_le32(bytes + 8, (uint32_t)m->room + 1);
    facet_store_le64(bytes + 16, base);
    return put(m, at, bytes, sizeof bytes, err);
}

static enum facet_status
put_descriptor(struct rt_machine *m, uint32_t opts, struct facet_error *err)
{
    const uint64_t ram = FACET_XPHMG_RAM_BASE, image = ram + AT_IMAGE;
    uint8_t bytes[72] = {0};

    facet_store_le64(bytes, image + m->header.heap.offset);
    facet_store_le64(bytes + 8, ram + AT_RAYQ);
    facet_store_le64(bytes + 16, ram + AT_HITQ);
    facet_store_le64(bytes + 24, ram + AT_MISSQ);
    facet_store_le64(bytes + 32, image + m->header.triangles.offset);
    facet_store_le32(bytes + 40, opts | (m->header.children == 8 ? OPT_NODE8 : 0u));
    return put(m, AT_DESCRIPTOR, bytes, sizeof bytes, err);
}

static enum facet_status
set_up(struct rt_machine *m, const struct rt_machine_config *config, struct facet_error *err)
{
    const uint64_t apply = UINT64_C(1) << 63, cap = config->rays + 1;
    const uint64_t image_end = facet_align_up(AT_IMAGE + m->image->size, PAGE);
    const uint64_t hits = image_end + facet_align_up(cap * ENTRY_RAY, PAGE);
    const uint64_t misses = hits + facet_align_up(cap * ENTRY_HIT, PAGE);
    struct facet_xphmg_config machine = {.ram_bytes =
                                             misses + facet_align_up(cap * ENTRY_MISS, PAGE) + PAGE,
                                         .job_threads = config->threads};
    enum facet_status status = facet_xphmg_create(&machine, &m->machine, err);

    m->room = config->rays;
    m->rays = FACET_XPHMG_RAM_BASE + image_end;
    m->hits = FACET_XPHMG_RAM_BASE + hits;
    m->misses = FACET_XPHMG_RAM_BASE + misses;
    if (status != FACET_OK ||
        (status = hart_put_program(m->machine, program, NULL, err)) != FACET_OK ||
        (status = put_descriptor(m, config->opts, err)) != FACET_OK ||
        (status = put(m, AT_IMAGE, m->image->bytes, m->image->size, err)) != FACET_OK ||
        (status = hart_put_csr(m->machine, "CAP.PREC.ALT", m->header.alt | apply, err)) !=
            FACET_OK) {
        return status;
    }
    return hart_put_csr(m->machine, "CAP.PREC.MODE", m->header.mode | apply, err);
}

enum facet_status rt_machine_create(const struct facet_rtbvh_image *image,
                                    const struct rt_machine_config *config,
                                    struct rt_machine **out,
                                    struct facet_error *err)
{
    struct rt_machine *m = calloc(1, sizeof *m);
    struct facet_rtbvh_view view;
    enum facet_status status;

    *out = NULL;
    if (m == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    m->image = image;
    status = facet_rtbvh_open(image->bytes, image->size, &view, err);
    if (status == FACET_OK) {
        m->header = view.header;
        status = set_up(m, config, err);
    }
    if (status != FACET_OK) {
        rt_machine_destroy(m);
        return status;
    }
    *out = m;
    return FACET_OK;
}

void rt_machine_destroy(struct rt_machine *m)
{
    if (m != NULL) {
        facet_machine_destroy(m->machine);
        free(m);
    }
}

uint64_t rt_machine_csr(const struct rt_machine *m, const char *name)
{
    struct facet_value value = {0, 0};

    (void)facet_machine_csr_read(
        m->machine, 0, facet_machine_find_csr(m->machine, 0, name), &value, NULL);
    return value.lo;
}

/* ---- jobs ---- */

enum facet_status rt_machine_load(struct rt_machine *m,
                                  const struct facet_gfx12_batch_ray *rays,
                                  size_t count,
                                  struct facet_error *err)
{
    uint8_t *bytes = calloc(count + 1, ENTRY_RAY);
    enum facet_status status;

    if (bytes == NULL || count > m->room) {
        free(bytes);
        return facet_fail(err, FACET_ERR_MEMORY, count, "no room for %zu rays", count);
    }
    for (size_t i = 0; i < count; i++) {
        const struct facet_gfx12_batch_ray *ray = &rays[i];
        const float record[8] = {ray->origin[0],
                                 ray->origin[1],
                                 ray->origin[2],
                                 ray->direction[0],
                                 ray->direction[1],
                                 ray->direction[2],
                                 ray->t_min,
                                 ray->t_max};

        for (size_t k = 0; k < 8; k++) {
            uint32_t bits;

            memcpy(&bits, &record[k], sizeof bits);
            facet_store_le32(bytes + i * ENTRY_RAY + 4 * k, bits);
        }
        facet_store_le64(bytes + i * ENTRY_RAY + ENTRY_RAY - 8, i);
    }
    m->count = count;
    status = put(m, m->rays - FACET_XPHMG_RAM_BASE, bytes, count * ENTRY_RAY, err);
    free(bytes);
    return status;
}

enum facet_status rt_machine_run(struct rt_machine *m, struct facet_error *err)
{
    const struct facet_run run = {.budget = 2};
    struct facet_stop stop;
    uint8_t head[4] = {0};
    enum facet_status status;

    if ((status = put_queue(m, AT_RAYQ, (uint32_t)m->count, m->rays, err)) != FACET_OK ||
        (status = put_queue(m, AT_HITQ, 0, m->hits, err)) != FACET_OK ||
        (status = put_queue(m, AT_MISSQ, 0, m->misses, err)) != FACET_OK ||
        (status = hart_put_reg(m->machine, "pc", FACET_XPHMG_RAM_BASE, err)) != FACET_OK ||
        (status = hart_put_reg(m->machine, "a0", FACET_XPHMG_RAM_BASE + AT_DESCRIPTOR, err)) !=
            FACET_OK) {
        return status;
    }
    facet_machine_run(m->machine, &run, &stop);
    status =
        facet_machine_read(m->machine, 0, FACET_XPHMG_RAM_BASE + AT_RAYQ, head, sizeof head, err);
    if (status == FACET_OK &&
        (stop.reason != FACET_STOP_BUDGET || stop.pc != FACET_XPHMG_RAM_BASE + 8 ||
         facet_load_le32(head) != m->count)) {
        status = facet_fail(err,
                            FACET_ERR_FAULT,
                            facet_load_le32(head),
                            "the job did %u rays of %zu, RTSTAT %llx",
                            facet_load_le32(head),
                            m->count,
                            (unsigned long long)rt_machine_csr(m, "RTSTAT"));
    }
    return status;
}

static void read_hit(const struct rt_machine *m, const uint8_t entry[ENTRY_HIT], struct rt_hit *hit)
{
    const uint8_t *origin;

    *hit = (struct rt_hit){.found = true,
                           .front = (facet_load_le32(entry + 28) & 1) != 0,
                           .t = facet_load_le32(entry + 16),
                           .u = facet_load_le32(entry + 20),
                           .v = facet_load_le32(entry + 24),
                           .triangle = facet_load_le32(entry + 8),
                           .leaf = facet_load_le32(entry + 12)};
    origin =
        m->image->bytes + m->header.origins.offset + (uint64_t)hit->triangle * FACET_RTBVH_ORIGIN;
    hit->instance = facet_load_le32(origin);
    hit->primitive = facet_load_le32(origin + 4);
}

enum facet_status
rt_machine_hits(struct rt_machine *m, struct rt_hit *hits, struct facet_error *err)
{
    uint8_t queues[2][8] = {{0}};
    uint32_t tails[2];
    enum facet_status status = FACET_OK;

    memset(hits, 0, m->count * sizeof *hits);
    for (unsigned i = 0; i < 2 && status == FACET_OK; i++) {
        status = facet_machine_read(
            m->machine, 0, FACET_XPHMG_RAM_BASE + (i == 0 ? AT_HITQ : AT_MISSQ), queues[i], 8, err);
        tails[i] = facet_load_le32(queues[i] + 4);
    }
    if (status == FACET_OK && (size_t)tails[0] + tails[1] != m->count) {
        return facet_fail(err,
                          FACET_ERR_FAULT,
                          0,
                          "%u hits and %u misses of %zu rays",
                          tails[0],
                          tails[1],
                          m->count);
    }
    for (uint32_t i = 0; i < tails[0] && status == FACET_OK; i++) {
        uint8_t entry[ENTRY_HIT];
        uint64_t tag;

        status = facet_machine_read(
            m->machine, 0, m->hits + (uint64_t)i * ENTRY_HIT, entry, sizeof entry, err);
        tag = facet_load_le64(entry);
        if (status == FACET_OK &&
            (tag >= m->count || facet_load_le32(entry + 8) >= m->header.triangle_count)) {
            return facet_fail(err, FACET_ERR_FAULT, i, "hit %u belongs to no ray", i);
        }
        read_hit(m, entry, &hits[tag]);
    }
    return status;
}

void rt_hits_for_rays(const struct rt_hit *hits, size_t count, struct facet_gfx12_hit *out)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = (struct facet_gfx12_hit){.found = hits[i].found,
                                          .instance_user_data = hits[i].instance,
                                          .primitive_index = hits[i].primitive};
        memcpy(&out[i].t, &hits[i].t, sizeof out[i].t);
    }
}
