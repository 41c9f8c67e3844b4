/* `monitor` commands: what the machine can tell and GDB has no word for. */
#include "gdb/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 10, LINES_MOST = 1000 };

static void help(const struct facet_gdb *gdb, struct facet_strbuf *out)
{
    facet_strbuf_puts(out,
                      "help                     this list\n"
                      "steps                    steps and retired instructions so far\n"
                      "dis [ADDRESS [COUNT]]    disassembly that knows the machine's instructions\n"
                      "python                   a script that teaches them to this GDB: "
                      "python exec(gdb.execute('monitor python', to_string=True))\n"
                      "csr NAME                 a CSR of this hart with its fields\n"
                      "jobs                     jobs of the harts that have not completed\n"
                      "view core|host           memory as this core sees it, or as the host "
                      "does\n"
                      "lock on|off              stepping and continuing move this core alone, or "
                      "all\n"
                      "save FILE                keep the machine; facet gdb --resume FILE goes on "
                      "there\n"
                      "reset                    back to where the session began; "
                      "then: maintenance flush register-cache\n");
    facet_strbuf_puts(out, gdb->host.monitor_help != NULL ? gdb->host.monitor_help : "");
}

static void view(struct facet_gdb *gdb, const char *word, struct facet_strbuf *out)
{
    bool core = strcmp(word, "core") == 0;

    if (gdb->host.view == NULL) {
        facet_strbuf_puts(out, "cores of this machine see memory as the host does\n");
    } else if (core || strcmp(word, "host") == 0) {
        gdb->core_view = core;
        facet_strbuf_printf(out,
                            "memory is now read as %s\n",
                            core ? "the selected core sees it" : "the host sees it");
    } else {
        facet_strbuf_puts(out, "expected: view core, or view host\n");
    }
}

static void lock(struct facet_gdb *gdb, const char *word, struct facet_strbuf *out)
{
    bool on = strcmp(word, "on") == 0;

    if (gdb->host.turn == NULL) {
        facet_strbuf_puts(out, "cores of this machine cannot move alone\n");
    } else if (on || strcmp(word, "off") == 0) {
        gdb->locked = on;
        facet_strbuf_printf(out, "%s\n", on ? "the selected core moves alone" : "all cores move");
    } else {
        facet_strbuf_puts(out, "expected: lock on, or lock off\n");
    }
}

static void save(struct facet_gdb *gdb, const char *path, struct facet_strbuf *out)
{
    struct facet_error err = {0};

    if (gdb->host.save == NULL || path[0] == '\0') {
        facet_strbuf_puts(out,
                          path[0] == '\0' ? "expected: save FILE\n" : "nothing to save here\n");
    } else if (gdb->host.save(gdb->host.context, path, &err) == FACET_OK) {
        facet_strbuf_printf(out, "saved in %s\n", path);
    } else {
        facet_strbuf_printf(out, "%s\n", err.message);
    }
}

static void steps(struct facet_gdb *gdb, struct facet_strbuf *out)
{
    struct facet_gdb_history *h = &gdb->history;

    facet_strbuf_printf(out, "steps %" PRIu64, facet_machine_steps(gdb->machine));
    if (!gdb->host.no_reverse) {
        uint64_t begin = facet_gdb_history_begin(h);

        facet_strbuf_printf(out,
                            ", reached %" PRIu64 ", history from %" PRIu64 " in %zu snapshot%s",
                            h->reached,
                            begin,
                            h->count,
                            h->count == 1 ? "" : "s");
    }
    facet_strbuf_putc(out, '\n');
    for (uint32_t i = 0; i < facet_machine_core_count(gdb->machine); i++) {
        facet_strbuf_printf(out,
                            "%s: %" PRIu64 " retired\n",
                            facet_machine_core(gdb->machine, i)->name,
                            facet_machine_retired(gdb->machine, i));
    }
}

static void jobs(const struct facet_gdb *gdb, struct facet_strbuf *out)
{
    struct facet_work work;
    uint32_t n = 0;

    for (; facet_machine_work(gdb->machine, n, &work); n++) {
        facet_strbuf_printf(out,
                            "%s: %s 0x%" PRIx64 " of 0x%" PRIx64 ", at most %" PRIu64
                            " steps left\n",
                            facet_machine_core(gdb->machine, work.core)->name,
                            work.unit,
                            work.id,
                            work.address,
                            work.left);
    }
    if (n == 0) {
        facet_strbuf_puts(out, "no jobs under way\n");
    }
}

/* The pc of the selected core. */
static uint64_t present_pc(const struct facet_gdb *gdb)
{
    const struct facet_core_desc *core = facet_machine_core(gdb->machine, gdb->core);
    struct facet_value value = {0, 0};

    (void)facet_machine_reg_read(gdb->machine, gdb->core, core->pc, &value, NULL);
    return value.lo;
}

static void disassemble(const struct facet_gdb *gdb, const char *words, struct facet_strbuf *out)
{
    char *end, *last;
    uint64_t address = strtoull(words, &end, 0);
    unsigned long count = strtoul(end, &last, 0);

    if (end == words) {
        address = present_pc(gdb);
    }
    if (last == end) {
        count = LINES;
    }
    if (last[strspn(last, " ")] != '\0') {
        facet_strbuf_puts(out, "expected: dis [ADDRESS [COUNT]]\n");
        return;
    }
    for (unsigned long i = 0; i < count && i < LINES_MOST; i++) {
        char text[160];
        uint32_t length = 0;

        (void)facet_machine_disassemble(
            gdb->machine, gdb->core, address, text, sizeof text, &length);
        if (length == 0) {
            facet_strbuf_printf(out, "0x%" PRIx64 ": cannot be read\n", address);
            return;
        }
        facet_strbuf_printf(out, "0x%" PRIx64 ": %s\n", address, text);
        address += length;
    }
}

/* By the machine's own name or by ours. */
static uint32_t find_csr(const struct facet_gdb *gdb, const char *name)
{
    uint32_t index = facet_machine_find_csr(gdb->machine, gdb->core, name);

    for (uint32_t i = 0; index == FACET_NONE && i < gdb->target.count; i++) {
        const struct facet_gdb_reg *r = &gdb->target.regs[i];

        index = r->csr != NULL && !r->fields && strcmp(r->name, name) == 0 ? r->index : FACET_NONE;
    }
    return index;
}

static void csr(const struct facet_gdb *gdb, const char *name, struct facet_strbuf *out)
{
    const struct facet_core_desc *core = facet_machine_core(gdb->machine, gdb->core);
    uint32_t index = find_csr(gdb, name);
    const struct facet_csr_desc *desc = index < core->csr_count ? &core->csrs[index] : NULL;
    struct facet_value value = {0, 0};

    if (desc == NULL) {
        facet_strbuf_printf(out, "no CSR %s\n", name);
        return;
    }
    (void)facet_machine_csr_read(gdb->machine, gdb->core, index, &value, NULL);
    facet_strbuf_printf(
        out, "%s (0x%03" PRIx32 ") = 0x%" PRIx64 "\n", desc->name, desc->number, value.lo);
    for (uint32_t i = 0; i < desc->field_count; i++) {
        const struct facet_field_desc *field = &desc->fields[i];
        char bits[16];

        (void)facet_machine_field_read(gdb->machine, gdb->core, index, i, &value, NULL);
        (void)snprintf(
            bits, sizeof bits, field->hi > field->lo ? "%u:%u" : "%u", field->hi, field->lo);
        facet_strbuf_printf(out,
                            "  %5s %-16s 0x%-8" PRIx64 " %s\n",
                            bits,
                            field->name,
                            value.lo,
                            field->meaning != NULL ? field->meaning : "");
    }
}

static bool is_command(const char *text, const char *word, const char **rest)
{
    size_t length = strlen(word);

    *rest = text + length;
    if (strncmp(text, word, length) != 0 || (**rest != '\0' && **rest != ' ')) {
        return false;
    }
    *rest += strspn(*rest, " ");
    return true;
}

void facet_gdb_monitor(struct facet_gdb *gdb, const char *command, struct facet_strbuf *out)
{
    const char *rest;

    if (is_command(command, "help", &rest)) {
        help(gdb, out);
    } else if (is_command(command, "steps", &rest)) {
        steps(gdb, out);
    } else if (is_command(command, "dis", &rest) || is_command(command, "disassemble", &rest)) {
        disassemble(gdb, rest, out);
    } else if (is_command(command, "csr", &rest)) {
        csr(gdb, rest, out);
    } else if (is_command(command, "jobs", &rest)) {
        jobs(gdb, out);
    } else if (is_command(command, "python", &rest)) {
        facet_strbuf_puts(out, facet_gdb_script);
        facet_strbuf_printf(
            out, "facet_base.register_disassembler(%s)\n", gdb->target.arch->disassembler);
    } else if (is_command(command, "view", &rest)) {
        view(gdb, rest, out);
    } else if (is_command(command, "lock", &rest)) {
        lock(gdb, rest, out);
    } else if (is_command(command, "save", &rest)) {
        save(gdb, rest, out);
    } else if (is_command(command, "reset", &rest)) {
        facet_strbuf_puts(out,
                          facet_gdb_restart(gdb) ? "back at the beginning\n"
                                                 : "the beginning was not kept\n");
    } else if (gdb->host.monitor == NULL || !gdb->host.monitor(gdb->host.context, command, out)) {
        facet_strbuf_printf(out, "unknown command %s; monitor help lists them\n", command);
    }
}
