import { beforeAll, expect, test } from "@jest/globals";
import { readFile } from "node:fs/promises";
import { until } from "@tidemark/testkit";
import type { Locator, Page } from "playwright-core";
import { expectAccessible, describeDashboard, expectClean, settled, sideways } from "./open-dashboard.ts";
import { PHONE, themes } from "../browser.ts";

const RUNS = 24;
const PATH = "/p/sweep?charts=columns&split=30";

/** The place of something within a chart, from the left and the top of its canvas. */
async function boxOf(page: Page, name: RegExp): Promise<{ x: number; y: number; width: number; height: number }> {
  const chart = page.getByRole("img", { name });
  await chart.scrollIntoViewIfNeeded();
  return (await chart.boundingBox())!;
}

/** The mean accuracy of a group at its only step, as the file of the chart has it. */
async function meanOf(page: Page, group: string): Promise<number> {
  const card = page.locator('article[data-key="accuracy"]:not([aria-busy])');
  await card.getByText(group, { exact: true }).waitFor();
  await card.getByRole("button", { name: "More for accuracy" }).click();
  const item = page.getByRole("menuitem", { name: "Download CSV" });
  const [download] = await Promise.all([page.waitForEvent("download"), item.click()]);
  const rows = (await readFile(await download.path(), "utf8")).split("\r\n").map((row) => row.split(","));
  return Number(rows.find((row) => row[1] === group)?.[rows[0]!.indexOf("accuracy")]);
}

describeDashboard("runs by their parameters", (scene) => {
  beforeAll(async () => {
    const { api } = scene();
    for (let i = 0; i < RUNS; i += 1) {
      const config = { lr: 10 ** -(1 + (i % 6)), depth: (i * 7) % 5, optimizer: i % 2 === 0 ? "adam" : "sgd" };
      const made = await api.post("/runs", { project: "sweep", name: `trial-${i}`, config });
      const { id } = made.json.run as { id: string };
      await api.post(`/runs/${id}/metrics`, { step: 1, metrics: { loss: 0.1 * (1 + (i % 6)), accuracy: i / RUNS } });
    }
    // It has no metric, and is drawn nowhere.
    await api.post("/runs", { project: "sweep", name: "failed early", config: { lr: 1 } });
  });

  test("show which parameter correlates with a metric, and keep the choice in the address", async () => {
    const { open, stack } = scene();
    const watched = await open({ path: PATH });
    const { page } = watched;
    await page.getByLabel("Metric", { exact: true }).selectOption("loss");
    const table = page.getByRole("table", { name: /^Parameter importance for loss/ });
    await table.waitFor();
    const first = table.locator("tbody tr").first();
    await until("the strongest comes first", async () => (await first.textContent())?.startsWith("lr-1.00") === true);
    expect(await table.textContent()).toContain("over 25 runs");
    await page.getByRole("img", { name: /^loss \(best\) by lr: 24 runs/ }).waitFor();
    await page.getByText("Lowest loss (best) of 24 runs: 0.1, trial-").waitFor();
    await page.getByRole("img", { name: /^Best so far: loss \(best\): 24 runs/ }).waitFor();
    await table.getByRole("button", { name: "optimizer" }).click();
    const values = page.getByRole("table", { name: "loss (best) by optimizer" }).locator("tbody tr");
    expect(await values.allTextContents()).toEqual(["adam0.30.10.512", "sgd0.40.20.612"]);
    await table.getByRole("button", { name: "depth" }).click();
    await page.getByRole("img", { name: /^loss \(best\) by depth: 24 runs/ }).waitFor();
    await page.getByLabel("Color", { exact: true }).selectOption("config.lr");
    await page
      .getByText(/lr from 0\.000001 \(dark\) to 0\.1 \(light\)|lr from 1e-6 \(dark\) to 0\.1 \(light\)/)
      .waitFor();
    const { pathname, search } = new URL(page.url());
    const copy = await open({ path: pathname + search });
    await copy.page.getByRole("img", { name: /^loss \(best\) by depth: 24 runs/ }).waitFor();
    expect(await copy.page.getByLabel("Color", { exact: true }).inputValue()).toBe("config.lr");
    await expectClean(watched, stack);
  });

  test("go from run to run by keys and open one", async () => {
    const { open } = scene();
    const { page } = await open({ path: `${PATH}&of=metrics.loss.best&by=config.lr&logs=by` });
    const chart = page.getByRole("img", { name: /^loss \(best\) by lr: 24 runs/ });
    await chart.focus();
    await page.keyboard.press("ArrowRight");
    await page.getByText(/^trial-\d+: lr (?:0\.000001|1e-6), loss \(best\) 0\.6$/).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/p\/sweep\/r\//);
    expect(new URL(page.url()).pathname).toMatch(/^\/p\/sweep\/r\/[\da-f-]{36}/);
  });

  test("select those that pass a range of a column", async () => {
    const { open } = scene();
    const { page } = await open({ path: `${PATH}&of=metrics.loss.best&axes=config.optimizer,config.lr` });
    const name = /^Parallel coordinates: 25 runs over optimizer, lr, loss \(best\)/;
    await page.getByRole("img", { name }).waitFor();
    const box = await boxOf(page, name);
    // The lower half of the first column: texts are in the order of the alphabet, from below.
    const left = box.x + 56;
    await page.mouse.move(left, box.y + box.height - 15);
    await page.mouse.down();
    await page.mouse.move(left, box.y + box.height / 2, { steps: 4 });
    await page.mouse.up();
    await page.getByText("12 runs selected", { exact: true }).waitFor();
    await until("the table has them selected", async () => (await page.locator(".tm-grid-selected").count()) === 12);
    await page.getByRole("button", { name: "Clear ranges" }).click();
    await page.getByText("12 selected", { exact: true }).waitFor({ state: "detached" });
    expect(await page.locator(".tm-grid-selected").count()).toBe(0);
  });

  test("are grouped in the table by what they share, with means, and a group leads to its runs", async () => {
    const { open } = scene();
    const watched = await open({ path: "/p/sweep?group=config.optimizer&cols=metrics.loss.best,config.lr&split=60" });
    const { page } = watched;
    const table = page.getByRole("table", { name: /^\d groups? by optimizer/ });
    await table.waitFor();
    const rows = (): Promise<string[]> => table.getByRole("row").allTextContents();
    expect((await table.locator("caption").textContent())?.startsWith("3 groups")).toBe(true);
    expect((await rows()).slice(1).toSorted()).toEqual([
      expect.stringMatching(/^optimizer = adam120\.3 ± 0\.16/),
      "optimizer = none1–1",
      expect.stringMatching(/^optimizer = sgd120\.4 ± 0\.16/),
    ]);
    await expectAccessible(watched);
    await table.getByRole("button", { name: "optimizer = none", exact: true }).click();
    await table.getByRole("link", { name: "failed early" }).waitFor();
    await table.getByRole("button", { name: "Only these" }).first().click();
    await until("its runs are searched for", async () => (await rows()).length === 2);
    expect(await page.getByRole("combobox", { name: "Search runs" }).inputValue()).toMatch(
      /^config\.optimizer="(?:adam|sgd)"$/,
    );
    await table.getByRole("button", { name: "Sweep" }).click();
    await page.getByText(/^Highest accuracy \(best\) of 12 runs/).waitFor();
    expect(new URL(page.url()).searchParams.get("group")).toBeNull();
  });

  test("have eyes in the rows of groups, for all runs of a group and for each", async () => {
    const { open, stack } = scene();
    for (const theme of themes) {
      const watched = await open({ path: "/p/sweep?group=config.optimizer&split=60&tab=table", theme });
      const { page } = watched;
      const table = page.getByRole("table", { name: /^\d groups? by optimizer/ });
      const chart = page.locator('article[data-key="loss"] .tm-chart-plot');
      const drawn = (lines: number) =>
        until(`${lines} lines`, async () =>
          (await chart.getAttribute("aria-label"))?.startsWith(`loss: ${lines} line`),
        );
      const legend = page.getByRole("list", { name: "Groups" }).first();
      // Groups have all runs of the search, also those that have no lines without groups.
      const hide = table.getByRole("button", { name: "Hide the lines of optimizer = adam (12 of 12 runs)" });
      await hide.waitFor();
      await chart.scrollIntoViewIfNeeded();
      await drawn(2);
      await legend.getByText("optimizer=adam (12 runs)").waitFor();
      const inkOf = (row: Locator): Promise<string> =>
        row.locator("line").evaluate((line) => getComputedStyle(line).stroke);
      const ofAdam = { hasText: /^\s*optimizer ?= ?adam/ };
      expect(await inkOf(table.getByRole("row").filter(ofAdam))).toBe(
        await inkOf(legend.getByRole("listitem").filter(ofAdam)),
      );
      expect(await meanOf(page, "optimizer=adam (12 runs)")).toBeCloseTo(
        (0 + 2 + 4 + 6 + 8 + 10 + 12 + 14 + 16 + 18 + 20 + 22) / 12 / RUNS,
        9,
      );
      await hide.click();
      await drawn(1);
      await expectAccessible(watched);
      await table.getByRole("button", { name: "Show the lines of optimizer = adam (12 of 12 runs)" }).click();
      await drawn(2);
      await table.getByRole("button", { name: "optimizer = adam", exact: true }).click();
      await table.getByRole("button", { name: "Hide the lines of trial-0", exact: true }).click();
      await legend.getByText("optimizer=adam (11 runs)").waitFor();
      expect(await meanOf(page, "optimizer=adam (11 runs)")).toBeCloseTo(
        (2 + 4 + 6 + 8 + 10 + 12 + 14 + 16 + 18 + 20 + 22) / 11 / RUNS,
        9,
      );
      await table.getByRole("button", { name: "Show the lines of trial-0", exact: true }).waitFor();
      await expectClean(watched, stack);
    }
  });

  test("are accessible in both themes and fit a phone", async () => {
    const { open, stack } = scene();
    for (const theme of themes) {
      const watched = await open({ path: PATH, theme });
      await watched.page.getByRole("img", { name: /^Parallel coordinates/ }).waitFor();
      await expectAccessible(watched);
      await expectClean(watched, stack);
    }
    const phone = await open({ path: "/p/sweep?charts=columns&tab=charts", viewport: PHONE });
    await phone.page.getByRole("img", { name: /^Parallel coordinates/ }).waitFor();
    await settled(phone);
    expect(await sideways(phone)).toBe(0);
  });

  test("have the color that the user chose, in the table and in the charts, also after a reload", async () => {
    const { open, stack } = scene();
    const watched = await open({ path: "/p/sweep" });
    const { page } = watched;
    const swatch = page.getByRole("button", { name: "Change the color of failed early" });
    const strokeOf = (): Promise<string> => swatch.locator("line").evaluate((line) => getComputedStyle(line).stroke);
    await swatch.click();
    const dialog = page.getByRole("dialog", { name: "Line of failed early" });
    await dialog.getByLabel("Another color").fill("#123456");
    await dialog.getByRole("button", { name: "Dashes 2" }).click();
    await dialog.getByRole("button", { name: "Done" }).click();
    await until("the color is drawn", async () => (await strokeOf()) === "rgb(18, 52, 86)");
    await page.reload();
    await until("the color is kept", async () => (await strokeOf()) === "rgb(18, 52, 86)");
    await swatch.click();
    await dialog.getByRole("button", { name: "Reset" }).click();
    await until("the color is gone", async () => (await strokeOf()) !== "rgb(18, 52, 86)");
    await expectClean(watched, stack);
  });
});
