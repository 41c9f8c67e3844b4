/* A command line per case, in a folder of its own that goes when the case is over. */
#include "conform/internal.h"

#include "base/strbuf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, NOT_FOUND = 127 };

/* ---- words with their places filled in ---- */

struct place {
    const char *name, *value;
};

static char *filled(const char *word, const struct place *places)
{
    struct facet_strbuf text;

    facet_strbuf_init(&text);
    while (*word != '\0') {
        const struct place *p = places;

        while (p->name != NULL && strncmp(word, p->name, strlen(p->name)) != 0) {
            p++;
        }
        if (p->name != NULL) {
            facet_strbuf_puts(&text, p->value);
            word += strlen(p->name);
        } else {
            facet_strbuf_putc(&text, *word++);
        }
    }
    if (text.text == NULL && !text.failed) {
        return strdup("");
    }
    return text.failed ? NULL : text.text;
}

static void free_words(char **words)
{
    for (size_t i = 0; words != NULL && words[i] != NULL; i++) {
        free(words[i]);
    }
    free(words);
}

static char **fill(char **words, const struct place *places)
{
    size_t count = 0;
    char **out;

    while (words[count] != NULL) {
        count++;
    }
    out = calloc(count + 1, sizeof *out);
    for (size_t i = 0; i < count && out != NULL; i++) {
        out[i] = filled(words[i], places);
        if (out[i] == NULL) {
            free_words(out);
            return NULL;
        }
    }
    return out;
}

static bool wants(char **words, const char *place)
{
    for (size_t i = 0; words[i] != NULL; i++) {
        if (strstr(words[i], place) != NULL) {
            return true;
        }
    }
    return false;
}

/* ---- the folder ---- */

/* What a simulator left behind goes with it; deeper trees are not ours, nor is what a link leads
 * to. Folders that may not be written to are made so. */
static void remove_below(const char *path, unsigned depth)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;

    if (folder != NULL) {
        (void)fchmod(fd, 0700);
    } else if (fd >= 0) {
        (void)close(fd);
    }

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        char inner[PATH_BYTES + 300];

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        if ((size_t)snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) >= sizeof inner) {
            continue;
        }
        if (unlink(inner) != 0 && depth < 8) {
            remove_below(inner, depth + 1);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    (void)rmdir(path);
}

void conform_remove_folder(const char *path)
{
    remove_below(path, 0);
}

/* What the command left under a name: opening a pipe would wait for ever. */
static bool is_file(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* The last line that it wrote to its standard error, for the message. */
static void last_words(const char *path, char *text, size_t size)
{
    FILE *file = is_file(path) ? fopen(path, "r") : NULL;
    char line[512];

    text[0] = '\0';
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] != '\0') {
            (void)snprintf(text, size, ": %.150s", line);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
}

/* ---- the run ---- */

/* Waits for its end; false when the time was over and it was killed. */
static bool wait_for(const struct conform_target *t, int pid, int *how)
{
    double end = conform_now() + t->seconds;
    long pause = 200 * 1000;

    for (;;) {
        struct timespec sleep = {0, pause};
        siginfo_t ended = {.si_pid = 0};

        /* It keeps its number until the others of its group are gone. */
        if (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            ended.si_pid != 0) {
            break;
        }

        if (conform_now() > end || conform_stopped(t)) {
            (void)kill(-pid, SIGKILL);
            (void)kill(pid, SIGKILL);
            (void)waitpid(pid, how, 0);
            return false;
        }
        (void)nanosleep(&sleep, NULL);
        pause = pause < 10 * 1000 * 1000 ? pause * 2 : pause;
    }
    (void)kill(-pid, SIGKILL); /* what it started itself */
    (void)waitpid(pid, how, 0);
    return true;
}

static enum facet_status run_words(struct conform_target *t,
                                   char **words,
                                   const char *messages,
                                   const char *signature,
                                   struct conform_words *got,
                                   struct conform_result *result,
                                   struct facet_error *err)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int error = open(messages, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int pid = null >= 0 && error >= 0 ? conform_spawn(words, null, null, error) : -1, how = 0;
    int reason = errno;
    struct facet_error inner = {0};
    char said[200];

    if (null >= 0) {
        (void)close(null);
    }
    if (error >= 0) {
        (void)close(error);
    }
    if (pid < 0) {
        return facet_fail(err, FACET_ERR_IO, 0, "cannot start %s: %s", words[0], strerror(reason));
    }
    if (!wait_for(t, pid, &how)) {
        conform_say(result, CONFORM_TIMEOUT, "no end after %g seconds", t->seconds);
        return FACET_OK;
    }
    last_words(messages, said, sizeof said);
    if (WIFSIGNALED(how)) {
        conform_say(result, CONFORM_ERROR, "signal %d%s", WTERMSIG(how), said);
    } else if (WEXITSTATUS(how) == NOT_FOUND && access(signature, F_OK) != 0) {
        return facet_fail(err, FACET_ERR_IO, 0, "cannot run %s%s", words[0], said);
    } else if (access(signature, F_OK) != 0) {
        conform_say(result, CONFORM_ERROR, "no signature, exit code %d%s", WEXITSTATUS(how), said);
    } else if (!is_file(signature)) {
        conform_say(result, CONFORM_ERROR, "signature: not a regular file%s", said);
    } else if (conform_words_read(signature, got, &inner) != FACET_OK) {
        conform_say(result, CONFORM_ERROR, "signature: %s", inner.message);
    }
    return FACET_OK;
}

enum facet_status conform_command(struct conform_target *t,
                                  const struct conform_case *c,
                                  struct conform_words *got,
                                  struct conform_result *result,
                                  struct facet_error *err)
{
    const char *parent = getenv("TMPDIR");
    char folder[PATH_BYTES - 32], signature[PATH_BYTES], messages[PATH_BYTES];
    const struct place places[] = {{"{elf}", c->path},
                                   {"{case}", c->path},
                                   {"{signature}", signature},
                                   {"{out}", folder},
                                   {"{config}", c->config[0] != '\0' ? c->config : "full"},
                                   {"{name}", c->name},
                                   {NULL, NULL}};
    enum facet_status status;
    char **words;

    if (c->kind != CONFORM_ELF && !wants(t->words, "{case}")) {
        conform_say(result,
                    CONFORM_UNSUPPORTED,
                    "the command has no {case}, which a %s needs",
                    conform_kind_name[c->kind]);
        return FACET_OK;
    }
    if ((size_t)snprintf(folder,
                         sizeof folder,
                         "%s/facet-conform-XXXXXX",
                         parent != NULL && parent[0] != '\0' ? parent : "/tmp") >= sizeof folder ||
        mkdtemp(folder) == NULL) {
        return facet_fail(err, FACET_ERR_IO, 0, "%s: %s", folder, strerror(errno));
    }
    (void)snprintf(signature, sizeof signature, "%s/signature", folder);
    (void)snprintf(messages, sizeof messages, "%s/stderr", folder);
    words = fill(t->words, places);
    status = words == NULL ? facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a command")
                           : run_words(t, words, messages, signature, got, result, err);
    free_words(words);
    conform_remove_folder(folder);
    return status;
}
