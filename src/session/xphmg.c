/* See xphmg.h. */
#include "session/xphmg.h"
#include "session/config_file.h"
#include "session/snapshot_file.h"

#include "base/file.h"
#include "base/pool.h"
#include "base/strbuf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_LIMIT (UINT64_C(1) << 36)

enum { LAST_PROFILE = 63 }; /* bits of CAP.PROF.SUP */

static bool read_ram(const struct cli_args *args, uint64_t *size)
{
    const char *text = cli_value(args, "ram"), *end;
    uint64_t value;

    if (text == NULL) {
        return true;
    }
    if (!cli_size(text, &end, &value) || *end != '\0' || value == 0 ||
        value > FACET_XPHMG_RAM_MAX || value % 4096 != 0) {
        (void)cli_bad(args, "--ram %s: expected a multiple of 4k up to 64G, such as 128M", text);
        return false;
    }
    *size = value;
    return true;
}

/* now, late, late:7 */
static bool read_jobs(const struct cli_args *args, struct facet_xphmg_config *config)
{
    const char *text = cli_value(args, "jobs");
    char *end = NULL;

    if (text == NULL || strcmp(text, "now") == 0) {
        return true;
    }
    config->jobs = FACET_XPHMG_JOBS_LATE;
    if (strcmp(text, "late") == 0) {
        return true;
    }
    errno = 0;
    if (strncmp(text, "late:", 5) == 0 && text[5] >= '0' && text[5] <= '9') {
        config->jobs_seed = strtoull(text + 5, &end, 0);
    }
    if (end == NULL || *end != '\0' || errno != 0 || config->jobs_seed == 0) {
        (void)cli_bad(
            args,
            "--jobs %s: expected now, late, or late:SEED with a number from 1 to 2^64 - 1",
            text);
        return false;
    }
    return true;
}

static bool read_config(const struct cli_args *args, struct facet_xphmg_config *config)
{
    uint64_t harts = 1;

    if (!cli_number(args, "harts", 1, FACET_XPHMG_MAX_HARTS, &harts) || !read_jobs(args, config) ||
        !read_ram(args, &config->ram_bytes)) {
        return false;
    }
    config->harts = (uint32_t)harts;
    config->no_semihosting = cli_given(args, "no-semihosting");
    return true;
}

/* --config: a list as it is, or a file as a list. */
static enum facet_status
read_configuration(struct session_xphmg *s, const struct cli_args *args, struct facet_error *err)
{
    const char *text = cli_value(args, "config"), *ram;

    if (text != NULL && session_config_is_file(text)) {
        enum facet_status status = session_config_read(text, &s->configuration, err);

        if (status != FACET_OK) {
            return status;
        }
        text = s->configuration;
    }
    s->config.configuration = text;
    ram = text != NULL ? strstr(text, "ram=") : NULL;
    if (ram != NULL && (ram == text || ram[-1] == ',') && s->config.ram_bytes != 0 &&
        memchr(ram, '+', strcspn(ram, ",")) != NULL) {
        return facet_fail(
            err, FACET_ERR_USAGE, 0, "--ram: the configuration has ram= with a size already");
    }
    return FACET_OK;
}

/* The words as one line, for SYS_GET_CMDLINE; NULL when memory is short. */
static char *join(const struct cli_args *args)
{
    struct facet_strbuf line;

    facet_strbuf_init(&line);
    for (int i = 0; i < args->positional_count; i++) {
        facet_strbuf_printf(&line, "%s%s", i > 0 ? " " : "", args->positional[i]);
    }
    if (line.failed) {
        facet_strbuf_free(&line);
    }
    return line.text;
}

static enum facet_status
load_program(struct session_xphmg *s, const struct cli_args *args, struct facet_error *err)
{
    const char *path = args->positional[0];
    enum facet_status status = facet_file_read(path, FILE_LIMIT, &s->program, err);

    if (status != FACET_OK) {
        return status;
    }
    s->config.command_line = s->command_line = join(args);
    if (s->command_line == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for the command line");
    }
    status = facet_xphmg_create(&s->config, &s->machine, err);
    if (status == FACET_OK) {
        status = facet_xphmg_load_elf(s->machine, s->program.data, s->program.size, err);
        if (status != FACET_OK) {
            (void)facet_fail_in(err, path);
        }
    }
    return status;
}

static enum facet_status
load_snapshot(struct session_xphmg *s, const char *path, struct facet_error *err)
{
    struct facet_bytes bytes;
    struct session_snapshot file;
    enum facet_status status = facet_file_read(path, FILE_LIMIT, &bytes, err);

    if (status != FACET_OK) {
        return status;
    }
    status = session_snapshot_parse(bytes.data, bytes.size, &file, err);
    if (status == FACET_OK) {
        status = session_snapshot_resume(&file, &s->config, &s->machine, err);
    }
    if (status == FACET_OK && !file.bare) {
        s->config = file.config; /* its texts go with it */
        s->command_line = file.command_line;
        s->configuration = file.configuration;
    } else if (status != FACET_OK) {
        (void)facet_fail_in(err, path);
        session_snapshot_free(&file);
    }
    free(bytes.data);
    return status;
}

/* What the snapshot says cannot be said again. */
static bool check_resume(const struct cli_args *args)
{
    static const char *const fixed[] = {"harts", "ram", "config", "jobs", "no-semihosting"};

    if (args->positional_count != 0) {
        (void)cli_bad(args, "%s: --resume takes no program", args->positional[0]);
        return false;
    }
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        if (cli_given(args, fixed[i])) {
            (void)cli_bad(args, "--%s: the snapshot of --resume sets that", fixed[i]);
            return false;
        }
    }
    return true;
}

/* All harts switch before their next instruction (numeric.md 16). */
static enum facet_status
choose_profile(struct session_xphmg *s, unsigned profile, struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    for (uint32_t hart = 0; hart < s->config.harts && status == FACET_OK; hart++) {
        status = facet_xphmg_set_profile(s->machine, hart, profile, err);
    }
    return status;
}

bool session_xphmg_start(struct session_xphmg *s,
                         const struct cli_args *args,
                         struct facet_xphmg_host host)
{
    const char *resume = cli_value(args, "resume");
    struct facet_error err = {0};
    enum facet_status status;
    uint64_t threads = 1, profile = 0, heat = FACET_XPHMG_HOST_CODE;

    *s = (struct session_xphmg){
        .config = {.host = host, .plain = cli_given(args, "plain") || cli_given(args, "no-cache")}};
    if (!cli_number(args, "job-threads", 0, FACET_POOL_MAX_THREADS, &threads) ||
        !cli_number(args, "host-code", 0, UINT32_MAX - 1, &heat) ||
        !cli_number(args, "profile", 0, LAST_PROFILE, &profile)) {
        return false;
    }
    s->config.host_code = heat != 0 ? heat : FACET_XPHMG_NO_HOST_CODE;
    s->config.job_threads = threads != 0 ? (uint32_t)threads : facet_pool_processors();
    if (resume != NULL) {
        if (!check_resume(args)) {
            return false;
        }
        status = load_snapshot(s, resume, &err);
    } else if (args->positional_count == 0) {
        (void)cli_bad(args, "expected a PROGRAM, or --resume FILE");
        return false;
    } else {
        if (!read_config(args, &s->config)) {
            return false;
        }
        status = read_configuration(s, args, &err);
        if (status == FACET_OK) {
            status = load_program(s, args, &err);
        }
    }
    if (status == FACET_OK && cli_given(args, "profile")) {
        status = choose_profile(s, (unsigned)profile, &err);
    }
    if (status != FACET_OK) {
        (void)cli_bad_error(args, &err);
    }
    return status == FACET_OK;
}

int session_xphmg_keys(void)
{
    char text[4096];

    (void)facet_xphmg_configuration_help(text, sizeof text);
    return printf("%s", text) >= 0 ? CLI_OK : CLI_BAD;
}

void session_xphmg_end(struct session_xphmg *s)
{
    facet_machine_destroy(s->machine);
    free(s->program.data);
    free(s->command_line);
    free(s->configuration);
    *s = (struct session_xphmg){0};
}
