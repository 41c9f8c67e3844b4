/* The argument of --ray: numbers parted by spaces or commas. */
#ifndef FACET_CLI_RAY_TEXT_H
#define FACET_CLI_RAY_TEXT_H

#include "cli/command.h"

/* A decimal fraction, inf or nan; or 0x and the bits of a number in the format of the ray. */
struct cli_ray_number {
    bool coded;
    uint32_t bits; /* coded */
    float value;   /* not coded */
};

/* Reads the numbers of the option `ray` and returns how many there are; `out` gets the first `most`
 * of them. The complaint is printed and 0 returned when there is none or when a word is no number.
 */
unsigned cli_ray_read(const struct cli_args *args, struct cli_ray_number *out, unsigned most);

#endif
