import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { requireChromium, rounds, until } from "@tidemark/testkit";
import type { Browser, Locator } from "playwright-core";
import type { Api } from "../../stack/client.ts";
import { describeWith } from "../../stack/describe-with.ts";
import type { Stack } from "../../stack/attach.ts";
import { sharedStack } from "../../stack/shared-stacks.ts";
import { startChromium, type WatchedPage } from "../browser.ts";
import { expectAccessible } from "./open-dashboard.ts";
import {
  card,
  cardKeys,
  chance,
  choose,
  drawn,
  logPoints,
  pictureOf,
  pixels,
  plotIn,
  putTogether,
  saved,
  savedBytes,
  settled,
  spikeIn,
} from "./shown-charts.ts";
import { bundleCharts, openCharts, type ChartsPage, type Shown, type ShownRun } from "./open-charts.ts";

const executable = await requireChromium("whether charts show what was logged");

const LONG_POINTS = rounds(500_000);
const SPIKE_AT = Math.round((2 / 3) * LONG_POINTS);
const GAP = [0.4 * LONG_POINTS, 0.46 * LONG_POINTS] as const;
const SMOOTHED_POINTS = 20_000;
const KEEP = 0.99;

describeWith(executable)("charts in a browser", () => {
  let browser: Browser;
  let stack: Stack;
  let bundled: ChartsPage;
  let key: string;
  let api: Api;
  const pages: WatchedPage[] = [];
  const runs = new Map<string, ShownRun>();
  let projectId: string;
  const noise = chance(7);
  const wave = Array.from({ length: SMOOTHED_POINTS }, (_, step) => Math.sin(step / 3000) + noise() - 0.5);
  const seeds = [
    { lr: 0.1, values: [1, 2, 6] },
    { lr: 0.1, values: [3, 4, 8] },
    { lr: 0.01, values: [10, 20, 30] },
  ];

  async function logged(
    name: string,
    metric: string,
    points: Parameters<typeof logPoints>[3],
    config = {},
  ): Promise<void> {
    runs.set(name, await logPoints(api, name, metric, points, config));
  }

  async function open(names: readonly string[], more: Partial<Shown> = {}): Promise<WatchedPage> {
    const chosen = names.map((name) => runs.get(name)!);
    const project = { id: projectId, name: "charts" };
    const watched = await openCharts(browser, bundled, { baseUrl: stack.baseUrl, key, project, runs: chosen, ...more });
    pages.push(watched);
    return watched;
  }

  beforeAll(async () => {
    [browser, stack, bundled] = await Promise.all([
      startChromium(executable!),
      sharedStack("embedded", {}),
      bundleCharts(),
    ]);
    ({ key, api } = await stack.organization());
    const line = (offset: number): [number, number][] =>
      Array.from({ length: 300 }, (_, i) => [i, offset + Math.exp(-i / 80)]);
    await logged("alpha", "loss", line(0));
    await logged("beta", "loss", line(0.2));
    await logged("gamma", "loss", line(0.4));
    const signed = [-1, 0, 0.5, 10, 100, "NaN", "Infinity"] as const;
    await logged("signed", "signed", [...signed.entries()]);
    const steps = Array.from({ length: LONG_POINTS }, (_, i) => i).filter((step) => step < GAP[0] || step >= GAP[1]);
    await logged(
      "long",
      "long",
      steps.map((step) => [step, step === SPIKE_AT ? 1000 : step % 10]),
    );
    await logged(
      "wave",
      "wave",
      wave.map((value, step) => [step, value]),
    );
    for (const [i, { lr, values }] of seeds.entries())
      await logged(
        `seed ${i}`,
        "score",
        values.map((value, step) => [step, value]),
        { lr, seed: i },
      );
    const { json } = await api.get("/projects");
    projectId = (json.projects as { id: string; name: string }[]).find(({ name }) => name === "charts")!.id;
  });
  afterAll(async () => {
    await browser?.close();
  });
  const everyFault = (): string[] => pages.splice(0).flatMap(({ faults }) => faults);

  test("a copied address shows the same pixels elsewhere", async () => {
    const { page } = await open(["alpha", "beta", "gamma"]);
    const plot = await drawn(page, "loss");
    const box = (await plot.boundingBox())!;
    await page.getByLabel("Smoothing", { exact: true }).selectOption("ema");
    await page.mouse.move(box.x + box.width * 0.4, box.y + 80);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, box.y + 90, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/zoom=/);
    await page.mouse.move(5, 5);
    await settled(page, "loss");
    const { search } = new URL(page.url());
    expect(new URLSearchParams(search).get("smooth")).toBe("ema:0.8");
    const other = (await open(["alpha", "beta", "gamma"], { query: search })).page;
    const otherPlot = await drawn(other, "loss");
    await settled(other, "loss");
    expect(await otherPlot.getAttribute("data-x")).toBe(await plot.getAttribute("data-x"));
    expect(await pixels(otherPlot)).toBe(await pixels(plot));
    await plot.dblclick({ position: { x: 100, y: 50 } });
    await page.waitForURL((url) => !url.searchParams.has("zoom"));
    expect(everyFault()).toEqual([]);
  });

  test("visible runs have the first colors and keep them through order, filter and loading again; patterns differ", async () => {
    const { page } = await open(["alpha", "beta", "gamma"]);
    const looks = async (): Promise<readonly (readonly string[])[]> =>
      page
        .locator("[data-run]")
        .evaluateAll((all) =>
          all.map((one) => [
            one.textContent.trim(),
            getComputedStyle(one.querySelector("line")!).stroke,
            one.querySelector("line")!.getAttribute("stroke-dasharray") ?? "solid",
          ]),
        );
    const [blue, orange, green] = ["rgb(66, 72, 254)", "rgb(211, 77, 54)", "rgb(16, 123, 97)"] as const;
    const before = [
      ["alpha", blue, "solid"],
      ["beta", orange, "solid"],
      ["gamma", green, "solid"],
    ];
    expect(await looks()).toEqual(before);
    await page.getByRole("button", { name: "Turn around" }).click();
    expect(await looks()).toEqual(before.toReversed());
    await page.getByRole("button", { name: "Turn around" }).click();
    await page.getByRole("button", { name: "Leave out first" }).click();
    expect(await looks()).toEqual(before.slice(1));
    await drawn(page, "loss");
    const svg = await saved(page, "loss", "SVG");
    expect([...svg.matchAll(/stroke="([^"]+)"[^>]*aria-label="([^"]+)"/g)].map(([, ink, name]) => [name, ink])).toEqual(
      [
        ["beta", "#d34d36"],
        ["gamma", "#107b61"],
      ],
    );
    await page.reload();
    await drawn(page, "loss");
    expect(await looks()).toEqual(before);
    await page.getByRole("button", { name: "Axes" }).click();
    await page.getByRole("menuitemcheckbox", { name: "Patterns on lines" }).click();
    await page.waitForURL(/patterns=1/);
    expect(await looks()).toEqual([
      ["alpha", blue, "solid"],
      ["beta", orange, "8 3"],
      ["gamma", green, "2 3"],
    ]);
    expect(everyFault()).toEqual([]);
  });

  test("one spike and a gap among many points are seen, and zoom shows exact points", async () => {
    const { page } = await open(["long"]);
    const plot = await drawn(page, "long");
    const svg = await saved(page, "long", "SVG");
    const line = /<path fill="none"[^>]*aria-label="long" d="([^"]+)"/.exec(svg)![1]!;
    expect(line.match(/M/g)).toHaveLength(2);
    const left = Number(await plot.getAttribute("data-left"));
    // A chart is drawn again when finer buckets have arrived.
    await until("the spike to be drawn to its tip, where it is", async () => {
      const { top, off } = await spikeIn(plot, left, SPIKE_AT);
      if (top >= 30 || off >= 5)
        throw new Error(`its top is at ${top}, ${off} off; ${await card(page, "long").innerText()}`);
      return true;
    });

    const zoomAt = SPIKE_AT - 13;
    const zoomed = (await open(["long"], { query: `?zoom=${zoomAt}~${zoomAt + 30}` })).page;
    await drawn(zoomed, "long");
    await settled(zoomed, "long");
    const rows = (await saved(zoomed, "long", "CSV"))
      .trim()
      .split("\r\n")
      .slice(1)
      .map((row) => row.split(",").slice(2, 4).map(Number));
    expect(rows).toEqual(
      Array.from({ length: 31 }, (_, i) => [zoomAt + i, zoomAt + i === SPIKE_AT ? 1000 : (zoomAt + i) % 10]),
    );
    expect(everyFault()).toEqual([]);
  });

  test("the smoothed line is that of all points within a pixel, before and after zoom", async () => {
    // As TensorBoard has it, where steps are one apart.
    let [sum, weight] = [0, 0];
    const reference = wave.map((value) => {
      sum = KEEP * sum + (1 - KEEP) * value;
      weight = KEEP * weight + (1 - KEEP);
      return sum / weight;
    });
    for (const zoom of ["", "&zoom=5000~7000"]) {
      const { page } = await open(["wave"], { query: `?smooth=ema:${KEEP}${zoom}` });
      const plot = await drawn(page, "wave");
      await settled(page, "wave");
      const domains = await Promise.all(
        ["data-x", "data-y"].map(async (name) => (await plot.getAttribute(name))!.split(" ").map(Number)),
      );
      const svg = await saved(page, "wave", "SVG");
      const { left, top, width, height } = plotIn(svg);
      const [[x0, x1], [y0, y1]] = domains as [[number, number], [number, number]];
      const line = /aria-label="wave" d="([^"]+)"/.exec(svg)![1]!;
      const points = line
        .split(/[ML]/)
        .slice(1)
        .map((point) => point.split(" ").map(Number) as [number, number]);
      const inside = points.filter(([at]) => at >= left && at <= left + width);
      expect(inside.length).toBeGreaterThan(200);
      const stepsPerPixel = (x1 - x0) / width;
      for (const [at, found] of inside) {
        const step = x0 + (at - left) * stepsPerPixel;
        const near = reference.slice(
          Math.max(0, Math.floor(step - stepsPerPixel)),
          Math.ceil(step + stepsPerPixel) + 1,
        );
        const ends = [Math.max(...near), Math.min(...near)].map(
          (value) => top + height * (1 - (value - y0) / (y1 - y0)),
        );
        expect(found).toBeGreaterThanOrEqual(ends[0]! - 1);
        expect(found).toBeLessThanOrEqual(ends[1]! + 1);
      }
    }
    expect(everyFault()).toEqual([]);
  });

  test("groups have the mean and the deviation of their runs", async () => {
    const { page } = await open(["seed 0", "seed 1", "seed 2"], { query: "?group=config.lr" });
    await drawn(page, "score");
    const rows = (await saved(page, "score", "CSV"))
      .trim()
      .split("\r\n")
      .map((row) => row.split(","));
    expect(rows[0]!.slice(0, 6)).toEqual(["id", "name", "step", "score", "low", "high"]);
    // Of (1, 3), (2, 4) and (6, 8): mean 2, 3 and 7, deviation 1.
    expect(rows.slice(1, 4).map((row) => row.slice(1, 7))).toEqual([
      ["lr=0.1 (2 runs)", "0", "2", "1", "3", "2"],
      ["lr=0.1 (2 runs)", "1", "3", "2", "4", "2"],
      ["lr=0.1 (2 runs)", "2", "7", "6", "8", "2"],
    ]);
    expect(rows.slice(4).map((row) => row.slice(1, 4))).toEqual([
      ["lr=0.01 (1 run)", "0", "10"],
      ["lr=0.01 (1 run)", "1", "20"],
      ["lr=0.01 (1 run)", "2", "30"],
    ]);
    const means = async (): Promise<number[][]> => {
      await settled(page, "score");
      const file = (await saved(page, "score", "CSV")).trim().split("\r\n").slice(1);
      return file.map((row) => row.split(",").slice(2, 6).map(Number));
    };
    // A mean over 50 steps is that of all points: 3 and 5, so 4 with a deviation of 1, and 20 alone.
    await page.getByLabel("Smoothing", { exact: true }).selectOption("mean");
    expect(await means()).toEqual([...[0, 1, 2].map((x) => [x, 4, 3, 5]), ...[0, 1, 2].map((x) => [x, 20, 20, 20])]);
    await page.getByLabel("Smoothing", { exact: true }).selectOption("none");
    await page.getByLabel("Horizontal axis", { exact: true }).selectOption("metric:score");
    expect(await means()).toEqual([1, 2, 3, 4, 6, 8, 10, 20, 30].map((x) => [x, x, x, x]));
    expect(everyFault()).toEqual([]);
  });

  test("a logarithmic axis says what it drops, values that are not finite are marked, and keys, a table and files tell all", async () => {
    const { page } = await open(["signed"], { query: "?y=log" });
    const plot = await drawn(page, "signed");
    const dropped = "2 points not above 0 left out by the logarithmic y axis";
    await page.getByText(`${dropped}. 2 values are not finite, marked ×, ∧ for Infinity.`).waitFor();
    expect(await plot.getAttribute("aria-label")).toBe(
      "signed: 1 line, step 0 to step 6, values -1 to 100, 2 values not finite. Arrow keys read values.",
    );
    await plot.focus();
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowLeft");
    await page.getByText("At 5: signed NaN (NaN at step 5)", { exact: true }).waitFor({ state: "attached" });
    await page.getByRole("listitem").getByText("NaN at step 5", { exact: true }).waitFor();
    for (let step = 5; step > 3; step -= 1) await page.keyboard.press("ArrowLeft");
    await page.getByText("At 3: signed 10", { exact: true }).waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Close values" }).waitFor();
    await page.keyboard.press("Escape");
    expect(await saved(page, "signed", "CSV")).toMatch(/,6,Infinity\r\n$/);
    expect(await saved(page, "signed", "SVG")).toContain(`aria-label="signed, values that are not finite"`);
    await choose(page, "signed", "Show as table");
    const cells = await page.getByRole("region", { name: "Values of signed" }).getByRole("cell").allInnerTexts();
    expect(cells).toEqual(["-1", "0", "0.5", "10", "100", "NaN", "Infinity"]);
    expect(everyFault()).toEqual([]);
  });

  test("the files have exactly what is drawn", async () => {
    const { page } = await open(["alpha", "beta"]);
    await drawn(page, "loss");
    const rows = (await saved(page, "loss", "CSV")).trim().split("\r\n").slice(1);
    const body = {
      format: "columns",
      keys: ["loss"],
      run_ids: ["alpha", "beta"].map((name) => runs.get(name)!.id),
      buckets: 2000,
    };
    const { series } = (await api.post("/api/metrics/series", body)).json as {
      series: { run_id: string; columns: { step: number[]; value: number[] } }[];
    };
    const names = new Map([...runs.values()].map(({ id, name }) => [id, name]));
    expect(rows).toEqual(
      series.flatMap(({ run_id: id, columns: { step, value } }) =>
        step.map((at, i) => `${id},${names.get(id)},${at},${value[i]}`),
      ),
    );
    const svg = await saved(page, "loss", "SVG");
    for (const word of ["loss", "Step", "alpha", "beta"]) expect(svg).toContain(`>${word}</text>`);
    expect(svg).toContain(`fill="#ffffff"`);
    await choose(page, "loss", "Transparent background");
    expect(await saved(page, "loss", "SVG")).not.toContain(`height="100%"`);
    const png = await savedBytes(page, "loss", "PNG");
    const { colors, size, corner } = await pictureOf(page, png);
    expect(colors).toBeGreaterThan(20);
    expect(corner).toBe(0);
    expect(size).toEqual(
      /viewBox="0 0 (\d+) (\d+)"/
        .exec(svg)!
        .slice(1)
        .map((side) => 2 * Number(side)),
    );
    expect(everyFault()).toEqual([]);

    // A part that cannot be read finer says so, and what was drawn stays.
    await page.route("**/api/metrics/series", (route) => route.fulfill({ status: 400, json: { error: "no" } }));
    const plot = card(page, "loss").locator(".tm-chart-plot[data-x]");
    await plot.focus();
    await page.keyboard.press("+");
    await card(page, "loss").getByRole("alert").waitFor();
    expect(await plot.getAttribute("aria-label")).toMatch(/^loss: 2 lines/);
    await page.unroute("**/api/metrics/series");
    await card(page, "loss").getByRole("button", { name: "Try again" }).click();
    await card(page, "loss").getByRole("alert").waitFor({ state: "detached" });
    expect(everyFault()).toEqual([]);
  });

  test("a chart has options of its own, which the address keeps", async () => {
    const watched = await open(["alpha", "signed"]);
    const { page } = watched;
    const plot = await drawn(page, "loss");
    await choose(page, "loss", "Settings…");
    const dialog = page.getByRole("dialog", { name: "Settings of loss" });
    await dialog.getByLabel("Title").fill("Both, together");
    await dialog.getByLabel("Width").selectOption("2");
    await dialog.getByLabel("Y from").fill("-5");
    await dialog.getByLabel("Y to").fill("-9");
    await dialog.getByText("It must be greater than the start.").waitFor();
    await dialog.getByLabel("Y to").fill("50");
    await dialog.getByLabel("More metrics").fill("sig");
    await dialog.getByRole("button", { name: "Add signed" }).click();
    await expectAccessible(watched);
    await dialog.getByRole("button", { name: "Done" }).click();
    const other = (await open(["alpha", "signed"], { query: new URL(page.url()).search })).page;
    for (const one of [page, other]) {
      await settled(one, "loss");
      const own = card(one, "loss");
      expect(await own.getAttribute("aria-label")).toBe("Both, together");
      const shown = own.locator(".tm-chart-plot[data-x]");
      expect(await shown.getAttribute("data-y")).toBe("-5 50");
      expect(await shown.getAttribute("aria-label")).toMatch(/^Both, together: 2 lines, step 0 to step 299, /);
      const legend = own.getByRole("list", { name: "Lines" }).getByRole("listitem");
      expect((await legend.allTextContents()).map((text) => text.trim())).toEqual(["loss", "signed"]);
    }
    await choose(page, "loss", "Move later");
    expect(await cardKeys(page)).toEqual(["signed", "loss"]);
    await card(page, "loss").locator("h3").dragTo(card(page, "signed").locator("h3"));
    expect(await cardKeys(page)).toEqual(["loss", "signed"]);
    expect(await putTogether(page, "signed", "loss")).toBe("signed\\,mine,loss\\,mine");
    const width = async (of: Locator): Promise<number> => (await of.boundingBox())!.width;
    expect(await width(plot)).toBeGreaterThan(1.9 * (await width(await drawn(page, "signed"))));
    expect(everyFault()).toEqual([]);
  });

  test("a fork begins with its parent's part if one wishes, which hover, keys and files tell apart", async () => {
    const parent = runs.get("alpha")!;
    const forked = (await api.post(`/api/runs/${parent.id}/forks`, { name: "child", step: 9 })).json;
    const { id } = forked.run as { id: string };
    const points = Array.from({ length: 10 }, (_, i) => ({ step: 10 + i, metrics: { loss: 2 } }));
    expect((await api.post(`/runs/${id}/metrics/batch`, { points })).status).toBe(200);
    runs.set("child", { id, name: "child", startedAt: parent.startedAt, running: true, forkStep: 9 });
    const watched = await open(["child"]);
    const { page } = watched;
    const plot = await drawn(page, "loss");
    expect(await plot.getAttribute("aria-label")).toMatch(/^loss: 1 line, step 10 to step 19,/);
    await page.getByRole("button", { name: "Axes" }).click();
    await page.getByRole("menuitemcheckbox", { name: "Show the parent's part of forks" }).click();
    await page.waitForURL(/lineage=1/);
    await until("the parent's part is drawn", async () =>
      (await plot.getAttribute("aria-label"))!.startsWith("loss: 1 line, step 0 to step 19,"),
    );
    await settled(page, "loss");
    const rows = (await saved(page, "loss", "CSV")).trim().split("\r\n");
    expect(rows[0]).toBe("id,name,step,loss,inherited");
    expect(rows.slice(1).map((row) => row.split(",").slice(1))).toEqual(
      Array.from({ length: 20 }, (_, i) => [
        "child",
        String(i),
        String(i < 10 ? Math.exp(-i / 80) : 2),
        String(i < 10),
      ]),
    );
    const svg = await saved(page, "loss", "SVG");
    expect(svg).toContain('aria-label="child, of its parent"');
    await plot.focus();
    await page.keyboard.press("Home");
    await page.getByText("At 0: child 1 (part of its parent, forked at step 9)").waitFor({ state: "attached" });
    await page.getByText("Part of its parent, forked at step 9", { exact: true }).waitFor();
    await expectAccessible(watched);
    await page.keyboard.press("End");
    await page.getByText("At 19: child 2", { exact: true }).waitFor({ state: "attached" });
    expect(everyFault()).toEqual([]);
  });

  test("new points are drawn while the page is open, and zoomed charts stay where they are", async () => {
    const { page } = await open(["alpha"], { live: true });
    const plot = await drawn(page, "loss");
    await page.waitForTimeout(300);
    await api.post(`/runs/${runs.get("alpha")!.id}/metrics`, { step: 400, metrics: { loss: 0.5 } });
    await until("the new point", async () => (await plot.getAttribute("aria-label"))!.includes("step 0 to step 400"));
    expect(everyFault()).toEqual([]);
  });

  test.each(["light", "dark"] as const)("there is nothing that keeps people out, in the %s theme", async (theme) => {
    const watched = await open(["alpha", "beta", "signed"], {
      theme,
      query: "?y=log&smooth=ema:0.9&keys=,loss&zoom=0~200",
    });
    const plot = await drawn(watched.page, "loss");
    const box = (await plot.boundingBox())!;
    for (const x of [150, box.width - 20]) {
      await plot.hover({ position: { x, y: 80 } });
      const values = (await watched.page.locator(".tm-chart-tip").boundingBox())!;
      expect(values.x > box.x + x || values.x + values.width < box.x + x).toBe(true);
      expect(values.x >= 0 && values.x + values.width <= 1440).toBe(true);
    }
    await plot.click({ position: { x: 150, y: 80 } });
    await watched.page.locator(".tm-chart-tip li").first().hover();
    expect(await watched.page.locator(".tm-chart-tip li").allInnerTexts()).toEqual([
      expect.stringMatching(/^alpha\s+0\.\d+$/),
      expect.stringMatching(/^beta\s+0\.\d+$/),
    ]);
    await watched.page.getByRole("button", { name: "Close values" }).click();
    await expectAccessible(watched);
    await watched.page.getByRole("button", { name: "Show loss full screen" }).click();
    const full = watched.page.getByRole("dialog", { name: "loss" });
    await full.locator(".tm-chart-plot[data-x]").waitFor();
    expect(await full.boundingBox()).toEqual({ x: 0, y: 0, width: 1440, height: 900 });
    expect((await full.locator(".tm-chart-plot").boundingBox())!.height).toBeGreaterThan(650);
    const legend = await full.getByRole("list", { name: "Runs" }).getByRole("listitem").allInnerTexts();
    expect(legend.map((name) => name.trim())).toEqual(["alpha", "beta"]);
    for (const name of ["Group", "Axes", "Reset zoom", "Table", "Download"])
      await full.getByRole("button", { name, exact: true }).waitFor();
    await expectAccessible(watched);
    await watched.page.keyboard.press("Escape");
    await full.waitFor({ state: "detached" });
    await watched.page.getByRole("button", { name: "Browse" }).click();
    await watched.page.getByRole("dialog", { name: "Browse metrics" }).waitFor();
    await expectAccessible(watched);
    expect(everyFault()).toEqual([]);
  });

  test("a phone shows charts without scrolling sideways, and a touch shows values", async () => {
    const context = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const { page } = await open(["alpha", "beta", "gamma"], { context });
    const plot = await drawn(page, "loss");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    const { x, y } = (await plot.boundingBox())!;
    await page.touchscreen.tap(x + 150, y + 100);
    await page.locator(".tm-chart-tip").waitFor();
    expect(await page.locator(".tm-chart-tip li").count()).toBe(3);
    await page.getByRole("button", { name: "Close values" }).tap();
    await page.getByRole("button", { name: "Show loss full screen" }).tap();
    const full = page.getByRole("dialog", { name: "loss" });
    await full.locator(".tm-chart-plot[data-x]").waitFor();
    expect(await full.evaluate((dialog) => [dialog.scrollWidth, dialog.clientHeight])).toEqual([390, 844]);
    expect(everyFault()).toEqual([]);
  });
});
