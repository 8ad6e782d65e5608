import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { freePort } from "@tidemark/local";
import { requireChromium } from "@tidemark/testkit";
import type { Browser, Page } from "playwright-core";
import { createApi } from "../../stack/client.ts";
import { describeWith } from "../../stack/describe-with.ts";
import { startPathProxy, type PathProxy } from "../../stack/path-proxy.ts";
import { createTeam, sessionCookie, type Team } from "../../stack/people.ts";
import { withDashboard } from "../../stack/settings.ts";
import { startStack, type OwnStack } from "../../stack/stack.ts";
import { openPage, startChromium } from "../browser.ts";
import { settled } from "./open-dashboard.ts";

const TEXT = "See [its project](/p/below), and ![a picture](/openapi.json).";

const executable = await requireChromium("the dashboard below a path");

describeWith(executable)("a server below a path, behind a proxy", () => {
  let stack: OwnStack;
  let proxy: PathProxy;
  let browser: Browser;
  let team: Team;
  beforeAll(async () => {
    const port = await freePort();
    const settings = { ...(await withDashboard()), TIDEMARK_PUBLIC_URL: `http://127.0.0.1:${port}/tidemark/` };
    [stack, browser] = await Promise.all([startStack("embedded", { settings }), startChromium(executable!)]);
    proxy = await startPathProxy(stack.baseUrl, "/tidemark", port);
    team = await createTeam(stack);
  });
  afterAll(async () => {
    await browser?.close();
    await proxy?.close();
    await stack?.stop();
  });

  /** Addresses in a page that would leave the path. */
  const strays = (page: Page): Promise<string[]> =>
    page.$$eval("[href], [src]", (all) =>
      all
        .map((one) => one.getAttribute("href") ?? one.getAttribute("src") ?? "")
        .filter((address) => address.startsWith("/") && !address.startsWith("/tidemark/")),
    );

  test("signs in, shows a project and a run while they change, and signs out", async () => {
    const context = await browser.newContext({ reducedMotion: "reduce" });
    const watched = await openPage(context);
    const { page } = watched;
    await page.goto(`${proxy.baseUrl}/settings/imports?x=1`);
    await page.waitForURL(`${proxy.baseUrl}/signin?next=%2Fsettings%2Fimports%3Fx%3D1`);
    await page.getByLabel("E-mail address").fill(team.owner.email);
    await page.keyboard.press("Enter");
    await page.waitForURL(`${proxy.baseUrl}/settings/imports?x=1`);
    expect(await context.cookies(`${proxy.baseUrl}/`)).toMatchObject([{ name: sessionCookie, path: "/tidemark" }]);
    const { browser: owner } = team.owner;
    const { id } = (await owner.post("/runs", { project: "below", name: "first" })).json.run as { id: string };
    await page.goto(`${proxy.baseUrl}/p/below`);
    const row = page.getByRole("link", { name: "first" });
    await row.waitFor();
    await owner.post("/runs", { project: "below", name: "second" });
    await page.getByRole("link", { name: "second" }).waitFor();
    await settled(watched);
    expect(await strays(page)).toEqual([]);
    await row.click();
    await page.waitForURL(`${proxy.baseUrl}/p/below/r/${id}`);
    await owner.post(`/runs/${id}/metrics`, { metrics: { loss: 0.5 }, step: 1 });
    await page.locator("main canvas").first().waitFor();
    await settled(watched);
    expect(await strays(page)).toEqual([]);
    await page.goBack();
    await page.waitForURL(`${proxy.baseUrl}/p/below`);
    await settled(watched);
    // Reads that are under way when one signs out are refused.
    expect(watched.faults).toEqual([]);
    await page.getByRole("button", { name: /^Account in/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.waitForURL(`${proxy.baseUrl}/signin`);
    expect(await context.cookies(`${proxy.baseUrl}/`)).toEqual([]);
    expect(watched.requests.map((one) => one.url()).filter((url) => !url.startsWith(`${proxy.baseUrl}/`))).toEqual([]);
    await context.close();
  });

  test("makes links of reports, invitations, devices and embedded views that work for others", async () => {
    const { browser: owner, orgId } = team.owner;
    const made = await owner.post("/api/reports", {
      title: "Below a path",
      blocks: [{ kind: "markdown", text: TEXT }],
    });
    const shared = await owner.post(`/api/reports/${made.json.report.id}/share`);
    const context = await browser.newContext();
    const watched = await openPage(context);
    await watched.page.goto(`${proxy.baseUrl}/r/${shared.json.report.share_token}`);
    await watched.page.getByRole("heading", { name: "Below a path" }).waitFor();
    await watched.page.getByRole("link", { name: "its project" }).waitFor();
    expect(await strays(watched.page)).toEqual([]);
    expect(watched.faults).toEqual([]);
    await context.close();
    const wish = { email: "below@example.test", role: "viewer" };
    const invited = await owner.post(`/api/orgs/${orgId}/invitations`, wish);
    expect(invited.json.preview_link).toMatch(`${proxy.baseUrl}/invite#token=`);
    const key = await owner.post(`/api/orgs/${orgId}/api-keys`, { name: "sdk", scopes: ["sdk:ingest", "export:read"] });
    const api = createApi(proxy.baseUrl, key.json.api_key as string);
    const device = await api.post("/api/auth/device-code/start", {});
    expect(device.json.verification_uri).toBe(`${proxy.baseUrl}/auth/device`);
    // As the SDK does with this base URL.
    const { id } = (await api.post("/runs", { project: "below", name: "by key" })).json.run as { id: string };
    const portal = { run_ids: [id], allowed_parent_origin: "http://localhost:9999" };
    const embed = await api.post("/api/embed/sessions", portal);
    const address = String(embed.json.embed_session.iframe_src);
    expect(address).toMatch(`${proxy.baseUrl}/embed/runs/`);
    const frame = await browser.newPage();
    const data = frame.waitForResponse(`${proxy.baseUrl}/api/embed/sessions/**`);
    await frame.goto(address);
    expect((await data).status()).toBe(200);
    await frame.close();
  });
});
