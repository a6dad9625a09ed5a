// How navigations end.

import assert from "node:assert/strict";
import { test } from "node:test";
import { endOf, isWhole } from "./trip.ts";

test("an end without a page is told by its kind", () => {
  const none = { hasCome: false };
  assert.equal(endOf({ hasCome: true, status: 200 }), undefined);
  assert.equal(endOf({ ...none, status: 200 }), undefined);
  assert.equal(endOf({ ...none, status: 204 }), "the server answered 204, which has no page");
  assert.equal(endOf({ ...none, status: 200, isFile: true, error: "net::ERR_ABORTED" }), "it is a file, which the browser saves");
  assert.match(endOf({ ...none, error: "Error code 2152398850" }) ?? "", /it was stopped/);
  assert.equal(endOf({ ...none, error: "Error code 2152398878" }), "the page could not be loaded: the host is not known");
  assert.equal(endOf({ ...none, error: "net::ERR_CONNECTION_REFUSED" }), "the page could not be loaded: net::ERR_CONNECTION_REFUSED");
});

test("files and answers without a page are no errors", () => {
  assert.ok(isWhole({ hasCome: false, status: 204 }) && isWhole({ hasCome: false, isFile: true, error: "" }) && isWhole({ hasCome: false, error: "net::ERR_ABORTED" }));
  assert.ok(!isWhole({ hasCome: false, error: "net::ERR_NAME_NOT_RESOLVED" }));
});
