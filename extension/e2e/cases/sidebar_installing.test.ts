// Installations by the sidebar that want something of the person: a yes before code of the package runs, a secret.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { describe, test } from "node:test";
import { DOUBLE } from "../driver/double.ts";
import type { Harbor } from "../driver/harbor.ts";
import { npmRepository, pythonRepository } from "../driver/repository.ts";
import { HELD, holding } from "../driver/held.ts";
import { Sidebar } from "../driver/sidebar.ts";
import { type World, inBrowsers } from "../driver/world.ts";

const NO_SOURCES = '[catalog]\nregistryUrl = ""\nawesomeUrl = ""\ngithubApiUrl = ""\n';

const SECRET = "sk-0123456789-only-you-know";

/** What says that it wants a key, and which keys there are. */
const MANIFEST = {
  manifestVersion: "1.0.0",
  name: "Keeper",
  package: { type: "git" },
  secrets: [{ name: "API_KEY", description: "The key", pattern: "^sk-[a-z0-9-]+$" }],
};

async function open({ browser }: World, source: string): Promise<Sidebar> {
  return Sidebar.open(browser, `install/${encodeURIComponent(source)}`);
}

const list = async (harbor: Harbor) => JSON.parse(await harbor.cli("list", "--json")).servers as { server_id: string }[];

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("what has to run code to be planned says so and waits for a yes; after it, it is shown and installed as anything else", () =>
      inBrowser.run(
        async (world: World) => {
          const { harbor } = world;
          const sidebar = await open(world, await pythonRepository(harbor));
          await sidebar.click("#plan");
          await sidebar.says(".notice", /To find out what it needs, code of the package must run.*without access to your files.*Run it/s);
          assert.deepEqual([await sidebar.count("#install"), await list(harbor)], [0, []]);
          // Who goes back goes on from there, as it was or with something else.
          await sidebar.click("#unplan");
          await sidebar.click("#plan");
          await sidebar.click("#unplan");
          await sidebar.type("#as", "adder");
          await sidebar.click("#plan");
          await sidebar.click("#build");
          await sidebar.says("#view", /This will be installed.*Serveradder.*snake [0-9a-f]{40} \(git\)/s);
          assert.deepEqual(await list(harbor), []);
          await sidebar.click("#install");
          await sidebar.says(".notice", /adder is installed.*It has 1 tool/s);
        },
        { config: NO_SOURCES },
      ));

    test("a secret that an installation asks for arrives, and stays nowhere on the way", () =>
      inBrowser.run(
        async (world: World) => {
          const { harbor } = world;
          const source = await npmRepository(harbor, "keeper", DOUBLE, {}, { "mcp-manifest.json": JSON.stringify(MANIFEST) });
          const sidebar = await open(world, source);
          const held = async () => (await sidebar.page.run(HELD)) as string;
          await sidebar.click("#plan");
          await sidebar.says("#view", /This will be installed.*Required secretsAPI_KEY/s);

          // One that cannot be right is refused without being repeated.
          const wrong = SECRET.toUpperCase();
          await sidebar.type("[id='secret API_KEY']", wrong);
          assert.ok((await held()).includes(wrong), "so this test would see it");
          await sidebar.click("#install");
          await sidebar.says("[role='alert'] .notice", /API_KEY/);
          assert.ok(!(await held()).includes(wrong));

          await sidebar.type("[id='secret API_KEY']", SECRET);
          await sidebar.click("#install");
          assert.ok(!(await held()).includes(SECRET), "while it is under way");
          await sidebar.says(".notice", /keeper is installed/s);
          assert.ok(!(await held()).includes(SECRET));
          await sidebar.go("server/keeper/secrets");
          await sidebar.says("[data-secret]", /API_KEY · set/);
          assert.ok(!(await held()).includes(SECRET));
          await sidebar.click("[id='start keeper']");
          await sidebar.says(".head .state", /^running$/);
          const digest = await harbor.cli("call", "keeper/digest", "name=API_KEY");
          assert.equal(digest.trim(), createHash("sha256").update(SECRET).digest("hex"));

          await sidebar.go("server/keeper/logs");
          await sidebar.text(".log");
          assert.ok(!(await held()).includes(SECRET));
          // Where Harbor keeps secrets, and nowhere else: no log, no file of the browser's.
          assert.deepEqual(await holding(harbor.dir, SECRET), [join(harbor.dir, "home/.harbor/secrets/credentials.json")]);
          assert.deepEqual(await holding(harbor.dir, wrong), []);
        },
        { config: NO_SOURCES },
      ));
  });
}
