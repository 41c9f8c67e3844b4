/* See beside.h. */
#include "scene/beside.h"

#include "image/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_PICTURE "the plain colour is drawn"

void facet_scene_beside_name(char to[FACET_BESIDE_NAME_BYTES], struct facet_span name)
{
    (void)snprintf(to,
                   FACET_BESIDE_NAME_BYTES,
                   "%.*s",
                   FACET_SPAN_ARGS(name, (size_t)FACET_BESIDE_NAME_BYTES));
    for (char *at = to; *at != '\0'; at++) {
        *at = *at == '\\' ? '/' : *at;
    }
}

/* Notes what a bad file was; fails with anything else. */
static enum facet_status note(const char *kind,
                              const char *name,
                              const char *instead,
                              const struct facet_error *why_not,
                              struct facet_scene *scene,
                              struct facet_error *err)
{
    const size_t length = strlen(name);
    const char *reason = why_not->message;
    char what[sizeof((struct facet_left_out *)NULL)->what];
    char why[sizeof((struct facet_left_out *)NULL)->why];

    if (why_not->status != FACET_ERR_INPUT) {
        return facet_fail(err, why_not->status, 0, "%s", why_not->message);
    }
    if (strncmp(reason, name, length) == 0 && strncmp(reason + length, ": ", 2) == 0) {
        reason += length + 2;
    }
    (void)snprintf(what, sizeof what, "%s %.120s", kind, name);
    (void)snprintf(why, sizeof why, "%.160s; %s", reason, instead);
    return facet_scene_leave_out(scene, FACET_LOSS_LOOK, 1, what, "", why, err);
}

enum facet_status facet_scene_beside_fetch(const struct facet_reader *reader,
                                           const char *kind,
                                           const char *name,
                                           const char *instead,
                                           struct facet_scene *scene,
                                           struct facet_bytes *out,
                                           struct facet_error *err)
{
    struct facet_error why_not = {.message = ""};
    enum facet_status status;

    *out = (struct facet_bytes){NULL, 0};
    status = reader->fetch != NULL
                 ? reader->fetch(reader->context, name, out, &why_not)
                 : facet_fail(&why_not, FACET_ERR_INPUT, 0, "this scene has no other files");
    return status == FACET_OK ? FACET_OK : note(kind, name, instead, &why_not, scene, err);
}

enum facet_status facet_scene_beside_texture(const struct facet_reader *reader,
                                             const char *name,
                                             struct facet_scene *scene,
                                             uint32_t *texture,
                                             struct facet_error *err)
{
    struct facet_bytes bytes;
    struct facet_image image = {0, 0, NULL};
    struct facet_scene_texture item = {.width = 0};
    struct facet_error why_not = {.message = ""};
    enum facet_status status;

    *texture = FACET_SCENE_NONE;
    if (reader->shape_only) {
        return FACET_OK;
    }
    status = facet_scene_beside_fetch(reader, "texture", name, NO_PICTURE, scene, &bytes, err);
    if (status != FACET_OK || bytes.data == NULL) {
        return status;
    }
    status = facet_image_decode(bytes.data, bytes.size, &image, &why_not);
    free(bytes.data);
    if (status != FACET_OK) {
        return note("texture", name, NO_PICTURE, &why_not, scene, err);
    }
    facet_scene_set_name(item.name, name, strlen(name));
    item.width = image.width;
    item.height = image.height;
    item.rgba = image.rgba;
    status = facet_scene_add_texture(scene, &item, texture, err);
    if (status != FACET_OK) {
        facet_image_free(&image);
    }
    return status;
}
