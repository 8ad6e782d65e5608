/** @type {readonly NodeJS.Signals[]} */
const passedOn = ["SIGINT", "SIGTERM", "SIGHUP"];
const repeatMs = 1000;

/**
 * Decides for each signal in turn whether the launcher passes it on to the program. Ctrl-C in a terminal goes to every
 * process of the foreground group, so the program already has its SIGINT, and a second one could mean "stop immediately". A
 * SIGINT more than a second after the first is always passed on. Pure except for its memory.
 *
 * @param {{ onTerminal: boolean }} options
 * @returns {(signal: NodeJS.Signals, nowMs: number) => boolean}
 */
export const signalFilter = ({ onTerminal }) => {
  /** @type {number | undefined} */
  let firstMs;
  return (signal, nowMs) => {
    if (signal !== "SIGINT" || !onTerminal) return true;
    firstMs ??= nowMs;
    return nowMs - firstMs > repeatMs;
  };
};

/**
 * Handles the signals that end a program: before the program runs they end the preparations, afterwards they go to it.
 *
 * @returns {{ abort: AbortSignal, received(): NodeJS.Signals | undefined, deliverTo: (target: (signal: NodeJS.Signals) => void) => void }}
 */
export const takeSignals = () => {
  const controller = new AbortController();
  const streams = [process.stdin, process.stdout, process.stderr];
  const passes = signalFilter({ onTerminal: streams.some((stream) => stream.isTTY) });
  /** @type {NodeJS.Signals | undefined} */
  let received;
  /** @type {((signal: NodeJS.Signals) => void) | undefined} */
  let target;
  for (const signal of passedOn) {
    process.on(signal, () => {
      received = signal;
      if (target === undefined) controller.abort(new Error(signal));
      else if (passes(signal, performance.now())) target(signal);
    });
  }
  return {
    abort: controller.signal,
    received: () => received,
    deliverTo: (deliver) => {
      target = deliver;
    },
  };
};
