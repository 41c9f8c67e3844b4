/* See left_out.h. */
#include "report/left_out.h"

#include "base/error.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum facet_status report_scene_import(const struct cli_args *args,
                                      const char *path,
                                      struct facet_import_options options,
                                      struct facet_scene *out,
                                      struct facet_error *err)
{
    const char *time = cli_value(args, "time");
    struct facet_scene_pose pose = {.animation = cli_value(args, "animation")};
    char *end = NULL;

    facet_scene_init(out);
    if (time != NULL) {
        pose.time = strtod(time, &end);
    }
    if (time != NULL && (end == time || *end != '\0' || !isfinite(pose.time))) {
        return facet_fail(err, FACET_ERR_USAGE, 0, "--time %s: expected a number of seconds", time);
    }
    if (time != NULL || pose.animation != NULL) {
        options.pose = &pose;
    }
    return facet_scene_import(path, &options, out, err);
}

void report_left_out_text(const struct facet_left_out *note, char *out, size_t size)
{
    bool named = note->first[0] != '\0';
    char count[40] = "";

    if (note->count > 1) {
        (void)snprintf(count, sizeof count, "%u%s", note->count, named ? ", first: " : "");
    }
    (void)snprintf(out,
                   size,
                   count[0] != '\0' || named ? "%s (%s%s): %s" : "%s%s%s: %s",
                   note->what,
                   count,
                   note->first,
                   note->why);
}

void report_print_left_out(const struct cli_args *args,
                           const char *path,
                           const struct facet_scene *scene,
                           unsigned effects)
{
    char text[sizeof(struct facet_left_out) + 64];

    for (uint32_t i = 0; !args->quiet && !args->json && i < scene->left_out_count; i++) {
        if ((scene->left_out[i].effect & effects) != 0) {
            report_left_out_text(&scene->left_out[i], text, sizeof text);
            (void)fprintf(stderr, "facet %s: %s: left out: %s\n", args->command->name, path, text);
        }
    }
}

json_t *report_left_out_json(const struct facet_scene *scene, unsigned effects)
{
    json_t *array = json_array();

    for (uint32_t i = 0; array != NULL && i < scene->left_out_count; i++) {
        const struct facet_left_out *note = &scene->left_out[i];

        if (effects != 0 && (note->effect & effects) == 0) {
            continue;
        }
        if (json_array_append_new(array,
                                  json_pack("{s:s, s:I, s:s, s:s, s:b, s:b}",
                                            "what",
                                            note->what,
                                            "count",
                                            (json_int_t)note->count,
                                            "first",
                                            note->first,
                                            "why",
                                            note->why,
                                            "changes_shape",
                                            (note->effect & FACET_LOSS_SHAPE) != 0,
                                            "changes_look",
                                            (note->effect & FACET_LOSS_LOOK) != 0)) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

enum facet_status report_tell_left_out(const struct cli_args *args,
                                       const char *path,
                                       const struct facet_scene *scene,
                                       unsigned effects,
                                       json_t **out,
                                       struct facet_error *err)
{
    report_print_left_out(args, path, scene, effects);
    *out = args->json ? report_left_out_json(scene, effects) : NULL;
    return !args->json || *out != NULL
               ? FACET_OK
               : facet_fail(err, FACET_ERR_MEMORY, 0, "no memory to say what was left out");
}
