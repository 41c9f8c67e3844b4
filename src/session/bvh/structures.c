/* See structures.h. */
#include "session/bvh/structures.h"

#include "base/bits.h"
#include "gfx12/drivers/headers.h"
#include "gfx12/drivers/hiprt.h"
#include "gfx12/drivers/inactive.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- the list ---- */

static void print_count(uint64_t count)
{
    if (count == FACET_GFX12_UNKNOWN) {
        printf("  %10s", "?");
    } else {
        printf("  %10" PRIu64, count);
    }
}

/* The file's own bytes: a translation leaves headers alone, so the view's do as well. */
static const uint8_t *header_of(const struct session_bvh *file, const struct facet_gfx12_piece *p)
{
    return file->view.bytes + p->at + p->structure.header;
}

static void print_fields(const struct session_bvh *file, const struct facet_gfx12_piece *p)
{
    const uint8_t *header = header_of(file, p);

    for (unsigned i = 0; i < p->structure.field_count; i++) {
        const struct facet_gfx12_field *f = &p->structure.fields[i];

        printf("  %-26s", f->name);
        if (f->kind == FACET_GFX12_FIELD_FLOAT) {
            printf("%.9g\n", facet_gfx12_field_float(header, f));
        } else {
            printf(f->kind == FACET_GFX12_FIELD_HEX ? "0x%" PRIx64 "\n" : "%" PRIu64 "\n",
                   facet_gfx12_field_value(header, f));
        }
    }
}

void session_structures_print(const struct session_bvh *file)
{
    const struct facet_gfx12_structures *d = &file->driver;
    const struct facet_gfx12_piece *chosen;

    if (d->count == 0) {
        return;
    }
    chosen = facet_gfx12_structures_piece(&file->driver, d->chosen);
    printf("driver              %s (%s)\n",
           facet_gfx12_driver_name(chosen->structure.driver),
           d->reason);
    if (d->original != NULL) {
        printf("translated          %s\n", d->translated);
    }
    printf("structures          %" PRIu32 "%s\n\n", d->count, d->capture ? " in the capture" : "");
    printf("      #  kind  %-14s  %10s  %10s  contents\n", "address", "bytes", "count");
    for (uint32_t i = 0; i < d->count; i++) {
        const struct facet_gfx12_piece *p = facet_gfx12_structures_piece(&file->driver, i);

        printf("%c %5" PRIu32 "  %s  0x%-12" PRIx64 "  %10" PRIu64,
               i == d->chosen ? '*' : ' ',
               i,
               facet_gfx12_structure_kind(&p->structure),
               facet_gfx12_piece_base(p),
               p->bytes);
        print_count(p->structure.primitives);
        printf("  %s%s\n",
               facet_gfx12_structure_contents(&p->structure),
               p->structure.root == FACET_GFX12_NO_ROOT ? ", none active: no nodes" : "");
    }
    printf("\nHeader of structure %" PRIu32 "\n", d->chosen);
    print_fields(file, chosen);
    putchar('\n');
}

static json_t *json_count(uint64_t count)
{
    return count == FACET_GFX12_UNKNOWN ? json_null() : json_integer((json_int_t)count);
}

static json_t *fields_json(const struct session_bvh *file, const struct facet_gfx12_piece *p)
{
    const uint8_t *header = header_of(file, p);
    json_t *object = json_object();

    for (unsigned i = 0; i < p->structure.field_count; i++) {
        const struct facet_gfx12_field *f = &p->structure.fields[i];
        const double real = facet_gfx12_field_float(header, f);

        (void)json_object_set_new(object,
                                  f->name,
                                  f->kind == FACET_GFX12_FIELD_HEX
                                      ? facet_json_hex(facet_gfx12_field_value(header, f))
                                  : f->kind == FACET_GFX12_FIELD_NUMBER
                                      ? json_integer((json_int_t)facet_gfx12_field_value(header, f))
                                  /* JSON has no NaN, which an empty structure has as bounds. */
                                  : real - real == 0 ? json_real(real)
                                                     : json_null());
    }
    return object;
}

static json_t *structure_json(const struct session_bvh *file, uint32_t number)
{
    const struct facet_gfx12_piece *p = facet_gfx12_structures_piece(&file->driver, number);
    const struct facet_gfx12_structure *s = &p->structure;
    const struct facet_gfx12_segment segment = facet_gfx12_view_segment(&file->view, p->at);
    json_t *object =
        json_pack("{s:I, s:s, s:s, s:o, s:o, s:I, s:s, s:o, s:o, s:o}",
                  "index",
                  (json_int_t)number,
                  "kind",
                  facet_gfx12_structure_kind(s),
                  "driver",
                  facet_gfx12_driver_name(s->driver),
                  "address",
                  facet_json_hex(facet_gfx12_piece_base(p)),
                  "root",
                  s->root == FACET_GFX12_NO_ROOT ? json_null() : facet_json_hex(s->root),
                  "bytes",
                  (json_int_t)p->bytes,
                  "contents",
                  facet_gfx12_structure_contents(s),
                  facet_gfx12_structure_contents(s),
                  json_count(s->primitives),
                  "geometries",
                  json_count(s->geometries),
                  "header",
                  fields_json(file, p));

    if (segment.name != NULL) {
        (void)json_object_set_new(object, "file", facet_json_name(segment.name));
    }
    return object;
}

void session_structures_json(const struct session_bvh *file, json_t *object)
{
    const struct facet_gfx12_structures *d = &file->driver;
    json_t *list;

    if (d->count == 0) {
        return;
    }
    list = json_array();
    for (uint32_t i = 0; i < d->count; i++) {
        (void)json_array_append_new(list, structure_json(file, i));
    }
    (void)json_object_set_new(
        object,
        "driver",
        json_string(facet_gfx12_driver_name(
            facet_gfx12_structures_piece(&file->driver, d->chosen)->structure.driver)));
    (void)json_object_set_new(object, "reason", json_string(d->reason));
    (void)json_object_set_new(object, "translated", json_boolean(d->original != NULL));
    (void)json_object_set_new(object, "structure", json_integer(d->chosen));
    (void)json_object_set_new(object, "left_out", json_integer(d->left_out));
    (void)json_object_set_new(object, "structures", list);
}

/* ---- writing ---- */

bool session_structures_writable(const struct cli_args *args, const struct session_bvh *file)
{
    const struct facet_gfx12_structures *d = &file->driver;
    struct facet_error err = {0};

    if (d->capture) {
        (void)cli_bad(
            args,
            "%s is a capture, which cannot be written; expected an image or structures of "
            "a driver",
            file->name);
        return false;
    }
    if (d->original != NULL &&
        facet_gfx12_hiprt_can_update(d->pieces, d->count, d->original, &err) != FACET_OK) {
        (void)facet_fail_in(&err, file->name);
        (void)cli_bad_error(args, &err);
        return false;
    }
    return true;
}

enum facet_status
session_structures_refit(const struct session_bvh *file, uint8_t *bytes, struct facet_error *err)
{
    const struct facet_gfx12_structures *d = &file->driver;
    struct facet_gfx12_walk walk;
    enum facet_status status;

    if (d->count == 0) {
        return FACET_OK;
    }
    status = facet_gfx12_walk(&file->view, &walk, err);
    if (status == FACET_OK) {
        facet_gfx12_headers_refit(&walk, d->pieces, d->count, file->bytes.data, bytes);
        facet_gfx12_walk_free(&walk);
    }
    if (status == FACET_OK && d->original != NULL) {
        status = facet_gfx12_hiprt_restore(bytes, d->original, d->pieces, d->count, err);
        facet_gfx12_inactive_restore(bytes, d->original, d->pieces, d->count);
    }
    return status;
}
