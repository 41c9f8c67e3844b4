/* A hart runs a few instructions: registers, CSRs and fields by name, every retirement observed. */
#include <facet/isa.h>
#include <facet/observer.h>
#include <facet/version.h>
#include <facet/xphmg.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char program[] = "  li t0, 6\n  li t1, 7\n  mul t0, t0, t1\n  csrw mscratch, t0\n"
                              "  li t2, 0x5555\n  li t3, 0x100000\n  sw t2, 0(t3)\n";

static void retired(void *context, const struct facet_retire_event *event)
{
    char line[80];

    facet_machine_disassemble(
        (const facet_machine *)context, event->core, event->pc, line, sizeof line, NULL);
    printf("%08" PRIx64 "  %s\n", event->pc, line);
}

int main(void)
{
    struct facet_isa_assemble_config config = {FACET_ISA_XPHMG};
    struct facet_observer observer = {NULL, retired};
    struct facet_run run = {1000, false};
    struct facet_blob elf = {NULL, 0};
    struct facet_error err;
    struct facet_stop stop;
    facet_machine *machine = NULL;
    uint64_t value;

    printf("Facet %s\n", facet_version());
    if (facet_isa_assemble(&config, program, strlen(program), &elf, NULL, &err) != FACET_OK ||
        facet_xphmg_create(NULL, &machine, &err) != FACET_OK ||
        facet_xphmg_load_elf(machine, elf.data, elf.size, &err) != FACET_OK) {
        puts(err.message);
        return 2;
    }
    facet_blob_free(&elf);
    observer.context = machine;
    facet_machine_observe(machine, &observer);
    facet_machine_run(machine, &run, &stop);
    facet_machine_get(machine, 0, "t0", &value);
    printf("%s after %" PRIu64 " steps, t0 = %" PRIu64,
           facet_stop_name(stop.reason),
           stop.steps,
           value);
    facet_machine_get(machine, 0, "mscratch", &value);
    printf(", mscratch = %" PRIu64, value);
    facet_machine_get(machine, 0, "CAP.PREC.MODE.EW", &value);
    printf(", CAP.PREC.MODE.EW = %" PRIu64 "\n", value);
    facet_machine_destroy(machine);
    return 0;
}
