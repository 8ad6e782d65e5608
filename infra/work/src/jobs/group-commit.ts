import { underDeadline } from "../deadline/deadline.ts";
import { createGroupQueue, type GroupOptions, type Queued } from "./group-queue.rules.ts";

/** Stores items, several with each commit. */
export type GroupCommit<Item extends Queued> = {
  /** Adds an item, which is stored with one of the next groups. */
  readonly add: (item: Item) => void;
};

/** The options of a group commit. */
export type GroupCommitOptions<Item extends Queued> = GroupOptions<Item> & {
  /** Groups that are stored simultaneously. */
  readonly groupsMax: number;
  /** Stores a group, without the deadline of any request. Returns what to do once the next group is on its way: to answer the items. Never rejects. */
  readonly store: (group: readonly Item[]) => Promise<() => void>;
};

/** Creates a group commit with nothing in its queue. A group has the items that arrived while the groups before it were stored. */
export function createGroupCommit<Item extends Queued>(options: GroupCommitOptions<Item>): GroupCommit<Item> {
  const { groupsMax, store } = options;
  const queue = createGroupQueue<Item>(options);
  let groups = 0;
  let isPumpDue = false;

  const commit = async (group: readonly Item[]): Promise<void> => {
    groups += 1;
    const answer = await store(group);
    groups -= 1;
    queue.release(group);
    pump();
    answer();
  };

  const pump = (): void => {
    isPumpDue = false;
    while (groups < groupsMax) {
      const group = queue.next();
      if (group === undefined) return;
      // A group belongs to many requests: the deadline of the request that happens to begin it is not the group's.
      void underDeadline(undefined, () => commit(group));
    }
  };

  return {
    add(item) {
      queue.add(item);
      if (isPumpDue || groups >= groupsMax) return;
      isPumpDue = true;
      // After all requests that have arrived already.
      setImmediate(pump);
    },
  };
}
