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

#endif
