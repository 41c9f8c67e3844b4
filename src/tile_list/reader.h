/* What the files of the command list's reader share (list.c: machine, frame and the whole;
 * buffers.c; commands.c): places in VRAM, names of buffers, complaints. */
#ifndef FACET_TILE_LIST_READER_H
#define FACET_TILE_LIST_READER_H

#include "tile_list/desc.h"
#include "tile_list/list.h"

enum { FACET_TILE_LIST_PLACE = 200 }; /* room for the name of a place in the file */

struct facet_tile_list_named {
    const char *name; /* of the JSON value */
    uint32_t address;
    size_t size;
};

struct facet_tile_list_reader {
    const char *name, *folder;
    struct facet_tile_list *plan;
    struct facet_error *err;
    struct facet_tile_list_named *buffers;
    size_t buffer_count;
    struct facet_object **kernels; /* one per buffer at most */
    size_t kernel_count;
    uint64_t next; /* free VRAM from here, an offset */
    size_t piece_room;
    struct facet_tile_list_desc_host host;
    uint32_t setup; /* address of the last RSETUP block, 0: none */
    uint32_t index; /* of the command being read */
};

/* These two are always false. */
bool facet_tile_list_complain(void *planner, const char *where, const char *expected);
bool facet_tile_list_no_memory(const struct facet_tile_list_reader *p);
/* Refuses unknown members. */
bool facet_tile_list_known(struct facet_tile_list_reader *p,
                           const json_t *object,
                           const char *where,
                           const char *names);

bool facet_tile_list_reserve(struct facet_tile_list_reader *p,
                             const char *where,
                             uint64_t size,
                             uint32_t align,
                             uint32_t *out);
/* Takes `bytes`, also on failure. */
bool facet_tile_list_add_piece(struct facet_tile_list_reader *p,
                               uint32_t address,
                               uint8_t *bytes,
                               size_t size);
/* Words at a new place. */
bool facet_tile_list_add_words(struct facet_tile_list_reader *p,
                               const char *where,
                               const uint32_t *words,
                               uint32_t count,
                               uint32_t align,
                               uint32_t *address);
/* "name", "name+0x40", a number. */
bool facet_tile_list_address(void *planner, const json_t *value, const char *where, uint32_t *out);

bool facet_tile_list_read_buffers(struct facet_tile_list_reader *p, const json_t *buffers);
bool facet_tile_list_read_commands(struct facet_tile_list_reader *p, const json_t *list);

#endif
