/* See internal.h. */
#include "share/internal.h"

#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the locks lie: far beyond all data. */
#define LOCK_FILE (INT64_C(1) << 61)
#define LOCK_LAST (LOCK_FILE + 1)
#define LOCK_UNITS (INT64_C(1) << 62)

static int lock_range(const struct facet_share_journal *j, int command, short type, int64_t at)
{
    struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)at, .l_len = 1};

    return fcntl(j->fd, command, &range);
}

static enum facet_status
wait_for(const struct facet_share_journal *j, int64_t at, struct facet_error *err)
{
    if (lock_range(j, F_SETLKW, F_WRLCK, at) == 0) {
        return FACET_OK;
    }
    return errno == EINTR
               ? facet_fail(err, FACET_ERR_LIMIT, 0, "%s: interrupted", j->path)
               : facet_fail(err, FACET_ERR_IO, 0, "%s: cannot lock: %s", j->path, strerror(errno));
}

enum facet_status facet_share_journal_lock(struct facet_share_journal *j, struct facet_error *err)
{
    return wait_for(j, LOCK_FILE, err);
}

void facet_share_journal_unlock(struct facet_share_journal *j)
{
    (void)lock_range(j, F_SETLK, F_UNLCK, LOCK_FILE);
}

bool facet_share_journal_claim(struct facet_share_journal *j, uint64_t unit)
{
    return lock_range(j, F_SETLK, F_WRLCK, LOCK_UNITS + (int64_t)unit) == 0;
}

void facet_share_journal_release(struct facet_share_journal *j, uint64_t unit)
{
    (void)lock_range(j, F_SETLK, F_UNLCK, LOCK_UNITS + (int64_t)unit);
}

enum facet_status
facet_share_journal_wait(struct facet_share_journal *j, uint64_t unit, struct facet_error *err)
{
    enum facet_status status = wait_for(j, LOCK_UNITS + (int64_t)unit, err);

    facet_share_journal_release(j, unit);
    return status;
}

enum facet_status facet_share_journal_last(struct facet_share_journal *j, struct facet_error *err)
{
    return wait_for(j, LOCK_LAST, err);
}

/* ---- what it holds ---- */

/* Writes all of it at `at`; what a failure leaves is cut off by whoever reads next. */
static enum facet_status write_at(const struct facet_share_journal *j,
                                  const struct facet_strbuf *bytes,
                                  uint64_t at,
                                  struct facet_error *err)
{
    size_t done = 0;

    if (bytes->failed) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for a result");
    }
    while (done < bytes->length) {
        const ssize_t n =
            pwrite(j->fd, bytes->text + done, bytes->length - done, (off_t)(at + done));

        if (n < 0 && errno != EINTR) {
            return facet_fail(
                err, FACET_ERR_IO, 0, "%s: cannot write: %s", j->path, strerror(errno));
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return FACET_OK;
}

/* From `at` to the end. */
static enum facet_status read_from(const struct facet_share_journal *j,
                                   uint64_t at,
                                   struct facet_bytes *out,
                                   struct facet_error *err)
{
    const off_t end = lseek(j->fd, 0, SEEK_END);
    size_t done = 0, size;

    *out = (struct facet_bytes){NULL, 0};
    if (end < 0) {
        return facet_fail(err, FACET_ERR_IO, 0, "%s: cannot read: %s", j->path, strerror(errno));
    }
    size = (uint64_t)end > at ? (size_t)((uint64_t)end - at) : 0;
    out->data = malloc(size + 1);
    if (out->data == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "%s: no memory for it", j->path);
    }
    while (done < size) {
        const ssize_t n = pread(j->fd, out->data + done, size - done, (off_t)(at + done));

        if (n == 0 || (n < 0 && errno != EINTR)) {
            free(out->data);
            *out = (struct facet_bytes){NULL, 0};
            return facet_fail(err,
                              FACET_ERR_IO,
                              0,
                              "%s: cannot read: %s",
                              j->path,
                              n == 0 ? "it became shorter" : strerror(errno));
        }
        done += n > 0 ? (size_t)n : 0;
    }
    out->data[size] = '\0';
    out->size = size;
    return FACET_OK;
}

static enum facet_status cut(struct facet_share_journal *j, uint64_t size, struct facet_error *err)
{
    return ftruncate(j->fd, (off_t)size) == 0
               ? FACET_OK
               : facet_fail(err, FACET_ERR_IO, 0, "%s: cannot write: %s", j->path, strerror(errno));
}

/* The head that is there must be that of this work; where there is none yet, or one that a killed
 * process began to write, it is written. */
static enum facet_status begin_or_compare(struct facet_share_journal *j,
                                          const struct facet_strbuf *begin,
                                          struct facet_error *err)
{
    struct facet_bytes bytes, mine = {(uint8_t *)begin->text, begin->length};
    json_t *there = NULL, *wanted = NULL;
    uint64_t hash;
    size_t records;
    enum facet_status status = read_from(j, 0, &bytes, err);

    if (status != FACET_OK) {
        return status;
    }
    if (bytes.size < begin->length && memcmp(bytes.data, begin->text, bytes.size) == 0) {
        status = cut(j, 0, err);
        status = status == FACET_OK ? write_at(j, begin, 0, err) : status;
    } else {
        status = facet_share_get_head(j->path, &bytes, &there, &hash, &records, err);
        status = status == FACET_OK
                     ? facet_share_get_head(j->path, &mine, &wanted, &hash, &records, err)
                     : status;
        status = status == FACET_OK ? facet_share_same_work(j->path, there, "this run", wanted, err)
                                    : status;
        if (status == FACET_OK && json_object_get(there, "part") != NULL &&
            !json_equal(json_object_get(there, "part"), json_object_get(wanted, "part"))) {
            status = facet_fail(err, FACET_ERR_INPUT, 0, "%s: is of another --part", j->path);
        }
    }
    j->size = begin->length;
    json_decref(there);
    json_decref(wanted);
    free(bytes.data);
    return status;
}

enum facet_status facet_share_journal_open(const char *path,
                                           const struct facet_strbuf *begin,
                                           uint64_t head,
                                           struct facet_share_journal *out,
                                           struct facet_error *err)
{
    enum facet_status status;

    *out = (struct facet_share_journal){
        .path = path, .head = head, .fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666)};
    if (out->fd < 0) {
        return facet_fail(err, FACET_ERR_IO, 0, "%s: cannot open: %s", path, strerror(errno));
    }
    status = facet_share_journal_lock(out, err);
    if (status == FACET_OK) {
        status = begin_or_compare(out, begin, err);
        facet_share_journal_unlock(out);
    }
    if (status != FACET_OK) {
        facet_share_journal_close(out);
    }
    return status;
}

enum facet_status facet_share_journal_read(struct facet_share_journal *j,
                                           facet_share_take_fn *take,
                                           void *context,
                                           struct facet_error *err)
{
    struct facet_share_record record;
    struct facet_bytes bytes;
    size_t at = 0, good = 0;
    enum facet_status status = read_from(j, j->size, &bytes, err);

    while (status == FACET_OK && at < bytes.size &&
           facet_share_get_record(&bytes, j->head, &at, &record)) {
        good = at;
        status = take(context, &record, err);
    }
    j->size += good;
    if (status == FACET_OK && good < bytes.size) {
        status = cut(j, j->size, err);
    }
    free(bytes.data);
    return status;
}

enum facet_status facet_share_journal_add(struct facet_share_journal *j,
                                          uint64_t unit,
                                          const void *bytes,
                                          size_t size,
                                          struct facet_error *err)
{
    struct facet_strbuf record;
    enum facet_status status;

    facet_strbuf_init(&record);
    facet_share_put_record(&record, j->head, unit, bytes, size);
    status = write_at(j, &record, j->size, err);
    j->size += status == FACET_OK ? record.length : 0;
    facet_strbuf_free(&record);
    return status;
}

void facet_share_journal_close(struct facet_share_journal *j)
{
    if (j->fd >= 0) {
        (void)close(j->fd);
    }
    j->fd = -1;
}
