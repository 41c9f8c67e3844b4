/* What `extras.facet` of a primitive, a mesh or a node says to builders of acceleration structures:
 * {"opaque": false, "cullDisable": true, "flip": true, "mask": 3, "userData": 7}. A mesh speaks for
 * its primitives that do not speak themselves. */
#include "scene/gltf/gltf.h"

#include <string.h>

/* `when` for true, `otherwise` for false; a number is stored. */
static const struct trait {
    const char *name;
    uint8_t when, otherwise;
    bool of_instance_only;
    uint32_t most; /* of a number; 0: true or false */
} traits[] = {
    {"opaque", FACET_TRAIT_OPAQUE, FACET_TRAIT_NON_OPAQUE, false, 0},
    {"cullDisable", FACET_TRAIT_CULL_DISABLE, FACET_TRAIT_CULL, false, 0},
    {"flip", FACET_TRAIT_FLIP, 0, true, 0},
    {"mask", FACET_TRAIT_MASK, 0, true, 0xFF},
    {"userData", FACET_TRAIT_USER_DATA, 0, true, FACET_TRAIT_MOST_USER_DATA},
};

static const struct trait *find_trait(const char *name, bool instance)
{
    for (size_t i = 0; i < sizeof traits / sizeof traits[0]; i++) {
        if (strcmp(traits[i].name, name) == 0) {
            return instance || !traits[i].of_instance_only ? &traits[i] : NULL;
        }
    }
    return NULL;
}

static bool read_trait(struct gltf *g,
                       const struct trait *trait,
                       const json_t *value,
                       const char *where,
                       struct facet_scene_traits *out)
{
    struct facet_scene_traits one = {0};
    json_int_t number = json_integer_value(value);

    if (trait->most == 0 && !json_is_boolean(value)) {
        return facet_gltf_fail(
            g, FACET_ERR_INPUT, "%s.extras.facet.%s: expected true or false", where, trait->name);
    }
    if (trait->most != 0 && (!json_is_integer(value) || number < 0 || number > trait->most)) {
        return facet_gltf_fail(g,
                               FACET_ERR_INPUT,
                               "%s.extras.facet.%s: expected a whole number in 0..%u",
                               where,
                               trait->name,
                               trait->most);
    }
    one.set = trait->most != 0 || json_is_true(value) ? trait->when : trait->otherwise;
    one.mask = (uint8_t)(trait->when == FACET_TRAIT_MASK ? number : 0);
    one.user_data = (uint32_t)(trait->when == FACET_TRAIT_USER_DATA ? number : 0);
    facet_scene_traits_add(out, &one);
    return true;
}

bool facet_gltf_traits(struct gltf *g,
                       const json_t *object,
                       bool instance,
                       const char *where,
                       struct facet_scene_traits *out)
{
    json_t *own = json_object_get(json_object_get(object, "extras"), "facet"), *value;
    const char *key;

    if (own != NULL && !json_is_object(own)) {
        return facet_gltf_fail(g, FACET_ERR_INPUT, "%s.extras.facet: expected an object", where);
    }
    json_object_foreach(own, key, value)
    {
        const struct trait *trait = find_trait(key, instance);

        if (trait == NULL) {
            return facet_gltf_fail(g,
                                   FACET_ERR_INPUT,
                                   "%s.extras.facet.%.40s is unknown: expected %s",
                                   where,
                                   key,
                                   instance ? "opaque, cullDisable, flip, mask or userData"
                                            : "opaque or cullDisable");
        }
        if (!read_trait(g, trait, value, where, out)) {
            return false;
        }
    }
    return true;
}
