/* The instruction, CSR, structure, requirement and resolution rows of spec/, as C data.
 *
 * The build turns spec/ *.tsv and resolutions-*.md into isa_tables.c (tools/gen_tables.py); nothing
 * here is written by hand. Decoder, assembler, disassembler, CSR files, reference cards and the
 * coverage report read these arrays and no others. The formats are described in spec/README.md. */
#ifndef FACET_ISA_TABLE_H
#define FACET_ISA_TABLE_H

#include <facet/isa.h>

enum facet_operand_kind {
    FACET_OPERAND_XREG,    /* x0..x31 and ABI names */
    FACET_OPERAND_XREG_C,  /* x8..x15 in three bits (compressed forms) */
    FACET_OPERAND_FREG,    /* f0..f31 and ABI names of the hart */
    FACET_OPERAND_FREG_C,  /* f8..f15 in three bits */
    FACET_OPERAND_XFREG,   /* a GFX window: x names, or f names of the same number */
    FACET_OPERAND_SREG,    /* tile s0..s31 */
    FACET_OPERAND_TFREG,   /* tile f0..f31 */
    FACET_OPERAND_VREG,    /* tile v0..v31 */
    FACET_OPERAND_CREG,    /* tile c0..c31 */
    FACET_OPERAND_UIMM,    /* zero-extended immediate */
    FACET_OPERAND_SIMM,    /* immediate, sign-extended from its highest bit */
    FACET_OPERAND_PCREL,   /* signed byte offset from pc: a label, an address, or `. + n` */
    FACET_OPERAND_CSR,     /* CSR number or name */
    FACET_OPERAND_ENUM,    /* one symbol or a number */
    FACET_OPERAND_FLAGS,   /* symbols joined with `|`, or a number */
    FACET_OPERAND_LETTERS, /* one-letter symbols written together (`iorw`), or a number */
    FACET_OPERAND_PCREL_U, /* as PCREL, but a zero-extended offset: forward only */
    FACET_OPERAND_SP,      /* the register x2 and no other: in the syntax, not in the word */
};

/* How the written value becomes the field value; FACET_CODEC_PLAIN for nearly all operands. */
enum facet_operand_codec {
    FACET_CODEC_PLAIN,
    FACET_CODEC_MINUS_ONE, /* written 1..2^n, stored minus one (vl) */
    FACET_CODEC_STEP,      /* written 0, 1, 2, 4, stored 0, 1, 2, 3 (sstep, dstep) */
    FACET_CODEC_MODULO,    /* written 0..2^n, stored modulo 2^n, printed as 2^n for 0 (svon.blk) */
    FACET_CODEC_HIGH20,    /* signed; a negative value is written plus 2^20 (c.lui 0xfffff) */
};

enum facet_operand_print {
    FACET_PRINT_PLAIN,  /* decimal; ENUM by name where the value has one */
    FACET_PRINT_HEX,    /* raw bits: hexadecimal */
    FACET_PRINT_NUMBER, /* ENUM: a number all the same */
};

struct facet_symbol {
    const char *name;
    uint32_t value;
};

/* `width` bits of the operand value, from bit value_lo up, are in the word from bit word_lo up.
 */
struct facet_piece {
    uint8_t word_lo;
    uint8_t width;
    uint8_t value_lo;
};

/* An operand (or a field that the syntax does not show). Its pieces give range and alignment: the
 * value has bits [value_width-1 : value_align]; lower bits must be zero. */
/* The first eight letters of an operand's name, the first in the lowest byte: no two operands of a
 * row agree in it. A compiler works it out for a name that it knows. */
static inline uint64_t facet_name_key(const char *name)
{
    uint64_t key = 0;

    for (unsigned i = 0; i < 8 && name[i] != '\0'; i++) {
        key |= (uint64_t)(unsigned char)name[i] << 8 * i;
    }
    return key;
}

struct facet_operand {
    const char *name;
    uint64_t key;  /* facet_name_key(name) */
    uint8_t kind;  /* enum facet_operand_kind */
    uint8_t codec; /* enum facet_operand_codec */
    uint8_t piece_count;
    uint8_t value_width;
    uint8_t value_align;
    bool hidden;           /* not in the syntax: assembled as 0, ignored by the printer */
    bool optional;         /* `key=default` or `[key=default]` in the syntax, or ord of tile */
    bool keyed;            /* `key=default`: printed as key=value, always */
    bool brief;            /* `[key=default]`: printed as value, and only when not the default */
    bool nonzero;          /* legality condition: the whole operand is not 0 */
    uint32_t forbidden;    /* further field values that are not legal: bit n for value n */
    int32_t default_value; /* field value when optional and left out */
    const struct facet_piece *pieces;
    const struct facet_symbol *symbols; /* ENUM, FLAGS: ends with a NULL name; else NULL */
    const char *second_name; /* accepted as a name as well (`imm` for `flags`), or NULL */
    uint8_t print;           /* enum facet_operand_print */
    const char *meaning;     /* a few words; "" for a hidden field */
};

/* One comma-separated item of the syntax: `value`, `(base)` or `value(base)`; -1 where absent. */
struct facet_syntax_item {
    int8_t value;
    int8_t base;
};

struct facet_insn_row {
    const char *mnemonic; /* as the row spells it */
    uint32_t mask;
    uint32_t match;
    uint8_t length; /* bytes: 2 or 4 */
    uint8_t operand_count;
    uint8_t item_count;
    int8_t suffix; /* operand written as a mnemonic suffix (`.aq`, `.rl`, `.aqrl`), or -1 */
    const struct facet_operand *operands;
    const struct facet_syntax_item *items;
    const char *syntax;
    const char *fields;
    const char *semantics;
    const char *extension; /* "RV64I", "XPHMG_RT", "tile", ...: who brings the row */
    const char *file;      /* "rt-rsv.insn.tsv" */
    uint16_t line;
    uint16_t id; /* index in facet_isa_rows[isa]; equals the generated enum */
};

extern const struct facet_insn_row *const facet_isa_rows[FACET_ISA_COUNT];
extern const size_t facet_isa_row_count[FACET_ISA_COUNT];
extern const char *const facet_isa_name[FACET_ISA_COUNT]; /* "xphmg", "tile" */

/* A textual alias: `pattern` names its operands, `expansion` is one or more lines in row syntax. */
struct facet_alias_row {
    const char *mnemonic;
    const char *operands;  /* "rd, rs" */
    const char *expansion; /* "addi rd, rs, 0"; several instructions separated by "; " */
    const char *note;
};
extern const struct facet_alias_row *const facet_isa_aliases[FACET_ISA_COUNT];
extern const size_t facet_isa_alias_count[FACET_ISA_COUNT];

enum facet_csr_access {
    FACET_CSR_RO,
    FACET_CSR_RW,
    FACET_CSR_W1C, /* bits written as 1 become 0 */
    FACET_CSR_WARL,
    FACET_CSR_W1A, /* a 1 applies what the register holds or stages; reads 0 */
    FACET_CSR_WC,  /* any write makes the field 0 */
};

/* Where a register's bits live (spec/README.md, CSR rows). */
enum facet_csr_place {
    FACET_PLACE_NONE,   /* a number whose every access is illegal */
    FACET_PLACE_CONST,  /* always the reset value */
    FACET_PLACE_CONFIG, /* a word of the machine's configuration */
    FACET_PLACE_STORE,  /* a member of the machine's state */
    FACET_PLACE_VIEW,   /* fields of other registers */
    FACET_PLACE_CODE,   /* what functions of the machine make of a read and a write */
    FACET_PLACE_WINDOW, /* the same; what it shows has a name of its own in the machine's tables */
    FACET_PLACE_XISEL,  /* the register that XISEL names */
};

/* Bits of a register that are bits of another one: those, shifted left by `shift`. */
struct facet_csr_view {
    uint64_t mask;
    int8_t shift;
    uint16_t row; /* index in facet_csr_rows */
};

struct facet_csr_field {
    const char *name;
    uint8_t hi;
    uint8_t lo;
    uint8_t access; /* enum facet_csr_access */
    uint64_t reset;
    const char *reset_text; /* as the table writes it */
    const char *meaning;
    const char *legal, *needs, *place; /* the columns as the table writes them */
};

struct facet_csr_row {
    const char *name;
    uint32_t number;     /* the first (or only) address */
    uint32_t count;      /* registers in the row: more than 1 for an indexed family */
    uint32_t alias;      /* second address (`0x7FA0;0x820`), 0 for none */
    uint32_t stride;     /* from one register of the family to the next */
    uint32_t first;      /* number of the family's first register in its name (mhpmcounter3) */
    const char *address; /* as the table writes it */
    uint8_t width;       /* bits: 32, 64 or 128 */
    uint16_t field_count;
    const struct facet_csr_field *fields;
    const char *file;
    enum facet_isa isa;
    uint8_t place;         /* enum facet_csr_place */
    uint64_t reset;        /* of all fields */
    uint64_t writable;     /* RW and WARL fields, but for those that can only be 0 */
    uint64_t w1c, wc, w1a; /* fields of these kinds */
    uint16_t view_count;   /* a register may have both views and stored fields */
    const struct facet_csr_view *views;
    uint64_t select_mask; /* STORE in several words: the field that says which; 0 for one word */
    uint16_t select_row;
};
extern const struct facet_csr_row facet_csr_rows[];
extern const size_t facet_csr_row_count;
/* Number -> row + 1: facet_csr_pages[facet_csr_page[isa][number >> 8]][number & 255] (lookup.c). */
extern const uint16_t facet_csr_pages[][256];
extern const uint8_t facet_csr_page[FACET_ISA_COUNT][256];

/* ---- structures in memory: spec/ *.layout.tsv ---- */

enum facet_layout_type {
    FACET_LAYOUT_UINT,
    FACET_LAYOUT_INT,   /* two's complement */
    FACET_LAYOUT_FLOAT, /* f8, f16, f32, f64 by width */
    FACET_LAYOUT_ADDRESS,
    FACET_LAYOUT_COLOR, /* ARGB8888 */
    FACET_LAYOUT_PAIR,  /* two unsigned 16-bit halves, the first in the low one */
    FACET_LAYOUT_IPAIR, /* the same, signed */
    FACET_LAYOUT_ENUM,
    FACET_LAYOUT_FLAGS,     /* owns the bits that its values name and no others */
    FACET_LAYOUT_FIXED,     /* always its preset */
    FACET_LAYOUT_ELEMENT,   /* e bytes in the format of the moment */
    FACET_LAYOUT_STRUCTURE, /* another structure */
};

/* A legal value, or those from first to last; of FLAGS a bit number. */
struct facet_layout_value {
    const char *name; /* NULL: no name */
    uint64_t first, last;
};

struct facet_layout_member {
    const char *name;
    uint32_t offset; /* bytes */
    const uint32_t
        *by_element;      /* where the element's width matters: offsets for 1, 2, 4, 8 bytes */
    uint32_t lo, width;   /* bits from there; width of one element of an array */
    uint32_t count;       /* elements: 1, or those of an array */
    uint8_t type;         /* enum facet_layout_type */
    bool view;            /* another reading of bits that a member above names */
    uint16_t value_count; /* 0: everything that fits is legal */
    const struct facet_layout_value *values;
    const char *refusal;   /* what any other value is refused with, or NULL */
    const char *stand_in;  /* the value that any other one means, or NULL */
    uint64_t preset;       /* the value when a driver leaves the member out */
    const char *structure; /* FACET_LAYOUT_STRUCTURE: its name */
    struct {
        const char *offset, *bits, *type, *legal, *preset, *meaning, *source;
    } cells; /* as the table writes them */
    uint16_t line;
};

struct facet_layout_row {
    const char *name;           /* "RSTATE" */
    const char *machine;        /* "xphmg", "tile", "gfx12" */
    uint32_t size;              /* bytes */
    const uint32_t *by_element; /* sizes for elements of 1, 2, 4, 8 bytes, or NULL */
    uint32_t align;             /* bytes; 0: that of an element */
    uint16_t member_count;
    const struct facet_layout_member *members;
    const char *meaning;
    const char *source;
    const char *file;
    uint16_t line;
};
extern const struct facet_layout_row facet_layout_rows[];
extern const size_t facet_layout_row_count;

struct facet_requirement_row {
    const char *id; /* "CAP-137" */
    const char *level;
    const char *source;
    const char *section;
    const char *requirement;
    const char *observable;
    const char *file;
};
extern const struct facet_requirement_row facet_requirement_rows[];
extern const size_t facet_requirement_row_count;
extern const uint16_t facet_requirement_order[]; /* the rows by ID */

struct facet_resolution_row {
    const char *id; /* "R-CAP-09" */
    const char *title;
    const char *text; /* body, Markdown */
    const char *file;
};
extern const struct facet_resolution_row facet_resolution_rows[];
extern const size_t facet_resolution_row_count;
extern const uint16_t facet_resolution_order[]; /* the rows by ID */

/* What an extension name of an instruction row stands for. */
struct facet_extension_row {
    const char *name;
    const char *title;
};
extern const struct facet_extension_row facet_extension_rows[];
extern const size_t facet_extension_row_count;

#endif
