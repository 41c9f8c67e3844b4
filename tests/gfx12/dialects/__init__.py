"""Images as three drivers lay them out, made without any code of Facet: RADV (Mesa), GPURT (AMDVLK and
the Windows driver) and HIPRT, and captures (.rra). Written from the drivers' public layouts.

    from dialects import model, radv, gpurt, hiprt, rra

    mesh = model.sphere(8, 12)                              # a list of triangles
    blas = [model.Geometry(mesh), model.Geometry(model.grid(5), opaque=False)]
    world = [model.Instance(0, model.move(3, 0, 0)), model.Instance(1, model.turn(30), mask=0x0F)]
    capture = radv.scene([blas, [model.Boxes(model.boxes(9))]], world, mode="batch", address=0x7f00_0000_0000)

    capture.segments         # [Segment(address, data, name)]; the first is where rays start
    capture.write(folder)    # writes the files, returns ["FILE@0xADDR", ...]
    capture.base, capture.root

radv takes layout="2025"|"2026"|"late" (the ends of its header) and stale=SEED, gpurt habits=True and reuse=True. Modes of radv: "batch" (compressed nodes, lone triangles of two boxes merged), "pair", "single"; modes of
gpurt: "batch", "single" (updatable); gpurt takes rebraid=True and split=True, hiprt split=True.
`rra.capture(gpurt.scene(...))` is the bytes of a capture, `compress=True` with zstd (needs libzstd).
`model.rays` makes rays, `model.closest` is the brute force that the tests compare with."""
