/* An encoder for x86-64: the forms of instructions that translators here need, no assembler. The
 * Intel manual's opcodes are written as one number, prefix and escape bytes first: 0x8B is a move,
 * 0x0FAF a product, 0xF20F58 an addition of doubles.
 *
 * Bytes beyond the end are counted but not written: callers ask once, at the end, whether
 * everything did fit. Pure functions over the buffer; they compile on every host. */
#ifndef FACET_HOST_CODE_X86_H
#define FACET_HOST_CODE_X86_H

#include "base/bits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum facet_x86_register {
    FACET_RAX,
    FACET_RCX,
    FACET_RDX,
    FACET_RBX,
    FACET_RSP,
    FACET_RBP,
    FACET_RSI,
    FACET_RDI,
    FACET_R8,
    FACET_R9,
    FACET_R10,
    FACET_R11,
    FACET_R12,
    FACET_R13,
    FACET_R14,
    FACET_R15,
};

/* Conditions as the instructions number them; the lowest bit turns one into its opposite. */
enum facet_x86_condition {
    FACET_IF_OVERFLOW = 0,
    FACET_IF_BELOW = 2,
    FACET_IF_NOT_BELOW = 3,
    FACET_IF_EQUAL = 4,
    FACET_IF_NOT_EQUAL = 5,
    FACET_IF_ABOVE = 7,
    FACET_IF_NEGATIVE = 8,
    FACET_IF_NOT_NEGATIVE = 9,
    FACET_IF_PARITY = 10,
    FACET_IF_LESS = 12,
    FACET_IF_NOT_LESS = 13,
    FACET_IF_NOT_GREATER = 14,
    FACET_IF_GREATER = 15,
};

struct facet_x86 {
    uint8_t *bytes;
    size_t used, size;
};

/* A register, or the memory at base + index * scale + offset. */
struct facet_x86_operand {
    bool memory;
    uint8_t base;  /* or the register */
    uint8_t index; /* FACET_RSP: none */
    uint8_t shift; /* log2 of the scale */
    int32_t offset;
};

static inline struct facet_x86_operand facet_x86_in(unsigned reg)
{
    return (struct facet_x86_operand){.base = (uint8_t)reg};
}

static inline struct facet_x86_operand facet_x86_at(unsigned base, int32_t offset)
{
    return (struct facet_x86_operand){
        .memory = true, .base = (uint8_t)base, .index = FACET_RSP, .offset = offset};
}

static inline struct facet_x86_operand
facet_x86_indexed(unsigned base, unsigned index, unsigned shift, int32_t offset)
{
    return (struct facet_x86_operand){.memory = true,
                                      .base = (uint8_t)base,
                                      .index = (uint8_t)index,
                                      .shift = (uint8_t)shift,
                                      .offset = offset};
}

static inline bool facet_x86_fits(const struct facet_x86 *e)
{
    return e->used <= e->size;
}

static inline void facet_x86_byte(struct facet_x86 *e, unsigned value)
{
    if (e->used < e->size) {
        e->bytes[e->used] = (uint8_t)value;
    }
    e->used++;
}

static inline void facet_x86_word(struct facet_x86 *e, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        facet_x86_byte(e, (value >> (8 * i)) & 0xFF);
    }
}

/* One instruction with a register (or the digit of a group) and an operand; `size` 8 for 64 bits, 4
 * for 32, 2 for 16, 1 where the register is a byte. */
static inline void facet_x86_op(
    struct facet_x86 *e, unsigned size, uint32_t opcode, unsigned reg, struct facet_x86_operand rm)
{
    const bool small = rm.offset >= -128 && rm.offset < 128;
    const bool indexed = rm.memory && (rm.index != FACET_RSP || (rm.base & 7) == FACET_RSP);
    unsigned rex = 0x40 | (size == 8) << 3 | (reg >> 3) << 2 | rm.base >> 3;

    if (indexed && rm.index != FACET_RSP) {
        rex |= (unsigned)(rm.index >> 3) << 1;
    }
    if (size == 2) {
        facet_x86_byte(e, 0x66);
    }
    if (opcode > 0xFFFF) { /* a prefix comes before REX */
        facet_x86_byte(e, opcode >> 16);
    }
    if (rex != 0x40 || size == 1) {
        facet_x86_byte(e, rex);
    }
    if (opcode > 0xFF) {
        facet_x86_byte(e, (opcode >> 8) & 0xFF);
    }
    facet_x86_byte(e, opcode & 0xFF);
    if (!rm.memory) {
        facet_x86_byte(e, 0xC0 | (reg & 7) << 3 | (rm.base & 7));
        return;
    }
    facet_x86_byte(e, (small ? 0x40u : 0x80u) | (reg & 7) << 3 | (indexed ? 4u : rm.base & 7u));
    if (indexed) {
        facet_x86_byte(e, (unsigned)rm.shift << 6 | (rm.index & 7u) << 3 | (rm.base & 7u));
    }
    if (small) {
        facet_x86_byte(e, (uint8_t)rm.offset);
    } else {
        facet_x86_word(e, (uint32_t)rm.offset);
    }
}

static inline void facet_x86_move(struct facet_x86 *e, unsigned to, unsigned from)
{
    if (to != from) {
        facet_x86_op(e, 8, 0x8B, to, facet_x86_in(from));
    }
}

static inline void facet_x86_load(struct facet_x86 *e, unsigned to, struct facet_x86_operand from)
{
    facet_x86_op(e, 8, 0x8B, to, from);
}

static inline void facet_x86_store(struct facet_x86 *e, struct facet_x86_operand to, unsigned from)
{
    facet_x86_op(e, 8, 0x89, from, to);
}

/* Digits of the group of additions and the like (0x81). */
enum facet_x86_digit {
    FACET_ADD = 0,
    FACET_OR = 1,
    FACET_AND = 4,
    FACET_SUB = 5,
    FACET_XOR = 6,
    FACET_CMP = 7,
};

static inline void facet_x86_immediate(struct facet_x86 *e,
                                       unsigned size,
                                       enum facet_x86_digit digit,
                                       struct facet_x86_operand rm,
                                       int32_t value)
{
    if (value >= -128 && value < 128) {
        facet_x86_op(e, size, 0x83, digit, rm);
        facet_x86_byte(e, (uint8_t)value);
    } else {
        facet_x86_op(e, size, 0x81, digit, rm);
        facet_x86_word(e, (uint32_t)value);
    }
}

/* A constant in the shortest form; the flags stay. */
static inline void facet_x86_constant(struct facet_x86 *e, unsigned to, uint64_t value)
{
    if (value == (uint32_t)value) {
        facet_x86_op(e, 4, 0xC7, 0, facet_x86_in(to));
        facet_x86_word(e, (uint32_t)value);
    } else if (value == (uint64_t)(int64_t)(int32_t)value) {
        facet_x86_op(e, 8, 0xC7, 0, facet_x86_in(to));
        facet_x86_word(e, (uint32_t)value);
    } else {
        facet_x86_byte(e, 0x48 | to >> 3);
        facet_x86_byte(e, 0xB8 | (to & 7));
        facet_x86_word(e, (uint32_t)value);
        facet_x86_word(e, (uint32_t)(value >> 32));
    }
}

/* Jumps return a place that facet_x86_land later fills in with where they go. */
static inline size_t facet_x86_jump_if(struct facet_x86 *e, unsigned condition)
{
    facet_x86_byte(e, 0x0F);
    facet_x86_byte(e, 0x80 | condition);
    facet_x86_word(e, 0);
    return e->used;
}

static inline size_t facet_x86_jump(struct facet_x86 *e)
{
    facet_x86_byte(e, 0xE9);
    facet_x86_word(e, 0);
    return e->used;
}

/* The jump that ended at `place` goes to `target`, both counted from the beginning. */
static inline void facet_x86_land(struct facet_x86 *e, size_t place, size_t target)
{
    if (place <= e->size) {
        facet_store_le32(e->bytes + place - 4, (uint32_t)(target - place));
    }
}

#endif
