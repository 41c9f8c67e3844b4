/* Records for people and for programs: what a computation did, described once and written as text
 * or as JSON. The owner of a record walks through it and names every value with its key; the
 * writer knows both forms:
 *
 *   JSON   objects, lists and values in the order of the calls, two spaces per level. A floating
 *          point value is {"bits": "0x3f800000", "value": 1.0}, its value "nan", "inf" or "-inf"
 *          where JSON has no number; 64-bit quantities are "0x..." strings (json/json.h).
 *   text   lines of "label  key value  key value  (rule)". Headings and labels are of the text
 *          alone; what is false or absent is left out; floating point values are bits and value.
 *
 * Writing cannot fail until the end: text.failed says whether memory ran short (base/strbuf.h). */
#ifndef FACET_RECORD_RECORD_H
#define FACET_RECORD_RECORD_H

#include "base/strbuf.h"

#include <stdint.h>

/* Which rule of the contract the members of a record follow, by the list around them: what the text
 * says at the end of a line and JSON leaves out. */
struct facet_record_rule {
    const char *list, *key, *rule;
};
struct facet_record_rules {
    struct facet_record_rule rule[64];
    unsigned count; /* each list and key once; more are dropped */
};

struct facet_record {
    struct facet_strbuf text;
    struct facet_record_rules *rules; /* JSON: filled in on the way unless NULL */
    bool json;       /* values that the text has in a heading are written only where this is set */
    unsigned indent; /* text: blanks before every line, besides those of headings */
    /* private */
    bool begun;           /* JSON: the open object or list has a member; text: the line has begun */
    bool blank;           /* text: nothing but blanks on the line so far */
    bool nested;          /* JSON: the last member was an object */
    unsigned depth;       /* of objects and lists; at most 32 */
    uint32_t lists;       /* bit d: level d is a list, no object */
    uint32_t headed;      /* bit d: level d has a heading, so its lines are indented */
    const char *rule;     /* of what comes now; ends the line of text */
    const char *list[32]; /* JSON: key of the list that each level is, NULL for an object */
};

void facet_record_init(struct facet_record *r, bool json);
void facet_record_free(struct facet_record *r);
/* Ends the last line; the text is complete when everything is closed. */
void facet_record_end(struct facet_record *r);

/* ---- structure ---- */

/* An object; key is NULL in a list and for the outermost one. The heading, if any, begins a line of
 * text, and the lines inside the object are indented below it. */
void facet_record_open(struct facet_record *r, const char *key, const char *heading, ...)
    __attribute__((format(printf, 3, 4)));
void facet_record_list(struct facet_record *r, const char *key);
/* The object or list that was opened last. */
void facet_record_close(struct facet_record *r);

/* Text alone: a new line with a label, and the rule of the contract that its values follow. Either
 * may be NULL. */
void facet_record_line(struct facet_record *r, const char *label, const char *rule);
/* Text alone: more words on the line. */
void facet_record_say(struct facet_record *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- values; key is NULL in a list ---- */

void facet_record_number(struct facet_record *r, const char *key, int64_t value);
/* A number that no bits belong to. */
void facet_record_real(struct facet_record *r, const char *key, double value);
/* The text has `digits` digits, as registers are written; with 0 it is an offset: 0x... */
void facet_record_hex(struct facet_record *r, const char *key, uint64_t value, unsigned digits);
void facet_record_bool(struct facet_record *r, const char *key, bool value);
/* NULL is null. Bytes that no terminal should obey are spelled out (base/plain.h). */
void facet_record_word(struct facet_record *r, const char *key, const char *word);
/* A list of the words between the blanks of a text. */
void facet_record_words(struct facet_record *r, const char *key, const char *words);
void facet_record_numbers(struct facet_record *r,
                          const char *key,
                          const int64_t *values,
                          unsigned count);
void facet_record_hexes(struct facet_record *r,
                        const char *key,
                        const uint32_t *values,
                        unsigned count,
                        unsigned digits);
/* `width` bits and what they stand for. */
void facet_record_value(
    struct facet_record *r, const char *key, uint32_t bits, unsigned width, double value);
/* A binary32 number. */
void facet_record_float(struct facet_record *r, const char *key, float value);
void facet_record_f32(struct facet_record *r, const char *key, uint32_t bits);
/* Binary32 numbers, `float` or their bits: a vector of three, or rows of four. Each has a line of
 * text to itself. */
void facet_record_vector(
    struct facet_record *r, const char *key, const char *rule, const void *values, unsigned count);

#endif
