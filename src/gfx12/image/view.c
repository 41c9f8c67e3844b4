/* See view.h. */
#include "gfx12/image/view.h"

#include "base/bits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool facet_gfx12_address_take(uint64_t value, uint64_t *address)
{
    *address = value & facet_bits_mask(48);
    return value >> 48 == 0 || value >> 47 == 0x1FFFF;
}

/* The last segment that does not start behind `value`, an address or an offset. */
static uint32_t
search(const struct facet_gfx12_segment *segments, uint32_t count, uint64_t value, bool by_address)
{
    uint32_t low = 0;

    while (count > 1) {
        uint32_t half = count / 2;
        const struct facet_gfx12_segment *s = &segments[low + half];

        if ((by_address ? s->address : s->offset) <= value) {
            low += half;
            count -= half;
        } else {
            count = half;
        }
    }
    return low;
}

bool facet_gfx12_segments_offset(const struct facet_gfx12_segment *segments,
                                 uint32_t count,
                                 uint64_t address,
                                 uint64_t bytes,
                                 uint64_t *offset)
{
    const struct facet_gfx12_segment *s = &segments[search(segments, count, address, true)];

    if (address < s->address || s->size < bytes || address - s->address > s->size - bytes) {
        return false;
    }
    *offset = s->offset + (address - s->address);
    return true;
}

bool facet_gfx12_view_offset(const struct facet_gfx12_view *view,
                             uint64_t address,
                             uint64_t bytes,
                             uint64_t *offset)
{
    const uint64_t mask = facet_bits_mask(48); /* addresses wrap */
    uint64_t from_base = (address - view->base) & mask;

    if (view->segment_count != 0) {
        return facet_gfx12_segments_offset(
            view->segments, view->segment_count, address & mask, bytes, offset);
    }
    if (view->size < bytes || from_base > view->size - bytes) {
        return false;
    }
    *offset = from_base;
    return true;
}

struct facet_gfx12_segment facet_gfx12_view_segment(const struct facet_gfx12_view *view,
                                                    uint64_t offset)
{
    if (view->segment_count == 0) {
        return (struct facet_gfx12_segment){.address = view->base, .size = view->size};
    }
    return view->segments[search(view->segments, view->segment_count, offset, false)];
}

uint64_t facet_gfx12_view_address(const struct facet_gfx12_view *view, uint64_t offset)
{
    struct facet_gfx12_segment s = facet_gfx12_view_segment(view, offset);

    return (s.address + (offset - s.offset)) & facet_bits_mask(48);
}

const char *facet_gfx12_view_place(const struct facet_gfx12_view *view,
                                   uint64_t address,
                                   char text[FACET_GFX12_PLACE])
{
    const unsigned long long shown = address & facet_bits_mask(48);
    struct facet_gfx12_segment s;
    const char *name;
    uint64_t offset;
    unsigned long long in_file;

    if (!facet_gfx12_view_offset(view, address, 1, &offset)) {
        snprintf(text, FACET_GFX12_PLACE, "address 0x%llx", shown);
        return text;
    }
    s = facet_gfx12_view_segment(view, offset);
    in_file = s.file_offset + (offset - s.offset);
    if (s.name != NULL) {
        name = strrchr(s.name, '/') != NULL ? strrchr(s.name, '/') + 1 : s.name;
        snprintf(text, FACET_GFX12_PLACE, "%.40s+0x%llx (address 0x%llx)", name, in_file, shown);
    } else if (in_file == shown) {
        snprintf(text, FACET_GFX12_PLACE, "0x%llx", shown);
    } else {
        snprintf(text, FACET_GFX12_PLACE, "0x%llx (address 0x%llx)", in_file, shown);
    }
    return text;
}

enum facet_status facet_gfx12_view_check_root(const struct facet_gfx12_view *view,
                                              struct facet_error *err)
{
    uint64_t offset;

    if (view->root == FACET_GFX12_NO_ROOT ||
        (facet_gfx12_id_kind(view->root) != FACET_GFX12_KIND_NONE &&
         facet_gfx12_view_offset(view,
                                 view->base + facet_gfx12_id_offset(view->root),
                                 FACET_GFX12_NODE_BYTES,
                                 &offset))) {
        return FACET_OK;
    }
    return facet_fail(err,
                      FACET_ERR_INPUT,
                      view->root,
                      "the root 0x%08" PRIx32 " is not a node of the image (%" PRIu64
                      " bytes, base 0x%" PRIx64 ")",
                      view->root,
                      view->size,
                      view->base);
}
