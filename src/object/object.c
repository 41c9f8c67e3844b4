/* See object.h. */
#include "object/object.h"

#include "base/bits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A flat image larger than this is a mistake in the addresses, not a program. */
#define FLAT_LIMIT ((uint64_t)256 << 20)

struct facet_object *facet_object_new(enum facet_isa isa)
{
    struct facet_object *object = calloc(1, sizeof *object);

    if (object != NULL) {
        object->isa = isa;
        facet_arena_init(&object->arena);
    }
    return object;
}

void facet_object_free(struct facet_object *object)
{
    if (object != NULL) {
        facet_arena_free(&object->arena);
        free(object);
    }
}

uint64_t facet_object_default_base(enum facet_isa isa)
{
    (void)isa; /* DRAM of the hart and VRAM of the tile machine both start here */
    return UINT64_C(0x80000000);
}

static bool holds_bytes(const struct facet_section *s)
{
    return (s->flags & FACET_SECTION_ALLOC) != 0 && !s->nobits && s->size != 0;
}

static bool joins(const struct facet_segment *segment, const struct facet_section *section)
{
    uint64_t end = segment->address + segment->memory_size;
    bool zeros_between = segment->memory_size > segment->file_size && !section->nobits;

    /* Only the gap that the alignment asks for: more would put made-up bytes into the file. */
    return segment->flags == (section->flags & ~(uint32_t)FACET_SECTION_ALLOC) && !zeros_between &&
           section->address >= end && section->address - end < section->align &&
           section->align <= 4096;
}

static bool fill_segment(struct facet_object *object, struct facet_segment *segment)
{
    uint8_t *data = facet_arena_calloc(&object->arena, (size_t)segment->file_size, 1);

    if (data == NULL) {
        return false;
    }
    for (size_t i = 0; i < object->section_count; i++) {
        const struct facet_section *s = &object->sections[i];
        uint64_t offset = s->address - segment->address;

        if (holds_bytes(s) && s->address >= segment->address && offset < segment->file_size) {
            memcpy(data + offset, s->data, (size_t)s->size);
        }
    }
    segment->data = data;
    return true;
}

enum facet_status facet_object_make_segments(struct facet_object *object, struct facet_error *err)
{
    struct facet_segment *segment = NULL;

    object->segment_count = 0;
    object->segments =
        facet_arena_calloc(&object->arena, object->section_count + 1, sizeof *object->segments);
    if (object->segments == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    for (size_t i = 0; i < object->section_count; i++) {
        const struct facet_section *s = &object->sections[i];

        if ((s->flags & FACET_SECTION_ALLOC) == 0 || s->size == 0) {
            continue;
        }
        FACET_REQUIRE(segment == NULL || s->address >= segment->address + segment->memory_size);
        FACET_REQUIRE(facet_is_power_of_two(s->align));
        if (segment == NULL || !joins(segment, s)) {
            segment = &object->segments[object->segment_count++];
            segment->address = segment->physical = s->address;
            segment->flags = s->flags & ~(uint32_t)FACET_SECTION_ALLOC;
        }
        segment->memory_size = s->address + s->size - segment->address;
        if (!s->nobits) {
            segment->file_size = segment->memory_size;
        }
    }
    for (size_t i = 0; i < object->segment_count; i++) {
        if (!fill_segment(object, &object->segments[i])) {
            return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
        }
    }
    return FACET_OK;
}

enum facet_status facet_object_flatten(const struct facet_object *object,
                                       uint8_t **data,
                                       size_t *size,
                                       uint64_t *base,
                                       struct facet_error *err)
{
    uint64_t lowest = UINT64_MAX, last = 0;

    *data = NULL;
    *size = 0;
    *base = 0;
    for (size_t i = 0; i < object->section_count; i++) {
        const struct facet_section *s = &object->sections[i];

        if (holds_bytes(s)) {
            lowest = s->address < lowest ? s->address : lowest;
            last = s->address + (s->size - 1) > last ? s->address + (s->size - 1) : last;
        }
    }
    if (lowest > last) {
        lowest = last = 0;
    } else if (last - lowest >= FLAT_LIMIT) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          lowest,
                          "a flat image from 0x%" PRIx64 " to 0x%" PRIx64
                          " would be larger than %" PRIu64 " MiB; write an ELF file instead",
                          lowest,
                          last,
                          FLAT_LIMIT >> 20);
    } else {
        *size = (size_t)(last - lowest) + 1;
    }
    *data = calloc(*size + 1, 1);
    if (*data == NULL) {
        *size = 0;
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    *base = lowest;
    for (size_t i = 0; i < object->section_count; i++) {
        const struct facet_section *s = &object->sections[i];

        if (holds_bytes(s)) {
            memcpy(*data + (s->address - lowest), s->data, (size_t)s->size);
        }
    }
    return FACET_OK;
}

enum facet_status facet_object_from_bytes(enum facet_isa isa,
                                          const uint8_t *data,
                                          size_t size,
                                          uint64_t base,
                                          struct facet_object **out,
                                          struct facet_error *err)
{
    uint64_t limit = isa == FACET_ISA_TILE ? UINT32_MAX : UINT64_MAX;
    struct facet_object *object;
    uint8_t *copy;

    *out = NULL;
    if (base > limit || (size != 0 && size - 1 > limit - base)) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          base,
                          "%zu bytes at 0x%" PRIx64 " reach beyond the end of the address space",
                          size,
                          base);
    }
    object = facet_object_new(isa);
    if (object == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    object->sections = facet_arena_calloc(&object->arena, 1, sizeof *object->sections);
    copy = facet_arena_alloc(&object->arena, size, 1);
    if (object->sections == NULL || copy == NULL) {
        facet_object_free(object);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    if (size != 0) {
        memcpy(copy, data, size);
    }
    object->entry = base;
    object->section_count = 1;
    object->sections[0] = (struct facet_section){.name = ".text",
                                                 .address = base,
                                                 .size = size,
                                                 .align = 1,
                                                 .flags = FACET_SECTION_ALLOC | FACET_SECTION_EXEC,
                                                 .data = copy};
    if (facet_object_make_segments(object, err) != FACET_OK) {
        facet_object_free(object);
        return FACET_ERR_MEMORY;
    }
    *out = object;
    return FACET_OK;
}
