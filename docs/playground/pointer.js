"use strict";

/* Pointer and keys on a picture. */

const removing = () => $("remove").getAttribute("aria-pressed") === "true";
/** Keep a point in the picture, so far from its edge that the axis stays as it is. */
function within([x, y]) {
  const most = limit / ROOM;
  return [round(Math.min(Math.max(x, -1), 1)), round(Math.min(Math.max(y, -most), most))];
}

/** Set points that a hand changed, as part of a run that it goes on with, if any. */
function edit(next, run = null) {
  return change({ points: next, edited: !own() || state.edited }, { follow: run !== null, run });
}

/** The key's letter or name; where the layout has other letters, that of the Latin one. */
const keyOf = ({ key, code }) => (/^[^ -~]|^Process$/.test(key) ? code.replace("Key", "") : key).toLowerCase();

function pointer(panel) {
  const { canvas } = panel;
  let moved = false, began = null, hold = 0; // where the pointer went down: one run of changes
  const at = (event) => {
    const box = canvas.getBoundingClientRect(), s = scales(panel);
    const px = event.clientX - box.left, py = event.clientY - box.top;
    return { px, py, point: [s.unX(px), s.unY(py)], s };
  };
  const nearest = ({ px, py, s }, reach) => {
    let best = -1, least = reach;
    points().forEach(([x, y], i) => {
      const away = Math.hypot(s.x(x) - px, s.y(y) - py);
      if (away < least) [best, least] = [i, away];
    });
    return best;
  };
  const REACH = 14, HOLD = 150; // px, ms
  // A finger that only passes scrolls the page: it takes a point by resting on it, or if it was chosen before.
  for (const kind of ["touchstart", "touchmove"]) {
    canvas.addEventListener(kind, (event) => {
      if (held || drawsGuess(panel) || (kind === "touchstart" && chosen >= 0 && nearest(at(event.touches[0]), REACH) === chosen)) event.preventDefault();
    }, { passive: false });
  }
  canvas.oncontextmenu = (event) => event.pointerType === "touch" && event.preventDefault();
  function take(found) {
    chosen = found;
    held = found >= 0 && !removing();
    paint();
  }
  canvas.onpointerdown = (event) => {
    if (event.button || !event.isPrimary) return;
    canvas.setPointerCapture(event.pointerId);
    canvas.focus({ preventScroll: true });
    const where = at(event), found = nearest(where, REACH);
    if (drawsGuess(panel)) return guessByPointer(event, where);
    [began, moved] = [{ ...where, found }, false];
    if (event.pointerType !== "touch" || found < 0 || found === chosen) return take(found);
    began.until = event.timeStamp + HOLD;
    hold = setTimeout(() => take(found), HOLD);
  };
  canvas.onpointermove = (event) => {
    if (drawsGuess(panel)) return guessByPointer(event, at(event));
    if (!began) {
      canvas.style.cursor = nearest(at(event), REACH) >= 0 ? "grab" : "";
      return;
    }
    const where = at(event);
    if (held && event.timeStamp < began.until) take(-1); // it did not rest: the page was late
    moved ||= Math.hypot(where.px - began.px, where.py - began.py) > (event.pointerType === "touch" && !held ? 8 : 3);
    if (moved && !held) clearTimeout(hold);
    if (held && moved && chosen >= 0) {
      const next = [...points()];
      next[chosen] = within(where.point);
      edit(next, began);
    }
  };
  const end = (event) => {
    if (drawsGuess(panel)) return guessByPointer(event, at(event));
    if (!began) return;
    const where = at(event), dragged = held && moved, { found } = began;
    clearTimeout(hold);
    held = false;
    began = null;
    if (event.type === "pointerup" && !moved) take(found); // a tap chooses
    held = false;
    if (dragged) ask();
    else if (event.type === "pointercancel") return;
    else if (removing()) remove(chosen);
    else if (chosen < 0 && !moved) add(within(where.point));
  };
  canvas.onpointerup = end;
  canvas.onpointercancel = end;
  canvas.onkeydown = (event) => {
    const now = points(), key = keyOf(event);
    if (drawsGuess(panel)) return guessByKey(key) && event.preventDefault();
    const step = { arrowleft: [-0.02, 0], arrowright: [0.02, 0], arrowup: [0, limit / 40], arrowdown: [0, -limit / 40] }[key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (step && chosen >= 0) {
      const next = [...now], [x, y] = now[chosen];
      next[chosen] = within([x + step[0], y + step[1]]);
      edit(next, `point ${chosen}`);
      rest();
    } else if (key === "n" || key === "p") {
      chosen = (chosen + (key === "n" ? 1 : now.length - 1) + now.length) % now.length;
    } else if (key === "a") add(chosen >= 0 ? within([now[chosen][0] + 0.05, now[chosen][1]]) : [0, 0]);
    else if (key === "delete" || key === "backspace") remove(chosen);
    else return;
    event.preventDefault();
    tellPoint();
    paint();
  };
  canvas.onblur = paint;
  canvas.onfocus = paint;
}

function tellPoint() {
  if (chosen < 0) return;
  const [x, y] = learners()[chosen];
  $("told").textContent = say("point", { i: chosen + 1, n: points().length, x, y });
}

/** The points in the learner's units, with as many decimals as an address tells apart. */
function learners() {
  const both = columns(points()).map((values, k) => {
    const [start, scale] = state.units.slice(2 * k), decimals = places(values) - Math.ceil(Math.log10(scale));
    return values.map((value) => Number((start + scale * value).toFixed(Math.min(Math.max(decimals, 0), 100))));
  });
  return both[0].map((x, i) => [x, both[1][i]]);
}

function add(point) {
  const now = points();
  if (now.length >= MOST) {
    $("told").textContent = say("errors.many", { n: now.length + 1 });
    return;
  }
  chosen = now.length;
  edit([...now, point]);
}

function remove(i) {
  const now = points();
  if (i < 0 || i >= now.length) return;
  if (now.length <= 2) {
    $("told").textContent = say("few");
    return;
  }
  chosen = -1;
  edit(now.filter((_, k) => k !== i));
}

let resting = 0;
/** Fit afresh once nothing has moved for a quarter of a second. */
function rest() {
  clearTimeout(resting);
  resting = setTimeout(() => ask(), 250);
}
