/* Programs into VRAM and IMEM. Every segment is checked before the first byte is written. */
#include "object/object.h"
#include "tile/core.h"

#include <inttypes.h>

static bool in_memory(const struct facet_tile_machine *m, uint64_t address, uint64_t size)
{
    return (address >= FACET_VRAM_BASE && size <= m->vram_size &&
            address - FACET_VRAM_BASE <= m->vram_size - size) ||
           (address >= FACET_TILE_IMEM_BASE && size <= FACET_TILE_IMEM_BYTES &&
            address - FACET_TILE_IMEM_BASE <= FACET_TILE_IMEM_BYTES - size);
}

static enum facet_status check(const struct facet_tile_machine *m,
                               const struct facet_object *object,
                               struct facet_error *err)
{
    if (object->isa != FACET_ISA_TILE) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "not a program of the tile machine");
    }
    if (object->relocatable || object->segment_count == 0) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "nothing to run: no loadable segment");
    }
    for (size_t i = 0; i < object->segment_count; i++) {
        const struct facet_segment *s = &object->segments[i];

        if (s->memory_size != 0 && !in_memory(m, s->physical, s->memory_size)) {
            return facet_fail(err,
                              FACET_ERR_INPUT,
                              s->physical,
                              "segment %zu needs 0x%" PRIx64 "..0x%" PRIx64
                              ", which is neither in VRAM nor in IMEM",
                              i,
                              s->physical,
                              s->physical + s->memory_size);
        }
    }
    if (!in_memory(m, object->entry, 4) || object->entry % 4 != 0) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          object->entry,
                          "entry point 0x%" PRIx64 " is not a word of VRAM or IMEM",
                          object->entry);
    }
    return FACET_OK;
}

static void zero(struct facet_tile_machine *m, uint64_t address, uint64_t size)
{
    static const uint8_t zeros[4096];

    while (size > 0) {
        size_t piece = size < sizeof zeros ? (size_t)size : sizeof zeros;

        (void)facet_mem_poke(m->mem, address, zeros, piece);
        address += piece;
        size -= piece;
    }
}

enum facet_status facet_tile_load(facet_machine *machine,
                                  const struct facet_object *object,
                                  uint32_t *entry,
                                  struct facet_error *err)
{
    struct facet_tile_machine *m = facet_tile_self(machine, err);
    enum facet_status status = m != NULL ? check(m, object, err) : FACET_ERR_USAGE;

    if (status != FACET_OK) {
        return status;
    }
    for (size_t i = 0; i < object->segment_count; i++) {
        const struct facet_segment *s = &object->segments[i];

        if (s->file_size != 0) {
            (void)facet_mem_poke(m->mem, s->physical, s->data, (size_t)s->file_size);
        }
        zero(m, s->physical + s->file_size, s->memory_size - s->file_size);
    }
    facet_tile_code_flush(m);
    if (entry != NULL) {
        *entry = (uint32_t)object->entry;
    }
    return FACET_OK;
}
