/* `facet bvh why`: what one ray does in an image, value by value. */
#include "cli/bvh/bvh.h"
#include "report/camera.h"
#include "report/lost.h"
#include "report/why.h"

#include "documents/gfx12_vectors.h"
#include "gfx12/ask/explain.h"
#include "gfx12/ask/procedural.h"
#include "gfx12/unit.h"
#include "session/ray_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_VISITS = 1 << 20 }; /* a cycle is reported, not followed */

struct output {
    const struct cli_args *args;
    const char *name; /* of the image */
    struct facet_record record;
    uint64_t limit;
};

/* ---- options ---- */

static bool
read_options(const struct cli_args *args, struct facet_gfx12_query *query, struct output *out)
{
    const float zero[3] = {0, 0, 0};
    uint64_t flags = 0, mask = 0xFF;

    facet_gfx12_query_init(query, zero, zero);
    if (cli_given(args, "pixel") ? cli_given(args, "ray")
                                 : cli_given(args, "scene") || cli_given(args, "camera")) {
        (void)cli_bad(args, "expected --ray, or --pixel with a camera");
        return false;
    }
    if ((!cli_given(args, "pixel") && !session_ray_gfx12(args, cli_value(args, "ray"), query)) ||
        !cli_number(args, "flags", 0, 0x3FF, &flags) || !cli_number(args, "mask", 0, 0xFF, &mask) ||
        !cli_number(args, "max", 1, MAX_VISITS, &out->limit)) {
        return false;
    }
    query->max_steps = MAX_VISITS;
    query->api_flags = (uint32_t)flags;
    query->instance_mask = (uint32_t)mask;
    return true;
}

/* ---- one node ---- */

static int explain_node(const struct cli_args *args,
                        const struct facet_gfx12_unit *unit,
                        const struct facet_gfx12_query *query,
                        uint32_t node,
                        struct facet_record *record)
{
    struct facet_gfx12_ray ray = {.extent = query->t_max, .instance_mask = query->instance_mask};
    struct facet_gfx12_steps steps;

    memcpy(ray.origin, query->origin, sizeof ray.origin);
    memcpy(ray.direction, query->direction, sizeof ray.direction);
    facet_gfx12_intersect8_steps(
        unit,
        facet_gfx12_base_make(query->address, facet_gfx12_api_flags(query->api_flags)),
        node,
        &ray,
        &steps);
    if (steps.no_node != NULL) {
        return cli_bad(args,
                       "--node 0x%08" PRIx32 " (byte offset 0x%" PRIx64 " from 0x%" PRIx64 "): %s",
                       node,
                       facet_gfx12_id_offset(node),
                       query->address,
                       steps.no_node);
    }
    facet_gfx12_record_node(record, &steps);
    return cli_print_record(args, record);
}

/* ---- the traversal ---- */

static void print_turn(void *context)
{
    struct output *out = context;

    cli_stream_record(out->args, &out->record);
}

static int explain_trace(const struct cli_args *args,
                         const struct facet_gfx12_unit *unit,
                         const struct facet_gfx12_query *query,
                         struct output *out)
{
    struct facet_error err = {0};
    enum facet_status status =
        facet_gfx12_record_trace(&out->record, unit, query, out->limit, print_turn, out, &err);
    int code;

    if (status == FACET_ERR_INPUT) {
        return cli_bad(args, "%s: %s", out->name, err.message);
    }
    code = cli_print_record(args, &out->record);
    return code == CLI_OK && status != FACET_OK ? cli_bad_error(args, &err) : code;
}

/* What the ray looked for and did not find. */
static bool tell_lost(const struct cli_args *args,
                      const struct facet_gfx12_unit *unit,
                      const struct facet_gfx12_view *view,
                      const struct facet_gfx12_query *query)
{
    struct facet_gfx12_batch_ray ray = {.t_min = query->t_min, .t_max = query->t_max};
    struct facet_gfx12_lost lost;

    memcpy(ray.origin, query->origin, sizeof ray.origin);
    memcpy(ray.direction, query->direction, sizeof ray.direction);
    return facet_gfx12_lost_rays(unit, query, &ray, 1, NULL, &lost, NULL) == FACET_OK &&
           (report_lost(args, view, &lost) || report_wrong_base(args, view) ||
            ((cli_given(args, "base") || cli_given(args, "root")) &&
             report_trouble(args, view, true)));
}

static int run_why(const struct cli_args *args)
{
    const char *profile = cli_value(args, "profile");
    struct output out = {.args = args, .limit = 1000};
    struct facet_gfx12_expect expect;
    struct facet_gfx12_query query;
    struct facet_gfx12_unit unit;
    struct session_bvh file;
    uint64_t node = 0, bvh;
    int code;

    if (cli_given(args, "expect") + cli_given(args, "brief") + cli_given(args, "node") > 1) {
        return cli_bad(args, "--expect, --brief and --node are different questions; ask one");
    }
    if (((cli_given(args, "brief") || cli_given(args, "node")) &&
         cli_useless(args,
                     (const char *const[]){"tree", NULL},
                     "is a form of the answer to --expect, or of a whole traversal")) ||
        (!cli_given(args, "pixel") &&
         cli_useless(args,
                     (const char *const[]){"eye", "look-at", "up", "fov", "size", NULL},
                     "is for --pixel")) ||
        ((cli_given(args, "expect") || cli_given(args, "brief") || cli_given(args, "node")) &&
         cli_useless(
             args, (const char *const[]){"max", NULL}, "is for the explanation of all nodes")) ||
        (cli_given(args, "node") && cli_useless(args,
                                                (const char *const[]){"procedural", NULL},
                                                "is for a traversal; --node is one instruction"))) {
        return CLI_BAD;
    }
    if ((cli_given(args, "expect") &&
         !report_expect_read(args, cli_value(args, "expect"), &expect)) ||
        !read_options(args, &query, &out) || !cli_number(args, "node", 0, UINT32_MAX, &node) ||
        !session_bvh_read_or_make(args, session_bvh_operand(args), bvh_make_image, &file)) {
        return CLI_BAD;
    }
    bvh = file.view.base;
    out.name = file.name;
    if (!session_bvh_is_gfx12(args, &file) ||
        ((cli_given(args, "expect") || cli_given(args, "brief") || cli_given(args, "tree")) &&
         !session_bvh_has_root(args, &file)) ||
        (cli_given(args, "pixel") && !report_pixel_ray(args, &file.view, file.name, &query)) ||
        !session_bvh_address(args, "bvh", &bvh)) {
        session_bvh_free(&file);
        return CLI_BAD;
    }
    facet_gfx12_unit_view(&unit, &file.view);
    if (profile != NULL) {
        (void)facet_doc_gfx12_profile_from(profile, &unit.profile); /* the parser has checked it */
    }
    if (cli_given(args, "procedural")) {
        query.callbacks.procedural = facet_gfx12_procedural_box;
    }
    query.address = bvh;
    query.root = file.view.root;
    facet_record_init(&out.record, args->json);
    if (cli_given(args, "expect")) {
        code = report_why_expect(args, &unit, &file.view, &query, &expect);
    } else if (cli_given(args, "brief")) {
        code = report_why_brief(args, &unit, &file.view, &query);
    } else if (cli_given(args, "node")) {
        code = explain_node(args, &unit, &query, (uint32_t)node, &out.record);
    } else if (cli_given(args, "tree") && !args->json) {
        code = report_why_tree(args, &unit, &file.view, &query, out.limit);
    } else {
        code = explain_trace(args, &unit, &query, &out);
    }
    if (code != CLI_BAD && !cli_given(args, "node") && tell_lost(args, &unit, &file.view, &query)) {
        code = CLI_NO;
    }
    facet_record_free(&out.record);
    session_bvh_free(&file);
    return code;
}

static const struct cli_option why_options[] = {
    {"ray", 0, "NUMBERS", "origin, direction and optionally tmin tmax, in one argument"},
    {"pixel", 0, "X,Y", "the ray of that pixel of a picture instead (see Camera)"},
    {"node", 0, "ID", "explain one instruction on this node, without a traversal"},
    {"expect", 0, "PRIM[,GEOM,INST]", "why this triangle is or is not hit, in five lines"},
    {"brief", 0, NULL, "the ray in five lines: hit, nodes, closest misses, cross-check"},
    {"tree", 0, NULL, "a node per line: what the ray visits, or with --expect the path"},
    {"max", 0, "N", "most nodes to explain; the others are counted (default 1000)"},
    {"profile", 0, "silicon|gpurt", CLI_GROUP("Ray") "rules of the instruction (default silicon)"},
    {"procedural", 0, "box", "the boxes of procedural primitives are hit (default: none is)"},
    {"flags", 0, "N", "API ray flags (default 0)"},
    {"mask", 0, "N", "instance mask (default 0xff)"},
    REPORT_CAMERA_OPTIONS,
    {"size", 0, "WxH", "of the picture in pixels (default 1280x720)"},
    {"scene", 0, "FILE", "the picture is one of this scene, seen by its camera"},
    {"camera", 0, "N", "number of the camera of the scene (default 0), or `frame`"},
    SESSION_BVH_OPTIONS,
    {"bvh", 0, "ADDR", "address that node IDs are relative to (default: that of --base)"},
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_bvh_why = {
    .name = "bvh why",
    .summary = "explain what one ray does in a GFX12 BVH image",
    .usage = "facet bvh why [IMAGE] --ray \"OX OY OZ DX DY DZ [TMIN TMAX]\" [--node ID] [--json]\n"
             "facet bvh why [IMAGE] --ray NUMBERS --expect PRIM[,GEOM,INST] [--tree] [--json]\n"
             "facet bvh why [IMAGE] --ray NUMBERS --brief [--json]\n"
             "facet bvh why [IMAGE] --ray NUMBERS --tree [--max N]\n"
             "facet bvh why [IMAGE] --pixel X,Y [--size WxH] [--scene SCENE] [--eye X,Y,Z] ...",
    .details =
        "Follows the reference loop (gfx12-semantics.md 11.1) and shows, for every node it visits, "
        "the ten result registers and all values on the way to them: planes, boxes, slab products, "
        "culling rule, sort keys; transform and merged flags; vertices, edges, numerators, "
        "quotients and the comparison that failed; then stack, next node and committed hits.\n\n"
        "With --expect five lines say why the ray does or does not hit one triangle: the path of "
        "nodes to it, the first test on that path that rejects the ray and by how much, who is at "
        "fault, what is hit instead, and whether all triangles tested one by one give the same "
        "hit. INST is the user data of the instance. Where several paths lead to such a triangle, "
        "one whose triangle the ray meets is shown, else the one on which the ray comes furthest. "
        "The fault is\n\n"
        "  box        the triangle by itself is hit, outside a box of its path\n"
        "  rounding   the same, but inside the box: the slab test rounds\n"
        "  ray        the triangle by itself is missed, or hit outside of TMIN to TMAX\n"
        "  flags      ray flags remove it, or a box promises what it is not\n"
        "  mask       the instance mask removes it\n"
        "  transform  the matrix of its instance moves it out of a box above\n"
        "  range      a stop bit ends the range of its leaf before it\n"
        "  nearer     something else is hit before it\n"
        "  lost       only a block that no node names has it\n"
        "  none       it is hit\n\n"
        "With --pixel the ray is the one that `facet render` sends through the middle of that "
        "pixel "
        "of its picture of the image, or with --scene of its picture of that scene, which has "
        "the flag 0x10 (CULL_BACK_FACING). The options of the camera must be those of the "
        "picture.\n\n"
        "With --brief five lines say what the ray hits, what it visits and misses narrowly. With "
        "--tree every visited node has a line below the one that led to it: which children the ray "
        "meets, nearest first, and what becomes of each triangle.\n\n"
        "With --node one instruction runs on one node; the ray is taken to be in the space of that "
        "node, and TMAX is the ray extent. For a node below an instance give the address of its "
        "bottom level as --bvh.\n\n"
        "The numbers of --ray are decimal fractions, inf, nan, or 0x and the bits of a float; "
        "TMIN is 0 and TMAX inf when they are left out. No shader runs: non-opaque hits are "
        "accepted, and procedural primitives are not hit unless --procedural box takes their boxes "
        "for their shape. A traversal of more than 1048576 nodes is "
        "reported as an error. Nodes outside the image, types that name no node and ranges that do "
        "not end are told, and make the exit code 1; so are instances that a wrong --base leads to "
        "the middle of other structures.\n\n"
        "The exit code is 1 when --expect finds that the triangle is not hit, and when with "
        "--brief all "
        "triangles tested one by one give another hit.",
    .examples = "facet bvh build examples/gfx12/cube.obj -o cube.gfx12 --quality contract\n"
                "facet bvh why cube.gfx12 --ray \"-1 0.25 0.5 1 0.25 0.125\"\n"
                "facet bvh why cube.gfx12 --ray \"-1 0.25 0.5 1 0.25 0.125\" --node 0x12 --json\n"
                "facet bvh why cube.gfx12 --ray \"-1 0.25 0.5 1 0.25 0.125\" --expect 8\n"
                "facet bvh why cube.gfx12 --ray \"-1 0.25 0.5 1 0.25 0.125\" --tree\n"
                "facet bvh why cube.gfx12 --ray \"-1 0.25 0.5 1 0.25 0.125\" --brief\n"
                "facet bvh why cube.gfx12 --pixel 80,45 --size 160x90 --brief",
    .options = why_options,
    .has_json = true,
    .run = run_why,
    .operands = "[IMAGE]",
};
