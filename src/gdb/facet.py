"""Source this from ~/.gdbinit (GDB 13 and later): from then on `target remote` and `target extended-remote` teach GDB
the instructions of the machine at the other end, when that is a Facet, so that x/i, disassemble and display/i show them.

    source /usr/share/facet/gdb/facet.py
"""
import gdb


def facet_learn():
    try:
        script = gdb.execute("monitor python", to_string=True)
    except gdb.error:
        return  # no Facet
    if script.startswith("import gdb\n"):
        exec(script, {})


for kind in ("remote", "extended-remote"):
    gdb.execute("define target hookpost-%s\npython facet_learn()\nend" % kind)
