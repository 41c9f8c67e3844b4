/* What is in a session: its tables, its state, its memory, its picture, and why it stands where it
 * stands. See page_session.h. */
#include "wasm/page_session.h"

#include "assembler/disassemble.h"
#include "base/bits.h"
#include "debug/explain.h"
#include "machine/counts.h"
#include "num/srgb.h"

#include <facet/num.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values and places ---- */

static void put_value(struct facet_record *r, const char *name, struct facet_value value)
{
    char text[40];

    if (value.hi != 0) {
        (void)snprintf(text, sizeof text, "0x%" PRIx64 "%016" PRIx64, value.hi, value.lo);
    } else {
        (void)snprintf(text, sizeof text, "0x%" PRIx64, value.lo);
    }
    facet_record_word(r, name, text);
}

void page_session_put_symbol(const struct page_session *s, struct facet_record *r, uint64_t address)
{
    const struct facet_object_symbol *symbol = facet_symbols_find(&s->symbols, address);
    struct facet_strbuf name;

    facet_strbuf_init(&name);
    if (symbol != NULL) {
        facet_symbols_put_name(&name, symbol->name);
        if (address != symbol->value) {
            facet_strbuf_printf(&name, "+%" PRIu64, address - symbol->value);
        }
    }
    facet_record_word(r, "symbol", facet_strbuf_text(&name));
    facet_strbuf_free(&name);
}

uint64_t page_session_pc(const struct page_session *s, uint32_t core)
{
    struct facet_value pc = {0, 0};

    (void)facet_machine_reg_read(
        s->machine, core, facet_machine_core(s->machine, core)->pc, &pc, NULL);
    return pc.lo;
}

/* ---- the stop ---- */

/* What stopped the machine, in words. */
static void say_stop(const struct page_session *s, struct facet_strbuf *out)
{
    const struct facet_stop *stop = &s->stop;
    bool wants = false;

    switch (stop->reason) {
    case FACET_STOP_EXIT:
        if (s->kind == PAGE_HART) {
            facet_strbuf_printf(out, "ended with exit code %" PRIu64, stop->code);
        } else {
            facet_strbuf_printf(
                out, "done after %" PRIu64 " rounds", facet_tile_info_of(s->machine).rounds);
        }
        return;
    case FACET_STOP_FAULT:
        if (s->kind == PAGE_TILE) {
            facet_strbuf_printf(out,
                                "%s (cause %" PRIu64 ")",
                                facet_tile_cause_name((uint32_t)stop->code),
                                stop->code);
        } else if (stop->code == FACET_XPHMG_DEADLOCK) {
            facet_strbuf_puts(
                out, "deadlock: waits for an event or ticket that can no longer be signalled");
        } else {
            facet_strbuf_printf(out,
                                "%s (cause %" PRIu64 ") without a handler, value 0x%" PRIx64,
                                facet_xphmg_cause_name(stop->code),
                                stop->code & ~FACET_XPHMG_INTERRUPT,
                                stop->address);
        }
        break;
    case FACET_STOP_BREAKPOINT:
        facet_strbuf_puts(out, "breakpoint");
        break;
    case FACET_STOP_IDLE:
        if (s->kind == PAGE_HART && facet_xphmg_wants_input(s->machine, &wants, NULL) == FACET_OK &&
            wants) {
            facet_strbuf_puts(out, "waits for input");
        } else {
            facet_strbuf_puts(out,
                              s->kind == PAGE_HART
                                  ? "every hart waits, and no interrupt will come"
                                  : "every unfinished core waits for a doorbell or a fence");
        }
        return;
    case FACET_STOP_BUDGET:
        break;
    case FACET_STOP_WATCHPOINT:
        facet_strbuf_puts(out, "watchpoint, now");
        break;
    default:
        facet_strbuf_puts(out, facet_stop_name(stop->reason));
        break;
    }
    if (stop->core != FACET_NONE && stop->core < facet_machine_core_count(s->machine)) {
        facet_strbuf_printf(out, "%sat 0x%" PRIx64, out->length != 0 ? " " : "", stop->pc);
        page_session_place(s, stop->pc, out);
    }
}

void page_session_put_stop(struct page_session *s, struct facet_record *r)
{
    const struct facet_stop *stop = &s->stop;
    struct facet_strbuf words;
    bool wants = false;

    facet_strbuf_init(&words);
    say_stop(s, &words);
    facet_record_word(r, "reason", facet_stop_name(stop->reason));
    facet_record_number(r, "core", stop->core == FACET_NONE ? -1 : (int64_t)stop->core);
    facet_record_hex(r, "pc", stop->pc, 0);
    facet_record_hex(r, "code", stop->code, 0);
    facet_record_hex(r, "address", stop->address, 0);
    facet_record_number(r, "steps", (int64_t)facet_machine_steps(s->machine));
    facet_record_bool(r,
                      "wantsInput",
                      s->kind == PAGE_HART && stop->reason == FACET_STOP_IDLE &&
                          facet_xphmg_wants_input(s->machine, &wants, NULL) == FACET_OK && wants);
    facet_record_word(r, "explanation", facet_strbuf_text(&words));
    if (stop->reason == FACET_STOP_WATCHPOINT && s->seen.index < s->watch_count) {
        facet_record_open(r, "watch", NULL);
        facet_record_number(r, "index", (int64_t)s->seen.index);
        put_value(r, "before", s->seen.before);
        put_value(r, "after", s->seen.after);
        facet_record_hex(r, "pc", s->seen.pc, 0);
        facet_record_number(r, "line", page_session_line(s, s->seen.pc));
        facet_record_close(r);
    }
    facet_strbuf_free(&words);
}

/* ---- tables ---- */

static void put_regs(struct facet_record *r, const struct facet_core_desc *core)
{
    static const char *const types[] = {[FACET_REG_INTEGER] = "integer",
                                        [FACET_REG_FLOAT] = "float",
                                        [FACET_REG_VECTOR] = "vector",
                                        [FACET_REG_CODE] = "code",
                                        [FACET_REG_FLAGS] = "flags"};

    facet_record_list(r, "regs");
    for (uint32_t i = 0; i < core->reg_count; i++) {
        facet_record_open(r, NULL, NULL);
        facet_record_word(r, "name", core->regs[i].name);
        facet_record_word(r, "alias", core->regs[i].alias);
        facet_record_word(r, "group", core->regs[i].group);
        facet_record_number(r, "width", core->regs[i].width);
        facet_record_word(r, "type", types[core->regs[i].type]);
        facet_record_bool(r, "readOnly", core->regs[i].read_only);
        facet_record_close(r);
    }
    facet_record_close(r);
}

static void put_csrs(struct facet_record *r, const struct facet_core_desc *core)
{
    static const char *const access[] = {[FACET_FIELD_RO] = "RO",
                                         [FACET_FIELD_RW] = "RW",
                                         [FACET_FIELD_W1C] = "W1C",
                                         [FACET_FIELD_WARL] = "WARL",
                                         [FACET_FIELD_W1A] = "W1A",
                                         [FACET_FIELD_WC] = "WC"};

    facet_record_list(r, "csrs");
    for (uint32_t i = 0; i < core->csr_count; i++) {
        const struct facet_csr_desc *csr = &core->csrs[i];

        facet_record_open(r, NULL, NULL);
        facet_record_word(r, "name", csr->name);
        facet_record_number(r, "number", csr->number);
        facet_record_number(r, "width", csr->width);
        facet_record_list(r, "fields");
        for (uint32_t f = 0; f < csr->field_count; f++) {
            facet_record_open(r, NULL, NULL);
            facet_record_word(r, "name", csr->fields[f].name);
            facet_record_number(r, "hi", csr->fields[f].hi);
            facet_record_number(r, "lo", csr->fields[f].lo);
            facet_record_word(r, "access", access[csr->fields[f].access]);
            facet_record_word(r, "meaning", csr->fields[f].meaning);
            facet_record_close(r);
        }
        facet_record_close(r);
        facet_record_close(r);
    }
    facet_record_close(r);
}

static void put_spaces(const struct page_session *s, struct facet_record *r)
{
    struct facet_region_desc region;

    facet_record_list(r, "spaces");
    for (uint32_t space = 0; space < facet_machine_space_count(s->machine); space++) {
        facet_record_open(r, NULL, NULL);
        facet_record_word(r, "name", facet_machine_space_name(s->machine, space));
        facet_record_list(r, "regions");
        for (uint32_t i = 0; facet_machine_region(s->machine, space, i, &region); i++) {
            facet_record_open(r, NULL, NULL);
            facet_record_word(r, "name", region.name);
            facet_record_hex(r, "base", region.base, 0);
            facet_record_hex(r, "size", region.size, 0);
            facet_record_bool(r, "writable", region.writable);
            facet_record_bool(r, "device", region.device);
            facet_record_close(r);
        }
        facet_record_close(r);
        facet_record_close(r);
    }
    facet_record_close(r);
}

static void put_symbols(const struct page_session *s, struct facet_record *r)
{
    enum { MOST = 10000 };

    facet_record_list(r, "symbols");
    for (size_t i = 0; s->program != NULL && i < s->program->symbol_count && i < MOST; i++) {
        const struct facet_object_symbol *symbol = &s->program->symbols[i];

        if (symbol->section < 0 || symbol->type == FACET_SYMBOL_SECTION ||
            symbol->type == FACET_SYMBOL_FILE) {
            continue;
        }
        facet_record_open(r, NULL, NULL);
        facet_record_word(r, "name", symbol->name);
        facet_record_hex(r, "address", symbol->value, 0);
        facet_record_close(r);
    }
    facet_record_close(r);
}

/* Where a breakpoint of a line goes, and the other way round: rows by rising address. */
static void put_lines(const struct page_session *s, struct facet_record *r)
{
    enum { MOST = 100000 };

    facet_record_list(r, "lines");
    for (size_t i = 0; i < s->symbols.lines.count && i < MOST; i++) {
        const struct facet_line_row *row = &s->symbols.lines.rows[i];

        if (row->line == 0) {
            continue;
        }
        facet_record_open(r, NULL, NULL);
        facet_record_hex(r, "address", row->address, 0);
        facet_record_number(r, "line", row->line);
        facet_record_word(r, "file", row->file);
        facet_record_close(r);
    }
    facet_record_close(r);
}

/* What does not change: cores with the tables of their registers, memory, names and lines of the
 * program. */
int PAGE_EXPORT(page_session_describe)(uint32_t id)
{
    struct page_session *s = page_session_of(id);
    struct facet_record *r;

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    r = page_begin();
    facet_record_word(r, "kind", s->kind == PAGE_HART ? "xphmg" : "tile");
    facet_record_list(r, "cores");
    for (uint32_t i = 0; i < facet_machine_core_count(s->machine); i++) {
        facet_record_word(r, NULL, facet_machine_core(s->machine, i)->name);
    }
    facet_record_close(r);
    /* All cores of both machines have the tables of the first. */
    facet_record_number(r, "pc", facet_machine_core(s->machine, 0)->pc);
    put_regs(r, facet_machine_core(s->machine, 0));
    put_csrs(r, facet_machine_core(s->machine, 0));
    put_spaces(s, r);
    put_symbols(s, r);
    put_lines(s, r);
    facet_record_list(r, "args");
    for (uint32_t i = 0; i < s->arg_count; i++) {
        facet_record_open(r, NULL, NULL);
        facet_record_word(r, "name", s->args[i].name);
        facet_record_hex(r, "value", s->args[i].value, 0);
        facet_record_close(r);
    }
    facet_record_close(r);
    return page_end();
}

/* ---- the state ---- */

static void put_core(const struct page_session *s, struct facet_record *r, uint32_t core)
{
    const struct facet_core_desc *desc = facet_machine_core(s->machine, core);
    uint64_t pc = page_session_pc(s, core);
    const struct facet_line_row *row = facet_lines_find(&s->symbols.lines, pc);
    char text[160] = "";

    (void)facet_machine_disassemble(s->machine, core, pc, text, sizeof text, NULL);
    facet_record_open(r, NULL, NULL);
    facet_record_hex(r, "pc", pc, 0);
    facet_record_number(r, "line", row != NULL ? row->line : 0);
    facet_record_word(r, "file", row != NULL ? row->file : "");
    page_session_put_symbol(s, r, pc);
    facet_record_word(r, "text", text);
    facet_record_number(r, "retired", (int64_t)facet_machine_retired(s->machine, core));
    facet_record_list(r, "regs");
    for (uint32_t i = 0; i < desc->reg_count; i++) {
        struct facet_value value = {0, 0};

        (void)facet_machine_reg_read(s->machine, core, i, &value, NULL);
        put_value(r, NULL, value);
    }
    facet_record_close(r);
    facet_record_list(r, "csrs");
    for (uint32_t i = 0; i < desc->csr_count; i++) {
        struct facet_value value = {0, 0};

        (void)facet_machine_csr_read(s->machine, core, i, &value, NULL);
        put_value(r, NULL, value);
    }
    facet_record_close(r);
    if (s->kind == PAGE_TILE) {
        struct facet_tile_core_report report = facet_tile_report_of(s->machine, core);

        facet_record_number(r, "tiles", report.tiles);
        facet_record_number(r, "fault", report.fault_cause);
        facet_record_word(r,
                          "faultName",
                          report.fault_cause != 0 ? facet_tile_cause_name(report.fault_cause) : "");
        facet_record_hex(r, "faultPc", report.fault_pc, 0);
        facet_record_hex(r, "faultAddress", report.fault_addr, 0);
    }
    facet_record_close(r);
}

static void put_work(const struct page_session *s, struct facet_record *r)
{
    struct facet_work work;

    facet_record_list(r, "work");
    for (uint32_t i = 0; facet_machine_work(s->machine, i, &work); i++) {
        facet_record_open(r, NULL, NULL);
        facet_record_number(r, "core", work.core);
        facet_record_word(r, "unit", work.unit);
        facet_record_hex(r, "id", work.id, 0);
        facet_record_hex(r, "address", work.address, 0);
        facet_record_number(r, "left", (int64_t)work.left);
        facet_record_close(r);
    }
    facet_record_close(r);
}

/* Every register and CSR of every core, and why the machine stands. */
int PAGE_EXPORT(page_session_state)(uint32_t id)
{
    struct page_session *s = page_session_of(id);
    struct facet_record *r;
    uint32_t next;

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    next = facet_machine_next_core(s->machine);
    r = page_begin();
    facet_record_number(r, "steps", (int64_t)facet_machine_steps(s->machine));
    facet_record_number(r, "first", (int64_t)page_session_first(s));
    facet_record_number(r, "nextCore", next == FACET_NONE ? -1 : (int64_t)next);
    facet_record_number(r, "printed", (int64_t)s->printed);
    facet_record_open(r, "stop", NULL);
    page_session_put_stop(s, r);
    facet_record_close(r);
    facet_record_list(r, "cores");
    for (uint32_t i = 0; i < facet_machine_core_count(s->machine); i++) {
        put_core(s, r, i);
    }
    facet_record_close(r);
    put_work(s, r);
    return page_end();
}

/* What the guest has printed, as bytes. */
int PAGE_EXPORT(page_session_console)(uint32_t id)
{
    struct page_session *s = page_session_of(id);
    char *copy;

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    copy = malloc(s->console.length + 1);
    if (copy == NULL) {
        return page_no_memory("the console");
    }
    memcpy(copy, facet_strbuf_text(&s->console), s->console.length);
    return page_give_bytes(copy, s->console.length);
}

/* ---- memory and what is shown of it ---- */

/* Up to `size` bytes, as many as there are; of the tile machine as `core` sees them, 0xffffffff: as
 * the host does. */
int PAGE_EXPORT(page_session_memory)(
    uint32_t id, uint32_t space, uint64_t address, uint32_t size, uint32_t core)
{
    enum { MOST = 16 << 20, PIECE = 16 };
    struct page_session *s = page_session_of(id);
    uint8_t *bytes;
    uint32_t got = 0;

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    size = size < MOST ? size : MOST;
    bytes = malloc((size_t)size + 1);
    if (bytes == NULL) {
        return page_no_memory("a piece of memory");
    }
    if (facet_machine_read(s->machine, space, address, bytes, size, NULL) == FACET_OK) {
        got = size;
    }
    while (got < size) { /* up to where it ends */
        uint32_t piece = size - got < PIECE ? size - got : PIECE;

        while (piece != 0 &&
               facet_machine_read(s->machine, space, address + got, bytes + got, piece, NULL) !=
                   FACET_OK) {
            piece--;
        }
        if (piece == 0) {
            break;
        }
        got += piece;
    }
    if (s->kind == PAGE_TILE && space == 0 && core < FACET_TILE_CORES) {
        (void)facet_tile_core_view(s->machine, core, address, bytes, got);
    }
    return page_give_bytes(bytes, got);
}

static void
rgba_of_tile(const struct page_session *s, const uint8_t *row, uint8_t *to, uint32_t width)
{
    for (uint32_t x = 0; x < width; x++, to += 4) {
        if (s->frame.rgb565) {
            uint32_t c = facet_load_le16(row + 2 * (size_t)x);

            to[0] = (uint8_t)((c >> 11) << 3 | c >> 13);
            to[1] = (uint8_t)((c >> 5 & 63) << 2 | (c >> 9 & 3));
            to[2] = (uint8_t)((c & 31) << 3 | (c >> 2 & 7));
        } else {
            to[0] = row[4 * (size_t)x + 2];
            to[1] = row[4 * (size_t)x + 1];
            to[2] = row[4 * (size_t)x];
        }
        to[3] = 255;
    }
}

/* The sRGB code whose linear value is nearest from below or above. */
static uint8_t encode(float linear)
{
    int low = 0, high = 255;

    while (low < high) { /* the curve rises */
        int middle = (low + high) / 2;

        if (facet_srgb_float(((float)middle + 0.5F) / 255.0F) < linear) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (uint8_t)low;
}

static void rgba_of_hart(uint32_t format, const uint8_t *row, uint8_t *to, uint32_t width)
{
    for (uint32_t x = 0; x < width; x++, to += 4) {
        for (unsigned c = 0; c < 3; c++) {
            if (format == FACET_XPHMG_FRAME_RGBX8) {
                to[c] = row[4 * (size_t)x + c];
            } else {
                uint32_t bits = facet_load_le32(row + 12 * (size_t)x + 4 * c);
                float linear;

                memcpy(&linear, &bits, sizeof linear);
                to[c] = encode(linear);
            }
        }
        to[3] = 255;
    }
}

/* The picture: width and height as two words, then red, green, blue, 255 of every pixel; nothing
 * when none is shown. */
int PAGE_EXPORT(page_session_frame)(uint32_t id)
{
    struct page_session *s = page_session_of(id);
    struct facet_xphmg_framebuffer fb = {0};
    struct facet_error err = {0};
    uint32_t width, height, stride, bytes;
    uint64_t base;
    uint8_t *out, *row;

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    if (s->kind == PAGE_HART) {
        if (facet_xphmg_get_framebuffer(s->machine, &fb, NULL) != FACET_OK || fb.width > 4096 ||
            fb.height > 4096) {
            return page_done();
        }
        width = fb.width, height = fb.height, stride = fb.stride, base = fb.base;
        bytes = facet_xphmg_frame_bytes(fb.format) * width;
    } else {
        width = s->frame.width, height = s->frame.height, stride = s->frame.stride,
        base = s->frame.address;
        bytes = (s->frame.rgb565 ? 2 : 4) * width;
    }
    if (width == 0 || height == 0) {
        return page_done();
    }
    out = malloc(8 + 4 * (size_t)width * height);
    row = malloc(bytes);
    if (out == NULL || row == NULL) {
        free(out);
        free(row);
        return page_no_memory("a picture");
    }
    facet_store_le32(out, width);
    facet_store_le32(out + 4, height);
    for (uint32_t y = 0; y < height; y++) {
        uint8_t *to = out + 8 + 4 * (size_t)width * y;

        if (facet_machine_read(s->machine, 0, base + (uint64_t)stride * y, row, bytes, &err) !=
            FACET_OK) {
            free(out);
            free(row);
            return page_fail(&err);
        }
        if (s->kind == PAGE_TILE) {
            rgba_of_tile(s, row, to, width);
        } else {
            rgba_of_hart(fb.format, row, to, width);
        }
    }
    free(row);
    return page_give_bytes(out, 8 + 4 * (size_t)width * height);
}

/* ---- registers as numbers of a format ---- */

/* One line for each register: its lanes as numbers of the format ("FP16", "INT8", ...), the lowest
 * first. Integers are signed. */
int PAGE_EXPORT(page_session_lanes)(uint32_t id,
                                    uint32_t core,
                                    const char *group,
                                    const char *format_name)
{
    struct page_session *s = page_session_of(id);
    enum facet_format format = facet_format_find(format_name);
    const struct facet_core_desc *desc;
    struct facet_error err = {0};
    struct facet_record *r;
    uint32_t bits;

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    desc = facet_machine_core(s->machine, core);
    if (desc == NULL || format == FACET_FMT_COUNT) {
        (void)facet_fail(&err,
                         FACET_ERR_USAGE,
                         0,
                         "there is no core %u, or no format %s",
                         (unsigned)core,
                         format_name);
        return page_fail(&err);
    }
    bits = facet_format_bits(format);
    r = page_begin();
    facet_record_list(r, "regs");
    for (uint32_t i = 0; i < desc->reg_count; i++) {
        struct facet_value value = {0, 0};

        if (strcmp(desc->regs[i].group, group) != 0) {
            continue;
        }
        (void)facet_machine_reg_read(s->machine, core, i, &value, NULL);
        facet_record_open(r, NULL, NULL);
        facet_record_word(r, "name", desc->regs[i].name);
        facet_record_list(r, "lanes");
        for (uint32_t at = 0; at + bits <= desc->regs[i].width; at += bits) {
            uint64_t lane =
                (at < 64 ? value.lo >> at : value.hi >> (at - 64)) & (UINT64_MAX >> (64 - bits));
            char text[64];

            if (format >= FACET_FMT_INT32) {
                uint64_t sign = UINT64_C(1) << (bits - 1);

                (void)snprintf(text, sizeof text, "%" PRId64, (int64_t)((lane ^ sign) - sign));
            } else {
                (void)snprintf(text,
                               sizeof text,
                               "%.*g",
                               bits > 32   ? 17
                               : bits > 16 ? 9
                                           : 5,
                               facet_num_to_double(format, lane));
            }
            facet_record_word(r, NULL, text);
        }
        facet_record_close(r);
        facet_record_close(r);
    }
    facet_record_close(r);
    return page_end();
}

/* ---- the program ---- */

struct listing {
    struct page_session *s;
    struct facet_record *r;
    uint32_t left;
};

static bool put_line(void *context, const struct facet_dis_line *line)
{
    struct listing *l = context;

    facet_record_open(l->r, NULL, NULL);
    facet_record_hex(l->r, "address", line->address, 0);
    facet_record_number(l->r, "size", (int64_t)line->size);
    facet_record_hex(l->r, "word", line->word, 8);
    facet_record_bool(l->r, "code", line->row != NULL);
    facet_record_word(l->r, "label", line->label);
    facet_record_word(l->r, "text", line->text);
    facet_record_number(l->r, "line", page_session_line(l->s, line->address));
    facet_record_close(l->r);
    return --l->left != 0;
}

/* The program as it was loaded: instructions and data with their addresses, labels and source
 * lines, at most `most` of them. */
int PAGE_EXPORT(page_session_listing)(uint32_t id, uint32_t most)
{
    struct page_session *s = page_session_of(id);
    struct listing l = {.s = s, .left = most};
    struct facet_error err = {0};

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    l.r = page_begin();
    facet_record_list(l.r, "lines");
    if (s->program != NULL && most != 0 &&
        facet_dis_walk(s->program, put_line, &l, &err) != FACET_OK) {
        return page_fail(&err);
    }
    facet_record_close(l.r);
    facet_record_bool(l.r, "more", most != 0 && l.left == 0);
    return page_end();
}

/* ---- how often and why: by making the steps again ---- */

enum { REPEATED = 1 << 26 };

bool page_session_again(struct page_session *s, uint64_t *now)
{
    const uint64_t first = page_session_first(s);
    struct facet_error err = {0};

    *now = facet_machine_steps(s->machine);
    if (*now - first > REPEATED) {
        (void)facet_fail(&err,
                         FACET_ERR_LIMIT,
                         *now - first,
                         "%" PRIu64 " steps are too many to make again, at most %d",
                         *now - first,
                         REPEATED);
        (void)page_fail(&err);
        return false;
    }
    if (!page_session_go(s, first)) {
        (void)page_no_memory("going back");
        return false;
    }
    return true;
}

/* How often each instruction retired since the beginning, with its lanes where it ran under a mask.
 */
int PAGE_EXPORT(page_session_profile)(uint32_t id)
{
    struct page_session *s = page_session_of(id);
    struct facet_counts counts = {0};
    struct facet_error err = {0};
    struct facet_record *r;
    uint64_t now;
    bool good;

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    if (!page_session_again(s, &now)) {
        return FACET_ERR_LIMIT;
    }
    good = facet_machine_count(s->machine, &counts, &err) == FACET_OK;
    if (good) {
        page_session_forward(s, now);
        (void)facet_machine_count(s->machine, NULL, NULL);
    }
    if (!good || counts.no_memory) {
        facet_counts_free(&counts);
        return page_no_memory("a profile");
    }
    r = page_begin();
    facet_record_list(r, "rows");
    for (size_t i = 0; i < counts.rows.count; i++) {
        const struct facet_counts_row *row = facet_counts_row(&counts, i);

        facet_record_open(r, NULL, NULL);
        facet_record_number(r, "core", row->core);
        facet_record_hex(r, "pc", row->pc, 0);
        facet_record_number(r, "line", page_session_line(s, row->pc));
        facet_record_number(r, "retired", (int64_t)row->retired);
        facet_record_number(r, "active", (int64_t)row->active);
        facet_record_number(r, "lanes", (int64_t)row->lanes);
        facet_record_close(r);
    }
    facet_record_close(r);
    facet_record_list(r, "memory");
    for (size_t i = 0; i < counts.memory.count; i++) {
        const struct facet_counts_memory *m =
            &((const struct facet_counts_memory *)counts.memory.items)[i];

        facet_record_open(r, NULL, NULL);
        facet_record_word(r, "class", m->class);
        facet_record_number(r, "bytes", m->bytes);
        facet_record_number(r, "accesses", (int64_t)m->accesses);
        facet_record_close(r);
    }
    facet_record_close(r);
    facet_counts_free(&counts);
    return page_end();
}

/* What the next instruction of a core reads and who wrote it: the members of facet_explain_core. */
int PAGE_EXPORT(page_session_why)(uint32_t id, uint32_t core)
{
    enum { WATCHED = 1 << 16 };
    struct page_session *s = page_session_of(id);
    struct facet_explain e;
    struct facet_writes *writes;
    struct facet_error err = {0};
    struct facet_record *r;
    uint64_t now, first, from;
    int status;

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    if (core >= facet_machine_core_count(s->machine)) {
        (void)facet_fail(&err, FACET_ERR_USAGE, core, "there is no core %u", (unsigned)core);
        return page_fail(&err);
    }
    first = page_session_first(s);
    now = facet_machine_steps(s->machine);
    from = now - first > WATCHED ? now - WATCHED : first;
    writes = facet_writes_create(s->machine);
    if (writes == NULL || !page_session_go(s, from)) {
        facet_writes_destroy(writes);
        return page_no_memory("an explanation");
    }
    (void)facet_machine_observe(s->machine, facet_writes_observer(writes));
    page_session_forward(s, now);
    (void)facet_machine_observe(s->machine, NULL);
    e = (struct facet_explain){.machine = s->machine,
                               .isa = page_session_isa(s),
                               .symbols = &s->symbols,
                               .writes = writes,
                               .seen = now - from};
    r = page_begin();
    facet_explain_core(&e, r, core, page_session_pc(s, core));
    status = page_end();
    facet_writes_destroy(writes);
    return status;
}
