import { asOwner, type callAs, type RunsFixture } from "../runs.fixture.ts";

/** A fork request. */
export type ForkRequest = Omit<Parameters<RunsFixture["client"]["forkRun"]>[0], "$typeName">;

/** Returns helpers for tests of forks; `fixture` is called at each use, because tests start it later. */
export function forksOf(fixture: () => RunsFixture) {
  return {
    /** Forks a run, by the given client or one without plan limits. */
    fork: async (call: ReturnType<typeof callAs>, request: ForkRequest, client = fixture().client) => {
      const answer = await client.forkRun(request, call);
      const run = answer.run?.run;
      if (run === undefined) throw new Error("the answer has no run");
      return { ...answer, run, summary: answer.run };
    },
    /** Counts the children of a run. */
    childrenOf: async (runId: string): Promise<number> => {
      const [row] = await asOwner<{ n: number }>(
        fixture(),
        "SELECT count(*)::integer AS n FROM runs.runs WHERE parent_run_id = $1",
        [runId],
      );
      return row?.n ?? -1;
    },
    /** Deletes all idempotency records, as the database does after a week. */
    expireKeys: async (): Promise<void> => {
      for (const turn of [0, 1, 2]) await asOwner(fixture(), `TRUNCATE platform.idempotency_${turn}`);
    },
  };
}
