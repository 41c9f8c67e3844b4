/* A design checked against Facet: what an RTL harness does, with a second machine in place of the
 * RTL.
 *
 *     cosim PROGRAM            no difference
 *     cosim PROGRAM BUG        the design breaks: "carry", "store" or "wrong"
 *
 * The design has its own clock, a device at 0x30000000 and an external interrupt that it takes when
 * it likes. The session (facet/cosim.h) hears what it writes and follows. docs/lockstep.md has the
 * story, examples/rtl the same with a core in SystemVerilog. */
#include <facet/cosim.h>
#include <facet/xphmg.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICE = 0x30000000, LIMIT = 100000, MAX_CHANGES = 64 };

static void check(enum facet_status status, const struct facet_error *err)
{
    if (status != FACET_OK) {
        fprintf(stderr, "cosim: %s\n", err->message);
        exit(2);
    }
}

static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(1 << 20);

    *size = file != NULL && bytes != NULL ? fread(bytes, 1, 1 << 20, file) : 0;
    if (*size == 0) {
        fprintf(stderr, "cosim: %s: cannot be read\n", path);
        exit(2);
    }
    (void)fclose(file);
    return bytes;
}

/* The device gives another number at every read; nobody but the design has it. */
static bool device_read(void *context, uint64_t offset, uint32_t size, uint64_t *value)
{
    uint64_t *state = context;

    (void)offset, (void)size;
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    *value = *state >> 16;
    return true;
}

static facet_machine *make(const char *elf, size_t size, uint32_t instructions_per_tick)
{
    struct facet_xphmg_config config = {.instructions_per_tick = instructions_per_tick};
    struct facet_error err = {0};
    facet_machine *machine = NULL;

    check(facet_xphmg_create(&config, &machine, &err), &err);
    check(facet_xphmg_load_elf(machine, elf, size, &err), &err);
    return machine;
}

/* What an RTL harness takes from the core's ports. */
struct design {
    facet_machine *machine;
    const char *bug;
    unsigned age; /* steps since the interrupt was raised; 0: it is not */
    struct facet_change changes[MAX_CHANGES];
    size_t count;
};

/* The line, for both: raised now and then, lowered when the design has taken it. The design takes
 * it some steps after it could. */
static void drive_line(struct design *d, facet_machine *reference, uint64_t step)
{
    bool raise = d->age == 0 && step % 97 == 96;
    struct facet_error err = {0};

    if (raise) {
        check(
            facet_xphmg_set_line(d->machine, 0, FACET_XPHMG_EXTERNAL, FACET_XPHMG_LEVEL_HIGH, &err),
            &err);
        if (strcmp(d->bug, "wrong") != 0) { /* else the design takes what nobody has raised */
            check(facet_xphmg_set_line(
                      reference, 0, FACET_XPHMG_EXTERNAL, FACET_XPHMG_LEVEL_HIGH, &err),
                  &err);
        }
    }
    d->age = raise || d->age != 0 ? d->age + 1 : 0;
    if (d->age > 5 &&
        facet_xphmg_take(
            d->machine, 0, FACET_XPHMG_INTERRUPT | FACET_XPHMG_EXTERNAL, 0, false, NULL) ==
            FACET_OK) {
        d->age = 0;
    }
}

static void lower_line(struct design *d, facet_machine *reference)
{
    (void)facet_xphmg_set_line(d->machine, 0, FACET_XPHMG_EXTERNAL, FACET_XPHMG_LEVEL_OWN, NULL);
    (void)facet_xphmg_set_line(reference, 0, FACET_XPHMG_EXTERNAL, FACET_XPHMG_LEVEL_OWN, NULL);
}

/* What goes wrong in the design's write-back. */
static void break_design(struct design *d, uint64_t step)
{
    for (size_t i = 0; i < d->count; i++) {
        struct facet_change *change = &d->changes[i];

        if (change->kind == FACET_CHANGE_REG && strcmp(d->bug, "carry") == 0 && step > 1000 &&
            (change->new_value.lo & 0xFFFFFFFF) < 0x1000000) {
            change->new_value.lo ^= UINT64_C(1) << 32;
        } else if (change->kind == FACET_CHANGE_MEMORY && strcmp(d->bug, "store") == 0 &&
                   step > 1000) {
            change->size = 4; /* the upper half is lost */
            change->new_value.lo &= 0xFFFFFFFF;
        }
    }
}

int main(int argc, char **argv)
{
    struct facet_cosim_config config = {.window = 3, .snapshot_every = 500};
    struct design d = {.bug = argc > 2 ? argv[2] : ""};
    uint64_t device_state = 1, step;
    struct facet_device device = {.context = &device_state, .read = device_read};
    enum facet_cosim_result result = FACET_COSIM_SAME;
    struct facet_error err = {0};
    struct facet_stop stop;
    facet_cosim *cosim = NULL;
    char *elf;
    size_t size;

    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: cosim PROGRAM [carry|store|wrong]\n");
        return 2;
    }
    elf = read_file(argv[1], &size);
    d.machine = make(elf, size, 7);
    check(facet_machine_add_device(d.machine, "device", DEVICE, 8, &device, &err), &err);
    check(facet_xphmg_wait_for_told(d.machine, true, &err), &err);
    check(facet_cosim_create(make(elf, size, 100), &config, &cosim, &err), &err);
    check(facet_cosim_symbols(cosim, elf, size, &err), &err);
    /* This design has no port for CSRs and for the privilege mode. */
    check(facet_lockstep_filter_ignore(facet_cosim_filter(cosim), "csr", &err), &err);
    check(facet_lockstep_filter_ignore(facet_cosim_filter(cosim), "priv", &err), &err);

    for (step = 0; step < LIMIT && result == FACET_COSIM_SAME; step++) {
        drive_line(&d, facet_cosim_machine(cosim), step);
        check(facet_machine_step_changes(d.machine, d.changes, MAX_CHANGES, &d.count, &stop, &err),
              &err);
        break_design(&d, step);
        /* A load from the device: the reference has none, and gets what the design read. */
        if ((d.changes[0].new_value.lo & 0x7F) == 0x03 && d.count > 1) {
            check(facet_xphmg_next_load(facet_cosim_machine(cosim),
                                        0,
                                        DEVICE,
                                        DEVICE + 7,
                                        d.changes[1].new_value.lo,
                                        &err),
                  &err);
        }
        check(facet_cosim_step(cosim, d.changes, d.count, &result, &err), &err);
        (void)facet_xphmg_given(facet_cosim_machine(cosim), 0, true, NULL, NULL);
        if (d.changes[0].kind == FACET_CHANGE_TRAP) {
            lower_line(&d, facet_cosim_machine(cosim));
        }
    }
    if (result == FACET_COSIM_DIFFERENT) {
        printf("%s", facet_cosim_report(cosim));
    } else {
        printf("no difference in %" PRIu64 " steps\n", facet_cosim_steps(cosim));
    }
    facet_cosim_destroy(cosim);
    facet_machine_destroy(d.machine);
    free(elf);
    return result == FACET_COSIM_DIFFERENT ? 1 : 0;
}
