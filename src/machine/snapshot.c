/* A machine's whole state as bytes.
 *
 *   "FACETSNP"  u32 version  u32 spaces  kind[32]  u64 steps  u64 state size
 *   the kind's state (machine/state.h)
 *   per space   name[32]  u64 size  memory snapshot (mem/snapshot.c)
 *   u64         hash of everything before it
 *
 * Restoring looks at everything before it changes anything: the frame and its hash, the memory
 * streams, then the kind's own load, which is all or nothing; the memory comes last and cannot fail
 * any more. */
#include "base/error.h"
#include "base/hash.h"
#include "machine/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 5
#define NAME_BYTES 32
#define HEADER_BYTES (8 + 4 + 4 + NAME_BYTES + 8 + 8)
#define SPACE_BYTES (NAME_BYTES + 8)
/* A snapshot grows by small pieces: without room at the start it would be copied many times. */
#define FIRST_BYTES 32768

static const char magic[8] = "FACETSNP";

/* ---- saving -----------------------------------------------------------------------------------
 */

static void put_number(struct facet_strbuf *out, unsigned size, uint64_t value)
{
    char bytes[8];

    facet_store_le(bytes, size, value);
    facet_strbuf_add(out, bytes, size);
}

static void put_name(struct facet_strbuf *out, const char *name)
{
    char bytes[NAME_BYTES] = {0};
    size_t length = strlen(name);

    memcpy(bytes, name, length < NAME_BYTES ? length : NAME_BYTES - 1);
    facet_strbuf_add(out, bytes, NAME_BYTES);
}

/* Overwrites a u64 that stands for a length not known before. */
static void patch_u64(struct facet_strbuf *out, size_t at, uint64_t value)
{
    if (!out->failed) {
        facet_store_le64(out->text + at, value);
    }
}

static enum facet_status
save_all(const facet_machine *machine, struct facet_strbuf *out, struct facet_error *err)
{
    struct facet_state_io io = facet_state_saver(out);
    uint32_t spaces = facet_machine_space_count(machine);
    enum facet_status status = FACET_OK;

    facet_strbuf_add(out, magic, sizeof magic);
    put_number(out, 4, VERSION);
    put_number(out, 4, spaces);
    put_name(out, machine->ops->name);
    put_number(out, 8, machine->steps);
    put_number(out, 8, 0);
    machine->ops->save(machine->self, &io);
    patch_u64(out, HEADER_BYTES - 8, out->length - HEADER_BYTES);
    for (uint32_t i = 0; i < spaces && status == FACET_OK; i++) {
        const char *name;
        const facet_mem *mem = machine->ops->space(machine->self, i, &name);
        size_t start;

        put_name(out, name);
        put_number(out, 8, 0);
        start = out->length;
        status = facet_mem_save(mem, out, err);
        patch_u64(out, start - 8, out->length - start);
    }
    if (status == FACET_OK && !out->failed) {
        put_number(out, 8, facet_hash_bytes(out->text, out->length, 0));
    }
    return out->failed ? facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a snapshot")
                       : status;
}

enum facet_status facet_machine_snapshot(const facet_machine *machine,
                                         struct facet_blob *out,
                                         struct facet_error *err)
{
    struct facet_strbuf buf;
    enum facet_status status;

    out->data = NULL;
    out->size = 0;
    facet_strbuf_init(&buf);
    (void)facet_strbuf_reserve(&buf, FIRST_BYTES);
    status = save_all(machine, &buf, err);
    if (status != FACET_OK) {
        facet_strbuf_free(&buf);
        return status;
    }
    out->data = buf.text;
    out->size = buf.length;
    return FACET_OK;
}

/* ---- restoring --------------------------------------------------------------------------------
 */

static enum facet_status bad(struct facet_error *err, size_t at, const char *what)
{
    return facet_fail(err, FACET_ERR_INPUT, at, "snapshot, offset %zu: %s", at, what);
}

static bool name_is(const uint8_t *bytes, const char *name)
{
    char wanted[NAME_BYTES] = {0};
    size_t length = strlen(name);

    memcpy(wanted, name, length < NAME_BYTES ? length : NAME_BYTES - 1);
    return memcmp(bytes, wanted, NAME_BYTES) == 0;
}

static enum facet_status check_header(const facet_machine *machine,
                                      const uint8_t *data,
                                      size_t size,
                                      struct facet_error *err)
{
    if (size < HEADER_BYTES + 8) {
        return bad(err, size, "ends inside the header");
    }
    if (memcmp(data, magic, sizeof magic) != 0) {
        return bad(err, 0, "not a snapshot, expected \"FACETSNP\"");
    }
    if (facet_load_le32(data + 8) != VERSION) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          8,
                          "snapshot, offset 8: version %" PRIu32 ", expected %d",
                          facet_load_le32(data + 8),
                          VERSION);
    }
    if (!name_is(data + 16, machine->ops->name)) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          16,
                          "snapshot, offset 16: of a different kind of machine, expected \"%s\"",
                          machine->ops->name);
    }
    if (facet_load_le32(data + 12) != facet_machine_space_count(machine)) {
        return bad(err, 12, "a different number of address spaces");
    }
    if (facet_load_le64(data + HEADER_BYTES - 8) > size - HEADER_BYTES - 8) {
        return bad(err, HEADER_BYTES - 8, "the state is longer than the snapshot");
    }
    if (facet_hash_bytes(data, size - 8, 0) != facet_load_le64(data + size - 8)) {
        return bad(err, size - 8, "the checksum is wrong");
    }
    return FACET_OK;
}

/* Walks the spaces from offset `at`; checks their memory streams, or takes them over, checked
 * before, when `apply` is set. `end` is the offset of the hash. */
static enum facet_status walk_spaces(const facet_machine *machine,
                                     const uint8_t *data,
                                     size_t at,
                                     size_t end,
                                     bool apply,
                                     struct facet_error *err)
{
    uint32_t spaces = facet_machine_space_count(machine);

    for (uint32_t i = 0; i < spaces; i++) {
        const char *name;
        facet_mem *mem = machine->ops->space(machine->self, i, &name);
        enum facet_status status;
        uint64_t size;

        if (end - at < SPACE_BYTES) {
            return bad(err, at, "ends inside an address space");
        }
        if (!name_is(data + at, name)) {
            return bad(err, at, "a different address space than expected");
        }
        size = facet_load_le64(data + at + NAME_BYTES);
        at += SPACE_BYTES;
        if (size > end - at) {
            return bad(err, at - 8, "the memory is longer than the snapshot");
        }
        if (apply) {
            facet_mem_apply(mem, data + at);
        } else if ((status = facet_mem_validate(mem, data + at, (size_t)size, err)) != FACET_OK) {
            if (err != NULL) {
                err->where += at;
            }
            (void)facet_fail_in(err, name);
            return status;
        }
        at += (size_t)size;
    }
    return at == end ? FACET_OK : bad(err, at, "bytes after the last address space");
}

enum facet_status facet_machine_restore(facet_machine *machine,
                                        const void *data,
                                        size_t size,
                                        struct facet_error *err)
{
    const uint8_t *bytes = data;
    enum facet_status status = check_header(machine, bytes, size, err);
    struct facet_state_io io;
    size_t state_size, spaces_at;

    if (status != FACET_OK) {
        return status;
    }
    state_size = (size_t)facet_load_le64(bytes + HEADER_BYTES - 8);
    spaces_at = HEADER_BYTES + state_size;
    status = walk_spaces(machine, bytes, spaces_at, size - 8, false, err);
    if (status != FACET_OK) {
        return status;
    }
    io = facet_state_loader(bytes + HEADER_BYTES, state_size, HEADER_BYTES, err);
    machine->ops->load(machine->self, &io);
    if (io.failed) {
        (void)facet_fail_in(err, "snapshot");
        return io.lacking ? FACET_ERR_MEMORY : FACET_ERR_INPUT;
    }
    status = walk_spaces(machine, bytes, spaces_at, size - 8, true, err);
    machine->steps = facet_load_le64(bytes + HEADER_BYTES - 16);
    machine->held = false;
    machine->changes.open = false;
    for (uint32_t i = 0; i < facet_machine_space_count(machine); i++) {
        if (machine->ops->memory_written != NULL) {
            machine->ops->memory_written(machine->self, i, 0, UINT64_MAX);
        }
    }
    return status;
}
