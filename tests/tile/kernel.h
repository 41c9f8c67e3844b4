/* A small tile machine that runs lines of assembly: registers in, registers and flags out. */
#ifndef FACET_TESTS_TILE_KERNEL_H
#define FACET_TESTS_TILE_KERNEL_H

#include "harness.h"

#include "tile/tile.h"

union vec {
    uint8_t b[16];
    uint16_t h[8];
    uint32_t w[4];
    uint64_t d[2];
};

#define VRAM UINT32_C(0x80000000)
#define DATA UINT32_C(0x80010000) /* free for data */
#define IMEM UINT32_C(0x30000000)
#define SCRATCH UINT32_C(0x8000)
#define SAMPLER UINT32_C(0x10002000)

struct kernel {
    facet_machine *machine;
    struct facet_tile_packet packet;
    struct facet_stop stop;
    /* Core 0 before and after kernel_exec; s[0] and v[0] are not written. */
    uint32_t s[32];
    uint16_t f[32];
    union vec v[32];
    uint32_t config, vstatus, vstride; /* before: written; after: read */
    uint32_t status, fstatus;          /* after */
    uint32_t cause, fault_pc, fault_addr;
    uint64_t retired;
    /* What was told to record.h. */
    unsigned recorded, gets;
    char config_line[32];
};

/* 1 MiB of VRAM unless the config says otherwise. */
void kernel_open(struct kernel *k, const struct facet_tile_config *config);
void kernel_close(struct kernel *k);

/* Assembles at the address and puts it there; false (and a failed check) when it does not assemble.
 */
bool kernel_load(struct kernel *k, uint32_t address, const char *text);
/* The first word of a line. */
uint32_t kernel_word(const char *text);
/* Loads the text at the packet's pc, with EXIT behind it; dispatches one tile on core 0 with the
 * registers above; runs to the end. */
void kernel_exec(struct kernel *k, const char *text);
void kernel_exec_word(struct kernel *k, uint32_t word);
/* Dispatches k->packet as it is and runs to the end. */
void kernel_run(struct kernel *k);

void kernel_put(struct kernel *k, uint32_t address, uint32_t word);
uint32_t kernel_get(struct kernel *k, uint32_t address);
uint32_t kernel_csr(struct kernel *k, uint32_t core, const char *name);
void kernel_set_csr(struct kernel *k, uint32_t core, const char *name, uint32_t value);
uint64_t kernel_reg(struct kernel *k, uint32_t core, const char *name);

/* status bits */
enum {
    ST_FPI = 1,
    ST_FPO = 2,
    ST_VI = 4,
    ST_VO = 8,
    ST_MISAL = 16,
    ST_ISAT = 32,
    ST_TEXERR = 64,
    ST_GERR = 128,
    ST_CSRERR = 256,
    ST_ILL = 512,
    ST_MEMF = 1024,
    ST_WDT = 2048,
};

#endif
