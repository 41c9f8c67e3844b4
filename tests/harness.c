/* See harness.h. Links into every suite and provides main(). */
#include "harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static struct harness_case *first_case, **last_case = &first_case;
static struct {
    int failures;
    bool skipped;
    uint64_t random;
} now;

void harness_register(struct harness_case *c)
{
    *last_case = c;
    last_case = &c->next;
}

bool harness_check(bool ok, const char *file, int line, const char *format, ...)
{
    va_list args;

    if (ok) {
        return true;
    }
    if (now.failures++ < 10) {
        printf("%s:%d: ", file, line);
        va_start(args, format);
        (void)vprintf(format, args);
        va_end(args);
        putchar('\n');
    }
    return false;
}

void harness_skip(const char *why)
{
    now.skipped = true;
    printf("skipped: %s\n", why);
}

bool harness_failed(void)
{
    return now.failures != 0;
}

bool harness_long(void)
{
    const char *value = getenv("FACET_TEST_LONG");

    return value != NULL && value[0] == '1';
}

uint64_t harness_random(void)
{
    uint64_t z = now.random += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static bool wanted(const struct harness_case *c, int argc, char **argv)
{
    bool any = false;

    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-') {
            continue;
        }
        any = true;
        if (strstr(c->name, argv[i]) != NULL) {
            return true;
        }
    }
    return !any;
}

static FILE *open_results(const char *suite)
{
    const char *folder = getenv("FACET_TEST_RESULTS");
    char path[1024];

    if (folder == NULL) {
        return NULL;
    }
    (void)snprintf(path, sizeof path, "%s/%s.tsv", folder, suite);
    return fopen(path, "w");
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    const char *suite = slash != NULL ? slash + 1 : argv[0];
    int passed = 0, failed = 0, skipped = 0;
    FILE *results;

    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1 && strcmp(argv[1], "--list") == 0) {
        for (struct harness_case *c = first_case; c != NULL; c = c->next) {
            printf("%s\t%s\n", c->name, c->ids);
        }
        return 0;
    }
    results = open_results(suite);
    for (struct harness_case *c = first_case; c != NULL; c = c->next) {
        if (!wanted(c, argc, argv)) {
            continue;
        }
        now.failures = 0;
        now.skipped = false;
        now.random = 0;
        for (const char *p = c->name; *p != '\0'; p++) {
            now.random = now.random * 131 + (unsigned char)*p;
        }
        c->run();
        if (now.failures != 0) {
            printf("FAIL %s (%d checks)\n", c->name, now.failures);
            failed++;
        } else if (now.skipped) {
            skipped++;
        } else {
            passed++;
        }
        if (results != NULL) {
            fprintf(results,
                    "%s\t%s\t%s\t%s\n",
                    suite,
                    c->name,
                    now.failures != 0 ? "fail"
                    : now.skipped     ? "skip"
                                      : "pass",
                    c->ids);
            fflush(results);
        }
    }
    if (results != NULL) {
        fclose(results);
    }
    printf("%s: %d passed, %d failed, %d skipped\n", suite, passed, failed, skipped);
    return failed != 0;
}
