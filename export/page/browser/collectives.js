// Collective calls over time: how many ranks take part in each, and how many of them move the bytes below.

const RANKS = 64;

const collectivePanel = (content) => {
  const columns = Object.fromEntries(['start', 'end', 'participants_most', 'movers_least', 'movers_most', 'call_bytes'].map((name) => [name, unpacked(content[name])]));
  const count = columns.start.length;
  const most = columns.participants_most.reduce((top, value) => Math.max(top, value), 1);
  const label = `${content.upper} ${content.direction}`;
  // One rank is a step above none, so that a call of a single writer is seen beside one of thousands.
  const yOf = (ranks) => RANKS - (RANKS - 6) * (ranks > 0 ? (1 + Math.log2(ranks)) / (1 + Math.log2(most)) : 0);
  const draw = (canvas) => {
    const { context, width } = prepared(canvas, RANKS + 2);
    const left = gutter(width);
    context.fillStyle = palette.line;
    for (const ranks of new Set([1, most])) context.fillRect(left, Math.round(yOf(ranks)), width - left, 1);
    context.fillRect(left, RANKS, width - left, 1);
    for (const [kind, top] of [[`${content.direction}-light`, columns.participants_most], [content.direction, columns.movers_most]]) {
      context.fillStyle = palette[kind];
      for (let place = 0; place < count; place += 1) {
        const span = spanOf(columns.start[place], columns.end[place], width, 1);
        if (span) context.fillRect(span[0], yOf(top[place]), span[1], RANKS - yOf(top[place]));
      }
    }
    context.fillStyle = palette.muted;
    context.textAlign = 'right';
    context.fillText(`${countText(most)} ranks`, left - 6, Math.max(12, yOf(most) + 5));
    if (most > 1) context.fillText('1', left - 6, yOf(1) + 5);
    context.textAlign = 'left';
  };
  const describe = (start, end) => {
    const lines = [`${label}, collective, at ${timeText((start + end) / 2, view.end - view.start)}`];
    for (let place = 0; place < count && lines.length < 6; place += 1) {
      if (columns.end[place] < start || columns.start[place] > end) continue;
      const [least, top] = [columns.movers_least[place], columns.movers_most[place]];
      lines.push(`${content.together > 1 ? `${countText(content.together)} calls of up to` : 'a call of'} ${counted(columns.participants_most[place], 'rank')}: ${least === top ? countText(top) : `${countText(least)} to ${countText(top)}`} of them moved ${bytesText(columns.call_bytes[place])} through ${content.lower}`);
    }
    return lines.length > 1 ? lines : [...lines, 'no call'];
  };
  return h('div', { class: 'panel' },
    h('div', { class: 'panel-head' }, h('h3', {}, label), h('span', { class: 'muted', title: definitionOf('movers') }, `${counted(content.calls, 'call')}, through ${content.lower} by ${distributionText(content.movers)} of ${distributionText(content.participants)} ranks`)),
    timePlot(`Ranks in collective ${label} calls and ranks that move their bytes`, RANKS + 2, draw, describe));
};

const COLLECTIVES = [['Calls of', (content) => `${content.upper} ${content.direction}`, 'text'], ['Below', 'lower', 'word', 'The layer whose operations are counted.'],
  ['Calls', 'calls', 'count', 'collective calls'], ['Ranks a call', spreadOf('participants'), 'word', 'participants'], ['Ranks moving bytes', spreadOf('movers'), 'word', 'movers'],
  ['By one rank', (content) => ({ value: share(content.alone_calls, content.calls), said: `${countText(content.alone_calls)} of ${counted(content.calls, 'call')}` }), 'share', 'by one rank'], ['Bytes', 'bytes', 'bytes', 'bytes']];

drawn.collectives = () => {
  const classes = contents.collectives;
  if (!classes.length) return null;
  return [h('p', {}, 'Each call from its first begin to its last end, on a logarithmic scale of ranks: in pale colour, how many ranks make it; in full colour, how many of them move its bytes in the layer below. ',
    classes.some((content) => content.together > 1) ? 'Neighbouring calls are drawn as one, with the most ranks of any. ' : ''),
  legend(...['write', 'read'].filter((way) => classes.some((content) => content.direction === way)).flatMap((way) => [
    [`${way}-light`, `ranks that call to ${way}`, definitionOf('participants')], [way, `ranks that ${way} below`, definitionOf('movers')]])),
  classes.map(collectivePanel), timeAxis(), tableFrom(COLLECTIVES, classes)];
};
