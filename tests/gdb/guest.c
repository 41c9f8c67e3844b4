/* Guest of the debugger tests: no library, semihosting for output and exit. */
typedef unsigned long word;

volatile long counter;
volatile double ratio = 1.5;
volatile int forever;   /* 1: until the debugger changes it */
volatile int read_some; /* 1: read from the console */
volatile long length;
char buffer[64];

static word semihost(word operation, const void *argument)
{
    register word a0 __asm__("a0") = operation;
    register const void *a1 __asm__("a1") = argument;

    __asm__ volatile(".option push\n.option norvc\n.balign 16\n"
                     "slli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\n.option pop"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return a0;
}

static void print(const char *text)
{
    semihost(4, text);
}

__attribute__((noinline)) long add(long a, long b)
{
    long sum = a + b;
    counter = sum;
    return sum;
}

__attribute__((noinline)) void spin(void)
{
    while (forever != 2) {
        ratio += 1.0;
    }
}

__attribute__((noinline)) void got_input(void)
{
    __asm__ volatile("");
}

int main(void)
{
    long total = 0;

    print("start\n");
    for (long i = 1; i <= 10; i++) {
        total = add(total, i);
    }
    print("sum done\n");
    if (forever) {
        print("spinning\n");
        spin();
    }
    if (read_some) {
        do {
            buffer[length] = (char)semihost(7, 0); /* SYS_READC */
        } while (buffer[length++] != '\n');
        got_input();
        print("read\n");
    }
    return (int)total;
}

void done(int code)
{
    word block[2] = {0x20026, (word)code};

    semihost(0x20, block);
    for (;;) {
    }
}

__asm__(".section .text.start,\"ax\"\n.globl _start\n_start:\n"
        "li t0, 0x2000\ncsrs mstatus, t0\n" /* FS: floating point on */
        "la sp, stack_top\ncall main\ncall done\n"
        ".bss\n.balign 16\n.space 4096\nstack_top:\n.text\n");
