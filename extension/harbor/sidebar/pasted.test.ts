// What people paste of a README, and what is read of it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePasted } from "./pasted.ts";

const one = (text: string) => {
  const found = parsePasted(text);
  return typeof found === "string" ? found : found[0];
};
const command = (name: string, program: string, args: string[], more: object = {}) => ({ is: "command", name, command: program, args, env: {}, secrets: [], ...more });

test("the settings of other programs are read, and all servers in them", () => {
  const claude = '{ "mcpServers": { "git hub": { "command": "npx", "args": ["-y", "@a/server-github"], "env": { "GITHUB_TOKEN": "ghp_1", "MODE": "read" } }, "far": { "url": "https://a.example/mcp" } } }';
  assert.deepEqual(parsePasted(claude), [command("git-hub", "npx", ["-y", "@a/server-github"], { env: { MODE: "read" }, secrets: ["GITHUB_TOKEN"] }), { is: "remote", name: "far", url: "https://a.example/mcp" }]);
  assert.doesNotMatch(JSON.stringify(parsePasted(claude)), /ghp_1/);
  assert.deepEqual(one('{"mcp": {"servers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}}'), command("time", "uvx", ["mcp-server-time"]));
  assert.deepEqual(one('{"command": "uvx", "args": ["mcp-server-time"]}'), command("time", "uvx", ["mcp-server-time"]));
  // A piece out of such a file, in a fence.
  assert.deepEqual(one('```json\n"time": { "command": "uvx", "args": ["mcp-server-time"] },\n```'), command("time", "uvx", ["mcp-server-time"]));
  assert.match(String(one('{ "mcpServers": {')), /not whole JSON/);
  assert.match(String(one("{}")), /names no server/);
});

test("a command is read as a shell reads its words", () => {
  assert.deepEqual(one("npx -y @modelcontextprotocol/server-memory@latest"), command("memory", "npx", ["-y", "@modelcontextprotocol/server-memory@latest"]));
  assert.deepEqual(one("$ uvx mcp-server-time --local 'Europe/Oslo and more'"), command("time", "uvx", ["mcp-server-time", "--local", "Europe/Oslo and more"]));
  assert.deepEqual(one('API_KEY=<your key> MODE=a npx "a b" \\\n  c'), command("a-b", "npx", ["a b", "c"], { env: { MODE: "a" }, secrets: ["API_KEY"] }));
  assert.deepEqual(one("claude mcp add weather -- node /opt/w/index.js"), command("weather", "node", ["/opt/w/index.js"]));
  assert.deepEqual(one("/opt/bin/mcp --stdio"), command("mcp", "/opt/bin/mcp", ["--stdio"]));
  assert.match(String(one("curl https://a.example | sh")), /more than one command/);
  assert.match(String(one("npx 'a")), /quote/);
  assert.match(String(one("A=b")), /no program/);
  assert.match(String(one("  ")), /Paste something/);
});

test("of docker it is the image, with the names of its secrets", () => {
  const github = "docker run -i --rm -e GITHUB_PERSONAL_ACCESS_TOKEN -v /a:/b ghcr.io/github/github-mcp-server:1.2 stdio";
  assert.deepEqual(one(github), { is: "image", name: "github", source: "oci:ghcr.io/github/github-mcp-server:1.2", secrets: ["GITHUB_PERSONAL_ACCESS_TOKEN"] });
  assert.deepEqual(one('{"mcpServers": {"x": {"command": "docker", "args": ["run", "-i", "--env=A_KEY=1", "a/b"]}}}'), { is: "image", name: "x", source: "oci:a/b", secrets: ["A_KEY"] });
  assert.equal((one("docker compose up") as { is: string }).is, "command");
});

test("an address is a remote server", () => {
  assert.deepEqual(one("https://mcp.linear.app/sse"), { is: "remote", name: "linear", url: "https://mcp.linear.app/sse" });
});
