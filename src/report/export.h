/* A GFX12 image as a file that other programs read: boxes as lines, triangles, instances. */
#ifndef FACET_REPORT_EXPORT_H
#define FACET_REPORT_EXPORT_H

#include "base/file.h"
#include "base/progress.h"
#include "command/command.h"
#include "gfx12/ask/gather.h"

struct report_parts {
    bool boxes, triangles, instances;
    struct facet_progress *progress; /* counts boxes and triangles that are written; may be NULL */
};

/* The command; returns the exit code. */
int report_export(const struct cli_args *args);

/* Each fills *out; free out->data. Nodes of a glTF file are instances, so that a bottom level is
 * stored once; an .obj file has every instance spelled out. FACET_ERR_LIMIT when that is too much.
 */
enum facet_status report_export_glb(const struct facet_gfx12_gathered *gathered,
                                    const struct report_parts *what,
                                    struct facet_bytes *out,
                                    struct facet_error *err);
enum facet_status report_export_obj(const struct facet_gfx12_gathered *gathered,
                                    const struct report_parts *what,
                                    struct facet_bytes *out,
                                    struct facet_error *err);
enum facet_status report_export_json(const struct facet_gfx12_gathered *gathered,
                                     const struct report_parts *what,
                                     struct facet_bytes *out,
                                     struct facet_error *err);

/* Instances in instances that .glb and .obj files follow. */
enum { REPORT_MAX_NESTING = 8 };
enum facet_status report_nested_too_deep(struct facet_error *err);

/* The twelve edges of a box, as pairs of its corners (gather.h). */
extern const uint8_t report_box_edges[12][2];

/* Part of a list that is sorted by level: from *first on, *count items. */
void report_boxes_of(const struct facet_gfx12_gathered *g,
                     uint32_t level,
                     uint64_t *first,
                     uint64_t *count);
void report_triangles_of(const struct facet_gfx12_gathered *g,
                         uint32_t level,
                         uint64_t *first,
                         uint64_t *count);
void report_instances_of(const struct facet_gfx12_gathered *g,
                         uint32_t level,
                         uint64_t *first,
                         uint64_t *count);

/* The box of what an instance shows, at its place: eight corners; false when it shows nothing or
 * its matrix has no inverse. */
bool report_instance_box(const struct facet_gfx12_gathered_instance *instance, float corner[8][3]);

#endif
