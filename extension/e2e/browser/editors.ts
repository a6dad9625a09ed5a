// Editors that hold their text in a model of their own, as npm has them: Slate, Lexical, ProseMirror, CKEditor.
//
// Owns one page with one of each; `window.models()` says what each model has, `window.shown()` what stands in the page.

import { bundled } from "./frameworks.ts";

const SLATE = `
  import { useState } from "react";
  import { createRoot } from "react-dom/client";
  import { Node, createEditor } from "slate";
  import { Editable, Slate, withReact } from "slate-react";
  function App() {
    const [editor] = useState(() => withReact(createEditor()));
    window.slateModel = () => editor.children.map((node) => Node.string(node)).join("\\n");
    return <Slate editor={editor} initialValue={[{ type: "paragraph", children: [{ text: "old words" }] }]}><Editable aria-label="Slate" id="slate" /></Slate>;
  }
  createRoot(document.querySelector("#slate-app")).render(<App />);`;

const LEXICAL = `
  import { $createParagraphNode, $createTextNode, $getRoot, createEditor } from "lexical";
  import { registerPlainText } from "@lexical/plain-text";
  const editor = createEditor({ onError(error) { throw error; } });
  editor.setRootElement(document.querySelector("#lexical"));
  registerPlainText(editor);
  editor.update(() => { $getRoot().clear().append($createParagraphNode().append($createTextNode("old words"))); });
  window.lexicalModel = () => editor.getEditorState().read(() => $getRoot().getTextContent());`;

const PROSEMIRROR = `
  import { baseKeymap } from "prosemirror-commands";
  import { keymap } from "prosemirror-keymap";
  import { schema } from "prosemirror-schema-basic";
  import { EditorState } from "prosemirror-state";
  import { EditorView } from "prosemirror-view";
  const doc = schema.node("doc", null, [schema.node("paragraph", null, [schema.text("old words")])]);
  const view = new EditorView(document.querySelector("#prosemirror-app"), { state: EditorState.create({ doc, plugins: [keymap(baseKeymap)] }), attributes: { id: "prosemirror", "aria-label": "ProseMirror" } });
  window.prosemirrorModel = () => view.state.doc.textBetween(0, view.state.doc.content.size, "\\n");`;

const CKEDITOR = `
  import { InlineEditor } from "@ckeditor/ckeditor5-editor-inline";
  import { Essentials } from "@ckeditor/ckeditor5-essentials";
  import { Paragraph } from "@ckeditor/ckeditor5-paragraph";
  InlineEditor.create(document.querySelector("#ckeditor"), { plugins: [Essentials, Paragraph], label: "CKEditor" }).then((editor) => {
    editor.editing.view.change((writer) => writer.setAttribute("aria-label", "CKEditor", editor.editing.view.document.getRoot()));
    window.ckeditorModel = () => [...editor.model.document.getRoot().getChildren()].map((part) => [...part.getChildren()].map((node) => node.data ?? "\\n").join("")).join("\\n");
  });`;

const ALL = { slate: SLATE, lexical: LEXICAL, prosemirror: PROSEMIRROR, ckeditor: CKEDITOR };

export const EDITORS = Object.keys(ALL) as (keyof typeof ALL)[];

/** The scripts of the page, by their paths. */
export async function editorScripts(): Promise<[string, string][]> {
  return Promise.all(EDITORS.map(async (name): Promise<[string, string]> => [`/${name}.js`, await bundled(ALL[name])]));
}

export const EDITORS_PAGE = `<style>[contenteditable] { min-height: 1.5em; white-space: pre-wrap }</style><div id=slate-app></div><div id=lexical contenteditable aria-label=Lexical></div><div id=prosemirror-app></div><div id=ckeditor><p>old words</p></div>
  ${EDITORS.map((name) => `<script src="/${name}.js"></script>`).join("")}<script>
  window.models = () => [slateModel(), lexicalModel(), prosemirrorModel(), ckeditorModel()];
  window.shown = () => [...document.querySelectorAll("[contenteditable]")].map((editor) => editor.innerText.replace(/\\n+/g, "\\n").replace(/\\ufeff/g, "").trim());</script>`;
