/* Command lists for the tile GPU: descriptors of every kind from the layout tables, mostly as a
 * driver would fill them, samplers and textures, rectangles, triangles and vertex buffers, all into
 * a frame of 64 x 48 pixels. */
#include "fuzz/kinds.h"

#include "base/pool.h"
#include "base/random.h"
#include "isa/table.h"
#include "tile/tile.h"
#include "tile_list/list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 64,
    HEIGHT = 48,
    STRIDE = 4 * WIDTH,
    VERTICES = 24,
    STATES = 4,
    VRAM_BYTES = 1 << 18
};

enum stream { ITEMS, BUFFERS };

static uint64_t stream_of(const struct facet_fuzz_case *c, enum stream stream)
{
    return facet_random(facet_random(c->seed, c->number), stream);
}

/* An item is the seed of one command. */
static void draw(struct facet_fuzz_case *c, size_t length)
{
    c->count = length;
    for (size_t i = 0; i < length; i++) {
        c->item[i] = (uint32_t)facet_random(stream_of(c, ITEMS), i);
    }
}

/* ---- values ---- */

/* Numbers for one command, one after the other. */
struct dice {
    uint64_t seed, thrown;
};

static uint64_t throw_dice(struct dice *dice, uint64_t sides)
{
    return facet_random_below(dice->seed, dice->thrown++, sides);
}

static void put_pair(struct facet_strbuf *out, int64_t a, int64_t b)
{
    facet_strbuf_printf(out, "[%" PRId64 ", %" PRId64 "]", a, b);
}

/* Small numbers, with halves and a few that are odd in other ways. */
static void put_float(struct facet_strbuf *out, struct dice *dice, double reach)
{
    static const char *const odd[] = {
        "\"0x7f800000\"", "\"0xff800000\"", "\"0x7fc00000\"", "\"0x00000001\"", "-0.0", "1e30"};

    if (throw_dice(dice, 64) == 0) {
        facet_strbuf_puts(out, odd[throw_dice(dice, sizeof odd / sizeof odd[0])]);
    } else {
        facet_strbuf_printf(out, "%.9g", ((double)throw_dice(dice, 4097) - 2048) * reach / 2048);
    }
}

static void put_color(struct facet_strbuf *out, struct dice *dice)
{
    facet_strbuf_printf(out, "%" PRIu64, throw_dice(dice, UINT64_C(1) << 32));
}

static void put_flags(struct facet_strbuf *out,
                      struct dice *dice,
                      const struct facet_layout_member *m,
                      bool all)
{
    bool first = true;

    facet_strbuf_puts(out, "[");
    for (uint16_t i = 0; i < m->value_count; i++) {
        if (all || throw_dice(dice, 3) == 0) {
            facet_strbuf_printf(out, "%s\"%s\"", first ? "" : ", ", m->values[i].name);
            first = false;
        }
    }
    facet_strbuf_puts(out, "]");
}

/* What a member needs so that something is drawn, whatever the table allows; false: no such rule.
 */
static bool put_useful(struct facet_strbuf *out, struct dice *dice, const char *name)
{
    static const struct {
        const char *name, *value;
    } fixed[] = {
        {"fb_base", "\"frame\""},
        {"fb_stride", "256"},
        {"fb_wh", "[64, 48]"},
        {"depth_base", "\"depth\""},
        {"depth_stride", "256"},
        {"vbo_base", "\"vertices\""},
        {"index_base", "\"indices\""},
        {"normal_ptr", "\"matrix\""},
        {"plane_ptr", "\"plane\""},
        {"base", "\"texels\""},
        {"palette_base", "\"palettes\""},
        {"scissor_wh", "[40, 30]"},
    };
    static const struct {
        const char *name;
        int64_t least, most;
    } small[] = {{"sampler", 0, 3},
                 {"width", 1, 16},
                 {"height", 1, 16},
                 {"count", 0, VERTICES},
                 {"vtx_base", 0, 3},
                 {"idx_base", 0, 3},
                 {"spec_power", 0, 40}};

    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        if (strcmp(fixed[i].name, name) == 0) {
            facet_strbuf_puts(out, fixed[i].value);
            return true;
        }
    }
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
        if (strcmp(small[i].name, name) == 0) {
            facet_strbuf_printf(
                out,
                "%" PRId64,
                small[i].least +
                    (int64_t)throw_dice(dice, (uint64_t)(small[i].most - small[i].least + 1)));
            return true;
        }
    }
    if (strcmp(name, "stride") == 0) { /* of a sampler, and of vertices with all attributes */
        facet_strbuf_printf(out, "%d", throw_dice(dice, 4) == 0 ? 64 : 40);
        return true;
    }
    return false;
}

static void
put_list(struct facet_strbuf *out, struct dice *dice, const struct facet_layout_member *m)
{
    const bool matrix = m->count >= 9; /* near one that changes nothing */
    const uint32_t row = m->count == 16 ? 5 : 4;

    facet_strbuf_puts(out, "[");
    for (uint32_t i = 0; i < m->count; i++) {
        facet_strbuf_puts(out, i == 0 ? "" : ", ");
        if (matrix && throw_dice(dice, 3) != 0) {
            facet_strbuf_puts(out, i % (m->count == 12 ? 5 : row) == 0 ? "1" : "0");
        } else {
            put_float(out, dice, 1);
        }
    }
    facet_strbuf_puts(out, "]");
}

static void
put_value(struct facet_strbuf *out, struct dice *dice, const struct facet_layout_member *m)
{
    switch (m->type) {
    case FACET_LAYOUT_FLOAT:
        if (m->count > 1) {
            put_list(out, dice, m);
        } else {
            put_float(out, dice, 1);
        }
        break;
    case FACET_LAYOUT_COLOR:
        put_color(out, dice);
        break;
    case FACET_LAYOUT_PAIR:
        put_pair(out, (int64_t)throw_dice(dice, 81), (int64_t)throw_dice(dice, 65));
        break;
    case FACET_LAYOUT_IPAIR:
        put_pair(out, (int64_t)throw_dice(dice, 81) - 16, (int64_t)throw_dice(dice, 65) - 16);
        break;
    case FACET_LAYOUT_ENUM:
        facet_strbuf_printf(out, "\"%s\"", m->values[throw_dice(dice, m->value_count)].name);
        break;
    case FACET_LAYOUT_FLAGS:
        put_flags(out, dice, m, strcmp(m->name, "attributes") == 0 && throw_dice(dice, 4) != 0);
        break;
    case FACET_LAYOUT_ADDRESS:
        facet_strbuf_printf(out, "\"texels+%" PRIu64 "\"", 16 * throw_dice(dice, 16));
        break;
    default: /* numbers: of state slots, palettes */
        facet_strbuf_printf(out, "%" PRIu64, throw_dice(dice, STATES));
    }
}

/* What a draw cannot do without, and what is left to chance. */
static bool needed(const struct facet_layout_member *m)
{
    static const char *const always[] = {"fb_base",
                                         "fb_stride",
                                         "fb_wh",
                                         "depth_base",
                                         "depth_stride",
                                         "vbo_base",
                                         "stride",
                                         "mvp",
                                         "base",
                                         "width",
                                         "height",
                                         "wh",
                                         "count",
                                         "attributes",
                                         "index_base",
                                         "palette_base",
                                         "normal_ptr",
                                         "plane_ptr"};

    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) {
        if (strcmp(m->name, always[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void put_descriptor(struct facet_strbuf *out, struct dice *dice, const char *name)
{
    const struct facet_layout_row *row = facet_layout_rows;
    bool first = true;

    while (strcmp(row->name, name) != 0 || strcmp(row->machine, "tile") != 0) {
        row++;
    }
    facet_strbuf_puts(out, "\"descriptor\": {");
    for (uint16_t i = 0; i < row->member_count; i++) {
        const struct facet_layout_member *m = &row->members[i];
        const bool skip = m->view || m->type == FACET_LAYOUT_FIXED ||
                          strcmp(m->name, "vtx_ptr") == 0 ||
                          (!needed(m) && throw_dice(dice, 2) == 0);

        if (!skip) {
            facet_strbuf_printf(out, "%s\"%s\": ", first ? "" : ", ", m->name);
            if (throw_dice(dice, 32) == 0 || !put_useful(out, dice, m->name)) {
                if (strcmp(m->name, "fb_wh") == 0) { /* this bounds every draw */
                    facet_strbuf_puts(out, "[33, 20]");
                } else {
                    put_value(out, dice, m);
                }
            }
            first = false;
        }
    }
    facet_strbuf_puts(out, "}");
}

/* ---- commands ---- */

static void put_triangle(struct facet_strbuf *out, struct dice *dice)
{
    facet_strbuf_puts(out, "\"triangle\": [");
    for (unsigned i = 0; i < 3; i++) {
        facet_strbuf_printf(out, "%s{\"x\": ", i == 0 ? "" : ", ");
        put_float(out, dice, 90);
        facet_strbuf_puts(out, ", \"y\": ");
        put_float(out, dice, 70);
        facet_strbuf_puts(out, ", \"z\": ");
        put_float(out, dice, 1);
        if (throw_dice(dice, 2) == 0) {
            facet_strbuf_puts(out, ", \"w\": ");
            put_float(out, dice, 3);
        }
        facet_strbuf_puts(out, ", \"u\": ");
        put_float(out, dice, 20);
        facet_strbuf_puts(out, ", \"v\": ");
        put_float(out, dice, 20);
        facet_strbuf_puts(out, ", \"color\": ");
        put_color(out, dice);
        facet_strbuf_puts(out, "}");
    }
    facet_strbuf_puts(out, "]");
}

static void put_command(struct facet_strbuf *out, uint32_t item)
{
    static const struct {
        const char *command, *structure, *slot;
        unsigned slots;
        bool triangle;
    } kinds[] = {
        {"LOAD_RSTATE", "RSTATE", "slot", 4, false},
        {"LOAD_GSTATE", "GSTATE", "slot", 4, false},
        {"LOAD_GPARAM", "GPARAM", "slot", 4, false},
        {"LOAD_SAMPLER", "SAMPLER", "index", 4, false},
        {"RRECT", "RRECT", NULL, 0, false},
        {"RDRAW", "RDRAW", NULL, 0, true},
        {"RDRAW", "RDRAW", NULL, 0, true},
        {"GDRAW", "GDRAW", NULL, 0, false},
        {"GDRAW", "GDRAW", NULL, 0, false},
    };
    struct dice dice = {.seed = item};
    const uint64_t kind = throw_dice(&dice, sizeof kinds / sizeof kinds[0]);

    facet_strbuf_printf(out, "    {\"command\": \"%s\", ", kinds[kind].command);
    if (kinds[kind].slot != NULL) {
        facet_strbuf_printf(
            out, "\"%s\": %" PRIu64 ", ", kinds[kind].slot, throw_dice(&dice, kinds[kind].slots));
    }
    put_descriptor(out, &dice, kinds[kind].structure);
    if (kinds[kind].triangle) {
        facet_strbuf_puts(out, ", ");
        put_triangle(out, &dice);
    }
    facet_strbuf_puts(out, "}");
}

/* States with which the first draws find something to draw with. */
static void put_first_states(struct facet_strbuf *out)
{
    static const char *const depth[] = {"none", "D16", "D32F", "D32F"};

    for (unsigned i = 0; i < STATES; i++) {
        facet_strbuf_printf(
            out,
            "%s    {\"command\": \"LOAD_RSTATE\", \"slot\": %u, \"descriptor\": {\"fb_base\": "
            "\"frame\", \"fb_stride\": 256, \"fb_format\": \"ARGB8888\", \"fb_wh\": [64, 48], "
            "\"depth_base\": \"depth\", \"depth_stride\": 256, \"depth_format\": \"%s\", "
            "\"depth_function\": \"lequal\", \"sampler\": %u}},\n"
            "    {\"command\": \"LOAD_SAMPLER\", \"index\": %u, \"descriptor\": {\"base\": "
            "\"texels\", \"stride\": 64, \"width\": %u, \"height\": 8, \"format\": "
            "\"ARGB8888\"}},\n"
            "    {\"command\": \"LOAD_GPARAM\", \"slot\": %u, \"descriptor\": {\"model\": [1, 0, "
            "0, 0, 0, 1, 0, 0, 0, 0, 1, 0]}},\n"
            "    {\"command\": \"LOAD_GSTATE\", \"slot\": %u, \"descriptor\": {\"vbo_base\": "
            "\"vertices\", \"stride\": 40, \"attributes\": [\"NORMAL\", \"UV\", \"COLOR\"], "
            "\"index_base\": \"indices\", \"mvp\": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, "
            "1]}}",
            i == 0 ? "" : ",\n",
            i,
            depth[i],
            i,
            i,
            3 + i,
            i,
            i);
    }
}

static void put_numbers(struct facet_strbuf *out, struct dice *dice, unsigned count, uint64_t sides)
{
    for (unsigned i = 0; i < count; i++) {
        facet_strbuf_printf(out, "%s%" PRIu64, i == 0 ? "" : ", ", throw_dice(dice, sides));
    }
}

static void put_floats(struct facet_strbuf *out, struct dice *dice, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        facet_strbuf_puts(out, i == 0 ? "" : ", ");
        put_float(out, dice, 1);
    }
}

static void put_vertices(struct facet_strbuf *out, struct dice *dice)
{
    for (unsigned i = 0; i < VERTICES; i++) {
        facet_strbuf_printf(out, "%s\n      {\"position\": [", i == 0 ? "" : ",");
        put_floats(out, dice, 3);
        facet_strbuf_puts(
            out, throw_dice(dice, 4) == 0 ? ", 0.5], \"normal\": [" : ", 1], \"normal\": [");
        put_floats(out, dice, 3);
        facet_strbuf_puts(out, "], \"uv\": [");
        put_floats(out, dice, 2);
        facet_strbuf_puts(out, "], \"color\": ");
        put_color(out, dice);
        facet_strbuf_puts(out, "}");
    }
}

static enum facet_status
text(const struct facet_fuzz_case *c, struct facet_strbuf *out, struct facet_error *err)
{
    struct dice dice = {.seed = stream_of(c, BUFFERS)};

    facet_strbuf_printf(out,
                        "{\n  \"machine\": {\"vram\": %d},\n  \"buffers\": {\n"
                        "    \"frame\": {\"size\": %d},\n    \"depth\": {\"size\": %d},\n"
                        "    \"vertices\": {\"vertices\": [",
                        VRAM_BYTES,
                        STRIDE * HEIGHT,
                        STRIDE * HEIGHT);
    put_vertices(out, &dice);
    facet_strbuf_puts(out, "\n    ]},\n    \"indices\": {\"u16\": [");
    put_numbers(out, &dice, 2 * VERTICES, VERTICES);
    facet_strbuf_puts(out, "]},\n    \"texels\": {\"u32\": [");
    put_numbers(out, &dice, 256, UINT64_C(1) << 32);
    facet_strbuf_puts(out, "]},\n    \"palettes\": {\"u32\": [");
    put_numbers(out, &dice, 256, UINT64_C(1) << 32);
    facet_strbuf_puts(out, "], \"size\": 4096},\n    \"matrix\": {\"f32\": [");
    put_floats(out, &dice, 9);
    facet_strbuf_puts(out, "]},\n    \"plane\": {\"f32\": [");
    put_floats(out, &dice, 4);
    facet_strbuf_printf(out,
                        "]}\n  },\n  \"frame\": {\"base\": \"frame\", \"width\": %d, \"height\": "
                        "%d},\n  \"commands\": [\n",
                        WIDTH,
                        HEIGHT);
    put_first_states(out);
    for (size_t i = 0; i < c->count; i++) {
        facet_strbuf_puts(out, ",\n");
        put_command(out, c->item[i]);
    }
    facet_strbuf_puts(out, "\n  ]\n}\n");
    return out->failed ? facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for a list") : FACET_OK;
}

/* ---- running ---- */

enum way { PLAIN, FAST, WAYS };
static const char *const way_name[WAYS] = {"plain", "fast"};

static enum facet_status open_runner(void **out, struct facet_error *err)
{
    facet_pool *pool = NULL;
    enum facet_status status = facet_pool_create(3, &pool, err);

    *out = pool;
    return status;
}

static void close_runner(void *runner)
{
    facet_pool_destroy(runner);
}

static enum facet_status run_way(enum way way,
                                 const struct facet_tile_list *list,
                                 facet_pool *pool,
                                 struct facet_blob *end,
                                 struct facet_error *err)
{
    struct facet_tile_config config = list->config;
    facet_machine *machine = NULL;
    enum facet_status status;

    config.plain = way == PLAIN;
    status = facet_tile_create(&config, &machine, err);
    if (status == FACET_OK) {
        facet_tile_use_pool(machine, way == PLAIN ? NULL : pool);
        status = facet_tile_list_run(list, machine, err);
    }
    status = status == FACET_OK ? facet_machine_snapshot(machine, end, err) : status;
    facet_machine_destroy(machine);
    return status;
}

static enum facet_status run(void *runner,
                             const struct facet_fuzz_case *c,
                             struct facet_fuzz_verdict *verdict,
                             struct facet_error *err)
{
    struct facet_blob end[WAYS] = {{0}};
    struct facet_tile_list list = {0};
    struct facet_strbuf json;
    enum facet_status status;

    *verdict = (struct facet_fuzz_verdict){0};
    facet_strbuf_init(&json);
    status = text(c, &json, err);
    if (status == FACET_OK) {
        status =
            facet_tile_list_read("list", NULL, facet_strbuf_text(&json), json.length, &list, err);
    }
    for (enum way way = PLAIN; way < WAYS && status == FACET_OK; way++) {
        status = run_way(way, &list, runner, &end[way], err);
    }
    if (status == FACET_OK) {
        facet_fuzz_compare(&end[PLAIN], way_name[PLAIN], &end[FAST], way_name[FAST], verdict);
    }
    for (enum way way = PLAIN; way < WAYS; way++) {
        facet_blob_free(&end[way]);
    }
    facet_tile_list_free(&list);
    facet_strbuf_free(&json);
    return status;
}

static enum facet_status
files(const struct facet_fuzz_case *c, struct facet_fuzz_files *out, struct facet_error *err)
{
    struct facet_strbuf json;
    enum facet_status status;

    facet_strbuf_init(&json);
    status = text(c, &json, err);
    status = status == FACET_OK ? facet_fuzz_put_text(out, "/list.json", &json, err) : status;
    facet_strbuf_free(&json);
    return status;
}

const struct facet_fuzz_kind facet_fuzz_draws = {
    .name = "draw",
    .items = "commands",
    .ways = "plain, and rows of pixels at once with three threads",
    .draw = draw,
    .open = open_runner,
    .close = close_runner,
    .run = run,
    .text = text,
    .conform = CONFORM_LIST,
    .end = "",
    .files = files,
};
