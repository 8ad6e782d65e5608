import { expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import { queryDatabase } from "../stack/attach.ts";
import { describeEmbeds, newEmbed, newRun } from "./embeds.ts";

const HOSTILE = [`<img src=x onerror="document.title='owned'">`, `</script><script>document.title="owned"</script>`];

describeEmbeds("embedded views", (scene) => {
  test("show the names of the runs and a chart of each key, in the theme of the session", async () => {
    const { stack, portal, watched, show } = scene();
    const { api } = await stack.organization();
    const runs = [
      await newRun(api, "first", { loss: [3, 2, 1], "eval/acc": [0.1, 0.5, 0.9] }),
      await newRun(api, "second", { loss: [4] }),
    ];
    const frame = await show((await newEmbed(api, runs, portal.origin, { theme: "dark" })).address);
    await frame.locator("svg[role=img]").nth(1).waitFor();
    expect(await frame.locator(".run .name").allInnerTexts()).toEqual(["first", "second"]);
    expect(await frame.locator(".run .status").allInnerTexts()).toEqual(["running", "running"]);
    expect((await frame.locator("h2").allInnerTexts()).toSorted()).toEqual(["eval/acc by step", "loss by step"]);
    const labels = await frame.locator("svg[role=img]").evaluateAll((all) => all.map((one) => String(one.ariaLabel)));
    expect(labels.toSorted()).toEqual([
      "eval/acc: 1 run, steps 0 to 2, values 0.1 to 0.9",
      "loss: 2 runs, steps 0 to 2, values 1 to 4",
    ]);
    const colors = await frame.evaluate(() => {
      const styleOf = (selector: string) => getComputedStyle(document.querySelector(selector)!);
      return [styleOf(":root").backgroundColor, styleOf(".plot .c0").stroke, styleOf(".plot .c1").stroke];
    });
    expect(colors).toEqual(["rgb(20, 23, 28)", "rgb(105, 148, 253)", "rgb(250, 170, 73)"]);
    expect(watched.faults).toEqual([]);
  });

  test("let a run stand out, and show the point under the pointer", async () => {
    const { stack, portal, watched, show } = scene();
    const { api } = await stack.organization();
    const runs = [await newRun(api, "first", { loss: [3, 2, 1] }), await newRun(api, "second", { loss: [4, 4, 4] })];
    const frame = await show((await newEmbed(api, runs, portal.origin)).address);
    await frame.getByRole("button", { name: "second" }).click();
    expect(await frame.locator(".is-pointed.c1").count()).toBeGreaterThan(0);
    expect(await frame.locator(".is-pointed.c0").count()).toBe(0);
    const dashes = () =>
      frame
        .locator(".sample, path.line:not(.dots)")
        .evaluateAll((all) => all.map((one) => one.getAttribute("stroke-dasharray")));
    const solid = await dashes();
    await frame.getByRole("button", { name: "Patterns on lines", pressed: false }).click();
    await frame.getByRole("button", { name: "Patterns on lines", pressed: true }).waitFor();
    const patterned = await dashes();
    expect([new Set(solid).size, patterned.filter((dash) => dash === "8 3").length]).toEqual([expect.any(Number), 2]);
    expect(solid).not.toContain("8 3");
    const plot = frame.locator(".plot svg");
    const { width, height } = (await plot.boundingBox())!;
    await plot.hover({ position: { x: width - 2, y: height - 20 } });
    expect(await frame.locator(".reading").innerText()).toBe("1 at step 2 · first");
    expect(watched.faults).toEqual([]);
  });

  test("fit a narrow frame, also with a hundred runs", async () => {
    const { stack, portal, watched, show } = scene();
    const { api } = await stack.organization();
    const names = Array.from({ length: 100 }, (_, i) => `run ${i} ${"with a long name ".repeat(4)}`);
    const runs = await Promise.all(names.map((name, i) => newRun(api, name, { loss: [i, i + 1], acc: [1, i] })));
    const { address } = await newEmbed(api, runs, portal.origin);
    await watched.page.setViewportSize({ width: 320, height: 640 });
    const frame = await show(address);
    await frame.locator("svg[role=img]").nth(1).waitFor();
    expect(await frame.locator(".run").count()).toBe(100);
    expect(await frame.locator("path.line:not(.dots)").count()).toBe(200);
    expect(await frame.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
    expect(watched.faults).toEqual([]);
  });

  test("say so when there is nothing to show", async () => {
    const { stack, portal, show } = scene();
    const { api } = await stack.organization();
    const frame = await show((await newEmbed(api, [await newRun(api, "empty")], portal.origin)).address);
    await frame.getByText("No data").waitFor();
    expect(await frame.locator(".name").allInnerTexts()).toEqual(["empty"]);
  });

  test("show texts of clients as texts", async () => {
    const { stack, portal, watched, show } = scene();
    const { api } = await stack.organization();
    const runs = await Promise.all(HOSTILE.map((name) => newRun(api, name, { [`${name}<b>`]: [1, 2] })));
    const frame = await show((await newEmbed(api, runs, portal.origin)).address);
    await frame.locator("svg[role=img]").nth(1).waitFor();
    expect(await frame.locator(".name").allInnerTexts()).toEqual(HOSTILE);
    const keys = await frame.locator("h2").allInnerTexts();
    expect(keys.toSorted()).toEqual(HOSTILE.map((name) => `${name}<b> by step`).toSorted());
    await frame.locator(".plot").first().hover();
    expect(await frame.locator("img, b, iframe").count()).toBe(0);
    expect(await frame.locator("script").count()).toBe(1);
    expect([await frame.title(), watched.faults]).toEqual(["Runs", []]);
  });

  test("look for new data by themselves, and notice when their session is over", async () => {
    const { stack, portal, watched, show } = scene();
    const { api } = await stack.organization();
    const run = await newRun(api, "going on", { loss: [1] });
    await watched.page.clock.install();
    const frame = await show((await newEmbed(api, [run], portal.origin)).address);
    await frame.locator("svg[role=img]").waitFor();
    await api.post(`/runs/${run}/metrics`, { metrics: { later: 2 }, step: 1 });
    await watched.page.clock.runFor(40_000);
    await frame.getByText("later").waitFor();
    expect(await frame.locator("svg[role=img]").count()).toBe(2);
    await queryDatabase(stack, "UPDATE reports.embed_sessions SET expires_at = now()");
    await watched.page.clock.runFor(40_000);
    await frame.getByRole("alert").getByText("has ended").waitFor();
  });

  test("say that they must wait, and continue by themselves", async () => {
    const { stack, portal, show } = scene();
    const { api } = await stack.organization();
    const frame = await show((await newEmbed(api, [await newRun(api, "busy", { loss: [1] })], portal.origin)).address);
    await frame.getByText("Updated").waitFor();
    const again = frame.getByRole("button", { name: "Refresh" });
    await until("the limit", async () => {
      await again.click();
      await until("an answer", () => again.isEnabled());
      return (await frame.locator("#status").innerText()).startsWith("Too many requests. Next attempt in ");
    });
    await frame.getByText("Updated").waitFor();
    expect(await frame.locator("svg[role=img]").count()).toBe(1);
  });
});
