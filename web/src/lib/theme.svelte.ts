// Light or dark: as the system says, unless the person has chosen.

const STORED = 'agon-theme';
const system = matchMedia('(prefers-color-scheme: dark)');

function initial(): 'light' | 'dark' {
  const stored = localStorage.getItem(STORED);
  if (stored === 'light' || stored === 'dark') return stored;
  return system.matches ? 'dark' : 'light';
}

export const theme = $state({ name: initial() });

export function apply(): void {
  document.documentElement.dataset.theme = theme.name;
}

export function toggleTheme(): void {
  theme.name = theme.name === 'dark' ? 'light' : 'dark';
  localStorage.setItem(STORED, theme.name);
  apply();
}

system.addEventListener('change', () => {
  if (localStorage.getItem(STORED) === null) {
    theme.name = system.matches ? 'dark' : 'light';
    apply();
  }
});
