import { beforeAll, expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import type { Locator } from "playwright-core";
import { PHONE, themes, type WatchedPage } from "../browser.ts";
import { beginVersion, createRun, logVersion, recordUse, type LoggedVersion } from "./logged-versions.ts";
import { describeDashboard, expectAccessible, expectClean, settled, sideways } from "./open-dashboard.ts";

const PROJECT = "Arms & Ärmel";
/** More than two pages of the list. */
const COLLECTIONS = 205;

describeDashboard("the artifacts of a project", (scene) => {
  let runs: { readonly collect: string; readonly train: string; readonly score: string };
  let data: LoggedVersion;
  let models: readonly [LoggedVersion, LoggedVersion];
  const address = (query: Readonly<Record<string, string>> = {}): string =>
    `/p/${encodeURIComponent(PROJECT)}/artifacts?${new URLSearchParams(query).toString()}`;

  beforeAll(async () => {
    const { api } = scene();
    const [collect, train, score] = await Promise.all(
      ["collect", "train", "score"].map((name) => createRun(api, PROJECT, name)),
    );
    runs = { collect: collect!, train: train!, score: score! };
    data = await logVersion(api, runs.collect, {
      name: "episodes",
      type: "dataset",
      description: "Cut to ten seconds",
      metadata: { hz: 50, seed: "12345678901234567890" },
      files: { "day/one/a.txt": "the first file", "day/b.txt": "bb", "readme.md": "# Read me" },
    });
    const first = await logVersion(api, runs.collect, { name: "policy", aliases: ["best"] });
    await recordUse(api, runs.train, data);
    models = [first, await logVersion(api, runs.train, { name: "policy" })];
    await recordUse(api, runs.score, models[1]);
    await logVersion(api, runs.score, { name: "scores", type: "table" });
  });

  const panel = ({ page }: WatchedPage): Locator => page.getByRole("region", { name: "Chosen artifact" });
  const list = ({ page }: WatchedPage): Locator => page.getByRole("region", { name: "Artifacts", exact: true });
  const row = (watched: WatchedPage, name: string): Locator =>
    panel(watched).getByRole("row", { name: new RegExp(`^${name}`) });

  test("are reached from its runs, and lead to the files, the runs and the lineage of a version", async () => {
    const { open, stack } = scene();
    const watched = await open({ path: `/p/${encodeURIComponent(PROJECT)}` });
    const { page } = watched;
    await page
      .getByRole("navigation", { name: "Pages of the project" })
      .getByRole("link", { name: "Artifacts" })
      .click();
    await page.waitForURL("**/artifacts");
    await settled(watched);
    // Its styles have come with it.
    expect(await page.locator(".tm-artifacts").evaluate((element) => getComputedStyle(element).display)).toBe("grid");
    expect(await list(watched).getByRole("link").allInnerTexts()).toEqual([
      expect.stringMatching(/^scores\s+table\s+v0, 1 version, \d+ B, just now$/),
      expect.stringMatching(/^policy\s+model\s+v1, 2 versions, \d+ B, just now$/),
      expect.stringMatching(/^episodes\s+dataset\s+v0, 1 version, 25 B, just now$/),
    ]);
    await page.getByLabel("Type").selectOption("dataset");
    await until("one artifact", async () => (await list(watched).getByRole("link").count()) === 1);
    await list(watched)
      .getByRole("link", { name: /^episodes/ })
      .click();
    await panel(watched).getByText("Cut to ten seconds").waitFor();
    expect(await panel(watched).locator("dl").innerText()).toMatch(/hz\s+50\s+seed\s+12345678901234567890/);
    await row(watched, "v0").getByRole("link", { name: "v0" }).click();
    await panel(watched).getByRole("heading", { name: "Runs" }).waitFor();
    const runLists = panel(watched).getByRole("region", { name: "Runs" }).getByRole("list");
    await until("the runs", async () => (await runLists.count()) === 2);
    expect(await runLists.allInnerTexts()).toEqual([
      expect.stringMatching(/^collect/),
      expect.stringMatching(/^train/),
    ]);

    await page.getByRole("tab", { name: "Files" }).click();
    await panel(watched).getByRole("button", { name: "a.txt", exact: true }).waitFor();
    expect(await panel(watched).locator("tbody th").allInnerTexts()).toEqual([
      expect.stringMatching(/^day\s*2 files$/),
      expect.stringMatching(/^one\s*1 file$/),
      "a.txt",
      "b.txt",
      "readme.md",
    ]);
    await panel(watched).getByRole("button", { name: "day", exact: true }).click();
    expect(await panel(watched).locator("tbody th").count()).toBe(2);
    await panel(watched).getByRole("button", { name: "readme.md", exact: true }).click();
    await page.getByRole("dialog").getByText("# Read me").waitFor();
    await page.keyboard.press("Escape");

    await page.getByRole("tab", { name: "Lineage" }).click();
    await page.waitForURL(`**version=${data.id}&tab=lineage`);
    await settled(watched);
    const nodes = panel(watched).getByRole("region", { name: "Graph of the lineage" }).getByRole("link");
    await nodes.first().waitFor();
    const words = async (): Promise<string[]> =>
      (await nodes.locator(".tm-lineage-words").allTextContents()).map((text) => text.replace(PROJECT, "here"));
    // From left to right; each is said with its neighbors.
    expect(await words()).toEqual([
      "Run collect (here, running). Made episodes:v0.",
      "Version episodes:v0 (dataset, latest). Made by collect. Used by train.",
      "Run train (here, running). Used episodes:v0. Made policy:v1.",
      "Version policy:v1 (model, latest). Made by train. Used by score.",
      "Run score (here, running). Used policy:v1. Made scores:v0.",
      "Version scores:v0 (table, latest). Made by score.",
    ]);
    const lefts = await nodes.evaluateAll((links) => links.map((link) => link.getBoundingClientRect().left));
    expect(lefts).toEqual(lefts.toSorted((a, b) => a - b));
    expect(new Set(lefts).size).toBe(6);
    expect(await page.locator(".tm-lineage-line").count()).toBe(5);
    expect(await page.getByText(/the graph goes/).count()).toBe(0);
    await page.getByLabel("Distance").selectOption("2");
    await page.getByText(/the graph goes 2 steps in each direction/).waitFor();
    expect((await words()).at(-1)).toBe("Version policy:v1 (model, latest). Made by train. There are more.");
    await page.getByLabel("Distance").selectOption("4");
    await until("the whole graph again", async () => (await nodes.count()) === 6);
    // The keyboard walks along the graph, and the focus stays in it.
    await nodes.nth(3).focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(`**version=${models[1].id}**`);
    await panel(watched).getByRole("heading", { name: "policy:v1" }).waitFor();
    await until("the same graph around another version", async () =>
      (await page.locator(".tm-lineage [aria-current]").textContent())!.includes("policy:v1"),
    );
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain("policy:v1");
    await page.getByText("Show as a list").click();
    expect(await page.locator(".tm-lineage-list li").allInnerTexts()).toEqual([
      "Run collect. Made episodes:v0.",
      "Version episodes:v0. Made by collect. Used by train.",
      "Run train. Used episodes:v0. Made policy:v1.",
      "Version policy:v1 (this version). Made by train. Used by score.",
      "Run score. Used policy:v1. Made scores:v0.",
      "Version scores:v0. Made by score.",
    ]);
    await page.goBack();
    await panel(watched).getByRole("heading", { name: "episodes:v0" }).waitFor();
    await expectClean(watched, stack);
  });

  test("have aliases that owners add, move and remove", async () => {
    const { api, open, stack } = scene();
    const watched = await open({ path: address({ collection: models[0].collection_id }) });
    const { page } = watched;
    const aliases = async (name: string): Promise<string[]> =>
      await row(watched, name).locator(".tm-badge-info").allInnerTexts();
    await until("the versions", async () => (await aliases("v0")).length > 0);
    expect([await aliases("v0"), await aliases("v1")]).toEqual([["best"], ["latest"]]);
    expect(
      await row(watched, "v1")
        .getByRole("button", { name: /Remove/ })
        .count(),
    ).toBe(0);

    await row(watched, "v1").getByRole("button", { name: "Add an alias to v1" }).click();
    const dialog = page.getByRole("dialog");
    const field = dialog.getByLabel("Alias", { exact: true });
    for (const [text, why] of [
      ["latest", "so it cannot be set"],
      ["v7", "is the name of a version"],
      ["Best one", "only the characters"],
    ] as const) {
      await field.fill(text);
      await dialog.getByText(why).waitFor();
      expect(await dialog.getByRole("button", { name: "Add alias" }).isDisabled()).toBe(true);
    }
    await field.fill("best");
    await dialog.getByText("It points at v0 and moves to v1.").waitFor();
    await dialog.getByLabel("Reason (optional)").fill("better at night");
    await dialog.getByRole("button", { name: "Move alias" }).click();
    await until("the alias at v1", async () => (await aliases("v1")).includes("best"));
    expect(await aliases("v0")).toEqual([]);
    const resolved = await api.get(
      `/api/artifact-versions/resolve?ref=policy:best&project=${encodeURIComponent(PROJECT)}`,
    );
    expect(resolved.json.artifact_version.id).toBe(models[1].id);
    await page.getByRole("button", { name: "Undo" }).click();
    await until("the alias at v0 again", async () => (await aliases("v0")).includes("best"));

    await row(watched, "v0").getByRole("button", { name: "Remove the alias best of v0" }).click();
    await until("no alias", async () => (await aliases("v0")).length === 0);
    await page.getByRole("button", { name: "Undo" }).last().click();
    await until("the alias again", async () => (await aliases("v0")).includes("best"));
    await expectClean(watched, stack);

    const viewer = await open({ path: address({ version: models[0].id }), role: "viewer" });
    await panel(viewer).getByText("best", { exact: true }).waitFor();
    expect(await viewer.page.getByRole("button", { name: /alias/ }).count()).toBe(0);
  });

  test("that are many are listed to the end, here and on the page of a run", async () => {
    const { api, open, stack } = scene();
    const run = await createRun(api, "many", "maker");
    const names = Array.from({ length: COLLECTIONS }, (_, i) => `probe-${i}`);
    for (let i = 0; i < names.length; i += 16)
      await Promise.all(names.slice(i, i + 16).map((name) => beginVersion(api, run, { name })));
    const watched = await open({ path: "/p/many/artifacts" });
    const { page } = watched;
    for (const shown of ["100 of 205 artifacts", "200 of 205 artifacts"]) {
      await page.getByText(shown).waitFor();
      await page.getByRole("button", { name: "Show more" }).click();
    }
    const items = list(watched).getByRole("link");
    await until("all", async () => (await items.count()) === COLLECTIONS);
    expect(new Set(await page.locator(".tm-artifacts-name").allInnerTexts())).toEqual(new Set(names));
    expect(await page.getByRole("button", { name: "Show more" }).count()).toBe(0);
    await page.getByLabel("Search artifacts").fill("PROBE-20");
    await until("the matches", async () => (await items.count()) === 6);
    await page.waitForURL("**q=PROBE-20");

    await page.goto(`${stack.baseUrl}/p/many/r/${run}/files`);
    for (const shown of ["100 of 205 artifacts", "200 of 205 artifacts"]) {
      await page.getByText(shown).waitFor();
      await page.getByRole("button", { name: "Show more" }).click();
    }
    await until(
      "all on the page of the run",
      async () => (await page.locator(".tm-collections > li").count()) === COLLECTIONS,
    );
    await page.getByRole("link", { name: "Open probe-0 among the artifacts of the project" }).click();
    await panel(watched).getByRole("heading", { name: "probe-0" }).waitFor();
    await panel(watched).getByText("No version is available").waitFor();
    await expectClean(watched, stack);
  });

  test.each(themes)("are accessible and fit a phone, in the %s theme", async (theme) => {
    const { open, stack } = scene();
    const watched = await open({ path: address(), theme });
    const { page } = watched;
    const tabs = ["overview", "files", "lineage"].map((tab) => ({ version: data.id, tab }));
    const queries: readonly Readonly<Record<string, string>>[] = [{}, { collection: data.collection_id }, ...tabs];
    for (const query of queries) {
      await page.goto(`${stack.baseUrl}${address(query)}`);
      await settled(watched);
      await expectAccessible(watched);
      await page.setViewportSize(PHONE);
      await until(`${JSON.stringify(query)} to fit a phone`, async () => (await sideways(watched)) === 0);
      await page.setViewportSize({ width: 1440, height: 900 });
    }
    await page.goto(`${stack.baseUrl}${address({ version: "unknown" })}`);
    await page.getByRole("heading", { name: "Version not found" }).waitFor();
  });
});
