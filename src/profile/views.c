/* Views of a profile: what its counts say by symbol, source line, core and block. */
#include "profile/profile.h"

#include "isa/isa.h"
#include "json/json.h"

#include <facet/isa.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sums ---- */

/* More for a name, in the order in which names appear. */
static void add(json_t *sums, const char *name, uint64_t more)
{
    (void)json_object_set_new(
        sums,
        name,
        json_integer(json_integer_value(json_object_get(sums, name)) + (json_int_t)more));
}

struct sum {
    const char *name;
    json_int_t count;
    size_t order;
};

static int by_count(const void *a, const void *b)
{
    const struct sum *x = a, *y = b;

    return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                                : (x->order > y->order) - (x->order < y->order);
}

/* [{"name", "count"}], the largest first; NULL without memory. Takes the sums. */
static json_t *sorted(json_t *sums, size_t most)
{
    struct sum *list = malloc((json_object_size(sums) + 1) * sizeof *list);
    json_t *rows = list != NULL ? json_array() : NULL;
    const char *name;
    json_t *value;
    size_t n = 0;

    if (list != NULL) {
        json_object_foreach(sums, name, value)
        {
            list[n] = (struct sum){name, json_integer_value(value), n};
            n++;
        }
        qsort(list, n, sizeof *list, by_count);
    }
    for (size_t i = 0; i < n && i < most; i++) {
        (void)json_array_append_new(
            rows, json_pack("{s:s, s:I}", "name", list[i].name, "count", list[i].count));
    }
    free(list);
    json_decref(sums);
    return rows;
}

/* ---- blocks ---- */

static int by_pc(const void *a, const void *b)
{
    const struct profile_insn *x = a, *y = b;

    return x->pc != y->pc ? (x->pc > y->pc) - (x->pc < y->pc)
                          : (x->word > y->word) - (x->word < y->word);
}

/* The instructions by address, those of all cores together; NULL without memory. */
static struct profile_insn *together(const struct profile *profile, size_t *count)
{
    struct profile_insn *list = malloc((profile->insn_count + 1) * sizeof *list);
    size_t n = 0;

    if (list == NULL) {
        return NULL;
    }
    memcpy(list, profile->insns, profile->insn_count * sizeof *list);
    qsort(list, profile->insn_count, sizeof *list, by_pc);
    for (size_t i = 0; i < profile->insn_count; i++) {
        if (n > 0 && by_pc(&list[n - 1], &list[i]) == 0) {
            list[n - 1].count += list[i].count;
        } else {
            list[n++] = list[i];
        }
    }
    *count = n;
    return list;
}

/* Instructions one after another, with one count and one symbol. */
struct block {
    size_t first, length;
    uint64_t retired;
};

static int by_retired(const void *a, const void *b)
{
    const struct block *x = a, *y = b;

    return x->retired != y->retired ? (x->retired < y->retired) - (x->retired > y->retired)
                                    : (x->first > y->first) - (x->first < y->first);
}

static bool
continues(enum facet_isa isa, const struct profile_insn *a, const struct profile_insn *b)
{
    return b->pc == a->pc + facet_isa_length(isa, (uint16_t)a->word) && b->count == a->count &&
           (a->symbol == NULL || b->symbol == NULL ? a->symbol == b->symbol
                                                   : strcmp(a->symbol, b->symbol) == 0);
}

static json_t *
block_json(enum facet_isa isa, const struct profile_insn *insns, const struct block *block)
{
    const struct profile_insn *first = &insns[block->first];
    json_t *list = json_array(), *object;

    for (size_t i = 0; i < block->length; i++) {
        char text[128];

        (void)facet_isa_print(isa, first[i].word, first[i].pc, NULL, text, sizeof text);
        object = json_pack("{s:o, s:s}", "pc", facet_json_hex(first[i].pc), "text", text);
        if (first[i].line != NULL) {
            (void)json_object_set_new(object, "line", json_string(first[i].line));
        }
        (void)json_array_append_new(list, object);
    }
    object = json_pack("{s:o, s:I, s:I, s:o}",
                       "pc",
                       facet_json_hex(first->pc),
                       "times",
                       (json_int_t)first->count,
                       "count",
                       (json_int_t)block->retired,
                       "instructions",
                       list);
    if (first->symbol != NULL) {
        (void)json_object_set_new(object, "symbol", json_string(first->symbol));
        (void)json_object_set_new(object, "offset", json_integer((json_int_t)first->offset));
    }
    return object;
}

static json_t *blocks_json(const struct profile *profile, size_t most)
{
    size_t count = 0, n = 0;
    struct profile_insn *insns = together(profile, &count);
    struct block *blocks = malloc((count + 1) * sizeof *blocks);
    json_t *list = insns != NULL && blocks != NULL ? json_array() : NULL;

    for (size_t i = 0; list != NULL && i < count; i++) {
        if (i > 0 && continues(profile->isa, &insns[i - 1], &insns[i])) {
            blocks[n - 1].length++;
        } else {
            blocks[n++] = (struct block){.first = i, .length = 1};
        }
        blocks[n - 1].retired += insns[i].count;
    }
    if (n > 0) {
        qsort(blocks, n, sizeof *blocks, by_retired);
    }
    for (size_t i = 0; i < n && i < most; i++) {
        (void)json_array_append_new(list, block_json(profile->isa, insns, &blocks[i]));
    }
    free(blocks);
    free(insns);
    return list;
}

/* ---- all of them ---- */

/* How evenly the cores that did something share it: the mean of their counts, and the largest. */
static json_t *balance_json(json_t *cores, uint64_t retired)
{
    const size_t count = json_object_size(cores);
    json_int_t largest = 0;
    const char *name;
    json_t *value;

    json_object_foreach(cores, name, value)
    {
        const json_int_t n = json_integer_value(value);

        largest = n > largest ? n : largest;
    }
    return json_pack("{s:f, s:I}",
                     "mean",
                     count != 0 ? (double)retired / (double)count : 0.0,
                     "largest",
                     largest);
}

json_t *profile_views(const struct profile *profile, size_t most)
{
    json_t *symbols = json_object(), *lines = json_object(), *cores = json_object();
    json_t *memory = json_object_get(profile->json, "memory"), *views;

    for (size_t i = 0; i < profile->insn_count; i++) {
        const struct profile_insn *insn = &profile->insns[i];
        char core[16];

        (void)snprintf(core, sizeof core, "%" PRIu32, insn->core);
        add(cores, core, insn->count);
        add(symbols, insn->symbol != NULL ? insn->symbol : "?", insn->count);
        if (insn->line != NULL) {
            add(lines, insn->line, insn->count);
        }
    }
    views = json_pack("{s:s, s:I}",
                      "machine",
                      profile_machine_name(profile->isa),
                      "retired",
                      (json_int_t)profile->retired);
    symbols = sorted(symbols, most);
    lines = sorted(lines, most);
    (void)json_object_set_new(views, "balance", balance_json(cores, profile->retired));
    cores = sorted(cores, SIZE_MAX);
    (void)json_object_set_new(views, "symbols", symbols);
    (void)json_object_set_new(views, "lines", lines);
    (void)json_object_set_new(views, "cores", cores);
    (void)json_object_set_new(views, "blocks", blocks_json(profile, most));
    (void)json_object_set(views, "memory", memory);
    (void)json_object_set_new(views, "divergence", profile_divergence(profile, most));
    (void)json_object_set(views, "draws", json_object_get(profile->json, "draws"));
    (void)json_object_set(views, "counters", json_object_get(profile->json, "counters"));
    if (symbols == NULL || lines == NULL || cores == NULL ||
        json_object_get(views, "blocks") == NULL || json_object_get(views, "divergence") == NULL) {
        json_decref(views);
        return NULL;
    }
    return views;
}

static json_int_t integer(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static double percent(json_int_t part, json_int_t all)
{
    return all != 0 ? 100.0 * (double)part / (double)all : 0;
}

static void
put_sums(const json_t *views, const char *key, const char *title, struct facet_strbuf *out)
{
    const json_t *row;
    size_t i;

    if (json_array_size(json_object_get(views, key)) == 0) {
        return;
    }
    facet_strbuf_printf(out, "\n%16s  %6s  %s\n", "instructions", "%", title);
    json_array_foreach(json_object_get(views, key), i, row)
    {
        const json_int_t count = integer(row, "count");

        facet_strbuf_printf(out,
                            "%16" JSON_INTEGER_FORMAT "  %6.2f  ",
                            count,
                            percent(count, integer(views, "retired")));
        facet_symbols_put_name(out, text_of(row, "name"));
        facet_strbuf_putc(out, '\n');
    }
}

static void put_block(const json_t *views, const json_t *block, struct facet_strbuf *out)
{
    const json_t *insn;
    const char *symbol = text_of(block, "symbol");
    size_t i;

    facet_strbuf_printf(out, "\n%s", text_of(block, "pc"));
    if (symbol != NULL) {
        facet_strbuf_puts(out, " <");
        facet_symbols_put_name(out, symbol);
        facet_strbuf_printf(out, "+0x%" PRIx64 ">", (uint64_t)integer(block, "offset"));
    }
    facet_strbuf_printf(out,
                        ": %" JSON_INTEGER_FORMAT " times, %.2f %%\n",
                        integer(block, "times"),
                        percent(integer(block, "count"), integer(views, "retired")));
    json_array_foreach(json_object_get(block, "instructions"), i, insn)
    {
        const char *line = text_of(insn, "line");

        facet_strbuf_printf(
            out, "  %s  %-*s", text_of(insn, "pc"), line != NULL ? 32 : 0, text_of(insn, "text"));
        if (line != NULL) {
            facet_strbuf_puts(out, " ");
            facet_symbols_put_name(out, line);
        }
        facet_strbuf_putc(out, '\n');
    }
}

void profile_views_text(const json_t *views, size_t most, struct facet_strbuf *out)
{
    json_t *memory = json_object_get(views, "memory"), *class, *times;
    const json_t *block;
    const char *name, *bytes;
    size_t i;

    facet_strbuf_printf(out,
                        "%s: %" JSON_INTEGER_FORMAT " instructions retired\n",
                        text_of(views, "machine"),
                        integer(views, "retired"));
    put_sums(views, "symbols", "symbol", out);
    put_sums(views, "lines", "line", out);
    if (json_array_size(json_object_get(views, "cores")) > 1) {
        const json_t *balance = json_object_get(views, "balance");

        put_sums(views, "cores", "core", out);
        facet_strbuf_printf(out,
                            "%16.2f  %6.2f  mean, and what it is of the largest\n",
                            json_real_value(json_object_get(balance, "mean")),
                            integer(balance, "largest") != 0
                                ? 100 * json_real_value(json_object_get(balance, "mean")) /
                                      (double)integer(balance, "largest")
                                : 0.0);
    }
    if (json_object_size(memory) > 0) {
        facet_strbuf_printf(out, "\n%16s  %6s  %16s  %s\n", "accesses", "each", "bytes", "memory");
    }
    json_object_foreach(memory, name, class)
    {
        json_object_foreach(class, bytes, times)
        {
            facet_strbuf_printf(
                out,
                "%16" JSON_INTEGER_FORMAT "  %6.6s  %16" JSON_INTEGER_FORMAT "  ",
                json_integer_value(times),
                bytes,
                (json_int_t)((uint64_t)json_integer_value(times) * strtoull(bytes, NULL, 10)));
            facet_symbols_put_name(out, name);
            facet_strbuf_putc(out, '\n');
        }
    }
    profile_sections_text(views, most, out);
    json_array_foreach(json_object_get(views, "blocks"), i, block)
    {
        put_block(views, block, out);
    }
}

/* ---- folded ---- */

/* A frame of the line: ';' separates frames. */
static void put_frame(struct facet_strbuf *out, const char *name)
{
    struct facet_strbuf shown;

    facet_strbuf_init(&shown);
    facet_symbols_put_name(&shown, name);
    for (const char *c = facet_strbuf_text(&shown); *c != '\0'; c++) {
        facet_strbuf_putc(out, *c == ';' ? ':' : *c);
    }
    out->failed |= shown.failed;
    facet_strbuf_free(&shown);
}

/* The frames of one instruction or stack; each text may be NULL. */
static void put_stack(struct facet_strbuf *out,
                      const char *kernel,
                      const json_t *frames,
                      const char *symbol,
                      const char *line)
{
    const json_t *frame;
    size_t i;

    facet_strbuf_clear(out);
    if (kernel != NULL) {
        put_frame(out, kernel);
        facet_strbuf_putc(out, ';');
    }
    json_array_foreach(frames, i, frame)
    {
        if (i > 0) {
            facet_strbuf_putc(out, ';');
        }
        put_frame(out, json_string_value(frame));
    }
    if (frames == NULL) {
        put_frame(out, symbol != NULL ? symbol : "?");
    }
    if (line != NULL) {
        facet_strbuf_putc(out, ';');
        put_frame(out, line);
    }
}

bool profile_folded(const struct profile *profile, struct facet_strbuf *out)
{
    json_t *sums = json_object(), *stacks = json_object_get(profile->json, "stacks"), *value;
    struct facet_strbuf frames;
    const char *name;
    size_t i;

    facet_strbuf_init(&frames);
    json_array_foreach(stacks, i, value)
    {
        put_stack(&frames,
                  text_of(value, "kernel"),
                  json_object_get(value, "frames"),
                  NULL,
                  text_of(value, "line"));
        add(sums, facet_strbuf_text(&frames), (uint64_t)integer(value, "count"));
    }
    for (i = 0; stacks == NULL && i < profile->insn_count; i++) {
        const struct profile_insn *insn = &profile->insns[i];

        put_stack(&frames, insn->kernel, NULL, insn->symbol, insn->line);
        add(sums, facet_strbuf_text(&frames), insn->count);
    }
    out->failed |= frames.failed;
    json_object_foreach(sums, name, value)
    {
        facet_strbuf_printf(out, "%s %" JSON_INTEGER_FORMAT "\n", name, json_integer_value(value));
    }
    facet_strbuf_free(&frames);
    json_decref(sums);
    return !facet_json_ran_short() && !out->failed;
}
