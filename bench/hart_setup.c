/* See hart_setup.h. */
#include "bench/hart_setup.h"

#include "assembler/assemble.h"

#include <facet/xphmg.h>
#include <stdlib.h>
#include <string.h>

enum facet_status
hart_put_program(facet_machine *machine, const char *text, uint64_t *end, struct facet_error *err)
{
    struct facet_asm_options options = {.isa = FACET_ISA_XPHMG};
    struct facet_asm_result result;
    uint8_t *bytes = NULL;
    size_t size = 0;
    uint64_t base;
    enum facet_status status = facet_assemble(&options, text, strlen(text), &result, err);

    if (status == FACET_OK) {
        status = facet_object_flatten(result.object, &bytes, &size, &base, err);
    }
    if (status == FACET_OK) {
        status = facet_machine_write(machine, 0, FACET_XPHMG_RAM_BASE, bytes, size, err);
    }
    if (end != NULL) {
        *end = FACET_XPHMG_RAM_BASE + size;
    }
    free(bytes);
    facet_asm_result_free(&result);
    return status;
}

enum facet_status
hart_put_csr(facet_machine *machine, const char *name, uint64_t value, struct facet_error *err)
{
    return facet_machine_csr_write(machine,
                                   0,
                                   facet_machine_find_csr(machine, 0, name),
                                   (struct facet_value){value, 0},
                                   NULL,
                                   err);
}

enum facet_status
hart_put_reg(facet_machine *machine, const char *name, uint64_t value, struct facet_error *err)
{
    return facet_machine_reg_write(
        machine, 0, facet_machine_find_reg(machine, 0, name), (struct facet_value){value, 0}, err);
}
