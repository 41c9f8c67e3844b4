// Drives the RT unit with random tests, one per cycle, and compares every result and flag with
// libfacet.
//
//   rt_bench [--tests N] [--seed S] [--box-bug K] [--triangle-bug K] [--vcd FILE]
//
// Exit code 0: no difference; 1: the first one is printed with both sides, and the cycles around it
// are written to FILE; 2: wrong usage.
#include "Vrt_unit.h"
#include "verilated.h"
#include "verilated_vcd_c.h"

#include <facet/num.h>
#include <facet/rt.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <random>

namespace
{

constexpr unsigned WINDOW = 20; // cycles before a difference that the waves show

struct Test {
    bool triangle;
    uint8_t rm;
    bool ftz;
    bool flag[3]; // box: empty, t_clamp, w_guard; triangle: present, cull_back, pred_only
    uint8_t eps;
    uint32_t ray[9];
    uint32_t item[9];
};

struct Result {
    unsigned outcome, flags;
    uint32_t value[3]; // tnear, tfar or t, u, v
};

// ---- tests: rays that aim at the item, edges of the number range, and noise ----

class Source
{
  public:
    explicit Source(uint64_t seed) : random_(seed)
    {
    }

    Test next()
    {
        Test test = {};
        test.triangle = pick(2) == 0;
        test.rm = static_cast<uint8_t>(pick(FACET_RM_COUNT));
        test.ftz = pick(4) == 0;
        for (bool &flag : test.flag) {
            flag = pick(2) == 0;
        }
        test.flag[0] = test.triangle ? pick(16) != 0 : pick(16) == 0;
        test.eps =
            pick(2) == 0 ? 0 : static_cast<uint8_t>(pick(2) == 0 ? pick(256) : 90 + pick(40));
        unsigned kind = pick(4);
        for (uint32_t &bits : test.ray) {
            bits = number(kind);
        }
        for (uint32_t &bits : test.item) {
            bits = number(kind);
        }
        if (kind != 3 && pick(4) != 0) {
            test.ray[6] = 0;
            test.ray[7] = 0x7f800000;
        }
        if (!test.triangle && kind != 3) {
            order_box(test.item);
        }
        if (kind < 2) {
            aim(test);
        }
        return test;
    }

  private:
    std::mt19937_64 random_;

    unsigned pick(unsigned n)
    {
        return static_cast<unsigned>(random_() % n);
    }

    // Kind 0: small integers, so that rays meet edges and corners; 1: ordinary numbers; 2: numbers
    // of any size; 3: any bits. All but the first have zeros, infinities, NaNs and subnormals now
    // and then.
    uint32_t number(unsigned kind)
    {
        static const uint32_t special[] = {0,
                                           0x80000000,
                                           0x7f800000,
                                           0xff800000,
                                           0x7fc00000,
                                           0x7f800001,
                                           1,
                                           0x80000001,
                                           0x007fffff,
                                           0x00800000,
                                           0x7f7fffff,
                                           0xff7fffff};
        if (kind == 0) {
            return bits_of(static_cast<float>(pick(9)) - 4.0f);
        }
        if (pick(kind == 1 ? 100 : 12) == 0) {
            return special[pick(12)];
        }
        if (kind == 1) {
            return bits_of((static_cast<float>(pick(1 << 24)) / 8388608.0f - 1.0f) * 8.0f);
        }
        return kind == 2 ? static_cast<uint32_t>(random_()) &
                               (pick(2) == 0 ? 0xc0ffffffu : 0x807fffffu | pick(256) << 23)
                         : static_cast<uint32_t>(random_());
    }

    static uint32_t bits_of(float value)
    {
        uint32_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        return bits;
    }

    static float float_of(uint32_t bits)
    {
        float value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }

    void order_box(uint32_t *item)
    {
        for (unsigned a = 0; a < 3; a++) {
            if (float_of(item[a]) > float_of(item[a + 3]) && pick(16) != 0) {
                std::swap(item[a], item[a + 3]);
            }
        }
    }

    // The direction leads to a corner, to the middle, or somewhere between the corners of the item.
    void aim(Test &test)
    {
        unsigned corners = test.triangle ? 3 : 2;
        float share = static_cast<float>(pick(5)) / 4.0f;
        for (unsigned a = 0; a < 3; a++) {
            float p = float_of(test.item[3 * pick(corners) + a]);
            float q = float_of(test.item[3 * pick(corners) + a]);
            if (pick(12) != 0) {
                test.ray[3 + a] = bits_of(p + (q - p) * share - float_of(test.ray[a]));
            }
        }
    }
};

// ---- the reference ----

unsigned eight_flags(unsigned flags)
{
    return (flags & FACET_FLAGS_EXC_ST) | ((flags & FACET_FTZ) != 0 ? 0x80u : 0u);
}

Result expected(const Test &test)
{
    facet_conv numbers = {};
    numbers.elem = FACET_FMT_FP32;
    numbers.acc = FACET_FMT_FP32;
    numbers.rm = test.rm;
    numbers.ftz = test.ftz;
    unsigned flags = 0;
    Result result = {FACET_RT_MISS, 0, {0x7f800000, test.triangle ? 0u : 0xff800000u, 0}};
    if (test.flag[0] !=
        test.triangle) { // an empty child or a triangle past the end: nothing is computed
        return result;
    }
    facet_rt_lane lane;
    if (test.triangle) {
        facet_rt_options options = {
            static_cast<uint32_t>(test.eps) << 23, test.flag[1], test.flag[2]};
        facet_rt_triangle_lane_steps steps;
        facet_rt_explain_triangle(&numbers, &options, test.ray, test.item, &steps, &flags);
        lane = steps.lane;
    } else {
        facet_rt_box_options options = {test.flag[1], test.flag[2]};
        facet_rt_box_lane_steps steps;
        facet_rt_explain_box(&numbers, &options, test.ray, test.item, &steps, &flags);
        lane = steps.lane;
    }
    result.outcome = lane.outcome;
    result.flags = eight_flags(flags);
    for (unsigned i = 0; i < lane.count && lane.outcome != FACET_RT_MISS; i++) {
        result.value[i] = lane.outcome == FACET_RT_NAN ? 0x7fc00000 : lane.value[i];
    }
    if (!test.triangle) {
        result.value[2] = 0;
    }
    return result;
}

// ---- the unit ----

void drive(Vrt_unit &unit, const Test *test)
{
    unit.box_valid = test != nullptr && !test->triangle;
    unit.triangle_valid = test != nullptr && test->triangle;
    if (test == nullptr) {
        return;
    }
    unit.rm = test->rm;
    unit.ftz = test->ftz;
    if (test->triangle) {
        unit.triangle_present = test->flag[0];
        unit.triangle_cull_back = test->flag[1];
        unit.triangle_pred_only = test->flag[2];
        unit.triangle_eps = test->eps;
        std::memcpy(&unit.triangle_ray, test->ray, 32);
        std::memcpy(&unit.triangle_corners, test->item, 36);
    } else {
        unit.box_empty = test->flag[0];
        unit.box_t_clamp = test->flag[1];
        unit.box_w_guard = test->flag[2];
        std::memcpy(&unit.box_ray, test->ray, 36);
        std::memcpy(&unit.box_box, test->item, 24);
    }
}

Result box_result(const Vrt_unit &unit)
{
    return {unit.box_outcome, unit.box_flags, {unit.box_tnear, unit.box_tfar, 0}};
}

Result triangle_result(const Vrt_unit &unit)
{
    return {unit.triangle_outcome,
            unit.triangle_flags,
            {unit.triangle_t, unit.triangle_u, unit.triangle_v}};
}

void print(const char *who, const Result &r)
{
    static const char *const names[] = {"miss", "hit", "nan", "?"};
    std::printf("  %-5s %-4s flags %02x values %08x %08x %08x\n",
                who,
                names[r.outcome & 3],
                r.flags,
                r.value[0],
                r.value[1],
                r.value[2]);
}

void report(
    const Test &test, const Result &want, const Result &got, uint64_t number, uint64_t cycle)
{
    std::printf("test %llu (%s, leaves in cycle %llu) differs\n",
                static_cast<unsigned long long>(number),
                test.triangle ? "RT.TRI" : "RT.BBOX",
                static_cast<unsigned long long>(cycle));
    std::printf("  rm %u ftz %u flags %u%u%u eps %u\n  ray ",
                test.rm,
                test.ftz,
                test.flag[0],
                test.flag[1],
                test.flag[2],
                test.eps);
    for (uint32_t bits : test.ray) {
        std::printf(" %08x", bits);
    }
    std::printf("\n  %s", test.triangle ? "triangle" : "box");
    for (unsigned i = 0; i < (test.triangle ? 9u : 6u); i++) {
        std::printf(" %08x", test.item[i]);
    }
    std::printf("\n");
    print("facet", want);
    print("rtl", got);
}

struct Options {
    uint64_t tests = 100000, seed = 1;
    unsigned box_bug = 0, triangle_bug = 0;
    const char *vcd = nullptr;
};

struct Waiting {
    uint64_t number;
    Test test;
};

// Runs the tests; from cycle `waves_from` on the signals go to the VCD file. Returns the cycle of
// the first difference, or UINT64_MAX.
uint64_t run(const Options &options, uint64_t waves_from)
{
    auto context = std::make_unique<VerilatedContext>();
    context->traceEverOn(true);
    auto unit = std::make_unique<Vrt_unit>(context.get());
    VerilatedVcdC waves;
    Source source(options.seed);
    std::deque<Waiting> boxes, triangles;
    bool recording = waves_from != UINT64_MAX;
    uint64_t different = UINT64_MAX;

    if (recording) {
        unit->trace(&waves, 99);
        waves.open(options.vcd);
    }
    unit->box_bug = options.box_bug;
    unit->triangle_bug = options.triangle_bug;
    for (uint64_t cycle = 0, number = 0;
         different == UINT64_MAX &&
         (number < options.tests || !boxes.empty() || !triangles.empty());
         cycle++) {
        if (number < options.tests) {
            Test test = source.next();
            drive(*unit, &test);
            (test.triangle ? triangles : boxes).push_back({number++, test});
        } else {
            drive(*unit, nullptr);
        }
        for (int clock = 0; clock < 2; clock++) {
            unit->clock = clock;
            unit->eval();
            if (recording && cycle >= waves_from) {
                waves.dump(2 * cycle + clock);
            }
        }
        for (auto [done, queue, got] :
             {std::make_tuple(unit->box_done != 0, &boxes, box_result(*unit)),
              std::make_tuple(unit->triangle_done != 0, &triangles, triangle_result(*unit))}) {
            if (!done || different != UINT64_MAX) {
                continue;
            }
            Waiting first = queue->front();
            queue->pop_front();
            Result want = expected(first.test);
            if (std::memcmp(&want, &got, sizeof want) != 0) {
                different = cycle;
                if (!recording) {
                    report(first.test, want, got, first.number, cycle);
                }
            }
        }
    }
    if (recording) {
        waves.close();
    }
    return different;
}

bool parse(int argc, char **argv, Options &options)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        char *end;
        uint64_t number = std::strtoull(argv[i + 1], &end, 0);
        bool whole = *argv[i + 1] != '\0' && *end == '\0';
        if (std::strcmp(argv[i], "--vcd") == 0) {
            options.vcd = argv[i + 1];
        } else if (whole && std::strcmp(argv[i], "--tests") == 0) {
            options.tests = number;
        } else if (whole && std::strcmp(argv[i], "--seed") == 0) {
            options.seed = number;
        } else if (whole && number < 16 && std::strcmp(argv[i], "--box-bug") == 0) {
            options.box_bug = static_cast<unsigned>(number);
        } else if (whole && number < 16 && std::strcmp(argv[i], "--triangle-bug") == 0) {
            options.triangle_bug = static_cast<unsigned>(number);
        } else {
            return false;
        }
    }
    return argc % 2 == 1;
}

} // namespace

int main(int argc, char **argv)
{
    Options options;
    if (!parse(argc, argv, options)) {
        std::fprintf(stderr,
                     "usage: rt_bench [--tests N] [--seed S] [--box-bug 0..15] [--triangle-bug "
                     "0..15] [--vcd FILE]\n");
        return 2;
    }
    uint64_t cycle = run(options, UINT64_MAX);
    if (cycle == UINT64_MAX) {
        std::printf("%llu tests: no difference\n", static_cast<unsigned long long>(options.tests));
        return 0;
    }
    if (options.vcd != nullptr) {
        run(options, cycle > WINDOW ? cycle - WINDOW : 0);
        std::printf("  waves of the last %u cycles: %s\n", WINDOW, options.vcd);
    }
    return 1;
}
