"""Machines from Python: registers and fields by name, running, observers, snapshots, lockstep, the console."""
import _thread
import os
import signal
import threading
import time

import facet
from harness import case, check, check_eq, main

SUM = """
_start: li t0, 5
        li t1, 7
        add a0, t0, t1
        sd a0, 256(t2)
loop:   j loop
"""
ENDLESS = "_start: j _start\n"
RAM = 0x80000000


def machine(source=SUM, **options):
    hart = facet.Xphmg(source, **options)
    hart["t2"] = RAM
    return hart


@case()
def a_configuration_makes_another_core():
    csrs = "_start: csrr t0, misa\n csrr t1, mhartid\n sd t0, 1(sp)\nloop: j loop\n"
    for configuration in ("rv64,isa=rv64imac,misaligned=trap,hartid=7",
                          {"isa": "rv64imac", "configuration": "rv64", "misaligned": "trap", "hartid": 7}):
        hart = facet.Xphmg(csrs, configuration=configuration)
        hart["sp"] = RAM + 4096
        hart.run(budget=3)
        check_eq((hart["t0"], hart["t1"], hart["mcause"], hart["mtval"]), (0x8000000000101105, 7, 6, RAM + 4097))
    for bad, kind in (({"pmp": 4.5}, ValueError), ({"isa": "rv64i,pmp=4"}, ValueError), ({"pmp": True}, ValueError),
                      (7, TypeError), ({"colour": 3}, facet.Error), ("isa=rv64v", facet.Error)):
        try:
            facet.Xphmg(csrs, configuration=bad)
            check(False, f"{bad!r} is refused")
        except kind as error:
            check(isinstance(bad, int) or any(word in str(error) for word in ("pmp", "isa", "colour")), str(error))


@case()
def texts_and_words_go_both_ways():
    elf = facet.assemble("_start: addi x1, x2, 3\n")
    check("addi x1, x2, 3" in facet.disassemble(elf), "the instruction is in the listing")
    check_eq(facet.assemble("addi x1, x2, 3", flat=True), bytes.fromhex("93003100"))
    check_eq(facet.show(0x00310093), "addi x1, x2, 3")
    check_eq(facet.decode(0x00310093)["operands"], {"rd": 1, "rs1": 2, "imm": 3})
    check_eq(facet.decode(0x00310093)["mnemonic"], "addi")
    try:
        facet.assemble("nop\nnopp\n", name="it.s")
        check(False, "a bad text is refused")
    except facet.Error as error:
        check(str(error).startswith("it.s:2:1: error: unknown instruction `nopp`"), str(error))
        check_eq((error.status, error.where), ("bad input", 2))


@case()
def registers_csrs_and_fields_by_name():
    with machine() as hart:
        check_eq(hart.run(3).steps, 3)
        check_eq((hart["a0"], hart["x10"], hart["X10"], hart["pc"]), (12, 12, 12, RAM + 12))
        hart["frm"] = 3
        hart["fcsr.NX"] = 1
        check_eq((hart["fcsr"], hart["fcsr.FRM"], hart["fcsr.NX"]), (0x61, 3, 1))
        hart["f1"] = 0x4008000000000000
        check_eq(hart.names()["f1"], 0x4008000000000000)
        check("CAP.PREC.MODE" in hart.csrs() and "NX" in hart.csrs()["fcsr"], "fields are listed")
        check_eq((hart.kind, hart.cores, hart.steps), ("xphmg", 1, 3))
    with machine(harts=2) as two:
        two.set("t0", 9, core=1)
        check_eq((two.get("t0", 1), two.get("t0", 0)), (9, 0))


@case()
def memory_breaks_watches_and_text():
    with machine() as hart:
        check_eq(hart.disassemble(RAM), "addi x5, x0, 5")
        check_eq(hart.disassemble(4), "")
        point = hart.add_break(RAM + 8)
        stop = hart.run()
        check_eq((stop.reason, stop.pc, stop.point), ("breakpoint", RAM + 8, point))
        hart.remove_point(point)
        hart.add_watch(RAM + 256, 8)
        stop = hart.run()
        check_eq((stop.reason, stop.address), ("watchpoint", RAM + 256))
        check_eq(hart.read(RAM + 256, 8), (12).to_bytes(8, "little"))
        hart.write(RAM + 256, memoryview(b"\x01\x02"))
        check_eq(hart.read(RAM + 256, 3), b"\x01\x02\x00")


@case()
def events_come_with_names():
    events = []
    with machine() as hart:
        hart.observe(reg_write=lambda e: events.append((e["name"], e["new_value"], hart["pc"])),
                     memory=lambda e: events.append((e["address"], e["value"], e["write"])),
                     retire=lambda e: events.append(e["pc"]))
        hart.run(4)
        check_eq([e[:2] for e in events if isinstance(e, tuple)],
                 [("x5", 5), ("x6", 7), ("x10", 12), (RAM + 256, 12)])
        check_eq([e for e in events if isinstance(e, int)], [RAM, RAM + 4, RAM + 8, RAM + 12])
        hart.observe()
        hart.run(4)
        check_eq(len(events), 8)


@case()
def an_exception_in_a_callback_ends_the_run():
    def refuse(event):
        if event["name"] == "x6":
            raise KeyError("enough")

    with machine() as hart:
        hart.observe(reg_write=refuse)
        try:
            hart.run()
            check(False, "the exception comes out")
        except KeyError as error:
            check_eq(error.args, ("enough",))
        check_eq(hart["x6"], 7)
        hart.observe()
        check_eq(hart.run(10).steps, 10)


@case()
def a_snapshot_continues_identically():
    with machine() as hart, machine() as other:
        hart.run(2)
        saved = hart.snapshot()
        hart.run(5)
        other.restore(saved)
        other.run(5)
        check_eq(other.snapshot() == hart.snapshot(), True)
        check_eq(other.steps, 7)
        hart.reset()
        check_eq(hart.steps, 0)


@case()
def lockstep_finds_the_first_difference():
    with machine() as a, machine() as b:
        check_eq(facet.lockstep(a, b, 2), None)
        b["t1"] = 8
        apart = facet.lockstep(a, b, 100)
        check_eq((apart.a.name, apart.a.new, apart.b.new), ("x10", 12, 13))
        check_eq(apart.a.text, "hart0: x10 0x0 -> 0xc")
    with machine() as a, machine() as b:
        check_eq([c.key for c in a.step_changes()], [c.key for c in b.step_changes()])
        check_eq(a.step_changes()[1].text, "hart0: x6 0x0 -> 0x7")
    with machine(ENDLESS) as a, machine(ENDLESS) as b:
        check_eq(facet.lockstep(a, b, 250000), None)
        check_eq((a.steps, b.steps), (250000, 250000))
    count = "_start: addi t0, t0, 1\n j _start\n"
    with machine(count) as a, machine(count) as b:
        check_eq(facet.lockstep(a, b, 120002), None)
        a["t0"] = 0
        check_eq(facet.lockstep(a, b, 100).step, 0)
    end = "_start: li t1, %d\n1: addi t0, t0, 1\n bne t0, t1, 1b\n li a0, %d\n2: j 2b\n"
    with machine(end % (60000, 1)) as a, machine(end % (60000, 2)) as b:
        apart = facet.lockstep(a, b, 1000000)
        check_eq((apart.step, a.steps), (120002, 120003))


@case()
def code_of_the_host_changes_nothing():
    source = "_start: li t0, 3000\nagain: mul a0, a0, t0\n addi a0, a0, 7\n addi t0, t0, -1\n bnez t0, again\n j .\n"
    ends = []
    for options in ({}, {"host_code": 0}, {"host_code": 1}, {"host_code": 900}, {"plain": True}):
        with machine(source, **options) as hart:
            hart.run(12002)
            ends.append((hart["a0"], hart["t0"], hart["pc"]))
    check_eq(set(ends), {ends[0]}, "registers")
    for bad in (-1, 1 << 64):
        try:
            machine(source, host_code=bad)
            check(False, f"host_code={bad} is refused")
        except (OverflowError, ValueError, facet.Error) as error:
            check("host_code" in str(error), str(error))


@case()
def the_console():
    hello = """
_start: li t0, 0x10000000
        li t1, 'h'
        sb t1, 0(t0)
        li t0, 0x100000
        li t1, 0x53333
        sw t1, 0(t0)
"""
    with machine(hello) as hart:
        stop = hart.run()
        check_eq((stop.reason, stop.code, bytes(hart.console)), ("exit", 5, b"h"))
    heard = []
    with machine(hello, output=lambda stream, data: heard.append((stream, data))) as hart:
        hart.run()
        check_eq((heard, bytes(hart.console)), ([(1, b"h")], b""))


@case()
def a_trap_without_a_handler_has_a_name():
    with machine("_start: .word 0\n") as hart:
        check_eq(hart.run().reason, "fault")
        check("instruction" in hart.fault()["name"], str(hart.fault()))


@case()
def signals_and_other_threads_end_a_run():
    with machine(ENDLESS) as hart:
        signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError("rang")))
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        begin = time.monotonic()
        try:
            hart.run()
            check(False, "the handler's exception comes out")
        except TimeoutError:
            check(time.monotonic() - begin < 20, "soon")
        before = hart.steps
        check(before > 0, "it ran")
        timer = threading.Timer(0.2, hart.interrupt)
        timer.start()
        check_eq(hart.run().reason, "request")
        timer.join()
        check_eq(hart.run(5).steps, 5)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        hart.observe(retire=lambda event: None)
        try:
            hart.run()
            check(False, "also while somebody listens")
        except TimeoutError:
            pass


@case()
def no_place_of_a_signal_leaves_a_machine_taken():
    class Rang(Exception):
        pass

    def ring(*_):
        nonlocal armed
        if armed:
            armed = False
            raise Rang

    armed, rings, ended = False, 0, time.monotonic() + 60
    signal.signal(signal.SIGALRM, ring)
    with machine(ENDLESS) as hart:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0003)
        while rings < 400 and time.monotonic() < ended:
            try:
                armed = True
                while True:
                    hart.step()
            except Rang:
                rings += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
        check(rings > 0, "it rang")
        check_eq(signal.pthread_sigmask(signal.SIG_BLOCK, []), set())
        check_eq(hart.run(5).steps, 5)


main("python_machine")
