import { type Edge, isTestFile } from "./edges.ts";
import { layerOf } from "./layers.ts";

/** Infrastructure that only the wiring imports; other files get what they use as an argument and may import its type. */
const wiredInfra = new Set(["infra/host", "infra/rpc", "infra/bus", "infra/blob", "infra/local"]);

/** Files right under src that put a service together: settings, the map of its handlers, the module, what others may import. */
const wiring = /^([a-z-]+-)?(module|main|config|handlers|index)\.ts$/;

type Place = "rules" | "sql" | "handlers" | "wiring";

/** Returns the place of a file by its path below `src`. A file whose name says nothing is held to the rules of handlers. */
function placeOf(path: string): Place {
  if (path.endsWith(".rules.ts")) return "rules";
  if (path.endsWith(".sql.ts")) return "sql";
  return !path.includes("/") && wiring.test(path) ? "wiring" : "handlers";
}

/** Returns whether a file of a service holds pure rules. */
export function holdsRules({ file, importer }: Pick<Edge, "file" | "importer">): boolean {
  const src = `${importer.folder}/src/`;
  return (
    layerOf(importer) === "service" && file.path.startsWith(src) && placeOf(file.path.slice(src.length)) === "rules"
  );
}

const ownImports: Readonly<Record<Place, readonly Place[]>> = {
  rules: ["rules"],
  sql: ["rules", "sql"],
  handlers: ["rules", "sql", "handlers"],
  wiring: ["rules", "sql", "handlers", "wiring"],
};

/**
 * Judges the order inside a service: rules know rules, pure packages, errors, documents and the types of messages; SQL knows rules and
 * PostgreSQL and turns as well; handlers know both, and of the wiring the types of what they are given; only the wiring knows host,
 * RPC, bus and blobs other than by type.
 */
export function judgeServiceFolders(edge: Edge): string | undefined {
  const { file, importer, target } = edge;
  const { typeOnly } = edge.import;
  if (layerOf(importer) !== "service" || isTestFile(file.path)) return undefined;
  const src = `${importer.folder}/src/`;
  if (!file.path.startsWith(src)) return undefined;
  const place = placeOf(file.path.slice(src.length));
  if (target.kind === "file" && target.owner === importer && target.path.startsWith(src)) {
    const other = placeOf(target.path.slice(src.length));
    if (ownImports[place].includes(other)) return undefined;
    if (place === "handlers" && other === "wiring" && typeOnly) return undefined;
    return `${place} may not import ${other} (${target.path})`;
  }
  if (target.kind !== "package") return undefined;
  return mayImport(place, target.package.folder, typeOnly)
    ? undefined
    : `${place} may not import ${target.package.name}${typeOnly ? "" : " (other than by type, if at all)"}`;
}

function mayImport(place: Place, folder: string, typeOnly: boolean): boolean {
  const pure = folder.startsWith("packages/") || folder === "infra/errors" || folder === "infra/documents";
  switch (place) {
    case "rules":
      return pure || (folder === "proto" && typeOnly);
    case "sql":
      return pure || folder === "infra/pg" || folder === "infra/work";
    case "handlers":
      return typeOnly || !wiredInfra.has(folder);
    case "wiring":
      return true;
  }
}
