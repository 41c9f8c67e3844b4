/* One ray against one triangle and one box, as RT.TRI and RT.BBOX compute them, step by step. */
#include <facet/rt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void bits(const float *from, int count, uint32_t *to)
{
    memcpy(to, from, (size_t)count * sizeof *to);
}

static double value(uint32_t fp32)
{
    return facet_num_to_double(FACET_FMT_FP32, fp32);
}

int main(void)
{
    const float ray[8] = {0.25F, 0.25F, 2, 0, 0, -1, 0, 100};
    const float triangle[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    const float box[6] = {0, 0, -1, 1, 1, 1};
    struct facet_rt_triangle_lane_steps t;
    struct facet_rt_box_lane_steps b;
    uint32_t r[8], v[9], x[6];
    unsigned flags = 0;

    bits(ray, 8, r);
    bits(triangle, 9, v);
    bits(box, 6, x);
    facet_rt_explain_triangle(NULL, NULL, r, v, &t, &flags);
    printf("triangle: T%u decides, det = %g, t = %g, u = %g, v = %g, %s\n",
           (unsigned)t.rule,
           value(t.test.det),
           value(t.lane.value[0]),
           value(t.lane.value[1]),
           value(t.lane.value[2]),
           t.test.facet.front ? "front" : "back");
    facet_rt_explain_box(NULL, NULL, r, x, &b, &flags);
    printf("box: B%u decides, from %g to %g\n",
           (unsigned)b.rule,
           value(b.lane.value[0]),
           value(b.lane.value[1]));
    for (int axis = 0; axis < 3; axis++) {
        printf("  axis %d: %s\n", axis, b.test.axis[axis].parallel ? "parallel" : "crossed");
    }
    return t.lane.outcome == FACET_RT_HIT && b.lane.outcome == FACET_RT_HIT ? 0 : 1;
}
