import { byteWords, countWords } from "../../ui/words.ts";

/** The shown part of the answer of GET /api/usage. */
export type UsageDocument = {
  readonly usage_period: { readonly reset_at: string };
  readonly organizations: readonly OrganizationUsage[];
};

/** The figures of one organization. */
export type OrganizationUsage = {
  readonly plan_tier: string;
  readonly limits: Readonly<Record<string, number | null>>;
  readonly usage: Readonly<Record<string, number>> & {
    /** Logical bytes of stored data; their sum is the bytes of storage. */
    readonly storage_bytes_by_kind?: Readonly<Record<string, number>>;
  };
};

const KINDS: Readonly<Record<string, string>> = {
  artifacts: "Artifacts",
  points: "Metric points",
  logs: "Console logs",
  attributes: "Attributes",
  objects: "Tables and media",
  documents: "Configs, notes and readmes",
  traces: "Traces",
  reports: "Reports and views",
};

/** How much of the storage is of one kind, in words; `share` is its part of all stored data. */
export type StorageRow = { readonly label: string; readonly used: string; readonly share: number };

/** Returns the kinds with stored data, the largest first. */
export function storageRows({ usage }: Pick<OrganizationUsage, "usage">): readonly StorageRow[] {
  const kinds = Object.entries(usage.storage_bytes_by_kind ?? {}).filter(([, bytes]) => bytes > 0);
  const total = kinds.reduce((sum, [, bytes]) => sum + bytes, 0);
  return kinds
    .toSorted(([, a], [, b]) => b - a)
    .map(([kind, bytes]) => ({ label: KINDS[kind] ?? kind, used: byteWords(bytes), share: bytes / total }));
}

/** A figure in words; `share` is the used part of the included amount, where there is a limit. */
export type UsageRow = {
  readonly label: string;
  readonly used: string;
  readonly included: string;
  readonly share: number | undefined;
};

const ROWS: readonly {
  readonly label: string;
  readonly used: string;
  readonly limit?: string;
  readonly isBytes?: true;
}[] = [
  { label: "Members", used: "seats", limit: "included_seats" },
  { label: "Projects", used: "projects", limit: "projects" },
  { label: "Runs", used: "runs", limit: "runs" },
  { label: "Metric points this month", used: "metric_points_current_period", limit: "metric_points" },
  { label: "Metric points in total", used: "metric_points_retained_total" },
  { label: "Trace events this month", used: "trace_events_current_period", limit: "trace_events" },
  { label: "Requests this month", used: "api_requests", limit: "api_requests" },
  { label: "Storage", used: "storage_bytes_for_write_gate", limit: "included_storage_bytes", isBytes: true },
  { label: "Run artifacts", used: "raw_artifacts" },
  { label: "Artifact versions", used: "artifact_versions_active" },
  { label: "Size of artifact versions", used: "versioned_artifact_bytes_active", isBytes: true },
  { label: "API keys", used: "api_keys" },
];

/** Returns the figures that are there, in the order in which a person looks for them. */
export function usageRows({ usage, limits }: OrganizationUsage): readonly UsageRow[] {
  return ROWS.flatMap(({ label, used, limit, isBytes }) => {
    const value = usage[used];
    if (value === undefined) return [];
    const most = limit === undefined ? undefined : (limits[limit] ?? undefined);
    const words = isBytes === true ? byteWords : countWords;
    return [
      {
        label,
        used: words(value),
        included: limit === undefined ? "" : most === undefined ? "no limit" : words(most),
        share: most === undefined || most === 0 ? undefined : Math.min(1, value / most),
      },
    ];
  });
}
