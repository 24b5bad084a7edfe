/* What is drawn in the next frame, by all parts of the page at once: so what they measure then is laid out once. */

let waiting = [];

/** Call `act` in the next frame, after all that was asked for before. */
export function inFrame(act) {
  if (!waiting.length) requestAnimationFrame(drawAll);
  waiting.push(act);
}

function drawAll() {
  const acts = waiting;
  waiting = [];
  for (const act of acts) act();
}
