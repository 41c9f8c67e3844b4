/* Instruction sets without a machine: assembler, disassembler, rows, words. */
#include "wasm/page.h"

#include "assembler/assemble.h"
#include "object/elf.h"

#include <facet/isa.h>
#include <facet/machine.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const accesses[] = {"RO", "RW", "W1C", "WARL", "W1A", "WC"};

/* Numbers of up to 64 bits that JavaScript's would round. */
static void put_decimal(struct facet_record *r, const char *key, int64_t value)
{
    char text[32];

    (void)snprintf(text, sizeof text, "%" PRId64, value);
    facet_record_word(r, key, text);
}

static bool known(int isa, struct facet_error *err)
{
    if (isa >= 0 && isa < FACET_ISA_COUNT) {
        return true;
    }
    (void)facet_fail(err, FACET_ERR_USAGE, (uint64_t)isa, "there is no instruction set %d", isa);
    return false;
}

/* ---- texts ---- */

static struct facet_blob program; /* of the last text */

void page_put_diagnostics(struct facet_record *r, const struct facet_diag_list *list)
{
    facet_record_list(r, "diagnostics");
    for (size_t i = 0; i < list->count; i++) {
        const struct facet_diag *d = &list->items[i];

        facet_record_open(r, NULL, NULL);
        facet_record_word(r, "severity", "error");
        facet_record_number(r, "line", d->line);
        facet_record_number(r, "column", d->column);
        facet_record_number(r, "length", d->length);
        facet_record_word(r, "message", d->message);
        facet_record_word(r, "hint", d->hint);
        facet_record_close(r);
    }
    facet_record_close(r);
}

/* A text to an ELF file, which page_isa_program hands out: {"ok", "diagnostics"}. */
int PAGE_EXPORT(page_isa_assemble)(int isa, const char *text, size_t size, const char *name)
{
    struct facet_asm_options options = {.file = name, .debug = true};
    struct facet_asm_result last;
    struct facet_error err = {0};
    struct facet_record *r;
    enum facet_status status;

    facet_blob_free(&program);
    if (!known(isa, &err)) {
        return page_fail(&err);
    }
    options.isa = (enum facet_isa)isa;
    status = facet_assemble(&options, text, size, &last, &err);
    if (status == FACET_OK) {
        uint8_t *data = NULL;
        size_t bytes = 0;

        status = facet_elf_write(last.object, &data, &bytes, &err);
        program = (struct facet_blob){data, bytes};
    }
    if (status != FACET_OK && status != FACET_ERR_INPUT) {
        facet_asm_result_free(&last);
        return page_fail(&err);
    }
    r = page_begin();
    facet_record_bool(r, "ok", status == FACET_OK);
    page_put_diagnostics(r, &last.diags);
    facet_asm_result_free(&last);
    return page_end();
}

/* The program of the last text, empty when it had errors. */
int PAGE_EXPORT(page_isa_program)(void)
{
    struct facet_blob blob = program;

    program = (struct facet_blob){0};
    return page_give(blob);
}

int PAGE_EXPORT(page_isa_line)(int isa, const char *line, uint64_t pc)
{
    enum { MOST = 256 };
    struct facet_error err = {0};
    uint8_t *bytes;
    size_t size;

    if (!known(isa, &err)) {
        return page_fail(&err);
    }
    bytes = malloc(MOST);
    if (bytes == NULL) {
        return page_no_memory("a line");
    }
    if (facet_isa_assemble_line((enum facet_isa)isa, line, pc, bytes, MOST, &size, &err) !=
        FACET_OK) {
        free(bytes);
        return page_fail(&err);
    }
    return page_give_bytes(bytes, size < MOST ? size : MOST);
}

int PAGE_EXPORT(page_isa_disassemble)(const uint8_t *elf, size_t size)
{
    struct facet_error err = {0};
    struct facet_blob text;

    return facet_isa_disassemble(elf, size, &text, &err) == FACET_OK ? page_give(text)
                                                                     : page_fail(&err);
}

/* ---- rows ---- */

static void put_row(struct facet_record *r, const char *key, const struct facet_isa_insn *insn)
{
    facet_record_open(r, key, NULL);
    facet_record_word(r, "mnemonic", insn->mnemonic);
    facet_record_word(r, "syntax", insn->syntax);
    facet_record_word(r, "fields", insn->fields);
    facet_record_word(r, "semantics", insn->semantics);
    facet_record_word(r, "extension", insn->extension);
    facet_record_word(r, "file", insn->file);
    facet_record_number(r, "line", insn->line);
    facet_record_number(r, "id", insn->id);
    facet_record_number(r, "length", insn->length);
    facet_record_number(r, "mask", insn->mask);
    facet_record_number(r, "match", insn->match);
    facet_record_close(r);
}

/* {"rows": [...]}, all of an instruction set. */
int PAGE_EXPORT(page_isa_rows)(int isa)
{
    struct facet_error err = {0};
    struct facet_isa_insn insn;
    struct facet_record *r;

    if (!known(isa, &err)) {
        return page_fail(&err);
    }
    r = page_begin();
    facet_record_list(r, "rows");
    for (uint32_t i = 0; i < facet_isa_insn_count((enum facet_isa)isa); i++) {
        if (facet_isa_get_insn((enum facet_isa)isa, i, &insn) == FACET_OK) {
            put_row(r, NULL, &insn);
        }
    }
    facet_record_close(r);
    return page_end();
}

static void put_fields(struct facet_record *r, enum facet_isa isa, uint32_t i, uint32_t count)
{
    struct facet_isa_csr_field field;

    facet_record_list(r, "fields");
    for (uint32_t f = 0; f < count; f++) {
        if (facet_isa_get_csr_field(isa, i, f, &field) != FACET_OK) {
            continue;
        }
        facet_record_open(r, NULL, NULL);
        facet_record_word(r, "name", field.name);
        facet_record_word(r, "meaning", field.meaning);
        facet_record_word(r, "legal", field.legal);
        facet_record_hex(r, "reset", field.reset, 0);
        facet_record_number(r, "hi", field.hi);
        facet_record_number(r, "lo", field.lo);
        facet_record_word(r, "access", accesses[field.access % 6]);
        facet_record_close(r);
    }
    facet_record_close(r);
}

/* {"csrs": [...]} */
int PAGE_EXPORT(page_isa_csrs)(int isa)
{
    struct facet_error err = {0};
    struct facet_isa_csr csr;
    struct facet_record *r;

    if (!known(isa, &err)) {
        return page_fail(&err);
    }
    r = page_begin();
    facet_record_list(r, "csrs");
    for (uint32_t i = 0; i < facet_isa_csr_count((enum facet_isa)isa); i++) {
        if (facet_isa_get_csr((enum facet_isa)isa, i, &csr) != FACET_OK) {
            continue;
        }
        facet_record_open(r, NULL, NULL);
        facet_record_word(r, "name", csr.name);
        facet_record_word(r, "file", csr.file);
        facet_record_number(r, "number", csr.number);
        facet_record_number(r, "count", csr.count);
        facet_record_number(r, "stride", csr.stride);
        facet_record_number(r, "width", csr.width);
        facet_record_hex(r, "reset", csr.reset, 0);
        put_fields(r, (enum facet_isa)isa, i, csr.field_count);
        facet_record_close(r);
    }
    facet_record_close(r);
    return page_end();
}

/* ---- words ---- */

static void put_operand(struct facet_record *r, const struct facet_isa_operand *o)
{
    facet_record_open(r, NULL, NULL);
    facet_record_word(r, "name", o->name);
    facet_record_word(r, "meaning", o->meaning);
    put_decimal(r, "value", o->value);
    put_decimal(r, "field", o->field);
    facet_record_number(r, "bits", o->bits);
    facet_record_bool(r, "hidden", o->hidden);
    facet_record_close(r);
}

/* {"row", "text", "operands"} */
int PAGE_EXPORT(page_isa_decode)(int isa, uint32_t word, uint64_t pc)
{
    struct facet_isa_operand operands[FACET_ISA_MAX_OPERANDS];
    struct facet_isa_insn insn;
    struct facet_error err = {0};
    struct facet_record *r;
    char text[256];
    size_t count = 0;

    if (!known(isa, &err) ||
        facet_isa_decode_word(
            (enum facet_isa)isa, word, &insn, operands, FACET_ISA_MAX_OPERANDS, &count, &err) !=
            FACET_OK) {
        return page_fail(&err);
    }
    (void)facet_isa_print_word((enum facet_isa)isa, word, pc, text, sizeof text);
    r = page_begin();
    put_row(r, "row", &insn);
    facet_record_word(r, "text", text);
    facet_record_list(r, "operands");
    for (size_t i = 0; i < count && i < FACET_ISA_MAX_OPERANDS; i++) {
        put_operand(r, &operands[i]);
    }
    facet_record_close(r);
    return page_end();
}
