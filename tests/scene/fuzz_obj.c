/* The readers of OBJ and of material libraries. The OBJ ends at the first NUL byte; what follows is
 * every file that it names. */
#include "fuzz/fuzz.h"

#include "read_any.h"

#include <string.h>

static enum facet_status
fetch(void *context, const char *name, struct facet_bytes *out, struct facet_error *err)
{
    const struct facet_reader *rest = context;

    if (rest->size == 0) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "%s: not there", name);
    }
    out->data = malloc(rest->size);
    if (out->data == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    memcpy(out->data, rest->data, rest->size);
    out->size = rest->size;
    return FACET_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size != 0 ? memchr(data, '\0', size) : NULL;
    struct facet_reader rest = {.data = end != NULL ? end + 1 : NULL,
                                .size = end != NULL ? size - (size_t)(end - data) - 1 : 0};
    struct facet_reader reader = {
        .data = data, .size = size - rest.size - (end != NULL), .fetch = fetch, .context = &rest};

    read_any(&reader, facet_obj_read);
    return 0;
}
