// The page works without this: it adds the theme switch, the method and axis switches, and values under the pointer.
"use strict";

// Theme: the reader's system decides, unless the switch said otherwise. In the head, so that nothing flashes.

const darkSheet = document.getElementById("dark");
const systemMedia = darkSheet.media;
const systemDark = matchMedia("(prefers-color-scheme: dark)");

function storedTheme() {
  try { return localStorage.getItem("oneway-theme"); } catch { return null; }
}

function storeTheme(theme) {
  try {
    if (theme) localStorage.setItem("oneway-theme", theme);
    else localStorage.removeItem("oneway-theme");
  } catch { /* kept for this visit only */ }
}

let theme = storedTheme();

function isDark() {
  return theme ? theme === "dark" : systemDark.matches;
}

function applyTheme() {
  darkSheet.media = theme === "dark" ? "screen" : theme === "light" ? "not all" : systemMedia;
  const button = document.getElementById("theme");
  if (button) button.setAttribute("aria-pressed", String(isDark()));
}

function toggleTheme() {
  const wanted = isDark() ? "light" : "dark";
  theme = (wanted === "dark") === systemDark.matches ? null : wanted;
  storeTheme(theme);
  applyTheme();
}

applyTheme();

// Numbers, as `number.rs` writes them; in a column (`full`), with the zeros that end them.

function number(value, full = true) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const [digits, power] = Math.abs(value).toExponential(3).split("e");
  const sign = value < 0 ? "−" : "";
  const trimmed = (text) => (!full && text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (power >= -3 && power < 6) return sign + trimmed(Math.abs(value).toFixed(Math.max(0, 3 - power)));
  const superior = String(Number(power)).replace(/./g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));
  return `${sign}${trimmed(digits)} × 10${superior}`;
}

/// A place on the x axis: whole numbers in full, as they are counts.
function place(value) {
  return Number.isInteger(value) && Math.abs(value) < 1e15 ? value.toLocaleString("en").replaceAll(",", "\u202f") : number(value, false);
}

// Elements.

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function drawn(name, attributes = {}) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// Charts.

/// From values to viewBox units.
function scale({ scale, min, max, px0, px1 }) {
  const along = scale === "log" ? Math.log10 : Number;
  return (value) => px0 + ((along(value) - along(min)) / (along(max) - along(min))) * (px1 - px0);
}

/// The index of the number nearest to `x` in an ascending list.
function nearest(list, x) {
  let low = 0;
  let high = list.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (list[middle] < x) low = middle;
    else high = middle;
  }
  return x - list[low] <= list[high] - x ? low : high;
}

/// A crosshair and a table of values over one figure. `shown` is the set of series switched on, `swatches` their keys.
function readable(figure, data, shown, swatches) {
  const plot = figure.querySelector(".plot");
  const svg = plot.querySelector("svg");
  const box = svg.viewBox.baseVal;
  svg.setAttribute("aria-hidden", "true"); // the plot has its name, and a title would be a second tooltip
  svg.querySelector(":scope > title")?.remove();
  const toX = scale(data.x);
  const toY = scale(data.y);
  const [top, bottom] = [data.y.px0, data.y.px1].sort((a, b) => a - b);
  const series = data.series.map((one) => ({ ...one, at: one.x.map(toX) }));
  const crosshair = svg.appendChild(drawn("g", { class: "crosshair", visibility: "hidden" }));
  const tip = plot.appendChild(element("div", { className: "tip", hidden: true, role: "status" }));
  let stop = null; // viewBox x of the crosshair

  /// Every place where a visible series has a value, as [viewBox x, value], ascending.
  function stops() {
    const all = new Map();
    for (const one of series) {
      if (shown.has(one.name)) one.at.forEach((at, k) => { if (Number.isFinite(at)) all.set(at, one.x[k]); });
    }
    return [...all].sort((a, b) => a[0] - b[0]);
  }

  function hide() {
    stop = null;
    tip.hidden = true;
    crosshair.setAttribute("visibility", "hidden");
  }

  /// Moves the crosshair to the stop nearest to `x`, `steps` further on.
  function show(x, steps = 0) {
    const all = stops();
    if (!all.length) return hide();
    const index = Math.max(0, Math.min(all.length - 1, nearest(all.map(([at]) => at), x) + steps));
    const [at, value] = all[index];
    stop = at;
    const here = series
      .filter((one) => shown.has(one.name) && at >= one.at[0] - 1 && at <= one.at[one.at.length - 1] + 1)
      .map((one) => ({ ...one, k: nearest(one.at, at) }))
      .sort((a, b) => (b.y[b.k] ?? Infinity) - (a.y[a.k] ?? Infinity));
    crosshair.replaceChildren(drawn("line", { x1: at, x2: at, y1: top, y2: bottom }), ...here.flatMap(dot));
    crosshair.setAttribute("visibility", "visible");
    const rows = here.map(row);
    tip.replaceChildren(element("table", {}, element("caption", { textContent: `${data.x.label} ${place(value)}` }), ...rows));
    tip.hidden = false;
    put(at, here);
  }

  /// Places the table beside the crosshair, inside the frame, at the top or the bottom: where the curves are not.
  function put(at, here) {
    const unit = svg.clientWidth / box.width; // pixels to one of the viewBox
    const [width, height, gap] = [tip.offsetWidth / unit, tip.offsetHeight / unit, 12 / unit];
    const [first, last] = [Math.min(data.x.px0, data.x.px1), box.x + box.width];
    const right = at + gap + width <= last;
    const left = right ? at + gap : Math.max(first, Math.min(at - gap - width, last - width));
    const under = here.flatMap((one) => one.y.filter((_, k) => one.at[k] >= left && one.at[k] <= left + width).map(toY));
    const inTop = under.filter((y) => y < top + height).length;
    const inBottom = under.filter((y) => y > bottom - height).length;
    const y = inTop <= inBottom ? top : bottom - height;
    tip.style.left = `${(100 * (left - box.x)) / box.width}%`;
    tip.style.top = `${(100 * (y - box.y)) / box.height}%`;
    tip.classList.toggle("over", plot.getBoundingClientRect().bottom + tip.offsetHeight > innerHeight);
  }

  /// The mark on a curve, if it is inside the frame.
  function dot({ name, at, y, k }) {
    const cy = toY(y[k] ?? NaN);
    if (!(cy >= top - 1 && cy <= bottom + 1)) return [];
    const mark = drawn("circle", { cx: at[k], cy, r: 3.5 });
    mark.style.fill = swatches.get(name)?.querySelector("line").style.stroke ?? "var(--ink)";
    return [mark];
  }

  /// One line of the table: key and name, value, band.
  function row({ name, y, low, high, k }) {
    const key = swatches.has(name) ? [swatches.get(name).cloneNode(true)] : [];
    const band = low?.[k] != null && high?.[k] != null ? `${number(low[k])} – ${number(high[k])}` : "";
    return element("tr", {}, element("th", { scope: "row" }, ...key, name), element("td", { textContent: number(y[k]) }), element("td", { textContent: band }));
  }

  function follow(event) {
    const matrix = svg.getScreenCTM();
    if (matrix) show(new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse()).x);
  }

  plot.addEventListener("pointermove", follow);
  plot.addEventListener("pointerdown", follow);
  plot.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") hide(); });
  plot.addEventListener("blur", hide);
  plot.addEventListener("focus", () => { if (stop === null && plot.matches(":focus-visible")) show(data.x.px1); });
  plot.addEventListener("keydown", (event) => {
    const from = stop ?? data.x.px1;
    const pace = event.shiftKey ? 10 : 1;
    if (event.key === "ArrowLeft") show(from, -pace);
    else if (event.key === "ArrowRight") show(from, pace);
    else if (event.key === "Home") show(-Infinity);
    else if (event.key === "End") show(Infinity);
    else if (event.key === "Escape") hide();
    else return;
    event.preventDefault();
  });
  addEventListener("resize", hide);
  document.addEventListener("pointerdown", (event) => { if (!plot.contains(event.target)) hide(); });
  return { refresh: () => { if (stop !== null) show(stop); }, hide };
}

// The page.

function methods(figures) {
  const chips = [...document.querySelectorAll(".chip")];
  const names = chips.map((chip) => chip.dataset.series);
  const swatches = new Map(chips.map((chip) => [chip.dataset.series, chip.querySelector(".swatch")]));
  const shown = new Set(names);
  const marks = [...document.querySelectorAll(".plot [data-series]")];
  const all = document.getElementById("all");
  const list = JSON.parse(document.getElementById("figure-data").textContent);
  const charts = figures
    .filter((figure) => list[figure.dataset.place]?.series && figure.querySelector(".plot svg"))
    .map((figure) => readable(figure, list[figure.dataset.place], shown, swatches));

  function change(keep) {
    for (const name of names) keep(name) ? shown.add(name) : shown.delete(name);
    for (const chip of chips) chip.setAttribute("aria-pressed", String(shown.has(chip.dataset.series)));
    for (const mark of marks) mark.classList.toggle("off", !shown.has(mark.dataset.series));
    all.disabled = shown.size === names.length;
    for (const chart of charts) chart.refresh();
  }

  function alone(name) {
    const already = shown.size === 1 && shown.has(name);
    change((other) => already || other === name);
  }

  function light(name) {
    document.body.classList.toggle("fading", name !== null && shown.has(name));
    for (const mark of marks) mark.classList.toggle("lit", mark.dataset.series === name);
  }

  for (const chip of chips) {
    const name = chip.dataset.series;
    chip.addEventListener("click", (event) => {
      if (event.shiftKey) alone(name);
      else change((other) => shown.has(other) !== (other === name));
      light(null);
    });
    chip.addEventListener("dblclick", () => alone(name));
    chip.addEventListener("pointerenter", (event) => { if (event.pointerType === "mouse") light(name); });
    chip.addEventListener("pointerleave", () => light(null));
  }
  all.addEventListener("click", () => change(() => true));
  return charts;
}

/// Of the figures that show one quantity, shows the one over `axis`; the first of them if none is.
function chooseAxis(figures, axis) {
  const chosen = new Map();
  for (const figure of figures) {
    const { family } = figure.dataset;
    if (family !== undefined && (figure.dataset.axis === axis || !chosen.has(family))) chosen.set(family, figure);
  }
  for (const figure of figures) {
    const { family } = figure.dataset;
    if (family !== undefined) figure.hidden = chosen.get(family) !== figure;
  }
}

document.addEventListener("DOMContentLoaded", () => {
  applyTheme();
  document.getElementById("theme").addEventListener("click", toggleTheme);
  systemDark.addEventListener("change", applyTheme);

  const figures = [...document.querySelectorAll(".chart-figure")];
  const charts = figures.length ? methods(figures) : [];
  for (const choice of document.querySelectorAll("input[name=axis]")) {
    if (choice.checked) chooseAxis(figures, choice.value);
    choice.addEventListener("change", () => {
      for (const chart of charts) chart.hide();
      chooseAxis(figures, choice.value);
    });
  }

  const claims = [...document.querySelectorAll(".claim")];
  const unfold = document.getElementById("unfold");
  unfold?.addEventListener("click", () => {
    const open = unfold.getAttribute("aria-pressed") !== "true";
    unfold.setAttribute("aria-pressed", String(open));
    for (const claim of claims) claim.open = open;
  });

  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const details of folded) details.open = true;
  });
  addEventListener("afterprint", () => { for (const details of folded) details.open = false; });
});
