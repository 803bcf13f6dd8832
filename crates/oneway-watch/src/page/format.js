// Numbers, elements and colours.

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/// 0.0123, 4.56·10⁻⁷, 12 300.
function short(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-3 && (size < 1e5 || (Number.isInteger(value) && size < 10 ** Math.max(5, digits + 1)))) {
    const text = size >= 1000 && Number.isInteger(value) ? String(value) : Number(value.toPrecision(digits)).toString();
    return text.replace("-", "−");
  }
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  const power = [...exponent].map((c) => (c === "-" ? "⁻" : c === "+" ? "" : superscripts[c])).join("");
  const trimmed = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  return `${trimmed === "1" ? "" : trimmed === "-1" ? "−" : `${trimmed.replace("-", "−")}·`}10${power}`;
}

function bytes(count) {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let at = 0;
  for (; count >= 999.5 && at < units.length - 1; at++) count /= 1000;
  return `${at === 0 ? Math.round(count) : Number(count.toPrecision(3))} ${units[at]}`;
}

function seconds(count) {
  if (count < 1) return "< 1 s";
  if (count < 120) return `${Math.round(count)} s`;
  if (count < 7200) return `${Math.round(count / 60)} min`;
  return `${(count / 3600).toFixed(1)} h`;
}

/// An element; what others wrote only ever becomes text.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const byId = (id) => document.getElementById(id);

/// The colours of the page, read again when the theme changes.
const theme = { dark: false, paint: {} };
function readTheme() {
  const kept = (() => { try { return localStorage.getItem("theme"); } catch { return null; } })();
  theme.dark = kept ? kept === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = theme.dark ? "dark" : "light";
  const style = getComputedStyle(document.documentElement);
  for (const name of ["paper", "raised", "ink", "muted", "grid", "link", "rule", "accent", "pull", "push", "bad"]) {
    theme.paint[name] = style.getPropertyValue(`--${name}`).trim();
  }
}

/// From little (0) to much (1): dark to bright in even steps, told apart by all kinds of sight.
const ramp = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37]];
function shade(part) {
  const at = Math.min(Math.max(part, 0), 1) * (ramp.length - 1);
  const low = Math.min(Math.floor(at), ramp.length - 2);
  const [a, b, t] = [ramp[low], ramp[low + 1], at - low];
  return `rgb(${a.map((x, i) => Math.round(x + t * (b[i] - x))).join(" ")})`;
}

/// Text on such a colour.
const onShade = (part) => (part > 0.55 ? "#111" : "#fff");

/// A canvas at the screen's resolution; its context draws in CSS pixels.
function sized(canvas) {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

/// Shows values beside the pointer, inside of the window.
function showTip(event, ...children) {
  const tip = byId("tip");
  tip.replaceChildren(...children);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const x = event.clientX + 14 + box.width > innerWidth ? event.clientX - box.width - 10 : event.clientX + 14;
  const y = Math.min(event.clientY + 14, innerHeight - box.height - 6);
  tip.style.left = `${Math.max(4, x)}px`;
  tip.style.top = `${Math.max(4, y)}px`;
}
const hideTip = () => { byId("tip").hidden = true; };
