/* The doors without a machine: what they refuse, and what the examples of examples/library do not
 * show. Only public headers. */
#include "harness.h"

#include <facet/bvh.h>
#include <facet/gfx.h>
#include <facet/isa.h>
#include <facet/memory.h>
#include <facet/num.h>
#include <facet/rt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- isa.h ---- */

TEST(every_row_can_be_found_by_its_number_and_name, "")
{
    for (int isa = 0; isa < FACET_ISA_COUNT; isa++) {
        uint32_t count = facet_isa_insn_count((enum facet_isa)isa), csrs;
        struct facet_isa_csr_field field;
        struct facet_isa_insn insn, found;
        struct facet_isa_csr csr;

        for (uint32_t id = 0; id < count; id++) {
            uint32_t from = 0;

            CHECK(facet_isa_get_insn((enum facet_isa)isa, id, &insn) == FACET_OK && insn.id == id);
            CHECK((insn.match & ~insn.mask) == 0 && insn.operand_count <= FACET_ISA_MAX_OPERANDS);
            do { /* several rows may share a name */
                CHECK(facet_isa_find_insn((enum facet_isa)isa, insn.mnemonic, &from, &found) ==
                      FACET_OK);
            } while (found.id < id);
            CHECK_EQ(found.id, id);
        }
        CHECK(facet_isa_get_insn((enum facet_isa)isa, count, &insn) == FACET_ERR_USAGE);
        csrs = facet_isa_csr_count((enum facet_isa)isa);
        CHECK(csrs > 20);
        CHECK(facet_isa_get_csr((enum facet_isa)isa, csrs - 1, &csr) == FACET_OK);
        CHECK(facet_isa_get_csr((enum facet_isa)isa, csrs, &csr) == FACET_ERR_USAGE);
        CHECK(facet_isa_get_csr_field((enum facet_isa)isa, 0, 0, &field) == FACET_OK);
        CHECK(facet_isa_get_csr_field((enum facet_isa)isa, 0, 999, &field) == FACET_ERR_USAGE);
    }
    CHECK_EQ(facet_isa_insn_count(FACET_ISA_COUNT), 0);
}

/* Programs of an older and of a newer library: what both know, and nothing beyond; what only the
 * program knows is 0. */
TEST(rows_come_in_the_size_of_the_program, "")
{
    struct {
        struct facet_isa_insn known;
        uint64_t newer;
    } insn;
    struct {
        struct facet_isa_operand known;
        uint64_t newer;
    } operands[2];
    struct {
        struct facet_isa_csr known;
        uint64_t newer;
    } csr;
    struct facet_isa_insn old;
    size_t count;

    memset(&old, 0xEE, sizeof old);
    CHECK(facet_isa_get_insn_sized(
              FACET_ISA_XPHMG, 0, &old, offsetof(struct facet_isa_insn, line)) == FACET_OK);
    CHECK(old.mnemonic != NULL && old.line == 0xEEEEEEEE);
    memset(&insn, 0xEE, sizeof insn);
    CHECK(facet_isa_get_insn_sized(FACET_ISA_XPHMG, 0, &insn.known, sizeof insn) == FACET_OK);
    CHECK(insn.newer == 0 && strcmp(insn.known.mnemonic, old.mnemonic) == 0);
    memset(operands, 0xEE, sizeof operands);
    CHECK(facet_isa_decode_word_sized(FACET_ISA_XPHMG,
                                      0x00C58533, /* add a0, a1, a2 */
                                      &insn.known,
                                      sizeof insn,
                                      &operands[0].known,
                                      sizeof operands[0],
                                      2,
                                      &count,
                                      NULL) == FACET_OK);
    CHECK(count == 3 && operands[1].newer == 0);
    CHECK_EQ(operands[1].known.value, 11);
    memset(&csr, 0xEE, sizeof csr);
    CHECK(facet_isa_get_csr_sized(FACET_ISA_XPHMG, 0, &csr.known, sizeof csr) == FACET_OK);
    CHECK_EQ(csr.newer, 0);
}

TEST(reserved_members_are_zero, "")
{
    static const float corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    struct facet_bvh_mesh mesh = {.positions = corners, .vertex_count = 3, .triangle_count = 1};
    struct facet_bvh_scene scene = {.meshes = &mesh, .mesh_count = 1};
    struct facet_bvh_config config = {.reserved = {1}};
    struct facet_error err = {FACET_OK, 0, ""};
    facet_bvh *bvh = NULL;

    CHECK(facet_bvh_build(&scene, &config, &bvh, &err) == FACET_ERR_USAGE && bvh == NULL);
    CHECK_EQ(err.where, offsetof(struct facet_bvh_config, reserved));
    config.reserved[0] = 0;
    CHECK(facet_bvh_build(&scene, &config, &bvh, &err) == FACET_OK);
    facet_bvh_destroy(bvh);
}

TEST(words_and_lines_are_refused_with_a_reason, "")
{
    struct facet_error err = {FACET_OK, 0, ""};
    struct facet_isa_insn insn;
    uint8_t bytes[8];
    char line[8] = "before";
    size_t size;

    CHECK_EQ(facet_isa_print_word(FACET_ISA_COUNT, 0x13, 0, line, sizeof line), 0);
    CHECK_STR(line, "");
    CHECK_EQ(facet_isa_print_word(FACET_ISA_COUNT, 0x13, 0, NULL, 0), 0);
    CHECK(facet_isa_decode_word(FACET_ISA_XPHMG, 0, &insn, NULL, 0, &size, &err) ==
          FACET_ERR_INPUT);
    CHECK(size == 0 && strcmp(err.message, "0x00000000 is not an instruction") == 0);
    CHECK(facet_isa_assemble_line(FACET_ISA_XPHMG, "  addi t0, t9, 1", 0, bytes, 8, &size, &err) ==
          FACET_ERR_INPUT);
    CHECK(err.where == 12 && strstr(err.message, "t9") != NULL);
    CHECK(facet_isa_assemble_line(FACET_ISA_COUNT, "nop", 0, bytes, 8, &size, &err) ==
          FACET_ERR_USAGE);
    /* an alias of several instructions tells its size, and no byte goes beyond the room */
    memset(bytes, 0xEE, sizeof bytes);
    CHECK(facet_isa_assemble_line(
              FACET_ISA_XPHMG, "li a0, 0x12345678", 0x1000, bytes, 4, &size, &err) == FACET_OK);
    CHECK(size == 8 && bytes[4] == 0xEE);
}

TEST(a_program_comes_back_from_its_file, "")
{
    static const char text[] = "start:\n  add a0, a1, a2\n  j start\n";
    struct facet_isa_assemble_config config = {.isa = FACET_ISA_XPHMG};
    struct facet_blob elf, again, listing;
    struct facet_error err = {FACET_OK, 0, ""};

    CHECK(facet_isa_assemble(&config, text, strlen(text), &elf, NULL, &err) == FACET_OK);
    CHECK(facet_isa_disassemble(elf.data, elf.size, &listing, &err) == FACET_OK);
    CHECK(strlen((char *)listing.data) == listing.size);
    CHECK(facet_isa_assemble(&config, listing.data, listing.size, &again, NULL, &err) == FACET_OK);
    CHECK(again.size == elf.size && memcmp(again.data, elf.data, elf.size) == 0);
    facet_blob_free(&again);
    CHECK(facet_isa_disassemble(text, sizeof text, &again, &err) == FACET_ERR_INPUT);
    CHECK(again.data == NULL);
    facet_blob_free(&listing);
    facet_blob_free(&elf);
    config.include_count = 0;
    CHECK(facet_isa_assemble(&config, ".include \"x\"\n", 13, &elf, NULL, &err) == FACET_ERR_INPUT);
    CHECK(elf.data == NULL && err.where == 1);
}

/* ---- bvh.h ---- */

enum { SIDE = 20, TRIANGLES = 2 * SIDE * SIDE, RAYS = 3000 };

static float vertices[SIDE + 1][SIDE + 1][5]; /* two more floats: a stride */
static uint32_t indices[TRIANGLES][4];

static struct facet_bvh_mesh hills(void)
{
    struct facet_bvh_mesh mesh = {.positions = vertices[0][0],
                                  .position_stride = sizeof vertices[0][0],
                                  .vertex_count = (SIDE + 1) * (SIDE + 1),
                                  .indices = indices[0],
                                  .index_stride = sizeof indices[0],
                                  .triangle_count = TRIANGLES,
                                  .geometry = 7,
                                  .flags = FACET_BVH_OPAQUE};

    for (unsigned y = 0; y <= SIDE; y++) {
        for (unsigned x = 0; x <= SIDE; x++) {
            vertices[y][x][0] = (float)x;
            vertices[y][x][1] = (float)y;
            vertices[y][x][2] = (float)((x * 7 + y * 3) % 5) / 4;
        }
    }
    for (uint32_t k = 0; k < TRIANGLES; k++) {
        uint32_t corner = k / 2 % SIDE + k / 2 / SIDE * (SIDE + 1);

        indices[k][0] = corner;
        indices[k][1] = k % 2 == 0 ? corner + 1 : corner + SIDE + 2;
        indices[k][2] = k % 2 == 0 ? corner + SIDE + 2 : corner + SIDE + 1;
    }
    return mesh;
}

/* Rays that look down on the hills, with a placement that moves these by (100, 0, 0). */
static float origins[RAYS][3];
static const struct facet_bvh_placement moved = {{1, 0, 0, 100, 0, 1, 0, 0, 0, 0, 1, 0}, 0, 0xFF};

static struct facet_bvh_rays look_down(void)
{
    static const float down[3] = {0.01F, 0.02F, -1};

    for (unsigned i = 0; i < RAYS; i++) {
        origins[i][0] = 99.5F + (float)(harness_random() % 2100) / 100;
        origins[i][1] = -0.5F + (float)(harness_random() % 2100) / 100;
        origins[i][2] = 9;
    }
    return (struct facet_bvh_rays){
        .count = RAYS, .origin = origins[0], .origin_stride = sizeof origins[0], .direction = down};
}

TEST(both_formats_find_the_same_triangles, "")
{
    struct facet_bvh_mesh mesh = hills();
    struct facet_bvh_scene scene = {&mesh, 1, &moved, 1};
    struct facet_bvh_rays rays = look_down();
    static struct facet_bvh_hit hits[4][RAYS], again[RAYS];
    static const struct facet_bvh_config configs[4] = {
        {.format = FACET_BVH_FORMAT_GFX12},
        {.format = FACET_BVH_FORMAT_GFX12, .quality = FACET_BVH_HIGH, .threads = 2},
        {.format = FACET_BVH_FORMAT_XPHMG},
        {.format = FACET_BVH_FORMAT_XPHMG, .children = 8},
    };
    unsigned found = 0, same = 0;

    for (unsigned c = 0; c < 4; c++) {
        const struct facet_bvh_trace_config how = {.threads = c % 2 * 2}, plain = {.plain = true};
        struct facet_error err = {FACET_OK, 0, ""};
        uint64_t findings, errors;
        facet_bvh *bvh = NULL;

        CHECK(facet_bvh_build(&scene, &configs[c], &bvh, &err) == FACET_OK);
        CHECK(facet_bvh_get_format(bvh) == configs[c].format);
        CHECK(facet_bvh_check(bvh, NULL, 0, &findings, &errors, &err) == FACET_OK && errors == 0);
        CHECK_MSG(
            facet_bvh_trace(bvh, &how, &rays, hits[c], 0, &err) == FACET_OK, "%s", err.message);
        CHECK(facet_bvh_trace(bvh, &plain, &rays, again, 0, &err) == FACET_OK);
        CHECK(memcmp(again, hits[c], sizeof again) == 0);
        facet_bvh_destroy(bvh);
    }
    for (unsigned i = 0; i < RAYS; i++) {
        found += hits[0][i].flags & FACET_BVH_HIT;
        for (unsigned c = 1; c < 4; c++) {
            same += hits[c][i].flags == hits[0][i].flags &&
                    hits[c][i].primitive == hits[0][i].primitive &&
                    hits[c][i].instance == hits[0][i].instance &&
                    (!isfinite(hits[0][i].t) || fabsf(hits[c][i].t - hits[0][i].t) < 1e-4F);
        }
        CHECK(hits[0][i].geometry == ((hits[0][i].flags & FACET_BVH_HIT) != 0 ? 7 : UINT32_MAX));
    }
    CHECK(found > RAYS * 8 / 10 && found < RAYS); /* the margin is missed */
    CHECK(same > 3 * RAYS - 10);                  /* a ray on an edge may find either triangle */
}

TEST(rays_on_a_device_are_the_same, "")
{
    struct facet_bvh_mesh mesh = hills();
    struct facet_bvh_scene scene = {&mesh, 1, &moved, 1};
    struct facet_bvh_rays rays = look_down();
    static struct facet_bvh_hit want[RAYS], hits[RAYS];
    const struct facet_bvh_trace_config first = {.device = 1}, none = {.device = 200};
    const struct facet_bvh_trace_config plain = {.device = 1, .plain = true};
    struct facet_error err = {FACET_OK, 0, ""};
    facet_bvh *bvh = NULL;

    CHECK(facet_bvh_build(&scene, NULL, &bvh, &err) == FACET_OK);
    CHECK(facet_bvh_trace(bvh, NULL, &rays, want, 0, &err) == FACET_OK);
    CHECK(facet_bvh_trace(bvh, &none, &rays, hits, 0, &err) == FACET_ERR_USAGE);
    CHECK(strstr(err.message, "no device opencl:199") != NULL);
    CHECK(facet_bvh_trace(bvh, &plain, &rays, hits, 0, &err) == FACET_ERR_USAGE);
    if (facet_bvh_trace(bvh, &first, &rays, hits, 0, &err) == FACET_OK) {
        CHECK(memcmp(hits, want, sizeof hits) == 0);
    } else if (CHECK_MSG(strstr(err.message, "no device") != NULL, "%s", err.message)) {
        harness_skip(err.message);
    }
    facet_bvh_destroy(bvh);
}

TEST(strides_and_limits_of_rays_count, "")
{
    struct facet_bvh_mesh mesh = hills();
    struct facet_bvh_scene scene = {&mesh, 1, NULL, 0};
    struct {
        float pad, origin[3], direction[3], t_min, t_max;
    } rays[4] = {{0, {1.3F, 1.6F, 9}, {0, 0, -1}, 0, 100},
                 {0, {1.3F, 1.6F, 9}, {0, 0, -1}, 0, 1},
                 {0, {1.3F, 1.6F, 9}, {0, 0, -1}, 20, 100},
                 {0, {1.3F, 1.6F, -9}, {0, 0, 1}, 0, 100}};
    const struct facet_bvh_rays in = {.count = 4,
                                      .origin = rays[0].origin,
                                      .origin_stride = sizeof rays[0],
                                      .direction = rays[0].direction,
                                      .direction_stride = sizeof rays[0],
                                      .t_min = &rays[0].t_min,
                                      .t_min_stride = sizeof rays[0],
                                      .t_max = &rays[0].t_max,
                                      .t_max_stride = sizeof rays[0]};

    for (int format = 0; format < 2; format++) {
        const struct facet_bvh_config config = {.format = (enum facet_bvh_format)format};
        struct facet_bvh_trace_config how = {.any_hit = true};
        struct {
            struct facet_bvh_hit hit;
            uint32_t untouched;
        } out[4] = {{.untouched = 5}, {.untouched = 5}, {.untouched = 5}, {.untouched = 5}};
        facet_bvh *bvh = NULL;

        CHECK(facet_bvh_build(&scene, &config, &bvh, NULL) == FACET_OK);
        CHECK(facet_bvh_trace(bvh, &how, &in, &out[0].hit, sizeof out[0], NULL) == FACET_OK);
        CHECK(out[0].hit.flags == FACET_BVH_HIT &&
              out[3].hit.flags == (FACET_BVH_HIT | FACET_BVH_BACK));
        CHECK(out[1].hit.flags == 0 && out[2].hit.flags == 0 && isinf(out[1].hit.t));
        how.cull_back = true;
        CHECK(facet_bvh_trace(bvh, &how, &in, &out[0].hit, sizeof out[0], NULL) == FACET_OK);
        CHECK(out[0].hit.flags == FACET_BVH_HIT && out[3].hit.flags == 0);
        CHECK(out[0].untouched == 5 && out[3].untouched == 5);
        facet_bvh_destroy(bvh);
    }
}

TEST(a_ray_is_explained_with_the_hit_that_it_has, "")
{
    struct facet_bvh_mesh mesh = hills();
    struct facet_bvh_scene scene = {&mesh, 1, NULL, 0};
    const struct facet_bvh_config tiles = {.format = FACET_BVH_FORMAT_XPHMG};
    const struct facet_bvh_trace_config cull = {.cull_back = true};
    const float ray[8] = {1.25F, 1.25F, 50, 0, 0, -1, 0, 100};
    const float up[8] = {1.25F, 1.25F, -50, 0, 0, 1, 0, 100};
    facet_bvh *bvh = NULL;
    struct facet_error err = {FACET_OK, 0, ""};
    struct facet_blob text;

    CHECK(facet_bvh_build(&scene, NULL, &bvh, NULL) == FACET_OK);
    CHECK(facet_bvh_explain_ray(bvh, NULL, ray, true, &text, &err) == FACET_OK);
    CHECK(text.size > 1000 && strstr(text.data, "\"complete\": true") != NULL);
    CHECK(strstr(text.data, "\"found\": true") != NULL);
    facet_blob_free(&text);
    CHECK(facet_bvh_explain_ray(bvh, NULL, up, false, &text, &err) == FACET_OK);
    CHECK(strstr(text.data, "\nhit ") != NULL);
    facet_blob_free(&text);
    CHECK(facet_bvh_explain_ray(bvh, &cull, up, false, &text, &err) == FACET_OK);
    CHECK(strstr(text.data, "\nno hit") != NULL);
    facet_blob_free(&text);
    facet_bvh_destroy(bvh);

    CHECK(facet_bvh_build(&scene, &tiles, &bvh, NULL) == FACET_OK);
    CHECK(facet_bvh_explain_ray(bvh, NULL, ray, true, &text, &err) == FACET_ERR_USAGE);
    CHECK(text.data == NULL && err.message[0] != '\0');
    facet_bvh_destroy(bvh);

    CHECK(facet_bvh_open("", 0, &bvh, NULL) == FACET_OK); /* no root */
    CHECK(facet_bvh_explain_ray(bvh, NULL, ray, true, &text, &err) == FACET_ERR_INPUT);
    facet_bvh_destroy(bvh);
}

TEST(images_are_opened_refitted_and_shown, "")
{
    struct facet_bvh_mesh mesh = hills();
    struct facet_bvh_scene scene = {&mesh, 1, NULL, 0};

    for (int format = 0; format < 2; format++) {
        const struct facet_bvh_config config = {.format = (enum facet_bvh_format)format};
        facet_bvh *bvh = NULL, *copy = NULL, *same = NULL;
        struct facet_bvh_finding findings[3];
        struct facet_error err = {FACET_OK, 0, ""};
        struct facet_blob text;
        uint64_t count, errors;
        const uint8_t *image, *again;
        size_t size, other;
        uint8_t *bytes;

        CHECK(facet_bvh_build(&scene, &config, &bvh, NULL) == FACET_OK);
        CHECK(facet_bvh_refit(bvh, &scene, &same, &err) == FACET_OK);
        image = facet_bvh_get_image(bvh, &size);
        again = facet_bvh_get_image(same, &other);
        CHECK(size == other && memcmp(image, again, size) == 0);
        for (int json = 0; json < 2; json++) {
            CHECK(facet_bvh_dump(bvh, json != 0, &text, &err) == FACET_OK && text.size > 1000);
            CHECK((((char *)text.data)[0] == '{') == (json != 0));
            facet_blob_free(&text);
        }
        bytes = malloc(size);
        memcpy(bytes, image, size);
        memset(bytes + 256, 0xFF, 512); /* spoils nodes of both formats */
        CHECK(facet_bvh_open(bytes, size, &copy, &err) == FACET_OK);
        CHECK(facet_bvh_get_format(copy) == config.format);
        CHECK(facet_bvh_check(copy, findings, 3, &count, &errors, &err) == FACET_OK);
        CHECK(count >= errors && errors > 0 && findings[0].text[0] != '\0');
        CHECK(findings[0].rule[0] == (format == 0 ? 'V' : 'T'));
        free(bytes);
        facet_bvh_destroy(copy);
        facet_bvh_destroy(same);
        mesh.triangle_count = 3; /* another mesh */
        CHECK(facet_bvh_refit(bvh, &scene, &same, &err) == FACET_ERR_INPUT && same == NULL);
        mesh.triangle_count = TRIANGLES;
        facet_bvh_destroy(bvh);
    }
    {
        facet_bvh *bvh = NULL;
        struct facet_error err = {FACET_OK, 0, ""};

        CHECK(facet_bvh_open("XPHMGBVH and no more", 20, &bvh, &err) == FACET_ERR_INPUT);
        CHECK(bvh == NULL && err.message[0] != '\0');
    }
}

TEST(a_ray_that_a_bad_image_leads_astray_is_named, "")
{
    struct facet_bvh_mesh mesh = hills();
    struct facet_bvh_scene scene = {&mesh, 1, NULL, 0};
    const struct facet_bvh_config config = {.format = FACET_BVH_FORMAT_XPHMG};
    const float start[3][3] = {{-50, -50, 9}, {-60, -60, 9}, {5.3F, 5.6F, 9}}, down[3] = {0, 0, -1};
    const struct facet_bvh_rays rays = {
        .count = 3, .origin = start[0], .origin_stride = sizeof start[0], .direction = down};
    struct facet_error err = {FACET_OK, 0, ""};
    struct facet_bvh_hit hits[3];
    facet_bvh *bvh = NULL, *bad = NULL;
    const uint8_t *image;
    uint8_t *bytes;
    size_t size;

    CHECK(facet_bvh_build(&scene, &config, &bvh, NULL) == FACET_OK);
    image = facet_bvh_get_image(bvh, &size);
    bytes = malloc(size);
    memcpy(bytes, image, size);
    memset(bytes + 128 + 112, 0x0F, 12); /* indices of three children of the root: far away */
    CHECK(facet_bvh_open(bytes, size, &bad, &err) == FACET_OK);
    CHECK(facet_bvh_trace(bad, NULL, &rays, hits, 0, &err) == FACET_ERR_INPUT);
    CHECK_MSG(err.where == 2, "ray %u: %s", (unsigned)err.where, err.message);
    free(bytes);
    facet_bvh_destroy(bad);
    facet_bvh_destroy(bvh);
}

TEST(bad_scenes_and_configs_are_refused, "")
{
    struct facet_bvh_mesh mesh = hills();
    struct facet_bvh_placement flat = {{1, 0, 0, 0, 0, 1}, 0, 0xFF}, elsewhere = moved;
    struct facet_bvh_scene scene = {&mesh, 1, NULL, 0};
    struct facet_bvh_config config = {.leaf_triangles = 17};
    struct facet_error err = {FACET_OK, 0, ""};
    facet_bvh *bvh = NULL;

    CHECK(facet_bvh_build(&scene, &config, &bvh, &err) == FACET_ERR_USAGE);
    config = (struct facet_bvh_config){.format = FACET_BVH_FORMAT_XPHMG, .children = 5};
    CHECK(facet_bvh_build(&scene, &config, &bvh, &err) == FACET_ERR_USAGE);
    config = (struct facet_bvh_config){.format = FACET_BVH_FORMAT_XPHMG, .element = "FP63"};
    CHECK(facet_bvh_build(&scene, &config, &bvh, &err) == FACET_ERR_USAGE);
    for (int format = 0; format < 2; format++) {
        config = (struct facet_bvh_config){.format = (enum facet_bvh_format)format};
        indices[11][2] = (SIDE + 1) * (SIDE + 1);
        CHECK(facet_bvh_build(&scene, &config, &bvh, &err) == FACET_ERR_INPUT && err.where == 11);
        (void)hills();
        elsewhere.mesh = 1;
        scene.placements = &elsewhere;
        scene.placement_count = 1;
        CHECK(facet_bvh_build(&scene, &config, &bvh, &err) == FACET_ERR_INPUT);
        scene.placements = NULL;
    }
    config = (struct facet_bvh_config){.format = FACET_BVH_FORMAT_GFX12};
    scene.placements = &flat;
    CHECK(facet_bvh_build(&scene, &config, &bvh, &err) == FACET_ERR_INPUT);
    CHECK(strstr(err.message, "no inverse") != NULL && bvh == NULL);
}

/* ---- gfx.h, rt.h, num.h ---- */

TEST(a_texel_outside_the_memory_is_an_error_with_its_address, "")
{
    static const uint8_t texels[12] = {255, 255, 255, 255};
    struct facet_gfx_sampler sampler = {.memory = texels,
                                        .memory_size = sizeof texels,
                                        .width = 2,
                                        .height = 2,
                                        .format = facet_gfx_format_find("unorm8_rgba"),
                                        .normalized = true};
    const float uv[2] = {0.75F, 0.75F};
    struct facet_gfx_sample_record record;
    struct facet_error err = {FACET_OK, 0, ""};
    uint32_t elements[2];
    unsigned flags = 0;

    memcpy(elements, uv, sizeof elements);
    CHECK(facet_gfx_explain_sample(&sampler, elements, &record, &flags, &err) == FACET_ERR_FAULT);
    CHECK(err.where == 12 && flags == 0);
    sampler.format = 0xFF;
    CHECK(facet_gfx_explain_sample(&sampler, elements, &record, &flags, &err) == FACET_ERR_USAGE);
    sampler.format = -1;
    CHECK(facet_gfx_explain_sample(&sampler, elements, &record, &flags, &err) == FACET_ERR_USAGE);
}

TEST(tests_of_rays_take_elements_of_other_formats, "")
{
    const struct facet_conv half = {.elem = FACET_FMT_FP16};
    const struct facet_num_policy nearest = {.rm = FACET_RNE};
    const double ray[8] = {0.25, 0.25, 2, 0, 0, -1, 0, 100};
    const double corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    struct facet_rt_triangle_lane_steps steps;
    uint32_t r[8], v[9];
    unsigned flags = 0;

    for (unsigned i = 0; i < 9; i++) {
        v[i] = (uint32_t)facet_num_from_double(FACET_FMT_FP16, corners[i], &nearest, &flags);
        r[i % 8] = (uint32_t)facet_num_from_double(FACET_FMT_FP16, ray[i % 8], &nearest, &flags);
    }
    facet_rt_explain_triangle(&half, NULL, r, v, &steps, &flags);
    CHECK(steps.lane.outcome == FACET_RT_HIT && steps.rule == 11);
    CHECK(facet_num_to_double(FACET_FMT_FP32, steps.lane.value[0]) == 2);
    r[3] = 0x7E00; /* NaN */
    facet_rt_explain_triangle(&half, NULL, r, v, &steps, &flags);
    CHECK(steps.lane.outcome == FACET_RT_NAN && steps.rule == 2);
}

TEST(formats_have_names, "")
{
    for (int f = 0; f < FACET_FMT_COUNT; f++) {
        enum facet_format format = (enum facet_format)f;

        CHECK(facet_format_find(facet_format_name(format)) == format);
        CHECK(facet_format_bits(format) >= 2 && facet_format_bits(format) <= 64);
    }
    CHECK(facet_format_find("fp8_e4m3") == FACET_FMT_E4M3);
    CHECK(facet_format_find("FP8") == FACET_FMT_COUNT);
}
