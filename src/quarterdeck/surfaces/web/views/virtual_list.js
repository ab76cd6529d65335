// A list of rows of any height, of which only those on screen are in the document.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../lib/html.js";

const OVERSCAN = 6;
const MOST_DRAWN = 60;
const NEAR_END = 60;
const NEAR_START = 400;

/** @typedef {import("../lib/rows.js").Row} Row */

/** The first index whose row ends after this place. @param {Float64Array} offsets @param {number} top */
function indexAt(offsets, top) {
  let low = 0;
  let high = offsets.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (offsets[middle + 1] > top) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Keeps what is at the top of the screen in its place while rows come, go and grow, or stays at the end.
 * @param {{ rows: Row[], version: number, draw: (row: Row, index: number) => any, estimate: (row: Row) => number, label: string,
 *   onStart?: () => void, onEnd?: () => void, onStuck?: (stuck: boolean) => void, follows: boolean, handle: any, after?: any,
 *   before?: any, onKeyDown?: (event: KeyboardEvent) => void }} props */
export function VirtualList({ rows, draw, estimate, label, onStart, onEnd, onStuck, follows, handle, after, before, onKeyDown }) {
  const box = useRef(/** @type {any} */ (null));
  const list = useRef(/** @type {any} */ (null));
  const state = useRef({ stuck: true, key: 0, within: 0, top: 0, height: 800, width: 0, focusing: 0, goal: 0 }).current;
  const [, redraw] = useState(0);
  const again = () => redraw((n) => n + 1);

  const offsets = new Float64Array(rows.length + 1);
  for (let n = 0; n < rows.length; n += 1) offsets[n + 1] = offsets[n] + (rows[n].height || estimate(rows[n]));
  const total = offsets[rows.length];
  const at = anchorIndex(rows, state.key);
  const wanted = state.stuck && follows ? Math.max(0, total - state.height) : at < 0 ? state.top : offsets[at] + state.within;
  const start = rows.length ? Math.max(0, indexAt(offsets, wanted) - OVERSCAN) : 0;
  let end = rows.length ? Math.min(rows.length, indexAt(offsets, wanted + state.height) + 1 + OVERSCAN) : 0;
  end = Math.min(end, start + MOST_DRAWN);

  /** Move the screen to where the rows say that it should be. */
  function settle() {
    const own = box.current;
    let changed = false;
    for (const child of list.current.children) {
      const row = rows[Number(child.dataset.index)];
      const height = child.offsetHeight;
      if (row && height && row.height !== height) {
        row.height = height;
        changed = true;
      }
    }
    if (state.stuck && follows) {
      if (own.scrollHeight - own.scrollTop - own.clientHeight > 1) own.scrollTop = own.scrollHeight;
    } else if (at >= 0 && !changed && Math.abs(own.scrollTop - headHeight(own) - wanted) > 1) {
      own.scrollTop = wanted + headHeight(own);
    }
    if (changed) again();
  }

  useLayoutEffect(settle);

  useEffect(() => {
    const own = box.current;
    const observer = new ResizeObserver(() => {
      if (own.clientWidth !== state.width) for (const row of rows) row.height = 0;
      state.width = own.clientWidth;
      state.height = own.clientHeight;
      again();
    });
    observer.observe(own);
    return () => observer.disconnect();
  }, []);

  function scrolled() {
    const own = box.current;
    state.top = own.scrollTop - headHeight(own);
    state.height = own.clientHeight;
    const stuck = own.scrollHeight - own.scrollTop - own.clientHeight < NEAR_END;
    if (stuck !== state.stuck && onStuck) onStuck(stuck);
    state.stuck = stuck;
    if (rows.length) {
      const first = indexAt(offsets, Math.max(0, state.top));
      state.key = rows[first].key;
      state.within = state.top - offsets[first];
    }
    if (own.scrollTop < NEAR_START && onStart) onStart();
    if (stuck && onEnd) onEnd();
    again();
  }

  handle.current = {
    /** @param {number} index @param {boolean} [focus] */
    show(index, focus) {
      state.stuck = false;
      if (onStuck) onStuck(false);
      state.key = rows[index].key;
      state.within = -Math.min(120, state.height / 4);
      if (index === 0) state.within = 0;
      state.focusing = focus ? rows[index].key : 0;
      again();
    },
    end() {
      state.stuck = true;
      if (onStuck) onStuck(true);
      again();
    },
  };
  useLayoutEffect(() => {
    if (!state.focusing) return;
    const found = list.current.querySelector(`[data-key="${state.focusing}"]`);
    if (!found) return;
    state.focusing = 0;
    found.focus({ preventScroll: true });
  });

  const shown = [];
  for (let n = start; n < end; n += 1) shown.push(draw(rows[n], n));
  return html`<div class="feed" ref=${box} onScroll=${scrolled} onKeyDown=${onKeyDown} tabindex="0" role="feed" aria-label=${label} aria-busy="false">
    ${before}
    <div class="pad-start" style=${{ height: `${offsets[start] || 0}px` }}></div>
    <div class="rows" ref=${list}>${shown}</div>
    <div class="pad-end" style=${{ height: `${total - (offsets[end] || 0)}px` }}></div>
    ${after}
  </div>`;
}

/** The height of what stands above the first row. @param {any} box */
function headHeight(box) {
  return box.querySelector(".pad-start").offsetTop;
}

/** Where the row with this key is, or the first one after it. @param {Row[]} rows @param {number} key */
function anchorIndex(rows, key) {
  if (!key) return -1;
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle].place < key * 4096) low = middle + 1;
    else high = middle;
  }
  for (let n = Math.max(0, low - 2); n < Math.min(rows.length, low + 3); n += 1) if (rows[n].key === key) return n;
  return low < rows.length ? low : -1;
}
