/* See gfx_machine.h. */
#include "bench/gfx_machine.h"

#include "base/bits.h"
#include "base/error.h"
#include "bench/hart_setup.h"

#include <facet/xphmg.h>
#include <stdlib.h>

enum {
    LANES = GFX_MACHINE_LANES,
    IN_BYTES = 2 * 4 * LANES, /* of a group: all u, then all v */
    OUT_BYTES = 4 * 4 * LANES,
    AT_TEXTURE = 0x10000, /* from the start of RAM */
    PAGE = 4096,
    INSTRUCTIONS = 5, /* of a turn of the loop */
};

struct gfx_machine {
    facet_machine *machine;
    unsigned groups;
    uint64_t in, out, end; /* addresses; of the program */
};

/* a0: coordinates, a6: colours, a1: end of the coordinates, t0: SVSTATE of one instruction. */
static const char program[] = "loop: csrw SVSTATE, t0\n"
                              " GFX.SAMPLE x16, x10, m=1\n"
                              " addi a0, a0, 512\n"
                              " addi a6, a6, 1024\n"
                              " bne a0, a1, loop\n";

static enum facet_status
put_state(struct gfx_machine *m, uint32_t width, uint32_t height, struct facet_error *err)
{
    const struct {
        const char *name;
        uint64_t value;
    } csrs[] = {
        {"CAP.PREC.MODE", UINT64_C(1) << 63 | 0x00300000},        /* FP32, accumulator FP32 */
        {"GFXCFG", 1 << 0 | 1 << 1 | 1 << 6 | 1 << 16 | 1 << 18}, /* EN CONVERT_EN NORM AMEM DMEM */
        {"GFXWRAP", 1},
        {"GFXTEXBASE", FACET_XPHMG_RAM_BASE + AT_TEXTURE},
        {"GFXTEXPITCH", UINT64_C(4) * width},
        {"GFXTEXWH", (uint64_t)height << 32 | width},
        {"GFXTEXFMT", 0x30},
    };
    enum facet_status status = FACET_OK;

    for (size_t k = 0; k < sizeof csrs / sizeof csrs[0] && status == FACET_OK; k++) {
        status = hart_put_csr(m->machine, csrs[k].name, csrs[k].value, err);
    }
    return status;
}

enum facet_status gfx_machine_create(const uint8_t *texels,
                                     uint32_t width,
                                     uint32_t height,
                                     unsigned groups,
                                     struct gfx_machine **out,
                                     struct facet_error *err)
{
    const size_t bytes = (size_t)4 * width * height;
    const uint64_t in = facet_align_up(AT_TEXTURE + bytes, PAGE);
    const uint64_t results = in + facet_align_up((uint64_t)groups * IN_BYTES, PAGE);
    const struct facet_xphmg_config config = {
        .ram_bytes = results + facet_align_up((uint64_t)groups * OUT_BYTES, PAGE) + PAGE};
    struct gfx_machine *m = calloc(1, sizeof *m);
    enum facet_status status;

    *out = NULL;
    if (m == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    m->groups = groups;
    m->in = FACET_XPHMG_RAM_BASE + in;
    m->out = FACET_XPHMG_RAM_BASE + results;
    if ((status = facet_xphmg_create(&config, &m->machine, err)) != FACET_OK ||
        (status = hart_put_program(m->machine, program, &m->end, err)) != FACET_OK ||
        (status = put_state(m, width, height, err)) != FACET_OK ||
        (status = facet_machine_write(
             m->machine, 0, FACET_XPHMG_RAM_BASE + AT_TEXTURE, texels, bytes, err)) != FACET_OK) {
        gfx_machine_destroy(m);
        return status;
    }
    *out = m;
    return FACET_OK;
}

void gfx_machine_destroy(struct gfx_machine *m)
{
    if (m != NULL) {
        facet_machine_destroy(m->machine);
        free(m);
    }
}

enum facet_status gfx_machine_put(struct gfx_machine *m,
                                  unsigned k,
                                  const uint32_t u[LANES],
                                  const uint32_t v[LANES],
                                  struct facet_error *err)
{
    uint8_t bytes[IN_BYTES];

    for (unsigned i = 0; i < LANES; i++) {
        facet_store_le32(bytes + (size_t)4 * i, u[i]);
        facet_store_le32(bytes + (size_t)4 * (LANES + i), v[i]);
    }
    return facet_machine_write(
        m->machine, 0, m->in + (uint64_t)k * IN_BYTES, bytes, sizeof bytes, err);
}

enum facet_status gfx_machine_run(struct gfx_machine *m, struct facet_error *err)
{
    const uint64_t one_shot = (LANES - 1) | 1 << 8 | 1 << 9; /* VLM1, EN, ONE_SHOT */
    const struct facet_run run = {.budget = (uint64_t)INSTRUCTIONS * m->groups};
    struct facet_stop stop;
    enum facet_status status;

    if ((status = hart_put_reg(m->machine, "pc", FACET_XPHMG_RAM_BASE, err)) != FACET_OK ||
        (status = hart_put_reg(m->machine, "a0", m->in, err)) != FACET_OK ||
        (status = hart_put_reg(m->machine, "a6", m->out, err)) != FACET_OK ||
        (status = hart_put_reg(m->machine, "a1", m->in + (uint64_t)m->groups * IN_BYTES, err)) !=
            FACET_OK ||
        (status = hart_put_reg(m->machine, "t0", one_shot, err)) != FACET_OK) {
        return status;
    }
    facet_machine_run(m->machine, &run, &stop);
    if (stop.reason != FACET_STOP_BUDGET || stop.pc != m->end) {
        return facet_fail(
            err, FACET_ERR_FAULT, stop.pc, "the sampling loop stopped before its end");
    }
    return FACET_OK;
}

enum facet_status gfx_machine_get(
    struct gfx_machine *m, unsigned k, unsigned c, uint32_t out[LANES], struct facet_error *err)
{
    uint8_t bytes[4 * LANES];
    enum facet_status status =
        facet_machine_read(m->machine,
                           0,
                           m->out + (uint64_t)k * OUT_BYTES + (uint64_t)c * sizeof bytes,
                           bytes,
                           sizeof bytes,
                           err);

    for (unsigned i = 0; i < LANES && status == FACET_OK; i++) {
        out[i] = facet_load_le32(bytes + (size_t)4 * i);
    }
    return status;
}
