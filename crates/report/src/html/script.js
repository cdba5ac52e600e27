// Without scripts everything can be read. With them a link opens the folded part that it leads to,
// print shows every part, or those that are open where a page has many, a table that is wider than
// its box says so and can be copied as CSV, the legend of a chart hides schemes, and pointer and
// arrow keys read the values at a place.
"use strict";
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const words = (e) => e.textContent.replace(/[▲▼·]/g, "").replaceAll("\u2212", "-").replace(/\s+/g, " ").trim();

const reveal = () => {
  for (let at = document.getElementById(decodeURIComponent(location.hash.slice(1))); at; at = at.parentElement) {
    if (at.tagName === "DETAILS") at.open = true;
  }
};
addEventListener("hashchange", reveal);
reveal();
// A chart may have a panel for each metric: a cell of the grid leads to its own.
for (const link of all(".glance a")) {
  link.addEventListener("click", () => setTimeout(() => {
    const chart = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    const titles = chart ? all("text", chart).filter((text) => text.getBoundingClientRect().width) : [];
    titles.find((text) => words(text) === link.dataset.panel)?.scrollIntoView({ block: "center" });
  }));
}
let folded = [];
addEventListener("beforeprint", () => {
  folded = document.querySelector("[data-print=open]") ? [] : all("details:not([open])");
  for (const part of folded) part.open = true;
});
addEventListener("afterprint", () => folded.forEach((part) => (part.open = false)));

// Tables. In CSV the value of a cell, its interval, its verdict and the paper's value have a column
// each, and the lines of the head are one. Numbers are plain and in one unit, which the head names:
// a column with values in µs and in percent becomes two.
const KINDS = [["v", ""], ["i", "interval"], ["w", "verdict"], ["p", "paper"]];
const UNITS = {
  "%": ["%", 1],
  ns: ["µs", 1e-3], "µs": ["µs", 1], ms: ["µs", 1e3], s: ["µs", 1e6],
  B: ["B", 1], KB: ["B", 1e3], MB: ["B", 1e6], GB: ["B", 1e9],
  "kb/s": ["Mb/s", 1e-3], "Mb/s": ["Mb/s", 1], "Gb/s": ["Mb/s", 1e3],
  k: ["", 1e3], M: ["", 1e6], G: ["", 1e9], "": ["", 1],
};
const EMPTY = /^[-–]?$/;
// Without the digits that only the arithmetic has.
const plain = (x) => String(Number(x.toPrecision(12)));
const number = (text) => {
  const [, digits, word] = text.match(/^([-+]?\d+(?:\.\d+)?) ?(\D*)$/) ?? [];
  if (digits === undefined) return undefined;
  const [unit, factor] = UNITS[word] ?? [word, 1];
  return { unit, value: plain(digits * factor) };
};
// The columns of texts below a name: [head, cells].
const columns = (name, texts) => {
  const numbers = texts.map((text) => (EMPTY.test(text) ? null : number(text)));
  if (numbers.includes(undefined) || !numbers.some(Boolean)) return [[name, texts]];
  const units = [...new Set(numbers.filter(Boolean).map((n) => n.unit))];
  return units.map((unit) => [
    unit ? `${name} [${unit}]` : name,
    numbers.map((n) => (n?.unit === unit ? n.value : "")),
  ]);
};
// The ends of intervals: "±2.1" around a value in percent, "[-84, -19]" and "1 .. 2" by themselves.
const ends = (text, value) => {
  const half = text.match(/^±([\d.]+)$/)?.[1];
  const middle = half !== undefined && number(value);
  if (middle) {
    return [middle.value - half, Number(middle.value) + Number(half)].map((x) => String(Number(x.toFixed(2))));
  }
  return text.match(/^\[?([-+\d.]+)(?:, | \.\. )([-+\d.]+)\]?$/)?.slice(1);
};
const intervals = (name, texts, values, unit) => {
  const found = texts.map((text, i) => ends(text, values[i]));
  const others = texts.map((text, i) => (found[i] || EMPTY.test(text) ? "" : text));
  if (!found.some(Boolean)) return [[name, texts]];
  const end = (word, side) => [`${name} ${word}${unit}`, found.map((both) => both?.[side] ?? "")];
  const sides = [end("low", 0), end("high", 1)];
  return others.some(Boolean) ? [...sides, [`${name} remark`, others]] : sides;
};
const csv = (table) => {
  const heads = [];
  [...table.tHead.rows].forEach((row, y) => {
    let x = 0;
    for (const cell of row.cells) {
      while (heads[x]?.[y] !== undefined) x += 1;
      for (let i = 0; i < cell.colSpan; i += 1, x += 1) {
        for (let j = 0; j < cell.rowSpan; j += 1) (heads[x] ??= [])[y + j] = j ? "" : words(cell);
      }
    }
  });
  const body = [...table.tBodies[0].rows].map((row) => [...row.cells]);
  const all_columns = heads.flatMap((head, x) => {
    const some = KINDS.filter(([kind]) => body.some((row) => row[x]?.querySelector(`.${kind}`)));
    const texts = (kind) => body.map((row) => {
      const cell = row[x];
      if (!cell) return "";
      return (kind ? all(`.${kind}`, cell) : [cell]).map(words).join("; ").replace(/^paper /, "");
    });
    return (some.length ? some : [["", ""]]).flatMap(([kind, word]) => {
      const name = [...head, word].filter(Boolean).join(" ");
      const is_range = kind === "" && texts("").some((text) => / \.\. /.test(text));
      if (kind === "i") return intervals(name, texts("i"), texts("v"), " [%]");
      return is_range ? intervals(name, texts(""), [], "") : columns(name, texts(kind));
    });
  });
  const quoted = (text) => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [all_columns.map(([head]) => head), ...body.map((_, y) => all_columns.map(([, cells]) => cells[y]))];
  return lines.map((line) => `${line.map(quoted).join(",")}\r\n`).join("");
};
const copy = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = Object.assign(document.createElement("textarea"), { value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
};
const watch = new ResizeObserver((boxes) => {
  for (const { target: box } of boxes) {
    const hint = box.previousElementSibling;
    if (hint?.matches(".hint")) hint.hidden = box.scrollWidth <= box.clientWidth + 1;
  }
});
for (const box of all(".scroll")) {
  watch.observe(box);
  const button = Object.assign(document.createElement("button"), { className: "copy", type: "button", textContent: "Copy as CSV" });
  button.addEventListener("click", async () => {
    await copy(csv(box.querySelector("table")));
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy as CSV"), 1500);
  });
  box.after(button);
}

// Legends.
const show = (button, shown) => {
  const chart = button.closest(".chart");
  const of = `[data-k="${button.dataset.k}"]`;
  all(`button${of}`, chart).forEach((twin) => twin.setAttribute("aria-pressed", shown));
  all(`g${of}`, chart).forEach((part) => part.classList.toggle("off", !shown));
};
for (const legend of all(".legend")) {
  const buttons = all("button", legend);
  buttons.slice(legend.dataset.first || buttons.length).forEach((button) => show(button, false));
  for (const button of buttons) button.title = "Show or hide";
  legend.addEventListener("click", (e) => {
    const button = e.target.closest("button");
    if (button) show(button, button.getAttribute("aria-pressed") !== "true");
  });
}

// Values. A stop is a place of a plot with what the curves say there, or a value outside of plots.
const known = new WeakMap();
const stops = (svg) => {
  if (known.has(svg)) return known.get(svg);
  const tips = all("title", svg).map((title) => {
    const e = title.parentElement;
    title.remove();
    const box = e.getBBox();
    return { e, text: title.textContent, of: e.closest("[data-k]"), plot: e.closest(".plot"), x: box.x + box.width / 2, y: box.y + box.height + 4 };
  });
  const list = tips.filter((tip) => tip.text && !tip.plot).map((tip) => ({ ...tip, tips: () => [tip] }));
  for (const plot of all(".plot", svg)) {
    const here = tips.filter((tip) => tip.text && tip.plot === plot);
    const box = plot.dataset.box.split(" ").map(Number);
    const places = [...new Set(here.map((tip) => Math.round(tip.x)))].sort((a, b) => a - b);
    for (const x of places) {
      const nearest = () => {
        const found = new Map();
        for (const tip of here) {
          const scheme = tip.of?.dataset.k;
          const far = Math.abs(tip.x - x);
          if (tip.of?.matches(".off") || (!scheme && far > 9)) continue;
          if (!(Math.abs(found.get(scheme)?.x - x) <= far)) found.set(scheme, tip);
        }
        return [...found.values()];
      };
      list.push({ plot, box, x, y: box[1], tips: nearest });
    }
  }
  known.set(svg, list);
  return list;
};
const read = (chart, svg, stop) => {
  all(".read, .guide", chart).forEach((old) => old.remove());
  const tips = stop?.tips() ?? [];
  if (!tips.length) return;
  const box = Object.assign(document.createElement("output"), { className: "read" });
  for (const { of, text } of tips) {
    const line = document.createElement("span");
    if (of) line.append(Object.assign(document.createElement("i"), { className: `key k${of.dataset.k}` }));
    line.append(text);
    box.append(line);
  }
  const [frame, around] = [svg.getBoundingClientRect(), chart.getBoundingClientRect()];
  const scale = frame.width / svg.viewBox.baseVal.width;
  const left = stop.x * scale;
  if (left < frame.width / 2) box.style.left = `${left + 10}px`;
  else box.style.right = `${frame.width - left + 10}px`;
  box.style.top = `${frame.top - around.top + stop.y * scale}px`;
  chart.append(box);
  if (!stop.plot) return;
  const guide = document.createElementNS(svg.namespaceURI, "path");
  guide.setAttribute("class", "guide");
  guide.setAttribute("d", `M${stop.x} ${stop.box[1]}v${stop.box[3]}`);
  stop.plot.append(guide);
};
for (const chart of all(".chart")) {
  let now = -1;
  const drawn = () => all(":scope > svg", chart).find((svg) => svg.getBoundingClientRect().width);
  const go = (list, to) => read(chart, drawn(), list[(now = to)]);
  chart.tabIndex = 0;
  chart.setAttribute("role", "group");
  chart.setAttribute("aria-label", "Chart; the arrow keys read its values");
  chart.addEventListener("pointermove", (e) => {
    const svg = e.target.closest(".chart > svg");
    if (!svg) return go([], -1);
    const list = stops(svg);
    const p = new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const inside = ({ box: b }) => b && p.x > b[0] - 9 && p.x < b[0] + b[2] + 9 && p.y > b[1] && p.y < b[1] + b[3];
    const far = (stop) => (stop.box ? Math.abs(stop.x - p.x) : 0);
    const near = list.filter((stop) => inside(stop) || stop.e?.contains(e.target));
    go(list, list.indexOf(near.sort((a, b) => far(a) - far(b))[0]));
  });
  chart.addEventListener("pointerleave", () => go([], -1));
  chart.addEventListener("focusout", () => go([], -1));
  chart.addEventListener("keydown", (e) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Escape: 0 }[e.key];
    const svg = e.target === chart && step !== undefined && drawn();
    if (!svg) return;
    e.preventDefault();
    const list = stops(svg);
    go(list, step ? Math.max(0, Math.min(list.length - 1, now + step)) : -1);
  });
}
