/* Single tests of XPHMG_RT over the link: the interface RtApi of types.ts. */
import type { Link } from "./link.ts";
import type { RtApi } from "./types.ts";

export function rtApi(link: Link): RtApi {
  return {
    box: (ray, box, { tClamp = false, element = "FP32" } = {}) => link.json("page_rt_box", [element, ray, box, Number(tClamp)]),
    triangle: (ray, vertices, { cullBack = false, epsilon = 0, element = "FP32" } = {}) =>
      link.json("page_rt_triangle", [element, ray, vertices, Number(cullBack), epsilon]),
  };
}
