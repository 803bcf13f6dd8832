// The page: choices, what they show, and a frame at a time.

const choices = { quantity: null, axis: null, log: true, colour: null, messages: true, hidden: new Set(), pinned: null, shown: [] };
const stillness = matchMedia("(prefers-reduced-motion: reduce)");
const head = () => one("head") ?? { title: "oneway watch", state: "waiting", about: "nothing here yet", notes: [], quantities: [], axes: [], colours: [] };
const charts = new Map();
const panels = new Map();
let stale = true;
let lastPick = 0;

const runs = new Runs(byId("table"), {
  onSwitch: (key, alone) => {
    const entries = new Set(all("cell").map(([, cell]) => entryOf(cell)));
    if (alone) { choices.hidden = new Set([...entries].filter((other) => other !== key)); } // a double click shows one alone
    else if (choices.hidden.has(key)) choices.hidden.delete(key);
    else if (choices.hidden.size === entries.size - 1) choices.hidden.clear(); // never none: the last one brings all back
    else choices.hidden.add(key);
    stale = true;
  },
  onPin: (id) => {
    const shown = choices.shown.includes(id) ? choices.shown.filter((other) => other !== id) : [...choices.shown, id].slice(-4);
    [choices.pinned, choices.shown] = [shown, shown];
    stale = true;
  },
});

/// Buttons of which one is pressed; made anew only if they are others.
function offer(place, options, chosen, choose) {
  const element = byId(place);
  const key = JSON.stringify(options.map(({ key: name }) => name));
  if (element.dataset.options !== key) {
    element.dataset.options = key;
    element.replaceChildren(...options.map((option) => make("button", { type: "button", role: "radio", "data-choice": option.key, onclick: () => { choose(option.key); stale = true; } }, option.title)));
  }
  for (const button of element.children) button.setAttribute("aria-checked", String(button.dataset.choice === chosen));
  element.hidden = options.length < 2;
}

/// The cells whose agents are shown: those that were asked for, else some that run, else some that have numbers.
function pick(cells, now) {
  const known = new Map(cells);
  if (choices.pinned) return choices.pinned.filter((id) => known.has(id));
  const runs_ = (id) => known.get(id)?.status === "running";
  if (choices.shown.length && choices.shown.every(runs_)) return choices.shown;
  if (choices.shown.every((id) => known.has(id)) && choices.shown.length && now - lastPick < 1500) return choices.shown;
  lastPick = now;
  const room = innerWidth > 800 ? 2 : 1;
  const keep = choices.shown.filter(runs_);
  const running = cells.map(([id]) => id).filter((id) => runs_(id) && !keep.includes(id));
  const active = [...keep, ...running].slice(0, room);
  if (active.length) return active;
  if (choices.shown.length && choices.shown.every((id) => known.has(id))) return choices.shown;
  const entries = new Map(); // the first repetition of each method, those with numbers first
  for (const [id, cell] of cells) {
    const key = entryOf(cell);
    if (!entries.has(key) || (!one(`agents/${entries.get(key)}`) && one(`agents/${id}`))) entries.set(key, id);
  }
  return [...entries.values()].filter((id) => known.get(id).network !== null).slice(0, room);
}

function render(now) {
  stale = false;
  const about = head();
  byId("title").textContent = about.title;
  document.title = `${about.title} · oneway watch`;
  byId("state").dataset.state = told.connected ? about.state : "lost";
  byId("about").textContent = told.connected ? about.about : "no connection: trying again";
  const notes = JSON.stringify(about.notes);
  if (byId("notes").dataset.notes !== notes) {
    byId("notes").dataset.notes = notes;
    byId("notes").replaceChildren(...about.notes.map((note) => make("p", {}, note)));
  }

  const cells = all("cell");
  const curves = new Map(all("curve"));
  const has = (part, key) => [...curves.values()].some((curve) => curve[part]?.[key]);
  const quantities = about.quantities.filter(({ key }) => has("y", key));
  const axes = about.axes.filter(({ key }) => has("x", key));
  if (!quantities.some(({ key }) => key === choices.quantity)) choices.quantity = quantities[0]?.key ?? null;
  if (!axes.some(({ key }) => key === choices.axis)) choices.axis = axes[0]?.key ?? null;
  if (!about.colours.some(({ key }) => key === choices.colour)) choices.colour = about.colours[0]?.key ?? null;
  offer("quantities", quantities, choices.quantity, (key) => { choices.quantity = key; choices.log = about.quantities.find((q) => q.key === key).log; byId("log").checked = choices.log; });
  offer("axes", axes.map(({ key, title }) => ({ key, title: title.split(",")[0] })), choices.axis, (key) => { choices.axis = key; });
  offer("colours", about.colours, choices.colour, (key) => { choices.colour = key; });

  const quantity = quantities.find(({ key }) => key === choices.quantity);
  const axis = axes.find(({ key }) => key === choices.axis);
  renderCharts(cells, curves, quantity, axis);
  choices.shown = pick(cells, now);
  renderPanels(new Map(cells), about.colours.find(({ key }) => key === choices.colour));
  byId("networks").hidden = !about.colours.length;
  byId("runs").hidden = !cells.length || Boolean(one("crew"));
  runs.update(cells, quantity);
  fillCrew(one("crew"));
  told.changed.clear();
}

function renderCharts(cells, curves, quantity, axis) {
  const groups = new Map();
  const drawn = cells.filter(([id]) => curves.get(id)?.y && Object.keys(curves.get(id).y).length).map(([, cell]) => entryOf(cell));
  const repeated = new Set(drawn.filter((key, at) => drawn.indexOf(key) !== at));
  for (const [id, cell] of cells) {
    const name = cell.group ? `${cell.group}: ${cell.topology}` : cell.topology;
    const lines = groups.get(name) ?? groups.set(name, []).get(name);
    const key = entryOf(cell);
    if (choices.hidden.has(key) || !quantity || !axis) continue;
    lines.push({
      name: cell.method, colour: cell.colour[theme.dark ? 1 : 0], dash: cell.dash.split(/[ ,]+/).filter(Boolean).map(Number),
      points: pointsOf(curves.get(id), quantity.key, axis.key), faint: repeated.has(key),
    });
  }
  for (const [name, chart] of charts) if (!groups.has(name)) { chart.element.remove(); charts.delete(name); }
  for (const [name, lines] of groups) {
    let chart = charts.get(name);
    if (!chart) {
      chart = new Chart(name);
      charts.set(name, chart);
      byId("charts").append(chart.element);
    }
    chart.set(lines, { log: choices.log, axis: axis?.title ?? "", label: quantity?.label ?? "", bytes: axis?.key === "bytes" });
  }
}

function renderPanels(cells, colour) {
  for (const [id, panel] of panels) if (!choices.shown.includes(id)) { panel.element.remove(); panels.delete(id); }
  for (const id of choices.shown) {
    let panel = panels.get(id);
    if (!panel) {
      panel = new Panel(id, () => runs.onPin(id));
      panels.set(id, panel);
      byId("panels").append(panel.element);
    }
    const cell = cells.get(id);
    const several = [...cells.values()].some((other) => other.repetition > 0);
    const label = [cell.group, cell.topology, cell.method, several ? `repetition ${cell.repetition + 1}` : ""].filter(Boolean).join(" · ");
    panel.set({ cell, colour, label, network: cell.network === null ? null : one(`network/${cell.network}`), agents: one(`agents/${id}`), crew: one("crew") });
  }
  const empty = byId("panels").querySelector(".empty");
  if (choices.shown.length) empty?.remove();
  else if (!empty) byId("panels").append(make("p", { class: "empty" }, "No run is chosen: press one of the squares below."));
}

function frame(now) {
  requestAnimationFrame(frame);
  if (stale) render(now);
  for (const chart of charts.values()) if (chart.dirty) chart.draw();
  for (const panel of panels.values()) if (panel.dirty || panel.moves()) panel.draw(now);
}

const redraw = () => { stale = true; };
readTheme();
byId("theme").addEventListener("click", () => {
  try { localStorage.setItem("theme", theme.dark ? "light" : "dark"); } catch { document.documentElement.dataset.theme = theme.dark ? "light" : "dark"; }
  readTheme();
  redraw();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readTheme(); redraw(); });
byId("log").addEventListener("change", (event) => { choices.log = event.target.checked; redraw(); });
byId("messages").addEventListener("change", (event) => { choices.messages = event.target.checked; redraw(); });
addEventListener("resize", redraw);
stillness.addEventListener("change", redraw);
document.addEventListener("scroll", hideTip, { passive: true });
listen(redraw);
requestAnimationFrame(frame);
