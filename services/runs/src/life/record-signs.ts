import { badRequest } from "@tidemark/errors";
import { SIGNS_OF_LIFE_MAX } from "@tidemark/limits";
import { isUuid } from "@tidemark/requests";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { recordSigns } from "./signs-of-life.sql.ts";

/** Records signs of life of runs that a gateway collected; skips runs that do not exist. @throws bad_request for too many */
export function recordSignsOfLife({ db, staleness }: RunsDeps): RunsHandlers["recordSignsOfLife"] {
  return async ({ signs }) => {
    if (signs.length > SIGNS_OF_LIFE_MAX) throw badRequest(`at most ${SIGNS_OF_LIFE_MAX} signs of life`, "signs");
    const known = signs
      .filter(({ orgId, runId }) => isUuid(orgId) && isUuid(runId))
      .map(({ orgId, runId, ageMs }) => ({ orgId, runId, seenAt: staleness.ago(Number(ageMs)) }));
    if (known.length > 0) await recordSigns(db, known);
    return {};
  };
}
