// Run by check-watch: node check-watch.mjs ONEWAY SCREENSHOTS [ONEWAY-AGENT], with CHROMIUM, PLAYWRIGHT and WORK set to paths.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { chromium } = await import(pathToFileURL(process.env.PLAYWRIGHT).href);
const [oneway, shots, agent] = process.argv.slice(2);
const work = process.env.WORK;
const [file, hundred] = ["experiments/watch/side-by-side.toml", "experiments/watch/hundred.toml"];

const children = new Set();
/// Starts a command; `ended` is its exit code or signal, `said` what it prints.
const start = (...args) => startIt(oneway, args);
function startIt(program, args) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  children.add(child);
  child.said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => { child.said += text; });
  child.ended = new Promise((resolve) => child.on("exit", (code, signal) => { children.delete(child); resolve(signal ?? code); }));
  return child;
}
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function until(what, condition, ms = 60000) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await sleep(100);
  }
}
const done = (what) => console.log(`ok: ${what}`);

/// Starts `oneway watch` and returns it with the address that it prints.
async function watch(folder, ...options) {
  const server = start("watch", folder, ...options);
  server.address = await until("the address of the page", () => server.said.match(/http:\S+/)?.[0]);
  return server;
}
/// A run that shows itself, once it does.
async function run(what, folder, ...options) {
  const child = start("run", what, "--out", folder, "--no-report", ...options);
  await until("the run to begin", async () => (await readdir(join(folder, "live")).catch(() => [])).includes("run.json"));
  return child;
}

/// The number of iterations with which a cell takes about `seconds` on this machine, as it is now.
async function iterations(seconds) {
  const folder = join(work, "trial");
  const trial = start("run", file, "--out", folder, "--no-report", "--set", "run.iterations=600", "--set", "run.repetitions=1");
  assert.equal(await trial.ended, 0, trial.said);
  const { cells } = JSON.parse(await readFile(join(folder, "summary.json"), "utf8"));
  const each = cells.reduce((sum, cell) => sum + cell.seconds_stepping + cell.seconds_observing, 0) / cells.length / 600;
  return 60 * Math.ceil(seconds / each / 60);
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});
const complaints = [];
let lost = false; // while the server is down on purpose, the browser says so
async function open(address, options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(30000);
  page.on("console", (message) => { if (["error", "warning"].includes(message.type()) && !lost) complaints.push(`console: ${message.text()}`); });
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(address) && !url.startsWith("data:")) complaints.push(`request: ${url}`);
  });
  await page.goto(address);
  return page;
}
const shoot = async (page, name, fullPage = true) => {
  await page.evaluate(() => scrollTo(0, 0)); // the header sticks to the top of what is seen
  await page.screenshot({ path: join(shots, `${name}.png`), fullPage, timeout: 60000 }).catch(() => console.log(`no picture ${name}`));
};
const state = (page) => page.locator("#state").getAttribute("data-state");
const labels = (page) => page.locator(".chart canvas").evaluateAll((all) => all.map((one) => one.getAttribute("aria-label") ?? ""));
const lines = async (page) => (await labels(page)).reduce((sum, label) => sum + Number(label.match(/(\d+) lines/)?.[1] ?? 0), 0);
const rounds = (page) => page.locator(".square").evaluateAll((all) => all.map((one) => Number(one.title.match(/round (\d+)/)?.[1] ?? 0)));
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
/// How many different colours a canvas has: a blank one has one.
const colours = (canvas) => canvas.evaluate((one) => {
  const copy = new OffscreenCanvas(one.width, one.height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(one, 0, 0);
  const { data } = copy.getImageData(0, 0, one.width, one.height);
  return new Set(new Uint32Array(data.buffer)).size;
});
const narrow = async (page, width) => {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert(wide <= width, `the page is ${wide} wide on a screen of ${width}`);
};

async function quantities(page) {
  const buttons = page.locator("#quantities button");
  const seen = new Set();
  const count = await buttons.count();
  assert(count >= 4, `${count} quantities`);
  for (let i = 0; i < count; i++) {
    await buttons.nth(i).click();
    const label = await until("another chart", async () => { const [first] = await labels(page); return seen.has(first) ? null : first; });
    seen.add(label);
    assert(await colours(page.locator(".chart canvas").first()) > 8, `${label} is drawn`);
  }
  await buttons.first().click();
  done(`${count} quantities, each another chart`);
  const axes = page.locator("#axes button");
  for (let i = (await axes.count()) - 1; i >= 0; i--) {
    await axes.nth(i).click();
    const wanted = await axes.nth(i).textContent();
    await until(`a chart over ${wanted}`, async () => (await labels(page)).some((label) => label.includes(`over ${wanted}`)));
  }
  await page.locator("#log").uncheck();
  await page.locator("#log").check();
  done(`${await axes.count()} axes`);
}

async function values(page) {
  const box = await page.locator(".chart canvas").first().boundingBox();
  await page.mouse.move(box.x + 70, box.y + box.height / 2);
  const tip = page.locator("#tip");
  await tip.waitFor({ state: "visible" });
  assert.match(await tip.textContent(), /iteration: \d+.*SMTPP \d/s);
  await page.mouse.move(2, 2);
  await tip.waitFor({ state: "hidden" });
  done("values under the pointer");
}

async function switches(page) {
  const before = await lines(page);
  const name = page.locator(".series").first();
  await name.click();
  await until("fewer lines", async () => (await lines(page)) < before);
  await name.click();
  await until("all lines again", async () => (await lines(page)) >= before);
  await name.dblclick();
  await until("one method alone", async () => (await lines(page)) < before && (await page.locator(".series[aria-pressed=true]").count()) === 1);
  await name.click(); // the last that is left brings all back
  await until("all methods again", async () => (await page.locator(".series[aria-pressed=false]").count()) === 0);
  done(`methods are switched on and off (${before} lines)`);
}

async function agents(page) {
  const panels = page.locator(".panel");
  await panels.first().waitFor();
  for (const choice of ["loss", "lag", "distance"]) {
    await page.locator(`#colours [data-choice=${choice}]`).click();
    const name = await page.locator(`#colours [data-choice=${choice}]`).textContent();
    await until(`agents by ${choice}`, async () => (await panels.first().locator("canvas").first().getAttribute("aria-label")).endsWith(`coloured by ${name}`));
  }
  await until("numbers of agents", async () => (await panels.first().locator("p").textContent()).includes("after"));
  assert(await colours(panels.first().locator("canvas").first()) > 30, "agents have colours");
  // a square that begins, of the asynchronous method: its agents have lags
  const square = page.locator("tr[data-entry=\"R-FAST\"] .square").first();
  await square.click();
  await until("its panel", async () => (await page.locator(".panel h3").allTextContents()).some((name) => name.includes("R-FAST")));
  assert.equal(await square.getAttribute("aria-pressed"), "true");
  const count = await panels.count();
  await page.locator(".panel .close").last().click();
  await until("one panel less", async () => (await panels.count()) === count - 1);
  const box = await panels.first().locator("canvas").first().boundingBox();
  // somewhere on the circle, or on the flower's middle, an agent is met
  const tip = page.locator("#tip");
  for (const [x, y] of [[0.5, 0.5], [0.5, 18 / box.height], [0.5, 19 / box.height]]) {
    await page.mouse.move(box.x + x * box.width, box.y + y * box.height);
    if (await tip.isVisible()) break;
  }
  assert.match(await tip.textContent(), /agent \d+/);
  await page.mouse.move(2, 2);
  done("agents by distance, loss and lag; panels come and go; an agent's numbers under the pointer");
}

/// Messages move: two pictures a moment apart are not the same, while those with messages off are.
async function messages(page) {
  const canvas = page.locator(".panel canvas").first();
  const picture = () => canvas.evaluate((one) => one.toDataURL());
  await page.locator("#colours [data-choice=distance]").click();
  const first = await picture();
  await until("messages to move", async () => (await picture()) !== first, 5000);
  await page.locator("#messages").uncheck();
  await page.locator("#messages").check();
  done("messages move along the arrows");
}

async function themes(page) {
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await paper();
  await page.locator("#theme").click();
  assert.notEqual(await paper(), before);
  await page.reload();
  await until("curves after a reload", async () => (await lines(page)) > 0);
  assert.notEqual(await paper(), before, "the choice is kept");
  await page.locator("#theme").click();
  done("the theme changes and is kept; a page that is loaded again is told everything");
}

/// Milliseconds between frames for a while.
const frames = (page, ms) => page.evaluate((ms) => new Promise((resolve) => {
  const times = [];
  const end = performance.now() + ms;
  const next = (now) => { times.push(now); if (now < end) requestAnimationFrame(next); else resolve(times.slice(1).map((time, i) => time - times[i])); };
  requestAnimationFrame(next);
}), ms);

async function runsSideBySide() {
  const folder = join(work, "side-by-side");
  const rounds_ = `run.iterations=${await iterations(8)}`;
  let runs = await run(file, folder, "--live", "--fresh", "--set", rounds_);
  const server = await watch(folder);
  let page = await open(server.address, { viewport: { width: 1400, height: 1000 }, colorScheme: "light" });
  await until("a curve", async () => (await lines(page)) > 0);
  assert.equal(await state(page), "running");
  await until("a run that moves", async () => { const before = sum(await rounds(page)); await sleep(400); return sum(await rounds(page)) > before; });
  done("curves come while the run goes on");
  await messages(page); // first: those of a run that has ended stand still
  await quantities(page);
  await values(page);
  await switches(page);
  await agents(page);
  await until("laws", async () => (await page.locator(".law.holds").count()) > 0);
  assert.equal(await page.locator(".law.fails").count(), 0, "laws hold");
  done(`${await page.locator(".law").count()} laws checked`);
  await shoot(page, "wide-light");

  runs.kill("SIGKILL");
  assert.equal(await runs.ended, "SIGKILL");
  await until("to hear of its death", async () => (await state(page)) === "died");
  const [left, kept] = [await lines(page), sum(await rounds(page))];
  assert(left > 0, "its curves stay");
  done("the run was killed, and the page says so and keeps its curves");
  runs = await run(file, folder, "--live", "--set", rounds_);
  await until("to hear that it runs again", async () => (await state(page)) === "running");
  await until("curves to go on", async () => sum(await rounds(page)) > kept && (await lines(page)) >= left);
  done("it was started again, and curves go on on the same page");
  await themes(page);

  lost = true;
  server.kill("SIGKILL");
  await server.ended;
  await until("to miss the server", async () => (await state(page)) === "lost");
  assert((await lines(page)) > 0, "what was known stays");
  const again = await watch(folder, "--port", new URL(server.address).port);
  await until("the server to be back", async () => (await state(page)) !== "lost");
  lost = false;
  done("the server was killed and started again; the page came back by itself");

  const dark = await open(again.address, { viewport: { width: 1400, height: 1000 }, colorScheme: "dark" });
  await until("a curve", async () => (await lines(dark)) > 0);
  await dark.locator("#quantities button").nth(2).click();
  await sleep(500);
  await shoot(dark, "wide-dark");
  await dark.context().close();
  for (const colorScheme of ["light", "dark"]) {
    const phone = await open(again.address, { viewport: { width: 400, height: 860 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true, colorScheme });
    await until("a curve", async () => (await lines(phone)) > 0);
    await sleep(500);
    await narrow(phone, 400);
    await phone.locator("#quantities button").nth(1).tap();
    await shoot(phone, `phone-${colorScheme}`);
    await phone.context().close();
  }
  done("400 and 1400 pixels, light and dark");

  assert.equal(await until("the run to end", () => Promise.race([runs.ended, sleep(1)]).then((code) => (code === undefined ? null : `${code}`)), 400000), "0");
  await until("to hear of its end", async () => (await state(page)) === "ended");
  await until("all squares", async () => (await page.locator(".square:not([data-status=completed])").count()) === 0);
  await shoot(page, "ended");
  again.kill("SIGINT");
  assert.equal(await again.ended, 0, "Ctrl-C ends it");
  await page.context().close();
  done("all runs completed; Ctrl-C ends the server");
}

/// A hundred agents and 10⁵ recorded states: frames while it runs, and afterwards.
async function hundredAgents() {
  const many = join(work, "hundred");
  const long = await run(hundred, many, "--live");
  const shown = await watch(many);
  const page = await open(shown.address, { viewport: { width: 1400, height: 1000 } });
  await until("a curve", async () => (await lines(page)) > 0);
  await page.locator(".panel").first().waitFor();
  await sleep(1500);
  const report = async (when) => {
    const times = (await frames(page, 5000)).sort((a, b) => a - b);
    const at = (share) => times[Math.floor(share * (times.length - 1))];
    const rate = (1000 * times.length) / sum(times);
    console.log(`frames ${when}: ${rate.toFixed(0)} a second; between two ${at(0.5).toFixed(1)} ms (median), ${at(0.95).toFixed(1)} ms (95 %), ${at(1).toFixed(0)} ms (longest)`);
    return rate;
  };
  const live = await report("while 100 agents run");
  await shoot(page, "hundred-live");
  assert.equal(`${await long.ended}`, "0");
  await until("its whole curve", async () => (await page.locator(".square[data-status=completed]").count()) === 1);
  const points = await page.evaluate(() => Number(document.querySelector(".square").title.match(/of (\d+)/)[1]));
  const after = await report(`with ${points} states recorded`);
  await page.locator("#quantities button").nth(2).click();
  await shoot(page, "hundred-ended");
  assert(live >= 20 && after >= 20, "it stays smooth");
  shown.kill("SIGINT");
  await shown.ended;
}

/// Six agents on this machine, of which one is killed: who waits for it, and since when.
async function agentsOnALink() {
  const [hosts, plan] = [join(work, "hosts.toml"), join(work, "plan")];
  await writeFile(hosts, [0, 1, 2, 3, 4, 5].map((i) => `[[agent]]\naddress = "127.0.0.1:${7460 + i}"\nmetrics = "127.0.0.1:${9460 + i}"\n`).join("\n"));
  const options = ["--set", "run.agents=6", "--set", "run.iterations=2000000", "--set", "topology.two.kind=exponential"];
  const planned = startIt(agent, ["plan", "experiments/agents/two.toml", "--hosts", hosts, "--out", plan, "--observe", ...options]);
  assert.equal(await planned.ended, 0, planned.said);
  const crew = [0, 1, 2, 3, 4, 5].map((i) => startIt(agent, ["run", join(plan, `agent-${i}.toml`)]));
  const top = startIt(agent, ["top", plan, "--web"]);
  top.address = await until("the address of the page", () => top.said.match(/http:\S+/)?.[0]);
  const page = await open(top.address, { viewport: { width: 1400, height: 1000 }, colorScheme: "light" });
  await until("agents to work", async () => (await state(page)) === "running");
  await until("F and distances from estimates", async () => (await page.locator("#quantities [data-choice=loss]").count()) === 1);
  for (const choice of ["waited", "distance", "loss", "behind"]) await page.locator(`#colours [data-choice=${choice}]`).click();
  for (const button of await page.locator("#quantities button").all()) await button.click();
  await until("bytes by link", async () => (await page.locator("#links tbody tr").count()) >= 6);
  await sleep(2000);
  await page.locator("#quantities [data-choice=loss]").click();
  await page.locator("#colours [data-choice=distance]").click();
  await sleep(500);
  await shoot(page, "agents-working");
  crew[2].kill("SIGKILL");
  await crew[2].ended;
  await until("somebody to wait for agent 2", async () => (await page.locator("#members td:nth-child(6)").allTextContents()).some((text) => /agent 2, for \d+ s/.test(text)));
  await until("to hear that it is silent", async () => (await page.locator("#members tr[data-state=silent]").count()) === 1);
  assert.equal(await state(page), "died");
  await shoot(page, "agents-waiting");
  startIt(agent, ["run", join(plan, "agent-2.toml")]);
  await until("all to work again", async () => (await state(page)) === "running");
  await until("nobody to wait", async () => (await page.locator("#members tr[data-state=waiting]").count()) === 0);
  const phone = await open(top.address, { viewport: { width: 400, height: 860 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true, colorScheme: "dark" });
  await until("agents on a phone", async () => (await phone.locator("#members tbody tr").count()) === 6);
  await sleep(500);
  await narrow(phone, 400);
  await shoot(phone, "agents-phone");
  top.kill("SIGINT");
  assert.equal(await top.ended, 0, "Ctrl-C ends it");
  for (const child of children) child.kill("SIGKILL");
  await phone.context().close();
  await page.context().close();
  done("agents: who waits for whom, bytes by link, estimates; one killed and started again");
}

try {
  const parts = process.env.PARTS?.split(",") ?? ["runs", "frames", "agents"];
  if (parts.includes("runs")) await runsSideBySide();
  if (parts.includes("frames")) await hundredAgents();
  if (parts.includes("agents") && agent) await agentsOnALink();
  assert.deepEqual(complaints, []);
  done("no complaint on the console, nothing asked of anybody else");
} catch (error) {
  console.error(`check-watch: ${error.message}`);
  for (const complaint of complaints) console.error(`check-watch: ${complaint}`);
  process.exitCode = 1;
} finally {
  await browser.close();
  for (const child of children) child.kill("SIGKILL");
}
