import { beforeAll, expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import type { Page } from "playwright-core";
import { PHONE } from "../browser.ts";
import { HOSTILE } from "./logged-run.ts";
import { describeDashboard, expectAccessible, expectClean, settled, sideways } from "./open-dashboard.ts";

const NEWEST = Date.parse("2026-01-05T10:00:00Z");
/** Traces of the first run: more than one page of a list. */
const TRACES = 130;

/** A 1 by 1 PNG. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describeDashboard("the traces and media of a project", (scene) => {
  const runs: string[] = [];
  const path = (page: string): string => `/p/observed/${page}`;

  /** Writes traces of one span: the i-th started i minutes before `newest` and took i + 1 seconds. */
  const trace = async (run: string, count: number, newest: number, name: (i: number) => string): Promise<void> => {
    const { api } = scene();
    const events = Array.from({ length: count }, (_, i) => ({
      trace_id: `${run.slice(0, 8)}${(i + 1).toString(16).padStart(24, "0")}`,
      span_id: (i + 1).toString(16).padStart(16, "0"),
      event_id: `${run.slice(0, 8)}-0000-4000-8000-${i.toString().padStart(12, "0")}`,
      sequence: 0,
      event_kind: "finished",
      name: name(i),
      kind: i === 2 ? "tool" : "model",
      status: i === 1 ? "error" : "ok",
      started_at: new Date(newest - i * 60_000).toISOString(),
      ended_at: new Date(newest - i * 60_000 + (i + 1) * 1000).toISOString(),
      metrics: { "gen_ai.usage.input_tokens": 1000 - i, ...(i === 5 ? { cost_usd: 0.25 } : {}) },
    }));
    const headers = { "idempotency-key": `traces-${run}` };
    const { status } = await api.post(`/api/runs/${run}/traces/events`, { events }, { headers });
    expect(status).toBe(200);
  };

  const post = async (route: string, body: object): Promise<Record<"run" | "artifact", { id: string }>> => {
    const { status, json } = await scene().api.post(route, body);
    expect([route, status]).toEqual([route, 200]);
    return json;
  };

  beforeAll(async () => {
    for (const [name, steps] of [
      ["steady", [0, 10, 20]],
      [HOSTILE, [15]],
    ] as const) {
      const { id } = (await post("/runs", { project: "observed", name })).run;
      runs.push(id);
      for (const step of steps) {
        const histogram = { key: "grads", kind: "histogram", step, value: { bins: [0, 1, 2], counts: [step, 4] } };
        await post(`/api/runs/${id}/objects`, histogram);
      }
      const { artifact } = await post(`/api/runs/${id}/artifacts/upload`, { name: "a.png", content_base64: PNG });
      for (let i = 0; i < 12; i += 1) {
        const image = { key: `samples/${HOSTILE} ${i}`, kind: "image", step: 10, artifact_id: artifact.id };
        await post(`/api/runs/${id}/objects`, image);
      }
    }
    await trace(runs[0]!, TRACES, NEWEST, (i) => (i === 0 ? HOSTILE : `episode ${i}`));
    await trace(runs[1]!, 1, NEWEST - 1e9, () => "alone");
  });

  const rowTexts = async (page: Page): Promise<string[]> =>
    (await page.getByRole("grid", { name: "Traces" }).locator(".tm-grid-row").allInnerTexts()).map((text) =>
      text.replaceAll(/\s+/g, " ").trim(),
    );

  test("traces are sorted, filtered, read to their end, and opened next to their list", async () => {
    const { open, stack } = scene();
    const watched = await open({ path: path("traces"), role: "viewer" });
    const { page } = watched;
    const grid = page.getByRole("grid", { name: "Traces" });
    const first = async (text: string) =>
      until(`the first trace to be ${text}`, async () => (await rowTexts(page))[0]?.startsWith(text) === true);
    await first(HOSTILE);
    expect((await rowTexts(page))[0]).toMatch(/ steady ok .* 1 s 1 0 1,000, 0 – –$/);
    await page.getByRole("columnheader", { name: "Duration" }).click();
    await page.waitForURL(/sort=duration/);
    await first(`episode ${TRACES - 1} steady ok`);
    await page.getByRole("columnheader", { name: "Cost" }).click();
    await first("episode 5 steady");
    expect((await rowTexts(page))[0]).toContain("$0.25");
    await page.getByRole("columnheader", { name: "Started" }).click();
    await first(HOSTILE);
    // The end of the list is behind its first page.
    await page.locator("body").press("j");
    await page.keyboard.press("Control+End");
    await until("the last trace", async () => (await grid.getAttribute("aria-rowcount")) === String(TRACES + 2));
    await page.keyboard.press("Control+End");
    await grid.getByText("alone").waitFor();
    await page.getByLabel("Status").selectOption("error");
    await until("one failed", async () => (await rowTexts(page)).length === 1);
    await first("episode 1 steady error");
    await page.getByLabel("Status").selectOption("");
    await page.getByLabel("Kind of span").selectOption("tool");
    await first("episode 2 steady ok");
    await page.getByLabel("Kind of span").selectOption("");
    await page.getByLabel("Search runs").fill("name:steady OR nothing");
    await page.getByLabel("Search traces").fill("episode");
    await first("episode 1 steady");
    await grid.getByRole("link", { name: "episode 1", exact: true }).click();
    const aside = page.getByRole("complementary", { name: "Trace", exact: true });
    await aside.getByRole("heading", { name: "episode 1", level: 2 }).waitFor();
    await aside.getByRole("treeitem", { name: /^episode 1 ?, model ?, error, 2 s/ }).waitFor();
    // The root is shown without a press.
    await aside.getByRole("complementary", { name: "Span episode 1" }).waitFor();
    await page.locator("body").press("j");
    await aside.getByRole("heading", { name: "episode 2", level: 2 }).waitFor();
    expect(new URL(page.url()).searchParams.get("run")).toBe(runs[0]);
    // A copied address opens the same, from where keys go on.
    await page.reload();
    await aside.getByRole("heading", { name: "episode 2", level: 2 }).waitFor();
    await first("episode 1 steady");
    await page.locator("body").press("j");
    await aside.getByRole("heading", { name: "episode 3", level: 2 }).waitFor();
    await settled(watched);
    await expectAccessible(watched);
    await page.setViewportSize(PHONE);
    await until("it to fit a phone", async () => (await sideways(watched)) === 0);
    expect(await grid.isVisible()).toBe(false);
    await page.locator("body").press("Escape");
    await grid.waitFor();
    expect(new URL(page.url()).search).toBe("?q=name%3Asteady+OR+nothing&find=episode");
    expect(await page.evaluate(() => "hacked" in globalThis)).toBe(false);
    await expectClean(watched, stack);
  });

  test("media of runs are side by side at one step, and only what is in sight is read", async () => {
    const { open, stack } = scene();
    const watched = await open({ path: path("media"), role: "viewer", theme: "dark" });
    const { page } = watched;
    const grads = page.getByRole("region", { name: "grads of each run" });
    const told = async (): Promise<string[]> =>
      (await grads.locator("figcaption, figure > p:not(.tm-histogram-axis)").allInnerTexts()).map((text) =>
        text.replaceAll(/\s+/g, " ").trim(),
      );
    const saying = (...texts: string[]) =>
      until(`the runs to say ${texts.join(", ")}`, async () => (await told()).join("|") === texts.join("|"));
    await saying(`${HOSTILE} histogram step 15, nothing at 20`, "steady histogram step 20");
    const asked = (): string[] =>
      watched.requests
        .filter((request) => request.url().endsWith("/api/objects/at-step"))
        .flatMap((request) => (request.postDataJSON() as { keys: string[] }).keys);
    const last = `samples/${HOSTILE} 9`;
    expect(asked()).toContain("grads");
    expect(asked()).not.toContain(last);
    const slider = page.getByLabel("Step", { exact: true });
    await slider.press("ArrowLeft");
    await slider.press("ArrowLeft");
    await page.waitForURL(/step=10/);
    await saying(HOSTILE, "Nothing logged up to step 10.", "steady histogram step 10");
    await settled(watched);
    await expectAccessible(watched);
    await page.locator(".tm-media").evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await page
      .getByRole("region", { name: `${last} of each run` })
      .locator("img")
      .first()
      .waitFor();
    expect(asked()).toContain(last);
    expect(await slider.isVisible()).toBe(true);
    // The eye of a run and the search decide whose media are shown, as on the page of the runs.
    await page.getByLabel("Kind").selectOption("histogram");
    await page.getByText("1 key of 2 runs").waitFor();
    await page.getByRole("combobox", { name: "Search runs" }).fill("steady");
    await saying("steady histogram step 10");
    await page.getByRole("navigation", { name: "Pages of the project" }).getByRole("link", { name: "Runs" }).click();
    await page.waitForURL(/\/p\/observed\?.*q=steady/);
    await page.goBack();
    await saying("steady histogram step 10");
    await page.getByRole("button", { name: "All keys" }).click();
    await page.getByRole("dialog", { name: "Keys" }).getByLabel(`samples/${HOSTILE} 0`).check();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByText("0 keys of 1 run").waitFor();
    expect(new URL(page.url()).searchParams.get("media")).toBe(`samples/${HOSTILE} 0`);
    await page.setViewportSize(PHONE);
    await until("it to fit a phone", async () => (await sideways(watched)) === 0);
    await expectClean(watched, stack);
  });

  test("projects without traces and media say how to log them", async () => {
    const { api, open } = scene();
    await api.post("/runs", { project: "unobserved", name: "silent" });
    const { page } = await open({ path: "/p/unobserved/traces" });
    await page.getByRole("region", { name: "Trace a rollout" }).waitFor();
    await page.getByRole("navigation", { name: "Pages of the project" }).getByRole("link", { name: "Media" }).click();
    await page.getByRole("region", { name: "Log an image and a histogram" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/p/unobserved/media");
  });
});
