/* See design.h. */
#include "conform/design.h"

#include "base/bits.h"
#include "base/file.h"
#include "conform/internal.h"
#include "documents/tile_case.h"
#include "object/elf.h"

#include <dlfcn.h>
#include <facet/cosim.h>
#include <facet/design.h>
#include <facet/xphmg.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT = 64 << 20, SIGNATURE_LIMIT = 64 << 20, MOST_EVENTS = 1 << 20 };
#define MOST_STEPS UINT64_C(20000000) /* of a case; every one ends within some thousand */

struct conform_design {
    char *path;
    void *library;
    struct facet_design table; /* what the library has of it, else zero */
};

/* ---- the library ---- */

enum facet_status
conform_design_open(const char *path, struct conform_design **out, struct facet_error *err)
{
    struct conform_design *d = calloc(1, sizeof *d);
    const struct facet_design *(*get)(void) = NULL;
    const struct facet_design *table = NULL;
    void *symbol = NULL;
    struct facet_strbuf name;

    *out = d;
    facet_strbuf_init(&name);
    facet_strbuf_printf(&name, "%s%s", strchr(path, '/') == NULL ? "./" : "", path);
    if (d == NULL || name.failed) {
        facet_strbuf_free(&name);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a library");
    }
    d->path = name.text;
    d->library = dlopen(d->path, RTLD_NOW | RTLD_LOCAL);
    if (d->library == NULL) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "%s", dlerror());
    }
    symbol = dlsym(d->library, "facet_design");
    if (symbol == NULL) {
        return facet_fail(
            err, FACET_ERR_INPUT, 0, "%s: expected the function facet_design", d->path);
    }
    memcpy(&get, &symbol, sizeof get); /* C has no cast from one to the other */
    table = get();
    if (table == NULL || table->abi != FACET_DESIGN_ABI ||
        table->size < offsetof(struct facet_design, step)) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "%s: the interface has number %u, expected %d (facet/design.h)",
                          d->path,
                          table != NULL ? table->abi : 0,
                          FACET_DESIGN_ABI);
    }
    memcpy(&d->table, table, table->size < sizeof d->table ? table->size : sizeof d->table);
    if (d->table.begin == NULL ||
        (d->table.signature == NULL && (d->table.step == NULL || d->table.read == NULL))) {
        return facet_fail(
            err, FACET_ERR_INPUT, 0, "%s: expected begin, and signature or step and read", d->path);
    }
    return FACET_OK;
}

void conform_design_close(struct conform_design *d)
{
    if (d == NULL) {
        return;
    }
    if (d->library != NULL) {
        (void)dlclose(d->library);
    }
    free(d->path);
    free(d);
}

void conform_design_answer_free(struct conform_design_answer *answer)
{
    free(answer->words.word);
    facet_strbuf_free(&answer->report);
    facet_blob_free(&answer->state);
}

/* ---- a case under way ---- */

struct course {
    const struct facet_design *table;
    const struct conform_case *c;
    struct conform_design_answer *answer;
    struct facet_design_case told;
    struct facet_design_piece *pieces;
    uint8_t packet[FACET_TILE_PACKET_SIZE];
    struct facet_bytes file;
    struct facet_object *object;
    struct facet_doc_tile_case *tile_case;
    facet_cosim *cosim;
    bool tile;
    bool again; /* for the state before the difference */
};

static enum facet_status no_memory(struct facet_error *err)
{
    return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a case");
}

static uint64_t symbol_of(const struct facet_object *object, const char *name)
{
    for (size_t i = 0; i < object->symbol_count; i++) {
        if (strcmp(object->symbols[i].name, name) == 0) {
            return object->symbols[i].value;
        }
    }
    return 0;
}

static enum facet_status prepare_elf(struct course *k, struct facet_error *err)
{
    enum facet_status status = facet_file_read(k->c->path, FILE_LIMIT, &k->file, err);

    if (status == FACET_OK) {
        status = facet_elf_read(k->file.data, k->file.size, &k->object, err);
    }
    if (status != FACET_OK) {
        return status;
    }
    k->pieces = calloc(k->object->segment_count + 1, sizeof *k->pieces);
    if (k->pieces == NULL) {
        return no_memory(err);
    }
    for (size_t i = 0; i < k->object->segment_count; i++) {
        const struct facet_segment *s = &k->object->segments[i];

        k->pieces[k->told.piece_count++] =
            (struct facet_design_piece){s->physical, s->data, (size_t)s->file_size};
    }
    k->told.entry = k->object->entry;
    k->told.begin_signature = symbol_of(k->object, "begin_signature");
    k->told.end_signature = symbol_of(k->object, "end_signature");
    k->told.tohost = symbol_of(k->object, "tohost");
    if (k->told.end_signature < k->told.begin_signature ||
        k->told.end_signature - k->told.begin_signature > SIGNATURE_LIMIT) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "%s: expected begin_signature before end_signature",
                          k->c->path);
    }
    return FACET_OK;
}

static enum facet_status prepare_tile(struct course *k, struct facet_error *err)
{
    enum facet_status status = facet_doc_tile_case_read(k->c->path, &k->tile_case, err);
    const struct facet_bytes *bytes;
    uint32_t address;
    size_t count = 0;

    if (status != FACET_OK) {
        return status;
    }
    while (facet_doc_tile_case_piece(k->tile_case, count, &address, &bytes)) {
        count++;
    }
    k->pieces = calloc(count + 1, sizeof *k->pieces);
    if (k->pieces == NULL) {
        return no_memory(err);
    }
    for (size_t i = 0; facet_doc_tile_case_piece(k->tile_case, i, &address, &bytes); i++) {
        k->pieces[k->told.piece_count++] =
            (struct facet_design_piece){address, bytes->data, bytes->size};
    }
    facet_tile_packet_write(facet_doc_tile_case_packet(k->tile_case), k->packet);
    k->told.entry = facet_doc_tile_case_packet(k->tile_case)->pc;
    k->told.packet = k->packet;
    k->told.tile_size = sizeof k->packet;
    return FACET_OK;
}

static enum facet_status prepare(struct course *k, struct facet_error *err)
{
    enum facet_status status;

    k->told = (struct facet_design_case){.size = sizeof k->told,
                                         .name = k->c->name,
                                         .kind = conform_kind_name[k->c->kind],
                                         .file = k->c->path,
                                         .config = k->c->config};
    k->tile = k->c->kind == CONFORM_TILE;
    status = k->c->kind == CONFORM_ELF    ? prepare_elf(k, err)
             : k->c->kind == CONFORM_TILE ? prepare_tile(k, err)
                                          : FACET_OK;
    k->told.pieces = k->pieces;
    return status;
}

/* true when the design does as asked; else the verdict says why not. */
static bool went_well(struct course *k, int answer, const char *why, const char *what)
{
    if (answer == FACET_DESIGN_OK || k->answer->result.verdict != CONFORM_PASS) {
        return answer == FACET_DESIGN_OK;
    }
    conform_say(&k->answer->result,
                answer == FACET_DESIGN_UNSUPPORTED ? CONFORM_UNSUPPORTED : CONFORM_ERROR,
                "%s%s%s",
                what,
                why != NULL ? ": " : "",
                why != NULL ? why : "");
    return false;
}

/* ---- lockstep ---- */

static enum facet_status open_session(struct course *k, struct facet_error *err)
{
    /* RAM as `facet gdb` has it, so that it opens the states. */
    const struct facet_xphmg_config config = {
        .configuration = k->c->config[0] != '\0' ? k->c->config : NULL,
        .no_semihosting = true,
        .jobs = k->table->late_jobs != 0 ? FACET_XPHMG_JOBS_LATE : FACET_XPHMG_JOBS_NOW};
    const struct facet_cosim_config session = {.snapshot_every = 100000};
    facet_machine *machine = NULL;
    enum facet_status status;

    if (k->tile) {
        status = facet_doc_tile_case_begin(k->tile_case, &machine, err);
    } else {
        status = facet_xphmg_create(&config, &machine, err);
        if (status == FACET_OK) {
            status = facet_xphmg_load_elf(machine, k->file.data, k->file.size, err);
        }
    }
    if (status == FACET_OK) {
        status = facet_cosim_create(machine, &session, &k->cosim, err);
    }
    if (status != FACET_OK) {
        facet_machine_destroy(machine);
        return status;
    }
    return k->tile ? FACET_OK : facet_cosim_symbols(k->cosim, k->file.data, k->file.size, err);
}

/* The words of `ignores`, one by one. */
static enum facet_status set_filter(struct course *k, struct facet_error *err)
{
    const char *at = k->table->ignores != NULL ? k->table->ignores : "";
    enum facet_status status = FACET_OK;

    while (status == FACET_OK && *(at += strspn(at, " \t\n")) != '\0') {
        size_t length = strcspn(at, " \t\n");
        char word[80];

        (void)snprintf(word, sizeof word, "%.*s", (int)(length < 79 ? length : 79), at);
        status = facet_lockstep_filter_ignore(facet_cosim_filter(k->cosim), word, err);
        at += length;
    }
    return status;
}

static enum facet_status give_load(struct course *k,
                                   uint32_t core,
                                   const struct facet_design_event *e,
                                   struct facet_error *err)
{
    facet_machine *machine = facet_cosim_machine(k->cosim);

    return k->tile ? facet_tile_next_load(machine,
                                          core,
                                          (uint32_t)e->address,
                                          (uint32_t)e->address,
                                          (struct facet_value){e->value, e->upper},
                                          err)
                   : facet_xphmg_next_load(machine, core, e->address, e->address, e->value, err);
}

static enum facet_status give_csr(struct course *k,
                                  uint32_t core,
                                  const struct facet_design_event *e,
                                  struct facet_error *err)
{
    facet_machine *machine = facet_cosim_machine(k->cosim);
    const char *name = e->name != NULL ? e->name : "";
    uint32_t index = core < facet_machine_core_count(machine)
                         ? facet_machine_find_csr(machine, core, name)
                         : FACET_NONE;
    uint32_t number;

    if (index == FACET_NONE) {
        return facet_fail(err, FACET_ERR_USAGE, core, "core %u has no CSR '%.80s'", core, name);
    }
    number = facet_machine_core(machine, core)->csrs[index].number;
    return k->tile ? facet_tile_next_csr(machine, core, number, (uint32_t)e->value, err)
                   : facet_xphmg_next_csr(machine, core, number, e->value, err);
}

static enum facet_status
wrote(struct course *k, uint32_t core, const struct facet_design_event *e, struct facet_error *err)
{
    facet_machine *machine = facet_cosim_machine(k->cosim);
    const char *name = e->name != NULL ? e->name : "";
    struct facet_change change = {.kind = FACET_CHANGE_REG,
                                  .core = core,
                                  .index = core < facet_machine_core_count(machine)
                                               ? facet_machine_find_reg(machine, core, name)
                                               : FACET_NONE,
                                  .new_value = {e->value, e->upper}};

    return change.index != FACET_NONE ? facet_cosim_wrote_change(k->cosim, &change, err)
                                      : facet_cosim_wrote(k->cosim, core, name, e->value, err);
}

static enum facet_status take_event(struct course *k,
                                    uint32_t core,
                                    const struct facet_design_event *e,
                                    struct facet_error *err)
{
    const char *name = e->name != NULL ? e->name : "";
    facet_machine *machine = facet_cosim_machine(k->cosim);
    struct facet_change store = {.kind = FACET_CHANGE_MEMORY,
                                 .core = core,
                                 .size = e->size,
                                 .address = e->address,
                                 .new_value = {e->value, e->upper}};
    uint8_t bytes[16];

    switch (e->kind) {
    case FACET_DESIGN_WROTE:
        return wrote(k, core, e, err);
    case FACET_DESIGN_UNIT_WROTE:
        return facet_cosim_unit_wrote(k->cosim, core, name, e->value, err);
    case FACET_DESIGN_STORED:
        while (name[0] != '\0' && facet_machine_space_name(machine, store.index) != NULL &&
               strcmp(facet_machine_space_name(machine, store.index), name) != 0) {
            store.index++; /* behind the last: refused */
        }
        return facet_cosim_wrote_change(k->cosim, &store, err);
    case FACET_DESIGN_UNIT_STORED:
        if (e->size == 0 || e->size > sizeof bytes) {
            return facet_fail(
                err, FACET_ERR_USAGE, e->size, "a store of %u bytes, expected 1 to 16", e->size);
        }
        facet_store_le64(bytes, e->value);
        facet_store_le64(bytes + 8, e->upper);
        return facet_cosim_unit_wrote_memory(k->cosim, core, e->address, bytes, e->size, err);
    case FACET_DESIGN_LOADED:
        return give_load(k, core, e, err);
    case FACET_DESIGN_READ:
        return give_csr(k, core, e, err);
    case FACET_DESIGN_LINE:
        return facet_xphmg_set_line(machine,
                                    core,
                                    e->size,
                                    e->value != 0 ? FACET_XPHMG_LEVEL_HIGH : FACET_XPHMG_LEVEL_LOW,
                                    err);
    default:
        return facet_fail(
            err, FACET_ERR_USAGE, (uint64_t)e->kind, "an event of kind %d", (int)e->kind);
    }
}

/* The report's head in one line: step, reason, place, both sides. */
static void tell_difference(struct course *k)
{
    const char *report = facet_cosim_report(k->cosim);
    char line[sizeof k->answer->result.text];
    size_t length = 0;

    for (unsigned lines = 0; lines < 4 && *report != '\0'; report++) {
        const bool end = *report == '\n', blank = *report == ' ' || end;

        lines += end;
        if (length < sizeof line - 3 && (!blank || end || line[length - 1] != ' ')) {
            if (end && lines < 4) {
                line[length++] = ';';
            }
            line[length++] = end ? ' ' : *report;
        }
    }
    while (length > 0 && line[length - 1] == ' ') {
        length--;
    }
    line[length] = '\0';
    if (k->again) { /* all is told, but for the state */
        facet_blob_free(&k->answer->state);
    } else {
        conform_say(&k->answer->result, CONFORM_FAIL, "%s", line);
        facet_strbuf_puts(&k->answer->report, facet_cosim_report(k->cosim));
    }
    (void)facet_cosim_replay(k->cosim, &k->answer->state, &(uint64_t){0}, NULL);
}

/* The reference has nothing more to do: its tiles are done, or wait for a host that never comes. */
static bool rests(const struct course *k)
{
    return k->tile &&
           facet_tile_info_of(facet_cosim_machine(k->cosim)).state != FACET_TILE_STATE_RUNNING;
}

/* One step of both; *over when there is nothing more to do. What the design says and the session
 * cannot take is the design's error. */
static void follow(struct course *k, const struct facet_design_step *step, bool *over)
{
    enum facet_cosim_result result = FACET_COSIM_SAME;
    struct facet_error err = {0};
    enum facet_status status = FACET_OK;

    if (step->event_count > MOST_EVENTS || (step->event_count != 0 && step->events == NULL)) {
        status = facet_fail(&err, FACET_ERR_USAGE, 0, "%zu events of a step", step->event_count);
    }
    for (size_t i = 0; i < step->event_count && status == FACET_OK; i++) {
        status = take_event(k, step->core, &step->events[i], &err);
    }
    if (status == FACET_OK) {
        status =
            step->trapped != 0
                ? facet_cosim_trapped(
                      k->cosim, step->core, step->pc, step->cause, step->trap_value, &result, &err)
                : facet_cosim_retired(k->cosim, step->core, step->pc, step->word, &result, &err);
    }
    if (status != FACET_OK && !k->again) {
        conform_say(&k->answer->result,
                    CONFORM_ERROR,
                    "step %" PRIu64 ": %s",
                    facet_cosim_steps(k->cosim),
                    err.message);
    } else if (result == FACET_COSIM_DIFFERENT) {
        tell_difference(k);
    }
    *over = status != FACET_OK || result != FACET_COSIM_SAME;
}

static void run_both(struct course *k)
{
    bool over = false;

    for (uint64_t steps = 0; !over; steps++) {
        struct facet_design_step step = {.size = sizeof step};
        const char *why = NULL;
        int answer = k->table->step(&step, &why);

        if (answer == FACET_DESIGN_ENDED && (rests(k) || k->again)) {
            over = true;
        } else if (answer == FACET_DESIGN_ENDED) {
            conform_say(&k->answer->result,
                        CONFORM_FAIL,
                        "the design ends after %" PRIu64 " steps, the reference goes on",
                        steps);
            over = true;
        } else if (!went_well(k, answer, why, "step")) {
            over = true;
        } else if (steps == MOST_STEPS) {
            conform_say(&k->answer->result,
                        CONFORM_TIMEOUT,
                        "still running after %" PRIu64 " steps",
                        steps);
            over = true;
        } else {
            follow(k, &step, &over);
        }
    }
}

/* ---- the signature ---- */

static enum facet_status
keep_bytes(struct course *k, const uint8_t *bytes, size_t size, struct facet_error *err)
{
    struct conform_words *words = &k->answer->words;

    words->word = malloc((size / 4 + 1) * sizeof *words->word);
    if (words->word == NULL) {
        return no_memory(err);
    }
    for (; words->count < size / 4; words->count++) {
        words->word[words->count] = facet_load_le32(bytes + 4 * words->count);
    }
    return FACET_OK;
}

static bool read_theirs(void *context, uint32_t address, void *bytes, size_t size)
{
    struct course *k = context;
    int answer = k->table->read(address, bytes, size);

    return went_well(k, answer, NULL, "read");
}

static enum facet_status read_signature(struct course *k, struct facet_error *err)
{
    const size_t size = ((size_t)(k->told.end_signature - k->told.begin_signature) + 3) / 4 * 4;
    uint8_t *bytes = calloc(size + 1, 1);
    enum facet_status status;

    if (bytes == NULL) {
        return no_memory(err);
    }
    (void)went_well(k,
                    k->table->read(k->told.begin_signature,
                                   bytes,
                                   (size_t)(k->told.end_signature - k->told.begin_signature)),
                    NULL,
                    "read");
    status = keep_bytes(k, bytes, size, err);
    free(bytes);
    return status;
}

static enum facet_status read_outputs(struct course *k, struct facet_error *err)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    enum facet_status status = facet_doc_tile_case_answer_of(
        k->tile_case, facet_cosim_machine(k->cosim), read_theirs, k, &bytes, &size, err);

    status = status == FACET_OK ? keep_bytes(k, bytes, size, err) : status;
    free(bytes);
    return status;
}

/* The case once more, up to the difference: a state from which one step of the reference shows it,
 * with what the design has told for this step. */
static enum facet_status find_state(struct course *k, struct facet_error *err)
{
    struct facet_cosim_difference difference;
    const char *why = NULL;
    enum facet_status status;

    if (facet_cosim_get_difference(k->cosim, &difference, NULL) != FACET_OK) {
        return FACET_OK;
    }
    if (k->table->end != NULL) {
        k->table->end();
    }
    facet_cosim_destroy(k->cosim);
    k->cosim = NULL;
    k->again = true;
    status = open_session(k, err);
    status = status == FACET_OK ? set_filter(k, err) : status;
    if (status == FACET_OK && k->table->begin(&k->told, &why) == FACET_DESIGN_OK) {
        facet_cosim_snapshot_at(k->cosim, difference.step);
        run_both(k);
    }
    return status;
}

static enum facet_status lockstep(struct course *k, struct facet_error *err)
{
    enum facet_status status = open_session(k, err);

    status = status == FACET_OK ? set_filter(k, err) : status;
    if (status != FACET_OK) {
        return status;
    }
    run_both(k);
    if (k->answer->state.data != NULL) {
        return find_state(k, err);
    }
    if (k->answer->result.verdict != CONFORM_PASS) {
        return FACET_OK;
    }
    return k->tile ? read_outputs(k, err) : read_signature(k, err);
}

static enum facet_status whole(struct course *k, struct facet_error *err)
{
    const uint32_t *words = NULL;
    const char *why = NULL;
    size_t count = 0;
    int answer;

    if (k->table->signature == NULL) {
        conform_say(&k->answer->result,
                    CONFORM_UNSUPPORTED,
                    "the library has no signature function, which a %s needs",
                    conform_kind_name[k->c->kind]);
        return FACET_OK;
    }
    answer = k->table->signature(&words, &count, &why);
    if (!went_well(k, answer, why, "signature")) {
        return FACET_OK;
    }
    if (count > SIGNATURE_LIMIT / 4 || (count != 0 && words == NULL)) {
        conform_say(&k->answer->result, CONFORM_ERROR, "a signature of %zu words", count);
        return FACET_OK;
    }
    k->answer->words.word = malloc((count + 1) * sizeof *words);
    if (k->answer->words.word == NULL) {
        return no_memory(err);
    }
    if (count != 0) {
        memcpy(k->answer->words.word, words, count * sizeof *words);
    }
    k->answer->words.count = count;
    return FACET_OK;
}

enum facet_status conform_design_run(struct conform_design *d,
                                     const struct conform_case *c,
                                     struct conform_design_answer *answer,
                                     struct facet_error *err)
{
    struct course k = {.table = &d->table, .c = c, .answer = answer};
    const bool steps = d->table.step != NULL && d->table.read != NULL &&
                       (c->kind == CONFORM_ELF || c->kind == CONFORM_TILE);
    const char *why = NULL;
    int began = FACET_DESIGN_OK;
    enum facet_status status;

    *answer = (struct conform_design_answer){.result = {.verdict = CONFORM_PASS}};
    facet_strbuf_init(&answer->report);
    status = prepare(&k, err);
    if (status == FACET_OK) {
        began = d->table.begin(&k.told, &why);
    }
    if (status == FACET_OK && went_well(&k, began, why, "begin")) {
        status = steps ? lockstep(&k, err) : whole(&k, err);
        if (d->table.end != NULL) {
            d->table.end();
        }
    }
    facet_cosim_destroy(k.cosim);
    facet_doc_tile_case_free(k.tile_case);
    facet_object_free(k.object);
    free(k.file.data);
    free(k.pieces);
    return status;
}
