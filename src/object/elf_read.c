/* Reading ELF files; see elf.h. The file is hostile until proved otherwise: every number that comes
 * out of it is compared with the file's size before it is used, in arithmetic that cannot wrap. */
#include "object/elf.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_SECTIONS = 65280, /* SHN_LORESERVE: more would need extended numbering */
    MAX_SEGMENTS = 4096,
};
#define MAX_SYMBOLS ((uint64_t)1 << 24)
/* Bytes of all loaded sections together: a file may point several headers at the same bytes. */
#define MAX_LOADED ((uint64_t)1 << 30)

struct reader {
    const uint8_t *data;
    size_t size;
    bool wide;
    struct facet_object *object;
    struct facet_error *err;
    uint64_t loaded;
    uint64_t section_headers, segment_headers;
    uint32_t section_count, segment_count, names_index;
    int32_t *index_of; /* file section number -> object section, or -1 */
};

static uint64_t get(const uint8_t *p, unsigned bytes)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < bytes; i++) {
        value |= (uint64_t)p[i] << (8 * i);
    }
    return value;
}

static bool inside(const struct reader *r, uint64_t offset, uint64_t size)
{
    return offset <= r->size && size <= r->size - offset;
}

static enum facet_status no_memory(struct reader *r)
{
    return facet_fail(r->err, FACET_ERR_MEMORY, 0, "out of memory");
}

bool facet_elf_is(const uint8_t *data, size_t size)
{
    return size >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0;
}

static enum facet_status read_identity(struct reader *r, enum facet_isa *isa)
{
    unsigned machine;

    if (!facet_elf_is(r->data, r->size)) {
        return facet_fail(
            r->err, FACET_ERR_INPUT, 0, "offset 0: not an ELF file (expected 7f 45 4c 46)");
    }
    if (r->size < EI_NIDENT + 4) {
        return facet_fail(r->err,
                          FACET_ERR_INPUT,
                          r->size,
                          "offset %zu: the file ends inside the ELF header",
                          r->size);
    }
    if (r->data[EI_CLASS] != ELFCLASS32 && r->data[EI_CLASS] != ELFCLASS64) {
        return facet_fail(r->err,
                          FACET_ERR_INPUT,
                          EI_CLASS,
                          "offset 4: ELF class %u, expected 1 (32 bits) or 2 (64 bits)",
                          r->data[EI_CLASS]);
    }
    if (r->data[EI_DATA] != ELFDATA2LSB) {
        return facet_fail(r->err,
                          FACET_ERR_INPUT,
                          EI_DATA,
                          "offset 5: byte order %u, expected 1 (little-endian)",
                          r->data[EI_DATA]);
    }
    r->wide = r->data[EI_CLASS] == ELFCLASS64;
    machine = (unsigned)get(r->data + 18, 2);
    if (!r->wide && machine == EM_RISCV) {
        return facet_fail(
            r->err,
            FACET_ERR_INPUT,
            EI_CLASS,
            "offset 4: a 32-bit RISC-V file, expected RV64 (compile with -march=rv64gc "
            "-mabi=lp64d)");
    }
    if (machine != (r->wide ? EM_RISCV : FACET_EM_TILE)) {
        return facet_fail(r->err,
                          FACET_ERR_INPUT,
                          18,
                          "offset 18: machine 0x%x in a %d-bit file, expected 0x%x (%s)",
                          machine,
                          r->wide ? 64 : 32,
                          r->wide ? EM_RISCV : FACET_EM_TILE,
                          r->wide ? "RISC-V" : "tile");
    }
    *isa = r->wide ? FACET_ISA_XPHMG : FACET_ISA_TILE;
    return FACET_OK;
}

static enum facet_status check_table(struct reader *r,
                                     const char *what,
                                     uint64_t offset,
                                     uint64_t count,
                                     uint64_t entry,
                                     uint64_t expected_entry,
                                     uint64_t limit)
{
    if (count == 0) {
        return FACET_OK;
    }
    if (entry != expected_entry) {
        return facet_fail(r->err,
                          FACET_ERR_INPUT,
                          0,
                          "ELF header: %s headers of %" PRIu64 " bytes, expected %" PRIu64,
                          what,
                          entry,
                          expected_entry);
    }
    if (count > limit) {
        return facet_fail(r->err,
                          FACET_ERR_LIMIT,
                          0,
                          "ELF header: %" PRIu64 " %s headers, at most %" PRIu64 " are read",
                          count,
                          what,
                          limit);
    }
    if (!inside(r, offset, count * entry)) {
        return facet_fail(r->err,
                          FACET_ERR_INPUT,
                          offset,
                          "offset %" PRIu64 ": %" PRIu64
                          " %s headers reach beyond the end of the file (%zu bytes)",
                          offset,
                          count,
                          what,
                          r->size);
    }
    return FACET_OK;
}

static enum facet_status read_header(struct reader *r)
{
    unsigned header = r->wide ? 64 : 52, tail = r->wide ? 54 : 42, type;
    enum facet_status status;
    const uint8_t *p = r->data;

    if (r->size < header) {
        return facet_fail(r->err,
                          FACET_ERR_INPUT,
                          r->size,
                          "offset %zu: the file ends inside the ELF header (%u bytes)",
                          r->size,
                          header);
    }
    type = (unsigned)get(p + 16, 2);
    if (type != ET_EXEC && type != ET_DYN && type != ET_REL) {
        return facet_fail(r->err,
                          FACET_ERR_INPUT,
                          16,
                          "offset 16: file type %u, expected 2 (executable), 3 or 1",
                          type);
    }
    r->object->relocatable = type == ET_REL;
    r->object->entry = get(p + 24, r->wide ? 8 : 4);
    r->segment_headers = r->wide ? get(p + 32, 8) : get(p + 28, 4);
    r->section_headers = r->wide ? get(p + 40, 8) : get(p + 32, 4);
    r->segment_count = (uint32_t)get(p + tail + 2, 2);
    r->section_count = r->section_headers != 0 ? (uint32_t)get(p + tail + 6, 2) : 0;
    r->names_index = (uint32_t)get(p + tail + 8, 2);
    status = check_table(r,
                         "program",
                         r->segment_headers,
                         r->segment_count,
                         get(p + tail, 2),
                         r->wide ? 56 : 32,
                         MAX_SEGMENTS);
    if (status == FACET_OK) {
        status = check_table(r,
                             "section",
                             r->section_headers,
                             r->section_count,
                             get(p + tail + 4, 2),
                             r->wide ? 64 : 40,
                             MAX_SECTIONS);
    }
    return status;
}

struct header {
    uint64_t at; /* offset of the header itself */
    uint32_t name, type, link;
    uint64_t flags, address, offset, size, align, entry_size;
};

static struct header section_header(const struct reader *r, uint32_t index)
{
    unsigned w = r->wide ? 8 : 4;
    uint64_t at = r->section_headers + (uint64_t)index * (r->wide ? 64 : 40);
    const uint8_t *p = r->data + at;

    return (struct header){.at = at,
                           .name = (uint32_t)get(p, 4),
                           .type = (uint32_t)get(p + 4, 4),
                           .flags = get(p + 8, w),
                           .address = get(p + 8 + w, w),
                           .offset = get(p + 8 + 2 * w, w),
                           .size = get(p + 8 + 3 * w, w),
                           .link = (uint32_t)get(p + 8 + 4 * w, 4),
                           .align = get(p + 16 + 4 * w, w),
                           .entry_size = get(p + 16 + 5 * w, w)};
}

/* One copy of a string table; names point into it, so that many symbols with one long name cost
 * nothing. A table that is missing or outside the file holds only "". */
struct names {
    const char *text;
    uint64_t size; /* with a NUL after the last byte */
};

static enum facet_status read_names(struct reader *r, uint32_t index, struct names *names)
{
    struct header table;

    *names = (struct names){"", 1};
    if (index == SHN_UNDEF || index >= r->section_count) {
        return FACET_OK;
    }
    table = section_header(r, index);
    if (table.type == SHT_STRTAB && inside(r, table.offset, table.size)) {
        names->text = facet_arena_copy(
            &r->object->arena, (const char *)r->data + table.offset, (size_t)table.size);
        names->size = table.size + 1;
    }
    return names->text != NULL ? FACET_OK : no_memory(r);
}

static const char *name_at(const struct names *names, uint32_t offset)
{
    return offset < names->size ? names->text + offset : "";
}

static enum facet_status
copy_bytes(struct reader *r, const char *what, uint64_t offset, uint64_t size, const uint8_t **out)
{
    uint8_t *copy;

    if (!inside(r, offset, size)) {
        return facet_fail(r->err,
                          FACET_ERR_INPUT,
                          offset,
                          "offset %" PRIu64 ": the %" PRIu64
                          " bytes of %.60s reach beyond the end of the file (%zu bytes)",
                          offset,
                          size,
                          what,
                          r->size);
    }
    r->loaded += size;
    if (r->loaded > MAX_LOADED) {
        return facet_fail(
            r->err, FACET_ERR_LIMIT, offset, "the sections hold more than 1 GiB together");
    }
    copy = facet_arena_alloc(&r->object->arena, (size_t)size, 1);
    if (copy == NULL) {
        return no_memory(r);
    }
    if (size != 0) {
        memcpy(copy, r->data + offset, (size_t)size);
    }
    *out = copy;
    return FACET_OK;
}

static bool fits_address_space(const struct reader *r, uint64_t address, uint64_t size)
{
    uint64_t limit = r->wide ? UINT64_MAX : UINT32_MAX;

    return size == 0 || (address <= limit && size - 1 <= limit - address);
}

static enum facet_status beyond(struct reader *r, const char *what, uint64_t at)
{
    return facet_fail(r->err,
                      FACET_ERR_INPUT,
                      at,
                      "offset %" PRIu64 ": %.60s reaches beyond the end of the address space",
                      at,
                      what);
}

static enum facet_status
read_section(struct reader *r, const struct names *names, const struct header *h, uint32_t index)
{
    struct facet_section *s = &r->object->sections[r->object->section_count];
    enum facet_status status;

    *s = (struct facet_section){.name = name_at(names, h->name),
                                .address = h->address,
                                .size = h->size,
                                .align = h->align != 0 ? h->align : 1,
                                .flags = (uint32_t)(h->flags & 7),
                                .nobits = h->type == SHT_NOBITS};
    if ((s->align & (s->align - 1)) != 0) {
        return facet_fail(r->err,
                          FACET_ERR_INPUT,
                          h->at,
                          "offset %" PRIu64 ": section %.60s has alignment %" PRIu64
                          ", expected a power of two",
                          h->at,
                          s->name,
                          s->align);
    }
    if (!fits_address_space(r, s->address, s->size)) {
        return beyond(r, s->name, h->at);
    }
    if (!s->nobits) {
        status = copy_bytes(r, s->name, h->offset, h->size, &s->data);
        if (status != FACET_OK) {
            return status;
        }
    }
    r->index_of[index] = (int32_t)r->object->section_count++;
    return FACET_OK;
}

/* Sections that hold the program or notes of its makers; symbol, string and relocation tables have
 * types of their own and are read elsewhere or not at all. */
static bool wanted(const struct header *h)
{
    return h->type == SHT_PROGBITS || h->type == SHT_NOBITS ||
           ((h->flags & SHF_ALLOC) != 0 &&
            (h->type == SHT_INIT_ARRAY || h->type == SHT_FINI_ARRAY ||
             h->type == SHT_PREINIT_ARRAY || h->type == SHT_NOTE));
}

static enum facet_status read_sections(struct reader *r)
{
    enum facet_status status;
    struct names names;

    r->index_of = facet_arena_alloc(
        &r->object->arena, ((size_t)r->section_count + 1) * sizeof(int32_t), sizeof(int32_t));
    r->object->sections = facet_arena_calloc(
        &r->object->arena, (size_t)r->section_count + 1, sizeof *r->object->sections);
    if (r->index_of == NULL || r->object->sections == NULL) {
        return no_memory(r);
    }
    status = read_names(r, r->names_index, &names);
    for (uint32_t i = 0; i < r->section_count && status == FACET_OK; i++) {
        struct header h = section_header(r, i);

        r->index_of[i] = -1;
        if (wanted(&h)) {
            status = read_section(r, &names, &h, i);
        }
    }
    return status;
}

static uint8_t symbol_type(unsigned type)
{
    switch (type) {
    case STT_OBJECT:
        return FACET_SYMBOL_OBJECT;
    case STT_FUNC:
        return FACET_SYMBOL_FUNC;
    case STT_SECTION:
        return FACET_SYMBOL_SECTION;
    case STT_FILE:
        return FACET_SYMBOL_FILE;
    default:
        return FACET_SYMBOL_NOTYPE;
    }
}

static enum facet_status
read_symbol(struct reader *r, const struct names *names, const uint8_t *p, bool *kept)
{
    struct facet_object_symbol *s = &r->object->symbols[r->object->symbol_count];
    unsigned info = r->wide ? p[4] : p[12];
    uint32_t index = (uint32_t)get(p + (r->wide ? 6 : 14), 2);

    *s = (struct facet_object_symbol){.name = name_at(names, (uint32_t)get(p, 4)),
                                      .value = r->wide ? get(p + 8, 8) : get(p + 4, 4),
                                      .size = r->wide ? get(p + 16, 8) : get(p + 8, 4),
                                      .section = FACET_SYMBOL_UNDEFINED,
                                      .binding = info >> 4 == STB_LOCAL  ? FACET_SYMBOL_LOCAL
                                                 : info >> 4 == STB_WEAK ? FACET_SYMBOL_WEAK
                                                                         : FACET_SYMBOL_GLOBAL,
                                      .type = symbol_type(info & 15)};
    *kept = true;
    if (index == SHN_ABS) {
        s->section = FACET_SYMBOL_ABSOLUTE;
    } else if (index != SHN_UNDEF && index < r->section_count) {
        s->section = r->index_of[index];
        *kept = s->section >= 0; /* a symbol of a section that is not read says nothing */
        if (*kept && r->object->relocatable) {
            s->value += r->object->sections[s->section].address;
        }
    } else if (index != SHN_UNDEF) {
        *kept = false;
    }
    return FACET_OK;
}

static enum facet_status read_symbols(struct reader *r, const struct header *h)
{
    uint64_t entry = r->wide ? 24 : 16, count;
    enum facet_status status;
    struct names names;

    if (h->entry_size != entry || h->size % entry != 0 || !inside(r, h->offset, h->size)) {
        return facet_fail(r->err,
                          FACET_ERR_INPUT,
                          h->at,
                          "offset %" PRIu64 ": the symbol table has %" PRIu64
                          " bytes at offset %" PRIu64 " with entries of %" PRIu64
                          "; expected entries of %" PRIu64 " inside the file (%zu bytes)",
                          h->at,
                          h->size,
                          h->offset,
                          h->entry_size,
                          entry,
                          r->size);
    }
    count = h->size / entry;
    if (count > MAX_SYMBOLS) {
        return facet_fail(r->err,
                          FACET_ERR_LIMIT,
                          h->at,
                          "offset %" PRIu64 ": %" PRIu64 " symbols, at most %" PRIu64 " are read",
                          h->at,
                          count,
                          MAX_SYMBOLS);
    }
    status = read_names(r, h->link, &names);
    if (status != FACET_OK) {
        return status;
    }
    r->object->symbols =
        facet_arena_calloc(&r->object->arena, (size_t)count + 1, sizeof *r->object->symbols);
    if (r->object->symbols == NULL) {
        return no_memory(r);
    }
    for (uint64_t i = 1; i < count; i++) {
        bool kept = false;

        status = read_symbol(r, &names, r->data + h->offset + i * entry, &kept);
        if (status != FACET_OK) {
            return status;
        }
        r->object->symbol_count += kept;
    }
    return FACET_OK;
}

static enum facet_status read_segment(struct reader *r, uint32_t index)
{
    uint64_t at = r->segment_headers + (uint64_t)index * (r->wide ? 56 : 32);
    const uint8_t *p = r->data + at;
    unsigned w = r->wide ? 8 : 4;
    const uint8_t *q = p + w; /* offset, vaddr, paddr, filesz, memsz */
    uint32_t flags = (uint32_t)get(r->wide ? p + 4 : p + 24, 4);
    struct facet_segment *g = &r->object->segments[r->object->segment_count];

    if (get(p, 4) != PT_LOAD) {
        return FACET_OK;
    }
    *g = (struct facet_segment){.address = get(q + w, w),
                                .physical = get(q + 2 * w, w),
                                .file_size = get(q + 3 * w, w),
                                .memory_size = get(q + 4 * w, w),
                                .flags = ((flags & PF_W) != 0 ? FACET_SECTION_WRITE : 0u) |
                                         ((flags & PF_X) != 0 ? FACET_SECTION_EXEC : 0u)};
    if (g->file_size > g->memory_size) {
        return facet_fail(r->err,
                          FACET_ERR_INPUT,
                          at,
                          "offset %" PRIu64 ": segment %u has %" PRIu64
                          " bytes in the file but only %" PRIu64 " in memory",
                          at,
                          index,
                          g->file_size,
                          g->memory_size);
    }
    if (!fits_address_space(r, g->address, g->memory_size) ||
        !fits_address_space(r, g->physical, g->memory_size)) {
        return beyond(r, "a segment", at);
    }
    r->object->segment_count++;
    return copy_bytes(r, "a segment", get(q, w), g->file_size, &g->data);
}

/* A stripped file: what is loaded replaces the sections, the zeros at the end apart. */
static enum facet_status sections_from_segments(struct reader *r)
{
    struct facet_object *o = r->object;

    o->sections = facet_arena_calloc(&o->arena, 2 * o->segment_count + 1, sizeof *o->sections);
    if (o->sections == NULL) {
        return no_memory(r);
    }
    for (size_t i = 0; i < o->segment_count; i++) {
        const struct facet_segment *g = &o->segments[i];
        char name[32];

        for (int zeros = 0; zeros < 2; zeros++) {
            struct facet_section *s = &o->sections[o->section_count];
            uint64_t size = zeros != 0 ? g->memory_size - g->file_size : g->file_size;
            int length = snprintf(name, sizeof name, ".segment%zu%s", i, zeros != 0 ? ".bss" : "");

            if (size == 0) {
                continue;
            }
            *s = (struct facet_section){.name = facet_arena_copy(&o->arena, name, (size_t)length),
                                        .address = g->address + (zeros != 0 ? g->file_size : 0),
                                        .size = size,
                                        .align = 1,
                                        .flags = g->flags | FACET_SECTION_ALLOC,
                                        .nobits = zeros != 0,
                                        .data = zeros != 0 ? NULL : g->data};
            if (s->name == NULL) {
                return no_memory(r);
            }
            o->section_count++;
        }
    }
    return FACET_OK;
}

static int by_address(const void *x, const void *y)
{
    const struct facet_section *l = *(const struct facet_section *const *)x;
    const struct facet_section *r = *(const struct facet_section *const *)y;

    return l->address < r->address ? -1 : l->address > r->address;
}

/* Two sections cannot hold the same byte of memory: what would run, and what a listing shows, would
 * depend on their order. The zeros of a thread (.tbss) are not part of the memory image. */
static enum facet_status check_overlap(struct reader *r)
{
    struct facet_object *o = r->object;
    const struct facet_section **loaded;
    size_t count = 0;

    if (o->relocatable || o->section_count == 0) {
        return FACET_OK;
    }
    loaded = facet_arena_alloc(
        &o->arena, o->section_count * sizeof(struct facet_section *), sizeof(void *));
    if (loaded == NULL) {
        return no_memory(r);
    }
    for (uint32_t i = 0, k = 0; k < o->section_count; i++) {
        bool per_thread = false;

        if (r->section_count != 0) { /* object sections are in the order of the headers */
            struct header h = section_header(r, i);

            if (r->index_of[i] < 0) {
                continue;
            }
            per_thread = h.type == SHT_NOBITS && (h.flags & SHF_TLS) != 0;
        }
        if ((o->sections[k].flags & FACET_SECTION_ALLOC) != 0 && o->sections[k].size != 0 &&
            !per_thread) {
            loaded[count++] = &o->sections[k];
        }
        k++;
    }
    qsort(loaded, count, sizeof(struct facet_section *), by_address);
    for (size_t i = 1; i < count; i++) {
        const struct facet_section *s = loaded[i - 1], *next = loaded[i];

        if (next->address - s->address < s->size) {
            return facet_fail(r->err,
                              FACET_ERR_INPUT,
                              0,
                              "section %.60s at 0x%" PRIx64 " overlaps section %.60s at 0x%" PRIx64
                              "..0x%" PRIx64,
                              next->name,
                              next->address,
                              s->name,
                              s->address,
                              s->address + (s->size - 1));
        }
    }
    return FACET_OK;
}

static enum facet_status read_all(struct reader *r)
{
    enum facet_status status = read_header(r);

    if (status != FACET_OK) {
        return status;
    }
    r->object->segments = facet_arena_calloc(
        &r->object->arena, (size_t)r->segment_count + 1, sizeof *r->object->segments);
    if (r->object->segments == NULL) {
        return no_memory(r);
    }
    for (uint32_t i = 0; i < r->segment_count && status == FACET_OK; i++) {
        status = read_segment(r, i);
    }
    if (status != FACET_OK) {
        return status;
    }
    if (r->section_count == 0) {
        status = sections_from_segments(r);
        return status == FACET_OK ? check_overlap(r) : status;
    }
    status = read_sections(r);
    if (status == FACET_OK) {
        status = check_overlap(r);
    }
    for (uint32_t i = 0; i < r->section_count && status == FACET_OK; i++) {
        struct header h = section_header(r, i);

        if (h.type == SHT_SYMTAB) {
            return read_symbols(r, &h);
        }
    }
    return status;
}

enum facet_status
facet_elf_read(const uint8_t *data, size_t size, struct facet_object **out, struct facet_error *err)
{
    struct reader r = {.data = data, .size = size, .err = err};
    enum facet_isa isa = FACET_ISA_XPHMG;
    enum facet_status status = read_identity(&r, &isa);

    *out = NULL;
    if (status != FACET_OK) {
        return status;
    }
    r.object = facet_object_new(isa);
    if (r.object == NULL) {
        return no_memory(&r);
    }
    status = read_all(&r);
    if (status != FACET_OK) {
        facet_object_free(r.object);
        return status;
    }
    *out = r.object;
    return FACET_OK;
}
