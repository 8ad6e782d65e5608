import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Surroundings } from "./surroundings.ts";

/** The fixtures of packages/import-formats. */
export const fixturesFolder = join(import.meta.dirname, "../../packages/import-formats/fixtures");

/** What a command printed, and where it keeps its state. */
export type Recorded = Surroundings & { readonly printed: string[]; readonly reported: string[] };

/** Surroundings that remember what was printed; their clock advances by a second with each look, and waits end immediately. */
export function recordedSurroundings(more: Partial<Surroundings> = {}): Recorded {
  const [printed, reported]: [string[], string[]] = [[], []];
  let now = Date.now();
  return {
    env: {},
    print: (line) => void printed.push(line),
    report: (text) => void reported.push(text),
    isTerminal: false,
    signal: new AbortController().signal,
    now: () => (now += 1000),
    wait: () => Promise.resolve(),
    stateFolder: temporaryFolder(),
    ...more,
    printed,
    reported,
  };
}

/** A new folder. */
export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), "tidemark-cli-"));
}
