import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { requirePython } from "@tidemark/testkit";
import { describeModes } from "../stack/modes.ts";
import { runRecipes, setUpRecipe } from "./guide.fixture.ts";

// The recipes of README.md and docs/guide, as a reader pastes them.

const root = join(import.meta.dirname, "../..");
const sdk = await requirePython({
  requirements: join(root, "examples/python/requirements.txt"),
  leftOut: "recipes of the guide in Python",
});
const pandas = await requirePython({
  requirements: join(root, "test/interop/parquet-requirements.txt"),
  leftOut: "recipes of the guide that read Parquet",
});

/** What the recipes of a page print, among other things. */
const prints: Readonly<Record<string, readonly RegExp[]>> = {
  "artifacts.md": [/"name":"notes\.txt"/, /^hello$/m],
  "charts.md": [/^HTTP\/1\.1 304/m, /"p75"/, /"rank":1/],
  "deletion.md": [/"counts":\{"runs":1,"points":3/, /"status":"running"/],
  "export.md": [/"type":"end"/, /"replaced":\[\{/, /^x-instantml-export-truncated: false/m],
  "first-run.md": [/"key":"loss","step":3,"value":0\.3/, /"status":"finished"/],
  "import.md": [/"dry_run":true/],
  "limits.md": [/"storage_bytes_by_kind"/],
  "mlflow.md": [/"params":\[\{"key":"lr","value":"0\.001"\}\]/],
  "reports.md": [/^## Results$/m],
  "runs.md": [/"stop_state":"completed"/, /"updated":1/],
  "search.md": [/"name":"otter"/, /"loss"/],
  "sharing.md": [/"iframe_src"/],
  "sign-in.md": [/"authenticated":true/],
  "traces.md": [/"root_name":"episode"/, /"answer":"4"/],
};

describeModes("the recipes", (stack) => {
  const run = async (document: string, before?: string) => {
    const { key } = await stack().organization();
    const python = (document.endsWith("export.md") ? pandas : sdk)?.python;
    return runRecipes(document, { baseUrl: stack().baseUrl, key, python }, before);
  };

  test("of README.md work as they are written", async () => {
    expect(await run("README.md")).toContain('"key":"loss","step":1,"value":0.5');
  });

  test.each(readdirSync(join(root, "docs/guide")))("of docs/guide/%s work as they are written", async (page) => {
    const printed = await run(`docs/guide/${page}`, page === "first-run.md" ? "" : setUpRecipe());
    for (const text of prints[page] ?? []) expect(printed).toMatch(text);
  });
});
