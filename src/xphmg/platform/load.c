/* ELF files into guest memory. The reader (object/elf.h) has checked the file; here every segment
 * is checked against RAM before the first byte is written. Segments go to their physical addresses,
 * as a boot loader would put them. */
#include "object/elf.h"
#include "xphmg/machine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool in_ram(const struct facet_xphmg *m, uint64_t address, uint64_t size)
{
    const struct facet_mem_region *ram = facet_mem_region_named(m->mem, "ram");

    return address >= ram->base && size <= ram->size && address - ram->base <= ram->size - size;
}

static bool overlap(const struct facet_segment *a, const struct facet_segment *b)
{
    uint64_t first = a->physical > b->physical ? a->physical : b->physical;

    return first < a->physical + a->memory_size && first < b->physical + b->memory_size;
}

/* The first segment before `segment` that has a byte in common with it, or `segment`. */
static size_t overlapped(const struct facet_object *object, size_t segment)
{
    size_t i = 0;

    while (i < segment && !overlap(&object->segments[i], &object->segments[segment])) {
        i++;
    }
    return i;
}

static enum facet_status
check(const struct facet_xphmg *m, const struct facet_object *object, struct facet_error *err)
{
    const struct facet_mem_region *ram = facet_mem_region_named(m->mem, "ram");
    const uint64_t align = facet_xphmg_lacks(&m->cap, FACET_EXT_C) ? 4 : 2;

    if (object->isa != FACET_ISA_XPHMG) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "not a RISC-V program");
    }
    if (object->relocatable || object->segment_count == 0) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "nothing to run: expected a linked executable, found %s",
                          object->relocatable ? "an object file" : "no loadable segment");
    }
    for (size_t i = 0; i < object->segment_count; i++) {
        const struct facet_segment *s = &object->segments[i];

        if (s->memory_size != 0 && !in_ram(m, s->physical, s->memory_size)) {
            return facet_fail(err,
                              FACET_ERR_INPUT,
                              s->physical,
                              "segment %zu needs 0x%" PRIx64 "..0x%" PRIx64
                              ", but RAM is 0x%" PRIx64 "..0x%" PRIx64,
                              i,
                              s->physical,
                              s->physical + s->memory_size,
                              ram->base,
                              ram->base + ram->size);
        }
        if (overlapped(object, i) != i) {
            return facet_fail(err,
                              FACET_ERR_INPUT,
                              s->physical,
                              "segments %zu and %zu overlap: the second begins at 0x%" PRIx64,
                              overlapped(object, i),
                              i,
                              s->physical);
        }
    }
    if (!in_ram(m, object->entry, 2) || (object->entry & (align - 1)) != 0) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          object->entry,
                          "entry point 0x%" PRIx64 " is not %s address in RAM",
                          object->entry,
                          align == 2 ? "an even" : "a four-byte aligned");
    }
    return FACET_OK;
}

/* The address of an eight-byte aligned symbol in RAM, 0 when there is none. */
static uint64_t symbol(const struct facet_xphmg *m, const struct facet_object *o, const char *name)
{
    for (size_t i = 0; i < o->symbol_count; i++) {
        const struct facet_object_symbol *s = &o->symbols[i];

        if (s->section != FACET_SYMBOL_UNDEFINED && strcmp(s->name, name) == 0 &&
            (s->value & 7) == 0 && in_ram(m, s->value, 8)) {
            return s->value;
        }
    }
    return 0;
}

static void zero(struct facet_xphmg *m, uint64_t address, uint64_t size)
{
    static const uint8_t zeros[4096];

    while (size > 0) {
        size_t piece = size < sizeof zeros ? (size_t)size : sizeof zeros;
        uint8_t old[sizeof zeros];

        /* Pages that were never written stay unwritten: a huge .bss costs nothing. */
        if (facet_mem_peek(m->mem, address, old, piece).fault == FACET_MEM_OK &&
            memcmp(old, zeros, piece) != 0) {
            (void)facet_mem_poke(m->mem, address, zeros, piece);
        }
        address += piece;
        size -= piece;
    }
}

enum facet_status
facet_xphmg_load_elf(facet_machine *machine, const void *data, size_t size, struct facet_error *err)
{
    struct facet_xphmg *m = facet_machine_self(machine, &facet_xphmg_ops, err);
    struct facet_object *object = NULL;
    enum facet_status status;

    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    status = facet_elf_read(data, size, &object, err);
    if (status == FACET_OK) {
        status = check(m, object, err);
    }
    if (status == FACET_OK) {
        for (size_t i = 0; i < object->segment_count; i++) {
            const struct facet_segment *s = &object->segments[i];

            if (s->file_size != 0) {
                (void)facet_mem_poke(m->mem, s->physical, s->data, (size_t)s->file_size);
            }
            zero(m, s->physical + s->file_size, s->memory_size - s->file_size);
        }
        facet_xphmg_ops.memory_written(m, 0, 0, UINT64_MAX);
        m->entry = m->cap.hart.resets_there ? m->cap.hart.reset_pc : object->entry;
        m->htif.tohost = symbol(m, object, "tohost");
        m->htif.fromhost = symbol(m, object, "fromhost");
        facet_machine_reset(machine);
    }
    facet_object_free(object);
    return status;
}
