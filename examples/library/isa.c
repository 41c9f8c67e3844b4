/* Instructions without a machine: a line to bytes, a word to its row and operands, a row by name.
 */
#include <facet/isa.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    struct facet_error err;
    struct facet_isa_insn insn;
    struct facet_isa_operand operands[FACET_ISA_MAX_OPERANDS];
    struct facet_isa_assemble_config config = {FACET_ISA_XPHMG};
    struct facet_blob program, messages;
    const char text[] = "start: li a0, 7\n  ad a1, a0, a0\n";
    uint8_t bytes[16];
    char line[80];
    uint32_t word, from = 0;
    size_t size, count;

    if (facet_isa_assemble_line(
            FACET_ISA_XPHMG, "addi t0, t1, -3", 0x80000000, bytes, sizeof bytes, &size, &err)) {
        puts(err.message);
        return 2;
    }
    word = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    facet_isa_print_word(FACET_ISA_XPHMG, word, 0x80000000, line, sizeof line);
    printf("%zu bytes, 0x%08" PRIx32 ": %s\n", size, word, line);
    if (facet_isa_decode_word(FACET_ISA_XPHMG, word, &insn, operands, 16, &count, &err)) {
        puts(err.message);
        return 2;
    }
    printf("%s of %s (%s)\n", insn.mnemonic, insn.extension, insn.syntax);
    for (size_t i = 0; i < count; i++) {
        printf("  %s = %" PRId64 "\n", operands[i].name, operands[i].value);
    }
    if (facet_isa_find_insn(FACET_ISA_TILE, "vfma.f16", &from, &insn) == FACET_OK) {
        printf("%s: %s\n", insn.mnemonic, insn.semantics);
    }
    config.name = "wrong.s";
    if (facet_isa_assemble(&config, text, strlen(text), &program, &messages, &err)) {
        fputs((const char *)messages.data, stdout);
        facet_blob_free(&messages);
    }
    return 0;
}
