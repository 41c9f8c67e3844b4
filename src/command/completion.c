/* `facet completion`: a completion script made from the command tables. This one is plain bash and
 * needs no helper library; it looks up the command, then offers option names, the values of a
 * choice list, files, folders or command names. */
#include "command/completion.h"

#include <string.h>

/* The first word of a name, when no earlier command has the same one. */
static void put_first_words(void)
{
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        size_t length = strcspn(cli_commands[i]->name, " ");
        bool seen = false;

        for (size_t j = 0; j < i && !seen; j++) {
            seen = strcspn(cli_commands[j]->name, " ") == length &&
                   strncmp(cli_commands[i]->name, cli_commands[j]->name, length) == 0;
        }
        if (!seen) {
            printf(" %.*s", (int)length, cli_commands[i]->name);
        }
    }
}

enum cli_completion_kind
cli_completion_of(const char *argument, size_t length, char words[CLI_COMPLETION_WORDS])
{
    static const char *const files[] = {
        "OUT", "SCENE", "IMAGE", "PROGRAM", "KERNEL", "A", "B", "COMMANDS.json"};
    char text[CLI_COMPLETION_WORDS];
    char *dots;

    while (length > 0 && argument[0] == '[') {
        argument++;
        length -= 2;
    }
    (void)snprintf(text, sizeof text, "%.*s", (int)length, argument);
    words[0] = '\0';
    dots = strstr(text, "...");
    if (dots != NULL) {
        *dots = '\0';
    }
    if (cli_is_choice_list(text)) {
        for (size_t i = 0; i <= strlen(text); i++) {
            words[i] = text[i] == '|' ? ' ' : text[i];
        }
        return CLI_COMPLETE_WORDS;
    }
    if (strcmp(text, "COMMAND") == 0) {
        return CLI_COMPLETE_COMMANDS;
    }
    if (strcmp(text, "DIR") == 0) {
        return CLI_COMPLETE_FOLDERS;
    }
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (strcmp(text, files[i]) == 0) {
            return CLI_COMPLETE_FILES;
        }
    }
    return strstr(text, "FILE") != NULL ? CLI_COMPLETE_FILES : CLI_COMPLETE_NOTHING;
}

/* A choice list as words; "@files", "@folders", "@commands" for what the script looks up. */
static void put_values(const char *argument, size_t length)
{
    static const char *const lookups[] = {[CLI_COMPLETE_NOTHING] = "",
                                          [CLI_COMPLETE_COMMANDS] = "@commands",
                                          [CLI_COMPLETE_FOLDERS] = "@folders",
                                          [CLI_COMPLETE_FILES] = "@files"};
    char words[CLI_COMPLETION_WORDS];
    enum cli_completion_kind kind = cli_completion_of(argument, length, words);

    fputs(kind == CLI_COMPLETE_WORDS ? words : lookups[kind], stdout);
}

static void put_command(const struct cli_command *command)
{
    const struct cli_option *option;
    const char *item;
    size_t length;

    printf("    '%s')\n        options='", command->name);
    for (size_t n = 0; (option = cli_option_at(command, n)) != NULL; n++) {
        printf("%s--%s", n > 0 ? " " : "", option->name);
    }
    printf("'\n");
    for (size_t n = 0; (option = cli_option_at(command, n)) != NULL; n++) {
        if (option->argument == NULL) {
            continue;
        }
        printf("        values[--%s]='", option->name);
        put_values(option->argument, strlen(option->argument));
        printf("'\n");
        if (option->letter != 0) {
            printf("        values[-%c]=\"${values[--%s]}\"\n", option->letter, option->name);
        }
    }
    if (command->operands == NULL) {
        puts("        operands=('@files' '...')");
    } else if (command->operands[0] != '\0') {
        fputs("        operands=(", stdout);
        for (size_t n = 0; cli_list_item(command->operands, ' ', n, &item, &length); n++) {
            printf("%s'", n > 0 ? " " : "");
            put_values(item, length);
            putchar('\'');
            if (cli_is_repeated(item, length)) {
                fputs(" '...'", stdout);
            }
        }
        puts(")");
    }
    puts("        ;;");
}

static void put_groups(void)
{
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        const char *space = strchr(cli_commands[i]->name, ' ');

        if (space != NULL) {
            printf("    groups['%.*s']+=' %s'\n",
                   (int)(space - cli_commands[i]->name),
                   cli_commands[i]->name,
                   space + 1);
        }
    }
}

static void completion_bash(void)
{
    fputs("# bash completion of facet, printed by `facet completion bash`\n"
          "_facet()\n"
          "{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} depth=2\n"
          "    local options='' offer='' word previous='' position=0 i\n"
          "    local -A values=() groups=()\n"
          "    local -a operands=()\n"
          "    local commands='",
          stdout);
    put_first_words();
    fputs(" --help --version'\n", stdout);
    put_groups();
    fputs("    COMPREPLY=()\n"
          "    if ((COMP_CWORD == 1)); then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$commands\" -- \"$cur\")\n"
          "        return\n"
          "    fi\n"
          "    if [[ -n ${groups[$command]:-} ]]; then\n"
          "        if ((COMP_CWORD == 2)); then\n"
          "            mapfile -t COMPREPLY < <(compgen -W \"${groups[$command]} --help\" -- "
          "\"$cur\")\n"
          "            return\n"
          "        fi\n"
          "        command=\"$command ${COMP_WORDS[2]}\" depth=3\n"
          "    fi\n"
          "    case \"$command\" in\n",
          stdout);
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        put_command(cli_commands[i]);
    }
    fputs(
        "    *) return ;;\n"
        "    esac\n"
        "    # Which operand this is: words that are neither options nor their values.\n"
        "    for ((i = depth; i < COMP_CWORD; i++)); do\n"
        "        word=${COMP_WORDS[i]}\n"
        "        if [[ $word == '=' ]]; then\n"
        "            continue # --name=value: bash splits it into three words\n"
        "        elif [[ -n $previous ]]; then\n"
        "            previous=''\n"
        "        elif [[ $word == -?* ]]; then\n"
        "            [[ -n ${values[$word]+set} ]] && previous=$word\n"
        "        else\n"
        "            position=$((position + 1))\n"
        "        fi\n"
        "    done\n"
        "    [[ $cur == '=' ]] && cur=''\n"
        "    if [[ -n $previous ]]; then\n"
        "        offer=${values[$previous]}\n"
        "    elif [[ $cur == -* ]]; then\n"
        "        offer=$options\n"
        "    else\n"
        "        offer=${operands[position]:-}\n"
        "        if [[ ${operands[-1]:-} == '...' ]] && ((position >= ${#operands[@]} - 1)); then\n"
        "            offer=${operands[-2]}\n"
        "        fi\n"
        "        [[ -z $offer ]] && offer=$options\n"
        "    fi\n"
        "    case \"$offer\" in\n"
        "    @files) compopt -o filenames 2>/dev/null\n"
        "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
        "    @folders) compopt -o filenames 2>/dev/null\n"
        "        mapfile -t COMPREPLY < <(compgen -d -- \"$cur\") ;;\n"
        "    @commands) mapfile -t COMPREPLY < <(compgen -W \"$commands\" -- \"$cur\") ;;\n"
        "    *) mapfile -t COMPREPLY < <(compgen -W \"$offer\" -- \"$cur\") ;;\n"
        "    esac\n"
        "}\n"
        "complete -F _facet facet\n",
        stdout);
}

static int run_completion(const struct cli_args *args)
{
    switch (args->positional[0][0]) { /* one of the operands below */
    case 'z':
        cli_completion_zsh();
        break;
    case 'f':
        cli_completion_fish();
        break;
    default:
        completion_bash();
    }
    return CLI_OK;
}

const struct cli_command cli_cmd_completion = {
    .name = "completion",
    .summary = "print the shell completion script",
    .usage = "facet completion bash|zsh|fish",
    .details = "`make install` puts the scripts where the shells find them. To try one in the "
               "running shell:\n\n  source <(facet completion bash)\n  source <(facet completion "
               "zsh)\n  facet completion fish | source",
    .examples = "facet completion bash\nfacet completion zsh\nfacet completion fish",
    .run = run_completion,
    .operands = "bash|zsh|fish",
};
