/* See embree_peer.h. The device runs with one thread: the rays are traced on the caller's. */
#include "bench/embree_peer.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FACET_HAVE_EMBREE

#include <dlfcn.h>
#include <embree3/rtcore.h>

/* The functions used, by their own names. */
#define FUNCTIONS(F)                                                                               \
    F(rtcNewDevice)                                                                                \
    F(rtcReleaseDevice)                                                                            \
    F(rtcGetDeviceProperty)                                                                        \
    F(rtcNewScene)                                                                                 \
    F(rtcReleaseScene)                                                                             \
    F(rtcSetSceneFlags)                                                                            \
    F(rtcSetSceneBuildQuality)                                                                     \
    F(rtcCommitScene)                                                                              \
    F(rtcNewGeometry)                                                                              \
    F(rtcReleaseGeometry)                                                                          \
    F(rtcSetNewGeometryBuffer)                                                                     \
    F(rtcSetGeometryInstancedScene)                                                                \
    F(rtcSetGeometryTransform)                                                                     \
    F(rtcSetGeometryTimeStepCount)                                                                 \
    F(rtcSetGeometryBuildQuality)                                                                  \
    F(rtcCommitGeometry)                                                                           \
    F(rtcAttachGeometryByID)                                                                       \
    F(rtcIntersect1)                                                                               \
    F(rtcIntersect8)                                                                               \
    F(rtcIntersect1M)                                                                              \
    F(rtcOccluded1)

struct embree_peer {
    void *library;
    RTCDevice device;
    RTCScene scene;
    RTCScene *meshes; /* of the instances */
    uint32_t mesh_count;
    bool instanced;
    char name[32];
#define MEMBER(name) __typeof__(&(name)) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
};

static enum facet_status load(struct embree_peer *p, struct facet_error *err)
{
    p->library = dlopen("libembree3.so.3", RTLD_NOW | RTLD_LOCAL);
    if (p->library == NULL) {
        return facet_fail(err, FACET_ERR_IO, 0, "libembree3.so.3 is not installed");
    }
#define LOAD(name)                                                                                 \
    *(void **)&p->name = dlsym(p->library, #name);                                                 \
    if (p->name == NULL) {                                                                         \
        return facet_fail(err, FACET_ERR_IO, 0, "libembree3.so.3 has no " #name);                  \
    }
    FUNCTIONS(LOAD)
#undef LOAD
    return FACET_OK;
}

static RTCScene new_scene(const struct embree_peer *p, bool robust)
{
    RTCScene scene = p->rtcNewScene(p->device);

    p->rtcSetSceneFlags(scene, robust ? RTC_SCENE_FLAG_ROBUST : RTC_SCENE_FLAG_NONE);
    p->rtcSetSceneBuildQuality(scene, RTC_BUILD_QUALITY_HIGH);
    return scene;
}

static bool add_mesh(const struct embree_peer *p, RTCScene scene, const struct facet_scene_mesh *m)
{
    RTCGeometry geometry = p->rtcNewGeometry(p->device, RTC_GEOMETRY_TYPE_TRIANGLE);
    void *positions = p->rtcSetNewGeometryBuffer(
        geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 3 * sizeof(float), m->vertex_count);
    void *indices = p->rtcSetNewGeometryBuffer(geometry,
                                               RTC_BUFFER_TYPE_INDEX,
                                               0,
                                               RTC_FORMAT_UINT3,
                                               3 * sizeof(uint32_t),
                                               m->triangle_count);

    if (positions == NULL || indices == NULL) {
        p->rtcReleaseGeometry(geometry);
        return false;
    }
    memcpy(positions, m->positions, 3 * sizeof(float) * (size_t)m->vertex_count);
    memcpy(indices, m->indices, 3 * sizeof(uint32_t) * (size_t)m->triangle_count);
    p->rtcSetGeometryBuildQuality(geometry, RTC_BUILD_QUALITY_HIGH);
    p->rtcCommitGeometry(geometry);
    p->rtcAttachGeometryByID(scene, geometry, 0);
    p->rtcReleaseGeometry(geometry);
    p->rtcCommitScene(scene);
    return true;
}

static void add_instance(const struct embree_peer *p,
                         RTCScene mesh,
                         const struct facet_scene_instance *in,
                         uint32_t id)
{
    RTCGeometry geometry = p->rtcNewGeometry(p->device, RTC_GEOMETRY_TYPE_INSTANCE);

    p->rtcSetGeometryInstancedScene(geometry, mesh);
    p->rtcSetGeometryTimeStepCount(geometry, 1);
    p->rtcSetGeometryTransform(geometry, 0, RTC_FORMAT_FLOAT3X4_ROW_MAJOR, in->transform);
    p->rtcCommitGeometry(geometry);
    p->rtcAttachGeometryByID(p->scene, geometry, id);
    p->rtcReleaseGeometry(geometry);
}

static bool is_flat(const struct facet_scene *scene)
{
    static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

    return scene->instance_count == 1 &&
           memcmp(scene->instances[0].transform, identity, sizeof identity) == 0;
}

static enum facet_status
fill(struct embree_peer *p, const struct facet_scene *scene, bool robust, struct facet_error *err)
{
    bool good = true;

    p->device = p->rtcNewDevice("threads=1,set_affinity=0");
    if (p->device == NULL) {
        return facet_fail(err, FACET_ERR_IO, 0, "Embree cannot create a device");
    }
    (void)snprintf(p->name,
                   sizeof p->name,
                   "Embree %d.%d.%d",
                   (int)p->rtcGetDeviceProperty(p->device, RTC_DEVICE_PROPERTY_VERSION_MAJOR),
                   (int)p->rtcGetDeviceProperty(p->device, RTC_DEVICE_PROPERTY_VERSION_MINOR),
                   (int)p->rtcGetDeviceProperty(p->device, RTC_DEVICE_PROPERTY_VERSION_PATCH));
    p->scene = new_scene(p, robust);
    p->instanced = !is_flat(scene);
    if (!p->instanced) {
        good = add_mesh(p, p->scene, &scene->meshes[scene->instances[0].mesh]);
    } else {
        p->meshes = calloc(scene->mesh_count, sizeof p->meshes[0]);
        good = p->meshes != NULL;
        for (uint32_t i = 0; good && i < scene->mesh_count; i++) {
            p->meshes[i] = new_scene(p, robust);
            p->mesh_count = i + 1;
            good = add_mesh(p, p->meshes[i], &scene->meshes[i]);
        }
        for (uint32_t i = 0; good && i < scene->instance_count; i++) {
            add_instance(p, p->meshes[scene->instances[i].mesh], &scene->instances[i], i);
        }
        p->rtcCommitScene(p->scene);
    }
    return good ? FACET_OK : facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for Embree's scene");
}

enum facet_status embree_peer_create(const struct facet_scene *scene,
                                     bool robust,
                                     struct embree_peer **out,
                                     struct facet_error *err)
{
    struct embree_peer *p = calloc(1, sizeof *p);
    enum facet_status status;

    *out = NULL;
    if (p == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    status = load(p, err);
    if (status == FACET_OK) {
        status = fill(p, scene, robust, err);
    }
    if (status != FACET_OK) {
        embree_peer_destroy(p);
        return status;
    }
    *out = p;
    return FACET_OK;
}

void embree_peer_destroy(struct embree_peer *p)
{
    if (p == NULL) {
        return;
    }
    if (p->scene != NULL) {
        p->rtcReleaseScene(p->scene);
    }
    for (uint32_t i = 0; i < p->mesh_count; i++) {
        p->rtcReleaseScene(p->meshes[i]);
    }
    if (p->device != NULL) {
        p->rtcReleaseDevice(p->device);
    }
    /* The library stays loaded: its scheduler's threads may still be on their way out. */
    free(p->meshes);
    free(p);
}

static void set_ray(const struct facet_gfx12_batch_ray *from, struct RTCRay *to)
{
    to->org_x = from->origin[0];
    to->org_y = from->origin[1];
    to->org_z = from->origin[2];
    to->tnear = from->t_min;
    to->dir_x = from->direction[0];
    to->dir_y = from->direction[1];
    to->dir_z = from->direction[2];
    to->tfar = from->t_max;
    to->time = 0;
    to->mask = 0xFFFFFFFF;
    to->id = 0;
    to->flags = 0;
}

void embree_peer_trace(const struct embree_peer *p,
                       const struct facet_gfx12_batch_ray *rays,
                       size_t count,
                       struct embree_hit *hits)
{
    struct RTCIntersectContext context;

    rtcInitIntersectContext(&context);
    for (size_t i = 0; i < count; i++) {
        struct RTCRayHit r;

        set_ray(&rays[i], &r.ray);
        r.hit.geomID = RTC_INVALID_GEOMETRY_ID;
        r.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
        p->rtcIntersect1(p->scene, &context, &r);
        hits[i].found = r.hit.geomID != RTC_INVALID_GEOMETRY_ID;
        hits[i].t = r.ray.tfar;
        hits[i].u = r.hit.u;
        hits[i].v = r.hit.v;
        hits[i].primitive = r.hit.primID;
        hits[i].instance = p->instanced ? r.hit.instID[0] : 0;
    }
}

void embree_peer_occluded(const struct embree_peer *p,
                          const struct facet_gfx12_batch_ray *rays,
                          size_t count,
                          struct embree_hit *hits)
{
    struct RTCIntersectContext context;

    rtcInitIntersectContext(&context);
    for (size_t i = 0; i < count; i++) {
        struct RTCRay ray;

        set_ray(&rays[i], &ray);
        p->rtcOccluded1(p->scene, &context, &ray);
        hits[i].found = ray.tfar < 0;
    }
}

/* ---- packets and streams ---- */

enum { PACKET = 8, PIECE = 256 }; /* rays of a packet, and of a call of rtcIntersect1M */

struct embree_stream {
    const struct embree_peer *peer;
    size_t count;
    struct RTCRayHit *rays;
    struct RTCRayHit8 *packets;
};

/* The last packet is filled up with its first ray. */
static void set_packet(const struct RTCRayHit *rays, size_t count, struct RTCRayHit8 *to)
{
    for (size_t k = 0; k < PACKET; k++) {
        const struct RTCRayHit *from = &rays[k < count ? k : 0];

        to->ray.org_x[k] = from->ray.org_x;
        to->ray.org_y[k] = from->ray.org_y;
        to->ray.org_z[k] = from->ray.org_z;
        to->ray.tnear[k] = from->ray.tnear;
        to->ray.dir_x[k] = from->ray.dir_x;
        to->ray.dir_y[k] = from->ray.dir_y;
        to->ray.dir_z[k] = from->ray.dir_z;
        to->ray.tfar[k] = from->ray.tfar;
        to->ray.time[k] = 0;
        to->ray.mask[k] = from->ray.mask;
        to->ray.id[k] = to->ray.flags[k] = 0;
        to->hit.geomID[k] = to->hit.instID[0][k] = RTC_INVALID_GEOMETRY_ID;
    }
}

enum facet_status embree_stream_create(const struct embree_peer *peer,
                                       const struct facet_gfx12_batch_ray *rays,
                                       size_t count,
                                       struct embree_stream **out,
                                       struct facet_error *err)
{
    struct embree_stream *s = calloc(1, sizeof *s);
    const size_t packets = (count + PACKET - 1) / PACKET;

    *out = s;
    if (s != NULL) {
        s->peer = peer;
        s->count = count;
        s->rays = aligned_alloc(64, (count * sizeof *s->rays + 63) / 64 * 64);
        s->packets = aligned_alloc(64, (packets * sizeof *s->packets + 63) / 64 * 64);
    }
    if (s == NULL || s->rays == NULL || s->packets == NULL) {
        embree_stream_destroy(s);
        *out = NULL;
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        memset(&s->rays[i], 0, sizeof s->rays[i]);
        set_ray(&rays[i], &s->rays[i].ray);
        s->rays[i].hit.geomID = s->rays[i].hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
    }
    for (size_t i = 0; i < packets; i++) {
        set_packet(&s->rays[PACKET * i], count - PACKET * i, &s->packets[i]);
    }
    return FACET_OK;
}

void embree_stream_destroy(struct embree_stream *s)
{
    if (s != NULL) {
        free(s->rays);
        free(s->packets);
        free(s);
    }
}

static size_t trace_packets(const struct embree_stream *s, struct RTCIntersectContext *context)
{
    static const _Alignas(32) int all[PACKET] = {-1, -1, -1, -1, -1, -1, -1, -1};
    size_t found = 0;

    for (size_t first = 0; first < s->count; first += PACKET) {
        struct RTCRayHit8 packet = s->packets[first / PACKET];

        s->peer->rtcIntersect8(all, s->peer->scene, context, &packet);
        for (size_t k = 0; k < PACKET && first + k < s->count; k++) {
            found += packet.hit.geomID[k] != RTC_INVALID_GEOMETRY_ID;
        }
    }
    return found;
}

static size_t trace_pieces(const struct embree_stream *s, struct RTCIntersectContext *context)
{
    struct RTCRayHit piece[PIECE];
    size_t found = 0;

    for (size_t first = 0; first < s->count; first += PIECE) {
        const size_t count = s->count - first < PIECE ? s->count - first : PIECE;

        memcpy(piece, s->rays + first, count * sizeof piece[0]);
        s->peer->rtcIntersect1M(s->peer->scene, context, piece, (unsigned)count, sizeof piece[0]);
        for (size_t k = 0; k < count; k++) {
            found += piece[k].hit.geomID != RTC_INVALID_GEOMETRY_ID;
        }
    }
    return found;
}

size_t embree_stream_trace(struct embree_stream *s, bool packets)
{
    struct RTCIntersectContext context;

    rtcInitIntersectContext(&context);
    context.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
    return packets ? trace_packets(s, &context) : trace_pieces(s, &context);
}

const char *embree_peer_name(const struct embree_peer *p)
{
    return p->name;
}

#else

struct embree_peer {
    char unused;
};

enum facet_status embree_peer_create(const struct facet_scene *scene,
                                     bool robust,
                                     struct embree_peer **out,
                                     struct facet_error *err)
{
    (void)scene;
    (void)robust;
    *out = NULL;
    return facet_fail(err, FACET_ERR_IO, 0, "built without the header of Embree 3");
}

void embree_peer_destroy(struct embree_peer *peer)
{
    (void)peer;
}

void embree_peer_trace(const struct embree_peer *peer,
                       const struct facet_gfx12_batch_ray *rays,
                       size_t count,
                       struct embree_hit *hits)
{
    (void)peer;
    (void)rays;
    memset(hits, 0, count * sizeof hits[0]);
}

void embree_peer_occluded(const struct embree_peer *peer,
                          const struct facet_gfx12_batch_ray *rays,
                          size_t count,
                          struct embree_hit *hits)
{
    embree_peer_trace(peer, rays, count, hits);
}

enum facet_status embree_stream_create(const struct embree_peer *peer,
                                       const struct facet_gfx12_batch_ray *rays,
                                       size_t count,
                                       struct embree_stream **out,
                                       struct facet_error *err)
{
    (void)rays;
    (void)count;
    *out = NULL;
    return embree_peer_create(NULL, peer != NULL, &(struct embree_peer *){NULL}, err);
}

void embree_stream_destroy(struct embree_stream *stream)
{
    (void)stream;
}

size_t embree_stream_trace(struct embree_stream *stream, bool packets)
{
    (void)stream;
    (void)packets;
    return 0;
}

const char *embree_peer_name(const struct embree_peer *peer)
{
    (void)peer;
    return "Embree";
}

#endif
