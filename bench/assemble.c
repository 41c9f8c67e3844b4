/* The assembler beside GNU as, both as programs on the same file of a million RV64 instructions,
 * from start to finished output: the measurement `assemble` of area isa. */
#include "bench/assemble.h"

#include "base/error.h"
#include "base/file.h"
#include "base/random.h"
#include "base/strbuf.h"
#include "bench/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INSTRUCTIONS = 1000000, PER_LABEL = 40 };

static struct {
    bool ready;
    char source[BENCH_SCRATCH_PATH], facet_out[BENCH_SCRATCH_PATH], gnu_out[BENCH_SCRATCH_PATH];
    char program[4096]; /* this one */
} data;

/* What compilers write: arithmetic, loads and stores, branches in both directions, pseudo
 * instructions, some floating point. r, s, t are registers, i an immediate, L a label nearby. */
static void put_instruction(struct facet_strbuf *out, uint64_t r, long label, long last)
{
    static const char *const names[] = {"a0",
                                        "a1",
                                        "a2",
                                        "a3",
                                        "a4",
                                        "a5",
                                        "t0",
                                        "t1",
                                        "s0",
                                        "s1",
                                        "s2",
                                        "s3",
                                        "sp",
                                        "ra",
                                        "zero",
                                        "x31"};
    const char *d = names[r & 15], *s = names[r >> 4 & 15], *t = names[r >> 8 & 15];
    int imm = (int)(r >> 12 & 4095) - 2048;
    long near = label + (long)(r >> 24 & 15) - 8;

    near = near < 0 ? 0 : near > last ? last : near;
    switch (r >> 32 & 15) {
    case 0:
    case 1:
        facet_strbuf_printf(out, "\tadd\t%s,%s,%s\n", d, s, t);
        break;
    case 2:
    case 3:
        facet_strbuf_printf(out, "\taddi\t%s,%s,%d\n", d, s, imm);
        break;
    case 4:
    case 5:
        facet_strbuf_printf(out, "\tld\t%s,%d(%s)\n", d, imm, s);
        break;
    case 6:
        facet_strbuf_printf(out, "\tsd\t%s,%d(%s)\n", d, imm, s);
        break;
    case 7:
        facet_strbuf_printf(out, "\tlw\t%s,%d(%s)\n", d, imm, s);
        break;
    case 8:
        facet_strbuf_printf(out, "\tbne\t%s,%s,.L%ld\n", s, t, near);
        break;
    case 9:
        facet_strbuf_printf(out, "\tj\t.L%ld\n", near);
        break;
    case 10:
        facet_strbuf_printf(out, "\tmv\t%s,%s\n", d, s);
        break;
    case 11:
        facet_strbuf_printf(out, "\tslli\t%s,%s,%d\n", d, s, imm & 63);
        break;
    case 12:
        facet_strbuf_printf(out, "\tlui\t%s,%d\n", d, imm & 2047);
        break;
    case 13:
        facet_strbuf_printf(out, "\tli\t%s,%d\n", d, imm);
        break;
    case 14:
        facet_strbuf_puts(out, "\tfmadd.d\tfa0,fa1,fa2,fa3\n");
        break;
    default:
        facet_strbuf_printf(out, "\tmul\t%s,%s,%s\n", d, s, t);
        break;
    }
}

static enum facet_status write_source(struct facet_error *err)
{
    struct facet_strbuf text;
    enum facet_status status;

    facet_strbuf_init(&text);
    facet_strbuf_puts(&text, "\t.option norvc\n\t.option norelax\n");
    for (long i = 0; i < INSTRUCTIONS; i++) {
        if (i % PER_LABEL == 0) {
            facet_strbuf_printf(&text, ".L%ld:\n", i / PER_LABEL);
        }
        put_instruction(
            &text, facet_random(7, (uint64_t)i), i / PER_LABEL, (INSTRUCTIONS - 1) / PER_LABEL);
    }
    status = text.failed ? facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory")
                         : facet_file_write(data.source, text.text, text.length, err);
    facet_strbuf_free(&text);
    return status;
}

static enum facet_status prepare_source(struct facet_error *err)
{
    enum facet_status status;
    ssize_t length;

    if (data.ready) {
        return FACET_OK;
    }
    length = readlink("/proc/self/exe", data.program, sizeof data.program - 1);
    if (length <= 0) {
        return facet_fail(err, FACET_ERR_IO, 0, "this program cannot find its own file");
    }
    if ((status = bench_scratch("bench.s", data.source, err)) == FACET_OK &&
        (status = bench_scratch("facet.elf", data.facet_out, err)) == FACET_OK &&
        (status = bench_scratch("gnu.o", data.gnu_out, err)) == FACET_OK) {
        status = write_source(err);
    }
    data.ready = status == FACET_OK;
    return status;
}

static enum facet_status rate_of(char *const *argv, double *value, struct facet_error *err)
{
    enum facet_status status = prepare_source(err);
    double seconds;

    if (status == FACET_OK) {
        status = bench_spawn(argv, &seconds, err);
    }
    if (status == FACET_OK) {
        *value = INSTRUCTIONS / seconds / 1e6;
    }
    return status;
}

enum facet_status bench_assemble_facet(double seconds, double *value, struct facet_error *err)
{
    char *argv[] = {data.program, "as", data.source, "--isa", "xphmg", "-o", data.facet_out, NULL};

    (void)seconds; /* one run of the program is one measurement */
    return rate_of(argv, value, err);
}

enum facet_status bench_assemble_gnu(double seconds, double *value, struct facet_error *err)
{
    char *argv[] = {"riscv64-unknown-elf-as",
                    "-march=rv64imafdc",
                    "-mno-arch-attr",
                    data.source,
                    "-o",
                    data.gnu_out,
                    NULL};

    (void)seconds;
    return rate_of(argv, value, err);
}
