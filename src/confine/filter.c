/* See filter.h. The filter is written by hand as a program for the kernel's classic BPF machine and
 * takes no memory: a library that builds one makes hundreds of small allocations, and what it makes
 * when one of them fails is nothing to rely on. */
#include "confine/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#endif

#ifdef ARCHITECTURE

#define KILL SECCOMP_RET_KILL_PROCESS
#define ALLOW SECCOMP_RET_ALLOW
#define REFUSE (SECCOMP_RET_ERRNO | EACCES)

/* The accumulator holds the call's number, except inside a rule about an argument, which always
 * ends in a verdict. Arguments below are 32-bit ones or bits of the lower half: these processors
 * are little-endian, so the lower half comes first. */
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define END(verdict) BPF_STMT(BPF_RET | BPF_K, (verdict))
#define UNLESS(test, value, skip) BPF_JUMP(BPF_JMP | (test) | BPF_K, (uint32_t)(value), 0, (skip))

#define ALWAYS(call, verdict) UNLESS(BPF_JEQ, SYS_##call, 1), END(verdict)
/* The verdict when (argument & mask) == value; otherwise the end. */
#define WHEN(call, argument, mask, value, verdict)                                                 \
    UNLESS(BPF_JEQ, SYS_##call, 5), LOAD(args[argument]),                                          \
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, (uint32_t)(mask)), UNLESS(BPF_JEQ, value, 1),          \
        END(verdict), END(KILL)
#define WHEN_ABOVE_KILL(call, argument, limit)                                                     \
    UNLESS(BPF_JEQ, SYS_##call, 4), LOAD(args[argument]), UNLESS(BPF_JGT, limit, 1), END(KILL),    \
        END(ALLOW)

#define WRITES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND)
#define ALL_BITS 0xFFFFFFFFU

bool facet_filter_syscalls(int channel)
{
    struct sock_filter rules[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        END(KILL),
        LOAD(nr), /* that of another table of calls, such as x32's, is in no rule */
        ALWAYS(read, ALLOW),
        WHEN_ABOVE_KILL(write, 0, channel),
        ALWAYS(brk, ALLOW),
        /* Memory without PROT_EXEC: nothing that the job computes can become code. */
        WHEN(mmap, 2, PROT_EXEC, 0, ALLOW),
        WHEN(mprotect, 2, PROT_EXEC, 0, ALLOW),
        ALWAYS(munmap, ALLOW),
        ALWAYS(mremap, ALLOW),
        ALWAYS(madvise, ALLOW),
        /* Releasing a lock. No other thread is left to wait for, and a wait could sleep. */
        WHEN(futex, 1, ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME), FUTEX_WAKE, ALLOW),
        ALWAYS(exit, ALLOW),
        ALWAYS(exit_group, ALLOW),
        ALWAYS(rt_sigreturn, ALLOW),
        ALWAYS(rt_sigprocmask, ALLOW),
        ALWAYS(rt_sigaction, ALLOW),
        ALWAYS(sigaltstack, ALLOW),
        ALWAYS(restart_syscall, ALLOW),
        /* abort() sends itself a signal; no other process may be sent one. */
        WHEN(tgkill, 0, ALL_BITS, getpid(), ALLOW),
        ALWAYS(getpid, ALLOW),
        ALWAYS(gettid, ALLOW),
        ALWAYS(sched_yield, ALLOW),
        ALWAYS(getrandom, ALLOW),
        ALWAYS(clock_gettime, ALLOW),
        /* The C library and sanitizers look at what the machine has, and carry on without; opening
         * to write is the end. */
        WHEN(openat, 2, WRITES, 0, REFUSE),
        ALWAYS(sysinfo, REFUSE),
        ALWAYS(prctl, REFUSE),
        ALWAYS(sched_getaffinity, REFUSE),
        ALWAYS(prlimit64, REFUSE),
#ifdef SYS_open /* the older name, which newer processors do without */
        WHEN(open, 1, WRITES, 0, REFUSE),
#endif
        END(KILL),
    };
    struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#else

bool facet_filter_syscalls(int channel)
{
    (void)channel;
    return false;
}

#endif
