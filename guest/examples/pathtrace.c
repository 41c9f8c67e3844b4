/* A path tracer: three balls and a block on a chequered floor under the sky. Surfaces scatter light
 * or mirror it, every ray goes through the RT unit, and the picture is shown by the framebuffer.
 *
 *     facet run pathtrace.elf 320x240 64 offload --framebuffer balls.png
 *
 * Words of the command line: the size, samples per pixel, and `inline` (RT.BBOX and RT.TRI, ray by
 * ray) or `offload` (rows of rays as jobs, XSUBMIT.RT). Without one of the two the picture is drawn
 * both ways and compared. A pixel is a function of its place alone, so any number of harts
 * (--harts 4) gives the same picture. */
#include "check.h"

#include <framebuffer.h>
#include <math.h>
#include <rt.h>
#include <semihost.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WIDTH = 640, MOST_HEIGHT = 480, MOST_HARTS = 8, BOUNCES = 6 };
enum { RINGS = 16, SIDES = 24, BALLS = 3, BALL_TRIANGLES = RINGS * SIDES * 2 };
enum { TRIANGLES = BALLS * BALL_TRIANGLES + 12 + 2 };

struct vec {
    float x, y, z;
};

enum surface { FLOOR, BLOCK, RED_BALL, MIRROR_BALL, BLUE_BALL };

/* ---- vectors ---- */

static struct vec vec(float x, float y, float z)
{
    return (struct vec){x, y, z};
}

static struct vec add(struct vec a, struct vec b)
{
    return vec(a.x + b.x, a.y + b.y, a.z + b.z);
}

static struct vec scale(struct vec a, float s)
{
    return vec(a.x * s, a.y * s, a.z * s);
}

static struct vec mul(struct vec a, struct vec b)
{
    return vec(a.x * b.x, a.y * b.y, a.z * b.z);
}

static float dot(struct vec a, struct vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static struct vec cross(struct vec a, struct vec b)
{
    return vec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static struct vec unit(struct vec a)
{
    return scale(a, 1 / sqrtf(dot(a, a)));
}

/* ---- the scene ---- */

static float triangles[TRIANGLES][9];
static uint8_t surface_of[TRIANGLES];
static int triangle_count;
static struct rt_bvh bvh;

static const struct {
    struct vec centre;
    float radius;
} balls[BALLS] = {
    {{-1.35f, 0.6f, 0.1f}, 0.6f}, {{0, 0.9f, -0.6f}, 0.9f}, {{1.25f, 0.5f, 0.4f}, 0.5f}};

static void triangle(enum surface surface, struct vec a, struct vec b, struct vec c)
{
    float v[9] = {a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z};

    memcpy(triangles[triangle_count], v, sizeof v);
    surface_of[triangle_count++] = (uint8_t)surface;
}

static struct vec on_ball(int ball, int ring, int side)
{
    float a = (float)ring / RINGS * 3.14159265f, b = (float)(side % SIDES) / SIDES * 6.2831853f;
    struct vec n = vec(sinf(a) * cosf(b), cosf(a), sinf(a) * sinf(b));

    return add(balls[ball].centre, scale(n, balls[ball].radius));
}

static void make_ball(int ball)
{
    for (int i = 0; i < RINGS * SIDES; i++) {
        int ring = i / SIDES, side = i % SIDES;
        struct vec a = on_ball(ball, ring, side), b = on_ball(ball, ring, side + 1);
        struct vec c = on_ball(ball, ring + 1, side), d = on_ball(ball, ring + 1, side + 1);

        triangle(RED_BALL + (unsigned)ball, a, b, c);
        triangle(RED_BALL + (unsigned)ball, c, b, d);
    }
}

/* A cube, stretched and turned; each face is two triangles. */
static void make_block(void)
{
    static const uint8_t faces[6][4] = {
        {0, 1, 3, 2}, {4, 6, 7, 5}, {0, 4, 5, 1}, {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 5, 7, 3}};
    struct vec corner[8];

    for (int i = 0; i < 8; i++) {
        float x = i & 4 ? 0.3f : -0.3f, y = i & 2 ? 0.35f : 0, z = i & 1 ? 0.3f : -0.3f;

        corner[i] = vec(0.1f + 0.8f * x - 0.6f * z, y, 1.1f + 0.6f * x + 0.8f * z);
    }
    for (int f = 0; f < 6; f++) {
        triangle(BLOCK, corner[faces[f][0]], corner[faces[f][1]], corner[faces[f][2]]);
        triangle(BLOCK, corner[faces[f][0]], corner[faces[f][2]], corner[faces[f][3]]);
    }
}

static void make_scene(void)
{
    size_t size = rt_build_bytes(TRIANGLES, 4);
    void *image = aligned_alloc(64, (size + 63) / 64 * 64);

    for (int i = 0; i < BALLS; i++) {
        make_ball(i);
    }
    make_block();
    triangle(FLOOR, vec(-8, 0, -8), vec(-8, 0, 8), vec(8, 0, 8));
    triangle(FLOOR, vec(-8, 0, -8), vec(8, 0, 8), vec(8, 0, -8));
    size = rt_build(image, &triangles[0][0], TRIANGLES, 4, 10);
    CHECK(rt_open(&bvh, image, size) == RT_OK);
}

/* ---- light ---- */

/* Blue above, pale towards the horizon, and a broad glow around the sun. */
static struct vec sky(struct vec d)
{
    static const struct vec sun = {0.51f, 0.68f, 0.53f};
    float up = fmaxf(d.y, 0), glow = fmaxf(dot(d, sun), 0);

    glow *= glow;
    glow *= glow;
    glow *= glow;
    return add(add(scale(vec(0.75f, 0.8f, 0.85f), 1 - up), scale(vec(0.25f, 0.45f, 0.8f), up)),
               scale(vec(1, 0.85f, 0.6f), 5 * glow * glow));
}

static struct vec colour_of(enum surface surface, struct vec at)
{
    int chequer = ((int)floorf(at.x * 1.5f) + (int)floorf(at.z * 1.5f)) & 1;

    switch (surface) {
    case FLOOR:
        return chequer ? vec(0.75f, 0.73f, 0.7f) : vec(0.2f, 0.22f, 0.25f);
    case BLOCK:
        return vec(0.85f, 0.62f, 0.2f);
    case RED_BALL:
        return vec(0.8f, 0.18f, 0.14f);
    case BLUE_BALL:
        return vec(0.15f, 0.35f, 0.75f);
    default:
        return vec(0.92f, 0.93f, 0.95f);
    }
}

/* ---- random numbers: a function of pixel, sample and use ---- */

static float random_number(uint32_t *state)
{
    uint32_t x = *state = *state * 747796405u + 2891336453u;

    x = ((x >> ((x >> 28) + 4)) ^ x) * 277803737u;
    return (float)((x >> 22 ^ x) >> 8) / 16777216.0f;
}

/* Around n, as often as light from there counts: a point of the unit sphere on top of n. */
static struct vec scatter(struct vec n, uint32_t *state)
{
    float z = 1 - 2 * random_number(state), a = 6.2831853f * random_number(state);
    float r = sqrtf(fmaxf(0, 1 - z * z));
    struct vec d = add(n, vec(r * cosf(a), r * sinf(a), z));

    return dot(d, d) > 1e-6f ? unit(d) : n;
}

/* ---- a row of paths ---- */

struct path {
    struct vec share; /* of the light found now that reaches the eye */
    struct vec light;
    uint32_t random, x;
};

struct worker {
    struct path paths[MOST_WIDTH];
    struct xphmg_ray_record_32 rays[MOST_WIDTH];
    struct rt_hit hits[MOST_WIDTH];
    bool found[MOST_WIDTH];
    struct vec sum[MOST_WIDTH];
    struct rt_batch batch;
    uint8_t memory[(MOST_WIDTH + 1) * 96] __attribute__((aligned(64)));
};

static struct worker workers[MOST_HARTS];
static int width = 64, height = 48, samples = 2;
static volatile bool offload;
static uint8_t *volatile pixels;
static volatile int next_row = MOST_HEIGHT, rows_done;
static uint64_t rays_traced;

static void set_ray(struct xphmg_ray_record_32 *ray, struct vec o, struct vec d)
{
    *ray = (struct xphmg_ray_record_32){{o.x, o.y, o.z}, {d.x, d.y, d.z}, 1e-3f, INFINITY};
}

static void start_path(struct worker *w, int x, int y, int sample)
{
    struct path *p = &w->paths[x];
    float half = 0.42f;
    struct vec eye = vec(0.4f, 1.7f, 5.2f), ahead = unit(vec(-0.07f, -0.2f, -1));
    struct vec right = unit(cross(ahead, vec(0, 1, 0))), up = cross(right, ahead);
    float u, v;

    *p = (struct path){.share = vec(1, 1, 1), .x = (uint32_t)x};
    p->random = ((uint32_t)y * MOST_WIDTH + (uint32_t)x) * 9781u + (uint32_t)sample * 26699u + 1u;
    (void)random_number(&p->random);
    u = 2 * ((float)x + random_number(&p->random)) / (float)width - 1;
    v = 1 - 2 * ((float)y + random_number(&p->random)) / (float)height;
    u *= half * (float)width / (float)height;
    set_ray(&w->rays[x], eye, add(ahead, add(scale(right, u), scale(up, v * half))));
}

/* Where the path goes after a hit. */
static void bounce(struct path *p, struct xphmg_ray_record_32 *ray, const struct rt_hit *hit)
{
    uint32_t number = bvh.origins[2 * hit->triangle + 1];
    const float *v = triangles[number];
    enum surface surface = surface_of[number];
    struct vec d = unit(vec(ray->direction[0], ray->direction[1], ray->direction[2]));
    struct vec a = vec(v[0], v[1], v[2]), ab = add(vec(v[3], v[4], v[5]), scale(a, -1));
    struct vec ac = add(vec(v[6], v[7], v[8]), scale(a, -1)), n;
    struct vec at = add(a, add(scale(ab, hit->u), scale(ac, hit->v)));

    if (surface >= RED_BALL) { /* the ball that the triangles stand for */
        n = unit(add(at, scale(balls[surface - RED_BALL].centre, -1)));
    } else {
        n = unit(cross(ab, ac));
    }
    n = dot(n, d) > 0 ? scale(n, -1) : n;
    p->share = mul(p->share, colour_of(surface, at));
    set_ray(ray,
            add(at, scale(n, 1e-4f)),
            surface == MIRROR_BALL ? add(d, scale(n, -2 * dot(n, d))) : scatter(n, &p->random));
}

static void trace(struct worker *w, int count)
{
    if (offload) {
        CHECK(rt_batch_trace(&w->batch, &bvh, w->rays, (uint32_t)count, false, w->found, w->hits) ==
              RT_OK);
        return;
    }
    for (int i = 0; i < count; i++) {
        w->found[i] = rt_closest(&bvh, &w->rays[i], &w->hits[i]) == RT_HIT;
    }
}

/* One sample of a row: all rays of the row, then all that continue, until none does. */
static void draw_sample(struct worker *w, int y, int sample)
{
    int count = width;

    for (int x = 0; x < width; x++) {
        start_path(w, x, y, sample);
    }
    for (int depth = 0; depth <= BOUNCES && count > 0; depth++) {
        int going = 0;

        trace(w, count);
        __atomic_fetch_add(&rays_traced, (uint64_t)count, __ATOMIC_RELAXED);
        for (int i = 0; i < count; i++) {
            struct path *p = &w->paths[i];
            const float *d = w->rays[i].direction;

            if (!w->found[i]) {
                w->sum[p->x] = add(w->sum[p->x], mul(p->share, sky(unit(vec(d[0], d[1], d[2])))));
                continue;
            }
            bounce(p, &w->rays[i], &w->hits[i]);
            w->paths[going] = *p;
            w->rays[going++] = w->rays[i];
        }
        count = going;
    }
}

/* Linear light to an sRGB code. */
static uint8_t encode(float light)
{
    float x = fminf(fmaxf(light, 0), 1);

    x = x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1 / 2.4f) - 0.055f;
    return (uint8_t)(x * 255 + 0.5f);
}

static void draw_rows(struct worker *w)
{
    int y;

    rt_use(&bvh);
    rt_batch_make(&w->batch, w->memory, MOST_WIDTH);
    while ((y = __atomic_fetch_add(&next_row, 1, __ATOMIC_ACQ_REL)) < height) {
        memset(w->sum, 0, sizeof w->sum);
        for (int sample = 0; sample < samples; sample++) {
            draw_sample(w, y, sample);
        }
        for (int x = 0; x < width; x++) {
            uint8_t *pixel = pixels + 4 * (y * width + x);
            struct vec light = scale(w->sum[x], 1 / (float)samples);

            pixel[0] = encode(light.x);
            pixel[1] = encode(light.y);
            pixel[2] = encode(light.z);
            pixel[3] = 255;
        }
        __atomic_fetch_add(&rows_done, 1, __ATOMIC_ACQ_REL);
    }
}

/* The other harts help: each takes the next row that is left. */
void guest_hart(uint64_t hart);
void guest_hart(uint64_t hart)
{
    while (hart < MOST_HARTS) {
        if (next_row < height) {
            draw_rows(&workers[hart]);
        }
    }
}

static void draw(uint8_t *to, bool by_jobs)
{
    offload = by_jobs;
    pixels = to;
    rows_done = 0;
    __atomic_store_n(&next_row, 0, __ATOMIC_RELEASE);
    draw_rows(&workers[0]);
    while (__atomic_load_n(&rows_done, __ATOMIC_ACQUIRE) < height) {
    }
    framebuffer_show(to, (uint32_t)width, (uint32_t)height, FRAMEBUFFER_RGBX8);
}

static uint32_t checksum(const uint8_t *bytes)
{
    uint32_t sum = 2166136261u;

    for (int i = 0; i < 4 * width * height; i++) {
        sum = (sum ^ bytes[i]) * 16777619u;
    }
    return sum;
}

int main(void)
{
    char line[256] = "", *word, *rest = line;
    bool by_jobs = false, inline_only = false;
    uint8_t *first = malloc(4 * MOST_WIDTH * MOST_HEIGHT), *second;
    int w, h;

    (void)sys_semihost_get_cmdline(line, sizeof line);
    (void)strtok_r(rest, " ", &rest); /* the program */
    while ((word = strtok_r(rest, " ", &rest)) != NULL) {
        if (sscanf(word, "%dx%d", &w, &h) == 2 && w > 0 && h > 0 && w <= MOST_WIDTH &&
            h <= MOST_HEIGHT) {
            width = w;
            height = h;
        } else if (strcmp(word, "offload") == 0) {
            by_jobs = true;
        } else if (strcmp(word, "inline") == 0) {
            inline_only = true;
        } else if (sscanf(word, "%d", &w) == 1 && w > 0) {
            samples = w;
        } else {
            printf("%s: expected a size up to %dx%d, a number of samples, inline or offload\n",
                   word,
                   MOST_WIDTH,
                   MOST_HEIGHT);
            return 2;
        }
    }
    make_scene();
    draw(first, by_jobs);
    if (!by_jobs && !inline_only) {
        second = malloc(4 * MOST_WIDTH * MOST_HEIGHT);
        draw(second, true);
        CHECK(memcmp(first, second, (size_t)(4 * width * height)) == 0);
    }
    printf("%d x %d, %d samples, %lld rays, checksum %08x\n",
           width,
           height,
           samples,
           (long long)rays_traced,
           (unsigned)checksum(first));
    return verdict("pathtrace");
}
