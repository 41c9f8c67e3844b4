/* XMEM.DSTOREC and XMEM.DLOADC: zero-value compression between two memory ranges.
 *
 * A stream is a header of four words {"ZVC1", raw length, payload length, 0} and, for every eight
 * raw bytes, a mask byte and the bytes that are not zero. A first pass sizes or validates the
 * stream without the trace seeing it; the second does the work.
 *
 * Spec: R-XM-22, R-XM-23, R-XM-44, R-XM-50. */
#include "base/bits.h"
#include "xphmg/memory.h"
#include "xphmg/vendor.h"
#include "xphmg/xmem_unit.h"

enum { ZVC_MAGIC = 0x3143565A, HEADER_BYTES = 16, GROUP = 8 };

enum action {
    ACTION_COPY,     /* off */
    ACTION_FALLBACK, /* copy, and tell with COMP_ERR */
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

/* ---- compression -------------------------------------------------------------------------------
 */

/* Bytes after the header; UINT64_MAX when a device refuses to be read. */
static uint64_t payload_bytes(const struct facet_hart *h, uint64_t from, uint64_t size)
{
    uint64_t total = 0;

    for (uint64_t i = 0; i < size; i += GROUP) {
        uint8_t bytes[GROUP] = {0};

        if (facet_mem_read_bytes(h->mem, from + i, bytes, group_bytes(size, i)).fault !=
            FACET_MEM_OK) {
            return UINT64_MAX;
        }
        total++;
        for (unsigned k = 0; k < GROUP; k++) {
            total += bytes[k] != 0;
        }
    }
    return total;
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

struct facet_trap facet_xmem_compress(struct facet_hart *h, const struct facet_insn *in)
{
    enum action action = choose(h, in);
    uint64_t to = h->x[in->rd], from = h->x[in->rs1], size = h->x[in->rs2], payload, at;
    struct facet_trap trap;

    facet_hart_unit(h, "xmem", "dstorec", 4, (uint64_t[]){to, from, size, action});
    if (action != ACTION_ZVC) {
        return plain_copy(h, action, to, from, size);
    }
    trap = facet_xmem_probe(h, facet_xmem_inline(h), from, size, false);
    if (trap.taken) {
        return facet_xmem_fault(h, facet_xmem_inline(h), trap);
    }
    payload = payload_bytes(h, from, size);
    if (size > UINT32_MAX || payload > UINT32_MAX) {
        return comp_error(h);
    }
    trap = facet_xmem_probe(h, facet_xmem_inline(h), to, HEADER_BYTES + payload, true);
    if (!trap.taken && overlap(to, HEADER_BYTES + payload, from, size)) {
        return comp_error(h);
    }
    if (!trap.taken) {
        trap = write_header(h, to, size, payload);
    }
    at = to + HEADER_BYTES;
    for (uint64_t i = 0; i < size && !trap.taken; i += GROUP) {
        trap = pack_group(h, &at, from + i, group_bytes(size, i));
    }
    return trap.taken ? facet_xmem_fault(h, facet_xmem_inline(h), trap) : trap;
}

/* ---- decompression -----------------------------------------------------------------------------
 */

/* Whether the payload is exactly the masks and bytes of `size` raw bytes. */
static bool payload_fits(const struct facet_hart *h, uint64_t from, uint64_t payload, uint64_t size)
{
    uint64_t at = 0;

    for (uint64_t i = 0; i < size; i += GROUP) {
        uint64_t mask;

        if (at >= payload || facet_mem_read(h->mem, from + at, 1, &mask).fault != FACET_MEM_OK ||
            (mask >> group_bytes(size, i)) != 0) {
            return false;
        }
        at += 1 + facet_popcount64(mask);
    }
    return at == payload;
}

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

struct facet_trap facet_xmem_decompress(struct facet_hart *h, const struct facet_insn *in)
{
    struct facet_xmem_actor actor = facet_xmem_inline(h);
    enum action action = choose(h, in);
    uint64_t to = h->x[in->rd], from = h->x[in->rs1], size = h->x[in->rs2], payload;
    uint64_t low = 0, high = 0, at = from + HEADER_BYTES;
    struct facet_trap trap;

    facet_hart_unit(h, "xmem", "dloadc", 4, (uint64_t[]){to, from, size, action});
    if (action != ACTION_ZVC) {
        return plain_copy(h, action, to, from, size);
    }
    trap = facet_xmem_probe(h, actor, from, HEADER_BYTES, false);
    if (!trap.taken) {
        trap = facet_hart_load(h, from, 8, &low);
    }
    if (!trap.taken) {
        trap = facet_hart_load(h, from + 8, 8, &high);
    }
    if (trap.taken) {
        return facet_xmem_fault(h, actor, trap);
    }
    payload = (uint32_t)high;
    if ((uint32_t)low != ZVC_MAGIC || low >> 32 != size || high >> 32 != 0) {
        return comp_error(h);
    }
    trap = facet_xmem_probe_copy(h, to, size, at, payload);
    if (trap.taken) {
        return facet_xmem_fault(h, actor, trap);
    }
    if (overlap(to, size, from, HEADER_BYTES + payload) || !payload_fits(h, at, payload, size)) {
        return comp_error(h);
    }
    for (uint64_t i = 0; i < size && !trap.taken; i += GROUP) {
        trap = unpack_group(h, to + i, &at, group_bytes(size, i));
    }
    return trap.taken ? facet_xmem_fault(h, actor, trap) : trap;
}
