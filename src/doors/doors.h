/* What the doors share. */
#ifndef FACET_DOORS_DOORS_H
#define FACET_DOORS_DOORS_H

#include "base/error.h"
#include "base/sized.h"
#include "base/strbuf.h"

#include <facet/memory.h>

/* The text as the caller's; the buffer is empty afterwards. */
static inline enum facet_status
facet_door_blob_of_text(struct facet_strbuf *text, struct facet_blob *out, struct facet_error *err)
{
    bool failed = text->failed;

    if (!failed && text->text == NULL) {
        facet_strbuf_add(text, "", 0);
        failed = text->failed;
    }
    *out = (struct facet_blob){0};
    if (failed) {
        facet_strbuf_free(text);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a text");
    }
    *out = (struct facet_blob){text->text, text->length};
    facet_strbuf_init(text);
    return FACET_OK;
}

#endif
