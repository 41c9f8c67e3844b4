/* The rule table, the list of findings, and what the walk found wrong with the graph. */
#include "gfx12/check/checker.h"
#include "gfx12/check/scene.h"

#include "base/array.h"
#include "base/bits.h"
#include "base/large.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_FINDINGS 10000

#define E FACET_GFX12_ERROR
#define W FACET_GFX12_WARNING
#define N FACET_GFX12_NOTE

#define RULE(id, severity, radv, gpurt, hiprt, requirement, title)                                 \
    {id, requirement, severity, {severity, radv, gpurt, hiprt}, title},
const struct facet_gfx12_rule facet_gfx12_rules[FACET_GFX12_RULES + 1] = {
    {NULL, NULL, FACET_GFX12_NOTE, {FACET_GFX12_NOTE}, NULL}, FACET_GFX12_RULE_ROWS(RULE)};
#undef RULE

const char *facet_gfx12_severity_name(enum facet_gfx12_severity severity)
{
    static const char *const names[] = {"note", "warning", "error"};

    return names[severity];
}

bool facet_gfx12_tolerance_parse(const char *text, struct facet_gfx12_tolerance *out)
{
    char *unit;
    const double number = strtod(text, &unit);

    if (unit == text || isspace((unsigned char)text[0]) || !isfinite(number) || number < 0) {
        return false;
    }
    if (*unit == '\0' || strcmp(unit, "ulp") == 0) {
        *out = (struct facet_gfx12_tolerance){number, INFINITY};
        return true;
    }
    *out = (struct facet_gfx12_tolerance){INFINITY, number};
    return strcmp(unit, "step") == 0 || strcmp(unit, "steps") == 0;
}

/* ---- findings ---- */

static void add_finding(struct facet_checker *c,
                        unsigned rule,
                        enum facet_gfx12_severity severity,
                        uint64_t offset,
                        const char *format,
                        va_list args)
{
    struct facet_gfx12_check *out = c->out;
    struct facet_gfx12_finding *finding;

    out->total[severity]++;
    out->by_rule[rule]++;
    if (out->count >= c->limit) {
        return;
    }
    if (!facet_array_fit(
            &out->findings, &c->capacity, (size_t)out->count + 1, sizeof *out->findings)) {
        c->failed = true;
        return;
    }
    finding = &out->findings[out->count++];
    finding->rule = (uint8_t)rule;
    finding->severity = severity;
    finding->offset = offset;
    vsnprintf(finding->text, sizeof finding->text, format, args);
}

void facet_gfx12_checker_report(
    struct facet_checker *c, unsigned rule, uint64_t offset, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_finding(c, rule, facet_gfx12_rules[rule].in[c->options->dialect], offset, format, args);
    va_end(args);
}

void facet_gfx12_checker_report_as(struct facet_checker *c,
                                   unsigned rule,
                                   enum facet_gfx12_severity severity,
                                   uint64_t offset,
                                   const char *format,
                                   ...)
{
    va_list args;

    va_start(args, format);
    add_finding(c, rule, severity, offset, format, args);
    va_end(args);
}

static int compare_findings(const void *a, const void *b)
{
    const struct facet_gfx12_finding *x = a, *y = b;

    if (x->offset != y->offset) {
        return x->offset < y->offset ? -1 : 1;
    }
    if (x->rule != y->rule) {
        return x->rule < y->rule ? -1 : 1;
    }
    return strcmp(x->text, y->text);
}

void facet_gfx12_checker_count(struct facet_checked_cases *cases, uint64_t offset)
{
    if (cases->count++ == 0) {
        cases->first = offset;
    }
}

/* ---- the graph ---- */

/* The byte that is wrong: the child's type or the head of the node that names it. */
static uint64_t problem_offset(const struct facet_checker *c, const struct facet_gfx12_problem *p)
{
    uint64_t at;

    if (p->node == FACET_GFX12_NO_NODE) {
        return 0;
    }
    at = facet_gfx12_checker_offset(p->node);
    return c->walk.nodes[p->node].kind == FACET_GFX12_KIND_INSTANCE ? at + 80 + 12 * p->slot
                                                                    : at + 32 + 12 * p->slot;
}

/* A custom primitive of HIPRT (R-G12-116), in a box: its number, and no node of the hardware. */
static bool is_custom(const struct facet_checker *c, const struct facet_gfx12_problem *p)
{
    return c->options->dialect == FACET_GFX12_OF_HIPRT && p->node != FACET_GFX12_NO_NODE &&
           c->walk.nodes[p->node].kind == FACET_GFX12_KIND_BOX &&
           (c->view->bytes[problem_offset(c, p) + 11] & 15) == 7;
}

static void report_problem(struct facet_checker *c, const struct facet_gfx12_problem *p)
{
    const uint64_t at = problem_offset(c, p);
    char place[FACET_GFX12_PLACE];
    const char *to = facet_gfx12_view_place(c->view, p->address, place);
    const char *who = p->node == FACET_GFX12_NO_NODE ? "the root" : "child";
    char name[24];

    snprintf(name, sizeof name, p->node == FACET_GFX12_NO_NODE ? "%s" : "%s %u", who, p->slot);
    switch (p->trouble) {
    case FACET_GFX12_TROUBLE_OUTSIDE:
        facet_gfx12_checker_report(c, 2, at, "%s at %s lies outside the image", name, to);
        break;
    case FACET_GFX12_TROUBLE_MISALIGNED:
        facet_gfx12_checker_report(c, 1, at, "%s at %s is not a multiple of 64", name, to);
        break;
    case FACET_GFX12_TROUBLE_OVERLAP:
        facet_gfx12_checker_report(c, 1, at, "%s at %s overlaps another node", name, to);
        break;
    case FACET_GFX12_TROUBLE_TYPE:
        if (is_custom(c, p)) {
            break; /* the rules about headers know how many there are */
        }
        facet_gfx12_checker_report(c, 11, at, "%s has a type that names no node", name);
        break;
    case FACET_GFX12_TROUBLE_KIND:
        facet_gfx12_checker_report(
            c, 2, at, "%s: node %s is also reached as another kind", name, to);
        break;
    case FACET_GFX12_TROUBLE_BASE:
        facet_gfx12_checker_report(
            c, 2, at, "%s: node %s is also reached from another BVH base", name, to);
        break;
    case FACET_GFX12_TROUBLE_CYCLE:
        facet_gfx12_checker_report(
            c, 28, at, "%s at %s is an ancestor of its own parent", name, to);
        break;
    case FACET_GFX12_TROUBLE_SHARED:
        facet_gfx12_checker_report(c, 29, at, "%s at %s has another parent too", name, to);
        break;
    case FACET_GFX12_TROUBLE_REPEATED:
        facet_gfx12_checker_count(&c->repeated, at);
        break;
    case FACET_GFX12_TROUBLE_PAIR:
        facet_gfx12_checker_report(
            c, 14, at, "%s names a pair that node %s does not have", name, to);
        break;
    case FACET_GFX12_TROUBLE_RANGE:
        facet_gfx12_checker_report(
            c, 20, at, "%s: the range at %s has no stop bit within 255 pairs", name, to);
        break;
    case FACET_GFX12_TROUBLE_BLAS:
        facet_gfx12_checker_report_as(c,
                                      2,
                                      c->options->partial ? N : E,
                                      facet_gfx12_checker_offset(p->node) + 48,
                                      "the BLAS at %s lies outside the image",
                                      to);
        break;
    }
}

static void add_unreached(struct facet_checker *c, uint32_t first, uint32_t end)
{
    if (first < end) {
        facet_gfx12_checker_count(&c->unreached, facet_gfx12_checker_offset(first));
        c->unreached.count += (end - first - 1) / 2;
        c->unreached_runs++;
    }
}

static int compare_nodes(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* A structure of a large capture: the gaps between the few nodes that it has, without a look at the
 * rest. */
static bool find_gaps(struct facet_checker *c)
{
    uint32_t *nodes = malloc(((size_t)c->walk.reached + 1) * sizeof *nodes), next = 0;

    if (nodes == NULL) {
        return false;
    }
    memcpy(nodes, c->walk.order, c->walk.reached * sizeof *nodes);
    qsort(nodes, c->walk.reached, sizeof *nodes, compare_nodes);
    for (uint32_t i = 0; i < c->walk.reached; i++) {
        add_unreached(c, next, nodes[i]);
        next = nodes[i] + 2;
    }
    add_unreached(c, next, c->walk.count);
    free(nodes);
    return true;
}

static void find_unreached(struct facet_checker *c)
{
    uint32_t i = 0;

    if (c->walk.reached < c->walk.count / 16 && find_gaps(c)) {
        return;
    }

    while (i < c->walk.count) {
        const uint32_t first = i;

        while (i < c->walk.count && c->walk.nodes[i].kind == FACET_GFX12_KIND_NONE) {
            i++;
        }
        if (i == first) {
            i += 2;
            continue;
        }
        add_unreached(c, first, i);
    }
}

/* What a driver does to every node is said once per image. */
static void report_cases(struct facet_checker *c)
{
    find_unreached(c);
    if (c->unreached.count != 0) {
        facet_gfx12_checker_report(c,
                                   30,
                                   c->unreached.first,
                                   "%llu node%s in %u place%s cannot be reached from the root",
                                   (unsigned long long)c->unreached.count,
                                   c->unreached.count == 1 ? "" : "s",
                                   c->unreached_runs,
                                   c->unreached_runs == 1 ? "" : "s");
    }
    if (c->repeated.count != 0) {
        facet_gfx12_checker_report_as(c,
                                      29,
                                      N,
                                      c->repeated.first,
                                      "%llu child%s a range that another child names too",
                                      (unsigned long long)c->repeated.count,
                                      c->repeated.count == 1 ? " names" : "ren name");
    }
    if (c->unseen.count != 0) {
        facet_gfx12_checker_report(c,
                                   43,
                                   c->unseen.first,
                                   "%llu instance%s mask 0, no ray can come to %s",
                                   (unsigned long long)c->unseen.count,
                                   c->unseen.count == 1 ? " has" : "s have",
                                   c->unseen.count == 1 ? "it" : "them");
    }
    if (c->joined.count != 0) {
        facet_gfx12_checker_report(c,
                                   21,
                                   c->joined.first,
                                   "%llu range%s where another begins: is a stop bit missing?",
                                   (unsigned long long)c->joined.count,
                                   c->joined.count == 1 ? " goes on" : "s go on");
    }
    if (c->nested.count != 0) {
        facet_gfx12_checker_report(c,
                                   53,
                                   c->nested.first,
                                   "%llu instance%s to instances: a ray on the LDS stack comes "
                                   "back from there to the TLAS, and loses what lies between",
                                   (unsigned long long)c->nested.count,
                                   c->nested.count == 1 ? " leads" : "s lead");
    }
    if (c->unused_bits.count != 0) {
        facet_gfx12_checker_report(c,
                                   5,
                                   c->unused_bits.first,
                                   "unused bits of %llu box or instance node%s are not 0",
                                   (unsigned long long)c->unused_bits.count,
                                   c->unused_bits.count == 1 ? "" : "s");
    }
    if (c->inverted.count != 0) {
        facet_gfx12_checker_report(c,
                                   9,
                                   c->inverted.first,
                                   "%llu box%s of instances %s inverted",
                                   (unsigned long long)c->inverted.count,
                                   c->inverted.count == 1 ? "" : "es",
                                   c->inverted.count == 1 ? "is" : "are");
    }
    if (c->said_triangles.count != 0) {
        facet_gfx12_checker_report_as(c,
                                      13,
                                      W,
                                      c->said_triangles.first,
                                      "%llu instance%s procedural boxes promise%s triangles only, "
                                      "as RADV writes: a ray that skips triangles loses the boxes",
                                      (unsigned long long)c->said_triangles.count,
                                      c->said_triangles.count == 1 ? " of" : "s of",
                                      c->said_triangles.count == 1 ? "s" : "");
    }
    if (c->twice.count + c->loose.count != 0) {
        const bool twice = c->twice.count != 0;

        facet_gfx12_checker_report(c,
                                   27,
                                   twice ? c->twice.first : c->loose.first,
                                   "%llu primitive node%s could be smaller; here %s",
                                   (unsigned long long)(c->twice.count + c->loose.count),
                                   c->twice.count + c->loose.count == 1 ? "" : "s",
                                   twice ? "a vertex is stored twice"
                                         : "more trailing zeros or longer prefixes are possible");
    }
}

static bool is_stop(const struct facet_checker *c, uint32_t node, unsigned pair)
{
    const struct facet_gfx12_range at = {.view = c->view, .node = node, .pair = pair};

    return facet_gfx12_range_is_stop(&at);
}

/* The last pair of a primitive node that has no stop bit; false where it has one. */
static bool runs_on(const struct facet_checker *c, uint32_t node, unsigned *last)
{
    *last = facet_load_le32(facet_gfx12_node_bytes(c->view, node)) >> 28 & 7;
    return !is_stop(c, node, *last);
}

/* V21: a range goes on where another begins, within the node or in the next one. Its rays test
 * twice what the other holds; mostly a stop bit is missing. */
static void count_joined_ranges(struct facet_checker *c, uint32_t node)
{
    const uint8_t starts = c->walk.nodes[node].starts;
    unsigned last, before;
    bool open = node >= 2 && c->walk.nodes[node - 2].kind == FACET_GFX12_KIND_PRIMITIVE &&
                runs_on(c, node - 2, &before);

    (void)runs_on(c, node, &last);
    for (unsigned p = 0; p <= last; p++) {
        if (open && (starts >> p & 1) != 0) {
            facet_gfx12_checker_count(&c->joined, facet_gfx12_checker_offset(node));
        }
        open = (open || (starts >> p & 1) != 0) && !is_stop(c, node, p);
    }
}

/* V21: the last pair of a node continues in a primitive node. */
static void check_continuation(struct facet_checker *c, uint32_t node)
{
    const struct facet_gfx12_walk_node *next =
        node + 2 < c->walk.count ? &c->walk.nodes[node + 2] : NULL;
    unsigned last;

    if (runs_on(c, node, &last) && (next == NULL || next->kind != FACET_GFX12_KIND_PRIMITIVE)) {
        facet_gfx12_checker_report(
            c,
            21,
            facet_gfx12_checker_offset(node),
            "pair %u has no stop bit and the next node is not a primitive node",
            last);
    }
    count_joined_ranges(c, node);
}

static void check_nodes(struct facet_checker *c)
{
    for (uint32_t i = 0; i < c->walk.reached && !c->failed; i++) {
        uint32_t node = c->walk.order[i];

        if (i % 1024 == 1023) {
            facet_progress_add(c->options->progress, 1024);
        }
        switch (c->walk.nodes[node].kind) {
        case FACET_GFX12_KIND_BOX:
            facet_gfx12_checker_box_fields(c, node);
            facet_gfx12_checker_box_tree(c, node);
            break;
        case FACET_GFX12_KIND_INSTANCE:
            facet_gfx12_checker_instance_fields(c, node);
            facet_gfx12_checker_instance_tree(c, node);
            break;
        default:
            facet_gfx12_checker_prim_fields(c, node);
            check_continuation(c, node);
            break;
        }
    }
}

enum facet_status facet_gfx12_check(const struct facet_gfx12_view *view,
                                    const struct facet_gfx12_check_options *options,
                                    struct facet_gfx12_check *out,
                                    struct facet_error *err)
{
    struct facet_checker c = {.view = view, .options = options, .out = out};
    enum facet_status status;

    *out = (struct facet_gfx12_check){0};
    c.limit = options->max_findings == 0 ? DEFAULT_FINDINGS : options->max_findings;
    status = facet_gfx12_walk(view, &c.walk, err);
    if (status != FACET_OK) {
        return status;
    }
    out->nodes = facet_gfx12_walk_size(&c.walk);
    out->reached = c.walk.reached;
    c.budget = 256 * (uint64_t)c.walk.count + 65536;
    c.below = facet_zeroes(((size_t)c.walk.count + 1) * sizeof *c.below);
    c.failed = c.below == NULL;
    if (!c.failed) {
        /* Buffers of drivers end with tables of any size. */
        if ((view->size % FACET_GFX12_UNIT_BYTES != 0 && view->segment_count == 0) ||
            view->size == 0) {
            facet_gfx12_checker_report(&c,
                                       1,
                                       view->size,
                                       "the image has %llu bytes, expected a multiple of 64",
                                       (unsigned long long)view->size);
        }
        for (uint32_t i = 0; i < c.walk.problem_count; i++) {
            report_problem(&c, &c.walk.problems[i]);
        }
        check_nodes(&c);
        facet_gfx12_checker_cover(&c);
        facet_gfx12_checker_ids(&c);
        if (options->scene != NULL && !c.failed) {
            facet_gfx12_checker_scene(&c);
        }
        report_cases(&c);
        if (out->count != 0) {
            qsort(out->findings, out->count, sizeof *out->findings, compare_findings);
        }
    }
    facet_zeroes_free(c.below, ((size_t)c.walk.count + 1) * sizeof *c.below);
    facet_gfx12_walk_free(&c.walk);
    if (c.failed) {
        facet_gfx12_check_free(out);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory to check the image");
    }
    return FACET_OK;
}

bool facet_gfx12_check_join(struct facet_gfx12_check *check,
                            const struct facet_gfx12_check_options *options,
                            const struct facet_gfx12_finding *more,
                            size_t count)
{
    const uint32_t limit = options->max_findings == 0 ? DEFAULT_FINDINGS : options->max_findings;
    const size_t kept = count < limit - check->count ? count : limit - check->count;
    size_t room = check->count;

    if (kept != 0) {
        if (!facet_array_fit(
                &check->findings, &room, check->count + kept, sizeof *check->findings)) {
            return false;
        }
        memcpy(check->findings + check->count, more, kept * sizeof *more);
        check->count += (uint32_t)kept;
        qsort(check->findings, check->count, sizeof *check->findings, compare_findings);
    }
    for (size_t i = 0; i < count; i++) {
        check->total[more[i].severity]++;
        check->by_rule[more[i].rule]++;
    }
    return true;
}

void facet_gfx12_check_free(struct facet_gfx12_check *check)
{
    free(check->findings);
    *check = (struct facet_gfx12_check){0};
}
