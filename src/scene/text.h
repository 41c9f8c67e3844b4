/* Words and numbers of a text file, line by line: what OBJ, MTL, text STL and text PLY are made of.
 * A line ends with a line feed, a carriage return, or both. Nothing is copied: a span points into
 * the file's bytes and has no NUL at its end. */
#ifndef FACET_SCENE_TEXT_H
#define FACET_SCENE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct facet_span {
    const char *at;
    size_t size;
};

struct facet_text {
    const char *at, *end;
    uint32_t line;  /* of `at`, from 1 */
    bool continues; /* a backslash at the end of a line joins it to the next (OBJ, MTL) */
};

/* For printf's "%.*s": at most `most` bytes. */
#define FACET_SPAN_ARGS(span, most) (int)((span).size < (most) ? (span).size : (most)), (span).at

struct facet_text facet_text_of(const void *data, size_t size);

/* The next word of the line; false, and an empty word, at its end. */
bool facet_text_word(struct facet_text *text, struct facet_span *word);
/* What is left of the line, without the blanks around it: a name that may hold blanks. */
struct facet_span facet_text_rest(struct facet_text *text);
/* The same without a comment: from a # at its beginning or after a blank. */
struct facet_span facet_text_name(struct facet_text *text);
/* Passes the joint that such a rest ended at; false when it was the end of the line. */
bool facet_text_goes_on(struct facet_text *text);
/* Leaves the rest of the line; false when that was the last one. */
bool facet_text_next_line(struct facet_text *text);
/* The next word of this line or a later one; false at the end of the file. */
bool facet_text_word_anywhere(struct facet_text *text, struct facet_span *word);

bool facet_span_is(struct facet_span span, const char *word);
bool facet_span_is_anycase(struct facet_span span, const char *word);
/* Whether a list " like this " holds the word. */
bool facet_span_in(struct facet_span span, const char *list);

/* The nearest float to a decimal number, whatever the locale; false when the word is not a number
 * or too large for one. */
bool facet_span_float(struct facet_span span, float *out);

#endif
