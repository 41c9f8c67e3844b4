/* See object.h: several programs as one, for who looks at all of them at once. */
#include "object/lines.h"

#include <stdlib.h>
#include <string.h>

static bool is_kept(const struct facet_section *section)
{
    return (section->flags & FACET_SECTION_ALLOC) != 0 && section->size != 0;
}

static const char *copy_text(struct facet_object *object, const char *text)
{
    return facet_arena_copy(&object->arena, text, strlen(text));
}

/* Where a section of the part at `base` of the order went to, -1 when it was left out. */
struct place {
    const struct facet_section *from;
    size_t part, index; /* whose it is */
    int32_t to;
};

static int by_address(const void *a, const void *b)
{
    const struct place *left = a, *right = b;

    if (left->from->address != right->from->address) {
        return left->from->address < right->from->address ? -1 : 1;
    }
    return left->part != right->part ? (left->part < right->part ? -1 : 1)
                                     : (left->index < right->index ? -1 : 1);
}

static size_t list_sections(struct facet_object *const *parts, size_t count, struct place *places)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < parts[i]->section_count; k++) {
            if (is_kept(&parts[i]->sections[k])) {
                places[n++] = (struct place){.from = &parts[i]->sections[k], .part = i, .index = k};
            }
        }
    }
    qsort(places, n, sizeof *places, by_address);
    for (size_t i = 0; i < n; i++) {
        places[i].to = (int32_t)i;
    }
    return n;
}

static const struct place *
place_of(const struct place *places, size_t count, size_t part, int64_t index)
{
    for (size_t i = 0; i < count; i++) {
        if (places[i].part == part && (int64_t)places[i].index == index) {
            return &places[i];
        }
    }
    return NULL;
}

static bool copy_sections(struct facet_object *object, const struct place *places, size_t count)
{
    object->sections = facet_arena_calloc(&object->arena, count + 1, sizeof *object->sections);
    for (size_t i = 0; object->sections != NULL && i < count; i++) {
        struct facet_section *to = &object->sections[object->section_count++];
        uint8_t *data = NULL;

        *to = *places[i].from;
        to->name = copy_text(object, to->name);
        if (!to->nobits) {
            data = facet_arena_alloc(&object->arena, (size_t)to->size + 1, 1);
            if (data != NULL) {
                memcpy(data, to->data, (size_t)to->size);
            }
        }
        to->data = data;
        if (to->name == NULL || (data == NULL && !to->nobits)) {
            return false;
        }
    }
    return object->sections != NULL;
}

static bool copy_symbols(struct facet_object *object,
                         struct facet_object *const *parts,
                         size_t count,
                         const struct place *places,
                         size_t place_count)
{
    size_t most = 0;

    for (size_t i = 0; i < count; i++) {
        most += parts[i]->symbol_count;
    }
    object->symbols = facet_arena_calloc(&object->arena, most + 1, sizeof *object->symbols);
    for (size_t i = 0; object->symbols != NULL && i < count; i++) {
        for (size_t k = 0; k < parts[i]->symbol_count; k++) {
            const struct facet_object_symbol *from = &parts[i]->symbols[k];
            const struct place *home = place_of(places, place_count, i, from->section);
            struct facet_object_symbol *to = &object->symbols[object->symbol_count];

            if (home != NULL) {
                *to = *from;
                to->section = home->to;
                to->name = copy_text(object, from->name);
                if (to->name == NULL) {
                    return false;
                }
                object->symbol_count++;
            }
        }
    }
    return object->symbols != NULL;
}

/* The rows of a part as marks in the sections of the whole. */
static enum facet_status add_marks(struct facet_object *object,
                                   struct facet_object *part,
                                   struct facet_line_mark **marks,
                                   size_t *count,
                                   struct facet_error *err)
{
    struct facet_lines lines;
    struct facet_line_mark *more;

    if (facet_lines_read(part, &lines, err) == FACET_ERR_MEMORY) {
        return FACET_ERR_MEMORY;
    }
    more = realloc(*marks, (*count + lines.count + 1) * sizeof *more);
    if (more == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for source lines");
    }
    *marks = more;
    for (size_t i = 0; i < lines.count; i++) {
        const struct facet_line_row *row = &lines.rows[i];

        for (uint32_t k = 0; row->line != 0 && k < object->section_count; k++) {
            const struct facet_section *section = &object->sections[k];

            if (row->address - section->address < section->size) {
                more[(*count)++] = (struct facet_line_mark){
                    k, row->address - section->address, row->path, row->line};
                break;
            }
        }
    }
    return FACET_OK;
}

enum facet_status facet_object_merge(struct facet_object *const *parts,
                                     size_t count,
                                     struct facet_object **out,
                                     struct facet_error *err)
{
    struct facet_object *object = facet_object_new(count != 0 ? parts[0]->isa : FACET_ISA_TILE);
    struct facet_line_mark *marks = NULL;
    struct place *places;
    size_t most = 0, n, mark_count = 0;
    enum facet_status status;

    *out = NULL;
    for (size_t i = 0; i < count; i++) {
        most += parts[i]->section_count;
    }
    places = calloc(most + 1, sizeof *places);
    n = places != NULL ? list_sections(parts, count, places) : 0;
    status = object != NULL && places != NULL && copy_sections(object, places, n) &&
                     copy_symbols(object, parts, count, places, n)
                 ? FACET_OK
                 : facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a program");
    for (size_t i = 0; status == FACET_OK && i < count; i++) {
        object->entry = i == 0 ? parts[i]->entry : object->entry;
        status = add_marks(object, parts[i], &marks, &mark_count, err);
    }
    if (status == FACET_OK) {
        status =
            facet_lines_write(object, mark_count != 0 ? marks[0].file : "", marks, mark_count, err);
    }
    free(places);
    free(marks);
    if (status != FACET_OK) {
        facet_object_free(object);
        return status;
    }
    *out = object;
    return FACET_OK;
}
