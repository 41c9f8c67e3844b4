/* The Python text of `monitor python`: GDB's own disassembler knows neither the tile and the gfx12
 * machine, whose words it takes for RISC-V, nor the vendor's instructions of xphmg. With this in
 * GDB (13 and
 * later), `x/i`, `disassemble` and `display/i` ask the stub instead. It comes from the stub, so
 * that it needs no file and always fits the stub. For xphmg GDB's text is kept wherever GDB has
 * one, because it has symbols in it. */
#include "gdb/internal.h"

/* clang-format off */
const char facet_gdb_script[] =
    "import gdb\n"
    "try:\n"
    "    import gdb.disassembler as facet_base\n"
    "except ImportError:\n"
    "    raise gdb.GdbError('this GDB cannot be taught instructions (13 and later can): use monitor dis')\n"
    "\n"
    "def facet_text(info, length):\n"
    "    try:\n"
    "        said = gdb.execute('monitor dis 0x%x 1' % info.address, to_string=True)\n"
    "    except gdb.error:\n"
    "        return None\n"
    "    at, colon, text = said.strip().partition(': ')\n"
    "    if at != '0x%x' % info.address or not text or '\\n' in text or text == 'cannot be read':\n"
    "        return None\n"
    "    return facet_base.DisassemblerResult(length=length, string=text)\n"
    "\n"
    "class FacetTile(facet_base.Disassembler):\n"
    "    def __call__(self, info):\n"
    "        info.read_memory(4)\n"
    "        return facet_text(info, 4)\n"
    "\n"
    "class FacetXphmg(facet_base.Disassembler):\n"
    "    def __call__(self, info):\n"
    "        known = facet_base.builtin_disassemble(info)\n"
    "        if not known.string.startswith('.'):\n"
    "            return known\n"
    "        ours = facet_text(info, known.length)\n"
    "        return known if ours is None or ours.string.startswith('.') else ours\n"
    "\n"
    "class FacetGfx12(facet_base.Disassembler):\n"
    "    def __call__(self, info):\n"
    "        info.read_memory(4)\n"
    "        ours = facet_text(info, 4)\n"
    "        if ours is None or ours.string.startswith('.'):\n"
    "            return ours\n"
    "        return facet_text(info, 8 if ours.string.startswith('ds_') else 12)\n"
    "\n";
/* clang-format on */
