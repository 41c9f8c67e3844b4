/* Machines of the page: what the files of a session share (page_open.c makes one, page_run.c moves
 * it in both directions, page_look.c says what is in it, page_list.c plays a command list on one).
 *
 * A session is a machine with its program, its past (gdb/history.h) and what the guest has printed.
 * The page names it by a small number; a number without a session is an error, never a crash. */
#ifndef FACET_PAGE_SESSION_H
#define FACET_PAGE_SESSION_H

#include "wasm/page.h"

#include "base/strbuf.h"
#include "gdb/history.h"
#include "object/symbols.h"
#include "record/record.h"
#include "tile/tile.h"

#include <facet/xphmg.h>

enum { PAGE_SESSIONS = 16, PAGE_ARGS = 256, PAGE_BREAKS = 256, PAGE_WATCHES = 32 };
enum page_machine { PAGE_HART, PAGE_TILE };

struct timing_model;
struct page_check;
struct page_list; /* a command list and how far it is (page_list.c) */

/* A range of memory, or a register, a CSR or a field of one. */
struct page_watch {
    struct facet_watch memory; /* size 0: a register of memory.core */
    uint32_t reg, csr, field;  /* of the core's tables; FACET_NONE: not one */
    uint32_t point;            /* in the machine, while it runs */
};

struct page_session {
    bool used;
    enum page_machine kind;
    facet_machine *machine;
    struct facet_object *program; /* NULL: a list without kernels */
    struct facet_symbols symbols;
    struct facet_gdb_history history;
    struct facet_gdb_host host;
    struct facet_stop stop; /* the last one */
    struct facet_strbuf console;
    uint64_t printed; /* bytes; the console keeps the first of them */
    struct facet_tile_packet packet;
    struct {
        char name[64];
        uint32_t value;
    } args[PAGE_ARGS];
    uint32_t arg_count;
    struct { /* a kernel's or a list's picture in memory; width 0: none */
        uint32_t address, width, height, stride;
        bool rgb565;
    } frame;
    uint64_t breaks[PAGE_BREAKS];
    size_t break_count;
    struct page_watch watches[PAGE_WATCHES];
    size_t watch_count, watched_registers;
    struct { /* what a stop at a watchpoint has to tell; none: PAGE_WATCHES */
        size_t index;
        struct facet_value before, after;
        uint64_t pc; /* of the instruction that did it */
    } seen;
    struct page_list *list;
    struct timing_model *timing; /* NULL: no --timing */
    unsigned lint_sets;          /* of lint/lint.h */
    struct page_check *check;    /* that is under way (page_check.c) */
};

/* NULL, and the result is an error, for a number that names none. */
struct page_session *page_session_of(uint32_t id);
/* A free one with its number, all zero; NULL, and the result is an error, when there are too many.
 */
struct page_session *page_session_new(uint32_t *id);
void page_session_end(struct page_session *s);
/* The past begins now; breakpoints, console and stop are those of a new machine. */
enum facet_status page_session_begin(struct page_session *s, struct facet_error *err);

enum facet_isa page_session_isa(const struct page_session *s);
/* " <loop+4> kernel.s:7" behind an address. */
void page_session_place(const struct page_session *s, uint64_t address, struct facet_strbuf *out);
/* The source line of an address, 0 for none. */
uint32_t page_session_line(const struct page_session *s, uint64_t address);
uint64_t page_session_pc(const struct page_session *s, uint32_t core);
/* Back to the first step. */
uint64_t page_session_first(struct page_session *s);
/* Exactly there, without breakpoints; false when memory is short. */
bool page_session_go(struct page_session *s, uint64_t steps);
/* Forward to `steps` without breakpoints, as it was before. */
void page_session_forward(struct page_session *s, uint64_t steps);
/* Members of an open object: why the machine stands. */
void page_session_put_stop(struct page_session *s, struct facet_record *r);
/* Back to the first step, to make all of them again: `now` is how many. false, and the result is an
 * error: they are too many, or memory is short. */
bool page_session_again(struct page_session *s, uint64_t *now);
/* "symbol": "loop+4", "" where no symbol is. */
void page_session_put_symbol(const struct page_session *s,
                             struct facet_record *r,
                             uint64_t address);
/* The options that all machines have: false for another, and what is wrong with its value in err.
 */
bool page_session_option(struct page_session *s,
                         const char *name,
                         const char *value,
                         struct facet_error *err);
/* Ends a check that is under way, wherever the machine is. */
void page_check_free(struct page_session *s);
/* Index in its list of each command of the queue; NULL without a list. */
const size_t *page_list_commands(const struct page_list *list, size_t *count);
/* Frees the list and its play. */
void page_list_end(struct page_list *list);

#endif
