/* See asm_options.h. */
#include "session/asm_options.h"
#include "command/output.h"

#include "assembler/lex.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NAME or NAME=VALUE; false after a complaint. */
static bool
add_define(struct session_asm *own, size_t n, const struct cli_args *args, const char *text)
{
    const char *equals = strchr(text, '=');
    size_t length = equals != NULL ? (size_t)(equals - text) : strlen(text);
    int64_t value = 1;
    char *end;

    if (length == 0 || !facet_lex_is(text[0], FACET_LEX_START) ||
        (size_t)(facet_lex_name(text) - text) != length || (length == 1 && text[0] == '.')) {
        (void)cli_bad(args, "-D is '%s'; expected NAME or NAME=NUMBER, NAME a symbol", text);
        return false;
    }
    if (equals != NULL) {
        bool negative = equals[1] == '-';
        const char *digits = equals + 1 + negative;

        errno = 0;
        value = (int64_t)strtoull(digits, &end, 0);
        if (!isdigit((unsigned char)digits[0]) || *end != '\0' || errno != 0) {
            (void)cli_bad(args, "-D is '%s'; expected a number after the =", text);
            return false;
        }
        value = negative ? (int64_t)(0 - (uint64_t)value) : value;
    }
    own->names[n] = strndup(text, length);
    if (own->names[n] == NULL) {
        (void)cli_bad(args, "out of memory");
        return false;
    }
    own->defines[n] = (struct facet_asm_define){own->names[n], value};
    return true;
}

/* The folder of the path, "." for a name alone; false when there is none. */
static bool folder_of(const char *path, char *folder, size_t size)
{
    const char *slash = strrchr(path, '/');
    int length = slash == NULL ? 1 : slash == path ? 1 : (int)(slash - path);

    return strcmp(path, "-") != 0 &&
           snprintf(folder, size, "%.*s", length, slash == NULL ? "." : path) < (int)size;
}

bool session_asm_read(struct session_asm *own,
                      const struct cli_args *args,
                      const char *path,
                      struct facet_asm_options *options)
{
    const char *text;
    int n;

    *own = (struct session_asm){.beside = ""};
    options->file = strcmp(path, "-") == 0 ? "standard input" : path;
    options->defines = own->defines;
    options->include_folders = own->folders;
    if (folder_of(path, own->beside, sizeof own->beside)) {
        own->folders[options->include_count++] = own->beside;
    }
    for (n = 0; (text = cli_nth_value(args, "include", n)) != NULL; n++) {
        own->folders[options->include_count++] = text;
    }
    for (n = 0; (text = cli_nth_value(args, "define", n)) != NULL; n++) {
        if (!add_define(own, (size_t)n, args, text)) {
            return false;
        }
        options->define_count++;
    }
    return true;
}

void session_asm_free(struct session_asm *own)
{
    for (size_t i = 0; i < CLI_MAX_VALUES; i++) {
        free(own->names[i]);
        own->names[i] = NULL;
    }
}
