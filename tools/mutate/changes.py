"""Small changes of meaning that can be made to a C file, found token by token.

Facet's style helps: a function's body is between a `{` and a `}` in the first column, everything else is a
declaration or a table and is left alone. A change replaces a range of the text by an expression or a statement
that holds both the old and the new code behind `FACET_MUT(k)` (tree.py).
"""
import os
import re
import sys
from collections import namedtuple

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from c_scan import CFile  # noqa: E402

TOKEN = re.compile(
    r"(?P<skip>\s+|/\*.*?\*/|//[^\n]*|^[ \t]*\#(?:\\\n|[^\n])*)"
    r"|(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')"
    r"|(?P<number>U?INT\d+_C\(\w+\)|0[xX][0-9a-fA-F]*(?:\.[0-9a-fA-F]*)?(?:[pP][-+]?\d+[fF]?|[uUlL]*)|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?[uUlLfF]*)"
    r"|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<op><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)", re.S | re.M)
PRECEDENCE = {"*": 10, "/": 10, "%": 10, "+": 9, "-": 9, "<<": 8, ">>": 8, "<": 7, "<=": 7, ">": 7, ">=": 7, "==": 6,
              "!=": 6, "&": 5, "^": 4, "|": 3, "&&": 2, "||": 1}
ENDS = {"?", ":", ",", ";", "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "{", "}"}
STOP_WORDS = {"return", "else", "do", "case", "goto", "sizeof"}
OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")": "(", "]": "[", "}": "{"}
SWAPS = {"<": ["<="], "<=": ["<"], ">": [">="], ">=": [">"], "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"],
         "+": ["-"], "-": ["+"], "<<": [">>"], ">>": ["<<"], "&": ["|"], "|": ["&"], "^": ["|"], "/": ["*"], "%": ["/"]}
KIND = {**dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), "compare"), **dict.fromkeys(("&&", "||"), "and-or"),
        **dict.fromkeys(("+", "-", "/", "%"), "arithmetic"), **dict.fromkeys(("<<", ">>", "&", "|", "^"), "bits")}
# What stands in their parentheses is a constant, a type, a claim or assembly.
LEFT_ALONE = {"FACET_REQUIRE", "_Static_assert", "static_assert", "sizeof", "offsetof", "_Alignas", "_Alignof",
              "__attribute__", "__builtin_choose_expr", "_Generic", "asm", "__asm__", "assert"}
TYPE_WORD = re.compile(r"(?:const|volatile|struct|union|enum|unsigned|signed|int|char|short|long|float|double|void|bool"
                       r"|_Bool|\w+_t|__m\d+\w*|\*)$")

SYMMETRIC = re.compile(r"fma|fmsub|min|max|_or_|_and_|_xor_|_add_|_mul_|equal")

# kind: the operator's name; first, last: range of the text; old, new: the code, `form` says how both are joined.
Change = namedtuple("Change", "kind line function first last old new form")


class Tokens:
    """The tokens of one function's body, with the partner of each bracket."""

    def __init__(self, text, first, last):
        self.text, self.kinds, self.words, self.spans = text, [], [], []
        for m in TOKEN.finditer(text, first, last):
            if m.lastgroup != "skip":
                self.kinds.append(m.lastgroup)
                self.words.append(m.group())
                self.spans.append(m.span())
        self.partner, self.inside, stack = {}, [], []  # inside: the bracket around each
        for i, word in enumerate(self.words):
            self.inside.append(stack[-1] if stack else 0)
            if self.kinds[i] == "op" and word in OPEN:
                stack.append(i)
            elif self.kinds[i] == "op" and word in CLOSE and stack:
                self.partner[i] = stack[-1]
                self.partner[stack.pop()] = i

    def code(self, i, j):
        """The text from token i to token j."""
        return self.text[self.spans[i][0]:self.spans[j][1]]

    def is_cast(self, close):
        """Whether the `)` ends a cast: only words of types between the brackets."""
        inside = self.words[self.partner.get(close, close) + 1:close]
        before = self.partner.get(close, 0) - 1
        called = before >= 0 and self.kinds[before] == "word" and self.words[before] not in STOP_WORDS
        return bool(inside) and not called and (
            all(TYPE_WORD.match(w) for w in inside) or inside[0] in ("struct", "union", "enum", "const"))

    def is_binary(self, i):
        before = self.words[i - 1]
        if self.kinds[i - 1] == "word":
            return before not in STOP_WORDS
        return self.kinds[i - 1] in ("number", "string") or before == "]" or (before == ")" and not self.is_cast(i - 1))

    def left_of(self, i, rank):
        """The first token of the operand that ends before the operator at i."""
        j = i - 1
        while j > 0:
            word = self.words[j]
            if word in (")", "]"):
                j = self.partner.get(j, 0)
            elif word in ENDS or word in OPEN or (word in STOP_WORDS and word != "sizeof"):
                break
            elif PRECEDENCE.get(word, 99) < rank and self.kinds[j] == "op" and self.is_binary(j):
                break
            j -= 1
        return j + 1

    def right_of(self, i, rank):
        """The last token of the operand that begins after the operator at i."""
        j = i + 1
        while j < len(self.words):
            word = self.words[j]
            if word in ("(", "["):
                j = self.partner.get(j, len(self.words))
            elif word == "{" and self.words[j - 1] == ")":  # a compound literal
                j = self.partner.get(j, len(self.words))
            elif word in ENDS or word in CLOSE:
                break
            elif PRECEDENCE.get(word, 99) <= rank and self.kinds[j] == "op" and j > i + 1 and self.is_binary(j):
                break
            j += 1
        return j - 1


def begins_statement(t, i):
    return i > 0 and (t.words[i - 1] in (";", "{", "}") or (t.words[i - 1] == "(" and t.words[i - 2] == "for"))


def is_declaration(t, i):
    """Whether the statement at i declares: two words in a row, or a type and a star."""
    if t.kinds[i] != "word" or t.words[i] in STOP_WORDS:
        return False
    if TYPE_WORD.match(t.words[i]) or t.words[i] in ("static", "register", "typedef", "extern"):
        return True
    following = t.words[i + 1:i + 4] + ["", "", ""]
    return t.kinds[i + 1] == "word" or (following[0] == "*" and following[2] in ("=", ";", ",", "["))


def end_of_statement(t, i):
    """The `;`, or the bracket that comes before one."""
    while i < len(t.words) and t.words[i] != ";" and t.words[i] not in CLOSE:
        i = t.partner.get(i, i) + 1 if t.words[i] in OPEN else i + 1
    return i


def banned_tokens(t):
    """Places where the language wants constants, or where a change means nothing."""
    banned = set()
    for i, word in enumerate(t.words):
        if word in LEFT_ALONE and i + 1 < len(t.words) and t.words[i + 1] == "(":
            banned.update(range(i, t.partner.get(i + 1, i) + 1))
        elif word == "case":
            j = i
            while t.words[j] != ":":
                j += 1
            banned.update(range(i, j + 1))
        elif word == "[" and t.words[i - 1] in ("{", ",") and t.words[t.partner.get(i, i) + 1] == "=":
            banned.update(range(i, t.partner[i] + 1))
        elif word == "sizeof":
            banned.update(range(i, end_of_postfix(t, i + 1)))
        if begins_statement(t, i) and is_declaration(t, i):
            banned.update(declarators(t, i, end_of_statement(t, i)))
    return banned


def end_of_postfix(t, i):
    """Behind `*x->y[2]` and the like, which begins at i."""
    while t.words[i] in ("*", "&"):
        i += 1
    i += 1
    while t.words[i] in (".", "->", "["):
        i = t.partner.get(i, i + 1) + 1
    return i


def declarators(t, i, end):
    """What a declaration from i to end declares, up to each `=`; all of it where values must be constants."""
    whole = t.words[i] in ("enum", "typedef", "extern") or "static" in t.words[i:i + 3]
    left = True
    while i < end:
        last = t.partner.get(i, i) if t.words[i] in OPEN else i
        left = t.words[i] == "," or (left and t.words[i] != "=")
        if left or whole:
            yield from range(i, last + 1)
        i = last + 1


def operator_changes(t, i):
    word = t.words[i]
    if word not in SWAPS or not t.is_binary(i):
        return
    rank = PRECEDENCE[word]
    first, last = t.left_of(i, rank), t.right_of(i, rank)
    if first >= i or last <= i:
        return
    left, right = t.text[t.spans[first][0]:t.spans[i][0]], t.text[t.spans[i][1]:t.spans[last][1]]
    for new in SWAPS[word]:
        yield KIND[word], first, last, t.code(first, last), left + new + right, "value"


def constant_changes(t, i):
    word = t.words[i]
    if t.kinds[i] == "number":
        yield "constant", i, i, word, word + " + 1", "value"
        if re.search(r"[1-9a-fA-F]", word.removeprefix("0x").split("_C(")[-1]):
            yield "constant", i, i, word, word + " - 1", "value"
    elif word in ("true", "false"):
        yield "truth", i, i, word, "false" if word == "true" else "true", "value"


def condition_changes(t, i):
    if t.words[i] not in ("if", "while") or t.words[i + 1] != "(":
        return
    first, last = i + 2, t.partner.get(i + 1, i + 2) - 1
    if last < first or "{" in t.words[first:last]:
        return
    old = t.code(first, last)
    news = [f"!({old})", "true", "false"] if t.words[i] == "if" else ["false"]
    for new in news:
        yield "condition", first, last, old, new, "value"


def statement_changes(t, i):
    if not begins_statement(t, i) or t.words[t.inside[i]] != "{" or is_declaration(t, i):
        return
    end = end_of_statement(t, i)
    words = t.words[i:end]
    if end >= len(t.words) or t.words[end] != ";" or not words or words[0] in ("return", "break", "continue", "goto", "if", "for", "while", "do", "switch", "else", "case",
                                 "default", "{", "}") or "{" in words or ":" in words[:2] or words[0] in LEFT_ALONE:
        return
    if words[0].isupper() and words[1:2] == ["("] and len(words[0]) > 1:
        return  # a macro may be more than one statement
    if words[0].endswith("free"):
        return  # a leak: the address sanitizer's business
    yield "statement", i, end, t.code(i, end), "", "drop"


def swap_changes(t, i):
    """Two arguments in a row that are plain names change places."""
    if t.kinds[i] != "word" or t.words[i + 1:i + 2] != ["("] or t.words[i] in STOP_WORDS | {"if", "while", "for", "switch"}:
        return
    end = t.partner.get(i + 1)
    if not end or t.words[i - 1] in (".", "->") or t.words[i].isupper() or SYMMETRIC.search(t.words[i]):
        return
    for j in range(i + 2, end - 2):
        if t.inside[j] != i + 1:
            continue  # an argument of another call
        if (t.kinds[j] == t.kinds[j + 2] == "word" and t.words[j + 1] == "," and t.words[j - 1] in ("(", ",")
                and t.words[j + 3] in (")", ",") and t.words[j] != t.words[j + 2]):
            new = (t.text[t.spans[i][0]:t.spans[j][0]] + t.words[j + 2] + ", " + t.words[j]
                   + t.text[t.spans[j + 2][1]:t.spans[end][1]])
            yield "swap", i, end, t.code(i, end), new, "value"


def bodies(text):
    """(first, last) of each function's body."""
    for m in re.finditer(r"^\{$.*?^\}$", text, re.S | re.M):
        if text[:m.start()].rstrip().endswith(")"):
            yield m.span()


def changes_of(path, text):
    """All changes that can be made to the file."""
    file = CFile(path, text)
    for first, last in bodies(text):
        t = Tokens(text, first, last)
        banned = banned_tokens(t)
        name = file.symbol_at(file.line_at(first))
        for i in range(1, len(t.words) - 1):
            for find in (operator_changes, constant_changes, condition_changes, statement_changes, swap_changes):
                for kind, a, b, old, new, form in find(t, i):
                    if kind != "statement" and banned.intersection(range(a, b + 1)):
                        continue
                    yield Change(kind, file.line_at(t.spans[i][0]), name, t.spans[a][0], t.spans[b][1], old, new, form)


def named_change(path, text, function, old, new):
    """The change that a list names by its code; None when the function does not hold that code exactly once."""
    file = CFile(path, text)
    pattern = re.compile(r"\s+".join(re.escape(part) for part in old.split()))
    found = [m for m in pattern.finditer(text) if file.symbol_at(file.line_at(m.start())) == function
             and not any(a <= m.start() < b for a, b in file.comments)]
    if len(found) != 1:
        return None
    m = found[0]
    return Change("named", file.line_at(m.start()), function, m.start(), m.end(), m.group(), new,
                  "drop" if not new else "either" if old.endswith(";") else "value")
