#include <facet/version.h>

const char *facet_version(void)
{
    return FACET_VERSION;
}

int facet_version_number(void)
{
    return FACET_VERSION_NUMBER;
}
