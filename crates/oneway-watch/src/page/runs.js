// The table of runs: a row for each method on a topology, a square for each of its repetitions. Rows are
// changed and not made anew, so that nothing is lost under the pointer.

const entryOf = (cell) => [cell.group, cell.topology, cell.method].join("\u0000");
const entryName = (cell) => (cell.group ? `${cell.group}: ${cell.method}` : cell.method);

class Runs {
  constructor(table, { onSwitch, onPin }) {
    Object.assign(this, { onSwitch, onPin });
    this.rows = new Map();
    this.body = make("tbody");
    this.value = make("th", { class: "number" });
    const heads = ["method", "topology", "repetitions"].map((name) => make("th", {}, name));
    const right = ["round", "rounds/s"].map((name) => make("th", { class: "number" }, name));
    table.replaceChildren(make("thead", {}, make("tr", {}, ...heads, ...right, this.value, make("th", {}, "laws"))), this.body);
  }

  update(cells, quantity) {
    this.value.textContent = quantity?.label ?? "";
    const entries = new Map();
    for (const [id, cell] of cells) {
      const key = entryOf(cell);
      (entries.get(key) ?? entries.set(key, []).get(key)).push([id, cell]);
    }
    for (const [key, row] of this.rows) if (!entries.has(key)) { row.element.remove(); this.rows.delete(key); }
    for (const [key, members] of entries) {
      const row = this.rows.get(key) ?? this.add(key);
      this.fill(row, key, members, quantity);
    }
  }

  add(key) {
    const row = { squares: new Map() };
    row.line = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    row.line.setAttribute("viewBox", "0 0 26 8");
    row.stroke = document.createElementNS("http://www.w3.org/2000/svg", "line");
    for (const [name, value] of Object.entries({ x1: 1, x2: 25, y1: 4, y2: 4, "stroke-width": 2.2 })) row.stroke.setAttribute(name, value);
    row.line.append(row.stroke);
    row.text = make("span");
    row.name = make("button", { class: "series", type: "button", "aria-pressed": "true", onclick: () => this.onSwitch(key, false), ondblclick: () => this.onSwitch(key, true) }, row.line, row.text);
    row.topology = make("td");
    row.box = make("div", { class: "squares" });
    [row.round, row.rate, row.last] = [0, 1, 2].map(() => make("td", { class: "number" }));
    row.laws = make("td", { class: "laws" });
    row.element = make("tr", {}, make("td", { class: "name" }, row.name), row.topology, make("td", {}, row.box), row.round, row.rate, row.last, row.laws);
    this.body.append(row.element);
    this.rows.set(key, row);
    return row;
  }

  fill(row, key, members, quantity) {
    const first = members[0][1];
    row.text.textContent = entryName(first);
    row.topology.textContent = first.topology;
    row.stroke.setAttribute("stroke", first.colour[theme.dark ? 1 : 0]);
    row.stroke.setAttribute("stroke-dasharray", first.dash);
    row.name.setAttribute("aria-pressed", String(!choices.hidden.has(key)));
    row.element.dataset.entry = entryName(first);
    for (const [id, square] of row.squares) if (!members.some(([other]) => other === id)) { square.remove(); row.squares.delete(id); }
    for (const [id, cell] of members) {
      let square = row.squares.get(id);
      if (!square) {
        square = make("button", { class: "square", type: "button", onclick: () => this.onPin(id) }, make("i"));
        row.squares.set(id, square);
        row.box.append(square);
      }
      const done = cell.of ? Math.min(1, cell.round / cell.of) : 0;
      square.style.setProperty("--done", cell.status === "waiting" ? "0%" : `${Math.max(done * 100, 8).toFixed(1)}%`);
      square.dataset.status = cell.status;
      square.setAttribute("aria-pressed", String(choices.shown.includes(id)));
      const label = `repetition ${cell.repetition + 1}: ${cell.status}, round ${cell.round} of ${cell.of}`;
      if (square.title !== label) { square.title = label; square.setAttribute("aria-label", label); }
    }
    const least = members.reduce((low, [, cell]) => Math.min(low, cell.round), Infinity);
    const most = members.reduce((high, [, cell]) => Math.max(high, cell.round), 0);
    row.round.textContent = `${short(least, 6)}${most > least ? `–${short(most, 6)}` : ""} of ${short(first.of, 6)}`;
    const rates = members.map(([, cell]) => cell.rate).filter((rate) => rate !== null);
    row.rate.textContent = rates.length ? short(rates.reduce((a, b) => a + b, 0)) : "";
    row.last.textContent = this.lastValue(members, quantity);
    this.fillLaws(row, members);
  }

  /// The mean over repetitions of what was measured last.
  lastValue(members, quantity) {
    const values = members.map(([id]) => one(`curve/${id}`)?.y?.[quantity?.key]?.values?.at(-1)).filter((value) => value !== null && value !== undefined);
    return values.length ? short(values.reduce((a, b) => a + b, 0) / values.length, 4) : "–";
  }

  fillLaws(row, members) {
    const laws = new Map();
    for (const [, cell] of members) {
      for (const law of cell.laws) {
        const found = laws.get(law.name) ?? laws.set(law.name, { holds: true, checks: 0, worst: null }).get(law.name);
        found.holds &&= law.holds;
        found.checks += law.checks;
        if (law.worst !== null && (found.worst === null || (law.name.includes("≥") ? law.worst < found.worst : law.worst > found.worst))) found.worst = law.worst;
      }
    }
    const text = JSON.stringify([...laws]);
    if (row.lawText === text) return;
    row.lawText = text;
    row.laws.replaceChildren(...[...laws].map(([name, { holds, checks, worst }]) => {
      const title = `${holds ? "held" : "did not hold"} in ${checks} states${worst === null ? "" : `; at worst ${short(worst)}`}`;
      const value = worst === null ? "" : name.includes("≥") ? ` (least ${short(worst, 2)})` : ` (${short(worst, 2)})`;
      return make("span", { class: `law ${holds ? "holds" : "fails"}`, title }, make("b", {}, holds ? "✓" : "✗"), ` ${name}${value}`);
    }));
  }
}
