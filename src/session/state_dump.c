/* See state_dump.h. */
#include "session/state_dump.h"

#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>

void session_state_print(const facet_machine *machine, uint32_t core)
{
    const struct facet_core_desc *desc = facet_machine_core(machine, core);
    struct facet_value value;

    fprintf(stderr, "%s\n", desc->name);
    for (uint32_t i = 0; i < desc->reg_count; i++) {
        const struct facet_reg_desc *reg = &desc->regs[i];

        (void)facet_machine_reg_read(machine, core, i, &value, NULL);
        if (i <= desc->pc + 1) {
            fprintf(stderr,
                    "  %-4s %-4s 0x%016" PRIx64 "%s",
                    reg->name,
                    reg->alias != NULL ? reg->alias : "",
                    value.lo,
                    i % 4 == 3 || i == desc->pc + 1 ? "\n" : "");
        } else if (value.lo != 0) {
            fprintf(stderr, "  %-20s 0x%016" PRIx64 "\n", reg->name, value.lo);
        }
    }
    for (uint32_t i = 0; i < desc->csr_count; i++) {
        if (facet_machine_csr_read(machine, core, i, &value, NULL) == FACET_OK && value.lo != 0) {
            fprintf(stderr, "  %-20s 0x%016" PRIx64 "\n", desc->csrs[i].name, value.lo);
        }
    }
}

json_t *session_state_json(const facet_machine *machine, uint32_t core)
{
    const struct facet_core_desc *desc = facet_machine_core(machine, core);
    json_t *regs = json_object(), *csrs = json_object();
    struct facet_value value;

    for (uint32_t i = 0; i < desc->reg_count; i++) {
        (void)facet_machine_reg_read(machine, core, i, &value, NULL);
        (void)json_object_set_new(regs, desc->regs[i].name, facet_json_hex(value.lo));
    }
    for (uint32_t i = 0; i < desc->csr_count; i++) {
        (void)facet_machine_csr_read(machine, core, i, &value, NULL);
        (void)json_object_set_new(csrs, desc->csrs[i].name, facet_json_hex(value.lo));
    }
    return json_pack("{s:s, s:o, s:o}", "name", desc->name, "registers", regs, "csrs", csrs);
}
