/* A driver's first triangle: buffers and descriptors into VRAM, commands into the ring, one
 * doorbell, one fence, and the picture read back and printed as letters.
 *
 *     tile_host
 *
 * Only the public headers are used. docs/tile-host.md walks through it. */
#include <facet/tile.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Addresses in VRAM; a driver would have an allocator. */
enum { WIDTH = 48, HEIGHT = 16 };
#define AT(offset) (FACET_TILE_VRAM_BASE + UINT32_C(offset))
#define RING AT(0x0000)   /* 4096 bytes */
#define SLOTS AT(0x1000)  /* 256 completion slots */
#define RSTATE AT(0x2000) /* descriptors */
#define GSTATE AT(0x2040)
#define RRECT AT(0x20C0)
#define GDRAW AT(0x20D0)
#define VERTICES AT(0x2100)
#define PICTURE AT(0x3000)

static facet_machine *machine;
static struct facet_error error;

static bool put(uint32_t address, const void *data, size_t size)
{
    return facet_machine_write(machine, 0, address, data, size, &error) == FACET_OK;
}

static bool write_register(uint32_t offset, uint32_t value)
{
    return facet_tile_host_write(machine, offset, value, &error) == FACET_OK;
}

static uint32_t read_register(uint32_t offset)
{
    uint32_t value = 0;

    (void)facet_tile_host_read(machine, offset, &value, NULL);
    return value;
}

/* The host is little-endian here, as the machine is. */
static bool write_buffers(void)
{
    static const struct {
        float position[4];
        uint32_t color;
    } vertices[3] = {{{0, 0.9F, 0, 1}, 0xFFFF2020},
                     {{0.9F, -0.8F, 0, 1}, 0xFF20FF20},
                     {{-0.9F, -0.8F, 0, 1}, 0xFF2020FF}};
    const struct facet_tile_rstate_fields state = {
        .fb_base = PICTURE,
        .fb_stride = 4 * WIDTH,
        .fb_format = FACET_TILE_RSTATE_FB_FORMAT_ARGB8888,
        .fb_wh = {WIDTH, HEIGHT},
    };
    const struct facet_tile_gstate_fields geometry = {
        .vbo_base = VERTICES,
        .stride = sizeof vertices[0],
        .attributes = FACET_TILE_GSTATE_ATTRIBUTES_COLOR,
        .mvp = {[0] = 1, [5] = 1, [10] = 1, [15] = 1},
    };
    struct facet_tile_rrect_fields background = facet_tile_rrect_default(); /* current state */
    struct facet_tile_gdraw_fields triangle = facet_tile_gdraw_default();
    uint32_t rstate[FACET_TILE_RSTATE_WORDS], gstate[FACET_TILE_GSTATE_WORDS];
    uint32_t rrect[FACET_TILE_RRECT_WORDS], gdraw[FACET_TILE_GDRAW_WORDS];

    background.wh[0] = WIDTH;
    background.wh[1] = HEIGHT;
    background.color = 0xFF000010;
    triangle.count = 3;
    facet_tile_rstate_pack(&state, rstate);
    facet_tile_gstate_pack(&geometry, gstate);
    facet_tile_rrect_pack(&background, rrect);
    facet_tile_gdraw_pack(&triangle, gdraw);
    return put(RSTATE, rstate, sizeof rstate) && put(RRECT, rrect, sizeof rrect) &&
           put(GDRAW, gdraw, sizeof gdraw) && put(GSTATE, gstate, sizeof gstate) &&
           put(VERTICES, vertices, sizeof vertices);
}

static bool push(uint8_t opcode, uint8_t flags, uint32_t arg0, uint32_t arg1)
{
    struct facet_tile_command command = {0};

    command.opcode = opcode;
    command.flags = flags;
    command.slot = 7; /* of EMIT */
    command.arg[0] = arg0;
    command.arg[1] = arg1;
    return facet_tile_push(machine, &command, &error) == FACET_OK;
}

static bool draw(void)
{
    return facet_tile_ring(machine, RING, 4096, &error) == FACET_OK &&
           write_register(FACET_TILE_REG_COMPLETION_BASE, SLOTS) &&
           push(FACET_TILE_CMD_LOAD_RSTATE, 0, 0, RSTATE) &&
           push(FACET_TILE_CMD_LOAD_GSTATE, 0, 0, GSTATE) &&
           push(FACET_TILE_CMD_RRECT, 0, RRECT, 0) &&
           push(FACET_TILE_CMD_GDRAW, FACET_TILE_FLAG_EMIT | FACET_TILE_FLAG_IRQ, GDRAW, 0);
}

/* The strongest channel as a letter. */
static char letter(uint32_t pixel)
{
    uint32_t r = pixel >> 16 & 0xFF, g = pixel >> 8 & 0xFF, b = pixel & 0xFF;

    if (r < 0x20 && g < 0x20) {
        return '.';
    }
    return r >= g && r >= b ? 'R' : g >= b ? 'G' : 'B';
}

static bool print_picture(void)
{
    static uint32_t picture[HEIGHT][WIDTH];

    if (facet_machine_read(machine, 0, PICTURE, picture, sizeof picture, &error) != FACET_OK) {
        return false;
    }
    for (unsigned y = 0; y < HEIGHT; y++) {
        for (unsigned x = 0; x < WIDTH; x++) {
            (void)putchar(letter(picture[y][x]));
        }
        (void)putchar('\n');
    }
    return true;
}

static bool run(void)
{
    struct facet_tile_config config = {0};
    struct facet_tile_info info;
    uint32_t fence = 0;

    config.vram = 1 << 20;
    if (facet_tile_create(&config, &machine, &error) != FACET_OK || !write_buffers() || !draw()) {
        return false;
    }
    if (facet_tile_flush(machine, NULL, NULL, &error) != FACET_OK || /* doorbell, then run */
        facet_tile_get_info(machine, &info, &error) != FACET_OK ||
        facet_tile_slot_read(machine, 7, &fence, &error) != FACET_OK) {
        return false;
    }
    printf("queue %s after %" PRIu64 " commands, last error: %s\n",
           facet_tile_queue_state_name(info.queue),
           info.commands,
           facet_tile_status_name(read_register(FACET_TILE_REG_LAST_ERROR)));
    printf("slot 7 holds %" PRIu32 ", interrupt bits %" PRIu32 "\n",
           fence,
           read_register(FACET_TILE_REG_INT_STATUS));
    return print_picture();
}

int main(void)
{
    bool good = run();

    if (!good) {
        (void)fprintf(stderr, "tile_host: %s\n", error.message);
    }
    facet_machine_destroy(machine);
    return good ? 0 : 2;
}
