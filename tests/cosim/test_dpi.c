/* The functions of facet/dpi.h as a simulator calls them: numbers, strings, a handle. */
#include "harness.h"

#include "assembler/assemble.h"
#include "base/file.h"
#include "object/elf.h"
#include "object/object.h"

#include <facet/cosim.h>
#include <facet/dpi.h>
#include <facet/machine.h>
#include <facet/xphmg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[] = "/tmp/facet_dpi_XXXXXX";

static void *open_program(const char *text, uint32_t late)
{
    struct facet_asm_options options = {.isa = FACET_ISA_XPHMG, .file = "test.s"};
    struct facet_asm_result result;
    uint8_t *elf = NULL;
    size_t size = 0;
    int file;
    void *session;

    CHECK_EQ(facet_assemble(&options, text, strlen(text), &result, NULL), FACET_OK);
    CHECK_EQ(facet_elf_write(result.object, &elf, &size, NULL), FACET_OK);
    facet_asm_result_free(&result);
    memcpy(path, "/tmp/facet_dpi_XXXXXX", sizeof path);
    file = mkstemp(path);
    CHECK(file >= 0);
    (void)close(file);
    CHECK_EQ(facet_file_write(path, elf, size, NULL), FACET_OK);
    free(elf);
    session = facet_dpi_open(path, "", 0, late);
    CHECK_MSG(session != NULL, "%s", facet_dpi_error());
    (void)unlink(path);
    return session;
}

TEST(a_program_told_by_numbers, "")
{
    void *s =
        open_program("_start: li t0, 5\n  la t1, cell\n  sw t0, 0(t1)\n  csrw mscratch, t0\n"
                     "  lw t2, 0(zero)\n  csrr t3, time\n  j .\n  .align 3\ncell: .word 0, 0\n",
                     0);
    uint64_t cell = 0x80000020;

    CHECK_EQ(facet_dpi_x(s, 0, 0, 99), 0); /* x0: nothing */
    CHECK_EQ(facet_dpi_x(s, 0, 5, 5), 0);
    CHECK_EQ(facet_dpi_retire(s, 0, 0x80000000, 0x00500293), 0);
    CHECK_EQ(facet_dpi_reg(s, 0, "t1", 0x80000004), 0);
    CHECK_EQ(facet_dpi_retire(s, 0, 0x80000004, 0), 0);
    CHECK_EQ(facet_dpi_x(s, 0, 6, cell), 0);
    CHECK_EQ(facet_dpi_retire(s, 0, 0x80000008, 0), 0);
    CHECK_EQ(facet_dpi_store(s, 0, cell, 2, 5), 0);
    CHECK_EQ(facet_dpi_store(s, 0, cell + 2, 2, 0), 0);
    CHECK_EQ(facet_dpi_retire(s, 0, 0x8000000C, 0), 0);
    CHECK_EQ(facet_dpi_read(s, cell, 4), 5);
    CHECK_EQ(facet_dpi_csr(s, 0, 0x340, 5), 0);
    CHECK_EQ(facet_dpi_retire(s, 0, 0x80000010, 0), 0);
    CHECK_EQ(facet_dpi_get(s, 0, "mscratch"), 5);
    CHECK_EQ(facet_dpi_next_load(s, 0, 0, 3, 0x80000001), 0);
    CHECK_EQ(facet_dpi_x(s, 0, 7, 0xFFFFFFFF80000001), 0);
    CHECK_EQ(facet_dpi_retire(s, 0, 0x80000014, 0), 0);
    CHECK_EQ(facet_dpi_next_csr(s, 0, 0xC01, 777), 0);
    CHECK_EQ(facet_dpi_x(s, 0, 28, 777), 0);
    CHECK_EQ(facet_dpi_retire(s, 0, 0x80000018, 0), 0);
    CHECK_EQ(facet_dpi_steps(s), 7);
    CHECK_EQ(facet_dpi_line(s, 0, 11, 2), 0);
    CHECK_EQ(facet_dpi_get(s, 0, "mip.MEIP"), 1);
    CHECK_EQ(facet_dpi_break_reservation(s, 0), 0);
    CHECK_EQ(facet_dpi_ignore(s, "csr"), 0);
    CHECK_EQ(facet_dpi_ignore(s, "priv"), 0);
    CHECK_EQ(facet_dpi_compare(s, "mepc"), 0);
    CHECK_EQ(facet_dpi_take(s, 0, 5, 0x1234), 0);
    CHECK_EQ(facet_dpi_csr(s, 0, 0x341, 0x8000001C), 0);
    CHECK_EQ(facet_dpi_trap(s, 0, 0x8000001C, 5, 0x1234), 0);
    CHECK_STR(facet_dpi_report(s), "");
    CHECK_EQ(facet_dpi_finish(s), 2);
    CHECK_EQ(facet_dpi_f(s, 0, 1, 1), 0);
    CHECK_EQ(facet_dpi_retire(s, 0, 0, 0), 1);
    CHECK(strstr(facet_dpi_report(s), "differs") != NULL);
    CHECK_EQ(facet_dpi_save(s, path), 0);
    CHECK_EQ(unlink(path), 0);
    CHECK_EQ(facet_dpi_save(s, "/nowhere/at/all"), -1);
    CHECK_EQ(facet_dpi_finish(s), 1);
    facet_dpi_close(s);
}

TEST(what_units_write, "")
{
    void *s = open_program("_start: nop\n  nop\n", 1);

    CHECK_EQ(facet_dpi_unit_csr(s, 0, 0x340, 1), 0);
    CHECK_EQ(facet_dpi_unit_store(s, 0, 0x80001000, 8, 1), 0);
    CHECK_EQ(facet_dpi_retire(s, 0, 0x80000000, 0), 1);
    CHECK(strstr(facet_dpi_report(s), "a unit of the design wrote this") != NULL);
    facet_dpi_close(s);
}

TEST(mistakes_are_told, "")
{
    void *s = open_program("_start: nop\n", 0);

    CHECK(facet_dpi_open("/nowhere.elf", "", 1, 0) == NULL);
    CHECK(strstr(facet_dpi_error(), "/nowhere.elf") != NULL);
    CHECK_EQ(facet_dpi_x(s, 0, 32, 1), -1);
    CHECK_STR(facet_dpi_error(), "register x32: expected 0..31");
    CHECK_EQ(facet_dpi_csr(s, 0, 0x123, 1), -1);
    CHECK_STR(facet_dpi_error(), "core 0 has no CSR 0x123");
    CHECK_EQ(facet_dpi_unit_csr(s, 7, 0x340, 1), -1);
    CHECK_EQ(facet_dpi_store(s, 0, 0, 9, 1), -1);
    CHECK_STR(facet_dpi_error(), "9 bytes: expected 1..8");
    CHECK_EQ(facet_dpi_unit_store(s, 0, 0, 0, 1), -1);
    CHECK_EQ(facet_dpi_get(s, 0, "nothing"), 0);
    CHECK_STR(facet_dpi_error(), "core 0 has no 'nothing' of 64 bits");
    CHECK_EQ(facet_dpi_read(s, 0, 8), 0);
    CHECK_EQ(facet_dpi_ignore(s, "nothing"), -1);
    CHECK_EQ(facet_dpi_compare(s, "nothing"), -1);
    CHECK_EQ(facet_dpi_line(s, 0, 4, 1), -1);
    CHECK_EQ(facet_dpi_take(s, 0, 99, 1), -1);
    CHECK_EQ(facet_dpi_next_load(s, 0, 2, 1, 0), -1);
    CHECK_EQ(facet_dpi_next_csr(s, 0, 0x123, 0), -1);
    CHECK_EQ(facet_dpi_retire(s, 1, 0, 0), -1);
    CHECK_EQ(facet_dpi_trap(s, 1, 0, 0, 0), -1);
    facet_dpi_close(s);
    facet_dpi_close(NULL);
    CHECK_EQ(facet_dpi_retire(NULL, 0, 0, 0), -1);
    CHECK_STR(facet_dpi_error(), "no session: facet_dpi_open failed");
    CHECK(facet_dpi_x(NULL, 0, 1, 0) == -1 && facet_dpi_csr(NULL, 0, 0x340, 0) == -1 &&
          facet_dpi_store(NULL, 0, 0, 1, 0) == -1 && facet_dpi_trap(NULL, 0, 0, 0, 0) == -1 &&
          facet_dpi_finish(NULL) == -1 && facet_dpi_line(NULL, 0, 3, 0) == -1 &&
          facet_dpi_next_load(NULL, 0, 0, 1, 0) == -1 && facet_dpi_next_csr(NULL, 0, 1, 0) == -1 &&
          facet_dpi_take(NULL, 0, 1, 0) == -1 && facet_dpi_break_reservation(NULL, 0) == -1 &&
          facet_dpi_get(NULL, 0, "pc") == 0 && facet_dpi_read(NULL, 0, 1) == 0 &&
          facet_dpi_steps(NULL) == 0 && facet_dpi_save(NULL, path) == -1 &&
          facet_dpi_ignore(NULL, "x1") == -1 && facet_dpi_compare(NULL, "x1") == -1 &&
          facet_dpi_unit_store(NULL, 0, 0, 1, 0) == -1 && facet_dpi_unit_csr(NULL, 0, 1, 0) == -1);
    CHECK_STR(facet_dpi_report(NULL), "");
}
