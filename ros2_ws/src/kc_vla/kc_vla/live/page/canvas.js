// A canvas as sharp as the screen, and the few marks that the plots are made of.
export const COLOURS = { line: "#2c313a", dim: "#949ca9", on: "#5aa9ff", older: "#35597f", good: "#5fd38a", warn: "#ffc35c", text: "#e8eaee" };

export function plane(canvas) {
  const { width, height } = canvas.getBoundingClientRect();
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  return { pen, width, height };
}

// Points are [x, y] in px; one whose y is null is a gap.
export function path(pen, points, colour, width = 1.5, dash = []) {
  pen.beginPath();
  let drawing = false;
  for (const [x, y] of points) {
    if (y === null) drawing = false;
    else if (drawing) pen.lineTo(x, y);
    else pen.moveTo(x, y);
    drawing = y !== null;
  }
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.lineJoin = "round";
  pen.setLineDash(dash);
  pen.stroke();
  pen.setLineDash([]);
}

export function label(pen, text, x, y, colour = COLOURS.dim, align = "left") {
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.fillText(text, x, y);
}
