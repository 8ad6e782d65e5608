import { setTimeout as pause } from "node:timers/promises";
import type { PostgresSettings } from "@tidemark/local";
import type pg from "pg";

/** One statement that PostgreSQL executed, from its server log. Statements inside functions are logged as well. */
export type Executed = {
  readonly text: string;
  /** Rows that scans of tables looked at: those that they returned and those that they left out. */
  readonly rowsRead: number;
  /** Pages of 8 KiB that were looked at, those in memory included. 0 for a statement inside a function, whose pages the outer one counts. */
  readonly pages: number;
  readonly plan: PlanNode;
};

type PlanNode = {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Actual Rows"?: number;
  readonly "Actual Loops"?: number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly "Shared Hit Blocks"?: number;
  readonly "Shared Read Blocks"?: number;
  readonly Plans?: readonly PlanNode[];
};

/** Settings of a server whose log has every plan with the data it read. `load` loads them into new connections of a database. */
export const planSettings: PostgresSettings = { log_line_prefix: "", log_min_messages: "log" };

/** Makes the server log the plan of each statement that a new connection of the current database executes. */
export async function logPlans(owner: pg.Client): Promise<void> {
  const { rows } = await owner.query<{ name: string }>("SELECT current_database() AS name");
  const settings = {
    session_preload_libraries: "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_buffers": "on",
    "auto_explain.log_timing": "off",
    "auto_explain.log_format": "json",
    "auto_explain.log_nested_statements": "on",
  };
  for (const [name, value] of Object.entries(settings)) {
    await owner.query(`ALTER DATABASE "${rows[0]!.name}" SET ${name} = '${value}'`);
  }
}

/** Collects what a server logs. */
export type PlanLog = {
  /** Takes a line that the server printed. */
  readonly take: (line: string) => void;
  /**
   * Returns the statements that were executed while `work` ran. No other client may use the server meanwhile. `work` runs again when the log is torn:
   * a long plan is not written in one piece, so a process in the background may write between its lines.
   */
  readonly during: (work: () => Promise<unknown>) => Promise<Executed[]>;
};

/** Times that a log may be torn, one after another. */
const TORN_MAX = 4;

/** Creates a log. `marker` is a connection of the database that logs its plans too: its statement marks where `work` ended. */
export function createPlanLog(marker: () => pg.Client): PlanLog {
  let plans: string[][] = [];
  let open = false;
  let marks = 0;
  const once = async (work: () => Promise<unknown>): Promise<Executed[]> => {
    plans = [];
    await work();
    marks += 1;
    const mark = `plans until ${marks}`;
    await marker().query(`SELECT '${mark}' AS mark`);
    const isMarked = (): boolean =>
      plans.some((lines) => lines.at(-1) === "}" && lines.some((line) => line.includes(mark)));
    while (!isMarked()) await pause(5);
    return plans
      .filter((lines) => !lines.some((line) => line.includes("plans until ")))
      .map((lines) => executedOf(JSON.parse(lines.join("\n")) as { "Query Text": string; Plan: PlanNode }));
  };
  return {
    take(line) {
      if (line.startsWith("LOG:  duration: ")) {
        plans.push([]);
        open = true;
      } else if (open && line.startsWith("\t")) plans.at(-1)!.push(line.slice(1));
      else open = false;
    },
    async during(work) {
      for (let left = TORN_MAX; ; left -= 1) {
        try {
          return await once(work);
        } catch (error) {
          if (left === 0 || !(error instanceof SyntaxError)) throw error;
        }
      }
    },
  };
}

function executedOf({ "Query Text": text, Plan: plan }: { "Query Text": string; Plan: PlanNode }): Executed {
  return {
    text,
    rowsRead: rowsRead(plan),
    pages: (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0),
    plan,
  };
}

function rowsRead(node: PlanNode): number {
  const below = (node.Plans ?? []).reduce((sum, child) => sum + rowsRead(child), 0);
  const isScan = node["Relation Name"] !== undefined || node["Node Type"] === "Bitmap Index Scan";
  if (!isScan) return below;
  const each =
    (node["Actual Rows"] ?? 0) + (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0);
  return below + each * (node["Actual Loops"] ?? 1);
}

/** Returns the nodes of a plan that read tables, each with how many rows it looked at: what a person wants to see when a plan reads too much. */
export function describeReads(node: PlanNode): string[] {
  const own = node["Relation Name"] ?? node["Index Name"];
  const line = `${node["Node Type"]} ${node["Index Name"] ?? own}: ${rowsRead({ ...node, Plans: [] })} rows`;
  return [...(own === undefined ? [] : [line]), ...(node.Plans ?? []).flatMap(describeReads)];
}
