/* Case folders of the tile machine whose work is a command list (spec/README.md "Tile case
 * folders"): the picture, its hash and the status of every command afterwards. */
#ifndef FACET_SESSION_TILE_LIST_CASE_H
#define FACET_SESSION_TILE_LIST_CASE_H

#include "documents/tile_case.h"

/* Whether folder/case.json names a list; false also for one that cannot be read. */
bool session_is_list_case(const char *folder);

/* Reads and runs the case; `name` has room for `size` bytes. Fails for a folder that cannot be read
 * and a machine that cannot be made, with a message that names file and key. */
enum facet_status session_list_case_run(const char *folder,
                                        const struct facet_doc_tile_case_how *how,
                                        char *name,
                                        size_t size,
                                        struct facet_doc_tile_case_result *result,
                                        struct facet_error *err);

#endif
