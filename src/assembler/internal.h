/* Inside the assembler: what its files share. Only assemble.h is for others.
 *
 *   lex.c             characters, names, numbers, strings
 *   expr.c            expressions: folded while reading, trees where a value is not known yet
 *   evaluate.c        the trees, once all sections have addresses
 *   symbol.c          the symbol table
 *   register.c        register names
 *   operand.c         one instruction against one row: text to word
 *   insn.c            a mnemonic to its candidates: rows and aliases
 *   alias.c           an alias against its operands, and its expansion
 *   directive.c       the table of directives; those on symbols
 *   data.c, section.c directives that put bytes, that choose a section
 *   block.c           repetition, conditions, macros, inclusion
 *   layout.c          addresses, open places, the object
 *   assemble.c        the pass over the text, errors */
#ifndef FACET_ASSEMBLER_INTERNAL_H
#define FACET_ASSEMBLER_INTERNAL_H

#include "assembler/assemble.h"
#include "assembler/lex.h"
#include "isa/isa.h"
#include "object/lines.h"

#include <setjmp.h>
#include <string.h>

enum {
    ASM_MAX_SECTIONS = 1024,
    ASM_MAX_ALIGN = 1 << 20,
    ASM_MAX_NESTING = 64, /* parentheses, macros, conditions, inclusions */
    ASM_MAX_DEPTH = 1000, /* of an expression tree, and of symbols defined by symbols */
    ASM_MAX_PARAMS = 8,   /* operands of an alias */
    ASM_ALIAS_DEPTH = 4,  /* aliases inside aliases */
};

/* A text that is being read: a file, or the expansion of a macro. */
struct asm_source {
    const char *name;
    const char *path; /* of the file, as a debugger can find it */
    const char *text; /* a NUL follows text[size - 1] */
    size_t size;
    /* Where the text was written, when it is a copy: the body of a macro or of an .irp. */
    const struct asm_source *origin;
    const char *origin_at;
    uint32_t origin_line;            /* of origin_at, in the file */
    uint32_t period;                 /* lines of one of the consecutive copies of the body */
    const struct asm_source *parent; /* who used the macro or included the file */
    const char *parent_at;
    const char *macro; /* name of the macro, or NULL for a file */
};

struct asm_frame {
    const struct asm_source *source;
    const char *p;
    const char *end;
    const char *restart;      /* .rept: where the body starts */
    uint64_t repetitions;     /* still to come after this one */
    unsigned condition_floor; /* conditions open when the frame began */
    uint32_t first_line;      /* of `restart`, in the file */
    const char *counted;      /* newlines are counted from `restart` up to here: */
    uint32_t newlines;
    struct asm_frame *parent;
};

struct asm_section {
    const char *name;
    uint32_t index;
    uint32_t flags;
    bool nobits;
    bool placed; /* .address gave the address */
    bool kept;   /* named in the text: stays although empty */
    uint64_t address;
    uint64_t align;
    uint64_t size;
    uint8_t *data; /* malloc; unused for nobits */
    size_t capacity;
    const char *at; /* where it was first named, for complaints */
    const struct asm_source *at_source;
    uint32_t object_index;
    struct asm_section *next;
};

/* A number, or a place in a section (offset from its start). */
struct asm_value {
    struct asm_section *section; /* NULL: a plain number */
    int64_t number;
};

enum asm_op {
    ASM_OP_VALUE,
    ASM_OP_SYMBOL,
    ASM_OP_NEGATE,
    ASM_OP_INVERT,
    ASM_OP_NOT,
    ASM_OP_ADD,
    ASM_OP_SUBTRACT,
    ASM_OP_MULTIPLY,
    ASM_OP_DIVIDE,
    ASM_OP_REMAINDER,
    ASM_OP_LEFT,
    ASM_OP_RIGHT,
    ASM_OP_AND,
    ASM_OP_OR,
    ASM_OP_XOR,
    ASM_OP_EQUAL,
    ASM_OP_UNEQUAL,
    ASM_OP_LESS,
    ASM_OP_LESS_EQUAL,
    ASM_OP_GREATER,
    ASM_OP_GREATER_EQUAL,
    ASM_OP_BOTH,
    ASM_OP_EITHER,
    ASM_OP_HI,       /* %hi: the upper 20 bits that fit a signed lower part */
    ASM_OP_LO,       /* %lo: the signed lower 12 bits */
    ASM_OP_FAR_HI,   /* as HI, of a distance that lui or auipc must reach */
    ASM_OP_PCREL_LO, /* %pcrel_lo: the lower part of the %pcrel_hi at that label */
};

struct asm_tree {
    uint8_t op; /* enum asm_op */
    uint16_t depth;
    struct asm_value value; /* VALUE */
    struct asm_symbol *symbol;
    const struct asm_tree *left, *right;
    const char *at;
    const struct asm_source *source;
};

/* The result of reading an expression: known now (tree == NULL), or to be evaluated at the end. */
struct asm_term {
    struct asm_value value;
    const struct asm_tree *tree;
};

enum asm_symbol_state {
    ASM_SYMBOL_UNKNOWN, /* mentioned only */
    ASM_SYMBOL_LABEL,
    ASM_SYMBOL_SET,       /* .set, .equ: may be set again */
    ASM_SYMBOL_EVALUATING /* guards against definitions in circles */
};

struct asm_symbol {
    const char *name;
    uint32_t length;
    uint32_t hash;
    uint8_t state;
    uint8_t binding; /* enum facet_symbol_binding */
    uint8_t type;    /* enum facet_symbol_type */
    bool hidden;     /* .L and numeric labels: not in the object */
    bool bound;      /* .local, .globl or .weak named it: keeps its place in the symbol table */
    bool named;      /* defined or bound: belongs into the object */
    bool resolved;   /* after layout: `result` and `places` hold the value */
    int places;
    int64_t result;
    struct asm_term term;
    struct asm_term size;
    const char *at; /* definition, or first use */
    const struct asm_source *source;
    struct asm_symbol *backward, *forward; /* slots of a numeric label: 1b and 1f */
    struct asm_symbol *next;               /* in order of first mention */
};

/* A place whose value was not known: an operand of an instruction, or a datum. */
/* An alias for the numbers low..high whose number is open when the line is read: `bytes` is its
 * expansion; in the section stands the one for all other numbers, which is as long. */
struct asm_choice {
    struct asm_term term;
    int64_t low, high;
    const uint8_t *bytes;
    uint64_t offset, size; /* in the section of its fixups */
    enum { ASM_CHOICE_OPEN, ASM_CHOICE_FAILED, ASM_CHOICE_INSIDE, ASM_CHOICE_OUTSIDE } state;
};

struct asm_fixup {
    struct asm_choice *choice;        /* NULL, or it holds for one side of the choice only: */
    bool inside;                      /* the expansion for low..high */
    const struct facet_insn_row *row; /* NULL for a datum */
    uint8_t operand;
    uint8_t size; /* bytes of a datum */
    struct asm_section *section;
    uint64_t offset;
    const struct asm_tree *tree;
    struct asm_value value; /* when tree is NULL */
    const char *at;
    uint32_t length;
    const char *statement;
    const struct asm_source *source;
};

/* A %pcrel_hi: where its instruction stands, and the distance from there to the target. */
struct asm_pcrel {
    struct asm_value place;
    struct asm_term distance;
    bool resolved; /* after layout: `low` holds what %pcrel_lo gives */
    int64_t low;
};

/* The names that an alias' expansion replaces by pieces of the source text. */
struct asm_env {
    unsigned count;
    struct {
        const char *name;
        size_t name_length;
        const char *start, *end;
    } params[ASM_MAX_PARAMS];
    const struct asm_env *outer; /* names inside the pieces themselves */
    struct asm_choice *choice;   /* of a ranged pattern whose number is open, or NULL */
};

struct asm_mnemonic; /* insn.c */
struct asm_macro;    /* block.c */

struct asm_condition {
    bool else_seen;
    const char *at;
    const struct asm_source *source;
};

struct asm_context {
    const struct facet_asm_options *options;
    enum facet_isa isa;
    struct facet_arena arena;
    struct facet_diag_list *diags;
    struct facet_asm_result *result;
    jmp_buf stop; /* out of memory, or too many errors */
    enum facet_status stop_status;

    struct asm_frame *frame;
    unsigned frame_depth;
    const char *statement; /* where the running statement starts: blamed for what an alias holds */
    const struct asm_source *statement_source;
    const struct asm_source *main_source;
    uint64_t expanded; /* statements out of repetition and macros */
    uint64_t emitted;  /* bytes in all sections */

    /* A trial of a candidate keeps its complaint to itself: how far it came. */
    unsigned quiet;
    const char *quiet_at;
    bool quiet_value;    /* the operand is of the right kind, but out of range */
    bool quiet_register; /* a register is expected there */
    bool or_register;    /* in errors about a number: a register is allowed as well */
    char hint[256];

    struct asm_section *section, *previous_section;
    struct asm_section *first_section, **last_section;
    uint32_t section_count;
    uint64_t entry_given;
    struct asm_term entry;
    const char *entry_at;
    const struct asm_source *entry_source;

    struct asm_symbol **symbols; /* open addressing */
    size_t symbol_capacity, symbol_count;
    struct asm_symbol *first_symbol, **last_symbol;

    struct asm_fixup *fixups;
    size_t fixup_count, fixup_capacity;
    struct asm_pcrel *pcrels; /* the %pcrel_hi places, for %pcrel_lo; sorted after layout */
    size_t pcrel_count, pcrel_capacity;
    bool laid_out; /* sections have addresses: trees can be evaluated */

    struct asm_mnemonic **mnemonics; /* hash index, any case */
    size_t mnemonic_mask;
    const struct facet_insn_row **wide; /* row id -> the row with the longer offset, or NULL */
    const struct facet_symbol *scope;   /* symbols of the operand that is being read */
    const struct facet_operand *wanted; /* after layout: the operand whose value is looked for */
    const struct asm_env *env;
    struct asm_value expansion_start; /* of the running alias: what its %pcrel_lo refers to */
    unsigned nesting;
    unsigned alias_depth;

    struct asm_macro *macros;
    uint64_t macro_uses; /* \@ */
    struct asm_condition conditions[ASM_MAX_NESTING];
    unsigned condition_count;
    const char *file_symbol;

    struct facet_line_mark *marks; /* for the line table */
    size_t mark_count, mark_capacity;
    size_t span_capacity;
    const char *main_statement; /* start of the running statement of the main file */
    const char *line_at;        /* lines are counted up to here */
    uint32_t line;
};

/* assemble.c: memory that lives as long as the run (never NULL: lack of memory ends the run), and
 * complaints. facet_asm_error always returns false. `length` is what to underline. */
void *facet_asm_alloc(struct asm_context *a, size_t size);
void facet_asm_fit(struct asm_context *a, void *items, size_t *room, size_t need, size_t size);
bool facet_asm_error(struct asm_context *a, const char *at, size_t length, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool facet_asm_error_in(struct asm_context *a,
                        const struct asm_source *source,
                        const char *at,
                        size_t length,
                        const char *format,
                        ...) __attribute__((format(printf, 5, 6)));
/* The line of the file in which a place of a text was written. */
uint32_t facet_asm_line(const struct asm_source *source, const char *at);
/* The same for a place in the text that is being read, counted on from the last question. */
uint32_t facet_asm_running_line(struct asm_frame *frame, const char *at);
/* Said with the next complaint. */
void facet_asm_hint(struct asm_context *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void facet_asm_suggest(struct asm_context *a, const struct facet_nearest *search);
/* The end of a statement: of the line or of the text, a comment, a semicolon (which starts a
 * comment on the tile machine and the next statement on the hart). */
static inline bool facet_asm_at_end(const char *p)
{
    return *p == '\n' || *p == '#' || *p == ';' || *p == '\0' || (p[0] == '/' && p[1] == '/');
}
/* The end of the statement must be here. */
bool facet_asm_expect_end(struct asm_context *a, const char *p);
/* Where the statement after the one at p starts. */
const char *facet_asm_skip_statement(const struct asm_context *a, const char *p);
bool facet_asm_push(struct asm_context *a,
                    const struct asm_source *source,
                    const char *start,
                    const char *end,
                    uint64_t repetitions,
                    const char *at);

/* `size` zero bytes at the end of the current section; NULL after a complaint (too much). For a
 * section without bytes in the file the place is only counted and the result is not to be used. */
uint8_t *facet_asm_reserve(struct asm_context *a, uint64_t size);
bool facet_asm_emit(struct asm_context *a, uint64_t value, unsigned size);
struct asm_value facet_asm_here(const struct asm_context *a);
void facet_asm_fixup(struct asm_context *a, const struct asm_fixup *fixup);

/* expr.c. *p is moved past what was read. */
bool facet_asm_expr(struct asm_context *a, const char **p, struct asm_term *out);
/* The same, and the value must be a plain number that is known now. */
bool facet_asm_constant(struct asm_context *a, const char **p, int64_t *out);
/* The parameter of the running alias at p. */
int facet_asm_param(const struct asm_context *a, const char *p, size_t length);
const struct asm_tree *facet_asm_tree(struct asm_context *a, const struct asm_term *term);
/* One operation on what is known so far; `right` is NULL for a unary one. */
bool facet_asm_apply(struct asm_context *a,
                     enum asm_op op,
                     const struct asm_term *left,
                     const struct asm_term *right,
                     const char *at,
                     struct asm_term *out);

/* The arithmetic on plain numbers. Returns NULL, or what is wrong. */
const char *facet_asm_compute(enum asm_op op, int64_t l, int64_t r, int64_t *out);

/* evaluate.c. After layout: the value with every address in it. *places counts how often
 * addresses it contains (1 for a label, 0 for a number or a distance). */
bool facet_asm_evaluate(struct asm_context *a,
                        const struct asm_term *term,
                        int64_t *value,
                        int *places);

/* symbol.c */
struct asm_symbol *facet_asm_symbol(struct asm_context *a, const char *name, size_t length);
struct asm_symbol *facet_asm_symbol_find(const struct asm_context *a, const char *name, size_t len);
bool facet_asm_define_label(struct asm_context *a, const char *at, const char *name, size_t length);
void facet_asm_define_local(struct asm_context *a, const char *at, size_t length);
struct asm_symbol *
facet_asm_local(struct asm_context *a, const char *digits, size_t length, bool forward);
/* A name: plain or in quotes. false without a complaint when there is none. */
bool facet_asm_name(struct asm_context *a, const char **p, const char **name, size_t *length);

/* register.c: the number of a register, or -1. */
int facet_asm_register(enum facet_operand_kind kind, const char *name, size_t length);
bool facet_asm_is_register_kind(enum facet_operand_kind kind);
const char *facet_asm_register_class(enum facet_operand_kind kind);
void facet_asm_offer_registers(enum facet_operand_kind kind, struct facet_nearest *search);
bool facet_asm_is_register_name(enum facet_isa isa, const char *name, size_t length);

/* operand.c: the text at p against a row; on success the instruction is emitted. */
bool facet_asm_row(struct asm_context *a,
                   const struct facet_insn_row *row,
                   const char *p,
                   unsigned suffix);
/* The word with the operand's value in it; complains when it does not fit. */
bool facet_asm_place(struct asm_context *a,
                     const struct facet_insn_row *row,
                     unsigned operand,
                     int64_t value,
                     uint32_t *word,
                     const struct asm_source *source,
                     const char *at,
                     size_t length);
bool facet_asm_read_register(struct asm_context *a,
                             const char **p,
                             enum facet_operand_kind kind,
                             int64_t *number);

/* insn.c */
void facet_asm_index(struct asm_context *a);
bool facet_asm_insn(struct asm_context *a, const char *mnemonic, size_t length, const char *p);

/* Directives. *p is after the directive's name and is moved. */
bool facet_asm_directive(struct asm_context *a, const char *name, size_t length, const char **p);
bool facet_asm_assign(struct asm_context *a,
                      const char *at,
                      const char *name,
                      size_t length,
                      const char **p,
                      bool again);
/* A comma that must be there; whether one is there, and then past it; the end of the statement.
 */
bool facet_asm_comma(struct asm_context *a, const char **p);
bool facet_asm_more(const char **p);
bool facet_asm_end_statement(struct asm_context *a, const char **p);
/* `count` times a value of `size` bytes; how many, from the text: a number that is known and not
 * negative. */
bool facet_asm_fill_bytes(struct asm_context *a, uint64_t count, uint64_t value, unsigned size);
bool facet_asm_count(struct asm_context *a, const char **p, int64_t *count);
/* The section of that name, made when it is new. */
struct asm_section *facet_asm_section(
    struct asm_context *a, const char *name, size_t length, uint32_t flags, bool nobits);
void facet_asm_offer_directives(struct facet_nearest *search);
bool facet_asm_align(struct asm_context *a, uint64_t align, bool filled, uint64_t fill);
typedef bool facet_asm_directive_fn(struct asm_context *a, const char **p, int argument);
facet_asm_directive_fn facet_asm_data, facet_asm_real, facet_asm_string, facet_asm_space,
    facet_asm_fill, facet_asm_alignment, facet_asm_org;
facet_asm_directive_fn facet_asm_standard_section, facet_asm_named_section,
    facet_asm_return_section, facet_asm_address, facet_asm_entry;
facet_asm_directive_fn facet_asm_rept, facet_asm_irp, facet_asm_if, facet_asm_else, facet_asm_endif,
    facet_asm_macro, facet_asm_stray_end, facet_asm_include;
enum asm_condition_kind {
    ASM_IF,
    ASM_IFDEF,
    ASM_IFNDEF,
    ASM_IFEQ,
    ASM_IFNE,
    ASM_IFGT,
    ASM_IFGE,
    ASM_IFLT,
    ASM_IFLE,
    ASM_ELSE,
    ASM_ELSEIF,
};
/* Runs the macro of that name; *found says whether there is one. */
bool facet_asm_use_macro(
    struct asm_context *a, const char *name, size_t length, const char **p, bool *found);

/* layout.c */
bool facet_asm_finish(struct asm_context *a);

#endif
