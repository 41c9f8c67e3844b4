/* See structures.h. */
#include "gfx12/drivers/structures.h"

#include "base/array.h"
#include "base/bits.h"
#include "gfx12/drivers/hiprt.h"
#include "gfx12/drivers/inactive.h"
#include "gfx12/drivers/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum facet_status no_memory(struct facet_error *err)
{
    return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the structures");
}

void facet_gfx12_structures_free(struct facet_gfx12_structures *s)
{
    free(s->pieces);
    free(s->list);
    free(s->original);
    *s = (struct facet_gfx12_structures){0};
}

const struct facet_gfx12_piece *facet_gfx12_structures_piece(const struct facet_gfx12_structures *s,
                                                             uint32_t number)
{
    return &s->pieces[s->list[number].piece];
}

uint32_t facet_gfx12_structures_first(const struct facet_gfx12_structures *s)
{
    uint32_t first = 0;
    bool found = false;

    for (uint32_t i = 0; i < s->count; i++) {
        const struct facet_gfx12_structure *one = &facet_gfx12_structures_piece(s, i)->structure;

        if (one->top && one->root != FACET_GFX12_NO_ROOT) {
            return i;
        }
        first = one->top && !found ? i : first;
        found = found || one->top;
    }
    return first;
}

void facet_gfx12_structures_start(struct facet_gfx12_structures *s,
                                  uint32_t number,
                                  struct facet_gfx12_view *view)
{
    const struct facet_gfx12_piece *piece = facet_gfx12_structures_piece(s, number);

    s->chosen = number;
    view->base = facet_gfx12_piece_base(piece) & facet_bits_mask(48);
    view->root = piece->structure.root;
}

/* ---- headers ---- */

enum facet_gfx12_driver facet_gfx12_driver_find(const char *name)
{
    for (int i = FACET_GFX12_DRIVER_RADV; i < FACET_GFX12_DRIVERS; i++) {
        if (strcmp(name, facet_gfx12_driver_name((enum facet_gfx12_driver)i)) == 0) {
            return (enum facet_gfx12_driver)i;
        }
    }
    return FACET_GFX12_DRIVER_NONE;
}

/* The structure that begins `bytes`: of the driver, or with NONE of any. */
static bool read_header(enum facet_gfx12_driver driver,
                        enum facet_gfx12_header_answer least,
                        const uint8_t *bytes,
                        uint64_t size,
                        struct facet_gfx12_structure *out,
                        char *reason)
{
    if (driver == FACET_GFX12_DRIVER_NONE) {
        return facet_gfx12_header_find(bytes, size, out, reason) != FACET_GFX12_DRIVER_NONE;
    }
    return facet_gfx12_header_read(driver, bytes, size, out, reason) >= least;
}

bool facet_gfx12_structures_address(enum facet_gfx12_driver driver,
                                    const uint8_t *bytes,
                                    uint64_t size,
                                    uint64_t *address)
{
    struct facet_gfx12_structure found;
    char reason[FACET_GFX12_REASON];

    if (!read_header(driver, FACET_GFX12_HEADER_MAYBE, bytes, size, &found, reason) ||
        found.address == FACET_GFX12_UNKNOWN || found.address % FACET_GFX12_UNIT_BYTES != 0) {
        return false;
    }
    *address = found.address;
    return true;
}

uint32_t facet_gfx12_structures_named(const struct facet_gfx12_view *view)
{
    for (uint32_t i = 0; i < view->segment_count; i++) {
        const struct facet_gfx12_segment *s = &view->segments[i];

        if (view->base >= s->address && view->base - s->address < s->size) {
            return i;
        }
    }
    return 0;
}

/* The others can be parts of anything, so what only may be a header is none there; instances find
 * those that they point at. */
static enum facet_status read_headers(enum facet_gfx12_driver driver,
                                      const struct facet_gfx12_view *view,
                                      struct facet_gfx12_structures *s,
                                      struct facet_error *err)
{
    const uint32_t count = view->segment_count, named = facet_gfx12_structures_named(view);
    char reason[FACET_GFX12_REASON];

    s->pieces = calloc(count, sizeof *s->pieces);
    s->list = calloc(count, sizeof *s->list);
    if (s->pieces == NULL || s->list == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct facet_gfx12_segment *segment = &view->segments[i];
        struct facet_gfx12_piece *p = &s->pieces[s->count];

        if (!read_header(driver,
                         i == named ? FACET_GFX12_HEADER_MAYBE : FACET_GFX12_HEADER_YES,
                         view->bytes + segment->offset,
                         segment->size,
                         &p->structure,
                         reason)) {
            if (i != named) {
                continue;
            }
            return facet_fail(err,
                              FACET_ERR_INPUT,
                              segment->offset,
                              "no structure of %s%s%s",
                              driver != FACET_GFX12_DRIVER_NONE ? facet_gfx12_driver_name(driver)
                                                                : "radv, gpurt or hiprt",
                              reason[0] != 0 ? ": " : "",
                              reason);
        }
        p->at = segment->offset;
        p->bytes = segment->size;
        p->address = segment->address;
        s->list[s->count] = (struct facet_gfx12_listed){s->count, p->structure.header};
        if (i == named) {
            snprintf(s->reason, sizeof s->reason, "%s", reason);
        }
        s->count++;
    }
    return FACET_OK;
}

static uint32_t count_instances(const struct facet_gfx12_walk *walk)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < walk->reached; i++) {
        count += walk->nodes[walk->order[i]].kind == FACET_GFX12_KIND_INSTANCE;
    }
    return count;
}

/* Room for `room` structures in both lists. */
static bool make_room(struct facet_gfx12_structures *s, uint32_t room)
{
    struct facet_gfx12_piece *pieces = realloc(s->pieces, room * sizeof *pieces);
    struct facet_gfx12_listed *list;

    if (pieces == NULL) {
        return false;
    }
    s->pieces = pieces;
    list = realloc(s->list, room * sizeof *list);
    s->list = list != NULL ? list : s->list;
    return list != NULL;
}

/* Structures behind others in one buffer, as the instances of the TLAS find them. */
static enum facet_status
find_more(struct facet_gfx12_view *view, struct facet_gfx12_structures *s, struct facet_error *err)
{
    const uint32_t top = facet_gfx12_structures_first(s);
    struct facet_gfx12_walk walk;
    enum facet_status status;
    uint32_t room;

    if (!facet_gfx12_structures_piece(s, top)->structure.top) {
        return FACET_OK;
    }
    facet_gfx12_structures_start(s, top, view);
    status = facet_gfx12_walk(view, &walk, err);
    if (status != FACET_OK) {
        return status;
    }
    room = s->count + count_instances(&walk);
    if (!make_room(s, room)) {
        facet_gfx12_walk_free(&walk);
        return no_memory(err);
    }
    s->count = facet_gfx12_pieces_follow(view, &walk, s->pieces, s->count, room);
    facet_gfx12_walk_free(&walk);
    for (uint32_t i = 0; i < s->count; i++) {
        s->list[i] = (struct facet_gfx12_listed){i, s->pieces[i].structure.header};
    }
    return FACET_OK;
}

/* ---- translation ---- */

enum facet_status facet_gfx12_structures_keep(struct facet_gfx12_structures *s,
                                              const uint8_t *bytes,
                                              uint64_t size,
                                              const char *translated,
                                              struct facet_error *err)
{
    if (s->original == NULL) {
        s->original = malloc((size_t)size + 1);
        if (s->original == NULL) {
            return no_memory(err);
        }
        memcpy(s->original, bytes, (size_t)size);
        s->translated = translated;
    }
    return FACET_OK;
}

enum facet_status facet_gfx12_structures_clear(struct facet_gfx12_structures *s,
                                               uint8_t *bytes,
                                               uint64_t size,
                                               struct facet_error *err)
{
    enum facet_status status;

    if (!facet_gfx12_has_inactive(s->pieces, s->count)) {
        return FACET_OK;
    }
    status = facet_gfx12_structures_keep(
        s, bytes, size, "structures in which nothing is active have an empty root", err);
    if (status == FACET_OK) {
        facet_gfx12_inactive_clear(bytes, s->pieces, s->count);
    }
    return status;
}

static bool has_hiprt(const struct facet_gfx12_structures *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->pieces[i].structure.driver == FACET_GFX12_DRIVER_HIPRT) {
            return true;
        }
    }
    return false;
}

/* HIPRT's nodes as the instructions read them. */
static enum facet_status
translate(struct facet_gfx12_structures *s, uint8_t *bytes, uint64_t size, struct facet_error *err)
{
    enum facet_status status = facet_gfx12_structures_keep(
        s, bytes, size, "to one base for all nodes, as the hardware reads them", err);

    if (status == FACET_OK) {
        status = facet_gfx12_hiprt_stop(bytes, s->pieces, s->count, err);
    }
    if (status == FACET_OK) {
        facet_gfx12_hiprt_translate(bytes, s->pieces, s->count);
    }
    return status;
}

enum facet_status facet_gfx12_structures_read(enum facet_gfx12_driver driver,
                                              struct facet_gfx12_view *view,
                                              uint8_t *bytes,
                                              struct facet_gfx12_structures *out,
                                              struct facet_error *err)
{
    enum facet_status status;

    *out = (struct facet_gfx12_structures){0};
    status = read_headers(driver, view, out, err);
    /* HIPRT's instances name structures of the list alone. */
    if (status == FACET_OK) {
        status =
            has_hiprt(out) ? translate(out, bytes, view->size, err) : find_more(view, out, err);
    }
    return status == FACET_OK ? facet_gfx12_structures_clear(out, bytes, view->size, err) : status;
}

/* ---- the rules ---- */

struct findings {
    struct facet_gfx12_finding *list;
    size_t count, room;
    bool failed;
};

static void add(void *context, unsigned rule, uint64_t offset, const char *text)
{
    struct findings *f = context;
    struct facet_gfx12_finding *finding;

    if (!facet_array_fit(&f->list, &f->room, f->count + 1, sizeof *f->list)) {
        f->failed = true;
        return;
    }
    finding = &f->list[f->count++];
    *finding = (struct facet_gfx12_finding){
        .rule = (uint8_t)rule, .severity = facet_gfx12_rules[rule].severity, .offset = offset};
    snprintf(finding->text, sizeof finding->text, "%s", text);
}

/* From the bytes of the files: the nodes are translated. */
uint64_t facet_gfx12_structures_moving(const struct facet_gfx12_structures *s, uint64_t *first)
{
    return s->original == NULL ? 0
                               : facet_gfx12_hiprt_moving(s->pieces, s->count, s->original, first);
}

void facet_gfx12_structures_options(const struct facet_gfx12_structures *s,
                                    struct facet_gfx12_check_options *options)
{
    uint64_t first;

    options->dialect =
        (enum facet_gfx12_dialect)facet_gfx12_structures_piece(s, s->chosen)->structure.driver;
    options->moving = facet_gfx12_structures_moving(s, &first) != 0;
}

/* V54. */
static void add_moving(const struct facet_gfx12_structures *s, struct findings *findings)
{
    uint64_t first = 0;
    const uint64_t moving = facet_gfx12_structures_moving(s, &first);
    char text[96];

    if (moving != 0) {
        snprintf(text,
                 sizeof text,
                 "%" PRIu64 " instance%s through several frames: judged and traced at the first",
                 moving,
                 moving == 1 ? " moves" : "s move");
        add(findings, 54, first, text);
    }
}

enum facet_status facet_gfx12_structures_check(const struct facet_gfx12_structures *s,
                                               const struct facet_gfx12_view *view,
                                               const struct facet_gfx12_check_options *options,
                                               struct facet_gfx12_check *check,
                                               struct facet_error *err)
{
    struct findings findings = {0};
    struct facet_gfx12_walk walk;
    enum facet_status status = facet_gfx12_walk(view, &walk, err);

    if (status != FACET_OK) {
        return status;
    }
    status = facet_gfx12_headers_check(view, &walk, s->pieces, s->count, add, &findings, err);
    facet_gfx12_walk_free(&walk);
    add_moving(s, &findings);
    if (status == FACET_OK &&
        (findings.failed ||
         !facet_gfx12_check_join(check, options, findings.list, findings.count))) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the findings");
    }
    free(findings.list);
    return status;
}
