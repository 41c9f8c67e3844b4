/* `facet gfx why` as text. Values are printed as bits and number. */
#include "cli/gfx_why.h"
#include "cli/rt_why.h" /* the names of flags */

#include <inttypes.h>
#include <stdio.h>

static const char *const tap_names[4] = {"t00", "t01", "t10", "t11"};
static const char channel_names[] = "RGBA";

static int digits(enum facet_format format)
{
    return (int)(facet_format_width(format) + 3) / 4;
}

static void put_acc(const struct gfx_why *why, unsigned c, uint32_t acc)
{
    enum facet_format format = why->numbers.channel[c].acc;
    uint32_t bits = format == FACET_FMT_INT16 ? acc & 0xFFFF : acc;

    printf("%0*" PRIX32 " (%.9g)", digits(format), bits, gfx_why_acc(why, c, acc));
}

static void put_element(const struct gfx_why *why, uint32_t element)
{
    printf("%0*" PRIX32, digits(why->numbers.channel[0].elem), element);
}

static void put_raised(unsigned flags)
{
    char text[80];

    if (flags != 0) {
        printf("; raises %s", rt_why_flags(flags, text));
    }
    printf("\n");
}

/* ---- head ---- */

static void put_head(const struct gfx_why *why)
{
    static const char *const modes[] = {"rne", "rtz", "rdn", "rup", "rmm"};
    const struct facet_gfx_texture *t = &why->texture;
    const struct facet_conv *conv = &why->numbers.channel[0];

    printf("texture  %s: %s, %" PRIu32 " x %" PRIu32 ", pitch %" PRIu32 "%s, %s, %s coordinates\n",
           why->file,
           why->format_name,
           t->width,
           t->height,
           t->pitch,
           t->planar ? ", planar" : "",
           gfx_why_wraps[why->sampling.wrap],
           t->normalized ? "normalized" : "texel");
    printf("numbers  element %s, accumulator %s, %s",
           facet_format_name(conv->elem),
           facet_format_name(conv->acc),
           modes[conv->rm]);
    if (conv->scale != 0 || conv->zp != 0) {
        printf(", units of 2^%d, zero point %d", conv->scale, conv->zp);
    }
    printf("%s%s%s%s\n",
           conv->uns ? ", unsigned" : "",
           conv->sat ? ", saturating" : "",
           conv->ftz ? ", subnormals flushed" : "",
           conv->mixed_step ? ", MIXED step" : "");
}

static void put_coordinate(const struct gfx_why *why, const char *name, unsigned k)
{
    printf("%-8s ", name);
    put_element(why, why->slot[k]);
    printf(" = %.17g", gfx_why_value(&why->real[k]));
}

/* FX / 65536 as texels. */
static double texels(int64_t fx)
{
    return (double)fx / 65536;
}

static void put_axis(const struct gfx_why *why, bool vertical, const struct facet_gfx_footprint *f)
{
    const int64_t fx = vertical ? f->fy : f->fx, i = vertical ? f->j : f->i;
    const unsigned weight = vertical ? f->fv : f->fu;
    bool bilinear = why->sampling.bilinear && !why->sampling.raw;

    printf("position %.9g (FX %" PRId64 "), texel %" PRId64, texels(fx), fx, i);
    if (bilinear) {
        printf(", weight of the next one %u/65536", weight);
    }
    printf(" (6.4)\n");
}

static const char *no_taps(unsigned kind)
{
    return kind == FACET_GFX_NULL
               ? "null texture: nothing is fetched, every channel is 0 (6.3)"
               : "NaN coordinate: nothing is fetched, every channel is NaN (6.4)";
}

/* ---- taps ---- */

static void put_codes(const struct gfx_why *why, const struct facet_gfx_tap *tap)
{
    const struct facet_gfx_format *f = &why->texture.format;

    for (unsigned c = 0; c < f->channels; c++) {
        uint32_t code = facet_gfx_texel_code(f, tap->word, c);
        unsigned none = 0;
        struct facet_gfx_real x = facet_gfx_texel_value(f, c, code, false, &none);
        int width = f->packed ? (f->width[c] + 3) / 4 : 2 * f->bytes;

        printf("  %c %0*" PRIX32 " (%.9g)", channel_names[c], width, code, gfx_why_value(&x));
    }
    printf("\n");
}

static void put_tap(const struct gfx_why *why,
                    const char *name,
                    const struct facet_gfx_tap *tap,
                    uint32_t n1,
                    uint32_t n2)
{
    switch (tap->kind) {
    case FACET_GFX_TAP_TEXEL:
        printf("  %s  texel (%" PRIu32 ", %" PRIu32 ") at 0x%" PRIx64 ":",
               name,
               tap->x,
               tap->y,
               facet_gfx_texel_address(&why->texture, tap->x, tap->y, n1, n2, 0));
        put_codes(why, tap);
        break;
    case FACET_GFX_TAP_BORDER:
        printf("  %s  border colour, not fetched\n", name);
        break;
    default:
        break;
    }
}

static void put_taps(const struct gfx_why *why, const struct facet_gfx_footprint *f)
{
    for (unsigned t = 0; t < 4; t++) {
        put_tap(why, tap_names[t], &f->tap[t], why->sample.n1, why->sample.n2);
    }
}

/* ---- channels ---- */

static void put_lerp(const struct gfx_why *why,
                     unsigned c,
                     const char *name,
                     const struct facet_gfx_lerp *lerp,
                     unsigned weight)
{
    if (!lerp->computed) {
        return;
    }
    printf("    %s: ", name);
    if (facet_format_is_int(why->numbers.channel[c].acc)) {
        printf("exact, rounded once to ");
    } else {
        printf("%u/65536 = ", weight);
        put_acc(why, c, lerp->weight);
        printf(", difference ");
        put_acc(why, c, lerp->diff);
        printf(", fma ");
    }
    put_acc(why, c, lerp->result);
    printf("\n");
}

static void put_filter(const struct gfx_why *why,
                       unsigned c,
                       const struct facet_gfx_footprint *f,
                       const struct facet_gfx_channel_steps *s)
{
    char text[80];

    printf("   ");
    for (unsigned t = 0; t < 4; t++) {
        if (f->tap[t].kind != FACET_GFX_TAP_SKIP) {
            printf(" %s ", tap_names[t]);
            put_acc(why, c, s->tap[t]);
        }
    }
    put_raised(s->tap_flags);
    put_lerp(why, c, "row 0", &s->lerp[0], f->fu);
    put_lerp(why, c, "row 1", &s->lerp[1], f->fu);
    put_lerp(why, c, f->fu != 0 ? "rows" : "column", &s->lerp[2], f->fv);
    if (s->filter_flags != 0) {
        printf("    the filter raises %s\n", rt_why_flags(s->filter_flags, text));
    }
}

static void
put_after(const struct gfx_why *why, unsigned c, const struct facet_gfx_channel_steps *s)
{
    if (s->srgb != FACET_GFX_SRGB_NONE) {
        printf("    sRGB: x ");
        put_acc(why, c, s->filtered);
        printf(", %s: ", gfx_why_srgb[s->srgb]);
        put_acc(why, c, s->result);
        printf(" (6.6)");
        put_raised(s->srgb_flags);
    }
    printf("    narrow: ");
    put_element(why, why->out[c]);
    printf(" (%.9g)", gfx_why_element(why, c, why->out[c]));
    put_raised(s->narrow_flags);
}

static void put_source(const struct gfx_why *why, unsigned c)
{
    static const char *const from[] = {"R", "G", "B", "A", "zero", "one", "one (no alpha)"};
    unsigned source = why->texture.source[c];

    if (source != c) {
        printf(" from %s", from[source]);
    }
}

/* ---- the two instructions ---- */

static void put_sample(const struct gfx_why *why)
{
    const struct facet_gfx_footprint *f = &why->sample.foot;
    bool taps = f->kind == FACET_GFX_TAPS;

    put_coordinate(why, "u", 0);
    printf("%s", taps ? ": " : "\n");
    if (taps) {
        put_axis(why, false, f);
    }
    put_coordinate(why, "v", 1);
    printf("%s", taps ? ": " : "\n");
    if (taps) {
        put_axis(why, true, f);
    }
    if (why->tensor) {
        printf(
            "index    n1 = %" PRIu32 ", n2 = %" PRIu32 " (6.4)\n", why->sample.n1, why->sample.n2);
    }
    if (!taps) {
        printf("%s\n", no_taps(f->kind));
    } else {
        printf("taps (6.5)\n");
        put_taps(why, f);
    }
    for (unsigned c = 0; c < 4 && !why->sampling.raw; c++) {
        printf("  %c", channel_names[c]);
        put_source(why, c);
        printf("\n");
        if (taps) {
            put_filter(why, c, f, &why->steps.channel[c]);
        }
        put_after(why, c, &why->steps.channel[c]);
    }
}

static void put_gather_channel(const struct gfx_why *why, unsigned c)
{
    const struct facet_gfx_gather *g = &why->gather;
    const struct facet_gfx_gather_channel_steps *s = &why->gather_steps.channel[c];
    char text[80];

    printf("  %c", channel_names[c]);
    put_source(why, c);
    printf("\n");
    for (unsigned k = 0; g->kind == FACET_GFX_TAPS && k < g->count; k++) {
        printf("    tap %u: ", k);
        put_acc(why, c, s->tap[k].filtered);
        if (!facet_format_is_int(why->numbers.channel[c].acc) || k + 1 == g->count) {
            printf(", %s ", g->weighted ? "sum" : k + 1 == g->count ? "mean" : "sum");
            put_acc(why, c, s->sum[k]);
        }
        put_raised(s->tap[k].tap_flags | s->tap[k].filter_flags);
    }
    if (s->whole.filter_flags != 0) {
        printf("    the sum raises %s\n", rt_why_flags(s->whole.filter_flags, text));
    }
    put_after(why, c, &s->whole);
}

static void put_gather(const struct gfx_why *why)
{
    const struct facet_gfx_gather *g = &why->gather;

    put_coordinate(why, "u", 0);
    printf("\n");
    put_coordinate(why, "v", 1);
    printf("\n");
    if (g->kind != FACET_GFX_TAPS) {
        printf("%s\n", no_taps(g->kind));
    } else {
        printf("position %.9g, %.9g (6.4)\n", texels(g->fx), texels(g->fy));
    }
    for (unsigned k = 0; g->kind == FACET_GFX_TAPS && k < g->count; k++) {
        printf("tap %u at %.9g, %.9g", k, texels(g->tap[k].fx), texels(g->tap[k].fy));
        if (why->weighted) {
            printf(", weight %.9g", gfx_why_value(&g->weight[k]));
        }
        printf(" (8)\n");
        if (g->tap[k].kind == FACET_GFX_TAPS) {
            put_taps(why, &g->tap[k]);
        } else {
            printf("  NaN offset: every channel is NaN\n");
        }
    }
    for (unsigned c = 0; c < 4; c++) {
        put_gather_channel(why, c);
    }
}

void gfx_why_text(const struct gfx_why *why)
{
    char text[80];

    put_head(why);
    if (why->gathers) {
        put_gather(why);
    } else {
        put_sample(why);
    }
    if (why->coordinate_flags != 0) {
        printf("reading the coordinates raises %s\n", rt_why_flags(why->coordinate_flags, text));
    }
    printf("result  ");
    for (unsigned c = 0; c < 4; c++) {
        printf(" %c ", channel_names[c]);
        put_element(why, why->out[c]);
    }
    printf("\nflags    %s\n", why->flags == 0 ? "none" : rt_why_flags(why->flags, text));
}
