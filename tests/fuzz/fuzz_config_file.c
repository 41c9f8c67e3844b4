/* Any bytes as a file of --config: refused with a message, or a list that is a configuration. The
 * first byte chooses between TOML and JSON. */
#include "fuzz/fuzz.h"
#include "session/config_file.h"

#include <facet/xphmg.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const bool json = size != 0 && data[0] == '{';
    struct facet_error err = {0};
    char *list = NULL;

    if (session_config_parse(json ? "a.json" : "a.toml", (const char *)data, size, &list, &err) !=
        FACET_OK) {
        fuzz_require(list == NULL && err.message[0] != '\0');
        fuzz_require(err.status == FACET_ERR_MEMORY || strncmp(err.message, "a.", 2) == 0);
    } else {
        fuzz_require(facet_xphmg_configuration_check(list, &err) == FACET_OK);
    }
    free(list);
    return 0;
}
