/* See code_memory.h. */
#include "host_code/code_memory.h"

#if defined(__x86_64__) && defined(__linux__)

#include "base/bits.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct facet_code_memory {
    uint8_t *bytes;
    size_t size, used;
    size_t opened; /* bytes that can be written, from the page of `used` on; 0: none */
};

enum { PAGE = 4096, LINE = 64 };

static size_t page_of(size_t offset)
{
    return offset / PAGE * PAGE;
}

facet_code_memory *facet_code_memory_create(size_t bytes)
{
    facet_code_memory *memory = calloc(1, sizeof *memory);

    if (memory == NULL) {
        return NULL;
    }
    memory->size = page_of(bytes + PAGE - 1);
    memory->bytes = mmap(NULL,
                         memory->size,
                         PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                         -1,
                         0);
    if (memory->bytes == MAP_FAILED) {
        free(memory);
        return NULL;
    }
    if (sysconf(_SC_PAGESIZE) != PAGE ||
        mprotect(memory->bytes, memory->size, PROT_READ | PROT_EXEC) != 0) {
        facet_code_memory_destroy(memory);
        return NULL;
    }
    return memory;
}

void facet_code_memory_destroy(facet_code_memory *memory)
{
    if (memory != NULL) {
        (void)munmap(memory->bytes, memory->size);
        free(memory);
    }
}

uint8_t *facet_code_memory_open(facet_code_memory *memory, size_t bytes)
{
    size_t first = page_of(memory->used), after;

    if (bytes > memory->size - memory->used) {
        return NULL;
    }
    after = page_of(memory->used + bytes + PAGE - 1);
    if (mprotect(memory->bytes + first, after - first, PROT_READ | PROT_WRITE) != 0) {
        return NULL;
    }
    memory->opened = after - first;
    return memory->bytes + memory->used;
}

bool facet_code_memory_close(facet_code_memory *memory, size_t bytes)
{
    uint8_t *first = memory->bytes + page_of(memory->used);

    memory->used = (memory->used + bytes + LINE - 1) / LINE * LINE;
    memory->used = memory->used < memory->size ? memory->used : memory->size;
    return mprotect(first, memory->opened, PROT_READ | PROT_EXEC) == 0;
}

size_t facet_code_memory_room(const facet_code_memory *memory)
{
    return memory->size - memory->used;
}

void facet_code_memory_clear(facet_code_memory *memory)
{
    memory->used = 0;
}

bool facet_code_memory_has(const facet_code_memory *memory, const void *address)
{
    return (uintptr_t)address - (uintptr_t)memory->bytes < memory->used;
}

#else

facet_code_memory *facet_code_memory_create(size_t bytes)
{
    (void)bytes;
    return NULL;
}

void facet_code_memory_destroy(facet_code_memory *memory)
{
    (void)memory;
}

uint8_t *facet_code_memory_open(facet_code_memory *memory, size_t bytes)
{
    (void)memory, (void)bytes;
    return NULL;
}

bool facet_code_memory_close(facet_code_memory *memory, size_t bytes)
{
    (void)memory, (void)bytes;
    return false;
}

size_t facet_code_memory_room(const facet_code_memory *memory)
{
    (void)memory;
    return 0;
}

void facet_code_memory_clear(facet_code_memory *memory)
{
    (void)memory;
}

bool facet_code_memory_has(const facet_code_memory *memory, const void *address)
{
    (void)memory, (void)address;
    return false;
}

#endif
