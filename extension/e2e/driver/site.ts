// A web site on this machine, for pages that ask for tools.
//
// Owns its port. Must never be reached from elsewhere.

import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A page whose button asks; what comes of it is in `window.asked`. */
export const PAGE = `<!doctype html><meta charset="utf-8"><title>A site</title>
<button id="ask">Ask</button>
<script>
  window.wish = { scopes: ["mcp:tools.list", "mcp:tools.call"], reason: "To add numbers" };
  window.readyEvents = 0;
  addEventListener("agent-ready", () => (readyEvents += 1));
  window.shown = (promise) => promise.then((value) => ({ value }), (error) => ({ code: error.code, message: error.message, name: error.name }));
  document.querySelector("#ask").onclick = () => { window.asked = shown(agent.requestPermissions(window.wish)); };
</script>`;

/** What a site answers to a path; `isEndless`: and never comes to the end of it. */
export type Answers = (path: string) => { html: string; headers?: { [name: string]: string }; status?: number; isEndless?: boolean };

export class Site {
  readonly #server: Server;
  readonly origin: string;

  private constructor(server: Server) {
    this.#server = server;
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** A site with this page, or with pages by their paths. */
  static async start(page: string | Answers = PAGE): Promise<Site> {
    const answers: Answers = typeof page === "string" ? () => ({ html: page }) : page;
    const server = createServer((request, response) => {
      const { html, headers, status = 200, isEndless } = answers(request.url ?? "/");
      response.writeHead(status, { "content-type": "text/html", ...headers });
      if (isEndless) response.write(html);
      else response.end(html);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new Site(server);
  }

  /** The same pages, as another site: its origin. */
  get other(): string {
    return this.origin.replace("127.0.0.1", "localhost");
  }

  get url(): string {
    return `${this.origin}/`;
  }

  async end(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
