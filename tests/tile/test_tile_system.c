/* CSRs, dispatch, scheduler, watchdog, waiting, counters and faults of the whole machine
 * (tile-semantics.md 2, 12, 13). */
#include "kernel.h"

#include "base/bits.h"
#include "isa/table.h"

#include <stdio.h>

static struct kernel k;

TEST(csr_access, "TILE-480 TILE-481 TILE-485 TILE-101 TILE-567")
{
    kernel_open(&k, NULL);
    k.s[1] = 0x1F0;
    k.s[2] = 0x00F;
    kernel_exec(&k,
                "CSRRW s3, vstride, s1\nCSRRS s4, vstride, s2\nCSRRS s5, vstride, s0\n"
                "CSRRW s6, int_mask, s1\nADDI s7, s0, 7\nCSRW int_mask, s7\nCSRR s8, int_mask\n"
                "CSRW int_mask, s0");
    CHECK_EQ(k.s[3], 0);
    CHECK_EQ(k.s[4], 0x1F0);
    CHECK_EQ(k.s[5], 0x1FF);
    CHECK_EQ(k.s[8], 7);
    CHECK_EQ(k.status, 0);
    CHECK_EQ(k.vstride, 0x1FF);
    k.vstride = 0;
    /* Write one to clear: both instructions clear the bits of the source and no other. A graphics
     * error sets GERR; the host's fence and doorbell stand before. */
    for (unsigned set = 0; set < 2; set++) {
        k.packet.columns = 1;
        CHECK(kernel_load(&k,
                          VRAM,
                          set ? "RSTATE s1, 0(s0)\nADDI s1, s0, 4\nCSRRS s2, int_status, s1\n"
                                "CSRRS s3, int_status, s0\nEXIT"
                              : "RSTATE s1, 0(s0)\nADDI s1, s0, 4\nCSRRW s2, int_status, s1\n"
                                "CSRRS s3, int_status, s0\nEXIT"));
        k.packet.pc = VRAM;
        CHECK(facet_tile_dispatch(k.machine, &k.packet, NULL) == FACET_OK);
        facet_tile_fence(k.machine);
        (void)facet_tile_doorbell(k.machine, 1, NULL);
        facet_machine_run(k.machine, &(struct facet_run){.budget = UINT64_MAX}, &k.stop);
        CHECK_EQ(kernel_reg(&k, 0, "s2"), 7);
        CHECK_EQ(kernel_reg(&k, 0, "s3"), 3);
    }
    kernel_exec(&k,
                "CSRR s1, 0xC04\nCSRR s1, 0xC05\nCSRR s1, 0xC06\nCSRR s1, 0xC07\nCSRR s1, 0x005\n"
                "CSRR s1, 0xC08\nCSRR s1, 0xC09\nCSRR s1, 0xC10\nCSRR s1, 0xC11\nCSRR s1, 0xC12\n"
                "CSRR s1, 0xC13\nCSRR s1, 0xC14\nCSRR s1, 0xC15\nCSRR s1, 0xC16\nCSRR s1, 0xC17");
    CHECK_EQ(k.status, 0);
    kernel_close(&k);
}

/* Every row of tile.csr.tsv: writable bits, read-only registers, numbers that do not exist. */
TEST(csr_table, "TILE-521 TILE-567 TILE-480")
{
    kernel_open(&k, NULL);
    for (size_t i = 0; i < facet_csr_row_count; i++) {
        const struct facet_csr_row *row = &facet_csr_rows[i];
        uint32_t writable = 0, number = row->number;
        char line[160];

        if (row->isa != FACET_ISA_TILE) {
            continue;
        }
        for (unsigned f = 0; f < row->field_count; f++) {
            if (row->fields[f].access != FACET_CSR_RO) {
                writable |= (uint32_t)(facet_bits_mask(row->fields[f].hi - row->fields[f].lo + 1)
                                       << row->fields[f].lo);
            }
        }
        k.s[1] = 0xFFFFFFFF;
        k.config = 0;
        (void)sprintf(line,
                      "CSRR s2, 0x%x\nCSRRW s3, 0x%x, s1\nCSRR s4, 0x%x\nCSRRW s5, 0x%x, s3\n"
                      "CSRR s6, 0x%x",
                      number,
                      number,
                      number,
                      number,
                      number);
        kernel_exec(&k, line);
        if (writable == 0) { /* nothing changes but what counts by itself */
            CHECK_EQ(k.status, ST_CSRERR);
            CHECK(k.s[4] == k.s[2] || strncmp(row->name, "instret", 7) == 0 ||
                  strncmp(row->name, "time", 4) == 0);
        } else if (strcmp(row->name, "int_status") == 0 || strcmp(row->name, "gerror") == 0) {
            CHECK_EQ(k.s[4], 0);
        } else if (strcmp(row->name, "config") == 0) {
            CHECK_EQ(k.s[4], 0x3F8); /* RM 7 stores 0 */
        } else if (strcmp(row->name, "fstatus") == 0) {
            CHECK_EQ(k.s[4], 0x1F);
        } else {
            CHECK_EQ(k.s[4], writable);
        }
        CHECK(writable == 0 || k.s[6] == 0 || strcmp(row->name, "status") == 0);
    }
    for (unsigned n = 0; n < 3; n++) {
        static const unsigned missing[] = {0x004, 0x500, 0xFFF};
        char line[80];

        k.s[2] = 9;
        (void)sprintf(line, "CSRRS s2, 0x%x, s0\nCSRR s3, status", missing[n]);
        kernel_exec(&k, line);
        CHECK_EQ(k.s[2], 0);
        CHECK_EQ(k.s[3], ST_CSRERR);
    }
    /* The rs1 field decides, not the value. */
    kernel_exec(&k, "ADDI s1, s0, 0\nCSRRS s2, core_id, s1");
    CHECK_EQ(k.status, ST_CSRERR);
    kernel_close(&k);
}

/* All of hwinfo: registers, cores, what the machine has, and which memory model it follows. */
TEST(hwinfo_tells_the_machine, "")
{
    for (unsigned strong = 0; strong < 2; strong++) {
        kernel_open(&k, &(struct facet_tile_config){.strong = strong != 0});
        CHECK_EQ(kernel_csr(&k, 0, "hwinfo"), strong != 0 ? 0xF420 : 0x1F420);
        kernel_close(&k);
    }
}

TEST(sampler_csrs_are_the_table, "")
{
    kernel_open(&k, NULL);
    k.s[1] = 0xABCD0001;
    k.s[2] = SAMPLER + 0x60;
    k.v[1] = (union vec){.w = {1, 2, 3, 4}};
    kernel_exec(&k,
                "CSRW 0x41B, s1\nLW s3, 12(s2)\nVST.V v1, 16(s2)\nCSRR s4, 0x41F\nSW s1, 0(s2)\n"
                "CSRR s5, 0x418");
    CHECK_ID("TILE-346", k.s[3] == 0xABCD0001);
    CHECK_ID("TILE-347", k.s[4] == 4);
    for (uint32_t n = 0; n < 32; n++) { /* 32 of them, word by word */
        char text[64];

        kernel_put(&k, SAMPLER + 32 * n, 1000 + n);
        (void)sprintf(text, "CSRR s6, 0x%x\nCSRW 0x%x, s6", 0x400 + 8 * n, 0x407 + 8 * n);
        kernel_exec(&k, text);
        CHECK_ID("TILE-345", k.s[6] == 1000 + n);
        CHECK_ID("TILE-345 TILE-346", kernel_get(&k, SAMPLER + 32 * n + 28) == 1000 + n);
    }
    harness_row("TILE-319");
    k.s[1] = 0xABCD0001;
    kernel_exec(&k, "CSRW 0x41B, s1\nCSRW 0x418, s1\nCSRR s5, 0x418\nVST.V v1, 16(s2)");
    CHECK_EQ(k.s[5], 0xABCD0001);
    CHECK_EQ(kernel_get(&k, SAMPLER + 0x70), 1);
    CHECK_EQ(kernel_csr(&k, 2, "sampler[3].height"), 0xABCD0001); /* one table for all cores */
    kernel_close(&k);
}

TEST(setmisc, "")
{
    kernel_open(&k, NULL);
    k.config = 0x3C8;
    harness_row("TILE-486");
    kernel_exec(&k, "SETMISC s3, 0x07, 0x01");
    CHECK_EQ(k.s[3], 0x3C8);
    CHECK_EQ(k.config, 0x3C9);
    harness_row("TILE-487");
    kernel_exec(&k, "SETMISC s0, 0x10, 0x3F");
    CHECK_EQ(k.config, 0x3D9);
    harness_row("TILE-489");
    kernel_exec(&k, "SETMISC s0, 0x08, 0x00");
    CHECK_EQ(k.config, 0x3D1);
    kernel_exec(&k, "SETMISC s0, 0x06, 0x06"); /* RM would be 7 */
    CHECK_EQ(k.config, 0x3D0);
    harness_row("TILE-101");
    CHECK_EQ(kernel_word("SETMISC s0, 0x18, 0x08"), 0x6080300F);
    for (uint32_t enable = 0; enable < 64; enable++) {
        for (uint32_t value = 0; value < 64; value += 21) {
            const uint32_t old = (enable & 1) != 0 ? 0x3FC : 0x2A2;
            uint32_t now = (old & ~enable) | (value & enable);
            char line[40];

            now = (now & 7) > 4 ? now & ~UINT32_C(7) : now;
            (void)sprintf(line, "SETMISC s3, 0x%x, 0x%x", (unsigned)enable, (unsigned)value);
            k.config = old;
            kernel_exec(&k, line);
            CHECK_EQ(k.s[3], old);
            CHECK_EQ(k.config, now);
        }
    }
    kernel_close(&k);
}

/* ---- entry ---- */

TEST(entry_state, "TILE-509 TILE-510 TILE-511")
{
    static const struct facet_tile_config poison = {.poison = true};

    for (unsigned p = 0; p < 2; p++) {
        kernel_open(&k, p != 0 ? &poison : NULL);
        k.packet.columns = 5; /* core 0 has two tiles: nothing survives the first */
        CHECK(
            kernel_load(&k,
                        VRAM,
                        "CSRR s10, status\nCSRR s11, fstatus\nCSRR s12, vstatus\nCSRR s13, config\n"
                        "OR s10, s10, s11\nOR s10, s10, s12\nOR s10, s10, s13\nLUI s11, 0x80010\n"
                        "AADD s0, s10, (s11)\nADDI s14, s0, 0x7F\nCSRW config, s14\n"
                        "CSRW vstatus, s14\nCSRW status, s14\nCSRW vstride, s14\nEXIT"));
        kernel_run(&k);
        CHECK_EQ(kernel_get(&k, DATA), 0);
        CHECK_EQ(kernel_reg(&k, 0, "s1"), p != 0 ? 0xDEAD0001 : 0);
        CHECK_EQ(kernel_reg(&k, 3, "s31"), p != 0 ? 0xDEAD001F : 0);
        CHECK_EQ(kernel_reg(&k, 0, "s0"), 0);
        CHECK_EQ(k.f[0], p != 0 ? 0x7D00 : 0);
        CHECK_EQ(k.f[31], p != 0 ? 0x7D1F : 0);
        CHECK_EQ(k.v[31].w[3], p != 0 ? 0x7FA0001F : 0);
        CHECK_EQ(k.v[0].w[0], 0);
        kernel_close(&k);
    }
}

/* Scratch at the start of the first and the second tile of a core, each of which overwrites it. */
TEST(scratch_at_entry, "TILE-585")
{
    static const struct facet_tile_config poison = {.poison = true};

    for (unsigned p = 0; p < 2; p++) {
        kernel_open(&k, p != 0 ? &poison : NULL);
        CHECK(
            kernel_load(&k,
                        VRAM,
                        "CSRR s1, sm_base\nCSRR s2, tile_offset\nLUI s3, 0x80010\n"
                        "SHLI s2, s2, 3\nADD s3, s3, s2\nLW s4, 0(s1)\nSW s4, 0(s3)\n"
                        "LW.L s4, 1020(s1)\nSW s4, 4(s3)\nSW s3, 0(s1)\nSW.L s3, 1020(s1)\nEXIT"));
        k.packet = (struct facet_tile_packet){.pc = VRAM,
                                              .columns = 2,
                                              .rows = 1,
                                              .tile_width = 1,
                                              .core_mask = 1,
                                              .shared_size = 1024};
        kernel_run(&k);
        for (uint32_t tile = 0; tile < 2; tile++) {
            CHECK_EQ(kernel_get(&k, DATA + 8 * tile), p != 0 ? 0x5CA70000 : 0);
            CHECK_EQ(kernel_get(&k, DATA + 8 * tile + 4), p != 0 ? 0x5CA700FF : 0);
        }
        kernel_close(&k);
    }
}

/* What a tile leaves to the next tile of its core, and what a dispatch leaves to the next:
 * section 2. Each tile writes what it finds, then fills everything with something else. */
TEST(what_lives_how_long, "TILE-509 TILE-510")
{
    static const char text[] =
        "CSRR s5, tile_offset\nSHLI s5, s5, 2\nLUI s6, 0x80010\nADD s6, s6, s5\n"
        "CSRR s7, int_status\nSW s7, 0(s6)\nCSRR s7, gerror\nSW s7, 4(s6)\n"
        "CSRR s7, status\nSW s7, 8(s6)\nCSRR s7, int_mask\nSW s7, 12(s6)\n"
        "CSRR s7, vstride\nSW s7, 16(s6)\nCSRR s7, sm_base\nLW.L s8, 516(s7)\n"
        "SW s8, 20(s6)\nLW.L s8, 1020(s7)\nSW s8, 24(s6)\nCSRR s8, gfx_token\n"
        "SW s8, 28(s6)\nRSTATE s8, 0(s0)\nRSETUP s9, 0(s10)\n"
        "SW.L s6, 516(s7)\nSW.L s6, 1020(s7)\nCSRRW s0, vstride, s6\n"
        "ADDI s7, s0, 1\nCSRRW s0, int_mask, s7\nLUI s10, 0x80010\n"
        "RSETUP s9, 0(s10)\nEXIT\n";
    const uint32_t gerr = 4;

    kernel_open(&k, NULL);
    CHECK(kernel_load(&k, VRAM, text));
    for (unsigned dispatch = 0; dispatch < 2; dispatch++) {
        k.packet = (struct facet_tile_packet){
            .pc = VRAM, .columns = 3, .rows = 1, .core_mask = 1, .shared_size = 1024};
        kernel_run(&k);
        CHECK_EQ(facet_tile_info_of(k.machine).state, FACET_TILE_STATE_DONE);
        for (uint32_t tile = 0; tile < 3; tile++) {
            const uint32_t at = DATA + 64 * tile;

            CHECK_EQ(kernel_get(&k, at), tile == 0 ? 0 : gerr); /* until the next dispatch */
            for (uint32_t i = 1; i < 8; i++) {
                CHECK_MSG(kernel_get(&k, at + 4 * i) == 0,
                          "dispatch %u tile %u word %u: 0x%x",
                          dispatch,
                          (unsigned)tile,
                          (unsigned)i,
                          (unsigned)kernel_get(&k, at + 4 * i));
            }
        }
        CHECK_EQ(kernel_csr(&k, 0, "gfx_token"), 1);
        CHECK_EQ(kernel_csr(&k, 0, "perf_gfx"), 3 * 3); /* the dispatch's, not the tile's */
    }
    kernel_close(&k);
}

TEST(packet, "")
{
    uint8_t bytes[64] = {0};
    uint32_t word[10] = {VRAM, 0x00020003, 0x00080004, DATA, 8, 4096, 0x5FF, 0x80020000, 48, 1000};

    kernel_open(&k, NULL);
    for (unsigned i = 0; i < 10; i++) {
        facet_store_le32(bytes + 4 * i, word[i]);
    }
    k.packet = facet_tile_packet_read(bytes);
    CHECK_ID("TILE-530", k.packet.priority == 0xFF);
    CHECK_EQ(k.packet.core_mask, 5);
    kernel_put(&k, DATA, 0x80030000);
    kernel_put(&k, DATA + 4, 3);
    /* Every tile stores its offset at output + 4 * number, which AADD counts. */
    CHECK(kernel_load(&k,
                      VRAM,
                      "CSRR s1, arg_base\nLW s2, 0(s1)\nADDI s3, s0, 1\nADDI s9, s2, 1024\n"
                      "AADD s4, s3, (s9)\nCSRR s5, tile_offset\nCSRR s6, core_id\nSHLI s4, s4, 3\n"
                      "ADD s4, s4, s2\nSW s5, 0(s4)\nSW s6, 4(s4)\nCSRR s10, arg_size\n"
                      "CSRR s11, sm_size\nCSRR s12, const_base\nCSRR s13, const_size\nEXIT"));
    for (unsigned priority = 0; priority < 2; priority++) { /* 255, then 0: the same */
        harness_row(priority == 0 ? "TILE-523 TILE-526" : "TILE-530");
        kernel_put(&k, 0x80030400, 0);
        kernel_run(&k);
        CHECK_EQ(facet_tile_info_of(k.machine).state, FACET_TILE_STATE_DONE);
        CHECK_EQ(kernel_get(&k, 0x80030400), 6);
        for (uint32_t t = 0; t < 6; t++) { /* cores 0 and 2 take turns */
            CHECK_EQ(kernel_get(&k, 0x80030000 + 8 * t), (t / 3 * 8) << 16 | t % 3 * 4);
            CHECK_EQ(kernel_get(&k, 0x80030004 + 8 * t), t % 2 * 2);
        }
        k.packet.priority = 0;
    }
    harness_row("");
    CHECK_ID("TILE-464 TILE-515 TILE-527", kernel_reg(&k, 0, "s1") == DATA);
    CHECK_ID("TILE-516 TILE-528", kernel_reg(&k, 0, "s10") == 8);
    CHECK_ID("TILE-518", kernel_reg(&k, 0, "s11") == 4096);
    CHECK_EQ(kernel_reg(&k, 0, "s12"), 0x80020000);
    CHECK_EQ(kernel_reg(&k, 0, "s13"), 48);
    CHECK_EQ(facet_machine_retired(k.machine, 1), 0);
    kernel_close(&k);
}

TEST(bad_packets, "TILE-525 TILE-529")
{
    static const struct facet_tile_packet bad[] = {
        {.pc = VRAM + 2, .columns = 1, .rows = 1},
        {.pc = 0x8000, .columns = 1, .rows = 1},
        {.pc = VRAM + (1 << 20), .columns = 1, .rows = 1},
        {.pc = VRAM, .columns = 1, .rows = 1, .shared_size = 32769},
        {.pc = VRAM, .columns = 1, .rows = 1, .const_base = VRAM + 8, .const_size = 16},
        {.pc = VRAM, .columns = 1, .rows = 1, .const_base = 0x1000, .const_size = 16},
        {.pc = VRAM, .columns = 1, .rows = 1, .const_base = VRAM + 0xFFFF0, .const_size = 17},
        {.pc = VRAM, .columns = 4098, .rows = 1},
        {.pc = VRAM, .columns = 1, .rows = 3, .tile_height = 32768},
        {.pc = VRAM, .columns = 1, .rows = 657, .tile_height = 100},
        {.pc = VRAM, .columns = 657, .rows = 1, .tile_width = 100},
        {.pc = IMEM + 0x10000, .columns = 1, .rows = 1},
    };
    /* The last value that is right, each. */
    static const struct facet_tile_packet good[] = {
        {.pc = VRAM, .columns = 1, .rows = 1, .shared_size = 32768},
        {.pc = VRAM, .columns = 1, .rows = 1, .const_base = VRAM + 0xFFFF0, .const_size = 16},
        {.pc = VRAM, .columns = 1, .rows = 1, .const_base = 0x1001}, /* of no constants */
        {.pc = VRAM, .columns = 4096, .rows = 1},
        {.pc = VRAM, .columns = 1, .rows = 2, .tile_height = 65535},
        {.pc = VRAM, .columns = 1, .rows = 656, .tile_height = 100},
        {.pc = VRAM, .columns = 656, .rows = 1, .tile_width = 100},
        {.pc = IMEM + 0xFFFC, .columns = 1, .rows = 1},
        {.pc = VRAM + (1 << 20) - 4, .columns = 1, .rows = 1},
    };

    kernel_open(&k, NULL);
    kernel_put(&k, VRAM, 0x0010700F);
    kernel_put(&k, IMEM + 0xFFFC, 0x0010700F);
    kernel_put(&k, VRAM + (1 << 20) - 4, 0x0010700F);
    for (unsigned i = 0; i < sizeof good / sizeof good[0]; i++) {
        k.packet = good[i];
        kernel_run(&k);
        CHECK_MSG(
            facet_tile_info_of(k.machine).state == FACET_TILE_STATE_DONE, "packet %u is good", i);
        CHECK_EQ(facet_machine_retired(k.machine, 0),
                 ((uint64_t)good[i].columns * good[i].rows + 3) / 4);
    }
    kernel_close(&k);
    kernel_open(&k, NULL);
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(facet_tile_dispatch(k.machine, &bad[i], NULL) == FACET_ERR_INPUT);
        CHECK_EQ(facet_tile_info_of(k.machine).state, FACET_TILE_STATE_IDLE);
    }
    k.packet = (struct facet_tile_packet){.pc = VRAM, .columns = 0, .rows = 5};
    kernel_run(&k);
    CHECK_EQ(facet_tile_info_of(k.machine).state, FACET_TILE_STATE_DONE);
    CHECK_EQ(facet_tile_info_of(k.machine).rounds, 0);
    k.packet = (struct facet_tile_packet){.pc = VRAM, .columns = 2, .rows = 1, .tile_width = 65535};
    kernel_put(&k, VRAM, 0x0010700F);
    kernel_run(&k);
    CHECK_EQ(facet_tile_info_of(k.machine).state, FACET_TILE_STATE_DONE);
    CHECK_EQ(kernel_csr(&k, 1, "tile_offset"), 65535);
    kernel_close(&k);
}

/* ---- schedule ---- */

static const char *const k1 =
    "CSRRS s5, 0xC02, s0\nLW s6, 0(s5)\nLW s7, 4(s5)\nCSRRS s8, 0xC01, s0\n"
    "LSRI s9, s8, 20\nSHLI s10, s8, 16\nLSRI s10, s10, 20\n"
    "MUL s9, s9, s7\nADD s9, s9, s10\nSHLI s9, s9, 2\n"
    "CSRRS s11, 0xC00, s0\nSW.R s11, s9(s6)\nEXIT";

TEST(worked_example_20_9, "TILE-034 TILE-052 TILE-053 TILE-514 TILE-484 TILE-522 TILE-048")
{
    kernel_open(&k, NULL);
    k.packet = (struct facet_tile_packet){
        .pc = VRAM, .columns = 3, .rows = 2, .arg_base = DATA, .arg_size = 8};
    kernel_put(&k, DATA, DATA + 64);
    kernel_put(&k, DATA + 4, 3);
    CHECK(kernel_load(&k, VRAM, k1));
    kernel_run(&k);
    for (uint32_t i = 0; i < 6; i++) {
        CHECK_EQ(kernel_get(&k, DATA + 64 + 4 * i), i % 4);
        CHECK_EQ(facet_machine_retired(k.machine, i % 4), i % 4 < 2 ? 26 : 13);
    }
    CHECK_EQ(facet_tile_info_of(k.machine).rounds, 26);
    CHECK_EQ(kernel_csr(&k, 0, "tile_offset"), 0x00100010);
    CHECK_EQ(kernel_csr(&k, 0, "time_lo"), 26);
    kernel_close(&k);
}

TEST(counters, "TILE-484 TILE-522")
{
    kernel_open(&k, NULL);
    k.s[2] = DATA;
    kernel_exec(&k,
                "CSRR s3, instret_lo\nCSRR s4, instret_lo\nADDI s9, s0, 1\nCSRR s5, instret_lo\n"
                "CSRR s6, time_lo\nCSRR s7, time_lo\nLW s8, 0(s2)\nVLD.V v1, 0(s2)\n"
                "SW s8, 0(s2)\nAADD s8, s8, (s2)\nCSRR s10, perf_load\nCSRR s11, perf_store\n"
                "CSRR s12, perf_atomic\nBEQ s0, s0, 4\nBNE s0, s0, 8\nCSRR s13, perf_branch");
    CHECK_EQ(k.s[3], 0);
    CHECK_EQ(k.s[4], 1);
    CHECK_EQ(k.s[5], 3);
    CHECK_EQ(k.s[6], 4);
    CHECK_EQ(k.s[7], 5);
    CHECK_EQ(k.s[10], 2);
    CHECK_EQ(k.s[11], 1);
    CHECK_EQ(k.s[12], 1);
    CHECK_EQ(k.s[13], 1);
    CHECK_EQ(k.retired, 17);
    kernel_close(&k);
}

/* The order of the cores' AADD on one word is the order of their slots. */
static void order_of(const struct facet_tile_config *config, unsigned count, uint8_t *order)
{
    kernel_open(&k, config);
    k.packet.columns = 4;
    CHECK(kernel_load(&k,
                      VRAM,
                      "AADD s5, s1, (s2)\nAADD s6, s1, (s2)\nAADD s7, s1, (s2)\nAADD s8, s1, (s2)\n"
                      "AADD s9, s1, (s2)\nAADD s10, s1, (s2)\nEXIT"));
    CHECK(facet_tile_dispatch(k.machine, &k.packet, NULL) == FACET_OK);
    for (uint32_t core = 0; core < 4; core++) {
        struct facet_value one = {1, 0}, data = {DATA, 0};

        CHECK(facet_machine_reg_write(k.machine, core, 1, one, NULL) == FACET_OK);
        CHECK(facet_machine_reg_write(k.machine, core, 2, data, NULL) == FACET_OK);
    }
    struct facet_run run = {.budget = UINT64_MAX};

    facet_machine_run(k.machine, &run, &k.stop);
    memset(order, 0xFF, count);
    for (uint32_t core = 0; core < 4; core++) {
        for (uint32_t i = 0; i < 6; i++) {
            char name[8];

            (void)sprintf(name, "s%u", 5 + i);
            uint64_t at = kernel_reg(&k, core, name);

            if (at < count) {
                order[at] = (uint8_t)core;
            }
        }
    }
}

/* Each form of an instruction counts once, in one counter. */
TEST(counters_by_form, "TILE-484 TILE-522")
{
    static const char *const names[] = {
        "perf_load", "perf_store", "perf_atomic", "perf_tex", "perf_gfx", "perf_branch"};
    static const struct {
        const char *text;
        int counter; /* -1: none */
    } row[] = {{"LB s5, 0(s1)", 0},
               {"LHU.R s5, s0(s1)", 0},
               {"LW.L s5, 64(s1)", 0},
               {"LW.PL s5, 0", 0},
               {"VLD.V v5, 0(s1)", 0},
               {"VLD.V.R v5, s0(s1)", 0},
               {"VLD.S v5, (s1), s2", 0},
               {"VLD.S16 v5, (s1), s2", 0},
               {"VLDX v5, (s1), v0", 0},
               {"VLDX8 v5, (s1), v0", 0},
               {"VLDX.L v5, 4(s1), v0", 0},
               {"VLD.C v5, c0(s0)", 0},
               {"SB s5, 0(s1)", 1},
               {"SW.R s5, s0(s1)", 1},
               {"VST.V v5, 0(s1)", 1},
               {"VST.S v5, (s1), s2", 1},
               {"VST.S8 v5, (s1), s2", 1},
               {"VSTX v5, (s1), v0", 1},
               {"VSTX16 v5, (s1), v0", 1},
               {"VSTX.L v5, 4(s1), v0", 1},
               {"AADD s5, s0, (s1)", 2},
               {"AMAX.R s5, s0(s1)", 2},
               {"AXOR.L s5, 0(s1)", 2},
               {"ACAS s5, s6, (s1)", 2},
               {"ACASI s5, 7, (s1)", 2},
               {"VATOM.ADD v5, v0, 0(s1)", 2},
               {"VATOM.MIN.S v5, v0, (s1), s2", 2},
               {"VATOM.OR.X v5, v0, (s1), v0", 2},
               {"VCAS v5, v0, (s1), v0", 2},
               {"TEX2D.N.I32 v5, v0, s0", 3},
               {"TEX2D.B.F16 v5, v0, s0", 3},
               {"RSTATE s5, 0(s1)", 4},
               {"RSETUP s5, 0(s1)", 4},
               {"RDRAW s5, 0(s1)", 4},
               {"GPARAM s5, 0(s0)", 4},
               {"BEQ s0, s1, 8", -1},
               {"BNE s0, s1, 4", 5},
               {"JAL s5, 4", 5},
               {"MEMBAR", -1},
               {"VADD.I32 v5, v1, v2", -1},
               {"CSRRS s5, status, s0", -1}};

    kernel_open(&k, NULL);
    k.packet.const_base = DATA + 0x100;
    k.packet.const_size = 64;
    for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
        memset(k.s, 0, sizeof k.s);
        k.s[1] = DATA;
        k.s[2] = 8;
        kernel_exec(&k, row[i].text);
        CHECK_MSG(k.cause == 0, "%s: cause %u", row[i].text, (unsigned)k.cause);
        for (int c = 0; c < 6; c++) {
            CHECK_MSG(kernel_csr(&k, 0, names[c]) == (c == row[i].counter),
                      "%s: %s is %u",
                      row[i].text,
                      names[c],
                      (unsigned)kernel_csr(&k, 0, names[c]));
        }
        CHECK_EQ(k.retired, 2); /* and EXIT */
    }
    kernel_close(&k);
}

/* The text of a schedule, as options and cases give it. */
TEST(texts_of_schedules, "")
{
    static const char *const bad[] = {"",
                                      "rr",
                                      "rr:",
                                      "rr:0",
                                      "rr:0x0",
                                      "rnd:",
                                      "rnd",
                                      "rr:4294967296",
                                      "rr:0x100000000",
                                      "rr:-1",
                                      "rr:1 ",
                                      "rr:0xg",
                                      "rr:0x",
                                      "rnd:1x",
                                      "xx:3"};
    static const struct {
        const char *text;
        bool random;
        uint32_t seed, quantum;
    } good[] = {{"rr:1", false, 0, 1},
                {"rr:007", false, 0, 7},
                {"rr:4294967295", false, 0, UINT32_MAX},
                {"rr:0xFFffffFF", false, 0, UINT32_MAX},
                {"rnd:0", true, 0, 1},
                {"rnd:0X1f", true, 31, 1}};

    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct facet_tile_config config = {.quantum = 5};

        CHECK_MSG(!facet_tile_parse_sched(bad[i], &config) && config.quantum == 5, "%s", bad[i]);
    }
    for (unsigned i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct facet_tile_config config = {.quantum = 5};

        CHECK_MSG(facet_tile_parse_sched(good[i].text, &config) &&
                      config.random == good[i].random && config.seed == good[i].seed &&
                      config.quantum == good[i].quantum,
                  "%s",
                  good[i].text);
    }
}

TEST(round_robin, "TILE-034")
{
    uint8_t order[24];

    for (uint32_t quantum = 1; quantum < 5; quantum++) {
        struct facet_tile_config config = {.quantum = quantum};

        order_of(&config, 24, order);
        for (unsigned i = 0; i < 24; i++) {
            unsigned round = i / (4 * quantum), in_round = i % (4 * quantum);
            unsigned left = 6 - round * quantum, slot = left < quantum ? left : quantum;

            CHECK_EQ(order[i], slot == quantum ? in_round / quantum : in_round / slot);
        }
        /* The last slot of a core also has its EXIT. */
        CHECK_EQ(facet_tile_info_of(k.machine).rounds, (7 + quantum - 1) / quantum);
        kernel_close(&k);
    }
}

TEST(random_schedule, "TILE-034")
{
    for (uint32_t seed = 0; seed < 10; seed++) {
        struct facet_tile_config config = {.random = true, .seed = seed * 12345};
        uint8_t order[24], expected[24];
        uint32_t x = seed == 0 ? 1 : seed * 12345, done[4] = {0}, count = 0, rounds = 0;
        bool exited[4] = {false};

        while (!(exited[0] && exited[1] && exited[2] && exited[3])) {
            for (unsigned slot = 0; slot < 4; slot++) {
                uint32_t r = 0, n;

                x ^= x << 13;
                x ^= x >> 17;
                x ^= x << 5;
                for (unsigned c = 0; c < 4; c++) {
                    r += !exited[c];
                }
                if (r == 0) {
                    continue;
                }
                n = x % r;
                for (unsigned c = 0; c < 4; c++) {
                    if (!exited[c] && n-- == 0) {
                        if (done[c]++ < 6) {
                            expected[count++] = (uint8_t)c;
                        } else {
                            exited[c] = true;
                        }
                        break;
                    }
                }
            }
            rounds++;
        }
        order_of(&config, 24, order);
        CHECK(memcmp(order, expected, 24) == 0);
        CHECK_EQ(facet_tile_info_of(k.machine).rounds, rounds);
        kernel_close(&k);
    }
}

/* Several tiles per core by 13.2 and 13.4, literally: in which round each tile reads the time. */
static uint32_t model_tiles(uint32_t seed, unsigned cores, unsigned tiles, uint32_t *at)
{
    enum { LENGTH = 7, READS_TIME = 4 };
    unsigned tile[4], done[4] = {0}, left = tiles < cores ? tiles : cores;
    bool rests[4] = {false};
    uint32_t x = seed != 0 ? seed : 1, rounds = 0;

    for (unsigned c = 0; c < cores; c++) {
        tile[c] = c;
    }
    for (; left > 0; rounds++) {
        for (unsigned slot = 0; slot < cores; slot++) {
            unsigned runnable[4], r = 0, c;

            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            for (unsigned i = 0; i < cores; i++) {
                if (tile[i] < tiles && !rests[i]) {
                    runnable[r++] = i;
                }
            }
            if (r == 0) {
                continue;
            }
            c = runnable[x % r];
            if (done[c] == READS_TIME) {
                at[tile[c]] = rounds;
            }
            if (++done[c] == LENGTH) { /* EXIT: not again in this round */
                done[c] = 0;
                rests[c] = true;
                tile[c] += cores;
                left -= tile[c] >= tiles;
            }
        }
        memset(rests, 0, sizeof rests);
    }
    return rounds;
}

TEST(random_schedule_of_many_tiles, "TILE-034 TILE-514")
{
    enum { TILES = 23 };

    for (uint32_t seed = 0; seed < 30; seed++) {
        struct facet_tile_config config = {.random = true, .seed = seed * 977};
        const unsigned masks[] = {0xF, 0xB, 0x6, 0x8}, count[] = {4, 3, 2, 1};
        uint32_t at[TILES], rounds = model_tiles(config.seed, count[seed % 4], TILES, at);

        kernel_open(&k, &config);
        k.packet = (struct facet_tile_packet){
            .pc = VRAM, .columns = TILES, .rows = 1, .core_mask = masks[seed % 4]};
        CHECK(kernel_load(&k,
                          VRAM,
                          "CSRR s5, tile_offset\nLSRI s5, s5, 2\nLUI s6, 0x80010\n"
                          "ADD s6, s6, s5\nCSRR s7, time_lo\nSW s7, 0(s6)\nEXIT"));
        kernel_run(&k);
        CHECK_EQ(facet_tile_info_of(k.machine).state, FACET_TILE_STATE_DONE);
        CHECK_EQ(facet_tile_info_of(k.machine).rounds, rounds);
        for (unsigned t = 0; t < TILES; t++) {
            CHECK_EQ(kernel_get(&k, DATA + 4 * t), at[t]);
        }
        kernel_close(&k);
    }
}

TEST(watchdog, "TILE-484")
{
    kernel_open(&k, NULL);
    k.packet.columns = 3;
    k.packet.watchdog = 100;
    /* Core 1 ends at once, the others never. */
    CHECK(kernel_load(&k,
                      VRAM,
                      "CSRR s1, core_id\nADDI s2, s0, 1\nLUI s3, 0x80010\nSW s2, 0(s3)\n"
                      "BEQ s1, s2, out\nloop: J loop\nout: EXIT"));
    kernel_run(&k);
    CHECK_EQ(facet_tile_info_of(k.machine).state, FACET_TILE_STATE_FAULTED);
    CHECK_EQ(facet_tile_info_of(k.machine).rounds, 100);
    for (uint32_t core = 0; core < 4; core++) {
        struct facet_tile_core_report r = facet_tile_report_of(k.machine, core);
        bool late = core == 0 || core == 2;

        CHECK_EQ(r.fault_cause, late ? 9 : 0);
        CHECK_EQ(r.status, late ? ST_WDT : 0);
        CHECK_EQ(r.fault_pc, late ? VRAM + 20 : 0);
        CHECK_EQ(r.fault_addr, r.fault_pc);
        CHECK_EQ(r.retired, late ? 100 : core == 1 ? 6 : 0);
    }
    CHECK_EQ(kernel_get(&k, DATA), 1); /* published for inspection */
    CHECK_EQ(k.stop.reason, FACET_STOP_FAULT);
    CHECK_EQ(k.stop.code, 9);
    (void)facet_tile_set_watchdog(k.machine, 50, NULL);
    k.packet.watchdog = 0;
    kernel_run(&k);
    CHECK_EQ(facet_tile_info_of(k.machine).rounds, 50);
    kernel_close(&k);
}

TEST(the_watchdog_publishes_what_was_stored, "")
{
    kernel_open(&k, NULL);
    k.packet.watchdog = 50;
    CHECK(
        kernel_load(&k, VRAM, "ADDI s2, s0, 7\nLUI s3, 0x80010\nSW s2, 0(s3)\nloop: J loop\nEXIT"));
    kernel_run(&k); /* no core ends or waits for memory, so nothing else publishes */
    CHECK_EQ(k.stop.code, 9);
    CHECK_EQ(kernel_get(&k, DATA), 7);
    kernel_close(&k);
}

TEST(a_fault_stops_everybody, "TILE-536")
{
    kernel_open(&k, NULL);
    k.packet.columns = 4;
    /* Core 2 faults in round 6; cores 0 and 1 have had their slot of that round, core 3 has not. */
    CHECK(kernel_load(&k,
                      VRAM,
                      "CSRR s1, core_id\nADDI s2, s0, 2\nLUI s3, 0x80010\nSHLI s4, s1, 2\n"
                      "SW.R s2, s4(s3)\nBNE s1, s2, loop\nLW s5, 0(s0)\nloop: J loop"));
    kernel_run(&k);
    CHECK_EQ(facet_tile_info_of(k.machine).rounds, 6);
    CHECK_EQ(facet_machine_retired(k.machine, 0), 7);
    CHECK_EQ(facet_machine_retired(k.machine, 1), 7);
    CHECK_EQ(facet_machine_retired(k.machine, 2), 6);
    CHECK_EQ(facet_machine_retired(k.machine, 3), 6);
    for (uint32_t core = 0; core < 4; core++) {
        CHECK_EQ(kernel_csr(&k, core, "fault_cause"), core == 2 ? 4 : 0);
        CHECK_EQ(kernel_get(&k, DATA + 4 * core), 2);
    }
    CHECK_EQ(kernel_csr(&k, 2, "fault_pc"), VRAM + 24);
    CHECK_EQ(k.stop.core, 2);
    kernel_close(&k);
}

/* ---- waiting ---- */

TEST(wait_for_a_doorbell, "TILE-491 TILE-485")
{
    const struct facet_run run = {.budget = UINT64_MAX};

    kernel_open(&k, NULL);
    k.packet.columns = 2;
    CHECK(
        kernel_load(&k,
                    VRAM,
                    "ADDI s1, s0, 1\nCSRW int_mask, s1\nCSRR s2, core_id\nBEQ s2, s0, wait\nEXIT\n"
                    "wait: WFI\nCSRR s3, int_status\nCSRW int_status, s1\nCSRR s4, int_status\n"
                    "EXIT"));
    kernel_run(&k);
    CHECK_EQ(facet_tile_info_of(k.machine).state, FACET_TILE_STATE_WAITING);
    CHECK_EQ(k.stop.reason, FACET_STOP_IDLE);
    CHECK_EQ(facet_machine_retired(k.machine, 0), 5); /* WFI retires when it parks */
    uint64_t rounds = facet_tile_info_of(k.machine).rounds;
    CHECK_EQ(rounds, 5);
    (void)facet_tile_doorbell(k.machine, 2, NULL); /* the other core's */
    facet_machine_run(k.machine, &run, &k.stop);
    CHECK_EQ(facet_tile_info_of(k.machine).state, FACET_TILE_STATE_WAITING);
    facet_tile_fence(k.machine); /* not enabled */
    facet_machine_run(k.machine, &run, &k.stop);
    CHECK_EQ(facet_tile_info_of(k.machine).state, FACET_TILE_STATE_WAITING);
    CHECK_EQ(facet_tile_info_of(k.machine).rounds, rounds);
    (void)facet_tile_doorbell(k.machine, 1, NULL);
    facet_machine_run(k.machine, &run, &k.stop);
    CHECK_EQ(facet_tile_info_of(k.machine).state, FACET_TILE_STATE_DONE);
    CHECK_EQ(kernel_reg(&k, 0, "s3"), 3);
    CHECK_EQ(kernel_reg(&k, 0, "s4"), 2);
    CHECK_EQ(facet_tile_info_of(k.machine).rounds,
             rounds + 5); /* one slot to wake, four instructions */
    CHECK_EQ(facet_machine_retired(k.machine, 0), 9);
    /* Without a mask WFI is EXIT. */
    kernel_exec(&k, "WFI\nADDI s9, s0, 1");
    CHECK_EQ(facet_tile_info_of(k.machine).state, FACET_TILE_STATE_DONE);
    CHECK_EQ(k.s[9], 0);
    kernel_close(&k);
}

TEST(abort_ends_a_dispatch, "TILE-491")
{
    const struct facet_run some = {.budget = 41};

    for (unsigned waits = 0; waits < 2; waits++) {
        kernel_open(&k, NULL);
        k.packet.columns = 3;
        CHECK(kernel_load(
            &k, VRAM, waits ? "ADDI s1, s0, 1\nCSRW int_mask, s1\nWFI\nEXIT" : "loop: J loop"));
        CHECK(facet_tile_dispatch(k.machine, &k.packet, NULL) == FACET_OK);
        facet_machine_run(k.machine, &some, &k.stop);
        CHECK(facet_tile_dispatch(k.machine, &k.packet, NULL) == FACET_ERR_USAGE);
        (void)facet_tile_abort(k.machine, NULL);
        CHECK_EQ(facet_tile_info_of(k.machine).state, FACET_TILE_STATE_FAULTED);
        for (uint32_t core = 0; core < 3; core++) {
            CHECK_EQ(kernel_csr(&k, core, "fault_cause"), 10);
            CHECK_EQ(kernel_csr(&k, core, "fault_pc"), waits ? VRAM + 12 : VRAM);
            CHECK_EQ(kernel_csr(&k, core, "status"), 0);
        }
        CHECK_EQ(kernel_csr(&k, 3, "fault_cause"), 0);
        CHECK(facet_tile_dispatch(k.machine, &k.packet, NULL) == FACET_OK);
        CHECK_EQ(kernel_csr(&k, 0, "fault_cause"), 0); /* cleared at dispatch start */
        kernel_close(&k);
    }
}

TEST(barr_sync_waits_for_nobody, "TILE-490 TILE-534")
{
    kernel_open(&k, NULL);
    CHECK_EQ(kernel_word("BARR.SYNC"), 0x0000400F);
    kernel_exec(&k, "BARR.SYNC\nADDI s1, s0, 1");
    CHECK_EQ(k.s[1], 1);
    CHECK_EQ(facet_tile_info_of(k.machine).rounds, 3);
    kernel_close(&k);
}
