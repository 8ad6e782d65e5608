// Small parts that several pages share. Every page imports them all, so that they are one file of the bundle with what the start needs:
// otherwise each set of pages that share something makes a separate file, which costs a browser more to ask for than to read.
import "../api/changes.ts";
import "../api/session.ts";
import "../api/base-path.ts";
import "../api/exact-value.ts";
import "../api/use-answer.ts";
import "../api/use-changes.ts";
import "../api/use-project-id.ts";
import "../app/keys.ts";
import "../app/lazy.tsx";
import "../app/addresses.ts";
import "../app/theme.ts";
import "../app/missing-page.tsx";
import "../ui/status-badge.tsx";
import "../ui/field.tsx";
import "../ui/dialog.tsx";
import "../ui/page-states.tsx";
import "../ui/menu.tsx";
import "../ui/words.ts";
import "../ui/tabs.tsx";
import "../ui/time.tsx";
import "../ui/save-file.ts";
import "../ui/use-last.ts";
import "./project/no-project.tsx";
import "./project/runs/shown-runs.ts";
