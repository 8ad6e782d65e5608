/** Languages of code; the last one is the default. */
export const LANGUAGES = [
  "python",
  "javascript",
  "typescript",
  "json",
  "yaml",
  "markdown",
  "rust",
  "bash",
  "sql",
  "plain",
] as const;
