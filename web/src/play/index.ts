/* Playgrounds: numbers and texture samples. */

import type { View } from "../shell/view.ts";
import { NumbersView } from "./numbers.ts";
import { accepts } from "./texels.ts";
import { TextureView } from "./texture.ts";

export const numbersView: View = {
  id: "numbers",
  title: "Numbers",
  summary: "Any number format of the contract: bits, neighbours, every rounding mode, saturation, flags, operations and conversions.",
  accepts: () => 0,
  examples: [
    { title: "0.1 in FP16", state: {} },
    { title: "500 in E4M3", state: { format: "3", text: "500" } },
    { title: "A quantized INT4", state: { elem: "10", accValue: "12.7", sat: true, scale: "1" } },
  ],
  mount: async (host, page) => {
    const view = new NumbersView(host, page);
    await view.mounted;
    return view;
  },
};

export const textureView: View = {
  id: "texture",
  title: "Texture",
  summary: "One texture sample as a picture: texels, taps, weights, filter, sRGB step, and the element that is written.",
  accepts,
  examples: [
    { title: "A bilinear sample", state: {} },
    { title: "Mirrored beyond the edge", state: { source: "letter", wrap: "2", u: "1.02", v: "0.4" } },
  ],
  mount: async (host, page) => {
    const view = new TextureView(host, page);
    await view.mounted;
    return view;
  },
};
