import { beforeAll, expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { expectAccessible, describeDashboard, expectClean, settled, sideways } from "./open-dashboard.ts";
import { HOSTILE, logRun, type Logged } from "./logged-run.ts";
import { PHONE, themes } from "../browser.ts";

const TABS = ["overview", "charts", "system", "logs", "config", "files", "objects", "ranks", "traces"] as const;

const isHacked = (page: Page): Promise<boolean> => page.evaluate(() => "hacked" in globalThis);

describeDashboard("the page of a run", (scene) => {
  let run: Logged;
  beforeAll(async () => {
    const { api } = scene();
    run = await logRun(api, "Project & Ümlaut");
    const readme = `# Readme\n\n${HOSTILE}\n\n[bad](javascript:alert(1)) [good](https://example.test/) ![x](https://evil.test/x.png)`;
    await api.call("PUT", `/api/runs/${run.id}/readme`, { body: { markdown: readme } });
  });

  test.each(themes)("every tab is accessible and nothing hostile runs in it, in the %s theme", async (theme) => {
    const { stack, open } = scene();
    const watched = await open({ path: run.path("overview"), theme });
    const { page } = watched;
    for (const [i, tab] of TABS.entries()) {
      await page.locator("body").press(String(i + 1));
      await page.waitForURL(`**/${tab}`);
      await settled(watched);
      await page.waitForTimeout(300);
      await expectAccessible(watched);
      expect([tab, await isHacked(page)]).toEqual([tab, false]);
      await page.setViewportSize(PHONE);
      // Charts and media are laid out again after the window has changed.
      await until(`${tab} to fit a phone`, async () => (await sideways(watched)) === 0);
      expect([tab, await sideways(watched)]).toEqual([tab, 0]);
      await page.setViewportSize({ width: 1440, height: 900 });
    }
    await page.getByRole("tab", { name: "Lineage" }).click();
    await page.waitForURL("**/lineage");
    await settled(watched);
    await expectAccessible(watched);
    await page.locator("body").press("1");
    await page.getByRole("heading", { name: "Readme", level: 1 }).waitFor();
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0);
    const link = page.getByRole("link", { name: "good" });
    expect(await link.getAttribute("rel")).toContain("noopener");
    await expectClean(watched, stack);
  });

  test("charts flow in one grid, and metrics of the machine have a tab with a line for each device", async () => {
    const { open, stack } = scene();
    const watched = await open({ path: run.path("charts") });
    const { page } = watched;
    const card = (name: string) => page.getByRole("article", { name, exact: true });
    const [val, train] = [(await card("val/acc").boundingBox())!, (await card("train/loss").boundingBox())!];
    expect([train.y, train.x > val.x]).toEqual([val.y, true]);
    expect(await page.getByRole("article", { name: /GPU|gpu/ }).count()).toBe(0);
    await page.locator("body").press("3");
    await page.getByRole("button", { name: /^GPU/ }).click();
    await page.waitForURL(/system\?closed=GPU$/);
    await page.getByRole("button", { name: /^GPU/ }).click();
    const plot = card("GPU (%)").locator(".tm-chart-plot[data-y]");
    await plot.waitFor();
    expect(await plot.getAttribute("data-y")).toBe("0 100");
    await until("both GPUs", async () => (await plot.getAttribute("aria-label"))!.startsWith("GPU (%): 2 lines, "));
    expect((await card("GPU (%)").getByRole("listitem").allTextContents()).map((text) => text.trim())).toEqual([
      "GPU 0",
      "GPU 1",
    ]);
    await expectClean(watched, stack);
  });

  test("changes between the first read and the beginning of the stream of changes are shown", async () => {
    const { api, open, stack } = scene();
    const { id } = (await api.post("/runs", { project: "early" })).json.run as { id: string };
    const { page } = await open({ path: "/" });
    const changed = Promise.withResolvers<void>();
    await page.route("**/changes", async (route) => {
      await changed.promise;
      await route.continue();
    });
    await page.goto(`${stack.baseUrl}/p/early/r/${id}/overview`);
    await settled({ page });
    await api.patch(`/runs/${id}`, { name: "renamed meanwhile" });
    changed.resolve();
    await page.getByText("renamed meanwhile").first().waitFor();
    expect(await page.getByText("renamed meanwhile").first().isVisible()).toBe(true);
  });

  test("config and tags have what the SDK logs as attributes", async () => {
    const { page } = await scene().open({ path: run.path("config") });
    const row = page.getByRole("row", { name: /batch_size/ });
    await row.waitFor();
    expect(await row.innerText()).toContain("64");
    await page.getByLabel("Search the config").fill("betas");
    await expect(page.getByRole("row").filter({ hasText: "0.9, 0.99" }).count()).resolves.toBe(1);
    await page.waitForURL(/find=betas/);
    await page.getByText("from-sdk").waitFor();
    // The header and the tabs leave nine tenths of a laptop's screen.
    const content = await page.getByRole("tabpanel").boundingBox();
    const bar = await page.locator(".tm-top").boundingBox();
    expect(content!.y - bar!.height).toBeLessThanOrEqual(90 + 8);
  });

  test("one slider moves all media, and images have the same pixels in both themes", async () => {
    const seen: string[] = [];
    for (const theme of ["light", "dark"] as const) {
      const { page } = await scene().open({ path: run.path("objects"), theme });
      const steps = (): Promise<(string | null)[]> =>
        page
          .locator("figure.tm-object")
          .evaluateAll((figures) => figures.map((figure) => figure.getAttribute("data-step")));
      await page.locator("figure.tm-object img").first().waitFor();
      expect(await steps()).toEqual(["20", "15", "20", "20", "20"]);
      if (theme === "light") {
        await sortAndFilter(page);
        await readClassifier(page);
      }
      await page.getByLabel("Step", { exact: true }).fill("0");
      await page.waitForURL(/step=10/);
      expect(await steps()).toEqual(["20", "15", "10", "10", "10"]);
      if (theme === "light") await readHistory(page);
      const image = page.locator("figure.tm-object img").first();
      await image.evaluate((element) => (element as HTMLImageElement).decode());
      seen.push(
        await image.evaluate((element) => {
          const canvas = document.createElement("canvas");
          const context = canvas.getContext("2d")!;
          context.drawImage(element as HTMLImageElement, 0, 0, 40, 40);
          return [...context.getImageData(20, 20, 1, 1).data].join(" ");
        }),
      );
    }
    expect(seen).toEqual(["255 0 0 255", "255 0 0 255"]);
  });

  /** Looks at the rows of the table: sorted, filtered, with the right numbers. Then enlarges a picture. */
  async function sortAndFilter(page: Page): Promise<void> {
    const table = page.getByRole("grid", { name: "Rows of predictions" });
    const scores = () => table.locator('[data-row][data-column="2"]:not([data-row="-1"])').allInnerTexts();
    await page.getByText("300 rows").waitFor();
    await table.getByRole("columnheader", { name: "score" }).click();
    await table.getByRole("columnheader", { name: "score" }).click();
    await until("the highest score to be first", async () => (await scores())[0] === "149.5");
    await page.getByLabel("Filter Rows of predictions").fill('score<2 label="dog"');
    await page.getByText("2 rows").waitFor();
    await until("the rows", async () => (await scores()).length === 2);
    expect(await scores()).toEqual(["1", "0.5"]);
    await page.getByLabel("Filter Rows of predictions").fill("score<");
    await page.getByText(/must be conditions such as/).waitFor();
    await page.getByLabel("Filter Rows of predictions").fill("");
    await page.getByText("300 rows").waitFor();
    await page.getByRole("button", { name: "Enlarge samples/a at step 20" }).click();
    await page
      .getByRole("dialog")
      .getByRole("link", { name: /^Download / })
      .waitFor();
    await page.keyboard.press("Escape");
    // The slider stays below the bar.
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    const [slider, bar] = [page.locator(".tm-step-slider"), page.locator(".tm-top")];
    const edge = (await bar.boundingBox())!;
    await until("the slider to be there", async () => (await slider.boundingBox())!.y >= edge.y + edge.height);
    expect((await slider.boundingBox())!.y).toBeLessThan(edge.y + edge.height + 4);
    await page.evaluate(() => scrollTo(0, 0));
  }

  /** Looks at an evaluation: its matrix, and its curve, which keys read. */
  async function readClassifier(page: Page): Promise<void> {
    const matrix = page.getByRole("region", { name: "Confusion matrix of eval" });
    expect((await matrix.getByRole("row").last().innerText()).split(/\s+/)).toEqual(["cat", "0", "0%", "4", "100%"]);
    const roc = page.getByRole("img", { name: /^ROC curve of eval: 1 curve; eval, AUC 0\.938\./ });
    await roc.focus();
    for (const key of ["ArrowRight", "ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
    await page.getByText("eval: fpr 0.25, tpr 1, threshold 0.4").waitFor();
  }

  /** Looks at histograms over steps: the address chooses how they are drawn, and the file has what is. */
  async function readHistory(page: Page): Promise<void> {
    await page.getByLabel("Histograms").selectOption("heat");
    await page.waitForURL(/hist=heat/);
    const plot = page.getByRole("img", { name: /^weights: histograms of 2 steps, from 10 to 20, values 0 to 2\./ });
    await plot.focus();
    for (const key of ["ArrowUp", "ArrowRight"]) await page.keyboard.press(key);
    // 20 of 24 values are in the first half of the range, in 25 of 50 bins.
    await page.getByText("Step 20, 0 to 0.04: 0.8, 3.3%").waitFor();
    const figure = page.locator("figure.tm-stage").filter({ has: plot });
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      figure.getByRole("button", { name: "CSV" }).click(),
    ]);
    const rows = (await readFile(await download.path(), "utf8")).trim().split("\r\n");
    expect([rows.length, rows[0], rows[51]]).toEqual([
      101,
      "step,from,to,count,share",
      expect.stringMatching(/^20,0,0\.04,0\.8\d*,0\.03/),
    ]);
    await figure.getByRole("button", { name: "Table" }).click();
    await page.getByRole("region", { name: "Values of weights" }).waitFor();
  }

  test("a fork without points of its own shows those of its parent if one wishes", async () => {
    const { api, open } = scene();
    const forked = await api.post(`/api/runs/${run.id}/forks`, { name: `fork ${HOSTILE}`, step: 20 });
    const { id } = forked.json.run as { id: string };
    const watched = await open({ path: `/p/${encodeURIComponent(run.project)}/r/${id}/charts?lineage=1` });
    const { page } = watched;
    await page.getByRole("img", { name: /^val\/acc: 1 line, step 0 to step 20, values 0 to 0\.4/ }).waitFor();
    await expectAccessible(watched);
    expect(await isHacked(page)).toBe(false);
  });

  test("a stop request shows its age, is acknowledged and ends, without reloading", async () => {
    const { api, open } = scene();
    const { id } = (await api.post("/runs", { project: run.project, name: "to stop" })).json.run as { id: string };
    const { page } = await open({ path: `/p/${encodeURIComponent(run.project)}/r/${id}/overview` });
    await page.getByRole("heading", { name: "to stop" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: "Stop this run…" }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.locator("body").press("s");
    await page.getByLabel("Reason").fill("loss is NaN");
    await page.keyboard.press("Enter");
    await page.getByText(/Stop requested \d+ s ago by a person\. Waiting for the training process/).waitFor();
    const { stop_request: request } = (await api.get(`/api/runs/${id}/stop-signal`)).json;
    const ack = { stop_request_id: request.stop_request_id, state: "acknowledged" };
    expect((await api.post(`/api/runs/${id}/stop-ack`, ack)).status).toBe(200);
    await page.getByText(/acknowledged the request \d+ s ago and is stopping/).waitFor();
    const done = { ...ack, state: "completed", message: "saved a checkpoint" };
    expect((await api.post(`/api/runs/${id}/stop-ack`, done)).status).toBe(200);
    await page.getByText(/Stopped \d+ s after a person asked/).waitFor();
    await page.getByText("The training says: saved a checkpoint").waitFor();
    expect(await page.getByRole("button", { name: "Stop", exact: true }).count()).toBe(0);
  });

  test("a run is renamed in place, and that is taken back", async () => {
    const { api, open } = scene();
    const { id } = (await api.post("/runs", { project: run.project, name: "first name" })).json.run as { id: string };
    const { page } = await open({ path: `/p/${encodeURIComponent(run.project)}/r/${id}/overview` });
    await page.getByRole("button", { name: "Rename run" }).click();
    await page.getByLabel("Name of the run").fill("second name");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "second name" }).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("heading", { name: "first name" }).waitFor();
    expect((await api.get(`/runs/${id}`)).json.run.name).toBe("first name");
  });

  test("a trace is a waterfall that is searched and walked by keys", async () => {
    const { page } = await scene().open({ path: run.path("traces") });
    await page
      .getByRole("grid", { name: "Traces" })
      .getByRole("link", { name: /rollout/ })
      .click();
    const tree = page.getByRole("tree", { name: "Spans" });
    await tree.getByRole("treeitem").nth(5).waitFor();
    expect(await tree.getByRole("treeitem").count()).toBeLessThan(80);
    await tree.focus();
    await page.keyboard.press("End");
    await page.waitForURL(/span=/);
    await page.getByRole("button", { name: "Failed span" }).click();
    await page.getByRole("complementary", { name: "Span span 399" }).waitFor();
    await page.getByLabel("Search spans").fill("lost");
    await page.getByText("1 span whose parent was not logged").waitFor();
    await page.getByRole("treeitem", { name: /^lost call ?, model ?, ok/ }).click();
    expect(await page.getByRole("list", { name: "Input" }).locator("p").innerText()).toBe(HOSTILE);
  });

  test("viewers see no controls that write", async () => {
    const { page } = await scene().open({ path: run.path("overview"), role: "viewer" });
    await page.getByRole("heading", { name: "Readme", level: 1 }).waitFor();
    for (const name of ["Rename run", "Add tag", "Edit notes", "Edit readme", "Stop"]) {
      expect([name, await page.getByRole("button", { name, exact: true }).count()]).toEqual([name, 0]);
    }
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Copy run ID" }).waitFor();
    expect(await page.getByRole("menuitem").allInnerTexts()).toEqual([
      "Copy run ID",
      "Download as JSON",
      "Download as CSV",
    ]);
  });
});
