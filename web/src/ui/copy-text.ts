/**
 * Copies a text to the clipboard. Returns whether that worked. Pages of plain HTTP beyond this machine have no `navigator.clipboard`; there the
 * old way is tried.
 */
export async function copyText(text: string): Promise<boolean> {
  if (isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // The browser does not let this page write to the clipboard.
      return copyBySelection(text);
    }
  }
  return copyBySelection(text);
}

function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.readOnly = true;
  area.className = "tm-hidden";
  const before = document.activeElement;
  // A modal dialog makes everything outside of it inert.
  (before?.closest("dialog") ?? document.body).append(area);
  area.select();
  // oxlint-disable-next-line typescript/no-deprecated -- the only way without a secure context
  const isCopied = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return isCopied;
}
