/* The `facet` program: finds the command that the first words name, parses its arguments, runs it,
 * and makes sure that what it printed has really reached standard output. */
#include "command/deadline.h"
#include "command/frame.h"
#include "command/stop.h"
#include "command/streams.h"

#include "base/file.h"
#include "base/ways.h"
#include "bench/scratch.h"
#include "json/json.h"

#include <errno.h>
#include <facet/version.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND(name) extern const struct cli_command cli_cmd_##name;
#include "cli/commands.def"
#undef COMMAND

const struct cli_command *const cli_commands[] = {
#define COMMAND(name) &cli_cmd_##name,
#include "cli/commands.def"
#undef COMMAND
    NULL,
};

/* A descriptor that the caller closed would be taken by the next file we open, and output meant for
 * the screen would land in it. Occupy it with something that refuses the wrong direction, so that
 * a later write to a closed standard output is still reported. */
static void occupy_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            int refuses = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;

            if (open("/dev/null", refuses) < 0) {
                return;
            }
        }
    }
}

static int finish(int code)
{
    if (code != CLI_BAD && facet_json_ran_short()) { /* in a value that was not printed as JSON */
        cli_spoil("out of memory");
    }
    if (cli_streams_end()) {
        if (cli_errors_lost()) {
            cli_spoil("cannot write to standard error");
        }
        return cli_spoiled() ? CLI_BAD : code;
    }
    (void)cli_complain("",
                       "cannot write to standard output: %s",
                       cli_output_unread() ? "it is not being read"
                       : errno != 0        ? strerror(errno)
                                           : "an earlier write failed");
    return cli_output_unread() ? cli_stop_code() : CLI_BAD;
}

static bool is_any(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

static int dispatch(int argc, char **argv)
{
    const struct cli_command *command;
    struct cli_args args;
    int used;

    if (argc < 2) {
        cli_print_overview(stdout);
        return CLI_OK;
    }
    if (is_any(argv[1], "--help", "-h")) {
        argv[1] = (char *)"help"; /* `facet --help COMMAND` */
    }
    if (argc == 2 && is_any(argv[1], "--version", "-V")) {
        printf("facet %s\n", facet_version());
        return CLI_OK;
    }
    command = cli_find(argv + 1, argc - 1, &used);
    if (command == NULL) {
        if (argc == 3 && cli_is_group(argv[1]) && is_any(argv[2], "--help", "-h")) {
            cli_print_group(stdout, argv[1]);
            return CLI_OK;
        }
        return cli_unknown_command(argv + 1, argc - 1);
    }
    switch (cli_parse_args(command, argv + 1 + used, argc - 1 - used, &args)) {
    case CLI_WANTS_HELP:
        cli_print_help(stdout, command);
        return CLI_OK;
    case CLI_PARSED:
        return cli_deadline_start(&args) ? command->run(&args) : CLI_BAD;
    case CLI_PARSE_FAILED:
        break;
    }
    return CLI_BAD;
}

/* Ends the program as the signal would have, but without files that have names for the time being.
 */
static void on_signal(int number)
{
    facet_file_abandon();
    bench_scratch_remove();
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

/* A signal that the caller has us ignore (nohup) stays ignored. A reader that went away (`facet ...
 * | head`) ends the program like any other: SIGPIPE is not ignored, and sockets are written with
 * MSG_NOSIGNAL. A file that grows beyond its limit is an error like a full disk. A child stays
 * until we have seen how it ended, also when the caller does not care for its own. */
static void handle_signals(void)
{
    static const int deadly[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU};
    struct sigaction act = {.sa_handler = on_signal}, old;

    for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++) {
        if (sigaction(deadly[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL) {
            (void)sigaction(deadly[i], &act, NULL);
        }
    }
    (void)signal(SIGXFSZ, SIG_IGN);
    (void)signal(SIGCHLD, SIG_DFL);
}

/* For the test of --plain: the fast ways that were taken, a line each, into the file that
 * FACET_FAST_WAYS names. Builds without asserts do not know them and write nothing. */
static void tell_fast_ways(void)
{
#ifdef FACET_ASSERTS
    const char *path = getenv("FACET_FAST_WAYS");
    FILE *out = path != NULL ? fopen(path, "w") : NULL;

    for (int i = 0; i < FACET_FAST_WAY_COUNT && out != NULL; i++) {
        if (facet_fast_way_taken[i]) {
            fprintf(out, "%s\n", facet_fast_way_names[i]);
        }
    }
    if (out != NULL) {
        (void)fclose(out);
    }
#endif
}

int main(int argc, char **argv)
{
    int code;

    occupy_standard_descriptors();
    handle_signals();
    if (!cli_streams_start()) {
        fputs("facet: out of memory\n", stderr);
        return CLI_BAD;
    }
    code = finish(dispatch(argc, argv));
    tell_fast_ways();
    return code;
}
