/* Memory for host code: what is written runs, nothing is writable and executable at once, and a
 * host that has or gives no such memory is one to do without. */
#include "harness.h"

#include "host_code/code_memory.h"
#include "host_code/x86.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { BYTES = 3 * 4096 };

/* A function that returns the number. */
static size_t put_function(uint8_t *at, size_t size, uint32_t number)
{
    struct facet_x86 x = {.bytes = at, .size = size};

    facet_x86_constant(&x, FACET_RAX, number);
    facet_x86_byte(&x, 0xC3);
    CHECK(facet_x86_fits(&x));
    return x.used;
}

static unsigned run(const uint8_t *at)
{
    unsigned (*function)(void) = (unsigned (*)(void))(uintptr_t)at;

    return function();
}

/* The access of the page, as the host tells it: "r-xp". */
static void find_access(const uint8_t *at, char access[5])
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long from, to;
    char line[512];

    access[0] = '\0';
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        if (sscanf(line, "%lx-%lx %4s", &from, &to, access) == 3 && (uintptr_t)at >= from &&
            (uintptr_t)at < to) {
            break;
        }
        access[0] = '\0';
    }
    if (maps != NULL) {
        (void)fclose(maps);
    }
}

TEST(code_runs_and_is_never_writable_while_it_can, "")
{
    facet_code_memory *memory = facet_code_memory_create(BYTES);
    uint8_t *first, *second;
    char access[5];

#if defined(__x86_64__) && defined(__linux__)
    CHECK(memory != NULL);
#endif
    if (memory == NULL) {
        return;
    }
    CHECK_EQ(facet_code_memory_room(memory), BYTES);
    first = facet_code_memory_open(memory, 64);
    CHECK(first != NULL && !facet_code_memory_has(memory, first));
    find_access(first, access);
    CHECK_MSG(strcmp(access, "rw-p") == 0, "open: %s", access);
    CHECK(facet_code_memory_close(memory, put_function(first, 64, 17)));
    find_access(first, access);
    CHECK_MSG(strcmp(access, "r-xp") == 0, "closed: %s", access);
    CHECK_EQ(run(first), 17);
    /* The next piece, on the same page: both run. */
    second = facet_code_memory_open(memory, 64);
    CHECK(facet_code_memory_close(memory, put_function(second, 64, 0x80000001u)));
    CHECK(second != first && facet_code_memory_has(memory, second));
    CHECK_EQ(run(first), 17);
    CHECK_EQ(run(second), 0x80000001u);
    /* What is kept of a piece counts, not what was asked for. */
    CHECK(facet_code_memory_open(memory, BYTES - 128) != NULL);
    CHECK(facet_code_memory_close(memory, 0));
    CHECK(facet_code_memory_room(memory) >= BYTES - 128);
    CHECK(facet_code_memory_open(memory, BYTES) == NULL);
    /* Forgotten, and written anew. */
    facet_code_memory_clear(memory);
    CHECK(!facet_code_memory_has(memory, first));
    CHECK(facet_code_memory_open(memory, BYTES) == first);
    CHECK(facet_code_memory_close(memory, put_function(first, BYTES, 18)));
    CHECK_EQ(run(first), 18);
    facet_code_memory_destroy(memory);
}

TEST(a_host_that_refuses_code_gives_no_memory, "")
{
#ifdef __linux__
    enum { SET_MDWE = 65, REFUSE_EXEC_GAIN = 1, OLD_KERNEL = 2 };
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        if (prctl(SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0) != 0) {
            _exit(OLD_KERNEL);
        }
        _exit(facet_code_memory_create(BYTES) != NULL);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) != 1);
#endif
    facet_code_memory_destroy(NULL);
}
