/* Options and first steps that the commands with a tile machine share: a kernel, its grid,
 * arguments and memory, and the dispatch. */
#ifndef FACET_SESSION_TILE_H
#define FACET_SESSION_TILE_H

#include "session/asm_options.h"

#include "object/object.h"
#include "tile/tile.h"

/* clang-format off */
#define SESSION_TILE_OPTIONS                                                                       \
    {"grid", 'g', "WxH", CLI_GROUP("Dispatch")                                                     \
     "tile columns and rows of the dispatch (default 1x1)"},                                       \
    {"tile", 0, "WxH", "pixels of a tile (default 16x16)"},                                        \
    {"arg", 'a', "NAME=VALUE", "one word of the argument block, in this order: a number, a float " \
     "with a point, or @FILE: the address of the file's bytes in VRAM, of a .png or .jpg its "      \
     "ARGB8888 texels; @FILE alone: its words; repeatable"},                                       \
    {"in", 'i', "ADDR=FILE", "load a file into VRAM, IMEM or the sampler table; repeatable"},      \
    {"shared", 0, "BYTES", "scratch per core, up to 32768 (default 0)"},                           \
    {"const", 0, "ADDR,LEN", "constant region in VRAM"},                                           \
    {"cores", 0, "MASK", "cores that take part, bits 3:0 (default 0xF)"},                          \
    {"watchdog", 0, "N", "rounds after which the dispatch ends (default 50000000)"},               \
    {"base", 0, "ADDR", CLI_GROUP("Kernel")                                                        \
     "load address of assembly text and flat files (default 0x80000000)"},                         \
    SESSION_ASM_OPTIONS,                                                                           \
    {"sched", 0, "ORDER", CLI_GROUP("tile machine")                                                \
     "rr:Q or rnd:SEED: order of the cores' instructions (default rr:1)"},                         \
    {"schedule", 0, "SEED", "short for --sched rnd:SEED"},                                         \
    {"mem", 0, "weak|strong", "memory model (default weak)"},                                      \
    {"poison", 0, NULL, "fill registers and scratch with a pattern at the start of every tile"},   \
    {"regs", 0, "16|32", "registers per file (default 32)"},                                       \
    {"vram", 0, "SIZE", "VRAM: bytes, or with k, M (default 64M)"},                                \
    {"threads", 0, "N", "host threads of the raster unit (default 1, 0: all processors)"},         \
    {"host-code", 0, "N", "instructions that are jumped to N times become code of the host (default 32, "\
                          "at most 255, 0: never)"}
/* clang-format on */

#define SESSION_TILE_ARGS 256
#define SESSION_TILE_NO_ADDRESS                                                                    \
    "neither a 32-bit number nor the name of an argument or of a symbol of the kernel"

struct session_tile {
    facet_machine *machine;
    struct facet_object *program;
    facet_pool *pool;
    struct facet_tile_packet packet;
    struct {
        char name[64]; /* "" for words of an @FILE */
        uint32_t value;
        uint32_t width, height; /* of a picture: NAME.width and NAME.height are numbers, too */
    } args[SESSION_TILE_ARGS];
    size_t arg_count;
};

/* The machine of the options above with the kernel in positional[0] dispatched. Prints the
 * complaint and returns false otherwise. End in every case. */
bool session_tile_start(struct session_tile *setup, const struct cli_args *args);
void session_tile_end(struct session_tile *setup);
/* A number, the name of an argument (its value), or a symbol of the program. */
bool session_tile_address(const struct session_tile *setup, const char *text, uint32_t *address);

#endif
