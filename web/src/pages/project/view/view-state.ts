import { COLUMNS_MAX, COLUMNS_USUAL, columnSource, sortOf } from "../table/columns.ts";
import { joinList, splitList } from "../../../app/addresses.ts";

/** The state of the table of a project; the address has it along with the choices of the charts. */
export type ViewState = {
  readonly q: string;
  /** The name of a column, `name` or `created`. */
  readonly sort: string;
  readonly dir: "asc" | "desc";
  readonly cols: readonly string[];
  /** Widths in pixels that were drawn, by column. */
  readonly widths: Readonly<Record<string, number>>;
  /** Runs that stay on top. */
  readonly pin: readonly string[];
  /** The run with which others are compared. */
  readonly base: string | undefined;
  /** Selected runs. */
  readonly sel: readonly string[];
  /** Runs whose lines are shown though they are not among the first, and those that are hidden though they are. */
  readonly show: readonly string[];
  readonly hide: readonly string[];
  /** How many of the first runs have lines. */
  readonly first: number;
  /** Percent of the width that the table takes; 0 and 100 collapse a side. */
  readonly split: number;
  /** The tab that phones show. */
  readonly tab: "table" | "charts";
  /** Whether charts show metrics over their steps, or runs by their columns. */
  readonly charts: "steps" | "columns";
  /** The saved view that was opened. */
  readonly view: string | undefined;
};

/** The default for parts missing in the address. */
export const VIEW_USUAL: ViewState = {
  q: "",
  sort: "created",
  dir: "desc",
  cols: COLUMNS_USUAL,
  widths: {},
  pin: [],
  base: undefined,
  sel: [],
  show: [],
  hide: [],
  first: 10,
  split: 45,
  tab: "table",
  charts: "steps",
  view: undefined,
};

/** How many of the first runs can have lines. */
export const FIRST_CHOICES = [10, 25, 50, 100] as const;

/** Selected runs that an address holds; more are selected only while the page is open. */
const ADDRESS_RUNS_MAX = 50;

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const NAMES = [
  "q",
  "sort",
  "dir",
  "cols",
  "widths",
  "pin",
  "base",
  "sel",
  "show",
  "hide",
  "first",
  "split",
  "tab",
  "charts",
  "view",
] as const;

/** The names of the table in the query of an address. */
export type ViewQuery = Readonly<Record<(typeof NAMES)[number], string | undefined>>;

/** Writes the state as parts of an address; undefined for defaults. Reading it gives the same state. */
export function queryOf(state: ViewState): ViewQuery {
  const widths = Object.entries(state.widths).map(([name, width]) => `${width}:${name}`);
  const isUsual = state.cols.join() === COLUMNS_USUAL.join();
  return {
    q: state.q || undefined,
    sort: state.sort === VIEW_USUAL.sort ? undefined : state.sort,
    dir: state.sort === VIEW_USUAL.sort && state.dir === VIEW_USUAL.dir ? undefined : state.dir,
    cols: isUsual ? undefined : (joinList(state.cols) ?? "-"),
    widths: joinList(widths),
    pin: joinList(state.pin),
    base: state.base,
    sel: joinList(state.sel.slice(0, ADDRESS_RUNS_MAX)),
    show: joinList(state.show),
    hide: joinList(state.hide),
    first: state.first === VIEW_USUAL.first ? undefined : String(state.first),
    split: state.split === VIEW_USUAL.split ? undefined : String(state.split),
    tab: state.tab === VIEW_USUAL.tab ? undefined : state.tab,
    charts: state.charts === VIEW_USUAL.charts ? undefined : state.charts,
    view: state.view,
  };
}

/** Reads the state from the query of an address; malformed parts count as defaults. */
export function stateOf(query: { get(name: string): string | null }): ViewState {
  const ids = (name: string): string[] => splitList(query.get(name)).filter((id) => UUID.test(id));
  const one = (name: string): string | undefined => ids(name)[0];
  const sort = query.get("sort") ?? VIEW_USUAL.sort;
  const dir = query.get("dir");
  const cols = query.get("cols");
  const split = Number(query.get("split") ?? VIEW_USUAL.split);
  const first = Number(query.get("first") ?? VIEW_USUAL.first);
  return {
    q: query.get("q") ?? "",
    sort: sortOf(sort) === undefined ? VIEW_USUAL.sort : sort,
    dir: dir === "asc" || dir === "desc" ? dir : VIEW_USUAL.dir,
    cols:
      cols === null
        ? COLUMNS_USUAL
        : splitList(cols)
            .filter((name) => columnSource(name) !== undefined)
            .slice(0, COLUMNS_MAX),
    widths: Object.fromEntries(
      splitList(query.get("widths")).flatMap((text): [string, number][] => {
        const [, width, name] = /^(\d{2,3}):(.+)$/.exec(text) ?? [];
        return name === undefined ? [] : [[name, Number(width)]];
      }),
    ),
    pin: ids("pin"),
    base: one("base"),
    sel: ids("sel").slice(0, ADDRESS_RUNS_MAX),
    show: ids("show"),
    hide: ids("hide"),
    first: FIRST_CHOICES.some((choice) => choice === first) ? first : VIEW_USUAL.first,
    split: Number.isInteger(split) && split >= 0 && split <= 100 ? split : VIEW_USUAL.split,
    tab: query.get("tab") === "charts" ? "charts" : "table",
    charts: query.get("charts") === "columns" ? "columns" : "steps",
    view: one("view"),
  };
}
