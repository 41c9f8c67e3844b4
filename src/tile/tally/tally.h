/* What is counted for a profile (machine/counts.h): instructions by place, lanes under a mask,
 * accesses beside VRAM, and draws. Private to src/tile.
 *
 * Cores that run ahead may have to go back, so they only note in a journal which instructions they
 * executed, stretch by stretch; host code adds one entry when it leaves a piece. What a core keeps
 * is then added to counters that stand beside the decoded code; they go to the rows of the profile
 * when that code changes and when counting ends. */
#ifndef FACET_TILE_TALLY_TALLY_H
#define FACET_TILE_TALLY_TALLY_H

#include "machine/counts.h"
#include "tile/core.h"

/* The longest run ahead while something is counted, in instructions. */
#define FACET_TILE_TALLY_STEPS 2048

/* What an access beside VRAM reaches. */
enum facet_tile_reach {
    FACET_TILE_REACH_SCRATCH,
    FACET_TILE_REACH_IMEM,
    FACET_TILE_REACH_SAMPLER,
    FACET_TILE_REACH_TEXEL, /* of TEX2D, in VRAM */
    FACET_TILE_REACHES
};

/* Accesses by what they reach, enum facet_tile_access, and the logarithm of their bytes. */
struct facet_tile_traffic {
    uint32_t accesses[FACET_TILE_REACHES][3][6];
};

/* `count` instructions from pc on; FACET_TILE_LANES + n: one with n active lanes. */
struct facet_tile_stretch {
    uint32_t pc, count;
};
#define FACET_TILE_LANES UINT32_C(0x80000000)

struct facet_tile_tally {
    struct facet_counts *counts;
    /* By slot of decoded code and core: how many more stretches there are than at the instruction
     * before. */
    uint64_t more[FACET_TILE_SLOTS][FACET_TILE_CORES][FACET_TILE_PAGE_OPS + 1];
    uint64_t active[FACET_TILE_SLOTS][FACET_TILE_CORES][FACET_TILE_PAGE_OPS];
    uint64_t global[3][6]; /* accesses of all instructions that retired, as if all were to VRAM */
    uint64_t beside[FACET_TILE_REACHES][3][6];
    struct facet_tile_traffic traffic[FACET_TILE_CORES], mark[FACET_TILE_CORES];
    struct facet_tile_stretch journal[FACET_TILE_CORES][2 * FACET_TILE_TALLY_STEPS + 8];
    struct facet_raster_counts draw; /* the one under way */
};

/* Before the core runs ahead; when it goes back there; when what it did is kept. */
void facet_tile_tally_mark(struct facet_tile_core *c);
void facet_tile_tally_undo(struct facet_tile_core *c);
void facet_tile_tally_keep(struct facet_tile_core *c);
/* A step in turn: executes the instruction at ip, or the draw that was left, and counts it. */
void facet_tile_tally_step(struct facet_tile_core *c);
/* The code of a slot, or the word at an index of it, is about to be decoded anew. */
void facet_tile_tally_page(struct facet_tile_machine *m, const struct facet_tile_page *page);
void facet_tile_tally_word(struct facet_tile_machine *m,
                           const struct facet_tile_page *page,
                           uint32_t index);
/* Whether the instruction runs under a mask; its handler while something is counted. */
bool facet_tile_tally_masks(unsigned row);
facet_tile_fn facet_tile_tally_masked;
/* A draw of a core (pc) or of the queue (FACET_TILE_OF_QUEUE) is complete. */
void facet_tile_tally_draw(struct facet_tile_machine *m, uint32_t who, const char *what);

enum facet_status
facet_tile_count(void *self, struct facet_counts *counts, struct facet_error *err);

/* Instruction `op` has retired while the core runs ahead. */
static inline void facet_tile_tally_note(struct facet_tile_core *c, uint32_t pc)
{
    struct facet_tile_stretch *last = c->said - 1;

    if (last->pc + 4 * last->count == pc && pc % 4096 != 0 && last->count < FACET_TILE_LANES) {
        last->count++;
    } else {
        *c->said++ = (struct facet_tile_stretch){pc, 1};
    }
}

/* An access that was checked. */
static inline void facet_tile_tally_access(struct facet_tile_core *c,
                                           uint32_t address,
                                           uint32_t size,
                                           enum facet_tile_access access)
{
    if (__builtin_expect(c->said != NULL, 0) && address - FACET_VRAM_BASE >= c->m->vram_size) {
        const enum facet_tile_reach reach =
            address - FACET_TILE_SCRATCH_BASE < FACET_TILE_SCRATCH_BYTES ? FACET_TILE_REACH_SCRATCH
            : address - FACET_TILE_IMEM_BASE < FACET_TILE_IMEM_BYTES     ? FACET_TILE_REACH_IMEM
                                                                         : FACET_TILE_REACH_SAMPLER;

        c->m->tally->traffic[c->id].accesses[reach][access][__builtin_ctz(size)]++;
    }
}

#endif
