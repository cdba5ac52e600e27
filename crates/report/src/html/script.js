// Without scripts everything can be read. With them a link opens the folded part that it leads to,
// print shows every part, and a table that is wider than its box says so.
"use strict";
const reveal = () => {
  for (let at = document.getElementById(decodeURIComponent(location.hash.slice(1))); at; at = at.parentElement) {
    if (at.tagName === "DETAILS") at.open = true;
  }
};
addEventListener("hashchange", reveal);
document.addEventListener("click", (e) => e.target.closest("a[href^='#']") && setTimeout(reveal));
reveal();
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const part of folded) part.open = true;
});
addEventListener("afterprint", () => folded.forEach((part) => (part.open = false)));
const watch = new ResizeObserver((all) => {
  for (const { target: box } of all) box.previousElementSibling.hidden = box.scrollWidth <= box.clientWidth + 1;
});
document.querySelectorAll(".scroll").forEach((box) => watch.observe(box));
