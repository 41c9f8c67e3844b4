/* See driver.h. */
#include "session/bvh/driver.h"
#include "session/bvh/file.h"

#include "base/bits.h"
#include "gfx12/drivers/rdf.h"
#include "gfx12/drivers/sniff.h"
#include "rt_image/image.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- choices ---- */

/* With --base and no IMAGE: the structure that lies there, by its first byte or by its nodes. */
static bool find_at_base(const struct cli_args *args, struct session_bvh *file, uint64_t *number)
{
    uint64_t base = 0;

    if (!session_bvh_address(args, "base", &base)) {
        return false;
    }
    for (uint32_t i = 0; i < file->driver.count; i++) {
        const struct facet_gfx12_piece *piece = facet_gfx12_structures_piece(&file->driver, i);

        if (base == (piece->address & facet_bits_mask(48)) ||
            base == (facet_gfx12_piece_base(piece) & facet_bits_mask(48))) {
            *number = i;
            return true;
        }
    }
    return cli_bad(args, "--base is %s, where no structure begins", cli_value(args, "base")) ==
           CLI_OK;
}

/* --structure, or with --base and no IMAGE what lies there, or the first TLAS. */
static bool choose(const struct cli_args *args, struct session_bvh *file)
{
    const char *wanted = cli_value(args, "structure");
    uint64_t number = facet_gfx12_structures_first(&file->driver);
    uint32_t root = file->view.root;

    if (wanted != NULL && strcmp(wanted, "all") == 0) {
        if (strcmp(args->command->name, "bvh check") != 0 &&
            strcmp(args->command->name, "bvh info") != 0) {
            (void)cli_bad(args, "--structure all is for bvh check and info; expected a number");
            return false;
        }
        file->all = true;
    } else if (!cli_number(args, "structure", 0, file->driver.count - 1, &number) ||
               (wanted == NULL && cli_given(args, "base") && session_bvh_operand(args) == NULL &&
                !find_at_base(args, file, &number))) {
        return false;
    }
    facet_gfx12_structures_start(&file->driver, (uint32_t)number, &file->view);
    if (cli_given(args, "root")) {
        file->view.root = root;
    }
    return true;
}

/* ---- headers ---- */

/* A view in one piece becomes one of a single segment, so that the base can lie inside. */
static bool as_segment(const struct cli_args *args, struct session_bvh *file, uint64_t address)
{
    file->segments = calloc(1, sizeof *file->segments);
    if (file->segments == NULL || (file->segments->name = strdup(file->name)) == NULL) {
        return cli_bad(args, "out of memory") == CLI_OK;
    }
    file->segments->address = address;
    file->segments->size = file->view.size;
    file->view.segments = file->segments;
    file->view.segment_count = 1;
    return true;
}

/* What `auto` took, and why. */
static void say_taken(const struct cli_args *args, const struct session_bvh *file)
{
    if (!args->quiet) {
        fprintf(
            stderr,
            "facet %s: %s: taken for %s: %s\n",
            args->command->name,
            file->name,
            facet_gfx12_driver_name(
                facet_gfx12_structures_piece(&file->driver, file->driver.chosen)->structure.driver),
            file->driver.reason);
    }
}

/* An image in one piece without a header: `auto` leaves it as it is. */
static bool stays_plain(const struct cli_args *args, const struct session_bvh *file)
{
    struct facet_gfx12_structure found;
    char reason[FACET_GFX12_REASON];

    if (file->view.segment_count != 0 ||
        facet_gfx12_header_find(file->view.bytes, file->view.size, &found, reason) !=
            FACET_GFX12_DRIVER_NONE ||
        reason[0] != 0) {
        return false;
    }
    if (!args->quiet) {
        fprintf(stderr,
                "facet %s: %s: no header of radv, gpurt or hiprt: taken for an image without one\n",
                args->command->name,
                file->name);
    }
    return true;
}

/* Of a structure that --driver found. */
static const char *const structure_names[] = {"structure", NULL};
/* Where an image lies and begins. */
static const char *const place_names[] = {"base", "root", "structure", NULL};

/* The addresses of a capture are its own, and it has GPURT's headers, whoever wrote it. */
static bool fits_capture(const struct cli_args *args, const char *path, const char *driver)
{
    if (driver != NULL && strcmp(driver, "auto") != 0 && strcmp(driver, "gpurt") != 0) {
        (void)cli_bad(args,
                      "--driver is %s, but %s is a capture, whose structures are those of gpurt",
                      driver,
                      path);
        return false;
    }
    return !cli_useless(args,
                        (const char *const[]){"base", NULL},
                        "does not move a capture: its structures have addresses of their own");
}

/* A single piece lies where --base says, else where its header does. */
static bool as_one_segment(const struct cli_args *args,
                           struct session_bvh *file,
                           enum facet_gfx12_driver driver)
{
    uint64_t address = file->view.base;

    if (!cli_given(args, "base")) {
        (void)facet_gfx12_structures_address(driver, file->view.bytes, file->view.size, &address);
    }
    file->view.base = address;
    return as_segment(args, file, address);
}

static bool apply_headers(const struct cli_args *args, struct session_bvh *file, const char *name)
{
    const enum facet_gfx12_driver driver = facet_gfx12_driver_find(name);
    const uint32_t root = file->view.root;
    struct facet_error err = {0};

    if (driver == FACET_GFX12_DRIVER_NONE && stays_plain(args, file)) {
        return !cli_useless(args, structure_names, "needs structures of a driver or a capture");
    }
    if (file->view.segment_count == 0 && !as_one_segment(args, file, driver)) {
        return false;
    }
    if (facet_gfx12_structures_read(driver, &file->view, file->bytes.data, &file->driver, &err) !=
        FACET_OK) {
        (void)facet_fail_in(&err, file->segments[facet_gfx12_structures_named(&file->view)].name);
        return cli_bad_error(args, &err) == CLI_OK;
    }
    file->view.root = root; /* choose() looks at what was asked for */
    if (!choose(args, file)) {
        return false;
    }
    if (driver == FACET_GFX12_DRIVER_NONE) {
        say_taken(args, file);
    }
    return true;
}

/* ---- files that are no images ---- */

static bool
make_image(const struct cli_args *args, session_bvh_make *make, struct session_bvh *file)
{
    struct facet_bytes image;

    if (cli_useless(args,
                    place_names,
                    "is for images; %s is a scene, whose image lies at 0 and begins with its root",
                    file->name) ||
        !make(args, file->name, &image)) {
        return false;
    }
    free(file->bytes.data);
    file->bytes = image;
    file->view.bytes = image.data;
    file->view.size = image.size;
    file->view.base = 0;
    file->view.root = FACET_GFX12_ROOT;
    file->made = true;
    return true;
}

static bool refuse(const struct cli_args *args, const char *name, const char *what, bool scene)
{
    (void)cli_bad(args,
                  "%s is %s; expected a BVH image%s%s%s",
                  name,
                  what,
                  scene ? ": build it first: facet bvh build " : "",
                  scene ? name : "",
                  scene ? " -o FILE.gfx12" : "");
    return false;
}

static bool
refuse_others(const struct cli_args *args, session_bvh_make *make, struct session_bvh *file)
{
    const struct facet_gfx12_looks looks =
        facet_gfx12_looks_like(file->name, file->bytes.data, file->bytes.size);

    if (looks.scene && make != NULL) {
        return make_image(args, make, file);
    }
    return looks.what == NULL || refuse(args, file->name, looks.what, looks.scene);
}

/* Segments that are whole files; a part of one can be anything. */
static bool refuse_segments(const struct cli_args *args, const struct session_bvh *file)
{
    for (uint32_t i = 0; i < file->view.segment_count; i++) {
        const struct facet_gfx12_segment *s = &file->segments[i];
        const uint8_t *bytes = file->bytes.data + s->offset;
        const struct facet_gfx12_looks looks = facet_gfx12_looks_like(s->name, bytes, s->size);
        const char *what = facet_gfx12_rdf_is(bytes, s->size) ? "an RDF container" : looks.what;

        if (s->file_offset == 0 && what != NULL) {
            return refuse(args, s->name, what, looks.scene);
        }
    }
    return true;
}

/* Without --driver a file stays what it is, but a header is worth a word. */
static void hint(const struct cli_args *args, const struct session_bvh *file)
{
    const struct facet_gfx12_segment s = facet_gfx12_view_segment(&file->view, 0);
    struct facet_gfx12_structure found;
    char reason[FACET_GFX12_REASON];
    enum facet_gfx12_driver driver =
        facet_gfx12_header_find(file->view.bytes, s.size, &found, reason);

    if (driver != FACET_GFX12_DRIVER_NONE && !args->quiet) {
        fprintf(stderr,
                "facet %s: %s begins with a header of %s; --driver %s reads it\n",
                args->command->name,
                s.name != NULL ? s.name : file->name,
                facet_gfx12_driver_name(driver),
                facet_gfx12_driver_name(driver));
    }
}

static bool has_option(const struct cli_args *args, const char *name)
{
    for (const struct cli_option *o = args->command->options; o->name != NULL; o++) {
        if (strcmp(o->name, name) == 0) {
            return true;
        }
    }
    return false;
}

bool session_driver_apply(const struct cli_args *args,
                          session_bvh_make *make,
                          struct session_bvh *file)
{
    const bool drivers = has_option(args, "driver");
    const char *name = drivers ? cli_value(args, "driver") : NULL;

    if (facet_rtbvh_is(file->bytes.data, file->bytes.size)) {
        return true; /* the command says what it thinks of it */
    }
    if (file->view.segment_count != 0) {
        if (!refuse_segments(args, file)) {
            return false;
        }
    } else if (facet_gfx12_rdf_is(file->bytes.data, file->bytes.size)) {
        return drivers ? fits_capture(args, file->name, name) && session_capture_open(args, file) &&
                             choose(args, file)
                       : refuse(args, file->name, "an RDF container", false);
    } else if (!refuse_others(args, name == NULL ? make : NULL, file)) {
        return false;
    }
    if (name != NULL) {
        return apply_headers(args, file, name);
    }
    if (cli_useless(args, structure_names, "needs --driver or a capture")) {
        return false;
    }
    hint(args, file);
    return true;
}
