// A web site on this machine, for pages that ask for tools.
//
// Owns its port. Must never be reached from elsewhere.

import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A page whose button asks; what comes of it is in `window.asked`. */
const PAGE = `<!doctype html><meta charset="utf-8"><title>A site</title>
<button id="ask">Ask</button>
<script>
  window.wish = { scopes: ["mcp:tools.list", "mcp:tools.call"], reason: "To add numbers" };
  window.readyEvents = 0;
  addEventListener("agent-ready", () => (readyEvents += 1));
  window.shown = (promise) => promise.then((value) => ({ value }), (error) => ({ code: error.code, message: error.message, name: error.name }));
  document.querySelector("#ask").onclick = () => { window.asked = shown(agent.requestPermissions(window.wish)); };
</script>`;

export class Site {
  readonly #server: Server;
  readonly origin: string;

  private constructor(server: Server, host: string) {
    this.#server = server;
    this.origin = `http://${host}:${(server.address() as AddressInfo).port}`;
  }

  static async start(page = PAGE, host = "127.0.0.1"): Promise<Site> {
    const server = createServer((_, response) => {
      response.setHeader("content-type", "text/html").end(page);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new Site(server, host);
  }

  get url(): string {
    return `${this.origin}/`;
  }

  async end(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
