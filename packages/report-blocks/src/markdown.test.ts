import { expect, test } from "@jest/globals";
import { writeMarkdown } from "./index.ts";

const written = (block: unknown): string =>
  writeMarkdown({ title: "T", description: undefined, blocks: [block] }).replace("# T\n\n", "");

test.each<[string, unknown, string]>([
  ["a heading", { kind: "heading", level: 2, text: "Two" }, "## Two\n\n"],
  ["a paragraph", { kind: "paragraph", text: "a\nb" }, "a\nb\n\n"],
  ["Markdown as it is", { kind: "markdown", text: "<script>*x*</script>" }, "<script>*x*</script>\n\n"],
  ["code", { kind: "code", code: "SELECT 1", language: "sql" }, "```sql\nSELECT 1\n```\n\n"],
  ["code with a fence in it", { kind: "code", code: "```js\n```" }, "````plain\n```js\n```\n````\n\n"],
  ["a callout of several lines", { kind: "callout", text: "a\n\nb" }, "> [info] a\n>\n> b\n\n"],
  ["a rule", { kind: "horizontal_rule" }, "---\n\n"],
  ["an image", { kind: "image", url: "u", caption: "c" }, "![c](u)\n\n"],
  ["an image without a caption", { kind: "image", url: "u", caption: null }, "![](u)\n\n"],
  [
    "a grid",
    { kind: "panel_grid", runsets: [{ name: "main", projects: ["a", "b"] }], panels: [] },
    "> Panels are interactive and not part of this text.\n> - **main**: a, b\n\n",
  ],
  [
    "a grid with a caption",
    { kind: "panel_grid", runsets: [], panels: [], caption: "Six runs" },
    "> Panels are interactive and not part of this text.\n> Six runs\n\n",
  ],
  [
    "a summary that was generated",
    { kind: "llm_summary", panelgrid_index: 0, angle: "outliers", generated_text: "g" },
    "**Summary (outliers)**\n\ng\n\n",
  ],
  [
    "a summary that was not",
    { kind: "llm_summary", panelgrid_index: 0 },
    "**Summary (what-worked)**\n\n_Not generated yet._\n\n",
  ],
])("%s is written", (_, block, expected) => {
  expect(written(block)).toBe(expected);
});

test("the description stands below the title unless it is blank", () => {
  expect(writeMarkdown({ title: "T", description: "d", blocks: [] })).toBe("# T\n\nd\n\n");
  expect(writeMarkdown({ title: "T", description: " ", blocks: [] })).toBe("# T\n\n");
});
