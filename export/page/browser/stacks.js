// Two threads one below the other: what each did with the tree of handles, and its calls in calls.

const LEVEL = 15;
const TREE_LABEL = 16;
const TREE_ROW = 11;
const MOST_HANDLES = 16;
const MOST_LEVELS = 40;
const OTHER_IO = KIND_COLOURS.indexOf('io');

drawn.stacks = () => {
  const { stacks } = contents;
  if (!stacks) return null;
  const bars = Object.fromEntries(Object.entries(stacks.bars).map(([name, column]) => [name, unpacked(column)]));
  const { threads, functions, handles } = stacks;
  const toTime = (value) => RUN_START + value / 4294967295 * (RUN_END - RUN_START);
  const ofThread = threads.name.map(() => []);
  bars.thread.forEach((thread, row) => ofThread[thread].push(row));
  const nameOfThread = (thread) => `${threads.rank[thread] < 0 ? 'no rank' : `rank ${threads.rank[thread]}`}, ${nameOf(threads.name[thread])}`;
  const colourOf = (row) => palette[nameOf(functions.group[bars.function[row]]) === 'MPI' ? 'mpi' : 'use'];
  const told = (row) => {
    const lines = [`${nameOf(functions.name[bars.function[row]])} (${nameOf(functions.group[bars.function[row]])})`,
      `${bars.count[row] > 1 ? `${countText(bars.count[row])} calls within ` : ''}${secondsText(toTime(bars.end[row]) - toTime(bars.start[row]))} from ${timeText(toTime(bars.start[row]), view.end - view.start)} on`];
    const handle = bars.handle[row] - 1;
    if (handle >= 0) lines.push(`${contents.timeline.kinds[bars.kind[row]]}: ${nameOf(handles.layer[handle])} ${nameOf(handles.file[handle])}`);
    return lines;
  };
  const at = (rows, start, end) => rows.filter((row) => toTime(bars.start[row]) <= end && toTime(bars.end[row]) >= start);
  const extent = (row, width) => {
    const span = spanOf(toTime(bars.start[row]), toTime(bars.end[row]), width);
    if (!span) return null;
    const x = Math.floor(span[0]);
    return [x, Math.max(1, Math.round(span[0] + span[1]) - x)];
  };

  const chart = (state) => {
    let rows = [];
    let tree = [];
    let levels = 1;
    let left = 0;
    const choose = () => {
      rows = ofThread[state.thread];
      levels = Math.min(MOST_LEVELS, 1 + rows.reduce((most, row) => Math.max(most, bars.depth[row]), 0));
      const time = new Map();
      for (const row of rows) if (bars.handle[row]) time.set(bars.handle[row], (time.get(bars.handle[row]) || 0) + bars.end[row] - bars.start[row]);
      const most = [...time.keys()].sort((one, other) => time.get(other) - time.get(one)).slice(0, MOST_HANDLES);
      left = time.size - most.length;
      const shown = new Set(most);
      // The handles above those, which come before them and have one level less.
      for (let place = handles.depth.length, level = Infinity; place > 0; place -= 1) {
        if (shown.has(place)) level = Math.min(level, handles.depth[place - 1]);
        else if (handles.depth[place - 1] < level && level < Infinity) { shown.add(place); level = handles.depth[place - 1]; }
        if (level === 0) level = Infinity;
      }
      tree = [...shown].sort((one, other) => one - other).map((place) => ({ place, rows: rows.filter((row) => bars.handle[row] === place) }));
    };
    choose();
    const drawTree = (canvas) => {
      const { context, width } = prepared(canvas, Math.max(1, tree.length) * (TREE_LABEL + TREE_ROW) + 2);
      tree.forEach(({ place, rows: own }, number) => {
        const y = number * (TREE_LABEL + TREE_ROW);
        const indent = 2 + 12 * handles.depth[place - 1];
        context.fillStyle = palette.text;
        context.fillText(fitted(context, `${handles.depth[place - 1] ? '└ ' : ''}${nameOf(handles.layer[place - 1])}  ${nameOf(handles.file[place - 1])}`, width - indent - 4), indent, y + 13);
        context.fillStyle = palette.use;
        context.fillRect(gutter(width), y + TREE_LABEL + TREE_ROW / 2, width - gutter(width), 1);
        const columns = new KindColumns(width);
        for (const row of own) {
          const span = extent(row, width);
          if (span) columns.add(bars.kind[row] || OTHER_IO, span);
        }
        columns.draw(context, y + TREE_LABEL + 1, TREE_ROW - 2);
      });
      if (!tree.length) { context.fillStyle = palette.muted; context.fillText('no call on a selected file', 4, 14); }
    };
    const drawStack = (canvas) => {
      const { context, width } = prepared(canvas, levels * LEVEL + 2);
      for (let level = 0; level < levels; level += 1) {
        context.fillStyle = palette.muted;
        context.textAlign = 'right';
        context.fillText(`level ${level + 1}`, gutter(width) - 6, level * LEVEL + 12);
      }
      context.textAlign = 'left';
      const columns = Array.from({ length: levels }, () => new KindColumns(width));
      const named = [];
      for (const row of rows) {
        const span = bars.depth[row] < levels && extent(row, width);
        if (!span) continue;
        const io = functions.does_io[bars.function[row]];
        if (io) {
          columns[bars.depth[row]].add(bars.kind[row] || OTHER_IO, span);
        } else {
          context.fillStyle = colourOf(row);
          context.fillRect(span[0], bars.depth[row] * LEVEL + 1, span[1], LEVEL - 2);
        }
        if (span[1] >= 48 && bars.count[row] === 1) named.push([row, span, io]);
      }
      columns.forEach((level, depth) => level.draw(context, depth * LEVEL + 1, LEVEL - 2));
      for (const [row, span, io] of named) {
        context.fillStyle = io ? palette.page : palette.text;
        context.fillText(fitted(context, nameOf(functions.name[bars.function[row]]), span[1] - 6), span[0] + 3, bars.depth[row] * LEVEL + 12);
      }
    };
    const describeTree = (start, end, y) => {
      const found = tree[Math.floor(y / (TREE_LABEL + TREE_ROW))];
      if (!found) return [nameOfThread(state.thread)];
      const margin = (end - start) * 1.5;
      return [`${nameOf(handles.layer[found.place - 1])} ${nameOf(handles.file[found.place - 1])}`, ...at(found.rows, start - margin, end + margin).slice(0, 3).flatMap((row) => told(row).slice(0, 2))];
    };
    const describeStack = (start, end, y) => {
      const level = Math.floor(y / LEVEL);
      const found = at(rows.filter((row) => bars.depth[row] === level), start, end);
      return found.length ? found.slice(0, 2).flatMap(told) : [`${nameOfThread(state.thread)}, level ${level + 1}`, timeText((start + end) / 2, view.end - view.start)];
    };
    const plots = [timePlot('Calls on handles of a thread', TREE_ROW, drawTree, describeTree), timePlot('Call stack of a thread', LEVEL, drawStack, describeStack)];
    const note = h('p', { class: 'muted' });
    const facts = () => { note.textContent = `${secondsText(threads.io_s[state.thread])} in I/O.${left > 0 ? ` The ${MOST_HANDLES} handles with the most time are drawn, ${countText(left)} ${left > 1 ? 'are' : 'is'} left out.` : (stacks.gap_s > 0 && tree.length ? ' The handles with the most time are drawn.' : '')}`; };
    facts();
    const select = h('select', { onchange: (event) => { state.thread = Number(event.target.value); choose(); facts(); redraw(panels.filter((panel) => plots.includes(panel.element))); } },
      threads.name.map((_, thread) => h('option', { value: thread, selected: thread === state.thread }, nameOfThread(thread))));
    return h('div', { class: 'panel' }, h('div', { class: 'legend tools' }, h('label', {}, `${state.label} `, select)),
      h('h3', { class: 'paper-only' }, nameOfThread(state.thread)), note, plots);
  };

  const last = threads.name.length - 1;
  const states = [{ label: 'Thread', thread: 0 }, { label: 'Beside it', thread: last }].slice(0, last > 0 ? 2 : 1);
  return [
    h('p', {}, 'Above, the calls on each handle, those of a lower layer below the handle that they serve; below, the calls in calls. Bars reach from entering a function to leaving it, opens and closes too. ',
      last > 0 ? `At first the thread with the most time in I/O and the one with the least of ${stacks.total_threads > threads.name.length ? `the ${threads.name.length} that are here, out of ${countText(stacks.total_threads)} with I/O` : 'those with I/O'}. ` : '',
      stacks.gap_s > 0 ? `Calls of one function closer than ${secondsText(stacks.gap_s)} are drawn as one.` : ''),
    legend(['read', 'read'], ['write', 'write'], ['flush', 'flush'], ['open', 'open'], ['close', 'close'], ['other', 'seek, lock, other'], ['io', 'other I/O call'], ['mpi', 'MPI'], ['use', 'all other functions']),
    states.map(chart), timeAxis()];
};
