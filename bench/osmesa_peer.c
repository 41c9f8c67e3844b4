/* See osmesa_peer.h. */
#include "bench/osmesa_peer.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef FACET_HAVE_OSMESA

#include <GL/osmesa.h>
#include <dlfcn.h>

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

static enum facet_status load(struct osmesa_peer *p, struct facet_error *err)
{
    /* Read by the driver when it starts: no helper threads, and not the slow reference one. */
    (void)setenv("LP_NUM_THREADS", "0", 1);
    (void)setenv("GALLIUM_DRIVER", "llvmpipe", 1);
    p->library = dlopen("libOSMesa.so.8", RTLD_NOW | RTLD_LOCAL);
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

enum facet_status osmesa_peer_create(unsigned width,
                                     unsigned height,
                                     unsigned depth_bits,
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
    status = load(p, err);
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

enum facet_status osmesa_peer_create(unsigned width,
                                     unsigned height,
                                     unsigned depth_bits,
                                     struct osmesa_peer **out,
                                     struct facet_error *err)
{
    (void)width;
    (void)height;
    (void)depth_bits;
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
