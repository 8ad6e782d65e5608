/** What a newcomer needs after the start. */
export type BannerFacts = {
  version: string;
  baseUrl: string;
  key: string;
  keyFile: string;
  dataDirectory: string;
  /** How it runs: one line. */
  mode: string;
  seconds: number;
};

/** The text that ends the start: where, with what, and a first request that works when pasted. */
export function banner(facts: BannerFacts): string {
  return `
Tidemark is ready (${facts.seconds.toFixed(1)} s). ${facts.mode}

  API        ${facts.baseUrl}
  API key    ${facts.key}
             (kept in ${facts.keyFile}; scopes sdk:ingest, export:read, runs:control)
  Data       ${facts.dataDirectory}
  Version    ${facts.version}
  Reference  ${facts.baseUrl}/openapi.json

Create a first run:

  curl -s -X POST ${facts.baseUrl}/runs -H "Authorization: Bearer ${facts.key}" -H "Content-Type: application/json" -d '{"project": "demo", "config": {"lr": 0.001}}'

From Python (pip install instantml):

  export INSTANTML_API_BASE_URL=${facts.baseUrl} INSTANTML_API_KEY=${facts.key}

Rate and plan limits are off here (TIDEMARK_LIMITS=on switches them on). Ctrl-C stops everything.
`;
}
