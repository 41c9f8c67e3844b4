/* The names of the flags, as EXC.ST and STAT have them. */
#include "num/flags.h"

#include <facet/num.h>

#include <stdio.h>

const char *facet_num_flag_names(unsigned flags, char text[FACET_FLAG_NAMES])
{
    static const struct {
        unsigned bit;
        const char *name;
    } names[] = {
        {FACET_NX, "NX"},
        {FACET_UF, "UF"},
        {FACET_OF, "OF"},
        {FACET_DZ, "DZ"},
        {FACET_NV, "NV"},
        {FACET_QNAN, "QNAN_SEEN"},
        {FACET_SNAN, "SNAN_SEEN"},
        {FACET_FTZ, "FTZ_HIT"},
        {FACET_SAT, "SAT_HIT"},
        {FACET_DOWN, "DOWNCAST_TAKEN"},
        {FACET_UNSUP, "UNSUP_FMT"},
    };
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((flags & names[i].bit) != 0) {
            length += (size_t)snprintf(text + length,
                                       FACET_FLAG_NAMES - length,
                                       "%s%s",
                                       length != 0 ? " " : "",
                                       names[i].name);
        }
    }
    return text;
}
