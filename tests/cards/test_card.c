/* Reference cards: every name of the tables has one, its text and JSON are complete and agree. */
#include "cards/card.h"
#include "harness.h"
#include "isa/isa_rows.h"
#include "json/json.h"

#include <stdlib.h>

static char *card_text(const char *name, unsigned machine)
{
    struct facet_card cards[FACET_CARD_MAX];
    struct facet_strbuf text;
    size_t count = facet_card_find(name, machine, cards);

    facet_strbuf_init(&text);
    for (size_t i = 0; i < count; i++) {
        facet_card_text(&cards[i], NULL, &text);
    }
    return text.text != NULL ? text.text : strdup("");
}

static void check_has(const char *name, unsigned isa, const char *part)
{
    char *text = card_text(name, isa);

    CHECK_MSG(strstr(text, part) != NULL, "the card of %s has no '%s':\n%s", name, part, text);
    free(text);
}

static void check_has_not(const char *name, unsigned isa, const char *part)
{
    char *text = card_text(name, isa);

    CHECK_MSG(strstr(text, part) == NULL, "the card of %s has '%s'", name, part);
    free(text);
}

TEST(instruction_card, "")
{
    const char *name = "Rt.bBox";

    check_has(name, FACET_ITEM_ANY, "rt.bbox   xphmg instruction, XPHMG_RT (ray tracing)\n");
    check_has(name,
              FACET_ITEM_ANY,
              "    31    24   23 20   19 15   14 12   11 7   6     0\n"
              "  +----------+-------+-------+-------+------+---------+\n"
              "  | 00000000 | flags | rs1   | 110   | rd   | 0001011 |\n"
              "  +----------+-------+-------+-------+------+---------+\n");
    check_has(name, FACET_ITEM_ANY, "  rt.bbox rd, rs1, flags=0\n");
    check_has(
        name, FACET_ITEM_ANY, "flags      23:20 instruction flags; default 0; also called imm\n");
    check_has(name, FACET_ITEM_ANY, "1 T_CLAMP, 2 PRED_ONLY, 4 PACK_HINT, 8 W_GUARD\n");
    check_has(name, FACET_ITEM_ANY, "0x0005628b  rt.bbox x5, x10, flags=0\n");
    check_has(name, FACET_ITEM_ANY, " RT-134 ");
    check_has(name, FACET_ITEM_ANY, "  R-RT-02    How RT.BBOX and RT.TRI find node and triangle\n");
    check_has_not(name, FACET_ITEM_ANY, "TILE-");
    check_has("SHL", FACET_ISA_TILE, "when rs2 is not 0\n");
    check_has("c.lui", FACET_ISA_XPHMG, "when rd is not 2, imm is not 0\n");
    check_has("fadd.s", FACET_ISA_XPHMG, "when rm is not 5, rm is not 6\n");
    check_has("EXIT", FACET_ISA_TILE, "this one word\n");
    /* A split immediate in a 16-bit word. */
    check_has("c.addi", FACET_ISA_XPHMG, "  | 000   | imm[5] | rd   | imm[4:0] | 01  |\n");
    /* Families: the rows about xmem.ldg speak of xmem.ldg.w as well. */
    check_has("xmem.ldg.w", FACET_ISA_XPHMG, "XM-103");
    check_has("VADD.F32", FACET_ISA_TILE, "TILE-258");
}

TEST(csr_and_field_cards, "")
{
    check_has("cap.prec.mode", FACET_ITEM_ANY, "  0x0000000000080000\n");
    check_has("0x7d0", FACET_ITEM_ANY, "CAP.PREC.MODE   xphmg CSR, 64 bits, spec/cap.csr.tsv\n");
    check_has("0X7D0", FACET_ITEM_ANY, "  3     ZMODE      RW   0x0  predicate-false");
    check_has("CAP.PREC.MODE", FACET_ITEM_ANY, "CAP-195");
    check_has("CAP.PREC.MODE.ZMODE", FACET_ITEM_ANY, "Fields\n  3 ZMODE RW 0x0 predicate-false");
    check_has("CAP.PREC.MODE.NAN_POL", FACET_ITEM_ANY, "PROPAGATE=0 ZERO=1 INFINITY=2");
    check_has("CAP.XMEM.CLSMAP", FACET_ITEM_ANY, "CAP.XMEM.CAP.CLASS_PART+CAP.XMEM.CAP.WAY_PART");
    check_has("rtcfg", FACET_ITEM_ANY, "0x820 for CSR instructions, 0x7FA0 through XISEL\n");
    check_has("0x820", FACET_ITEM_ANY, "RTCFG   xphmg CSR");
    check_has("ZPTAB3", FACET_ITEM_ANY, "this one at 0x7d83\n");
    check_has("sampler[2].format.swiz", FACET_ITEM_ANY, "sampler[2].format.SWIZ   tile CSR");
    check_has("core_id", FACET_ISA_TILE, "apart from fields whose reset is not a number");
    check_has("misa", FACET_ISA_XPHMG, "  0x800000000090112f\n");
    check_has("mstatus", FACET_ISA_XPHMG, "  0x0000000200000000\n");
}

TEST(requirement_and_resolution_cards, "")
{
    check_has(
        "cap-137", FACET_ITEM_ANY, "CAP-137   requirement, level DEF, spec/cap.requirements.tsv\n");
    check_has("RT-140", FACET_ITEM_ANY, "  R-RT-41 "); /* it cites this one */
    check_has("RT-134", FACET_ITEM_ANY, "  R-RT-02 "); /* that one speaks of RT.BBOX, too */
    check_has("r-cap-09",
              FACET_ITEM_ANY,
              "R-CAP-09   resolution, spec/resolutions-cap.md\n\nBF16_LITE\n");
    check_has("R-RT-41", FACET_ITEM_ANY, "RT-140"); /* and back */
}

TEST(names_in_both_isas, "")
{
    struct facet_card cards[FACET_CARD_MAX];

    CHECK_EQ(facet_card_find("beq", FACET_ITEM_ANY, cards), 2);
    CHECK(cards[0].item->machine == FACET_ISA_XPHMG && cards[1].item->machine == FACET_ISA_TILE);
    CHECK_EQ(facet_card_find("beq", FACET_ISA_TILE, cards), 1);
    CHECK_EQ(facet_card_find("svsetvl", FACET_ISA_XPHMG, cards), 3); /* two rows, one alias */
    CHECK_EQ(facet_card_find("la", FACET_ISA_TILE, cards), 2);       /* two ranges of addresses */
    CHECK_EQ(cards[0].item->kind, FACET_ITEM_ALIAS);
    static const char *const nothing[] = {
        "", ".", "0x", "0x7G0", "0x99999999999", "CAP.PREC.MODE.", "R-", "(", ", "};
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++) {
        CHECK_MSG(
            facet_card_find(nothing[i], FACET_ITEM_ANY, cards) == 0, "'%s' has a card", nothing[i]);
    }
}

/* What several rows share has one card; what one row alone has, that row's. */
TEST(shared_names, "")
{
    struct facet_card cards[FACET_CARD_MAX];
    size_t from = 0, parts = 0;

    CHECK_EQ(facet_card_find("vfma", FACET_ITEM_ANY, cards), 1);
    CHECK(cards[0].item == NULL);
    while (facet_card_next_part(&cards[0], &from) != NULL) {
        parts++;
    }
    CHECK_EQ(parts, 3);
    CHECK_EQ(facet_card_find("apply0", FACET_ITEM_ANY, cards), 1);
    CHECK(cards[0].item != NULL && strcmp(cards[0].item->name, "CAP.PREC.MODE.APPLY0") == 0);
    CHECK_EQ(cards[0].number, 0x7D0);
    CHECK_EQ(facet_card_find("SHADE", FACET_ITEM_ANY, cards), 1);
    CHECK(cards[0].item != NULL && strcmp(cards[0].item->name, "GFX.SHADE") == 0);
    CHECK_EQ(facet_card_find("GFX.SAMPLE", FACET_ITEM_ANY, cards), 1); /* not GFX.SAMPLE.GATH */
    CHECK_EQ(facet_card_find("gfx.shade.nc", FACET_ITEM_ANY, cards), 1);
    CHECK(cards[0].operand != NULL && strcmp(cards[0].operand->name, "nc") == 0);
    CHECK_EQ(facet_card_find("CULL_BACK", FACET_ITEM_ANY, cards), 1); /* a symbol of rt.tri */
    check_has("CULL_BACK", FACET_ITEM_ANY, "rt.tri   xphmg instruction, ");
    check_has("uimm", FACET_ISA_TILE, "tile instruction RSTATE ");
    check_has_not("CULL_BACK", FACET_ITEM_ANY, "rt.bbox");
    check_has("PM", FACET_ITEM_ANY, "PMASK (PM)   word of the glossary\n");
    check_has("fast", FACET_ITEM_ANY, "plain, fast   word of the glossary\n");
    check_has("xphmg_rt", FACET_ITEM_ANY, "XPHMG_RT 0.1.1   document (source)\n");
    check_has("xphmg_rt", FACET_ITEM_ANY, "XPHMG_RT   xphmg: ray tracing\n");
    check_has("result writeback", FACET_ITEM_ANY, "rt-semantics.md 9   section, spec/");
    check_has("RT-Semantics 9", FACET_ITEM_ANY, "rt-semantics.md 9   section, spec/");
    check_has("rt.tri", FACET_ITEM_ANY, "Pages\n  rt-semantics.md 6    Lanes and operands");
}

TEST(gfx12_instruction_cards, "")
{
    check_has("image_bvh8_intersect_ray",
              FACET_ITEM_ANY,
              "== 0x0000000000000000d3e04010, spec/gfx12.insn.tsv:2\n");
    check_has("IMAGE_BVH_DUAL_INTERSECT_RAY", FACET_ITEM_GFX12, "vaddr4[63:56]");
    check_has("ds_bvh_stack_push8_pop2_rtn_b64", FACET_ITEM_ANY, "(word & 0x00000000ffff0000)");
}

TEST(structure_cards, "")
{
    check_has("RSTATE", FACET_ISA_TILE, "RSTATE   tile structure, 64 bytes, aligned to 32, spec/");
    check_has("RSTATE", FACET_ISA_TILE, "RSTATE   tile instruction, ");
    check_has("rstate.blend", FACET_ISA_TILE, "0x1C 7:0 enum blend ");
    check_has("rstate.blend", FACET_ISA_TILE, "opaque=0 alpha=1 additive=2");
    check_has("rstate.blend", FACET_ISA_TILE, "  R-TILE-80 ");
    check_has(
        "BVHNode4", FACET_ITEM_ANY, "64, 64, 128, 256 bytes for elements of 1, 2, 4, 8 bytes");
    check_has("BVHNode4", FACET_ITEM_ANY, "  R-RT-03 ");
    check_has("MEMCTL", FACET_ITEM_ANY, "XPHMG_MEMCTL   xphmg structure, 24 bytes, aligned to 8, ");
    check_has("memctl", FACET_ITEM_ANY, "xphmg member XPHMG_RT_DESC.memctl");
    check_has("box node", FACET_ITEM_GFX12, "GFX12_BOX_NODE   gfx12 structure, 128 bytes");
    check_has("box_node.obb_matrix_index", FACET_ITEM_ANY, "  R-G12-07 ");
}

static void check_card(const struct facet_card *card, const char *name)
{
    struct facet_strbuf text;
    json_t *json = facet_card_record(card, NULL);

    facet_strbuf_init(&text);
    facet_card_text(card, NULL, &text);
    CHECK_MSG(
        !text.failed && text.length > 40 && text.text[text.length - 1] == '\n', "text of %s", name);
    CHECK_MSG(
        json_is_object(json) && json_is_string(json_object_get(json, "kind")), "JSON of %s", name);
    /* IDs are the same in both. */
    size_t i;
    json_t *id;
    json_array_foreach(json_object_get(json, "requirements"), i, id)
    {
        CHECK_MSG(strstr(text.text, json_string_value(id)) != NULL,
                  "%s: %s",
                  name,
                  json_string_value(id));
    }
    json_decref(json);
    facet_strbuf_free(&text);
}

/* Every item answers to its own name, and its example decodes. */
TEST(every_item_has_a_card, "")
{
    struct facet_card cards[FACET_CARD_MAX];
    unsigned kinds[FACET_ITEM_KINDS] = {0};

    for (size_t i = 0; i < facet_item_count; i++) {
        const struct facet_item *item = &facet_items[i];
        size_t count = facet_card_find(item->name, item->machine, cards), k = 0;
        while (k < count && cards[k].item != item) {
            k++;
        }
        CHECK_MSG(k < count, "no card for %s", item->name);
        if (kinds[item->kind]++ % 29 == 0 && k < count) {
            check_card(&cards[k], item->name);
        }
    }
    for (unsigned k = 0; k < FACET_ITEM_KINDS; k++) {
        CHECK_MSG(kinds[k] > 0, "no %s", facet_item_kind_name[k]);
    }
    for (int isa = 0; isa < FACET_ISA_COUNT; isa++) {
        for (size_t i = 0; i < facet_isa_row_count[isa]; i++) {
            const struct facet_insn_row *row = &facet_isa_rows[isa][i];
            uint32_t word = facet_card_example(row, (enum facet_isa)isa);
            CHECK_MSG(facet_isa_decode((enum facet_isa)isa, word) == row,
                      "example of %s: 0x%08x",
                      row->mnemonic,
                      word);
            for (unsigned k = 0; k < row->operand_count; k++) { /* a jump to itself is no example */
                CHECK_MSG(row->operands[k].kind != FACET_OPERAND_PCREL ||
                              facet_operand_get(&row->operands[k], word) == 8,
                          "example of %s: 0x%08x",
                          row->mnemonic,
                          word);
            }
        }
    }
}

static bool lists(const char *name, unsigned machine, const char *id)
{
    const char *key = strncmp(id, "R-", 2) == 0 ? "resolutions" : "requirements";
    struct facet_card cards[FACET_CARD_MAX];
    bool found = false;

    CHECK(facet_card_find(name, machine, cards) >= 1);
    json_t *record = facet_card_record(&cards[0], NULL), *value;
    size_t i;
    json_array_foreach(json_object_get(record, key), i, value)
    {
        found |= strcmp(json_string_value(value), id) == 0;
    }
    json_decref(record);
    return found;
}

/* Links that a reader of the contract expects, and words that must not make one. */
TEST(cards_list_what_touches_them, "")
{
    static const struct {
        const char *name, *ids;
    } rows[] = {
        {"CAP.PREC.MODE",
         "R-CAP-01 R-CAP-02 R-CAP-03 R-CAP-04 R-CAP-05 R-CAP-11 R-CAP-13 R-CAP-14 R-CAP-19 "
         "R-CAP-21 R-MTX-14 CAP-195 CAP-479"},
        {"GFX.SHADE", "R-GFX-04 R-GFX-18 R-GFX-21 R-GFX-39 GFX-164 GFX-308"},
        {"rt.tri", "R-RT-08 R-RT-09 R-RT-15 R-RT-16 R-RT-17 R-RT-18 R-RT-19 R-RT-20 RT-154 RT-159"},
        {"CAP.PREC.MODE.NAN_POL", "R-CAP-03 R-CAP-23 R-RT-20 CAP-507"},
        {"xmem.ldg.w", "XM-103"},
        {"VADD.F32", "TILE-258"},
        {"RTCFG", "R-RT-01 R-RT-24"},
        {"image_bvh8_intersect_ray", "R-G12-23 R-G12-37 R-G12-53 G12-001"},
        {"ds_bvh_stack_push8_pop1_rtn_b32", "R-G12-48 R-G12-63"},
        {"RT-140", "R-RT-41"},
        {"R-RT-41", "RT-140 RT-159"},
        {"RT-134", "R-RT-02"},
        {"MTXCFG.TRANSPOSE_DEF", "MTX-020"}, /* MTX registers stand in GFX's table */
        {"MTXCAP.HAS_MUL", "MTX-034"},
        {"fstatus.NV", "TILE-496"}, /* register and field, not joined by a dot */
        {"fstatus.RM", "TILE-565"},
        {"GFXHIZCFG.LEVELS", "GFX-084"},
        {"RTSTAT.ERR", "RT-041"},
        {"CAP.XMEM.CAP.XDMA", "CAP-357"},
        {"config.TEX_NORM", "TILE-352"}, /* in small letters */
        {"GFXPEERHINT.PEER_ID", "GFX-316"},
        {"config.SAT", "TILE-505 TILE-506"}, /* touches.tsv: a span of rows */
        {"RSTATE.blend", "TILE-373 TILE-374 TILE-375"},
        {"PACKET.grid", "TILE-526"},
        {"SAMPLER.swizzle", "TILE-336"},
        {"CU_ASSIST.count", "TILE-469"},
        {"GFX12_BOX_NODE.origin_x", "G12-010"},
        {"GFX12_INSTANCE_NODE.exponent_x", "G12-137"},
    };
    static const struct {
        const char *name, *id;
    } strangers[] = {
        {"rt.tri", "R-RT-12"}, /* T_CLAMP is a flag of rt.bbox */
        {"rt.tri", "R-RT-14"}, /* the slab test */
        {"GFX.SHADE", "R-GFX-45"},
        {"and", "R-CAP-19"}, /* a word of any sentence */
        {"CAP.PREC.MODE", "R-XM-11"},
        {"RSTATE", "R-RT-03"},                       /* another machine */
        {"GFX12_INSTANCE_NODE.origin_x", "G12-010"}, /* a name of two structures */
        {"GFX12_INSTANCE_NODE.exponent_x", "G12-016"},
        {"GFX12_BOX_NODE.origin_x", "G12-133"},
        {"GFX12_BOX_NODE", "G12-137"},
        {"CAP.XMEM.EVENTS.BUDGET_OVF", "XM-048"}, /* only the observable names it */
        {"VADD.F32", "TILE-327"},
        {"GFX.SHADE", "GFX-116"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char ids[256], *save = NULL;
        (void)snprintf(ids, sizeof ids, "%s", rows[i].ids);
        for (char *id = strtok_r(ids, " ", &save); id != NULL; id = strtok_r(NULL, " ", &save)) {
            CHECK_MSG(
                lists(rows[i].name, FACET_ITEM_ANY, id), "%s does not list %s", rows[i].name, id);
        }
    }
    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++) {
        CHECK_MSG(!lists(strangers[i].name, FACET_ITEM_ANY, strangers[i].id),
                  "%s lists %s",
                  strangers[i].name,
                  strangers[i].id);
    }
}

/* Most rows speak of something that has a card: what is left are rules for everything at once. */
TEST(few_rows_reach_no_card, "")
{
    size_t rows = facet_requirement_row_count, missed = rows;
    bool *reached = calloc(rows, sizeof *reached);

    CHECK(reached != NULL);
    for (size_t i = 0; i < facet_item_count && reached != NULL; i++) {
        const struct facet_item *item = &facet_items[i];
        for (unsigned k = 0; item->kind <= FACET_ITEM_MEMBER && k < item->requirement_count; k++) {
            missed -= !reached[item->requirements[k]];
            reached[item->requirements[k]] = true;
        }
    }
    CHECK_MSG(missed < 100, "%zu rows are on no card", missed);
    free(reached);
}

/* Sources go by their titles, never by the name of a file outside the contract. */
TEST(sources_have_titles, "")
{
    for (size_t i = 0; i < facet_requirement_row_count; i += 7) {
        const struct facet_requirement_row *row = &facet_requirement_rows[i];
        char *text = card_text(row->id, FACET_ITEM_ANY), start[80] = "";
        for (size_t d = 0; d < facet_document_row_count; d++) {
            size_t n = strlen(facet_document_rows[d].name);
            if (strncmp(row->source, facet_document_rows[d].name, n) == 0) {
                (void)snprintf(
                    start, sizeof start, "\nSource\n  %.30s", facet_document_rows[d].title);
            }
        }
        CHECK_MSG(start[0] != '\0' && strstr(text, start) != NULL && strstr(text, ".txt") == NULL,
                  "source of %s:\n%s",
                  row->id,
                  text);
        free(text);
    }
}
