/* What compiles, runs and is wrong: an observer that names the places of a program that do what the
 * contract calls wrong, undefined or without effect although the machine continues.
 *
 * A linter listens to one machine, looks into its state and changes nothing. Each rule is a row of
 * FACET_LINT_RULES with the rows of the contract that it enforces; a place of the program is named
 * once per rule, with the number of times. A rule speaks only where it is certain: docs/lint.md has
 * what each one looks at and what it lets pass. */
#ifndef FACET_LINT_LINT_H
#define FACET_LINT_LINT_H

#include <facet/error.h>
#include <facet/machine.h>
#include <facet/observer.h>

/* R(id, name, rows of the contract for the hart, for the tile machine, what is wrong); "" where the
 * machine has no such rule. */
/* clang-format off */
#define FACET_LINT_RULES(R) \
    R(RT_OFF, "rt-off", "RT-034", "", \
      "an RT operation while RTCFG.EN is 0") \
    R(GFX_OFF, "gfx-off", "GFX-373", "", \
      "a GFX operation does nothing while GFXCFG.EN is 0") \
    R(GFX_FILTER, "gfx-filter", "R-GFX-10", "", \
      "m=1 asks for a filter, but GFXCFG.CONVERT_EN is 0: raw codes of the nearest texel") \
    R(GFX_HIZ, "gfx-hiz", "GFX-084", "", \
      "GFX.HZ.BUILD builds nothing: GFXHIZCFG.LEVELS has no such level") \
    R(PREC_STAGED, "prec-staged", "CAP-028", "", \
      "runs under the old numeric state: a write is staged and not applied") \
    R(PREC_BIT31, "prec-bit31", "R-CAP-01", "", \
      "bit 31 is set as if it were APPLY, and bit 63 is not: nothing is applied") \
    R(PREC_COMMIT, "prec-commit", "R-CAP-14", "", \
      "commits a stale staged image, not the register that it reads") \
    R(PREC_LOST, "prec-lost", "R-CAP-14", "", \
      "discards an image that was staged and not applied") \
    R(CSR_W1C, "csr-w1c", "R-CAP-34", "", \
      "sets or clears bits of a write-one-to-clear register: others are cleared too; use csrw") \
    R(CSR_READ_ONLY, "csr-read-only", "CAP-101", "TILE-521", \
      "a write to a read-only register or field") \
    R(CSR_RESERVED, "csr-reserved", "CAP-102", "R-TILE-57", \
      "a write of ones to reserved bits") \
    R(CSR_ILLEGAL, "csr-illegal", "R-CAP-13", "TILE-565", \
      "the register stored another value") \
    R(CSR_ABSENT, "csr-absent", "", "R-TILE-57", \
      "an access to a CSR that does not exist") \
    R(JOB_RESULT, "job-result", "RT-273 XM-124", "", \
      "reads what a job writes before the job was waited for") \
    R(JOB_DATA, "job-data", "R-RT-37 R-XM-28", "", \
      "writes what a job uses before the job was waited for") \
    R(JOB_UNWAITED, "job-unwaited", "RT-267 XM-127", "", \
      "the program ends without having waited for this job") \
    R(WAIT_TICKET, "wait-ticket", "XM-150", "", \
      "waits for a ticket that was never issued") \
    R(ARG_SIZE, "arg-size", "", "TILE-528", \
      "reads past the arguments of the dispatch") \
    R(UNPUBLISHED, "unpublished", "", "TILE-038", \
      "reads what another core has stored and not published") \
    R(STALE, "stale", "", "TILE-038", \
      "reads an old copy of what has been published since: no MEMBAR or acquire in between") \
    R(UNIT_DATA, "unit-data", "", "TILE-461", \
      "the graphics unit reads or draws over what a core has stored and not published") \
    R(TEXELS, "texels", "", "TILE-045", \
      "samples texels that were stored and are not visible to the texture path") \
    R(SCRATCH, "scratch", "", "R-TILE-130", \
      "reads scratch memory that this tile has not written") \
    R(NO_EXIT, "no-exit", "", "R-TILE-63", \
      "the kernel runs off its end: there is no EXIT") \
    R(RACE, "race", "R-RV-28", "R-TILE-133", \
      "meets an access of another hart or core, and nothing orders the two") \
    R(TILE_RACE, "tile-race", "", "R-TILE-133", \
      "meets an access of another tile on the same core, and nothing orders the two") \
    R(OUT_OF_TILE, "out-of-tile", "", "R-TILE-133", \
      "stores a pixel of the picture that belongs to another tile") \
    R(LR_SC, "lr-sc", "R-RV-28 R-CAP-80", "", \
      "an SC that fails always, or may fail for ever") \
    R(BARRIER, "barrier", "", "R-TILE-64", \
      "tiles of a dispatch differ in the BARR.SYNC that they pass") \
    R(REGISTER, "register", "", "R-TILE-67", \
      "reads a register that this tile has not written")
/* clang-format on */

enum facet_lint_id {
#define FACET_LINT_ID(id, name, hart, tile, text) FACET_LINT_##id,
    FACET_LINT_RULES(FACET_LINT_ID)
#undef FACET_LINT_ID
        FACET_LINT_COUNT
};

/* Which rules are asked: those of --lint (up to NO_EXIT), those of --check-order: what cores,
 * harts, tiles and jobs see of one another, and what nobody has written. */
enum { FACET_LINT_SET_LINT = 1, FACET_LINT_SET_ORDER = 2 };
unsigned facet_lint_sets(enum facet_lint_id rule);

enum facet_lint_machine { FACET_LINT_HART, FACET_LINT_TILE, FACET_LINT_MACHINES };

struct facet_lint_rule {
    const char *name;
    const char *rows[FACET_LINT_MACHINES]; /* separated by blanks; "": not a rule of the machine */
    const char *text;
};
extern const struct facet_lint_rule facet_lint_rules[FACET_LINT_COUNT];

struct facet_lint_finding {
    uint64_t pc;
    uint32_t core; /* of the first time */
    enum facet_lint_id rule;
    uint64_t count;
    bool paired; /* there is a second place, with which the detail ends */
    uint64_t other_pc;
    uint32_t other_core;
    char detail[120]; /* of the first time: registers, addresses; may be empty */
};

typedef struct facet_lint facet_lint;

/* Listens once the caller hands facet_lint_observer() to facet_machine_observe; the machine must
 * outlive the linter. FACET_ERR_USAGE for a kind of machine without rules. */
enum facet_status
facet_lint_create(facet_machine *machine, facet_lint **out, struct facet_error *err);
/* Before the machine runs; FACET_LINT_SET_LINT otherwise. */
void facet_lint_select(facet_lint *lint, unsigned sets);
/* Of VRAM: what a dispatch whose tiles cover it exactly is taken to draw. The hart has none. */
struct facet_lint_picture {
    uint32_t base, stride; /* bytes */
    uint32_t width, height;
    uint32_t pixel; /* bytes */
};
enum { FACET_LINT_PICTURES = 8 };
/* Before the machine runs; of more than FACET_LINT_PICTURES those that come later are left out. */
void facet_lint_add_picture(facet_lint *lint, const struct facet_lint_picture *picture);
void facet_lint_destroy(facet_lint *lint); /* NULL is allowed */
const struct facet_observer *facet_lint_observer(const facet_lint *lint);

enum facet_lint_machine facet_lint_machine(const facet_lint *lint);

/* The run is over: what waited for a later event is reported now. */
void facet_lint_finish(facet_lint *lint);
/* In rising order of pc, then of rule, then of the second place. */
size_t facet_lint_count(const facet_lint *lint);
const struct facet_lint_finding *facet_lint_at(const facet_lint *lint, size_t index);
/* Memory was short: findings are missing. */
bool facet_lint_failed(const facet_lint *lint);

#endif
