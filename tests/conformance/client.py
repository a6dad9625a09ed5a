#!/usr/bin/env python3
"""Harbor as the client of one scenario of MCP's conformance suite.

    conformance client --command "python3 client.py" --scenario NAME    starts: python3 client.py URL

HARBOR_CONFORMANCE_BIN is where Harbor's programs are, HARBOR_CONFORMANCE_HOME an empty directory, MCP_CONFORMANCE_SCENARIO
the scenario's name, and MCP_CONFORMANCE_CONTEXT what the scenario wants called. The Harbor in that directory ends with this;
the scenario's server is `s` there, and everything goes by the command line or by `harbor mcp`.
"""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request

# What the suite takes for a client's own document.
CLIENT_DOCUMENT = "https://conformance-test.local/client-metadata.json"
HARBOR = os.path.join(os.environ["HARBOR_CONFORMANCE_BIN"], "harbor")


def harbor(*words, fails=False):
    """What the command says; it may fail only where that is part of the scenario."""
    ran = subprocess.run([HARBOR, *words], capture_output=True, text=True, check=False)
    if ran.returncode != 0 and not fails:
        sys.exit(f"harbor {' '.join(words)}: {ran.stdout}{ran.stderr}")
    return ran.stdout


class Client:
    """An AI client that has started `harbor mcp`, says that it can be asked, and answers by the defaults."""

    def __init__(self):
        self.mcp = subprocess.Popen([HARBOR, "mcp", "--client", "conformance"], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, text=True)
        self.last = 0
        self.answers = {}
        info = {"name": "conformance", "version": "1"}
        self.wait(self.ask("initialize", {"protocolVersion": "2025-11-25", "clientInfo": info,
                                          "capabilities": {"elicitation": {"form": {"applyDefaults": True}}}}))
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.mcp.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.mcp.stdin.flush()

    def ask(self, method, params):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        return self.last

    def call(self, tool, arguments):
        return self.ask("tools/call", {"name": f"s__{tool}", "arguments": arguments})

    def wait(self, request, meanwhile=lambda: None):
        """The answer. What the server asks on the way is answered behind `meanwhile`."""
        while request not in self.answers:
            line = self.mcp.stdout.readline()
            if not line:
                sys.exit("harbor mcp has ended")
            message = json.loads(line)
            if "method" not in message:
                self.answers[message["id"]] = message
            elif "id" in message:
                meanwhile()
                schema = message["params"]["requestedSchema"]["properties"]
                content = {name: field.get("default", True) for name, field in schema.items()}
                self.send({"id": message["id"], "result": {"action": "accept", "content": content}})
        return self.answers.pop(request)["result"]

    def tools(self):
        return {tool["name"].removeprefix("s__"): tool for tool in self.wait(self.ask("tools/list", {}))["tools"]}

    def end(self):
        self.mcp.stdin.close()
        self.mcp.wait()


def sample(schema):
    """Arguments that fit the schema of a scenario's tool."""
    values = {"number": 1, "integer": 1, "boolean": True, "object": {}, "array": []}
    properties = schema.get("properties", {})
    return {name: values.get(properties[name].get("type"), "x") for name in schema.get("required", [])}


def call_all():
    """Each tool that Harbor lists, or each call that the scenario names."""
    listed = json.loads(harbor("tools", "s", "--json"))["tools"]
    # A `null` fits no type but its own, and Harbor sends nothing that does not fit: who leaves out a value says it so.
    named = [(call["name"], {key: value for key, value in call["arguments"].items() if value is not None})
             for call in json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}")).get("toolCalls", [])]
    for name, arguments in named or [(tool["name"], sample(tool["inputSchema"])) for tool in listed]:
        harbor("call", f"s/{name}", json.dumps(arguments))


def list_tools():
    harbor("tools", "s", "--json")


def use_all():
    client = Client()
    for name, tool in client.tools().items():
        client.wait(client.call(name, sample(tool["inputSchema"])))
    for resource in client.wait(client.ask("resources/list", {}))["resources"]:
        client.wait(client.ask("resources/read", {"uri": resource["uri"]}))
    for prompt in client.wait(client.ask("prompts/list", {}))["prompts"]:
        given = {argument["name"]: "x" for argument in prompt.get("arguments", [])}
        client.wait(client.ask("prompts/get", {"name": prompt["name"], "arguments": given}))
    client.end()


def preserve_schema():
    client = Client()
    schema = client.tools()["json_schema_2020_12_tool"]["inputSchema"]
    client.wait(client.call("json_schema_echo", {"schema": schema}))
    client.end()


def answer_questions():
    client = Client()
    for tool in client.tools():
        client.wait(client.call(tool, {}))
    client.end()


def answer_rounds():
    """An unrelated call comes between a question and its answer."""
    client = Client()
    between = lambda: client.wait(client.call("test_mrtr_unrelated", {}))
    for tool, meanwhile in [("test_mrtr_echo_state", between), ("test_mrtr_no_state", lambda: None),
                            ("test_mrtr_no_result_type", lambda: None)]:
        client.wait(client.call(tool, {}), meanwhile)
    client.end()


def succeeds(*words):
    return subprocess.run([HARBOR, *words], capture_output=True, check=False).returncode == 0


def authorize():
    """What a person does who lets Harbor in."""
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    known, secret = context.get("client_id"), context.get("client_secret")
    words = ["--client-id", known] * bool(known) + ["--client-secret"] * bool(secret)
    auth = subprocess.Popen([HARBOR, "auth", "s", "--no-browser", *words], stdin=subprocess.PIPE,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    auth.stdin.write(secret or "")
    auth.stdin.close()
    for line in auth.stderr:
        if line.startswith("http"):
            # Its redirect leads to where Harbor listens, whatever is said there.
            try:
                urllib.request.urlopen(line.strip(), timeout=30).close()
            except urllib.error.HTTPError:
                pass
            break
    auth.stderr.read()
    auth.wait()


def let_in():
    """Each tool is called, and Harbor let in where that is wanted: at the start, and for more than was granted."""
    def until(done):
        # A server may refuse what it has just granted, and want to be asked once more.
        for _ in range(2):
            if done():
                return True
            authorize()
        return done()

    if until(lambda: succeeds("start", "s")) and until(lambda: succeeds("tools", "s")):
        for tool in json.loads(harbor("tools", "s", "--json"))["tools"]:
            until(lambda: succeeds("call", f"s/{tool['name']}", "{}"))


SCENARIOS = {
    "http-standard-headers": use_all,
    # Its server has nothing but the list.
    "json-schema-ref-no-deref": list_tools,
    "json-schema-2020-12-preservation": preserve_schema,
    "elicitation-sep1034-client-defaults": answer_questions,
    "sep-2322-client-request-state": answer_rounds,
}


def main():
    home = os.environ["HARBOR_CONFORMANCE_HOME"]
    # Whoever runs this may have settings of their own.
    for name in [name for name in os.environ if name.startswith("HARBOR_")]:
        del os.environ[name]
    os.environ |= {"HARBOR_HOME": home, "HARBOR_CATALOG_WORKER": "0"}
    scenario = os.environ["MCP_CONFORMANCE_SCENARIO"]
    wants_auth = scenario.startswith("auth/")
    if scenario == "auth/basic-cimd":
        os.makedirs(home, mode=0o700, exist_ok=True)
        with open(os.path.join(home, "config.toml"), "w", encoding="utf-8") as config:
            config.write(f'[oauth]\nclientMetadataUrl = "{CLIENT_DOCUMENT}"\n')
    try:
        start = "--no-start" if wants_auth else "--auto-start"
        harbor("add", "s", "--url", sys.argv[1], "--allow-private", "--allow-http", start)
        SCENARIOS.get(scenario, let_in if wants_auth else call_all)()
    finally:
        harbor("shutdown", fails=True)


main()
