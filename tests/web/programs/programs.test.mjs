/* Programs and kernels: what is shown is what the program `facet` says of the same text, forwards and backwards; exercises grade
 * themselves; what is wrong is told and the page lives on. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { facet, SOURCE, test } from "../harness.mjs";

const text = (path) => readFileSync(join(SOURCE, path), "utf8");

async function programs(t, example) {
  await t.open();
  await t.page.click("#tab-programs");
  if (example !== undefined) {
    await t.page.selectOption("select[aria-label=Examples]", { label: example });
  }
  await idle(t);
}

async function idle(t) {
  await t.page.waitForSelector(".programs:not([aria-busy=true])");
}

async function press(t, name, times = 1) {
  for (let i = 0; i < times; i++) {
    await t.page.click(`.prog-bar button:text-is("${name}")`);
    await idle(t);
  }
}

async function panel(t, id) {
  await t.page.click(`#panel-tab-${id}`);
  await t.page.waitForSelector(`#panel-${id}[aria-busy=false]`);
}

async function type(t, program) {
  await t.page.click(".cm-content");
  await t.page.keyboard.press("Control+A");
  /* Pasted: Chromium's own editing would put styles into the elements, which the page's policy refuses. */
  await t.page.locator(".cm-content").evaluate((element, pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", pasted);
    element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, program);
}


/** Registers as the panel has them, by name. */
function registers(t) {
  return t.page.$$eval("#panel-registers .reg", (list) => Object.fromEntries(list.map((reg) => [reg.querySelector(".reg-name").firstChild.textContent, reg.querySelector(".reg-value").textContent])));
}

const status = (t) => t.page.innerText(".stop");

/** The state of the hart after so many instructions, as the program says it. */
function native(t, source, count) {
  const file = t.file("program.s");
  const elf = t.file("program.elf");
  writeFileSync(file, source);
  facet("as", "--isa", "xphmg", file, "-o", elf);
  let out;
  try {
    out = facet("run", elf, "--ram", "16M", "--json", "--dump-state", "--max-instructions", String(count));
  } catch (error) {
    out = error.stdout; /* the limit has an exit code of its own */
  }
  return JSON.parse(out).harts[0];
}

async function sameRegisters(t, expected) {
  const shown = await registers(t);
  let compared = 0;
  for (const [name, value] of Object.entries(expected)) {
    if (shown[name] !== undefined) {
      assert.equal(BigInt(shown[name]), BigInt(value), name);
      compared++;
    }
  }
  assert.ok(compared >= 60, `${compared} registers compared`);
}

test("a hart is stepped forwards and backwards, with the registers of facet run", async (t) => {
  const source = text("examples/xphmg/picture.s");
  await programs(t, "Hart: a picture");
  await press(t, "Step", 9);
  await sameRegisters(t, native(t, source, 9).registers);
  assert.deepEqual(await t.page.$$eval("#panel-registers .reg.changed .reg-name", (list) => list.map((one) => one.firstChild.textContent)), ["x10", "pc"]);
  assert.equal(await t.page.locator(".cm-line.line-current").innerText(), source.split("\n").find((line) => line.includes("sd      a0, 0x18(s0)")));
  await press(t, "Back", 3);
  await sameRegisters(t, native(t, source, 6).registers);
  await t.shot("programs-hart");
  await press(t, "Run");
  assert.match(await status(t), /^exit ended with exit code 0 49,073 steps/);
  assert.equal(await t.page.innerText(".console"), "64 x 48 pixels\n");
  await press(t, "Back");
  await sameRegisters(t, native(t, source, 49072).registers);
  await press(t, "Restart");
  assert.match(await status(t), / 0 steps/);
});

test("the picture of the hart has the bytes of facet run --framebuffer", async (t) => {
  await programs(t, "Hart: a picture");
  await press(t, "Run");
  await panel(t, "picture");
  const elf = t.file("picture.elf");
  facet("as", "--isa", "xphmg", "examples/xphmg/picture.s", "-o", elf);
  facet("run", elf, "--dump-memory", `pixels..pixels+12288=${t.file("pixels.bin")}`);
  const expected = readFileSync(t.file("pixels.bin"));
  const shown = await t.page.$eval(".picture-scroll canvas", (canvas) => [...canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data]);
  assert.equal(shown.length, expected.length);
  assert.ok(shown.every((byte, i) => i % 4 === 3 || byte === expected[i]));
  await t.shot("programs-picture");
});

test("errors stand at their place while typing, and go", async (t) => {
  await programs(t);
  await type(t, "_start: li a0, 1\n        addd a0, a0, a1\n");
  const range = t.page.locator(".cm-lintRange-error");
  await range.waitFor();
  assert.equal(await range.innerText(), "addd");
  await press(t, "Run");
  assert.match(await t.page.innerText(".message.error"), /line 2: unknown instruction `addd`/);
  await t.shot("programs-error");
  await type(t, "_start: li a0, 1\n        add a0, a0, a1\nstop:   j stop\n");
  await range.waitFor({ state: "detached" });
  await press(t, "Step", 2);
  assert.equal((await registers(t)).x10, "0x0000000000000001");
});

test("breakpoints hold, in both directions", async (t) => {
  await programs(t, "Hart: a picture");
  const line = text("examples/xphmg/picture.s").split("\n").findIndex((one) => one.startsWith("letter:")) + 1;
  await t.page.click(".cm-content");
  await t.page.keyboard.press("Control+Home");
  for (let i = 1; i < line; i++) {
    await t.page.keyboard.press("ArrowDown");
  }
  await t.page.keyboard.press("F9");
  await press(t, "Run");
  assert.match(await status(t), /^breakpoint breakpoint at 0x[0-9a-f]+ <letter>/);
  const first = await status(t);
  await press(t, "Run", 2);
  assert.notEqual(await status(t), first);
  await press(t, "Reverse", 2);
  assert.equal(await status(t), first);
  assert.equal(await t.page.innerText(".console"), "Nothing printed yet.");
});

test("watchpoints of memory, registers and CSRs stop the run, say what changed, and stay in the link", async (t) => {
  await programs(t, "Kernel: a count that goes wrong");
  await panel(t, "watch");
  const watch = async (what, kind) => {
    await t.page.fill("input[aria-label='What is watched']", what);
    await t.page.selectOption("select[aria-label='When it stops']", kind);
    await t.page.click("#panel-watch button:text-is('Watch')");
    await idle(t);
  };
  await watch("word", "write");
  await press(t, "Run");
  assert.match(await status(t), /^watchpoint word, 4 bytes written: 0x0 → 0x1 by core0 in line 12; now at 0x80000018 <count\+0x18>/);
  assert.match(await status(t), / 21 steps$/);
  await t.page.waitForSelector(".watches .current:has-text('0x0 → 0x1')");
  await press(t, "Run", 4);
  assert.match(await status(t), /0x1 → 0x2 by core0 .* 49 steps$/);
  await t.shot("programs-watch");
  await press(t, "Reverse");
  assert.match(await status(t), /0x0 → 0x1 by core3 .* 24 steps$/);
  await watch("nowhere", "write");
  await t.page.waitForSelector(".message.error:has-text('\"nowhere\": expected an address')");
  await watch("b9", "change");
  await t.page.waitForSelector(".message.error:has-text('b9: expected a register')");
  assert.equal(await t.page.locator(".watches li").count(), 1);
  await t.page.waitForFunction(() => location.hash.length > 200);
  await t.open(await t.page.evaluate(() => location.hash));
  await idle(t);
  await press(t, "Run");
  assert.match(await status(t), / 21 steps$/);
  /* A CSR of the hart, by its field. */
  await t.page.selectOption("select[aria-label=Examples]", { label: "Hart: a ray against four boxes" });
  await idle(t);
  await panel(t, "watch");
  assert.equal(await t.page.innerText(".watches"), "Nothing is watched.");
  await watch("RTCFG.EN", "change");
  await press(t, "Run");
  assert.match(await status(t), /^watchpoint RTCFG.EN changed: 0x0 → 0x1 by hart0 in line \d+; now at .* 7 steps$/);
  assert.deepEqual(await t.accessibility(), []);
  await t.page.click("button[aria-label='Remove the watchpoint RTCFG.EN changed']");
  await press(t, "Run");
  assert.match(await status(t), /^exit/);
});

test("cycles beside the profile, and findings that lead to their lines", async (t) => {
  await programs(t, "Kernel: a count that goes wrong");
  await press(t, "Run");
  await panel(t, "findings");
  await t.page.click("#panel-findings button:text-is('Add --check-order')");
  await t.page.waitForSelector(".findings li");
  await idle(t);
  assert.equal(await t.page.inputValue(".options"), "--grid 8x1 --arg word=0x80100000 --check-order");
  let ran;
  try {
    ran = facet("tile", "run", "examples/tile/first/count.s", "--grid", "8x1", "--arg", "word=0x80100000", "--check-order", "--json");
  } catch (error) {
    ran = error.stdout; /* findings have an exit code of their own */
  }
  const { lint } = JSON.parse(ran);
  const shown = await t.page.$$eval(".findings li", (items) => items.map((one) => one.innerText));
  assert.equal(shown.length, lint.length);
  for (const [i, one] of lint.entries()) {
    for (const part of [`line ${one.line}`, one.instruction, one.text, one.detail, one.rule, one.requirement]) {
      assert.ok(shown[i].includes(part), `${shown[i]}: ${part}`);
    }
  }
  await t.page.click(".findings li:first-child button");
  assert.equal(await t.page.locator(".cm-activeLine").innerText(), text("examples/tile/first/count.s").split("\n")[lint[0].line - 1]);
  await t.shot("programs-findings");
  assert.deepEqual(await t.accessibility(), []);
  await panel(t, "profile");
  await t.page.click("#panel-profile button:text-is('Add --timing default')");
  await t.page.waitForSelector("#panel-profile .timing");
  const timing = facet("tile", "run", "examples/tile/first/count.s", "--grid", "8x1", "--arg", "word=0x80100000", "--timing", "default").toString();
  const estimate = await t.page.textContent("#panel-profile .timing");
  assert.ok(/^timing, an estimate: \d+ cycles\n/.test(estimate) && timing.includes(estimate), estimate);
  assert.match(await t.page.innerText("#panel-profile thead"), /cycles/);
  await t.shot("programs-timing");
  assert.deepEqual(await t.accessibility(), []);
  /* A model of one's own, which is a file beside the program. */
  await t.page.fill(".options", "--grid 8x1 --arg word=0x80100000 --timing slow.timing");
  await press(t, "Run");
  await t.page.waitForSelector(".message.error:has-text('slow.timing: not there; open or drop it together')");
  writeFileSync(t.file("slow.timing"), "tile.memory_latency = 999\n");
  await t.choose(t.file("slow.timing"));
  await t.page.waitForFunction((old) => (document.querySelector("#panel-profile .timing")?.textContent ?? old) !== old, estimate);
  const slow = facet("tile", "run", "examples/tile/first/count.s", "--grid", "8x1", "--arg", "word=0x80100000", "--timing", t.file("slow.timing")).toString();
  assert.ok(slow.includes(await t.page.textContent("#panel-profile .timing")));
  /* A long one has a bar and is cancelled; the machine is where it was, and the next step works. */
  await type(t, "LUI s1, 0x100\nloop: ADDI s1, s1, -1\nBNE s1, s0, loop\nEXIT\n");
  await t.page.fill(".options", "--grid 4x1 --check-order");
  await t.page.click("#panel-tab-findings");
  await t.page.click(".prog-bar .run");
  await t.page.waitForSelector("text=Looking for mistakes");
  await t.page.click("button:text-is('Cancel')");
  await t.page.waitForSelector("#panel-findings:has-text('Cancelled.')");
  await idle(t);
  const ended = await status(t);
  assert.match(ended, /^exit done after/);
  await t.page.click("#panel-tab-registers");
  await press(t, "Back");
  assert.equal(Number((await status(t)).match(/([\d,]+) steps/)[1].replaceAll(",", "")), Number(ended.match(/([\d,]+) steps/)[1].replaceAll(",", "")) - 1);
  /* A list: its lines are those of the strings of its kernel. */
  await t.page.selectOption("select[aria-label=Examples]", { label: "Command list: triangles" });
  await idle(t);
  await panel(t, "profile");
  await t.page.click("#panel-profile button:text-is('Add --timing default')");
  await t.page.waitForSelector("#panel-profile .timing:has-text('most of them in commands[6] (DISPATCH)')");
  await t.page.click("#panel-profile tbody tr:first-child button");
  assert.match(await t.page.locator(".cm-activeLine").innerText(), /^ *"[^"]*(SW|LW|ADD|AND|SRL|SHR|BNE|CMP)/);
});

test("a kernel is edited, run, stepped back; lanes, memory, profile", async (t) => {
  await programs(t, "Kernel: vectors fill tiles");
  await press(t, "Run");
  assert.match(await status(t), /^exit done after 378 rounds 1,512 steps/);
  await panel(t, "lanes");
  await t.page.selectOption("select[aria-label='Format of the lanes']", "INT32");
  await t.page.waitForSelector("#panel-lanes[aria-busy=false]");
  const v1 = await t.page.$$eval(".lane-grid tr", (rows) => [...rows].find((row) => row.cells[0].textContent === "v1").textContent);
  assert.equal(v1, `v1${String(0xff336699 | 0).repeat(4)}`);
  await panel(t, "memory");
  assert.match(await t.page.innerText(".memory-grid tr:first-child"), /^0x80100000\s+ff336699\s+ff336699\s+ff336699\s+ff336699/);
  await panel(t, "profile");
  assert.match(await t.page.innerText("#panel-profile"), /1,512 instructions/);
  assert.deepEqual(await t.page.$$eval("#panel-profile tbody tr:first-child td", (cells) => [...cells].slice(0, 2).map((cell) => cell.textContent)), ["line 30", "192"]);
  await t.shot("programs-kernel");
  await type(t, text("examples/tile/fill.s").replace("ADDI    s11, s0, 16", "ADDI    s11, s0, 8 "));
  await t.page.waitForSelector(".stale");
  await press(t, "Run");
  assert.match(await status(t), /^exit done after 210 rounds 840 steps/);
  await press(t, "Back", 2);
  assert.match(await status(t), / 838 steps/);
  await press(t, "Step core");
  await press(t, "Step", 5);
  assert.match(await status(t), /^exit done after 210 rounds 840 steps/);
});

test("why tells who wrote what is read, and leads there", async (t) => {
  await programs(t, "Kernel: a ramp of colours");
  await press(t, "Step", 30);
  await panel(t, "why");
  const core = await t.page.innerText(".cores button[aria-pressed=true]");
  assert.match(await t.page.innerText(".why-head"), new RegExp(`^${core} +0x`));
  const [row] = await t.page.$$eval(".why-reads tr", (rows) => rows.map((one) => one.innerText));
  assert.match(row, /^s\d+\s+0x[0-9a-f]{8}\s+written .* at ramp\+?\d* line \d+/);
  await t.page.click(".why-reads button >> nth=0");
  await idle(t);
  assert.ok(Number((await status(t)).match(/([\d,]+) steps/)[1].replaceAll(",", "")) < 30);
});

test("a CSR is shown by its fields and written", async (t) => {
  await programs(t, "Hart: a ray against four boxes");
  await press(t, "Step", 8);
  await panel(t, "csrs");
  await t.page.fill("#panel-csrs input[type=search]", "CAP.PREC.MODE");
  await t.page.click(".csr summary");
  await t.page.waitForSelector(".csr-fields td");
  const fields = await t.page.$$eval(".csr-fields tbody tr", (rows) => rows.map((row) => [row.cells[1].firstChild.textContent, row.cells[2].querySelector("input")?.value ?? row.cells[2].textContent, row.cells[3].textContent]));
  const pet = fields.find(([name]) => name === "PET");
  assert.equal(pet[1], "1");
  assert.notEqual(pet[2], "");
  await t.page.fill("#panel-csrs input[type=search]", "fflags");
  await t.page.click(".csr summary");
  await t.page.fill("input[aria-label='fflags.DZ']", "1");
  await t.page.press("input[aria-label='fflags.DZ']", "Enter");
  await t.page.waitForFunction(() => /0x0+8$/.test(document.querySelector(".csr-value").textContent));
  await t.shot("programs-csrs");
});

test("a register that was written makes another future", async (t) => {
  await programs(t);
  await type(t, "_start: li a0, 5\n        addi a0, a0, 1\n        addi a1, a0, 0\nstop:   j stop\n");
  await press(t, "Step", 1);
  await t.page.click("button[aria-label^='x10 ']");
  await t.page.fill(".reg-input", "41");
  await t.page.press(".reg-input", "Enter");
  await idle(t);
  await press(t, "Step", 2);
  assert.equal((await registers(t)).x11, "0x000000000000002a");
  await press(t, "Back", 1);
  assert.equal((await registers(t)).x10, "0x000000000000002a");
  await press(t, "Back", 2);
  await press(t, "Step", 3);
  assert.equal((await registers(t)).x11, "0x000000000000002a", "what was written comes again");
});

test("a program reads its console", async (t) => {
  await programs(t);
  /* Echoes one byte and the next number, through SYS_READC. */
  await type(
    t,
    "_start: li a0, 7\n call semihost\n addi a0, a0, 1\n li s1, 0x10000000\n sb a0, 0(s1)\n li t0, 0x100000\n li t1, 0x5555\n sw t1, 0(t0)\nstop: j stop\n .align 4\nsemihost: .word 0x01f01013, 0x00100073, 0x40705013\n ret\n",
  );
  await press(t, "Run");
  assert.match(await status(t), /waits for input/);
  await t.page.fill("input[aria-label='Input for the program']", "HAL");
  await t.page.press("input[aria-label='Input for the program']", "Enter");
  await t.page.waitForSelector(".reason.exit");
  await idle(t);
  assert.equal(await t.page.innerText(".console"), "I");
  await press(t, "Back", 3);
  await press(t, "Run");
  assert.equal(await t.page.innerText(".console"), "I", "the same again after going back");
});

/** Lines of `facet run --trace`, as the list of steps writes them: the first is step `from`. */
function traced(t, source, from, count) {
  const file = t.file("program.s");
  const elf = t.file("program.elf");
  writeFileSync(file, source);
  facet("as", "--isa", "xphmg", file, "-o", elf);
  try {
    facet("run", elf, "--ram", "16M", "--trace", t.file("trace.jsonl"), "--trace-from", String(from), "--trace-count", String(count), "--max-instructions", String(from + count));
  } catch {
    /* the limit has an exit code of its own */
  }
  const lines = readFileSync(t.file("trace.jsonl"), "utf8").trim().split("\n").slice(1);
  return lines.map((line) => JSON.parse(line)).map((one) => ({
    step: one.step + 1,
    text: one.insn,
    changes: one.changes.filter((change) => change.reg !== undefined).map((change) => `${change.reg} ${change.old} -> ${change.new}`).join("   "),
  }));
}

/** The rows that are in the page now. */
const traceRows = (t) =>
  t.page.$$eval(".trace-row", (list) => list.map((row) => ({ step: Number(row.querySelector(".trace-number").textContent), text: row.querySelector(".trace-text").textContent, changes: row.querySelector(".trace-changes").textContent })));

test("a million steps are a list without a wait, with the lines of facet run --trace", async (t) => {
  const source = "_start: li t0, 400000\nloop:   addi t0, t0, -1\n        addi t1, t1, 2\n        bnez t0, loop\n        li t0, 0x100000\n        li t1, 0x5555\n        sw t1, 0(t0)\nstop:   j stop\n";
  await programs(t);
  await type(t, source);
  await press(t, "Run");
  assert.match(await status(t), /1,200,00\d steps/);
  await panel(t, "steps");
  const heap = async () => (await (await t.context.newCDPSession(t.page)).send("Runtime.getHeapUsage")).usedSize;
  const before = await heap();
  const total = 1_200_000;
  for (const part of [1, 0.5, 0, 0.25]) {
    await t.page.$eval(".trace-scroll", (one, at) => (one.scrollTop = one.scrollHeight * at), part);
    await t.page.waitForFunction(([at, near]) => Math.abs(Number(document.querySelector(".trace-number")?.textContent) - at) < near, [total * part, 1000]);
    const shown = await traceRows(t);
    assert.ok(shown.length > 5 && shown.length < 200, `${shown.length} rows in the page`);
    /* The store that ends the program is the last step, and writes no register. */
    assert.deepEqual(shown.slice(0, -1), traced(t, source, shown[0].step - 1, shown.length).slice(0, -1), `at ${part}`);
  }
  for (let i = 0; i < 60; i++) {
    await t.page.$eval(".trace-scroll", (one, at) => (one.scrollTop = one.scrollHeight * at), (i * 0.37) % 1);
    await t.page.waitForTimeout(20);
  }
  assert.ok((await heap()) - before < 32 << 20, `${((await heap()) - before) >> 20} MiB more after scrolling`);
  await t.page.$eval(".trace-scroll", (one) => (one.scrollTop = one.scrollHeight / 2));
  await t.page.waitForFunction(() => Math.abs(Number(document.querySelector(".trace-number")?.textContent) - 600000) < 1000);
  const [one] = (await traceRows(t)).filter((row) => row.text === "addi x5, x5, -1");
  await t.page.locator(".trace-row", { hasText: String(one.step) }).first().click();
  await idle(t);
  await panel(t, "registers");
  await sameRegisters(t, native(t, source, one.step).registers);
});

test("a command list: the picture after any command, the history of a pixel", async (t) => {
  await programs(t, "Command list: triangles");
  const list = "examples/tile/triangle.json";
  assert.match(await status(t), /^done after 8 of 8 commands/);
  await t.page.waitForSelector(".picture-scroll canvas[width='128']");
  const pixels = () => t.page.$eval(".picture-scroll canvas", (canvas) => [...canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data]);
  const whole = await pixels();
  facet("tile", "draw", list, "-o", t.file("whole.png"));
  assert.deepEqual(whole, [...decodePng(readFileSync(t.file("whole.png")))]);
  /* The list without its last commands is the picture after the ones before. */
  const cut = JSON.parse(text(list));
  cut.commands.length = 4;
  writeFileSync(t.file("cut.json"), JSON.stringify(cut));
  facet("tile", "draw", t.file("cut.json"), "-o", t.file("cut.png"));
  await t.page.click("button[aria-label='after commands[3] RRECT']");
  await idle(t);
  assert.deepEqual(await pixels(), [...decodePng(readFileSync(t.file("cut.png")))]);
  await t.page.click("button[aria-label='after commands[7] READ_MEM']");
  await idle(t);
  assert.deepEqual(await pixels(), whole);
  const record = JSON.parse(facet("tile", "why", "110,10", list, "--json"));
  const box = await t.page.locator(".picture-scroll canvas").boundingBox();
  await t.page.mouse.click(box.x + (110.5 / 128) * box.width, box.y + (10.5 / 72) * box.height);
  await t.page.waitForSelector("text=Pixel 110,10");
  assert.deepEqual(
    await t.page.$$eval(".pixel-entries li strong", (all) => all.map((one) => one.textContent)),
    record.history.map((one) => one.command),
  );
  for (const [i, entry] of record.history.entries()) {
    const item = t.page.locator(".pixel-entries li").nth(i);
    await item.locator("summary").click();
    assert.deepEqual(JSON.parse(await item.locator("pre").innerText()), entry);
  }
  await t.shot("programs-list");
});

test("files beside a command list: opened together, one by one, by facet view, in a link", async (t) => {
  const list = "examples/tile/first/draw.json";
  facet("tile", "draw", list, "-o", t.file("drawn.png"));
  const expected = [...decodePng(readFileSync(t.file("drawn.png")))];
  const drawn = async () => {
    await t.page.waitForSelector(".picture-scroll canvas[width='64']");
    await t.page.waitForSelector("text=after 4 of 4 commands");
    await idle(t);
    assert.deepEqual(await t.page.$eval(".picture-scroll canvas", (canvas) => [...canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data]), expected);
  };
  await programs(t);
  await t.choose("examples/tile/first/ramp.s", list);
  await drawn();
  await t.page.waitForFunction(() => location.hash.length > 400);
  const hash = await t.page.evaluate(() => location.hash);
  await programs(t);
  await t.choose(list);
  await t.page.waitForSelector(".message.error:has-text('ramp.s: not there; open or drop it together')");
  await idle(t);
  await t.choose("examples/tile/first/ramp.s");
  await drawn();
  assert.equal(await t.page.locator(".cm-lintRange-error").count(), 0);
  await t.open(hash);
  await drawn();
  await t.view(list);
  await drawn();
  /* A file that no list names is opened as what it is. */
  await t.choose("examples/tile/first/count.s");
  await t.page.waitForFunction(() => document.querySelector("select[aria-label=Machine]").value === "tile");
});

test("breakpoints in the kernel of a command list", async (t) => {
  await programs(t, "Command list: triangles");
  const line = text("examples/tile/triangle.json").split("\n").findIndex((one) => one.includes("pixel:  LW")) + 1;
  await t.page.click(".cm-content");
  await t.page.keyboard.press("Control+Home");
  for (let i = 1; i < line; i++) {
    await t.page.keyboard.press("ArrowDown");
  }
  await t.page.keyboard.press("F9");
  await press(t, "Restart");
  await press(t, "Run");
  assert.match(await status(t), /^breakpoint after 6 of 8 commands, breakpoint at 0x[0-9a-f]+ <pixel>/);
  assert.match(await t.page.innerText(".cm-line.line-current"), /pixel: {2}LW {4}s10/);
});

test("an exercise grades itself, in a link and in a file", async (t) => {
  await programs(t, "Exercise: a race");
  await t.page.click("text=Check my program");
  await t.page.waitForSelector("text=0 of 2 checks passed.");
  assert.match(await t.page.innerText(".checks"), /found: 02000000/);
  await t.shot("programs-exercise");
  /* The address holds all of it. */
  await t.page.waitForFunction(() => location.hash.length > 100);
  const hash = await t.page.evaluate(() => location.hash);
  await t.open(hash);
  await idle(t);
  assert.match(await t.page.innerText(".assignment"), /Eight tiles count themselves/);
  const solved = text("web/src/programs/exercises/count.s").replace(/ {8}LW {6}s2[^]*SW {6}s2, 0\(s6\)\n/, "        AADD    s0, s1, (s6), rlx\n");
  assert.ok(solved.includes("AADD"));
  await type(t, solved);
  await t.page.click("text=Check my program");
  await t.page.waitForSelector("text=Solved: 2 of 2 checks passed.");
  const [saved] = await Promise.all([t.page.waitForEvent("download"), t.page.click(".prog-bar button:text-is('Save')")]);
  const file = t.file("race.facet.json");
  await saved.saveAs(file);
  await t.view(file);
  await idle(t);
  await t.page.click("text=Check my program");
  await t.page.waitForSelector("text=Solved: 2 of 2 checks passed.");
});

test("a new exercise is made of a program", async (t) => {
  await programs(t);
  await type(t, "_start: li a0, 0\n        li t0, 0x100000\n        li t1, 0x5555\n        sw t1, 0(t0)\nstop:   j stop\n");
  await press(t, "Run");
  await t.page.click(".prog-bar button:text-is('Exercise…')");
  await t.page.fill("input[aria-label=Title]", "Leave 7 in a0");
  await t.page.fill("textarea[aria-label=Task]", "Change the `li`.");
  await t.page.fill("textarea[aria-label='Checks, one in a line']", '{"what": "colour"}');
  await t.page.click("text=Use it");
  assert.match(await t.page.innerText(".wrong"), /exercise\.checks\[0\]\.what: expected exit, register/);
  await t.page.fill("textarea[aria-label='Checks, one in a line']", '{"what": "register", "name": "a0", "equals": "7"}');
  await t.page.click("dialog button:text-is('steps')");
  await t.page.click("text=Use it");
  await t.page.click("text=Check my program");
  await t.page.waitForSelector("text=1 of 2 checks passed.");
  await type(t, "_start: li a0, 7\n        li t0, 0x100000\n        li t1, 0x5555\n        sw t1, 0(t0)\nstop:   j stop\n");
  await t.page.click("text=Check my program");
  await t.page.waitForSelector("text=Solved: 2 of 2 checks passed.");
});

test("broken programs, options, lists and links are told, and the page lives on", async (t) => {
  await programs(t, "Kernel: a ramp of colours");
  const wrong = async (options, message) => {
    await t.page.fill(".options", options);
    await press(t, "Run");
    await t.page.waitForSelector(`.message.error:has-text("${message}")`);
    await t.page.click(".message.error button");
  };
  await wrong("--grid 4by3", "--grid 4by3: expected WxH");
  await wrong("--frobnicate 3", "--frobnicate: expected --grid");
  await wrong("grid", "expected an option");
  await wrong("--arg target=nowhere", "expected NAME=VALUE");
  writeFileSync(t.file("broken.elf"), Buffer.concat([Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]), Buffer.alloc(60, 0xee)]));
  writeFileSync(t.file("broken.json"), '{"buffers": {"f": {"size": 64}},\n "frame": {"base": "g", "width": 4, "height": 4}, "commands": []}');
  await t.choose(t.file("broken.elf"));
  await t.page.waitForSelector(".message.error");
  await t.page.click(".message.error button");
  await t.choose(t.file("broken.json"));
  await t.page.waitForSelector(".cm-lintRange-error, .cm-lintPoint-error");
  await idle(t);
  while ((await t.page.locator(".message.error button").count()) > 0) {
    await t.page.locator(".message.error button").first().click();
  }
  await t.page.selectOption("select[aria-label=Examples]", { label: "Hart: hello" });
  await press(t, "Run");
  assert.equal(await t.page.innerText(".console"), "hello from xphmg\n");
  /* A kernel that faults: where and why. */
  await t.page.selectOption("select[aria-label=Machine]", "tile");
  await t.page.fill(".options", "");
  await type(t, "LUI s1, 0x12345\nLW s2, 8(s1)\nEXIT\n");
  await press(t, "Run");
  assert.match(await status(t), /^fault load fault \(cause 4\) at 0x80000004 program.s:2/);
});

test("an ELF file is run and listed; two harts are stepped one by one", async (t) => {
  await programs(t);
  facet("as", "--isa", "xphmg", "examples/xphmg/hello.s", "-o", t.file("hello.elf"));
  await t.choose(t.file("hello.elf"));
  await t.page.waitForSelector("#panel-listing .line-current");
  assert.match(await t.page.innerText("#panel-listing .line-current"), /^0x80000000\s+0x[0-9a-f]+\s+auipc/);
  await press(t, "Run");
  await t.page.click("#panel-tab-console");
  await t.page.waitForSelector(".console:has-text('hello from xphmg')");
  await t.page.selectOption("select[aria-label=Examples]", { label: "Hart: hello" });
  await t.page.fill(".options", "--harts 2");
  await type(t, "_start: addi s0, a0, 10\n        addi s0, s0, 1\n        addi s0, s0, 1\nstop:   j stop\n");
  await press(t, "Step");
  await t.page.click(".cores button:text-is('hart1')");
  await press(t, "Step core", 2);
  assert.equal((await registers(t)).x8, "0x000000000000000c");
  await press(t, "Back core");
  assert.equal((await registers(t)).x8, "0x000000000000000b");
});

test("a program that never ends is paused", async (t) => {
  await programs(t);
  await type(t, "_start: addi a0, a0, 1\n        j _start\n");
  await t.page.click(".prog-bar .run");
  await t.page.waitForSelector(".run:text-is('Pause')");
  await t.page.waitForFunction(() => /runs: [\d,]{7,} steps/.test(document.querySelector(".stop").textContent));
  await t.page.click(".prog-bar .run");
  await idle(t);
  assert.match(await status(t), /^stopped hart0 at 0x8000000[04] <_start/);
  const steps = Number((await status(t)).match(/([\d,]+) steps$/)[1].replaceAll(",", ""));
  assert.ok(steps >= 1_000_000);
  await panel(t, "steps");
  await t.page.waitForFunction((last) => [...document.querySelectorAll(".trace-number")].some((one) => Number(one.textContent) === last), steps);
  assert.deepEqual((await traceRows(t)).at(-1), traced(t, "_start: addi a0, a0, 1\n        j _start\n", steps - 1, 1)[0]);
  await press(t, "Step");
  await press(t, "Back");
});

test("a draw without an end is left, and the page lives on", async (t) => {
  await programs(t);
  const list = {
    buffers: { f: { size: 262144 } },
    frame: { base: "f", width: 8, height: 8 },
    commands: [
      { command: "LOAD_RSTATE", slot: 0, descriptor: { fb_base: "f", fb_stride: 0, fb_wh: [65535, 65535], blend: "additive" } },
      { command: "RRECT", descriptor: { wh: [65535, 65535], color: 1 } },
    ],
  };
  writeFileSync(t.file("endless.json"), JSON.stringify(list));
  await t.choose(t.file("endless.json"));
  await t.page.waitForSelector(".run:text-is('Pause')");
  await t.page.waitForSelector("text=runs…");
  await t.page.click(".prog-bar .run");
  await t.page.waitForSelector("text=The machine is gone");
  await idle(t);
  await t.page.selectOption("select[aria-label=Examples]", { label: "Hart: hello" });
  await press(t, "Run");
  assert.equal(await t.page.innerText(".console"), "hello from xphmg\n");
});

test("programs are accessible in both schemes", async (t) => {
  for (const scheme of ["light", "dark"]) {
    await t.page.emulateMedia({ colorScheme: scheme });
    await programs(t, "Exercise: a race");
    await press(t, "Step", 30);
    for (const id of ["registers", "lanes", "csrs", "memory", "why", "profile", "listing"]) {
      await panel(t, id);
      assert.deepEqual(await t.accessibility(), [], `${scheme} ${id}`);
    }
    await t.shot(`programs-${scheme}`);
    await t.page.click(".prog-bar button:text-is('Exercise…')");
    assert.deepEqual(await t.accessibility(), [], `${scheme} dialogue`);
    await t.page.click("dialog button:text-is('Cancel')");
    await t.page.selectOption("select[aria-label=Examples]", { label: "Command list: triangles" });
    await idle(t);
    await t.page.waitForSelector(".picture-scroll canvas[width='128']");
    await t.page.click(".picture-scroll canvas");
    await t.page.waitForSelector(".pixel-entries li");
    assert.deepEqual(await t.accessibility(), [], `${scheme} list`);
  }
});

/** RGBA of an 8-bit PNG with or without alpha. */
function decodePng(bytes) {
  const width = bytes.readUInt32BE(16);
  const height = bytes.readUInt32BE(20);
  const channels = bytes[25] === 6 ? 4 : 3;
  const parts = [];
  for (let at = 8; at < bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    if (bytes.toString("latin1", at + 4, at + 8) === "IDAT") {
      parts.push(bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at)));
    }
  }
  const raw = inflateSync(Buffer.concat(parts));
  const row = width * channels;
  const plain = Buffer.alloc(row * height);
  const out = Buffer.alloc(width * height * 4, 255);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (row + 1)];
    for (let i = 0; i < row; i++) {
      const left = i >= channels ? plain[y * row + i - channels] : 0;
      const up = y > 0 ? plain[(y - 1) * row + i] : 0;
      const corner = y > 0 && i >= channels ? plain[(y - 1) * row + i - channels] : 0;
      const nearest = [left, up, corner].reduce((best, one) => (Math.abs(left + up - corner - one) < Math.abs(left + up - corner - best) ? one : best));
      plain[y * row + i] = raw[y * (row + 1) + 1 + i] + [0, left, up, (left + up) >> 1, nearest][filter];
    }
    for (let x = 0; x < width; x++) {
      plain.copy(out, 4 * (y * width + x), y * row + x * channels, y * row + x * channels + 3);
    }
  }
  return out;
}
