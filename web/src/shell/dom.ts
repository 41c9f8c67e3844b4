/* Small helpers to make elements: no framework, no markup from text. */

type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, string | number | boolean | EventListener | undefined>;

/** An element with attributes and children. `class`, `title`, `aria-label`, ... are attributes; functions are listeners: `onclick`;
 * true sets an attribute without a value, false and undefined leave it out. Styles go into web/style, never here. */
export function el<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  fill(made, attributes, children);
  return made;
}

/** The same for SVG. */
export function svg<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(made, attributes, children);
  return made;
}

function fill(made: Element, attributes: Attributes, children: readonly Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      made.addEventListener(name.replace(/^on/, ""), value);
    } else if (value === true) {
      made.setAttribute(name, "");
    } else if (value !== undefined && value !== false) {
      made.setAttribute(name, String(value));
    }
  }
  add(made, ...children);
}

export function add(parent: Element, ...children: Child[]): void {
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) {
      parent.append(typeof child === "number" ? String(child) : child);
    }
  }
}

/** A button with text. */
export function button(text: string, run: () => void, attributes: Attributes = {}): HTMLButtonElement {
  return el("button", { type: "button", onclick: run, ...attributes }, text);
}

/** Puts new children in place of all old ones. */
export function put(parent: Element, ...children: Child[]): void {
  parent.replaceChildren();
  add(parent, ...children);
}
