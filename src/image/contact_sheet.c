/* See contact_sheet.h. */
#include "image/contact_sheet.h"

#include "image/text.h"

#include <stdio.h>
#include <string.h>

enum { GAP = 12, TITLE = 40, LABEL = 52, NARROW = 300 };

static const uint8_t paper[4] = {24, 26, 30, 255};
static const uint8_t empty[4] = {44, 47, 54, 255};
static const uint8_t bright[4] = {240, 240, 236, 255};
static const uint8_t dim[4] = {168, 172, 180, 255};

/* As much of the text as fits. */
static void line(struct facet_image *to,
                 int64_t x,
                 int64_t y,
                 uint32_t scale,
                 const uint8_t ink[4],
                 uint32_t width,
                 const char *text)
{
    size_t most = width / ((size_t)FACET_TEXT_CELL_WIDTH * scale);
    char cut[160];

    (void)snprintf(cut, sizeof cut, "%.*s", (int)(most < sizeof cut ? most : sizeof cut - 1), text);
    facet_image_text(to, x, y, scale, ink, cut);
}

static void put_entry(struct facet_image *to,
                      const struct facet_sheet_entry *e,
                      int64_t x,
                      int64_t y,
                      uint32_t width,
                      uint32_t height)
{
    uint32_t scale = width >= NARROW ? 2 : 1;

    facet_image_fill(to, x, y, width, height, empty);
    if (e->picture.rgba != NULL) {
        facet_image_blit(to, x, y, &e->picture);
    }
    y += height + 6;
    line(to, x, y, scale, bright, width, e->name);
    line(to, x, y + 24, 1, dim, width, e->counts);
}

static uint32_t columns_of(size_t count)
{
    uint32_t columns = 1;

    while ((size_t)columns * columns < count) {
        columns++;
    }
    return columns;
}

static void sheet_size(size_t count, uint32_t width, uint32_t height, uint64_t size[2])
{
    uint32_t columns = columns_of(count);

    size[0] = (uint64_t)columns * (width + GAP) + GAP;
    size[1] = (count + columns - 1) / columns * ((uint64_t)height + LABEL) + TITLE + GAP;
}

enum facet_status facet_image_contact_sheet_check(size_t count,
                                                  uint32_t width,
                                                  uint32_t height,
                                                  struct facet_error *err)
{
    uint64_t size[2];

    sheet_size(count, width, height, size);
    if (size[0] > FACET_IMAGE_MAX_SIDE || size[1] > FACET_IMAGE_MAX_SIDE) {
        return facet_fail(
            err,
            FACET_ERR_LIMIT,
            0,
            "%zu pictures of %u x %u do not fit on one sheet; choose a smaller --size",
            count,
            width,
            height);
    }
    return FACET_OK;
}

enum facet_status facet_image_contact_sheet(const struct facet_sheet_entry *entries,
                                            size_t count,
                                            uint32_t width,
                                            uint32_t height,
                                            const char *title,
                                            struct facet_image *out,
                                            struct facet_error *err)
{
    uint32_t columns = columns_of(count);
    enum facet_status status = facet_image_contact_sheet_check(count, width, height, err);
    uint64_t size[2];

    *out = (struct facet_image){0};
    sheet_size(count, width, height, size);
    if (status == FACET_OK) {
        status = facet_image_create(out, (uint32_t)size[0], (uint32_t)size[1], err);
    }
    if (status != FACET_OK) {
        return status;
    }
    facet_image_fill(out, 0, 0, out->width, out->height, paper);
    line(out, GAP, GAP, out->width >= 2 * NARROW ? 2 : 1, bright, out->width - 2 * GAP, title);
    for (size_t i = 0; i < count; i++) {
        put_entry(out,
                  &entries[i],
                  (int64_t)(GAP + i % columns * (width + GAP)),
                  (int64_t)(TITLE + i / columns * (height + LABEL)),
                  width,
                  height);
    }
    return FACET_OK;
}
