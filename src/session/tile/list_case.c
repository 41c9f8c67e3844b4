/* See list_case.h. */
#include "session/tile/list_case.h"
#include "session/tile/picture.h"

#include "base/error.h"
#include "base/side_file.h"
#include "tile_list/play.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASE_LIMIT = 1 << 20, FILE_LIMIT = 64 << 20 };

struct list_case {
    const char *folder;
    char path[4096]; /* of case.json */
    json_t *root;
    const json_t *expected;
    struct facet_tile_list plan;
    struct facet_error *err;
};

static bool open_case(struct list_case *c, const char *folder, struct facet_error *err)
{
    struct facet_bytes text = {NULL, 0};
    bool good;

    *c = (struct list_case){.folder = folder, .err = err};
    good = (size_t)snprintf(c->path, sizeof c->path, "%s/case.json", folder) < sizeof c->path &&
           facet_side_file_read(folder, "case.json", CASE_LIMIT, &text, err) == FACET_OK &&
           facet_json_parse(c->path, text.data, text.size, &c->root, err) == FACET_OK;
    free(text.data);
    return good;
}

bool session_is_list_case(const char *folder)
{
    struct facet_error err = {0};
    struct list_case c;
    bool is = open_case(&c, folder, &err) && json_object_get(c.root, "list") != NULL;

    json_decref(c.root);
    return is;
}

static bool complain(const struct list_case *c, const char *key, const char *expected)
{
    return facet_fail(
               c->err, FACET_ERR_INPUT, 0, "%.200s: %s: expected %s", c->path, key, expected) ==
           FACET_OK;
}

/* Every member is one of the words. */
static bool known(const struct list_case *c, const json_t *object, const char *const *words)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)object, key, value)
    {
        size_t i = 0;

        while (words[i] != NULL && strcmp(words[i], key) != 0) {
            i++;
        }
        if (words[i] == NULL) {
            return complain(c, key, "a known key");
        }
    }
    return true;
}

static bool read_case(struct list_case *c)
{
    static const char *const keys[] = {
        "name", "requirement_ids", "comment", "list", "expected", NULL};
    static const char *const wanted[] = {"picture", "hash", "statuses", NULL};
    const char *name = json_string_value(json_object_get(c->root, "list"));
    struct facet_bytes text = {NULL, 0};
    bool good;

    c->expected = json_object_get(c->root, "expected");
    if (!known(c, c->root, keys)) {
        return false;
    }
    if (name == NULL || json_string_value(json_object_get(c->root, "name")) == NULL) {
        return complain(c, name == NULL ? "list" : "name", "a text");
    }
    if (!json_is_object(c->expected) || !known(c, c->expected, wanted)) {
        return c->err->status != FACET_OK ? false : complain(c, "expected", "an object");
    }
    if (json_object_get(c->expected, "picture") == NULL &&
        json_object_get(c->expected, "hash") == NULL) {
        return complain(c, "expected", "\"picture\", the name of a PNG file, or \"hash\"");
    }
    good =
        facet_side_file_read(c->folder, name, FILE_LIMIT, &text, c->err) == FACET_OK &&
        facet_tile_list_read(name, c->folder, text.data, text.size, &c->plan, c->err) == FACET_OK;
    free(text.data);
    if (!good) {
        facet_fail_in(c->err, c->folder);
    }
    return good;
}

/* ---- what came out ---- */

static void differ(struct facet_doc_tile_case_result *result, const char *text)
{
    result->pass = false;
    (void)snprintf(result->difference, sizeof result->difference, "%s", text);
}

/* The status of each command; without a list all must be OK. */
static bool check_statuses(const struct list_case *c,
                           const struct facet_tile_play *play,
                           struct facet_doc_tile_case_result *result)
{
    const json_t *list = json_object_get(c->expected, "statuses");
    size_t n = 0;

    for (size_t i = 0; i < c->plan.step_count; i++) {
        const struct facet_tile_list_step *step = &c->plan.steps[i];
        json_int_t wanted = list != NULL ? json_integer_value(json_array_get(list, n)) : 0;
        char text[200];

        if (step->kind != FACET_TILE_LIST_COMMAND) {
            continue;
        }
        n++;
        if (play->statuses[i] != wanted) {
            (void)snprintf(text,
                           sizeof text,
                           "commands[%u] (%s): status %u, expected %" JSON_INTEGER_FORMAT,
                           (unsigned)step->index,
                           step->name,
                           (unsigned)play->statuses[i],
                           wanted);
            differ(result, text);
            return true;
        }
    }
    return list == NULL || (json_is_array(list) && json_array_size(list) == n) ||
           complain(c, "expected.statuses", "a number for each command of the list");
}

static bool compare_picture(const struct list_case *c,
                            const struct facet_image *got,
                            struct facet_doc_tile_case_result *result)
{
    const json_t *value = json_object_get(c->expected, "picture");
    struct facet_bytes file = {NULL, 0};
    struct facet_image image = {0};
    char text[200];
    bool good;

    if (value == NULL || !result->pass) {
        return true;
    }
    if (!json_is_string(value)) {
        return complain(c, "expected.picture", "the name of a PNG file");
    }
    good = facet_side_file_read(c->folder, json_string_value(value), FILE_LIMIT, &file, c->err) ==
               FACET_OK &&
           facet_image_decode_confined(file.data, file.size, &image, c->err) == FACET_OK;
    free(file.data);
    if (!good) {
        facet_fail_in(c->err, c->folder);
        return false;
    }
    if (image.width != got->width || image.height != got->height) {
        (void)snprintf(text,
                       sizeof text,
                       "the picture has %u x %u pixels, expected %u x %u",
                       got->width,
                       got->height,
                       image.width,
                       image.height);
        differ(result, text);
    }
    for (size_t i = 0; result->pass && i < (size_t)image.width * image.height; i++) {
        const uint8_t *a = got->rgba + 4 * i, *b = image.rgba + 4 * i;

        if (memcmp(a, b, 3) != 0) {
            (void)snprintf(text,
                           sizeof text,
                           "pixel %zu,%zu is #%02x%02x%02x, expected #%02x%02x%02x",
                           i % image.width,
                           i / image.width,
                           a[0],
                           a[1],
                           a[2],
                           b[0],
                           b[1],
                           b[2]);
            differ(result, text);
        }
    }
    facet_image_free(&image);
    return true;
}

static bool compare_hash(const struct list_case *c,
                         const struct facet_image *got,
                         struct facet_doc_tile_case_result *result)
{
    const json_t *value = json_object_get(c->expected, "hash");
    uint64_t hash = session_image_hash(got, 0);
    char own[24];

    if (value == NULL || !result->pass) {
        return true;
    }
    if (!json_is_string(value)) {
        return complain(c, "expected.hash", "a text such as \"0x0123456789abcdef\"");
    }
    (void)snprintf(own, sizeof own, "0x%016" PRIx64, hash);
    if (strcmp(own, json_string_value(value)) != 0) {
        result->pass = false;
        (void)snprintf(result->difference,
                       sizeof result->difference,
                       "the hash is %s, expected %.60s",
                       own,
                       json_string_value(value));
    }
    return true;
}

static bool compare(const struct list_case *c,
                    const facet_machine *machine,
                    const struct facet_tile_play *play,
                    struct facet_doc_tile_case_result *result)
{
    struct facet_image image = {0};
    bool good = check_statuses(c, play, result) &&
                session_tile_image(facet_tile_unit(machine)->vram +
                                       (c->plan.frame.address - FACET_TILE_VRAM_BASE),
                                   c->plan.frame.stride,
                                   c->plan.frame.width,
                                   c->plan.frame.height,
                                   c->plan.frame.format == FACET_TILE_RGB565,
                                   &image,
                                   c->err) == FACET_OK &&
                compare_hash(c, &image, result) && compare_picture(c, &image, result);

    facet_image_free(&image);
    return good;
}

/* ---- running ---- */

static bool play_list(const struct list_case *c,
                      facet_machine *machine,
                      struct facet_tile_play *play,
                      struct facet_doc_tile_case_result *result)
{
    struct facet_stop stop = {.reason = FACET_STOP_IDLE};
    bool good = true;

    while (good && !result->stopped && !facet_tile_play_over(play)) {
        good = facet_tile_play_give(play, c->err) == FACET_OK;
        do {
            const struct facet_run run = {.budget = facet_tile_play_budget(play)};

            facet_machine_run(machine, &run, &stop);
            (void)facet_tile_play_note(play);
        } while (good && stop.reason == FACET_STOP_BUDGET);
        result->stopped = stop.reason == FACET_STOP_REQUEST;
    }
    if (good && !result->stopped && facet_tile_play_pending(play) != NULL) {
        differ(result, "a command waits for ever");
    }
    return good;
}

static bool run_case(struct list_case *c,
                     const struct facet_doc_tile_case_how *how,
                     struct facet_doc_tile_case_result *result)
{
    facet_machine *machine = NULL;
    struct facet_tile_play play = {0};
    bool good;

    c->plan.config.plain = how->plain;
    if (facet_tile_create(&c->plan.config, &machine, c->err) != FACET_OK) {
        return false;
    }
    facet_tile_use_pool(machine, how->pool);
    good = facet_tile_play_start(&play, &c->plan, machine, c->err) == FACET_OK;
    if (good) {
        if (how->begin != NULL) {
            how->begin(how->context, machine);
        }
        good = play_list(c, machine, &play, result);
        if (how->end != NULL) {
            how->end(how->context);
        }
    }
    good = good && (result->stopped || compare(c, machine, &play, result));
    facet_tile_play_free(&play);
    facet_machine_destroy(machine);
    return good;
}

enum facet_status session_list_case_run(const char *folder,
                                        const struct facet_doc_tile_case_how *how,
                                        char *name,
                                        size_t size,
                                        struct facet_doc_tile_case_result *result,
                                        struct facet_error *err)
{
    struct list_case c;
    bool good = open_case(&c, folder, err);
    const char *text = json_string_value(json_object_get(c.root, "name"));

    *result = (struct facet_doc_tile_case_result){.pass = true};
    (void)snprintf(name, size, "%s", text != NULL ? text : "");
    good = good && read_case(&c) && run_case(&c, how, result);
    facet_tile_list_free(&c.plan);
    json_decref(c.root);
    return good ? FACET_OK : err->status;
}
