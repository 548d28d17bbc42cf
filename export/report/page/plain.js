// Pages that are tables and small pictures: light or dark, and from top to bottom.

const preferred = matchMedia('(prefers-color-scheme: dark)');
const dress = (dark) => document.documentElement.classList.toggle('dark', dark);

const showPage = (header, sections) => {
  const parts = sections.flat().filter(Boolean);
  const bar = h('div', { class: 'bar' }, h('nav', { 'aria-label': 'Sections' }, parts.map((part) => h('a', { href: `#${part.id}` }, part.dataset.name))));
  const root = document.getElementById('report');
  root.replaceChildren(header, bar, ...parts);
  document.body.append(hint);
  makeReachable(root);
  dress(preferred.matches);
  preferred.addEventListener('change', (event) => dress(event.matches));
  addEventListener('beforeprint', () => dress(false));
  addEventListener('afterprint', () => dress(preferred.matches));
  document.documentElement.dataset.ready = 'true';
};

// A step function as a path in a box of 1000 × 100: `edges` has one value more than `values`.
const stepPath = (edges, values, start, end, top) => {
  const x = (time) => (1000 * (time - start) / (end - start)).toFixed(2);
  const y = (value) => (100 - 98 * value / top).toFixed(2);
  let path = `M${x(edges[0])} 100`;
  for (let place = 0; place < values.length; place += 1) path += `V${y(values[place])}H${x(edges[place + 1])}`;
  return `${path}V100`;
};
