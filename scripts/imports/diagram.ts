import { edges, isTestFile } from "./edges.ts";
import { type Layer, layerOf } from "./layers.ts";
import type { Package, Workspace } from "./workspace.ts";

const groups: readonly (readonly [Layer, string])[] = [
  ["all", "services/all"],
  ["gateway", "gateway"],
  ["cli", "cli"],
  ["service", "services"],
  ["infra", "infra"],
  ["package", "packages"],
  ["proto", "proto"],
];

/** Returns which packages each package imports by name, outside its tests. */
function packageGraph(workspace: Workspace): ReadonlyMap<string, ReadonlySet<string>> {
  const graph = new Map(workspace.packages.map(({ name }) => [name, new Set<string>()]));
  for (const { file, importer, target } of edges(workspace)) {
    if (target.kind !== "package" || target.package === importer || isTestFile(file.path)) continue;
    graph.get(importer.name)?.add(target.package.name);
  }
  return graph;
}

/** Returns the graph without the arrows that others imply: a -> c is dropped when there is a -> b -> c. Expects no circles. */
export function reduceGraph(graph: ReadonlyMap<string, ReadonlySet<string>>): ReadonlyMap<string, ReadonlySet<string>> {
  const below = (name: string): ReadonlySet<string> =>
    new Set([...(graph.get(name) ?? [])].flatMap((next) => [next, ...below(next)]));
  return new Map(
    [...graph].map(([name, direct]) => {
      const implied = new Set([...direct].flatMap((next) => [...below(next)]));
      return [name, new Set([...direct].filter((next) => !implied.has(next)))];
    }),
  );
}

/** Draws the packages that ship and what they import, as a Mermaid flowchart in a fenced block. */
export function drawImports(workspace: Workspace): string {
  const graph = reduceGraph(packageGraph(workspace));
  const members = (layer: Layer): readonly Package[] =>
    workspace.packages
      .filter((candidate) => layerOf(candidate) === layer)
      .toSorted((a, b) => (a.folder < b.folder ? -1 : 1));
  const id = (folder: string): string => folder.replaceAll(/[^a-z]/g, "_");
  const lines = groups.flatMap(([layer, title]) => {
    const boxes = members(layer).map(({ folder }) => `    ${id(folder)}["${folder.split("/").at(-1) ?? folder}"]`);
    return boxes.length === 0 ? [] : [`  subgraph ${layer}_layer["${title}"]`, ...boxes, "  end"];
  });
  const folders = new Map(workspace.packages.map(({ name, folder }) => [name, folder]));
  const arrows = groups.flatMap(([layer]) =>
    members(layer).flatMap(({ name, folder }) =>
      [...(graph.get(name) ?? [])].toSorted().map((next) => `  ${id(folder)} --> ${id(folders.get(next) ?? next)}`),
    ),
  );
  return ["```mermaid", "flowchart TD", ...lines, ...arrows, "```"].join("\n");
}

/** Puts a drawing between the two comments that bear its name. @throws Error unless both are there, in this order */
export function placeDrawing(document: string, name: string, drawing: string): string {
  const [start, end] = [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`];
  const [from, to] = [document.indexOf(start), document.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the document needs the lines ${start} and ${end}`);
  return `${document.slice(0, from + start.length)}\n\n${drawing}\n\n${document.slice(to)}`;
}
