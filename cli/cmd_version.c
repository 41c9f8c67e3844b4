/* `facet version`: what a bug report needs to know about this program and its host. */
#include "command/command.h"

#include <facet/version.h>
#include <jansson.h>
#include <png.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <zlib.h>

#include <jpeglib.h> /* after stdio.h, which it needs */

#define TEXT_OF(macro) TEXT(macro)
#define TEXT(token) #token

struct fact {
    const char *name, *value;
};

#ifdef __clang__
#define COMPILER __VERSION__ /* "Clang 14.0.6" */
#else
#define COMPILER "GCC " __VERSION__
#endif

#ifdef LIBJPEG_TURBO_VERSION
#define JPEG_VERSION "libjpeg-turbo " TEXT_OF(LIBJPEG_TURBO_VERSION)
#else
#define JPEG_VERSION "libjpeg " TEXT_OF(JPEG_LIB_VERSION)
#endif

static void add(char *list, size_t size, bool there, const char *name)
{
    size_t at = strlen(list);

    if (there) {
        (void)snprintf(list + at, size - at, "%s%s", at != 0 ? " " : "", name);
    }
}

/* The instructions that fast paths look for, and whether this processor has them. */
static void find_features(char *list, size_t size)
{
    list[0] = '\0';
#ifdef __x86_64__
    add(list, size, __builtin_cpu_supports("avx2") != 0, "avx2");
    add(list, size, __builtin_cpu_supports("bmi") != 0, "bmi");
    add(list, size, __builtin_cpu_supports("bmi2") != 0, "bmi2");
    add(list, size, __builtin_cpu_supports("fma") != 0, "fma");
    add(list, size, __builtin_cpu_supports("popcnt") != 0, "popcnt");
#endif
    add(list, size, list[0] == '\0', "none");
}

/* For which processor programs of the guest can become code of the host. */
#ifdef __x86_64__
#define HOST_CODE "x86-64"
#else
#define HOST_CODE "none"
#endif

static int run_version(const struct cli_args *args)
{
    struct utsname host;
    char system[256] = "unknown", features[64], libraries[256];
    const struct fact facts[] = {{"facet", facet_version()},
                                 {"compiler", COMPILER},
                                 {"system", system},
                                 {"features", features},
                                 {"host_code", HOST_CODE},
                                 {"libraries", libraries}};
    json_t *object = args->json ? json_object() : NULL;

    if (uname(&host) == 0) {
        (void)snprintf(
            system, sizeof system, "%.60s %.60s %.60s", host.sysname, host.release, host.machine);
    }
    find_features(features, sizeof features);
    (void)snprintf(libraries,
                   sizeof libraries,
                   "jansson %s, libpng %s, " JPEG_VERSION ", zlib %s",
                   jansson_version_str(),
                   png_get_libpng_ver(NULL),
                   zlibVersion());
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        if (args->json) {
            (void)json_object_set_new(object, facts[i].name, json_string(facts[i].value));
        } else {
            printf("%-10s %s\n", facts[i].name, facts[i].value);
        }
    }
    return args->json ? cli_print_json(args, object) : CLI_OK;
}

const struct cli_command cli_cmd_version = {
    .name = "version",
    .summary = "show the version, compiler, host and libraries",
    .usage = "facet version [--json]",
    .details = "`facet --version` prints the version alone. The features are those of the "
               "processor that Facet has fast paths for; results do not depend on them.",
    .examples = "facet version\nfacet version --json",
    .has_json = true,
    .run = run_version,
    .operands = "",
};
