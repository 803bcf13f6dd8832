// What we are told: documents by name, replaced as they change. When the connection is lost the last state
// stays, and all comes again when it is back.

const told = { documents: new Map(), connected: false, changed: new Set(), dirty: true };

function listen(onChange) {
  let arriving = null;
  let beat = 0;
  const source = new EventSource("/events");
  const connected = (is) => {
    if (told.connected === is) return;
    told.connected = is;
    told.changed.add("connection");
    onChange();
  };
  source.addEventListener("begin", () => { arriving = new Map(); });
  source.addEventListener("ready", () => {
    for (const name of told.documents.keys()) if (!arriving.has(name)) told.changed.add(name);
    for (const name of arriving.keys()) told.changed.add(name);
    told.documents = arriving;
    arriving = null;
    beat = performance.now();
    connected(true);
    onChange();
  });
  source.addEventListener("beat", () => { beat = performance.now(); });
  source.addEventListener("message", (message) => {
    const { name, value } = JSON.parse(message.data);
    beat = performance.now();
    if (arriving) { arriving.set(name, value); return; }
    if (value === null) told.documents.delete(name);
    else told.documents.set(name, value);
    told.changed.add(name);
    onChange();
  });
  source.addEventListener("error", () => { arriving = null; connected(false); });
  // a machine that sleeps closes no connection
  setInterval(() => { if (performance.now() - beat > 8000) connected(false); else if (source.readyState === 1) connected(true); }, 1000);
}

/// The documents of a kind, by their ids, in order.
function all(kind) {
  const found = [];
  for (const [name, value] of told.documents) {
    if (name.startsWith(`${kind}/`)) found.push([name.slice(kind.length + 1), value]);
  }
  const key = (id) => id.split("-").map(Number);
  return found.sort(([a], [b]) => { const [x, y] = [key(a), key(b)]; return x[0] - y[0] || x[1] - y[1]; });
}
const one = (name) => told.documents.get(name);
