// The page, from top to bottom: what it is about, then its sections.

const header = () => {
  const { title, facts, warnings, headline, opening } = contents;
  return h('header', {}, h('h1', {}, title),
    h('ul', { class: 'facts' }, facts.map(({ name, value, about, tone, more }) => h('li', { title: about }, tone ? h('span', { class: `swatch ${tone}`, 'aria-hidden': 'true' }) : null, `${name} `, h('b', {}, value), more ? ` ${more}` : ''))),
    warnings.map((text) => h('div', { class: 'warning', role: 'alert' }, textOf(text))),
    headline.length ? h('ol', { class: 'headline' }, headline.map((sentence) => h('li', {}, sentence))) : null, blocksOf(opening));
};

readPalette();
const preferred = matchMedia('(prefers-color-scheme: dark)');
const dress = (dark) => { document.documentElement.classList.toggle('dark', dark); readPalette(); };
dress(preferred.matches);

const timed = Boolean(contents.window_s);
const sections = contents.sections.map(({ id, name, title, blocks }) => [id, name, title, blocksOf(blocks).flat(Infinity).filter(Boolean)])
  .filter(([, , , shownBlocks]) => shownBlocks.length).map((part) => section(...part));
const bar = h('div', { class: 'bar' }, h('nav', { 'aria-label': 'Sections' }, sections.map((part) => h('a', { href: `#${part.id}` }, part.dataset.name))), timed ? timeTools() : null);
document.getElementById('report').replaceChildren(header(), ...(sections.length > 1 ? [bar] : []), ...sections);
document.body.append(hint);
makeReachable(document.getElementById('report'));
if (timed) {
  showTimes();
  followAddress();
  addEventListener('hashchange', followAddress);
}
preferred.addEventListener('change', (event) => { dress(event.matches); redraw(panels); });
// On paper nothing can be opened, so all that is folded is shown there, but for how to move about.
const opened = [];
addEventListener('beforeprint', () => {
  dress(false);
  paper.printing = true;
  for (const folded of document.querySelectorAll('details:not([open], .tools, .calls details)')) { folded.open = true; opened.push(folded); }
  drawNow();
});
addEventListener('afterprint', () => {
  dress(preferred.matches);
  paper.printing = false;
  for (const folded of opened.splice(0)) folded.open = false;
  redraw(panels);
});
let widest = 0;
addEventListener('resize', () => { if (innerWidth !== widest) { widest = innerWidth; redraw(panels); } });
document.documentElement.dataset.ready = 'true';
