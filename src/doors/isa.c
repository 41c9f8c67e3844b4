/* See facet/isa.h: the tables, the decoder, the printer and the assembler for those who have no
 * machine. */
#include "isa/isa.h"
#include "assembler/assemble.h"
#include "assembler/disassemble.h"
#include "base/sized.h"
#include "doors/doors.h"
#include "object/elf.h"

#include <facet/isa.h>
#include <facet/machine.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)FACET_CSR_RO == (int)FACET_FIELD_RO &&
                   (int)FACET_CSR_RW == (int)FACET_FIELD_RW &&
                   (int)FACET_CSR_W1C == (int)FACET_FIELD_W1C &&
                   (int)FACET_CSR_WARL == (int)FACET_FIELD_WARL &&
                   (int)FACET_CSR_W1A == (int)FACET_FIELD_W1A &&
                   (int)FACET_CSR_WC == (int)FACET_FIELD_WC,
               "the two lists of kinds of access are one");

/* ---- rows ---- */

static bool known(enum facet_isa isa)
{
    return (unsigned)isa < FACET_ISA_COUNT;
}

static void give_insn(const struct facet_insn_row *row, void *insn, size_t size)
{
    const struct facet_isa_insn own = {.mnemonic = row->mnemonic,
                                       .syntax = row->syntax,
                                       .fields = row->fields,
                                       .semantics = row->semantics,
                                       .extension = row->extension,
                                       .file = row->file,
                                       .line = row->line,
                                       .id = row->id,
                                       .length = row->length,
                                       .mask = row->mask,
                                       .match = row->match,
                                       .operand_count = row->operand_count};

    facet_sized_out(insn, size, &own, sizeof own);
}

uint32_t facet_isa_insn_count(enum facet_isa isa)
{
    return known(isa) ? (uint32_t)facet_isa_row_count[isa] : 0;
}

enum facet_status facet_isa_get_insn_sized(enum facet_isa isa,
                                           uint32_t id,
                                           struct facet_isa_insn *insn,
                                           size_t insn_size)
{
    if (id >= facet_isa_insn_count(isa)) {
        return FACET_ERR_USAGE;
    }
    give_insn(&facet_isa_rows[isa][id], insn, insn_size);
    return FACET_OK;
}

enum facet_status facet_isa_find_insn_sized(enum facet_isa isa,
                                            const char *mnemonic,
                                            uint32_t *from,
                                            struct facet_isa_insn *insn,
                                            size_t insn_size)
{
    size_t at = *from;
    const struct facet_insn_row *row =
        known(isa) ? facet_isa_find(isa, mnemonic, strlen(mnemonic), &at) : NULL;

    if (row == NULL) {
        return FACET_ERR_USAGE;
    }
    *from = (uint32_t)at;
    give_insn(row, insn, insn_size);
    return FACET_OK;
}

/* Row `index` among those of the instruction set, which lie together. */
static const struct facet_csr_row *csr_row(enum facet_isa isa, uint32_t index)
{
    for (size_t i = 0; i < facet_csr_row_count; i++) {
        if (facet_csr_rows[i].isa == isa && index-- == 0) {
            return &facet_csr_rows[i];
        }
    }
    return NULL;
}

uint32_t facet_isa_csr_count(enum facet_isa isa)
{
    uint32_t count = 0;

    for (size_t i = 0; i < facet_csr_row_count; i++) {
        count += facet_csr_rows[i].isa == isa;
    }
    return count;
}

enum facet_status facet_isa_get_csr_sized(enum facet_isa isa,
                                          uint32_t index,
                                          struct facet_isa_csr *csr,
                                          size_t csr_size)
{
    const struct facet_csr_row *row = csr_row(isa, index);
    struct facet_isa_csr own;

    if (row == NULL) {
        return FACET_ERR_USAGE;
    }
    own = (struct facet_isa_csr){.name = row->name,
                                 .file = row->file,
                                 .number = row->number,
                                 .count = row->count,
                                 .stride = row->stride,
                                 .width = row->width,
                                 .field_count = row->field_count,
                                 .reset = row->reset};
    facet_sized_out(csr, csr_size, &own, sizeof own);
    return FACET_OK;
}

enum facet_status facet_isa_get_csr_field_sized(enum facet_isa isa,
                                                uint32_t index,
                                                uint32_t field,
                                                struct facet_isa_csr_field *out,
                                                size_t out_size)
{
    const struct facet_csr_row *row = csr_row(isa, index);
    struct facet_isa_csr_field own;

    if (row == NULL || field >= row->field_count) {
        return FACET_ERR_USAGE;
    }
    own = (struct facet_isa_csr_field){.name = row->fields[field].name,
                                       .meaning = row->fields[field].meaning,
                                       .legal = row->fields[field].legal,
                                       .reset = row->fields[field].reset,
                                       .hi = row->fields[field].hi,
                                       .lo = row->fields[field].lo,
                                       .access = row->fields[field].access};
    facet_sized_out(out, out_size, &own, sizeof own);
    return FACET_OK;
}

/* ---- words ---- */

enum facet_status facet_isa_decode_word_sized(enum facet_isa isa,
                                              uint32_t word,
                                              struct facet_isa_insn *insn,
                                              size_t insn_size,
                                              struct facet_isa_operand *operands,
                                              size_t operand_size,
                                              size_t capacity,
                                              size_t *count,
                                              struct facet_error *err)
{
    const struct facet_insn_row *row = known(isa) ? facet_isa_decode(isa, word) : NULL;

    if (count != NULL) {
        *count = row != NULL ? row->operand_count : 0;
    }
    if (row == NULL) {
        return facet_fail(
            err, FACET_ERR_INPUT, word, "0x%08x is not an instruction", (unsigned)word);
    }
    give_insn(row, insn, insn_size);
    for (size_t i = 0; operands != NULL && i < row->operand_count && i < capacity; i++) {
        const struct facet_operand *operand = &row->operands[i];
        int64_t field = facet_operand_get(operand, word);

        const struct facet_isa_operand own = {.name = operand->name,
                                              .meaning = operand->meaning,
                                              .value = facet_operand_written(operand, field),
                                              .field = field,
                                              .bits = operand->value_width,
                                              .hidden = operand->hidden};

        facet_sized_out((char *)operands + i * operand_size, operand_size, &own, sizeof own);
    }
    return FACET_OK;
}

size_t facet_isa_print_word(enum facet_isa isa, uint32_t word, uint64_t pc, char *text, size_t size)
{
    if (!known(isa)) {
        if (size > 0) {
            text[0] = '\0';
        }
        return 0;
    }
    return facet_isa_print(isa, word, pc, NULL, text, size);
}

/* ---- texts ---- */

/* Assembles; *err says the first complaint and its line, or its column when the text is one line.
 */
static enum facet_status assemble(const struct facet_asm_options *options,
                                  const char *text,
                                  size_t size,
                                  bool line,
                                  struct facet_asm_result *result,
                                  struct facet_error *err)
{
    struct facet_error inner = {FACET_OK, 0, ""};
    enum facet_status status = facet_assemble(options, text, size, result, &inner);

    if (status != FACET_OK && result->diags.count != 0) {
        const struct facet_diag *first = &result->diags.items[0];

        return facet_fail(err,
                          status,
                          line ? first->column : first->line,
                          "%s:%u:%u: %s%s%s",
                          first->file,
                          (unsigned)first->line,
                          (unsigned)first->column,
                          first->message,
                          first->hint[0] != '\0' ? "; " : "",
                          first->hint);
    }
    if (status != FACET_OK && err != NULL) {
        *err = inner;
    }
    return status;
}

enum facet_status facet_isa_assemble_line(enum facet_isa isa,
                                          const char *line,
                                          uint64_t pc,
                                          uint8_t *bytes,
                                          size_t capacity,
                                          size_t *size,
                                          struct facet_error *err)
{
    const struct facet_asm_options options = {.isa = isa, .has_base = true, .base = pc};
    struct facet_asm_result result = {0};
    uint8_t *made = NULL;
    enum facet_status status;
    uint64_t base;

    *size = 0;
    if (!known(isa)) {
        return facet_fail(
            err, FACET_ERR_USAGE, (uint64_t)isa, "unknown instruction set %d", (int)isa);
    }
    status = assemble(&options, line, strlen(line), true, &result, err);
    if (status == FACET_OK) {
        status = facet_object_flatten(result.object, &made, size, &base, err);
    }
    if (status == FACET_OK && made != NULL && capacity != 0) {
        memcpy(bytes, made, *size < capacity ? *size : capacity);
    }
    free(made);
    facet_asm_result_free(&result);
    return status;
}

static enum facet_status write_program(struct facet_object *object,
                                       bool flat,
                                       struct facet_blob *program,
                                       struct facet_error *err)
{
    uint8_t *bytes = NULL;
    uint64_t base;
    enum facet_status status =
        flat ? facet_object_flatten(object, &bytes, &program->size, &base, err)
             : facet_elf_write(object, &bytes, &program->size, err);

    program->data = bytes;
    return status;
}

enum facet_status facet_isa_assemble_sized(const struct facet_isa_assemble_config *config,
                                           size_t config_size,
                                           const char *text,
                                           size_t size,
                                           struct facet_blob *program,
                                           struct facet_blob *messages,
                                           struct facet_error *err)
{
    struct facet_isa_assemble_config own;
    struct facet_asm_result result = {0};
    struct facet_strbuf told;
    enum facet_status status =
        facet_sized_in(&own, sizeof own, config, config_size, "facet_isa_assemble_config", err);

    *program = (struct facet_blob){0};
    if (messages != NULL) {
        *messages = (struct facet_blob){0};
    }
    if (status != FACET_OK) {
        return status;
    }
    if (!known(own.isa)) {
        return facet_fail(
            err, FACET_ERR_USAGE, (uint64_t)own.isa, "unknown instruction set %d", (int)own.isa);
    }
    status = assemble(&(struct facet_asm_options){.isa = own.isa,
                                                  .file = own.name,
                                                  .has_base = own.has_base,
                                                  .base = own.base,
                                                  .include_folders = own.include_folders,
                                                  .include_count = own.include_count},
                      text,
                      size,
                      false,
                      &result,
                      err);
    if (status == FACET_OK) {
        status = write_program(result.object, own.flat, program, err);
    } else if (status == FACET_ERR_INPUT && messages != NULL) {
        facet_strbuf_init(&told);
        facet_diag_format(&result.diags, &told);
        (void)facet_door_blob_of_text(&told, messages, NULL);
    }
    facet_asm_result_free(&result);
    return status;
}

enum facet_status facet_isa_disassemble(const void *elf,
                                        size_t size,
                                        struct facet_blob *text,
                                        struct facet_error *err)
{
    struct facet_object *object = NULL;
    struct facet_strbuf out;
    enum facet_status status = facet_elf_read(elf, size, &object, err);

    *text = (struct facet_blob){0};
    if (status != FACET_OK) {
        return status;
    }
    facet_strbuf_init(&out);
    status = facet_disassemble(object, "-", &out, err);
    facet_object_free(object);
    if (status == FACET_OK) {
        return facet_door_blob_of_text(&out, text, err);
    }
    facet_strbuf_free(&out);
    return status;
}
