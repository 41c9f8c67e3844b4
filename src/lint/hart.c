/* The rules of the hart: what each instruction does, judged by the units as they stood before it.
 *
 * Events of a step come before its retirement, so the state before the step is kept here: a copy of
 * the units, renewed after every instruction that may change them, and the old value of each x
 * register that the step has written. */
#include "lint/internal.h"
#include "lint/jobs.h"
#include "lint/race.h"

#include "base/bits.h"
#include "mem/mem.h"
#include "xphmg/hart/csr_file.h"
#include "xphmg/machine.h"
#include "xphmg/units/vendor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MEMO_BITS = 10 };

/* An image of MODE or ALT that waits for its APPLY. */
struct stage {
    uint64_t pc;    /* that wrote it */
    unsigned depth; /* of traps: of whom it belongs to */
    bool used;      /* a numeric operation has run since */
    bool saved;     /* a handler has read it: it is not lost */
    bool restored;  /* written as SMODE or SALT: of whom a handler returns to */
};

struct hart_state {
    struct facet_units before;
    uint64_t old_x[32];
    uint32_t touched; /* x registers with a value in old_x */
    unsigned depth;   /* of traps */
    struct stage stage[2];
    /* The step that is under way, from its first memory access on. */
    bool known;
    unsigned queue;      /* of the job that it submits, or LINT_NO_QUEUE */
    uint64_t descriptor; /* of that job */
    uint32_t word;       /* of the instruction */
    /* The last LR, until its SC: 0 for none, and the first access since. */
    uint64_t lr_pc, lr_address, between;
    bool lr_wide; /* LR.D */
    bool lr_lost; /* to a trap */
};

struct hart_lint {
    struct facet_xphmg *m;
    struct lint_store *store;
    struct lint_jobs jobs;
    bool late;              /* a job runs by itself */
    struct lint_race *race; /* for FACET_LINT_SET_ORDER, with several harts */
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
               (FACET_XPHMG_GFX_CSR(&units->gfx, CFG) & FACET_GFXCFG_EN) != 0;
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
            facet_lint_add(l->store,
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
    const struct facet_xphmg_gfx *gfx = &l->hart[place.core].before.gfx;
    uint64_t cfg = FACET_XPHMG_GFX_CSR(gfx, CFG);

    if (extension(in) != FACET_XPHMG_EXT_GFX) {
        return;
    }
    if ((cfg & FACET_GFXCFG_EN) == 0) {
        facet_lint_add(l->store, place, FACET_LINT_GFX_OFF, "%s", "");
    } else if (in->row == FACET_XPHMG_GFX_SAMPLE && facet_insn_field(in, "m") != 0 &&
               (cfg & FACET_GFXCFG_CONVERT_EN) == 0) {
        facet_lint_add(l->store, place, FACET_LINT_GFX_FILTER, "%s", "");
    } else if (in->row == FACET_XPHMG_GFX_HZ_BUILD &&
               (uint64_t)facet_insn_field(in, "ll") >=
                   FACET_GET(FACET_XPHMG_GFX_CSR(gfx, HIZCFG), GFXHIZCFG_LEVELS)) {
        facet_lint_add(l->store,
                       place,
                       FACET_LINT_GFX_HIZ,
                       "level %u, LEVELS = %u",
                       (unsigned)facet_insn_field(in, "ll"),
                       (unsigned)FACET_GET(FACET_XPHMG_GFX_CSR(gfx, HIZCFG), GFXHIZCFG_LEVELS));
    }
}

static void check_rt(struct hart_lint *l, struct lint_place place, const struct facet_insn *in)
{
    if ((extension(in) == FACET_XPHMG_EXT_RT || in->row == FACET_XPHMG_XSUBMIT_RT) &&
        (l->hart[place.core].before.rt.cfg & FACET_RTCFG_EN) == 0) {
        facet_lint_add(l->store, place, FACET_LINT_RT_OFF, "%s", "");
    }
}

/* ---- registers ---- */

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

    w->written = facet_hart_csr_combine(w->op, pending ? image : w->old, w->operand);
    w->held = w->op == FACET_CSRRC || (w->written & apply) == 0;
    w->spoken = apply;
    if (w->op != FACET_CSRRC && (w->operand >> BIT31 & 1) != 0 && (w->operand & apply) == 0) {
        facet_lint_add(
            l->store, place, FACET_LINT_PREC_BIT31, "0x%" PRIx64 " is only staged", w->operand);
        w->spoken |= UINT64_C(1) << BIT31;
    }
    if (pending && differs && !w->held && w->op == FACET_CSRRS &&
        (stage->used || stage->depth != s->depth)) {
        facet_lint_add(l->store,
                       place,
                       FACET_LINT_PREC_COMMIT,
                       "0x%" PRIx64 " was staged at 0x%" PRIx64 "%s",
                       image,
                       stage->pc,
                       stage->depth != s->depth ? ", on the other side of a trap" : "");
    }
    if (pending && differs && w->op == FACET_CSRRW && !w->held && stage->depth != s->depth &&
        !stage->saved) {
        facet_lint_add(l->store,
                       place,
                       FACET_LINT_PREC_LOST,
                       "0x%" PRIx64 " was staged at 0x%" PRIx64,
                       image,
                       stage->pc);
    }
    if (w->held) {
        *stage = (struct stage){.pc = place.pc, .depth = s->depth};
    }
}

/* SMODE and SALT (R-CAP-65): a handler reads them to save what the program has staged, and writes
 * them to give it back. */
static void note_image(struct hart_state *s, uint64_t pc, uint32_t number, bool reads, bool writes)
{
    struct stage *stage =
        &s->stage[number == FACET_CSR_CAP_PREC_SMODE ? FACET_PREC_MODE : FACET_PREC_ALT];

    if (number != FACET_CSR_CAP_PREC_SMODE && number != FACET_CSR_CAP_PREC_SALT) {
        return;
    }
    if (reads && stage->depth != s->depth) {
        stage->saved = true;
    }
    if (writes) {
        *stage = (struct stage){.pc = pc, .depth = s->depth, .restored = true};
    }
}

static void leave_trap(struct hart_state *s)
{
    for (int reg = FACET_PREC_MODE; reg <= FACET_PREC_ALT && s->depth > 0; reg++) {
        struct stage *stage = &s->stage[reg];

        if (stage->restored && stage->depth == s->depth) {
            stage->depth--;
        }
    }
    s->depth -= s->depth > 0;
}

static void check_csr(struct hart_lint *l, struct lint_place place, const struct facet_insn *in)
{
    struct facet_hart *h = &l->m->harts[place.core];
    const struct facet_units *before = &l->hart[place.core].before;
    bool immediate = in->row >= FACET_XPHMG_CSRRWI && in->row <= FACET_XPHMG_CSRRCI;
    struct lint_csr_write w = {.number = (uint32_t)in->imm, .op = facet_insn_csr_op(in)};
    bool writes = w.op == FACET_CSRRW || in->rs1 != 0;

    if (w.number == FACET_CSR_XIREG) {
        w.number = (uint32_t)before->cap.xisel;
        note_image(&l->hart[place.core], place.pc, w.number, in->rd != 0, writes);
    }
    if (!writes) {
        return;
    }
    w.row = facet_csr_at(FACET_ISA_XPHMG, w.number);
    /* What RISC-V itself has may be written by portable software, whatever it keeps. */
    if (w.row == NULL || facet_hart_csr_entry_of(w.row)->base || h->xmem == NULL ||
        !facet_units_csr(before, h->xmem, w.number, &w.old) ||
        !facet_units_csr(&h->units, h->xmem, w.number, &w.stored)) {
        return;
    }
    w.operand = immediate ? in->rs1 : x_before(l, place.core, in->rs1);
    w.written = facet_hart_csr_combine(w.op, w.old, w.operand);
    if (w.number == FACET_CSR_CAP_PREC_MODE || w.number == FACET_CSR_CAP_PREC_ALT) {
        check_prec_write(l, place, &w);
    }
    facet_lint_csr_check(l->store, place, &w);
}

/* ---- jobs ---- */

/* The queue that the instruction submits a job to. Copies report themselves: hear_unit. */
static unsigned submits(const struct facet_insn *in)
{
    switch (in->row) {
    case FACET_XPHMG_XSUBMIT_RT:
        return FACET_QUEUE_RT;
    case FACET_XPHMG_XSUBMIT_MTX:
        return FACET_QUEUE_MTX;
    default:
        return LINT_NO_QUEUE;
    }
}

static void begin_job(struct hart_lint *l, uint32_t core, unsigned queue, bool lds)
{
    l->hart[core].known = true;
    l->hart[core].queue = queue;
    if (queue != LINT_NO_QUEUE) {
        facet_lint_jobs_begin(&l->jobs,
                              (struct lint_submission){core, l->m->harts[core].pc, queue, lds});
    }
}

/* The first access of a step: is it a job's? */
static void begin_step(struct hart_lint *l, uint32_t core)
{
    struct facet_hart *h = &l->m->harts[core];
    unsigned queue = LINT_NO_QUEUE;
    uint8_t code[4];

    if (facet_mem_peek(h->mem, h->pc, code, sizeof code).fault == FACET_MEM_OK) {
        const struct facet_insn *in = decode(l, facet_load_le32(code));

        queue = submits(in);
        l->hart[core].word = facet_load_le32(code);
        l->hart[core].descriptor = x_before(l, core, in->rs1);
    }
    begin_job(l, core, queue, false);
}

/* A submission latches its descriptor: software may change it at once. */
static bool is_descriptor(const struct hart_lint *l, const struct facet_memory_event *event)
{
    const struct hart_state *s = &l->hart[event->core];

    return s->queue != FACET_QUEUE_COPY && !event->write &&
           event->address - s->descriptor < FACET_JOB_BYTES;
}

/* ---- order between harts ---- */

enum { CLINT = 0x2000000, MSIP_END = 0x4000, CSR_MIP = 0x344, FENCE_R = 2, FENCE_W = 1 };
#define KEY_INTERRUPT (UINT64_C(1) << 62)
#define KEY_TOKEN (UINT64_C(3) << 62)

static bool is_lr(const struct facet_insn *in)
{
    return in->row == FACET_XPHMG_LR_W || in->row == FACET_XPHMG_LR_D;
}

static bool is_sc(const struct facet_insn *in)
{
    return in->row == FACET_XPHMG_SC_W || in->row == FACET_XPHMG_SC_D;
}

static void note_race(struct hart_lint *l, const struct facet_memory_event *event)
{
    enum { AQ = 26, RL = 25 };
    const struct hart_state *s = &l->hart[event->core];
    const struct facet_insn *in = decode(l, s->word);
    bool atomic = extension(in) == FACET_XPHMG_EXT_RV64A;
    struct lint_race_access access = {.place = here(l, event->core),
                                      .address = event->address,
                                      .size = event->size,
                                      .write = event->write,
                                      .atomic = atomic,
                                      .acquire = atomic && (s->word >> AQ & 1) != 0,
                                      .release = atomic && (s->word >> RL & 1) != 0};
    uint8_t byte;

    if (event->write && event->address - CLINT < MSIP_END) {
        facet_lint_race_send(l->race, event->core, KEY_INTERRUPT + (event->address - CLINT));
    } else if (facet_mem_peek(l->m->harts[0].mem, event->address, &byte, 1).fault == FACET_MEM_OK) {
        facet_lint_race_access(l->race, &access);
    }
}

/* LR and SC: what the architecture lets succeed is an SC to the place of the last LR, of its size,
 * with nothing of memory in between. */
static void
check_reservation(struct hart_lint *l, struct lint_place place, const struct facet_insn *in)
{
    struct hart_state *s = &l->hart[place.core];
    uint64_t address = x_before(l, place.core, in->rs1);
    struct lint_place lr = {place.core, s->lr_pc};

    if (is_lr(in)) {
        s->lr_pc = place.pc;
        s->lr_address = address;
        s->lr_wide = in->row == FACET_XPHMG_LR_D;
        s->between = 0;
        s->lr_lost = false;
    } else if (is_sc(in)) {
        if (s->lr_pc == 0 && !s->lr_lost) {
            facet_lint_add(l->store, place, FACET_LINT_LR_SC, "there is no LR before");
        } else if (s->lr_pc != 0 && s->lr_address != address) {
            facet_lint_add_pair(l->store,
                                place,
                                lr,
                                FACET_LINT_LR_SC,
                                "another place than LR at 0x%" PRIx64,
                                lr.pc);
        } else if (s->lr_pc != 0 && s->lr_wide != (in->row == FACET_XPHMG_SC_D)) {
            facet_lint_add_pair(
                l->store, place, lr, FACET_LINT_LR_SC, "another size than LR at 0x%" PRIx64, lr.pc);
        } else if (s->lr_pc != 0 && s->between != 0) {
            facet_lint_add_pair(l->store,
                                place,
                                (struct lint_place){place.core, s->between},
                                FACET_LINT_LR_SC,
                                "between LR and SC memory is accessed at 0x%" PRIx64,
                                s->between);
        }
        s->lr_pc = 0;
        s->lr_lost = false;
    }
}

/* What a step that has retired orders. */
static void follow_order(struct hart_lint *l, struct lint_place place, const struct facet_insn *in)
{
    uint32_t pred = in->word >> 24 & 15, succ = in->word >> 20 & 15;

    check_reservation(l, place, in);
    if (l->race == NULL) {
        return;
    }
    if (in->row == FACET_XPHMG_FENCE) {
        facet_lint_race_fence(l->race,
                              place.core,
                              (pred & FENCE_R) != 0 && (succ & FENCE_R) != 0,
                              (pred & FENCE_W) != 0 && (succ & FENCE_W) != 0);
    } else if (in->row == FACET_XPHMG_WFI || (is_csr(in) && in->imm == CSR_MIP)) {
        facet_lint_race_receive(l->race, place.core, KEY_INTERRUPT + 4 * place.core);
    } else if (in->row == FACET_XPHMG_XFENCE_SIGNAL) {
        facet_lint_race_send(
            l->race, place.core, KEY_TOKEN + 4 * (uint64_t)facet_insn_field(in, "token"));
    } else if (in->row == FACET_XPHMG_XFENCE_WAITI) {
        facet_lint_race_receive(
            l->race, place.core, KEY_TOKEN + 4 * (uint64_t)facet_insn_field(in, "token"));
    }
}

static bool in_order(struct hart_lint *l)
{
    bool asked = (l->store->sets & FACET_LINT_SET_ORDER) != 0;

    if (asked && l->race == NULL && l->m->hart_count > 1) {
        l->race = facet_lint_race_create(l->store, l->m->hart_count);
        l->store->failed |= l->race == NULL;
    }
    return asked;
}

static void hear_memory(void *self, const struct facet_memory_event *event)
{
    struct hart_lint *l = self;
    struct hart_state *s = &l->hart[event->core];
    const struct lint_job *job;

    if (l->late) {
        facet_lint_jobs_note(&l->jobs, event->address, event->size, event->write);
        return;
    }
    if (!s->known) {
        begin_step(l, event->core);
    }
    if (in_order(l)) {
        const struct facet_insn *in = decode(l, s->word);

        if (s->lr_pc != 0 && s->between == 0 && !is_lr(in) && !is_sc(in)) {
            s->between = l->m->harts[event->core].pc;
        }
        if (l->race != NULL) {
            note_race(l, event);
        }
    }
    job = facet_lint_jobs_disturbed(&l->jobs, event->address, event->size, event->write, s->queue);
    if (job != NULL) {
        facet_lint_add_pair(l->store,
                            here(l, event->core),
                            (struct lint_place){job->by.hart, job->by.pc},
                            event->write ? FACET_LINT_JOB_DATA : FACET_LINT_JOB_RESULT,
                            "address 0x%" PRIx64 ", submitted at 0x%" PRIx64,
                            event->address,
                            job->by.pc);
    }
    if (s->queue != LINT_NO_QUEUE && !is_descriptor(l, event)) {
        facet_lint_jobs_note(&l->jobs, event->address, event->size, event->write);
    }
}

/* Which jobs an instruction has waited for. */
static void fence(struct hart_lint *l, uint32_t core, const struct facet_insn *in)
{
    uint64_t ticket;

    if (in->row == FACET_XPHMG_XFENCE_WAIT) {
        ticket = x_before(l, core, in->rs1);
        facet_lint_jobs_wait(&l->jobs,
                             (unsigned)(ticket >> FACET_TICKET_QUEUE_LSB),
                             ticket & facet_bits_mask(FACET_TICKET_QUEUE_LSB));
    } else {
        facet_lint_jobs_fence(&l->jobs, core, facet_jobs_waited(in, &l->hart[core].before));
    }
}

/* A program may also look at RTSTAT.BUSY until it is 0. */
static void poll_busy(struct hart_lint *l, uint32_t core, const struct facet_insn *in)
{
    const struct facet_csr_row *row = facet_csr_at(FACET_ISA_XPHMG, (uint32_t)in->imm);

    if (row != NULL && row == facet_csr_at(FACET_ISA_XPHMG, FACET_CSR_RTSTAT) &&
        (l->m->harts[core].units.rt.stat & FACET_RTSTAT_BUSY) == 0) {
        facet_lint_jobs_fence(&l->jobs, core, FACET_JOBS_RT);
    }
}

/* In a machine that completes jobs at once; one that is late reports them itself. */
static void end_submission(struct hart_lint *l, uint32_t core)
{
    const struct facet_xmem *xmem = &l->m->xmem;
    unsigned queue = l->hart[core].queue;

    facet_lint_jobs_submitted(&l->jobs,
                              queue == FACET_QUEUE_RT    ? xmem->ticket_rt
                              : queue == FACET_QUEUE_MTX ? xmem->ticket_mtx
                                                         : 0);
}

static unsigned queue_of(const struct facet_unit_event *event)
{
    return strcmp(event->unit, "rt") == 0    ? FACET_QUEUE_RT
           : strcmp(event->unit, "mtx") == 0 ? FACET_QUEUE_MTX
                                             : FACET_QUEUE_COPY;
}

/* Copies, and jobs that complete late: those run between two steps (xphmg/units/jobs.h). */
static void hear_unit(void *self, const struct facet_unit_event *event)
{
    enum { TO, FROM, SIZE, SWIZZLE, ASYNC }; /* of "copy" */
    struct hart_lint *l = self;
    const uint64_t *v = event->values;
    uint64_t sequence = v[0] & facet_bits_mask(FACET_TICKET_QUEUE_LSB);

    if (strcmp(event->what, "copy") == 0 && event->count > ASYNC && v[ASYNC] != 0) {
        begin_job(
            l, event->core, FACET_QUEUE_COPY, facet_jobs_copy_in_lds(v[TO], v[FROM], v[SIZE]));
    } else if (strcmp(event->what, "submit") == 0) {
        facet_lint_jobs_submitted(&l->jobs, sequence);
    } else if (strcmp(event->what, "start") == 0) {
        l->late = true;
        facet_lint_jobs_run(&l->jobs, queue_of(event), sequence);
    } else if (strcmp(event->what, "done") == 0 && l->late) {
        l->late = false;
        facet_lint_jobs_ran(&l->jobs);
        l->hart[event->core].before = l->m->harts[event->core].units; /* its status */
    }
}

/* At the end: a hart that waits in XFENCE.WAIT for a ticket that was never issued. */
static void check_waiting(struct hart_lint *l, const struct facet_hart *h)
{
    uint64_t sequence = h->wait_on & facet_bits_mask(FACET_TICKET_QUEUE_LSB);
    uint64_t queue = h->wait_on >> FACET_TICKET_QUEUE_LSB;
    uint64_t last = queue == FACET_QUEUE_RT    ? l->m->xmem.ticket_rt
                    : queue == FACET_QUEUE_MTX ? l->m->xmem.ticket_mtx
                                               : 0;

    if (h->waiting && h->wait == FACET_WAIT_TICKET && sequence > last) {
        facet_lint_add(l->store,
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
    }
    if (in_order(l)) {
        follow_order(l, place, in);
    }
    if (is_csr(in)) { /* under RSV too */
        check_csr(l, place, in);
        poll_busy(l, event->core, in);
    } else if (in->row == FACET_XPHMG_MRET) {
        leave_trap(s);
    }
    end_step(l, event->core, vendor || rsv || is_csr(in) || in->row == FACET_XPHMG_MRET);
}

static void hear_trap(void *self, const struct facet_trap_event *event)
{
    struct hart_lint *l = self;

    facet_lint_jobs_refused(&l->jobs);
    if (l->race != NULL && event->interrupt) {
        facet_lint_race_receive(l->race, event->core, KEY_INTERRUPT + 4 * event->core);
    }
    l->hart[event->core].lr_lost = l->hart[event->core].lr_pc != 0;
    l->hart[event->core].lr_pc = 0;
    l->hart[event->core].depth++;
    end_step(l, event->core, true);
}

/* ---- life ---- */

static void finish(void *self)
{
    struct hart_lint *l = self;

    for (size_t i = 0; l->m->end == FACET_STOP_EXIT && i < l->jobs.count; i++) {
        const struct lint_submission *by = &l->jobs.job[i].by;

        facet_lint_add(
            l->store, (struct lint_place){by->hart, by->pc}, FACET_LINT_JOB_UNWAITED, "%s", "");
    }
    for (uint32_t i = 0; i < l->m->hart_count; i++) {
        check_waiting(l, &l->m->harts[i]);
        if (l->race != NULL) {
            facet_lint_race_begin(l->race, i);
        }
    }
    l->store->failed |= l->jobs.failed;
}

static void destroy(void *self)
{
    struct hart_lint *l = self;

    facet_lint_jobs_free(&l->jobs);
    facet_lint_race_free(l->race);
    free(l);
}

void *facet_lint_hart_create(facet_machine *machine, struct lint_store *store, bool *failed)
{
    struct facet_xphmg *m = facet_machine_self(machine, &facet_xphmg_ops, NULL);
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
