/* Ray and BVH: a picture of an image, the ray of a pixel, the tree. */

import type { View } from "../shell/view.ts";
import { accepts, EXAMPLES, isScene } from "./files.ts";
import { BvhView } from "./view.ts";

const TITLES = { knot: "A knot", boxes: "64 boxes", hills: "Hills" };

const RAY = { size: "640x360", pixel: [356, 162] };

/** An exercise: its answers are in the record of the ray, not here. */
const FOLLOW = {
  example: "boxes",
  aov: "picture",
  ...RAY,
  step: 0,
  exercise: {
    title: "Follow a ray",
    task: "The ray of the amber pixel goes through 64 boxes. Go through its steps with `→`, look at the bars along the ray, and answer. Numbers may be rounded to four digits.\n\nFor the last question click other pixels; the picture `Heat: nodes` shows where rays have much to do.",
    ray: RAY,
    checks: [
      { what: "answer", of: "steps.4.node", text: "Which node does step 4 test?" },
      { what: "answer", of: "result.boxes", text: "How many box nodes does the ray meet in all?" },
      { what: "answer", of: "result.t", text: "At which t does it hit?" },
      { what: "answer", of: "result.primitive", text: "Which triangle (primitive) does it hit?" },
      { what: "find", of: "result.found", equals: "no", text: "Now find a pixel whose ray hits nothing." },
    ],
  },
};

export const bvhView: View = {
  id: "bvh",
  title: "Ray and BVH",
  summary: "A picture of a scene or a BVH image: click a pixel and follow its ray through boxes and triangles, number by number.",
  accepts,
  gathers: isScene,
  examples: [...EXAMPLES.map((example) => ({ title: TITLES[example], state: { example } })), { title: "Exercise: follow a ray", state: FOLLOW }],
  mount: (host, page) => new BvhView(host, page),
};
