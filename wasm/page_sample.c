/* One sample of a texture with every value on the way: the record of `facet gfx why --json`. */
#include "wasm/page.h"

#include "gfx/explain.h"

#include <facet/gfx.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CELLS = 256 }; /* of a window, each way */

/* What the page asks, in the order of web/src/play/core.ts. */
struct ask {
    uint32_t width, height, pitch, format;
    uint32_t wrap, normalized, bilinear, srgb, raw;
    uint32_t elem, acc, rm;
    uint32_t u, v;      /* elements */
    uint32_t border[4]; /* elements */
};

struct texels {
    const uint8_t *data;
    uint64_t size, address;
    unsigned bytes;
};

static bool load(void *context, uint64_t address, unsigned bytes, uint32_t *word)
{
    struct texels *t = context;

    t->address = address;
    t->bytes = bytes;
    if (address % bytes != 0 || address >= t->size || t->size - address < bytes) {
        return false;
    }
    *word = 0;
    for (unsigned b = 0; b < bytes; b++) {
        *word |= (uint32_t)t->data[address + b] << 8 * b;
    }
    return true;
}

static int usage(const char *what)
{
    struct facet_error err = {0};

    (void)facet_fail(&err, FACET_ERR_USAGE, 0, "%s", what);
    return page_fail(&err);
}

/* {"formats": [{"code", "name", "bytes"}]}: all that a texture can have; bytes of a texel. */
int PAGE_EXPORT(page_sample_formats)(void)
{
    struct facet_record *r = page_begin();

    facet_record_list(r, "formats");
    for (unsigned code = 0; code < 256; code++) {
        struct facet_gfx_texture t = {0};

        if (facet_gfx_format_name(code) != NULL && facet_gfx_texture_set_format(&t, code)) {
            facet_record_open(r, NULL, NULL);
            facet_record_number(r, "code", code);
            facet_record_word(r, "name", facet_gfx_format_name(code));
            facet_record_number(r, "bytes", t.format.bytes * facet_gfx_texel_accesses(&t));
            facet_record_close(r);
        }
    }
    facet_record_close(r);
    return page_end();
}

/* What was asked as a sample; 0 or the status of the failure. */
static int
take(struct facet_gfx_why *why, struct ask *ask, const uint32_t *words, size_t words_size)
{
    if (words_size != sizeof *ask) {
        return usage("the question has another size");
    }
    memcpy(ask, words, sizeof *ask);
    if (ask->width > FACET_GFX_SIZE_MAX || ask->height > FACET_GFX_SIZE_MAX || ask->format > 255 ||
        facet_gfx_format_name(ask->format) == NULL || ask->wrap > FACET_GFX_BORDER) {
        return usage("expected a format of a texture, a wrap, and at most 65536 texels each way");
    }
    if (ask->elem >= FACET_FMT_COUNT || ask->elem == FACET_FMT_FP64 ||
        (ask->acc != FACET_FMT_FP32 && ask->acc != FACET_FMT_FP16) || ask->rm >= FACET_RM_COUNT) {
        return usage("expected elements of the contract, an accumulator FP32 or FP16, a mode");
    }
    why->file = "page";
    why->format_name = facet_gfx_format_name(ask->format);
    (void)facet_gfx_texture_set_format(&why->texture, ask->format);
    why->texture.width = ask->width;
    why->texture.height = ask->height;
    why->texture.pitch = ask->pitch;
    why->texture.wrap = (uint8_t)ask->wrap;
    why->texture.normalized = ask->normalized != 0;
    why->texture.srgb = ask->srgb != 0;
    memcpy(why->texture.border, ask->border, sizeof ask->border);
    why->sampling = (struct facet_gfx_sampling){
        .bilinear = ask->bilinear != 0,
        .srgb = ask->srgb != 0,
        .raw = ask->raw != 0,
        .wrap = (uint8_t)ask->wrap,
    };
    for (unsigned c = 0; c < 4; c++) {
        why->numbers.channel[c] = (struct facet_conv){
            .elem = (uint8_t)ask->elem, .acc = (uint8_t)ask->acc, .rm = (uint8_t)ask->rm};
    }
    why->slot[0] = ask->u;
    why->slot[1] = ask->v;
    return FACET_OK;
}

static int fault(const struct texels *memory)
{
    struct facet_error err = {0};

    (void)facet_fail(&err,
                     FACET_ERR_FAULT,
                     memory->address,
                     "texel access of %u bytes at offset 0x%" PRIx64
                     ": expected a multiple of its size inside %" PRIu64 " bytes",
                     memory->bytes,
                     memory->address,
                     memory->size);
    return page_fail(&err);
}

/* {"records": [what `facet gfx why --json` prints]} */
int PAGE_EXPORT(page_sample_why)(const uint8_t *texels,
                                 size_t texels_size,
                                 const uint32_t *words,
                                 size_t words_size)
{
    struct texels memory = {.data = texels, .size = texels_size};
    struct facet_gfx_why *why = calloc(1, sizeof *why);
    struct ask ask;
    int code;

    if (why == NULL) {
        return page_no_memory("a sample");
    }
    code = take(why, &ask, words, words_size);
    if (code == FACET_OK && !facet_gfx_why_run(why, load, &memory)) {
        code = fault(&memory);
    } else if (code == FACET_OK) {
        struct facet_record *r = page_begin();

        facet_record_list(r, "records");
        facet_gfx_record_why(r, why);
        facet_record_close(r);
        code = page_end();
    }
    free(why);
    return code;
}

/* What nearest samples in the middles of texels x..x+columns-1, y..y+rows-1 return, also outside of
 * the texture: four FP32 numbers each, row by row. */
int PAGE_EXPORT(page_sample_window)(const uint8_t *texels,
                                    size_t texels_size,
                                    const uint32_t *words,
                                    size_t words_size,
                                    int x,
                                    int y,
                                    unsigned columns,
                                    unsigned rows)
{
    struct texels memory = {.data = texels, .size = texels_size};
    struct facet_gfx_why *why = calloc(1, sizeof *why);
    const struct facet_num_policy nearest = {.rm = FACET_RNE};
    uint32_t *out = NULL;
    struct ask ask;
    unsigned none = 0;
    int code;

    if (why == NULL) {
        return page_no_memory("a window");
    }
    code = take(why, &ask, words, words_size);
    if (code == FACET_OK &&
        (columns == 0 || rows == 0 || columns > MOST_CELLS || rows > MOST_CELLS)) {
        code = usage("expected a window of 1 to 256 texels each way");
    }
    if (code == FACET_OK) {
        out = calloc((size_t)columns * rows, 4 * sizeof *out);
        code = out != NULL ? FACET_OK : page_no_memory("a window");
    }
    why->texture.normalized = false;
    why->sampling.bilinear = why->sampling.raw = false;
    for (unsigned c = 0; c < 4; c++) {
        why->numbers.channel[c] =
            (struct facet_conv){.elem = FACET_FMT_FP32, .acc = FACET_FMT_FP32};
    }
    for (unsigned k = 0; code == FACET_OK && k < columns * rows; k++) {
        why->slot[0] = (uint32_t)facet_num_from_double(
            FACET_FMT_FP32, x + (int)(k % columns) + 0.5, &nearest, &none);
        why->slot[1] = (uint32_t)facet_num_from_double(
            FACET_FMT_FP32, y + (int)(k / columns) + 0.5, &nearest, &none);
        code = facet_gfx_why_run(why, load, &memory) ? FACET_OK : fault(&memory);
        memcpy(out + (size_t)4 * k, why->out, sizeof why->out);
    }
    if (code == FACET_OK) {
        code = page_give_bytes(out, (size_t)columns * rows * 4 * sizeof *out);
    } else {
        free(out);
    }
    free(why);
    return code;
}
