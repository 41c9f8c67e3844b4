"""Every link of a built site leads to a file, and to an anchor in it."""
import os
import re
from html.parser import HTMLParser
from urllib.parse import unquote


class Found(HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids, self.links, self.twice = set(), [], []

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                (self.twice.append(value) if value in self.ids else self.ids.add(value))
            elif name in ("href", "src", "action") and value is not None:
                self.links.append(value)


def scan(folder):
    """{path: Found} of all pages but the inspector, which is one program."""
    pages = {}
    for at, _, files in os.walk(folder):
        for name in files:
            if name.endswith(".html") and name != "inspector.html":
                found = Found()
                with open(os.path.join(at, name), encoding="utf-8") as f:
                    found.feed(f.read())
                pages[os.path.relpath(os.path.join(at, name), folder)] = found
    return pages


def broken_links(folder):
    """Messages, sorted; links that leave the site are not followed."""
    pages, out = scan(folder), []
    for path, found in sorted(pages.items()):
        out += ["%s: the id %s stands twice" % (path, i) for i in found.twice]
        for link in found.links:
            if re.match(r"[a-z]+:", link):
                continue
            file, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(path), unquote(file))) if file else path
            if target not in pages:
                if target.startswith("..") or not os.path.isfile(os.path.join(folder, target)):
                    out.append("%s: %s leads nowhere" % (path, link))
            elif anchor and unquote(anchor) not in pages[target].ids:
                out.append("%s: %s: no such place in %s" % (path, link, target))
    return out
