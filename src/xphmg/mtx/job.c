/* XSUBMIT.MTX: one matrix, many vectors (gfx-semantics.md 16.6, R-XM-28, R-XM-40). The job runs to
 * its end before the next instruction or later (jobs.h), also when it is left on the way (part.h),
 * on a private bank; what stops it goes to MTXSTAT.JOB_ERR.
 *
 * The descriptor is XPHMG_MTX_DESC of spec/xphmg.layout.tsv. */
#include "xphmg/hart/memory.h"
#include "xphmg/mtx/mtx.h"
#include "xphmg/units/elements.h"
#include "xphmg/units/jobs.h"
#include "xphmg/units/lanes.h"
#include "xphmg/units/part.h"

#include <string.h>

struct job {
    struct facet_xphmg_mtx_desc_fields d;
    struct facet_element_port port;
    struct facet_mtx_numbers numbers;
    struct facet_mtx_load load;
    struct facet_mtx_product product;
    struct facet_mtx_bank bank;
    uint64_t exc_en;
    uint64_t next; /* vector */
    bool left;     /* the rest waits (part.h) */
};

/* Vectors between two questions whether to leave the job. */
enum { VECTORS_ASKED = 16, VECTOR_NANOSECONDS = 300 };

/* An immediate as the row of `op` would have it; false when it sets a bit that the row fixes. */
static bool instruction_of(enum facet_xphmg_op op, uint32_t imm, struct facet_insn *in)
{
    *in = facet_insn_decode(facet_isa_rows[FACET_ISA_XPHMG][op].match | imm << 20);
    return imm >> 12 == 0 && in->row == op;
}

static bool flag(const struct facet_insn *in, const char *name)
{
    return facet_insn_field(in, name) != 0;
}

/* What the two immediates and the flags ask for; false: JOB_ERR 2, before any access. */
static bool legal(struct job *job, const struct facet_hart *h, const uint8_t *descriptor)
{
    uint64_t mtxcap = h->units.config->mtxcap;
    bool mad = (job->d.flags & FACET_XPHMG_MTX_DESC_FLAGS_MAD) != 0;
    uint64_t needs = mad ? FACET_MTXCAP_HAS_MAD | FACET_MTXCAP_HAS_BIAS : FACET_MTXCAP_HAS_MUL;
    struct facet_insn ld, mul;

    if (!facet_xphmg_mtx_desc_legal(descriptor) || (mtxcap & needs) != needs ||
        !instruction_of(FACET_XPHMG_MTX_LD, job->d.ld_imm, &ld) ||
        !instruction_of(mad ? FACET_XPHMG_MTX_MAD : FACET_XPHMG_MTX_MUL, job->d.mul_imm, &mul) ||
        !facet_mtx_shape_legal((unsigned)facet_insn_field(&ld, "shape"), mtxcap) ||
        !facet_mtx_shape_legal((unsigned)facet_insn_field(&mul, "shape"), mtxcap)) {
        return false;
    }
    job->load = (struct facet_mtx_load){
        .shape = facet_mtx_shape_of((unsigned)facet_insn_field(&ld, "shape")),
        .transpose = flag(&ld, "transpose"),
        .rowmajor = flag(&ld, "rowmajor"),
        .with_bias = flag(&ld, "with_bias"),
    };
    job->product = (struct facet_mtx_product){
        .shape = facet_mtx_shape_of((unsigned)facet_insn_field(&mul, "shape")),
        .transpose =
            flag(&mul, "transpose") != (FACET_GET(h->units.mtx.cfg, MTXCFG_TRANSPOSE_DEF) != 0),
        .mad = mad,
    };
    return !job->load.with_bias || (mtxcap & FACET_MTXCAP_HAS_BIAS) != 0;
}

/* Vector k, all or nothing; returns the cause that stops the job, or 0. */
static unsigned one_vector(struct job *job, uint64_t k)
{
    unsigned n = facet_mtx_input_size(&job->product), m = facet_mtx_output_size(&job->product);
    uint32_t in[4], out[4];
    unsigned flags = 0;
    struct facet_trap trap = facet_elements_read(&job->port, job->d.vin, k * n, n, in);

    if (trap.taken) {
        return trap.cause;
    }
    facet_mtx_multiply(&job->numbers, &job->bank, &job->product, in, 1, out, &flags);
    facet_prec_raise(&job->port.h->units.cap.prec, flags);
    if (facet_prec_hits(job->exc_en, job->numbers.eff.sae, flags) != 0) {
        return FACET_CAUSE_NUMERIC;
    }
    trap = facet_elements_probe(&job->port, job->d.vout, k * m, m);
    if (!trap.taken) {
        trap = facet_elements_write(&job->port, job->d.vout, k * m, m, out);
    }
    return trap.taken ? trap.cause : 0;
}

static unsigned load_matrix(struct job *job)
{
    uint32_t image[16 + 4];
    struct facet_trap trap =
        facet_elements_read(&job->port, job->d.mat, 0, facet_mtx_image_size(&job->load), image);

    if (!trap.taken) {
        facet_mtx_load(&job->bank, job->numbers.eff.elem, &job->load, image);
    }
    return trap.taken ? trap.cause : 0;
}

/* The vectors from `next` on. */
static unsigned run(struct job *job)
{
    unsigned cause = 0;

    while (job->next < job->d.count && cause == 0 && !job->left) {
        cause = one_vector(job, job->next++);
        job->left = job->next % VECTORS_ASKED == 0 &&
                    facet_part_work(job->port.h, VECTORS_ASKED * VECTOR_NANOSECONDS) &&
                    cause == 0 && job->next < job->d.count;
    }
    return cause;
}

unsigned facet_mtx_run(struct facet_hart *h, const uint8_t *descriptor)
{
    const struct facet_insn none = {0};
    struct job job = {0};
    struct facet_xmem_job policy;
    struct facet_lanes frame;
    struct facet_part *part = facet_part_resume(h, FACET_PART_MTX);
    unsigned cause;

    facet_xphmg_mtx_desc_unpack(descriptor, &job.d);
    (void)facet_lanes_begin(h, &none, 0, &frame); /* bank 0 always exists */
    job.numbers = (struct facet_mtx_numbers){frame.eff, h->units.cap.zptab};
    if (part != NULL) {
        facet_xmem_job_resume(h, &job.d.memctl, part->pin, &policy);
    } else {
        facet_xmem_job_begin(h, &job.d.memctl, &policy);
    }
    job.port = (struct facet_element_port){h, policy.actor, facet_container_of(&frame.eff)};
    job.exc_en = frame.exc_en;
    cause = legal(&job, h, descriptor) ? 0 : FACET_CAUSE_ILLEGAL;
    if (cause == 0 && part != NULL) {
        job.bank = part->bank;
        job.next = part->at[0];
    } else if (cause == 0) {
        cause = load_matrix(&job);
    }
    if (cause == 0) {
        cause = run(&job);
    }
    if (job.left) {
        part = facet_part_leave(h, FACET_PART_MTX);
        part->pin = policy.pin;
        part->bank = job.bank;
        part->at[0] = job.next;
        return 0;
    }
    facet_xmem_job_end(h, &policy);
    if (cause != 0) {
        h->units.mtx.stat = FACET_PUT(h->units.mtx.stat, MTXSTAT_JOB_ERR, cause);
    }
    return cause;
}

struct facet_trap facet_mtx_submit(struct facet_hart *h, const struct facet_insn *in)
{
    const struct facet_cap_config *config = h->units.config;
    uint8_t bytes[FACET_XPHMG_MTX_DESC_SIZE];
    struct facet_trap trap;

    if ((config->feat0 & FACET_CAP_FEAT0_MTX_PRESENT) == 0 ||
        (config->feat1 & FACET_CAP_FEAT1_MTX_DESCQ) == 0) {
        return facet_hart_trap_make(FACET_CAUSE_UNSUPPORTED, in->word);
    }
    if (facet_jobs_resumes(h, FACET_PART_MTX)) {
        return facet_jobs_resume(h, in, FACET_QUEUE_MTX);
    }
    if (!facet_jobs_room(h, FACET_QUEUE_MTX)) {
        return FACET_RETIRED;
    }
    trap = facet_xmem_read_descriptor(h, h->x[in->rs1], sizeof bytes, bytes);
    return trap.taken ? trap : facet_jobs_submit(h, in, FACET_QUEUE_MTX, bytes, sizeof bytes);
}
