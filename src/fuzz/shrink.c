/* See kinds.h. */
#include "fuzz/kinds.h"

#include <stdio.h>
#include <string.h>

const struct facet_fuzz_kind *const facet_fuzz_kinds[] = {
    &facet_fuzz_xphmg, &facet_fuzz_tile, &facet_fuzz_draws, &facet_fuzz_gfx12, NULL};

/* c without the items from `begin` on, `length` of them or fewer. */
static struct facet_fuzz_case without(const struct facet_fuzz_case *c, size_t begin, size_t length)
{
    const size_t end = begin + length < c->count ? begin + length : c->count;
    struct facet_fuzz_case smaller = *c;

    memmove(smaller.item + begin, c->item + end, (c->count - end) * sizeof c->item[0]);
    smaller.count = c->count - (end - begin);
    return smaller;
}

enum facet_status facet_fuzz_shrink(struct facet_fuzz_case *c,
                                    facet_fuzz_test *test,
                                    void *context,
                                    struct facet_error *err)
{
    for (size_t length = c->count; length != 0;) {
        bool smaller = false;

        for (size_t begin = 0; begin < c->count;) {
            const struct facet_fuzz_case candidate = without(c, begin, length);
            bool keeps = false;
            enum facet_status status = test(context, &candidate, &keeps, err);

            if (status != FACET_OK) {
                return status;
            }
            if (keeps) {
                *c = candidate;
                smaller = true;
            } else {
                begin += length;
            }
        }
        if (!smaller || length > c->count) {
            length = length == 1 ? (smaller ? 1 : 0) : length / 2;
        }
        length = length > c->count ? c->count : length;
    }
    return FACET_OK;
}

enum facet_status facet_fuzz_assemble(const struct facet_fuzz_kind *kind,
                                      const struct facet_isa_assemble_config *config,
                                      const struct facet_fuzz_case *c,
                                      struct facet_blob *elf,
                                      struct facet_error *err)
{
    struct facet_strbuf source;
    enum facet_status status;

    facet_strbuf_init(&source);
    status = kind->text(c, &source, err);
    if (status == FACET_OK) {
        status =
            facet_isa_assemble(config, facet_strbuf_text(&source), source.length, elf, NULL, err);
    }
    facet_strbuf_free(&source);
    return status;
}

void facet_fuzz_compare(const struct facet_blob *a,
                        const char *way_a,
                        const struct facet_blob *b,
                        const char *way_b,
                        struct facet_fuzz_verdict *verdict)
{
    const size_t both = a->size < b->size ? a->size : b->size;
    const uint8_t *x = a->data, *y = b->data;
    size_t at = 0;

    while (at < both && x[at] == y[at]) {
        at++;
    }
    if (at == a->size && at == b->size) {
        return;
    }
    verdict->differs = true;
    (void)snprintf(verdict->text,
                   sizeof verdict->text,
                   "the states of the ways %s and %s part at byte %zu of their snapshots",
                   way_a,
                   way_b,
                   at);
}
