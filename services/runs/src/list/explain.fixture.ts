import { plannedSql, type Statement, type Tx } from "@tidemark/pg";

type PlanNode = {
  readonly "Node Type": string;
  readonly "Index Name"?: string;
  readonly "Relation Name"?: string;
  readonly "CTE Name"?: string;
  readonly Plans?: readonly PlanNode[];
};

/** The plan of a statement: its nodes from the top down, one a line, indented. */
export type Plan = readonly string[];

/** A statement that was run, and its plan. */
export type Explained = { readonly name: string; readonly plan: Plan };

/**
 * Returns the plan for these values, and for a kept statement also the plan for any values, to which
 * PostgreSQL may switch.
 */
async function explain(tx: Tx, statement: Statement, values: readonly unknown[]): Promise<Explained[]> {
  const { name, text } = statement;
  const run = (line: string, parameters: readonly unknown[] = []) =>
    tx.one<{ "QUERY PLAN": string }>(plannedSql("test_explain", line), parameters);
  const plan = planOf(await run(`EXPLAIN (FORMAT JSON, COSTS OFF) ${text}`, values));
  if (statement.planned !== undefined) return [{ name, plan }];
  await run(`PREPARE explained AS ${text}`);
  await run("SET LOCAL plan_cache_mode = force_generic_plan");
  const generic = await run(`EXPLAIN (FORMAT JSON, COSTS OFF) EXECUTE explained (${values.map(literal).join(", ")})`);
  await run("SET LOCAL plan_cache_mode = auto");
  await run("DEALLOCATE explained");
  return [
    { name, plan },
    { name: `${name}, for any values`, plan: planOf(generic) },
  ];
}

function literal(value: unknown): string {
  if (value === null) return "NULL";
  if (Array.isArray(value)) return literal(`{${value.join(",")}}`);
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") throw new Error(`no literal for a ${typeof value}`);
  return `'${value.replaceAll("'", "''")}'`;
}

function planOf(row: { readonly "QUERY PLAN": string } | undefined): Plan {
  const [{ Plan: top }] = JSON.parse(row?.["QUERY PLAN"] ?? "") as [{ Plan: PlanNode }];
  return linesOf(top, 0);
}

/** Nodes that only pass rows on, which differ between versions. */
const PASSING = new Set(["Result", "Subquery Scan", "Append", "ProjectSet", "Memoize", "Materialize"]);

function linesOf(node: PlanNode, depth: number): string[] {
  const { "Node Type": type, "Index Name": index, "Relation Name": relation, "CTE Name": cte } = node;
  const shown = !PASSING.has(type);
  // Whether an index-only scan reads the table too depends on when it was vacuumed.
  const name = [type.replace("Index Only Scan", "Index Scan"), index ?? relation ?? cte].filter(Boolean).join(" ");
  const below = (node.Plans ?? []).flatMap((child) => linesOf(child, shown ? depth + 1 : depth));
  return shown ? [`${"  ".repeat(depth)}${name}`, ...below] : below;
}

/** Returns a transaction that explains each of its statements and runs it. */
export function explaining(tx: Tx): { readonly tx: Tx; readonly explained: readonly Explained[] } {
  const explained: Explained[] = [];
  const note = async (statement: Statement, values: readonly unknown[]): Promise<void> => {
    // They have no plan.
    if (/^(FETCH|SET) /.test(statement.text)) return;
    explained.push(...(await explain(tx, statement, values)));
  };
  return {
    explained,
    tx: {
      async rows(statement, values) {
        await note(statement, values);
        return tx.rows(statement, values);
      },
      async one(statement, values) {
        await note(statement, values);
        return tx.one(statement, values);
      },
      async each(statement, values, take) {
        await note(statement, values);
        return tx.each(statement, values, take);
      },
      async count(statement, values) {
        await note(statement, values);
        return tx.count(statement, values);
      },
    },
  };
}

/** Returns the indexes and tables that a plan reads, each once, in the order of the plan. */
export function readsOf(plan: Plan): string[] {
  const scans = plan.map((line) => / Scan (\w+)$/.exec(line)?.[1]).filter((name) => name !== undefined);
  return [...new Set(scans)];
}
