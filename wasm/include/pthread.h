/* The one thread of the page: what libfacet uses of POSIX threads, with nothing to wait for. */
#ifndef FACET_WASM_PTHREAD_H
#define FACET_WASM_PTHREAD_H

typedef struct {
    char unused;
} pthread_mutex_t;
typedef int pthread_once_t;
#define PTHREAD_MUTEX_INITIALIZER                                                                  \
    {                                                                                              \
        0                                                                                          \
    }
#define PTHREAD_ONCE_INIT 0

static inline int pthread_mutex_init(pthread_mutex_t *mutex, const void *attributes)
{
    (void)mutex, (void)attributes;
    return 0;
}

static inline int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

static inline int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

static inline int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

static inline int pthread_once(pthread_once_t *once, void (*routine)(void))
{
    if (*once == 0) {
        *once = 1;
        routine();
    }
    return 0;
}

/* Nobody waits: what one thread needs it has. */
typedef int pthread_cond_t;

static inline int pthread_cond_init(pthread_cond_t *cond, const void *attributes)
{
    (void)cond, (void)attributes;
    return 0;
}

static inline int pthread_cond_destroy(pthread_cond_t *cond)
{
    (void)cond;
    return 0;
}

static inline int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    (void)cond, (void)mutex;
    return 0;
}

static inline int pthread_cond_signal(pthread_cond_t *cond)
{
    (void)cond;
    return 0;
}

static inline int pthread_cond_broadcast(pthread_cond_t *cond)
{
    (void)cond;
    return 0;
}

#endif
