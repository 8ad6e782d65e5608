import { isObject, type Fields } from "../fields/field.ts";

/** A panel of a view: one chart of one metric. */
export type ViewPanel = {
  readonly id: string;
  readonly title: string;
  readonly type: string;
  readonly sectionId: string;
  readonly sectionName: string;
  readonly metricKey: string;
  /** The fields of runs that the panel shows, under their wire names. */
  readonly fields: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
};

/** What a view shows. */
export type ViewContent = {
  readonly panels: readonly ViewPanel[];
  /** The metric keys of all panels, each once. */
  readonly keys: readonly string[];
  /** The keys that are drawn as lines, and so need their points. */
  readonly lineKeys: readonly string[];
  readonly warnings: readonly string[];
};

/** The type of panels that shows the points of a metric; every other one shows its aggregates. */
export const LINE = "line";

/** The types of panels. A view may have others, which get the same data as these. */
const KNOWN_TYPES: ReadonlySet<string> = new Set([
  LINE,
  "bar",
  "dot",
  "value",
  "histogram",
  "value_histogram",
  "scatter",
  "distribution",
]);

/** The fields of runs that a panel may name, under the names of the payload. */
const RUN_FIELDS = {
  xField: "x_field",
  yField: "y_field",
  valueField: "value_field",
  groupField: "group_field",
  replicateField: "replicate_field",
} as const;

/** The names of these fields in answers. */
export const panelFieldNames: readonly string[] = Object.values(RUN_FIELDS);

/** Most bytes of a metric key, like every name (API specification, Limits). */
const KEY_BYTES_MAX = 512;

/**
 * Returns what the payload of a view shows (contract of view data): the panels of `workspaceView.sections[]`, or of `sections[]`, at most `panelsMax`. A panel
 * without a metric key is left out, with a warning. A view without panels shows a line of its `metricKey`.
 */
export function readPanels(payload: Fields, panelsMax: number): ViewContent {
  const warnings: string[] = [];
  const view = payload["workspaceView"];
  const panels: ViewPanel[] = [];
  let found = 0;
  objectsIn(isObject(view) && Array.isArray(view["sections"]) ? view["sections"] : payload["sections"]).forEach(
    (section, s) => {
      for (const panel of objectsIn(section["panels"])) {
        found += 1;
        const read = readPanel(panel, section, s, found);
        if (read === undefined) warnings.push(`panel ${found} has no metric key and was left out`);
        else panels.push(read);
      }
    },
  );
  if (panels.length > panelsMax) {
    warnings.push(`the view has ${panels.length} panels; those after the first ${panelsMax} were left out`);
  }
  const single = panels.length === 0 ? keyIn(payload, "metricKey") : undefined;
  return contentOf(panels.slice(0, panelsMax), single === undefined ? [] : [single], warnings);
}

/** Returns what panels show; `moreLines` are keys that are drawn without a panel. */
export function contentOf(
  panels: readonly ViewPanel[],
  moreLines: readonly string[] = [],
  warnings: readonly string[] = [],
): ViewContent {
  const lines = panels.filter(({ type }) => type === LINE).map(({ metricKey }) => metricKey);
  return {
    panels,
    keys: [...new Set([...panels.map(({ metricKey }) => metricKey), ...moreLines])],
    lineKeys: [...new Set([...lines, ...moreLines])],
    warnings,
  };
}

function readPanel(panel: Fields, section: Fields, sectionIndex: number, number: number): ViewPanel | undefined {
  const metricKey = keyIn(panel, "metricKey");
  if (metricKey === undefined) return undefined;
  const type = textIn(panel, "type") ?? LINE;
  const fields = Object.entries(RUN_FIELDS).flatMap(([name, shown]) => {
    const value = textIn(panel, name);
    return value === undefined ? [] : [[shown, value]];
  });
  return {
    id: textIn(panel, "id") ?? `panel-${number}`,
    title: textIn(panel, "title") ?? metricKey,
    type,
    sectionId: textIn(section, "id") ?? `section-${sectionIndex + 1}`,
    sectionName: textIn(section, "name") ?? textIn(section, "title") ?? `Section ${sectionIndex + 1}`,
    metricKey,
    fields: Object.fromEntries(fields) as Record<string, string>,
    warnings: KNOWN_TYPES.has(type) ? [] : [`${type} is not a known type of panels; its summary values are shown`],
  };
}

function objectsIn(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns a text without the white space around it; undefined when it is blank or not a text. */
function textIn(object: Fields, name: string): string | undefined {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return typeof value === "string" ? value.trim().toWellFormed() || undefined : undefined;
}

/** Returns a text that can be the key of a metric. */
function keyIn(object: Fields, name: string): string | undefined {
  const key = textIn(object, name);
  return key === undefined || Buffer.byteLength(key) > KEY_BYTES_MAX || key.includes("\0") ? undefined : key;
}
