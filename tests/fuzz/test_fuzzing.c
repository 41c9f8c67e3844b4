/* `facet fuzz`: cases are functions of their numbers, differences are found whatever the number of
 * threads, and shrink to what matters. */
#define _GNU_SOURCE /* mkdtemp */
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

static enum facet_status open_nothing(void **runner, struct facet_error *err)
{
    (void)err;
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

/* Cases reach their end, and leave something to compare that is not the same for all. */
TEST(cases_leave_an_answer, "")
{
    char folder[] = "/tmp/facet-fuzz-test-XXXXXX";

    CHECK(mkdtemp(folder) != NULL);
    for (size_t i = 0; facet_fuzz_kinds[i] != NULL; i++) {
        const struct facet_fuzz_campaign campaign = {
            .kind = facet_fuzz_kinds[i], .seed = 6, .length = 24};
        struct facet_error err = {0};
        uint32_t sums[6] = {0};
        unsigned zeros = 0, words = 0;

        for (uint64_t number = 0; number < 6; number++) {
            struct facet_fuzz_case c;
            struct conform_words signature = {0};
            char path[FACET_FUZZ_PATH], name[FACET_FUZZ_PATH + 16];
            bool answered = false;

            facet_fuzz_draw(&campaign, number, &c);
            CHECK_EQ(facet_fuzz_write(campaign.kind, &c, folder, path, &answered, &err), FACET_OK);
            CHECK(answered);
            (void)snprintf(name, sizeof name, "%s.signature", path);
            CHECK_EQ(conform_words_read(name, &signature, &err), FACET_OK);
            for (size_t k = 0; k < signature.count; k++) {
                sums[number] = sums[number] * 31 + signature.word[k];
                zeros += signature.word[k] == 0;
                words++;
            }
            CHECK(number == 0 || sums[number] != sums[number - 1]);
            free(signature.word);
        }
        CHECK_MSG(words > 600 && zeros < words * 9 / 10,
                  "%s: %u words, %u of them 0",
                  campaign.kind->name,
                  words,
                  zeros);
    }
    conform_remove_folder(folder);
}

/* Jumps of kernels and programs lead forward and not too far, so that any item can be left out. */
TEST(jumps_stay_in_the_body, "")
{
    const struct facet_fuzz_kind *const kinds[] = {&facet_fuzz_xphmg, &facet_fuzz_tile};
    const enum facet_isa isas[] = {FACET_ISA_XPHMG, FACET_ISA_TILE};

    for (unsigned k = 0; k < 2; k++) {
        unsigned jumps = 0;

        for (uint64_t number = 0; number < 40; number++) {
            const struct facet_fuzz_campaign campaign = {.kind = kinds[k], .seed = 2, .length = 64};
            struct facet_fuzz_case c;

            facet_fuzz_draw(&campaign, number, &c);
            for (size_t i = 0; i < c.count; i++) {
                char line[128] = "";
                const char *to;

                (void)facet_isa_print_word(isas[k], c.item[i], 0, line, sizeof line);
                to = strrchr(line, ' ');
                if (to != NULL && (strstr(line, ". + ") != NULL || strstr(line, ". - ") != NULL ||
                                   line[0] == 'B' || strncmp(line, "JAL", 3) == 0)) {
                    const long bytes = strtol(to, NULL, 0);

                    CHECK_MSG(strstr(line, ". -") == NULL && bytes >= 8 && bytes <= 28, "%s", line);
                    jumps++;
                }
            }
        }
        CHECK(jumps > 40);
    }
}
