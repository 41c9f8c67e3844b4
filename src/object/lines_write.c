/* Writing line tables; see lines.h. The numbers are those of the DWARF standard, version 4, which
 * every reader knows. */
#include "object/lines.h"

#include "base/strbuf.h"

#include <string.h>

enum {
    LINE_BASE = -5, /* of the opcodes that advance address and line at once */
    LINE_RANGE = 14,
    OPCODE_BASE = 13,
    LANGUAGE_ASSEMBLER = 0x8001,
};

static void put(struct facet_strbuf *out, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++) {
        facet_strbuf_putc(out, (char)(uint8_t)(value >> (8 * i)));
    }
}

static void put_uleb(struct facet_strbuf *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) {
        put(out, (value & 0x7F) | 0x80, 1);
    }
    put(out, value, 1);
}

static void put_sleb(struct facet_strbuf *out, int64_t value)
{
    while (value < -0x40 || value >= 0x40) {
        put(out, ((uint64_t)value & 0x7F) | 0x80, 1);
        value = value < 0 ? ~(~value >> 7) : value >> 7;
    }
    put(out, (uint64_t)value & 0x7F, 1);
}

static void put_text(struct facet_strbuf *out, const char *text)
{
    facet_strbuf_add(out, text, strlen(text) + 1);
}

/* The size of what follows, once it is known. */
static void put_size_at(struct facet_strbuf *out, size_t at)
{
    size_t size = out->length - at - 4;

    for (unsigned i = 0; i < 4 && !out->failed; i++) {
        out->text[at + i] = (char)(uint8_t)(size >> (8 * i));
    }
}

/* ---- .debug_line ---- */

/* The files of one unit, numbered from 1 in the order of their first mark. */
struct files {
    const char **names;
    size_t count;
    size_t last; /* number of the one asked for last */
};

static size_t number_of(struct files *files, const char *name)
{
    if (files->last != 0 && strcmp(files->names[files->last - 1], name) == 0) {
        return files->last;
    }
    for (size_t i = 0; i < files->count; i++) {
        if (strcmp(files->names[i], name) == 0) {
            return files->last = i + 1;
        }
    }
    files->names[files->count++] = name;
    return files->last = files->count;
}

static void put_line_header(struct facet_strbuf *out,
                            const struct facet_line_mark *marks,
                            size_t count,
                            struct files *files)
{
    static const uint8_t lengths[OPCODE_BASE - 1] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    size_t header = out->length;

    for (size_t i = 0; i < count; i++) {
        (void)number_of(files, marks[i].file);
    }
    put(out, 0, 4); /* size of the header, below */
    put(out, 1, 1); /* addresses advance by bytes */
    put(out, 1, 1); /* operations of an instruction */
    put(out, 1, 1); /* every row is a statement */
    put(out, (uint8_t)LINE_BASE, 1);
    put(out, LINE_RANGE, 1);
    put(out, OPCODE_BASE, 1);
    facet_strbuf_add(out, (const char *)lengths, sizeof lengths);
    put(out, 0, 1); /* no folders */
    for (size_t i = 0; i < files->count; i++) {
        put_text(out, files->names[i]);
        put(out, 0, 3); /* folder, time and size: not known */
    }
    put(out, 0, 1);
    put_size_at(out, header);
}

static void put_row(struct facet_strbuf *out, uint64_t advance, int64_t lines)
{
    if (lines < LINE_BASE || lines >= LINE_BASE + LINE_RANGE) {
        put(out, 3, 1); /* advance_line */
        put_sleb(out, lines);
        lines = 0;
    }
    if (advance > (uint64_t)(255 - OPCODE_BASE - (lines - LINE_BASE)) / LINE_RANGE) {
        put(out, 2, 1); /* advance_pc */
        put_uleb(out, advance);
        advance = 0;
    }
    put(out, (uint64_t)(lines - LINE_BASE) + LINE_RANGE * advance + OPCODE_BASE, 1);
}

static void put_lines(struct facet_strbuf *out,
                      const struct facet_section *section,
                      unsigned address_size,
                      const struct facet_line_mark *marks,
                      size_t count,
                      struct files *files)
{
    size_t unit = out->length, file = 1;
    uint64_t at = marks[0].offset;
    int64_t line = 1;

    put(out, 0, 4);
    put(out, 4, 2); /* version */
    put_line_header(out, marks, count, files);
    put(out, 0, 1); /* set_address */
    put_uleb(out, 1 + address_size);
    put(out, 2, 1);
    put(out, section->address + at, address_size);
    for (size_t i = 0; i < count; i++) {
        size_t number = number_of(files, marks[i].file);

        if (i != 0 && number == file && marks[i].line == line) {
            continue; /* the row before goes on */
        }
        if (number != file) {
            file = number;
            put(out, 4, 1); /* set_file */
            put_uleb(out, file);
        }
        put_row(out, marks[i].offset - at, (int64_t)marks[i].line - line);
        at = marks[i].offset;
        line = marks[i].line;
    }
    put(out, 2, 1);
    put_uleb(out, section->size - at);
    put(out, 0, 1); /* end_sequence */
    put(out, 1, 1);
    put(out, 1, 1);
    put_size_at(out, unit);
}

/* ---- .debug_info ---- */

/* Attribute and form of everything that a unit says. */
static const uint8_t abbreviations[] = {1,
                                        0x11,
                                        0, /* a compile_unit without children */
                                        0x10,
                                        0x17, /* stmt_list, sec_offset */
                                        0x11,
                                        0x01, /* low_pc, addr */
                                        0x12,
                                        0x07, /* high_pc, data8: how far it is */
                                        0x03,
                                        0x08, /* name, string */
                                        0x25,
                                        0x08, /* producer, string */
                                        0x13,
                                        0x05, /* language, data2 */
                                        0,
                                        0,
                                        0};

static void put_info(struct facet_strbuf *out,
                     const struct facet_section *section,
                     unsigned address_size,
                     const char *name,
                     size_t lines)
{
    size_t unit = out->length;

    put(out, 0, 4);
    put(out, 4, 2);
    put(out, 0, 4); /* in .debug_abbrev */
    put(out, address_size, 1);
    put(out, 1, 1);
    put(out, lines, 4);
    put(out, section->address, address_size);
    put(out, section->size, 8);
    put_text(out, name);
    put_text(out, "facet as");
    put(out, LANGUAGE_ASSEMBLER, 2);
    put_size_at(out, unit);
}

/* ---- the object ---- */

static bool add_section(struct facet_object *object,
                        struct facet_section *section,
                        const char *name,
                        const char *bytes,
                        size_t size)
{
    uint8_t *data = facet_arena_alloc(&object->arena, size + 1, 1);

    if (data != NULL) {
        memcpy(data, bytes, size);
    }
    *section = (struct facet_section){.name = name, .size = size, .align = 1, .data = data};
    return data != NULL;
}

static bool add_sections(struct facet_object *object,
                         const struct facet_strbuf *lines,
                         const struct facet_strbuf *info)
{
    size_t count = object->section_count;
    struct facet_section *all =
        facet_arena_calloc(&object->arena, count + 3, sizeof *object->sections);

    if (all == NULL || lines->failed || info->failed ||
        !add_section(object, &all[count], ".debug_line", lines->text, lines->length) ||
        !add_section(object, &all[count + 1], ".debug_info", info->text, info->length) ||
        !add_section(object,
                     &all[count + 2],
                     ".debug_abbrev",
                     (const char *)abbreviations,
                     sizeof abbreviations)) {
        return false;
    }
    memcpy(all, object->sections, count * sizeof *all);
    object->sections = all;
    object->section_count = count + 3;
    return true;
}

/* Tables that the text brings along itself stay alone: two would contradict each other. */
static bool has_lines(const struct facet_object *object)
{
    for (size_t i = 0; i < object->section_count; i++) {
        const char *name = object->sections[i].name;

        if (strcmp(name, ".debug_line") == 0 || strcmp(name, ".debug_info") == 0) {
            return true;
        }
    }
    return false;
}

/* The marks of one section behind those of another; ends[i] is where those of section i end. */
static void gather(const struct facet_line_mark *marks,
                   size_t count,
                   uint32_t sections,
                   struct facet_line_mark *out,
                   size_t *ends)
{
    size_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        ends[marks[i].section]++;
    }
    for (uint32_t i = 0; i < sections; i++) {
        sum += ends[i];
        ends[i] = sum - ends[i];
    }
    for (size_t i = 0; i < count; i++) {
        out[ends[marks[i].section]++] = marks[i];
    }
}

enum facet_status facet_lines_write(struct facet_object *object,
                                    const char *name,
                                    const struct facet_line_mark *marks,
                                    size_t count,
                                    struct facet_error *err)
{
    unsigned address_size = object->isa == FACET_ISA_XPHMG ? 8 : 4;
    uint32_t sections = (uint32_t)object->section_count;
    struct facet_line_mark *own = facet_arena_calloc(&object->arena, count + 1, sizeof *own);
    const char **names = facet_arena_calloc(&object->arena, count + 1, sizeof *names);
    size_t *ends = facet_arena_calloc(&object->arena, sections + 1, sizeof *ends);
    struct facet_strbuf lines, info;
    bool good = own != NULL && names != NULL && ends != NULL;

    facet_strbuf_init(&lines);
    facet_strbuf_init(&info);
    if (good && count != 0 && !has_lines(object)) {
        gather(marks, count, sections, own, ends);
        for (uint32_t i = 0; i < sections; i++) {
            size_t first = i != 0 ? ends[i - 1] : 0;
            struct files files = {.names = names};

            if (ends[i] != first) {
                put_info(&info, &object->sections[i], address_size, name, lines.length);
                put_lines(&lines,
                          &object->sections[i],
                          address_size,
                          own + first,
                          ends[i] - first,
                          &files);
            }
        }
        good = add_sections(object, &lines, &info);
    }
    facet_strbuf_free(&lines);
    facet_strbuf_free(&info);
    return good ? FACET_OK : facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for source lines");
}
