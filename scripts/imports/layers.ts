import type { Package } from "./workspace.ts";

/** The layer of a package; imports go from a later name to an earlier one. */
export type Layer =
  | "proto"
  | "package"
  | "infra"
  | "service"
  | "gateway"
  | "cli"
  | "web"
  | "all"
  | "test"
  | "example"
  | "scripts";

const beneathServices: readonly Layer[] = ["proto", "package", "infra"];

/** The layers that each layer may import; another package of the same layer only where the layer is listed. */
export const importable: Readonly<Record<Layer, readonly Layer[]>> = {
  proto: [],
  package: ["package"],
  infra: beneathServices,
  service: beneathServices,
  gateway: [...beneathServices, "web"],
  // The dashboard is a client as well; what it shares with the server are rules that only compute.
  web: ["package"],
  // The command line is a client: it knows the formats, and of the server only the REST API.
  cli: ["package"],
  // A local start bundles the dashboard and hands the folder to the gateway.
  all: [...beneathServices, "service", "gateway", "web"],
  test: [...beneathServices, "service", "gateway", "all", "web"],
  // An example is what a user would copy, and a user has none of our packages.
  example: [],
  scripts: [...beneathServices, "service", "gateway", "all", "test"],
};

/** Returns the layer of a package by its folder. @throws Error for a folder that has no place in the layout */
export function layerOf({ folder }: Pick<Package, "folder">): Layer {
  if (folder === "") return "scripts";
  if (folder === "services/all") return "all";
  const [top] = folder.split("/");
  switch (top) {
    case "proto":
    case "infra":
    case "gateway":
    case "cli":
    case "web":
    case "test":
      return top;
    case "packages":
      return "package";
    case "services":
      return "service";
    case "examples":
      return "example";
    default:
      throw new Error(`${folder} has no place in the layout`);
  }
}
