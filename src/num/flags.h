/* The flags of facet/num.h as words. */
#ifndef FACET_NUM_FLAGS_H
#define FACET_NUM_FLAGS_H

#define FACET_FLAG_NAMES 96
/* "NX DOWNCAST_TAKEN", "" for none; returns the buffer. */
const char *facet_num_flag_names(unsigned flags, char text[FACET_FLAG_NAMES]);

#endif
