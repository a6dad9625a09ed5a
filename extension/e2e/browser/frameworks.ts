// One small page, made with React, Vue and Svelte as npm has them: fields whose values the framework holds, and a list of what was sent.
//
// Owns how each is built. What the three show has to be the same, so that one task is done in all of them.

import { build } from "esbuild";
import { compile } from "svelte/compiler";

const REACT = `
  import { useState } from "react";
  import { createRoot } from "react-dom/client";
  function App() {
    const [name, setName] = useState("");
    const [size, setSize] = useState("s");
    const [news, setNews] = useState(false);
    const [sent, setSent] = useState([]);
    const send = (event) => {
      event.preventDefault();
      setSent([...sent, [name, size, news].join()]);
      setName("");
    };
    return <><form onSubmit={send}>
      <label>Name <input value={name} onChange={(event) => setName(event.target.value)} /></label>
      <label>Size <select value={size} onChange={(event) => setSize(event.target.value)}><option value="s">Small</option><option value="l">Large</option></select></label>
      <label><input type="checkbox" checked={news} onChange={(event) => setNews(event.target.checked)} /> News</label>
      <button disabled={name === ""}>Send</button></form><ul>{sent.map((line) => <li key={line}>{line}</li>)}</ul></>;
  }
  createRoot(document.querySelector("#app")).render(<App />);`;

const VUE = `
  import { createApp, ref } from "vue/dist/vue.esm-bundler.js";
  createApp({
    setup() {
      const [name, size, news, sent] = [ref(""), ref("s"), ref(false), ref([])];
      const send = () => { sent.value.push([name.value, size.value, news.value].join()); name.value = ""; };
      return { name, size, news, sent, send };
    },
    template: \`<form @submit.prevent="send"><label>Name <input v-model="name"></label>
      <label>Size <select v-model="size"><option value="s">Small</option><option value="l">Large</option></select></label>
      <label><input type="checkbox" v-model="news"> News</label><button :disabled="name === ''">Send</button></form>
      <ul><li v-for="line in sent">{{ line }}</li></ul>\`,
  }).mount("#app");`;

const SVELTE = `
  <script>
    let name = $state(""), size = $state("s"), news = $state(false), sent = $state([]);
    function send(event) { event.preventDefault(); sent.push([name, size, news].join()); name = ""; }
  </script>
  <form onsubmit={send}><label>Name <input bind:value={name}></label>
    <label>Size <select bind:value={size}><option value="s">Small</option><option value="l">Large</option></select></label>
    <label><input type="checkbox" bind:checked={news}> News</label><button disabled={name === ""}>Send</button></form>
  <ul>{#each sent as line}<li>{line}</li>{/each}</ul>`;

export async function bundled(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: __ROOT__, loader: "jsx" },
    ...{ bundle: true, write: false, format: "iife", jsx: "automatic", minify: true, conditions: ["browser", "svelte"], logLevel: "warning" },
    loader: { ".css": "text", ".svg": "text" },
    define: { global: "globalThis", "process.env.NODE_ENV": '"production"', __VUE_OPTIONS_API__: "true", __VUE_PROD_DEVTOOLS__: "false", __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false" },
  });
  return outputFiles[0]?.text ?? "";
}

export const FRAMEWORKS = ["react", "vue", "svelte"] as const;

/** The script of each page, by its path. */
export async function frameworkScripts(): Promise<Map<string, string>> {
  const component = compile(SVELTE, { generate: "client", name: "App" }).js.code.replace("export default ", "");
  const svelte = `${component}\nmount(App, { target: document.querySelector("#app") });`;
  const sources = { react: REACT, vue: VUE, svelte: `import { mount } from "svelte";\n${svelte}` };
  const built = FRAMEWORKS.map(async (name): Promise<[string, string]> => [`/${name}.js`, await bundled(sources[name])]);
  return new Map(await Promise.all(built));
}

/** What stands in the page of a framework. */
export const frameworkPage = (name: (typeof FRAMEWORKS)[number]): string => `<div id=app></div><script src="/${name}.js"></script>`;
