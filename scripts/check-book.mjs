// Reads the book as a reader would: scripts/with-browser scripts/check-book.mjs BOOK [SCREENSHOTS].
// Fails on an error of a page, a request to the network, a page wider than its window, a picture that is not drawn, dark
// text on dark paper, or a search that does not find.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const { chromium } = await import(pathToFileURL(process.env.PLAYWRIGHT).href);
const book = resolve(process.argv[2]);
const shots = process.argv[3] && resolve(process.argv[3]);
assert(existsSync(join(book, "index.html")), `no book in ${book}: scripts/book builds it`);
if (shots) mkdirSync(shots, { recursive: true });

const names = readdirSync(book, { recursive: true })
  .filter((name) => name.endsWith(".html") && !["404.html", "toc.html"].includes(name));
const complaints = [];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });

/// A window, and the ears for what a page should not say or ask for.
async function open(width, colorScheme) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  const page = await context.newPage();
  page.setDefaultTimeout(30000);
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("console", (message) => { if (message.type() === "error") complaints.push(`console: ${message.text()}`); });
  page.on("request", (request) => { if (!/^(file|data):/.test(request.url())) complaints.push(`request: ${request.url()}`); });
  return page;
}

/// From 0, black, to 1, white: of an element's text, or of what it is written on.
const brightness = (page, selector, property) => page.evaluate(([selector, property]) => {
  const colour = getComputedStyle(document.querySelector(selector))[property].match(/[\d.]+/g).slice(0, 3).map(Number);
  return colour.reduce((sum, one) => sum + one) / 765;
}, [selector, property]);

try {
  for (const [width, scheme] of [[400, "light"], [400, "dark"], [1400, "light"], [1400, "dark"]]) {
    const page = await open(width, scheme);
    // where there is room on a phone there is room everywhere: every page once there, some in all ways
    for (const name of width === 400 && scheme === "light" ? names : ["formats.html", "methods.html"]) {
      await page.goto(pathToFileURL(join(book, name)).href);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      if (wide > width) complaints.push(`${name} is ${wide} wide on a screen of ${width}`);
      const blank = await page.evaluate(() => [...document.images].filter((one) => !one.naturalWidth).map((one) => one.src));
      if (blank.length) complaints.push(`${name}: not drawn: ${blank}`);
    }
    for (const name of ["index", "smtpp", "step-size", "methods"]) {
      await page.goto(pathToFileURL(join(book, `${name}.html`)).href);
      const text = await brightness(page, "main p", "color");
      const paper = await brightness(page, "html", "backgroundColor");
      assert(scheme === "light" ? paper > 0.8 && text < 0.4 : paper < 0.3 && text > 0.5, `${scheme}: text ${text}, paper ${paper}`);
      if (shots) await page.screenshot({ path: join(shots, `${name}-${width}-${scheme}.png`) });
    }
    await page.context().close();
    console.log(`ok: ${width} wide, ${scheme}`);
  }
  const page = await open(1400, "light");
  await page.goto(pathToFileURL(join(book, "index.html")).href);
  await page.locator("#mdbook-search-toggle").click();
  const found = page.locator("#mdbook-searchresults > li");
  for (let k = 0; k < 20 && !(await found.count()); k++) { // the index may still be on its way
    await page.locator("#mdbook-searchbar").fill("");
    await page.locator("#mdbook-searchbar").pressSequentially("stability limit");
    await page.waitForTimeout(500);
  }
  const texts = await found.allTextContents();
  assert(texts.some((text) => /step size/i.test(text)), `found: ${texts.slice(0, 3)}`);
  console.log(`ok: the search finds ${texts.length} places`);
  if (shots) await page.screenshot({ path: join(shots, "search.png") });
  assert.deepEqual(complaints, []);
  console.log(`ok: ${names.length} pages, nothing asked of the network`);
} catch (error) {
  console.error(`check-book: ${error.message}`);
  for (const complaint of complaints) console.error(`check-book: ${complaint}`);
  process.exitCode = 1;
} finally {
  await browser.close();
}
