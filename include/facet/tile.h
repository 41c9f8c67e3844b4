/* The tile GPU as a driver sees it: four SIMD cores, VRAM, a sampler table, raster and geometry
 * units, a command queue with fences, host registers (spec/tile-semantics.md). A machine made here
 * is run, stepped, debugged and saved by facet/machine.h; this header has what only this kind
 * needs.
 *
 *   0x10000000  host registers, 32 bits each: facet_tile_host_read and _write
 *   0x10002000  sampler table, 32 descriptors of 32 bytes
 *   0x30000000  IMEM, 64 KiB
 *   0x80000000  VRAM, `vram` bytes
 * The last three are space 0 of facet_machine_read and _write, as published by the cores; spaces 1
 * to 4 are the scratch memories of cores 0 to 3.
 *
 * A host does what a driver does: it writes buffers and descriptors into VRAM, commands into a ring
 * there (facet_tile_push), moves CMDQ_PROD and rings CMDQ_DOORBELL. The doorbell only starts the
 * queue: commands and kernels run while facet_machine_run runs, which stops with FACET_STOP_IDLE
 * when the ring is empty, BLOCKED at a fence, or every unfinished core is WAITING.
 * facet_tile_flush does all of that. One command is one step of the machine, and so is each
 * descriptor of an indirect GDRAW and each instruction of a dispatch. facet_machine_interrupt and
 * facet_machine_poll leave even a draw of 2^32 pixels within some milliseconds; the next run draws
 * the rest.
 *
 * Or it does without the queue: facet_tile_dispatch starts a kernel from a packet at once.
 *
 * Descriptors and other structures in VRAM are those of facet/tile_layouts.h: fill a
 * struct facet_tile_rstate_fields, facet_tile_rstate_pack it into words, write them little-endian.
 *
 * A machine of another kind is FACET_ERR_USAGE everywhere. */
#ifndef FACET_TILE_H
#define FACET_TILE_H

#include <facet/machine.h>
#include <facet/tile_layouts.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define FACET_TILE_CORES 4
#define FACET_TILE_HOST_BASE UINT32_C(0x10000000)
#define FACET_TILE_SAMPLER_BASE UINT32_C(0x10002000)
#define FACET_TILE_SAMPLER_BYTES UINT32_C(0x400)
#define FACET_TILE_SAMPLERS 32
#define FACET_TILE_IMEM_BASE UINT32_C(0x30000000)
#define FACET_TILE_IMEM_BYTES UINT32_C(0x10000)
#define FACET_TILE_SCRATCH_BASE UINT32_C(0x8000)
#define FACET_TILE_SCRATCH_BYTES UINT32_C(0x8000)
#define FACET_TILE_VRAM_BASE UINT32_C(0x80000000)
#define FACET_TILE_VRAM_DEFAULT (UINT32_C(64) << 20)
#define FACET_TILE_VRAM_MAX (UINT32_C(256) << 20)
#define FACET_TILE_WATCHDOG UINT32_C(50000000)
#define FACET_TILE_HOST_CODE 32            /* default */
#define FACET_TILE_NO_HOST_CODE UINT32_MAX /* never */

/* Model options (section 1); the zero value is the default machine. Passed with its size, as
 * facet/version.h explains. */
struct facet_tile_config {
    uint32_t vram;     /* bytes, a multiple of 4096; 0: 64 MiB */
    bool strong;       /* mem=strong */
    bool random;       /* sched=rnd:seed, else rr:quantum */
    uint32_t seed;     /* of rnd */
    uint32_t quantum;  /* of rr; 0: 1 */
    bool poison;       /* initial register contents */
    uint32_t regs;     /* 16 or 32; 0: 32 */
    uint32_t watchdog; /* default round limit; 0: 50,000,000 */
    bool plain;        /* no fast ways: same results, slower */
    uint32_t threads;  /* of the host that share a draw: same results; 0: the calling one alone */
    /* Instructions that are jumped to this often become code of the host, where there can be any:
     * same results, faster. At most 255; 0 for FACET_TILE_HOST_CODE. */
    uint32_t host_code;
};

enum facet_status facet_tile_create_sized(const struct facet_tile_config *config,
                                          size_t config_size,
                                          facet_machine **out,
                                          struct facet_error *err);
/* `config` NULL for defaults. */
static inline enum facet_status facet_tile_create(const struct facet_tile_config *config,
                                                  facet_machine **out,
                                                  struct facet_error *err)
{
    return facet_tile_create_sized(config, sizeof *config, out, err);
}

/* Machine reset (R-TILE-94): cores idle, queue empty, VRAM, IMEM and sampler table zero. */
enum facet_status facet_tile_clear(facet_machine *machine, struct facet_error *err);
/* A program of `facet as --isa tile` into VRAM or IMEM. *entry may be NULL. */
enum facet_status facet_tile_load_elf(facet_machine *machine,
                                      const void *data,
                                      size_t size,
                                      uint32_t *entry,
                                      struct facet_error *err);

/* ---- samplers (11.1) --------------------------------------------------------------------------
 */

/* Formats of texels. */
enum facet_tile_format {
    FACET_TILE_RGB565 = FACET_TILE_SAMPLER_FORMAT_RGB565,
    FACET_TILE_ARGB8888 = FACET_TILE_SAMPLER_FORMAT_ARGB8888,
    FACET_TILE_PAL8 = FACET_TILE_SAMPLER_FORMAT_PAL8,
};

struct facet_tile_sampler {
    uint32_t base, stride;  /* address and bytes per row of the texels */
    uint32_t width, height; /* texels, at most 65535 */
    enum facet_tile_format format;
    uint32_t palette;        /* 0..3, of PAL8 */
    uint32_t palette_base;   /* address of palette 0 */
    uint32_t swizzle;        /* FACET_TILE_SAMPLER_SWIZZLE_* */
    bool repeat_u, repeat_v; /* else clamp */
    bool bilinear;           /* in raster draws */
};

/* The descriptor's eight words, as LOAD_SAMPLER and pointer-mode TEX2D read them. */
void facet_tile_sampler_words(const struct facet_tile_sampler *sampler,
                              uint32_t words[FACET_TILE_SAMPLER_WORDS]);
/* Entry 0..31 of the table. */
enum facet_status facet_tile_set_sampler(facet_machine *machine,
                                         uint32_t index,
                                         const struct facet_tile_sampler *sampler,
                                         struct facet_error *err);

/* ---- dispatch (13) ----------------------------------------------------------------------------
 */

struct facet_tile_packet {
    uint32_t pc;
    uint32_t columns, rows;           /* of tiles */
    uint32_t tile_width, tile_height; /* pixels, 0: 16 */
    uint32_t arg_base, arg_size;
    uint32_t shared_size;
    uint32_t priority, core_mask; /* mask 0: all four */
    uint32_t const_base, const_size;
    uint32_t watchdog; /* rounds, 0: machine default */
};

/* PACKET as it is stored in VRAM. */
struct facet_tile_packet facet_tile_packet_read(const uint8_t bytes[FACET_TILE_PACKET_SIZE]);
void facet_tile_packet_write(const struct facet_tile_packet *packet,
                             uint8_t bytes[FACET_TILE_PACKET_SIZE]);
/* FACET_ERR_INPUT with what is wrong: BAD_ARG of section 18. */
enum facet_status facet_tile_packet_check(const facet_machine *machine,
                                          const struct facet_tile_packet *packet,
                                          struct facet_error *err);
/* Checks and starts; then run the machine (facet_machine_run). A grid without tiles is done at
 * once. A dispatch that is still under way is FACET_ERR_USAGE. */
enum facet_status facet_tile_dispatch(facet_machine *machine,
                                      const struct facet_tile_packet *packet,
                                      struct facet_error *err);

enum facet_tile_state {
    FACET_TILE_STATE_IDLE, /* no dispatch yet */
    FACET_TILE_STATE_RUNNING,
    FACET_TILE_STATE_WAITING, /* every unfinished core waits for a doorbell, a fence or an abort */
    FACET_TILE_STATE_DONE,
    FACET_TILE_STATE_FAULTED, /* fault, watchdog or abort: see facet_tile_get_core_report */
};

enum facet_tile_queue_state {
    FACET_TILE_QUEUE_EMPTY,   /* nothing to do, or no doorbell yet */
    FACET_TILE_QUEUE_ACTIVE,  /* continues when the machine runs */
    FACET_TILE_QUEUE_BLOCKED, /* at a fence that the host has to signal, or no room for answers */
    FACET_TILE_QUEUE_WAITING, /* its dispatch waits for a doorbell of the host */
};

/* Where the machine stands. Passed with its size, as facet/version.h explains. */
struct facet_tile_info {
    enum facet_tile_state state;       /* of the current or last dispatch */
    enum facet_tile_queue_state queue; /* of the command queue */
    uint64_t rounds;                   /* completed by the current or last dispatch */
    uint64_t commands;                 /* completed since creation or reset */
    uint32_t ring_room;                /* bytes that facet_tile_push can still take */
    uint32_t watchdog;                 /* default round limit (host register WDOG_DEFAULT) */
    uint32_t hwinfo;                   /* as every core reads it */
    uint32_t vram_bytes;
};

/* The state and the numbers above. */
enum facet_status facet_tile_get_info_sized(const facet_machine *machine,
                                            struct facet_tile_info *info,
                                            size_t info_size,
                                            struct facet_error *err);
static inline enum facet_status facet_tile_get_info(const facet_machine *machine,
                                                    struct facet_tile_info *info,
                                                    struct facet_error *err)
{
    return facet_tile_get_info_sized(machine, info, sizeof *info, err);
}

/* Default round limit; 0: that of a new machine. */
enum facet_status
facet_tile_set_watchdog(facet_machine *machine, uint32_t rounds, struct facet_error *err);

/* Host events: int_status.DOORBELL of the cores in the mask; the end of a running dispatch with
 * cause 10 on every core that was not finished. */
enum facet_status
facet_tile_doorbell(facet_machine *machine, uint32_t mask, struct facet_error *err);
enum facet_status facet_tile_abort(facet_machine *machine, struct facet_error *err);

enum facet_tile_class {
    FACET_TILE_CLASS_LOAD,
    FACET_TILE_CLASS_STORE,
    FACET_TILE_CLASS_ATOMIC,
    FACET_TILE_CLASS_TEXTURE,
    FACET_TILE_CLASS_GRAPHICS,
    FACET_TILE_CLASS_BRANCH, /* taken branches and jumps */
    FACET_TILE_CLASS_OTHER,
    FACET_TILE_CLASSES
};

/* What a core did in the current or last dispatch. Passed with its size, as facet/version.h
 * explains. */
struct facet_tile_core_report {
    uint64_t retired;
    uint64_t by_class[FACET_TILE_CLASSES]; /* the perf_* counters and the rest */
    uint32_t fault_cause, fault_pc, fault_addr;
    uint32_t status, gerror;
    uint32_t tiles; /* that the core has finished */
};

enum facet_status facet_tile_get_core_report_sized(const facet_machine *machine,
                                                   uint32_t core,
                                                   struct facet_tile_core_report *report,
                                                   size_t report_size,
                                                   struct facet_error *err);
/* FACET_ERR_USAGE for a core that does not exist. */
static inline enum facet_status facet_tile_get_core_report(const facet_machine *machine,
                                                           uint32_t core,
                                                           struct facet_tile_core_report *report,
                                                           struct facet_error *err)
{
    return facet_tile_get_core_report_sized(machine, core, report, sizeof *report, err);
}
/* "illegal instruction", "watchdog", ...; never NULL. */
const char *facet_tile_cause_name(uint32_t cause);
const char *facet_tile_class_name(enum facet_tile_class what);

/* ---- beside a design under test (facet/cosim.h) -------------------------------------------------
 *
 * The rules are R-TILE-132. */

/* The next step is of this core: cores before it in the round lose their slots. Waking needs no
 * step then. FACET_ERR_USAGE when it has no tile left or waits, when cores run in random order or
 * none does, and in the middle of a draw. */
enum facet_status
facet_tile_set_turn(facet_machine *machine, uint32_t core, struct facet_error *err);

/* Values of the next loads and CSR reads, in a queue per core; FACET_ERR_LIMIT when it is full. */
#define FACET_TILE_GIVEN_MAX 64
/* A load (atomics and each lane of a vector that is loaded lane by lane included) from an address
 * in first..last gives `value`, low bytes, in place of what it has read; the oldest value whose
 * range has the address is used up by it. */
enum facet_status facet_tile_next_load(facet_machine *machine,
                                       uint32_t core,
                                       uint32_t first,
                                       uint32_t last,
                                       struct facet_value value,
                                       struct facet_error *err);
/* The next CSRRW or CSRRS of the register with this number gives `value`; what it writes comes from
 * the register itself. */
enum facet_status facet_tile_next_csr(facet_machine *machine,
                                      uint32_t core,
                                      uint32_t number,
                                      uint32_t value,
                                      struct facet_error *err);
/* *left (may be NULL): how many values nobody has asked for yet; `drop` throws them away. */
enum facet_status facet_tile_given(
    facet_machine *machine, uint32_t core, bool drop, uint32_t *left, struct facet_error *err);

/* ---- host registers (19) ----------------------------------------------------------------------
 */

enum facet_tile_register {
    FACET_TILE_REG_ID_VERSION = FACET_TILE_HOST_REGISTERS_ID_VERSION_AT,
    FACET_TILE_REG_ID_FEATURES = FACET_TILE_HOST_REGISTERS_ID_FEATURES_AT,
    FACET_TILE_REG_INT_STATUS = FACET_TILE_HOST_REGISTERS_INT_STATUS_AT,
    FACET_TILE_REG_LAST_ERROR = FACET_TILE_HOST_REGISTERS_LAST_ERROR_AT,
    FACET_TILE_REG_CMDQ_BASE = FACET_TILE_HOST_REGISTERS_CMDQ_BASE_AT,
    FACET_TILE_REG_CMDQ_SIZE = FACET_TILE_HOST_REGISTERS_CMDQ_SIZE_AT,
    FACET_TILE_REG_CMDQ_PROD = FACET_TILE_HOST_REGISTERS_CMDQ_PROD_AT,
    FACET_TILE_REG_CMDQ_CONS = FACET_TILE_HOST_REGISTERS_CMDQ_CONS_AT,
    FACET_TILE_REG_CMDQ_DOORBELL = FACET_TILE_HOST_REGISTERS_CMDQ_DOORBELL_AT,
    FACET_TILE_REG_FENCE_VALUE = FACET_TILE_HOST_REGISTERS_FENCE_VALUE_AT,
    FACET_TILE_REG_LAST_STATUS = FACET_TILE_HOST_REGISTERS_LAST_STATUS_AT,
    FACET_TILE_REG_COMPLETION_BASE = FACET_TILE_HOST_REGISTERS_COMPLETION_BASE_AT,
    FACET_TILE_REG_ABORT = FACET_TILE_HOST_REGISTERS_ABORT_AT,
    FACET_TILE_REG_WDOG_DEFAULT = FACET_TILE_HOST_REGISTERS_WDOG_DEFAULT_AT,
    FACET_TILE_REG_DOORBELL = FACET_TILE_HOST_REGISTERS_DOORBELL_AT,
    /* of core n: + n * FACET_TILE_CORE_STATE_SIZE */
    FACET_TILE_REG_CU_CAUSE = FACET_TILE_HOST_REGISTERS_CU_AT + FACET_TILE_CORE_STATE_CAUSE_AT,
    FACET_TILE_REG_CU_ADDR = FACET_TILE_HOST_REGISTERS_CU_AT + FACET_TILE_CORE_STATE_ADDR_AT,
    FACET_TILE_REG_CU_PC = FACET_TILE_HOST_REGISTERS_CU_AT + FACET_TILE_CORE_STATE_PC_AT,
    FACET_TILE_REG_CU_STATUS = FACET_TILE_HOST_REGISTERS_CU_AT + FACET_TILE_CORE_STATE_STATUS_AT,
};

/* Bits of INT_STATUS. */
enum {
    FACET_TILE_INT_FAULT = FACET_TILE_HOST_REGISTERS_INT_STATUS_FAULT,
    FACET_TILE_INT_COMMAND = FACET_TILE_HOST_REGISTERS_INT_STATUS_COMMAND,
    FACET_TILE_INT_BLOCKED = FACET_TILE_HOST_REGISTERS_INT_STATUS_BLOCKED,
    FACET_TILE_INT_WAITING = FACET_TILE_HOST_REGISTERS_INT_STATUS_WAITING,
};

/* A register by its offset in the window. Offsets below 0x1000 that no register has, and those that
 * only take writes, read 0; writes to what cannot be written do nothing. FACET_ERR_FAULT for an
 * offset outside the window or not a multiple of 4. */
enum facet_status facet_tile_host_read(const facet_machine *machine,
                                       uint32_t offset,
                                       uint32_t *value,
                                       struct facet_error *err);
enum facet_status facet_tile_host_write(facet_machine *machine,
                                        uint32_t offset,
                                        uint32_t value,
                                        struct facet_error *err);

/* ---- command queue (18) -----------------------------------------------------------------------
 */

/* FACET_TILE_CMD_NOP, ..., one for each opcode of COMMAND: section 18 says what they do. */
#define FACET_TILE_CMD(name) FACET_TILE_CMD_##name = FACET_TILE_COMMAND_OPCODE_##name,
enum facet_tile_opcode { FACET_TILE_COMMAND_OPCODE_VALUES(FACET_TILE_CMD) };
#undef FACET_TILE_CMD

/* Flags of a command. */
enum {
    FACET_TILE_FLAG_IRQ = FACET_TILE_COMMAND_FLAGS_IRQ,
    FACET_TILE_FLAG_EMIT = FACET_TILE_COMMAND_FLAGS_EMIT,
    FACET_TILE_FLAG_WAIT = FACET_TILE_COMMAND_FLAGS_WAIT,
    FACET_TILE_FLAG_PAYLOAD = FACET_TILE_COMMAND_FLAGS_PAYLOAD,
};

/* LAST_STATUS and LAST_ERROR: 0, a graphics error (+ its code), a dispatch's end (+ the cause). */
enum {
    FACET_TILE_STATUS_OK = 0,
    FACET_TILE_STATUS_GRAPHICS = 0x10,
    FACET_TILE_STATUS_DISPATCH = 0x20,
    FACET_TILE_STATUS_BAD_OPCODE = 0x30,
    FACET_TILE_STATUS_BAD_ARG = 0x31,
    FACET_TILE_STATUS_BAD_LENGTH = 0x32,
};

/* Words that READ_MEM commands returned wait in a store of this many; a READ_MEM that finds too
 * little room leaves the queue BLOCKED until facet_tile_take has made some. */
#define FACET_TILE_ANSWER_WORDS 16384

struct facet_tile_command {
    uint8_t opcode; /* enum facet_tile_opcode */
    uint8_t flags;  /* FACET_TILE_FLAG_IRQ, _EMIT, _WAIT, _PAYLOAD */
    uint8_t slot;   /* rdst: the completion slot of EMIT and WAIT */
    uint8_t length; /* len: words of the payload, or those that READ_MEM or COPY_BUFFER moves */
    uint32_t arg[3];
    const uint32_t *payload; /* `length` words when flags have FACET_TILE_FLAG_PAYLOAD */
};

/* Places the ring: writes CMDQ_BASE and CMDQ_SIZE. `base` in VRAM and a multiple of 32, `size` a
 * power of two from 64 on. */
enum facet_status
facet_tile_ring(facet_machine *machine, uint32_t base, uint32_t size, struct facet_error *err);
/* Writes the command after the last one and moves CMDQ_PROD. FACET_ERR_LIMIT, nothing changed,
 * when the ring has too little room (a command needs FACET_TILE_COMMAND_SIZE bytes and 4 per
 * payload word): flush it first. */
enum facet_status facet_tile_push(facet_machine *machine,
                                  const struct facet_tile_command *command,
                                  struct facet_error *err);
/* "empty", "active", "blocked", "waiting". */
const char *facet_tile_queue_state_name(enum facet_tile_queue_state state);
/* Rings CMDQ_DOORBELL and runs until the queue is empty, blocked or waiting (*queue), or a
 * breakpoint or another stop of facet_machine_run comes in between (*stop). Both may be NULL. */
enum facet_status facet_tile_flush(facet_machine *machine,
                                   enum facet_tile_queue_state *queue,
                                   struct facet_stop *stop,
                                   struct facet_error *err);

/* Takes up to `max` of the words that READ_MEM returned, oldest first; *count is how many. */
enum facet_status facet_tile_take(
    facet_machine *machine, uint32_t *words, size_t max, size_t *count, struct facet_error *err);

/* The word of a completion slot, 0..255, and its change by the host: a queue that waits for it goes
 * on when it runs. FACET_ERR_USAGE while COMPLETION_BASE is 0. */
enum facet_status facet_tile_slot_read(const facet_machine *machine,
                                       uint32_t slot,
                                       uint32_t *value,
                                       struct facet_error *err);
enum facet_status facet_tile_slot_write(facet_machine *machine,
                                        uint32_t slot,
                                        uint32_t value,
                                        struct facet_error *err);

/* "NOP", "GDRAW", ...; NULL for a byte that is not an opcode. */
const char *facet_tile_opcode_name(uint32_t opcode);
/* "ok", "BAD_ARG", "graphics error BAD_ALIGN", the name of a fault cause, ...; never NULL. */
const char *facet_tile_status_name(uint32_t status);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
