"""The Markdown of these pages as HTML: headings, paragraphs, lists, tables, code, emphasis, links, pictures.

Names become links on the way: a `Linker` says where a word, a code span or a Markdown link leads."""
import re

from markup import Html, html, tag

HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*$")
FENCE = re.compile(r"(\s*)(```+|~~~+)\s*(\S*)")
ITEM = re.compile(r"(\s*)(?:([-*+])|(\d+)\.)\s+(.*)$")
RULE_LINE = re.compile(r"\s*\|?[\s:|-]*-[\s:|-]*\|[\s:|-]*$")
INLINE = re.compile(
    r"(?P<page>`?(?:spec/)?(?P<file>[a-z0-9-]+)\.md`? (?P<number>\d+(?:\.\d+)*|Appendix [A-Z])\b)"
    r"|(?P<code>(?P<ticks>`+)(?P<text>.+?)(?P=ticks)(?!`))"
    r"|(?P<picture>!\[(?P<alt>[^\]]*)\]\((?P<source>[^)\s]+)\))"
    r"|(?P<link>\[(?P<label>(?:[^\[\]`]|`[^`]*`)+)\]\((?P<target>[^)\s]+)\))"
    r"|(?P<strong>\*\*(?P<bold>\S(?:.*?\S)?)\*\*)"
    r"|(?P<em>(?<![\w*])\*(?P<slanted>[^\s*](?:[^*]*[^\s*])?)\*(?![\w*]))"
    r"|(?P<html></?(?:code|br|kbd|sub|sup)/?>|&#?\w+;)"
    r"|(?P<escape>\\(?P<escaped>[\\`*_{}\[\]()#+.!|<>-]))", re.S)


class Linker:
    """Links nowhere; the site's own one knows the names (links.py)."""

    def words(self, text):
        """Plain text as HTML with its links."""
        return html(text)

    def code(self, text):
        """URL of a code span, or None."""
        return None

    def section(self, file, number):
        """URL of a section of a page of behaviour, or None."""
        return None

    def target(self, url):
        """URL of a Markdown link as it is in the site, or None where it leads nowhere."""
        return url

    def anchor(self, level, text):
        """The id of a heading."""
        return slug(text)


def slug(text):
    """As the usual hosts of Markdown make it, so that links of the pages hold here, too."""
    text = re.sub(r"[`*]", "", text.lower())
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def inline(text, linker):
    out, at = [], 0
    for m in INLINE.finditer(text):
        out.append(linker.words(text[at:m.start()]))
        out.append(one_inline(m, linker))
        at = m.end()
    out.append(linker.words(text[at:]))
    return Html("".join(out))


def one_inline(m, linker):
    if m.group("page"):
        url = linker.section(m.group("file"), m.group("number"))
        return tag("a", m.group("page").replace("`", ""), href=url) if url else linker.words(m.group("page").replace("`", ""))
    if m.group("code"):
        text = re.sub(r"\s*\n\s*", " ", m.group("text")).strip() if m.group("text").strip() else m.group("text")
        body = tag("code", text)
        url = linker.code(text)
        return tag("a", body, href=url) if url else body
    if m.group("picture"):
        url = linker.target(m.group("source"))
        return tag("img", src=url, alt=m.group("alt")) if url else html(m.group("alt"))
    if m.group("link"):
        url = linker.target(m.group("target"))
        body = inline(m.group("label"), Linker())
        return tag("a", body, href=url) if url else body
    if m.group("strong"):
        return tag("strong", inline(m.group("bold"), linker))
    if m.group("em"):
        return tag("em", inline(m.group("slanted"), linker))
    return Html(m.group("html")) if m.group("html") else html(m.group("escaped"))


def render(text, linker=None, top=1):
    """Blocks of a page; `top` is the level that its first-level headings get."""
    return Renderer(linker or Linker(), top).blocks(text.split("\n"))


class Renderer:
    def __init__(self, linker, top):
        self.linker, self.top = linker, top
        self.headings = []  # (level, id, HTML), in order
        self.used = set()

    def blocks(self, lines):
        out, i = [], 0
        while i < len(lines):
            for read in (self.fence, self.heading, self.table, self.listing, self.quote):
                block, after = read(lines, i)
                if after > i:
                    out.append(block)
                    i = after
                    break
            else:
                if not lines[i].strip():
                    i += 1
                    continue
                after = i + 1
                while after < len(lines) and lines[after].strip() and not self.starts_block(lines, after):
                    after += 1
                out.append(tag("p", inline("\n".join(s.strip() for s in lines[i:after]), self.linker)))
                i = after
        return Html("\n".join(out))

    def starts_block(self, lines, i):
        return bool(FENCE.match(lines[i]) or HEADING.match(lines[i]) or ITEM.match(lines[i]) or lines[i].startswith(">")
                    or (lines[i].lstrip().startswith("|") and self.is_table(lines, i)))

    def fence(self, lines, i):
        m = FENCE.match(lines[i])
        if not m:
            if lines[i].startswith("    ") and (i == 0 or not lines[i - 1].strip()):
                return self.indented(lines, i)
            return None, i
        after = i + 1
        while after < len(lines) and not lines[after].strip().startswith(m.group(2)):
            after += 1
        body = [re.sub("^" + m.group(1), "", s) for s in lines[i + 1:after]]
        return self.code_block(body, m.group(3)), after + 1

    def indented(self, lines, i):
        after = i
        while after < len(lines) and (lines[after].startswith("    ") or not lines[after].strip()):
            after += 1
        body = [s[4:] for s in lines[i:after]]
        while not body[-1].strip():
            body.pop()
        return self.code_block(body, ""), after

    def code_block(self, body, language):
        return tag("pre", tag("code", self.linker.words("\n".join(body))), tabindex="0",
                   cls="language-" + language if language else None)

    def heading(self, lines, i):
        m = HEADING.match(lines[i])
        if not m:
            return None, i
        level = min(len(m.group(1)) + self.top - 1, 6)
        ident = self.linker.anchor(len(m.group(1)), m.group(2))
        name, n = ident, 1
        while name in self.used:
            name, n = "%s-%d" % (ident, n), n + 1
        self.used.add(name)
        body = inline(m.group(2), Linker())
        self.headings.append((level, name, body))
        return tag("h%d" % level, body, " ", tag("a", "#", href="#" + name, cls="anchor", aria_label="link to this section"),
                   id=name), i + 1

    @staticmethod
    def is_table(lines, i):
        return i + 1 < len(lines) and "|" in lines[i] and bool(RULE_LINE.match(lines[i + 1]))

    def table(self, lines, i):
        if not self.is_table(lines, i):
            return None, i
        after = i + 2
        while after < len(lines) and lines[after].strip().startswith("|"):
            after += 1
        rows = [[inline(c, self.linker) for c in cells(s)] for s in lines[i + 2:after]]
        head = tag("thead", tag("tr", *[tag("th", inline(c, self.linker), scope="col") for c in cells(lines[i])]))
        body = tag("tbody", *[tag("tr", *[tag("td", c) for c in row]) for row in rows])
        return tag("div", tag("table", head, body), cls="scroll", tabindex="0", role="region", aria_label="table"), after

    def listing(self, lines, i):
        first = ITEM.match(lines[i])
        if not first:
            return None, i
        indent, ordered = len(first.group(1)), first.group(3)
        items = []
        while i < len(lines):
            m = ITEM.match(lines[i])
            if m and len(m.group(1)) == indent and bool(m.group(3)) == bool(ordered):
                start = len(lines[i]) - len(m.group(4))
                items.append([m.group(4)])
                i += 1
            elif not lines[i].strip():
                after = i
                while after < len(lines) and not lines[after].strip():
                    after += 1
                if after == len(lines) or not (self.belongs(lines[after], indent)
                                               or self.same_list(lines[after], indent, ordered)):
                    break
                items[-1].append("")
                i += 1
            elif self.belongs(lines[i], indent) or not (self.starts_block(lines, i) or lines[i - 1].strip() == ""):
                items[-1].append(lines[i][min(start, len(lines[i]) - len(lines[i].lstrip())):])
                i += 1
            else:
                break
        body = [tag("li", self.item(item)) for item in items]
        return tag("ol" if ordered else "ul", *body, start=ordered if ordered and ordered != "1" else None), i

    @staticmethod
    def belongs(line, indent):
        return len(line) - len(line.lstrip()) > indent

    @staticmethod
    def same_list(line, indent, ordered):
        m = ITEM.match(line)
        return bool(m) and len(m.group(1)) == indent and bool(m.group(3)) == bool(ordered)

    def item(self, lines):
        while lines and not lines[-1].strip():
            lines.pop()
        body = self.blocks(lines)
        # An item of one paragraph needs none of its own.
        return Html(body[3:-4]) if body.startswith("<p>") and body.count("<p>") == 1 and body.endswith("</p>") else body

    def quote(self, lines, i):
        after = i
        while after < len(lines) and lines[after].startswith(">"):
            after += 1
        if after == i:
            return None, i
        return tag("blockquote", self.blocks([s[1:].removeprefix(" ") for s in lines[i:after]])), after


def cells(line):
    """Cells of a table row; a bar in a code span must be escaped there, too, as usual."""
    line = re.sub(r"^\s*\|?|\|?\s*$", "", line) if not line.rstrip().endswith("\\|") else line.strip().lstrip("|")
    return [c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line)]
