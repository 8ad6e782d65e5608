import type { FunctionComponent } from "preact";
import "../shared-chunk.ts";
import { hasUser, may, session } from "../../api/session.ts";
import { Link, useTitle } from "../../app/location.tsx";
import { MissingPage } from "../../app/missing-page.tsx";
import { classes } from "../../ui/class-names.ts";
import { AuditSection } from "./audit-section.tsx";
import { ImportsSection } from "./imports-section.tsx";
import { KeysSection } from "./keys-section.tsx";
import { MembersSection } from "./members-section.tsx";
import { SessionsSection } from "./sessions-section.tsx";
import { TrashSection } from "./trash-section.tsx";
import { UsageSection } from "./usage-section.tsx";
import "./settings-page.css";

type Section = {
  readonly id: string;
  readonly label: string;
  readonly Content: FunctionComponent;
  /** Whether the signed-in one may see it. */
  readonly isOpen: () => boolean;
};

const sections: readonly Section[] = [
  { id: "keys", label: "API keys", Content: KeysSection, isOpen: () => may("keys") },
  { id: "members", label: "Members", Content: MembersSection, isOpen: () => may("people") },
  { id: "usage", label: "Usage", Content: UsageSection, isOpen: () => may("usage") },
  { id: "audit", label: "Audit log", Content: AuditSection, isOpen: () => may("people") },
  { id: "trash", label: "Trash", Content: TrashSection, isOpen: () => may("people") },
  { id: "imports", label: "Imports", Content: ImportsSection, isOpen: () => true },
  { id: "sessions", label: "Sessions", Content: SessionsSection, isOpen: hasUser },
];

/** The settings of the organization, those that the signed-in one may see. */
export function SettingsPage({ section = "" }: { readonly section?: string }) {
  const open = sections.filter(({ isOpen }) => isOpen());
  const missing = sections.filter(({ isOpen }) => !isOpen()).map(({ label }) => label);
  const known = sections.find(({ id }) => id === section);
  const current = section === "" ? open[0] : known;
  useTitle(current?.label ?? "Settings", "Settings");
  if (current === undefined) return <MissingPage />;
  return (
    <div class="tm-page tm-settings">
      <nav aria-label="Settings">
        <p class="tm-settings-of">{session.value?.organization.name}</p>
        <ul>
          {open.map(({ id, label }) => (
            <li key={id}>
              <Link
                href={`/settings/${id}`}
                class={classes("tm-settings-link", id === current.id && "tm-settings-current")}
                aria-current={id === current.id ? "page" : undefined}
              >
                {label}
              </Link>
            </li>
          ))}
        </ul>
        {!hasUser() && <p class="tm-hint">This API key cannot open: {missing.join(", ")}.</p>}
      </nav>
      <div class="tm-settings-content">
        <h1>{current.label}</h1>
        {current.isOpen() ? (
          <current.Content />
        ) : (
          <p>
            {hasUser()
              ? "Only owners and admins of the organization can see this. Ask one of them."
              : "You are signed in with an API key that cannot open this. Sign in as an owner or admin."}
          </p>
        )}
      </div>
    </div>
  );
}
