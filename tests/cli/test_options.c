/* The argument parser against made-up command tables: every spelling that is accepted, every one
 * that must be refused, and what the refusal says. */
#include "base/nearest.h"
#include "command/frame.h"
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int run_nothing(const struct cli_args *args)
{
    (void)args;
    return CLI_OK;
}

static const struct cli_option options[] = {
    {"output", 'o', "FILE", "where to"},
    {"format", 'f', "elf|bin|hex", "what"},
    {"count", 'n', "N", "how many"},
    {"verbose", 'v', NULL, "say more"},
    {"all", 'a', NULL, "everything"},
    {NULL, 0, NULL, NULL},
};
static const struct cli_command plain = {.name = "as",
                                         .usage = "facet as FILE",
                                         .options = options,
                                         .run = run_nothing,
                                         .has_json = true,
                                         .operands = "FILE"};
static const struct cli_command build = {.name = "bvh build",
                                         .usage = "facet bvh build tri|box [FILE...]",
                                         .run = run_nothing,
                                         .operands = "tri|box [FILE...]"};
static const struct cli_command bvh = {.name = "bvh", .usage = "facet bvh", .run = run_nothing};
static const struct cli_command show = {
    .name = "spec show", .usage = "facet spec show", .run = run_nothing, .operands = "[NAME]"};

const struct cli_command *const cli_commands[] = {&plain, &build, &bvh, &show, NULL};

/* What the last call printed on standard error. */
static char complaint[1024];

struct parsed {
    enum cli_parse result;
    struct cli_args args;
    char *words[16];
    char text[512];
};

/* Parses the words of a line, parted by spaces. */
static struct parsed *parse(const struct cli_command *command, const char *line)
{
    static struct parsed p;
    FILE *capture = tmpfile();
    int saved = dup(STDERR_FILENO), count = 0;
    size_t got;

    memset(&p, 0, sizeof p);
    complaint[0] = '\0';
    if (!CHECK(capture != NULL && saved >= 0)) {
        return &p;
    }
    (void)snprintf(p.text, sizeof p.text, "%s", line);
    for (char *word = strtok(p.text, " "); word != NULL; word = strtok(NULL, " ")) {
        p.words[count++] = word;
    }
    (void)dup2(fileno(capture), STDERR_FILENO);
    p.result = cli_parse_args(command, p.words, count, &p.args);
    fflush(stderr);
    (void)dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(capture);
    got = fread(complaint, 1, sizeof complaint - 1, capture);
    complaint[got] = '\0';
    fclose(capture);
    return &p;
}

static void check_refused(const struct cli_command *command, const char *line, const char *says)
{
    struct parsed *p = parse(command, line);

    CHECK_MSG(p->result == CLI_PARSE_FAILED, "'%s' was accepted", line);
    CHECK_MSG(strstr(complaint, says) != NULL,
              "'%s': the complaint is \"%s\", expected \"%s\" in it",
              line,
              complaint,
              says);
}

TEST(long_options_take_their_value_either_way, "")
{
    struct parsed *p = parse(&plain, "--output a.elf x.s --format=bin");

    CHECK_EQ(p->result, CLI_PARSED);
    CHECK_STR(cli_value(&p->args, "output"), "a.elf");
    CHECK_STR(cli_value(&p->args, "format"), "bin");
    CHECK(!cli_given(&p->args, "count"));
    CHECK_EQ(p->args.positional_count, 1);
    CHECK_STR(p->args.positional[0], "x.s");
    p = parse(&plain, "x.s --output=");
    CHECK_EQ(p->result, CLI_PARSED);
    CHECK_STR(cli_value(&p->args, "output"), "");
    p = parse(&plain, "x.s --output=a=b");
    CHECK_STR(cli_value(&p->args, "output"), "a=b");
}

TEST(short_options_cluster_and_take_values, "")
{
    struct parsed *p = parse(&plain, "-va -oa.elf -f hex x.s");

    CHECK_EQ(p->result, CLI_PARSED);
    CHECK(cli_given(&p->args, "verbose"));
    CHECK(cli_given(&p->args, "all"));
    CHECK_STR(cli_value(&p->args, "output"), "a.elf");
    CHECK_STR(cli_value(&p->args, "format"), "hex");
    p = parse(&plain, "-avo a.elf x.s");
    CHECK_STR(cli_value(&p->args, "output"), "a.elf");
    CHECK(cli_given(&p->args, "all"));
}

TEST(the_last_value_wins_and_order_is_free, "")
{
    struct parsed *p = parse(&plain, "-o a x.s -o b");

    CHECK_STR(cli_value(&p->args, "output"), "b");
    CHECK_STR(p->args.positional[0], "x.s");
}

TEST(two_dashes_end_the_options_and_one_is_an_operand, "")
{
    struct parsed *p = parse(&plain, "-v -- --all");

    CHECK_EQ(p->result, CLI_PARSED);
    CHECK(!cli_given(&p->args, "all"));
    CHECK_STR(p->args.positional[0], "--all");
    p = parse(&plain, "-");
    CHECK_EQ(p->result, CLI_PARSED);
    CHECK_STR(p->args.positional[0], "-");
    p = parse(&plain, "x.s -o -");
    CHECK_STR(cli_value(&p->args, "output"), "-");
}

TEST(common_options_come_by_themselves, "")
{
    struct parsed *p = parse(&plain, "x.s --json -q");

    CHECK_EQ(p->result, CLI_PARSED);
    CHECK(p->args.json && p->args.quiet);
    CHECK_EQ(parse(&plain, "--help")->result, CLI_WANTS_HELP);
    CHECK_EQ(parse(&plain, "-h")->result, CLI_WANTS_HELP);
    p = parse(&plain, "x.s");
    CHECK(!p->args.json && !p->args.quiet);
    check_refused(&bvh, "--json", "unknown option --json");
}

TEST(wrong_options_are_refused, "")
{
    check_refused(&plain, "x.s --ouput=3", "unknown option --ouput; did you mean --output?");
    check_refused(&plain, "x.s --verb", "did you mean --verbose?");
    check_refused(&plain, "x.s --zzzzzz", "see 'facet as --help'");
    check_refused(&plain, "x.s -z", "unknown option -z");
    check_refused(&plain, "x.s -vz", "unknown option -z");
    check_refused(&plain, "x.s --verbose=1", "--verbose takes no value");
    check_refused(&plain, "x.s --output", "--output needs a value: FILE");
    check_refused(&plain, "x.s -vo", "-o needs a value: FILE");
    check_refused(&plain, "x.s --format=ELF", "--format is 'ELF'; expected one of elf|bin|hex");
    check_refused(&plain, "x.s --format=el", "expected one of elf|bin|hex");
    check_refused(&plain, "x.s --format=elf|bin", "expected one of elf|bin|hex");
    check_refused(&plain, "x.s --format=", "expected one of elf|bin|hex");
    check_refused(&plain, "x.s -fraw", "--format is 'raw'");
}

TEST(operands_are_counted_and_chosen, "")
{
    struct parsed *p;

    check_refused(&plain, "", "FILE is missing");
    check_refused(&plain, "a b", "unexpected argument 'b'");
    check_refused(&build, "", "tri|box is missing");
    check_refused(&build, "quad", "'quad' where tri|box was expected");
    CHECK_EQ(parse(&build, "tri")->result, CLI_PARSED);
    p = parse(&build, "box a b c d");
    CHECK_EQ(p->result, CLI_PARSED);
    CHECK_EQ(p->args.positional_count, 5);
    CHECK_EQ(parse(&show, "")->result, CLI_PARSED);
    CHECK_EQ(parse(&show, "x")->result, CLI_PARSED);
    check_refused(&show, "x y", "unexpected argument 'y'");
    CHECK_EQ(parse(&bvh, "a b c")->result, CLI_PARSED);
}

static bool number(const char *line, uint64_t lo, uint64_t hi, uint64_t *out)
{
    struct parsed *p = parse(&plain, line);
    int saved = dup(STDERR_FILENO);
    FILE *sink = fopen("/dev/null", "w");
    bool ok;

    (void)dup2(fileno(sink), STDERR_FILENO);
    ok = cli_number(&p->args, "count", lo, hi, out);
    (void)dup2(saved, STDERR_FILENO);
    close(saved);
    fclose(sink);
    return ok;
}

TEST(numbers_are_decimal_or_hex_inside_their_range, "")
{
    static const char *const bad[] = {"x --count=",
                                      "x --count=-1",
                                      "x --count=+1",
                                      "x --count=1k",
                                      "x --count=0x",
                                      "x --count=0xg",
                                      "x --count=1.5",
                                      "x --count=ten",
                                      "x --count=0x-1",
                                      "x --count=1e3",
                                      "x --count=101",
                                      "x --count=4",
                                      "x --count=18446744073709551621"};
    uint64_t value = 7;

    CHECK(number("x", 5, 100, &value));
    CHECK_EQ(value, 7);
    CHECK(number("x --count=5", 5, 100, &value));
    CHECK_EQ(value, 5);
    CHECK(number("x --count=0x64", 5, 100, &value));
    CHECK_EQ(value, 100);
    CHECK(number("x --count=010", 5, 100, &value));
    CHECK_EQ(value, 10);
    CHECK(number("x --count=18446744073709551615", 0, UINT64_MAX, &value));
    CHECK_EQ(value, UINT64_MAX);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_MSG(!number(bad[i], 5, 100, &value), "'%s' was accepted", bad[i]);
    }
    CHECK_EQ(value, UINT64_MAX);
}

static bool real(const char *line, double *out)
{
    struct parsed *p = parse(&plain, line);
    int saved = dup(STDERR_FILENO);
    FILE *sink = fopen("/dev/null", "w");
    bool ok;

    (void)dup2(fileno(sink), STDERR_FILENO);
    ok = cli_real(&p->args, "count", -1, 2, out);
    (void)dup2(saved, STDERR_FILENO);
    close(saved);
    fclose(sink);
    return ok;
}

TEST(fractions_are_finite_and_inside_their_range, "")
{
    double value = 0.25;

    CHECK(real("x", &value) && value == 0.25);
    CHECK(real("x -n 1.5", &value) && value == 1.5);
    CHECK(real("x -n -1e0", &value) && value == -1);
    CHECK(!real("x -n nan", &value) && !real("x -n inf", &value) && !real("x -n 2.1", &value));
    CHECK(!real("x --count=", &value) && !real("x -n 1x", &value));
    CHECK(value == -1);
}

TEST(the_longest_name_is_found, "")
{
    char *two[] = {(char *)"bvh", (char *)"build", (char *)"x"};
    char *one[] = {(char *)"bvh", (char *)"buil"};
    char *group[] = {(char *)"spec", (char *)"nothing"};
    int used;

    CHECK(cli_find(two, 3, &used) == &build);
    CHECK_EQ(used, 2);
    CHECK(cli_find(one, 2, &used) == &bvh);
    CHECK_EQ(used, 1);
    CHECK(cli_find(group, 2, &used) == NULL);
    CHECK(cli_is_group("spec") && !cli_is_group("as") && !cli_is_group("spe"));
}

TEST(the_nearest_name_is_near, "")
{
    struct facet_nearest near = facet_nearest_to("coverge", 7);

    facet_nearest_offer(&near, "completion", 10);
    CHECK(near.best == NULL);
    facet_nearest_offer(&near, "coverage", 8);
    CHECK_STR(near.best, "coverage");
    near = facet_nearest_to("comp", 4);
    facet_nearest_offer(&near, "completion", 10); /* an abbreviation */
    CHECK_STR(near.best, "completion");
    near = facet_nearest_to("x", 1);
    facet_nearest_offer(&near, "as", 2);
    facet_nearest_offer(&near, "xphmg", 5);
    CHECK(near.best == NULL);
}

/* Groups of options that commands share may add up to more than there is room for. */
TEST(a_command_with_too_many_options_is_refused, "")
{
    struct cli_option many[CLI_MAX_OPTIONS + 2] = {{NULL, 0, NULL, NULL}};
    struct cli_command command = plain;

    for (int i = 0; i < CLI_MAX_OPTIONS; i++) {
        many[i] = (struct cli_option){"same", 0, NULL, "one of many"};
    }
    command.options = many;
    CHECK(parse(&command, "x.s")->result == CLI_PARSED);
    many[CLI_MAX_OPTIONS] = many[0];
    check_refused(&command, "x.s", "more than 64 options");
}
