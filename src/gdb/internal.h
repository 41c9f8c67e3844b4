/* The stub's own record, shared by the files of this folder. */
#ifndef FACET_GDB_INTERNAL_H
#define FACET_GDB_INTERNAL_H

#include "gdb/gdb.h"
#include "gdb/history.h"
#include "gdb/packet.h"
#include "gdb/target.h"

enum facet_gdb_point_type { /* as Z packets number them */
                            FACET_GDB_SOFTWARE,
                            FACET_GDB_HARDWARE,
                            FACET_GDB_WRITE,
                            FACET_GDB_READ,
                            FACET_GDB_ACCESS,
                            FACET_GDB_POINT_TYPES
};

enum { FACET_GDB_SPACES = 8 }; /* private memories that one watchpoint can be in */

struct facet_gdb_point {
    enum facet_gdb_point_type type;
    uint64_t address;
    uint64_t size;                 /* a breakpoint's kind, or bytes that are watched */
    uint32_t id[FACET_GDB_SPACES]; /* of the machine's points while it is set, else 0 */
};

#define FACET_GDB_POINTS 1024
#define FACET_GDB_INPUT_BYTES 4096

struct facet_gdb {
    facet_machine *machine;
    struct facet_gdb_host host;
    struct facet_gdb_target target;
    struct facet_gdb_history history;

    struct facet_gdb_reader reader;
    uint8_t input[FACET_GDB_INPUT_BYTES]; /* [input_at, input_size) is not yet read */
    size_t input_at;
    size_t input_size;
    enum facet_gdb_event held; /* a packet that came while the machine ran; NOTHING: none */
    struct facet_strbuf reply; /* payload */
    struct facet_strbuf frame; /* last one sent, for a debugger that asks again */
    uint8_t bytes[FACET_GDB_PACKET_BYTES]; /* of a packet, out of hexadecimal digits */
    bool no_ack;

    uint32_t core;        /* of register and memory packets (Hg) */
    uint32_t resume_core; /* of s, bs and similar packets (Hc) */
    bool core_view;       /* memory is read as the selected core sees it */
    bool locked;          /* the core that is resumed moves alone */
    size_t file_fds;      /* of the program that the debugger has opened */
    struct facet_gdb_point points[FACET_GDB_POINTS];
    size_t point_count;
    struct facet_strbuf last_stop; /* the answer to `?` */
    enum facet_gdb_idle idle;      /* what the host said last */
    bool lacking;                  /* an allocation failed: no answer follows */
    bool over;
    enum facet_gdb_end end;
};

/* stub.c: bytes in and out. */
bool facet_gdb_send(struct facet_gdb *gdb, const char *payload, size_t length);
/* The next event that is not NOTHING, ACK or NAK (those are dealt with); NOTHING: none there and
 * not waiting, or the debugger has gone (then gdb->over). */
enum facet_gdb_event facet_gdb_next(struct facet_gdb *gdb, bool wait);
/* A line for the debugger's console, while no answer is due or before it. */
void facet_gdb_say(struct facet_gdb *gdb, const char *text, size_t length);

/* points.c */
bool facet_gdb_point_add(struct facet_gdb *gdb, const struct facet_gdb_point *point);
void facet_gdb_point_remove(struct facet_gdb *gdb, const struct facet_gdb_point *point);
/* Sets all points in the machine, or takes them out. */
void facet_gdb_points_set(struct facet_gdb *gdb, bool set);
/* NULL when the id is not one of ours. */
const struct facet_gdb_point *facet_gdb_point_of(const struct facet_gdb *gdb, uint32_t id);

/* memory.c */
/* As much as can be read from the start on, as the selected core has it; how much. */
size_t facet_gdb_read_memory(struct facet_gdb *gdb, uint64_t address, uint8_t *out, size_t size);
bool facet_gdb_write_memory(struct facet_gdb *gdb,
                            uint64_t address,
                            const uint8_t *in,
                            size_t size);
/* The private space of a core that has the address, 0 when space 0 or none has it. */
uint32_t facet_gdb_private_space(const struct facet_gdb *gdb, uint32_t core, uint64_t address);

/* files.c: "vFile:..." */
void facet_gdb_file(struct facet_gdb *gdb, struct facet_gdb_text text);
extern const char facet_gdb_program_name[];

/* resume.c: each leaves its stop reply in gdb->reply. */
void facet_gdb_continue(struct facet_gdb *gdb);
void facet_gdb_step(struct facet_gdb *gdb, uint32_t core);
void facet_gdb_reverse_step(struct facet_gdb *gdb, uint32_t core);
void facet_gdb_reverse_continue(struct facet_gdb *gdb);
/* Back to the beginning of the session, with no past. */
bool facet_gdb_restart(struct facet_gdb *gdb);
/* Whether the debugger wants the machine to stop; the context is the stub. */
bool facet_gdb_line_speaks(void *context);
/* Stop reply for a debugger that just came. */
void facet_gdb_first_stop(struct facet_gdb *gdb);

/* monitor.c: `monitor COMMAND`; its text goes to `out`. */
void facet_gdb_monitor(struct facet_gdb *gdb, const char *command, struct facet_strbuf *out);

/* script.c: teaches a GDB our instructions. */
extern const char facet_gdb_script[];

#endif
