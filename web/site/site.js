// @ts-check
/* What the pages of the contract do by themselves: search, theme, keys. They are whole without it, but for the search.
 *
 * The search looks at every entry for every word, as `facet spec --search` does, and gives names the same worth; its data is a script of
 * its own, loaded when somebody begins to search, because a page from disk may not read files. */
"use strict";

(() => {
  /** @typedef {[kind: string, name: string, path: string, line: string, text: string]} Entry */
  /** @typedef {{ entry: Entry, score: number, text: string, at: number, length: number }} Hit */

  const root = document.body.dataset["root"] ?? "./";
  const input = /** @type {HTMLInputElement} */ (document.getElementById("search"));
  const list = /** @type {HTMLUListElement} */ (document.getElementById("found"));
  const SHOWN = 12;
  const MOST = 200;
  const SNIPPET = 110;

  /* ---- searching ---- */

  /** @type {Promise<Entry[]> | undefined} */
  let loading;

  function entries() {
    loading ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `${root}search-index.js`;
      script.onload = () => resolve(/** @type {any} */ (window).facetIndex);
      script.onerror = () => reject(new Error("the search's data (search-index.js) cannot be read"));
      document.head.append(script);
    });
    return loading;
  }

  /** @param {string | undefined} c */
  const isLetter = (c) => c !== undefined && /[a-z0-9]/i.test(c);

  /** 0: not there, 1: part of a word, 2: a word; and where.
   * @param {string} text in lower case
   * @param {string} word in lower case
   * @returns {[number, number]} */
  function standsIn(text, word) {
    let best = 0;
    let at = -1;
    for (let i = text.indexOf(word); i >= 0 && best < 2; i = text.indexOf(word, i + 1)) {
      const whole = (i === 0 || !isLetter(text[i - 1])) && !isLetter(text[i + word.length]);
      if (best === 0 || whole) {
        at = i;
      }
      best = whole ? 2 : 1;
    }
    return [best, at];
  }

  /** @param {Entry} entry @param {readonly string[]} words @returns {Hit | undefined} */
  function look(entry, words) {
    const [, name, , line, long] = entry;
    /** @type {Hit} */
    const hit = { entry, score: 0, text: "", at: 0, length: 0 };
    for (const word of words) {
      const inName = name.toLowerCase() === word ? 100 : [0, 40, 60][standsIn(name.toLowerCase(), word)[0]] ?? 0;
      const [inLine, at] = standsIn(line.toLowerCase(), word);
      let score = inName + ([0, 10, 20][inLine] ?? 0);
      if (inLine > 0 && hit.text === "") {
        Object.assign(hit, { text: line, at, length: word.length });
      }
      if (score === 0) {
        const [inLong, there] = standsIn(long.toLowerCase(), word);
        score = [0, 3, 6][inLong] ?? 0;
        if (inLong > 0 && hit.text === "") {
          Object.assign(hit, { text: long, at: there, length: word.length });
        }
      }
      if (score === 0) {
        return undefined;
      }
      hit.score += score;
    }
    hit.text ||= line;
    return hit;
  }

  /** @param {string} query @returns {Promise<Hit[]>} */
  async function find(query) {
    const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const all = await entries();
    if (words.length === 0) {
      return [];
    }
    const hits = [];
    for (const entry of all) {
      const hit = look(entry, words);
      if (hit !== undefined) {
        hits.push(hit);
      }
    }
    return hits.sort((a, b) => b.score - a.score); // stable: in the order of the tables
  }

  /** What a hit says, as nodes: name, kind, and its text around the word.
   * @param {Hit} hit @param {boolean} linked */
  function shown(hit, linked) {
    const [kind, name, path] = hit.entry;
    const title = document.createElement(linked ? "a" : "span");
    title.className = "result-name";
    title.textContent = name;
    if (title instanceof HTMLAnchorElement) {
      title.href = root + path;
    }
    const what = document.createElement("span");
    what.className = "result-kind";
    const machine = /^(xphmg|tile|gfx12)\//.exec(path)?.[1];
    what.textContent = machine === undefined ? kind : `${machine} ${kind}`;
    const text = document.createElement("span");
    text.className = "result-text";
    let from = Math.max(0, hit.at - SNIPPET / 2);
    while (from > 0 && hit.text[from - 1] !== " ") {
      from--;
    }
    const to = from + SNIPPET * 2;
    if (hit.length === 0) {
      text.textContent = hit.text.slice(0, to);
    } else {
      const mark = document.createElement("mark");
      mark.textContent = hit.text.slice(hit.at, hit.at + hit.length);
      text.append((from > 0 ? "… " : "") + hit.text.slice(from, hit.at), mark,
        hit.text.slice(hit.at + hit.length, to) + (hit.text.length > to ? " …" : ""));
    }
    return [title, what, text];
  }

  /* ---- the field at the top ---- */

  /** @type {Hit[]} */
  let hits = [];
  let chosen = -1;
  let asked = 0;

  /** @param {boolean} open */
  function show(open) {
    list.hidden = !open;
    input.setAttribute("aria-expanded", String(open));
    if (!open) {
      input.removeAttribute("aria-activedescendant");
    }
  }

  /** @param {number} index */
  function choose(index) {
    chosen = index;
    [...list.children].forEach((item, i) => {
      item.setAttribute("aria-selected", String(i === index));
      if (i === index) {
        input.setAttribute("aria-activedescendant", item.id);
        item.scrollIntoView({ block: "nearest" });
      }
    });
  }

  async function suggest() {
    const mine = ++asked;
    let found;
    try {
      found = await find(input.value);
    } catch (error) {
      list.textContent = error instanceof Error ? error.message : String(error);
      show(true);
      return;
    }
    if (mine !== asked) {
      return;
    }
    hits = found.slice(0, SHOWN);
    list.replaceChildren(...hits.map((hit, i) => {
      const item = document.createElement("li");
      item.id = `found-${i}`;
      item.setAttribute("role", "option");
      item.append(...shown(hit, false));
      item.addEventListener("mousedown", (event) => {
        event.preventDefault();
        location.href = root + hit.entry[2];
      });
      return item;
    }));
    choose(-1);
    show(hits.length > 0);
  }

  input.addEventListener("focus", () => void entries().catch(() => undefined), { once: true });
  input.addEventListener("input", () => void suggest());
  input.addEventListener("blur", () => show(false));
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      if (hits.length > 0) {
        show(true);
        choose((chosen + step + hits.length + (chosen < 0 && step < 0 ? 1 : 0)) % hits.length);
      }
    } else if (event.key === "Escape") {
      show(false);
    }
  });
  input.form?.addEventListener("submit", (event) => {
    event.preventDefault();
    const hit = hits[chosen];
    location.href = hit === undefined ? `${root}search.html?q=${encodeURIComponent(input.value)}` : root + hit.entry[2];
  });

  /* ---- search.html: ?q=WORDS lists, ?go=NAME goes to the page of that name ---- */

  async function listAll() {
    const results = /** @type {HTMLOListElement} */ (document.getElementById("results"));
    const state = /** @type {HTMLElement} */ (document.getElementById("state"));
    const asks = new URLSearchParams(location.search);
    const go = asks.get("go");
    const query = go ?? asks.get("q") ?? "";
    input.value = query;
    try {
      if (go !== null) {
        const same = (await entries()).find(([, name]) => name.toLowerCase() === go.toLowerCase());
        if (same !== undefined) {
          location.replace(root + same[2]);
          return;
        }
      }
      const found = await find(query);
      state.textContent = query === "" ? "Type what you look for at the top."
        : `${found.length} found for “${query}”${found.length > MOST ? `; the first ${MOST}` : ""}`;
      results.replaceChildren(...found.slice(0, MOST).map((hit) => {
        const item = document.createElement("li");
        item.append(...shown(hit, true));
        return item;
      }));
    } catch (error) {
      state.textContent = error instanceof Error ? error.message : String(error);
    }
  }
  if (document.getElementById("results") !== null) {
    void listAll();
  }

  /* ---- theme: the same choice as the inspector's ---- */

  const themes = ["system", "light", "dark"];
  const NAME = "facet-theme";
  const button = /** @type {HTMLButtonElement} */ (document.getElementById("theme"));
  let theme = "system";
  try {
    theme = themes.find((one) => one === localStorage.getItem(NAME)) ?? "system";
  } catch {
    /* A page from disk may have no storage: the choice lasts as long as the page. */
  }

  function apply() {
    if (theme === "system") {
      delete document.documentElement.dataset["theme"];
    } else {
      document.documentElement.dataset["theme"] = theme;
    }
    button.textContent = { system: "Auto", light: "Light", dark: "Dark" }[theme] ?? "Auto";
    button.setAttribute("aria-label", `Colours: ${button.textContent}`);
  }
  button.hidden = false;
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length] ?? "system";
    try {
      localStorage.setItem(NAME, theme);
    } catch {
      /* as above */
    }
    apply();
  });
  apply();

  /* ---- examples in place: the inspector in a frame below its link ---- */

  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("a.try"))) {
    const here = document.createElement("button");
    /** @type {HTMLIFrameElement | undefined} */
    let frame;
    here.type = "button";
    here.className = "here";
    const tell = () => {
      here.textContent = frame === undefined ? "Run it here" : "Close";
      here.setAttribute("aria-expanded", String(frame !== undefined));
    };
    here.addEventListener("click", () => {
      if (frame === undefined) {
        frame = document.createElement("iframe");
        frame.className = "run";
        frame.title = "The example in the inspector";
        frame.src = link.href;
        link.parentElement?.after(frame);
      } else {
        frame.remove();
        frame = undefined;
      }
      tell();
    });
    tell();
    link.after(" ", here);
  }

  /* ---- keys and print ---- */

  document.addEventListener("keydown", (event) => {
    const at = event.target;
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !(at instanceof HTMLInputElement)) {
      event.preventDefault();
      input.focus();
      input.select();
    }
  });

  /** Lists that are closed would be missing on paper. */
  window.addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("main details:not(.leads)")) {
      if (!details.hasAttribute("open")) {
        details.setAttribute("open", "");
        window.addEventListener("afterprint", () => details.removeAttribute("open"), { once: true });
      }
    }
  });
})();
