/* The three headers. Layouts: Mesa src/amd/vulkan/bvh, GPURT gpurt/gpurtAccelStruct.h, HIPRT
 * hiprt/impl/Header.h. */
#include "gfx12/drivers/structure.h"

#include "base/bits.h"
#include "base/float.h"

#include <facet/gfx12.h>
#include <math.h>
#include <stdio.h>

#define NODE FACET_GFX12_NODE_BYTES
#define UNIT 64 /* pointers to structures count so many bytes */

const char *facet_gfx12_driver_name(enum facet_gfx12_driver driver)
{
    static const char *const names[FACET_GFX12_DRIVERS] = {"none", "radv", "gpurt", "hiprt"};

    return names[driver];
}

static float load_float(const uint8_t *bytes)
{
    uint32_t word = facet_load_le32(bytes);
    float value;

    memcpy(&value, &word, sizeof value);
    return value;
}

static bool load_bounds(const uint8_t *bytes, struct facet_gfx12_structure *out)
{
    bool real = true;

    for (unsigned k = 0; k < 3; k++) {
        out->low[k] = load_float(bytes + 4 * k);
        out->high[k] = load_float(bytes + 12 + 4 * k);
        real = real && isfinite(out->low[k]) && isfinite(out->high[k]);
    }
    out->has_bounds = real;
    return real;
}

#define DWORD(name, offset)                                                                        \
    {                                                                                              \
        name, offset, 4, FACET_GFX12_FIELD_NUMBER                                                  \
    }
#define QWORD(name, offset)                                                                        \
    {                                                                                              \
        name, offset, 8, FACET_GFX12_FIELD_NUMBER                                                  \
    }
#define HEX(name, offset)                                                                          \
    {                                                                                              \
        name, offset, 4, FACET_GFX12_FIELD_HEX                                                     \
    }
#define PLACE(name, offset)                                                                        \
    {                                                                                              \
        name, offset, 8, FACET_GFX12_FIELD_HEX                                                     \
    }
#define REAL(name, offset)                                                                         \
    {                                                                                              \
        name, offset, 4, FACET_GFX12_FIELD_FLOAT                                                   \
    }
#define BOUNDS(name, offset)                                                                       \
    REAL(name ".min.x", offset), REAL(name ".min.y", offset + 4), REAL(name ".min.z", offset + 8), \
        REAL(name ".max.x", offset + 12), REAL(name ".max.y", offset + 16),                        \
        REAL(name ".max.z", offset + 20)
#define COUNT(fields) (unsigned)(sizeof(fields) / sizeof *(fields))

/* ---- RADV ---- */

#define RADV_COMMON                                                                                \
    HEX("bvh_offset", 0), HEX("root_flags", 4), BOUNDS("aabb", 8),                                 \
        DWORD("update_dispatch_size[0]", 32), DWORD("update_dispatch_size[1]", 36),                \
        DWORD("update_dispatch_size[2]", 40), QWORD("compacted_size", 48),                         \
        QWORD("serialization_size", 56), DWORD("copy_dispatch_size[0]", 64),                       \
        DWORD("copy_dispatch_size[1]", 68), DWORD("copy_dispatch_size[2]", 72), QWORD("size", 80), \
        DWORD("geometry_type", 88), DWORD("geometry_count", 92)

static const struct facet_gfx12_field radv_fields[] = {RADV_COMMON};
/* Mesa 25 and the first of 26. */
static const struct facet_gfx12_field radv_fields_2025[] = {RADV_COMMON,
                                                            QWORD("instance_offset", 96),
                                                            QWORD("instance_count", 104),
                                                            HEX("leaf_node_offsets_offset", 112),
                                                            HEX("build_flags", 116)};
static const struct facet_gfx12_field radv_fields_2026[] = {RADV_COMMON,
                                                            QWORD("leaf_nodes_offset", 96),
                                                            QWORD("primitive_count", 104),
                                                            QWORD("instance_count", 112),
                                                            HEX("leaf_node_offsets_offset", 120),
                                                            HEX("build_flags", 124),
                                                            DWORD("type", 128)};

/* Later ones have the part for GFX12 at the end. */
static const struct facet_gfx12_field radv_fields_late[] = {
    HEX("bvh_offset", 0),
    HEX("root_flags", 4),
    BOUNDS("aabb", 8),
    QWORD("compacted_size", 32),
    QWORD("serialization_size", 40),
    DWORD("copy_dispatch_size[0]", 48),
    DWORD("copy_dispatch_size[1]", 52),
    DWORD("copy_dispatch_size[2]", 56),
    QWORD("size", 64),
    DWORD("geometry_type", 72),
    DWORD("geometry_count", 76),
    QWORD("leaf_nodes_offset", 80),
    QWORD("primitive_count", 88),
    QWORD("instance_count", 96),
    HEX("leaf_node_offsets_offset", 104),
    HEX("build_flags", 108),
    DWORD("type", 112),
    DWORD("update_dispatch_size[0]", 120),
    DWORD("update_dispatch_size[1]", 124),
    DWORD("update_dispatch_size[2]", 128),
    HEX("instance_child_count_exponents", 132),
};

#define RADV_LEAST_HEADER 120
#define RADV_LATE_HEADER 184
#define RADV_LATE_BOXES 132
#define RADV_INFO_BYTES 12
#define RADV_INSTANCES 2 /* VkGeometryTypeKHR */

/* The end of the header changed between versions of Mesa. The offsets of leaf nodes come right
 * behind it, or behind an info for each geometry, and their own offset is in it: where the two
 * agree, the version is known. The larger sizes are those with the boxes of instances behind. */
static void radv_tail(const uint8_t *bytes, struct facet_gfx12_structure *out)
{
    static const struct {
        uint8_t at, bytes;
    } tails[] = {{120, 136}, {120, 188}, {120, 192}, {112, 120}, {112, 172}, {112, 176}};

    out->fields = radv_fields;
    out->field_count = COUNT(radv_fields);
    out->header_bytes = 96;
    for (unsigned i = 0; i < sizeof tails / sizeof *tails; i++) {
        const uint64_t end = tails[i].bytes, infos = RADV_INFO_BYTES * out->geometries;
        const bool recent = tails[i].at == 120;
        uint32_t leaf_offsets;

        if (out->base < end) {
            continue;
        }
        leaf_offsets = facet_load_le32(bytes + tails[i].at);
        if (leaf_offsets != end && (leaf_offsets != end + infos || end + infos > out->base)) {
            continue;
        }
        out->header_bytes = end;
        out->infos = leaf_offsets == end ? 0 : end;
        out->fields = recent ? radv_fields_2026 : radv_fields_2025;
        out->field_count = recent ? COUNT(radv_fields_2026) : COUNT(radv_fields_2025);
        if (recent) {
            out->primitives = facet_load_le64(bytes + 104);
        } else if (out->top) {
            out->primitives = facet_load_le64(bytes + 104); /* instance_count */
        }
        return;
    }
}

/* Whether the sizes of the copy come 16 bytes earlier: two of them are always 1, where an early
 * header has the upper half of a size and the lower half of another. */
static bool is_late_radv(const uint8_t *bytes, uint32_t offset)
{
    return offset >= RADV_LATE_HEADER && facet_load_le32(bytes + 52) == 1 &&
           facet_load_le32(bytes + 56) == 1;
}

static void read_radv_late(const uint8_t *bytes, struct facet_gfx12_structure *out)
{
    const uint32_t leaf_offsets = facet_load_le32(bytes + 104);

    out->fields = radv_fields_late;
    out->field_count = COUNT(radv_fields_late);
    out->header_bytes = RADV_LATE_HEADER;
    out->size = facet_load_le64(bytes + 32);
    out->geometries = facet_load_le32(bytes + 76);
    out->primitives = facet_load_le64(bytes + 88);
    out->instance_boxes = RADV_LATE_BOXES;
    if (leaf_offsets <= out->base && leaf_offsets > RADV_LATE_HEADER &&
        leaf_offsets - RADV_LATE_HEADER == RADV_INFO_BYTES * out->geometries) {
        out->infos = RADV_LATE_HEADER;
    }
}

static enum facet_gfx12_header_answer
read_radv(const uint8_t *bytes, uint64_t size, struct facet_gfx12_structure *out, char *reason)
{
    uint32_t offset, kind, count;
    const uint8_t *root;

    if (size < RADV_LEAST_HEADER + NODE) {
        snprintf(reason, FACET_GFX12_REASON, "no room for a header and a root");
        return FACET_GFX12_HEADER_NO;
    }
    offset = facet_load_le32(bytes);
    if (offset % UNIT != 0 || offset < RADV_LEAST_HEADER || offset > size - NODE) {
        snprintf(reason,
                 FACET_GFX12_REASON,
                 "bvh_offset is 0x%x; expected a multiple of 64 behind the header and in the file",
                 offset);
        return FACET_GFX12_HEADER_NO;
    }
    kind = facet_load_le32(bytes + (is_late_radv(bytes, offset) ? 72 : 88));
    out->base = offset;
    out->root = FACET_GFX12_ROOT;
    out->top = kind == RADV_INSTANCES;
    out->procedural = kind == 1;
    out->info_mask = UINT32_MAX;
    if (is_late_radv(bytes, offset)) {
        read_radv_late(bytes, out);
    } else {
        out->size = facet_load_le64(bytes + 48);
        out->geometries = facet_load_le32(bytes + 92);
        radv_tail(bytes, out);
    }
    root = bytes + offset;
    count = root[27] >> 4;
    if (kind > RADV_INSTANCES || facet_load_le32(root + 8) != UINT32_MAX ||
        (count > 7 && count != 15)) {
        snprintf(reason, FACET_GFX12_REASON, "no root of GFX12 at bvh_offset 0x%x", offset);
        return FACET_GFX12_HEADER_MAYBE;
    }
    /* An empty structure has NaN bounds, so they say nothing then. */
    if (load_bounds(bytes + 8, out) && memcmp(bytes + 8, root + 12, 12) != 0) {
        snprintf(reason, FACET_GFX12_REASON, "aabb.min is not the origin of the root");
        return FACET_GFX12_HEADER_MAYBE;
    }
    snprintf(reason,
             FACET_GFX12_REASON,
             "bvh_offset 0x%x leads to a root whose origin is aabb.min",
             offset);
    return FACET_GFX12_HEADER_YES;
}

/* ---- GPURT ---- */

static const struct facet_gfx12_field gpurt_fields[] = {
    HEX("info", 0),
    DWORD("metadataSizeInBytes", 4),
    DWORD("sizeInBytes", 8),
    DWORD("numPrimitives", 12),
    DWORD("numActivePrims", 16),
    HEX("obbBlasMetadataOffset", 20),
    DWORD("numDescs", 24),
    DWORD("geometryType", 28),
    HEX("offsets.internalNodes", 32),
    HEX("offsets.leafNodes", 36),
    HEX("offsets.geometryInfo", 40),
    HEX("offsets.primNodePtrs", 44),
    DWORD("numInternalNodesFp32", 48),
    DWORD("numInternalNodesFp16", 52),
    DWORD("numLeafNodes", 56),
    HEX("accelStructVersion", 60),
    HEX("uuidLo", 64),
    HEX("uuidHi", 68),
    DWORD("rtIpLevel", 72),
    BOUNDS("fp32RootBoundingBox", 76),
    HEX("info2", 100),
    HEX("packedFlags", 104),
    DWORD("compactedSizeInBytes", 108),
};

#define GPURT_HEADER 128
#define GPURT_ROOT 0x15 /* right behind the header */

const char *facet_gfx12_rtip_name(uint32_t level)
{
    static const char *const names[] = {
        "no RTIP", "RTIP 1.0", "RTIP 1.1", "RTIP 2.0", "RTIP 3.0", "RTIP 3.1", "RTIP 3.1"};

    return level < sizeof names / sizeof *names ? names[level] : "an unknown RTIP";
}

/* 6 became 5 with a later interface of PAL. */
bool facet_gfx12_rtip_is_3_1(uint32_t level)
{
    return level == 5 || level == 6;
}

/* Whether the metadata before the header agrees with it, or the piece begins with the header. */
static bool find_gpurt_header(const uint8_t *bytes, uint64_t size, uint64_t *at)
{
    uint64_t metadata = facet_load_le32(bytes + 8);

    if (metadata >= 12 && metadata % 4 == 0 && metadata <= size - GPURT_HEADER &&
        facet_load_le32(bytes + metadata + 4) == metadata &&
        facet_load_le32(bytes + metadata + 32) == GPURT_HEADER) {
        *at = metadata;
        return true;
    }
    *at = 0;
    return facet_load_le32(bytes + 32) == GPURT_HEADER;
}

static enum facet_gfx12_header_answer
read_gpurt(const uint8_t *bytes, uint64_t size, struct facet_gfx12_structure *out, char *reason)
{
    const uint8_t *h;
    uint64_t at;
    uint32_t level, version, metadata;

    if (size < GPURT_HEADER || !find_gpurt_header(bytes, size, &at)) {
        snprintf(reason,
                 FACET_GFX12_REASON,
                 "no header whose offsets.internalNodes is 128, at 0 or behind the metadata");
        return FACET_GFX12_HEADER_NO;
    }
    h = bytes + at;
    level = facet_load_le32(h + 72);
    version = facet_load_le32(h + 60);
    if (!facet_gfx12_rtip_is_3_1(level)) {
        snprintf(reason,
                 FACET_GFX12_REASON,
                 "a structure for %s (rtIpLevel %u); expected RTIP 3.1, which GFX12 is",
                 facet_gfx12_rtip_name(level),
                 level);
        return level >= 1 && level <= 4 ? FACET_GFX12_HEADER_OTHER : FACET_GFX12_HEADER_NO;
    }
    out->top = (facet_load_le32(h) & 1) == 0;
    out->procedural = !out->top && facet_load_le32(h + 28) == 1;
    out->fields = gpurt_fields;
    out->field_count = COUNT(gpurt_fields);
    out->header = at;
    out->header_bytes = GPURT_HEADER;
    out->base = at;
    out->root = GPURT_ROOT;
    /* The whole, metadata included, which may not be here. */
    metadata = facet_load_le32(h + 4);
    out->size = facet_load_le32(h + 8);
    out->size -= at == 0 && metadata <= out->size ? metadata : 0;
    /* RADV leaves them 0 in a capture. */
    out->has_bounds = load_bounds(h + 76, out) && memcmp(out->low, out->high, sizeof out->low) != 0;
    out->primitives = facet_load_le32(h + 12);
    out->active = facet_load_le32(h + 16);
    out->geometries = out->top ? FACET_GFX12_UNKNOWN : facet_load_le32(h + 24);
    out->boxes = facet_load_le32(h + 48);
    out->leaves = facet_load_le32(h + 56);
    out->leaf_nodes = at + facet_load_le32(h + 36);
    /* Nothing active: nothing is built, and what lies behind the header is what was there before
     * (R-G12-147). */
    if (out->active == 0 && out->boxes == 0) {
        out->root = FACET_GFX12_NO_ROOT;
    }
    if (facet_load_le32(h + 40) != 0) {
        *(out->top ? &out->side : &out->infos) = at + facet_load_le32(h + 40);
    }
    out->info_mask = (UINT32_C(1) << 29) - 1;
    if (at != 0 && facet_load_le64(bytes) > at) {
        out->address = (facet_load_le64(bytes) - at) & facet_bits_mask(48);
    }
    snprintf(reason,
             FACET_GFX12_REASON,
             "version %u.%u, %s, the header at 0x%llx",
             version >> 16,
             version & 0xffff,
             facet_gfx12_rtip_name(level),
             (unsigned long long)at);
    return at + GPURT_HEADER <= size - (size < NODE ? size : NODE) ? FACET_GFX12_HEADER_YES
                                                                   : FACET_GFX12_HEADER_MAYBE;
}

/* ---- HIPRT ---- */

static const struct facet_gfx12_field hiprt_geometry_fields[] = {
    PLACE("m_boxNodes", 0),
    PLACE("m_primNodes", 8),
    QWORD("m_size", 16),
    DWORD("m_referenceCount", 24),
    DWORD("m_boxNodeCount", 28),
    DWORD("m_primNodeCount", 32),
    HEX("m_geomType", 36),
    DWORD("m_rtip", 40),
};
static const struct facet_gfx12_field hiprt_scene_fields[] = {
    PLACE("m_boxNodes", 0),
    PLACE("m_primNodes", 8),
    PLACE("m_instances", 16),
    PLACE("m_frames", 24),
    QWORD("m_size", 32),
    DWORD("m_referenceCount", 40),
    DWORD("m_primCount", 44),
    DWORD("m_primNodeCount", 48),
    DWORD("m_boxNodeCount", 52),
    DWORD("m_frameCount", 56),
    DWORD("m_rtip", 60),
};

#define HIPRT_HEADER 64 /* both kinds take so much */
#define HIPRT_RTIP_3_1 31

static bool is_hiprt_level(uint32_t level)
{
    return level == 11 || level == 20 || level == HIPRT_RTIP_3_1;
}

static enum facet_gfx12_header_answer
read_hiprt(const uint8_t *bytes, uint64_t size, struct facet_gfx12_structure *out, char *reason)
{
    uint64_t boxes, prims, said;
    uint32_t level;

    if (size < HIPRT_HEADER + NODE) {
        snprintf(reason, FACET_GFX12_REASON, "no room for a header and a root");
        return FACET_GFX12_HEADER_NO;
    }
    boxes = facet_load_le64(bytes);
    prims = facet_load_le64(bytes + 8);
    /* A scene has another pointer where a geometry has its size. */
    out->top = is_hiprt_level(facet_load_le32(bytes + 60)) && facet_load_le64(bytes + 16) >= prims;
    level = facet_load_le32(bytes + (out->top ? 60 : 40));
    said = facet_load_le64(bytes + (out->top ? 32 : 16));
    if (!is_hiprt_level(level) || boxes < HIPRT_HEADER || prims < boxes || prims - boxes > size ||
        (prims - boxes) % 4 != 0) {
        snprintf(reason,
                 FACET_GFX12_REASON,
                 "no two pointers, m_boxNodes and m_primNodes behind it, with an m_rtip");
        return FACET_GFX12_HEADER_NO;
    }
    if (level != HIPRT_RTIP_3_1) {
        snprintf(reason,
                 FACET_GFX12_REASON,
                 "a structure for RTIP %u.%u (m_rtip %u); expected RTIP 3.1, which GFX12 is",
                 level / 10,
                 level % 10,
                 level);
        return FACET_GFX12_HEADER_OTHER;
    }
    out->fields = out->top ? hiprt_scene_fields : hiprt_geometry_fields;
    out->field_count = out->top ? COUNT(hiprt_scene_fields) : COUNT(hiprt_geometry_fields);
    out->header_bytes = HIPRT_HEADER;
    out->base = HIPRT_HEADER;
    out->root = FACET_GFX12_ROOT;
    out->size = said;
    out->boxes = facet_load_le32(bytes + (out->top ? 52 : 28));
    out->leaves = facet_load_le32(bytes + (out->top ? 48 : 32));
    out->primitives = out->top ? facet_load_le32(bytes + 44) : FACET_GFX12_UNKNOWN;
    out->procedural = !out->top && (facet_load_le32(bytes + 36) & 1) == 0;
    out->geometries = out->top ? FACET_GFX12_UNKNOWN : 1;
    out->leaf_nodes = HIPRT_HEADER + (prims - boxes);
    out->address = (boxes - HIPRT_HEADER) & facet_bits_mask(48);
    snprintf(reason,
             FACET_GFX12_REASON,
             "a %s with m_rtip 31, primitive nodes 0x%llx behind the box nodes",
             out->top ? "SceneHeader" : "GeomHeader",
             (unsigned long long)(prims - boxes));
    return said <= size && out->boxes * NODE <= prims - boxes ? FACET_GFX12_HEADER_YES
                                                              : FACET_GFX12_HEADER_MAYBE;
}

/* ---- all of them ---- */

enum facet_gfx12_header_answer facet_gfx12_header_read(enum facet_gfx12_driver driver,
                                                       const uint8_t *bytes,
                                                       uint64_t size,
                                                       struct facet_gfx12_structure *out,
                                                       char reason[FACET_GFX12_REASON])
{
    *out = (struct facet_gfx12_structure){
        .driver = driver,
        .primitives = FACET_GFX12_UNKNOWN,
        .active = FACET_GFX12_UNKNOWN,
        .geometries = FACET_GFX12_UNKNOWN,
        .boxes = FACET_GFX12_UNKNOWN,
        .leaves = FACET_GFX12_UNKNOWN,
        .address = FACET_GFX12_UNKNOWN,
    };
    reason[0] = 0;
    switch (driver) {
    case FACET_GFX12_DRIVER_RADV:
        return read_radv(bytes, size, out, reason);
    case FACET_GFX12_DRIVER_GPURT:
        return read_gpurt(bytes, size, out, reason);
    case FACET_GFX12_DRIVER_HIPRT:
        return read_hiprt(bytes, size, out, reason);
    default:
        return FACET_GFX12_HEADER_NO;
    }
}

enum facet_gfx12_driver facet_gfx12_header_find(const uint8_t *bytes,
                                                uint64_t size,
                                                struct facet_gfx12_structure *out,
                                                char reason[FACET_GFX12_REASON])
{
    /* The most telling headers first. */
    static const enum facet_gfx12_driver order[] = {
        FACET_GFX12_DRIVER_GPURT, FACET_GFX12_DRIVER_HIPRT, FACET_GFX12_DRIVER_RADV};
    char other[FACET_GFX12_REASON] = "";

    for (unsigned i = 0; i < sizeof order / sizeof *order; i++) {
        enum facet_gfx12_header_answer answer =
            facet_gfx12_header_read(order[i], bytes, size, out, reason);

        if (answer == FACET_GFX12_HEADER_YES) {
            return order[i];
        }
        if (answer == FACET_GFX12_HEADER_OTHER && other[0] == 0) {
            snprintf(other, sizeof other, "%.*s", (int)sizeof other - 1, reason);
        }
    }
    snprintf(reason, FACET_GFX12_REASON, "%s", other);
    return FACET_GFX12_DRIVER_NONE;
}

/* ---- words and values ---- */

const char *facet_gfx12_structure_kind(const struct facet_gfx12_structure *s)
{
    return s->top ? "TLAS" : "BLAS";
}

const char *facet_gfx12_structure_contents(const struct facet_gfx12_structure *s)
{
    return s->top ? "instances" : s->procedural ? "boxes" : "triangles";
}

uint64_t facet_gfx12_field_value(const uint8_t *header, const struct facet_gfx12_field *field)
{
    return field->bytes == 8 ? facet_load_le64(header + field->offset)
                             : facet_load_le32(header + field->offset);
}

double facet_gfx12_field_float(const uint8_t *header, const struct facet_gfx12_field *field)
{
    return (double)facet_float_of(facet_load_le32(header + field->offset));
}
