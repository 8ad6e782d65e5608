/** An item that waits to be stored. */
export type Queued = { readonly orgId: string; readonly bytes: number };

/** The composition of groups, and their bounds; a single item may have more bytes. */
export type GroupOptions<Item extends Queued> = {
  /** Items of one line are stored in the order in which they were added, never simultaneously. */
  readonly lineOf: (item: Item) => string;
  readonly itemsMax: number;
  readonly bytesMax: number;
  /** How many lines a group may have. */
  readonly linesMax: number;
};

/** Items that wait to be stored in groups. */
export type GroupQueue<Item extends Queued> = {
  readonly add: (item: Item) => void;
  /**
   * Takes the next group: items of one organization, those of a line in their order. A line with items in a group that was taken is left out until that
   * group is released. Organizations take turns, and so do the lines of an organization. Returns undefined when there is no item to take at the moment.
   */
  readonly next: () => readonly Item[] | undefined;
  /** Lets the lines of a group be in the next groups. */
  readonly release: (group: readonly Item[]) => void;
};

type Line<Item> = { readonly name: string; readonly orgId: string; readonly waiting: Item[]; isTaken: boolean };

/** Creates an empty queue. */
export function createGroupQueue<Item extends Queued>(options: GroupOptions<Item>): GroupQueue<Item> {
  const { lineOf, itemsMax, bytesMax, linesMax } = options;
  const lines = new Map<string, Line<Item>>();
  /** The lines that a group may have, by organization; organizations and lines in the order of their turns. */
  const ready = new Map<string, Set<Line<Item>>>();

  const makeReady = (line: Line<Item>): void => {
    const ofOrg = ready.get(line.orgId);
    if (ofOrg === undefined) ready.set(line.orgId, new Set([line]));
    else ofOrg.add(line);
  };

  return {
    add(item) {
      const { orgId } = item;
      const name = lineOf(item);
      let line = lines.get(name);
      if (line === undefined) {
        line = { name, orgId, waiting: [], isTaken: false };
        lines.set(name, line);
      }
      line.waiting.push(item);
      if (!line.isTaken) makeReady(line);
    },
    next() {
      const first = ready.entries().next();
      if (first.done === true) return undefined;
      const [orgId, ofOrg] = first.value;
      const group: Item[] = [];
      let bytes = 0;
      let linesLeft = linesMax;
      for (const line of ofOrg) {
        let count = 0;
        while (count < line.waiting.length && group.length < itemsMax) {
          const item = line.waiting[count]!;
          if (group.length > 0 && bytes + item.bytes > bytesMax) break;
          group.push(item);
          bytes += item.bytes;
          count += 1;
        }
        if (count > 0) {
          line.waiting.splice(0, count);
          line.isTaken = true;
          ofOrg.delete(line);
          linesLeft -= 1;
        }
        if (line.waiting.length > 0 || group.length === itemsMax || linesLeft === 0) break;
      }
      ready.delete(orgId);
      if (ofOrg.size > 0) ready.set(orgId, ofOrg);
      return group;
    },
    release(group) {
      for (const item of group) {
        const line = lines.get(lineOf(item));
        if (line === undefined || !line.isTaken) continue;
        line.isTaken = false;
        if (line.waiting.length > 0) makeReady(line);
        else lines.delete(line.name);
      }
    },
  };
}
