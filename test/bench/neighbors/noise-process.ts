import { once } from "node:events";
import { runClosedLoop } from "../closed-loop.ts";
import { withSender, type Shot } from "../open-sender.ts";
import { shotOfRound } from "./noises.ts";

// A client that asks for as much as it gets, in a process of its own, so that it does not delay those who measure.

/** What it sends, over and over. */
export type NoiseCommand = {
  readonly baseUrl: string;
  readonly key: string;
  readonly concurrency: number;
  readonly shots: readonly Shot[];
  /** Of which round the first batches are. */
  readonly firstRound: number;
};

/** How it went. */
export type NoiseReport = {
  readonly answered: number;
  readonly errors: number;
  readonly firstError: string | undefined;
};

const DAY_SECONDS = 86_400;

const [command] = (await once(process, "message")) as [NoiseCommand];
const { baseUrl, key, concurrency, shots, firstRound } = command;
await withSender({ baseUrl, key, connections: concurrency }, async (sender) => {
  let answered = 0;
  let errors = 0;
  let firstError: string | undefined;
  const send = async (index: number): Promise<void> => {
    try {
      await sender.send(shotOfRound(shots[index % shots.length]!, firstRound + Math.floor(index / shots.length)));
      answered += 1;
    } catch (error) {
      errors += 1;
      firstError ??= String(error);
      throw error;
    }
  };
  void runClosedLoop({ concurrency, warmUp: 0, seconds: DAY_SECONDS, once: send });
  process.send!("started");
  await once(process, "message");
  const report: NoiseReport = { answered, errors, firstError };
  process.send!(report, () => process.exit(0));
  await once(process, "exit");
});
