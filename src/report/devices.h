/* What `facet devices` tells. */
#ifndef FACET_REPORT_DEVICES_H
#define FACET_REPORT_DEVICES_H

#include "command/command.h"

/* Opens and tests each device; the exit code. */
int report_devices(const struct cli_args *args);

#endif
