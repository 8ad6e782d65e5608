import { joinList, listParts, splitList } from "../../app/addresses.ts";
import type { MovedKey } from "../keys/sections.ts";
import type { Range } from "../scene/scale.ts";
import { chartsOf, chartsText, type ChartOptions } from "./chart-options.ts";
import type { Smoothing, XAxis } from "../series/series.ts";
import { axisOf, smoothingOf, type Band } from "./choices.ts";

/** By which columns runs are grouped, or by all keys of their configs but these. */
export type GroupBy = { readonly names: readonly string[]; readonly allBut: boolean };

/** The user's choices for the charts of a project; part of the address. */
export type ChartState = {
  readonly x: XAxis;
  readonly xLog: boolean;
  readonly yLog: boolean;
  readonly ignoreOutliers: boolean;
  /** The range of the band of a group: one standard deviation to both sides, or the lowest to the highest mean of a run. `none`: no bands at all. */
  readonly band: Band;
  readonly smoothing: Smoothing | undefined;
  /** Only keys with this text, or that match `re:/…/`. */
  readonly search: string;
  /** Keys whose charts are first. */
  readonly pinned: readonly string[];
  readonly zoom: Range | undefined;
  readonly group: GroupBy | undefined;
  /** Lines of forks begin with the part of their parents. */
  readonly lineage: boolean;
  /** Lines differ in their dashes as well as in their colors, for print and for people who see colors alike. */
  readonly patterns: boolean;
  /** Sections that were opened or closed, by their ids; no section is in both. */
  readonly opened: readonly string[];
  readonly closed: readonly string[];
  /** Keys in the order that a person gave them; others follow in their usual order. */
  readonly order: readonly string[];
  /** Keys that a person put into other sections, each once. */
  readonly moved: readonly MovedKey[];
  /** The charts that have options of their own, each once. */
  readonly own: readonly ChartOptions[];
};

/** The default for parts missing in the address. */
export const STATE_USUAL: ChartState = {
  x: "step",
  xLog: false,
  yLog: false,
  ignoreOutliers: false,
  band: "std",
  smoothing: undefined,
  search: "",
  pinned: [],
  zoom: undefined,
  group: undefined,
  lineage: false,
  patterns: false,
  opened: [],
  closed: [],
  order: [],
  moved: [],
  own: [],
};

/** The names that charts have in the query of an address. */
type ChartQuery = Readonly<
  Record<
    | "x"
    | "y"
    | "smooth"
    | "keys"
    | "zoom"
    | "group"
    | "lineage"
    | "patterns"
    | "opened"
    | "closed"
    | "order"
    | "moved"
    | "own",
    string | undefined
  >
>;

/** Writes a choice as parts of an address; undefined for defaults. Reading it gives the same choice. `usualX` is the axis of the place unless it is chosen. */
export function queryOf(state: ChartState, usualX: XAxis = STATE_USUAL.x): ChartQuery {
  const { x, xLog, yLog, ignoreOutliers, band, smoothing, search, pinned, zoom, group, lineage, patterns } = state;
  const y = [
    yLog ? "log" : "",
    ignoreOutliers ? "inliers" : "",
    band === "std" ? "" : band === "range" ? "range" : "noband",
  ].filter(Boolean);
  return {
    x: x === usualX && !xLog ? undefined : `${xLog ? "log:" : ""}${x}`,
    y: y.length === 0 ? undefined : y.join(","),
    smooth: smoothing === undefined ? undefined : `${smoothing.kind}:${smoothing.parameter}`,
    keys: search === "" && pinned.length === 0 ? undefined : joinList([search, ...pinned]),
    zoom: zoom === undefined ? undefined : zoom.map((value) => String(value === 0 ? 0 : value)).join("~"),
    group:
      group === undefined || group.names.length === 0
        ? undefined
        : `${group.allBut ? "-" : ""}${joinList(group.names)}`,
    lineage: lineage ? "1" : undefined,
    patterns: patterns ? "1" : undefined,
    opened: joinList(state.opened),
    closed: joinList(state.closed),
    order: joinList(state.order),
    moved: joinList(state.moved.map((pair) => joinList(pair)!)),
    own: chartsText(state.own),
  };
}

/** Reads a choice from the query of an address; malformed parts count as defaults. */
export function stateOf(query: { get(name: string): string | null }, usualX: XAxis = STATE_USUAL.x): ChartState {
  const x = query.get("x") ?? usualX;
  const xLog = x.startsWith("log:");
  const y = (query.get("y") ?? "").split(",");
  const [search = "", ...pinned] = listParts(query.get("keys") ?? "");
  const group = query.get("group") ?? "";
  const opened = splitList(query.get("opened"));
  const names = listParts(group.replace(/^-/, "")).filter((name) => name !== "");
  return {
    x: axisOf(xLog ? x.slice("log:".length) : x) ?? usualX,
    xLog,
    yLog: y.includes("log"),
    ignoreOutliers: y.includes("inliers"),
    band: y.includes("range") ? "range" : y.includes("noband") ? "none" : "std",
    smoothing: smoothingOf(query.get("smooth") ?? ""),
    search,
    pinned: [...new Set(pinned.filter((key) => key !== ""))],
    zoom: rangeOf(query.get("zoom") ?? ""),
    group: names.length === 0 ? undefined : { names, allBut: group.startsWith("-") },
    lineage: query.get("lineage") === "1",
    patterns: query.get("patterns") === "1",
    opened,
    closed: splitList(query.get("closed")).filter((id) => !opened.includes(id)),
    order: splitList(query.get("order")),
    moved: movedOf(query.get("moved") ?? ""),
    own: chartsOf(query.get("own") ?? ""),
  };
}

function movedOf(text: string): readonly MovedKey[] {
  const pairs = listParts(text).map(listParts);
  return [
    ...new Map(
      pairs.flatMap(([key = "", section, ...more]) =>
        key === "" || section === undefined || section.includes("/") || more.length > 0
          ? []
          : [[key, section] as const],
      ),
    ),
  ];
}

function rangeOf(text: string): Range | undefined {
  const [from, to, ...more] = text.split("~").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  if (from === undefined || to === undefined || more.length > 0) return undefined;
  return Number.isFinite(from) && Number.isFinite(to) && from < to ? [from, to] : undefined;
}

/** Returns the choices that apply to a chart with options of its own. */
export function withOptions(state: ChartState, { x, yLog, smoothing, band }: ChartOptions): ChartState {
  return {
    ...state,
    x: x ?? state.x,
    xLog: x === undefined ? state.xLog : false,
    yLog: yLog ?? state.yLog,
    smoothing: smoothing === "none" ? undefined : (smoothing ?? state.smoothing),
    band: band ?? state.band,
  };
}

/** The steps of `[` and `]` for each kind, starting from none. */
const STEPS: Readonly<Record<Smoothing["kind"], readonly number[]>> = {
  ema: [0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999],
  gaussian: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000],
  mean: [2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000],
};

/** Returns more or less smoothing, one step on; undefined for none. */
export function nextSmoothing(now: Smoothing | undefined, by: 1 | -1): Smoothing | undefined {
  const kind = now?.kind ?? "ema";
  const steps = STEPS[kind];
  if (now === undefined) return by > 0 ? { kind, parameter: steps[0]! } : undefined;
  const next = by > 0 ? steps.find((step) => step > now.parameter) : steps.findLast((step) => step < now.parameter);
  if (next !== undefined) return { kind, parameter: next };
  return by > 0 ? now : undefined;
}

/** Returns the places of a slider, from none on. */
export function smoothingStops(kind: Smoothing["kind"]): readonly number[] {
  return STEPS[kind];
}
