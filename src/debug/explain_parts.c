/* See explain_parts.h. */
#include "debug/explain_parts.h"
#include "debug/internal.h"

#include "base/bits.h"
#include "isa/isa.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What units and instructions of any machine take from memory; those that are not listed take the
 * structure of their own name, if there is one. */
static const struct {
    const char *reader, *structure;
    const char *if_set;         /* an operand that must not be 0, or NULL */
    const char *status, *field; /* of a unit: where it keeps what stopped a job */
} readers[] = {
    {"rt", "XPHMG_RT_DESC", NULL, "RTSTAT", "LAST_EC"},
    {"mtx", "XPHMG_MTX_DESC", NULL, "MTXSTAT", "JOB_ERR"},
    {"xsubmit.rt", "XPHMG_RT_DESC", NULL, NULL, NULL},
    {"xsubmit.mtx", "XPHMG_MTX_DESC", NULL, NULL, NULL},
    {"GFX.SAMPLE", "TextureDesc", "d", NULL, NULL},
    {"RSETUP", "VERTEX_BLOCK", NULL, NULL, NULL},
};
enum { READERS = sizeof readers / sizeof readers[0], NO_READER = READERS };

static size_t reader_of(const char *name)
{
    size_t i = 0;

    while (i < READERS && strcmp(readers[i].reader, name) != 0) {
        i++;
    }
    return i;
}

/* ---- structures ---- */

static bool is_memory(const struct facet_explain *e, uint64_t address)
{
    uint8_t byte;

    return facet_machine_read(e->machine, 0, address, &byte, 1, NULL) == FACET_OK;
}

static const char *name_of(const struct facet_layout_member *m, uint64_t value)
{
    for (unsigned i = 0; i < m->value_count; i++) {
        if (value >= m->values[i].first && value <= m->values[i].last) {
            return m->values[i].name;
        }
    }
    return NULL;
}

static void put_flags(struct facet_record *r, const struct facet_layout_member *m, uint64_t value)
{
    for (unsigned i = 0; i < m->value_count; i++) {
        if (m->values[i].name != NULL && (value >> m->values[i].first & 1) != 0) {
            facet_record_say(r, " %s", m->values[i].name);
        }
    }
}

static void put_member(const struct facet_explain *e,
                       struct facet_record *r,
                       const struct facet_layout_member *m,
                       uint64_t value)
{
    const char *name = m->type == FACET_LAYOUT_ENUM ? name_of(m, value) : NULL;

    if (r->json) {
        facet_record_hex(r, m->name, value, 0);
        return;
    }
    if (value == 0) {
        return; /* as in words of status */
    }
    facet_record_say(r, " %s = 0x%" PRIx64, m->name, value);
    if (name != NULL) {
        facet_record_say(r, " %s", name);
    } else if (m->type == FACET_LAYOUT_FLAGS) {
        put_flags(r, m, value);
    } else if (m->type == FACET_LAYOUT_ADDRESS && value != 0 && !is_memory(e, value)) {
        facet_record_say(r, " (no memory)");
    }
}

static bool is_plain(const struct facet_layout_member *m)
{
    return m->count == 1 && !m->view && m->by_element == NULL && m->width != 0 && m->width <= 64 &&
           m->type != FACET_LAYOUT_STRUCTURE && m->type != FACET_LAYOUT_FIXED;
}

static void put_structure(const struct facet_explain *e,
                          struct facet_record *r,
                          const char *structure,
                          uint64_t address)
{
    const struct facet_layout_member *member;
    const struct facet_layout_row *row = facet_layout_find(structure, &member);
    uint8_t *bytes = row != NULL ? malloc(row->size + 8) : NULL;
    bool good = bytes != NULL &&
                facet_machine_read(e->machine, 0, address, bytes, row->size, NULL) == FACET_OK;

    facet_record_open(r, "descriptor", NULL);
    facet_record_line(r, NULL, NULL);
    if (r->json) {
        facet_record_word(r, "structure", structure);
        facet_record_hex(r, "address", address, 0);
    } else {
        facet_record_say(r, "  %s at 0x%" PRIx64 ":", structure, address);
    }
    if (!good && !r->json) {
        facet_record_say(r, " no memory");
    }
    facet_record_open(r, "members", NULL);
    for (unsigned i = 0; good && i < row->member_count; i++) {
        const struct facet_layout_member *m = &row->members[i];

        if (is_plain(m)) {
            uint32_t at = m->offset + m->lo / 8, room = row->size - at;
            uint64_t value = 0;

            for (uint32_t k = room < 8 ? room : 8; k-- > 0;) {
                value = value << 8 | bytes[at + k];
            }
            value >>= m->lo % 8;
            put_member(e, r, m, m->width < 64 ? value & facet_bits_mask(m->width) : value);
        }
    }
    facet_record_close(r);
    facet_record_close(r);
    free(bytes);
}

void facet_explain_operand(const struct facet_explain *e,
                           struct facet_record *r,
                           uint32_t core,
                           const struct facet_insn_row *row,
                           uint32_t word)
{
    size_t reader = reader_of(row->mnemonic);
    const char *structure = reader != NO_READER ? readers[reader].structure : row->mnemonic;
    const struct facet_layout_member *member = NULL;
    const struct facet_layout_row *layout = facet_layout_find(structure, &member);
    bool asked = reader == NO_READER || readers[reader].if_set == NULL;
    uint32_t reg = FACET_NONE;
    struct facet_value base = {0, 0};
    uint64_t offset = 0;

    for (unsigned i = 0; i < row->operand_count; i++) {
        const struct facet_operand *o = &row->operands[i];

        if (strcmp(o->name, "rs1") == 0) {
            reg = facet_explain_reg_of(e, core, o, word);
        } else if (strcmp(o->name, "uimm") == 0) {
            offset = (uint64_t)facet_operand_get(o, word);
        } else if (!asked && strcmp(o->name, readers[reader].if_set) == 0) {
            asked = facet_operand_get(o, word) != 0;
        }
    }
    if (asked && layout != NULL && member == NULL && reg != FACET_NONE) {
        (void)facet_machine_reg_read(e->machine, core, reg, &base, NULL);
        put_structure(e, r, structure, base.lo + offset);
    }
}

/* ---- jobs ---- */

static struct facet_explain_job *find_job(struct facet_explain_told *jobs,
                                          const struct facet_unit_event *event)
{
    struct facet_explain_job *job;

    for (unsigned i = 0; i < FACET_JOBS_KEPT; i++) {
        job = &jobs->list[i];
        if (job->unit != NULL && strcmp(job->unit, event->unit) == 0 &&
            job->id == event->values[0]) {
            return job;
        }
    }
    job = &jobs->list[jobs->next++ % FACET_JOBS_KEPT];
    *job = (struct facet_explain_job){
        .unit = event->unit, .core = event->core, .id = event->values[0], .is_open = true};
    return job;
}

void facet_explain_jobs_hear(struct facet_explain_told *jobs, const struct facet_unit_event *event)
{
    if (event->count >= 2 && strcmp(event->what, "submit") == 0) {
        find_job(jobs, event)->address = event->values[1];
    } else if (event->count >= 3 && strcmp(event->what, "failed") == 0) {
        struct facet_explain_job *job = find_job(jobs, event);

        job->error = event->values[1];
        job->address = event->values[2];
    }
}

void facet_explain_jobs_settle(struct facet_explain_told *jobs, uint64_t pc)
{
    for (unsigned i = 0; i < FACET_JOBS_KEPT; i++) {
        if (jobs->list[i].is_open) {
            jobs->list[i].is_open = false;
            jobs->list[i].has_pc = true;
            jobs->list[i].pc = pc;
        }
    }
}

/* What the field's own text says of the number ("3 EC_DESC_FAULT" in a list of them); else it is a
 * cause. */
static void put_meaning(const struct facet_explain *e,
                        struct facet_record *r,
                        const struct facet_explain_job *job,
                        const char *status,
                        const char *name)
{
    uint32_t index = facet_machine_find_csr(e->machine, job->core, status);
    const struct facet_csr_desc *csr =
        index != FACET_NONE ? &facet_machine_core(e->machine, job->core)->csrs[index] : NULL;
    const char *at = NULL, *cause = facet_trace_cause(job->error);
    char number[32];

    (void)snprintf(number, sizeof number, " %" PRIu64 " ", job->error);
    for (unsigned i = 0; csr != NULL && i < csr->field_count && at == NULL; i++) {
        const char *text = csr->fields[i].meaning;

        at = text != NULL && strcmp(csr->fields[i].name, name) == 0 ? strstr(text, number) : NULL;
    }
    if (at != NULL) {
        at += strlen(number);
        facet_record_say(r, " %.*s", (int)strcspn(at, ",. "), at);
    } else if (cause != NULL) {
        facet_record_say(r, " %s", cause);
    }
}

static void
put_job(const struct facet_explain *e, struct facet_record *r, const struct facet_explain_job *job)
{
    size_t reader = reader_of(job->unit);
    struct facet_strbuf place;

    facet_record_open(r, NULL, NULL);
    facet_record_line(r, NULL, NULL);
    if (r->json) {
        facet_record_word(r, "unit", job->unit);
        facet_record_hex(r, "id", job->id, 16);
        facet_record_number(r, "error", (int64_t)job->error);
    } else {
        facet_record_say(r, "  %s job 0x%016" PRIx64 " failed:", job->unit, job->id);
        if (reader != NO_READER) {
            facet_record_say(
                r, " %s.%s = %" PRIu64, readers[reader].status, readers[reader].field, job->error);
            put_meaning(e, r, job, readers[reader].status, readers[reader].field);
        } else {
            facet_record_say(r, " cause %" PRIu64, job->error);
        }
    }
    if (job->has_pc) {
        facet_record_open(r, "submitted", NULL);
        if (r->json) {
            facet_record_hex(r, "pc", job->pc, 8);
        } else {
            facet_strbuf_init(&place);
            facet_explain_place(e, job->pc, &place);
            facet_record_say(r, ", submitted at %s", facet_strbuf_text(&place));
            facet_strbuf_free(&place);
        }
        facet_explain_names(e, r, job->pc);
        facet_explain_instruction(e, r, job->core, job->pc);
        facet_record_close(r);
    }
    if (reader != NO_READER) {
        put_structure(e, r, readers[reader].structure, job->address);
    }
    facet_record_close(r);
}

void facet_explain_jobs(const struct facet_explain *e,
                        struct facet_record *r,
                        const struct facet_explain_told *jobs)
{
    for (unsigned i = 0; i < FACET_JOBS_KEPT; i++) {
        const struct facet_explain_job *job = &jobs->list[(jobs->next + i) % FACET_JOBS_KEPT];

        if (job->unit != NULL && job->error != 0) {
            put_job(e, r, job);
        }
    }
}
