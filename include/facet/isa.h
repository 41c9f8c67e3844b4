/* Instructions without a machine: the rows of the contract, words to text and back.
 *
 * The tables are those of spec/ *.insn.tsv and *.csr.tsv, compiled in. Pointers to names and texts
 * are static; nothing here allocates except what is handed out as a struct facet_blob. */
#ifndef FACET_ISA_H
#define FACET_ISA_H

#include <facet/memory.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* xphmg is the whole hart: the base RV64 rows and the vendor extensions decode together. */
enum facet_isa { FACET_ISA_XPHMG, FACET_ISA_TILE, FACET_ISA_COUNT };

/* ---- rows ---- */

/* An instruction as the contract has it. Passed with its size, as facet/version.h explains. */
struct facet_isa_insn {
    const char *mnemonic;
    const char *syntax;    /* "addi rd, rs1, imm" */
    const char *fields;    /* where the operands lie, as the row writes it */
    const char *semantics; /* what it does */
    const char *extension; /* "RV64I", "XPHMG_RT", "tile", ... */
    const char *file;      /* of spec/, and the line there */
    uint32_t line;
    uint32_t id;     /* number of the row */
    uint32_t length; /* bytes: 2 or 4 */
    uint32_t mask;   /* word & mask == match, and conditions of single operands */
    uint32_t match;
    uint32_t operand_count;
};

/* An operand of a row, with its value in a word that was decoded. Passed with its size. */
struct facet_isa_operand {
    const char *name;
    const char *meaning; /* a few words; "" for a field that the syntax does not show */
    int64_t value;       /* as it is written: registers by number, offsets in bytes */
    int64_t field;       /* the bits of the word, sign-extended where the row says so */
    uint8_t bits;        /* of the field */
    bool hidden;         /* not in the syntax: assembled as 0 */
};

#define FACET_ISA_MAX_OPERANDS 16

/* How many rows the instruction set has; 0 for one that does not exist. */
uint32_t facet_isa_insn_count(enum facet_isa isa);
enum facet_status facet_isa_get_insn_sized(enum facet_isa isa,
                                           uint32_t id,
                                           struct facet_isa_insn *insn,
                                           size_t insn_size);
/* Row `id`; FACET_ERR_USAGE when there is none. */
static inline enum facet_status
facet_isa_get_insn(enum facet_isa isa, uint32_t id, struct facet_isa_insn *insn)
{
    return facet_isa_get_insn_sized(isa, id, insn, sizeof *insn);
}
enum facet_status facet_isa_find_insn_sized(enum facet_isa isa,
                                            const char *mnemonic,
                                            uint32_t *from,
                                            struct facet_isa_insn *insn,
                                            size_t insn_size);
/* The rows with this mnemonic, in any case, one after the other: several may share it. `*from` is
 * 0 before the first call; each row that is found leaves it where the search for the next one
 * begins. FACET_ERR_USAGE, and `*from` as it was, when there is none left. */
static inline enum facet_status facet_isa_find_insn(enum facet_isa isa,
                                                    const char *mnemonic,
                                                    uint32_t *from,
                                                    struct facet_isa_insn *insn)
{
    return facet_isa_find_insn_sized(isa, mnemonic, from, insn, sizeof *insn);
}

/* A field of a register. Passed with its size, as facet/version.h explains. */
struct facet_isa_csr_field {
    const char *name;
    const char *meaning;
    const char *legal; /* what it can hold, as the row writes it; may be "" */
    uint64_t reset;
    uint8_t hi, lo;
    uint8_t access; /* as enum facet_field_access of facet/machine.h */
};

/* A register, or a family of them. Passed with its size, as facet/version.h explains. */
struct facet_isa_csr {
    const char *name;
    const char *file;
    uint32_t number; /* the first address of a family */
    uint32_t count;  /* registers of the family */
    uint32_t stride;
    uint32_t width; /* bits */
    uint32_t field_count;
    uint64_t reset;
};

/* How many registers and families the instruction set has; 0 for one that does not exist. */
uint32_t facet_isa_csr_count(enum facet_isa isa);
enum facet_status facet_isa_get_csr_sized(enum facet_isa isa,
                                          uint32_t index,
                                          struct facet_isa_csr *csr,
                                          size_t csr_size);
/* Register `index`; FACET_ERR_USAGE when there is none. */
static inline enum facet_status
facet_isa_get_csr(enum facet_isa isa, uint32_t index, struct facet_isa_csr *csr)
{
    return facet_isa_get_csr_sized(isa, index, csr, sizeof *csr);
}
enum facet_status facet_isa_get_csr_field_sized(enum facet_isa isa,
                                                uint32_t index,
                                                uint32_t field,
                                                struct facet_isa_csr_field *out,
                                                size_t out_size);
/* Field `field` of register `index`, from the lowest on; FACET_ERR_USAGE when there is none. */
static inline enum facet_status facet_isa_get_csr_field(enum facet_isa isa,
                                                        uint32_t index,
                                                        uint32_t field,
                                                        struct facet_isa_csr_field *out)
{
    return facet_isa_get_csr_field_sized(isa, index, field, out, sizeof *out);
}

/* ---- words ---- */

/* Bytes of the instruction that starts with these 16 bits: 2 for a compressed one, else 4. */
unsigned facet_isa_length(enum facet_isa isa, uint16_t low_half);

/* Operand i goes to byte i * operand_size of `operands`. */
enum facet_status facet_isa_decode_word_sized(enum facet_isa isa,
                                              uint32_t word,
                                              struct facet_isa_insn *insn,
                                              size_t insn_size,
                                              struct facet_isa_operand *operands,
                                              size_t operand_size,
                                              size_t capacity,
                                              size_t *count,
                                              struct facet_error *err);
/* The row that owns the word, and its operands with their values: *count of them, the first
 * `capacity` into `operands`. Bits above a 16-bit instruction are ignored. FACET_ERR_INPUT for an
 * illegal word. `operands` and `count` may be NULL. */
static inline enum facet_status facet_isa_decode_word(enum facet_isa isa,
                                                      uint32_t word,
                                                      struct facet_isa_insn *insn,
                                                      struct facet_isa_operand *operands,
                                                      size_t capacity,
                                                      size_t *count,
                                                      struct facet_error *err)
{
    return facet_isa_decode_word_sized(
        isa, word, insn, sizeof *insn, operands, sizeof *operands, capacity, count, err);
}

/* One line of assembly for the word at `pc`, `.word 0x...` when it is illegal. Like snprintf:
 * returns the length needed, never writes past text[size - 1]. 0, and an empty text, for an
 * instruction set that does not exist. */
size_t
facet_isa_print_word(enum facet_isa isa, uint32_t word, uint64_t pc, char *text, size_t size);

/* ---- texts ---- */

/* One line at `pc`: *size bytes, of which the first `capacity` go to `bytes`. An alias may be
 * several instructions. FACET_ERR_INPUT with what is wrong; err->where is the column. */
enum facet_status facet_isa_assemble_line(enum facet_isa isa,
                                          const char *line,
                                          uint64_t pc,
                                          uint8_t *bytes,
                                          size_t capacity,
                                          size_t *size,
                                          struct facet_error *err);

/* Passed with its size, as facet/version.h explains. */
struct facet_isa_assemble_config {
    enum facet_isa isa;
    bool flat;        /* bytes from the lowest to the highest address, else an ELF file */
    bool has_base;    /* else where programs of the machine live */
    uint64_t base;    /* address of the first section */
    const char *name; /* of the text, for messages; NULL: "-" */
    /* Folders where .include looks, in this order; 0 of them forbids it. */
    const char *const *include_folders;
    size_t include_count;
};

enum facet_status facet_isa_assemble_sized(const struct facet_isa_assemble_config *config,
                                           size_t config_size,
                                           const char *text,
                                           size_t size,
                                           struct facet_blob *program,
                                           struct facet_blob *messages,
                                           struct facet_error *err);
/* A whole text. On FACET_ERR_INPUT *err is the first complaint (err->where its line) and *messages,
 * which may be NULL, are all of them as compilers show them; free it in that case only. */
static inline enum facet_status facet_isa_assemble(const struct facet_isa_assemble_config *config,
                                                   const char *text,
                                                   size_t size,
                                                   struct facet_blob *program,
                                                   struct facet_blob *messages,
                                                   struct facet_error *err)
{
    return facet_isa_assemble_sized(config, sizeof *config, text, size, program, messages, err);
}

/* An ELF file back to a text that assembles to the same bytes. */
enum facet_status facet_isa_disassemble(const void *elf,
                                        size_t size,
                                        struct facet_blob *text,
                                        struct facet_error *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
