/* Controls over a record of values: what a link holds and restores. */

import { el } from "../shell/dom.ts";

type Values = Record<string, string | boolean>;
export type Choices = readonly (readonly [value: string, text: string])[];

export class Form<V extends Values> {
  private readonly controls = new Map<keyof V, HTMLInputElement | HTMLSelectElement>();
  private readonly problems = new Map<keyof V, HTMLElement>();

  constructor(
    readonly values: V,
    private readonly changed: (key: keyof V) => void,
  ) {}

  select(key: keyof V & string, label: string, choices: Choices): HTMLElement {
    const control = el("select", { id: `play-${key}`, onchange: () => this.take(key, control.value) }, ...choices.map(([value, text]) => el("option", { value }, text)));
    return this.add(key, label, control);
  }

  text(key: keyof V & string, label: string, attributes: Record<string, string | number> = {}): HTMLElement {
    const control = el("input", {
      id: `play-${key}`,
      type: "text",
      autocomplete: "off",
      spellcheck: "false",
      "aria-describedby": `play-${key}-problem`,
      ...attributes,
      oninput: () => this.take(key, control.value),
    });
    const problem = el("span", { class: "problem", id: `play-${key}-problem`, role: "alert" });
    this.problems.set(key, problem);
    const field = this.add(key, label, control);
    field.append(problem);
    return field;
  }

  check(key: keyof V & string, label: string): HTMLElement {
    const control = el("input", { id: `play-${key}`, type: "checkbox", onchange: () => this.take(key, control.checked) });
    this.controls.set(key, control);
    this.show(key);
    return el("label", { class: "check" }, control, " ", label);
  }

  private add(key: keyof V & string, label: string, control: HTMLInputElement | HTMLSelectElement): HTMLElement {
    this.controls.set(key, control);
    this.show(key);
    return el("div", { class: "control" }, el("label", { for: `play-${key}` }, label), control);
  }

  private take(key: keyof V, value: string | boolean): void {
    (this.values as Values)[key as string] = value;
    this.changed(key);
  }

  /** Shows a value; nobody is told. */
  set(key: keyof V, value: V[typeof key]): void {
    this.values[key] = value;
    this.show(key);
  }

  private show(key: keyof V): void {
    const control = this.controls.get(key);
    const value = this.values[key];
    if (control instanceof HTMLInputElement && control.type === "checkbox") {
      control.checked = value === true;
    } else if (control !== undefined && typeof value === "string" && control.value !== value) {
      control.value = value;
    }
  }

  /** A text beneath a field that cannot be read; "" takes it away. */
  problem(key: keyof V, text: string): void {
    const place = this.problems.get(key);
    if (place !== undefined) {
      place.textContent = text;
      this.controls.get(key)?.setAttribute("aria-invalid", String(text !== ""));
    }
  }

  /** Values from a link: anything at all. What has no place here, or another type, is an error. */
  restore(state: unknown): void {
    if (state === null || typeof state !== "object") {
      throw new Error("the link says nothing that this view knows");
    }
    for (const [key, value] of Object.entries(state)) {
      if (!(key in this.values)) {
        continue;
      }
      const control = this.controls.get(key);
      const fits = control instanceof HTMLSelectElement ? [...control.options].some((option) => option.value === value) : typeof value === typeof this.values[key];
      if (!fits) {
        throw new Error(`the link has ${JSON.stringify(value).slice(0, 40)} for ${key}`);
      }
      this.set(key, value as V[string]);
    }
  }
}

/** Runs the last question only: earlier answers that come late are dropped. */
export class Latest {
  private number = 0;

  async ask<T>(question: () => Promise<T>, answer: (value: T) => void, failed: (error: Error) => void): Promise<void> {
    const mine = ++this.number;
    try {
      const value = await question();
      if (mine === this.number) {
        answer(value);
      }
    } catch (error) {
      if (mine === this.number) {
        failed(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }
}
