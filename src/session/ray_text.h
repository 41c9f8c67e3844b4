/* The argument of --ray: numbers separated by spaces or commas. */
#ifndef FACET_SESSION_RAY_TEXT_H
#define FACET_SESSION_RAY_TEXT_H

#include "command/command.h"

/* A decimal fraction, inf or nan; or 0x and the bits of a number in the format of the ray. */
struct session_ray_number {
    bool coded;
    uint32_t bits; /* coded */
    float value;   /* not coded */
};

/* Reads the numbers of `text`, an argument of the option `ray` (NULL: not given), and returns how
 * many there are; `out` gets the first `most` of them. The complaint is printed and 0 returned when
 * there is none or when a word is not a number. */
unsigned session_ray_read(const struct cli_args *args,
                          const char *text,
                          struct session_ray_number *out,
                          unsigned most);
/* The same as a ray of GFX12: six numbers, or eight with t_min and t_max. */
struct facet_gfx12_query;
bool session_ray_gfx12(const struct cli_args *args,
                       const char *text,
                       struct facet_gfx12_query *query);

#endif
