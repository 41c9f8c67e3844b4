/* Colour, drawing and comparison: everything about pictures that needs no file. */
#include "harness.h"

#include "image/color.h"
#include "image/compare.h"
#include "image/text.h"

#include <math.h>
#include <stdlib.h>

/* The curve in long double, independently of the tables. */
static long double curve(long double code)
{
    return code <= 0.04045L ? code / 12.92L : powl((code + 0.055L) / 1.055L, 2.4L);
}

TEST(srgb_to_linear_is_the_nearest_float, "")
{
    for (unsigned code = 0; code < 256; code++) {
        float got = facet_image_srgb_to_linear((uint8_t)code);
        long double exact = curve((long double)code / 255.0L);
        long double here = fabsl((long double)got - exact);

        CHECK_MSG(here <= fabsl((long double)nextafterf(got, 2.0F) - exact) &&
                      here <= fabsl((long double)nextafterf(got, -1.0F) - exact),
                  "code %u",
                  code);
    }
}

TEST(srgb_codes_survive_a_round_trip, "")
{
    for (unsigned code = 0; code < 256; code++) {
        CHECK_EQ(facet_image_linear_to_srgb(facet_image_srgb_to_linear((uint8_t)code)), code);
    }
}

TEST(linear_to_srgb_switches_at_the_middle_between_codes, "")
{
    for (unsigned code = 1; code < 256; code++) {
        long double middle = curve(((long double)code - 0.5L) / 255.0L);
        float at = (float)middle;

        while ((long double)at < middle) {
            at = nextafterf(at, 2.0F);
        }
        while ((long double)nextafterf(at, -1.0F) >= middle) {
            at = nextafterf(at, -1.0F);
        }
        CHECK_EQ(facet_image_linear_to_srgb(at), code);
        CHECK_EQ(facet_image_linear_to_srgb(nextafterf(at, -1.0F)), code - 1);
    }
}

TEST(linear_to_srgb_takes_any_float, "")
{
    CHECK_EQ(facet_image_linear_to_srgb(-1.0F), 0);
    CHECK_EQ(facet_image_linear_to_srgb(-0.0F), 0);
    CHECK_EQ(facet_image_linear_to_srgb(NAN), 0);
    CHECK_EQ(facet_image_linear_to_srgb(INFINITY), 255);
    CHECK_EQ(facet_image_linear_to_srgb(1.0F), 255);
    CHECK_EQ(facet_image_linear_to_srgb(1e-30F), 0);
}

TEST(tone_mapping, "")
{
    struct facet_tone_curve clamp = {FACET_TONE_CLAMP, 2.0F, 0.0F};
    struct facet_tone_curve reinhard = {FACET_TONE_REINHARD, 1.0F, 4.0F};
    const float light[3] = {0.25F, 3.0F, -1.0F}, white[3] = {4.0F, 4.0F, 4.0F};
    const float bad[3] = {NAN, INFINITY, 1.0F};
    float out[3];

    facet_image_tone_map(&clamp, light, out);
    CHECK(out[0] == 0.5F && out[1] == 1.0F && out[2] == 0.0F);
    facet_image_tone_map(&reinhard, white, out);
    CHECK(fabsf(out[0] - 1.0F) < 1e-6F && out[0] == out[1] && out[1] == out[2]);
    facet_image_tone_map(&clamp, bad, out);
    CHECK(out[0] == 0.0F && out[1] == 1.0F);
}

TEST(float_pictures_become_bytes, "")
{
    struct facet_tone_curve plain = {FACET_TONE_CLAMP, 1.0F, 0.0F};
    struct facet_image_f from;
    struct facet_image to;

    CHECK_EQ(facet_image_f_create(&from, 3, 2, NULL), FACET_OK);
    from.rgb[3 * 5] = 1.0F;
    from.rgb[3 * 5 + 1] = facet_image_srgb_to_linear(77);
    CHECK_EQ(facet_image_from_float(&from, &plain, &to, NULL), FACET_OK);
    CHECK_EQ(facet_image_at(&to, 2, 1)[0], 255);
    CHECK_EQ(facet_image_at(&to, 2, 1)[1], 77);
    CHECK_EQ(facet_image_at(&to, 2, 1)[3], 255);
    CHECK_EQ(facet_image_at(&to, 0, 0)[0], 0);
    facet_image_f_free(&from);
    facet_image_free(&to);
}

TEST(absurd_sizes_are_refused, "")
{
    struct facet_image image;
    struct facet_error err;

    CHECK_EQ(facet_image_create(&image, 0, 5, &err), FACET_ERR_LIMIT);
    CHECK_EQ(facet_image_create(&image, 32769, 1, &err), FACET_ERR_LIMIT);
    CHECK_EQ(facet_image_create(&image, 32768, 32768, &err), FACET_ERR_LIMIT);
    CHECK(image.rgba == NULL);
}

TEST(fill_and_blit_are_clipped, "")
{
    const uint8_t red[4] = {255, 0, 0, 255};
    struct facet_image big, small;

    CHECK_EQ(facet_image_create(&big, 8, 6, NULL), FACET_OK);
    CHECK_EQ(facet_image_create(&small, 4, 4, NULL), FACET_OK);
    facet_image_fill(&small, -100, -100, 200, 200, red);
    CHECK_EQ(facet_image_at(&small, 3, 3)[0], 255);
    facet_image_fill(&big, INT64_MAX - 2, 0, 10, 10, red);
    facet_image_fill(&big, INT64_MIN, 0, INT64_MAX, 10, red);
    facet_image_fill(&big, 2, 2, -1, 3, red);
    CHECK_EQ(facet_image_at(&big, 0, 0)[0], 0);
    facet_image_blit(&big, 6, -2, &small);
    CHECK_EQ(facet_image_at(&big, 6, 0)[0], 255);
    CHECK_EQ(facet_image_at(&big, 7, 1)[0], 255);
    CHECK_EQ(facet_image_at(&big, 5, 0)[0], 0);
    CHECK_EQ(facet_image_at(&big, 6, 2)[0], 0);
    facet_image_free(&big);
    facet_image_free(&small);
}

static unsigned lit(const struct facet_image *image)
{
    unsigned count = 0;

    for (size_t i = 0; i < (size_t)image->width * image->height; i++) {
        count += image->rgba[4 * i] != 0;
    }
    return count;
}

TEST(text_draws_the_right_dots, "")
{
    const uint8_t white[4] = {255, 255, 255, 255};
    struct facet_image image;

    CHECK_EQ(facet_image_create(&image, 40, 24, NULL), FACET_OK);
    facet_image_text(&image, 1, 1, 1, white, "I");
    /* Two serifs of three dots and a stem of five. */
    CHECK_EQ(lit(&image), 11);
    CHECK_EQ(facet_image_at(&image, 3, 4)[0], 255);
    CHECK_EQ(facet_image_at(&image, 2, 4)[0], 0);
    facet_image_text(&image, 1, 1, 2, white, " \n ");
    CHECK_EQ(lit(&image), 11);
    facet_image_text(&image, 20, 2, 2, white, ".");
    CHECK_EQ(lit(&image), 11 + 4 * 4);
    facet_image_text(&image, -1000, 3, 1, white, "out of sight");
    facet_image_text(&image, 38, 20, 3, white, "\x80\xFF");
    CHECK_EQ(facet_image_text_width(2, "ab\nabc"), 36);
    facet_image_free(&image);
}

/* Every printable character has a glyph of its own. */
TEST(glyphs_are_distinct, "")
{
    const uint8_t white[4] = {255, 255, 255, 255};
    struct facet_image images[95];

    for (int c = 0; c < 95; c++) {
        char text[2] = {(char)(c + 32), '\0'};

        CHECK_EQ(facet_image_create(&images[c], 6, 9, NULL), FACET_OK);
        facet_image_text(&images[c], 0, 0, 1, white, text);
        CHECK_EQ(lit(&images[c]) == 0, c == 0);
        for (int other = 0; other < c; other++) {
            CHECK_MSG(memcmp(images[c].rgba, images[other].rgba, 4 * 6 * 9) != 0,
                      "'%c' looks like '%c'",
                      c + 32,
                      other + 32);
        }
    }
    for (int c = 0; c < 95; c++) {
        facet_image_free(&images[c]);
    }
}

TEST(compare_counts_and_finds_the_first_difference, "")
{
    struct facet_image a, b;
    struct facet_image_diff diff;
    struct facet_error err;

    CHECK_EQ(facet_image_create(&a, 10, 10, NULL), FACET_OK);
    CHECK_EQ(facet_image_create(&b, 10, 10, NULL), FACET_OK);
    CHECK_EQ(facet_image_compare(&a, &b, &diff, &err), FACET_OK);
    CHECK(diff.differing == 0 && isinf(diff.psnr_db));
    facet_image_at(&b, 7, 3)[2] = 20;
    facet_image_at(&b, 2, 4)[3] = 10;
    CHECK_EQ(facet_image_compare(&a, &b, &diff, &err), FACET_OK);
    CHECK_EQ(diff.differing, 2);
    CHECK_EQ(diff.max_difference, 20);
    CHECK_EQ(diff.first_x, 7);
    CHECK_EQ(diff.first_y, 3);
    CHECK_EQ(diff.first_b[2], 20);
    CHECK(fabs(diff.mean_squared_error - 500.0 / 400.0) < 1e-12);
    CHECK(fabs(diff.psnr_db - 10.0 * log10(65025.0 / 1.25)) < 1e-9);
    facet_image_free(&b);
    CHECK_EQ(facet_image_create(&b, 10, 11, NULL), FACET_OK);
    CHECK_EQ(facet_image_compare(&a, &b, &diff, &err), FACET_ERR_INPUT);
    CHECK(strstr(err.message, "10 x 10 and 10 x 11") != NULL);
    facet_image_free(&a);
    facet_image_free(&b);
}

TEST(heat_map_shows_only_differences_in_colour, "")
{
    struct facet_image a, b, heat;

    CHECK_EQ(facet_image_create(&a, 4, 1, NULL), FACET_OK);
    CHECK_EQ(facet_image_create(&b, 4, 1, NULL), FACET_OK);
    facet_image_at(&a, 0, 0)[0] = facet_image_at(&b, 0, 0)[0] = 200;
    facet_image_at(&b, 1, 0)[0] = 1;
    facet_image_at(&b, 2, 0)[0] = 255;
    CHECK_EQ(facet_image_heatmap(&a, &b, &heat, NULL), FACET_OK);
    for (unsigned x = 0; x < 4; x += 3) {
        const uint8_t *p = facet_image_at(&heat, x, 0);

        CHECK(p[0] == p[1] && p[1] == p[2] && p[0] < 64);
    }
    CHECK(facet_image_at(&heat, 1, 0)[2] > 128 && facet_image_at(&heat, 1, 0)[0] < 64);
    CHECK_EQ(facet_image_at(&heat, 2, 0)[0], 255);
    CHECK_EQ(facet_image_at(&heat, 2, 0)[1], 255);
    facet_image_free(&a);
    facet_image_free(&b);
    facet_image_free(&heat);
}
