/* The picture: the hart's framebuffer, what `--out` names of a kernel, or the frame of a command list after any of its commands. */

import type { Frame } from "../engine/machines.ts";
import { button, el, put } from "../shell/dom.ts";
import type { Desk, Look, Panel } from "./panel.ts";

export class Picture implements Panel {
  readonly id = "picture";
  readonly title = "Picture";
  readonly element = el("div", { class: "panel-body picture-panel" });
  private readonly canvas = el("canvas", { width: 1, height: 1, role: "img", "aria-label": "Picture", tabindex: 0 });
  private readonly zoom = el("select", { "aria-label": "Zoom", onchange: () => this.fit() });
  private readonly place = el("span", { class: "mono quiet" });
  private readonly empty = el("p", { class: "quiet" });
  private readonly scroll = el("div", { class: "picture-scroll" }, this.canvas);
  private frame: Frame | null = null;

  constructor(
    private readonly desk: Desk,
    private readonly save: (name: string, bytes: Uint8Array) => void,
    /** A pixel was chosen. */
    private readonly chosen: (x: number, y: number) => void,
  ) {
    this.zoom.append(...["fit", "1", "2", "4", "8", "16"].map((size) => el("option", { value: size }, size === "fit" ? "fit" : `${size}×`)));
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => put(this.place));
    this.canvas.addEventListener("click", (event) => {
      const at = this.pixel(event);
      if (at !== undefined) {
        this.chosen(at.x, at.y);
      }
    });
    this.element.append(
      el("div", { class: "panel-tools" }, el("label", {}, "Zoom ", this.zoom), button("Save PNG", () => this.keep()), this.place),
      this.empty,
      this.scroll,
    );
    new ResizeObserver(() => this.fit()).observe(this.scroll);
  }

  async show(look: Look | undefined): Promise<void> {
    this.frame = look === undefined ? null : await look.session.frame();
    this.scroll.hidden = this.frame === null;
    this.empty.hidden = this.frame !== null;
    if (this.frame === null) {
      put(
        this.empty,
        look?.session.desc.kind === "tile"
          ? "No picture: the option --out ADDR,WxH says where one lies, such as --out target,64x48."
          : "No picture: a program of the hart shows one by the registers of the framebuffer at 0x11000000.",
      );
      return;
    }
    this.canvas.width = this.frame.width;
    this.canvas.height = this.frame.height;
    this.canvas.getContext("2d")?.putImageData(new ImageData(this.frame.rgba, this.frame.width, this.frame.height), 0, 0);
    this.canvas.setAttribute("aria-label", `Picture, ${this.frame.width} by ${this.frame.height} pixels`);
    this.fit();
  }

  /** The size on the screen: whole pixels where there is room. The canvas has no style of its own but these two properties. */
  private fit(): void {
    const frame = this.frame;
    if (frame === null) {
      return;
    }
    const room = Math.min((this.scroll.clientWidth - 4) / frame.width, (this.scroll.clientHeight - 4) / frame.height);
    const scale = this.zoom.value !== "fit" ? Number(this.zoom.value) : room >= 1 ? Math.floor(room) : Math.max(room, 0.05);
    this.canvas.style.setProperty("width", `${frame.width * scale}px`);
    this.canvas.style.setProperty("height", `${frame.height * scale}px`);
  }

  private pixel(event: MouseEvent): { x: number; y: number } | undefined {
    if (this.frame === null) {
      return undefined;
    }
    const box = this.canvas.getBoundingClientRect();
    const x = Math.floor(((event.clientX - box.left) * this.frame.width) / box.width);
    const y = Math.floor(((event.clientY - box.top) * this.frame.height) / box.height);
    return x >= 0 && y >= 0 && x < this.frame.width && y < this.frame.height ? { x, y } : undefined;
  }

  private point(event: MouseEvent): void {
    const at = this.pixel(event);
    if (at === undefined || this.frame === null) {
      put(this.place);
      return;
    }
    const i = 4 * (at.y * this.frame.width + at.x);
    const colour = [...this.frame.rgba.slice(i, i + 3)].map((c) => c.toString(16).padStart(2, "0")).join("");
    put(this.place, `${at.x},${at.y}  #${colour}`);
  }

  private keep(): void {
    if (this.frame === null) {
      return;
    }
    this.canvas.toBlob((blob) => {
      blob?.arrayBuffer().then(
        (bytes) => this.save("picture.png", new Uint8Array(bytes)),
        (error: unknown) => this.desk.fail(error),
      );
    });
  }
}
