/* The view of one image, and of a second one beside it. */

import { fromBase64, toBase64 } from "../shell/data.ts";
import { add, button, el, put } from "../shell/dom.ts";
import type { InputFile, Key, Mounted, Page } from "../shell/view.ts";
import { NodeKind } from "../engine/types.ts";
import type { Aov, Bvh, BvhFigures, CallOptions, Camera, Picture, Ray, RayRecord, RayStep, Scene, Tree } from "../engine/types.ts";
import { EXAMPLES, exampleTriangles, isBuffer, isExercise, isScene, refuse, startsWith } from "./files.ts";
import type { Example } from "./files.ts";
import { RayExercise } from "./exercise.ts";
import type { RayPlace } from "./exercise.ts";
import { showFigures, showFindings, structuresTable } from "./lists.ts";
import { PictureArea } from "./picture.ts";
import { showMemory } from "./memory.ts";
import { showNode } from "./node.ts";
import type { BoxLines, Drawing } from "./picture.ts";
import { addressIn, commandWords, piecesOf, placeOf, placeState } from "./place.ts";
import type { Input } from "./place.ts";
import { RayPane } from "./ray.ts";
import { children, corners, number, toWorldOf } from "./record.ts";
import { RtSource } from "./rt.ts";
import type { Source } from "./rt.ts";
import { ANGLE, SceneBar, SceneSource } from "./scene.ts";
import { rowsOf, SpacePane } from "./space.ts";
import { TreePane } from "./tree.ts";

const AOVS: readonly (readonly [Aov, string])[] = [
  ["picture", "Surfaces"],
  ["nodes", "Heat: nodes"],
  ["triangles", "Heat: triangles"],
  ["depth", "Depth"],
  ["normal", "Normals"],
  ["ids", "Triangles"],
];
/** What is drawn of images of XPHMG_RT. */
const RT_AOVS = ["depth", "ids"];
const SIZES = ["320x180", "640x360", "960x540", "1280x720"];
/** The finished picture follows when the camera has stood still for so long. */
const STILL_MILLISECONDS = 200;
/** An image of at most so many bytes travels inside a link. */
const MOST_IN_LINK = 64 * 1024;
/** Of the API ray flags. */
const CULL_BACK_FACING = 0x10;
/** Nobody builds an axis of more pixels into a link. */
const MOST_PIXELS = 4096;

/** An image that is open. */
interface Opened {
  readonly name: string;
  /** What was opened, and how; undefined for an example. */
  readonly input: Input | undefined;
  readonly bvh: Bvh;
  /** Who draws and explains: the image itself, or what stands before one of XPHMG_RT. */
  readonly source: Source;
  /** What the image was built of, when that is here. */
  readonly scene?: Scene;
  readonly tree: Tree;
  readonly figures: BvhFigures;
  /** Index in the tree of the node at an offset of the image. */
  readonly at: Map<number, number>;
}

/** A scene that is small enough for a link: its name, and all files with their bytes. */
type Packed = readonly (readonly [string, string])[];

type Space = "picture" | "space" | "compare";

export class BvhView implements Mounted {
  private readonly picture = new PictureArea({ pixel: (x, y) => void this.follow(x, y), camera: (camera) => this.turn(camera) });
  private readonly other = new PictureArea({ pixel: (x, y) => void this.follow(x, y), camera: (camera) => this.turn(camera) });
  private readonly space = new SpacePane();
  private readonly tree = new TreePane({ chosen: (node) => this.choose(node) });
  private readonly ray = new RayPane({ step: () => this.stepped(), node: (step) => this.revealStep(step) });
  private readonly scene = new SceneBar({ changed: () => this.guard(this.lit()), camera: () => this.guard(this.home()) });
  private readonly findings = el("div", { class: "pane" });
  private readonly why = el("pre", { class: "pane why", tabindex: 0, "aria-label": "What the machine did for the pixel" });
  private readonly figures = el("div", { class: "pane" });
  private readonly node = el("div", { class: "pane" });
  private readonly name = el("span", { class: "file-name" });
  private readonly aov = el("select", { "aria-label": "Picture", onchange: () => void this.redraw() }, ...AOVS.map(([value, text]) => el("option", { value }, text)));
  private readonly size = el("select", { "aria-label": "Size", onchange: () => void this.resized() }, ...SIZES.map((value) => el("option", { value }, value)));
  private readonly structure = el("select", { "aria-label": "Structure", title: "Where rays start", hidden: true, onchange: () => this.startIn(Number(this.structure.value)) });
  private readonly memory = button("Memory…", () => this.showMemory(), { title: "Addresses, headers of a driver, more pieces of the image" });
  private readonly x = el("input", { type: "number", min: 0, class: "narrow", "aria-label": "Pixel x", onchange: () => this.typed() });
  private readonly y = el("input", { type: "number", min: 0, class: "narrow", "aria-label": "Pixel y", onchange: () => this.typed() });
  private readonly backs = el("input", { type: "checkbox", onchange: () => void this.again() });
  private readonly exercise: RayExercise;
  private readonly difference = el("p", { class: "note" });
  private readonly places: Record<Space, HTMLElement> = {
    picture: el("div", { class: "place" }),
    space: el("div", { class: "place" }, this.space.element),
    compare: el("div", { class: "place compare" }),
  };
  private readonly placeButtons: Record<Space, HTMLButtonElement> = {
    picture: button("Picture", () => this.place("picture"), { "aria-pressed": "true" }),
    space: button("3D", () => this.place("space"), { "aria-pressed": "false", title: "Boxes and triangles in 3D (v goes on)" }),
    compare: button("Side by side", () => this.place("compare"), { "aria-pressed": "false" }),
  };
  private readonly lower: Record<string, { button: HTMLButtonElement; pane: HTMLElement }> = {};
  private readonly body: HTMLElement;
  private readonly empty: HTMLElement;
  private first: Opened | undefined;
  private second: Opened | undefined;
  private example: Example | undefined;
  private camera: Camera | undefined;
  /** Nobody has moved the camera: the library's own is asked for by leaving it out, which gives its very bits. */
  private whole = true;
  private pixel: { x: number; y: number } | undefined;
  private chosen = -1;
  private shownPlace: Space = "picture";
  /** The next file is the one to compare with. */
  private wantsSecond = false;
  private pending: Record<string, unknown> | undefined;
  private still: number | undefined;
  private asked = 0;
  /** What the machine was last watched for. */
  private told = "";
  private image: string | undefined;
  private packed: Packed | undefined;
  readonly keys: readonly Key[];

  constructor(
    host: HTMLElement,
    private readonly page: Page,
  ) {
    const lower = el("div", { class: "lower" });
    const tabs = el("div", { class: "row subtabs" });
    for (const [id, title, pane] of [
      ["tree", "Tree", this.tree.element],
      ["findings", "Findings", this.findings],
      ["figures", "Figures", this.figures],
      ["node", "Node", this.node],
      ["why", "Machine", this.why],
    ] as const) {
      const tab = button(title, () => this.showLower(id), { "aria-pressed": "false" });
      this.lower[id] = { button: tab, pane };
      tabs.append(tab);
      lower.append(pane);
    }
    this.size.value = "640x360";
    this.exercise = new RayExercise({
      record: (place) => this.recordOf(place),
      place: () => this.rayPlace(),
      step: () => this.ray.step,
      changed: () => this.page.changed(),
      save: () => this.guard(this.saveExercise()),
      fail: (error) => this.page.complain(error),
    });
    this.places.picture.append(this.picture.element);
    this.body = el(
      "div",
      { class: "bvh-body", hidden: true },
      el(
        "div",
        { class: "bvh-bar" },
        this.name,
        this.structure,
        el("span", { class: "segmented", role: "group", "aria-label": "Place" }, ...Object.values(this.placeButtons)),
        this.aov,
        this.size,
        el("label", { title: "Flag CULL_BACK_FACING: backs of one-sided triangles are not there" }, this.backs, " cull backs"),
        button("Whole scene", () => void this.frame(), { title: "The camera that sees everything (f)" }),
        el("span", { class: "pixel" }, "pixel ", this.x, this.y),
        button("Compare…", () => this.compare(), { title: "Open a second image beside this one" }),
        button("Exercise…", () => this.exercise.edit(), { title: "Ask about the ray of this pixel: a link that grades itself" }),
        this.memory,
        button("Save image", () => void this.saveImage(), { title: "The BVH image as a file, for facet bvh" }),
        this.scene.element,
      ),
      el("div", { class: "bvh-left" }, el("div", { class: "upper" }, ...Object.values(this.places)), tabs, lower),
      this.ray.element,
    );
    this.empty = el(
      "div",
      { class: "bvh-empty" },
      el("h2", {}, "No image yet"),
      el("p", {}, "Open a scene (.glb, .gltf, .obj, .ply, .stl, with the files that it names), a BVH image of GFX12 (.gfx12) or XPHMG_RT (.tiles), a capture (.rra), or the buffers of a driver (.bin)."),
      el("p", { class: "row" }, button("Open a file…", () => this.page.choose(), { class: "primary" }), ...EXAMPLES.map((name) => button(`Example: ${name}`, () => this.guard(this.openExample(name))))),
    );
    host.append(this.empty, el("div", { class: "bvh" }, this.exercise.element, this.body));
    this.place("picture");
    this.showLower("tree");
    this.keys = [
      { key: "ArrowLeft", text: "Step of the ray back", run: () => this.ray.go(this.ray.step - 1) },
      { key: "ArrowRight", text: "Step of the ray", run: () => this.ray.go(this.ray.step + 1) },
      { key: "Home", text: "First step", run: () => this.ray.go(0) },
      { key: "End", text: "Last step", run: () => this.ray.go(Infinity) },
      { key: " ", text: "Play the steps, or stop", run: () => this.ray.togglePlay() },
      { key: "b", text: "Bits or decimal numbers", run: () => this.ray.toggleBits() },
      { key: "Shift+ArrowLeft", text: "Ray of the pixel to the left", run: () => this.move(-1, 0) },
      { key: "Shift+ArrowRight", text: "Ray of the pixel to the right", run: () => this.move(1, 0) },
      { key: "Shift+ArrowUp", text: "Ray of the pixel above", run: () => this.move(0, -1) },
      { key: "Shift+ArrowDown", text: "Ray of the pixel below", run: () => this.move(0, 1) },
      { key: "f", text: "The camera that sees everything", run: () => void this.frame() },
      { key: "a", text: "Next picture: surfaces, heat, depth…", run: () => this.nextAov() },
      { key: "v", text: "Picture, 3D, side by side", run: () => this.nextPlace() },
      { key: "Drag", text: "Turn the camera; the wheel goes nearer" },
    ];
  }

  /* ---- files and links ---- */

  async open(file: InputFile): Promise<void> {
    if (isExercise(file)) {
      const { "facet-ray": version, ...state } = JSON.parse(new TextDecoder().decode(file.bytes)) as Record<string, unknown>;
      if (version !== 1) {
        throw new Error("facet-ray: expected 1");
      }
      return this.restore(state);
    }
    refuse(file);
    const wanted = this.pending?.["file"] === file.name ? this.pending["place"] : undefined;
    /* `facet view` has said all there is to say. */
    const place = placeOf(file.made?.kind === "bvh" ? file.made : (wanted ?? { driver: "auto" }));
    const second = this.wantsSecond && this.first !== undefined;
    if (isScene(file)) {
      const opened = await this.reading(file.name, (call) => this.build(file, call));
      await this.take(opened, second);
      this.packed = second || opened.scene === undefined ? this.packed : pack(file);
    } else {
      const pieces = piecesOf(file.made, place, file.bytes);
      await this.take(await this.openInput({ name: file.name, bytes: file.bytes, place, ...(pieces === undefined ? {} : { pieces }) }), second);
    }
    if (!second) {
      await this.continuePending();
    }
  }

  /** The image that `facet bvh build` makes of a scene. A scene may be good for that alone: then there is just the image. */
  private async build(file: InputFile, call: CallOptions): Promise<{ bvh: Bvh; scene?: Scene }> {
    const { bvh, scenes } = this.page.engine;
    const files = { name: file.name, bytes: file.bytes, beside: file.beside ?? [] };
    const image = await scenes.build(files, call);
    try {
      return { scene: await scenes.open(files, call), bvh: await bvh.open(image) };
    } catch (error) {
      if (call.signal?.aborted === true) {
        throw error;
      }
      this.page.say("news", `no pictures by machines: ${error instanceof Error ? error.message : String(error)}`);
      return { bvh: await bvh.open(image) };
    }
  }

  /** Buffers of one dump: the dialogue asks where each lies, and knows it where a name says so. */
  openTogether(files: readonly InputFile[]): boolean {
    const [first] = files;
    if (first === undefined || !files.every(isBuffer)) {
      return false;
    }
    const pieces = files.map(({ name, bytes }) => ({ name, bytes, address: addressIn(name) }));
    showMemory({ name: first.name, bytes: first.bytes, place: { driver: "auto" }, pieces }, async (input) => this.openAgain(input));
    return true;
  }

  private async openInput(input: Input): Promise<Opened> {
    const opened = await this.reading(input.name, (call) => this.page.engine.bvh.open(input.bytes, input.place, call), input);
    const { structures } = opened.bvh;
    if (structures !== undefined && structures.left_out > 0) {
      this.page.say("news", `${input.name}: ${many(structures.left_out, "structure")} left out: at addresses of others before them`);
    } else if (structures !== undefined && input.place.driver === "auto") {
      this.page.say("news", `${input.name}: ${many(structures.structures.length, "structure")} of ${structures.driver}: ${structures.reason}`);
    }
    return opened;
  }

  /** The same bytes with other addresses, headers, or another structure to start in. */
  private async openAgain(input: Input): Promise<void> {
    const opened = await this.openInput(input);
    this.wantsSecond = false;
    await this.take(opened, false);
    this.page.changed();
  }

  private async openExample(name: Example): Promise<void> {
    const opened = await this.reading(name, async () => this.page.engine.bvh.build(exampleTriangles(name), "gfx12", "high"));
    await this.take(opened, false);
    this.example = name;
    this.page.changed();
  }

  /** Everything about an image that takes time, behind one bar. */
  private async reading(name: string, open: (call: CallOptions) => Promise<Bvh | { bvh: Bvh; scene?: Scene }>, input?: Input): Promise<Opened> {
    const cancel = new AbortController();
    const { signal } = cancel;
    const work = this.page.work(`Reading ${name}`, () => cancel.abort());
    const call = { signal, progress: (done: number, total: number) => work.progress(done / total) };
    let made: { bvh: Bvh; scene?: Scene } | undefined;
    try {
      const got = await open(call);
      made = "bvh" in got ? got : { bvh: got };
      const { bvh, scene } = made;
      const tree = await bvh.tree(call);
      const figures = await bvh.figures({ signal });
      const at = new Map<number, number>();
      for (let i = 0; i < tree.count; i++) {
        at.set(tree.offset[i] ?? 0, i);
      }
      return { name, input, bvh, source: bvh.format === "xphmg" ? new RtSource(bvh) : bvh, tree, figures, at, ...(scene === undefined ? {} : { scene }) };
    } catch (error) {
      made?.bvh.close().catch(() => undefined);
      throw error;
    } finally {
      work.done();
    }
  }

  private async take(opened: Opened, second: boolean): Promise<void> {
    this.wantsSecond = false;
    if (second) {
      void opened.scene?.close();
      void this.second?.bvh.close();
      this.second = opened;
      this.scene.byImage();
      this.showAllFigures();
      this.place("compare");
      await this.redraw();
      return;
    }
    void this.first?.bvh.close();
    void this.first?.scene?.close();
    void this.second?.bvh.close();
    this.first = opened;
    this.second = undefined;
    this.scene.show(opened.scene, opened.scene === undefined ? [] : await this.page.engine.scenes.machines());
    this.example = undefined;
    this.packed = undefined;
    this.image = opened.input !== undefined && opened.input.bytes.length <= MOST_IN_LINK ? toBase64(opened.input.bytes) : undefined;
    this.showStructures(opened);
    this.forgetPixel();
    this.exercise.clear();
    this.chosen = -1;
    showNode(this.node, undefined);
    this.picture.reset();
    this.other.reset();
    this.body.hidden = false;
    this.empty.hidden = true;
    this.name.textContent = opened.name;
    this.name.title = `${opened.bvh.format}, ${opened.bvh.size} bytes`;
    this.tree.show(opened.tree, opened.bvh.format);
    this.showAllFigures();
    for (const option of this.aov.options) {
      option.hidden = opened.bvh.format === "xphmg" && !RT_AOVS.includes(option.value);
    }
    this.tab("why", this.scene.machine !== undefined);
    if (opened.bvh.format === "xphmg" && !RT_AOVS.includes(this.aov.value)) {
      this.aov.value = "depth";
    }
    this.camera = await (this.source() ?? opened.source).camera();
    this.whole = true;
    this.place("picture");
    this.guard(this.tellLeftOut());
    this.guard(this.check(opened));
    await this.redraw();
  }

  /** The structures of a driver or a capture to choose from. */
  private showStructures({ bvh, input }: Opened): void {
    const { structures } = bvh;
    this.structure.hidden = structures === undefined;
    this.memory.hidden = bvh.format === "xphmg" || input === undefined || startsWith(input.bytes, "AMD_RDF ");
    put(
      this.structure,
      ...(structures?.structures ?? []).map((one) =>
        el("option", { value: one.index, selected: one.index === structures?.structure }, `${one.index}: ${one.kind}, ${one[one.contents] ?? "?"} ${one.contents}${one.root === null ? ", none active" : ""}`),
      ),
    );
  }

  private startIn(structure: number): void {
    const input = this.first?.input;
    if (input !== undefined) {
      this.guard(this.openAgain({ ...input, place: { ...input.place, structure } }));
    }
  }

  private showMemory(): void {
    const input = this.first?.input;
    if (input !== undefined) {
      showMemory(input, async (changed) => this.openAgain(changed));
    }
  }

  private showAllFigures(): void {
    if (this.first !== undefined) {
      showFigures(this.figures, [this.first.name, this.second?.name ?? ""], this.first.figures, this.second?.figures);
      const { structures } = this.first.bvh;
      add(this.figures, structures !== undefined && structuresTable(structures));
    }
  }

  private async check(opened: Opened): Promise<void> {
    const result = await opened.bvh.check();
    if (this.first === opened) {
      showFindings(this.findings, result, (finding) => {
        if (finding.node >= 0) {
          this.showLower("tree");
          this.tree.reveal(finding.node);
          this.choose(finding.node);
        }
      });
      const tab = this.lower["findings"]?.button;
      if (tab !== undefined) {
        tab.textContent = result.count > 0 ? `Findings (${result.count})` : "Findings";
      }
    }
  }

  state(): unknown {
    if (this.first === undefined) {
      return undefined;
    }
    return {
      ...(this.example !== undefined ? { example: this.example } : { file: this.first.name }),
      ...(this.image !== undefined ? { image: this.image } : {}),
      ...(this.packed !== undefined ? { scene: this.packed } : {}),
      ...(this.first.scene !== undefined ? { look: this.scene.state() } : {}),
      ...(this.first.input !== undefined ? { place: placeState(this.first.input.place) } : {}),
      ...(this.whole ? {} : { camera: this.camera }),
      ...(this.backs.checked ? { backs: false } : {}),
      aov: this.aov.value,
      size: this.size.value,
      ...(this.pixel !== undefined ? { pixel: [this.pixel.x, this.pixel.y], step: this.ray.step } : {}),
      ...(this.exercise.exercise === undefined ? {} : { exercise: this.exercise.state() }),
    };
  }

  private async saveExercise(): Promise<void> {
    if (this.first !== undefined) {
      const image = this.example === undefined ? { image: toBase64(await this.first.bvh.image()) } : {};
      this.page.save("ray.facet.json", `${JSON.stringify({ "facet-ray": 1, ...(this.state() as object), ...image }, null, 2)}\n`);
    }
  }

  async restore(state: unknown): Promise<void> {
    if (typeof state !== "object" || state === null) {
      throw new Error("the link says nothing about an image");
    }
    const wanted = state as Record<string, unknown>;
    const example = EXAMPLES.find((name) => name === wanted["example"]);
    this.pending = wanted;
    if (example !== undefined) {
      if (this.example !== example) {
        await this.openExample(example);
      }
      await this.continuePending();
    } else if (isPacked(wanted["scene"]) && this.first?.name !== wanted["file"]) {
      await this.open(unpack(wanted["scene"]));
    } else if (typeof wanted["image"] === "string" && typeof wanted["file"] === "string" && this.first?.name !== wanted["file"]) {
      await this.open({ name: String(wanted["file"]), bytes: fromBase64(wanted["image"]) });
    } else if (this.first !== undefined) {
      await this.continuePending();
    } else {
      throw new Error(`the link is about ${String(wanted["file"] ?? "an image")}; open that file, and it continues there`);
    }
  }

  /** What a link asked for once its image is there. All of it is from a URL: nothing is taken unseen. */
  private async continuePending(): Promise<void> {
    const wanted = this.pending;
    this.pending = undefined;
    if (wanted === undefined) {
      return;
    }
    const aov = AOVS.find(([name]) => name === wanted["aov"])?.[0];
    this.aov.value = aov ?? this.aov.value;
    this.size.value = SIZES.find((size) => size === wanted["size"]) ?? this.size.value;
    this.exercise.restore(wanted["exercise"]);
    const camera = cameraOf(wanted["camera"]);
    this.scene.restore(wanted["look"]);
    this.whole = camera === undefined;
    this.camera = camera ?? (await this.source()?.camera()) ?? this.camera;
    this.backs.checked = wanted["backs"] === false;
    const pixel = wanted["pixel"];
    const drawn = this.redraw();
    if (Array.isArray(pixel) && pixel.length === 2 && pixel.every((p) => Number.isInteger(p) && p >= 0 && p < MOST_PIXELS)) {
      await this.follow(Number(pixel[0]), Number(pixel[1]), Number.isInteger(wanted["step"]) ? Number(wanted["step"]) : 0);
    }
    await drawn;
  }

  shown(visible: boolean): void {
    if (!visible) {
      this.ray.stopPlay();
      this.picture.stop();
    } else if (this.first !== undefined && this.picture.picture === undefined) {
      void this.redraw();
    }
  }

  /* ---- the picture ---- */

  private get pixels(): { width: number; height: number } {
    const [width = 640, height = 360] = this.size.value.split("x").map(Number);
    return { width, height };
  }

  private get flags(): number {
    return this.backs.checked ? CULL_BACK_FACING : 0;
  }

  private drawing(aov: Aov): Drawing {
    return { ...this.pixels, aov, flags: this.flags, whole: this.whole };
  }

  /** Who draws the first image's picture, and who the one beside it: as long as nothing was chosen, its image. */
  private source(): Source | undefined {
    const { first } = this;
    const { machine, second, camera, light } = this.scene;
    /* The image's own picture, with the very bits of its own camera. */
    const plain = machine === undefined && second === undefined && camera < 0;
    return first?.scene === undefined || plain ? first?.source : new SceneSource(first.scene, first.bvh, light, machine);
  }

  private sourceBeside(): Source | undefined {
    const { first, second } = this;
    const machine = this.scene.second;
    return second?.source ?? (first?.scene === undefined || machine === undefined ? undefined : new SceneSource(first.scene, first.bvh, this.scene.light, machine));
  }

  private async tellLeftOut(): Promise<void> {
    const { scene } = this.first ?? {};
    const { machine } = this.scene;
    this.scene.tellLeftOut((await scene?.leftOut(machine)) ?? []);
  }

  /** Another machine draws, or the same with other options. */
  private async lit(): Promise<void> {
    this.guard(this.tellLeftOut());
    const beside = this.scene.second !== undefined;
    this.tab("why", this.scene.machine !== undefined);
    this.place(beside ? "compare" : this.shownPlace === "compare" && this.second === undefined ? "picture" : this.shownPlace);
    if (this.whole) {
      this.camera = (await this.source()?.camera()) ?? this.camera;
    }
    await this.again();
  }

  /** To the camera of the list. */
  private async home(): Promise<void> {
    this.camera = (await this.source()?.camera()) ?? this.camera;
    this.whole = true;
    await this.again();
  }

  private async redraw(preview = false): Promise<void> {
    const { camera } = this;
    const [source, beside] = [this.source(), this.sourceBeside()];
    if (source === undefined || camera === undefined) {
      return;
    }
    const work = preview ? undefined : this.page.work("Drawing", () => this.cancelDrawing());
    try {
      const aov = this.aov.value as Aov;
      const moved = !preview && source instanceof SceneSource && !isSame(this.picture.shownCamera, camera);
      if (moved && (await this.picture.draw(source, camera, this.drawing(aov), () => undefined, true)) === undefined) {
        return; /* coarse first, unless somebody wants another picture by then */
      }
      const left = await this.picture.draw(source, camera, this.drawing(aov), (part) => work?.progress(beside === undefined ? part : part / 2), preview);
      if (beside !== undefined && left !== undefined) {
        const right = await this.other.draw(beside, camera, this.drawing(aov), (part) => work?.progress(0.5 + part / 2), preview);
        if (right !== undefined && !preview) {
          this.difference.textContent = compared(left, right);
        }
      }
      this.lines();
      if (!preview) {
        this.page.changed();
      }
    } catch (error) {
      this.page.complain(error);
    } finally {
      work?.done();
    }
  }

  private cancelDrawing(): void {
    this.stop();
    this.picture.tellCancelled();
    this.other.tellCancelled();
  }

  private turn(camera: Camera): void {
    this.camera = { ...camera, fov: camera.fov || ANGLE };
    this.whole = false;
    void this.redraw(true);
    clearTimeout(this.still);
    this.still = window.setTimeout(() => void this.again(), STILL_MILLISECONDS);
  }

  private stop(): void {
    this.picture.stop();
    this.other.stop();
  }

  private async frame(): Promise<void> {
    this.scene.wholeScene();
    const source = this.source();
    if (source !== undefined) {
      this.camera = await source.camera();
      this.whole = true;
      this.space.look(this.camera);
      await this.again();
    }
  }

  /** The picture and the ray, with other flags. */
  private async again(): Promise<void> {
    this.space.cull(this.backs.checked);
    await this.redraw();
    if (this.pixel !== undefined) {
      await this.follow(this.pixel.x, this.pixel.y);
    }
  }

  private async resized(): Promise<void> {
    this.forgetPixel();
    this.stepped();
    await this.redraw();
  }

  private forgetPixel(): void {
    this.asked++;
    this.pixel = undefined;
    this.x.value = "";
    this.y.value = "";
    this.ray.clear("Click a pixel of the picture: its ray is followed node by node.");
  }

  private nextAov(): void {
    const at = AOVS.findIndex(([name]) => name === this.aov.value);
    this.aov.value = AOVS[(at + 1) % AOVS.length]?.[0] ?? "picture";
    void this.redraw();
  }

  /* ---- the ray ---- */

  private typed(): void {
    const { width, height } = this.pixels;
    const clamp = (text: string, most: number) => Math.min(Math.max(Math.trunc(Number(text)) || 0, 0), most - 1);
    void this.follow(clamp(this.x.value, width), clamp(this.y.value, height));
  }

  private move(dx: number, dy: number): void {
    const { width, height } = this.pixels;
    const from = this.pixel ?? { x: Math.floor(width / 2), y: Math.floor(height / 2) };
    void this.follow(Math.min(Math.max(from.x + dx, 0), width - 1), Math.min(Math.max(from.y + dy, 0), height - 1));
  }

  /** Which ray is looked at, as an exercise has it. */
  private rayPlace(): RayPlace | undefined {
    return this.pixel === undefined
      ? undefined
      : { size: this.size.value, pixel: [this.pixel.x, this.pixel.y], ...(this.whole || this.camera === undefined ? {} : { camera: this.camera }), ...(this.backs.checked ? { backs: false } : {}) };
  }

  private async recordOf(place: RayPlace): Promise<RayRecord | undefined> {
    const [width = 0, height = 0] = place.size.split("x").map(Number);
    const ray = await this.first?.source.pixelRay(...place.pixel, width, height, cameraOf(place.camera));
    return ray === undefined ? undefined : this.first?.source.explain(ray, { flags: place.backs === false ? CULL_BACK_FACING : 0 });
  }

  private async follow(x: number, y: number, step = 0): Promise<void> {
    const { camera } = this;
    const source = this.source();
    if (source === undefined || camera === undefined) {
      return;
    }
    const ask = ++this.asked;
    this.pixel = { x, y };
    this.x.value = String(x);
    this.y.value = String(y);
    const { width, height } = this.pixels;
    try {
      const ray = await source.pixelRay(x, y, width, height, this.whole ? undefined : camera);
      const record = await source.explain(ray, { flags: this.flags });
      if (ask === this.asked) {
        this.ray.show(`Ray of pixel (${x}, ${y})`, record, step, this.command(x, y, ray));
        this.markTree();
        this.page.changed();
        await this.tellPixel();
      }
    } catch (error) {
      if (ask === this.asked) {
        this.ray.clear(error instanceof Error ? error.message : String(error));
      }
    }
  }

  /** What `facet why` says of the machine that draws, once somebody looks: a program on the hart is watched step by step. */
  private async tellPixel(): Promise<void> {
    const source = this.source();
    const { pixel } = this;
    const { scene } = this.first ?? {};
    const { machine } = this.scene;
    if (this.why.hidden || pixel === undefined || scene === undefined || machine === undefined || !(source instanceof SceneSource)) {
      return;
    }
    const { width, height } = this.pixels;
    const look = source.look(width, height, this.whole ? undefined : this.camera);
    const question = JSON.stringify([this.first?.name, machine.name, look, pixel]);
    if (question === this.told) {
      return;
    }
    this.told = question;
    this.why.textContent = "…";
    const cancel = new AbortController();
    const work = this.page.work(`Watching ${machine.name}`, () => cancel.abort());
    let text: string;
    try {
      text = await scene.why(machine, look, pixel.x, pixel.y, false, { signal: cancel.signal });
    } catch (error) {
      text = error instanceof Error ? error.message : String(error);
      this.told = this.told === question ? "" : this.told; /* it may be asked again */
    } finally {
      work.done();
    }
    if (this.told === question || this.told === "") {
      this.why.textContent = text;
    }
  }

  /** The same question to the program. */
  private command(x: number, y: number, ray: Ray): string {
    if (this.first?.bvh.format === "xphmg") {
      const numbers = [...ray.origin, ...ray.direction].map((x) => Number(x.toPrecision(9)));
      return `facet rt why --tiles ${this.first.name} --ray "${numbers.join(" ")}"${this.backs.checked ? " --flags cull_back" : ""}`;
    }
    const { machine } = this.scene;
    const { input, name = "" } = this.first ?? {};
    const image = input === undefined ? [`${name.replace(/\.[^.]*$/, "")}.gfx12`] : commandWords(input);
    const where = [`--pixel ${x},${y}`, `--size ${this.size.value}`];
    const words = machine !== undefined ? ["facet why", name, ...where, ...this.scene.words(machine)] : ["facet bvh why", ...image, ...where];
    if (!this.whole && this.camera !== undefined) {
      const { eye, lookAt, up, fov } = this.camera;
      words.push(`--eye ${eye.join(",")}`, `--look-at ${lookAt.join(",")}`, `--up ${up.join(",")}`, `--fov ${fov}`);
    }
    if (this.flags !== 0 && machine === undefined) {
      words.push(`--flags 0x${this.flags.toString(16)}`);
    }
    return words.join(" ");
  }

  private stepped(): void {
    this.lines();
    const step = this.ray.shown?.steps[this.ray.step];
    if (step !== undefined && (this.lower["tree"]?.pane.hidden === false || this.lower["node"]?.pane.hidden === false)) {
      this.revealStep(step);
    }
    this.page.changed();
  }

  private nodeOf(step: RayStep): number {
    const offset = step.image_offset === undefined ? NaN : Number(step.image_offset);
    return this.first?.at.get(offset) ?? -1;
  }

  private revealStep(step: RayStep): void {
    const node = this.nodeOf(step);
    if (node >= 0) {
      if (this.lower["node"]?.pane.hidden !== false) {
        this.showLower("tree");
      }
      this.tree.reveal(node);
      this.choose(node);
    }
  }

  private markTree(): void {
    const marks = new Map<number, string>();
    for (const step of this.ray.shown?.steps ?? []) {
      const node = this.nodeOf(step);
      const hit = step.kind === "primitive" ? number(step["t_before"] as never) !== number(step["t_after"] as never) : children(step).some((child) => child.hit);
      if (node >= 0) {
        marks.set(node, hit || marks.get(node) === "hit" ? "hit" : "missed");
      }
    }
    this.tree.mark(marks);
  }

  private choose(node: number): void {
    this.chosen = node;
    this.lines();
    this.guard(this.tellNode());
  }

  /** The chosen node as the program's dump has it. */
  private async tellNode(): Promise<void> {
    const { first, chosen } = this;
    const record = first === undefined || chosen < 0 ? undefined : await first.bvh.node(chosen);
    if (this.first === first && this.chosen === chosen) {
      showNode(this.node, record);
    }
  }

  /** The boxes of the step and of the chosen node, over the picture and in 3D. */
  private lines(): void {
    const boxes: BoxLines[] = [];
    const record = this.ray.shown;
    const step = record?.steps[this.ray.step];
    let ray: [number[], number[]] | undefined;
    if (record !== undefined && step !== undefined) {
      const toWorld = toWorldOf(record, this.ray.step, true);
      for (const child of children(step)) {
        if (child.cull !== "empty" && child.lo.length === 3) {
          boxes.push({ corners: corners(child.lo.map(number), child.hi.map(number), toWorld), kind: child.hit ? "hit" : "culled" });
        }
      }
      const begin = record.steps[0]?.ray;
      const t = number(record.result["t"] as never);
      if (begin !== undefined) {
        const far = Number.isFinite(t) ? t : Number.isFinite(number(begin.extent)) ? number(begin.extent) : 1e3;
        const o = begin.origin.map(number);
        ray = [o, o.map((x, i) => x + far * number(begin.direction[i]))];
      }
    }
    if (record !== undefined && step !== undefined) {
      boxes.push(...this.boxOf(this.nodeOf(step), "current", toWorldOf(record, this.ray.step)));
    }
    if (step === undefined || this.chosen !== this.nodeOf(step)) {
      boxes.push(...this.boxOf(this.chosen, "chosen"));
    }
    this.picture.show(boxes, this.pixel);
    this.other.show([], this.pixel);
    this.space.show(boxes, ray);
  }

  /** The box of a node: where the ray met it, or where the first instance of its level stands. */
  private boxOf(node: number, kind: BoxLines["kind"], met?: readonly number[]): BoxLines[] {
    const tree = this.first?.tree;
    if (tree === undefined || node < 0) {
      return [];
    }
    const b = Array.from(tree.box.subarray(6 * node, 6 * node + 6));
    if (!((b[0] ?? 1) <= (b[3] ?? 0))) {
      return [];
    }
    const level = tree.level[node] ?? 0;
    const instance = tree.levels[level]?.instances[0];
    const rows = met ?? (instance === undefined ? undefined : rowsOf(tree, tree.instanceNodes.indexOf(instance)));
    return [{ corners: corners(b.slice(0, 3), b.slice(3), tree.kind[node] === NodeKind.Instance && level === 0 ? undefined : rows), kind }];
  }

  /* ---- places ---- */

  private place(place: Space): void {
    this.shownPlace = place;
    for (const [name, host] of Object.entries(this.places)) {
      host.hidden = name !== place;
      this.placeButtons[name as Space].setAttribute("aria-pressed", String(name === place));
    }
    if (place === "compare") {
      put(
        this.places.compare,
        el("figure", {}, el("figcaption", {}, this.scene.second === undefined ? (this.first?.name ?? "") : (this.scene.machine?.name ?? "the image")), this.picture.element),
        this.second === undefined && this.scene.second !== undefined
          ? el("figure", {}, el("figcaption", {}, this.scene.second.name), this.other.element)
          : this.second === undefined
          ? el("div", { class: "empty" }, el("p", {}, "No second image."), button("Open a second image…", () => this.compare()))
          : el("figure", {}, el("figcaption", {}, this.second.name, button("Swap", () => this.guard(this.swap()), { title: "Tree and ray of this image; the other one beside it" })), this.other.element),
        this.difference,
      );
    } else if (place === "picture") {
      this.places.picture.append(this.picture.element);
    } else {
      this.guard(this.loadSpace());
    }
  }

  /** The second image becomes the one of tree and ray. */
  private async swap(): Promise<void> {
    const { first, second, pixel } = this;
    if (first === undefined || second === undefined) {
      return;
    }
    const camera = this.camera;
    const whole = this.whole;
    this.first = undefined; /* nobody closes it */
    this.second = undefined;
    await this.take(second, false);
    await this.take(first, true);
    this.camera = camera;
    this.whole = whole;
    await this.redraw();
    if (pixel !== undefined) {
      await this.follow(pixel.x, pixel.y);
    }
  }

  private nextPlace(): void {
    const names: Space[] = ["picture", "space", "compare"];
    this.place(names[(names.indexOf(this.shownPlace) + 1) % names.length] ?? "picture");
  }

  private async loadSpace(): Promise<void> {
    const { first, camera } = this;
    if (first === undefined || camera === undefined) {
      return;
    }
    const cancel = new AbortController();
    const work = this.page.work("Bringing the triangles", () => cancel.abort());
    try {
      await this.space.load(first.bvh, first.tree, camera, cancel.signal, (part) => work.progress(part));
      this.space.resize();
      this.lines();
    } finally {
      work.done();
    }
  }

  /** Shows the tab of a list below, or takes it away. */
  private tab(id: string, on: boolean): void {
    const one = this.lower[id];
    if (one !== undefined) {
      one.button.hidden = !on;
      if (!on && !one.pane.hidden) {
        this.showLower("tree");
      }
    }
  }

  private showLower(id: string): void {
    for (const [name, { button: tab, pane }] of Object.entries(this.lower)) {
      pane.hidden = name !== id;
      tab.setAttribute("aria-pressed", String(name === id));
    }
    this.guard(this.tellPixel());
  }

  private compare(): void {
    this.wantsSecond = true;
    this.page.say("news", "The next image that you open or drop stands beside this one.");
    this.page.choose();
  }

  private async saveImage(): Promise<void> {
    if (this.first !== undefined) {
      const { bvh, input, name } = this.first;
      const own = input !== undefined && (bvh.structures !== undefined || input.pieces !== undefined);
      this.page.save(own ? name : `${name.replace(/\.[^.]*$/, "")}.${bvh.format === "gfx12" ? "gfx12" : "tiles"}`, await bvh.image());
    }
  }

  private guard(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.page.complain(error));
  }
}

function many(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** How two pictures differ, and what they took where rays were counted. */
function compared(left: Picture, right: Picture): string {
  let differs = 0;
  for (let i = 0; i < left.rgba.length; i += 4) {
    differs += left.rgba[i] !== right.rgba[i] || left.rgba[i + 1] !== right.rgba[i + 1] || left.rgba[i + 2] !== right.rgba[i + 2] ? 1 : 0;
  }
  const nodes = (one: Picture): string => (one.nodes / one.rays).toFixed(3);
  const rays = left.rays > 0 && right.rays > 0 ? `; nodes per ray ${nodes(left)} and ${nodes(right)}` : "";
  return `${differs} of ${left.width * left.height} pixels differ${rays}`;
}

function pack(file: InputFile): Packed | undefined {
  const files = [file, ...(file.beside ?? [])];
  const size = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
  return size <= MOST_IN_LINK ? files.map(({ name, bytes }) => [name, toBase64(bytes)] as const) : undefined;
}

function isPacked(value: unknown): value is Packed {
  return Array.isArray(value) && value.length > 0 && value.every((one) => Array.isArray(one) && one.length === 2 && one.every((text) => typeof text === "string"));
}

function unpack(packed: Packed): InputFile {
  const [file, ...beside] = packed.map(([name, data]) => ({ name, bytes: fromBase64(data) }));
  return { ...file!, beside };
}

function isSame(a: Camera | undefined, b: Camera): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function cameraOf(value: unknown): Camera | undefined {
  const isPoint = (p: unknown): p is [number, number, number] => Array.isArray(p) && p.length === 3 && p.every((x) => typeof x === "number" && Number.isFinite(x));
  if (typeof value !== "object" || value === null) {
    return undefined;
  }
  const { eye, lookAt, up, fov } = value as Record<string, unknown>;
  return isPoint(eye) && isPoint(lookAt) && isPoint(up) && typeof fov === "number" && fov > 0 && fov < 180 ? { eye, lookAt, up, fov } : undefined;
}
