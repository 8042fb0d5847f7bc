// The address of the page. Links are ordinary links; clicks on them do not load the page again.

export const route = $state({ path: location.pathname, search: location.search });

export function go(to: string): void {
  history.pushState(null, '', to);
  update();
  scrollTo(0, 0);
}

function update(): void {
  route.path = location.pathname;
  route.search = location.search;
}

addEventListener('popstate', update);

addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey) return;
  const link = (event.target as Element).closest('a');
  if (!link || link.target || link.origin !== location.origin || link.hasAttribute('download'))
    return;
  if (link.pathname.startsWith('/api/')) return;
  event.preventDefault();
  go(link.pathname + link.search + link.hash);
});
