// Files: uploads from directories that the person allows and from bytes in a call, drops, downloads; each after the yes that it needs.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { agentOf, allowed, client } from "../browser/clients.ts";
import type { Agent } from "../browser/tasks.ts";
import { type Page, until } from "../driver/browser.ts";
import type { Harbor } from "../driver/harbor.ts";
import type { Given } from "../driver/mcp_client.ts";
import type { Answers } from "../driver/site.ts";
import { type World, inBrowsers } from "../driver/world.ts";

/** What is sent is shown by the page that sends it; the file that comes back is the server's. */
const FORM = `<!doctype html><meta charset=utf-8><title>Form</title>
<form onsubmit="event.preventDefault(); sent()"><label>CV <input type=file id=cv accept=".pdf,text/*"></label><button>Send</button></form>
<div><button type=button id=drawn onclick="many.click()">Choose pictures</button><input type=file id=many multiple accept="image/*" style="display:none"></div>
<label>Folder <input type=file id=folder webkitdirectory></label>
<label>Off <input type=file id=off disabled></label>
<label>Taken <input type=file id=taken onchange="document.body.dataset.took = this.files[0].name; this.value = ''"></label>
<div id=zone tabindex=0 style="width:200px;height:60px" ondragover="event.preventDefault()" ondrop="event.preventDefault(); dropped(event.dataTransfer)">Drop here</div>
<p id=deaf style="width:200px;height:60px">Nothing is taken here</p>
<a href=/report>Report</a> <a id=beside href=/report target=_blank>Beside</a> <a href=/slow>Endless</a> <a id=saved download=made.csv href="data:text/csv,a%2Cb">Saved</a> <button type=button id=make onclick="make()">Make</button>
<p id=out role=status></p>
<script>
  const sum = async (file) => file.name + " " + file.type + " " + file.size + " " + [...new Uint8Array(await crypto.subtle.digest("SHA-256", await file.arrayBuffer()))].slice(0, 4).join(".");
  function sent() { document.body.dataset.sent = cv.files[0].name; location.href = "/report"; }
  async function dropped(data) { const text = data.getData("text/plain"); out.textContent = "Dropped " + (await Promise.all([...data.files].map(sum))).join("; ") + " " + text; }
  function make() { const a = document.createElement("a"); a.href = URL.createObjectURL(new Blob(["made here"], { type: "text/plain" })); a.download = "made.txt"; a.click(); }
</script>`;

const REPORT = "name,yes\nAnn,1\n";

const answers: Answers = (path) => {
  const file = (name: string) => ({ "content-type": "text/csv", "content-disposition": `attachment; filename="${name}"` });
  if (path.startsWith("/report")) return { html: REPORT, headers: file("report.csv") };
  if (path.startsWith("/slow")) return { html: "a".repeat(5_000), headers: file("slow.csv"), isEndless: true };
  return { html: FORM };
};

/** Answers the next question with yes, once it shows all of these. */
async function yes(harbor: Harbor, ...shown: RegExp[]): Promise<void> {
  const question = await until("the question", async () => {
    const { waiting } = JSON.parse(await harbor.cli("approvals", "list", "--json")) as { waiting: { id: string; state: string; reason: string; private: string[] }[] };
    return waiting.find(({ state }) => state === "waiting");
  });
  assert.equal(question.reason, "files");
  for (const pattern of shown) assert.match(question.private.join("\n"), pattern);
  await harbor.cli("approvals", "yes", question.id);
}

/** A call about which the person is asked. */
async function afterYes(harbor: Harbor, agent: Agent, tool: string, args: object, ...shown: RegExp[]): Promise<Given> {
  const call = agent.call(tool, args);
  await yes(harbor, ...shown);
  const given = await call;
  assert.ok(!given.isError, given.text);
  return given;
}

interface Scene extends World {
  agent: Agent;
  /** The allowed directory. */
  dir: string;
  page: Page;
}

async function applies({ agent, harbor, site, dir, page }: Scene): Promise<void> {
  const cv = join(dir, "cv.pdf");
  const given = await afterYes(harbor, agent, "file_upload", { target: await agent.ref("button", "CV"), paths: [cv] }, /cv\.pdf \(11 bytes\), to http:\/\/127\.0\.0\.1/);
  assert.match(given.text, /button "CV[^\n]* holds "cv\.pdf" \(11 bytes\)/);
  assert.equal(await page.run("return cv.files[0].text()"), "%PDF the CV");
  const sent = await agent.do("click", { target: await agent.ref("button", "Send") });
  assert.match(sent.text, /the download "report.*\.csv" began/);
  assert.equal(await page.run("return document.body.dataset.sent"), "cv.pdf");
  const { structured } = await agent.do("downloads", { action: "wait" });
  const { id, name, bytes, state } = structured["download"];
  assert.match(name, /^report.*\.csv$/);
  assert.deepEqual([id, bytes, state], [1, REPORT.length, "complete"]);
  const read = await afterYes(harbor, agent, "downloads", { action: "read", id }, new RegExp(`the download report.*\\.csv \\(${REPORT.length} bytes\\), from ${site.origin}`));
  assert.match(read.text, /report.*\.csv: 15 of 15 bytes, text\/csv/);
  assert.equal(read.resources[0]?.text, REPORT);
  // Another client has no part in it.
  const mcp = await allowed(harbor, "other", ["--tool", "browser/*"]);
  const other = agentOf(mcp, site.origin);
  assert.deepEqual((await other.do("downloads", { action: "list" })).structured["downloads"], []);
  const none = await other.call("downloads", { action: "read", id: 1 });
  assert.match(none.text, /no such download/);
  await mcp.end();
}

async function usesFields({ agent, harbor, dir, page }: Scene): Promise<void> {
  const png = (name: string, size: number) => ({ name, type: "image/png", data: Buffer.alloc(size, 7).toString("base64") });
  const large = 1_200_000;
  const two = await agent.do("file_upload", { target: await agent.ref("button", "Choose pictures"), files: [png("a.png", 3), png("b.png", large)] });
  assert.match(two.text, new RegExp(`holds "a\\.png" \\(3 bytes\\), "b\\.png" \\(${large} bytes\\)`));
  assert.deepEqual(await page.run("return [...many.files].map(({ name, type, size }) => [name, type, size])"), [["a.png", "image/png", 3], ["b.png", "image/png", large]]);
  assert.equal(await page.run("return many.files[1].arrayBuffer().then((bytes) => new Uint8Array(bytes).every((byte) => byte === 7))"), true);
  const taken = await agent.do("file_upload", { target: "#taken", files: [png("c.png", 1)] });
  assert.match(taken.text, /the page has taken it and emptied the field/);
  for (const [args, why] of [
    [{ target: "#cv", files: [png("a.png", 1)] }, /takes \.pdf,text\/\* only, and "a\.png" is image\/png/],
    [{ target: "#cv", files: [png("a.pdf", 1), png("b.pdf", 1)] }, /takes one file only/],
    [{ target: "#folder", files: [png("a.png", 1)] }, /takes a whole folder/],
    [{ target: "#off", files: [png("a.png", 1)] }, /is disabled/],
    [{ files: [png("a.png", 1)] }, /several file fields, name one/],
    [{ target: "#cv" }, /no file is named/],
    [{ target: "#cv", files: [png("../a.png", 1)] }, /a file's name without a path/],
  ] as const) {
    const refused = await agent.call("file_upload", args);
    assert.ok(refused.isError && why.test(refused.text), refused.text);
  }
  // Of the person's disk.
  const dropped = await afterYes(harbor, agent, "drop", { target: "#zone", paths: [join(dir, "cv.pdf")], data: { "text/plain": "with words" } }, /cv\.pdf \(11 bytes\)/);
  assert.match(dropped.text, /took "cv\.pdf" \(11 bytes\) and text\/plain/);
  assert.match(String(await until("the drop", async () => (await page.run("return out.textContent")) || undefined)), /^Dropped cv\.pdf application\/pdf 11 [\d.]+ with words$/);
  assert.match((await agent.do("drop", { target: "#deaf", files: [png("a.png", 1)] })).text, /NOT as wanted: .* takes no drops/);
}

async function isRefused({ agent, harbor, dir }: Scene): Promise<void> {
  for (const [path, why] of [
    [join(dir, "link.txt"), /symbolic link/],
    [join(dir, "huge.txt"), /too large/],
    [`${dir}/../secret.txt`, /no absolute path without/],
    [join(dir, "gone.txt"), /could not be opened/],
    ["/etc/hostname", /in no directory that the person allows/],
    ["cv.pdf", /no absolute path/],
  ] as const) {
    const call = agent.call("file_upload", { target: "#cv", paths: [path] });
    const refused = await call;
    assert.ok(refused.isError && why.test(refused.text), `${path}: ${refused.text}`);
  }
  // A no is a no.
  const call = agent.call("file_upload", { target: "#cv", paths: [join(dir, "cv.pdf")] });
  const question = await until("the question", async () => (JSON.parse(await harbor.cli("approvals", "list", "--json")) as { waiting: { id: string; state: string }[] }).waiting.find(({ state }) => state === "waiting"));
  await harbor.cli("approvals", "no", question.id);
  assert.ok((await call).isError);
}

async function downloads({ agent, harbor, site }: Scene): Promise<void> {
  const slow = await agent.do("click", { target: await agent.ref("link", "Endless") });
  assert.match(slow.text, /the download "slow.*\.csv" began/);
  const waited = await agent.call("downloads", { action: "wait", timeout: 0.3 });
  assert.ok(waited.isError, waited.text);
  assert.match(waited.text, /the download \d+, slow.*\.csv, is still going/);
  const early = await agent.call("downloads", { action: "read" });
  assert.match(early.text, /has not ended/);
  for (const [target, name, text] of [["#beside", /^report.*\.csv$/, REPORT], ["#make", /^made.*\.txt$/, "made here"], ["#saved", /^made.*\.csv$/, "a,b"]] as const) {
    // Chromium asks the person before a tab in which nobody clicks saves a second file.
    await agent.do("tabs", { action: "new", url: `${site.origin}/form` });
    // Told in the answer to the click, or in the next one where a tab opens for it first.
    let { text: told } = await agent.do("click", { target });
    await until("the download", async () => {
      if (/the download "[^"]+" began/.test(told)) return true;
      told = (await agent.call("snapshot")).text;
      return undefined;
    });
    const { structured } = await agent.do("downloads", { action: "wait" });
    assert.match(structured["download"].name, name);
    const read = await afterYes(harbor, agent, "downloads", { action: "read" }, /the download (made|report)/);
    assert.equal(read.resources[0]?.text, text);
  }
  const { structured } = await agent.do("downloads", { action: "list" });
  assert.deepEqual(structured["downloads"].map(({ id, state }: { id: number; state: string }) => [id, state]), [[1, "complete"], [2, "in_progress"], [3, "complete"], [4, "complete"], [5, "complete"]]);
}

/** Each in a tab of its own: Chromium asks the person before a tab in which nobody clicks saves a second file. */
const PARTS: [string, (scene: Scene) => Promise<void>][] = [
  ["a client uploads a file after a yes, submits, waits for the download and gets its name; after another yes its bytes", applies],
  ["fields behind buttons, several files, bytes of the call, drops", usesFields],
  ["a link, a huge file and one from elsewhere are refused without a question", isRefused],
  ["a download that never ends, one that a page makes, one of a link", downloads],
];

/** A directory that may be uploaded from, with what may not be. */
async function madePlace(): Promise<{ place: string; dir: string }> {
  const place = await mkdtemp(join(tmpdir(), "hx-files-"));
  const dir = join(place, "allowed");
  await mkdir(dir);
  await writeFile(join(dir, "cv.pdf"), "%PDF the CV");
  await writeFile(join(place, "secret.txt"), "secret");
  await symlink(join(place, "secret.txt"), join(dir, "link.txt"));
  await writeFile(join(dir, "huge.txt"), "");
  await truncate(join(dir, "huge.txt"), 65 * 1024 * 1024);
  return { place, dir };
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("files go into pages and come out of them, each after the yes that it needs", async (t) => {
      const { place, dir } = await madePlace();
      const config = `[browser]\nuploads = [${JSON.stringify(dir)}]\n`;
      const inTabs = async (world: World) => {
        const mcp = await client(world, "applicant");
        const agent = agentOf(mcp, world.site.origin);
        try {
          for (const [name, part] of PARTS) {
            await agent.do("tabs", { action: "new", url: `${world.site.origin}/form/${part.name}` });
            const page = await world.browser.find(`/form/${part.name}`);
            await t.test(name, () => part({ ...world, agent, dir, page }));
          }
        } finally {
          await mcp.end();
        }
      };
      try {
        await inBrowser.run(inTabs, { mayUsePages: true, page: answers, config });
      } finally {
        await rm(place, { recursive: true, force: true });
      }
    });
  });
}
