/* A JSON object with one long list of small objects. Such a file may be a hundred times the image
 * that it describes, so it is never parsed as a whole: a scanner finds the elements of the list,
 * each is parsed by itself, and the rest of the object is parsed with an empty list. */
#ifndef FACET_JSON_LIST_H
#define FACET_JSON_LIST_H

#include "json/json.h"

struct facet_json_list {
    const char *name; /* of the file, for complaints */
    const char *text;
    size_t size, at;
    const char *key;
    size_t end;   /* after the list */
    size_t index; /* of the next element */
    size_t counted;
    uint64_t line;
};

/* Finds the list `key` in the text, which must outlive it, and parses what is around it into *head
 * (release it). */
enum facet_status facet_json_list_open(const char *name,
                                       const char *text,
                                       size_t size,
                                       const char *key,
                                       struct facet_json_list *out,
                                       json_t **head,
                                       struct facet_error *err);
/* The next element, a new reference, or NULL after the last. */
enum facet_status
facet_json_list_next(struct facet_json_list *list, json_t **object, struct facet_error *err);
/* Adds the line of the last element to a complaint about it. */
void facet_json_list_fail(const struct facet_json_list *list, struct facet_error *err);

#endif
