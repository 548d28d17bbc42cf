// Many runs: which deserve a look, how they are distributed, a row each.

const COLUMNS = [
  ['Problem', 'problem_score', (value) => threeDigits(value), 'Problem-Score (Betke & Kunkel, ISC’20) as iostrata assess gives it.'],
  ['I/O cost', 'cost_s', secondsText, 'Time in the program’s own operations, summed over all ranks: what I/O costs the run.'],
  ['I/O time', 'io_s', secondsText, 'Time in which at least one operation was under way on any rank.'],
  ['of the run', 'share', percentText, 'I/O time over the length of the run.'],
  ['Length', 'duration_s', secondsText, 'By the trace’s clock.'],
  ['Ranks', 'ranks', countText, 'Processes of the run.'],
  ['Read', 'bytes_read', bytesText, 'By the program’s own operations.'],
  ['Written', 'bytes_written', bytesText, 'By the program’s own operations.'],
  ['Operations', 'operations', countText, 'The program’s own transfers.'],
  ['Metadata', 'metadata_operations', countText, 'Opens, closes, seeks, deletions and locks of all layers.'],
  ['Findings', 'findings', countText, 'Critical ones count first, then warnings.'],
].filter(([, key]) => contents.runs.some((run) => known(run[key])));

const findingsKey = (run) => 1e6 * run.critical + 1e3 * run.warnings + run.findings;
const sortValue = (run, key) => {
  if (key === 'findings') return findingsKey(run);
  if (key === 'name') return run.name;
  // The order of assess, which puts short jobs after longer ones.
  if (key === 'problem_score') return known(run[key]) ? contents.runs.length - run.place : -1;
  return known(run[key]) ? run[key] : -1;
};

const sparkline = (run) => {
  if (!run.spark) return DASH;
  const [reads, writes] = [unpacked(run.spark.read), unpacked(run.spark.write)];
  const bars = (values, kind) => svg('path', { class: kind, d: stepPath(Array.from({ length: values.length + 1 }, (_, place) => place), Array.from(values), 0, values.length, 255) });
  return svg('svg', { viewBox: '0 0 1000 100', preserveAspectRatio: 'none', class: 'spark', role: 'img', 'aria-label': `${run.spark.layer} over time, up to ${rateText(run.spark.top)}` },
    svg('title', {}, `${run.spark.layer} over ${secondsText(run.duration_s)}, up to ${rateText(run.spark.top)}`), bars(reads, 'read'), bars(writes, 'write'));
};

const runRow = (run) => h('tr', {},
  h('th', { scope: 'row', class: 'name stacked', title: run.job }, h('span', {}, run.report ? h('a', { href: run.report }, run.name) : run.name, run.damaged ? ' (damaged)' : ''),
    run.top ? h('div', { class: `muted note of-${run.top.severity}` }, `${run.top.severity}: ${run.top.text}`) : null),
  h('td', { 'data-label': 'Over time', class: 'picture' }, sparkline(run)),
  COLUMNS.map(([label, key, write]) => cell(label, known(run[key]) ? write(run[key]) : DASH)));

const STEP = 100;
const rankingSection = () => {
  const usable = contents.runs;
  if (!usable.length) return null;
  let key = COLUMNS[0][1];
  let down = true;
  let shownRows = STEP;
  let wanted = '';
  const body = h('tbody', {});
  const status = h('span', { role: 'status', class: 'muted' });
  const more = h('button', { type: 'button', class: 'more', onclick: () => { shownRows += STEP; fill(); } }, 'More');
  const heads = [];
  const fill = () => {
    const found = usable.filter((run) => !wanted || run.name.toLowerCase().includes(wanted) || run.job.toLowerCase().includes(wanted));
    found.sort((one, other) => {
      const [a, b] = [sortValue(one, key), sortValue(other, key)];
      const order = typeof a === 'string' ? a.localeCompare(b) : a - b;
      return (down ? -order : order) || one.place - other.place;
    });
    body.replaceChildren(...found.slice(0, shownRows).map(runRow));
    makeReachable(body.parentElement || body);
    status.textContent = `${countText(Math.min(shownRows, found.length))} of ${counted(found.length, 'run')} shown`;
    more.hidden = shownRows >= found.length;
    heads.forEach(([element, own]) => element.setAttribute('aria-sort', own === key ? (down ? 'descending' : 'ascending') : 'none'));
    order.value = key;
  };
  const by = (own) => { down = own === key ? !down : own !== 'name'; key = own; fill(); };
  const headOf = (label, own, title) => {
    const element = h('th', { scope: 'col', class: own === 'name' ? 'name' : null }, h('button', { type: 'button', class: 'sort', title, onclick: () => by(own) }, label));
    heads.push([element, own]);
    return element;
  };
  const order = h('select', { 'aria-label': 'Order', onchange: (event) => { key = event.target.value; down = key !== 'name'; fill(); } },
    [...COLUMNS.map(([label, own]) => [label, own]), ['Name', 'name']].map(([label, own]) => h('option', { value: own }, label)));
  const table = h('table', { class: 'cards' }, h('thead', {}, h('tr', {}, headOf('Run', 'name', 'Order by name.'), h('th', { scope: 'col' }, 'Over time'), COLUMNS.map(([label, own, , title]) => headOf(label, own, `${title} Order by it.`)))), body);
  fill();
  return section('ranking', 'Ranking', 'Runs, what deserves a look first',
    h('p', { class: 'tools' }, h('label', {}, 'Order: ', order), ' ', h('label', {}, 'Name: ', h('input', { type: 'search', oninput: (event) => { wanted = event.target.value.toLowerCase(); shownRows = STEP; fill(); } })), ' ', status),
    legend(['read', 'reads'], ['write', 'writes']),
    h('div', { class: 'wide' }, table), more,
    contents.cut.runs ? h('p', { class: 'muted' }, `${countText(usable.length)} of ${countText(contents.cut.runs)} runs are in this page, those that cost most; the tables have all.`) : null);
};

const distribution = (content) => {
  const [width, height, base] = [340, 120, 96];
  const room = width / content.counts.length;
  const top = Math.max(1, ...content.counts);
  const write = { s: secondsText, B: bytesText, share: percentText, 'B/s': rateText }[content.unit] || ((value) => countText(Number(value.toPrecision(3))));
  const edge = (place) => write(content.edges[place]);
  return h('figure', {}, h('h3', {}, content.title),
    svg('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': `${content.title}: median ${write(content.median)}, ${counted(content.total, 'run')}` },
      svg('line', { x1: 0, x2: width, y1: base + 0.5, y2: base + 0.5, class: 'axis' }),
      content.counts.map((count, place) => svg('g', {}, svg('title', {}, `${edge(place)} to ${edge(place + 1)}: ${counted(count, 'run')}`),
        svg('rect', { x: place * room, y: 0, width: room, height: base, class: 'catch' }),
        count ? svg('rect', { x: place * room + 1, y: base - Math.max(1, 84 * count / top), width: Math.max(1, room - 2), height: Math.max(1, 84 * count / top), class: 'read' }) : null)),
      svg('text', { x: 0, y: height - 6, class: 'muted' }, edge(0)), svg('text', { x: width, y: height - 6, 'text-anchor': 'end', class: 'muted' }, edge(content.counts.length))),
    h('figcaption', {}, `median ${write(content.median)}, nine tenths below ${write(content.p90)}; ${content.zero ? `${counted(content.zero, 'run')} without any` : counted(content.total, 'run')}`));
};
const distributionsSection = () => (contents.distributions.length ? section('distributions', 'Distributions', 'How the runs are distributed',
  h('p', {}, 'Number of runs in bins of equal ratio.'), h('div', { class: 'grid' }, contents.distributions.map(distribution))) : null);

const findingsTable = () => (contents.findings.length ? section('findings', 'Findings', 'Findings over all runs',
  tableOf(['Finding', 'Severity', 'Runs', 'of all', 'For example'], contents.findings.map((one) => h('tr', {},
    h('th', { scope: 'row', class: 'name' }, one.id), cell('Severity', one.severity), cell('Runs', countText(one.runs)), cell('of all', percentText(one.runs / contents.total)),
    h('td', { class: 'name long', 'data-label': 'For example' }, `${one.name}: ${one.text}`))), [0, 4])) : null);

const failedSection = () => (contents.failed.length ? section('failed', 'Not read', 'Traces that could not be read',
  tableOf(['Trace', 'Why'], contents.failed.map((run) => h('tr', {}, h('th', { scope: 'row', class: 'name', title: run.job }, run.name), h('td', { class: 'name long', 'data-label': 'Why' }, run.reason))), [0, 1]),
  contents.cut.failed ? h('p', { class: 'muted' }, `${countText(contents.failed.length)} of ${countText(contents.cut.failed)} are shown.`) : null) : null);

const rankingHeader = () => h('header', {}, h('h1', {}, `I/O of ${counted(contents.total, 'run')}`),
  h('ul', { class: 'facts' }, contents.facts.map(([name, value]) => h('li', {}, `${name} `, h('b', {}, value)))),
  h('ol', { class: 'headline' }, contents.headline.map((one) => h('li', {}, one))));

showPage(rankingHeader(), [rankingSection(), distributionsSection(), findingsTable(), failedSection()]);
