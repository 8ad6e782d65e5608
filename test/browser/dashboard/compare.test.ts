import { readFile } from "node:fs/promises";
import { beforeAll, expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import { expectAccessible, describeDashboard, expectClean, sideways } from "./open-dashboard.ts";
import { HOSTILE } from "./logged-run.ts";
import { PHONE, themes } from "../browser.ts";

const RUNS = 50;

describeDashboard("the comparison of runs", (scene) => {
  const ids: string[] = [];

  beforeAll(async () => {
    const { api } = scene();
    for (let i = 0; i < RUNS; i += 1) {
      const config = { lr: 0.1, optimizer: { name: "adam", beta: i === 7 ? 0.8 : 0.9 }, depth: 3 };
      const { id } = (await api.post("/runs", { project: "compared", name: `run ${i}`, config })).json.run;
      ids.push(id);
      const points = [
        { step: 0, metrics: { "train/loss": 9, reward: 0 } },
        { step: 1, metrics: { "train/loss": 1 + i, reward: 1 + i } },
      ];
      await api.post(`/runs/${id}/metrics/batch`, { points });
    }
  });

  const labels = (texts: readonly string[]): string[] => texts.map((text) => text.trim());

  test("shows the differences of 50 runs first, and alone", async () => {
    const { open, stack } = scene();
    const watched = await open({ path: `/p/compared/compare?sel=${ids.join(",")}` });
    const { page } = watched;
    const keys = page.getByRole("grid", { name: "Comparison" }).getByRole("rowheader");
    await keys.first().waitFor();
    const shown = labels(await keys.allTextContents());
    expect(shown[0]).toBe("Config optimizer.beta");
    expect(shown.filter((label) => label.startsWith("Config"))).toHaveLength(1);
    expect(shown).toContain("Metrics train/loss");
    await page.getByLabel("Only differences").uncheck();
    await until("the page shows it", async () =>
      labels(await keys.allTextContents()).includes("Config optimizer.name"),
    );
    expect(labels(await keys.allTextContents())[0]).toBe("Config optimizer.beta");
    await page.getByLabel("Search keys").first().fill("re:/^optimizer/");
    await until("the page shows it", async () => (await keys.count()) === 2);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download CSV" }).click(),
    ]);
    const lines = (await readFile(await download.path(), "utf8")).trimEnd().split("\r\n");
    expect(lines).toHaveLength(3);
    expect(lines[1]!.split(",")).toEqual(["Config", "optimizer.beta", ...ids.map((_, i) => (i === 7 ? "0.8" : "0.9"))]);
    await expectClean(watched, stack);
  });

  test("tells two seeds apart that differ in the last digit, as do groups and the search for one of them", async () => {
    const { api, open } = scene();
    const seeds = ["9007199254740992", "9007199254740993"];
    const sel: string[] = [];
    for (const seed of seeds) {
      const rawBody = `{"project":"seeds","name":"seed ${seed}","config":{"seed":${seed}}}`;
      sel.push((await api.call("POST", "/runs", { rawBody })).json.run.id);
    }
    const { page } = await open({ path: `/p/seeds/compare?sel=${sel.join(",")}` });
    const row = page.locator(".tm-grid-row", { hasText: "Config seed" });
    await row.waitFor();
    expect(await row.locator(".tm-grid-text").allTextContents()).toEqual(["Config seed", ...seeds]);
    await page.goto(new URL("/p/seeds?cols=config.seed&group=config.seed", page.url()).href);
    await page.getByRole("button", { name: "Only these" }).last().click();
    await page.waitForURL(/q=config\.seed%3D900719925474099\d/);
    await until("one run is left", async () => (await page.locator(".tm-group-name").count()) === 1);
    const kept = await page.locator(".tm-group-name").textContent();
    expect(`seed = ${new URL(page.url()).searchParams.get("q")!.slice("config.seed=".length)}`).toBe(kept!.trim());
  });

  test("gives differences the sign of the number and the color of the metric's direction", async () => {
    const { open } = scene();
    const { page } = await open({ path: `/p/compared/compare?sel=${ids.slice(0, 3).join(",")}&base=${ids[1]}` });
    const cell = (label: string, column: number) =>
      page.locator(".tm-grid-row", { hasText: label }).locator(`[data-column="${column}"] .tm-compare-delta`);
    await cell("train/loss", 1).waitFor();
    const told = async (label: string, column: number): Promise<string> =>
      (await cell(label, column).textContent())!.trim();
    await until("the page shows it", async () => (await told("train/loss", 1)).includes("better"));
    expect(await told("train/loss", 1)).toBe("−1 (better than the baseline)");
    expect(await told("train/loss", 3)).toBe("+1 (worse than the baseline)");
    expect(await told("reward", 1)).toBe("−1 (worse than the baseline)");
    expect(await told("reward", 3)).toBe("+1 (better than the baseline)");
    expect(await cell("train/loss", 2).count()).toBe(0);
    await page.getByRole("button", { name: "Higher reward is better. Press to reverse." }).first().click();
    await until("the page shows it", async () => (await told("reward", 3)).includes("worse"));
    const rowsOf = (label: string) => page.locator(".tm-grid-row", { hasText: label });
    await page.getByRole("combobox", { name: "Metrics" }).selectOption("min");
    await until("the lowest reward of all runs is the same", async () => (await rowsOf("reward").count()) === 0);
    await until(
      "the lowest loss is there",
      async () => (await told("train/loss", 3)) === "+1 (worse than the baseline)",
    );
    await page.getByRole("combobox", { name: "Metrics" }).selectOption("best");
    await until("the best reward is there", async () => (await told("reward", 1)) === "−1 (better than the baseline)");
  });

  test("shows what runs logged up to one step side by side, and says which step each has", async () => {
    const { api, open, stack } = scene();
    const logged = async (name: string, steps: readonly number[]): Promise<string> => {
      const { id } = (await api.post("/runs", { project: "objects", name })).json.run as { id: string };
      for (const step of steps) {
        const histogram = { key: HOSTILE, kind: "histogram", step, value: { bins: [0, 1, 2], counts: [step, 4] } };
        expect((await api.post(`/api/runs/${id}/objects`, histogram)).status).toBe(200);
        const table = { key: "predictions", kind: "table", step, rows: [{ answer: `${HOSTILE} at ${step}` }] };
        expect((await api.post(`/api/runs/${id}/objects`, table)).status).toBe(200);
      }
      return id;
    };
    const sel = [await logged("steady", [10, 20]), await logged(HOSTILE, [15]), await logged("silent", [])].join(",");
    for (const theme of themes) {
      const watched = await open({ path: `/p/objects/compare?sel=${sel}`, theme });
      const { page } = watched;
      await page.getByRole("tab", { name: "Objects" }).click();
      const row = page.getByRole("region", { name: "predictions of each run" });
      const told = async (): Promise<string[]> =>
        (await row.locator("figcaption, figure > p").allInnerTexts()).map((text) =>
          text.replaceAll(/\s+/g, " ").trim(),
        );
      const saying = (...texts: string[]) =>
        until(`the runs to say ${texts.join(", ")}`, async () => (await told()).join("|") === texts.join("|"));
      await saying("steady table step 20", `${HOSTILE} table step 15, nothing at 20`, "silent", "Nothing logged.");
      await page.getByRole("grid", { name: "Rows of predictions of steady" }).getByText("at 20").waitFor();
      await page.getByLabel("Step", { exact: true }).press("ArrowLeft");
      await page.waitForURL(/tab=objects&step=15/);
      await saying("steady table step 10, nothing at 15", `${HOSTILE} table step 15`, "silent", "Nothing logged.");
      await page.locator("body").press(",");
      await saying("steady table step 10", HOSTILE, "Nothing logged up to step 10.", "silent", "Nothing logged.");
      await page.getByRole("grid", { name: "Rows of predictions of steady" }).getByText("at 10").waitFor();
      const { pathname, search } = new URL(page.url());
      expect(new URLSearchParams(search).get("step")).toBe("10");
      await expectAccessible(watched);
      expect(await page.evaluate(() => "hacked" in globalThis)).toBe(false);
      await expectClean(watched, stack);
      const phone = await open({ path: `${pathname}${search}`, theme, viewport: PHONE });
      await phone.page.getByText("Nothing logged up to step 10.").first().waitFor();
      expect(await sideways(phone)).toBe(0);
    }
  });

  test("has no fault that axe finds and fits a phone", async () => {
    const { open } = scene();
    const path = `/p/compared/compare?sel=${ids.slice(0, 3).join(",")}`;
    for (const theme of themes) {
      const watched = await open({ path, theme });
      await watched.page.waitForSelector(".tm-compare-delta");
      await expectAccessible(watched);
    }
    const phone = await open({ path, viewport: PHONE });
    await phone.page.waitForSelector(".tm-compare-delta");
    expect(await sideways(phone)).toBe(0);
  });
});
