"""Makes a C header with the bytes of a file as an array: embed_bytes.py OUTPUT NAME [FILE]. Without a file the array
has one zero byte."""
import sys


def main():
    output, name, *files = sys.argv[1:]
    data = b"\0"
    if files:
        with open(files[0], "rb") as source:
            data = source.read()
    rows = [", ".join(str(byte) for byte in data[i:i + 24]) for i in range(0, len(data), 24)]
    with open(output, "w", encoding="ascii") as out:
        out.write("/* Made by tools/embed_bytes.py. */\nstatic const unsigned char %s[] = {\n    %s};\n"
                  % (name, ",\n    ".join(rows)))


main()
