// Repositories with servers in them, on this machine: what is installed without anybody else.
//
// Owns their files. Must never need a registry: what they hold needs nothing.

import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Harbor } from "./harbor.ts";

/** A repository with these files; its source. */
export async function repository({ dir, env }: Harbor, name: string, files: { [file: string]: string }): Promise<string> {
  const place = join(dir, name);
  await mkdir(place);
  for (const [file, text] of Object.entries(files)) await writeFile(join(place, file), text, { mode: 0o755 });
  const git = (...args: string[]) => execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args], { cwd: place, env });
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-qm", "x");
  return `git:file://${place}`;
}

/** One that is a package of npm with nothing that it needs. */
export function npmRepository(harbor: Harbor, name: string, program: string, more: object = {}, files: { [file: string]: string } = {}): Promise<string> {
  const manifest = { name, version: "1.4.0", bin: { [name]: "index.js" }, ...more };
  return repository(harbor, name, { "index.js": `#!/usr/bin/env node\n${program}`, "package.json": JSON.stringify(manifest), ...files });
}

/** Builds itself with nothing but Python, and leaves word of it. */
const BACKEND = `
import zipfile
def build_wheel(directory, config_settings=None, metadata_directory=None):
    name, info = "snake-1.0-py3-none-any.whl", "snake-1.0.dist-info/"
    with zipfile.ZipFile(f"{directory}/{name}", "w") as wheel:
        wheel.writestr("snake.py", open("snake.py").read())
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: snake\\nVersion: 1.0\\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: backend\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "entry_points.txt", "[console_scripts]\\nsnake = snake:main\\n")
        wheel.writestr(info + "RECORD", "".join(f"{one},,\\n" for one in [*wheel.namelist(), info + "RECORD"]))
    return name
`;

const SNAKE = `
import json, sys
def main():
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] == "initialize":
            answer["result"] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "snake", "version": "1"}}
        elif message["method"] == "tools/list":
            answer["result"] = {"tools": [{"name": "hiss", "inputSchema": {"type": "object"}}]}
        else:
            answer["error"] = {"code": -32601, "message": "no"}
        print(json.dumps(answer), flush=True)
`;

const PROJECT = `
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "snake"
version = "1.0"
[project.scripts]
snake = "snake:main"
`;

/** One of Python, whose code has to run before it is known what it needs. */
export function pythonRepository(harbor: Harbor): Promise<string> {
  return repository(harbor, "snake", { "backend.py": BACKEND, "snake.py": SNAKE, "pyproject.toml": PROJECT });
}
