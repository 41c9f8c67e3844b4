/* Assembler, ELF files and disassembler when memory runs out: every allocation of a run fails once.
 * The answer is FACET_ERR_MEMORY, nothing leaks (the sanitizer build looks) and nothing crashes. */
#include "help.h"

#include "base/failing_alloc.h"
#include "base/file.h"
#include "cards/results.h"

#include <sys/stat.h>
#include <unistd.h>

static const char text[] =
    ".globl f\n.macro m a\n.byte \\a\n.endm\nf: la a0, x\n1: j 1b\nm 5\n"
    ".rept 3\nm 7\n.endr\n.data\nx: .dword f, y - x, later\ny: .asciz \"z\"\n"
    ".irp q, 1, 2\n.byte \\q\n.endr\n.set later, y + 1\n\"odd one\":\n"
    ".section .more, \"aw\"\n.zero 1000\n.bss\n.zero 8\n";

static enum facet_status run_all(void)
{
    struct facet_asm_options options = {
        .isa = FACET_ISA_XPHMG, .file = "t.s", .listing = true, .debug = true};
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

/* ---- files ---- */

static char folder[] = "/tmp/facet-alloc-XXXXXX";

static const char *below_folder(const char *name)
{
    static char path[2][64];
    static unsigned turn;

    turn ^= 1;
    (void)snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void put_file(const char *name, const char *content)
{
    CHECK(facet_file_write(below_folder(name), content, strlen(content), NULL) == FACET_OK);
}

/* Never the file of the same name in the second folder. */
static void include_or_lack_memory(void *context)
{
    struct assembled a = assemble_with(context, ".include \"f.inc\"\n");

    CHECK(a.status == FACET_OK ? a.size == 1 && a.bytes[0] == 1 : a.status == FACET_ERR_MEMORY);
    assembled_free(&a);
}

static void results_or_lack_memory(void *context)
{
    struct facet_results *results = NULL;
    struct facet_error err;
    enum facet_status status = facet_results_read(folder, &results, &err);

    (void)context;
    CHECK(status == FACET_OK
              ? facet_results_outcome(results, &facet_requirement_rows[0]) == FACET_OUTCOME_PASS &&
                    facet_results_outcome(results, &facet_requirement_rows[1]) == FACET_OUTCOME_FAIL
              : status == FACET_ERR_MEMORY);
    facet_results_free(results);
}

TEST(lack_of_memory_takes_no_other_file_and_leaves_none_out, "")
{
    static const char *const files[] = {"1/f.inc", "2/f.inc", "a.tsv", "b.tsv"};
    char first[64], second[64], line[200];
    const char *folders[] = {first, second};
    struct facet_asm_options options = {
        .isa = FACET_ISA_TILE, .file = "t.s", .include_folders = folders, .include_count = 2};

    if (!CHECK(mkdtemp(folder) != NULL)) {
        return;
    }
    (void)strcpy(first, below_folder("1"));
    (void)strcpy(second, below_folder("2"));
    CHECK(mkdir(first, 0700) == 0 && mkdir(second, 0700) == 0);
    put_file(files[0], ".byte 1\n");
    put_file(files[1], ".byte 2\n");
    (void)snprintf(line, sizeof line, "s\tone\tpass\t%s\n", facet_requirement_rows[0].id);
    put_file(files[2], line);
    (void)snprintf(line, sizeof line, "s\ttwo\tfail\t%s\n", facet_requirement_rows[1].id);
    put_file(files[3], line);
    CHECK(failing_alloc_each(include_or_lack_memory, &options) > 5);
    CHECK(failing_alloc_each(results_or_lack_memory, NULL) > 5);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        (void)unlink(below_folder(files[i]));
    }
    (void)rmdir(first);
    (void)rmdir(second);
    (void)rmdir(folder);
}
