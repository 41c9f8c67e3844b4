/* `facet dis`: programs and single words back to assembly text. */
#include "command/output.h"
#include "session/gfx12_text.h"

#include "assembler/disassemble.h"
#include "base/file.h"
#include "object/elf.h"
#include "object/hex.h"
#include "json/json.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_LIMIT ((size_t)1 << 30)
enum { LONGEST_TEXT = 512 };

struct output {
    const struct cli_args *args;
    struct facet_strbuf text;
    json_t *json;
    struct session_gfx12_words words; /* of gfx12, which are taken together */
};

static bool isa_given(const struct cli_args *args, enum facet_isa *isa)
{
    const char *name = cli_value(args, "isa");

    if (name != NULL) {
        *isa = strcmp(name, "tile") == 0 ? FACET_ISA_TILE : FACET_ISA_XPHMG;
    }
    return name != NULL;
}

/* ---- words ---- */

/* Hexadecimal with or without 0x, at most 32 bits. */
static bool read_word(const char *text, size_t length, uint32_t *word)
{
    uint64_t value = 0;
    size_t i = length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 2 : 0;

    if (i == length || length - i > 16) {
        return false;
    }
    for (; i < length; i++) {
        int c = tolower((unsigned char)text[i]);

        if (!isxdigit(c)) {
            return false;
        }
        value = value << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    *word = (uint32_t)value;
    return value <= UINT32_MAX;
}

static void put_word(struct output *out, enum facet_isa isa, uint32_t word)
{
    /* A number of more than 16 bits is one 32-bit word, whatever its low bits say. */
    bool odd = word > 0xFFFF && facet_isa_length(isa, (uint16_t)word) == 2;
    const struct facet_insn_row *row = odd ? NULL : facet_isa_decode(isa, word);
    char text[LONGEST_TEXT];

    if (odd) {
        (void)snprintf(text, sizeof text, ".word 0x%08" PRIx32, word);
    } else {
        (void)facet_isa_print(isa, word, 0, NULL, text, sizeof text);
    }
    if (out->json != NULL) {
        (void)json_array_append_new(out->json,
                                    json_pack("{s:o, s:i, s:s, s:s?}",
                                              "word",
                                              facet_json_hex(word),
                                              "size",
                                              odd ? 4 : (int)facet_isa_length(isa, (uint16_t)word),
                                              "text",
                                              text,
                                              "row",
                                              row != NULL ? row->mnemonic : NULL));
    } else {
        facet_strbuf_puts(&out->text, text);
        facet_strbuf_putc(&out->text, '\n');
    }
}

/* ---- gfx12: instructions of two or three dwords ---- */

static bool is_gfx12(const struct cli_args *args)
{
    const char *name = cli_value(args, "isa");

    return name != NULL && strcmp(name, "gfx12") == 0;
}

/* The dwords that were kept, as text. */
static void put_gfx12(struct output *out)
{
    unsigned length;

    for (size_t i = 0; i < out->words.count; i += length) {
        char text[LONGEST_TEXT];
        const char *name;
        json_t *dwords;

        length = session_gfx12_disassemble(
            out->words.words + i, out->words.count - i, text, sizeof text, &name);
        if (out->json == NULL) {
            facet_strbuf_puts(&out->text, text);
            facet_strbuf_putc(&out->text, '\n');
            continue;
        }
        dwords = json_array();
        for (unsigned k = 0; k < length; k++) {
            (void)json_array_append_new(dwords, facet_json_hex(out->words.words[i + k]));
        }
        (void)json_array_append_new(out->json,
                                    json_pack("{s:o, s:I, s:o, s:s, s:s?}",
                                              "offset",
                                              facet_json_hex(4 * i),
                                              "size",
                                              (json_int_t)(4 * length),
                                              "words",
                                              dwords,
                                              "text",
                                              text,
                                              "row",
                                              name));
    }
}

/* ---- words as operands or from standard input ---- */

static bool take_word(struct output *out, enum facet_isa isa, uint32_t word)
{
    if (is_gfx12(out->args)) {
        return session_gfx12_add(&out->words, &word, 1);
    }
    put_word(out, isa, word);
    return true;
}

static int words_of_input(struct output *out, enum facet_isa isa)
{
    struct facet_error err = {0};
    struct facet_bytes bytes = {0};
    size_t line = 1;

    if (facet_file_read("-", INPUT_LIMIT, &bytes, &err) != FACET_OK) {
        return cli_bad_error(out->args, &err);
    }
    for (size_t i = 0; i < bytes.size;) {
        const char *start = (const char *)bytes.data + i;
        size_t length = 0;
        uint32_t word;

        if (isspace(bytes.data[i])) {
            line += bytes.data[i++] == '\n';
            continue;
        }
        while (i < bytes.size && !isspace(bytes.data[i])) {
            length++;
            i++;
        }
        if (*start == '@' && length > 1) { /* where the next word of $readmemh goes */
            continue;
        }
        if (!read_word(start, length, &word)) {
            int code =
                cli_bad(out->args,
                        "line %zu: '%.*s' is not a word; expected up to 8 hexadecimal digits",
                        line,
                        (int)(length < 60 ? length : 60),
                        start);

            free(bytes.data);
            return code;
        }
        if (!take_word(out, isa, word)) {
            free(bytes.data);
            return cli_bad(out->args, "out of memory");
        }
    }
    free(bytes.data);
    return CLI_OK;
}

static int words(struct output *out)
{
    const struct cli_args *args = out->args;
    enum facet_isa isa = FACET_ISA_XPHMG;

    if (!isa_given(args, &isa)) {
        return cli_bad(args,
                       "the machine is missing: expected --isa gfx12, --isa tile or --isa xphmg");
    }
    if (args->positional_count == 0) {
        return cli_bad(args, "no words given; expected --hex WORD... or --hex -");
    }
    if (args->positional_count == 1 && strcmp(args->positional[0], "-") == 0) {
        return words_of_input(out, isa);
    }
    for (int i = 0; i < args->positional_count; i++) {
        uint32_t word;

        if (!read_word(args->positional[i], strlen(args->positional[i]), &word)) {
            return cli_bad(args,
                           "word %d is '%.60s'; expected up to 8 hexadecimal digits",
                           i + 1,
                           args->positional[i]);
        }
        if (!take_word(out, isa, word)) {
            return cli_bad(args, "out of memory");
        }
    }
    return CLI_OK;
}

/* ---- programs ---- */

static bool add_line(void *context, const struct facet_dis_line *line)
{
    struct output *out = context;
    json_t *entry = json_pack("{s:o, s:I, s:o, s:o, s:s?, s:o}",
                              "address",
                              facet_json_hex(line->address),
                              "size",
                              (json_int_t)line->size,
                              "word",
                              facet_json_hex(line->word),
                              "text",
                              facet_json_name(line->note != NULL ? line->note : line->text),
                              "row",
                              line->row != NULL ? line->row->mnemonic : NULL,
                              "section",
                              facet_json_name(line->section->name));

    if (entry != NULL && line->label != NULL) {
        (void)json_object_set_new(entry, "label", facet_json_name(line->label));
    }
    if (entry != NULL && line->note != NULL) {
        (void)json_object_set_new(entry, "source", facet_json_name(line->text));
    }
    return json_array_append_new(out->json, entry) == 0;
}

static int read_program(const struct cli_args *args, struct facet_object **object)
{
    const char *path = args->positional[0], *format = cli_value(args, "format");
    enum facet_isa isa = FACET_ISA_XPHMG;
    bool given = isa_given(args, &isa);
    bool hex = format != NULL ? strcmp(format, "hex") == 0 : cli_ends_with(path, ".hex");
    struct facet_bytes bytes = {0};
    struct facet_error err = {0};
    enum facet_status status;
    uint64_t base = facet_object_default_base(isa);

    if (!cli_number(args, "base", 0, isa == FACET_ISA_TILE ? UINT32_MAX : UINT64_MAX, &base)) {
        return CLI_BAD;
    }
    if (facet_file_read(path, INPUT_LIMIT, &bytes, &err) != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    if (format != NULL ? strcmp(format, "elf") == 0 : facet_elf_is(bytes.data, bytes.size)) {
        status = facet_elf_read(bytes.data, bytes.size, object, &err);
    } else if (!given) {
        free(bytes.data);
        return cli_bad(args, "%s is not an ELF file: name its machine with --isa", path);
    } else {
        status = hex ? facet_hex_read(isa, (const char *)bytes.data, bytes.size, base, object, &err)
                     : facet_object_from_bytes(isa, bytes.data, bytes.size, base, object, &err);
    }
    free(bytes.data);
    if (status != FACET_OK) {
        return cli_bad(args, "%s: %s", path, err.message);
    }
    if (given && (*object)->isa != isa) {
        return cli_bad(args,
                       "%s is for %s, not for %s",
                       path,
                       facet_isa_name[(*object)->isa],
                       facet_isa_name[isa]);
    }
    return CLI_OK;
}

static int program(struct output *out)
{
    const struct cli_args *args = out->args;
    struct facet_object *object = NULL;
    struct facet_error err = {0};
    enum facet_status status;
    int code;

    if (args->positional_count == 0) {
        return cli_bad(args, "FILE is missing; single words need --hex");
    }
    if (args->positional_count > 1) {
        return cli_bad(
            args, "unexpected argument '%s'; single words need --hex", args->positional[1]);
    }
    if (is_gfx12(args)) {
        return session_gfx12_read(args, args->positional[0], &out->words) ? CLI_OK : CLI_BAD;
    }
    code = read_program(args, &object);
    if (code == CLI_OK) {
        status = out->json != NULL
                     ? facet_dis_walk(object, add_line, out, &err)
                     : facet_disassemble(object, args->positional[0], &out->text, &err);
        if (status != FACET_OK) {
            code = cli_bad_error(args, &err);
        }
    }
    facet_object_free(object);
    return code;
}

static int run_dis(const struct cli_args *args)
{
    const char *path = cli_value(args, "output");
    struct output out = {.args = args, .json = cli_json_list(args)};
    struct facet_error err = {0};
    int code;

    if (!cli_given(args, "hex") && args->positional_count > 0 &&
        cli_would_replace(args, path, args->positional[0], "the input")) {
        json_decref(out.json);
        return CLI_BAD;
    }
    facet_strbuf_init(&out.text);
    code = cli_given(args, "hex") ? words(&out) : program(&out);
    put_gfx12(&out);
    free(out.words.words);
    if (code == CLI_OK && out.json != NULL) {
        if (path == NULL) {
            code = cli_print_json(args, json_incref(out.json));
        } else if (facet_json_write(path, out.json, &err) != FACET_OK) {
            code = cli_bad_error(args, &err);
        }
    } else if (code == CLI_OK) {
        if (out.text.failed) {
            code = cli_bad(args, "out of memory");
        } else if (facet_file_write(path != NULL ? path : "-",
                                    facet_strbuf_text(&out.text),
                                    out.text.length,
                                    &err) != FACET_OK) {
            code = cli_bad_error(args, &err);
        }
    }
    json_decref(out.json);
    facet_strbuf_free(&out.text);
    return code;
}

static const struct cli_option options[] = {
    {"isa", 'i', "gfx12|tile|xphmg", "the machine; an ELF file names it"},
    {"format", 'f', "elf|bin|hex", "what the file is (default: by its first bytes, or .hex)"},
    {"base", 'b', "ADDR", "address of the first byte or word of a flat file (default 0x80000000)"},
    {"hex", 'x', NULL, "the operands are words in hexadecimal; - reads them from standard input"},
    {"output", 'o', "OUT", "where the text goes (default: standard output)"},
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_dis = {
    .name = "dis",
    .summary = "disassemble a program or single words",
    .usage = "facet dis FILE [--isa gfx12|tile|xphmg] [--format elf|bin|hex] [--base ADDR] [-o "
             "OUT] [--json]\n"
             "facet dis --isa gfx12|tile|xphmg --hex WORD...|- [--json]",
    .details =
        "The text of a program assembles again to the same sections, bytes, addresses, symbols "
        "and entry point (facet as). Branch targets without a symbol get labels .L and the "
        "address. Words that are not instructions, or that have bits set which the syntax does "
        "not show, are written as .word (with the instruction as a comment). Sections that are "
        "not loaded, and relocations, are left out. Words in hexadecimal are those that "
        "$readmemh reads and facet as --format hex writes.\n\n"
        "With --hex each operand is one instruction, in hexadecimal with or without 0x: one line "
        "of text per word, `.word 0x...` (`.half 0x...` for 16 bits) for an illegal one. For "
        "xphmg a number up to 0xffff whose low two bits are not 3 is a 16-bit instruction. From "
        "standard input words are separated by blanks and line ends. If one number is bad, "
        "nothing is printed and the exit code is 2.\n\n"
        "Instructions of gfx12 have two or three dwords, which follow each other in files and "
        "after --hex. They are printed as LLVM's assembler reads them; dwords that begin none of "
        "the four become .long.",
    .examples = "facet dis --isa tile --hex 0x12346137 0xFFF10117\n"
                "facet dis --isa xphmg --hex 00a50533 4501 --json\n"
                "facet dis --isa gfx12 --hex D3E04010 09000000 06030B00",
    .options = options,
    .has_json = true,
    .run = run_dis,
    .operands = NULL,
};
