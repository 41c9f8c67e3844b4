/* The whole xphmg machine, shared by the files that make it up: machine.c (life and face),
 * schedule.c (whose turn it is, time, the run loop), machine_state.c (snapshots), platform/
 * (devices, the ways to the host, ELF files). */
#ifndef FACET_XPHMG_MACHINE_H
#define FACET_XPHMG_MACHINE_H

#include "machine/ops.h"
#include "xphmg/hart/block.h"
#include "xphmg/hart/hart.h"
#include "xphmg/tables.h"
#include "xphmg/told.h"
#include "xphmg/units/jobs.h"
#include "xphmg/units/part.h"

#include <facet/xphmg.h>

/* What the guest can read from its console: [read, size) of the bytes that came so far. */
struct facet_xphmg_console {
    uint8_t *bytes;
    size_t read;
    size_t size;
    size_t capacity;
    bool ended;   /* no more will come */
    bool told;    /* SYS_READC has said so once */
    bool starved; /* the guest looked and found nothing */
};

struct facet_xphmg_uart {
    uint8_t ier, lcr, mcr, scr, dll, dlm, fcr;
};

struct facet_xphmg_htif {
    uint64_t tohost; /* address of the symbol, 0: none */
    uint64_t fromhost;
    uint64_t response; /* waits until the guest has taken the last one; 0: none */
    bool reading;      /* a getchar without a character yet */
    /* A write that was left on the way; nothing else happens before its end. */
    bool writing;
    uint8_t stream; /* enum facet_xphmg_stream */
    uint64_t from, size, done;
    uint64_t call; /* where its result goes */
};

/* Handles that the host's open() gave and the guest has not closed, the only ones that its other
 * callbacks see. No part of the state: a snapshot has no files. */
struct facet_xphmg_handles {
    int64_t *handles;
    size_t count;
};

struct facet_xphmg {
    /* The configuration, constant. */
    struct facet_port *port;
    facet_mem *mem;
    uint32_t hart_count;
    uint32_t quantum;
    uint64_t steps_per_tick; /* of all harts together */
    struct facet_cap_config cap;
    bool poll_input;
    struct facet_xphmg_host host;
    struct facet_xphmg_handles files;
    struct facet_hart_host hart_host;
    char *command_line;
    struct facet_csr_table csrs;
    struct facet_core_desc *cores;
    char (*core_names)[12];
    struct facet_insn *memo; /* of all harts */
    struct facet_mtx_results *mtx_results;
    facet_block_cache *cache; /* of all harts; NULL: plain executor only */
    facet_pool *pool;         /* for jobs; NULL: the calling thread only */
    struct facet_xphmg_rt_kept *rt_kept;
    struct facet_xphmg_rt_quick *rt_quick;
    struct facet_xphmg_gfx_kept *gfx_kept;
    uint64_t cache_breaks; /* break_version that its blocks were made for; 0: none */

    /* The state. */
    struct facet_hart *harts;
    struct facet_told *told; /* per hart; the harts know where */
    struct facet_xmem xmem;
    struct facet_jobs *jobs; /* NULL: jobs complete at once */
    struct facet_part part;  /* of the step that was left half-way */
    uint64_t entry;
    uint64_t clock; /* steps of all harts, passed turns included */
    /* While blocks run: their hart, and how many of its instructions the clock counts. */
    const struct facet_hart *in_blocks;
    uint64_t counted;
    uint64_t mtime;        /* as the current hart sees it: clock / steps_per_tick + mtime_offset */
    uint64_t mtime_offset; /* from writes to mtime */
    uint64_t *mtimecmp;
    uint64_t msip; /* a bit per hart */
    uint32_t current;
    uint32_t turn_left; /* steps; not counted when there is one hart */
    bool idle;          /* everybody waits and no timer will fire */
    bool running;       /* inside facet_xphmg_run; no state */
    struct facet_xphmg_console console;
    struct facet_xphmg_uart uart;
    struct facet_xphmg_framebuffer framebuffer; /* stride as written, 0 included */
    struct facet_xphmg_htif htif;
    uint32_t semihost_errno;
    struct facet_xphmg_fault *last_trap; /* per hart: the last one outside its own handler */
    uint8_t end;                         /* 0, FACET_STOP_EXIT or FACET_STOP_FAULT */
    uint32_t end_core;
    uint64_t end_code;
    uint64_t end_address;
};

extern const struct facet_machine_ops facet_xphmg_ops;

/* ---- schedule.c ---- */
void facet_xphmg_run(void *self, uint64_t budget, struct facet_stop *stop);
uint32_t facet_xphmg_next_core(const void *self);
/* What mtime is now; m->mtime is what a hart saw when it last looked. */
uint64_t facet_xphmg_mtime(const struct facet_xphmg *m);
/* The interrupt lines of a hart at a time. */
uint64_t facet_xphmg_mip(const struct facet_xphmg *m, uint64_t mtime, uint64_t hartid);
/* mtime and the hart's interrupt lines, as of now. */
void facet_xphmg_refresh(struct facet_xphmg *m, struct facet_hart *h);
/* The clock goes on to what the hart has retired, in the middle of a block (facet_hart_host). */
void facet_xphmg_catch_up(void *self, struct facet_hart *h);
/* Whose turn it is, after anything that may have changed it. */
void facet_xphmg_settle(struct facet_xphmg *m);
/* The guest asked to end; the first call counts. */
void facet_xphmg_end(struct facet_xphmg *m, uint32_t core, uint64_t code);

/* ---- the platform ---- */
enum facet_status facet_xphmg_add_devices(struct facet_xphmg *m, struct facet_error *err);
bool facet_xphmg_clint_read(void *context, uint64_t offset, unsigned size, uint64_t *value);
bool facet_xphmg_clint_write(void *context, uint64_t offset, unsigned size, uint64_t value);
bool facet_xphmg_uart_read(void *context, uint64_t offset, unsigned size, uint64_t *value);
bool facet_xphmg_uart_write(void *context, uint64_t offset, unsigned size, uint64_t value);
bool facet_xphmg_framebuffer_read(void *context, uint64_t offset, unsigned size, uint64_t *value);
bool facet_xphmg_framebuffer_write(void *context, uint64_t offset, unsigned size, uint64_t value);
void facet_xphmg_framebuffer_visit(struct facet_xphmg_framebuffer *fb, struct facet_state_io *io);
/* When a run starts and after a step: does what the guest asks for in tohost. */
void facet_xphmg_htif_poll(struct facet_xphmg *m, uint32_t core);
/* Has the block executor leave stores near tohost and fromhost to the plain one. */
void facet_xphmg_watch_htif(struct facet_xphmg *m);
enum facet_host_answer facet_xphmg_semihost(void *context, struct facet_hart *h);

/* ---- the console ---- */
void facet_xphmg_output(struct facet_xphmg *m,
                        enum facet_xphmg_stream stream,
                        const void *data,
                        size_t size);
/* Whether a byte can be read now. When not, and more may come, *wait says that the instruction
 * should be tried again (never with poll_input). */
bool facet_xphmg_input_ready(struct facet_xphmg *m, bool *wait);

/* ---- machine_state.c ---- */
void facet_xphmg_save(const void *self, struct facet_state_io *io);
void facet_xphmg_load(void *self, struct facet_state_io *io);

#endif
