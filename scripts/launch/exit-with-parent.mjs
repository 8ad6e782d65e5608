// Loaded before the program that the launcher starts. A killed launcher cannot pass its end on, and the program would go on
// unseen and keep the port and the data folder. So the launcher holds one end of a pipe: when it closes, the program gets
// SIGTERM.
import { Socket } from "node:net";

const graceMs = 30_000;

// The variable must not reach the program's own children: their file descriptor 3 is something else.
const launcher = process.env["TIDEMARK_LAUNCHER_PID"];
delete process.env["TIDEMARK_LAUNCHER_PID"];

if (launcher !== undefined && Number(launcher) === process.ppid) {
  const pipe = new Socket({ fd: 3 });
  pipe.on("error", () => {});
  pipe.once("close", () => {
    process.kill(process.pid, "SIGTERM");
    setTimeout(() => process.kill(process.pid, "SIGKILL"), graceMs).unref();
  });
  pipe.resume().unref();
}
