import { readFileSync } from "node:fs";
import { hostedPlans, parsePlans, type Plans } from "@tidemark/limits";

/** Returns the plans of this installation: the plans in the file, or the hosted ones. @throws Error that says what is wrong with the file */
export function loadPlans(file: string | undefined): Plans {
  return file === undefined ? hostedPlans : parsePlans(readFileSync(file, "utf8"));
}
