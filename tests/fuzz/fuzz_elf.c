/* Any bytes as an ELF file: read or refused with a message; what was read can be disassembled, and
 * its segments lie inside the address space. */
#include "fuzz/fuzz.h"

#include "assembler/disassemble.h"
#include "object/elf.h"
#include "object/lines.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct facet_object *object = NULL;
    struct facet_error err = {0};
    struct facet_strbuf text;
    struct facet_lines lines;

    if (facet_elf_read(data, size, &object, &err) != FACET_OK) {
        fuzz_require(object == NULL && err.message[0] != '\0');
        return 0;
    }
    for (size_t i = 0; i < object->segment_count; i++) {
        const struct facet_segment *g = &object->segments[i];
        volatile uint8_t last = g->file_size != 0 ? g->data[g->file_size - 1] : 0;

        (void)last;
        fuzz_require(g->memory_size >= g->file_size);
        fuzz_require(g->memory_size == 0 || g->address + (g->memory_size - 1) >= g->address);
    }
    if (facet_lines_read(object, &lines, &err) == FACET_OK) {
        for (size_t i = 0; i < lines.count; i++) {
            fuzz_require(i == 0 || lines.rows[i].address >= lines.rows[i - 1].address);
            fuzz_require(facet_lines_find(&lines, lines.rows[i].address) == NULL ||
                         lines.rows[i].file != NULL);
        }
    } else {
        fuzz_require(lines.count == 0 && err.message[0] != '\0');
    }
    facet_strbuf_init(&text);
    fuzz_require(facet_disassemble(object, "fuzz", &text, &err) == FACET_OK);
    facet_strbuf_free(&text);
    facet_object_free(object);
    return 0;
}
