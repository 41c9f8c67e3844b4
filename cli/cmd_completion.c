/* `facet completion bash`: a completion script made from the command tables. It is plain bash and
 * needs no helper library; it looks up the command, then offers option names, the values of a
 * choice list, files, folders or command names. */
#include "cli/frame.h"

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

/* A choice list as words; "@files", "@folders", "@commands" for what the script looks up. */
static void put_values(const char *argument, size_t length)
{
    char text[256];
    char *dots;

    while (length > 0 && argument[0] == '[') {
        argument++;
        length -= 2;
    }
    (void)snprintf(text, sizeof text, "%.*s", (int)length, argument);
    dots = strstr(text, "...");
    if (dots != NULL) {
        *dots = '\0';
    }
    if (cli_is_choice_list(text)) {
        for (char *p = text; *p != '\0'; p++) {
            putchar(*p == '|' ? ' ' : *p);
        }
    } else if (strcmp(text, "COMMAND") == 0) {
        fputs("@commands", stdout);
    } else if (strcmp(text, "DIR") == 0) {
        fputs("@folders", stdout);
    } else if (strstr(text, "FILE") != NULL || strcmp(text, "OUT") == 0) {
        fputs("@files", stdout);
    }
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

static int run_completion(const struct cli_args *args)
{
    (void)args;
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
        "    # Which operand stands here: words that are neither options nor their values.\n"
        "    for ((i = depth; i < COMP_CWORD; i++)); do\n"
        "        word=${COMP_WORDS[i]}\n"
        "        if [[ $word == '=' ]]; then\n"
        "            continue # --name=value: bash parts it into three words\n"
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
    return CLI_OK;
}

const struct cli_command cli_cmd_completion = {
    .name = "completion",
    .summary = "print the shell completion script",
    .usage = "facet completion bash",
    .details = "`make install` puts the script into share/bash-completion/completions. To try it "
               "in the running shell:\n\n  source <(facet completion bash)",
    .examples = "facet completion bash",
    .run = run_completion,
    .operands = "bash",
};
