/* Snapshots of whole machines: identical continuation, going back, and data that must be refused.
 */
#include "acc_test.h"
#include "base/failing_alloc.h"
#include "base/hash.h"

TEST(a_snapshot_continues_identically, "")
{
    for (int round = 0; round < 50; round++) {
        facet_machine *a = make_counters(&acc_ops), *b = make(&acc_plain_ops);
        uint64_t before = harness_random() % 2000, after = harness_random() % 2000;
        struct facet_blob middle, again;

        (void)run_for(a, before);
        CHECK(facet_machine_bus_read(a, 0, ACC_DEVICE, &(uint32_t){0}, 4, NULL) == FACET_OK);
        middle = snapshot(a);
        CHECK(facet_machine_restore(b, middle.data, middle.size, NULL) == FACET_OK);
        CHECK_EQ(facet_machine_steps(b), before);
        again = snapshot(b);
        CHECK(same_blob(&middle, &again));
        facet_blob_free(&again);
        (void)run_for(a, after);
        (void)run_for(b, after);
        CHECK(same_state(a, b));
        /* And back again in the first machine. */
        CHECK(facet_machine_restore(a, middle.data, middle.size, NULL) == FACET_OK);
        (void)run_for(a, after);
        CHECK(same_state(a, b));
        facet_blob_free(&middle);
        facet_machine_destroy(a);
        facet_machine_destroy(b);
    }
}

/* Reverse stepping needs nothing but the face: an earlier snapshot and the step count. */
TEST(going_back_is_restore_and_run_to_one_less, "")
{
    facet_machine *m = make_counters(&acc_ops), *reference = make_counters(&acc_ops);
    struct facet_blob start = snapshot(m);

    (void)run_for(m, 500);
    for (int back = 1; back <= 20; back++) {
        uint64_t target = facet_machine_steps(m) - 1;

        CHECK(facet_machine_restore(m, start.data, start.size, NULL) == FACET_OK);
        (void)run_for(m, target - facet_machine_steps(m));
        CHECK(facet_machine_restore(reference, start.data, start.size, NULL) == FACET_OK);
        (void)run_for(reference, 500 - (uint64_t)back);
        CHECK(same_state(m, reference));
    }
    facet_blob_free(&start);
    facet_machine_destroy(m);
    facet_machine_destroy(reference);
}

TEST(an_end_is_part_of_the_state, "")
{
    static const uint32_t code[] = {ACC_LDI(9), ACC_EXIT};
    facet_machine *a = make(&acc_ops), *b = make(&acc_ops);
    struct facet_blob end;
    struct facet_stop stop;

    put_words(a, 0, code, 2);
    put_words(a, ACC_CODE1, code, 1);
    (void)run_for(a, 10);
    end = snapshot(a);
    CHECK(facet_machine_restore(b, end.data, end.size, NULL) == FACET_OK);
    stop = run_for(b, 10);
    CHECK(stop.reason == FACET_STOP_EXIT && stop.code == 9 && stop.steps == 0);
    facet_blob_free(&end);
    facet_machine_destroy(a);
    facet_machine_destroy(b);
}

static void must_refuse(facet_machine *m,
                        const struct facet_blob *before,
                        const void *data,
                        size_t size,
                        const char *why)
{
    struct facet_error err = {FACET_OK, 0, ""};
    struct facet_blob after;

    CHECK_MSG(facet_machine_restore(m, data, size, &err) == FACET_ERR_INPUT, "%s accepted", why);
    CHECK_MSG(err.where <= size, "%s: offset %" PRIu64, why, err.where);
    CHECK_MSG(strstr(err.message, "offset") != NULL, "%s: \"%s\"", why, err.message);
    after = snapshot(m);
    CHECK_MSG(same_blob(before, &after), "%s changed the machine", why);
    facet_blob_free(&after);
}

TEST(truncated_and_changed_snapshots_are_refused, "")
{
    facet_machine *source = make_counters(&acc_ops), *m = make_counters(&acc_ops);
    struct facet_blob good, before;
    uint8_t *bad;

    (void)run_for(source, 777);
    (void)run_for(m, 55);
    good = snapshot(source);
    before = snapshot(m);
    bad = malloc(good.size + 1);
    for (size_t size = 0; size < good.size && !harness_failed();
         size += size < 600 ? 1 : 1 + harness_random() % 200) {
        must_refuse(m, &before, good.data, size, "a truncation");
    }
    memcpy(bad, good.data, good.size);
    bad[good.size] = 0;
    must_refuse(m, &before, bad, good.size + 1, "an extra byte");
    for (size_t i = 0; i < 4000 && !harness_failed(); i++) {
        size_t at = i < 600 ? i : harness_random() % good.size;
        uint8_t flip = (uint8_t)(1 << harness_random() % 8);

        bad[at] ^= flip;
        must_refuse(m, &before, bad, good.size, "a flipped bit");
        bad[at] ^= flip;
    }
    CHECK(facet_machine_restore(m, bad, good.size, NULL) == FACET_OK && same_state(m, source));
    free(bad);
    facet_blob_free(&good);
    facet_blob_free(&before);
    facet_machine_destroy(source);
    facet_machine_destroy(m);
}

static void reseal(uint8_t *data, size_t size)
{
    facet_store_le64(data + size - 8, facet_hash_bytes(data, size - 8, 0));
}

/* Offsets: header 64 bytes, then the state: tag, core0 (tag, 6 u64, 4 u32, bool), core1, ... */
TEST(resealed_snapshots_are_checked_by_content, "")
{
    enum { STATE = 64, CORE = 4 + 48 + 16 + 1 };
    static const struct {
        size_t at;
        uint8_t value;
        const char *message;
    } rows[] = {
        {0, 'x', "expected \"FACETSNP\""},
        {8, 1, "version 1, expected 5"},
        {12, 3, "number of address spaces"},
        {16, 'b', "expected \"acc\""},
        {62, 9, "the state is longer than the snapshot"},
        {STATE, 1, "offset 64: a different part"},
        {STATE + 4, 1, "offset 68: a different part"},
        {STATE + 4 + CORE - 1, 2, "neither 0 nor 1"},
        {STATE + 4 + 2 * CORE + 4, 2, "core number, expected 0 or 1"},
        {STATE + 4 + 2 * CORE + 8, 3, "end reason"},
        {STATE + 4 + 2 * CORE + 9, 2, "core number, expected 0 or 1"},
        {STATE + 4 + 2 * CORE + 29, 'M', "a different address space"},
        {STATE + 4 + 2 * CORE + 29 + 39, 1, "the memory is longer"},
        {STATE + 4 + 2 * CORE + 29 + 40, 'x', "main: offset 0: not a memory snapshot"},
    };
    facet_machine *source = make_counters(&acc_ops), *m = make_counters(&acc_ops);
    struct facet_blob good, before;
    struct facet_error err;
    uint8_t *bad;

    (void)run_for(source, 777);
    good = snapshot(source);
    before = snapshot(m);
    bad = malloc(good.size);
    for (size_t i = 0; i < COUNT(rows); i++) {
        memcpy(bad, good.data, good.size);
        bad[rows[i].at] = rows[i].value;
        reseal(bad, good.size);
        must_refuse(m, &before, bad, good.size, rows[i].message);
        (void)facet_machine_restore(m, bad, good.size, &err);
        CHECK_MSG(strstr(err.message, rows[i].message) != NULL,
                  "row %zu: \"%s\", expected \"%s\"",
                  i,
                  err.message,
                  rows[i].message);
    }
    CHECK_EQ(err.where, STATE + 4 + 2 * CORE + 29 + 40); /* absolute, also inside the memory */
    free(bad);
    facet_blob_free(&good);
    facet_blob_free(&before);
    facet_machine_destroy(source);
    facet_machine_destroy(m);
}

/* The snapshot with `add` zero bytes put in at `at`, or taken out when negative; resealed. */
static struct facet_blob resized(const struct facet_blob *good, size_t at, int add)
{
    struct facet_blob blob = {NULL, (size_t)((long)good->size + add)};
    uint8_t *out = calloc(1, blob.size);
    const uint8_t *in = good->data;

    memcpy(out, in, at);
    memcpy(out + at + (add > 0 ? add : 0),
           in + at + (add < 0 ? -add : 0),
           good->size - at - (size_t)(add < 0 ? -add : 0));
    blob.data = out;
    return blob;
}

static void refuse_resized(facet_machine *m,
                           const struct facet_blob *good,
                           size_t at,
                           int add,
                           bool in_state,
                           const char *why)
{
    struct facet_blob before = snapshot(m), bad = resized(good, at, add);
    struct facet_error err = {FACET_OK, 0, ""};
    uint8_t *bytes = bad.data;

    if (in_state) {
        facet_store_le64(bytes + 56, facet_load_le64(bytes + 56) + (uint64_t)(int64_t)add);
    }
    reseal(bytes, bad.size);
    must_refuse(m, &before, bytes, bad.size, why);
    (void)facet_machine_restore(m, bytes, bad.size, &err);
    CHECK_MSG(strstr(err.message, why) != NULL, "\"%s\", expected \"%s\"", err.message, why);
    facet_blob_free(&before);
    facet_blob_free(&bad);
}

TEST(parts_of_another_length_are_refused, "")
{
    facet_machine *m = make_counters(&acc_ops);
    struct facet_blob good;
    const uint8_t *bytes;
    size_t spaces, second;

    (void)run_for(m, 777);
    good = snapshot(m);
    bytes = good.data;
    spaces = 64 + (size_t)facet_load_le64(bytes + 56);
    second = spaces + 40 + (size_t)facet_load_le64(bytes + spaces + 32);
    (void)run_for(m, 5);
    refuse_resized(m, &good, spaces, 1, true, "the state is longer than expected");
    refuse_resized(m, &good, spaces - 1, -1, true, "the state ends too early");
    refuse_resized(m, &good, good.size - 8, 3, false, "bytes after the last address space");
    refuse_resized(
        m, &good, second, -(int)(good.size - 8 - second), false, "ends inside an address space");
    facet_blob_free(&good);
    facet_machine_destroy(m);
}

TEST(resealed_random_damage_never_crashes, "")
{
    facet_machine *m = make_counters(&acc_ops);
    struct facet_blob good;
    uint8_t *bad;

    (void)run_for(m, 100);
    good = snapshot(m);
    bad = malloc(good.size);
    for (int i = 0; i < 5000; i++) {
        size_t size =
            harness_random() % 2 == 0 ? good.size : 8 + harness_random() % (good.size - 7);

        memcpy(bad, good.data, size);
        for (int k = 0; k < 2; k++) {
            bad[harness_random() % (size < 400 || harness_random() % 4 == 0 ? size : 400)] =
                (uint8_t)harness_random();
        }
        reseal(bad, size);
        if (facet_machine_restore(m, bad, size, NULL) == FACET_OK) {
            (void)run_for(m, 50); /* a legal state, whatever it is, runs */
        }
    }
    free(bad);
    facet_blob_free(&good);
    facet_machine_destroy(m);
}

TEST(another_kind_or_configuration_is_refused, "")
{
    struct acc_config larger = {ACC_RAM_BYTES * 2};
    facet_machine *a = make_counters(&acc_ops), *other = make(&acc_other_ops), *big;
    struct facet_blob blob = snapshot(a);
    struct facet_error err;

    CHECK(facet_machine_create(&acc_ops, &larger, &big, NULL) == FACET_OK);
    CHECK(facet_machine_restore(other, blob.data, blob.size, &err) == FACET_ERR_INPUT);
    CHECK(strstr(err.message, "of a different kind of machine, expected \"other\"") != NULL);
    CHECK(facet_machine_restore(big, blob.data, blob.size, &err) == FACET_ERR_INPUT);
    CHECK(strstr(err.message, "another region, expected \"ram\"") != NULL);
    facet_blob_free(&blob);
    facet_machine_destroy(a);
    facet_machine_destroy(other);
    facet_machine_destroy(big);
}

TEST(saving_without_memory_is_an_error, "")
{
    facet_machine *m = make_counters(&acc_ops);
    struct facet_error err;
    struct facet_blob blob;
    long good = 0;

    for (;; good++) {
        enum facet_status status;

        failing_alloc_after(good);
        status = facet_machine_snapshot(m, &blob, &err);
        failing_alloc_after(-1);
        if (status == FACET_OK) {
            break;
        }
        CHECK(status == FACET_ERR_MEMORY && blob.data == NULL);
    }
    CHECK(good > 0);
    facet_blob_free(&blob);
    CHECK(blob.data == NULL);
    facet_machine_destroy(m);
}
