/* See traits.h. */
#include "report/traits.h"

#include <stdlib.h>
#include <string.h>

const char *const report_trait_names[] = {
    "opaque", "cull-disable", "force-opaque", "flip", "mask", "user-data", NULL};
const char *const report_pose_names[] = {"time", "animation", NULL};

/* The option table has checked that it is one of the two words. */
static uint8_t choose(const struct cli_args *args, const char *name, uint8_t yes, uint8_t no)
{
    const char *value = cli_value(args, name);

    return value == NULL ? 0 : strcmp(value, "yes") == 0 ? yes : no;
}

static enum facet_status read_number(const struct cli_args *args,
                                     const char *name,
                                     uint32_t most,
                                     uint8_t trait,
                                     uint8_t *set,
                                     uint32_t *out,
                                     struct facet_error *err)
{
    const char *value = cli_value(args, name);
    char *end = NULL;
    unsigned long long number;

    if (value == NULL) {
        return FACET_OK;
    }
    number = strtoull(value, &end, 0);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || number > most) {
        return facet_fail(
            err, FACET_ERR_USAGE, 0, "--%s %s: expected a number from 0 to %u", name, value, most);
    }
    *set |= trait;
    *out = (uint32_t)number;
    return FACET_OK;
}

enum facet_status report_bvh_traits(const struct cli_args *args,
                                    struct facet_render_bvh_traits *out,
                                    struct facet_error *err)
{
    struct facet_scene_traits *instance = &out->instance;
    uint32_t mask = 0;
    enum facet_status status;

    *out = (struct facet_render_bvh_traits){0};
    out->geometry.set = choose(args, "opaque", FACET_TRAIT_OPAQUE, FACET_TRAIT_NON_OPAQUE) |
                        choose(args, "cull-disable", FACET_TRAIT_CULL_DISABLE, FACET_TRAIT_CULL);
    instance->set = choose(args, "force-opaque", FACET_TRAIT_OPAQUE, FACET_TRAIT_NON_OPAQUE) |
                    (cli_given(args, "flip") ? FACET_TRAIT_FLIP : 0);
    status = read_number(args, "mask", 0xFF, FACET_TRAIT_MASK, &instance->set, &mask, err);
    instance->mask = (uint8_t)mask;
    return status == FACET_OK ? read_number(args,
                                            "user-data",
                                            FACET_TRAIT_MOST_USER_DATA,
                                            FACET_TRAIT_USER_DATA,
                                            &instance->set,
                                            &instance->user_data,
                                            err)
                              : status;
}
