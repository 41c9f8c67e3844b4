/* BVH images back from the JSON that their rooms write (gfx12/image/text.h, rt_image/text.h). */
#ifndef FACET_DOCUMENTS_BVH_IMAGES_H
#define FACET_DOCUMENTS_BVH_IMAGES_H

#include "gfx12/image/text.h"
#include "rt_image/text.h"

/* Reads the JSON form; `name` starts complaints, which carry a line number. */
enum facet_status facet_doc_gfx12_json_read(const char *name,
                                            const char *text,
                                            size_t size,
                                            struct facet_gfx12_image *out,
                                            struct facet_error *err);

/* The same with base, root and segments (without names). Free what it holds with the function
 * below.
 */
enum facet_status facet_doc_gfx12_json_view(const char *name,
                                            const char *text,
                                            size_t size,
                                            struct facet_gfx12_view *out,
                                            struct facet_error *err);
void facet_doc_gfx12_view_free(struct facet_gfx12_view *view);

/* Whether the text looks like the JSON form of an RT image: its first member says so. */
bool facet_doc_rtbvh_json_is(const char *text, size_t size);
/* Reads the JSON form; `name` starts complaints, which carry a line number or name the member. */
enum facet_status facet_doc_rtbvh_json_read(const char *name,
                                            const char *text,
                                            size_t size,
                                            struct facet_rtbvh_image *out,
                                            struct facet_error *err);

#endif
