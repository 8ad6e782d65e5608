import { describe, expect, test } from "@jest/globals";
import { readPanels } from "./panels.ts";

const line = { metricKey: "loss" };
const sections = (...panels: unknown[]) => ({ sections: [{ id: "s", name: "Charts", panels }] });

describe("the panels of a view", () => {
  test("have what the payload says", () => {
    const fields = { xField: "config:lr", yField: "y", valueField: "v", groupField: "g", replicateField: "r" };
    const panel = { ...fields, id: "p1", title: "Loss", type: "scatter", metricKey: "loss" };
    expect(readPanels(sections(panel), 20)).toEqual({
      panels: [
        {
          id: "p1",
          title: "Loss",
          type: "scatter",
          sectionId: "s",
          sectionName: "Charts",
          metricKey: "loss",
          fields: { x_field: "config:lr", y_field: "y", value_field: "v", group_field: "g", replicate_field: "r" },
          warnings: [],
        },
      ],
      keys: ["loss"],
      lineKeys: [],
      warnings: [],
    });
  });

  test("are lines with names of their own where it says nothing", () => {
    const payload = { workspaceView: { sections: [{ panels: [line] }, { title: " T ", panels: [line, line] }] } };
    expect(readPanels(payload, 20).panels).toMatchObject([
      { id: "panel-1", title: "loss", type: "line", sectionId: "section-1", sectionName: "Section 1", fields: {} },
      { id: "panel-2", sectionId: "section-2", sectionName: "T" },
      { id: "panel-3", sectionId: "section-2" },
    ]);
  });

  test("of the workspace view go before those of the payload", () => {
    const payload = { workspaceView: sections(line), ...sections({ metricKey: "other" }) };
    expect(readPanels(payload, 20).keys).toEqual(["loss"]);
    expect(readPanels({ ...payload, workspaceView: {} }, 20).keys).toEqual(["other"]);
  });

  test("name each key once; only lines need points", () => {
    const panels = ["b", "a", "b"].flatMap((metricKey) => [{ metricKey, type: "bar" }, { metricKey }]);
    expect(readPanels(sections(...panels, { metricKey: "c", type: "dot" }), 20)).toMatchObject({
      keys: ["b", "a", "c"],
      lineKeys: ["b", "a"],
    });
  });

  test("of unknown types are shown with a warning", () => {
    const { panels } = readPanels(sections({ ...line, type: "pie" }), 20);
    expect(panels).toMatchObject([{ type: "pie", warnings: [expect.stringContaining("pie")] }]);
  });

  test.each([
    ["no metric key", {}],
    ["a blank one", { metricKey: " " }],
    ["one that is not a text", { metricKey: 1 }],
    ["one of 513 bytes", { metricKey: "k".repeat(513) }],
    ["one with NUL", { metricKey: "a\0" }],
  ])("are left out that have %s", (_, panel) => {
    const { panels, keys, warnings } = readPanels(sections(panel, line), 20);
    expect([panels.length, keys, warnings]).toEqual([1, ["loss"], ["panel 1 has no metric key and was left out"]]);
  });

  test("beyond the bound are left out with a warning", () => {
    const { panels, keys, warnings } = readPanels(sections(line, { metricKey: "b" }, { metricKey: "c" }), 2);
    expect([panels.length, keys]).toEqual([2, ["loss", "b"]]);
    expect(warnings).toEqual(["the view has 3 panels; those after the first 2 were left out"]);
  });
});

describe("a view without panels", () => {
  test.each<[string, Record<string, unknown>, string[]]>([
    ["shows a line of its metric key", { metricKey: "loss" }, ["loss"]],
    ["shows nothing without one", {}, []],
    ["shows nothing of what is not a list of objects", { sections: [1, { panels: 2 }, { panels: [3] }] }, []],
  ])("%s", (_, payload, keys) => {
    expect(readPanels(payload, 20)).toEqual({ panels: [], keys, lineKeys: keys, warnings: [] });
  });

  test("that has panels shows no line of its own", () => {
    expect(readPanels({ metricKey: "b", ...sections(line) }, 20).keys).toEqual(["loss"]);
  });
});
