/* What happens with a trap that the program did not expect: a line on the console, exit code 125. A
 * program that wants something else defines guest_trap() itself. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *name_of(uint64_t cause)
{
    switch (cause) {
    case 0:
        return "instruction address misaligned";
    case 1:
        return "instruction access fault";
    case 2:
        return "illegal instruction";
    case 3:
        return "breakpoint";
    case 4:
        return "load address misaligned";
    case 5:
        return "load access fault";
    case 6:
        return "store address misaligned";
    case 7:
        return "store access fault";
    case 8:
        return "ecall from U mode";
    case 11:
        return "ecall from M mode";
    case 24:
        return "XPHMG numeric exception";
    case 25:
        return "XPHMG unsupported feature";
    default:
        return cause >> 63 ? "interrupt" : "unknown";
    }
}

void guest_trap(uint64_t cause, uint64_t pc, uint64_t value);

__attribute__((weak)) void guest_trap(uint64_t cause, uint64_t pc, uint64_t value)
{
    printf("trap: %s (cause %llu) at pc 0x%llx, value 0x%llx\n",
           name_of(cause),
           (unsigned long long)(cause & ~(UINT64_C(1) << 63)),
           (unsigned long long)pc,
           (unsigned long long)value);
    _exit(125);
}
