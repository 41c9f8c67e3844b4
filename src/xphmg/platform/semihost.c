/* RISC-V semihosting: EBREAK between `slli x0, x0, 0x1f` and `srai x0, x0, 7`, all four bytes long;
 * a0 holds the operation, a1 its argument or the address of its argument words, a0 gets the answer
 * (ARM semihosting 2.0, as the RISC-V semihosting document binds it).
 *
 * Nothing of the host shows unless it was granted: SYS_OPEN reaches ":tt" (the console) and what
 * the embedder's file callbacks allow; REMOVE, RENAME, TMPNAM and SYSTEM are refused; the clocks
 * count the machine's own time (SYS_TIME: seconds since the machine began), so that two runs are
 * equal. A program that reads console input that is not there yet waits. Long transfers go piece by
 * piece and can be left between two (part.h). */
#include "xphmg/hart/memory.h"
#include "xphmg/machine.h"

#include <stdlib.h>
#include <string.h>

enum {
    SYS_OPEN = 0x01,
    SYS_CLOSE = 0x02,
    SYS_WRITEC = 0x03,
    SYS_WRITE0 = 0x04,
    SYS_WRITE = 0x05,
    SYS_READ = 0x06,
    SYS_READC = 0x07,
    SYS_ISERROR = 0x08,
    SYS_ISTTY = 0x09,
    SYS_SEEK = 0x0A,
    SYS_FLEN = 0x0C,
    SYS_CLOCK = 0x10,
    SYS_TIME = 0x11,
    SYS_ERRNO = 0x13,
    SYS_GET_CMDLINE = 0x15,
    SYS_HEAPINFO = 0x16,
    SYS_EXIT = 0x18,
    SYS_EXIT_EXTENDED = 0x20,
    SYS_ELAPSED = 0x30,
    SYS_TICKFREQ = 0x31,
};
enum { APPLICATION_EXIT = 0x20026 };
/* Handles: 1..3 are the console's three streams, files follow. */
enum { HANDLE_IN = 1, HANDLE_OUT = 2, HANDLE_ERR = 3, HANDLE_FILES = 4 };
enum { EBADF = 9, ENOMEM = 12, EFAULT = 14, EINVAL = 22, EMFILE = 24, ENOSYS = 88, ENOENT = 2 };
enum { A0 = 10, A1 = 11, PATH_LIMIT = 4096, PIECE = 4096, PIECE_NANOSECONDS = 4000 };
/* A hart of 1 GHz, and mtime at this many ticks. */
#define NOMINAL_HZ UINT64_C(1000000000)

static int64_t fail(struct facet_xphmg *m, int64_t negative_errno)
{
    m->semihost_errno = (uint32_t)-negative_errno;
    return -1;
}

/* The result of a file callback: a value, or -1 with its errno kept. */
static int64_t result(struct facet_xphmg *m, int64_t value)
{
    return value < 0 ? fail(m, value) : value;
}

/* What the host reads is not a load of the hart: a call that waits and is tried again reports
 * nothing.
 */
static bool peek(const struct facet_hart *h, uint64_t address, unsigned size, uint64_t *value)
{
    uint8_t bytes[8] = {0};

    if (facet_mem_peek(h->mem, address, bytes, size).fault != FACET_MEM_OK) {
        return false;
    }
    *value = facet_load_le64(bytes);
    return true;
}

static bool argument(struct facet_hart *h, unsigned index, uint64_t *value)
{
    return peek(h, h->x[A1] + 8 * index, 8, value);
}

static bool arguments(struct facet_hart *h, unsigned count, uint64_t values[3])
{
    for (unsigned i = 0; i < count; i++) {
        if (!argument(h, i, &values[i])) {
            return false;
        }
    }
    return true;
}

static bool copy_in(const struct facet_hart *h, uint64_t address, uint8_t *bytes, size_t size)
{
    return facet_mem_peek(h->mem, address, bytes, size).fault == FACET_MEM_OK;
}

static bool copy_out(struct facet_hart *h, uint64_t address, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (facet_hart_store(h, address + i, 1, bytes[i]).taken) {
            return false;
        }
    }
    return true;
}

/* ---- long transfers ---- */

/* The arguments of a call, and the bytes that it has transferred. */
struct transfer {
    uint64_t a[3];
    uint64_t done;
    bool left; /* the rest waits (part.h) */
};

/* Takes up a transfer that was left; false: the call begins now. */
static bool resume(const struct facet_hart *h, struct transfer *t)
{
    const struct facet_part *part = facet_part_resume(h, FACET_PART_HOST);

    *t = (struct transfer){{0}, 0, false};
    if (part != NULL) {
        memcpy(t->a, part->at, sizeof t->a);
        t->done = part->at[3];
    }
    return part != NULL;
}

/* A piece is done; `more` follow: whether to leave here. */
static bool leave(struct facet_hart *h, struct transfer *t, bool more)
{
    t->left = facet_part_work(h, PIECE_NANOSECONDS) && more;
    if (t->left) {
        struct facet_part *part = facet_part_leave(h, FACET_PART_HOST);

        memcpy(part->at, t->a, sizeof t->a);
        part->at[3] = t->done;
    }
    return t->left;
}

static size_t next_piece(const struct transfer *t)
{
    return t->a[2] - t->done < PIECE ? (size_t)(t->a[2] - t->done) : PIECE;
}

static bool is_ram(const struct facet_hart *h, uint64_t address, uint64_t size)
{
    return size == 0 || facet_mem_span(h->mem, address, size) != NULL;
}

/* ---- files ------------------------------------------------------------------------------------
 */

/* Where a handle of the host is among those that its open() gave; the count: it is not. */
static size_t find_handle(const struct facet_xphmg_handles *files, int64_t handle)
{
    size_t i = 0;

    while (i < files->count && files->handles[i] != handle) {
        i++;
    }
    return i;
}

/* The host's handle for one of the guest, which may be any number; -1: there is none. */
static int64_t host_handle(const struct facet_xphmg *m, uint64_t handle)
{
    int64_t behind =
        handle >= HANDLE_FILES && handle <= INT64_MAX ? (int64_t)(handle - HANDLE_FILES) : -1;

    return find_handle(&m->files, behind) < m->files.count ? behind : -1;
}

static bool keep_handle(struct facet_xphmg_handles *files, int64_t handle)
{
    int64_t *more = realloc(files->handles, (files->count + 1) * sizeof *more);

    if (more == NULL) {
        return false;
    }
    files->handles = more;
    files->handles[files->count++] = handle;
    return true;
}

/* What the host opened becomes a handle of the guest. */
static int64_t opened(struct facet_xphmg *m, int64_t handle)
{
    if (handle < 0) {
        return fail(m, handle);
    }
    if (find_handle(&m->files, handle) < m->files.count) {
        return handle + HANDLE_FILES;
    }
    if (handle > INT64_MAX - HANDLE_FILES || !keep_handle(&m->files, handle)) {
        if (m->host.files.close != NULL) {
            (void)m->host.files.close(m->host.context, handle);
        }
        return fail(m, handle > INT64_MAX - HANDLE_FILES ? -EMFILE : -ENOMEM);
    }
    return handle + HANDLE_FILES;
}

static int64_t sys_open(struct facet_xphmg *m, struct facet_hart *h)
{
    const struct facet_xphmg_host *host = &m->host;
    uint64_t a[3];
    char path[PATH_LIMIT];

    if (!arguments(h, 3, a) || a[2] >= sizeof path || a[1] > 11 ||
        !copy_in(h, a[0], (uint8_t *)path, (size_t)a[2])) {
        return fail(m, -EINVAL);
    }
    path[a[2]] = '\0';
    if (strcmp(path, ":tt") == 0) { /* modes: r, w, a in groups of four */
        return a[1] < 4 ? HANDLE_IN : a[1] < 8 ? HANDLE_OUT : HANDLE_ERR;
    }
    if (host->files.open == NULL || memchr(path, '\0', (size_t)a[2]) != NULL) {
        return fail(m, -ENOENT);
    }
    return opened(m, host->files.open(host->context, path, (unsigned)a[1]));
}

static int64_t sys_close(struct facet_xphmg *m, struct facet_hart *h)
{
    struct facet_xphmg_handles *files = &m->files;
    uint64_t handle;
    int64_t behind;

    if (!argument(h, 0, &handle)) {
        return fail(m, -EFAULT);
    }
    if (handle >= HANDLE_IN && handle <= HANDLE_ERR) {
        return 0;
    }
    behind = host_handle(m, handle);
    if (behind < 0 || m->host.files.close == NULL) {
        return fail(m, -EBADF);
    }
    files->handles[find_handle(files, behind)] = files->handles[files->count - 1];
    files->count--;
    return result(m, m->host.files.close(m->host.context, behind));
}

/* Writes a piece; how many bytes of it, -1 with errno kept. */
static int64_t
write_piece(struct facet_xphmg *m, uint64_t handle, const uint8_t *piece, size_t size)
{
    int64_t behind = host_handle(m, handle);

    if (handle == HANDLE_OUT || handle == HANDLE_ERR) {
        facet_xphmg_output(
            m, handle == HANDLE_OUT ? FACET_XPHMG_OUT : FACET_XPHMG_ERR, piece, size);
        return (int64_t)size;
    }
    return behind < 0 || m->host.files.write == NULL
               ? fail(m, -EBADF)
               : result(m, m->host.files.write(m->host.context, behind, piece, size));
}

/* Both return how many bytes were NOT transferred. */
static int64_t sys_write(struct facet_xphmg *m, struct facet_hart *h)
{
    struct transfer t;
    uint8_t piece[PIECE];

    if (!resume(h, &t) && (!arguments(h, 3, t.a) || !is_ram(h, t.a[1], t.a[2]))) {
        return fail(m, -EFAULT);
    }
    while (t.done < t.a[2]) {
        size_t size = next_piece(&t);
        int64_t wrote = copy_in(h, t.a[1] + t.done, piece, size)
                            ? write_piece(m, t.a[0], piece, size)
                            : fail(m, -EFAULT);

        if (wrote <= 0 || (uint64_t)wrote > size) {
            break;
        }
        t.done += (uint64_t)wrote;
        if (leave(h, &t, t.done < t.a[2])) {
            break;
        }
    }
    return (int64_t)(t.a[2] - t.done);
}

/* The console gives what it has, up to a whole line. */
static void read_console(struct facet_xphmg *m, struct facet_hart *h, struct transfer *t)
{
    struct facet_xphmg_console *c = &m->console;
    uint8_t byte = 0;

    while (t->done < t->a[2] && c->read < c->size && byte != '\n') {
        byte = c->bytes[c->read++];
        (void)copy_out(h, t->a[1] + t->done++, &byte, 1);
        if (t->done % PIECE == 0 &&
            leave(h, t, t->done < t->a[2] && c->read < c->size && byte != '\n')) {
            break;
        }
    }
}

static int64_t sys_read(struct facet_xphmg *m, struct facet_hart *h, bool *wait)
{
    struct transfer t;
    uint8_t piece[PIECE];
    bool resumed = resume(h, &t);
    int64_t behind;

    if (!resumed && (!arguments(h, 3, t.a) || !is_ram(h, t.a[1], t.a[2]))) {
        return fail(m, -EFAULT);
    }
    if (t.a[0] == HANDLE_IN) {
        if (resumed || (t.a[2] > 0 && facet_xphmg_input_ready(m, wait))) {
            read_console(m, h, &t);
        }
        return (int64_t)(t.a[2] - t.done);
    }
    behind = host_handle(m, t.a[0]);
    while (t.done < t.a[2]) {
        size_t size = next_piece(&t);
        int64_t got = behind < 0 || m->host.files.read == NULL
                          ? fail(m, -EBADF)
                          : result(m, m->host.files.read(m->host.context, behind, piece, size));

        if (got <= 0 || (uint64_t)got > size || !copy_out(h, t.a[1] + t.done, piece, (size_t)got)) {
            break;
        }
        t.done += (uint64_t)got;
        if (leave(h, &t, t.done < t.a[2])) {
            break;
        }
    }
    return (int64_t)(t.a[2] - t.done);
}

/* At the end of input -1, once: picolibc takes that for the character 0xFF, and a program that
 * reads to the end of file would never end. The next call waits instead. */
static int64_t sys_readc(struct facet_xphmg *m, bool *wait)
{
    struct facet_xphmg_console *c = &m->console;

    if (facet_xphmg_input_ready(m, wait)) {
        return c->bytes[c->read++];
    }
    if (c->ended) {
        c->starved = *wait = c->told;
        c->told = true;
    }
    return -1;
}

static int64_t sys_seek(struct facet_xphmg *m, struct facet_hart *h)
{
    uint64_t a[3];
    int64_t behind;

    if (!arguments(h, 2, a)) {
        return fail(m, -EFAULT);
    }
    behind = host_handle(m, a[0]);
    return behind < 0 || m->host.files.seek == NULL
               ? fail(m, -EBADF)
               : result(m, m->host.files.seek(m->host.context, behind, a[1]) < 0 ? -EINVAL : 0);
}

static int64_t sys_flen(struct facet_xphmg *m, struct facet_hart *h)
{
    uint64_t handle;
    int64_t behind;

    if (!argument(h, 0, &handle)) {
        return fail(m, -EFAULT);
    }
    if (handle >= HANDLE_IN && handle <= HANDLE_ERR) {
        return 0;
    }
    behind = host_handle(m, handle);
    return behind < 0 || m->host.files.length == NULL
               ? fail(m, -EBADF)
               : result(m, m->host.files.length(m->host.context, behind));
}

static int64_t sys_istty(struct facet_xphmg *m, struct facet_hart *h)
{
    uint64_t handle;

    return argument(h, 0, &handle) ? handle >= HANDLE_IN && handle <= HANDLE_ERR : fail(m, -EFAULT);
}

/* Bytes from an address on that lie in one page, or a single one where the page is not memory as a
 * whole; 0: none. */
static size_t look(const struct facet_hart *h, uint64_t address, uint8_t piece[PIECE])
{
    size_t size = PIECE - address % PIECE;

    if (copy_in(h, address, piece, size)) {
        return size;
    }
    return copy_in(h, address, piece, 1) ? 1 : 0;
}

static int64_t sys_write0(struct facet_xphmg *m, struct facet_hart *h)
{
    struct transfer t;
    uint8_t piece[PIECE];
    const uint8_t *end = NULL;
    size_t size;

    if (!resume(h, &t)) {
        t.a[0] = h->x[A1];
    }
    while (end == NULL && (size = look(h, t.a[0] + t.done, piece)) > 0) {
        end = memchr(piece, 0, size);
        facet_xphmg_output(m, FACET_XPHMG_OUT, piece, end != NULL ? (size_t)(end - piece) : size);
        t.done += size;
        if (leave(h, &t, end == NULL)) {
            break;
        }
    }
    return 0;
}

static int64_t sys_writec(struct facet_xphmg *m, struct facet_hart *h)
{
    uint64_t c;

    if (peek(h, h->x[A1], 1, &c)) {
        char byte = (char)c;

        facet_xphmg_output(m, FACET_XPHMG_OUT, &byte, 1);
    }
    return 0;
}

/* ---- the rest ---------------------------------------------------------------------------------
 */

static int64_t sys_get_cmdline(struct facet_xphmg *m, struct facet_hart *h)
{
    size_t length = strlen(m->command_line);
    uint64_t a[3];

    if (!arguments(h, 2, a) || length >= a[1] || !is_ram(h, a[0], length + 1) ||
        !copy_out(h, a[0], (const uint8_t *)m->command_line, length + 1) ||
        facet_hart_store(h, h->x[A1] + 8, 8, length).taken) {
        return fail(m, -EFAULT);
    }
    return 0;
}

/* heap base, heap limit, stack base, stack limit: zero means "use your own layout". */
static int64_t sys_heapinfo(struct facet_xphmg *m, struct facet_hart *h)
{
    uint64_t block;

    if (!argument(h, 0, &block) || !is_ram(h, block, 32)) {
        return fail(m, -EFAULT);
    }
    for (unsigned i = 0; i < 4; i++) {
        (void)facet_hart_store(h, block + 8 * i, 8, 0);
    }
    return 0;
}

static int64_t sys_elapsed(struct facet_xphmg *m, struct facet_hart *h)
{
    return facet_hart_store(h, h->x[A1], 8, m->clock / m->hart_count).taken ? fail(m, -EFAULT) : 0;
}

/* On 64-bit harts EXIT and EXIT_EXTENDED both name a block: reason, code. */
static int64_t sys_exit(struct facet_xphmg *m, struct facet_hart *h)
{
    uint64_t a[3] = {0};
    bool good = arguments(h, 2, a);

    facet_xphmg_end(m,
                    (uint32_t)h->hartid,
                    !good                      ? 1
                    : a[0] == APPLICATION_EXIT ? a[1]
                    : a[1] != 0                ? a[1]
                                               : 1);
    return 0;
}

static int64_t call(struct facet_xphmg *m, struct facet_hart *h, bool *wait)
{
    uint64_t status;

    switch (h->x[A0]) {
    case SYS_OPEN:
        return sys_open(m, h);
    case SYS_CLOSE:
        return sys_close(m, h);
    case SYS_WRITEC:
        return sys_writec(m, h);
    case SYS_WRITE0:
        return sys_write0(m, h);
    case SYS_WRITE:
        return sys_write(m, h);
    case SYS_READ:
        return sys_read(m, h, wait);
    case SYS_READC:
        return sys_readc(m, wait);
    case SYS_ISERROR:
        return argument(h, 0, &status) ? (int64_t)status < 0 : fail(m, -EFAULT);
    case SYS_ISTTY:
        return sys_istty(m, h);
    case SYS_SEEK:
        return sys_seek(m, h);
    case SYS_FLEN:
        return sys_flen(m, h);
    case SYS_CLOCK: /* centiseconds */
        return (int64_t)(m->clock / m->hart_count / (NOMINAL_HZ / 100));
    case SYS_TIME:
        return (int64_t)(m->clock / m->hart_count / NOMINAL_HZ);
    case SYS_ERRNO:
        return m->semihost_errno;
    case SYS_GET_CMDLINE:
        return sys_get_cmdline(m, h);
    case SYS_HEAPINFO:
        return sys_heapinfo(m, h);
    case SYS_EXIT:
    case SYS_EXIT_EXTENDED:
        return sys_exit(m, h);
    case SYS_ELAPSED:
        return sys_elapsed(m, h);
    case SYS_TICKFREQ:
        return (int64_t)NOMINAL_HZ;
    default: /* REMOVE, RENAME, TMPNAM, SYSTEM, and numbers that do not exist */
        return fail(m, -ENOSYS);
    }
}

/* The three instructions, in one page as the document demands. */
static bool is_call(const struct facet_hart *h)
{
    uint8_t bytes[12];

    return ((h->pc - 4) >> FACET_MEM_PAGE_BITS) == ((h->pc + 7) >> FACET_MEM_PAGE_BITS) &&
           facet_mem_peek(h->mem, h->pc - 4, bytes, sizeof bytes).fault == FACET_MEM_OK &&
           facet_load_le(bytes, 4) == 0x01F01013 && facet_load_le(bytes + 4, 4) == 0x00100073 &&
           facet_load_le(bytes + 8, 4) == 0x40705013;
}

enum facet_host_answer facet_xphmg_semihost(void *context, struct facet_hart *h)
{
    struct facet_xphmg *m = context;
    bool wait = false;
    int64_t answer;

    if (facet_part_resume(h, FACET_PART_HOST) == NULL && !is_call(h)) {
        return FACET_HOST_NOT_MINE;
    }
    h->actor = FACET_ACTOR_HOST; /* PMP does not stop a debugger */
    answer = call(m, h, &wait);
    h->actor = FACET_ACTOR_HART;
    if (wait || facet_part_left(h)) {
        return FACET_HOST_WAIT;
    }
    facet_hart_set_x(h, A0, (uint64_t)answer);
    return FACET_HOST_DONE;
}
