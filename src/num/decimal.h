/* A number that is written, rounded as a policy says; facet_num_from_text of facet/num.h rounds to
 * nearest. */
#ifndef FACET_NUM_DECIMAL_H
#define FACET_NUM_DECIMAL_H

#include <facet/num.h>

/* Digits that are too many to be kept count as "and a little more", which every mode sees. */
uint64_t facet_num_from_text_by(enum facet_format to,
                                const char *text,
                                size_t *length,
                                const struct facet_num_policy *policy,
                                unsigned *flags);

#endif
