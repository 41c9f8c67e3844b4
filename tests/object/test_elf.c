/* ELF files: what is written can be read back, foreign files are read, broken ones are refused with
 * the place of the fault. (readelf and objdump look at the same files in test_gnu_as.py.) */
#include "assembler/help.h"
#include "object/symbols.h"

#include <elf.h>

struct file {
    uint8_t *data;
    size_t size;
};

static struct file make_file(enum facet_isa isa, const char *text)
{
    struct assembled a = assemble_text(isa, text);
    struct file f = {NULL, 0};
    struct facet_error err;

    CHECK_MSG(a.result.object != NULL, "%s", first_error(&a));
    if (a.result.object != NULL) {
        CHECK_EQ(facet_elf_write(a.result.object, &f.data, &f.size, &err), FACET_OK);
    }
    assembled_free(&a);
    return f;
}

static const char program[] = ".globl _start\n_start: nop\nnop\n.rodata\nr: .byte 1, 2, 3\n.data\n"
                              "d: .word 4, _start\n.bss\nb: .zero 100\n.text\nend:\n"
                              ".type _start, @function\n.size _start, 8\n";

TEST(header_fields, "")
{
    struct file f = make_file(FACET_ISA_XPHMG, program);
    Elf64_Ehdr h;

    CHECK(f.size > sizeof h && facet_elf_is(f.data, f.size));
    memcpy(&h, f.data, sizeof h);
    CHECK_EQ(h.e_ident[EI_CLASS], ELFCLASS64);
    CHECK_EQ(h.e_ident[EI_DATA], ELFDATA2LSB);
    CHECK_EQ(h.e_type, ET_EXEC);
    CHECK_EQ(h.e_machine, EM_RISCV);
    CHECK_EQ(h.e_flags, EF_RISCV_RVC | EF_RISCV_FLOAT_ABI_DOUBLE);
    CHECK_EQ(h.e_entry, 0x80000000);
    CHECK_EQ(h.e_phnum, 3);
    CHECK_EQ(h.e_shoff + (uint64_t)h.e_shnum * h.e_shentsize, f.size);
    free(f.data);

    f = make_file(FACET_ISA_TILE, "_start: EXIT");
    Elf32_Ehdr t;

    memcpy(&t, f.data, sizeof t);
    CHECK_EQ(t.e_ident[EI_CLASS], ELFCLASS32);
    CHECK_EQ(t.e_machine, FACET_EM_TILE);
    CHECK_EQ(t.e_flags, 0);
    CHECK_EQ(t.e_entry, 0x80000000);
    CHECK_EQ(t.e_ehsize, sizeof t);
    free(f.data);
}

TEST(segments_hold_the_bytes, "")
{
    struct file f = make_file(FACET_ISA_XPHMG, program);
    struct facet_object *o = NULL;
    struct facet_error err;

    if (CHECK(facet_elf_read(f.data, f.size, &o, &err) == FACET_OK)) {
        CHECK_EQ(o->isa, FACET_ISA_XPHMG);
        CHECK_EQ(o->segment_count, 3);
        CHECK_EQ(o->segments[0].address, 0x80000000);
        CHECK_EQ(o->segments[0].flags, FACET_SECTION_EXEC);
        CHECK_EQ(o->segments[0].memory_size, 8);
        CHECK_EQ(o->segments[1].flags, 0);
        CHECK(memcmp(o->segments[1].data, "\1\2\3", 3) == 0);
        CHECK_EQ(o->segments[2].flags, FACET_SECTION_WRITE);
        CHECK_EQ(o->segments[2].file_size, 8);
        CHECK_EQ(o->segments[2].memory_size, 108);
        CHECK(memcmp(o->segments[2].data, "\4\0\0\0\0\0\0\x80", 8) == 0);
        CHECK_EQ(o->section_count, 4);
        CHECK_EQ(o->symbol_count, 5);
        CHECK_STR(o->symbols[4].name, "_start"); /* global ones come last */
        CHECK_EQ(o->symbols[4].binding, FACET_SYMBOL_GLOBAL);
        CHECK_EQ(o->symbols[4].type, FACET_SYMBOL_FUNC);
        CHECK_EQ(o->symbols[4].size, 8);
    }
    facet_object_free(o);
    free(f.data);
}

TEST(file_offsets_agree_with_addresses, "")
{
    struct file f =
        make_file(FACET_ISA_XPHMG, "nop\n.data\n.balign 4096\n.word 1\n.rodata\n.byte 1");
    Elf64_Ehdr h;
    Elf64_Phdr p;

    memcpy(&h, f.data, sizeof h);
    for (unsigned i = 0; i < h.e_phnum; i++) {
        memcpy(&p, f.data + h.e_phoff + i * sizeof p, sizeof p);
        CHECK_EQ(p.p_offset % p.p_align, p.p_vaddr % p.p_align);
        CHECK(p.p_offset + p.p_filesz <= f.size);
    }
    free(f.data);
}

TEST(stripped_files_read_by_segments, "")
{
    struct file f = make_file(FACET_ISA_XPHMG, program);
    struct facet_object *o = NULL;
    struct facet_error err;
    uint64_t zero = 0;

    memcpy(f.data + offsetof(Elf64_Ehdr, e_shoff), &zero, 8);
    memcpy(f.data + offsetof(Elf64_Ehdr, e_shnum), &zero, 2);
    if (CHECK(facet_elf_read(f.data, f.size, &o, &err) == FACET_OK)) {
        CHECK_EQ(o->section_count, 4);
        CHECK_STR(o->sections[0].name, ".segment0");
        CHECK_STR(o->sections[3].name, ".segment2.bss");
        CHECK_EQ(o->sections[3].size, 100);
        CHECK(o->sections[3].nobits);
    }
    facet_object_free(o);
    free(f.data);
}

static void check_refused(const struct file *f, uint64_t where, const char *message)
{
    struct facet_object *o = NULL;
    struct facet_error err = {0};
    enum facet_status status = facet_elf_read(f->data, f->size, &o, &err);

    CHECK_MSG(status != FACET_OK && o == NULL, "accepted: %s", message);
    CHECK_MSG(strstr(err.message, message) != NULL, "`%s`, expected `%s`", err.message, message);
    CHECK_MSG(err.where == where,
              "%s: where is %llu, expected %llu",
              message,
              (unsigned long long)err.where,
              (unsigned long long)where);
    facet_object_free(o);
}

static void
check_broken(const char *message, uint64_t where, size_t at, const void *bytes, size_t size)
{
    struct file f = make_file(FACET_ISA_XPHMG, program);

    memcpy(f.data + at, bytes, size);
    check_refused(&f, where, message);
    free(f.data);
}

TEST(broken_headers_are_refused, "")
{
    struct file f = make_file(FACET_ISA_XPHMG, program);
    Elf64_Ehdr h;
    uint64_t ones = UINT64_MAX;
    uint16_t two = 2;
    struct file cut;

    memcpy(&h, f.data, sizeof h);
    check_broken("not an ELF file", 0, 0, "X", 1);
    check_broken("ELF class 9", EI_CLASS, EI_CLASS, "\11", 1);
    check_broken("byte order 2", EI_DATA, EI_DATA, "\2", 1);
    check_broken("machine 0x3e", 18, 18, "\x3e\0", 2);
    check_broken("file type 4", 16, 16, "\4\0", 2);
    check_broken("file type 258", 16, 16, "\2\1", 2); /* both bytes count */
    check_broken("headers reach beyond", UINT64_MAX, 32, &ones, 8);
    check_broken("headers reach beyond", UINT64_MAX, 40, &ones, 8);
    check_broken("program headers of 2 bytes", 0, offsetof(Elf64_Ehdr, e_phentsize), &two, 2);
    check_broken("section headers of 2 bytes", 0, offsetof(Elf64_Ehdr, e_shentsize), &two, 2);
    /* first segment: its offset, file size, address */
    check_broken("reach beyond the end", UINT64_MAX, h.e_phoff + 8, &ones, 8);
    check_broken("bytes in the file but only", h.e_phoff, h.e_phoff + 32, &ones, 8);
    check_broken("address space", h.e_phoff, h.e_phoff + 16, &ones, 8);
    /* first real section: offset, alignment; the symbol table: size */
    check_broken("reach beyond the end", UINT64_MAX, h.e_shoff + 64 + 24, &ones, 8);
    check_broken("expected a power of two", h.e_shoff + 64, h.e_shoff + 64 + 48, "\3", 1);
    check_broken("symbol table", h.e_shoff + 64 * 5, h.e_shoff + 64 * 5 + 32, &ones, 8);
    for (size_t size = 0; size < f.size; size += size < 100 ? 1 : 13) {
        struct facet_object *o = NULL;
        struct facet_error err;

        cut = (struct file){f.data, size};
        CHECK_MSG(facet_elf_read(cut.data, cut.size, &o, &err) != FACET_OK, "cut at %zu", size);
        facet_object_free(o);
    }
    free(f.data);
}

TEST(any_byte_may_change, "")
{
    struct file f = make_file(FACET_ISA_XPHMG, program);

    for (unsigned round = 0; round < 20000; round++) {
        uint8_t *copy = malloc(f.size);
        struct facet_object *o = NULL;
        struct facet_strbuf out;
        struct facet_error err;

        if (copy == NULL) {
            break;
        }
        memcpy(copy, f.data, f.size);
        for (uint64_t k = 1 + harness_random() % 4; k > 0; k--) {
            copy[harness_random() % f.size] =
                (uint8_t)(harness_random() % 3 == 0 ? 0xFF : harness_random());
        }
        if (facet_elf_read(copy, f.size, &o, &err) == FACET_OK) {
            facet_strbuf_init(&out);
            CHECK_EQ(facet_disassemble(o, "x", &out, &err), FACET_OK);
            facet_strbuf_free(&out);
        } else {
            CHECK(o == NULL && err.message[0] != '\0');
        }
        facet_object_free(o);
        free(copy);
    }
    free(f.data);
}

/* Symbols inside instructions, outside their section, with odd and equal names: the text still
 * assembles, to the same bytes and values. */
TEST(odd_symbols_survive_disassembly, "")
{
    static const uint8_t code[] = {0x13, 0, 0, 0, 0x6f, 0xf0, 0xdf, 0xff, 0x13, 0, 0, 0};
    static struct facet_section section = {
        .name = "my code", .address = 0x1000, .size = 12, .align = 4, .flags = 6, .data = code};
    static struct facet_object_symbol symbols[] = {
        {.name = "mid", .value = 0x1002},
        {.name = "behind", .value = 0x1100},
        {.name = "before", .value = 0xF00},
        {.name = "end", .value = 0x100C},
        {.name = "two words", .value = 0x1004, .binding = FACET_SYMBOL_GLOBAL},
        {.name = "same", .value = 0x1004},
        {.name = "same", .value = 0x1008, .size = 4, .type = FACET_SYMBOL_OBJECT},
        {.name = "a0", .value = 0x1000},
        {.name = "1f", .value = 0x1000},
        {.name = "q\"uote\\", .value = 0x1000},
        {.name = ".L1004", .value = 0x1000},
        {.name = "ctrl\1x", .value = 0x1000},
        {.name = "number", .value = 77, .section = FACET_SYMBOL_ABSOLUTE},
        {.name = "gone", .value = 0, .section = FACET_SYMBOL_UNDEFINED},
    };
    struct facet_object object = {.isa = FACET_ISA_XPHMG,
                                  .entry = 0x1004,
                                  .sections = &section,
                                  .section_count = 1,
                                  .symbols = symbols,
                                  .symbol_count = sizeof symbols / sizeof symbols[0]};
    struct facet_strbuf out;
    struct facet_error err;
    struct assembled a;

    facet_strbuf_init(&out);
    CHECK_EQ(facet_disassemble(&object, "odd", &out, &err), FACET_OK);
    a = assemble_text(FACET_ISA_XPHMG, facet_strbuf_text(&out));
    if (CHECK_MSG(a.status == FACET_OK, "%s\n%s", first_error(&a), facet_strbuf_text(&out))) {
        const struct facet_object *o = a.result.object;

        CHECK(a.size == 12 && memcmp(a.bytes, code, 12) == 0);
        CHECK_EQ(o->entry, 0x1004);
        CHECK_EQ(o->symbol_count, object.symbol_count - 1);
        for (size_t i = 0; i < o->symbol_count; i++) {
            CHECK_MSG(o->symbols[i].value == symbols[i].value, "%s", symbols[i].name);
            CHECK_EQ(o->symbols[i].size, symbols[i].size);
            CHECK_EQ(o->symbols[i].type, symbols[i].type);
            if (i != 6 && i != 11) { /* the renamed ones */
                CHECK_STR(o->symbols[i].name, symbols[i].name);
            }
        }
        CHECK_STR(o->symbols[6].name, "same.dup1");
        CHECK_STR(o->sections[0].name, "my code");
    }
    assembled_free(&a);
    facet_strbuf_free(&out);
}

TEST(flat_images, "")
{
    struct assembled a = assemble_text(
        FACET_ISA_XPHMG, "nop\n.section .b,\"a\"\n.address 0x80000010\n.byte 1\n.bss\n.zero 8");
    struct facet_object *o = NULL;
    struct facet_error err;

    CHECK_EQ(a.size, 17);
    CHECK_EQ(a.base, 0x80000000);
    CHECK(a.bytes != NULL && a.bytes[8] == 0 && a.bytes[16] == 1);
    assembled_free(&a);
    a = assemble_text(FACET_ISA_XPHMG, "nop\n.section .b,\"a\"\n.address 0xF0000000\n.byte 1");
    CHECK_EQ(a.status, FACET_ERR_LIMIT);
    assembled_free(&a);
    CHECK_EQ(
        facet_object_from_bytes(FACET_ISA_TILE, (const uint8_t *)"abcd", 4, 0xFFFFFFFD, &o, &err),
        FACET_ERR_INPUT);
    CHECK(o == NULL);
    CHECK_EQ(facet_object_from_bytes(FACET_ISA_TILE, (const uint8_t *)"", 0, 0, &o, &err),
             FACET_OK);
    facet_object_free(o);
    /* Up to the last byte of the address space. */
    CHECK_EQ(
        facet_object_from_bytes(FACET_ISA_TILE, (const uint8_t *)"abcd", 4, 0xFFFFFFFC, &o, &err),
        FACET_OK);
    facet_object_free(o);
    CHECK_EQ(
        facet_object_from_bytes(FACET_ISA_XPHMG, (const uint8_t *)"a", 1, UINT64_MAX, &o, &err),
        FACET_OK);
    facet_object_free(o);
}

/* Puts the section of that index somewhere else; `flags` are added to its own. */
static void move_section(struct file *f, unsigned index, uint64_t address, uint64_t flags)
{
    Elf64_Ehdr h;
    Elf64_Shdr s;

    memcpy(&h, f->data, sizeof h);
    memcpy(&s, f->data + h.e_shoff + index * sizeof s, sizeof s);
    s.sh_addr = address;
    s.sh_flags |= flags;
    memcpy(f->data + h.e_shoff + index * sizeof s, &s, sizeof s);
}

TEST(overlapping_sections_are_refused, "")
{
    static const struct {
        uint64_t address;
        enum facet_status status;
    } cases[] = {
        {0x80000000, FACET_ERR_INPUT},
        {0x80000007, FACET_ERR_INPUT},
        {0x7FFFFFFE, FACET_ERR_INPUT}, /* three bytes: the last one is the first of .text */
        {0x7FFFFFFD, FACET_OK},
        {0x90000000, FACET_OK},
    };
    struct file one = make_file(FACET_ISA_XPHMG, "nop\n.rodata\n.byte 1\n");
    struct facet_object *none = NULL;
    struct facet_error why = {0};

    move_section(&one, 2, 0x80000003, 0); /* a single byte overlaps too */
    CHECK_EQ(facet_elf_read(one.data, one.size, &none, &why), FACET_ERR_INPUT);
    free(one.data);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct file f = make_file(FACET_ISA_XPHMG, program);
        struct facet_object *o = NULL;
        struct facet_error err = {0};

        move_section(&f, 2, cases[i].address, 0); /* .rodata */
        CHECK_EQ(facet_elf_read(f.data, f.size, &o, &err), cases[i].status);
        CHECK((o != NULL) == (cases[i].status == FACET_OK));
        CHECK(cases[i].status == FACET_OK || strstr(err.message, "overlaps section") != NULL);
        facet_object_free(o);
        free(f.data);
    }
}

TEST(zeros_of_threads_overlap_nothing, "")
{
    struct file f = make_file(FACET_ISA_XPHMG, program);
    struct facet_object *o = NULL;
    struct facet_error err = {0};

    move_section(&f, 4, 0x80000000, 0); /* .bss */
    CHECK_EQ(facet_elf_read(f.data, f.size, &o, &err), FACET_ERR_INPUT);
    move_section(&f, 4, 0x80000000, SHF_TLS);
    CHECK_EQ(facet_elf_read(f.data, f.size, &o, &err), FACET_OK);
    facet_object_free(o);
    free(f.data);
}

/* Neither addresses of code nor of data are named after a variable. */
TEST(only_symbols_of_code_name_addresses, "")
{
    struct file f = make_file(FACET_ISA_XPHMG, "start: nop\nnext: nop\n.data\nvalue: .word 1\n");
    struct facet_object *o = NULL;
    struct facet_symbols symbols = {0};
    struct facet_error err;

    if (CHECK(facet_elf_read(f.data, f.size, &o, &err) == FACET_OK) &&
        CHECK(facet_symbols_of(&symbols, o, &err) == FACET_OK) && CHECK(symbols.count == 2)) {
        CHECK_STR(o->symbols[symbols.order[0]].name, "start");
        CHECK_STR(o->symbols[symbols.order[1]].name, "next");
    }
    facet_symbols_free(&symbols);
    facet_object_free(o);
    free(f.data);
}
