"""An MCP server with the tools that its first argument names, a JSON array; each answers with its arguments."""
import json, sys
tools = json.loads(sys.argv[1])
def put(message): sys.stdout.write(json.dumps(message) + "\n"); sys.stdout.flush()
for line in sys.stdin:
    m = json.loads(line); i, method = m.get("id"), m.get("method")
    if i is None or method is None: continue
    def answer(r): put({"jsonrpc": "2.0", "id": i, "result": r})
    if method == "initialize":
        answer({"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}})
    elif method == "ping": answer({})
    elif method == "tools/list": answer({"tools": tools})
    elif method == "tools/call": answer({"content": [{"type": "text", "text": json.dumps(m["params"].get("arguments"))}]})
    else: put({"jsonrpc": "2.0", "id": i, "error": {"code": -32601, "message": "Method not found"}})
