/* `facet gfx why` as JSON. Values are objects of bits and number; NaN and infinities, which JSON
 * does not have, are null. A failed allocation leaves members out or gives NULL, which
 * cli_print_json reports. */
#include "cli/gfx_why.h"
#include "cli/rt_why.h" /* the names of flags */
#include "json/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const char *const tap_names[4] = {"t00", "t01", "t10", "t11"};
static const char *const channel_names[4] = {"R", "G", "B", "A"};

static json_t *value(uint32_t bits, unsigned width, double number)
{
    char text[16];

    (void)snprintf(text, sizeof text, "0x%0*" PRIx32, (int)(width + 3) / 4, bits);
    return json_pack(
        "{s:s, s:o}", "bits", text, "value", isfinite(number) ? json_real(number) : json_null());
}

static json_t *acc_value(const struct gfx_why *why, unsigned c, uint32_t acc)
{
    unsigned width = facet_format_width(why->numbers.channel[c].acc);

    return value(width == 16 ? acc & 0xFFFF : acc, width, gfx_why_acc(why, c, acc));
}

static json_t *element_value(const struct gfx_why *why, unsigned c, uint32_t element)
{
    return value(element,
                 facet_format_width(why->numbers.channel[c].elem),
                 gfx_why_element(why, c, element));
}

static json_t *flag_list(unsigned flags)
{
    char text[80];
    json_t *list = json_array();
    const char *at = flags == 0 ? "" : rt_why_flags(flags, text);

    while (*at != '\0') {
        size_t length = 0;

        while (at[length] != '\0' && at[length] != ' ') {
            length++;
        }
        (void)json_array_append_new(list, json_stringn(at, length));
        at += length;
        at += *at != '\0';
    }
    return list;
}

static json_t *tap_json(const struct gfx_why *why, const struct facet_gfx_tap *tap)
{
    const struct facet_gfx_format *f = &why->texture.format;
    json_t *channels;

    if (tap->kind == FACET_GFX_TAP_SKIP) {
        return json_null();
    }
    if (tap->kind == FACET_GFX_TAP_BORDER) {
        return json_pack("{s:b}", "border", true);
    }
    channels = json_object();
    for (unsigned c = 0; c < f->channels; c++) {
        uint32_t code = facet_gfx_texel_code(f, tap->word, c);
        unsigned none = 0;
        struct facet_gfx_real x = facet_gfx_texel_value(f, c, code, false, &none);

        (void)json_object_set_new(
            channels,
            channel_names[c],
            value(code, f->packed ? f->width[c] : 8u * f->bytes, gfx_why_value(&x)));
    }
    return json_pack("{s:b, s:i, s:i, s:o, s:o}",
                     "border",
                     false,
                     "x",
                     (int)tap->x,
                     "y",
                     (int)tap->y,
                     "address",
                     facet_json_hex(facet_gfx_texel_address(
                         &why->texture, tap->x, tap->y, why->sample.n1, why->sample.n2, 0)),
                     "channels",
                     channels);
}

static json_t *footprint_json(const struct gfx_why *why, const struct facet_gfx_footprint *f)
{
    json_t *taps = json_object();

    if (f->kind != FACET_GFX_TAPS) {
        json_decref(taps);
        return json_pack("{s:s}", "kind", f->kind == FACET_GFX_NULL ? "null" : "nan");
    }
    for (unsigned t = 0; t < 4; t++) {
        (void)json_object_set_new(taps, tap_names[t], tap_json(why, &f->tap[t]));
    }
    return json_pack("{s:s, s:[I,I], s:[I,I], s:[i,i], s:o}",
                     "kind",
                     "taps",
                     "position",
                     (json_int_t)f->fx,
                     (json_int_t)f->fy,
                     "texel",
                     (json_int_t)f->i,
                     (json_int_t)f->j,
                     "weight",
                     (int)f->fu,
                     (int)f->fv,
                     "taps",
                     taps);
}

static json_t *lerp_json(const struct gfx_why *why, unsigned c, const struct facet_gfx_lerp *lerp)
{
    if (!lerp->computed) {
        return json_null();
    }
    if (facet_format_is_int(why->numbers.channel[c].acc)) {
        return json_pack("{s:o}", "result", acc_value(why, c, lerp->result));
    }
    return json_pack("{s:o, s:o, s:o}",
                     "weight",
                     acc_value(why, c, lerp->weight),
                     "difference",
                     acc_value(why, c, lerp->diff),
                     "result",
                     acc_value(why, c, lerp->result));
}

/* What follows the filter. */
static void add_after(const struct gfx_why *why,
                      unsigned c,
                      const struct facet_gfx_channel_steps *s,
                      json_t *out)
{
    (void)json_object_set_new(out, "filtered", acc_value(why, c, s->filtered));
    (void)json_object_set_new(out,
                              "srgb",
                              s->srgb != FACET_GFX_SRGB_NONE ? json_string(gfx_why_srgb[s->srgb])
                                                             : json_null());
    (void)json_object_set_new(out, "accumulator", acc_value(why, c, s->result));
    (void)json_object_set_new(out, "element", element_value(why, c, why->out[c]));
    (void)json_object_set_new(
        out, "flags", flag_list(s->tap_flags | s->filter_flags | s->srgb_flags | s->narrow_flags));
}

static json_t *sample_channel(const struct gfx_why *why, unsigned c)
{
    const struct facet_gfx_channel_steps *s = &why->steps.channel[c];
    const struct facet_gfx_footprint *f = &why->sample.foot;
    json_t *out = json_object(), *taps = json_object();

    for (unsigned t = 0; t < 4; t++) {
        if (f->tap[t].kind != FACET_GFX_TAP_SKIP) {
            (void)json_object_set_new(taps, tap_names[t], acc_value(why, c, s->tap[t]));
        }
    }
    (void)json_object_set_new(out, "taps", taps);
    (void)json_object_set_new(out, "row0", lerp_json(why, c, &s->lerp[0]));
    (void)json_object_set_new(out, "row1", lerp_json(why, c, &s->lerp[1]));
    (void)json_object_set_new(out, "rows", lerp_json(why, c, &s->lerp[2]));
    add_after(why, c, s, out);
    return out;
}

static json_t *gather_channel(const struct gfx_why *why, unsigned c)
{
    const struct facet_gfx_gather_channel_steps *s = &why->gather_steps.channel[c];
    const struct facet_gfx_gather *g = &why->gather;
    const bool is_int = facet_format_is_int(why->numbers.channel[c].acc);
    json_t *out = json_object(), *taps = json_array();

    for (unsigned k = 0; g->kind == FACET_GFX_TAPS && k < g->count; k++) {
        (void)json_array_append_new(
            taps,
            json_pack("{s:o, s:o}",
                      "tap",
                      acc_value(why, c, s->tap[k].filtered),
                      "sum",
                      is_int && k + 1 < g->count ? json_null() : acc_value(why, c, s->sum[k])));
    }
    (void)json_object_set_new(out, "taps", taps);
    add_after(why, c, &s->whole, out);
    return out;
}

static json_t *numbers_json(const struct gfx_why *why)
{
    static const char *const modes[] = {"rne", "rtz", "rdn", "rup", "rmm"};
    const struct facet_conv *conv = &why->numbers.channel[0];

    return json_pack("{s:s, s:s, s:s, s:i, s:i}",
                     "element",
                     facet_format_name(conv->elem),
                     "accumulator",
                     facet_format_name(conv->acc),
                     "rounding",
                     modes[conv->rm],
                     "scale",
                     (int)conv->scale,
                     "zero_point",
                     (int)conv->zp);
}

static json_t *coordinate_json(const struct gfx_why *why, unsigned k)
{
    return value(why->slot[k],
                 facet_format_width(why->numbers.channel[0].elem),
                 gfx_why_value(&why->real[k]));
}

json_t *gfx_why_json(const struct gfx_why *why)
{
    const struct facet_gfx_texture *t = &why->texture;
    json_t *out = json_object(), *channels = json_object(), *result = json_array();

    (void)json_object_set_new(out,
                              "texture",
                              json_pack("{s:o, s:s, s:i, s:i, s:I, s:s, s:b}",
                                        "file",
                                        facet_json_name(why->file),
                                        "format",
                                        why->format_name,
                                        "width",
                                        (int)t->width,
                                        "height",
                                        (int)t->height,
                                        "pitch",
                                        (json_int_t)t->pitch,
                                        "wrap",
                                        gfx_why_wraps[why->sampling.wrap],
                                        "normalized",
                                        (int)t->normalized));
    (void)json_object_set_new(out, "numbers", numbers_json(why));
    (void)json_object_set_new(out, "u", coordinate_json(why, 0));
    (void)json_object_set_new(out, "v", coordinate_json(why, 1));
    if (why->gathers) {
        json_t *taps = json_array();

        for (unsigned k = 0; why->gather.kind == FACET_GFX_TAPS && k < why->gather.count; k++) {
            (void)json_array_append_new(taps, footprint_json(why, &why->gather.tap[k]));
        }
        (void)json_object_set_new(out, "gather", taps);
    } else {
        (void)json_object_set_new(out, "footprint", footprint_json(why, &why->sample.foot));
    }
    for (unsigned c = 0; c < 4; c++) {
        if (!why->sampling.raw) {
            (void)json_object_set_new(channels,
                                      channel_names[c],
                                      why->gathers ? gather_channel(why, c)
                                                   : sample_channel(why, c));
        }
        (void)json_array_append_new(result, element_value(why, c, why->out[c]));
    }
    (void)json_object_set_new(out, "channels", channels);
    (void)json_object_set_new(out, "result", result);
    (void)json_object_set_new(out, "flags", flag_list(why->flags));
    return out;
}
