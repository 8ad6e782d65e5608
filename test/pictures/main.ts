import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { requireChromium } from "@tidemark/testkit";
import { openBenchStack } from "../bench/bench-stack.ts";
import { withFreshPostgres } from "../bench/fresh-postgres.ts";
import { openPage, startChromium } from "../browser/browser.ts";
import { dashboardFolder } from "../browser/dashboard/dashboard-folder.ts";
import { openBrowser, sessionCookie } from "../stack/browser.ts";
import { logSweep, PROJECT } from "./sweep.ts";

// Makes the pictures of the README: a real server, real trainings, a real Chromium.

const FOLDER = join(import.meta.dirname, "..", "..", "docs", "pictures");
const LAPTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
/** Long enough for charts that fade in, fonts, and the first answer of the change stream. */
const SETTLE_MS = 1500;

type Shot = {
  readonly name: string;
  readonly path: string;
  readonly themes: readonly ("light" | "dark")[];
  readonly viewport: { readonly width: number; readonly height: number };
};

function shots(runIds: readonly string[]): Shot[] {
  const both = ["light", "dark"] as const;
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
      themes: both,
      viewport: LAPTOP,
    },
    {
      name: "groups",
      path: of({ cols: columns, first: "25", group: "config.optimizer.learning_rate", keys: ",val/loss,val/accuracy" }),
      themes: both,
      viewport: LAPTOP,
    },
    {
      name: "parameters",
      path: of({ charts: "columns", of: "metrics.val/loss.best" }),
      themes: both,
      viewport: LAPTOP,
    },
    { name: "media", path: `/p/${PROJECT}/r/${best}/objects`, themes: both, viewport: LAPTOP },
    {
      name: "compare",
      path: `/p/${PROJECT}/compare?sel=${[runIds[3], runIds[10], best].join()}&base=${runIds[3]}`,
      themes: both,
      viewport: LAPTOP,
    },
    { name: "phone", path: `/p/${PROJECT}/r/${best}/charts`, themes: both, viewport: PHONE },
  ];
}

const executable = await requireChromium("the pictures of the README");
if (executable === undefined) throw new Error("there is no Chromium");
await mkdir(FOLDER, { recursive: true });
await withFreshPostgres(async (postgres) => {
  const settings = { TIDEMARK_DASHBOARD_DIRECTORY: await dashboardFolder() };
  const bench = await openBenchStack(postgres, "embedded", "pictures", settings);
  const browser = await startChromium(executable);
  try {
    console.log("training 24 networks");
    const { runIds } = await logSweep(bench.api);
    const own = openBrowser(bench.stack.baseUrl);
    const answer = await own.post("/api/auth/api-key", { api_key: bench.key });
    if (answer.status !== 200) throw new Error(`no session: ${answer.status}`);
    const cookie = { name: sessionCookie, value: own.token()!, url: bench.stack.baseUrl };
    for (const { name, path, themes, viewport } of shots(runIds)) {
      for (const theme of themes) {
        const context = await browser.newContext({ viewport, colorScheme: theme, reducedMotion: "reduce" });
        await context.addCookies([{ ...cookie, httpOnly: true, sameSite: "Lax" }]);
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
