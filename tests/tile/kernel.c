/* See kernel.h. */
#include "kernel.h"
#include "record.h"

#include "assembler/assemble.h"
#include "base/bits.h"

#include <stdio.h>
#include <stdlib.h>

void kernel_open(struct kernel *k, const struct facet_tile_config *config)
{
    struct facet_tile_config c = config != NULL ? *config : (struct facet_tile_config){0};
    struct facet_error err = {0};

    *k = (struct kernel){0};
    c.vram = c.vram != 0 ? c.vram : 1 << 20;
    if (facet_tile_create(&c, &k->machine, &err) != FACET_OK) {
        fprintf(stderr, "no machine: %s\n", err.message);
        abort();
    }
    k->packet = (struct facet_tile_packet){.pc = VRAM, .columns = 1, .rows = 1};
    record_open(k, &c);
}

void kernel_close(struct kernel *k)
{
    facet_machine_destroy(k->machine);
}

/* The flat bytes of a text; free(). */
static uint8_t *assemble(const char *text, uint32_t address, size_t *size)
{
    struct facet_asm_options options = {.isa = FACET_ISA_TILE, .has_base = true, .base = address};
    struct facet_asm_result result;
    struct facet_error err = {0};
    uint8_t *bytes = NULL;
    uint64_t base;

    if (facet_assemble(&options, text, strlen(text), &result, &err) != FACET_OK ||
        facet_object_make_segments(result.object, &err) != FACET_OK ||
        facet_object_flatten(result.object, &bytes, size, &base, &err) != FACET_OK) {
        CHECK_MSG(false, "does not assemble: %s: %s", text, err.message);
        bytes = NULL;
    }
    facet_asm_result_free(&result);
    return bytes;
}

bool kernel_load(struct kernel *k, uint32_t address, const char *text)
{
    size_t size = 0;
    uint8_t *bytes = assemble(text, address, &size);
    bool good =
        bytes != NULL && facet_machine_write(k->machine, 0, address, bytes, size, NULL) == FACET_OK;

    free(bytes);
    return good;
}

uint32_t kernel_word(const char *text)
{
    size_t size = 0;
    uint8_t *bytes = assemble(text, VRAM, &size);
    uint32_t word = bytes != NULL && size >= 4 ? facet_load_le32(bytes) : 0;

    free(bytes);
    return word;
}

static void set_reg(struct kernel *k, const char *file, unsigned n, struct facet_value value)
{
    char name[8];

    (void)snprintf(name, sizeof name, "%s%u", file, n);
    (void)facet_machine_reg_write(
        k->machine, 0, facet_machine_find_reg(k->machine, 0, name), value, NULL);
}

static void before(struct kernel *k)
{
    for (unsigned i = 0; i < 32; i++) {
        set_reg(k, "f", i, (struct facet_value){k->f[i], 0});
        if (i != 0) {
            set_reg(k, "s", i, (struct facet_value){k->s[i], 0});
            set_reg(k, "v", i, (struct facet_value){k->v[i].d[0], k->v[i].d[1]});
        }
    }
    kernel_set_csr(k, 0, "config", k->config);
    kernel_set_csr(k, 0, "vstatus", k->vstatus);
    kernel_set_csr(k, 0, "vstride", k->vstride);
}

static void after(struct kernel *k)
{
    for (unsigned i = 0; i < 32; i++) {
        struct facet_value value;

        (void)facet_machine_reg_read(k->machine, 0, i, &value, NULL);
        k->s[i] = (uint32_t)value.lo;
        (void)facet_machine_reg_read(k->machine, 0, 32 + i, &value, NULL);
        k->f[i] = (uint16_t)value.lo;
        (void)facet_machine_reg_read(k->machine, 0, 64 + i, &value, NULL);
        k->v[i].d[0] = value.lo;
        k->v[i].d[1] = value.hi;
    }
    k->config = kernel_csr(k, 0, "config");
    k->vstatus = kernel_csr(k, 0, "vstatus");
    k->vstride = kernel_csr(k, 0, "vstride");
    k->status = kernel_csr(k, 0, "status");
    k->fstatus = kernel_csr(k, 0, "fstatus");
    k->cause = kernel_csr(k, 0, "fault_cause");
    k->fault_pc = kernel_csr(k, 0, "fault_pc");
    k->fault_addr = kernel_csr(k, 0, "fault_addr");
    k->retired = facet_machine_retired(k->machine, 0);
    record_after(k);
}

static void go(struct kernel *k)
{
    const struct facet_run run = {.budget = UINT64_MAX};
    struct facet_error err = {0};

    record_before(k, true);
    CHECK_MSG(facet_tile_dispatch(k->machine, &k->packet, &err) == FACET_OK, "%s", err.message);
    before(k);
    facet_machine_run(k->machine, &run, &k->stop);
    after(k);
}

void kernel_exec(struct kernel *k, const char *text)
{
    char whole[4096];

    (void)snprintf(whole, sizeof whole, "%s\nEXIT\n", text);
    if (kernel_load(k, k->packet.pc, whole)) {
        go(k);
    }
}

void kernel_exec_word(struct kernel *k, uint32_t word)
{
    kernel_put(k, k->packet.pc, word);
    kernel_put(k, k->packet.pc + 4, 0x0010700F);
    go(k);
}

void kernel_run(struct kernel *k)
{
    const struct facet_run run = {.budget = UINT64_MAX};
    struct facet_error err = {0};

    record_before(k, false);
    CHECK_MSG(facet_tile_dispatch(k->machine, &k->packet, &err) == FACET_OK, "%s", err.message);
    facet_machine_run(k->machine, &run, &k->stop);
    after(k);
}

void kernel_put(struct kernel *k, uint32_t address, uint32_t word)
{
    uint8_t bytes[4];

    facet_store_le32(bytes, word);
    CHECK(facet_machine_write(k->machine, 0, address, bytes, 4, NULL) == FACET_OK);
}

uint32_t kernel_get(struct kernel *k, uint32_t address)
{
    uint8_t bytes[4] = {0};

    CHECK(facet_machine_read(k->machine, 0, address, bytes, 4, NULL) == FACET_OK);
    record_get(k, address, facet_load_le32(bytes));
    return facet_load_le32(bytes);
}

uint32_t kernel_csr(struct kernel *k, uint32_t core, const char *name)
{
    struct facet_value value = {0, 0};
    uint32_t index = facet_machine_find_csr(k->machine, core, name);

    CHECK_MSG(facet_machine_csr_read(k->machine, core, index, &value, NULL) == FACET_OK,
              "no CSR %s",
              name);
    return (uint32_t)value.lo;
}

void kernel_set_csr(struct kernel *k, uint32_t core, const char *name, uint32_t value)
{
    (void)facet_machine_csr_write(k->machine,
                                  core,
                                  facet_machine_find_csr(k->machine, core, name),
                                  (struct facet_value){value, 0},
                                  NULL,
                                  NULL);
}

uint64_t kernel_reg(struct kernel *k, uint32_t core, const char *name)
{
    struct facet_value value = {0, 0};

    (void)facet_machine_reg_read(
        k->machine, core, facet_machine_find_reg(k->machine, core, name), &value, NULL);
    return value.lo;
}
