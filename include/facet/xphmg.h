/* The xphmg machine: RV64GC harts with the XPHMG extensions, RAM, and a small platform that runs
 * bare-metal programs made for QEMU's `virt` machine or for Spike. Everything after creation is
 * written against facet/machine.h; this header has what only this kind needs.
 *
 *   0x00100000  finisher   0x5555 ends with code 0, 0x3333 | code << 16 with `code`
 *   0x02000000  clint      msip, mtimecmp, mtime
 *   0x10000000  uart       16550: transmit and receive, polled
 *   0x11000000  framebuffer: where a picture lies and how it is stored
 *   0x40000000  lds        64 KiB of local memory (XMEM)
 *   0x80000000  ram        ram_bytes
 * (or where `configuration` says)
 * and, found by symbols of the ELF file, HTIF (`tohost`, `fromhost`); and RISC-V semihosting.
 *
 * Order and time. Harts take turns: `quantum` steps of one, then of the next. A hart that waits
 * (WFI) lets its turn pass. The machine's clock counts the steps of all harts, passed turns
 * included; mtime advances by one every instructions_per_tick * harts steps. When every hart waits,
 * the clock jumps to the next timer interrupt; when there is none, the machine is idle. The end of
 * a turn breaks the hart's LR reservation. So all of this is a function of the state, and the same
 * with or without the cache of decoded blocks.
 *
 * The library does no input or output: what the guest writes goes to a callback, what it reads was
 * given with facet_xphmg_input. When the guest wants to read and nothing is there, run stops with
 * FACET_STOP_IDLE, and the instruction is tried again by the next run. */
#ifndef FACET_XPHMG_H
#define FACET_XPHMG_H

#include <facet/machine.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define FACET_XPHMG_RAM_BASE UINT64_C(0x80000000)
#define FACET_XPHMG_RAM_BYTES (UINT64_C(128) << 20) /* default */
#define FACET_XPHMG_RAM_MAX (UINT64_C(1) << 36)
#define FACET_XPHMG_MAX_HARTS 64
#define FACET_XPHMG_QUANTUM 1024              /* default; at least 64, so that LR/SC loops end */
#define FACET_XPHMG_INSTRUCTIONS_PER_TICK 100 /* default: mtime at 10 MHz of a 1 GHz hart */
#define FACET_XPHMG_HOST_CODE 50              /* default */
#define FACET_XPHMG_NO_HOST_CODE UINT32_MAX   /* or more: never */

/* Where the guest writes to. */
enum facet_xphmg_stream { FACET_XPHMG_OUT = 1, FACET_XPHMG_ERR = 2 };

/* Files for semihosting. Every call returns a value >= 0 or a negated RISC-V newlib errno; a member
 * that is NULL refuses. Paths are the guest's words: the implementation decides what they may
 * reach. */
struct facet_xphmg_files {
    int64_t (*open)(void *context, const char *path, unsigned mode); /* mode: SYS_OPEN's 0..11 */
    int64_t (*close)(void *context, int64_t handle);
    int64_t (*read)(void *context, int64_t handle, void *data, size_t size);
    int64_t (*write)(void *context, int64_t handle, const void *data, size_t size);
    int64_t (*seek)(void *context, int64_t handle, uint64_t position);
    int64_t (*length)(void *context, int64_t handle);
};

struct facet_xphmg_host {
    void *context;
    /* Bytes that the guest writes to its console (OUT) or error stream; NULL drops them. */
    void (*output)(void *context, enum facet_xphmg_stream stream, const void *data, size_t size);
    struct facet_xphmg_files files;
};

/* When a job of XSUBMIT or an asynchronous XLDS.CPY completes (spec/resolutions-cap.md, R-XM-52).
 */
enum facet_xphmg_jobs {
    FACET_XPHMG_JOBS_NOW,  /* inside the instruction that starts it */
    FACET_XPHMG_JOBS_LATE, /* some steps later, as jobs_seed says */
};

/* Zero gives the default everywhere. Passed with its size, as facet/version.h explains. */
struct facet_xphmg_config {
    uint32_t harts;     /* 1..FACET_XPHMG_MAX_HARTS */
    uint64_t ram_bytes; /* a multiple of 4096, at most FACET_XPHMG_RAM_MAX; ram=BASE+SIZE wins */
    uint32_t quantum;   /* steps */
    uint32_t instructions_per_tick;
    uint32_t job_threads; /* that share the rays of one RT job; results are the same */
    enum facet_xphmg_jobs jobs;
    uint64_t jobs_seed;       /* LATE: for 1..65536 steps drawn for each job; 0: none, 1048576 */
    bool plain;               /* no fast ways, no floats of the host: same results, slower */
    bool no_semihosting;      /* EBREAK always traps */
    bool poll_input;          /* looking for input that is not there does not stop the machine */
    const char *command_line; /* for SYS_GET_CMDLINE; copied; NULL = "" */
    /* "full" (default), "min", "prof" (spec/numeric.md 16) or "rv64", which has no vendor
     * extension, then keys that change it: "min,pmask_banks=4". Keys of the base hart and the
     * platform make it the core at hand: "rv64,isa=rv64imac,misaligned=trap,pmp=0,ram=0x0+64M"
     * (facet_xphmg_configuration_help). The name may be left out: "pmp=16". */
    const char *configuration;
    struct facet_xphmg_host host;
    /* Code of the guest that is entered this often becomes code of the host, where there can be
     * any: same results, faster. 0 for FACET_XPHMG_HOST_CODE. */
    uint64_t host_code;
};

enum facet_status facet_xphmg_create_sized(const struct facet_xphmg_config *config,
                                           size_t config_size,
                                           facet_machine **out,
                                           struct facet_error *err);
/* `config` NULL for defaults. */
static inline enum facet_status facet_xphmg_create(const struct facet_xphmg_config *config,
                                                   facet_machine **out,
                                                   struct facet_error *err)
{
    return facet_xphmg_create_sized(config, sizeof *config, out, err);
}

/* Whether a text can be a `configuration`; FACET_ERR_USAGE names the key that cannot. Overlaps in
 * the memory map are found when the machine is made. */
enum facet_status facet_xphmg_configuration_check(const char *configuration,
                                                  struct facet_error *err);
/* The keys, a line each: name, values, what they change. Like snprintf: returns the length needed
 * and never writes past buf[size - 1]. */
size_t facet_xphmg_configuration_help(char *buf, size_t size);

/* Puts the segments of an ELF64 executable into memory, resets, and starts every hart at its entry
 * (with reset_pc=: there) with a0 = hart number and a1 = 0. Bad files and segments outside RAM are
 * FACET_ERR_INPUT, and nothing was loaded. */
enum facet_status facet_xphmg_load_elf(facet_machine *machine,
                                       const void *data,
                                       size_t size,
                                       struct facet_error *err);

/* Appends to what the guest can read from its console. */
enum facet_status
facet_xphmg_input(facet_machine *machine, const void *data, size_t size, struct facet_error *err);
/* No more will come: reading past the end gives the guest its end of file. (SYS_READC says so once
 * and then waits forever.) */
enum facet_status facet_xphmg_input_end(facet_machine *machine, struct facet_error *err);
/* *wants: whether the last stop, FACET_STOP_IDLE, waits for input; or, with poll_input, whether the
 * guest has looked for input in vain. */
enum facet_status
facet_xphmg_wants_input(const facet_machine *machine, bool *wants, struct facet_error *err);

/* Cause of a fault that is not a trap: every hart waits, one of them for an event or ticket that
 * can no longer be signalled. */
#define FACET_XPHMG_DEADLOCK UINT64_C(0x7FFFFFFFFFFFFFFF)

/* The trap that had no handler (the handler's first instruction traps itself, without end). Passed
 * with its size, as facet/version.h explains. */
struct facet_xphmg_fault {
    uint32_t core;
    uint64_t pc;
    uint64_t cause;
    uint64_t value;
    uint64_t handler;
};
enum facet_status facet_xphmg_get_fault_sized(const facet_machine *machine,
                                              struct facet_xphmg_fault *fault,
                                              size_t fault_size,
                                              struct facet_error *err);
/* After FACET_STOP_FAULT; FACET_ERR_USAGE when the machine did not stop like that. */
static inline enum facet_status facet_xphmg_get_fault(const facet_machine *machine,
                                                      struct facet_xphmg_fault *fault,
                                                      struct facet_error *err)
{
    return facet_xphmg_get_fault_sized(machine, fault, sizeof *fault, err);
}

/* The framebuffer device: pixels are guest memory, row 0 is the top row. */
#define FACET_XPHMG_FRAME_BASE UINT64_C(0x11000000) /* its registers; docs/run.md has the map */
#define FACET_XPHMG_FRAME_MAX 16384                 /* pixels on a side */
enum facet_xphmg_frame_format {
    FACET_XPHMG_FRAME_OFF,
    FACET_XPHMG_FRAME_RGBX8,  /* bytes red, green, blue, ignored; sRGB-encoded */
    FACET_XPHMG_FRAME_RGBF32, /* three binary32 numbers, linear light */
    FACET_XPHMG_FRAME_FORMATS,
};
/* Passed with its size, as facet/version.h explains. */
struct facet_xphmg_framebuffer {
    uint64_t base; /* any number: facet_machine_read says whether there is memory */
    uint32_t width, height;
    uint32_t stride; /* bytes from row to row */
    uint32_t format; /* enum facet_xphmg_frame_format */
};
enum facet_status facet_xphmg_get_framebuffer_sized(const facet_machine *machine,
                                                    struct facet_xphmg_framebuffer *out,
                                                    size_t out_size,
                                                    struct facet_error *err);
/* What the guest shows now; FACET_ERR_USAGE when that is nothing: FORMAT, WIDTH or HEIGHT is 0. */
static inline enum facet_status facet_xphmg_get_framebuffer(const facet_machine *machine,
                                                            struct facet_xphmg_framebuffer *out,
                                                            struct facet_error *err)
{
    return facet_xphmg_get_framebuffer_sized(machine, out, sizeof *out, err);
}
/* Bytes of a pixel: 4, 12, or 0 for OFF. */
uint32_t facet_xphmg_frame_bytes(uint32_t format);

/* Switches a hart of configuration `prof` to profile Pn between two instructions (spec/numeric.md
 * 16). FACET_ERR_USAGE for a hart or a profile that does not exist. */
enum facet_status facet_xphmg_set_profile(facet_machine *machine,
                                          uint32_t core,
                                          uint32_t profile,
                                          struct facet_error *err);

/* ---- what the host tells a hart ---------------------------------------------------------------
 *
 * A core that is compared with this machine has another clock, other devices and its own moment for
 * an interrupt. These verbs let the machine follow it (docs/lockstep.md; R-RV-25 to R-RV-27 in
 * spec/resolutions-cap.md). What is told is part of the state and of snapshots; a reset forgets it,
 * except facet_xphmg_wait_for_told. FACET_ERR_USAGE for a hart that does not exist and for another
 * kind of machine. */

/* Numbers of interrupts, as in mip and mcause. */
#define FACET_XPHMG_SOFTWARE 3
#define FACET_XPHMG_TIMER 7
#define FACET_XPHMG_EXTERNAL 11
#define FACET_XPHMG_INTERRUPT (UINT64_C(1) << 63) /* in a cause */

enum facet_xphmg_level {
    FACET_XPHMG_LEVEL_OWN,  /* as the CLINT has it; external: low */
    FACET_XPHMG_LEVEL_LOW,  /* whatever the CLINT says */
    FACET_XPHMG_LEVEL_HIGH, /* pending until the line is set otherwise */
};
/* Drives an interrupt line of a hart: its bit in mip. A hart that waits (WFI) wakes up. */
enum facet_status facet_xphmg_set_line(facet_machine *machine,
                                       uint32_t core,
                                       uint32_t interrupt,
                                       enum facet_xphmg_level level,
                                       struct facet_error *err);
/* true: no hart takes an interrupt by itself, only by facet_xphmg_take, and WFI does not wait.
 * false, as after creation: as the architecture says. */
enum facet_status
facet_xphmg_wait_for_told(facet_machine *machine, bool waits, struct facet_error *err);
/* The next step of the hart is a trap with this cause (FACET_XPHMG_INTERRUPT | 7, or an exception
 * such as 5) and value for mtval, before the instruction at its pc. It is checked now: an interrupt
 * must be pending, enabled and the first by priority, an exception one that the hart has; otherwise
 * FACET_ERR_USAGE says what is not so, and nothing is taken. `anyway` leaves the check out. */
enum facet_status facet_xphmg_take(facet_machine *machine,
                                   uint32_t core,
                                   uint64_t cause,
                                   uint64_t value,
                                   bool anyway,
                                   struct facet_error *err);

/* Values of the next loads, in a queue per hart; FACET_ERR_LIMIT when it is full. */
#define FACET_XPHMG_GIVEN_MAX 64
/* A load of the base instruction set (LR, AMO, floats and lanes of RSV included) from an address in
 * first..last gives `value`, low bytes, and touches neither memory nor device; the oldest value
 * whose range has the address is used up by it. */
enum facet_status facet_xphmg_next_load(facet_machine *machine,
                                        uint32_t core,
                                        uint64_t first,
                                        uint64_t last,
                                        uint64_t value,
                                        struct facet_error *err);
/* The next csr* instruction that names the CSR with this number reads `value`; what it writes comes
 * from the CSR itself. For counters, mip and registers that units write. */
enum facet_status facet_xphmg_next_csr(facet_machine *machine,
                                       uint32_t core,
                                       uint32_t number,
                                       uint64_t value,
                                       struct facet_error *err);
/* *left (may be NULL): how many values nobody has asked for yet; `drop` throws them away. */
enum facet_status facet_xphmg_given(
    facet_machine *machine, uint32_t core, bool drop, uint32_t *left, struct facet_error *err);

/* The next step is of this hart, and a new turn of it begins. Unlike the end of a turn this keeps
 * the other's LR reservation, until the eight bytes at it have changed. FACET_ERR_USAGE when the
 * hart waits, or the machine is in the middle of a step. */
enum facet_status
facet_xphmg_set_turn(facet_machine *machine, uint32_t core, struct facet_error *err);
/* The next SC of the hart fails, as on a core that has lost its reservation. */
enum facet_status
facet_xphmg_break_reservation(facet_machine *machine, uint32_t core, struct facet_error *err);

/* "illegal instruction", ...; never NULL. */
const char *facet_xphmg_cause_name(uint64_t cause);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
