"""Rays: build a hierarchy from arrays, trace a picture, ask why a ray misses."""
# %% A field of triangles, from NumPy arrays.
import facet
import numpy as np

N = 64
x, y = np.meshgrid(np.arange(N + 1, dtype=np.float32), np.arange(N + 1, dtype=np.float32))
positions = np.stack([x, y, 3 * np.sin(x / 5) * np.cos(y / 7)], axis=-1).reshape(-1, 3).astype(np.float32)
corner = (np.arange(N)[:, None] * (N + 1) + np.arange(N)).ravel()
indices = np.concatenate([np.stack([corner, corner + 1, corner + N + 1], 1),
                          np.stack([corner + 1, corner + N + 2, corner + N + 1], 1)]).astype(np.uint32)
bvh = facet.Bvh.build(facet.Mesh(positions, indices))
print(f"{len(indices)} triangles, {len(bvh.image)} bytes, {len(bvh.check())} findings")

# %% One ray for each pixel, straight down. Hits are a NumPy array with named columns.
SIZE = 32
px, py = np.meshgrid(np.linspace(0, N, SIZE, dtype=np.float32), np.linspace(0, N, SIZE, dtype=np.float32))
origins = np.stack([px, py, np.full_like(px, 10)], axis=-1).reshape(-1, 3)
down = np.broadcast_to(np.array([0, 0, -1], np.float32), origins.shape)
hits = bvh.trace(origins, down)
height = (10 - hits["t"]).reshape(SIZE, SIZE)
for line in height[::4]:
    print("".join(" .:-=+*#"[int(np.clip((h + 3) / 6 * 8, 0, 7))] for h in line))

# %% Why? Every value of the test of one ray and one triangle.
triangle = positions[indices[hits["primitive"][100]]]
ray = np.concatenate([origins[100], down[100], [0, 100]]).astype(np.float32)
why = facet.why_triangle(ray, triangle.ravel())
print(f"{why['outcome']}, decided by {why['decided']}: t = {why['values'][0]:.4f}, det = {why['test']['det']:.4f}")
ray[0] += 5
why = facet.why_triangle(ray, triangle.ravel())
print(f"{why['outcome']}, decided by {why['decided']}: edges {[round(e, 3) for e in why['test']['facet']['edge']]}")

# %% The same geometry as an image of XPHMG_RT.
tiles = facet.Bvh.build(facet.Mesh(positions, indices), format="xphmg")
same = tiles.trace(origins, down)["primitive"] == hits["primitive"]
print(f"{tiles.format}: {same.sum()} of {len(same)} rays hit the same triangle")
