/* `facet fuzz`: cases are functions of their numbers, differences are found whatever the number of
 * threads, and shrink to what matters. */
#include "harness.h"

#include "base/file.h"
#include "fuzz/campaign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a kind whose differences are known: cases with two items that add up to a multiple of 500
 * ---- */

static void draw_numbers(struct facet_fuzz_case *c, size_t length)
{
    c->count = length;
    for (size_t i = 0; i < length; i++) {
        c->item[i] = (uint32_t)((c->seed * 77 + c->number * 31 + i * i * 7) % 1000);
    }
}

static enum facet_status
open_nothing(struct conform_target *against, void **runner, struct facet_error *err)
{
    (void)against, (void)err;
    *runner = NULL;
    return FACET_OK;
}

static void close_nothing(void *runner)
{
    (void)runner;
}

static enum facet_status run_numbers(void *runner,
                                     const struct facet_fuzz_case *c,
                                     struct facet_fuzz_verdict *verdict,
                                     struct facet_error *err)
{
    (void)runner, (void)err;
    *verdict = (struct facet_fuzz_verdict){0};
    for (size_t i = 0; i < c->count; i++) {
        for (size_t k = i + 1; k < c->count; k++) {
            if ((c->item[i] + c->item[k]) % 500 == 0) {
                verdict->differs = true;
                (void)snprintf(verdict->text, sizeof verdict->text, "%zu of them", c->count);
            }
        }
    }
    return FACET_OK;
}

static const struct facet_fuzz_kind numbers = {.name = "numbers",
                                               .items = "numbers",
                                               .draw = draw_numbers,
                                               .open = open_nothing,
                                               .close = close_nothing,
                                               .run = run_numbers};

TEST(differences_shrink_to_what_matters, "")
{
    struct facet_fuzz_campaign campaign = {
        .kind = &numbers, .seed = 5, .first = 100, .count = 300, .length = 20};
    struct facet_error err = {0};
    uint64_t different = 0;

    CHECK_EQ(facet_fuzz_run(&campaign, NULL, NULL, NULL, &err), FACET_OK);
    for (uint64_t number = 100; number < 400; number++) {
        struct facet_fuzz_verdict verdict;
        struct facet_fuzz_case c;

        facet_fuzz_draw(&campaign, number, &c);
        CHECK_EQ(run_numbers(NULL, &c, &verdict, &err), FACET_OK);
        if (verdict.differs && different < campaign.finding_count) {
            CHECK_EQ(campaign.findings[different].smallest.number, number); /* by number */
        }
        different += verdict.differs;
    }
    CHECK_EQ(campaign.different, different);
    CHECK(different > FACET_FUZZ_MAX_FINDINGS);
    CHECK_EQ(campaign.finding_count, FACET_FUZZ_MAX_FINDINGS);
    for (size_t i = 0; i < campaign.finding_count; i++) {
        const struct facet_fuzz_finding *f = &campaign.findings[i];

        CHECK_EQ(f->smallest.count, 2);
        CHECK_EQ((f->smallest.item[0] + f->smallest.item[1]) % 500, 0);
        CHECK_EQ(f->drawn, 20);
        CHECK_STR(f->verdict.text, "2 of them"); /* of the small case, not of the first one */
    }
}

TEST(findings_do_not_depend_on_threads, "")
{
    struct facet_fuzz_campaign one = {.kind = &numbers, .seed = 9, .count = 500, .length = 12};
    struct facet_fuzz_campaign many = one;
    struct facet_error err = {0};
    facet_pool *pool;

    CHECK_EQ(facet_pool_create(3, &pool, &err), FACET_OK);
    CHECK_EQ(facet_fuzz_run(&one, NULL, NULL, NULL, &err), FACET_OK);
    CHECK_EQ(facet_fuzz_run(&many, NULL, pool, NULL, &err), FACET_OK);
    CHECK_EQ(many.different, one.different);
    CHECK_EQ(many.finding_count, one.finding_count);
    for (size_t i = 0; i < one.finding_count; i++) {
        CHECK_EQ(many.findings[i].smallest.number, one.findings[i].smallest.number);
        CHECK_EQ(many.findings[i].smallest.count, one.findings[i].smallest.count);
    }
    facet_pool_destroy(pool);
}

TEST(states_that_part_are_told, "")
{
    uint8_t a[4] = {1, 2, 3, 4}, b[4] = {1, 2, 9, 4};
    struct facet_fuzz_verdict verdict = {0};

    facet_fuzz_compare(&(struct facet_blob){a, 4}, "x", &(struct facet_blob){a, 4}, "y", &verdict);
    CHECK(!verdict.differs);
    facet_fuzz_compare(&(struct facet_blob){a, 4}, "x", &(struct facet_blob){b, 4}, "y", &verdict);
    CHECK(verdict.differs);
    CHECK(strstr(verdict.text, "x and y part at byte 2") != NULL);
    verdict = (struct facet_fuzz_verdict){0};
    facet_fuzz_compare(&(struct facet_blob){a, 4}, "x", &(struct facet_blob){a, 3}, "y", &verdict);
    CHECK(verdict.differs);
}

/* ---- the machines ---- */

TEST(machines_agree_with_themselves, "")
{
    for (size_t i = 0; facet_fuzz_kinds[i] != NULL; i++) {
        static struct facet_fuzz_campaign campaign;
        struct facet_error err = {0};

        campaign = (struct facet_fuzz_campaign){.kind = facet_fuzz_kinds[i],
                                                .seed = 3,
                                                .count = harness_long() ? 20000 : 60,
                                                .length = 40};
        CHECK_EQ(facet_fuzz_run(&campaign, NULL, NULL, NULL, &err), FACET_OK);
        CHECK_STR(campaign.findings[0].verdict.text, "");
        CHECK_EQ(campaign.different, 0);
    }
}

/* Every kind: the same number gives the same text, another one another; any item can be left out.
 */
TEST(cases_are_functions_of_their_numbers, "")
{
    for (size_t i = 0; facet_fuzz_kinds[i] != NULL; i++) {
        const struct facet_fuzz_campaign campaign = {
            .kind = facet_fuzz_kinds[i], .seed = 4, .length = 10};
        struct facet_strbuf text[3];
        struct facet_error err = {0};
        struct facet_fuzz_case c;

        for (unsigned k = 0; k < 3; k++) {
            facet_fuzz_draw(&campaign, k / 2, &c);
            CHECK_EQ(c.count, 10);
            facet_strbuf_init(&text[k]);
            CHECK_EQ(campaign.kind->text(&c, &text[k], &err), FACET_OK);
        }
        CHECK_STR(facet_strbuf_text(&text[1]), facet_strbuf_text(&text[0]));
        CHECK(strcmp(facet_strbuf_text(&text[2]), facet_strbuf_text(&text[0])) != 0);
        for (unsigned k = 0; k < 3; k++) {
            facet_strbuf_free(&text[k]);
        }
    }
}

/* Programs of the hart reach their end, and leave something to compare. */
TEST(programs_store_what_they_did, "")
{
    const struct facet_fuzz_campaign campaign = {
        .kind = &facet_fuzz_xphmg, .seed = 6, .length = 48};
    void *runner = NULL;
    struct facet_error err = {0};

    CHECK_EQ(campaign.kind->open(NULL, &runner, &err), FACET_OK);
    for (uint64_t number = 0; number < 20; number++) {
        struct facet_fuzz_case c;
        struct facet_blob elf = {0};
        struct facet_strbuf signature;
        unsigned zeros = 0, lines = 0;

        facet_strbuf_init(&signature);
        facet_fuzz_draw(&campaign, number, &c);
        CHECK_EQ(campaign.kind->program(runner, &c, &elf, &signature, &err), FACET_OK);
        for (const char *at = facet_strbuf_text(&signature); *at != '\0'; at += 9) {
            zeros += strncmp(at, "00000000", 8) == 0;
            lines++;
            if (lines == 120) { /* registers only: the rest is the structures' */
                break;
            }
        }
        CHECK_EQ(lines, 120);
        CHECK(zeros < 90);
        facet_blob_free(&elf);
        facet_strbuf_free(&signature);
    }
    campaign.kind->close(runner);
}
