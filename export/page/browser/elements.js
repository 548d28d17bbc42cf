// Elements of the page. Text goes in as text, so nothing out of a trace becomes markup.

const setAttributes = (element, attributes) => {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : name === 'title' || name === 'aria-label' ? shown(value).replaceAll('\\u{a}', '\n') : String(value));
  }
};

const appendAll = (element, children) => {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : together(shown(child)));
  }
  return element;
};

const h = (tag, attributes, ...children) => {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  return appendAll(element, children);
};

const svg = (tag, attributes, ...children) => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  setAttributes(element, attributes);
  return appendAll(element, children);
};

// The hint that follows the pointer: what the picture shows there, in words.
const hint = h('div', { class: 'hint', role: 'status' });
const showHintAt = (lines, x, y) => {
  hint.textContent = lines.map(shown).join('\n');
  const { width, height } = hint.getBoundingClientRect();
  hint.style.left = `${x + 14 + width > innerWidth ? Math.max(4, x - width - 14) : x + 14}px`;
  hint.style.top = `${y + 14 + height > innerHeight ? Math.max(4, y - height - 14) : y + 14}px`;
  hint.style.visibility = 'visible';
};
const showHint = (lines, event) => showHintAt(lines, event.clientX, event.clientY);
const hideHint = () => { hint.style.visibility = 'hidden'; };

const section = (id, name, title, ...children) => h('section', { id, 'data-name': name, 'aria-labelledby': `${id}-title` },
  h('h2', { id: `${id}-title` }, title), ...children);

const legend = (...entries) => h('ul', { class: 'legend' },
  entries.map(([kind, text, definition]) => h('li', { title: definition }, h('span', { class: `swatch ${kind}`, 'aria-hidden': 'true' }), text)));
