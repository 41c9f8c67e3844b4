"""Makes a C header with the text of files as strings: embed.py OUTPUT NAME=FILE..."""
import sys


def literal(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return "\n".join(f'    "{line}\\n"' for line in escaped.splitlines())


def main():
    output, *files = sys.argv[1:]
    parts = ["/* Made by tools/embed.py. */"]
    for item in files:
        name, path = item.split("=", 1)
        with open(path, encoding="ascii") as source:
            parts.append(f"static const char {name}[] =\n{literal(source.read())};")
    with open(output, "w", encoding="ascii") as out:
        out.write("\n".join(parts) + "\n")


main()
