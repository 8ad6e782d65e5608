import { startRounds } from "./rounds.ts";

/** The jobs that a process does. */
export type Runner<Name> = {
  /** Does a job, unless it is being done or there is no room: then a later round begins it. Resolves when the job has ended here. Never rejects. */
  readonly begin: (name: Name) => Promise<void>;
  /** Begins no further job. Resolves when those of this process have ended. */
  readonly drain: () => Promise<void>;
};

/** The options of a runner. */
export type RunnerOptions<Name> = {
  /** Jobs of one key are not done simultaneously: those of an organization, or all of one job. */
  readonly keyOf: (name: Name) => string;
  /** Jobs that the process does simultaneously. */
  readonly jobsMax: number;
  /** How often the process looks for jobs that no process is doing. */
  readonly lookMs: number;
  /** Lists at most this many jobs that no process is doing. */
  readonly listDue: (jobsMax: number) => Promise<readonly Name[]>;
  /** Does a job until it has ended, `isStopped` says so, or another process has it. Resolves to true if the job has ended here, with or without an error. */
  readonly run: (name: Name, isStopped: () => boolean) => Promise<boolean>;
  /** Called with the error of a job, or of a look for jobs. */
  readonly onError: (error: unknown) => void;
};

/** Starts to do jobs that any process may do: those that it is notified of, and those that it finds. */
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
    // Jobs that waited for it do not wait for the next round. A job that continues later does.
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
