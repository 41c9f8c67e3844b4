/* Source lines of addresses, compared with what addr2line of binutils says about programs that GCC
 * made in every version of DWARF. */
#include "harness.h"

#include "base/bits.h"
#include "base/file.h"
#include "object/elf.h"
#include "object/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TOOLS "riscv64-unknown-elf-"

static const char source[] = "static int twice(int x) { return x + x; }\n"
                             "int sum;\n"
                             "void __attribute__((section(\".text.far\"))) far(int n)\n"
                             "{\n"
                             "    for (int i = 0; i < n; i++) {\n"
                             "        sum += twice(i);\n"
                             "    }\n"
                             "}\n"
                             "\n"
                             "#line 1000 \"other.c\"\n"
                             "void _start(void)\n"
                             "{\n"
                             "    far(3);\n"
                             "    for (;;)\n"
                             "        sum++;\n"
                             "}\n";

static char folder[] = "/tmp/facet_lines_XXXXXX";

static bool compile(int version, const char *more)
{
    char command[400];

    (void)snprintf(command,
                   sizeof command,
                   TOOLS
                   "gcc -nostdlib -O1 -ffunction-sections -gdwarf-%d %s %s/main.c -o %s/main.elf "
                   "2>/dev/null",
                   version,
                   more,
                   folder,
                   folder);
    return system(command) == 0;
}

/* "main.c:6", as addr2line says it; "??:?" where nothing is known. */
static void expected(uint64_t address, char *out, size_t size)
{
    char command[200], line[300] = "", *name, *end;
    FILE *pipe;

    (void)snprintf(command,
                   sizeof command,
                   TOOLS "addr2line -e %s/main.elf 0x%llx",
                   folder,
                   (unsigned long long)address);
    pipe = popen(command, "r");
    if (pipe != NULL) {
        (void)!fgets(line, sizeof line, pipe);
        (void)pclose(pipe);
    }
    name = strrchr(line, '/') != NULL ? strrchr(line, '/') + 1 : line;
    end = name + strcspn(name, " \n");
    *end = '\0';
    (void)snprintf(out, size, "%s", name);
}

static void compare(const char *what)
{
    struct facet_bytes file = {0};
    struct facet_object *object = NULL;
    struct facet_lines lines;
    struct facet_error err = {0};
    char path[60];
    unsigned known = 0;

    (void)snprintf(path, sizeof path, "%s/main.elf", folder);
    CHECK_EQ(facet_file_read(path, 1 << 20, &file, &err), FACET_OK);
    CHECK_EQ(facet_elf_read(file.data, file.size, &object, &err), FACET_OK);
    free(file.data);
    if (!CHECK_MSG(facet_lines_read(object, &lines, &err) == FACET_OK, "%s", err.message)) {
        return;
    }
    for (size_t i = 0; i < object->section_count; i++) {
        const struct facet_section *s = &object->sections[i];

        for (uint64_t at = 0; at < s->size && (s->flags & FACET_SECTION_EXEC) != 0; at += 2) {
            const struct facet_line_row *row = facet_lines_find(&lines, s->address + at);
            char mine[200] = "??:?", its[200];

            if (row != NULL) {
                (void)snprintf(mine, sizeof mine, "%s:%u", row->file, row->line);
                known++;
            }
            expected(s->address + at, its, sizeof its);
            CHECK_MSG(strcmp(mine, its) == 0,
                      "%s: 0x%llx is %s, addr2line says %s",
                      what,
                      (unsigned long long)(s->address + at),
                      mine,
                      its);
        }
    }
    CHECK(known > 10);
    facet_object_free(object);
}

TEST(lines_are_those_of_addr2line, "")
{
    char path[60];

    if (system(TOOLS "gcc --version >/dev/null 2>&1") != 0) {
        harness_skip("no " TOOLS "gcc");
        return;
    }
    CHECK(mkdtemp(folder) != NULL);
    (void)snprintf(path, sizeof path, "%s/main.c", folder);
    CHECK_EQ(facet_file_write(path, source, strlen(source), NULL), FACET_OK);
    for (int version = 2; version <= 5; version++) {
        char what[20];

        (void)snprintf(what, sizeof what, "DWARF %d", version);
        if (CHECK(compile(version, ""))) {
            compare(what);
        }
    }
    if (CHECK(compile(4, "-gdwarf64"))) { /* addr2line 2.40 cannot read it in version 5 */
        compare("DWARF 4, 64 bits");
    }
    (void)unlink(path);
    (void)snprintf(path, sizeof path, "%s/main.elf", folder);
    (void)unlink(path);
    (void)rmdir(folder);
}

/* Every byte of a table changed, and every end cut off: refused or read, nothing else. */
TEST(damaged_tables, "")
{
    static const uint8_t table[] = {0x2F, 0,    0,   0, 3, 0, 0x15, 0, 0, 0, 1, 1, 0xFB,
                                    14,   13,   0,   1, 1, 1, 1,    0, 0, 0, 1, 0, 0,
                                    1,    0,    'a', 0, 0, 0, 0,    0, 0, 9, 2, 0, 0,
                                    0,    0x80, 0,   0, 0, 0, 0x14, 2, 4, 0, 1, 1};
    struct facet_object *object = facet_object_new(FACET_ISA_XPHMG);
    struct facet_section section = {.name = ".debug_line", .size = sizeof table, .data = table};
    struct facet_lines lines;
    struct facet_error err = {0};
    uint8_t copy[sizeof table];
    unsigned refused = 0;

    object->sections = &section;
    object->section_count = 1;
    for (size_t i = 0; i < sizeof table * 256; i++) {
        memcpy(copy, table, sizeof table);
        copy[i / 256] = (uint8_t)i;
        section.data = copy;
        refused += facet_lines_read(object, &lines, &err) != FACET_OK;
    }
    CHECK(refused > 100);
    for (size_t size = 1; size < sizeof table; size++) {
        uint8_t *cut = malloc(size);

        if (cut == NULL) {
            abort();
        }
        memcpy(cut, table, size);
        section.data = cut;
        section.size = size;
        CHECK_EQ(facet_lines_read(object, &lines, &err), FACET_ERR_INPUT);
        CHECK_STR(err.message, ".debug_line, offset 0: a damaged unit");
        free(cut);
    }
    object->sections = NULL;
    object->section_count = 0;
    facet_object_free(object);
}

/* A unit of version 5 with one file, `a`, line 1 at 0x80000000: after its name come further
 * entries as other compilers write them. */
static size_t unit_with(const uint8_t *formats,
                        size_t format_count,
                        size_t format_bytes,
                        const uint8_t *entries,
                        size_t entry_bytes,
                        uint8_t out[300])
{
    static const uint8_t head[] = {1, 1, 1, 0xFB, 14, 13, 0, 1, 1,   1, 1, 0,
                                   0, 0, 1, 0,    0,  1,  1, 1, 0x8, 1, 0};
    static const uint8_t program[] = {0, 9, 2, 0, 0, 0, 0x80, 0, 0, 0, 0, 1, 2, 4, 0, 1, 1};
    size_t at = 12;

    memcpy(out + at, head, sizeof head); /* one folder, without a name */
    at += sizeof head;
    out[at++] = (uint8_t)(1 + format_count);
    out[at++] = 1;
    out[at++] = 8; /* path, string */
    memcpy(out + at, formats, format_bytes);
    at += format_bytes;
    out[at++] = 2; /* files: 0 is the main one, 1 is the first of the program */
    for (unsigned i = 0; i < 2; i++) {
        out[at++] = i == 0 ? 'm' : 'a';
        out[at++] = 0;
        memcpy(out + at, entries, entry_bytes);
        at += entry_bytes;
    }
    facet_store_le32(out + 8, (uint32_t)(at - 12));
    memcpy(out + at, program, sizeof program);
    at += sizeof program;
    facet_store_le32(out, (uint32_t)(at - 4));
    facet_store_le32(out + 4, 5 | 8 << 16); /* version, 8 bytes of address, no selector */
    return at;
}

TEST(entries_of_version_5, "")
{
    /* The source itself as text, sums and sizes of every form. */
    static const struct {
        uint8_t formats[4];
        size_t format_bytes;
        uint8_t entry[20];
        size_t entry_bytes;
        bool good;
    } each[] = {{{0x81, 0x40, 0x08}, 3, {'i', 'n', 't', 0}, 4, true},
                {{5, 0x1E}, 2, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, 16, true},
                {{2, 0x0B}, 2, {9}, 1, true},
                {{3, 0x05}, 2, {9, 9}, 2, true},
                {{3, 0x06}, 2, {9, 9, 9, 9}, 4, true},
                {{3, 0x07}, 2, {9, 9, 9, 9, 9, 9, 9, 9}, 8, true},
                {{4, 0x0F}, 2, {0x80, 0x80, 1}, 3, true},
                {{5, 0x09}, 2, {3, 'x', 'y', 'z'}, 4, true},
                {{5, 0x09}, 2, {100, 'x'}, 2, false}, /* longer than the unit */
                {{5, 0x09}, 2, {0xFF, 0xFF, 0xFF, 0xFF, 15}, 5, false},
                {{5, 0x0A}, 2, {1, 'x'}, 2, false}};

    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        struct facet_object *object = facet_object_new(FACET_ISA_XPHMG);
        uint8_t bytes[300];
        struct facet_section section = {.name = ".debug_line", .data = bytes};
        struct facet_lines lines;
        struct facet_error err = {0};
        const struct facet_line_row *row;

        section.size = unit_with(
            each[i].formats, 1, each[i].format_bytes, each[i].entry, each[i].entry_bytes, bytes);
        object->sections = &section;
        object->section_count = 1;
        CHECK_EQ(facet_lines_read(object, &lines, &err), each[i].good ? FACET_OK : FACET_ERR_INPUT);
        row = each[i].good ? facet_lines_find(&lines, 0x80000000) : NULL;
        if (each[i].good && CHECK_MSG(row != NULL, "entry %zu", i)) {
            CHECK_STR(row->file, "a");
            CHECK_EQ(row->line, 1);
        }
        object->sections = NULL;
        object->section_count = 0;
        facet_object_free(object);
    }
}
