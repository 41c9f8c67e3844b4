/* The debugger's breakpoints and watchpoints. They are set in the machine only while it runs for
 * the debugger: replay to a known place runs without them, and faster. */
#include "gdb/internal.h"
#include "machine/ops.h"

static bool same(const struct facet_gdb_point *a, const struct facet_gdb_point *b)
{
    return a->type == b->type && a->address == b->address && a->size == b->size;
}

static bool watches(const struct facet_gdb_point *point)
{
    return point->type >= FACET_GDB_WRITE;
}

static void unset(struct facet_gdb *gdb, struct facet_gdb_point *point)
{
    for (size_t i = 0; i < FACET_GDB_SPACES; i++) {
        if (point->id[i] != 0) {
            (void)facet_machine_point_remove(gdb->machine, point->id[i], NULL);
            point->id[i] = 0;
        }
    }
}

void facet_gdb_point_remove(struct facet_gdb *gdb, const struct facet_gdb_point *point)
{
    for (size_t i = 0; i < gdb->point_count; i++) {
        if (same(&gdb->points[i], point)) {
            unset(gdb, &gdb->points[i]);
            gdb->points[i] = gdb->points[--gdb->point_count];
            return;
        }
    }
}

/* A watchpoint in one space; core n alone reaches space n + 1. */
static void
set_watch(struct facet_gdb *gdb, struct facet_gdb_point *point, size_t i, uint32_t space)
{
    struct facet_watch watch = {.core = FACET_ANY_CORE,
                                .space = space,
                                .address = point->address,
                                .size = point->size,
                                .on_read = point->type != FACET_GDB_WRITE,
                                .on_write = point->type != FACET_GDB_READ};

    gdb->lacking |=
        facet_machine_watch_add(gdb->machine, &watch, &point->id[i], NULL) == FACET_ERR_MEMORY;
}

static void set(struct facet_gdb *gdb, struct facet_gdb_point *point)
{
    uint32_t cores = facet_machine_core_count(gdb->machine);
    size_t count = 0;

    if (point->id[0] != 0) {
        return;
    }
    if (!watches(point)) {
        gdb->lacking |= facet_machine_break_add(
                            gdb->machine, FACET_ANY_CORE, point->address, &point->id[0], NULL) ==
                        FACET_ERR_MEMORY;
        return;
    }
    for (uint32_t core = 0; core < cores && count < FACET_GDB_SPACES; core++) {
        uint32_t space = facet_gdb_private_space(gdb, core, point->address);

        if (space != 0) {
            set_watch(gdb, point, count++, space);
        }
    }
    if (count == 0) {
        set_watch(gdb, point, 0, 0);
        if (point->type == FACET_GDB_WRITE) { /* GDB compares, and tells only what has changed */
            facet_machine_watch_published(gdb->machine, point->id[0]);
        }
    }
}

void facet_gdb_points_set(struct facet_gdb *gdb, bool wanted)
{
    for (size_t i = 0; i < gdb->point_count; i++) {
        if (wanted) {
            set(gdb, &gdb->points[i]);
        } else {
            unset(gdb, &gdb->points[i]);
        }
    }
}

bool facet_gdb_point_add(struct facet_gdb *gdb, const struct facet_gdb_point *point)
{
    if (watches(point) && point->size == 0) {
        return false;
    }
    for (size_t i = 0; i < gdb->point_count; i++) {
        if (same(&gdb->points[i], point)) {
            return true; /* asking again does not add a second point */
        }
    }
    if (gdb->point_count == FACET_GDB_POINTS) {
        return false;
    }
    gdb->points[gdb->point_count++] = *point;
    /* Tried together at once: the machine keeps the room, so it has some when the program runs. */
    facet_gdb_points_set(gdb, true);
    facet_gdb_points_set(gdb, false);
    return true;
}

const struct facet_gdb_point *facet_gdb_point_of(const struct facet_gdb *gdb, uint32_t id)
{
    for (size_t i = 0; i < gdb->point_count; i++) {
        for (size_t k = 0; k < FACET_GDB_SPACES; k++) {
            if (id != 0 && gdb->points[i].id[k] == id) {
                return &gdb->points[i];
            }
        }
    }
    return NULL;
}
