/* The command queue and the host registers (tile-semantics.md 18, 19), worked by hand: what stands
 * in VRAM, in the slots and in the registers after each command. */
#include "kernel.h"

#include "base/bits.h"

#define RING UINT32_C(0x80040000)
#define SLOTS UINT32_C(0x80042000)
#define PACKET UINT32_C(0x80043000)
#define PICTURE UINT32_C(0x80050000)

static struct kernel k;

static uint32_t reg(uint32_t offset)
{
    uint32_t value = 0xAAAAAAAA;

    CHECK(facet_tile_host_read(k.machine, offset, &value, NULL) == FACET_OK);
    return value;
}

static void set(uint32_t offset, uint32_t value)
{
    CHECK(facet_tile_host_write(k.machine, offset, value, NULL) == FACET_OK);
}

static void open_queue(uint32_t size)
{
    kernel_open(&k, NULL);
    CHECK(facet_tile_ring(k.machine, RING, size, NULL) == FACET_OK);
    set(FACET_TILE_REG_COMPLETION_BASE, SLOTS);
}

static void push(
    uint8_t opcode, uint8_t flags, uint8_t slot, uint8_t length, uint32_t a, uint32_t b, uint32_t c)
{
    const struct facet_tile_command command = {
        .opcode = opcode, .flags = flags, .slot = slot, .length = length, .arg = {a, b, c}};
    struct facet_error err = {0};

    CHECK_MSG(facet_tile_push(k.machine, &command, &err) == FACET_OK, "%s", err.message);
}

static void push_words(uint32_t address, uint32_t count, const uint32_t *words)
{
    const struct facet_tile_command command = {.opcode = FACET_TILE_CMD_WRITE_MEM,
                                               .flags = FACET_TILE_FLAG_PAYLOAD,
                                               .length = (uint8_t)count,
                                               .arg = {address},
                                               .payload = words};

    CHECK(facet_tile_push(k.machine, &command, NULL) == FACET_OK);
}

static size_t take(uint32_t *words, size_t max)
{
    size_t count = SIZE_MAX;

    CHECK(facet_tile_take(k.machine, words, max, &count, NULL) == FACET_OK);
    return count;
}

static uint32_t flush(void)
{
    enum facet_tile_queue_state state = FACET_TILE_QUEUE_ACTIVE;

    CHECK(facet_tile_flush(k.machine, &state, NULL, NULL) == FACET_OK);
    return (uint32_t)state;
}

/* One command alone; gives its status. */
static uint32_t
alone(uint8_t opcode, uint8_t flags, uint8_t length, uint32_t a, uint32_t b, uint32_t c)
{
    push(opcode, flags, 0, length, a, b, c);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    return reg(FACET_TILE_REG_LAST_STATUS);
}

static void put_packet(uint32_t pc, uint32_t columns, uint32_t rows, uint32_t arg_base)
{
    struct facet_tile_packet packet = {
        .pc = pc, .columns = columns, .rows = rows, .arg_base = arg_base, .arg_size = 32};
    uint8_t bytes[64];

    facet_tile_packet_write(&packet, bytes);
    CHECK(facet_machine_write(k.machine, 0, PACKET, bytes, sizeof bytes, NULL) == FACET_OK);
}

/* ---- registers ---- */

TEST(registers, "TILE-485")
{
    uint32_t value;

    open_queue(256);
    CHECK_EQ(reg(FACET_TILE_REG_ID_VERSION), 0x01000000);
    CHECK_EQ(reg(FACET_TILE_REG_ID_FEATURES), kernel_csr(&k, 0, "hwinfo"));
    CHECK_EQ(reg(FACET_TILE_REG_INT_STATUS), 0);
    CHECK_EQ(reg(FACET_TILE_REG_CMDQ_BASE), RING);
    CHECK_EQ(reg(FACET_TILE_REG_CMDQ_SIZE), 256);
    CHECK_EQ(reg(FACET_TILE_REG_CMDQ_PROD), 0);
    CHECK_EQ(reg(FACET_TILE_REG_CMDQ_CONS), 0);
    CHECK_EQ(reg(FACET_TILE_REG_CMDQ_DOORBELL), 0);
    CHECK_EQ(reg(FACET_TILE_REG_FENCE_VALUE), 0);
    CHECK_EQ(reg(FACET_TILE_REG_LAST_STATUS), 0);
    CHECK_EQ(reg(FACET_TILE_REG_LAST_ERROR), 0);
    CHECK_EQ(reg(FACET_TILE_REG_COMPLETION_BASE), SLOTS);
    CHECK_EQ(reg(FACET_TILE_REG_WDOG_DEFAULT), 50000000);
    set(FACET_TILE_REG_WDOG_DEFAULT, 77);
    CHECK_EQ(reg(FACET_TILE_REG_WDOG_DEFAULT), 77);
    CHECK_EQ(facet_tile_info_of(k.machine).watchdog, 77);
    /* read-only registers keep their values */
    set(FACET_TILE_REG_ID_VERSION, 5);
    set(FACET_TILE_REG_CMDQ_CONS, 5);
    set(FACET_TILE_REG_FENCE_VALUE, 5);
    set(FACET_TILE_REG_LAST_STATUS, 5);
    set(FACET_TILE_REG_CU_CAUSE, 5);
    CHECK_EQ(reg(FACET_TILE_REG_ID_VERSION), 0x01000000);
    CHECK_EQ(reg(FACET_TILE_REG_CMDQ_CONS), 0);
    CHECK_EQ(reg(FACET_TILE_REG_FENCE_VALUE), 0);
    CHECK_EQ(reg(FACET_TILE_REG_LAST_STATUS), 0);
    CHECK_EQ(reg(FACET_TILE_REG_CU_CAUSE), 0);
    CHECK_EQ(reg(0xFFC), 0);
    CHECK(facet_tile_host_read(k.machine, 0x1000, &value, NULL) == FACET_ERR_FAULT);
    CHECK(facet_tile_host_write(k.machine, 2, 0, NULL) == FACET_ERR_FAULT);
    /* the doorbell of cores 1 and 3 */
    set(FACET_TILE_REG_DOORBELL, 0xFA);
    for (uint32_t core = 0; core < 4; core++) {
        CHECK_EQ(kernel_csr(&k, core, "int_status"), core & 1);
    }
    /* a ring that moves is empty */
    push(FACET_TILE_CMD_NOP, 0, 0, 0, 0, 0, 0);
    CHECK_EQ(reg(FACET_TILE_REG_CMDQ_PROD), 16);
    set(FACET_TILE_REG_CMDQ_SIZE, 512);
    CHECK_EQ(reg(FACET_TILE_REG_CMDQ_PROD), 0);
    kernel_close(&k);
}

TEST(argument_block_of_vertex_kernels, "TILE-466")
{
    const struct facet_tile_cu_assist_fields args = {.in_vbo = 1,
                                                     .out_vbo = 2,
                                                     .count = 3,
                                                     .stride = 4,
                                                     .mvp_ptr = 5,
                                                     .normal_ptr = 6,
                                                     .param_ptr = 7,
                                                     .flags = FACET_TILE_CU_ASSIST_FLAGS_NORMALS |
                                                              FACET_TILE_CU_ASSIST_FLAGS_LIGHT0};
    uint32_t words[FACET_TILE_CU_ASSIST_WORDS];

    CHECK_EQ(FACET_TILE_CU_ASSIST_SIZE, 32);
    CHECK_EQ(FACET_TILE_CU_ASSIST_ALIGN, 16);
    facet_tile_cu_assist_pack(&args, words);
    for (unsigned i = 0; i < 7; i++) {
        CHECK_EQ(words[i], i + 1);
    }
    CHECK_EQ(words[7], 3);
}

TEST(fault_registers, "")
{
    open_queue(256);
    CHECK(kernel_load(
        &k, VRAM, "CSRR s1, 0xC00\nMOVI s2, 0x40000000\nBNE s1, s0, 8\nLW s3, 4(s2)\nEXIT"));
    put_packet(VRAM, 4, 1, 0);
    CHECK_EQ(alone(FACET_TILE_CMD_DISPATCH, 0, 0, PACKET, 0, 0), 0x24);
    CHECK_EQ(reg(FACET_TILE_REG_CU_CAUSE), 4);
    CHECK_EQ(reg(FACET_TILE_REG_CU_ADDR), 0x40000004);
    CHECK_EQ(reg(FACET_TILE_REG_CU_PC), VRAM + 16);
    CHECK_EQ(reg(FACET_TILE_REG_CU_STATUS), ST_MEMF);
    for (uint32_t core = 1; core < 4; core++) {
        CHECK_EQ(reg(FACET_TILE_REG_CU_CAUSE + 0x20 * core), 0);
        CHECK_EQ(reg(FACET_TILE_REG_CU_STATUS + 0x20 * core), 0);
    }
    CHECK_EQ(reg(FACET_TILE_REG_INT_STATUS), FACET_TILE_INT_FAULT);
    set(FACET_TILE_REG_INT_STATUS, FACET_TILE_INT_COMMAND);
    CHECK_EQ(reg(FACET_TILE_REG_INT_STATUS), FACET_TILE_INT_FAULT);
    set(FACET_TILE_REG_INT_STATUS, FACET_TILE_INT_FAULT);
    CHECK_EQ(reg(FACET_TILE_REG_INT_STATUS), 0);
    kernel_close(&k);
}

/* ---- ring and statuses ---- */

TEST(words_wrap_at_the_end_of_the_ring, "")
{
    static const uint32_t words[5] = {1, 2, 3, 4, 5};

    open_queue(64);
    CHECK_EQ(facet_tile_info_of(k.machine).ring_room, 60);
    push(FACET_TILE_CMD_NOP, 0, 0, 0, 0, 0, 0);
    push(FACET_TILE_CMD_NOP, 0, 0, 0, 0, 0, 0);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK_EQ(reg(FACET_TILE_REG_CMDQ_CONS), 32);
    push_words(DATA, 5, words); /* 36 bytes from 32 on */
    CHECK_EQ(reg(FACET_TILE_REG_CMDQ_PROD), 4);
    CHECK_EQ(kernel_get(&k, RING), 5);
    CHECK_EQ(facet_tile_info_of(k.machine).ring_room, 24);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    for (unsigned i = 0; i < 5; i++) {
        CHECK_EQ(kernel_get(&k, DATA + 4 * i), i + 1);
    }
    CHECK_EQ(kernel_get(&k, DATA + 20), 0);
    CHECK_EQ(facet_tile_info_of(k.machine).commands, 3);
    /* too much for the ring */
    {
        const struct facet_tile_command big = {
            .opcode = 1, .flags = 8, .length = 12, .payload = words};

        CHECK(facet_tile_push(k.machine, &big, NULL) == FACET_ERR_LIMIT);
        CHECK_EQ(reg(FACET_TILE_REG_CMDQ_PROD), 4);
    }
    CHECK(facet_tile_ring(k.machine, RING, 96, NULL) == FACET_ERR_USAGE);
    CHECK(facet_tile_ring(k.machine, RING + 16, 64, NULL) == FACET_ERR_USAGE);
    CHECK(facet_tile_ring(k.machine, 0x30000000, 64, NULL) == FACET_ERR_USAGE);
    kernel_close(&k);
}

TEST(header_layout, "TILE-396 TILE-397 TILE-492")
{
    /* by hand: opcode, flags, rdst, len of the first word; no helper of the library writes it */
    open_queue(256);
    kernel_put(&k, RING + 0, 0x02060901); /* WRITE_MEM, flags IRQ and PAYLOAD, rdst 6, 2 words */
    kernel_put(&k, RING + 4, DATA);
    kernel_put(&k, RING + 16, 0x11);
    kernel_put(&k, RING + 20, 0x22);
    kernel_put(&k, RING + 24, 0x00070200); /* NOP, EMIT, rdst 7 */
    kernel_put(&k, RING + 40, 0x00070400); /* NOP, WAIT, rdst 7: satisfied by the EMIT */
    set(FACET_TILE_REG_CMDQ_PROD, 56);
    CHECK_EQ(reg(FACET_TILE_REG_CMDQ_CONS), 0); /* nothing happens before the doorbell */
    set(FACET_TILE_REG_CMDQ_DOORBELL, 0);
    k.stop = (struct facet_stop){0};
    facet_machine_run(k.machine, &(struct facet_run){.budget = UINT64_MAX}, &k.stop);
    CHECK(k.stop.reason == FACET_STOP_IDLE);
    CHECK_EQ(k.stop.steps, 3);
    CHECK_EQ(reg(FACET_TILE_REG_CMDQ_CONS), 56);
    CHECK_EQ(kernel_get(&k, DATA), 0x11);
    CHECK_EQ(kernel_get(&k, DATA + 4), 0x22);
    CHECK_EQ(reg(FACET_TILE_REG_INT_STATUS), FACET_TILE_INT_COMMAND);
    CHECK_EQ(kernel_get(&k, SLOTS + 4 * 7), 1);
    CHECK_EQ(kernel_get(&k, SLOTS + 4 * 6), 0);
    CHECK_EQ(reg(FACET_TILE_REG_FENCE_VALUE), 1);
    for (uint32_t core = 0; core < 4; core++) {
        CHECK_EQ(kernel_csr(&k, core, "int_status"), 2);
    }
    kernel_close(&k);
}

TEST(statuses, "")
{
    open_queue(1024);
    /* the payload of an unknown opcode is skipped, the next command runs */
    push(0x77, FACET_TILE_FLAG_PAYLOAD | FACET_TILE_FLAG_EMIT, 3, 0, 0, 0, 0);
    kernel_put(&k, RING, 0x02030A77); /* with a payload of two words */
    set(FACET_TILE_REG_CMDQ_PROD, 24);
    push(FACET_TILE_CMD_NOP, 0, 0, 0, 0, 0, 0);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK_EQ(reg(FACET_TILE_REG_LAST_STATUS), 0);
    CHECK_EQ(reg(FACET_TILE_REG_LAST_ERROR), 0x30);
    CHECK_EQ(kernel_get(&k, SLOTS + 12), 1); /* emitted after the failure */
    CHECK_EQ(facet_tile_info_of(k.machine).commands, 2);
    /* LAST_ERROR keeps the first */
    CHECK_EQ(alone(FACET_TILE_CMD_READ_MEM, 0, 1, 0x7FFFFFFC, 0, 0), 0x31);
    CHECK_EQ(reg(FACET_TILE_REG_LAST_ERROR), 0x30);
    set(FACET_TILE_REG_LAST_ERROR, 0x1234);
    CHECK_EQ(reg(FACET_TILE_REG_LAST_ERROR), 0);
    CHECK_EQ(alone(FACET_TILE_CMD_READ_MEM, 0, 1, DATA + 2, 0, 0), 0x31);
    CHECK_EQ(reg(FACET_TILE_REG_LAST_ERROR), 0x31);
    CHECK_EQ(alone(FACET_TILE_CMD_READ_MEM, 0, 2, VRAM + (1 << 20) - 4, 0, 0), 0x31);
    CHECK_EQ(alone(FACET_TILE_CMD_COPY_BUFFER, 0, 1, DATA, 0x8000, 0), 0x31); /* scratch */
    CHECK_EQ(alone(FACET_TILE_CMD_WAIT_FENCE, 0, 0, 256, 0, 0), 0x31);
    CHECK_EQ(alone(FACET_TILE_CMD_LOAD_SAMPLER, 0, 0, 32, DATA, 0), 0x31);
    CHECK_EQ(alone(FACET_TILE_CMD_LOAD_SAMPLER, 0, 0, 31, DATA + 16, 0), 0x31);
    CHECK_EQ(alone(FACET_TILE_CMD_LOAD_RSTATE, 0, 0, 16, DATA, 0), 0x31);
    CHECK_EQ(alone(FACET_TILE_CMD_DISPATCH, 0, 0, PACKET + 4, 0, 0), 0x31);
    put_packet(0x30000001, 1, 1, 0);
    CHECK_EQ(alone(FACET_TILE_CMD_DISPATCH, 0, 0, PACKET, 0, 0), 0x31);
    put_packet(VRAM, 0, 9, 0); /* no tiles */
    CHECK_EQ(alone(FACET_TILE_CMD_DISPATCH, 0, 0, PACKET, 0, 0), 0);
    /* graphics: 0x10 + code */
    CHECK_EQ(alone(FACET_TILE_CMD_LOAD_RSTATE, 0, 0, 0, DATA + 4, 0), 0x11);
    CHECK_EQ(alone(FACET_TILE_CMD_LOAD_GSTATE, 0, 0, 0, 0x30000000, 0), 0x12);
    CHECK_EQ(alone(FACET_TILE_CMD_RRECT, 0, 0, DATA, 3, 1), 0x13);
    CHECK_EQ(alone(FACET_TILE_CMD_GDRAW, 0, 0, DATA, 2, 0), 0x31);
    kernel_put(&k, DATA + 64, 0x10000000);
    CHECK_EQ(alone(FACET_TILE_CMD_GDRAW, 0, 0, DATA, DATA + 64, 0), 0x31); /* leaves VRAM */
    /* the ring ends inside a command: inside the payload, then inside the header */
    push(FACET_TILE_CMD_NOP, 0, 0, 0, 0, 0, 0);
    {
        uint32_t at = (reg(FACET_TILE_REG_CMDQ_PROD) - 16) & 1023;

        kernel_put(&k, RING + at, 0x01050A00); /* NOP, EMIT slot 5, payload of one word */
    }
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK_EQ(reg(FACET_TILE_REG_LAST_STATUS), 0x32);
    CHECK_EQ(reg(FACET_TILE_REG_CMDQ_CONS), reg(FACET_TILE_REG_CMDQ_PROD));
    CHECK_EQ(kernel_get(&k, SLOTS + 20), 2);
    set(FACET_TILE_REG_CMDQ_PROD, (reg(FACET_TILE_REG_CMDQ_PROD) + 12) & 1023);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK_EQ(reg(FACET_TILE_REG_LAST_STATUS), 0x32);
    CHECK_EQ(reg(FACET_TILE_REG_CMDQ_CONS), reg(FACET_TILE_REG_CMDQ_PROD));
    /* a ring that cannot be */
    set(FACET_TILE_REG_LAST_ERROR, 0);
    set(FACET_TILE_REG_CMDQ_BASE, RING + 4);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK_EQ(reg(FACET_TILE_REG_LAST_ERROR), 0x31);
    CHECK_STR(facet_tile_status_name(0x31), "BAD_ARG");
    CHECK_STR(facet_tile_status_name(0x12), "graphics error BAD_MEM");
    CHECK_STR(facet_tile_status_name(0x29), facet_tile_cause_name(9));
    kernel_close(&k);
}

/* ---- memory commands ---- */

TEST(memory_commands, "TILE-348")
{
    static const uint32_t words[4] = {10, 20, 30, 40};
    uint32_t got[8] = {0};

    open_queue(1024);
    push_words(DATA, 4, words);
    push(FACET_TILE_CMD_COPY_BUFFER, 0, 0, 4, DATA + 4, DATA, 0); /* overlaps: the first repeats */
    push(FACET_TILE_CMD_READ_MEM, 0, 0, 5, DATA, 0, 0);
    push_words(0x30000100, 1, words + 1); /* IMEM takes host writes */
    push(FACET_TILE_CMD_READ_MEM, 0, 0, 1, 0x30000100, 0, 0);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK_EQ(reg(FACET_TILE_REG_LAST_ERROR), 0);
    CHECK_EQ(take(got, 2), 2);
    CHECK_EQ(take(got + 2, 8), 4);
    CHECK_EQ(take(got, 8), 0);
    for (unsigned i = 0; i < 5; i++) {
        CHECK_EQ(got[i], 10);
    }
    CHECK_EQ(got[5], 20);
    /* a sampler from VRAM, and the table through the host's window */
    for (unsigned i = 0; i < 8; i++) {
        kernel_put(&k, DATA + 0x100 + 4 * i, 0x100 + i);
    }
    CHECK_EQ(alone(FACET_TILE_CMD_LOAD_SAMPLER, 0, 0, 31, DATA + 0x100, 0), 0);
    CHECK_EQ(kernel_csr(&k, 0, "sampler[31].base"), 0x100);
    CHECK_EQ(kernel_get(&k, SAMPLER + 31 * 32 + 28), 0x107);
    CHECK_EQ(kernel_get(&k, SAMPLER + 30 * 32 + 28), 0);
    push_words(SAMPLER + 4, 1, words + 2);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK_EQ(kernel_csr(&k, 0, "sampler[0].stride"), 30);
    kernel_close(&k);
}

TEST(answers_that_nobody_takes_block_the_queue, "")
{
    static uint32_t got[FACET_TILE_ANSWER_WORDS + 1];

    open_queue(4096);
    kernel_put(&k, DATA, 99);
    for (unsigned i = 0; i < 65; i++) {
        push(FACET_TILE_CMD_READ_MEM, 0, 0, 255, DATA, 0, 0);
    }
    CHECK_EQ(flush(), FACET_TILE_QUEUE_BLOCKED); /* 64 * 255 = 16320 of 16384 */
    CHECK_EQ(facet_tile_info_of(k.machine).commands, 64);
    CHECK_EQ(take(got, 200), 200);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK_EQ(take(got, FACET_TILE_ANSWER_WORDS + 1), 65 * 255 - 200);
    CHECK_EQ(got[55], 99); /* the next answer's first word */
    kernel_close(&k);
}

TEST(kernels_see_the_host_and_the_host_sees_kernels,
     "TILE-040 TILE-041 TILE-042 TILE-492 TILE-532 TILE-538 TILE-541")
{
    static const uint32_t input = 41;
    uint32_t got = 0;

    open_queue(256);
    /* doubles the word at DATA into DATA + 64 and counts with an atomic at DATA + 128 */
    CHECK(kernel_load(
        &k,
        IMEM,
        "MOVI s1, 0x80010000\nLW s2, 0(s1)\nADD s2, s2, s2\nSW.L s2, 64(s1)\nADDI s3, s0, 5\n"
        "ADDI s4, s1, 128\nAADD s5, s3, (s4)\nNOP\nNOP\nEXIT"));
    put_packet(IMEM, 1, 1, 0);
    push_words(DATA, 1, &input);
    push(FACET_TILE_CMD_BARRIER, 0, 0, 0, 0, 0, 0);
    push(FACET_TILE_CMD_DISPATCH, FACET_TILE_FLAG_IRQ, 0, 0, PACKET, 0, 0);
    push(FACET_TILE_CMD_BARRIER, 0, 0, 0, 0, 0, 0);
    push(FACET_TILE_CMD_READ_MEM, 0, 0, 1, DATA + 64, 0, 0);
    set(FACET_TILE_REG_CMDQ_DOORBELL, 1);
    /* three commands and nine instructions: the store is in the core, the atomic is in memory */
    facet_machine_run(k.machine, &(struct facet_run){.budget = 3 + 9}, &k.stop);
    CHECK(k.stop.reason == FACET_STOP_BUDGET);
    CHECK(facet_tile_info_of(k.machine).state == FACET_TILE_STATE_RUNNING);
    CHECK_EQ(kernel_get(&k, DATA + 64), 0);
    CHECK_EQ(kernel_get(&k, DATA + 128), 5);
    CHECK_EQ(reg(FACET_TILE_REG_INT_STATUS), 0);
    CHECK_EQ(reg(FACET_TILE_REG_CMDQ_CONS), 36); /* the DISPATCH is not over */
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK_EQ(reg(FACET_TILE_REG_INT_STATUS), FACET_TILE_INT_COMMAND);
    CHECK_EQ(kernel_get(&k, DATA + 64), 82);
    CHECK_EQ(take(&got, 1), 1);
    CHECK_EQ(got, 82);
    CHECK_EQ(facet_machine_steps(k.machine), 5 + 11);
    kernel_close(&k);
}

/* ---- fences ---- */

TEST(a_slot_that_was_never_emitted_is_a_semaphore, "TILE-396")
{
    open_queue(256);
    push(FACET_TILE_CMD_NOP, FACET_TILE_FLAG_WAIT | FACET_TILE_FLAG_EMIT, 9, 0, 0, 0, 0);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_BLOCKED);
    CHECK_EQ(reg(FACET_TILE_REG_INT_STATUS), FACET_TILE_INT_BLOCKED);
    CHECK_EQ(reg(FACET_TILE_REG_CMDQ_CONS), 0);
    set(FACET_TILE_REG_INT_STATUS, FACET_TILE_INT_BLOCKED);
    facet_machine_run(k.machine, &(struct facet_run){.budget = 10}, &k.stop); /* still blocked */
    CHECK(k.stop.reason == FACET_STOP_IDLE);
    CHECK_EQ(k.stop.steps, 0);
    CHECK_EQ(reg(FACET_TILE_REG_INT_STATUS), 0);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_BLOCKED); /* the doorbell asks again */
    CHECK_EQ(reg(FACET_TILE_REG_INT_STATUS), FACET_TILE_INT_BLOCKED);
    /* below, in the sense of signed distance: -1; 0; then 1 passes */
    CHECK(facet_tile_slot_write(k.machine, 9, 0xFFFFFFFF, NULL) == FACET_OK);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_BLOCKED);
    CHECK(facet_tile_slot_write(k.machine, 9, 1, NULL) == FACET_OK);
    facet_machine_run(k.machine, &(struct facet_run){.budget = 10}, &k.stop); /* no doorbell */
    CHECK_EQ(facet_tile_info_of(k.machine).queue, FACET_TILE_QUEUE_EMPTY);
    CHECK_EQ(reg(FACET_TILE_REG_FENCE_VALUE), 1);
    CHECK_EQ(kernel_get(&k, SLOTS + 36), 1);
    CHECK(facet_tile_slot_write(k.machine, 256, 1, NULL) == FACET_ERR_USAGE);
    kernel_close(&k);
}

TEST(an_emitted_slot_waits_for_its_last_token, "TILE-396 TILE-397")
{
    uint32_t value;

    open_queue(1024);
    push(FACET_TILE_CMD_NOP, FACET_TILE_FLAG_EMIT, 1, 0, 0, 0, 0); /* F = 1 */
    push(FACET_TILE_CMD_NOP, FACET_TILE_FLAG_EMIT, 2, 0, 0, 0, 0); /* F = 2 */
    push(FACET_TILE_CMD_NOP, FACET_TILE_FLAG_EMIT, 1, 0, 0, 0, 0); /* F = 3 */
    push(FACET_TILE_CMD_NOP, FACET_TILE_FLAG_WAIT, 2, 0, 0, 0, 0);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK(facet_tile_slot_read(k.machine, 1, &value, NULL) == FACET_OK && value == 3);
    CHECK(facet_tile_slot_read(k.machine, 2, &value, NULL) == FACET_OK && value == 2);
    /* the host takes slot 1 back to 2: last[1] = 3 is not there any more */
    CHECK(facet_tile_slot_write(k.machine, 1, 2, NULL) == FACET_OK);
    push(FACET_TILE_CMD_NOP, FACET_TILE_FLAG_WAIT, 1, 0, 0, 0, 0);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_BLOCKED);
    CHECK(facet_tile_slot_write(k.machine, 1, 3, NULL) == FACET_OK);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    /* WAIT_FENCE compares with its own value */
    push(FACET_TILE_CMD_WAIT_FENCE, 0, 0, 0, 2, 2, 0);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    push(FACET_TILE_CMD_WAIT_FENCE, 0, 0, 0, 2, 3, 0);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_BLOCKED);
    CHECK(facet_tile_slot_write(k.machine, 2, 0x80000003, NULL) == FACET_OK); /* distance < 0 */
    CHECK_EQ(flush(), FACET_TILE_QUEUE_BLOCKED);
    CHECK(facet_tile_slot_write(k.machine, 2, 0x80000002, NULL) == FACET_OK);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    kernel_close(&k);
}

TEST(without_completion_slots, "")
{
    open_queue(1024);
    set(FACET_TILE_REG_COMPLETION_BASE, 0);
    push(FACET_TILE_CMD_NOP, FACET_TILE_FLAG_WAIT, 4, 0, 0, 0, 0);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_BLOCKED); /* FENCE_VALUE is 0 */
    set(FACET_TILE_REG_COMPLETION_BASE, SLOTS);
    CHECK(facet_tile_slot_write(k.machine, 4, 1, NULL) == FACET_OK);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    set(FACET_TILE_REG_COMPLETION_BASE, 0);
    push(FACET_TILE_CMD_NOP, FACET_TILE_FLAG_EMIT, 5, 0, 0, 0, 0);
    push(FACET_TILE_CMD_NOP, FACET_TILE_FLAG_WAIT, 4, 0, 0, 0, 0); /* F = 1 serves every slot */
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK_EQ(reg(FACET_TILE_REG_FENCE_VALUE), 1);
    CHECK_EQ(kernel_get(&k, SLOTS + 20), 0);
    CHECK(facet_tile_slot_write(k.machine, 4, 1, NULL) == FACET_ERR_USAGE);
    /* slots outside VRAM: nothing to compare with, nowhere to write */
    set(FACET_TILE_REG_COMPLETION_BASE, VRAM + (1 << 20) - 16);
    CHECK_EQ(alone(FACET_TILE_CMD_NOP, FACET_TILE_FLAG_EMIT, 0, 0, 0, 0), 0);
    push(FACET_TILE_CMD_NOP, FACET_TILE_FLAG_EMIT, 4, 0, 0, 0, 0);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK_EQ(reg(FACET_TILE_REG_LAST_STATUS), 0x31);
    CHECK_EQ(reg(FACET_TILE_REG_FENCE_VALUE), 3);
    push(FACET_TILE_CMD_NOP, FACET_TILE_FLAG_WAIT, 4, 0, 0, 0, 0);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK_EQ(reg(FACET_TILE_REG_LAST_STATUS), 0x31);
    kernel_close(&k);
}

/* ---- waiting, abort, watchdog ---- */

TEST(a_kernel_that_waits_for_the_doorbell, "TILE-491")
{
    open_queue(256);
    CHECK(kernel_load(
        &k, VRAM, "ADDI s1, s0, 1\nCSRW 0x008, s1\nWFI\nMOVI s2, 0x80010000\nSW s1, 0(s2)\nEXIT"));
    put_packet(VRAM, 1, 1, 0);
    push(FACET_TILE_CMD_DISPATCH, FACET_TILE_FLAG_EMIT, 1, 0, PACKET, 0, 0);
    push(FACET_TILE_CMD_NOP, FACET_TILE_FLAG_EMIT, 2, 0, 0, 0, 0);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_WAITING);
    CHECK_EQ(reg(FACET_TILE_REG_INT_STATUS), FACET_TILE_INT_WAITING);
    CHECK_EQ(reg(FACET_TILE_REG_CMDQ_CONS), 0);
    CHECK_EQ(kernel_get(&k, SLOTS + 4), 0);
    set(FACET_TILE_REG_DOORBELL, 2); /* another core's */
    CHECK_EQ(flush(), FACET_TILE_QUEUE_WAITING);
    set(FACET_TILE_REG_DOORBELL, 1);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK_EQ(kernel_get(&k, DATA), 1);
    CHECK_EQ(kernel_get(&k, SLOTS + 4), 1);
    CHECK_EQ(kernel_get(&k, SLOTS + 8), 2);
    CHECK_EQ(reg(FACET_TILE_REG_LAST_ERROR), 0);
    /* the same, aborted: 0x2A, and the fence comes all the same */
    push(FACET_TILE_CMD_DISPATCH, FACET_TILE_FLAG_EMIT, 1, 0, PACKET, 0, 0);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_WAITING);
    set(FACET_TILE_REG_ABORT, 1);
    CHECK_EQ(reg(FACET_TILE_REG_LAST_STATUS), 0x2A);
    CHECK_EQ(reg(FACET_TILE_REG_CU_CAUSE), 10);
    CHECK_EQ(kernel_get(&k, SLOTS + 4), 3);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    set(FACET_TILE_REG_ABORT, 1); /* nothing runs: nothing happens */
    CHECK_EQ(reg(FACET_TILE_REG_FENCE_VALUE), 3);
    kernel_close(&k);
}

TEST(watchdog_of_a_command, "")
{
    open_queue(256);
    CHECK(kernel_load(&k, VRAM, "J 0"));
    put_packet(VRAM, 2, 1, 0);
    set(FACET_TILE_REG_WDOG_DEFAULT, 1000);
    CHECK_EQ(alone(FACET_TILE_CMD_DISPATCH, 0, 0, PACKET, 0, 0), 0x29);
    CHECK_EQ(facet_tile_info_of(k.machine).rounds, 1000);
    CHECK_EQ(reg(FACET_TILE_REG_CU_CAUSE), 9);
    CHECK_EQ(reg(FACET_TILE_REG_CU_CAUSE + 0x20), 9);
    CHECK_EQ(reg(FACET_TILE_REG_CU_CAUSE + 0x40), 0);
    CHECK_EQ(reg(FACET_TILE_REG_CU_STATUS), ST_WDT);
    kernel_close(&k);
}

/* ---- graphics ---- */

static void put_bits(uint32_t address, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    kernel_put(&k, address, bits);
}

#define RSTATE (DATA + 0x000)
#define GSTATE (DATA + 0x040)
#define GPARAM (DATA + 0x0C0)
#define BLOCK (DATA + 0x100)
#define RDRAW (DATA + 0x180)
#define RRECT (DATA + 0x190)
#define GDRAWS (DATA + 0x1A0)
#define COUNT (DATA + 0x220)
#define VERTS (DATA + 0x400)

/* An 8 x 8 picture; GSTATE of plain positions with colours, matrix identity. */
static void states(void)
{
    open_queue(1024);
    kernel_put(&k, RSTATE + 0x00, PICTURE);
    kernel_put(&k, RSTATE + 0x04, 32);
    kernel_put(&k, RSTATE + 0x08, 1);
    kernel_put(&k, RSTATE + 0x0C, 8 | 8 << 16);
    kernel_put(&k, GSTATE + 0x00, VERTS);
    kernel_put(&k, GSTATE + 0x04, 20 | 1 << 19);
    for (unsigned i = 0; i < 4; i++) {
        put_bits(GSTATE + 0x10 + 20 * i, 1);
    }
    push(FACET_TILE_CMD_LOAD_RSTATE, 0, 0, 0, 5, RSTATE, 0);
    push(FACET_TILE_CMD_LOAD_GSTATE, 0, 0, 0, 6, GSTATE, 0);
}

static uint32_t pixel(unsigned x, unsigned y)
{
    return kernel_get(&k, PICTURE + 32 * y + 4 * x);
}

static unsigned painted(void)
{
    unsigned count = 0;

    for (unsigned i = 0; i < 64; i++) {
        count += pixel(i % 8, i / 8) != 0;
    }
    return count;
}

/* A kernel that has run is painted over by the queue, then runs again: the new word counts. */
TEST(painted_code, "")
{
    const uint32_t store = kernel_word("SW s1, 0(s2)");

    states();
    CHECK(kernel_load(&k, PICTURE, "LUI s2, 0x80010\nADDI s1, s0, 1\nSW s1, 0(s2)\nEXIT"));
    put_packet(PICTURE, 1, 1, 0);
    CHECK_EQ(alone(FACET_TILE_CMD_DISPATCH, 0, 0, PACKET, 0, 0), 0);
    CHECK_EQ(kernel_get(&k, DATA), 1);
    kernel_put(&k, RRECT, 0xFFFF | 1 << 16);
    kernel_put(&k, RRECT + 4, 1);
    kernel_put(&k, RRECT + 8, 1 | 1 << 16);
    kernel_put(&k, RRECT + 12, kernel_word("ADDI s1, s0, 2"));
    CHECK_EQ(alone(FACET_TILE_CMD_RRECT, 0, 0, RRECT, 5, 0), 0);
    CHECK_EQ(alone(FACET_TILE_CMD_DISPATCH, 0, 0, PACKET, 0, 0), 0);
    CHECK_EQ(kernel_get(&k, PICTURE + 8), store);
    CHECK_EQ(kernel_get(&k, DATA), 2);
    kernel_close(&k);
}

TEST(rectangles_and_triangles, "")
{
    states();
    /* RRECT: the state comes from arg1, the flags from both */
    kernel_put(&k, RRECT, 0xFFFF | 1 << 16);
    kernel_put(&k, RRECT + 4, 2 | 1 << 16);
    kernel_put(&k, RRECT + 8, 3 | 2 << 16);
    kernel_put(&k, RRECT + 12, 0xFF010203);
    push(FACET_TILE_CMD_RRECT, 0, 0, 0, RRECT, 5, 0);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK_EQ(reg(FACET_TILE_REG_LAST_ERROR), 0);
    CHECK_EQ(painted(), 6);
    CHECK_EQ(pixel(2, 1), 0xFF010203);
    CHECK_EQ(pixel(4, 2), 0xFF010203);
    /* STATE_COLOR by arg2: const_color is 0 */
    push(FACET_TILE_CMD_RRECT, 0, 0, 0, RRECT, 0xFFFFFFFF, 0x80);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK_EQ(painted(), 0);
    /* RDRAW: worked example G1 of section 20.3 in its 8 x 8 corner */
    {
        static const float at[3][4] = {{1, 1, .25F, 1}, {6.5F, 2, .5F, 1}, {2.25F, 7.75F, .75F, 1}};
        static const uint32_t color[3] = {0xFFFF0000, 0xFF00FF00, 0xFF0000FF};

        for (unsigned i = 0; i < 3; i++) {
            for (unsigned j = 0; j < 4; j++) {
                put_bits(BLOCK + 32 * i + 4 * j, at[i][j]);
            }
            kernel_put(&k, BLOCK + 32 * i + 24, color[i]);
        }
    }
    kernel_put(&k, RDRAW, 0xFFFF);
    push(FACET_TILE_CMD_RDRAW, 0, 0, 0, RDRAW, BLOCK, 0);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK_EQ(reg(FACET_TILE_REG_LAST_ERROR), 0);
    CHECK_EQ(painted(), 18);
    CHECK_EQ(pixel(3, 3), 0xFF000000 | 77 << 16 | 98 << 8 | 80);
    CHECK_EQ(pixel(2, 5), 0xFF000000 | 58 << 16 | 32 << 8 | 165);
    /* FLAT by arg2 */
    push(FACET_TILE_CMD_RDRAW, 0, 0, 0, RDRAW, BLOCK, 0x20);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK_EQ(pixel(3, 3), 0xFFFF0000);
    /* no RSETUP exists in the queue's context */
    CHECK_EQ(alone(FACET_TILE_CMD_RDRAW, 0, 0, RDRAW, 0, 0), 0x13);
    kernel_close(&k);
}

/* A clip-space quarter of the picture: two triangles of a strip at vertex 4 * n. */
static void put_quarter(unsigned n, float x, float y, uint32_t color)
{
    for (unsigned i = 0; i < 4; i++) {
        uint32_t at = VERTS + 20 * (4 * n + i);

        put_bits(at, x + (float)(i & 1));
        put_bits(at + 4, y - (float)(i >> 1));
        put_bits(at + 12, 1);
        kernel_put(&k, at + 16, color);
    }
}

static void put_gdraw(unsigned n, uint32_t first, uint32_t count, uint32_t topology)
{
    kernel_put(&k, GDRAWS + 32 * n, first);
    kernel_put(&k, GDRAWS + 32 * n + 8, count);
    kernel_put(&k, GDRAWS + 32 * n + 12, topology);
    kernel_put(&k, GDRAWS + 32 * n + 16, 0xFFFFFFFF);
    kernel_put(&k, GDRAWS + 32 * n + 20, 0);
}

TEST(draws_and_arrays_of_draws, "TILE-463")
{
    states();
    put_quarter(0, -1, 1, 0xFFAA0000); /* top left */
    put_quarter(1, 0, 0, 0xFF00BB00);  /* bottom right */
    put_gdraw(0, 0, 4, 1);
    put_gdraw(1, 4, 4, 0);
    /* wait and emit on one command: 0x42 with flags 0x06 */
    push(FACET_TILE_CMD_NOP, FACET_TILE_FLAG_EMIT, 8, 0, 0, 0, 0);
    push(FACET_TILE_CMD_GDRAW, FACET_TILE_FLAG_WAIT | FACET_TILE_FLAG_EMIT, 8, 0, GDRAWS, 0, 0);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK_EQ(reg(FACET_TILE_REG_LAST_ERROR), 0);
    CHECK_EQ(kernel_get(&k, SLOTS + 32), 2);
    CHECK_EQ(painted(), 16);
    CHECK_EQ(pixel(3, 3), 0xFFAA0000);
    CHECK_EQ(pixel(4, 4), 0);
    /* the array: the second is a list of 4, of which one triangle remains */
    kernel_put(&k, COUNT, 2);
    push(FACET_TILE_CMD_GDRAW, FACET_TILE_FLAG_EMIT, 8, 0, GDRAWS, COUNT, 0);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK_EQ(painted(), 16 + 6);
    CHECK_EQ(facet_tile_info_of(k.machine).commands, 5);
    CHECK_EQ(facet_machine_steps(k.machine), 6); /* two descriptors are two steps */
    /* arg2 bit 1 forces strips */
    push(FACET_TILE_CMD_GDRAW, 0, 0, 0, GDRAWS, COUNT, 2);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK_EQ(painted(), 32);
    CHECK_EQ(pixel(7, 7), 0xFF00BB00);
    /* the first error of the array is its status; later descriptors still draw */
    put_gdraw(0, 0, 4, 7);
    kernel_put(&k, PICTURE + 32 * 7 + 28, 0);
    push(FACET_TILE_CMD_GDRAW, 0, 0, 0, GDRAWS, COUNT, 0);
    put_gdraw(1, 4, 4, 1);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK_EQ(reg(FACET_TILE_REG_LAST_STATUS), 0x14);
    CHECK_EQ(pixel(7, 7), 0xFF00BB00);
    kernel_put(&k, COUNT, 0); /* none */
    CHECK_EQ(alone(FACET_TILE_CMD_GDRAW, 0, 0, GDRAWS, COUNT, 0), 0);
    kernel_close(&k);
}

/* A kernel moves each vertex by 1 in x into out_vbo; the queue fences it and draws the result with
 * CU_ASSIST. */
TEST(cu_assist_sequence, "TILE-461 TILE-463 TILE-464 TILE-465")
{
    const uint32_t out = DATA + 0x800, args = DATA + 0x240;

    states();
    put_quarter(0, -1, 1, 0xFF123456);
    put_gdraw(0, 0, 4, 1);
    kernel_put(&k, args, VERTS);
    kernel_put(&k, args + 4, out);
    kernel_put(&k, args + 8, 4);
    kernel_put(&k, args + 12, 20);
    put_bits(DATA + 0x260, 1);
    kernel_put(&k, args + 16, DATA + 0x260);
    CHECK(kernel_load(
        &k,
        IMEM,
        "CSRR s1, 0xC02\nLW s2, 0(s1)\nLW s3, 4(s1)\nLW s4, 8(s1)\nLW s5, 12(s1)\nLW s6, 16(s1)\n"
        "VLD.V v2, 0(s6)\n"
        "again: VLD.V v1, 0(s2)\nVADD.F32 v1, v1, v2\nVST.V v1, 0(s3)\nLW s7, 16(s2)\nSW s7, "
        "16(s3)\n"
        "ADD s2, s2, s5\nADD s3, s3, s5\nADDI s4, s4, -1\nBNE s4, s0, again\nMEMBAR\nEXIT"));
    put_packet(IMEM, 1, 1, args);
    kernel_put(&k, GSTATE, out);
    push(FACET_TILE_CMD_LOAD_GSTATE, 0, 0, 0, 6, GSTATE, 0);
    put_bits(GSTATE + 0x10, 0); /* a matrix that must not matter */
    push(FACET_TILE_CMD_LOAD_GSTATE, 0, 0, 0, 6, GSTATE, 0);
    push(FACET_TILE_CMD_DISPATCH, FACET_TILE_FLAG_EMIT, 4, 0, PACKET, 0, 0);
    push(FACET_TILE_CMD_GDRAW, FACET_TILE_FLAG_WAIT, 4, 0, GDRAWS, 0, 1);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK_EQ(reg(FACET_TILE_REG_LAST_ERROR), 0);
    CHECK_EQ(painted(), 16);
    CHECK_EQ(pixel(4, 0), 0xFF123456); /* one to the right of the top left quarter */
    CHECK_EQ(pixel(7, 3), 0xFF123456);
    CHECK_EQ(pixel(3, 0), 0);
    kernel_close(&k);
}

/* ---- machine face ---- */

/* The same work in one go, step by step, and with a snapshot at every step taken to a second
 * machine: equal states at the end. */
TEST(budgets_and_snapshots_cut_anywhere, "")
{
    struct facet_blob end[2] = {{0}}, middle;
    struct kernel other;

    for (unsigned way = 0; way < 2; way++) {
        states();
        put_quarter(0, -1, 1, 0xFFAA0000);
        put_gdraw(0, 0, 4, 1);
        put_gdraw(1, 0, 3, 0);
        kernel_put(&k, COUNT, 2);
        CHECK(
            kernel_load(&k, IMEM, "CSRR s1, 0xC01\nMOVI s2, 0x80010800\nAADD s3, s1, (s2)\nEXIT"));
        put_packet(IMEM, 3, 2, 0);
        push(FACET_TILE_CMD_GDRAW, FACET_TILE_FLAG_EMIT, 3, 0, GDRAWS, COUNT, 0);
        push(FACET_TILE_CMD_DISPATCH, FACET_TILE_FLAG_EMIT, 3, 0, PACKET, 0, 0);
        push(FACET_TILE_CMD_READ_MEM, FACET_TILE_FLAG_WAIT, 3, 2, DATA + 0x800, 0, 0);
        push(FACET_TILE_CMD_NOP, FACET_TILE_FLAG_WAIT, 77, 0, 0, 0, 0);
        set(FACET_TILE_REG_CMDQ_DOORBELL, 1);
        if (way == 0) {
            facet_machine_run(k.machine, &(struct facet_run){.budget = UINT64_MAX}, &k.stop);
        } else {
            kernel_open(&other, NULL);
            do {
                struct kernel swap = k;
                struct facet_error err = {0};

                CHECK(facet_machine_snapshot(k.machine, &middle, NULL) == FACET_OK);
                CHECK_MSG(facet_machine_restore(other.machine, middle.data, middle.size, &err) ==
                              FACET_OK,
                          "%s",
                          err.message);
                facet_blob_free(&middle);
                k = other;
                other = swap;
                facet_machine_run(k.machine, &(struct facet_run){.budget = 1}, &k.stop);
            } while (k.stop.reason == FACET_STOP_BUDGET);
            kernel_close(&other);
        }
        CHECK(k.stop.reason == FACET_STOP_IDLE);
        CHECK_EQ(facet_tile_info_of(k.machine).queue, FACET_TILE_QUEUE_BLOCKED);
        CHECK(facet_machine_snapshot(k.machine, &end[way], NULL) == FACET_OK);
        kernel_close(&k);
    }
    CHECK_EQ(end[0].size, end[1].size);
    CHECK(end[0].size == end[1].size && memcmp(end[0].data, end[1].data, end[0].size) == 0);
    facet_blob_free(&end[0]);
    facet_blob_free(&end[1]);
}

/* What stands behind a fence travels with the snapshot: slot 3 holds its token 2 again only when
 * the host says so. */
TEST(fences_are_part_of_the_state, "")
{
    struct facet_blob blob;

    open_queue(256);
    push(FACET_TILE_CMD_NOP, FACET_TILE_FLAG_EMIT, 3, 0, 0, 0, 0);
    push(FACET_TILE_CMD_NOP, FACET_TILE_FLAG_EMIT, 3, 0, 0, 0, 0);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK(facet_tile_slot_write(k.machine, 3, 1, NULL) == FACET_OK);
    CHECK(facet_machine_snapshot(k.machine, &blob, NULL) == FACET_OK);
    kernel_close(&k);
    kernel_open(&k, NULL);
    CHECK(facet_machine_restore(k.machine, blob.data, blob.size, NULL) == FACET_OK);
    facet_blob_free(&blob);
    CHECK_EQ(reg(FACET_TILE_REG_FENCE_VALUE), 2);
    push(FACET_TILE_CMD_NOP, FACET_TILE_FLAG_WAIT, 3, 0, 0, 0, 0);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_BLOCKED);
    CHECK(facet_tile_slot_write(k.machine, 3, 2, NULL) == FACET_OK);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    kernel_close(&k);
}

/* Kernels that the queue rewrites between two dispatches: what was decoded before is gone. */
TEST(rewritten_kernels, "")
{
    static const uint32_t places[2] = {IMEM, VRAM};

    for (unsigned i = 0; i < 2; i++) {
        const uint32_t other = kernel_word("ADDI s1, s0, 7"), third = kernel_word("ADDI s1, s0, 9");

        open_queue(1024);
        CHECK(
            kernel_load(&k, places[i], "ADDI s1, s0, 5\nMOVI s2, 0x80010000\nSW s1, 0(s2)\nEXIT"));
        kernel_put(&k, DATA + 64, third);
        put_packet(places[i], 1, 1, 0);
        push(FACET_TILE_CMD_DISPATCH, 0, 0, 0, PACKET, 0, 0);
        CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
        CHECK_EQ(kernel_get(&k, DATA), 5);
        push_words(places[i], 1, &other);
        push(FACET_TILE_CMD_DISPATCH, 0, 0, 0, PACKET, 0, 0);
        CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
        CHECK_EQ(kernel_get(&k, DATA), 7);
        push(FACET_TILE_CMD_COPY_BUFFER, 0, 0, 1, places[i], DATA + 64, 0);
        push(FACET_TILE_CMD_DISPATCH, 0, 0, 0, PACKET, 0, 0);
        CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
        CHECK_EQ(kernel_get(&k, DATA), 9);
        kernel_close(&k);
    }
}

/* The end of a kernel is the end of the run when the host started it, and only a command's end when
 * the queue did. A kernel of the host's goes first. */
TEST(kernels_of_the_host_and_of_the_queue, "")
{
    struct facet_tile_packet packet = {.pc = VRAM, .columns = 1, .rows = 1};
    const struct facet_run run = {.budget = UINT64_MAX};

    open_queue(256);
    CHECK(kernel_load(&k, VRAM, "NOP\nEXIT"));
    put_packet(VRAM, 1, 1, 0);
    push(FACET_TILE_CMD_DISPATCH, 0, 0, 0, PACKET, 0, 0);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    facet_machine_run(k.machine, &run, &k.stop);
    CHECK(k.stop.reason == FACET_STOP_IDLE);
    CHECK_EQ(k.stop.steps, 0);
    CHECK(facet_tile_dispatch(k.machine, &packet, NULL) == FACET_OK);
    push(FACET_TILE_CMD_NOP, FACET_TILE_FLAG_EMIT, 1, 0, 0, 0, 0);
    set(FACET_TILE_REG_CMDQ_DOORBELL, 1);
    facet_machine_run(k.machine, &(struct facet_run){.budget = 2}, &k.stop);
    CHECK(facet_tile_info_of(k.machine).state == FACET_TILE_STATE_DONE);
    CHECK_EQ(reg(FACET_TILE_REG_FENCE_VALUE), 0);
    facet_machine_run(k.machine, &run, &k.stop);
    CHECK(k.stop.reason == FACET_STOP_IDLE);
    CHECK_EQ(reg(FACET_TILE_REG_FENCE_VALUE), 1);
    CHECK(facet_tile_dispatch(k.machine, &packet, NULL) == FACET_OK);
    facet_machine_run(k.machine, &run, &k.stop);
    CHECK(k.stop.reason == FACET_STOP_EXIT);
    CHECK_EQ(k.stop.steps, 2);
    facet_machine_run(k.machine, &run, &k.stop); /* and that again */
    CHECK(k.stop.reason == FACET_STOP_EXIT);
    kernel_close(&k);
}

TEST(reset_empties_the_queue, "")
{
    open_queue(256);
    CHECK(kernel_load(&k, VRAM, "EXIT"));
    put_packet(VRAM, 1, 1, 0);
    push(FACET_TILE_CMD_DISPATCH, FACET_TILE_FLAG_EMIT, 1, 0, PACKET, 0, 0);
    CHECK_EQ(flush(), FACET_TILE_QUEUE_EMPTY);
    CHECK_EQ(reg(FACET_TILE_REG_FENCE_VALUE), 1);
    facet_machine_reset(k.machine);
    CHECK_EQ(reg(FACET_TILE_REG_FENCE_VALUE), 0);
    CHECK_EQ(reg(FACET_TILE_REG_CMDQ_SIZE), 0);
    CHECK(facet_tile_info_of(k.machine).state == FACET_TILE_STATE_IDLE);
    CHECK_EQ(kernel_get(&k, SLOTS + 4), 1); /* memory stays */
    kernel_close(&k);
}

/* Any words in the ring, any registers: the queue ends or blocks, and every status is one of 18. */
TEST(random_rings_do_no_harm, "")
{
    const unsigned rounds = harness_long() ? 20000 : 1500;

    open_queue(1024);
    set(FACET_TILE_REG_WDOG_DEFAULT, 200);
    for (unsigned i = 0; i < rounds && !harness_failed(); i++) {
        static const uint8_t opcodes[] = {
            0, 1, 2, 0x22, 0x23, 0x24, 0x28, 0x32, 0x40, 0x41, 0x42, 0x43, 0x44, 0x45};

        for (unsigned n = 0; n < 256; n++) {
            uint64_t r = harness_random();
            uint32_t word = (uint32_t)(r >> 32);

            if (r % 3 == 0) {
                word = DATA + (uint32_t)(r >> 8) % 0x400 * 16;
            } else if (r % 3 == 1) {
                word = opcodes[(r >> 8) % sizeof opcodes] | ((uint32_t)(r >> 16) & 0x010F0F00);
            }
            kernel_put(&k, RING + 4 * n, word);
            kernel_put(&k,
                       DATA + 4 * ((uint32_t)(r >> 40) % 0x1000),
                       (uint32_t)(r % 7 == 0 ? r : r & 0x1F));
        }
        set(FACET_TILE_REG_CMDQ_PROD, (uint32_t)harness_random());
        for (unsigned n = 0; n < 8 && flush() != FACET_TILE_QUEUE_EMPTY; n++) {
            static uint32_t words[FACET_TILE_ANSWER_WORDS];

            (void)take(words, FACET_TILE_ANSWER_WORDS);
            for (uint32_t slot = 0; slot < 16; slot++) {
                (void)facet_tile_slot_write(
                    k.machine, slot, reg(FACET_TILE_REG_FENCE_VALUE) + 1 + (n & 1) * 0x7FFF, NULL);
            }
        }
        CHECK_MSG(
            strcmp(facet_tile_status_name(reg(FACET_TILE_REG_LAST_STATUS)), "unknown status") != 0,
            "status 0x%x",
            (unsigned)reg(FACET_TILE_REG_LAST_STATUS));
        if (facet_tile_info_of(k.machine).queue != FACET_TILE_QUEUE_EMPTY) {
            facet_machine_reset(k.machine);
            CHECK(facet_tile_ring(k.machine, RING, 1024, NULL) == FACET_OK);
            set(FACET_TILE_REG_COMPLETION_BASE, SLOTS);
            set(FACET_TILE_REG_WDOG_DEFAULT, 200);
        }
    }
    kernel_close(&k);
}
