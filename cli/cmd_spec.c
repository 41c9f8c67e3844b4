/* `facet spec`: reference cards of every name of the contract, lists of the names, and a search in
 * the texts, out of the tables that decoder and assembler use. */
#include "command/command.h"

#include "cards/card.h"
#include "cards/list.h"
#include "cards/search.h"
#include "cards/suggest.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN_HITS = 20 };

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

static int unknown(const struct cli_args *args, const char *name, unsigned machine)
{
    struct facet_strbuf text;
    int code;

    facet_strbuf_init(&text);
    facet_card_suggest(name, machine, &text);
    code = cli_bad(args, "%s", text.failed ? "out of memory" : facet_strbuf_text(&text));
    facet_strbuf_free(&text);
    return code;
}

/* -- Lists ----------------------------------------------------------------------------------------
 */

static int run_list(const struct cli_args *args, unsigned machine)
{
    bool chosen[FACET_ITEM_KINDS] = {false}, all = args->positional_count == 0;
    char name[FACET_CARD_LIST_NAME];
    struct facet_strbuf text;
    json_t *json;

    for (int i = 0; i < args->positional_count; i++) {
        bool known = strcmp(args->positional[i], "all") == 0;

        all = all || known;
        for (unsigned k = 0; k < FACET_ITEM_KINDS && !known; k++) {
            facet_card_list_name((enum facet_item_kind)k, name);
            known = strcmp(args->positional[i], name) == 0;
            chosen[k] = chosen[k] || known;
        }
        if (!known) {
            return cli_bad(args, "unknown kind '%s'; see 'facet spec --help'", args->positional[i]);
        }
    }
    facet_strbuf_init(&text);
    json = json_object();
    for (unsigned k = 0; k < FACET_ITEM_KINDS; k++) {
        if ((all || chosen[k]) && args->json) {
            facet_card_list_name((enum facet_item_kind)k, name);
            (void)json_object_set_new(
                json, name, facet_card_list_json((enum facet_item_kind)k, machine));
        } else if (all || chosen[k]) {
            facet_card_list_text((enum facet_item_kind)k, machine, &text);
        }
    }
    return write_out(args, json, &text);
}

/* -- Search ---------------------------------------------------------------------------------------
 */

static json_t *hit_json(const struct facet_hit *hit, const char *text)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:i}",
                     "name",
                     hit->item->name,
                     "kind",
                     facet_item_kind_name[hit->item->kind],
                     "isa",
                     facet_item_machine_name[hit->item->machine],
                     "text",
                     text,
                     "score",
                     (int)hit->score);
}

static void put_hit(struct facet_strbuf *out, json_t *list, const struct facet_hit *hit, bool shown)
{
    struct facet_strbuf snippet;

    facet_strbuf_init(&snippet);
    facet_search_text(hit, &snippet);
    if (shown) {
        facet_strbuf_printf(out,
                            "%s   %s%s%s\n    %s\n",
                            hit->item->name,
                            facet_item_machine_name[hit->item->machine],
                            hit->item->machine == FACET_ITEM_ANY ? "" : " ",
                            facet_item_kind_name[hit->item->kind],
                            facet_strbuf_text(&snippet));
    }
    out->failed |= snippet.failed ||
                   json_array_append_new(list, hit_json(hit, facet_strbuf_text(&snippet))) != 0;
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
        return cli_bad(args,
                       "NAME is missing; for example 'facet spec RT.BBOX'; 'facet spec --list' "
                       "lists all names");
    }
    if (cli_given(args, "search")) {
        return run_search(args, machine);
    }
    facet_results_folder(beside, sizeof beside);
    if (facet_results_read(folder != NULL ? folder : beside, &results, &err) != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    if (folder != NULL && results == NULL) {
        return cli_bad(args, "%s: no such folder of test results", folder);
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
        "Prints the reference card of a name: an instruction, a pseudo-instruction, a CSR (by "
        "name or number), a field CSR.FIELD, an operand INSTRUCTION.operand, a structure in "
        "memory, a member STRUCTURE.member, a requirement, a resolution, a section of the pages "
        "of behaviour (numeric.md 14), a word of the glossary, a document or an extension. A "
        "name that several of them share (APPLY0, VFMA, MODE, CULL_BACK) gives one card that "
        "lists them; a named value (TEXTURED, RSTATE.blend.alpha) gives the cards of what can "
        "have it. Case does not matter.\n\n"
        "Each card ends with the requirement and resolution rows that concern the name; "
        "requirements show the tests that name them and their last results, where there are any "
        "(`make test` leaves them next to the program).\n\n"
        "--search finds names whose texts have all the words, best first. --list lists the names "
        "of one or more kinds: instructions, aliases, csrs, fields, structures, members, "
        "requirements, resolutions, sections, words, documents, extensions. A name that both "
        "instruction sets have gives both cards; --isa chooses one. For an unknown name the "
        "nearest ones are suggested, with exit code 2.",
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
