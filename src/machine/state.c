/* See state.h. */
#include "machine/state.h"

#include "base/hash.h"

struct facet_state_io facet_state_saver(struct facet_strbuf *out)
{
    struct facet_state_io io = {.loading = false, .out = out};

    return io;
}

struct facet_state_io
facet_state_loader(const void *data, size_t size, size_t origin, struct facet_error *err)
{
    struct facet_state_io io = {
        .loading = true, .data = data, .size = size, .origin = origin, .err = err};

    return io;
}

static void fail(struct facet_state_io *io, size_t at, const char *what)
{
    if (!io->failed) {
        (void)facet_fail(
            io->err, FACET_ERR_INPUT, io->origin + at, "offset %zu: %s", io->origin + at, what);
        io->failed = true;
    }
}

void facet_state_bytes(struct facet_state_io *io, void *bytes, size_t size)
{
    if (io->failed || size == 0) {
        return;
    }
    if (!io->loading) {
        facet_strbuf_add(io->out, bytes, size);
    } else if (size > io->size - io->at) {
        fail(io, io->size, "the state ends too early");
    } else {
        memcpy(bytes, io->data + io->at, size);
        io->at += size;
    }
}

/* A number of `size` bytes; gives `value` back when it was not loaded. */
static uint64_t number(struct facet_state_io *io, uint64_t value, unsigned size)
{
    uint8_t bytes[8];

    facet_store_le(bytes, size, value);
    facet_state_bytes(io, bytes, size);
    return facet_load_le(bytes, size);
}

void facet_state_tag(struct facet_state_io *io, const char *name)
{
    uint32_t tag = (uint32_t)facet_hash_string(name);
    size_t at = io->at;

    if (number(io, tag, 4) != tag) {
        fail(io, at, "a different part than expected");
    }
}

void facet_state_bool(struct facet_state_io *io, bool *value)
{
    size_t at = io->at;
    uint64_t loaded = number(io, *value, 1);

    if (loaded > 1) {
        fail(io, at, "a truth value that is neither 0 nor 1");
    } else {
        *value = loaded != 0;
    }
}

void facet_state_u8(struct facet_state_io *io, uint8_t *value)
{
    *value = (uint8_t)number(io, *value, 1);
}

void facet_state_u16(struct facet_state_io *io, uint16_t *value)
{
    *value = (uint16_t)number(io, *value, 2);
}

void facet_state_u32(struct facet_state_io *io, uint32_t *value)
{
    *value = (uint32_t)number(io, *value, 4);
}

/* On a little-endian host numbers lie in memory as they lie in the stream: all of them at once. */
#define LITTLE_ENDIAN_HOST (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

void facet_state_u64(struct facet_state_io *io, uint64_t *value)
{
    if (LITTLE_ENDIAN_HOST) {
        facet_state_bytes(io, value, sizeof *value);
    } else {
        *value = number(io, *value, 8);
    }
}

#define NUMBERS(name, type)                                                                        \
    void name##s(struct facet_state_io *io, type *values, size_t count)                            \
    {                                                                                              \
        if (LITTLE_ENDIAN_HOST) {                                                                  \
            facet_state_bytes(io, values, count * sizeof *values);                                 \
            return;                                                                                \
        }                                                                                          \
        for (size_t i = 0; i < count; i++) {                                                       \
            name(io, &values[i]);                                                                  \
        }                                                                                          \
    }
NUMBERS(facet_state_u16, uint16_t)
NUMBERS(facet_state_u32, uint32_t)
NUMBERS(facet_state_u64, uint64_t)

void facet_state_require(struct facet_state_io *io, bool condition, const char *what)
{
    if (io->loading && !condition) {
        fail(io, io->at, what);
    }
}

void facet_state_need(struct facet_state_io *io, bool allocated)
{
    if (io->loading && !allocated && !io->failed) {
        (void)facet_fail(io->err, FACET_ERR_MEMORY, 0, "out of memory");
        io->failed = io->lacking = true;
    }
}

bool facet_state_done(struct facet_state_io *io)
{
    if (io->loading && io->at != io->size) {
        fail(io, io->at, "the state is longer than expected");
    }
    return !io->failed;
}
