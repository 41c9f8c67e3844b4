/* See import.h. The conversation on the channel: the child sends a tag word and what belongs to it.
 * It may ask for files any number of times, then sends one scene or one error. */
#define _GNU_SOURCE
#include "scene/import.h"

#include "base/file.h"
#include "base/side_file.h"
#include "confine/sandbox.h"
#include "scene/parse.h"
#include "scene/wire.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_MEMORY_BYTES (UINT64_C(8) << 30)
#define DEFAULT_SECONDS 10U
#define MAX_SIDE_NAME 4096U

enum tag { TAG_FILE = 1, TAG_SCENE, TAG_ERROR };

struct job {
    const char *path;
    enum facet_scene_format format;
    const struct facet_import_options *options;
    struct facet_bytes file;
    struct facet_channel *channel; /* of the side that runs */
    bool fixed_time;               /* the caller gave a time limit */
    struct facet_scene_folder folder;
    struct facet_scene *scene; /* the parent's result */
};

/* ---- in the child ---- */

/* What there is no room for, so that the parent can finish its sentence and hear ours. */
static void skip(struct facet_channel *channel, uint64_t size)
{
    uint8_t block[4096];

    while (size != 0) {
        size_t part = size < sizeof block ? (size_t)size : sizeof block;

        if (!facet_channel_read(channel, block, part)) {
            return;
        }
        size -= part;
    }
}

static enum facet_status
fetch(void *context, const char *name, struct facet_bytes *out, struct facet_error *err)
{
    struct job *job = context;
    uint32_t head[2] = {TAG_FILE, (uint32_t)strlen(name)};
    uint32_t status = 0;
    uint64_t size = 0;

    out->data = NULL;
    out->size = 0;
    if (head[1] == 0 || head[1] > MAX_SIDE_NAME) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "a file name is empty or too long");
    }
    if (!facet_channel_write(job->channel, head, sizeof head) ||
        !facet_channel_write(job->channel, name, head[1]) ||
        !facet_channel_read(job->channel, &status, sizeof status)) {
        return facet_fail(err, FACET_ERR_IO, 0, "the parent is gone");
    }
    if (status != FACET_OK) {
        return facet_channel_take_error(job->channel, err);
    }
    if (!facet_channel_read(job->channel, &size, sizeof size)) {
        return facet_fail(err, FACET_ERR_IO, 0, "the parent is gone");
    }
    out->data = malloc((size_t)size + 1);
    if (out->data == NULL) {
        skip(job->channel, size);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "%s: out of memory", name);
    }
    if (!facet_channel_read(job->channel, out->data, (size_t)size)) {
        free(out->data);
        out->data = NULL;
        return facet_fail(err, FACET_ERR_IO, 0, "the parent is gone");
    }
    out->data[size] = 0;
    out->size = (size_t)size;
    return FACET_OK;
}

static bool put_channel(void *context, const void *bytes, size_t size)
{
    return facet_channel_write(context, bytes, size);
}

static void run_job(void *context, struct facet_channel *channel)
{
    struct job *job = context;
    const struct facet_reader reader = {.data = job->file.data,
                                        .size = job->file.size,
                                        .pose = job->options->pose,
                                        .shape_only = job->options->shape_only,
                                        .keep_flat = job->options->inactive,
                                        .fetch = fetch,
                                        .context = job};
    struct facet_scene scene;
    struct facet_error err;
    uint32_t tag;

    memset(&err, 0, sizeof err);
    facet_scene_init(&scene);
    job->channel = channel;
    tag = facet_scene_parse(job->format, &reader, &scene, &err) == FACET_OK ? TAG_SCENE : TAG_ERROR;
    if (!facet_channel_write(channel, &tag, sizeof tag)) {
        return;
    }
    if (tag == TAG_ERROR) {
        (void)facet_channel_send_error(channel, &err);
    } else {
        struct facet_wire_out out = {put_channel, channel};

        (void)facet_wire_write(&out, &scene);
    }
}

/* ---- in the parent ---- */

static enum facet_status protocol_error(struct facet_error *err)
{
    return facet_fail(err, FACET_ERR_INPUT, 0, "the importer stopped unexpectedly");
}

/* Every reader manages a MiB in far less processor time than this, so a small file that takes long
 * is a broken one, and its user does not wait for long. */
static uint32_t seconds_for(size_t bytes)
{
    return (uint32_t)(bytes >> 20);
}

static bool answer(struct job *job, const char *name)
{
    struct facet_bytes bytes = {NULL, 0};
    struct facet_error err;
    uint32_t status;
    uint64_t size;
    bool ok;

    memset(&err, 0, sizeof err);
    status = facet_scene_folder_read(&job->folder, name, &bytes, &err);
    size = bytes.size;
    if (status == FACET_OK && job->options->beside != NULL) {
        job->options->beside(job->options->context, name, &bytes);
    }
    if (!job->fixed_time) {
        job->channel->cpu_seconds += seconds_for(bytes.size);
    }
    ok = facet_channel_write(job->channel, &status, sizeof status) &&
         (status != FACET_OK ? facet_channel_send_error(job->channel, &err)
                             : facet_channel_write(job->channel, &size, sizeof size) &&
                                   facet_channel_write(job->channel, bytes.data, bytes.size));
    free(bytes.data);
    return ok;
}

static enum facet_status serve_file(struct job *job, struct facet_error *err)
{
    char name[MAX_SIDE_NAME + 1];
    uint32_t length = 0;

    if (!facet_channel_read(job->channel, &length, sizeof length) || length == 0 ||
        length > MAX_SIDE_NAME || !facet_channel_read(job->channel, name, length)) {
        return protocol_error(err);
    }
    name[length] = '\0';
    return answer(job, name) ? FACET_OK : protocol_error(err);
}

static bool get_channel(void *context, void *bytes, size_t size)
{
    return facet_channel_read(context, bytes, size);
}

static enum facet_status
serve(void *context, struct facet_channel *channel, struct facet_error *err)
{
    struct job *job = context;

    job->channel = channel;
    for (;;) {
        uint32_t tag = 0;
        enum facet_status status;

        if (!facet_channel_read(channel, &tag, sizeof tag)) {
            return protocol_error(err);
        }
        if (tag == TAG_SCENE) {
            struct facet_wire_in in = {get_channel, channel};

            return facet_wire_read(&in, job->scene, err);
        }
        if (tag == TAG_ERROR) {
            return facet_channel_take_error(channel, err);
        }
        status = tag == TAG_FILE ? serve_file(job, err) : protocol_error(err);
        if (status != FACET_OK) {
            return status;
        }
    }
}

/* Parse in the child, check here. */
static enum facet_status
import_job(struct job *job, const struct facet_import_options *options, struct facet_error *err)
{
    struct facet_sandbox sandbox = {
        .what = "the importer",
        .memory_bytes = options->memory_bytes != 0 ? options->memory_bytes : DEFAULT_MEMORY_BYTES,
        .cpu_seconds = options->cpu_seconds != 0 ? options->cpu_seconds
                                                 : DEFAULT_SECONDS + seconds_for(job->file.size),
        .job = run_job,
        .serve = serve,
        .context = job,
    };
    enum facet_status status =
        facet_scene_detect(job->path, job->file.data, job->file.size, &job->format, err);

    if (status == FACET_OK) {
        /* jansson chooses its hash seed once; a fork in the middle of that would hang the child. */
        json_object_seed(0);
        status = facet_sandbox_run(&sandbox, err);
    }
    if (status == FACET_OK) {
        status = facet_scene_accept(job->scene, options, err);
    }
    return status;
}

enum facet_status facet_scene_import(const char *path,
                                     const struct facet_import_options *options,
                                     struct facet_scene *out,
                                     struct facet_error *err)
{
    static const struct facet_import_options defaults;
    struct job job = {.path = path, .scene = out};
    char *folder = NULL;
    enum facet_status status;

    facet_scene_init(out);
    status = facet_file_read(path, FACET_IMPORT_MAX_FILE_BYTES, &job.file, err);
    if (status != FACET_OK) {
        return status; /* names the path already */
    }
    options = options != NULL ? options : &defaults;
    job.options = options;
    job.fixed_time = options->cpu_seconds != 0;
    if (strcmp(path, "-") != 0) {
        job.folder.path = folder = facet_folder_of(path);
        status = folder != NULL ? FACET_OK : facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    if (status == FACET_OK) {
        status = import_job(&job, options, err);
    }
    free(folder);
    free(job.file.data);
    if (status != FACET_OK) {
        facet_scene_free(out);
        (void)facet_fail_in(err, path);
    }
    return status;
}
