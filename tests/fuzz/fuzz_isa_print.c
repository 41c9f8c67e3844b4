/* Any word at any pc: decoding, taking operands apart and putting them together again, printing
 * into a buffer of any size. The rebuilt word must be the word, the text must be whole and bounded.
 */
#include "fuzz/fuzz.h"
#include "isa/isa.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (size_t at = 0; at + 14 <= size; at += 14) {
        uint32_t word;
        uint64_t pc;
        char text[256], part[256];
        memcpy(&word, data + at, sizeof word);
        memcpy(&pc, data + at + 4, sizeof pc);
        enum facet_isa isa = data[at + 12] & 1 ? FACET_ISA_TILE : FACET_ISA_XPHMG;
        size_t room = data[at + 13];
        const struct facet_insn_row *row = facet_isa_decode(isa, word);
        size_t length = facet_isa_print(isa, word, pc, NULL, text, sizeof text);
        if (length == 0 || length >= sizeof text || strlen(text) != length ||
            facet_isa_print(isa, word, pc, NULL, part, room) != length ||
            (room > 0 && strncmp(part, text, room - 1) != 0) || (row == NULL) != (text[0] == '.')) {
            abort();
        }
        if (row == NULL) {
            continue;
        }
        uint32_t rebuilt = row->match, mask = row->length == 2 ? 0xFFFF : 0xFFFFFFFF;
        for (unsigned i = 0; i < row->operand_count; i++) {
            int64_t value = facet_operand_get(&row->operands[i], word);
            if (!facet_operand_fits(&row->operands[i], value) ||
                !facet_operand_legal(&row->operands[i], value)) {
                abort();
            }
            rebuilt = facet_operand_set(&row->operands[i], rebuilt, value);
        }
        if (rebuilt != (word & mask)) {
            abort();
        }
    }
    return 0;
}
