/* What `facet snapshot --info` says. */
#include "report/snapshot.h"

#include "command/streams.h"
#include "session/work_list.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t pc_of(const facet_machine *machine, uint32_t core)
{
    struct facet_value value = {0, 0};

    (void)facet_machine_reg_read(
        machine, core, facet_machine_core(machine, core)->pc, &value, NULL);
    return value.lo;
}

static void print_name(const char *label, const char *name)
{
    fputs(label, stdout);
    cli_put_name(stdout, name);
    putchar('\n');
}

void report_snapshot(const struct session_snapshot *file, const facet_machine *machine)
{
    printf("harts          %" PRIu32 "\n", file->config.harts);
    printf("ram            %" PRIu64 " bytes\n", file->config.ram_bytes);
    print_name("configuration  ", file->configuration);
    print_name("command line   ", file->command_line);
    printf("state          %zu bytes\n", file->state_size);
    if (file->config.jobs_seed != 0) {
        printf("jobs           late:%" PRIu64 "\n", file->config.jobs_seed);
    } else if (file->config.jobs == FACET_XPHMG_JOBS_LATE) {
        printf("jobs           late\n");
    }
    printf("steps          %" PRIu64 "\n", facet_machine_steps(machine));
    for (uint32_t i = 0; i < facet_machine_core_count(machine); i++) {
        printf("%-14s pc 0x%" PRIx64 ", %" PRIu64 " retired\n",
               facet_machine_core(machine, i)->name,
               pc_of(machine, i),
               facet_machine_retired(machine, i));
    }
    session_work_print(machine, stdout);
}

json_t *report_snapshot_json(const struct session_snapshot *file, const facet_machine *machine)
{
    json_t *harts = json_array();

    for (uint32_t i = 0; i < facet_machine_core_count(machine); i++) {
        (void)json_array_append_new(harts,
                                    json_pack("{s:s, s:o, s:I}",
                                              "name",
                                              facet_machine_core(machine, i)->name,
                                              "pc",
                                              facet_json_hex(pc_of(machine, i)),
                                              "retired",
                                              (json_int_t)facet_machine_retired(machine, i)));
    }
    return json_pack("{s:I, s:I, s:s, s:o, s:I, s:o, s:s, s:o, s:o}",
                     "ram_bytes",
                     (json_int_t)file->config.ram_bytes,
                     "state_bytes",
                     (json_int_t)file->state_size,
                     "configuration",
                     file->configuration,
                     "command_line",
                     facet_json_name(file->command_line),
                     "steps",
                     (json_int_t)facet_machine_steps(machine),
                     "harts",
                     harts,
                     "jobs",
                     file->config.jobs == FACET_XPHMG_JOBS_LATE ? "late" : "now",
                     "jobs_seed",
                     file->config.jobs_seed != 0 ? facet_json_hex(file->config.jobs_seed)
                                                 : json_null(),
                     "under_way",
                     session_work_json(machine));
}
