// The page, from top to bottom: what it is about, then its sections.

const header = () => {
  const { title, facts, warnings, lead, headline, opening } = contents;
  const factList = h('ul', { class: 'facts' }, facts.map(({ name, value, about, tone, more }) => h('li', { title: about }, tone ? h('span', { class: `swatch ${tone}`, 'aria-hidden': 'true' }) : null, `${name} `, h('b', {}, value), more ? ` ${more}` : '')));
  const sentences = headline.length ? h('ol', { class: 'headline' }, headline.map((sentence) => h('li', {}, sentence))) : null;
  const told = warnings.map((text) => h('div', { class: 'warning', role: 'alert' }, textOf(text)));
  // Where one sentence says it all, what else there is to say comes behind the pictures.
  return lead ? [h('header', {}, h('h1', {}, title), h('p', { class: 'lead' }, lead), told), h('section', { class: 'words' }, sentences, blocksOf(opening), factList)]
    : [h('header', {}, h('h1', {}, title), factList, told, sentences, blocksOf(opening)), null];
};

readPalette();
const preferred = matchMedia('(prefers-color-scheme: dark)');
const dress = (dark) => { document.documentElement.classList.toggle('dark', dark); readPalette(); };
dress(preferred.matches);

const timed = Boolean(contents.window_s);
const sections = contents.sections.map(({ id, name, title, blocks }) => [id, name, title, blocksOf(blocks).flat(Infinity).filter(Boolean)])
  .filter(([, , , shownBlocks]) => shownBlocks.length).map((part) => section(...part));
const bar = h('div', { class: 'bar' }, h('nav', { 'aria-label': 'Sections' }, sections.map((part) => h('a', { href: `#${part.id}` }, part.dataset.name))), timed ? timeTools() : null);
const [head, words] = header();
// The first screen: what the first sections show stands side by side where there is room, and the words below the first.
const first = sections.filter((part) => contents.beside.includes(part.id));
const later = sections.filter((part) => !first.includes(part));
document.getElementById('report').replaceChildren(...[head, ...(sections.length > 1 ? [bar] : []), first.length ? h('div', { class: first.length > 1 ? 'first' : null }, [...first, words].filter(Boolean)) : words, ...later].filter(Boolean));
// Links lead to below the bar, where that stays in sight.
const leaveRoom = () => { document.documentElement.style.scrollPaddingTop = `${getComputedStyle(bar).position === 'sticky' ? bar.offsetHeight + 6 : 6}px`; };
leaveRoom();
addEventListener('resize', leaveRoom);
document.body.append(hint);
makeReachable(document.getElementById('report'));
if (timed) {
  // Other times may make the bar a line higher or less.
  onZoom.push(leaveRoom);
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
