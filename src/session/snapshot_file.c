/* See snapshot_file.h. */
#include "session/snapshot_file.h"

#include "base/hash.h"
#include "base/strbuf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    VERSION_NOW = 1,
    VERSION_LATE = 2,
    HEADER_BYTES = 52,
    SEED_BYTES = 8,
    TEXT_LIMIT = 1 << 20,
    NO_SEMIHOSTING = 1,
};

static const char magic[8] = "FACETRUN";
static const char bare_magic[8] = "FACETSNP"; /* machine/snapshot.c */

/* ---- writing ----------------------------------------------------------------------------------
 */

static void put(struct facet_strbuf *out, unsigned size, uint64_t value)
{
    char bytes[8];

    facet_store_le(bytes, size, value);
    facet_strbuf_add(out, bytes, size);
}

static uint64_t either(uint64_t value, uint64_t fallback)
{
    return value != 0 ? value : fallback;
}

static void put_header(struct facet_strbuf *out, const struct facet_xphmg_config *c, size_t state)
{
    const char *configuration = c->configuration != NULL ? c->configuration : "full";
    const char *line = c->command_line != NULL ? c->command_line : "";

    facet_strbuf_add(out, magic, sizeof magic);
    put(out, 4, c->jobs == FACET_XPHMG_JOBS_LATE ? VERSION_LATE : VERSION_NOW);
    put(out, 4, either(c->harts, 1));
    put(out, 8, either(c->ram_bytes, FACET_XPHMG_RAM_BYTES));
    put(out, 4, either(c->quantum, FACET_XPHMG_QUANTUM));
    put(out, 4, either(c->instructions_per_tick, FACET_XPHMG_INSTRUCTIONS_PER_TICK));
    put(out, 4, c->no_semihosting ? NO_SEMIHOSTING : 0);
    put(out, 4, strlen(configuration));
    put(out, 4, strlen(line));
    put(out, 8, state);
    if (c->jobs == FACET_XPHMG_JOBS_LATE) {
        put(out, SEED_BYTES, c->jobs_seed);
    }
    facet_strbuf_puts(out, configuration);
    facet_strbuf_puts(out, line);
    if (!out->failed) {
        put(out, 8, facet_hash_bytes(out->text, out->length, 0));
    }
}

enum facet_status session_snapshot_write(const char *path,
                                         const struct facet_xphmg_config *config,
                                         const facet_machine *machine,
                                         struct facet_error *err)
{
    struct facet_strbuf out;
    struct facet_blob state;
    enum facet_status status = facet_machine_snapshot(machine, &state, err);

    if (status != FACET_OK) {
        return status;
    }
    facet_strbuf_init(&out);
    put_header(&out, config, state.size);
    facet_strbuf_add(&out, state.data, state.size);
    facet_blob_free(&state);
    status = out.failed ? facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a snapshot")
                        : facet_file_write(path, out.text, out.length, err);
    facet_strbuf_free(&out);
    return status;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static enum facet_status bad(struct facet_error *err, size_t at, const char *what)
{
    return facet_fail(err, FACET_ERR_INPUT, at, "offset %zu: %s", at, what);
}

static char *copy_text(const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1);

    if (text != NULL) {
        memcpy(text, bytes, size);
        text[size] = '\0';
    }
    return text;
}

enum facet_status session_snapshot_parse(const void *data,
                                         size_t size,
                                         struct session_snapshot *out,
                                         struct facet_error *err)
{
    const uint8_t *b = data;
    size_t configuration, line, at, header = HEADER_BYTES;
    bool late;

    memset(out, 0, sizeof *out);
    if (size >= sizeof bare_magic && memcmp(b, bare_magic, sizeof bare_magic) == 0) {
        out->bare = true;
        out->state = b;
        out->state_size = size;
        return FACET_OK;
    }
    if (size < HEADER_BYTES) {
        return bad(err, size, "ends inside the header of a snapshot");
    }
    if (memcmp(b, magic, sizeof magic) != 0) {
        return bad(err, 0, "not a file of facet snapshot, expected \"FACETRUN\"");
    }
    late = facet_load_le32(b + 8) == VERSION_LATE;
    if (!late && facet_load_le32(b + 8) != VERSION_NOW) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          8,
                          "offset 8: version %" PRIu32 ", expected %d or %d",
                          facet_load_le32(b + 8),
                          VERSION_NOW,
                          VERSION_LATE);
    }
    header += late ? SEED_BYTES : 0;
    if (size < header) {
        return bad(err, size, "ends inside the header of a snapshot");
    }
    configuration = facet_load_le32(b + 36);
    line = facet_load_le32(b + 40);
    if (configuration > TEXT_LIMIT || line > TEXT_LIMIT ||
        size - header < configuration + line + 8) {
        return bad(err, 36, "texts that are longer than the file");
    }
    at = header + configuration + line;
    if (facet_load_le64(b + at) != facet_hash_bytes(b, at, 0)) {
        return bad(err, at, "the checksum of the header is wrong");
    }
    out->state = b + at + 8;
    out->state_size = size - at - 8;
    if (facet_load_le64(b + 44) != out->state_size) {
        return bad(err, 44, "the size of the state differs from the header");
    }
    out->configuration = copy_text(b + header, configuration);
    out->command_line = copy_text(b + header + configuration, line);
    if (out->configuration == NULL || out->command_line == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a snapshot");
    }
    out->config =
        (struct facet_xphmg_config){.harts = facet_load_le32(b + 12),
                                    .ram_bytes = facet_load_le64(b + 16),
                                    .quantum = facet_load_le32(b + 24),
                                    .instructions_per_tick = facet_load_le32(b + 28),
                                    .no_semihosting = (b[32] & NO_SEMIHOSTING) != 0,
                                    .jobs = late ? FACET_XPHMG_JOBS_LATE : FACET_XPHMG_JOBS_NOW,
                                    .jobs_seed = late ? facet_load_le64(b + HEADER_BYTES) : 0,
                                    .configuration = out->configuration,
                                    .command_line = out->command_line};
    return FACET_OK;
}

void session_snapshot_free(struct session_snapshot *file)
{
    free(file->configuration);
    free(file->command_line);
    file->configuration = file->command_line = NULL;
}

enum facet_status session_snapshot_resume(struct session_snapshot *file,
                                          const struct facet_xphmg_config *here,
                                          facet_machine **out,
                                          struct facet_error *err)
{
    struct facet_xphmg_config config = file->bare ? *here : file->config;
    enum facet_status status;

    config.host = here->host;
    config.plain = here->plain;
    config.host_code = here->host_code;
    config.job_threads = here->job_threads;
    status = facet_xphmg_create(&config, out, err);
    if (status == FACET_OK) {
        status = facet_machine_restore(*out, file->state, file->state_size, err);
        if (status != FACET_OK) {
            facet_machine_destroy(*out);
            *out = NULL;
        }
    }
    return status;
}
