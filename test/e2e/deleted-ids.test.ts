import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import type { Answer, Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { bodies } from "../stack/operations.ts";
import { createTeam, type Person } from "../stack/people.ts";
import { ask, makeEverything, missing, ofProject, ofRun, type Ids } from "./deleted-ids.fixture.ts";
import { namings, others } from "./id-namings.fixture.ts";

// Every route that names an id of something in a run or a project, from the description of the API, so that a new one needs a case here.

type Described = { readonly parameters?: readonly { readonly name: string; readonly in: string }[] };
type Place = { readonly method: string; readonly path: string; readonly name: string; readonly isInPath: boolean };

const isId = (name: string): boolean => /(^|_)(ids?|runs|ref|token)$/.test(name);

function propertiesOf(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) => [
    ...(key === "properties" ? Object.keys(value as object) : []),
    ...propertiesOf(value),
  ]);
}

/** Returns where routes take ids: in their paths, queries and bodies. */
async function placesOf(api: Api): Promise<Place[]> {
  const { json } = await api.get("/openapi.json");
  const paths = json.paths as Record<string, Record<string, Described & { readonly requestBody?: unknown }>>;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [], requestBody }]) => {
      const inQuery = parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name);
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
      const elsewhere = new Set([...inQuery, ...propertiesOf(requestBody)]);
      const place = (name: string, isInPath: boolean) => ({ method: method.toUpperCase(), path, name, isInPath });
      return [...inPath.map((name) => place(name, true)), ...[...elsewhere].map((name) => place(name, false))].filter(
        ({ name }) => isId(name),
      );
    }),
  );
}

const titleOf = ({ method, path, name }: Place): string => `${method} ${path} ${name}`;
const isOther = (place: Place): boolean => others.has(place.name) || others.has(titleOf(place));

/** Routes that delete, restore, or are about deleted things. */
const ofDeletion = new Set([
  "DELETE /runs/{run_id}",
  "POST /runs/{run_id}/restore",
  "DELETE /projects/{project_id}",
  "POST /projects/{project_id}/restore",
]);

/** The content of an answer without its ids and times. No answer has short ids. */
function told({ status, text }: Answer, ids: Ids): string {
  const long = [...Object.values(ids), ...Object.values(missing)].filter((id) => id.length > 10);
  const general = long.reduce((rest, id) => rest.replaceAll(id, "id"), text);
  return `${status} ${general.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "time")}`;
}

describeModes("an id of something deleted", (stack) => {
  const world = async () => {
    const { owner, orgId } = await createTeam(stack());
    const { api, ids, sha256 } = await makeEverything(stack(), owner);
    const run = (await api.post("/runs", { project: "q", name: "other" })).json.run;
    await api.post(`/runs/${run.id}/metrics`, { metrics: { loss: 1 }, step: 0 });
    const { collections } = (
      await api
        .post(`/api/runs/${run.id}/artifact-uploads`, {
          collection: { name: "other", type: "model" },
          manifest: { entries: [{ path: "x", reference_uri: "s3://b/x" }] },
        })
        .then(() => api.get("/api/artifact-collections?project=q"))
    ).json;
    const other: Ids = { ...missing, run_id: run.id, project_id: run.project_id, collection_id: collections[0].id };
    const fill = (path: string, by: Ids): string =>
      Object.entries(by)
        .reduce((filled, [name, id]) => filled.replace(`{${name}}`, id), path)
        .replace("{org_id}", orgId)
        .replace("{sha256}", sha256)
        .replace("{alias}", "best");
    /** Asks a route that takes an id, with the id of one world or another. */
    const askAt = (place: Place, by: Ids): Promise<Answer> => {
      const { method, path } = place;
      const naming = place.isInPath ? undefined : namings[titleOf(place)];
      const body = naming === undefined ? bodies[`${method} ${path}`] : naming.body?.(by, other);
      const filled = naming === undefined ? path : naming.path(by, other);
      const isPart = path.startsWith("/api/upload-parts") || path.includes("/bytes/");
      const sent = isPart ? { rawBody: "x" } : method === "GET" ? {} : { body: body ?? {} };
      return ask(api, owner, method, fill(filled, by), { ...sent, headers: { "idempotency-key": randomUUID() } });
    };
    return { owner, api, ids, askAt };
  };

  /** The places whose ids go with the deletion, and reads that change nothing and end by themselves. */
  const places = async (hidden: readonly string[]) => {
    const all = (await placesOf(stack().api)).filter(
      (place) => !isOther(place) && !ofDeletion.has(`${place.method} ${place.path}`),
    );
    const gone = all.filter((place) => hidden.includes(place.isInPath ? place.name : namings[titleOf(place)]!.names));
    const isRead = ({ method, path, ...place }: Place) =>
      place.isInPath
        ? method === "GET" && !path.endsWith("/changes")
        : namings[titleOf({ method, path, ...place })]!.reads;
    return { gone, reads: all.filter(isRead), goneReads: gone.filter(isRead) };
  };

  test("has a case for every route that takes one", async () => {
    const all = await placesOf(stack().api);
    const isKnown = (place: Place): boolean =>
      isOther(place) || (place.isInPath ? Object.hasOwn(missing, place.name) : Object.hasOwn(namings, titleOf(place)));
    expect(all.filter((place) => !isKnown(place)).map(titleOf)).toEqual([]);
    const titles = new Set(all.map(titleOf));
    expect(Object.keys(namings).filter((title) => !titles.has(title))).toEqual([]);
  });

  const deletions: [string, readonly string[], (ids: Ids) => string][] = [
    ["run", ofRun, (ids) => `/runs/${ids.run_id}`],
    ["project", [...ofRun, ...ofProject], (ids) => `/projects/${ids.project_id}`],
  ];
  test.each(deletions)("of a %s is as if it never was, until it is restored", async (_what, hidden, pathOf) => {
    const { owner, api, ids, askAt } = await world();
    const { gone, reads, goneReads } = await places(hidden);
    expect(gone.length).toBeGreaterThan(40);
    const saidOf = async (some: readonly Place[], by: Ids) => {
      const said: Record<string, string> = {};
      for (const place of some) said[titleOf(place)] = told(await askAt(place, by), ids);
      return said;
    };
    const statusesOf = async () => {
      const statuses: Record<string, number> = {};
      for (const place of reads) statuses[titleOf(place)] = (await askAt(place, ids)).status;
      return statuses;
    };
    const live = await statusesOf();
    expect(Object.entries(live).filter(([, status]) => status !== 200)).toEqual([]);
    const nowhere = { ...ids, ...Object.fromEntries(hidden.map((name) => [name, missing[name as keyof Ids]])) };
    const nothing = await saidOf(gone, nowhere);
    const before = await saidOf(goneReads, ids);
    expect(Object.keys(before).filter((title) => before[title] === nothing[title])).toEqual([]);
    expect((await owner.browser.call("DELETE", pathOf(ids))).status).toBe(200);
    await untilAll(api, owner, ids, 404);
    expect(await saidOf(gone, ids)).toEqual(nothing);
    const inPath = gone.filter((place) => place.isInPath).map(titleOf);
    expect(inPath.filter((title) => !nothing[title]!.startsWith("404"))).toEqual([]);
    expect((await owner.browser.post(`${pathOf(ids)}/restore`, {})).status).toBe(200);
    await untilAll(api, owner, ids, 200);
    expect(await statusesOf()).toEqual(live);
  });
});

/** Waits until every service that remembers runs knows of the change. */
async function untilAll(api: Api, owner: Person, ids: Ids, status: number): Promise<void> {
  const paths = ["attributes", "artifacts", `traces/${ids.trace_id}`, "stop-signal"];
  await until("every service to know", async () => {
    const answers = await Promise.all(
      paths.map((path) => ask(api, owner, "GET", `/api/runs/${ids.run_id}/${path}`, {})),
    );
    // Writes go to another process than reads. A missing run is reported before a bad body.
    const write = await ask(api, owner, "POST", `/runs/${ids.run_id}/metrics`, { body: {} });
    const isKnownToWrites = (write.status === 404) === (status === 404);
    return isKnownToWrites && answers.every((answer) => answer.status === status);
  });
}
