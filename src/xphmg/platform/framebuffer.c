/* The framebuffer: seven registers that say where in memory a picture lies and how it is stored.
 *
 * There is no video memory and no scan-out: pixels are ordinary RAM, written with ordinary stores,
 * and a viewer (facet run --framebuffer, a debugger) reads them through the registers when
 * it likes, as with QEMU's ramfb. So the device has nothing to do but to keep its registers legal;
 * that the memory exists is checked by the reader. Registers are 32 bits wide, BASE 64; docs/run.md
 * has the map. */
#include "xphmg/machine.h"

#include "base/sized.h"

enum {
    REG_ID = 0x00,
    REG_WIDTH = 0x08,
    REG_HEIGHT = 0x0C,
    REG_FORMAT = 0x10,
    REG_STRIDE = 0x14,
    REG_BASE = 0x18,
    REG_BASE_HIGH = 0x1C,
    REG_END = 0x20,
};

#define ID_VALUE UINT32_C(0x46554246) /* "FBUF", F in the lowest byte */

/* A number that does not fit leaves the register as it is; reading back shows that. */
static void set_limited(uint32_t *reg, uint32_t value, uint32_t limit)
{
    if (value <= limit) {
        *reg = value;
    }
}

static uint32_t read_register(const struct facet_xphmg_framebuffer *fb, uint64_t offset)
{
    switch (offset) {
    case REG_ID:
        return ID_VALUE;
    case REG_WIDTH:
        return fb->width;
    case REG_HEIGHT:
        return fb->height;
    case REG_FORMAT:
        return fb->format;
    case REG_STRIDE:
        return fb->stride;
    case REG_BASE:
        return (uint32_t)fb->base;
    case REG_BASE_HIGH:
        return (uint32_t)(fb->base >> 32);
    default:
        return 0;
    }
}

static void write_register(struct facet_xphmg_framebuffer *fb, uint64_t offset, uint32_t value)
{
    switch (offset) {
    case REG_WIDTH:
        set_limited(&fb->width, value, FACET_XPHMG_FRAME_MAX);
        break;
    case REG_HEIGHT:
        set_limited(&fb->height, value, FACET_XPHMG_FRAME_MAX);
        break;
    case REG_FORMAT:
        set_limited(&fb->format, value, FACET_XPHMG_FRAME_FORMATS - 1);
        break;
    case REG_STRIDE:
        fb->stride = value;
        break;
    case REG_BASE:
        fb->base = (fb->base >> 32 << 32) | value;
        break;
    case REG_BASE_HIGH:
        fb->base = (uint64_t)value << 32 | (uint32_t)fb->base;
        break;
    default: /* ID and what is not there */
        break;
    }
}

/* Eight bytes are two registers, the lower one first. */
bool facet_xphmg_framebuffer_read(void *context, uint64_t offset, unsigned size, uint64_t *value)
{
    const struct facet_xphmg *m = context;

    if (size < 4) {
        return false;
    }
    *value = read_register(&m->framebuffer, offset);
    if (size == 8) {
        *value |= (uint64_t)read_register(&m->framebuffer, offset + 4) << 32;
    }
    return true;
}

bool facet_xphmg_framebuffer_write(void *context, uint64_t offset, unsigned size, uint64_t value)
{
    struct facet_xphmg *m = context;

    if (size < 4) {
        return false;
    }
    write_register(&m->framebuffer, offset, (uint32_t)value);
    if (size == 8) {
        write_register(&m->framebuffer, offset + 4, (uint32_t)(value >> 32));
    }
    return true;
}

void facet_xphmg_framebuffer_visit(struct facet_xphmg_framebuffer *fb, struct facet_state_io *io)
{
    facet_state_tag(io, "framebuffer");
    facet_state_u64(io, &fb->base);
    facet_state_u32(io, &fb->width);
    facet_state_u32(io, &fb->height);
    facet_state_u32(io, &fb->stride);
    facet_state_u32(io, &fb->format);
    facet_state_require(io,
                        fb->width <= FACET_XPHMG_FRAME_MAX && fb->height <= FACET_XPHMG_FRAME_MAX &&
                            fb->format < FACET_XPHMG_FRAME_FORMATS,
                        "framebuffer registers");
}

uint32_t facet_xphmg_frame_bytes(uint32_t format)
{
    return format == FACET_XPHMG_FRAME_RGBX8 ? 4 : format == FACET_XPHMG_FRAME_RGBF32 ? 12 : 0;
}

enum facet_status facet_xphmg_get_framebuffer_sized(const facet_machine *machine,
                                                    struct facet_xphmg_framebuffer *out,
                                                    size_t out_size,
                                                    struct facet_error *err)
{
    const struct facet_xphmg *m = facet_machine_self(machine, &facet_xphmg_ops, err);
    struct facet_xphmg_framebuffer own;

    memset(out, 0, out_size);
    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    if (m->framebuffer.format == FACET_XPHMG_FRAME_OFF || m->framebuffer.width == 0 ||
        m->framebuffer.height == 0) {
        return facet_fail(err, FACET_ERR_USAGE, 0, "the guest shows no picture");
    }
    own = m->framebuffer;
    if (own.stride == 0) {
        own.stride = own.width * facet_xphmg_frame_bytes(own.format);
    }
    facet_sized_out(out, out_size, &own, sizeof own);
    return FACET_OK;
}
