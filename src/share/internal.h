/* Inside the room: heads and records of the files, and the journal. */
#ifndef FACET_SHARE_INTERNAL_H
#define FACET_SHARE_INTERNAL_H

#include "share/share.h"

enum { FACET_SHARE_RECORD = 24, FACET_SHARE_FRONT = 24 }; /* bytes before the payload, the head */

struct facet_share_record {
    uint64_t unit;
    const uint8_t *bytes;
    size_t size;
};

/* The whole head, with what facet_share_run adds, as the bytes that a file begins with. *hash: of
 * the head. Free out also after a failure. */
enum facet_status facet_share_begin(const struct facet_share *share,
                                    const struct facet_units *units,
                                    struct facet_strbuf *out,
                                    uint64_t *hash,
                                    struct facet_error *err);
void facet_share_put_record(
    struct facet_strbuf *out, uint64_t head, uint64_t unit, const void *bytes, size_t size);
/* The record at *at of a file whose head has this hash; false when it is cut off or damaged. */
bool facet_share_get_record(const struct facet_bytes *file,
                            uint64_t head,
                            size_t *at,
                            struct facet_share_record *out);
/* Reads the head alone. */
enum facet_status facet_share_get_head(const char *name,
                                       const struct facet_bytes *bytes,
                                       json_t **head,
                                       uint64_t *hash,
                                       size_t *records,
                                       struct facet_error *err);
/* Whether two heads are of the same work; else says where `a` differs from `b`. */
enum facet_status facet_share_same_work(const char *name_a,
                                        const json_t *a,
                                        const char *name_b,
                                        const json_t *b,
                                        struct facet_error *err);

/* ---- the journal ---- */

/* Units that processes have claimed and the file itself are locked by ranges of the file beyond
 * all data (fcntl): the locks of a process that dies are gone with it. */
struct facet_share_journal {
    const char *path;
    int fd;
    uint64_t head; /* its hash */
    uint64_t size; /* that has been read */
    bool last;     /* this process finishes the job */
};

/* What is done with each record that appears. */
typedef enum facet_status facet_share_take_fn(void *context,
                                              const struct facet_share_record *record,
                                              struct facet_error *err);

enum { FACET_SHARE_MARK = -1 }; /* number of the record that says which job is finished */

enum facet_status facet_share_journal_open(const char *path,
                                           const struct facet_strbuf *begin,
                                           uint64_t head,
                                           struct facet_share_journal *out,
                                           struct facet_error *err);
/* With the journal locked: takes in what others have added. What a killed process left unfinished
 * at the end is cut off. */
enum facet_status facet_share_journal_read(struct facet_share_journal *j,
                                           facet_share_take_fn *take,
                                           void *context,
                                           struct facet_error *err);
enum facet_status facet_share_journal_add(struct facet_share_journal *j,
                                          uint64_t unit,
                                          const void *bytes,
                                          size_t size,
                                          struct facet_error *err);
enum facet_status facet_share_journal_lock(struct facet_share_journal *j, struct facet_error *err);
void facet_share_journal_unlock(struct facet_share_journal *j);
/* A unit: false when another process has it. */
bool facet_share_journal_claim(struct facet_share_journal *j, uint64_t unit);
void facet_share_journal_release(struct facet_share_journal *j, uint64_t unit);
/* Until whoever has the unit is done with it, or dead. */
enum facet_status
facet_share_journal_wait(struct facet_share_journal *j, uint64_t unit, struct facet_error *err);
/* Until this process is the one that finishes the job; it stays so until it ends. */
enum facet_status facet_share_journal_last(struct facet_share_journal *j, struct facet_error *err);
void facet_share_journal_close(struct facet_share_journal *j);

#endif
