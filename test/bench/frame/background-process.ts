import { once } from "node:events";
import { drive } from "./drive.ts";
import { withSender, type Destination, type Shot } from "./sender.ts";
import { shotOfRound } from "./step-places.ts";

/** A load that repeats its requests round after round. */
export type BackgroundCommand = Destination & {
  readonly concurrency: number;
  /** Requests a second; without it as many as are answered. */
  readonly rate?: number;
  readonly shots: readonly Shot[];
  /** The number of the first round; see {@link shotOfRound}. */
  readonly firstRound: number;
};

/** How it went. */
export type BackgroundReport = {
  readonly answered: number;
  readonly errors: number;
  readonly firstError: string | undefined;
};

const [command] = (await once(process, "message")) as [BackgroundCommand];
const { concurrency, rate, shots, firstRound } = command;
await withSender(command, concurrency, async (sender) => {
  const stop = new AbortController();
  let [answered, errors] = [0, 0];
  let firstError: string | undefined;
  void drive({
    concurrency,
    rate,
    signal: stop.signal,
    send: (index) =>
      sender.send(shotOfRound(shots[index % shots.length]!, firstRound + Math.floor(index / shots.length))),
    onAnswer: ({ error }) => {
      if (error === undefined) answered += 1;
      else {
        errors += 1;
        firstError ??= error instanceof Error ? error.message : "failed";
      }
    },
  });
  process.send!("started");
  await once(process, "message");
  const report: BackgroundReport = { answered, errors, firstError };
  // Requests still in flight may take long and do not matter.
  process.send!(report, () => process.exit(0));
  await once(process, "exit");
});
