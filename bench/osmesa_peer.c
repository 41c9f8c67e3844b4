/* See osmesa_peer.h. LP_NUM_THREADS=0 makes llvmpipe rasterize on the calling thread; it must be in
 * the environment before the context exists. A picture is finished before the next one starts,
 * because llvmpipe drops what an opaque rectangle of the same picture covers. */
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
    F(glGetString)                                                                                 \
    F(glViewport)                                                                                  \
    F(glTexImage2D)                                                                                \
    F(glTexParameteri)                                                                             \
    F(glTexEnvi)                                                                                   \
    F(glEnable)                                                                                    \
    F(glDisable)                                                                                   \
    F(glBegin)                                                                                     \
    F(glEnd)                                                                                       \
    F(glTexCoord2f)                                                                                \
    F(glVertex2f)                                                                                  \
    F(glGetError)                                                                                  \
    F(glFinish)

struct osmesa_peer {
    void *library;
    OSMesaContext context;
    uint8_t *picture;
    float corners[4][2];
    char name[64];
#define MEMBER(name) __typeof__(&(name)) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
};

static enum facet_status load(struct osmesa_peer *p, struct facet_error *err)
{
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

static enum facet_status start(struct osmesa_peer *p,
                               const uint8_t *texels,
                               int texture_size,
                               int picture_size,
                               struct facet_error *err)
{
    (void)setenv("GALLIUM_DRIVER", "llvmpipe", 1);
    (void)setenv("LP_NUM_THREADS", "0", 1);
    p->context = p->OSMesaCreateContextExt(OSMESA_RGBA, 0, 0, 0, NULL);
    p->picture = calloc((size_t)picture_size * (size_t)picture_size, 4);
    if (p->context == NULL || p->picture == NULL ||
        !p->OSMesaMakeCurrent(
            p->context, p->picture, GL_UNSIGNED_BYTE, picture_size, picture_size)) {
        return facet_fail(err, FACET_ERR_IO, 0, "OSMesa gives no context");
    }
    (void)snprintf(p->name, sizeof p->name, "%s", (const char *)p->glGetString(GL_RENDERER));
    p->glViewport(0, 0, picture_size, picture_size);
    p->glTexImage2D(GL_TEXTURE_2D,
                    0,
                    GL_RGBA8,
                    texture_size,
                    texture_size,
                    0,
                    GL_RGBA,
                    GL_UNSIGNED_BYTE,
                    texels);
    p->glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    p->glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    p->glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_REPEAT);
    p->glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_REPEAT);
    p->glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_REPLACE);
    p->glDisable(GL_DITHER);
    p->glEnable(GL_TEXTURE_2D);
    if (p->glGetError() != GL_NO_ERROR) {
        return facet_fail(err, FACET_ERR_IO, 0, "OSMesa reports a GL error");
    }
    return FACET_OK;
}

enum facet_status osmesa_peer_create(const uint8_t *texels,
                                     unsigned texture_size,
                                     unsigned picture_size,
                                     const float corners[4][2],
                                     struct osmesa_peer **out,
                                     struct facet_error *err)
{
    struct osmesa_peer *p = calloc(1, sizeof *p);
    enum facet_status status;

    *out = NULL;
    if (p == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    for (unsigned k = 0; k < 4; k++) {
        p->corners[k][0] = corners[k][0];
        p->corners[k][1] = corners[k][1];
    }
    status = load(p, err);
    if (status == FACET_OK) {
        status = start(p, texels, (int)texture_size, (int)picture_size, err);
    }
    if (status != FACET_OK) {
        osmesa_peer_destroy(p);
        return status;
    }
    *out = p;
    return FACET_OK;
}

/* The library stays loaded: LLVM inside it does not like to be unloaded. */
void osmesa_peer_destroy(struct osmesa_peer *peer)
{
    if (peer == NULL) {
        return;
    }
    if (peer->context != NULL) {
        peer->OSMesaDestroyContext(peer->context);
    }
    free(peer->picture);
    free(peer);
}

/* Row 0 of the memory is the bottom of GL's picture: y = -1. */
const uint8_t *osmesa_peer_draw(struct osmesa_peer *peer)
{
    static const float place[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};

    peer->glBegin(GL_QUADS);
    for (unsigned k = 0; k < 4; k++) {
        peer->glTexCoord2f(peer->corners[k][0], peer->corners[k][1]);
        peer->glVertex2f(place[k][0], place[k][1]);
    }
    peer->glEnd();
    peer->glFinish();
    return peer->picture;
}

const char *osmesa_peer_name(const struct osmesa_peer *peer)
{
    return peer->name;
}

#else

enum facet_status osmesa_peer_create(const uint8_t *texels,
                                     unsigned texture_size,
                                     unsigned picture_size,
                                     const float corners[4][2],
                                     struct osmesa_peer **out,
                                     struct facet_error *err)
{
    (void)texels;
    (void)texture_size;
    (void)picture_size;
    (void)corners;
    *out = NULL;
    return facet_fail(err, FACET_ERR_IO, 0, "built without GL/osmesa.h (package libosmesa6-dev)");
}

void osmesa_peer_destroy(struct osmesa_peer *peer)
{
    (void)peer;
}

const uint8_t *osmesa_peer_draw(struct osmesa_peer *peer)
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
