// Definitions by keyboard and by touch: whatever has a hint can take the focus and then shows it. Tab goes to one place of
// each table, list or row of numbers; the arrow keys go on from there.

const GROUPS = 'table, ul.facts, ul.legend, .panel-head, ul.tree, svg, figure, .flow';
const ACTS = 'a, button, input, select, summary, label';

const hintOf = (element) => {
  const own = element.getAttribute('title');
  if (own) return own;
  const inside = element.querySelector(':scope > title');
  return inside ? inside.textContent : '';
};
const hintsIn = (group) => [...group.querySelectorAll('[title], svg :has(> title)')].filter((element) => !element.matches(ACTS) && element.closest(GROUPS) === group);

// Makes one hint of each group a stop of the Tab key, unless one of them is already.
const makeReachable = (root) => {
  for (const group of [...(root.matches(GROUPS) ? [root] : []), ...root.querySelectorAll(GROUPS)]) {
    const found = hintsIn(group);
    for (const element of found) if (!element.hasAttribute('tabindex')) element.setAttribute('tabindex', '-1');
    if (found.length && !found.some((element) => element.tabIndex === 0)) found[0].setAttribute('tabindex', '0');
  }
  for (const element of root.querySelectorAll('[title]')) {
    if (!element.matches(ACTS) && !element.closest(GROUPS) && !element.closest('label')) element.setAttribute('tabindex', '0');
  }
};

const rowBelow = (element, step) => {
  const row = element.closest('tr');
  if (!row) return null;
  const column = [...row.children].indexOf(element);
  for (let other = step > 0 ? row.nextElementSibling : row.previousElementSibling; other; other = step > 0 ? other.nextElementSibling : other.previousElementSibling) {
    const found = other.children[column];
    if (found && hintOf(found)) return found;
  }
  return null;
};

document.addEventListener('keydown', (event) => {
  const element = event.target;
  if (!(element instanceof Element) || element.matches(ACTS) || !hintOf(element)) return;
  if (event.key === 'Escape') { followed = null; hideHint(); return; }
  const group = element.closest(GROUPS);
  if (!group || event.ctrlKey || event.metaKey || event.altKey) return;
  const found = hintsIn(group);
  const place = found.indexOf(element);
  const next = {
    ArrowRight: () => found[place + 1], ArrowLeft: () => found[place - 1], Home: () => found[0], End: () => found[found.length - 1],
    ArrowDown: () => rowBelow(element, 1) || (element.closest('tr') ? null : found[place + 1]),
    ArrowUp: () => rowBelow(element, -1) || (element.closest('tr') ? null : found[place - 1]),
  }[event.key];
  if (!next) return;
  event.preventDefault();
  const target = next();
  if (!target) return;
  element.setAttribute('tabindex', '-1');
  target.setAttribute('tabindex', '0');
  target.focus();
});
// Focus can scroll the page, so the hint keeps to what it speaks of.
let followed = null;
const follow = () => {
  if (!followed) return;
  const box = followed.getBoundingClientRect();
  showHintAt(hintOf(followed).split('\n'), box.left, box.bottom - 8);
};
document.addEventListener('focusin', (event) => {
  const element = event.target;
  followed = element instanceof Element && hintOf(element) ? element : null;
  follow();
});
document.addEventListener('focusout', () => { followed = null; hideHint(); });
document.addEventListener('scroll', follow, { passive: true, capture: true });
