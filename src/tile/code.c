/* Decoded code: see core.h. Pages of 4 KiB, kept in a fixed number of slots; code is read from G
 * (tile-semantics.md 8.2: fetch is not cached). */
#include "base/ways.h"
#include "contract/tile_csrs.h"
#include "isa/isa.h"
#include "isa/isa_rows.h"
#include "tile/tally/tally.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, IMEM_PAGES = 16 };

static const struct facet_tile_insn *decode(struct facet_tile_core *c,
                                            const struct facet_tile_insn *op);

/* ---- handlers that belong to no row ---- */

static const struct facet_tile_insn *fetch_fault(struct facet_tile_core *c,
                                                 const struct facet_tile_insn *op)
{
    return facet_tile_stop(c, op, 3, c->bad_pc);
}

static const struct facet_tile_insn *illegal(struct facet_tile_core *c,
                                             const struct facet_tile_insn *op)
{
    return facet_tile_stop(c, op, 1, op->word);
}

/* After the last word of a page. */
static const struct facet_tile_insn *next_page(struct facet_tile_core *c,
                                               const struct facet_tile_insn *op)
{
    op = facet_tile_at(c, facet_tile_pc(c, op));
    c->ip = op; /* a fault looks at it */
    return op->fn(c, op);
}

/* ---- decoding ---- */

static void
take_operand(struct facet_tile_insn *op, const struct facet_operand *operand, uint32_t word)
{
    int64_t value = facet_operand_get(operand, word);
    const char *name = operand->name;

    switch (operand->kind) {
    case FACET_OPERAND_SREG:
    case FACET_OPERAND_TFREG:
    case FACET_OPERAND_VREG:
    case FACET_OPERAND_CREG:
        if (name[1] == 'd') { /* rd, fd, vd */
            op->rs3 = (uint8_t)value;
            op->rd = value == 0 && operand->kind != FACET_OPERAND_TFREG ? FACET_TILE_NO_REG
                                                                        : (uint8_t)value;
        } else if (name[2] == '1') {
            op->rs1 = (uint8_t)value;
        } else if (name[2] == '3') {
            op->rs3 = (uint8_t)value;
        } else {
            op->rs2 = (uint8_t)value; /* rs2, fs2, vs2, cidx */
        }
        break;
    case FACET_OPERAND_ENUM:
        op->order = (uint8_t)value;
        break;
    default:
        if (strcmp(name, "val") == 0) {
            op->imm |= (int32_t)value << 8;
        } else if (!operand->hidden) {
            op->imm = (int32_t)value;
        }
        break;
    }
}

bool facet_tile_is_register(const struct facet_operand *operand)
{
    return operand->kind == FACET_OPERAND_SREG || operand->kind == FACET_OPERAND_TFREG ||
           operand->kind == FACET_OPERAND_VREG || operand->kind == FACET_OPERAND_CREG;
}

/* Whether a core may run ahead through the instruction (ahead/ahead.c); what it must not do at a
 * bad address or with bad operands, its handler says in machine->event. */
static bool is_private(unsigned row, const struct facet_tile_insn *op)
{
    const uint32_t csr = (uint32_t)op->imm;

    switch (row) {
    case FACET_TILE_CSRRW:
    case FACET_TILE_CSRRS:
        return csr != FACET_CSR_TIME_LO && csr != FACET_CSR_TIME_HI &&
               csr != FACET_CSR_INSTRET_LO && csr != FACET_CSR_INSTRET_HI &&
               csr - FACET_CSR_SAMPLER_N__BASE >= FACET_TILE_SAMPLER_BYTES / 4;
    case FACET_TILE_MEMBAR:
    case FACET_TILE_WFI:
    case FACET_TILE_EXIT:
    case FACET_TILE_VCAS:
    case FACET_TILE_RSTATE:
    case FACET_TILE_RSETUP:
    case FACET_TILE_RDRAW:
    case FACET_TILE_RRECT:
    case FACET_TILE_GSTATE:
    case FACET_TILE_GPARAM:
    case FACET_TILE_GDRAW:
        return false;
    default:
        return !(row >= FACET_TILE_AADD && row <= FACET_TILE_AXOR_L) &&
               !(row >= FACET_TILE_VATOM_ADD && row <= FACET_TILE_VATOM_XOR_X);
    }
}

static void
decode_word(const struct facet_tile_machine *m, uint32_t word, struct facet_tile_insn *op)
{
    const struct facet_insn_row *row = facet_isa_decode(FACET_ISA_TILE, word);

    *op = (struct facet_tile_insn){.fn = illegal, .word = word};
    if (row == NULL) {
        return;
    }
    for (unsigned i = 0; i < row->operand_count; i++) {
        if (facet_tile_is_register(&row->operands[i]) &&
            facet_operand_get(&row->operands[i], word) >= m->config.regs) {
            return; /* regs=16 */
        }
    }
    for (unsigned i = 0; i < row->operand_count; i++) {
        take_operand(op, &row->operands[i], word);
    }
    op->fn = m->config.plain ? NULL : facet_tile_fast_handler(row->id);
    if (op->fn != NULL) {
        FACET_FAST_WAY(TILE_SIMD);
    } else {
        op->fn = facet_tile_handlers[row->id];
    }
    op->ahead = is_private(row->id, op);
    if (m->tally != NULL && facet_tile_tally_masks(row->id)) {
        op->fn = facet_tile_tally_masked;
    }
}

static void decode_at(struct facet_tile_core *c, const struct facet_tile_insn *op)
{
    struct facet_tile_page *page = c->page;
    size_t index = (size_t)(op - page->ops);
    struct facet_tile_insn *insn = &page->ops[index];
    int64_t target;

    page->untouched = false;
    if (c->m->tally != NULL) {
        facet_tile_tally_word(c->m, page, (uint32_t)index);
    }
    decode_word(c->m, facet_load_le32(page->bytes + 4 * index), insn);
    target = (int64_t)index * 4 + insn->imm; /* looked at by branches and JAL alone */
    insn->near = target >= 0 && target < PAGE && target % 4 == 0;
}

static const struct facet_tile_insn *decode(struct facet_tile_core *c,
                                            const struct facet_tile_insn *op)
{
    decode_at(c, op);
    return op->fn(c, op);
}

const struct facet_tile_insn *facet_tile_look(struct facet_tile_core *c,
                                              const struct facet_tile_insn *op)
{
    if (op->fn == next_page) {
        op = facet_tile_at(c, facet_tile_pc(c, op));
    }
    if (op->fn == decode) {
        decode_at(c, op);
    }
    return op;
}

/* ---- executing ---- */

static facet_tile_fn *draw_handler(const struct facet_tile_machine *m)
{
    return facet_tile_handlers[m->draw.part.kind == FACET_RASTER_PART_RDRAW   ? FACET_TILE_RDRAW
                               : m->draw.part.kind == FACET_RASTER_PART_RRECT ? FACET_TILE_RRECT
                                                                              : FACET_TILE_GDRAW];
}

bool facet_tile_draw_word_good(const struct facet_tile_machine *m)
{
    struct facet_tile_insn op;

    decode_word(m, m->draw_word, &op);
    return op.fn == draw_handler(m);
}

void facet_tile_execute(struct facet_tile_core *c)
{
    struct facet_tile_insn op;

    if (!facet_tile_half_drawn(c->m, c->id)) {
        c->ip = c->ip->fn(c, c->ip);
        return;
    }
    decode_word(c->m, c->m->draw_word, &op);
    if (op.fn(c, &op) != &op) {
        c->ip = facet_tile_at(c, facet_tile_pc(c, c->ip) + 4);
    }
}

/* ---- pages ---- */

static void fill(struct facet_tile_machine *m, struct facet_tile_page *page, uint32_t number)
{
    if (m->tally != NULL && !page->untouched) {
        facet_tile_tally_page(m, page);
    }
    page->number = number;
    if (number < IMEM_PAGES) {
        page->base = FACET_TILE_IMEM_BASE + number * PAGE;
        page->bytes = m->imem + (size_t)number * PAGE;
    } else {
        page->base = FACET_VRAM_BASE + (number - IMEM_PAGES) * PAGE;
        page->bytes = m->vram + (size_t)(number - IMEM_PAGES) * PAGE;
    }
    for (unsigned i = 0; !page->untouched && i < FACET_TILE_PAGE_OPS; i++) {
        page->ops[i] = (struct facet_tile_insn){.fn = decode};
    }
    page->ops[FACET_TILE_PAGE_OPS].fn = next_page;
    page->untouched = true;
}

static bool in_use(const struct facet_tile_machine *m, const struct facet_tile_page *page)
{
    for (unsigned i = 0; i < FACET_TILE_CORES; i++) {
        if (m->core[i].page == page) {
            return true;
        }
    }
    return false;
}

static struct facet_tile_page *take_slot(struct facet_tile_machine *m, uint32_t number)
{
    struct facet_tile_page *page;

    if (m->used_slots < FACET_TILE_SLOTS) {
        page = &m->pages[m->used_slots++];
    } else {
        do {
            m->victim = (m->victim + 1) % FACET_TILE_SLOTS;
            page = &m->pages[m->victim];
        } while (in_use(m, page));
        m->slot_of[page->number] = 0;
    }
    fill(m, page, number);
    m->slot_of[number] = (uint8_t)(page - m->pages + 1);
    return page;
}

const struct facet_tile_insn *facet_tile_at(struct facet_tile_core *c, uint32_t pc)
{
    struct facet_tile_machine *m = c->m;
    uint32_t number;

    if (pc - FACET_VRAM_BASE < m->vram_size) {
        number = IMEM_PAGES + (pc - FACET_VRAM_BASE) / PAGE;
    } else if (pc - FACET_TILE_IMEM_BASE < FACET_TILE_IMEM_BYTES) {
        number = (pc - FACET_TILE_IMEM_BASE) / PAGE;
    } else {
        c->bad_pc = pc;
        c->bad.fn = fetch_fault;
        return &c->bad;
    }
    c->page = m->slot_of[number] != 0 ? &m->pages[m->slot_of[number] - 1] : take_slot(m, number);
    return &c->page->ops[pc % PAGE / 4];
}

void facet_tile_set_pc(struct facet_tile_core *c, uint32_t pc)
{
    c->ip = facet_tile_at(c, pc & ~UINT32_C(3));
}

enum facet_status facet_tile_code_make(struct facet_tile_machine *m, struct facet_error *err)
{
    m->pages = calloc(FACET_TILE_SLOTS, sizeof *m->pages);
    m->slot_of = calloc(IMEM_PAGES + m->vram_size / PAGE, 1);
    if (m->pages == NULL || m->slot_of == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for decoded code");
    }
    return FACET_OK;
}

void facet_tile_code_free(struct facet_tile_machine *m)
{
    facet_code_memory_destroy(m->host_code);
    free(m->pages);
    free(m->slot_of);
}

void facet_tile_code_flush(struct facet_tile_machine *m)
{
    for (uint32_t i = 0; i < m->used_slots; i++) {
        fill(m, &m->pages[i], m->pages[i].number);
    }
}

/* The word has changed: so has host code that may contain it. */
static void forget_word(struct facet_tile_page *page, uint32_t index)
{
    page->ops[index].fn = decode;
    page->ops[index].ahead = false;
    for (uint32_t i = 0; i < FACET_TILE_BLOCK_OPS && i <= index; i++) {
        page->ops[index - i].code = NULL;
    }
}

void facet_tile_code_forget_host(struct facet_tile_machine *m)
{
    for (uint32_t i = 0; i < m->used_slots; i++) {
        for (unsigned k = 0; k < FACET_TILE_PAGE_OPS; k++) {
            m->pages[i].ops[k].code = NULL;
            m->pages[i].ops[k].heat = 0;
        }
    }
}

void facet_tile_code_changed(struct facet_tile_machine *m, uint32_t offset, uint32_t size)
{
    uint32_t first = offset / 4, last = (offset + size - 1) / 4;

    for (uint32_t word = first; word <= last; word++) {
        uint8_t slot = m->slot_of[IMEM_PAGES + word / FACET_TILE_PAGE_OPS];

        if (slot == 0) { /* to the next page */
            word |= FACET_TILE_PAGE_OPS - 1;
        } else {
            forget_word(&m->pages[slot - 1], word % FACET_TILE_PAGE_OPS);
        }
    }
}
