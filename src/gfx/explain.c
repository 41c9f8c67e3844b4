/* See explain.h. Rules are sections of gfx-semantics.md. */
#include "gfx/explain.h"

#include "base/bits.h"
#include "num/flags.h"

#include <math.h>

static const char *const tap_names[4] = {"t00", "t01", "t10", "t11"};
static const char *const channel_names[4] = {"R", "G", "B", "A"};

/* ---- the instruction ---- */

static bool run_sample(struct facet_gfx_why *why, facet_gfx_load *load, void *context)
{
    facet_gfx_sample_plan(&why->numbers,
                          &why->texture,
                          &why->sampling,
                          why->slot,
                          why->tensor,
                          &why->sample,
                          &why->coordinate_flags);
    why->flags = why->coordinate_flags;
    if (!facet_gfx_sample_fetch(&why->texture, &why->sample, load, context)) {
        return false;
    }
    facet_gfx_sample_finish(&why->numbers,
                            &why->texture,
                            &why->sampling,
                            &why->sample,
                            why->out,
                            &why->steps,
                            &why->flags);
    return true;
}

static bool run_gather(struct facet_gfx_why *why, facet_gfx_load *load, void *context)
{
    (void)facet_gfx_gather_begin(
        &why->numbers, &why->texture, why->slot, why->taps, &why->gather, &why->coordinate_flags);
    facet_gfx_gather_plan(&why->numbers,
                          &why->texture,
                          &why->sampling,
                          why->table,
                          why->weighted,
                          true,
                          &why->gather,
                          &why->coordinate_flags);
    why->flags = why->coordinate_flags;
    if (!facet_gfx_gather_fetch(&why->texture, &why->gather, load, context)) {
        return false;
    }
    facet_gfx_gather_finish(&why->numbers,
                            &why->texture,
                            &why->sampling,
                            &why->gather,
                            why->out,
                            &why->gather_steps,
                            &why->flags);
    return true;
}

bool facet_gfx_why_run(struct facet_gfx_why *why, facet_gfx_load *load, void *context)
{
    return why->gathers ? run_gather(why, load, context) : run_sample(why, load, context);
}

/* ---- values ---- */

/* Rounded to a double. */
static double value_of(const struct facet_gfx_real *x)
{
    double value = 0;

    switch (x->cls) {
    case FACET_GFX_NAN:
        return (double)NAN;
    case FACET_GFX_INF:
        value = (double)INFINITY;
        break;
    case FACET_GFX_NUMBER:
        value = ldexp((double)x->num / x->den, x->exp);
        break;
    default:
        break;
    }
    return x->negative ? -value : value;
}

static void put_acc(struct facet_record *r,
                    const char *key,
                    const struct facet_gfx_why *why,
                    unsigned c,
                    uint32_t acc)
{
    const struct facet_conv *conv = &why->numbers.channel[c];
    const unsigned width = facet_format_width(conv->acc);
    const struct facet_gfx_real x = facet_gfx_real_of_acc(conv, acc);

    facet_record_value(r, key, width == 16 ? acc & 0xFFFF : acc, width, value_of(&x));
}

static void put_element(struct facet_record *r,
                        const char *key,
                        const struct facet_gfx_why *why,
                        unsigned c,
                        uint32_t element)
{
    const struct facet_conv *conv = &why->numbers.channel[c];
    const unsigned width = facet_format_width(conv->elem);
    unsigned none = 0;
    double value;

    if (!facet_format_is_int(conv->elem)) {
        struct facet_gfx_real x = facet_gfx_real_of_fp(conv->elem, element, false, &none);

        x.exp += conv->scale;
        value = value_of(&x);
    } else {
        int64_t code = conv->uns ? (int64_t)facet_bits_get(element, 0, width)
                                 : facet_bits_sign(element, width);

        value = ldexp((double)(code - conv->zp), conv->scale);
    }
    facet_record_value(r, key, element, width, value);
}

static void
put_coordinate(struct facet_record *r, const char *key, const struct facet_gfx_why *why, unsigned k)
{
    unsigned none = 0;
    const struct facet_gfx_real x = facet_gfx_coordinate(&why->numbers, why->slot[k], &none);

    facet_record_value(
        r, key, why->slot[k], facet_format_width(why->numbers.channel[0].elem), value_of(&x));
}

static void put_flags(struct facet_record *r, const char *key, unsigned flags)
{
    char text[FACET_FLAG_NAMES];

    facet_record_words(r, key, facet_num_flag_names(flags, text));
}

/* ---- head ---- */

static void put_head(struct facet_record *r, const struct facet_gfx_why *why)
{
    static const char *const modes[] = {"rne", "rtz", "rdn", "rup", "rmm"};
    static const char *const wraps[] = {"clamp", "repeat", "mirror", "border"};
    const struct facet_gfx_texture *t = &why->texture;
    const struct facet_conv *conv = &why->numbers.channel[0];

    facet_record_line(r, "texture", NULL);
    facet_record_open(r, "texture", NULL);
    facet_record_word(r, "file", why->file);
    facet_record_word(r, "format", why->format_name);
    facet_record_number(r, "width", t->width);
    facet_record_number(r, "height", t->height);
    facet_record_number(r, "pitch", t->pitch);
    facet_record_bool(r, "planar", t->planar);
    facet_record_word(r, "wrap", wraps[why->sampling.wrap]);
    facet_record_bool(r, "normalized", t->normalized);
    facet_record_close(r);
    facet_record_line(r, "numbers", NULL);
    facet_record_open(r, "numbers", NULL);
    facet_record_word(r, "element", facet_format_name(conv->elem));
    facet_record_word(r, "accumulator", facet_format_name(conv->acc));
    facet_record_word(r, "rounding", modes[conv->rm]);
    facet_record_number(r, "scale", conv->scale);
    facet_record_number(r, "zero_point", conv->zp);
    facet_record_bool(r, "unsigned", conv->uns);
    facet_record_bool(r, "saturating", conv->sat);
    facet_record_bool(r, "subnormals_flushed", conv->ftz);
    facet_record_bool(r, "mixed_step", conv->mixed_step);
    facet_record_close(r);
    facet_record_line(r, "sampled", "6.4");
    put_coordinate(r, "u", why, 0);
    put_coordinate(r, "v", why, 1);
    if (why->tensor) {
        facet_record_numbers(r, "index", (const int64_t[]){why->sample.n1, why->sample.n2}, 2);
    }
}

/* ---- taps ---- */

static void put_tap(struct facet_record *r,
                    const struct facet_gfx_why *why,
                    const char *name,
                    const struct facet_gfx_tap *tap)
{
    const struct facet_gfx_format *f = &why->texture.format;

    if (tap->kind == FACET_GFX_TAP_SKIP) {
        facet_record_word(r, name, NULL);
        return;
    }
    facet_record_open(r, name, "%s", name);
    facet_record_bool(r, "border", tap->kind == FACET_GFX_TAP_BORDER);
    if (tap->kind == FACET_GFX_TAP_BORDER) {
        facet_record_say(r, " colour, not fetched");
    } else {
        facet_record_number(r, "x", tap->x);
        facet_record_number(r, "y", tap->y);
        facet_record_hex(r,
                         "address",
                         facet_gfx_texel_address(
                             &why->texture, tap->x, tap->y, why->sample.n1, why->sample.n2, 0),
                         0);
        facet_record_open(r, "channels", NULL);
        for (unsigned c = 0; c < f->channels; c++) {
            uint32_t code = facet_gfx_texel_code(f, tap->word, c);
            unsigned none = 0;
            struct facet_gfx_real x = facet_gfx_texel_value(f, c, code, false, &none);

            facet_record_value(
                r, channel_names[c], code, f->packed ? f->width[c] : 8u * f->bytes, value_of(&x));
        }
        facet_record_close(r);
    }
    facet_record_close(r);
}

static void put_pair(struct facet_record *r, const char *key, int64_t a, int64_t b)
{
    facet_record_numbers(r, key, (const int64_t[]){a, b}, 2);
}

/* The members of a footprint, in the open object. */
static void put_footprint(struct facet_record *r,
                          const struct facet_gfx_why *why,
                          const struct facet_gfx_footprint *f)
{
    if (f->kind != FACET_GFX_TAPS) {
        facet_record_say(r,
                         ": nothing is fetched, every channel is %s",
                         f->kind == FACET_GFX_NULL ? "0 (6.3)" : "NaN");
        if (r->json) {
            facet_record_word(r, "kind", f->kind == FACET_GFX_NULL ? "null" : "nan");
        }
        return;
    }
    if (r->json) {
        facet_record_word(r, "kind", "taps");
    }
    put_pair(r, "position", f->fx, f->fy);
    facet_record_say(r, " (in 1/65536 texel)");
    put_pair(r, "texel", f->i, f->j);
    put_pair(r, "weight", f->fu, f->fv);
    facet_record_say(r, " (of the next one, in 1/65536)");
    facet_record_open(r, "taps", NULL);
    for (unsigned t = 0; t < 4; t++) {
        put_tap(r, why, tap_names[t], &f->tap[t]);
    }
    facet_record_close(r);
}

/* ---- channels ---- */

static void put_lerp(struct facet_record *r,
                     const struct facet_gfx_why *why,
                     unsigned c,
                     const char *name,
                     const struct facet_gfx_lerp *lerp)
{
    if (!lerp->computed) {
        facet_record_word(r, name, NULL);
        return;
    }
    facet_record_open(r, name, "%-11s", name);
    if (facet_format_is_int(why->numbers.channel[c].acc)) {
        facet_record_say(r, "  exact, rounded once:");
    } else {
        put_acc(r, "weight", why, c, lerp->weight);
        put_acc(r, "difference", why, c, lerp->diff);
    }
    put_acc(r, "result", why, c, lerp->result);
    facet_record_close(r);
}

/* What follows the filter. */
static void put_after(struct facet_record *r,
                      const struct facet_gfx_why *why,
                      unsigned c,
                      const struct facet_gfx_channel_steps *s)
{
    static const char *const parts[] = {NULL, "end", "line", "power"};

    put_flags(r, "filter_flags", s->filter_flags);
    facet_record_line(r, "colour", "6.6");
    put_acc(r, "filtered", why, c, s->filtered);
    facet_record_word(r, "srgb", parts[s->srgb]);
    put_acc(r, "accumulator", why, c, s->result);
    put_flags(r, "srgb_flags", s->srgb_flags);
    facet_record_line(r, "narrow", NULL);
    put_element(r, "element", why, c, why->out[c]);
    put_flags(r, "narrow_flags", s->narrow_flags);
    if (r->json) {
        put_flags(r, "flags", s->tap_flags | s->filter_flags | s->srgb_flags | s->narrow_flags);
    }
}

static void put_sample_channel(struct facet_record *r, const struct facet_gfx_why *why, unsigned c)
{
    const struct facet_gfx_channel_steps *s = &why->steps.channel[c];
    const struct facet_gfx_footprint *f = &why->sample.foot;

    facet_record_open(r, "taps", NULL);
    for (unsigned t = 0; t < 4; t++) {
        if (f->kind == FACET_GFX_TAPS && f->tap[t].kind != FACET_GFX_TAP_SKIP) {
            put_acc(r, tap_names[t], why, c, s->tap[t]);
        }
    }
    facet_record_close(r);
    put_flags(r, "tap_flags", s->tap_flags);
    put_lerp(r, why, c, "row0", &s->lerp[0]);
    put_lerp(r, why, c, "row1", &s->lerp[1]);
    put_lerp(r, why, c, "rows", &s->lerp[2]);
    put_after(r, why, c, s);
}

static void put_gather_channel(struct facet_record *r, const struct facet_gfx_why *why, unsigned c)
{
    const struct facet_gfx_gather_channel_steps *s = &why->gather_steps.channel[c];
    const struct facet_gfx_gather *g = &why->gather;
    const bool is_int = facet_format_is_int(why->numbers.channel[c].acc);

    facet_record_list(r, "taps");
    for (unsigned k = 0; g->kind == FACET_GFX_TAPS && k < g->count; k++) {
        facet_record_open(r, NULL, "%u", k);
        put_acc(r, "tap", why, c, s->tap[k].filtered);
        if (is_int && k + 1 < g->count) { /* one exact sum, rounded at the end */
            facet_record_word(r, "sum", NULL);
        } else {
            put_acc(r, "sum", why, c, s->sum[k]);
        }
        put_flags(r, "tap_flags", s->tap[k].tap_flags | s->tap[k].filter_flags);
        facet_record_close(r);
    }
    facet_record_close(r);
    put_after(r, why, c, &s->whole);
}

static void put_channel(struct facet_record *r, const struct facet_gfx_why *why, unsigned c)
{
    static const char *const from[] = {"R", "G", "B", "A", "zero", "one", "one (no alpha)"};
    const unsigned source = why->texture.source[c];

    facet_record_open(r,
                      channel_names[c],
                      "%s%s%s",
                      channel_names[c],
                      source != c ? " from " : "",
                      source != c ? from[source] : "");
    if (why->gathers) {
        put_gather_channel(r, why, c);
    } else {
        put_sample_channel(r, why, c);
    }
    facet_record_close(r);
}

static void put_gather(struct facet_record *r, const struct facet_gfx_why *why)
{
    const struct facet_gfx_gather *g = &why->gather;

    if (g->kind != FACET_GFX_TAPS) {
        facet_record_line(r, "gather: nothing is fetched", NULL);
    }
    facet_record_list(r, "gather");
    for (unsigned k = 0; g->kind == FACET_GFX_TAPS && k < g->count; k++) {
        facet_record_open(r, NULL, "tap %u", k);
        if (why->weighted) {
            facet_record_say(r, " of weight %.9g", value_of(&g->weight[k]));
        }
        facet_record_say(r, " (8)");
        put_footprint(r, why, &g->tap[k]);
        facet_record_close(r);
    }
    facet_record_close(r);
}

void facet_gfx_record_why(struct facet_record *r, const struct facet_gfx_why *why)
{
    char text[FACET_FLAG_NAMES];

    facet_record_open(r, NULL, NULL);
    put_head(r, why);
    if (why->gathers) {
        put_gather(r, why);
    } else {
        facet_record_open(r, "footprint", "footprint (6.4, 6.5)");
        put_footprint(r, why, &why->sample.foot);
        facet_record_close(r);
    }
    facet_record_open(r, "channels", NULL);
    for (unsigned c = 0; c < 4 && !why->sampling.raw; c++) {
        put_channel(r, why, c);
    }
    facet_record_close(r);
    if (why->coordinate_flags != 0) {
        facet_record_line(r, "reading the coordinates", NULL);
    }
    put_flags(r, "coordinate_flags", why->coordinate_flags);
    facet_record_line(r, "result", NULL);
    facet_record_list(r, "result");
    for (unsigned c = 0; c < 4; c++) {
        put_element(r, r->json ? NULL : channel_names[c], why, c, why->out[c]);
    }
    facet_record_close(r);
    facet_record_line(r, "flags", NULL);
    facet_record_say(r, "  %s", why->flags != 0 ? facet_num_flag_names(why->flags, text) : "none");
    if (r->json) {
        put_flags(r, "flags", why->flags);
    }
    facet_record_close(r);
}
