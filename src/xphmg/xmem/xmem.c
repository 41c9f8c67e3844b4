/* XMEM: which file executes a row; cache control, line locks and streaming, which place data and
 * never change it.
 *
 * Spec: spec/pmask-xmem.insn.tsv, R-XM-01, R-XM-03, R-XM-24, R-XM-36, R-CAP-52. */
#include "xphmg/units/jobs.h"
#include "xphmg/units/vendor.h"
#include "xphmg/xmem/unit.h"

enum { SCOPE_LAST = 4, PREF_HINTS = 7 };

/* ---- line locks --------------------------------------------------------------------------------
 */

/* Lines of a range: address of the first, their number. */
struct lines {
    uint64_t first, count;
    unsigned log2;
};

static struct lines lines_of(const struct facet_hart *h, uint64_t address, uint64_t size)
{
    unsigned log2 = (unsigned)FACET_GET(h->units.config->xmem_params, CAP_XMEM_PARAMS_L1_LINE_LOG2);
    uint64_t inside = (UINT64_C(1) << log2) - 1, last = size - 1;

    return (struct lines){
        .first = address & ~inside,
        .count =
            size == 0 ? 0 : (last >> log2) + (((last & inside) + (address & inside)) >> log2) + 1,
        .log2 = log2,
    };
}

static bool is_locked(const struct facet_xmem *xmem, uint64_t line)
{
    for (uint32_t i = 0; i < xmem->lock_count; i++) {
        if (xmem->locks[i] == line) {
            return true;
        }
    }
    return false;
}

void facet_xmem_lock(struct facet_hart *h, uint64_t address, uint64_t size)
{
    struct facet_xmem *xmem = h->xmem;
    struct lines lines = lines_of(h, address, size);
    uint64_t room = FACET_GET(h->units.config->xmem_params, CAP_XMEM_PARAMS_LOCK_LINES);
    bool enabled = FACET_GET(FACET_XMEM_CSR(h, L1CFG), CAP_XMEM_L1CFG_LOCK_EN) != 0;

    if (!FACET_XMEM_HAS(h, LINE_LOCK)) {
        return;
    }
    for (uint64_t i = 0; i < lines.count; i++) {
        uint64_t line = lines.first + (i << lines.log2);

        if (!enabled || (!is_locked(xmem, line) && xmem->lock_count >= room)) {
            facet_cap_event(h, FACET_CAP_XMEM_EVENTS_LOCK_OVF);
            return;
        }
        if (!is_locked(xmem, line)) {
            xmem->locks[xmem->lock_count++] = line;
        }
    }
}

static void unlock(struct facet_hart *h, uint64_t address, uint64_t size)
{
    struct facet_xmem *xmem = h->xmem;
    struct lines lines = lines_of(h, address, size);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < xmem->lock_count; i++) {
        if ((xmem->locks[i] - lines.first) >> lines.log2 >= lines.count) {
            xmem->locks[kept++] = xmem->locks[i];
        }
    }
    xmem->lock_count = kept;
}

/* ---- the rest ----------------------------------------------------------------------------------
 */

/* Told to the trace and nothing else. */
static struct facet_trap
placement(struct facet_hart *h, const struct facet_insn *in, const char *what, uint64_t hint)
{
    facet_hart_unit(h, "xmem", what, 3, (uint64_t[]){h->x[in->rs1], h->x[in->rs2], hint});
    return FACET_RETIRED;
}

/* XMEM.STREAM is a csrw of the register that x[rs1] names (R-CAP-52). */
static struct facet_trap stream(struct facet_hart *h, const struct facet_insn *in)
{
    uint64_t which = h->x[in->rs1];

    if (which <= 4) {
        unsigned number = which == 0 ? FACET_CSR_CAP_XMEM_STREAM_CTL
                                     : FACET_CSR_CAP_XMEM_SPROF0 + (unsigned)which - 1;

        (void)facet_vendor_csr_write(h, number, FACET_CSRRW, h->x[in->rs2]);
    }
    return placement(h, in, "stream", 0);
}

static struct facet_trap cache_control(struct facet_hart *h, const struct facet_insn *in)
{
    switch (in->row) {
    case FACET_XPHMG_XMEM_CCTL_INV:
        return placement(h, in, "cctl.inv", 0);
    case FACET_XPHMG_XMEM_CCTL_FLUSH:
        return placement(h, in, "cctl.flush", 0);
    case FACET_XPHMG_XMEM_CCTL_LOCK:
        facet_xmem_lock(h, h->x[in->rs1], h->x[in->rs2]);
        return placement(h, in, "cctl.lock", h->xmem->lock_count);
    default:
        unlock(h, h->x[in->rs1], h->x[in->rs2]);
        return placement(h, in, "cctl.unlock", h->xmem->lock_count);
    }
}

static struct facet_trap barrier(struct facet_hart *h, const struct facet_insn *in)
{
    uint64_t scope = (uint64_t)facet_insn_field(in, "scope");

    if (scope > SCOPE_LAST) {
        return facet_xmem_illegal(in);
    }
    (void)facet_xmem_wait(h, FACET_WAIT_JOBS, facet_jobs_waited(in, &h->units));
    if (!h->stalled) {
        facet_hart_unit(h, "xmem", "lds.bar", 1, &scope);
    }
    return FACET_RETIRED;
}

static struct facet_trap execute_lds(struct facet_hart *h, const struct facet_insn *in)
{
    if (!FACET_XMEM_HAS(h, LDS)) {
        return facet_xmem_illegal(in);
    }
    switch (in->row) {
    case FACET_XPHMG_XLDS_ALLOC:
        return facet_xmem_alloc(h, in);
    case FACET_XPHMG_XLDS_FREE:
        return facet_xmem_free(h, in);
    case FACET_XPHMG_XLDS_BAR:
        return barrier(h, in);
    case FACET_XPHMG_XLDS_CPY:
        return facet_xmem_copy(h, in);
    default:
        return facet_xmem_atomic(h, in);
    }
}

struct facet_trap facet_xmem_execute(struct facet_hart *h, const struct facet_insn *in)
{
    switch ((enum facet_xphmg_op)in->row) {
    case FACET_XPHMG_XLDS_ALLOC:
    case FACET_XPHMG_XLDS_FREE:
    case FACET_XPHMG_XLDS_BAR:
    case FACET_XPHMG_XLDS_CPY:
    case FACET_XPHMG_XLDS_ATOMS_ADD_W:
    case FACET_XPHMG_XLDS_ATOMS_ADD_D:
    case FACET_XPHMG_XLDS_ATOMS_SWAP_W:
    case FACET_XPHMG_XLDS_ATOMS_SWAP_D:
    case FACET_XPHMG_XLDS_ATOMS_AND_W:
    case FACET_XPHMG_XLDS_ATOMS_AND_D:
    case FACET_XPHMG_XLDS_ATOMS_OR_W:
    case FACET_XPHMG_XLDS_ATOMS_OR_D:
    case FACET_XPHMG_XLDS_ATOMS_XOR_W:
    case FACET_XPHMG_XLDS_ATOMS_XOR_D:
    case FACET_XPHMG_XLDS_ATOMS_MIN_W:
    case FACET_XPHMG_XLDS_ATOMS_MIN_D:
    case FACET_XPHMG_XLDS_ATOMS_MAX_W:
    case FACET_XPHMG_XLDS_ATOMS_MAX_D:
    case FACET_XPHMG_XLDS_ATOMS_MINU_W:
    case FACET_XPHMG_XLDS_ATOMS_MINU_D:
    case FACET_XPHMG_XLDS_ATOMS_MAXU_W:
    case FACET_XPHMG_XLDS_ATOMS_MAXU_D:
    case FACET_XPHMG_XLDS_ATOMS_CAS_W:
    case FACET_XPHMG_XLDS_ATOMS_CAS_D:
        return execute_lds(h, in);
    case FACET_XPHMG_XMEM_LDG_B:
    case FACET_XPHMG_XMEM_LDG_H:
    case FACET_XPHMG_XMEM_LDG_W:
    case FACET_XPHMG_XMEM_LDG_D:
    case FACET_XPHMG_XMEM_LDG_BU:
    case FACET_XPHMG_XMEM_LDG_HU:
    case FACET_XPHMG_XMEM_LDG_WU:
        return facet_xmem_load(h, in);
    case FACET_XPHMG_XMEM_STG_B:
    case FACET_XPHMG_XMEM_STG_H:
    case FACET_XPHMG_XMEM_STG_W:
    case FACET_XPHMG_XMEM_STG_D:
        return facet_xmem_store(h, in);
    case FACET_XPHMG_XMEM_PREF:
        return placement(h, in, "pref", (uint64_t)facet_insn_field(in, "hint") & PREF_HINTS);
    case FACET_XPHMG_XMEM_CCTL_INV:
    case FACET_XPHMG_XMEM_CCTL_FLUSH:
    case FACET_XPHMG_XMEM_CCTL_LOCK:
    case FACET_XPHMG_XMEM_CCTL_UNLOCK:
        return cache_control(h, in);
    case FACET_XPHMG_XMEM_CCTL_PARTITION:
        return facet_xmem_partition(h, in);
    case FACET_XPHMG_XMEM_CCTL_SETDOM:
        return facet_xmem_set_domain(h, in);
    case FACET_XPHMG_XMEM_STREAM:
        return stream(h, in);
    case FACET_XPHMG_XMEM_SVM:
        return facet_xmem_svm(h, in);
    case FACET_XPHMG_XMEM_DLOADC:
        return facet_xmem_decompress(h, in);
    case FACET_XPHMG_XMEM_DSTOREC:
        return facet_xmem_compress(h, in);
    case FACET_XPHMG_XSWZ_TEX2TEN:
    case FACET_XPHMG_XSWZ_TEN2TEX:
        return facet_xmem_swizzle(h, in);
    case FACET_XPHMG_XSUBMIT_RT:
    case FACET_XPHMG_XSUBMIT_MTX:
    case FACET_XPHMG_XFENCE_SIGNAL:
    case FACET_XPHMG_XFENCE_WAITI:
    case FACET_XPHMG_XFENCE_WAIT:
    case FACET_XPHMG_XFENCE_PIPE:
        return facet_xmem_sync(h, in);
        /* No default: the compiler finds a row without code. */
        FACET_XPHMG_ROWS_BUT_XMEM(FACET_XPHMG_CASE)
    case FACET_XPHMG_OP_COUNT:
        break;
    }
    return facet_xmem_illegal(in);
}
