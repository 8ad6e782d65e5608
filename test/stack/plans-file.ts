import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "@jest/globals";

/** Writes a file of plans, and returns the settings that enforce it. The file is removed after the tests of the caller. */
export function enforcedPlans(plans: object): { readonly TIDEMARK_LIMITS: "on"; readonly TIDEMARK_PLANS_FILE: string } {
  const directory = mkdtempSync(join(tmpdir(), "tidemark-plans-"));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, "plans.json");
  writeFileSync(file, JSON.stringify(plans));
  return { TIDEMARK_LIMITS: "on", TIDEMARK_PLANS_FILE: file };
}
