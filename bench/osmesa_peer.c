/* See osmesa_peer.h. */
#define _GNU_SOURCE
#include "bench/osmesa_peer.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef FACET_HAVE_OSMESA

#include <GL/osmesa.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

/* The functions used, by their own names. */
#define FUNCTIONS(F)                                                                               \
    F(OSMesaCreateContextExt)                                                                      \
    F(OSMesaDestroyContext)                                                                        \
    F(OSMesaMakeCurrent)                                                                           \
    F(OSMesaGetProcAddress)                                                                        \
    F(glGetString)

struct osmesa_peer {
    void *library;
    OSMesaContext context;
    unsigned width, height;
    uint32_t *pixels;
    char name[96];
#define MEMBER(name) __typeof__(&(name)) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
};

/* Another instance of a library that is loaded already: dlopen tells files apart by their inode. It
 * shares what the library needs, LLVM above all, and nothing else. */
static void *load_again(void *library)
{
    struct link_map *map;
    char path[32];
    void *copy = NULL;
    int from, to = memfd_create("libOSMesa", MFD_CLOEXEC);

    if (to < 0 || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) {
        return NULL;
    }
    from = open(map->l_name, O_RDONLY | O_CLOEXEC);
    if (from >= 0) {
        while (sendfile(to, from, NULL, 1 << 20) > 0) {
        }
        (void)close(from);
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", to);
        copy = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    (void)close(to);
    return copy;
}

/* The driver reads its settings once, when the first context is made: an instance of the library
 * for each number of threads. */
static void *instance(unsigned threads)
{
    static void *threaded;
    void *alone = dlopen("libOSMesa.so.8", RTLD_NOW | RTLD_LOCAL);
    char number[16];

    if (threads > 0 && threaded == NULL && alone != NULL) {
        threaded = load_again(alone);
    }
    (void)snprintf(number, sizeof number, "%u", threads);
    (void)setenv("LP_NUM_THREADS", number, 1);
    (void)setenv("GALLIUM_DRIVER", "llvmpipe", 1); /* not the slow reference one */
    return threads > 0 ? threaded : alone;
}

static enum facet_status load(struct osmesa_peer *p, unsigned threads, struct facet_error *err)
{
    p->library = instance(threads);
    if (p->library == NULL) {
        return facet_fail(err, FACET_ERR_IO, 0, "libOSMesa.so.8 is not installed");
    }
#define LOAD(name)                                                                                 \
    *(void **)&p->name = dlsym(p->library, #name);                                                 \
    if (p->name == NULL) {                                                                         \
        return facet_fail(err, FACET_ERR_IO, 0, "libOSMesa.so.8 has no " #name);                   \
    }
    FUNCTIONS(LOAD)
#undef LOAD
    return FACET_OK;
}

void osmesa_peer_use(struct osmesa_peer *peer)
{
    (void)peer->OSMesaMakeCurrent(
        peer->context, peer->pixels, GL_UNSIGNED_BYTE, (GLsizei)peer->width, (GLsizei)peer->height);
}

static enum facet_status start(struct osmesa_peer *p, unsigned depth_bits, struct facet_error *err)
{
    p->pixels = calloc((size_t)p->width * p->height, sizeof p->pixels[0]);
    if (p->pixels == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    p->context = p->OSMesaCreateContextExt(OSMESA_BGRA, (GLint)depth_bits, 0, 0, NULL);
    if (p->context == NULL ||
        !p->OSMesaMakeCurrent(
            p->context, p->pixels, GL_UNSIGNED_BYTE, (GLsizei)p->width, (GLsizei)p->height)) {
        return facet_fail(err, FACET_ERR_IO, 0, "OSMesa cannot create a context");
    }
    (void)snprintf(p->name, sizeof p->name, "%s", (const char *)p->glGetString(GL_RENDERER));
    return FACET_OK;
}

enum facet_status osmesa_peer_create_threads(unsigned width,
                                             unsigned height,
                                             unsigned depth_bits,
                                             unsigned threads,
                                             struct osmesa_peer **out,
                                             struct facet_error *err)
{
    struct osmesa_peer *p = calloc(1, sizeof *p);
    enum facet_status status;

    *out = NULL;
    if (p == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    p->width = width;
    p->height = height;
    status = load(p, threads, err);
    if (status == FACET_OK) {
        status = start(p, depth_bits, err);
    }
    if (status != FACET_OK) {
        osmesa_peer_destroy(p);
        return status;
    }
    *out = p;
    return FACET_OK;
}

void osmesa_peer_destroy(struct osmesa_peer *peer)
{
    if (peer == NULL) {
        return;
    }
    if (peer->context != NULL) {
        peer->OSMesaDestroyContext(peer->context);
    }
    free(peer->pixels);
    free(peer); /* the library stays: LLVM does not like to be loaded twice */
}

void (*osmesa_peer_function(const struct osmesa_peer *peer, const char *name))(void)
{
    return peer->OSMesaGetProcAddress(name);
}

const uint32_t *osmesa_peer_pixels(const struct osmesa_peer *peer)
{
    return peer->pixels;
}

const char *osmesa_peer_name(const struct osmesa_peer *peer)
{
    return peer->name;
}

#else

struct osmesa_peer {
    char unused;
};

enum facet_status osmesa_peer_create_threads(unsigned width,
                                             unsigned height,
                                             unsigned depth_bits,
                                             unsigned threads,
                                             struct osmesa_peer **out,
                                             struct facet_error *err)
{
    (void)width;
    (void)height;
    (void)depth_bits;
    (void)threads;
    *out = NULL;
    return facet_fail(
        err, FACET_ERR_IO, 0, "this facet was built without GL/osmesa.h (libosmesa6-dev)");
}

void osmesa_peer_destroy(struct osmesa_peer *peer)
{
    (void)peer;
}

void osmesa_peer_use(struct osmesa_peer *peer)
{
    (void)peer;
}

void (*osmesa_peer_function(const struct osmesa_peer *peer, const char *name))(void)
{
    (void)peer;
    (void)name;
    return NULL;
}

const uint32_t *osmesa_peer_pixels(const struct osmesa_peer *peer)
{
    (void)peer;
    return NULL;
}

const char *osmesa_peer_name(const struct osmesa_peer *peer)
{
    (void)peer;
    return "";
}

#endif

enum facet_status osmesa_peer_create(unsigned width,
                                     unsigned height,
                                     unsigned depth_bits,
                                     struct osmesa_peer **out,
                                     struct facet_error *err)
{
    return osmesa_peer_create_threads(width, height, depth_bits, 0, out, err);
}
