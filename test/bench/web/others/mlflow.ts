import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { requirePython } from "@tidemark/testkit";
import pg from "pg";
import type { Browser, Page } from "playwright-core";
import type { BenchPostgres } from "../../fresh-postgres.ts";
import { startMlflow } from "../../metrics/mlflow-server.ts";
import { firstRowFigures, openingFigure, questions } from "../openings.ts";
import { openUntilSeen, type OpenedPage, type StorageState } from "../open-page.ts";
import { seenAt, noteWhenSeen, type Sight } from "../sight.ts";
import type { WebSizes } from "../sizes.ts";
import type { OpenedTracker, TrackerCase } from "../tracker.ts";
import { writeMlflow, type MlflowData } from "./mlflow-data.ts";

/** The pages of MLflow's tracking server with what is behind them. */
export type MlflowPages = {
  readonly browser: Browser;
  readonly uri: string;
  readonly data: MlflowData;
  readonly sizes: WebSizes;
};

/** A page of many charts may take this long. */
const WAIT_MS = 600_000;
/** Of the lines that its charts draw twice, smoothed and faintly as they are, the smoothed one. */
const LINE = '.scatterlayer path.js-line[style*="stroke-opacity: 1;"]';
/** The runs that its charts show until one asks for more. */
const LINES_AT_FIRST = 10;
const ROW: Sight = { selector: ".ag-row a", text: String.raw`run-\d+` };

/**
 * Starts MLflow's own server over the PostgreSQL that ours has used, and fills it. Undefined where Python or its packages are not
 * available, which is said loudly.
 */
export async function openMlflow(
  browser: Browser,
  postgres: BenchPostgres,
  sizes: WebSizes,
): Promise<OpenedTracker<MlflowPages> | undefined> {
  const python = await requirePython({
    requirements: join(import.meta.dirname, "../../metrics/mlflow-requirements.txt"),
    leftOut: "the comparison with MLflow's pages",
  });
  if (python === undefined) return undefined;
  const directory = join(postgres.directory, "mlflow");
  await mkdir(directory);
  const databaseUrl = await postgres.database("bench_web_mlflow");
  const server = await startMlflow({ ...python, databaseUrl, directory });
  const owner = new pg.Client({ connectionString: databaseUrl });
  try {
    await owner.connect();
    const from = performance.now();
    const data = await writeMlflow(owner, sizes);
    const seconds = ((performance.now() - from) / 1000).toFixed(0);
    process.stderr.write(`MLflow's data have been written into its tables in ${seconds} s\n`);
    const pages = { browser, uri: server.uri, data, sizes };
    // Each of its processes loads a part of itself with its first requests.
    for (let i = 0; i < 3; i += 1) await (await open(pages, `${data.many}/runs`, ROW)).context.close();
    return { pages, close: () => server.stop() };
  } catch (error) {
    await server.stop();
    throw error;
  } finally {
    await owner.end();
  }
}

const open = (
  { browser, uri }: MlflowPages,
  path: string,
  sight: Sight,
  storageState?: StorageState,
): Promise<OpenedPage> =>
  openUntilSeen(browser, {
    url: `${uri}/#/experiments/${path}`,
    sight,
    waitMs: WAIT_MS,
    ...(storageState === undefined ? {} : { storageState }),
  });

/** The table of an experiment with many runs. */
const firstRows: TrackerCase<MlflowPages>[1] = (pages, rounds) =>
  firstRowFigures(() => open(pages, `${pages.data.many}/runs`, ROW), rounds, {
    cold: `${pages.sizes.manyRuns.toLocaleString("en-US")} runs`,
    warm: "",
    code: "sent without compression",
    data: "",
  });

/** Its table gets a hundred more rows by a button; a place far down cannot be reached otherwise. */
const moreRows: TrackerCase<MlflowPages>[1] = async (pages, rounds) => {
  const { page, context } = await open(pages, `${pages.data.many}/runs`, ROW);
  const values: number[] = [];
  for (let i = 1; i <= rounds; i += 1) {
    const first = { selector: `.ag-row[row-index="${i * 100}"] a`, text: ROW.text! };
    values.push(await pressForMore(page, first));
  }
  await context.close();
  const note = `row 90,000 is ${(90_000 / 100 - 1).toLocaleString("en-US")} presses away`;
  return [{ name: "the next 100 rows, by a button at the end", unit: "ms", values, note }];
};

async function pressForMore(page: Page, sight: Sight): Promise<number> {
  const button = page.getByRole("button", { name: "Load more" });
  await page.mouse.move(500, 600);
  while (!(await button.isVisible())) await page.mouse.wheel(0, 2000);
  const from = await page.evaluate(() => performance.now());
  await page.evaluate(noteWhenSeen, sight);
  await button.click();
  return (await seenAt(page)) - from;
}

/** The charts of an experiment: as they open, with the lines of ten runs, and with those of all. */
const manyLines: TrackerCase<MlflowPages>[1] = async (pages, rounds) => {
  const path = `${pages.data.lines}/runs?compareRunsMode=CHART`;
  const few: Sight = { selector: LINE, count: Math.min(LINES_AT_FIRST, pages.sizes.lines), drawn: "path" };
  let state: StorageState | undefined;
  const asItOpens = await openingFigure(
    () => open(pages, path, few),
    rounds,
    { name: "the chart as it opens", note: `${few.count} of ${pages.sizes.lines} runs`, mayFail: true },
    async ({ page, context }) => {
      if (state !== undefined) return;
      const all = { ...few, count: pages.sizes.lines };
      await page.getByTestId("experiment-view-runs-visibility-column-header").click();
      await page.evaluate(noteWhenSeen, all);
      await page.getByText("Show all runs").click();
      await seenAt(page);
      state = await context.storageState();
    },
  );
  const withAll = await openingFigure(() => open(pages, path, { ...few, count: pages.sizes.lines }, state), rounds, {
    name: questions.lines,
    note: "after all runs were chosen; at most 320 points each",
    mayFail: true,
  });
  return [asItOpens, withAll];
};

/** The charts of the metrics of a run. */
const manyKeys: TrackerCase<MlflowPages>[1] = async (pages, rounds) => {
  const { wide, wideRun } = pages.data;
  const chart: Sight = { selector: LINE, drawn: "path" };
  const note = `${pages.sizes.wideKeys.toLocaleString("en-US")} keys`;
  const shown = (): Promise<OpenedPage> => open(pages, `${wide}/runs/${wideRun}/model-metrics`, chart);
  return [await openingFigure(shown, rounds, { name: questions.wide, note, mayFail: true })];
};

/** The measurements by their names. */
export const mlflowCases: readonly TrackerCase<MlflowPages>[] = [
  ["mlflow: first rows", firstRows],
  ["mlflow: more rows", moreRows],
  ["mlflow: many lines", manyLines],
  ["mlflow: many keys", manyKeys],
];
