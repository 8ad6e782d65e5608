import { cpus } from "node:os";
import { requireChromium } from "@tidemark/testkit";
import { startChromium } from "../browser/browser.ts";
import { parseBenchArguments } from "./command-line.ts";
import { withFreshPostgres } from "./fresh-postgres.ts";
import { webCases } from "./web/cases.ts";
import { figureRow, figuresHead } from "./web/figures.ts";
import type { WebSizes } from "./web/sizes.ts";
import { openTidemark } from "./web/tidemark.ts";
import { measureCases } from "./web/tracker.ts";

// What a person waits for in the dashboard, measured in Chromium beside the server on the same machine.

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
try {
  say(`${cpus().length} x ${cpus()[0]?.model.trim() ?? "unknown CPU"}, Chromium ${browser.version()}.`);
  const { manyRuns, lines, lineSteps, wideKeys } = sizes;
  const [runs, points, keys] = [manyRuns, lineSteps, wideKeys].map((count) => count.toLocaleString("en-US"));
  say(`A project of ${runs} runs, ${lines} runs of ${points} points in a chart, a run of ${keys} keys.`);
  await withFreshPostgres(async (postgres) => {
    for (const mode of options.modes) {
      const opened = async () => {
        const tracker = await openTidemark(browser, postgres, mode, sizes);
        say(`\nTidemark, ${mode}\n\n${figuresHead("wanted")}`);
        return tracker;
      };
      await measureCases(webCases, options, opened, (figure) => say(figureRow(figure)));
    }
  });
} finally {
  await browser.close();
}
