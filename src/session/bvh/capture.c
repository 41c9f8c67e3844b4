/* Captures (.rra) in files: what is compressed in them is decompressed by libzstd in a confined
 * process. */
#include "session/bvh/driver.h"
#include "session/bvh/file.h"

#include "base/incoming.h"
#include "confine/sandbox.h"
#include "gfx12/drivers/capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- decompression ---- */

#ifdef FACET_ZSTD
#include <zstd.h>

/* A window of 2^27 bytes is the most that a decoder takes by itself. */
#define MEMORY_BYTES (UINT64_C(1) << 30)
#define CPU_SECONDS 600U

struct parts {
    struct facet_gfx12_capture_part *list;
    uint32_t count;
    const uint8_t *file;
};

/* The child sends each compressed chunk in pieces, a length before each; a length of 0 announces
 * what was wrong. */
static bool send_piece(struct facet_channel *to, const uint8_t *piece, uint32_t length)
{
    return length == 0 || (facet_channel_write(to, &length, sizeof length) &&
                           facet_channel_write(to, piece, length));
}

/* Exactly the announced bytes. */
static bool send_chunk(ZSTD_DStream *stream,
                       const uint8_t *data,
                       const struct facet_gfx12_rdf_chunk *chunk,
                       struct facet_channel *to)
{
    static uint8_t piece[1 << 16];
    ZSTD_inBuffer in = {data, (size_t)chunk->data_bytes, 0};
    uint64_t left = chunk->full_bytes;
    size_t more;

    (void)ZSTD_initDStream(stream);
    do {
        ZSTD_outBuffer out = {piece, sizeof piece, 0};
        const size_t before = in.pos;

        more = ZSTD_decompressStream(stream, &out, &in);
        if (ZSTD_isError(more) || out.pos > left || (out.pos == 0 && in.pos == before) ||
            !send_piece(to, piece, (uint32_t)out.pos)) {
            return false;
        }
        left -= out.pos;
    } while (more != 0);
    return left == 0;
}

static void send_failure(const struct facet_gfx12_capture_part *p, struct facet_channel *to)
{
    const uint32_t none = 0;
    struct facet_error err = {0};

    (void)facet_fail(&err,
                     FACET_ERR_INPUT,
                     p->chunk.data,
                     "%s at offset %llu is no zstd data of %llu bytes",
                     p->chunk.name,
                     (unsigned long long)p->chunk.data,
                     (unsigned long long)p->chunk.full_bytes);
    if (facet_channel_write(to, &none, sizeof none)) {
        (void)facet_channel_send_error(to, &err);
    }
}

static void decompress(void *context, struct facet_channel *channel)
{
    struct parts *parts = context;
    ZSTD_DStream *stream = ZSTD_createDStream();

    for (uint32_t i = 0; i < parts->count; i++) {
        const struct facet_gfx12_capture_part *p = &parts->list[i];

        if (p->chunk.compressed &&
            (stream == NULL ||
             !send_chunk(stream, parts->file + p->chunk.data, &p->chunk, channel))) {
            send_failure(p, channel);
            break;
        }
    }
    (void)ZSTD_freeDStream(stream);
}

/* The bytes of the pieces one after another. */
struct piece_reader {
    struct facet_channel *channel;
    uint32_t left; /* of the piece */
    bool failed;   /* the child says why */
};

static bool get_bytes(void *context, void *to, size_t size)
{
    struct piece_reader *r = context;
    uint8_t *at = to;

    while (size != 0) {
        size_t now;

        if (r->left == 0) {
            if (!facet_channel_read(r->channel, &r->left, sizeof r->left)) {
                return false;
            }
            r->failed = r->left == 0;
        }
        now = size < r->left ? size : r->left;
        if (now == 0 || !facet_channel_read(r->channel, at, now)) {
            return false;
        }
        at += now;
        size -= now;
        r->left -= (uint32_t)now;
    }
    return true;
}

static enum facet_status
receive(void *context, struct facet_channel *channel, struct facet_error *err)
{
    struct parts *parts = context;
    struct piece_reader reader = {channel, 0, false};

    for (uint32_t i = 0; i < parts->count; i++) {
        struct facet_gfx12_capture_part *p = &parts->list[i];
        enum facet_status status;
        void *bytes;

        if (!p->chunk.compressed) {
            continue;
        }
        status = facet_incoming_array(get_bytes, &reader, (size_t)p->chunk.full_bytes, &bytes);
        if (reader.failed) {
            return facet_channel_take_error(channel, err);
        }
        if (status != FACET_OK) {
            return facet_fail(err,
                              status,
                              p->chunk.data,
                              "%s of %llu bytes: %s",
                              p->chunk.name,
                              (unsigned long long)p->chunk.full_bytes,
                              status == FACET_ERR_MEMORY ? "no memory" : "the decoder stopped");
        }
        p->own = bytes;
        p->data = bytes;
    }
    return FACET_OK;
}

static enum facet_status inflate(const uint8_t *file,
                                 struct facet_gfx12_capture_part *list,
                                 uint32_t count,
                                 struct facet_error *err)
{
    struct parts parts = {list, count, file};
    const struct facet_sandbox sandbox = {
        .what = "the capture's decoder",
        .memory_bytes = MEMORY_BYTES,
        .cpu_seconds = CPU_SECONDS,
        .job = decompress,
        .serve = receive,
        .context = &parts,
    };

    return facet_sandbox_run(&sandbox, err);
}
#else
static enum facet_status inflate(const uint8_t *file,
                                 struct facet_gfx12_capture_part *list,
                                 uint32_t count,
                                 struct facet_error *err)
{
    (void)file, (void)list, (void)count;
    return facet_fail(
        err,
        FACET_ERR_INPUT,
        0,
        "its chunks are compressed with zstd; this program was built without libzstd");
}
#endif

/* ---- the view ---- */

/* The file, and where it was compressed the structure whose bytes offsets count in. */
static char *name_of(const struct session_bvh *file, uint32_t number)
{
    const size_t room = strlen(file->name) + 16;
    char *name = malloc(room);

    if (name != NULL && file->driver.list[number].origin == FACET_GFX12_UNKNOWN) {
        snprintf(name, room, "%s[%u]", file->name, number);
    } else if (name != NULL) {
        snprintf(name, room, "%s", file->name);
    }
    return name;
}

static enum facet_status
take_view(struct session_bvh *file, struct facet_gfx12_capture *capture, struct facet_error *err)
{
    free(file->bytes.data);
    file->bytes = (struct facet_bytes){capture->bytes, (size_t)capture->size};
    file->segments = capture->segments;
    file->driver = capture->structures;
    file->view.bytes = file->bytes.data;
    file->view.size = file->bytes.size;
    file->view.segments = file->segments;
    file->view.segment_count = file->driver.count;
    for (uint32_t i = 0; i < file->driver.count; i++) {
        char *name = name_of(file, i);

        if (name == NULL) {
            return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the names");
        }
        file->segments[file->driver.list[i].piece].name = name;
    }
    return FACET_OK;
}

bool session_capture_open(const struct cli_args *args, struct session_bvh *file)
{
    struct facet_gfx12_capture capture;
    struct facet_error err = {0};
    enum facet_status status =
        facet_gfx12_capture_open(file->bytes.data, file->bytes.size, inflate, &capture, &err);

    if (status == FACET_OK) {
        status = take_view(file, &capture, &err);
    }
    if (status != FACET_OK) {
        facet_fail_in(&err, file->name);
        (void)cli_bad_error(args, &err);
        return false;
    }
    if (file->driver.left_out != 0 && !args->quiet) {
        fprintf(stderr,
                "facet %s: %s: %u structure%s left out: at addresses of others before them\n",
                args->command->name,
                file->name,
                file->driver.left_out,
                cli_s(file->driver.left_out));
    }
    return true;
}
