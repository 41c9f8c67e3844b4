/* See harness.h. Links into every suite and provides main(). */
#include "harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* A case about more rows than this checks hardly any of them by itself: it says which one each
 * check belongs to, or falls apart into smaller cases. */
enum { MAX_CASE_IDS = 20, MAX_ROWS = 256, ID_SIZE = 16 };

/* One requirement row that the running case named with harness_row() or CHECK_ID(). */
struct row {
    char id[ID_SIZE];
    bool open; /* checks go to it now */
    unsigned checks, failures;
};

static struct harness_case *first_case, **last_case = &first_case;
static struct {
    int failures;
    bool skipped;
    uint64_t random;
    unsigned machines; /* that were recorded */
    struct row rows[MAX_ROWS];
    size_t row_count;
} now;

void harness_register(struct harness_case *c)
{
    *last_case = c;
    last_case = &c->next;
}

/* The next ID of a list; its length, 0 at the end. */
static size_t next_id(const char **ids)
{
    *ids += strspn(*ids, " ");
    return strcspn(*ids, " ");
}

static size_t count_ids(const char *ids)
{
    size_t count = 0;

    for (size_t length; (length = next_id(&ids)) != 0; ids += length) {
        count++;
    }
    return count;
}

static struct row *row_of(const char *id, size_t length)
{
    struct row *row;

    for (size_t i = 0; i < now.row_count; i++) {
        if (strlen(now.rows[i].id) == length && memcmp(now.rows[i].id, id, length) == 0) {
            return &now.rows[i];
        }
    }
    if (now.row_count == MAX_ROWS || length >= ID_SIZE) {
        printf("the case names too many rows, or one too long: %.*s\n", (int)length, id);
        abort();
    }
    row = &now.rows[now.row_count++];
    memset(row, 0, sizeof *row);
    memcpy(row->id, id, length);
    return row;
}

void harness_row(const char *ids)
{
    for (size_t i = 0; i < now.row_count; i++) {
        now.rows[i].open = false;
    }
    for (size_t length; (length = next_id(&ids)) != 0; ids += length) {
        row_of(ids, length)->open = true;
    }
}

static FILE *record;
/* Checks that were written down already. */
static struct {
    const char *file;
    int line;
    char rows[ID_SIZE];
} told[64];
static size_t told_next;

unsigned harness_record_anew(void)
{
    memset(told, 0, sizeof told);
    return ++now.machines;
}

FILE *harness_record(void)
{
    return record;
}

/* Which rows a check belongs to and what it looks at, in words; a check in a loop once. */
static void record_check(const char *file, int line, const char *format, va_list args)
{
    const char *first = "";
    char text[512];

    for (size_t i = 0; i < now.row_count && first[0] == '\0'; i++) {
        first = now.rows[i].open ? now.rows[i].id : "";
    }
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        if (told[i].file == file && told[i].line == line && strcmp(told[i].rows, first) == 0) {
            return;
        }
    }
    told[told_next].file = file;
    told[told_next].line = line;
    (void)snprintf(told[told_next].rows, sizeof told[told_next].rows, "%s", first);
    told_next = (told_next + 1) % (sizeof told / sizeof told[0]);
    (void)vsnprintf(text, sizeof text, format, args);
    text[strcspn(text, "\n")] = '\0';
    fprintf(record, "check");
    for (size_t i = 0; i < now.row_count; i++) {
        if (now.rows[i].open) {
            fprintf(record, " %s", now.rows[i].id);
        }
    }
    fprintf(record, "\t%s\n", text);
}

static bool note(bool ok, const char *file, int line, const char *format, va_list args)
{
    if (record != NULL) {
        va_list again;

        va_copy(again, args);
        record_check(file, line, format, again);
        va_end(again);
    }
    for (size_t i = 0; i < now.row_count; i++) {
        now.rows[i].checks += now.rows[i].open;
        now.rows[i].failures += now.rows[i].open && !ok;
    }
    if (ok) {
        return true;
    }
    if (now.failures++ < 10) {
        printf("%s:%d: ", file, line);
        (void)vprintf(format, args);
        putchar('\n');
    }
    return false;
}

bool harness_check(bool ok, const char *file, int line, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)note(ok, file, line, format, args);
    va_end(args);
    return ok;
}

bool harness_check_ids(
    const char *ids, bool ok, const char *file, int line, const char *format, ...)
{
    bool open[MAX_ROWS];
    size_t count = now.row_count;
    va_list args;

    for (size_t i = 0; i < count; i++) {
        open[i] = now.rows[i].open;
    }
    harness_row(ids);
    va_start(args, format);
    (void)note(ok, file, line, format, args);
    va_end(args);
    harness_row("");
    for (size_t i = 0; i < count; i++) {
        now.rows[i].open = open[i];
    }
    return ok;
}

void harness_skip(const char *why)
{
    now.skipped = true;
    printf("skipped: %s\n", why);
}

bool harness_failed(void)
{
    bool any_open = false, row_failed = false;

    for (size_t i = 0; i < now.row_count; i++) {
        any_open |= now.rows[i].open;
        row_failed |= now.rows[i].open && now.rows[i].failures != 0;
    }
    return any_open ? row_failed : now.failures != 0;
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

/* A name of a case that is not there is a mistake: the case was renamed, and nothing would run. */
static bool names_exist(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const struct harness_case *c = first_case;

        while (c != NULL && strstr(c->name, argv[i]) == NULL) {
            c = c->next;
        }
        if (c == NULL && argv[i][0] != '-') {
            printf("no case has %s in its name\n", argv[i]);
            return false;
        }
    }
    return true;
}

static FILE *open_in(const char *variable, const char *suite, const char *ending)
{
    const char *folder = getenv(variable);
    char path[1024];

    if (folder == NULL) {
        return NULL;
    }
    (void)snprintf(path, sizeof path, "%s/%s.%s", folder, suite, ending);
    return fopen(path, "w");
}

/* Runs one case, and fails it for what no check can see: rows that it claims without checking. */
static void run_case(const struct harness_case *c)
{
    now.failures = 0;
    now.skipped = false;
    now.row_count = 0;
    now.machines = 0;
    now.random = 0;
    for (const char *p = c->name; *p != '\0'; p++) {
        now.random = now.random * 131 + (unsigned char)*p;
    }
    if (count_ids(c->ids) > MAX_CASE_IDS) {
        printf("%s names %zu requirement rows, at most %d may share a case: see harness_row()\n",
               c->name,
               count_ids(c->ids),
               MAX_CASE_IDS);
        now.failures++;
    }
    if (record != NULL) {
        fprintf(record, "case %s\t%s\n", c->name, c->ids);
    }
    c->run();
    if (record != NULL) {
        fprintf(record, "end %s\n", now.failures != 0 || now.skipped ? "fail" : "pass");
    }
    for (size_t i = 0; i < now.row_count && !now.skipped; i++) {
        if (now.rows[i].checks == 0) {
            printf("%s checks nothing of %s\n", c->name, now.rows[i].id);
            now.rows[i].failures++;
            now.failures++;
        }
    }
}

static const char *outcome(bool failed, bool skipped)
{
    return failed ? "fail" : skipped ? "skip" : "pass";
}

static void write_results(FILE *results, const char *suite, const struct harness_case *c)
{
    fprintf(results,
            "%s\t%s\t%s\t%s\n",
            suite,
            c->name,
            outcome(now.failures != 0, now.skipped),
            c->ids);
    for (size_t i = 0; i < now.row_count; i++) {
        const struct row *row = &now.rows[i];

        fprintf(results,
                "%s\t%s[%s]\t%s\t%s\n",
                suite,
                c->name,
                row->id,
                outcome(row->failures != 0, now.skipped),
                row->id);
    }
    fflush(results);
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
    if (!names_exist(argc, argv)) {
        return 2;
    }
    results = open_in("FACET_TEST_RESULTS", suite, "tsv");
    record = open_in("FACET_TEST_RECORD", suite, "log");
    for (struct harness_case *c = first_case; c != NULL; c = c->next) {
        if (!wanted(c, argc, argv)) {
            continue;
        }
        run_case(c);
        if (now.failures != 0) {
            printf("FAIL %s (%d checks)\n", c->name, now.failures);
            failed++;
        } else if (now.skipped) {
            skipped++;
        } else {
            passed++;
        }
        if (results != NULL) {
            write_results(results, suite, c);
        }
    }
    if (results != NULL) {
        fclose(results);
    }
    if (record != NULL) {
        fclose(record);
    }
    printf("%s: %d passed, %d failed, %d skipped\n", suite, passed, failed, skipped);
    return failed != 0;
}
