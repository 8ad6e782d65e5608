import { join } from "node:path";

/** What the laptop start decides by itself; a variable of the user's own wins. */
export function localSettings(options: {
  port: number;
  databaseUrl: string;
  dataDirectory: string;
  internalToken: string;
}): Record<string, string> {
  return {
    TIDEMARK_PORT: String(options.port),
    TIDEMARK_DATABASE_URL: options.databaseUrl,
    TIDEMARK_INTERNAL_TOKEN: options.internalToken,
    TIDEMARK_BLOB_DIRECTORY: join(options.dataDirectory, "artifacts"),
  };
}

/** Defaults of the laptop start, where the user said nothing: no limits, only warnings in the log. */
export const localDefaults: Readonly<Record<string, string>> = {
  TIDEMARK_LIMITS: "off",
  TIDEMARK_LOG_LEVEL: "warn",
  TIDEMARK_DRAIN_SECONDS: "5",
};
