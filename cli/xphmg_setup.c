/* See xphmg_setup.h. */
#include "cli/xphmg_setup.h"

#include "base/file.h"
#include "base/strbuf.h"

#include <errno.h>
#include <stdlib.h>

#define PROGRAM_LIMIT (UINT64_C(1) << 32)

/* 64, 64k, 128M, 2G */
static bool read_size(const struct cli_args *args, uint64_t *size)
{
    const char *text = cli_value(args, "ram");
    unsigned shift = 0;
    char *end;
    uint64_t value;

    if (text == NULL) {
        return true;
    }
    errno = 0;
    value = strtoull(text, &end, 0);
    switch (*end) {
    case 'k':
    case 'K':
        shift = 10;
        break;
    case 'M':
        shift = 20;
        break;
    case 'G':
        shift = 30;
        break;
    default:
        break;
    }
    end += shift != 0;
    if (errno != 0 || text[0] < '0' || text[0] > '9' || *end != '\0' || value == 0 ||
        value > FACET_XPHMG_RAM_MAX >> shift || (value << shift) % 4096 != 0) {
        (void)cli_bad(args, "--ram %s: expected a multiple of 4k up to 64G, such as 128M", text);
        return false;
    }
    *size = value << shift;
    return true;
}

bool xphmg_setup_config(const struct cli_args *args, struct facet_xphmg_config *config)
{
    uint64_t harts = 1;

    config->ram_bytes = FACET_XPHMG_RAM_BYTES;
    if (!cli_number(args, "harts", 1, FACET_XPHMG_MAX_HARTS, &harts) ||
        !read_size(args, &config->ram_bytes)) {
        return false;
    }
    config->harts = (uint32_t)harts;
    config->quantum = FACET_XPHMG_QUANTUM;
    config->instructions_per_tick = FACET_XPHMG_INSTRUCTIONS_PER_TICK;
    config->configuration = cli_given(args, "config") ? cli_value(args, "config") : "full";
    config->no_semihosting = cli_given(args, "no-semihosting");
    config->no_cache = cli_given(args, "no-cache");
    return true;
}

enum facet_status xphmg_setup_load(const struct cli_args *args,
                                   int first,
                                   struct facet_xphmg_config *config,
                                   facet_machine **machine,
                                   struct facet_error *err)
{
    const char *path = args->positional[first];
    struct facet_bytes file;
    struct facet_strbuf line;
    enum facet_status status = facet_file_read(path, PROGRAM_LIMIT, &file, err);

    if (status != FACET_OK) {
        return status;
    }
    facet_strbuf_init(&line);
    for (int i = first; i < args->positional_count; i++) {
        facet_strbuf_printf(&line, "%s%s", i > first ? " " : "", args->positional[i]);
    }
    config->command_line = facet_strbuf_text(&line);
    status = facet_xphmg_create(config, machine, err);
    config->command_line = NULL; /* the machine has its copy */
    if (status == FACET_OK) {
        status = facet_xphmg_load_elf(*machine, file.data, file.size, err);
        if (status != FACET_OK) {
            (void)facet_fail_in(err, path);
            facet_machine_destroy(*machine);
            *machine = NULL;
        }
    }
    facet_strbuf_free(&line);
    free(file.data);
    return status;
}
