/*
 * Limits of the API that more than one process needs (API specification, Limits): the gateway refuses what exceeds them and shows them in
 * its schemas, and a service, which any gRPC client can call, refuses or bounds by the same numbers. A limit that only one process needs
 * is defined there. All are in one file, because that is where one looks for them.
 */

export { jsonBytes } from "./json-bytes.ts";

/** Rows of a page that is counted from the start of its list: projects, users, organizations, keys, seats. */
export const PAGE_ROWS = { default: 100, max: 1000 } as const;

/** Returns whether no project may have a name, because `project=all` asks for all projects: `all`, in any case and with any blanks around it. */
export function isReservedProjectName(name: string): boolean {
  return name.trim().toLowerCase() === "all";
}

/** Why such a name is refused. */
export const RESERVED_PROJECT_NAME = "a project must not be called all, because that means all projects";

/** Rows of a page of invitations. */
export const INVITATIONS_PAGE_ROWS = { default: 100, max: 200 } as const;

/** Runs of a page. */
export const RUNS_PAGE_ROWS = { default: 100, max: 1000 } as const;

/** Most bytes of the readme of a run. */
export const README_BYTES_MAX = 65_536;

/** What runs used and made: rows of one request, rows of a run of each kind, bytes of its datasets, runs that are read together. */
export const RUN_INPUTS = { together: 100, ofRunMax: 1000, datasetBytesMax: 4 * 1024 * 1024, runsMax: 100 } as const;

/** Most bytes of the texts of a dataset. */
export const DATASET_BYTES = {
  name: 2048,
  digest: 256,
  sourceType: 256,
  source: 65_536,
  schema: 1024 * 1024,
  profile: 1024 * 1024,
} as const;

/** Tags that are pairs of texts: their number, and bytes of each. */
export const TEXT_TAGS = { max: 100, keyBytesMax: 1024, valueBytesMax: 32_768 } as const;

/** Bounds of one bulk update: runs in all, and runs that change together or not at all. */
export const BULK_UPDATE = { runsMax: 10_000, together: 100 } as const;

/** Signs of life of runs in one report of a gateway. */
export const SIGNS_OF_LIFE_MAX = 1000;

/** Rows of a page of keys of a project. */
export const KEYS_PAGE_ROWS = { default: 100, max: 1000 } as const;

/** The orders of a run list (API specification, GET /runs); the first one is the default. */
export const RUN_SORTS = ["created", "name", "status", "duration", "metric-latest", "metric-best"] as const;

/** Most metric keys of each run in a list. */
export const LIST_METRIC_KEYS_MAX = 250;

/** Most metric keys of a page of one run; also the default. */
export const RUN_METRIC_KEYS_MAX = 1000;

/** Most runs of a workspace view. */
export const VIEW_RUNS_MAX = 100;

/** Most panels of a workspace view, which is also the bound of its metric keys. */
export const VIEW_PANELS = { default: 20, max: 50 } as const;

/** Points of each series of a workspace view. */
export const VIEW_POINTS = { default: 500, max: 500 } as const;

/** Most runs of one comparison. */
export const COMPARED_RUNS_MAX = 50;

/** Most runs of one bulk stop, repeated ids counted. */
export const STOP_RUNS_MAX = 100;

/** Most keys of one `metrics` object. */
export const METRIC_KEYS_MAX = 1000;

/** Points of one series; more may be asked for, and counts as the most. */
export const SERIES_POINTS = { default: 1000, max: 5000 } as const;

/** Most metric keys whose series are read together. */
export const SERIES_KEYS_MAX = 50;

/** Most names that runs are grouped by, or that are left out. */
export const GROUP_NAMES_MAX = 20;

/** Most statistics of a group. */
export const GROUP_STATS_MAX = 10;

/** The name of a statistic; the part in parentheses is the percentage of a quantile. */
export const GROUP_STAT_SHAPE = /^(?:mean|std|min|max|count|p(\d{1,2}(?:\.\d{1,3})?|100))$/;

/** Most console lines of one request. */
export const LOG_LINES_MAX = 50;

/** Most ranks of a distributed job. */
export const WORLD_SIZE_MAX = 512;

/** Bounds of a summary of rank metrics, as its answer names them. */
export const RANK_SUMMARY = {
  /** Most (step, rank) pairs. */
  rowsMax: 65_536,
  heatmapCellsMax: 16_384,
  outliersMax: 20,
  /** The missing ranks of a step are listed up to this world size. */
  namedWorldMax: 128,
} as const;

/** The types of plain artifacts; the first one is the default. */
export const ARTIFACT_TYPES = ["file", "checkpoint", "rollout"] as const;

/** The types of collections; the first one is the default. */
export const COLLECTION_TYPES = ["file", "model", "dataset", "checkpoint", "table", "media"] as const;

/** Returns the public address of an artifact whose bytes are here. */
export function artifactUri(artifactId: string): string {
  return `instantml://artifacts/${artifactId}`;
}

/** Rows of the list of a run's artifacts. */
export const ARTIFACTS_ROWS = { default: 100, max: 1000 } as const;

/** Rows of a page of collections. */
export const COLLECTIONS_PAGE_ROWS = { default: 100, max: 500 } as const;

/** Rows of a page of versions, and of a page of a manifest. */
export const VERSIONS_PAGE_ROWS = { default: 100, max: 1000 } as const;

/** Runs in the lineage of a version. */
export const LINEAGE_RUNS = { default: 200, max: 200 } as const;

/** Edges between a version and the farthest nodes of its graph, on each side. */
export const GRAPH_HOPS = { default: 4, max: 10 } as const;

/** Neighbors of a node of a graph of versions and runs. */
export const GRAPH_NEIGHBORS = { default: 20, max: 100 } as const;

/** Most nodes of a graph of versions and runs. */
export const GRAPH_NODES_MAX = 200;

/** Most entries of a manifest, and files of an upload. */
export const MANIFEST_ENTRIES_MAX = 1000;

/** Most bytes of the path of an entry. */
export const ENTRY_PATH_BYTES_MAX = 1024;

/** Most bytes of an entry: 5 TiB. */
export const ENTRY_BYTES_MAX = 5 * 1024 ** 4;

/** Most parts of an upload that are listed or renewed at a time. */
export const PARTS_PER_ANSWER_MAX = 256;

/** Most parts of one file. */
export const PARTS_PER_FILE_MAX = 10_000;

/** Most aliases that an upload sets. */
export const UPLOAD_ALIASES_MAX = 100;

/** An alias of a version; `latest` and `v` with a number are taken. */
export const ALIAS_SHAPE = /^[a-z0-9_.-]{1,64}$/;

/** The alias that is computed, and the names of versions, which no client sets. */
export const RESERVED_ALIAS_SHAPE = /^(?:latest|v\d+)$/;

/** Days after which a version may expire. */
export const TTL_DAYS = { min: 1, max: 3650 } as const;

/** How long versions are kept; the first one is the default. */
export const RETENTION_MODES = ["inherit", "days", "keep_forever", "none"] as const;

/** Bounds of logged models: rows of a page, projects of a search, files and metrics of a model, points of a request, bytes. */
export const MODELS = {
  pageMax: 1000,
  projectsMax: 1000,
  filesMax: MANIFEST_ENTRIES_MAX,
  metricsMax: 1000,
  pointsMax: 1000,
  nameBytesMax: 1024,
  typeBytesMax: 1024,
  /** Params and tags of a model, or tags of a registered model or a version, as JSON. */
  textBytesMax: 1024 * 1024,
} as const;

/** Bounds of the model registry: rows of a page, characters of an alias, bytes. */
export const REGISTRY = {
  pageMax: 1000,
  nameBytesMax: 512,
  aliasCharactersMax: 255,
  descriptionBytesMax: 65_536,
  sourceBytesMax: 8192,
} as const;

/** The stages of a registered version; the first one is the default. */
export const MODEL_STAGES = ["none", "staging", "production", "archived"] as const;

/** Most objects that are reserved at a time. */
export const RESERVED_OBJECTS_MAX = 64;

/** Most bytes of texts of a client's choice in one page of a list, as the JSON of the answer has them (16 MiB). */
export const PAGE_BYTES_MAX = 16 * 1024 * 1024;

/** Bytes of texts of a client's choice after which a batch of rows ends that a service reads from another (4 MiB). */
export const BATCH_BYTES = 4 * 1024 * 1024;

/** The types of attributes. */
export const ATTRIBUTE_TYPES = [
  "config",
  "float_series",
  "string_series",
  "file",
  "file_series",
  "histogram_series",
  "tag",
] as const;

/** Rows of a page of attributes. */
export const ATTRIBUTES_PAGE_ROWS = { default: 1000, max: 5000 } as const;

/** The kinds of objects whose value is a file. */
export const MEDIA_KINDS = ["image", "video", "audio"] as const;

/** The kinds of objects. */
export const OBJECT_KINDS = ["table", ...MEDIA_KINDS, "histogram", "classification_eval"] as const;

/** Rows of a page of a run's objects. */
export const OBJECTS_PAGE_ROWS = { default: 100, max: 500 } as const;

/** Rows of a page of objects of many runs. */
export const EXPLORER_PAGE_ROWS = { default: 50, max: 100 } as const;

/** Most runs of a search that the objects of many runs are narrowed by. */
export const EXPLORER_RUNS_MAX = 100;

/** Most bytes of the part of a key by which the objects of many runs are narrowed. */
export const EXPLORER_KEY_BYTES_MAX = 128;

/** Most runs whose objects are read side by side. */
export const OBJECTS_SIDE_BY_SIDE_RUNS_MAX = 100;

/** Most objects that are read side by side: runs times keys. This many fit in a page even when all are as large as they may be. */
export const OBJECTS_SIDE_BY_SIDE_MAX = 100;

/** Keys of objects that are found in runs, the same key of several runs as often as it has runs. */
export const OBJECT_KEYS_FOUND_MAX = 5000;

/** Objects whose steps are read for the keys of runs. */
export const OBJECT_STEPS_READ_MAX = 50_000;

/** Most bytes of the value of an object, and of a histogram that is an attribute, as JSON. */
export const OBJECT_VALUE_BYTES_MAX = 65_536;

/** Most bytes of the metadata of an object, and of its summary, as JSON. */
export const OBJECT_DOCUMENT_BYTES_MAX = 16_384;

/** Rows of a table that one request sends. */
export const TABLE_ROWS_MAX = 1000;

/** Most rows of a table. */
export const TABLE_ROWS_TOTAL_MAX = 100_000;

/** Most bytes of the cells of a table that is sorted or filtered. */
export const TABLE_SORTED_BYTES_MAX = 256 * 1024 * 1024;

/** Bounds of the filter of rows of a table. */
export const TABLE_FILTER = { bytesMax: 512, conditionsMax: 32 } as const;

/** Most columns of a row of a table. */
export const TABLE_COLUMNS_MAX = 128;

/** Most bytes of a row of a table as JSON. */
export const TABLE_ROW_BYTES_MAX = 16_384;

/** Rows that are stored, and read, together. */
export const TABLE_CHUNK_ROWS = 100;

/** Rows of a page of a table. */
export const TABLE_PAGE_ROWS = { default: 100, max: 1000 } as const;

/** Most counts of a histogram. */
export const HISTOGRAM_COUNTS_MAX = 1024;

/** Bounds of a classification evaluation. */
export const EVALUATION = {
  classNameBytesMax: 128,
  samplesMax: 1_000_000,
  curvePointsMax: 200,
  predictionsMax: 100,
  predictionBytesMax: 2048,
  textBytesMax: 1024,
  /** The value itself is level 1. */
  depthMax: 8,
} as const;
/** Limits of traces (API specification, Limits). */
export const TRACE_LIMITS = {
  /** Most events of one request with an idempotency key. */
  eventsMax: 500,
  /** Most spans that a telemetry exporter sends in one request, which needs no key. */
  exportedSpansMax: 4096,
  keyBytesMax: 200,
  /** Most bytes of names and other short texts in UTF-8. */
  textBytesMax: 512,
  attributesBytesMax: 32 * 1024,
  metricsBytesMax: 16 * 1024,
  linksBytesMax: 16 * 1024,
  previewBytesMax: 4 * 1024,
  /** How far an end may lie before its start, in microseconds: clocks of two machines differ. */
  skewUsMax: 1_000_000,
  /** Most spans of one trace. */
  spansMax: 250_000,
  /** A trace with more spans counts as truncated. */
  wholeSpansMax: 100_000,
  searchBytesMax: 512,
  searchTermsMax: 8,
  /** Days that the list of a project goes back by default. */
  listDays: 7,
} as const;

/** Rows of a page of traces. */
export const TRACES_PAGE_ROWS = { default: 50, max: 200 } as const;

/** Most runs whose traces one list has, where they are named one by one. */
export const TRACES_RUNS_MAX = 50;

/** What lists of traces are sorted by, the highest first; the first one is the default. */
export const TRACE_SORTS = ["started", "duration", "tokens", "cost"] as const;

/** The newest traces among which a list finds the highest of another figure than the start. */
export const TRACES_SORTED_MAX = 10_000;

/** Roots that the detail of a trace shows. */
export const TRACE_ROOTS = { default: 500, max: 1000 } as const;

/** Rows of a page of spans. */
export const SPANS_PAGE_ROWS = { default: 100, max: 500 } as const;

/** Kinds of spans; the first one is number 1 of `tidemark.traces.v1.SpanKind`. */
export const SPAN_KINDS = [
  "rollout",
  "env_step",
  "model",
  "tool",
  "retrieval",
  "reward",
  "evaluator",
  "dataset",
  "preprocessing",
  "postprocessing",
  "checkpoint",
  "artifact",
  "system",
  "custom",
] as const;

/** Statuses of spans and traces; the first one is number 1 of `tidemark.traces.v1.SpanStatus`. */
export const SPAN_STATUSES = ["running", "ok", "error", "cancelled", "interrupted"] as const;

/** Which spans of a whole trace may be listed, apart from the children of one: see `GET …/spans`. */
export const SPAN_SELECTIONS = ["orphans", "failed", "slowest", "path"] as const;

/** Kinds of trace events; the first one is number 1 of `tidemark.traces.v1.EventKind`. */
export const TRACE_EVENT_KINDS = ["started", "updated", "finished", "exception", "interrupted"] as const;

/** States of inputs and outputs; the first one, the default, is number 1 of `tidemark.traces.v1.RedactionState`. */
export const REDACTION_STATES = ["not_captured", "redacted", "truncated", "captured"] as const;
/** Rows of a page of reports. */
export const REPORTS_PAGE_ROWS = { default: 50, max: 200 } as const;

/** Who may read a report: readers of the organization, or anyone; the first one is the default. Both `private` and `org` mean the organization. */
export const REPORT_VISIBILITIES = ["private", "org", "public"] as const;

/** What a share link opens: the blocks of the report, or also the data of its panels; the first one is the default. */
export const SHARE_EXTENTS = ["blocks", "data"] as const;

/** What a share link opens. */
export type ShareExtent = (typeof SHARE_EXTENTS)[number];

/** Most bytes of data that are kept with a share link. */
export const FROZEN_DATA_BYTES_MAX = 4 * 1024 * 1024;

/** Rows of a page of panels of reports. */
export const PANELS_PAGE_ROWS = { default: 1000, max: 1000 } as const;

/** Rows of a page of workspace views. */
export const VIEWS_PAGE_ROWS = { default: 50, max: 100 } as const;

/** Most bytes of the payload of a workspace view, as compact JSON. */
export const VIEW_PAYLOAD_BYTES_MAX = 64 * 1024;

/** Most workspace views that are not deleted, of one user in one organization, and of an organization. */
export const VIEWS_MAX = { ofUser: 200, ofOrganization: 1000 } as const;

/** Who reads a workspace view: its owner, or every member of the organization; the first one is the default. */
export const VIEW_VISIBILITIES = ["private", "organization"] as const;

/** Who reads a workspace view. */
export type ViewVisibility = (typeof VIEW_VISIBILITIES)[number];

/** How a view is imported; the first one is the default. */
export const IMPORT_STRATEGIES = ["create", "replace"] as const;

/** Keys that no payload of a view may have at any depth, because they reach prototypes. */
export const FORBIDDEN_KEYS = ["__proto__", "prototype", "constructor"] as const;

/** The themes of an embed session; the last one is the default. */
export const EMBED_THEMES = ["light", "dark", "system"] as const;

/** Seconds that an embed session lives. */
export const EMBED_TTL_SECONDS = { min: 60, max: 3600, default: 900 } as const;

/** Panels of an embed session. */
export const EMBED_PANELS = { default: 8, max: 8 } as const;

/** Limits of import jobs (API specification, Imports). */
export const IMPORT_LIMITS = {
  /** Most bytes of a decoded chunk (16 MiB). */
  chunkBytesMax: 16 * 1024 * 1024,
  /** Most runs that are stored together. A chunk may have as many as its job. */
  runsTogetherMax: 1000,
  pointsOfChunkMax: 50_000,
  attributesOfChunkMax: 25_000,
  artifactsOfChunkMax: 10_000,
  warningsOfChunkMax: 200,
  /** Most characters (Unicode code points) of a text or a key. */
  textCharactersMax: 8192,
  chunksOfJobMax: 500,
  runsOfJobMax: 50_000,
  pointsOfJobMax: 1_000_000,
  attributesOfJobMax: 250_000,
  artifactsOfJobMax: 100_000,
  /** Most bytes of all chunks of a job as they are staged (2 GiB). */
  bytesOfJobMax: 2 * 1024 ** 3,
  /** Jobs of the list. */
  listedMax: 500,
} as const;

/** Bounds of archives that are restored. */
export const RESTORE_LIMITS = {
  /** Most bytes of decoded archives that an organization has staged (64 GiB). */
  archiveBytesMax: 64 * 1024 ** 3,
  /** A piece ends at the first line end from this many bytes on (1 MiB). */
  pieceBytesMin: 1024 * 1024,
  /** Most lines of a piece, blank ones included: the shortest line of a known type that says something has 32 bytes or more. */
  pieceLinesMax: 32_768,
  /** A gzip body may expand to a bounded multiple of its size, and to `expansionFreeBytes` regardless of size; archives of real data expand 5 to 30 times. */
  expansionMax: 256,
  expansionFreeBytes: 16 * 1024 * 1024,
  /** Most ids that are checked together for being taken. */
  idsTogetherMax: 1000,
  /** Most characters of the name of a request to an owner, by which it is stored once. */
  nameCharactersMax: 200,
  /** Hours for which staged data and the answers of restores are kept. */
  keptHours: 24,
} as const;

/** States of import jobs; the last one is for imports without a job. */
export const IMPORT_STATUSES = [
  "created",
  "uploading",
  "dry_run_ready",
  "committing",
  "committed",
  "failed",
  "cancelled",
  "completed",
] as const;

/** Bounds of an export of runs. */
export const EXPORT_LIMITS = {
  /** Most runs of a filter. */
  runs: 500,
  /** Most runs that are named. */
  selectedRunIds: 100,
  metrics: 100_000,
  metricSeries: 25_000,
  /** Objects count among them. */
  attributes: 25_000,
  artifacts: 10_000,
  tableObjectRows: 25_000,
  imports: 500,
  /** 25 MiB. */
  csvBytes: 26_214_400,
} as const;

/** Credentials, and what leads to them. */
export const ACCOUNT_LIMITS = {
  /** Keys of an organization that are neither revoked nor expired. */
  liveKeysMax: 1000,
  /** Organizations that one person may create or be in. */
  organizationsMax: 100,
  /** Sessions of a member in an organization; a further one ends the oldest. */
  liveSessionsMax: 100,
  /** Invitations of an organization that wait for their people, where the plan does not bound its seats. */
  pendingInvitationsMax: 1000,
} as const;
