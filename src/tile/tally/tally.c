/* See tally.h. */
#include "tile/tally/tally.h"

#include "contract/tile_csrs.h"
#include "isa/isa.h"
#include "isa/isa_rows.h"
#include "tile/system.h"
#include "tile/watch.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, IMEM_PAGES = 16 };

static uint32_t page_number(uint32_t pc)
{
    return pc >= FACET_VRAM_BASE ? IMEM_PAGES + (pc - FACET_VRAM_BASE) / PAGE
                                 : (pc - FACET_TILE_IMEM_BASE) / PAGE;
}

/* ---- memory ---- */

/* The accesses of an instruction each time that it retires. */
struct accesses {
    enum facet_tile_access access;
    uint32_t lanes, size; /* no lanes: none */
};

static struct accesses lanes_of(enum facet_tile_access access, const char *width)
{
    const uint32_t size = strncmp(width, "16", 2) == 0 ? 2 : width[0] == '8' ? 1 : 4;

    return (struct accesses){access, 16 / size, size};
}

static struct accesses accesses_of(const struct facet_insn_row *row)
{
    const char *name = row->mnemonic;

    if (row->id >= FACET_TILE_LB && row->id <= FACET_TILE_SW_PL) {
        const uint32_t size = name[1] == 'B' ? 1 : name[1] == 'H' ? 2 : 4;

        return (struct accesses){name[0] == 'L' ? FACET_TILE_LOAD : FACET_TILE_STORE, 1, size};
    }
    if (row->id >= FACET_TILE_AADD && row->id <= FACET_TILE_AXOR_L) {
        return (struct accesses){FACET_TILE_ATOMIC, 1, 4};
    }
    if (strncmp(name, "VATOM", 5) == 0 || strcmp(name, "VCAS") == 0) {
        return (struct accesses){FACET_TILE_ATOMIC, 4, 4};
    }
    if (strncmp(name, "VLD.V", 5) == 0 || strncmp(name, "VST.V", 5) == 0) {
        return (struct accesses){name[1] == 'L' ? FACET_TILE_LOAD : FACET_TILE_STORE, 1, 16};
    }
    if (strncmp(name, "VLD.S", 5) == 0 || strncmp(name, "VST.S", 5) == 0) {
        return lanes_of(name[1] == 'L' ? FACET_TILE_LOAD : FACET_TILE_STORE, name + 5);
    }
    if (strncmp(name, "VLDX", 4) == 0 || strncmp(name, "VSTX", 4) == 0) {
        return lanes_of(name[1] == 'L' ? FACET_TILE_LOAD : FACET_TILE_STORE, name + 4);
    }
    return (struct accesses){FACET_TILE_LOAD, 0, 0};
}

/* ---- rows ---- */

bool facet_tile_tally_masks(unsigned row)
{
    return (row >= FACET_TILE_VSEL_I32 && row <= FACET_TILE_VSEL_F32) ||
           (row >= FACET_TILE_VSELD_I32 && row <= FACET_TILE_VSELD_F32);
}

static unsigned lane_count(const struct facet_insn_row *row)
{
    const char *end = row->mnemonic + strlen(row->mnemonic);

    return end[-1] == '8' ? 16 : end[-1] == '6' ? 8 : 4;
}

static void count_row(struct facet_tile_tally *tally,
                      uint32_t core,
                      uint32_t pc,
                      uint32_t word,
                      uint64_t times,
                      uint64_t active)
{
    const struct facet_insn_row *row = facet_isa_decode(FACET_ISA_TILE, word);

    if (times == 0 || row == NULL) {
        return;
    }
    facet_counts_insn(tally->counts, core, pc, word, times);
    if (facet_tile_tally_masks(row->id)) {
        facet_counts_lanes(tally->counts, core, pc, word, active, times * lane_count(row));
    } else if (row->id == FACET_TILE_VLD_C || row->id == FACET_TILE_VLD_C_L) {
        facet_counts_memory(tally->counts, "constant load", 16, times);
    } else {
        const struct accesses made = accesses_of(row);

        if (made.lanes != 0) {
            tally->global[made.access][__builtin_ctz(made.size)] += times * made.lanes;
        }
    }
}

void facet_tile_tally_page(struct facet_tile_machine *m, const struct facet_tile_page *page)
{
    const size_t slot = (size_t)(page - m->pages);

    for (uint32_t core = 0; core < FACET_TILE_CORES; core++) {
        uint64_t *more = m->tally->more[slot][core], *active = m->tally->active[slot][core];
        uint64_t times = 0;

        for (uint32_t i = 0; i < FACET_TILE_PAGE_OPS; i++) {
            times += more[i];
            count_row(m->tally, core, page->base + 4 * i, page->ops[i].word, times, active[i]);
        }
        memset(more, 0, sizeof m->tally->more[slot][core]);
        memset(active, 0, sizeof m->tally->active[slot][core]);
    }
}

void facet_tile_tally_word(struct facet_tile_machine *m,
                           const struct facet_tile_page *page,
                           uint32_t index)
{
    const size_t slot = (size_t)(page - m->pages);

    for (uint32_t core = 0; core < FACET_TILE_CORES; core++) {
        uint64_t *more = m->tally->more[slot][core], *active = m->tally->active[slot][core];
        uint64_t times = 0;

        for (uint32_t i = 0; i <= index; i++) {
            times += more[i];
        }
        count_row(
            m->tally, core, page->base + 4 * index, page->ops[index].word, times, active[index]);
        more[index] -= times;
        more[index + 1] += times;
        active[index] = 0;
    }
}

/* ---- journals ---- */

static struct facet_tile_stretch *journal_of(struct facet_tile_core *c)
{
    return c->m->tally->journal[c->id] + 1; /* the one before continues nowhere */
}

/* In code that is not decoded any more, which has not changed. */
static void add_slowly(struct facet_tile_core *c, const struct facet_tile_stretch *s)
{
    struct facet_tile_tally *tally = c->m->tally;
    const bool lanes = s->count >= FACET_TILE_LANES;

    for (uint32_t i = 0; i < (lanes ? 1 : s->count); i++) {
        uint8_t bytes[4] = {0};
        uint32_t word;

        (void)facet_mem_peek(c->m->mem, s->pc + 4 * i, bytes, sizeof bytes);
        word = facet_load_le32(bytes);
        if (lanes) {
            facet_counts_lanes(tally->counts, c->id, s->pc, word, s->count - FACET_TILE_LANES, 0);
        } else {
            count_row(tally, c->id, s->pc + 4 * i, word, 1, 0);
        }
    }
}

static void add_journal(struct facet_tile_core *c)
{
    struct facet_tile_tally *tally = c->m->tally;

    for (const struct facet_tile_stretch *s = journal_of(c); s < c->said; s++) {
        const uint8_t slot = c->m->slot_of[page_number(s->pc)];
        const uint32_t index = s->pc % PAGE / 4;

        if (slot == 0) {
            add_slowly(c, s);
        } else if (s->count >= FACET_TILE_LANES) {
            tally->active[slot - 1][c->id][index] += s->count - FACET_TILE_LANES;
        } else {
            tally->more[slot - 1][c->id][index]++;
            tally->more[slot - 1][c->id][index + s->count]--;
        }
    }
    c->said = journal_of(c);
}

static void add_traffic(struct facet_tile_core *c)
{
    struct facet_tile_tally *tally = c->m->tally;
    struct facet_tile_traffic *traffic = &tally->traffic[c->id];

    for (unsigned reach = 0; reach < FACET_TILE_REACHES; reach++) {
        for (unsigned access = 0; access < 3; access++) {
            for (unsigned size = 0; size < 6; size++) {
                tally->beside[reach][access][size] += traffic->accesses[reach][access][size];
            }
        }
    }
    memset(traffic, 0, sizeof *traffic);
}

void facet_tile_tally_mark(struct facet_tile_core *c)
{
    c->m->tally->mark[c->id] = c->m->tally->traffic[c->id];
}

void facet_tile_tally_undo(struct facet_tile_core *c)
{
    c->said = journal_of(c);
    c->m->tally->traffic[c->id] = c->m->tally->mark[c->id];
}

void facet_tile_tally_keep(struct facet_tile_core *c)
{
    uint32_t most = 0;

    add_journal(c);
    for (unsigned i = 0; i < FACET_TILE_REACHES * 3 * 6; i++) {
        most |= (&c->m->tally->traffic[c->id].accesses[0][0][0])[i];
    }
    if (most >> 30 != 0) {
        add_traffic(c);
    }
}

/* ---- instructions ---- */

const struct facet_tile_insn *facet_tile_tally_masked(struct facet_tile_core *c,
                                                      const struct facet_tile_insn *op)
{
    const struct facet_insn_row *row = facet_isa_decode(FACET_ISA_TILE, op->word);
    const uint32_t mask =
        c->r.s[op->rs2] ^ ((c->r.config & FACET_CONFIG_PINV) != 0 ? UINT32_MAX : 0);
    const uint32_t active = mask & ((UINT32_C(1) << lane_count(row)) - 1);

    *c->said++ = (struct facet_tile_stretch){
        facet_tile_pc(c, op), FACET_TILE_LANES + (uint32_t)__builtin_popcount(active)};
    return facet_tile_handlers[row->id](c, op);
}

/* The counters stay where they are while the instruction runs: what it overwrites is decoded anew
 * later, and the page of a core keeps its slot. */
void facet_tile_tally_step(struct facet_tile_core *c)
{
    struct facet_tile_machine *m = c->m;
    const struct facet_tile_insn *op = c->ip->ahead ? c->ip : facet_tile_look(c, c->ip);
    const bool rest = facet_tile_half_drawn(m, c->id);
    const uint64_t retired = c->instret;
    const uint32_t pc = facet_tile_pc(c, op);
    uint64_t *more = op != &c->bad ? &m->tally->more[c->page - m->pages][c->id][op - c->page->ops]
                                   : NULL; /* no code there: a fault */

    c->ip = op;
    if (m->watched) {
        facet_tile_watched_step(c);
    } else if (rest) {
        facet_tile_execute(c);
        c->instret++;
    } else {
        c->ip = op->fn(c, op);
        c->instret++;
    }
    if (c->instret != retired && m->event != FACET_TILE_EVENT_LEFT) {
        if (rest) { /* the draw may have overwritten its instruction */
            count_row(m->tally, c->id, pc, m->draw_word, 1, 0);
        } else if (more != NULL) {
            more[0]++;
            more[1]--;
        }
    }
    if (c->said != journal_of(c)) {
        add_journal(c);
    }
}

/* ---- draws ---- */

static const struct {
    const char *name;
    size_t at;
} members[] = {
#define MEMBER(name) {#name, offsetof(struct facet_raster_counts, name)},
    FACET_RASTER_COUNTS(MEMBER)
#undef MEMBER
};

static const char *const traffic_names[FACET_RASTER_TRAFFICS] = {
    [FACET_RASTER_INDEX_LOAD] = "index load",
    [FACET_RASTER_VERTEX_LOAD] = "vertex load",
    [FACET_RASTER_DEPTH_LOAD] = "depth load",
    [FACET_RASTER_DEPTH_STORE] = "depth store",
    [FACET_RASTER_COLOR_LOAD] = "color load",
    [FACET_RASTER_COLOR_STORE] = "color store",
    [FACET_RASTER_TEXEL_LOAD] = "texel load",
    [FACET_RASTER_PALETTE_LOAD] = "palette load",
};

void facet_tile_tally_draw(struct facet_tile_machine *m, uint32_t who, const char *what)
{
    struct facet_counts *counts = m->tally->counts;
    struct facet_raster_counts *draw = &m->tally->draw;

    facet_counts_entry(counts);
    facet_counts_put(counts, "draws", "draw", 0, what);
    if (who == FACET_TILE_OF_QUEUE) {
        facet_counts_put(counts, "draws", "command", m->queue.commands, NULL);
    } else {
        facet_counts_put(counts, "draws", "core", who, NULL);
        facet_counts_put(
            counts, "draws", "pc", facet_tile_pc(&m->core[who], m->core[who].ip), NULL);
    }
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        uint64_t number;

        memcpy(&number, (const char *)draw + members[i].at, sizeof number);
        facet_counts_put(counts, "draws", members[i].name, number, NULL);
    }
    for (unsigned i = 0; i < FACET_RASTER_TRAFFICS; i++) {
        facet_counts_memory(counts, traffic_names[i], draw->bytes_each[i], draw->accesses[i]);
    }
    *draw = (struct facet_raster_counts){0};
}

/* ---- beginning and end ---- */

static void add_memory(struct facet_tile_tally *tally)
{
    static const char *const names[FACET_TILE_REACHES + 1][3] = {
        {"scratch load", "scratch store", "scratch atomic"},
        {"imem load", "imem store", "imem atomic"},
        {"sampler load", "sampler store", "sampler atomic"},
        {"texel load", "", ""},
        {"global load", "global store", "global atomic"}};

    for (unsigned access = 0; access < 3; access++) {
        for (unsigned size = 0; size < 6; size++) {
            uint64_t global = tally->global[access][size];

            for (unsigned reach = 0; reach < FACET_TILE_REACHES; reach++) {
                const uint64_t beside = tally->beside[reach][access][size];

                facet_counts_memory(
                    tally->counts, names[reach][access], UINT32_C(1) << size, beside);
                global -= reach != FACET_TILE_REACH_TEXEL ? beside : 0;
            }
            facet_counts_memory(
                tally->counts, names[FACET_TILE_REACHES][access], UINT32_C(1) << size, global);
        }
    }
}

static void finish(struct facet_tile_machine *m)
{
    facet_tile_code_flush(m); /* to the rows */
    for (uint32_t i = 0; i < FACET_TILE_CORES; i++) {
        add_traffic(&m->core[i]);
        m->core[i].said = NULL;
    }
    add_memory(m->tally);
    free(m->tally);
    m->tally = NULL;
    m->unit.counts = NULL;
}

enum facet_status facet_tile_count(void *self, struct facet_counts *counts, struct facet_error *err)
{
    struct facet_tile_machine *m = self;

    if (m->tally != NULL) {
        finish(m);
    }
    if (counts != NULL) {
        m->tally = calloc(1, sizeof *m->tally);
        if (m->tally == NULL) {
            return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the counts");
        }
        m->tally->counts = counts;
        m->unit.counts = &m->tally->draw;
        for (uint32_t i = 0; i < FACET_TILE_CORES; i++) {
            m->core[i].said = journal_of(&m->core[i]);
            m->tally->journal[i][0].pc = 1;
        }
    }
    facet_tile_code_flush(m); /* decoded anew, with or without what counts */
    return FACET_OK;
}
