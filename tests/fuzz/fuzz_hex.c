/* Any text as words of $readmemh: read or refused with a message; what was read is written so that
 * it reads and is written as the same text again. The first byte chooses the machine and the base.
 */
#include "fuzz/fuzz.h"

#include "object/hex.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum facet_isa isa = size != 0 && (data[0] & 1) != 0 ? FACET_ISA_TILE : FACET_ISA_XPHMG;
    uint64_t base = size != 0 && (data[0] & 2) != 0 ? UINT64_C(0x80000000) : 0;
    struct facet_object *object = NULL, *again = NULL;
    struct facet_strbuf text, second;
    struct facet_error err = {0};

    if (size == 0) {
        return 0;
    }
    if (facet_hex_read(isa, (const char *)data + 1, size - 1, base, &object, &err) != FACET_OK) {
        fuzz_require(object == NULL && err.message[0] != '\0');
        return 0;
    }
    facet_strbuf_init(&text);
    facet_hex_write(object, &text);
    fuzz_require(
        facet_hex_read(isa, facet_strbuf_text(&text), text.length, object->entry, &again, &err) ==
        FACET_OK);
    facet_strbuf_init(&second);
    facet_hex_write(again, &second);
    fuzz_require(again->entry == object->entry && text.length == second.length &&
                 memcmp(facet_strbuf_text(&text), facet_strbuf_text(&second), text.length) == 0);
    facet_strbuf_free(&second);
    facet_strbuf_free(&text);
    facet_object_free(object);
    facet_object_free(again);
    return 0;
}
