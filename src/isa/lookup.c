/* Finding rows by name or number: instructions, CSRs, structures, requirements, resolutions. Names
 * compare without case (spec/README.md, Assembly syntax). */
#include "isa/decode_tables.h"
#include "isa/isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* text[0..length) equals the whole of `name`, any case. */
static bool same_name(const char *text, size_t length, const char *name)
{
    for (size_t i = 0; i < length; i++) {
        if (name[i] == '\0' || lower(text[i]) != lower(name[i])) {
            return false;
        }
    }
    return name[length] == '\0';
}

const struct facet_insn_row *
facet_isa_find(enum facet_isa isa, const char *mnemonic, size_t length, size_t *from)
{
    const struct facet_mnemonic_hash *hash = &facet_mnemonic_hashes[isa];
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < length; i++) {
        h = (h ^ (unsigned char)lower(mnemonic[i])) * 16777619u;
    }
    h &= hash->mask;
    /* Rows of one bucket are in table order, so *from may count inside the bucket. */
    for (size_t i = hash->first[h] + *from; i < hash->first[h + 1]; i++) {
        const struct facet_insn_row *row = &facet_isa_rows[isa][hash->rows[i]];
        ++*from;
        if (same_name(mnemonic, length, row->mnemonic)) {
            return row;
        }
    }
    return NULL;
}

/* The digits at *at, at most five of them; false when there are none. */
static bool read_index(const char *text, size_t length, size_t *at, uint32_t *index)
{
    size_t start = *at;

    *index = 0;
    while (*at < length && *at - start < 5 && text[*at] >= '0' && text[*at] <= '9') {
        *index = *index * 10 + (uint32_t)(text[*at] - '0');
        ++*at;
    }
    return *at > start && (text[start] != '0' || *at == start + 1);
}

/* A family's name is PREFIXlo..hi (ZPTAB0..31) or PREFIX[n]REST (sampler[n].base). Returns the
 * length of PREFIX and sets *rest. */
static size_t split_family(const char *name, const char **rest)
{
    const char *bracket = strchr(name, '[');
    const char *dots = strstr(name, "..");

    if (bracket != NULL) {
        *rest = bracket + 3; /* "[n]" */
        return (size_t)(bracket - name);
    }
    *rest = "";
    while (dots > name && dots[-1] >= '0' && dots[-1] <= '9') {
        dots--;
    }
    return (size_t)(dots - name);
}

static bool
matches(const struct facet_csr_row *row, const char *name, size_t length, uint32_t *number)
{
    const char *rest;
    uint32_t index;
    bool bracket;
    size_t at;

    *number = row->number;
    if (same_name(name, length, row->name)) {
        return true;
    }
    if (row->count == 1) {
        return false;
    }
    at = split_family(row->name, &rest);

    for (size_t i = 0; i < at; i++) {
        if (i >= length || lower(name[i]) != lower(row->name[i])) {
            return false;
        }
    }
    bracket = row->name[at] == '[' && at < length && name[at] == '[';

    at += bracket;
    if (!read_index(name, length, &at, &index)) {
        return false;
    }
    if (bracket) {
        if (at >= length || name[at] != ']') {
            return false;
        }
        at++;
    }
    if (!same_name(name + at, length - at, rest) || index < row->first ||
        index - row->first >= row->count) {
        return false;
    }
    *number = row->number + (index - row->first) * row->stride;
    return true;
}

const struct facet_csr_row *facet_csr_find_number(
    enum facet_isa isa, const char *name, size_t length, bool in_12_bits, uint32_t *number)
{
    for (size_t i = 0; i < facet_csr_row_count; i++) {
        const struct facet_csr_row *row = &facet_csr_rows[i];
        if (row->isa == isa && matches(row, name, length, number)) {
            if (in_12_bits && *number > 0xFFF) {
                *number = row->alias;
                return row->alias != 0 ? row : NULL;
            }
            return row;
        }
    }
    return NULL;
}

const struct facet_csr_row *facet_csr_find(enum facet_isa isa, const char *name)
{
    uint32_t number;

    return facet_csr_find_number(isa, name, strlen(name), false, &number);
}

const struct facet_csr_row *facet_csr_at(enum facet_isa isa, uint32_t number)
{
    unsigned row =
        number <= UINT16_MAX ? facet_csr_pages[facet_csr_page[isa][number >> 8]][number & 255] : 0;

    return row != 0 ? &facet_csr_rows[row - 1] : NULL;
}

size_t facet_csr_name(const struct facet_csr_row *row, uint32_t number, char *buf, size_t size)
{
    const char *rest;
    size_t prefix;
    bool bracket;
    uint32_t index;

    if (row->count == 1) {
        return (size_t)snprintf(buf, size, "%s", row->name);
    }
    prefix = split_family(row->name, &rest);
    bracket = row->name[prefix] == '[';
    index = row->first + (number - row->number) / row->stride;

    return (size_t)snprintf(
        buf, size, bracket ? "%.*s[%u]%s" : "%.*s%u%s", (int)prefix, row->name, index, rest);
}

static const struct facet_layout_row *find_layout(const char *name, size_t length)
{
    for (size_t i = 0; i < facet_layout_row_count; i++) {
        if (same_name(name, length, facet_layout_rows[i].name)) {
            return &facet_layout_rows[i];
        }
    }
    return NULL;
}

static const struct facet_layout_member *
find_member(const struct facet_layout_row *row, const char *name, size_t length)
{
    for (size_t i = 0; i < row->member_count; i++) {
        if (same_name(name, length, row->members[i].name)) {
            return &row->members[i];
        }
    }
    return NULL;
}

const struct facet_layout_member *facet_layout_member_find(const struct facet_layout_row *row,
                                                           const char *name)
{
    return find_member(row, name, strlen(name));
}

const struct facet_layout_row *facet_layout_find(const char *name,
                                                 const struct facet_layout_member **member)
{
    const size_t length = strcspn(name, ".");
    const struct facet_layout_row *row = find_layout(name, length);

    *member = NULL;
    if (row != NULL && name[length] == '.') {
        *member = facet_layout_member_find(row, name + length + 1);
        return *member != NULL ? row : NULL;
    }
    return row;
}

bool facet_layout_constant(const char *machine, const char *name, uint64_t *value)
{
    const char *member = strchr(name, '.'), *named;
    const struct facet_layout_row *row =
        member != NULL ? find_layout(name, (size_t)(member - name)) : NULL;
    const struct facet_layout_member *m;

    if (row == NULL || strcmp(row->machine, machine) != 0) {
        return false;
    }
    named = strchr(++member, '.');
    m = find_member(row, member, named != NULL ? (size_t)(named - member) : strlen(member));
    if (m == NULL || named == NULL) {
        *value = m != NULL ? m->offset : 0;
        return m != NULL && m->by_element == NULL;
    }
    for (size_t i = 0; i < m->value_count; i++) {
        const struct facet_layout_value *v = &m->values[i];

        if (v->name != NULL && same_name(named + 1, strlen(named + 1), v->name)) {
            *value = m->type == FACET_LAYOUT_FLAGS ? UINT64_C(1) << v->first : v->first;
            return true;
        }
    }
    return false;
}

/* IDs in any case. */
static int compare_requirement(const void *id, const void *row)
{
    return strcasecmp(id, facet_requirement_rows[*(const uint16_t *)row].id);
}

static int compare_resolution(const void *id, const void *row)
{
    return strcasecmp(id, facet_resolution_rows[*(const uint16_t *)row].id);
}

const struct facet_requirement_row *facet_requirement_find(const char *id)
{
    const uint16_t *row = bsearch(id,
                                  facet_requirement_order,
                                  facet_requirement_row_count,
                                  sizeof facet_requirement_order[0],
                                  compare_requirement);

    return row != NULL ? &facet_requirement_rows[*row] : NULL;
}

const struct facet_resolution_row *facet_resolution_find(const char *id)
{
    const uint16_t *row = bsearch(id,
                                  facet_resolution_order,
                                  facet_resolution_row_count,
                                  sizeof facet_resolution_order[0],
                                  compare_resolution);

    return row != NULL ? &facet_resolution_rows[*row] : NULL;
}
