export { answerTasks, type Sent } from "./answer-tasks.ts";
export { createThreads, type Threads } from "./threads.ts";
