/* `facet bvh why`: one ray through an image with every value on the way. The library makes the
 * explanation as JSON; the text here is that, laid out for reading. */
#include "cli/bvh.h"

#include "base/json.h"
#include "gfx12/vectors.h"
#include "gfx12/why.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the ray ---- */

/* "1.5", "-0x1p-3", "inf", or the bits as "#3FC00000". */
static bool read_float(const char **text, float *out)
{
    char *end;

    while (**text == ' ' || **text == ',' || **text == '\t') {
        ++*text;
    }
    errno = 0;
    if (**text == '#') {
        unsigned long bits = strtoul(*text + 1, &end, 16);
        uint32_t word = (uint32_t)bits;

        if (end == *text + 1 || errno != 0 || bits > UINT32_MAX) {
            return false;
        }
        memcpy(out, &word, sizeof word);
    } else {
        *out = strtof(*text, &end);
        if (end == *text) {
            return false;
        }
    }
    *text = end;
    return true;
}

static bool read_ray(const struct cli_args *args, struct facet_gfx12_query *query)
{
    const char *text = cli_value(args, "ray"), *at = text;
    float v[8] = {0, 0, 0, 0, 0, 0, 0, INFINITY};
    int count = 0;

    if (text == NULL) {
        cli_bad(args, "expected --ray \"ox oy oz dx dy dz [tmin tmax]\"");
        return false;
    }
    while (count < 8 && read_float(&at, &v[count])) {
        count++;
    }
    at += strspn(at, " \t,");
    if ((count != 6 && count != 8) || *at != '\0') {
        cli_bad(args,
                "--ray \"%s\": expected six or eight numbers (ox oy oz dx dy dz tmin tmax), found "
                "%d and then \"%.20s\"",
                text,
                count,
                at);
        return false;
    }
    facet_gfx12_query_init(query, v, v + 3);
    query->t_min = v[6];
    query->t_max = v[7];
    return true;
}

/* ---- text ---- */

static const char *text_of(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

/* "3F800000 (1)" */
static void print_real(const json_t *value)
{
    const json_t *number = json_object_get(value, "value");

    printf("%s", text_of(value, "bits"));
    if (json_is_string(number)) {
        printf(" (%s)", json_string_value(number));
    } else {
        printf(" (%.9g)", json_number_value(number));
    }
}

static void print_named(const char *indent, const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);

    if (value == NULL) {
        return;
    }
    printf("%s%-16s ", indent, name);
    if (json_is_array(value)) {
        size_t i;
        const json_t *item;

        json_array_foreach(value, i, item)
        {
            printf(i != 0 ? ", " : "");
            print_real(item);
        }
    } else {
        print_real(value);
    }
    putchar('\n');
}

static void print_planes(const json_t *slot)
{
    static const char axis[3] = {'x', 'y', 'z'};

    printf("      planes          ");
    for (size_t k = 0; k < 3; k++) {
        printf(
            "%s%c %lld..%lld",
            k != 0 ? ", " : "",
            axis[k],
            (long long)json_integer_value(json_array_get(json_object_get(slot, "min_planes"), k)),
            (long long)json_integer_value(json_array_get(json_object_get(slot, "max_planes"), k)));
    }
    printf("  cull_flags %lld cull_mask %02llX\n",
           (long long)json_integer_value(json_object_get(slot, "cull_flags")),
           (unsigned long long)json_integer_value(json_object_get(slot, "cull_mask")));
}

static void print_axes(const json_t *slot)
{
    static const char axis[3] = {'x', 'y', 'z'};
    size_t k;
    const json_t *item;

    json_array_foreach(json_object_get(slot, "axes"), k, item)
    {
        printf("      %c: lo - o = ", axis[k]);
        print_real(json_object_get(item, "lo_minus_origin"));
        printf(", * inv = a = ");
        print_real(json_object_get(item, "a"));
        printf("\n         hi - o = ");
        print_real(json_object_get(item, "hi_minus_origin"));
        printf(", * inv = b = ");
        print_real(json_object_get(item, "b"));
        printf("; near is %s\n", text_of(item, "near"));
    }
}

static void print_slot(const json_t *slot)
{
    static const char *const values[] = {
        "lo", "hi", "enter", "leave", "min_t", "max_t", "max_t_grown", "key"};

    printf("    slot %lld: child %s: %s\n",
           (long long)json_integer_value(json_object_get(slot, "slot")),
           text_of(slot, "id"),
           text_of(slot, "result"));
    print_planes(slot);
    print_named("      ", slot, "lo");
    print_named("      ", slot, "hi");
    print_axes(slot);
    for (size_t i = 2; i < sizeof values / sizeof values[0]; i++) {
        print_named("      ", slot, values[i]);
    }
}

static void print_triangle(size_t number, const json_t *tri)
{
    static const char *const values[] = {
        "e1", "e2", "e3", "s1", "s2", "tn", "det", "un", "vn", "t", "u", "v", "u_plus_v"};
    bool procedural = json_is_true(json_object_get(tri, "procedural"));

    printf("    tri%zu: primitive %lld of geometry %lld%s%s: %s\n",
           number,
           (long long)json_integer_value(json_object_get(tri, "primitive")),
           (long long)json_integer_value(json_object_get(tri, "geometry")),
           json_is_true(json_object_get(tri, "absent")) ? ", absent" : "",
           json_is_true(json_object_get(tri, "opaque")) ? ", opaque" : "",
           procedural                                           ? "procedural"
           : json_is_true(json_object_get(tri, "missed"))       ? "missed"
           : json_is_true(json_object_get(tri, "returned_hit")) ? "hit"
                                                                : "culled");
    for (size_t c = 0; c < json_array_size(json_object_get(tri, "corners")); c++) {
        const json_t *corner = json_array_get(json_object_get(tri, "corners"), c);

        printf("      v%zu               ", c);
        for (size_t k = 0; k < 3; k++) {
            printf(k != 0 ? ", " : "");
            print_real(json_array_get(corner, k));
        }
        putchar('\n');
    }
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        print_named("      ", tri, values[i]);
    }
}

static void print_words(const char *title, const json_t *list)
{
    size_t i;
    const json_t *item;

    if (json_array_size(list) == 0) {
        return;
    }
    printf("  %-9s", title);
    json_array_foreach(list, i, item)
    {
        printf(" %s", json_string_value(item));
    }
    putchar('\n');
}

static void print_visit(const json_t *visit)
{
    static const char *const values[] = {"origin",
                                         "direction",
                                         "turned_origin",
                                         "turned_direction",
                                         "object_origin",
                                         "object_direction",
                                         "inverse",
                                         "grow"};
    const json_t *step = json_object_get(visit, "step"), *item;
    size_t i;

    if (step != NULL) {
        printf("step %lld: ", (long long)json_integer_value(step));
    }
    printf("%s node %s at %s, base %s\n",
           text_of(visit, "kind"),
           text_of(visit, "node"),
           text_of(visit, "address"),
           text_of(visit, "base"));
    print_named("  ", visit, "extent");
    if (json_is_true(json_object_get(visit, "culled"))) {
        printf("  the instance is culled (mask %02llX)\n",
               (unsigned long long)json_integer_value(json_object_get(visit, "cull_mask")));
    }
    for (i = 0; i < sizeof values / sizeof values[0]; i++) {
        print_named("  ", visit, values[i]);
    }
    json_array_foreach(json_object_get(visit, "children"), i, item)
    {
        print_slot(item);
    }
    json_array_foreach(json_object_get(visit, "triangles"), i, item)
    {
        print_triangle(i, item);
    }
    print_words("v0..v9", json_object_get(visit, "v"));
    print_words("push", json_object_get(visit, "pushed"));
    print_words("pop", json_object_get(visit, "popped"));
    if (json_is_true(json_object_get(visit, "committed"))) {
        printf("  committed: ");
        print_named("", visit, "t_cur");
    }
    if (json_object_get(visit, "next") != NULL) {
        printf("  next      %s\n", text_of(visit, "next"));
    }
}

static void print_text(const json_t *root)
{
    const json_t *hit = json_object_get(root, "hit"), *item;
    size_t i;

    if (json_is_false(json_object_get(root, "visited"))) {
        printf("The ray does not visit this node; by itself it gives:\n");
    }
    json_array_foreach(json_object_get(root, "visits"), i, item)
    {
        print_visit(item);
    }
    printf("end: %s\n", text_of(root, "ended"));
    if (!json_is_true(json_object_get(hit, "found"))) {
        printf("no hit\n");
        return;
    }
    printf("hit: primitive %lld of geometry %lld, node %s, instance %s, %s face\n",
           (long long)json_integer_value(json_object_get(hit, "primitive")),
           (long long)json_integer_value(json_object_get(hit, "geometry")),
           text_of(hit, "node"),
           text_of(hit, "instance"),
           json_is_true(json_object_get(hit, "backface")) ? "back" : "front");
    print_named("  ", hit, "t");
    print_named("  ", hit, "u");
    print_named("  ", hit, "v");
}

/* ---- the command ---- */

static int run_why(const struct cli_args *args)
{
    struct facet_gfx12_why_options options = {0};
    struct facet_gfx12_query query;
    struct facet_gfx12_unit unit;
    struct facet_error err = {0};
    struct bvh_file file;
    uint64_t node = 0, flags = 0, mask = 0xFF, grow = 0;
    const char *profile = cli_value(args, "profile");
    json_t *why = NULL;
    enum facet_status status;

    if (!read_ray(args, &query) || !cli_number(args, "node", 0, UINT32_MAX, &node) ||
        !cli_number(args, "flags", 0, 0x3FF, &flags) || !cli_number(args, "mask", 0, 0xFF, &mask) ||
        !cli_number(args, "grow", 0, 255, &grow) ||
        !cli_number(args, "max-steps", 1, 1000000, &options.max_steps) ||
        !bvh_file_read(args, args->positional[0], &file)) {
        return CLI_BAD;
    }
    options.one_node = cli_given(args, "node");
    options.node = (uint32_t)node;
    facet_gfx12_unit_init(&unit, file.view.bytes, file.view.size);
    unit.image_address = file.view.base;
    unit.resource.box_grow_value = (uint8_t)grow;
    if (profile != NULL) {
        (void)facet_gfx12_profile_from(profile, &unit.profile); /* the parser has checked it */
    }
    query.address = file.view.base;
    query.root = file.view.root;
    query.api_flags = (uint32_t)flags;
    query.instance_mask = (uint32_t)mask;
    status = facet_gfx12_why(&unit, &query, &options, &why, &err);
    bvh_file_free(&file);
    if (status != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    if (args->json) {
        return cli_print_json(args, why);
    }
    print_text(why);
    json_decref(why);
    return CLI_OK;
}

static const struct cli_option why_options[] = {
    {"ray", 0, "NUMBERS", "ox oy oz dx dy dz, then tmin and tmax if they are not 0 and infinity"},
    {"node", 0, "ID", "only this node, relative to the base"},
    {"flags", 0, "N", "ray flags of the API, ten bits (default 0)"},
    {"mask", 0, "N", "instance mask (default 0xFF)"},
    {"profile", 0, "silicon|gpurt", "rules of the ray unit (default silicon)"},
    {"grow", 0, "N", "box_grow_value of the descriptor (default 0)"},
    {"max-steps", 0, "N", "nodes to explain before giving up (default 10000)"},
    BVH_IMAGE_OPTIONS,
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_bvh_why = {
    .name = "bvh why",
    .summary = "explain one ray through a GFX12 BVH image",
    .usage = "facet bvh why IMAGE --ray \"ox oy oz dx dy dz tmin tmax\" [--node ID] [--json]",
    .details =
        "Follows the reference loop of the contract and shows each node with every value that "
        "leads to its result: quantized planes and the boxes they stand for, plane minus origin, "
        "times the inverse direction, near and far, the interval, the hit test, the sort key; for "
        "triangles edges, cross products, numerators and quotients; the registers v0 to v9, what "
        "is pushed and popped; at the end the hit. Values are shown as bits and as decimals.\n\n"
        "Numbers of the ray may be decimal, C hexadecimal floats, inf, nan, or bits as "
        "#3F800000.\n\n"
        "With --node only visits of that node are shown. If the ray does not get there, the node "
        "is tested by itself with the ray as given.",
    .examples = "facet bvh build examples/gfx12/cube.obj -o cube.gfx12\n"
                "facet bvh why cube.gfx12 --ray \"-1 0.25 0.5 1 0.25 0.125 0 inf\"",
    .options = why_options,
    .has_json = true,
    .run = run_why,
    .operands = "IMAGE",
};
