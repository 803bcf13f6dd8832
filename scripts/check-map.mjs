// Opens a map of the claims in headless Chromium and walks through its readings as a reader would:
//   scripts/with-browser scripts/check-map.mjs out/claims/map.html [SCREENSHOTS]
// Fails on any console message of error, any request to the network, a selector or slider that does not lead to its
// reading, verdicts that are not the map's, or a page wider than a phone. Exit codes: 0 good; 1 something is wrong.
import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { chromium } = await import(pathToFileURL(process.env.PLAYWRIGHT).href);
const [file, shots] = process.argv.slice(2);
const address = pathToFileURL(file).href;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu", "--no-first-run"] });
const complaints = [];

async function open(options) {
  const page = await (await browser.newContext(options)).newPage();
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) complaints.push(message.text()); });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => { if (request.url() !== address && !request.url().startsWith("data:")) complaints.push(request.url()); });
  await page.goto(address);
  return page;
}

const page = await open({ viewport: { width: 1280, height: 900 } });
const data = JSON.parse(await page.locator("#walk-data").textContent());
const reading = async () => data.readings[+(await page.locator("#walk").getAttribute("data-reading"))];
const choice = (at) => page.locator(`#walk select[data-question="${at}"]`);
const words = { h: "holds", f: "fails", o: "open", "–": "–" };

/// What is shown is what the map says of the reading, as the view that is chosen shows it.
async function agrees(what) {
  const ways = data.questions.length - 2;
  const view = +(await choice(ways).inputValue()) * data.places.length + +(await choice(ways + 1).inputValue());
  const shown = (column) => page.locator(`#walk-verdicts td:nth-of-type(${column})`).allTextContents();
  assert.deepEqual(await shown(1), [...(await reading()).verdicts[view]].map((letter) => words[letter]), what);
  assert.deepEqual(await shown(2), [...(await reading()).theory].map((letter) => words[letter]), `${what}, by algebra`);
}

assert.deepEqual((await reading()).answers, data.readings[0].answers, "it opens on the paper's words");
await agrees("at first");
for (let question = 0; question < data.questions.length; question++) {
  const last = data.questions[question].levels.length - 1;
  await choice(question).selectOption(String(last));
  await agrees(data.questions[question].name);
}
console.log(`ok: ${data.questions.length} selectors lead to verdicts of ${data.readings.length} readings`);

await page.locator("#walk-slider").focus();
await page.keyboard.press("Home");
await agrees("the slider's first");
const first = await page.locator("#walk-verdicts td:nth-of-type(1).walk-h").count();
await page.keyboard.press("End");
await agrees("the slider's last");
const last = await page.locator("#walk-verdicts td:nth-of-type(1).walk-h").count();
assert(first >= last, "the slider begins where most holds");
const answers = (await reading()).answers;
for (const [question, answer] of answers.entries()) assert.equal(+(await choice(question).inputValue()), answer, "the selectors follow the slider");
await page.keyboard.press("Home");
console.log(`ok: the slider leads from ${first} claims that hold to ${last}`);

const painted = await page.locator(".walk-map svg path").evaluateAll((all) => new Set(all.map((one) => getComputedStyle(one).fill)).size);
assert.equal(painted, 2, "the map has two colours");
const cut = () => page.locator(".scroll").evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length);
assert.equal(await cut(), 0, "a table's last columns are out of sight on a wide screen");
if (shots) await page.screenshot({ path: join(shots, "map.png"), fullPage: true });
const phone = await open({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
assert((await phone.evaluate(() => document.documentElement.scrollWidth)) <= 390, "the page is wider than a phone");
if (shots) await phone.screenshot({ path: join(shots, "map-phone.png"), fullPage: true });
assert.deepEqual(complaints, []);
console.log("ok: no complaint, no request to the network, and it fits a phone");
await browser.close();
