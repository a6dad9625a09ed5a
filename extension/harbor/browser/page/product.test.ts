// What a page says of itself in scripts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { linkedData } from "./product.ts";

test("things in scripts are found alone, in lists and in graphs, and what is no JSON is left out", () => {
  const product = { "@type": "Product", name: "Lamp", offers: { price: "12.50" } };
  assert.deepEqual(linkedData([JSON.stringify(product), JSON.stringify([product]), JSON.stringify({ "@graph": [product, 7] }), "{ broken"]), [product, product, product, 7]);
  assert.deepEqual(linkedData([]), []);
});
