/* base/side_file.h where there are no files: whatever names one is told so. */
#include "base/side_file.h"

enum facet_status facet_side_file_read(const char *folder,
                                       const char *name,
                                       size_t limit,
                                       struct facet_bytes *out,
                                       struct facet_error *err)
{
    (void)folder, (void)limit;
    *out = (struct facet_bytes){NULL, 0};
    return facet_fail(
        err, FACET_ERR_IO, 0, "%s: a page has no files beside the one it shows", name);
}

bool facet_side_file_exists(const char *folder, const char *name)
{
    (void)folder, (void)name;
    return false;
}
