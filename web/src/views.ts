/* The views of the page, in the order of their tabs. */

import { bvhView } from "./bvh/index.ts";
import { programsView } from "./programs/index.ts";
import { numbersView, textureView } from "./play/index.ts";
import type { View } from "./shell/view.ts";

export const views: readonly View[] = [bvhView, programsView, numbersView, textureView];
