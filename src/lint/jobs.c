/* See jobs.h. A job's bytes are two bits each, in pages that it touched. */
#include "lint/jobs.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum {
    PAGE_BITS = 12,
    PAGE = 1 << PAGE_BITS,
    MOST_JOBS = 256, /* a program that never waits must not fill the host's memory */
};

struct lint_page {
    uint64_t number; /* address >> PAGE_BITS, plus 1: 0 is an empty place */
    uint64_t read[PAGE / 64], written[PAGE / 64];
};

/* ---- pages ---- */

static size_t place(uint64_t number, size_t room)
{
    return (size_t)(number * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (room - 1);
}

static struct lint_page *look(struct lint_page *pages, size_t room, uint64_t number)
{
    size_t at = place(number, room);

    while (pages[at].number != 0 && pages[at].number != number) {
        at = (at + 1) & (room - 1);
    }
    return &pages[at];
}

static struct lint_page *find_page(struct lint_job *job, uint64_t address)
{
    uint64_t number = (address >> PAGE_BITS) + 1;

    if (job->last == NULL || job->last->number != number) {
        struct lint_page *page =
            job->page_room != 0 ? look(job->pages, job->page_room, number) : NULL;

        if (page == NULL || page->number == 0) {
            return NULL;
        }
        job->last = page;
    }
    return job->last;
}

static bool grow_pages(struct lint_job *job)
{
    size_t room = job->page_room != 0 ? 2 * job->page_room : 16;
    struct lint_page *pages = calloc(room, sizeof *pages);

    if (pages == NULL) {
        return false;
    }
    for (size_t i = 0; i < job->page_room; i++) {
        if (job->pages[i].number != 0) {
            *look(pages, room, job->pages[i].number) = job->pages[i];
        }
    }
    free(job->pages);
    job->pages = pages;
    job->page_room = room;
    job->last = NULL;
    return true;
}

static struct lint_page *make_page(struct lint_job *job, uint64_t address)
{
    struct lint_page *page = find_page(job, address);

    if (page == NULL) {
        if (2 * (job->page_count + 1) > job->page_room && !grow_pages(job)) {
            return NULL;
        }
        page = look(job->pages, job->page_room, (address >> PAGE_BITS) + 1);
        page->number = (address >> PAGE_BITS) + 1;
        job->page_count++;
        job->last = page;
    }
    return page;
}

static uint64_t bit_of(uint64_t address)
{
    return UINT64_C(1) << (address % 64);
}

/* ---- jobs ---- */

static void remove_job(struct lint_jobs *jobs, size_t at)
{
    free(jobs->job[at].pages);
    jobs->count--;
    memmove(&jobs->job[at], &jobs->job[at + 1], (jobs->count - at) * sizeof *jobs->job);
}

void facet_lint_jobs_free(struct lint_jobs *jobs)
{
    while (jobs->count > 0) {
        remove_job(jobs, jobs->count - 1);
    }
    free(jobs->job);
    *jobs = (struct lint_jobs){0};
}

void facet_lint_jobs_begin(struct lint_jobs *jobs, struct lint_submission by)
{
    if (jobs->count == MOST_JOBS) {
        remove_job(jobs, 0);
    }
    if (!facet_array_fit(&jobs->job, &jobs->room, jobs->count + 1, sizeof *jobs->job)) {
        jobs->failed = true;
        return;
    }
    jobs->job[jobs->count++] = (struct lint_job){.by = by};
    jobs->building = true;
}

void facet_lint_jobs_note(struct lint_jobs *jobs, uint64_t address, uint32_t size, bool write)
{
    struct lint_job *job = jobs->running != NULL ? jobs->running
                           : jobs->building      ? &jobs->job[jobs->count - 1]
                                                 : NULL;

    for (uint32_t i = 0; i < size && job != NULL; i++) {
        uint64_t at = address + i;
        struct lint_page *page = make_page(job, at);

        if (page == NULL) {
            jobs->failed = true;
            return;
        }
        (write ? page->written : page->read)[at % PAGE / 64] |= bit_of(at);
    }
}

void facet_lint_jobs_submitted(struct lint_jobs *jobs, uint64_t sequence)
{
    if (jobs->building) {
        jobs->job[jobs->count - 1].sequence = sequence;
        jobs->building = false;
    }
}

void facet_lint_jobs_refused(struct lint_jobs *jobs)
{
    if (jobs->building) {
        remove_job(jobs, jobs->count - 1);
        jobs->building = false;
    }
}

void facet_lint_jobs_run(struct lint_jobs *jobs, unsigned queue, uint64_t sequence)
{
    size_t count = jobs->building ? jobs->count - 1 : jobs->count;

    jobs->running = NULL;
    for (size_t i = 0; i < count && jobs->running == NULL; i++) {
        struct lint_job *job = &jobs->job[i];

        if (job->by.queue == queue && job->sequence == sequence) {
            jobs->running = job;
        }
    }
}

void facet_lint_jobs_ran(struct lint_jobs *jobs)
{
    jobs->running = NULL;
}

void facet_lint_jobs_wait(struct lint_jobs *jobs, unsigned queue, uint64_t sequence)
{
    size_t i = 0;

    while (i < jobs->count) {
        if (jobs->job[i].by.queue == queue && jobs->job[i].sequence <= sequence) {
            remove_job(jobs, i);
        } else {
            i++;
        }
    }
}

static bool is_in(const struct lint_submission *by, uint64_t sets)
{
    return (sets >> by->queue & 1) != 0 || (by->lds && (sets & FACET_JOBS_LDS) != 0);
}

void facet_lint_jobs_fence(struct lint_jobs *jobs, uint32_t hart, uint64_t sets)
{
    uint64_t queues = 0; /* whose jobs from here back are complete */

    for (size_t i = jobs->count; i-- > 0;) {
        const struct lint_submission *by = &jobs->job[i].by;

        if (by->hart == hart && is_in(by, sets)) {
            queues |= UINT64_C(1) << by->queue;
        }
        if ((queues >> by->queue & 1) != 0) {
            remove_job(jobs, i);
        }
    }
}

/* ---- accesses ---- */

static bool meets(struct lint_job *job, uint64_t address, uint32_t size, bool write)
{
    for (uint32_t i = 0; i < size; i++) {
        uint64_t at = address + i;
        const struct lint_page *page = find_page(job, at);
        size_t word = at % PAGE / 64;

        if (page != NULL &&
            ((page->written[word] | (write ? page->read[word] : 0)) & bit_of(at)) != 0) {
            return true;
        }
    }
    return false;
}

const struct lint_job *facet_lint_jobs_disturbed(
    struct lint_jobs *jobs, uint64_t address, uint32_t size, bool write, unsigned except)
{
    size_t count = jobs->building ? jobs->count - 1 : jobs->count;

    for (size_t i = 0; i < count; i++) {
        if (jobs->job[i].by.queue != except && meets(&jobs->job[i], address, size, write)) {
            return &jobs->job[i];
        }
    }
    return NULL;
}
