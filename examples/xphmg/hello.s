# Prints a line through semihosting and ends with exit code 0: facet as --isa xphmg hello.s -o hello.elf,
# then facet run hello.elf. The same file runs on QEMU: qemu-system-riscv64 -machine virt -bios none
# -nographic -semihosting -kernel hello.elf
_start:
        la      a1, text
        li      a0, 4                   # SYS_WRITE0
        call    semihost
        la      a1, ending
        li      a0, 0x20                # SYS_EXIT_EXTENDED
        call    semihost
        j       .

        .align  4                       # the three words of a call are in one page
semihost:
        .word   0x01f01013              # slli x0, x0, 0x1f
        .word   0x00100073              # ebreak
        .word   0x40705013              # srai x0, x0, 7
        ret

        .data
        .align  3
ending: .dword  0x20026, 0              # ADP_Stopped_ApplicationExit, code 0
text:   .string "hello from xphmg\n"
