/* XMEM.DSTOREC and XMEM.DLOADC: zero-value compression between two memory ranges.
 *
 * A stream is a header of four words {"ZVC1", raw length, payload length, 0} and, for every eight
 * raw bytes, a mask byte and the bytes that are not zero. A first pass sizes or validates the
 * stream without the trace seeing it; the second does the work. Both can be left on the way
 * (part.h).
 *
 * Spec: R-XM-22, R-XM-23, R-XM-44, R-XM-50. */
#include "base/bits.h"
#include "xphmg/hart/memory.h"
#include "xphmg/units/part.h"
#include "xphmg/units/vendor.h"
#include "xphmg/xmem/unit.h"

enum { ZVC_MAGIC = 0x3143565A, HEADER_BYTES = 16, GROUP = 8 };

enum action {
    ACTION_COPY,     /* off */
    ACTION_FALLBACK, /* copy, and report with COMP_ERR */
    ACTION_ZVC,
};

/* Mode, dictionary and feature: R-XM-22. */
static enum action choose(const struct facet_hart *h, const struct facet_insn *in)
{
    uint64_t control = FACET_XMEM_CSR(h, COMP_CTL);
    uint64_t mode = (uint64_t)facet_insn_field(in, "mode");

    if (!FACET_XMEM_HAS(h, COMPRESS)) {
        return ACTION_FALLBACK;
    }
    mode = mode != 0 ? mode : FACET_GET(control, CAP_XMEM_COMP_CTL_MODE);
    if (mode == 0) {
        return ACTION_COPY;
    }
    return mode != 1 || FACET_GET(control, CAP_XMEM_COMP_CTL_DICT) != 0 ? ACTION_FALLBACK
                                                                        : ACTION_ZVC;
}

static struct facet_trap comp_error(struct facet_hart *h)
{
    facet_cap_event(h, FACET_CAP_XMEM_EVENTS_COMP_ERR);
    return FACET_RETIRED;
}

static bool overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
    return a - b < b_size || b - a < a_size;
}

static struct facet_trap
plain_copy(struct facet_hart *h, enum action action, uint64_t to, uint64_t from, uint64_t size)
{
    struct facet_trap trap = facet_xmem_probe_copy(h, to, size, from, size);

    if (trap.taken) {
        return facet_xmem_fault(h, facet_xmem_inline(h), trap);
    }
    if (action == ACTION_FALLBACK) {
        facet_cap_event(h, FACET_CAP_XMEM_EVENTS_COMP_ERR);
    }
    return facet_xmem_move(h, to, from, size);
}

static unsigned group_bytes(uint64_t size, uint64_t done)
{
    return size - done < GROUP ? (unsigned)(size - done) : GROUP;
}

/* ---- one of two passes on its way ---------------------------------------------------------------
 */

struct pass {
    bool second;
    uint64_t raw;     /* raw bytes that this pass has done */
    uint64_t stream;  /* bytes after the header that it has counted, read or written */
    uint64_t payload; /* of the whole stream; known to the second pass */
};

/* Groups between two questions whether to leave, and nanoseconds that one takes. */
enum { GROUPS_ASKED = 64, GROUP_NANOSECONDS = 40 };

static struct pass pass_of(const struct facet_part *part)
{
    return part == NULL ? (struct pass){0}
                        : (struct pass){part->at[0] != 0, part->at[1], part->at[2], part->at[3]};
}

/* A group is done, and others follow: whether a part is left here. */
static bool
leave(struct facet_hart *h, enum facet_part_kind kind, const struct pass *p, uint64_t size)
{
    struct facet_part *part;

    if (p->raw % (GROUPS_ASKED * GROUP) != 0 ||
        !facet_part_work(h, GROUPS_ASKED * GROUP_NANOSECONDS) || p->raw >= size) {
        return false;
    }
    part = facet_part_leave(h, kind);
    part->at[0] = p->second;
    part->at[1] = p->raw;
    part->at[2] = p->stream;
    part->at[3] = p->payload;
    return true;
}

/* ---- compression -------------------------------------------------------------------------------
 */

/* Counts the bytes after the header; false: a device refuses to be read. */
static bool count_group(const struct facet_hart *h, uint64_t from, unsigned count, uint64_t *total)
{
    uint8_t bytes[GROUP] = {0};

    if (facet_mem_read_bytes(h->mem, from, bytes, count).fault != FACET_MEM_OK) {
        return false;
    }
    ++*total;
    for (unsigned k = 0; k < GROUP; k++) {
        *total += bytes[k] != 0;
    }
    return true;
}

static struct facet_trap
write_header(struct facet_hart *h, uint64_t to, uint64_t raw, uint64_t payload)
{
    struct facet_trap trap = facet_hart_store(h, to, 8, ZVC_MAGIC | raw << 32);

    return trap.taken ? trap : facet_hart_store(h, to + 8, 8, payload);
}

/* One group to *to, which moves on. */
static struct facet_trap
pack_group(struct facet_hart *h, uint64_t *to, uint64_t from, unsigned count)
{
    struct facet_trap trap = FACET_RETIRED;
    uint64_t value, mask_at = *to;
    unsigned mask = 0;

    (*to)++;
    for (unsigned k = 0; k < count && !trap.taken; k++) {
        trap = facet_hart_load(h, from + k, 1, &value);
        if (!trap.taken && value != 0) {
            mask |= 1u << k;
            trap = facet_hart_store(h, (*to)++, 1, value);
        }
    }
    return trap.taken ? trap : facet_hart_store(h, mask_at, 1, mask);
}

/* Counts the whole payload, checks the destination and writes the header; true: the second pass
 * comes. Otherwise a part is left, or *trap is how it ends. */
static bool size_stream(struct facet_hart *h,
                        struct pass *p,
                        uint64_t to,
                        uint64_t from,
                        uint64_t size,
                        struct facet_trap *trap)
{
    bool good = true;

    while (p->raw < size && good) {
        unsigned count = group_bytes(size, p->raw);

        good = count_group(h, from + p->raw, count, &p->stream);
        p->raw += count;
        if (good && leave(h, FACET_PART_COMPRESS, p, size)) {
            return false;
        }
    }
    if (!good || size > UINT32_MAX || p->stream > UINT32_MAX) {
        *trap = comp_error(h);
        return false;
    }
    *trap = facet_xmem_probe(h, facet_xmem_inline(h), to, HEADER_BYTES + p->stream, true);
    if (!trap->taken && overlap(to, HEADER_BYTES + p->stream, from, size)) {
        *trap = comp_error(h);
        return false;
    }
    if (!trap->taken) {
        *trap = write_header(h, to, size, p->stream);
    }
    if (trap->taken) {
        (void)facet_xmem_fault(h, facet_xmem_inline(h), *trap);
        return false;
    }
    *p = (struct pass){.second = true};
    return true;
}

static struct facet_trap
pack(struct facet_hart *h, struct pass *p, uint64_t to, uint64_t from, uint64_t size)
{
    while (p->raw < size) {
        unsigned count = group_bytes(size, p->raw);
        uint64_t at = to + HEADER_BYTES + p->stream;
        struct facet_trap trap = pack_group(h, &at, from + p->raw, count);

        if (trap.taken) {
            return facet_xmem_fault(h, facet_xmem_inline(h), trap);
        }
        p->stream = at - to - HEADER_BYTES;
        p->raw += count;
        if (leave(h, FACET_PART_COMPRESS, p, size)) {
            break;
        }
    }
    return FACET_RETIRED;
}

struct facet_trap facet_xmem_compress(struct facet_hart *h, const struct facet_insn *in)
{
    const struct facet_part *part = facet_part_resume(h, FACET_PART_COMPRESS);
    const struct facet_part *copy = facet_part_resume(h, FACET_PART_COPY);
    uint64_t to = h->x[in->rd], from = h->x[in->rs1], size = h->x[in->rs2];
    struct pass p = pass_of(part);
    struct facet_trap trap = FACET_RETIRED;

    if (copy != NULL) {
        return facet_xmem_move_rest(h, copy);
    }
    if (part == NULL) {
        enum action action = choose(h, in);

        facet_hart_unit(h, "xmem", "dstorec", 4, (uint64_t[]){to, from, size, action});
        if (action != ACTION_ZVC) {
            return plain_copy(h, action, to, from, size);
        }
        trap = facet_xmem_probe(h, facet_xmem_inline(h), from, size, false);
        if (trap.taken) {
            return facet_xmem_fault(h, facet_xmem_inline(h), trap);
        }
    }
    return p.second || size_stream(h, &p, to, from, size, &trap) ? pack(h, &p, to, from, size)
                                                                 : trap;
}

/* ---- decompression -----------------------------------------------------------------------------
 */

/* One group from *from, which moves on. */
static struct facet_trap
unpack_group(struct facet_hart *h, uint64_t to, uint64_t *from, unsigned count)
{
    uint64_t mask, value;
    struct facet_trap trap = facet_hart_load(h, (*from)++, 1, &mask);

    for (unsigned k = 0; k < count && !trap.taken; k++) {
        value = 0;
        if ((mask >> k & 1) != 0) {
            trap = facet_hart_load(h, (*from)++, 1, &value);
        }
        if (!trap.taken) {
            trap = facet_hart_store(h, to + k, 1, value);
        }
    }
    return trap;
}

/* Whether the payload is exactly the masks and bytes of `size` raw bytes. False also when a part is
 * left. */
static bool payload_fits(struct facet_hart *h, struct pass *p, uint64_t from, uint64_t size)
{
    while (p->raw < size) {
        unsigned count = group_bytes(size, p->raw);
        uint64_t mask;

        if (p->stream >= p->payload ||
            facet_mem_read(h->mem, from + p->stream, 1, &mask).fault != FACET_MEM_OK ||
            (mask >> count) != 0) {
            return false;
        }
        p->stream += 1 + facet_popcount64(mask);
        p->raw += count;
        if (leave(h, FACET_PART_DECOMPRESS, p, size)) {
            return false;
        }
    }
    return p->stream == p->payload;
}

static struct facet_trap
unpack(struct facet_hart *h, struct pass *p, uint64_t to, uint64_t from, uint64_t size)
{
    while (p->raw < size) {
        unsigned count = group_bytes(size, p->raw);
        uint64_t at = from + p->stream;
        struct facet_trap trap = unpack_group(h, to + p->raw, &at, count);

        if (trap.taken) {
            return facet_xmem_fault(h, facet_xmem_inline(h), trap);
        }
        p->stream = at - from;
        p->raw += count;
        if (leave(h, FACET_PART_DECOMPRESS, p, size)) {
            break;
        }
    }
    return FACET_RETIRED;
}

/* Reads the header and looks at both ranges: true: the payload comes, of p->payload bytes.
 * Otherwise *trap is how it ends. */
static bool read_header(struct facet_hart *h,
                        struct pass *p,
                        uint64_t to,
                        uint64_t from,
                        uint64_t size,
                        struct facet_trap *trap)
{
    struct facet_xmem_actor actor = facet_xmem_inline(h);
    uint64_t low = 0, high = 0;

    *trap = facet_xmem_probe(h, actor, from, HEADER_BYTES, false);
    if (!trap->taken) {
        *trap = facet_hart_load(h, from, 8, &low);
    }
    if (!trap->taken) {
        *trap = facet_hart_load(h, from + 8, 8, &high);
    }
    p->payload = (uint32_t)high;
    if (!trap->taken && ((uint32_t)low != ZVC_MAGIC || low >> 32 != size || high >> 32 != 0)) {
        *trap = comp_error(h);
        return false;
    }
    if (!trap->taken) {
        *trap = facet_xmem_probe_copy(h, to, size, from + HEADER_BYTES, p->payload);
    }
    if (trap->taken) {
        (void)facet_xmem_fault(h, actor, *trap);
        return false;
    }
    if (overlap(to, size, from, HEADER_BYTES + p->payload)) {
        *trap = comp_error(h);
        return false;
    }
    return true;
}

struct facet_trap facet_xmem_decompress(struct facet_hart *h, const struct facet_insn *in)
{
    const struct facet_part *part = facet_part_resume(h, FACET_PART_DECOMPRESS);
    const struct facet_part *copy = facet_part_resume(h, FACET_PART_COPY);
    uint64_t to = h->x[in->rd], from = h->x[in->rs1], size = h->x[in->rs2];
    uint64_t at = from + HEADER_BYTES;
    struct pass p = pass_of(part);
    struct facet_trap trap;

    if (copy != NULL) {
        return facet_xmem_move_rest(h, copy);
    }
    if (part == NULL) {
        enum action action = choose(h, in);

        facet_hart_unit(h, "xmem", "dloadc", 4, (uint64_t[]){to, from, size, action});
        if (action != ACTION_ZVC) {
            return plain_copy(h, action, to, from, size);
        }
        if (!read_header(h, &p, to, from, size, &trap)) {
            return trap;
        }
    }
    if (!p.second) {
        if (!payload_fits(h, &p, at, size)) {
            return facet_part_left(h) ? FACET_RETIRED : comp_error(h);
        }
        p = (struct pass){.second = true};
    }
    return unpack(h, &p, to, at, size);
}
