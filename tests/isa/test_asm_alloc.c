/* Assembler, ELF files and disassembler when memory runs out: every allocation of a run fails once.
 * The answer is FACET_ERR_MEMORY, nothing leaks (the sanitizer build looks) and nothing crashes. */
#include "asm_help.h"

#include "base/failing_alloc.h"

static const char text[] =
    ".globl f\n.macro m a\n.byte \\a\n.endm\nf: la a0, x\n1: j 1b\nm 5\n"
    ".rept 3\nm 7\n.endr\n.data\nx: .dword f, y - x, later\ny: .asciz \"z\"\n"
    ".irp q, 1, 2\n.byte \\q\n.endr\n.set later, y + 1\n\"odd one\":\n"
    ".section .more, \"aw\"\n.zero 1000\n.bss\n.zero 8\n";

static enum facet_status run_all(void)
{
    struct facet_asm_options options = {.isa = FACET_ISA_XPHMG, .file = "t.s", .listing = true};
    struct facet_asm_result result;
    struct facet_object *object = NULL;
    struct facet_strbuf out;
    struct facet_error err;
    uint8_t *data = NULL;
    size_t size = 0;
    enum facet_status status;

    facet_strbuf_init(&out);
    status = facet_assemble(&options, text, strlen(text), &result, &err);
    if (status == FACET_OK) {
        status = facet_elf_write(result.object, &data, &size, &err);
    }
    if (status == FACET_OK) {
        status = facet_elf_read(data, size, &object, &err);
    }
    if (status == FACET_OK) {
        status = facet_disassemble(object, "t", &out, &err);
    }
    facet_strbuf_free(&out);
    facet_object_free(object);
    free(data);
    facet_asm_result_free(&result);
    return status;
}

TEST(every_allocation_may_fail, "")
{
    long n = 0;
    enum facet_status status = FACET_ERR_MEMORY;

    CHECK_EQ(run_all(), FACET_OK);
    for (; n < 10000 && status != FACET_OK; n++) {
        failing_alloc_after(n);
        status = run_all();
        failing_alloc_after(-1);
        CHECK_MSG(status == FACET_OK || status == FACET_ERR_MEMORY, "allocation %ld", n);
    }
    CHECK_MSG(status == FACET_OK && n > 20, "only %ld allocations failed", n);
}

TEST(complaints_need_memory_too, "")
{
    static const char wrong[] = "nonsense a0\n.word undefined\n";
    struct facet_asm_options options = {.isa = FACET_ISA_TILE, .file = "t.s"};
    enum facet_status status = FACET_ERR_MEMORY;

    for (long n = 0; n < 1000 && status == FACET_ERR_MEMORY; n++) {
        struct facet_asm_result result;
        struct facet_error err;

        failing_alloc_after(n);
        status = facet_assemble(&options, wrong, strlen(wrong), &result, &err);
        failing_alloc_after(-1);
        CHECK(result.object == NULL);
        facet_asm_result_free(&result);
    }
    CHECK_EQ(status, FACET_ERR_INPUT);
}
