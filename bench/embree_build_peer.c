/* See embree_build_peer.h. */
#include "bench/embree_build_peer.h"

#include "gfx12/image/node.h"

#include <stdlib.h>
#include <string.h>

#ifdef FACET_HAVE_EMBREE

#include <dlfcn.h>
#include <embree3/rtcore.h>
#include <math.h>

/* The functions used, by their own names. */
#define FUNCTIONS(F)                                                                               \
    F(rtcNewDevice)                                                                                \
    F(rtcNewScene)                                                                                 \
    F(rtcReleaseScene)                                                                             \
    F(rtcSetSceneBuildQuality)                                                                     \
    F(rtcCommitScene)                                                                              \
    F(rtcNewGeometry)                                                                              \
    F(rtcSetSharedGeometryBuffer)                                                                  \
    F(rtcSetGeometryBuildQuality)                                                                  \
    F(rtcCommitGeometry)                                                                           \
    F(rtcUpdateGeometryBuffer)                                                                     \
    F(rtcSetSceneFlags)                                                                            \
    F(rtcAttachGeometryByID)                                                                       \
    F(rtcNewBVH)                                                                                   \
    F(rtcReleaseBVH)                                                                               \
    F(rtcBuildBVH)                                                                                 \
    F(rtcThreadLocalAlloc)

struct embree_builder {
    void *library;
    RTCDevice device;
    RTCGeometry geometry;
    RTCScene moving; /* NULL: never refitted */
    RTCGeometry moving_geometry;
    bool moved;
    const struct facet_scene_mesh *mesh;
    float *positions; /* of the mesh, with the room behind the last one that Embree wants */
#define MEMBER(name) __typeof__(&(name)) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
};

static enum facet_status load(struct embree_builder *b, struct facet_error *err)
{
    b->library = dlopen("libembree3.so.3", RTLD_NOW | RTLD_LOCAL);
    if (b->library == NULL) {
        return facet_fail(err, FACET_ERR_IO, 0, "libembree3.so.3 is not installed");
    }
#define LOAD(name)                                                                                 \
    *(void **)&b->name = dlsym(b->library, #name);                                                 \
    if (b->name == NULL) {                                                                         \
        return facet_fail(err, FACET_ERR_IO, 0, "libembree3.so.3 has no " #name);                  \
    }
    FUNCTIONS(LOAD)
#undef LOAD
    return FACET_OK;
}

static RTCGeometry new_geometry(const struct embree_builder *b)
{
    RTCGeometry geometry = b->rtcNewGeometry(b->device, RTC_GEOMETRY_TYPE_TRIANGLE);

    b->rtcSetSharedGeometryBuffer(geometry,
                                  RTC_BUFFER_TYPE_VERTEX,
                                  0,
                                  RTC_FORMAT_FLOAT3,
                                  b->positions,
                                  0,
                                  3 * sizeof(float),
                                  b->mesh->vertex_count);
    b->rtcSetSharedGeometryBuffer(geometry,
                                  RTC_BUFFER_TYPE_INDEX,
                                  0,
                                  RTC_FORMAT_UINT3,
                                  b->mesh->indices,
                                  0,
                                  3 * sizeof(uint32_t),
                                  b->mesh->triangle_count);
    return geometry;
}

enum facet_status embree_builder_create(const struct facet_scene_mesh *mesh,
                                        struct embree_builder **out,
                                        struct facet_error *err)
{
    const size_t bytes = 3 * sizeof(float) * (size_t)mesh->vertex_count;
    struct embree_builder *b = calloc(1, sizeof *b);
    float *positions = malloc(bytes + 16);
    enum facet_status status = b != NULL && positions != NULL
                                   ? load(b, err)
                                   : facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");

    if (status == FACET_OK) {
        b->device = b->rtcNewDevice("threads=1,set_affinity=0");
        status = b->device != NULL
                     ? FACET_OK
                     : facet_fail(err, FACET_ERR_IO, 0, "Embree cannot create a device");
    }
    if (status != FACET_OK) {
        free(b);
        free(positions);
        return status;
    }
    memcpy(positions, mesh->positions, bytes);
    b->mesh = mesh;
    b->positions = positions;
    b->geometry = new_geometry(b);
    *out = b;
    return FACET_OK;
}

void embree_builder_build(const struct embree_builder *b, bool high)
{
    const enum RTCBuildQuality quality = high ? RTC_BUILD_QUALITY_HIGH : RTC_BUILD_QUALITY_MEDIUM;
    RTCScene scene = b->rtcNewScene(b->device);

    b->rtcSetSceneBuildQuality(scene, quality);
    b->rtcSetGeometryBuildQuality(b->geometry, quality);
    b->rtcCommitGeometry(b->geometry);
    b->rtcAttachGeometryByID(scene, b->geometry, 0);
    b->rtcCommitScene(scene);
    b->rtcReleaseScene(scene);
}

void embree_builder_refit(struct embree_builder *b)
{
    if (b->moving == NULL) {
        b->moving = b->rtcNewScene(b->device);
        b->moving_geometry = new_geometry(b);
        b->rtcSetSceneFlags(b->moving, RTC_SCENE_FLAG_DYNAMIC);
        b->rtcSetGeometryBuildQuality(b->moving_geometry, RTC_BUILD_QUALITY_REFIT);
        b->rtcCommitGeometry(b->moving_geometry);
        b->rtcAttachGeometryByID(b->moving, b->moving_geometry, 0);
        b->rtcCommitScene(b->moving);
    }
    b->moved = !b->moved;
    for (size_t i = 1; i < b->mesh->vertex_count; i += 2) {
        b->positions[3 * i + 1] = b->mesh->positions[3 * i + 1] + (b->moved ? 0.01F : 0.0F);
    }
    b->rtcUpdateGeometryBuffer(b->moving_geometry, RTC_BUFFER_TYPE_VERTEX, 0);
    b->rtcCommitGeometry(b->moving_geometry);
    b->rtcCommitScene(b->moving);
}

/* ---- a tree to count in ---- */

enum { WIDTH = 8, PAIR = 2, MOST_IN_LEAF = 8, STACK = WIDTH * 64 };

/* Inner node: boxes and children. Leaf: no boxes, triangles. */
struct node {
    struct RTCBounds box[WIDTH];
    struct node *child[WIDTH];
    unsigned children;
    unsigned triangles;
    uint32_t triangle[];
};

static void *create_node(RTCThreadLocalAllocator to, unsigned children, void *user)
{
    const struct embree_builder *b = user;
    struct node *node = b->rtcThreadLocalAlloc(to, sizeof *node, 16);

    node->children = children;
    node->triangles = 0;
    return node;
}

static void set_children(void *at, void **children, unsigned count, void *user)
{
    struct node *node = at;

    (void)user;
    for (unsigned i = 0; i < count; i++) {
        node->child[i] = children[i];
    }
}

/* The boxes as a box node of GFX12 holds them, which are larger. */
static void set_bounds(void *at, const struct RTCBounds **bounds, unsigned count, void *user)
{
    struct node *node = at;
    struct facet_gfx12_box box = {0};
    uint32_t lo[WIDTH][3], hi[WIDTH][3];

    (void)user;
    for (unsigned i = 0; i < count; i++) {
        memcpy(lo[i], &bounds[i]->lower_x, sizeof lo[i]);
        memcpy(hi[i], &bounds[i]->upper_x, sizeof hi[i]);
    }
    (void)facet_gfx12_box_grid(&box, lo, hi, count); /* only boxes beyond 2^127 are too wide */
    for (unsigned i = 0; i < count; i++) {
        struct facet_gfx12_child child = {0};

        facet_gfx12_quantize_child(lo[i], hi[i], box.origin, box.exponent, &child);
        facet_gfx12_child_bounds(&child, box.origin, box.exponent, lo[i], hi[i]);
        memcpy(&node->box[i].lower_x, lo[i], sizeof lo[i]);
        memcpy(&node->box[i].upper_x, hi[i], sizeof hi[i]);
    }
}

static void *create_leaf(RTCThreadLocalAllocator to,
                         const struct RTCBuildPrimitive *primitives,
                         size_t count,
                         void *user)
{
    const struct embree_builder *b = user;
    struct node *node =
        b->rtcThreadLocalAlloc(to, sizeof *node + count * sizeof node->triangle[0], 16);

    node->children = 0;
    node->triangles = (unsigned)count;
    for (size_t i = 0; i < count; i++) {
        node->triangle[i] = primitives[i].primID;
    }
    return node;
}

/* Of the mesh itself: a refit may have left the positions that Embree has where they moved to. */
static const float *corner(const struct embree_builder *b, uint32_t triangle, unsigned c)
{
    return &b->mesh->positions[3 * (size_t)b->mesh->indices[3 * (size_t)triangle + c]];
}

static struct RTCBuildPrimitive *make_primitives(const struct embree_builder *b)
{
    struct RTCBuildPrimitive *p =
        aligned_alloc(32, (size_t)b->mesh->triangle_count * sizeof *p + 32);

    for (uint32_t i = 0; p != NULL && i < b->mesh->triangle_count; i++) {
        const float *x = corner(b, i, 0), *y = corner(b, i, 1), *z = corner(b, i, 2);

        p[i] = (struct RTCBuildPrimitive){
            .lower_x = fminf(fminf(x[0], y[0]), z[0]),
            .lower_y = fminf(fminf(x[1], y[1]), z[1]),
            .lower_z = fminf(fminf(x[2], y[2]), z[2]),
            .upper_x = fmaxf(fmaxf(x[0], y[0]), z[0]),
            .upper_y = fmaxf(fmaxf(x[1], y[1]), z[1]),
            .upper_z = fmaxf(fmaxf(x[2], y[2]), z[2]),
            .primID = i,
        };
    }
    return p;
}

/* Where the ray enters the box, or INFINITY. */
static float enter(const struct RTCBounds *box, const struct facet_gfx12_batch_ray *ray, float t)
{
    const float lo[3] = {box->lower_x, box->lower_y, box->lower_z};
    const float hi[3] = {box->upper_x, box->upper_y, box->upper_z};
    float near = ray->t_min, far = t;

    for (int k = 0; k < 3; k++) {
        const float inverse = 1.0F / ray->direction[k];
        const float a = (lo[k] - ray->origin[k]) * inverse;
        const float c = (hi[k] - ray->origin[k]) * inverse;

        near = fmaxf(near, fminf(a, c));
        far = fminf(far, fmaxf(a, c));
    }
    return near <= far ? near : INFINITY;
}

static void cross(const float a[3], const float b[3], float out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static float dot(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Where the ray meets the triangle before `t`, else `t`. */
static float meet(const struct embree_builder *b,
                  uint32_t triangle,
                  const struct facet_gfx12_batch_ray *ray,
                  float t)
{
    const float *v0 = corner(b, triangle, 0);
    float e1[3], e2[3], s[3], p[3], q[3], det, u, v, at;

    for (int k = 0; k < 3; k++) {
        e1[k] = corner(b, triangle, 1)[k] - v0[k];
        e2[k] = corner(b, triangle, 2)[k] - v0[k];
        s[k] = ray->origin[k] - v0[k];
    }
    cross(ray->direction, e2, p);
    cross(s, e1, q);
    det = dot(e1, p);
    u = dot(s, p) / det;
    v = dot(ray->direction, q) / det;
    at = dot(e2, q) / det;
    return u >= 0 && v >= 0 && u + v <= 1 && at > ray->t_min && at < t ? at : t;
}

/* A ray on its way; the stack has no distances, so what is on it is met. */
struct counting {
    const struct embree_builder *b;
    const struct facet_gfx12_batch_ray *ray;
    const struct node *stack[STACK];
    unsigned depth;
    uint64_t met;
    float t;
};

static void meet_leaf(struct counting *c, const struct node *leaf)
{
    c->met += (leaf->triangles + PAIR - 1) / PAIR;
    for (unsigned i = 0; i < leaf->triangles; i++) {
        c->t = meet(c->b, leaf->triangle[i], c->ray, c->t);
    }
}

/* As the unit sorts children and the loop takes them: leaves at once, boxes on the stack, the
 * closest first. */
static void meet_children(struct counting *c, const struct node *node)
{
    const struct node *hit[WIDTH];
    float near[WIDTH];
    unsigned hits = 0;

    c->met++;
    for (unsigned i = 0; i < node->children; i++) {
        const float at = enter(&node->box[i], c->ray, c->t);
        unsigned place = hits;

        if (at == INFINITY) {
            continue;
        }
        for (; place > 0 && near[place - 1] > at; place--) {
            near[place] = near[place - 1];
            hit[place] = hit[place - 1];
        }
        near[place] = at;
        hit[place] = node->child[i];
        hits++;
    }
    for (unsigned i = 0; i < hits; i++) {
        if (hit[i]->children == 0) {
            meet_leaf(c, hit[i]);
        }
    }
    for (unsigned i = hits; i-- > 0;) {
        if (hit[i]->children != 0 && c->depth < STACK) {
            c->stack[c->depth++] = hit[i];
        }
    }
}

static uint64_t count_nodes(const struct embree_builder *b,
                            const struct node *root,
                            const struct facet_gfx12_batch_ray *ray)
{
    struct counting c = {.b = b, .ray = ray, .stack = {root}, .depth = 1, .t = ray->t_max};

    while (c.depth > 0) {
        const struct node *node = c.stack[--c.depth];

        if (node->children != 0) {
            meet_children(&c, node);
        } else {
            meet_leaf(&c, node);
        }
    }
    return c.met;
}

enum facet_status embree_builder_nodes_per_ray(const struct embree_builder *b,
                                               const struct facet_gfx12_batch_ray *rays,
                                               size_t count,
                                               double *nodes,
                                               struct facet_error *err)
{
    struct RTCBuildPrimitive *primitives = make_primitives(b);
    RTCBVH bvh = b->rtcNewBVH(b->device);
    struct RTCBuildArguments arguments = rtcDefaultBuildArguments();
    const struct node *root;
    uint64_t met = 0;

    if (primitives == NULL || bvh == NULL) {
        free(primitives);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    arguments.maxBranchingFactor = WIDTH;
    arguments.sahBlockSize = PAIR;
    arguments.minLeafSize = PAIR;
    arguments.maxLeafSize = MOST_IN_LEAF;
    arguments.bvh = bvh;
    arguments.primitives = primitives;
    arguments.primitiveCount = b->mesh->triangle_count;
    arguments.primitiveArrayCapacity = b->mesh->triangle_count;
    arguments.createNode = create_node;
    arguments.setNodeChildren = set_children;
    arguments.setNodeBounds = set_bounds;
    arguments.createLeaf = create_leaf;
    arguments.userPtr = (void *)b;
    root = b->rtcBuildBVH(&arguments);
    for (size_t i = 0; root != NULL && i < count; i++) {
        met += count_nodes(b, root, &rays[i]);
    }
    b->rtcReleaseBVH(bvh);
    free(primitives);
    *nodes = (double)met / (double)count;
    return root != NULL ? FACET_OK
                        : facet_fail(err, FACET_ERR_IO, 0, "Embree cannot build the tree");
}

#else

struct embree_builder {
    char unused;
};

enum facet_status embree_builder_create(const struct facet_scene_mesh *mesh,
                                        struct embree_builder **out,
                                        struct facet_error *err)
{
    (void)mesh;
    *out = NULL;
    return facet_fail(err, FACET_ERR_IO, 0, "built without the header of Embree 3");
}

void embree_builder_build(const struct embree_builder *builder, bool high)
{
    (void)builder;
    (void)high;
}

void embree_builder_refit(struct embree_builder *builder)
{
    (void)builder;
}

enum facet_status embree_builder_nodes_per_ray(const struct embree_builder *builder,
                                               const struct facet_gfx12_batch_ray *rays,
                                               size_t count,
                                               double *nodes,
                                               struct facet_error *err)
{
    (void)builder;
    (void)rays;
    (void)count;
    *nodes = 0;
    return facet_fail(err, FACET_ERR_IO, 0, "built without the header of Embree 3");
}

#endif
