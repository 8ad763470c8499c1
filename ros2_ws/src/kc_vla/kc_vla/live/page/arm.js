// Where each joint is between its limits; one that the robot file does not name has none.
import { element, found, say } from "./dom.js";

const NEAR = 0.04; // of the range
const rows = new Map();

function make(joints) {
  rows.clear();
  const prefix = common(joints.map(({ name }) => name));
  found("joints").replaceChildren(
    ...joints.flatMap((joint) => {
      const track = element("div", "track");
      const mark = element("i");
      mark.hidden = true;
      if (joint.low !== undefined) track.append(element("span", "", shownAs(joint.low, joint.unit)), mark, element("span", "", shownAs(joint.high, joint.unit)));
      const value = element("span", "value", "-");
      rows.set(joint.name, { joint, track, mark, value });
      return [element("span", "", joint.name.slice(prefix)), track, value];
    }),
  );
}

function common(names) {
  const first = names[0] ?? "";
  const cut = first.lastIndexOf("_") + 1;
  return names.every((name) => name.startsWith(first.slice(0, cut))) ? cut : 0;
}

// As the robot names its joints, and before it has said anything, as the robot file does.
function told(robot, joints) {
  if (!joints) return robot.joints;
  const known = new Map(robot.joints.map((joint) => [joint.name, joint]));
  return Object.keys(joints).map((name) => known.get(name) ?? { name, unit: /finger|gripper/.test(name) ? "m" : "rad" });
}

const shownAs = (value, unit) => (unit === "m" ? `${(value * 1000).toFixed(0)} mm` : `${((value * 180) / Math.PI).toFixed(0)}°`);

export function drawArm({ parts, series }) {
  const { robot, joints } = parts;
  if (!robot) return;
  const wanted = told(robot, joints);
  if (wanted.length !== rows.size || !wanted.every(({ name }) => rows.has(name))) make(wanted);
  const command = series.commands.at(-1);
  const title = robot.kind ? `${robot.name} (${robot.kind})` : robot.name;
  say("arm", `${title}${command ? (command.reason ? ` · holds: ${command.reason}` : ` · follows step ${command.step}`) : ""}`);
  for (const [name, { joint, track, mark, value }] of rows) {
    const at = joints?.[name];
    if (at === undefined || at === null) continue;
    value.textContent = shownAs(at, joint.unit);
    if (joint.low === undefined) continue;
    const share = (at - joint.low) / (joint.high - joint.low);
    mark.hidden = false;
    mark.style.left = `${Math.min(1, Math.max(0, share)) * 100}%`;
    const near = joint.unit === "m" ? "" : share < -0.001 || share > 1.001 ? "beyond" : share < NEAR || share > 1 - NEAR ? "near" : "";
    track.className = `track ${near}`;
    value.className = `value ${near}`;
  }
}
