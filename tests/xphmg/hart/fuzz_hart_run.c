/* Runs an image of tools/fuzz_hart.py on the hart and writes its slots: fuzz_hart_run
 * plain|blocks|host IMAGE OUT. `plain` is step.c alone, `blocks` is block.c with step.c for what it
 * leaves, `host` makes host code of every block at once.
 *
 * The image is flat and lies at 0x80000000; it starts with a jump, then the number of slots, the
 * address of the first and the pc at which everything is done. Standard output: instructions
 * retired. Exit code 2 for bad arguments, 1 when the image does not finish. */
#include "base/file.h"
#include "xphmg/hart/block.h"
#include "xphmg/hart/hart.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOT_BYTES = 4096, RAM_BYTES = 64 << 20 };
#define BASE UINT64_C(0x80000000)
/* A program that does not end is a failure, not a hang. */
#define LIMIT UINT64_C(1000000000)

static uint64_t word_at(const uint8_t *bytes)
{
    uint64_t value = 0;

    for (int i = 7; i >= 0; i--) {
        value = value << 8 | bytes[i];
    }
    return value;
}

static bool run(struct facet_hart *h, facet_block_cache *cache, uint64_t finish)
{
    while (h->pc != finish && h->retired < LIMIT) {
        if (cache != NULL) {
            (void)facet_block_run(cache, h, LIMIT - h->retired);
            if (h->pc == finish) {
                break;
            }
        }
        (void)facet_hart_step(h);
    }
    return h->pc == finish;
}

static int fail(const struct facet_error *err, const char *what)
{
    fprintf(stderr, "fuzz_hart_run: %s: %s\n", what, err->message);
    return 2;
}

int main(int argc, char **argv)
{
    struct facet_error err = {0};
    facet_block_cache *cache = NULL;
    struct facet_hart *h = calloc(1, sizeof *h);
    facet_mem *mem = NULL;
    struct facet_bytes image = {0};
    size_t size;
    uint64_t count, slots, finish;
    bool host = argc == 4 && strcmp(argv[1], "host") == 0;
    bool blocks = host || (argc == 4 && strcmp(argv[1], "blocks") == 0);

    if (argc != 4 || (!blocks && strcmp(argv[1], "plain") != 0) || h == NULL) {
        fprintf(stderr, "usage: fuzz_hart_run plain|blocks|host IMAGE OUT\n");
        free(h);
        return 2;
    }
    if (facet_file_read(argv[2], RAM_BYTES, &image, &err) != FACET_OK) {
        free(h);
        return fail(&err, argv[2]);
    }
    size = image.size;
    count = size >= 32 ? word_at(image.data + 8) : 0;
    slots = size >= 32 ? word_at(image.data + 16) - BASE : 0;
    finish = size >= 32 ? word_at(image.data + 24) : 0;
    if (count == 0 || slots > size || (size - slots) / SLOT_BYTES < count) {
        fprintf(stderr, "fuzz_hart_run: %s: no image of fuzz_hart.py\n", argv[2]);
        free(image.data);
        free(h);
        return 2;
    }
    if (facet_mem_create(&mem, &err) != FACET_OK ||
        facet_mem_add_ram(mem, "dram", FACET_MEM_RAM, BASE, RAM_BYTES, &err) != FACET_OK) {
        return fail(&err, "memory");
    }
    (void)facet_mem_poke(mem, BASE, image.data, size);
    h->mem = mem;
    h->ram = facet_mem_window(mem, BASE);
    facet_hart_reset(h, BASE);
    if (blocks && facet_block_cache_create(h, &cache, &err) != FACET_OK) {
        return fail(&err, "blocks");
    }
    if (host) {
        facet_block_cache_host_code(cache, 1);
    }
    bool done = run(h, cache, finish);

    if (!done) {
        fprintf(stderr, "fuzz_hart_run: did not finish, pc 0x%" PRIx64 "\n", h->pc);
    } else if (facet_file_write(argv[3], h->ram.bytes + slots, count * SLOT_BYTES, &err) !=
               FACET_OK) {
        done = false;
        (void)fail(&err, argv[3]);
    }
    printf("%" PRIu64 "\n", h->retired);
    facet_block_cache_destroy(cache);
    facet_mem_destroy(mem);
    free(image.data);
    free(h);
    return done ? 0 : 1;
}
