/* The reader of PLY. */
#include "fuzz/fuzz.h"

#include "read_any.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct facet_reader reader = {.data = data, .size = size};

    read_any(&reader, facet_ply_read);
    return 0;
}
