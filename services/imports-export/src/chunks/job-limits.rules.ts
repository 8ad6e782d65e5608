import { badRequest } from "@tidemark/errors";
import { IMPORT_LIMITS } from "@tidemark/limits";
import type { ImportWarning } from "../content/content.rules.ts";

/** The amounts that a job has, or that are added to it. */
export type JobSize = {
  readonly chunks: number;
  readonly runs: number;
  readonly metrics: number;
  readonly attributes: number;
  readonly artifacts: number;
  readonly bytes: number;
};

/** Refuses content that would make a job too large (contract of imports). @throws bad_request */
export function requireRoom(job: JobSize, added: JobSize): void {
  const limits: Record<keyof JobSize, number> = {
    chunks: IMPORT_LIMITS.chunksOfJobMax,
    runs: IMPORT_LIMITS.runsOfJobMax,
    metrics: IMPORT_LIMITS.pointsOfJobMax,
    attributes: IMPORT_LIMITS.attributesOfJobMax,
    artifacts: IMPORT_LIMITS.artifactsOfJobMax,
    bytes: IMPORT_LIMITS.bytesOfJobMax,
  };
  const names: Record<keyof JobSize, string> = {
    chunks: "chunks",
    runs: "runs",
    metrics: "metric points",
    attributes: "attributes",
    artifacts: "artifact references",
    bytes: "staged bytes",
  };
  for (const what of Object.keys(limits) as (keyof JobSize)[]) {
    if (job[what] + added[what] > limits[what]) {
      throw badRequest(`a job must have at most ${limits[what]} ${names[what]}`);
    }
  }
}

/** Limits of the warnings that a job keeps, and that lists show, with the characters of their texts. */
const KEPT = { max: 200, characters: 1024 };
const LISTED = { max: 20, characters: 256 };

/** Returns the warnings of a job after more have been added, as JSON texts: the kept ones, and those that lists show. */
export function addWarnings(
  before: string,
  added: readonly ImportWarning[],
): { readonly warnings: string; readonly firstWarnings: string } {
  const all = [...(JSON.parse(before) as ImportWarning[]), ...added];
  return {
    warnings: JSON.stringify(cutWarnings(all)),
    firstWarnings: JSON.stringify(cutWarnings(all, LISTED)),
  };
}

/** Returns the warnings that a job may keep. */
export function cutWarnings(
  warnings: readonly ImportWarning[],
  { max, characters }: typeof KEPT = KEPT,
): readonly ImportWarning[] {
  const short = (text: string): string => (text.length <= characters ? text : text.slice(0, characters).toWellFormed());
  return warnings.slice(0, max).map(({ code, message }) => ({ code: short(code), message: short(message) }));
}
