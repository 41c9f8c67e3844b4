/* `facet gfx why`: one sample of a texture, value by value. */
#include "base/bits.h"
#include "base/file.h"
#include "base/float.h"
#include "command/command.h"
#include "gfx/explain.h"
#include "image/image.h"
#include "num/convert.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_TEXTURE_BYTES ((size_t)1 << 30)

/* ---- numbers of the command line ---- */

static bool names_format(const char *name, enum facet_format *out)
{
    for (unsigned f = 0; f < FACET_FMT_COUNT; f++) {
        if (f != FACET_FMT_FP64 && strcasecmp(name, facet_format_name(f)) == 0) {
            *out = (enum facet_format)f;
            return true;
        }
    }
    return false;
}

/* A coordinate: the nearest element of the number; 0x is the bits themselves. */
static bool
read_element(const struct facet_gfx_why *why, const char *text, char **end, uint32_t *out)
{
    const enum facet_format elem = why->numbers.channel[0].elem;
    const unsigned width = facet_format_width(elem);
    const struct facet_num_policy nearest = {.rm = FACET_RNE};
    unsigned flags = 0;
    double value;

    errno = 0;
    if (text[0] == '0' && (text[1] | 0x20) == 'x') {
        unsigned long long bits = strtoull(text, end, 16);

        *out = (uint32_t)bits;
        return errno == 0 && bits <= facet_bits_mask(width);
    }
    value = strtod(text, end);
    if (*end == text) {
        return false;
    }
    if (facet_format_is_int(elem)) {
        double low = why->numbers.channel[0].uns ? 0 : -ldexp(1, (int)width - 1);
        double high = low + ldexp(1, (int)width) - 1;

        value = rint(ldexp(value, (int)width / 2));
        value = value >= low ? value : low; /* NaN too */
        *out = (uint32_t)((int64_t)(value > high ? high : value) & (int64_t)facet_bits_mask(width));
    } else {
        uint64_t bits = facet_double_bits(value);

        *out = (uint32_t)facet_num_convert(elem, FACET_FMT_FP64, bits, &nearest, &flags);
    }
    return true;
}

/* Up to `most` elements separated by spaces, commas and semicolons; 0 after a message. */
static unsigned read_elements(const struct cli_args *args,
                              const struct facet_gfx_why *why,
                              const char *option,
                              uint32_t *out,
                              unsigned most)
{
    const char *text = cli_value(args, option), *at = text;
    unsigned count = 0;

    for (;;) {
        char *end = NULL;

        at += strspn(at, " ,;\t");
        if (*at == '\0' && count == 0) {
            (void)cli_bad(args, "--%s: \"%s\": expected a number", option, text);
        }
        if (*at == '\0') {
            return count;
        }
        if (count == most) {
            (void)cli_bad(args, "--%s: more than %u numbers", option, most);
            return 0;
        }
        if (!read_element(why, at, &end, &out[count]) ||
            (*end != '\0' && strchr(" ,;\t", *end) == NULL)) {
            (void)cli_bad(args,
                          "--%s: \"%s\" at character %zu: expected a number, or 0x and the bits "
                          "of a %s element",
                          option,
                          at,
                          (size_t)(at - text) + 1,
                          facet_format_name(why->numbers.channel[0].elem));
            return 0;
        }
        count++;
        at = end;
    }
}

static bool
read_one(const struct cli_args *args, struct facet_gfx_why *why, const char *name, unsigned at)
{
    if (!cli_given(args, name)) {
        (void)cli_bad(args, "expected --%s NUMBER", name);
        return false;
    }
    return read_elements(args, why, name, &why->slot[at], 1) == 1;
}

/* --flags: names of fields of CAP.PREC, separated by commas. */
static bool read_flags(const struct cli_args *args, struct facet_conv *conv)
{
    const char *text = cli_value(args, "flags");
    const struct {
        const char *name;
        bool *field;
    } names[] = {
        {"sat", &conv->sat},
        {"sat_mode", &conv->sat_mode},
        {"ftz", &conv->ftz},
        {"uns", &conv->uns},
        {"mixed", &conv->mixed_step},
    };

    while (text != NULL && *text != '\0') {
        size_t length = strcspn(text, ", |"), k = 0;

        while (k < 5 &&
               (strlen(names[k].name) != length || strncmp(names[k].name, text, length) != 0)) {
            k++;
        }
        if (length != 0 && k == 5) {
            (void)cli_bad(args,
                          "--flags: \"%.*s\": expected sat, sat_mode, ftz, uns or mixed",
                          (int)length,
                          text);
            return false;
        }
        if (length != 0) {
            *names[k].field = true;
        }
        text += length;
        text += strspn(text, ", |");
    }
    return true;
}

static unsigned choice(const struct cli_args *args, const char *option, const char *const *names)
{
    const char *value = cli_value(args, option);

    for (unsigned k = 0; value != NULL && names[k] != NULL; k++) {
        if (strcmp(names[k], value) == 0) {
            return k;
        }
    }
    return 0;
}

static bool read_numbers(const struct cli_args *args, struct facet_gfx_why *why)
{
    static const char *const modes[] = {"rne", "rtz", "rdn", "rup", "rmm", NULL};
    static const char *const nans[] = {"propagate", "zero", "inf", NULL};
    const char *element = cli_value(args, "element"), *acc = cli_value(args, "acc");
    enum facet_format elem = FACET_FMT_FP32, width = FACET_FMT_FP32;
    struct facet_conv conv = {0};
    double scale = 0, zero = 0;

    if (element != NULL && !names_format(element, &elem)) {
        (void)cli_bad(args,
                      "--element %s: expected FP16, FP32, BF16, BF16_LITE, FP8_E4M3, FP8_E5M2, "
                      "INT32, INT16, INT8, INT4 or INT2",
                      element);
        return false;
    }
    if (acc != NULL &&
        (!names_format(acc, &width) || (width != FACET_FMT_FP32 && width != FACET_FMT_FP16 &&
                                        width != FACET_FMT_INT32 && width != FACET_FMT_INT16))) {
        (void)cli_bad(args, "--acc %s: expected FP32, FP16, INT32 or INT16", acc);
        return false;
    }
    if (!cli_real(args, "scale", -128, 127, &scale) ||
        !cli_real(args, "zero-point", -256, 383, &zero) || !read_flags(args, &conv)) {
        return false;
    }
    if (scale != rint(scale) || zero != rint(zero)) {
        (void)cli_bad(args, "--scale and --zero-point: expected whole numbers");
        return false;
    }
    conv.elem = (uint8_t)elem;
    conv.acc = (uint8_t)width;
    conv.rm = (uint8_t)choice(args, "rm", modes);
    conv.nan_pol = (uint8_t)choice(args, "nan", nans);
    conv.scale = (int16_t)scale;
    conv.zp = (int16_t)zero;
    for (unsigned c = 0; c < 4; c++) {
        why->numbers.channel[c] = conv;
    }
    return true;
}

/* ---- the texture ---- */

/* Letters r g b a 0 1 to the bits of GFXTEXFMT. */
static bool read_swizzle(const struct cli_args *args, uint32_t *fmt)
{
    static const char letters[] = " 01rgba";
    const char *text = cli_value(args, "swizzle");

    for (unsigned o = 0; text != NULL && o < 4; o++) {
        const char *at = text[o] == '\0' || text[o] == ' ' ? NULL : strchr(letters, text[o]);

        if (at == NULL || strlen(text) != 4) {
            (void)cli_bad(args, "--swizzle %s: expected four of the letters r g b a 0 1", text);
            return false;
        }
        *fmt |= (uint32_t)(at - letters) << (8 + 3 * o);
    }
    return true;
}

static bool read_layout(const struct cli_args *args, struct facet_gfx_why *why, uint32_t *fmt)
{
    struct facet_gfx_texture *t = &why->texture;
    const char *name = cli_value(args, "format");
    uint64_t width = 0, height = 0, pitch = 0, offset = 0, planes = 0, texel;
    int code = name == NULL ? 0x30 : facet_gfx_format_find(name);

    if (code < 0) {
        (void)cli_bad(args,
                      "--format %s: expected a type and its channels such as UNORM8_RGBA, FP16_RG "
                      "or SINT32_R, or R5G6B5, R5G5B5A1, R4G4B4A4, R10G10B10A2",
                      name);
        return false;
    }
    if (!cli_number(args, "width", 0, FACET_GFX_SIZE_MAX, &width) ||
        !cli_number(args, "height", 0, FACET_GFX_SIZE_MAX, &height) ||
        !cli_number(args, "offset", 0, UINT64_MAX, &offset) ||
        !cli_number(args, "planar", 0, UINT32_MAX, &planes)) {
        return false;
    }
    if (!cli_given(args, "width") || !cli_given(args, "height")) {
        (void)cli_bad(args, "--raw: expected --width N and --height N");
        return false;
    }
    *fmt = (uint32_t)code;
    (void)facet_gfx_texture_set_format(t, *fmt);
    t->planar = cli_given(args, "planar");
    t->stride1 = (uint32_t)planes;
    texel = t->format.bytes * (t->planar ? 1 : facet_gfx_texel_accesses(t));
    pitch = width * texel;
    if (!cli_number(args, "pitch", 0, UINT32_MAX, &pitch)) {
        return false;
    }
    t->base = offset;
    t->width = (uint32_t)width;
    t->height = (uint32_t)height;
    t->pitch = (uint32_t)pitch;
    return true;
}

/* The bytes of the texture; a picture becomes UNORM8_RGBA. */
static bool
read_texture(const struct cli_args *args, struct facet_gfx_why *why, struct facet_bytes *file)
{
    const char *image = cli_value(args, "image"), *raw = cli_value(args, "raw");
    struct facet_gfx_texture *t = &why->texture;
    struct facet_error err = {0};
    uint32_t fmt = 0x30;

    if ((image == NULL) == (raw == NULL)) {
        (void)cli_bad(args, "expected either --image FILE.png or --raw FILE");
        return false;
    }
    why->file = image != NULL ? image : raw;
    if (image != NULL) {
        static const char *const layout[] = {
            "format", "width", "height", "pitch", "offset", "planar"};
        struct facet_image picture = {0};

        for (size_t k = 0; k < sizeof layout / sizeof layout[0]; k++) {
            if (cli_given(args, layout[k])) {
                (void)cli_bad(args, "--%s: only with --raw; a picture is UNORM8_RGBA", layout[k]);
                return false;
            }
        }
        if (facet_image_read(image, &picture, &err) != FACET_OK) {
            (void)cli_bad_error(args, &err);
            return false;
        }
        *file = (struct facet_bytes){picture.rgba, (size_t)4 * picture.width * picture.height};
        t->width = picture.width;
        t->height = picture.height;
        t->pitch = 4 * picture.width;
    } else {
        if (facet_file_read(raw, MAX_TEXTURE_BYTES, file, &err) != FACET_OK) {
            (void)cli_bad_error(args, &err);
            return false;
        }
        if (!read_layout(args, why, &fmt)) {
            return false;
        }
    }
    if (!read_swizzle(args, &fmt)) {
        return false;
    }
    why->format_name = facet_gfx_format_name(fmt & 0xFF);
    return facet_gfx_texture_set_format(t, fmt);
}

/* Border elements are written as values: what `narrow` makes of them. */
static bool read_border(const struct cli_args *args, struct facet_gfx_why *why)
{
    uint32_t elements[4] = {0};
    unsigned count;

    if (!cli_given(args, "border")) {
        return true;
    }
    count = read_elements(args, why, "border", elements, 4);
    if (count != 4) {
        if (count != 0) {
            (void)cli_bad(args, "--border: %u numbers: expected 4 (R G B A)", count);
        }
        return false;
    }
    memcpy(why->texture.border, elements, sizeof elements);
    return true;
}

static bool read_sampling(const struct cli_args *args, struct facet_gfx_why *why)
{
    static const char *const wraps[] = {"clamp", "repeat", "mirror", "border", NULL};
    const char *filter = cli_value(args, "filter"), *space = cli_value(args, "space");
    struct facet_gfx_texture *t = &why->texture;
    uint64_t stride1 = t->stride1, stride2 = 0;

    t->wrap = (uint8_t)choice(args, "wrap", wraps);
    t->normalized = space == NULL || strcmp(space, "normalized") == 0;
    t->srgb = cli_given(args, "srgb");
    why->sampling = (struct facet_gfx_sampling){
        .bilinear = filter == NULL || strcmp(filter, "bilinear") == 0,
        .srgb = t->srgb,
        .raw = cli_given(args, "codes"),
        .wrap = t->wrap,
    };
    if (!cli_number(args, "stride1", 0, UINT32_MAX, &stride1) ||
        !cli_number(args, "stride2", 0, UINT32_MAX, &stride2)) {
        return false;
    }
    t->stride1 = (uint32_t)stride1;
    t->stride2 = (uint32_t)stride2;
    if (cli_given(args, "index")) {
        unsigned count = read_elements(args, why, "index", &why->slot[2], 2);

        if (count == 0) {
            return false;
        }
        why->tensor = true;
    }
    return true;
}

static bool read_taps(const struct cli_args *args, struct facet_gfx_why *why)
{
    unsigned count;

    why->gathers = cli_given(args, "taps");
    why->weighted = !cli_given(args, "average");
    if (!why->gathers) {
        if (!why->weighted) {
            (void)cli_bad(args, "--average: only with --taps");
        }
        return why->weighted;
    }
    if (why->tensor || why->sampling.raw) {
        (void)cli_bad(args, "--taps: GFX.SAMPLE.GATH has no --index and no --codes");
        return false;
    }
    count = read_elements(args, why, "taps", why->table, 3 * FACET_GFX_TAPS_MAX);
    if (count == 0 || count % 3 != 0) {
        if (count != 0) {
            (void)cli_bad(args, "--taps: %u numbers: expected du dv weight for each tap", count);
        }
        return false;
    }
    why->taps = count / 3;
    return true;
}

/* ---- the sample ---- */

struct file_memory {
    const struct facet_bytes *file;
    uint64_t address; /* that failed */
    unsigned bytes;
    bool misaligned;
};

static bool load(void *context, uint64_t address, unsigned bytes, uint32_t *word)
{
    struct file_memory *m = context;

    m->address = address;
    m->bytes = bytes;
    m->misaligned = address % bytes != 0;
    if (m->misaligned || address >= m->file->size || m->file->size - address < bytes) {
        return false;
    }
    *word = 0;
    for (unsigned b = 0; b < bytes; b++) {
        *word |= (uint32_t)m->file->data[address + b] << 8 * b;
    }
    return true;
}

static int
explain(const struct cli_args *args, struct facet_gfx_why *why, const struct facet_bytes *file)
{
    struct file_memory memory = {.file = file};
    struct facet_record record;
    int code;

    if (!facet_gfx_why_run(why, load, &memory)) {
        return cli_bad(args,
                       "%s: texel access of %u bytes at offset 0x%" PRIx64 ": %s",
                       why->file,
                       memory.bytes,
                       memory.address,
                       memory.misaligned ? "expected a multiple of its size"
                                         : "the file ends before it");
    }
    facet_record_init(&record, args->json);
    facet_gfx_record_why(&record, why);
    code = cli_print_record(args, &record);
    facet_record_free(&record);
    return code;
}

static int run_why(const struct cli_args *args)
{
    struct facet_gfx_why *why = calloc(1, sizeof *why);
    struct facet_bytes file = {0};
    int code = CLI_BAD;

    if (why == NULL) {
        return cli_bad(args, "out of memory");
    }
    if (read_numbers(args, why) && read_texture(args, why, &file) && read_border(args, why) &&
        read_sampling(args, why) && read_taps(args, why) && read_one(args, why, "u", 0) &&
        read_one(args, why, "v", 1)) {
        code = explain(args, why, &file);
    }
    free(file.data);
    free(why);
    return code;
}

static const struct cli_option why_options[] = {
    {"image",
     0,
     "FILE",
     CLI_GROUP("Texture") "picture (PNG or JPEG) that is the texture, as UNORM8_RGBA"},
    {"raw", 0, "FILE", "bytes of a texture, with --width and --height"},
    {"format", 0, "NAME", "of --raw: UNORM8_RGBA (default), FP16_RG, R5G6B5, ..."},
    {"width", 0, "N", "texels per row of --raw"},
    {"height", 0, "N", "rows of --raw"},
    {"pitch", 0, "BYTES", "from row to row of --raw (default: no gap)"},
    {"offset", 0, "BYTES", "of texel (0, 0) in the file of --raw (default 0)"},
    {"planar", 0, "BYTES", "each channel in its own plane, this far apart"},
    {"u", 0, "NUMBER", CLI_GROUP("Sample") "horizontal coordinate"},
    {"v", 0, "NUMBER", "vertical coordinate"},
    {"space", 0, "normalized|texel", "of the coordinates (default normalized)"},
    {"wrap", 0, "clamp|repeat|mirror|border", "outside the texture (default clamp)"},
    {"filter", 0, "nearest|bilinear", "(default bilinear)"},
    {"srgb", 0, NULL, "the step from sRGB to linear (UNORM formats)"},
    {"swizzle", 0, "LETTERS", "four of the letters r g b a 0 1: where each output comes from"},
    {"border", 0, "NUMBERS", "R G B A of the border colour, as elements"},
    {"codes", 0, NULL, "return raw channel codes (CONVERT_EN=0)"},
    {"index", 0, "NUMBERS", CLI_GROUP("Tensor") "tensor indices N1 N2 (t=1)"},
    {"stride1", 0, "BYTES", "of N1"},
    {"stride2", 0, "BYTES", "of N2"},
    {"taps", 0, "NUMBERS", CLI_GROUP("Gather") "explain GFX.SAMPLE.GATH: du dv weight of each tap"},
    {"average", 0, NULL, "with --taps: the mean of the taps in place of the weighted sum"},
    {"element", 0, "FORMAT", CLI_GROUP("Number") "element format E (default FP32)"},
    {"acc", 0, "FORMAT", "accumulator: FP32 (default), FP16, INT32 or INT16"},
    {"rm", 0, "rne|rtz|rdn|rup|rmm", "rounding mode (default rne)"},
    {"nan", 0, "propagate|zero|inf", "NAN_POL (default propagate)"},
    {"scale", 0, "S", "SCALE_SH: elements count in units of 2^S (default 0)"},
    {"zero-point", 0, "Z", "zero point of integer elements (default 0)"},
    {"flags", 0, "NAMES", "sat, sat_mode, ftz, uns, mixed"},
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_gfx_why = {
    .name = "gfx why",
    .summary = "explain one texture sample of XPHMG_GFX",
    .usage = "facet gfx why --image FILE.png --u NUMBER --v NUMBER [options]\n"
             "facet gfx why --raw FILE --format NAME --width N --height N --u NUMBER --v NUMBER",
    .details =
        "Runs GFX.SAMPLE, or with --taps GFX.SAMPLE.GATH, on one pair of coordinates and shows "
        "every step: the coordinates as exact numbers, position, texel and weight on each axis, "
        "the wrap, the four texels with their codes and values, and for each channel every "
        "rounding with the bits it leaves and the flags it raises. Sections are those of "
        "gfx-semantics.md.\n\n"
        "Coordinates, indices and taps are decimal fractions, inf or nan, rounded to the nearest "
        "element (integer formats: fixed point with half of the bits after the point), or 0x and "
        "the bits of an element. The border is given in the same way, as four elements.",
    .examples =
        "facet gfx why --image assets/crate.png --u 0.3 --v 0.7\n"
        "facet gfx why --image assets/crate.png --u -0.3 --v 1.7 --wrap mirror --srgb\n"
        "facet gfx why --image assets/crate.png --u 0.3 --v 0.7 --element FP16 --acc FP16\n"
        "facet gfx why --image assets/crate.png --u 0.3 --v 0.7 --filter nearest --json\n"
        "facet gfx why --image assets/crate.png --u 0.5 --v 0.5 --taps \"0 0 0.5; 1 0 0.5\"",
    .options = why_options,
    .has_json = true,
    .run = run_why,
    .operands = "",
};
