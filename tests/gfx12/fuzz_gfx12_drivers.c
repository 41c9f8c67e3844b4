/* Headers of drivers, captures, and files of any kind: whatever the bytes are, what is read from
 * them lies in them, and the rules about headers can be asked. The first byte chooses the driver.
 */
#include "base/bits.h"
#include "fuzz/fuzz.h"
#include "gfx12/drivers/capture.h"
#include "gfx12/drivers/headers.h"
#include "gfx12/drivers/hiprt.h"
#include "gfx12/drivers/inactive.h"
#include "gfx12/drivers/radv_capture.h"
#include "gfx12/drivers/rules.h"
#include "gfx12/drivers/sniff.h"

#include <stdlib.h>
#include <string.h>

static void count(void *context, unsigned rule, uint64_t offset, const char *text)
{
    const struct facet_gfx12_view *view = context;

    fuzz_require(rule >= FACET_GFX12_HEADER_RULE_FIRST && rule <= 39);
    fuzz_require(offset <= view->size && text[0] != 0);
}

/* Two pieces of the same bytes, so that pointers between structures lead somewhere. */
static void check_rules(const struct facet_gfx12_structure *s, const uint8_t *bytes, size_t size)
{
    const size_t room = (size + 63) / 64 * 64;
    const uint64_t first = 0x10000, second = first + room + 0x1000;
    const struct facet_gfx12_segment segments[2] = {
        {.address = first, .offset = 0, .size = size},
        {.address = second, .offset = room, .size = size},
    };
    struct facet_gfx12_piece pieces[8] = {{*s, 0, size, first}, {*s, room, size, second}};
    uint32_t found;
    uint8_t *copy = calloc(2, 2 * room + 1), *original = copy + 2 * room + 1;
    struct facet_gfx12_view view = {.bytes = copy,
                                    .size = room + size,
                                    .base = first + s->base,
                                    .root = s->root,
                                    .segments = segments,
                                    .segment_count = 2};
    struct facet_gfx12_walk walk;

    if (copy == NULL) {
        return;
    }
    memcpy(copy, bytes, size);
    memcpy(copy + room, bytes, size);
    memcpy(original, copy, room + size);
    (void)facet_gfx12_hiprt_stop(copy, pieces, 2, NULL);
    facet_gfx12_hiprt_translate(copy, pieces, 2);
    if (pieces[0].structure.driver == FACET_GFX12_DRIVER_GPURT) {
        facet_gfx12_radv_capture_translate(copy, &pieces[0]);
    }
    facet_gfx12_inactive_clear(copy, pieces, 2);
    if (facet_gfx12_walk(&view, &walk, NULL) == FACET_OK) {
        found = facet_gfx12_pieces_follow(&view, &walk, pieces, 2, 8);
        for (uint32_t i = 0; i < found; i++) {
            fuzz_require(pieces[i].at + pieces[i].bytes <= view.size);
            fuzz_require(i == 0 || pieces[i - 1].at + pieces[i - 1].bytes <= pieces[i].at);
        }
        (void)facet_gfx12_headers_check(&view, &walk, pieces, found, count, &view, NULL);
        facet_gfx12_headers_refit(&walk, pieces, found, original, copy);
        facet_gfx12_walk_free(&walk);
    }
    if (facet_gfx12_hiprt_can_update(pieces, 2, original, NULL) == FACET_OK &&
        s->driver == FACET_GFX12_DRIVER_HIPRT) {
        (void)facet_gfx12_hiprt_restore(copy, original, pieces, 2, NULL);
    }
    free(copy);
}

/* Compressed chunks hold what lies in the file, again and again. */
static enum facet_status inflate(const uint8_t *file,
                                 struct facet_gfx12_capture_part *parts,
                                 uint32_t count,
                                 struct facet_error *err)
{
    for (uint32_t i = 0; i < count; i++) {
        struct facet_gfx12_capture_part *p = &parts[i];
        const uint64_t full = p->chunk.full_bytes, stored = p->chunk.data_bytes;

        if (!p->chunk.compressed) {
            continue;
        }
        p->own = full <= 1 << 20 && stored != 0 ? malloc((size_t)full + 1) : NULL;
        if (p->own == NULL) {
            return facet_fail(err, FACET_ERR_INPUT, p->chunk.data, "too large for this test");
        }
        for (uint64_t at = 0; at < full; at++) {
            p->own[at] = file[p->chunk.data + at % stored];
        }
        p->data = p->own;
    }
    return FACET_OK;
}

/* All structures in turn. */
static void walk_structures(struct facet_gfx12_capture *c)
{
    struct facet_gfx12_view view = {.bytes = c->bytes,
                                    .size = c->size,
                                    .segments = c->segments,
                                    .segment_count = c->structures.count};
    struct facet_gfx12_check_options options = {.tolerance = FACET_GFX12_TOLERANCE};
    struct facet_gfx12_check check;

    for (uint32_t i = 0; i < c->structures.count; i++) {
        facet_gfx12_structures_start(&c->structures, i, &view);
        facet_gfx12_structures_options(&c->structures, &options);
        if (facet_gfx12_check(&view, &options, &check, NULL) == FACET_OK) {
            (void)facet_gfx12_structures_check(&c->structures, &view, &options, &check, NULL);
            facet_gfx12_check_free(&check);
        }
    }
}

static void read_capture(const uint8_t *bytes, size_t size)
{
    struct facet_gfx12_capture capture;
    struct facet_error err = {0};

    if (facet_gfx12_capture_open(bytes, size, inflate, &capture, &err) != FACET_OK) {
        fuzz_require(err.message[0] != 0 && capture.bytes == NULL);
        return;
    }
    for (uint32_t i = 0; i < capture.structures.count; i++) {
        fuzz_require(capture.segments[i].offset + capture.segments[i].size <= capture.size);
        fuzz_require(capture.structures.list[i].piece < capture.structures.count);
    }
    walk_structures(&capture);
    facet_gfx12_capture_free(&capture);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char reason[FACET_GFX12_REASON];
    struct facet_gfx12_structure s;
    enum facet_gfx12_driver driver;

    if (size < 1) {
        return 0;
    }
    driver = (enum facet_gfx12_driver)(data[0] % FACET_GFX12_DRIVERS);
    data++;
    size--;
    (void)facet_gfx12_looks_like(driver == FACET_GFX12_DRIVER_NONE ? "x.stl" : "x", data, size);
    read_capture(data, size);
    (void)facet_gfx12_header_find(data, size, &s, reason);
    if (facet_gfx12_header_read(driver, data, size, &s, reason) >= FACET_GFX12_HEADER_MAYBE) {
        fuzz_require(s.header + s.header_bytes <= size && s.base <= size);
        for (unsigned i = 0; i < s.field_count; i++) {
            fuzz_require(s.fields[i].offset + s.fields[i].bytes <= s.header_bytes);
        }
        check_rules(&s, data, size);
    }
    return 0;
}
