/** A column of parallel coordinates: of a metric or of a key of the config. */
export type Dimension = { readonly metric_key?: string; readonly config_key?: string };

/** A panel of a grid; an unknown panel is shown by its type. */
export type Panel = {
  readonly type: string;
  readonly runset_index?: number;
  readonly metric_key?: string;
  /** Of a bar chart that shows a number of the config. */
  readonly config_key?: string;
  readonly agg?: "min" | "max" | "mean" | "latest" | "best";
  /** Of charts of what runs logged as objects. */
  readonly object_key?: string;
  readonly view?: "ridges" | "heat";
  readonly run_ids?: readonly string[];
  readonly fields?: readonly string[];
  /** Of a scatter plot. */
  readonly x_metric?: string;
  readonly y_metric?: string;
  /** Of parallel coordinates. */
  readonly dimensions?: readonly Dimension[];
  readonly text?: string;
  readonly code?: string;
  readonly url?: string;
};

/** The runs of panels: those that are pinned, else the newest of the projects. */
type Runset = {
  readonly name: string;
  readonly projects: readonly string[];
  readonly pinned_run_ids?: readonly string[] | null;
};

/** A part of a report, as the API stores it. */
export type Block =
  | { readonly kind: "heading"; readonly level: number; readonly text: string }
  | { readonly kind: "paragraph" | "markdown"; readonly text: string }
  | { readonly kind: "code"; readonly code: string; readonly language?: string }
  | { readonly kind: "callout"; readonly text: string; readonly variant?: "info" | "warn" | "success" }
  | { readonly kind: "horizontal_rule" }
  | { readonly kind: "image"; readonly url: string; readonly caption?: string }
  | {
      readonly kind: "panel_grid";
      readonly runsets: readonly Runset[];
      readonly panels: readonly Panel[];
      readonly caption?: string;
    }
  | { readonly kind: "llm_summary"; readonly generated_text?: string };

/** A report with its blocks. */
export type Report = {
  readonly id: string;
  readonly org_id?: string;
  readonly project_id: string | null;
  readonly title: string;
  readonly description: string | null;
  readonly blocks: readonly Block[];
  readonly updated_at: string;
  readonly share_token?: string | null;
  readonly share_token_issued_at: string | null;
  /** What the share link opens, for those who share it and for its holders. */
  readonly share_extent?: "blocks" | "data";
  readonly share_frozen?: boolean;
  readonly visibility: "private" | "org" | "public";
};

/** A report in a list. */
export type ReportSummary = {
  readonly id: string;
  readonly title: string;
  readonly description: string | null;
  readonly visibility: string;
  readonly has_share_token: boolean;
  readonly updated_at: string;
  readonly block_count: number;
};
