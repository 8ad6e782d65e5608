import { cpus } from "node:os";
import { requireChromium } from "@tidemark/testkit";
import { startChromium } from "../browser/browser.ts";
import { parseBenchArguments } from "./command-line.ts";
import { withFreshPostgres } from "./fresh-postgres.ts";
import { webCases } from "./web/cases.ts";
import { figureRow, figuresHead, sideBySide, type WebFigure } from "./web/figures.ts";
import { mlflowCases, openMlflow } from "./web/others/mlflow.ts";
import { openTensorboard, tensorboardCases } from "./web/others/tensorboard.ts";
import type { WebSizes } from "./web/sizes.ts";
import { openTidemark } from "./web/tidemark.ts";
import { measureCases, type OpenedTracker, type TrackerCase } from "./web/tracker.ts";

// What a person waits for in the dashboard, measured in Chromium beside the server on the same machine; and the same in the
// pages of other trackers, which get the same data.

const options = parseBenchArguments(process.argv.slice(2));
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const scaled = (count: number, least: number): number => Math.max(least, Math.round(count * options.scale));

const sizes: WebSizes = {
  manyRuns: scaled(100_000, 1000),
  lines: 100,
  lineSteps: scaled(100_000, 1000),
  wideKeys: scaled(5000, 100),
};

const executable = await requireChromium("the benchmark of pages");
if (executable === undefined) throw new Error("there is no Chromium");
const browser = await startChromium(executable);
const measured = new Map<string, readonly WebFigure[]>();

/** Measures one tracker alone: it is started after the one before has ended. */
async function measure<Pages>(
  name: string,
  cases: readonly TrackerCase<Pages>[],
  last: string,
  open: () => Promise<OpenedTracker<Pages> | undefined>,
): Promise<void> {
  const tell = (figure: WebFigure): void => say(figureRow(figure));
  const opened = async () => {
    const tracker = await open();
    if (tracker !== undefined) say(`\n${name}\n\n${figuresHead(last)}`);
    return tracker;
  };
  const figures = await measureCases(cases, options, opened, tell);
  if (figures.length > 0) measured.set(name, figures);
}

try {
  say(`${cpus().length} x ${cpus()[0]?.model.trim() ?? "unknown CPU"}, Chromium ${browser.version()}.`);
  const { manyRuns, lines, lineSteps, wideKeys } = sizes;
  const [runs, points, keys] = [manyRuns, lineSteps, wideKeys].map((count) => count.toLocaleString("en-US"));
  say(`A project of ${runs} runs, ${lines} runs of ${points} points in a chart, a run of ${keys} keys.`);
  await withFreshPostgres(async (postgres) => {
    for (const mode of options.modes)
      await measure(`Tidemark, ${mode}`, webCases, "wanted", () => openTidemark(browser, postgres, mode, sizes));
    await measure("MLflow 3.17.2", mlflowCases, "note", () => openMlflow(browser, postgres, sizes));
    await measure("TensorBoard 2.21.0", tensorboardCases, "note", () => openTensorboard(browser, postgres, sizes));
  });
} finally {
  await browser.close();
}
if (measured.size > 1) say(`\n${sideBySide(measured)}`);
