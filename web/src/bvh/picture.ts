/* The picture of an image: drawn in the worker row by row, boxes and a cross over it, a click for a ray, a drag to turn. */

import { el, svg } from "../shell/dom.ts";
import type { Aov, Camera, Picture } from "../engine/types.ts";
import { orbit, Projection } from "./camera.ts";
import { EDGES } from "./record.ts";
import type { Source } from "./rt.ts";

/** A box to draw over the picture: eight corners in the world, and a class that gives it its colour. */
export interface BoxLines {
  readonly corners: readonly (readonly number[])[];
  readonly kind: "hit" | "culled" | "current" | "chosen";
}

/** What a picture is of. */
export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly aov: Aov;
  readonly flags: number;
  /** The library's own camera, which sees everything. */
  readonly whole: boolean;
}

export interface PictureEvents {
  pixel(x: number, y: number): void;
  camera(camera: Camera): void;
}

/** A pointer that moves less is a click. */
const CLICK_PIXELS = 4;
/** While the camera moves: so many pixels less in each direction. */
const PREVIEW = 4;

export class PictureArea {
  readonly canvas = el("canvas", { class: "picture", tabindex: 0, role: "img", "aria-label": "Picture of the image. A click shows the ray of a pixel; arrow keys with Shift move it." });
  private readonly lines = svg("svg", { class: "over", "aria-hidden": "true", preserveAspectRatio: "none" });
  private readonly legend = el("div", { class: "legend", "aria-live": "polite" });
  readonly element = el("div", { class: "picture-area" }, el("div", { class: "picture-frame" }, this.canvas, this.lines), this.legend);
  private running: AbortController | undefined;
  private boxes: readonly BoxLines[] = [];
  private cross: { x: number; y: number } | undefined;
  private camera: Camera | undefined;
  private size = { width: 640, height: 360 };
  picture: Picture | undefined;

  constructor(private readonly events: PictureEvents) {
    this.listen();
  }

  get shownCamera(): Camera | undefined {
    return this.camera;
  }

  /** Draws; an older drawing that still runs is given up. Resolves to undefined when this one was. */
  async draw(
    bvh: Source,
    camera: Camera,
    drawing: Drawing,
    progress: (part: number) => void,
    preview = false,
  ): Promise<Picture | undefined> {
    this.running?.abort();
    const running = new AbortController();
    this.running = running;
    this.canvas.setAttribute("aria-busy", "true");
    if (!preview) {
      this.legend.replaceChildren(el("span", {}, "Drawing…"));
    }
    this.camera = camera;
    this.size = { width: drawing.width, height: drawing.height };
    const width = preview ? Math.max(1, Math.round(drawing.width / PREVIEW)) : drawing.width;
    const height = preview ? Math.max(1, Math.round(drawing.height / PREVIEW)) : drawing.height;
    try {
      let begun = false;
      const picture = await bvh.picture({
        width,
        height,
        ...(drawing.whole ? {} : { camera }),
        aov: drawing.aov,
        coarse: preview,
        progress: (done, total) => progress(done / total),
        flags: drawing.flags,
        signal: running.signal,
        rows: (part, first, count) => {
          if (running.signal.aborted) {
            return;
          }
          if (!begun && !preview) {
            begun = true;
            this.resize(width, height);
          }
          if (begun) {
            this.paint(part, first, count);
          }
          if (count < height) {
            progress((first + count) / height);
          }
        },
      });
      if (running.signal.aborted) {
        return undefined;
      }
      this.resize(width, height);
      this.paint(picture, 0, height);
      if (!preview) {
        this.picture = picture;
        this.tell(picture, drawing.aov);
      }
      this.over();
      this.canvas.setAttribute("aria-busy", "false");
      return picture;
    } catch (error) {
      if (running.signal.aborted) {
        return undefined;
      }
      throw error;
    }
  }

  /** What was drawn so far stays. */
  stop(): void {
    this.running?.abort();
    this.canvas.setAttribute("aria-busy", "false");
  }

  /** Nothing is left of the image before. */
  reset(): void {
    this.stop();
    this.picture = undefined;
    this.camera = undefined;
    this.canvas.getContext("2d")?.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.legend.replaceChildren();
    this.show([], undefined);
  }

  tellCancelled(): void {
    this.legend.replaceChildren(el("span", {}, "Cancelled: choose a picture, or Whole scene, to draw again."));
  }

  show(boxes: readonly BoxLines[], cross: { x: number; y: number } | undefined): void {
    this.boxes = boxes;
    this.cross = cross;
    this.over();
  }

  private resize(width: number, height: number): void {
    if (this.canvas.width !== width || this.canvas.height !== height) {
      /* What is there stays to be seen until the new rows come. */
      const old = document.createElement("canvas");
      old.width = this.canvas.width;
      old.height = this.canvas.height;
      old.getContext("2d")?.drawImage(this.canvas, 0, 0);
      this.canvas.width = width;
      this.canvas.height = height;
      this.canvas.getContext("2d")?.drawImage(old, 0, 0, width, height);
    }
  }

  private paint(picture: Picture, first: number, count: number): void {
    const stride = picture.width * 4;
    const part = new Uint8ClampedArray(picture.rgba.slice(first * stride, (first + count) * stride));
    if (count > 0) {
      /* What is transparent is not drawn yet: there the old picture stays. */
      const fresh = new OffscreenCanvas(picture.width, count);
      fresh.getContext("2d")?.putImageData(new ImageData(part, picture.width, count), 0, 0);
      this.canvas.getContext("2d")?.drawImage(fresh, 0, first);
    }
  }

  private tell(picture: Picture, aov: Aov): void {
    const counted = aov === "nodes" || aov === "triangles";
    const nodes = picture.nodes > 0 ? `, ${(picture.nodes / picture.rays).toFixed(2)} nodes per ray` : "";
    const text = picture.text ?? `${picture.width} × ${picture.height}, ${picture.rays} rays, ${picture.hits} hit${nodes}`;
    this.legend.replaceChildren(
      el("span", {}, text),
      ...(counted ? [el("span", { class: "scale" }, "0 ", el("span", { class: "ramp", "aria-hidden": "true" }), ` ${picture.heatMax} ${aov}`)] : []),
    );
  }

  private over(): void {
    const { width, height } = this.size;
    this.lines.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.lines.replaceChildren();
    if (this.camera === undefined) {
      return;
    }
    const projection = new Projection(this.camera, width, height);
    for (const box of this.boxes) {
      let path = "";
      for (const [a, b] of EDGES) {
        const line = projection.line(box.corners[a] ?? [], box.corners[b] ?? []);
        if (line !== undefined && line.every((x) => Math.abs(x) < 1e5)) {
          path += `M${line[0].toFixed(2)} ${line[1].toFixed(2)}L${line[2].toFixed(2)} ${line[3].toFixed(2)}`;
        }
      }
      this.lines.append(svg("path", { d: path, class: `box under` }), svg("path", { d: path, class: `box ${box.kind}` }));
    }
    if (this.cross !== undefined) {
      const x = this.cross.x + 0.5;
      const y = this.cross.y + 0.5;
      const r = height / 40;
      const path = `M${x - r} ${y}H${x - r / 4}M${x + r / 4} ${y}H${x + r}M${x} ${y - r}V${y - r / 4}M${x} ${y + r / 4}V${y + r}`;
      this.lines.append(svg("path", { d: path, class: "box under" }), svg("path", { d: path, class: "cross" }));
    }
  }

  private at(event: MouseEvent): { x: number; y: number } {
    const box = this.canvas.getBoundingClientRect();
    const clamp = (x: number, most: number) => Math.min(Math.max(Math.floor(x), 0), most - 1);
    return {
      x: clamp(((event.clientX - box.left) / box.width) * this.size.width, this.size.width),
      y: clamp(((event.clientY - box.top) / box.height) * this.size.height, this.size.height),
    };
  }

  private listen(): void {
    let from: { x: number; y: number; camera: Camera } | undefined;
    let moved = false;
    this.canvas.addEventListener("pointerdown", (event) => {
      if (event.button === 0 && this.camera !== undefined) {
        from = { x: event.clientX, y: event.clientY, camera: this.camera };
        moved = false;
        this.canvas.setPointerCapture(event.pointerId);
      }
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (from === undefined) {
        return;
      }
      const dx = event.clientX - from.x;
      const dy = event.clientY - from.y;
      moved ||= Math.hypot(dx, dy) >= CLICK_PIXELS;
      if (moved) {
        this.events.camera(orbit(from.camera, -dx * 0.4, dy * 0.4, 1));
      }
    });
    this.canvas.addEventListener("pointerup", (event) => {
      if (from !== undefined && !moved) {
        const { x, y } = this.at(event);
        this.events.pixel(x, y);
      }
      from = undefined;
    });
    this.canvas.addEventListener(
      "wheel",
      (event) => {
        if (this.camera !== undefined) {
          event.preventDefault();
          this.events.camera(orbit(this.camera, 0, 0, Math.exp(Math.sign(event.deltaY) * 0.12)));
        }
      },
      { passive: false },
    );
  }
}
