/* See zstd.h. Section numbers are those of RFC 8878. */
#include "wasm/zstd.h"

#include "base/bits.h"

#include <string.h>

enum { MAGIC = 0xFD2FB528u };
enum { MOST_BLOCK = 128 << 10, MOST_STATES = 1 << 9, MOST_CODES = 53, MOST_HUFFMAN_BITS = 11 };

/* ---- bits ---- */

/* `count` <= 32 bits from bit `at` on; bits before the first and behind the last byte are 0. */
static uint32_t bits_at(const uint8_t *bytes, size_t size, int64_t at, unsigned count)
{
    uint64_t value = 0;
    const int64_t first = at >> 3;

    for (int64_t i = 0; i < 5; i++) {
        const int64_t byte = first + i;

        value |= byte >= 0 && byte < (int64_t)size ? (uint64_t)bytes[byte] << (8 * i) : 0;
    }
    return (uint32_t)(value >> (at & 7) & ((UINT64_C(1) << count) - 1));
}

static unsigned high_bit(uint32_t value)
{
    return 31u - facet_clz32(value);
}

/* A stream that is read from its end (4.1): `at` bits are left, fewer than 0 when too many were
 * read. */
struct backward {
    const uint8_t *bytes;
    size_t size;
    int64_t at;
};

static bool backward_open(struct backward *b, const uint8_t *bytes, size_t size)
{
    if (size == 0 || bytes[size - 1] == 0) {
        return false;
    }
    *b = (struct backward){bytes, size, 8 * ((int64_t)size - 1) + high_bit(bytes[size - 1])};
    return true;
}

static uint32_t backward_take(struct backward *b, unsigned count)
{
    b->at -= count;
    return bits_at(b->bytes, b->size, b->at, count);
}

/* ---- FSE (4.1) ---- */

struct fse {
    unsigned log; /* 0: a single state */
    struct {
        uint8_t symbol, bits;
        uint16_t base;
    } state[MOST_STATES];
};

static void fse_single(struct fse *f, uint8_t symbol)
{
    f->log = 0;
    f->state[0].symbol = symbol;
    f->state[0].bits = 0;
    f->state[0].base = 0;
}

/* A share of -1 is less than one. */
static bool fse_make(struct fse *f, const int16_t *share, unsigned symbols, unsigned log)
{
    const uint32_t size = 1u << log, step = (size >> 1) + (size >> 3) + 3;
    uint32_t high = size, at = 0, next[MOST_CODES];

    f->log = log;
    for (unsigned s = 0; s < symbols; s++) {
        next[s] = share[s] < 0 ? 1 : (uint32_t)share[s];
        if (share[s] < 0) {
            f->state[--high].symbol = (uint8_t)s;
        }
    }
    for (unsigned s = 0; s < symbols; s++) {
        for (int i = 0; i < share[s]; i++) {
            f->state[at].symbol = (uint8_t)s;
            do {
                at = (at + step) & (size - 1);
            } while (at >= high);
        }
    }
    for (uint32_t i = 0; i < size; i++) {
        const uint32_t count = next[f->state[i].symbol]++;

        f->state[i].bits = (uint8_t)(log - high_bit(count));
        f->state[i].base = (uint16_t)((count << f->state[i].bits) - size);
    }
    return at == 0;
}

/* A table as it stands in the file; returns its bytes, 0 for none. */
static size_t
fse_read(struct fse *f, const uint8_t *bytes, size_t size, unsigned most_symbols, unsigned most_log)
{
    const unsigned log = size != 0 ? (bytes[0] & 15u) + 5 : 99;
    int32_t left = 1 << (log & 15);
    int16_t share[MOST_CODES];
    unsigned symbols = 0;
    int64_t at = 4;

    if (log > most_log) {
        return 0;
    }
    while (left > 0 && symbols < most_symbols) {
        const unsigned bits = high_bit((uint32_t)left + 1) + 1;
        const uint32_t half = (1u << (bits - 1)) - 1,
                       few = (1u << bits) - 2 - (uint32_t)left; /* values of a bit less */
        uint32_t value = bits_at(bytes, size, at, bits);

        at += bits;
        if ((value & half) < few) {
            value &= half;
            at--;
        } else if (value > half) {
            value -= few;
        }
        share[symbols++] = (int16_t)((int)value - 1);
        left -= value == 0 ? 1 : (int32_t)value - 1;
        for (uint32_t more = value == 1 ? 3 : 0; more == 3;) {
            more = bits_at(bytes, size, at, 2);
            at += 2;
            for (uint32_t i = 0; i < more && symbols < most_symbols; i++) {
                share[symbols++] = 0;
            }
        }
    }
    at = (at + 7) / 8;
    return left == 0 && at <= (int64_t)size && fse_make(f, share, symbols, log) ? (size_t)at : 0;
}

static void fse_step(const struct fse *f, uint32_t *state, struct backward *b)
{
    *state = f->state[*state].base + backward_take(b, f->state[*state].bits);
}

/* ---- Huffman (4.2) ---- */

struct huffman {
    unsigned bits; /* of the longest code; 0: no table */
    struct {
        uint8_t symbol, bits;
    } code[1 << MOST_HUFFMAN_BITS];
};

/* Two states in turn, until the stream has no more bits. */
static unsigned weights_read(const uint8_t *bytes, size_t size, uint8_t weight[256])
{
    struct fse f;
    struct backward b;
    uint32_t state[2];
    const size_t table = fse_read(&f, bytes, size, 12, 6);
    unsigned count = 0;

    if (table == 0 || !backward_open(&b, bytes + table, size - table)) {
        return 0;
    }
    state[0] = backward_take(&b, f.log);
    state[1] = backward_take(&b, f.log);
    while (b.at >= 0 && count < 254) {
        weight[count] = f.state[state[count & 1]].symbol;
        fse_step(&f, &state[count & 1], &b);
        count++;
    }
    weight[count] = f.state[state[count & 1]].symbol;
    return b.at < 0 ? count + 1 : 0;
}

/* The last symbol has what is left. Codes stand in the order of their weights, then of symbols. */
static bool huffman_make(struct huffman *h, uint8_t weight[256], unsigned count)
{
    uint32_t sum = 0, at = 0;

    for (unsigned i = 0; i < count; i++) {
        if (weight[i] > MOST_HUFFMAN_BITS) {
            return false;
        }
        sum += weight[i] != 0 ? 1u << (weight[i] - 1) : 0;
    }
    h->bits = sum != 0 ? high_bit(sum) + 1 : 99;
    if (h->bits > MOST_HUFFMAN_BITS || facet_popcount32((1u << h->bits) - sum) != 1) {
        h->bits = 0;
        return false;
    }
    weight[count] = (uint8_t)(high_bit((1u << h->bits) - sum) + 1);
    for (unsigned w = 1; w <= h->bits; w++) {
        for (unsigned i = 0; i <= count; i++) {
            for (uint32_t k = 0; weight[i] == w && k < 1u << (w - 1); k++) {
                h->code[at].symbol = (uint8_t)i;
                h->code[at++].bits = (uint8_t)(h->bits + 1 - w);
            }
        }
    }
    return true;
}

/* Returns the bytes of the table, 0 for none. */
static size_t huffman_read(struct huffman *h, const uint8_t *bytes, size_t size)
{
    uint8_t weight[256] = {0};
    const unsigned head = size != 0 ? bytes[0] : 0;
    unsigned count = head - 127;
    size_t used = 1 + head;

    if (head >= 128) {
        used = 1 + (count + 1) / 2;
        for (unsigned i = 0; i < count && used <= size; i++) {
            weight[i] = i % 2 == 0 ? bytes[1 + i / 2] >> 4 : bytes[1 + i / 2] & 15;
        }
    } else {
        count = head != 0 && used <= size ? weights_read(bytes + 1, head, weight) : 0;
    }
    return count != 0 && used <= size && huffman_make(h, weight, count) ? used : 0;
}

static bool huffman_stream(
    const struct huffman *h, const uint8_t *bytes, size_t size, uint8_t *to, size_t count)
{
    struct backward b;

    if (!backward_open(&b, bytes, size)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const uint32_t code = bits_at(b.bytes, b.size, b.at - h->bits, h->bits);

        to[i] = h->code[code].symbol;
        b.at -= h->code[code].bits;
    }
    return b.at == 0;
}

/* ---- a frame ---- */

struct decoder {
    const uint8_t *from; /* of the block */
    size_t left;
    uint8_t *to; /* of the whole */
    size_t done, full;
    struct huffman huffman;
    struct fse fse[3]; /* lengths of literals, offsets, lengths of matches */
    bool has[3];
    uint32_t repeat[3]; /* the last offsets (3.1.1.5) */
    uint8_t literals[MOST_BLOCK];
    size_t literal_count;
};

static bool take(struct decoder *d, size_t count, const uint8_t **bytes)
{
    if (count > d->left) {
        return false;
    }
    *bytes = d->from;
    d->from += count;
    d->left -= count;
    return true;
}

static uint64_t little(const uint8_t *bytes, unsigned count)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < count; i++) {
        value |= (uint64_t)bytes[i] << (8 * i);
    }
    return value;
}

/* ---- literals (3.1.1.3.1) ---- */

static bool four_streams(struct decoder *d, const uint8_t *bytes, size_t size)
{
    const size_t part = (d->literal_count + 3) / 4;
    uint8_t *to = d->literals;
    size_t at = 6;

    if (size < 6 || 3 * part > d->literal_count) {
        return false;
    }
    for (unsigned i = 0; i < 4; i++) {
        const size_t length = i < 3 ? (size_t)little(bytes + 2 * i, 2) : size - at;

        if (at > size || length > size - at ||
            !huffman_stream(
                &d->huffman, bytes + at, length, to, i < 3 ? part : d->literal_count - 3 * part)) {
            return false;
        }
        at += length;
        to += part;
    }
    return true;
}

/* Huffman codes, with a table of their own or the last one. */
static bool coded_literals(struct decoder *d, unsigned form, bool own_table)
{
    const unsigned head = form < 2 ? 3 : form + 2, width = form < 2 ? 10 : form == 2 ? 14 : 18;
    const uint8_t *bytes;
    uint64_t word;
    size_t size, table = 0;

    if (!take(d, head, &bytes)) {
        return false;
    }
    word = little(bytes, head) >> 4;
    d->literal_count = (size_t)(word & ((1u << width) - 1));
    size = (size_t)(word >> width & ((1u << width) - 1));
    if (d->literal_count > MOST_BLOCK || !take(d, size, &bytes)) {
        return false;
    }
    if (own_table) {
        table = huffman_read(&d->huffman, bytes, size);
    }
    if (d->huffman.bits == 0 || (own_table && table == 0)) {
        return false;
    }
    return form == 0 ? huffman_stream(
                           &d->huffman, bytes + table, size - table, d->literals, d->literal_count)
                     : four_streams(d, bytes + table, size - table);
}

/* As they are, or one of them again and again. */
static bool plain_literals(struct decoder *d, unsigned form, bool repeated)
{
    const unsigned head = form == 1 ? 2 : form == 3 ? 3 : 1;
    const uint8_t *bytes;

    if (!take(d, head, &bytes)) {
        return false;
    }
    d->literal_count = (size_t)(little(bytes, head) >> (head == 1 ? 3 : 4));
    if (d->literal_count > MOST_BLOCK || !take(d, repeated ? 1 : d->literal_count, &bytes)) {
        return false;
    }
    if (repeated) {
        memset(d->literals, bytes[0], d->literal_count);
    } else {
        memcpy(d->literals, bytes, d->literal_count);
    }
    return true;
}

static bool read_literals(struct decoder *d)
{
    const unsigned kind = d->left != 0 ? d->from[0] & 3 : 0;
    const unsigned form = d->left != 0 ? d->from[0] >> 2 & 3 : 0;

    return kind >= 2 ? coded_literals(d, form, kind == 2) : plain_literals(d, form, kind == 1);
}

/* ---- sequences (3.1.1.3.2) ---- */

/* clang-format off */
static const int16_t literal_shares[36] = {
    4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1,
    1, -1, -1, -1, -1
};
static const int16_t offset_shares[29] = {
    1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1
};
static const int16_t match_shares[53] = {
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1
};

/* Bits behind a code of a length; where each begins follows from them. */
static const uint8_t literal_bits[36] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11,
    12, 13, 14, 15, 16
};
static const uint8_t match_bits[53] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
};
/* clang-format on */

static const struct {
    const int16_t *shares;
    uint8_t count, log;           /* of the shares */
    uint8_t most_codes, most_log; /* of a table in the file */
} kinds[3] = {
    {literal_shares, 36, 6, 36, 9}, {offset_shares, 29, 5, 32, 8}, {match_shares, 53, 6, 53, 9}};

/* The length of a code: what the codes before it cover, and its own bits. */
static size_t length_of(const uint8_t *bits, unsigned code, struct backward *b)
{
    size_t first = 0;

    for (unsigned i = 0; i < code; i++) {
        first += (size_t)1 << bits[i];
    }
    return first + backward_take(b, bits[code]);
}

static bool read_table(struct decoder *d, unsigned kind, unsigned mode)
{
    const uint8_t *bytes;
    size_t used;

    switch (mode) {
    case 0:
        d->has[kind] =
            fse_make(&d->fse[kind], kinds[kind].shares, kinds[kind].count, kinds[kind].log);
        break;
    case 1:
        d->has[kind] = take(d, 1, &bytes) && bytes[0] < kinds[kind].most_codes;
        if (d->has[kind]) {
            fse_single(&d->fse[kind], bytes[0]);
        }
        break;
    case 2:
        used =
            fse_read(&d->fse[kind], d->from, d->left, kinds[kind].most_codes, kinds[kind].most_log);
        d->has[kind] = used != 0 && take(d, used, &bytes);
        break;
    default: /* the last one again */
        break;
    }
    return d->has[kind];
}

static bool put_literals(struct decoder *d, size_t *used, size_t count)
{
    if (count > d->literal_count - *used || count > d->full - d->done) {
        return false;
    }
    memcpy(d->to + d->done, d->literals + *used, count);
    *used += count;
    d->done += count;
    return true;
}

static bool put_match(struct decoder *d, uint32_t offset, size_t count)
{
    if (offset == 0 || offset > d->done || count > d->full - d->done) {
        return false;
    }
    for (size_t i = 0; i < count; i++, d->done++) {
        d->to[d->done] = d->to[d->done - offset];
    }
    return true;
}

/* 3.1.1.5: values up to 3 are offsets that were there before. */
static uint32_t offset_of(struct decoder *d, uint32_t value, bool no_literals)
{
    const uint32_t which = value - 1 + no_literals;
    uint32_t *last = d->repeat;
    const uint32_t offset = value > 3 ? value - 3 : which == 3 ? last[0] - 1 : last[which];

    if (value > 3 || which >= 2) {
        last[2] = last[1];
    }
    if (value > 3 || which >= 1) {
        last[1] = last[0];
    }
    last[0] = offset;
    return offset;
}

static bool run_sequences(struct decoder *d, uint32_t count, struct backward *b, size_t *used)
{
    uint32_t state[3];

    for (unsigned k = 0; k < 3; k++) {
        state[k] = backward_take(b, d->fse[k].log);
    }
    for (uint32_t i = 0; i < count; i++) {
        const unsigned code = d->fse[1].state[state[1]].symbol;
        const uint32_t value = (1u << code) + backward_take(b, code);
        const size_t match = 3 + length_of(match_bits, d->fse[2].state[state[2]].symbol, b);
        const size_t literals = length_of(literal_bits, d->fse[0].state[state[0]].symbol, b);

        if (b->at < 0 || !put_literals(d, used, literals) ||
            !put_match(d, offset_of(d, value, literals == 0), match)) {
            return false;
        }
        if (i + 1 < count) {
            fse_step(&d->fse[0], &state[0], b);
            fse_step(&d->fse[2], &state[2], b);
            fse_step(&d->fse[1], &state[1], b);
        }
    }
    return b->at == 0;
}

static bool read_sequences(struct decoder *d)
{
    const uint8_t *bytes;
    struct backward b;
    uint32_t count;
    size_t used = 0;

    if (!take(d, 1, &bytes)) {
        return false;
    }
    count = bytes[0];
    if (count == 0) {
        return d->left == 0 && put_literals(d, &used, d->literal_count);
    }
    if (count >= 128) {
        const unsigned more = count == 255 ? 2 : 1;

        if (!take(d, more, &bytes)) {
            return false;
        }
        count = more == 2 ? (uint32_t)little(bytes, 2) + 0x7F00 : ((count - 128) << 8) + bytes[0];
    }
    if (!take(d, 1, &bytes) || (bytes[0] & 3) != 0 || !read_table(d, 0, bytes[0] >> 6) ||
        !read_table(d, 1, bytes[0] >> 4 & 3) || !read_table(d, 2, bytes[0] >> 2 & 3)) {
        return false;
    }
    return backward_open(&b, d->from, d->left) && run_sequences(d, count, &b, &used) &&
           put_literals(d, &used, d->literal_count - used);
}

/* ---- blocks (3.1.1.2) ---- */

static bool read_block(struct decoder *d, unsigned kind, size_t size)
{
    const size_t before = d->done;
    const uint8_t *bytes;

    if (size > MOST_BLOCK) {
        return false;
    }
    switch (kind) {
    case 0:
        if (size > d->full - d->done || !take(d, size, &bytes)) {
            return false;
        }
        memcpy(d->to + d->done, bytes, size);
        d->done += size;
        return true;
    case 1:
        if (size > d->full - d->done || !take(d, 1, &bytes)) {
            return false;
        }
        memset(d->to + d->done, bytes[0], size);
        d->done += size;
        return true;
    case 2: {
        const uint8_t *behind;
        size_t left;

        if (!take(d, size, &bytes)) {
            return false;
        }
        behind = d->from;
        left = d->left;
        d->from = bytes;
        d->left = size;
        if (!read_literals(d) || !read_sequences(d) || d->done - before > MOST_BLOCK) {
            return false;
        }
        d->from = behind;
        d->left = left;
        return true;
    }
    default:
        return false;
    }
}

static bool read_blocks(struct decoder *d)
{
    const uint8_t *head;
    uint32_t word;

    do {
        if (!take(d, 3, &head)) {
            return false;
        }
        word = (uint32_t)little(head, 3);
        if (!read_block(d, word >> 1 & 3, word >> 3)) {
            return false;
        }
    } while ((word & 1) == 0);
    return d->done == d->full;
}

/* ---- checksum: XXH64 ---- */

/* clang-format off */
static const uint64_t primes[5] = {
    0x9E3779B185EBCA87u, 0xC2B2AE3D27D4EB4Fu, 0x165667B19E3779F9u, 0x85EBCA77C2B2AE63u,
    0x27D4EB2F165667C5u
};
/* clang-format on */

static uint64_t mix(uint64_t sum, uint64_t word)
{
    return facet_rotl64(sum + word * primes[1], 31) * primes[0];
}

static uint64_t xxh64(const uint8_t *bytes, size_t size)
{
    uint64_t lane[4] = {primes[0] + primes[1], primes[1], 0, 0 - primes[0]}, sum = primes[4];
    size_t at = 0;

    for (; size - at >= 32; at += 32) {
        for (unsigned k = 0; k < 4; k++) {
            lane[k] = mix(lane[k], facet_load_le64(bytes + at + 8 * k));
        }
    }
    if (size >= 32) {
        sum = facet_rotl64(lane[0], 1) + facet_rotl64(lane[1], 7) + facet_rotl64(lane[2], 12) +
              facet_rotl64(lane[3], 18);
        for (unsigned k = 0; k < 4; k++) {
            sum = (sum ^ mix(0, lane[k])) * primes[0] + primes[3];
        }
    }
    sum += size;
    for (; size - at >= 8; at += 8) {
        sum = facet_rotl64(sum ^ mix(0, facet_load_le64(bytes + at)), 27) * primes[0] + primes[3];
    }
    for (; size - at >= 4; at += 4) {
        sum =
            facet_rotl64(sum ^ facet_load_le32(bytes + at) * primes[0], 23) * primes[1] + primes[2];
    }
    for (; at < size; at++) {
        sum = facet_rotl64(sum ^ bytes[at] * primes[4], 11) * primes[0];
    }
    sum = (sum ^ sum >> 33) * primes[1];
    sum = (sum ^ sum >> 29) * primes[2];
    return sum ^ sum >> 32;
}

/* ---- the frame (3.1.1.1) ---- */

/* Whether there is a checksum behind the blocks. */
static bool read_head(struct decoder *d, bool *checked)
{
    static const uint8_t id_bytes[4] = {0, 1, 2, 4};
    const uint8_t *bytes;
    unsigned flags, size_bytes;
    bool single;

    if (!take(d, 5, &bytes) || facet_load_le32(bytes) != MAGIC) {
        return false;
    }
    flags = bytes[4];
    single = (flags & 0x20) != 0;
    *checked = (flags & 4) != 0;
    size_bytes = flags >> 6 != 0 ? 1u << (flags >> 6) : single;
    if ((flags & 8) != 0 || !take(d, !single, &bytes) || !take(d, id_bytes[flags & 3], &bytes) ||
        little(bytes, id_bytes[flags & 3]) != 0 || !take(d, size_bytes, &bytes)) {
        return false;
    }
    return size_bytes == 0 || little(bytes, size_bytes) + (size_bytes == 2 ? 256 : 0) == d->full;
}

bool page_zstd_inflate(const uint8_t *from, size_t size, uint8_t *to, size_t full)
{
    static struct decoder decoder; /* too large for the stack; there is one thread */
    struct decoder *d = &decoder;
    const uint8_t *bytes;
    bool checked;

    memset(d, 0, sizeof *d);
    d->from = from;
    d->left = size;
    d->to = to;
    d->full = full;
    d->repeat[0] = 1;
    d->repeat[1] = 4;
    d->repeat[2] = 8;
    return read_head(d, &checked) && read_blocks(d) &&
           (!checked ||
            (take(d, 4, &bytes) && facet_load_le32(bytes) == (uint32_t)xxh64(to, full)));
}
