import { until } from "@tidemark/testkit";
import type { Stack } from "./attach.ts";
import type { Child } from "./child.ts";

/** The parts of a stack that show whether it is ready, and if not, why. */
export type Observed = Pick<Stack, "api" | "internalPorts"> & { readonly children: ReadonlyMap<string, Child> };

/**
 * Waits until all of a stack is ready, as its gateway sees it. @throws Error that says what each module answers and what its process printed
 * last
 */
export async function untilReady(stack: Observed): Promise<void> {
  try {
    await until("readiness", async () => (await stack.api.get("/readyz")).status === 200);
  } catch (error) {
    const reports = await Promise.all([...stack.internalPorts.keys()].map((module) => reportOf(stack, module)));
    throw new Error([String(error), ...new Set(reports)].join("\n"), { cause: error });
  }
}

const ANSWER_MS = 10_000;
const OUTPUT_CHARACTERS = 4000;

async function reportOf({ children, internalPorts }: Observed, module: string): Promise<string> {
  const child = children.get(module);
  const asked = fetch(`http://127.0.0.1:${internalPorts.get(module)}/readyz`, {
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  const answer = await asked.then(async (response) => `${response.status} ${await response.text()}`, String);
  return `--- ${child?.name} (process ${child?.pid}): ${answer.trim()}\n${child?.output().slice(-OUTPUT_CHARACTERS)}`;
}
