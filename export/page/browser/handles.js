// The tree of handles: what hangs below what, with the traffic of each.

const AT_ONCE = 60;

drawn.handles = () => {
  if (!contents.handles) return null;
  const { handles, bins } = contents.handles;
  const count = handles.id.length;
  if (!count) return null;
  const curvesOf = unpacked(contents.handles.curves);
  const children = Array.from({ length: count }, () => []);
  const roots = [];
  handles.parent.forEach((parent, row) => (parent < 0 ? roots : children[parent]).push(row));
  const text = (row) => nameOf(handles.file[row]) || nameOf(handles.name[row]) || '(no name)';
  const open = new Set();
  let wanted = '';
  let matches = null;

  const sparkline = (row) => {
    const column = curvesOf.subarray(row * bins, (row + 1) * bins);
    if (!column.some((value) => value > 0)) return svg('svg', { width: 96, height: 16, 'aria-hidden': 'true' });
    let path = '';
    column.forEach((value, bin) => { if (value) path += `M${bin * 96 / bins} 16v${-value}h${96 / bins}v${value}z`; });
    const kind = handles.bytes_written[row] >= handles.bytes_read[row] ? 'write' : 'read';
    return svg('svg', { width: 96, height: 16, viewBox: '0 0 96 16', role: 'img', 'aria-label': 'bytes over time' },
      svg('title', {}, 'Bytes of the handle’s own operations over the run'), svg('path', { d: path, class: kind }));
  };

  const number = (value, unit, definition) => h('span', { title: definition }, `${value} ${unit}`);
  const node = (row) => {
    const inside = matches ? children[row].filter((child) => matches.has(child)) : children[row];
    const id = `handle-${row}`;
    const list = h('ul', { role: 'group', id });
    const button = inside.length ? h('button', { type: 'button', 'aria-expanded': 'false', 'aria-controls': id, 'aria-label': `Handles below ${shortened(text(row), 60)}` }) : h('span', {});
    const item = h('li', { role: 'treeitem' }, h('div', { class: 'node' }, button,
      h('span', { class: 'who' }, h('span', { class: 'layer' }, nameOf(handles.layer[row])),
        wanted && text(row).toLowerCase().includes(wanted) ? h('mark', {}, text(row)) : text(row),
        handles.file[row] >= 0 && handles.name[row] >= 0 && nameOf(handles.name[row]) ? h('span', { class: 'muted' }, ` ${nameOf(handles.name[row])}`) : null,
        handles.scope[row] >= 0 ? h('span', { class: 'muted' }, ` on ${nameOf(handles.scope[row])}`) : null,
        handles.flags[row] >= 0 ? h('span', { class: 'muted' }, ` (${nameOf(handles.flags[row])})`) : null,
        handles.set_aside[row] >= 0 ? h('span', { class: 'muted' }, ` (set aside: ${nameOf(handles.set_aside[row])})`) : null),
      h('span', { class: 'numbers' },
        handles.operations[row] || !handles.metadata_events[row] ? number(countText(handles.operations[row]), handles.operations[row] === 1 ? 'operation' : 'operations', `Handle ${handles.id[row]}, ${nameOf(handles.layer[row])}: operations of the handle itself, flushes among them. Its subtree: ${countText(handles.subtree_operations[row])}. ${definitionOf('subtree')}`)
          : number(countText(handles.metadata_events[row]), handles.metadata_events[row] === 1 ? 'metadata event' : 'metadata events', `Handle ${handles.id[row]}, ${nameOf(handles.layer[row])}. ${definitionOf('metadata events')}`),
        handles.bytes_read[row] ? number(bytesText(handles.bytes_read[row]), 'read', `${exactBytes(handles.bytes_read[row])} read. ${definitionOf('bytes')}`) : null,
        handles.bytes_written[row] ? number(bytesText(handles.bytes_written[row]), 'written', `${exactBytes(handles.bytes_written[row])} written. ${definitionOf('bytes')}`) : null,
        number(countText(handles.ranks[row]), handles.ranks[row] === 1 ? 'rank' : 'ranks', 'Processes that made or used the handle.'),
        sparkline(row))), list);
    const show = (state) => {
      button.textContent = state ? '▾' : '▸';
      button.setAttribute('aria-expanded', String(state));
      item.setAttribute('aria-expanded', String(state));
      if (state) open.add(row); else open.delete(row);
      list.replaceChildren();
      if (state) fill(list, inside);
      if (tree.isConnected) makeReachable(tree);
    };
    if (inside.length) {
      button.addEventListener('click', () => show(!open.has(row)));
      show(matches ? true : open.has(row));
    }
    return item;
  };
  const fill = (list, rows, from = 0) => {
    for (const row of rows.slice(from, from + AT_ONCE)) list.append(node(row));
    const left = rows.length - from - AT_ONCE;
    if (left > 0) {
      const more = h('button', { type: 'button', class: 'more' }, `show ${countText(Math.min(left, AT_ONCE))} of ${countText(left)} more`);
      const item = h('li', {}, more, h('span', { class: 'paper-only muted' }, `and ${countText(left)} more`));
      more.addEventListener('click', () => { item.remove(); fill(list, rows, from + AT_ONCE); makeReachable(tree); });
      list.append(item);
    }
  };
  const tree = h('ul', { class: 'tree', role: 'tree', 'aria-label': 'I/O handles' });
  const found = h('span', { class: 'muted', role: 'status' });
  const build = () => {
    tree.replaceChildren();
    fill(tree, matches ? roots.filter((row) => matches.has(row)) : roots);
    makeReachable(tree);
  };
  const openSome = () => {
    let budget = 40;
    const queue = [...roots];
    while (queue.length && budget > 0) {
      const row = queue.shift();
      if (!children[row].length || children[row].length > budget) continue;
      open.add(row);
      budget -= children[row].length;
      queue.push(...children[row]);
    }
  };
  const search = (event) => {
    wanted = event.target.value.trim().toLowerCase();
    matches = null;
    let matching = 0;
    if (wanted) {
      matches = new Set();
      for (let row = 0; row < count; row += 1) {
        if (!`${nameOf(handles.layer[row])} ${text(row)} ${nameOf(handles.name[row])}`.toLowerCase().includes(wanted)) continue;
        matching += 1;
        for (let above = row; above >= 0 && !matches.has(above); above = handles.parent[above]) matches.add(above);
      }
    }
    found.textContent = wanted ? counted(matching, 'handle matches', 'handles match') : '';
    build();
  };
  openSome();
  build();
  const missing = contents.handles.shown_total - count;
  return [
    h('p', {}, 'A handle of a lower layer hangs below the handle that it serves. ',
      `${countText(contents.handles.shown_total)} of the trace’s ${counted(contents.handles.total, 'handle')} are on selected files or above such handles. `,
      missing > 0 ? `The ${countText(count)} with the most bytes are listed, ${countText(missing)} are left out.` : ''),
    h('div', { class: 'legend tools' }, h('label', {}, 'Search ', h('input', { type: 'search', oninput: search })), found,
      h('button', { type: 'button', onclick: () => { open.clear(); build(); } }, 'fold all'),
      h('button', { type: 'button', onclick: () => { children.forEach((below, row) => { if (below.length) open.add(row); }); build(); } }, 'unfold all')),
    tree];
};
