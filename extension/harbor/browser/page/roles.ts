// What an element is and is called, as assistive technology has it.
//
// Owns what the library leaves open: elements without a role, fields whose values are nobody's business. Must never give the value
// of a secret field.

import { computeAccessibleName, getRole } from "dom-accessibility-api";

/** Fields that the library has no role for. */
const BY_TYPE: { [type: string]: string } = {
  ...{ date: "textbox", time: "textbox", month: "textbox", week: "textbox", "datetime-local": "textbox", color: "textbox" },
  ...{ file: "button", password: "textbox" },
};

/** The kind of a field that takes a value of one form only, for people; nothing of others. */
export const formOf = (element: Element): string | undefined =>
  element instanceof HTMLInputElement && element.type !== "password" && Object.hasOwn(BY_TYPE, element.type) ? element.type : undefined;

/** The role; `generic` where it has none. */
export function roleOf(element: Element): string {
  if (element instanceof HTMLIFrameElement) return "iframe";
  if (element instanceof HTMLMeterElement) return "meter";
  if (element instanceof HTMLInputElement && (element.type === "password" || !element.hasAttribute("role"))) {
    const role = Object.hasOwn(BY_TYPE, element.type) ? BY_TYPE[element.type] : undefined;
    if (role !== undefined) return role;
  }
  if (element instanceof HTMLElement && element.isContentEditable && !element.parentElement?.isContentEditable) return "textbox";
  const role = getRole(element);
  if (role === null || role === "presentation" || role === "none") return "generic";
  return role;
}

/** Its name: what stands on it, or what it is labelled with. At most 200 characters. */
export function nameOf(element: Element): string {
  const name = (plainName(element) ?? (computeAccessibleName(element) || (titleOf(element)?.textContent ?? ""))).replace(/\s+/g, " ").trim();
  return name.length > 200 ? `${name.slice(0, 200)}…` : name;
}

/** What a part of a drawing is called by its own element for that. */
const titleOf = (element: Element): Element | null => (element instanceof SVGElement ? element.querySelector(":scope > title") : null);

/** The words of an area of a map, which the library takes for hidden; the text of a link or button that has nothing else. The library takes milliseconds to compute it, and a page may have a thousand of them. */
function plainName(element: Element): string | undefined {
  if (element instanceof HTMLAreaElement && !element.hasAttribute("aria-labelledby")) return element.getAttribute("aria-label") ?? (element.alt || element.title);
  if (!(element instanceof HTMLAnchorElement || element instanceof HTMLButtonElement) || element.childElementCount > 0) return undefined;
  const isLabelled = ["aria-label", "aria-labelledby", "title", "role"].some((name) => element.hasAttribute(name));
  return isLabelled || (element instanceof HTMLButtonElement && element.labels.length > 0) ? undefined : (element.textContent ?? "");
}

const INTERACTIVE = new Set(
  ("button checkbox combobox gridcell link listbox menuitem menuitemcheckbox menuitemradio option radio searchbox slider spinbutton " +
    "switch tab textbox treeitem scrollbar").split(" "),
);
const PLACES = new Set(
  ("alert alertdialog article banner complementary contentinfo dialog form grid group heading iframe img list main menu menubar navigation " +
    "radiogroup region search status table tablist tabpanel toolbar tree treegrid").split(" "),
);

/** Whether a person uses it: clicks it, types into it. */
export const isInteractive = (role: string): boolean => INTERACTIVE.has(role);

/** Whether a snapshot of a part may begin there. */
export const isPlace = (role: string): boolean => PLACES.has(role);

/** Roles whose name is the text inside the element. A snapshot does not repeat that text. */
const FROM_CONTENT = new Set(
  "button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio row rowheader switch tab treeitem".split(" "),
);
export const isNamedByContent = (role: string): boolean => FROM_CONTENT.has(role);

/** Roles for which a name says something. */
export const isNamed = (role: string): boolean => INTERACTIVE.has(role) || (PLACES.has(role) && role !== "list") || role === "figure" || isGauge(role);

/** Shows how far something is; what stands in it is for browsers that cannot draw it. */
export const isGauge = (role: string): boolean => role === "meter" || role === "progressbar";

/** True if it says itself what it is called, whatever its role is. */
export const isLabelled = (element: Element): boolean =>
  ["aria-label", "aria-labelledby", "title"].some((name) => element.hasAttribute(name)) || titleOf(element) !== null;

/** What it is called where it is told of: of what has no role for a name, only what it is labelled with. */
export const calledOf = (element: Element, role: string): string => (isNamed(role) || isLabelled(element) ? nameOf(element) : "");

export type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

export const isField = (element: Element): element is Field =>
  element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement;

/** True if the element's content is never read, repeated or kept: passwords, one-time codes, card numbers. */
export function isSecret(element: Element): boolean {
  if (!isField(element)) return false;
  // Pages turn a password into plain text by changing the type or the style: it stays one.
  if (isMasked(element)) keepSecret(element);
  if (kept.has(element) || MARKED_SECRET.test(element.getAttribute("autocomplete") ?? "")) return true;
  return SECRET_NAME.test(element.getAttribute("name") ?? "") || SECRET_NAME.test(element.id);
}

/** Whether it shows dots in place of its text: by its type, or as it is drawn. */
const isMasked = (field: Field): boolean =>
  (field instanceof HTMLInputElement && field.type === "password") || !/^(none)?$/.test(getComputedStyle(field).getPropertyValue("-webkit-text-security"));

const kept = new WeakSet<Element>();

/** From now on it is a secret field, whatever the page makes of it. */
export const keepSecret = (field: Field): unknown => kept.add(field);

const MARKED_SECRET = /\b(one-time-code|current-password|new-password|cc-[a-z-]+)\b/;

/** What pages call fields for secrets that they do not mark. */
const SECRET_NAME = /(^|[^a-z])(passw(or)?d|passcode|otp|one-?time-?code|cvv2?|cvc2?|card-?(number|num|no))([^a-z]|$)/i;

/** What stands in a field, for people; nothing of a secret one. */
export function valueOf(element: Element): string | undefined {
  if (element instanceof HTMLElement && element.isContentEditable) return undefined;
  if (!isField(element)) return gaugeOf(element);
  if (isSecret(element)) return element.value === "" ? "" : "(filled, not shown)";
  if (element instanceof HTMLSelectElement) return [...element.selectedOptions].map(({ label }) => label).join(", ");
  if (element instanceof HTMLInputElement && ["checkbox", "radio", "button", "submit", "reset", "image", "hidden"].includes(element.type)) return undefined;
  if (element instanceof HTMLInputElement && element.type === "file") return [...(element.files ?? [])].map(({ name }) => name).join(", ");
  return element.value;
}

/** How far a gauge or a drawn slider is. */
function gaugeOf(element: Element): string | undefined {
  if (element instanceof HTMLMeterElement || (element instanceof HTMLProgressElement && element.position !== -1)) return `${element.value} of ${element.max}`;
  return element.getAttribute("aria-valuetext") ?? element.getAttribute("aria-valuenow") ?? undefined;
}

/** Its states, as words of a snapshot. */
export function statesOf(element: Element, role: string): string[] {
  const states: string[] = [];
  const aria = (name: string) => element.getAttribute(`aria-${name}`);
  const checkable = element instanceof HTMLInputElement && (element.type === "checkbox" || element.type === "radio");
  if (checkable ? element.checked : aria("checked") === "true") states.push("checked");
  if (checkable ? element.indeterminate : aria("checked") === "mixed") states.push("checked=mixed");
  if (element.matches(":disabled") || aria("disabled") === "true") states.push("disabled");
  if (aria("expanded") !== null) states.push(aria("expanded") === "true" ? "expanded" : "collapsed");
  if (element instanceof HTMLDetailsElement && element.open) states.push("expanded");
  if (aria("pressed") === "true") states.push("pressed");
  if (element instanceof HTMLOptionElement ? element.selected : aria("selected") === "true") states.push("selected");
  if (aria("current") !== null && aria("current") !== "false") states.push("current");
  if (aria("invalid") === "true" || (isField(element) && element.matches(":user-invalid"))) states.push("invalid");
  if (isField(element) && element.required) states.push("required");
  if (isField(element) && "readOnly" in element && element.readOnly) states.push("readonly");
  if (role === "heading") states.push(`level=${aria("level") ?? element.tagName.slice(1)}`);
  return states;
}
