/* Snapshots of the xphmg machine: one function per unit, each naming its fields once. A new unit
 * adds its function and one line in visit_hart. */
#include "xphmg/machine.h"

#include <stdlib.h>
#include <string.h>

enum { CONSOLE_LIMIT = 1 << 30 };

static void visit_base(struct facet_hart *h, struct facet_state_io *io)
{
    uint64_t *const words[] = {&h->pc,
                               &h->mstatus,
                               &h->mtvec,
                               &h->mscratch,
                               &h->mepc,
                               &h->mcause,
                               &h->mtval,
                               &h->mie,
                               &h->mip,
                               &h->mcounteren,
                               &h->mcountinhibit,
                               &h->menvcfg,
                               &h->retired,
                               &h->minstret_offset,
                               &h->mcycle_offset,
                               &h->minstret_held,
                               &h->mcycle_held,
                               &h->reservation};

    facet_state_tag(io, "hart");
    facet_state_u64s(io, h->x, 32);
    facet_state_require(io, h->x[0] == 0, "x0, expected 0");
    facet_state_u64s(io, h->f, 32);
    facet_state_u64s(io, h->pmpaddr, sizeof h->pmpaddr / sizeof h->pmpaddr[0]);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        facet_state_u64(io, words[i]);
    }
    if (facet_hart_has_pmp(h)) {
        facet_state_bytes(io, h->pmpcfg, sizeof h->pmpcfg);
    }
    facet_state_require(io, facet_hart_pmp_holds(h), "registers of PMP");
    facet_state_require(io, (h->pc & 1) == 0, "pc, expected an even address");
    facet_state_require(io,
                        !facet_xphmg_lacks(h->units.config, FACET_EXT_C) ||
                            ((h->pc | h->mepc) & 2) == 0,
                        "pc or mepc, expected a multiple of 4 without c");
    facet_state_u8(io, &h->priv);
    facet_state_require(io,
                        (h->priv == FACET_PRIV_U && !h->units.config->hart.machine_only) ||
                            h->priv == FACET_PRIV_M,
                        "privilege, expected 0 or 3, a mode of the hart");
    facet_state_u8(io, &h->frm);
    facet_state_require(io, h->frm < 8, "frm, expected 0..7");
    facet_state_u8(io, &h->fflags);
    facet_state_require(io, h->fflags < 32, "fflags, expected 0..31");
    facet_state_u8(io, &h->fs);
    facet_state_require(
        io,
        h->fs <= FACET_FS_DIRTY &&
            (h->fs == FACET_FS_OFF || !facet_xphmg_lacks(h->units.config, FACET_EXT_F)),
        "FS, expected 0..3, and 0 without f");
    facet_state_bool(io, &h->reserved);
    facet_state_bool(io, &h->waiting);
    facet_state_u8(io, &h->wait);
    facet_state_require(io,
                        h->wait <= (h->xmem != NULL ? FACET_WAIT_ROOM : FACET_WAIT_INTERRUPT),
                        "reason to wait, expected 0..4, and 0 without vendor extensions");
    facet_state_u64(io, &h->wait_on);
    facet_state_require(io,
                        h->wait != FACET_WAIT_ROOM ||
                            (h->wait_on >= 1 && h->wait_on <= FACET_JOB_QUEUES),
                        "a hart waits for room in a queue that does not exist");
    facet_state_bool(io, &h->stalled);
}

static void visit_hart(struct facet_hart *h, struct facet_state_io *io)
{
    visit_base(h, io);
    facet_units_visit(&h->units, io);
}

static void visit_fault(struct facet_xphmg_fault *fault, struct facet_state_io *io)
{
    facet_state_u32(io, &fault->core);
    facet_state_u64(io, &fault->pc);
    facet_state_u64(io, &fault->cause);
    facet_state_u64(io, &fault->value);
    facet_state_u64(io, &fault->handler);
}

static void visit_time(struct facet_xphmg *m, struct facet_state_io *io)
{
    /* Saving writes nothing, and equal states are equal bytes: as of now. */
    uint64_t mtime = facet_xphmg_mtime(m);

    facet_state_tag(io, "time");
    facet_state_u64(io, &m->clock);
    facet_state_u64(io, &mtime);
    if (io->loading) {
        m->mtime = mtime;
    }
    facet_state_u64(io, &m->mtime_offset);
    facet_state_u64s(io, m->mtimecmp, m->hart_count);
    facet_state_u64(io, &m->msip);
    facet_state_u32(io, &m->current);
    facet_state_require(io, m->current < m->hart_count, "hart number");
    facet_state_u32(io, &m->turn_left);
    facet_state_require(io, m->turn_left <= m->quantum, "steps left of a turn");
    facet_state_bool(io, &m->idle);
}

/* Only where jobs complete late is there anything to tell; RTSTAT.BUSY must agree in either case.
 */
static void visit_jobs(struct facet_xphmg *m, struct facet_state_io *io)
{
    if (m->jobs != NULL) {
        facet_state_require(io, m->clock >> 63 == 0, "clock, expected 63 bits");
        facet_jobs_visit(m->jobs, m->harts[0].units.config, &m->xmem, m->hart_count, io);
    }
    for (uint32_t i = 0; i < m->hart_count && !io->failed; i++) {
        facet_state_require(io,
                            ((m->harts[i].units.rt.stat & FACET_RTSTAT_BUSY) != 0) ==
                                facet_jobs_pending(m->jobs, i, FACET_JOBS_RT),
                            "RTSTAT.BUSY and the jobs of RT disagree");
    }
}

static void visit_devices(struct facet_xphmg *m, struct facet_state_io *io)
{
    facet_state_tag(io, "devices");
    facet_state_u8(io, &m->uart.ier);
    facet_state_u8(io, &m->uart.lcr);
    facet_state_u8(io, &m->uart.mcr);
    facet_state_u8(io, &m->uart.scr);
    facet_state_u8(io, &m->uart.dll);
    facet_state_u8(io, &m->uart.dlm);
    facet_state_u8(io, &m->uart.fcr);
    facet_state_u64(io, &m->htif.tohost);
    facet_state_u64(io, &m->htif.fromhost);
    facet_state_u64(io, &m->htif.response);
    facet_state_bool(io, &m->htif.reading);
    facet_state_bool(io, &m->htif.writing);
    if (m->htif.writing) {
        facet_state_require(io, m->htif.tohost != 0, "an HTIF write without tohost");
        facet_state_u8(io, &m->htif.stream);
        facet_state_require(io,
                            m->htif.stream == FACET_XPHMG_OUT || m->htif.stream == FACET_XPHMG_ERR,
                            "stream of an HTIF write");
        facet_state_u64(io, &m->htif.from);
        facet_state_u64(io, &m->htif.size);
        facet_state_u64(io, &m->htif.done);
        facet_state_u64(io, &m->htif.call);
    }
    facet_state_u32(io, &m->semihost_errno);
    facet_state_u64(io, &m->entry);
    facet_state_u8(io, &m->end);
    facet_state_require(
        io, m->end == 0 || m->end == FACET_STOP_EXIT || m->end == FACET_STOP_FAULT, "end reason");
    facet_state_u32(io, &m->end_core);
    facet_state_require(io, m->end_core < m->hart_count, "hart number");
    facet_state_u64(io, &m->end_code);
    facet_state_u64(io, &m->end_address);
}

/* Only what the guest has not read yet. When loading, `bytes` is new and belongs to the copy. */
static void visit_console(struct facet_xphmg_console *c, struct facet_state_io *io)
{
    uint64_t left = c->size - c->read;

    facet_state_tag(io, "console");
    facet_state_bool(io, &c->ended);
    facet_state_bool(io, &c->told);
    facet_state_bool(io, &c->starved);
    facet_state_u64(io, &left);
    facet_state_require(io, left <= CONSOLE_LIMIT && left <= io->size - io->at, "bytes of input");
    if (io->failed) {
        return;
    }
    if (io->loading) {
        c->bytes = malloc(left != 0 ? (size_t)left : 1);
        c->read = 0;
        c->size = c->capacity = c->bytes != NULL ? (size_t)left : 0;
        facet_state_need(io, c->bytes != NULL);
    }
    if (c->size > c->read) {
        facet_state_bytes(io, c->bytes + c->read, c->size - c->read);
    }
}

enum { CHOICES = 3 + FACET_DEVICES + FACET_CONFIG_WORDS };

static void list_choices(const struct facet_cap_config *config, uint64_t words[CHOICES])
{
    const struct facet_hart_choices *hart = &config->hart;

    words[0] = hart->absent | (uint64_t)hart->bare << 32 | (uint64_t)hart->machine_only << 33 |
               (uint64_t)hart->misaligned_traps << 34 | (uint64_t)hart->pmp << 40 |
               (uint64_t)hart->pmp_entries << 48;
    words[1] = hart->first_hart;
    words[2] = config->alt_formats;
    memcpy(words + 3, config->platform.device, sizeof config->platform.device);
    memcpy(words + 3 + FACET_DEVICES, config->word, sizeof config->word);
}

/* No other machine continues in its place. */
static void visit_choices(const struct facet_cap_config *config, struct facet_state_io *io)
{
    uint64_t own[CHOICES], words[CHOICES];

    list_choices(config, own);
    memcpy(words, own, sizeof words);
    facet_state_tag(io, "choices");
    facet_state_u64s(io, words, CHOICES);
    facet_state_require(io, memcmp(words, own, sizeof own) == 0, "a different configuration");
}

static void visit(struct facet_xphmg *m, struct facet_state_io *io)
{
    uint32_t harts = m->hart_count, quantum = m->quantum;
    uint64_t steps_per_tick = m->steps_per_tick;

    facet_state_tag(io, "xphmg");
    facet_state_u32(io, &harts);
    facet_state_require(io, harts == m->hart_count, "a different number of harts");
    facet_state_u32(io, &quantum);
    facet_state_require(io, quantum == m->quantum, "a different quantum");
    facet_state_u64(io, &steps_per_tick);
    facet_state_require(io, steps_per_tick == m->steps_per_tick, "a different speed of mtime");
    visit_choices(&m->cap, io);
    for (uint32_t i = 0; i < m->hart_count; i++) {
        visit_hart(&m->harts[i], io);
        facet_told_visit(&m->told[i], io);
        visit_fault(&m->last_trap[i], io);
    }
    facet_xmem_visit(&m->xmem, io);
    visit_time(m, io);
    visit_jobs(m, io);
    facet_part_visit(&m->part, m->harts[0].units.config, m->jobs, io);
    visit_devices(m, io);
    facet_xphmg_framebuffer_visit(&m->framebuffer, io);
    visit_console(&m->console, io);
}

void facet_xphmg_save(const void *self, struct facet_state_io *io)
{
    visit((struct facet_xphmg *)self, io); /* saving writes nothing */
}

/* The arrays that loading fills. */
static bool copy_arrays(struct facet_xphmg *copy, const struct facet_xphmg *m)
{
    copy->harts = malloc(m->hart_count * sizeof *copy->harts);
    copy->mtimecmp = malloc(m->hart_count * sizeof *copy->mtimecmp);
    copy->last_trap = malloc(m->hart_count * sizeof *copy->last_trap);
    copy->told = calloc(m->hart_count, sizeof *copy->told);
    copy->console.bytes = NULL;
    copy->part.values = NULL;
    copy->jobs = m->jobs != NULL ? malloc(sizeof *copy->jobs) : NULL;
    if (copy->harts == NULL || copy->mtimecmp == NULL || copy->last_trap == NULL ||
        copy->told == NULL || (m->jobs != NULL && copy->jobs == NULL)) {
        return false;
    }
    if (m->jobs != NULL) {
        *copy->jobs = *m->jobs;
        copy->jobs->clock = &copy->clock;
    }
    memcpy(copy->harts, m->harts, m->hart_count * sizeof *copy->harts);
    memcpy(copy->mtimecmp, m->mtimecmp, m->hart_count * sizeof *copy->mtimecmp);
    memcpy(copy->last_trap, m->last_trap, m->hart_count * sizeof *copy->last_trap);
    return true;
}

static void free_arrays(struct facet_xphmg *m)
{
    free(m->harts);
    free(m->mtimecmp);
    free(m->last_trap);
    free(m->console.bytes);
}

static void load_copy(struct facet_xphmg *copy, struct facet_xphmg *m, struct facet_state_io *io)
{
    struct facet_jobs *jobs = m->jobs;
    struct facet_told *told = m->told;

    *copy = *m;
    facet_state_need(io, copy_arrays(copy, m));
    if (!io->failed) {
        visit(copy, io);
    }
    if (!facet_state_done(io)) {
        free_arrays(copy);
        facet_part_drop(&copy->part);
        free(copy->jobs);
        free(copy->told);
        return;
    }
    free_arrays(m);
    facet_part_drop(&m->part);
    memcpy(told, copy->told, m->hart_count * sizeof *told); /* the harts know where it is */
    free(copy->told);
    copy->told = told;
    if (jobs != NULL) { /* the same */
        *jobs = *copy->jobs;
        jobs->clock = &m->clock;
        free(copy->jobs);
        copy->jobs = jobs;
    }
    *m = *copy;
    for (uint32_t i = 0; i < m->hart_count; i++) {
        facet_hart_guard(&m->harts[i]);
    }
    if (m->cache != NULL) {
        facet_xphmg_watch_htif(m);
    }
}

/* Into a copy first, which is too large for a small stack. */
void facet_xphmg_load(void *self, struct facet_state_io *io)
{
    struct facet_xphmg *copy = malloc(sizeof *copy);

    facet_state_need(io, copy != NULL);
    if (copy != NULL) {
        load_copy(copy, self, io);
    }
    free(copy);
}
