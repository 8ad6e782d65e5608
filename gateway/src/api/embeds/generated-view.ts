import type { RunSummary } from "@tidemark/proto/runs/v1/runs";
import { requireMessage } from "../replies.ts";
import { contentOf, LINE, type ViewContent, type ViewPanel } from "../view-data/panels.ts";
import { chooseFields, type RunFields } from "./run-fields.ts";

const SECTION = { sectionId: "embed-section", sectionName: "Metrics" };

/** The panels of the first key besides its line, in their order. */
const KINDS = ["histogram", "bar", "dot", "scatter", "distribution"] as const;

/**
 * Makes the view of an embed session (contract of embed sessions, generated view): lines of the first two keys, the other kinds of panels for the first key,
 * then lines of the other keys.
 * @param keys those with the most points first
 */
export function generateView(runs: readonly RunSummary[], keys: readonly string[], panelsMax: number): ViewContent {
  const [first, second, ...others] = keys;
  if (first === undefined) return contentOf([]);
  const wanted = [
    ...[first, ...(second === undefined ? [] : [second])].map((key) => ({ type: LINE, key })),
    ...KINDS.map((type) => ({ type, key: first })),
    ...others.map((key) => ({ type: LINE, key })),
  ].slice(0, panelsMax);
  const needsFields = wanted.some(({ type }) => type === "scatter" || type === "distribution");
  const fields = needsFields ? chooseFields(runs.map(({ run }) => requireMessage(run))) : {};
  return contentOf(
    wanted.map(({ type, key }, i): ViewPanel => ({
      ...SECTION,
      id: `embed-${type}-${i + 1}`,
      title: type === LINE ? key : `${key}: ${type}`,
      type,
      metricKey: key,
      fields: fieldsOf(type, key, fields),
      warnings: [],
    })),
  );
}

function fieldsOf(type: string, key: string, { x, group, replicate }: RunFields): Record<string, string> {
  const best = `metric:${encodeURIComponent(key.toWellFormed())}:best`;
  switch (type) {
    case LINE:
      return {};
    case "scatter":
      return { x_field: x ?? "run:duration_seconds", y_field: best };
    case "distribution":
      return {
        value_field: best,
        ...(group === undefined ? {} : { group_field: group }),
        ...(replicate === undefined ? {} : { replicate_field: replicate }),
      };
    default:
      return { value_field: best };
  }
}
