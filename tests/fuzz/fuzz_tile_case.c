/* Any files as a tile case folder: refused with a message, or run, on the wide and on the portable
 * code with the same verdict.
 *
 * The input is the contents of case.json, kernel.s and a.bin, each ended by a line `---`. The
 * folder lies in memory and is written anew for each input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"
#include "fuzz/machine.h"

#include "documents/tile_case_data.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 16, MOST_ROUNDS = 300 };

static const char *const names[] = {"case.json", "kernel.s", "a.bin"};
enum { FILES = sizeof names / sizeof names[0] };

static char folder[] = "/dev/shm/fuzz_tile_case.XXXXXX";

static const char *path_of(unsigned file)
{
    static char path[sizeof folder + 16];

    (void)snprintf(path, sizeof path, "%s/%s", folder, names[file]);
    return path;
}

static void remove_folder(void)
{
    for (unsigned i = 0; i < FILES; i++) {
        (void)unlink(path_of(i));
    }
    (void)rmdir(folder);
}

static void write_file(unsigned number, const uint8_t *data, size_t size)
{
    FILE *file = fopen(path_of(number), "wb");

    fuzz_require(file != NULL && fwrite(data, 1, size, file) == size);
    fuzz_require(fclose(file) == 0);
}

static void write_files(const uint8_t *data, size_t size)
{
    for (unsigned i = 0; i < FILES; i++) {
        const uint8_t *mark = size != 0 ? memmem(data, size, "\n---\n", 5) : NULL;
        const size_t length = mark != NULL ? (size_t)(mark - data) + 1 : size;
        const size_t used = mark != NULL ? length + 4 : size;

        write_file(i, data, length);
        data += used;
        size -= used;
    }
}

static void begin(void *context, facet_machine *machine)
{
    fuzz_limit_begin(context, machine);
}

static void run(struct facet_doc_tile_case *tile_case)
{
    struct fuzz_limit limit = {0};
    struct facet_doc_tile_case_how how = {.begin = begin, .context = &limit};
    struct facet_doc_tile_case_result wide, plain;
    struct facet_error err = {0};

    /* Loops for ever are the watchdog's; not all inputs need its whole patience. */
    if (tile_case->packet.watchdog == 0 || tile_case->packet.watchdog > MOST_ROUNDS) {
        tile_case->packet.watchdog = MOST_ROUNDS;
    }
    if (facet_doc_tile_case_run(tile_case, &how, &wide, &err) != FACET_OK) {
        fuzz_require(err.message[0] != '\0');
        return;
    }
    how.plain = true;
    fuzz_require(facet_doc_tile_case_run(tile_case, &how, &plain, NULL) == FACET_OK);
    fuzz_require(limit.hit ||
                 (wide.pass == plain.pass && strcmp(wide.difference, plain.difference) == 0 &&
                  wide.pass == (wide.difference[0] == '\0')));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool ready;
    struct facet_doc_tile_case *tile_case;
    struct facet_error err = {0};

    if (!ready) {
        fuzz_require(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
        ready = true;
    }
    if (size > MOST_BYTES) {
        return 0;
    }
    write_files(data, size);
    if (facet_doc_tile_case_read(folder, &tile_case, &err) == FACET_OK) {
        run(tile_case);
        facet_doc_tile_case_free(tile_case);
    } else {
        fuzz_require(err.message[0] != '\0' && tile_case == NULL);
    }
    return 0;
}
