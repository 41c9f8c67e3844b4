/* See gfx12.h. */
#include "session/gfx12.h"
#include "gfx12/image/walk.h"
#include "session/bvh/file.h"
#include "session/gfx12_text.h"
#include "session/ray_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRAM_LIMIT = 1 << 24 };

/* ---- rays ---- */

static bool start_lanes(const struct session_gfx12 *s,
                        const struct cli_args *args,
                        const struct facet_gfx12_view *view)
{
    uint64_t flags = 0, mask = 0xFF;
    struct facet_error err = {0};

    if (!cli_number(args, "flags", 0, 0x3FF, &flags) || !cli_number(args, "mask", 0, 0xFF, &mask)) {
        return false;
    }
    for (uint32_t i = 0; i < facet_machine_core_count(s->machine); i++) {
        struct facet_gfx12_query query;

        if (!session_ray_gfx12(args, cli_nth_value(args, "ray", (int)i), &query)) {
            return false;
        }
        query.address = view->base;
        query.root = view->root;
        query.api_flags = (uint32_t)flags;
        query.instance_mask = (uint32_t)mask;
        if (facet_gfx12_start(s->machine, i, &query, &err) != FACET_OK) {
            (void)cli_bad_error(args, &err);
            return false;
        }
    }
    return true;
}

/* ---- the program ---- */

static bool load_program(const struct session_gfx12 *s, const struct cli_args *args)
{
    const char *path = cli_value(args, "program");
    struct facet_bytes file = {NULL, 0};
    struct facet_error err = {0};
    struct session_gfx12_words program = {NULL, 0, 0, false};
    struct facet_diag_list diags;
    bool good = false;

    if (path == NULL) {
        return true;
    }
    if (facet_file_read(path, PROGRAM_LIMIT, &file, &err) != FACET_OK) {
        (void)cli_bad_error(args, &err);
        return false;
    }
    if (strlen((const char *)file.data) != file.size) {
        (void)cli_bad(args, "%s: a zero byte, expected text", path);
        free(file.data);
        return false;
    }
    facet_diag_list_init(&diags);
    session_gfx12_assemble(path, (const char *)file.data, file.size, &program, &diags);
    if (program.failed) {
        (void)cli_bad(args, "%s: out of memory", path);
    } else if (diags.count != 0) {
        const struct facet_diag *d = &diags.items[0];

        (void)cli_bad(args, "%s:%u: column %u: %s", path, d->line, d->column, d->message);
    } else if (program.count == 0) {
        (void)cli_bad(args, "%s: no instruction", path);
    } else if (program.count > FACET_GFX12_CODE_BYTES / 4) {
        (void)cli_bad(args, "%s: more than %u bytes", path, FACET_GFX12_CODE_BYTES);
    } else if (facet_gfx12_set_program(s->machine, program.words, program.count, false, &err) !=
               FACET_OK) {
        (void)cli_bad_error(args, &err);
    } else {
        good = true;
    }
    facet_diag_list_free(&diags);
    free(program.words);
    free(file.data);
    return good;
}

/* ---- registers ---- */

/* An integer in any base of C. */
static bool read_value(const char *text, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 0);
    return errno == 0 && *end == '\0' && text[0] >= '0' && text[0] <= '9';
}

static bool set_registers(const struct session_gfx12 *s, const struct cli_args *args)
{
    const char *text;

    for (int i = 0; (text = cli_nth_value(args, "set", i)) != NULL; i++) {
        const char *equals = strchr(text, '=');
        char name[32] = "";
        struct facet_value value = {0, 0};
        struct facet_error err = {0};
        uint32_t reg;

        if (equals != NULL && (size_t)(equals - text) < sizeof name) {
            memcpy(name, text, (size_t)(equals - text));
        }
        reg = facet_machine_find_reg(s->machine, 0, name);
        if (reg == FACET_NONE || !read_value(equals + 1, &value.lo)) {
            (void)cli_bad(args, "--set %s: expected REG=N, such as v20=0x12", text);
            return false;
        }
        for (uint32_t lane = 0; lane < facet_machine_core_count(s->machine); lane++) {
            if (facet_machine_reg_write(s->machine, lane, reg, value, &err) != FACET_OK) {
                (void)cli_bad_error(args, &err);
                return false;
            }
        }
    }
    return true;
}

/* ---- all of it ---- */

static bool
make(struct session_gfx12 *s, const struct cli_args *args, struct facet_gfx12_config *config)
{
    uint64_t entries = 0;
    struct facet_error err = {0};

    while (cli_nth_value(args, "ray", (int)config->lanes) != NULL) {
        config->lanes++;
    }
    if (config->lanes == 0 || config->lanes > FACET_GFX12_LANES) {
        (void)cli_bad(args,
                      "%u rays: expected 1 to %u of --ray \"ox oy oz dx dy dz [tmin tmax]\"",
                      (unsigned)config->lanes,
                      FACET_GFX12_LANES);
        return false;
    }
    if (!cli_number(args, "stack", 8, 31, &entries)) {
        return false;
    }
    config->stack_entries = (uint32_t)entries;
    if (facet_gfx12_create(config, &s->machine, &err) != FACET_OK) {
        (void)cli_bad_error(args, &err);
        return false;
    }
    return true;
}

bool session_gfx12_start(struct session_gfx12 *s,
                         const struct cli_args *args,
                         enum facet_gfx12_profile profile)
{
    struct facet_gfx12_config config = {.profile = profile};
    struct session_bvh file;
    struct facet_error err = {0};
    const char *path = args->positional_count > 0 ? args->positional[0] : NULL;
    bool good;

    *s = (struct session_gfx12){NULL, 0};
    if (path == NULL) {
        (void)cli_bad(args, "expected an IMAGE, a file of facet bvh build");
        return false;
    }
    if (args->positional_count > 1) {
        (void)cli_bad(args, "unexpected argument '%s'", args->positional[1]);
        return false;
    }
    if (!session_bvh_read(args, path, &file)) {
        return false;
    }
    config.image_base = file.view.base;
    config.image_bytes = file.view.size;
    good = session_bvh_has_nodes(args, &file) && make(s, args, &config);
    if (good &&
        facet_machine_write(s->machine, 0, file.view.base, file.view.bytes, file.view.size, &err) !=
            FACET_OK) {
        (void)facet_fail_in(&err, path);
        (void)cli_bad_error(args, &err);
        good = false;
    }
    good =
        good && load_program(s, args) && start_lanes(s, args, &file.view) && set_registers(s, args);
    if (good && !cli_given(args, "program")) {
        s->nested = facet_gfx12_count_nested(&file.view);
    }
    session_bvh_free(&file);
    return good;
}

void session_gfx12_end(struct session_gfx12 *s)
{
    facet_machine_destroy(s->machine);
    *s = (struct session_gfx12){NULL, 0};
}
