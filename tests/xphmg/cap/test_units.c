/* The units as a debugger, a trace and a snapshot see them; and profiles, which the host switches.
 */
#include "xphmg/guest.h"

#include "machine/state.h"
#include "xphmg/hart/csr_file.h"
#include "xphmg/units/vendor.h"

#include <stdlib.h>

#define APPLY (UINT64_C(1) << 63)

/* ---- changes --------------------------------------------------------------------------------- */

struct seen {
    struct facet_units_change list[64];
    unsigned count;
};

static void see(void *context, const struct facet_units_change *change)
{
    struct seen *seen = context;

    if (CHECK(seen->count < 64)) {
        seen->list[seen->count++] = *change;
    }
}

/* Runs text and collects what changed. */
static struct seen changes_of(struct guest *g, const char *text)
{
    struct facet_units old = g->hart->units;
    struct facet_xmem old_xmem = *g->xmem;
    struct seen seen = {.count = 0};

    guest_ok(g, "%s", text);
    facet_units_changes(&old, &old_xmem, &g->hart->units, g->xmem, see, &seen);
    return seen;
}

static bool has(const struct seen *seen,
                enum facet_change_kind kind,
                unsigned number,
                uint64_t old,
                uint64_t value)
{
    for (unsigned i = 0; i < seen->count; i++) {
        const struct facet_units_change *c = &seen->list[i];

        if (c->kind == kind && c->number == number && c->old == old && c->value == value) {
            return true;
        }
    }
    return false;
}

TEST(every_change_is_reported_with_both_values, "CAP-445 CAP-456")
{
    struct guest *g = guest_make("full");
    struct seen seen = changes_of(g, "add x1, x2, x3\n csrr t0, 0x7D2\n fmv.w.x f1, x0\n");

    CHECK_EQ(seen.count, 0);
    g->hart->x[5] = UINT64_C(0x8000000000300008);
    seen = changes_of(g, "csrw 0x7D0, t0\n"); /* MODE, and STAT follows */
    CHECK_EQ(seen.count, 2);
    CHECK(has(&seen, FACET_CHANGE_CSR, 0x7D0, 0x80000, 0x300008));
    CHECK(has(&seen, FACET_CHANGE_CSR, 0x7D2, 0x04000000, 0x18000800));
    g->hart->x[5] = UINT64_C(0x300000); /* staged: SMODE alone shows it */
    seen = changes_of(g, "csrw 0x7D0, t0\n");
    CHECK_ID("CAP-526", seen.count == 1);
    CHECK_ID("CAP-526", has(&seen, FACET_CHANGE_CSR, 0x7DA0, 0, APPLY | 0x300000));
    seen = changes_of(g, "svsetvl x0, 7\n svon.fpctl rc=RUP, sae=1, z=0\n");
    CHECK_EQ(seen.count, 1);
    CHECK(has(&seen, FACET_CHANGE_CSR, 0x7F8, 0, 6 | 1 << 21 | 3 << 22 | 1 << 25));
    g->hart->x[5] = 0x7D83;
    g->hart->x[6] = 0x0102030405060708;
    seen = changes_of(g, "csrw 0x840, t0\n csrw 0x841, t1\n");
    CHECK_EQ(seen.count, 2);
    CHECK(has(&seen, FACET_CHANGE_CSR, 0x840, 0, 0x7D83));
    CHECK(has(&seen, FACET_CHANGE_CSR, 0x7D83, 0, 0x0102030405060708));
    g->hart->x[5] = 0x42; /* bank 2, word 4 */
    seen = changes_of(g, "csrw 0x831, t0\n csrw 0x833, t1\n csrw 0x834, t1\n csrw 0x832, t1\n");
    CHECK_EQ(seen.count, 3); /* MTX2 has no word 4 */
    CHECK(has(&seen, FACET_CHANGE_CSR, 0x831, 0, 0x42));
    CHECK(has(&seen, FACET_CHANGE_MTX, facet_change_mtx(0x833, 2, 4), 0, 0x0102030405060708));
    CHECK(has(&seen, FACET_CHANGE_MTX, facet_change_mtx(0x834, 2, 4), 0, 0x0102030405060708));
    guest_free(g);
}

/* Every readable register reports its own change and no other's. */
TEST(each_piece_of_state_has_its_own_number, "CAP-030")
{
    struct guest *g = guest_make("full");
    struct facet_units units = g->hart->units, old = units;
    struct facet_xmem xmem = *g->xmem, old_xmem = xmem;

#define ONE_CHANGE(where, kind, number, value)                                                     \
    do {                                                                                           \
        struct seen seen = {.count = 0};                                                           \
        where = value;                                                                             \
        facet_units_changes(&old, &old_xmem, &units, &xmem, see, &seen);                           \
        CHECK_EQ(seen.count, 1);                                                                   \
        CHECK(has(&seen, kind, number, 0, value));                                                 \
        units = old;                                                                               \
        xmem = old_xmem;                                                                           \
    } while (0)

    for (unsigned n = 0x7E2; n <= 0x7F5; n++) {
        unsigned count;
        uint64_t *word = facet_hart_csr_storage(&units, facet_csr_at(FACET_ISA_XPHMG, n), &count);

        if (n != 0x7EF) { /* kept free */
            ONE_CHANGE(*word, FACET_CHANGE_CSR, n, n);
        }
    }
    ONE_CHANGE(units.cap.prec.exc_en, FACET_CHANGE_CSR, 0x7D3, 5);
    ONE_CHANGE(units.cap.prec.exc_st, FACET_CHANGE_CSR, 0x7D4, 5);
    ONE_CHANGE(units.cap.prec.image[1], FACET_CHANGE_CSR, 0x7D1, 5);
    ONE_CHANGE(units.rsv.svstate, FACET_CHANGE_CSR, 0x7F8, 5);
    ONE_CHANGE(units.rsv.svsrca, FACET_CHANGE_CSR, 0x7F9, 5);
    ONE_CHANGE(units.rsv.svsrcb, FACET_CHANGE_CSR, 0x7FA, 5);
    ONE_CHANGE(units.rsv.svdst, FACET_CHANGE_CSR, 0x7FB, 5);
    ONE_CHANGE(units.rsv.svfaulti, FACET_CHANGE_CSR, 0x7FF, 5);
    ONE_CHANGE(units.mtx.cfg, FACET_CHANGE_CSR, 0x830, 5);
    ONE_CHANGE(units.mtx.stat, FACET_CHANGE_CSR, 0x836, 5);
    ONE_CHANGE(units.pmask.p0, FACET_CHANGE_P0, 0, 1);
    for (unsigned bank = 1; bank < 4; bank++) {
        ONE_CHANGE(units.pmask.bank[bank], FACET_CHANGE_BANK, bank, 9);
        ONE_CHANGE(
            units.mtx.bank[bank].mtx2[8], FACET_CHANGE_MTX, facet_change_mtx(0x832, bank, 1), 3);
        ONE_CHANGE(
            units.mtx.bank[bank].bias[0], FACET_CHANGE_MTX, facet_change_mtx(0x835, bank, 0), 3);
    }
    for (unsigned n = 0; n < 32; n++) {
        ONE_CHANGE(units.cap.zptab[8 * n], FACET_CHANGE_CSR, 0x7D80 + n, 4);
        ONE_CHANGE(xmem.tokens[n], FACET_CHANGE_CSR, 0x7E80 + n, 4);
    }
    ONE_CHANGE(xmem.lock_count, FACET_CHANGE_CSR, 0x7EA9, 4);
    guest_free(g);
}

/* ---- snapshots ------------------------------------------------------------------------------- */

static void scramble(struct guest *g)
{
    static const unsigned numbers[] = {0x7D3, 0x7E2, 0x7E3, 0x7E4, 0x7E5, 0x7E6, 0x7E7, 0x7E8,
                                       0x7E9, 0x7EA, 0x7EB, 0x7EC, 0x7ED, 0x7F0, 0x7F1, 0x7F2,
                                       0x7F3, 0x7F4, 0x7F5, 0x7F9, 0x7FA, 0x7FB, 0x7FF, 0x830};

    guest_csrw(g, 0x7D0, APPLY | (harness_random() & ~UINT64_C(0x20000000)));
    guest_csrw(g, 0x7D1, APPLY | harness_random());
    guest_csrw(g, 0x7D0, harness_random() & ~APPLY); /* staged */
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        guest_csrw(g, numbers[i], harness_random());
    }
    for (unsigned i = 0; i < 32; i++) {
        guest_indirect_write(g, 0x7D80 + i, harness_random());
        g->xmem->tokens[i] = (uint32_t)harness_random();
        guest_csrw(g, 0x831, i | (uint64_t)(i & 7) << 4);
        guest_csrw(g, 0x832 + i % 4, harness_random());
    }
    for (unsigned bank = 1; bank < 4; bank++) {
        g->hart->units.pmask.bank[bank] = harness_random();
    }
    g->hart->units.pmask.p0 = true;
    g->hart->units.mtx.stat = harness_random();
    g->hart->units.cap.prec.exc_st = harness_random() & 0x7F;
    facet_cap_event(g->hart, harness_random());
    g->xmem->blocks[0] = (struct facet_lds_block){64, 128, 1, 0, 15, 2};
    g->xmem->blocks[1] = (struct facet_lds_block){0x4000, 0xC000, 3, 1, 2, 0};
    g->xmem->block_count = 2;
    g->xmem->ticket_mtx = 12;
    g->xmem->locks[0] = 0x80000040;
    g->xmem->lock_count = 1;
    guest_csrw(g, 0x7F8, harness_random()); /* last: EN would repeat nothing but may be set */
}

static void save(struct guest *g, struct facet_strbuf *out)
{
    struct facet_state_io io = facet_state_saver(out);

    facet_units_visit(&g->hart->units, &io);
    facet_xmem_visit(g->xmem, &io);
    CHECK(facet_state_done(&io));
}

static bool load(struct guest *g, const void *data, size_t size, struct facet_error *err)
{
    struct facet_state_io io = facet_state_loader(data, size, 0, err);
    struct facet_units units = {.config = g->hart->units.config};
    struct facet_xmem *xmem = malloc(sizeof *xmem);
    bool ok;

    memset(xmem, 0xA5, sizeof *xmem);
    facet_units_visit(&units, &io);
    facet_xmem_visit(xmem, &io);
    ok = facet_state_done(&io);
    if (ok) {
        g->hart->units = units;
        *g->xmem = *xmem;
    }
    free(xmem);
    return ok;
}

TEST(a_snapshot_brings_back_every_register_and_the_staged_image,
     "CAP-030 CAP-445 CAP-446 CAP-456 CAP-457 CAP-165")
{
    struct guest *a = guest_make("full"), *b = guest_make("full"), *prof = guest_make("prof");
    struct facet_strbuf bytes = {0}, again = {0}, other = {0};
    struct facet_error err = {0};

    for (unsigned round = 0; round < 20; round++) {
        struct seen seen = {.count = 0};

        scramble(a);
        bytes.length = 0;
        save(a, &bytes);
        CHECK_MSG(load(b, bytes.text, bytes.length, &err), "%s", err.message);
        facet_units_changes(&a->hart->units, a->xmem, &b->hart->units, b->xmem, see, &seen);
        CHECK_EQ(seen.count, 0);
        for (unsigned number = 0x7C0; number < 0x838; number++) {
            CHECK_EQ(guest_csr(a, number), guest_csr(b, number));
        }
        again.length = 0;
        save(b, &again);
        CHECK_EQ(again.length, bytes.length);
        CHECK(memcmp(again.text, bytes.text, bytes.length) == 0);
        /* Both go on alike: the staged image commits, the same instructions follow. */
        for (unsigned side = 0; side < 2; side++) {
            struct guest *g = side == 0 ? a : b;

            for (unsigned r = 1; r < 32; r++) {
                g->hart->x[r] = r;
                g->hart->f[r] = UINT64_C(0xFFFFFFFF3F800000) + r;
            }
            g->hart->x[5] = APPLY;
            (void)guest_run(g, "csrs 0x7D0, t0\n fmul.s f4, f5, f6\n add x9, x10, x11\n");
        }
        CHECK(memcmp(a->hart->x, b->hart->x, sizeof a->hart->x) == 0);
        CHECK(memcmp(a->hart->f, b->hart->f, sizeof a->hart->f) == 0);
        CHECK_EQ(guest_csr(a, 0x7D0), guest_csr(b, 0x7D0));
        CHECK_EQ(guest_csr(a, 0x7D2), guest_csr(b, 0x7D2));
        a->hart->units.rsv.svstate = b->hart->units.rsv.svstate = 0;
        a->hart->priv = b->hart->priv = FACET_PRIV_M;
    }
    save(prof, &other); /* profiles add no state */
    guest_reset(a);
    bytes.length = 0;
    save(a, &bytes);
    CHECK_EQ(other.length, bytes.length);
    facet_strbuf_free(&bytes);
    facet_strbuf_free(&again);
    facet_strbuf_free(&other);
    guest_free(a);
    guest_free(b);
    guest_free(prof);
}

TEST(a_trapped_instruction_replays_from_its_snapshot, "CAP-457 CAP-030 CAP-459")
{
    struct guest *g = guest_make("full"), *replay = guest_make("full");
    struct facet_strbuf bytes = {0};
    struct facet_error err = {0};
    struct facet_trap first, second;

    g->hart->f[1] = g->hart->f[2] = UINT64_C(0xFFFFFFFF7F7FFFFF);
    guest_csrw(g, 0x7D3, 4);
    guest_csrw(g, 0x7D0, APPLY | 0x80000);
    guest_ok(g, "svon.one\n");
    save(g, &bytes);
    first = guest_run(g, "fmul.s f3, f1, f2\n");
    CHECK(load(replay, bytes.text, bytes.length, &err));
    replay->hart->f[1] = replay->hart->f[2] = UINT64_C(0xFFFFFFFF7F7FFFFF);
    CHECK_EQ(guest_csrr(replay, 0x7D2), 0x04000020); /* IE_MASK as it was latched */
    second = guest_run(replay, "fmul.s f3, f1, f2\n");
    CHECK(first.taken && second.taken);
    CHECK_EQ(first.tval, second.tval);
    CHECK_EQ(guest_csrr(g, 0x7D4), guest_csrr(replay, 0x7D4));
    CHECK_EQ(guest_csrr(g, 0x7F8), guest_csrr(replay, 0x7F8));
    CHECK_EQ(guest_csrr(g, 0x7FF), guest_csrr(replay, 0x7FF));
    facet_strbuf_free(&bytes);
    guest_free(g);
    guest_free(replay);
}

/* What no program can reach is refused, and nothing is taken over. */
TEST(a_damaged_snapshot_is_refused, "")
{
    struct guest *g = guest_make("full");
    struct facet_strbuf good = {0}, bad = {0}, kept = {0};
    struct facet_error err = {0};
    unsigned refused = 0;

    scramble(g);
    g->hart->units.rsv.svstate = 0;
    save(g, &good);
    for (size_t cut = 0; cut < good.length; cut += 1 + cut / 16) {
        CHECK(!load(g, good.text, cut, &err));
    }
    for (unsigned round = 0; round < 4000; round++) {
        size_t at = harness_random() % good.length;

        bad.length = 0;
        facet_strbuf_add(&bad, good.text, good.length);
        bad.text[at] = (char)(bad.text[at] ^ 1 << harness_random() % 8);
        if (load(g, bad.text, bad.length, &err)) { /* then it is a state like any other */
            kept.length = 0;
            save(g, &kept);
            CHECK_EQ(kept.length, bad.length);
            CHECK(memcmp(kept.text, bad.text, bad.length) == 0);
            (void)guest_run(g, "svon.one\n fmul.s f3, f1, f2\n csrr t0, 0x7D2\n");
            g->hart->priv = FACET_PRIV_M;
        } else {
            CHECK_EQ(err.status, FACET_ERR_INPUT);
            refused++;
        }
    }
    CHECK(refused > 200);

#define REFUSES(where, value)                                                                      \
    do {                                                                                           \
        struct guest *other = guest_make("full");                                                  \
        other->where = value;                                                                      \
        bad.length = 0;                                                                            \
        save(other, &bad);                                                                         \
        CHECK_MSG(!load(g, bad.text, bad.length, &err), "%s = %s was loaded", #where, #value);     \
        guest_free(other);                                                                         \
    } while (0)
    REFUSES(hart->units.cap.prec.image[0], 7 << 21);
    REFUSES(hart->units.cap.prec.image[1], 7 << 3);
    REFUSES(hart->units.cap.prec.stat, 0x18000000);
    REFUSES(hart->units.cap.prec.exc_en, 0x20);
    REFUSES(hart->units.cap.prec.exc_st, 0x80);
    REFUSES(hart->units.cap.xmem.dom, 9);
    REFUSES(hart->units.cap.xmem.events, 0x100);
    REFUSES(hart->units.cap.xisel, 0x10000);
    REFUSES(hart->units.cap.profile, 1);
    REFUSES(hart->units.pmask.bank[0], 1);
    REFUSES(hart->units.rsv.svstate, 64);
    REFUSES(hart->units.rsv.svdst, 0x20);
    REFUSES(hart->units.mtx.sel, 4);
    REFUSES(xmem->t0_size, 65);
    REFUSES(xmem->ticket_rt, APPLY);
    REFUSES(xmem->block_count, 1); /* a block of size 0 */
    guest_reset(g); /* counts that run off their arrays: behind the tag, and before the locks */
    for (unsigned i = 0; i < 2; i++) {
        struct facet_state_io io = facet_state_saver(&kept);
        size_t at;

        kept.length = bad.length = 0;
        facet_units_visit(&g->hart->units, &io);
        save(g, &bad);
        at = i == 0 ? kept.length + 4 : bad.length - 4;
        CHECK_EQ(facet_load_le32(bad.text + at), 0);
        facet_store_le32(bad.text + at, i == 0 ? FACET_MAX_ALLOCATIONS + 1 : FACET_MAX_LOCKS + 1);
        CHECK(!load(g, bad.text, bad.length, &err));
        CHECK(strstr(err.message, "too many") != NULL);
    }
    facet_strbuf_free(&good);
    facet_strbuf_free(&bad);
    facet_strbuf_free(&kept);
    guest_free(g);
}

/* ---- profiles -------------------------------------------------------------------------------- */

TEST(profiles_exist_only_where_the_flags_say_so, "")
{
    struct guest *g = guest_make("full");
    struct facet_error err = {0};

    harness_row("CAP-166");
    CHECK_EQ(facet_cap_set_profile(&g->hart->units, 0, &err), FACET_ERR_USAGE);
    CHECK_EQ(facet_cap_set_profile(&g->hart->units, 1, &err), FACET_ERR_USAGE);
    guest_csrw(g, 0x7C3, UINT64_MAX);
    guest_csrw(g, 0x7C4, UINT64_MAX);
    CHECK_ID("CAP-112 CAP-123 CAP-168", (guest_csrr(g, 0x7C3) | guest_csrr(g, 0x7C4)) == 0);
    guest_free(g);
    g = guest_make("prof");
    CHECK_ID("CAP-027 CAP-112 CAP-166", guest_csrr(g, 0x7C4) == 7);
    for (unsigned n = 0; n < 300; n++) {
        uint64_t before = guest_csrr(g, 0x7C3);
        bool exists = n < 3;

        harness_row(exists ? "CAP-027 CAP-167" : "CAP-178");
        CHECK_EQ(facet_cap_set_profile(&g->hart->units, n, &err),
                 exists ? FACET_OK : FACET_ERR_USAGE);
        CHECK_EQ(guest_csrr(g, 0x7C3), exists ? n : before);
        CHECK_ID("CAP-029", (guest_csrr(g, 0x7C4) >> guest_csrr(g, 0x7C3) & 1) == 1);
        harness_row("CAP-167 CAP-177");
        guest_csrw(g, 0x7C3, 1 - before);
        guest_csrw(g, 0x7C4, 0);
        CHECK_EQ(guest_csrr(g, 0x7C3), exists ? n : before);
        CHECK_EQ(guest_csrr(g, 0x7C4), 7);
    }
    CHECK_ID("CAP-177", g->hart->mcause == 0);
    harness_row("");
    CHECK_EQ(facet_cap_set_profile(&g->hart->units, 1, NULL), FACET_OK);
    guest_reset(g);
    CHECK_EQ(guest_csrr(g, 0x7C3), 0);
    for (unsigned flags = 0; flags < 2; flags++) { /* the same machine without HAS_PROFILES */
        harness_row("CAP-123 CAP-166");
        guest_configure(g, "flags", flags);
        CHECK_EQ(guest_csrr(g, 0x7C3) | guest_csrr(g, 0x7C4) | guest_csrr(g, 0x7C9), 0);
        CHECK_EQ(facet_cap_set_profile(&g->hart->units, 1, &err), FACET_ERR_USAGE);
    }
    guest_free(g);
}

TEST(a_profile_changes_tiers_between_instructions_and_nothing_else, "")
{
    static const uint8_t waves[] = {0, 1, 3}; /* numeric.md 16; HINT.BVHGR is the number itself */

    for (unsigned mutable = 0; mutable < 2; mutable ++) {
        struct guest *g = guest_make("prof");
        uint64_t before[0x48];

        guest_configure(g, "flags", 2 | mutable);
        guest_csrw(g, 0x7D0, APPLY | UINT64_C(0x300028));
        guest_csrw(g, 0x7E6, 3);
        guest_csrw(g, 0x7F0, 0x1234);
        for (unsigned i = 0; i < 0x40; i++) {
            before[i] = guest_csr(g, 0x7C0 + i);
        }
        for (unsigned n = 0; n < 6; n++) {
            unsigned profile = n * 5 % 3;
            uint64_t old = guest_csrr(g, 0x7C3);

            /* One instruction before the switch, one after. */
            guest_ok(g, "csrr s2, 0x7C3\n csrr s3, 0x7C9\n");
            CHECK_ID("CAP-173", g->hart->x[18] == old);
            CHECK_ID("CAP-174", g->hart->x[19] == (mutable != 0 ? waves[old] : 0));
            CHECK_EQ(facet_cap_set_profile(&g->hart->units, profile, NULL), FACET_OK);
            guest_ok(g, "csrr s3, 0x7C9\n csrr s2, 0x7C3\n");
            CHECK_ID("CAP-173 CAP-174", g->hart->x[18] == profile);
            harness_row(mutable != 0 ? "CAP-120 CAP-164 CAP-171" : "CAP-014 CAP-164 CAP-172");
            CHECK_EQ(g->hart->x[19], mutable != 0 ? waves[profile] : 0);
            CHECK_EQ(guest_csrr(g, 0x7CE), mutable != 0 ? profile : before[0xE]);
            for (unsigned i = 0; i < 0x40; i++) {
                if (i != 3 && ((i != 9 && i != 0xE) || mutable == 0)) {
                    harness_row(i == 2         ? "CAP-126"
                                : i >= 0x10    ? "CAP-121 CAP-175"
                                : mutable != 0 ? "CAP-477"
                                               : "CAP-014 CAP-172");
                    CHECK_EQ(guest_csr(g, 0x7C0 + i), before[i]);
                }
            }
        }
        guest_free(g);
    }
}

/* ---- debuggers ------------------------------------------------------------------------------- */

/* A debugger names registers by their full numbers and needs no XISEL. */
TEST(a_debugger_reaches_registers_behind_xisel, "CAP-030 CAP-456")
{
    struct guest *g = guest_make("full");

    guest_indirect_write(g, 0x7D83, 0x0102030405060708);
    g->xmem->tokens[4] = 9;
    guest_csrw(g, 0x840, 0);
    g->hart->priv = FACET_PRIV_U; /* whatever mode the hart is in */
    CHECK_EQ(facet_hart_csr_peek(g->hart, 0x7D83), 0x0102030405060708);
    CHECK_EQ(facet_hart_csr_peek(g->hart, 0x7E84), 9);
    CHECK_EQ(facet_hart_csr_peek(g->hart, 0x7EA0), 0x40000000);
    facet_hart_csr_poke(g->hart, 0x7D84, 0x11);
    facet_hart_csr_poke(g->hart, 0x7E84, 0x11); /* read-only */
    facet_hart_csr_poke(g->hart, 0x7F0, 0x1234);
    CHECK_EQ(facet_hart_csr_peek(g->hart, 0x7D84), 0x11);
    CHECK_EQ(facet_hart_csr_peek(g->hart, 0x7E84), 9);
    CHECK_EQ(facet_hart_csr_peek(g->hart, 0x7F0), 0x1234);
    CHECK_EQ(facet_hart_csr_peek(g->hart, 0x840), 0);
    CHECK_EQ(g->hart->priv, FACET_PRIV_U);
    guest_free(g);
}
