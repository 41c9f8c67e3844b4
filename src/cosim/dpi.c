/* See facet/dpi.h: every function is one of facet/cosim.h or facet/xphmg.h. */
#include "base/bits.h"
#include "base/error.h"
#include "base/file.h"

#include <facet/cosim.h>
#include <facet/dpi.h>
#include <facet/tile.h>
#include <facet/xphmg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAILED = -1 };
#define ELF_LIMIT ((size_t)1 << 30)

static _Thread_local struct facet_error last;

const char *facet_dpi_error(void)
{
    return last.message;
}

static int32_t answer(enum facet_status status)
{
    return status == FACET_OK ? 0 : FAILED;
}

static int32_t result_of(enum facet_status status, enum facet_cosim_result result)
{
    return status != FACET_OK                ? FAILED
           : result == FACET_COSIM_DIFFERENT ? 1
           : result == FACET_COSIM_ENDED     ? 2
                                             : 0;
}

/* A session, or the complaint that there is none. */
static facet_cosim *at(void *session)
{
    if (session == NULL) {
        (void)facet_fail(&last, FACET_ERR_USAGE, 0, "no session: facet_dpi_open failed");
    }
    return session;
}

static facet_machine *machine_of(void *session)
{
    return facet_cosim_machine(session);
}

/* ---- life ---- */

static enum facet_status make_machine(const struct facet_bytes *elf,
                                      const char *configuration,
                                      uint32_t harts,
                                      bool late,
                                      facet_machine **out)
{
    struct facet_xphmg_config config = {
        .harts = harts,
        .configuration = configuration != NULL && configuration[0] != '\0' ? configuration : NULL,
        .jobs = late ? FACET_XPHMG_JOBS_LATE : FACET_XPHMG_JOBS_NOW,
        .no_semihosting = true,
    };
    enum facet_status status = facet_xphmg_create(&config, out, &last);

    return status == FACET_OK ? facet_xphmg_load_elf(*out, elf->data, elf->size, &last) : status;
}

void *facet_dpi_open(const char *path, const char *configuration, uint32_t harts, uint32_t late)
{
    struct facet_bytes elf = {0};
    facet_machine *machine = NULL;
    facet_cosim *cosim = NULL;
    enum facet_status status = facet_file_read(path, ELF_LIMIT, &elf, &last);

    if (status == FACET_OK) {
        status = make_machine(&elf, configuration, harts, late != 0, &machine);
    }
    if (status == FACET_OK) {
        status = facet_cosim_create(machine, NULL, &cosim, &last);
    }
    if (cosim == NULL) {
        facet_machine_destroy(machine);
    } else if (facet_cosim_symbols(cosim, elf.data, elf.size, &last) != FACET_OK) {
        facet_cosim_destroy(cosim);
        cosim = NULL;
    }
    free(elf.data);
    return cosim;
}

void facet_dpi_close(void *session)
{
    facet_cosim_destroy(session);
}

int32_t facet_dpi_ignore(void *session, const char *what)
{
    return at(session) == NULL
               ? FAILED
               : answer(facet_lockstep_filter_ignore(facet_cosim_filter(session), what, &last));
}

int32_t facet_dpi_compare(void *session, const char *what)
{
    return at(session) == NULL
               ? FAILED
               : answer(facet_lockstep_filter_compare(facet_cosim_filter(session), what, &last));
}

/* ---- what the design did ---- */

int32_t facet_dpi_reg(void *session, uint32_t hart, const char *name, uint64_t value)
{
    return at(session) == NULL ? FAILED
                               : answer(facet_cosim_wrote(session, hart, name, value, &last));
}

static int32_t numbered(void *session, uint32_t hart, char letter, uint32_t reg, uint64_t value)
{
    char name[16];

    if (reg > 31) {
        return answer(
            facet_fail(&last, FACET_ERR_USAGE, reg, "register %c%u: expected 0..31", letter, reg));
    }
    (void)snprintf(name, sizeof name, "%c%u", letter, reg);
    return facet_dpi_reg(session, hart, name, value);
}

int32_t facet_dpi_x(void *session, uint32_t hart, uint32_t reg, uint64_t value)
{
    return reg == 0 ? 0 : numbered(session, hart, 'x', reg, value);
}

int32_t facet_dpi_f(void *session, uint32_t hart, uint32_t reg, uint64_t value)
{
    return numbered(session, hart, 'f', reg, value);
}

/* The name of the CSR with this number, or NULL after a complaint. */
static const char *csr_name(void *session, uint32_t hart, uint32_t number)
{
    uint32_t index =
        at(session) != NULL ? facet_machine_csr_at(machine_of(session), hart, number) : FACET_NONE;

    if (index == FACET_NONE) {
        if (session != NULL) {
            (void)facet_fail(
                &last, FACET_ERR_USAGE, number, "core %u has no CSR 0x%x", hart, number);
        }
        return NULL;
    }
    return facet_machine_core(machine_of(session), hart)->csrs[index].name;
}

int32_t facet_dpi_csr(void *session, uint32_t hart, uint32_t number, uint64_t value)
{
    const char *name = csr_name(session, hart, number);

    return name == NULL ? FAILED : answer(facet_cosim_wrote(session, hart, name, value, &last));
}

static bool good_size(uint32_t size)
{
    if (size < 1 || size > 8) {
        (void)facet_fail(&last, FACET_ERR_USAGE, size, "%u bytes: expected 1..8", size);
    }
    return size >= 1 && size <= 8;
}

int32_t
facet_dpi_store(void *session, uint32_t hart, uint64_t address, uint32_t size, uint64_t value)
{
    uint8_t bytes[8];

    facet_store_le64(bytes, value);
    return at(session) == NULL || !good_size(size)
               ? FAILED
               : answer(facet_cosim_wrote_memory(session, hart, address, bytes, size, &last));
}

int32_t facet_dpi_unit_csr(void *session, uint32_t hart, uint32_t number, uint64_t value)
{
    const char *name = csr_name(session, hart, number);

    return name == NULL ? FAILED
                        : answer(facet_cosim_unit_wrote(session, hart, name, value, &last));
}

int32_t
facet_dpi_unit_store(void *session, uint32_t hart, uint64_t address, uint32_t size, uint64_t value)
{
    uint8_t bytes[8];

    facet_store_le64(bytes, value);
    return at(session) == NULL || !good_size(size)
               ? FAILED
               : answer(facet_cosim_unit_wrote_memory(session, hart, address, bytes, size, &last));
}

int32_t facet_dpi_retire(void *session, uint32_t hart, uint64_t pc, uint32_t word)
{
    enum facet_cosim_result result = FACET_COSIM_SAME;
    enum facet_status status = at(session) == NULL
                                   ? FACET_ERR_USAGE
                                   : facet_cosim_retired(session, hart, pc, word, &result, &last);

    return result_of(status, result);
}

int32_t facet_dpi_trap(void *session, uint32_t hart, uint64_t pc, uint64_t cause, uint64_t value)
{
    enum facet_cosim_result result = FACET_COSIM_SAME;
    enum facet_status status =
        at(session) == NULL ? FACET_ERR_USAGE
                            : facet_cosim_trapped(session, hart, pc, cause, value, &result, &last);

    return result_of(status, result);
}

int32_t facet_dpi_finish(void *session)
{
    enum facet_cosim_result result = FACET_COSIM_SAME;
    enum facet_status status =
        at(session) == NULL ? FACET_ERR_USAGE : facet_cosim_finish(session, &result, &last);

    return result_of(status, result);
}

/* ---- what the reference cannot know ---- */

static bool is_tile(const facet_machine *machine)
{
    return strcmp(facet_machine_kind_name(machine), "tile") == 0;
}

int32_t facet_dpi_line(void *session, uint32_t hart, uint32_t interrupt, uint32_t level)
{
    return at(session) == NULL
               ? FAILED
               : answer(facet_xphmg_set_line(
                     machine_of(session), hart, interrupt, (enum facet_xphmg_level)level, &last));
}

int32_t
facet_dpi_next_load(void *session, uint32_t hart, uint64_t first, uint64_t end, uint64_t value)
{
    facet_machine *machine = at(session) == NULL ? NULL : machine_of(session);

    if (machine != NULL && is_tile(machine)) {
        return answer(facet_tile_next_load(machine,
                                           hart,
                                           (uint32_t)first,
                                           end < UINT32_MAX ? (uint32_t)end : UINT32_MAX,
                                           (struct facet_value){.lo = value},
                                           &last));
    }
    return machine == NULL ? FAILED
                           : answer(facet_xphmg_next_load(machine, hart, first, end, value, &last));
}

int32_t facet_dpi_next_csr(void *session, uint32_t hart, uint32_t number, uint64_t value)
{
    facet_machine *machine = at(session) == NULL ? NULL : machine_of(session);

    return machine == NULL ? FAILED
           : is_tile(machine)
               ? answer(facet_tile_next_csr(machine, hart, number, (uint32_t)value, &last))
               : answer(facet_xphmg_next_csr(machine, hart, number, value, &last));
}

int32_t facet_dpi_take(void *session, uint32_t hart, uint64_t cause, uint64_t value)
{
    return at(session) == NULL
               ? FAILED
               : answer(facet_xphmg_take(machine_of(session), hart, cause, value, true, &last));
}

int32_t facet_dpi_break_reservation(void *session, uint32_t hart)
{
    return at(session) == NULL
               ? FAILED
               : answer(facet_xphmg_break_reservation(machine_of(session), hart, &last));
}

/* ---- looking ---- */

uint64_t facet_dpi_get(void *session, uint32_t hart, const char *name)
{
    uint64_t value = 0;

    if (at(session) != NULL &&
        facet_machine_get(machine_of(session), hart, name, &value) != FACET_OK) {
        (void)facet_fail(
            &last, FACET_ERR_USAGE, hart, "core %u has no '%.80s' of 64 bits", hart, name);
        value = 0;
    }
    return value;
}

uint64_t facet_dpi_read(void *session, uint64_t address, uint32_t size)
{
    uint8_t bytes[8] = {0};

    return at(session) != NULL && good_size(size) &&
                   facet_machine_read(machine_of(session), 0, address, bytes, size, &last) ==
                       FACET_OK
               ? facet_load_le64(bytes)
               : 0;
}

uint64_t facet_dpi_steps(void *session)
{
    return at(session) == NULL ? 0 : facet_cosim_steps(session);
}

const char *facet_dpi_report(void *session)
{
    return at(session) == NULL ? "" : facet_cosim_report(session);
}

int32_t facet_dpi_snapshot_at(void *session, uint64_t step)
{
    if (at(session) == NULL) {
        return FAILED;
    }
    facet_cosim_snapshot_at(session, step);
    return answer(FACET_OK);
}

int32_t facet_dpi_save(void *session, const char *path)
{
    struct facet_blob blob = {0};
    uint64_t step;
    enum facet_status status =
        at(session) == NULL ? FACET_ERR_USAGE : facet_cosim_replay(session, &blob, &step, &last);

    if (status == FACET_OK) {
        status = facet_file_write(path, blob.data, blob.size, &last);
    }
    facet_blob_free(&blob);
    return answer(status);
}
