/* A kernel on the tile GPU: started once for each of three tiles, it adds up their numbers. */
#include <facet/isa.h>
#include <facet/tile.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char kernel[] = "  CSRR s5, arg_base\n" /* the address of the sum */
                             "  LW s6, 0(s5)\n"
                             "  CSRR s7, tile_offset\n"
                             "  ANDI s7, s7, 0x3ff\n" /* x of the tile's first pixel */
                             "  AADD s8, s7, (s6), rlx\n"
                             "  EXIT\n";

int main(void)
{
    struct facet_isa_assemble_config config = {FACET_ISA_TILE};
    struct facet_tile_packet packet;
    struct facet_tile_info info;
    struct facet_run run = {UINT64_MAX, false};
    struct facet_blob elf = {NULL, 0};
    struct facet_error err;
    struct facet_stop stop;
    facet_machine *gpu = NULL;
    const uint8_t argument[4] = {0x00, 0x00, 0x01, 0x80}; /* 0x80010000 */
    uint8_t sum[4];

    memset(&packet, 0, sizeof packet);
    packet.columns = 3;
    packet.rows = 1;
    packet.arg_base = 0x80008000;
    packet.arg_size = 4;
    if (facet_isa_assemble(&config, kernel, strlen(kernel), &elf, NULL, &err) != FACET_OK ||
        facet_tile_create(NULL, &gpu, &err) != FACET_OK ||
        facet_tile_load_elf(gpu, elf.data, elf.size, &packet.pc, &err) != FACET_OK ||
        facet_machine_write(gpu, 0, packet.arg_base, argument, 4, &err) != FACET_OK ||
        facet_tile_dispatch(gpu, &packet, &err) != FACET_OK) {
        puts(err.message);
        return 2;
    }
    facet_blob_free(&elf);
    facet_machine_run(gpu, &run, &stop);
    if (facet_tile_get_info(gpu, &info, &err) != FACET_OK ||
        facet_machine_read(gpu, 0, 0x80010000, sum, 4, &err) != FACET_OK) {
        puts(err.message);
        return 2;
    }
    printf("%s after %" PRIu64 " rounds, sum %d\n",
           info.state == FACET_TILE_STATE_DONE ? "done" : "not done",
           info.rounds,
           sum[0]);
    facet_machine_destroy(gpu);
    return 0;
}
