# A test as riscv-arch-test has them: results between begin_signature and end_signature, and the end
# through HTIF. `facet run signature.elf --signature FILE` writes them (docs/run.md).
        .globl  begin_signature, end_signature, tohost, fromhost
_start: la      t0, begin_signature
        li      t1, -7
        li      t2, 2
        div     t3, t1, t2              # rounds to zero: -3
        sd      t3, 0(t0)
        rem     t3, t1, t2
        sd      t3, 8(t0)
        divu    t3, t1, zero            # no trap: all ones
        sd      t3, 16(t0)
        li      t1, 1
        la      t0, tohost
        sd      t1, 0(t0)
        j       .

        .data
        .align  4
begin_signature:
        .dword  0xdeadbeefdeadbeef, 0xdeadbeefdeadbeef, 0xdeadbeefdeadbeef
end_signature:
        .align  6
tohost: .dword  0
fromhost:
        .dword  0
