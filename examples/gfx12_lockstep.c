/* A ray on the gfx12 machine, instruction by instruction, beside a second machine with a fault.
 *
 *     gfx12_lockstep IMAGE OX OY OZ DX DY DZ                  the ray's instructions and its hit
 *     gfx12_lockstep IMAGE OX OY OZ DX DY DZ STEP REG BIT     before step STEP one bit of the
 * second machine's register flips
 *
 * IMAGE is a file of `facet bvh build`. Only the public headers are used; docs/gfx12.md has the
 * story. An RTL simulation takes the place of the second machine as in docs/lockstep.md. */
#include <facet/gfx12.h>
#include <facet/lockstep.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_SAME = 0, EXIT_DIFFERENT = 1, EXIT_BAD = 2, MOST_BYTES = 1 << 24 };

/* A machine with the image in its memory and the ray in its lane; NULL after a complaint. */
static facet_machine *make(const uint8_t *image, size_t size, const struct facet_gfx12_query *query)
{
    struct facet_gfx12_config config = {.image_bytes = size};
    struct facet_error err = {0};
    facet_machine *machine = NULL;

    if (facet_gfx12_create(&config, &machine, &err) != FACET_OK ||
        facet_machine_write(machine, 0, 0, image, size, &err) != FACET_OK ||
        facet_gfx12_start(machine, 0, query, &err) != FACET_OK) {
        fprintf(stderr, "gfx12_lockstep: %s\n", err.message);
        facet_machine_destroy(machine);
        machine = NULL;
    }
    return machine;
}

static bool flip(facet_machine *machine, const char *name, unsigned bit)
{
    uint32_t reg = facet_machine_find_reg(machine, 0, name);
    struct facet_value value;
    struct facet_error err = {0};

    if (facet_machine_reg_read(machine, 0, reg, &value, &err) == FACET_OK) {
        value.lo ^= UINT64_C(1) << (bit & 63);
        if (facet_machine_reg_write(machine, 0, reg, value, &err) == FACET_OK) {
            return true;
        }
    }
    fprintf(stderr, "gfx12_lockstep: %s, bit %u: %s\n", name, bit, err.message);
    return false;
}

/* One line for the instruction that comes next. */
static void show(const facet_machine *machine)
{
    uint32_t pc = facet_machine_core(machine, 0)->pc;
    struct facet_value value;
    char text[160];

    (void)facet_machine_reg_read(machine, 0, pc, &value, NULL);
    (void)facet_machine_disassemble(machine, 0, value.lo, text, sizeof text, NULL);
    printf("%4" PRIu64 "  %s\n", facet_machine_steps(machine), text);
}

static void
print_side(const char *name, const facet_machine *m, bool has, const struct facet_change *change)
{
    char text[200] = "nothing";

    if (has) {
        (void)facet_change_print(m, change, text, sizeof text);
    }
    printf("  %s  %s\n", name, text);
}

/* Steps both until they differ or the ray has ended. */
static int compare(facet_machine *a, facet_machine *b, uint64_t at, const char *reg, unsigned bit)
{
    struct facet_divergence d = {.stop_a = {.reason = FACET_STOP_BUDGET}};
    struct facet_gfx12_lane lane;

    while (!d.found && d.stop_a.reason == FACET_STOP_BUDGET) {
        if (reg != NULL && facet_machine_steps(b) == at && !flip(b, reg, bit)) {
            return EXIT_BAD;
        }
        show(a);
        if (facet_lockstep_run(a, b, 1, &d, NULL) != FACET_OK) {
            return EXIT_BAD;
        }
    }
    if (d.found) {
        printf("differs\n");
        print_side("a", a, d.has_a, &d.a);
        print_side("b", b, d.has_b, &d.b);
        return EXIT_DIFFERENT;
    }
    (void)facet_gfx12_read_lane(a, 0, &lane, NULL);
    printf("%s after %" PRIu64 " nodes", lane.hit.found ? "hit" : "no hit", lane.stats.steps);
    if (lane.hit.found) {
        printf(": t %g, primitive %" PRIu32, (double)lane.hit.t, lane.hit.primitive_index);
    }
    printf("\n");
    return EXIT_SAME;
}

int main(int argc, char **argv)
{
    static uint8_t image[MOST_BYTES];
    struct facet_gfx12_query query;
    float ray[6];
    facet_machine *a, *b;
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    size_t size = file != NULL ? fread(image, 1, sizeof image, file) : 0;
    int code = EXIT_BAD;

    if (file != NULL) {
        (void)fclose(file);
    }
    if ((argc != 8 && argc != 11) || size == 0) {
        fprintf(stderr, "usage: gfx12_lockstep IMAGE OX OY OZ DX DY DZ [STEP REGISTER BIT]\n");
        return EXIT_BAD;
    }
    for (int i = 0; i < 6; i++) {
        ray[i] = strtof(argv[2 + i], NULL);
    }
    facet_gfx12_query_init(&query, ray, ray + 3);
    a = make(image, size, &query);
    b = a != NULL ? make(image, size, &query) : NULL;
    if (b != NULL) {
        code = argc == 8 ? compare(a, b, 0, NULL, 0)
                         : compare(a,
                                   b,
                                   strtoull(argv[8], NULL, 0),
                                   argv[9],
                                   (unsigned)strtoul(argv[10], NULL, 0));
    }
    facet_machine_destroy(a);
    facet_machine_destroy(b);
    return code;
}
