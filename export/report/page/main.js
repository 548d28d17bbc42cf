// The page, from top to bottom.

const recorded = contents.holds_io;
const header = () => {
  const { trace, damage } = contents.layers;
  const { program } = contents;
  const folder = trace.path.split('/').slice(-2).join('/');
  const facts = [
    ['Trace', trace.path, 'The anchor of the archive.'],
    program.start_utc ? ['Started', program.start_utc] : null,
    recorded || trace.events > 0 ? ['Length', secondsText(trace.duration_s), `${exactNumber(trace.duration_s)} s, by the trace’s clock.`] : null,
    ['Ranks', countText(trace.ranks), 'Processes of the run.'],
    trace.not_recorded.includes('nodes') ? null : ['Nodes', countText(trace.nodes), 'Nodes that have processes.'],
    ['Locations', countText(trace.locations), 'Threads that the trace knows.'],
    ['I/O events', countText(trace.io_events), `${countText(trace.io_events)} of ${counted(trace.events, 'event')} read are about I/O.`],
    trace.window_s[0] > 0 || trace.window_s[1] < trace.duration_s ? ['Window', `${secondsText(trace.window_s[0])} to ${secondsText(trace.window_s[1])}`] : null,
    trace.signals === 'binned' ? ['Signals', `binned (${secondsText(trace.resolution_s)})`, 'Bandwidths are means of bins of time, as the trace was read in bounded memory. Bytes, operations and summed times are exact; busy times and quantiles are too, unless there are very many different ones.'] : null,
    trace.recorder === 'OTF2' ? null : ['Recorder', trace.recorder],
    trace.not_recorded.length ? ['Not recorded', trace.not_recorded.join(', ')] : null,
    trace.files === 'application' ? null : ['Files', trace.files],
    ...program.paradigms.filter((paradigm) => paradigm.properties.VERSION).map((paradigm) => [paradigm.identification, paradigm.properties.VERSION.replace(/^.*version:\s*/i, ''), 'Version of the library, as the trace gives it.']),
  ].filter(Boolean);
  return h('header', {}, h('h1', {}, `I/O of ${folder}`),
    h('ul', { class: 'facts' }, facts.map(([name, value, title]) => h('li', { title }, `${name} `, h('b', {}, value)))),
    damage.damaged ? h('div', { class: 'warning', role: 'alert' }, 'The trace is damaged: ', h('a', { href: '#damage' }, 'what is lost')) : null,
    h('ol', { class: 'headline' }, contents.headline.map((sentence) => h('li', {}, sentence))), story());
};

// What the I/O was from when to when; each stretch is a link to its time.
function story() {
  const { story: segments, cut } = contents;
  if (!segments.length) return null;
  return h('details', { class: 'story', open: segments.length <= 8 }, h('summary', {}, `The run in ${counted(cut.story || segments.length, 'stretch', 'stretches')}`),
    h('ol', {}, segments.map((one) => h('li', {},
      timeLink(one.start_s, one.end_s, 'bandwidth', rangeText(one.start_s, one.end_s)), ' ', one.text))),
    cut.story ? h('p', { class: 'muted' }, `The first ${segments.length} are shown.`) : null);
}

readPalette();
const preferred = matchMedia('(prefers-color-scheme: dark)');
const dress = (dark) => { document.documentElement.classList.toggle('dark', dark); readPalette(); };
dress(preferred.matches);

// Without I/O there is nothing to draw, and without events no time to draw it over.
const sections = (recorded ? [bandwidthSection(), findingsSection(), layersSection(), flowSection(), collectivesSection(), periodsSection(), spectraSection(), timelineSection(), heatSection(), sizesSection(), handlesSection(), stacksSection(), callsSection(), nodesSection(), damageSection(), glossarySection()] : [damageSection()]).flat().filter(Boolean);
const bar = h('div', { class: 'bar' }, h('nav', { 'aria-label': 'Sections' }, sections.map((part) => h('a', { href: `#${part.id}` }, part.dataset.name))), timeTools());
document.getElementById('report').replaceChildren(header(), ...(recorded ? [bar] : []), ...sections);
document.body.append(hint);
makeReachable(document.getElementById('report'));
showTimes();
followAddress();
addEventListener('hashchange', followAddress);
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
