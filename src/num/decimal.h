/* Numbers as people write them, in any floating-point format: exact, rounded once to nearest even.
 *
 * strtod and a conversion behind it would round twice, and a host's strtof knows three formats. */
#ifndef FACET_NUM_DECIMAL_H
#define FACET_NUM_DECIMAL_H

#include "num/flags.h"
#include "num/format.h"

#include <stddef.h>

/* [+-] then decimal digits with a point and an exponent (1, .5, 2.5e-3), hexadecimal ones with a
 * binary exponent (0x1.8p3), inf, infinity or nan, in any case. *length is what was read, 0 when no
 * number starts at `text`, which ends with a NUL or any character that belongs to no number. flags:
 * OF for what the format cannot hold (also an infinity where it has none), NX, UF. */
uint64_t
facet_num_from_text(enum facet_format to, const char *text, size_t *length, unsigned *flags);

#endif
