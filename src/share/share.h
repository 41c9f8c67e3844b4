/* Work that several processes share: units that are pure functions of the input and their number.
 *
 * A command describes its work once (struct facet_units): what a unit computes, its result as
 * bytes, and the way back. The rest is the same for all of them: threads, parts that are joined
 * later, a journal that an interrupted run goes on from, and any number of processes that share one
 * journal. Whichever way results came together, they lie in the command's memory as if it had
 * computed them itself, so what it then writes has the same bytes.
 *
 * A part and a journal are files of one format: a head (JSON) that says what the work is, and a
 * record for each unit. The head is
 *   {"facet": VERSION, "command": "render", "options": ["--spp=4", ...],
 *    "inputs": {"scene": "0x..."}, "frame": {...}, "items": N, "grain": N, "part": K, "parts": N}
 * where options are those that change results, inputs have the hashes of what was read, and the
 * frame is whatever the command needs besides the units to finish the work elsewhere. All numbers
 * in the file are little-endian:
 *   "facetprt", u32 1, u32 size of the head, u64 hash of the head, the head,
 *   then for each unit: u64 number, u64 size, u64 hash, bytes.
 * The hash of a record covers its number and that of the head, so that no record passes for one of
 * another unit or of other work. */
#ifndef FACET_SHARE_SHARE_H
#define FACET_SHARE_SHARE_H

#include "base/file.h"
#include "base/pool.h"
#include "base/progress.h"
#include "base/strbuf.h"

#include <jansson.h>

struct facet_units {
    uint64_t items; /* unit u has the items from u * grain, at most `grain` of them */
    uint64_t grain;
    void *context;
    /* Computes the items of one unit into memory of the context; several threads at a time, each
     * another unit. NULL where results only come from files. */
    enum facet_status (*compute)(
        void *context, uint64_t begin, uint64_t end, facet_pool *pool, struct facet_error *err);
    /* May be NULL. Computes up to `together` units, which begin at begins[0..count), on the calling
     * thread, in place of compute; where it fails none of them is computed. */
    enum facet_status (*compute_many)(void *context,
                                      const uint64_t *begins,
                                      size_t count,
                                      facet_pool *pool,
                                      struct facet_error *err);
    uint32_t together;
    /* The result of a unit that was computed. */
    void (*pack)(void *context, uint64_t begin, uint64_t end, struct facet_strbuf *out);
    /* Puts it where `compute` would have put it. The bytes are not trusted: FACET_ERR_INPUT. */
    enum facet_status (*unpack)(void *context,
                                uint64_t begin,
                                uint64_t end,
                                const uint8_t *bytes,
                                size_t size,
                                struct facet_error *err);
};

uint64_t facet_share_unit_count(const struct facet_units *units);

enum facet_share_end {
    FACET_SHARE_WHOLE, /* all results are in the context: the caller finishes the work */
    FACET_SHARE_PART,  /* the part has been written */
    FACET_SHARE_OTHER, /* another process of this job finishes, or has finished, the work */
};

struct facet_share_journal;

struct facet_share {
    json_t *head;         /* what the work is: command, options, inputs and frame; see above */
    uint32_t part, parts; /* units part - 1, part - 1 + parts, ...; 0, 0: all of them */
    const char *file;     /* where a part goes */
    const char *journal;  /* NULL: none. Made when it is not there */
    const char *job;      /* a name that all processes of one job share, NULL without a job: one of
                             them finishes the work */
    enum facet_share_end end;         /* set by facet_share_run */
    struct facet_share_journal *open; /* its own */
};

/* Computes what is to be done here; `progress` counts items, also those that others have done. NULL
 * for `share`: all units, here. The result does not depend on threads, parts or processes; of units
 * that fail, the first gives the message. */
enum facet_status facet_share_run(struct facet_share *share,
                                  const struct facet_units *units,
                                  facet_pool *pool,
                                  struct facet_progress *progress,
                                  struct facet_error *err);
/* How many items that is, for a progress. */
uint64_t facet_share_items(const struct facet_share *share, uint64_t items, uint64_t grain);
/* After facet_share_run: the work is finished (or was not: others of the job would fail like this
 * process). Releases the head, too. */
void facet_share_close(struct facet_share *share);

/* ---- joining ---- */

struct facet_share_file {
    const char *name; /* as given */
    struct facet_bytes bytes;
    json_t *head;
    uint64_t hash;   /* of the head */
    size_t records;  /* where they begin */
    uint32_t number; /* which part it is, from 1 */
};

struct facet_share_set {
    struct facet_share_file *files;
    size_t count;
};

/* Takes a file in memory apart, which then belongs to *out: its head, and whether all its records
 * are sound and those that the part must have. Free in any case. */
enum facet_status facet_share_file_parse(const char *name,
                                         struct facet_bytes bytes,
                                         struct facet_share_file *out,
                                         struct facet_error *err);
void facet_share_file_free(struct facet_share_file *file);

/* Reads all parts of one work: FACET_ERR_INPUT with the name of the file that is damaged, of other
 * work, there twice, or with the number of the part that is missing. Free in any case. */
enum facet_status facet_share_set_read(char *const *paths,
                                       size_t count,
                                       struct facet_share_set *set,
                                       struct facet_error *err);
void facet_share_set_free(struct facet_share_set *set);
const json_t *facet_share_set_head(const struct facet_share_set *set);
/* The results of all units, which must be as many as the head says. */
enum facet_status facet_share_set_unpack(const struct facet_share_set *set,
                                         const struct facet_units *units,
                                         struct facet_error *err);

#endif
