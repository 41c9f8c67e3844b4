/* Vector files: any bytes are read or refused, and what is read runs. */
#include "documents/gfx12_vectors.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct facet_doc_gfx12_vectors vectors;
    struct facet_error err = {0};
    enum facet_status status = facet_doc_gfx12_vectors_parse("fuzz", data, size, &vectors, &err);
    if (status != FACET_OK && (err.status != status || err.message[0] == '\0')) {
        abort(); /* a refusal without a reason */
    }
    for (size_t i = 0; status == FACET_OK && i < vectors.count; i++) {
        struct facet_doc_gfx12_vector_result result;
        facet_doc_gfx12_vector_run(&vectors.cases[i], FACET_GFX12_SILICON, &result);
    }
    facet_doc_gfx12_vectors_free(&vectors);
    return 0;
}
