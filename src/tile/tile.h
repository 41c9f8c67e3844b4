/* The tile GPU's cores as one machine: four SIMD cores, VRAM, IMEM, sampler table, per-core scratch
 * and caches, the tile scheduler (tile-semantics.md 1 to 10, 12, 13). The texture, raster and
 * geometry units are src/raster; the command queue and the host registers stand on top of this
 * header: it starts a dispatch from a packet, runs it through facet/machine.h and asks how it
 * ended.
 *
 * Address spaces of the face: 0 is what the host sees (VRAM as published, IMEM, sampler table),
 * 1 to 4 are the scratch memories of cores 0 to 3. */
#ifndef FACET_TILE_TILE_H
#define FACET_TILE_TILE_H

#include "base/pool.h"
#include "raster/raster.h"

#include <facet/machine.h>

#define FACET_TILE_CORES 4
#define FACET_TILE_IMEM_BASE UINT32_C(0x30000000)
#define FACET_TILE_IMEM_BYTES UINT32_C(0x10000)
#define FACET_TILE_SAMPLER_BASE UINT32_C(0x10002000)
#define FACET_TILE_SAMPLER_BYTES UINT32_C(0x400)
#define FACET_TILE_SCRATCH_BASE UINT32_C(0x8000)
#define FACET_TILE_SCRATCH_BYTES UINT32_C(0x8000)
#define FACET_TILE_VRAM_DEFAULT (UINT32_C(64) << 20)
#define FACET_TILE_VRAM_MAX (UINT32_C(256) << 20)
#define FACET_TILE_WATCHDOG UINT32_C(50000000)

/* Model options (section 1); the zero value is the default machine. */
struct facet_tile_config {
    uint32_t vram;     /* bytes, a multiple of 4096; 0: 64 MiB */
    bool strong;       /* mem=strong */
    bool random;       /* sched=rnd:seed, else rr:quantum */
    uint32_t seed;     /* of rnd */
    uint32_t quantum;  /* of rr; 0: 1 */
    bool poison;       /* initial register contents */
    uint32_t regs;     /* 16 or 32; 0: 32 */
    uint32_t watchdog; /* default round limit; 0: 50,000,000 */
    bool plain;        /* portable code only: same results without host SIMD */
    facet_pool *pool;  /* for the raster unit; NULL: the calling thread alone */
};

/* "weak" or "strong"; "rr:Q" or "rnd:SEED". False, nothing changed, for anything else. */
bool facet_tile_parse_mem(const char *text, struct facet_tile_config *config);
bool facet_tile_parse_sched(const char *text, struct facet_tile_config *config);

extern const struct facet_machine_ops facet_tile_ops;

enum facet_status facet_tile_create(const struct facet_tile_config *config,
                                    facet_machine **out,
                                    struct facet_error *err);
/* Machine reset (R-TILE-94): cores idle, VRAM, IMEM and sampler table zero. */
void facet_tile_clear(facet_machine *machine);
uint32_t facet_tile_vram_bytes(const facet_machine *machine);

/* ---- dispatch (13) ---- */

struct facet_tile_packet {
    uint32_t pc;
    uint32_t columns, rows;           /* of tiles */
    uint32_t tile_width, tile_height; /* pixels, 0: 16 */
    uint32_t arg_base, arg_size;
    uint32_t shared_size;
    uint32_t priority, core_mask; /* mask 0: all four */
    uint32_t const_base, const_size;
    uint32_t watchdog; /* rounds, 0: machine default */
};

/* The 64 bytes of 13.1. */
struct facet_tile_packet facet_tile_packet_read(const uint8_t bytes[64]);
/* FACET_ERR_INPUT with what is wrong: BAD_ARG of section 18. */
enum facet_status facet_tile_packet_check(const facet_machine *machine,
                                          const struct facet_tile_packet *packet,
                                          struct facet_error *err);
/* Checks and starts; then run the machine (facet_machine_run). A grid without tiles is done at
 * once. A dispatch that is still under way is FACET_ERR_USAGE. */
enum facet_status facet_tile_dispatch(facet_machine *machine,
                                      const struct facet_tile_packet *packet,
                                      struct facet_error *err);

enum facet_tile_state {
    FACET_TILE_IDLE, /* no dispatch yet */
    FACET_TILE_RUNNING,
    FACET_TILE_WAITING, /* every unfinished core is parked: doorbell, fence or abort goes on */
    FACET_TILE_DONE,
    FACET_TILE_FAULTED, /* fault, watchdog or abort: see facet_tile_core_report */
};

enum facet_tile_state facet_tile_state(const facet_machine *machine);
/* Completed rounds of the current or last dispatch. */
uint64_t facet_tile_rounds(const facet_machine *machine);
/* Default round limit (host register WDOG_DEFAULT). */
uint32_t facet_tile_watchdog(const facet_machine *machine);
void facet_tile_set_watchdog(facet_machine *machine, uint32_t rounds);

/* Host events: int_status.DOORBELL of the cores in the mask, int_status.FENCE of all cores; the end
 * of a running dispatch with cause 10 on every core that was not finished. */
void facet_tile_doorbell(facet_machine *machine, unsigned mask);
void facet_tile_fence(facet_machine *machine);
void facet_tile_abort(facet_machine *machine);

enum facet_tile_class {
    FACET_TILE_CLASS_LOAD,
    FACET_TILE_CLASS_STORE,
    FACET_TILE_CLASS_ATOMIC,
    FACET_TILE_CLASS_TEXTURE,
    FACET_TILE_CLASS_GRAPHICS,
    FACET_TILE_CLASS_BRANCH, /* taken branches and jumps */
    FACET_TILE_CLASS_OTHER,
    FACET_TILE_CLASSES
};

struct facet_tile_core_report {
    uint64_t retired;
    uint64_t by_class[FACET_TILE_CLASSES]; /* the perf_* counters and the rest */
    uint32_t fault_cause, fault_pc, fault_addr;
    uint32_t status, gerror;
    uint32_t tiles; /* that the core has finished */
};

struct facet_tile_core_report facet_tile_core_report(const facet_machine *machine, uint32_t core);
/* "illegal instruction", "watchdog", ...; never NULL. */
const char *facet_tile_cause_name(uint32_t cause);
const char *facet_tile_class_name(enum facet_tile_class what);
/* hwinfo, as every core reads it. */
uint32_t facet_tile_hwinfo(const facet_machine *machine);

/* ---- for the command queue ---- */

/* The units over this machine's VRAM and sampler table; valid until the machine ends. */
const struct facet_raster_unit *facet_tile_unit(const facet_machine *machine);
/* VRAM bytes [begin, end) were written through the unit: snapshots and decoded code follow. */
void facet_tile_written(facet_machine *machine, uint32_t begin, uint32_t end);

/* Program files: assembled text or ELF objects of FACET_ISA_TILE into VRAM or IMEM. *entry may be
 * NULL. */
struct facet_object;
enum facet_status facet_tile_load(facet_machine *machine,
                                  const struct facet_object *object,
                                  uint32_t *entry,
                                  struct facet_error *err);

#endif
