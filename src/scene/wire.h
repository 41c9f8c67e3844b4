/* A scene as a stream of words, from the confined importer to the parent. Only the two ends of one
 * program ever see it, so numbers are in host order; but the sender is not trusted: the reader
 * checks every count against the limits of scene.h before it allocates, every enum and every index
 * into another table. What the numbers mean is checked afterwards (validate.h). */
#ifndef FACET_SCENE_WIRE_H
#define FACET_SCENE_WIRE_H

#include "scene/scene.h"

struct facet_wire_out {
    bool (*put)(void *context, const void *bytes, size_t size);
    void *context;
};

struct facet_wire_in {
    bool (*get)(void *context, void *bytes, size_t size);
    void *context;
};

/* false when the other side is gone. */
bool facet_wire_write(const struct facet_wire_out *out, const struct facet_scene *scene);

/* A hash over all of it: two scenes with the same one look the same to everybody. */
uint64_t facet_wire_hash(const struct facet_scene *scene);

/* FACET_ERR_INPUT: the stream ends early or is not one that facet_wire_write() makes.
 * FACET_ERR_LIMIT, FACET_ERR_MEMORY: too large. The scene is empty on failure. */
enum facet_status
facet_wire_read(const struct facet_wire_in *in, struct facet_scene *scene, struct facet_error *err);

#endif
