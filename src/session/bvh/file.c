/* See file.h. */
#include "session/bvh/file.h"
#include "command/output.h"

#include "base/bits.h"
#include "rt_image/image.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_IMAGE_BYTES ((size_t)128 << 30) /* the walk numbers nodes with 32 bits */

/* ---- addresses ---- */

bool session_bvh_address(const struct cli_args *args, const char *option, uint64_t *out)
{
    uint64_t value;

    if (!cli_given(args, option)) {
        return true;
    }
    if (!cli_number(args, option, 0, UINT64_MAX, &value)) {
        return false;
    }
    if (!facet_gfx12_address_take(value, out) || *out % FACET_GFX12_UNIT_BYTES != 0) {
        (void)cli_bad(args,
                      "--%s is '%s'; expected a multiple of 64 of 48 bits, or one whose upper 16 "
                      "bits repeat bit 47",
                      option,
                      cli_value(args, option));
        return false;
    }
    return true;
}

/* A number, decimal or 0x; moves *text behind it. */
static bool take_number(const char **text, uint64_t *out)
{
    bool hex = (*text)[0] == '0' && ((*text)[1] == 'x' || (*text)[1] == 'X');
    char *end;

    if (!(hex ? isxdigit((unsigned char)(*text)[2]) : isdigit((unsigned char)(*text)[0]))) {
        return false;
    }
    errno = 0;
    *out = strtoull(*text, &end, hex ? 16 : 10);
    *text = end;
    return errno == 0;
}

/* ---- pieces ---- */

/* What was said about a piece, and its bytes. */
struct piece {
    char *path;
    struct facet_bytes file;
    uint64_t address, offset, size; /* of the part of the file */
    uint64_t from;                  /* where in the file `file` begins */
};

struct pieces {
    struct piece *list;
    uint32_t count;
};

/* FILE@ADDR, FILE@ADDR+OFFSET or FILE@ADDR+OFFSET:SIZE; a size of 0 means the rest. */
static bool parse_piece(const struct cli_args *args, const char *text, struct piece *out)
{
    const char *at = strrchr(text, '@'), *rest = at != NULL ? at + 1 : "";
    bool good = at != NULL && at != text && take_number(&rest, &out->address) &&
                facet_gfx12_address_take(out->address, &out->address) &&
                out->address % FACET_GFX12_UNIT_BYTES == 0;

    if (good && *rest == '+') {
        rest++;
        good = take_number(&rest, &out->offset);
        if (good && *rest == ':') {
            rest++;
            good = take_number(&rest, &out->size) && out->size != 0;
        }
    }
    if (!good || *rest != '\0') {
        (void)cli_bad(args,
                      "--segment is '%s'; expected FILE@ADDR or FILE@ADDR+OFFSET:SIZE, with ADDR a "
                      "multiple of 64 of 48 bits, or one whose upper 16 bits repeat bit 47",
                      text);
        return false;
    }
    out->path = strndup(text, (size_t)(at - text));
    return out->path != NULL || cli_bad(args, "out of memory") == CLI_OK;
}

static bool read_piece(const struct cli_args *args, struct piece *p)
{
    struct facet_error err = {0};

    if (facet_file_read(p->path, MAX_IMAGE_BYTES, &p->file, &err) != FACET_OK) {
        (void)cli_bad_error(args, &err);
        return false;
    }
    if (facet_rtbvh_is(p->file.data, p->file.size)) {
        (void)cli_bad(
            args, "%s is a BVH image of XPHMG_RT; --segment is for GFX12 images", p->path);
        return false;
    }
    if (p->offset >= p->file.size || p->size > p->file.size - p->offset) {
        (void)cli_bad(args,
                      "%s has %zu bytes; expected some from 0x%" PRIx64 " on, as --segment says",
                      p->path,
                      p->file.size,
                      p->offset + p->size);
        return false;
    }
    p->size = p->size != 0 ? p->size : p->file.size - p->offset;
    if (p->size != p->file.size) { /* a part of a dump: the rest need not stay */
        uint8_t *part = malloc(p->size);

        if (part == NULL) {
            (void)cli_bad(args, "%s: out of memory", p->path);
            return false;
        }
        memcpy(part, p->file.data + p->offset, p->size);
        free(p->file.data);
        p->file.data = part;
        p->file.size = p->size;
        p->from = p->offset;
        p->offset = 0;
    }
    if (p->size > (UINT64_C(1) << 48) - p->address) {
        (void)cli_bad(args, "%s: the segment ends beyond the 48 bits of an address", p->path);
        return false;
    }
    return true;
}

static int by_address(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;

    return x->address < y->address ? -1 : x->address > y->address;
}

static bool none_overlap(const struct cli_args *args, const struct pieces *pieces)
{
    for (uint32_t i = 1; i < pieces->count; i++) {
        const struct piece *a = &pieces->list[i - 1], *b = &pieces->list[i];

        if (b->address - a->address < a->size) {
            (void)cli_bad(args,
                          "segments overlap: %s at 0x%" PRIx64 " has %" PRIu64
                          " bytes, and %s lies at 0x%" PRIx64,
                          a->path,
                          a->address,
                          a->size,
                          b->path,
                          b->address);
            return false;
        }
    }
    return true;
}

static uint64_t whole_units(uint64_t size)
{
    return (size + FACET_GFX12_UNIT_BYTES - 1) / FACET_GFX12_UNIT_BYTES * FACET_GFX12_UNIT_BYTES;
}

/* The bytes of all pieces one after another, each from a multiple of 64 on. */
static bool join(struct pieces *pieces, struct session_bvh *out)
{
    uint64_t size = 0;

    for (uint32_t i = 0; i < pieces->count; i++) {
        size = whole_units(size) + pieces->list[i].size;
    }
    out->segments = calloc(pieces->count, sizeof *out->segments);
    out->bytes.data = size < SIZE_MAX ? calloc(1, (size_t)size + 1) : NULL;
    if (out->segments == NULL || out->bytes.data == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < pieces->count; i++) {
        struct piece *p = &pieces->list[i];

        out->bytes.size = whole_units(out->bytes.size);
        out->segments[i] = (struct facet_gfx12_segment){.address = p->address,
                                                        .offset = out->bytes.size,
                                                        .size = p->size,
                                                        .name = p->path,
                                                        .file_offset = p->from + p->offset};
        memcpy(out->bytes.data + out->bytes.size, p->file.data + p->offset, (size_t)p->size);
        out->bytes.size += p->size;
        free(p->file.data); /* so that the bytes are there twice for one piece at a time */
        p->file.data = NULL;
        p->path = NULL; /* the segment has it now */
    }
    return true;
}

static bool read_pieces(const struct cli_args *args,
                        const char *path,
                        uint32_t count,
                        struct pieces *pieces,
                        struct session_bvh *out)
{
    for (uint32_t i = 0; i < count; i++) {
        struct piece *p = &pieces->list[pieces->count];

        if (!parse_piece(args, cli_nth_value(args, "segment", (int)i), p)) {
            return false;
        }
        pieces->count++;
        if (!read_piece(args, p)) {
            return false;
        }
        if (i == 0 && path == NULL && !cli_given(args, "base")) {
            out->view.base = p->address;
        }
    }
    if (path != NULL) {
        struct piece *p = &pieces->list[pieces->count++];

        *p = (struct piece){.path = strdup(path), .address = out->view.base};
        if (p->path == NULL || !read_piece(args, p)) {
            return false;
        }
    }
    qsort(pieces->list, pieces->count, sizeof *pieces->list, by_address);
    if (!none_overlap(args, pieces)) {
        return false;
    }
    if (!join(pieces, out)) {
        (void)cli_bad(args, "no memory for the segments");
        return false;
    }
    out->view.segments = out->segments;
    out->view.segment_count = pieces->count;
    return true;
}

/* Several pieces; the first name that was given is the one for messages. */
static bool
read_apart(const struct cli_args *args, const char *path, uint32_t count, struct session_bvh *out)
{
    struct pieces pieces = {.list = calloc((size_t)count + 1, sizeof *pieces.list)};
    bool good;

    out->name = path != NULL ? path : cli_nth_value(args, "segment", 0);
    if (pieces.list == NULL) {
        return cli_bad(args, "out of memory") == CLI_OK;
    }
    good = read_pieces(args, path, count, &pieces, out);
    for (uint32_t i = 0; i < pieces.count; i++) {
        free(pieces.list[i].path);
        free(pieces.list[i].file.data);
    }
    free(pieces.list);
    return good;
}

/* ---- images ---- */

static uint32_t count_segments(const struct cli_args *args)
{
    uint32_t count = 0;

    for (const struct cli_option *o = args->command->options; o->name != NULL; o++) {
        if (strcmp(o->name, "segment") == 0) {
            while (cli_nth_value(args, "segment", (int)count) != NULL) {
                count++;
            }
        }
    }
    return count;
}

const char *session_bvh_operand(const struct cli_args *args)
{
    return args->positional_count > 0 ? args->positional[0] : NULL;
}

bool session_bvh_read(const struct cli_args *args, const char *path, struct session_bvh *out)
{
    return session_bvh_read_or_make(args, path, NULL, out);
}

bool session_bvh_read_or_make(const struct cli_args *args,
                              const char *path,
                              session_bvh_make *make,
                              struct session_bvh *out)
{
    const uint32_t count = count_segments(args);
    uint64_t base = 0, root = FACET_GFX12_ROOT;
    struct facet_error err = {0};
    bool good;

    *out = (struct session_bvh){.name = path};
    if (path == NULL && count == 0) {
        (void)cli_bad(args, "IMAGE is missing; see 'facet %s --help'", args->command->name);
        return false;
    }
    if (!session_bvh_address(args, "base", &base) ||
        !cli_number(args, "root", 0, FACET_GFX12_NO_ROOT - 1, &root)) {
        return false;
    }
    out->view.base = base;
    out->view.root = (uint32_t)root;
    if (count != 0) {
        good = read_apart(args, path, count, out);
    } else {
        good = facet_file_read(path, MAX_IMAGE_BYTES, &out->bytes, &err) == FACET_OK ||
               cli_bad_error(args, &err) == CLI_OK;
    }
    out->view.bytes = out->bytes.data;
    out->view.size = out->bytes.size;
    good = good && session_driver_apply(args, make, out);
    if (!good) {
        session_bvh_free(out);
    }
    return good;
}

void session_bvh_free(struct session_bvh *file)
{
    for (uint32_t i = 0; i < file->view.segment_count; i++) {
        free((char *)(uintptr_t)file->segments[i].name);
    }
    free(file->segments);
    free(file->bytes.data);
    facet_gfx12_structures_free(&file->driver);
    *file = (struct session_bvh){0};
}

/* ---- writing ---- */

/* The segment that holds the base; the first when none does. */
static uint32_t main_segment(const struct facet_gfx12_view *view)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < view->segment_count; i++) {
        const struct facet_gfx12_segment *s = &view->segments[i];

        found = view->base >= s->address && view->base - s->address < s->size ? i : found;
    }
    return found;
}

bool session_bvh_would_be_replaced(const struct cli_args *args,
                                   const char *output,
                                   const struct session_bvh *file,
                                   bool successor)
{
    const uint32_t own = successor ? main_segment(&file->view) : UINT32_MAX;
    bool found = (file->segments == NULL || file->driver.capture) && !successor &&
                 cli_would_replace(args, output, file->name, "the image");

    for (uint32_t i = 0; i < file->view.segment_count && !found; i++) {
        found = i != own &&
                cli_would_replace(args, output, file->segments[i].name, "a segment of the image");
    }
    return found;
}

static enum facet_status
write_parts(const char *output, const struct facet_gfx12_view *view, struct facet_error *err)
{
    const size_t room = strlen(output) + 24;
    const uint32_t first = main_segment(view);
    struct facet_file_part *parts = calloc(view->segment_count, sizeof *parts);
    char *names = malloc(view->segment_count * room);
    enum facet_status status = FACET_OK;

    if (parts == NULL || names == NULL) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the segments");
    }
    for (uint32_t i = 0; i < view->segment_count && status == FACET_OK; i++) {
        const struct facet_gfx12_segment *s = &view->segments[i];
        char *name = names + i * room;

        (void)snprintf(name, room, "%s.0x%" PRIx64, output, s->address);
        parts[i] = (struct facet_file_part){
            i == first ? output : name, view->bytes + s->offset, (size_t)s->size};
    }
    if (status == FACET_OK) {
        status = facet_file_write_all(parts, view->segment_count, err);
    }
    free(parts);
    free(names);
    return status;
}

enum facet_status
session_bvh_write(const char *output, const struct facet_gfx12_view *view, struct facet_error *err)
{
    if (view->segment_count < 2) {
        return facet_file_write(output, view->bytes, (size_t)view->size, err);
    }
    if (strcmp(output, "-") == 0) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          0,
                          "an image of %u segments becomes as many files; expected the name of one",
                          view->segment_count);
    }
    return write_parts(output, view, err);
}

/* ---- kinds ---- */

bool session_bvh_is_gfx12(const struct cli_args *args, const struct session_bvh *file)
{
    if (facet_rtbvh_is(file->bytes.data, file->bytes.size)) {
        (void)cli_bad(args, "%s is a BVH image of XPHMG_RT; expected a GFX12 image", file->name);
        return false;
    }
    return true;
}

bool session_bvh_has_root(const struct cli_args *args, const struct session_bvh *file)
{
    struct facet_error err = {0};

    if (!session_bvh_is_gfx12(args, file)) {
        return false;
    }
    if (facet_gfx12_view_check_root(&file->view, &err) != FACET_OK) {
        facet_fail_in(&err, file->name);
        return cli_bad_error(args, &err) == CLI_OK;
    }
    return true;
}

bool session_bvh_has_nodes(const struct cli_args *args, const struct session_bvh *file)
{
    if (!session_bvh_has_root(args, file)) {
        return false;
    }
    if (file->view.root == FACET_GFX12_NO_ROOT) {
        (void)cli_bad(args,
                      "%s: structure %" PRIu32 " has no nodes, because nothing in it is active",
                      file->name,
                      file->driver.chosen);
        return false;
    }
    return true;
}
