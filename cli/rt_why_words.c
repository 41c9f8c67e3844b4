/* The words of `facet rt why`: which step of the contract decided a test, and why. */
#include "cli/rt_why.h"

#include "num/f32.h"
#include "xphmg/units/units.h"

#include <stdio.h>
#include <string.h>

static const char *outcome_name(enum facet_rt_outcome outcome)
{
    return outcome == FACET_RT_HIT ? "hit" : outcome == FACET_RT_NAN ? "NaN" : "miss";
}

static struct rt_why_verdict verdict(
    char letter, unsigned rule, enum facet_rt_outcome outcome, const char *rows, const char *reason)
{
    struct rt_why_verdict v = {outcome_name(outcome), "", rows, reason};

    (void)snprintf(v.rule, sizeof v.rule, "%c%u", letter, rule % 100);
    return v;
}

struct rt_why_verdict rt_why_box_verdict(unsigned rule, enum facet_rt_outcome outcome)
{
    static const struct {
        const char *rows, *reason;
    } rules[8] = {
        [1] = {"RT-097", "the child is empty"},
        [2] = {"RT-139", "W_GUARD and w is 0"},
        [3] = {"RT-243", "an element is NaN"},
        [4] = {"RT-149", "min > max on an axis"},
        [5] = {"RT-243", "a tn or tf is NaN"},
        [6] = {"RT-147", "cn is not <= cf"},
        [7] = {"RT-147", "cn <= cf"},
    };

    return verdict('B', rule, outcome, rules[rule & 7].rows, rules[rule & 7].reason);
}

struct rt_why_verdict rt_why_triangle_verdict(const struct rt_why *why,
                                              unsigned rule,
                                              const struct facet_rt_triangle_steps *s,
                                              uint32_t tmax)
{
    bool nan = s->facet.outcome == FACET_RT_NAN;
    const char *rows = "RT-243", *reason = "an element is NaN";

    switch (rule) {
    case 3:
        rows = "RT-209", reason = "the direction is zero";
        break;
    case 6:
        reason = "U, V or W is NaN";
        break;
    case 7:
        rows = why->query.cull_back ? "RT-155" : "RT-164";
        reason = why->query.cull_back ? "U, V or W is below 0 (CULL_BACK)"
                                      : "U, V and W have different signs";
        break;
    case 8:
        rows = nan ? rows : (s->det & ~F32_SIGN) == 0 ? "RT-165" : "RT-183";
        reason = nan ? "det is NaN" : "|det| <= eps";
        break;
    case 9:
        reason = "t is NaN";
        break;
    case 10:
        rows = "RT-166";
        reason = f32_from(s->facet.t) > f32_from(tmax) ? "t > tmax" : "t < tmin";
        break;
    case 11:
        rows = "RT-163 RT-166", reason = "tmin <= t <= tmax";
        break;
    default:
        return verdict('T', rule, FACET_RT_NAN, rows, reason);
    }
    return verdict('T', rule, s->facet.outcome, rows, reason);
}

const char *rt_why_choice(enum facet_rt_choice choice)
{
    switch (choice) {
    case FACET_RT_CHOICE_FIRST:
        return "the first hit of the ray";
    case FACET_RT_CHOICE_CLOSER:
        return "closer than the best hit";
    case FACET_RT_CHOICE_LOWER:
        return "t of the best hit and a lower triangle or leaf index";
    case FACET_RT_CHOICE_REFUSED:
        return "refused: t of the best hit and no lower triangle or leaf index";
    default:
        return "no hit";
    }
}

const char *rt_why_error(unsigned error)
{
    static const char *const names[] = {"none",
                                        "EC_ILLEGAL",
                                        "EC_UNSUPPORTED",
                                        "EC_DESC_FAULT",
                                        "EC_QUEUE",
                                        "EC_QFULL",
                                        "EC_BVH: stack overflow or step limit (RT-128)",
                                        "EC_NUMERIC"};

    return error < sizeof names / sizeof names[0] ? names[error] : "unknown";
}

const char *rt_why_flags(unsigned flags, char text[80])
{
    static const struct {
        unsigned bit;
        const char *name;
    } names[] = {
        {FACET_NX, "NX"},
        {FACET_UF, "UF"},
        {FACET_OF, "OF"},
        {FACET_DZ, "DZ"},
        {FACET_NV, "NV"},
        {FACET_QNAN, "QNAN_SEEN"},
        {FACET_SNAN, "SNAN_SEEN"},
        {FACET_FTZ, "FTZ_HIT"},
        {FACET_SAT, "SAT_HIT"},
        {FACET_DOWN, "DOWNCAST_TAKEN"},
    };
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((flags & names[i].bit) != 0) {
            length += (size_t)snprintf(
                text + length, 80 - length, "%s%s", length != 0 ? " " : "", names[i].name);
        }
    }
    return length != 0 ? text : "none";
}

const char *rt_why_type(enum facet_rt_child type)
{
    return type == FACET_RT_NODE ? "node" : type == FACET_RT_LEAF ? "leaf" : "empty";
}
