import { sectionsOf } from "./sections.ts";

/** Whether a metric is about the machine of a run: the SDK logs these by itself, and imports of other trackers name theirs so. */
export const isSystemKey = (key: string): boolean => key.startsWith(PREFIX);

const PREFIX = "system/";

/** A chart of one quantity, such as the temperature of all GPUs. */
export type SystemChart = {
  readonly title: string;
  readonly keys: readonly string[];
  /** The device of each key that has one. */
  readonly devices: ReadonlyMap<string, string>;
  /** It is a percentage of something that cannot be exceeded. */
  readonly isPercent: boolean;
};

/** Charts about the same part of a machine. */
export type SystemSection = { readonly name: string; readonly charts: readonly SystemChart[] };

/** A metric as the parts of its name: `gpu/0/memory_percent`, or `gpu.0.memory` as in imports from W&B. */
type Quantity = { readonly key: string; readonly device: string | undefined; readonly parts: readonly string[] };

/** Percentages that do not say so in their names, as W&B writes them. */
const PERCENT = new Set(["cpu", "memory", "disk", "gpu gpu", "gpu memory", "gpu memoryAllocated"]);

/** Headings, in their order; other parts of a machine follow, what the SDK says of its uploads comes last. */
const SECTIONS: readonly (readonly [part: string, heading: string])[] = [
  ["gpu", "GPU"],
  ["cpu", "CPU"],
  ["memory", "Memory"],
  ["disk", "Disk"],
  ["network", "Network"],
  ["proc", "Process"],
  ["process", "Process"],
];
const UPLOADS = ["instantml", "Uploads"] as const;

/** Arranges metrics of machines: a section for each part of a machine, in it a chart for each quantity, with a line for each device. */
export function systemSections(keys: readonly string[]): readonly SystemSection[] {
  const charts = new Map<string, Quantity[]>();
  // As sections they are in a natural order.
  for (const quantity of sectionsOf(keys.filter(isSystemKey)).flatMap((section) => section.keys.map(quantityOf))) {
    const id = quantity.parts.join(" ");
    charts.set(id, [...(charts.get(id) ?? []), quantity]);
  }
  const sections = new Map<string, SystemChart[]>();
  for (const quantities of charts.values()) {
    const heading = headingOf(quantities[0]!.parts);
    sections.set(heading, [...(sections.get(heading) ?? []), chartOf(quantities)]);
  }
  const known = SECTIONS.map(([, heading]) => heading);
  const rank = (name: string): number =>
    name === UPLOADS[1] ? Infinity : known.includes(name) ? known.indexOf(name) : known.length;
  return [...sections]
    .map(([name, own]) => ({ name, charts: own }))
    .toSorted((a, b) => (rank(a.name) === rank(b.name) ? 0 : rank(a.name) - rank(b.name)));
}

function quantityOf(key: string): Quantity {
  const parts = key.slice(PREFIX.length).split(/[/.]/);
  const at = parts.findIndex((part, i) => i > 0 && /^\d+$/.test(part));
  if (at < 0) return { key, device: undefined, parts };
  const device = `${wordsOf([parts[at - 1]!])} ${parts[at]!}`;
  return { key, device, parts: parts.filter((_, i) => i !== at) };
}

function headingOf(parts: readonly string[]): string {
  const part = parts[0]!.split("_")[0]!.toLowerCase();
  const [, heading] = [...SECTIONS, UPLOADS].find(([name]) => name === part) ?? [];
  return heading ?? "Other";
}

function chartOf(quantities: readonly Quantity[]): SystemChart {
  const { parts } = quantities[0]!;
  const isPercent = (/percent$/i.test(parts.at(-1)!) && !parts[0]!.startsWith("proc")) || PERCENT.has(parts.join(" "));
  const title = titleOf(parts, isPercent);
  return {
    title,
    keys: quantities.map(({ key }) => key),
    devices: new Map(quantities.flatMap(({ key, device }) => (device === undefined ? [] : [[key, device] as const]))),
    isPercent,
  };
}

/** Endings of names that are units. */
const UNITS: readonly (readonly [ending: RegExp, unit: string])[] = [
  [/ ?(percent|pct)$/i, "%"],
  [/ bytes$/i, "bytes"],
  [/ (celsius|c)$/i, "°C"],
  [/ ?watts$/i, "W"],
  [/ (seconds|s)$/i, "s"],
];

function titleOf(parts: readonly string[], isPercent: boolean): string {
  // `gpu/gpu_percent` says twice what it is about.
  const said = parts[1]?.toLowerCase().startsWith(parts[0]!.toLowerCase()) === true ? parts.slice(1) : parts;
  const text = wordsOf(said[0] === UPLOADS[0] ? said.slice(1) : said);
  for (const [ending, unit] of UNITS) {
    const left = text.replace(ending, "");
    if (left !== text && left !== "") return `${left} (${unit})`;
  }
  return isPercent ? `${text} (%)` : text;
}

/** Returns parts of a name as words: `memory_used` and `memoryUsed` become "Memory used". */
function wordsOf(parts: readonly string[]): string {
  const text = parts
    .flatMap((part) => part.replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").split(/[\s_-]+/))
    .map((word) => (/^(gpu|cpu|rss|tpu)$/i.test(word) ? word.toUpperCase() : word.toLowerCase()))
    .join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
