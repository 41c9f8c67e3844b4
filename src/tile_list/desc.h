/* Descriptors of the tile GPU with symbolic fields (spec/tile.layout.tsv), for command lists: a
 * JSON object whose members are those of the structure. */
#ifndef FACET_TILE_LIST_DESC_H
#define FACET_TILE_LIST_DESC_H

#include "isa/table.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FACET_TILE_LIST_DESC_MAX_WORDS = 32 };

/* How complaints and addresses get in and out of the reader of the list. */
struct facet_tile_list_desc_host {
    void *context;
    /* A number or a name of a buffer with an offset; false after a complaint about `where`. */
    bool (*address)(void *context, const json_t *value, const char *where, uint32_t *out);
    /* Always false. */
    bool (*complain)(void *context, const char *where, const char *expected);
};

/* The rows of a structure of the contract. */
const struct facet_layout_row *facet_tile_list_desc_layout(const char *name);

/* Members that are absent take the default of their row. */
bool facet_tile_list_desc_read(const struct facet_tile_list_desc_host *host,
                               const struct facet_layout_row *layout,
                               const json_t *object,
                               const char *where,
                               uint32_t words[FACET_TILE_LIST_DESC_MAX_WORDS]);

/* Small values, as fields have them. A colour is "#RRGGBB", "#AARRGGBB", "0x..." or a number. */
bool facet_tile_list_word(const json_t *value, uint32_t *out);
bool facet_tile_list_float(const json_t *value, uint32_t *bits);
bool facet_tile_list_color(const json_t *value, uint32_t *out);

#endif
