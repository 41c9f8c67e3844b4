/* What the vector handlers share: element types (tile-semantics.md 10.1) and vector flags. */
#ifndef FACET_TILE_EXEC_VEC_H
#define FACET_TILE_EXEC_VEC_H

#include "contract/tile_csrs.h"
#include "tile/system.h"

#define VS1 (c->r.v[op->rs1])
#define VS2 (c->r.v[op->rs2])
#define OLD_VD (c->r.v[op->rs3])

/* A lane as its bit pattern and, for integers, as its value. */
static inline uint32_t facet_tile_lane(const union facet_tile_vec *v, unsigned width, unsigned i)
{
    return width == 32 ? v->w[i] : width == 16 ? v->h[i] : v->b[i];
}

static inline int32_t facet_tile_lane_int(const union facet_tile_vec *v, unsigned width, unsigned i)
{
    return width == 32 ? (int32_t)v->w[i] : width == 16 ? (int16_t)v->h[i] : (int8_t)v->b[i];
}

static inline void
facet_tile_set_lane(union facet_tile_vec *v, unsigned width, unsigned i, uint32_t value)
{
    if (width == 32) {
        v->w[i] = value;
    } else if (width == 16) {
        v->h[i] = (uint16_t)value;
    } else {
        v->b[i] = (uint8_t)value;
    }
}

/* FP flags of a vector instruction (5.6). */
static inline void facet_tile_vector_flags(struct facet_tile_core *c, unsigned flags)
{
    c->r.fflags |= flags;
    if ((flags & FACET_NV) != 0) {
        c->r.status |= FACET_STATUS_VI;
        c->r.vstatus |= FACET_VSTATUS_INV;
    }
    if ((flags & FACET_OF) != 0) {
        c->r.status |= FACET_STATUS_VO;
        c->r.vstatus |= FACET_VSTATUS_OVF;
    }
}

static inline bool facet_tile_saturates(const struct facet_tile_core *c)
{
    return (c->r.config & FACET_CONFIG_SAT) != 0 || (c->r.vstatus & FACET_VSTATUS_VSAT) != 0;
}

/* satV was outside in some lane. */
static inline void facet_tile_outside(struct facet_tile_core *c, bool saturates)
{
    c->r.status |= FACET_STATUS_VO;
    c->r.vstatus |= saturates ? (uint32_t)FACET_VSTATUS_SAT : (uint32_t)FACET_VSTATUS_OVF;
}

#define FACET_WIDTH_I32 32
#define FACET_WIDTH_I16 16
#define FACET_WIDTH_I8 8
#define FACET_WIDTH_F16 16
#define FACET_WIDTH_F8 8
#define FACET_WIDTH_F32 32
#define FACET_FORMAT_F16 FACET_FMT_FP16
#define FACET_FORMAT_F8 FACET_FMT_E4M3
#define FACET_FORMAT_F32 FACET_FMT_FP32

#endif
