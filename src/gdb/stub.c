/* The conversation: bytes to packets, packets to verbs of the machine, answers back.
 *
 * "GDB Remote Serial Protocol" in the GDB manual. Cores that execute instructions are threads: core
 * n is thread n + 1. An empty answer means that a packet is not known, as the protocol has it. */
#include "gdb/internal.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Errors by number: GDB prints them and does not read more into them. */
static const char error_malformed[] = "E16", error_refused[] = "E01", error_address[] = "E0e";
enum { MEMORY_PIECE = (FACET_GDB_PACKET_BYTES - 16) / 2, SAY_PIECE = 512 };

/* ---- bytes ------------------------------------------------------------------------------------
 */

static void lost(struct facet_gdb *gdb, enum facet_gdb_end end)
{
    if (!gdb->over) {
        gdb->over = true;
        gdb->end = end;
    }
}

static bool send_bytes(struct facet_gdb *gdb, const char *bytes, size_t size)
{
    if (!gdb->over && !gdb->host.send(gdb->host.line, bytes, size)) {
        lost(gdb, FACET_GDB_GONE);
    }
    return !gdb->over;
}

bool facet_gdb_send(struct facet_gdb *gdb, const char *payload, size_t length)
{
    facet_strbuf_clear(&gdb->frame);
    facet_gdb_frame(&gdb->frame, payload, length);
    if (gdb->lacking || gdb->history.lacking || gdb->frame.failed || gdb->reply.failed ||
        gdb->last_stop.failed) {
        lost(gdb, FACET_GDB_SHORT);
        return false;
    }
    return send_bytes(gdb, gdb->frame.text, gdb->frame.length);
}

void facet_gdb_say(struct facet_gdb *gdb, const char *text, size_t length)
{
    struct facet_strbuf packet;

    facet_strbuf_init(&packet);
    for (size_t at = 0; at < length; at += SAY_PIECE) {
        size_t piece = length - at < SAY_PIECE ? length - at : SAY_PIECE;

        facet_strbuf_clear(&packet);
        facet_strbuf_putc(&packet, 'O');
        facet_gdb_put_hex(&packet, text + at, piece);
        gdb->lacking |= packet.failed;
        (void)facet_gdb_send(gdb, facet_strbuf_text(&packet), packet.length);
    }
    facet_strbuf_free(&packet);
}

static bool fill(struct facet_gdb *gdb, bool wait)
{
    long got;

    if (gdb->input_at < gdb->input_size) {
        return true;
    }
    gdb->input_at = gdb->input_size = 0;
    got = gdb->host.receive(gdb->host.line, gdb->input, sizeof gdb->input, wait);
    if (got < 0) {
        lost(gdb, FACET_GDB_GONE);
    } else {
        gdb->input_size = (size_t)got;
    }
    return got > 0;
}

enum facet_gdb_event facet_gdb_next(struct facet_gdb *gdb, bool wait)
{
    while (!gdb->over && fill(gdb, wait)) {
        enum facet_gdb_event event = facet_gdb_read_byte(&gdb->reader, gdb->input[gdb->input_at++]);

        if (event == FACET_GDB_NAK && !gdb->no_ack && gdb->frame.length > 0) {
            (void)send_bytes(gdb, gdb->frame.text, gdb->frame.length);
        } else if (event != FACET_GDB_NOTHING && event != FACET_GDB_ACK && event != FACET_GDB_NAK) {
            return event;
        }
    }
    return FACET_GDB_NOTHING;
}

/* ---- small things -----------------------------------------------------------------------------
 */

static void answer(struct facet_gdb *gdb, const char *text)
{
    facet_strbuf_clear(&gdb->reply);
    facet_strbuf_puts(&gdb->reply, text);
}

static bool is_thread(const struct facet_gdb *gdb, uint32_t core)
{
    const struct facet_core_desc *desc = facet_machine_core(gdb->machine, core);

    return desc != NULL && desc->pc != FACET_NONE;
}

enum thread { THREAD_BAD, THREAD_ANY, THREAD_ONE };

/* -1 and 0 mean all and any. */
static enum thread
take_thread(const struct facet_gdb *gdb, struct facet_gdb_text *text, uint32_t *core)
{
    uint64_t id;

    if (facet_gdb_take_word(text, "-1")) {
        return THREAD_ANY;
    }
    if (!facet_gdb_take_hex(text, &id) || id > UINT32_MAX - 1) {
        return THREAD_BAD;
    }
    if (id == 0) {
        return THREAD_ANY;
    }
    *core = (uint32_t)(id - 1);
    return is_thread(gdb, *core) ? THREAD_ONE : THREAD_BAD;
}

static bool at_end(const struct facet_gdb_text *text)
{
    return text->at == text->end;
}

/* ---- registers --------------------------------------------------------------------------------
 */

static void put_reg(struct facet_gdb *gdb, uint32_t number)
{
    uint8_t bytes[16];

    if (facet_gdb_reg_get(&gdb->target, gdb->machine, gdb->core, number, bytes)) {
        facet_gdb_put_hex(&gdb->reply, bytes, gdb->target.regs[number].bytes);
    } else {
        for (unsigned i = 0; i < gdb->target.regs[number].bytes; i++) {
            facet_strbuf_puts(&gdb->reply, "xx"); /* this core does not have it */
        }
    }
}

static void read_all(struct facet_gdb *gdb)
{
    for (uint32_t i = 0; i < gdb->target.general; i++) {
        put_reg(gdb, i);
    }
}

/* Read-only registers keep their values without complaint: GDB sends all of them. */
static void write_all(struct facet_gdb *gdb, struct facet_gdb_text text)
{
    uint8_t bytes[16];
    struct facet_gdb_text check = text;
    bool good = true;

    for (uint32_t i = 0; good && i < gdb->target.general; i++) {
        good = facet_gdb_take_bytes(&check, bytes, gdb->target.regs[i].bytes);
    }
    if (!good) {
        answer(gdb, error_malformed);
        return;
    }
    for (uint32_t i = 0; i < gdb->target.general; i++) {
        memset(bytes, 0, sizeof bytes);
        (void)facet_gdb_take_bytes(&text, bytes, gdb->target.regs[i].bytes);
        (void)facet_gdb_reg_set(&gdb->target, gdb->machine, gdb->core, i, bytes);
    }
    facet_gdb_history_changed(&gdb->history);
    answer(gdb, "OK");
}

static void read_one(struct facet_gdb *gdb, struct facet_gdb_text text)
{
    uint64_t number;

    if (!facet_gdb_take_hex(&text, &number) || !at_end(&text) || number >= gdb->target.count) {
        answer(gdb, error_malformed);
    } else {
        put_reg(gdb, (uint32_t)number);
    }
}

static void write_one(struct facet_gdb *gdb, struct facet_gdb_text text)
{
    uint8_t bytes[16] = {0};
    uint64_t number;

    if (!facet_gdb_take_hex(&text, &number) || !facet_gdb_take_char(&text, '=') ||
        number >= gdb->target.count ||
        !facet_gdb_take_bytes(&text, bytes, gdb->target.regs[number].bytes) || !at_end(&text)) {
        answer(gdb, error_malformed);
    } else if (!facet_gdb_reg_set(&gdb->target, gdb->machine, gdb->core, (uint32_t)number, bytes)) {
        answer(gdb, error_refused);
    } else {
        facet_gdb_history_changed(&gdb->history);
        answer(gdb, "OK");
    }
}

/* ---- memory -----------------------------------------------------------------------------------
 */

/* "address,length" */
static bool take_range(struct facet_gdb_text *text, uint64_t *address, uint64_t *size)
{
    return facet_gdb_take_hex(text, address) && facet_gdb_take_char(text, ',') &&
           facet_gdb_take_hex(text, size);
}

static void read_memory(struct facet_gdb *gdb, struct facet_gdb_text text)
{
    uint8_t bytes[MEMORY_PIECE];
    uint64_t address, size;

    if (!take_range(&text, &address, &size) || !at_end(&text)) {
        answer(gdb, error_malformed);
        return;
    }
    size = size < sizeof bytes ? size : sizeof bytes;
    if (size != 0) {
        size = facet_gdb_read_memory(gdb, address, bytes, (size_t)size);
        if (size == 0) {
            answer(gdb, error_address);
        }
    }
    facet_gdb_put_hex(&gdb->reply, bytes, (size_t)size);
}

static void
write_bytes(struct facet_gdb *gdb, uint64_t address, const uint8_t *bytes, uint64_t size)
{
    if (size > 0 && !facet_gdb_write_memory(gdb, address, bytes, (size_t)size)) {
        answer(gdb, error_address);
        return;
    }
    if (size > 0) {
        facet_gdb_history_changed(&gdb->history);
    }
    answer(gdb, "OK");
}

static void write_memory(struct facet_gdb *gdb, struct facet_gdb_text text, bool binary)
{
    const uint8_t *data = gdb->bytes;
    uint64_t address, size;
    bool good = take_range(&text, &address, &size) && facet_gdb_take_char(&text, ':');

    if (good && binary) {
        good = (uint64_t)(text.end - text.at) == size;
        data = (const uint8_t *)text.at;
    } else if (good) {
        good = size <= sizeof gdb->bytes && facet_gdb_take_bytes(&text, gdb->bytes, (size_t)size) &&
               at_end(&text);
    }
    if (good) {
        write_bytes(gdb, address, data, size);
    } else {
        answer(gdb, error_malformed);
    }
}

/* Ztype,address,kind */
static void change_point(struct facet_gdb *gdb, struct facet_gdb_text text, bool add)
{
    struct facet_gdb_point point = {0};
    uint64_t type;

    if (!facet_gdb_take_hex(&text, &type) || !facet_gdb_take_char(&text, ',') ||
        !take_range(&text, &point.address, &point.size) || !at_end(&text)) {
        answer(gdb, error_malformed);
        return;
    }
    if (type >= FACET_GDB_POINT_TYPES) {
        return;
    }
    point.type = (enum facet_gdb_point_type)type;
    if (!add) {
        facet_gdb_point_remove(gdb, &point);
        answer(gdb, "OK");
    } else {
        answer(gdb, facet_gdb_point_add(gdb, &point) ? "OK" : error_refused);
    }
}

/* ---- running ----------------------------------------------------------------------------------
 */

static bool set_pc(struct facet_gdb *gdb, uint64_t address)
{
    const struct facet_core_desc *desc = facet_machine_core(gdb->machine, gdb->resume_core);
    struct facet_value pc = {address, 0};

    facet_gdb_history_changed(&gdb->history);
    return facet_machine_reg_write(gdb->machine, gdb->resume_core, desc->pc, pc, NULL) == FACET_OK;
}

/* c [address], s [address], C signal [;address], S signal [;address]: the old forms. Signals mean
 * nothing here. */
static void
resume_old(struct facet_gdb *gdb, struct facet_gdb_text text, bool step, bool has_signal)
{
    uint64_t value;
    bool good = true;

    if (has_signal) {
        good =
            facet_gdb_take_hex(&text, &value) && (at_end(&text) || facet_gdb_take_char(&text, ';'));
    }
    if (good && !at_end(&text)) {
        good = facet_gdb_take_hex(&text, &value) && at_end(&text) && set_pc(gdb, value);
    }
    if (!good) {
        answer(gdb, error_malformed);
    } else if (step) {
        facet_gdb_step(gdb, gdb->resume_core);
    } else {
        facet_gdb_continue(gdb);
    }
}

/* vCont;action[:thread]... The machine has one order of its cores, so "continue" moves all of them,
 * and "step" is one step of the core named, with what the others do before it. */
static void resume_threads(struct facet_gdb *gdb, struct facet_gdb_text text)
{
    uint32_t core = gdb->resume_core;
    bool step = false, go = false;

    while (!at_end(&text)) {
        uint32_t named = core;
        uint64_t signal;
        char action;

        if (!facet_gdb_take_char(&text, ';') || at_end(&text)) {
            answer(gdb, error_malformed);
            return;
        }
        action = *text.at++;
        if ((action != 'c' && action != 's' && action != 'C' && action != 'S') ||
            ((action == 'C' || action == 'S') && !facet_gdb_take_hex(&text, &signal)) ||
            (facet_gdb_take_char(&text, ':') && take_thread(gdb, &text, &named) == THREAD_BAD)) {
            answer(gdb, error_malformed);
            return;
        }
        go = true;
        if ((action == 's' || action == 'S') && !step) {
            step = true;
            core = named;
        }
    }
    if (!go) {
        answer(gdb, error_malformed);
    } else if (step) {
        facet_gdb_step(gdb, core);
    } else {
        facet_gdb_continue(gdb);
    }
}

static void resume_back(struct facet_gdb *gdb, const struct facet_gdb_text *text)
{
    if (gdb->host.no_reverse || text->end - text->at != 1) {
        return;
    }
    if (*text->at == 's') {
        facet_gdb_reverse_step(gdb, gdb->resume_core);
    } else if (*text->at == 'c') {
        facet_gdb_reverse_continue(gdb);
    }
}

/* ---- queries ----------------------------------------------------------------------------------
 */

static void tell_features(struct facet_gdb *gdb)
{
    facet_strbuf_printf(&gdb->reply,
                        "PacketSize=%x;qXfer:features:read+;qXfer:memory-map:read+;"
                        "QStartNoAckMode+;vContSupported+;swbreak+;hwbreak+%s%s",
                        FACET_GDB_PACKET_BYTES,
                        gdb->host.program != NULL ? ";qXfer:exec-file:read+" : "",
                        gdb->host.no_reverse ? "" : ";ReverseStep+;ReverseContinue+");
}

/* "annex:offset,length" of a text. */
static void
transfer(struct facet_gdb *gdb, struct facet_gdb_text text, const struct facet_strbuf *whole)
{
    uint64_t offset, size, left;

    if (!take_range(&text, &offset, &size) || !at_end(&text)) {
        answer(gdb, error_malformed);
        return;
    }
    left = offset < whole->length ? whole->length - offset : 0;
    size = size < FACET_GDB_PACKET_BYTES / 2 ? size : FACET_GDB_PACKET_BYTES / 2;
    facet_strbuf_putc(&gdb->reply, size < left ? 'm' : 'l');
    if (left > 0) {
        facet_strbuf_add(&gdb->reply, whole->text + offset, (size_t)(size < left ? size : left));
    }
}

/* "[process]:offset,length" */
static void name_program(struct facet_gdb *gdb, struct facet_gdb_text text)
{
    struct facet_strbuf name;
    uint64_t process;

    facet_strbuf_init(&name);
    facet_strbuf_puts(&name, facet_gdb_program_name);
    (void)facet_gdb_take_hex(&text, &process);
    if (facet_gdb_take_char(&text, ':')) {
        transfer(gdb, text, &name);
    } else {
        answer(gdb, error_malformed);
    }
    gdb->lacking |= name.failed;
    facet_strbuf_free(&name);
}

static void list_threads(struct facet_gdb *gdb)
{
    char separator = 'm';

    for (uint32_t i = 0; i < facet_machine_core_count(gdb->machine); i++) {
        if (is_thread(gdb, i)) {
            facet_strbuf_printf(&gdb->reply, "%c%" PRIx32, separator, i + 1);
            separator = ',';
        }
    }
}

static void describe_thread(struct facet_gdb *gdb, struct facet_gdb_text text)
{
    uint32_t core;

    if (take_thread(gdb, &text, &core) != THREAD_ONE || !at_end(&text)) {
        answer(gdb, error_malformed);
    } else {
        const char *name = facet_machine_core(gdb->machine, core)->name;

        facet_gdb_put_hex(&gdb->reply, name, strlen(name));
    }
}

static void run_monitor(struct facet_gdb *gdb, struct facet_gdb_text text)
{
    char command[256];
    size_t length = (size_t)(text.end - text.at) / 2;
    struct facet_strbuf out;

    if (length >= sizeof command || !facet_gdb_take_bytes(&text, (uint8_t *)command, length) ||
        !at_end(&text)) {
        answer(gdb, error_malformed);
        return;
    }
    command[length] = '\0';
    facet_strbuf_init(&out);
    facet_gdb_monitor(gdb, command, &out);
    gdb->lacking |= out.failed;
    facet_gdb_say(gdb, facet_strbuf_text(&out), out.length);
    facet_strbuf_free(&out);
    answer(gdb, "OK");
}

static void query(struct facet_gdb *gdb, struct facet_gdb_text text)
{
    if (facet_gdb_take_word(&text, "Supported")) {
        tell_features(gdb);
    } else if (facet_gdb_take_word(&text, "Xfer:features:read:target.xml:")) {
        transfer(gdb, text, &gdb->target.features);
    } else if (facet_gdb_take_word(&text, "Xfer:features:read:")) {
        answer(gdb, "E00"); /* no such annex */
    } else if (facet_gdb_take_word(&text, "Xfer:memory-map:read::")) {
        transfer(gdb, text, &gdb->target.memory_map);
    } else if (gdb->host.program != NULL && facet_gdb_take_word(&text, "Xfer:exec-file:read:")) {
        name_program(gdb, text);
    } else if (facet_gdb_take_word(&text, "fThreadInfo")) {
        list_threads(gdb);
    } else if (facet_gdb_take_word(&text, "sThreadInfo")) {
        answer(gdb, "l");
    } else if (facet_gdb_take_word(&text, "ThreadExtraInfo,")) {
        describe_thread(gdb, text);
    } else if (facet_gdb_take_word(&text, "Rcmd,")) {
        run_monitor(gdb, text);
    } else if (facet_gdb_take_word(&text, "Attached")) {
        answer(gdb, "1"); /* the program was there before the debugger: leave it when you go */
    } else if (facet_gdb_take_word(&text, "Symbol::")) {
        answer(gdb, "OK"); /* we look up no symbols */
    } else if (facet_gdb_take_word(&text, "C") && at_end(&text)) {
        facet_strbuf_printf(&gdb->reply, "QC%" PRIx32, gdb->core + 1);
    }
}

/* ---- packets ----------------------------------------------------------------------------------
 */

static void leave(struct facet_gdb *gdb, enum facet_gdb_end end)
{
    gdb->over = true;
    gdb->end = end;
}

static void select_thread(struct facet_gdb *gdb, struct facet_gdb_text text)
{
    char which = '\0';
    uint32_t core;

    if (!at_end(&text)) {
        which = *text.at++;
    }
    switch (take_thread(gdb, &text, &core)) {
    case THREAD_ONE:
        if (which == 'g') {
            gdb->core = core;
        } else if (which == 'c') {
            gdb->resume_core = core;
        }
        answer(gdb, "OK");
        break;
    case THREAD_ANY:
        answer(gdb, "OK");
        break;
    default:
        answer(gdb, error_malformed);
        break;
    }
}

static void ask_alive(struct facet_gdb *gdb, struct facet_gdb_text text)
{
    uint32_t core;

    answer(gdb,
           take_thread(gdb, &text, &core) == THREAD_ONE && at_end(&text) ? "OK" : error_refused);
}

static void long_name(struct facet_gdb *gdb, struct facet_gdb_text text)
{
    if (facet_gdb_take_word(&text, "Cont?")) {
        answer(gdb, "vCont;c;C;s;S");
    } else if (facet_gdb_take_word(&text, "Cont")) {
        resume_threads(gdb, text);
    } else if (gdb->host.program != NULL && facet_gdb_take_word(&text, "File:")) {
        facet_gdb_file(gdb, text);
    } else if (facet_gdb_take_word(&text, "Kill;")) {
        answer(gdb, "OK");
        (void)facet_gdb_send(gdb, gdb->reply.text, gdb->reply.length);
        leave(gdb, FACET_GDB_KILLED);
    }
}

static void detach(struct facet_gdb *gdb)
{
    answer(gdb, "OK");
    (void)facet_gdb_send(gdb, facet_strbuf_text(&gdb->reply), gdb->reply.length);
    leave(gdb, FACET_GDB_DETACHED);
}

/* One packet; what is in gdb->reply afterwards is the answer. */
static void dispatch(struct facet_gdb *gdb, struct facet_gdb_text text)
{
    char first = at_end(&text) ? '\0' : *text.at++;

    switch (first) {
    case '?':
        facet_strbuf_add(&gdb->reply, facet_strbuf_text(&gdb->last_stop), gdb->last_stop.length);
        break;
    case 'g':
        read_all(gdb);
        break;
    case 'G':
        write_all(gdb, text);
        break;
    case 'p':
        read_one(gdb, text);
        break;
    case 'P':
        write_one(gdb, text);
        break;
    case 'm':
        read_memory(gdb, text);
        break;
    case 'M':
    case 'X':
        write_memory(gdb, text, first == 'X');
        break;
    case 'Z':
    case 'z':
        change_point(gdb, text, first == 'Z');
        break;
    case 'c':
    case 's':
        resume_old(gdb, text, first == 's', false);
        break;
    case 'C':
    case 'S':
        resume_old(gdb, text, first == 'S', true);
        break;
    case 'b':
        resume_back(gdb, &text);
        break;
    case 'q':
        query(gdb, text);
        break;
    case 'Q':
        if (facet_gdb_take_word(&text, "StartNoAckMode")) {
            answer(gdb, "OK");
        }
        break;
    case 'v':
        long_name(gdb, text);
        break;
    case 'H':
        select_thread(gdb, text);
        break;
    case 'T':
        ask_alive(gdb, text);
        break;
    case 'D':
        detach(gdb);
        break;
    case 'k':
        leave(gdb, FACET_GDB_KILLED);
        break;
    default:
        break;
    }
}

/* While the machine runs, the reader may take in the next packet: whatever is needed of this one is
 * taken before. */
static void handle(struct facet_gdb *gdb, enum facet_gdb_event event)
{
    struct facet_gdb_text text = {gdb->reader.data, gdb->reader.data + gdb->reader.length};
    bool no_ack_asked = gdb->reader.length == strlen("QStartNoAckMode") &&
                        memcmp(gdb->reader.data, "QStartNoAckMode", gdb->reader.length) == 0;

    if (event == FACET_GDB_DAMAGED && !gdb->no_ack) {
        (void)send_bytes(gdb, "-", 1);
        return;
    }
    if (!gdb->no_ack) {
        (void)send_bytes(gdb, "+", 1);
    }
    facet_strbuf_clear(&gdb->reply);
    if (event == FACET_GDB_TOO_LONG) {
        answer(gdb, error_malformed);
    } else {
        dispatch(gdb, text);
    }
    if (!gdb->over) {
        (void)facet_gdb_send(gdb, facet_strbuf_text(&gdb->reply), gdb->reply.length);
    }
    gdb->no_ack = gdb->no_ack || no_ack_asked;
}

/* ---- life -------------------------------------------------------------------------------------
 */

enum facet_status facet_gdb_create(facet_machine *machine,
                                   const struct facet_gdb_host *host,
                                   facet_gdb **out,
                                   struct facet_error *err)
{
    struct facet_gdb *gdb = calloc(1, sizeof *gdb);
    enum facet_status status;

    *out = NULL;
    if (gdb == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for the GDB stub");
    }
    gdb->machine = machine;
    gdb->host = *host;
    facet_strbuf_init(&gdb->reply);
    facet_strbuf_init(&gdb->frame);
    facet_strbuf_init(&gdb->last_stop);
    status = facet_gdb_target_make(&gdb->target, machine, err);
    if (status == FACET_OK) {
        status = facet_gdb_history_start(&gdb->history, machine, &gdb->host, err);
        gdb->history.gives_up = facet_gdb_line_speaks;
        gdb->history.gives_up_context = gdb;
    }
    if (status != FACET_OK) {
        facet_gdb_destroy(gdb);
        return status;
    }
    facet_gdb_first_stop(gdb);
    *out = gdb;
    return FACET_OK;
}

void facet_gdb_destroy(facet_gdb *gdb)
{
    if (gdb == NULL) {
        return;
    }
    facet_gdb_points_set(gdb, false);
    facet_gdb_history_free(&gdb->history);
    facet_gdb_target_free(&gdb->target);
    facet_strbuf_free(&gdb->reply);
    facet_strbuf_free(&gdb->frame);
    facet_strbuf_free(&gdb->last_stop);
    free(gdb);
}

enum facet_gdb_end facet_gdb_serve(facet_gdb *gdb)
{
    memset(&gdb->reader, 0, sizeof gdb->reader);
    gdb->input_at = gdb->input_size = 0;
    gdb->held = FACET_GDB_NOTHING;
    gdb->point_count = 0;
    gdb->no_ack = gdb->over = gdb->core_view = gdb->locked = false;
    gdb->file_fds = 0;
    facet_strbuf_clear(&gdb->frame);
    while (!gdb->over) {
        enum facet_gdb_event event = gdb->held;

        gdb->held = FACET_GDB_NOTHING;
        if (event == FACET_GDB_NOTHING) {
            event = facet_gdb_next(gdb, true);
        }
        if (event != FACET_GDB_NOTHING && event != FACET_GDB_INTERRUPT) {
            handle(gdb, event);
        }
    }
    return gdb->end;
}
