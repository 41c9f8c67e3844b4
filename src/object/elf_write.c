/* Writing ELF files; see elf.h. One code path serves both classes: headers are gathered as numbers
 * and put down field by field with the class's field widths. */
#include "base/array.h"
#include "object/elf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

struct writer {
    uint8_t *data;
    size_t size;
    size_t capacity;
    bool wide; /* ELF64 */
    bool failed;
};

static void put(struct writer *w, uint64_t value, unsigned bytes)
{
    if (w->failed || !facet_array_fit(&w->data, &w->capacity, w->size + bytes, 1)) {
        w->failed = true;
        return;
    }
    for (unsigned i = 0; i < bytes; i++) {
        w->data[w->size++] = (uint8_t)(value >> (8 * i));
    }
}

/* An address, offset or size in the width of the class. */
static void put_word(struct writer *w, uint64_t value)
{
    put(w, value, w->wide ? 8 : 4);
}

static void put_bytes(struct writer *w, const void *bytes, size_t size)
{
    if (w->failed || size == 0) {
        return;
    }
    if (!facet_array_fit(&w->data, &w->capacity, w->size + size, 1)) {
        w->failed = true;
        return;
    }
    memcpy(w->data + w->size, bytes, size);
    w->size += size;
}

static void pad_to(struct writer *w, uint64_t offset)
{
    while (!w->failed && w->size < offset) {
        put(w, 0, 1);
    }
}

static uint64_t round_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) & ~(align - 1);
}

/* The first offset at or after `from` that agrees with the address modulo `align`. */
static uint64_t congruent(uint64_t from, uint64_t address, uint64_t align)
{
    return from + ((address - from) & (align - 1));
}

/* Alignment in the file: what the sections ask for, never more than a page. */
static uint64_t file_align(uint64_t align)
{
    return align < 4 ? 4 : align > 4096 ? 4096 : align;
}

static uint64_t segment_align(const struct facet_object *object,
                              const struct facet_segment *segment)
{
    uint64_t align = 4;

    for (size_t i = 0; i < object->section_count; i++) {
        const struct facet_section *s = &object->sections[i];

        if ((s->flags & FACET_SECTION_ALLOC) != 0 && s->size != 0 &&
            s->address - segment->address < segment->memory_size && s->align > align) {
            align = file_align(s->align);
        }
    }
    return align;
}

struct layout {
    uint64_t *segment_offset;
    uint64_t *segment_align;
    uint64_t *section_offset;
    uint64_t symbols, names, section_names, headers; /* offsets */
    size_t locals;                                   /* symbols before the first global one */
};

/* File offsets: segments in order, then sections that are not loaded. */
static bool lay_out(struct facet_object *object, struct layout *l, uint64_t at)
{
    size_t segments = object->segment_count, sections = object->section_count;

    l->segment_offset = facet_arena_calloc(&object->arena, segments + 1, sizeof(uint64_t));
    l->segment_align = facet_arena_calloc(&object->arena, segments + 1, sizeof(uint64_t));
    l->section_offset = facet_arena_calloc(&object->arena, sections + 1, sizeof(uint64_t));
    if (l->segment_offset == NULL || l->segment_align == NULL || l->section_offset == NULL) {
        return false;
    }
    for (size_t i = 0; i < segments; i++) {
        const struct facet_segment *g = &object->segments[i];

        l->segment_align[i] = segment_align(object, g);
        l->segment_offset[i] = at = congruent(at, g->address, l->segment_align[i]);
        at += g->file_size;
    }
    for (size_t i = 0; i < sections; i++) {
        const struct facet_section *s = &object->sections[i];

        l->section_offset[i] = at;
        if ((s->flags & FACET_SECTION_ALLOC) == 0) {
            l->section_offset[i] = at = round_up(at, file_align(s->align));
            at += s->nobits ? 0 : s->size;
            continue;
        }
        for (size_t k = 0; k < segments; k++) {
            const struct facet_segment *g = &object->segments[k];
            uint64_t offset = s->address - g->address;

            if (s->size != 0 && offset < g->memory_size) {
                offset = offset < g->file_size ? offset : g->file_size;
                l->section_offset[i] = l->segment_offset[k] + offset;
            }
        }
    }
    l->symbols = round_up(at, 8);
    return true;
}

static void put_header(struct writer *w, const struct facet_object *object, const struct layout *l)
{
    uint16_t machine = w->wide ? EM_RISCV : FACET_EM_TILE;
    uint32_t flags = w->wide ? EF_RISCV_RVC | EF_RISCV_FLOAT_ABI_DOUBLE : 0;
    size_t sections = object->section_count + 4; /* null, .symtab, .strtab, .shstrtab */

    put_bytes(w, ELFMAG, SELFMAG);
    put(w, w->wide ? ELFCLASS64 : ELFCLASS32, 1);
    put(w, ELFDATA2LSB, 1);
    put(w, EV_CURRENT, 1);
    pad_to(w, EI_NIDENT);
    put(w, ET_EXEC, 2);
    put(w, machine, 2);
    put(w, EV_CURRENT, 4);
    put_word(w, object->entry);
    put_word(w, object->segment_count != 0 ? (w->wide ? 64 : 52) : 0);
    put_word(w, l->headers);
    put(w, flags, 4);
    put(w, w->wide ? 64 : 52, 2);
    put(w, w->wide ? 56 : 32, 2);
    put(w, object->segment_count, 2);
    put(w, w->wide ? 64 : 40, 2);
    put(w, sections, 2);
    put(w, sections - 1, 2);
}

static void
put_segments(struct writer *w, const struct facet_object *object, const struct layout *l)
{
    for (size_t i = 0; i < object->segment_count; i++) {
        const struct facet_segment *g = &object->segments[i];
        uint32_t flags = PF_R | ((g->flags & FACET_SECTION_WRITE) != 0 ? PF_W : 0) |
                         ((g->flags & FACET_SECTION_EXEC) != 0 ? PF_X : 0);

        put(w, PT_LOAD, 4);
        if (w->wide) {
            put(w, flags, 4);
        }
        put_word(w, l->segment_offset[i]);
        put_word(w, g->address);
        put_word(w, g->address);
        put_word(w, g->file_size);
        put_word(w, g->memory_size);
        if (!w->wide) {
            put(w, flags, 4);
        }
        put_word(w, l->segment_align[i]);
    }
}

static void
put_contents(struct writer *w, const struct facet_object *object, const struct layout *l)
{
    for (size_t i = 0; i < object->segment_count; i++) {
        pad_to(w, l->segment_offset[i]);
        put_bytes(w, object->segments[i].data, (size_t)object->segments[i].file_size);
    }
    for (size_t i = 0; i < object->section_count; i++) {
        const struct facet_section *s = &object->sections[i];

        if ((s->flags & FACET_SECTION_ALLOC) == 0 && !s->nobits) {
            pad_to(w, l->section_offset[i]);
            put_bytes(w, s->data, (size_t)s->size);
        }
    }
}

static unsigned elf_type(uint8_t type)
{
    static const unsigned char types[] = {STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_SECTION, STT_FILE};

    return type < sizeof types ? types[type] : STT_NOTYPE;
}

static unsigned elf_binding(uint8_t binding)
{
    return binding == FACET_SYMBOL_GLOBAL ? STB_GLOBAL
           : binding == FACET_SYMBOL_WEAK ? STB_WEAK
                                          : STB_LOCAL;
}

static void put_symbol(struct writer *w, const struct facet_object_symbol *s, uint32_t name)
{
    unsigned info = s != NULL ? elf_binding(s->binding) << 4 | elf_type(s->type) : 0;
    unsigned index = s == NULL || s->section == FACET_SYMBOL_UNDEFINED ? SHN_UNDEF
                     : s->section == FACET_SYMBOL_ABSOLUTE             ? SHN_ABS
                                                                       : (unsigned)s->section + 1;

    put(w, name, 4);
    if (w->wide) {
        put(w, info, 1);
        put(w, STV_DEFAULT, 1);
        put(w, index, 2);
    }
    put_word(w, s != NULL ? s->value : 0);
    put_word(w, s != NULL ? s->size : 0);
    if (!w->wide) {
        put(w, info, 1);
        put(w, STV_DEFAULT, 1);
        put(w, index, 2);
    }
}

/* ELF requires local symbols first; `locals` picks which half to write. Names are laid out in the
 * same order, so the offset of each follows from the ones before. */
static void put_symbols(struct writer *w, const struct facet_object *object, struct layout *l)
{
    uint32_t name = 1;

    pad_to(w, l->symbols);
    put_symbol(w, NULL, 0);
    l->locals = 1;
    for (int half = 0; half < 2; half++) {
        for (size_t i = 0; i < object->symbol_count; i++) {
            const struct facet_object_symbol *s = &object->symbols[i];

            if ((s->binding != FACET_SYMBOL_LOCAL) == (half == 1)) {
                put_symbol(w, s, name);
                name += (uint32_t)strlen(s->name) + 1;
                l->locals += half == 0;
            }
        }
    }
    l->names = w->size;
    put(w, 0, 1);
    for (int half = 0; half < 2; half++) {
        for (size_t i = 0; i < object->symbol_count; i++) {
            const struct facet_object_symbol *s = &object->symbols[i];

            if ((s->binding != FACET_SYMBOL_LOCAL) == (half == 1)) {
                put_bytes(w, s->name, strlen(s->name) + 1);
            }
        }
    }
}

struct section_header {
    uint32_t name, type;
    uint64_t flags, address, offset, size;
    uint32_t link, info;
    uint64_t align, entry_size;
};

static void put_section_header(struct writer *w, const struct section_header *h)
{
    put(w, h->name, 4);
    put(w, h->type, 4);
    put_word(w, h->flags);
    put_word(w, h->address);
    put_word(w, h->offset);
    put_word(w, h->size);
    put(w, h->link, 4);
    put(w, h->info, 4);
    put_word(w, h->align);
    put_word(w, h->entry_size);
}

static void
put_section_headers(struct writer *w, const struct facet_object *object, struct layout *l)
{
    static const char tail[] = ".symtab\0.strtab\0.shstrtab";
    uint32_t count = (uint32_t)object->section_count, name = 1;
    uint64_t names_end;

    l->section_names = w->size;
    put(w, 0, 1);
    for (size_t i = 0; i < object->section_count; i++) {
        put_bytes(w, object->sections[i].name, strlen(object->sections[i].name) + 1);
    }
    put_bytes(w, tail, sizeof tail);
    names_end = w->size;
    l->headers = round_up(w->size, 8);
    pad_to(w, l->headers);

    put_section_header(w, &(struct section_header){0});
    for (size_t i = 0; i < object->section_count; i++) {
        const struct facet_section *s = &object->sections[i];

        put_section_header(w,
                           &(struct section_header){.name = name,
                                                    .type = s->nobits ? SHT_NOBITS : SHT_PROGBITS,
                                                    .flags = s->flags,
                                                    .address = s->address,
                                                    .offset = l->section_offset[i],
                                                    .size = s->size,
                                                    .align = s->align});
        name += (uint32_t)strlen(s->name) + 1;
    }
    put_section_header(w,
                       &(struct section_header){.name = name,
                                                .type = SHT_SYMTAB,
                                                .offset = l->symbols,
                                                .size = l->names - l->symbols,
                                                .link = count + 2,
                                                .info = (uint32_t)l->locals,
                                                .align = 8,
                                                .entry_size = w->wide ? 24 : 16});
    put_section_header(w,
                       &(struct section_header){.name = name + 8,
                                                .type = SHT_STRTAB,
                                                .offset = l->names,
                                                .size = l->section_names - l->names,
                                                .align = 1});
    put_section_header(w,
                       &(struct section_header){.name = name + 16,
                                                .type = SHT_STRTAB,
                                                .offset = l->section_names,
                                                .size = names_end - l->section_names,
                                                .align = 1});
}

void facet_elf_as_riscv(uint8_t *data, size_t size)
{
    enum { MACHINE_AT = 18 };

    if (size > MACHINE_AT + 1) {
        data[MACHINE_AT] = EM_RISCV & 0xFF;
        data[MACHINE_AT + 1] = EM_RISCV >> 8;
    }
}

enum facet_status
facet_elf_write(struct facet_object *object, uint8_t **data, size_t *size, struct facet_error *err)
{
    struct writer w = {.wide = object->isa == FACET_ISA_XPHMG};
    struct layout l = {0};
    uint64_t start;
    size_t total;

    *data = NULL;
    *size = 0;
    if (object->section_count + 4 >= SHN_LORESERVE) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          0,
                          "%zu sections do not fit an ELF file, at most %d do",
                          object->section_count,
                          SHN_LORESERVE - 5);
    }
    if (facet_object_make_segments(object, err) != FACET_OK) {
        return FACET_ERR_MEMORY;
    }
    start = (w.wide ? 64 + 56 * (uint64_t)object->segment_count
                    : 52 + 32 * (uint64_t)object->segment_count);
    if (!lay_out(object, &l, start)) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    pad_to(&w, w.wide ? 64 : 52); /* the header comes last: it names offsets found below */
    put_segments(&w, object, &l);
    put_contents(&w, object, &l);
    put_symbols(&w, object, &l);
    put_section_headers(&w, object, &l);
    total = w.size;
    w.size = 0;
    put_header(&w, object, &l);
    w.size = total;
    if (w.failed) {
        free(w.data);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    *data = w.data;
    *size = w.size;
    return FACET_OK;
}
