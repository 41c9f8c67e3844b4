/* The generated tables themselves: what decoder, assembler and CSR files rely on, proved again over
 * the C data, independently of the generator's own checks; and what the prose of spec/ cites must
 * exist. */
#include "harness.h"
#include "isa/isa.h"
#include "isa/isa_rows.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static uint32_t bits_of(const struct facet_operand *o)
{
    uint32_t bits = 0;

    for (unsigned p = 0; p < o->piece_count; p++) {
        bits |= (uint32_t)(((UINT64_C(1) << o->pieces[p].width) - 1) << o->pieces[p].word_lo);
    }
    return bits;
}

/* true when some word belongs to both rows. Fixed bits of both rows are given; of the conditions
 * only one matters: does it forbid what the other row fixes. */
static bool overlap(const struct facet_insn_row *a, const struct facet_insn_row *b)
{
    if (((a->match ^ b->match) & a->mask & b->mask) != 0) {
        return false;
    }
    const struct facet_insn_row *pair[2] = {a, b};
    for (unsigned i = 0; i < 2; i++) {
        const struct facet_insn_row *x = pair[i], *y = pair[1 - i];
        for (unsigned o = 0; o < x->operand_count; o++) {
            const struct facet_operand *op = &x->operands[o];
            if (op->piece_count > 0 && (y->mask & bits_of(op)) == bits_of(op) &&
                !facet_operand_legal(op, facet_operand_get(op, y->match))) {
                return false;
            }
        }
    }
    return true;
}

TEST(rows_are_disjoint, "GFX-367")
{
    for (int isa = 0; isa < FACET_ISA_COUNT; isa++) {
        for (size_t i = 0; i < facet_isa_row_count[isa]; i++) {
            for (size_t k = i + 1; k < facet_isa_row_count[isa]; k++) {
                const struct facet_insn_row *a = &facet_isa_rows[isa][i],
                                            *b = &facet_isa_rows[isa][k];
                CHECK_MSG(a->length != b->length || !overlap(a, b),
                          "%s overlaps %s",
                          a->mnemonic,
                          b->mnemonic);
            }
        }
    }
}

TEST(every_bit_is_fixed_or_a_field, "")
{
    for (int isa = 0; isa < FACET_ISA_COUNT; isa++) {
        for (size_t i = 0; i < facet_isa_row_count[isa]; i++) {
            const struct facet_insn_row *row = &facet_isa_rows[isa][i];
            uint32_t all = row->length == 2 ? 0xFFFF : 0xFFFFFFFF, used = row->mask;
            CHECK_MSG((row->match & ~row->mask) == 0 && (row->mask & ~all) == 0,
                      "%s mask",
                      row->mnemonic);
            for (unsigned o = 0; o < row->operand_count; o++) {
                const struct facet_operand *op = &row->operands[o];
                for (unsigned p = 0; p < op->piece_count; p++) {
                    const struct facet_piece *piece = &op->pieces[p];
                    uint32_t bits =
                        (uint32_t)(((UINT64_C(1) << piece->width) - 1) << piece->word_lo);
                    CHECK_MSG(piece->width > 0 &&
                                  piece->word_lo + piece->width <= 8 * row->length &&
                                  (bits & used) == 0,
                              "%s.%s",
                              row->mnemonic,
                              op->name);
                    used |= bits;
                }
                CHECK(op->kind == FACET_OPERAND_SP || op->piece_count > 0);
                CHECK((op->symbols != NULL) ==
                      (op->kind == FACET_OPERAND_ENUM || op->kind == FACET_OPERAND_FLAGS ||
                       op->kind == FACET_OPERAND_LETTERS));
                CHECK(!op->optional || facet_operand_fits(op, op->default_value));
            }
            CHECK_MSG(used == all, "%s leaves bits 0x%08x open", row->mnemonic, all & ~used);
        }
    }
}

TEST(items_show_every_operand_once, "")
{
    for (int isa = 0; isa < FACET_ISA_COUNT; isa++) {
        for (size_t i = 0; i < facet_isa_row_count[isa]; i++) {
            const struct facet_insn_row *row = &facet_isa_rows[isa][i];
            unsigned seen[32] = {0};
            if (row->suffix >= 0) {
                seen[row->suffix]++;
            }
            for (unsigned k = 0; k < row->item_count; k++) {
                CHECK(row->items[k].value >= 0 || row->items[k].base >= 0);
                if (row->items[k].value >= 0) {
                    seen[row->items[k].value]++;
                }
                if (row->items[k].base >= 0) {
                    seen[row->items[k].base]++;
                }
            }
            for (unsigned o = 0; o < row->operand_count; o++) {
                CHECK_MSG(seen[o] == !row->operands[o].hidden,
                          "%s.%s",
                          row->mnemonic,
                          row->operands[o].name);
            }
            CHECK(row->extension != NULL && row->extension[0] != '\0' && row->semantics[0] != '\0');
        }
    }
}

TEST(csr_fields, "")
{
    for (size_t i = 0; i < facet_csr_row_count; i++) {
        const struct facet_csr_row *row = &facet_csr_rows[i];
        uint64_t used = 0;
        CHECK(row->count > 0 && row->stride > 0 && row->field_count > 0);
        for (unsigned f = 0; f < row->field_count; f++) {
            const struct facet_csr_field *field = &row->fields[f];
            CHECK_MSG(
                field->hi < row->width && field->lo <= field->hi, "%s.%s", row->name, field->name);
            uint64_t ones = field->hi - field->lo == 63
                                ? UINT64_MAX
                                : (UINT64_C(1) << (field->hi - field->lo + 1)) - 1;
            CHECK_MSG((used & (ones << field->lo)) == 0, "%s.%s overlaps", row->name, field->name);
            CHECK_MSG((field->reset & ~ones) == 0, "%s.%s reset", row->name, field->name);
            used |= ones << field->lo;
        }
        for (size_t k = i + 1; k < facet_csr_row_count; k++) {
            const struct facet_csr_row *other = &facet_csr_rows[k];
            if (other->isa != row->isa) {
                continue;
            }
            CHECK_MSG(strcasecmp(row->name, other->name) != 0, "%s twice", row->name);
            for (uint32_t n = 0; n < other->count; n++) {
                CHECK(facet_csr_at(row->isa, other->number + n * other->stride) != row);
            }
        }
    }
}

/* "CAP-137" -> "CAP-", 137 */
static bool split_id(const char *id, char area[16], unsigned *number)
{
    const char *dash = strrchr(id, '-');

    if (dash == NULL || dash - id > 14) {
        return false;
    }
    memcpy(area, id, (size_t)(dash - id) + 1);
    area[dash - id + 1] = '\0';
    *number = (unsigned)strtoul(dash + 1, NULL, 10);
    return *number > 0;
}

TEST(layout_members_lie_in_their_structures, "")
{
    for (size_t i = 0; i < facet_layout_row_count; i++) {
        const struct facet_layout_row *row = &facet_layout_rows[i];
        const struct facet_layout_member *m;

        CHECK(facet_layout_find(row->name, &m) == row && m == NULL);
        CHECK((row->align & (row->align - 1)) == 0 && row->meaning[0] != '\0');
        for (unsigned w = 0; w < 4; w++) { /* elements of 1 << w bytes */
            for (size_t k = 0; k < row->member_count; k++) {
                uint64_t width, offset, size;

                m = &row->members[k];
                width = m->type == FACET_LAYOUT_ELEMENT ? UINT64_C(8) << w : m->width;
                offset = m->by_element != NULL ? m->by_element[w] : m->offset;
                size = row->by_element != NULL ? row->by_element[w] : row->size;
                CHECK(8 * offset + m->lo + width * m->count <= 8 * size);
            }
        }
    }
}

TEST(layouts_are_found_by_name, "")
{
    const struct facet_layout_member *m;
    const struct facet_layout_row *row = facet_layout_find("rstate.Blend", &m);
    uint64_t value;

    CHECK(row != NULL && m != NULL);
    if (row == NULL || m == NULL) {
        return;
    }
    CHECK(strcmp(row->name, "RSTATE") == 0 && strcmp(row->machine, "tile") == 0 && row->size == 64);
    CHECK(strcmp(m->name, "blend") == 0 && m->offset == 28 && m->lo == 0 && m->width == 8);
    CHECK(m->value_count == 3 && strcmp(m->values[2].name, "additive") == 0);
    CHECK(strcmp(m->refusal, "BAD_FORMAT") == 0 && m->stand_in == NULL);
    CHECK(facet_layout_member_find(row, "FLAGS") != NULL);
    CHECK(facet_layout_member_find(row, "flag") == NULL);
    CHECK(facet_layout_find("RSTATE.", &m) == NULL && facet_layout_find("RSTAT", &m) == NULL);
    CHECK(facet_layout_find("RSTATE.blend.alpha", &m) == NULL && facet_layout_find("", &m) == NULL);
    CHECK(facet_layout_constant("tile", "rstate.flags.tex_norm", &value) && value == 16);
    CHECK(!facet_layout_constant("xphmg", "RSTATE.flags", &value));
    CHECK(!facet_layout_constant("tile", "RSTATE.flags.", &value));
}

TEST(requirement_ids_are_dense, "")
{
    for (size_t i = 0; i < facet_requirement_row_count; i++) {
        char area[16], before[32];
        unsigned number = 0;
        const char *id = facet_requirement_rows[i].id;
        if (!CHECK_MSG(
                split_id(id, area, &number) && strlen(id) == strlen(area) + 3, "bad ID %s", id)) {
            continue;
        }
        snprintf(before, sizeof before, "%s%03u", area, number - 1);
        CHECK_MSG(
            number == 1 || facet_requirement_find(before) != NULL, "%s without %s", id, before);
        CHECK_MSG(facet_requirement_find(id) == &facet_requirement_rows[i], "%s twice", id);
    }
    for (size_t i = 0; i < facet_resolution_row_count; i++) {
        const struct facet_resolution_row *row = &facet_resolution_rows[i];
        CHECK_MSG(facet_resolution_find(row->id) == row, "%s twice", row->id);
        CHECK_MSG(row->title[0] != '\0' && strlen(row->text) > 20, "%s is empty", row->id);
    }
}

TEST(every_alias_names_rows, "")
{
    for (int isa = 0; isa < FACET_ISA_COUNT; isa++) {
        CHECK(facet_isa_alias_count[isa] > 0);
        for (size_t i = 0; i < facet_isa_alias_count[isa]; i++) {
            const struct facet_alias_row *alias = &facet_isa_aliases[isa][i];
            const char *at = alias->expansion;
            while (at[0] != '@' && at[0] != '\0') {
                size_t n = strcspn(at, " ;"), from = 0;
                CHECK_MSG(facet_isa_find((enum facet_isa)isa, at, n, &from) != NULL,
                          "%s: expansion %s",
                          alias->mnemonic,
                          at);
                const char *next = strstr(at, "; ");
                at = next != NULL ? next + 2 : "";
            }
        }
    }
}

/* -- What the prose cites -------------------------------------------------------------------------
 */

#define SPEC_FOLDER FACET_SOURCE_ROOT "/spec"

typedef void visit_fn(const char *file, unsigned line, const char *text);

static void visit_lines(const char *file, visit_fn *visit)
{
    char path[512], line[8192];
    unsigned number = 0;

    snprintf(path, sizeof path, "%s/%s", SPEC_FOLDER, file);
    FILE *f = fopen(path, "r");
    if (!CHECK_MSG(f != NULL, "cannot open %s", path)) {
        return;
    }
    while (fgets(line, sizeof line, f) != NULL) {
        visit(file, ++number, line);
    }
    fclose(f);
}

static unsigned visit_spec(const char *ending, visit_fn *visit)
{
    DIR *folder = opendir(SPEC_FOLDER);
    unsigned files = 0;
    struct dirent *entry;

    if (!CHECK(folder != NULL)) {
        return 0;
    }
    while ((entry = readdir(folder)) != NULL) {
        size_t n = strlen(entry->d_name), e = strlen(ending);
        if (n > e && strcmp(entry->d_name + n - e, ending) == 0) {
            visit_lines(entry->d_name, visit);
            files++;
        }
    }
    closedir(folder);
    return files;
}

static unsigned cited;

/* Every R-AREA-nn in prose and tables. */
static void check_resolution_ids(const char *file, unsigned line, const char *text)
{
    for (const char *at = strstr(text, "R-"); at != NULL; at = strstr(at + 2, "R-")) {
        char id[24];
        size_t n = 2;
        if (at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '-')) {
            continue;
        }
        while (n < 20 &&
               (isupper((unsigned char)at[n]) || isdigit((unsigned char)at[n]) || at[n] == '-')) {
            n++;
        }
        memcpy(id, at, n);
        id[n] = '\0';
        char area[16];
        unsigned number = 0;
        if (split_id(id, area, &number) && strlen(area) > 2) {
            cited++;
            CHECK_MSG(facet_resolution_find(id) != NULL, "spec/%s:%u cites %s", file, line, id);
        }
    }
}

TEST(cited_resolutions_exist, "")
{
    cited = 0;
    CHECK(visit_spec(".md", check_resolution_ids) >= 10);
    CHECK(visit_spec(".tsv", check_resolution_ids) >= 10);
    CHECK_MSG(cited > 500, "only %u citations found", cited);
}

/* Every AREA-nnn (three digits) whose area has requirement rows. */
static void check_requirement_ids(const char *file, unsigned line, const char *text)
{
    for (const char *at = strchr(text, '-'); at != NULL; at = strchr(at + 1, '-')) {
        const char *start = at;
        char id[24];
        while (start > text &&
               (isupper((unsigned char)start[-1]) || isdigit((unsigned char)start[-1]))) {
            start--;
        }
        bool ends = isdigit((unsigned char)at[1]) && isdigit((unsigned char)at[2]) &&
                    isdigit((unsigned char)at[3]) && !isalnum((unsigned char)at[4]);
        if (start == at || at - start > 12 || !ends || (start > text && start[-1] == '-')) {
            continue;
        }
        snprintf(id, sizeof id, "%.*s-001", (int)(at - start), start);
        if (facet_requirement_find(id) == NULL) {
            continue; /* not an area: a date, a register name */
        }
        snprintf(id, sizeof id, "%.*s", (int)(at - start) + 4, start);
        cited++;
        CHECK_MSG(facet_requirement_find(id) != NULL, "spec/%s:%u cites %s", file, line, id);
    }
}

TEST(cited_requirements_exist, "")
{
    cited = 0;
    visit_spec(".md", check_requirement_ids);
    visit_spec(".tsv", check_requirement_ids);
    CHECK_MSG(cited > 2000, "only %u citations found", cited);
}

static bool is_mnemonic(const char *name, size_t n)
{
    for (int isa = 0; isa < FACET_ISA_COUNT; isa++) {
        if (facet_isa_find((enum facet_isa)isa, name, n, &(size_t){0}) != NULL) {
            return true;
        }
        for (size_t i = 0; i < facet_isa_alias_count[isa]; i++) {
            const char *alias = facet_isa_aliases[isa][i].mnemonic;
            if (strlen(alias) == n && strncasecmp(alias, name, n) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* `VCVT.I*`: some mnemonic starts so. */
static bool is_prefix(const char *name, size_t n)
{
    for (int isa = 0; isa < FACET_ISA_COUNT; isa++) {
        for (size_t i = 0; i < facet_isa_row_count[isa]; i++) {
            if (strncasecmp(facet_isa_rows[isa][i].mnemonic, name, n) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* A family: some mnemonic starts with it and a dot. */
static bool is_family(const char *name, size_t n)
{
    for (int isa = 0; isa < FACET_ISA_COUNT; isa++) {
        for (size_t i = 0; i < facet_isa_row_count[isa]; i++) {
            const char *m = facet_isa_rows[isa][i].mnemonic;
            if (strncasecmp(m, name, n) == 0 && (m[n] == '.' || m[n] == '\0')) {
                return true;
            }
        }
    }
    return false;
}

static const char *const mnemonic_starts[] = {
    "GFX.",    "MTX.",    "rt.",     "RT.",      "xmem.",    "XMEM.",  "xlds.",  "XLDS.",  "xswz.",
    "XSWZ.",   "xfence.", "XFENCE.", "xsubmit.", "XSUBMIT.", "svon.",  "svp.",   "pmmov.", "pmlow.",
    "pmhigh.", "pcmp.",   "bp.",     "VLD.",     "VST.",     "VATOM.", "TEX2D.", "VCVT.",  "VPERM.",
    "VCMPV.",  "VBCAST.", "VINS.",   "VEXTR.",   "FCVT.",    "BARR.",
};

/* What looks like a mnemonic but is a file, or deprecated in the sources (R-XM-34 says so). */
static const char *const not_mnemonics[] = {
    "rt.csr",
    "rt.insn",
    "rt.requirements",
    "XMEM.DMA",
    "XMEM.FENCE",
};

/* Cuts `.d.s` off: one small letter stands for any type. */
static size_t without_type_letters(const char *name, size_t n)
{
    while (n > 2 && name[n - 2] == '.' && islower((unsigned char)name[n - 1])) {
        n -= 2;
    }
    return n;
}

static void check_mnemonics(const char *file, unsigned line, const char *text)
{
    for (size_t s = 0; s < sizeof mnemonic_starts / sizeof mnemonic_starts[0]; s++) {
        const char *start = mnemonic_starts[s];
        for (const char *at = strstr(text, start); at != NULL; at = strstr(at + 1, start)) {
            size_t n = strlen(start);
            bool known = false;
            if (at > text && (isalnum((unsigned char)at[-1]) || strchr("._-/", at[-1]) != NULL)) {
                continue;
            }
            if (!isalpha((unsigned char)at[n])) {
                continue; /* end of a sentence, VLD.*, RT 7.1 */
            }
            while (isalnum((unsigned char)at[n]) || at[n] == '_' ||
                   (at[n] == '.' && isalnum((unsigned char)at[n + 1]))) {
                n++;
            }
            known = is_mnemonic(at, n) || is_family(at, without_type_letters(at, n)) ||
                    (at[n] == '*' && is_prefix(at, n));
            for (size_t k = 0; k < sizeof not_mnemonics / sizeof not_mnemonics[0] && !known; k++) {
                known = strncmp(at, not_mnemonics[k], strlen(not_mnemonics[k])) == 0;
            }
            cited++;
            CHECK_MSG(known, "spec/%s:%u names %.*s", file, line, (int)n, at);
        }
    }
}

TEST(cited_mnemonics_exist, "")
{
    cited = 0;
    visit_spec(".md", check_mnemonics);
    visit_spec("requirements.tsv", check_mnemonics);
    CHECK_MSG(cited > 500, "only %u names found", cited);
}

/* CAP.X.Y, with an optional field behind it, and fields of the plain CSR names with a known field.
 */
static void check_csr_names(const char *file, unsigned line, const char *text)
{
    for (const char *at = strstr(text, "CAP."); at != NULL; at = strstr(at + 1, "CAP.")) {
        size_t n = 4;
        uint32_t number;
        if ((at > text && (isalnum((unsigned char)at[-1]) || strchr("_./-", at[-1]) != NULL)) ||
            !isupper((unsigned char)at[n])) {
            continue;
        }
        while (isupper((unsigned char)at[n]) || isdigit((unsigned char)at[n]) || at[n] == '_' ||
               (at[n] == '.' && isupper((unsigned char)at[n + 1]))) {
            n++;
        }
        if (at[n] == '*' || at[n] == '{' || (at[n] == '.' && at[n + 1] == '*') ||
            islower((unsigned char)at[n])) {
            continue; /* CAP.PREC.*, CAP.XMEM.SPROFn: a group */
        }
        bool known = false;
        for (size_t i = 0; i < facet_csr_row_count && !known; i++) {
            const struct facet_csr_row *row = &facet_csr_rows[i];
            size_t m = strlen(row->name);
            if (strncmp(row->name, at, n) == 0 && (row->name[n] == '\0' || row->name[n] == '.')) {
                known = true; /* the register, or a group of registers */
            }
            if (m < n && strncmp(row->name, at, m) == 0 && at[m] == '.') {
                for (unsigned f = 0; f < row->field_count; f++) {
                    known |= strlen(row->fields[f].name) == n - m - 1 &&
                             strncmp(row->fields[f].name, at + m + 1, n - m - 1) == 0;
                }
            }
        }
        char full[64];
        snprintf(full, sizeof full, "%.*s", (int)n, at);
        /* A register that the sources name and R-MTX-11 says does not exist; a group of registers.
         */
        known |= strcmp(full, "CAP.TILE") == 0 || strcmp(full, "CAP.XMEM.SVM") == 0;
        known |= facet_csr_find_number(FACET_ISA_XPHMG, full, strlen(full), false, &number) != NULL;
        cited++;
        CHECK_MSG(known, "spec/%s:%u names CSR or field %s", file, line, full);
    }
}

TEST(cited_csrs_exist, "")
{
    cited = 0;
    visit_spec(".md", check_csr_names);
    visit_spec("requirements.tsv", check_csr_names);
    CHECK_MSG(cited > 200, "only %u names found", cited);
}
