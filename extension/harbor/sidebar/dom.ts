// The one helper that makes elements: a view says what there is to see, and the page is brought there.
//
// Owns how a description becomes elements. What stays is not touched, so that focus, typed text and scrolling stay, and nothing
// jumps. Must never parse HTML: texts become text nodes.

type Listener = (event: Event) => void;
type Value = string | number | boolean | undefined;

/** A description of an element. */
export interface VNode {
  tag: string;
  key: string | undefined;
  attributes: { [name: string]: Value };
  /** Set when the element is made, and the person's from then on. */
  initial: { value?: string; checked?: boolean };
  on: { [event: string]: Listener };
  /** What is absent keeps its place, so that its neighbours stay the same elements. */
  children: Child[];
}

export type Child = VNode | string | undefined | false;

export interface Props {
  /** Which one it is among its neighbours; needed where those come and go. */
  key?: string;
  on?: { [event: string]: Listener };
  value?: string;
  checked?: boolean;
  [attribute: string]: Value | { [event: string]: Listener };
}

/** Whose value is the person's. */
const CONTROLS = ["input", "textarea", "select"];

/** Describes an element: `h("p.note", { id: "a" }, "text")`. */
export function h(what: string, props: Props = {}, ...children: Child[]): VNode {
  const [tag = "div", ...classes] = what.split(".");
  const { key, on = {}, value, checked, ...attributes } = props;
  const initial: VNode["initial"] = {};
  if (value !== undefined && CONTROLS.includes(tag)) initial.value = value;
  else if (value !== undefined) attributes["value"] = value;
  if (checked !== undefined) initial.checked = checked;
  if (classes.length > 0) attributes["class"] = classes.join(" ");
  return { tag, key, attributes: attributes as VNode["attributes"], initial, on, children };
}

/** All text of a description, as a person reads it. */
export function textIn(child: Child): string {
  if (child === undefined || child === false) return "";
  return typeof child === "string" ? child : child.children.map(textIn).join("");
}

interface Live {
  key: string;
  node: Element | Text;
  child: VNode | string;
  children: Live[];
}

const roots = new WeakMap<Element, Live[]>();

/** Brings what is in `root` to what the description says. */
export function render(root: Element, children: Child[]): void {
  roots.set(root, reconciled(root, roots.get(root) ?? [], children));
}

function reconciled(parent: Element, before: Live[], children: Child[]): Live[] {
  const known = new Map(before.map((live) => [live.key, live]));
  const after: Live[] = [];
  const times = new Map<string, number>();
  for (const [at, child] of children.entries()) {
    if (child === undefined || child === false) continue;
    const name = nameOf(child, at);
    // Keys may be a server's: what comes twice is two elements. No tag begins with a number.
    const time = (times.get(name) ?? 0) + 1;
    times.set(name, time);
    const key = time === 1 ? name : `${time} ${name}`;
    const live = known.get(key);
    known.delete(key);
    after.push(live === undefined ? created(child, key) : updated(live, child));
  }
  for (const { node } of known.values()) node.remove();
  let place = parent.firstChild;
  for (const { node } of after) {
    if (node === place) place = node.nextSibling;
    else parent.insertBefore(node, place);
  }
  return after;
}

function nameOf(child: VNode | string, at: number): string {
  return typeof child === "string" ? `text ${at}` : `${child.tag} ${child.key === undefined ? at : `key ${child.key}`}`;
}

function created(child: VNode | string, key: string): Live {
  if (typeof child === "string") return { key, node: document.createTextNode(child), child, children: [] };
  const node = document.createElement(child.tag);
  const live: Live = { key, node, child: { ...child, attributes: {}, on: {}, children: [] }, children: [] };
  const made = updated(live, child);
  const { value, checked } = child.initial;
  // After its children: a select has its options by now.
  if (value !== undefined) (node as HTMLInputElement).value = value;
  if (checked !== undefined) (node as HTMLInputElement).checked = checked;
  return made;
}

function updated(live: Live, child: VNode | string): Live {
  const { node, child: before } = live;
  if (before === child) return live;
  live.child = child;
  if (typeof child === "string") {
    (node as Text).data = child;
    return live;
  }
  const element = node as HTMLElement;
  const old = before as VNode;
  for (const name of Object.keys({ ...old.attributes, ...child.attributes })) {
    if (old.attributes[name] !== child.attributes[name]) setAttribute(element, name, child.attributes[name]);
  }
  for (const event of Object.keys(child.on)) {
    // The element keeps one listener, which looks up what is meant now.
    if (old.on[event] === undefined) listen(live, element, event);
  }
  live.children = reconciled(element, live.children, child.children);
  return live;
}

function listen(live: Live, element: HTMLElement, event: string): void {
  element.addEventListener(event, (happened) => (live.child as VNode).on[event]?.(happened));
}

function setAttribute(element: HTMLElement, name: string, value: Value): void {
  if (value === undefined || value === false) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? "" : String(value));
}
