/* Descriptors of the tile GPU with symbolic fields (tile-semantics.md 11.1, 13.1, 15), for command
 * lists: tables that say where each field stands and how it is written in JSON. */
#ifndef FACET_CLI_TILE_DESC_H
#define FACET_CLI_TILE_DESC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tile_desc_kind {
    TILE_DESC_RSTATE,
    TILE_DESC_VERTEX, /* one of the three of a vertex block */
    TILE_DESC_RDRAW,
    TILE_DESC_RRECT,
    TILE_DESC_GSTATE,
    TILE_DESC_GPARAM,
    TILE_DESC_GDRAW,
    TILE_DESC_PACKET,
    TILE_DESC_SAMPLER,
    TILE_DESC_KINDS
};

enum { TILE_DESC_MAX_WORDS = 32 };

/* How complaints and addresses get in and out of the reader of the list. */
struct tile_desc_host {
    void *context;
    /* A number or a name of a buffer with an offset; false after a complaint about `where`. */
    bool (*address)(void *context, const json_t *value, const char *where, uint32_t *out);
    /* Always false. */
    bool (*complain)(void *context, const char *where, const char *expected);
};

uint32_t tile_desc_words(enum tile_desc_kind kind);
uint32_t tile_desc_align(enum tile_desc_kind kind); /* bytes */

/* Fields that are absent take what the kind has as default: 0, or "current". */
bool tile_desc_read(const struct tile_desc_host *host,
                    enum tile_desc_kind kind,
                    const json_t *object,
                    const char *where,
                    uint32_t words[TILE_DESC_MAX_WORDS]);

/* Small values, as fields have them. A colour is "#RRGGBB", "#AARRGGBB", "0x..." or a number. */
bool tile_json_word(const json_t *value, uint32_t *out);
bool tile_json_float(const json_t *value, uint32_t *bits);
bool tile_json_color(const json_t *value, uint32_t *out);

#endif
