/* See list.h. VRAM is handed out from its start: buffers in the order of the file, then the
 * descriptors that commands bring along, completion slots and the ring. */
#include "tile_list/reader.h"

#include "base/array.h"
#include "base/bits.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOT_BYTES = 1024 }; /* of the completion slots */

/* ---- complaints ---- */

bool facet_tile_list_complain(void *context, const char *where, const char *expected)
{
    const struct facet_tile_list_reader *p = context;

    (void)facet_fail(
        p->err, FACET_ERR_INPUT, p->index, "%s: %s: expected %s", p->name, where, expected);
    return false;
}

bool facet_tile_list_no_memory(const struct facet_tile_list_reader *p)
{
    (void)facet_fail(p->err, FACET_ERR_MEMORY, 0, "%s: out of memory", p->name);
    return false;
}

bool facet_tile_list_known(struct facet_tile_list_reader *p,
                           const json_t *object,
                           const char *where,
                           const char *names)
{
    const char *key;
    json_t *value;

    if (!json_is_object(object)) {
        return facet_tile_list_complain(p, where, "an object");
    }
    json_object_foreach((json_t *)object, key, value)
    {
        const char *at = names;
        size_t length = strlen(key);
        bool found = false;

        while (*at != '\0' && !found) {
            size_t end = strcspn(at, " ");

            found = end == length && strncmp(at, key, length) == 0;
            at += end + (at[end] == ' ');
        }
        if (!found) {
            char path[FACET_TILE_LIST_PLACE], text[FACET_TILE_LIST_PLACE];

            (void)snprintf(path, sizeof path, "%.120s.%.60s", where, key);
            (void)snprintf(text, sizeof text, "one of the members: %s", names);
            return facet_tile_list_complain(p, path, text);
        }
    }
    return true;
}

/* ---- VRAM ---- */

bool facet_tile_list_reserve(struct facet_tile_list_reader *p,
                             const char *where,
                             uint64_t size,
                             uint32_t align,
                             uint32_t *out)
{
    uint64_t at = (p->next + align - 1) / align * align;

    if (at + size > p->plan->config.vram) {
        char text[FACET_TILE_LIST_PLACE];

        (void)snprintf(text,
                       sizeof text,
                       "less: %llu bytes do not fit any more into %u bytes of VRAM (machine.vram)",
                       (unsigned long long)size,
                       (unsigned)p->plan->config.vram);
        return facet_tile_list_complain(p, where, text);
    }
    *out = FACET_TILE_VRAM_BASE + (uint32_t)at;
    p->next = at + size;
    return true;
}

bool facet_tile_list_add_piece(struct facet_tile_list_reader *p,
                               uint32_t address,
                               uint8_t *bytes,
                               size_t size)
{
    struct facet_tile_list *plan = p->plan;

    if (!facet_array_fit(
            &plan->pieces, &p->piece_room, plan->piece_count + 1, sizeof *plan->pieces)) {
        free(bytes);
        return facet_tile_list_no_memory(p);
    }
    plan->pieces[plan->piece_count++] = (struct facet_tile_list_piece){address, size, bytes};
    return true;
}

bool facet_tile_list_add_words(struct facet_tile_list_reader *p,
                               const char *where,
                               const uint32_t *words,
                               uint32_t count,
                               uint32_t align,
                               uint32_t *address)
{
    uint8_t *bytes;

    if (!facet_tile_list_reserve(p, where, 4 * (uint64_t)count, align, address)) {
        return false;
    }
    bytes = malloc(4 * (size_t)count + 1);
    if (bytes == NULL) {
        return facet_tile_list_no_memory(p);
    }
    for (uint32_t i = 0; i < count; i++) {
        facet_store_le32(bytes + 4 * (size_t)i, words[i]);
    }
    return facet_tile_list_add_piece(p, *address, bytes, 4 * (size_t)count);
}

bool facet_tile_list_address(void *context, const json_t *value, const char *where, uint32_t *out)
{
    struct facet_tile_list_reader *p = context;
    const char *text = json_string_value(value);
    size_t length = text != NULL ? strcspn(text, "+") : 0;

    if (facet_tile_list_word(value, out)) {
        return true;
    }
    for (size_t i = 0; text != NULL && i < p->buffer_count; i++) {
        uint32_t offset = 0;
        json_t *tail = NULL;
        bool good;

        if (strncmp(p->buffers[i].name, text, length) != 0 || p->buffers[i].name[length] != '\0') {
            continue;
        }
        if (text[length] == '+') {
            tail = json_string(text + length + 1);
        }
        good = text[length] == '\0' || (tail != NULL && facet_tile_list_word(tail, &offset));
        json_decref(tail);
        *out = p->buffers[i].address + offset;
        return good || facet_tile_list_complain(p, where, "a number after the +");
    }
    return facet_tile_list_complain(
        p, where, "an address, or the name of a buffer above with or without +OFFSET");
}

/* ---- frame, machine ---- */

static bool read_machine(struct facet_tile_list_reader *p, const json_t *object)
{
    struct facet_tile_config *c = &p->plan->config;
    const json_t *vram = json_object_get(object, "vram"),
                 *wdog = json_object_get(object, "watchdog");

    c->vram = UINT32_C(16) << 20;
    if (object == NULL) {
        return true;
    }
    if (!facet_tile_list_known(p, object, "machine", "vram watchdog")) {
        return false;
    }
    if (vram != NULL && (!facet_tile_list_word(vram, &c->vram) || c->vram % 4096 != 0 ||
                         c->vram < 65536 || c->vram > FACET_TILE_VRAM_MAX)) {
        return facet_tile_list_complain(
            p, "machine.vram", "a multiple of 4096 from 65536 to 256 MiB");
    }
    if (wdog != NULL && (!facet_tile_list_word(wdog, &c->watchdog) || c->watchdog == 0)) {
        return facet_tile_list_complain(p, "machine.watchdog", "a number of rounds, at least 1");
    }
    return true;
}

static bool read_frame(struct facet_tile_list_reader *p, const json_t *object)
{
    struct facet_tile_list *plan = p->plan;
    const char *format = json_string_value(json_object_get(object, "format"));
    const json_t *stride = json_object_get(object, "stride");
    uint32_t bytes;
    uint64_t end;

    if (object == NULL) {
        return facet_tile_list_complain(
            p, "frame", "an object that says which buffer becomes the picture");
    }
    if (!facet_tile_list_known(p, object, "frame", "base width height stride format") ||
        !facet_tile_list_address(
            p, json_object_get(object, "base"), "frame.base", &plan->frame.address)) {
        return false;
    }
    if (!facet_tile_list_word(json_object_get(object, "width"), &plan->frame.width) ||
        plan->frame.width - 1 >= 8192) {
        return facet_tile_list_complain(p, "frame.width", "a number from 1 to 8192");
    }
    if (!facet_tile_list_word(json_object_get(object, "height"), &plan->frame.height) ||
        plan->frame.height - 1 >= 8192) {
        return facet_tile_list_complain(p, "frame.height", "a number from 1 to 8192");
    }
    plan->frame.format =
        format != NULL && strcmp(format, "RGB565") == 0 ? FACET_TILE_RGB565 : FACET_TILE_ARGB8888;
    if (json_object_get(object, "format") != NULL && plan->frame.format != FACET_TILE_RGB565 &&
        (format == NULL || strcmp(format, "ARGB8888") != 0)) {
        return facet_tile_list_complain(p, "frame.format", "one of: RGB565 ARGB8888");
    }
    bytes = plan->frame.format == FACET_TILE_RGB565 ? 2 : 4;
    plan->frame.stride = bytes * plan->frame.width;
    if (stride != NULL && (!facet_tile_list_word(stride, &plan->frame.stride) ||
                           plan->frame.stride < bytes * plan->frame.width)) {
        return facet_tile_list_complain(p, "frame.stride", "at least the bytes of one row");
    }
    end = plan->frame.address - FACET_TILE_VRAM_BASE +
          (uint64_t)plan->frame.stride * (plan->frame.height - 1) + bytes * plan->frame.width;
    if (plan->frame.address < FACET_TILE_VRAM_BASE || end > plan->config.vram) {
        return facet_tile_list_complain(p, "frame", "a picture that lies in VRAM");
    }
    return true;
}

/* "observe": names of buffers, and what the host sees of the queue and the cores. */
static bool read_observed(struct facet_tile_list_reader *p, const json_t *list)
{
    static const char *const names[] = {"status", "answers", "cores", "slots"};
    struct facet_tile_list *plan = p->plan;
    size_t count = json_array_size(list);

    if (list != NULL && !json_is_array(list)) {
        return facet_tile_list_complain(p, "observe", "a list");
    }
    plan->seen = calloc(count + 1, sizeof *plan->seen);
    if (plan->seen == NULL) {
        return facet_tile_list_no_memory(p);
    }
    for (; plan->seen_count < count; plan->seen_count++) {
        const char *text = json_string_value(json_array_get(list, plan->seen_count));
        struct facet_tile_list_seen *seen = &plan->seen[plan->seen_count];
        bool good = false;
        char path[FACET_TILE_LIST_PLACE];

        for (size_t i = 0; text != NULL && i < p->buffer_count && !good; i++) {
            good = strcmp(p->buffers[i].name, text) == 0;
            *seen = (struct facet_tile_list_seen){
                FACET_TILE_LIST_BYTES, p->buffers[i].address, (uint32_t)p->buffers[i].size};
        }
        for (unsigned i = 0; text != NULL && i < sizeof names / sizeof names[0] && !good; i++) {
            good = strcmp(names[i], text) == 0;
            *seen = (struct facet_tile_list_seen){
                (enum facet_tile_list_seen_kind)i, plan->slots, SLOT_BYTES};
        }
        if (!good) {
            (void)snprintf(path, sizeof path, "observe[%zu]", plan->seen_count);
            return facet_tile_list_complain(
                p, path, "the name of a buffer, or one of: status answers cores slots");
        }
    }
    return true;
}

/* ---- all of it ---- */

static bool read_plan(struct facet_tile_list_reader *p, const json_t *root)
{
    return facet_tile_list_known(p, root, "file", "machine buffers frame commands observe") &&
           read_machine(p, json_object_get(root, "machine")) &&
           facet_tile_list_read_buffers(p, json_object_get(root, "buffers")) &&
           read_frame(p, json_object_get(root, "frame")) &&
           facet_tile_list_read_commands(p, json_object_get(root, "commands")) &&
           facet_tile_list_reserve(p, "commands", SLOT_BYTES, 64, &p->plan->slots) &&
           facet_tile_list_reserve(p, "commands", FACET_TILE_LIST_RING_BYTES, 64, &p->plan->ring) &&
           read_observed(p, json_object_get(root, "observe")) &&
           facet_object_merge(p->kernels, p->kernel_count, &p->plan->program, p->err) == FACET_OK;
}

enum facet_status facet_tile_list_read(const char *name,
                                       const char *folder,
                                       const void *text,
                                       size_t size,
                                       struct facet_tile_list *plan,
                                       struct facet_error *err)
{
    struct facet_error inner = {0};
    struct facet_tile_list_reader p = {.name = name, .folder = folder, .plan = plan, .err = &inner};
    json_t *root = NULL;
    enum facet_status status;

    memset(plan, 0, sizeof *plan);
    p.host =
        (struct facet_tile_list_desc_host){&p, facet_tile_list_address, facet_tile_list_complain};
    status = facet_json_parse(name, text, size, &root, err);
    if (status != FACET_OK) {
        return status;
    }
    if (!read_plan(&p, root)) {
        facet_tile_list_free(plan);
        status = inner.status;
        if (err != NULL) {
            *err = inner;
        }
    }
    for (size_t i = 0; i < p.kernel_count; i++) {
        facet_object_free(p.kernels[i]);
    }
    free(p.kernels);
    free(p.buffers);
    json_decref(root);
    return status;
}

void facet_tile_list_free(struct facet_tile_list *plan)
{
    for (size_t i = 0; i < plan->piece_count; i++) {
        free(plan->pieces[i].bytes);
    }
    free(plan->pieces);
    free(plan->steps);
    free(plan->seen);
    facet_object_free(plan->program);
    memset(plan, 0, sizeof *plan);
}
