"""facet.Cosim and what the host tells an Xphmg: the twin of the C tests."""
import random

import facet
from harness import case, check, check_eq, main

INTERRUPT = 1 << 63
COUNT = """_start: la t0, handler
 csrw mtvec, t0
 li t0, 0x800
 csrw mie, t0
 csrsi mstatus, 8
 la s4, cell
loop: addi s0, s0, 1
 sd s0, 0(s4)
 lw t1, 0(s4)
 j loop
 .align 2
handler: addi s2, s2, 1
 mret
 .align 3
cell: .dword 0
"""


def refused(text, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except (facet.Error, TypeError, ValueError) as error:
        check(text in str(error), f"{text!r} in {error}")
        return
    check(False, f"{text!r} was not refused")


def tell(cosim, changes):
    """What a design's machine did, told by name as a harness would."""
    writes = {change.name: change.new for change in changes if change.kind in ("reg", "csr")}
    stores = {change.address: change.new.to_bytes(change.size, "little") for change in changes if change.kind == "memory"}
    first = changes[0]
    if first.kind == "trap":
        return cosim.trapped(first.address, first.new & (1 << 64) - 1, first.new >> 64, writes)
    return cosim.retired(first.address, writes, stores=stores, word=first.new)


@case()
def interrupts_at_random_steps():
    chance = random.Random(1)
    elf = facet.assemble(COUNT)
    with facet.Cosim(facet.Xphmg(elf), program=elf) as cosim, facet.Xphmg(elf) as design:
        for _ in range(1500):
            if chance.randrange(20) == 0:
                level = chance.choice((True, False, None))
                design.set_line(11, level)
                cosim.machine.set_line(11, level)
            check_eq(tell(cosim, design.step_changes()), "same", cosim.report)
        check(design["s2"] > 10, "interrupts were taken")
        check_eq(cosim.steps, 1500, "steps")
        check_eq((cosim.report, cosim.difference), ("", None), "no difference")
        check_eq(cosim.finish(), "ended", "finish")


@case()
def a_difference_is_explained():
    elf = facet.assemble(COUNT)
    cosim = facet.Cosim(facet.Xphmg(elf), program=elf, window=2, snapshot_every=10)
    with cosim, facet.Xphmg(elf) as design:
        for _ in range(40):
            check_eq(tell(cosim, design.step_changes()), "same", cosim.report)
        pc = design["pc"]
        check_eq(cosim.retired(pc, {"x31": 1}), "different", "a wrong register")
        difference = cosim.difference
        check_eq((difference.step, difference.pc), (40, pc), "where")
        check("<loop" in cosim.report, cosim.report)
        step, state = cosim.replay()
        check(20 <= step <= 30, f"replay from {step}")
        with facet.Xphmg(elf) as other:
            other.restore(state)
            check_eq(other.steps, step, "steps of the replay")
    again = facet.Cosim(facet.Xphmg(elf), program=elf)
    with again, facet.Xphmg(elf) as design:
        again.snapshot_at(difference.step)
        for _ in range(40):
            tell(again, design.step_changes())
        check_eq((again.retired(pc, {"x31": 1}), again.replay()[0]), ("different", 40), "the state just before")
    refused("closed", lambda: cosim.steps)
    refused("closed", lambda: cosim.machine["x1"])


@case()
def filters_and_units():
    with facet.Cosim(facet.Xphmg("_start: csrr t0, mcycle\n li t1, 5\n j _start\n")) as cosim:
        cosim.ignore("t0")
        check_eq(cosim.retired(0x80000000, {"x5": 77}), "same", "ignored")
        cosim.compare("x5")
        check_eq(cosim.retired(0x80000004, {"x6": 5}), "same", "compared")
        refused("expected retire", cosim.ignore, "x32")
        cosim.unit_wrote({"mscratch": 3}, {0x80001000: b"ab"})
        check_eq(cosim.retired(0x80000008), "different", "a unit wrote what nobody asked for")


@case()
def values_devices_and_traps():
    seen = []
    text = "_start: lw t0, 0(s0)\n csrr t1, mcycle\n li s1, 0x30000000\n lw t2, 4(s1)\n sb t2, 1(s1)\n lw t3, 0x100(s1)\n"
    with facet.Xphmg(text) as hart:
        hart.add_device("mine", 0x30000000, 16, lambda offset, size: offset * 16 + size,
                        lambda offset, size, value: seen.append((offset, size, value)))
        hart.next_load(0xFFFFFFFF, 0, 7)
        hart.next_csr("mcycle", 1234)
        check_eq(hart.given(), 2, "given")
        hart.run(5)
        check_eq((hart["t0"], hart["t1"], hart["t2"]), ((1 << 64) - 1, 1234, 0x44), "what was read")
        hart.run(1)
        check_eq(seen, [(1, 1, 0x44)], "what was written")
        hart.take(5, 0x99, anyway=True)
        hart.step()
        check_eq((hart["mcause"], hart["mtval"]), (5, 0x99), "a trap")
        refused("not pending", hart.take, INTERRUPT | 7)
        refused("overlaps", hart.add_device, "ram again", 0x80000000, 16)
        refused("not a CSR", hart.next_csr, "x5", 1)
        hart.next_load(1)
        check_eq((hart.given(drop=True), hart.given()), (1, 0), "dropped")
        hart.wait_for_told()
        hart.set_turn(0)
        hart.break_reservation()


@case()
def cores_of_the_tile_gpu():
    gpu = facet.Tile(vram=1 << 20)
    entry = gpu.load("LUI s1, 0x80010\nLW s2, 0(s1)\nVLD.V v1, 0(s1)\nCSRR s3, time_lo\nEXIT\n")
    gpu.dispatch(entry, 4, 1)
    gpu.next_load(5, 0x80010000, 0x80010003, core=2)
    gpu.next_load(1 << 100, core=2)
    gpu.next_csr("time_lo", 77, core=2)
    check_eq(gpu.given(core=2), 3, "given")
    refused("not a CSR", gpu.next_csr, "s5", 1)
    refused("no core 4", gpu.set_turn, 4)
    with facet.Cosim(gpu) as cosim:
        for offset, writes in enumerate([{"s1": 0x80010000}, {"s2": 5}, None, {"s3": 77}]):
            if writes is None:
                gpu.set_turn(2)
                gpu.step()
                check_eq(gpu.get("v1", core=2), 1 << 100, "a vector")
                continue
            check_eq(cosim.retired(entry + 4 * offset, writes, core=2), "same", f"step {offset}")
        check_eq(gpu.given(core=2, drop=True), 0, "all read")


@case()
def exceptions_of_a_device_arrive():
    def bad(offset, size):
        raise KeyError("broken device")

    with facet.Xphmg("_start: li s1, 0x30000000\n lw t2, 4(s1)\n j .\n") as hart:
        hart.add_device("mine", 0x30000000, 16, bad)
        try:
            hart.run(100)
            check(False, "the exception was lost")
        except KeyError:
            pass


@case()
def a_device_raises_its_interrupt():
    text = ("_start: la t0, handler\n csrw mtvec, t0\n li t0, 0x800\n csrw mie, t0\n csrsi mstatus, 8\n li s1, 0x30000000\n"
            "sw zero, 0(s1)\n nop\n j .\n .balign 4\n handler: csrr s2, mepc\n sw zero, 4(s1)\n li s3, 1\n j .\n")
    for plain in (False, True):
        with facet.Xphmg(text, plain=plain) as hart:
            hart.add_device("mine", 0x30000000, 16, write=lambda offset, size, value: hart.set_line(11, offset == 0))
            hart.run(100)
            check_eq((hart["s3"], hart["mcause"], hart["mip"]), (1, INTERRUPT | 11, 0), f"plain {plain}")


@case()
def misuse():
    machine = facet.Xphmg("_start: j .\n")
    with facet.Cosim(machine):
        refused("another session", facet.Cosim, machine)
    refused("not a machine", facet.Cosim, 3)
    refused("window", facet.Cosim, facet.Xphmg(), window=5000)
    with facet.Cosim(facet.Tile()) as cosim:
        refused("there is no core 9", cosim.retired, 0, core=9)


main("python_cosim")
