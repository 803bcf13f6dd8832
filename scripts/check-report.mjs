// Run by check-report: node check-report.mjs REPORT.html SCREENSHOTS, with CHROMIUM and PLAYWRIGHT set to paths.
import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { chromium } = await import(pathToFileURL(process.env.PLAYWRIGHT).href);
const [report, shots] = process.argv.slice(2);
const address = pathToFileURL(report).href;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});

const complaints = [];

/// Opens the report and listens for whatever it should not say or ask for.
async function open(options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(30000);
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) complaints.push(`console: ${message.text()}`); });
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const url = request.url();
    if (url !== address && !url.startsWith("data:")) complaints.push(`request: ${url}`);
  });
  await page.goto(address);
  return page;
}

// A picture is evidence, not a check: a slow machine may take its time over a long page, or fail to take it.
const shoot = async (page, name, fullPage = true) => {
  const path = join(shots, `${name}.png`);
  await page.screenshot({ path, fullPage, timeout: 60000 }).catch(() => console.log(`no picture ${name}: it took too long`));
};
const paper = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const tip = (page) => page.locator(".tip:visible");
const done = (what) => console.log(`ok: ${what}`);

/// Puts the pointer, or a thumb, on the middle of a chart.
async function pointAt(page, plot, touch) {
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  const [x, y] = [box.x + box.width * 0.45, box.y + box.height * 0.5];
  if (touch) await page.touchscreen.tap(x, y);
  else await page.mouse.move(x, y);
}

async function switches(page) {
  const chips = page.locator(".chip");
  const name = await chips.first().getAttribute("data-series");
  const visible = (wanted) => page.evaluate(([name, wanted]) => {
    const marks = [...document.querySelectorAll(".plot g.series")].filter((mark) => (mark.dataset.series === name) === wanted);
    return [marks.filter((mark) => getComputedStyle(mark).display !== "none").length, marks.length];
  }, [name, wanted]);

  const [before, total] = await visible(true);
  assert(total > 0, `no series is called ${name}`);
  assert.equal(before, total);
  await chips.first().click();
  assert.equal((await visible(true))[0], 0, `${name} is still drawn after it was switched off`);
  const [others, allOthers] = await visible(false);
  assert.equal(others, allOthers, "another method went away too");
  await chips.first().dblclick();
  assert.deepEqual([(await visible(true))[0], (await visible(false))[0]], [total, 0], "a double click shows one alone");
  await page.locator("#all").click();
  assert.deepEqual([(await visible(true))[0], (await visible(false))[0]], [total, allOthers], "all come back");
  done(`the switch of ${name} acts on ${total} charts; a double click shows it alone`);
}

/// Switches the third method off, or the last if there are fewer; a single one stays.
async function switchOne(page) {
  const count = await page.locator(".chip").count();
  if (count > 1) await page.locator(".chip").nth(Math.min(2, count - 1)).click();
}

async function values(page, touch = false) {
  const plot = page.locator(".plot:visible").first();
  await pointAt(page, plot, touch);
  const rows = await tip(page).locator("tr").count();
  const first = await tip(page).locator("td").first().textContent();
  const inChart = await plot.locator("svg g.series:visible").count();
  assert(rows > 0 && rows <= inChart, `${rows} rows for ${inChart} series`);
  assert.match(first, /\d/, "the values are numbers");
  const box = await tip(page).boundingBox();
  assert(box.x >= 0 && box.x + box.width <= page.viewportSize().width, "the values fit the window");
  if (!touch) {
    const at = () => tip(page).locator("caption").textContent();
    await plot.focus();
    const before = await at();
    await page.keyboard.press("ArrowLeft");
    assert.notEqual(await at(), before, "the arrow keys move the crosshair");
    await page.keyboard.press("Escape");
    assert.equal(await tip(page).count(), 0);
    await pointAt(page, plot);
  }
  done(`a chart shows ${rows} values under ${touch ? "a thumb" : "the pointer and by arrow keys"}`);
}

async function axes(page) {
  const choices = page.locator("input[name=axis]");
  for (let k = (await choices.count()) - 1; k >= 0; k--) {
    const wanted = await choices.nth(k).getAttribute("value");
    await choices.nth(k).check();
    const axes = await page.locator(".chart-figure[data-axis]:visible").evaluateAll((all) => all.map((one) => one.dataset.axis));
    assert(axes.length > 0 && axes.includes(wanted), `no chart over ${wanted}`);
    done(`${axes.length} charts over ${wanted}`);
  }
}

async function themes(page) {
  const light = await paper(page);
  await page.locator("#theme").click();
  const dark = await paper(page);
  assert.notEqual(dark, light, "the switch changes the colours");
  await page.reload();
  assert.equal(await paper(page), dark, "the choice is kept");
  await page.locator("#theme").click();
  assert.equal(await paper(page), light);
  done("the theme changes and is kept");
}

async function narrow(page, width) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert(wide <= width, `the page is ${wide} wide on a screen of ${width}`);
  done(`no sideways scrolling at ${width}`);
}

try {
  for (const colorScheme of ["light", "dark"]) {
    const wide = await open({ viewport: { width: 1280, height: 900 }, colorScheme });
    const charts = await wide.locator(".plot svg.chart").count();
    await shoot(wide, `wide-${colorScheme}`);
    if (charts) {
      if (colorScheme === "light") { await axes(wide); await switches(wide); }
      await switchOne(wide);
      await wide.mouse.move(0, 0);
      await values(wide);
      await shoot(wide, `wide-${colorScheme}-hover`, false);
    }
    await themes(wide);
    if (await wide.locator("#unfold").count()) {
      await wide.locator("#unfold").click();
      await shoot(wide, `wide-${colorScheme}-evidence`, false);
    }
    await wide.context().close();

    const phone = await open({ viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true, colorScheme });
    await narrow(phone, 390);
    await shoot(phone, `phone-${colorScheme}`);
    if (charts) {
      await switchOne(phone);
      await values(phone, true);
      await shoot(phone, `phone-${colorScheme}-hover`, false);
    }
    for (const details of await phone.locator("details").all()) await details.evaluate((one) => { one.open = true; });
    await narrow(phone, 390);
    await shoot(phone, `phone-${colorScheme}-open`);
    await phone.context().close();
  }
  const small = await open({ viewport: { width: 320, height: 640 } });
  await narrow(small, 320);
  await small.pdf({ path: join(shots, "print.pdf"), format: "A4", preferCSSPageSize: true });
  assert.deepEqual(complaints, []);
  done("no complaint on the console, nothing asked of the network");
} catch (error) {
  console.error(`check-report: ${error.message}`);
  for (const complaint of complaints) console.error(`check-report: ${complaint}`);
  process.exitCode = 1;
} finally {
  await browser.close();
}
