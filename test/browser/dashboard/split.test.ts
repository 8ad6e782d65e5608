import { expect, test } from "@jest/globals";
import { requireServers, until } from "@tidemark/testkit";
import { describeWith } from "../../stack/describe-with.ts";
import { describeDashboard, expectClean } from "./open-dashboard.ts";

// Where its servers are not available, split mode is left out, and the end of the test run says so.
const servers = await requireServers(["nats-server", "minio"]);

describeWith(servers)("over separate processes", () => {
  describeDashboard(
    "the dashboard",
    (scene) => {
      test("does the main job by keyboard alone, live", async () => {
        const { api, open, stack } = scene();
        const { key, api: own } = await stack.organization();
        const watched = await open({ path: "/signin", role: "nobody" });
        const { page } = watched;
        const keys = async (...names: string[]): Promise<void> => {
          for (const name of names) await page.keyboard.press(name);
        };
        const made = await own.post("/runs", { project: "main", name: "trained" });
        const { id } = made.json.run as { id: string };
        await own.post(`/runs/${id}/metrics`, { step: 1, metrics: { loss: 0.5 } });
        await own.post("/runs", { project: "main", name: "newer" });

        // Sign in: the field has the focus, or gets it by Tab.
        await page.getByLabel("API key").waitFor();
        for (let i = 0; i < 12; i += 1) {
          const isThere = await page.evaluate(() => document.activeElement?.matches("input[type=password]") === true);
          if (isThere) break;
          await keys("Tab");
        }
        await page.keyboard.type(key);
        await keys("Enter");
        await page.waitForURL(`${stack.baseUrl}/`);

        // Find the project, the run in its table, and open it.
        await keys("Control+k");
        await page.getByRole("option", { name: "main" }).first().waitFor();
        await page.keyboard.type("main");
        await keys("Enter");
        await page.waitForURL(/\/p\/main/);
        await page.getByRole("link", { name: "trained" }).waitFor();
        await keys("/");
        await page.keyboard.type("name:trained");
        await page.getByText("1 run, 1 shown").waitFor();
        await page.getByRole("link", { name: "newer" }).waitFor({ state: "detached" });
        // The first Escape closes the suggestions, which a busy machine may show late.
        await until("the field is left", async () => {
          await keys("Escape");
          return page.evaluate(() => document.activeElement?.matches("input, textarea") !== true);
        });
        await keys("j", "Enter");
        await page.waitForURL(new RegExp(`/p/main/r/${id}`));

        // Its charts follow what the training logs, and its logs too.
        const chart = page.getByRole("article", { name: "loss" });
        await chart.waitFor();
        await own.post(`/runs/${id}/metrics`, { step: 7, metrics: { loss: 0.25, fresh: 1 } });
        await page.getByRole("article", { name: "fresh" }).waitFor();
        await page.getByRole("tab", { name: "Charts" }).focus();
        await keys("ArrowRight", "ArrowRight");
        await page.getByRole("tab", { name: "Logs", selected: true }).waitFor();
        const told = { stream: "stdout", lines: [{ line_number: 1, message: "the tide is in" }] };
        expect((await own.post(`/api/runs/${id}/logs`, told)).status).toBe(200);
        await page.getByText("the tide is in").waitFor();

        // Stop it.
        expect((await own.get(`/runs/${id}`)).json.run.run_control.stop_requested).toBe(false);
        const stop = page.getByRole("button", { name: /^Stop/ }).first();
        await stop.focus();
        await keys("Enter");
        const dialog = page.getByRole("dialog");
        await dialog.waitFor();
        await dialog.getByRole("button", { name: /^Stop/ }).focus();
        await keys("Enter");
        await page
          .getByText(/asked|Stop requested|stopping/i)
          .first()
          .waitFor();
        expect((await own.get(`/runs/${id}`)).json.run.run_control.stop_requested).toBe(true);
        expect((await api.get(`/runs/${id}`)).status).toBe(404);
        await expectClean(watched, stack);
      });
    },
    "split",
  );
});
