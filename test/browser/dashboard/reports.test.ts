import { beforeAll, expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import { expectAccessible, describeDashboard, expectClean, settled } from "./open-dashboard.ts";
import { HOSTILE } from "./logged-run.ts";
import { PHONE, cookieOf, themes } from "../browser.ts";
import { signIn } from "../../stack/people.ts";

const PROJECT = "reported";

/** A column with a member that we do not know. */
const ACC = { metric_key: "acc", color: "red" };

/** Formulas with what must not come through, and prices. */
const MATH = String.raw`It is $\frac{1}{n} \href{javascript:alert(2)}{x} \text{<img src=x onerror=hacked=1>}$ for $5 or $6.

$$\theta_{t+1} = \theta_t$$`;

describeDashboard("reports", (scene) => {
  let projectId: string;
  let runId: string;
  beforeAll(async () => {
    const { api } = scene();
    const { run } = (await api.post("/runs", { project: PROJECT, name: "best run", config: { lr: 0.1 } })).json as {
      run: { id: string; project_id: string };
    };
    ({ id: runId, project_id: projectId } = run);
    const points = Array.from({ length: 20 }, (_, step) => ({
      step,
      metrics: { loss: 1 / (step + 1), acc: step / 20 },
    }));
    await api.post(`/runs/${runId}/metrics/batch`, { points });
  });

  async function write(title: string): Promise<string> {
    const grid = {
      kind: "panel_grid",
      runsets: [{ name: "Runs", projects: [PROJECT], pinned_run_ids: [runId] }],
      panels: [
        { type: "line", metric_key: "loss" },
        { type: "run_comparer", run_ids: [runId], fields: ["config.lr", "metrics.loss.best"] },
        { type: "scatter", x_metric: "loss", y_metric: "acc", note: "kept" },
        { type: "parallel_coordinates", dimensions: [{ config_key: "lr" }, { config_key: HOSTILE }, ACC] },
        { type: "bar", metric_key: "acc", agg: "best", note: "kept" },
        { type: "confusion_matrix", object_key: "eval" },
      ],
    };
    const blocks = [
      { kind: "heading", level: 1, text: "Results" },
      { kind: "markdown", text: `**Bold** ${HOSTILE} [bad](javascript:alert(1))\n\n${MATH}` },
      grid,
      { kind: "image", url: "https://elsewhere.test/x.png", caption: HOSTILE },
      { kind: "callout", text: "Mind the seed", variant: "warn" },
    ];
    const answer = await scene().api.post("/api/reports", { title, project_id: projectId, blocks });
    expect([answer.status, answer.text.slice(0, 200)]).toEqual([200, expect.any(String)]);
    return answer.json.report.id as string;
  }

  test("that are written while the session ends stay on the page, and are saved after the next sign-in", async () => {
    const { stack, open, api, team } = scene();
    const id = await write("Night shift");
    const { page } = await open({ path: "/signin", role: "nobody" });
    const { email } = team.owner;
    const cookie = cookieOf(stack.baseUrl, (await signIn(stack, { email })).browser.token()!);
    await page.context().addCookies([cookie]);
    await page.goto(`${stack.baseUrl}/reports/${id}?edit=1`);
    const title = page.getByLabel("Title");
    await title.fill("Night shift, first half");
    const titleOnServer = async (): Promise<string> =>
      (await api.get(`/api/reports/${id}`)).json.report.title as string;
    await until("it is saved", async () => (await titleOnServer()) === "Night shift, first half");
    const headers = { cookie: `${cookie.name}=${cookie.value}`, origin: stack.baseUrl };
    expect((await fetch(`${stack.baseUrl}/api/auth/logout`, { method: "POST", headers })).status).toBe(200);
    await title.fill("Night shift, both halves");
    const dialog = page.getByRole("dialog", { name: "Sign in again" });
    await dialog.getByLabel("E-mail address").fill(email);
    expect(await title.inputValue()).toBe("Night shift, both halves");
    expect(await titleOnServer()).toBe("Night shift, first half");
    await page.keyboard.press("Enter");
    await until("it is saved", async () => (await titleOnServer()) === "Night shift, both halves");
    await title.fill("Night shift, all of it");
    await until("it is saved", async () => (await titleOnServer()) === "Night shift, all of it");
    await page.getByText("All changes saved").waitFor();
  });

  test.each(themes)("are read, accessible and harmless, in the %s theme", async (theme) => {
    const { stack, open } = scene();
    const id = await write(`Weekly ${HOSTILE}`);
    const watched = await open({ path: `/reports/${id}`, theme });
    const { page } = watched;
    await page.getByRole("link", { name: "best run" }).waitFor();
    await page.locator("strong", { hasText: "Bold" }).waitFor();
    expect(await page.locator("math mfrac mn").textContent()).toBe("1");
    expect(await page.locator("math").evaluateAll((all) => all.map((one) => one.getAttribute("display")))).toEqual([
      null,
      "block",
    ]);
    expect(await page.locator("math :is(annotation, a, img)").count()).toBe(0);
    await page.getByText("for $5 or $6.").waitFor();
    await page.getByRole("img", { name: /^acc by loss: 1 run, loss 0\.0\d+ to 0\.\d+, acc/ }).waitFor();
    await page.getByRole("img", { name: /^acc \(best\): 1 run, acc \(best\) 0 to 0\.95\./ }).waitFor();
    await page.getByText("None of 1 run has logged eval.").waitFor();
    await page.getByRole("img", { name: /^Runs by their columns: 1 run over config\.lr, .*metrics\.acc\./ }).waitFor();
    await expectAccessible(watched);
    await page.setViewportSize(PHONE);
    await page.waitForTimeout(200);
    expect(await page.evaluate(() => "hacked" in globalThis)).toBe(false);
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0);
    await expectClean(watched, stack);
    await page.goto(`${stack.baseUrl}/p/${PROJECT}/reports`);
    await settled(watched);
    await page
      .getByRole("link", { name: /Weekly/ })
      .first()
      .waitFor();
    await expectAccessible(watched);
    await expectClean(watched, stack);
  });

  test("are written by keyboard, saved by themselves and moved", async () => {
    const { api, open } = scene();
    const id = await write("Draft");
    const watched = await open({ path: `/reports/${id}?edit=1` });
    const { page } = watched;
    await page.getByLabel("Title").fill("Final");
    await page.getByText("All changes saved").waitFor();
    const read = async () =>
      (await api.get(`/api/reports/${id}`)).json.report as {
        title: string;
        blocks: { kind: string; text?: string; caption?: string }[];
      };
    for (let tries = 0; tries < 50 && (await read()).title !== "Final"; tries += 1) await page.waitForTimeout(100);
    expect((await read()).title).toBe("Final");
    await page.getByLabel("Heading", { exact: true }).focus();
    await page.keyboard.press("Alt+ArrowDown");
    for (let tries = 0; tries < 50 && (await read()).blocks[0]!.kind !== "markdown"; tries += 1)
      await page.waitForTimeout(100);
    expect((await read()).blocks.map(({ kind }) => kind)).toEqual([
      "markdown",
      "heading",
      "panel_grid",
      "image",
      "callout",
    ]);
    // A new block has the focus, so that one writes on.
    await page.getByRole("button", { name: "Add block" }).first().click();
    await page.getByRole("menuitem", { name: "Text" }).click();
    await until("the focus", () => page.evaluate(() => document.activeElement?.tagName === "TEXTAREA"));
    await page.keyboard.type("Begun");
    await until("the text", async () => (await read()).blocks[0]!.text === "Begun");
    await page.getByLabel("Caption").last().fill("Six runs");
    await until("the caption", async () => (await read()).blocks.some(({ caption }) => caption === "Six runs"));
    await expectAccessible(watched);
  });

  test("get scatter plots and parallel coordinates, and keep the blocks that were not edited", async () => {
    const { api, open, stack } = scene();
    const id = await write("By columns");
    const panels = async (): Promise<Record<string, unknown>[]> =>
      (await api.get(`/api/reports/${id}`)).json.report.blocks[2].panels;
    const before = await panels();
    for (const theme of themes) {
      const watched = await open({ path: `/reports/${id}?edit=1`, theme });
      const { page } = watched;
      await page.getByRole("button", { name: /^Choose runs and metrics/ }).click();
      const columns = page.getByRole("group", { name: "Parallel coordinates 1" }).getByRole("textbox");
      await columns.waitFor();
      expect(await columns.inputValue()).toBe(`config.lr, config.${HOSTILE}, metrics.acc`);
      await page.getByRole("checkbox", { name: "acc", exact: true }).waitFor();
      // The button looks otherwise while the mouse is over it.
      await page.mouse.move(2, 2);
      await expectAccessible(watched);
      expect(await page.evaluate(() => "hacked" in globalThis)).toBe(false);
      await expectClean(watched, stack);
    }
    const { page } = await open({ path: `/reports/${id}?edit=1` });
    await page.getByRole("button", { name: /^Choose runs and metrics/ }).click();
    await page.getByRole("checkbox", { name: "acc", exact: true }).waitFor();
    const columns = page.getByRole("group", { name: "Parallel coordinates 1" }).getByRole("textbox");
    await columns.fill("metrics.acc");
    await columns.press("End");
    await columns.pressSequentially(", config.lr, loss");
    const first = page.getByRole("group", { name: "Scatter plot 1" });
    await first.getByLabel("Vertical metric").fill("loss");
    await page.keyboard.press("Tab");
    await page.getByRole("group", { name: "acc (best)" }).getByLabel("Value").selectOption("min");
    await page.getByRole("button", { name: "Add scatter plot" }).click();
    const second = page.getByRole("group", { name: "Scatter plot 2" });
    await second.getByLabel("Horizontal metric").fill("acc");
    await page.keyboard.press("Tab");
    await page
      .getByRole("img", { name: /^Runs by their columns: 1 run over metrics\.acc, config\.lr, metrics\.loss/ })
      .waitFor();
    const wanted = [
      before[0],
      before[1],
      { ...before[2], y_metric: "loss" },
      { ...before[3], dimensions: [ACC, { config_key: "lr" }, { metric_key: "loss" }] },
      { ...before[4], agg: "min" },
      before[5],
      { type: "scatter", x_metric: "acc", y_metric: "acc", runset_index: 0 },
    ];
    await until("the panels to be stored", async () => JSON.stringify(await panels()) !== JSON.stringify(before));
    await page.getByText("All changes saved").waitFor();
    await until("all of them to be stored", async () => (await panels()).length === wanted.length);
    expect(await panels()).toMatchObject(wanted);
    await page.getByRole("button", { name: "Remove Scatter plot 2" }).click();
    await until("it to be gone", async () => (await panels()).length === wanted.length - 1);
  });

  test("that another user changed in the meantime are not overwritten without asking", async () => {
    const { api, open } = scene();
    const id = await write("Shared");
    const { page } = await open({ path: `/reports/${id}?edit=1` });
    await page.getByLabel("Title").waitFor();
    expect((await api.patch(`/api/reports/${id}`, { title: "Theirs" })).status).toBe(200);
    await page.getByLabel("Title").fill("Mine");
    await page.getByText("Someone else changed this report in the meantime").waitFor();
    expect((await api.get(`/api/reports/${id}`)).json.report.title).toBe("Theirs");
    await page.getByRole("button", { name: "Keep mine" }).click();
    await page.getByText("All changes saved").waitFor();
    expect((await api.get(`/api/reports/${id}`)).json.report.title).toBe("Mine");
  });

  test("are shared by a link that shows the text alone, or the data of their panels, and can be revoked", async () => {
    const { stack, open } = scene();
    const id = await write("For everybody");
    const { page } = await open({ path: `/reports/${id}` });
    await page.getByRole("button", { name: "Share", exact: true }).click();
    await page.getByRole("button", { name: "Create link" }).click();
    const link = await page.getByRole("region", { name: "Link to the report" }).innerText();
    expect(link.trim()).toMatch(/\/r\/tm_share_|\/r\//);
    const stranger = await open({ path: new URL(link.trim()).pathname, role: "nobody" });
    await stranger.page.getByRole("heading", { name: "For everybody" }).waitFor();
    await stranger.page.getByText("this link shows only the text").waitFor();
    expect(await stranger.page.getByText("best run").count()).toBe(0);
    await expectAccessible(stranger);
    await expectClean(stranger, stack);
    // The author opens the data as well. Nothing else is asked for.
    await page.getByLabel("The link shows").selectOption("Text and live data");
    await page.getByRole("button", { name: "Replace link" }).click();
    const region = page.getByRole("region", { name: "Link to the report" });
    const next = await until("the next link", async () => {
      const text = (await region.innerText()).trim();
      return text !== link.trim() && new URL(text).pathname;
    });
    const asked: string[] = [];
    stranger.page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await stranger.page.goto(stack.baseUrl + next);
    await stranger.page.getByRole("img", { name: /^loss/ }).first().waitFor();
    await stranger.page.getByRole("img", { name: /^acc by loss: 1 run, loss 0\.0\d+ to 0\.\d+, acc/ }).waitFor();
    await stranger.page.getByRole("img", { name: /^Runs by their columns: 1 run over config\.lr/ }).waitFor();
    await stranger.page.getByRole("img", { name: /^acc \(best\): 1 run, acc \(best\) 0 to 0\.95\./ }).waitFor();
    await stranger.page.getByText("This chart is shown to people who sign in").waitFor();
    // What would need another read is not offered.
    await stranger.page.getByRole("button", { name: "Show loss full screen" }).click();
    const full = stranger.page.getByRole("dialog", { name: "loss" });
    await full.getByRole("button", { name: "Axes" }).click();
    expect(await stranger.page.getByRole("menuitemcheckbox").allInnerTexts()).toEqual([
      "Logarithmic y axis",
      "Logarithmic x axis",
      "Ignore outliers",
      "Patterns on lines",
      "Band: standard deviation",
      "Band: lowest to highest run",
      "No bands",
    ]);
    await stranger.page.getByRole("menuitemcheckbox", { name: "Patterns on lines" }).press("Enter");
    expect(new URL(stranger.page.url()).search).toBe("?patterns=1");
    expect(await full.getByLabel("Horizontal axis").count()).toBe(0);
    await stranger.page.keyboard.press("Escape");
    await full.waitFor({ state: "detached" });
    expect(await stranger.page.getByRole("button", { name: /^Pin / }).count()).toBe(0);
    const row = stranger.page.getByRole("row", { name: /^best run/ });
    expect(await row.getByRole("cell").allInnerTexts()).toEqual(["Running", "0.1", "0.05"]);
    expect(await row.getByRole("link").count()).toBe(0);
    expect(asked.filter((path) => path.includes("/runs") || path.includes("/metrics") || path === "/projects")).toEqual(
      [],
    );
    await expectAccessible(stranger);
    await stranger.page.setViewportSize(PHONE);
    await expectClean(stranger, stack);
    await page.getByRole("button", { name: "Revoke link" }).click();
    await page.getByText("The link no longer works").waitFor();
    await stranger.page.reload();
    await stranger.page.getByText("This link no longer works").waitFor();
  });

  test("viewers read and cannot write", async () => {
    const id = await write("Read only");
    const { page } = await scene().open({ path: `/reports/${id}?edit=1`, role: "viewer" });
    await page.getByRole("heading", { name: "Read only" }).waitFor();
    for (const name of ["Edit", "Share", "Delete"])
      expect(await page.getByRole("button", { name, exact: true }).count()).toBe(0);
  });

  test("embeds are created with a key that is used once", async () => {
    const { stack, team, open } = scene();
    const made = await stack.api.post(
      `/api/orgs/${team.orgId}/api-keys`,
      { name: "embeds", scopes: ["export:read"] },
      {
        headers: { "x-svc-bootstrap-token": stack.bootstrapToken },
      },
    );
    const watched = await open({ path: `/p/${PROJECT}/reports` });
    const { page } = watched;
    await page.getByRole("button", { name: "Embed runs" }).click();
    await page.getByLabel("best run").check();
    await page.getByLabel("Origin of the page").fill("https://wiki.example.com/page");
    await page.getByText("An origin has no path").waitFor();
    await page.getByLabel("Origin of the page").fill("https://wiki.example.com");
    await page.getByLabel("API key, to create one now").fill(made.json.api_key as string);
    await expectAccessible(watched);
    await page.getByRole("button", { name: "Create embed" }).click();
    const frame = await page.getByRole("region", { name: "Show the runs in a page" }).innerText();
    expect(frame).toMatch(/<iframe src="[^"]+\/embed\/runs\/[^"]+#token=/);
  });
});
