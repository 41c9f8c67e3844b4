/* Ray and BVH: a picture of an image, the ray of a pixel, the tree. */

import type { View } from "../shell/view.ts";
import { accepts, EXAMPLES, isScene } from "./files.ts";
import { BvhView } from "./view.ts";

const TITLES = { knot: "A knot", boxes: "64 boxes", hills: "Hills" };

export const bvhView: View = {
  id: "bvh",
  title: "Ray and BVH",
  summary: "A picture of a scene or a BVH image: click a pixel and follow its ray through boxes and triangles, number by number.",
  accepts,
  gathers: isScene,
  examples: EXAMPLES.map((example) => ({ title: TITLES[example], state: { example } })),
  mount: (host, page) => new BvhView(host, page),
};
