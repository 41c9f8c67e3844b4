/* The counts themselves: their buckets out of the tables, and sums. */
#include "cover/cover.h"

#include "base/array.h"

#include <facet/tile.h>
#include <facet/xphmg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define INTERRUPT (UINT64_C(1) << 63)
enum { CAUSES = 64 };

const char *const cover_dim_name[COVER_DIMS] = {
    "flags", "traps", "format", "accumulator", "rounding", "saturation", "lanes", "mask"};

/* Values in the order in which collect.c numbers them. */
static const char *const formats[] = {"FP16",
                                      "FP32",
                                      "BF16",
                                      "INT8",
                                      "INT16",
                                      "INT32",
                                      "FP8_E4M3",
                                      "FP8_E5M2",
                                      "INT4",
                                      "INT2",
                                      "BF16_LITE",
                                      NULL};
static const char *const accumulators[] = {"FP32", "FP16", "INT32", "INT16", NULL};
static const char *const roundings[] = {"RNE", "RTZ", "RDN", "RUP", "RMM", NULL};
static const char *const saturations[] = {"wrap", "saturate", NULL};
static const char *const lanes[] = {"scalar", "1", "2-4", "5-16", "17-63", "64", NULL};
static const char *const masks[] = {"no mask", "no lane", "some lanes", "all lanes", NULL};

struct list {
    struct cover_bucket *items;
    size_t count, room;
    bool failed;
};

static struct cover_bucket *add_bucket(struct list *list)
{
    static struct cover_bucket none;

    if (!facet_array_fit(&list->items, &list->room, list->count + 1, sizeof *list->items)) {
        list->failed = true;
        return &none;
    }
    list->items[list->count] = (struct cover_bucket){.code = 0};
    return &list->items[list->count++];
}

static void add_names(struct list *list, const char *const *names)
{
    for (; *names != NULL; names++) {
        (void)snprintf(add_bucket(list)->name, sizeof list->items->name, "%s", *names);
    }
}

/* Flags are the single bits that the tables call sticky or accrued; fcsr only shows fflags. */
static void add_flags(struct list *list, enum facet_isa isa)
{
    for (size_t r = 0; r < facet_csr_row_count; r++) {
        const struct facet_csr_row *row = &facet_csr_rows[r];

        for (uint16_t f = 0; row->isa == isa && f < row->field_count; f++) {
            const struct facet_csr_field *field = &row->fields[f];

            if (field->hi == field->lo && strcmp(row->name, "fcsr") != 0 &&
                (strncasecmp(field->meaning, "sticky", 6) == 0 ||
                 strncasecmp(field->meaning, "accrued", 7) == 0)) {
                struct cover_bucket *bucket = add_bucket(list);

                bucket->csr = (uint16_t)r;
                bucket->bit = field->lo;
                (void)snprintf(bucket->name, sizeof bucket->name, "%s.%s", row->name, field->name);
            }
        }
    }
}

static void add_cause(struct list *list, uint64_t code, const char *name)
{
    struct cover_bucket *bucket = add_bucket(list);

    bucket->code = code;
    (void)snprintf(bucket->name, sizeof bucket->name, "%s", name);
}

static void add_causes(struct list *list, enum facet_isa isa)
{
    static const uint8_t interrupts[] = {3, 7, 11};

    for (uint32_t code = 0; code < CAUSES; code++) {
        const char *name = isa == FACET_ISA_XPHMG ? facet_xphmg_cause_name(code)
                           : code > 0             ? facet_tile_cause_name(code)
                                                  : "unknown";

        if (strncmp(name, "unknown", 7) != 0) {
            add_cause(list, code, name);
        }
    }
    for (size_t i = 0; isa == FACET_ISA_XPHMG && i < sizeof interrupts; i++) {
        uint64_t code = INTERRUPT | interrupts[i];

        add_cause(list, code, facet_xphmg_cause_name(code));
    }
}

static bool make_buckets(struct cover *cover)
{
    bool hart = cover->isa == FACET_ISA_XPHMG;
    struct list list = {0};

    for (int dim = 0; dim < COVER_DIMS; dim++) {
        cover->first[dim] = (uint16_t)list.count;
        if (dim == COVER_FLAGS) {
            add_flags(&list, cover->isa);
        } else if (dim == COVER_TRAPS) {
            add_causes(&list, cover->isa);
        } else if (dim == COVER_ROUNDING) {
            add_names(&list, roundings);
        } else if (dim == COVER_SATURATION && !hart) {
            add_names(&list, saturations);
        } else if (hart && dim != COVER_SATURATION) {
            add_names(&list,
                      dim == COVER_FORMAT        ? formats
                      : dim == COVER_ACCUMULATOR ? accumulators
                      : dim == COVER_LANES       ? lanes
                                                 : masks);
        }
    }
    cover->first[COVER_DIMS] = (uint16_t)list.count;
    cover->buckets = list.items;
    return !list.failed;
}

struct cover *cover_create(enum facet_isa isa)
{
    struct cover *cover = calloc(1, sizeof *cover);
    size_t rows = facet_isa_row_count[isa];
    uint32_t fields = 0;

    if (cover == NULL) {
        return NULL;
    }
    cover->isa = isa;
    cover->first_field = calloc(facet_csr_row_count, sizeof *cover->first_field);
    for (size_t r = 0; cover->first_field != NULL && r < facet_csr_row_count; r++) {
        cover->first_field[r] = fields;
        fields += facet_csr_rows[r].field_count;
    }
    if (cover->first_field != NULL && make_buckets(cover)) {
        cover->causes = calloc(cover_bucket_count(cover), sizeof *cover->causes);
        cover->counts = calloc(rows, sizeof *cover->counts);
        cover->in = calloc(rows * cover_bucket_count(cover), sizeof *cover->in);
        cover->csrs = calloc(facet_csr_row_count, sizeof *cover->csrs);
        cover->fields = calloc(fields, sizeof *cover->fields);
    }
    if (cover->causes == NULL || cover->counts == NULL || cover->in == NULL ||
        cover->csrs == NULL || cover->fields == NULL) {
        cover_free(cover);
        return NULL;
    }
    return cover;
}

void cover_free(struct cover *cover)
{
    if (cover != NULL) {
        free(cover->buckets);
        free(cover->causes);
        free(cover->counts);
        free(cover->in);
        free(cover->csrs);
        free(cover->fields);
        free(cover->first_field);
        free(cover);
    }
}

bool cover_reached(const struct cover *cover, size_t row)
{
    bool reached = cover->counts[row] > 0;

    for (uint16_t b = cover->first[COVER_TRAPS]; b < cover->first[COVER_TRAPS + 1]; b++) {
        reached = reached || cover_row(cover, row)[b] > 0;
    }
    return reached;
}

bool cover_field_counts(const struct facet_csr_field *field)
{
    return strncmp(field->name, "RSV", 3) != 0 && strcmp(field->name, "reserved") != 0;
}

void cover_add_count(uint64_t *sum, uint64_t more)
{
    const uint64_t most = INT64_MAX;

    *sum = more > most - *sum ? most : *sum + more;
}

static void add_all(uint64_t *sum, const uint64_t *more, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cover_add_count(&sum[i], more[i]);
    }
}

void cover_add(struct cover *sum, const struct cover *more)
{
    size_t rows = facet_isa_row_count[sum->isa], buckets = cover_bucket_count(sum);

    cover_add_count(&sum->runs, more->runs);
    cover_add_count(&sum->retired, more->retired);
    add_all(sum->causes, more->causes, buckets);
    add_all(sum->counts, more->counts, rows);
    add_all(sum->in, more->in, rows * buckets);
    for (size_t r = 0; r < facet_csr_row_count; r++) {
        cover_add_count(&sum->csrs[r].read, more->csrs[r].read);
        cover_add_count(&sum->csrs[r].written, more->csrs[r].written);
        cover_add_count(&sum->csrs[r].set, more->csrs[r].set);
        for (uint32_t f = 0; f < facet_csr_rows[r].field_count; f++) {
            struct cover_field *field = &sum->fields[sum->first_field[r] + f];
            const struct cover_field *other = &more->fields[sum->first_field[r] + f];

            cover_add_count(&field->changed, other->changed);
            field->values |= other->values;
        }
    }
}
