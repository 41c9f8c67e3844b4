/* See list.h. */
#include "json/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t line_of(const struct facet_json_list *s, size_t at)
{
    uint64_t line = 1;

    for (size_t i = 0; i < at && i < s->size; i++) {
        line += s->text[i] == '\n';
    }
    return line;
}

static enum facet_status
complain(const struct facet_json_list *s, const char *what, struct facet_error *err)
{
    uint64_t line = line_of(s, s->at);

    return facet_fail(
        err, FACET_ERR_INPUT, line, "%s:%llu: %s", s->name, (unsigned long long)line, what);
}

static void skip_space(struct facet_json_list *s)
{
    while (s->at < s->size && strchr(" \t\r\n", s->text[s->at]) != NULL && s->text[s->at] != '\0') {
        s->at++;
    }
}

/* Past the closing quote; false at the end of the text. */
static bool skip_string(struct facet_json_list *s)
{
    for (s->at++; s->at < s->size; s->at++) {
        if (s->text[s->at] == '\\') {
            s->at++;
        } else if (s->text[s->at] == '"') {
            s->at++;
            return true;
        }
    }
    return false;
}

/* Past one value, whose inside is checked by the parser later. */
static bool skip_value(struct facet_json_list *s)
{
    size_t depth = 0;

    while (s->at < s->size) {
        char ch = s->text[s->at];

        if (ch == '"') {
            if (!skip_string(s)) {
                return false;
            }
            if (depth == 0) {
                return true;
            }
            continue;
        }
        if (ch == '{' || ch == '[') {
            depth++;
        } else if (ch == '}' || ch == ']') {
            if (depth == 0) {
                return true; /* ends the value around this one */
            }
            if (--depth == 0) {
                s->at++;
                return true;
            }
        } else if (depth == 0 && ch == ',') {
            return true;
        }
        s->at++;
    }
    return false;
}

/* Finds the '[' of the member `key` of the outermost object. */
static bool find_list(struct facet_json_list *s)
{
    skip_space(s);
    if (s->at >= s->size || s->text[s->at] != '{') {
        return false;
    }
    s->at++;
    for (;;) {
        size_t key, length = strlen(s->key);
        bool found;

        skip_space(s);
        key = s->at;
        if (s->at >= s->size || s->text[s->at] != '"' || !skip_string(s)) {
            return false;
        }
        found = s->at - key == length + 2 && memcmp(s->text + key + 1, s->key, length) == 0;

        skip_space(s);
        if (s->at >= s->size || s->text[s->at] != ':') {
            return false;
        }
        s->at++;
        skip_space(s);
        if (found) {
            return s->at < s->size && s->text[s->at] == '[';
        }
        if (!skip_value(s)) {
            return false;
        }
        skip_space(s);
        if (s->at >= s->size || s->text[s->at] != ',') {
            return false;
        }
        s->at++;
    }
}

/* The outermost object with its list cut out. */
static enum facet_status
parse_head(const struct facet_json_list *s, json_t **head, struct facet_error *err)
{
    size_t rest = s->size - s->end;
    char *text = malloc(s->at + 2 + rest);
    enum facet_status status;

    if (text == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "%s: out of memory", s->name);
    }
    memcpy(text, s->text, s->at);
    memcpy(text + s->at, "[]", 2);
    memcpy(text + s->at + 2, s->text + s->end, rest);
    status = facet_json_parse(s->name, text, s->at + 2 + rest, head, err);
    free(text);
    return status;
}

enum facet_status facet_json_list_open(const char *name,
                                       const char *text,
                                       size_t size,
                                       const char *key,
                                       struct facet_json_list *out,
                                       json_t **head,
                                       struct facet_error *err)
{
    enum facet_status status;
    char what[80];
    size_t begin;

    *out = (struct facet_json_list){.name = name, .text = text, .size = size, .key = key};
    *head = NULL;
    if (!find_list(out)) {
        (void)snprintf(what, sizeof what, "expected an object with a list \"%s\"", key);
        return complain(out, what, err);
    }
    begin = out->at;
    if (!skip_value(out)) {
        (void)snprintf(what, sizeof what, "the list \"%s\" is unterminated", key);
        return complain(out, what, err);
    }
    out->end = out->at;
    out->at = begin;
    status = parse_head(out, head, err);
    out->counted = begin;
    out->line = line_of(out, begin);
    out->at = begin + 1;
    return status;
}

enum facet_status
facet_json_list_next(struct facet_json_list *s, json_t **object, struct facet_error *err)
{
    size_t begin;
    enum facet_status status;

    *object = NULL;
    skip_space(s);
    if (s->index != 0 && s->at < s->end && s->text[s->at] == ',') {
        s->at++;
        skip_space(s);
    }
    if (s->at + 1 >= s->end) {
        return FACET_OK;
    }
    begin = s->at;
    if (!skip_value(s) || s->at == begin || s->at > s->end) {
        return complain(s, "expected a node", err);
    }
    for (; s->counted < begin; s->counted++) {
        s->line += s->text[s->counted] == '\n';
    }
    status = facet_json_parse(s->name, s->text + begin, s->at - begin, object, err);
    s->index++;
    if (status != FACET_OK) {
        facet_json_list_fail(s, err);
    }
    return status;
}

void facet_json_list_fail(const struct facet_json_list *s, struct facet_error *err)
{
    char where[32];

    (void)snprintf(where, sizeof where, "line %llu", (unsigned long long)s->line);
    facet_fail_in(err, where);
}
