/* See output.h. */
#include "session/tile/output.h"

#include "command/output.h"
#include "session/tile/picture.h"

#include "base/file.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool replaces(const char *output, const char *other)
{
    return !cli_is_stream(output) && !cli_is_stream(other) && facet_file_same(output, other);
}

/* The file that a value of --in (ADDR=FILE) or --arg (NAME=@FILE, @FILE) reads, or NULL. */
static const char *file_of(const char *text, bool arg)
{
    const char *equals = strchr(text, '=');

    if (!arg) {
        return equals != NULL ? equals + 1 : NULL;
    }
    if (text[0] == '@') {
        return text + 1;
    }
    return equals != NULL && equals[1] == '@' ? equals + 2 : NULL;
}

/* What of this run a file to be written would replace, or NULL. */
static const char *what_it_replaces(const struct cli_args *args, const char *path)
{
    static const char *const readers[] = {"in", "arg"};
    const char *text, *resumed = cli_value(args, "resume"), *cover = cli_value(args, "cover"),
                      *timing = cli_value(args, "timing");
    const char *profile = cli_value(args, "profile-out");

    if (replaces(path, args->positional[0])) {
        return "the kernel";
    }
    if (resumed != NULL && replaces(path, resumed)) {
        return "the snapshot of --resume";
    }
    if (cover != NULL && cover != path && replaces(path, cover)) {
        return "the file of --cover";
    }
    if (timing != NULL && replaces(path, timing)) {
        return "the timing model";
    }
    if (profile != NULL && profile != path && replaces(path, profile)) {
        return "the file of --profile-out";
    }
    for (size_t k = 0; k < sizeof readers / sizeof readers[0]; k++) {
        for (int i = 0; (text = cli_nth_value(args, readers[k], i)) != NULL; i++) {
            const char *file = file_of(text, k == 1);

            if (file != NULL && replaces(path, file)) {
                return "an input";
            }
        }
    }
    return NULL;
}

/* "WxH", numbers or the names of numbers. */
static bool
read_picture_size(struct session_tile_output *out, const struct session_tile *setup, char *text)
{
    char *times = strchr(text, 'x');

    /* An x may also be a letter of a name: the first one that splits the text into two sizes. */
    for (; times != NULL; times = strchr(times + 1, 'x')) {
        *times = '\0';
        if (session_tile_address(setup, text, &out->width) &&
            session_tile_address(setup, times + 1, &out->height)) {
            *times = 'x';
            break;
        }
        *times = 'x';
    }
    if (times == NULL || out->width - 1 >= 8192 || out->height - 1 >= 8192) {
        return false;
    }
    out->size = 4 * out->width * out->height;
    return true;
}

/* ADDR,LEN=FILE or ADDR,WxH=FILE.png, with the memory there. */
static bool read_option(struct session_tile_output *out,
                        const struct session_tile *setup,
                        const struct cli_args *args,
                        const char *text)
{
    const char *equals = strchr(text, '='), *comma = strchr(text, ',');
    char name[64] = "", length[64] = "";
    struct facet_error err = {0};

    if (equals == NULL || comma == NULL || comma > equals || equals[1] == '\0' ||
        (size_t)(comma - text) >= sizeof name || (size_t)(equals - comma - 1) >= sizeof length) {
        (void)cli_bad(args, "--out %s: expected ADDR,LEN=FILE", text);
        return false;
    }
    memcpy(name, text, (size_t)(comma - text));
    memcpy(length, comma + 1, (size_t)(equals - comma - 1));
    if (!session_tile_address(setup, name, &out->address)) {
        (void)cli_bad(args, "--out %s: '%s' is %s", text, name, SESSION_TILE_NO_ADDRESS);
        return false;
    }
    if (cli_ends_with(equals, ".png")) {
        if (!read_picture_size(out, setup, length)) {
            (void)cli_bad(
                args,
                "--out %s: '%s' is no size of a picture; expected ADDR,WxH=FILE.png, each "
                "1 to 8192",
                text,
                length);
            return false;
        }
    } else if (!session_tile_address(setup, length, &out->size)) {
        (void)cli_bad(args, "--out %s: '%s' is %s", text, length, SESSION_TILE_NO_ADDRESS);
        return false;
    }
    out->path = equals + 1;
    out->bytes = malloc((size_t)out->size + 1);
    if (out->bytes == NULL) {
        (void)cli_bad(args, "--out %s: out of memory", text);
        return false;
    }
    if (facet_machine_read(setup->machine, 0, out->address, out->bytes, out->size, &err) !=
        FACET_OK) {
        (void)cli_bad(args, "--out %s: %s", text, err.message);
        return false;
    }
    return true;
}

static bool check_path(const struct session_tile_outputs *outputs,
                       const struct cli_args *args,
                       const char *path)
{
    const char *trace = cli_value(args, "trace"), *other = what_it_replaces(args, path);

    if (other != NULL) {
        (void)cli_bad(args, "--out: %s is %s: choose another output", path, other);
        return false;
    }
    if (trace != NULL && replaces(path, trace)) {
        (void)cli_bad(args, "--out and --trace write to the same file, %s", path);
        return false;
    }
    for (int i = 0; i + 1 < outputs->count; i++) {
        if (replaces(path, outputs->list[i].path)) {
            (void)cli_bad(args, "two --out write to the same file, %s", path);
            return false;
        }
    }
    return cli_can_write(args, path);
}

/* Standard output holds one thing: the trace, one --out, or the report. */
static bool share_stdout(struct session_tile_outputs *outputs, const struct cli_args *args)
{
    const char *trace = cli_value(args, "trace");
    int users = trace != NULL && cli_is_stream(trace);

    for (int i = 0; i < outputs->count; i++) {
        users += cli_is_stream(outputs->list[i].path);
    }
    outputs->use_stdout = users != 0;
    if (users + args->json > 1) {
        (void)cli_bad(
            args,
            "%s both write to standard output; expected one of --json, --trace -, --out ...=-",
            args->json ? "--json and a file called -" : "two files called -");
        return false;
    }
    return true;
}

/* The file of --save must not be another file of this run. */
static bool check_save(const struct session_tile_outputs *outputs, const struct cli_args *args)
{
    const char *save = cli_value(args, "save"), *trace = cli_value(args, "trace"), *other;

    if (save == NULL) {
        return true;
    }
    if (cli_is_stream(save)) {
        (void)cli_bad(args, "--save -: expected a file");
        return false;
    }
    other = what_it_replaces(args, save);
    if (other == NULL && trace != NULL && replaces(save, trace)) {
        other = "the trace";
    }
    for (int i = 0; other == NULL && i < outputs->count; i++) {
        other = replaces(save, outputs->list[i].path) ? "the file of an --out" : NULL;
    }
    if (other != NULL) {
        (void)cli_bad(args, "--save: %s is %s: choose another output", save, other);
        return false;
    }
    return cli_can_write(args, save);
}

bool session_tile_outputs_plan(struct session_tile_outputs *outputs,
                               const struct session_tile *setup,
                               const struct cli_args *args)
{
    static const char *const names[] = {"trace", "cover", "profile-out"};
    const char *text, *other;

    for (int i = 0; i < 3; i++) {
        text = cli_value(args, names[i]);
        other = text != NULL ? what_it_replaces(args, text) : NULL;
        if (other != NULL) {
            (void)cli_bad(args, "--%s: %s is %s: choose another output", names[i], text, other);
            return false;
        }
    }
    while ((text = cli_nth_value(args, "out", outputs->count)) != NULL) {
        struct session_tile_output *out = &outputs->list[outputs->count++];

        if (!read_option(out, setup, args, text) || !check_path(outputs, args, out->path)) {
            return false;
        }
    }
    return check_save(outputs, args) && share_stdout(outputs, args);
}

static enum facet_status encode(const struct session_tile_output *out,
                                struct facet_bytes *file,
                                uint64_t *hash,
                                struct facet_error *err)
{
    struct facet_image image = {0};
    enum facet_status status = session_tile_image(
        out->bytes, 4 * (size_t)out->width, out->width, out->height, false, &image, err);

    if (status == FACET_OK) {
        *hash = session_image_hash(&image, *hash);
        status = facet_image_png_encode(&image, file, err);
    }
    facet_image_free(&image);
    return status;
}

bool session_tile_outputs_write(struct session_tile_outputs *outputs,
                                const struct session_tile *setup,
                                const struct cli_args *args,
                                const struct facet_file_part *const more[SESSION_TILE_REPORTS])
{
    const char *save = cli_value(args, "save");
    struct facet_file_part parts[CLI_MAX_VALUES + 1 + SESSION_TILE_REPORTS];
    struct facet_bytes files[CLI_MAX_VALUES] = {{NULL, 0}};
    struct facet_blob state = {0};
    struct facet_error err = {0};
    enum facet_status status = FACET_OK;
    size_t count = 0;

    for (int i = 0; status == FACET_OK && i < outputs->count; i++) {
        struct session_tile_output *out = &outputs->list[i];

        status = facet_machine_read(setup->machine, 0, out->address, out->bytes, out->size, &err);
        if (status == FACET_OK && out->width != 0) {
            status = encode(out, &files[i], &outputs->hash, &err);
            parts[count++] = (struct facet_file_part){out->path, files[i].data, files[i].size};
        } else {
            outputs->hash = facet_hash_bytes(out->bytes, out->size, outputs->hash);
            parts[count++] = (struct facet_file_part){out->path, out->bytes, out->size};
        }
    }
    if (status == FACET_OK && save != NULL) {
        status = facet_machine_snapshot(setup->machine, &state, &err);
        parts[count++] = (struct facet_file_part){save, state.data, state.size};
    }
    for (int i = 0; i < SESSION_TILE_REPORTS; i++) {
        if (more[i] != NULL) {
            parts[count++] = *more[i];
        }
    }
    if (status == FACET_OK) {
        status = facet_file_write_all(parts, count, &err);
    }
    facet_blob_free(&state);
    for (int i = 0; i < outputs->count; i++) {
        free(files[i].data);
    }
    if (status != FACET_OK) {
        (void)cli_bad_error(args, &err);
    }
    return status == FACET_OK;
}

void session_tile_outputs_free(struct session_tile_outputs *outputs)
{
    for (int i = 0; i < outputs->count; i++) {
        free(outputs->list[i].bytes);
    }
}
