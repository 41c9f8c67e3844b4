/* A design as a library, for `facet conform --against ./design.so` and `facet fuzz`
 * (facet/design.h).
 *
 * The design here is a second machine of Facet's. Yours is a simulator or verilated RTL: `begin`
 * puts it into reset and fills its memory, `step` clocks it until an instruction retires and says
 * what its write ports did, `read` looks into its memory.
 *
 * DESIGN_BUG in the environment breaks it: a number N flips the lowest bit of the first register
 * that is written from step N on; "crash", "hang" and "leave" do so at the tenth step. */
#include <facet/design.h>
#include <facet/lockstep.h>
#include <facet/tile.h>
#include <facet/xphmg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 18 }; /* changes of one instruction: a long copy has many */

static facet_machine *machine;
static struct facet_error err;
static struct facet_change changes[MOST];
static struct facet_design_event events[MOST];
static unsigned long steps;
static int over;

static int fails(enum facet_status status, const char **why)
{
    *why = err.message;
    return status != FACET_OK;
}

static enum facet_status make(const struct facet_design_case *c)
{
    const struct facet_xphmg_config hart = {
        .configuration = c->config[0] != '\0' ? c->config : NULL, .no_semihosting = true};
    const struct facet_tile_config tile = {0};

    return strcmp(c->kind, "elf") == 0 ? facet_xphmg_create(&hart, &machine, &err)
                                       : facet_tile_create(&tile, &machine, &err);
}

static void end(void)
{
    facet_machine_destroy(machine);
    machine = NULL;
}

/* The machine wants the file itself, for `tohost`; others load c->pieces. */
static enum facet_status load_program(const struct facet_design_case *c)
{
    FILE *file = fopen(c->file, "rb");
    char *bytes = malloc(1 << 20);
    size_t size = file != NULL && bytes != NULL ? fread(bytes, 1, 1 << 20, file) : 0;
    enum facet_status status = facet_xphmg_load_elf(machine, bytes, size, &err);

    free(bytes);
    if (file != NULL) {
        fclose(file);
    }
    return status;
}

static enum facet_status load_kernel(const struct facet_design_case *c)
{
    const struct facet_tile_packet packet = facet_tile_packet_read(c->packet);
    enum facet_status status = FACET_OK;

    for (size_t i = 0; i < c->piece_count && status == FACET_OK; i++) {
        const struct facet_design_piece *p = &c->pieces[i];

        if (p->size != 0) {
            status = facet_machine_write(machine, 0, p->address, p->bytes, p->size, &err);
        }
    }
    return status == FACET_OK ? facet_tile_dispatch(machine, &packet, &err) : status;
}

static int begin(const struct facet_design_case *c, const char **why)
{

    if (strcmp(c->kind, "elf") != 0 && strcmp(c->kind, "tile") != 0) {
        *why = "programs and kernels only";
        return FACET_DESIGN_UNSUPPORTED;
    }
    steps = 0;
    over = 0;
    if (fails(make(c), why)) {
        return FACET_DESIGN_UNSUPPORTED;
    }
    if (fails(c->packet != NULL ? load_kernel(c) : load_program(c), why)) {
        end();
        return FACET_DESIGN_FAILED;
    }
    return FACET_DESIGN_OK;
}

static void misbehave(struct facet_design_step *step)
{
    const char *bug = getenv("DESIGN_BUG");

    if (bug == NULL) {
        return;
    }
    if (steps == 10 && strcmp(bug, "crash") == 0) {
        abort();
    }
    if (steps == 10 && strcmp(bug, "leave") == 0) {
        exit(0);
    }
    while (steps == 10 && strcmp(bug, "hang") == 0) {
    }
    for (size_t i = 0; i < step->event_count && steps >= strtoul(bug, NULL, 0); i++) {
        if (strtoul(bug, NULL, 0) != 0 && events[i].kind == FACET_DESIGN_WROTE) {
            events[i].value ^= 1;
            return;
        }
    }
}

/* A change of the machine, as the library tells it. */
static void tell(const struct facet_change *change, struct facet_design_step *step)
{
    const struct facet_core_desc *core = facet_machine_core(machine, change->core);
    struct facet_design_event event = {.size = change->size,
                                       .address = change->address,
                                       .value = change->new_value.lo,
                                       .upper = change->new_value.hi};

    switch (change->kind) {
    case FACET_CHANGE_RETIRE:
    case FACET_CHANGE_TRAP:
        step->core = change->core;
        step->pc = change->address;
        step->trapped = change->kind == FACET_CHANGE_TRAP;
        step->word = step->trapped ? 0 : (uint32_t)change->new_value.lo;
        step->cause = change->new_value.lo;
        step->trap_value = change->new_value.hi;
        return;
    case FACET_CHANGE_MEMORY:
        event.kind = FACET_DESIGN_STORED;
        event.name = change->index != 0 ? facet_machine_space_name(machine, change->index) : NULL;
        break;
    default:
        event.kind = FACET_DESIGN_WROTE;
        event.name = change->kind == FACET_CHANGE_REG ? core->regs[change->index].name
                                                      : core->csrs[change->index].name;
    }
    events[step->event_count++] = event;
}

static int step(struct facet_design_step *out, const char **why)
{
    struct facet_stop stop = {0};
    size_t count = 0;

    if (over) {
        return FACET_DESIGN_ENDED;
    }
    if (fails(facet_machine_step_changes(machine, changes, MOST, &count, &stop, &err), why)) {
        return FACET_DESIGN_FAILED;
    }
    if (count == 0) {
        return FACET_DESIGN_ENDED;
    }
    if (count > MOST) {
        *why = "one instruction writes more than this library has room for";
        return FACET_DESIGN_FAILED;
    }
    for (size_t i = 0; i < count; i++) {
        tell(&changes[i], out);
    }
    out->events = events;
    steps++;
    over = stop.reason == FACET_STOP_EXIT || stop.reason == FACET_STOP_FAULT;
    misbehave(out);
    return FACET_DESIGN_OK;
}

static int read_memory(uint64_t address, void *bytes, size_t size)
{
    return facet_machine_read(machine, 0, address, bytes, size, &err) == FACET_OK
               ? FACET_DESIGN_OK
               : FACET_DESIGN_FAILED;
}

const struct facet_design *facet_design(void)
{
    static const struct facet_design table = {.abi = FACET_DESIGN_ABI,
                                              .size = sizeof table,
                                              .begin = begin,
                                              .step = step,
                                              .read = read_memory,
                                              .end = end};

    return &table;
}
