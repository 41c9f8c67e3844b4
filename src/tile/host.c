/* The host's side: registers (tile-semantics.md 19) and the verbs of facet/tile.h around the ring.
 */
#include "tile/queue.h"

#include "object/elf.h"
#include "object/object.h"
#include "tile/core.h"
#include "tile/system.h"

#include <string.h>

enum { VERSION = 0x01000000 };

/* ---- registers ---- */

static enum facet_status
check_offset(const struct facet_tile_machine *m, uint32_t offset, struct facet_error *err)
{
    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    if (offset % 4 != 0 || offset >= FACET_TILE_HOST_REGISTERS_SIZE) {
        return facet_fail(err,
                          FACET_ERR_FAULT,
                          offset,
                          "host register at offset 0x%x; expected a multiple of 4 below 0x%x",
                          (unsigned)offset,
                          (unsigned)FACET_TILE_HOST_REGISTERS_SIZE);
    }
    return FACET_OK;
}

static uint32_t read_core(const struct facet_tile_machine *m, uint32_t offset)
{
    const struct facet_tile_core *c;

    offset -= FACET_TILE_REG_CU_CAUSE;
    if (offset >= FACET_TILE_CORES * FACET_TILE_CORE_STATE_SIZE) {
        return 0;
    }
    c = &m->core[offset / FACET_TILE_CORE_STATE_SIZE];
    switch (FACET_TILE_REG_CU_CAUSE + offset % FACET_TILE_CORE_STATE_SIZE) {
    case FACET_TILE_REG_CU_CAUSE:
        return c->fault_cause;
    case FACET_TILE_REG_CU_ADDR:
        return c->fault_addr;
    case FACET_TILE_REG_CU_PC:
        return c->fault_pc;
    case FACET_TILE_REG_CU_STATUS:
        return c->r.status;
    default:
        return 0;
    }
}

enum facet_status facet_tile_host_read(const facet_machine *machine,
                                       uint32_t offset,
                                       uint32_t *value,
                                       struct facet_error *err)
{
    const struct facet_tile_machine *m = facet_tile_self(machine, err);
    enum facet_status status = check_offset(m, offset, err);

    *value = 0;
    if (status != FACET_OK) {
        return status;
    }
    switch (offset) {
    case FACET_TILE_REG_ID_VERSION:
        *value = VERSION;
        break;
    case FACET_TILE_REG_ID_FEATURES:
        *value = facet_tile_machine_hwinfo(m);
        break;
    case FACET_TILE_REG_INT_STATUS:
        *value = m->queue.int_status;
        break;
    case FACET_TILE_REG_LAST_ERROR:
        *value = m->queue.last_error;
        break;
    case FACET_TILE_REG_CMDQ_BASE:
        *value = m->queue.base;
        break;
    case FACET_TILE_REG_CMDQ_SIZE:
        *value = m->queue.size;
        break;
    case FACET_TILE_REG_CMDQ_PROD:
        *value = m->queue.prod;
        break;
    case FACET_TILE_REG_CMDQ_CONS:
        *value = m->queue.cons;
        break;
    case FACET_TILE_REG_FENCE_VALUE:
        *value = m->queue.fence;
        break;
    case FACET_TILE_REG_LAST_STATUS:
        *value = m->queue.last_status;
        break;
    case FACET_TILE_REG_COMPLETION_BASE:
        *value = m->queue.completion_base;
        break;
    case FACET_TILE_REG_WDOG_DEFAULT:
        *value = m->config.watchdog;
        break;
    default:
        *value = offset >= FACET_TILE_REG_CU_CAUSE ? read_core(m, offset) : 0;
        break;
    }
    return FACET_OK;
}

/* A ring that moves is empty. A running queue keeps the ring that it works on. */
static void place_ring(struct facet_tile_queue *q, uint32_t base, uint32_t size)
{
    if (q->state == FACET_TILE_QUEUE_EMPTY) {
        q->base = base;
        q->size = size;
        q->prod = q->cons = 0;
    }
}

enum facet_status facet_tile_host_write(facet_machine *machine,
                                        uint32_t offset,
                                        uint32_t value,
                                        struct facet_error *err)
{
    struct facet_tile_machine *m = facet_tile_self(machine, err);
    enum facet_status status = check_offset(m, offset, err);

    if (status != FACET_OK) {
        return status;
    }
    switch (offset) {
    case FACET_TILE_REG_INT_STATUS:
        m->queue.int_status &= ~value;
        break;
    case FACET_TILE_REG_LAST_ERROR:
        m->queue.last_error = FACET_TILE_STATUS_OK;
        break;
    case FACET_TILE_REG_CMDQ_BASE:
        place_ring(&m->queue, value, m->queue.size);
        break;
    case FACET_TILE_REG_CMDQ_SIZE:
        place_ring(&m->queue, m->queue.base, value);
        break;
    case FACET_TILE_REG_CMDQ_PROD:
        m->queue.prod = value;
        break;
    case FACET_TILE_REG_CMDQ_DOORBELL:
        facet_tile_queue_ring(m);
        break;
    case FACET_TILE_REG_COMPLETION_BASE:
        m->queue.completion_base = value;
        break;
    case FACET_TILE_REG_ABORT:
        (void)facet_tile_abort(machine, NULL);
        break;
    case FACET_TILE_REG_WDOG_DEFAULT:
        (void)facet_tile_set_watchdog(machine, value, NULL);
        break;
    case FACET_TILE_REG_DOORBELL:
        (void)facet_tile_doorbell(machine, value & 0xF, NULL);
        break;
    default:
        break;
    }
    return FACET_OK;
}

/* ---- ring ---- */

enum facet_status
facet_tile_ring(facet_machine *machine, uint32_t base, uint32_t size, struct facet_error *err)
{
    struct facet_tile_machine *m = facet_tile_self(machine, err);

    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    if (size < 64 || (size & (size - 1)) != 0 || size > m->vram_size) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          size,
                          "ring of %u bytes; expected a power of two from 64 to the size of VRAM",
                          (unsigned)size);
    }
    if (base % 32 != 0 || !facet_tile_in_vram(m, base, size)) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          base,
                          "ring at 0x%08x; expected a multiple of 32 with %u bytes of VRAM",
                          (unsigned)base,
                          (unsigned)size);
    }
    if (m->queue.state != FACET_TILE_QUEUE_EMPTY) {
        return facet_fail(err, FACET_ERR_USAGE, base, "the queue is running");
    }
    place_ring(&m->queue, base, size);
    return FACET_OK;
}

/* Bytes that are free: one word less than all, since equal offsets mean empty. */
uint32_t facet_tile_queue_room(const struct facet_tile_queue *q)
{
    return q->size >= 64 ? (q->cons - q->prod - 4) & (q->size - 1) & ~UINT32_C(3) : 0;
}

static void put_word(struct facet_tile_machine *m, uint32_t value)
{
    struct facet_tile_queue *q = &m->queue;
    uint32_t at = q->base - FACET_VRAM_BASE + (q->prod & (q->size - 1) & ~UINT32_C(3));

    facet_store_le32(m->vram + at, value);
    facet_tile_touch(m, at, 4);
    q->prod = (q->prod + 4) & (q->size - 1) & ~UINT32_C(3);
}

static bool ring_placed(const struct facet_tile_machine *m)
{
    const struct facet_tile_queue *q = &m->queue;

    return q->size >= 64 && (q->size & (q->size - 1)) == 0 && q->size <= m->vram_size &&
           q->base % 32 == 0 && facet_tile_in_vram(m, q->base, q->size);
}

enum facet_status facet_tile_push(facet_machine *machine,
                                  const struct facet_tile_command *command,
                                  struct facet_error *err)
{
    struct facet_tile_machine *m = facet_tile_self(machine, err);
    uint32_t words = (command->flags & FACET_TILE_FLAG_PAYLOAD) != 0 ? command->length : 0;
    uint32_t bytes = FACET_TILE_COMMAND_SIZE + 4 * words;
    const struct facet_tile_command_fields header = {.opcode = command->opcode,
                                                     .flags = command->flags,
                                                     .rdst = command->slot,
                                                     .len = command->length,
                                                     .arg0 = command->arg[0],
                                                     .arg1 = command->arg[1],
                                                     .arg2 = command->arg[2]};
    uint32_t packed[FACET_TILE_COMMAND_WORDS];

    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    if (!ring_placed(m)) {
        return facet_fail(err, FACET_ERR_USAGE, 0, "no ring: set CMDQ_BASE and CMDQ_SIZE first");
    }
    if (bytes > facet_tile_queue_room(&m->queue)) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          bytes,
                          "a command of %u bytes into %u free bytes of the ring",
                          (unsigned)bytes,
                          (unsigned)facet_tile_queue_room(&m->queue));
    }
    facet_tile_command_pack(&header, packed);
    for (unsigned i = 0; i < FACET_TILE_COMMAND_WORDS; i++) {
        put_word(m, packed[i]);
    }
    for (uint32_t i = 0; i < words; i++) {
        put_word(m, command->payload[i]);
    }
    return FACET_OK;
}

const char *facet_tile_queue_state_name(enum facet_tile_queue_state state)
{
    static const char *const names[] = {"empty", "active", "blocked", "waiting"};

    return (unsigned)state < sizeof names / sizeof names[0] ? names[state] : "unknown";
}

enum facet_status facet_tile_flush(facet_machine *machine,
                                   enum facet_tile_queue_state *queue,
                                   struct facet_stop *stop,
                                   struct facet_error *err)
{
    const struct facet_run run = {.budget = UINT64_MAX};
    struct facet_tile_machine *m = facet_tile_self(machine, err);
    struct facet_stop unused;

    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    facet_tile_queue_ring(m);
    facet_machine_run(machine, &run, stop != NULL ? stop : &unused);
    if (queue != NULL) {
        *queue = (enum facet_tile_queue_state)m->queue.state;
    }
    return FACET_OK;
}

enum facet_status facet_tile_take(
    facet_machine *machine, uint32_t *words, size_t max, size_t *count, struct facet_error *err)
{
    struct facet_tile_machine *m = facet_tile_self(machine, err);
    struct facet_tile_queue *q;

    *count = 0;
    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    q = &m->queue;
    *count = q->answer_count < max ? q->answer_count : max;
    if (*count != 0) {
        memcpy(words, q->answers, *count * sizeof *words);
        memmove(q->answers, q->answers + *count, (q->answer_count - *count) * sizeof *words);
        q->answer_count -= (uint32_t)*count;
    }
    return FACET_OK;
}

/* ---- fences ---- */

static enum facet_status
check_slot(const struct facet_tile_machine *m, uint32_t slot, struct facet_error *err)
{
    uint32_t value;

    if (m == NULL) {
        return FACET_ERR_USAGE;
    }
    if (slot >= FACET_TILE_COMPLETION_SLOTS) {
        return facet_fail(
            err, FACET_ERR_USAGE, slot, "completion slot %u; expected 0 to 255", (unsigned)slot);
    }
    if (m->queue.completion_base == 0 || !facet_tile_slot_word(m, slot, &value)) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          m->queue.completion_base,
                          "COMPLETION_BASE is 0x%08x, so slot %u has no word in VRAM",
                          (unsigned)m->queue.completion_base,
                          (unsigned)slot);
    }
    return FACET_OK;
}

enum facet_status facet_tile_slot_read(const facet_machine *machine,
                                       uint32_t slot,
                                       uint32_t *value,
                                       struct facet_error *err)
{
    const struct facet_tile_machine *m = facet_tile_self(machine, err);
    enum facet_status status = check_slot(m, slot, err);

    *value = 0;
    if (status == FACET_OK) {
        (void)facet_tile_slot_word(m, slot, value);
    }
    return status;
}

enum facet_status facet_tile_slot_write(facet_machine *machine,
                                        uint32_t slot,
                                        uint32_t value,
                                        struct facet_error *err)
{
    struct facet_tile_machine *m = facet_tile_self(machine, err);
    enum facet_status status = check_slot(m, slot, err);
    uint8_t bytes[4];

    if (status != FACET_OK) {
        return status;
    }
    facet_store_le32(bytes, value);
    return facet_machine_write(
        machine, 0, m->queue.completion_base + 4 * slot, bytes, sizeof bytes, err);
}

/* ---- samplers, packets, programs ---- */

static void store_words(uint8_t *bytes, const uint32_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        facet_store_le32(bytes + 4 * i, words[i]);
    }
}

void facet_tile_sampler_words(const struct facet_tile_sampler *s,
                              uint32_t words[FACET_TILE_SAMPLER_WORDS])
{
    const struct facet_tile_sampler_fields fields = {
        .base = s->base,
        .stride = s->stride,
        .width = (uint16_t)s->width,
        .height = (uint16_t)s->height,
        .format = (uint8_t)s->format,
        .palette = (uint8_t)s->palette,
        .swizzle = (uint8_t)s->swizzle,
        .wrap_u = s->repeat_u ? FACET_TILE_SAMPLER_WRAP_U_REPEAT : FACET_TILE_SAMPLER_WRAP_U_CLAMP,
        .wrap_v = s->repeat_v ? FACET_TILE_SAMPLER_WRAP_V_REPEAT : FACET_TILE_SAMPLER_WRAP_V_CLAMP,
        .filter =
            s->bilinear ? FACET_TILE_SAMPLER_FILTER_BILINEAR : FACET_TILE_SAMPLER_FILTER_NEAREST,
        .palette_base = s->palette_base,
    };

    facet_tile_sampler_pack(&fields, words);
}

enum facet_status facet_tile_set_sampler(facet_machine *machine,
                                         uint32_t index,
                                         const struct facet_tile_sampler *sampler,
                                         struct facet_error *err)
{
    uint32_t words[FACET_TILE_SAMPLER_WORDS];
    uint8_t bytes[FACET_TILE_SAMPLER_SIZE];

    if (facet_tile_self(machine, err) == NULL) {
        return FACET_ERR_USAGE;
    }
    if (index >= FACET_TILE_SAMPLERS) {
        return facet_fail(
            err, FACET_ERR_USAGE, index, "sampler %u; expected 0 to 31", (unsigned)index);
    }
    facet_tile_sampler_words(sampler, words);
    store_words(bytes, words, FACET_TILE_SAMPLER_WORDS);
    return facet_machine_write(
        machine, 0, FACET_TILE_SAMPLER_BASE + sizeof bytes * index, bytes, sizeof bytes, err);
}

void facet_tile_packet_write(const struct facet_tile_packet *p,
                             uint8_t bytes[FACET_TILE_PACKET_SIZE])
{
    const struct facet_tile_packet_fields fields = {
        .pc = p->pc,
        .grid = {(uint16_t)p->columns, (uint16_t)p->rows},
        .tile = {(uint16_t)p->tile_width, (uint16_t)p->tile_height},
        .arg_base = p->arg_base,
        .arg_size = p->arg_size,
        .shared_size = p->shared_size,
        .priority = (uint8_t)p->priority,
        .core_mask = (uint8_t)p->core_mask,
        .const_base = p->const_base,
        .const_size = p->const_size,
        .wdog = p->watchdog,
    };
    uint32_t words[FACET_TILE_PACKET_WORDS];

    facet_tile_packet_pack(&fields, words);
    store_words(bytes, words, FACET_TILE_PACKET_WORDS);
}

enum facet_status facet_tile_load_elf(
    facet_machine *machine, const void *data, size_t size, uint32_t *entry, struct facet_error *err)
{
    struct facet_object *object = NULL;
    enum facet_status status;

    if (facet_tile_self(machine, err) == NULL) {
        return FACET_ERR_USAGE;
    }
    status = facet_elf_read(data, size, &object, err);
    if (status == FACET_OK) {
        status = facet_tile_load(machine, object, entry, err);
    }
    facet_object_free(object);
    return status;
}

/* ---- names ---- */

const char *facet_tile_status_name(uint32_t status)
{
    static const char *const graphics[] = {"graphics error BAD_ALIGN",
                                           "graphics error BAD_MEM",
                                           "graphics error BAD_STATE",
                                           "graphics error BAD_FORMAT",
                                           "graphics error BAD_DESC",
                                           "graphics error BAD_INDEX",
                                           "graphics error RANGE",
                                           "graphics error BAD_SAMPLER"};

    if (status > FACET_TILE_STATUS_GRAPHICS &&
        status <= FACET_TILE_STATUS_GRAPHICS + sizeof graphics / sizeof graphics[0]) {
        return graphics[status - FACET_TILE_STATUS_GRAPHICS - 1];
    }
    if (status > FACET_TILE_STATUS_DISPATCH && status < FACET_TILE_STATUS_BAD_OPCODE) {
        return facet_tile_cause_name(status - FACET_TILE_STATUS_DISPATCH);
    }
    switch (status) {
    case FACET_TILE_STATUS_OK:
        return "ok";
    case FACET_TILE_STATUS_BAD_OPCODE:
        return "BAD_OPCODE";
    case FACET_TILE_STATUS_BAD_ARG:
        return "BAD_ARG";
    case FACET_TILE_STATUS_BAD_LENGTH:
        return "BAD_LENGTH";
    default:
        return "unknown status";
    }
}
