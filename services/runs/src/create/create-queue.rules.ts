/** A create that waits. Those of one line may share a group: their runs are of one project. */
export type QueuedCreate = { readonly orgId: string; readonly line: string; readonly bytes: number };

/** Bounds of groups; a single create may have more bytes. */
export type GroupBounds = { readonly createsMax: number; readonly bytesMax: number };

/** Creates that wait to be stored in groups. */
export type CreateQueue<Create extends QueuedCreate> = {
  add(create: Create): void;
  /**
   * Takes the next group: creates of one line, in the order in which they were added. A line whose group was taken is left out until that group
   * is released. Organizations take turns, and so do the lines of one organization. Returns undefined when there is nothing to take at the moment.
   */
  next(): readonly Create[] | undefined;
  /** Lets the line of a group have the next groups. */
  release(group: readonly Create[]): void;
};

type Line<Create> = { readonly orgId: string; readonly name: string; readonly waiting: Create[]; taken: boolean };

/** Creates an empty queue. */
export function createCreateQueue<Create extends QueuedCreate>({
  createsMax,
  bytesMax,
}: GroupBounds): CreateQueue<Create> {
  const lines = new Map<string, Line<Create>>();
  /** The lines that may have a group, by organization; organizations and lines in the order of their turns. */
  const ready = new Map<string, Set<Line<Create>>>();

  const makeReady = (line: Line<Create>): void => {
    const ofOrg = ready.get(line.orgId);
    if (ofOrg === undefined) ready.set(line.orgId, new Set([line]));
    else ofOrg.add(line);
  };

  return {
    add(create) {
      const { orgId, line: name } = create;
      let line = lines.get(name);
      if (line === undefined) {
        line = { orgId, name, waiting: [], taken: false };
        lines.set(name, line);
      }
      line.waiting.push(create);
      if (!line.taken) makeReady(line);
    },
    next() {
      const first = ready.entries().next();
      if (first.done === true) return undefined;
      const [orgId, turn] = first.value;
      const [line] = turn;
      line!.taken = true;
      turn.delete(line!);
      ready.delete(orgId);
      if (turn.size > 0) ready.set(orgId, turn);
      return line!.waiting.splice(0, countOfGroup(line!.waiting, createsMax, bytesMax));
    },
    release([first]) {
      const line = first === undefined ? undefined : lines.get(first.line);
      if (line === undefined || !line.taken) return;
      line.taken = false;
      if (line.waiting.length > 0) makeReady(line);
      else lines.delete(line.name);
    },
  };
}

/** Returns how many of the first creates make a group: at least one. */
function countOfGroup(waiting: readonly QueuedCreate[], createsMax: number, bytesMax: number): number {
  let count = 1;
  let bytes = waiting[0]?.bytes ?? 0;
  while (count < Math.min(waiting.length, createsMax) && bytes + waiting[count]!.bytes <= bytesMax) {
    bytes += waiting[count]!.bytes;
    count += 1;
  }
  return count;
}
