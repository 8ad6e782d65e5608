import { doubleOf, eachField } from "../bytes/wire-fields.ts";

/** An `Event` of tensorboard/compat/proto/event.proto. */
export type TfEvent = {
  /** Milliseconds since 1970; NaN where the event has none. */
  readonly time: number;
  readonly step: number;
  /** The step with all its digits, where a double may not hold it. */
  readonly longStep?: bigint;
  /** Its `Summary.Value` messages. */
  readonly values: readonly Buffer[];
  /** Whether its writer starts with it, which takes back what was written before from this step on. */
  readonly starts: boolean;
  /** Whether the bytes of the event are damaged; the rest of it is what precedes the damage. */
  readonly damaged: boolean;
};

const SESSION_START = 1;

/** Reads an event. */
export function readEvent(record: Buffer): TfEvent {
  let [time, step, starts, whole] = [Number.NaN, 0, false, true];
  const values: Buffer[] = [];
  let longStep: bigint | undefined;
  const wholeRecord = eachField(record, (field) => {
    if (field.number === 1 && field.wire === 1) time = doubleOf(field) * 1000;
    else if (field.number === 2 && field.wire === 0) [step, longStep] = [field.int, field.long];
    else if (field.number === 5 && field.wire === 2) {
      const wholeSummary = eachField(field.bytes, ({ number, wire, bytes }) => {
        if (number === 1 && wire === 2) values.push(bytes);
      });
      whole &&= wholeSummary;
    } else if (field.number === 7 && field.wire === 2) {
      eachField(field.bytes, ({ number, int }) => {
        if (number === 1) starts = int === SESSION_START;
      });
    }
  });
  return {
    time,
    step,
    ...(longStep === undefined ? {} : { longStep }),
    values,
    starts,
    damaged: !(whole && wholeRecord),
  };
}
