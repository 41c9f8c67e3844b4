/* One file of the remote side: the program with its names and source lines. A debugger that was
 * started without one asks for its name (qXfer:exec-file) and reads it by these packets, so that
 * what Facet assembled itself has lines, too. "Host I/O Packets" in the GDB manual. */
#include "gdb/internal.h"

#include <inttypes.h>
#include <string.h>

/* Errors of the protocol's own numbering. */
enum { NOT_FOUND = 2, BAD_FILE = 9, INVALID = 22, PIECE = FACET_GDB_PACKET_BYTES / 4 };

const char facet_gdb_program_name[] = "/facet/program.elf";

static void refuse(struct facet_gdb *gdb, int error)
{
    facet_strbuf_clear(&gdb->reply);
    facet_strbuf_printf(&gdb->reply, "F-1,%x", error);
}

static void open_file(struct facet_gdb *gdb, struct facet_gdb_text text)
{
    const char *comma = memchr(text.at, ',', (size_t)(text.end - text.at));
    size_t length = sizeof facet_gdb_program_name - 1;
    uint8_t name[sizeof facet_gdb_program_name];
    struct facet_gdb_text digits = {text.at, comma};

    if (comma == NULL || (size_t)(comma - text.at) != 2 * length ||
        !facet_gdb_take_bytes(&digits, name, length) ||
        memcmp(name, facet_gdb_program_name, length) != 0) {
        refuse(gdb, NOT_FOUND);
        return;
    }
    gdb->file_fds++;
    facet_strbuf_puts(&gdb->reply, "F1");
}

static void read_file(struct facet_gdb *gdb, struct facet_gdb_text text)
{
    uint64_t count, offset, left;

    if (!facet_gdb_take_char(&text, ',') || !facet_gdb_take_hex(&text, &count) ||
        !facet_gdb_take_char(&text, ',') || !facet_gdb_take_hex(&text, &offset) ||
        text.at != text.end) {
        refuse(gdb, INVALID);
        return;
    }
    left = offset < gdb->host.program_size ? gdb->host.program_size - offset : 0;
    count = count < left ? count : left;
    count = count < PIECE ? count : PIECE;
    facet_strbuf_printf(&gdb->reply, "F%" PRIx64 ";", count);
    if (count != 0) {
        facet_strbuf_add(&gdb->reply, (const char *)gdb->host.program + offset, (size_t)count);
    }
}

/* struct stat of the protocol: mode at 8, size at 28 of 64 bytes, numbers big-endian. */
static void tell_file(struct facet_gdb *gdb)
{
    uint8_t stat[64] = {0};
    uint32_t mode = 0100444;

    for (unsigned i = 0; i < 4; i++) {
        stat[8 + i] = (uint8_t)(mode >> (24 - 8 * i));
    }
    for (unsigned i = 0; i < 8; i++) {
        stat[28 + i] = (uint8_t)((uint64_t)gdb->host.program_size >> (56 - 8 * i));
    }
    facet_strbuf_printf(&gdb->reply, "F%x;", (unsigned)sizeof stat);
    facet_strbuf_add(&gdb->reply, (const char *)stat, sizeof stat);
}

void facet_gdb_file(struct facet_gdb *gdb, struct facet_gdb_text text)
{
    uint64_t fd;

    if (facet_gdb_take_word(&text, "setfs:")) {
        facet_strbuf_puts(&gdb->reply, "F0"); /* there is one file system */
    } else if (facet_gdb_take_word(&text, "open:")) {
        open_file(gdb, text);
    } else if (facet_gdb_take_word(&text, "pread:")) {
        if (facet_gdb_take_hex(&text, &fd) && fd == 1 && gdb->file_fds != 0) {
            read_file(gdb, text);
        } else {
            refuse(gdb, BAD_FILE);
        }
    } else if (facet_gdb_take_word(&text, "fstat:")) {
        if (facet_gdb_take_hex(&text, &fd) && fd == 1 && gdb->file_fds != 0) {
            tell_file(gdb);
        } else {
            refuse(gdb, BAD_FILE);
        }
    } else if (facet_gdb_take_word(&text, "close:")) {
        if (facet_gdb_take_hex(&text, &fd) && fd == 1 && gdb->file_fds != 0) {
            gdb->file_fds--;
            facet_strbuf_puts(&gdb->reply, "F0");
        } else {
            refuse(gdb, BAD_FILE);
        }
    }
}
