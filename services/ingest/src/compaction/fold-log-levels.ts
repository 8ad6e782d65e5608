import { countOf, cutColumns, indexAfter, mergeColumns, sliceColumns, type LogColumns } from "@tidemark/log-codec";
import type { NewBlock } from "../domain/block-change.ts";
import { FOLD_BLOCKS_MAX, planFold, type BlockFacts, type Fold, type LevelRules } from "../domain/log-levels.ts";
import type { LogBlockStore, StepResult } from "./log-block-store.ts";

/** Takes one block out of a level that is too high, in one change; undefined when no level is. */
export async function foldLevels(store: LogBlockStore, rules: LevelRules): Promise<StepResult | undefined> {
  const [top, ...overlapping] = await store.atTop(rules.levelsMax, FOLD_BLOCKS_MAX + 1);
  if (top === undefined) return undefined;
  const fold = planFold(rules, top, overlapping);
  const replaced = fold.kind === "split" ? [top] : fold.inputs;
  const whole = mergeColumns(await store.read(replaced));
  const added = fold.kind === "split" ? halves(top.level, whole) : folded(rules, fold, top, whole);
  return (await store.replace({ landingIds: [], replaced, added })) ? { blocks: added.length } : "lost";
}

function halves(level: number, whole: LogColumns): NewBlock[] {
  const middle = Math.ceil(countOf(whole) / 2);
  return [
    { level, columns: sliceColumns(whole, 0, middle) },
    { level, columns: sliceColumns(whole, middle, countOf(whole)) },
  ];
}

function folded(rules: LevelRules, fold: Fold & { kind: "merge" }, top: BlockFacts, whole: LogColumns): NewBlock[] {
  const from = indexAfter(whole, { ...top.first, id: top.first.id - 1 });
  const to = indexAfter(whole, top.last);
  const parts = [
    { level: fold.left, from: 0, to: from },
    { level: fold.middle, from, to },
    { level: fold.right, from: to, to: countOf(whole) },
  ];
  const added: NewBlock[] = [];
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    // Neighbours of one level are cut as one, so that no small blocks come out of it.
    const next = parts[i + 1];
    if (next !== undefined && next.level === part.level) next.from = part.from;
    else {
      const pieces = cutColumns(sliceColumns(whole, part.from, part.to), rules.blockWeight);
      added.push(...pieces.map((columns) => ({ level: part.level, columns })));
    }
  }
  return added;
}
