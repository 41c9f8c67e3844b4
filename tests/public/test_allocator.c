/* The program's own allocator gets every request, and everything back. */
#include "harness.h"

#include <facet/bvh.h>
#include <facet/isa.h>
#include <facet/memory.h>
#include <facet/tile.h>
#include <facet/xphmg.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 64, MARK = 0x5EED };

/* In front of every block: its size, and a mark that memory of somebody else does not have. */
struct head {
    size_t size;
    unsigned mark;
    void *whole;
};

static long live, asked;

static struct head *head_of(void *memory)
{
    return (struct head *)(void *)((char *)memory - HEAD);
}

static void *allocate(void *context, size_t size, size_t align)
{
    size_t room = align > HEAD ? align : HEAD;
    char *whole = aligned_alloc(room, (room + size + room - 1) / room * room);

    CHECK(context == &live);
    if (whole != NULL) {
        *head_of(whole + room) = (struct head){size, MARK, whole};
        live++;
        asked++;
    }
    return whole != NULL ? whole + room : NULL;
}

static void release(void *context, void *memory)
{
    struct head *head = head_of(memory);

    CHECK(context == &live && head->mark == MARK);
    head->mark = 0;
    live--;
    free(head->whole);
}

static void *resize(void *context, void *memory, size_t size)
{
    void *other = allocate(context, size, 0);

    if (other != NULL && memory != NULL) {
        size_t old = head_of(memory)->size;

        memcpy(other, memory, old < size ? old : size);
        release(context, memory);
    }
    return other;
}

TEST(all_memory_comes_from_the_allocator_and_goes_back, "")
{
    const struct facet_allocator own = {&live, allocate, resize, release};
    struct facet_allocator half = own;
    struct facet_isa_assemble_config config = {.isa = FACET_ISA_XPHMG};
    static const float corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    const struct facet_bvh_mesh mesh = {
        .positions = corners, .vertex_count = 3, .triangle_count = 1};
    const struct facet_bvh_scene scene = {&mesh, 1, NULL, 0};
    const float origin[3] = {0.2F, 0.2F, 1}, down[3] = {0, 0, -1};
    const struct facet_bvh_rays ray = {.count = 1, .origin = origin, .direction = down};
    facet_machine *machine = NULL;
    struct facet_error err = {FACET_OK, 0, ""};
    struct facet_blob elf, state;
    struct facet_stop stop;
    const struct facet_run run = {100, false};

    half.resize = NULL;
    CHECK(facet_set_allocator(&half, &err) == FACET_ERR_USAGE);
    CHECK(facet_set_allocator(&own, &err) == FACET_OK);
    CHECK(facet_isa_assemble(&config, "li a0, 1\nx: j x\n", 16, &elf, NULL, &err) == FACET_OK);
    CHECK(facet_xphmg_create(NULL, &machine, &err) == FACET_OK);
    CHECK(facet_xphmg_load_elf(machine, elf.data, elf.size, &err) == FACET_OK);
    facet_machine_run(machine, &run, &stop);
    CHECK(facet_machine_snapshot(machine, &state, &err) == FACET_OK);
    facet_blob_free(&state);
    facet_blob_free(&elf);
    facet_machine_destroy(machine);
    CHECK(facet_tile_create(NULL, &machine, &err) == FACET_OK);
    facet_machine_destroy(machine);
    for (int format = 0; format < 2; format++) {
        const struct facet_bvh_config how = {.format = (enum facet_bvh_format)format,
                                             .quality = FACET_BVH_HIGH};
        struct facet_bvh_hit hit;
        facet_bvh *bvh = NULL;

        CHECK(facet_bvh_build(&scene, &how, &bvh, &err) == FACET_OK);
        CHECK(facet_bvh_trace(bvh, NULL, &ray, &hit, 0, &err) == FACET_OK);
        CHECK((hit.flags & FACET_BVH_HIT) != 0);
        facet_bvh_destroy(bvh);
    }
    CHECK(asked > 50 && live == 0);
    CHECK(facet_set_allocator(NULL, &err) == FACET_ERR_USAGE); /* too late */
}
