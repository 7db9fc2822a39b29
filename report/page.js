"use strict";
// Everything can be read without this: it sorts the table and shows words where one points.

const table = document.querySelector("#points table");

function sort(column, direction) {
  const body = table.tBodies[0];
  const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
  const sign = direction === "ascending" ? 1 : -1;
  const rows = [...body.rows].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === "" || y === "") return (x === "") - (y === ""); // what is missing comes last, either way
    return sign * (isNaN(x) || isNaN(y) ? x.localeCompare(y, undefined, { numeric: true }) : x - y);
  });
  body.append(...rows);
  for (const [place, head] of [...table.tHead.rows[0].cells].entries()) {
    if (place === column) head.setAttribute("aria-sort", direction);
    else head.removeAttribute("aria-sort");
  }
}

for (const [column, head] of [...table.tHead.rows[0].cells].entries()) {
  const button = document.createElement("button");
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    // The better end first; then the other way.
    const first = head.dataset.better === "higher" ? "descending" : "ascending";
    const other = first === "descending" ? "ascending" : "descending";
    sort(column, head.getAttribute("aria-sort") === first ? other : first);
  });
}

// report.html#sort=fmax opens with the table sorted by that metric, best first.
const asked = /^#sort=(\w+)$/.exec(location.hash);
if (asked) table.querySelector(`th[data-metric="${asked[1]}"] button`)?.click();

const tip = document.createElement("div");
tip.id = "tip";
tip.hidden = true;
document.body.append(tip);
for (const mark of document.querySelectorAll(".mark")) {
  const title = mark.querySelector("title");
  const words = title.textContent;
  mark.setAttribute("aria-label", words);
  title.remove(); // or the browser would show it as well
  mark.addEventListener("pointerenter", (event) => {
    tip.textContent = words;
    tip.hidden = false;
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(event.clientX + 12, room))}px`;
    tip.style.top = `${Math.max(8, event.clientY - tip.offsetHeight - 12)}px`;
  });
  mark.addEventListener("pointerleave", () => (tip.hidden = true));
}
