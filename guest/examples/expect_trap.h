/* Traps that an example provokes on purpose: CAUSE_OF(statement) runs it with a handler that notes
 * the cause and steps over the instruction, and gives the cause, or NO_TRAP. The instruction that
 * traps must be one of 32 bits; all vendor instructions and the CSR instructions are. */
#ifndef EXPECT_TRAP_H
#define EXPECT_TRAP_H

#include <stdint.h>
#include <xphmg.h>

enum { ILLEGAL_INSTRUCTION = 2, LOAD_FAULT = 5, NUMERIC_EXCEPTION = 24, NO_TRAP = 64 };

static volatile uint64_t trap_cause;

__attribute__((interrupt("machine"), aligned(4))) static void step_over(void)
{
    uint64_t cause, pc;

    __asm__ volatile("csrr %0, mcause\n csrr %1, mepc" : "=r"(cause), "=r"(pc));
    trap_cause = cause;
    __asm__ volatile("csrw mepc, %0" ::"r"(pc + 4));
}

#define CAUSE_OF(...)                                                                              \
    __extension__({                                                                                \
        uint64_t vector_;                                                                          \
                                                                                                   \
        trap_cause = NO_TRAP;                                                                      \
        __asm__ volatile("csrrw %0, mtvec, %1" : "=r"(vector_) : "r"(step_over) : "memory");       \
        __VA_ARGS__;                                                                               \
        __asm__ volatile("csrw mtvec, %0" ::"r"(vector_) : "memory");                              \
        trap_cause;                                                                                \
    })

#endif
