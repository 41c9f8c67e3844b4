/* Any program, registers and image on the gfx12 machine: it stops for one of the reasons that it
 * has, and a run in two pieces with a snapshot between them ends in the same state.
 *
 * The input: bits (loop or straight program, lanes), steps of the first piece, 32 dwords of code,
 * then registers of lane 0 (a byte which v register, a dword) up to a byte of 0xFF; the rest is the
 * image. */
#include "fuzz/fuzz.h"
#include "fuzz/machine.h"

#include "base/bits.h"

#include <facet/gfx12.h>

enum { IMAGE = 4096, WORDS = 32, STEPS = 300 };

static facet_machine *make(void)
{
    const struct facet_gfx12_config config = {.lanes = 3, .image_bytes = IMAGE};
    facet_machine *machine;

    fuzz_require(facet_gfx12_create(&config, &machine, NULL) == FACET_OK);
    return machine;
}

static void prepare(facet_machine *m, struct fuzz_bytes *in, unsigned bits)
{
    static const float origin[3] = {0.25f, 0.5f, -4}, direction[3] = {0.125f, -0.25f, 1};
    struct facet_gfx12_query query;
    uint32_t words[WORDS];
    uint8_t image[IMAGE] = {0}, which;

    for (unsigned i = 0; i < WORDS; i++) {
        words[i] = (uint32_t)fuzz_take(in, 4);
    }
    if (words[0] != 0) { /* else the built-in program */
        fuzz_require(facet_gfx12_set_program(m, words, WORDS, (bits & 1) != 0, NULL) == FACET_OK);
    }
    facet_gfx12_query_init(&query, origin, direction);
    for (uint32_t lane = 0; lane <= (bits >> 1 & 3) % 3; lane++) {
        fuzz_require(facet_gfx12_start(m, lane, &query, NULL) == FACET_OK);
    }
    while (in->left > 0 && (which = (uint8_t)fuzz_take(in, 1)) != 0xFF) {
        struct facet_value value = {fuzz_take(in, 4), 0};

        fuzz_require(facet_machine_reg_write(m, 0, which, value, NULL) == FACET_OK);
    }
    memcpy(image, in->at, in->left < IMAGE ? in->left : IMAGE);
    fuzz_require(facet_machine_write(m, 0, 0, image, IMAGE, NULL) == FACET_OK);
}

static void run(facet_machine *m, uint64_t budget)
{
    struct facet_stop stop;

    facet_machine_run(m, &(struct facet_run){.budget = budget}, &stop);
    fuzz_require(stop.reason == FACET_STOP_BUDGET || stop.reason == FACET_STOP_EXIT ||
                 (stop.reason == FACET_STOP_FAULT && stop.code >= FACET_GFX12_ILLEGAL &&
                  stop.code <= FACET_GFX12_ENDLESS));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_machine kept;
    struct fuzz_bytes in = {data, size};
    struct facet_blob middle, whole, pieces;
    unsigned bits = (unsigned)fuzz_take(&in, 1);
    uint64_t first = fuzz_take(&in, 1);
    facet_machine *m;

    if (kept.machine == NULL) {
        fuzz_keep(&kept, make());
    }
    m = fuzz_rewind(&kept);
    prepare(m, &in, bits);
    run(m, first);
    fuzz_require(facet_machine_snapshot(m, &middle, NULL) == FACET_OK);
    run(m, STEPS);
    fuzz_require(facet_machine_snapshot(m, &whole, NULL) == FACET_OK);
    fuzz_require(facet_machine_restore(m, middle.data, middle.size, NULL) == FACET_OK);
    run(m, STEPS);
    fuzz_require(facet_machine_snapshot(m, &pieces, NULL) == FACET_OK);
    fuzz_require_same(&whole, &pieces);
    facet_blob_free(&middle);
    facet_blob_free(&whole);
    facet_blob_free(&pieces);
    return 0;
}
