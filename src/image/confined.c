/* Picture files, decoded in a confined process (confine/sandbox.h): libpng, libjpeg and zlib see
 * bytes of strangers, so they run where a mistake of theirs reaches nothing. The child answers with
 * width, height and the pixels, or with zeros and an error. Both sides know the limits. */
#include "image/image.h"

#include "base/incoming.h"
#include "confine/sandbox.h"

#include <stdlib.h>
#include <string.h>

/* The largest picture file read: incompressible RGBA16 at the size limit would be larger, real
 * files are not. */
#define MAX_FILE_BYTES ((size_t)1 << 30)

/* The pixels, as much again for libjpeg's coefficients, and room for the decoder. */
#define MEMORY_BYTES (UINT64_C(3) << 30)

/* The largest picture takes a tenth of it. */
#define CPU_SECONDS 60U

struct picture_job {
    const uint8_t *data;
    size_t size;
    struct facet_image *out; /* the parent's */
};

static void decode(void *context, struct facet_channel *channel)
{
    const struct picture_job *job = context;
    struct facet_image image;
    struct facet_error err;
    uint32_t size[2] = {0, 0};

    memset(&err, 0, sizeof err);
    if (facet_image_decode(job->data, job->size, &image, &err) == FACET_OK) {
        size[0] = image.width;
        size[1] = image.height;
    }
    if (!facet_channel_write(channel, size, sizeof size)) {
        return;
    }
    if (size[0] == 0) {
        (void)facet_channel_send_error(channel, &err);
    } else {
        (void)facet_channel_write(channel, image.rgba, 4 * (size_t)size[0] * size[1]);
    }
}

static bool get_channel(void *context, void *to, size_t size)
{
    return facet_channel_read(context, to, size);
}

static enum facet_status
receive(void *context, struct facet_channel *channel, struct facet_error *err)
{
    struct facet_image *out = ((struct picture_job *)context)->out;
    uint32_t size[2] = {0, 0};
    enum facet_status status;
    void *pixels;

    if (!facet_channel_read(channel, size, sizeof size)) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "the picture's decoder stopped unexpectedly");
    }
    if (size[0] == 0 && size[1] == 0) {
        return facet_channel_take_error(channel, err);
    }
    status = facet_image_check_size(size[0], size[1], err);
    if (status != FACET_OK) {
        return status;
    }
    status = facet_incoming_array(get_channel, channel, 4 * (size_t)size[0] * size[1], &pixels);
    if (status != FACET_OK) {
        return facet_fail(err, status, 0, "no memory for a picture of %u x %u", size[0], size[1]);
    }
    *out = (struct facet_image){size[0], size[1], pixels};
    return FACET_OK;
}

enum facet_status facet_image_decode_confined(const uint8_t *data,
                                              size_t size,
                                              struct facet_image *out,
                                              struct facet_error *err)
{
    struct picture_job job = {data, size, out};
    const struct facet_sandbox sandbox = {
        .what = "the picture's decoder",
        .memory_bytes = MEMORY_BYTES,
        .cpu_seconds = CPU_SECONDS,
        .job = decode,
        .serve = receive,
        .context = &job,
    };

    memset(out, 0, sizeof *out);
    return facet_sandbox_run(&sandbox, err);
}

enum facet_status
facet_image_read(const char *path, struct facet_image *out, struct facet_error *err)
{
    struct facet_bytes bytes;
    enum facet_status status = facet_file_read(path, MAX_FILE_BYTES, &bytes, err);

    memset(out, 0, sizeof *out);
    if (status != FACET_OK) {
        return status;
    }
    status = facet_image_decode_confined(bytes.data, bytes.size, out, err);
    free(bytes.data);
    return status == FACET_OK ? FACET_OK : (facet_fail_in(err, path), status);
}
