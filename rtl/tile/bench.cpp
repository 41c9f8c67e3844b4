// Runs random kernels on the tile core and, instruction by instruction, on libfacet's tile GPU, and
// compares what every instruction wrote.
//
//   tile_bench [--kernels N] [--seed S] [--bug K] [--vcd FILE]
//
// Exit code 0: no difference; 1: the first one is printed with both sides, and the cycles around it
// are written to FILE; 2: wrong usage or a failure of the reference.
#include "Vtile_core.h"
#include "verilated.h"
#include "verilated_vcd_c.h"

#include <facet/lockstep.h>
#include <facet/tile.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace
{

constexpr uint32_t CODE = FACET_TILE_VRAM_BASE, SCRATCH = FACET_TILE_SCRATCH_BASE,
                   SCRATCH_BYTES = 256;
constexpr unsigned LENGTH = 200, WINDOW = 20, MAX_CHANGES = 64;

// ---- random kernels ----

class Source
{
  public:
    explicit Source(uint64_t seed) : random_(seed)
    {
    }

    std::vector<uint32_t> kernel()
    {
        std::vector<uint32_t> words = {0x00008037u | 31u << 7}; // LUI s31: the beginning of scratch
        for (unsigned r = 1; r < 12; r++) { // values to begin with, edges among them
            words.push_back(upper(r));
            words.push_back(0x00000017 | r << 7 | r << 15 | pick(4096) << 20);
        }
        for (unsigned r = 1; r < 8; r++) {
            words.push_back(r_type(0x10000010, r, r, 0)); // VBCAST
        }
        while (words.size() < LENGTH) {
            words.push_back(instruction(static_cast<unsigned>(LENGTH - words.size())));
        }
        words.push_back(0x0010700f); // EXIT
        return words;
    }

  private:
    std::mt19937_64 random_;

    unsigned pick(unsigned n)
    {
        return static_cast<unsigned>(random_() % n);
    }

    // Few registers, so that values meet; s31 is never a destination.
    unsigned reg()
    {
        return pick(14);
    }

    uint32_t upper(unsigned r)
    {
        static const uint32_t high[] = {0, 0x7ffff, 0x80000, 0xfffff};
        return 0x00000037 | r << 7 | (pick(2) == 0 ? high[pick(4)] : pick(1 << 20)) << 12;
    }

    static uint32_t r_type(uint32_t match, unsigned rd, unsigned rs1, unsigned rs2)
    {
        return match | rd << 7 | rs1 << 15 | rs2 << 20;
    }

    uint32_t branch(unsigned left)
    {
        static const uint32_t match[] = {0x000e, 0x100e, 0x400e, 0x500e, 0x600e, 0x700e};
        unsigned to = 4 * (1 + pick(left < 8 ? left : 8)) + (pick(40) == 0 ? 2 : 0);
        return r_type(match[pick(6)], (to & 30) | (to >> 11 & 1), reg(), reg()) | (to >> 5 & 63)
                                                                                      << 25;
    }

    uint32_t memory()
    {
        unsigned at =
            pick(SCRATCH_BYTES + (pick(40) == 0 ? 8 : 0) - 3) & (pick(4) == 0 ? ~0u : ~3u);
        switch (pick(6)) {
        case 0:
            return r_type(0x0000200c, reg(), 31, pick(32)); // LW
        case 1:
            return r_type(0x0000200d, pick(32), 31, reg()); // SW
        case 2:
            return r_type(0x0000201c, reg(), 31, 0) | at << 20; // LW.L
        case 3:
            return r_type(0x0000201d, at & 31, 31, reg()) | (at >> 5) << 25; // SW.L
        case 4:
            return r_type(0x0600200c, reg(), 31, 0); // LW.B
        default:
            return r_type(pick(2) == 0 ? 0x0200200c : 0x0200200d, reg(), 31, 0); // LW.R, SW.R by s0
        }
    }

    uint32_t instruction(unsigned left)
    {
        static const uint32_t scalar[] = {0x0000000b,
                                          0x4000000b,
                                          0x0000100b,
                                          0x0000200b,
                                          0x0000300b,
                                          0x0000400b,
                                          0x0000500b,
                                          0x4000500b,
                                          0x0000600b,
                                          0x0000700b,
                                          0x0200000b,
                                          0x0200100b,
                                          0x0200200b,
                                          0x0200300b,
                                          0x0400000b,
                                          0x0400100b,
                                          0x0400200b};
        static const uint32_t immediate[] = {0x0017, 0x2017, 0x3017, 0x4017, 0x6017, 0x7017};
        static const uint32_t shift[] = {0x00001017, 0x00005017, 0x40005017};
        static const uint32_t vector[] = {0x0200002f,
                                          0x0200102f,
                                          0x0200202f,
                                          0x0200402f,
                                          0x0200502f,
                                          0x0200602f,
                                          0x0200702f,
                                          0x0600002f,
                                          0x0a00202f,
                                          0x0a00302f};
        unsigned dice = pick(1000);
        if (dice < 300) {
            return r_type(scalar[pick(17)], reg(), reg(), reg());
        }
        if (dice < 380) {
            return r_type(immediate[pick(6)], reg(), reg(), 0) | pick(4096) << 20;
        }
        if (dice < 430) {
            return r_type(shift[pick(3)], reg(), reg(), pick(32));
        }
        if (dice < 470) {
            return r_type(0x0600000b | pick(2) << 12, reg(), reg(), 0); // CLZ, CTZ
        }
        if (dice < 540) {
            return memory();
        }
        if (dice < 760) {
            return r_type(vector[pick(10)], reg(), reg(), reg());
        }
        if (dice < 900) {
            unsigned kind = pick(3); // VBCAST, VINS, VEXTR
            return r_type(0x10000010 | kind << 12, reg(), reg(), kind == 0 ? 0 : pick(4));
        }
        if (dice < 930) {
            return branch(left);
        }
        if (dice < 940) {
            unsigned to = 4 * (1 + pick(left < 8 ? left : 8)); // JAL.S, JAL
            return pick(2) == 0 ? 0x0000300e | reg() << 7 | to << 20
                                : 0x0000006f | reg() << 7 | (to >> 1) << 21;
        }
        if (dice < 960) {
            return 0x0000300f | reg() << 7 | pick(64) << 26 | pick(64) << 20; // SETMISC
        }
        if (dice < 985) {
            static const unsigned csr[] = {0, 2, 3};
            return r_type(pick(2) == 0 ? 0x100f : 0x200f, reg(), reg(), 0) | csr[pick(3)] << 20;
        }
        if (dice < 997) {
            return pick(2) == 0 ? 0x0000000f : 0x0000400f; // MEMBAR, BARR.SYNC
        }
        return dice == 999 ? 0 : upper(reg()); // now and then a word that no row owns
    }
};

// ---- what one instruction did, on either side ----

struct Step {
    bool retired, exited, s_write, v_write, store;
    uint32_t pc, word, rd;
    uint32_t s_value, store_address, store_value;
    uint32_t v_value[4];
    uint32_t fault, fault_address;
    uint32_t status, vstatus, config;
};

void print(const char *who, const Step &step)
{
    std::printf("  %-5s pc %08x word %08x", who, step.pc, step.word);
    if (step.retired) {
        std::printf(step.exited ? " exits" : " retires");
    } else {
        std::printf(" faults with cause %u, address %08x", step.fault, step.fault_address);
    }
    if (step.s_write) {
        std::printf(", s%u = %08x", step.rd, step.s_value);
    }
    if (step.v_write) {
        std::printf(", v%u = %08x %08x %08x %08x",
                    step.rd,
                    step.v_value[3],
                    step.v_value[2],
                    step.v_value[1],
                    step.v_value[0]);
    }
    if (step.store) {
        std::printf(", [%08x] = %08x", step.store_address, step.store_value);
    }
    std::printf(", status %08x vstatus %08x config %08x\n", step.status, step.vstatus, step.config);
}

// ---- the reference ----

[[noreturn]] void fail(const char *what, const facet_error &error)
{
    std::fprintf(stderr, "tile_bench: %s: %s\n", what, error.message);
    std::exit(2);
}

class Reference
{
  public:
    Reference()
    {
        facet_error error = {};
        facet_tile_config config = {};
        config.vram = 1 << 20;
        config.plain = true;
        if (facet_tile_create(&config, &machine_, &error) != FACET_OK) {
            fail("the reference", error);
        }
        s1_ = facet_machine_find_reg(machine_, 0, "s1");
        v1_ = facet_machine_find_reg(machine_, 0, "v1");
        static const char *const names[] = {"status", "vstatus", "config", "fault_addr"};
        for (unsigned i = 0; i < 4; i++) {
            csr_[i] = facet_machine_find_csr(machine_, 0, names[i]);
        }
    }
    ~Reference()
    {
        facet_machine_destroy(machine_);
    }
    Reference(const Reference &) = delete;
    Reference &operator=(const Reference &) = delete;

    void start(const std::vector<uint32_t> &kernel)
    {
        facet_error error = {};
        facet_tile_packet packet = {};
        packet.pc = CODE;
        packet.columns = packet.rows = 1;
        packet.shared_size = SCRATCH_BYTES;
        packet.core_mask = 1;
        kernel_ = &kernel;
        if (facet_tile_clear(machine_, &error) != FACET_OK ||
            facet_machine_write(machine_, 0, CODE, kernel.data(), 4 * kernel.size(), &error) !=
                FACET_OK ||
            facet_tile_dispatch(machine_, &packet, &error) != FACET_OK) {
            fail("the reference", error);
        }
    }

    Step next()
    {
        facet_change changes[MAX_CHANGES];
        facet_stop stop;
        facet_error error = {};
        size_t count = 0;
        Step step = {};
        facet_value pc;

        facet_machine_reg_read(machine_, 0, facet_machine_core(machine_, 0)->pc, &pc, nullptr);
        step.pc = static_cast<uint32_t>(pc.lo);
        step.word = (*kernel_)[(step.pc - CODE) / 4];
        if (facet_machine_step_changes(machine_, changes, MAX_CHANGES, &count, &stop, &error) !=
            FACET_OK) {
            fail("a step of the reference", error);
        }
        for (size_t i = 0; i < count && i < MAX_CHANGES; i++) {
            take(changes[i], step);
        }
        step.exited = step.retired && step.word == 0x0010700f;
        step.status = csr(0);
        step.vstatus = csr(1);
        step.config = csr(2);
        if (!step.retired) {
            step.fault = static_cast<uint32_t>(stop.code);
            step.fault_address = csr(3);
        }
        return step;
    }

  private:
    facet_machine *machine_ = nullptr;
    const std::vector<uint32_t> *kernel_ = nullptr;
    uint32_t s1_, v1_, csr_[4];

    uint32_t csr(unsigned which)
    {
        facet_value value = {};
        facet_machine_csr_read(machine_, 0, csr_[which], &value, nullptr);
        return static_cast<uint32_t>(value.lo);
    }

    void take(const facet_change &change, Step &step)
    {
        if (change.kind == FACET_CHANGE_RETIRE) {
            step.retired = true;
        } else if (change.kind == FACET_CHANGE_MEMORY && change.address >= SCRATCH &&
                   change.address < SCRATCH + SCRATCH_BYTES) {
            step.store = true;
            step.store_address = static_cast<uint32_t>(change.address);
            step.store_value = static_cast<uint32_t>(change.new_value.lo);
        } else if (change.kind == FACET_CHANGE_REG && change.index >= s1_ &&
                   change.index < s1_ + 31) {
            step.s_write = true;
            step.rd = change.index - s1_ + 1;
            step.s_value = static_cast<uint32_t>(change.new_value.lo);
        } else if (change.kind == FACET_CHANGE_REG && change.index >= v1_ &&
                   change.index < v1_ + 31) {
            step.v_write = true;
            step.rd = change.index - v1_ + 1;
            std::memcpy(step.v_value, &change.new_value.lo, 8);
            std::memcpy(step.v_value + 2, &change.new_value.hi, 8);
        }
    }
};

// ---- the core ----

struct Options {
    uint64_t kernels = 200, seed = 1;
    unsigned bug = 0;
    const char *vcd = nullptr;
};

class Core
{
  public:
    Core(const Options &options, uint64_t waves_from)
        : context_(new VerilatedContext), waves_from_(waves_from)
    {
        context_->traceEverOn(true);
        core_.reset(new Vtile_core(context_.get()));
        core_->bug = options.bug;
        if (waves_from != UINT64_MAX) {
            core_->trace(&waves_, 99);
            waves_.open(options.vcd);
        }
    }

    uint64_t cycle() const
    {
        return cycle_;
    }

    void start(const std::vector<uint32_t> &kernel)
    {
        kernel_ = &kernel;
        std::memset(scratch_, 0, sizeof scratch_);
        core_->start_pc = CODE;
        core_->reset = 1;
        clock();
        core_->reset = 0;
    }

    Step next()
    {
        do {
            clock();
        } while (!core_->retired && !core_->faulted);
        Step step = {};
        step.retired = core_->retired;
        step.exited = core_->exited;
        step.s_write = core_->s_write;
        step.v_write = core_->v_write;
        step.store = core_->store;
        step.pc = core_->pc;
        step.word = core_->word;
        if (step.s_write) {
            step.rd = core_->rd;
            step.s_value = core_->s_value;
        }
        if (step.v_write) {
            step.rd = core_->rd;
            std::memcpy(step.v_value, &core_->v_value, 16);
        }
        if (step.store) {
            step.store_address = core_->data_address;
            step.store_value = core_->store_value;
            std::memcpy(scratch_ + (step.store_address - SCRATCH), &step.store_value, 4);
        }
        if (core_->faulted) {
            step.fault = core_->fault_cause;
            step.fault_address = core_->fault_address;
        }
        step.status = core_->status;
        step.vstatus = core_->vstatus;
        step.config = core_->config_bits;
        return step;
    }

    void close()
    {
        if (waves_from_ != UINT64_MAX) {
            waves_.close();
        }
    }

  private:
    std::unique_ptr<VerilatedContext> context_;
    VerilatedVcdC waves_;
    std::unique_ptr<Vtile_core> core_;
    const std::vector<uint32_t> *kernel_ = nullptr;
    uint8_t scratch_[SCRATCH_BYTES];
    uint64_t waves_from_, cycle_ = 0;

    // One cycle; afterwards the outputs are those of the instruction that the second stage holds
    // now.
    void clock()
    {
        for (int level = 0; level < 2; level++) {
            core_->clock = level;
            core_->eval();
            uint32_t index = (core_->fetch_pc - CODE) / 4;
            core_->fetch_word = index < kernel_->size() ? (*kernel_)[index] : 0;
            uint32_t at = core_->data_address - SCRATCH;
            core_->loaded_word = 0;
            if (at <= SCRATCH_BYTES - 4) {
                std::memcpy(&core_->loaded_word, scratch_ + at, 4);
            }
            core_->eval();
            if (cycle_ >= waves_from_) {
                waves_.dump(2 * cycle_ + level);
            }
        }
        cycle_++;
    }
};

bool same(const Step &a, const Step &b)
{
    return std::memcmp(&a, &b, sizeof a) == 0;
}

// Returns the cycle of the first difference, or UINT64_MAX; `steps` counts the instructions
// compared.
uint64_t run(const Options &options, uint64_t waves_from, uint64_t *steps)
{
    Source source(options.seed);
    Reference reference;
    Core core(options, waves_from);

    for (uint64_t number = 0; number < options.kernels; number++) {
        std::vector<uint32_t> kernel = source.kernel();
        reference.start(kernel);
        core.start(kernel);
        for (bool ended = false; !ended; (*steps)++) {
            Step want = reference.next(), got = core.next();
            ended = !want.retired || want.exited;
            if (!same(want, got)) {
                if (waves_from == UINT64_MAX) {
                    std::printf("kernel %" PRIu64 ", cycle %" PRIu64 ": the instructions differ\n",
                                number,
                                core.cycle());
                    print("facet", want);
                    print("rtl", got);
                }
                core.close();
                return core.cycle();
            }
        }
    }
    core.close();
    return UINT64_MAX;
}

bool parse(int argc, char **argv, Options &options)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        char *end;
        uint64_t number = std::strtoull(argv[i + 1], &end, 0);
        bool whole = *argv[i + 1] != '\0' && *end == '\0';
        if (std::strcmp(argv[i], "--vcd") == 0) {
            options.vcd = argv[i + 1];
        } else if (whole && std::strcmp(argv[i], "--kernels") == 0) {
            options.kernels = number;
        } else if (whole && std::strcmp(argv[i], "--seed") == 0) {
            options.seed = number;
        } else if (whole && number < 16 && std::strcmp(argv[i], "--bug") == 0) {
            options.bug = static_cast<unsigned>(number);
        } else {
            return false;
        }
    }
    return argc % 2 == 1;
}

} // namespace

int main(int argc, char **argv)
{
    Options options;
    uint64_t steps = 0;
    if (!parse(argc, argv, options)) {
        std::fprintf(stderr,
                     "usage: tile_bench [--kernels N] [--seed S] [--bug 0..15] [--vcd FILE]\n");
        return 2;
    }
    uint64_t cycle = run(options, UINT64_MAX, &steps);
    if (cycle == UINT64_MAX) {
        std::printf("%" PRIu64 " kernels, %" PRIu64 " instructions: no difference\n",
                    options.kernels,
                    steps);
        return 0;
    }
    if (options.vcd != nullptr) {
        run(options, cycle > WINDOW ? cycle - WINDOW : 0, &steps);
        std::printf("  waves of the last %u cycles: %s\n", WINDOW, options.vcd);
    }
    return 1;
}
