/* Answers the cases of a conformance suite as WebAssembly: the other side of
 * `facet conform --against stdio:COMMAND` (docs/conformance.md). A program for WASI; the machines
 * in it are the object files of the page. wasm/bench.mjs has it as a native program, too. */
#include "conform/internal.h"

#include "base/plain.h"
#include "base/side_file.h"
#include "json/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __wasi__ /* the library has these elsewhere */

/* ---- files ---- */

static enum facet_status read_stream(
    FILE *file, const char *name, size_t limit, struct facet_bytes *out, struct facet_error *err)
{
    size_t size = 0, room = 65536;
    uint8_t *data = malloc(room + 1);

    while (data != NULL && size <= limit) {
        const size_t got = fread(data + size, 1, room - size, file);
        uint8_t *more = data;

        if (got == 0) {
            data[size] = 0;
            *out = (struct facet_bytes){data, size};
            return FACET_OK;
        }
        size += got;
        if (size == room) {
            more = realloc(data, 2 * room + 1);
            room *= 2;
        }
        if (more == NULL) {
            free(data);
        }
        data = more;
    }
    free(data);
    return facet_fail(err, FACET_ERR_LIMIT, size, "%s: too large", name);
}

enum facet_status
facet_file_read(const char *path, size_t limit, struct facet_bytes *out, struct facet_error *err)
{
    FILE *file = fopen(path, "rb");
    enum facet_status status;

    *out = (struct facet_bytes){NULL, 0};
    if (file == NULL) {
        return facet_fail(err, FACET_ERR_IO, 0, "%s: cannot be opened", path);
    }
    status = read_stream(file, path, limit, out, err);
    (void)fclose(file);
    return status;
}

/* The suite is ours, so that a name leads nowhere else. */
enum facet_status facet_side_file_read(const char *folder,
                                       const char *name,
                                       size_t limit,
                                       struct facet_bytes *out,
                                       struct facet_error *err)
{
    char path[4096];

    (void)snprintf(path, sizeof path, "%s%s%s", folder, folder[0] != '\0' ? "/" : "", name);
    return facet_file_read(path, limit, out, err);
}

bool facet_side_file_exists(const char *folder, const char *name)
{
    struct facet_bytes bytes;
    const bool there =
        facet_side_file_read(folder, name, SIZE_MAX / 2, &bytes, NULL) != FACET_ERR_IO;

    free(bytes.data);
    return there;
}

/* ---- one case ---- */

void conform_say(struct conform_result *result,
                 enum conform_verdict verdict,
                 const char *format,
                 ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(result->text, sizeof result->text, format, args);
    va_end(args);
    result->verdict = verdict;
}

#endif

/* As a member of an object: quotes and backslashes become blanks, which a message can bear. */
static void put_text(const char *key, const char *text)
{
    printf(",\"%s\":\"", key);
    for (; *text != '\0'; text++) {
        putchar(*text == '"' || *text == '\\' || (unsigned char)*text < ' ' ? ' ' : *text);
    }
    printf("\"");
}

/* As "%08x", without a call for each: there may be millions. */
static void put_words(const struct conform_words *words)
{
    printf(",\"signature\":[");
    for (size_t i = 0; i < words->count; i++) {
        char text[] = ",\"00000000\"";

        for (unsigned k = 0; k < 8; k++) {
            text[2 + k] = "0123456789abcdef"[words->word[i] >> (28 - 4 * k) & 15];
        }
        (void)fwrite(text + (i == 0), 1, sizeof text - 1 - (i == 0), stdout);
    }
    printf("]");
}

static const char *member(const json_t *request, const char *key)
{
    const char *text = json_string_value(json_object_get(request, key));

    return text != NULL ? text : "";
}

/* Names of the host begin at its root: WASI has no current folder. */
static char *path_of(const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);

    if (path != NULL) {
        (void)snprintf(
            path, size, "%s%s%s", name[0] == '/' ? "" : folder, name[0] == '/' ? "" : "/", name);
    }
    return path;
}

static void answer(const json_t *request, const char *folder, bool plain)
{
    static const char *const kinds[] = {"elf", "tile", "list", "vector"};
    struct conform_case c = {.name = member(request, "case"), .config = member(request, "config")};
    struct conform_result result = {CONFORM_PASS, ""};
    struct conform_words got = {0};
    struct facet_error err = {0};

    while (c.kind < CONFORM_KINDS && strcmp(kinds[c.kind], member(request, "kind")) != 0) {
        c.kind++;
    }
    c.path = path_of(folder, member(request, "file"));
    if (strcmp(c.config, "full") == 0) {
        c.config = "";
    }
    printf("{\"case\":\"%s\"", c.name);
    if (c.path == NULL || c.kind == CONFORM_KINDS) {
        put_text("error", "a kind of case that this program does not know");
    } else if (conform_facet(&c, plain, &got, &result, &err) != FACET_OK) {
        put_text("error", err.message);
    } else if (result.verdict != CONFORM_PASS) {
        put_text(result.verdict == CONFORM_UNSUPPORTED ? "unsupported" : "error", result.text);
    } else {
        put_words(&got);
    }
    printf("}\n");
    (void)fflush(stdout);
    free(got.word);
    free(c.path);
}

/* conform FOLDER [plain]: where names begin that are not absolute; the plain ways of the machines.
 */
int main(int argc, char **argv)
{
    const bool plain = argc > 2 && strcmp(argv[2], "plain") == 0;
    static char line[1 << 16], out[1 << 16];

    (void)setvbuf(stdout, out, _IOFBF, sizeof out);

    while (fgets(line, sizeof line, stdin) != NULL) {
        struct facet_error err = {0};
        json_t *request = NULL;

        if (facet_json_parse("request", line, strlen(line), &request, &err) != FACET_OK) {
            (void)fprintf(stderr, "%s\n", err.message);
            return 2;
        }
        answer(request, argc > 1 ? argv[1] : "", plain);
        json_decref(request);
    }
    return 0;
}
