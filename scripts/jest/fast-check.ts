import { rounds } from "@tidemark/testkit";
import * as fastCheck from "fast-check";

/**
 * fast-check with `numRuns` as the number of cases in a deep run; another run makes a share of them. Tests that import `fast-check` get this.
 */
const scaled = <T>(parameters: fastCheck.Parameters<T> = {}): fastCheck.Parameters<T> => ({
  ...parameters,
  numRuns: rounds(parameters.numRuns ?? CASES),
});

/** The default of `numRuns`. */
const CASES = 500;

const assert = ((property: fastCheck.IProperty<unknown>, parameters?: fastCheck.Parameters<unknown>) =>
  fastCheck.assert(property, scaled(parameters))) as typeof fastCheck.assert;

export * from "fast-check";
export { assert };
export default { ...fastCheck, assert };
