// Copying texts, also where the browser has no clipboard for pages: that is everywhere but on
// this machine and behind TLS.

/** Copies a text. Returns whether that was possible. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelection(text);
  }
}

/** Copies by the old command of browsers, which needs a selected text in the page. */
function copySelection(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.readOnly = true;
  field.className = 'sr';
  document.body.append(field);
  const before = document.activeElement;
  field.select();
  let done = false;
  try {
    done = document.execCommand('copy');
  } catch {
    // The caller shows the text instead.
  }
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}
