/* `facet as`: assembly text to an executable, a flat image or words in hexadecimal. */
#include "command/output.h"
#include "command/streams.h"
#include "session/asm_options.h"
#include "session/gfx12_text.h"

#include "assembler/assemble.h"
#include "base/file.h"
#include "object/elf.h"
#include "object/hex.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_LIMIT ((size_t)1 << 30)

struct job {
    const struct cli_args *args;
    const char *input;
    const char *format;
    char output[4096];
    struct facet_bytes text;
    struct session_asm source;
    struct facet_asm_options options;
    struct facet_asm_result result;
};

static enum facet_isa isa_named(const char *name)
{
    return strcmp(name, "tile") == 0 ? FACET_ISA_TILE : FACET_ISA_XPHMG;
}

/* Where the result goes: -o, else standard output for words, else beside the input. */
static bool choose_output(struct job *job)
{
    const char *given = cli_value(job->args, "output"), *slash, *dot;
    int length;

    if (given == NULL && strcmp(job->format, "hex") == 0) {
        given = "-";
    }
    if (given != NULL) {
        length = snprintf(job->output, sizeof job->output, "%s", given);
    } else if (strcmp(job->input, "-") == 0) {
        (void)cli_bad(job->args, "the text comes from standard input: -o OUT is required");
        return false;
    } else {
        slash = strrchr(job->input, '/');
        dot = strrchr(job->input, '.');
        if (dot == NULL || dot == job->input || (slash != NULL && dot < slash + 2)) {
            dot = job->input + strlen(job->input);
        }
        length = snprintf(job->output,
                          sizeof job->output,
                          "%.*s.%s",
                          (int)(dot - job->input),
                          job->input,
                          job->format);
    }
    if (length < 0 || length >= (int)sizeof job->output) {
        (void)cli_bad(job->args, "the name of the output is too long");
        return false;
    }
    return true;
}

/* No two of input, result, listing and report may be one file or one stream. */
static bool outputs_differ(const struct job *job)
{
    const struct cli_args *args = job->args;
    const char *listing = cli_value(args, "listing");
    const char *outputs[] = {job->output, listing};

    for (int i = 0; i < 2; i++) {
        if (outputs[i] == NULL) {
            continue;
        }
        if (cli_is_stream(outputs[i]) && args->json) {
            (void)cli_bad(args,
                          "%s and --json both write to standard output; name a file with %s FILE",
                          i == 0 ? "the result" : "the listing",
                          i == 0 ? "-o" : "--listing");
            return false;
        }
        if (!cli_is_stream(outputs[i]) && !cli_is_stream(job->input) &&
            facet_file_same(outputs[i], job->input)) {
            (void)cli_bad(args, "%s is the input: choose another output", outputs[i]);
            return false;
        }
    }
    if (listing == NULL) {
        return true;
    }
    if (cli_is_stream(listing) && cli_is_stream(job->output)) {
        (void)cli_bad(args, "the result and the listing both write to standard output");
        return false;
    }
    if (!cli_is_stream(listing) && !cli_is_stream(job->output) &&
        facet_file_same(listing, job->output)) {
        (void)cli_bad(args, "the result and the listing are the same file, %s", listing);
        return false;
    }
    return true;
}

/* The first address must be aligned for instructions. */
static bool check_base(const struct job *job)
{
    uint64_t align = job->options.isa == FACET_ISA_TILE ? 4 : 2;

    if (job->options.has_base && job->options.base % align != 0) {
        (void)cli_bad(job->args,
                      "--base is 0x%" PRIx64 "; expected a multiple of %" PRIu64,
                      job->options.base,
                      align);
        return false;
    }
    return true;
}

static bool prepare(struct job *job)
{
    const struct cli_args *args = job->args;
    const char *isa = cli_value(args, "isa"), *format = cli_value(args, "format");

    if (isa == NULL) {
        (void)cli_bad(args,
                      "the machine is missing: expected --isa gfx12, --isa tile or --isa xphmg");
        return false;
    }
    job->input = args->positional[0];
    job->format = format != NULL ? format : "elf";
    job->options.isa = isa_named(isa);
    if (cli_given(args, "debug") && strcmp(job->format, "elf") != 0) {
        (void)cli_bad(args, "-g: only an executable (--format elf) has line tables");
        return false;
    }
    job->options.has_base = cli_given(args, "base");
    job->options.listing = cli_given(args, "listing");
    job->options.debug = cli_given(args, "debug");
    if (!cli_number(args,
                    "base",
                    0,
                    job->options.isa == FACET_ISA_TILE ? UINT32_MAX : UINT64_MAX,
                    &job->options.base) ||
        !check_base(job)) {
        return false;
    }
    return session_asm_read(&job->source, args, job->input, &job->options) && choose_output(job) &&
           outputs_differ(job);
}

static json_t *errors_json(const struct facet_diag_list *diags)
{
    json_t *list = json_array();

    for (size_t i = 0; i < diags->count; i++) {
        const struct facet_diag *d = &diags->items[i];

        (void)json_array_append_new(list,
                                    json_pack("{s:o, s:i, s:i, s:i, s:o, s:o, s:o}",
                                              "file",
                                              facet_json_name(d->file),
                                              "line",
                                              (int)d->line,
                                              "column",
                                              (int)d->column,
                                              "length",
                                              (int)d->length,
                                              "message",
                                              facet_json_name(d->message),
                                              "hint",
                                              facet_json_name(d->hint),
                                              "source",
                                              facet_json_name(d->source)));
    }
    return list;
}

/* As facet_diag_format does, with the colours of a terminal. */
static void print_error(const struct facet_diag *d)
{
    struct facet_strbuf lines;

    (void)cli_set_style(stderr, CLI_HEADLINE);
    fprintf(stderr, "%s:%u:%u: ", d->file, d->line, d->column);
    (void)cli_set_style(stderr, CLI_ERROR);
    fputs("error:", stderr);
    (void)cli_set_style(stderr, CLI_NORMAL);
    fprintf(stderr, " %s\n", d->message);
    facet_strbuf_init(&lines);
    facet_diag_format_lines(d, &lines);
    fputs(facet_strbuf_text(&lines), stderr);
    facet_strbuf_free(&lines);
}

static int complain(struct job *job, const struct facet_error *err)
{
    const struct facet_diag_list *diags = &job->result.diags;

    if (diags->count == 0 || err->status == FACET_ERR_MEMORY) { /* then some may be missing */
        return cli_bad_error(job->args, err);
    }
    if (job->args->json) {
        (void)cli_print_json(job->args,
                             json_pack("{s:b, s:o}", "ok", 0, "errors", errors_json(diags)));
        return CLI_BAD;
    }
    for (size_t i = 0; i < diags->count; i++) {
        print_error(&diags->items[i]);
    }
    return cli_bad(job->args,
                   "%zu error%s%s, nothing was written",
                   diags->count,
                   cli_s(diags->count),
                   diags->count >= 20 ? " (the rest is not shown)" : "");
}

/* The result and the listing appear together or not at all. */
static enum facet_status write_files(const struct job *job, struct facet_error *err)
{
    const char *path = cli_value(job->args, "listing");
    const bool hex = strcmp(job->format, "hex") == 0;
    struct facet_strbuf words, listing;
    uint8_t *data = NULL;
    size_t size = 0;
    uint64_t base;
    enum facet_status status = FACET_OK;

    facet_strbuf_init(&words);
    facet_strbuf_init(&listing);
    if (hex) {
        facet_hex_write(job->result.object, &words);
    } else if (strcmp(job->format, "elf") == 0) {
        status = facet_elf_write(job->result.object, &data, &size, err);
    } else {
        status = facet_object_flatten(job->result.object, &data, &size, &base, err);
    }
    if (status == FACET_OK && path != NULL) {
        facet_asm_listing(&job->result, (const char *)job->text.data, job->text.size, &listing);
    }
    if (words.failed || listing.failed) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    if (status == FACET_OK) {
        const struct facet_file_part parts[] = {
            {job->output,
             hex ? facet_strbuf_text(&words) : (void *)data,
             hex ? words.length : size},
            {path, facet_strbuf_text(&listing), listing.length},
        };

        status = facet_file_write_all(parts, path != NULL ? 2 : 1, err);
    }
    facet_strbuf_free(&words);
    facet_strbuf_free(&listing);
    free(data);
    return status;
}

static int report(const struct job *job)
{
    const struct facet_object *o = job->result.object;
    json_t *sections;

    if (!job->args->json) {
        return CLI_OK;
    }
    sections = json_array();
    for (size_t i = 0; i < o->section_count; i++) {
        (void)json_array_append_new(sections,
                                    json_pack("{s:o, s:o, s:o}",
                                              "name",
                                              facet_json_name(o->sections[i].name),
                                              "address",
                                              facet_json_hex(o->sections[i].address),
                                              "size",
                                              facet_json_hex(o->sections[i].size)));
    }
    return cli_print_json(job->args,
                          json_pack("{s:b, s:o, s:s, s:o, s:o, s:I}",
                                    "ok",
                                    1,
                                    "output",
                                    facet_json_name(job->output),
                                    "isa",
                                    facet_isa_name[o->isa],
                                    "entry",
                                    facet_json_hex(o->entry),
                                    "sections",
                                    sections,
                                    "symbols",
                                    (json_int_t)o->symbol_count));
}

static int assemble(struct job *job)
{
    struct facet_error err = {0};

    if (!prepare(job)) {
        return CLI_BAD;
    }
    if (facet_file_read(job->input, INPUT_LIMIT, &job->text, &err) != FACET_OK) {
        return cli_bad_error(job->args, &err);
    }
    if (facet_assemble(
            &job->options, (const char *)job->text.data, job->text.size, &job->result, &err) !=
        FACET_OK) {
        return complain(job, &err);
    }
    if (write_files(job, &err) != FACET_OK) {
        return cli_bad_error(job->args, &err);
    }
    return report(job);
}

/* ---- gfx12: four instructions, no sections, no symbols ---- */

static int assemble_gfx12(struct job *job)
{
    const char *format = cli_value(job->args, "format");
    struct session_gfx12_words program = {NULL, 0, 0, false};
    struct facet_error err = {0};
    int code = CLI_OK;

    job->input = job->args->positional[0];
    job->format = format != NULL ? format : "hex";
    facet_diag_list_init(&job->result.diags);
    if (!session_gfx12_is_flat(job->args) || !choose_output(job) || !outputs_differ(job)) {
        return CLI_BAD;
    }
    if (facet_file_read(job->input, INPUT_LIMIT, &job->text, &err) != FACET_OK) {
        return cli_bad_error(job->args, &err);
    }
    session_gfx12_assemble(
        job->input, (const char *)job->text.data, job->text.size, &program, &job->result.diags);
    if (program.failed) {
        code = cli_bad(job->args, "out of memory");
    } else if (job->result.diags.count != 0) {
        code = complain(job, &err);
    } else if (session_gfx12_write(job->output, strcmp(job->format, "hex") == 0, &program, &err) !=
               FACET_OK) {
        code = cli_bad_error(job->args, &err);
    } else if (job->args->json) {
        code = cli_print_json(job->args,
                              json_pack("{s:b, s:o, s:s, s:I}",
                                        "ok",
                                        1,
                                        "output",
                                        facet_json_name(job->output),
                                        "isa",
                                        "gfx12",
                                        "size",
                                        (json_int_t)(4 * program.count)));
    }
    free(program.words);
    return code;
}

static int run_as(const struct cli_args *args)
{
    struct job *job = calloc(1, sizeof *job);
    const char *isa = cli_value(args, "isa");
    int code;

    if (job == NULL) {
        return cli_bad(args, "out of memory");
    }
    job->args = args;
    code = isa != NULL && strcmp(isa, "gfx12") == 0 ? assemble_gfx12(job) : assemble(job);
    facet_asm_result_free(&job->result);
    session_asm_free(&job->source);
    free(job->text.data);
    free(job);
    return code;
}

static const struct cli_option options[] = {
    {"output", 'o', "OUT", "where the result goes; - is standard output"},
    {"isa", 'i', "gfx12|tile|xphmg", "the machine"},
    {"format",
     'f',
     "elf|bin|hex",
     "executable (default; not gfx12), flat image, or words for $readmemh"},
    {"base", 'b', "ADDR", "address of the first section (default 0x80000000)"},
    {"listing", 'l', "FILE", "also write a listing: line, address, bytes, text"},
    {"debug", 'g', NULL, "add line tables for debuggers (DWARF) to an executable"},
    SESSION_ASM_OPTIONS,
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_as = {
    .name = "as",
    .summary = "assemble a program for the tile machine, the xphmg hart or gfx12",
    .usage = "facet as FILE --isa gfx12|tile|xphmg [-o OUT] [--format elf|bin|hex] [--base ADDR]\n"
             "         [-g] [-D NAME=VALUE]... [-I DIR]... [--listing FILE] [--json]",
    .details =
        "Reads assembly text (- is standard input) and writes an executable whose addresses are "
        "all known: there is no linker, so every symbol must be defined in the text or with -D. "
        "Instructions follow the rows of the contract, operands by position or by name; pseudo "
        "instructions, directives, expressions, numeric labels, .macro, .rept and .if are those "
        "of GNU as. Nothing is relaxed or compressed: every statement has the length it "
        "shows.\n\n"
        "Sections follow each other from --base: code, constants, data, zeros. `.address N` puts "
        "the current section somewhere else, `.entry X` names the first instruction (default "
        "_start, else the start of .text). Without -o the result goes next to the input with the "
        "extension .elf or .bin; words go to standard output.\n\n"
        "-g adds the source line of every instruction, also of those in macros, repetitions and "
        "included files, as GDB, addr2line and readelf read them; a kernel that `facet tile run` "
        "or `facet gdb` assembles has them anyway.\n\n"
        "A flat image runs from the lowest loaded address to the highest, gaps are zero. The "
        "hexadecimal form is what Verilog's $readmemh reads into a memory of 32-bit words: one "
        "word per line, its bytes taken little-endian (two 16-bit instructions share a word, a "
        "partial word is padded with zeros); word 0 is at the lowest loaded address, and after a "
        "gap `@N` gives the number of the next word.\n\n"
        "gfx12 has its two intersect and two stack instructions only, a line each: see "
        "docs/gfx12.md. "
        "Operands are written as in the contract or as LLVM's assembler takes them; `.long` puts "
        "other dwords between them. Words (the default) or a flat image come out.\n\n"
        "Errors are shown with file, line, column and what was expected, at most 20 of them; "
        "then nothing is written and the exit code is 2.",
    .examples = "printf 'MOVI s1, 0x12345FFF\\nEXIT\\n' | facet as - --isa tile --format hex\n"
                "printf 'EXIT\\n' | facet as - --isa tile --format hex -o kernel.hex\n"
                "printf '_start: li a0, 42\\nret\\n' | facet as - --isa xphmg -o answer.elf\n"
                "facet as examples/gfx12/one-node.s --isa gfx12",
    .options = options,
    .has_json = true,
    .run = run_as,
    .operands = "FILE",
};
