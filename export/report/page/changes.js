// What differs between runs before (A) and after (B) a change.

const VERDICTS = { same: 'No change that matters', better: 'B is better than A', worse: 'B is worse than A', changed: 'B differs from A' };
const SIGNS = { 1: ['better', '+'], '-1': ['worse', '−'], 0: ['neutral', '·'] };

const sideText = (runs) => (runs.length === 1 ? runs[0].name : `${counted(runs.length, 'run')}`);
const changesHeader = () => h('header', {}, h('h1', {}, VERDICTS[contents.verdict]),
  h('ul', { class: 'facts' }, ['before', 'after'].map((side, place) => contents[side].map((run) => h('li', { title: run.job },
    h('span', { class: `swatch ${side}`, 'aria-hidden': 'true' }), `${'AB'[place]} `, h('b', {}, run.name), ` ${secondsText(run.duration_s)}, ${counted(run.ranks, 'rank')}`)))),
  contents.unusable.length ? h('div', { class: 'warning', role: 'alert' }, `Left out: ${contents.unusable.map((run) => `${run.name} (${run.reason})`).join('; ')}`) : null,
  contents.cautions.map((text) => h('div', { class: 'warning' }, text)));

const sentence = (change) => h('li', { class: `change ${SIGNS[change.good][0]}` }, h('span', { class: 'sign', title: { better: 'For the better.', worse: 'For the worse.', neutral: 'Neither better nor worse by itself.' }[SIGNS[change.good][0]] }, SIGNS[change.good][1]), h('span', {}, change.text));

const mattersSection = () => {
  const found = contents.changes.filter((change) => change.matters);
  return section('changes', 'Changes', 'What matters', found.length ? h('ol', { class: 'changes' }, found.map(sentence)) : h('p', {}, 'Nothing that is sure and large enough to care about.'));
};

const numberText = (change, value) => {
  if (value === null) return DASH;
  if (typeof value === 'string') return value;
  if (['bytes', 'request-size'].includes(change.id)) return bytesText(value);
  if (['time', 'period', 'duration'].includes(change.id)) return secondsText(value);
  if (change.id === 'bandwidth') return rateText(value);
  if (['collective', 'non-blocking'].includes(change.id)) return percentText(value);
  return countText(Number(value.toPrecision(4)));
};
const allSection = () => {
  if (!contents.changes.length) return null;
  return section('all', 'All', 'All differences',
    h('p', {}, 'Geometric means over the runs of a side. The interval is one of 95 %; p is corrected for the number of tests. Times of single runs vary, so only a large factor tells there.'),
    tableOf(['What', 'A', 'B', 'B / A', 'Interval', 'p', 'Matters'], contents.changes.map((change) => {
      const share = ['collective', 'non-blocking'].includes(change.id);
      const ratio = (value) => (value === null ? DASH : share ? percentText(Math.abs(value)) : threeDigits(value));
      return h('tr', {}, h('th', { scope: 'row', class: 'name' }, [change.layer, change.direction, change.id.replace(':', ' ')].filter(Boolean).join(' ')),
        cell('A', numberText(change, change.before)), cell('B', numberText(change, change.after)),
        cell('B / A', (share && change.ratio < 0 ? '−' : '') + ratio(change.ratio)),
        cell('Interval', change.interval && !share ? `${threeDigits(change.interval[0])} … ${threeDigits(change.interval[1])}` : DASH, null, true),
        cell('p', change.p_value === null ? DASH : change.p_value < 0.001 ? '<0.001' : threeDigits(change.p_value)),
        cell('Matters', change.matters ? 'yes' : 'no'));
    })));
};

let byPhase = true;
const drawings = [];
const curveFigure = (content) => {
  const curves = ['before', 'after'].flatMap((side) => content[side].map((one) => ({ side, name: one.name, clock: unpacked(one.edges), phase: unpacked(one.aligned), values: unpacked(one.values) })));
  const top = Math.max(...curves.map((one) => one.values.reduce((most, value) => Math.max(most, value), 0)));
  const label = `${content.layer} ${content.direction}`;
  const area = svg('svg', { viewBox: '0 0 1000 100', preserveAspectRatio: 'none', class: 'overlay', role: 'img', 'aria-label': `Bandwidth of ${label}, A and B on one axis` });
  const ends = h('span', {});
  let span = [0, 1];
  const draw = () => {
    const edgesOf = (one) => (byPhase ? one.phase : one.clock);
    span = [Math.min(...curves.map((one) => edgesOf(one)[0])), Math.max(...curves.map((one) => edgesOf(one)[one.values.length]))];
    area.replaceChildren(...curves.map((one) => svg('path', { class: one.side, d: stepPath(edgesOf(one), one.values, span[0], span[1], top) })));
    ends.textContent = secondsText(span[1]);
  };
  drawings.push(draw);
  draw();
  area.addEventListener('pointermove', (event) => {
    const box = area.getBoundingClientRect();
    const time = span[0] + (span[1] - span[0]) * (event.clientX - box.left) / box.width;
    showHint([`${byPhase ? 'A’s clock' : 'clock'}: ${timeText(time, span[1] - span[0])}`, ...curves.slice(0, 8).map((one) => {
      const edges = byPhase ? one.phase : one.clock;
      const place = placeOf(edges, time);
      const rate = time < edges[0] || place >= one.values.length ? 0 : one.values[place];
      return `${one.side === 'before' ? 'A' : 'B'} ${one.name}: ${rateText(rate)}`;
    })], event);
  });
  area.addEventListener('pointerleave', hideHint);
  return h('div', { class: 'panel' }, h('div', { class: 'panel-head' }, h('h3', {}, label), h('span', { class: 'muted' }, `up to ${rateText(top)}`)), area,
    h('div', { class: 'axis-ends muted' }, h('span', {}, '0 s'), ends));
};

const curvesSection = () => {
  if (!contents.curves.length) return null;
  const aligned = contents.curves.some((content) => content.aligned);
  const choice = h('select', { 'aria-label': 'Axis of B', onchange: (event) => { byPhase = event.target.value === 'phase'; drawings.forEach((draw) => draw()); } },
    h('option', { value: 'phase' }, 'by phase: B stretched so that its phases lie on those of A'), h('option', { value: 'clock' }, 'by the clock: both from their start'));
  return section('curves', 'Bandwidth', 'Bandwidth of both sides',
    h('p', {}, 'Bytes per second in 512 bins. By phase, rates stay what they were and only time is stretched, so areas of B are not bytes.'),
    aligned ? h('p', {}, h('label', {}, 'Axis: ', choice)) : null,
    legend(['before', 'A, before'], ['after', 'B, after']), contents.curves.map(curveFigure),
    contents.cut.curves ? h('p', { class: 'muted' }, `${counted(contents.curves.length, 'curve')} of ${countText(contents.cut.curves)} are shown.`) : null);
};

const phasesSection = () => {
  if (!contents.phases.length) return null;
  return section('phases', 'Phases', 'Phase by phase',
    h('p', {}, `The first run of each side; phases belong together by their place in the program. ${contents.cut.phases ? `${countText(contents.phases.length)} of ${countText(contents.cut.phases)} are shown.` : ''}`),
    tableOf(['Phase', 'A begins', 'B begins', 'A takes', 'B takes', 'A moves', 'B moves'], contents.phases.map((pair) => h('tr', {},
      h('th', { scope: 'row', class: 'name' }, `${pair.layer} ${pair.direction} ${pair.number}`),
      cell('A begins', secondsText(pair.before_start)), cell('B begins', secondsText(pair.after_start)),
      cell('A takes', secondsText(pair.before_end - pair.before_start)), cell('B takes', secondsText(pair.after_end - pair.after_start)),
      cell('A moves', bytesText(pair.before_bytes)), cell('B moves', bytesText(pair.after_bytes))))));
};

showPage(changesHeader(), [mattersSection(), curvesSection(), allSection(), phasesSection()]);
