/* `facet spec`: reference cards of every name of the contract, lists of the names, and a search in
 * the texts, out of the tables that decoder and assembler use. */
#include "command/command.h"
#include "command/frame.h"

#include "cards/card.h"
#include "cards/search.h"
#include "json/json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SHOWN_HITS = 20, SNIPPET = 76 };

static const struct cli_option options[] = {
    {"list",
     'l',
     NULL,
     "list names by kind, machine and group; KIND as in the details (default all)"},
    {"search", 's', NULL, "look for the words in names, meanings and texts"},
    {"isa", 0, "xphmg|tile|gfx12", "look in one machine only"},
    {"results",
     'r',
     "DIR",
     "folder of test results (default: test-results beside the program, where it exists)"},
    {0},
};

/* Prints one of the two and releases both; a failing stream is main()'s business. */
static int write_out(const struct cli_args *args, json_t *value, struct facet_strbuf *text)
{
    int code = CLI_OK;

    if (text->failed) {
        code = cli_bad(args, "out of memory");
    } else if (args->json) {
        code = cli_print_json(args, json_incref(value));
    } else {
        (void)fwrite(facet_strbuf_text(text), 1, text->length, stdout);
    }
    json_decref(value);
    facet_strbuf_free(text);
    return code;
}

/* -- Unknown names --------------------------------------------------------------------------------
 */

enum { MAX_SUGGESTIONS = 4 };

struct suggestions {
    char names[MAX_SUGGESTIONS][64];
    size_t count;
};

static bool taken(const struct suggestions *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++) {
        if (strcasecmp(s->names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void suggest(struct suggestions *s, const char *name)
{
    if (strlen(name) < sizeof s->names[0]) {
        (void)strcpy(s->names[s->count++], name);
    }
}

/* What several instructions share, VFMA of VFMA.F32: `stem` keeps the nearest. */
static void try_stems(const struct suggestions *s,
                      struct cli_nearest *best,
                      const char *word,
                      const char *name,
                      char stem[64])
{
    for (const char *dot = strchr(name, '.'); dot != NULL; dot = strchr(dot + 1, '.')) {
        struct cli_nearest mine = *best;
        char part[64];

        (void)snprintf(part, sizeof part, "%.*s", (int)(dot - name), name);
        if (!taken(s, part)) {
            cli_nearest_try(&mine, word, part);
        }
        if (mine.name == part) {
            (void)memcpy(stem, part, sizeof part);
            *best = (struct cli_nearest){.name = stem, .distance = mine.distance};
        }
    }
}

/* The nearest names by edit distance, one after the other; the word is tried as given, in small and
 * in capital letters, against whole names, what stands behind their last dot, and shared stems. */
static void suggest_near(struct suggestions *s, const char *word, unsigned machine)
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
        char stem[64];
        for (size_t i = 0; i < facet_item_count; i++) {
            const struct facet_item *item = &facet_items[i];
            const char *dot = strrchr(item->name, '.');
            bool bare = (item->kind == FACET_ITEM_FIELD || item->kind == FACET_ITEM_MEMBER) &&
                        strchr(word, '.') == NULL;
            const char *name = bare ? dot + 1 : item->name;
            for (int k = 0; k < 3 && (machine == FACET_ITEM_ANY || item->machine == machine); k++) {
                if (!taken(s, name)) {
                    cli_nearest_try(&best, words[k], name);
                }
                if (item->kind == FACET_ITEM_INSTRUCTION) {
                    try_stems(s, &best, words[k], name, stem);
                }
            }
        }
        if (best.name == NULL) {
            return;
        }
        suggest(s, best.name);
    }
}

/* Then names and texts that have the word inside. */
static void suggest_found(struct suggestions *s, const char *word, unsigned machine)
{
    struct facet_hit *hits = calloc(facet_item_count, sizeof *hits);
    char *words[1] = {(char *)(uintptr_t)word};
    size_t count = hits != NULL ? facet_search(words, 1, machine, hits) : 0;

    for (size_t i = 0; i < count && s->count < MAX_SUGGESTIONS; i++) {
        if (!taken(s, hits[i].item->name)) {
            suggest(s, hits[i].item->name);
        }
    }
    free(hits);
}

/* The fields with a meaning, and the nearest of them. */
static void
say_fields(const struct cli_args *args, const struct facet_csr_row *row, const char *word)
{
    struct cli_nearest best = {0};
    struct facet_strbuf fields;
    char upper[64];
    size_t n = 0;

    for (; word[n] != '\0' && n < sizeof upper - 1; n++) {
        upper[n] = (char)toupper((unsigned char)word[n]);
    }
    upper[n] = '\0';
    facet_strbuf_init(&fields);
    for (unsigned i = 0; i < row->field_count; i++) {
        const char *name = row->fields[i].name;
        if (strncasecmp(name, "rsv", 3) != 0 && strcasecmp(name, "reserved") != 0) {
            facet_strbuf_printf(&fields, "%s%s", fields.length > 0 ? " " : "", name);
            cli_nearest_try(&best, upper, name);
        }
    }
    cli_bad(args,
            "%s has no field '%s'; %s%s%s%s",
            row->name,
            word,
            best.name != NULL ? "did you mean " : "",
            best.name != NULL ? best.name : "",
            best.name != NULL ? "? It has " : "it has ",
            facet_strbuf_text(&fields));
    facet_strbuf_free(&fields);
}

/* CSR.FIELD with a known CSR: the fields are near. */
static bool suggest_fields(const struct cli_args *args, const char *name, unsigned machine)
{
    const char *dot = strrchr(name, '.');

    for (unsigned k = 0; dot != NULL && k < FACET_ISA_COUNT; k++) {
        uint32_t number;
        const struct facet_csr_row *row =
            machine == FACET_ITEM_ANY || machine == k
                ? facet_csr_find_number(
                      (enum facet_isa)k, name, (size_t)(dot - name), false, &number)
                : NULL;
        if (row != NULL) {
            say_fields(args, row, dot + 1);
            return true;
        }
    }
    return false;
}

static int unknown(const struct cli_args *args, const char *name, unsigned machine)
{
    struct suggestions s = {0};
    struct facet_strbuf near;
    int code;

    if (suggest_fields(args, name, machine)) {
        return CLI_BAD;
    }
    suggest_near(&s, name, machine);
    suggest_found(&s, name, machine);
    facet_strbuf_init(&near);
    for (size_t i = 0; i < s.count; i++) {
        const char *gap = i == 0 ? "; did you mean " : i + 1 == s.count ? " or " : ", ";
        facet_strbuf_printf(&near, "%s%s", gap, s.names[i]);
    }
    code = cli_bad(args,
                   "'%s' is no name of the contract%s",
                   name,
                   near.length > 0 ? facet_strbuf_text(&near) : "; see 'facet spec --list'");
    facet_strbuf_free(&near);
    return code;
}

/* -- Lists ----------------------------------------------------------------------------------------
 */

/* "instructions" for "instruction", "aliases" for "alias". */
static bool is_plural(const char *word, const char *kind)
{
    size_t n = strlen(kind);

    return strncmp(word, kind, n) == 0 &&
           strcmp(word + n, n > 0 && kind[n - 1] == 's' ? "es" : "s") == 0;
}

static bool same_group(const struct facet_item *a, const struct facet_item *b)
{
    return a->kind == b->kind && a->machine == b->machine && strcmp(a->group, b->group) == 0;
}

static const char *title_of(const char *group)
{
    for (size_t i = 0; i < facet_extension_row_count; i++) {
        if (strcmp(facet_extension_rows[i].name, group) == 0) {
            return facet_extension_rows[i].title;
        }
    }
    return "";
}

/* The group that begins with items[first], under its heading. */
static void list_group(struct facet_strbuf *out, size_t first, const char *plural)
{
    const struct facet_item *head = &facet_items[first];
    const char *machine = facet_item_machine_name[head->machine], *title = title_of(head->group);
    int width = 0;

    facet_strbuf_printf(out,
                        "%s%s%s%s, %s%s%s\n",
                        out->length > 0 ? "\n" : "",
                        plural,
                        machine[0] != '\0' ? " of " : "",
                        machine,
                        head->group,
                        title[0] != '\0' ? ": " : "",
                        title);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = first; i < facet_item_count; i++) {
            int n = (int)strlen(facet_items[i].name);
            if (!same_group(head, &facet_items[i])) {
                continue;
            }
            if (pass == 0) {
                width = n > width ? n : width;
            } else {
                facet_strbuf_printf(
                    out, "  %-*s %s\n", width, facet_items[i].name, facet_items[i].text);
            }
        }
    }
}

static void list_kind(struct facet_strbuf *out, json_t *all, unsigned kind, unsigned machine)
{
    const char *name = facet_item_kind_name[kind];
    json_t *list = json_array();
    char plural[32];

    (void)snprintf(plural, sizeof plural, "%s%s", name, name[strlen(name) - 1] == 's' ? "es" : "s");
    for (size_t i = 0; i < facet_item_count; i++) {
        const struct facet_item *item = &facet_items[i];
        bool first = true;
        if (item->kind != kind || (machine != FACET_ITEM_ANY && item->machine != machine)) {
            continue;
        }
        for (size_t k = i; k-- > 0 && first;) {
            first = !same_group(item, &facet_items[k]);
        }
        if (first) {
            list_group(out, i, plural);
        }
        out->failed |= json_array_append_new(list,
                                             json_pack("{s:s, s:s, s:s, s:s}",
                                                       "name",
                                                       item->name,
                                                       "isa",
                                                       facet_item_machine_name[item->machine],
                                                       "group",
                                                       item->group,
                                                       "text",
                                                       item->text)) != 0;
    }
    out->failed |= json_object_set_new(all, plural, list) != 0;
}

static int run_list(const struct cli_args *args, unsigned machine)
{
    bool chosen[FACET_ITEM_KINDS] = {false}, all = args->positional_count == 0;
    struct facet_strbuf text;
    json_t *json;

    for (int i = 0; i < args->positional_count; i++) {
        unsigned k = 0;
        while (k < FACET_ITEM_KINDS && !is_plural(args->positional[i], facet_item_kind_name[k])) {
            k++;
        }
        if (strcmp(args->positional[i], "all") == 0) {
            all = true;
        } else if (k == FACET_ITEM_KINDS) {
            return cli_bad(args, "no list '%s'; see 'facet spec --help'", args->positional[i]);
        } else {
            chosen[k] = true;
        }
    }
    facet_strbuf_init(&text);
    json = json_object();
    for (unsigned k = 0; k < FACET_ITEM_KINDS; k++) {
        if (all || chosen[k]) {
            list_kind(&text, json, k, machine);
        }
    }
    return write_out(args, json, &text);
}

/* -- Search ---------------------------------------------------------------------------------------
 */

/* A line of the text around the place: from the start where it fits, whole words, no newlines. */
static void put_snippet(struct facet_strbuf *out, const char *text, size_t at)
{
    size_t start = at < SNIPPET / 2 ? 0 : at - SNIPPET / 2, length;

    while (start > 0 && text[start - 1] != ' ' && text[start - 1] != '\n') {
        start--;
    }
    length = strlen(text + start);
    if (length > SNIPPET) {
        length = SNIPPET;
        while (length > 0 && text[start + length] != ' ') {
            length--;
        }
    }
    facet_strbuf_puts(out, start > 0 ? "... " : "");
    for (size_t i = 0; i < length; i++) {
        char c = text[start + i];
        if (c != '\n' || (i > 0 && text[start + i - 1] != '\n')) {
            facet_strbuf_putc(out, c == '\n' ? ' ' : c);
        }
    }
    facet_strbuf_puts(out, text[start + length] != '\0' ? " ...\n" : "\n");
}

static void put_hit(struct facet_strbuf *out, json_t *list, const struct facet_hit *hit, bool shown)
{
    struct facet_strbuf snippet;

    facet_strbuf_init(&snippet);
    put_snippet(&snippet, hit->text, hit->at);
    if (shown) {
        facet_strbuf_printf(out,
                            "%s   %s%s%s\n    %s",
                            hit->item->name,
                            facet_item_machine_name[hit->item->machine],
                            hit->item->machine == FACET_ITEM_ANY ? "" : " ",
                            facet_item_kind_name[hit->item->kind],
                            facet_strbuf_text(&snippet));
    }
    if (snippet.length > 0) {
        snippet.text[--snippet.length] = '\0';
    }
    out->failed |= snippet.failed ||
                   json_array_append_new(list,
                                         json_pack("{s:s, s:s, s:s, s:s, s:i}",
                                                   "name",
                                                   hit->item->name,
                                                   "kind",
                                                   facet_item_kind_name[hit->item->kind],
                                                   "isa",
                                                   facet_item_machine_name[hit->item->machine],
                                                   "text",
                                                   facet_strbuf_text(&snippet),
                                                   "score",
                                                   (int)hit->score)) != 0;
    facet_strbuf_free(&snippet);
}

static int run_search(const struct cli_args *args, unsigned machine)
{
    struct facet_hit *hits = calloc(facet_item_count, sizeof *hits);
    json_t *list = json_array();
    struct facet_strbuf text;
    size_t count;

    if (hits == NULL || list == NULL) {
        free(hits);
        json_decref(list);
        return cli_bad(args, "out of memory");
    }
    count = facet_search(args->positional, (size_t)args->positional_count, machine, hits);
    facet_strbuf_init(&text);
    for (size_t i = 0; i < count; i++) {
        put_hit(&text, list, &hits[i], i < SHOWN_HITS);
    }
    free(hits);
    if (count == 0) {
        json_decref(list);
        facet_strbuf_free(&text);
        if (args->positional_count == 1) {
            return unknown(args, args->positional[0], machine);
        }
        return cli_bad(args, "no name or text of the contract has all of these words");
    }
    if (count > SHOWN_HITS) {
        facet_strbuf_printf(
            &text, "... and %zu more, all with --json\n", count - (size_t)SHOWN_HITS);
    }
    return write_out(args, json_pack("{s:o}", "hits", list), &text);
}

/* -- Cards ----------------------------------------------------------------------------------------
 */

static int
run_cards(const struct cli_args *args, unsigned machine, const struct facet_results *results)
{
    json_t *cards = json_array();
    struct facet_strbuf text;

    facet_strbuf_init(&text);
    for (int i = 0; i < args->positional_count; i++) {
        struct facet_card found[FACET_CARD_MAX];
        size_t count = facet_card_find(args->positional[i], machine, found);
        if (count == 0) {
            json_decref(cards);
            facet_strbuf_free(&text);
            return unknown(args, args->positional[i], machine);
        }
        for (size_t k = 0; k < count; k++) {
            if (args->json) {
                text.failed |=
                    json_array_append_new(cards, facet_card_record(&found[k], results)) != 0;
                continue;
            }
            if (text.length > 0) {
                facet_strbuf_puts(&text, "\n");
            }
            facet_card_text(&found[k], results, &text);
        }
    }
    return write_out(args, json_pack("{s:o}", "cards", cards), &text);
}

static int run(const struct cli_args *args)
{
    const char *isa = cli_value(args, "isa"), *folder = cli_value(args, "results");
    unsigned machine = FACET_ITEM_ANY;
    struct facet_results *results = NULL;
    struct facet_error err = {0};
    char beside[4096];
    int code;

    for (unsigned m = 0; isa != NULL && m < FACET_ITEM_ANY; m++) {
        machine = strcmp(isa, facet_item_machine_name[m]) == 0 ? m : machine;
    }
    if (cli_given(args, "list")) {
        return run_list(args, machine);
    }
    if (args->positional_count == 0) {
        return cli_bad(
            args,
            "which name? For example 'facet spec RT.BBOX'; 'facet spec --list' lists them all");
    }
    if (cli_given(args, "search")) {
        return run_search(args, machine);
    }
    facet_results_folder(beside, sizeof beside);
    if (facet_results_read(folder != NULL ? folder : beside, &results, &err) != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    if (folder != NULL && results == NULL) {
        return cli_bad(args, "%s: there is no such folder of test results", folder);
    }
    code = run_cards(args, machine, results);
    facet_results_free(results);
    return code;
}

const struct cli_command cli_cmd_spec = {
    .name = "spec",
    .summary = "show what the contract says about a name",
    .usage = "facet spec NAME... [--isa xphmg|tile|gfx12] [--results DIR] [--json]\n"
             "facet spec --search WORD... [--isa xphmg|tile|gfx12] [--json]\n"
             "facet spec --list [KIND...] [--isa xphmg|tile|gfx12] [--json]",
    .details =
        "Prints the reference card of a name: an instruction, a pseudo-instruction, a CSR (by name "
        "or number), a field CSR.FIELD, an operand INSTRUCTION.operand, a structure in memory, a "
        "member STRUCTURE.member, a requirement, a resolution, a section of the pages of behaviour "
        "(numeric.md 14), a word of the glossary, a document or an extension. A name that several "
        "of "
        "them share (APPLY0, VFMA, MODE, CULL_BACK) gives one card that lists them; a named value "
        "(TEXTURED, RSTATE.blend.alpha) gives the cards of what can have it. Case does not "
        "matter.\n"
        "\n"
        "Each card ends with the requirement and resolution rows that have to do with the name; "
        "requirements show the tests that name them and their last results, where there are any "
        "(`make test` leaves them beside the program).\n"
        "\n"
        "--search finds names whose texts have all the words, best first. --list lists the names "
        "of one or more kinds: instructions, aliases, csrs, fields, structures, members, "
        "requirements, resolutions, sections, words, documents, extensions. A name that both "
        "instruction "
        "sets have gives both cards; "
        "--isa chooses one. An unknown name is answered with the nearest ones and exit code 2.",
    .examples = "facet spec RT.BBOX\n"
                "facet spec CAP.PREC.MODE.ZMODE\n"
                "facet spec VFMA APPLY0 RSTATE.blend\n"
                "facet spec 0x7D0 --json\n"
                "facet spec CAP-137 R-CAP-09\n"
                "facet spec --search watertight edge\n"
                "facet spec --list csrs --isa tile\n",
    .options = options,
    .has_json = true,
    .run = run,
};
