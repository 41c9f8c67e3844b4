/* See suggest.h. */
#include "cards/suggest.h"
#include "cards/search.h"

#include "base/nearest.h"
#include "isa/isa.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_SUGGESTIONS = 4 };

struct suggestions {
    char names[MAX_SUGGESTIONS][64];
    size_t count;
};

static bool taken(const struct suggestions *s, const char *name, size_t length)
{
    for (size_t i = 0; i < s->count; i++) {
        if (strncasecmp(s->names[i], name, length) == 0 && s->names[i][length] == '\0') {
            return true;
        }
    }
    return false;
}

static void suggest(struct suggestions *s, const char *name, size_t length)
{
    if (length < sizeof s->names[0]) {
        memcpy(s->names[s->count++], name, length);
    }
}

/* What several instructions share, VFMA of VFMA.F32. */
static void offer_stems(const struct suggestions *s, struct facet_nearest *near, const char *name)
{
    for (const char *dot = strchr(name, '.'); dot != NULL; dot = strchr(dot + 1, '.')) {
        size_t length = (size_t)(dot - name);

        if (!taken(s, name, length)) {
            facet_nearest_offer(near, name, length);
        }
    }
}

/* The nearest names one after the other: whole names, what stands after the last dot of fields and
 * members, and shared stems. */
static void suggest_near(struct suggestions *s, const char *word, unsigned machine)
{
    while (s->count < MAX_SUGGESTIONS) {
        struct facet_nearest near = facet_nearest_to(word, strlen(word));

        for (size_t i = 0; i < facet_item_count; i++) {
            const struct facet_item *item = &facet_items[i];
            bool bare = (item->kind == FACET_ITEM_FIELD || item->kind == FACET_ITEM_MEMBER) &&
                        strchr(word, '.') == NULL;
            const char *name = bare ? strrchr(item->name, '.') + 1 : item->name;

            if (machine != FACET_ITEM_ANY && item->machine != machine) {
                continue;
            }
            if (!taken(s, name, strlen(name))) {
                facet_nearest_offer(&near, name, strlen(name));
            }
            if (item->kind == FACET_ITEM_INSTRUCTION) {
                offer_stems(s, &near, name);
            }
        }
        if (near.best == NULL) {
            return;
        }
        suggest(s, near.best, near.best_length);
    }
}

/* Then names and texts that have the word inside. */
static void suggest_found(struct suggestions *s, const char *word, unsigned machine)
{
    struct facet_hit *hits = calloc(facet_item_count, sizeof *hits);
    char *words[1] = {(char *)(uintptr_t)word};
    size_t count = hits != NULL ? facet_search(words, 1, machine, hits) : 0;

    for (size_t i = 0; i < count && s->count < MAX_SUGGESTIONS; i++) {
        const char *name = hits[i].item->name;

        if (!taken(s, name, strlen(name))) {
            suggest(s, name, strlen(name));
        }
    }
    free(hits);
}

/* The fields with a meaning, and the nearest of them. */
static void say_fields(const struct facet_csr_row *row, const char *word, struct facet_strbuf *out)
{
    struct facet_nearest near = facet_nearest_to(word, strlen(word));
    struct facet_strbuf fields;

    facet_strbuf_init(&fields);
    for (unsigned i = 0; i < row->field_count; i++) {
        const char *name = row->fields[i].name;

        if (strncasecmp(name, "rsv", 3) != 0 && strcasecmp(name, "reserved") != 0) {
            facet_strbuf_printf(&fields, "%s%s", fields.length > 0 ? " " : "", name);
            facet_nearest_offer(&near, name, strlen(name));
        }
    }
    facet_strbuf_printf(out,
                        "%s has no field '%s'; %s%s%s%s",
                        row->name,
                        word,
                        near.best != NULL ? "did you mean " : "",
                        near.best != NULL ? near.best : "",
                        near.best != NULL ? "? It has " : "it has ",
                        facet_strbuf_text(&fields));
    out->failed |= fields.failed;
    facet_strbuf_free(&fields);
}

/* CSR.FIELD with a known CSR. */
static const struct facet_csr_row *csr_before(const char *name, const char *dot, unsigned machine)
{
    const struct facet_csr_row *row = NULL;

    for (unsigned k = 0; dot != NULL && k < FACET_ISA_COUNT && row == NULL; k++) {
        uint32_t number;

        if (machine == FACET_ITEM_ANY || machine == k) {
            row = facet_csr_find_number(
                (enum facet_isa)k, name, (size_t)(dot - name), false, &number);
        }
    }
    return row;
}

void facet_card_suggest(const char *name, unsigned machine, struct facet_strbuf *out)
{
    const char *dot = strrchr(name, '.');
    const struct facet_csr_row *row = csr_before(name, dot, machine);
    struct suggestions s = {0};

    if (row != NULL) {
        say_fields(row, dot + 1, out);
        return;
    }
    suggest_near(&s, name, machine);
    suggest_found(&s, name, machine);
    facet_strbuf_printf(out, "'%s' is not a name in the contract", name);
    for (size_t i = 0; i < s.count; i++) {
        const char *gap = i == 0 ? "; did you mean " : i + 1 == s.count ? " or " : ", ";

        facet_strbuf_printf(out, "%s%s", gap, s.names[i]);
    }
    facet_strbuf_puts(out, s.count == 0 ? "; see 'facet spec --list'" : "?");
}
