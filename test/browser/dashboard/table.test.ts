import { beforeAll, expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import type { Page } from "playwright-core";
import { queryDatabase } from "../../stack/attach.ts";
import { expectAccessible, describeDashboard } from "./open-dashboard.ts";

const STOPPED = 100;
const names = (page: Page): Promise<string[]> => page.locator(".tm-grid-row .tm-run-link").allTextContents();

const boxesOf = (page: Page) => page.getByRole("checkbox", { name: /^Select (?:one|two|three)$/ });

/** Which of the three rows are selected, as digits. */
async function checked(page: Page): Promise<string> {
  const all = await Promise.all([0, 1, 2].map((row) => boxesOf(page).nth(row).isChecked()));
  return all.map(Number).join("");
}

async function act(page: Page, action: string): Promise<void> {
  await page.getByRole("button", { name: "Actions" }).click();
  await page.getByRole("menuitem", { name: action }).click();
}

describeDashboard("the table of a project", (scene) => {
  const made = async (project: string, name: string): Promise<string> =>
    (await scene().api.post("/runs", { project, name })).json.run.id as string;

  beforeAll(async () => {
    for (const name of ["one", "two", "three"]) await made("few", name);
  });

  test("marks where a search is faulty, and shows its runs again when it is mended", async () => {
    const { api, open } = scene();
    const watched = await open({ path: "/p/few?q=name%3Aone%20status%3Abad" });
    const { page } = watched;
    const mark = page.locator(".tm-query-fault pre");
    await mark.waitFor();
    const { position } = (await api.get("/api/runs/summary?q=name%3Aone%20status%3Abad")).json;
    expect(position).toBeGreaterThan(1);
    expect((await mark.textContent())?.split("\n")[1]).toBe(`${" ".repeat(position - 1)}^`);
    await page.getByRole("heading", { name: "Invalid search" }).waitFor();
    await expectAccessible(watched);
    await page.getByRole("combobox", { name: "Search runs" }).fill("name:one");
    await until("the runs are there", async () => (await names(page)).join() === "one");
    expect(await mark.count()).toBe(0);
    await page.getByRole("combobox", { name: "Search runs" }).fill("naem:one");
    await page.getByText("“naem:one” is searched as text.").waitFor();
    await page.getByRole("heading", { name: "No runs match" }).waitFor();
    await expectAccessible(watched);
    await page.getByRole("button", { name: "Search for name:one" }).click();
    await until("the runs are there", async () => (await names(page)).join() === "one");
    expect(await page.getByText("is searched as text").count()).toBe(0);
  });

  test("moves selected runs to a new project, and back, and copies them", async () => {
    const { api, open } = scene();
    const ids = [await made("origin", "m1"), await made("origin", "m2")];
    const projectOf = async (id: string) => (await api.get(`/runs/${id}`)).json.run.project as string;
    const watched = await open({ path: `/p/origin?sel=${ids.join()}` });
    const { page } = watched;
    await act(page, "Move to project…");
    await page.getByLabel("Project", { exact: true }).fill("goal");
    await page.getByText("This project does not exist yet. It will be created.").waitFor();
    await expectAccessible(watched);
    await page.keyboard.press("Enter");
    await page.getByText("Moved 2 runs to goal.").waitFor();
    expect(await Promise.all(ids.map(projectOf))).toEqual(["goal", "goal"]);
    await page.getByRole("button", { name: "Undo" }).click();
    await until("they are back", async () => (await Promise.all(ids.map(projectOf))).join() === "origin,origin");
    await page.goto(new URL(`/p/origin?sel=${ids.join()}`, page.url()).href);
    await act(page, "Copy to project…");
    await page.getByLabel("Project", { exact: true }).fill("goal");
    await page.getByRole("button", { name: "Copy 2 runs" }).click();
    await page.getByText("Copied 2 runs to goal.").waitFor();
    const copies = (await api.get("/runs?project=goal")).json.runs as { name: string }[];
    expect(copies.map(({ name }) => name).toSorted()).toEqual(["m1", "m2"]);
  });

  test("is resized by keys and by the pointer, and keeps that in the address", async () => {
    const { open } = scene();
    const { page } = await open({ path: "/p/few" });
    const head = page.getByRole("columnheader", { name: "Status" });
    const width = async (): Promise<number> => (await head.boundingBox())!.width;
    const before = await width();
    await head.focus();
    await page.keyboard.press("Alt+ArrowRight");
    await until("it is wider", async () => (await width()) > before);
    const grip = (await head.locator(".tm-grid-grip").boundingBox())!;
    const [x, y] = [grip.x + grip.width / 2, grip.y + grip.height / 2];
    const begun = await width();
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 60, y, { steps: 3 });
    await page.mouse.up();
    await until("it follows the pointer", async () => Math.abs((await width()) - begun - 60) <= 1);
    const after = await width();
    await page.reload();
    await head.waitFor();
    expect(await width()).toBe(after);
  });

  test("selects a range by a click with Shift, and the box of each row shows it", async () => {
    const { page } = await scene().open({ path: "/p/few" });
    const boxes = boxesOf(page);
    await boxes.nth(2).waitFor();
    await boxes.nth(0).click();
    await boxes.nth(2).click({ modifiers: ["Shift"] });
    await page.getByText("3 selected").waitFor();
    await until("all boxes are checked", async () => (await checked(page)) === "111");
    await boxes.nth(1).click({ modifiers: ["Shift"] });
    await page.getByText("3 selected").waitFor();
    expect(await checked(page)).toBe("111");
    await boxes.nth(1).click();
    await page.getByText("2 selected").waitFor();
    expect(await checked(page)).toBe("101");
    await act(page, "Hide from charts");
    await page.getByText("3 runs, 1 shown").waitFor();
    await act(page, "Change color…");
    await page.getByRole("dialog", { name: "Lines of 2 runs" }).getByLabel("Another color").fill("#123456");
    await page.getByRole("button", { name: "Done" }).click();
    const strokes = page.locator(".tm-legend line");
    const isChosen = async (row: number): Promise<boolean> =>
      (await strokes.nth(row).evaluate((line) => getComputedStyle(line).stroke)) === "rgb(18, 52, 86)";
    await until("both have the color", async () => (await isChosen(0)) && (await isChosen(2)));
    expect(await isChosen(1)).toBe(false);
  });

  test("has a menu for the run of a row, or for all that are selected with it", async () => {
    const watched = await scene().open({ path: "/p/few" });
    const { page } = watched;
    const row = (name: string) => page.getByRole("rowheader", { name });
    await row("one").click({ button: "right" });
    await page.getByRole("menu", { name: "Actions on one" }).waitFor();
    await expectAccessible(watched);
    await page.keyboard.press("Escape");
    expect(await page.getByRole("menu").count()).toBe(0);
    await page.keyboard.press("p");
    await until("it is pinned, and only on top", async () => (await names(page)).join() === "one,three,two");
    await row("two").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Show only this" }).click();
    await page.getByText("3 runs, 1 shown").waitFor();
    await boxesOf(page).nth(1).click();
    await boxesOf(page).nth(2).click();
    await row("two").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Add tag… (2 runs)" }).click();
    await page.getByText("Tag", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await row("one").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Stop…" }).click();
    await page.getByText("This changes 1 run of 1 run.").waitFor();
  });

  test("shows that all runs are selected, and keeps the others when one is taken out", async () => {
    const { page } = await scene().open({ path: "/p/few" });
    const boxes = boxesOf(page);
    await boxes.nth(0).click();
    await page.getByRole("button", { name: "Select all 3" }).click();
    await page.getByText("3 selected").waitFor();
    await until("all boxes are checked", async () => (await checked(page)) === "111");
    await boxes.nth(1).click();
    await page.getByText("2 selected").waitFor();
    await until("the others stay", async () => (await checked(page)) === "101");
    await page.getByRole("button", { name: "Clear" }).click();
    await until("none is checked", async () => (await checked(page)) === "000");
  });

  test("is saved as a view, which opens for others once it is shared", async () => {
    const { open } = scene();
    const { page } = await open({ path: "/p/few?q=name%3Atwo&cols=status" });
    await page.getByRole("button", { name: "Views" }).click();
    await page.getByRole("menuitem", { name: "Save as a view…" }).click();
    await page.getByLabel("Name", { exact: true }).fill("the second");
    await page.getByRole("checkbox", { name: "Share with the organization" }).check({ force: true });
    await page.getByRole("button", { name: "Save view" }).click();
    await page.getByText("Saved the view.").waitFor();
    const other = await open({ path: "/p/few", role: "viewer" });
    await until("all runs are there", async () => (await names(other.page)).length === 3);
    await other.page.getByRole("button", { name: "Views" }).click();
    await other.page.getByRole("menuitemcheckbox", { name: /the second/ }).click();
    await until("the view is open", async () => (await names(other.page)).join() === "two");
    expect(await other.page.getByRole("columnheader", { name: "Created" }).count()).toBe(0);
  });

  test("deletes and restores runs", async () => {
    const { api, open } = scene();
    const ids = [await made("going", "first"), await made("going", "second")];
    await made("going", "stays");
    const { page } = await open({ path: `/p/going?sel=${ids.join()}` });
    await page.waitForSelector(".tm-grid-selected");
    await act(page, "Delete…");
    await page.getByRole("dialog").getByRole("button", { name: "Delete runs" }).click();
    await page.getByText("Deleted 2 runs.").waitFor();
    await until("they are gone", async () => (await names(page)).join() === "stays");
    expect((await api.get(`/runs/${ids[0]}`)).status).toBe(404);
    await page.getByRole("button", { name: "Undo" }).click();
    await until("they are back", async () => (await names(page)).length === 3);
    expect((await api.get(`/runs/${ids[0]}`)).status).toBe(200);
  });

  test("stops a hundred runs in one request", async () => {
    const { api, open } = scene();
    for (let i = 0; i < STOPPED; i += 1) await made("hundred", `run-${i}`);
    const { page } = await open({ path: "/p/hundred" });
    await page.waitForSelector(".tm-grid-row .tm-run-link");
    await page.locator(".tm-grid-row .tm-check").first().click();
    await page.getByRole("button", { name: "Select all 100" }).click();
    await act(page, "Stop…");
    await page.getByText("This changes 100 runs of 100 runs.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Stop runs" }).click();
    await page.getByText("Asked to stop 100 runs.").waitFor();
    const { json } = await api.get("/api/runs/summary?project=hundred&display_status=stopping&limit=1");
    expect(json.total).toBe(STOPPED);
  });

  test("ends runs that died", async () => {
    const { api, open, stack } = scene();
    const id = await made("dead", "silent");
    await queryDatabase(
      stack,
      "UPDATE runs.runs SET created_at = created_at - interval '1 day', started_at = started_at - interval '1 day' WHERE id = $1",
      [id],
    );
    expect((await api.get(`/runs/${id}`)).json.run.stale).toBe(true);
    const { page } = await open({ path: `/p/dead?sel=${id}` });
    await page.waitForSelector(".tm-grid-selected");
    await act(page, "Mark dead runs as failed…");
    await page.getByText("This changes 1 run of 1 run.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Mark as failed" }).click();
    await page.getByText("Ended 1 run.").waitFor();
    expect((await api.get(`/runs/${id}`)).json.run.status).toBe("failed");
  });
});
