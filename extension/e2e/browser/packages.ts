// Widgets that people meet everywhere, as npm has them: jQuery UI, flatpickr, Select2, react-select, react-datepicker, MUI, Draft.js.
//
// Owns a page with each, and what a person does there. `window.model()` of a page says what the widget has, by its own words.

import assert from "node:assert/strict";
import { bundled } from "./frameworks.ts";
import type { Agent, Task } from "./tasks.ts";

const STYLE = "const style = (text) => document.head.append(Object.assign(document.createElement('style'), { textContent: text }));";

const REACT = `import { useState } from "react"; import { createRoot } from "react-dom/client"; ${STYLE}
  const show = (App) => createRoot(document.querySelector("#app")).render(<App />);`;

const SOURCES = {
  jquery_ui: `
    import $ from "jquery";
    window.jQuery = window.$ = $;
    import css from "jquery-ui/dist/themes/base/jquery-ui.css";
    ${STYLE} style(css);
    import("jquery-ui/dist/jquery-ui.js").then(() => {
      $("#date").datepicker({ defaultDate: new Date(2031, 0, 10), dateFormat: "yy-mm-dd" });
      $("#slider").slider({ min: 0, max: 100, value: 20 }).width(400);
      $("#town").autocomplete({ source: ["Basel", "Bern", "Biel", "Chur"] });
      $("#size").selectmenu();
      $("#list").sortable();
      $("#ask").dialog({ autoOpen: false, modal: true, buttons: { Delete() { window.deleted = true; $(this).dialog("close"); } } });
      $("#open").on("click", () => $("#ask").dialog("open"));
      $("#count").spinner();
      $("#parts").tabs();
      window.model = () => [$("#date").val(), $("#slider").slider("value"), $("#town").val(), $("#size").val(), $("#list").text(), window.deleted === true, $("#count").spinner("value"), $("#parts").tabs("option", "active")].join();
    });`,
  flatpickr: `
    import flatpickr from "flatpickr";
    import css from "flatpickr/dist/flatpickr.css";
    ${STYLE} style(css);
    flatpickr("#date", { defaultDate: "2031-01-10" });
    flatpickr("#range", { mode: "range", defaultDate: ["2031-01-08", "2031-01-10"] });
    flatpickr("#time", { enableTime: true, noCalendar: true, dateFormat: "H:i", defaultDate: "10:00", time_24hr: true });
    window.model = () => [date.value, range.value, time.value].join();`,
  select2: `
    import $ from "jquery";
    window.jQuery = window.$ = $;
    import css from "select2/dist/css/select2.css";
    import select2 from "select2";
    ${STYLE} style(css);
    if (!$.fn.select2) select2(window, $);
    $("#country").select2({ width: "300px" });
    $("#tags").select2({ width: "300px", tags: true });
    window.model = () => [$("#country").val(), $("#tags").val().join("+")].join();`,
  react_select: `${REACT}
    import Select from "react-select";
    import CreatableSelect from "react-select/creatable";
    const options = ["Basel", "Bern", "Biel", "Chur"].map((label) => ({ value: label.toLowerCase(), label }));
    function App() {
      const [one, setOne] = useState(null);
      const [many, setMany] = useState([]);
      const [made, setMade] = useState(null);
      window.model = () => [one?.value, many.map(({ value }) => value).join("+"), made?.value].join();
      return <div style={{ width: 300, paddingBottom: 300 }}><Select aria-label="Town" options={options} value={one} onChange={setOne} />
        <Select aria-label="Towns" isMulti options={options} value={many} onChange={setMany} />
        <CreatableSelect aria-label="New town" options={options} value={made} onChange={setMade} /></div>;
    }
    show(App);`,
  react_datepicker: `${REACT}
    import DatePicker from "react-datepicker";
    import css from "react-datepicker/dist/react-datepicker.css";
    style(css);
    function App() {
      const [date, setDate] = useState(new Date(2031, 0, 10));
      const [typed, setTyped] = useState(new Date(2031, 0, 10));
      const text = (one) => one === null ? "" : [one.getFullYear(), one.getMonth() + 1, one.getDate()].join("-");
      window.model = () => [text(date), text(typed)].join();
      return <div style={{ paddingBottom: 300 }}><label>Start <DatePicker selected={date} onChange={setDate} /></label><label>End <DatePicker selected={typed} onChange={setTyped} dateFormat="yyyy-MM-dd" /></label></div>;
    }
    show(App);`,
  mui: `${REACT}
    import { Autocomplete, Button, Checkbox, Dialog, FormControl, FormControlLabel, InputLabel, MenuItem, Select, Slider, Switch, TextField } from "@mui/material";
    function App() {
      const [age, setAge] = useState("");
      const [town, setTown] = useState(null);
      const [volume, setVolume] = useState(20);
      const [on, setOn] = useState(false);
      const [news, setNews] = useState(false);
      const [name, setName] = useState("");
      const [open, setOpen] = useState(false);
      window.model = () => [age, town, volume, on, news, name, open].join();
      return <div style={{ width: 400, padding: 20 }}>
        <FormControl fullWidth><InputLabel id="age-label">Age</InputLabel><Select labelId="age-label" label="Age" value={age} onChange={(event) => setAge(event.target.value)}><MenuItem value={10}>Ten</MenuItem><MenuItem value={20}>Twenty</MenuItem></Select></FormControl>
        <Autocomplete options={["Basel", "Bern", "Biel"]} value={town} onChange={(event, value) => setTown(value)} renderInput={(params) => <TextField {...params} label="Town" />} />
        <Slider aria-label="Volume" value={volume} onChange={(event, value) => setVolume(value)} />
        <FormControlLabel control={<Switch checked={on} onChange={(event) => setOn(event.target.checked)} />} label="Wifi" />
        <FormControlLabel control={<Checkbox checked={news} onChange={(event) => setNews(event.target.checked)} />} label="News" />
        <TextField label="Name" value={name} onChange={(event) => setName(event.target.value)} />
        <Button onClick={() => setOpen(true)}>Ask</Button>
        <Dialog open={open} onClose={() => setOpen(false)}><p>Sure?</p><Button onClick={() => setOpen(false)}>Close it</Button></Dialog></div>;
    }
    show(App);`,
  draft: `${REACT}
    import { ContentState, Editor, EditorState } from "draft-js";
    function App() {
      const [state, setState] = useState(() => EditorState.createWithContent(ContentState.createFromText("old words")));
      window.model = () => state.getCurrentContent().getPlainText();
      return <Editor ariaLabel="Draft" editorState={state} onChange={setState} />;
    }
    show(App);`,
};

type Name = keyof typeof SOURCES;

/** The scripts of the pages, by their paths. */
export async function packageScripts(): Promise<Map<string, string>> {
  const names = Object.keys(SOURCES) as Name[];
  return new Map(await Promise.all(names.map(async (name): Promise<[string, string]> => [`/${name}.js`, await bundled(SOURCES[name])])));
}

const page = (name: Name, body = "<div id=app></div>"): string => `${body}<script src="/${name}.js"></script>`;

const click = async (agent: Agent, role: string, name: string): Promise<void> => void (await agent.do("click", { target: await agent.ref(role, name) }));

/** What a widget has to have, once it has it. */
const has = (model: string): string => `window.model() === ${JSON.stringify(model)}`;

export const PACKAGE_TASKS: Task[] = [
  {
    name: "jquery-ui: a date is chosen, a slider dragged, a town, a size, a dialog's button, a number, a part",
    page: page("jquery_ui", `<label>Date <input id=date></label><div id=slider aria-label=Volume></div><label>Town <input id=town></label><label for=size>Size</label><select id=size><option>Small<option>Large</select>
      <ul id=list><li>a</li><li>b</li><li>c</li></ul><button id=open>Remove</button><div id=ask title=Sure>It goes for ever.</div><label for=count>Count</label><input id=count value=3>
      <div id=parts><ul><li><a href="#one">One</a></li><li><a href="#two">Two</a></li></ul><div id=one>1</div><div id=two>2</div></div>`),
    async run(agent) {
      await click(agent, "textbox", "Date");
      await agent.do("click", { target: ".ui-datepicker-next" });
      await click(agent, "link", "17");
      await agent.do("drag", { startTarget: ".ui-slider-handle", endTarget: "#slider", endPosition: { x: 304, y: 5 } });
      await agent.do("type", { target: await agent.ref("textbox", "Town").catch(() => agent.ref("searchbox", "Town")), text: "Be", slowly: true });
      await agent.do("wait_for", { target: ".ui-menu-item" });
      await agent.do("click", { target: ".ui-autocomplete .ui-menu-item-wrapper" });
      await agent.do("click", { target: "#size-button" });
      await click(agent, "option", "Large");
      await agent.do("drag", { startTarget: "#list li:first-child", endTarget: "#list li:last-child", endPosition: { x: 5, y: 16 } });
      await click(agent, "button", "Remove");
      await click(agent, "button", "Delete");
      await agent.do("click", { target: ".ui-spinner-up" });
      await agent.do("click", { target: await agent.ref("tab", "Two") });
    },
    is: has("2031-02-17,75,Bern,Large,bca,true,4,1"),
  },
  {
    name: "flatpickr: a date, a range and a time are chosen",
    page: page("flatpickr", "<label>Date <input id=date></label><label>Range <input id=range></label><label>Time <input id=time></label>"),
    async run(agent) {
      await click(agent, "textbox", "Date");
      await agent.do("click", { target: ".open .flatpickr-next-month" });
      await agent.do("click", { target: '.open [aria-label="February 17, 2031"]' });
      await click(agent, "textbox", "Range");
      for (const day of ["January 12, 2031", "January 15, 2031"]) await agent.do("click", { target: `.open [aria-label="${day}"]` });
      await click(agent, "textbox", "Time");
      await agent.do("type", { target: ".open .flatpickr-hour", text: "14" });
      await agent.do("press_key", { key: "Enter" });
    },
    is: has("2031-02-17,2031-01-12 to 2031-01-15,14:00"),
  },
  {
    name: "select2: an option is found and chosen, and new ones are written",
    page: page("select2", `<label for=country>Country</label><select id=country><option value=at>Austria<option value=ch>Switzerland<option value=de>Germany</select>
      <label for=tags>Tags</label><select id=tags multiple><option value=red>red<option value=blue>blue</select>`),
    async run(agent) {
      await agent.do("click", { target: "#country + .select2 .select2-selection" });
      await agent.do("type", { target: ".select2-container--open .select2-search__field", text: "Switz" });
      await click(agent, "option", "Switzerland");
      await agent.do("click", { target: "#tags + .select2 .select2-selection" });
      await click(agent, "option", "blue");
      await agent.do("type", { target: "#tags + .select2 .select2-search__field", text: "green", slowly: true });
      await agent.do("press_key", { key: "Enter" });
    },
    is: has("ch,blue+green"),
  },
  {
    name: "react-select: one is chosen, several, and a new one is made",
    page: page("react_select"),
    async run(agent) {
      await click(agent, "combobox", "Town");
      await click(agent, "option", "Bern");
      for (const town of ["Basel", "Chur"]) {
        await agent.do("type", { target: await agent.ref("combobox", "Towns"), text: town });
        await agent.do("press_key", { key: "Enter" });
      }
      await agent.do("type", { target: await agent.ref("combobox", "New town"), text: "Thun" });
      await agent.do("click", { target: '[role="option"]' });
    },
    is: has("bern,basel+chur,Thun"),
  },
  {
    name: "react-datepicker: a date is chosen, and one typed",
    page: page("react_datepicker"),
    async run(agent) {
      await click(agent, "textbox", "Start");
      await click(agent, "button", "Next Month");
      await click(agent, "gridcell", "Choose Monday, February 17th, 2031");
      await agent.do("type", { target: await agent.ref("textbox", "End"), text: "2031-03-04" });
      await agent.do("press_key", { key: "Enter" });
    },
    is: has("2031-2-17,2031-3-4"),
  },
  {
    name: "@mui/material: lists, a slider, switches, a field and a dialog",
    page: page("mui"),
    async run(agent) {
      await click(agent, "combobox", "Age");
      await click(agent, "option", "Twenty");
      await agent.do("type", { target: await agent.ref("combobox", "Town"), text: "Be" });
      await click(agent, "option", "Bern");
      await agent.do("drag", { startTarget: ".MuiSlider-thumb", endTarget: ".MuiSlider-root", endPosition: { x: 300, y: 10 } });
      await agent.do("click", { target: await agent.ref("switch", "Wifi").catch(() => agent.ref("checkbox", "Wifi")) });
      await click(agent, "checkbox", "News");
      await agent.do("type", { target: await agent.ref("textbox", "Name"), text: "Ann" });
      await click(agent, "button", "Ask");
      await click(agent, "button", "Close it");
    },
    is: has("20,Bern,75,true,true,Ann,false"),
  },
  {
    name: "draft-js takes text, and has what it shows",
    page: page("draft"),
    async run(agent) {
      const { text } = await agent.do("type", { target: await agent.ref("textbox", "Draft"), text: "new words 😀" });
      assert.doesNotMatch(text, /NOT as wanted/);
      for (const key of ["Control+End", "a", "b", "Backspace", "!"]) await agent.do("press_key", { key });
    },
    is: `${has("new words 😀a!")} && document.querySelector("[contenteditable]").innerText.trim() === window.model()`,
  },
];
