/* `facet render --machine all`: the scene on every machine, side by side on one sheet. */
#include "cli/render.h"
#include "command/output.h"
#include "image/contact_sheet.h"
#include "report/left_out.h"

#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 12345678 as "12.3 M". */
static void short_count(uint64_t count, char *out, size_t size)
{
    if (count >= 10000000) {
        (void)snprintf(out, size, "%.1f M", (double)count * 1e-6);
    } else if (count >= 10000) {
        (void)snprintf(out, size, "%.1f k", (double)count * 1e-3);
    } else {
        (void)snprintf(out, size, "%" PRIu64, count);
    }
}

static void add_count(struct facet_sheet_entry *entry, uint64_t count, const char *what)
{
    size_t at = strlen(entry->counts);
    char text[32];

    if (count != 0) {
        short_count(count, text, sizeof text);
        (void)snprintf(entry->counts + at,
                       sizeof entry->counts - at,
                       "%s%s %s",
                       at != 0 ? ", " : "",
                       text,
                       what);
    }
}

/* No times: the same scene and options make the same sheet, byte for byte. */
static void label(const struct render_outcome *o, struct facet_sheet_entry *entry)
{
    uint64_t rays = 0;

    for (unsigned k = 0; k < FACET_RAY_KIND_COUNT; k++) {
        rays += o->report.cost[k].rays;
    }
    add_count(entry, rays, "rays");
    add_count(entry, o->report.triangles, "triangles");
    add_count(entry, o->report.commands, "commands");
    add_count(entry, o->report.instructions, "instructions");
}

/* One cell. A machine that cannot draw this says why in its place; the others are not held up. What
 * the host cannot give is not the machine's fault and ends the command: false, with *err. */
static bool draw_entry(const struct cli_args *args,
                       const struct render_request *r,
                       const struct facet_scene *scene,
                       const struct facet_render_options *options,
                       struct facet_sheet_entry *entry,
                       json_t *list,
                       struct facet_error *err)
{
    struct facet_image_f image = {0};
    struct render_outcome o = {.left_out =
                                   report_left_out_json(scene, FACET_LOSS_SHAPE | FACET_LOSS_LOOK)};
    enum facet_status status = render_draw(args, scene, options, r, &image, &o, err);

    entry->name = options->machine->name;
    if (status == FACET_OK) {
        status = report_render_picture(r, options, &image, &o, &entry->picture, err);
    }
    if (status == FACET_OK) {
        label(&o, entry);
        (void)json_array_append_new(list, report_render_outcome_json(r, options, &o));
        if (!args->json && strcmp(r->output, "-") != 0) {
            printf("%-18s %s%sbuild %.2f s, render %.2f s, %u thread%s\n",
                   entry->name,
                   entry->counts,
                   entry->counts[0] != '\0' ? "; " : "",
                   o.seconds[PHASE_BUILD],
                   o.seconds[PHASE_RENDER],
                   o.threads,
                   cli_s(o.threads));
        }
    } else if (status != FACET_ERR_MEMORY && status != FACET_ERR_IO) {
        (void)snprintf(entry->counts, sizeof entry->counts, "%.90s", err->message);
        (void)json_array_append_new(
            list,
            json_pack(
                "{s:s, s:o}", "machine", entry->name, "error", facet_json_name(err->message)));
        if (!args->json && strcmp(r->output, "-") != 0) {
            printf("%-18s %s\n", entry->name, err->message);
        }
    }
    facet_image_f_free(&image);
    json_decref(o.bvh);
    json_decref(o.left_out);
    return status != FACET_ERR_MEMORY && status != FACET_ERR_IO;
}

static bool write_sheet(const struct render_request *r,
                        const struct facet_sheet_entry *entries,
                        size_t count,
                        const json_t *list,
                        struct facet_error *err)
{
    const char *slash = strrchr(r->scene, '/');
    struct facet_bytes picture = {NULL, 0};
    struct facet_image sheet;
    char title[160];
    bool good;

    (void)snprintf(title,
                   sizeof title,
                   "%.80s, %u x %u, %u sample%s per pixel",
                   slash != NULL ? slash + 1 : r->scene,
                   (unsigned)r->width,
                   (unsigned)r->height,
                   (unsigned)r->spp,
                   cli_s(r->spp));
    if (facet_image_contact_sheet(
            entries, count, (uint32_t)r->width, (uint32_t)r->height, title, &sheet, err) !=
        FACET_OK) {
        return false;
    }
    good = facet_image_png_encode(&sheet, &picture, err) == FACET_OK &&
           report_render_write(r, &picture, list, NULL, err) == FACET_OK;
    facet_image_free(&sheet);
    free(picture.data);
    return good;
}

int render_all(const struct cli_args *args,
               const struct render_request *r,
               const struct facet_scene *scene)
{
    enum { MOST = 32 };
    struct facet_sheet_entry entries[MOST] = {{0}};
    struct facet_render_options options;
    struct facet_error err = {0};
    json_t *list = json_array();
    size_t count = 0;
    bool good = true;

    if (r->kind != KIND_PNG) {
        json_decref(list);
        return cli_bad(args, "--machine all makes one sheet of all pictures; expected a .png name");
    }
    if (!render_read_options(args, r, scene, &options)) {
        json_decref(list);
        return CLI_BAD;
    }
    while (facet_render_machines[count] != NULL && count < MOST) {
        count++;
    }
    if (facet_image_contact_sheet_check(count, options.width, options.height, &err) != FACET_OK) {
        json_decref(list);
        return cli_bad_error(args, &err);
    }
    for (size_t i = 0; good && i < count; i++) {
        options.machine = facet_render_machines[i];
        good = draw_entry(args, r, scene, &options, &entries[i], list, &err);
    }
    good = good && write_sheet(r, entries, count, list, &err);
    for (size_t i = 0; i < count; i++) {
        facet_image_free(&entries[i].picture);
    }
    if (!good) {
        json_decref(list);
        return cli_bad_error(args, &err);
    }
    if (args->json) {
        return cli_print_json(args, list);
    }
    json_decref(list);
    return CLI_OK;
}
