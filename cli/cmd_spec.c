/* `facet spec`: reference cards of instructions, CSRs, fields, requirements and resolutions, out of
 * the tables that decoder and assembler use. */
#include "cli/command.h"
#include "cli/frame.h"

#include "base/json.h"
#include "isa/card.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct cli_option options[] = {
    {"list",
     'l',
     NULL,
     "list names; KIND is instructions, csrs, requirements, resolutions or all (default all)"},
    {"isa", 0, "xphmg|tile", "look in one instruction set only"},
    {0},
};

/* -- Unknown names --------------------------------------------------------------------------------
 */

enum { MAX_SUGGESTIONS = 4 };

struct suggestions {
    const char *names[MAX_SUGGESTIONS];
    size_t count;
};

static void try_name(const struct suggestions *taken,
                     struct cli_nearest *best,
                     char words[3][64],
                     const char *name)
{
    for (size_t i = 0; i < taken->count; i++) {
        if (strcasecmp(taken->names[i], name) == 0) {
            return;
        }
    }
    for (int i = 0; i < 3; i++) {
        cli_nearest_try(best, words[i], name);
    }
}

/* The nearest names, one after the other; the word is tried as given, in small and in capital
 * letters. */
static void suggest(struct suggestions *s, const char *word, enum facet_isa isa)
{
    char words[3][64];

    for (int i = 0; i < 3; i++) {
        size_t n = 0;
        for (; word[n] != '\0' && n < sizeof words[i] - 1; n++) {
            unsigned char c = (unsigned char)word[n];
            words[i][n] = (char)(i == 0 ? c : i == 1 ? tolower(c) : toupper(c));
        }
        words[i][n] = '\0';
    }
    while (s->count < MAX_SUGGESTIONS) {
        struct cli_nearest best = {0};
        for (int k = 0; k < FACET_ISA_COUNT; k++) {
            for (size_t i = 0;
                 i < facet_isa_row_count[k] && (isa == FACET_ISA_COUNT || (int)isa == k);
                 i++) {
                try_name(s, &best, words, facet_isa_rows[k][i].mnemonic);
            }
        }
        for (size_t i = 0; i < facet_csr_row_count; i++) {
            if (isa == FACET_ISA_COUNT || facet_csr_rows[i].isa == isa) {
                try_name(s, &best, words, facet_csr_rows[i].name);
            }
        }
        for (size_t i = 0; i < facet_requirement_row_count; i++) {
            try_name(s, &best, words, facet_requirement_rows[i].id);
        }
        for (size_t i = 0; i < facet_resolution_row_count; i++) {
            try_name(s, &best, words, facet_resolution_rows[i].id);
        }
        if (best.name == NULL) {
            return;
        }
        s->names[s->count++] = best.name;
    }
}

/* CSR.FIELD with a known CSR: the fields are near. */
static bool suggest_fields(const struct cli_args *args, const char *name, enum facet_isa isa)
{
    const char *dot = strrchr(name, '.');

    for (int k = 0; dot != NULL && k < FACET_ISA_COUNT; k++) {
        uint32_t number;
        const struct facet_csr_row *row =
            isa == FACET_ISA_COUNT || (int)isa == k
                ? facet_csr_find_number(
                      (enum facet_isa)k, name, (size_t)(dot - name), false, &number)
                : NULL;
        if (row != NULL) {
            struct facet_strbuf fields;
            facet_strbuf_init(&fields);
            for (unsigned i = 0; i < row->field_count; i++) {
                facet_strbuf_printf(&fields, "%s%s", i > 0 ? " " : "", row->fields[i].name);
            }
            cli_bad(args,
                    "%s has no field '%s'; it has %s",
                    row->name,
                    dot + 1,
                    facet_strbuf_text(&fields));
            facet_strbuf_free(&fields);
            return true;
        }
    }
    return false;
}

static int unknown(const struct cli_args *args, const char *name, enum facet_isa isa)
{
    struct suggestions s = {0};
    struct facet_strbuf near;

    if (suggest_fields(args, name, isa)) {
        return CLI_BAD;
    }
    suggest(&s, name, isa);
    facet_strbuf_init(&near);
    for (size_t i = 0; i < s.count; i++) {
        facet_strbuf_printf(&near,
                            "%s%s",
                            i == 0             ? "; did you mean "
                            : i + 1 == s.count ? " or "
                                               : ", ",
                            s.names[i]);
    }
    int code = cli_bad(args,
                       "'%s' is no instruction, CSR, field, requirement or resolution%s",
                       name,
                       near.length > 0 ? facet_strbuf_text(&near) : "; see 'facet spec --list'");
    facet_strbuf_free(&near);
    return code;
}

/* -- Lists ----------------------------------------------------------------------------------------
 */

struct listing {
    const struct cli_args *args;
    enum facet_isa isa;
    json_t *json;
    struct facet_strbuf text; /* its `failed` stands for the JSON as well */
};

static bool wanted(const struct listing *l, enum facet_isa isa)
{
    return l->isa == FACET_ISA_COUNT || l->isa == isa;
}

static void
entry(struct listing *l, json_t *list, const char *isa, const char *name, const char *what)
{
    if (l->args->json) {
        json_t *item = json_pack("{s:s, s:s?, s:s}", "name", name, "isa", isa, "text", what);
        l->text.failed |= json_array_append_new(list, item) != 0;
    } else if (isa != NULL) {
        facet_strbuf_printf(&l->text, "%-20s %-6s %s\n", name, isa, what);
    } else {
        facet_strbuf_printf(&l->text, "%-10s %s\n", name, what);
    }
}

static void list_instructions(struct listing *l, json_t *list)
{
    for (int isa = 0; isa < FACET_ISA_COUNT; isa++) {
        for (size_t i = 0; i < facet_isa_row_count[isa] && wanted(l, (enum facet_isa)isa); i++) {
            const struct facet_insn_row *row = &facet_isa_rows[isa][i];
            entry(l, list, facet_isa_name[isa], row->mnemonic, row->syntax);
        }
    }
}

static void list_csrs(struct listing *l, json_t *list)
{
    for (size_t i = 0; i < facet_csr_row_count; i++) {
        const struct facet_csr_row *row = &facet_csr_rows[i];
        if (wanted(l, row->isa)) {
            entry(l, list, facet_isa_name[row->isa], row->name, row->address);
        }
    }
}

static void list_requirements(struct listing *l, json_t *list)
{
    for (size_t i = 0; i < facet_requirement_row_count; i++) {
        const struct facet_requirement_row *row = &facet_requirement_rows[i];
        bool tile = strncmp(row->file, "tile", 4) == 0, gfx12 = strncmp(row->file, "gfx12", 5) == 0;
        if (l->isa == FACET_ISA_COUNT || (!gfx12 && tile == (l->isa == FACET_ISA_TILE))) {
            entry(l, list, NULL, row->id, row->requirement);
        }
    }
}

static void list_resolutions(struct listing *l, json_t *list)
{
    for (size_t i = 0; i < facet_resolution_row_count; i++) {
        const struct facet_resolution_row *row = &facet_resolution_rows[i];
        bool tile = strstr(row->file, "tile") != NULL, gfx12 = strstr(row->file, "gfx12") != NULL;
        if (l->isa == FACET_ISA_COUNT || (!gfx12 && tile == (l->isa == FACET_ISA_TILE))) {
            entry(l, list, NULL, row->id, row->title);
        }
    }
}

static const struct {
    const char *name;
    void (*run)(struct listing *, json_t *);
} lists[] = {
    {"instructions", list_instructions},
    {"csrs", list_csrs},
    {"requirements", list_requirements},
    {"resolutions", list_resolutions},
};

enum { LIST_COUNT = sizeof lists / sizeof lists[0] };

/* Writes one of the two and releases both. */
static int write_out(const struct cli_args *args, json_t *value, struct facet_strbuf *text)
{
    struct facet_error err = {0};
    int code = CLI_OK;

    if (args->json) {
        if (facet_json_write("-", text->failed ? NULL : value, &err) != FACET_OK) {
            code = cli_bad_error(args, &err);
        }
    } else if (text->failed) {
        code = cli_bad(args, "out of memory");
    } else if (fwrite(facet_strbuf_text(text), 1, text->length, stdout) != text->length ||
               fflush(stdout) != 0) {
        code = cli_bad(args, "cannot write to standard output");
    }
    json_decref(value);
    facet_strbuf_free(text);
    return code;
}

static int run_list(const struct cli_args *args, enum facet_isa isa)
{
    struct listing l = {.args = args, .isa = isa, .json = json_object()};
    bool chosen[LIST_COUNT] = {false}, all = args->positional_count == 0;

    facet_strbuf_init(&l.text);
    for (int i = 0; i < args->positional_count; i++) {
        size_t k = 0;
        if (strcmp(args->positional[i], "all") == 0) {
            all = true;
            continue;
        }
        while (k < LIST_COUNT && strcmp(lists[k].name, args->positional[i]) != 0) {
            k++;
        }
        if (k == LIST_COUNT) {
            json_decref(l.json);
            facet_strbuf_free(&l.text);
            return cli_bad(args,
                           "no list '%s'; there are instructions, csrs, requirements, "
                           "resolutions and all",
                           args->positional[i]);
        }
        chosen[k] = true;
    }
    for (size_t k = 0; k < LIST_COUNT; k++) {
        if (all || chosen[k]) {
            json_t *list = json_array();
            lists[k].run(&l, list);
            (void)json_object_set_new(l.json, lists[k].name, list);
        }
    }
    return write_out(args, l.json, &l.text);
}

/* -- Cards ----------------------------------------------------------------------------------------
 */

static int run(const struct cli_args *args)
{
    const char *isa_name = cli_value(args, "isa");
    enum facet_isa isa = FACET_ISA_COUNT;

    if (isa_name != NULL) {
        isa = strcmp(isa_name, "tile") == 0 ? FACET_ISA_TILE : FACET_ISA_XPHMG;
    }
    if (cli_given(args, "list")) {
        return run_list(args, isa);
    }
    if (args->positional_count == 0) {
        return cli_bad(
            args,
            "which name? For example 'facet spec RT.BBOX'; 'facet spec --list' lists them all");
    }
    json_t *cards = json_array();
    struct facet_strbuf text;

    facet_strbuf_init(&text);
    for (int i = 0; i < args->positional_count; i++) {
        struct facet_card found[FACET_CARD_MAX];
        size_t count = facet_card_find(args->positional[i], isa, found);
        if (count == 0) {
            json_decref(cards);
            facet_strbuf_free(&text);
            return unknown(args, args->positional[i], isa);
        }
        for (size_t k = 0; k < count; k++) {
            if (args->json) {
                text.failed |= json_array_append_new(cards, facet_card_json(&found[k])) != 0;
                continue;
            }
            if (text.length > 0) {
                facet_strbuf_puts(&text, "\n");
            }
            facet_card_text(&found[k], &text);
        }
    }
    return write_out(args, json_pack("{s:o}", "cards", cards), &text);
}

const struct cli_command cli_cmd_spec = {
    .name = "spec",
    .summary = "show what the contract says about a name",
    .usage = "facet spec NAME... [--isa xphmg|tile] [--json]\n"
             "facet spec --list [KIND...] [--isa xphmg|tile] [--json]",
    .details = "Prints the reference card of an instruction, a pseudo-instruction, a CSR (by name "
               "or number), a field "
               "CSR.FIELD, a requirement or a resolution: encoding, fields, syntax, semantics, "
               "reset values, and the "
               "requirement and resolution IDs that have to do with it. Case does not matter.\n"
               "\n"
               "A mnemonic that both instruction sets have gives both cards; --isa chooses one. An "
               "unknown name is "
               "answered with the nearest ones and exit code 2.",
    .examples = "facet spec RT.BBOX\n"
                "facet spec CAP.PREC.MODE.ZMODE\n"
                "facet spec 0x7D0 --json\n"
                "facet spec CAP-137 R-CAP-09\n"
                "facet spec --list csrs --isa tile\n",
    .options = options,
    .has_json = true,
    .run = run,
};
