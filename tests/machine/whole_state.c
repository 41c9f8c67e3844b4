/* See whole_state.h. */
#include "machine/whole_state.h"

#include "harness.h"

#include <stdlib.h>

/* Random, with no more bits than the place has. */
static struct facet_value value_of(unsigned width)
{
    const struct facet_value v = {harness_random(), harness_random()};

    return (struct facet_value){width < 64 ? v.lo & ((UINT64_C(1) << width) - 1) : v.lo,
                                width <= 64    ? 0
                                : width == 128 ? v.hi
                                               : v.hi & ((UINT64_C(1) << (width - 64)) - 1)};
}

static void fill(facet_machine *m)
{
    for (uint32_t c = 0; c < facet_machine_core_count(m); c++) {
        const struct facet_core_desc *core = facet_machine_core(m, c);

        for (uint32_t i = 0; i < core->csr_count; i++) {
            (void)facet_machine_csr_write(m, c, i, value_of(core->csrs[i].width), NULL, NULL);
        }
        for (uint32_t i = 0; i < core->reg_count; i++) {
            if (i != core->pc) {
                (void)facet_machine_reg_write(m, c, i, value_of(core->regs[i].width), NULL);
            }
        }
    }
}

/* Registers, then CSRs, core by core; `name` is that of value `at`. */
static size_t
read_all(const facet_machine *m, struct facet_value *out, size_t at, const char **name)
{
    size_t n = 0;

    for (uint32_t c = 0; c < facet_machine_core_count(m); c++) {
        const struct facet_core_desc *core = facet_machine_core(m, c);

        for (uint32_t i = 0; i < core->reg_count + core->csr_count; i++, n++) {
            const uint32_t csr = i - core->reg_count;
            struct facet_value value = {0, 0};

            if (i < core->reg_count) {
                (void)facet_machine_reg_read(m, c, i, &value, NULL);
            } else {
                (void)facet_machine_csr_read(m, c, csr, &value, NULL);
            }
            if (out != NULL) {
                out[n] = value;
            } else if (n == at) {
                *name = i < core->reg_count ? core->regs[i].name : core->csrs[csr].name;
            }
        }
    }
    return n;
}

static bool equal(struct facet_value a, struct facet_value b)
{
    return a.lo == b.lo && a.hi == b.hi;
}

void check_whole_state(facet_machine *m)
{
    const size_t count = read_all(m, NULL, 0, &(const char *){NULL});
    struct facet_value *first = calloc(count, sizeof *first), *other = calloc(count, sizeof *other);
    struct facet_blob saved = {NULL, 0};
    size_t changed = 0;

    fill(m);
    (void)read_all(m, first, 0, NULL);
    CHECK(facet_machine_snapshot(m, &saved, NULL) == FACET_OK);
    facet_machine_reset(m);
    fill(m);
    (void)read_all(m, other, 0, NULL);
    for (size_t i = 0; i < count; i++) {
        changed += !equal(first[i], other[i]);
    }
    CHECK_MSG(changed * 3 > count, "only %zu of %zu values differ", changed, count);
    CHECK(facet_machine_restore(m, saved.data, saved.size, NULL) == FACET_OK);
    (void)read_all(m, other, 0, NULL);
    for (size_t i = 0; i < count; i++) {
        if (!equal(first[i], other[i])) {
            const char *name = "";

            (void)read_all(m, NULL, i, &name);
            CHECK_MSG(false, "%s is 0x%" PRIx64 ", was 0x%" PRIx64, name, other[i].lo, first[i].lo);
        }
    }
    facet_blob_free(&saved);
    free(first);
    free(other);
}
