// What is elsewhere for Harbor, on this machine: a registry of servers, and a server that wants a person to sign in.
//
// Owns its ports. Must never be reached from elsewhere, and ends with its test.

import { createHash } from "node:crypto";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";

type Serve = (request: IncomingMessage, response: ServerResponse, body: string) => void;

async function listen(serve: Serve): Promise<{ origin: string; end(): Promise<void> }> {
  const server: Server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => serve(request, response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const end = () => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, end };
}

function say(response: ServerResponse, status: number, body: unknown, headers: { [name: string]: string } = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** A registry with so many servers, and the `[catalog]` that has nothing but it. */
export async function startRegistry(names: string[]): Promise<{ config: string; end(): Promise<void> }> {
  const servers = names.map((name) => ({
    server: {
      name,
      description: `What ${name} says of itself <b>.`,
      version: "1.0.0",
      packages: [{ registryType: "npm", identifier: name, version: "1.0.0", transport: { type: "stdio" } }],
    },
    _meta: { "io.modelcontextprotocol.registry/official": { status: "active", updatedAt: "2026-01-02T00:00:00Z", isLatest: true } },
  }));
  const { origin, end } = await listen((_, response) => say(response, 200, { servers, metadata: { count: servers.length } }));
  return { config: `[catalog]\nregistryUrl = "${origin}"\nawesomeUrl = ""\ngithubApiUrl = ""\n`, end };
}

export interface Remote {
  readonly url: string;
  /** What the person does where they are to sign in: there is a page, and nothing comes of it, until they allow or refuse. */
  person: "allows" | "refuses" | "waits";
  end(): Promise<void>;
}

/** A server over HTTP; with `signIn` only for who has a token, which its authorization server gives where the person allows it. */
export async function startRemote(signIn: boolean): Promise<Remote> {
  const challenges = new Map<string, string>();
  const { origin, end } = await listen((request, response, body) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", origin);
    const of = (name: string) => searchParams.get(name) ?? "";
    switch (pathname) {
      case "/.well-known/oauth-protected-resource/mcp":
        return say(response, 200, { resource: `${origin}/mcp`, authorization_servers: [origin], scopes_supported: ["read"] });
      case "/.well-known/oauth-authorization-server":
        return say(response, 200, aboutIssuer(origin));
      case "/register":
        return say(response, 201, { client_id: "harbor-here" });
      case "/authorize": {
        challenges.set("a-code", of("code_challenge"));
        if (remote.person === "waits") return say(response, 200, "sign in?");
        const answer = remote.person === "allows" ? "code=a-code" : "error=access_denied";
        return say(response, 302, {}, { location: `${of("redirect_uri")}?${answer}&state=${of("state")}` });
      }
      case "/token": {
        const form = new URLSearchParams(body);
        const proof = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
        if (challenges.get(form.get("code") ?? "") !== proof) return say(response, 400, { error: "invalid_grant" });
        return say(response, 200, { access_token: "a-token", token_type: "Bearer", scope: "read" });
      }
      case "/revoke":
        return say(response, 200, {});
      case "/mcp":
        if (signIn && request.headers.authorization !== "Bearer a-token") {
          const where = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
          return say(response, 401, {}, { "www-authenticate": where });
        }
        return mcp(response, body);
      default:
        return say(response, 404, {});
    }
  });
  const remote: Remote = { url: `${origin}/mcp`, person: "allows", end };
  return remote;
}

function aboutIssuer(origin: string): object {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    revocation_endpoint: `${origin}/revoke`,
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none"],
  };
}

function mcp(response: ServerResponse, body: string): void {
  const { id, method, params } = (body === "" ? {} : JSON.parse(body)) as { id?: number; method?: string; params?: { protocolVersion: string } };
  const answer = (result: unknown) => say(response, 200, { jsonrpc: "2.0", id, result });
  if (method === undefined) return void response.writeHead(405).end();
  if (id === undefined) return void response.writeHead(202).end();
  if (method === "initialize") {
    return answer({ protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "tracker", version: "1" } });
  }
  if (method === "tools/list") return answer({ tools: [{ name: "issues", inputSchema: { type: "object" } }] });
  return say(response, 200, { jsonrpc: "2.0", id, error: { code: -32601, message: "no" } });
}
