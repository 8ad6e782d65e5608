import { finish } from "@tidemark/testkit";
import { chunkSteps } from "./table-builder.ts";

/** Returns the chunks of a table without a pause. */
export function buildChunks(rows: readonly unknown[]) {
  return finish(chunkSteps(rows));
}
