/* Options and first steps that the commands with a gfx12 machine share: an image, rays, a program.
 */
#ifndef FACET_SESSION_GFX12_H
#define FACET_SESSION_GFX12_H

#include "command/command.h"

#include <facet/gfx12.h>

/* clang-format off */
#define SESSION_GFX12_OPTIONS                                                                      \
    {"ray", 0, "NUMBERS", CLI_GROUP("gfx12 ray")                                                   \
     "origin, direction and optionally tmin tmax, in one argument; "                               \
     "repeatable, a lane each"},                                                                   \
    {"root", 0, "NODE", "ID of the root node, relative to the base (default 5)"},                  \
    {"flags", 0, "N", "API ray flags (default 0)"},                                                \
    {"mask", 0, "N", "instance mask (default 0xff)"},                                              \
    {"stack", 0, "N", "entries of each ray's stack in LDS, 8 to 31 (default 16)"},                 \
    {"program", 0, "FILE", "instructions to execute once, a line each, instead of the traversal "  \
     "loop"},                                                                                      \
    {"set", 0, "REG=VALUE", "a register of every lane before the first step; repeatable"}
/* clang-format on */

struct session_gfx12 {
    facet_machine *machine;
    uint64_t nested; /* instances below instances, which the machine's own loop loses */
};

/* The image in positional[0] at --base in a machine with a lane for each --ray, all of them
 * started. Prints the complaint and returns false otherwise. End in every case. */
bool session_gfx12_start(struct session_gfx12 *setup,
                         const struct cli_args *args,
                         enum facet_gfx12_profile profile);
void session_gfx12_end(struct session_gfx12 *setup);

#endif
