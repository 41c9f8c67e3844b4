/* Two machines in lockstep: the first step in which they differ.
 *
 *     lockstep PROGRAM                  cached executor against the plain one
 *     lockstep PROGRAM STEP REG BIT     the same, and before step STEP one bit of the second
 *                                       machine's register flips, as a fault would
 *
 * Only the public headers are used. To compare an RTL simulation, keep the first machine and
 * take the second one's changes from the simulator instead: facet_machine_step_changes gives those
 * of one step, facet_changes_compare finds the difference. docs/lockstep.md has the story. */
#include <facet/lockstep.h>
#include <facet/xphmg.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_SAME = 0, EXIT_DIFFERENT = 1, EXIT_BAD = 2 };

static void *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    long end = -1;

    if (file != NULL && fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) >= 0) {
        rewind(file);
        bytes = malloc((size_t)end + 1);
        if (bytes != NULL && fread(bytes, 1, (size_t)end, file) != (size_t)end) {
            free(bytes);
            bytes = NULL;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    *size = end >= 0 ? (size_t)end : 0;
    return bytes;
}

/* A machine with the program loaded; NULL after a complaint. */
static facet_machine *make(const char *path, bool plain)
{
    struct facet_xphmg_config config = {.plain = plain};
    struct facet_error err = {0};
    facet_machine *machine = NULL;
    size_t size;
    void *bytes = read_file(path, &size);

    if (bytes == NULL) {
        fprintf(stderr, "lockstep: %s: cannot be read\n", path);
        return NULL;
    }
    if (facet_xphmg_create(&config, &machine, &err) != FACET_OK ||
        facet_xphmg_load_elf(machine, bytes, size, &err) != FACET_OK) {
        fprintf(stderr, "lockstep: %s: %s\n", path, err.message);
        facet_machine_destroy(machine);
        machine = NULL;
    }
    free(bytes);
    return machine;
}

static bool flip(facet_machine *machine, const char *name, unsigned bit)
{
    uint32_t reg = facet_machine_find_reg(machine, 0, name);
    struct facet_value value;

    if (facet_machine_reg_read(machine, 0, reg, &value, NULL) != FACET_OK || bit > 63) {
        fprintf(stderr, "lockstep: %s, bit %u: expected a register and 0..63\n", name, bit);
        return false;
    }
    value.lo ^= UINT64_C(1) << bit;
    return facet_machine_reg_write(machine, 0, reg, value, NULL) == FACET_OK;
}

static void
print_side(const char *name, const facet_machine *m, bool has, const struct facet_change *change)
{
    char text[200];

    if (has) {
        (void)facet_change_print(m, change, text, sizeof text);
    }
    printf("  %s  %s\n", name, has ? text : "nothing");
}

/* Steps both until they differ, one ends, or the budget is spent. */
static int compare(facet_machine *a, facet_machine *b, uint64_t budget, bool last)
{
    struct facet_divergence d;
    struct facet_error err = {0};

    if (facet_lockstep_run(a, b, budget, &d, &err) != FACET_OK) {
        fprintf(stderr, "lockstep: %s\n", err.message);
        return EXIT_BAD;
    }
    if (!d.found) {
        if (last) {
            printf("no difference in %" PRIu64 " steps: %s\n",
                   facet_machine_steps(a),
                   facet_stop_name(d.stop_a.reason));
        }
        return EXIT_SAME;
    }
    printf("step %" PRIu64 " differs\n", facet_machine_steps(a) - 1);
    if (d.has_a || d.has_b) {
        print_side("a", a, d.has_a, &d.a);
        print_side("b", b, d.has_b, &d.b);
    } else { /* the same changes, but only one of them ended */
        printf("  a  %s\n", facet_stop_name(d.stop_a.reason));
        printf("  b  %s\n", facet_stop_name(d.stop_b.reason));
    }
    return EXIT_DIFFERENT;
}

int main(int argc, char **argv)
{
    facet_machine *a, *b;
    int code = EXIT_BAD;

    if (argc != 2 && argc != 5) {
        fprintf(stderr, "usage: lockstep PROGRAM [STEP REGISTER BIT]\n");
        return EXIT_BAD;
    }
    a = make(argv[1], false);
    b = a != NULL ? make(argv[1], true) : NULL;
    if (b != NULL && argc == 2) {
        code = compare(a, b, UINT64_MAX, true);
    } else if (b != NULL) {
        code = compare(a, b, strtoull(argv[2], NULL, 0), false);
        if (code == EXIT_SAME) {
            code = flip(b, argv[3], (unsigned)strtoul(argv[4], NULL, 0))
                       ? compare(a, b, UINT64_MAX, true)
                       : EXIT_BAD;
        }
    }
    facet_machine_destroy(a);
    facet_machine_destroy(b);
    return code;
}
