/* Words and numbers of text files, and polygons cut into triangles. */
#include "harness.h"

#include "base/float.h"
#include "scene/polygon.h"
#include "scene/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- numbers ---- */

static void check_number(const char *text)
{
    const struct facet_span span = {text, strlen(text)};
    const float expected = strtof(text, NULL);
    float got = 0.0F;
    const bool ok = facet_span_float(span, &got);

    CHECK_MSG(ok == (bool)isfinite(expected), "%s: %d", text, ok);
    CHECK_MSG(!ok || memcmp(&got, &expected, sizeof got) == 0,
              "%s: %.9g, expected %.9g",
              text,
              (double)got,
              (double)expected);
}

TEST(numbers_are_the_nearest_floats, "")
{
    static const char *const rows[] = {
        "0",
        "-0",
        "+1",
        "1.",
        ".5",
        "-.5e1",
        "1e5",
        "1E-5",
        "00012.50",
        "0.000000000000000000001",
        "16777217",
        "16777219",
        "1.00000005960464477539",
        "1.00000005960464477540",
        "1.000000059604644775390625",
        "1.0000000596046447753906251",
        "8.000001430511474",
        "8.000000476837159",
        "0.1",
        "3.4028235e38",
        "3.4028236e38",
        "1e39",
        "-1e999999999",
        "1e-45",
        "7e-46",
        "1e-999999999",
        "1.17549435e-38",
        "9007199254740993",
        "123456789012345678",
        "1234567890123456789012345678901234567890",
        "0.30000001192092895507812499999999999999999999999999999999999999999999999999999999999"};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_number(rows[i]);
    }
    for (unsigned i = 0; i < 200000; i++) {
        const uint32_t bits = (uint32_t)harness_random();
        float value;
        char text[64];

        value = facet_float_of(bits);
        (void)snprintf(text, sizeof text, "%.*e", (int)(i % 20), (double)value);
        if (isfinite(value)) {
            check_number(text);
        }
        /* Between two floats, and a hair beside. */
        (void)snprintf(text, sizeof text, "%u.5%s", bits >> 8 | 1U << 23, i % 2 ? "" : "0000001");
        check_number(text);
    }
}

TEST(words_that_are_no_numbers, "")
{
    static const char *const rows[] = {
        "", "-", "+", ".", "e5", "1e", "1e+", "1x", "1.2.3", "nan", "inf", "0x10", "1,5", "--1"};
    char digits[1001];
    float value;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_MSG(!facet_span_float((struct facet_span){rows[i], strlen(rows[i])}, &value),
                  "\"%s\"",
                  rows[i]);
    }
    memset(digits, '1', sizeof digits);
    CHECK(!facet_span_float((struct facet_span){digits, sizeof digits}, &value));
    digits[1] = '.';
    CHECK(facet_span_float((struct facet_span){digits, 800}, &value) &&
          value == 1.1111111111111111F);
}

TEST(lines_are_counted_and_joined, "")
{
    static const char bytes[] = "a b\\\nc\n\nd\\\r\n\\e\rf";
    struct facet_text text = facet_text_of(bytes, sizeof bytes - 1);
    char seen[100] = "";
    struct facet_span word;

    text.continues = true;
    do {
        while (facet_text_word(&text, &word)) {
            size_t used = strlen(seen);

            (void)snprintf(seen + used,
                           sizeof seen - used,
                           "%u%.*s ",
                           text.line,
                           FACET_SPAN_ARGS(word, (size_t)9));
        }
    } while (facet_text_next_line(&text));
    CHECK_STR(seen, "1a 1b 2c 4d 5\\e 6f ");
}

/* ---- polygons ---- */

static double area(const float *p, uint32_t a, uint32_t b, uint32_t c)
{
    return ((double)p[3 * b] - (double)p[3 * a]) * ((double)p[3 * c + 1] - (double)p[3 * a + 1]) -
           ((double)p[3 * b + 1] - (double)p[3 * a + 1]) * ((double)p[3 * c] - (double)p[3 * a]);
}

/* Every triangle turns left, and together they have the area of the polygon: no overlap, no hole.
 */
static void check_cut(const float *points, uint32_t count, const char *what)
{
    uint32_t *triangles = malloc(3 * (size_t)count * sizeof *triangles);
    double sum = 0.0, expected = 0.0;

    CHECK_MSG(facet_polygon_cut(points, count, triangles), "%s", what);
    for (uint32_t i = 0; i < count; i++) {
        expected += (double)points[3 * i] * (double)points[3 * ((i + 1) % count) + 1] -
                    (double)points[3 * i + 1] * (double)points[3 * ((i + 1) % count)];
    }
    for (uint32_t i = 0; i < count - 2; i++) {
        const uint32_t *t = triangles + 3 * (size_t)i;
        double one = area(points, t[0], t[1], t[2]);

        CHECK_MSG(t[0] < count && t[1] < count && t[2] < count && one > 0.0,
                  "%s: triangle %u has area %g",
                  what,
                  i,
                  one);
        sum += one;
    }
    CHECK_MSG(fabs(sum - expected) <= 1e-9 * expected, "%s: area %g of %g", what, sum, expected);
    free(triangles);
}

TEST(polygons_are_cut_without_overlap, "")
{
    static const float dart[] = {0, 0, 0, 4, 0, 0, 1, 1, 0, 0, 4, 0};
    static const float comb[] = {0, 0, 0, 5, 0, 0, 5, 3, 0, 4, 1, 0,
                                 3, 3, 0, 2, 1, 0, 1, 3, 0, 0, 1, 0};
    static const float midpoints[] = {0, 0, 0, 1, 0, 0, 2, 0, 0, 2, 1,
                                      0, 2, 2, 0, 1, 2, 0, 0, 2, 0};
    /* A hole, joined to the outline by an edge that is walked twice. */
    static const float ring[] = {0, 0, 0, 9, 0, 0, 9, 9, 0, 0, 9, 0, 0, 0, 0,
                                 3, 3, 0, 3, 6, 0, 6, 6, 0, 6, 3, 0, 3, 3, 0};

    check_cut(dart, 4, "dart");
    check_cut(comb, 8, "comb");
    check_cut(midpoints, 7, "corners on edges");
    check_cut(ring, 10, "ring");
    for (unsigned round = 0; round < 500; round++) {
        const uint32_t count = 4 + (uint32_t)(harness_random() % 60);
        float star[3 * 64];

        for (uint32_t i = 0; i < count; i++) {
            const double angle = 6.283185307179586 * i / count;
            const double radius = 1.0 + (double)(harness_random() % 1000) / 100;

            star[3 * i] = (float)(radius * cos(angle));
            star[3 * i + 1] = (float)(radius * sin(angle));
            star[3 * i + 2] = 0.0F;
        }
        check_cut(star, count, "star");
    }
}

/* Seen from the other side, and along the other axes: still the same cut. */
TEST(polygons_face_any_way, "")
{
    static const float comb[5][2] = {{0, 0}, {4, 0}, {4, 4}, {2, 1}, {0, 4}};

    for (unsigned way = 0; way < 6; way++) {
        float points[15], normal[3];
        uint32_t triangles[9], expected[9];
        double sum = 0.0;

        for (unsigned i = 0; i < 5; i++) {
            const unsigned from = way < 3 ? i : (5 - i) % 5;

            points[3 * i + way % 3] = 7.0F;
            points[3 * i + (way + 1) % 3] = comb[from][0];
            points[3 * i + (way + 2) % 3] = comb[from][1];
        }
        facet_polygon_normal(points, 5, normal);
        for (unsigned k = 0; k < 3; k++) {
            CHECK(normal[k] == (k != way % 3 ? 0.0F : way < 3 ? 1.0F : -1.0F));
        }
        CHECK(facet_polygon_cut(points, 5, triangles));
        for (unsigned i = 0; i < 9; i += 3) {
            float flat[9];

            for (unsigned k = 0; k < 3; k++) {
                flat[3 * k] = points[3 * triangles[i + k] + (way + 1) % 3];
                flat[3 * k + 1] = points[3 * triangles[i + k] + (way + 2) % 3];
            }
            sum += fabs(area(flat, 0, 1, 2));
        }
        CHECK_MSG(sum == 20.0, "way %u: %g", way, sum); /* no overlap */
        if (way % 3 == 0) {
            memcpy(expected, triangles, sizeof expected);
        }
        CHECK(memcmp(expected, triangles, sizeof expected) == 0);
    }
}

TEST(polygons_without_sense_end_as_fans, "")
{
    static const float bow[] = {0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 0, -1, 5, 0};
    static const float point[12] = {0};
    uint32_t triangles[3 * 2000];
    float many[3 * 2000], normal[3];

    CHECK(facet_polygon_cut(bow, 5, triangles));
    for (unsigned i = 0; i < 9; i++) {
        CHECK(triangles[i] < 5);
    }
    CHECK(facet_polygon_cut(point, 4, triangles));
    CHECK(triangles[3] == 0 && triangles[4] == 2 && triangles[5] == 3);
    facet_polygon_normal(point, 4, normal);
    CHECK(normal[0] == 0 && normal[1] == 0 && normal[2] == 0);
    for (unsigned i = 0; i < 2000; i++) {
        const double angle = 6.283185307179586 * i / 2000;

        many[3 * i] = (float)(1000 * cos(angle));
        many[3 * i + 1] = (float)(1000 * sin(angle));
        many[3 * i + 2] = 0.0F;
    }
    CHECK(facet_polygon_cut(many, 2000, triangles)); /* convex: any number */
    many[0] = 0.0F;
    CHECK(!facet_polygon_cut(many, 2000, triangles));
    CHECK(triangles[3 * 1997] == 0 && triangles[3 * 1997 + 2] == 1999);
}

/* A spiral band: ears are only at its ends, and every inner corner lies in many triangles of
 * others. A hundred of them, each with as many corners as are tried, end at once. */
TEST(many_corners_take_no_long_time, "")
{
    enum { CORNERS = 1024, TURNS = 40 };
    float *spiral = malloc(3 * CORNERS * sizeof *spiral);

    for (unsigned i = 0; i < CORNERS; i++) {
        const bool inner = i >= CORNERS / 2;
        const double along = inner ? CORNERS - 1 - i : i;
        const double angle = 6.283185307179586 * TURNS * along / (CORNERS / 2.0);
        const double radius = 2.0 + angle + (inner ? -1.5 : 0.0);

        spiral[3 * i] = (float)(radius * cos(angle));
        spiral[3 * i + 1] = (float)(radius * sin(angle));
        spiral[3 * i + 2] = 0.0F;
    }
    for (unsigned round = 0; round < 100; round++) {
        check_cut(spiral, CORNERS, "spiral");
    }
    free(spiral);
}
