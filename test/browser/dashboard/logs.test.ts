import { beforeAll, expect, test } from "@jest/globals";
import type { Api } from "../../stack/client.ts";
import { HOSTILE } from "./logged-run.ts";
import { describeDashboard, expectAccessible, expectClean } from "./open-dashboard.ts";

const PROJECT = "logs";

/** Logs lines with the numbers from `from` on. */
async function log(
  api: Api,
  runId: string,
  from: number,
  messages: readonly string[],
  stream = "stdout",
): Promise<void> {
  for (let at = 0; at < messages.length; at += 50) {
    const lines = messages.slice(at, at + 50).map((message, i) => ({ line_number: from + at + i, message }));
    const answer = await api.post(`/api/runs/${runId}/logs`, { stream, lines });
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining("inserted")]);
  }
}

const numbered = (from: number, count: number): string[] => Array.from({ length: count }, (_, i) => `line ${from + i}`);

describeDashboard("the log of a run", (scene) => {
  let id: string;
  const path = (query = ""): string => `/p/${PROJECT}/r/${id}/logs${query}`;
  beforeAll(async () => {
    const { api } = scene();
    ({ id } = (await api.post("/runs", { project: PROJECT, name: "long" })).json.run as { id: string });
    // A million numbers; only the beginning, a middle and the end have lines.
    await log(api, id, 1, numbered(1, 600));
    await log(api, id, 700_001, numbered(700_001, 400));
    await log(api, id, 999_001, numbered(999_001, 1_000));
  });

  test("is followed at its end, and not while one reads elsewhere", async () => {
    const { api, stack, open } = scene();
    const watched = await open({ path: path() });
    const { page } = watched;
    const log1 = page.getByRole("region", { name: /Console of long/ });
    await log1.getByText("line 1000000", { exact: true }).waitFor();
    expect(await page.locator(".tm-log-row").count()).toBeLessThan(90);
    await log(api, id, 1_000_001, ["the newest line"]);
    await log1.getByText("the newest line").waitFor();
    await page.getByLabel("Go to line").fill("700123");
    await page.keyboard.press("Enter");
    const there = page.locator('.tm-log-row[data-line="700123"]');
    await there.getByText("line 700123").waitFor();
    expect(await there.isVisible()).toBe(true);
    await log(api, id, 1_000_002, ["even newer"]);
    await page.waitForTimeout(2_500);
    expect(await there.isVisible()).toBe(true);
    await page.getByRole("button", { name: "Jump to end" }).click();
    await log1.getByText("even newer").waitFor();
    expect(await page.locator(".tm-log-row").count()).toBeLessThan(90);
    await expectClean(watched, stack);
  });

  test("is searched, and what is found is shown among its neighbors", async () => {
    const { page } = await scene().open({ path: path() });
    await page.getByLabel("Search the log").fill("LINE 7003");
    const found = page.getByRole("region", { name: "Lines found" });
    await found.getByText("100 lines found").waitFor();
    await found.getByRole("button").filter({ hasText: "700300" }).click();
    await page.waitForURL(/line=700300/);
    const next = page.locator('.tm-log-row[data-line="700301"]');
    await next.getByText("line 700301").waitFor();
    expect(await next.isVisible()).toBe(true);
  });

  test("shows colors and the last state of progress bars, and runs nothing", async () => {
    const { api, stack, open } = scene();
    const { id: other } = (await api.post("/runs", { project: PROJECT, name: "bars" })).json.run as { id: string };
    const bar = (percent: number): string =>
      `\r${String(percent).padStart(3)}%|${"#".repeat(percent / 10)}| ${percent}/100`;
    await log(api, other, 1, [
      "\u001b[31mred\u001b[0m plain",
      `${HOSTILE}\u001b]8;;javascript:alert(1)\u001b\\link\u001b]8;;\u001b\\`,
      "  0%| | 0/100",
      ...Array.from({ length: 101 }, (_, percent) => bar(percent)),
      "a\rb\rlast state",
      "end",
    ]);
    const watched = await open({ path: `/p/${PROJECT}/r/${other}/logs` });
    const { page } = watched;
    await page.locator(".tm-log-row").getByText("end", { exact: true }).waitFor();
    const texts = await page.locator(".tm-log-text").allInnerTexts();
    expect(texts).toEqual(["red plain", `${HOSTILE}link`, "100%|##########| 100/100", "last state", "end"]);
    expect(await page.locator(".tm-log-text .tm-ansi-1").innerText()).toBe("red");
    expect(await page.evaluate(() => "hacked" in globalThis)).toBe(false);
    await expectClean(watched, stack);
  });

  test("of a failed run is merged by time, its end is on the overview, and a search tells what the other stream has", async () => {
    const { api, open, stack } = scene();
    const metadata = { exit_code: 137 };
    const { id: failed } = (await api.post("/runs", { project: PROJECT, name: "failed", metadata })).json.run;
    const at = (second: number): string => `2026-11-20T10:00:0${second}Z`;
    for (const [stream, times] of [
      ["stdout", [1, 3]],
      ["stderr", [2, 4]],
    ] as const) {
      const lines = times.map((second, i) => ({
        line_number: i + 1,
        message: `${stream} at ${second}`,
        timestamp: at(second),
      }));
      expect((await api.post(`/api/runs/${failed}/logs`, { stream, lines })).status).toBe(200);
    }
    await api.patch(`/runs/${failed}`, { status: "failed" });
    const watched = await open({ path: `/p/${PROJECT}/r/${failed}/overview` });
    const { page } = watched;
    await page.getByRole("heading", { name: "Failed with exit code 137" }).waitFor();
    expect(await page.getByRole("region", { name: "End of standard error" }).innerText()).toBe(
      "stderr at 2\nstderr at 4",
    );
    await expectAccessible(watched);
    await page.getByRole("link", { name: "Show in Logs" }).click();
    await page.waitForURL(/logs\?stream=stderr&line=1$/);
    await page.getByLabel("Search the log").fill("at 3");
    await page.getByText("1 line of stdout matches too.").waitFor();
    await page.getByRole("combobox", { name: "Stream" }).selectOption("All output by time");
    await page.getByRole("region", { name: "Lines found" }).getByRole("button", { name: /at 3/ }).click();
    const marked = page.locator(".tm-log-here");
    await marked.waitFor();
    expect(await marked.locator(".tm-log-text").innerText()).toBe("stdout at 3");
    const texts = await page.locator(".tm-log-row .tm-log-text").allInnerTexts();
    expect(texts).toEqual(["stdout at 1", "stderr at 2", "stdout at 3", "stderr at 4"]);
    await expectClean(watched, stack);
  });

  test("has what the SDK captured of a console", async () => {
    const { api, open } = scene();
    const { id: other } = (await api.post("/runs", { project: PROJECT, name: "captured" })).json.run as { id: string };
    const attributes = ["first", "second"].map((value) => ({ path: "console/stdout", type: "string_series", value }));
    expect((await api.post(`/api/runs/${other}/attributes`, { attributes })).status).toBe(200);
    const { page } = await open({ path: `/p/${PROJECT}/r/${other}/logs` });
    await page.locator(".tm-log-row").getByText("second").waitFor();
    expect(await page.locator(".tm-log-text").allInnerTexts()).toEqual(["first", "second"]);
  });
});
