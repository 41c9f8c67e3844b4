/* Any bytes as code: each word that decodes prints to text that assembles to the same word (hidden
 * bits aside), and the text of the whole assembles to the same bytes. The first byte chooses the
 * machine. */
#include "fuzz/fuzz.h"

#include "assembler/assemble.h"
#include "assembler/disassemble.h"

#include <stdlib.h>
#include <string.h>

static void
check_text(enum facet_isa isa, const char *text, size_t length, const uint8_t *bytes, size_t size)
{
    struct facet_asm_options options = {.isa = isa, .file = "fuzz.s"};
    struct facet_asm_result result;
    struct facet_error err;
    uint8_t *made = NULL;
    size_t made_size = 0;
    uint64_t base;

    fuzz_require(facet_assemble(&options, text, length, &result, &err) == FACET_OK);
    fuzz_require(facet_object_flatten(result.object, &made, &made_size, &base, &err) == FACET_OK);
    fuzz_require(made_size == size && memcmp(made, bytes, size) == 0);
    free(made);
    facet_asm_result_free(&result);
}

static void check_word(enum facet_isa isa, uint32_t word)
{
    const struct facet_insn_row *row = facet_isa_decode(isa, word);
    char text[512];
    uint8_t bytes[4];
    size_t length;

    if (row == NULL || facet_isa_has_hidden_bits(row, word)) {
        return;
    }
    for (unsigned i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(word >> (8 * i));
    }
    length = facet_isa_print(isa, word, 0x80000000, NULL, text, sizeof text);
    fuzz_require(length < sizeof text);
    check_text(isa, text, length, bytes, row->length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct facet_object *object = NULL;
    struct facet_strbuf text;
    struct facet_error err;
    enum facet_isa isa;

    if (size == 0) {
        return 0;
    }
    isa = (data[0] & 1) != 0 ? FACET_ISA_TILE : FACET_ISA_XPHMG;
    data++;
    size--;
    if (size >= 4) {
        uint32_t word;

        memcpy(&word, data, 4);
        check_word(isa, word);
    }
    fuzz_require(facet_object_from_bytes(isa, data, size, 0x1000, &object, &err) == FACET_OK);
    facet_strbuf_init(&text);
    fuzz_require(facet_disassemble(object, "fuzz", &text, &err) == FACET_OK);
    check_text(isa, facet_strbuf_text(&text), text.length, data, size);
    facet_strbuf_free(&text);
    facet_object_free(object);
    return 0;
}
