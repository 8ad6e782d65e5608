import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { callOf, json, startReports, text, type ReportsFixture } from "../reports.fixture.ts";

let fixture: ReportsFixture;
beforeAll(async () => {
  fixture = await startReports();
});
afterAll(() => fixture.close());

const image = (url: string) => ({ type: "image_panel", url });
const grid = (...urls: string[]) => ({ kind: "panel_grid", runsets: [], panels: urls.map(image) });

test("panels of all reports are paged, those of the newest report first", async () => {
  const orgId = randomUUID();
  const call = callOf(orgId);
  const make = async (title: string, projectId: string | undefined, ...blocks: unknown[]) =>
    (await fixture.client.createReport({ title, projectId, blocksJson: json(blocks) }, call)).report!.id;
  const projectId = randomUUID();
  const first = await make("first", projectId, grid("a", "b"), { kind: "paragraph", text: "" }, grid("c"));
  await make("without", undefined, grid());
  const last = await make("last", undefined, grid("d"));
  await fixture.client.createReport({ title: "foreign", blocksJson: json([grid("x")]) }, callOf(randomUUID()));

  const pages = async (limit: number, as = call) => {
    const seen: unknown[] = [];
    let cursor = "";
    do {
      const page = await fixture.client.listPanels({ limit, cursor }, as);
      for (const { reportId, reportTitle, panelIndex, specJson } of page.panels) {
        seen.push([reportId, reportTitle, panelIndex, (JSON.parse(text(specJson)) as { url: string }).url]);
      }
      expect(page.panels.length).toBeLessThanOrEqual(limit);
      cursor = page.nextCursor;
    } while (cursor !== "");
    return seen;
  };
  const all = [
    [last, "last", 0, "d"],
    [first, "first", 0, "a"],
    [first, "first", 1, "b"],
    [first, "first", 0, "c"],
  ];
  for (const limit of [1, 2, 3, 4, 1000]) expect(await pages(limit)).toEqual(all);
  expect(await pages(2, callOf(orgId, { projectId }))).toEqual(all.slice(1));

  await fixture.client.updateReport({ reportId: first, blocksJson: json([grid("e")]) }, call);
  await fixture.client.deleteReport({ reportId: last }, call);
  expect(await pages(10)).toEqual([[first, "first", 0, "e"]]);
});

test("panels keep their digits", async () => {
  const call = callOf(randomUUID());
  const spec = '{"type":"image_panel","url":"u","seed":12345678901234567890}';
  const blocksJson = new TextEncoder().encode(`[{"kind":"panel_grid","runsets":[],"panels":[${spec}]}]`);
  await fixture.client.createReport({ title: "t", blocksJson }, call);
  const { panels } = await fixture.client.listPanels({}, call);
  expect(text(panels[0]?.specJson)).toBe(spec);
});
