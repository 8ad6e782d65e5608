import { startRounds } from "./rounds.ts";

/** The jobs that a process does. */
export type Runner<Name> = {
  /** Does a job, unless it is being done or there is no room: then a later round begins it. Resolves when the job has ended here. Never rejects. */
  readonly begin: (name: Name) => Promise<void>;
  /** Begins no further job. Resolves when those of this process have ended. */
  readonly drain: () => Promise<void>;
};

/** What a runner works with. */
export type RunnerOptions<Name> = {
  /** Jobs of one key are not done simultaneously: of an organization, or all of one job. */
  readonly keyOf: (name: Name) => string;
  /** Jobs that the process does simultaneously. */
  readonly jobsMax: number;
  /** How often the process looks for jobs that no process does. */
  readonly lookMs: number;
  /** Lists at most so many jobs that no process does. */
  readonly listDue: (jobsMax: number) => Promise<readonly Name[]>;
  /** Does a job until it has ended, `isStopped` says so, or another process has it. Resolves to true if the job has ended here, well or badly. */
  readonly run: (name: Name, isStopped: () => boolean) => Promise<boolean>;
  /** Called with what a job throws, and with what a look throws. */
  readonly onError: (error: unknown) => void;
};

/** Starts to do jobs that any process may do: those that it is told of, and those that it finds. */
export function startRunner<Name>(options: RunnerOptions<Name>): Runner<Name> {
  const { keyOf, jobsMax, lookMs, listDue, run, onError } = options;
  const running = new Map<string, Promise<void>>();
  let isStopped = false;

  const begin = (name: Name): Promise<void> => {
    const key = keyOf(name);
    const known = running.get(key);
    if (known !== undefined) return known;
    if (isStopped || running.size >= jobsMax) return Promise.resolve();
    const job = finish(
      key,
      run(name, () => isStopped),
    );
    running.set(key, job);
    return job;
  };
  const finish = async (key: string, job: Promise<boolean>): Promise<void> => {
    let hasEnded = false;
    try {
      hasEnded = await job;
    } catch (error) {
      onError(error);
    }
    running.delete(key);
    // What waited for it does not wait for the next round. One that goes on later does.
    if (hasEnded) void looks.begin();
  };

  const looks = startRounds({
    everyMs: lookMs,
    onError,
    async round() {
      const free = jobsMax - running.size;
      if (free > 0) for (const name of await listDue(free)) void begin(name);
    },
  });
  return {
    begin,
    async drain() {
      isStopped = true;
      await looks.stop();
      await Promise.all(running.values());
    },
  };
}
