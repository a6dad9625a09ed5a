"""An MCP server over HTTP, by the official SDK for Python: one that asks its client, and that changes.

    python server.py PORT modern|older

Both generations of MCP; `older` does without the newer one, as servers of last year do.
"""

import sys
from typing import Annotated

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, Resolve, Sample
from mcp_types import SamplingMessage, TextContent
from pydantic import BaseModel
from starlette.responses import PlainTextResponse

server = MCPServer("changing")
NOTE = "note://one"


class Name(BaseModel):
    name: str


def ask_name():
    return Elicit("Your name?", Name)


def ask_model():
    question = SamplingMessage(role="user", content=TextContent(type="text", text="Think!"))
    return Sample([question], max_tokens=10)


@server.tool()
def greet(name: Annotated[Name, Resolve(ask_name)]) -> str:
    return f"Hello, {name.name}!"


@server.tool()
def think(thought: Annotated[object, Resolve(ask_model)]) -> str:
    return f"It says: {thought.content.text}"


@server.tool()
async def grow(ctx: Context) -> str:
    server.add_tool(lambda: "new", name="new")
    await ctx.notify_tools_changed()
    return "grown"


@server.tool()
async def touch(ctx: Context) -> str:
    await ctx.notify_resource_updated(NOTE)
    return "touched"


@server.resource(NOTE)
def note() -> str:
    return "a note"


app = server.streamable_http_app()


async def older(scope, receive, send):
    headers = dict(scope.get("headers", []))
    if headers.get(b"mcp-protocol-version") == b"2026-07-28":
        await PlainTextResponse("no", status_code=400)(scope, receive, send)
    else:
        await app(scope, receive, send)


uvicorn.run(older if sys.argv[2] == "older" else app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
