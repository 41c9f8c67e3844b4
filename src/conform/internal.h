/* Inside the room: the ways to an answer. Each fills `got`, or sets the verdict and its text. */
#ifndef FACET_CONFORM_INTERNAL_H
#define FACET_CONFORM_INTERNAL_H

#include "conform/target.h"

#include <facet/machine.h>
#include <pthread.h>

/* A program that is asked. */
struct conform_asked {
    pthread_mutex_t lock;
    int pid, to, from; /* pid 0: not running */
};

enum { CONFORM_MOST_ASKED = 16 };

struct conform_target {
    char *command;  /* NULL: Facet */
    char **words;   /* its words, ends with NULL */
    double seconds; /* per case */
    bool asks;      /* stdio:, or a library */
    bool (*stop)(void);
    struct conform_asked asked[CONFORM_MOST_ASKED];
    unsigned most_asked; /* at once: of stdio: there is one program */
};

/* Sets verdict and text; of what others wrote, only what can be shown in one line. */
void conform_say(struct conform_result *result,
                 enum conform_verdict verdict,
                 const char *format,
                 ...) __attribute__((format(printf, 3, 4)));

/* A command list of the tile machine. */
enum facet_status conform_list(const struct conform_case *c,
                               bool plain,
                               struct conform_words *got,
                               struct conform_result *result,
                               struct facet_error *err);
#define CONFORM_MOST_STEPS UINT64_C(20000000) /* of a case; every one ends within some thousand */
enum facet_status conform_command(struct conform_target *target,
                                  const struct conform_case *c,
                                  struct conform_words *got,
                                  struct conform_result *result,
                                  struct facet_error *err);
/* `keep`: see conform_target_run. */
enum facet_status conform_ask(struct conform_target *target,
                              const struct conform_case *c,
                              const char *keep,
                              struct conform_words *got,
                              struct conform_result *result,
                              struct facet_error *err);
void conform_ask_end(struct conform_target *target);

/* Little-endian bytes behind the words that are there; the last word is filled with zeros. False
 * without memory. */
bool conform_append(struct conform_words *words, const uint8_t *bytes, size_t size);
bool conform_append_words(struct conform_words *words, const uint32_t *more, size_t count);
/* Guest memory as words. */
enum facet_status conform_append_memory(struct conform_words *words,
                                        const facet_machine *machine,
                                        uint64_t address,
                                        size_t size,
                                        struct facet_error *err);

/* Whether a library can be used: asks a process of its own, as all cases will. */
enum facet_status
conform_try_library(char *const *words, const char *path, struct facet_error *err);

/* A child in a group of its own that dies with this process: its standard streams are the three
 * descriptors. Its process, or -1 with errno set. */
int conform_spawn(char *const *words, int in, int out, int error);
double conform_now(void);
/* Whether all is to end before its time. */
bool conform_stopped(const struct conform_target *target);

#endif
