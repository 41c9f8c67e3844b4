/* Picture files where there is no decoder: the page decodes them (web/src/engine/pictures.ts), and
 * reads what names them again. */
#include "image/image.h"

#include "base/array.h"
#include "wasm/page.h"

#include <stdlib.h>
#include <string.h>

struct picture {
    uint8_t *file;
    size_t size;
    bool known;
    struct facet_image image; /* once known; empty: the page could not read it, and says why */
    char why[160];
};

static struct facet_array pictures; /* of struct picture */
static bool asked;                  /* somebody decodes them */

int PAGE_EXPORT(page_pictures_clear)(void)
{
    struct picture *p = pictures.items;

    for (size_t i = 0; i < pictures.count; i++) {
        free(p[i].file);
        facet_image_free(&p[i].image);
    }
    free(pictures.items);
    pictures = (struct facet_array){0};
    asked = true;
    return page_done();
}

static struct picture *first_unknown(void)
{
    struct picture *p = pictures.items;

    for (size_t i = 0; i < pictures.count; i++) {
        if (!p[i].known) {
            return &p[i];
        }
    }
    return NULL;
}

/* The file that the page is to decode next: its bytes, none when there is no other. */
int PAGE_EXPORT(page_pictures_next)(void)
{
    const struct picture *p = first_unknown();
    uint8_t *copy;

    if (p == NULL) {
        return page_done();
    }
    copy = malloc(p->size + 1);
    if (copy == NULL) {
        return page_no_memory("a picture");
    }
    memcpy(copy, p->file, p->size);
    return page_give_bytes(copy, p->size);
}

/* What became of it: `why` is empty, or says why it cannot be read. */
int PAGE_EXPORT(page_pictures_decoded)(
    uint32_t width, uint32_t height, const uint8_t *rgba, size_t bytes, const char *why)
{
    struct picture *p = first_unknown();
    struct facet_error err = {0};

    if (p == NULL) {
        (void)facet_fail(&err, FACET_ERR_USAGE, 0, "no picture waits for a decoder");
        return page_fail(&err);
    }
    if (*why != '\0') {
        (void)facet_fail(&err, FACET_ERR_INPUT, 0, "%s", why);
        memcpy(p->why, err.message, sizeof p->why - 1);
    } else if (facet_image_create(&p->image, width, height, &err) != FACET_OK) {
        memcpy(p->why, err.message, sizeof p->why - 1);
    } else if (bytes == 4 * (size_t)width * height) {
        memcpy(p->image.rgba, rgba, bytes);
    }
    p->known = true;
    return page_done();
}

static struct picture *find(const uint8_t *data, size_t size)
{
    struct picture *p = pictures.items;

    for (size_t i = 0; i < pictures.count; i++) {
        if (p[i].size == size && memcmp(p[i].file, data, size) == 0) {
            return &p[i];
        }
    }
    return NULL;
}

static enum facet_status note(const uint8_t *data, size_t size, struct facet_error *err)
{
    struct picture picture = {.file = malloc(size + 1), .size = size};
    struct picture *place = facet_array_add(&pictures, 1, sizeof *place);

    if (picture.file == NULL || place == NULL) {
        pictures.count -= place != NULL;
        free(picture.file);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a picture");
    }
    memcpy(picture.file, data, size);
    *place = picture;
    return FACET_OK;
}

/* A file that is seen for the first time is a single texel: whoever asked will ask again. */
static enum facet_status
decode(const uint8_t *data, size_t size, struct facet_image *out, struct facet_error *err)
{
    const struct picture *p = find(data, size);
    enum facet_status status;

    *out = (struct facet_image){0};
    if (size == 0) { /* the page takes no bytes for no picture */
        return facet_fail(err, FACET_ERR_INPUT, 0, "not a PNG: the file is empty");
    }
    if (p == NULL || !p->known) {
        status = p == NULL ? note(data, size, err) : FACET_OK;
        return status == FACET_OK ? facet_image_create(out, 1, 1, err) : status;
    }
    if (p->image.rgba == NULL) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "%s", p->why);
    }
    status = facet_image_create(out, p->image.width, p->image.height, err);
    if (status == FACET_OK) {
        memcpy(out->rgba, p->image.rgba, 4 * (size_t)out->width * out->height);
    }
    return status;
}

enum facet_status facet_image_png_decode(const uint8_t *data,
                                         size_t size,
                                         struct facet_image *out,
                                         struct facet_error *err)
{
    return decode(data, size, out, err);
}

enum facet_status facet_image_jpeg_decode(const uint8_t *data,
                                          size_t size,
                                          struct facet_image *out,
                                          struct facet_error *err)
{
    return decode(data, size, out, err);
}

enum facet_status facet_image_decode_confined(const uint8_t *data,
                                              size_t size,
                                              struct facet_image *out,
                                              struct facet_error *err)
{
    if (asked) {
        return decode(data, size, out, err);
    }
    *out = (struct facet_image){0};
    return facet_fail(
        err,
        FACET_ERR_INPUT,
        0,
        "there is no decoder of picture files here; expected the texels as \"u32\" or "
        "\"u16\"");
}
