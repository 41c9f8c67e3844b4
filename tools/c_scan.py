"""Where things stand in C files of one style: a definition begins in the first column and ends with a brace there."""
import bisect
import re

QUIET = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
TEST_HEAD = re.compile(r"TEST\((\w+)")
VARIABLE = re.compile(r"(\w+)(?:\[[^\]]*\])*\s*=")
FUNCTION = re.compile(r"(\w+)\(")
TYPE = re.compile(r"(?:struct|union|enum) (\w+)")
MACRO = re.compile(r"#\s*define\s+(\w+)")


def name_of(head):
    """The name that a definition gives: of a test case, a variable, a function or a type."""
    for pattern in (TEST_HEAD, VARIABLE, FUNCTION, TYPE):
        m = pattern.search(re.sub(r"__attribute__\(\(.*?\)\)\)?", "", head))
        if m:
            return m.group(1)
    return ""


class CFile:
    def __init__(self, path, text):
        self.path, self.text = path, text
        self.starts = [0] + [m.end() for m in re.finditer("\n", text)]
        self.comments = [m.span() for m in QUIET.finditer(text) if m.group().startswith("/")]
        self.first, self.last, self.names = [], [], []  # of each definition: lines, name
        bare = QUIET.sub(lambda m: "\n" * m.group().count("\n") if m.group()[0] == "/" else '""', text)
        self.find_definitions(bare.split("\n"))

    def find_definitions(self, lines):
        head, begin, inside, macro = "", 0, False, False
        for n, line in enumerate(lines, 1):
            if macro:
                macro = line.endswith("\\")
                self.last[-1] = n
            elif inside:
                if line.startswith("}"):
                    self.last[-1] = n
                    self.names[-1] = name_of(line) or self.names[-1]  # } variable[] = {
                    inside, head = line.rstrip().endswith("{"), ""
            elif line.startswith("#"):
                m = MACRO.match(line)
                if m:
                    self.begin(n, n, m.group(1))
                    macro = line.endswith("\\")
                head = ""
            elif line[:1].isalpha() or line[:1] == "_" or (head and line[:1] in (" ", "{")):
                if line[:1] not in " {" and not head.rstrip().endswith((",", "(", "*")) and not self.goes_on(head, line):
                    head, begin = "", n
                head += line + " "
                stripped = line.rstrip()
                if stripped.endswith("{"):
                    self.begin(begin, n, name_of(head))
                    inside = True
                elif stripped.endswith(";"):
                    if "=" in head:
                        self.begin(begin, n, name_of(head))
                    head = ""

    @staticmethod
    def goes_on(head, line):
        """A result type on a line of its own, the name on the next."""
        return bool(head) and "(" not in head and ";" not in head and "(" in line

    def begin(self, first, last, name):
        self.first.append(first)
        self.last.append(last)
        self.names.append(name)

    def line_at(self, offset):
        return bisect.bisect_right(self.starts, offset)

    def symbol_at(self, line):
        """The definition that the line is part of, or ''."""
        i = bisect.bisect_right(self.first, line) - 1
        return self.names[i] if i >= 0 and line <= self.last[i] else ""

    def symbol_after(self, line):
        i = bisect.bisect_left(self.first, line)
        return self.names[i] if i < len(self.names) else ""

    def definition(self, name):
        """The line where the name is defined, or None."""
        return next((n for n, each in zip(self.first, self.names) if each == name), None)

    def comment_symbol(self, offset):
        """What a comment is about: the definition around it or the next one; at the head of the file the file itself."""
        line = self.line_at(offset)
        return self.symbol_at(line) or (self.symbol_after(line) if line > 1 else "")


class PythonFile(CFile):
    """The same for a script of tests: a case begins with its decorator."""

    def find_definitions(self, lines):
        begin = None
        for n, line in enumerate(lines, 1):
            if line.startswith("@"):
                begin = n
            m = re.match(r"(?:def|class) (\w+)", line)
            if m:
                self.begin(begin or n, n, m.group(1))
                begin = None
            elif line.startswith(" ") and self.last:
                self.last[-1] = n


def expanded(text):
    """(file, line, words) of a preprocessor's output, line by line."""
    path, line = "", 0
    for row in text.split("\n"):
        marker = re.match(r'# (\d+) "([^"]*)"', row)
        if marker:
            path, line = marker.group(2), int(marker.group(1))
        else:
            yield path, line, row
            line += 1
