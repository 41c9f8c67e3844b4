/* The rules of the hart: what each instruction does, judged by the units as they stood before it.
 *
 * Events of a step come before its retirement, so the state before the step is kept here: a copy of
 * the units, renewed after every instruction that may change them, and the old value of each x
 * register that the step has written. */
#include "lint/internal.h"
#include "lint/jobs.h"

#include "mem/mem.h"
#include "xphmg/csr_file.h"
#include "xphmg/platform.h"
#include "xphmg/vendor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MEMO_BITS = 10, DESCRIPTOR_BYTES = 72 /* of the larger one; both are latched */ };

/* An image of MODE or ALT that waits for its APPLY. */
struct stage {
    uint64_t pc;    /* that wrote it */
    unsigned depth; /* of traps, then */
    bool used;      /* a numeric operation has run since */
};

struct hart_state {
    struct facet_units before;
    uint64_t old_x[32];
    uint32_t touched; /* x registers with a value in old_x */
    unsigned depth;   /* of traps */
    struct stage stage[2];
    /* The step that is under way, from its first memory access on. */
    bool known;
    enum lint_queue queue; /* of the job that it submits; LINT_QUEUES: none */
    uint64_t descriptor;   /* of that job */
};

struct hart_lint {
    struct facet_xphmg *m;
    struct lint_store *store;
    struct lint_jobs jobs;
    bool late; /* a job runs by itself */
    struct facet_insn memo[1 << MEMO_BITS];
    struct hart_state hart[];
};

/* ---- looking at the machine ---- */

static const struct facet_insn *decode(struct hart_lint *l, uint32_t word)
{
    struct facet_insn *known = &l->memo[(word * UINT32_C(0x9E3779B1)) >> (32 - MEMO_BITS)];

    if (known->length == 0 || known->word != word) {
        *known = facet_insn_decode(word);
    }
    return known;
}

static struct lint_place here(const struct hart_lint *l, uint32_t core)
{
    return (struct lint_place){core, l->m->harts[core].pc};
}

static uint64_t x_before(const struct hart_lint *l, uint32_t core, unsigned reg)
{
    const struct hart_state *s = &l->hart[core];

    return (s->touched >> reg & 1) != 0 ? s->old_x[reg] : l->m->harts[core].x[reg];
}

static enum facet_xphmg_extension extension(const struct facet_insn *in)
{
    return in->row < FACET_XPHMG_OP_COUNT ? facet_xphmg_extension[in->row]
                                          : FACET_XPHMG_EXT_MACHINE;
}

static bool is_csr(const struct facet_insn *in)
{
    return in->row >= FACET_XPHMG_CSRRW && in->row <= FACET_XPHMG_CSRRCI;
}

/* The image that waits for an APPLY and would change the register. */
static bool
staged(const struct facet_units *units, enum facet_prec_reg reg, uint64_t *image, bool *differs)
{
    const struct facet_prec *prec = &units->cap.prec;
    bool unsup = false;

    *image = prec->staged[reg] & ~FACET_CAP_PREC_SMODE_VALID;
    *differs = (reg == FACET_PREC_MODE ? facet_prec_legal_mode(*image, &unsup)
                                       : facet_prec_legal_alt(*image, &unsup)) != prec->image[reg];
    return (prec->staged[reg] & FACET_CAP_PREC_SMODE_VALID) != 0;
}

/* ---- operations ---- */

static bool is_float_op(const struct facet_insn *in)
{
    enum facet_xphmg_extension e = extension(in);

    switch (in->row) {
    case FACET_XPHMG_FLH:
    case FACET_XPHMG_FLW:
    case FACET_XPHMG_FLD:
    case FACET_XPHMG_FSH:
    case FACET_XPHMG_FSW:
    case FACET_XPHMG_FSD:
        return false;
    default:
        return e == FACET_XPHMG_EXT_RV64F || e == FACET_XPHMG_EXT_RV64D || e == FACET_XPHMG_EXT_ZFH;
    }
}

/* Whether the instruction obeys CAP.PREC. */
static bool is_numeric(const struct facet_insn *in, const struct facet_units *units)
{
    switch (extension(in)) {
    case FACET_XPHMG_EXT_RT:
    case FACET_XPHMG_EXT_MTX:
        return true;
    case FACET_XPHMG_EXT_GFX:
        return in->row != FACET_XPHMG_GFX_FENCE && in->row != FACET_XPHMG_GFX_CULL_COMPOSE &&
               (FACET_GFX_CSR(&units->gfx, CFG) & FACET_GFXCFG_EN) != 0;
    case FACET_XPHMG_EXT_XMEM:
        return in->row == FACET_XPHMG_XMEM_SVM || in->row == FACET_XPHMG_XSUBMIT_RT ||
               in->row == FACET_XPHMG_XSUBMIT_MTX;
    default:
        return (units->rsv.svstate & FACET_SVSTATE_EN) != 0 && is_float_op(in);
    }
}

static void check_staged(struct hart_lint *l, struct lint_place place, const struct facet_insn *in)
{
    static const char *const names[] = {"CAP.PREC.MODE", "CAP.PREC.ALT"};
    struct hart_state *s = &l->hart[place.core];

    if (!is_numeric(in, &s->before)) {
        return;
    }
    for (int reg = FACET_PREC_MODE; reg <= FACET_PREC_ALT; reg++) {
        uint64_t image;
        bool differs;

        if (staged(&s->before, (enum facet_prec_reg)reg, &image, &differs) && differs) {
            s->stage[reg].used = true;
            lint_add(l->store,
                     place,
                     FACET_LINT_PREC_STAGED,
                     "%s = 0x%" PRIx64 " was staged at 0x%" PRIx64,
                     names[reg],
                     image,
                     s->stage[reg].pc);
        }
    }
}

static void check_gfx(struct hart_lint *l, struct lint_place place, const struct facet_insn *in)
{
    const struct facet_gfx *gfx = &l->hart[place.core].before.gfx;
    uint64_t cfg = FACET_GFX_CSR(gfx, CFG);

    if (extension(in) != FACET_XPHMG_EXT_GFX) {
        return;
    }
    if ((cfg & FACET_GFXCFG_EN) == 0) {
        lint_add(l->store, place, FACET_LINT_GFX_OFF, "%s", "");
    } else if (in->row == FACET_XPHMG_GFX_SAMPLE && facet_insn_field(in, "m") != 0 &&
               (cfg & FACET_GFXCFG_CONVERT_EN) == 0) {
        lint_add(l->store, place, FACET_LINT_GFX_FILTER, "%s", "");
    } else if (in->row == FACET_XPHMG_GFX_HZ_BUILD &&
               (uint64_t)facet_insn_field(in, "ll") >=
                   FACET_GET(FACET_GFX_CSR(gfx, HIZCFG), GFXHIZCFG_LEVELS)) {
        lint_add(l->store,
                 place,
                 FACET_LINT_GFX_HIZ,
                 "level %u, LEVELS = %u",
                 (unsigned)facet_insn_field(in, "ll"),
                 (unsigned)FACET_GET(FACET_GFX_CSR(gfx, HIZCFG), GFXHIZCFG_LEVELS));
    }
}

static void check_rt(struct hart_lint *l, struct lint_place place, const struct facet_insn *in)
{
    if ((extension(in) == FACET_XPHMG_EXT_RT || in->row == FACET_XPHMG_XSUBMIT_RT) &&
        (l->hart[place.core].before.rt.cfg & FACET_RTCFG_EN) == 0) {
        lint_add(l->store, place, FACET_LINT_RT_OFF, "%s", "");
    }
}

/* ---- registers ---- */

static enum facet_csr_op operation(const struct facet_insn *in)
{
    switch (in->row) {
    case FACET_XPHMG_CSRRS:
    case FACET_XPHMG_CSRRSI:
        return FACET_CSRRS;
    case FACET_XPHMG_CSRRC:
    case FACET_XPHMG_CSRRCI:
        return FACET_CSRRC;
    default:
        return FACET_CSRRW;
    }
}

/* MODE and ALT: staged without APPLY, committed with it (R-CAP-14). */
static void check_prec_write(struct hart_lint *l, struct lint_place place, struct lint_csr_write *w)
{
    enum { BIT31 = 31 };
    const uint64_t apply = FACET_CAP_PREC_MODE_APPLY0;
    struct hart_state *s = &l->hart[place.core];
    enum facet_prec_reg reg =
        w->number == FACET_CSR_CAP_PREC_MODE ? FACET_PREC_MODE : FACET_PREC_ALT;
    struct stage *stage = &s->stage[reg];
    uint64_t image;
    bool differs, pending = staged(&s->before, reg, &image, &differs);

    w->written = facet_csr_combine(w->op, pending ? image : w->old, w->operand);
    w->held = w->op == FACET_CSRRC || (w->written & apply) == 0;
    w->spoken = apply;
    if (w->op != FACET_CSRRC && (w->operand >> BIT31 & 1) != 0 && (w->operand & apply) == 0) {
        lint_add(
            l->store, place, FACET_LINT_PREC_BIT31, "0x%" PRIx64 " is only staged", w->operand);
        w->spoken |= UINT64_C(1) << BIT31;
    }
    if (pending && differs && !w->held && w->op == FACET_CSRRS &&
        (stage->used || stage->depth != s->depth)) {
        lint_add(l->store,
                 place,
                 FACET_LINT_PREC_COMMIT,
                 "0x%" PRIx64 " was staged at 0x%" PRIx64 "%s",
                 image,
                 stage->pc,
                 stage->depth != s->depth ? ", on the other side of a trap" : "");
    }
    if (pending && differs && w->op == FACET_CSRRW && !w->held && stage->depth != s->depth) {
        lint_add(l->store,
                 place,
                 FACET_LINT_PREC_LOST,
                 "0x%" PRIx64 " was staged at 0x%" PRIx64,
                 image,
                 stage->pc);
    }
    if (w->held) {
        *stage = (struct stage){place.pc, s->depth, false};
    }
}

static void check_csr(struct hart_lint *l, struct lint_place place, const struct facet_insn *in)
{
    struct facet_hart *h = &l->m->harts[place.core];
    const struct facet_units *before = &l->hart[place.core].before;
    bool immediate = in->row >= FACET_XPHMG_CSRRWI && in->row <= FACET_XPHMG_CSRRCI;
    struct lint_csr_write w = {.number = (uint32_t)in->imm, .op = operation(in)};

    if (w.op != FACET_CSRRW && in->rs1 == 0) { /* only reads */
        return;
    }
    if (w.number == FACET_CSR_XIREG) {
        w.number = (uint32_t)before->cap.xisel;
    }
    w.row = facet_csr_at(FACET_ISA_XPHMG, w.number);
    /* What RISC-V itself has may be written by portable software, whatever it keeps. */
    if (w.row == NULL || facet_csr_entry_of(w.row)->base || h->xmem == NULL ||
        !facet_units_csr(before, h->xmem, w.number, &w.old) ||
        !facet_units_csr(&h->units, h->xmem, w.number, &w.stored)) {
        return;
    }
    w.operand = immediate ? in->rs1 : x_before(l, place.core, in->rs1);
    w.written = facet_csr_combine(w.op, w.old, w.operand);
    if (w.number == FACET_CSR_CAP_PREC_MODE || w.number == FACET_CSR_CAP_PREC_ALT) {
        check_prec_write(l, place, &w);
    }
    lint_csr_check(l->store, place, &w);
}

/* ---- jobs ---- */

/* What the instruction submits; it has not retired yet. */
static enum lint_queue submits(const struct hart_lint *l, const struct facet_insn *in)
{
    switch (in->row) {
    case FACET_XPHMG_XSUBMIT_RT:
        return LINT_QUEUE_RT;
    case FACET_XPHMG_XSUBMIT_MTX:
        return LINT_QUEUE_MTX;
    case FACET_XPHMG_XLDS_CPY:
        return facet_insn_field(in, "async") != 0 &&
                       (l->m->cap.xmem_cap & FACET_CAP_XMEM_CAP_XDMA) != 0
                   ? LINT_QUEUE_COPY
                   : LINT_QUEUES;
    default:
        return LINT_QUEUES;
    }
}

/* The first access of a step: is it a job's? */
static void begin_step(struct hart_lint *l, uint32_t core)
{
    struct facet_hart *h = &l->m->harts[core];
    struct hart_state *s = &l->hart[core];
    uint32_t word = 0;

    s->known = true;
    s->queue = LINT_QUEUES;
    if (facet_mem_peek(h->mem, h->pc, &word, sizeof word).fault == FACET_MEM_OK) {
        const struct facet_insn *in = decode(l, word);

        s->queue = submits(l, in);
        s->descriptor = x_before(l, core, in->rs1);
    }
    if (s->queue != LINT_QUEUES) {
        lint_jobs_begin(&l->jobs, s->queue, h->pc);
    }
}

/* A submission latches its descriptor: software may change it at once. */
static bool is_descriptor(const struct hart_lint *l, const struct facet_memory_event *event)
{
    const struct hart_state *s = &l->hart[event->core];

    return s->queue != LINT_QUEUE_COPY && !event->write &&
           event->address - s->descriptor < DESCRIPTOR_BYTES;
}

static void hear_memory(void *self, const struct facet_memory_event *event)
{
    struct hart_lint *l = self;
    struct hart_state *s = &l->hart[event->core];
    const struct lint_job *job;

    if (l->late) {
        lint_jobs_note(&l->jobs, event->address, event->size, event->write);
        return;
    }
    if (!s->known) {
        begin_step(l, event->core);
    }
    job = lint_jobs_disturbed(&l->jobs, event->address, event->size, event->write, s->queue);
    if (job != NULL) {
        lint_add(l->store,
                 here(l, event->core),
                 event->write ? FACET_LINT_JOB_DATA : FACET_LINT_JOB_RESULT,
                 "address 0x%" PRIx64 ", submitted at 0x%" PRIx64,
                 event->address,
                 job->pc);
    }
    if (s->queue != LINT_QUEUES && !is_descriptor(l, event)) {
        lint_jobs_note(&l->jobs, event->address, event->size, event->write);
    }
}

/* Which jobs a fence has completed. */
static void fence(struct hart_lint *l, uint32_t core, const struct facet_insn *in)
{
    enum { DOM_RT = 2, DOM_MTX = 3, TICKET_SEQUENCE = FACET_TICKET_QUEUE_LSB };
    uint64_t ticket;

    switch (in->row) {
    case FACET_XPHMG_XFENCE_WAIT:
        ticket = x_before(l, core, in->rs1);
        lint_jobs_wait(&l->jobs,
                       ticket >> TICKET_SEQUENCE == FACET_QUEUE_RT    ? LINT_QUEUE_RT
                       : ticket >> TICKET_SEQUENCE == FACET_QUEUE_MTX ? LINT_QUEUE_MTX
                                                                      : LINT_QUEUES,
                       ticket & facet_bits_mask(TICKET_SEQUENCE));
        break;
    case FACET_XPHMG_XFENCE_PIPE:
        if (facet_insn_field(in, "dom") != DOM_MTX) {
            lint_jobs_wait(&l->jobs, LINT_QUEUE_RT, UINT64_MAX);
        }
        if (facet_insn_field(in, "dom") != DOM_RT) {
            lint_jobs_wait(&l->jobs, LINT_QUEUE_MTX, UINT64_MAX);
        }
        if (facet_insn_field(in, "ff") != 0) {
            lint_jobs_wait(&l->jobs, LINT_QUEUE_COPY, UINT64_MAX);
        }
        break;
    case FACET_XPHMG_XLDS_BAR:
    case FACET_XPHMG_GFX_FENCE:
        lint_jobs_wait(&l->jobs, LINT_QUEUE_COPY, UINT64_MAX);
        break;
    default:
        break;
    }
}

/* A program may also look at RTSTAT.BUSY until it is 0. */
static void poll_busy(struct hart_lint *l, uint32_t core, const struct facet_insn *in)
{
    const struct facet_csr_row *row = facet_csr_at(FACET_ISA_XPHMG, (uint32_t)in->imm);

    if (row != NULL && row == facet_csr_at(FACET_ISA_XPHMG, FACET_CSR_RTSTAT) &&
        (l->m->harts[core].units.rt.stat & FACET_RTSTAT_BUSY) == 0) {
        lint_jobs_wait(&l->jobs, LINT_QUEUE_RT, UINT64_MAX);
    }
}

static void end_submission(struct hart_lint *l, uint32_t core)
{
    const struct hart_state *s = &l->hart[core];

    if (s->known && s->queue != LINT_QUEUES) {
        const struct facet_xmem *xmem = &l->m->xmem;

        lint_jobs_submitted(&l->jobs,
                            s->queue == LINT_QUEUE_RT    ? xmem->ticket_rt
                            : s->queue == LINT_QUEUE_MTX ? xmem->ticket_mtx
                                                         : 0);
    }
}

/* Jobs that complete late run between two steps (xphmg/jobs.h). */
static void hear_unit(void *self, const struct facet_unit_event *event)
{
    struct hart_lint *l = self;
    bool rt = strcmp(event->unit, "rt") == 0, mtx = strcmp(event->unit, "mtx") == 0;

    if (strcmp(event->what, "start") == 0) {
        l->late = true;
        lint_jobs_run(&l->jobs,
                      rt    ? LINT_QUEUE_RT
                      : mtx ? LINT_QUEUE_MTX
                            : LINT_QUEUE_COPY,
                      event->values[0] & facet_bits_mask(FACET_TICKET_QUEUE_LSB));
    } else if (strcmp(event->what, "done") == 0 && l->late) {
        l->late = false;
        lint_jobs_ran(&l->jobs);
    }
}

/* At the end: a hart that stands at XFENCE.WAIT for a ticket that nobody was given. */
static void check_waiting(struct hart_lint *l, const struct facet_hart *h)
{
    uint64_t sequence = h->wait_on & facet_bits_mask(FACET_TICKET_QUEUE_LSB);
    uint64_t queue = h->wait_on >> FACET_TICKET_QUEUE_LSB;
    uint64_t last = queue == FACET_QUEUE_RT    ? l->m->xmem.ticket_rt
                    : queue == FACET_QUEUE_MTX ? l->m->xmem.ticket_mtx
                                               : 0;

    if (h->waiting && h->wait == FACET_WAIT_TICKET && sequence > last) {
        lint_add(l->store,
                 here(l, (uint32_t)h->hartid),
                 FACET_LINT_WAIT_TICKET,
                 "ticket 0x%" PRIx64,
                 h->wait_on);
    }
}

/* ---- steps ---- */

static void hear_reg(void *self, const struct facet_reg_event *event)
{
    struct hart_lint *l = self;
    struct hart_state *s = &l->hart[event->core];

    if (event->index < 32 && (s->touched >> event->index & 1) == 0) {
        s->old_x[event->index] = event->old_value.lo;
        s->touched |= UINT32_C(1) << event->index;
    }
}

static void end_step(struct hart_lint *l, uint32_t core, bool units_may_differ)
{
    struct hart_state *s = &l->hart[core];

    s->touched = 0;
    s->known = false;
    if (units_may_differ) {
        s->before = l->m->harts[core].units;
    }
}

static void hear_retire(void *self, const struct facet_retire_event *event)
{
    struct hart_lint *l = self;
    struct hart_state *s = &l->hart[event->core];
    const struct facet_insn *in = decode(l, event->word);
    struct lint_place place = {event->core, event->pc};
    bool vendor = extension(in) >= FACET_XPHMG_EXT_GFX && extension(in) <= FACET_XPHMG_EXT_XMEM;
    bool rsv = (s->before.rsv.svstate & FACET_SVSTATE_EN) != 0;

    if (vendor || rsv) {
        check_rt(l, place, in);
        check_gfx(l, place, in);
        check_staged(l, place, in);
        fence(l, event->core, in);
        end_submission(l, event->core);
    } else if (is_csr(in)) {
        check_csr(l, place, in);
        poll_busy(l, event->core, in);
    } else if (in->row == FACET_XPHMG_MRET && s->depth > 0) {
        s->depth--;
    }
    end_step(l, event->core, vendor || rsv || is_csr(in) || in->row == FACET_XPHMG_MRET);
}

static void hear_trap(void *self, const struct facet_trap_event *event)
{
    struct hart_lint *l = self;

    lint_jobs_refused(&l->jobs);
    l->hart[event->core].depth++;
    end_step(l, event->core, true);
}

/* ---- life ---- */

static void finish(void *self)
{
    struct hart_lint *l = self;

    for (size_t i = 0; l->m->end == FACET_STOP_EXIT && i < l->jobs.count; i++) {
        const struct lint_job *job = &l->jobs.job[i];

        if (job->queue != LINT_QUEUE_COPY) {
            lint_add(l->store, (struct lint_place){0, job->pc}, FACET_LINT_JOB_UNWAITED, "%s", "");
        }
    }
    for (uint32_t i = 0; i < l->m->hart_count; i++) {
        check_waiting(l, &l->m->harts[i]);
    }
    l->store->failed |= l->jobs.failed;
}

static void destroy(void *self)
{
    struct hart_lint *l = self;

    lint_jobs_free(&l->jobs);
    free(l);
}

void *lint_hart_create(facet_machine *machine, struct lint_store *store, bool *failed)
{
    struct facet_xphmg *m = facet_machine_self(machine, &facet_xphmg_ops);
    struct hart_lint *l;

    if (m == NULL) {
        return NULL;
    }
    l = calloc(1, sizeof *l + m->hart_count * sizeof l->hart[0]);
    *failed = l == NULL;
    if (l != NULL) {
        l->m = m;
        l->store = store;
        for (uint32_t i = 0; i < m->hart_count; i++) {
            l->hart[i].before = m->harts[i].units;
        }
    }
    return l;
}

const struct lint_machine_ops lint_hart_ops = {
    hear_retire, hear_reg, hear_memory, hear_trap, hear_unit, finish, destroy};
