/* Source lines of addresses: the rows of .debug_line, DWARF 2 to 5, 32 and 64 bits. Addresses of
 * relocatable files are not final, so those have none. */
#ifndef FACET_OBJECT_LINES_H
#define FACET_OBJECT_LINES_H

#include "object/object.h"

struct facet_line_row {
    uint64_t address;
    const char *file; /* its name without a folder */
    uint32_t line;    /* 0: behind the end of a sequence */
    uint32_t order;   /* of the table: of rows with one address the last one counts */
};

struct facet_lines {
    struct facet_line_row *rows; /* by rising address; in the object's arena */
    size_t count;
};

/* What the object says; nothing where it says nothing. A table that is damaged is FACET_ERR_INPUT
 * with err->where = the offset in .debug_line, and *out has no rows. */
enum facet_status
facet_lines_read(struct facet_object *object, struct facet_lines *out, struct facet_error *err);
/* The row that an address belongs to, or NULL. */
const struct facet_line_row *facet_lines_find(const struct facet_lines *lines, uint64_t address);

#endif
