/* Area `isa`: assembling a million instructions (assemble.c), decoding and printing words, one
 * thread. Decoding has no peer; printing is compared with GNU objdump on the same words (a whole
 * program with a file to read, so the far end of the scale). */
#include "bench/assemble.h"

#include "base/error.h"
#include "base/file.h"
#include "bench/scratch.h"
#include "isa/isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORDS = 1 << 16 };

static struct {
    bool ready;
    uint32_t random[WORDS];
    uint32_t legal[FACET_ISA_COUNT][WORDS];
    uint32_t base[WORDS]; /* 32-bit rows that GNU knows */
} data;

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* Legal words: a random row, random fields. */
static uint32_t legal_word(enum facet_isa isa, bool base, uint64_t *state)
{
    for (;;) {
        const struct facet_insn_row *row =
            &facet_isa_rows[isa][next_random(state) % facet_isa_row_count[isa]];
        uint32_t word = ((uint32_t)next_random(state) & ~row->mask) | row->match;
        bool fits = !base || (row->length == 4 && row->file[0] == 'r' && row->file[1] == 'v');

        if (fits && facet_isa_decode(isa, word) == row) {
            return word;
        }
    }
}

static void prepare(void)
{
    uint64_t state = 1;

    if (data.ready) {
        return;
    }
    for (int i = 0; i < WORDS; i++) {
        data.random[i] = (uint32_t)next_random(&state);
        data.legal[FACET_ISA_XPHMG][i] = legal_word(FACET_ISA_XPHMG, false, &state);
        data.legal[FACET_ISA_TILE][i] = legal_word(FACET_ISA_TILE, false, &state);
        data.base[i] = legal_word(FACET_ISA_XPHMG, true, &state);
    }
    data.ready = true;
}

struct job {
    enum facet_isa isa;
    const uint32_t *words;
};

static uint64_t decode(void *context, uint64_t count)
{
    const struct job *job = context;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < count; i++) {
        sum += (uintptr_t)facet_isa_decode(job->isa, job->words[i % WORDS]);
    }
    return sum;
}

static uint64_t print(void *context, uint64_t count)
{
    const struct job *job = context;
    uint64_t sum = 0;
    char text[160];

    for (uint64_t i = 0; i < count; i++) {
        sum += facet_isa_print(job->isa, job->words[i % WORDS], 4 * i, NULL, text, sizeof text);
    }
    return sum;
}

#define MEASURE(name, isa, array, work)                                                            \
    static enum facet_status name(double seconds, double *value, struct facet_error *err)          \
    {                                                                                              \
        struct job job = {isa, data.array};                                                        \
        (void)err;                                                                                 \
        prepare();                                                                                 \
        *value = bench_rate(work, &job, seconds) * 1e-6;                                           \
        return FACET_OK;                                                                           \
    }

/* clang-format off */
MEASURE(decode_random, FACET_ISA_XPHMG, random, decode)
MEASURE(decode_xphmg, FACET_ISA_XPHMG, legal[FACET_ISA_XPHMG], decode)
MEASURE(decode_tile, FACET_ISA_TILE, legal[FACET_ISA_TILE], decode)
MEASURE(print_base, FACET_ISA_XPHMG, base, print)
/* clang-format on */

/* objdump over a file of the same words, its start included. */
static enum facet_status objdump(double seconds, double *value, struct facet_error *err)
{
    char path[BENCH_SCRATCH_PATH];
    char *argv[] = {(char *)"riscv64-unknown-elf-objdump",
                    (char *)"-D",
                    (char *)"-b",
                    (char *)"binary",
                    (char *)"-m",
                    (char *)"riscv:rv64",
                    (char *)"-M",
                    (char *)"no-aliases,numeric",
                    path,
                    NULL};
    double each = 0, total = 0;
    unsigned runs = 0;
    enum facet_status status = bench_scratch("words.bin", path, err);

    prepare();
    if (status == FACET_OK) {
        status = facet_file_write(path, data.base, sizeof data.base, err);
    }
    while (status == FACET_OK && (runs == 0 || total < seconds)) {
        status = bench_spawn(argv, &each, err);
        total += each;
        runs++;
    }
    if (status == FACET_OK) {
        *value = runs * (double)WORDS / total * 1e-6;
    }
    return status;
}

static const struct bench_measure measures[] = {
    {"assemble", "Minsn/s", bench_assemble_facet, "GNU as", bench_assemble_gnu},
    {"decode", "Mword/s", decode_xphmg, NULL, NULL},
    {"decode_tile", "Mword/s", decode_tile, NULL, NULL},
    {"decode_random", "Mword/s", decode_random, NULL, NULL},
    {"print", "Mword/s", print_base, "GNU objdump", objdump},
    {NULL, NULL, NULL, NULL, NULL},
};

const struct bench_area bench_area_isa = {
    .name = "isa",
    .summary = "assembling a million RV64 instructions, decoding and printing words",
    .measures = measures,
};
