import { runProcess } from "@tidemark/host";
import { runsModule } from "./module.ts";

await runProcess({ name: "runs", modules: [runsModule], alsoKnown: [] });
