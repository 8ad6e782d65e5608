import { badRequest, notFound } from "@tidemark/errors";
import { canonicalUuid } from "../../api/fields/text.ts";

/** The experiment of runs that name none. */
export const DEFAULT_EXPERIMENT = { id: "0", name: "Default" } as const;

const shape = /^([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/i;

/** Returns the id of a run as services have it. MLflow writes it without dashes. @throws bad_request without one, not_found for other texts */
export function readRunId(fields: Readonly<Record<string, unknown>>): string {
  const sent = fields["run_id"] ?? fields["run_uuid"];
  if (typeof sent !== "string" || sent === "") throw badRequest("run_id is required", "run_id");
  const id = runUuid(sent);
  if (id === undefined) throw notFound("run");
  return id;
}

/** Returns the id of a run as services have it; undefined for other texts. */
export function runUuid(text: string): string | undefined {
  return canonicalUuid(shape.exec(text)?.slice(1).join("-"));
}

/** Returns the id of a run as MLflow writes it. */
export function mlflowRunId(id: string): string {
  return id.replaceAll("-", "");
}

/** Returns the id of an experiment: the number of the project, or "0". */
export function experimentIdOf(project: string, number: bigint): string {
  return project === DEFAULT_EXPERIMENT.name ? DEFAULT_EXPERIMENT.id : String(number);
}

/** Reads the id of an experiment. @throws bad_request without one, not_found for a text that is not a number */
export function readExperimentId(sent: unknown): bigint {
  const text = typeof sent === "number" ? String(sent) : sent;
  if (typeof text !== "string" || text === "") throw badRequest("experiment_id is required", "experiment_id");
  if (!/^\d{1,15}$/.test(text)) throw notFound("experiment");
  return BigInt(text);
}
