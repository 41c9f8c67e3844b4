/* Late jobs as state: random programs of jobs, copies and waits give the memory of a machine that
 * completes at once, whatever the seed; one seed gives one run, with and without block cache, with
 * job threads, cut anywhere, saved and restored anywhere; and changed snapshots do no harm. */
#include "xphmg/units/jobs_test.h"

#include "base/hash.h"

enum {
    PIECES = 24,
    TEXT = 1 << 14,
    STATE_AT = 64, /* of a snapshot: src/machine/snapshot.c */
    STATE_SIZE_AT = 56,
    LDS_BYTES = 0x400,
};

static uint32_t below(uint32_t n)
{
    return (uint32_t)(harness_random() % n);
}

/* ---- random programs ---------------------------------------------------------------------------
 */

/* Pieces work on ranges of their own until the next fence, so that the order in which queues
 * complete cannot matter: MTX on VOUT + 8k, copies into the second half of the LDS window and of
 * RAM, RT on its hit queue. s2 is a loop counter, s3.. results that were waited for. */
static void random_piece(struct facet_strbuf *out, unsigned n)
{
    switch (below(9)) {
    case 0:
        facet_strbuf_puts(out, "xsubmit.rt s3, s0\n");
        break;
    case 1: /* one more ray, for the jobs after a wait */
        facet_strbuf_puts(out,
                          "xfence.wait s3\n lwu t0, 0x104(s0)\n addi t0, t0, 1\n andi t0, t0, 63\n"
                          "sw t0, 0x104(s0)\n xsubmit.rt s3, s0\n");
        break;
    case 2:
        facet_strbuf_printf(out,
                            "xfence.wait s4\n addi t0, s0, 0x280\n addi t0, t0, %u\n"
                            "sd t0, 16(a0)\n xsubmit.mtx s4, a0\n",
                            8 * (n % 8));
        break;
    case 3:
        facet_strbuf_printf(out, "addi t1, s1, %u\n xlds.cpy t1, a6, a7, async=1\n", 8 * (n % 100));
        break;
    case 4:
        facet_strbuf_printf(out, "addi t1, a5, %u\n xlds.cpy t1, a6, a7, async=1\n", 8 * (n % 20));
        break;
    case 5:
        facet_strbuf_puts(out, "xfence.wait s4\n ld t0, 0x280(s0)\n add s5, s5, t0\n");
        break;
    case 6:
        facet_strbuf_printf(out, "li s2, %u\n1: addi s2, s2, -1\n bnez s2, 1b\n", 1 + below(3000));
        break;
    case 7:
        facet_strbuf_puts(out, "xfence.pipe RT, 4, 1\n lwu t0, 0x144(s0)\n add s6, s6, t0\n");
        break;
    default:
        facet_strbuf_puts(out, "xlds.bar WG\n ld t0, 8(s1)\n xor s7, s7, t0\n");
        break;
    }
}

/* Every hart but the first only counts for a while; the first waits for a token of the last. */
static char *random_program(void)
{
    struct facet_strbuf out;

    facet_strbuf_init(&out);
    facet_strbuf_puts(&out,
                      PREAMBLE "csrr t0, mhartid\n beqz t0, 2f\n li s2, 20000\n"
                               "1: addi s2, s2, -1\n bnez s2, 1b\n 3: wfi\n j 3b\n2:\n");
    for (unsigned n = 0; n < PIECES; n++) {
        random_piece(&out, n);
    }
    facet_strbuf_puts(&out, "gfx.fence 3, 3\n" EXIT);
    return out.text;
}

struct image {
    uint8_t data[DATA_BYTES], lds[LDS_BYTES];
    uint64_t results[3];
};

/* What a program that waits as it must can know. */
static void take_image(const facet_machine *machine, struct image *image)
{
    CHECK_EQ(facet_machine_read(machine, 0, DATA, image->data, DATA_BYTES, NULL), FACET_OK);
    CHECK_EQ(facet_machine_read(machine, 0, LDS, image->lds, LDS_BYTES, NULL), FACET_OK);
    image->results[0] = reg(machine, 0, "s5");
    image->results[1] = reg(machine, 0, "s6");
    image->results[2] = reg(machine, 0, "s7");
}

static struct facet_xphmg_config late(uint64_t seed, uint32_t harts)
{
    return (struct facet_xphmg_config){
        .harts = harts, .quantum = 64, .jobs = FACET_XPHMG_JOBS_LATE, .jobs_seed = seed};
}

TEST(programs_that_wait_cannot_tell, "XM-162 XM-152 RT-268 RT-274")
{
    for (unsigned round = 0; round < (harness_long() ? 200 : 15) && !harness_failed(); round++) {
        char *text = random_program();
        facet_machine *machine = make((struct facet_xphmg_config){0}, text);
        struct image expect, got;

        run_to_exit(machine);
        take_image(machine, &expect);
        facet_machine_destroy(machine);
        for (uint64_t seed = 0; seed < 12; seed++) {
            machine = make(late(seed, 1 + seed % 3), text);
            run_to_exit(machine);
            take_image(machine, &got);
            CHECK_MSG(memcmp(&got, &expect, sizeof got) == 0,
                      "seed %llu: %s",
                      (unsigned long long)seed,
                      text);
            CHECK_EQ(jobs_left(machine), 0);
            facet_machine_destroy(machine);
        }
        free(text);
    }
}

/* ---- one seed, one run -------------------------------------------------------------------------
 */

static bool same_state(const facet_machine *a, const facet_machine *b)
{
    struct facet_blob x, y;
    bool same;

    CHECK_EQ(facet_machine_snapshot(a, &x, NULL), FACET_OK);
    CHECK_EQ(facet_machine_snapshot(b, &y, NULL), FACET_OK);
    same = x.size == y.size && memcmp(x.data, y.data, x.size) == 0;
    facet_blob_free(&x);
    facet_blob_free(&y);
    return same;
}

TEST(one_seed_is_one_run, "XM-162")
{
    for (uint64_t seed = 0; seed < 30 && !harness_failed(); seed++) {
        char *text = random_program();
        struct facet_xphmg_config config = late(seed % 15, 1 + seed % 2), plain = config,
                                  threads = config;
        facet_machine *whole = make(config, text), *cut, *other;

        plain.plain = true;
        threads.job_threads = 3;
        cut = make(plain, text);
        other = make(threads, text);
        for (bool more = true; more && !harness_failed();) { /* in pieces of any length */
            uint64_t steps = 1 + below(900);
            struct facet_stop stop = run(whole, steps);

            for (uint64_t left = steps; left > 0 && more;) {
                uint64_t piece = 1 + below((uint32_t)left);
                struct facet_stop part = run(cut, piece);

                left -= part.steps;
                more = part.reason == FACET_STOP_BUDGET;
            }
            (void)run(other, steps);
            CHECK(same_state(whole, cut));
            CHECK(same_state(whole, other));
            more = stop.reason == FACET_STOP_BUDGET;
        }
        facet_machine_destroy(whole);
        facet_machine_destroy(cut);
        facet_machine_destroy(other);
        free(text);
    }
}

TEST(a_restored_machine_goes_on_as_the_first, "XM-163")
{
    unsigned with_jobs = 0;

    for (uint64_t seed = 0; seed < 6 && !harness_failed(); seed++) {
        char *text = random_program();
        struct facet_xphmg_config config = late(seed, 1 + seed % 2);
        facet_machine *first = make(config, text), *end = make(config, text);
        struct facet_stop stop;

        run_to_exit(end);
        do {
            facet_machine *second = make(config, "nop\n");
            struct facet_blob blob;

            stop = run(first, 1 + below(harness_long() ? 60 : 1200));
            with_jobs += jobs_left(first) > 0;
            CHECK_EQ(facet_machine_snapshot(first, &blob, NULL), FACET_OK);
            CHECK_EQ(facet_machine_restore(second, blob.data, blob.size, NULL), FACET_OK);
            facet_blob_free(&blob);
            CHECK_EQ(jobs_left(second), jobs_left(first));
            CHECK(same_state(first, second));
            run_to_exit(second);
            CHECK(same_state(second, end));
            facet_machine_destroy(second);
        } while (stop.reason == FACET_STOP_BUDGET && !harness_failed());
        facet_machine_destroy(first);
        facet_machine_destroy(end);
        free(text);
    }
    CHECK(with_jobs > 10);
}

/* ---- other machines, hostile bytes -------------------------------------------------------------
 */

static facet_machine *busy_machine(uint64_t seed, unsigned steps)
{
    static const char text[] = PREAMBLE "1: xsubmit.rt s3, s0\n"
                                        "xsubmit.mtx s4, a0\n"
                                        "xlds.cpy a5, a6, a7, async=1\n"
                                        "mv t1, s1\n"
                                        "xlds.cpy t1, a6, a7, async=1\n"
                                        "addi s5, s5, 1\n"
                                        "li t0, 6\n"
                                        "bltu s5, t0, 1b\n"
                                        "li s5, 0\n"
                                        "xfence.wait s3\n"
                                        "j 1b\n";
    facet_machine *machine = make(late(seed, 2), text);

    (void)run(machine, steps);
    return machine;
}

TEST(a_machine_of_another_timing_refuses, "XM-163")
{
    facet_machine *machine = busy_machine(0, 60);
    struct facet_xphmg_config others[] = {late(1, 2), late(0, 2), {.harts = 2, .quantum = 64}};
    struct facet_blob blob;

    others[1].quantum = 64;
    CHECK_EQ(facet_machine_snapshot(machine, &blob, NULL), FACET_OK);
    for (unsigned i = 0; i < 3; i++) {
        facet_machine *other = make(others[i], "nop\n");
        struct facet_error err = {0};

        CHECK_EQ(facet_machine_restore(other, blob.data, blob.size, &err),
                 i == 1 ? FACET_OK : FACET_ERR_INPUT);
        CHECK_MSG(
            i != 0 || strstr(err.message, "a different seed of jobs") != NULL, "%s", err.message);
        CHECK(i != 2 || strstr(err.message, "RTSTAT.BUSY") != NULL ||
              strstr(err.message, "a different part") != NULL);
        facet_machine_destroy(other);
    }
    facet_blob_free(&blob);
    facet_machine_destroy(machine);
}

/* Some bytes of the state, with the checksum made right. */
static void spoil(struct facet_blob *blob)
{
    uint8_t *bytes = blob->data;
    uint64_t size = facet_load_le64(bytes + STATE_SIZE_AT);

    for (unsigned n = 1 + below(3); n > 0; n--) {
        uint8_t *at = bytes + STATE_AT + harness_random() % size;

        *at = below(2) != 0 ? (uint8_t)(*at ^ 1u << below(8)) : (uint8_t)harness_random();
    }
    facet_store_le64(bytes + blob->size - 8, facet_hash_bytes(bytes, blob->size - 8, 0));
}

TEST(changed_snapshots_do_no_harm, "XM-163")
{
    facet_machine *machine = busy_machine(3, 100);
    unsigned taken = 0, refused = 0;
    struct facet_blob good;

    CHECK(jobs_left(machine) > 4);
    CHECK_EQ(facet_machine_snapshot(machine, &good, NULL), FACET_OK);
    for (unsigned round = 0; round < (harness_long() ? 20000 : 1000) && !harness_failed();
         round++) {
        struct facet_error err = {0};
        struct facet_blob blob, after;

        CHECK_EQ(facet_machine_restore(machine, good.data, good.size, NULL), FACET_OK);
        CHECK_EQ(facet_machine_snapshot(machine, &blob, NULL), FACET_OK);
        CHECK(blob.size == good.size && memcmp(blob.data, good.data, good.size) == 0);
        spoil(&blob);
        if (facet_machine_restore(machine, blob.data, blob.size, &err) == FACET_OK) {
            (void)run(machine, 300);
            CHECK_EQ(facet_machine_snapshot(machine, &after, NULL), FACET_OK);
            CHECK_MSG(facet_machine_restore(machine, after.data, after.size, &err) == FACET_OK,
                      "%s",
                      err.message);
            facet_blob_free(&after);
            taken++;
        } else {
            CHECK(err.message[0] != '\0');
            refused++;
        }
        facet_blob_free(&blob);
    }
    CHECK(taken > 100 && refused > 100);
    facet_blob_free(&good);
    facet_machine_destroy(machine);
}

/* A field of the jobs' part by its distance from the tag "jobs". */
static void check_field(facet_machine *machine, size_t at, uint64_t value, const char *complaint)
{
    uint32_t tag = (uint32_t)facet_hash_string("jobs");
    struct facet_error err = {0};
    struct facet_blob blob;
    uint8_t *bytes, *found = NULL;

    CHECK_EQ(facet_machine_snapshot(machine, &blob, NULL), FACET_OK);
    bytes = blob.data;
    for (size_t i = STATE_AT; i + 4 < blob.size && found == NULL; i++) {
        found = facet_load_le32(bytes + i) == tag ? bytes + i + 4 : NULL;
    }
    if (CHECK(found != NULL)) {
        facet_store_le32(found + at, (uint32_t)value);
        facet_store_le64(bytes + blob.size - 8, facet_hash_bytes(bytes, blob.size - 8, 0));
        CHECK_EQ(facet_machine_restore(machine, blob.data, blob.size, &err), FACET_ERR_INPUT);
        CHECK_MSG(strstr(err.message, complaint) != NULL, "%s", err.message);
    }
    facet_blob_free(&blob);
}

TEST(impossible_jobs_are_refused_by_name, "XM-163")
{
    facet_machine *machine = busy_machine(0, 100);

    check_field(machine, 0, 5, "a different seed of jobs");
    check_field(machine, 16, 17, "more jobs under way than were submitted or fit");
    check_field(machine, 20, 2, "hart number of a job");
    check_field(machine, 32, 1 << 30, "due out of order, or later");
    facet_machine_destroy(machine);
}
