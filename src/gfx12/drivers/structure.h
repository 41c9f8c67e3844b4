/* Acceleration structures as drivers keep them: a header, then nodes (12.9). Reads the headers of
 * RADV (Mesa), of GPURT (AMDVLK and the Windows driver) and of HIPRT, says where the nodes begin
 * and which ID the root has. Any bytes are accepted. */
#ifndef FACET_GFX12_DRIVERS_STRUCTURE_H
#define FACET_GFX12_DRIVERS_STRUCTURE_H

#include "gfx12/image/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum facet_gfx12_driver {
    FACET_GFX12_DRIVER_NONE,
    FACET_GFX12_DRIVER_RADV,
    FACET_GFX12_DRIVER_GPURT,
    FACET_GFX12_DRIVER_HIPRT,
    FACET_GFX12_DRIVERS
};

/* "radv"; NONE is "none". */
const char *facet_gfx12_driver_name(enum facet_gfx12_driver driver);

enum facet_gfx12_field_kind {
    FACET_GFX12_FIELD_NUMBER,
    FACET_GFX12_FIELD_HEX,
    FACET_GFX12_FIELD_FLOAT,
};

/* A member of a header, little-endian, under the name that the driver's source gives it. */
struct facet_gfx12_field {
    const char *name;
    uint16_t offset; /* from the header */
    uint8_t bytes;   /* 4 or 8 */
    uint8_t kind;
};

#define FACET_GFX12_UNKNOWN UINT64_MAX

/* Offsets count from the first byte of the piece that holds the structure. */
struct facet_gfx12_structure {
    enum facet_gfx12_driver driver;
    bool top; /* a TLAS (HIPRT: a scene) */
    bool procedural;
    const struct facet_gfx12_field *fields;
    unsigned field_count;
    uint64_t header, header_bytes;
    uint64_t base; /* what node IDs count from */
    uint32_t root; /* its ID; FACET_GFX12_NO_ROOT where the driver wrote no node */
    uint64_t size; /* of the whole piece, as the header says */
    bool has_bounds;
    float low[3], high[3];
    /* Unknown where the header does not say. */
    uint64_t primitives; /* instances of a TLAS */
    uint64_t active;     /* those that are not inactive */
    uint64_t geometries;
    uint64_t boxes, leaves; /* nodes */
    uint64_t address;       /* of the piece, by the header's own pointers */
    /* Parts of the piece, and where the header says so; 0: absent. */
    uint64_t infos;          /* 12 bytes for each geometry; the first dword holds its primitives */
    uint64_t leaf_nodes;     /* first instance or primitive node */
    uint64_t side;           /* GPURT: 64 bytes beside each instance node */
    uint64_t instance_boxes; /* RADV: exponents and boxes that its instances get, in the header */
    uint32_t info_mask;      /* of the first dword of an info: the number of primitives */
};

enum facet_gfx12_header_answer {
    FACET_GFX12_HEADER_NO,    /* the bytes do not begin with such a header */
    FACET_GFX12_HEADER_OTHER, /* they do, but its nodes are those of other hardware */
    FACET_GFX12_HEADER_MAYBE, /* what leads to the nodes makes sense, something else does not */
    FACET_GFX12_HEADER_YES,
};

#define FACET_GFX12_REASON 160
/* `reason` says what was recognised, or why not. *out is filled in for MAYBE and YES. */
enum facet_gfx12_header_answer facet_gfx12_header_read(enum facet_gfx12_driver driver,
                                                       const uint8_t *bytes,
                                                       uint64_t size,
                                                       struct facet_gfx12_structure *out,
                                                       char reason[FACET_GFX12_REASON]);
/* The driver whose header it is beyond doubt; NONE: of none, then `reason` is "", or of one with
 * other nodes, which it names. */
enum facet_gfx12_driver facet_gfx12_header_find(const uint8_t *bytes,
                                                uint64_t size,
                                                struct facet_gfx12_structure *out,
                                                char reason[FACET_GFX12_REASON]);

/* "TLAS", "BLAS"; "instances", "boxes", "triangles". */
const char *facet_gfx12_structure_kind(const struct facet_gfx12_structure *s);
const char *facet_gfx12_structure_contents(const struct facet_gfx12_structure *s);
/* What a field holds of a header at `header`, which has all its bytes: the bits, or the float that
 * they are. */
uint64_t facet_gfx12_field_value(const uint8_t *header, const struct facet_gfx12_field *field);
double facet_gfx12_field_float(const uint8_t *header, const struct facet_gfx12_field *field);

/* "RTIP 1.1" for the level as GPURT and RADV number it. */
const char *facet_gfx12_rtip_name(uint32_t level);
bool facet_gfx12_rtip_is_3_1(uint32_t level);

#endif
