import { readColumn } from "@tidemark/values/run-search";
import { asOwner, type RunsFixture } from "../runs.fixture.ts";
import { seeDeleted } from "../deletion/hidden-rows.sql.ts";
import { attributePaths, placesOf } from "./column.rules.ts";
import { fillColumn } from "./kept-columns.sql.ts";

/** Asks for a column however few runs there are. Does nothing for metric columns and for names that are not columns. Returns its id. */
export async function askAnyway(fixture: RunsFixture, orgId: string, name: string): Promise<string | undefined> {
  const column = readColumn(name);
  if (column === undefined || column.kind === "metrics") return undefined;
  const [row] = await asOwner<{ id: string }>(
    fixture,
    "INSERT INTO runs.kept_columns (org_id, kind, path, places, attribute_paths) VALUES ($1, $2, $3, $4, $5) RETURNING id",
    [orgId, column.kind, column.path, placesOf(column), attributePaths(column)],
  );
  return row?.id;
}

/** Does one step of keeping a column. */
export function fillStep(fixture: RunsFixture, orgId: string, id: string, runsMax: number) {
  return fixture.db.withTenant(orgId, async (tx) => {
    await seeDeleted(tx);
    return fillColumn(tx, orgId, id, runsMax);
  });
}

/** Keeps the values of a column of all runs. */
export async function keepColumn(fixture: RunsFixture, orgId: string, name: string, runsMax = 7): Promise<void> {
  const id = await askAnyway(fixture, orgId, name);
  if (id === undefined) return;
  while ((await fillStep(fixture, orgId, id, runsMax)) !== "done");
}
