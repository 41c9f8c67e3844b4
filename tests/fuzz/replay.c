/* Runs a fuzz target without libFuzzer, so that the plain test run exercises it with both compilers
 * and every sanitizer: each file (or file of a folder) named as an argument, then deterministic
 * mutations of them and of nothing. */
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SEEDS = 256, INPUT_LIMIT = 1 << 16, MUTATIONS = 4000, FRESH_BYTES = 64 };

static struct {
    uint8_t *data;
    size_t size;
} seeds[MAX_SEEDS];
static size_t seed_count;

static uint64_t random_state;

static uint64_t next_random(void)
{
    uint64_t z = random_state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* The target gets an exact copy on the heap: a read past the end is then a sanitizer's finding. */
static void feed(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);

    if (copy == NULL) {
        return;
    }
    if (size > 0) {
        memcpy(copy, data, size);
    }
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void add_file(const char *path)
{
    static uint8_t bytes[INPUT_LIMIT];
    FILE *file = fopen(path, "rb");
    size_t size;

    if (file == NULL || seed_count >= MAX_SEEDS) {
        if (file != NULL) {
            fclose(file);
        }
        return;
    }
    size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    seeds[seed_count].data = malloc(size > 0 ? size : 1);
    if (seeds[seed_count].data == NULL) {
        return;
    }
    memcpy(seeds[seed_count].data, bytes, size);
    seeds[seed_count++].size = size;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void add_path(const char *path)
{
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, by_name);

    if (count < 0) {
        add_file(path);
        return;
    }
    for (int i = 0; i < count; i++) {
        char name[4096];

        if (entries[i]->d_name[0] != '.') {
            (void)snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
            add_file(name);
        }
        free(entries[i]);
    }
    free(entries);
}

/* A seed with a few bytes replaced, removed or inserted; sometimes only random bytes. */
static size_t mutate(uint8_t *out)
{
    size_t size = 0;

    if (seed_count > 0 && next_random() % 8 != 0) {
        size_t n = next_random() % seed_count;

        size = seeds[n].size;
        memcpy(out, seeds[n].data, size);
    } else {
        size = next_random() % FRESH_BYTES;
        for (size_t i = 0; i < size; i++) {
            out[i] = (uint8_t)next_random();
        }
    }
    for (uint64_t edits = next_random() % 6; edits > 0 && size > 0; edits--) {
        size_t at = next_random() % size;

        switch (next_random() % 4) {
        case 0:
            out[at] = (uint8_t)next_random();
            break;
        case 1:
            out[at] ^= (uint8_t)(1u << next_random() % 8);
            break;
        case 2:
            memmove(out + at, out + at + 1, size - at - 1);
            size--;
            break;
        default:
            if (size < INPUT_LIMIT) {
                memmove(out + at + 1, out + at, size - at);
                out[at] = (uint8_t)next_random();
                size++;
            }
            break;
        }
    }
    return size;
}

int main(int argc, char **argv)
{
    static uint8_t input[INPUT_LIMIT];

    for (int i = 1; i < argc; i++) {
        add_path(argv[i]);
    }
    feed(input, 0);
    for (size_t i = 0; i < seed_count; i++) {
        feed(seeds[i].data, seeds[i].size);
    }
    for (int i = 0; i < MUTATIONS; i++) {
        feed(input, mutate(input));
    }
    printf("%zu seeds, %d mutations\n", seed_count, MUTATIONS);
    for (size_t i = 0; i < seed_count; i++) {
        free(seeds[i].data);
    }
    return 0;
}
