import { mkdir, mkdtemp, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { startError } from "../toolcache/failures.mjs";
import {
  hydrateLinks,
  newDataMajor,
  obtainPostgres,
  packagedPostgres,
  type PostgresSource,
} from "./obtain-postgres.ts";

type Offer = { bundled?: string; fetched?: string[]; offered?: string[] | Error };

function source({ bundled, fetched = [], offered = [] }: Offer): PostgresSource & { fetches: string[] } {
  const fetches: string[] = [];
  return {
    fetches,
    bundled: () => Promise.resolve(bundled === undefined ? undefined : { packageDir: "/bundled", version: bundled }),
    fetched: () => Promise.resolve(fetched),
    offered: () => (offered instanceof Error ? Promise.reject(offered) : Promise.resolve(offered)),
    fetch: (version) => {
      fetches.push(version);
      return Promise.resolve(`/cache/${version}`);
    },
  };
}

const none = { fetches: [] as string[] };
const offline = startError("PostgreSQL could not be looked up: no network");

test.each([
  ["a new folder gets the bundled server", undefined, { bundled: "18.4.0-beta.17" }, "/bundled/native", none],
  [
    "a folder of the bundled major gets it too",
    18,
    { bundled: "18.4.0-beta.17", fetched: ["18.9.0"] },
    "/bundled/native",
    none,
  ],
  [
    "an older folder gets the newest server of its own major that the registry has",
    17,
    { bundled: "18.4.0-beta.17", offered: ["18.4.0", "17.9.0-beta.17", "17.10.0-beta.17"] },
    "/cache/17.10.0-beta.17/native",
    { fetches: ["17.10.0-beta.17"] },
  ],
  [
    "what the cache has is good enough, without a network",
    17,
    { bundled: "18.4.0-beta.17", fetched: ["17.2.0-beta.15"], offered: offline },
    "/cache/17.2.0-beta.15/native",
    { fetches: ["17.2.0-beta.15"] },
  ],
  [
    "a newer folder is opened by a newer server, if there is one",
    19,
    { bundled: "18.4.0-beta.17", offered: ["19.0.0-beta.18"] },
    "/cache/19.0.0-beta.18/native",
    { fetches: ["19.0.0-beta.18"] },
  ],
  [
    "a package that was not installed is fetched",
    undefined,
    { offered: ["18.4.0-beta.17", "17.10.0"] },
    "/cache/18.4.0-beta.17/native",
    { fetches: ["18.4.0-beta.17"] },
  ],
] as [string, number | undefined, Offer, string, { fetches: string[] }][])(
  "%s",
  async (_name, major, offer, nativeDir, { fetches }) => {
    const from = source(offer);
    const programs = await obtainPostgres(major, from);
    expect(programs).toMatchObject({ nativeDir, major: major ?? newDataMajor });
    expect(from.fetches).toEqual(fetches);
  },
);

test("a new folder gets another major where that is requested, and an old one keeps its own", async () => {
  const from = source({ bundled: "18.4.0", fetched: ["15.18.0", "17.10.0"] });
  expect(await obtainPostgres(undefined, from, 15)).toMatchObject({ nativeDir: "/cache/15.18.0/native", major: 15 });
  expect(await obtainPostgres(17, from, 15)).toMatchObject({ nativeDir: "/cache/17.10.0/native", major: 17 });
});

test.each([
  [
    "an unknown major",
    99,
    { bundled: "18.4.0", offered: ["18.4.0", "17.10.0"] },
    `this data folder was made by PostgreSQL 99: there is no package of PostgreSQL 99 for ${process.platform} ${process.arch}`,
  ],
  [
    "a major that is not here, without a network",
    17,
    { bundled: "18.4.0", offered: offline },
    "this data folder was made by PostgreSQL 17: PostgreSQL could not be looked up: no network",
  ],
] as [string, number, Offer, string][])("%s is one clear line", async (_name, major, offer, message) => {
  await expect(obtainPostgres(major, source(offer))).rejects.toMatchObject({ name: "StartError", message });
});

test("the installed package is of the major that new data gets", async () => {
  const bundled = await packagedPostgres({ cacheDir: "/nowhere", env: {}, log: () => {} }).bundled();
  expect(Number.parseInt(bundled?.version ?? "", 10)).toBe(newDataMajor);
});

test("links that a package lists are created, once, and those that are there stay", async () => {
  const folder = await mkdtemp(join(tmpdir(), "links-"));
  await mkdir(join(folder, "native/lib"), { recursive: true });
  const list = [
    { source: "native/lib/libpq.so.5.18", target: "native/lib/libpq.so" },
    { source: "native/lib/libpq.so.5.18", target: "native/libpq.so.5" },
  ];
  await writeFile(join(folder, "native/pg-symlinks.json"), JSON.stringify(list));
  await hydrateLinks(folder);
  await hydrateLinks(folder);
  expect(await readlink(join(folder, "native/lib/libpq.so"))).toBe("libpq.so.5.18");
  expect(await readlink(join(folder, "native/libpq.so.5"))).toBe("lib/libpq.so.5.18");
  await rm(folder, { recursive: true });
});
