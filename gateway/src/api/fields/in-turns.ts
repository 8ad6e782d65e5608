import { finishInTurns } from "@tidemark/work";
import { checkList, faultOf, faultOfItem, type Parsed, type ListBounds } from "./field.ts";

/** As `withFault`, for what is read in turns with other work of the process. @throws deadline_exceeded */
export async function withFaultInTurns<T>(steps: Generator<void, T>): Promise<Parsed<T>> {
  try {
    return { value: await finishInTurns(steps) };
  } catch (error) {
    return { fault: faultOf(error) };
  }
}

/**
 * Reads the items of a list as `indexedList` does, where reading them all would keep other requests waiting. `readItem` pauses at least once for each.
 * @throws bad_request
 */
export function* readItemsInSteps<T>(
  value: unknown,
  name: string,
  bounds: ListBounds,
  readItem: (item: unknown) => Generator<void, T>,
): Generator<void, T[]> {
  const items: T[] = [];
  for (const [i, item] of checkList(value, name, bounds).entries()) {
    try {
      items.push(yield* readItem(item));
    } catch (error) {
      throw faultOfItem(error, name, i);
    }
  }
  return items;
}
