/** A write that waits to be stored. */
export type QueuedWrite = { readonly orgId: string; readonly runId: string; readonly bytes: number };

/** Bounds of a group; a single write may have more bytes. */
export type GroupBounds = { readonly writesMax: number; readonly bytesMax: number };

/** Writes that wait to be stored in groups. */
export type WriteQueue<Write extends QueuedWrite> = {
  add(write: Write): void;
  /**
   * Takes the next group: writes of one organization, those of a run in the order in which they were added. A run whose writes are in a group
   * that was taken is left out until that group is released. Organizations take turns, and so do the runs of one organization. Returns undefined
   * when there is nothing to take at the moment.
   */
  next(): readonly Write[] | undefined;
  /** Lets the runs of a group be in the next groups. */
  release(group: readonly Write[]): void;
};

type Line<Write> = { readonly runId: string; readonly orgId: string; waiting: Write[]; taken: boolean };

/** Creates an empty queue. */
export function createWriteQueue<Write extends QueuedWrite>({ writesMax, bytesMax }: GroupBounds): WriteQueue<Write> {
  const lines = new Map<string, Line<Write>>();
  /** The runs that a group may have, by organization; organizations and runs in the order of their turns. */
  const ready = new Map<string, Set<Line<Write>>>();

  const makeReady = (line: Line<Write>): void => {
    const ofOrg = ready.get(line.orgId);
    if (ofOrg === undefined) ready.set(line.orgId, new Set([line]));
    else ofOrg.add(line);
  };

  return {
    add(write) {
      const { runId, orgId } = write;
      let line = lines.get(runId);
      if (line === undefined) {
        line = { runId, orgId, waiting: [], taken: false };
        lines.set(runId, line);
      }
      line.waiting.push(write);
      if (!line.taken) makeReady(line);
    },
    next() {
      const first = ready.entries().next();
      if (first.done === true) return undefined;
      const [orgId, turn] = first.value;
      const group: Write[] = [];
      let bytes = 0;
      for (const line of turn) {
        let count = 0;
        while (count < line.waiting.length && group.length < writesMax) {
          const write = line.waiting[count]!;
          if (group.length > 0 && bytes + write.bytes > bytesMax) break;
          group.push(write);
          bytes += write.bytes;
          count += 1;
        }
        if (count > 0) {
          line.waiting.splice(0, count);
          line.taken = true;
          turn.delete(line);
        }
        if (line.waiting.length > 0 || group.length === writesMax) break;
      }
      ready.delete(orgId);
      if (turn.size > 0) ready.set(orgId, turn);
      return group;
    },
    release(group) {
      for (const { runId } of group) {
        const line = lines.get(runId);
        if (line === undefined || !line.taken) continue;
        line.taken = false;
        if (line.waiting.length > 0) makeReady(line);
        else lines.delete(runId);
      }
    },
  };
}
