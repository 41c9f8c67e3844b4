/* Buffers of a command list: numbers, vertices, files, pictures and kernels as bytes in VRAM. */
#include "tile_list/reader.h"

#include "assembler/assemble.h"
#include "base/bits.h"
#include "base/side_file.h"
#include "image/image.h"

#include <facet/tile_layouts.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT = 256 << 20, FACET_TILE_LIST_FILE = 1024 };

/* Elements of an array as little-endian numbers. */
static bool read_numbers(struct facet_tile_list_reader *p,
                         const json_t *list,
                         const char *where,
                         const char *type,
                         struct facet_bytes *out)
{
    size_t count = json_array_size(list), size = strcmp(type, "u8") == 0 ? 1
                                                 : type[1] == '1'        ? 2
                                                                         : 4;

    if (!json_is_array(list)) {
        return facet_tile_list_complain(p, where, "a list of numbers");
    }
    out->size = count * size;
    out->data = calloc(out->size + 1, 1);
    if (out->data == NULL) {
        return facet_tile_list_no_memory(p);
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        uint32_t word = 0;
        bool good = type[0] == 'f' ? facet_tile_list_float(item, &word)
                                   : facet_tile_list_color(item, &word);
        char path[FACET_TILE_LIST_PLACE];

        (void)snprintf(path, sizeof path, "%.150s[%zu]", where, i);
        if (!good && strcmp(type, "u32") == 0 && json_is_string(item)) {
            if (!facet_tile_list_address(p, item, path, &word)) {
                return false;
            }
            good = true;
        }

        good = good && (size == 4 || word < UINT32_C(1) << (8 * size));
        if (!good) {
            return facet_tile_list_complain(
                p, path, type[0] == 'f' ? "a number" : "a number that fits, or a colour");
        }
        for (size_t k = 0; k < size; k++) {
            out->data[i * size + k] = (uint8_t)(word >> (8 * k));
        }
    }
    return true;
}

/* One attribute of a vertex: `count` floats. */
static bool put_floats(struct facet_tile_list_reader *p,
                       const json_t *list,
                       const char *where,
                       size_t count,
                       uint32_t *words,
                       size_t *at)
{
    for (size_t i = 0; i < count; i++) {
        if (json_array_size(list) != count ||
            !facet_tile_list_float(json_array_get(list, i), &words[*at])) {
            char text[64];

            (void)snprintf(text, sizeof text, "a list of %zu numbers", count);
            return facet_tile_list_complain(p, where, text);
        }
        ++*at;
    }
    return true;
}

/* A GVERTEX; attributes that are absent take no words. */
static bool read_vertex(struct facet_tile_list_reader *p,
                        const json_t *vertex,
                        const char *where,
                        uint32_t words[FACET_TILE_GVERTEX_WORDS],
                        size_t *count)
{
    const json_t *position = json_object_get(vertex, "position");
    const json_t *normal = json_object_get(vertex, "normal"), *uv = json_object_get(vertex, "uv");
    const json_t *color = json_object_get(vertex, "color");

    *count = 0;
    if (!facet_tile_list_known(p, vertex, where, "position normal uv color")) {
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
    if (color != NULL && !facet_tile_list_color(color, &words[(*count)++])) {
        return facet_tile_list_complain(p, where, "a colour as \"color\"");
    }
    return true;
}

static bool read_vertices(struct facet_tile_list_reader *p,
                          const json_t *list,
                          const char *where,
                          struct facet_bytes *out)
{
    size_t count = json_array_size(list), stride = 0;

    if (!json_is_array(list) || count == 0) {
        return facet_tile_list_complain(p, where, "a list of vertices");
    }
    out->data = calloc(count * FACET_TILE_GVERTEX_SIZE + 1, 1);
    if (out->data == NULL) {
        return facet_tile_list_no_memory(p);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t words[FACET_TILE_GVERTEX_WORDS] = {0};
        char path[FACET_TILE_LIST_PLACE];
        size_t used;

        (void)snprintf(path, sizeof path, "%.150s[%zu]", where, i);
        if (!read_vertex(p, json_array_get(list, i), path, words, &used)) {
            return false;
        }
        stride = i == 0 ? used : stride;
        if (used != stride) {
            return facet_tile_list_complain(p, path, "the same attributes as the first vertex has");
        }
        for (size_t k = 0; k < used; k++) {
            facet_store_le32(out->data + out->size, words[k]);
            out->size += 4;
        }
    }
    return true;
}

static bool read_whole_file(struct facet_tile_list_reader *p,
                            const json_t *value,
                            const char *where,
                            struct facet_bytes *out)
{
    const char *name = json_string_value(value);
    struct facet_error inner = {0};

    if (name == NULL || p->folder == NULL) {
        return facet_tile_list_complain(p,
                                        where,
                                        name == NULL ? "the name of a file"
                                                     : "no file: a list from standard input has no "
                                                       "folder to look in");
    }
    if (facet_side_file_read(p->folder, name, FILE_LIMIT, out, &inner) != FACET_OK) {
        (void)facet_fail(p->err, inner.status, 0, "%s: %s: %s", p->name, where, inner.message);
        return false;
    }
    return true;
}

static bool read_picture(struct facet_tile_list_reader *p,
                         const json_t *object,
                         const char *where,
                         struct facet_bytes *out)
{
    const char *format = json_string_value(json_object_get(object, "format"));
    bool small = format != NULL && strcmp(format, "RGB565") == 0;
    struct facet_bytes file = {0};
    struct facet_image image = {0};
    struct facet_error inner = {0};
    size_t pixels;

    if (json_object_get(object, "format") != NULL && !small &&
        (format == NULL || strcmp(format, "ARGB8888") != 0)) {
        return facet_tile_list_complain(p, where, "RGB565 or ARGB8888 as \"format\"");
    }
    if (!read_whole_file(p, json_object_get(object, "image"), where, &file)) {
        return false;
    }
    if (facet_image_decode_confined(file.data, file.size, &image, &inner) != FACET_OK) {
        (void)facet_fail(p->err, inner.status, 0, "%s: %s: %s", p->name, where, inner.message);
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
    return out->data != NULL || facet_tile_list_no_memory(p);
}

/* A file of the list as who runs the command would name it. */
static void
name_file(const struct facet_tile_list_reader *p, const char *name, char out[FACET_TILE_LIST_FILE])
{
    bool here = p->folder == NULL || strcmp(p->folder, ".") == 0;

    (void)snprintf(
        out, FACET_TILE_LIST_FILE, "%s%s%s", here ? "" : p->folder, here ? "" : "/", name);
}

/* A kernel, assembled for where it will lie. */
static bool read_code(struct facet_tile_list_reader *p,
                      const char *text,
                      size_t size,
                      const char *where,
                      const char *file,
                      uint32_t address,
                      struct facet_bytes *out)
{
    const char *const folders[] = {p->folder};
    struct facet_asm_options options = {.isa = FACET_ISA_TILE,
                                        .file = file,
                                        .debug = true,
                                        .has_base = true,
                                        .base = address,
                                        .include_folders = folders,
                                        .include_count = p->folder != NULL};
    struct facet_asm_result result;
    struct facet_error inner = {0};
    uint64_t base = 0;
    bool good =
        facet_assemble(&options, text, size, &result, &inner) == FACET_OK &&
        facet_object_make_segments(result.object, &inner) == FACET_OK &&
        facet_object_flatten(result.object, &out->data, &out->size, &base, &inner) == FACET_OK;

    if (good && base == address) {
        p->kernels[p->kernel_count++] = result.object;
        result.object = NULL;
    }
    facet_asm_result_free(&result);
    if (good && base != address) {
        free(out->data);
        out->data = NULL;
        return facet_tile_list_complain(p, where, "a kernel that starts where its buffer does");
    }
    if (!good) {
        (void)facet_fail(p->err, FACET_ERR_INPUT, 0, "%s: %s: %s", p->name, where, inner.message);
        out->data = NULL;
    }
    return good;
}

static bool read_assembly(struct facet_tile_list_reader *p,
                          const json_t *object,
                          const char *where,
                          uint32_t address,
                          struct facet_bytes *out)
{
    const json_t *lines = json_object_get(object, "code");
    char file[FACET_TILE_LIST_FILE];
    struct facet_bytes text = {0};
    size_t size = 0;
    bool good = true;

    (void)snprintf(file, sizeof file, "%s", where);
    if (lines == NULL) {
        const json_t *name = json_object_get(object, "assembly");

        good = read_whole_file(p, name, where, &text);
        if (good) {
            name_file(p, json_string_value(name), file);
        }
    } else {
        for (size_t i = 0; i < json_array_size(lines); i++) {
            size += json_string_length(json_array_get(lines, i)) + 1;
            if (!json_is_string(json_array_get(lines, i))) {
                return facet_tile_list_complain(
                    p, where, "a list of lines of assembly as \"code\"");
            }
        }
        text.data = json_is_array(lines) ? malloc(size + 1) : NULL;
        if (text.data == NULL) {
            return facet_tile_list_complain(p, where, "a list of lines of assembly as \"code\"");
        }
        for (size_t i = 0; i < json_array_size(lines); i++) {
            size_t length = json_string_length(json_array_get(lines, i));

            memcpy(text.data + text.size, json_string_value(json_array_get(lines, i)), length);
            text.data[text.size + length] = '\n';
            text.size += length + 1;
        }
    }
    good = good && read_code(p, (const char *)text.data, text.size, where, file, address, out);
    free(text.data);
    return good;
}

/* The one member that says what is in the buffer. */
static bool fill_buffer(struct facet_tile_list_reader *p,
                        const json_t *object,
                        const char *where,
                        uint32_t address,
                        struct facet_bytes *out)
{
    static const char *const sources[] = {
        "f32", "u32", "u16", "u8", "vertices", "file", "image", "assembly", "code"};
    const char *source = NULL;
    const json_t *value;
    char path[FACET_TILE_LIST_PLACE];

    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        if (json_object_get(object, sources[i]) != NULL) {
            if (source != NULL) {
                return facet_tile_list_complain(p, where, "one source of data, not two");
            }
            source = sources[i];
        }
    }
    if (source == NULL) {
        return json_object_get(object, "size") != NULL ||
               facet_tile_list_complain(
                   p, where, "one of: size f32 u32 u16 u8 vertices file image assembly code");
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

/* "fill": the byte after the data, up to "size". */
static bool fill_rest(struct facet_tile_list_reader *p,
                      const json_t *object,
                      const char *where,
                      uint32_t size,
                      struct facet_bytes *bytes)
{
    uint32_t byte = 0;
    uint8_t *more;

    if (!facet_tile_list_word(json_object_get(object, "fill"), &byte) || byte > 255) {
        return facet_tile_list_complain(p, where, "a byte as \"fill\"");
    }
    if (bytes->size >= size || size > p->plan->config.vram) {
        return true;
    }
    more = realloc(bytes->data, (size_t)size + 1);
    if (more == NULL) {
        return facet_tile_list_no_memory(p);
    }
    memset(more + bytes->size, (int)byte, size - bytes->size);
    *bytes = (struct facet_bytes){more, size};
    return true;
}

static bool read_buffer(struct facet_tile_list_reader *p, const char *name, const json_t *object)
{
    struct facet_bytes bytes = {0};
    uint32_t size = 0, align = 64, address = 0;
    char where[FACET_TILE_LIST_PLACE];
    bool good;

    (void)snprintf(where, sizeof where, "buffers.%.80s", name);
    if (!facet_tile_list_known(
            p,
            object,
            where,
            "size fill align f32 u32 u16 u8 vertices file image format assembly code")) {
        return false;
    }
    if ((json_object_get(object, "size") != NULL &&
         !facet_tile_list_word(json_object_get(object, "size"), &size)) ||
        (json_object_get(object, "align") != NULL &&
         !facet_tile_list_word(json_object_get(object, "align"), &align)) ||
        align == 0 || (align & (align - 1)) != 0 || align > 65536) {
        return facet_tile_list_complain(
            p, where, "bytes as \"size\", a power of two up to 65536 as \"align\"");
    }
    if (!facet_tile_list_reserve(p, where, 0, align, &address)) {
        return false;
    }
    good = fill_buffer(p, object, where, address, &bytes);
    if (good && json_object_get(object, "fill") != NULL) {
        good = fill_rest(p, object, where, size, &bytes);
    }
    if (good && size != 0 && bytes.size > size) {
        good = facet_tile_list_complain(p, where, "a \"size\" that holds the data");
    }
    size = size != 0 ? size : (uint32_t)bytes.size;
    good = good && facet_tile_list_reserve(p, where, size, align, &address);
    if (!good || bytes.size == 0) {
        free(bytes.data);
    } else if (!facet_tile_list_add_piece(p, address, bytes.data, bytes.size)) {
        good = false;
    }
    p->buffers[p->buffer_count++] = (struct facet_tile_list_named){name, address, size};
    return good;
}

bool facet_tile_list_read_buffers(struct facet_tile_list_reader *p, const json_t *buffers)
{
    const char *name;
    json_t *value;

    if (buffers == NULL) {
        return true;
    }
    if (!json_is_object(buffers)) {
        return facet_tile_list_complain(p, "buffers", "an object of named buffers");
    }
    p->buffers = calloc(json_object_size(buffers) + 1, sizeof *p->buffers);
    p->kernels = calloc(json_object_size(buffers) + 1, sizeof *p->kernels);
    if (p->buffers == NULL || p->kernels == NULL) {
        return facet_tile_list_no_memory(p);
    }
    json_object_foreach((json_t *)buffers, name, value)
    {
        if (!read_buffer(p, name, value)) {
            return false;
        }
    }
    return true;
}
