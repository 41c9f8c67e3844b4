/* See record.h. */
#include "record.h"

#include <stdlib.h>

enum { MOST = 40, MOST_GETS = 512, GAP = 16 };

void record_open(struct kernel *k, const struct facet_tile_config *config)
{
    k->recorded = 0;
    k->config_line[0] = '\0';
    if (config->random || config->quantum > 1) {
        k->recorded = MOST; /* an order of its own is nothing that another machine has */
    }
    (void)snprintf(k->config_line,
                   sizeof k->config_line,
                   "%u %d %d",
                   (unsigned)(config->regs != 0 ? config->regs : 32),
                   config->strong,
                   config->poison);
}

static void tell_region(struct kernel *k, const struct facet_region_desc *region)
{
    FILE *out = harness_record();
    uint8_t *bytes = malloc((size_t)region->size);
    size_t at = 0, size = (size_t)region->size;

    if (facet_machine_read(k->machine, 0, region->base, bytes, size, NULL) != FACET_OK) {
        at = size;
    }
    while (at < size) {
        size_t begin, end;

        while (at < size && bytes[at] == 0) {
            at++;
        }
        begin = end = at;
        while (at < size && at < end + GAP) {
            end = bytes[at] != 0 ? at + 1 : end;
            at++;
        }
        if (begin < end) {
            fprintf(out, "memory %llx ", (unsigned long long)(region->base + begin));
            for (size_t i = begin; i < end; i++) {
                fprintf(out, "%02x", bytes[i]);
            }
            fputc('\n', out);
        }
        at = end > begin ? end : at;
    }
    free(bytes);
}

static void tell_registers(const struct kernel *k)
{
    FILE *out = harness_record();

    for (unsigned i = 1; i < 32; i++) {
        fprintf(out, " %x", (unsigned)k->s[i]);
    }
    for (unsigned i = 0; i < 32; i++) {
        fprintf(out, " %x", k->f[i]);
    }
    for (unsigned i = 1; i < 32; i++) {
        fprintf(out,
                " %016llx%016llx",
                (unsigned long long)k->v[i].d[1],
                (unsigned long long)k->v[i].d[0]);
    }
    fputc('\n', out);
}

void record_before(struct kernel *k, bool exec)
{
    FILE *out = harness_record();
    const struct facet_tile_packet *p = &k->packet;
    struct facet_region_desc region;

    if (out == NULL || ++k->recorded > MOST) {
        return;
    }
    (void)harness_record_anew();
    fprintf(out, "tile %s\n", k->config_line);
    for (uint32_t i = 0; facet_machine_region(k->machine, 0, i, &region); i++) {
        if (!region.device) {
            tell_region(k, &region);
        }
    }
    fprintf(out,
            "%s %x %x %x %x %x %x %x %x %x %x %x %x\n",
            exec ? "exec" : "run",
            (unsigned)p->pc,
            (unsigned)p->columns,
            (unsigned)p->rows,
            (unsigned)p->tile_width,
            (unsigned)p->tile_height,
            (unsigned)p->arg_base,
            (unsigned)p->arg_size,
            (unsigned)p->shared_size,
            (unsigned)p->core_mask,
            (unsigned)p->const_base,
            (unsigned)p->const_size,
            (unsigned)p->watchdog);
    if (exec) {
        fprintf(
            out, "in %x %x %x", (unsigned)k->config, (unsigned)k->vstatus, (unsigned)k->vstride);
        tell_registers(k);
    }
}

void record_after(struct kernel *k)
{
    if (harness_record() == NULL || k->recorded > MOST) {
        return;
    }
    k->gets = 0;
    fprintf(harness_record(),
            "out %u %x %x %x %x %x %x %x %x",
            (unsigned)facet_tile_info_of(k->machine).state,
            (unsigned)k->cause,
            (unsigned)k->fault_pc,
            (unsigned)k->fault_addr,
            (unsigned)k->status,
            (unsigned)k->fstatus,
            (unsigned)k->config,
            (unsigned)k->vstatus,
            (unsigned)k->vstride);
    tell_registers(k);
}

void record_get(struct kernel *k, uint32_t address, uint32_t value)
{
    if (harness_record() != NULL && k->recorded <= MOST && ++k->gets <= MOST_GETS) {
        fprintf(harness_record(), "get %x %x\n", (unsigned)address, (unsigned)value);
    }
}
