/* The tile machine inside the library: facet/tile.h is its public face; here is what the command
 * line, the renderer and the tests use besides. The texture, raster and geometry units are
 * src/raster.
 *
 * Address spaces of the face: 0 is what the host sees (VRAM as published, IMEM, sampler table),
 * 1 to 4 are the scratch memories of cores 0 to 3. */
#ifndef FACET_TILE_TILE_H
#define FACET_TILE_TILE_H

#include "base/pool.h"
#include "raster/raster.h"

#include <facet/tile.h>

/* "weak" or "strong"; "rr:Q" or "rnd:SEED". False, nothing changed, for anything else. */
bool facet_tile_parse_mem(const char *text, struct facet_tile_config *config);
bool facet_tile_parse_sched(const char *text, struct facet_tile_config *config);

extern const struct facet_machine_ops facet_tile_ops;

/* Threads for the raster unit from a pool that the caller keeps longer than the machine; NULL: the
 * machine's own (config.threads). */
void facet_tile_use_pool(facet_machine *machine, facet_pool *pool);

/* facet_tile_get_info and facet_tile_get_core_report for those who made the machine. */
static inline struct facet_tile_info facet_tile_info_of(const facet_machine *machine)
{
    struct facet_tile_info info;

    (void)facet_tile_get_info(machine, &info, NULL);
    return info;
}

static inline struct facet_tile_core_report facet_tile_report_of(const facet_machine *machine,
                                                                 uint32_t core)
{
    struct facet_tile_core_report report;

    (void)facet_tile_get_core_report(machine, core, &report, NULL);
    return report;
}

/* Whether cores may run ahead of each other (src/tile/ahead/ahead.c), as they do unless `plain` was
 * asked for: same results, faster. */
void facet_tile_let_run_ahead(facet_machine *machine, bool may);

/* int_status.FENCE of all cores. */
void facet_tile_fence(facet_machine *machine);

/* The units over this machine's VRAM and sampler table; valid until the machine ends. */
const struct facet_raster_unit *facet_tile_unit(const facet_machine *machine);
/* Listens to the units besides whoever listens already, until _unwatch: draws are made by plain
 * code in the calling thread then, with the same pixels. */
struct facet_tile_watch {
    struct facet_raster_watch watch;
    struct facet_raster_watch both; /* for whoever listened before, too */
    const struct facet_raster_watch *before;
    facet_pool *pool;
    bool plain;
};
void facet_tile_watch(facet_machine *machine,
                      struct facet_tile_watch *watch,
                      struct facet_raster_watch listener);
void facet_tile_unwatch(facet_machine *machine, const struct facet_tile_watch *watch);
/* The core whose instruction is being executed, FACET_NONE for a command of the queue. Known while
 * somebody listens. */
uint32_t facet_tile_stepping(const facet_machine *machine);
/* Who is told what draws do to a pixel (raster/probe.h), until the machine ends or NULL is set; the
 * same bits, slower. */
void facet_tile_probe(facet_machine *machine, struct facet_raster_probe *probe);
/* Bytes of VRAM that the core has in its data cache take the place of those in `out`; false for
 * other addresses and another core. */
bool facet_tile_core_view(
    const facet_machine *machine, uint32_t core, uint64_t address, uint8_t *out, size_t size);
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
