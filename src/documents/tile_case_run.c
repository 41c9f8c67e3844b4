/* See tile_case.h: running a case on a fresh machine and comparing. */
#include "documents/tile_case_data.h"

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool differs(struct facet_doc_tile_case_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Always false, so that a check can `return differs(...)`. */
static bool differs(struct facet_doc_tile_case_result *result, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(result->difference, sizeof result->difference, format, args);
    va_end(args);
    return false;
}

/* ---- loading ---- */

static bool put(facet_machine *machine,
                uint32_t address,
                const struct facet_bytes *bytes,
                const char *what,
                struct facet_doc_tile_case_result *result)
{
    struct facet_error err = {0};

    if (bytes->size != 0 &&
        facet_machine_write(machine, 0, address, bytes->data, bytes->size, &err) != FACET_OK) {
        return differs(result, "%s at 0x%08x: %s", what, (unsigned)address, err.message);
    }
    return true;
}

static bool prepare(const struct facet_doc_tile_case *c,
                    facet_machine *machine,
                    struct facet_doc_tile_case_result *result)
{
    struct facet_error err = {0};

    if (!put(machine, c->packet.pc, &c->kernel, "kernel", result) ||
        !put(machine, c->packet.arg_base, &c->args, "argument block", result)) {
        return false;
    }
    for (size_t i = 0; i < c->input_count; i++) {
        if (!put(machine, c->inputs[i].address, &c->inputs[i].bytes, "input", result)) {
            return false;
        }
    }
    if (facet_tile_dispatch(machine, &c->packet, &err) != FACET_OK) {
        return differs(result, "the dispatch packet is refused: %s", err.message);
    }
    return true;
}

/* ---- comparing ---- */

static bool check_end(const struct facet_doc_tile_case *c,
                      const facet_machine *machine,
                      struct facet_doc_tile_case_result *result)
{
    enum facet_tile_state state = facet_tile_info_of(machine).state;
    bool fault = state == FACET_TILE_STATE_FAULTED;

    if (state != FACET_TILE_STATE_DONE && !fault) {
        return differs(result,
                       "result: every unfinished core waits for an interrupt, expected %s",
                       c->expects_fault ? "fault" : "ok");
    }
    for (uint32_t i = 0; fault && !c->expects_fault && i < FACET_TILE_CORES; i++) {
        struct facet_tile_core_report core = facet_tile_report_of(machine, i);

        if (core.fault_cause != 0) {
            return differs(result,
                           "result: fault of core %u (%s, cause %u, pc 0x%08x, address 0x%08x), "
                           "expected ok",
                           (unsigned)i,
                           facet_tile_cause_name(core.fault_cause),
                           (unsigned)core.fault_cause,
                           (unsigned)core.fault_pc,
                           (unsigned)core.fault_addr);
        }
    }
    return fault == c->expects_fault || differs(result, "result: ok, expected fault");
}

static bool check_fault(const struct facet_doc_tile_expected_fault *e,
                        const struct facet_tile_core_report *core,
                        uint32_t id,
                        struct facet_doc_tile_case_result *result)
{
    const struct {
        const char *name;
        bool checked;
        uint32_t got, expected;
    } values[] = {
        {"cause", true, core->fault_cause, e->listed ? e->cause : 0},
        {"pc", e->has_pc, core->fault_pc, e->pc},
        {"address", e->has_address, core->fault_addr, e->address},
        {"status", e->has_status, core->status, e->status},
    };

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        if (values[i].checked && values[i].got != values[i].expected) {
            return differs(result,
                           "fault of core %u: %s 0x%x, expected 0x%x",
                           (unsigned)id,
                           values[i].name,
                           (unsigned)values[i].got,
                           (unsigned)values[i].expected);
        }
    }
    return true;
}

static bool check_counts(const struct facet_doc_tile_case *c,
                         const facet_machine *machine,
                         struct facet_doc_tile_case_result *result)
{
    for (uint32_t i = 0; i < FACET_TILE_CORES; i++) {
        struct facet_tile_core_report core = facet_tile_report_of(machine, i);

        if (c->has_faults && !check_fault(&c->faults[i], &core, i, result)) {
            return false;
        }
    }
    if (c->has_rounds && facet_tile_info_of(machine).rounds != c->rounds) {
        return differs(result,
                       "rounds: %llu, expected %llu",
                       (unsigned long long)facet_tile_info_of(machine).rounds,
                       (unsigned long long)c->rounds);
    }
    for (uint32_t i = 0; c->has_instret && i < FACET_TILE_CORES; i++) {
        if (facet_tile_report_of(machine, i).retired != c->instret[i]) {
            return differs(result,
                           "instret of core %u: %llu, expected %llu",
                           (unsigned)i,
                           (unsigned long long)facet_tile_report_of(machine, i).retired,
                           (unsigned long long)c->instret[i]);
        }
    }
    return true;
}

static bool check_output(const struct facet_doc_tile_block *block,
                         const facet_machine *machine,
                         struct facet_doc_tile_case_result *result)
{
    struct facet_error err = {0};
    uint8_t got[4096];

    for (size_t i = 0; i < block->bytes.size; i++) {
        size_t at = i % sizeof got, left = block->bytes.size - i;

        if (at == 0 &&
            facet_machine_read(
                machine, 0, block->address + i, got, left < sizeof got ? left : sizeof got, &err) !=
                FACET_OK) {
            return differs(result, "output at 0x%08x: %s", (unsigned)block->address, err.message);
        }
        if (got[at] != block->bytes.data[i]) {
            return differs(result,
                           "output at 0x%08x: byte %zu (address 0x%08x) is 0x%02x, expected 0x%02x",
                           (unsigned)block->address,
                           i,
                           (unsigned)(block->address + i),
                           got[at],
                           block->bytes.data[i]);
        }
    }
    return true;
}

static bool compare(const struct facet_doc_tile_case *c,
                    const facet_machine *machine,
                    struct facet_doc_tile_case_result *result)
{
    if (!check_end(c, machine, result) || !check_counts(c, machine, result)) {
        return false;
    }
    for (size_t i = 0; i < c->output_count; i++) {
        if (!check_output(&c->outputs[i], machine, result)) {
            return false;
        }
    }
    return true;
}

/* A machine of the case, with its dispatch under way unless *begun is false: then the result has
 * the reason. */
static enum facet_status make(const struct facet_doc_tile_case *c,
                              const struct facet_doc_tile_case_how *how,
                              struct facet_doc_tile_case_result *result,
                              facet_machine **machine,
                              bool *begun,
                              struct facet_error *err)
{
    struct facet_tile_config config = c->config;
    enum facet_status status;

    *result = (struct facet_doc_tile_case_result){0};
    config.plain = how->plain;
    status = facet_tile_create(&config, machine, err);
    if (status == FACET_OK) {
        facet_tile_use_pool(*machine, how->pool);
        *begun = prepare(c, *machine, result);
    }
    return status;
}

/* A machine on which the case has been run, or one whose dispatch could not begin (*begun false,
 * the reason in the result). */
static enum facet_status execute(const struct facet_doc_tile_case *c,
                                 const struct facet_doc_tile_case_how *how,
                                 struct facet_doc_tile_case_result *result,
                                 facet_machine **machine,
                                 bool *begun,
                                 struct facet_error *err)
{
    const struct facet_run run = {.budget = UINT64_MAX};
    enum facet_status status = make(c, how, result, machine, begun, err);
    struct facet_stop stop;

    if (*begun) {
        if (how->begin != NULL) {
            how->begin(how->context, *machine);
        }
        facet_machine_run(*machine, &run, &stop);
        if (how->end != NULL) {
            how->end(how->context);
        }
        result->stopped = stop.reason == FACET_STOP_REQUEST;
    }
    return status;
}

enum facet_status facet_doc_tile_case_run(const struct facet_doc_tile_case *c,
                                          const struct facet_doc_tile_case_how *how,
                                          struct facet_doc_tile_case_result *result,
                                          struct facet_error *err)
{
    facet_machine *machine = NULL;
    bool begun = false;
    enum facet_status status = execute(c, how, result, &machine, &begun, err);

    result->pass = begun && !result->stopped && compare(c, machine, result);
    facet_machine_destroy(machine);
    return status;
}

/* ---- the answer ---- */

static void put_word(uint8_t *bytes, size_t *at, uint32_t word)
{
    facet_store_le(bytes + *at, 4, word);
    *at += 4;
}

static size_t whole_words(size_t size)
{
    return (size + 3) / 4 * 4;
}

static size_t fill_answer(const struct facet_doc_tile_case *c,
                          const facet_machine *machine,
                          facet_doc_tile_case_read_memory *read,
                          void *context,
                          uint8_t *bytes)
{
    enum facet_tile_state state = facet_tile_info_of(machine).state;
    size_t at = 0;

    put_word(bytes,
             &at,
             state == FACET_TILE_STATE_DONE      ? 0
             : state == FACET_TILE_STATE_FAULTED ? 1
                                                 : 2);
    for (uint32_t i = 0; i < FACET_TILE_CORES; i++) {
        const struct facet_doc_tile_expected_fault *e = &c->faults[i];
        struct facet_tile_core_report core = facet_tile_report_of(machine, i);

        if (!c->has_faults || !e->listed) {
            continue;
        }
        put_word(bytes, &at, core.fault_cause);
        if (e->has_pc) {
            put_word(bytes, &at, core.fault_pc);
        }
        if (e->has_address) {
            put_word(bytes, &at, core.fault_addr);
        }
        if (e->has_status) {
            put_word(bytes, &at, core.status);
        }
    }
    for (size_t i = 0; i < c->output_count; i++) {
        (void)read(context, c->outputs[i].address, bytes + at, c->outputs[i].bytes.size);
        at += whole_words(c->outputs[i].bytes.size);
    }
    return at;
}

static bool read_ours(void *context, uint32_t address, void *bytes, size_t size)
{
    return facet_machine_read(context, 0, address, bytes, size, NULL) == FACET_OK;
}

enum facet_status facet_doc_tile_case_answer_of(const struct facet_doc_tile_case *c,
                                                const facet_machine *machine,
                                                facet_doc_tile_case_read_memory *read,
                                                void *context,
                                                uint8_t **bytes,
                                                size_t *size,
                                                struct facet_error *err)
{
    size_t room = 4 + sizeof(uint32_t[4][FACET_TILE_CORES]);

    for (size_t i = 0; i < c->output_count; i++) {
        room += whole_words(c->outputs[i].bytes.size);
    }
    *bytes = calloc(room, 1);
    if (*bytes == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a case");
    }
    *size = fill_answer(c, machine, read, context, *bytes);
    return FACET_OK;
}

static enum facet_status refused(const struct facet_doc_tile_case *c,
                                 const struct facet_doc_tile_case_result *result,
                                 struct facet_error *err)
{
    return facet_fail(err, FACET_ERR_INPUT, 0, "%s: %s", c->name, result->difference);
}

enum facet_status facet_doc_tile_case_answer(const struct facet_doc_tile_case *c,
                                             const struct facet_doc_tile_case_how *how,
                                             uint8_t **bytes,
                                             size_t *size,
                                             struct facet_error *err)
{
    struct facet_doc_tile_case_result result;
    facet_machine *machine = NULL;
    bool begun = false;
    enum facet_status status = execute(c, how, &result, &machine, &begun, err);

    *bytes = NULL;
    if (status == FACET_OK) {
        status =
            begun ? facet_doc_tile_case_answer_of(c, machine, read_ours, machine, bytes, size, err)
                  : refused(c, &result, err);
    }
    facet_machine_destroy(machine);
    return status;
}

/* ---- for machines of others ---- */

bool facet_doc_tile_case_piece(const struct facet_doc_tile_case *c,
                               size_t n,
                               uint32_t *address,
                               const struct facet_bytes **bytes)
{
    if (n >= 2 + c->input_count) {
        return false;
    }
    *address = n == 0 ? c->packet.pc : n == 1 ? c->packet.arg_base : c->inputs[n - 2].address;
    *bytes = n == 0 ? &c->kernel : n == 1 ? &c->args : &c->inputs[n - 2].bytes;
    return true;
}

const struct facet_tile_packet *facet_doc_tile_case_packet(const struct facet_doc_tile_case *c)
{
    return &c->packet;
}

enum facet_status facet_doc_tile_case_begin(const struct facet_doc_tile_case *c,
                                            facet_machine **machine,
                                            struct facet_error *err)
{
    const struct facet_doc_tile_case_how how = {0};
    struct facet_doc_tile_case_result result;
    bool begun = false;
    enum facet_status status = make(c, &how, &result, machine, &begun, err);

    if (status == FACET_OK && !begun) {
        facet_machine_destroy(*machine);
        *machine = NULL;
        status = refused(c, &result, err);
    }
    return status;
}
