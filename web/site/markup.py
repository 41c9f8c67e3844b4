"""Pieces of HTML. Text is escaped where it enters; what is HTML already is an `Html` and passes as it is."""
from html import escape


VOID = {"br", "img", "input", "meta", "link"}  # elements without an end


class Html(str):
    """Text that is HTML: not escaped again."""


def html(value):
    if isinstance(value, Html):
        return value
    if isinstance(value, (list, tuple)):
        return Html("".join(html(v) for v in value))
    return Html("" if value is None else escape(str(value), quote=False))


def tag(name, *children, **attributes):
    """tag("a", "text", href="x.html", cls="id"): a trailing underscore or `cls` stands for Python's own words."""
    text = "".join(' %s="%s"' % ({"cls": "class"}.get(k, k.rstrip("_").replace("_", "-")), escape(str(v)))
                   for k, v in attributes.items() if v is not None and v is not False)
    if name in VOID:
        return Html("<%s%s>" % (name, text))
    return Html("<%s%s>%s</%s>" % (name, text, html(children), name))


def joined(separator, parts):
    return Html(html(separator).join(html(p) for p in parts))


def table(head, rows, cls=None, ids=None, caption=None):
    """Head and rows are lists of cells; ids are the anchors of the rows. Wide tables scroll, the page does not."""
    ids = ids or [None] * len(rows)
    body = [tag("tr", *[tag("td", c) for c in row], id=i) for row, i in zip(rows, ids)]
    top = tag("thead", tag("tr", *[tag("th", h, scope="col") for h in head])) if head else ""
    name = tag("caption", caption) if caption else ""
    return tag("div", tag("table", name, top, tag("tbody", *body), cls=cls), cls="scroll", tabindex="0",
               role="region", aria_label=caption or "table")
