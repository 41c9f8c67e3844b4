/* `fp` of `facet bench hart`: double and single precision. Each round moves five bodies under
 * gravity, solves a linear system by LU, and counts the points of a Mandelbrot picture in single
 * precision; the bits of the results must come out the same each time. */
#include <stdint.h>

enum { BODIES = 5, STEPS = 40, SIDE = 16, PICTURE = 16, TURNS = 40 };

struct body {
    double at[3], speed[3], mass;
};

static uint64_t bits(double value)
{
    uint64_t b;

    __builtin_memcpy(&b, &value, sizeof b);
    return b;
}

static double root(double value)
{
    double r;

    __asm__("fsqrt.d %0, %1" : "=f"(r) : "f"(value));
    return r;
}

static __attribute__((noinline)) double move_bodies(void)
{
    struct body bodies[BODIES];
    double energy = 0;

    for (int i = 0; i < BODIES; i++) {
        for (int k = 0; k < 3; k++) {
            bodies[i].at[k] = 1.5 * i + 0.37 * k * (i - 2);
            bodies[i].speed[k] = 0.11 * (k - 1) * (i - 1.7);
        }
        bodies[i].mass = 1.0 / (1 + i);
    }
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < BODIES; i++) {
            for (int j = i + 1; j < BODIES; j++) {
                double d[3], square = 0.01, force;

                for (int k = 0; k < 3; k++) {
                    d[k] = bodies[i].at[k] - bodies[j].at[k];
                    square += d[k] * d[k];
                }
                force = 0.01 / (square * root(square));
                for (int k = 0; k < 3; k++) {
                    bodies[i].speed[k] -= d[k] * bodies[j].mass * force;
                    bodies[j].speed[k] += d[k] * bodies[i].mass * force;
                }
            }
        }
        for (int i = 0; i < BODIES; i++) {
            for (int k = 0; k < 3; k++) {
                bodies[i].at[k] += 0.01 * bodies[i].speed[k];
            }
        }
    }
    for (int i = 0; i < BODIES; i++) {
        for (int k = 0; k < 3; k++) {
            energy += 0.5 * bodies[i].mass * bodies[i].speed[k] * bodies[i].speed[k];
        }
    }
    return energy;
}

/* A diagonally dominant system needs no pivots. */
static __attribute__((noinline)) double solve(void)
{
    static double a[SIDE][SIDE];
    double y[SIDE], sum = 0;

    for (int i = 0; i < SIDE; i++) {
        for (int j = 0; j < SIDE; j++) {
            a[i][j] = i == j ? 20.5 : 1.0 / (1 + i + 2 * j);
        }
        y[i] = 1 + 0.25 * i;
    }
    for (int k = 0; k < SIDE; k++) {
        for (int i = k + 1; i < SIDE; i++) {
            double factor = a[i][k] / a[k][k];

            for (int j = k; j < SIDE; j++) {
                a[i][j] -= factor * a[k][j];
            }
            y[i] -= factor * y[k];
        }
    }
    for (int i = SIDE - 1; i >= 0; i--) {
        for (int j = i + 1; j < SIDE; j++) {
            y[i] -= a[i][j] * y[j];
        }
        y[i] /= a[i][i];
        sum += y[i];
    }
    return sum;
}

static __attribute__((noinline)) unsigned picture(void)
{
    unsigned count = 0;

    for (int row = 0; row < PICTURE; row++) {
        for (int column = 0; column < PICTURE; column++) {
            float cr = -2.0f + 2.5f * (float)column / PICTURE,
                  ci = -1.1f + 2.2f * (float)row / PICTURE;
            float zr = 0, zi = 0;

            for (int turn = 0; turn < TURNS; turn++) {
                float rr = zr * zr, ii = zi * zi;

                if (rr + ii > 4.0f) {
                    break;
                }
                zi = 2.0f * zr * zi + ci;
                zr = rr - ii + cr;
                count++;
            }
        }
    }
    return count;
}

extern const volatile long rounds; /* start.S; set by who runs the program */

/* What a round comes to, on any machine. */
#define EXPECTED UINT64_C(0xC665CA2D1F2B016E)

int main(void)
{
    for (long i = 0; i < rounds; i++) {
        uint64_t sum = bits(move_bodies()) * 31 + bits(solve());

        if (sum * 31 + picture() != EXPECTED) {
            return 1;
        }
    }
    return 0;
}
