"""Makes a C header with the text of files as strings: embed.py [--bare] OUTPUT NAME=FILE...

--bare leaves out lines that include other files."""
import sys


def literal(text, bare):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return "\n".join(f'    "{line}\\n"' for line in escaped.splitlines()
                     if not (bare and line.startswith("#include ")))


def main():
    bare = sys.argv[1] == "--bare"
    output, *files = sys.argv[2:] if bare else sys.argv[1:]
    parts = ["/* Made by tools/embed.py. */"]
    for item in files:
        name, path = item.split("=", 1)
        with open(path, encoding="ascii") as source:
            parts.append(f"static const char {name}[] =\n{literal(source.read(), bare)};")
    with open(output, "w", encoding="ascii") as out:
        out.write("\n".join(parts) + "\n")


main()
