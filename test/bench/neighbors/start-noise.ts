import { join } from "node:path";
import { startLoadChild, type LoadChild } from "../load-child.ts";
import type { NoiseCommand, NoiseReport } from "./noise-process.ts";

/** Requests that go on in a separate process; `stop` ends them and returns how they went. */
export function startNoise(command: NoiseCommand): Promise<LoadChild<NoiseReport>> {
  return startLoadChild(join(import.meta.dirname, "noise-process.ts"), command);
}
