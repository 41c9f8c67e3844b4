/* The scene behind an image: which machine draws its picture, how, and the picture as the view asks for it. Machines, options and
 * what they mean are those of `facet render`. */

import { el } from "../shell/dom.ts";
import type { Bvh, Camera, LeftOut, Look, Machine, Picture, PictureOptions, Ray, RayOptions, RayRecord, Rendered, Scene } from "../engine/types.ts";
import type { Source } from "./rt.ts";

/** Of the list of cameras: the one that sees everything. */
const FRAME = -1;
/** An angle for those who turn a camera that has none. */
export const ANGLE = 45;
/** As the list of the machines has it: the image is looked at with one ray per pixel. */
const IMAGE = "";
const NOTHING = "-";

/** The part of a look that the bar decides. */
export type Light = Pick<Look, "spp" | "bounces" | "aoRays" | "exposure" | "clamp" | "shadows" | "camera">;

interface SceneEvents {
  /** Another machine, or the same with other options. */
  changed(): void;
  camera(): void;
}

/** The controls of a scene, in the bar of the view. */
export class SceneBar {
  private readonly by = el("select", { "aria-label": "Surfaces by", onchange: () => this.pick() });
  private readonly beside = el("select", { "aria-label": "Beside it", onchange: () => this.pick() });
  private readonly cameras = el("select", { "aria-label": "Camera", onchange: () => this.events.camera() });
  private readonly spp = this.number("Samples per pixel", 1, 65536);
  private readonly bounces = this.number("Bounces", 0, 16);
  private readonly ao = this.number("Ambient rays per sample", 0, 256);
  private readonly exposure = el("input", { type: "number", min: 0.000001, max: 1000000, step: "any", class: "narrow", "aria-label": "Exposure", value: 1, onchange: () => this.events.changed() });
  private readonly tone = el("select", { "aria-label": "Tone", onchange: () => this.events.changed() }, el("option", { value: "soft" }, "soft"), el("option", { value: "clamp" }, "clamp"));
  private readonly shadows = el("input", { type: "checkbox", checked: true, onchange: () => this.events.changed() });
  private readonly drawing = el(
    "span",
    { class: "row", hidden: true },
    el("label", {}, "samples ", this.spp),
    el("label", { class: "of-rays" }, "bounces ", this.bounces),
    el("label", { class: "of-rays", title: "Of ambient occlusion, per sample; 0: none" }, "ambient ", this.ao),
    el("label", { class: "of-rays" }, this.shadows, " shadows"),
    el("label", {}, "exposure ", this.exposure),
    el("label", {}, "tone ", this.tone),
  );
  private readonly leftOut = el("details", { class: "left-out", hidden: true });
  readonly element = el(
    "div",
    { class: "scene-bar", hidden: true, role: "group", "aria-label": "Scene" },
    el("label", {}, "surfaces by ", this.by),
    el("label", {}, "beside ", this.beside),
    el("label", {}, "camera ", this.cameras),
    this.drawing,
    this.leftOut,
  );
  private machines: readonly Machine[] = [];

  constructor(private readonly events: SceneEvents) {
    this.spp.value = "1"; /* soon there */
    this.ao.value = "1";
    this.bounces.value = "0";
  }

  private number(label: string, min: number, max: number): HTMLInputElement {
    return el("input", { type: "number", min, max, step: 1, class: "narrow", "aria-label": label, onchange: () => this.events.changed() });
  }

  /** Another scene, as `facet render` draws it without options, or none. */
  show(scene: Scene | undefined, machines: readonly Machine[]): void {
    const choice = (value: string, text: string, title = ""): HTMLElement => el("option", { value, title }, text);
    const byMachine = machines.map(({ name, summary }) => choice(name, name, summary));
    this.machines = machines;
    this.element.hidden = scene === undefined;
    this.by.replaceChildren(choice(IMAGE, "the image, one ray per pixel"), ...byMachine);
    this.beside.replaceChildren(choice(NOTHING, "nothing"), ...byMachine.map((one) => one.cloneNode(true)));
    this.cameras.replaceChildren(choice(String(FRAME), "whole scene"), ...(scene?.facts.cameras ?? []).map((name, i) => choice(String(i), name === "" ? `${i}` : `${i}: ${name}`)));
    if (scene !== undefined) {
      this.by.value = machines[0]?.name ?? IMAGE;
      this.cameras.value = scene.facts.cameras.length > 0 ? "0" : String(FRAME);
    }
    this.adapt();
  }

  /** Back to the picture of the image, for whoever compares it with that of another. */
  byImage(): void {
    this.by.value = IMAGE;
    this.beside.value = NOTHING;
    this.adapt();
  }

  tellLeftOut(notes: readonly LeftOut[]): void {
    this.leftOut.hidden = notes.length === 0;
    this.leftOut.replaceChildren(
      el("summary", {}, "not everything is shown"),
      el("ul", {}, ...notes.map(({ count, what, first, why }) => el("li", {}, `${count > 1 ? `${count} × ` : ""}${what}${first === "" ? "" : ` (${first})`}: ${why}`))),
    );
  }

  private find(name: string): Machine | undefined {
    return this.machines.find((one) => one.name === name);
  }

  /** Who draws the surfaces; undefined: nobody but the image. */
  get machine(): Machine | undefined {
    return this.find(this.by.value);
  }

  get second(): Machine | undefined {
    return this.find(this.beside.value);
  }

  get camera(): number {
    return this.element.hidden ? FRAME : Number(this.cameras.value);
  }

  wholeScene(): void {
    this.cameras.value = String(FRAME);
  }

  get light(): Light {
    const value = (input: HTMLInputElement): number => (input.value === "" ? NaN : Number(input.value));
    return {
      spp: value(this.spp),
      bounces: value(this.bounces),
      aoRays: value(this.ao),
      exposure: value(this.exposure),
      clamp: this.tone.value === "clamp",
      shadows: this.shadows.checked,
      camera: this.camera,
    };
  }

  /** The options of the commands that draw and explain the same. */
  words(machine: Machine): string[] {
    const { spp, bounces, aoRays, exposure, clamp, shadows, camera } = this.light;
    return [
      `--machine ${machine.name}`,
      `--spp ${spp}`,
      camera === FRAME ? "--camera frame" : `--camera ${camera}`,
      ...(machine.rays && bounces > 0 ? [`--bounces ${bounces}`] : []),
      ...(machine.rays && aoRays > 1 ? [`--ao-rays ${aoRays}`] : []),
      ...(machine.rays && aoRays === 0 ? ["--no-ao"] : []),
      ...(shadows ? [] : ["--no-shadows"]),
      ...(exposure === 1 ? [] : [`--exposure ${exposure}`]),
      ...(clamp ? ["--tone clamp"] : []),
    ];
  }

  private adapt(): void {
    const drawn = [this.machine, this.second].filter((one) => one !== undefined);
    this.drawing.hidden = drawn.length === 0;
    for (const label of this.drawing.querySelectorAll<HTMLElement>(".of-rays")) {
      label.hidden = !drawn.some((one) => one.rays);
    }
  }

  private pick(): void {
    this.adapt();
    this.events.changed();
  }

  state(): unknown {
    const { by, beside, cameras, spp, bounces, ao, exposure, tone } = this;
    return this.element.hidden ? undefined : [by, beside, cameras, spp, bounces, ao, exposure, tone].map(({ value }) => value).concat(this.shadows.checked ? "1" : "0");
  }

  /** From a link: what no control has is left as it is. */
  restore(state: unknown): void {
    if (!Array.isArray(state)) {
      return;
    }
    [this.by, this.beside, this.cameras, this.spp, this.bounces, this.ao, this.exposure, this.tone].forEach((control, i) => {
      const wanted: unknown = state[i];
      const fits = control instanceof HTMLSelectElement ? [...control.options].some(({ value }) => value === wanted) : Number.isFinite(Number(wanted));
      if (typeof wanted === "string" && fits) {
        control.value = wanted;
      }
    });
    this.shadows.checked = state[8] !== "0";
    this.adapt();
  }
}

function textOf(picture: Rendered, machine: Machine): string {
  const rays = picture.rays > 0 ? `, ${picture.rays} rays, ${picture.hits} hit, ${(picture.nodes / picture.rays).toFixed(2)} nodes each` : "";
  const work = picture.instructions > 0 ? `, ${picture.instructions} instructions` : "";
  const draws = picture.commands > 0 ? `, ${picture.triangles} triangles by ${picture.commands} commands` : "";
  return `${picture.width} × ${picture.height} by ${machine.name}${rays}${work}${draws}`;
}

/** A scene as the view asks for pictures and rays. Surfaces, and how often they were tested, are the
 * machine's; everything else is the image's, all of it by the scene's camera. */
export class SceneSource implements Source {
  constructor(
    private readonly scene: Scene,
    private readonly image: Bvh,
    private readonly light: Light,
    private readonly machine: Machine | undefined,
  ) {}

  camera(): Promise<Camera> {
    return this.scene.camera(this.light.camera);
  }

  look(width: number, height: number, place: Camera | undefined): Look {
    const bounces = this.machine?.rays === false ? 0 : this.light.bounces;
    return { ...this.light, bounces, width, height, ...(place === undefined ? {} : { place: { ...place, fov: place.fov || ANGLE } }) };
  }

  /** While the camera turns, a coarse picture of the image is there at once. */
  async picture(options: PictureOptions): Promise<Picture> {
    const { aov = "picture", width, height, camera, rows, signal, progress, coarse } = options;
    const own = this.machine !== undefined && (aov === "picture" || (this.machine.rays && (aov === "nodes" || aov === "triangles")));
    if (this.machine === undefined || !own || coarse === true) {
      const seen = camera ?? (await this.camera());
      return this.image.picture({ ...options, camera: { ...seen, fov: seen.fov || ANGLE } });
    }
    const drawn = (rgba: Uint8ClampedArray): Picture => ({ width, height, rgba, values: new Float32Array(), rays: 0, hits: 0, nodes: 0, heatMax: 0 });
    const look = this.look(width, height, camera);
    const done = await this.scene.render(this.machine, { ...look, view: aov as NonNullable<Look["view"]> }, {
      ...(signal === undefined ? {} : { signal }),
      ...(progress === undefined ? {} : { progress }),
      part: (rgba) => rows?.(drawn(rgba), 0, height),
    });
    return { ...drawn(done.rgba), rays: done.rays, hits: done.hits, nodes: done.nodes, heatMax: done.heatMax, text: textOf(done, this.machine) };
  }

  pixelRay(x: number, y: number, width: number, height: number, camera?: Camera): Promise<Ray> {
    return this.scene.pixelRay({ ...this.look(width, height, camera), spp: 1, bounces: 0 }, x, y);
  }

  explain(ray: Ray, options?: RayOptions): Promise<RayRecord> {
    return this.image.explain(ray, options);
  }
}
