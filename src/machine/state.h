/* Saving and loading a machine's state with one list of fields.
 *
 * A machine writes one function that names each field once; the same function saves and loads:
 *
 *     static void visit(struct hart *h, struct facet_state_io *io)
 *     {
 *         facet_state_tag(io, "hart");
 *         facet_state_u64(io, &h->pc);
 *         facet_state_u64s(io, h->x, 32);
 *     }
 *
 * Loading reads into a copy, checks it, and takes it over when facet_state_done(io) is true. After
 * the first failure every call does nothing, so there is one check at the end. Numbers are
 * little-endian on every host. */
#ifndef FACET_MACHINE_STATE_H
#define FACET_MACHINE_STATE_H

#include "base/error.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct facet_state_io {
    bool loading;
    bool failed;
    bool lacking;             /* failed for lack of memory */
    struct facet_strbuf *out; /* saving */
    const uint8_t *data;      /* loading: [at, size) is left */
    size_t size;
    size_t at;
    size_t origin; /* offset of data[0] in the whole snapshot, for messages */
    struct facet_error *err;
};

struct facet_state_io facet_state_saver(struct facet_strbuf *out);
struct facet_state_io
facet_state_loader(const void *data, size_t size, size_t origin, struct facet_error *err);

/* Marks the start of a part by the hash of its name: a reader that lost its place finds out here.
 */
void facet_state_tag(struct facet_state_io *io, const char *name);
void facet_state_bool(struct facet_state_io *io, bool *value);
void facet_state_u8(struct facet_state_io *io, uint8_t *value);
void facet_state_u16(struct facet_state_io *io, uint16_t *value);
void facet_state_u32(struct facet_state_io *io, uint32_t *value);
void facet_state_u64(struct facet_state_io *io, uint64_t *value);
void facet_state_u16s(struct facet_state_io *io, uint16_t *values, size_t count);
void facet_state_u32s(struct facet_state_io *io, uint32_t *values, size_t count);
void facet_state_u64s(struct facet_state_io *io, uint64_t *values, size_t count);
void facet_state_bytes(struct facet_state_io *io, void *bytes, size_t size);

/* Loading: refuses with "offset N: WHAT" when the condition is false. Saving: does nothing. */
void facet_state_require(struct facet_state_io *io, bool condition, const char *what);
/* The same for an allocation that loading needs. */
void facet_state_need(struct facet_state_io *io, bool allocated);
/* Loading: everything was read, nothing is left over, nothing failed. */
bool facet_state_done(struct facet_state_io *io);

#endif
