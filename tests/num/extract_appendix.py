"""Writes the C code of numeric.md's appendix A and B as headers for test_num_appendix.c.

Usage: extract_appendix.py SPEC_NUMERIC_MD OUT_A OUT_B. The normative code is compiled as it stands
in the contract, so that an edit there is at once a new expectation here.
"""
import re
import sys


def block(text, title):
    start = text.index(title)
    found = re.search(r"```c\n(.*?)```", text[start:], re.S)
    if found is None:
        sys.exit(f"{title}: no C block follows")
    return found.group(1)


def main():
    source, out_a, out_b = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        text = file.read()
    for out, title in ((out_a, "## Appendix A."), (out_b, "## Appendix B.")):
        with open(out, "w", encoding="utf-8") as file:
            file.write(block(text, title))


main()
