/* HTIF, the host-target interface of the RISC-V proxy kernel and of riscv-tests: the guest stores
 * device << 56 | command << 48 | payload into `tohost`; the host clears it and answers in
 * `fromhost`.
 *
 *   device 0, command 0   payload bit 0 set: exit with payload >> 1; else a system call whose eight
 *                         words are at the payload: write (64) to descriptors 1 and 2 is done,
 *                         everything else is answered -ENOSYS
 *   device 1              console: command 0 reads a character (answer 0x100 | c), 1 writes one
 *
 * Other devices and commands are dropped. Looked at when a run starts and after every step that may
 * have stored there, so the instruction at which a program ends does not depend on the executor. */
#include "xphmg/hart/memory.h"
#include "xphmg/machine.h"

enum { CONSOLE = 1, CONSOLE_READ = 0, CONSOLE_WRITE = 1 };
enum { PIECE = 4096, PIECE_NANOSECONDS = 4000 };
enum { SYS_WRITE = 64, ENOSYS = 38, EBADF = 9, EFAULT = 14 };
#define ANSWER_READ (UINT64_C(1) << 56 | 0x100)

static uint64_t load(const struct facet_xphmg *m, uint64_t address)
{
    uint8_t bytes[8] = {0};

    (void)facet_mem_peek(m->mem, address, bytes, sizeof bytes);
    return facet_load_le64(bytes);
}

static void store(struct facet_xphmg *m, uint64_t address, uint64_t value)
{
    uint8_t bytes[8];

    facet_store_le64(bytes, value);
    if (facet_mem_poke(m->mem, address, bytes, sizeof bytes).fault == FACET_MEM_OK) {
        facet_hart_note_store(&m->harts[m->current], address, sizeof bytes);
    }
}

static void answer_call(struct facet_xphmg *m, uint64_t address, int64_t result)
{
    store(m, address, (uint64_t)result);
    m->htif.response = 1;
}

/* The rest of a write, or a part of it. */
static void write_on(struct facet_xphmg *m)
{
    struct facet_xphmg_htif *htif = &m->htif;

    while (htif->done < htif->size) {
        uint64_t left = htif->size - htif->done, some = left < PIECE ? left : PIECE;
        const uint8_t *bytes = facet_mem_span(m->mem, htif->from + htif->done, some);

        if (bytes == NULL) { /* only a forged snapshot comes here */
            break;
        }
        facet_xphmg_output(m, (enum facet_xphmg_stream)htif->stream, bytes, (size_t)some);
        htif->done += some;
        if (facet_port_work(m->port, PIECE_NANOSECONDS) && htif->done < htif->size) {
            return;
        }
    }
    htif->writing = false;
    answer_call(m, htif->call, (int64_t)htif->size);
}

/* The words at `address` are number, arguments...; the first becomes the result. */
static void system_call(struct facet_xphmg *m, uint64_t address)
{
    uint64_t fd = load(m, address + 8), from = load(m, address + 16), size = load(m, address + 24);

    if (load(m, address) != SYS_WRITE) {
        answer_call(m, address, -ENOSYS);
    } else if (fd != FACET_XPHMG_OUT && fd != FACET_XPHMG_ERR) {
        answer_call(m, address, -EBADF);
    } else if (size != 0 && facet_mem_span(m->mem, from, size) == NULL) {
        answer_call(m, address, -EFAULT);
    } else {
        m->htif.writing = true;
        m->htif.stream = (uint8_t)fd;
        m->htif.from = from;
        m->htif.size = size;
        m->htif.done = 0;
        m->htif.call = address;
        write_on(m);
    }
}

static void command(struct facet_xphmg *m, uint32_t core, uint64_t word)
{
    uint64_t device = word >> 56, what = word >> 48 & 0xFF;
    uint64_t payload = word & UINT64_C(0xFFFFFFFFFFFF);
    char c = (char)payload;

    if (device == 0 && what == 0) {
        if ((payload & 1) != 0) {
            facet_xphmg_end(m, core, payload >> 1);
            m->end_address = m->htif.tohost;
        } else {
            system_call(m, payload);
        }
    } else if (device == CONSOLE && what == CONSOLE_WRITE) {
        facet_xphmg_output(m, FACET_XPHMG_OUT, &c, 1);
    } else if (device == CONSOLE && what == CONSOLE_READ) {
        m->htif.reading = true;
    }
}

void facet_xphmg_htif_poll(struct facet_xphmg *m, uint32_t core)
{
    struct facet_xphmg_htif *htif = &m->htif;
    uint64_t word = htif->writing ? 0 : load(m, htif->tohost);
    bool wait;

    if (htif->writing) {
        write_on(m);
    }
    if (word != 0 && htif->response == 0) {
        store(m, htif->tohost, 0);
        command(m, core, word);
    }
    if (htif->writing) {
        return;
    }
    if (htif->reading && htif->response == 0 && facet_xphmg_input_ready(m, &wait)) {
        htif->response = ANSWER_READ | m->console.bytes[m->console.read++];
        htif->reading = false;
    }
    if (htif->response != 0 && htif->fromhost != 0 && load(m, htif->fromhost) == 0) {
        store(m, htif->fromhost, htif->response);
        htif->response = 0;
    }
}

void facet_xphmg_watch_htif(struct facet_xphmg *m)
{
    facet_block_cache_watch(m->cache, 0, m->htif.tohost);
    facet_block_cache_watch(m->cache, 1, m->htif.fromhost);
}
