// Which cookies are a page's.

import assert from "node:assert/strict";
import { test } from "node:test";
import { domainsOf, isSentTo, lineOf } from "./cookies.ts";

test("a page has the cookies that are sent to its site, and no others", () => {
  const sent = (url: string, domain: string, isHostOnly = false, secure = false) => isSentTo(new URL(url), { domain, isHostOnly, secure });
  for (const domain of ["a.b.example", "b.example"]) assert.ok(sent("https://a.b.example/", domain), domain);
  for (const domain of ["c.b.example", "x.a.b.example", "ab.example", "b.example.evil.example"]) assert.ok(!sent("https://a.b.example/", domain), domain);
  assert.ok(sent("https://b.example/", "b.example", true) && !sent("https://a.b.example/", "b.example", true));
  assert.ok(sent("https://b.example/", "b.example", true, true) && !sent("http://b.example/", "b.example", true, true));
  assert.ok(sent("http://127.0.0.1:81/", "127.0.0.1", true) && !sent("http://127.0.0.1/", "0.0.1"));
});

test("they are looked for at the host and above it", () => {
  assert.deepEqual(domainsOf("a.b.example"), ["a.b.example", "b.example"]);
  assert.deepEqual([domainsOf("localhost"), domainsOf("127.0.0.1"), domainsOf("[::1]")], [["localhost"], ["127.0.0.1"], ["[::1]"]]);
});

test("one is one line", () => {
  const cookie = { name: "a", value: "1", domain: "b.example", isHostOnly: false, path: "/", expires: 0, httpOnly: true, secure: true, sameSite: "Lax" as const };
  assert.equal(lineOf(cookie), "a=1; Domain=b.example; Path=/; Expires=1970-01-01T00:00:00.000Z; HttpOnly; Secure; SameSite=Lax");
});
