/* What a scene's file has and the scene does not (scene.h). */
#include "scene/scene.h"

#include <stdlib.h>
#include <string.h>

/* The note of the same kind, NULL when this is the first. */
static struct facet_left_out *find(const struct facet_scene *scene,
                                   const struct facet_left_out *kind)
{
    for (uint32_t i = 0; i < scene->left_out_count; i++) {
        struct facet_left_out *note = &scene->left_out[i];

        if (strcmp(note->what, kind->what) == 0 && strcmp(note->why, kind->why) == 0) {
            return note;
        }
    }
    return NULL;
}

/* The last place is for all the kinds that found none: what is not listed is still counted. */
static void describe_rest(struct facet_left_out *note)
{
    static const char what[] = "things of other kinds", why[] = "more kinds than are listed";

    facet_scene_clean(note->first, sizeof note->first, note->what, strlen(note->what));
    facet_scene_clean(note->what, sizeof note->what, what, sizeof what - 1);
    facet_scene_clean(note->why, sizeof note->why, why, sizeof why - 1);
}

enum facet_status facet_scene_add_left_out(struct facet_scene *scene,
                                           const struct facet_left_out *item,
                                           struct facet_error *err)
{
    struct facet_left_out note = *item, *same = find(scene, &note);

    if (same == NULL && scene->left_out_count >= FACET_SCENE_MAX_LEFT_OUT - 1) {
        describe_rest(&note);
        same = find(scene, &note);
    }
    if (same != NULL) {
        uint32_t room = UINT32_MAX - same->count;

        same->count += note.count < room ? note.count : room;
        same->effect |= note.effect;
        return FACET_OK;
    }
    if (scene->left_out == NULL) { /* all places at once: only the first note can fail */
        scene->left_out = calloc(FACET_SCENE_MAX_LEFT_OUT, sizeof *scene->left_out);
    }
    if (scene->left_out == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory to say what was left out");
    }
    scene->left_out[scene->left_out_count++] = note;
    return FACET_OK;
}

enum facet_status facet_scene_leave_out(struct facet_scene *scene,
                                        unsigned effect,
                                        uint32_t count,
                                        const char *what,
                                        const char *first,
                                        const char *why,
                                        struct facet_error *err)
{
    struct facet_left_out note = {.effect = effect, .count = count};

    facet_scene_clean(note.what, sizeof note.what, what, strlen(what));
    facet_scene_clean(note.first, sizeof note.first, first, strlen(first));
    facet_scene_clean(note.why, sizeof note.why, why, strlen(why));
    return count != 0 ? facet_scene_add_left_out(scene, &note, err) : FACET_OK;
}
