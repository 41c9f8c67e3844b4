/* See work_list.h. */
#include "session/work_list.h"

#include "command/command.h"

#include <inttypes.h>

void session_work_print(const facet_machine *machine, FILE *out)
{
    struct facet_work work;

    for (uint32_t n = 0; facet_machine_work(machine, n, &work); n++) {
        fprintf(out,
                "under way: %s 0x%" PRIx64 " of %s at 0x%" PRIx64 ", %" PRIu64 " step%s left\n",
                work.unit,
                work.id,
                facet_machine_core(machine, work.core)->name,
                work.address,
                work.left,
                cli_s(work.left));
    }
}

json_t *session_work_json(const facet_machine *machine)
{
    json_t *list = json_array();
    struct facet_work work;

    for (uint32_t n = 0; facet_machine_work(machine, n, &work); n++) {
        (void)json_array_append_new(list,
                                    json_pack("{s:I, s:s, s:o, s:o, s:I}",
                                              "hart",
                                              (json_int_t)work.core,
                                              "unit",
                                              work.unit,
                                              "id",
                                              facet_json_hex(work.id),
                                              "address",
                                              facet_json_hex(work.address),
                                              "steps_left",
                                              (json_int_t)work.left));
    }
    return list;
}
