/* See model.h. */
#include "timing/model.h"

#include "debug/trace.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum kind { PLAIN, POWER, RATE, CLASS };

static const struct row {
    const char *key;
    uint32_t preset[TIMING_NUMBERS];
    uint32_t low, high;
    enum kind kind;
    const char *meaning;
} rows[TIMING_ROWS] = {
#define CLASS_ROW(id, key, latency, interval, depth, meaning)                                      \
    [TIMING_##id] = {key, {latency, interval, depth}, 0, 0, CLASS, meaning},
#define PART_ROW(id, key, preset, low, high, kind, meaning)                                        \
    [TIMING_##id] = {key, {preset, 0, 0}, low, high, kind, meaning},
    TIMING_TILE_CLASSES(CLASS_ROW) TIMING_XPHMG_CLASSES(CLASS_ROW) TIMING_TILE_PARTS(PART_ROW)
        TIMING_XPHMG_PARTS(PART_ROW)};

static const struct {
    const char *name;
    uint32_t low, high;
} numbers[TIMING_NUMBERS] = {{"latency", 1, 1000000}, {"interval", 1, 1000000}, {"depth", 0, 64}};

void timing_default(struct timing_model *model)
{
    for (size_t i = 0; i < TIMING_ROWS; i++) {
        memcpy(model->value[i], rows[i].preset, sizeof model->value[i]);
    }
}

const char *timing_class_name(uint32_t cls)
{
    return strchr(rows[cls].key, '.') + 1;
}

/* ---- reading ---- */

/* A piece of a line. */
struct piece {
    const char *text;
    size_t size;
};

struct reader {
    const char *path;
    uint64_t line;
    struct facet_error *err;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of the line up to a blank or '='; empty at the end. */
static struct piece next_word(struct piece *line)
{
    struct piece word;

    while (line->size > 0 && is_blank(*line->text)) {
        line->text++;
        line->size--;
    }
    word = (struct piece){line->text, 0};
    while (word.size < line->size && !is_blank(word.text[word.size]) &&
           (word.size == 0 || word.text[word.size] != '=') &&
           (word.size == 0 || word.text[0] != '=')) {
        word.size++;
    }
    line->text += word.size;
    line->size -= word.size;
    return word;
}

static const struct row *find_row(struct piece word)
{
    for (size_t i = 0; i < TIMING_ROWS; i++) {
        if (strlen(rows[i].key) == word.size && memcmp(rows[i].key, word.text, word.size) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

/* Digits, and for a rate up to three after a point, in thousandths. */
static bool read_number(struct piece word, bool rate, uint32_t *out)
{
    uint64_t value = 0;
    size_t at = 0, places = 0;

    while (at < word.size && isdigit((unsigned char)word.text[at]) && value < UINT32_MAX) {
        value = value * 10 + (uint64_t)(word.text[at++] - '0');
    }
    if (at == 0) {
        return false;
    }
    if (rate && at < word.size && word.text[at] == '.') {
        at++;
        while (at < word.size && isdigit((unsigned char)word.text[at]) && places < 3) {
            value = value * 10 + (uint64_t)(word.text[at++] - '0');
            places++;
        }
        if (places == 0) {
            return false;
        }
    }
    for (; rate && places < 3; places++) {
        value *= 10;
    }
    *out = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
    return at == word.size;
}

static enum facet_status bad_value(
    const struct reader *r, const struct row *row, const char *what, uint32_t low, uint32_t high)
{
    if (row->kind == RATE) {
        return facet_fail(r->err,
                          FACET_ERR_INPUT,
                          r->line,
                          "%s:%" PRIu64 ": %s: expected a number from 0.001 to 1000, with at most "
                          "three digits after the point",
                          r->path,
                          r->line,
                          row->key);
    }
    return facet_fail(r->err,
                      FACET_ERR_INPUT,
                      r->line,
                      "%s:%" PRIu64 ": %s: expected %s from %u to %u%s",
                      r->path,
                      r->line,
                      row->key,
                      what,
                      (unsigned)low,
                      (unsigned)high,
                      row->kind == POWER ? ", a power of two" : "");
}

static enum facet_status
read_values(const struct reader *r, const struct row *row, struct piece rest, uint32_t *values)
{
    const size_t count = row->kind == CLASS ? TIMING_NUMBERS : 1;

    for (size_t i = 0; i < count; i++) {
        const uint32_t low = row->kind == CLASS ? numbers[i].low : row->low;
        const uint32_t high = row->kind == CLASS ? numbers[i].high : row->high;
        uint32_t value;

        if (!read_number(next_word(&rest), row->kind == RATE, &value) || value < low ||
            value > high || (row->kind == POWER && (value & (value - 1)) != 0)) {
            return bad_value(r, row, row->kind == CLASS ? numbers[i].name : "a number", low, high);
        }
        values[i] = value;
    }
    if (next_word(&rest).size != 0) {
        return facet_fail(r->err,
                          FACET_ERR_INPUT,
                          r->line,
                          "%s:%" PRIu64 ": %s: expected %s and nothing behind",
                          r->path,
                          r->line,
                          row->key,
                          row->kind == CLASS ? "latency, interval, depth" : "one number");
    }
    return FACET_OK;
}

static enum facet_status
read_line(const struct reader *r, struct piece line, struct timing_model *model, bool *seen)
{
    const char *comment = memchr(line.text, '#', line.size);
    struct piece word, equals;
    const struct row *row;

    line.size = comment != NULL ? (size_t)(comment - line.text) : line.size;
    word = next_word(&line);
    if (word.size == 0) {
        return FACET_OK;
    }
    row = find_row(word);
    if (row == NULL) {
        return facet_fail(r->err,
                          FACET_ERR_INPUT,
                          r->line,
                          "%s:%" PRIu64 ": unknown key '%.*s'; facet timing show lists the keys",
                          r->path,
                          r->line,
                          (int)(word.size < 40 ? word.size : 40),
                          word.text);
    }
    equals = next_word(&line);
    if (equals.size != 1 || equals.text[0] != '=') {
        return facet_fail(r->err,
                          FACET_ERR_INPUT,
                          r->line,
                          "%s:%" PRIu64 ": expected '%s = ...'",
                          r->path,
                          r->line,
                          row->key);
    }
    if (seen[row - rows]) {
        return facet_fail(r->err,
                          FACET_ERR_INPUT,
                          r->line,
                          "%s:%" PRIu64 ": %s is there a second time",
                          r->path,
                          r->line,
                          row->key);
    }
    seen[row - rows] = true;
    return read_values(r, row, line, model->value[row - rows]);
}

enum facet_status timing_parse(const char *path,
                               const void *data,
                               size_t size,
                               struct timing_model *model,
                               struct facet_error *err)
{
    const char *at = data, *end = at + size;
    struct reader r = {path, 0, err};
    bool seen[TIMING_ROWS] = {false};
    enum facet_status status = FACET_OK;

    timing_default(model);
    while (status == FACET_OK && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t length = (size_t)((stop != NULL ? stop : end) - at);

        r.line++;
        status = read_line(&r, (struct piece){at, length}, model, seen);
        at = stop != NULL ? stop + 1 : end;
    }
    if (status != FACET_OK) {
        timing_default(model);
    }
    return status;
}

/* ---- writing ---- */

static void print_row(const struct row *row, const uint32_t *value, struct facet_strbuf *out)
{
    char text[48];

    if (row->kind == CLASS) {
        (void)snprintf(text,
                       sizeof text,
                       "%4u %4u %3u",
                       (unsigned)value[0],
                       (unsigned)value[1],
                       (unsigned)value[2]);
    } else if (row->kind == RATE) {
        (void)snprintf(text,
                       sizeof text,
                       "%4u.%03u",
                       (unsigned)(value[0] / 1000),
                       (unsigned)(value[0] % 1000));
    } else {
        (void)snprintf(text, sizeof text, "%4u", (unsigned)value[0]);
    }
    facet_strbuf_printf(out, "%-22s = %-14s # %s\n", row->key, text, row->meaning);
}

void timing_print(const struct timing_model *model, struct facet_strbuf *out)
{
    facet_strbuf_puts(out,
                      "# Facet's timing model: every time is in cycles, every result an estimate.\n"
                      "# A row that is left out has the value of facet timing show.\n");
    for (size_t i = 0; i < TIMING_ROWS; i++) {
        if (i == 0 || i == TIMING_XPHMG_INTEGER) {
            facet_strbuf_puts(out,
                              "\n# class of instructions, latency, interval, depth (0: any)\n");
        } else if (i == TIMING_TILE_ISSUE || i == TIMING_XPHMG_ISSUE) {
            facet_strbuf_puts(out, "\n");
        }
        print_row(&rows[i], model->value[i], out);
    }
}

/* ---- classes of instructions ---- */

/* The first that fits, of the machine's rows: an extension, and mnemonics in it. */
static const struct member {
    const char *extension;
    const char *mnemonics[8]; /* none: all */
    uint32_t cls;
} members[] = {
    {"tile.integer", {"MUL*", "MAC"}, TIMING_TILE_MULTIPLY},
    {"tile.integer", {0}, TIMING_TILE_SCALAR},
    {"tile.fp16", {"FRECIP", "FRSQRT"}, TIMING_TILE_FLOAT_SPECIAL},
    {"tile.fp16", {0}, TIMING_TILE_FLOAT},
    {"tile.vector", {"VRCP.*", "VRSQRT.*"}, TIMING_TILE_VECTOR_SPECIAL},
    {"tile.vector", {"VDOT.*", "VCROSS.*"}, TIMING_TILE_HORIZONTAL},
    {"tile.vector", {"VSEL*", "VSWIZ.*", "VSHUF"}, TIMING_TILE_TRANSFER},
    {"tile.vector", {0}, TIMING_TILE_VECTOR},
    {"tile.transfer", {0}, TIMING_TILE_TRANSFER},
    {"tile.memory", {"L*"}, TIMING_TILE_LOAD},
    {"tile.memory", {0}, TIMING_TILE_STORE},
    {"tile.vector-memory", {"VLD*"}, TIMING_TILE_LOAD},
    {"tile.vector-memory", {0}, TIMING_TILE_STORE},
    {"tile.atomic", {0}, TIMING_TILE_ATOMIC},
    {"tile.vector-atomic", {0}, TIMING_TILE_ATOMIC},
    {"tile.texture", {0}, TIMING_TILE_SAMPLE},
    {"tile.raster", {0}, TIMING_TILE_GRAPHICS},
    {"tile.geometry", {0}, TIMING_TILE_GRAPHICS},
    {"tile.branch", {0}, TIMING_TILE_BRANCH},
    {"tile.system", {0}, TIMING_TILE_SYSTEM},
    {"RV64M", {"mul*"}, TIMING_XPHMG_MULTIPLY},
    {"RV64M", {0}, TIMING_XPHMG_DIVIDE},
    {"RV64A", {0}, TIMING_XPHMG_ATOMIC},
    {"RV64C", {"c.j*", "c.b*"}, TIMING_XPHMG_BRANCH},
    {"RV64C", {"c.lw*", "c.ld*", "c.fld*"}, TIMING_XPHMG_LOAD},
    {"RV64C", {"c.sw*", "c.sd*", "c.fsd*"}, TIMING_XPHMG_STORE},
    {"RV64C", {"c.ebreak"}, TIMING_XPHMG_SYSTEM},
    {"RV64C", {0}, TIMING_XPHMG_INTEGER},
    {"RV64I", {"j*", "b*"}, TIMING_XPHMG_BRANCH},
    {"RV64I", {"l?", "l?u"}, TIMING_XPHMG_LOAD},
    {"RV64I", {"sb", "sh", "sw", "sd"}, TIMING_XPHMG_STORE},
    {"RV64I", {"fence", "ecall", "ebreak"}, TIMING_XPHMG_SYSTEM},
    {"RV64I", {0}, TIMING_XPHMG_INTEGER},
    {"Zba", {0}, TIMING_XPHMG_INTEGER},
    {"Zbb", {0}, TIMING_XPHMG_INTEGER},
    {"Zbs", {0}, TIMING_XPHMG_INTEGER},
    {"Zicsr", {0}, TIMING_XPHMG_SYSTEM},
    {"Zifencei", {0}, TIMING_XPHMG_SYSTEM},
    {"Machine", {0}, TIMING_XPHMG_SYSTEM},
    {"RV64?", {"flw", "fld"}, TIMING_XPHMG_LOAD},
    {"Zfh", {"flh"}, TIMING_XPHMG_LOAD},
    {"RV64?", {"fsw", "fsd"}, TIMING_XPHMG_STORE},
    {"Zfh", {"fsh"}, TIMING_XPHMG_STORE},
    {"RV64?", {"fdiv.*", "fsqrt.*"}, TIMING_XPHMG_FLOAT_DIVIDE},
    {"Zfh", {"fdiv.*", "fsqrt.*"}, TIMING_XPHMG_FLOAT_DIVIDE},
    {"RV64?", {0}, TIMING_XPHMG_FLOAT},
    {"Zfh", {0}, TIMING_XPHMG_FLOAT},
    {"XPHMG_PMASK", {"bp.*"}, TIMING_XPHMG_BRANCH},
    {"XPHMG_PMASK", {0}, TIMING_XPHMG_PREDICATE},
    {"XPHMG_RSV", {0}, TIMING_XPHMG_PREDICATE},
    {"XPHMG_XMEM", {"xsubmit.*"}, TIMING_XPHMG_JOB},
    {"XPHMG_XMEM", {"xfence.*"}, TIMING_XPHMG_SYSTEM},
    {"XPHMG_XMEM", {"xlds.atoms.*"}, TIMING_XPHMG_ATOMIC},
    {"XPHMG_XMEM", {0}, TIMING_XPHMG_XMEM},
    {"XPHMG_MTX", {0}, TIMING_XPHMG_MTX},
    {"XPHMG_RT", {0}, TIMING_XPHMG_RT},
    {"XPHMG_GFX", {"GFX.FENCE"}, TIMING_XPHMG_SYSTEM},
    {"XPHMG_GFX", {0}, TIMING_XPHMG_GFX},
};

static bool is_member(const struct member *m, const char *mnemonic)
{
    for (size_t i = 0; i < sizeof m->mnemonics / sizeof m->mnemonics[0] && m->mnemonics[i] != NULL;
         i++) {
        if (facet_trace_matches(m->mnemonics[i], mnemonic, strlen(mnemonic))) {
            return true;
        }
    }
    return m->mnemonics[0] == NULL;
}

uint32_t timing_class_of(enum facet_isa isa, const char *mnemonic, const char *extension)
{
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if ((members[i].cls >= TIMING_XPHMG_INTEGER) == (isa == FACET_ISA_XPHMG) &&
            facet_trace_matches(members[i].extension, extension, strlen(extension)) &&
            is_member(&members[i], mnemonic)) {
            return members[i].cls;
        }
    }
    return TIMING_CLASSES;
}
