// Periods of each layer, regime by regime, and what becomes of them from layer to layer.

const PHASES_LISTED = 60;
const phasesOf = (entry) => contents.cut[`${whoOf(entry)} phases`] || entry.phases.length;
const endsOfPair = (pair) => `${pair.upper} → ${pair.lower}, ${pair.direction}`;
const whenOf = ({ start_s: start, end_s: end }) => ({ value: [start, end], time: [start, end] });
const PERIODS = [['Layer', whoOf, 'text'],
  ['Period', (entry) => ({ value: entry.periodic ? [entry.period_s, entry.period_interval_s] : 'none', kind: entry.periodic ? 'interval' : 'word', said: `${known(entry.period_s) ? `${exactNumber(entry.period_s)} s. ` : ''}${entry.reason.replace(/[.]$/, '')}` }), 'interval', 'period'],
  ['Confidence', (entry) => (entry.periodic ? entry.confidence : null), 'fixed', 'confidence'], ['Recurrence', 'recurrence_s', 'seconds', 'recurrence'], ['Jitter', 'jitter', 'share', 'jitter'],
  ['Phases', phasesOf, 'count', 'phases'], ['Bytes a period', 'metrics.volume_per_period', 'bytes', 'bytes a period'], ['R_IO', 'metrics.r_io', 'share', 'R_IO'],
  ['B_IO', 'metrics.b_io', 'rate', 'B_IO'], ['Periodicity score', 'metrics.periodicity_score', 'fixed', 'periodicity score']];
const REGIMES = [['Layer', 'who', 'text'], ['When', whenOf, 'range'], ['Period', 'period_s', 'seconds', 'period'], ['Confidence', 'confidence', 'fixed', 'confidence of a regime'], ['Phases', 'phases', 'count', 'phases']];
const BETWEEN = [['Layers', endsOfPair, 'text'], ['Verdict', (pair) => ({ value: pair.by_iteration ? `${pair.by_iteration.verdict} ${countText(pair.by_iteration.count)} ×` : pair.verdict, said: pair.by_iteration ? pair.by_iteration.reason : pair.verdict_reason }), 'phrase', 'verdict'],
  ['Above', 'upper_period_s', 'seconds', 'period'], ['Below', 'lower_period_s', 'seconds', 'period'], ['Lag', 'lag_s', 'seconds', 'lag'],
  ['Coherence', (pair) => ({ value: pair.coherence, said: known(pair.coherence_segments) ? `${exactNumber(pair.coherence)}, over ${counted(pair.coherence_segments, 'segment')}` : null }), 'fixed', 'coherence'],
  ['Modulation above', 'upper_modulation', 'fixed', 'modulation'], ['Modulation below', 'lower_modulation', 'fixed', 'modulation']];
const STRETCHES = [['Layers', 'who', 'text'], ['When', whenOf, 'range'], ['Above', 'upper_period_s', 'seconds', 'period'], ['Below', 'lower_period_s', 'seconds', 'period'], ['Relation', 'relation', 'word', 'stretches']];

drawn.periods = () => {
  const entries = contents.periods.layers;
  if (!entries.length) return null;
  const pairs = contents.compare ? contents.compare.pairs.filter((pair) => pair.by_iteration || (pair.verdict && pair.verdict !== 'none')) : [];
  const titled = (text, about, table) => (table ? [drawn.heading({ text, about }), table] : null);
  const regimes = entries.flatMap((entry) => entry.regimes.map((regime, number) => ({ ...regime, who: `${whoOf(entry)}, regime ${number + 1}` })));
  const stretches = pairs.flatMap((pair) => pair.stretches.map((stretch) => ({ ...stretch, who: endsOfPair(pair) })));
  return [h('p', {}, `Found by the method “${entries[0].method}”. A hint on a period says why it is what it is.`), tableFrom(PERIODS, entries),
    titled('Regimes', 'regimes', tableFrom(REGIMES, regimes)),
    entries.map((entry) => {
      const others = entry.periods.slice(1);
      return others.length ? h('p', {}, `${whoOf(entry)} also has: `, others.map((other) => `${intervalText(other.period_s, other.period_interval_s)}, confidence ${other.confidence.toFixed(2)}`).join('; '), '.') : null;
    }),
    titled('From layer to layer', '', tableFrom(BETWEEN, pairs)), titled('Stretch by stretch', 'stretches', tableFrom(STRETCHES, stretches)),
    entries.filter((entry) => entry.phases.length).map((entry) => h('details', {}, h('summary', {}, `${whoOf(entry)}: ${counted(phasesOf(entry), 'phase')}`),
      h('p', {}, entry.phases.slice(0, PHASES_LISTED).map((phase, number) => [number ? ' · ' : '', partOf({ time: [phase.start_s, phase.end_s], text: `${secondsText(phase.start_s)}: ${bytesText(phase.bytes)}` })]),
        phasesOf(entry) > PHASES_LISTED ? ` · and ${countText(phasesOf(entry) - PHASES_LISTED)} more` : '')))];
};
