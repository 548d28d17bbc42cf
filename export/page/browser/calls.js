// Who calls what: the share of I/O in the run, a flame graph of the time in I/O, and the tree of call paths.

const FLAME_ROWS = 24;
const UNFOLDED = 60;

const costText = (calls) => {
  const whole = calls.length_s * calls.ranks;
  const parts = [[calls.io_s, 'in I/O'], [calls.mpi_s, 'in MPI'], [calls.set_aside_s, 'in I/O that is set aside'], [calls.other_s, 'elsewhere']];
  return `Where the time of ${counted(calls.ranks, 'rank')} goes: ${parts.filter(([time]) => time > 0).map(([time, where]) => `${shareText(time, whole)} ${where}`).join(', ')}. `
    + `The rank with most I/O spends ${shareText(calls.most_io_s, calls.length_s)} of its time in it. `
    + `Free I/O would save at most ${secondsText(calls.most_saved_s)}, ${shareText(calls.most_saved_s, calls.length_s)} of the run.`;
};

const chainText = (chain) => {
  if (!chain || !(chain.waited_s > 0)) return null;
  const whole = chain.io_s + chain.mpi_s + chain.other_s;
  const [first] = chain.held_up;
  const who = first && known(first.rank) ? `, longest for rank ${first.rank}: ${secondsText(first.waited_s)}` : '';
  return h('p', {}, `Longest chain of waiting, from the last rank at each call in which all meet to the last at the next: ${[[chain.io_s, 'in I/O'], [chain.mpi_s, 'in MPI'], [chain.other_s, 'elsewhere']].filter(([time]) => time > 0).map(([time, where]) => `${shareText(time, whole)} ${where}`).join(', ')}. `
    + `Ranks wait there for ${secondsText(chain.waited_s)}, summed up${who}.`);
};

const ACTIVITY = 60;
// How many ranks are in I/O and in MPI over time; one above the other, since a rank is in one of them at a time.
const activityPlot = ({ activity, ranks }) => {
  if (!activity) return null;
  const [io, mpi] = [unpacked(activity.io), unpacked(activity.mpi)];
  const step = (RUN_END - RUN_START) / io.length;
  const draw = (canvas) => {
    const { context, width } = prepared(canvas, ACTIVITY);
    const scaleOf = (count) => (ACTIVITY - 6) * count / ranks;
    const [inIo, inMpi] = [[], []];
    for (let bin = 0; bin < io.length; bin += 1) {
      const span = spanOf(RUN_START + bin * step, RUN_START + (bin + 1) * step, width);
      if (!span) continue;
      const x = Math.round(span[0]);
      const wide = Math.max(1, Math.round(span[0] + span[1]) - x);
      inIo.push([x, ACTIVITY - scaleOf(io[bin]), wide, scaleOf(io[bin])]);
      inMpi.push([x, ACTIVITY - scaleOf(io[bin] + mpi[bin]), wide, scaleOf(mpi[bin])]);
    }
    context.fillStyle = palette.write;
    fillTogether(context, inIo);
    context.fillStyle = palette.mpi;
    fillTogether(context, inMpi);
    context.fillStyle = palette.line;
    context.fillRect(gutter(width), ACTIVITY - 1, width - gutter(width), 1);
    context.fillStyle = palette.muted;
    context.textAlign = 'right';
    context.fillText(counted(ranks, 'rank'), gutter(width) - 6, 14);
    context.fillText('0', gutter(width) - 6, ACTIVITY - 2);
  };
  const describe = (start, end) => {
    const bin = Math.min(io.length - 1, Math.max(0, Math.floor(((start + end) / 2 - RUN_START) / step)));
    return [`${timeText(RUN_START + bin * step, view.end - view.start)} and ${secondsText(step)} on, of ${counted(ranks, 'rank')} on average:`,
      `${threeDigits(io[bin])} in calls of I/O, ${threeDigits(mpi[bin])} in MPI, ${threeDigits(Math.max(0, ranks - io[bin] - mpi[bin]))} elsewhere`];
  };
  return [h('h3', {}, 'Ranks in I/O and in MPI over time'), legend(['write', 'in calls of I/O, on all files'], ['mpi', 'in other calls of MPI']),
    timePlot('Ranks in I/O and in MPI over time', ACTIVITY, draw, describe), timeAxis(),
    activity.under_way_s > 0 ? h('p', {}, `Non-blocking operations are under way for ${secondsText(activity.under_way_s)}, summed over ranks: ${shareText(activity.computing_s, activity.under_way_s)} of it beside computing, outside of I/O and MPI.`) : null];
};

const METADATA = [['Layer', 'layer', 'text'],
  ['Calls that move no data', (entry) => (entry.functions ? entry.functions.slice(0, 4).map((one) => one.function).join(', ') : entry.kind.replaceAll('_', ' ')), 'phrase', 'From Enter to Leave of each call.'],
  ['How many', 'calls', 'count', 'Calls of these kinds.'], ['Time, summed', 'summed_s', 'seconds', 'The sum over all calls.'], ['Busy', 'busy_s', 'seconds', 'Time in which any of them was under way.']];

drawn.calls = () => {
  const { calls } = contents;
  const timed = contents.layers.metadata_calls || [];
  if (!calls) return null;
  const { paths } = calls;
  const count = paths.parent.length;
  const children = Array.from({ length: count }, () => []);
  const roots = [];
  paths.parent.forEach((parent, row) => (parent < 0 ? roots : children[parent]).push(row));
  const most = (one, other) => paths.io_s[other] - paths.io_s[one];
  roots.sort(most);
  children.forEach((below) => below.sort(most));
  const told = (row) => [nameOf(paths.where[row]), calls.groups[paths.group[row]],
    `${counted(paths.calls[row], 'call')}, ${secondsText(paths.whole_s[row])} from entering to leaving, ${secondsText(paths.own_s[row])} without the calls inside`,
    `${secondsText(paths.io_s[row])} in I/O here and beneath`,
    paths.read[row] ? `${exactBytes(paths.read[row])} read` : '', paths.written[row] ? `${exactBytes(paths.written[row])} written` : ''].filter(Boolean);

  const flame = () => {
    const whole = roots.reduce((sum, row) => sum + paths.io_s[row], 0);
    if (!(whole > 0)) return null;
    const picture = h('div', { class: 'flame', role: 'img', 'aria-label': 'Time in I/O by call path: each bar is as wide as the time in I/O of the function and of all that it calls' });
    let deepest = 0;
    const draw = (row, depth, left) => {
      const width = 100 * paths.io_s[row] / whole;
      if (width < 0.1 || depth >= FLAME_ROWS) return;
      deepest = Math.max(deepest, depth);
      const bar = h('div', { class: paths.does_io[row] ? 'bar-io' : 'bar-other', title: told(row).join('\n') }, nameOf(paths.name[row]));
      bar.style.left = `${left}%`;
      bar.style.width = `${width}%`;
      bar.style.top = `${depth * 1.5}rem`;
      picture.append(bar);
      let next = left;
      for (const child of children[row]) {
        draw(child, depth + 1, next);
        next += 100 * paths.io_s[child] / whole;
      }
    };
    let left = 0;
    for (const row of roots) {
      draw(row, 0, left);
      left += 100 * paths.io_s[row] / whole;
    }
    picture.style.height = `${(deepest + 1) * 1.5}rem`;
    return [h('h3', {}, 'Time in I/O by who called'), h('p', { class: 'muted' }, 'Callers above, what they call below; as wide as the time in I/O of the function and all that it calls, summed over all threads.'), picture];
  };

  const line = (row) => [
    h('span', { class: 'who' }, h('span', { class: 'layer' }, calls.groups[paths.group[row]]), nameOf(paths.where[row])),
    h('span', { class: 'numbers', title: told(row).join('\n') },
      h('span', {}, `${countText(paths.calls[row])} ${paths.calls[row] === 1 ? 'call' : 'calls'}`),
      h('span', {}, `${secondsText(paths.whole_s[row])} in all`),
      h('span', {}, `${secondsText(paths.io_s[row])} in I/O`),
      paths.read[row] ? h('span', {}, `${bytesText(paths.read[row])} read`) : null,
      paths.written[row] ? h('span', {}, `${bytesText(paths.written[row])} written`) : null)];
  const node = (row, depth) => {
    if (!children[row].length) return h('li', {}, h('div', { class: 'call' }, line(row)));
    const list = h('ul', {});
    const open = count <= UNFOLDED || depth < 3 || children[row].length === 1;
    const item = h('details', { open }, h('summary', { class: 'call' }, line(row)), list);
    const fill = () => { if (item.open && !list.childElementCount) list.append(...children[row].map((child) => node(child, depth + 1))); };
    item.addEventListener('toggle', fill);
    if (open) fill();
    return h('li', {}, item);
  };

  return [
    h('p', {}, costText(calls)),
    chainText(contents.layers.chain),
    activityPlot(calls),
    tableFrom(METADATA, timed),
    flame(),
    h('h3', {}, 'Call paths'),
    calls.total > count ? h('p', { class: 'muted' }, `The ${countText(count)} with the most time in I/O of ${counted(calls.total, 'call path')} are listed.`) : null,
    h('ul', { class: 'calls' }, roots.map((row) => node(row, 0)))];
};
