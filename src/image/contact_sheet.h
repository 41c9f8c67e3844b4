/* Pictures side by side with labels: what `facet render --machine all` writes. */
#ifndef FACET_IMAGE_CONTACT_SHEET_H
#define FACET_IMAGE_CONTACT_SHEET_H

#include "image/image.h"

struct facet_sheet_entry {
    const char *name;
    char counts[96];            /* the line below the name */
    struct facet_image picture; /* empty: `counts` says why there is none */
};

/* Whether that many cells fit on a sheet: FACET_ERR_LIMIT otherwise. Check before drawing them. */
enum facet_status facet_image_contact_sheet_check(size_t count,
                                                  uint32_t width,
                                                  uint32_t height,
                                                  struct facet_error *err);
/* Cells of width x height pixels with a label below each, in about as many rows as columns, under a
 * title. */
enum facet_status facet_image_contact_sheet(const struct facet_sheet_entry *entries,
                                            size_t count,
                                            uint32_t width,
                                            uint32_t height,
                                            const char *title,
                                            struct facet_image *out,
                                            struct facet_error *err);

#endif
