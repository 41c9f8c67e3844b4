/* The core-local interruptor and the finisher, with the registers of QEMU's `virt` machine, and
 * where each device is: msip at 4 * hart, mtimecmp at 0x4000 + 8 * hart, mtime at 0xBFF8. Words and
 * doublewords; harts that do not exist read 0. */
#include "xphmg/machine.h"

enum { MSIP_END = 0x4000, MTIMECMP = 0x4000, MTIME = 0xBFF8, CLINT_BYTES = 0x10000 };
enum { FINISHER_FAIL = 0x3333, FINISHER_PASS = 0x5555, FINISHER_RESET = 0x7777 };

/* The 64-bit register that holds the offset, or NULL. */
static uint64_t *wide(struct facet_xphmg *m, uint64_t offset)
{
    uint64_t hart = (offset - MTIMECMP) / 8;

    return offset >= MTIMECMP && hart < m->hart_count ? &m->mtimecmp[hart] : NULL;
}

bool facet_xphmg_clint_read(void *context, uint64_t offset, unsigned size, uint64_t *value)
{
    struct facet_xphmg *m = context;
    uint64_t *reg = wide(m, offset), whole = 0;

    if (size < 4) {
        return false;
    }
    if (offset < MSIP_END) {
        for (unsigned i = 0; i < size; i += 4) {
            uint64_t hart = (offset + i) / 4;

            whole |= (hart < m->hart_count ? m->msip >> hart & 1 : 0) << (8 * i);
        }
        *value = whole;
        return true;
    }
    whole = reg != NULL ? *reg : (offset & ~UINT64_C(7)) == MTIME ? m->mtime : 0;
    *value = size == 8 ? whole : whole >> (8 * (offset & 4)) & 0xFFFFFFFF;
    return true;
}

static uint64_t merge(uint64_t old, uint64_t offset, unsigned size, uint64_t value)
{
    unsigned shift = 8 * (offset & 4);

    return size == 8 ? value
                     : (old & ~(UINT64_C(0xFFFFFFFF) << shift)) | (value & 0xFFFFFFFF) << shift;
}

bool facet_xphmg_clint_write(void *context, uint64_t offset, unsigned size, uint64_t value)
{
    struct facet_xphmg *m = context;
    uint64_t *reg = wide(m, offset);

    if (size < 4) {
        return false;
    }
    if (offset < MSIP_END) {
        for (unsigned i = 0; i < size; i += 4) {
            uint64_t hart = (offset + i) / 4;

            if (hart < m->hart_count) {
                m->msip = (m->msip & ~(UINT64_C(1) << hart)) | (value >> (8 * i) & 1) << hart;
            }
        }
    } else if (reg != NULL) {
        *reg = merge(*reg, offset, size, value);
    } else if ((offset & ~UINT64_C(7)) == MTIME) {
        m->mtime_offset += merge(m->mtime, offset, size, value) - m->mtime;
        m->mtime = m->clock / m->steps_per_tick + m->mtime_offset;
    }
    return true;
}

static bool finisher_read(void *context, uint64_t offset, unsigned size, uint64_t *value)
{
    (void)context, (void)offset, (void)size;
    *value = 0;
    return true;
}

static bool finisher_write(void *context, uint64_t offset, unsigned size, uint64_t value)
{
    struct facet_xphmg *m = context;

    if (offset != 0 || size < 2) {
        return true;
    }
    if ((value & 0xFFFF) == FINISHER_PASS || (value & 0xFFFF) == FINISHER_RESET) {
        facet_xphmg_end(m, m->current, 0);
    } else if ((value & 0xFFFF) == FINISHER_FAIL) {
        facet_xphmg_end(m, m->current, value >> 16 & 0xFFFF);
    }
    return true;
}

enum facet_status facet_xphmg_add_devices(struct facet_xphmg *m, struct facet_error *err)
{
    const struct {
        const char *name;
        uint64_t bytes;
        struct facet_mem_device device;
    } devices[FACET_DEVICES] = {
        [FACET_DEVICE_FINISHER] = {"finisher", 0x1000, {finisher_read, finisher_write, m}},
        [FACET_DEVICE_CLINT] = {"clint",
                                CLINT_BYTES,
                                {facet_xphmg_clint_read, facet_xphmg_clint_write, m}},
        [FACET_DEVICE_UART] = {"uart", 0x100, {facet_xphmg_uart_read, facet_xphmg_uart_write, m}},
        [FACET_DEVICE_FRAMEBUFFER] = {"framebuffer",
                                      0x1000,
                                      {facet_xphmg_framebuffer_read,
                                       facet_xphmg_framebuffer_write,
                                       m}},
    };
    enum facet_status status = FACET_OK;

    for (unsigned i = 0; i < FACET_DEVICES && status == FACET_OK; i++) {
        const uint64_t base = m->cap.platform.device[i];

        if (base != FACET_NOWHERE) {
            status = facet_mem_add_device(
                m->mem, devices[i].name, base, devices[i].bytes, &devices[i].device, err);
        }
    }
    return status;
}
