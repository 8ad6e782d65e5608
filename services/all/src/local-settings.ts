// A laptop that does other things as well may take long to accept a connection.
const CONNECT_SECONDS = 10;

/** What the laptop start decides by itself, whatever the environment says. */
export function localSettings(port: number, databaseUrl: string, internalToken: string): Record<string, string> {
  return {
    TIDEMARK_PORT: String(port),
    TIDEMARK_DATABASE_URL: `${databaseUrl}?connect_timeout=${CONNECT_SECONDS}`,
    TIDEMARK_INTERNAL_TOKEN: internalToken,
  };
}

/** Defaults of the laptop start, where the user said nothing: no limits, only warnings in the log. */
export const localDefaults: Readonly<Record<string, string>> = {
  TIDEMARK_LIMITS: "off",
  TIDEMARK_LOG_LEVEL: "warn",
  TIDEMARK_DRAIN_SECONDS: "5",
};
