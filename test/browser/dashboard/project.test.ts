import { beforeAll, expect, test } from "@jest/globals";
import { rounds, until } from "@tidemark/testkit";
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { expectAccessible, describeDashboard, expectClean, settled, sideways } from "./open-dashboard.ts";
import { PHONE, themes } from "../browser.ts";
import { seedProject } from "./seed-project.ts";

const MANY = rounds(100_000);
const FAR = 0.9 * MANY;
const HOSTILE = `<img src=x onerror="document.title='owned'"><script>1</script>`;

/** Adds a bar chart to the page of four runs, reads it by keys, and compares its file with what was logged. */
async function addBars(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Add chart" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a chart" });
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await dialog.getByText("Choose what the chart shows.").waitFor();
  await dialog.getByLabel("Metric", { exact: true }).fill("train/loss");
  await dialog.getByLabel("Value").selectOption("min");
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await page.waitForURL((url) => url.searchParams.get("panels") === "bar\\,metric=train/loss\\,value=min");
  const bars = page.getByRole("img", { name: /^train\/loss \(min\): 4 runs, train\/loss \(min\) 0 to 0\.08\./ });
  await bars.focus();
  for (const key of ["ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
  await page.getByText(/: train\/loss \(min\) 0\.0\d/).waitFor();
  const card = page.getByRole("article", { name: "train/loss (min)" });
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    card.getByRole("button", { name: "CSV" }).click(),
  ]);
  const rows = (await readFile(await download.path(), "utf8")).trim().split("\r\n");
  expect(rows[0]).toBe("id,name,train/loss (min)");
  const values = rows.slice(1).map((row) => Number(row.split(",").at(-1)));
  expect(values.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4].map((i) => i / 50));
}

const rowsOf = (page: Page): Promise<number> => page.locator('[role="row"]').count();
const names = (page: Page): Promise<string[]> => page.locator(".tm-grid-row .tm-run-link").allTextContents();

describeDashboard("the page of a project", (scene) => {
  const ids: string[] = [];

  beforeAll(async () => {
    const { api, stack, team } = scene();
    await seedProject(stack, { orgId: team.orgId, name: "many", runs: MANY });
    for (const [i, name] of ["alpha", "beta", "gamma", HOSTILE].entries()) {
      const config = { lr: 10 ** -i, optimizer: { name: i % 2 === 0 ? "adam" : "sgd" } };
      const made = await api.post("/runs", { project: "few", name, config, tags: ["seeded"] });
      const { id } = made.json.run as { id: string };
      ids.push(id);
      const points = Array.from({ length: 50 }, (_, step) => ({
        step,
        metrics: { "train/loss": (i + 1) / (step + 1) },
      }));
      await api.post(`/runs/${id}/metrics/batch`, { points });
    }
    await api.patch(`/runs/${ids[0]}`, { status: "finished" });
  });

  test("shows any of many runs with few rows in the document", async () => {
    const { api, open, stack } = scene();
    const watched = await open({ path: "/p/many?split=100" });
    const { page } = watched;
    await page.waitForSelector(".tm-grid-row .tm-run-link");
    expect(await page.getByRole("grid", { name: "Runs" }).getAttribute("aria-rowcount")).toBe(String(MANY + 1));
    await page.getByRole("grid", { name: "Runs" }).evaluate((grid, far) => {
      grid.scrollTop = far * 34;
    }, FAR);
    const wanted = await api.get(`/api/runs/summary?project=many&projection=selection&limit=1&cursor=offset:${FAR}`);
    const { name } = (wanted.json.runs as { name: string }[])[0]!;
    const row = page.locator(`[data-index="${FAR}"] .tm-run-link`);
    await row.waitFor();
    expect(await row.textContent()).toBe(name);
    expect(await rowsOf(page)).toBeLessThanOrEqual(80);
    await page.getByRole("grid", { name: "Runs" }).focus();
    await page.locator(`[data-index="${FAR}"] [role=rowheader]`).click({ position: { x: 3, y: 3 } });
    await page.keyboard.press("Control+End");
    await page.locator(`[data-index="${MANY - 1}"] .tm-run-link`).waitFor();
    expect(await names(page)).toContain("run-000001");
    expect(await rowsOf(page)).toBeLessThanOrEqual(80);
    await expectClean(watched, stack);
  });

  test("keeps everything in the address", async () => {
    const { open } = scene();
    const { page } = await open({ path: "/p/few" });
    await page.waitForSelector(".tm-grid-row .tm-run-link");
    expect(await names(page)).toEqual([HOSTILE, "gamma", "beta", "alpha"]);
    await page.getByRole("columnheader", { name: "Name" }).click();
    await until("the page shows it", async () => (await names(page))[1] === "alpha");
    await page.keyboard.press("/");
    await page.keyboard.type("config.lr<0.5");
    await until("the page shows it", async () => (await names(page)).length === 3);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.locator('[data-row="1"][data-column="1"]').focus();
    await page.keyboard.press("b");
    await page.keyboard.press("j");
    await page.keyboard.press("Space");
    const order = ["beta", HOSTILE, "gamma"].join();
    await until("the baseline is on top, and only there", async () => (await names(page)).join() === order);
    const before = await names(page);
    const address = new URL(page.url());
    const copy = await open({ path: `${address.pathname}${address.search}` });
    await until("the page shows it", async () => (await names(copy.page)).join() === before.join());
    expect(await copy.page.getByRole("combobox", { name: "Search runs" }).inputValue()).toBe("config.lr<0.5");
    expect(await copy.page.locator(".tm-grid-selected").count()).toBe(await page.locator(".tm-grid-selected").count());
  });

  test("tags and stops runs in bulk and shows the progress of a stop", async () => {
    const { api, open } = scene();
    const { page } = await open({ path: `/p/few?sel=${ids[1]},${ids[2]}` });
    await page.waitForSelector(".tm-grid-selected");
    await page.getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menuitem", { name: "Add tag…" }).click();
    await page.getByLabel("Tag", { exact: true }).fill("kept");
    await page.getByText("This changes 2 runs of 2 runs.").waitFor();
    await page.getByRole("button", { name: "Add tag" }).click();
    await page.getByText("Tagged 2 runs.").waitFor();
    expect((await api.get(`/runs/${ids[1]}`)).json.run.tags).toEqual(["seeded", "kept"]);
    await page.getByRole("button", { name: "Undo" }).click();
    await until("the page shows it", async () => (await api.get(`/runs/${ids[1]}`)).json.run.tags.length === 1);
    await page.locator('[data-row="1"][data-column="1"]').focus();
    await page.keyboard.press("s");
    await page.getByRole("dialog").getByRole("button", { name: "Stop runs" }).click();
    await page
      .getByText(/asked \d+ s ago/)
      .first()
      .waitFor();
    const { stop_request_id: request } = (await api.get(`/runs/${ids[1]}`)).json.run.run_control;
    const told = { stop_request_id: request, state: "acknowledged" };
    expect((await api.post(`/api/runs/${ids[1]}/stop-ack`, told)).status).toBe(200);
    await page.getByText(/acknowledged \d+ s ago/).waitFor();
  });

  test("has no fault that axe finds, fits a phone, and shows a viewer nothing to write with", async () => {
    const { open, stack } = scene();
    for (const theme of themes) {
      const watched = await open({ path: `/p/few?sel=${ids[1]}&base=${ids[0]}`, theme });
      await watched.page.waitForSelector(".tm-grid-row .tm-run-link");
      if (theme === "light") await addBars(watched.page);
      await expectAccessible(watched);
      await expectClean(watched, stack);
    }
    const phone = await open({ path: "/p/few?panels=bar\\,config=lr", viewport: PHONE, role: "viewer" });
    await settled(phone);
    await phone.page.waitForSelector(".tm-grid-row .tm-run-link");
    expect(await sideways(phone)).toBe(0);
    await expectAccessible(phone);
    await phone.page.locator(".tm-grid-row .tm-check").first().click();
    await phone.page.getByRole("button", { name: "Compare" }).waitFor();
    await phone.page.getByRole("button", { name: "Actions" }).click();
    await phone.page.getByRole("menuitem", { name: "Hide from charts" }).waitFor();
    expect(await phone.page.getByRole("menuitem", { name: /tag|Stop|Delete/ }).count()).toBe(0);
    await phone.page.keyboard.press("Escape");
    await phone.page.getByRole("tab", { name: "Charts" }).click();
    await phone.page.getByRole("img", { name: /^lr: 4 runs, / }).waitFor();
    expect(await sideways(phone)).toBe(0);
  });
});
