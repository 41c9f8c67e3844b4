/* The structures that drivers left in the pieces of a view: read by their headers, found behind
 * others, translated to what the hardware reads, listed and chosen. */
#ifndef FACET_GFX12_DRIVERS_STRUCTURES_H
#define FACET_GFX12_DRIVERS_STRUCTURES_H

#include "base/error.h"
#include "gfx12/check/check.h"
#include "gfx12/drivers/pieces.h"

struct facet_gfx12_listed {
    uint32_t piece;  /* of `pieces` */
    uint64_t origin; /* of its header in the file, UNKNOWN where it was compressed */
};

struct facet_gfx12_structures {
    struct facet_gfx12_piece *pieces; /* in the order of their addresses */
    uint32_t count;
    struct facet_gfx12_listed *list; /* the same in the order of the files */
    uint32_t chosen;                 /* of the list: where rays start */
    bool capture;
    uint32_t left_out;      /* structures of a capture at addresses that others have already */
    uint8_t *original;      /* the bytes of the files where the view's are translated; else NULL */
    const char *translated; /* to what; NULL as well */
    char reason[FACET_GFX12_REASON];
};

/* The driver of that name; NONE for any other word. */
enum facet_gfx12_driver facet_gfx12_driver_find(const char *name);
/* Where a header that begins `bytes` says that it lies: false when it does not say so, or no place
 * for a structure. NONE: a header of any driver. */
bool facet_gfx12_structures_address(enum facet_gfx12_driver driver,
                                    const uint8_t *bytes,
                                    uint64_t size,
                                    uint64_t *address);

/* The segment that the view's base lies in, which is the one that was named first; 0 for none. */
uint32_t facet_gfx12_structures_named(const struct facet_gfx12_view *view);
/* Reads the headers of all segments, of which the view has at least one; that of the named one must
 * be there. NONE: of any driver. `bytes` are the view's and may be translated. The view's base and
 * root are left where they were or change: facet_gfx12_structures_start sets them. Free in every
 * case. */
enum facet_status facet_gfx12_structures_read(enum facet_gfx12_driver driver,
                                              struct facet_gfx12_view *view,
                                              uint8_t *bytes,
                                              struct facet_gfx12_structures *out,
                                              struct facet_error *err);
void facet_gfx12_structures_free(struct facet_gfx12_structures *s);

/* By its number in the list. */
const struct facet_gfx12_piece *facet_gfx12_structures_piece(const struct facet_gfx12_structures *s,
                                                             uint32_t number);
/* The first TLAS that has something in it, if any has. */
uint32_t facet_gfx12_structures_first(const struct facet_gfx12_structures *s);
/* Lets rays start there. */
void facet_gfx12_structures_start(struct facet_gfx12_structures *s,
                                  uint32_t number,
                                  struct facet_gfx12_view *view);

/* Before `bytes` become those of `translated`: keeps them. */
enum facet_status facet_gfx12_structures_keep(struct facet_gfx12_structures *s,
                                              const uint8_t *bytes,
                                              uint64_t size,
                                              const char *translated,
                                              struct facet_error *err);
/* Structures in which nothing is active, where there are such, become empty ones (R-G12-147). */
enum facet_status facet_gfx12_structures_clear(struct facet_gfx12_structures *s,
                                               uint8_t *bytes,
                                               uint64_t size,
                                               struct facet_error *err);

/* Instances that move through several frames, which are read at their first (R-G12-148). */
uint64_t facet_gfx12_structures_moving(const struct facet_gfx12_structures *s, uint64_t *first);
/* What else a check goes by that begins in the chosen structure. */
void facet_gfx12_structures_options(const struct facet_gfx12_structures *s,
                                    struct facet_gfx12_check_options *options);
/* Rules V32 to V39 and V54: adds what they find. */
enum facet_status facet_gfx12_structures_check(const struct facet_gfx12_structures *s,
                                               const struct facet_gfx12_view *view,
                                               const struct facet_gfx12_check_options *options,
                                               struct facet_gfx12_check *check,
                                               struct facet_error *err);

#endif
