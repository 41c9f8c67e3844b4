/* `facet bench`: runs the measurements of an area (bench.h) and prints them. */
#ifndef FACET_BENCH_COMMAND_H
#define FACET_BENCH_COMMAND_H

#include "command/command.h"

int bench_command(const struct cli_args *args);

#endif
