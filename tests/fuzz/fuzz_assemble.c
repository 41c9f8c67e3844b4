/* Any text: the assembler either gives an object or complaints with places inside the text; what it
 * makes can be written, read back and disassembled, and the second assembly gives the same bytes.
 * The first byte chooses the machine. */
#include "fuzz/fuzz.h"

#include "assembler/assemble.h"
#include "assembler/disassemble.h"
#include "object/elf.h"

#include <stdlib.h>
#include <string.h>

/* The text of the object must give an equal file. Sections that are not loaded are not shown, and
 * so may be missing: compare the loaded bytes. */
static void check_again(const struct facet_object *object, const struct facet_asm_options *options)
{
    struct facet_asm_result again;
    struct facet_strbuf text;
    struct facet_error err;
    uint8_t *first = NULL, *second = NULL;
    size_t first_size = 0, second_size = 0;
    uint64_t first_base, second_base;

    if (facet_object_flatten(object, &first, &first_size, &first_base, &err) != FACET_OK) {
        return; /* too far apart for a flat image */
    }
    facet_strbuf_init(&text);
    fuzz_require(facet_disassemble(object, "fuzz", &text, &err) == FACET_OK);
    fuzz_require(facet_assemble(options, facet_strbuf_text(&text), text.length, &again, &err) ==
                 FACET_OK);
    fuzz_require(facet_object_flatten(again.object, &second, &second_size, &second_base, &err) ==
                 FACET_OK);
    fuzz_require(first_size == second_size && first_base == second_base &&
                 memcmp(first, second, first_size) == 0);
    fuzz_require(again.object->entry == object->entry);
    free(first);
    free(second);
    facet_strbuf_free(&text);
    facet_asm_result_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct facet_asm_options options = {.file = "fuzz.s",
                                        .max_bytes = 1 << 16,
                                        .max_expansion = 3000,
                                        .listing = true,
                                        .debug = true};
    struct facet_asm_result result;
    struct facet_error err;
    uint8_t *elf = NULL;
    size_t elf_size = 0;

    if (size == 0) {
        return 0;
    }
    options.isa = (data[0] & 1) != 0 ? FACET_ISA_TILE : FACET_ISA_XPHMG;
    if (facet_assemble(&options, (const char *)data + 1, size - 1, &result, &err) == FACET_OK) {
        struct facet_object *read = NULL;
        struct facet_strbuf listing;

        fuzz_require(result.object != NULL && result.diags.count == 0);
        fuzz_require(facet_elf_write(result.object, &elf, &elf_size, &err) == FACET_OK);
        fuzz_require(facet_elf_read(elf, elf_size, &read, &err) == FACET_OK);
        fuzz_require(read->symbol_count == result.object->symbol_count);
        facet_strbuf_init(&listing);
        facet_asm_listing(&result, (const char *)data + 1, size - 1, &listing);
        facet_strbuf_free(&listing);
        options.listing = false;
        options.max_bytes = 1 << 20;
        options.max_expansion = 0;
        check_again(read, &options);
        facet_object_free(read);
        free(elf);
    } else {
        fuzz_require(result.object == NULL && result.diags.count >= 1 && result.diags.count <= 20);
        for (size_t i = 0; i < result.diags.count; i++) {
            fuzz_require(result.diags.items[i].line >= 1 && result.diags.items[i].column >= 1);
        }
    }
    facet_asm_result_free(&result);
    return 0;
}
