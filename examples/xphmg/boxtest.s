# boxtest.s: one ray against the four boxes of a BVH node, in one instruction.
#
# The prefix svp.one.vlstep makes the next instruction run over four lanes: the ray register is
# broadcast (source step 0), each lane takes one child box and writes its own registers (step 1).
# The program leaves the number of boxes hit in a0 and passes it to the host through tohost.
#
# Semantics: spec/rt-semantics.md, sections 2.1 (prefixes), 5 (layouts), 6 and 7 (rt.bbox). After
# reset numbers are FP16; the boxes below are FP32, so CAP.PREC.MODE is set first. Bit 63 (APPLY0)
# makes the write take effect, otherwise it is only staged.

        .globl  _start
        .section .text
_start:
        li      t0, 0x8000000000300000  # APPLY0, EW = 32 bits, PET = FP32
        csrw    CAP.PREC.MODE, t0
        li      t0, 1
        csrs    RTCFG, t0               # EN: this program uses RT
        la      a0, ray                 # x10: address of the ray record
        la      t0, node
        csrw    RTNODE, t0              # the node tile that rt.bbox reads
        svp.one.vlstep 4, 0, 1
        rt.bbox x12, x10, T_CLAMP       # x12..15 hit, x16..19 tnear, x20..23 tfar

# x12..x15 are 0 or 1: their sum is the number of boxes hit.
        add     a0, x12, x13
        add     a0, a0, x14
        add     a0, a0, x15

# Exit code in bits 31:1, bit 0 set: the host stops the hart.
        slli    t1, a0, 1
        ori     t1, t1, 1
        la      t2, tohost
        sd      t1, 0(t2)
stop:
        j       stop

        .section .data
# Ray record: origin, direction, tmin, tmax. It starts at z = -5 and looks along +z.
        .balign 64
ray:
        .float  0.1, 0.2, -5.0
        .float  0.1, -0.03, 1.0
        .float  0.0
        .word   0x7f800000              # tmax = +infinity

# BVHNode4 tile: four boxes (min x y z, max x y z), padding, then the metadata words.
        .balign 64
node:
        .float  -1.0, -1.0, -1.0,   1.0, 1.0, 1.0       # hit: tnear 4, tfar 6
        .float   2.0,  2.0, -1.0,   3.0, 3.0, 1.0       # beside the ray
        .float  -1.0, -1.0,  4.0,   2.0, 1.0, 5.0       # hit, behind the first
        .float   0.0,  0.0,  0.0,   0.0, 0.0, 0.0       # empty child: never read
        .zero   16
        .word   1, 2, 3                 # child0_idx, child1_idx, child2_idx
        .word   0x00000025              # child_flags: inner node, inner node, leaf, empty

        .balign 8
        .globl  tohost
tohost: .dword  0
