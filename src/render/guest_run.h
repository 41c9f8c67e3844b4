/* Pictures drawn by a program on the xphmg machine's hart, which finds scene and what to draw in
 * its memory (guest/block.h).
 *
 * A bucket is one run of the program. A machine is sequential, so every thread has its own, with
 * the same memory; which machine draws which bucket changes nothing. */
#ifndef FACET_RENDER_GUEST_RUN_H
#define FACET_RENDER_GUEST_RUN_H

#include "render/guest_image.h"
#include "render/world.h"

struct facet_render_guest_program {
    const unsigned char *elf;
    size_t elf_bytes;
    const struct facet_render_guest_image *image;
    bool plain; /* struct facet_xphmg_config */
};

/* Fails when Facet was built without the cross compiler. */
enum facet_status facet_render_guest_program_check(size_t elf_bytes, struct facet_error *err);

enum facet_status facet_render_guest_draw(const struct facet_render *render,
                                          const struct facet_render_guest_program *program,
                                          facet_pool *pool,
                                          struct facet_progress *progress,
                                          struct facet_image_f *out,
                                          struct facet_render_report *report,
                                          struct facet_error *err);

#endif
