/* A debugger that is a list of lines: each packet is sent when the stub waits for one, and the
 * answers are kept. */
#ifndef FACET_TESTS_GDB_DESK_H
#define FACET_TESTS_GDB_DESK_H

#include "machine/acc_test.h"

#include "gdb/gdb.h"
#include "gdb/packet.h"

#include <stdio.h>

enum { DESK_ANSWERS = 64, DESK_BYTES = 1 << 16 };

struct desk_line {
    const char *packet;
    const char *answer; /* NULL: any */
};

struct desk {
    facet_machine *machine;
    facet_gdb *gdb;
    const struct desk_line *lines;
    size_t count;
    size_t next;
    unsigned looks;        /* of the stub while the machine ran */
    unsigned interrupt_at; /* look at which an interrupt byte comes; 0: never */
    char sent[DESK_BYTES];
    size_t sent_size;
    char said[4096]; /* what O packets said, as text */
    enum facet_gdb_idle idle;
};

static inline bool desk_send(void *context, const void *data, size_t size)
{
    struct desk *d = context;

    if (d->sent_size + size < sizeof d->sent) {
        memcpy(d->sent + d->sent_size, data, size);
        d->sent_size += size;
    }
    return true;
}

static inline long desk_receive(void *context, void *data, size_t size, bool wait)
{
    struct desk *d = context;
    static struct facet_strbuf frame; /* kept, for sessions whose allocations fail */

    if (!wait) {
        *(uint8_t *)data = 0x03;
        return d->interrupt_at != 0 && ++d->looks == d->interrupt_at;
    }
    if (d->next == d->count) {
        return -1;
    }
    facet_strbuf_clear(&frame);
    facet_gdb_frame(&frame, d->lines[d->next].packet, strlen(d->lines[d->next].packet));
    CHECK(frame.length <= size);
    memcpy(data, frame.text, frame.length);
    d->next++;
    return (long)frame.length;
}

static inline struct facet_gdb_host desk_host(struct desk *d)
{
    return (struct facet_gdb_host){
        .context = d, .line = d, .send = desk_send, .receive = desk_receive};
}

static inline void desk_hear(struct desk *d, const struct facet_gdb_reader *r)
{
    size_t at = strlen(d->said);

    for (size_t i = 1; i + 1 < r->length && at + 1 < sizeof d->said; i += 2) {
        d->said[at++] =
            (char)(facet_gdb_hex_digit(r->data[i]) * 16 + facet_gdb_hex_digit(r->data[i + 1]));
    }
    d->said[at] = '\0';
}

/* Talks through the lines and compares the answers. */
static inline void desk_talk(struct desk *d, const struct desk_line *lines, size_t count)
{
    static struct facet_gdb_reader r;
    size_t answer = 0;

    d->lines = lines;
    d->count = count;
    d->next = d->sent_size = 0;
    d->said[0] = '\0';
    memset(&r, 0, sizeof r);
    (void)facet_gdb_serve(d->gdb);
    for (size_t i = 0; i < d->sent_size; i++) {
        if (facet_gdb_read_byte(&r, (uint8_t)d->sent[i]) != FACET_GDB_PACKET) {
            continue;
        }
        if (r.data[0] == 'O' && strcmp(r.data, "OK") != 0) {
            desk_hear(d, &r);
            continue;
        }
        if (answer < count && lines[answer].answer != NULL) {
            CHECK_MSG(strcmp(r.data, lines[answer].answer) == 0,
                      "%s: answer %.200s, expected %s",
                      lines[answer].packet,
                      r.data,
                      lines[answer].answer);
        }
        answer++;
    }
    CHECK_EQ(answer, count);
}

#define TALK(desk, ...)                                                                            \
    do {                                                                                           \
        const struct desk_line lines_[] = {__VA_ARGS__};                                           \
        desk_talk((desk), lines_, COUNT(lines_));                                                  \
    } while (0)

static inline void desk_open(struct desk *d, facet_machine *machine)
{
    struct facet_gdb_host host = desk_host(d);

    memset(d, 0, sizeof *d);
    d->machine = machine;
    if (!CHECK(facet_gdb_create(machine, &host, &d->gdb, NULL) == FACET_OK)) {
        exit(1);
    }
}

static inline void desk_close(struct desk *d)
{
    facet_gdb_destroy(d->gdb);
    facet_machine_destroy(d->machine);
}

/* Whether the counters stand as after so many steps of a plain run. */
static inline bool is_at(const struct desk *d, uint64_t steps)
{
    facet_machine *other = make_counters(&acc_ops);
    bool same;

    (void)run_for(other, steps);
    same = same_state(d->machine, other);
    facet_machine_destroy(other);
    return same;
}

#endif
