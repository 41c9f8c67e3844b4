/* Any bytes from a debugger: the stub answers well-formed frames, ends when the debugger goes, and
 * leaves a machine whose state is sound.
 *
 * An input that starts with `!` is sent as it is; any other is a list of payloads, one in a line,
 * that get their frames here, so that mutations are not all lost to the checksum. */
#include "fuzz/fuzz.h"
#include "fuzz/machine.h"
#include "machine/acc.h"

#include "base/bits.h"
#include "gdb/gdb.h"
#include "gdb/packet.h"

#include <stdlib.h>
#include <string.h>

/* Steps of the machine, and of all the times it goes through them. */
enum { LIFE = 200, WORK = 1000 };

static struct fuzz_machine kept;
static uint64_t work;

struct line {
    const uint8_t *data;
    size_t size;
    size_t at;
    bool raw;
    struct facet_gdb_reader answers;
};

static bool take_answer(void *context, const void *data, size_t size)
{
    struct line *line = context;

    for (size_t i = 0; i < size; i++) {
        enum facet_gdb_event event =
            facet_gdb_read_byte(&line->answers, ((const uint8_t *)data)[i]);

        fuzz_require(event != FACET_GDB_DAMAGED && event != FACET_GDB_INTERRUPT);
    }
    return true;
}

static long give_bytes(void *context, void *out, size_t size, bool wait)
{
    struct line *line = context;
    size_t left = line->size - line->at, length;
    const uint8_t *start = line->data + line->at, *end;
    struct facet_strbuf frame;

    (void)wait;
    if (left == 0 || work > WORK) {
        return -1;
    }
    if (line->raw) {
        length = left < 7 ? left : 7; /* in pieces, as a socket might */
        memcpy(out, start, length);
        line->at += length;
        return (long)length;
    }
    end = memchr(start, '\n', left);
    length = end != NULL ? (size_t)(end - start) : left;
    line->at += length + (end != NULL);
    length = length < size / 4 ? length : size / 4; /* the frame may be twice as long */
    facet_strbuf_init(&frame);
    facet_gdb_frame(&frame, (const char *)start, length);
    length = frame.length;
    memcpy(out, frame.text, length);
    facet_strbuf_free(&frame);
    return (long)length;
}

static void put(facet_machine *m, uint64_t at, const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t bytes[4];

        facet_store_le32(bytes, words[i]);
        fuzz_require(facet_machine_write(m, 0, at + i * 4, bytes, 4, NULL) == FACET_OK);
    }
}

/* Loops for ever are quick to write: after LIFE steps the machine waits for good. That is a
 * function of its state, so the past can be gone back to; who goes back too often loses the line.
 */
static void run_for_life(void *self, uint64_t budget, struct facet_stop *stop)
{
    const uint64_t done = facet_machine_steps(kept.machine);

    if (done >= LIFE) {
        stop->reason = FACET_STOP_IDLE;
    } else {
        acc_ops.run(self, budget < LIFE - done ? budget : LIFE - done, stop);
        work += stop->steps;
    }
}

/* Counts down from 40 and ends; the other core looks on. */
static facet_machine *make(void)
{
    static struct facet_machine_ops ops;
    static const uint32_t code0[] = {
        ACC_LD(0x1000), ACC_ADD(0x2000), ACC_ST(0x1000), ACC_JNZ(0), ACC_EXIT};
    static const uint32_t code1[] = {
        ACC_LD(0x1000), ACC_ST(ACC_LOCAL | 8), ACC_JNZ(ACC_CODE1), ACC_HALT};
    static const uint32_t forty[] = {40}, minus_one[] = {UINT32_MAX};
    facet_machine *m;

    ops = acc_ops;
    ops.run = run_for_life;
    fuzz_require(facet_machine_create(&ops, NULL, &m, NULL) == FACET_OK);
    put(m, 0, code0, sizeof code0 / sizeof code0[0]);
    put(m, ACC_CODE1, code1, sizeof code1 / sizeof code1[0]);
    put(m, 0x1000, forty, 1);
    put(m, 0x2000, minus_one, 1);
    return m;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct line line;
    struct facet_gdb_host host = {.line = &line,
                                  .send = take_answer,
                                  .receive = give_bytes,
                                  .program = "a program",
                                  .program_size = 9};
    struct facet_blob state;
    facet_machine *m;
    facet_gdb *gdb;

    if (kept.machine == NULL) {
        fuzz_keep(&kept, make());
    }
    m = fuzz_rewind(&kept);
    memset(&line, 0, sizeof line);
    line.raw = size > 0 && data[0] == '!';
    line.data = data;
    line.size = size;
    work = 0;
    if (facet_gdb_create(m, &host, &gdb, NULL) == FACET_OK) {
        (void)facet_gdb_serve(gdb);
        facet_gdb_destroy(gdb);
        if (facet_machine_snapshot(m, &state, NULL) == FACET_OK) {
            fuzz_require(facet_machine_restore(m, state.data, state.size, NULL) == FACET_OK);
            facet_blob_free(&state);
        }
    }
    return 0;
}
