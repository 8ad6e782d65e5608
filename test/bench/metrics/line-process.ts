import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** A program that answers each line of JSON with one line of JSON. */
export type LineProcess = {
  readonly pid: number;
  /** One at a time. @throws Error with what the program said when it could not, or has ended. */
  ask<Answer extends object>(command: object): Promise<Answer>;
  close(): Promise<void>;
};

const WORDS_MAX = 4000;

/** Starts it; it ends when its input does. */
export function startLineProcess(command: string, args: readonly string[], env: NodeJS.ProcessEnv): LineProcess {
  const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said = `${said}${chunk.toString()}`.slice(-WORDS_MAX);
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  child.once("error", (error) => {
    said += String(error);
  });
  child.stdin.on("error", () => {});
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    pid: child.pid ?? -1,
    async ask<Answer extends object>(question: object) {
      child.stdin.write(`${JSON.stringify(question)}\n`);
      const { value } = (await lines.next()) as { value: string | undefined };
      if (value === undefined) throw new Error(`${command} has ended: ${said}`);
      const answer = JSON.parse(value) as { failed?: string };
      if (answer.failed !== undefined) throw new Error(answer.failed);
      return answer as Answer;
    },
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}
