/* The framebuffer device of the xphmg machine (docs/run.md): a picture in ordinary memory. */
#ifndef GUEST_FRAMEBUFFER_H
#define GUEST_FRAMEBUFFER_H

#include <stdint.h>

enum framebuffer_format {
    FRAMEBUFFER_OFF,
    FRAMEBUFFER_RGBX8,  /* bytes red, green, blue (sRGB-encoded), ignored */
    FRAMEBUFFER_RGBF32, /* three floats, linear light */
};

struct framebuffer_registers {
    uint32_t id, unused, width, height, format, stride;
    uint64_t base;
};
#define FRAMEBUFFER ((volatile struct framebuffer_registers *)0x11000000UL)

/* Shows `pixels`, rows from top to bottom without gaps. They may still change: who looks sees what
 * is in memory then. */
static inline void framebuffer_show(const void *pixels,
                                    uint32_t width,
                                    uint32_t height,
                                    enum framebuffer_format format)
{
    FRAMEBUFFER->format = FRAMEBUFFER_OFF;
    FRAMEBUFFER->base = (uint64_t)pixels;
    FRAMEBUFFER->width = width;
    FRAMEBUFFER->height = height;
    FRAMEBUFFER->stride = 0;
    FRAMEBUFFER->format = format;
}

#endif
