// SPDX-License-Identifier: MIT OR Apache-2.0
// Uses what a page offers: links of the grid, legends, values at the pointer and by keys, copies of
// tables. Returns one line of text for each that does not work.
(async () => {
  "use strict";
  const faults = [];
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const shown = (e) => e.checkVisibility({ visibilityProperty: true });

  for (const link of all(".glance a")) {
    const to = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (!to?.querySelector("svg")) faults.push(`“${link.textContent.trim()}” of the grid leads nowhere: ${link.hash}`);
  }

  for (const chart of all(".chart")) {
    const button = chart.querySelector(".legend button[aria-pressed=true]");
    const svg = all(":scope > svg", chart).find(shown);
    if (!button || !svg) continue;
    const of = () => all(`g[data-k="${button.dataset.k}"]`, svg).filter(shown).length;
    const before = of();
    button.click();
    const hidden = of();
    button.click();
    if (!before) faults.push(`“${button.textContent.trim()}” has no curve: ${chart.previousElementSibling?.textContent}`);
    else if (hidden || of() !== before) faults.push(`the legend does not hide “${button.textContent.trim()}”`);
  }

  for (const chart of all(".chart")) {
    const svg = all(":scope > svg", chart).find(shown);
    const plot = svg?.querySelector(".plot");
    if (!plot) continue;
    const says = () => all(".read span", chart).map((line) => line.textContent).filter(Boolean);
    const frame = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width ? frame.width / svg.viewBox.baseVal.width : 1;
    const [x, y, width, height] = plot.dataset.box.split(" ").map((n) => scale * n);
    const clientX = frame.left + x + width / 2;
    const clientY = frame.top + y + height / 2;
    plot.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX, clientY }));
    const name = chart.previousElementSibling?.textContent ?? "a chart";
    if (!says().length) faults.push(`no value at the pointer: ${name}`);
    const page = document.scrollingElement;
    if (page.scrollWidth > page.clientWidth) faults.push(`the values at the pointer widen the page: ${name}`);
    chart.dispatchEvent(new PointerEvent("pointerleave"));
    chart.focus();
    chart.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    if (!says().length) faults.push(`no value by the keys: ${name}`);
    chart.blur();
  }

  let copied = "";
  Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: async (text) => { copied = text; } } });
  const cells = (line) => line.match(/("([^"]|"")*"|[^,]*)(,|$)/g).length - (line.endsWith(",") ? 0 : 1);
  for (const button of all(".scroll + .copy")) {
    copied = "";
    button.click();
    await Promise.resolve();
    const table = button.previousElementSibling.querySelector("table");
    const lines = copied.split("\r\n").slice(0, -1);
    const widths = new Set(lines.map(cells));
    const rows = 1 + table.tBodies[0].rows.length;
    if (lines.length !== rows || widths.size !== 1 || copied.includes("\u2212")) {
      faults.push(`a copied table is not CSV: ${lines.length} lines of ${[...widths]} cells for ${rows} rows: ${lines.slice(0, 2)}`);
    }
    const unit = copied.match(/(?<=[,\n])[-+]?[\d.]+ (%|ns|µs|ms|s|B|[KMG]B|[kMG]b\/s)(?=[,\r])/);
    if (unit) faults.push(`a copied number keeps its unit: ${unit[0]}`);
  }
  if (all(".scroll").length !== all(".scroll + .copy").length) faults.push("a table cannot be copied");
  return [...new Set(faults)].slice(0, 20);
})()
