/* One reader over any bytes, outside the sandbox: it neither crashes nor leaks, a complaint has
 * words, and what it accepts survives validation and finishing. */
#ifndef FACET_TESTS_READ_ANY_H
#define FACET_TESTS_READ_ANY_H

#include "scene/reader.h"
#include "scene/validate.h"

#include <stdlib.h>

static inline void read_any(const struct facet_reader *reader,
                            enum facet_status (*read)(const struct facet_reader *,
                                                      struct facet_scene *,
                                                      struct facet_error *))
{
    struct facet_scene scene;
    struct facet_error err = {.message = ""};

    facet_scene_init(&scene);
    if (read(reader, &scene, &err) != FACET_OK) {
        if (err.message[0] == '\0') {
            abort();
        }
    } else if (facet_scene_validate(&scene, &err) == FACET_OK) {
        (void)facet_scene_finish(&scene, &err);
    }
    facet_scene_free(&scene);
}

#endif
