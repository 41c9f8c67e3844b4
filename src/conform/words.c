/* Signatures, see suite.h. */
#include "conform/suite.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIGNATURE_LIMIT = 64 << 20, DIGITS = 8 };

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

enum facet_status conform_words_parse(const char *name,
                                      const char *text,
                                      size_t size,
                                      struct conform_words *out,
                                      struct facet_error *err)
{
    uint64_t line = 1;

    *out = (struct conform_words){malloc((size / DIGITS + 1) * sizeof *out->word), 0};
    if (out->word == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a signature");
    }
    for (size_t i = 0; i < size;) {
        size_t digits = 0;

        if (is_blank(text[i])) {
            line += text[i++] == '\n';
            continue;
        }
        if (text[i] == '/' && i + 1 < size && text[i + 1] == '/') {
            while (i < size && text[i] != '\n') {
                i++;
            }
            continue;
        }
        while (i + digits < size && digit(text[i + digits]) >= 0) {
            digits++;
        }
        if (digits == 0 || digits % DIGITS != 0 ||
            (i + digits < size && !is_blank(text[i + digits]))) {
            return facet_fail(err,
                              FACET_ERR_INPUT,
                              line,
                              "%s:%llu: expected words of 8, 16 or 32 hexadecimal digits",
                              name,
                              (unsigned long long)line);
        }
        for (size_t at = digits; at > 0; at -= DIGITS) { /* the lowest word stands last */
            uint32_t word = 0;

            for (size_t k = at - DIGITS; k < at; k++) {
                word = word << 4 | (uint32_t)digit(text[i + k]);
            }
            out->word[out->count++] = word;
        }
        i += digits;
    }
    return FACET_OK;
}

enum facet_status
conform_words_read(const char *path, struct conform_words *out, struct facet_error *err)
{
    struct facet_bytes bytes = {0};
    enum facet_status status = facet_file_read(path, SIGNATURE_LIMIT, &bytes, err);

    *out = (struct conform_words){0};
    if (status == FACET_OK) {
        status = conform_words_parse(path, (const char *)bytes.data, bytes.size, out, err);
    }
    free(bytes.data);
    return status;
}

void conform_words_label(const char *path, size_t n, char *label, size_t size)
{
    struct facet_bytes bytes = {0};
    const char *line;

    label[0] = '\0';
    if (facet_file_read(path, SIGNATURE_LIMIT, &bytes, NULL) != FACET_OK) {
        return;
    }
    line = (const char *)bytes.data;
    for (size_t i = 0; i < n && line != NULL; i++) {
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    if (line != NULL && strncmp(line + strcspn(line, "/\n"), "// ", 3) == 0) {
        line += strcspn(line, "/\n") + 3;
        (void)snprintf(label, size, "%.*s", (int)strcspn(line, "\n"), line);
    }
    free(bytes.data);
}
