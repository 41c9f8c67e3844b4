"""The structures of spec/xphmg*.layout.tsv as C types of guest programs, with the layout that memory has.

A member of whole bytes is a member of the C structure. Members of single bits get a mask and an _LSB for
XPHMG_FIELD; the word around them is another member (in the table a view), or, for a lone one, the smallest number that
holds it. Structures that depend on the element format come once per element width: xphmg_bvh_node4_32 has floats."""
ELEMENTS = ((1, "uint8_t"), (2, "uint16_t"), (4, "float"))


def name_of(s):
    return s.prefix().replace("facet_", "", 1)


def constants(structures, out):
    for s in structures:
        high = name_of(s).upper()
        out.append("/* %s */" % s.name)
        for m in s.members:
            field = "%s_%s" % (high, m.name.upper())
            if m.width and not m.nested and m.count == 1 and m.width not in (8, 16, 32, 64) and m.kind != "FIXED":
                out.append("#define %s XPHMG_U64_(0x%X)" % (field, ((1 << m.width) - 1) << m.lo))
                out.append("#define %s_LSB %d" % (field, m.lo))
            for value in m.values:
                if value[0] and m.kind != "FIXED":
                    out.append("#define %s_%s %s" % (field, value[0].upper(),
                                                     hex(1 << value[1]) if m.kind == "FLAGS" else value[1]))


def span(m, e):
    """First byte and number of bytes of the C member."""
    if m.kind == "ELEMENT":
        return m.place.at(e), e * m.count
    if m.nested:
        return m.place.at(e), m.nested.size.at(e) * m.count
    if m.count > 1 or m.width in (8, 16, 32, 64):
        return m.place.at(e) + m.lo // 8, m.width // 8
    return m.place.at(e) + m.lo // 8, next(n for n in (1, 2, 4, 8) if m.lo % 8 + m.width <= 8 * n)


def whole(m):
    return m.kind == "ELEMENT" or bool(m.nested) or (m.lo % 8 == 0 and (m.count > 1 or m.width in (8, 16, 32, 64)))


def overlap(a, b):
    return a[0] < b[0] + b[1] and b[0] < a[0] + a[1]


def chosen(s, e):
    """The members that become members in C, by address: whole ones first, then views, then what is left."""
    picked = []
    for group in ([m for m in s.members if whole(m) and not m.view],
                  [m for m in s.members if whole(m) and m.view],
                  [m for m in s.members if not whole(m)]):
        for m in group:
            if not any(overlap(span(m, e), span(o, e)) for o in picked):
                picked.append(m)
    return sorted(picked, key=lambda m: m.place.at(e))


def c_member(m, e, element):
    count = "[%d]" % m.count if m.count > 1 else ""
    if m.kind == "ELEMENT":
        return "%s %s%s" % (element, m.name, count)
    if m.nested:
        suffix = "_%d" % (8 * e) if m.nested.elastic() else ""
        return "struct %s%s %s%s" % (name_of(m.nested), suffix, m.name, count)
    bits = 8 * span(m, e)[1] // m.count
    ctype = {"f32": "float", "f64": "double"}.get(m.type.split("[")[0], "uint%d_t" % bits)
    return "%s %s%s" % (ctype, m.name, count)


def structure(s, e, element, out):
    name = name_of(s) + ("_%d" % (8 * e) if s.elastic() else "")
    size, at, gaps, asserts = s.size.at(e), 0, 0, []
    align = "__attribute__((aligned(%d))) " % s.align if s.align else ""
    out.append("/* %s%s */" % (s.meaning, "; elements of %d bits" % (8 * e) if s.elastic() else ""))
    out.append("struct %s%s {" % (align, name))
    for m in chosen(s, e) + [None]:
        first, length = span(m, e) if m else (size, 0)
        if first > at:
            out.append("    uint8_t unused_%d[%d];" % (gaps, first - at))
            gaps += 1
        if m:
            out.append("    %s; /* %s */" % (c_member(m, e, element), m.cells["meaning"]))
            asserts.append('_Static_assert(__builtin_offsetof(struct %s, %s) == %d, "");' % (name, m.name, first))
        at = first + length
    out.append("};")
    out += asserts
    out.append('_Static_assert(sizeof(struct %s) == %d, "");\n' % (name, size))


def structures(layouts, out):
    for s in layouts:
        for e, element in ELEMENTS if s.elastic() else ELEMENTS[:1]:
            structure(s, e, element, out)
