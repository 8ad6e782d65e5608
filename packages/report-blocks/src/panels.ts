import { LANGUAGES } from "./languages.ts";
import {
  filledText,
  listOf,
  mapOf,
  objectOf,
  oneOf,
  someOf,
  taggedBy,
  text,
  truth,
  whole,
  type Members,
} from "./shape.ts";

/** The figures of a metric that a scalar panel can show; the last one is the default. */
const AGGREGATES = ["min", "max", "mean", "latest"] as const;

/** A panel names the runset of its grid that it shows, the first one unless said. Whether there is one is not checked. */
const anyPanel: Members = { runset_index: whole(0) };

const panel = (required: Members, optional: Members = {}) => objectOf(required, { ...anyPanel, ...optional });

const dimension = someOf(
  [
    objectOf({ metric_key: filledText }, { config_key: filledText }),
    objectOf({ config_key: filledText }, { metric_key: filledText }),
  ],
  "needs a metric_key or a config_key",
);

/** A panel of a grid. */
export const panelShape = taggedBy("type", {
  line: panel({ metric_key: filledText }),
  bar: panel({ metric_key: filledText }),
  scalar: panel({ metric_key: filledText }, { agg: oneOf(...AGGREGATES) }),
  scatter: panel({ x_metric: filledText, y_metric: filledText }),
  parallel_coordinates: panel({ dimensions: listOf(dimension) }),
  run_comparer: panel({ run_ids: listOf(text), fields: listOf(filledText) }),
  markdown_panel: panel({ text }),
  code_panel: panel({ code: text }, { language: oneOf(...LANGUAGES) }),
  image_panel: panel({ url: filledText }),
});

const runSettings = objectOf({}, { color: text, disabled: truth, hidden: truth });

/** Runs that the panels of a grid show. */
export const runsetShape = objectOf(
  { name: filledText, projects: listOf(text) },
  { pinned_run_ids: listOf(filledText), run_settings: mapOf(runSettings) },
);
