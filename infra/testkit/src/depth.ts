/** The variable that says how deep a test run goes. The test command sets it. */
export const depthVariable = "TIDEMARK_TEST_DEPTH";

/** Whether this is a deep run (`npm test -- --deep`): all rounds, examples and modes. Otherwise tests do what a change needs. */
export const isDeep = process.env[depthVariable] === "deep";

/** Major version of the PostgreSQL that tests start: a deep run tests the oldest that is supported (docs/adr/0002). */
export const postgresMajor = isDeep ? 15 : undefined;

/**
 * Returns how often to repeat something: rounds of a failure test, cases of a property, examples of Schemathesis.
 * A deep run does all of them, another one a share of them, and at least one.
 */
export function rounds(all: number): number {
  return isDeep ? all : Math.max(1, Math.ceil(all * SHARE));
}

const SHARE = 0.2;
