/* See trace.h. The machine runs at full speed before the first step that counts and after the
 * last line. */
#include "session/trace.h"
#include "command/streams.h"
#include "session/trace_filter.h"

#include "base/plain.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct facet_object_symbol *
find_symbol(const struct facet_object *program, const char *name, size_t length)
{
    for (size_t i = 0; i < program->symbol_count; i++) {
        const struct facet_object_symbol *symbol = &program->symbols[i];

        if (symbol->section != FACET_SYMBOL_UNDEFINED && strlen(symbol->name) == length &&
            memcmp(symbol->name, name, length) == 0) {
            return symbol;
        }
    }
    return NULL;
}

static bool read_number(const char *text, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 0);
    return errno == 0 && *end == '\0' && text[0] >= '0' && text[0] <= '9';
}

bool session_find_address(const struct facet_object *program, const char *text, uint64_t *address)
{
    const char *plus = strrchr(text, '+');
    const struct facet_object_symbol *symbol = find_symbol(program, text, strlen(text));
    uint64_t offset = 0;

    if (symbol == NULL && plus != NULL && read_number(plus + 1, &offset)) {
        symbol = find_symbol(program, text, (size_t)(plus - text));
    }
    if (symbol != NULL) {
        *address = symbol->value + offset;
        return true;
    }
    return read_number(text, address);
}

void session_describe(const struct facet_object *program, uint64_t address, char *buf, size_t size)
{
    const struct facet_object_symbol *best = NULL;
    char name[128];

    for (size_t i = 0; i < program->symbol_count; i++) {
        const struct facet_object_symbol *symbol = &program->symbols[i];

        if (symbol->section >= 0 && symbol->value <= address &&
            (symbol->type == FACET_SYMBOL_FUNC || symbol->type == FACET_SYMBOL_NOTYPE) &&
            symbol->name[0] != '\0' && symbol->name[0] != '$' && symbol->name[0] != '.' &&
            (best == NULL || symbol->value > best->value)) {
            best = symbol;
        }
    }
    if (best == NULL) {
        (void)snprintf(buf, size, "0x%" PRIx64, address);
        return;
    }
    facet_plain_text(name, sizeof name, best->name, strlen(best->name));
    if (address != best->value) {
        (void)snprintf(
            buf, size, "0x%" PRIx64 " <%s+%" PRIu64 ">", address, name, address - best->value);
    } else {
        (void)snprintf(buf, size, "0x%" PRIx64 " <%s>", address, name);
    }
}

static void write_line(void *context, const char *text, size_t size)
{
    struct session_trace *trace = context;

    if (trace->file == stdout) {
        cli_print_raw(stdout, text, size); /* main tells of standard output */
    } else if (trace->packed != NULL) {
        int error = trace->error == 0 ? session_packed_write(trace->packed, text, size) : 0;

        trace->error = error != 0 ? error : trace->error;
    } else if (fwrite(text, 1, size, trace->file) != size && trace->error == 0) {
        trace->error = errno;
    }
}

/* "A..B", or "A" alone for one address. */
static bool read_range(struct session_trace *trace,
                       const struct cli_args *args,
                       const struct facet_object *program)
{
    const char *text = cli_value(args, "trace-pc"), *dots;
    char first[256];
    bool good;

    if (text == NULL) {
        return true;
    }
    dots = strstr(text, "..");
    if (dots == NULL) {
        dots = text + strlen(text);
    }
    good = (size_t)(dots - text) < sizeof first;
    if (good) {
        memcpy(first, text, (size_t)(dots - text));
        first[dots - text] = '\0';
        good = session_find_address(program, first, &trace->options.first_pc) &&
               session_find_address(
                   program, *dots != '\0' ? dots + 2 : first, &trace->options.last_pc) &&
               trace->options.last_pc >= trace->options.first_pc && trace->options.last_pc != 0;
    }
    if (!good) {
        (void)cli_bad(args,
                      "--trace-pc %s: expected A..B, two addresses or symbols of the program in "
                      "rising order",
                      text);
    }
    return good;
}

/* NULL after a complaint. The stream has a descriptor of its own, to be closed before the file
 * takes its name. */
static FILE *open_file(struct session_trace *trace, const struct cli_args *args)
{
    struct facet_error err = {0};
    FILE *file;
    int fd, error;

    if (session_packed_refuses(args, "trace", trace->path)) {
        return NULL;
    }
    if (facet_new_file_open(&trace->made, trace->path, true, &err) != FACET_OK) {
        (void)cli_bad(args, "--trace %s", err.message);
        return NULL;
    }
    fd = fcntl(trace->made.fd, F_DUPFD_CLOEXEC, 0);
    file = fd >= 0 ? fdopen(fd, "w") : NULL;
    error = file == NULL ? errno : session_packed_open(&trace->packed, trace->path, file);
    if (file != NULL && error != 0) {
        (void)fclose(file);
        file = NULL;
        fd = -1;
    }
    if (file == NULL) {
        (void)cli_bad(args, "--trace %s: %s", trace->path, strerror(error));
        if (fd >= 0) {
            (void)close(fd);
        }
        facet_new_file_discard(&trace->made);
    }
    return file;
}

/* The parser has checked the word. */
static enum facet_trace_format format_of(const char *name)
{
    static const char *const names[] = {
        "jsonl", "spike", "spike-traps", "perfetto", "vcd", "konata"};
    size_t at = 0;

    while (name != NULL && strcmp(names[at], name) != 0) {
        at++;
    }
    return (enum facet_trace_format)at;
}

bool session_trace_open(struct session_trace *trace,
                        const struct cli_args *args,
                        const struct facet_object *program)
{
    const char *format = cli_value(args, "trace-format");
    uint64_t core = FACET_ANY_CORE, last = 0;

    *trace = (struct session_trace){.path = cli_value(args, "trace")};
    trace->options = (struct facet_trace_options){.format = format_of(format),
                                                  .isa = program->isa,
                                                  .insn = cli_value(args, "trace-insn"),
                                                  .write = write_line};
    if (!cli_number(args, "trace-from", 0, UINT64_MAX - 1, &trace->options.first_step) ||
        !cli_number(args, "trace-count", 1, UINT64_MAX, &trace->options.max_lines) ||
        !cli_number(args, "trace-last", 1, 1000000, &last) ||
        !session_trace_filter_read(&trace->options, &trace->only, args, program) ||
        !cli_number(args, "trace-core", 0, UINT16_MAX, &core) ||
        !read_range(trace, args, program)) {
        return false;
    }
    trace->options.core = (uint32_t)core;
    trace->options.last_lines = (size_t)last;
    if (last != 0 && trace->options.max_lines != 0) {
        (void)cli_bad(args, "--trace-last and --trace-count: expected one of them");
        return false;
    }
    if (trace->path == NULL) {
        if (format != NULL || trace->options.insn != NULL || cli_given(args, "trace-pc") ||
            cli_given(args, "trace-from") || cli_given(args, "trace-core") ||
            cli_given(args, "trace-count") || cli_given(args, "trace-last") ||
            cli_given(args, "trace-only") || cli_given(args, "trace-start") ||
            cli_given(args, "trace-stop")) {
            (void)cli_bad(args, "the --trace-... options need --trace FILE");
            return false;
        }
        return true;
    }
    trace->file = strcmp(trace->path, "-") == 0 ? stdout : open_file(trace, args);
    trace->options.context = trace;
    return trace->file != NULL;
}

uint64_t session_trace_limit(const struct session_trace *trace, uint64_t done, uint64_t budget)
{
    uint64_t first = trace->options.first_step;

    return trace->file != NULL && done < first && first - done < budget ? first - done : budget;
}

bool session_trace_update(struct session_trace *trace,
                          const struct cli_args *args,
                          facet_machine *machine,
                          uint64_t done)
{
    struct facet_error err = {0};

    if (trace->file != NULL && trace->tracer == NULL && done >= trace->options.first_step) {
        if (facet_tracer_create(machine, &trace->options, &trace->tracer, &err) != FACET_OK) {
            (void)cli_bad_error(args, &err);
            return false;
        }
    }
    if (trace->tracer == NULL || facet_tracer_done(trace->tracer)) {
        facet_machine_observe(machine, trace->beside);
    } else if (trace->beside == NULL) {
        facet_machine_observe(machine, facet_tracer_observer(trace->tracer));
    } else {
        facet_tee_make(&trace->both, facet_tracer_observer(trace->tracer), trace->beside);
        facet_machine_observe(machine, &trace->both.observer);
    }
    return true;
}

bool session_trace_failed(const struct session_trace *trace)
{
    return trace->error != 0 || (trace->file == stdout && ferror(stdout));
}

/* All lines have been written: the file gets its name. */
static bool name_file(struct session_trace *trace, const struct cli_args *args)
{
    struct facet_error err = {0};

    if (facet_new_file_complete(&trace->made, &err) != FACET_OK ||
        facet_new_files_commit((struct facet_new_file *const[]){&trace->made}, 1, &err) !=
            FACET_OK) {
        (void)cli_bad(args, "--trace %s", err.message);
        return false;
    }
    return true;
}

bool session_trace_close(struct session_trace *trace, const struct cli_args *args, bool run_is_good)
{
    bool good = true;

    if (trace->tracer != NULL) {
        facet_tracer_finish(trace->tracer);
    }
    if (trace->tracer != NULL && facet_tracer_failed(trace->tracer)) {
        (void)cli_bad(args, "--trace %s: out of memory, lines are missing", trace->path);
        good = false;
    }
    if (trace->file != NULL && trace->file != stdout) {
        int error = session_packed_close(trace->packed);

        trace->error = trace->error != 0 ? trace->error : error;
        if (fclose(trace->file) != 0 && trace->error == 0) {
            trace->error = errno;
        }
        if (trace->error != 0) {
            (void)cli_bad(
                args, "--trace %s: cannot write: %s", trace->path, strerror(trace->error));
            good = false;
        }
        if (good && run_is_good) {
            good = name_file(trace, args);
        }
        facet_new_file_discard(&trace->made);
    }
    facet_tracer_destroy(trace->tracer);
    return good;
}
