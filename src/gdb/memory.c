/* Memory as the debugger sees it: the main space, the private memory of the selected core, and,
 * when it asks for that, the core's own view of the main space. */
#include "gdb/internal.h"

#include <string.h>

uint32_t facet_gdb_private_space(const struct facet_gdb *gdb, uint32_t core, uint64_t address)
{
    struct facet_region_desc region;

    for (uint32_t i = 0; gdb->target.arch->private_spaces &&
                         facet_machine_region(gdb->machine, core + 1, i, &region);
         i++) {
        if (address - region.base < region.size) {
            return core + 1;
        }
    }
    return 0;
}

size_t facet_gdb_read_memory(struct facet_gdb *gdb, uint64_t address, uint8_t *out, size_t size)
{
    uint32_t space = facet_gdb_private_space(gdb, gdb->core, address);
    struct facet_error err = {0};

    if (facet_machine_read(gdb->machine, space, address, out, size, &err) != FACET_OK) {
        size =
            err.status == FACET_ERR_FAULT && err.where - address < size ? err.where - address : 0;
        if (size == 0 ||
            facet_machine_read(gdb->machine, space, address, out, size, NULL) != FACET_OK) {
            return 0;
        }
    }
    if (space == 0 && gdb->core_view && gdb->host.view != NULL) {
        (void)gdb->host.view(gdb->host.context, gdb->core, address, out, size);
    }
    return size;
}

bool facet_gdb_write_memory(struct facet_gdb *gdb, uint64_t address, const uint8_t *in, size_t size)
{
    uint32_t space = facet_gdb_private_space(gdb, gdb->core, address);

    return facet_machine_write(gdb->machine, space, address, in, size, NULL) == FACET_OK;
}
