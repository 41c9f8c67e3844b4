/* Commands of a command list: one row per name, with the members that it takes. */
#include "tile_list/reader.h"

#include <facet/tile_layouts.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 1 << 14 };

enum { HOST_STEP = 0xFF }; /* what the host does beside the queue */

struct command_row {
    const char *name;
    uint8_t opcode;
    bool (*read)(struct facet_tile_list_reader *p,
                 const json_t *object,
                 const char *where,
                 struct facet_tile_list_step *step);
    const char *members; /* beside command, flags, fence */
};

static bool word_member(struct facet_tile_list_reader *p,
                        const json_t *object,
                        const char *where,
                        const char *key,
                        uint32_t max,
                        uint32_t *out)
{
    const json_t *value = json_object_get(object, key);
    char path[FACET_TILE_LIST_PLACE], text[64];

    if (value == NULL) {
        return true;
    }
    if (!facet_tile_list_word(value, out) || *out > max ||
        (max != UINT32_MAX && json_is_integer(value) && json_integer_value(value) < 0)) {
        (void)snprintf(path, sizeof path, "%.120s.%s", where, key);
        (void)snprintf(text, sizeof text, "a number from 0 to %u", (unsigned)max);
        return facet_tile_list_complain(p, path, text);
    }
    return true;
}

static bool address_member(struct facet_tile_list_reader *p,
                           const json_t *object,
                           const char *where,
                           const char *key,
                           uint32_t *out)
{
    char path[FACET_TILE_LIST_PLACE];

    (void)snprintf(path, sizeof path, "%.120s.%s", where, key);
    return facet_tile_list_address(p, json_object_get(object, key), path, out);
}

/* "descriptor": fields, placed in VRAM; or "address". */
static bool descriptor(struct facet_tile_list_reader *p,
                       const json_t *object,
                       const char *where,
                       const char *structure,
                       uint32_t *address)
{
    const struct facet_layout_row *layout = facet_tile_list_desc_layout(structure);
    const json_t *fields = json_object_get(object, "descriptor");
    uint32_t words[FACET_TILE_LIST_DESC_MAX_WORDS];
    char path[FACET_TILE_LIST_PLACE];

    if ((fields == NULL) == (json_object_get(object, "address") == NULL)) {
        return facet_tile_list_complain(p, where, "either \"descriptor\" or \"address\"");
    }
    if (fields == NULL) {
        return address_member(p, object, where, "address", address);
    }
    (void)snprintf(path, sizeof path, "%.120s.descriptor", where);
    return facet_tile_list_desc_read(&p->host, layout, fields, path, words) &&
           facet_tile_list_add_words(p, path, words, layout->size / 4, layout->align, address);
}

static bool read_nothing(struct facet_tile_list_reader *p,
                         const json_t *object,
                         const char *where,
                         struct facet_tile_list_step *step)
{
    (void)p, (void)object, (void)where, (void)step;
    return true;
}

static bool read_load(struct facet_tile_list_reader *p,
                      const json_t *object,
                      const char *where,
                      struct facet_tile_list_step *step)
{
    const char *structure = step->command.opcode == FACET_TILE_CMD_LOAD_RSTATE   ? "RSTATE"
                            : step->command.opcode == FACET_TILE_CMD_LOAD_GSTATE ? "GSTATE"
                                                                                 : "GPARAM";

    return word_member(p, object, where, "slot", UINT32_MAX, &step->command.arg[0]) &&
           descriptor(p, object, where, structure, &step->command.arg[1]);
}

static bool read_sampler(struct facet_tile_list_reader *p,
                         const json_t *object,
                         const char *where,
                         struct facet_tile_list_step *step)
{
    return word_member(p, object, where, "index", UINT32_MAX, &step->command.arg[0]) &&
           descriptor(p, object, where, "SAMPLER", &step->command.arg[1]);
}

/* Three vertices as a block in VRAM. */
static bool
triangle(struct facet_tile_list_reader *p, const json_t *list, const char *where, uint32_t *address)
{
    const struct facet_layout_row *vertex = facet_tile_list_desc_layout("VERTEX");
    uint32_t block[FACET_TILE_VERTEX_BLOCK_WORDS];
    char path[FACET_TILE_LIST_PLACE];

    if (json_array_size(list) != 3) {
        (void)snprintf(path, sizeof path, "%.120s.triangle", where);
        return facet_tile_list_complain(p, path, "three vertices");
    }
    for (size_t i = 0; i < 3; i++) {
        uint32_t words[FACET_TILE_LIST_DESC_MAX_WORDS];

        (void)snprintf(path, sizeof path, "%.120s.triangle[%zu]", where, i);
        if (!facet_tile_list_desc_read(&p->host, vertex, json_array_get(list, i), path, words)) {
            return false;
        }
        memcpy(block + FACET_TILE_VERTEX_WORDS * i, words, vertex->size);
    }
    return facet_tile_list_add_words(
        p, where, block, FACET_TILE_VERTEX_BLOCK_WORDS, FACET_TILE_VERTEX_BLOCK_ALIGN, address);
}

static bool read_rsetup(struct facet_tile_list_reader *p,
                        const json_t *object,
                        const char *where,
                        struct facet_tile_list_step *step)
{
    (void)step;
    return triangle(p, json_object_get(object, "triangle"), where, &p->setup);
}

static bool read_rdraw(struct facet_tile_list_reader *p,
                       const json_t *object,
                       const char *where,
                       struct facet_tile_list_step *step)
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
           descriptor(p, object, where, "RDRAW", &step->command.arg[0]);
}

static bool read_rrect(struct facet_tile_list_reader *p,
                       const json_t *object,
                       const char *where,
                       struct facet_tile_list_step *step)
{
    step->command.arg[1] = UINT32_MAX;
    return word_member(p, object, where, "state", 15, &step->command.arg[1]) &&
           word_member(p, object, where, "arg2", UINT32_MAX, &step->command.arg[2]) &&
           descriptor(p, object, where, "RRECT", &step->command.arg[0]);
}

/* An indirect draw: the array and its count. */
static bool read_draws(struct facet_tile_list_reader *p,
                       const json_t *list,
                       const char *where,
                       struct facet_tile_list_step *step)
{
    const struct facet_layout_row *gdraw = facet_tile_list_desc_layout("GDRAW");
    uint32_t count = (uint32_t)json_array_size(list);
    uint32_t *words = calloc((size_t)count * FACET_TILE_GDRAW_ENTRY_WORDS + 1, sizeof *words);
    bool good = words != NULL || facet_tile_list_no_memory(p);

    for (uint32_t i = 0; i < count && good; i++) {
        uint32_t one[FACET_TILE_LIST_DESC_MAX_WORDS];
        char path[FACET_TILE_LIST_PLACE];

        (void)snprintf(path, sizeof path, "%.120s.descriptors[%u]", where, (unsigned)i);
        good = facet_tile_list_desc_read(&p->host, gdraw, json_array_get(list, i), path, one);
        memcpy(words + FACET_TILE_GDRAW_ENTRY_WORDS * (size_t)i, one, gdraw->size);
    }
    good = good &&
           facet_tile_list_add_words(
               p, where, words, FACET_TILE_GDRAW_ENTRY_WORDS * count, 32, &step->command.arg[0]) &&
           facet_tile_list_add_words(p, where, &count, 1, 4, &step->command.arg[1]);
    free(words);
    return good;
}

static bool read_gdraw(struct facet_tile_list_reader *p,
                       const json_t *object,
                       const char *where,
                       struct facet_tile_list_step *step)
{
    const json_t *list = json_object_get(object, "descriptors");

    step->command.arg[2] = (json_is_true(json_object_get(object, "cu_assist")) ? 1U : 0U) |
                           (json_is_true(json_object_get(object, "strip")) ? 2U : 0U);
    if (!json_is_array(list)) {
        return list != NULL ? facet_tile_list_complain(p, where, "a list as \"descriptors\"")
                            : descriptor(p, object, where, "GDRAW", &step->command.arg[0]);
    }
    return read_draws(p, list, where, step);
}

static bool read_dispatch(struct facet_tile_list_reader *p,
                          const json_t *object,
                          const char *where,
                          struct facet_tile_list_step *step)
{
    return descriptor(p, object, where, "PACKET", &step->command.arg[0]);
}

static bool read_write(struct facet_tile_list_reader *p,
                       const json_t *object,
                       const char *where,
                       struct facet_tile_list_step *step)
{
    const json_t *words = json_object_get(object, "words");
    char path[FACET_TILE_LIST_PLACE];

    (void)snprintf(path, sizeof path, "%.120s.words", where);
    if (!json_is_array(words) || json_array_size(words) > 255) {
        return facet_tile_list_complain(p, path, "a list of up to 255 numbers");
    }
    for (size_t i = 0; i < json_array_size(words); i++) {
        const json_t *item = json_array_get(words, i);

        if (json_is_real(item) ? !facet_tile_list_float(item, &step->payload[i])
                               : !facet_tile_list_color(item, &step->payload[i])) {
            return facet_tile_list_complain(p, path, "a list of up to 255 numbers");
        }
    }
    step->command.length = (uint8_t)json_array_size(words);
    step->command.flags |= FACET_TILE_FLAG_PAYLOAD;
    return address_member(p, object, where, "address", &step->command.arg[0]);
}

static bool read_length(struct facet_tile_list_reader *p,
                        const json_t *object,
                        const char *where,
                        struct facet_tile_list_step *step)
{
    uint32_t count = 1;

    if (!word_member(p, object, where, "count", 255, &count)) {
        return false;
    }
    step->command.length = (uint8_t)count;
    return true;
}

static bool read_read(struct facet_tile_list_reader *p,
                      const json_t *object,
                      const char *where,
                      struct facet_tile_list_step *step)
{
    return read_length(p, object, where, step) &&
           address_member(p, object, where, "address", &step->command.arg[0]);
}

static bool read_copy(struct facet_tile_list_reader *p,
                      const json_t *object,
                      const char *where,
                      struct facet_tile_list_step *step)
{
    return read_length(p, object, where, step) &&
           address_member(p, object, where, "to", &step->command.arg[0]) &&
           address_member(p, object, where, "from", &step->command.arg[1]);
}

static bool read_wait(struct facet_tile_list_reader *p,
                      const json_t *object,
                      const char *where,
                      struct facet_tile_list_step *step)
{
    return word_member(p, object, where, "slot", UINT32_MAX, &step->command.arg[0]) &&
           word_member(p, object, where, "value", UINT32_MAX, &step->command.arg[1]);
}

/* A command by its numbers, also one that no machine takes. */
static bool read_raw(struct facet_tile_list_reader *p,
                     const json_t *object,
                     const char *where,
                     struct facet_tile_list_step *step)
{
    const json_t *args = json_object_get(object, "args"), *words = json_object_get(object, "words");
    uint32_t opcode = 0, length = (uint32_t)json_array_size(words);
    bool good = (args == NULL || json_is_array(args)) && json_array_size(args) <= 3 &&
                (words == NULL || json_is_array(words)) && length <= 255;

    for (size_t i = 0; i < json_array_size(args) && good; i++) {
        good = facet_tile_list_word(json_array_get(args, i), &step->command.arg[i]);
    }
    for (size_t i = 0; i < length && good; i++) {
        good = facet_tile_list_word(json_array_get(words, i), &step->payload[i]);
    }
    if (!good) {
        return facet_tile_list_complain(
            p, where, "up to three numbers as \"args\", up to 255 as \"words\"");
    }
    step->command.flags |= words != NULL ? FACET_TILE_FLAG_PAYLOAD : 0;
    if (!word_member(p, object, where, "opcode", 255, &opcode) ||
        (words == NULL && !word_member(p, object, where, "count", 255, &length))) {
        return false;
    }
    step->command.opcode = (uint8_t)opcode;
    step->command.length = (uint8_t)length;
    return true;
}

static bool read_register(struct facet_tile_list_reader *p,
                          const json_t *object,
                          const char *where,
                          struct facet_tile_list_step *step)
{
    step->kind = FACET_TILE_LIST_REGISTER;
    if (!word_member(p, object, where, "offset", FACET_TILE_HOST_REGISTERS_SIZE - 4, &step->slot) ||
        !word_member(p, object, where, "value", UINT32_MAX, &step->value)) {
        return false;
    }
    return step->slot % 4 == 0 ||
           facet_tile_list_complain(p, where, "a multiple of 4 as \"offset\"");
}

static bool read_signal(struct facet_tile_list_reader *p,
                        const json_t *object,
                        const char *where,
                        struct facet_tile_list_step *step)
{
    step->kind = FACET_TILE_LIST_SIGNAL;
    step->value = 1;
    return word_member(p, object, where, "slot", 255, &step->slot) &&
           word_member(p, object, where, "value", UINT32_MAX, &step->value);
}

static bool read_doorbell(struct facet_tile_list_reader *p,
                          const json_t *object,
                          const char *where,
                          struct facet_tile_list_step *step)
{
    step->kind = FACET_TILE_LIST_DOORBELL;
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
    {"REGISTER", HOST_STEP, read_register, " offset value"},
    {"RAW", FACET_TILE_CMD_NOP, read_raw, " opcode args words count"},
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

static bool read_flags(struct facet_tile_list_reader *p,
                       const json_t *object,
                       const char *where,
                       struct facet_tile_list_step *step)
{
    static const char *const names[] = {"IRQ", "EMIT", "WAIT"};
    const json_t *list = json_object_get(object, "flags");
    uint32_t slot = 0;
    char path[FACET_TILE_LIST_PLACE];

    (void)snprintf(path, sizeof path, "%.120s.flags", where);
    if (list != NULL && !json_is_array(list)) {
        return facet_tile_list_complain(p, path, "a list of: IRQ EMIT WAIT");
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        uint8_t flag = 0;

        for (unsigned n = 0; name != NULL && n < 3; n++) {
            flag |= (uint8_t)(strcmp(names[n], name) == 0 ? 1U << n : 0);
        }
        if (flag == 0) {
            return facet_tile_list_complain(p, path, "a list of: IRQ EMIT WAIT");
        }
        step->command.flags |= flag;
    }
    if (!word_member(p, object, where, "fence", 255, &slot)) {
        return false;
    }
    step->command.slot = (uint8_t)slot;
    return true;
}

static bool read_command(struct facet_tile_list_reader *p,
                         const json_t *object,
                         struct facet_tile_list_step *step)
{
    const struct command_row *row = find_row(object);
    char where[FACET_TILE_LIST_PLACE], members[FACET_TILE_LIST_PLACE],
        text[FACET_TILE_LIST_PLACE] = "one of:";

    if (row == NULL) {
        (void)snprintf(where, sizeof where, "commands[%u].command", (unsigned)p->index);
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            size_t at = strlen(text);

            (void)snprintf(text + at, sizeof text - at, " %s", rows[i].name);
        }
        return facet_tile_list_complain(p, where, text);
    }
    (void)snprintf(where, sizeof where, "commands[%u] (%s)", (unsigned)p->index, row->name);
    (void)snprintf(members, sizeof members, "command flags fence%s", row->members);
    *step = (struct facet_tile_list_step){
        .index = p->index, .name = row->name, .command.opcode = row->opcode};
    if (row->opcode == HOST_STEP) {
        (void)snprintf(members, sizeof members, "command%s", row->members);
    }
    return facet_tile_list_known(p, object, where, members) && read_flags(p, object, where, step) &&
           row->read(p, object, where, step);
}

bool facet_tile_list_read_commands(struct facet_tile_list_reader *p, const json_t *list)
{
    struct facet_tile_list *plan = p->plan;

    if (!json_is_array(list) || json_array_size(list) > MAX_STEPS) {
        return facet_tile_list_complain(p, "commands", "a list of up to 16384 commands");
    }
    plan->steps = calloc(json_array_size(list) + 1, sizeof *plan->steps);
    if (plan->steps == NULL) {
        return facet_tile_list_no_memory(p);
    }
    for (p->index = 0; p->index < json_array_size(list); p->index++) {
        struct facet_tile_list_step *step = &plan->steps[plan->step_count];

        if (!read_command(p, json_array_get(list, p->index), step)) {
            return false;
        }
        step->command.payload = step->payload;
        plan->step_count++;
    }
    return true;
}
