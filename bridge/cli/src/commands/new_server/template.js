// An MCP server that Harbor runs itself: https://modelcontextprotocol.io
// After a change: harbor add NAME --js NAME.js
import { serve } from "harbor:mcp";

serve({
  name: "NAME",
  version: "0.1.0",
  tools: {
    greet: {
      description: "Greet someone by name",
      input: { properties: { name: { type: "string", description: "Whom to greet" } }, required: ["name"] },
      run: ({ name }) => `Hello, ${name}!`,
    },
  },
});
