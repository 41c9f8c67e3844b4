/* What the documents name and nothing defines: no instruction, and no discovery bit that promises
 * one (R-GFX-69, R-RT-55, R-RT-56). */
#include "xphmg/guest.h"

#include "isa/isa.h"

#include <string.h>

static const char *const configs[] = {"full", "min", "prof"};

static bool named(const char *mnemonic)
{
    size_t from = 0;

    return facet_isa_find(FACET_ISA_XPHMG, mnemonic, strlen(mnemonic), &from) != NULL;
}

TEST(no_image_instructions_and_none_advertised, "GFX-392")
{
    for (unsigned c = 0; c < 3; c++) {
        struct guest *g = guest_make(configs[c]);

        CHECK_EQ(guest_csrr(g, FACET_CSR_CAP_PREC_IMG), 0);
        CHECK_EQ(guest_csrr(g, FACET_CSR_CAP_FEAT0) & FACET_CAP_FEAT0_IMG_ATOMICS, 0);
        guest_csrw(g, FACET_CSR_CAP_PREC_IMG, UINT64_MAX);
        CHECK_EQ(guest_csrr(g, FACET_CSR_CAP_PREC_IMG), 0);
        guest_free(g);
    }
    for (const char *const *name =
             (const char *const[]){
                 "gfx.img.ld", "gfx.img.st", "gfx.img.atom", "gfx.load", "gfx.store", NULL};
         *name != NULL;
         name++) {
        CHECK(!named(*name));
    }
}

TEST(no_node_prefetch_but_a_prefetch, "RT-296")
{
    struct guest *g = guest_make("full");
    const uint64_t bytes = UINT64_C(64) << guest_csrr(g, FACET_CSR_CAP_HINT_BVHGR);
    uint64_t before[32];

    CHECK(named("rt.bbox") && !named("ray.node.prefetch"));
    for (uint32_t word = 0x0B; word < UINT32_C(0x100000); word += 0x80) {
        for (unsigned imm = 0; imm < 4096; imm += 0x55) { /* every third, with all bits in turn */
            const struct facet_insn_row *row =
                facet_isa_decode(FACET_ISA_XPHMG, word | (uint32_t)imm << 20);

            if ((word >> 12 & 7) >= 6 && row != NULL) {
                const char *want = (word >> 12 & 7) == 6 ? "rt.bbox" : "rt.tri";

                CHECK_STR(row->mnemonic, want);
            }
        }
    }
    for (unsigned k = 0; k < bytes; k += 8) {
        guest_store(g, GUEST_DATA + k, 8, ~(uint64_t)k);
    }
    g->hart->x[10] = GUEST_DATA;
    g->hart->x[11] = bytes;
    memcpy(before, g->hart->x, sizeof before);
    guest_ok(g, "xmem.pref (a0), a1\n");
    CHECK(memcmp(before, g->hart->x, sizeof before) == 0);
    for (unsigned k = 0; k < bytes; k += 8) {
        CHECK_EQ(guest_load(g, GUEST_DATA + k, 8), ~(uint64_t)k);
    }
    guest_free(g);
}

TEST(no_payloads_are_advertised, "RT-297")
{
    static const uint64_t want[3] = {0x2AC, 0x22C, 0x2AC};

    for (unsigned c = 0; c < 3; c++) {
        struct guest *g = guest_make(configs[c]);

        CHECK_EQ(guest_csrr(g, FACET_CSR_CAP_PREC_RT), want[c]);
        guest_free(g);
    }
}
