/* Reference cards: every name of the tables has one, its text and JSON are complete and agree. */
#include "base/json.h"
#include "harness.h"
#include "isa/card.h"
#include "isa/isa_rows.h"

#include <stdlib.h>

static char *card_text(const char *name, enum facet_isa isa)
{
    struct facet_card cards[FACET_CARD_MAX];
    struct facet_strbuf text;
    size_t count = facet_card_find(name, isa, cards);

    facet_strbuf_init(&text);
    for (size_t i = 0; i < count; i++) {
        facet_card_text(&cards[i], &text);
    }
    return text.text != NULL ? text.text : strdup("");
}

static void check_has(const char *name, enum facet_isa isa, const char *part)
{
    char *text = card_text(name, isa);

    CHECK_MSG(strstr(text, part) != NULL, "the card of %s has no '%s':\n%s", name, part, text);
    free(text);
}

static void check_has_not(const char *name, enum facet_isa isa, const char *part)
{
    char *text = card_text(name, isa);

    CHECK_MSG(strstr(text, part) == NULL, "the card of %s has '%s'", name, part);
    free(text);
}

TEST(instruction_card, "")
{
    const char *name = "Rt.bBox";

    check_has(name, FACET_ISA_COUNT, "rt.bbox   xphmg instruction, XPHMG_RT (ray tracing)\n");
    check_has(name,
              FACET_ISA_COUNT,
              "    31    24   23 20   19 15   14 12   11 7   6     0\n"
              "  +----------+-------+-------+-------+------+---------+\n"
              "  | 00000000 | flags | rs1   | 110   | rd   | 0001011 |\n"
              "  +----------+-------+-------+-------+------+---------+\n");
    check_has(name, FACET_ISA_COUNT, "  rt.bbox rd, rs1, flags=0\n");
    check_has(
        name, FACET_ISA_COUNT, "flags      23:20 instruction flags; default 0; also called imm\n");
    check_has(name, FACET_ISA_COUNT, "1 T_CLAMP, 2 PRED_ONLY, 4 PACK_HINT, 8 W_GUARD\n");
    check_has(name, FACET_ISA_COUNT, "0x0005628b  rt.bbox x5, x10, flags=0\n");
    check_has(name, FACET_ISA_COUNT, " RT-134 ");
    check_has(
        name, FACET_ISA_COUNT, "  R-RT-02    How RT.BBOX and RT.TRI find node and triangle\n");
    check_has_not(name, FACET_ISA_COUNT, "TILE-");
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
    check_has("cap.prec.mode", FACET_ISA_COUNT, "  0x0000000000080000\n");
    check_has("0x7d0", FACET_ISA_COUNT, "CAP.PREC.MODE   xphmg CSR, 64 bits, spec/cap.csr.tsv\n");
    check_has("0X7D0", FACET_ISA_COUNT, "  3       ZMODE      RW   0x0      predicate-false");
    check_has("CAP.PREC.MODE", FACET_ISA_COUNT, "CAP-195");
    check_has(
        "CAP.PREC.MODE.ZMODE", FACET_ISA_COUNT, "Bits\n  3\n\nAccess\n  RW: read and write\n");
    check_has("rtcfg", FACET_ISA_COUNT, "0x820 for CSR instructions, 0x7FA0 through XISEL\n");
    check_has("0x820", FACET_ISA_COUNT, "RTCFG   xphmg CSR");
    check_has("ZPTAB3", FACET_ISA_COUNT, "this one at 0x7D83\n");
    check_has("sampler[2].format.swiz", FACET_ISA_COUNT, "sampler[2].format.SWIZ   tile CSR");
    check_has("core_id", FACET_ISA_TILE, "apart from fields whose reset is not a number");
    check_has("misa", FACET_ISA_XPHMG, "  0x800000000090112f\n");
    check_has("mstatus", FACET_ISA_XPHMG, "  0x0000000200000000\n");
}

TEST(requirement_and_resolution_cards, "")
{
    check_has("cap-137",
              FACET_ISA_COUNT,
              "CAP-137   requirement, level DEF, spec/cap.requirements.tsv\n");
    check_has("RT-140", FACET_ISA_COUNT, "  R-RT-41 "); /* it cites this one */
    check_has("RT-134", FACET_ISA_COUNT, "  R-RT-02 "); /* that one speaks of RT.BBOX, too */
    check_has("r-cap-09",
              FACET_ISA_COUNT,
              "R-CAP-09   resolution, spec/resolutions-cap.md\n\nBF16_LITE\n");
    check_has("R-RT-41", FACET_ISA_COUNT, "RT-140"); /* and back */
}

TEST(names_in_both_isas, "")
{
    struct facet_card cards[FACET_CARD_MAX];

    CHECK_EQ(facet_card_find("beq", FACET_ISA_COUNT, cards), 2);
    CHECK(cards[0].isa == FACET_ISA_XPHMG && cards[1].isa == FACET_ISA_TILE);
    CHECK_EQ(facet_card_find("beq", FACET_ISA_TILE, cards), 1);
    CHECK_EQ(facet_card_find("svsetvl", FACET_ISA_XPHMG, cards), 3); /* two rows, one alias */
    CHECK_EQ(facet_card_find("la", FACET_ISA_TILE, cards), 1);
    CHECK_EQ(cards[0].kind, FACET_CARD_ALIAS);
    static const char *const nothing[] = {
        "", ".", "0x", "0x7G0", "0x99999999999", "CAP", "CAP.PREC.MODE.", "RT", "R-"};
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++) {
        CHECK_MSG(facet_card_find(nothing[i], FACET_ISA_COUNT, cards) == 0,
                  "'%s' has a card",
                  nothing[i]);
    }
}

static void check_card(const struct facet_card *card, const char *name)
{
    struct facet_strbuf text;
    json_t *json = facet_card_json(card);

    facet_strbuf_init(&text);
    facet_card_text(card, &text);
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

TEST(every_row_has_a_card, "")
{
    struct facet_card cards[FACET_CARD_MAX];

    for (int isa = 0; isa < FACET_ISA_COUNT; isa++) {
        for (size_t i = 0; i < facet_isa_row_count[isa]; i++) {
            const struct facet_insn_row *row = &facet_isa_rows[isa][i];
            size_t count = facet_card_find(row->mnemonic, (enum facet_isa)isa, cards);
            bool found = false;
            for (size_t k = 0; k < count; k++) {
                found |= cards[k].insn == row;
            }
            CHECK_MSG(found, "no card for %s", row->mnemonic);
            uint32_t word = facet_card_example(row, (enum facet_isa)isa);
            CHECK_MSG(facet_isa_decode((enum facet_isa)isa, word) == row,
                      "example of %s: 0x%08x",
                      row->mnemonic,
                      word);
            if (i % 7 == 0) {
                check_card(&cards[0], row->mnemonic);
            }
        }
    }
    for (size_t i = 0; i < facet_csr_row_count; i++) {
        const struct facet_csr_row *row = &facet_csr_rows[i];
        CHECK(facet_card_find(row->name, row->isa, cards) >= 1);
        check_card(&cards[0], row->name);
    }
    for (size_t i = 0; i < facet_resolution_row_count; i += 11) {
        CHECK_EQ(facet_card_find(facet_resolution_rows[i].id, FACET_ISA_COUNT, cards), 1);
        check_card(&cards[0], facet_resolution_rows[i].id);
    }
    for (size_t i = 0; i < facet_requirement_row_count; i += 29) {
        CHECK_EQ(facet_card_find(facet_requirement_rows[i].id, FACET_ISA_COUNT, cards), 1);
        check_card(&cards[0], facet_requirement_rows[i].id);
    }
}

TEST(mentions_are_whole_words, "")
{
    struct facet_card bbox = {.kind = FACET_CARD_INSN,
                              .isa = FACET_ISA_XPHMG,
                              .insn = &facet_isa_rows[FACET_ISA_XPHMG][FACET_XPHMG_RT_BBOX]};

    CHECK(facet_card_named_in(&bbox, "RT.BBOX and rt.tri"));
    CHECK(facet_card_named_in(&bbox, "as rt.bbox."));
    CHECK(!facet_card_named_in(&bbox, "rt.bbox2, xrt.bbox, rt.bbox.x, RT, my.rt.bbox"));
    struct facet_card add = {.kind = FACET_CARD_INSN,
                             .isa = FACET_ISA_TILE,
                             .insn = &facet_isa_rows[FACET_ISA_TILE][FACET_TILE_ADD]};
    CHECK(facet_card_named_in(&add, "ADD of 3") &&
          !facet_card_named_in(&add, "add of 3, ADDI, FADD"));
    struct facet_card and = {.kind = FACET_CARD_INSN,
                             .isa = FACET_ISA_XPHMG,
                             .insn = &facet_isa_rows[FACET_ISA_XPHMG][FACET_XPHMG_AND]};
    CHECK(!facet_card_named_in(&and, "this and that"));
}
