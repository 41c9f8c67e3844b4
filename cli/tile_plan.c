/* See tile_plan.h. VRAM is handed out from its start: buffers in the order of the file, then the
 * descriptors that commands bring along, completion slots and the ring. */
#include "cli/tile_plan.h"

#include "cli/tile_desc.h"

#include "base/bits.h"
#include "base/file.h"
#include "base/json.h"
#include "image/image.h"
#include "isa/assemble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 1 << 14, FILE_LIMIT = 256 << 20, PLACE = 200 };

struct named {
    const char *name; /* of the JSON value */
    uint32_t address;
    size_t size;
};

struct planner {
    const char *name, *folder;
    struct tile_plan *plan;
    struct facet_error *err;
    struct named *buffers;
    size_t buffer_count;
    uint64_t next; /* free VRAM from here, an offset */
    size_t piece_room;
    struct tile_desc_host host;
    uint32_t setup; /* address of the last RSETUP block, 0: none */
    uint32_t index; /* of the command being read */
};

/* ---- complaints ---- */

static bool complain(void *context, const char *where, const char *expected)
{
    const struct planner *p = context;

    (void)facet_fail(
        p->err, FACET_ERR_INPUT, p->index, "%s: %s: expected %s", p->name, where, expected);
    return false;
}

static bool no_memory(const struct planner *p)
{
    (void)facet_fail(p->err, FACET_ERR_MEMORY, 0, "%s: out of memory", p->name);
    return false;
}

/* Refuses members that nobody asks for. */
static bool known(struct planner *p, const json_t *object, const char *where, const char *names)
{
    const char *key;
    json_t *value;

    if (!json_is_object(object)) {
        return complain(p, where, "an object");
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
            char path[PLACE], text[PLACE];

            (void)snprintf(path, sizeof path, "%.120s.%.60s", where, key);
            (void)snprintf(text, sizeof text, "no such member, only: %s", names);
            return complain(p, path, text);
        }
    }
    return true;
}

/* ---- VRAM ---- */

static bool
reserve(struct planner *p, const char *where, uint64_t size, uint32_t align, uint32_t *out)
{
    uint64_t at = (p->next + align - 1) / align * align;

    if (at + size > p->plan->config.vram) {
        char text[PLACE];

        (void)snprintf(text,
                       sizeof text,
                       "less: %llu bytes do not fit any more into %u bytes of VRAM (machine.vram)",
                       (unsigned long long)size,
                       (unsigned)p->plan->config.vram);
        return complain(p, where, text);
    }
    *out = FACET_TILE_VRAM_BASE + (uint32_t)at;
    p->next = at + size;
    return true;
}

/* Takes `bytes`, also on failure. */
static bool add_piece(struct planner *p, uint32_t address, uint8_t *bytes, size_t size)
{
    struct tile_plan *plan = p->plan;

    if (plan->piece_count == p->piece_room) {
        size_t room = p->piece_room != 0 ? 2 * p->piece_room : 64;
        struct tile_piece *more = realloc(plan->pieces, room * sizeof *more);

        if (more == NULL) {
            free(bytes);
            return no_memory(p);
        }
        plan->pieces = more;
        p->piece_room = room;
    }
    plan->pieces[plan->piece_count++] = (struct tile_piece){address, size, bytes};
    return true;
}

static bool add_words(struct planner *p,
                      const char *where,
                      const uint32_t *words,
                      uint32_t count,
                      uint32_t align,
                      uint32_t *address)
{
    uint8_t *bytes;

    if (!reserve(p, where, 4 * (uint64_t)count, align, address)) {
        return false;
    }
    bytes = malloc(4 * (size_t)count + 1);
    if (bytes == NULL) {
        return no_memory(p);
    }
    for (uint32_t i = 0; i < count; i++) {
        facet_store_le32(bytes + 4 * (size_t)i, words[i]);
    }
    return add_piece(p, *address, bytes, 4 * (size_t)count);
}

/* "name", "name+0x40", a number. */
static bool read_address(void *context, const json_t *value, const char *where, uint32_t *out)
{
    struct planner *p = context;
    const char *text = json_string_value(value);
    size_t length = text != NULL ? strcspn(text, "+") : 0;

    if (tile_json_word(value, out)) {
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
        good = text[length] == '\0' || (tail != NULL && tile_json_word(tail, &offset));
        json_decref(tail);
        *out = p->buffers[i].address + offset;
        return good || complain(p, where, "a number behind the +");
    }
    return complain(p, where, "an address, or the name of a buffer above with or without +OFFSET");
}

/* ---- buffers ---- */

/* Elements of an array as little-endian numbers. */
static bool read_numbers(struct planner *p,
                         const json_t *list,
                         const char *where,
                         const char *type,
                         struct facet_bytes *out)
{
    size_t count = json_array_size(list), size = strcmp(type, "u8") == 0 ? 1
                                                 : type[1] == '1'        ? 2
                                                                         : 4;

    if (!json_is_array(list)) {
        return complain(p, where, "a list of numbers");
    }
    out->size = count * size;
    out->data = calloc(out->size + 1, 1);
    if (out->data == NULL) {
        return no_memory(p);
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        uint32_t word = 0;
        bool good = type[0] == 'f' ? tile_json_float(item, &word) : tile_json_color(item, &word);
        char path[PLACE];

        (void)snprintf(path, sizeof path, "%.150s[%zu]", where, i);
        if (!good && strcmp(type, "u32") == 0 && json_is_string(item)) {
            if (!read_address(p, item, path, &word)) {
                return false;
            }
            good = true;
        }

        good = good && (size == 4 || word < UINT32_C(1) << (8 * size));
        if (!good) {
            return complain(
                p, path, type[0] == 'f' ? "a number" : "a number that fits, or a colour");
        }
        for (size_t k = 0; k < size; k++) {
            out->data[i * size + k] = (uint8_t)(word >> (8 * k));
        }
    }
    return true;
}

/* One attribute of a vertex: `count` floats. */
static bool put_floats(struct planner *p,
                       const json_t *list,
                       const char *where,
                       size_t count,
                       uint32_t *words,
                       size_t *at)
{
    for (size_t i = 0; i < count; i++) {
        if (json_array_size(list) != count ||
            !tile_json_float(json_array_get(list, i), &words[*at])) {
            char text[64];

            (void)snprintf(text, sizeof text, "a list of %zu numbers", count);
            return complain(p, where, text);
        }
        ++*at;
    }
    return true;
}

/* The layout of section 17 step 2. */
static bool read_vertex(
    struct planner *p, const json_t *vertex, const char *where, uint32_t words[10], size_t *count)
{
    const json_t *position = json_object_get(vertex, "position");
    const json_t *normal = json_object_get(vertex, "normal"), *uv = json_object_get(vertex, "uv");
    const json_t *color = json_object_get(vertex, "color");

    *count = 0;
    if (!known(p, vertex, where, "position normal uv color")) {
        return false;
    }
    if (json_array_size(position) == 3) {
        if (!put_floats(p, position, where, 3, words, count)) {
            return false;
        }
        words[(*count)++] = 0x3F800000;
    } else if (!put_floats(p, position, where, 4, words, count)) {
        return false;
    }
    if ((normal != NULL && !put_floats(p, normal, where, 3, words, count)) ||
        (uv != NULL && !put_floats(p, uv, where, 2, words, count))) {
        return false;
    }
    if (color != NULL && !tile_json_color(color, &words[(*count)++])) {
        return complain(p, where, "a colour as \"color\"");
    }
    return true;
}

static bool
read_vertices(struct planner *p, const json_t *list, const char *where, struct facet_bytes *out)
{
    size_t count = json_array_size(list), stride = 0;

    if (!json_is_array(list) || count == 0) {
        return complain(p, where, "a list of vertices");
    }
    out->data = calloc(count * 40 + 1, 1);
    if (out->data == NULL) {
        return no_memory(p);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t words[10] = {0};
        char path[PLACE];
        size_t used;

        (void)snprintf(path, sizeof path, "%.150s[%zu]", where, i);
        if (!read_vertex(p, json_array_get(list, i), path, words, &used)) {
            return false;
        }
        stride = i == 0 ? used : stride;
        if (used != stride) {
            return complain(p, path, "the same attributes as the first vertex has");
        }
        for (size_t k = 0; k < used; k++) {
            facet_store_le32(out->data + out->size, words[k]);
            out->size += 4;
        }
    }
    return true;
}

static bool
read_whole_file(struct planner *p, const json_t *value, const char *where, struct facet_bytes *out)
{
    const char *name = json_string_value(value);
    struct facet_error inner = {0};
    char path[4096];

    if (name == NULL || p->folder == NULL) {
        return complain(p, where, name == NULL ? "the name of a file" : "no file here");
    }
    (void)snprintf(path,
                   sizeof path,
                   "%s%s%s",
                   name[0] == '/' ? "" : p->folder,
                   name[0] == '/' || p->folder[0] == '\0' ? "" : "/",
                   name);
    if (strcmp(name, "-") == 0 || facet_file_read(path, FILE_LIMIT, out, &inner) != FACET_OK) {
        (void)facet_fail(p->err, FACET_ERR_INPUT, 0, "%s: %s: %s", p->name, where, inner.message);
        return false;
    }
    return true;
}

static bool
read_picture(struct planner *p, const json_t *object, const char *where, struct facet_bytes *out)
{
    const char *format = json_string_value(json_object_get(object, "format"));
    bool small = format != NULL && strcmp(format, "RGB565") == 0;
    struct facet_bytes file = {0};
    struct facet_image image = {0};
    struct facet_error inner = {0};
    size_t pixels;

    if (json_object_get(object, "format") != NULL && !small &&
        (format == NULL || strcmp(format, "ARGB8888") != 0)) {
        return complain(p, where, "RGB565 or ARGB8888 as \"format\"");
    }
    if (!read_whole_file(p, json_object_get(object, "image"), where, &file)) {
        return false;
    }
    if (facet_image_decode(file.data, file.size, &image, &inner) != FACET_OK) {
        (void)facet_fail(p->err, FACET_ERR_INPUT, 0, "%s: %s: %s", p->name, where, inner.message);
        free(file.data);
        return false;
    }
    free(file.data);
    pixels = (size_t)image.width * image.height;
    out->size = (small ? 2 : 4) * pixels;
    out->data = malloc(out->size + 1);
    for (size_t i = 0; out->data != NULL && i < pixels; i++) {
        const uint8_t *c = image.rgba + 4 * i;

        if (small) {
            facet_store_le16(out->data + 2 * i,
                             (uint16_t)((c[0] >> 3) << 11 | (c[1] >> 2) << 5 | c[2] >> 3));
        } else {
            facet_store_le32(out->data + 4 * i,
                             (uint32_t)c[3] << 24 | (uint32_t)c[0] << 16 | (uint32_t)c[1] << 8 |
                                 c[2]);
        }
    }
    facet_image_free(&image);
    return out->data != NULL || no_memory(p);
}

/* A kernel, assembled for where it will lie. */
static bool read_code(struct planner *p,
                      const char *text,
                      size_t size,
                      const char *where,
                      uint32_t address,
                      struct facet_bytes *out)
{
    struct facet_asm_options options = {.isa = FACET_ISA_TILE, .has_base = true, .base = address};
    struct facet_asm_result result;
    struct facet_error inner = {0};
    uint64_t base = 0;
    bool good =
        facet_assemble(&options, text, size, &result, &inner) == FACET_OK &&
        facet_object_make_segments(result.object, &inner) == FACET_OK &&
        facet_object_flatten(result.object, &out->data, &out->size, &base, &inner) == FACET_OK;

    facet_asm_result_free(&result);
    if (good && base != address) {
        free(out->data);
        out->data = NULL;
        return complain(p, where, "a kernel that starts where its buffer does");
    }
    if (!good) {
        (void)facet_fail(p->err, FACET_ERR_INPUT, 0, "%s: %s: %s", p->name, where, inner.message);
        out->data = NULL;
    }
    return good;
}

static bool read_assembly(struct planner *p,
                          const json_t *object,
                          const char *where,
                          uint32_t address,
                          struct facet_bytes *out)
{
    const json_t *lines = json_object_get(object, "code");
    struct facet_bytes text = {0};
    size_t size = 0;
    bool good = true;

    if (lines == NULL) {
        good = read_whole_file(p, json_object_get(object, "assembly"), where, &text);
    } else {
        for (size_t i = 0; i < json_array_size(lines); i++) {
            size += json_string_length(json_array_get(lines, i)) + 1;
            if (!json_is_string(json_array_get(lines, i))) {
                return complain(p, where, "a list of lines of assembly as \"code\"");
            }
        }
        text.data = json_is_array(lines) ? malloc(size + 1) : NULL;
        if (text.data == NULL) {
            return complain(p, where, "a list of lines of assembly as \"code\"");
        }
        for (size_t i = 0; i < json_array_size(lines); i++) {
            size_t length = json_string_length(json_array_get(lines, i));

            memcpy(text.data + text.size, json_string_value(json_array_get(lines, i)), length);
            text.data[text.size + length] = '\n';
            text.size += length + 1;
        }
    }
    good = good && read_code(p, (const char *)text.data, text.size, where, address, out);
    free(text.data);
    return good;
}

/* The one member that says what is in the buffer. */
static bool fill_buffer(struct planner *p,
                        const json_t *object,
                        const char *where,
                        uint32_t address,
                        struct facet_bytes *out)
{
    static const char *const sources[] = {
        "f32", "u32", "u16", "u8", "vertices", "file", "image", "assembly", "code"};
    const char *source = NULL;
    const json_t *value;
    char path[PLACE];

    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        if (json_object_get(object, sources[i]) != NULL) {
            if (source != NULL) {
                return complain(p, where, "one source of data, not two");
            }
            source = sources[i];
        }
    }
    if (source == NULL) {
        return json_object_get(object, "size") != NULL ||
               complain(p, where, "one of: size f32 u32 u16 u8 vertices file image assembly code");
    }
    value = json_object_get(object, source);
    (void)snprintf(path, sizeof path, "%.120s.%s", where, source);
    if (strcmp(source, "vertices") == 0) {
        return read_vertices(p, value, path, out);
    }
    if (strcmp(source, "file") == 0) {
        return read_whole_file(p, value, path, out);
    }
    if (strcmp(source, "image") == 0) {
        return read_picture(p, object, path, out);
    }
    if (source[0] == 'a' || source[0] == 'c') {
        return read_assembly(p, object, path, address, out);
    }
    return read_numbers(p, value, path, source, out);
}

/* "fill": the byte behind the data, up to "size". */
static bool fill_rest(struct planner *p,
                      const json_t *object,
                      const char *where,
                      uint32_t size,
                      struct facet_bytes *bytes)
{
    uint32_t byte = 0;
    uint8_t *more;

    if (!tile_json_word(json_object_get(object, "fill"), &byte) || byte > 255) {
        return complain(p, where, "a byte as \"fill\"");
    }
    if (bytes->size >= size || size > p->plan->config.vram) {
        return true;
    }
    more = realloc(bytes->data, (size_t)size + 1);
    if (more == NULL) {
        return no_memory(p);
    }
    memset(more + bytes->size, (int)byte, size - bytes->size);
    *bytes = (struct facet_bytes){more, size};
    return true;
}

static bool read_buffer(struct planner *p, const char *name, const json_t *object)
{
    struct facet_bytes bytes = {0};
    uint32_t size = 0, align = 64, address = 0;
    char where[PLACE];
    bool good;

    (void)snprintf(where, sizeof where, "buffers.%.80s", name);
    if (!known(p,
               object,
               where,
               "size fill align f32 u32 u16 u8 vertices file image format assembly code")) {
        return false;
    }
    if ((json_object_get(object, "size") != NULL &&
         !tile_json_word(json_object_get(object, "size"), &size)) ||
        (json_object_get(object, "align") != NULL &&
         !tile_json_word(json_object_get(object, "align"), &align)) ||
        align == 0 || (align & (align - 1)) != 0 || align > 65536) {
        return complain(p, where, "bytes as \"size\", a power of two up to 65536 as \"align\"");
    }
    if (!reserve(p, where, 0, align, &address)) {
        return false;
    }
    good = fill_buffer(p, object, where, address, &bytes);
    if (good && json_object_get(object, "fill") != NULL) {
        good = fill_rest(p, object, where, size, &bytes);
    }
    if (good && size != 0 && bytes.size > size) {
        good = complain(p, where, "a \"size\" that holds the data");
    }
    size = size != 0 ? size : (uint32_t)bytes.size;
    good = good && reserve(p, where, size, align, &address);
    if (!good || bytes.size == 0) {
        free(bytes.data);
    } else if (!add_piece(p, address, bytes.data, bytes.size)) {
        good = false;
    }
    p->buffers[p->buffer_count++] = (struct named){name, address, size};
    return good;
}

static bool read_buffers(struct planner *p, const json_t *buffers)
{
    const char *name;
    json_t *value;

    if (buffers == NULL) {
        return true;
    }
    if (!json_is_object(buffers)) {
        return complain(p, "buffers", "an object of named buffers");
    }
    p->buffers = calloc(json_object_size(buffers) + 1, sizeof *p->buffers);
    if (p->buffers == NULL) {
        return no_memory(p);
    }
    json_object_foreach((json_t *)buffers, name, value)
    {
        if (!read_buffer(p, name, value)) {
            return false;
        }
    }
    return true;
}

/* ---- frame, machine ---- */

static bool read_machine(struct planner *p, const json_t *object)
{
    struct facet_tile_config *c = &p->plan->config;
    const json_t *vram = json_object_get(object, "vram"),
                 *wdog = json_object_get(object, "watchdog");

    c->vram = UINT32_C(16) << 20;
    if (object == NULL) {
        return true;
    }
    if (!known(p, object, "machine", "vram watchdog")) {
        return false;
    }
    if (vram != NULL && (!tile_json_word(vram, &c->vram) || c->vram % 4096 != 0 ||
                         c->vram < 65536 || c->vram > FACET_TILE_VRAM_MAX)) {
        return complain(p, "machine.vram", "a multiple of 4096 from 65536 to 256 MiB");
    }
    if (wdog != NULL && (!tile_json_word(wdog, &c->watchdog) || c->watchdog == 0)) {
        return complain(p, "machine.watchdog", "a number of rounds from 1 on");
    }
    return true;
}

static bool read_frame(struct planner *p, const json_t *object)
{
    struct tile_plan *plan = p->plan;
    const char *format = json_string_value(json_object_get(object, "format"));
    const json_t *stride = json_object_get(object, "stride");
    uint32_t bytes;
    uint64_t end;

    if (object == NULL) {
        return complain(p, "frame", "an object that says which buffer becomes the picture");
    }
    if (!known(p, object, "frame", "base width height stride format") ||
        !read_address(p, json_object_get(object, "base"), "frame.base", &plan->frame.address)) {
        return false;
    }
    if (!tile_json_word(json_object_get(object, "width"), &plan->frame.width) ||
        plan->frame.width - 1 >= 8192) {
        return complain(p, "frame.width", "a number from 1 to 8192");
    }
    if (!tile_json_word(json_object_get(object, "height"), &plan->frame.height) ||
        plan->frame.height - 1 >= 8192) {
        return complain(p, "frame.height", "a number from 1 to 8192");
    }
    plan->frame.format =
        format != NULL && strcmp(format, "RGB565") == 0 ? FACET_TILE_RGB565 : FACET_TILE_ARGB8888;
    if (json_object_get(object, "format") != NULL && plan->frame.format != FACET_TILE_RGB565 &&
        (format == NULL || strcmp(format, "ARGB8888") != 0)) {
        return complain(p, "frame.format", "one of: RGB565 ARGB8888");
    }
    bytes = plan->frame.format == FACET_TILE_RGB565 ? 2 : 4;
    plan->frame.stride = bytes * plan->frame.width;
    if (stride != NULL && (!tile_json_word(stride, &plan->frame.stride) ||
                           plan->frame.stride < bytes * plan->frame.width)) {
        return complain(p, "frame.stride", "at least the bytes of one row");
    }
    end = plan->frame.address - FACET_TILE_VRAM_BASE +
          (uint64_t)plan->frame.stride * (plan->frame.height - 1) + bytes * plan->frame.width;
    if (plan->frame.address < FACET_TILE_VRAM_BASE || end > plan->config.vram) {
        return complain(p, "frame", "a picture that lies in VRAM");
    }
    return true;
}

/* ---- commands ---- */

enum { HOST_STEP = 0xFF }; /* what the host does beside the queue */

struct command_row {
    const char *name;
    uint8_t opcode;
    bool (*read)(struct planner *p,
                 const json_t *object,
                 const char *where,
                 struct tile_step *step);
    const char *members; /* beside command, flags, fence */
};

static bool word_member(struct planner *p,
                        const json_t *object,
                        const char *where,
                        const char *key,
                        uint32_t max,
                        uint32_t *out)
{
    const json_t *value = json_object_get(object, key);
    char path[PLACE], text[64];

    if (value == NULL) {
        return true;
    }
    if (!tile_json_word(value, out) || *out > max ||
        (max != UINT32_MAX && json_is_integer(value) && json_integer_value(value) < 0)) {
        (void)snprintf(path, sizeof path, "%.120s.%s", where, key);
        (void)snprintf(text, sizeof text, "a number from 0 to %u", (unsigned)max);
        return complain(p, path, text);
    }
    return true;
}

static bool address_member(
    struct planner *p, const json_t *object, const char *where, const char *key, uint32_t *out)
{
    char path[PLACE];

    (void)snprintf(path, sizeof path, "%.120s.%s", where, key);
    return read_address(p, json_object_get(object, key), path, out);
}

/* "descriptor": fields, placed in VRAM; or "address". */
static bool descriptor(struct planner *p,
                       const json_t *object,
                       const char *where,
                       enum tile_desc_kind kind,
                       uint32_t *address)
{
    const json_t *fields = json_object_get(object, "descriptor");
    uint32_t words[TILE_DESC_MAX_WORDS];
    char path[PLACE];

    if ((fields == NULL) == (json_object_get(object, "address") == NULL)) {
        return complain(p, where, "either \"descriptor\" or \"address\"");
    }
    if (fields == NULL) {
        return address_member(p, object, where, "address", address);
    }
    (void)snprintf(path, sizeof path, "%.120s.descriptor", where);
    return tile_desc_read(&p->host, kind, fields, path, words) &&
           add_words(p, path, words, tile_desc_words(kind), tile_desc_align(kind), address);
}

static bool
read_nothing(struct planner *p, const json_t *object, const char *where, struct tile_step *step)
{
    (void)p, (void)object, (void)where, (void)step;
    return true;
}

static bool
read_load(struct planner *p, const json_t *object, const char *where, struct tile_step *step)
{
    enum tile_desc_kind kind = step->command.opcode == FACET_TILE_CMD_LOAD_RSTATE ? TILE_DESC_RSTATE
                               : step->command.opcode == FACET_TILE_CMD_LOAD_GSTATE
                                   ? TILE_DESC_GSTATE
                                   : TILE_DESC_GPARAM;

    return word_member(p, object, where, "slot", UINT32_MAX, &step->command.arg[0]) &&
           descriptor(p, object, where, kind, &step->command.arg[1]);
}

static bool
read_sampler(struct planner *p, const json_t *object, const char *where, struct tile_step *step)
{
    return word_member(p, object, where, "index", UINT32_MAX, &step->command.arg[0]) &&
           descriptor(p, object, where, TILE_DESC_SAMPLER, &step->command.arg[1]);
}

/* Three vertices as a block in VRAM. */
static bool triangle(struct planner *p, const json_t *list, const char *where, uint32_t *address)
{
    uint32_t block[3 * 8];
    char path[PLACE];

    if (json_array_size(list) != 3) {
        (void)snprintf(path, sizeof path, "%.120s.triangle", where);
        return complain(p, path, "three vertices");
    }
    for (size_t i = 0; i < 3; i++) {
        uint32_t words[TILE_DESC_MAX_WORDS];

        (void)snprintf(path, sizeof path, "%.120s.triangle[%zu]", where, i);
        if (!tile_desc_read(&p->host, TILE_DESC_VERTEX, json_array_get(list, i), path, words)) {
            return false;
        }
        memcpy(block + 8 * i, words, 8 * sizeof *words);
    }
    return add_words(p, where, block, 3 * 8, 32, address);
}

static bool
read_rsetup(struct planner *p, const json_t *object, const char *where, struct tile_step *step)
{
    (void)step;
    return triangle(p, json_object_get(object, "triangle"), where, &p->setup);
}

static bool
read_rdraw(struct planner *p, const json_t *object, const char *where, struct tile_step *step)
{
    const json_t *inside = json_object_get(object, "triangle");

    step->command.arg[1] = p->setup;
    if (json_object_get(object, "vertices") != NULL) {
        if (!address_member(p, object, where, "vertices", &step->command.arg[1])) {
            return false;
        }
    } else if (inside != NULL && !triangle(p, inside, where, &step->command.arg[1])) {
        return false;
    }
    return word_member(p, object, where, "arg2", UINT32_MAX, &step->command.arg[2]) &&
           descriptor(p, object, where, TILE_DESC_RDRAW, &step->command.arg[0]);
}

static bool
read_rrect(struct planner *p, const json_t *object, const char *where, struct tile_step *step)
{
    step->command.arg[1] = UINT32_MAX;
    return word_member(p, object, where, "state", 15, &step->command.arg[1]) &&
           word_member(p, object, where, "arg2", UINT32_MAX, &step->command.arg[2]) &&
           descriptor(p, object, where, TILE_DESC_RRECT, &step->command.arg[0]);
}

/* An indirect draw: the array, 32 bytes apart, and its count. */
static bool
read_draws(struct planner *p, const json_t *list, const char *where, struct tile_step *step)
{
    uint32_t count = (uint32_t)json_array_size(list);
    uint32_t *words = calloc((size_t)count * 8 + 1, sizeof *words);
    bool good = words != NULL || no_memory(p);

    for (uint32_t i = 0; i < count && good; i++) {
        uint32_t one[TILE_DESC_MAX_WORDS];
        char path[PLACE];

        (void)snprintf(path, sizeof path, "%.120s.descriptors[%u]", where, (unsigned)i);
        good = tile_desc_read(&p->host, TILE_DESC_GDRAW, json_array_get(list, i), path, one);
        memcpy(words + 8 * (size_t)i, one, 6 * sizeof *one);
    }
    good = good && add_words(p, where, words, 8 * count, 32, &step->command.arg[0]) &&
           add_words(p, where, &count, 1, 4, &step->command.arg[1]);
    free(words);
    return good;
}

static bool
read_gdraw(struct planner *p, const json_t *object, const char *where, struct tile_step *step)
{
    const json_t *list = json_object_get(object, "descriptors");

    step->command.arg[2] = (json_is_true(json_object_get(object, "cu_assist")) ? 1U : 0U) |
                           (json_is_true(json_object_get(object, "strip")) ? 2U : 0U);
    if (!json_is_array(list)) {
        return list != NULL ? complain(p, where, "a list as \"descriptors\"")
                            : descriptor(p, object, where, TILE_DESC_GDRAW, &step->command.arg[0]);
    }
    return read_draws(p, list, where, step);
}

static bool
read_dispatch(struct planner *p, const json_t *object, const char *where, struct tile_step *step)
{
    return descriptor(p, object, where, TILE_DESC_PACKET, &step->command.arg[0]);
}

static bool
read_write(struct planner *p, const json_t *object, const char *where, struct tile_step *step)
{
    const json_t *words = json_object_get(object, "words");
    char path[PLACE];

    (void)snprintf(path, sizeof path, "%.120s.words", where);
    if (!json_is_array(words) || json_array_size(words) > 255) {
        return complain(p, path, "a list of up to 255 numbers");
    }
    for (size_t i = 0; i < json_array_size(words); i++) {
        const json_t *item = json_array_get(words, i);

        if (json_is_real(item) ? !tile_json_float(item, &step->payload[i])
                               : !tile_json_color(item, &step->payload[i])) {
            return complain(p, path, "a list of up to 255 numbers");
        }
    }
    step->command.length = (uint8_t)json_array_size(words);
    step->command.flags |= FACET_TILE_PAYLOAD;
    return address_member(p, object, where, "address", &step->command.arg[0]);
}

static bool
read_length(struct planner *p, const json_t *object, const char *where, struct tile_step *step)
{
    uint32_t count = 1;

    if (!word_member(p, object, where, "count", 255, &count)) {
        return false;
    }
    step->command.length = (uint8_t)count;
    return true;
}

static bool
read_read(struct planner *p, const json_t *object, const char *where, struct tile_step *step)
{
    return read_length(p, object, where, step) &&
           address_member(p, object, where, "address", &step->command.arg[0]);
}

static bool
read_copy(struct planner *p, const json_t *object, const char *where, struct tile_step *step)
{
    return read_length(p, object, where, step) &&
           address_member(p, object, where, "to", &step->command.arg[0]) &&
           address_member(p, object, where, "from", &step->command.arg[1]);
}

static bool
read_wait(struct planner *p, const json_t *object, const char *where, struct tile_step *step)
{
    return word_member(p, object, where, "slot", UINT32_MAX, &step->command.arg[0]) &&
           word_member(p, object, where, "value", UINT32_MAX, &step->command.arg[1]);
}

static bool
read_signal(struct planner *p, const json_t *object, const char *where, struct tile_step *step)
{
    step->kind = TILE_STEP_SIGNAL;
    step->value = 1;
    return word_member(p, object, where, "slot", 255, &step->slot) &&
           word_member(p, object, where, "value", UINT32_MAX, &step->value);
}

static bool
read_doorbell(struct planner *p, const json_t *object, const char *where, struct tile_step *step)
{
    step->kind = TILE_STEP_DOORBELL;
    step->value = 15;
    return word_member(p, object, where, "cores", 15, &step->value);
}

/* clang-format off */
static const struct command_row rows[] = {
    {"NOP", FACET_TILE_CMD_NOP, read_nothing, ""},
    {"BARRIER", FACET_TILE_CMD_BARRIER, read_nothing, ""},
    {"WRITE_MEM", FACET_TILE_CMD_WRITE_MEM, read_write, " address words"},
    {"READ_MEM", FACET_TILE_CMD_READ_MEM, read_read, " address count"},
    {"COPY_BUFFER", FACET_TILE_CMD_COPY_BUFFER, read_copy, " to from count"},
    {"WAIT_FENCE", FACET_TILE_CMD_WAIT_FENCE, read_wait, " slot value"},
    {"DISPATCH", FACET_TILE_CMD_DISPATCH, read_dispatch, " descriptor address"},
    {"LOAD_SAMPLER", FACET_TILE_CMD_LOAD_SAMPLER, read_sampler, " index descriptor address"},
    {"LOAD_GSTATE", FACET_TILE_CMD_LOAD_GSTATE, read_load, " slot descriptor address"},
    {"LOAD_GPARAM", FACET_TILE_CMD_LOAD_GPARAM, read_load, " slot descriptor address"},
    {"LOAD_RSTATE", FACET_TILE_CMD_LOAD_RSTATE, read_load, " slot descriptor address"},
    {"RSETUP", FACET_TILE_CMD_NOP, read_rsetup, " triangle"},
    {"RDRAW", FACET_TILE_CMD_RDRAW, read_rdraw, " descriptor address triangle vertices arg2"},
    {"RRECT", FACET_TILE_CMD_RRECT, read_rrect, " descriptor address state arg2"},
    {"GDRAW", FACET_TILE_CMD_GDRAW, read_gdraw, " descriptor descriptors address cu_assist strip"},
    {"SIGNAL", HOST_STEP, read_signal, " slot value"},
    {"DOORBELL", HOST_STEP, read_doorbell, " cores"},
};
/* clang-format on */

static const struct command_row *find_row(const json_t *object)
{
    const char *name = json_string_value(json_object_get(object, "command"));

    for (size_t i = 0; name != NULL && i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

static bool
read_flags(struct planner *p, const json_t *object, const char *where, struct tile_step *step)
{
    static const char *const names[] = {"IRQ", "EMIT", "WAIT"};
    const json_t *list = json_object_get(object, "flags");
    uint32_t slot = 0;
    char path[PLACE];

    (void)snprintf(path, sizeof path, "%.120s.flags", where);
    if (list != NULL && !json_is_array(list)) {
        return complain(p, path, "a list of: IRQ EMIT WAIT");
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        uint8_t flag = 0;

        for (unsigned n = 0; name != NULL && n < 3; n++) {
            flag |= (uint8_t)(strcmp(names[n], name) == 0 ? 1U << n : 0);
        }
        if (flag == 0) {
            return complain(p, path, "a list of: IRQ EMIT WAIT");
        }
        step->command.flags |= flag;
    }
    if (!word_member(p, object, where, "fence", 255, &slot)) {
        return false;
    }
    step->command.slot = (uint8_t)slot;
    return true;
}

static bool read_command(struct planner *p, const json_t *object, struct tile_step *step)
{
    const struct command_row *row = find_row(object);
    char where[PLACE], members[PLACE], text[PLACE] = "one of:";

    if (row == NULL) {
        (void)snprintf(where, sizeof where, "commands[%u].command", (unsigned)p->index);
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            size_t at = strlen(text);

            (void)snprintf(text + at, sizeof text - at, " %s", rows[i].name);
        }
        return complain(p, where, text);
    }
    (void)snprintf(where, sizeof where, "commands[%u] (%s)", (unsigned)p->index, row->name);
    (void)snprintf(members, sizeof members, "command flags fence%s", row->members);
    *step = (struct tile_step){.index = p->index, .name = row->name, .command.opcode = row->opcode};
    if (row->opcode == HOST_STEP) {
        (void)snprintf(members, sizeof members, "command%s", row->members);
    }
    return known(p, object, where, members) && read_flags(p, object, where, step) &&
           row->read(p, object, where, step);
}

static bool read_commands(struct planner *p, const json_t *list)
{
    struct tile_plan *plan = p->plan;

    if (!json_is_array(list) || json_array_size(list) > MAX_STEPS) {
        return complain(p, "commands", "a list of up to 16384 commands");
    }
    plan->steps = calloc(json_array_size(list) + 1, sizeof *plan->steps);
    if (plan->steps == NULL) {
        return no_memory(p);
    }
    for (p->index = 0; p->index < json_array_size(list); p->index++) {
        struct tile_step *step = &plan->steps[plan->step_count];

        if (!read_command(p, json_array_get(list, p->index), step)) {
            return false;
        }
        step->command.payload = step->payload;
        plan->step_count++;
    }
    return true;
}

/* ---- all of it ---- */

static bool read_plan(struct planner *p, const json_t *root)
{
    return known(p, root, "file", "machine buffers frame commands") &&
           read_machine(p, json_object_get(root, "machine")) &&
           read_buffers(p, json_object_get(root, "buffers")) &&
           read_frame(p, json_object_get(root, "frame")) &&
           read_commands(p, json_object_get(root, "commands")) &&
           reserve(p, "commands", 1024, 64, &p->plan->slots) &&
           reserve(p, "commands", TILE_PLAN_RING_BYTES, 64, &p->plan->ring);
}

enum facet_status tile_plan_read(const char *name,
                                 const char *folder,
                                 const void *text,
                                 size_t size,
                                 struct tile_plan *plan,
                                 struct facet_error *err)
{
    struct facet_error inner = {0};
    struct planner p = {.name = name, .folder = folder, .plan = plan, .err = &inner};
    json_t *root = NULL;
    enum facet_status status;

    memset(plan, 0, sizeof *plan);
    p.host = (struct tile_desc_host){&p, read_address, complain};
    status = facet_json_parse(name, text, size, &root, err);
    if (status != FACET_OK) {
        return status;
    }
    if (!read_plan(&p, root)) {
        tile_plan_free(plan);
        status = inner.status;
        if (err != NULL) {
            *err = inner;
        }
    }
    free(p.buffers);
    json_decref(root);
    return status;
}

void tile_plan_free(struct tile_plan *plan)
{
    for (size_t i = 0; i < plan->piece_count; i++) {
        free(plan->pieces[i].bytes);
    }
    free(plan->pieces);
    free(plan->steps);
    memset(plan, 0, sizeof *plan);
}
