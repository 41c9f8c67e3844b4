/* See machines.h. */
#include "xphmg/hart/machines.h"

#include "assembler/assemble.h"
#include "base/bits.h"
#include "base/hash.h"
#include "harness.h"
#include "object/elf.h"
#include "object/object.h"

#include <facet/observer.h>
#include <stdlib.h>
#include <string.h>

enum { RAM_BYTES = 1 << 20, STEPS = 100000, PIECE = 7 };

bool machines_late;
struct facet_stop machines_stop;
char machines_output[256];
static uint64_t last_base;
static struct {
    char name[24];
    uint64_t value;
} symbols[128];
static size_t symbol_count;

static void
keep_output(void *context, enum facet_xphmg_stream stream, const void *data, size_t size)
{
    size_t used = strlen(machines_output);

    (void)context, (void)stream;
    if (used + size < sizeof machines_output) {
        memcpy(machines_output + used, data, size);
        machines_output[used + size] = '\0';
    }
}

static void keep_symbols(const struct facet_object *object)
{
    symbol_count = 0;
    for (size_t i = 0; i < object->symbol_count; i++) {
        if (symbol_count < sizeof symbols / sizeof symbols[0] &&
            strlen(object->symbols[i].name) < sizeof symbols[0].name) {
            memcpy(symbols[symbol_count].name,
                   object->symbols[i].name,
                   strlen(object->symbols[i].name) + 1);
            symbols[symbol_count++].value = object->symbols[i].value;
        }
    }
}

uint64_t machines_symbol(const char *name)
{
    for (size_t i = 0; i < symbol_count; i++) {
        if (strcmp(symbols[i].name, name) == 0) {
            return symbols[i].value;
        }
    }
    CHECK_MSG(false, "no symbol %s", name);
    return 0;
}

uint64_t machines_base(void)
{
    return last_base;
}

static uint8_t *assemble(const char *text, uint64_t base, size_t *size)
{
    struct facet_asm_options options = {
        .isa = FACET_ISA_XPHMG, .file = "test.s", .has_base = true, .base = base};
    struct facet_asm_result result;
    struct facet_error err = {0};
    uint8_t *elf = NULL;

    if (CHECK_MSG(facet_assemble(&options, text, strlen(text), &result, &err) == FACET_OK,
                  "%s",
                  err.message)) {
        keep_symbols(result.object);
        CHECK_EQ(facet_elf_write(result.object, &elf, size, &err), FACET_OK);
    }
    facet_asm_result_free(&result);
    return elf;
}

static facet_machine *
make(struct facet_xphmg_config config, const uint8_t *elf, size_t size, struct facet_error *err)
{
    facet_machine *m = NULL;

    config.ram_bytes = RAM_BYTES;
    config.jobs = machines_late ? FACET_XPHMG_JOBS_LATE : FACET_XPHMG_JOBS_NOW;
    config.host.output = keep_output;
    CHECK_MSG(facet_xphmg_create(&config, &m, err) == FACET_OK, "%s", err->message);
    CHECK_MSG(m == NULL || facet_xphmg_load_elf(m, elf, size, err) == FACET_OK, "%s", err->message);
    return m;
}

static struct facet_stop run(facet_machine *m, uint64_t budget)
{
    struct facet_run how = {.budget = budget};
    struct facet_stop stop;

    facet_machine_run(m, &how, &stop);
    return stop;
}

/* Small pieces, each continued by another machine from a snapshot of the one before. */
static facet_machine *
relay(const struct facet_xphmg_config *config, const uint8_t *elf, size_t size)
{
    struct facet_error err = {0};
    facet_machine *m = make(*config, elf, size, &err), *next = make(*config, elf, size, &err);

    for (unsigned i = 0; i < STEPS / PIECE; i++) {
        struct facet_stop stop = run(m, PIECE);
        struct facet_blob blob;
        facet_machine *other = next;

        if (stop.reason != FACET_STOP_BUDGET || i > 600) {
            break;
        }
        CHECK_EQ(facet_machine_snapshot(m, &blob, &err), FACET_OK);
        CHECK_MSG(
            facet_machine_restore(next, blob.data, blob.size, &err) == FACET_OK, "%s", err.message);
        facet_blob_free(&blob);
        next = m;
        m = other;
    }
    facet_machine_destroy(next);
    (void)run(m, STEPS - facet_machine_retired(m, 0) % STEPS);
    return m;
}

static void nothing(void *context, const struct facet_retire_event *event)
{
    (void)context, (void)event;
}

facet_machine *
machines_run_at(const char *configuration, const char *text, uint32_t harts, uint64_t base)
{
    static const struct facet_observer observer = {.retire = nothing};
    struct facet_xphmg_config config = {.harts = harts, .configuration = configuration};
    struct facet_error err = {0};
    facet_machine *machines[4];
    struct facet_blob blobs[4];
    size_t size = 0;
    uint8_t *elf;

    last_base = base;
    elf = assemble(text, base, &size);
    for (unsigned way = 0; way < 4; way++) {
        config.plain = way == 0;
        config.host_code = way == 2 ? 1 : FACET_XPHMG_NO_HOST_CODE;
        machines_output[0] = '\0';
        machines[way] = make(config, elf, size, &err);
        if (way == 3) {
            facet_machine_observe(machines[way], &observer);
        }
        machines_stop = run(machines[way], STEPS);
        CHECK_EQ(facet_machine_snapshot(machines[way], &blobs[way], &err), FACET_OK);
        CHECK_MSG(blobs[way].size == blobs[0].size &&
                      memcmp(blobs[way].data, blobs[0].data, blobs[0].size) == 0,
                  "%s: way %u leaves another state than the plain one",
                  configuration,
                  way);
    }
    if (machines_stop.reason == FACET_STOP_EXIT && harts == 1) {
        facet_machine *other;
        struct facet_blob blob;

        config.host_code = 1;
        machines_output[0] = '\0';
        other = relay(&config, elf, size);
        CHECK_EQ(facet_machine_snapshot(other, &blob, &err), FACET_OK);
        CHECK_MSG(blob.size == blobs[0].size && memcmp(blob.data, blobs[0].data, blob.size) == 0,
                  "%s: pieces leave another state",
                  configuration);
        facet_blob_free(&blob);
        facet_machine_destroy(other);
    }
    for (unsigned way = 0; way < 4; way++) {
        facet_blob_free(&blobs[way]);
        if (way != 2) {
            facet_machine_destroy(machines[way]);
        }
    }
    free(elf);
    return machines[2];
}

facet_machine *machines_run(const char *configuration, const char *text, uint32_t harts)
{
    return machines_run_at(configuration, text, harts, 0x80000000);
}

uint64_t machines_reg(const facet_machine *m, uint32_t core, const char *name)
{
    struct facet_value value = {0, 0};

    CHECK_EQ(facet_machine_reg_read(m, core, facet_machine_find_reg(m, core, name), &value, NULL),
             FACET_OK);
    return value.lo;
}

uint64_t machines_csr(const facet_machine *m, uint32_t core, const char *name)
{
    struct facet_value value = {0, 0};

    CHECK_EQ(facet_machine_csr_read(m, core, facet_machine_find_csr(m, core, name), &value, NULL),
             FACET_OK);
    return value.lo;
}

void machines_csrw(facet_machine *m, uint32_t core, const char *name, uint64_t value)
{
    CHECK_EQ(facet_machine_csr_write(m,
                                     core,
                                     facet_machine_find_csr(m, core, name),
                                     (struct facet_value){value, 0},
                                     NULL,
                                     NULL),
             FACET_OK);
}

void machines_regw(facet_machine *m, uint32_t core, const char *name, uint64_t value)
{
    CHECK_EQ(
        facet_machine_reg_write(
            m, core, facet_machine_find_reg(m, core, name), (struct facet_value){value, 0}, NULL),
        FACET_OK);
}

struct facet_region_desc machines_region(const facet_machine *m, const char *name)
{
    struct facet_region_desc region = {0};

    for (uint32_t i = 0; facet_machine_region(m, 0, i, &region); i++) {
        if (strcmp(region.name, name) == 0) {
            return region;
        }
    }
    CHECK_MSG(false, "no region %s", name);
    return region;
}

enum facet_status machines_restore_changed(facet_machine *m,
                                           uint64_t mark,
                                           size_t past,
                                           const void *bytes,
                                           size_t count,
                                           struct facet_error *err)
{
    struct facet_blob blob;
    enum facet_status status;
    uint8_t *data;
    size_t at = 0;

    CHECK_EQ(facet_machine_snapshot(m, &blob, NULL), FACET_OK);
    data = blob.data;
    while (at + 8 + past + count < blob.size && facet_load_le64(data + at) != mark) {
        at++;
    }
    CHECK(facet_load_le64(data + at) == mark);
    memcpy(data + at + past, bytes, count);
    facet_store_le64(data + blob.size - 8, facet_hash_bytes(data, blob.size - 8, 0));
    status = facet_machine_restore(m, data, blob.size, err);
    facet_blob_free(&blob);
    return status;
}
