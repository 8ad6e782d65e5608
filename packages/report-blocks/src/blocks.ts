import { LANGUAGES } from "./languages.ts";
import {
  filledText,
  isObject,
  listOf,
  objectOf,
  oneOf,
  taggedBy,
  text,
  whole,
  type Schema,
  type Shape,
  mapOf,
  someOf,
  truth,
  type Members,
} from "./shape.ts";

/** The figures of a metric that a scalar panel can show; the last one is the default. */
const AGGREGATES = ["min", "max", "mean", "latest"] as const;

/** A panel names the runset of its grid that it shows, the first one unless said. Whether there is one is not checked. */
const anyPanel: Members = { runset_index: whole(0) };

const panel = (required: Members, optional: Members = {}) => objectOf(required, { ...anyPanel, ...optional });

/** The figures of a metric that bars can show; the first one is the default. */
const BAR_FIGURES = ["latest", "best", "min", "max", "mean"] as const;

/** How histograms of several steps are drawn; the first one is the default. */
const HISTOGRAM_VIEWS = ["ridges", "heat"] as const;

const dimension = someOf(
  [
    objectOf({ metric_key: filledText }, { config_key: filledText }),
    objectOf({ config_key: filledText }, { metric_key: filledText }),
  ],
  "needs a metric_key or a config_key",
);

const barMembers: Members = { metric_key: filledText, config_key: filledText, agg: oneOf(...BAR_FIGURES) };
const barOfMetric = panel({ metric_key: filledText }, barMembers);
const barOfConfig = panel({ config_key: filledText }, barMembers);

/** Bars of a figure of a metric, or of a number of the config. Of both, the metric is shown. */
const bar: Shape = {
  schema: { anyOf: [barOfMetric.schema, barOfConfig.schema] },
  faultOf: (value, path) => {
    const { metric_key: metric, config_key: config } = value as Readonly<Record<string, unknown>>;
    const [hasMetric, hasConfig] = [metric, config].map((key) => key !== undefined && key !== null);
    const isOfConfig = hasMetric === false && hasConfig === true;
    return (isOfConfig ? barOfConfig : barOfMetric).faultOf(value, path);
  },
};

/** A panel of a grid. */
const panelShape = taggedBy("type", {
  line: panel({ metric_key: filledText }),
  bar,
  scalar: panel({ metric_key: filledText }, { agg: oneOf(...AGGREGATES) }),
  scatter: panel({ x_metric: filledText, y_metric: filledText }),
  parallel_coordinates: panel({ dimensions: listOf(dimension) }),
  histogram: panel({ object_key: filledText }, { view: oneOf(...HISTOGRAM_VIEWS) }),
  roc_curve: panel({ object_key: filledText }),
  pr_curve: panel({ object_key: filledText }),
  confusion_matrix: panel({ object_key: filledText }),
  run_comparer: panel({ run_ids: listOf(text), fields: listOf(filledText) }),
  markdown_panel: panel({ text }),
  code_panel: panel({ code: text }, { language: oneOf(...LANGUAGES) }),
  image_panel: panel({ url: filledText }),
});

const runSettings = objectOf({}, { color: text, disabled: truth, hidden: truth });

/** Runs that the panels of a grid show. */
const runsetShape = objectOf(
  { name: filledText, projects: listOf(text) },
  { pinned_run_ids: listOf(filledText), run_settings: mapOf(runSettings) },
);

/** Bounds of the blocks of a report; bytes are those of compact JSON. */
export const BLOCKS = { countMax: 256, bytesMax: 256 * 1024, blockBytesMax: 32 * 1024 } as const;

/** How callouts look; the first one is the default. */
export const CALLOUTS = ["info", "warn", "success"] as const;

/** The angles of a summary; the first one is the default. */
export const ANGLES = ["what-worked", "outliers", "config-diffs", "next-steps", "free-form"] as const;

/** A block. It may have more members, which are kept. */
const blockShape = taggedBy("kind", {
  heading: objectOf({ level: whole(1, 3), text }),
  paragraph: objectOf({ text }),
  markdown: objectOf({ text }),
  code: objectOf({ code: text }, { language: oneOf(...LANGUAGES) }),
  callout: objectOf({ text }, { variant: oneOf(...CALLOUTS) }),
  horizontal_rule: objectOf({}),
  image: objectOf({ url: filledText }, { caption: text }),
  panel_grid: objectOf({ runsets: listOf(runsetShape), panels: listOf(panelShape) }, { caption: text }),
  // Reports of long ago have it.
  llm_summary: objectOf({ panelgrid_index: whole(0) }, { angle: oneOf(...ANGLES) }),
});

/** The JSON Schema of the blocks of a report, which cannot say how many bytes they may have. */
export const blocksSchema: Schema = { ...listOf(blockShape).schema, maxItems: BLOCKS.countMax };

/** A block that was checked. */
export type Block = Readonly<Record<string, unknown>> & { readonly kind: string };

/**
 * Returns what is wrong with the blocks of a report; undefined: nothing. Numbers may keep their digits as `JSON.rawJSON`.
 * `bytesOf` returns how long a value is as compact JSON.
 */
export function faultOfBlocks(blocks: unknown, bytesOf: (value: unknown) => number): string | undefined {
  if (!Array.isArray(blocks)) return "blocks must be a list";
  if (blocks.length > BLOCKS.countMax) return `blocks must have 0 to ${BLOCKS.countMax} items`;
  for (const [i, block] of (blocks as readonly unknown[]).entries()) {
    const path = `blocks[${i}]`;
    const fault = blockShape.faultOf(block, path);
    if (fault !== undefined) return fault;
    if (bytesOf(block) > BLOCKS.blockBytesMax) return `${path} must have at most ${BLOCKS.blockBytesMax} bytes`;
  }
  return bytesOf(blocks) > BLOCKS.bytesMax ? `blocks must have at most ${BLOCKS.bytesMax} bytes` : undefined;
}

/** A panel with its place in its grid. */
export type PlacedPanel = { readonly index: number; readonly panel: unknown };

/** Returns the panels of all grids, in their order. The blocks were checked. */
export function panelsOf(blocks: readonly Block[]): PlacedPanel[] {
  return blocks.flatMap(({ kind, panels }) =>
    kind === "panel_grid" ? (panels as readonly unknown[]).map((panel, index) => ({ index, panel })) : [],
  );
}

/** Returns whether a stored value has the form of a block. */
export function isBlock(value: unknown): value is Block {
  return isObject(value) && typeof value["kind"] === "string";
}
