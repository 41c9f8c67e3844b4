/* The system calls that a confined process has left. */
#ifndef FACET_CONFINE_FILTER_H
#define FACET_CONFINE_FILTER_H

#include <stdbool.h>

/* From here on this process can compute, use data memory, read from any descriptor, write to
 * descriptors up to `channel`, and end. Looking for a file to read is answered with "permission
 * denied"; everything else kills it. false: this kernel or processor cannot do it. */
bool facet_filter_syscalls(int channel);

#endif
