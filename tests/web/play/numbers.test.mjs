/* The playground of numbers. What it shows is compared with a second formulation: fractions of big integers, and the table of all values
 * of a format, built from its definition. */

import assert from "node:assert/strict";
import { test } from "../harness.mjs";

const FORMATS = {
  FP16: { exponent: 5, fraction: 10, bias: 15, infinite: true },
  BF16: { exponent: 8, fraction: 7, bias: 127, infinite: true },
  FP8_E5M2: { exponent: 5, fraction: 2, bias: 15, infinite: true },
  FP8_E4M3: { exponent: 4, fraction: 3, bias: 7, infinite: false },
};

/** [numerator, denominator] of a decimal number. */
function fraction(text) {
  const [, sign, whole, rest = "", exponent = "0"] = /^(-?)(\d*)(?:\.(\d*))?(?:e(-?\d+))?$/.exec(text);
  const power = Number(exponent) - rest.length;
  const digits = BigInt(`${whole}${rest}` || "0") * (sign === "-" ? -1n : 1n);
  return power >= 0 ? [digits * 10n ** BigInt(power), 1n] : [digits, 10n ** BigInt(-power)];
}

/** All finite magnitudes of a format, by their bits: numerators over 2^200. */
function magnitudes({ exponent, fraction: bits, bias, infinite }) {
  const out = [];
  const codes = infinite ? ((1 << exponent) - 1) << bits : (1 << (exponent + bits)) - 1;
  for (let code = 0; code < codes; code++) {
    const e = code >> bits;
    const significand = BigInt(e === 0 ? code : (code & ((1 << bits) - 1)) | (1 << bits));
    out.push(significand << BigInt(200 - bias - bits + Math.max(e, 1)));
  }
  return out;
}

/** Bits that a number has in a format, in each mode. */
function expected(text, format) {
  const all = magnitudes(format);
  const [numerator, denominator] = fraction(text);
  const negative = numerator < 0n || text.startsWith("-");
  const x = (numerator < 0n ? -numerator : numerator) << 200n;
  /* The next step of the pattern stands for what lies beyond the largest, as IEEE 754 has it. */
  const step = all.at(-1) - all.at(-2);
  let below = all.length - 1;
  while (all[below] * denominator > x) {
    below--;
  }
  const beyond = below === all.length - 1;
  const above = beyond ? all[below] + step : all[below + 1];
  const exact = all[below] * denominator === x;
  const middle = 2n * x - (all[below] + above) * denominator;
  const far = beyond && x >= above * denominator;
  const top = 1 << (format.exponent + format.fraction);
  const overflow = format.infinite ? all.length : top - 1; /* infinity, or the NaN that stands for it */
  const up = {
    RNE: far || middle > 0n || (middle === 0n && below % 2 === 1),
    RTZ: false,
    RDN: negative,
    RUP: !negative,
    RMM: far || middle >= 0n,
  };
  return Object.fromEntries(
    Object.entries(up).map(([mode, away]) => {
      const code = exact || !away ? below : beyond ? overflow : below + 1;
      return [mode, `0x${((negative ? top : 0) + code).toString(16).padStart((1 + format.exponent + format.fraction) / 4, "0")}`];
    }),
  );
}

async function show(t, text, format) {
  await t.page.selectOption("#play-format", { label: format });
  await t.page.fill("#play-text", text);
  await t.page.waitForFunction((of) => document.querySelector("[data-of]")?.dataset.of === of, `${text} ${format}`);
  return Object.fromEntries(
    await t.page.evaluate(() =>
      [...document.querySelectorAll("[data-of] tbody tr")].map((row) => [row.cells[0].textContent, { bits: row.cells[1].textContent, flags: row.cells[3].innerText.split(/\s+/).filter(Boolean), saturated: row.cells[4].textContent }]),
    ),
  );
}

test("every mode gives what exact arithmetic gives", async (t) => {
  await t.open("#numbers");
  for (const [name, format] of Object.entries(FORMATS)) {
    for (const text of ["0.1", "-0.1", "1", "0.00006", "5.9e-8", "2.9e-8", "448", "464", "465", "480", "1000", "65504", "65519.99", "65520", "-65520", "57344", "61440", "3.1415926535897932384626",
      "1.0009765625", "1.00048828125", "1.00146484375", "1.0004882812500000000000001", "3.4e38", "0.0019531250000001", "0.0009765625"]) {
      const shown = await show(t, text, name);
      assert.deepEqual(Object.fromEntries(Object.entries(shown).map(([mode, { bits }]) => [mode, bits])), expected(text, format), `${text} in ${name}`);
    }
  }
});

test("binary32 and binary64 are those of the host", async (t) => {
  await t.open("#numbers");
  for (const text of ["0.1", "1e-45", "7e-46", "16777217", "3.4028235e38", "-123.456"]) {
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat32(0, Number(text));
    assert.equal((await show(t, text, "FP32")).RNE.bits, `0x${view.getUint32(0).toString(16).padStart(8, "0")}`);
    view.setFloat64(0, Number(text));
    assert.equal((await show(t, text, "FP64")).RNE.bits, `0x${view.getBigUint64(0).toString(16).padStart(16, "0")}`);
  }
});

test("overflow, saturation and flags", async (t) => {
  await t.open("#numbers");
  const fp16 = await show(t, "70000", "FP16");
  assert.deepEqual(fp16.RNE, { bits: "0x7c00", flags: ["NX", "OF"], saturated: "0x7bff" });
  assert.equal(fp16.RTZ.bits, "0x7bff");
  assert.deepEqual((await show(t, "1e-7", "FP16")).RNE.flags, ["NX", "UF"]);
  assert.deepEqual((await show(t, "0.5", "FP16")).RNE.flags, []);
});

test("bits are clicked, neighbours are stepped to", async (t) => {
  await t.open("#numbers");
  await show(t, "1", "FP16");
  await t.page.click("[data-bit='0']");
  await t.page.waitForFunction(() => document.querySelector("#play-text").value === "1.0009765625");
  await t.page.click("text=◂ below");
  await t.page.waitForFunction(() => document.querySelector("#play-bits").value === "0x3c00");
  await t.page.click("text=◂ below");
  await t.page.waitForFunction(() => document.querySelector("#play-bits").value === "0x3bff");
  await t.page.locator("h1").first().click();
  await t.page.keyboard.press("ArrowUp");
  await t.page.waitForFunction(() => document.querySelector("#play-bits").value === "0x3c00");
  /* Around zero, and to infinity: -least, -0 and +0 together, least; largest, infinity, nothing. */
  await t.page.fill("#play-bits", "0x8001");
  await t.page.keyboard.press("Enter");
  await t.page.waitForFunction(() => document.querySelector("#play-bits").value === "0x8001" && document.querySelector("#play-text").value.startsWith("-0.0000000596"));
  for (const bits of ["0x8000", "0x0001"]) {
    await t.page.click("text=above ▸");
    await t.page.waitForFunction((wanted) => document.querySelector("#play-bits").value === wanted, bits);
  }
  await show(t, "65504", "FP16");
  await t.page.click("text=above ▸");
  await t.page.waitForFunction(() => document.querySelector("#play-bits").value === "0x7c00");
  await t.page.click("text=above ▸");
  await t.page.waitForSelector("text=nothing lies above");
});

test("a NaN keeps its bits", async (t) => {
  await t.open("#numbers");
  await show(t, "1", "FP16");
  await t.page.fill("#play-bits", "0x7d01");
  await t.page.keyboard.press("Enter");
  await t.page.waitForSelector("text=signaling NaN");
  assert.equal(await t.page.locator("#play-bits").inputValue(), "0x7d01");
});

test("operations round once, and raise their flags", async (t) => {
  await t.open("#numbers");
  await show(t, "1", "FP16");
  const result = () => t.page.locator(".play-result").first().locator("tr").last().innerText();
  for (const [operation, a, b, wanted] of [["add", "2048", "1", /0x6800.*2048.*NX/s], ["div", "1", "0", /0x7c00.*inf.*DZ/s], ["mul", "300", "300", /0x7c00.*NX.*OF/s], ["sqrt", "-1", undefined, /0x7e00.*nan.*NV/s]]) {
    await t.page.selectOption("#play-operation", operation);
    await t.page.fill("#play-a", a);
    if (b !== undefined) {
      await t.page.fill("#play-b", b);
    }
    await t.page.waitForFunction(
      ([source, flags]) => new RegExp(source, flags).test([...document.querySelector(".play-result").querySelectorAll("tr")].at(-1)?.innerText ?? ""),
      [wanted.source, wanted.flags],
    );
    assert.match(await result(), wanted);
  }
});

test("elements are quantized, and come back", async (t) => {
  await t.open("#numbers");
  await t.page.selectOption("#play-elem", { label: "INT8" });
  await t.page.fill("#play-accValue", "200");
  await t.page.check("#play-sat");
  const rows = t.page.locator(".play-result").last();
  await t.page.waitForFunction(() => /0x7f\s+127\s+SAT_HIT/.test([...document.querySelectorAll(".play-result")].at(-1).innerText));
  /* With a scale of 2^1 the code is half of the value. */
  await t.page.fill("#play-scale", "1");
  await t.page.waitForFunction(() => /0x64\s+100/.test([...document.querySelectorAll(".play-result")].at(-1).innerText));
  assert.match(await rows.innerText(), /widen.*\n?.*0x43480000\s+200/);
  await t.page.fill("#play-scale", "much");
  await t.page.waitForSelector("text=expected a whole number");
});

test("what is no number is told beside its field", async (t) => {
  await t.open("#numbers");
  await t.page.fill("#play-text", "0.1x");
  await t.page.waitForSelector("#play-text-problem:has-text('character 4')");
  assert.equal(await t.page.locator("#play-text").getAttribute("aria-invalid"), "true");
  await t.page.fill("#play-text", "2");
  await t.page.waitForFunction(() => document.querySelector("#play-text-problem").textContent === "");
  await t.page.fill("#play-bits", "zebra");
  await t.page.keyboard.press("Enter");
  await t.page.waitForSelector("text=expected bits as 0x and hexadecimal digits");
});

test("a link shows the same numbers", async (t) => {
  await t.open("#numbers");
  const shown = await show(t, "464", "FP8_E4M3");
  await t.page.waitForFunction(() => location.hash.startsWith("#numbers="));
  await t.open(await t.page.evaluate(() => location.hash));
  await t.page.waitForFunction(() => document.querySelector("[data-of]")?.dataset.of === "464 FP8_E4M3");
  assert.equal(await t.page.locator("[data-of] tbody tr").first().locator("td").nth(1).innerText(), shown.RNE.bits);
  await t.shot("numbers");
});
