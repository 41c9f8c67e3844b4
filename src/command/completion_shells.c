/* The completion scripts of zsh and fish, made from the command tables. */
#include "command/completion.h"

#include <string.h>

/* Text between single quotes, with `special` characters after a backslash. A quote is left and
 * entered again, which both shells understand. */
static void put_quoted(const char *text, const char *special)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs("'\\''", stdout);
            continue;
        }
        if (strchr(special, *text) != NULL) {
            putchar('\\');
        }
        putchar(*text);
    }
}

/* ---- zsh ---- */

/* "label:action" of _arguments. */
static void put_zsh_action(const char *argument, size_t length)
{
    char words[CLI_COMPLETION_WORDS], label[CLI_COMPLETION_WORDS];
    enum cli_completion_kind kind = cli_completion_of(argument, length, words);

    (void)snprintf(label, sizeof label, "%.*s", (int)length, argument);
    put_quoted(kind == CLI_COMPLETE_WORDS ? "value" : label, ":\\[]");
    putchar(':');
    switch (kind) {
    case CLI_COMPLETE_WORDS:
        printf("(%s)", words);
        break;
    case CLI_COMPLETE_COMMANDS:
        fputs("($commands)", stdout);
        break;
    case CLI_COMPLETE_FOLDERS:
        fputs("_files -/", stdout);
        break;
    case CLI_COMPLETE_FILES:
        fputs("_files", stdout);
        break;
    case CLI_COMPLETE_NOTHING: /* an empty action would keep zsh from offering options here */
        fputs("_default", stdout);
        break;
    }
}

static void put_zsh_option(const struct cli_option *option, const char *dashes, const char *name)
{
    printf(" \\\n            '*%s%s[", dashes, name);
    put_quoted(cli_option_help(option), ":\\[]");
    putchar(']');
    if (option->argument != NULL) {
        putchar(':');
        put_zsh_action(option->argument, strlen(option->argument));
    }
    putchar('\'');
}

static void put_zsh_command(const struct cli_command *command)
{
    const char *operands = command->operands != NULL ? command->operands : "FILE...";
    const struct cli_option *option;
    const char *item;
    size_t length;

    printf("    '%s')\n        _arguments -s", command->name);
    for (size_t n = 0; (option = cli_option_at(command, n)) != NULL; n++) {
        const char letter[2] = {option->letter, '\0'};

        put_zsh_option(option, "--", option->name);
        if (option->letter != 0) {
            put_zsh_option(option, "-", letter);
        }
    }
    for (size_t n = 0; operands[0] != '\0' && cli_list_item(operands, ' ', n, &item, &length);
         n++) {
        fputs(cli_is_repeated(item, length) ? " \\\n            '*:" : " \\\n            ':",
              stdout);
        put_zsh_action(item, length);
        putchar('\'');
    }
    puts(" ;;");
}

void cli_completion_zsh(void)
{
    fputs("#compdef facet\n"
          "# zsh completion of facet, printed by `facet completion zsh`\n"
          "_facet()\n"
          "{\n"
          "    local command=$words[2] depth=2\n"
          "    local -aU commands\n"
          "    local -A groups\n",
          stdout);
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        const char *name = cli_commands[i]->name, *space = strchr(name, ' ');

        printf("    commands+=(%.*s)\n", (int)strcspn(name, " "), name);
        if (space != NULL) {
            printf("    groups[%.*s]+=' %s'\n", (int)(space - name), name, space + 1);
        }
    }
    fputs("    if ((CURRENT == 2)); then\n"
          "        compadd -- $commands --help --version\n"
          "        return\n"
          "    fi\n"
          "    if [[ -n ${groups[$command]:-} ]]; then\n"
          "        if ((CURRENT == 3)); then\n"
          "            compadd -- ${=groups[$command]} --help\n"
          "            return\n"
          "        fi\n"
          "        command=\"$command $words[3]\" depth=3\n"
          "    fi\n"
          "    words=(facet \"${(@)words[depth + 1, -1]}\")\n"
          "    ((CURRENT -= depth - 1))\n"
          "    case $command in\n",
          stdout);
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        put_zsh_command(cli_commands[i]);
    }
    fputs("    esac\n"
          "}\n"
          "# Called by the completion system when it found this file, else sourced by hand.\n"
          "if [[ ${funcstack[1]:-} == _facet ]]; then\n"
          "    _facet \"$@\"\n"
          "else\n"
          "    compdef _facet facet\n"
          "fi\n",
          stdout);
}

/* ---- fish ---- */

/* What is offered after an option or as an operand, -f where files are not. */
static void put_fish_action(const char *argument, size_t length)
{
    char words[CLI_COMPLETION_WORDS];

    switch (cli_completion_of(argument, length, words)) {
    case CLI_COMPLETE_WORDS:
        printf(" -f -a '%s'", words);
        break;
    case CLI_COMPLETE_COMMANDS:
        fputs(" -f -a '(__facet_commands)'", stdout);
        break;
    case CLI_COMPLETE_FOLDERS:
        fputs(" -f -a '(__fish_complete_directories)'", stdout);
        break;
    case CLI_COMPLETE_FILES:
        fputs(" -F", stdout);
        break;
    case CLI_COMPLETE_NOTHING:
        fputs(" -f", stdout);
        break;
    }
}

static void put_fish_command(const struct cli_command *command)
{
    const char *operands = command->operands != NULL ? command->operands : "FILE...";
    const char *name = command->name, *space = strchr(name, ' '), *item;
    const struct cli_option *option;
    size_t length;

    if (space != NULL) {
        printf("complete -c facet -f -n '__facet_ends %.*s' -a %s -d '",
               (int)(space - name),
               name,
               space + 1);
    } else {
        printf("complete -c facet -f -n '__facet_ends' -a %s -d '", name);
    }
    put_quoted(command->summary, "\\");
    puts("'");
    for (size_t n = 0; (option = cli_option_at(command, n)) != NULL; n++) {
        printf("complete -c facet -n '__facet_starts %s' -l %s", name, option->name);
        if (option->letter != 0) {
            printf(" -s %c", option->letter);
        }
        if (option->argument != NULL) {
            fputs(" -r", stdout);
            put_fish_action(option->argument, strlen(option->argument));
        }
        fputs(" -d '", stdout);
        put_quoted(cli_option_help(option), "\\");
        puts("'");
    }
    for (size_t n = 0; operands[0] != '\0' && cli_list_item(operands, ' ', n, &item, &length);
         n++) {
        printf("complete -c facet -n '__facet_starts %s'", name);
        put_fish_action(item, length);
        putchar('\n');
    }
}

void cli_completion_fish(void)
{
    fputs("# fish completion of facet, printed by `facet completion fish`\n"
          "function __facet_starts # whether the line starts with these words\n"
          "    set -l words (commandline -opc)\n"
          "    set -l last (math (count $argv) + 1)\n"
          "    test (count $words) -ge $last; and test \"$words[2..$last]\" = \"$argv\"\n"
          "end\n"
          "function __facet_ends # whether these words are all that was written\n"
          "    set -l words (commandline -opc)\n"
          "    set -e words[1]\n"
          "    test \"$words\" = \"$argv\"\n"
          "end\n"
          "function __facet_commands\n"
          "    printf '%s\\n'",
          stdout);
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        const char *name = cli_commands[i]->name;
        size_t length = strcspn(name, " ");

        if (i == 0 || strncmp(name, cli_commands[i - 1]->name, length + 1) != 0) {
            printf(" %.*s", (int)length, name);
        }
    }
    fputs("\nend\ncomplete -c facet -f\n", stdout);
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        const char *name = cli_commands[i]->name;
        size_t length = strcspn(name, " ");

        if (name[length] == ' ' && strncmp(name, cli_commands[i - 1]->name, length + 1) != 0) {
            printf("complete -c facet -f -n '__facet_ends' -a %.*s\n", (int)length, name);
        }
        put_fish_command(cli_commands[i]);
    }
}
