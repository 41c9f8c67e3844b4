/* For the scripts of this folder: reads lines `ISA PC WORD` (xphmg|tile, hex, hex) and writes for
 * each `LENGTH<tab>MNEMONIC<tab>FILE<tab>TEXT`, with - - for an illegal word. */
#include "isa/isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char line[128], text[256];

    while (fgets(line, sizeof line, stdin) != NULL) {
        char isa_name[16];
        unsigned long long pc;
        unsigned word;
        if (sscanf(line, "%15s %llx %x", isa_name, &pc, &word) != 3) {
            fprintf(stderr, "cannot read %s", line);
            return 2;
        }
        enum facet_isa isa = strcmp(isa_name, "tile") == 0 ? FACET_ISA_TILE : FACET_ISA_XPHMG;
        const struct facet_insn_row *row = facet_isa_decode(isa, word);
        facet_isa_print(isa, word, pc, NULL, text, sizeof text);
        printf("%u\t%s\t%s\t%s\n",
               facet_isa_length(isa, (uint16_t)word),
               row != NULL ? row->mnemonic : "-",
               row != NULL ? row->file : "-",
               text);
    }
    return 0;
}
