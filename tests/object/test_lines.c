/* Source lines of addresses, compared with what addr2line of binutils says about programs that GCC
 * made in every version of DWARF. */
#include "harness.h"

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
