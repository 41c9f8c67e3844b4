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
    bool plain;                       /* struct facet_xphmg_config */
    struct facet_counts *counts;      /* NULL: nothing is counted */
    struct facet_render_pixel *pixel; /* NULL, or the one that is asked about */
};

/* Fails when Facet was built without the cross compiler. */
enum facet_status facet_render_guest_program_check(size_t elf_bytes, struct facet_error *err);

/* Machines with a program and its memory, made when threads need them and kept, with everything
 * that they have translated, for the pictures that follow. The image must stay. NULL: no memory. */
typedef struct facet_render_garage facet_render_garage;
facet_render_garage *facet_render_garage_create(const struct facet_render_guest_program *program);
void facet_render_garage_destroy(facet_render_garage *garage); /* NULL is allowed */

/* A picture by these machines. One draws at a time. */
enum facet_status facet_render_garage_draw(const struct facet_render *render,
                                           facet_render_garage *garage,
                                           facet_pool *pool,
                                           struct facet_progress *progress,
                                           struct facet_image_f *out,
                                           struct facet_render_report *report,
                                           struct facet_error *err);

#endif
