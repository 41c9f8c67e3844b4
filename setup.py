"""Puts libfacet.so.1 into the wheel: FACET_LIBRARY, or what Meson builds in build/."""
import os
import pathlib
import re
import shutil
import subprocess

from setuptools import setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).resolve().parent
BUILD = ROOT / "build"
LIBRARY = "src/libfacet.so.1"


def library():
    given = os.environ.get("FACET_LIBRARY")
    if given:
        return pathlib.Path(given)
    if not (BUILD / "build.ninja").exists():
        subprocess.run(["meson", "setup", BUILD, ROOT], check=True)
    subprocess.run(["ninja", "-C", BUILD, LIBRARY], check=True)
    return BUILD / LIBRARY


class WithLibrary(build_py):
    def run(self):
        super().run()
        if not self.editable_mode:
            shutil.copy(library(), pathlib.Path(self.build_lib) / "facet" / "libfacet.so.1")


class ForThisProcessor(bdist_wheel):
    """Any Python 3, but not any processor."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


# The folder build/ is Meson's, so setuptools works in one inside it.
setup(version=re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text())[1],
      options={"build": {"build_base": "build/python"}},
      cmdclass={"build_py": WithLibrary, "bdist_wheel": ForThisProcessor})
