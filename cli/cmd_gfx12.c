/* `facet gfx12 intersect`: runs a file of cases of the intersect and stack instructions and reports
 * the first register of each that differs. */
#include "command/command.h"
#include "command/streams.h"

#include "base/file.h"
#include "documents/gfx12_vectors.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_VECTOR_BYTES = 256 << 20 };

static json_t *dwords_json(const uint32_t *dwords, unsigned count)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < count; i++) {
        (void)json_array_append_new(list, facet_json_hex(dwords[i]));
    }
    return list;
}

static json_t *case_json(const struct facet_doc_gfx12_vector *vector,
                         const struct facet_doc_gfx12_vector_result *result)
{
    bool stack = facet_doc_gfx12_is_stack(vector);
    unsigned results = !stack ? 10 : vector->instruction == FACET_DOC_GFX12_POP2 ? 2 : 1;
    json_t *object = json_pack("{s:s, s:b, s:o}",
                               "name",
                               vector->name,
                               "pass",
                               result->pass,
                               stack ? "result" : "v",
                               dwords_json(result->dword, results));

    if (object != NULL && stack) {
        (void)json_object_set_new(object, "address", facet_json_hex(result->dword[2]));
    }
    if (object != NULL && !result->pass) {
        char name[32];

        facet_doc_gfx12_dword_name(vector, result->differs, name);
        (void)json_object_set_new(object, "index", json_integer((json_int_t)result->differs));
        (void)json_object_set_new(object, "dword", json_string(name));
        (void)json_object_set_new(object, "expected", facet_json_hex(result->expected));
        (void)json_object_set_new(object, "got", facet_json_hex(result->got));
    }
    return object;
}

static void print_case(const struct facet_doc_gfx12_vector *vector,
                       const struct facet_doc_gfx12_vector_result *result)
{
    char name[32];

    fputs(result->pass ? "pass  " : "FAIL  ", stdout);
    cli_put_name(stdout, vector->name);
    if (!result->pass) {
        facet_doc_gfx12_dword_name(vector, result->differs, name);
        printf(": dword %zu (%s) is %08" PRIX32 ", expected %08" PRIX32,
               result->differs,
               name,
               result->got,
               result->expected);
    }
    putchar('\n');
}

static int run_vectors(const struct cli_args *args,
                       struct facet_doc_gfx12_vectors *vectors,
                       enum facet_gfx12_profile profile)
{
    json_t *list = cli_json_list(args);
    size_t failed = 0;
    for (size_t i = 0; i < vectors->count; i++) {
        struct facet_doc_gfx12_vector_result result;
        facet_doc_gfx12_vector_run(&vectors->cases[i], profile, &result);
        failed += !result.pass;
        if (facet_doc_gfx12_vector_doubtful(&vectors->cases[i], profile)) {
            (void)cli_bad(args,
                          "%s: bit 52 of the descriptor (sort_triangles_first) is 0: the recorded "
                          "card is said to answer nothing then (R-G12-118)",
                          vectors->cases[i].name);
        }
        if (args->json) {
            (void)json_array_append_new(list, case_json(&vectors->cases[i], &result));
        } else {
            print_case(&vectors->cases[i], &result);
        }
    }
    if (args->json) {
        json_t *object = json_pack("{s:I, s:I, s:I, s:o}",
                                   "total",
                                   (json_int_t)vectors->count,
                                   "passed",
                                   (json_int_t)(vectors->count - failed),
                                   "failed",
                                   (json_int_t)failed,
                                   "cases",
                                   list);

        if (cli_print_json(args, object) != CLI_OK) {
            return CLI_BAD;
        }
    } else {
        printf("%zu case%s: %zu passed, %zu failed\n",
               vectors->count,
               cli_s(vectors->count),
               vectors->count - failed,
               failed);
    }
    return failed == 0 ? CLI_OK : CLI_NO;
}

static int run_intersect(const struct cli_args *args)
{
    const char *path = cli_value(args, "vectors");
    const char *word = cli_value(args, "profile");
    enum facet_gfx12_profile profile = FACET_GFX12_SILICON;
    struct facet_error err = {0};
    struct facet_bytes bytes;
    struct facet_doc_gfx12_vectors vectors;
    int code;
    if (path == NULL) {
        return cli_bad(args, "expected --vectors FILE");
    }
    if (word != NULL) {
        (void)facet_doc_gfx12_profile_from(word, &profile); /* the parser has checked the word */
    }
    if (facet_file_read(path, MAX_VECTOR_BYTES, &bytes, &err) != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    if (facet_doc_gfx12_vectors_parse(path, bytes.data, bytes.size, &vectors, &err) != FACET_OK) {
        code = cli_bad_error(args, &err);
    } else {
        code = run_vectors(args, &vectors, profile);
    }
    facet_doc_gfx12_vectors_free(&vectors);
    free(bytes.data);
    return code;
}

static const struct cli_option intersect_options[] = {
    {"vectors", 0, "FILE", "JSON file with the cases; - is standard input"},
    {"profile", 0, "silicon|gpurt", "rules for cases that name no profile (default silicon)"},
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_gfx12_intersect = {
    .name = "gfx12 intersect",
    .summary = "run the four instructions on recorded cases",
    .usage = "facet gfx12 intersect --vectors FILE [--profile silicon|gpurt] [--json]",
    .details =
        "Each case has a node, a descriptor, a ray and the ten result registers that are expected. "
        "Every case is reported as pass, or with the first dword that differs: 0 to 9 are v0 to "
        "v9, 10 to 12 the returned origin, 13 to 15 the returned direction.\n\n"
        "The file is {\"cases\": [...]} with the members name, node (32 dwords, placed at BVH byte "
        "offset 0), node_pointer, resource (4 dwords), ray_extent, instance_mask, origin, "
        "direction, expected (10 dwords), and optionally bvh_base, profile, opaque_sense (hw or "
        "seed), expected_origin, expected_direction and comment. Floats are given as their bits; "
        "numbers may be integers or \"0x...\" strings.\n\n"
        "A case is of image_bvh8_intersect_ray unless its member instruction names another. "
        "image_bvh_dual_intersect_ray has node_pointers (two) in place of node_pointer, and node "
        "may be 16 to 4096 dwords. ds_bvh_stack_push8_pop1_rtn_b32 and "
        "ds_bvh_stack_push8_pop2_rtn_b64 have offset0, offset1, address, last, data (8 dwords), "
        "lds (dwords from LDS address 0; accesses behind them read 0), expected (one or two "
        "results), expected_address and optionally expected_lds.",
    .examples = "facet gfx12 intersect --vectors spec/gfx12-silicon.json",
    .options = intersect_options,
    .has_json = true,
    .run = run_intersect,
    .operands = "",
};
