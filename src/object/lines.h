/* Source lines of addresses: the rows of .debug_line, DWARF 2 to 5, 32 and 64 bits. Addresses of
 * relocatable files are not final, so those have none. */
#ifndef FACET_OBJECT_LINES_H
#define FACET_OBJECT_LINES_H

#include "object/object.h"

/* ---- reading ---- */

struct facet_line_row {
    uint64_t address;
    const char *file; /* its name without a folder */
    const char *path; /* its name as the table has it */
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

/* ---- writing ---- */

/* From this place of a section on (an index of the object), up to the next mark or its end. */
struct facet_line_mark {
    uint32_t section;
    uint64_t offset;
    const char *file; /* as a debugger can find it */
    uint32_t line;
};

/* Adds .debug_line, and the .debug_info and .debug_abbrev without which no debugger looks at it,
 * in DWARF 4: a unit for each section with marks. Those of a section come in rising order. Nothing
 * in the tables depends on the host: `name` and files that are relative mean the folder where the
 * debugger runs. FACET_ERR_MEMORY. */
enum facet_status facet_lines_write(struct facet_object *object,
                                    const char *name,
                                    const struct facet_line_mark *marks,
                                    size_t count,
                                    struct facet_error *err);

#endif
