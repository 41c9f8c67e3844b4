/* See told.h, and facet/xphmg.h for the verbs. */
#include "xphmg/told.h"
#include "xphmg/machine.h"

#include <inttypes.h>
#include <string.h>

#define INTERRUPT_BIT (UINT64_C(1) << 63)
#define LINES                                                                                      \
    (UINT64_C(1) << FACET_IRQ_SOFTWARE | UINT64_C(1) << FACET_IRQ_TIMER |                          \
     UINT64_C(1) << FACET_IRQ_EXTERNAL)

/* ---- values for loads and reads ---------------------------------------------------------------
 */

static bool take_value(struct facet_told *told, uint32_t at, uint64_t *value)
{
    *value = told->given[at].value;
    told->count--;
    memmove(&told->given[at], &told->given[at + 1], (told->count - at) * sizeof told->given[0]);
    return true;
}

bool facet_told_load(struct facet_told *told, uint64_t address, unsigned size, uint64_t *value)
{
    for (uint32_t i = 0; i < told->count; i++) {
        const struct facet_told_value *g = &told->given[i];

        if (!g->csr && address >= g->first && address <= g->last) {
            (void)take_value(told, i, value);
            *value &= facet_bits_mask(8 * size);
            return true;
        }
    }
    return false;
}

bool facet_told_csr(struct facet_told *told, uint32_t index, uint64_t *value)
{
    for (uint32_t i = 0; i < told->count; i++) {
        if (told->given[i].csr && told->given[i].first == index) {
            return take_value(told, i, value);
        }
    }
    return false;
}

/* ---- state ------------------------------------------------------------------------------------
 */

void facet_told_reset(struct facet_told *told)
{
    *told = (struct facet_told){.waits = told->waits};
}

void facet_told_visit(struct facet_told *told, struct facet_state_io *io)
{
    facet_state_tag(io, "told");
    facet_state_bool(io, &told->waits);
    facet_state_u64(io, &told->driven);
    facet_state_require(io, (told->driven & ~LINES) == 0, "driven interrupt lines");
    facet_state_u64(io, &told->high);
    facet_state_require(io, (told->high & ~told->driven) == 0, "levels of interrupt lines");
    facet_state_bool(io, &told->trap);
    facet_state_u64(io, &told->cause);
    facet_state_u64(io, &told->value);
    facet_state_require(
        io, (told->cause & ~INTERRUPT_BIT) < 64, "cause of a trap that was told, expected 0..63");
    facet_state_bool(io, &told->kept);
    facet_state_u64(io, &told->kept_bytes);
    facet_state_u32(io, &told->count);
    facet_state_require(io, told->count <= FACET_XPHMG_GIVEN_MAX, "values for loads and reads");
    for (uint32_t i = 0; i < told->count && !io->failed; i++) {
        facet_state_bool(io, &told->given[i].csr);
        facet_state_u64(io, &told->given[i].first);
        facet_state_u64(io, &told->given[i].last);
        facet_state_u64(io, &told->given[i].value);
    }
}

/* ---- facet/xphmg.h ----------------------------------------------------------------------------
 */

/* The machine, when it has the hart; else NULL with the reason. */
static struct facet_xphmg *
machine_with(facet_machine *machine, uint32_t core, struct facet_error *err)
{
    struct facet_xphmg *m = facet_machine_self(machine, &facet_xphmg_ops, err);

    if (m != NULL && core >= m->hart_count) {
        (void)facet_fail(err,
                         FACET_ERR_USAGE,
                         core,
                         "there is no hart %u, expected 0..%u",
                         core,
                         m->hart_count - 1);
        return NULL;
    }
    return m;
}

/* A waiting hart may have something to do now. A device's callback is inside a step, whose end
 * looks at the schedule anyway. */
static void look_again(struct facet_xphmg *m)
{
    if (!m->running && !m->part.left) {
        facet_xphmg_settle(m);
    }
}

enum facet_status facet_xphmg_set_line(facet_machine *machine,
                                       uint32_t core,
                                       uint32_t interrupt,
                                       enum facet_xphmg_level level,
                                       struct facet_error *err)
{
    struct facet_xphmg *m = machine_with(machine, core, err);
    uint64_t bit = interrupt < 64 ? UINT64_C(1) << interrupt : 0;

    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    if ((bit & LINES) == 0 || (unsigned)level > FACET_XPHMG_LEVEL_HIGH) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          interrupt,
                          "interrupt %u with level %u: expected 3 (software), 7 (timer) or 11 "
                          "(external), and a level of 0 (the platform's own), 1 (low) or 2 (high)",
                          interrupt,
                          (unsigned)level);
    }
    m->told[core].driven &= ~bit;
    m->told[core].high &= ~bit;
    m->told[core].driven |= level != FACET_XPHMG_LEVEL_OWN ? bit : 0;
    m->told[core].high |= level == FACET_XPHMG_LEVEL_HIGH ? bit : 0;
    look_again(m);
    return FACET_OK;
}

enum facet_status
facet_xphmg_wait_for_told(facet_machine *machine, bool waits, struct facet_error *err)
{
    struct facet_xphmg *m = facet_machine_self(machine, &facet_xphmg_ops, err);

    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    for (uint32_t i = 0; i < m->hart_count; i++) {
        m->told[i].waits = waits;
        if (waits && m->harts[i].wait == FACET_WAIT_INTERRUPT) {
            m->harts[i].waiting = false; /* WFI does not wait then */
        }
    }
    look_again(m);
    return FACET_OK;
}

static enum facet_status check_interrupt(const struct facet_xphmg *m,
                                         uint32_t core,
                                         uint64_t number,
                                         struct facet_error *err)
{
    struct facet_hart h = m->harts[core];
    const char *name = facet_xphmg_cause_name(INTERRUPT_BIT | number);
    int first;

    h.mip = facet_xphmg_mip(m, facet_xphmg_mtime(m), core);
    h.told = NULL; /* what it would take by itself */
    if ((LINES >> number & 1) == 0) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          number,
                          "interrupt %" PRIu64
                          ": expected 3 (software), 7 (timer) or 11 (external)",
                          number);
    }
    if ((h.mip >> number & 1) == 0) {
        return facet_fail(
            err, FACET_ERR_USAGE, number, "hart%u: the %s is not pending", core, name);
    }
    if ((h.mie >> number & 1) == 0) {
        return facet_fail(
            err, FACET_ERR_USAGE, number, "hart%u: the %s is not enabled in mie", core, name);
    }
    first = facet_hart_pending(&h);
    if (first < 0) {
        return facet_fail(
            err, FACET_ERR_USAGE, number, "hart%u: mstatus.MIE is 0 in machine mode", core);
    }
    if ((uint64_t)first != number) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          number,
                          "hart%u: the %s comes before the %s",
                          core,
                          facet_xphmg_cause_name(INTERRUPT_BIT | (uint64_t)first),
                          name);
    }
    return FACET_OK;
}

static enum facet_status
check_exception(const struct facet_xphmg *m, uint32_t core, uint64_t cause, struct facet_error *err)
{
    unsigned priv = m->harts[core].priv;

    if (strcmp(facet_xphmg_cause_name(cause), "unknown cause") == 0) {
        return facet_fail(
            err, FACET_ERR_USAGE, cause, "exception %" PRIu64 ": the hart has none", cause);
    }
    if ((cause == FACET_CAUSE_ECALL_U && priv != FACET_PRIV_U) ||
        (cause == FACET_CAUSE_ECALL_M && priv != FACET_PRIV_M)) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          cause,
                          "hart%u: an %s in the other mode",
                          core,
                          facet_xphmg_cause_name(cause));
    }
    return FACET_OK;
}

enum facet_status facet_xphmg_take(facet_machine *machine,
                                   uint32_t core,
                                   uint64_t cause,
                                   uint64_t value,
                                   bool anyway,
                                   struct facet_error *err)
{
    struct facet_xphmg *m = machine_with(machine, core, err);
    uint64_t number = cause & ~INTERRUPT_BIT;
    enum facet_status status = FACET_OK;

    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    if (number > 63) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          cause,
                          "cause 0x%" PRIx64 ": expected 0..63, and bit 63 for an interrupt",
                          cause);
    }
    if (m->part.left || m->running) {
        return facet_fail(
            err, FACET_ERR_USAGE, 0, "the machine is in the middle of a step: let it end first");
    }
    if (!anyway) {
        status = number != cause ? check_interrupt(m, core, number, err)
                                 : check_exception(m, core, cause, err);
    }
    if (status == FACET_OK) {
        m->told[core].trap = true;
        m->told[core].cause = cause;
        m->told[core].value = value;
        look_again(m);
    }
    return status;
}

static enum facet_status give(facet_machine *machine,
                              uint32_t core,
                              const struct facet_told_value *value,
                              struct facet_error *err)
{
    struct facet_xphmg *m = machine_with(machine, core, err);
    struct facet_told *told;

    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    told = &m->told[core];
    if (told->count == FACET_XPHMG_GIVEN_MAX) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          core,
                          "hart%u: %d values wait already for loads and reads",
                          core,
                          FACET_XPHMG_GIVEN_MAX);
    }
    told->given[told->count++] = *value;
    return FACET_OK;
}

enum facet_status facet_xphmg_next_load(facet_machine *machine,
                                        uint32_t core,
                                        uint64_t first,
                                        uint64_t last,
                                        uint64_t value,
                                        struct facet_error *err)
{
    struct facet_told_value given = {false, first, last, value};

    if (last < first) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          first,
                          "loads from 0x%" PRIx64 "..0x%" PRIx64 ": expected rising addresses",
                          first,
                          last);
    }
    return give(machine, core, &given, err);
}

enum facet_status facet_xphmg_next_csr(
    facet_machine *machine, uint32_t core, uint32_t number, uint64_t value, struct facet_error *err)
{
    uint32_t index = facet_machine_csr_at(machine, core, number);
    struct facet_told_value given = {true, index, index, value};

    if (index == FACET_NONE) {
        return facet_fail(err, FACET_ERR_USAGE, number, "hart%u has no CSR 0x%x", core, number);
    }
    return give(machine, core, &given, err);
}

enum facet_status facet_xphmg_given(
    facet_machine *machine, uint32_t core, bool drop, uint32_t *left, struct facet_error *err)
{
    struct facet_xphmg *m = machine_with(machine, core, err);

    if (left != NULL) {
        *left = m != NULL ? m->told[core].count : 0;
    }
    if (m != NULL && drop) {
        m->told[core].count = 0;
    }
    return m != NULL ? FACET_OK : FACET_ERR_USAGE;
}

/* ---- whose turn it is -------------------------------------------------------------------------
 */

static uint64_t bytes_at(const struct facet_xphmg *m, uint64_t address)
{
    uint8_t bytes[8] = {0};

    (void)facet_mem_peek(m->mem, address & ~UINT64_C(7), bytes, sizeof bytes);
    return facet_load_le64(bytes);
}

enum facet_status
facet_xphmg_set_turn(facet_machine *machine, uint32_t core, struct facet_error *err)
{
    struct facet_xphmg *m = machine_with(machine, core, err);
    struct facet_hart *from, *to;

    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    from = &m->harts[m->current];
    to = &m->harts[core];
    if (m->part.left || m->running) {
        return facet_fail(
            err, FACET_ERR_USAGE, 0, "the machine is in the middle of a step: let it end first");
    }
    if (to->waiting) {
        return facet_fail(err, FACET_ERR_USAGE, core, "hart%u waits", core);
    }
    if (to != from) {
        m->told[m->current].kept = from->reserved;
        m->told[m->current].kept_bytes = from->reserved ? bytes_at(m, from->reservation) : 0;
        if (to->reserved && m->told[core].kept &&
            bytes_at(m, to->reservation) != m->told[core].kept_bytes) {
            to->reserved = false; /* another hart has written there */
        }
        m->told[core].kept = false;
        m->told[core].kept_bytes = 0;
        m->current = core;
    }
    m->turn_left = m->quantum;
    return FACET_OK;
}

enum facet_status
facet_xphmg_break_reservation(facet_machine *machine, uint32_t core, struct facet_error *err)
{
    struct facet_xphmg *m = machine_with(machine, core, err);

    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    m->harts[core].reserved = false;
    return FACET_OK;
}
