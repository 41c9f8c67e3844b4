/* See lines.h. The program of a unit is run twice: once to count its rows, once to keep them. */
#include "object/lines.h"

#include "base/bits.h"

#include <string.h>

enum { MAX_FORMATS = 16 };

/* Bytes of a section, read from the front; `bad` after the first thing that does not fit. */
struct reader {
    const uint8_t *data;
    size_t size, at;
    bool bad;
};

static uint64_t get(struct reader *r, unsigned size)
{
    uint64_t value = 0;

    if (r->bad || size > r->size - r->at) {
        r->bad = true;
        return 0;
    }
    for (unsigned i = 0; i < size; i++) {
        value |= (uint64_t)r->data[r->at + i] << (8 * i);
    }
    r->at += size;
    return value;
}

static uint64_t get_leb(struct reader *r, bool sign)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = (uint8_t)get(r, 1);
        value |= shift < 64 ? (uint64_t)(byte & 0x7F) << shift : 0;
        shift += 7;
    } while ((byte & 0x80) != 0 && !r->bad);
    return sign && (byte & 0x40) != 0 && shift < 64 ? value | ~UINT64_C(0) << shift : value;
}

static const char *get_text(struct reader *r)
{
    const uint8_t *end =
        r->bad || r->at == r->size ? NULL : memchr(r->data + r->at, 0, r->size - r->at);
    const char *text;

    if (end == NULL) {
        r->bad = true;
        return "";
    }
    text = (const char *)r->data + r->at;
    r->at = (size_t)(end - r->data) + 1;
    return text;
}

static void skip(struct reader *r, uint64_t size)
{
    if (r->bad || size > r->size - r->at) {
        r->bad = true;
    } else {
        r->at += (size_t)size;
    }
}

/* ---- headers ---- */

struct unit {
    struct reader program; /* of the section up to the unit's end */
    bool wide;             /* 64-bit DWARF */
    unsigned version;
    unsigned min_length, opcode_base;
    int line_base;
    unsigned line_range;
    const uint8_t *lengths; /* of the standard opcodes 1.. */
    const char **files;
    size_t file_count, file_room;
};

struct texts {
    struct reader line_str, str;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static const char *text_at(const struct reader *section, uint64_t offset)
{
    struct reader r = *section;

    skip(&r, offset);
    return get_text(&r); /* "" outside */
}

/* One field of an entry of version 5. */
static const char *get_form(struct reader *r, uint64_t form, bool wide, const struct texts *texts)
{
    switch (form) {
    case 0x08: /* string */
        return get_text(r);
    case 0x1F: /* line_strp */
        return text_at(&texts->line_str, get(r, wide ? 8 : 4));
    case 0x0E: /* strp */
        return text_at(&texts->str, get(r, wide ? 8 : 4));
    case 0x0F: /* udata */
        (void)get_leb(r, false);
        return NULL;
    case 0x0B: /* data1 */
    case 0x05: /* data2 */
    case 0x06: /* data4 */
    case 0x07: /* data8 */
    case 0x1E: /* data16 */
        skip(r, form == 0x0B ? 1 : form == 0x05 ? 2 : form == 0x06 ? 4 : form == 0x07 ? 8 : 16);
        return NULL;
    case 0x09: /* block */
        skip(r, get_leb(r, false));
        return NULL;
    default:
        r->bad = true;
        return NULL;
    }
}

static bool add_file(struct facet_object *object, struct unit *u, const char *name)
{
    if (u->file_count == u->file_room) {
        size_t room = u->file_room != 0 ? 2 * u->file_room : 16;
        const char **more =
            facet_arena_alloc(&object->arena, room * sizeof *more, sizeof(const char *));

        if (more == NULL) {
            return false;
        }
        if (u->file_count != 0) {
            memcpy(more, u->files, u->file_count * sizeof *more);
        }
        u->files = more;
        u->file_room = room;
    }
    u->files[u->file_count++] = name;
    return true;
}

/* A table of folders or files of version 5; the names of files are kept. */
static bool read_entries(struct facet_object *object,
                         struct reader *r,
                         struct unit *u,
                         const struct texts *texts,
                         bool files)
{
    uint64_t type[MAX_FORMATS] = {0}, form[MAX_FORMATS] = {0}, count;
    unsigned formats = (unsigned)get(r, 1);

    r->bad = r->bad || formats > MAX_FORMATS;
    for (unsigned i = 0; i < formats && !r->bad; i++) {
        type[i] = get_leb(r, false);
        form[i] = get_leb(r, false);
    }
    count = get_leb(r, false);
    r->bad = r->bad || (formats == 0 && count != 0); /* nothing would end the loop */
    for (uint64_t n = 0; n < count && !r->bad; n++) {
        const char *name = "";

        for (unsigned i = 0; i < formats && !r->bad; i++) {
            const char *text = get_form(r, form[i], u->wide, texts);

            name = type[i] == 1 && text != NULL ? text : name;
        }
        if (files && !r->bad && !add_file(object, u, name)) {
            return false;
        }
    }
    return true;
}

/* Folders and files before version 5: files count from 1. */
static bool read_old_names(struct facet_object *object, struct reader *r, struct unit *u)
{
    const char *name;

    while (get_text(r)[0] != '\0') {
    }
    if (!add_file(object, u, "")) {
        return false;
    }
    while ((name = get_text(r))[0] != '\0') {
        if (!add_file(object, u, name)) {
            return false;
        }
        (void)get_leb(r, false);
        (void)get_leb(r, false);
        (void)get_leb(r, false);
    }
    return true;
}

/* The header of the unit at r->at, which moves behind the unit. False: no memory. */
static bool
read_unit(struct facet_object *object, struct reader *r, const struct texts *texts, struct unit *u)
{
    struct reader in;
    uint64_t length = get(r, 4), header;
    size_t program;
    bool good = true;

    *u = (struct unit){.wide = length == 0xFFFFFFFF};
    length = u->wide ? get(r, 8) : length;
    in = *r;
    skip(r, length);
    in.bad = r->bad;
    in.size = r->at;
    u->version = (unsigned)get(&in, 2);
    in.bad = in.bad || u->version < 2 || u->version > 5;
    if (u->version == 5) {
        in.bad = in.bad || get(&in, 1) > 8 || get(&in, 1) != 0; /* address size, no segments */
    }
    header = get(&in, u->wide ? 8 : 4);
    program = in.at;
    in.bad = in.bad || header > in.size - in.at;
    program += in.bad ? 0 : (size_t)header;
    u->min_length = (unsigned)get(&in, 1);
    if (u->version >= 4) {
        (void)get(&in, 1); /* operations of an instruction */
    }
    (void)get(&in, 1); /* default_is_stmt */
    u->line_base = (int8_t)get(&in, 1);
    u->line_range = (unsigned)get(&in, 1);
    u->opcode_base = (unsigned)get(&in, 1);
    in.bad = in.bad || u->line_range == 0 || u->opcode_base == 0;
    u->lengths = in.data + in.at;
    skip(&in, u->opcode_base != 0 ? u->opcode_base - 1 : 0);
    if (!in.bad && u->version == 5) {
        good =
            read_entries(object, &in, u, texts, false) && read_entries(object, &in, u, texts, true);
    } else if (!in.bad) {
        good = read_old_names(object, &in, u);
    }
    r->bad = r->bad || in.bad;
    in.at = program;
    u->program = in;
    return good;
}

/* ---- programs ---- */

struct state {
    uint64_t address;
    uint64_t file;
    uint64_t line;
};

static void emit(const struct unit *u, const struct state *s, bool end, struct facet_lines *out)
{
    if (out->rows != NULL) {
        const char *file = s->file < u->file_count ? u->files[s->file] : "";

        out->rows[out->count] = (struct facet_line_row){
            s->address, base_name(file), file, end ? 0 : (uint32_t)s->line, (uint32_t)out->count};
    }
    out->count++;
}

static void
extended(struct reader *r, const struct unit *u, struct state *s, struct facet_lines *out)
{
    uint64_t size = get_leb(r, false);
    size_t end;
    unsigned opcode;

    if (r->bad || size == 0 || size > r->size - r->at) {
        r->bad = true;
        return;
    }
    end = r->at + (size_t)size;
    opcode = (unsigned)get(r, 1);
    if (opcode == 1) { /* end_sequence */
        emit(u, s, true, out);
        *s = (struct state){.file = 1, .line = 1};
    } else if (opcode == 2 && size <= 9) { /* set_address */
        s->address = get(r, (unsigned)size - 1);
    }
    r->at = end;
}

static void standard(struct reader *r,
                     const struct unit *u,
                     unsigned opcode,
                     struct state *s,
                     struct facet_lines *out)
{
    switch (opcode) {
    case 1: /* copy */
        emit(u, s, false, out);
        break;
    case 2: /* advance_pc */
        s->address += get_leb(r, false) * u->min_length;
        break;
    case 3: /* advance_line */
        s->line += get_leb(r, true);
        break;
    case 4: /* set_file */
        s->file = get_leb(r, false);
        break;
    case 8: /* const_add_pc */
        s->address += (uint64_t)((255 - u->opcode_base) / u->line_range) * u->min_length;
        break;
    case 9: /* fixed_advance_pc */
        s->address += get(r, 2);
        break;
    default: /* what does not move address, file or line */
        for (unsigned i = 0; i < u->lengths[opcode - 1]; i++) {
            (void)get_leb(r, false);
        }
    }
}

static void run_unit(const struct unit *u, struct reader *section, struct facet_lines *out)
{
    struct reader r = u->program;
    struct state s = {.file = 1, .line = 1};

    while (!r.bad && r.at < r.size) {
        unsigned opcode = (unsigned)get(&r, 1);

        if (opcode >= u->opcode_base) {
            unsigned step = opcode - u->opcode_base;

            s.address += (uint64_t)(step / u->line_range) * u->min_length;
            s.line += (uint64_t)(int64_t)(u->line_base + (int)(step % u->line_range));
            emit(u, &s, false, out);
        } else if (opcode == 0) {
            extended(&r, u, &s, out);
        } else {
            standard(&r, u, opcode, &s, out);
        }
    }
    section->bad = section->bad || r.bad;
}

/* ---- the table ---- */

static struct reader section_named(const struct facet_object *object, const char *name)
{
    struct reader r = {0};

    for (size_t i = 0; i < object->section_count; i++) {
        const struct facet_section *s = &object->sections[i];

        if (strcmp(s->name, name) == 0 && s->data != NULL) {
            r.data = s->data;
            r.size = (size_t)s->size;
        }
    }
    return r;
}

/* Rows of one sequence rise already; sequences come in any order. The end of one sorts before what
 * begins there. */
static bool is_before(const struct facet_line_row *a, const struct facet_line_row *b)
{
    if (a->address != b->address) {
        return a->address < b->address;
    }
    return (a->line != 0) != (b->line != 0) ? a->line == 0 : a->order < b->order;
}

static void sift(struct facet_line_row *rows, size_t at, size_t count)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        struct facet_line_row top = rows[at];

        child += child + 1 < count && is_before(&rows[child], &rows[child + 1]);
        if (!is_before(&top, &rows[child])) {
            break;
        }
        rows[at] = rows[child];
        rows[child] = top;
    }
}

static void sort(struct facet_line_row *rows, size_t count)
{
    for (size_t i = count / 2; i-- > 0;) {
        sift(rows, i, count);
    }
    for (size_t end = count; end > 1;) {
        struct facet_line_row top = rows[0];

        rows[0] = rows[--end];
        rows[end] = top;
        sift(rows, 0, end);
    }
}

static enum facet_status
run_all(struct facet_object *object, struct facet_lines *out, struct facet_error *err)
{
    struct reader r = section_named(object, ".debug_line");
    struct texts texts = {section_named(object, ".debug_line_str"),
                          section_named(object, ".debug_str")};

    out->count = 0;
    while (r.at < r.size && !r.bad) {
        size_t from = r.at;
        struct unit unit;

        if (!read_unit(object, &r, &texts, &unit)) {
            return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for source lines");
        }
        if (!r.bad) {
            run_unit(&unit, &r, out);
        }
        if (r.bad) {
            return facet_fail(
                err, FACET_ERR_INPUT, from, ".debug_line, offset %zu: a damaged unit", from);
        }
    }
    return FACET_OK;
}

enum facet_status
facet_lines_read(struct facet_object *object, struct facet_lines *out, struct facet_error *err)
{
    enum facet_status status;

    *out = (struct facet_lines){0};
    if (object->relocatable) {
        return FACET_OK;
    }
    status = run_all(object, out, err);
    if (status == FACET_OK && out->count != 0) {
        out->rows =
            facet_arena_alloc(&object->arena, out->count * sizeof *out->rows, sizeof(uint64_t));
        status = out->rows != NULL
                     ? run_all(object, out, err)
                     : facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for source lines");
    }
    if (status != FACET_OK) {
        *out = (struct facet_lines){0};
    } else if (out->rows != NULL) {
        sort(out->rows, out->count);
    }
    return status;
}

const struct facet_line_row *facet_lines_find(const struct facet_lines *lines, uint64_t address)
{
    size_t low = 0, high = lines->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (lines->rows[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low != 0 && lines->rows[low - 1].line != 0 ? &lines->rows[low - 1] : NULL;
}
