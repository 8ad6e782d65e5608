import { expect, test } from "@jest/globals";
import { queryDatabase } from "../../stack/attach.ts";
import { createTeam } from "../../stack/people.ts";
import { expectAccessible, describeDashboard, expectClean, settled } from "./open-dashboard.ts";
import { PHONE, themes } from "../browser.ts";

const HOSTILE = '<img src=x onerror="alert(1)">\u202e"\'&amp;';

describeDashboard("the list of projects", (scene) => {
  test("shows projects, their runs and what is running, with any names", async () => {
    const { api, open, stack } = scene();
    expect((await api.post("/runs", { project: HOSTILE, name: HOSTILE })).status).toBe(200);
    const done = (await api.post("/runs", { project: "vision", name: "done" })).json.run.id as string;
    await api.patch(`/runs/${done}`, { status: "finished" });
    const silent = (await api.post("/runs", { project: "vision", name: "silent" })).json.run.id as string;
    await queryDatabase(stack, "UPDATE runs.runs SET created_at = created_at - interval '1 day' WHERE id = $1", [
      silent,
    ]);
    for (const theme of themes) {
      const watched = await open({ theme });
      const { page } = watched;
      await page.getByRole("link", { name: HOSTILE }).first().waitFor();
      await page.getByText("1 active").waitFor();
      await page.getByRole("region", { name: "Running now" }).waitFor();
      const vision = page
        .getByRole("listitem")
        .filter({ has: page.getByRole("link", { name: "vision", exact: true }) });
      await vision.getByText("2 runs").waitFor();
      await page.waitForLoadState("networkidle");
      expect(await vision.getByText("active").count()).toBe(0);
      await expectAccessible(watched);
      await page.setViewportSize(PHONE);
      await expectAccessible(watched);
      await expectClean(watched, stack);
    }
  });

  test("is searched, and the address has it", async () => {
    const { api, open } = scene();
    await api.post("/projects", { name: "alpha" });
    await api.post("/projects", { name: "beta" });
    const { page } = await open();
    await page.getByRole("link", { name: "alpha" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("alph");
    await page.getByRole("link", { name: "beta" }).waitFor({ state: "detached" });
    expect(new URL(page.url()).search).toBe("?q=alph");
    await page.reload();
    await page.getByRole("link", { name: "alpha" }).waitFor();
    expect(await page.getByRole("link", { name: "beta" }).count()).toBe(0);
  });

  test("makes a project by keyboard", async () => {
    const { open, api } = scene();
    const watched = await open();
    const { page } = watched;
    await page.getByRole("button", { name: "New project" }).press("Enter");
    await page.getByLabel("Name").waitFor();
    await expectAccessible(watched);
    await page.keyboard.type("made/by keyboard?");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/p\/made%2Fby%20keyboard%3F$/);
    const names = (await api.get("/projects?limit=1000")).json.projects.map(({ name }: { name: string }) => name);
    expect(names).toContain("made/by keyboard?");
  });

  test.each([".", ".."])("a project named %s has an address that leads to it", async (name) => {
    const { open, api, stack } = scene();
    await api.post("/projects", { name });
    const watched = await open();
    const { page } = watched;
    await page.getByRole("link", { name, exact: true }).press("Enter");
    await page.waitForURL(`${stack.baseUrl}/p/~${name}`);
    await page.reload();
    await settled(watched);
    expect(await page.title()).toBe(`${name} · Tidemark`);
  });

  test("a viewer can look and make nothing", async () => {
    const { open } = scene();
    const { page } = await open({ role: "viewer" });
    await page.getByRole("heading", { name: "Projects", exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "New project" }).count()).toBe(0);
  });

  test("of an empty organization shows a request that works when pasted", async () => {
    const { open, stack } = scene();
    const team = await createTeam(stack);
    const watched = await open({ path: "/signin", role: "nobody" });
    const { page } = watched;
    const value = team.owner.browser.token()!;
    await page.context().addCookies([{ name: "tidemark_session", value, url: stack.baseUrl }]);
    await page.goto(stack.baseUrl);
    await settled(watched);
    const shell = await page.getByRole("region", { name: "Log a first run from a shell" }).textContent();
    expect(shell).toContain(`curl -s -X POST ${stack.baseUrl}/runs`);
    await expectAccessible(watched);
    await page.setViewportSize(PHONE);
    await expectClean(watched, stack);
  });
});
