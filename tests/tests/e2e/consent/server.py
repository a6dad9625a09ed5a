"""An MCP server with the tools that its first argument names, a JSON array. Each answers with its arguments; one that is called with
`sample` asks its client's model something first, and answers with what it was told. Each address is a resource."""
import json, sys
tools = json.loads(sys.argv[1])
def put(message): sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n"); sys.stdout.flush()
for line in sys.stdin:
    m = json.loads(line); i, method, params = m.get("id"), m.get("method"), m.get("params", {})
    if i is None or method is None: continue
    def answer(r): put({"id": i, "result": r})
    if method == "initialize":
        answer({"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}, "resources": {}}, "serverInfo": {"name": "s", "version": "1"}})
    elif method == "ping": answer({})
    elif method == "tools/list": answer({"tools": tools})
    elif method == "resources/list": answer({"resources": []})
    elif method == "resources/read": answer({"contents": [{"uri": params["uri"], "text": "read"}]})
    elif method == "tools/call":
        said = params.get("arguments")
        if said and "sample" in said:
            put({"id": "q", "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 9}})
            told = json.loads(sys.stdin.readline())
            said = told.get("result", "refused")
        answer({"content": [{"type": "text", "text": json.dumps(said)}]})
    else: put({"id": i, "error": {"code": -32601, "message": "Method not found"}})
