/* The two images of a command that compares them: whose operands and options are whose. */
#ifndef FACET_SESSION_BVH_SIDES_H
#define FACET_SESSION_BVH_SIDES_H

#include "session/bvh/file.h"

/* After SESSION_BVH_OPTIONS. */
#define SESSION_SIDE_OPTIONS                                                                       \
    {"segment-b", 0, "FILE@ADDR", "a piece of B (repeatable); those of --segment are A's then"},   \
        {"driver-b", 0, "radv|gpurt|hiprt|auto|none", "driver of B, if it is not that of A"},      \
        {"structure-b", 0, "N", "structure of B, if it is not that of A"},                         \
        {"base-b", 0, "ADDR", "address of B, if it is not that of A"},                             \
    {                                                                                              \
        "root-b", 0, "NODE", "root of B, if it is not that of A"                                   \
    }

/* Reads A and B, each from an operand, from segments, or from both. The complaint is printed when
 * it returns false. */
bool session_bvh_read_two(const struct cli_args *args,
                          struct session_bvh *a,
                          struct session_bvh *b);

#endif
