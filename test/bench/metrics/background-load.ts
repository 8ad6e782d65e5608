import { join } from "node:path";
import { startLoadChild, type LoadChild } from "../load-child.ts";
import type { LoadCommand, LoadReport } from "./load-process.ts";

/** Writes that go on in a separate process; `stop` ends them and returns how they went. */
export function startBackgroundLoad(command: LoadCommand): Promise<LoadChild<LoadReport>> {
  return startLoadChild(join(import.meta.dirname, "load-process.ts"), command);
}
