/* The check of PLY files: whatever the bytes are, it ends, and a complaint has words. */
#include "fuzz/fuzz.h"

#include "scene/ply.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct facet_error err = {0};

    if (facet_ply_check(data, size, &err) != FACET_OK && err.message[0] == '\0') {
        abort();
    }
    return 0;
}
