/**
 * Makes an error whose message is one line for the person at the terminal: what is wrong, and what to do. A program that
 * starts Tidemark prints exactly this line and exits with 1; any other error is a defect and keeps its stack.
 *
 * @param {string} message one line, without the name of the program
 * @param {unknown} [cause]
 * @returns {Error}
 */
export const startError = (message, cause) => {
  const error = new Error(message, cause === undefined ? undefined : { cause });
  error.name = "StartError";
  return error;
};

/**
 * Whether an error is one of {@link startError}. Decided by name, so that it works across realms and copies of this package.
 *
 * @param {unknown} error
 * @returns {error is Error}
 */
export const isStartError = (error) =>
  typeof error === "object" && error !== null && "name" in error && error.name === "StartError";
