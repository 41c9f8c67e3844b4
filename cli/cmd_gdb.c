/* `facet gdb`: a program on one of the machines, waiting for a GDB on a port of this host. */
#include "command/command.h"
#include "command/stop.h"
#include "session/gfx12.h"
#include "session/guest_console.h"
#include "session/snapshot_file.h"
#include "session/steps.h"
#include "session/tile/gdb.h"
#include "session/xphmg.h"

#include "gdb/gdb.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DEFAULT_PORT = 1234, LAST_PORT = 65535, STATE_LIMIT = 1 << 30 };

struct session {
    const struct cli_args *args;
    facet_machine *machine;
    struct session_console console;
    int listener;
    int debugger;                      /* what it says is read here; -1: none connected */
    int answers;                       /* and answered here: the same socket, or standard output */
    const struct session_xphmg *xphmg; /* of the three, the one that runs: */
    struct session_tile_gdb *tile;
};

/* ---- what the stub asks of the host -----------------------------------------------------------
 */

/* A debugger that goes away ends the command as it may; a host that fails is an error. */
static void line_failed(const char *what)
{
    char message[160];

    if (errno != EPIPE && errno != ECONNRESET && errno != EINTR) {
        (void)snprintf(
            message, sizeof message, "cannot %s the debugger: %s", what, strerror(errno));
        cli_spoil(message);
    }
}

static bool host_send(void *context, const void *data, size_t size)
{
    const struct session *s = context;
    const char *at = data;

    while (size > 0) {
        ssize_t sent = write(s->answers, at, size);

        if (sent < 0 && errno == EINTR && cli_stop_signal() == 0) {
            continue;
        }
        if (sent <= 0) {
            line_failed("write to");
            return false;
        }
        at += sent;
        size -= (size_t)sent;
    }
    return true;
}

static long host_receive(void *context, void *data, size_t size, bool wait)
{
    const struct session *s = context;
    struct pollfd ready = {.fd = s->debugger, .events = POLLIN};
    int found;
    ssize_t got;

    (void)fflush(stdout); /* what the program printed so far */
    do {
        found = poll(&ready, 1, wait ? -1 : 0);
    } while (found < 0 && errno == EINTR && cli_stop_signal() == 0);
    if (cli_stop_signal() != 0) {
        return -1;
    }
    if (found == 0) {
        return 0;
    }
    do {
        got = found < 0 ? -1 : read(s->debugger, data, size);
    } while (got < 0 && errno == EINTR && cli_stop_signal() == 0);
    if (got < 0) {
        line_failed("read from");
    }
    return got > 0 ? (long)got : -1;
}

static enum facet_gdb_idle host_idle(void *context)
{
    struct session *s = context;

    switch (session_console_feed(&s->console, s->debugger, HUGE_VAL)) {
    case SESSION_FED:
        return FACET_GDB_IDLE_AGAIN;
    case SESSION_BUSY:
        return FACET_GDB_IDLE_DEBUGGER;
    default:
        return FACET_GDB_IDLE_NEVER;
    }
}

static bool host_look(void *context)
{
    return session_console_look(&((struct session *)context)->console) == SESSION_FED;
}

static struct facet_gdb_mark host_mark(void *context)
{
    const struct session_console *console = &((struct session *)context)->console;

    return (struct facet_gdb_mark){console->given, console->printed};
}

static void host_rewind(void *context, struct facet_gdb_mark mark)
{
    struct session_console *console = &((struct session *)context)->console;

    console->given = (size_t)mark.input;
    console->printed = mark.output;
}

static void host_renew(void *context)
{
    struct session_console *console = &((struct session *)context)->console;

    console->shown = console->printed;
}

/* ---- the line ---------------------------------------------------------------------------------
 */

/* Debuggers of this host alone: the protocol has no passwords. */
static bool start_listening(struct session *s, uint64_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    int on = 1;

    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->listener < 0 || setsockopt(s->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(s->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(s->listener, 1) != 0 ||
        getsockname(s->listener, (struct sockaddr *)&address, &size) != 0) {
        return false;
    }
    fprintf(stderr, "facet gdb: listening on 127.0.0.1:%u\n", ntohs(address.sin_port));
    return true;
}

static bool take_debugger(struct session *s)
{
    int on = 1;

    do {
        s->debugger = accept(s->listener, NULL, NULL);
    } while (s->debugger < 0 && (errno == EINTR || errno == ECONNABORTED) &&
             cli_stop_signal() == 0);
    if (s->debugger < 0) {
        line_failed("connect to");
        return false;
    }
    s->answers = s->debugger;
    (void)setsockopt(s->debugger, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* only speed */
    return true;
}

/* ---- the command ------------------------------------------------------------------------------
 */

static enum facet_gdb_end serve(struct session *s, facet_gdb *gdb)
{
    enum facet_gdb_end end = FACET_GDB_GONE;
    bool keep = cli_given(s->args, "keep"), more = true;

    while (more && take_debugger(s)) {
        if (!keep) { /* a second debugger is refused at once */
            (void)close(s->listener);
            s->listener = -1;
        }
        end = facet_gdb_serve(gdb);
        more = end != FACET_GDB_KILLED && end != FACET_GDB_SHORT && keep && cli_stop_signal() == 0;
        (void)close(s->debugger);
        s->debugger = -1;
    }
    (void)fflush(stdout);
    return end;
}

/* GDB's `target remote | facet gdb PROGRAM --stdio`. Ctrl-C in the terminal that we share with GDB
 * is for GDB, which then asks us by the protocol. */
static enum facet_gdb_end serve_stdio(struct session *s, facet_gdb *gdb)
{
    (void)signal(SIGINT, SIG_IGN);
    s->debugger = STDIN_FILENO;
    s->answers = STDOUT_FILENO;
    return facet_gdb_serve(gdb);
}

static bool host_turn(void *context, uint32_t core)
{
    return facet_xphmg_set_turn(((struct session *)context)->machine, core, NULL) == FACET_OK;
}

static enum facet_status host_save(void *context, const char *path, struct facet_error *err)
{
    const struct session *s = context;

    return s->xphmg != NULL ? session_snapshot_write(path, &s->xphmg->config, s->machine, err)
                            : session_save(s->machine, path, err);
}

/* The tile and the gfx12 machine read nothing and print nothing. */
static struct facet_gdb_host quiet_host(struct session *s)
{
    struct facet_gdb_host host = {.save = host_save};

    if (s->tile != NULL) {
        session_tile_gdb_host(s->tile, &host);
    }
    host.context = s->tile != NULL ? (void *)s->tile : s;
    host.line = s;
    host.send = host_send;
    host.receive = host_receive;
    return host;
}

static int run_session(struct session *s, uint64_t port, bool quiet)
{
    struct cli_stop watch;
    struct facet_gdb_host host = {.context = s,
                                  .line = s,
                                  .turn = host_turn,
                                  .save = host_save,
                                  .send = host_send,
                                  .receive = host_receive,
                                  .idle = host_idle,
                                  .look = host_look,
                                  .mark = host_mark,
                                  .rewind = host_rewind,
                                  .renew = host_renew,
                                  .no_reverse = cli_given(s->args, "files") ||
                                                cli_given(s->args, "files-ro")};
    struct facet_error err = {0};
    enum facet_gdb_end end = FACET_GDB_GONE;
    facet_gdb *gdb;
    int code = CLI_OK;

    if (quiet) {
        host = quiet_host(s);
        if (!s->args->quiet) { /* GDB has no way to show nothing instead (docs/tile.md) */
            fprintf(stderr,
                    "facet gdb: until GDB is given this line, its x/i shows wrong instructions:\n"
                    "  python exec(gdb.execute('monitor python', to_string=True))\n");
        }
    }
    if (facet_gdb_create(s->machine, &host, &gdb, &err) != FACET_OK) {
        return cli_bad_error(s->args, &err);
    }
    cli_stop_begin(&watch, s->machine, HUGE_VAL);
    (void)signal(SIGPIPE, SIG_IGN); /* a debugger that went away is an error of write() */
    if (cli_given(s->args, "stdio")) {
        end = serve_stdio(s, gdb);
    } else if (start_listening(s, port)) {
        end = serve(s, gdb);
    } else {
        code = cli_bad(s->args, "port %u: %s", (unsigned)port, strerror(errno));
    }
    if (end == FACET_GDB_SHORT) {
        code = cli_bad(s->args, "out of memory for an answer to the debugger");
    }
    if (code == CLI_OK && cli_stop_signal() != 0) {
        code = cli_stop_code();
    }
    cli_stop_end(&watch);
    if (s->listener >= 0) {
        (void)close(s->listener);
    }
    facet_gdb_destroy(gdb);
    return code;
}

static const struct cli_option xphmg_options[] = {SESSION_XPHMG_OPTIONS, {NULL, 0, NULL, NULL}};
static const struct cli_option tile_options[] = {
    SESSION_TILE_OPTIONS, {"resume", 0, NULL, NULL}, {NULL, 0, NULL, NULL}};
static const struct cli_option gfx12_options[] = {SESSION_GFX12_OPTIONS,
                                                  {"base", 0, NULL, NULL},
                                                  {"resume", 0, NULL, NULL},
                                                  {NULL, 0, NULL, NULL}};

/* The machines and the options that are theirs. */
static const struct {
    const char *name;
    const struct cli_option *options;
} machines[] = {{"xphmg", xphmg_options}, {"tile", tile_options}, {"gfx12", gfx12_options}};
enum { MACHINES = sizeof machines / sizeof machines[0] };

static bool has_option(const struct cli_option *options, const char *name)
{
    while (options->name != NULL && strcmp(options->name, name) != 0) {
        options++;
    }
    return options->name != NULL;
}

/* What belongs to another machine would be ignored without a word. */
static bool check_options(const struct cli_args *args, const char *machine)
{
    const struct cli_option *own = NULL;

    for (int i = 0; i < MACHINES; i++) {
        own = strcmp(machines[i].name, machine) == 0 ? machines[i].options : own;
    }
    for (int i = 0; i < MACHINES; i++) {
        for (const struct cli_option *o = machines[i].options; o->name != NULL; o++) {
            if (!has_option(own, o->name) && cli_given(args, o->name)) {
                (void)cli_bad(args, "--%s is for the %s machine", o->name, machines[i].name);
                return false;
            }
        }
    }
    return true;
}

static int run_tile(const struct cli_args *args, uint64_t port)
{
    struct session_tile_gdb setup = {0};
    struct session s = {.args = args, .listener = -1, .debugger = -1, .tile = &setup};
    int code = CLI_BAD;

    if (session_tile_gdb_start(&setup, args)) {
        s.machine = setup.machine;
        code = run_session(&s, port, true);
    }
    session_tile_gdb_end(&setup);
    return code;
}

static int run_gfx12(const struct cli_args *args, uint64_t port)
{
    struct session s = {.args = args, .listener = -1, .debugger = -1};
    struct session_gfx12 setup = {0};
    int code = CLI_BAD;

    if (session_gfx12_start(&setup, args, FACET_GFX12_SILICON) &&
        session_resume(args, setup.machine, STATE_LIMIT)) {
        s.machine = setup.machine;
        code = run_session(&s, port, true);
    }
    session_gfx12_end(&setup);
    return code;
}

static int run_gdb(const struct cli_args *args)
{
    struct session s = {.args = args, .listener = -1, .debugger = -1};
    struct session_xphmg setup = {0};
    const char *machine = cli_given(args, "machine") ? cli_value(args, "machine") : "xphmg";
    uint64_t port = DEFAULT_PORT;
    int code = CLI_BAD;

    if (!cli_number(args, "port", 0, LAST_PORT, &port) || !check_options(args, machine)) {
        return CLI_BAD;
    }
    if (strcmp(machine, "xphmg") != 0) {
        return strcmp(machine, "tile") == 0 ? run_tile(args, port) : run_gfx12(args, port);
    }
    s.console.apart = cli_given(args, "stdio");
    if (!session_files_open(&s.console.files, args)) {
        return CLI_BAD;
    }
    if (session_xphmg_start(&setup, args, session_console_host(&s.console))) {
        s.machine = s.console.machine = setup.machine;
        s.xphmg = &setup;
        code = run_session(&s, port, false);
    }
    session_xphmg_end(&setup);
    session_console_free(&s.console);
    session_files_close(&s.console.files, args);
    return code;
}

static const struct cli_option gdb_options[] = {
    {"machine", 'm', "xphmg|tile|gfx12", "which machine (default xphmg)"},
    {"port", 0, "N", "port of 127.0.0.1 to listen on; 0: any free one (default 1234)"},
    {"stdio", 0, NULL, "talk over standard input and output: target remote | facet gdb ..."},
    {"keep", 0, NULL, "after one debugger wait for the next, until one kills the program"},
    CLI_PLAIN_OPTION,
    SESSION_XPHMG_OPTIONS,
    SESSION_TILE_OPTIONS,
    SESSION_GFX12_OPTIONS,
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_gdb = {
    .name = "gdb",
    .summary = "run a program on one of the machines under GDB",
    .usage = "facet gdb PROGRAM [ARG...] [--port N] [--harts N] [--ram SIZE] [--config LIST]\n"
             "facet gdb --resume FILE [--port N]\n"
             "facet gdb --machine tile KERNEL --grid WxH [--arg NAME=VALUE]... [--port N]\n"
             "facet gdb --machine tile LIST.json [--port N]\n"
             "facet gdb --machine gfx12 IMAGE --ray NUMBERS... [--base ADDR] [--port N]",
    .details =
        "Loads a program as `facet run` does, prints the port on standard error and waits for a "
        "debugger: in `gdb-multiarch PROGRAM`, `target remote :1234`. Harts are threads. Every "
        "register and CSR has a name in GDB: x, f, pc, the standard CSRs under their own names, "
        "the vendor's in lower case with underscores ($cap_prec_mode, $svstate), predicate banks "
        "($p0, $pbank1), matrix words. Breakpoints, watchpoints, Ctrl-C, reverse-step and "
        "reverse-continue work; `monitor help` lists further commands. docs/gdb.md shows a "
        "session.\n\n"
        "With --machine tile the program is a kernel, as in `facet tile run`, or a command list, "
        "as "
        "in `facet tile draw`; with --machine "
        "gfx12 it is a BVH image with rays, as in `facet gfx12 run`, and lanes are threads.\n\n"
        "--resume continues from a file of `monitor save`, with the other options as before; also "
        "from "
        "one of `facet snapshot` or `facet tile run --save`.\n\n"
        "GDB's disassembler knows neither the vendor's instructions nor those of the tile and "
        "the gfx12 machine, which it decodes as RISC-V. In GDB 13 and later, this line teaches "
        "it:\n\n"
        "  python exec(gdb.execute('monitor python', to_string=True))\n\n"
        "What the program prints goes to standard output and what it reads comes from standard "
        "input; with --stdio, which GDB then uses, it prints to standard error and reads "
        "nothing. With --files the program's effects cannot be undone, so reverse execution is "
        "not available. The command ends when the debugger detaches, kills the program or "
        "disconnects; Ctrl-C here ends it too (exit code 130).",
    .examples = "facet as --isa xphmg examples/xphmg/hello.s -o hello.elf\n"
                "gdb-multiarch -batch -ex 'target remote | facet gdb hello.elf --stdio' "
                "-ex 'print $cap_prec_mode' -ex continue hello.elf",
    .options = gdb_options,
    .run = run_gdb,
    .operands = "[PROGRAM] [ARG...]",
};
