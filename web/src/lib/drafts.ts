// Texts of the editor that were changed and not taken into the library, kept in this browser, so
// that they survive a reload. There is one for each game, and one for new rules (id '').

export interface Draft { name: string; text: string }

const key = (id: string) => `agon-text/${id}`;

export function draftOf(id: string): Draft | null {
  try {
    const draft = JSON.parse(localStorage.getItem(key(id)) ?? 'null');
    return typeof draft?.text === 'string' && typeof draft.name === 'string' ? draft : null;
  } catch {
    return null;
  }
}

export function keepDraft(id: string, draft: Draft): void {
  try {
    localStorage.setItem(key(id), JSON.stringify(draft));
  } catch {
    // The browser has no room left. The text stays in the editor.
  }
}

export function forgetDraft(id: string): void {
  localStorage.removeItem(key(id));
}
