import type { Answer, Api } from "./client.ts";
import { asOperator } from "./people.ts";
import type { Stack } from "./stack.ts";

/** Creates a running run and returns its id. */
export async function runIn(api: Api, project = "default"): Promise<string> {
  const made = await api.post("/runs", { project });
  if (made.status !== 200) throw new Error(`no run: ${made.status} ${made.text}`);
  return made.json.run.id as string;
}

/** Asks a run to stop and returns the request's id. */
export async function stopOf(api: Api, runId: string, reason?: string): Promise<string> {
  const answer = await api.post(`/api/runs/${runId}/stop`, { reason });
  if (answer.status !== 200) throw new Error(`no stop: ${answer.status} ${answer.text}`);
  return answer.json.run_control.stop_request_id as string;
}

/** Returns the stop signal that a run's training process gets. */
export async function signalOf(api: Api, runId: string): Promise<Answer> {
  return api.get(`/api/runs/${runId}/stop-signal`);
}

/** A caller with a key that is bound to a project, which is made if it is missing. */
export async function projectKey(stack: Stack, orgId: string, project: string, scopes: string[]): Promise<Api> {
  const operator = asOperator(stack);
  const wide = await stack.api.post(`/api/orgs/${orgId}/api-keys`, { scopes: ["sdk:ingest"] }, operator);
  await stack.api.as(wide.json.api_key).post("/projects", { name: project });
  const made = await stack.api.post(`/api/orgs/${orgId}/api-keys`, { scopes, project }, operator);
  if (made.status !== 200) throw new Error(`no key: ${made.status} ${made.text}`);
  return stack.api.as(made.json.api_key);
}

/** The statuses that occur. */
export function statusesOf(answers: readonly Answer[]): number[] {
  return [...new Set(answers.map(({ status }) => status))];
}
