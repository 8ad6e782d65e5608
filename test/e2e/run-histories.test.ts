import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { rounds } from "@tidemark/testkit";
import fc from "fast-check";
import { linearize, met } from "../histories/linearize.ts";
import { perform } from "../histories/run-client.ts";
import { runModel, type Operation, type RunEntry } from "../histories/run-model.ts";
import { describeDeep } from "../stack/describe-with.ts";
import type { Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { runIn } from "../stack/run-control.ts";
import { startStack, type Replica, type OwnStack } from "../stack/stack.ts";

// Several clients stop, acknowledge, change, resume and read one run at the same time. All their
// answers must follow from some order of their operations.

const HISTORIES = 60;

/** An operation that is still to be done; which request an acknowledgement names depends on what was seen until then. */
type Plan = Exclude<Operation, { kind: "ack" }> | (Omit<Extract<Operation, { kind: "ack" }>, "id"> & { names: Named });
type Named = "newest" | "oldest" | "alien";

const ALIEN = "11111111-2222-4333-8444-555555555555";
const word = fc.option(fc.constantFrom("a", "b"), { nil: null });

const plan = (signals: boolean): fc.Arbitrary<Plan> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("stop" as const), reason: word }) },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant("ack" as const),
        names: fc.constantFrom<Named>("newest", "newest", "newest", "oldest", "alien"),
        state: fc.constantFrom("acknowledged" as const, "completed" as const),
        message: word,
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant("patch" as const),
        status: fc.constantFrom("running" as const, "finished" as const, "failed" as const),
      }),
    },
    { weight: 3, arbitrary: fc.constant<Plan>({ kind: "resume" }) },
    { weight: 2, arbitrary: fc.constant<Plan>({ kind: "read" }) },
    { weight: signals ? 3 : 0, arbitrary: fc.constant<Plan>({ kind: "signal" }) },
  );

const plans = (signals: boolean): fc.Arbitrary<Plan[][]> =>
  fc.array(fc.array(plan(signals), { minLength: 1, maxLength: 3 }), { minLength: 2, maxLength: 4 });

/** Lets every client do its planned operations one after another, and all clients simultaneously. */
async function play(
  clients: readonly Api[],
  runId: string,
  planned: readonly (readonly Plan[])[],
): Promise<RunEntry[]> {
  const history: RunEntry[] = [];
  const seen: string[] = [];
  let clock = 0;
  const requestNamed = (named: Named): string =>
    (named === "alien" ? undefined : seen.at(named === "newest" ? -1 : 0)) ?? ALIEN;
  const client = async (api: Api, todo: readonly Plan[]): Promise<void> => {
    for (const next of todo) {
      const operation: Operation =
        next.kind === "ack"
          ? { kind: "ack", id: requestNamed(next.names), state: next.state, message: next.message }
          : next;
      const begun = (clock += 1);
      const answer = await perform(api, runId, operation);
      history.push({ operation, answer, begun, ended: (clock += 1) });
      const id = "control" in answer ? answer.control?.id : null;
      if (typeof id === "string" && !seen.includes(id)) seen.push(id);
    }
  };
  await Promise.all(planned.map((todo, i) => client(clients[i % clients.length]!, todo)));
  return history;
}

function requireLinear(history: readonly RunEntry[]): void {
  // Signals may each lag by themselves until a change is answered, so each is judged with the changes alone.
  const changes = history.filter(({ operation }) => operation.kind !== "signal");
  const signals = history.filter(({ operation }) => operation.kind === "signal");
  for (const judged of [changes, ...signals.map((signal) => [...changes, signal])]) {
    if (linearize(judged, runModel) !== undefined) continue;
    const lines = judged.toSorted((a, b) => a.begun - b.begun).map((entry) => JSON.stringify(entry));
    throw new Error(`no order explains this history:\n${lines.join("\n")}`);
  }
}

/** Plays and judges random histories; returns how many there were in which operations met. */
async function judgeHistories(clients: readonly Api[], signals: boolean): Promise<number> {
  let meetings = 0;
  await fc.assert(
    fc.asyncProperty(plans(signals), async (planned) => {
      const runId = await runIn(clients[0]!);
      const history = await play(clients, runId, planned);
      requireLinear(history);
      if (met(history)) meetings += 1;
    }),
    // A race does not recur, so smaller cases would not help.
    { numRuns: HISTORIES, endOnFailure: true },
  );
  return meetings;
}

describeModes("histories of a run with several clients", (stack) => {
  test("are linear, and signals follow every change that was answered", async () => {
    const { api } = await stack().organization();
    expect(await judgeHistories([api], true)).toBeGreaterThan(rounds(HISTORIES) / 2);
  });
});

describeDeep("histories of a run through two gateways and control services", () => {
  let stack: OwnStack;
  let replica: Replica;
  beforeAll(async () => {
    stack = await startStack("split");
    replica = await stack.addReplica();
  });
  afterAll(() => stack?.stop());

  test("are linear", async () => {
    const { api, key } = await stack.organization();
    expect(await judgeHistories([api, replica.api.as(key)], false)).toBeGreaterThan(rounds(HISTORIES) / 2);
  });
});
