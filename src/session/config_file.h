/* A configuration of the xphmg machine in a file: the keys of --config, one each, and
 * `configuration` for the name that comes first. As JSON an object:
 *
 *     {"configuration": "rv64", "isa": "rv64imac", "pmp": 16, "ram": "0x0+64M"}
 *
 * and as TOML, of which only lines `key = value` are read, with text in quotation marks (no
 * backslash), numbers (decimal, 0x, _ between digits) and comments:
 *
 *     configuration = "rv64"
 *     isa = "rv64imac"       # what the core has
 *     pmp = 16 */
#ifndef FACET_SESSION_CONFIG_FILE_H
#define FACET_SESSION_CONFIG_FILE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether an argument of --config names a file: it ends in .toml or .json. */
bool session_config_is_file(const char *argument);

/* The file as a list, "rv64,isa=rv64imac,pmp=16", which the caller frees. Every key is checked
 * where it stands: the message names file and line. */
enum facet_status session_config_read(const char *path, char **list, struct facet_error *err);
/* The same for bytes in memory; `path` is for messages and says which of the two it is. */
enum facet_status session_config_parse(
    const char *path, const char *text, size_t size, char **list, struct facet_error *err);

#endif
