/* Frames of the remote protocol: $payload#checksum, acknowledgements, the interrupt byte. */
#ifndef FACET_GDB_PACKET_H
#define FACET_GDB_PACKET_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FACET_GDB_PACKET_BYTES 0x8000 /* of payload that we accept; reported to the debugger */

enum facet_gdb_event {
    FACET_GDB_NOTHING, /* the frame is not complete, or noise between frames */
    FACET_GDB_PACKET,  /* data and length, checksum right */
    FACET_GDB_DAMAGED, /* the same with a wrong checksum */
    FACET_GDB_TOO_LONG,
    FACET_GDB_ACK,
    FACET_GDB_NAK,
    FACET_GDB_INTERRUPT,
};

struct facet_gdb_reader {
    enum { FACET_GDB_OUTSIDE, FACET_GDB_PAYLOAD, FACET_GDB_ESCAPED, FACET_GDB_SUM } state;
    uint8_t sum;       /* of the payload so far, as sent */
    uint8_t sum_chars; /* of the checksum */
    char sum_text[2];
    bool too_long;
    size_t length;
    char data[FACET_GDB_PACKET_BYTES + 1]; /* escapes undone, NUL-terminated */
};

/* All zero is the start. */
enum facet_gdb_event facet_gdb_read_byte(struct facet_gdb_reader *reader, uint8_t byte);

/* Appends the frame around a payload, escaped as needed. */
void facet_gdb_frame(struct facet_strbuf *out, const char *payload, size_t length);

/* A text being taken apart. */
struct facet_gdb_text {
    const char *at;
    const char *end;
};

/* 0..15, or -1. */
int facet_gdb_hex_digit(char c);
/* One to sixteen hexadecimal digits; false leaves the text alone. */
bool facet_gdb_take_hex(struct facet_gdb_text *text, uint64_t *value);
/* This one character. */
bool facet_gdb_take_char(struct facet_gdb_text *text, char c);
/* This word. */
bool facet_gdb_take_word(struct facet_gdb_text *text, const char *word);
/* Two digits per byte, exactly `size` bytes. */
bool facet_gdb_take_bytes(struct facet_gdb_text *text, uint8_t *bytes, size_t size);

void facet_gdb_put_hex(struct facet_strbuf *out, const void *bytes, size_t size);

#endif
