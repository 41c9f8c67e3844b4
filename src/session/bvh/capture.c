/* Captures of the Radeon Raytracing Analyzer (.rra): the structures in them as the pieces of one
 * view. What is compressed is decompressed by libzstd in a confined process. */
#include "session/bvh/driver.h"
#include "session/bvh/file.h"

#include "base/bits.h"
#include "base/incoming.h"
#include "confine/sandbox.h"
#include "gfx12/drivers/radv_capture.h"
#include "gfx12/drivers/rdf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER 128 /* of a structure; nodes count from its first byte */
#define RTIP_LEVEL 72

/* A chunk with a structure. */
struct part {
    struct facet_gfx12_rdf_chunk chunk;
    struct facet_gfx12_rdf_structure structure;
    uint32_t number;     /* among the structures of the file */
    const uint8_t *data; /* not compressed */
    uint8_t *own;        /* the same where it was */
    uint64_t address;    /* of the header */
    uint64_t bytes;      /* of header and nodes in the view */
};

struct parts {
    struct part *list;
    uint32_t count;
    const uint8_t *file;
};

/* ---- decompression ---- */

#ifdef FACET_ZSTD
#include <zstd.h>

/* A window of 2^27 bytes is the most that a decoder takes by itself. */
#define MEMORY_BYTES (UINT64_C(1) << 30)
#define CPU_SECONDS 600U

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

static void send_failure(const struct part *p, struct facet_channel *to)
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
        const struct part *p = &parts->list[i];

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
        struct part *p = &parts->list[i];
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

static enum facet_status open_confined(struct parts *parts, struct facet_error *err)
{
    const struct facet_sandbox sandbox = {
        .what = "the capture's decoder",
        .memory_bytes = MEMORY_BYTES,
        .cpu_seconds = CPU_SECONDS,
        .job = decompress,
        .serve = receive,
        .context = parts,
    };

    return facet_sandbox_run(&sandbox, err);
}
#else
static enum facet_status open_confined(struct parts *parts, struct facet_error *err)
{
    (void)parts;
    return facet_fail(
        err,
        FACET_ERR_INPUT,
        0,
        "its chunks are compressed with zstd; this program was built without libzstd");
}
#endif

static enum facet_status open_all(struct parts *parts, struct facet_error *err)
{
    bool any = false;

    for (uint32_t i = 0; i < parts->count; i++) {
        parts->list[i].data = parts->file + parts->list[i].chunk.data;
        any = any || parts->list[i].chunk.compressed;
    }
    return any ? open_confined(parts, err) : FACET_OK;
}

/* ---- chunks ---- */

static enum facet_status list_parts(const struct facet_bytes *file,
                                    uint64_t limit,
                                    struct parts *parts,
                                    struct facet_error *err)
{
    uint64_t chunks = 0, total = 0;
    enum facet_status status = facet_gfx12_rdf_open(file->data, file->size, &chunks, err);

    if (status != FACET_OK) {
        return status;
    }
    parts->file = file->data;
    parts->list = calloc(chunks != 0 ? (size_t)chunks : 1, sizeof *parts->list);
    if (parts->list == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the index");
    }
    for (uint64_t i = 0; i < chunks && status == FACET_OK; i++) {
        struct part *p = &parts->list[parts->count];

        status = facet_gfx12_rdf_chunk(file->data, file->size, i, &p->chunk, err);
        if (status != FACET_OK || !facet_gfx12_rdf_is_structure(&p->chunk)) {
            continue;
        }
        status = facet_gfx12_rdf_structure(file->data, &p->chunk, &p->structure, err);
        if (status == FACET_OK && p->chunk.full_bytes > limit - total) {
            status =
                facet_fail(err,
                           FACET_ERR_LIMIT,
                           p->chunk.data,
                           "structures of more than %llu bytes, far more than this file can hold",
                           (unsigned long long)limit);
        }
        total += p->chunk.full_bytes;
        p->number = parts->count++;
    }
    if (status == FACET_OK && parts->count == 0) {
        status = facet_fail(err,
                            FACET_ERR_INPUT,
                            0,
                            "an RDF container of something else: none of its %llu chunks is a "
                            "RawAccelStruct",
                            (unsigned long long)chunks);
    }
    return status;
}

/* Only GFX12's; the address of the header is what pointers of instances hold. */
static enum facet_status check_part(struct part *p, struct facet_error *err)
{
    const uint8_t *header = p->data + p->structure.header;
    const uint32_t level = facet_load_le32(header + RTIP_LEVEL);
    const uint64_t behind = p->structure.header + p->structure.header_bytes;

    if (!facet_gfx12_rtip_is_3_1(level)) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          p->chunk.data,
                          "structure %u is for %s (level %u); expected RTIP 3.1, which GFX12 is",
                          p->number,
                          facet_gfx12_rtip_name(level),
                          level);
    }
    p->address = (p->structure.address + p->structure.header) & facet_bits_mask(48);
    p->bytes = HEADER + (p->chunk.full_bytes - behind);
    if (p->address % FACET_GFX12_UNIT_BYTES != 0 || p->bytes > (UINT64_C(1) << 48) - p->address) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          p->chunk.header,
                          "structure %u lies at address 0x%llx; expected a multiple of 64",
                          p->number,
                          (unsigned long long)p->address);
    }
    return FACET_OK;
}

/* ---- the view ---- */

static int by_address(const void *a, const void *b)
{
    const struct part *x = a, *y = b;

    if (x->address != y->address) {
        return x->address < y->address ? -1 : 1;
    }
    return x->number < y->number ? -1 : x->number > y->number;
}

/* A structure that was built again during the capture is there twice; the first stays. */
static uint32_t drop_overlapping(struct parts *parts)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < parts->count; i++) {
        const struct part *before = kept != 0 ? &parts->list[kept - 1] : NULL;

        if (before != NULL && parts->list[i].address - before->address < before->bytes) {
            free(parts->list[i].own);
        } else {
            parts->list[kept++] = parts->list[i];
        }
    }
    return kept;
}

static uint64_t whole_units(uint64_t size)
{
    return (size + FACET_GFX12_UNIT_BYTES - 1) / FACET_GFX12_UNIT_BYTES * FACET_GFX12_UNIT_BYTES;
}

/* The header with 128 bytes, which RADV writes without the last eight, then the nodes. */
static void copy_part(const struct part *p, uint8_t *to)
{
    const uint64_t behind = p->structure.header + p->structure.header_bytes;

    memcpy(to, p->data + p->structure.header, (size_t)p->structure.header_bytes);
    memcpy(to + HEADER, p->data + behind, (size_t)(p->bytes - HEADER));
}

static bool add_structure(struct session_bvh *file, const struct part *p, uint32_t i)
{
    const struct facet_gfx12_segment *s = &file->segments[i];
    struct facet_gfx12_piece *piece = &file->driver.pieces[i];
    char reason[FACET_GFX12_REASON];

    (void)facet_gfx12_header_read(
        FACET_GFX12_DRIVER_GPURT, file->bytes.data + s->offset, s->size, &piece->structure, reason);
    /* The header lies apart from its metadata, whose size its own counts include. */
    piece->structure.size = 0;
    piece->structure.top = !p->structure.bottom;
    piece->at = s->offset;
    piece->bytes = s->size;
    piece->address = s->address;
    file->driver.list[p->number] = (struct session_structure){
        i, p->chunk.compressed ? FACET_GFX12_UNKNOWN : p->chunk.data + p->structure.header};
    return piece->structure.fields != NULL;
}

/* The file, and where it was compressed the chunk whose bytes offsets count in. */
static char *name_of(const struct session_bvh *file, const struct part *p)
{
    const size_t room = strlen(file->name) + 16;
    char *name = malloc(room);

    if (name != NULL) {
        if (p->chunk.compressed) {
            snprintf(name, room, "%s[%u]", file->name, p->number);
        } else {
            snprintf(name, room, "%s", file->name);
        }
    }
    return name;
}

static bool make_view(struct session_bvh *file, struct parts *parts)
{
    struct session_driver *d = &file->driver;
    struct facet_bytes bytes = {NULL, 0};
    uint64_t size = 0;

    for (uint32_t i = 0; i < parts->count; i++) {
        size = whole_units(size) + parts->list[i].bytes;
    }
    bytes.data = calloc(1, (size_t)size + 1);
    file->segments = calloc(parts->count, sizeof *file->segments);
    d->pieces = calloc(parts->count, sizeof *d->pieces);
    d->list = calloc(parts->count, sizeof *d->list);
    if (bytes.data == NULL || file->segments == NULL || d->pieces == NULL || d->list == NULL) {
        free(bytes.data);
        return false;
    }
    for (uint32_t i = 0; i < parts->count; i++) {
        const struct part *p = &parts->list[i];
        char *name = name_of(file, p);

        bytes.size = whole_units(bytes.size);
        copy_part(p, bytes.data + bytes.size);
        file->segments[i] = (struct facet_gfx12_segment){
            .address = p->address,
            .offset = bytes.size,
            .size = p->bytes,
            .name = name,
            .file_offset = p->chunk.compressed ? 0
                                               : p->chunk.data + p->structure.header +
                                                     p->structure.header_bytes - HEADER,
        };
        bytes.size += p->bytes;
        file->view.segment_count = i + 1;
        if (name == NULL) {
            free(bytes.data);
            return false;
        }
    }
    free(file->bytes.data);
    file->bytes = bytes;
    file->view.bytes = bytes.data;
    file->view.size = bytes.size;
    file->view.segments = file->segments;
    d->count = parts->count;
    d->capture = true;
    return true;
}

/* What RADV recorded, as GPURT would have; the bytes of the file are kept for the dump. */
static bool translate(struct session_bvh *file, const struct parts *parts)
{
    struct session_driver *d = &file->driver;

    for (uint32_t i = 0; i < parts->count; i++) {
        if (parts->list[i].structure.header_bytes != FACET_GFX12_RADV_CAPTURE_HEADER) {
            continue;
        }
        if (!session_driver_keep(
                file, "instances name the root behind the header, as in captures of gpurt")) {
            return false;
        }
        facet_gfx12_radv_capture_translate(file->bytes.data, &d->pieces[i]);
    }
    return session_driver_clear(file);
}

static int by_number(const void *a, const void *b)
{
    const struct part *x = a, *y = b;

    return x->number < y->number ? -1 : x->number > y->number;
}

/* The numbers of the structures that stay, without gaps; then in the order of addresses. */
static void number_again(struct parts *parts)
{
    qsort(parts->list, parts->count, sizeof *parts->list, by_number);
    for (uint32_t i = 0; i < parts->count; i++) {
        parts->list[i].number = i;
    }
    qsort(parts->list, parts->count, sizeof *parts->list, by_address);
}

static enum facet_status
open_capture(struct session_bvh *file, struct parts *parts, struct facet_error *err)
{
    /* No real structure shrinks that much; a small file must not fill the memory. */
    const uint64_t limit = 256 * (uint64_t)file->bytes.size + (UINT64_C(64) << 20);
    enum facet_status status = list_parts(&file->bytes, limit, parts, err);
    uint32_t kept;

    if (status == FACET_OK) {
        status = open_all(parts, err);
    }
    for (uint32_t i = 0; i < parts->count && status == FACET_OK; i++) {
        status = check_part(&parts->list[i], err);
    }
    if (status != FACET_OK) {
        return status;
    }
    qsort(parts->list, parts->count, sizeof *parts->list, by_address);
    kept = drop_overlapping(parts);
    file->driver.left_out = parts->count - kept;
    parts->count = kept;
    if (file->driver.left_out != 0) {
        number_again(parts);
    }
    if (!make_view(file, parts)) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the structures");
    }
    for (uint32_t i = 0; i < parts->count; i++) {
        if (!add_structure(file, &parts->list[i], i)) {
            return facet_fail(err,
                              FACET_ERR_INPUT,
                              parts->list[i].chunk.data,
                              "structure %u has no header of RTIP 3.1",
                              parts->list[i].number);
        }
    }
    if (!translate(file, parts)) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the structures");
    }
    snprintf(file->driver.reason, sizeof file->driver.reason, "a capture (RDF container)");
    return FACET_OK;
}

bool session_capture_open(const struct cli_args *args, struct session_bvh *file)
{
    struct parts parts = {NULL, 0, NULL};
    struct facet_error err = {0};
    enum facet_status status = open_capture(file, &parts, &err);

    for (uint32_t i = 0; i < parts.count; i++) {
        free(parts.list[i].own);
    }
    free(parts.list);
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
