/* Loaded before the C library where qemu emulates a processor (test_hosts.py): it knows everything
 * that the importer's confinement asks of the kernel but seccomp, and a program that cannot confine
 * its importer opens no file. Only for comparing bits: nothing is confined here. */
#include <linux/prctl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

int prctl(int option, ...);

__attribute__((visibility("default"))) int prctl(int option, ...)
{
    unsigned long argument[4];
    va_list list;

    va_start(list, option);
    for (int i = 0; i < 4; i++) {
        argument[i] = va_arg(list, unsigned long);
    }
    va_end(list);
    return option == PR_SET_SECCOMP
               ? 0
               : (int)syscall(
                     SYS_prctl, option, argument[0], argument[1], argument[2], argument[3]);
}
