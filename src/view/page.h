/* The page of the inspector (web/) with a file inside: one HTML file that needs nothing else. */
#ifndef FACET_VIEW_PAGE_H
#define FACET_VIEW_PAGE_H

#include "base/file.h"

#include "view/input.h"

#include <jansson.h>

/* The page without a file, as `make web` writes it: the file that FACET_PAGE names, else
 * web/page.html beside the program (a build folder), else ../share/facet/page.html from there
 * (installed). FACET_ERR_IO says how to make it when it is in none of these places. */
enum facet_status view_page_read(struct facet_bytes *out, struct facet_error *err);

/* What the page is given. */
struct view_input {
    const char *name; /* of the file, without folders */
    const uint8_t *bytes;
    size_t size;
    const json_t *made; /* an object: what the page is told besides; stays the caller's */
    const struct view_beside *beside; /* files that it names */
    size_t beside_count;
};

/* Puts the input where the page has its mark <!--facet-input-->: an object with `name`, the members
 * of `made`, `beside`, which has name and data of other files, and `data`, which is gzip in base64.
 * The same input gives the same bytes. */
enum facet_status view_page_fill(const struct facet_bytes *page,
                                 const struct view_input *input,
                                 struct facet_bytes *out,
                                 struct facet_error *err);

#endif
