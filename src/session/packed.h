/* A stream of bytes to a file, compressed when the file's name says so: .gz by zlib, .zst by
 * libzstd where the program was built with it. The same bytes give the same file. */
#ifndef FACET_SESSION_PACKED_H
#define FACET_SESSION_PACKED_H

#include "command/command.h"

#include <stdio.h>

typedef struct session_packed session_packed;

/* Whether the name asks for compression that this program cannot do; says so then. */
bool session_packed_refuses(const struct cli_args *args, const char *option, const char *path);

/* *out is NULL for a name that asks for no compression. `file` stays the caller's. 0, or errno. */
int session_packed_open(session_packed **out, const char *path, FILE *file);
/* 0, or the errno of what went wrong. */
int session_packed_write(session_packed *packed, const void *data, size_t size);
/* Writes what is left and frees it; NULL is allowed. */
int session_packed_close(session_packed *packed);

#endif
