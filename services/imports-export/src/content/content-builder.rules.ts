import type { Content, SourceArtifact, SourceAttribute, SourceRun } from "./content.rules.ts";

/** Collects a content item by item. */
export type ContentBuilder = {
  addRun(run: SourceRun): void;
  addPoint(sourceId: string, key: string, step: number, value: number, timeUs: number | null): void;
  addAttribute(sourceId: string, attribute: Omit<SourceAttribute, "source">): void;
  addArtifact(sourceId: string, artifact: Omit<SourceArtifact, "source">): void;
  build(): Content;
};

/** Begins an empty content. */
export function createContentBuilder(): ContentBuilder {
  const runs: SourceRun[] = [];
  const attributes: SourceAttribute[] = [];
  const artifacts: SourceArtifact[] = [];
  const [sources, keys] = [createNumbering(), createNumbering()];
  const [pointSources, pointKeys]: [number[], number[]] = [[], []];
  const [steps, values, timesUs]: [number[], number[], number[]] = [[], [], []];
  return {
    addRun: (run) => void runs.push(run),
    addPoint(sourceId, key, step, value, timeUs) {
      pointSources.push(sources.of(sourceId));
      pointKeys.push(keys.of(key));
      steps.push(step);
      values.push(value);
      timesUs.push(timeUs ?? Number.NaN);
    },
    addAttribute: (sourceId, attribute) => void attributes.push({ source: sources.of(sourceId), ...attribute }),
    addArtifact: (sourceId, artifact) => void artifacts.push({ source: sources.of(sourceId), ...artifact }),
    build: () => ({
      runs,
      sources: sources.names,
      keys: keys.names,
      points: {
        sources: Uint32Array.from(pointSources),
        keys: Uint32Array.from(pointKeys),
        steps: Float64Array.from(steps),
        values: Float64Array.from(values),
        timesUs: Float64Array.from(timesUs),
      },
      attributes,
      artifacts,
    }),
  };
}

function createNumbering() {
  const names: string[] = [];
  const indexes = new Map<string, number>();
  // Neighbors are almost always equal.
  let last = "";
  let lastIndex = -1;
  return {
    names,
    of(name: string): number {
      if (name === last && lastIndex >= 0) return lastIndex;
      let index = indexes.get(name);
      if (index === undefined) {
        index = names.push(name) - 1;
        indexes.set(name, index);
      }
      last = name;
      lastIndex = index;
      return index;
    },
  };
}
