/* What each queue command does (table of tile-semantics.md 18). The host side of memory is VRAM,
 * IMEM and the sampler table: exactly the machine's main space. */
#include "tile/queue.h"

#include "tile/tally/tally.h"

#include <string.h>

typedef uint32_t command_fn(struct facet_tile_machine *m,
                            const struct facet_tile_header *h,
                            uint32_t payload,
                            bool *blocked);

/* ---- memory ---- */

/* Whether the host may reach `words` words at the address. */
static bool reachable(const struct facet_tile_machine *m, uint32_t address, uint32_t words)
{
    return address % 4 == 0 &&
           (words == 0 || facet_mem_span(m->mem, address, (uint64_t)words * 4) != NULL);
}

static uint32_t read_word(const struct facet_tile_machine *m, uint32_t address)
{
    uint8_t bytes[4] = {0};

    (void)facet_mem_peek(m->mem, address, bytes, sizeof bytes);
    return facet_load_le32(bytes);
}

static void write_word(struct facet_tile_machine *m, uint32_t address, uint32_t value)
{
    uint8_t bytes[4];

    facet_store_le32(bytes, value);
    (void)facet_mem_poke(m->mem, address, bytes, sizeof bytes);
}

/* Decoded code follows what the host wrote. */
static void wrote(struct facet_tile_machine *m, uint32_t address, uint32_t words)
{
    if (words == 0) {
        return;
    }
    if (facet_tile_in_vram(m, address, 4 * words)) {
        facet_tile_code_changed(m, address - FACET_VRAM_BASE, 4 * words);
    } else {
        facet_tile_code_flush(m);
    }
}

static uint32_t nothing(struct facet_tile_machine *m,
                        const struct facet_tile_header *h,
                        uint32_t payload,
                        bool *blocked)
{
    (void)m, (void)h, (void)payload, (void)blocked;
    return FACET_TILE_STATUS_OK;
}

static uint32_t write_mem(struct facet_tile_machine *m,
                          const struct facet_tile_header *h,
                          uint32_t payload,
                          bool *blocked)
{
    uint32_t words = (h->flags & FACET_TILE_FLAG_PAYLOAD) != 0 ? h->length : 0;

    (void)blocked;
    if (!reachable(m, h->arg[0], words)) {
        return FACET_TILE_STATUS_BAD_ARG;
    }
    for (uint32_t i = 0; i < words; i++) {
        write_word(m, h->arg[0] + 4 * i, facet_tile_ring_word(m, payload + 4 * i));
    }
    wrote(m, h->arg[0], words);
    return FACET_TILE_STATUS_OK;
}

static uint32_t read_mem(struct facet_tile_machine *m,
                         const struct facet_tile_header *h,
                         uint32_t payload,
                         bool *blocked)
{
    struct facet_tile_queue *q = &m->queue;

    (void)payload;
    if (!reachable(m, h->arg[0], h->length)) {
        return FACET_TILE_STATUS_BAD_ARG;
    }
    if (h->length > FACET_TILE_ANSWER_WORDS - q->answer_count) {
        *blocked = true;
        return FACET_TILE_STATUS_OK;
    }
    for (uint32_t i = 0; i < h->length; i++) {
        q->answers[q->answer_count++] = read_word(m, h->arg[0] + 4 * i);
    }
    return FACET_TILE_STATUS_OK;
}

static uint32_t copy_buffer(struct facet_tile_machine *m,
                            const struct facet_tile_header *h,
                            uint32_t payload,
                            bool *blocked)
{
    (void)payload, (void)blocked;
    if (!reachable(m, h->arg[0], h->length) || !reachable(m, h->arg[1], h->length)) {
        return FACET_TILE_STATUS_BAD_ARG;
    }
    for (uint32_t i = 0; i < h->length; i++) { /* ascending: an overlap repeats */
        write_word(m, h->arg[0] + 4 * i, read_word(m, h->arg[1] + 4 * i));
    }
    wrote(m, h->arg[0], h->length);
    return FACET_TILE_STATUS_OK;
}

static uint32_t wait_fence(struct facet_tile_machine *m,
                           const struct facet_tile_header *h,
                           uint32_t payload,
                           bool *blocked)
{
    uint32_t word;

    (void)payload;
    if (h->arg[0] >= FACET_TILE_COMPLETION_SLOTS || !facet_tile_slot_word(m, h->arg[0], &word)) {
        return FACET_TILE_STATUS_BAD_ARG;
    }
    *blocked = (int32_t)(word - h->arg[1]) < 0;
    return FACET_TILE_STATUS_OK;
}

static uint32_t load_sampler(struct facet_tile_machine *m,
                             const struct facet_tile_header *h,
                             uint32_t payload,
                             bool *blocked)
{
    uint8_t bytes[FACET_TILE_SAMPLER_SIZE];

    (void)payload, (void)blocked;
    if (h->arg[0] >= FACET_TILE_SAMPLERS || h->arg[1] % FACET_TILE_SAMPLER_ALIGN != 0 ||
        !reachable(m, h->arg[1], FACET_TILE_SAMPLER_WORDS)) {
        return FACET_TILE_STATUS_BAD_ARG;
    }
    (void)facet_mem_peek(m->mem, h->arg[1], bytes, sizeof bytes);
    (void)facet_mem_poke(
        m->mem, FACET_TILE_SAMPLER_BASE + sizeof bytes * h->arg[0], bytes, sizeof bytes);
    return FACET_TILE_STATUS_OK;
}

/* ---- kernels ---- */

static uint32_t dispatch(struct facet_tile_machine *m,
                         const struct facet_tile_header *h,
                         uint32_t payload,
                         bool *blocked)
{
    struct facet_tile_packet packet;

    (void)payload, (void)blocked;
    if (h->arg[0] % FACET_TILE_PACKET_ALIGN != 0 ||
        !facet_tile_in_vram(m, h->arg[0], FACET_TILE_PACKET_SIZE)) {
        return FACET_TILE_STATUS_BAD_ARG;
    }
    packet = facet_tile_packet_read(m->vram + (h->arg[0] - FACET_VRAM_BASE));
    if (facet_tile_start(m, &packet, NULL) != FACET_OK) {
        return FACET_TILE_STATUS_BAD_ARG;
    }
    m->has_packet = false; /* a reset empties the queue; it does not start this kernel again */
    m->queue.owns = true;
    m->queue.phase = FACET_TILE_PHASE_DISPATCH;
    facet_tile_settle(m);
    return FACET_TILE_STATUS_OK;
}

/* ---- graphics ---- */

static void touch(struct facet_tile_machine *m, struct facet_raster_span span)
{
    for (uint32_t at = span.begin; at < span.end;) {
        uint32_t next = (at | 4095) + 1 < span.end ? (at | 4095) + 1 : span.end;

        facet_tile_touch(m, at, next - at);
        at = next;
    }
}

static uint32_t graphics(struct facet_tile_machine *m, struct facet_raster_result result)
{
    touch(m, result.color);
    touch(m, result.depth);
    if (result.left) {
        m->draw_of = FACET_TILE_OF_QUEUE;
    }
    return result.code != FACET_RASTER_OK ? FACET_TILE_STATUS_GRAPHICS + result.code
                                          : FACET_TILE_STATUS_OK;
}

static uint32_t load_state(struct facet_tile_machine *m,
                           const struct facet_tile_header *h,
                           enum facet_raster_kind kind)
{
    if (h->arg[0] >= FACET_RASTER_SLOTS) {
        return FACET_TILE_STATUS_BAD_ARG;
    }
    return graphics(m, facet_raster_load(&m->unit, &m->queue.gfx, kind, h->arg[0], h->arg[1]));
}

static uint32_t load_gstate(struct facet_tile_machine *m,
                            const struct facet_tile_header *h,
                            uint32_t payload,
                            bool *blocked)
{
    (void)payload, (void)blocked;
    return load_state(m, h, FACET_RASTER_GSTATE);
}

static uint32_t load_gparam(struct facet_tile_machine *m,
                            const struct facet_tile_header *h,
                            uint32_t payload,
                            bool *blocked)
{
    (void)payload, (void)blocked;
    return load_state(m, h, FACET_RASTER_GPARAM);
}

static uint32_t load_rstate(struct facet_tile_machine *m,
                            const struct facet_tile_header *h,
                            uint32_t payload,
                            bool *blocked)
{
    (void)payload, (void)blocked;
    return load_state(m, h, FACET_RASTER_RSTATE);
}

/* As the instructions are told. */
static const char *draw_name(uint32_t opcode)
{
    return opcode == FACET_TILE_COMMAND_OPCODE_RDRAW   ? "rdraw"
           : opcode == FACET_TILE_COMMAND_OPCODE_RRECT ? "rrect"
                                                       : "gdraw";
}

uint32_t facet_tile_queue_draw_next(struct facet_tile_machine *m)
{
    struct facet_tile_queue *q = &m->queue;
    const uint32_t *arg = q->header.arg;
    uint32_t at = arg[0] + FACET_TILE_GDRAW_ENTRY_SIZE * q->draw;
    struct facet_raster_result result;

    switch (q->header.opcode) {
    case FACET_TILE_COMMAND_OPCODE_RDRAW:
        result = facet_raster_rdraw_command(&m->unit, &q->gfx, at, arg[1], arg[2]);
        break;
    case FACET_TILE_COMMAND_OPCODE_RRECT:
        result = facet_raster_rrect_command(&m->unit, &q->gfx, at, arg[1], arg[2]);
        break;
    default:
        result = facet_raster_gdraw_command(&m->unit, &q->gfx, at, arg[2]);
        break;
    }
    if (m->tally != NULL && !result.left) {
        facet_tile_tally_draw(m, FACET_TILE_OF_QUEUE, draw_name(q->header.opcode));
    }
    q->draw += !result.left;
    q->phase = q->draw < q->draws ? FACET_TILE_PHASE_DRAWS : FACET_TILE_PHASE_NEXT;
    return graphics(m, result);
}

/* RDRAW and RRECT. */
static uint32_t draw_one(struct facet_tile_machine *m,
                         const struct facet_tile_header *h,
                         uint32_t payload,
                         bool *blocked)
{
    (void)h, (void)payload, (void)blocked;
    m->queue.draw = 0;
    m->queue.draws = 1;
    return facet_tile_queue_draw_next(m);
}

/* With arg1 the first descriptor is drawn by this step, the others by later ones. */
static uint32_t gdraw(struct facet_tile_machine *m,
                      const struct facet_tile_header *h,
                      uint32_t payload,
                      bool *blocked)
{
    struct facet_tile_queue *q = &m->queue;
    uint32_t room = m->vram_size - (h->arg[0] - FACET_VRAM_BASE);

    (void)payload, (void)blocked;
    q->draw = 0;
    q->draws = 1;
    if (h->arg[1] != 0) {
        if (!reachable(m, h->arg[1], 1)) {
            return FACET_TILE_STATUS_BAD_ARG;
        }
        q->draws = read_word(m, h->arg[1]);
        if (q->draws == 0) {
            return FACET_TILE_STATUS_OK;
        }
        if (!facet_tile_in_vram(m, h->arg[0], FACET_TILE_GDRAW_SIZE) ||
            (q->draws - 1) > (room - FACET_TILE_GDRAW_SIZE) / FACET_TILE_GDRAW_ENTRY_SIZE) {
            return FACET_TILE_STATUS_BAD_ARG; /* the array leaves VRAM */
        }
    }
    return facet_tile_queue_draw_next(m);
}

/* ---- opcodes ---- */

/* What runs an opcode of COMMAND; a row without one does not compile. */
#define RUN_NOP nothing
#define RUN_WRITE_MEM write_mem
#define RUN_READ_MEM read_mem
#define RUN_BARRIER nothing
#define RUN_COPY_BUFFER copy_buffer
#define RUN_WAIT_FENCE wait_fence
#define RUN_DISPATCH dispatch
#define RUN_LOAD_SAMPLER load_sampler
#define RUN_LOAD_GSTATE load_gstate
#define RUN_LOAD_GPARAM load_gparam
#define RUN_GDRAW gdraw
#define RUN_LOAD_RSTATE load_rstate
#define RUN_RDRAW draw_one
#define RUN_RRECT draw_one
#define OPCODE(name) [FACET_TILE_COMMAND_OPCODE_##name] = {#name, RUN_##name},

static const struct {
    const char *name;
    command_fn *run;
} opcodes[256] = {FACET_TILE_COMMAND_OPCODE_VALUES(OPCODE)};

const char *facet_tile_opcode_name(uint32_t opcode)
{
    return opcode < 256 ? opcodes[opcode].name : NULL;
}

uint32_t facet_tile_queue_begin(struct facet_tile_machine *m, uint32_t payload, bool *blocked)
{
    const struct facet_tile_header *h = &m->queue.header;

    return opcodes[h->opcode].run != NULL ? opcodes[h->opcode].run(m, h, payload, blocked)
                                          : FACET_TILE_STATUS_BAD_OPCODE;
}
