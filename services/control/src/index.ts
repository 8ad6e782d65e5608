export { controlMigrations, controlModule } from "./module.ts";
