/* See progress.h. */
#include "base/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_BYTES 256

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void facet_progress_start(struct facet_progress *progress,
                          const struct facet_progress_config *config)
{
    memset(progress, 0, sizeof *progress);
    progress->config = *config;
    progress->terminal = !config->quiet && isatty(config->fd) == 1;
    if (progress->config.interval_ms == 0) {
        progress->config.interval_ms = progress->terminal ? 100 : 5000;
    }
    progress->start_ms = now_ms();
    atomic_init(&progress->done, 0);
    atomic_init(&progress->next_ms, progress->start_ms + progress->config.interval_ms);
    pthread_mutex_init(&progress->lock, NULL);
}

/* One write() per update: lines of several processes do not mix. A stream that refuses is not worth
 * failing the job for. */
static void emit(const struct facet_progress *progress, const char *text)
{
    size_t length = strlen(text);

    while (length > 0) {
        ssize_t put = write(progress->config.fd, text, length);

        if (put <= 0) {
            return;
        }
        text += put;
        length -= (size_t)put;
    }
}

static int print_time(char *out, size_t size, uint64_t ms)
{
    uint64_t s = (ms + 999) / 1000;

    if (s < 60) {
        return snprintf(out, size, "%" PRIu64 " s", s);
    }
    if (s < 3600) {
        return snprintf(out, size, "%" PRIu64 " min %02" PRIu64 " s", s / 60, s % 60);
    }
    return snprintf(out, size, "%" PRIu64 " h %02" PRIu64 " min", s / 3600, s / 60 % 60);
}

/* "rendering: 42 % (420/1000 tiles), 12 s left" */
static void print_numbers(char *out, size_t size, const struct facet_progress *p, uint64_t done)
{
    uint64_t elapsed = now_ms() - p->start_ms;
    uint64_t total = p->config.total;
    const char *unit = p->config.unit != NULL ? p->config.unit : "";
    const char *space = unit[0] != '\0' ? " " : "";
    char time[32];

    if (total == 0) {
        (void)print_time(time, sizeof time, elapsed);
        (void)snprintf(
            out, size, "%.80s: %" PRIu64 "%s%.40s, %s", p->config.label, done, space, unit, time);
        return;
    }
    done = done < total ? done : total;
    (void)print_time(
        time,
        sizeof time,
        done == 0 ? 0 : (uint64_t)((double)elapsed * (double)(total - done) / (double)done));
    (void)snprintf(out,
                   size,
                   "%.80s: %3u %% (%" PRIu64 "/%" PRIu64 "%s%.40s)%s%s%s",
                   p->config.label,
                   (unsigned)((double)done * 100 / (double)total),
                   done,
                   total,
                   space,
                   unit,
                   done == 0 ? "" : ", ",
                   done == 0 ? "" : time,
                   done == 0 ? "" : " left");
}

static unsigned terminal_columns(int fd)
{
    struct winsize size;

    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20 ? size.ws_col : 80;
}

/* The numbers, then a bar in what is left of the line; the last column stays free because some
 * terminals wrap when it is written. */
static void draw_bar(const struct facet_progress *p, uint64_t done)
{
    char numbers[LINE_MAX_BYTES];
    char bar[64] = "";
    char line[LINE_MAX_BYTES + sizeof bar + 16];
    unsigned columns = terminal_columns(p->config.fd);
    unsigned used;

    print_numbers(numbers, sizeof numbers, p, done);
    if (strlen(numbers) >= columns) {
        numbers[columns - 1] = '\0';
    }
    used = (unsigned)strlen(numbers);
    if (p->config.total != 0 && columns - used > 16) {
        unsigned width = columns - used - 5 < 40 ? columns - used - 5 : 40;
        double share = (double)done / (double)p->config.total;
        unsigned full = (unsigned)((share < 1 ? share : 1) * width);

        bar[0] = ' ';
        bar[1] = '[';
        for (unsigned i = 0; i < width; i++) {
            bar[2 + i] = i < full ? '#' : '.';
        }
        bar[2 + width] = ']';
    }
    (void)snprintf(line, sizeof line, "\r%s%s\033[K", numbers, bar);
    emit(p, line);
}

static void draw_line(const struct facet_progress *p, uint64_t done)
{
    char numbers[LINE_MAX_BYTES];
    char line[LINE_MAX_BYTES + 1];

    print_numbers(numbers, sizeof numbers, p, done);
    (void)snprintf(line, sizeof line, "%s\n", numbers);
    emit(p, line);
}

void facet_progress_add(struct facet_progress *progress, uint64_t units)
{
    uint64_t done, now, due;

    if (progress == NULL) {
        return;
    }
    done = atomic_fetch_add(&progress->done, units) + units;
    if (progress->config.quiet) {
        return;
    }
    now = now_ms();
    due = atomic_load(&progress->next_ms);
    /* The thread that moves the due time draws; the others continue. */
    if (now < due || !atomic_compare_exchange_strong(
                         &progress->next_ms, &due, now + progress->config.interval_ms)) {
        return;
    }
    if (pthread_mutex_trylock(&progress->lock) != 0) {
        return;
    }
    progress->shown = true;
    if (progress->terminal) {
        draw_bar(progress, done);
    } else {
        draw_line(progress, done);
    }
    pthread_mutex_unlock(&progress->lock);
}

void facet_progress_finish(struct facet_progress *progress)
{
    if (progress == NULL) {
        return;
    }
    if (progress->shown && progress->terminal) {
        emit(progress, "\r\033[K");
    } else if (progress->shown) {
        char time[32];
        char line[LINE_MAX_BYTES];
        uint64_t done = atomic_load(&progress->done);

        (void)print_time(time, sizeof time, now_ms() - progress->start_ms);
        (void)snprintf(line,
                       sizeof line,
                       "%.80s: %" PRIu64 "%s%.40s in %s\n",
                       progress->config.label,
                       done,
                       progress->config.unit != NULL ? " " : "",
                       progress->config.unit != NULL ? progress->config.unit : "",
                       time);
        emit(progress, line);
    }
    pthread_mutex_destroy(&progress->lock);
}
