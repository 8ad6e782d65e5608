import { chunkSteps } from "./table-builder.ts";

/** Returns the chunks of a table at once. */
export function buildChunks(rows: readonly unknown[]) {
  const steps = chunkSteps(rows);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
