/* Atomics and the memory model (tile-semantics.md 8, 9): single instructions, the worked example
 * 20.2, litmus programs under many schedules, and random programs of four cores against a literal
 * transcription of 8.2 that keeps one record per byte. */
#include "kernel.h"

#include "base/bits.h"
#include "isa/isa.h"

#include <stdio.h>
#include <stdlib.h>

static struct kernel k;

/* ---- scalar atomics ---- */

TEST(scalar_atomics, "")
{
    static const struct {
        const char *name;
        uint32_t memory, operand, result, funct3;
        const char *ids;
    } row[] = {{"ADD", 5, 3, 8, 0, "TILE-186"},
               {"MIN", 0xFFFFFFFF, 1, 0xFFFFFFFF, 1, "TILE-187"},
               {"MAX", 0xFFFFFFFF, 1, 1, 2, "TILE-188"},
               {"XCHG", 7, 9, 9, 3, "TILE-189"},
               {"AND", 0xF0, 0x3C, 0x30, 5, "TILE-191"},
               {"OR", 0xF0, 0x0F, 0xFF, 6, "TILE-192"},
               {"XOR", 0xFF, 0x0F, 0xF0, 7, "TILE-193"}};

    kernel_open(&k, NULL);
    for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
        static const char *const form[] = {
            "A%s s1, s2, (s3), aqrl", "A%s.R s2, s4(s3), rl", "A%s.L s2, 64(s3)"};

        for (unsigned f = 0; f < 3; f++) {
            uint32_t address = DATA + (f == 0 ? 0 : f == 1 ? 128 : 64);
            char line[64];

            kernel_put(&k, address, row[i].memory);
            k.s[1] = 0x55;
            k.s[2] = row[i].operand;
            k.s[3] = DATA;
            k.s[4] = 128;
            (void)sprintf(line, form[f], row[i].name);
            kernel_exec(&k, line);
            harness_row(row[i].ids);
            CHECK_EQ(kernel_get(&k, address), row[i].result);
            CHECK(f != 0 || (kernel_word(line) >> 12 & 7) == row[i].funct3);
            CHECK_ID("TILE-182", kernel_get(&k, address) == row[i].result);
            CHECK_ID("TILE-194", k.s[f == 0 ? 1 : 2] == row[i].memory);
            if (f != 0) {
                CHECK_ID(f == 1 ? "TILE-185" : "TILE-184",
                         kernel_get(&k, address) == row[i].result);
            }
            CHECK_EQ(kernel_csr(&k, 0, "perf_atomic"), 1);
        }
    }
    for (uint32_t memory = 7; memory < 9; memory++) {
        kernel_put(&k, DATA, memory);
        k.s[1] = 9;
        k.s[2] = 7;
        k.s[3] = DATA;
        harness_row("TILE-182 TILE-190 TILE-195 TILE-204");
        kernel_exec(&k, "ACAS s1, s2, (s3), aqrl");
        CHECK_EQ(kernel_get(&k, DATA), memory == 7 ? 9 : 8);
        CHECK_EQ(kernel_word("ACAS s1, s2, (s3), aqrl") >> 12 & 7, 4);
        CHECK_ID("TILE-194 TILE-195", k.s[1] == memory);
        harness_row("TILE-205");
        kernel_put(&k, DATA, memory == 7 ? 4095 : 0xFFFFFFFF);
        k.s[1] = 9;
        kernel_exec(&k, "ACASI s1, 4095, (s3)");
        CHECK_EQ(kernel_get(&k, DATA), memory == 7 ? 9 : 0xFFFFFFFF);
    }
    harness_row(""); /* rd = s0 drops the old value, and as an operand it is 0 */
    kernel_put(&k, DATA, 5);
    kernel_exec(&k, "AADD s0, s2, (s3)\nAXCHG.L s0, 0(s3)");
    CHECK_EQ(kernel_get(&k, DATA), 0);
    CHECK_EQ(k.s[0], 0);
    CHECK_EQ(kernel_word("AADD s1, s2, (s3)") >> 26 & 3, 0);
    CHECK_EQ(kernel_word("AADD s1, s2, (s3), aq") >> 26 & 3, 1);
    CHECK_EQ(kernel_word("AADD s1, s2, (s3), rl") >> 26 & 3, 2);
    CHECK_ID("TILE-185", kernel_word("AADD.R s1, s2(s3)") >> 25 == 1);
    kernel_close(&k);
}

TEST(vector_atomics, "")
{
    static const struct {
        const char *name;
        uint32_t memory[4], operand[4], result[4], funct3;
        const char *ids;
    } row[] = {
        {"ADD", {1, 2, 3, 4}, {10, 10, 10, 10}, {11, 12, 13, 14}, 0, "TILE-302"},
        {"MIN", {-1u, 1, 5, -7u}, {0, 0, 0, 0}, {-1u, 0, 0, -7u}, 1, "TILE-303"},
        {"MAX", {-1u, 1, 5, -7u}, {0, 0, 0, 0}, {0, 1, 5, 0}, 2, "TILE-304"},
        {"XCHG", {1, 2, 3, 4}, {5, 6, 7, 8}, {5, 6, 7, 8}, 3, "TILE-305"},
        {"CAS", {1, 2, 3, 4}, {5, 6, 7, 8}, {5, 6, 7, 8}, 4, "TILE-309"},
        {"AND",
         {0xF0, 0xF0, 0xF0, 0xF0},
         {0x3C, 0x3C, 0x3C, 0x3C},
         {0x30, 0x30, 0x30, 0x30},
         5,
         "TILE-306"},
        {"OR",
         {0xF0, 0xF0, 0xF0, 0xF0},
         {0xF, 0xF, 0xF, 0xF},
         {0xFF, 0xFF, 0xFF, 0xFF},
         6,
         "TILE-307"},
        {"XOR",
         {0xFF, 0xFF, 0xFF, 0xFF},
         {0xF, 0xF, 0xF, 0xF},
         {0xF0, 0xF0, 0xF0, 0xF0},
         7,
         "TILE-308"},
    };

    kernel_open(&k, NULL);
    for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
        for (unsigned form = 0; form < 3; form++) {
            uint32_t step = form == 0 ? 4 : 12, start = form == 0 ? DATA + 16 : DATA;
            char line[64];

            (void)sprintf(line,
                          form == 0   ? "VATOM.%s v4, v3, 16(s1)"
                          : form == 1 ? "VATOM.%s.S v4, v3, (s1), s2"
                                      : "VATOM.%s.X v4, v3, (s1), v2",
                          row[i].name);
            k.s[1] = DATA;
            k.s[2] = 12;
            for (uint32_t n = 0; n < 4; n++) {
                kernel_put(&k, start + step * n, row[i].memory[n]);
                k.v[3].w[n] = row[i].operand[n];
                k.v[2].w[n] = 12 * n;
            }
            kernel_exec(&k, line);
            harness_row(row[i].ids);
            CHECK_EQ(kernel_word(line) >> 12 & 7, row[i].funct3);
            for (uint32_t n = 0; n < 4; n++) {
                CHECK_EQ(kernel_get(&k, start + step * n), row[i].result[n]);
                CHECK_ID("TILE-310 TILE-314", kernel_get(&k, start + step * n) == row[i].result[n]);
                CHECK_ID("TILE-311 TILE-314", k.v[4].w[n] == row[i].memory[n]);
            }
        }
    }
    harness_row("TILE-312 TILE-316"); /* E30: equal addresses accumulate */
    kernel_put(&k, DATA, 10);
    kernel_put(&k, DATA + 4, 20);
    kernel_put(&k, DATA + 8, 30);
    k.v[2] = (union vec){.w = {0, 4, 0, 8}};
    k.v[3] = (union vec){.w = {1, 1, 1, 1}};
    kernel_exec(&k, "VATOM.ADD.X v4, v3, (s1), v2");
    CHECK_EQ(kernel_get(&k, DATA), 12);
    CHECK_EQ(kernel_get(&k, DATA + 4), 21);
    CHECK_EQ(kernel_get(&k, DATA + 8), 31);
    CHECK_EQ(k.v[4].w[0], 10);
    CHECK_EQ(k.v[4].w[2], 11);
    CHECK_EQ(k.v[4].w[3], 30);
    /* Inputs are read before vd is written; v0 drops the values. */
    kernel_exec(&k, "VATOM.ADD.X v3, v3, (s1), v2\nVATOM.ADD v0, v2, 0(s1)");
    CHECK_EQ(k.v[3].w[2], 13);
    CHECK_ID("TILE-315", k.v[0].d[0] == 0 && k.v[0].d[1] == 0);
    harness_row("");
    for (uint32_t n = 0; n < 4; n++) {
        kernel_put(&k, DATA + 4 * n, n);
    }
    k.v[2] = (union vec){.w = {0, 9, 2, 9}};
    k.v[3] = (union vec){.w = {50, 51, 52, 53}};
    kernel_exec(&k, "VCAS v4, v3, (s1), v2");
    CHECK_EQ(kernel_get(&k, DATA), 50);
    CHECK_EQ(kernel_get(&k, DATA + 4), 1);
    CHECK_EQ(kernel_get(&k, DATA + 8), 52);
    CHECK_EQ(k.v[4].w[3], 3);
    kernel_close(&k);
    harness_row("TILE-568");
    for (size_t i = 0; i < facet_isa_row_count[FACET_ISA_TILE]; i++) {
        const char *name = facet_isa_rows[FACET_ISA_TILE][i].mnemonic;

        CHECK_MSG(strncmp(name, "VATOM", 5) != 0 || strstr(name, ".F") == NULL, "%s", name);
    }
}

/* ---- programs of several cores ---- */

/* Every core runs `text` once; s20 is its number, s21 = DATA. */
static void four_cores(const char *text, const struct facet_tile_config *config)
{
    char whole[8192];

    kernel_open(&k, config);
    k.packet.columns = 4;
    (void)snprintf(whole, sizeof whole, "CSRR s20, core_id\nLUI s21, 0x80010\n%s\nEXIT", text);
    CHECK(kernel_load(&k, VRAM, whole));
    kernel_run(&k);
    CHECK_EQ(facet_tile_info_of(k.machine).state, FACET_TILE_STATE_DONE);
}

TEST(atomics_are_indivisible, "")
{
    for (uint32_t seed = 0; seed < 12; seed++) {
        struct facet_tile_config config = {
            .random = seed != 0, .seed = seed, .strong = seed % 2 != 0};
        bool seen[401] = {false};

        /* Each old value is stored once: 4 * 100 different ones. */
        four_cores("ADDI s1, s0, 1\nADDI s2, s0, 100\nADDI s3, s21, 0\nSHLI s4, s20, 10\n"
                   "ADD s4, s4, s21\nADDI s4, s4, 1024\n"
                   "again: AADD s5, s1, (s3)\nSW s5, 0(s4)\nADDI s4, s4, 4\nADDI s2, s2, -1\n"
                   "BNE s2, s0, again",
                   &config);
        for (uint32_t core = 0; core < 4; core++) { /* s20 is what core_id reads */
            CHECK_ID("TILE-034 TILE-052 TILE-513", kernel_csr(&k, core, "core_id") == core);
        }
        CHECK_ID("TILE-035 TILE-196 TILE-202", kernel_get(&k, DATA) == 400);
        harness_row("TILE-043");
        for (uint32_t i = 0; i < 400; i++) {
            uint32_t old = kernel_get(&k, DATA + 1024 * (1 + i / 100) + 4 * (i % 100));

            CHECK(old < 400 && !seen[old]);
            seen[old < 400 ? old : 400] = true;
        }
        kernel_close(&k);
    }
}

/* Atomics on the last word of VRAM go around the caches as all others do. */
TEST(atomics_on_the_last_word, "TILE-035")
{
    four_cores("LUI s3, 0x80100\nADDI s3, s3, -4\nADDI s1, s0, 1\nADDI s2, s0, 50\n"
               "again: AADD s5, s1, (s3)\nADDI s2, s2, -1\nBNE s2, s0, again",
               NULL);
    CHECK_EQ(kernel_get(&k, 0x800FFFFC), 200);
    kernel_close(&k);
}

/* 20.2: the value of core 1's second load of X. `flag` and `wait` are the orders of the atomics. */
static uint32_t message(const char *flag, const char *wait, bool bars, bool strong)
{
    struct facet_tile_config config = {.strong = strong};
    char text[2048];

    (void)snprintf(
        text,
        sizeof text,
        "ADDI s1, s0, 1\nADDI s2, s21, 64\nADDI s3, s21, 128\n"
        "BEQ s20, s0, writer\nBNE s20, s1, end\n"
        "LW s9, 0(s21)\nADDI s4, s0, 0\n"
        "spin: AOR s5, s4, (s2), %s\nBNE s5, s1, spin\n%s"
        "LW s6, 0(s21)\nAXCHG s5, s1, (s3), rlx\nSW s6, 256(s21)\nSW s9, 320(s21)\n"
        "J end\n"
        "writer: NOP\nNOP\nNOP\nNOP\nSW s1, 0(s21)\n%sAXCHG s5, s1, (s2), %s\nADDI s4, s0, 0\n"
        "hold: AOR s5, s4, (s3), rlx\nBNE s5, s1, hold\nend:",
        wait,
        bars ? "MEMBAR\n" : "",
        bars ? "MEMBAR\n" : "",
        flag);
    four_cores(text, &config);
    uint32_t value = kernel_get(&k, DATA + 256);
    CHECK_EQ(kernel_get(&k, DATA + 320), 0);
    kernel_close(&k);
    return value;
}

TEST(worked_example_20_2, "")
{
    CHECK_ID("TILE-037 TILE-044 TILE-197 TILE-540", message("rlx", "rlx", false, false) == 0);
    CHECK_ID("TILE-198 TILE-199 TILE-508", message("rl", "aq", false, false) == 1);
    CHECK_ID("TILE-200 TILE-508", message("aqrl", "aqrl", false, false) == 1);
    CHECK_ID("TILE-200", (kernel_word("AADD s1, s2, (s3), aqrl") >> 26 & 3) == 3);
    CHECK_ID("TILE-198", message("rl", "rlx", false, false) == 0);
    CHECK_ID("TILE-199", message("rlx", "aq", false, false) == 0);
    CHECK_ID("TILE-038 TILE-044 TILE-203 TILE-479 TILE-540",
             message("rlx", "rlx", true, false) == 1);
    CHECK_EQ(message("rlx", "rlx", false, true), 1);
}

TEST(plain_flag_is_never_seen, "TILE-037 TILE-539")
{
    static const struct facet_tile_config strong = {.strong = true};
    /* Core 0 stores a flag and goes on for a while; core 1 polls 50 times. */
    static const char *const text =
        "ADDI s1, s0, 1\nADDI s2, s0, 50\nBEQ s20, s0, writer\nBNE s20, s1, end\n"
        "poll: LW s3, 0(s21)\nBNE s3, s0, seen\nADDI s2, s2, -1\nBNE s2, s0, poll\nJ end\n"
        "seen: SW s1, 64(s21)\nJ end\n"
        "writer: SW s1, 0(s21)\nLW s7, 0(s21)\nSW s7, 128(s21)\nADDI s2, s0, 200\n"
        "idle: ADDI s2, s2, -1\nBNE s2, s0, idle\nend:";

    four_cores(text, NULL);
    CHECK_EQ(kernel_get(&k, DATA + 64), 0);
    CHECK_EQ(kernel_get(&k, DATA + 128), 1); /* its own store it sees */
    CHECK_EQ(kernel_get(&k, DATA), 1);       /* published by EXIT */
    kernel_close(&k);
    four_cores(text, &strong);
    CHECK_EQ(kernel_get(&k, DATA + 64), 1);
    kernel_close(&k);
}

TEST(atomics_refresh_their_line, "TILE-036 TILE-313 TILE-197")
{
    /* Core 1 has both words of a line and one of another in its cache; core 0 changes and publishes
     * all three; an atomic on the first word refreshes the line and nothing else. */
    for (unsigned vector = 0; vector < 2; vector++) {
        char text[1024];

        (void)snprintf(text,
                       sizeof text,
                       "ADDI s1, s0, 1\nBEQ s20, s0, writer\nBNE s20, s1, end\n"
                       "LW s2, 4(s21)\nLW s3, 64(s21)\nADDI s9, s0, 30\n"
                       "wait: ADDI s9, s9, -1\nBNE s9, s0, wait\n%s\n"
                       "LW s2, 4(s21)\nLW s3, 64(s21)\nSW s2, 128(s21)\nSW s3, 192(s21)\nJ end\n"
                       "writer: ADDI s9, s0, 10\ndelay: ADDI s9, s9, -1\nBNE s9, s0, delay\n"
                       "SW s1, 4(s21)\nSW s1, 64(s21)\nMEMBAR\nend:",
                       vector ? "VATOM.ADD v0, v0, 0(s21)" : "AADD s0, s0, (s21)");
        four_cores(text, NULL);
        CHECK_EQ(kernel_get(&k, DATA + 128), 1);
        CHECK_EQ(kernel_get(&k, DATA + 192), 0);
        kernel_close(&k);
    }
}

/* R-TILE-106: core 1 keeps two published bytes of its own; a load that needs the other two of the
 * word returns the old pair beside the new one, and what it fetched the next time. */
TEST(bytes_are_loaded_in_order, "TILE-037 TILE-199")
{
    four_cores("ADDI s1, s0, 1\nADDI s2, s21, 64\nBEQ s20, s0, writer\nBNE s20, s1, end\n"
               "ADDI s3, s0, 0x111\nSH s3, 0(s21)\nAADD s0, s0, (s2), rl\nADDI s9, s0, 30\n"
               "wait: ADDI s9, s9, -1\nBNE s9, s0, wait\n"
               "LW s4, 0(s21)\nLW s5, 0(s21)\nSW s4, 128(s21)\nSW s5, 192(s21)\nJ end\n"
               "writer: ADDI s9, s0, 10\ndelay: ADDI s9, s9, -1\nBNE s9, s0, delay\n"
               "MOVI s3, 0x02220222\nSW s3, 0(s21)\nMEMBAR\nend:",
               NULL);
    CHECK_EQ(kernel_get(&k, DATA + 128), 0x02220111);
    CHECK_EQ(kernel_get(&k, DATA + 192), 0x02220222);
    kernel_close(&k);
}

TEST(kernel_boundaries_publish, "")
{
    struct facet_stop stop;

    kernel_open(&k, NULL);
    CHECK(kernel_load(&k,
                      VRAM,
                      "LUI s21, 0x80010\nADDI s1, s0, 7\nSW s1, 0(s21)\nADDI s2, s0, 1\n"
                      "EXIT"));
    CHECK(facet_tile_dispatch(k.machine, &k.packet, NULL) == FACET_OK);
    for (unsigned i = 0; i < 4; i++) {
        facet_machine_step(k.machine, &stop);
    }
    harness_row("TILE-040");
    CHECK_EQ(kernel_get(&k, DATA), 0); /* the host sees published data only */
    facet_machine_step(k.machine, &stop);
    CHECK_EQ(stop.reason, FACET_STOP_EXIT);
    CHECK_ID("TILE-042 TILE-532 TILE-541", kernel_get(&k, DATA) == 7);
    harness_row("");
    k.packet.core_mask = 2;
    CHECK(kernel_load(&k, VRAM, "LUI s21, 0x80010\nLW s1, 0(s21)\nAADD s1, s1, (s21)\nEXIT"));
    kernel_run(&k);
    CHECK_ID("TILE-039", kernel_reg(&k, 1, "s1") == 7);
    CHECK_ID("TILE-538", kernel_get(&k, DATA) == 14);
    kernel_put(&k, DATA, 90); /* and what the host writes, the next dispatch reads */
    kernel_run(&k);
    CHECK_ID("TILE-532", kernel_get(&k, DATA) == 180);
    kernel_close(&k);
}

TEST(scratch_is_private, "TILE-047 TILE-048")
{
    kernel_open(&k, NULL);
    k.packet.columns = 4;
    k.packet.shared_size = 64;
    CHECK(kernel_load(&k,
                      VRAM,
                      "CSRR s20, core_id\nLUI s21, 0x80010\nCSRR s1, sm_base\nADDI s2, s20, 5\n"
                      "SW s2, 0(s1)\nADDI s9, s0, 20\nwait: ADDI s9, s9, -1\nBNE s9, s0, wait\n"
                      "LW s3, 0(s1)\nSHLI s4, s20, 6\nSW.R s3, s4(s21)\nEXIT"));
    kernel_run(&k);
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_EQ(kernel_get(&k, DATA + 64 * i), i + 5);
    }
    kernel_close(&k);
}

/* ---- litmus: only outcomes that 8.1 allows, and all of the interesting ones ---- */

/* Which of the values r1 * 2 + r2 occur over the seeds. */
static unsigned outcomes(const char *text, bool strong)
{
    unsigned seen = 0;

    for (uint32_t seed = 1; seed <= 60; seed++) {
        struct facet_tile_config config = {.random = true, .seed = seed * 77, .strong = strong};

        four_cores(text, &config);
        seen |= 1u << (kernel_get(&k, DATA + 512) * 2 + kernel_get(&k, DATA + 576));
        kernel_close(&k);
    }
    return seen;
}

#define STORE_BUFFERING(fence)                                                                     \
    "ADDI s1, s0, 1\nBEQ s20, s0, zero\nBNE s20, s1, end\n"                                        \
    "SW s1, 64(s21)\n" fence "LW s2, 0(s21)\nSW s2, 576(s21)\nJ end\n"                             \
    "zero: SW s1, 0(s21)\n" fence "LW s2, 64(s21)\nSW s2, 512(s21)\nend:"

TEST(store_buffering, "TILE-037 TILE-539 TILE-540")
{
    /* Weak, no fences: both zero happens; both one cannot, since only EXIT publishes. */
    unsigned weak = outcomes(STORE_BUFFERING(""), false);
    /* Fences or the strong model: never both zero. */
    unsigned fenced = outcomes(STORE_BUFFERING("MEMBAR\n"), false);
    unsigned strong = outcomes(STORE_BUFFERING(""), true);

    CHECK_EQ(weak & 9, 1);
    CHECK_EQ(fenced & 1, 0);
    CHECK_EQ(strong & 1, 0);
    CHECK((fenced & 6) == 6); /* either may be first */
    CHECK((strong & 8) != 0);
}

#define MESSAGE(order_w, order_r)                                                                  \
    "ADDI s1, s0, 1\nADDI s2, s21, 64\nBEQ s20, s0, zero\nBNE s20, s1, end\nLW s9, 0(s21)\n"       \
    "AOR s3, s0, (s2), " order_r "\nLW s4, 0(s21)\nSW s3, 512(s21)\nSW s4, 576(s21)\nJ end\n"      \
    "zero: SW s1, 0(s21)\nAXCHG s3, s1, (s2), " order_w "\nend:"

TEST(message_passing, "TILE-203 TILE-508 TILE-044")
{
    /* Flag seen, data not: possible only without release and acquire. */
    CHECK((outcomes(MESSAGE("rlx", "rlx"), false) & 4) != 0);
    CHECK((outcomes(MESSAGE("rl", "rlx"), false) & 4) != 0);
    CHECK_EQ(outcomes(MESSAGE("rl", "aq"), false) & 4, 0);
    CHECK((outcomes(MESSAGE("rl", "aq"), false) & 8) != 0);
    CHECK_EQ(outcomes(MESSAGE("rlx", "rlx"), true) & 4, 0);
}

/* Two loads of one word by one core never go back in time. */
TEST(coherence_of_one_word, "TILE-043 TILE-539")
{
    static const char *const text =
        "ADDI s1, s0, 1\nBEQ s20, s0, zero\nBNE s20, s1, end\n"
        "AOR s3, s0, (s21), aq\nAOR s4, s0, (s21), aq\nSW s3, 512(s21)\nSW s4, 576(s21)\nJ end\n"
        "zero: ADDI s9, s20, 0\nAXCHG s5, s1, (s21), rl\nend:";

    CHECK_EQ(outcomes(text, false) & 4, 0);
    CHECK_EQ(outcomes(text, true) & 4, 0);
    CHECK((outcomes(text, false) & 2) != 0);
}

/* False sharing never loses data. */
TEST(false_sharing, "TILE-038 TILE-539")
{
    for (uint32_t seed = 1; seed < 20; seed++) {
        struct facet_tile_config config = {.random = true, .seed = seed};

        four_cores("ADD s2, s21, s20\nADDI s1, s20, 1\nADDI s9, s0, 16\n"
                   "again: SB s1, 0(s2)\nLBU s5, 0(s21)\nADDI s2, s2, 4\nADDI s1, s1, 16\nMEMBAR\n"
                   "ADDI s9, s9, -1\nBNE s9, s0, again",
                   &config);
        for (uint32_t i = 0; i < 16; i++) {
            CHECK_EQ(kernel_get(&k, DATA + 4 * i), 0x04030201u + 0x10101010u * i);
        }
        kernel_close(&k);
    }
}

/* ---- random programs against 8.2 written down byte by byte ---- */

enum { WINDOW = 256, LINES = WINDOW / 64, CORES = 4, LENGTH = 120 };

struct model_core {
    uint8_t data[WINDOW];
    bool valid[WINDOW], dirty[WINDOW];
};

static uint8_t model_g[WINDOW];
static struct model_core model[CORES];

static uint8_t model_load(unsigned core, unsigned a)
{
    struct model_core *c = &model[core];

    if (!c->valid[a]) {
        for (unsigned b = a / 64 * 64; b < a / 64 * 64 + 64; b++) {
            if (!c->dirty[b]) {
                c->data[b] = model_g[b];
                c->valid[b] = true;
            }
        }
    }
    return c->data[a];
}

static void model_store(unsigned core, unsigned a, uint8_t x)
{
    model[core].data[a] = x;
    model[core].valid[a] = model[core].dirty[a] = true;
}

static void model_publish(unsigned core, unsigned from, unsigned to)
{
    for (unsigned b = from; b < to; b++) {
        if (model[core].dirty[b]) {
            model_g[b] = model[core].data[b];
            model[core].dirty[b] = false;
        }
    }
}

/* Adds x, or with `expected` puts x where that stood. */
static uint32_t
model_atomic(unsigned core, unsigned a, uint32_t x, unsigned order, const uint32_t *expected)
{
    uint32_t old;

    if ((order & 2) != 0) {
        model_publish(core, 0, WINDOW);
    }
    model_publish(core, a / 64 * 64, a / 64 * 64 + 64);
    memset(model[core].valid + a / 64 * 64, 0, 64);
    memcpy(&old, model_g + a, 4);
    if (expected == NULL) {
        x += old;
    } else if (*expected != old) {
        x = old;
    }
    memcpy(model_g + a, &x, 4);
    if ((order & 1) != 0) {
        for (unsigned b = 0; b < WINDOW; b++) {
            model[core].valid[b] = model[core].dirty[b];
        }
    }
    return old;
}

enum action_kind { LOAD_WORD, STORE_HALF, ADD, COMPARE, VECTOR_ADD, VECTOR_STORE, BARRIER };

struct action {
    enum action_kind kind;
    unsigned address, order;
};

enum { LANE = 0x01020304 }; /* every lane of v2 */

static bool gives_s5(const struct action *a)
{
    return a->kind == LOAD_WORD || a->kind == ADD || a->kind == COMPARE;
}

/* x is s4, `last` is s5. */
static uint32_t model_act(unsigned core, const struct action *a, uint32_t x, uint32_t last)
{
    const unsigned aligned = a->address & ~3u;
    uint32_t value = 0;

    switch (a->kind) {
    case LOAD_WORD: /* any alignment */
        for (unsigned i = 0; i < 4; i++) {
            value |= (uint32_t)model_load(core, a->address + i) << 8 * i;
        }
        return value;
    case STORE_HALF:
        model_store(core, a->address, (uint8_t)x);
        model_store(core, a->address + 1, (uint8_t)(x >> 8));
        return 0;
    case ADD:
        return model_atomic(core, aligned, x, a->order, NULL);
    case COMPARE:
        return model_atomic(core, aligned, last, a->order, &last);
    case VECTOR_ADD: /* lane by lane, each without order */
        for (unsigned i = 0; i < 4; i++) {
            (void)model_atomic(core, aligned + 4 * i, LANE, 0, NULL);
        }
        return 0;
    case VECTOR_STORE:
        for (unsigned i = 0; i < 16; i++) {
            model_store(core, aligned + i, (uint8_t)(LANE >> 8 * (i % 4)));
        }
        return 0;
    default:
        model_publish(core, 0, WINDOW);
        memset(model[core].valid, 0, WINDOW);
        return 0;
    }
}

/* The text of the same action; results go to the core's log in scratch. */
static void write_action(char *text, unsigned core, unsigned n, const struct action *a)
{
    static const char *const order[] = {"rlx", "aq", "rl", "aqrl"};
    const unsigned pointer = 22 + (a->address & ~3u) % 8;
    char *at = text + strlen(text);

    switch (a->kind) {
    case LOAD_WORD:
        (void)sprintf(at, "LW s5, %u(s21)\n", a->address);
        break;
    case STORE_HALF:
        (void)sprintf(at, "SH s4, %u(s21)\n", a->address);
        break;
    case ADD:
        (void)sprintf(at, "AADD s5, s4, (s%u), %s\n", pointer, order[a->order]);
        break;
    case COMPARE:
        (void)sprintf(at, "ACAS s5, s5, (s%u), %s\n", pointer, order[a->order]);
        break;
    case VECTOR_ADD:
        (void)sprintf(at, "VATOM.ADD v1, v2, 0(s%u)\n", pointer);
        break;
    case VECTOR_STORE:
        (void)sprintf(at, "VST.V v2, 0(s%u)\n", pointer);
        break;
    default:
        (void)sprintf(at, "MEMBAR\n");
        break;
    }
    (void)sprintf(text + strlen(text), "SW s5, %u(s1)\n", 4 * n);
    (void)core;
}

TEST(random_programs_follow_the_model,
     "TILE-037 TILE-038 TILE-036 TILE-044 TILE-198 TILE-199 TILE-313")
{
    static const enum action_kind mix[16] = {LOAD_WORD,
                                             LOAD_WORD,
                                             LOAD_WORD,
                                             LOAD_WORD,
                                             LOAD_WORD,
                                             LOAD_WORD,
                                             STORE_HALF,
                                             STORE_HALF,
                                             STORE_HALF,
                                             STORE_HALF,
                                             ADD,
                                             ADD,
                                             COMPARE,
                                             VECTOR_ADD,
                                             VECTOR_STORE,
                                             BARRIER};
    static struct action program[CORES][LENGTH];

    for (unsigned round = 0; round < 25 && !harness_failed(); round++) {
        static char text[CORES][16384];

        kernel_open(&k, NULL);
        k.packet.columns = 4;
        k.packet.shared_size = 4096;
        memset(model, 0, sizeof model);
        for (unsigned i = 0; i < WINDOW; i++) {
            model_g[i] = (uint8_t)harness_random();
        }
        CHECK(facet_machine_write(k.machine, 0, DATA, model_g, WINDOW, NULL) == FACET_OK);
        for (unsigned core = 0; core < CORES; core++) {
            /* Two registers hold the atomic's possible addresses: 8n and 8n + 4 words apart. */
            (void)sprintf(text[core],
                          "CSRR s1, sm_base\nLUI s21, 0x80010\nMOVI s2, %d\nVBCAST.I32 v2, s2\n",
                          LANE);
            for (unsigned n = 0; n < LENGTH; n++) {
                uint64_t r = harness_random();
                struct action *a = &program[core][n];

                a->kind = mix[r % 16];
                a->address = (unsigned)(r >> 8) % (WINDOW - 16);
                a->order = r >> 40 & 3;
                if (n > 0 && a[-1].kind == COMPARE && (r >> 48 & 1) != 0) {
                    a->kind = COMPARE; /* the second finds what the first one gave */
                    a->address = a[-1].address;
                }
                (void)sprintf(text[core] + strlen(text[core]),
                              "ADDI s4, s0, %u\nADDI s%u, s21, %u\n",
                              (core * 500 + n) & 2047,
                              22 + (a->address & ~3u) % 8,
                              a->address & ~3u);
                write_action(text[core], core, n, a);
            }
            (void)strcat(text[core], "EXIT\n");
            CHECK(kernel_load(&k, VRAM + 0x2000 * (core + 1), text[core]));
        }
        CHECK(kernel_load(&k,
                          VRAM,
                          "CSRR s20, core_id\nADDI s2, s20, 1\nSHLI s2, s2, 13\nLUI s3, 0x80000\n"
                          "ADD s2, s2, s3\nJALR s0, 0(s2)"));
        kernel_run(&k);
        CHECK_EQ(facet_tile_info_of(k.machine).state, FACET_TILE_STATE_DONE);
        /* rr:1 and equal lengths: action n of core 0, 1, 2, 3, then action n + 1. */
        uint32_t s5[CORES] = {0};

        for (unsigned n = 0; n < LENGTH && !harness_failed(); n++) {
            for (unsigned core = 0; core < CORES; core++) {
                const struct action *a = &program[core][n];
                uint32_t value = model_act(core, a, (core * 500 + n) & 2047, s5[core]);
                uint8_t log[4];

                s5[core] = gives_s5(a) ? value : s5[core];
                CHECK(facet_machine_read(k.machine, 1 + core, SCRATCH + 4 * n, log, 4, NULL) ==
                      FACET_OK);
                CHECK_MSG(facet_load_le32(log) == s5[core],
                          "round %u core %u action %u kind %u at %u: 0x%x, expected 0x%x",
                          round,
                          core,
                          n,
                          a->kind,
                          a->address,
                          (unsigned)facet_load_le32(log),
                          (unsigned)s5[core]);
            }
        }
        for (unsigned core = 0; core < CORES; core++) {
            model_publish(core, 0, WINDOW); /* EXIT */
        }
        uint8_t end[WINDOW];

        CHECK(facet_machine_read(k.machine, 0, DATA, end, WINDOW, NULL) == FACET_OK);
        CHECK(memcmp(end, model_g, WINDOW) == 0);
        kernel_close(&k);
    }
}
