import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { requirePython } from "@tidemark/testkit";
import type { Browser } from "playwright-core";
import type { BenchPostgres } from "../../fresh-postgres.ts";
import type { WebFigure } from "../figures.ts";
import { firstRowFigures, openingFigure, questions } from "../openings.ts";
import { openUntilSeen, type OpenedPage } from "../open-page.ts";
import type { Sight } from "../sight.ts";
import { LINE_KEY, lineValues, WIDE_STEPS, wideValues, type WebSizes } from "../sizes.ts";
import type { OpenedTracker, TrackerCase } from "../tracker.ts";
import { writeEventFile, type ScalarEvent } from "./event-file.ts";
import { startTensorboard, untilRead } from "./tensorboard-server.ts";

/** TensorBoard, which is started for the folder of each measurement. */
export type TensorboardPages = {
  readonly browser: Browser;
  readonly python: string;
  readonly directory: string;
  readonly sizes: WebSizes;
};

/** Its list of runs is not virtual, and each run is a folder: more would measure patience. */
const RUNS_MOST = 1000;
const WAIT_MS = 600_000;
const ROW: Sight = { selector: "runs-data-table tb-data-table-content-cell", text: String.raw`run-\d+` };
const CHART: Sight = { selector: "scalar-card .series-view canvas", drawn: "canvas" };

/** Undefined where Python or its packages are not available, which is said loudly. */
export async function openTensorboard(
  browser: Browser,
  postgres: BenchPostgres,
  sizes: WebSizes,
): Promise<OpenedTracker<TensorboardPages> | undefined> {
  const python = await requirePython({
    requirements: join(import.meta.dirname, "../../../interop/tensorboard-requirements.txt"),
    leftOut: "the comparison with TensorBoard's pages",
  });
  if (python === undefined) return undefined;
  const directory = join(postgres.directory, "tensorboard");
  await mkdir(directory);
  return { pages: { browser, ...python, directory, sizes }, close: () => Promise.resolve() };
}

/** The runs of a folder, of which all have the last event. */
type Folder = {
  readonly name: string;
  readonly runs: number;
  readonly eventsOf: (run: number) => Iterable<ScalarEvent>;
  readonly last: Pick<ScalarEvent, "tag" | "step">;
};

/** Writes a folder, starts TensorBoard over it, and measures once everything has been read. */
async function withFolder(
  pages: TensorboardPages,
  folder: Folder,
  measure: (open: (sight: Sight) => Promise<OpenedPage>) => Promise<WebFigure[]>,
): Promise<WebFigure[]> {
  const { browser, python, directory } = pages;
  const logdir = join(directory, folder.name);
  for (let run = 0; run < folder.runs; run += 1) {
    const place = join(logdir, `run-${String(run + 1).padStart(6, "0")}`);
    await mkdir(place, { recursive: true });
    await writeEventFile(join(place, "events.out.tfevents.1700000000.bench"), folder.eventsOf(run));
  }
  const from = performance.now();
  const server = await startTensorboard({ python, logdir, directory });
  try {
    await untilRead(server.uri, folder.runs, folder.last.tag, folder.last.step);
    const seconds = (performance.now() - from) / 1000;
    const open = (sight: Sight): Promise<OpenedPage> =>
      openUntilSeen(browser, { url: `${server.uri}/`, sight, waitMs: WAIT_MS });
    // Its server loads a part of itself with its first requests.
    await (await open(ROW)).context.close();
    const name = `from its start until ${folder.name} have been read`;
    return [{ name, unit: "s", values: [seconds], note: "" }, ...(await measure(open))];
  } finally {
    await server.stop();
  }
}

/** The list of runs beside the charts. */
const firstRows: TrackerCase<TensorboardPages>[1] = (pages, rounds) => {
  const runs = Math.min(RUNS_MOST, pages.sizes.manyRuns);
  const eventsOf = (run: number): ScalarEvent[] => [{ tag: "loss", step: 0, value: run }];
  return withFolder(pages, { name: "many runs", runs, eventsOf, last: { tag: "loss", step: 0 } }, (open) =>
    firstRowFigures(() => open(ROW), rounds, {
      cold: `${runs.toLocaleString("en-US")} runs`,
      warm: "",
      code: "",
      data: "",
    }),
  );
};

/** The lines of long runs in one chart. */
const manyLines: TrackerCase<TensorboardPages>[1] = (pages, rounds) => {
  const { lines, lineSteps } = pages.sizes;
  function* eventsOf(run: number): Generator<ScalarEvent> {
    for (const [step, value] of lineValues(run, pages.sizes).entries()) yield { tag: LINE_KEY, step, value };
  }
  const folder = { name: "long runs", runs: lines, eventsOf, last: { tag: LINE_KEY, step: lineSteps - 1 } };
  return withFolder(pages, folder, async (open) => [
    await openingFigure(() => open(CHART), rounds, {
      name: questions.lines,
      note: "at most 1,000 points each",
      mayFail: true,
    }),
  ]);
};

/** The charts of a run with many keys. */
const manyKeys: TrackerCase<TensorboardPages>[1] = (pages, rounds) => {
  const { sizes } = pages;
  function* eventsOf(): Generator<ScalarEvent> {
    for (let step = 0; step < WIDE_STEPS; step += 1)
      for (const [tag, value] of Object.entries(wideValues(step, sizes))) yield { tag, step, value };
  }
  const tag = Object.keys(wideValues(0, sizes)).at(-1)!;
  return withFolder(
    pages,
    { name: "many keys", runs: 1, eventsOf, last: { tag, step: WIDE_STEPS - 1 } },
    async (open) => [
      await openingFigure(() => open(CHART), rounds, {
        name: questions.wide,
        note: `${sizes.wideKeys.toLocaleString("en-US")} keys`,
        mayFail: true,
      }),
    ],
  );
};

/** The measurements by their names. */
export const tensorboardCases: readonly TrackerCase<TensorboardPages>[] = [
  ["tensorboard: first rows", firstRows],
  ["tensorboard: many lines", manyLines],
  ["tensorboard: many keys", manyKeys],
];
