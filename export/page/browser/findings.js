// Findings, with the numbers behind each and a link to its time.

const isEmpty = (value) => !known(value) || value === '' || (typeof value === 'object' && !Object.keys(value).length);
// Numbers that follow each other as one range.
const rangesText = (numbers) => {
  const ranges = [];
  for (const number of numbers) {
    const last = ranges[ranges.length - 1];
    if (last && number === last[1] + 1) last[1] = number; else ranges.push([number, number]);
  }
  return ranges.map(([first, last]) => (last > first ? `${first}${last > first + 1 ? '–' : ', '}${last}` : `${first}`)).join(', ');
};
// The kinds of the units of evidence; bytes are exact there.
const EVIDENCE_KINDS = { byte: ['bytes', 1], s: ['seconds', 0], share: ['share', 0], times: ['times', 0], ratio: ['ratio', 0], '1/s': ['per second', 0] };
const evidenceText = (key, value) => {
  const unit = contents.evidence_units[key];
  const inUnit = (number) => {
    if (typeof number !== 'number') return String(number);
    if (unit === 'count') return Number.isInteger(number) ? countText(number) : threeDigits(number);
    const [kind, exact] = EVIDENCE_KINDS[unit] || ['text', 0];
    return KINDS[kind][exact](number);
  };
  if (key === 'steps') return value.map((step) => `${step.upper} → ${step.lower}: ${inUnit(step.amplification)}`).join('; ');
  if (key === 'time_range_s') return rangeText(...value);
  if (unit === 'rank' && Array.isArray(value)) return `${rangesText(value)}${value.length < contents.ranks_shown ? '' : ', …'}`;
  if (Array.isArray(value)) return value.map(inUnit).join(', ');
  if (typeof value === 'object') return Object.entries(value).map(([name, item]) => `${name}: ${inUnit(item)}`).join('; ');
  return inUnit(value);
};
const evidenceName = (key) => key.replaceAll('_', ' ').replace(/^(metadata|transfer|write|flush|exclusive) s$/, '$1 time').replace(/ s$/, '');

// Which rows of the timeline a finding is about: of the layers that it names, and of the first file and rank.
const layersShown = () => [...new Set(contents.timeline ? contents.timeline.rows.layer.map(nameOf) : [])];
const rowsNamed = ({ layer, text, evidence }) => ({ layer: layersShown().filter((one) => one === layer || text.includes(`${one} `)).join(','), file: (evidence.files || [])[0], rank: known(evidence.busiest_rank) ? evidence.busiest_rank : (evidence.slow_ranks || evidence.ranks || [])[0] });

const findingNotice = (found) => {
  const range = found.evidence.time_range_s;
  const gain = found.gain_s ? [['could be saved', `${rangeText(...found.gain_s)}: ${found.gain_reason}`]] : [];
  const told = Object.entries(found.evidence).filter(([, value]) => !isEmpty(value)).map(([key, value]) => [evidenceName(key), evidenceText(key, value)]);
  const place = contents.timeline ? 'timeline' : 'bandwidth';
  return drawn.notice({
    tone: found.severity,
    text: [{ text: found.severity }, ` ${found.id} · ${found.layer} · ${found.text}`],
    blocks: [{ block: 'paragraph', text: found.advice, muted: true },
      ...(range ? [{ block: 'paragraph', text: [{ time: range, place, rows: rowsNamed(found), text: `Show ${rangeText(...range)} in the ${place}` }] }] : []),
      { block: 'fold', title: 'Evidence', blocks: [{ block: 'definitions', entries: [...gain, ...told] }] }],
  });
};

drawn.findings = () => {
  if (!contents.compare) return null;
  const { findings } = contents.compare;
  // What costs next to nothing is counted, and shown on request.
  const small = findings.filter(({ cost_share: share }) => known(share) && share < contents.least_cost);
  const much = findings.filter((found) => !small.includes(found));
  return [much.length ? h('div', { class: 'two' }, much.map(findingNotice)) : null, findings.length ? null : h('p', {}, contents.no_findings),
    small.length ? h('details', {}, h('summary', {}, `${much.length ? 'and ' : ''}${counted(small.length, 'finding')} of less than ${percentText(contents.least_cost)} of the run`), small.map(findingNotice)) : null,
    contents.cut.findings ? muted(`${countText(findings.length)} of ${countText(contents.cut.findings)} findings are shown.`) : null];
};
