// structuredClone, for values that JSON-like programs have: no transfer, no class but the built-in ones.
(function () {
  "use strict";
  const refused = (value) => {
    throw new DOMException(`${typeof value === "function" ? "a function" : typeof value} cannot be cloned`, "DataCloneError");
  };

  const built_in = (value) => {
    if (value instanceof Date) return new Date(value.getTime());
    if (value instanceof RegExp) return new RegExp(value.source, value.flags);
    if (value instanceof ArrayBuffer) return value.slice(0);
    if (value instanceof DataView) return new DataView(value.buffer.slice(0), value.byteOffset, value.byteLength);
    if (ArrayBuffer.isView(value)) return value.slice();
    if (value instanceof Boolean || value instanceof Number || value instanceof String) return Object(value.valueOf());
    if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef) refused(value);
    return undefined;
  };

  const of_error = (value) => {
    const kinds = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError];
    const Kind = kinds.find((kind) => value.name === kind.name) ?? Error;
    const made = new Kind(value.message);
    made.stack = value.stack;
    return made;
  };

  const cloned = (value, seen) => {
    if (typeof value === "function" || typeof value === "symbol") refused(value);
    if (typeof value !== "object" || value === null) return value;
    if (seen.has(value)) return seen.get(value);
    const keep = (made) => {
      seen.set(value, made);
      return made;
    };
    const simple = built_in(value);
    if (simple !== undefined) return keep(simple);
    if (value instanceof Map) {
      const made = keep(new Map());
      for (const [key, inner] of [...value]) made.set(cloned(key, seen), cloned(inner, seen));
      return made;
    }
    if (value instanceof Set) {
      const made = keep(new Set());
      for (const inner of [...value]) made.add(cloned(inner, seen));
      return made;
    }
    const made = keep(value instanceof Error ? of_error(value) : Array.isArray(value) ? new Array(value.length) : {});
    for (const key of value instanceof Error ? ["cause"] : Object.keys(value)) {
      if (Object.hasOwn(value, key)) made[key] = cloned(value[key], seen);
    }
    return made;
  };

  return { structuredClone: (value) => cloned(value, new Map()) };
})
