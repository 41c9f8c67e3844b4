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
    F(rtcIntersect1)

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

void embree_peer_trace(const struct embree_peer *p,
                       const struct facet_gfx12_batch_ray *rays,
                       size_t count,
                       struct embree_hit *hits)
{
    struct RTCIntersectContext context;

    rtcInitIntersectContext(&context);
    for (size_t i = 0; i < count; i++) {
        const struct facet_gfx12_batch_ray *ray = &rays[i];
        struct RTCRayHit r;

        r.ray.org_x = ray->origin[0];
        r.ray.org_y = ray->origin[1];
        r.ray.org_z = ray->origin[2];
        r.ray.tnear = ray->t_min;
        r.ray.dir_x = ray->direction[0];
        r.ray.dir_y = ray->direction[1];
        r.ray.dir_z = ray->direction[2];
        r.ray.tfar = ray->t_max;
        r.ray.time = 0;
        r.ray.mask = 0xFFFFFFFF;
        r.ray.id = 0;
        r.ray.flags = 0;
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

const char *embree_peer_name(const struct embree_peer *peer)
{
    (void)peer;
    return "Embree";
}

#endif
