export { runsMigrations, runsModule } from "./module.ts";
