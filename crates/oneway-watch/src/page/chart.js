// Curves: one chart for each topology, drawn again when something has changed.

/// The points of a quantity over an axis, kept with the document that they come from.
const prepared = new WeakMap();
function pointsOf(curve, quantity, axis) {
  const line = curve?.y?.[quantity];
  const places = curve?.x?.[axis];
  if (!line || !places) return null;
  const kept = prepared.get(curve) ?? prepared.set(curve, new Map()).get(curve);
  const key = `${quantity} ${axis}`;
  if (kept.has(key)) return kept.get(key);
  const [xs, ys] = [[], []];
  line.values.forEach((y, i) => {
    const x = places[line.at ? line.at[i] : i];
    if (x !== null && x !== undefined && y !== null) { xs.push(x); ys.push(y); }
  });
  const positive = ys.filter((y) => y > 0);
  const points = {
    xs: Float64Array.from(xs), ys: Float64Array.from(ys), far: xs.reduce((a, b) => Math.max(a, b), 0),
    low: ys.reduce((a, b) => Math.min(a, b), Infinity), high: ys.reduce((a, b) => Math.max(a, b), -Infinity),
    least: positive.reduce((a, b) => Math.min(a, b), Infinity),
  };
  kept.set(key, points);
  return points;
}

/// Round numbers between two, about `count` of them.
function ticks(low, high, count) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + 1e-9 * span; at += step) found.push(Math.abs(at) < 1e-12 * span ? 0 : at);
  return found;
}

/// Powers of ten between two logarithms, as many as there is room for; round numbers where there are not two.
function decades(low, high, count) {
  const [first, last] = [Math.ceil(low - 1e-9), Math.floor(high + 1e-9)];
  if (last - first < 1) return ticks(10 ** low, 10 ** high, count).filter((value) => value > 0).map(Math.log10);
  const step = Math.max(1, Math.ceil((last - first) / count));
  const found = [];
  for (let at = Math.ceil(first / step) * step; at <= last; at += step) found.push(at);
  return found;
}

/// Where the middle of `low` and `high` in a sorted list is nearest to `x`.
function nearest(xs, x) {
  let [low, high] = [0, xs.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (xs[middle] < x) low = middle + 1; else high = middle;
  }
  return low > 0 && x - xs[low - 1] < xs[low] - x ? low - 1 : low;
}

class Chart {
  constructor(title) {
    this.title = title;
    this.canvas = make("canvas", { role: "img", tabindex: "0" });
    this.element = make("figure", { class: "card chart", "data-chart": title }, make("h3", {}, title), this.canvas);
    this.element.style.margin = "0";
    this.lines = [];
    this.pointer = null;
    this.dirty = true;
    this.canvas.addEventListener("pointermove", (event) => { this.pointer = event; this.dirty = true; });
    this.canvas.addEventListener("pointerdown", (event) => { this.pointer = event; this.dirty = true; });
    this.canvas.addEventListener("pointerleave", () => { this.pointer = null; this.dirty = true; hideTip(); });
  }

  /// Lines are { name, colour, dash, points, faint }.
  set(lines, options) {
    this.lines = lines.filter((line) => line.points && line.points.xs.length);
    this.options = options;
    this.dirty = true;
  }

  draw() {
    this.dirty = false;
    const { context: pen, width, height } = sized(this.canvas);
    const { log, axis, label } = this.options;
    const { paint } = theme;
    const room = { left: 56, right: 10, top: 22, bottom: 34 };
    const [w, h] = [width - room.left - room.right, height - room.top - room.bottom];
    this.canvas.setAttribute("aria-label", `${label} over ${axis}: ${this.lines.length} lines`);
    pen.font = "12px system-ui, sans-serif";
    pen.fillStyle = paint.muted;
    pen.textAlign = "left";
    pen.fillText(label, 2, 12);
    if (!this.lines.length || w < 20 || h < 20) {
      pen.fillText("nothing measured yet", room.left, room.top + h / 2);
      return;
    }
    const scale = this.scale(log);
    const x = (value) => room.left + w * (value / scale.far);
    const y = log ? (value) => room.top + h * (1 - (Math.log10(value) - scale.low) / (scale.high - scale.low))
      : (value) => room.top + h * (1 - (value - scale.low) / (scale.high - scale.low));
    this.grid(pen, scale, { room, w, h, width, height, x, y });
    pen.save();
    pen.beginPath();
    pen.rect(room.left, room.top - 2, w + 1, h + 4);
    pen.clip();
    pen.lineJoin = "round";
    for (const line of this.lines) {
      pen.strokeStyle = line.colour;
      pen.globalAlpha = line.faint ? 0.6 : 1;
      pen.lineWidth = line.faint ? 1.2 : 1.7;
      pen.setLineDash(line.dash);
      pen.beginPath();
      const { xs, ys } = line.points;
      for (let i = 0, begun = false; i < xs.length; i++) {
        if (log && ys[i] <= 0) { begun = false; continue; }
        if (begun) pen.lineTo(x(xs[i]), y(ys[i])); else pen.moveTo(x(xs[i]), y(ys[i]));
        begun = true;
      }
      pen.stroke();
    }
    pen.restore();
    if (this.pointer) this.point(pen, { room, w, h, x, y, scale, log });
  }

  scale(log) {
    let [far, low, high] = [0, Infinity, -Infinity];
    for (const { points } of this.lines) {
      far = Math.max(far, points.far);
      low = Math.min(low, log ? points.least : points.low);
      high = Math.max(high, points.high);
    }
    far = far || 1;
    if (log) {
      if (!Number.isFinite(low) || !(high > 0)) [low, high] = [0.1, 1];
      [low, high] = [Math.log10(low), Math.log10(high)];
      if (high - low < 0.1) [low, high] = [low - 0.05, high + 0.05];
    } else {
      if (!(high > low)) [low, high] = [low - Math.abs(low || 1) * 0.05, high + Math.abs(high || 1) * 0.05];
    }
    const pad = 0.03 * (high - low);
    return { far, low: low - pad, high: high + pad };
  }

  grid(pen, scale, { room, w, h, width, height, x, y }) {
    const { paint } = theme;
    const { log, axis, bytes: inBytes } = this.options;
    pen.lineWidth = 1;
    pen.strokeStyle = paint.grid;
    pen.textAlign = "right";
    for (const at of log ? decades(scale.low, scale.high, h / 40) : ticks(scale.low, scale.high, h / 44)) {
      const value = log ? 10 ** at : at;
      const place = Math.round(y(value)) + 0.5;
      pen.beginPath();
      pen.moveTo(room.left, place);
      pen.lineTo(room.left + w, place);
      pen.stroke();
      pen.fillText(short(value, 3), room.left - 6, place + 4);
    }
    pen.textAlign = "center";
    for (const at of ticks(0, scale.far, Math.min(6, w / 80))) {
      pen.beginPath();
      pen.moveTo(x(at), room.top + h);
      pen.lineTo(x(at), room.top + h + 4);
      pen.stroke();
      const text = inBytes ? bytes(at) : short(at, 3);
      const half = pen.measureText(text).width / 2;
      pen.fillText(text, Math.min(x(at), width - half - 1), room.top + h + 16);
    }
    pen.textAlign = "right";
    pen.fillText(axis, width - 2, height - 3);
  }

  /// The values where the pointer is: means over the repetitions of each method.
  point(pen, { room, w, h, x, y, scale, log }) {
    const box = this.canvas.getBoundingClientRect();
    const at = Math.min(Math.max((this.pointer.clientX - box.left - room.left) / w, 0), 1) * scale.far;
    pen.strokeStyle = theme.paint.muted;
    pen.setLineDash([3, 3]);
    pen.beginPath();
    pen.moveTo(x(at), room.top);
    pen.lineTo(x(at), room.top + h);
    pen.stroke();
    pen.setLineDash([]);
    const found = new Map();
    for (const { name, colour, points } of this.lines) {
      if (at > points.far * 1.02) continue;
      const value = points.ys[nearest(points.xs, at)];
      const row = found.get(name) ?? found.set(name, { colour, values: [] }).get(name);
      row.values.push(value);
      if (log && value <= 0) continue;
      pen.fillStyle = colour;
      pen.beginPath();
      pen.arc(x(at), y(value), 3, 0, 7);
      pen.fill();
    }
    const rows = [...found].map(([name, { colour, values }]) => {
      const swatch = make("span", { class: "swatch" });
      swatch.style.background = colour;
      const mean = values.reduce((a, b) => a + b, 0) / values.length;
      return make("div", {}, swatch, `${name} `, make("b", {}, short(mean, 4)));
    });
    const place = this.options.bytes ? bytes(Math.round(at)) : short(Math.round(at), 6);
    showTip(this.pointer, make("div", {}, `${this.options.axis}: ${place}`), ...rows);
  }
}
