/* Registers of GFX: numbers, fields, views of one another; what a debugger, a trace and a snapshot
 * see of them; which of them a unit without GFX has (none). */
#include "xphmg/gfx/gfx_test.h"

#include "isa/isa.h"
#include "machine/state.h"
#include "xphmg/hart/csr_file.h"

static bool reserved(const struct facet_csr_field *field)
{
    return strncmp(field->name, "RSV", 3) == 0;
}

/* Bits that the rows of gfx.csr.tsv name. */
static uint64_t defined(unsigned number)
{
    const struct facet_csr_row *row = facet_csr_at(FACET_ISA_XPHMG, number);
    uint64_t mask = 0;

    for (unsigned i = 0; CHECK(row != NULL) && i < row->field_count; i++) {
        const struct facet_csr_field *f = &row->fields[i];

        mask |= reserved(f)
                    ? 0
                    : (f->hi - f->lo == 63 ? ~UINT64_C(0) : (UINT64_C(2) << (f->hi - f->lo)) - 1)
                          << f->lo;
    }
    return mask;
}

TEST(every_register_stores_its_defined_bits, "")
{
    static const char *const names[24] = {
        "GFXCFG",     "GFXWRAP",     "GFXTEXBASE", "GFXTEXPITCH", "GFXPLN0",     "GFXPLN1",
        "GFXPLN2",    "GFXPLN3",     "GFXPLN4",    "GFXPLN5",     "GFXTEXWH",    "GFXTEXFMT",
        "GFXBORDERC", "GFXCLIP_EPS", "GFXZCFG",    "GFXZBASE",    "GFXZPITCH",   "GFXZWH",
        "GFXHIZCFG",  "GFXLUTBASE",  "GFXLUTFMT",  "GFXGATHBASE", "GFXPEERHINT", "GFXTEXSTRIDE1"};
    /* Bits that the requirement rows give in numbers. */
    static const struct {
        unsigned number;
        uint64_t bits;
        const char *ids;
    } told[] = {
        {0x80E, 0x3F, "GFX-081"},
        {0x812, 0xFFFF, "GFX-085"},
        {0x814, 0xFFFF, "GFX-092"},
        {0x816, 0x1FFFFF, "GFX-064"},
        {0x800, 0x1F1FFFFF, "GFX-014"},
    };
    static const struct {
        unsigned number, hi, lo;
        const char *ids;
    } fields[] = {
        {0x816, 7, 0, "GFX-316"},
        {0x816, 11, 8, "GFX-317"},
        {0x816, 19, 12, "GFX-318"},
        {0x816, 20, 20, "GFX-319"},
        {0x800, 15, 8, "GFX-020"},
    };
    static const char *const ids[24] = {
        "GFX-014", "GFX-022", "GFX-027", "GFX-029", "GFX-031", "GFX-032", "GFX-033", "GFX-034",
        "GFX-035", "GFX-036", "GFX-039", "GFX-041", "GFX-047", "GFX-049", "GFX-051", "GFX-052",
        "GFX-054", "GFX-056", "GFX-058", "GFX-059", "GFX-061", "GFX-062", "GFX-064", "GFX-065"};
    struct guest *g = guest_make("full");

    for (unsigned n = 0; n < 24; n++) {
        const struct facet_csr_row *row = facet_csr_at(FACET_ISA_XPHMG, 0x800 + n);

        harness_row(ids[n]);
        CHECK(row != NULL);
        CHECK_STR(row->name, names[n]);
        CHECK_EQ(guest_csrr(g, 0x800 + n), 0);
        CHECK_ID("GFX-068", row->number == 0x800 + n && strcmp(row->name, names[n]) == 0);
    }
    CHECK_ID("GFX-068", facet_csr_at(FACET_ISA_XPHMG, 0x818) == NULL);
    for (unsigned number = 0x7C0; number < 0x800; number++) {
        const struct facet_csr_row *row = facet_csr_at(FACET_ISA_XPHMG, number);

        CHECK_ID("GFX-067", row == NULL || strncmp(row->name, "GFX", 3) != 0);
    }
    for (unsigned priv = 0; priv < 2; priv++) { /* U mode may do the same */
        for (unsigned n = 0; n < 24; n++) {
            g->hart->priv = priv == 0 ? FACET_PRIV_M : FACET_PRIV_U;
            for (unsigned i = 0; i < 20; i++) {
                uint64_t value = i == 0 ? UINT64_MAX : i == 1 ? 0 : harness_random();

                harness_row(ids[n]);
                guest_csrw(g, 0x800 + n, value);
                CHECK_MSG(guest_csrr(g, 0x800 + n) == (value & defined(0x800 + n)),
                          "%s = 0x%llx reads 0x%llx",
                          names[n],
                          (unsigned long long)value,
                          (unsigned long long)guest_csrr(g, 0x800 + n));
            }
        }
    }
    g->hart->priv = FACET_PRIV_M;
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        harness_row(told[i].ids);
        guest_csrw(g, told[i].number, ~UINT64_C(0));
        CHECK_EQ(guest_csrr(g, told[i].number), told[i].bits);
    }
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        uint64_t mask = (UINT64_C(2) << (fields[i].hi - fields[i].lo)) - 1;

        harness_row(fields[i].ids);
        for (uint64_t v = 0; v <= mask; v++) { /* in its own bits, the others at rest */
            guest_csrw(g, fields[i].number, v << fields[i].lo);
            CHECK_EQ(guest_csrr(g, fields[i].number), v << fields[i].lo);
        }
    }
    guest_free(g);
}

TEST(writes_reach_their_own_register_and_no_number_state, "GFX-011 GFX-264")
{
    struct guest *g = gfx_make();
    uint64_t stat = guest_csr(g, FACET_CSR_CAP_PREC_STAT);
    struct facet_cap cap = g->hart->units.cap;

    for (unsigned round = 0; round < 400; round++) {
        unsigned n = (unsigned)(harness_random() % 24);
        uint64_t before[24];

        for (unsigned k = 0; k < 24; k++) {
            before[k] = guest_csr(g, 0x800 + k);
        }
        guest_csrw(g, 0x800 + n, harness_random());
        for (unsigned k = 0; k < 24; k++) {
            bool view = (n <= 1 && k <= 1) || /* GFXWRAP is a view of GFXCFG */
                        (n == 0 && ((k >= 4 && k <= 9) || k == 12)); /* HISEL turns the halves */

            CHECK(view || k == n || guest_csr(g, 0x800 + k) == before[k]);
        }
    }
    CHECK_EQ(guest_csr(g, FACET_CSR_CAP_PREC_STAT), stat);
    CHECK_EQ(memcmp(&cap, &g->hart->units.cap, sizeof cap), 0); /* XMEM and SVM as before */
    guest_free(g);
}

TEST(wrap_mode_has_two_names, "GFX-019 GFX-022")
{
    struct guest *g = gfx_make();

    for (unsigned mode = 0; mode < 4; mode++) {
        set_cfg(g, EN | CONVERT | mode << 4);
        CHECK_EQ(guest_csrr(g, FACET_CSR_GFXWRAP), mode);
        guest_csrw(g, FACET_CSR_GFXWRAP, 3 - mode);
        CHECK_EQ(guest_csrr(g, FACET_CSR_GFXCFG), EN | CONVERT | (3 - mode) << 4);
        guest_ok(g, "csrci GFXWRAP, 3\n csrsi GFXWRAP, %u\n", mode);
        CHECK_EQ(guest_csrr(g, FACET_CSR_GFXCFG), EN | CONVERT | mode << 4);
    }
    /* mirror through GFXCFG */
    texture(g, 0x02, 4, 1, 4);
    put_bytes(g, TEXTURE, (const uint8_t[]){10, 20, 30, 40}, 4);
    set_cfg(g, EN | CONVERT | 2 << 4);
    g->hart->x[10] = 0xBFA00000; /* -1.25 */
    g->hart->x[11] = 0;
    guest_ok(g, "GFX.SAMPLE x16, x10\n");
    CHECK_EQ(g->hart->x[16], 0x41A00000);
    guest_free(g);
}

TEST(wide_registers_show_one_half, "GFX-037 GFX-048")
{
    struct guest *g = gfx_make();

    for (unsigned n = 0; n < 7; n++) {
        unsigned csr = n < 6 ? FACET_CSR_GFXPLN0 + n : FACET_CSR_GFXBORDERC;

        set_cfg(g, EN);
        guest_csrw(g, csr, 0x1111000000000000 + n);
        set_cfg(g, EN | HISEL);
        CHECK_EQ(guest_csrr(g, csr), 0);
        guest_csrw(g, csr, 0x2222000000000000 + n);
    }
    for (unsigned n = 0; n < 7; n++) {
        unsigned csr = n < 6 ? FACET_CSR_GFXPLN0 + n : FACET_CSR_GFXBORDERC;

        set_cfg(g, EN | HISEL);
        CHECK_EQ(guest_csrr(g, csr), 0x2222000000000000 + n);
        set_cfg(g, EN);
        CHECK_EQ(guest_csrr(g, csr), 0x1111000000000000 + n);
        CHECK_EQ(*facet_hart_gfx_word(g->hart, FACET_HART_REG_GFX + 2 * n), 0x1111000000000000 + n);
        CHECK_EQ(*facet_hart_gfx_word(g->hart, FACET_HART_REG_GFX + 2 * n + 1),
                 0x2222000000000000 + n);
    }
    guest_free(g);
}

TEST(an_absent_unit_has_no_registers, "")
{
    struct guest *g = guest_make("full");

    guest_configure(g, "feat0", 0x5D19 & ~FACET_CAP_FEAT0_GFX_PRESENT);
    for (unsigned n = 0; n < 24; n++) {
        (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "csrr t0, 0x%x\n", 0x800 + n);
        (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "csrwi 0x%x, 1\n", 0x800 + n);
    }
    CHECK_EQ(guest_traps(g, FACET_CAUSE_ILLEGAL, "GFX.FENCE 3, 2\n"), 0x00E0502B);
    guest_free(g);
}

/* ---- state -----------------------------------------------------------------------------------
 */

struct changes {
    struct facet_units_change list[64];
    unsigned count;
};

static void see_change(void *context, const struct facet_units_change *change)
{
    struct changes *seen = context;

    seen->list[seen->count++ % 64] = *change;
}

TEST(changes_are_told_one_by_one, "")
{
    struct guest *g = gfx_make();
    struct facet_units old = g->hart->units, units = old;

    for (unsigned n = 0; n < 24; n++) {
        for (unsigned half = 0; half < 2; half++) {
            bool wide = (n >= 4 && n <= 9) || n == 12;
            struct changes seen = {.count = 0};
            unsigned count;

            if (n == 1 || (half == 1 && !wide)) {
                continue;
            }
            facet_hart_csr_storage(
                &units, facet_csr_at(FACET_ISA_XPHMG, 0x800 + n), &count)[half] ^= 0x20;
            facet_units_changes(&old, g->xmem, &units, g->xmem, see_change, &seen);
            CHECK_EQ(seen.count, 1);
            CHECK_EQ(seen.list[0].kind, wide ? FACET_CHANGE_GFX : FACET_CHANGE_CSR);
            CHECK_EQ(seen.list[0].number, wide ? facet_change_gfx(0x800 + n, half) : 0x800 + n);
            CHECK_EQ(seen.list[0].old ^ seen.list[0].value, 0x20);
            units = old;
        }
    }
    guest_free(g);
}

static void save(struct guest *g, struct facet_strbuf *out)
{
    struct facet_state_io io = facet_state_saver(out);

    facet_units_visit(&g->hart->units, &io);
    CHECK(facet_state_done(&io));
}

static bool load(struct guest *g, const struct facet_strbuf *saved, struct facet_error *err)
{
    struct facet_state_io io = facet_state_loader(saved->text, saved->length, 0, err);
    struct facet_units units = {.config = &g->config};
    bool ok;

    facet_units_visit(&units, &io);
    ok = facet_state_done(&io);
    if (ok) {
        g->hart->units = units;
    }
    return ok;
}

TEST(a_snapshot_keeps_every_register_and_refuses_what_none_can_hold, "")
{
    struct guest *g = gfx_make(), *other = gfx_make();
    struct facet_strbuf saved = {0};
    struct facet_error err = {0};

    for (unsigned n = 0; n < 24; n++) {
        guest_csrw(g, 0x800 + n, harness_random());
        set_cfg(g, guest_csr(g, 0x800) ^ HISEL);
        guest_csrw(g, 0x800 + n, harness_random());
    }
    save(g, &saved);
    CHECK(load(other, &saved, &err));
    CHECK_EQ(memcmp(&g->hart->units.gfx, &other->hart->units.gfx, sizeof g->hart->units.gfx), 0);
    facet_strbuf_free(&saved);
    for (unsigned bad = 0; bad < 3; bad++) {
        struct facet_xphmg_gfx kept = g->hart->units.gfx;
        struct facet_strbuf wrong = {0};

        *(bad == 0   ? &g->hart->units.gfx.texstride1
          : bad == 1 ? &g->hart->units.gfx.zcfg
                     : &g->hart->units.gfx.cfg) |= UINT64_C(0x4000000000);
        save(g, &wrong);
        CHECK(!load(other, &wrong, &err));
        CHECK(strstr(err.message, "GFX") != NULL);
        facet_strbuf_free(&wrong);
        g->hart->units.gfx = kept;
    }
    guest_free(g);
    guest_free(other);
}

TEST(a_restored_state_runs_the_same_again, "GFX-365")
{
    struct guest *g = gfx_make();
    struct facet_strbuf saved = {0}, first = {0}, second = {0};
    struct facet_error err = {0};
    uint64_t x[33], after[33];

    texture_t2(g);
    g->hart->x[10] = HALF_F;
    g->hart->x[11] = 0x3ECCCCCD;
    guest_csrw(g, FACET_CSR_CAP_PREC_MODE, MODE_FP32 | 4 | FACET_CAP_PREC_MODE_APPLY0); /* SAE */
    memcpy(x, g->hart->x, sizeof x);
    save(g, &saved);
    guest_ok(g, "GFX.SAMPLE x16, x10, m=1\n");
    memcpy(after, g->hart->x, sizeof after);
    save(g, &first);
    memcpy(g->hart->x, x, sizeof x);
    CHECK(load(g, &saved, &err));
    guest_ok(g, "GFX.SAMPLE x16, x10, m=1\n");
    save(g, &second);
    CHECK_EQ(memcmp(after, g->hart->x, sizeof after), 0);
    CHECK(first.length == second.length && memcmp(first.text, second.text, first.length) == 0);
    CHECK(memcmp(saved.text, first.text, first.length) != 0);
    facet_strbuf_free(&saved);
    facet_strbuf_free(&first);
    facet_strbuf_free(&second);
    guest_free(g);
}
