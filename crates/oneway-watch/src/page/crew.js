// Agents on a network: who waits for whom, since when, how fast each is, and what goes over each link.

/// Links in the table, those with most bytes first.
const MOST_LINKS = 40;

function fillCrew(crew) {
  byId("crew").hidden = !crew;
  if (!crew) return;
  const numbers = new Set([1, 2, 3, 4, 7, 8]);
  const cells = (tag, texts) => make("tr", {}, ...texts.map((text, i) => make(tag, numbers.has(i) ? { class: "number" } : {}, text)));
  const heads = ["agent", "round", "behind", "rounds/s", "own loss", "waits for", "time waited", "received", "sent", ""];
  const rows = crew.agents.map((agent, i) => {
    if (agent.state === "silent") {
      const row = cells("td", [`${i}`, "", "", "", "", "", "", "", "", ""]);
      row.lastChild.append(make("span", { class: "trouble" }, "does not answer"));
      row.dataset.state = "silent";
      return row;
    }
    const waits = agent.waits && agent.waits[1] >= 0.5 ? `agent ${agent.waits[0]}, for ${seconds(agent.waits[1])}` : agent.state === "finished" ? "finished" : "";
    const waited = agent.waited === null ? "" : `${Math.round(100 * agent.waited)} %`;
    const row = cells("td", [`${i}`, short(agent.round, 7), short(agent.behind), agent.rate === null ? "" : short(agent.rate), short(agent.loss, 5), waits, waited, bytes(agent.bytes[0]), bytes(agent.bytes[1]), ""]);
    row.lastChild.append(make("span", { class: "trouble" }, agent.trouble));
    row.dataset.state = agent.state;
    return row;
  });
  byId("members").replaceChildren(make("thead", {}, cells("th", heads)), make("tbody", {}, ...rows));

  const most = crew.links.reduce((high, link) => Math.max(high, link.bytes), 1);
  const links = [...crew.links].sort((a, b) => b.bytes - a.bytes).slice(0, MOST_LINKS).map((link) => {
    const bar = make("i");
    bar.style.width = `${100 * link.bytes / most}%`;
    return make("tr", {}, make("td", {}, `${link.from} → ${link.to}`), make("td", { class: "number" }, bytes(link.bytes)),
      make("td", { class: "number" }, link.rate === null ? "" : `${bytes(Math.round(link.rate))}/s`), make("td", {}, make("span", { class: "bytes" }, bar)));
  });
  const title = ["link", "bytes", "bytes a second", ""].map((text, i) => make("th", i === 1 || i === 2 ? { class: "number" } : {}, text));
  byId("links-note").textContent = crew.links.length > MOST_LINKS ? `The ${MOST_LINKS} of ${crew.links.length} links with most bytes, since the receiver's process began.` : "Bytes since the receiver's process began.";
  byId("links").replaceChildren(make("thead", {}, make("tr", {}, ...title)), make("tbody", {}, ...links));
}
