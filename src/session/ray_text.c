/* See ray_text.h. */
#include "session/ray_text.h"

#include "base/float.h"
#include "num/f32.h"

#include <ctype.h>
#include <errno.h>
#include <facet/gfx12.h>
#include <math.h>
#include <stdlib.h>

static bool read_number(const char **at, struct session_ray_number *out)
{
    char *end;

    errno = 0;
    *out = (struct session_ray_number){.coded = (*at)[0] == '0' && ((*at)[1] | 0x20) == 'x'};
    if (out->coded) {
        unsigned long long bits = strtoull(*at, &end, 16);

        if (errno != 0 || bits > UINT32_MAX) {
            return false;
        }
        out->bits = (uint32_t)bits;
    } else {
        out->value = strtof(*at, &end);
        if (errno == ERANGE && isinf(out->value)) {
            return false;
        }
    }
    if (end == *at || (*end != '\0' && *end != ',' && !isspace((unsigned char)*end))) {
        return false;
    }
    *at = end;
    return true;
}

unsigned session_ray_read(const struct cli_args *args,
                          const char *text,
                          struct session_ray_number *out,
                          unsigned most)
{
    unsigned count = 0;

    if (text == NULL) {
        cli_bad(args, "expected --ray \"ox oy oz dx dy dz [tmin tmax]\"");
        return 0;
    }
    for (const char *at = text;; count++) {
        const char *word;
        struct session_ray_number ignored;

        while (*at == ',' || isspace((unsigned char)*at)) {
            at++;
        }
        if (*at == '\0') {
            break;
        }
        word = at;
        if (!read_number(&at, count < most ? &out[count] : &ignored)) {
            cli_bad(args,
                    "--ray: \"%s\" at character %zu: expected a number, or 0x and the hexadecimal "
                    "digits of its bits",
                    word,
                    (size_t)(word - text) + 1);
            return 0;
        }
    }
    if (count == 0) {
        cli_bad(args, "--ray: no numbers: expected \"ox oy oz dx dy dz [tmin tmax]\"");
    }
    return count;
}

bool session_ray_gfx12(const struct cli_args *args,
                       const char *text,
                       struct facet_gfx12_query *query)
{
    struct session_ray_number number[8];
    float value[8] = {[6] = 0.0f, [7] = facet_float_of(F32_INF)};
    unsigned count = session_ray_read(args, text, number, 8);

    if (count == 0) {
        return false;
    }
    if (count != 6 && count != 8) {
        cli_bad(
            args, "--ray: %u numbers: expected 6 (origin, direction) or 8 (and tmin tmax)", count);
        return false;
    }
    for (unsigned i = 0; i < count; i++) {
        value[i] = number[i].coded ? facet_float_of(number[i].bits) : number[i].value;
    }
    facet_gfx12_query_init(query, value, value + 3);
    query->t_min = value[6];
    query->t_max = value[7];
    return true;
}
