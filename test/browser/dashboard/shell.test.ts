import { expect, test } from "@jest/globals";
import { expectAccessible, describeDashboard, expectClean, settled } from "./open-dashboard.ts";
import { PHONE } from "../browser.ts";

describeDashboard("the window of the dashboard", (scene) => {
  test.each(["light", "dark"] as const)("is accessible and clean in the %s theme, also on a phone", async (theme) => {
    const { stack, open } = scene();
    const watched = await open({ theme });
    await expectAccessible(watched);
    expect(await watched.page.getAttribute("html", "data-theme")).toBe(theme);
    await watched.page.setViewportSize(PHONE);
    await expectAccessible(watched);
    await expectClean(watched, stack);
  });

  test("is used by keyboard alone: palette, help, theme, and back to where the focus was", async () => {
    const { api, open, stack } = scene();
    await api.post("/projects", { name: "keyboard <b>only</b>" });
    const watched = await open();
    const { page } = watched;
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: "keyboard <b>only</b>" }).waitFor();
    await expectAccessible(watched);
    await page.keyboard.type("keyboard");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/p\/keyboard/);
    await settled(watched);
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await help.waitFor();
    expect(await help.textContent()).toContain("Go to anything");
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: "Choose columns…" }).waitFor();
    await page.getByRole("option", { name: "keyboard <b>only</b>" }).waitFor();
    await page.keyboard.type("theme dark");
    await page.getByRole("option", { name: "keyboard <b>only</b>" }).waitFor({ state: "detached" });
    await page.keyboard.press("Enter");
    await page.waitForSelector('html[data-theme="dark"]');
    await page.reload();
    expect(await page.getAttribute("html", "data-theme")).toBe("dark");
    await expectClean(watched, stack);
  });

  test("says so where an address leads nowhere", async () => {
    const { open } = scene();
    const watched = await open({ path: "/settings/nothing" });
    await watched.page.getByRole("heading", { name: "Page not found" }).waitFor();
    await expectAccessible(watched);
  });

  test("is shown in no frame of another page", async () => {
    const { open, stack } = scene();
    const { page } = await open();
    const outer = await page.context().newPage();
    await outer.setContent(`<iframe src="${stack.baseUrl}/"></iframe>`);
    expect(outer.frames().map((frame) => frame.url())).toEqual(["about:blank", "chrome-error://chromewebdata/"]);
  });

  test("takes no markup of a text", async () => {
    const { open } = scene();
    const { page } = await open();
    const outcome = await page.evaluate(() => {
      try {
        document.body.innerHTML = "<b>x</b>";
        return "set";
      } catch (error) {
        return (error as Error).name;
      }
    });
    expect(outcome).toBe("TypeError");
  });
});
