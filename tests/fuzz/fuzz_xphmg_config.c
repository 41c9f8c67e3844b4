/* Any text as a configuration of the xphmg machine: refused with a message, or a machine that can
 * be made, whose registers can all be read and written, and which runs a few steps. Only what
 * overlaps is refused when the machine is made. */
#include "fuzz/fuzz.h"

#include "xphmg/config.h"

#include <facet/xphmg.h>
#include <string.h>

static void try_machine(const char *text)
{
    const struct facet_xphmg_config config = {.ram_bytes = 4096, .configuration = text};
    struct facet_error err = {0};
    struct facet_value value;
    struct facet_stop stop;
    facet_machine *machine;
    const struct facet_core_desc *core;

    if (facet_xphmg_create(&config, &machine, &err) != FACET_OK) {
        fuzz_require(err.status == FACET_ERR_MEMORY || strstr(err.message, " overlaps ") != NULL);
        return;
    }
    core = facet_machine_core(machine, 0);
    for (uint32_t i = 0; i < core->csr_count; i++) {
        fuzz_require(facet_machine_csr_read(machine, 0, i, &value, NULL) == FACET_OK);
        fuzz_require(facet_machine_csr_write(machine, 0, i, value, NULL, NULL) == FACET_OK);
    }
    facet_machine_run(machine, &(struct facet_run){.budget = 3}, &stop);
    facet_machine_destroy(machine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct facet_cap_config config;
    struct facet_error err = {0};
    char text[256] = "";

    memcpy(text, data, size < sizeof text ? size : sizeof text - 1);
    if (facet_cap_config_parse(text, &config, &err) != FACET_OK) {
        fuzz_require(err.message[0] != '\0');
    } else {
        try_machine(text);
    }
    return 0;
}
