import { RUN_INPUTS } from "@tidemark/limits";
import { badRequest, isAppError } from "@tidemark/errors";
import type { RunInputs } from "@tidemark/proto/runs/v1/inputs";
import type { FoundRun } from "@tidemark/proto/runs/v1/runs";
import type { Call } from "@tidemark/rpc";
import { object, withDefault } from "../../../api/fields/field.ts";
import { requireMessage } from "../../../api/replies.ts";
import type { Clients } from "../../../clients.ts";
import type { Json } from "../../../http/json.ts";
import { anyText } from "../fields.ts";
import { readFilter, readOrderBy } from "../filter.rules.ts";
import { readView } from "../find.rules.ts";
import { DEFAULT_EXPERIMENT } from "../ids.ts";
import { maxResults, pageToken, readTexts } from "../pages.ts";
import type { MlflowRoute } from "../route.ts";
import { latestOfRun, readWholeRun } from "./get.ts";
import { runJson } from "./run-json.ts";
import { isListed, runConditions, runForm, runOrder } from "./search.rules.ts";

const fields = object({
  filter: withDefault(anyText(), ""),
  max_results: maxResults(1000, 50_000),
  page_token: pageToken,
});

const EXPERIMENTS_MAX = 1000;
const PAGE_BYTES_MAX = 64 * 1024 * 1024;

/** Returns the projects of experiments; a text that is not the id of one has no runs. @throws bad_request */
function projectsOf(sent: unknown): { projectNumbers: bigint[]; projectNames: string[] } {
  const ids = [...new Set(readTexts(sent, "experiment_ids"))].filter((id) => /^\d{1,15}$/.test(id));
  if (ids.length > EXPERIMENTS_MAX)
    throw badRequest(`experiment_ids must have at most ${EXPERIMENTS_MAX} items`, "experiment_ids");
  return {
    projectNumbers: ids.map(BigInt).filter((number) => number > 0n),
    projectNames: ids.includes(DEFAULT_EXPERIMENT.id) ? [DEFAULT_EXPERIMENT.name] : [],
  };
}

/** POST runs/search. A page ends early before its runs have more than 64 MiB. */
export const searchRuns: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const { filter, maxResults: limit, pageToken: cursor = "" } = fields.read(body);
  const projects = projectsOf(body["experiment_ids"]);
  const view = readView(body["run_view_type"], "run_view_type");
  const all = [...readFilter(filter, runForm).flatMap(runConditions), isListed];
  const orders = readOrderBy(readTexts(body["order_by"], "order_by"), runForm).map(runOrder);
  const request = { ...projects, query: { all, orders, view, limit, cursor } };
  const { runs: found, more } = await clients.runs.findRuns(request, call).catch((error: unknown) => {
    throw isAppError(error) && error.field === "cursor"
      ? badRequest("page_token is not of this search", "page_token")
      : error;
  });
  const runs: Json[] = [];
  let bytes = 0;
  for await (const run of wholeRuns(clients, found, call)) {
    bytes += Buffer.byteLength(JSON.stringify(run));
    if (bytes > PAGE_BYTES_MAX && runs.length > 0) break;
    runs.push(run);
  }
  const next = more || runs.length < found.length ? found[runs.length - 1]?.cursor : undefined;
  return {
    body: { ...(runs.length === 0 ? {} : { runs }), ...(next === undefined ? {} : { next_page_token: next }) },
  };
};

async function* wholeRuns(clients: Clients, found: readonly FoundRun[], call: Call): AsyncGenerator<Json> {
  for (let at = 0; at < found.length; at += RUN_INPUTS.runsMax) {
    const some = found.slice(at, at + RUN_INPUTS.runsMax);
    const used = await inputsOf(clients, some, call);
    for (const { run: summary, hidden } of some) {
      const { run: sent, metrics, runControl } = requireMessage(summary);
      const run = requireMessage(sent);
      const shown = requireMessage(metrics);
      if (Number(shown.keysTotal) > shown.keys.length) {
        yield await readWholeRun(clients, run.id, call);
        continue;
      }
      const latest = await latestOfRun(clients, { id: run.id, isHidden: hidden }, shown, call);
      const inputs = used.get(run.id);
      const seen = { displayStatus: runControl?.displayStatus, isHidden: hidden };
      yield runJson(run, latest, { ...seen, ...(inputs === undefined ? {} : { used: inputs }) });
    }
  }
}

/** Returns what runs used and made, as far as they are not deleted. */
async function inputsOf(clients: Clients, found: readonly FoundRun[], call: Call): Promise<Map<string, RunInputs>> {
  const used = new Map<string, RunInputs>();
  let runIds = found.flatMap(({ run, hidden }) => (hidden ? [] : [requireMessage(run?.run).id]));
  while (runIds.length > 0) {
    const { runs } = await clients.runs.listRunInputs({ runIds }, call).catch((error: unknown) => {
      // One was deleted a moment ago.
      if (isAppError(error) && error.reason === "not_found") return { runs: [] };
      throw error;
    });
    for (const run of runs) used.set(run.runId, run);
    if (runs.length === 0) break;
    runIds = runIds.slice(runs.length);
  }
  return used;
}
