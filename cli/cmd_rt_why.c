/* `facet rt why`: what one ray does in an RT image, value by value. */
#include "base/bits.h"
#include "base/file.h"
#include "base/float.h"
#include "command/command.h"
#include "num/f32.h"
#include "session/ray_text.h"
#include "xphmg/rt/explain.h"
#include "xphmg/units/units.h"
#include "json/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_IMAGE_BYTES ((size_t)32 << 30)

enum { MODE_AT = 24, ALT_AT = 32 }; /* of the header (docs/rt-images.md) */

/* ---- options ---- */

enum where { JOB = 1, TILE = 2, TRIANGLE = 4 };

/* The names of --flags are those of the assembler and of the descriptor. */
static const struct {
    const char *name;
    size_t at; /* in struct facet_xphmg_rt_why_query */
    unsigned where;
} flag_names[] = {
    {"any_hit", offsetof(struct facet_xphmg_rt_why_query, any_hit), JOB},
    {"cull_back", offsetof(struct facet_xphmg_rt_why_query, cull_back), JOB | TRIANGLE},
    {"eps_ctl", offsetof(struct facet_xphmg_rt_why_query, eps_ctl), JOB | TRIANGLE},
    {"pack_hint", offsetof(struct facet_xphmg_rt_why_query, pack_hint), JOB | TILE | TRIANGLE},
    {"pred_only", offsetof(struct facet_xphmg_rt_why_query, pred_only), TILE | TRIANGLE},
    {"t_clamp", offsetof(struct facet_xphmg_rt_why_query, t_clamp), TILE},
    {"w_guard", offsetof(struct facet_xphmg_rt_why_query, w_guard), JOB | TILE},
};
#define FLAG_NAMES (sizeof flag_names / sizeof flag_names[0])

static bool set_flag(const struct cli_args *args,
                     const char *word,
                     size_t length,
                     unsigned where,
                     struct facet_xphmg_rt_why_query *query)
{
    static const char *const of[] = {[JOB] = "a job", [TILE] = "RT.BBOX", [TRIANGLE] = "RT.TRI"};

    for (size_t i = 0; i < FLAG_NAMES; i++) {
        if (strlen(flag_names[i].name) != length ||
            strncmp(flag_names[i].name, word, length) != 0) {
            continue;
        }
        if ((flag_names[i].where & where) == 0) {
            (void)cli_bad(args, "--flags %s: %s has no such flag", flag_names[i].name, of[where]);
            return false;
        }
        *(bool *)((char *)query + flag_names[i].at) = true;
        return true;
    }
    (void)cli_bad(args,
                  "--flags: \"%.*s\": expected any_hit, cull_back, eps_ctl, pack_hint, pred_only, "
                  "t_clamp or w_guard",
                  (int)length,
                  word);
    return false;
}

/* Names separated by `|` or commas. */
static bool
read_flags(const struct cli_args *args, unsigned where, struct facet_xphmg_rt_why_query *query)
{
    const char *text = cli_value(args, "flags");

    while (text != NULL && *text != '\0') {
        size_t length = strcspn(text, "|, ");

        if (length != 0 && !set_flag(args, text, length, where, query)) {
            return false;
        }
        text += length;
        text += strspn(text, "|, ");
    }
    return true;
}

static bool read_ray(const struct cli_args *args, struct facet_xphmg_rt_why_query *q)
{
    struct session_ray_number number[FACET_RT_RAY_ELEMENTS + 1] = {
        [7] = {.value = facet_float_of(F32_INF)},
        [8] = {.value = 1.0f},
    };
    unsigned width = facet_format_width(q->view->eff.elem);
    unsigned count = session_ray_read(args, cli_value(args, "ray"), number, 9);

    if (count == 0) {
        return false;
    }
    if (count != 6 && count != 8 && !(count == 9 && q->w_guard)) {
        (void)cli_bad(args,
                      "--ray: %u numbers: expected 6 (origin, direction), 8 (and tmin tmax) or, "
                      "with --flags w_guard, 9 (and w)",
                      count);
        return false;
    }
    for (unsigned i = 0; i < 9; i++) {
        if (number[i].coded && width < 32 && number[i].bits >> width != 0) {
            (void)cli_bad(args,
                          "--ray: 0x%" PRIx32 ": expected the bits of an element of %u bits (%s)",
                          number[i].bits,
                          width,
                          facet_format_name(q->view->eff.elem));
            return false;
        }
        q->ray[i] = number[i].coded ? number[i].bits
                                    : facet_xphmg_rt_why_element(q->view, i, number[i].value);
    }
    return true;
}

/* ---- the image ---- */

/* --mode, --alt and --rm change the header of a sound image; opening checks it again. */
static bool apply_numbers(const struct cli_args *args, struct facet_bytes *file)
{
    static const char *const modes[] = {"rne", "rtz", "rdn", "rup", "rmm"};
    const char *name = cli_value(args, "rm");
    uint64_t mode, alt;

    mode = facet_load_le64(file->data + MODE_AT);
    alt = facet_load_le64(file->data + ALT_AT);
    if (!cli_number(args, "mode", 0, UINT64_MAX, &mode) ||
        !cli_number(args, "alt", 0, UINT64_MAX, &alt)) {
        return false;
    }
    for (unsigned rm = 0; name != NULL && rm < 5; rm++) {
        if (strcmp(name, modes[rm]) == 0) {
            mode = FACET_PUT(mode, CAP_PREC_MODE_FP_RMODE, rm & 3);
            mode = FACET_PUT(mode, CAP_PREC_MODE_FP_RMODE2, rm >> 2);
        }
    }
    facet_store_le64(file->data + MODE_AT, mode & ~FACET_CAP_PREC_MODE_APPLY0);
    facet_store_le64(file->data + ALT_AT, alt & ~FACET_CAP_PREC_ALT_APPLY1);
    return true;
}

/* The image was sound before: the options are to blame, not a place in the file. */
static void refuse_numbers(const struct cli_args *args,
                           const struct facet_error *err,
                           uint8_t stored,
                           uint8_t asked)
{
    const char *const after = strstr(err->message, ": ");

    if (err->where == MODE_AT || err->where == ALT_AT) {
        (void)cli_bad(args,
                      "--%s: %s",
                      err->where == ALT_AT              ? "alt"
                      : cli_value(args, "mode") != NULL ? "mode"
                                                        : "rm",
                      after != NULL ? after + 2 : err->message);
    } else {
        (void)cli_bad(args,
                      "--%s: elements are %s, expected a format that lies in memory as the %s "
                      "elements of %s do",
                      cli_value(args, "mode") != NULL ? "mode" : "alt",
                      facet_format_name(asked),
                      facet_format_name(stored),
                      cli_value(args, "tiles"));
    }
}

/* Fills in everything but the ray. */
static bool
open_image(const struct cli_args *args, struct facet_bytes *file, struct facet_rtbvh_view *view)
{
    const char *path = cli_value(args, "tiles");
    struct facet_error err = {0};
    uint8_t stored;

    if (path == NULL) {
        (void)cli_bad(args, "expected --tiles FILE");
        return false;
    }
    if (facet_file_read(path, MAX_IMAGE_BYTES, file, &err) != FACET_OK) {
        (void)cli_bad_error(args, &err);
        return false;
    }
    if (facet_rtbvh_open(file->data, file->size, view, &err) != FACET_OK) {
        (void)facet_fail_in(&err, path);
        (void)cli_bad_error(args, &err);
        return false;
    }
    stored = view->eff.elem;
    if (!apply_numbers(args, file)) {
        return false;
    }
    if (facet_rtbvh_open(file->data, file->size, view, &err) != FACET_OK) {
        refuse_numbers(args, &err, stored, view->eff.elem);
        return false;
    }
    return true;
}

/* ---- the job ---- */

struct output {
    const struct cli_args *args;
    const struct facet_xphmg_rt_why_query *query;
    struct facet_record *record;
    uint64_t visits, limit;
};

static void on_event(void *context, const struct facet_xphmg_rt_event *event, uint64_t offset)
{
    struct output *out = context;

    out->visits += event->kind == FACET_XPHMG_RT_EVENT_POP;
    if (out->visits <= out->limit) {
        facet_xphmg_rt_record_event(out->record, out->query, event, offset);
        cli_stream_record(out->args, out->record);
    }
}

static int refuse_image(const struct cli_args *args, struct facet_error *err)
{
    (void)facet_fail_in(err, cli_value(args, "tiles"));
    return cli_bad_error(args, err);
}

static int explain_job(const struct cli_args *args,
                       const struct facet_xphmg_rt_why_query *query,
                       uint64_t limit,
                       struct facet_record *r)
{
    struct output out = {args, query, r, 0, limit};
    struct facet_xphmg_rt_why_result result;
    struct facet_error err = {0};
    int code;

    facet_xphmg_rt_record_ray(r, "ray", query);
    facet_record_list(r, "events");
    if (facet_xphmg_rt_why_trace(query, on_event, &out, &result, &err) != FACET_OK) {
        return refuse_image(args, &err);
    }
    facet_record_close(r);
    if (r->json) {
        facet_record_bool(r, "complete", out.visits <= limit);
    } else if (out.visits > limit) {
        facet_record_say(r, "... and %" PRIu64 " more entries of the stack", out.visits - limit);
    }
    facet_xphmg_rt_record_result(r, "result", query, &result);
    facet_record_close(r);
    code = cli_print_record(args, r);
    if (code == CLI_OK && !result.agrees) {
        return cli_bad(args, "the explanation does not follow the job: please report this");
    }
    return code;
}

/* ---- one instruction ---- */

static int explain_tile(const struct cli_args *args,
                        const struct facet_xphmg_rt_why_query *query,
                        uint64_t offset,
                        struct facet_record *r)
{
    struct facet_xphmg_rt_why_child child[8];
    struct facet_error err = {0};

    if (facet_xphmg_rt_why_tile(query, offset, child, &err) != FACET_OK) {
        return refuse_image(args, &err);
    }
    facet_xphmg_rt_record_ray(r, "ray", query);
    facet_record_line(r, "RT.BBOX on the tile at", "RT-143");
    facet_record_hex(r, "offset", offset, 0);
    facet_record_list(r, "children");
    for (unsigned c = 0; c < query->view->header.children; c++) {
        facet_xphmg_rt_record_child(r, query, c, &child[c]);
    }
    facet_record_close(r);
    facet_record_close(r);
    return cli_print_record(args, r);
}

static int explain_triangle(const struct cli_args *args,
                            const struct facet_xphmg_rt_why_query *query,
                            uint32_t number,
                            struct facet_record *r)
{
    struct facet_xphmg_rt_why_triangle triangle;
    struct facet_error err = {0};

    if (facet_xphmg_rt_why_triangle(query, number, &triangle, &err) != FACET_OK) {
        return refuse_image(args, &err);
    }
    facet_xphmg_rt_record_ray(r, "ray", query);
    facet_xphmg_rt_record_triangle(r, "triangle", query, number, &triangle);
    facet_record_close(r);
    return cli_print_record(args, r);
}

static int run_why(const struct cli_args *args)
{
    unsigned where = cli_given(args, "tile") ? TILE : cli_given(args, "triangle") ? TRIANGLE : JOB;
    struct facet_bytes file = {0};
    struct facet_rtbvh_view view;
    struct facet_xphmg_rt_why_query query = {.view = &view};
    struct facet_record record;
    uint64_t tile = 0, triangle = 0, eps = 0, limit = 1000;
    int code = CLI_BAD;

    if (cli_given(args, "tile") && cli_given(args, "triangle")) {
        return cli_bad(args, "--tile and --triangle: expected one of them");
    }
    if (cli_number(args, "tile", 0, UINT64_MAX, &tile) &&
        cli_number(args, "triangle", 0, UINT32_MAX, &triangle) &&
        cli_number(args, "eps", 0, 255, &eps) &&
        cli_number(args, "max", 1, FACET_XPHMG_RT_WHY_VISITS, &limit) &&
        read_flags(args, where, &query) && open_image(args, &file, &view) &&
        read_ray(args, &query)) {
        query.eps = (uint8_t)eps;
        facet_record_init(&record, args->json);
        facet_record_open(&record, NULL, NULL);
        code = where == TILE       ? explain_tile(args, &query, tile, &record)
               : where == TRIANGLE ? explain_triangle(args, &query, (uint32_t)triangle, &record)
                                   : explain_job(args, &query, limit, &record);
        facet_record_free(&record);
    }
    free(file.data);
    return code;
}

static const struct cli_option why_options[] = {
    {"tiles", 0, "FILE", "RT image of `facet bvh build --format xphmg4|xphmg8`"},
    {"ray", 0, "NUMBERS", "origin, direction, optionally tmin tmax, and w, in one argument"},
    {"tile", 0, "OFFSET", "explain one RT.BBOX on the node at this byte of the file"},
    {"triangle", 0, "ID", "explain one RT.TRI on this triangle of the image"},
    {"max", 0, "N", "most stack entries to explain; the others are counted (default 1000)"},
    {"flags",
     0,
     "NAMES",
     CLI_GROUP("Number") "any_hit, cull_back, eps_ctl, pack_hint, pred_only, t_clamp, w_guard"},
    {"eps", 0, "CODE", "EPS_DFLT, or with eps_ctl EPS_SCALE (default 0)"},
    {"rm", 0, "rne|rtz|rdn|rup|rmm", "rounding mode in place of that of the image"},
    {"mode", 0, "BITS", "CAP.PREC.MODE in place of that of the image"},
    {"alt", 0, "BITS", "CAP.PREC.ALT in place of that of the image"},
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_rt_why = {
    .name = "rt why",
    .summary = "explain what one ray does in a BVH image of XPHMG_RT",
    .usage = "facet rt why --tiles FILE --ray \"OX OY OZ DX DY DZ [TMIN TMAX]\" [--json]\n"
             "facet rt why --tiles FILE --ray NUMBERS --tile OFFSET [--flags NAMES]\n"
             "facet rt why --tiles FILE --ray NUMBERS --triangle ID [--flags NAMES]",
    .details =
        "Runs XSUBMIT.RT with one ray and shows what the job does, in its order: each entry taken "
        "from the stack, each tile with the slab values of its children, the children pushed "
        "(farthest first), each triangle with its edge functions, and the rule that decided. "
        "Every value is shown with its bits; steps are named as in rt-semantics.md (B1 to B7, T1 "
        "to T11) with the rows of rt.requirements.tsv.\n\n"
        "--tile explains one RT.BBOX with a lane for each child, --triangle one RT.TRI; both show "
        "the registers that the instruction writes. `facet bvh dump` lists offsets and "
        "triangles.\n\n"
        "The numbers of --ray are decimal fractions, inf or nan, rounded to the nearest element of "
        "the image, or 0x and the bits of an element. TMIN is 0 and TMAX inf (or the largest "
        "element) when they are left out; w_guard takes a ninth number, w (default 1).",
    .examples = "facet bvh build examples/gfx12/cube.obj -o cube.tiles --format xphmg4\n"
                "facet rt why --tiles cube.tiles --ray \"-1 0.25 0.5 1 0.25 0.125\"\n"
                "facet rt why --tiles cube.tiles --ray \"-1 0.25 0.5 1 0.25 0.125\" --tile 0x80\n"
                "facet rt why --tiles cube.tiles --ray \"-1 0.25 0.5 1 0.25 0.125\" --triangle 3 "
                "--flags cull_back --json",
    .options = why_options,
    .has_json = true,
    .run = run_why,
    .operands = "",
};
