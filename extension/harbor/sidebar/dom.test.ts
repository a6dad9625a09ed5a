// Elements that are made and kept, in a page of a few lines.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Child, h, render } from "./dom.ts";

/** As much of an element as the sidebar touches. */
class Node_ {
  readonly tag: string;
  data = "";
  parent: Node_ | undefined;
  children: Node_[] = [];

  constructor(tag: string) {
    this.tag = tag;
  }

  get firstChild(): Node_ | null {
    return this.children[0] ?? null;
  }

  get nextSibling(): Node_ | null {
    const all = this.parent?.children ?? [];
    return all[all.indexOf(this) + 1] ?? null;
  }

  get text(): string {
    return this.tag === "" ? this.data : this.children.map((child) => child.text).join("");
  }

  remove(): void {
    if (this.parent !== undefined) this.parent.children = this.parent.children.filter((child) => child !== this);
    this.parent = undefined;
  }

  insertBefore(node: Node_, place: Node_ | null): void {
    node.remove();
    const at = place === null ? this.children.length : this.children.indexOf(place);
    this.children.splice(at, 0, node);
    node.parent = this;
  }

  setAttribute(): void {}
}

function page() {
  const makers = {
    createElement: (tag: string) => new Node_(tag),
    createTextNode: (data: string) => Object.assign(new Node_(""), { data }),
  };
  Object.assign(globalThis, { document: makers });
  const root = new Node_("main");
  const shows = (...children: Child[]) => {
    render(root as unknown as Element, children);
    return root.children.map((child) => child.text);
  };
  return { root, shows };
}

const row = (key: string, words: string) => h("li", { key }, words);

test("what comes twice under one key is two elements, which stay, change and go", () => {
  const { root, shows } = page();
  assert.deepEqual(shows(row("dup", "first"), row("dup", "second"), row("a", "a")), ["first", "second", "a"]);
  const [first, second] = root.children;
  assert.deepEqual(shows(row("dup", "first"), row("dup", "other"), row("a", "a")), ["first", "other", "a"]);
  assert.deepEqual([root.children[0] === first, root.children[1] === second], [true, true]);
  for (let time = 0; time < 3; time += 1) assert.deepEqual(shows(row("a", "a"), row("dup", "first"), row("dup", "second")), ["a", "first", "second"]);
  assert.deepEqual(shows(row("dup", "left")), ["left"]);
  assert.deepEqual(shows(), []);
});

test("a key that looks like the second of another is its own", () => {
  const { shows } = page();
  const rows = [row("dup", "1"), row("dup", "2"), row("2 li key dup", "3"), row("2 li key dup", "4")];
  for (let time = 0; time < 2; time += 1) assert.deepEqual(shows(...rows), ["1", "2", "3", "4"]);
  assert.deepEqual(shows(...rows.slice(1)), ["2", "3", "4"]);
});
