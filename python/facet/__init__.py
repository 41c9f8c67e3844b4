"""Facet from Python: assemble, run and watch machines, build and trace hierarchies, ask why (docs/python.md).

Everything is done by libfacet.so.1; arrays are NumPy arrays, read and written where they lie. What Facet refuses is a
`facet.Error` with its message; wrong types are TypeError before the library sees them.
"""
from ._bvh import HIT, Bvh, Finding, Mesh, Placement
from ._cosim import Cosim, Difference
from ._gfx12 import Gfx12
from ._isa import assemble, decode, disassemble, show
from ._library import Error, __version__
from ._machine import Change, Divergence, Machine, Stop, Xphmg, lockstep
from ._numbers import Compared, Elements, Flag, Format, Rounded
from ._tile import Tile
from ._why import why_box, why_sample, why_triangle

__all__ = ["HIT", "Bvh", "Change", "Compared", "Cosim", "Difference", "Divergence", "Elements", "Error", "Finding", "Flag", "Format", "Gfx12",
           "Machine", "Mesh", "Placement", "Rounded", "Stop", "Tile", "Xphmg", "__version__", "assemble", "decode",
           "disassemble", "lockstep", "show", "why_box", "why_sample", "why_triangle"]
