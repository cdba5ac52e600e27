// SPDX-License-Identifier: MIT OR Apache-2.0
// What a person would notice on a page that is laid out: parts that do not fit, text that is cut
// off, covered or too pale, charts without a description. Returns one line of text for each.
(() => {
  "use strict";
  const faults = [];
  const shown = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const text = (e) => e.textContent.trim().replace(/\s+/g, " ").slice(0, 60);
  const name = (e) => {
    const id = e.id ? `#${e.id}` : "";
    const classes = [...e.classList].map((c) => `.${c}`).join("");
    return `<${e.tagName.toLowerCase()}${id}${classes}> “${text(e)}”`;
  };
  // Text for screen readers only, and links that appear when they have the focus.
  const unseen = (e) => e.closest(".unseen, .skip, caption, .cards thead, .glance thead");
  const scrolls = (style) => ["auto", "scroll"].includes(style.overflowX);
  const all = [...document.body.querySelectorAll("*")].filter((e) => shown(e) && !unseen(e));
  const html = all.filter((e) => e instanceof HTMLElement);

  const page = document.scrollingElement;
  if (page.scrollWidth > page.clientWidth) {
    faults.push(`the page is ${page.scrollWidth} px wide, the screen ${page.clientWidth}`);
  }
  for (const e of html) {
    const style = getComputedStyle(e);
    const inline = style.display === "inline" || e.clientWidth === 0;
    if (inline || ["SCRIPT", "STYLE"].includes(e.tagName)) continue;
    if (!scrolls(style) && e.scrollWidth > e.clientWidth + 1) {
      const how = style.overflowX === "visible" ? "leaves its box" : "is cut off";
      faults.push(`${name(e)} ${how}: ${e.scrollWidth} px in ${e.clientWidth}`);
    }
    if (["hidden", "clip"].includes(style.overflowY) && e.scrollHeight > e.clientHeight + 1) {
      faults.push(`${name(e)} is cut off: ${e.scrollHeight} px high in ${e.clientHeight}`);
    }
    // A table that scrolls says so.
    if (e.matches(".scroll") && e.scrollWidth > e.clientWidth + 1) {
      const hint = e.previousElementSibling;
      if (!hint?.matches(".hint") || !shown(hint)) faults.push(`${name(e)} scrolls without a hint`);
    }
  }

  for (const svg of document.querySelectorAll("svg")) {
    if (!shown(svg)) continue;
    const described = svg.getAttribute("role") === "img" && svg.getAttribute("aria-label");
    if (!described && !svg.closest("[aria-hidden=true]")) {
      faults.push(`a chart has no description: ${name(svg)}`);
    }
    const frame = svg.getBoundingClientRect();
    const labels = [...svg.querySelectorAll("text")].filter((t) => shown(t) && text(t));
    const boxes = labels.map((t) => t.getBoundingClientRect());
    const scale = svg.viewBox.baseVal?.width ? frame.width / svg.viewBox.baseVal.width : 1;
    const least = Math.min(...labels.map((t) => scale * parseFloat(getComputedStyle(t).fontSize)));
    if (least < 11) faults.push(`${name(svg)} has letters of ${least.toFixed(1)} px`);
    boxes.forEach((a, i) => {
      const out = Math.max(frame.left - a.left, a.right - frame.right, frame.top - a.top, a.bottom - frame.bottom);
      if (out > 1.5) faults.push(`${name(labels[i])} is ${out.toFixed(0)} px outside its chart`);
      // Boxes of text hold room above and below the letters.
      const slack = (b) => 0.15 * Math.min(b.height, b.width);
      for (let j = i + 1; j < boxes.length; j += 1) {
        const b = boxes[j];
        const x = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const y = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (x > 1 && y > slack(a) + slack(b)) {
          faults.push(`“${text(labels[i])}” and “${text(labels[j])}” overlap in a chart`);
        }
      }
    });
  }

  // Contrast of text, WCAG AA: 4.5, or 3 where it is large.
  const channels = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const light = (rgb) => {
    const [r, g, b] = rgb.slice(0, 3).map((c) => (c <= 10.3 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (e) => {
    for (let at = e; at; at = at.parentElement) {
      const rgb = channels(getComputedStyle(at).backgroundColor);
      if (rgb.length === 3 || rgb[3] > 0.9) return rgb;
    }
    return [255, 255, 255];
  };
  const pale = new Set();
  for (const e of all) {
    const direct = [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
    if (!direct || ["SCRIPT", "STYLE", "TITLE", "DESC"].includes(e.tagName.toUpperCase())) continue;
    const style = getComputedStyle(e);
    const ink = channels(e instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [light(ink), light(behind(e))].sort((x, y) => y - x);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.6 && style.fontWeight >= 700);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (large ? 3 : 4.5)) pale.add(`${e.tagName.toLowerCase()}.${e.getAttribute("class") ?? ""} has a contrast of ${ratio.toFixed(1)}: “${text(e)}”`);
  }
  // A number of a heat map stands on a tile of a translucent colour.
  for (const label of document.querySelectorAll("svg g > rect + text, svg g > rect + path + text")) {
    const tile = label.parentElement.querySelector(":scope > rect");
    if (!shown(label) || !text(label)) continue;
    const [paint, paper] = [channels(getComputedStyle(tile).fill), behind(tile)];
    const share = parseFloat(getComputedStyle(tile).fillOpacity);
    const under = paper.slice(0, 3).map((c, i) => share * paint[i] + (1 - share) * c);
    const [a, b] = [light(channels(getComputedStyle(label).fill)), light(under)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) pale.add(`“${text(label)}” has ${ratio.toFixed(1)} on its tile`);
  }
  faults.push(...[...pale].slice(0, 10));
  return [...new Set(faults)];
})()
