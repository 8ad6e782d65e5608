import { call } from "../api/client.ts";
import { session, takeSession, type Session } from "../api/session.ts";
import { faultOf } from "../ui/fault.ts";
import { Menu, type MenuItem } from "../ui/menu.tsx";
import { toast } from "../ui/toast.tsx";
import { navigate } from "./location.tsx";
import { chooseTheme, themeChoice, type ThemeChoice } from "./theme.ts";

const THEMES: readonly (readonly [ThemeChoice, string])[] = [
  ["light", "Light theme"],
  ["dark", "Dark theme"],
  ["system", "System theme"],
];

/** The menu of who is signed in: organizations, settings, themes, keys, sign-out. */
export function AccountMenu({ onHelp }: { readonly onHelp: () => void }) {
  const { value: current } = session;
  if (current === undefined) return null;
  const others = current.memberships.filter(
    ({ is_current: isCurrent, deleted_at: at }) => !isCurrent && (at ?? null) === null,
  );
  const items: readonly MenuItem[] = [
    ...others.map(({ org_id: orgId, name }): MenuItem => ({
      label: `Switch to ${name}`,
      icon: "users",
      onSelect: () => void switchTo(orgId),
    })),
    ...(others.length > 0 ? (["line"] as const) : []),
    { label: "Settings", icon: "settings", onSelect: () => navigate("/settings") },
    { label: "Keyboard shortcuts", icon: "command", hint: "?", onSelect: onHelp },
    "line",
    ...THEMES.map(([choice, label]): MenuItem => ({
      label,
      checked: themeChoice.value === choice,
      onSelect: () => chooseTheme(choice),
    })),
    "line",
    { label: "Sign out", icon: "sign-out", onSelect: () => void signOut() },
  ];
  return (
    <Menu
      label={`Account: ${whoOf(current)}`}
      items={items}
      align="end"
      button={{ kind: "quiet", icon: "user", title: whoOf(current) }}
    >
      <span class="tm-account-name">
        <span class="tm-hidden">Account in </span>
        {current.organization.name}
      </span>
    </Menu>
  );
}

/** Returns what the signed-in one is called. */
function whoOf({ user, organization }: Session): string {
  return user === null ? `API key of ${organization.name}` : (user.display_name ?? user.primary_email);
}

async function switchTo(orgId: string): Promise<void> {
  try {
    takeSession(await call<Session>("/api/auth/switch-organization", { body: { org_id: orgId } }));
    navigate("/");
  } catch (error) {
    toast(faultOf(error).text, { kind: "bad" });
  }
}

async function signOut(): Promise<void> {
  try {
    takeSession(await call<{ authenticated: false }>("/api/auth/logout", { method: "POST" }));
    navigate("/signin");
  } catch (error) {
    toast(faultOf(error).text, { kind: "bad" });
  }
}
