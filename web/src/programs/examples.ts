/* What there is to begin with: programs of the repository, and exercises. */

import boxtest from "facet:text/examples/xphmg/boxtest.s";
import hello from "facet:text/examples/xphmg/hello.s";
import picture from "facet:text/examples/xphmg/picture.s";
import ticket from "facet:text/examples/xphmg/ticket.s";
import count from "facet:text/examples/tile/first/count.s";
import fill from "facet:text/examples/tile/fill.s";
import ramp from "facet:text/examples/tile/first/ramp.s";
import triangle from "facet:text/examples/tile/triangle.json";
import mandelbrot from "facet:text/guest/tile/mandelbrot.s";
import race from "facet:text/web/src/programs/exercises/count.s";
import sum from "facet:text/web/src/programs/exercises/sum.s";
import { EMPTY, type Project } from "./project.ts";

export interface Example {
  title: string;
  project: Project;
}

const PICTURE = "--arg target=0x80100000 --arg stride=256";

export const EXAMPLES: readonly Example[] = [
  { title: "Hart: hello", project: { ...EMPTY, kind: "hart", source: hello } },
  { title: "Hart: a picture", project: { ...EMPTY, kind: "hart", source: picture } },
  { title: "Hart: a ray against four boxes", project: { ...EMPTY, kind: "hart", source: boxtest } },
  { title: "Hart: a job of the matrix unit", project: { ...EMPTY, kind: "hart", source: ticket, options: "--jobs late:7" } },
  { title: "Kernel: a ramp of colours", project: { ...EMPTY, kind: "tile", source: ramp, options: `--grid 4x3 ${PICTURE} --out target,64x48` } },
  {
    title: "Kernel: vectors fill tiles",
    project: { ...EMPTY, kind: "tile", source: fill, options: `--grid 4x3 ${PICTURE} --arg color=0xff336699 --out target,64x48` },
  },
  {
    title: "Kernel: Mandelbrot in lanes",
    project: {
      ...EMPTY,
      kind: "tile",
      source: mandelbrot,
      options: `--grid 4x3 ${PICTURE} --arg x0=-2.25 --arg y0=-1.125 --arg step=0.046875 --arg limit=50 --out target,64x48`,
    },
  },
  { title: "Kernel: a count that goes wrong", project: { ...EMPTY, kind: "tile", source: count, options: "--grid 8x1 --arg word=0x80100000" } },
  { title: "Command list: triangles", project: { ...EMPTY, kind: "list", source: triangle } },
  {
    title: "Exercise: add numbers",
    project: {
      ...EMPTY,
      kind: "hart",
      source: sum,
      exercise: {
        title: "Add eight numbers",
        task: "Eight 32-bit numbers lie at `numbers`. Add them up and leave the sum in a0; the rest of the program ends with it as the exit code.\n\nTry Step, watch t0 and a0 in Registers, and look at `numbers` in Memory.",
        checks: [
          { what: "exit", equals: "100" },
          { what: "register", core: 0, name: "s2", equals: "100", text: "the sum is in a0 when `done` is reached (s2 keeps it)" },
          { what: "steps", most: 60 },
        ],
      },
    },
  },
  {
    title: "Exercise: a race",
    project: {
      ...EMPTY,
      kind: "tile",
      source: race,
      options: "--grid 8x1 --arg word=0x80100000",
      exercise: {
        title: "Eight tiles count themselves",
        task: "Four cores run eight tiles, and each should add 1 to the word. It comes out as 2. Look at the word in Memory as each core sees it, then make the program right in every order of the cores.\n\nThe contract has atomic instructions: point at AADD while you type it.",
        checks: [
          { what: "memory", at: "word", bytes: "08000000", text: "the word is 8 at the end" },
          { what: "schedules", count: 8 },
        ],
      },
    },
  },
];
