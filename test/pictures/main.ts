import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { requireChromium } from "@tidemark/testkit";
import { openBenchStack, withFreshPostgres } from "../bench/frame/stack.ts";
import { LAPTOP, openPage, PHONE, signInWithKey, startChromium } from "../browser/browser.ts";
import { dashboardFolder } from "../browser/dashboard/dashboard-folder.ts";
import { logSweep, PROJECT } from "./sweep.ts";

// Makes the pictures of the documents: a real server, real trainings, a real Chromium.

const FOLDER = join(import.meta.dirname, "..", "..", "docs", "pictures");
/** Long enough for charts that fade in, fonts, and the first answer of the change stream. */
const SETTLE_MS = 1500;

type Shot = {
  readonly name: string;
  readonly path: string;
  /** Default: a laptop. */
  readonly viewport?: { readonly width: number; readonly height: number };
};

function shots(runIds: readonly string[]): Shot[] {
  const of = (query: Record<string, string>): string => `/p/${PROJECT}?${new URLSearchParams(query)}`;
  const columns = "metrics.val/loss.best,metrics.val/accuracy.best,config.optimizer.learning_rate,config.model.units";
  const best = runIds[19]!;
  return [
    {
      name: "project",
      path: of({
        cols: columns,
        sort: "metrics.val/loss.best",
        dir: "asc",
        smooth: "ema:0.9",
        keys: ",val/loss,train/loss",
      }),
    },
    {
      name: "groups",
      path: of({ cols: columns, first: "25", group: "config.optimizer.learning_rate", keys: ",val/loss,val/accuracy" }),
    },
    {
      name: "parameters",
      path: of({ charts: "columns", of: "metrics.val/loss.best" }),
    },
    { name: "media", path: `/p/${PROJECT}/r/${best}/objects` },
    {
      name: "compare",
      path: `/p/${PROJECT}/compare?sel=${[runIds[3], runIds[10], best].join()}&base=${runIds[3]}`,
    },
    { name: "phone", path: `/p/${PROJECT}/r/${best}/charts`, viewport: PHONE },
  ];
}

const executable = await requireChromium("the pictures of the documents");
if (executable === undefined) throw new Error("there is no Chromium");
await mkdir(FOLDER, { recursive: true });
await withFreshPostgres(async (postgres) => {
  const settings = { TIDEMARK_DASHBOARD_DIRECTORY: await dashboardFolder() };
  const bench = await openBenchStack(postgres, "embedded", "pictures", settings);
  const browser = await startChromium(executable);
  try {
    console.log("training 24 networks");
    const { runIds } = await logSweep(bench.api);
    const cookie = await signInWithKey(bench.stack.baseUrl, bench.key);
    for (const { name, path, viewport = LAPTOP } of shots(runIds)) {
      for (const theme of ["light", "dark"] as const) {
        const context = await browser.newContext({ viewport, colorScheme: theme, reducedMotion: "reduce" });
        await context.addCookies([cookie]);
        const { page } = await openPage(context);
        await page.goto(`${bench.stack.baseUrl}${path}`);
        await page.waitForSelector("#app main:not(:has([aria-busy=true]))");
        await page.waitForTimeout(SETTLE_MS);
        const file = `${name}-${theme}.png`;
        await page.screenshot({ path: join(FOLDER, file) });
        console.log(`docs/pictures/${file}`);
        await context.close();
      }
    }
  } finally {
    await browser.close();
    await bench.stop();
  }
});
