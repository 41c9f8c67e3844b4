/* `rt-guest` of `facet bench hart`: rays against boxes and triangles, by RT.BBOX and RT.TRI, four
 * at a time; with FALLBACK, for machines without them, the same tests in C, to the same bits, with
 * what belongs to a ray computed once. */
#include <stdbool.h>
#include <stdint.h>

enum { RAYS = 32, NODES = 64, LEAVES = 64, LANES = 4 };

struct ray {
    float o[3], d[3], tmin, tmax;
};
struct node {
    float box[LANES][6];
    uint32_t unused[4], index[3], flags;
} __attribute__((aligned(128)));
struct range {
    uint32_t first, count;
    uint64_t base;
} __attribute__((aligned(16)));

static struct ray rays[RAYS];
static struct node nodes[NODES];
static struct range leaves[LEAVES];
static float triangles[LEAVES * LANES][9];

static uint32_t seed;

/* -1 to 1 in steps of 1/1024 */
static float number(void)
{
    seed = seed * 1664525 + 1013904223;
    return (float)((int)(seed >> 21) - 1024) * (1.0f / 1024);
}

static void make_scene(void)
{
    seed = 1;
    for (int i = 0; i < NODES; i++) {
        nodes[i].flags = 0x55; /* four nodes */
        for (int k = 0; k < LANES; k++) {
            for (int a = 0; a < 3; a++) {
                float at = number(), half = number() * 0.5f;

                half = half < 0 ? -half : half;
                nodes[i].box[k][a] = at - half;
                nodes[i].box[k][3 + a] = at + half;
            }
        }
    }
    for (int i = 0; i < LEAVES * LANES; i++) {
        for (int k = 0; k < 9; k++) {
            triangles[i][k] = number();
        }
    }
    for (int i = 0; i < LEAVES; i++) {
        leaves[i] = (struct range){(uint32_t)(i * LANES), LANES, (uint64_t)triangles};
    }
    for (int i = 0; i < RAYS; i++) {
        for (int a = 0; a < 3; a++) {
            rays[i].o[a] = 2 * number() + 0.03125f;
            rays[i].d[a] = 0.0004f - rays[i].o[a] + 0.5f * number();
        }
        rays[i].tmax = 100;
    }
}

static uint32_t bits(float value)
{
    uint32_t word;

    __builtin_memcpy(&word, &value, sizeof word);
    return word;
}

#ifdef FALLBACK

struct view {
    float inverse[3];
    bool negative[3];
    int kx, ky, kz;
    float sx, sy, sz;
};

static void prepare(const struct ray *ray, struct view *v)
{
    const float *d = ray->d;

    for (int a = 0; a < 3; a++) {
        v->inverse[a] = 1 / d[a];
        v->negative[a] = d[a] < 0;
    }
    v->kz = __builtin_fabsf(d[1]) > __builtin_fabsf(d[0]) ? 1 : 0;
    v->kz = __builtin_fabsf(d[2]) > __builtin_fabsf(d[v->kz]) ? 2 : v->kz;
    v->kx = d[v->kz] < 0 ? (v->kz + 2) % 3 : (v->kz + 1) % 3;
    v->ky = d[v->kz] < 0 ? (v->kz + 1) % 3 : (v->kz + 2) % 3;
    v->sx = d[v->kx] / d[v->kz];
    v->sy = d[v->ky] / d[v->kz];
    v->sz = 1 / d[v->kz];
}

static uint64_t test_node(const struct ray *ray, const struct view *v, const struct node *node)
{
    uint64_t sum = 0;

    for (int k = 0; k < LANES; k++) {
        float near = ray->tmin, far = ray->tmax;

        for (int a = 0; a < 3; a++) {
            float lo = node->box[k][a], hi = node->box[k][3 + a];
            float tn = ((v->negative[a] ? hi : lo) - ray->o[a]) * v->inverse[a];
            float tf = ((v->negative[a] ? lo : hi) - ray->o[a]) * v->inverse[a];

            near = tn > near ? tn : near;
            far = tf < far ? tf : far;
        }
        if (near <= far) {
            sum += bits(near) + 3 * (uint64_t)bits(far);
        }
    }
    return sum;
}

/* a*b - c*d, rounded once: the difference of the exact products is rounded to odd first. */
static float dp2(float a, float b, float c, float d)
{
    double p = (double)a * b, q = (double)c * d, s = p - q;
    double back = s - p, error = (p - (s - back)) - (q + back);
    uint64_t word;

    __builtin_memcpy(&word, &s, sizeof word);
    if (error != 0 && (word & 1) == 0) {
        word += (error > 0) == (s > 0) ? 1 : UINT64_MAX;
        __builtin_memcpy(&s, &word, sizeof s);
    }
    return (float)s;
}

static uint64_t
test_triangle(const struct ray *ray, const struct view *view, const float corners[9])
{
    float x[3], y[3], q[3], u, v, w, det, t;

    for (int j = 0; j < 3; j++) {
        float p[3];

        for (int a = 0; a < 3; a++) {
            p[a] = corners[3 * j + a] - ray->o[a];
        }
        q[j] = p[view->kz];
        x[j] = __builtin_fmaf(-view->sx, q[j], p[view->kx]);
        y[j] = __builtin_fmaf(-view->sy, q[j], p[view->ky]);
    }
    u = dp2(x[2], y[1], y[2], x[1]);
    v = dp2(x[0], y[2], y[0], x[2]);
    w = dp2(x[1], y[0], y[1], x[0]);
    if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) {
        return 0;
    }
    det = u + v + w;
    t = __builtin_fmaf(
            u, view->sz * q[0], __builtin_fmaf(v, view->sz * q[1], w * (view->sz * q[2]))) /
        det;
    if (!(__builtin_fabsf(det) > 0) || !(t >= ray->tmin && t <= ray->tmax)) {
        return 0;
    }
    return bits(t) + 3 * (uint64_t)bits(__builtin_fabsf(v) / __builtin_fabsf(det)) +
           5 * (uint64_t)bits(__builtin_fabsf(w) / __builtin_fabsf(det));
}

static uint64_t test_leaf(const struct ray *ray, const struct view *v, const struct range *leaf)
{
    uint64_t sum = 0;

    for (uint32_t k = 0; k < leaf->count; k++) {
        sum += test_triangle(ray, v, (const float *)leaf->base + 9 * (uint64_t)(leaf->first + k));
    }
    return sum;
}

#else

#define PREFIX ".word 0x0c10400b\n" /* svp.one.vlstep 4, 0, 1 */

struct view {
    int none;
};

static void prepare(const struct ray *ray, struct view *v)
{
    (void)ray, (void)v;
}

static uint64_t test_node(const struct ray *ray, const struct view *v, const struct node *node)
{
    register uint64_t h0 __asm__("x12"), h1 __asm__("x13"), h2 __asm__("x14"), h3 __asm__("x15");
    register uint64_t n0 __asm__("x16"), n1 __asm__("x17"), n2 __asm__("x18"), n3 __asm__("x19");
    register uint64_t f0 __asm__("x20"), f1 __asm__("x21"), f2 __asm__("x22"), f3 __asm__("x23");

    (void)v;
    __asm__ volatile("csrw 0x82A, %[node]\n" PREFIX
                     ".insn i 0x0B, 6, x12, %[ray], 1\n" /* rt.bbox */
                     : "=r"(h0),
                       "=r"(h1),
                       "=r"(h2),
                       "=r"(h3),
                       "=r"(n0),
                       "=r"(n1),
                       "=r"(n2),
                       "=r"(n3),
                       "=r"(f0),
                       "=r"(f1),
                       "=r"(f2),
                       "=r"(f3)
                     : [node] "r"(node), [ray] "r"(ray)
                     : "memory");
    return (-h0 & (n0 + 3 * f0)) + (-h1 & (n1 + 3 * f1)) + (-h2 & (n2 + 3 * f2)) +
           (-h3 & (n3 + 3 * f3));
}

static uint64_t test_leaf(const struct ray *ray, const struct view *v, const struct range *leaf)
{
    register uint64_t h0 __asm__("x12"), h1 __asm__("x13"), h2 __asm__("x14"), h3 __asm__("x15");
    register uint64_t t0 __asm__("x16"), t1 __asm__("x17"), t2 __asm__("x18"), t3 __asm__("x19");
    register uint64_t u0 __asm__("x20"), u1 __asm__("x21"), u2 __asm__("x22"), u3 __asm__("x23");
    register uint64_t v0 __asm__("x24"), v1 __asm__("x25"), v2 __asm__("x26"), v3 __asm__("x27");

    (void)v;
    __asm__ volatile("csrw 0x82B, %[leaf]\n" PREFIX ".insn i 0x0B, 7, x12, %[ray], 0\n" /* rt.tri */
                     : "=r"(h0),
                       "=r"(h1),
                       "=r"(h2),
                       "=r"(h3),
                       "=r"(t0),
                       "=r"(t1),
                       "=r"(t2),
                       "=r"(t3),
                       "=r"(u0),
                       "=r"(u1),
                       "=r"(u2),
                       "=r"(u3),
                       "=r"(v0),
                       "=r"(v1),
                       "=r"(v2),
                       "=r"(v3)
                     : [leaf] "r"(leaf), [ray] "r"(ray)
                     : "memory");
    return (-h0 & (t0 + 3 * u0 + 5 * v0)) + (-h1 & (t1 + 3 * u1 + 5 * v1)) +
           (-h2 & (t2 + 3 * u2 + 5 * v2)) + (-h3 & (t3 + 3 * u3 + 5 * v3));
}

#endif

extern const volatile long rounds; /* start.S; set by who runs the program */

/* What a round comes to, on any machine. */
#define EXPECTED UINT64_C(0x00000F519C8C142D)

int main(void)
{
#ifndef FALLBACK
    __asm__ volatile("csrw 0x7D0, %0" : : "r"(UINT64_C(0x8000000000300000))); /* FP32 */
#endif
    make_scene();
    for (long i = 0; i < rounds; i++) {
        uint64_t sum = 0;

        for (int r = 0; r < RAYS; r++) {
            struct view view;

            prepare(&rays[r], &view);
            for (int n = 0; n < NODES; n++) {
                sum += test_node(&rays[r], &view, &nodes[n]);
            }
            for (int n = 0; n < LEAVES; n++) {
                sum += test_leaf(&rays[r], &view, &leaves[n]);
            }
        }
        if (sum != EXPECTED) {
            return 1;
        }
    }
    return 0;
}
