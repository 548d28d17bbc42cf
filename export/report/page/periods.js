// Periods of each layer, regime by regime, and what becomes of them from layer to layer.

const PHASES_LISTED = 60;
const phasesOf = (entry) => contents.cut[`${entry.layer} ${entry.direction} phases`] || entry.phases.length;
const plainNumber = (value, digits) => (known(value) ? value.toFixed(digits) : DASH);

const periodRow = (entry) => {
  const who = `${entry.layer} ${entry.direction}`;
  const { metrics } = entry;
  const say = saying(who);
  return h('tr', {}, h('th', { scope: 'row', class: 'name' }, who),
    cell('Period', entry.periodic ? intervalText(entry.period_s, entry.period_interval_s) : 'none', `${who}: ${known(entry.period_s) ? `${exactNumber(entry.period_s)} s. ` : ''}${entry.reason} ${definitions.period_s}`, true),
    cell('Confidence', entry.periodic ? plainNumber(entry.confidence, 2) : DASH, say(entry.periodic ? exactNumber(entry.confidence) : 'not given', 'confidence')),
    cell('Recurrence', secondsText(entry.recurrence_s), say(known(entry.recurrence_s) ? `${exactNumber(entry.recurrence_s)} s` : 'not given', 'recurrence_s')),
    cell('Jitter', known(entry.jitter) ? percentText(entry.jitter) : DASH, say(known(entry.jitter) ? exactNumber(entry.jitter) : 'not given', 'jitter')),
    cell('Phases', countText(phasesOf(entry)), say(countText(phasesOf(entry)), 'phases')),
    cell('Bytes a period', bytesText(metrics.volume_per_period), say(known(metrics.volume_per_period) ? exactBytes(metrics.volume_per_period) : 'not defined', 'volume_per_period')),
    cell('R_IO', known(metrics.r_io) ? shareText(metrics.r_io, 1) : DASH, say(known(metrics.r_io) ? exactNumber(metrics.r_io) : 'not defined', 'r_io')),
    cell('B_IO', rateText(metrics.b_io), say(known(metrics.b_io) ? `${exactNumber(metrics.b_io)} B/s` : 'not defined', 'b_io')),
    cell('Periodicity score', plainNumber(metrics.periodicity_score, 2), say(known(metrics.periodicity_score) ? exactNumber(metrics.periodicity_score) : 'not defined', 'periodicity_score')));
};

const regimeRow = (entry, regime, number) => {
  const who = `${entry.layer} ${entry.direction}, regime ${number + 1}`;
  const say = saying(who);
  return h('tr', {}, h('th', { scope: 'row', class: 'name' }, who),
    h('td', { 'data-label': 'When', class: 'long' }, timeLink(regime.start_s, regime.end_s, 'bandwidth', rangeText(regime.start_s, regime.end_s))),
    cell('Period', secondsText(regime.period_s), say(`${exactNumber(regime.period_s)} s`, 'period_s')),
    cell('Confidence', plainNumber(regime.confidence, 2), say(known(regime.confidence) ? exactNumber(regime.confidence) : 'not given', 'regime_confidence')),
    cell('Phases', countText(regime.phases), say(known(regime.phases) ? countText(regime.phases) : 'not given', 'phases')));
};

const periodsSection = () => {
  const entries = contents.periods.layers;
  if (!entries.length) return null;
  const regimes = entries.flatMap((entry) => entry.regimes.map((regime, number) => regimeRow(entry, regime, number)));
  return section('periods', 'Periods', 'Periods', h('p', {}, `Found by the method “${entries[0].method}”. A hint on a period says why it is what it is.`),
    tableOf(['Layer', 'Period', 'Confidence', 'Recurrence', 'Jitter', 'Phases', 'Bytes a period', 'R_IO', 'B_IO', 'Periodicity score'], entries.map(periodRow)),
    regimes.length ? [h('h3', { title: definitions.regimes, class: 'has-title' }, 'Regimes'), tableOf(['Layer', 'When', 'Period', 'Confidence', 'Phases'], regimes)] : null,
    entries.map((entry) => {
      const others = entry.periods.slice(1);
      return others.length ? h('p', {}, `${entry.layer} ${entry.direction} also has: `, others.map((other) => `${intervalText(other.period_s, other.period_interval_s)}, confidence ${other.confidence.toFixed(2)}`).join('; '), '.') : null;
    }),
    betweenLayers(),
    entries.filter((entry) => entry.phases.length).map((entry) => h('details', {}, h('summary', {}, `${entry.layer} ${entry.direction}: ${counted(phasesOf(entry), 'phase')}`),
      h('p', {}, entry.phases.slice(0, PHASES_LISTED).map((phase, number) => [number ? ' · ' : '', timeLink(phase.start_s, phase.end_s, 'bandwidth', `${secondsText(phase.start_s)}: ${bytesText(phase.bytes)}`)]),
        phasesOf(entry) > PHASES_LISTED ? ` · and ${countText(phasesOf(entry) - PHASES_LISTED)} more` : ''))));
};

const betweenRow = (pair) => {
  const who = `${pair.upper} → ${pair.lower}, ${pair.direction}`;
  const say = saying(who);
  const segments = known(pair.coherence_segments) ? `${exactly(pair.coherence)}, over ${counted(pair.coherence_segments, 'segment')}` : exactly(pair.coherence);
  return h('tr', {}, h('th', { scope: 'row', class: 'name' }, who),
    cell('Verdict', pair.verdict, `${who}: ${pair.verdict_reason}. ${definitions.verdict}`, true),
    cell('Above', secondsText(pair.upper_period_s), say(exactly(pair.upper_period_s, ' s'), 'period_s')),
    cell('Below', secondsText(pair.lower_period_s), say(exactly(pair.lower_period_s, ' s'), 'period_s')),
    cell('Lag', secondsText(pair.lag_s), say(exactly(pair.lag_s, ' s'), 'lag_s')),
    cell('Coherence', plainNumber(pair.coherence, 2), say(segments, 'coherence')),
    cell('Modulation above', plainNumber(pair.upper_modulation, 2), say(exactly(pair.upper_modulation), 'modulation')),
    cell('Modulation below', plainNumber(pair.lower_modulation, 2), say(exactly(pair.lower_modulation), 'modulation')));
};

const betweenLayers = () => {
  const pairs = contents.compare ? contents.compare.pairs.filter((pair) => pair.verdict && pair.verdict !== 'none') : [];
  if (!pairs.length) return null;
  const stretches = pairs.flatMap((pair) => pair.stretches.map((stretch) => h('tr', {}, h('th', { scope: 'row', class: 'name' }, `${pair.upper} → ${pair.lower}, ${pair.direction}`),
    h('td', { 'data-label': 'When', class: 'long' }, timeLink(stretch.start_s, stretch.end_s, 'bandwidth', rangeText(stretch.start_s, stretch.end_s))),
    cell('Above', secondsText(stretch.upper_period_s), definitions.period_s), cell('Below', secondsText(stretch.lower_period_s), definitions.period_s),
    cell('Relation', stretch.relation, definitions.stretches))));
  return [h('h3', {}, 'From layer to layer'),
    tableOf(['Layers', 'Verdict', 'Above', 'Below', 'Lag', 'Coherence', 'Modulation above', 'Modulation below'], pairs.map(betweenRow)),
    stretches.length ? [h('h3', { title: definitions.stretches, class: 'has-title' }, 'Stretch by stretch'), tableOf(['Layers', 'When', 'Above', 'Below', 'Relation'], stretches)] : null];
};
