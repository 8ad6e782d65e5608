import { expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import { expectAccessible, describeDashboard, expectClean, settled } from "./open-dashboard.ts";
import { PHONE, themes } from "../browser.ts";

describeDashboard("the settings", (scene) => {
  test.each(["keys", "members", "usage", "audit", "trash", "imports", "sessions"])(
    "%s is accessible and clean",
    async (section) => {
      const { open, stack } = scene();
      for (const theme of themes) {
        const watched = await open({ path: `/settings/${section}`, theme });
        await watched.page.waitForSelector(".tm-settings-content :is(table, .tm-empty)");
        await expectAccessible(watched);
        await watched.page.setViewportSize(PHONE);
        await expectClean(watched, stack);
      }
    },
  );

  test("make a key that works, show it once, and revoke it", async () => {
    const { open, stack } = scene();
    const watched = await open({ path: "/settings/keys" });
    const { page } = watched;
    await page.getByRole("button", { name: "New API key" }).press("Enter");
    await page.getByLabel("Name").fill("<b>mine</b>");
    await expectAccessible(watched);
    await page.getByRole("button", { name: "Create key" }).press("Enter");
    const key = (await page.locator(".tm-secret code").textContent()) ?? "";
    expect((await stack.api.as(key).get("/projects")).status).toBe(200);
    await page.getByRole("button", { name: "Copy the key" }).press("Enter");
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key);
    await page.getByRole("button", { name: "Done" }).press("Enter");
    // While it is open, nothing behind it takes the focus, and a key press goes astray.
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Revoke <b>mine</b>" }).press("Enter");
    await page.getByRole("button", { name: "Revoke key" }).press("Enter");
    await page.getByText("Revoked <b>mine</b>.").waitFor();
    expect((await stack.api.as(key).get("/projects")).status).toBe(401);
    expect(await page.content()).not.toContain(key);
  });

  test("invite a member, give another role, and remove", async () => {
    const { open, team } = scene();
    const person = await team.join("member");
    const { page } = await open({ path: "/settings/members" });
    await page.getByLabel(`Role of ${person.email}`).selectOption("viewer");
    await page.getByText(`${person.email} is now viewer.`).waitFor();
    await page.getByLabel("E-mail address").fill("new@example.test");
    await page.getByRole("button", { name: "Invite", exact: true }).press("Enter");
    await page.getByText("Send this link to new@example.test").waitFor();
    await page.getByRole("button", { name: `Remove ${person.email}` }).press("Enter");
    await page.getByRole("button", { name: "Remove member" }).press("Enter");
    await page.getByText(`Removed ${person.email}.`).waitFor();
    const { seats } = (await team.owner.browser.get(`/api/orgs/${team.orgId}/seats`)).json;
    expect(JSON.stringify(seats)).not.toContain(person.email);
  });

  test("end a session of another user, and the own one", async () => {
    const { open, team } = scene();
    const person = await team.join("member");
    const { page } = await open({ path: "/settings/sessions", role: "admin" });
    const rows = page.getByRole("row");
    await page.getByText("This one").waitFor();
    expect(await page.getByText(person.email).count()).toBe(0);
    await page.getByLabel("Everyone in this organization").check();
    await page.getByRole("button", { name: `End the session of ${person.email}` }).press("Enter");
    await page.getByRole("button", { name: "End session" }).press("Enter");
    await page.getByText("The session has ended.").waitFor();
    expect((await person.browser.get("/projects")).status).toBe(401);
    await rows
      .filter({ hasText: "This one" })
      .getByRole("button", { name: /^End the session/ })
      .press("Enter");
    await page.getByRole("button", { name: "End session" }).press("Enter");
    await page.getByRole("button", { name: "Sign in" }).first().waitFor();
  });

  test("list what was deleted, and restore some runs and a project", async () => {
    const { open, api, team } = scene();
    const idOf = async (name: string): Promise<string> => {
      const { id } = (await api.post("/runs", { project: "thrown away", name })).json.run as { id: string };
      await api.call("DELETE", `/runs/${id}`);
      return id;
    };
    const ids = [await idOf("first"), await idOf("second"), await idOf("third")];
    const gone = (await api.post("/projects", { name: "gone" })).json.project as { id: string };
    await team.owner.browser.call("DELETE", `/projects/${gone.id}`);
    const watched = await open({ path: "/settings/trash" });
    const { page } = watched;
    await page.getByLabel("Select first").check();
    await page.getByLabel("Select second").check();
    await expectAccessible(watched);
    await page.getByRole("button", { name: "Restore selected" }).press("Enter");
    await page.getByText("Restored 2 runs.").waitFor();
    const statuses = await Promise.all(ids.map(async (id) => (await api.get(`/runs/${id}`)).status));
    expect(statuses).toEqual([200, 200, 404]);
    expect(await page.getByRole("row", { name: /third/ }).count()).toBe(1);
    await page.getByRole("tab", { name: "Projects" }).press("Enter");
    await page.getByRole("button", { name: "Restore gone" }).press("Enter");
    await page.getByText("Restored gone.").waitFor();
    expect((await api.get("/projects")).text).toContain('"gone"');
  });

  test("import a document of another tracker after a look at it", async () => {
    const { open, api } = scene();
    const { page } = await open({ path: "/settings/imports" });
    await page.getByRole("button", { name: "Import a file" }).press("Enter");
    await page.getByLabel("From").selectOption("wandb");
    const runs = [{ id: "r1", name: "imported", state: "finished", history: [{ _step: 0, loss: 1 }] }];
    await page.getByLabel("File", { exact: true }).setInputFiles({
      name: "runs.json",
      mimeType: "application/json",
      buffer: Buffer.from(JSON.stringify({ project: "brought", runs })),
    });
    await page.getByRole("button", { name: "Check file" }).press("Enter");
    await page.getByText("The file holds 1 run").waitFor();
    await page.getByRole("button", { name: "Import file" }).press("Enter");
    await page.getByRole("link", { name: "brought" }).waitFor();
    expect((await api.get("/runs?project=brought")).json.runs).toHaveLength(1);
  });

  test("send an archive, say how far that is, cancel it, and say what is wrong with it", async () => {
    const { open, api, stack } = scene();
    const { id } = (await api.post("/runs", { project: "archived", name: "<i>kept</i>" })).json.run as { id: string };
    await api.patch(`/runs/${id}`, { status: "finished" });
    const exported = (await api.get(`/api/export?format=ndjson&run_ids=${id}`)).text;
    const lines = exported.trimEnd().split("\n");
    const [first, ...rest] = lines.map((line) => line.replaceAll('"archived"', '"restored"'));
    // Lines of an unknown type are left out.
    const filling = Array.from({ length: 20_000 }, () => JSON.stringify({ type: "future", text: "x".repeat(500) }));
    const archive = (name: string, content: readonly string[]) => ({
      name,
      mimeType: "application/x-ndjson",
      buffer: Buffer.from(`${content.join("\n")}\n`),
    });
    for (const theme of themes) {
      const watched = await open({ path: "/settings/imports", theme });
      const { page } = watched;
      const network = await page.context().newCDPSession(page);
      const upload = async (bytesPerSecond: number): Promise<void> => {
        const limits = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: bytesPerSecond };
        await network.send("Network.emulateNetworkConditions", limits);
      };
      await network.send("Network.enable");
      await upload(500_000);
      await page.getByRole("button", { name: "Import a file" }).press("Enter");
      const file = page.getByLabel("File", { exact: true });
      await file.setInputFiles(archive("large.ndjson", [first!, ...filling, ...rest]));
      await page.getByRole("button", { name: "Import file" }).press("Enter");
      await page.getByText(/^[1-9][\d.]* [KM]B of 10\.\d MB sent \(\d+%\)\.$/).waitFor();
      const bar = page.getByRole("progressbar", { name: "Progress of the upload" });
      await until("the bar to move", async () => Number(await bar.getAttribute("value")) > 0);
      await expectAccessible(watched);
      await page.getByRole("button", { name: "Cancel upload" }).press("Enter");
      await page.getByText(/^Canceled after .* of 10\.\d MB\. Nothing was imported\.$/).waitFor();
      expect(await bar.count()).toBe(0);
      await expectClean(watched, stack);
      await upload(-1);
      await file.setInputFiles(archive("broken.ndjson", [first!, '{"type":"run","name":"<b>"}', ...rest]));
      await page.getByRole("button", { name: "Import file" }).press("Enter");
      await page
        .getByRole("alert")
        .getByText(/line 2/i)
        .waitFor();
      expect((await api.get("/runs?project=restored")).json.runs ?? []).toHaveLength(0);
    }
    const { page } = await open({ path: "/settings/imports" });
    await page.getByRole("button", { name: "Import a file" }).press("Enter");
    await page.getByLabel("File", { exact: true }).setInputFiles(archive("whole.ndjson", [first!, ...rest]));
    await page.getByRole("button", { name: "Import file" }).press("Enter");
    await page.getByText(/^Imported: .*1 run/).waitFor();
    expect((await api.get("/runs?project=restored")).json.runs).toMatchObject([{ name: "<i>kept</i>" }]);
  });

  test("show a viewer nothing that only others may see or do", async () => {
    const { open } = scene();
    const watched = await open({ path: "/settings", role: "viewer" });
    const { page } = watched;
    await page.getByRole("heading", { name: "Imports", level: 1 }).waitFor();
    expect(await page.getByRole("navigation", { name: "Settings" }).getByRole("link").allTextContents()).toEqual([
      "Imports",
      "Sessions",
    ]);
    expect(await page.getByRole("button", { name: "Import a file" }).count()).toBe(0);
    await page.goto(`${new URL(page.url()).origin}/settings/keys`);
    await settled(watched);
    await page.getByText("Only owners and admins").waitFor();
    const { page: ofKey } = await open({ path: "/settings", scopes: ["export:read", "sdk:ingest"] });
    await ofKey.getByText("This API key cannot open: API keys, Members, Audit log, Trash, Sessions.").waitFor();
  });
});
