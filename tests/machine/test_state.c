/* Every register and CSR of both machines through a snapshot: each gets a value of its own, a fresh
 * machine takes the snapshot, and all of them read the same there. A field that saving and loading
 * forget alike shows only so. */
#include "harness.h"

#include "facet/machine.h"
#include "facet/tile.h"
#include "facet/xphmg.h"

enum { MAX_VALUES = 16384, PLAIN_VALUES = 32 };

struct values {
    struct facet_value value[MAX_VALUES];
    unsigned count, set; /* read; not zero */
};

static struct facet_value random_value(unsigned bits)
{
    struct facet_value v = {harness_random(), bits > 64 ? harness_random() : 0};

    if (bits < 64) {
        v.lo &= (UINT64_C(1) << bits) - 1;
    }
    return v;
}

/* What cannot be written keeps what it holds. */
static void fill(facet_machine *m)
{
    for (uint32_t c = 0; c < facet_machine_core_count(m); c++) {
        const struct facet_core_desc *core = facet_machine_core(m, c);

        for (uint32_t i = 0; i < core->csr_count; i++) {
            (void)facet_machine_csr_write(m, c, i, random_value(core->csrs[i].width), NULL, NULL);
        }
        for (uint32_t i = 0; i < core->reg_count; i++) {
            (void)facet_machine_reg_write(m, c, i, random_value(core->regs[i].width), NULL);
        }
    }
}

static void note(struct values *out, enum facet_status status, struct facet_value v)
{
    if (status == FACET_OK && CHECK(out->count < MAX_VALUES)) {
        out->set += (v.lo | v.hi) != 0;
        out->value[out->count++] = v;
    }
}

static void read_all(const facet_machine *m, struct values *out)
{
    out->count = out->set = 0;
    for (uint32_t c = 0; c < facet_machine_core_count(m); c++) {
        const struct facet_core_desc *core = facet_machine_core(m, c);

        for (uint32_t i = 0; i < core->reg_count + core->csr_count; i++) {
            struct facet_value v = {0, 0};
            bool reg = i < core->reg_count;

            note(out,
                 reg ? facet_machine_reg_read(m, c, i, &v, NULL)
                     : facet_machine_csr_read(m, c, i - core->reg_count, &v, NULL),
                 v);
        }
    }
}

static void check_machines(facet_machine *a, facet_machine *b)
{
    static struct values before, after;
    struct facet_blob blob;

    fill(a);
    read_all(a, &before);
    CHECK(before.set > PLAIN_VALUES);
    CHECK_EQ(facet_machine_snapshot(a, &blob, NULL), FACET_OK);
    CHECK_EQ(facet_machine_restore(b, blob.data, blob.size, NULL), FACET_OK);
    read_all(b, &after);
    CHECK_EQ(after.count, before.count);
    for (unsigned i = 0; i < before.count && i < after.count; i++) {
        CHECK_MSG(before.value[i].lo == after.value[i].lo &&
                      before.value[i].hi == after.value[i].hi,
                  "value %u: 0x%" PRIx64 " became 0x%" PRIx64,
                  i,
                  before.value[i].lo,
                  after.value[i].lo);
    }
    facet_blob_free(&blob);
    facet_machine_destroy(a);
    facet_machine_destroy(b);
}

TEST(every_register_of_the_hart_survives_a_snapshot, "")
{
    for (unsigned round = 0; round < 8; round++) {
        const struct facet_xphmg_config config = {.harts = 2, .ram_bytes = 1 << 20};
        facet_machine *a = NULL, *b = NULL;

        CHECK_EQ(facet_xphmg_create(&config, &a, NULL), FACET_OK);
        CHECK_EQ(facet_xphmg_create(&config, &b, NULL), FACET_OK);
        check_machines(a, b);
    }
}

TEST(every_register_of_the_tile_card_survives_a_snapshot, "")
{
    for (unsigned round = 0; round < 8; round++) {
        const struct facet_tile_config config = {.vram = 1 << 20};
        facet_machine *a = NULL, *b = NULL;

        CHECK_EQ(facet_tile_create(&config, &a, NULL), FACET_OK);
        CHECK_EQ(facet_tile_create(&config, &b, NULL), FACET_OK);
        check_machines(a, b);
    }
}
