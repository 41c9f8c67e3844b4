/* The smallest guest program: printf through semihosting. No extension, so the same ELF runs on
 * qemu-system-riscv64 -machine virt -bios none -semihosting. */
#include "check.h"

#include <math.h>

int main(void)
{
    double root = sqrt(2.0);

    printf("hello from a guest; sqrt(2) is about %d/10000\n", (int)(root * 10000));
    CHECK(root * root > 1.999999 && root * root < 2.000001);
    return verdict("hello");
}
