// A run's agents: where they stand, what they are coloured by, and messages on their way. With many agents, a
// field of squares in place of arrows.

class Panel {
  constructor(id, close) {
    this.id = id;
    this.name = make("h3");
    this.caption = make("p");
    this.canvas = make("canvas", { role: "img", tabindex: "0" });
    this.bar = make("canvas");
    [this.low, this.high] = [make("span"), make("span")];
    this.element = make("figure", { class: "card panel", "data-panel": id },
      make("div", { class: "top" }, this.name, make("button", { class: "close", type: "button", "aria-label": "put these agents away", onclick: close }, "✕")),
      this.canvas, make("div", { class: "scale" }, this.low, this.bar, this.high), this.caption);
    this.element.style.margin = "0";
    this.dirty = true;
    this.links = null; // drawn once, as a picture
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerdown", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", hideTip);
  }

  /// What is shown: a cell, its network, its agents' numbers, the colour, and who waits for whom if known.
  set({ cell, network, agents, colour, crew, label }) {
    if (network !== this.network) this.links = null;
    Object.assign(this, { cell, network, agents, colour, crew });
    this.name.textContent = label;
    const values = agents?.values?.[colour.key] ?? null;
    this.values = values;
    this.range = values && range(values, colour.log);
    this.low.textContent = this.range ? short(this.range.low) : "";
    this.high.textContent = this.range ? short(this.range.high) : "";
    this.caption.textContent = this.about();
    this.dirty = true;
  }

  about() {
    const { cell, agents, colour, network } = this;
    const parts = [];
    if (!network) parts.push("no network is known of this run");
    else if (network.places.length && !network.links.length) parts.push("no arrows: everybody hears everybody, or links are too many");
    if (!this.values) parts.push(`${colour.label}: ${agents || cell.status === "running" ? colour.missing : "no numbers of agents"}`);
    else parts.push(`${colour.label} after ${short(agents.round)} rounds${agents.group > 1 ? `, means of ${agents.group} agents` : ""}`);
    if (cell.status === "running" && cell.rate) {
      const shown = cell.rate > SPEED ? `; one message in ${short(Math.max(1, Math.round(cell.rate / SPEED)))} is drawn` : "";
      parts.push(`${short(cell.rate)} rounds a second${network?.links.length ? shown : ""}`);
    }
    return parts.join(" · ");
  }

  /// Whether anything moves.
  moves() {
    return this.cell?.status === "running" && this.cell.rate > 0 && this.network?.links.length > 0 && choices.messages && !stillness.matches && told.connected;
  }

  draw(now) {
    this.dirty = false;
    const { context: pen, width, height } = sized(this.canvas);
    this.canvas.setAttribute("aria-label", `${this.network?.agents ?? 0} agents coloured by ${this.colour.title}`);
    if (!this.network || width < 40 || height < 40) return; // not laid out yet
    this.drawScale();
    if (!this.network.places.length) { this.field(pen, width, height); return; }
    const layout = this.arrange(width, height);
    if (!this.links || this.links.width !== this.canvas.width || this.links.height !== this.canvas.height || this.links.dark !== theme.dark) this.drawLinks(layout, width, height);
    pen.drawImage(this.links.picture, 0, 0, width, height);
    if (this.crew) this.drawWaits(pen, layout);
    if (this.moves()) this.drawMessages(pen, layout, now);
    this.drawAgents(pen, layout);
  }

  arrange(width, height) {
    const half = Math.min(width, height) / 2 - 18;
    const places = this.network.places.map(([x, y]) => [width / 2 + half * x, height / 2 + half * y]);
    this.gap ??= new WeakMap();
    let gap = this.gap.get(this.network);
    if (gap === undefined) {
      gap = 2;
      this.network.places.forEach(([x, y], i) => { for (let j = 0; j < i; j++) gap = Math.min(gap, Math.hypot(x - this.network.places[j][0], y - this.network.places[j][1])); });
      this.gap.set(this.network, gap);
    }
    const size = Math.max(3.5, Math.min(13, half * gap / 2.3));
    this.layout = { places, size, half, middle: [width / 2, height / 2] };
    return this.layout;
  }

  /// The middle of an arrow's curve: straight if it is alone, to the right of its way back, and inwards on a
  /// circle where it would run through others.
  bend([from, to], { places, middle, half }, round) {
    const [a, b] = [places[from], places[to]];
    const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
    const length = Math.hypot(dx, dy) || 1;
    const centre = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
    const off = [centre[0] - middle[0], centre[1] - middle[1]];
    const n = places.length;
    const steps = (to - from + n) % n;
    if (round && Math.min(steps, n - steps) > 1 && Math.hypot(...off) > 0.2 * half) {
      const share = (2 * steps <= n ? 0.4 : 0.64) * length / half;
      return [centre[0] - off[0] * share, centre[1] - off[1] * share];
    }
    if (!this.twoWay().has(`${to} ${from}`)) return centre;
    const aside = 2 * Math.min(16, Math.max(4, 0.1 * length)) / length;
    return [centre[0] - dy * aside, centre[1] + dx * aside];
  }

  isRound() {
    return this.network.places.length > 2 && this.network.places.every(([x, y]) => Math.abs(Math.hypot(x, y) - 1) < 1e-3);
  }

  twoWay() {
    this.pairs ??= new WeakMap();
    return this.pairs.get(this.network) ?? this.pairs.set(this.network, new Set(this.network.links.map(([from, to]) => `${from} ${to}`))).get(this.network);
  }

  /// Arrows, and each one's curve for the messages on it.
  drawLinks(layout, width, height) {
    const picture = document.createElement("canvas");
    [picture.width, picture.height] = [this.canvas.width, this.canvas.height];
    const pen = picture.getContext("2d");
    pen.setTransform(picture.width / width, 0, 0, picture.height / height, 0, 0);
    const { places, size } = layout;
    const crowded = this.network.links.length > 6 * places.length;
    const [line, head] = crowded ? [0.7, 4.5] : [1.2, 6.5];
    pen.strokeStyle = pen.fillStyle = theme.paint.link;
    pen.lineWidth = line;
    if (crowded) pen.globalAlpha = 0.6;
    const round = this.isRound();
    this.curves = this.network.links.map((link) => {
      const [a, b] = [places[link[0]], places[link[1]]];
      const control = this.bend(link, layout, round);
      const towards = (from, to, by) => { const l = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1; return [from[0] + by * (to[0] - from[0]) / l, from[1] + by * (to[1] - from[1]) / l]; };
      const start = towards(a, control, size);
      const tip = towards(b, control, size + 1);
      const neck = towards(b, control, size + 1 + head * 0.8);
      pen.beginPath();
      pen.moveTo(...start);
      pen.quadraticCurveTo(...control, ...neck);
      pen.stroke();
      const angle = Math.atan2(tip[1] - control[1], tip[0] - control[0]);
      pen.beginPath();
      pen.moveTo(...tip);
      for (const side of [2.75, -2.75]) pen.lineTo(tip[0] + head * Math.cos(angle + side), tip[1] + head * Math.sin(angle + side));
      pen.fill();
      return [start, control, tip];
    });
    this.links = { picture, width: picture.width, height: picture.height, dark: theme.dark };
  }

  /// A message is a dot that goes from its sender to its receiver in one of the rounds that are shown.
  drawMessages(pen, layout, now) {
    const speed = Math.min(this.cell.rate, SPEED);
    const time = now / 1000 * speed;
    const part = time % 1;
    const period = this.network.period;
    const round = period > 1 ? Math.floor(time) % period : 0;
    const { links } = this.network;
    const every = Math.max(1, Math.ceil(links.length / 800)); // more dots cannot be told apart
    const dot = Math.max(1.8, Math.min(3.2, layout.size / 3));
    const at = ([a, c, b], t) => [(1 - t) ** 2 * a[0] + 2 * t * (1 - t) * c[0] + t * t * b[0], (1 - t) ** 2 * a[1] + 2 * t * (1 - t) * c[1] + t * t * b[1]];
    for (const [bit, name, shift] of [[1, "pull", 0], [2, "push", -0.12]]) {
      const t = part + shift;
      if (t < 0) continue;
      pen.fillStyle = theme.paint[name];
      pen.beginPath();
      for (let i = 0; i < links.length; i += every) {
        const [, , graphs, rounds] = links[i];
        if (!(graphs & bit) || (rounds.length && !rounds.includes(round))) continue;
        const [x, y] = at(this.curves[i], t);
        pen.moveTo(x + dot, y);
        pen.arc(x, y, dot, 0, 7);
      }
      pen.fill();
    }
  }

  /// A red arrow from whoever is awaited to whoever waits.
  drawWaits(pen, { places, size }) {
    this.crew.agents.forEach(({ waits }, who) => {
      if (!waits || waits[1] < 0.5) return;
      const link = this.network.links.findIndex(([from, to]) => from === waits[0] && to === who);
      const [start, control, tip] = link >= 0 ? this.curves[link] : [places[waits[0]], places[waits[0]], places[who]];
      pen.strokeStyle = theme.paint.bad;
      pen.lineWidth = 2.4;
      pen.beginPath();
      pen.moveTo(...start);
      pen.quadraticCurveTo(...control, ...tip);
      pen.stroke();
      pen.beginPath();
      pen.arc(...places[who], size + 3, 0, 7);
      pen.stroke();
    });
  }

  part(i) {
    const value = this.values?.[Math.floor(i / (this.agents.group || 1))];
    return value === null || value === undefined || !this.range ? null : this.range.part(value);
  }

  drawAgents(pen, { places, size }) {
    pen.textAlign = "center";
    pen.font = `${Math.round(Math.min(11, size * 0.95))}px system-ui, sans-serif`;
    pen.lineWidth = 1;
    places.forEach(([x, y], i) => {
      const part = this.part(i);
      const silent = this.crew?.agents[i]?.state === "silent";
      pen.beginPath();
      pen.arc(x, y, size, 0, 7);
      pen.fillStyle = silent ? theme.paint.paper : part === null ? theme.paint.raised : shade(part);
      pen.fill();
      pen.strokeStyle = silent ? theme.paint.bad : theme.paint.muted;
      pen.setLineDash(silent ? [2, 2] : []);
      pen.stroke();
      if (size >= 7.5) {
        pen.fillStyle = part === null || silent ? theme.paint.ink : onShade(part);
        pen.fillText(i, x, y + size * 0.35);
      }
    });
    pen.setLineDash([]);
  }

  /// A square for each agent, or group, row by row.
  field(pen, width, height) {
    const count = this.values?.length ?? Math.min(this.network.agents, 1024);
    const columns = Math.max(1, Math.ceil(Math.sqrt(count * width / height)));
    const side = Math.min(width / columns, height / Math.ceil(count / columns));
    this.squares = { columns, side, count };
    const inner = side > 4 ? side - 1 : side;
    for (let i = 0; i < count; i++) {
      const value = this.values?.[i];
      pen.fillStyle = value === null || value === undefined ? theme.paint.raised : shade(this.range.part(value));
      pen.fillRect((i % columns) * side, Math.floor(i / columns) * side, inner, inner);
    }
  }

  drawScale() {
    const { context: pen, width, height } = sized(this.bar);
    if (!this.range) return;
    for (let x = 0; x < width; x += 2) { pen.fillStyle = shade(x / width); pen.fillRect(x, 0, 2, height); }
  }

  /// What is known of the agent under the pointer.
  point(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [found, many] = [-1, 1];
    if (!this.network) return;
    if (this.network.places.length) {
      found = this.layout?.places.findIndex(([a, b]) => Math.hypot(a - x, b - y) <= this.layout.size + 2) ?? -1;
    } else if (this.squares) {
      const { columns, side, count } = this.squares;
      const [column, row] = [Math.floor(x / side), Math.floor(y / side)];
      const place = row * columns + column;
      many = this.agents?.group ?? 1;
      found = column < columns && place < count ? place * many : -1;
    }
    if (found < 0) { hideTip(); return; }
    const rows = Object.entries(this.agents?.values ?? {}).map(([key, values]) => {
      const colour = head().colours.find((other) => other.key === key);
      return make("div", {}, `${colour?.label ?? key} `, make("b", {}, short(values[Math.floor(found / many)], 4)));
    });
    const heard = this.network.links.filter(([, to]) => to === found).map(([from]) => from);
    const name = many > 1 ? `agents ${found} to ${found + many - 1}` : `agent ${found}`;
    const hears = heard.length ? [make("div", {}, `hears ${heard.slice(0, 12).join(", ")}${heard.length > 12 ? ", …" : ""}`)] : [];
    showTip(event, make("div", {}, make("b", {}, name)), ...rows, ...hears);
  }
}

/// Rounds a second that messages are drawn at, at most.
const SPEED = 1.2;

/// From the least to the most of some values, and where one is between.
function range(values, log) {
  const there = values.filter((value) => value !== null && (!log || value > 0));
  if (!there.length) return null;
  const [low, high] = [there.reduce((a, b) => Math.min(a, b)), there.reduce((a, b) => Math.max(a, b))];
  const of = log ? Math.log : (value) => value;
  const span = of(high) - of(low);
  return { low, high, part: (value) => (log && value <= 0 ? 0 : span > 1e-9 ? (of(value) - of(low)) / span : 0.5) };
}
