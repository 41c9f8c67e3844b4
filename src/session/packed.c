/* See packed.h. */
#include "session/packed.h"

#include "command/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#ifdef FACET_ZSTD
#include <zstd.h>
#endif

enum { PIECE = 1 << 16, GZIP_LEVEL = 1, GZIP_WINDOW = 15 + 16, GZIP_MEMORY = 8 };

struct session_packed {
    FILE *file;
    bool zstd;
    z_stream gzip;
#ifdef FACET_ZSTD
    ZSTD_CCtx *context;
#endif
    size_t size; /* bytes in `in` */
    uint8_t in[PIECE];
    uint8_t out[PIECE];
};

bool session_packed_refuses(const struct cli_args *args, const char *option, const char *path)
{
    static const char *const unknown[] = {
        ".xz", ".bz2", ".lz4", ".lzma", ".zip", ".7z", ".br", ".z"};

    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        if (cli_ends_with(path, unknown[i])) {
            (void)cli_bad(args,
                          "--%s %s: %s cannot be written; expected .gz, .zst, or a name for plain "
                          "text",
                          option,
                          path,
                          unknown[i]);
            return true;
        }
    }
#ifndef FACET_ZSTD
    if (cli_ends_with(path, ".zst")) {
        (void)cli_bad(args, "--%s %s: this program was built without libzstd", option, path);
        return true;
    }
#endif
    return false;
}

int session_packed_open(session_packed **out, const char *path, FILE *file)
{
    bool zstd = cli_ends_with(path, ".zst"), good;
    session_packed *p;

    *out = NULL;
    if (!zstd && !cli_ends_with(path, ".gz")) {
        return 0;
    }
    p = calloc(1, sizeof *p);
    if (p == NULL) {
        return ENOMEM;
    }
    p->file = file;
    p->zstd = zstd;
#ifdef FACET_ZSTD
    p->context = zstd ? ZSTD_createCCtx() : NULL;
    good = p->context != NULL;
#else
    good = false;
#endif
    if (!zstd) {
        good =
            deflateInit2(
                &p->gzip, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY, Z_DEFAULT_STRATEGY) ==
            Z_OK;
    }
    if (!good) {
        free(p);
        return ENOMEM;
    }
    *out = p;
    return 0;
}

static int put(session_packed *p, size_t size)
{
    return fwrite(p->out, 1, size, p->file) == size ? 0 : errno;
}

static int gzip(session_packed *p, bool last)
{
    int error = 0, state = Z_OK;

    p->gzip.next_in = p->in;
    p->gzip.avail_in = (uInt)p->size;
    do {
        p->gzip.next_out = p->out;
        p->gzip.avail_out = PIECE;
        state = deflate(&p->gzip, last ? Z_FINISH : Z_NO_FLUSH);
        error = put(p, PIECE - p->gzip.avail_out);
    } while (error == 0 && (p->gzip.avail_out == 0 || (last && state == Z_OK)));
    return error;
}

static int zstd(session_packed *p, bool last)
{
#ifdef FACET_ZSTD
    ZSTD_inBuffer in = {p->in, p->size, 0};
    int error = 0;
    size_t left;

    do {
        ZSTD_outBuffer out = {p->out, PIECE, 0};

        left = ZSTD_compressStream2(p->context, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        error = ZSTD_isError(left) ? ENOMEM : put(p, out.pos);
    } while (error == 0 && (in.pos < in.size || (last && left != 0)));
    return error;
#else
    (void)p;
    (void)last;
    return EINVAL;
#endif
}

/* Compresses what has gathered. */
static int flush(session_packed *p, bool last)
{
    int error = p->zstd ? zstd(p, last) : gzip(p, last);

    p->size = 0;
    return error;
}

int session_packed_write(session_packed *p, const void *data, size_t size)
{
    const uint8_t *from = data;
    int error = 0;

    while (size > 0 && error == 0) {
        size_t piece = size < PIECE - p->size ? size : PIECE - p->size;

        memcpy(p->in + p->size, from, piece);
        p->size += piece;
        from += piece;
        size -= piece;
        if (p->size == PIECE) {
            error = flush(p, false);
        }
    }
    return error;
}

int session_packed_close(session_packed *p)
{
    int error = 0;

    if (p != NULL) {
        error = flush(p, true);
#ifdef FACET_ZSTD
        (void)ZSTD_freeCCtx(p->context);
#endif
        if (!p->zstd) {
            (void)deflateEnd(&p->gzip);
        }
        free(p);
    }
    return error;
}
