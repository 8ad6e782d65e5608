import type { Tx } from "@tidemark/pg";
import { takeRunId } from "../store/take-run-id.ts";

/** Takes a random run id for the organization, for a run that this transaction creates. */
export async function takeNewRunId(tx: Tx, newId: () => string, orgId: string): Promise<string> {
  const id = newId();
  if (!(await takeRunId(tx, orgId, id))) throw new Error(`the random run id ${id} is taken`);
  return id;
}
