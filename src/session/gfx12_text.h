/* Programs of gfx12 as text: one of the four instructions per line, or `.long N, ...` for dwords
 * that are none of them; a comment begins with #, ; or //. */
#ifndef FACET_SESSION_GFX12_TEXT_H
#define FACET_SESSION_GFX12_TEXT_H

#include "command/command.h"

#include "assembler/diag.h"

struct session_gfx12_words {
    uint32_t *words; /* free with free() */
    size_t count, capacity;
    bool failed; /* out of memory */
};

/* Adds up to 20 complaints to the list. The text is program only when there is none and `failed` is
 * not set. */
void session_gfx12_assemble(const char *file,
                            const char *text,
                            size_t size,
                            struct session_gfx12_words *out,
                            struct facet_diag_list *diags);
/* false when memory is short. */
bool session_gfx12_add(struct session_gfx12_words *out, const uint32_t *words, size_t count);

/* Whether the options make sense without sections and executables; the complaint is printed when
 * not. */
bool session_gfx12_is_flat(const struct cli_args *args);
/* A flat file, or words in hexadecimal (by --format, else .hex); the complaint is printed when it
 * returns false. */
bool session_gfx12_read(const struct cli_args *args,
                        const char *path,
                        struct session_gfx12_words *out);
/* Little-endian bytes, or a word in hexadecimal per line. */
enum facet_status session_gfx12_write(const char *path,
                                      bool hex,
                                      const struct session_gfx12_words *program,
                                      struct facet_error *err);
/* The instruction, or the single dword, that the first of `count` dwords begins, as LLVM's
 * assembler reads it; returns its dwords. *name is its mnemonic, NULL for a dword. */
unsigned session_gfx12_disassemble(
    const uint32_t *words, size_t count, char *text, size_t size, const char **name);

#endif
