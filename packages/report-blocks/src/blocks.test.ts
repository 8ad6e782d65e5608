import { describe, expect, test } from "@jest/globals";
import { BLOCKS, faultOfBlocks, panelsOf, type Block } from "./index.ts";

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
const faultOf = (blocks: unknown) => faultOfBlocks(blocks, bytesOf);
const grid = (panel: unknown, runsets: unknown = []) => ({ kind: "panel_grid", runsets, panels: [panel] });
const filled = (bytes: number) => {
  const empty = { kind: "paragraph", text: "" };
  return { ...empty, text: "x".repeat(bytes - bytesOf(empty)) };
};

describe("a block is taken that is", () => {
  test.each<[string, unknown]>([
    ["a heading without text", { kind: "heading", level: 3, text: "" }],
    ["a paragraph with more members", { kind: "paragraph", text: "", color: "red", id: 1 }],
    ["Markdown", { kind: "markdown", text: "<b>*" }],
    ["code", { kind: "code", code: "x", language: "sql" }],
    ["code of no language", { kind: "code", code: "", language: null }],
    ["a callout", { kind: "callout", text: "t", variant: "warn" }],
    ["a rule", { kind: "horizontal_rule" }],
    ["an image", { kind: "image", url: "u", caption: "" }],
    ["an empty grid", { kind: "panel_grid", runsets: [], panels: [] }],
    ["a grid with a caption", { kind: "panel_grid", runsets: [], panels: [], caption: "" }],
    ["a summary", { kind: "llm_summary", panelgrid_index: 0, angle: "outliers" }],
    [
      "a grid with runsets",
      grid({ type: "line", metric_key: "loss", runset_index: 99 }, [
        { name: "a", projects: [], pinned_run_ids: null, run_settings: null },
        {
          name: "b",
          projects: ["p", ""],
          pinned_run_ids: ["r"],
          run_settings: { r: { color: "#fff", disabled: true, hidden: false }, s: {} },
        },
      ]),
    ],
    ["a bar panel", grid({ type: "bar", metric_key: "loss" })],
    ["a bar panel of a figure", grid({ type: "bar", metric_key: "loss", agg: "best", config_key: null })],
    ["a bar panel of the config", grid({ type: "bar", config_key: "lr", metric_key: null })],
    ["histograms", grid({ type: "histogram", object_key: "weights", runset_index: 1 })],
    ["a heat map of histograms", grid({ type: "histogram", object_key: "weights", view: "heat" })],
    ["ROC curves", grid({ type: "roc_curve", object_key: "eval" })],
    ["precision-recall curves", grid({ type: "pr_curve", object_key: "eval" })],
    ["confusion matrices", grid({ type: "confusion_matrix", object_key: "eval" })],
    ["a scalar panel", grid({ type: "scalar", metric_key: "loss", agg: "min" })],
    ["a scatter panel", grid({ type: "scatter", x_metric: "a", y_metric: "b" })],
    [
      "parallel coordinates",
      grid({ type: "parallel_coordinates", dimensions: [{ metric_key: "a" }, { config_key: "b" }] }),
    ],
    ["a comparer", grid({ type: "run_comparer", run_ids: ["r"], fields: ["f"] })],
    ["a Markdown panel", grid({ type: "markdown_panel", text: "" })],
    ["a code panel", grid({ type: "code_panel", code: "", language: "json" })],
    ["an image panel", grid({ type: "image_panel", url: "u" })],
    ["a number that keeps its digits", { kind: "heading", level: rawNumber("2.0"), text: "" }],
  ])("%s", (_, block) => {
    expect(faultOf([block])).toBeUndefined();
  });
});

describe("a block is refused that is", () => {
  test.each<[string, unknown, string]>([
    ["no object", 1, "blocks[0] must be an object"],
    ["a list", [], "blocks[0] must be an object"],
    ["of no kind", { text: "" }, "blocks[0].kind must be one of"],
    ["of an unknown kind", { kind: "video" }, "blocks[0].kind must be one of"],
    ["of a kind that all objects inherit", { kind: "constructor" }, "blocks[0].kind must be one of"],
    [
      "a heading of level 0",
      { kind: "heading", level: 0, text: "" },
      "blocks[0].level must be a whole number from 1 to 3",
    ],
    ["a heading of level 4", { kind: "heading", level: 4, text: "" }, "blocks[0].level must be"],
    ["a heading of level 1.5", { kind: "heading", level: 1.5, text: "" }, "blocks[0].level must be"],
    ["a heading whose level is a text", { kind: "heading", level: "1", text: "" }, "blocks[0].level must be"],
    ["a heading without text", { kind: "heading", level: 1 }, "blocks[0].text is required"],
    ["a paragraph whose text is null", { kind: "paragraph", text: null }, "blocks[0].text is required"],
    ["Markdown whose text is a number", { kind: "markdown", text: 1 }, "blocks[0].text must be a text"],
    ["code in an unknown language", { kind: "code", code: "", language: "cobol" }, "blocks[0].language must be one of"],
    ["code without code", { kind: "code", language: "sql" }, "blocks[0].code is required"],
    [
      "a callout of an unknown variant",
      { kind: "callout", text: "", variant: "x" },
      "blocks[0].variant must be one of",
    ],
    ["an image with a blank address", { kind: "image", url: " \u00a0" }, "blocks[0].url must not be blank"],
    ["an image whose caption is a number", { kind: "image", url: "u", caption: 1 }, "blocks[0].caption must be a text"],
    ["a grid without panels", { kind: "panel_grid", runsets: [] }, "blocks[0].panels is required"],
    ["a grid without runsets", { kind: "panel_grid", panels: [] }, "blocks[0].runsets is required"],
    [
      "a grid whose caption is a number",
      { kind: "panel_grid", runsets: [], panels: [], caption: 1 },
      "blocks[0].caption must be a text",
    ],
    ["a summary of a negative grid", { kind: "llm_summary", panelgrid_index: -1 }, "blocks[0].panelgrid_index must be"],
    [
      "a summary from an unknown angle",
      { kind: "llm_summary", panelgrid_index: 0, angle: "x" },
      "blocks[0].angle must be one of",
    ],
    ["a panel of an unknown type", grid({ type: "pie" }), "blocks[0].panels[0].type must be one of"],
    ["a line without a metric", grid({ type: "line" }), "blocks[0].panels[0].metric_key is required"],
    [
      "a bar of a blank metric",
      grid({ type: "bar", metric_key: "" }),
      "blocks[0].panels[0].metric_key must not be blank",
    ],
    ["a bar of nothing", grid({ type: "bar" }), "blocks[0].panels[0].metric_key is required"],
    [
      "a bar of a blank key of the config",
      grid({ type: "bar", config_key: " " }),
      "blocks[0].panels[0].config_key must not be blank",
    ],
    [
      "a bar of a metric and a key of the config that is none",
      grid({ type: "bar", metric_key: "a", config_key: 1 }),
      "blocks[0].panels[0].config_key must be a text",
    ],
    [
      "a bar of an unknown figure",
      grid({ type: "bar", metric_key: "a", agg: "count" }),
      "blocks[0].panels[0].agg must be one of latest, best, min, max, mean",
    ],
    [
      "a bar of the config with an unknown figure",
      grid({ type: "bar", config_key: "a", agg: "sum" }),
      "blocks[0].panels[0].agg must be one of",
    ],
    ...["histogram", "roc_curve", "pr_curve", "confusion_matrix"].flatMap((type): [string, unknown, string][] => [
      [`a panel ${type} without an object`, grid({ type }), "blocks[0].panels[0].object_key is required"],
      [
        `a panel ${type} of a blank object`,
        grid({ type, object_key: " " }),
        "blocks[0].panels[0].object_key must not be blank",
      ],
    ]),
    [
      "histograms in an unknown view",
      grid({ type: "histogram", object_key: "w", view: "pie" }),
      "blocks[0].panels[0].view must be one of ridges, heat",
    ],
    [
      "a scalar of an unknown aggregate",
      grid({ type: "scalar", metric_key: "a", agg: "sum" }),
      "blocks[0].panels[0].agg must be one of",
    ],
    ["a scatter of one metric", grid({ type: "scatter", x_metric: "a" }), "blocks[0].panels[0].y_metric is required"],
    [
      "a dimension of nothing",
      grid({ type: "parallel_coordinates", dimensions: [{}] }),
      "blocks[0].panels[0].dimensions[0] needs a metric_key or a config_key",
    ],
    [
      "a comparer of blank fields",
      grid({ type: "run_comparer", run_ids: [], fields: [" "] }),
      "blocks[0].panels[0].fields[0] must not be blank",
    ],
    [
      "a comparer whose runs are not strings",
      grid({ type: "run_comparer", run_ids: [1], fields: [] }),
      "blocks[0].panels[0].run_ids[0] must be a text",
    ],
    [
      "a panel of runset -1",
      grid({ type: "image_panel", url: "u", runset_index: -1 }),
      "blocks[0].panels[0].runset_index",
    ],
    [
      "a runset without a name",
      grid({ type: "image_panel", url: "u" }, [{ name: " ", projects: [] }]),
      "blocks[0].runsets[0].name must not be blank",
    ],
    [
      "a runset that pins nothing",
      grid({ type: "image_panel", url: "u" }, [{ name: "n", projects: [], pinned_run_ids: [""] }]),
      "blocks[0].runsets[0].pinned_run_ids[0] must not be blank",
    ],
    [
      "a runset that hides a run by a text",
      grid({ type: "image_panel", url: "u" }, [{ name: "n", projects: [], run_settings: { r: { hidden: "yes" } } }]),
      "blocks[0].runsets[0].run_settings.r.hidden must be true or false",
    ],
  ])("%s", (_, block, fault) => {
    expect(faultOf([block])).toContain(fault);
  });
});

test("blocks are a list", () => {
  expect(faultOf({})).toBe("blocks must be a list");
});

test("a report has at most 256 blocks", () => {
  const rules = (count: number) => Array.from({ length: count }, () => ({ kind: "horizontal_rule" }));
  expect(faultOf(rules(BLOCKS.countMax))).toBeUndefined();
  expect(faultOf(rules(BLOCKS.countMax + 1))).toBe("blocks must have 0 to 256 items");
});

test("a block has at most 32 KiB", () => {
  expect(faultOf([filled(BLOCKS.blockBytesMax)])).toBeUndefined();
  expect(faultOf([filled(BLOCKS.blockBytesMax + 1)])).toBe("blocks[0] must have at most 32768 bytes");
});

test("all blocks together have at most 256 KiB", () => {
  // Brackets and commas count.
  const seven = Array.from({ length: 7 }, () => filled(BLOCKS.blockBytesMax));
  const rest = BLOCKS.bytesMax - bytesOf(seven) - 1;
  expect(faultOf([...seven, filled(rest)])).toBeUndefined();
  expect(faultOf([...seven, filled(rest + 1)])).toBe("blocks must have at most 262144 bytes");
});

test("panels are counted in their grid", () => {
  const [a, b, c] = ["a", "b", "c"].map((url) => ({ type: "image_panel", url }));
  const blocks = [
    { kind: "panel_grid", runsets: [], panels: [a, b] },
    { kind: "paragraph", text: "", panels: [a] },
    { kind: "panel_grid", runsets: [], panels: [c] },
  ] as Block[];
  expect(panelsOf(blocks)).toEqual([
    { index: 0, panel: a },
    { index: 1, panel: b },
    { index: 0, panel: c },
  ]);
});

function rawNumber(digits: string): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(digits);
}
