/* Any accepted spelling of a number. A file of its own, because the page, which reads JSON without
 * jansson (wasm/json), has it too.
 */
#include "json/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool parse_u64(const char *text, uint64_t *out)
{
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hex ? text + 2 : text;
    size_t length = strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789");
    unsigned long long value;

    /* strtoull alone would take signs and spaces. */
    if (length == 0 || digits[length] != '\0') {
        return false;
    }
    errno = 0;
    value = strtoull(digits, NULL, hex ? 16 : 10);
    if (errno != 0) {
        return false;
    }
    *out = value;
    return true;
}

bool facet_json_to_u64(const json_t *value, uint64_t *out)
{
    if (json_is_string(value)) {
        return json_string_length(value) == strlen(json_string_value(value)) &&
               parse_u64(json_string_value(value), out);
    }
    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        return false;
    }
    *out = (uint64_t)json_integer_value(value);
    return true;
}
