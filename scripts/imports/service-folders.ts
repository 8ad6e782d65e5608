import { type Edge, isTestFile } from "./edges.ts";
import { layerOf } from "./layers.ts";

/** Files right under src that put a service together. */
const wiring = /^([a-z-]+-)?(module|main|routes|index)\.ts$/;

/** Infrastructure that only the wiring holds in its hands; others get what they use as an argument and know its type. */
const wiredInfra = new Set(["infra/host", "infra/rpc", "infra/bus", "infra/blob", "infra/local"]);

type Place = "domain" | "store" | "handlers" | "wiring";

/** The part of a service that a path below `src` belongs to. A file that does not say what it is is held to the rules of handlers. */
function placeOf(path: string): Place {
  if (path.endsWith(".rules.ts")) return "domain";
  if (path.endsWith(".sql.ts")) return "store";
  const [first = "", ...rest] = path.split("/");
  if (rest.length === 0) return wiring.test(first) ? "wiring" : "handlers";
  return first === "domain" || first === "store" ? first : "handlers";
}

const ownImports: Readonly<Record<Place, readonly Place[]>> = {
  domain: ["domain"],
  store: ["domain", "store"],
  handlers: ["domain", "store", "handlers"],
  wiring: ["domain", "store", "handlers", "wiring"],
};

/**
 * The order inside a service: domain knows domain, pure packages, errors and the types of messages; store knows domain
 * and PostgreSQL as well; handlers know both; only the wiring knows host, RPC, bus and blobs other than by type.
 */
export function judgeServiceFolders({ file, importer, import: { typeOnly }, target }: Edge): string | undefined {
  if (layerOf(importer) !== "service" || isTestFile(file.path)) return undefined;
  const src = `${importer.folder}/src/`;
  if (!file.path.startsWith(src)) return undefined;
  const place = placeOf(file.path.slice(src.length));
  if (target.kind === "file" && target.owner === importer && target.path.startsWith(src)) {
    const other = placeOf(target.path.slice(src.length));
    return ownImports[place].includes(other) ? undefined : `${place} may not import ${other} (${target.path})`;
  }
  if (target.kind !== "package") return undefined;
  return mayImport(place, target.package.folder, typeOnly)
    ? undefined
    : `${place} may not import ${target.package.name}${typeOnly ? "" : " (other than by type, if at all)"}`;
}

function mayImport(place: Place, folder: string, typeOnly: boolean): boolean {
  if (place === "wiring") return true;
  const pure = folder.startsWith("packages/") || folder === "infra/errors";
  switch (place) {
    case "domain":
      return pure || (folder === "proto" && typeOnly);
    case "store":
      return pure || folder === "infra/pg";
    case "handlers":
      return typeOnly || !wiredInfra.has(folder);
  }
}
