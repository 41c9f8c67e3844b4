/* Sessions: the table of them, and how one is made from a text or an ELF file with the options of
 * `facet run` or `facet tile run`. See page_session.h. */
#include "wasm/page_session.h"

#include "assembler/assemble.h"
#include "base/bits.h"
#include "base/side_file.h"
#include "lint/lint.h"
#include "object/elf.h"
#include "timing/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A page has less memory than a computer; `--ram` and `--vram` ask for more. */
enum {
    HART_RAM = 16 << 20,
    TILE_VRAM = 4 << 20,
    ARG_BLOCK = 0x10000,
    MOST_HARTS = 8,
    MOST_RAM = 256 << 20
};
enum { CONSOLE_LIMIT = 1 << 20, MODEL_LIMIT = 1 << 20 };

static struct page_session sessions[PAGE_SESSIONS];

/* ---- the table ---- */

struct page_session *page_session_of(uint32_t id)
{
    struct facet_error err = {0};

    if (id < PAGE_SESSIONS && sessions[id].used) {
        return &sessions[id];
    }
    (void)facet_fail(&err, FACET_ERR_USAGE, id, "there is no session %u", (unsigned)id);
    (void)page_fail(&err);
    return NULL;
}

struct page_session *page_session_new(uint32_t *id)
{
    struct facet_error err = {0};

    for (*id = 0; *id < PAGE_SESSIONS; (*id)++) {
        if (!sessions[*id].used) {
            sessions[*id] = (struct page_session){.used = true};
            facet_strbuf_init(&sessions[*id].console);
            return &sessions[*id];
        }
    }
    (void)facet_fail(&err, FACET_ERR_LIMIT, 0, "more than %d sessions", PAGE_SESSIONS);
    (void)page_fail(&err);
    return NULL;
}

void page_session_end(struct page_session *s)
{
    page_check_free(s);
    facet_gdb_history_free(&s->history);
    page_list_end(s->list);
    facet_machine_destroy(s->machine);
    facet_symbols_free(&s->symbols);
    facet_object_free(s->program);
    facet_strbuf_free(&s->console);
    free(s->timing);
    *s = (struct page_session){0};
}

int PAGE_EXPORT(page_session_close)(uint32_t id)
{
    struct page_session *s = page_session_of(id);

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    page_session_end(s);
    return page_done();
}

enum facet_isa page_session_isa(const struct page_session *s)
{
    return s->kind == PAGE_HART ? FACET_ISA_XPHMG : FACET_ISA_TILE;
}

/* ---- what the guest prints, forwards and backwards ---- */

static void output(void *context, enum facet_xphmg_stream stream, const void *data, size_t size)
{
    struct page_session *s = context;
    size_t room = s->console.length < CONSOLE_LIMIT ? CONSOLE_LIMIT - s->console.length : 0;

    (void)stream;
    s->printed += size;
    facet_strbuf_add(&s->console, data, size < room ? size : room);
}

static struct facet_gdb_mark mark(void *context)
{
    const struct page_session *s = context;

    return (struct facet_gdb_mark){.output = s->printed};
}

static void rewind_to(void *context, struct facet_gdb_mark mark)
{
    struct page_session *s = context;

    s->printed = mark.output;
    if (s->console.length > mark.output) {
        s->console.length = (size_t)mark.output;
        s->console.text[s->console.length] = '\0';
    }
}

static void renew(void *context)
{
    (void)context;
}

enum facet_status page_session_begin(struct page_session *s, struct facet_error *err)
{
    if (s->program != NULL && facet_symbols_of(&s->symbols, s->program, err) != FACET_OK) {
        return err->status;
    }
    s->host = (struct facet_gdb_host){
        .context = s, .mark = mark, .rewind = rewind_to, .renew = renew, .stop_on_trap = false};
    s->seen.index = PAGE_WATCHES;
    s->stop = (struct facet_stop){.reason = FACET_STOP_BUDGET,
                                  .core = facet_machine_next_core(s->machine)};
    return facet_gdb_history_start(&s->history, s->machine, &s->host, err);
}

/* ---- options: lines of "name=value" ---- */

struct options {
    struct page_session *s;
    struct facet_error *err;
    struct facet_xphmg_config hart;
    struct facet_tile_config tile;
    char configuration[1024];
    char frame[128];
    char arg[PAGE_ARGS][128]; /* NAME=VALUE, read when the program is there */
    uint32_t arg_count;
};

static bool refuse(struct options *o, const char *name, const char *value, const char *expected)
{
    (void)facet_fail(o->err, FACET_ERR_USAGE, 0, "--%s %s: expected %s", name, value, expected);
    return false;
}

/* Decimal or 0x..., and where `sized` with k or M. */
static bool read_number(const char *text, bool sized, uint64_t most, uint64_t *out)
{
    char *end;
    unsigned shift;
    unsigned long long value;

    errno = 0;
    value = strtoull(text, &end, 0);
    if (errno != 0 || text[0] < '0' || text[0] > '9') {
        return false;
    }
    shift = !sized ? 0 : *end == 'k' || *end == 'K' ? 10 : *end == 'm' || *end == 'M' ? 20 : 0;
    end += shift != 0;
    if (*end != '\0' || value > most >> shift) {
        return false;
    }
    *out = (uint64_t)value << shift;
    return true;
}

static bool read_pair(const char *text, uint32_t *x, uint32_t *y)
{
    unsigned a, b;
    int used = 0;

    if (strspn(text, "0123456789x") != strlen(text) ||
        sscanf(text, "%5ux%5u%n", &a, &b, &used) != 2 || text[used] != '\0' || a > 65535 ||
        b > 65535) {
        return false;
    }
    *x = a;
    *y = b;
    return true;
}

static bool number(struct options *o,
                   const char *name,
                   const char *value,
                   uint64_t least,
                   uint64_t most,
                   uint64_t *out)
{
    uint64_t got;
    char expected[80];

    if (read_number(value, most >= 4096, most, &got) && got >= least) {
        *out = got;
        return true;
    }
    (void)snprintf(expected,
                   sizeof expected,
                   "a number from %llu to %llu",
                   (unsigned long long)least,
                   (unsigned long long)most);
    return refuse(o, name, value, expected);
}

static bool keep(struct options *o, const char *name, const char *value, char *out, size_t room)
{
    if (strlen(value) >= room) {
        return refuse(o, name, "...", "less text");
    }
    memcpy(out, value, strlen(value) + 1);
    return true;
}

static bool hart_option(struct options *o, const char *name, const char *value)
{
    uint64_t n = 0;

    if (strcmp(name, "harts") == 0) {
        bool good = number(o, name, value, 1, MOST_HARTS, &n);

        o->hart.harts = (uint32_t)n;
        return good;
    }
    if (strcmp(name, "ram") == 0) {
        return number(o, name, value, 4096, MOST_RAM, &n) &&
               ((o->hart.ram_bytes = n) % 4096 == 0 || refuse(o, name, value, "a multiple of 4k"));
    }
    if (strcmp(name, "config") == 0) {
        return keep(o, name, value, o->configuration, sizeof o->configuration);
    }
    if (strcmp(name, "jobs") == 0) {
        o->hart.jobs = FACET_XPHMG_JOBS_LATE;
        if (strncmp(value, "late:", 5) == 0) {
            return number(o, name, value + 5, 1, UINT64_MAX, &o->hart.jobs_seed);
        }
        if (strcmp(value, "now") == 0) {
            o->hart.jobs = FACET_XPHMG_JOBS_NOW;
        }
        return strcmp(value, "late") == 0 || strcmp(value, "now") == 0 ||
               refuse(o, name, value, "now, late or late:SEED");
    }
    (void)facet_fail(o->err,
                     FACET_ERR_USAGE,
                     0,
                     "--%s: expected --harts, --ram, --config, --jobs, --timing, --lint or "
                     "--check-order",
                     name);
    return false;
}

static bool tile_option(struct options *o, const char *name, const char *value)
{
    struct facet_tile_packet *p = &o->s->packet;
    uint64_t n = 0;

    if (strcmp(name, "grid") == 0) {
        return read_pair(value, &p->columns, &p->rows) ||
               refuse(o, name, value, "WxH, such as 4x3");
    }
    if (strcmp(name, "tile") == 0) {
        return read_pair(value, &p->tile_width, &p->tile_height) ||
               refuse(o, name, value, "WxH, such as 16x16");
    }
    if (strcmp(name, "shared") == 0) {
        bool good = number(o, name, value, 0, FACET_TILE_SCRATCH_BYTES, &n);

        p->shared_size = (uint32_t)n;
        return good;
    }
    if (strcmp(name, "cores") == 0) {
        bool good = number(o, name, value, 1, 0xF, &n);

        p->core_mask = (uint32_t)n;
        return good;
    }
    if (strcmp(name, "vram") == 0) {
        bool good = number(o, name, value, 4096, FACET_TILE_VRAM_MAX, &n) &&
                    (n % 4096 == 0 || refuse(o, name, value, "a multiple of 4k"));

        o->tile.vram = (uint32_t)n;
        return good;
    }
    if (strcmp(name, "watchdog") == 0) {
        bool good = number(o, name, value, 1, UINT32_MAX, &n);

        o->tile.watchdog = (uint32_t)n;
        return good;
    }
    if (strcmp(name, "regs") == 0) {
        o->tile.regs = strcmp(value, "16") == 0 ? 16 : 32;
        return strcmp(value, "16") == 0 || strcmp(value, "32") == 0 ||
               refuse(o, name, value, "16 or 32");
    }
    if (strcmp(name, "mem") == 0) {
        return facet_tile_parse_mem(value, &o->tile) || refuse(o, name, value, "weak or strong");
    }
    if (strcmp(name, "sched") == 0) {
        return facet_tile_parse_sched(value, &o->tile) ||
               refuse(o, name, value, "rr:Q or rnd:SEED");
    }
    if (strcmp(name, "schedule") == 0) {
        bool good = number(o, name, value, 0, UINT32_MAX, &n);

        o->tile.random = true;
        o->tile.seed = (uint32_t)n;
        return good;
    }
    if (strcmp(name, "poison") == 0) {
        o->tile.poison = true;
        return value[0] == '\0' || refuse(o, name, value, "no value");
    }
    if (strcmp(name, "arg") == 0) {
        return o->arg_count < PAGE_ARGS
                   ? keep(o, name, value, o->arg[o->arg_count++], sizeof o->arg[0])
                   : refuse(o, name, value, "at most 256 words of arguments");
    }
    if (strcmp(name, "out") == 0) {
        return keep(o, name, value, o->frame, sizeof o->frame);
    }
    (void)facet_fail(o->err,
                     FACET_ERR_USAGE,
                     0,
                     "--%s: expected --grid, --tile, --arg, --out, --shared, --cores, --vram, "
                     "--mem, --sched, --schedule, --regs, "
                     "--watchdog, --poison, --timing, --lint or --check-order",
                     name);
    return false;
}

bool page_session_option(struct page_session *s,
                         const char *name,
                         const char *value,
                         struct facet_error *err)
{
    struct facet_bytes file;

    if (strcmp(name, "timing") == 0) {
        free(s->timing);
        s->timing = malloc(sizeof *s->timing);
        if (s->timing == NULL) {
            return facet_fail(err, FACET_ERR_MEMORY, 0, "--timing: out of memory") == FACET_OK;
        }
        timing_default(s->timing);
        if (strcmp(value, "default") != 0 &&
            facet_side_file_read(".", value, MODEL_LIMIT, &file, err) == FACET_OK) {
            (void)timing_parse(value, file.data, file.size, s->timing, err);
            free(file.data);
        }
        return true;
    }
    if (strcmp(name, "check-order") == 0 || strcmp(name, "lint") == 0) {
        s->lint_sets |= name[0] == 'l' ? FACET_LINT_SET_LINT : FACET_LINT_SET_ORDER;
        if (value[0] != '\0') {
            (void)facet_fail(err, FACET_ERR_USAGE, 0, "--%s %s: expected no value", name, value);
        }
        return true;
    }
    return false;
}

static bool one_option(struct options *o, const char *name, const char *value)
{
    o->err->status = FACET_OK;
    if (page_session_option(o->s, name, value, o->err)) {
        return o->err->status == FACET_OK;
    }
    return o->s->kind == PAGE_HART ? hart_option(o, name, value) : tile_option(o, name, value);
}

static bool read_options(struct options *o, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        char line[1200], *equals;

        if (length >= sizeof line) {
            (void)facet_fail(o->err, FACET_ERR_USAGE, 0, "an option of %zu bytes", length);
            return false;
        }
        memcpy(line, text, length);
        line[length] = '\0';
        text += length + (text[length] != '\0');
        equals = strchr(line, '=');
        if (equals != NULL) {
            *equals = '\0';
        }
        if (length != 0 && !one_option(o, line, equals != NULL ? equals + 1 : "")) {
            return false;
        }
    }
    return true;
}

/* ---- addresses and arguments of a kernel ---- */

static bool address_of(const struct page_session *s, const char *text, uint32_t *out)
{
    uint64_t value;

    if (read_number(text, false, UINT32_MAX, &value)) {
        *out = (uint32_t)value;
        return true;
    }
    for (uint32_t i = 0; i < s->arg_count; i++) {
        if (strcmp(s->args[i].name, text) == 0) {
            *out = s->args[i].value;
            return true;
        }
    }
    for (size_t i = 0; s->program != NULL && i < s->program->symbol_count; i++) {
        const struct facet_object_symbol *symbol = &s->program->symbols[i];

        if (symbol->section >= 0 && strcmp(symbol->name, text) == 0) {
            *out = (uint32_t)symbol->value;
            return true;
        }
    }
    return false;
}

/* A number, also below 0; a float with a point; a name. */
static bool word_of(const struct page_session *s, const char *text, uint32_t *out)
{
    const char *digits = text + (text[0] == '-');
    char *end;
    long long value;

    if (digits[0] < '0' || digits[0] > '9') {
        return address_of(s, text, out);
    }
    errno = 0;
    value = strtoll(text, &end, 0);
    if (errno == 0 && *end == '\0') {
        *out = (uint32_t)value;
        return value >= INT32_MIN && value <= (long long)UINT32_MAX;
    }
    if (strchr(text, '.') != NULL) {
        float real = strtof(text, &end);

        memcpy(out, &real, sizeof real);
        return *end == '\0';
    }
    return false;
}

static bool place_args(struct options *o)
{
    struct page_session *s = o->s;
    uint32_t vram = facet_tile_info_of(s->machine).vram_bytes;

    s->packet.arg_base = FACET_TILE_VRAM_BASE + vram - (vram > 2 * ARG_BLOCK ? ARG_BLOCK : 1024);
    for (uint32_t i = 0; i < o->arg_count; i++) {
        const char *equals = strchr(o->arg[i], '=');
        size_t length = equals != NULL ? (size_t)(equals - o->arg[i]) : 0;
        uint8_t bytes[4];
        uint32_t value;

        if (length == 0 || length >= sizeof s->args[0].name || !word_of(s, equals + 1, &value)) {
            return refuse(o,
                          "arg",
                          o->arg[i],
                          "NAME=VALUE: a 32-bit number, a float with a point or a symbol");
        }
        memcpy(s->args[s->arg_count].name, o->arg[i], length);
        s->args[s->arg_count++].value = value;
        facet_store_le32(bytes, value);
        if (facet_machine_write(
                s->machine, 0, s->packet.arg_base + 4 * (uint64_t)i, bytes, sizeof bytes, o->err) !=
            FACET_OK) {
            return false;
        }
    }
    s->packet.arg_size = 4 * s->arg_count;
    return true;
}

/* ADDR,WxH as --out has it; a file name behind it says nothing here. */
static bool place_frame(struct options *o)
{
    struct page_session *s = o->s;
    char address[64] = "", size[32] = "";

    if (o->frame[0] == '\0') {
        return true;
    }
    if (sscanf(o->frame, "%63[^,],%31[0-9x]", address, size) != 2 ||
        !address_of(s, address, &s->frame.address) ||
        !read_pair(size, &s->frame.width, &s->frame.height) || s->frame.width == 0 ||
        s->frame.height == 0 || s->frame.width > 4096 || s->frame.height > 4096) {
        return refuse(
            o, "out", o->frame, "ADDR,WxH: where the picture lies and its size, at most 4096x4096");
    }
    s->frame.stride = 4 * s->frame.width;
    return true;
}

/* ---- the program ---- */

/* FACET_ERR_INPUT with an open record of complaints when the text is at fault. */
static enum facet_status assemble(struct page_session *s,
                                  const uint8_t *text,
                                  size_t size,
                                  bool *complained,
                                  struct facet_error *err)
{
    const struct facet_asm_options options = {
        .isa = page_session_isa(s), .file = "program.s", .debug = true, .max_bytes = 64 << 20};
    struct facet_asm_result result;
    enum facet_status status = facet_assemble(&options, (const char *)text, size, &result, err);

    *complained = status == FACET_ERR_INPUT && result.diags.count > 0;
    if (status == FACET_OK) {
        s->program = result.object;
        result.object = NULL;
        status = facet_object_make_segments(s->program, err);
    } else if (*complained) {
        page_put_diagnostics(page_begin(), &result.diags);
    }
    facet_asm_result_free(&result);
    return status;
}

static enum facet_status load_hart(struct options *o)
{
    struct page_session *s = o->s;
    uint8_t *elf = NULL;
    size_t size = 0;
    enum facet_status status = facet_elf_write(s->program, &elf, &size, o->err);

    o->hart.host = (struct facet_xphmg_host){.context = s, .output = output};
    o->hart.ram_bytes = o->hart.ram_bytes != 0 ? o->hart.ram_bytes : HART_RAM;
    o->hart.configuration = o->configuration[0] != '\0' ? o->configuration : NULL;
    o->hart.command_line = "program";
    if (status == FACET_OK) {
        status = facet_xphmg_create(&o->hart, &s->machine, o->err);
    }
    if (status == FACET_OK) {
        status = facet_xphmg_load_elf(s->machine, elf, size, o->err);
    }
    free(elf);
    return status;
}

static enum facet_status load_tile(struct options *o)
{
    struct page_session *s = o->s;
    enum facet_status status;

    o->tile.vram = o->tile.vram != 0 ? o->tile.vram : TILE_VRAM;
    status = facet_tile_create(&o->tile, &s->machine, o->err);
    if (status == FACET_OK) {
        status = facet_tile_load(s->machine, s->program, &s->packet.pc, o->err);
    }
    if (status == FACET_OK && (!place_args(o) || !place_frame(o))) {
        status = o->err->status;
    }
    return status == FACET_OK ? facet_tile_dispatch(s->machine, &s->packet, o->err) : status;
}

/* A program's text or ELF file on a new machine: {"session": n}, or for a text that is wrong
 * {"diagnostics": [...]}. `options` has a line for each option of the command line, without its
 * dashes. `input`: what a hart can read from its console. */
int PAGE_EXPORT(page_session_open)(uint32_t kind,
                                   const uint8_t *source,
                                   size_t source_size,
                                   const char *options,
                                   const uint8_t *input,
                                   size_t input_size)
{
    struct facet_error err = {0};
    struct options *o = calloc(1, sizeof *o);
    struct page_session *s;
    enum facet_status status = FACET_OK;
    bool complained = false;
    uint32_t id;

    if (o == NULL) {
        return page_no_memory("a program");
    }
    s = page_session_new(&id);
    if (s == NULL) {
        free(o);
        return FACET_ERR_LIMIT;
    }
    s->kind = kind == PAGE_HART ? PAGE_HART : PAGE_TILE;
    s->packet.columns = s->packet.rows = 1;
    s->packet.core_mask = 0xF;
    *o = (struct options){.s = s, .err = &err};
    if (facet_elf_is(source, source_size)) {
        status = facet_elf_read(source, source_size, &s->program, &err);
        if (status == FACET_OK && s->program->isa != page_session_isa(s)) {
            status = facet_fail(&err,
                                FACET_ERR_INPUT,
                                0,
                                "a program of the %s machine, expected one of the %s machine",
                                kind == PAGE_HART ? "tile" : "xphmg",
                                kind == PAGE_HART ? "xphmg" : "tile");
        }
        if (status == FACET_OK && s->program->segment_count == 0) {
            status = facet_object_make_segments(s->program, &err);
        }
    } else {
        status = assemble(s, source, source_size, &complained, &err);
    }
    if (status == FACET_OK && !read_options(o, options)) {
        status = err.status;
    }
    if (status == FACET_OK) {
        status = s->kind == PAGE_HART ? load_hart(o) : load_tile(o);
    }
    if (status == FACET_OK && s->kind == PAGE_HART) {
        if (input_size != 0) {
            status = facet_xphmg_input(s->machine, input, input_size, &err);
        }
    }
    if (status == FACET_OK) {
        status = page_session_begin(s, &err);
    }
    free(o);
    if (status == FACET_OK) {
        facet_record_number(page_begin(), "session", id);
        return page_end();
    }
    page_session_end(s);
    return complained ? page_end() : page_fail(&err);
}
