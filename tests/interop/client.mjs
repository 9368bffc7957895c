// The official TypeScript client. Each line of standard input is one order in JSON; each line of
// standard output says how far one is, or what came of it, under its number. Orders run side by side.
//
//     node client.mjs MODULES    with the folder node_modules that has the client
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(`${process.argv[2]}/`);
const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");
const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");

let client;
let stop;

const say = (what) => console.log(JSON.stringify(what));

const orders = {
  // `server` is what StdioClientTransport takes; or there is a `url`, and perhaps a `token`.
  async connect({ server, url, token, mode }) {
    await client?.close();
    client = new Client({ name: "a test", version: "1" }, { versionNegotiation: { mode } });
    const headers = token ? { Authorization: `Bearer ${token}` } : {};
    await client.connect(
      url
        ? new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
        : new StdioClientTransport(server),
    );
    return {
      version: client.getNegotiatedProtocolVersion(),
      capabilities: client.getServerCapabilities(),
      instructions: client.getInstructions(),
    };
  },

  async list() {
    const { tools } = await client.listTools();
    const { resources } = await client.listResources();
    const { prompts } = await client.listPrompts();
    return { tools, resources, prompts };
  },

  // Throws where structured content does not fit the schema that the tool was listed with.
  async call({ number, name, args }) {
    stop = new AbortController();
    const onprogress = (progress) => say({ number, progress });
    return client.callTool({ name, arguments: args }, { signal: stop.signal, onprogress });
  },

  async cancel() {
    stop.abort("no longer wanted");
  },

  async read({ uri }) {
    return client.readResource({ uri });
  },

  async prompt({ name, args }) {
    return client.getPrompt({ name, arguments: args });
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { order, ...rest } = JSON.parse(line);
  const { number } = rest;
  orders[order](rest).then(
    (value) => say({ number, value: value ?? null }),
    ({ name, code, message, data }) => say({ number, error: { name, code, message, data } }),
  );
}
await client?.close();
