/* The public face of the machines as a program sees it: names instead of tables, sizes of structs,
 * machines of the wrong kind. Only public headers. */
#include "harness.h"

#include <facet/observer.h>
#include <facet/tile.h>
#include <facet/version.h>
#include <facet/xphmg.h>
#include <stdio.h>
#include <string.h>

static facet_machine *hart(void)
{
    facet_machine *m = NULL;

    CHECK(facet_xphmg_create(NULL, &m, NULL) == FACET_OK);
    return m;
}

static facet_machine *gpu(void)
{
    facet_machine *m = NULL;

    CHECK(facet_tile_create(NULL, &m, NULL) == FACET_OK);
    return m;
}

TEST(the_version_of_the_headers_is_that_of_the_library, "")
{
    char text[32];

    (void)snprintf(text,
                   sizeof text,
                   "%d.%d.%d",
                   FACET_VERSION_MAJOR,
                   FACET_VERSION_MINOR,
                   FACET_VERSION_PATCH);
    CHECK(strcmp(text, facet_version()) == 0);
    CHECK(strcmp(text, FACET_VERSION) == 0);
    CHECK_EQ(facet_version_number(), FACET_VERSION_NUMBER);
}

TEST(registers_csrs_and_fields_have_one_line_access, "")
{
    facet_machine *m = hart();
    uint64_t value = 7, whole = 0;

    CHECK(facet_machine_set(m, 0, "x5", 0x1234) == FACET_OK);
    CHECK(facet_machine_get(m, 0, "t0", &value) == FACET_OK && value == 0x1234);
    CHECK(facet_machine_set(m, 0, "mscratch", UINT64_MAX) == FACET_OK);
    CHECK(facet_machine_get(m, 0, "MSCRATCH", &value) == FACET_OK && value == UINT64_MAX);
    CHECK(facet_machine_set(m, 0, "mstatus.MIE", 1) == FACET_OK);
    CHECK(facet_machine_get(m, 0, "mstatus.MIE", &value) == FACET_OK && value == 1);
    CHECK(facet_machine_get(m, 0, "mstatus", &whole) == FACET_OK && (whole >> 3 & 1) == 1);
    /* a CSR with dots in its name, and APPLY0 */
    CHECK(facet_machine_get(m, 0, "CAP.PREC.MODE.EW", &value) == FACET_OK && value == 1);
    CHECK(facet_machine_set(m, 0, "CAP.PREC.MODE", UINT64_C(1) << 63 | 2 << 19) == FACET_OK);
    CHECK(facet_machine_get(m, 0, "cap.prec.mode.ew", &value) == FACET_OK && value == 2);
    /* nothing that could be taken for a value */
    CHECK(facet_machine_get(m, 0, "x55", &value) == FACET_ERR_USAGE && value == 0);
    CHECK(facet_machine_get(m, 1, "x5", &value) == FACET_ERR_USAGE);
    CHECK(facet_machine_set(m, 0, "x0", 1) == FACET_ERR_USAGE);
    CHECK(facet_machine_set(m, 0, "mstatus.MIE", 2) == FACET_ERR_USAGE);
    facet_machine_destroy(m);

    m = gpu(); /* a vector has 128 bits */
    value = 9;
    CHECK(facet_machine_get(m, 3, "v1", &value) == FACET_ERR_USAGE && value == 0);
    CHECK(facet_machine_set(m, 3, "v1", 1) == FACET_ERR_USAGE);
    CHECK(facet_machine_set(m, 3, "s1", 5) == FACET_OK);
    CHECK(facet_machine_get(m, 3, "s1", &value) == FACET_OK && value == 5);
    facet_machine_destroy(m);
}

/* The config of a library that is one member ahead of, or behind, this one. */
TEST(configs_grow_at_their_end, "")
{
    struct {
        struct facet_xphmg_config known;
        uint64_t more;
    } newer = {.known = {.harts = 2}};
    struct facet_tile_config older = {.vram = 1 << 20, .regs = 99};
    struct {
        struct facet_tile_info known;
        uint64_t more;
    } info;
    struct facet_error err = {FACET_OK, 0, ""};
    facet_machine *m = NULL;

    CHECK(facet_xphmg_create_sized(&newer.known, sizeof newer, &m, &err) == FACET_OK);
    CHECK_EQ(facet_machine_core_count(m), 2);
    facet_machine_destroy(m);
    newer.more = 1;
    CHECK(facet_xphmg_create_sized(&newer.known, sizeof newer, &m, &err) == FACET_ERR_USAGE);
    CHECK(m == NULL && strstr(err.message, "facet_xphmg_config") != NULL);

    /* `regs` is behind the end and not looked at; so are members of the answer */
    CHECK(facet_tile_create_sized(&older, offsetof(struct facet_tile_config, regs), &m, &err) ==
          FACET_OK);
    memset(&info, 0xEE, sizeof info);
    CHECK(facet_tile_get_info_sized(
              m, &info.known, offsetof(struct facet_tile_info, hwinfo), NULL) == FACET_OK);
    CHECK(info.known.watchdog == FACET_TILE_WATCHDOG && info.known.hwinfo == 0xEEEEEEEE);
    CHECK(facet_tile_get_info_sized(m, &info.known, sizeof info, NULL) == FACET_OK);
    CHECK(info.known.vram_bytes == 1 << 20 && info.more == 0);
    facet_machine_destroy(m);
}

static void count(void *context, const struct facet_retire_event *event)
{
    (void)event;
    ++*(unsigned *)context;
}

TEST(an_observer_is_copied, "")
{
    struct {
        struct facet_observer known;
        void (*more)(void);
    } observer = {.known = {.retire = count}};
    uint8_t nop[4] = {0x13, 0, 0, 0};
    facet_machine *m = hart();
    struct facet_stop stop;
    unsigned steps = 0;

    observer.known.context = &steps;
    CHECK(facet_machine_write(m, 0, FACET_XPHMG_RAM_BASE, nop, 4, NULL) == FACET_OK);
    CHECK(facet_machine_observe_sized(m, &observer.known, sizeof observer) == FACET_OK);
    memset(&observer, 0, sizeof observer);
    facet_machine_step(m, &stop);
    CHECK_EQ(steps, 1);
    memset(&observer, 0x55, sizeof observer);
    CHECK(facet_machine_observe_sized(m, &observer.known, sizeof observer) == FACET_ERR_USAGE);
    facet_machine_destroy(m);
}

TEST(a_machine_of_the_wrong_kind_is_an_error, "")
{
    facet_machine *h = hart(), *g = gpu();
    struct facet_tile_info info = {.rounds = 9};
    struct facet_tile_core_report report;
    struct facet_tile_packet packet = {0};
    struct facet_tile_command command = {0};
    struct facet_xphmg_fault fault;
    struct facet_xphmg_framebuffer frame;
    struct facet_error err = {FACET_OK, 0, ""};
    uint32_t word;
    size_t words;
    bool wants;
    const enum facet_status of_hart[] = {
        facet_tile_clear(h, NULL),
        facet_tile_load_elf(h, "", 0, NULL, NULL),
        facet_tile_set_sampler(h, 0, &(struct facet_tile_sampler){0}, NULL),
        facet_tile_packet_check(h, &packet, NULL),
        facet_tile_dispatch(h, &packet, NULL),
        facet_tile_get_info(h, &info, &err),
        facet_tile_set_watchdog(h, 5, NULL),
        facet_tile_doorbell(h, 15, NULL),
        facet_tile_abort(h, NULL),
        facet_tile_get_core_report(h, 0, &report, NULL),
        facet_tile_host_read(h, 0, &word, NULL),
        facet_tile_host_write(h, 0, 0, NULL),
        facet_tile_ring(h, 0, 64, NULL),
        facet_tile_push(h, &command, NULL),
        facet_tile_flush(h, NULL, NULL, NULL),
        facet_tile_take(h, &word, 1, &words, NULL),
        facet_tile_slot_read(h, 0, &word, NULL),
        facet_tile_slot_write(h, 0, 0, NULL),
    };
    const enum facet_status of_gpu[] = {
        facet_xphmg_load_elf(g, "", 0, NULL),
        facet_xphmg_input(g, "", 0, NULL),
        facet_xphmg_input_end(g, NULL),
        facet_xphmg_wants_input(g, &wants, NULL),
        facet_xphmg_get_fault(g, &fault, NULL),
        facet_xphmg_get_framebuffer(g, &frame, NULL),
        facet_xphmg_set_profile(g, 0, 0, NULL),
    };

    for (size_t i = 0; i < sizeof of_hart / sizeof of_hart[0]; i++) {
        CHECK_MSG(of_hart[i] == FACET_ERR_USAGE, "call %zu of a hart", i);
    }
    for (size_t i = 0; i < sizeof of_gpu / sizeof of_gpu[0]; i++) {
        CHECK_MSG(of_gpu[i] == FACET_ERR_USAGE, "call %zu of a tile machine", i);
    }
    CHECK_EQ(info.rounds, 0);
    CHECK(strcmp(err.message, "the machine is of kind xphmg; expected tile") == 0);
    CHECK(facet_tile_get_core_report(g, 4, &report, &err) == FACET_ERR_USAGE);
    facet_machine_destroy(h);
    facet_machine_destroy(g);
}
